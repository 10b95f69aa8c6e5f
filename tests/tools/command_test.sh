#!/bin/sh
# command_test.sh BUILD PYTHON CASE: runs the zeta command as a person would, on the virtual GPU.
# Every function case_<CASE> below is a test.
set -eu
build=$1
python=$2
name=$3
source=$(cd "$(dirname "$0")/../.." && pwd)
bin=$build/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=$work/out
err=$work/err
json=$work/report.json

die()
{
    echo "$name: $*" >&2
    echo "--- stdout" >&2
    cat "$out" >&2
    echo "--- stderr" >&2
    cat "$err" >&2
    exit 1
}

# expect STATUS COMMAND...: keeps what the command writes in $out and $err.
expect()
{
    wanted=$1
    shift
    status=0
    "$@" >"$out" 2>"$err" || status=$?
    [ "$status" -eq "$wanted" ] || die "'$*' gave $status, not $wanted"
}

out_has()
{
    grep -qF -- "$1" "$out" || die "stdout lacks '$1'"
}

err_has()
{
    grep -qF -- "$1" "$err" || die "stderr lacks '$1'"
}

err_lacks()
{
    ! grep -qF -- "$1" "$err" || die "stderr has '$1'"
}

# A Python expression over the document d of a JSON file must hold.
holds()
{
    "$python" -c '
import json, sys
d = json.load(open(sys.argv[1]))
def metric(group, name):
    g = next(g for g in d["groups"] if g["name"] == group)
    return next(m for m in g["metrics"] if m["name"] == name)
sys.exit(0 if eval(sys.argv[2]) else 1)' "$1" "$2" || die "in $1 this does not hold: $2"
}

zeta()
{
    "$bin/zeta" "$@"
}

# Until a process that was started in the background samples the shared device.
wait_for_holder()
{
    tries=0
    until zeta groups >"$out" 2>"$err" && grep -q "held by process" "$out"; do
        tries=$((tries + 1))
        [ "$tries" -lt 100 ] || die "nobody is named as holder"
        sleep 0.1
    done
}

case_help()
{
    expect 0 zeta help
    out_has "usage: zeta COMMAND"
    for command in devices doctor groups plugin run stat trace; do
        expect 0 zeta "$command" --help
        out_has "usage: zeta COMMAND"
    done
    expect 0 zeta trace -h
    out_has "usage: zeta COMMAND"
    expect 0 zeta --version
    out_has "zeta "
}

case_unknown_words()
{
    expect 2 zeta
    err_has "usage:"
    expect 2 zeta frobnicate
    err_has "unknown command 'frobnicate'"
    err_has "usage:"
    expect 2 zeta plugin frobnicate
    err_has "not frobnicate"
    expect 2 zeta devices --frobnicate
    err_has "unknown option --frobnicate"
    expect 2 zeta devices extra
    expect 2 zeta groups extra
    expect 2 zeta stat --frobnicate -- true
    expect 2 zeta stat
}

case_devices()
{
    expect 0 zeta devices
    out_has "(software)"
    out_has "compute: vgpu"
    out_has "2 slices x 2 subslices x 32 EUs x 16 threads"
    out_has "timer 25 MHz with 32 bits, wraps after 171.8 s"
    expect 0 zeta devices "--json=$json"
    holds "$json" 'd["schema"] == "zeta.devices/1" and d["devices"][0]["class"] == "software"'
    holds "$json" 'd["devices"][0]["plugins"]["compute"] == "vgpu"'
    expect 0 zeta devices --json
    cp "$out" "$json"
    holds "$json" 'd["devices"][0]["topology"]["eus_per_subslice"] == 32'
}

# Whether everything is in order but, in a build without it, the compiler.
only_compiler='all("SPIR-V" in f["what"] for f in d["findings"] if f["problem"])'

case_doctor_in_order()
{
    ZE_ENABLE_ALT_DRIVERS=$build/lib/libzeta.so
    export ZE_ENABLE_ALT_DRIVERS
    status=0
    zeta doctor "--json=$json" -- "$bin/matmul" >"$out" 2>"$err" || status=$?
    holds "$json" 'd["schema"] == "zeta.doctor/1" and d["ok"] == ('"$status"' == 0)'
    holds "$json" "$only_compiler"
    holds "$json" 'd["program"]["link"].startswith("linked to libzeta")'
    holds "$json" 'd["libzeta"]["devices"] == ["Zeta Virtual GPU"]'
    holds "$json" 'd["libzeta"]["zeta_version"] == d["libzeta"]["command_version"]'
    holds "$json" 'd["drivers"][0]["outcome"] == "works"'
    holds "$json" 'd["plugins"][0]["id"] == "vgpu" and d["plugins"][0]["state"] == "active"'
    holds "$json" 'd["devices"][0]["compute"] == "vgpu"'
    holds "$json" 'any(v["variable"].startswith("ZE_ENABLE_ALT_DRIVERS=") for v in d["variables"])'
    if [ -x "$build/libexec/zeta/zeta-vgpu-cc" ]; then
        [ "$status" -eq 0 ] || die "something is wrong"
        holds "$json" 'd["compiler"]["works"]'
        expect 0 zeta doctor -v
        out_has "Nothing is wrong."
    else
        zeta doctor -v >"$out" || true
    fi
    out_has "log.level = "
    out_has "the loader opens these drivers"
}

