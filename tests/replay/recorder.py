"""recorder.py BUILD PLATFORM SET: a recording of i915-perf-recorder, seen by two programs.

The recorder of intel-gpu-tools, unchanged, samples an emulated GPU. i915-perf-reader shows its file,
row by row; so does Zeta, which replays it. Every counter of every row has to be the same. Exits with
77 where the package is not installed.
"""
import csv
import io
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PIPE = "/tmp/.i915-perf-record"  # of the recorder, one for all
ROWS = 20


def record(build, platform, name, path):
    """Runs the recorder until there are enough reports. Its output goes where ours goes."""
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("KMD_MACHINE", "LD_PRELOAD")}
    if os.path.exists(PIPE):
        os.unlink(PIPE)
    child = subprocess.Popen(
        [f"{build}/tests/kmd-run", "--device", platform, "--", "sh", "-c",
         'i915-perf-recorder -m "$0" -p 0.02 -o "$1" & echo $! >"$1.pid"; wait', name, path],
        env=environment)
    end = time.monotonic() + 60
    while child.poll() is None and time.monotonic() < end:
        if os.path.exists(path) and os.path.getsize(path) > ROWS * 264 + 1024:
            break
        time.sleep(0.1)
    if child.poll() is None:
        with open(f"{path}.pid") as file:
            os.kill(int(file.read()), signal.SIGINT)
    child.wait(60)


def read_theirs(path):
    """Rows of i915-perf-reader: the lines below each "reportN"."""
    text = subprocess.run(["i915-perf-reader", "-c", "all", "-r", path], check=True,
                          capture_output=True, text=True).stdout
    rows, row = [], None
    for line in text.splitlines():
        if re.match(r" report\d+ = ", line):
            row = {}
            rows.append(row)
        elif line.startswith("hw_id="):
            row = None
        elif row is not None and line.startswith("   "):
            name, value = line.strip().split(": ")
            row[name] = value
    return rows


def read_ours(build, path, name, folder):
    """Rows of the same file as a device: sampled, recorded and calculated by Zeta."""
    environment = dict(os.environ, ZETA_REPLAY=path)
    copy = f"{folder}/copy"
    subprocess.run([f"{build}/bin/zeta", "record", "-a", "-g", name, "-o", copy], check=True,
                   env=environment)
    text = subprocess.run([f"{build}/bin/zeta", "calc", "--csv", "-g", name, copy], check=True,
                          capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


def is_same(theirs, ours):
    """Whole numbers are equal; the others have six digits there, and 24 bits here. What divides by
    0 is 0 there and has no value here."""
    if not ours:
        return float(theirs) == 0
    if "." not in theirs:
        return float(theirs) == float(ours)
    return math.isclose(float(theirs), float(ours), rel_tol=2**-23, abs_tol=0.6e-6)


# What i915-perf-reader 1.27 does not have right: on DG2 it counts ticks of one clock as those of
# another that is twice as fast.
def correct(platform, row):
    if platform.startswith("dg2"):
        row["GpuTime"] = str(2 * int(row["GpuTime"]))
    return row


# Follows from the time, so it is wrong there too, and rounded where that cannot be undone.
def is_known_wrong(platform, name):
    return platform.startswith("dg2") and (name == "AvgGpuCoreFrequency" or "Throughput" in name)


def compare(platform, theirs, ours):
    compared = 0
    if len(theirs) < ROWS or len(theirs) != len(ours):
        sys.exit(f"i915-perf-reader shows {len(theirs)} rows, Zeta {len(ours)}")
    for index, (their, our) in enumerate(zip(theirs, ours)):
        for name, value in correct(platform, their).items():
            if name not in our:
                sys.exit(f"Zeta has no {name}; it has {', '.join(our)}")
            if is_known_wrong(platform, name):
                continue
            if not is_same(value, our[name]):
                sys.exit(f"row {index}: {name} is {value} in i915-perf-reader, {our[name]} in Zeta")
            compared += 1
    return compared


def main():
    build, platform, name = sys.argv[1:]
    for tool in ("i915-perf-recorder", "i915-perf-reader"):
        if not shutil.which(tool):
            print(f"{tool} is not installed (Debian: intel-gpu-tools)")
            sys.exit(77)
    with tempfile.TemporaryDirectory(dir=f"{build}/tests") as folder:
        path = f"{folder}/recording"
        record(build, platform, name, path)
        theirs = read_theirs(path)
        ours = read_ours(build, path, name, folder)
        compared = compare(platform, theirs, ours)
    print(f"{len(theirs)} rows, {compared} values compared")


main()
