#!/usr/bin/env python3
"""error_table.py BUILD [SCALE]: kernels with known counts, as streams, queries and ncu count them.

Runs each kernel of known.c by CUDA under `zeta stat` and under ncu, where that is installed, and by Level Zero in
queries, and prints what they say as a table in Markdown: the closed form, or what ncu says where there is none, and
how far the others are from it. Exits with 1 if one is further than its limit. SCALE divides the work (for a GPU that
does not exist).
"""
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
from typing import Callable, NamedTuple, Optional

GROUPS, GROUP = 528, 256
THREADS, WARPS = GROUPS * GROUP, GROUPS * GROUP // 32
PERIODS = ["1ms", "2ms", "5ms", "10ms", "20ms"]  # of streams: the first at which nothing is lost

# Size and launches under a stream. Each vector is twenty times the L2 of an H100, which writes later what it has; and
# launches are so many that what a program's start writes and asks of the L2 (0.6 and 1 GB) does not show.
WORK = {"fma_loop": (20000, 50), "dfma_loop": (2000, 50), "hfma_loop": (20000, 50), "vector_add": (1 << 28, 1000),
        "copy_repeat": (100, 1000), "shared_stride": (4000, 50), "mma_chain": (10000, 50), "divergent": (4000, 50)}
QUERIES = ["ComputeBasic", "ComputeFull", "MemoryRange", "Flops", "TensorInstructions", "TensorOpsBf16"]

EXACT, CYCLES, BYTES, POINT = 0.0, 0.01, 0.02, "1 point"


class Row(NamedTuple):
    """A metric of a kernel. Values are a metric, or a function of all metrics of the set; None: not there."""

    kernel: str
    what: str
    limit: object  # relative, or POINT
    closed: Optional[Callable]  # of the size and of the values of a query of size 1
    query: Optional[tuple]  # set, value
    stream: Optional[tuple]
    ncu: Optional[str]
    factor: int = 1  # by which ncu's value is multiplied


def active(metric):
    """A share of all cycles as one of those in which the SM had work: that of a program, idle times aside."""
    return lambda values: 100 * values[metric] / values["SmActive"]


def cycles(values):
    return values["Instructions"] / values["InstructionsPerCycle"]


def loop(metric, per_turn):
    """What is counted in turns of the loop, and around it as a query of one turn says: the compiler decides."""
    return lambda size, one: one[metric] + per_turn * (size - 1)