case_doctor_loader_without_driver()
{
    if [ ! -x "$build/tests/matmul_loader" ]; then
        echo "there was no libze_loader at configure time (Debian: libze-dev)"
        exit 77
    fi
    unset ZE_ENABLE_ALT_DRIVERS
    expect 1 zeta doctor -- "$build/tests/matmul_loader"
    out_has "linked to the loader"
    out_has "programs that use the loader get no driver"
    out_has "try: zeta run -- PROGRAM"
    # A program that is linked to libzeta does not care; what is proposed helps.
    zeta doctor "--json=$json" -- "$bin/matmul" || true
    holds "$json" "$only_compiler"
    zeta run -- "$bin/zeta" doctor "--json=$json" -- "$build/tests/matmul_loader" || true
    holds "$json" "$only_compiler"
    holds "$json" 'd["loader"]["devices"] == ["Zeta Virtual GPU"] and "version" in d["loader"]'
}

case_doctor_broken_driver()
{
    driver=$build/tests/libze_broken.so
    ZE_ENABLE_ALT_DRIVERS="$driver, $driver,/no/such/driver.so,$build/lib/libzeta.so"
    BROKEN_DRIVER=crash
    export ZE_ENABLE_ALT_DRIVERS BROKEN_DRIVER
    expect 1 zeta doctor
    out_has "it crashes (Aborted) at this step: zeInit"
    out_has "has an entry with a blank"
    out_has "driver /no/such/driver.so cannot be used"
    ZE_ENABLE_ALT_DRIVERS=$driver
    BROKEN_DRIVER=hang
    expect 1 zeta doctor --wait 1s
    out_has "it does not come back within 1 s from this step: zeInit"
    out_has "names no libzeta"
    BROKEN_DRIVER=error
    expect 1 zeta doctor
    out_has "does not start: zeInit gives 0x70000001"
}

case_doctor_broken_plugin()
{
    mkdir "$work/plugins.d"
    printf 'format: "1.0"\nid: faulty\nclass: software\nlibrary: %s\nabi: {min: 1, max: 1}\n' \
        "$build/tests/plugins/no_entry.so" >"$work/plugins.d/50-faulty.yaml"
    printf 'provides: [compute]\nmatches: [{always: true}]\n' >>"$work/plugins.d/50-faulty.yaml"
    ZETA_ADD_PLUGIN_PATH=$work
    export ZETA_ADD_PLUGIN_PATH
    expect 1 zeta doctor
    out_has "PROBLEM: plugin faulty is not loadable"
    out_has "try: zeta plugin check '$work/plugins.d/50-faulty.yaml'"
}

case_doctor_crashing_plugin()
{
    mkdir "$work/plugins.d"
    printf 'format: "1.0"\nid: faulty\nclass: software\nlibrary: %s\nabi: {min: 1, max: 1}\n' \
        "$build/tests/plugins/faulty.so" >"$work/plugins.d/50-faulty.yaml"
    printf 'provides: [debug]\nmatches: [{always: true}]\nsettings: {fault: init-crash}\n' \
        >>"$work/plugins.d/50-faulty.yaml"
    ZETA_ADD_PLUGIN_PATH=$work
    export ZETA_ADD_PLUGIN_PATH
    expect 1 zeta doctor
    # A sanitizer makes an exit status of the signal.
    out_has "PROBLEM: libzeta cannot be used: "
    out_has "at this step: zeInit"
    out_has "zeta plugin check"
}

case_doctor_no_device()
{
    ZETA_PLUGINS_DISABLE=vgpu
    export ZETA_PLUGINS_DISABLE
    expect 1 zeta doctor
    out_has "there is no device; plugin vgpu is disabled"
    ZETA_PLUGIN_PATH=$work
    export ZETA_PLUGIN_PATH
    expect 1 zeta doctor
    out_has "no plugin was found"
}

case_doctor_program()
{
    expect 1 zeta doctor -- no-such-program-of-ours
    out_has "there is no program no-such-program-of-ours"
    printf '#!/bin/sh\n' >"$work/script"
    printf 'data' >"$work/data"
    chmod +x "$work/script" "$work/data"
    zeta doctor -- "$work/script" --json >"$out" || true
    out_has "a script: what it starts decides"
    expect 1 zeta doctor -- "$work/data"
    out_has "no 64-bit program of this machine"
    expect 2 zeta doctor --frobnicate
    expect 2 zeta doctor --wait soon
}

case_doctor_compiler()
{
    ZETA_PLUGIN_VGPU_COMPILER=/bin/false
    export ZETA_PLUGIN_VGPU_COMPILER
    expect 1 zeta doctor
    out_has "PROBLEM: modules from SPIR-V cannot be compiled: it does not compile an empty kernel"
    ZETA_PLUGIN_VGPU_COMPILER=$work/absent
    expect 1 zeta doctor
    out_has "there is no program $work/absent"
    out_has "try: install the package zeta-vgpu-cc"
}

case_doctor_place()
{
    XDG_RUNTIME_DIR=$work
    export XDG_RUNTIME_DIR
    chmod 700 "$work"
    zeta doctor "--json=$json" || true
    holds "$json" 'd["sharing"]["origin"] == "XDG_RUNTIME_DIR" and d["sharing"]["free_bytes"] > 0'
    chmod 777 "$work"
    zeta doctor "--json=$json" || true
    holds "$json" 'd["sharing"]["path"] == "/dev/shm" and "alone" in d["sharing"]["origin"]'
    ZETA_NONSENSE=1 zeta doctor >"$out" || true
    out_has "note: ZETA_NONSENSE is no variable of Zeta"
}

