#!/usr/bin/env python3
"""stubs.py MODULE.ll STUBS.c: entry stubs and records of a module's kernels.

All test kernels have the parameters (pointer, pointer, uint).
"""
import pathlib
import re
import sys

text = pathlib.Path(sys.argv[1]).read_text()
lines = ['#include "vgpu.h"']
for kernel in re.findall(r"^define .*spir_kernel void @(\w+)\(", text, re.M):
    lines.append(f"void {kernel}(void *, void *, unsigned);")
    lines.append(f"VGPU_KERNEL({kernel}, ARG_GLOBAL, ARG_GLOBAL, ARG_VALUE(unsigned));")
pathlib.Path(sys.argv[2]).write_text("\n".join(lines) + "\n")
