# Cases of a machine with NVIDIA GPUs, for command_test.sh: the libraries of tests/cuda show it.
# shellcheck shell=sh disable=SC2154 # it has the variables

# nvidia "OPTIONS of cuda-run" COMMAND...: with those GPUs alone, and nothing of Zeta ruled out.
nvidia()
{
    options=$1
    shift
    # shellcheck disable=SC2086 # a list of words
    env -u ZETA_PLUGINS_DISABLE -u CUDA_VISIBLE_DEVICES "$build/tests/cuda-run" $options -- "$@"
}

# shows OPTIONS TEXT...: plugin list, doctor and selftest say all this of a machine on which the plugin fails.
shows()
{
    options=$1
    shift
    expect 0 nvidia "$options" "$bin/zeta" plugin list
    for text in "$@"; do out_has "$text"; done
    expect 1 nvidia "$options" "$bin/zeta" doctor
    out_has "PROBLEM: plugin nvidia does not work"
    for text in "$@"; do out_has "$text"; done
    expect 1 nvidia "$options" "$bin/zeta" selftest nvidia
    for text in "$@"; do err_has "$text"; done
}

case_nvidia_devices()
{
    expect 0 nvidia "--gpu gh100 --gpu ad102" "$bin/zeta" devices
    out_has "0  NVIDIA H100 80GB HBM3 (hardware)"
    out_has "id        0000:06:00.0"
    out_has "1 slice x 132 subslices x 4 EUs x 16 threads"
    out_has "core 1980 MHz, timer 1000 MHz with 64 bits"
    out_has "1  NVIDIA GeForce RTX 4090 (hardware)"
    expect 0 nvidia "--gpu gh100 --gpu ad102" "$bin/zeta" plugin list "--json=$json"
    holds "$json" '[(p["state"], p["devices"]) for p in d["plugins"] if p["id"] == "nvidia"] == [("active", 2)]'
    expect 0 nvidia "" env ZETA_PLUGINS_SELECT=vgpu "$bin/zeta" devices "--json=$json"
    holds "$json" '[e["class"] for e in d["devices"]] == ["software"]'
    expect 0 nvidia "" env ZETA_PLUGIN_VGPU_ENABLE=always "$bin/zeta" devices "--json=$json"
    holds "$json" '[e["class"] for e in d["devices"]] == ["hardware", "software"]'
}

# Each way in which CUDA does not start: cause, current value, command.
case_nvidia_driver_states()
{
    shows "--without driver" "libcuda.so.1 is not installed" "kernel module has version 580.159.04"
    shows "--fault cuInit=34@1+" "is the stub of a CUDA toolkit" "LD_LIBRARY_PATH"
    shows "--fault cuInit=36@1+" "The driver is too old" "580.159.04"
    shows "--fault cuInit=46@1+" "compute mode" "sudo nvidia-smi -c DEFAULT"
    shows "--fault cuInit=802@1+" "systemctl status nvidia-fabricmanager"
    shows "--fault cuInit=803@1+" "the kernel module has version 580.159.04, the library is" "reboot"
    shows "--fault cuInit=804@1+" "cuda-compat"
    shows "--fault cuInit=999@1+" "cuInit returns 999" "kernel module 580.159.04"
}

# lacks_counters OPTIONS TEXT...: doctor and selftest say all this of a GPU that cannot be sampled.
lacks_counters()
{
    options=$1
    shift
    nvidia "$options" "$bin/zeta" doctor "--json=$json" >"$out" 2>"$err" || true
    holds "$json" '[e["can_be_sampled"] for e in d["devices"]] == [False]'
    nvidia "$options" "$bin/zeta" doctor >"$out" 2>"$err" || true
    # Nobody is known who would let the GPU go again.
    out_has "PROBLEM: NVIDIA H100 80GB HBM3 cannot be sampled: "
    for text in "$@"; do out_has "$text"; done
    [ ! -s "$err" ] || die "the doctor writes messages beside its report"
    expect 1 nvidia "$options" "$bin/zeta" selftest --for 100ms nvidia
    cat "$err" >>"$out"
    out_has "FAILED"
    for text in "$@"; do out_has "$text"; done
}