case_groups()
{
    expect 0 zeta groups
    out_has "ComputeBasic"
    out_has "ThreadDispatch"
    expect 0 zeta groups -v
    out_has "GpuTime: duration in ns, u64"
    out_has ", exact, tier"
    expect 0 zeta groups "--json=$json"
    holds "$json" 'd["schema"] == "zeta.groups/1"'
    holds "$json" '"time" in {g["sampling"] for g in d["groups"] if g["name"] == "ComputeBasic"}'
    holds "$json" 'all(m["description"] and m["class"] for g in d["groups"] for m in g["metrics"])'
    holds "$json" 'all(g["min_period_ns"] < g["max_period_ns"] for g in d["groups"] if g["sampling"] == "time")'
}

# Who samples a group is named while it does.
case_groups_holder()
{
    "$bin/zeta" stat -a --shared --for 20s 2>"$work/stat" &
    holder=$!
    wait_for_holder
    kill -TERM "$holder"
    wait "$holder" || die "the holder failed"
}

case_device_unknown()
{
    expect 1 zeta groups -d 99
    err_has "there is no device '99'"
    err_has "vgpu"
    expect 1 zeta stat -d nowhere -- true
    err_has "there is no device 'nowhere'"
}

case_device_by_id_and_name()
{
    expect 0 zeta devices "--json=$json"
    id=$("$python" -c 'import json,sys; print(json.load(open(sys.argv[1]))["devices"][0]["id"])' "$json")
    label=$("$python" -c 'import json,sys; print(json.load(open(sys.argv[1]))["devices"][0]["name"])' "$json")
    expect 0 zeta groups -d "$id"
    expect 0 zeta groups -d "$label"
    expect 0 zeta groups -d 0
}

# No device at all: what became of each plugin, and what to do.
case_device_none()
{
    ZETA_PLUGINS_DISABLE=vgpu
    export ZETA_PLUGINS_DISABLE
    expect 1 zeta devices
    err_has "there is no device"
    err_has "vgpu"
    err_has "ZETA_PLUGINS_DISABLE"
    expect 1 zeta stat -- true
    err_has "there is no device"
}

case_plugin()
{
    expect 0 zeta plugin list
    out_has "vgpu"
    out_has "active"
    expect 0 zeta plugin list "--json=$json"
    holds "$json" 'any(p["id"] == "vgpu" and p["state"] == "active" for p in d["plugins"])'
    expect 0 zeta plugin show vgpu
    out_has "provides  "
    manifest=$(sed -n 's/^manifest  //p' "$out")
    expect 0 zeta plugin show vgpu "--json=$json"
    holds "$json" 'd["id"] == "vgpu" and d["devices"] == 1'
    expect 1 zeta plugin show nobody
    err_has "there is no plugin 'nobody'"
    expect 2 zeta plugin show
    expect 0 zeta plugin path
    out_has "searched"
    expect 0 zeta plugin path "--json=$json"
    holds "$json" 'any(p["used"] for p in d["paths"])'
    expect 0 zeta plugin check "$manifest"
    out_has "active"
    expect 0 zeta plugin check "$manifest" "--json=$json"
    holds "$json" 'd["ok"] is True'
}

case_plugin_check_broken()
{
    printf 'format: "1.0"\nid: broken\n  class: [software\n' >"$work/50-broken.yaml"
    expect 1 zeta plugin check "$work/50-broken.yaml"
    out_has "not loadable"
    out_has "50-broken.yaml:3"
    # The report says it, so nothing else does.
    err_lacks "50-broken.yaml"
    printf 'format: "1.0"\nid: [1]\nabi: 3\nunknown: 4\n' >"$work/51-broken.yaml"
    expect 1 zeta plugin check "$work/51-broken.yaml"
    out_has '"class"'
    err_lacks '"class"'
    err_has "51-broken.yaml:2:5"
    err_has "51-broken.yaml:4:1"
    expect 1 zeta plugin check "$work/absent.yaml"
}

case_stat_formulas()
{
    expect 0 zeta stat -g ComputeBasic,ThreadDispatch "--json=$json" -- "$bin/matmul" 64
    out_has "64 x 64 matrices, result right"
    err_has "ComputeBasic, domain 0"
    err_has "ThreadDispatch, domain 1"
    err_has "Overhead in CPU time of zeta"
    err_has "FpOps"
    "$python" "$source/examples/matmul_check.py" "$json" 64 >"$out" || die "formulas do not hold"
    holds "$json" 'all(g["samples"] > 0 and g["lost"] == 0 for g in d["groups"])'
    holds "$json" 'metric("ComputeBasic", "GpuBusy")["total"] is None'
    holds "$json" 'metric("ComputeBasic", "FpOps")["class"] == "exact"'
}

# Any period gives the same sums, since the stream spans the whole program.
case_stat_period()
{
    for period in 200us 1ms 20ms; do
        expect 0 zeta stat -p "$period" -g ComputeBasic,ThreadDispatch "--json=$json" -- \
            "$bin/matmul" 48
        "$python" "$source/examples/matmul_check.py" "$json" 48 >"$out" ||
            die "formulas do not hold with $period"
    done
}

case_stat_period_out_of_range()
{
    expect 0 zeta stat -p 1ns "--json=$json" -- true
    err_has "cannot sample every 1 ns; the nearest it can is"
    holds "$json" 'd["groups"][0]["period_ns"] > 1'
    expect 2 zeta stat -p 0ms -- true
    expect 2 zeta stat -p often -- true
    err_has "give a positive number with a unit"
}

