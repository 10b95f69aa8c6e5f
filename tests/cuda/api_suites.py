#!/usr/bin/env python3
"""Runs the suites of the API on the NVIDIA GPU of this machine, with their kernels in SPIR-V.

  api_suites.py BUILD [SECONDS]

api_suites.txt says which, and what does not apply there. Cases of one suite are processes, so that a fault
in one is no matter of the others; one that takes more than SECONDS (20) has failed. Prints what failed,
and how many passed, failed, were skipped and are not applicable. Exits with 1 if a case failed or a suite has
no line in the file. With CUDA_MACHINE in the environment it is the GPU of cuda-run.
"""

import concurrent.futures
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDERS = ("command", "device", "metric_api")
BESIDE = 8


def read_list():
    """What to run, by (folder, suite), and what not, by (folder, suite, case)."""
    runs, reasons = {}, {}
    for line in (HERE / "api_suites.txt").read_text().splitlines():
        words = line.split(maxsplit=4)
        if not words or words[0].startswith("#"):
            continue
        if words[0] == "run":
            runs[words[1], words[2]] = words[3]
        else:
            reasons[words[1], words[2], words[3]] = words[4]
    return runs, reasons


def read_suites():
    """The cases of each suite of the folders, by (folder, suite)."""
    suites = {}
    for folder in FOLDERS:
        for source in sorted((HERE.parent / folder).glob("test_*.c")):
            text = source.read_text()
            name = re.search(r"^SUITE(?:_WITH_ARGUMENTS)?\(([a-z_0-9]+)", text, re.MULTILINE)
            suites[folder, name[1]] = re.findall(r"\bcmocka_unit_test\w*\(\s*(\w+)", text)
    return suites


def find_programs(build):
    """The program of each suite, as the usage of the programs says."""
    programs = {}
    for folder in FOLDERS:
        for program in sorted(build.glob(f"tests/tests.{folder}.*")):
            usage = subprocess.run([program], capture_output=True, text=True, check=False).stderr
            for suite in usage.partition("suites:")[2].split():
                programs[folder, suite] = program
    return programs


def environment(build):
    settings = {
        "ZETA_CONFIG": "none",
        "ZETA_PLUGINS_SELECT": "nvidia",
        "ZETA_PLUGIN_PATH": str(build / "share/zeta"),
        "ZETA_TEST_KERNELS": str(build / "tests/nvidia/kernels/nvidia-api.spv"),
        "ZET_ENABLE_METRICS": "1",
    }
    if "CUDA_MACHINE" in os.environ:
        settings["ZETA_PLUGIN_NVIDIA_ROOT"] = os.environ["CUDA_MACHINE"] + "/root"
        settings["ZETA_PLUGIN_NVIDIA_LIBCUPTI"] = os.environ["LD_LIBRARY_PATH"]
    return {**os.environ, **settings}


def run(words, settings, seconds):
    """Runs a program; its output and status, or that it took too long."""
    try:
        done = subprocess.run(words, env=settings, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").decode(errors="replace"), f"more than {seconds:g} s"
    return done.stdout.decode(errors="replace"), done.returncode


def judge(case, output, status):
    """What became of a case, from the lines of cmocka."""
    said = re.findall(r"^\[ *(OK|FAILED|SKIPPED) *\] " + case + r"\s*$", output, re.MULTILINE)
    if not said or (said[0] == "OK" and status != 0):
        return "FAILED"
    return said[0]


def run_suite(name, cases, how, program, settings, seconds):
    """What became of each case, and what its process said: (case, verdict, status, output)."""
    def one(case):
        output, status = run([program, name, case], settings, seconds)
        return case, judge(case, output, status), status, output

    with concurrent.futures.ThreadPoolExecutor(BESIDE if how == "beside" else 1) as pool:
        return list(pool.map(one, cases))


def main(build, seconds):
    runs, reasons = read_list()
    suites = read_suites()
    programs = find_programs(build)
    settings = environment(build)
    counts = dict.fromkeys(("OK", "FAILED", "SKIPPED", "not"), 0)
    for (folder, suite), cases in suites.items():
        label = f"{folder}/{suite}"
        if (folder, suite, "*") in reasons:
            counts["not"] += len(cases)
            print(f"{label}: {len(cases)} not applicable: {reasons[folder, suite, '*']}")
            continue
        if (folder, suite) not in runs or (folder, suite) not in programs:
            counts["FAILED"] += len(cases)
            print(f"{label}: FAILED, no line in api_suites.txt or no program")
            continue
        wanted = [case for case in cases if (folder, suite, case) not in reasons]
        for case in cases:
            if (folder, suite, case) in reasons:
                counts["not"] += 1
                print(f"{label} {case}: not applicable: {reasons[folder, suite, case]}")
        for case, verdict, status, output in run_suite(suite, wanted, runs[folder, suite],
                                                       programs[folder, suite], settings, seconds):
            counts[verdict] += 1
            print(f"{label} {case}: {verdict}")
            if verdict == "FAILED":
                print(f"    status {status}\n    " + "\n    ".join(output.splitlines()[-25:]))
    print(f"API suites: {counts['OK']} passed, {counts['FAILED']} failed, {counts['SKIPPED']} skipped, "
          f"{counts['not']} not applicable")
    return 1 if counts["FAILED"] else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]).resolve(), float(sys.argv[2]) if len(sys.argv) == 3 else 20))