# lacks_sets OPTIONS TEXT...: a GPU without PM sampling has groups all the same; what is missing is told.
lacks_sets()
{
    options=$1
    shift
    nvidia "$options" "$bin/zeta" doctor >"$out" 2>"$err" || true
    out_has "lacks metrics that it could have"
    for text in "$@"; do out_has "$text"; done
    expect 0 nvidia "$options" "$bin/zeta" groups
    out_has "More are missing"
    for text in "$@"; do out_has "$text"; done
    ! grep -q ComputeBasic "$out" || die "there are sets that the GPU cannot count"
    expect 0 nvidia "$options" "$bin/zeta" selftest --for 100ms nvidia
}

# Each reason for which a GPU has no counters: cause, current value, command.
case_nvidia_counter_states()
{
    lacks_sets "--without cupti" "libcupti.so.13 is not installed" "cuda-cupti-13-0 or libcupti13"
    lacks_sets "--old-cupti" "too old for PM sampling" "libcupti.so.12 of version 22" "CUDA 12.6"
    echo "{format: 1, gpus: [{chip: GR100, like: gh100}]}" >"$work/machine.yaml"
    lacks_sets "--machine $work/machine.yaml" "chip GR100" "newer than this libcupti" "of version 130001"
    lacks_sets "--fault cuptiProfilerHostInitialize=15@1+" "libnvperf_host.so" "libcupti.so.13"
    expect 0 nvidia "--without nvml" "$bin/zeta" groups
    out_has "More are missing: libnvidia-ml.so.1 is not installed"
    out_has "The metrics of GPM need it."
    out_has ComputeBasic
    expect 0 nvidia "--without nvml --gpu ga100" "$bin/zeta" groups
    ! grep -q missing "$out" || die "a GPU without GPM lacks NVML"
    lacks_sets "--gpu gv100" "chip GV100" "does not have it"
    lacks_counters "--no-permission" "RmProfilingAdminOnly is 1" "CapEff" \
        "NVreg_RestrictProfilingToAdminUsers=0" "--cap-add=SYS_ADMIN"
    lacks_counters "--fault cuptiPmSamplingSetConfig=26@1+" "another profiler" "dcgmi profile --pause"
    for mode in "confidential:confidential computing" "vgpu:virtual one" "cmp:mining processor" \
        "sli:coupled with others" "wsl:inside Windows"; do
        echo "{format: 1, gpus: [{chip: gh100, mode: ${mode%%:*}}]}" >"$work/machine.yaml"
        lacks_counters "--machine $work/machine.yaml" "${mode#*:}"
    done
}

# MIG and compute modes do not keep counters away: they are told beside a GPU that is measured.
case_nvidia_notes()
{
    echo "{format: 1, gpus: [{chip: gh100, instances: 7}]}" >"$work/machine.yaml"
    expect 0 nvidia "--machine $work/machine.yaml" "$bin/zeta" plugin list
    out_has "A GPU is divided (MIG)"
    out_has "nvidia-smi -L"
    expect 0 nvidia "--machine $work/machine.yaml" "$bin/zeta" selftest --for 100ms nvidia
    out_has "MIG 1g.11gb"
    echo "{format: 1, gpus: [{chip: gh100, compute_mode: 3}]}" >"$work/machine.yaml"
    expect 0 nvidia "--machine $work/machine.yaml" "$bin/zeta" plugin list
    out_has "The compute mode of 0000:06:00.0 is exclusive"
    out_has "sudo nvidia-smi -i 0000:06:00.0 -c DEFAULT"
    expect 0 nvidia "--machine $work/machine.yaml" "$bin/zeta" selftest --for 100ms nvidia
}