# Other processes on a virtual device of the same name do not show in the figures.
case_stat_fresh_instance()
{
    "$bin/matmul" 128 >/dev/null &
    other=$!
    expect 0 zeta stat -g ComputeBasic,ThreadDispatch "--json=$json" -- "$bin/matmul" 64
    wait "$other"
    "$python" "$source/examples/matmul_check.py" "$json" 64 >"$out" || die "formulas do not hold"
}

# And with --shared they do.
case_stat_shared()
{
    expect 0 zeta stat --shared -g ComputeBasic,ThreadDispatch "--json=$json" -- \
        sh -c "'$bin/matmul' 48 & wait"
    "$python" "$source/examples/matmul_check.py" "$json" 48 >"$out" || die "formulas do not hold"
    "$bin/zeta" stat -a --for 20s "--json=$json" 2>"$work/stat" &
    watcher=$!
    wait_for_holder
    "$bin/matmul" 48 >/dev/null || die "matmul failed"
    kill -TERM "$watcher"
    wait "$watcher" || die "the watcher failed"
    holds "$json" 'metric("ComputeBasic", "FpOps")["total"] == 2 * 48**3'
}

# A shared instance that somebody samples already.
case_stat_held()
{
    "$bin/zeta" stat -a --shared --for 20s 2>"$work/stat" &
    holder=$!
    wait_for_holder
    expect 1 zeta stat -a --for 100ms
    err_has "$holder"
    kill -TERM "$holder"
    wait "$holder" || die "the holder failed"
}

case_stat_output_untouched()
{
    expect 0 zeta stat -- printf 'one\ntwo'
    [ "$(cat "$out")" = "$(printf 'one\ntwo')" ] || die "stdout is not the program's alone"
    echo input >"$work/in"
    expect 0 sh -c "'$bin/zeta' stat -- cat <'$work/in'"
    [ "$(cat "$out")" = input ] || die "stdin is not the program's"
    expect 0 zeta stat -o "$work/x.json" -- sh -c 'echo mine >&2'
    [ "$(cat "$err")" = mine ] || die "with -o something else was written to stderr"
}

# Files and descriptors of the command must not take the place of a stream that is closed.
case_stat_streams_closed()
{
    expect 0 timeout 60 sh -c "'$bin/zeta' stat --json='$json' -- true <&- >&- 2>&-"
    holds "$json" 'd["exit_code"] == 0 and metric("ComputeBasic", "GpuTime") is not None'
    expect 3 timeout 60 sh -c "'$bin/zeta' stat -- sh -c '\"$bin/matmul\" 32; exit 3' >&-"
    err_has "ComputeBasic, domain 0"
    # The program finds closed what the command found closed.
    expect 1 timeout 60 sh -c "'$bin/zeta' stat -- sh -c 'cat <&0 || exit 1' <&-"
    expect 1 timeout 60 sh -c "'$bin/zeta' devices >&-"
    err_has "the standard output cannot be written"
}

case_stat_exit_status()
{
    expect 3 zeta stat "--json=$json" -- sh -c 'exit 3'
    err_has "ComputeBasic, domain 0"
    holds "$json" 'd["exit_code"] == 3'
    expect 137 zeta stat -- sh -c 'kill -KILL $$'
    err_has "ComputeBasic, domain 0"
    expect 139 zeta stat -- sh -c 'kill -SEGV $$'
}

case_stat_program_absent()
{
    expect 127 zeta stat -- no-such-program-of-ours
    err_has "cannot run no-such-program-of-ours: there is no such program"
    expect 127 zeta stat -- "$work/absent"
    echo data >"$work/data"
    expect 126 zeta stat -- "$work/data"
    err_has "cannot run $work/data"
}

case_stat_group_unknown()
{
    expect 1 zeta stat -g Nonsense -- touch "$work/ran"
    err_has "has no group 'Nonsense'"
    err_has "ComputeBasic (domain 0)"
    [ ! -e "$work/ran" ] || die "the program ran"
}

case_stat_same_domain()
{
    expect 1 zeta stat -g ComputeBasic,MemoryProfile -- touch "$work/ran"
    err_has "ComputeBasic and MemoryProfile are both of domain 0"
    err_has "sample them in two runs"
    [ ! -e "$work/ran" ] || die "the program ran"
}

case_stat_files()
{
    expect 0 zeta stat -o "$work/x.csv" -- "$bin/matmul" 32
    head -n 1 "$work/x.csv" | grep -q '^group,device,' || die "the CSV has no head"
    grep -q "^ComputeBasic,.*,FpOps,.*,exact,$((2 * 32 * 32 * 32))," "$work/x.csv" ||
        die "the CSV has no line of FpOps"
    expect 0 zeta stat -o "$work/x.json" "--json=$json" -- true
    cmp "$work/x.json" "$json" || die "two documents of one run differ"
    echo "a longer text than before, to be replaced" >"$json"
    expect 0 zeta stat "--json=$json" -- true
    holds "$json" 'd["schema"] == "zeta.stat/1"'
    expect 1 zeta stat -o "$work/no/such/folder.csv" -- touch "$work/ran"
    err_has "cannot write $work/no/such/folder.csv"
    [ ! -e "$work/ran" ] || die "the program ran"
    expect 1 zeta stat --json=/dev/full -- true
    err_has "/dev/full is not complete"
}

case_stat_all()
{
    expect 0 zeta stat -a --for 200ms -p 1ms "--json=$json"
    holds "$json" '"program" not in d and d["groups"][0]["samples"] > 100'
    holds "$json" '2e8 < d["elapsed_ns"]'
    holds "$json" 'metric("ComputeBasic", "FpOps")["total"] == 0'
}

