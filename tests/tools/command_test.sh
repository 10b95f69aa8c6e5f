#!/bin/sh
# command_test.sh BUILD PYTHON CASE: runs the zeta command as a person would, on the virtual GPU.
# Every function case_<CASE> here and in the files cases_*.sh is a test.
set -eu
build=$1
python=$2
name=$3
source=$(cd "$(dirname "$0")/../.." && pwd)
bin=$build/bin
# Beside what the tests make, so that files can be moved there, and /tmp stays as it was.
work=$(mktemp -d "$build/tests/command-XXXXXX")
# Nothing that was started in the background outlives the test.
watcher=
trap '[ -z "$watcher" ] || kill -KILL "$watcher" 2>/dev/null; rm -rf "$work"' EXIT
# A command that is killed leaves its folder.
unset XDG_RUNTIME_DIR
TMPDIR=$work
export TMPDIR
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

# in_tries COUNT COMMAND...: what a busy machine may spoil gets so many tries.
in_tries()
{
    tries=$1
    shift
    for _ in $(seq "$tries"); do
        ! "$@" || return 0
    done
    die "none of $tries tries succeeded: $*"
}

zeta()
{
    "$bin/zeta" "$@"
}

# Fails when the process that was started in the background has ended.
watcher_runs()
{
    kill -0 "$watcher" 2>/dev/null || die "what was started in the background has ended: $1"
}

# begin_to_watch OPTIONS...: samples the shared device in the background until end_watching.
begin_to_watch()
{
    "$bin/zeta" stat -a --shared "$@" >/dev/null 2>"$work/stat" &
    watcher=$!
    until zeta groups >"$out" 2>"$err" && grep -q "held by process" "$out"; do
        watcher_runs "nobody is named as holder"
        sleep 0.1
    done
}

# end_watching [SIGNAL]
end_watching()
{
    kill "-${1:-TERM}" "$watcher"
    status=0
    wait "$watcher" || status=$?
    watcher=
    [ "$status" -eq 0 ] || die "the watcher gave $status: $(cat "$work/stat")"
}

case_help()
{
    expect 0 zeta help
    out_has "usage: zeta COMMAND"
    for command in calc devices doctor groups plugin record report run selftest stat trace; do
        out_has "  $command "
        expect 0 zeta "$command" --help
        out_has "usage: zeta $command"
        expect 0 zeta help "$command"
        out_has "usage: zeta $command"
        expect 0 zeta help
    done
    expect 0 zeta trace -h
    out_has "usage: zeta trace"
    expect 2 zeta help frobnicate
    err_has "unknown command 'frobnicate'"
    expect 0 zeta --version
    out_has "zeta "
}

case_unknown_words()
{
    expect 2 zeta
    err_has "usage:"
    expect 2 zeta frobnicate
    err_has "unknown command 'frobnicate'"
    err_has "Try 'zeta help'"
    expect 2 zeta plugin frobnicate
    err_has "not frobnicate"
    expect 2 zeta devices --frobnicate
    err_has "unknown option --frobnicate"
    expect 2 zeta devices extra
    expect 2 zeta groups extra
    expect 2 zeta stat --frobnicate -- true
    err_has "Try 'zeta help stat'"
    expect 2 zeta stat --json -- true
    err_has "needs a file"
    expect 2 zeta stat
}