# What compiles SPIR-V: without it, or what it needs, GPUs compute native kernels alone.
case_nvidia_compiler()
{
    no_spirv="rograms with kernels in SPIR-V do not run on NVIDIA GPUs: "
    export ZETA_PLUGIN_NVIDIA_COMPILER="$work/zeta-nv-cc"
    expect 0 nvidia "--gpu gh100" "$bin/zeta" plugin list
    out_has "${no_spirv}SPIR-V has to be compiled by zeta-nv-cc, and there is no program $work/zeta-nv-cc."
    out_has "Install the package zeta-nv-cc"
    nvidia "--gpu gh100" "$bin/zeta" doctor >"$out" 2>"$err" || true # of the loader
    out_has "note: p${no_spirv}cannot find program $work/zeta-nv-cc"
    out_has "try: install the package zeta-nv-cc and what it needs"

    printf '#!/bin/sh\necho "it needs more" >&2\nexit 127\n' >"$work/zeta-nv-cc"
    chmod +x "$work/zeta-nv-cc"
    echo "translator the-package" >"$work/zeta-nv-cc.needs"
    expect 0 nvidia "--gpu gh100" "$bin/zeta" plugin list
    out_has "${no_spirv}SPIR-V has to be compiled by zeta-nv-cc, which needs $work/translator"
    out_has "Install the package the-package"
    : >"$work/translator"
    expect 0 nvidia "--gpu gh100" "$bin/zeta" plugin list
    ! grep -q SPIR-V "$out" || die "it is all there"
    nvidia "--gpu gh100" "$bin/zeta" doctor "--json=$json" >"$out" 2>"$err" || true
    holds "$json" '[(c["plugin"], c["works"]) for c in d["compilers"]] == [("nvidia", False)]'
    holds "$json" 'any("it needs more" in f["what"] and not f["problem"] for f in d["findings"])'
    unset ZETA_PLUGIN_NVIDIA_COMPILER
    [ ! -x "$build/libexec/zeta/zeta-nv-cc" ] || {
        nvidia "--gpu gh100" "$bin/zeta" doctor "--json=$json" >"$out" 2>"$err" || true
        holds "$json" '[(c["plugin"], c["works"]) for c in d["compilers"]] == [("nvidia", True)]'
    }
}

# GPUs that a variable hides are no problem; whoever looks for them is told.
case_nvidia_hidden()
{
    expect 0 nvidia "--gpu gh100 --gpu ga100" env CUDA_VISIBLE_DEVICES=1 "$bin/zeta" plugin list
    out_has 'CUDA_VISIBLE_DEVICES is "1": it shows 1 of 2 GPUs.'
    expect 0 nvidia "--gpu gh100 --gpu ga100" env CUDA_VISIBLE_DEVICES=1 "$bin/zeta" devices
    out_has "0  NVIDIA A100-SXM4-80GB"
    expect 0 nvidia "" env CUDA_VISIBLE_DEVICES= "$bin/zeta" plugin list
    grep -q "^nvidia  *no device" "$out" || die "the plugin is not listed"
    out_has 'CUDA_VISIBLE_DEVICES is "", which names none of the 1 that are there'
    ! grep -q "no device of:.*nvidia" "$out" || die "it is among those without hardware"
    [ ! -s "$err" ] || die "a warning is written"
    expect 0 nvidia "" env CUDA_VISIBLE_DEVICES= "$bin/zeta" plugin list "--json=$json"
    holds "$json" '[p["id"] for p in d["plugins"] if p["has_hardware"]] == ["nvidia"]'
    expect 1 nvidia "" env CUDA_VISIBLE_DEVICES= "$bin/zeta" doctor
    out_has "note: plugin nvidia finds no device: CUDA shows no GPU"
    out_has "only these NVIDIA GPUs are shown to programs"
    expect 1 nvidia "" env CUDA_VISIBLE_DEVICES= "$bin/zeta" devices
    err_has "nvidia: no device: CUDA shows no GPU"
}

# A machine without NVIDIA's driver: nothing is opened, written or said but in the list.
case_nvidia_absent()
{
    expect 0 env ZETA_PLUGINS_DISABLE=intel-\* "$bin/zeta" devices
    [ ! -s "$err" ] || die "something is written"
    if [ ! -e /dev/nvidiactl ]; then
        out_has "software"
        expect 0 env ZETA_PLUGINS_DISABLE=intel-\* "$bin/zeta" plugin list
        grep -q "nvidia" "$out" || die "the plugin is not listed"
    fi
}