case_stat_all_interrupted()
{
    expect 0 timeout --preserve-status -s INT 1 "$bin/zeta" stat -a "--json=$json"
    err_has "ComputeBasic, domain 0"
    holds "$json" 'd["interrupted"] and d["groups"][0]["samples"] > 0'
}

case_stat_interrupted()
{
    expect 130 timeout --preserve-status -s INT 1 "$bin/zeta" stat "--json=$json" -- sleep 60
    err_has "ComputeBasic, domain 0"
    holds "$json" 'd["interrupted"] and d["exit_code"] == 130'
}

case_stat_environment()
{
    unset ZE_ENABLE_ALT_DRIVERS
    # shellcheck disable=SC2016 # the program expands them
    expect 0 zeta stat -- sh -c 'echo "$ZE_ENABLE_ALT_DRIVERS $ZETA_VGPU_INSTANCE"'
    out_has "/lib/libzeta.so"
    ! grep -q " $ZETA_VGPU_INSTANCE\$" "$out" || die "the instance is not a fresh one"
    ZE_ENABLE_ALT_DRIVERS=/other/driver.so
    export ZE_ENABLE_ALT_DRIVERS
    # shellcheck disable=SC2016
    expect 0 zeta stat -- sh -c 'echo "$ZE_ENABLE_ALT_DRIVERS"'
    out_has "/other/driver.so"
    err_has "ZE_ENABLE_ALT_DRIVERS is set to '/other/driver.so' and left alone"
}

# The loader separates paths with commas and cannot take a blank.
case_run_environment()
{
    unset ZE_ENABLE_ALT_DRIVERS ZET_ENABLE_METRICS
    # shellcheck disable=SC2016 # the program expands them
    program='echo "drivers $ZE_ENABLE_ALT_DRIVERS, instance $ZETA_VGPU_INSTANCE, metrics \
${ZET_ENABLE_METRICS-unset}, trace ${ZETA_TRACE-unset}"'
    expect 0 zeta run -- sh -c "$program"
    out_has "/lib/libzeta.so"
    out_has "instance $ZETA_VGPU_INSTANCE, metrics unset, trace unset"
    ZETA_TRACE=$work/of-the-program.json
    export ZETA_TRACE
    expect 0 zeta run --metrics -- sh -c "$program"
    out_has "metrics 1, trace $ZETA_TRACE"
    [ ! -e "$ZETA_TRACE" ] || die "the command traced itself"
    unset ZETA_TRACE
    ZE_ENABLE_ALT_DRIVERS=/other/driver.so
    export ZE_ENABLE_ALT_DRIVERS
    expect 0 zeta run -- sh -c "$program"
    out_has "drivers /other/driver.so,"
    err_has "ZE_ENABLE_ALT_DRIVERS is set to '/other/driver.so' and left alone"
}

case_run_without_device()
{
    unset ZE_ENABLE_ALT_DRIVERS
    ZETA_PLUGINS_DISABLE=vgpu
    export ZETA_PLUGINS_DISABLE
    # shellcheck disable=SC2016
    expect 0 zeta run -- sh -c 'echo "drivers ${ZE_ENABLE_ALT_DRIVERS-unset}"'
    out_has "drivers unset"
    expect 0 zeta run -n
    [ ! -s "$out" ] || die "variables for a device that is not there"
    err_has "need no variable"
    expect 1 zeta run -d vgpu0 -- touch "$work/ran"
    [ ! -e "$work/ran" ] || die "the program ran"
}

case_run_print()
{
    unset ZE_ENABLE_ALT_DRIVERS ZET_ENABLE_METRICS
    expect 0 zeta run -n -m
    out_has "ZET_ENABLE_METRICS=1"
    # shellcheck disable=SC2046,SC2016 # meant to be split: there are no blanks in the values
    expect 0 env $(zeta run -n -m) sh -c 'echo "$ZET_ENABLE_METRICS $ZE_ENABLE_ALT_DRIVERS"'
    out_has "1 /"
    (eval "export $(zeta run -n)" && [ -r "$ZE_ENABLE_ALT_DRIVERS" ]) || die "eval does not work"
    expect 0 zeta run -n -- touch "$work/ran"
    [ ! -e "$work/ran" ] || die "-n ran the program"
    ZE_ENABLE_ALT_DRIVERS=/other/driver.so
    export ZE_ENABLE_ALT_DRIVERS
    expect 0 zeta run -n
    [ ! -s "$out" ] || die "the driver that was chosen is printed over"
}

case_run_exit_status()
{
    expect 0 zeta run -- true
    expect 7 zeta run -- sh -c 'exit 7'
    # The program takes the place of the command: it has its process id, and its signal is seen.
    # shellcheck disable=SC2016
    "$bin/zeta" run -- sh -c 'echo $$ >"$0"; kill -TERM $$' "$work/pid" &
    started=$!
    status=0
    wait "$started" || status=$?
    [ "$status" -eq 143 ] || die "a signal gave $status"
    [ "$(cat "$work/pid")" = "$started" ] || die "the program is not the command's process"
    expect 2 zeta run
    err_has "needs a program"
    expect 2 zeta run --frobnicate -- true
    expect 0 zeta run -- printf '%s\n' -n --print
    out_has "--print"
}

case_run_program_absent()
{
    expect 127 zeta run -- no-such-program-of-ours
    err_has "cannot run no-such-program-of-ours: there is no such program along PATH"
    expect 127 zeta run -- "$work/absent"
    echo data >"$work/data"
    expect 126 zeta run -- "$work/data"
    err_has "cannot run $work/data"
}

