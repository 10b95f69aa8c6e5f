#!/bin/sh
# Checks and measures plugins/nvidia on the GPU of this machine, and writes all of it into one file.
#
#   tests/cuda/on-device.sh [BUILD] [REPORT] [counters | compute]
#
# BUILD is a release build of this tree (build/release; made here if it is not there), REPORT the file
# (on-device.txt). The two halves can run apart: counters, which needs permission for them (run it as root) and the GPU
# for itself, and compute, which needs neither. Clocks and modes stay as they are. Takes some minutes; exits with 1
# if a check failed. What a stream costs, whom it slows down, and long streams take minutes each and are run by
# themselves:
#
#   tests/nvidia/measure_streams.py BUILD cost
#   tests/nvidia/measure_streams.py BUILD slowdown
#   tests/nvidia/measure_streams.py BUILD long 600 ComputeBasic 1ms
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${1:-$PWD/build/release}
report=${2:-on-device.txt}
half=${3:-both}
failed=
case $half in
counters | compute | both) ;;
*) echo "usage: $0 [BUILD] [REPORT] [counters | compute]" >&2 && exit 2 ;;
esac

[ -x "$build/bin/zeta" ] || ./run build || exit 1
exec 3>&1 >"$report" 2>&1
export ZETA_CONFIG=none ZETA_PLUGINS_SELECT=nvidia ZETA_PLUGIN_PATH="$build/share/zeta" ZETA_TEST_NVIDIA=device
zeta=$build/bin/zeta
fma=$build/tests/fma_program

# step SECONDS WORDS...: runs a command and says how it ended.
step()
{
    limit=$1
    shift
    printf '\n== %s\n' "$*"
    began=$(date +%s.%N)
    timeout "$limit" "$@"
    status=$?
    printf -- '-- %s after %.1f s\n' "$status" "$(echo "$(date +%s.%N) $began" | awk '{print $1 - $2}')"
    echo "$status: $*" >&3
    [ $status = 0 ] || failed="$failed
  $status: $*"
}

has()
{
    command -v "$1" >/dev/null
}

step 20 uname -a
step 20 nvidia-smi
step 20 nvidia-smi --query-gpu=clocks.sm,clocks.mem,power.draw,pstate --format=csv

measure_counters()
{
    # What a person sees first.
    step 60 "$zeta" plugin list
    step 60 "$zeta" devices
    step 60 "$zeta" doctor
    step 60 "$zeta" groups -v
    step 60 sh -c "ZETA_PLUGIN_NVIDIA_SETS=all '$zeta' groups | wc -l"
    step 120 "$zeta" selftest nvidia

    # Streams: sums beside what the kernels did.
    has python3 && step 200 python3 tests/nvidia/measure_streams.py "$build" sums
    step 30 "$zeta" stat -a --for 5s -g ComputeBasic
    step 30 "$zeta" stat -a --for 5s -g Gpm -p 500ms
    step 60 "$zeta" record -g ComputeBasic -o "${report%.txt}.zeta" -- "$fma" 20 20000
    step 30 "$zeta" report "${report%.txt}.zeta"
    # Small ones, which can become test data (tests/nvidia/recordings).
    for set in Occupancy Tensor MemoryBasic; do
        step 30 "$zeta" record --no-trace --force -g "$set" -o "${report%.txt}-$set.zeta" -- "$fma" 10 20000
    done
    step 30 "$zeta" stat -g Gpm -p 200ms -- "$fma" 1500 20000
    if has ncu; then
        # What the formulas take for the peak of a pipe, per cycle of all SMs.
        step 120 ncu --clock-control none --cache-control none --metrics \
            sm__cycles_elapsed.sum,sm__pipe_tensor_cycles_active.sum.peak_sustained,\
sm__pipe_tensor_op_hmma_cycles_active.sum.peak_sustained,sm__pipe_tensor_op_imma_cycles_active.sum.peak_sustained,\
sm__pipe_fp64_cycles_active.sum.peak_sustained,sm__pipe_shared_cycles_active.sum.peak_sustained,\
sm__inst_executed_pipe_fma.sum.peak_sustained,sm__cycles_active.sum.peak_sustained \
            "$fma" 1 20000
        step 120 ncu --clock-control none --cache-control none --metrics \
            sm__inst_executed.sum,sm__warps_launched.sum,sm__ctas_launched.sum,sm__cycles_active.sum \
            "$fma" 2 20000
    fi
    if python3 -c 'import torch' 2>/dev/null; then
        for set in Tensor:1ms ComputeBasic:1ms; do
            step 120 "$zeta" stat -g "${set%:*}" -p "${set#*:}" -- python3 -c '
import torch, time
a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
b = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
a @ b
torch.cuda.synchronize()
begin = time.time()
for i in range(500):
    c = a @ b
torch.cuda.synchronize()
print(500 * 2 * 8192**3 / (time.time() - begin) / 1e12, "TFLOP/s")'
        done
    fi

    # Programs that compute through Level Zero, and are measured.
    step 60 "$zeta" stat -g ComputeBasic -- "$build/bin/matmul" 1024
    step 60 "$build/bin/query" 4096
    # It chooses the GPU by itself.
    has python3 && step 100 env -u ZETA_PLUGINS_SELECT examples/demo.sh "$build" python3
    step 60 "$build/bin/tracer"
    # The suites of the API, with kernels in SPIR-V.
    has python3 && step 200 python3 tests/cuda/api_suites.py "$build"
    for suite in queries programmables; do
        ZET_ENABLE_METRICS=1 step 120 "$build/tests/tests.nvidia.nvidia_bed" "$suite"
    done
    step 60 "$build/tests/tests.nvidia.nvidia_parts_bed.2" sets_real
    step 200 "$build/bench/bench_nvidia_launch"
    step 60 "$build/bench/bench_nvidia_query"
    step 60 "$build/bench/bench_nvidia_events"
    [ -x "$build/bench/bench_nvidia_build" ] && step 100 "$build/bench/bench_nvidia_build" "$build"

    # The code of zeta-nv-cc beside that of nvcc.
    has python3 && [ -x "$build/tests/clrt-speed" ] && { has nvcc || [ -x /usr/local/cuda/bin/nvcc ]; } &&
        step 200 python3 tests/clrt/compare_nvcc.py "$build"

    # Kernels with known counts, as streams, queries and ncu see them.
    has python3 && step 300 python3 tests/nvidia/error_table.py "$build"

    # The same ten seconds, seen by PM sampling, GPM and nvidia-smi.
    has python3 && step 60 python3 tests/nvidia/compare_gpm.py "$build"
    step 60 "$build/tests/tests.nvidia.nvidia_machine" fault
}

check_compute()
{
    step 60 "$build/bin/matmul" 1024
    for suite in kernels order gpu_clock; do
        step 100 "$build/tests/tests.nvidia.zeta" "$suite"
    done
    step 60 "$build/tests/tests.nvidia.nvidia_bed.3" print
    # Modules in SPIR-V, and links of them.
    step 100 "$build/tests/tests.nvidia.nvidia_bed.2" spirv
    step 100 "$build/tests/tests.nvidia.nvidia_bed.4" links
    # OpenCL C in SPIR-V.
    step 200 tests/clrt/on-device.sh "$build"
}

[ "$half" = compute ] || measure_counters
[ "$half" = counters ] || check_compute
step 20 nvidia-smi --query-gpu=clocks.sm,clocks.mem,power.draw,pstate --format=csv
[ -z "$failed" ] || {
    printf '\nfailed:%s\n' "$failed"
    exit 1
}