# The instructions of the program that was run, as it prints them.
instructions()
{
    sed -n 's/ instructions$//p' "$out"
}

# Periods for ComputeBasic, the usual one first.
set_periods="1ms 2ms 5ms 10ms 20ms"

# without_loss "PERIODS" COMMAND ARGUMENT...: zeta COMMAND -p PERIOD ARGUMENT..., with the first of the periods
# at which nothing is lost, the end included: a slow machine keeps up with a longer one.
without_loss()
{
    periods=$1
    command=$2
    shift 2
    losses=
    for period in $periods; do
        ZETA_PLUGIN_NVIDIA_DECODE_BUFFER_MIB=1024 expect 0 nvidia "" "$bin/zeta" "$command" -p "$period" "$@"
        said=$(grep -E " lost|no report after the end" "$err") || die "nothing is said of samples"
        case $said in
            *"no report after the end"*) ;;
            *", none lost"*) return 0 ;;
        esac
        losses="$losses
every $period: $said"
    done
    die "each of these periods loses samples:$losses"
}

# Any CUDA program, its children too, counted to the last instruction.
case_nvidia_stat()
{
    without_loss "$set_periods" stat -- "$build/tests/fma_program" 5 20000
    err_has "NVIDIA H100 80GB HBM3 (hardware, 0000:06:00.0)"
    err_has "ComputeBasic"
    total=$(awk '$1 == "Instructions" { print $2 }' "$err")
    [ "$total" = "$(instructions)" ] || die "$total instructions were counted"
    without_loss "100us 500us 1ms 2ms 5ms" stat -g Occupancy -- sh -c \
        "'$build/tests/fma_program' 2 10000; '$build/tests/fma_program' 1 5000"
    groups=$(awk '$1 == "GroupsLaunched" { print $2 }' "$err")
    [ "$groups" = $((3 * 528)) ] || die "$groups groups were counted"
    expect 0 nvidia "--gpu gh100 --gpu ad102" "$bin/zeta" stat -a --for 100ms "--json=$json"
    holds "$json" 'metric("ComputeBasic", "GpuTime")["total"] >= 90e6'
    holds "$json" 'metric("ComputeBasic", "AvgGpuCoreFrequencyMHz")["value"] in (1979, 1980)'
    # What is not there says so.
    expect 1 nvidia "--no-permission" "$bin/zeta" stat -a --for 100ms
    err_has "NVreg_RestrictProfilingToAdminUsers=0"
    expect 1 nvidia "--without cupti" "$bin/zeta" stat -a --for 100ms
}

# A run of a certain time that has a report after its end.
gpm_reaches_end()
{
    expect 0 nvidia "" "$bin/zeta" stat -a -g Gpm --for "$1" -p "$2" "--json=$json"
    ! grep -q "no report after the end" "$err"
}

# The last report of a run of a certain time is the one that reaches its end, however long the periods
# are; a machine that is busy gets another try.
case_nvidia_gpm()
{
    for run in "1s 500ms" "100ms 2s"; do
        in_tries 5 gpm_reaches_end "${run% *}" "${run#* }"
        holds "$json" 'd["groups"][0]["lost"] == 0 and d["groups"][0]["samples"] >= 1'
    done
}