case_run_path_with_blank()
{
    unset ZE_ENABLE_ALT_DRIVERS
    tree="$work/a place"
    mkdir -p "$tree/bin"
    cp "$bin/zeta" "$tree/bin/"
    cp -R "$build/lib" "$build/share" "$tree/"
    LD_LIBRARY_PATH=$tree/lib
    export LD_LIBRARY_PATH
    expect 1 "$tree/bin/zeta" run -- touch "$work/ran"
    err_has "a comma or a blank"
    cp -R "$build/libexec" "$tree/"
    expect 1 "$tree/bin/zeta" doctor
    grep -q "comma or blank" "$out" || grep -q "no loader" "$out" || die "the doctor sees nothing"
    [ ! -e "$work/ran" ] || die "the program ran"
}

case_run_through_loader()
{
    if [ ! -x "$build/tests/matmul_loader" ]; then
        echo "there was no libze_loader at configure time (Debian: libze-dev)"
        exit 77
    fi
    expect 0 zeta run -- "$build/tests/matmul_loader" --kernel \
        "$build/share/zeta/kernels/matmul.elf" 32
    out_has "result right"
}

case_stat_path_with_blank()
{
    unset ZE_ENABLE_ALT_DRIVERS
    tree="$work/a place"
    mkdir -p "$tree/bin"
    cp "$bin/zeta" "$tree/bin/"
    cp -R "$build/lib" "$build/share" "$tree/"
    LD_LIBRARY_PATH=$tree/lib
    export LD_LIBRARY_PATH
    expect 1 "$tree/bin/zeta" stat -- touch "$work/ran"
    err_has "a comma or a blank"
    [ ! -e "$work/ran" ] || die "the program ran"
}

# The installed loader finds the driver by itself.
case_stat_through_loader()
{
    if [ ! -x "$build/tests/matmul_loader" ]; then
        echo "there was no libze_loader at configure time (Debian: libze-dev)"
        exit 77
    fi
    expect 0 zeta stat -g ComputeBasic,ThreadDispatch "--json=$json" -- \
        "$build/tests/matmul_loader" --kernel "$build/share/zeta/kernels/matmul.elf" 48
    out_has "result right"
    "$python" "$source/examples/matmul_check.py" "$json" 48 >"$out" || die "formulas do not hold"
}

case_stat_terminal()
{
    if ! command -v script >/dev/null 2>&1; then
        echo "there is no script (Debian: bsdutils)"
        exit 77
    fi
    LC_ALL=C.UTF-8
    export LC_ALL
    expect 0 script -qec "stty cols 80 && '$bin/zeta' stat -- '$bin/matmul' 64" \
        "$work/typescript"
    "$python" -c '
import sys
lines = open(sys.argv[1], encoding="utf-8").read().replace("\r", "").split("\n")
table = [line for line in lines if line.startswith("FpOps")]
sys.exit(0 if table and "█" in table[0] and max(map(len, lines)) <= 80 else 1)' "$out" ||
        die "no time lines, or lines longer than 80 columns"
    LC_ALL=C
    expect 0 script -qec "'$bin/zeta' stat -- '$bin/matmul' 64" "$work/typescript"
    ! grep -q '█' "$out" || die "block characters on a terminal without UTF-8"
}

# Ctrl-C on a terminal reaches both; the table comes all the same.
case_stat_terminal_interrupted()
{
    "$python" - "$bin/zeta" "$json" >"$out" 2>"$err" <<'PYTHON' || die "Ctrl-C on a terminal"
import os, pty, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "stat", "--json=" + sys.argv[2], "--", "sh", "-c",
                           "echo ready; exec sleep 60"])
output = b""
while b"ready" not in output:
    output += os.read(terminal, 4096)
os.write(terminal, b"\x03")
while True:
    try:
        output += os.read(terminal, 4096)
    except OSError:  # the other end is closed
        break
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(output.decode(), "exit code", status)
sys.exit(0 if status == 130 and b"ComputeBasic, domain 0" in output else 1)
PYTHON
    holds "$json" 'd["interrupted"] and d["exit_code"] == 130'
}

# The installed tree is like the build tree, wherever it is moved to.
case_install()
{
    expect 0 cmake --install "$build" --prefix "$work/first"
    mv "$work/first" "$work/second"
    expect 0 "$work/second/bin/zeta" devices
    expect 0 "$work/second/bin/zeta" stat -g ComputeBasic,ThreadDispatch "--json=$json" -- \
        "$work/second/bin/matmul" 32
    "$python" "$source/examples/matmul_check.py" "$json" 32 >"$out" || die "formulas do not hold"
    "$work/second/bin/zeta" doctor "--json=$json" -- "$work/second/bin/matmul" || true
    holds "$json" "$only_compiler"
    holds "$json" 'd["libzeta"]["outcome"] == "works"'
}

case_stat_endless_kernel()
{
    expect 130 timeout --preserve-status -s INT 2 "$bin/zeta" stat "--json=$json" -- \
        "$build/tests/run_kernel" "$build/tests/kernels/endless.elf" endless
    err_has "ComputeBasic, domain 0"
    holds "$json" 'd["interrupted"] and metric("ComputeBasic", "InstRetired")["total"] > 0'
}

case_stat_faulting_kernel()
{
    expect 1 zeta stat "--json=$json" -- \
        "$build/tests/run_kernel" "$build/tests/kernels/wild_store.elf" wild_store
    err_has "0x10"
    err_has "ComputeBasic, domain 0"
    holds "$json" 'd["exit_code"] == 1'
}

