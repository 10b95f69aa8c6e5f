#!/usr/bin/env python3
"""Compares what `zeta stat --json` sampled with what a tiled matrix product must take.

usage: matmul_check.py FILE SIZE

The product of two SIZE x SIZE matrices with tiles of 16 x 16, one work-item per element, two
barriers per step: nothing of this depends on time or on the number of threads, so every figure
has to be exact. NVIDIA's GPUs count over time no operations but instructions of a pipe: those of addresses
are among them, some hundredths.
"""
import json
import sys

TILE = 16
WARP = 32
MOST_ADDRESSES = 0.15


def expected_of_nvidia(size, measured):
    """The same of NVIDIA's GPUs, and what is among the instructions of the pipe for products and sums."""
    steps = size // TILE
    total = measured.get(("ComputeBasic", "InstFma")) or 0
    # The kernel in PTX does a product and a sum in one instruction, that in SPIR-V in two.
    least, words = 2 * size**3 // WARP, "products and sums of warps, 2 N^3 / 32"
    if total < least:
        least, words = size**3 // WARP, "fused products and sums of warps, N^3 / 32"
    if least < total <= least * (1 + MOST_ADDRESSES):
        words = f"{words} = {least}, and {total - least} for addresses"
        least = total
    return [
        ("ComputeBasic", "InstFma", least, words),
        ("ComputeBasic", "GroupsLaunched", steps * steps, "work-groups, (N / 16)^2"),
    ]


def expected(size):
    """Group, metric, exact total, and the words a person reads."""
    steps = size // TILE
    items = size * size
    return [
        ("ComputeBasic", "FpOps", 2 * size**3, "FP32 operations, 2 N^3"),
        ("ComputeBasic", "BarrierMessages", 2 * steps * items, "barriers, N^3 / 8"),
        ("ComputeBasic", "SlmReadBytes", 4 * 2 * size**3,
         "bytes read from local memory, 4 x 2 N^3"),
        ("ComputeBasic", "SlmWriteBytes", 4 * 2 * steps * items,
         "bytes stored to local memory, 4 x N^3 / 8"),
        ("ComputeBasic", "GlobalWriteBytes", 4 * items, "bytes stored, 4 N^2"),
        ("ThreadDispatch", "GroupsDispatched", steps * steps, "work-groups, (N / 16)^2"),
        ("ThreadDispatch", "ThreadsDispatched", items, "work-items, N^2"),
    ]


def totals(report):
    """(group, metric) -> total"""
    return {(group["name"], metric["name"]): metric["total"]
            for group in report["groups"] for metric in group["metrics"]}


def main(arguments):
    if len(arguments) != 2 or not arguments[1].isdigit() or int(arguments[1]) % TILE:
        print(__doc__, file=sys.stderr)
        return 2
    with open(arguments[0], encoding="utf-8") as stream:
        report = json.load(stream)
    if report.get("schema") != "zeta.stat/1":
        print(f"{arguments[0]}: not a report of zeta stat (schema zeta.stat/1)", file=sys.stderr)
        return 2

    measured = totals(report)
    size = int(arguments[1])
    is_nvidia = ("ComputeBasic", "InstFma") in measured
    failures = 0
    for group, metric, wanted, words in expected_of_nvidia(size, measured) if is_nvidia else expected(size):
        value = measured.get((group, metric))
        right = value == wanted
        failures += not right
        verdict = "exact" if right else f"WRONG, must be {wanted}"
        shown = "missing" if value is None else value
        print(f"  {metric:<18} {shown:>12}  {verdict}: {words}")
    for group in report["groups"]:
        if group["lost"]:
            print(f"  {group['name']}: {group['lost']} reports lost")
            failures += 1
    print("Every figure is exact." if not failures else f"{failures} figures are wrong.")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
