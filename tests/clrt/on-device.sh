#!/bin/sh
# on-device.sh BUILD: the tests of the OpenCL C library on the NVIDIA GPU of this machine, by clrt-cuda. The PTX
# is that which the tests clrt.ptx.* of the build made; types run beside each other, as the driver compiles long.
# Prints what failed, how many passed, and the worst errors of math functions beside those of the virtual GPU.
set -u
build=$1
ptx=$build/tests/clrt/ptx
[ -f "$ptx/spirv_warp.ptx" ] || {
    echo "there is no PTX in $ptx; make it: ctest --test-dir $build -R clrt.ptx"
    exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for suite in atomic bits common convert group integer math memory relational; do
    for type in CHAR UCHAR SHORT USHORT INT UINT LONG ULONG FLOAT DOUBLE HALF; do
        echo "$suite *CLRT_$type"
    done
done > "$work/jobs"
for type in CHAR UCHAR SHORT USHORT INT UINT LONG ULONG FLOAT DOUBLE HALF; do
    echo "lanes *CLRT_$type"
done >> "$work/jobs"
for job in 'group ids*' 'group barriers*' 'group pointers*' 'group printf*' 'memory *half*' 'warp *' 'contention *' 'flow *' \
    'language *'; do
    echo "$job"
done >> "$work/jobs"
export build ptx work
export CLRT_ROUNDS="${CLRT_ROUNDS:-10}"
xargs -P "$(nproc)" -L 1 sh -c '
    log=$work/$0-$(echo "$1" | tr -dc A-Za-z)
    "$build/tests/clrt-cuda" "$ptx" "$0" "$1" > "$log" 2>&1 || echo "$0 $1: exit $?" >> "$work/failed"' \
    < "$work/jobs"
cat "$work"/*-* | grep -E '^(0x|.*expected|.*ULP|.*cu[A-Z][A-Za-z]*: |\[  FAILED|\[  ERROR)' | sort | uniq -c | sort -rn
cat "$work"/math-* > "$work/ulps-gpu"
CLRT_ROUNDS=1 RIG_KERNELS=$build/tests/clrt "$build/tests/tests.clrt.vgpu_engine" math > "$work/ulps-virtual" 2>&1
sh "$(dirname "$0")/ulps.sh" "$work/ulps-virtual" "$work/ulps-gpu"
echo "passed: $(cat "$work"/*-* | grep -c '\[ *OK')"
[ ! -e "$work/failed" ] || {
    cat "$work/failed"
    exit 1
}