# A Python expression over the events e of a merged trace must hold; calls(name) are finished ones.
events_hold()
{
    "$python" -c '
import json, sys
e = json.load(open(sys.argv[1]))["traceEvents"]
def calls(name):
    return [x for x in e if x["ph"] == "X" and x["name"] == name]
def kernels():
    return [x for x in e if x["ph"] == "X" and x["cat"] == "device"]
sys.exit(0 if eval(sys.argv[2]) else 1)' "$1" "$2" || die "in $1 this does not hold: $2"
}

client()
{
    "$build/tests/trace_client" "$@"
}

case_trace_json()
{
    expect 0 zeta trace -o "$work/t.json" -- "$bin/matmul" 32
    out_has "result right"
    err_has "zeCommandQueueSynchronize"
    err_has "On the devices"
    err_lacks "LOST"
    err_lacks "not returned"
    events_hold "$work/t.json" 'len(calls("zeInit")) == 1 and len(calls("zeKernelCreate")) == 1'
    events_hold "$work/t.json" 'calls("zeKernelCreate")[0]["args"]["desc"]["pKernelName"] == "matmul"'
    events_hold "$work/t.json" 'all(x["args"]["result"] == "ZE_RESULT_SUCCESS" for x in e if x["ph"] == "X" and x["cat"] == "ze")'
    events_hold "$work/t.json" '[x["name"] for x in sorted(kernels(), key=lambda x: x["ts"])] == ["copy", "copy", "matmul", "copy"]'
    events_hold "$work/t.json" 'calls("zeCommandQueueExecuteCommandLists")[0]["ts"] < min(x["ts"] for x in kernels()) + 1e4'
    events_hold "$work/t.json" 'sum(x["dur"] for x in kernels()) < sum(x["dur"] for x in e if x["ph"] == "X" and x["cat"] == "ze") * 2'
    events_hold "$work/t.json" 'any(x["name"] == "thread_name" and "queue 1" in x["args"]["name"] for x in e)'
    # Only the table.
    expect 0 zeta trace -- "$bin/matmul" 32
    err_has "zeInit"
    # Nothing is left behind.
    [ "$(ls "$work" | grep -c zeta-trace)" -eq 0 ] || die "files are left in $work"
}

case_trace_perfetto()
{
    [ -x "$build/tests/perfetto_text" ] || { expect 2 zeta trace -o a.pftrace -- true; err_has "libprotobuf-c"; return; }
    expect 0 zeta trace -o "$work/t.pftrace" -- "$bin/matmul" 32
    expect 0 "$build/tests/perfetto_text" "$work/t.pftrace"
    out_has "clocks 3"
    out_has " matmul"
    out_has "track Zeta Virtual GPU, queue 1 (group 0 index 0)"
    out_has "ze zeInit flags='ZE_INIT_FLAG_GPU_ONLY' result='ZE_RESULT_SUCCESS'"
    out_has "desc={ flags=0 pKernelName='matmul' }"
    out_has "device matmul groups='2 x 2 x 1' group size='16 x 16 x 1'"
    out_has "open 0"
    expect 137 zeta trace -o "$work/t.pftrace" -- "$build/tests/trace_client" kill
    expect 0 "$build/tests/perfetto_text" "$work/t.pftrace"
    out_has "ze zeEventCreate"
}

case_trace_exit_status()
{
    expect 7 zeta trace -- "$build/tests/trace_client" return
    expect 9 zeta trace -- "$build/tests/trace_client" exit
    expect 134 zeta trace -- "$build/tests/trace_client" abort
    expect 127 zeta trace -- "$work/no_such_program"
    err_has "there is no such program"
    expect 1 zeta trace -o "$work/no/such/folder.json" -- true
    expect 2 zeta trace -o "$work/t.txt" -- true
    err_has ".pftrace"
}

# Whatever ends the program, its calls are there.
case_trace_crash()
{
    for way in abort kill segv exit; do
        status=0
        zeta trace -o "$work/t.json" -- "$build/tests/trace_client" $way >"$out" 2>"$err" || status=$?
        [ "$status" -ne 0 ] || die "$way gave 0"
        err_has "zeEventCreate"
        events_hold "$work/t.json" 'len(calls("zeEventCreate")) == 1'
        events_hold "$work/t.json" '"hDevice" in calls("zeDeviceGetProperties")[0]["args"]["error"]'
    done
    # Killed while four threads write: at most what they were writing is cut.
    expect 137 zeta trace -o "$work/t.json" -- "$build/tests/trace_client" threads
    events_hold "$work/t.json" 'len(calls("zeEventQueryStatus")) > 1000'
    events_hold "$work/t.json" 'len([x for x in e if x["ph"] == "B"]) <= 4'
}

case_trace_wait()
{
    expect 142 zeta trace -o "$work/t.json" -- "$build/tests/trace_client" wait
    err_has "1 call had not returned at the end:"
    err_has "zeEventHostSynchronize (process"
    events_hold "$work/t.json" '[x["name"] for x in e if x["ph"] == "B"] == ["zeEventHostSynchronize"]'
}

case_trace_fork()
{
    expect 0 zeta trace -o "$work/t.json" -- "$build/tests/trace_client" fork "$bin/matmul" 32
    out_has "result right"
    err_has "in 3 processes"
    events_hold "$work/t.json" 'len({x["pid"] for x in e}) == 3'
    events_hold "$work/t.json" 'len({x["pid"] for x in calls("zeDriverGet")}) == 3'
    events_hold "$work/t.json" 'len(calls("zeKernelCreate")) == 1'
}

