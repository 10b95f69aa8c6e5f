#!/usr/bin/env python3
"""compare_nvcc.py BUILD: kernels in SPIR-V by zeta-nv-cc beside the same text as CUDA C by nvcc, on the GPU here.

nvcc gets the words of CUDA C instead of those of OpenCL C, and contracts no floating point, as we do. Both make PTX,
which the driver compiles. Prints a table in Markdown: times by CUDA events, the best and the median of some rounds in
turn; instructions of warps, and multiplications and additions of threads, by ncu where it is installed; registers; and
whether the results are the same to the bit. Exits with 1 if they are not, or if the product of matrices takes more
than a tenth more time or instructions than nvcc's; with 77 without nvcc or a GPU. The PTX of ours is what the test
clrt.ptx.speed made; without LLVM on this machine it can have been made on another.
"""
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "examples/kernels"
SOURCES = {"matmul": EXAMPLES / "matmul.cl", "vector_add": EXAMPLES / "vector_add.cl",
           "speed": HERE / "speed/speed.cl"}
ROUNDS = 25
BUDGET = 1.10
SKIPPED = 77
COUNTS = {"warp instructions": ["sm__inst_executed.sum"],
          "operations": ["smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
                         "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
                         "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"]}
WORDS = [(r"(?m)^kernel __attribute__\(\(reqd_work_group_size\((.*), (.*), (.*)\)\)\) void$",
          r'extern "C" __global__ void __launch_bounds__(\1 * \2 * \3)'),
         (r"(?m)^kernel ", r'extern "C" __global__ '),
         (r"\bglobal ", ""),
         (r"\blocal ", "__shared__ "),
         (r"\brestrict\b", "__restrict__")]


def find_nvcc():
    return shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")


def run(*command):
    """The output; ends the program as the command ended, if that failed."""
    result = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, check=False)
    if result.returncode == SKIPPED:
        print(result.stdout)
        sys.exit(SKIPPED)
    if result.returncode != 0:
        print(f"compare_nvcc.py: {command[0]} gave {result.returncode}:\n{result.stdout}")
        sys.exit(1)
    return result.stdout


def compile_cuda(nvcc, source, processor, ptx):
    """PTX of a kernel in OpenCL C as nvcc makes it of the same text in CUDA C."""
    text = source.read_text(encoding="utf-8")
    for pattern, replacement in WORDS:
        text = re.sub(pattern, replacement, text)
    cuda = ptx.with_suffix(".cu")
    cuda.write_text(f'#include "{HERE}/speed/cuda.h"\n{text}', encoding="utf-8")
    run(nvcc, "-O3", "--fmad=false", f"-arch={processor}", "-ptx", cuda, "-o", ptx)


def processor_here():
    capability = run("nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader").split()[0]
    return "sm_" + capability.replace(".", "")


def count(*command):
    """Kernel to the counts of its two programs, each a dictionary of the names of COUNTS; nothing if ncu cannot."""
    if not shutil.which("ncu"):
        print("Nothing is counted: ncu is not installed.\n")
        return {}
    metrics = [metric for each in COUNTS.values() for metric in each]
    done = subprocess.run(["ncu", "--csv", "--print-units", "base", "--clock-control", "none", "--cache-control",
                           "none", "--metrics", ",".join(metrics), *map(str, command)], capture_output=True, text=True,
                          check=False)
    lines = done.stdout.splitlines()
    if done.returncode != 0 or not any(line.startswith('"ID"') for line in lines):
        print(f"Nothing is counted: ncu gave {done.returncode}:\n{done.stderr}{done.stdout}")
        return {}
    start = next(number for number, line in enumerate(lines) if line.startswith('"ID"'))
    launches = {}
    for row in csv.DictReader(line for line in lines[start:] if line.startswith('"')):
        kernel = row["Kernel Name"].partition("(")[0]
        launches.setdefault(kernel, {}).setdefault(row["ID"], {})[row["Metric Name"]] = float(
            row["Metric Value"].replace(",", ""))
    return {kernel: [{name: sum(values[metric] for metric in each) for name, each in COUNTS.items()}
                     for values in by_launch.values()] for kernel, by_launch in launches.items()}


def ratio(ours, other):
    return f"{ours / other:.3f}" if other else "-"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build, nvcc = Path(sys.argv[1]), find_nvcc()
    ptx = build / "tests/clrt/ptx"
    if not nvcc or not shutil.which("nvidia-smi"):
        print("skipped: no nvcc or no nvidia-smi")
        return SKIPPED
    missing = [name for name in SOURCES if not (ptx / f"spirv_{name}.ptx").exists()]
    if missing:
        print(f"there is no spirv_{missing[0]}.ptx in {ptx}; make it: ctest --test-dir {build} -R clrt.ptx.speed")
        return 1
    is_good = True
    with tempfile.TemporaryDirectory() as folder:
        ours, other = Path(folder, "ours"), Path(folder, "nvcc")
        ours.mkdir()
        other.mkdir()
        for name, source in SOURCES.items():
            shutil.copy(ptx / f"spirv_{name}.ptx", ours / f"{name}.ptx")
            compile_cuda(nvcc, source, processor_here(), other / f"{name}.ptx")
        program = build / "tests/clrt-speed"
        measured = [line.split() for line in run(program, ours, other, ROUNDS).splitlines()]
        counts = count(program, ours, other, 0)
    print("Ours / nvcc's; times in us, the best (median):\n")
    print("| kernel | time | ratio | warp instructions | ratio | operations of threads | registers | result |")
    print("|---|---|---|---|---|---|---|---|")
    for kernel, best, median, registers, other_best, other_median, other_registers, result in measured:
        times = ratio(float(best), float(other_best))
        cells = [kernel, f"{best} ({median}) / {other_best} ({other_median})", times]
        instructions = "-"
        if len(counts.get(kernel, [])) == 2:
            first, second = counts[kernel]
            instructions = ratio(first["warp instructions"], second["warp instructions"])
            cells += [" / ".join(f"{each['warp instructions']:.0f}" for each in counts[kernel]), instructions,
                      " / ".join(f"{each['operations']:.0f}" for each in counts[kernel])]
        else:
            cells += ["-", "-", "-"]
        print(f"| {' | '.join([*cells, f'{registers} / {other_registers}', result])} |")
        is_good = is_good and result == "equal"
        if kernel == "matmul":
            is_good = is_good and all(each == "-" or float(each) <= BUDGET for each in (times, instructions))
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