BASIC, FULL = "ComputeBasic", "ComputeFull"
ROWS = [
    Row("fma_loop", "Instructions", EXACT, loop((BASIC, "Instructions"), 67 * WARPS), (BASIC, "Instructions"),
        (BASIC, "Instructions"), "sm__inst_executed.sum"),
    Row("fma_loop", "InstFma", 1e-6, loop((BASIC, "InstFma"), 64 * WARPS), (BASIC, "InstFma"), (BASIC, "InstFma"),
        "sm__inst_executed_pipe_fma.sum"),
    Row("fma_loop", "WarpsLaunched", EXACT, lambda n, one: WARPS, (FULL, "WarpsLaunched"),
        ("Occupancy", "WarpsLaunched"), "sm__warps_launched.sum"),
    Row("fma_loop", "GroupsLaunched", EXACT, lambda n, one: GROUPS, (BASIC, "GroupsLaunched"),
        (BASIC, "GroupsLaunched"), "sm__ctas_launched.sum"),
    Row("fma_loop", "Ffma", EXACT, lambda n, one: THREADS * 64 * n, ("Flops", "Ffma"), None,
        "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"),
    Row("fma_loop", "Fadd", EXACT, lambda n, one: THREADS * 14, ("Flops", "Fadd"), None,
        "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"),
    Row("fma_loop", "active cycles of SMs", CYCLES, None, (BASIC, cycles), (BASIC, cycles), "sm__cycles_active.sum"),
    Row("fma_loop", "FmaPipe of active cycles", POINT, None, (BASIC, active("FmaPipe")), (BASIC, active("FmaPipe")),
        "sm__inst_executed_pipe_fma.sum.pct_of_peak_sustained_active"),
    Row("fma_loop", "occupancy of active cycles", POINT, None, (BASIC, active("EuThreadOccupancy")),
        (BASIC, active("EuThreadOccupancy")), "sm__warps_active.avg.pct_of_peak_sustained_active"),
    Row("dfma_loop", "Instructions", EXACT, loop((BASIC, "Instructions"), 67 * WARPS), (BASIC, "Instructions"),
        (BASIC, "Instructions"), "sm__inst_executed.sum"),
    Row("dfma_loop", "Dfma", EXACT, lambda n, one: THREADS * 64 * n, ("Flops", "Dfma"), None,
        "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum"),
    Row("dfma_loop", "Dadd", EXACT, lambda n, one: THREADS * 14, ("Flops", "Dadd"), None,
        "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum"),
    Row("dfma_loop", "Fp64Cycles", CYCLES, lambda n, one: 2 * WARPS * (64 * n + 14), (FULL, "Fp64Cycles"), None,
        "sm__pipe_fp64_cycles_active.sum"),
    Row("hfma_loop", "Hfma", EXACT, lambda n, one: THREADS * 16 * n, ("Flops", "Hfma"), None,
        "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum"),
    Row("vector_add", "Fadd", EXACT, lambda n, one: n, ("Flops", "Fadd"), None,
        "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"),
    Row("vector_add", "Instructions", EXACT, None, (BASIC, "Instructions"), (BASIC, "Instructions"),
        "sm__inst_executed.sum"),
    Row("vector_add", "GroupsLaunched", EXACT, lambda n, one: n // GROUP, (BASIC, "GroupsLaunched"),
        (BASIC, "GroupsLaunched"), "sm__ctas_launched.sum"),
    Row("vector_add", "GlobalLoadBytes", EXACT, lambda n, one: 8 * n, ("MemoryRange", "GlobalLoadBytes"), None,
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 32),
    Row("vector_add", "GlobalStoreBytes", EXACT, lambda n, one: 4 * n, ("MemoryRange", "GlobalStoreBytes"), None,
        "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 32),
    Row("vector_add", "L2Bytes", CYCLES, None, (BASIC, "L2Bytes"), (BASIC, "L2Bytes"), "lts__t_sectors.sum", 32),
    Row("vector_add", "DramRead", BYTES, lambda n, one: 8 * n, (BASIC, "DramRead"), (BASIC, "DramRead"),
        "dram__bytes_read.sum"),
    Row("vector_add", "DramWrite", BYTES, lambda n, one: 4 * n, (BASIC, "DramWrite"), (BASIC, "DramWrite"),
        "dram__bytes_write.sum"),
    Row("copy_repeat", "L2Bytes", CYCLES, None, (BASIC, "L2Bytes"), (BASIC, "L2Bytes"), "lts__t_sectors.sum", 32),
    Row("mma_chain", "TensorInst", EXACT, lambda n, one: WARPS * n, ("TensorInstructions", "TensorInst"), None,
        "sm__inst_executed_pipe_tensor.sum"),
    Row("mma_chain", "TensorOps", EXACT, lambda n, one: 4096 * WARPS * n, ("TensorOpsBf16", "TensorOps"), None,
        "sm__ops_path_tensor_src_bf16_dst_fp32.sum"),
    Row("mma_chain", "TensorCycles", CYCLES, lambda n, one: 6 * WARPS * n, (FULL, "TensorCycles"), ("Tensor", "TensorCycles"),
        "sm__pipe_tensor_cycles_active.sum"),
    Row("divergent", "ThreadInstructions", EXACT, None, (BASIC, "ThreadInstructions"), (BASIC, "ThreadInstructions"),
        "smsp__thread_inst_executed_pred_on.sum"),
    Row("shared_stride", "SharedWavefronts", CYCLES, None, None, ("Tensor", "SharedWavefronts"),
        "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"),
]


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"error_table.py: {' '.join(command)} gave {result.returncode}: {result.stderr}{result.stdout}")
    return result


def query(build, kernel, size, sets):
    """Set and metric to value, of one launch."""
    lines = run(os.path.join(build, "tests/query_program"), kernel, str(size), *sets).stdout.splitlines()
    return {(name, metric): float(value) for name, metric, value in map(str.split, lines)}


