#!/usr/bin/env python3
"""Compares what a library exports with the list that a person maintains (symbols.txt).

A symbol that appears or goes away is a change of the interface of the library, so the list changes
in the same commit. Exit status: 0 equal, 1 different.
"""

import argparse
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nm", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--list", required=True)
    options = parser.parse_args()

    output = subprocess.run([options.nm, "-D", "--defined-only", options.library], check=True,
                            capture_output=True, text=True).stdout
    exported = {line.split()[-1].split("@")[0] for line in output.splitlines() if line.strip()}
    with open(options.list, encoding="utf-8") as stream:
        lines = [line.strip() for line in stream if line.strip() and not line.startswith("#")]
    if lines != sorted(set(lines)):
        print(f"{options.list} is not sorted, or names something twice")
        return 1
    for name in sorted(exported - set(lines)):
        print(f"exported, but not in the list: {name}")
    for name in sorted(set(lines) - exported):
        print(f"in the list, but not exported: {name}")
    print(f"{len(exported)} symbols exported, {len(lines)} listed")
    return 0 if exported == set(lines) else 1


if __name__ == "__main__":
    sys.exit(main())