case_devices()
{
    expect 0 zeta devices
    out_has "(software)"
    out_has "compute: vgpu"
    out_has "2 slices x 2 subslices x 32 EUs x 16 threads"
    out_has "timer 25 MHz with 34 bits, wraps after 687.2 s"
    expect 0 zeta devices "--json=$json"
    holds "$json" 'd["schema"] == "zeta.devices/1" and d["devices"][0]["class"] == "software"'
    holds "$json" 'd["devices"][0]["plugins"]["compute"] == "vgpu"'
    expect 0 zeta devices --json
    cp "$out" "$json"
    holds "$json" 'd["devices"][0]["topology"]["eus_per_subslice"] == 32'
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

# What a backend says of a unit stands with its groups. Rule 12.16.
case_groups_notes()
{
    ZETA_PLUGIN_PATH=$build/tests/metric_tracer/fake/share
    export ZETA_PLUGIN_PATH
    expect 0 zeta groups -v
    out_has "    Events of this process only."
    expect 0 zeta groups "--json=$json"
    holds "$json" '{g["stream_note"] for g in d["groups"] if g["unit"] == "kernels"} == {"Events of this process only."}'
    holds "$json" 'all("stream_note" not in g for g in d["groups"] if g["unit"] != "kernels")'
}

# Rule 15.17.
case_groups_passes()
{
    ZETA_PLUGIN_PATH=$build/tests/metric_api/fake/share
    ZETA_TEST_ENTRIES_PER_PASS=2
    export ZETA_PLUGIN_PATH ZETA_TEST_ENTRIES_PER_PASS
    expect 0 zeta groups -v -d fake0
    out_has "    needs 3 passes, and a group has one:"
    out_has "        The unit takes few selections at a time."
    expect 0 zeta groups -d fake0 "--json=$json"
    holds "$json" '{g["name"] for g in d["groups"] if "passes" in g} == {"Basic"}'
    holds "$json" 'all(g["passes"] == 3 and g["passes_reason"] for g in d["groups"] if "passes" in g)'
}

# Who samples a group is named while it does.
case_groups_holder()
{
    begin_to_watch
    grep -q "held by process $watcher" "$out" || die "somebody else is named"
    end_watching
}

case_device_unknown()
{
    expect 1 zeta groups -d 99
    err_has "no device is called '99'"
    err_has "vgpu"
    expect 1 zeta stat -d nowhere -- true
    err_has "no device is called 'nowhere'"
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
    ZETA_PLUGINS_DISABLE="vgpu,intel-*,nvidia"
    export ZETA_PLUGINS_DISABLE
    expect 1 zeta devices
    err_has "Zeta found no device"
    err_has "vgpu"
    err_has "ZETA_PLUGINS_DISABLE"
    expect 1 zeta stat -- true
    err_has "Zeta found no device"
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
    err_has "no plugin is called 'nobody'"
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
    printf 'format: "1.0"\nid: faulty\nclass: software\nlibrary: %s\nabi: {min: 1, max: 1}\n' \
        "$build/tests/plugins/faulty.so" >"$work/52-faulty.yaml"
    printf 'provides: [debug]\nmatches: [{always: true}]\nsettings: {fault: negotiate-exit}\n' \
        >>"$work/52-faulty.yaml"
    # As below a parent that does not care about its children.
    expect 1 "$python" -c '
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])' "$bin/zeta" plugin check "$work/52-faulty.yaml"
    out_has "ended the process with status 7"
}

# The installed tree is like the build tree, wherever it is moved to.
case_install()
{
    # What is staged names the place where it will be.
    DESTDIR=$work/stage expect 0 cmake --install "$build" --prefix /opt/zeta
    readelf -dW "$work/stage/opt/zeta/bin/zeta" >"$out"
    out_has 'runpath: [$ORIGIN/../lib:/opt/zeta/lib]'
    # GDB looks for what belongs to a library by the library's name.
    [ -f "$work/stage/opt/zeta/share/zeta/zeta-gdb.py" ] || die "GDB's commands are missing"
    library=$(basename "$(readlink -f "$work/stage/opt/zeta/lib/libzeta.so")")
    [ -f "$work/stage/opt/zeta/share/gdb/auto-load/opt/zeta/lib/$library-gdb.py" ] ||
        die "GDB does not find its commands"
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

for cases in "$source"/tests/tools/cases_*.sh; do
    # shellcheck source=/dev/null
    . "$cases"
done

if ! command -v "case_$name" >/dev/null; then
    echo "there is no case $name" >&2
    exit 1
fi
: >"$out"
: >"$err"
"case_$name"