def stream(build, kernel, size, launches, group):
    """Metric to its total of one launch, or its mean, under a stream that lost nothing."""
    with tempfile.NamedTemporaryFile() as file:
        for period in PERIODS:
            said = run(os.path.join(build, "bin/zeta"), "stat", "-g", group, "-p", period, f"--json={file.name}", "--",
                       os.path.join(build, "tests/fma_program"), str(launches), str(size), "0", kernel).stderr
            with open(file.name, encoding="utf-8") as text:
                found = json.load(text)["groups"][0]
            if found["lost"] == 0 and "no report after the end" not in said:
                break
        else:
            sys.exit(f"error_table.py: {group} loses samples of {kernel} at each of the periods {PERIODS}")
    return {metric["name"]: metric["value"] if metric["total"] is None else metric["total"] / launches
            for metric in found["metrics"]}


def ncu(build, kernel, size, metrics):
    """Metric to value of the second launch; nothing without ncu."""
    if not shutil.which("ncu"):
        return {}
    lines = run("ncu", "--csv", "--print-units", "base", "--clock-control", "none", "--cache-control", "none",
                "--metrics", ",".join(metrics), os.path.join(build, "tests/fma_program"), "2", str(size), "0",
                kernel).stdout.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith('"ID"'))
    return {row["Metric Name"]: float(row["Metric Value"].replace(",", ""))
            for row in csv.DictReader(lines[start:]) if row["ID"] == "1"}


def value(values, what):
    return what(values) if callable(what) else values.get(what)


def shown(number):
    return f"{number:.0f}" if number == int(number) or abs(number) >= 1e6 else f"{number:.6g}"


def measure(build, kernel, scale):
    """A line of the table for each row of a kernel, and whether all are within their limits."""
    rows = [row for row in ROWS if row.kernel == kernel]
    size, launches = (max(number // scale, least) for number, least in zip(WORK[kernel], (GROUP, 5)))
    sets = [name for name in QUERIES if any(row.query and row.query[0] == name for row in rows)]
    queried = query(build, kernel, size, sets) if sets else {}
    one = query(build, kernel, 1, sets) if any(row.closed for row in rows) else {}
    streamed = {name: stream(build, kernel, size, launches, name)
                for name in sorted({row.stream[0] for row in rows if row.stream})}
    profiled = ncu(build, kernel, size, sorted({row.ncu for row in rows if row.ncu}))
    lines, is_good = [], True
    for row in rows:
        seen = {
            "ncu": profiled[row.ncu] * row.factor if row.ncu in profiled else None,
            "query": value({metric: number for (name, metric), number in queried.items() if name == row.query[0]},
                           row.query[1]) if row.query else None,
            "stream": value(streamed[row.stream[0]], row.stream[1]) if row.stream else None}
        wanted = row.closed(size, one) if row.closed else None
        reference = next(number for number in (wanted, seen["ncu"], seen["query"], seen["stream"]) if number is not None)
        errors = {}
        for who, number in seen.items():
            if number is not None:
                errors[who] = number - reference if row.limit is POINT else (number - reference) / reference
        bad = [who for who, error in errors.items() if abs(error) > (1 if row.limit is POINT else row.limit)]
        is_good = is_good and not bad
        cells = [kernel, row.what, shown(reference) if wanted is not None else f"({shown(reference)})"]
        for who in ("ncu", "query", "stream"):
            text = "-" if who not in errors else f"{errors[who]:+.2g}" if errors[who] else "0"
            cells.append(f"**{text}**" if who in bad else text)
        cells.append(row.limit if row.limit is POINT else f"{row.limit:g}")
        lines.append(f"| {' | '.join(cells)} |")
    return lines, is_good


def main():
    build, scale = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    is_good = True
    print("Errors of what each counts of a launch, relative to the closed form or, in parentheses, to ncu:\n")
    print("| kernel | metric | closed form | ncu | query | stream | limit |\n|---|---|---|---|---|---|---|")
    for kernel in WORK:
        lines, is_within = measure(build, kernel, scale)
        print("\n".join(lines), flush=True)
        is_good = is_good and is_within
    if not is_good:
        print("\nWhat is printed in bold is beyond its limit.")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