# Readers of one unit exclude each other, whoever they are: the second is told who may have it, the first
# counts on. Readers of other units do not. What runs below zeta stat runs while its stream is open.
case_nvidia_readers()
{
    second='process=$CUDA_MACHINE/root/proc/$PPID; mkdir -p "$process"
        cat /proc/$PPID/maps >"$process/maps"; cat /proc/$PPID/comm >"$process/comm"
        echo "first $PPID" >&2; exec "$@"'
    expect 1 nvidia "" "$bin/zeta" stat -- sh -c "$second" - "$bin/zeta" stat -a --for 100ms
    err_has "CUPTI_ERROR_HARDWARE_BUSY"
    err_has "zeta ($(sed -n 's/^first //p' "$err")). End that or wait for it"
    err_has "ComputeBasic, domain 0, every 1 ms"
    for beside in "stat -a --for 300ms -g Gpm -p 100ms" "record -a --for 300ms -g Gpm -p 100ms -o $work/gpm"; do
        # shellcheck disable=SC2086 # a list of words
        expect 0 nvidia "" "$bin/zeta" stat -- "$bin/zeta" $beside
        err_has "ComputeBasic, domain 0, every 1 ms"
    done
    # Twice the same unit that does not exclude, of two processes.
    expect 0 nvidia "" "$bin/zeta" stat -g Gpm -p 100ms -- "$bin/zeta" stat -a --for 300ms -g Gpm -p 100ms
    [ "$(grep -c "^Gpm, domain 1" "$err")" = 2 ] || die "not both gave their samples"
}

# A recording is the same on a machine without the vendor's libraries: every value, to the bit.
case_nvidia_record()
{
    without_loss "$set_periods" record --force -g ComputeBasic -o "$work/r" -- "$build/tests/fma_program" 5 20000
    counted=$(instructions)
    expect 0 zeta report "--json=$json" "$work/r"
    cp "$json" "$work/wanted.json"
    holds "$json" "metric('ComputeBasic', 'Instructions')['total'] == $counted"
    holds "$json" 'metric("ComputeBasic", "SmActive")["max"] > 50'
    expect 0 zeta calc "--json=$work/calculated.json" "$work/r"
    ZETA_REPLAY=$work/r
    export ZETA_REPLAY
    expect 0 zeta devices
    out_has "NVIDIA H100 80GB HBM3 (recording)"
    expect 0 zeta stat -a -g ComputeBasic "--json=$work/replayed.json"
    "$python" "$source/tests/tools/same_values.py" ComputeBasic "$work/wanted.json" \
        "$work/calculated.json" "$work/replayed.json" >"$out" || die "values differ"
}

# What was recorded on an H100 has the values here that it had there, to the bit: shown, calculated, replayed,
# as rows.
case_nvidia_recordings()
{
    for set in ComputeBasic L2Cache Gpm; do
        kept=$source/tests/nvidia/recordings/$set
        gzip -dc "$kept.zeta.gz" >"$work/r"
        expect 0 zeta report "--json=$work/report.json" "$work/r"
        expect 0 zeta calc "--json=$work/calculated.json" "$work/r"
        expect 0 env "ZETA_REPLAY=$work/r" "$bin/zeta" stat -a -g "$set" "--json=$work/replayed.json"
        "$python" "$source/tests/tools/same_values.py" "$set" "$kept.json" "$work/report.json" \
            "$work/calculated.json" "$work/replayed.json" >"$out" || die "values differ"
        expect 0 zeta report --csv "$work/r"
        cp "$out" "$work/rows.csv"
        "$python" -c '
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1])))
group = json.load(open(sys.argv[2]))["groups"][0]
assert len(rows) == group["samples"], len(rows)
for metric in group["metrics"]:
    column = next(c for c in rows[0] if c.split(" ")[0] == metric["name"])
    if metric["total"] is not None:
        assert sum(int(row[column]) for row in rows) == metric["total"], column' \
            "$work/rows.csv" "$kept.json" 2>"$err" || die "the rows are not those of the table"
    done
}

# Events of another process cannot be had: told before the program runs, with what to do.
# Rule 16.30.
case_nvidia_record_events()
{
    expect 1 nvidia "" "$bin/zeta" record -e Events -o "$work/r" -- touch "$work/ran"
    err_has "on NVIDIA H100 80GB HBM3 a tracer sees the process that traces alone"
    err_has "Leave -e Events out"
    [ ! -e "$work/ran" ] || die "the program was run"
    [ ! -e "$work/r" ] || die "a recording of nothing was left"
    expect 1 nvidia "" "$bin/zeta" record -a --for 100ms -e Events -o "$work/r"
    err_has "Leave -e Events out"
}
