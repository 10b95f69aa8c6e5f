#!/usr/bin/env python3
"""compare_gpm.py BUILD [SECONDS]: the same seconds of one load, seen by PM sampling, by GPM and by nvidia-smi.

Runs the FMA loop without and with pauses on the GPU of this machine and samples it with all three. Prints their
means, and exits with 1 if two of them differ by more than 3 points. nvidia-smi is left out where it is missing.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

POINTS = 3
SMI = ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "--loop-ms=100"]
# What is the same: metric of ComputeBasic, metric of Gpm.
PAIRS = [("GpuBusy", "GraphicsEngineActive"), ("SmActive", "SmActive"), ("EuThreadOccupancy", "Occupancy"),
         ("FmaPipe", "Fp32Pipe")]


def means(path):
    with open(path, encoding="utf-8") as file:
        group = json.load(file)["groups"][0]
    if group["lost"] != 0:
        print(f"  {group['name']} lost {group['lost']} samples")
    return {metric["name"]: metric.get("value", metric.get("mean")) for metric in group["metrics"]}


def watch(build, load, seconds, folder):
    """Means of both groups, and of nvidia-smi or None, while the load runs."""
    zeta = os.path.join(build, "bin/zeta")
    program = subprocess.Popen([os.path.join(build, "tests/fma_program"), *load], stdout=subprocess.PIPE, text=True)
    time.sleep(1.5)  # it starts CUDA, and the clocks rise
    files = {group: os.path.join(folder, group) for group in ("ComputeBasic", "Gpm")}
    samplers = [subprocess.Popen([zeta, "stat", "-a", "-g", group, "-p", period, "--for", f"{seconds}s",
                                  f"--json={files[group]}"], stderr=subprocess.PIPE, text=True)
                for group, period in (("ComputeBasic", "1ms"), ("Gpm", "200ms"))]
    smi = subprocess.Popen(SMI, stdout=subprocess.PIPE, text=True) if shutil.which("nvidia-smi") else None
    for sampler in samplers:
        _, errors = sampler.communicate()
        if sampler.returncode != 0:
            sys.exit(f"compare_gpm.py: zeta stat gave {sampler.returncode}: {errors}")
    if program.poll() is not None:
        sys.exit("compare_gpm.py: the load ended before the sampling; it says nothing")
    utilisation = None
    if smi:
        smi.terminate()
        values = [float(line) for line in smi.communicate()[0].split()]
        utilisation = sum(values) / len(values)
    program.terminate()
    program.wait()
    return means(files["ComputeBasic"]), means(files["Gpm"]), utilisation


def main():
    build = sys.argv[1]
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    is_bad = False
    # A launch of 20000 turns takes 5.4 ms on an H100.
    for what, load in (("without pauses", ["100000000", "20000"]), ("with pauses", ["100000000", "20000", "5000"])):
        with tempfile.TemporaryDirectory() as folder:
            stream, gpm, smi = watch(build, load, seconds, folder)
        print(f"{seconds} s of the FMA loop {what}:")
        for ours, other in PAIRS:
            seen = [stream[ours], gpm[other]] + ([smi] if smi is not None and ours == "GpuBusy" else [])
            is_near = max(seen) - min(seen) <= POINTS
            is_bad = is_bad or not is_near
            print(f"  {ours:<20} {seen[0]:7.2f}  {'Gpm ' + other:<26} {seen[1]:7.2f}  "
                  f"{'nvidia-smi %7.2f' % seen[2] if len(seen) > 2 else '':<20} "
                  f"{'' if is_near else f'more than {POINTS} points apart'}".rstrip())
        sys.stdout.flush()
    return 1 if is_bad else 0


if __name__ == "__main__":
    sys.exit(main())
