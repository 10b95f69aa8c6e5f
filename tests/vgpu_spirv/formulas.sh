#!/bin/sh
# Multiplies matrices with the kernel in SPIR-V under zeta stat, and compares what was counted with
# the closed formulas.
# Rule 6.24.
set -eu
build=$1 source=$2 python=$3 scratch=$4
for size in 64 96; do
    "$build/bin/zeta" stat -g ComputeBasic,ThreadDispatch "--json=$scratch/formulas.json" -- \
        "$build/bin/matmul" --kernel "$build/share/zeta/kernels/matmul.spv" "$size"
    "$python" "$source/examples/matmul_check.py" "$scratch/formulas.json" "$size"
done