case_trace_exec()
{
    expect 0 zeta trace -o "$work/t.json" -- "$build/tests/trace_client" exec "$bin/matmul" 32
    err_has "in 1 process"
    events_hold "$work/t.json" 'len(calls("zeInit")) == 2 and len(calls("zeEventCreate")) == 1'
    events_hold "$work/t.json" 'len(calls("zeKernelCreate")) == 1'
}

case_trace_filter()
{
    expect 7 zeta trace --filter 'zeEvent*' --filter=zeInit -o "$work/t.json" -- \
        "$build/tests/trace_client" return
    events_hold "$work/t.json" '{x["name"] for x in e if x["ph"] == "X"} == {"zeInit", "zeEventCreate", "zeEventPoolCreate"}'
    expect 7 zeta trace --filter 'zesNothing*' -- "$build/tests/trace_client" return
    err_has "none of a function that matches 'zesNothing*'"
}

case_trace_none()
{
    expect 7 zeta trace -- "$build/tests/trace_client" none
    err_has "no call was recorded"
    err_has "ZE_ENABLE_ALT_DRIVERS"
}

case_trace_lost()
{
    expect 0 zeta trace --limit 1M -o "$work/t.json" -- "$build/tests/trace_client" many
    err_has "LOST"
    events_hold "$work/t.json" '[x for x in e if x["ph"] == "i" and x["name"].endswith("records lost")]'
    events_hold "$work/t.json" 'len(calls("zeEventQueryStatus")) > 1000'
    expect 0 zeta trace -- "$build/tests/trace_client" many
    err_lacks "LOST"
    err_has " 100000          zeEventQueryStatus"
    # A limit that nothing fits into is no program that does nothing.
    expect 7 zeta trace --limit 1 -- "$build/tests/trace_client" return
    err_has "LOST"
    err_lacks "no call was recorded"
}

# The program may have run for days: what it recorded outlives a result that finds no room. The limit
# is that of zeta alone, which writes the result.
case_trace_no_room()
{
    trap '' XFSZ
    ulimit -S -f 64
    expect 1 zeta trace -o "$work/t.json" -- sh -c 'ulimit -S -f unlimited; exec "$0" many' \
        "$build/tests/trace_client"
    ulimit -S -f unlimited
    err_has "t.json is not complete"
    err_has "is kept in $work/zeta-trace-"
    expect 0 zeta trace -o "$work/u.json" --from "$work"/zeta-trace-*/*.json
    events_hold "$work/u.json" 'len(calls("zeInit")) == 1'
}

# The library alone, without the command.
case_trace_variable()
{
    ZETA_TRACE=$work/t.json
    export ZETA_TRACE
    expect 7 client return
    "$python" -c 'import json,sys; assert any(x["name"] == "zeInit" for x in json.load(open(sys.argv[1])))' "$work/t.json" || die "no zeInit"
    expect 7 client return
    err_has "t.json exists"
    [ "$(ls "$work" | grep -c '^t.json')" -eq 2 ] || die "the second process made no file of its own"
    ZETA_TRACE=$work/%p.json
    expect 7 client return
    [ "$(ls "$work" | grep -c '^[0-9]*.json$')" -eq 1 ] || die "no file is named by the process"
    ZETA_TRACE=$work/t.pftrace
    expect 7 client return
    err_has "zeta trace -o FILE.pftrace"
    [ ! -e "$work/t.pftrace" ] || die "a file was made"
    ZETA_TRACE=$work/other.json
    ZETA_TRACE_LIMIT=rubbish
    export ZETA_TRACE_LIMIT
    expect 7 client return
    err_has "ZETA_TRACE_LIMIT is 'rubbish'"
}

case_trace_from()
{
    ZETA_TRACE=$work/t.json
    export ZETA_TRACE
    expect 137 client kill
    expect 137 client kill
    unset ZETA_TRACE
    expect 0 zeta trace --from "$work"/t.json --from "$work"/t.json.* -o "$work/both.json"
    err_has "in 2 processes"
    events_hold "$work/both.json" 'len(calls("zeEventCreate")) == 2'
    expect 1 zeta trace --from "$work/absent.json"
    err_has "absent.json"
    expect 2 zeta trace --from "$work/t.json" -- true
}

case_trace_environment()
{
    ZETA_TRACE=$work/own.json
    ZETA_TRACE_FILTER=zeNothing
    export ZETA_TRACE ZETA_TRACE_FILTER
    expect 7 zeta trace -- "$build/tests/trace_client" return
    err_has "zeEventCreate"
    [ ! -e "$work/own.json" ] || die "the command traced itself"
    unset ZETA_TRACE ZETA_TRACE_FILTER
    expect 0 zeta trace -- sh -c 'echo "drivers $ZE_ENABLE_ALT_DRIVERS"; exec "$0" 32' "$bin/matmul"
    out_has "drivers /"
    out_has "libzeta"
}

case_trace_through_loader()
{
    [ -x "$build/tests/matmul_loader" ] || exit 77
    expect 0 zeta trace -o "$work/t.json" -- "$build/tests/matmul_loader" 32
    out_has "result right"
    events_hold "$work/t.json" 'len(calls("zeKernelCreate")) == 1 and len(kernels()) == 4'
}

if ! command -v "case_$name" >/dev/null; then
    echo "there is no case $name" >&2
    exit 1
fi
: >"$out"
: >"$err"
"case_$name"
