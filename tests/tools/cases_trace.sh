# Cases of zeta trace, for command_test.sh.
# shellcheck shell=sh disable=SC2154 # it has the variables

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

# Rule 19.2.
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

# Rule 19.14.
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

# Rule 19.16.
case_trace_exit_status()
{
    expect 7 zeta trace -- "$build/tests/trace_client" return
    expect 9 zeta trace -- "$build/tests/trace_client" exit
    expect 134 zeta trace -- "$build/tests/trace_client" abort
    expect 127 zeta trace -- "$work/no_such_program"
    err_has "no such program"
    expect 1 zeta trace -o "$work/no/such/folder.json" -- true
    expect 2 zeta trace -o "$work/t.txt" -- true
    err_has ".pftrace"
}

# Whatever ends the program, its calls are there.
# Rule 19.6.
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

# Rule 19.6.
case_trace_wait()
{
    expect 142 zeta trace -o "$work/t.json" -- "$build/tests/trace_client" wait
    err_has "1 call had not returned at the end:"
    err_has "zeEventHostSynchronize (process"
    events_hold "$work/t.json" '[x["name"] for x in e if x["ph"] == "B"] == ["zeEventHostSynchronize"]'
}

# Rules 19.11, 19.14.
case_trace_fork()
{
    expect 0 zeta trace -o "$work/t.json" -- "$build/tests/trace_client" fork "$bin/matmul" 32
    out_has "result right"
    err_has "in 3 processes"
    events_hold "$work/t.json" 'len({x["pid"] for x in e}) == 3'
    events_hold "$work/t.json" 'len({x["pid"] for x in calls("zeDriverGet")}) == 3'
    events_hold "$work/t.json" 'len(calls("zeKernelCreate")) == 1'
}

# Rule 19.14.
case_trace_exec()
{
    expect 0 zeta trace -o "$work/t.json" -- "$build/tests/trace_client" exec "$bin/matmul" 32
    err_has "in 1 process"
    events_hold "$work/t.json" 'len(calls("zeInit")) == 2 and len(calls("zeEventCreate")) == 1'
    events_hold "$work/t.json" 'len(calls("zeKernelCreate")) == 1'
}

# Rule 19.13.
case_trace_filter()
{
    expect 7 zeta trace --filter 'zeEvent*' --filter=zeInit -o "$work/t.json" -- \
        "$build/tests/trace_client" return
    events_hold "$work/t.json" '{x["name"] for x in e if x["ph"] == "X"} == {"zeInit", "zeEventCreate", "zeEventPoolCreate"}'
    expect 7 zeta trace --filter 'zesNothing*' -- "$build/tests/trace_client" return
    err_has "called no function that matches 'zesNothing*'"
}

# Rule 19.16.
case_trace_none()
{
    expect 7 zeta trace -- "$build/tests/trace_client" none
    err_has "so there are no calls"
    err_has "ZE_ENABLE_ALT_DRIVERS"
}

# Rule 19.7.
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
    err_lacks "there are no calls"
}

# The program may have run for days: what it recorded outlives a result that finds no room. The limit
# is that of zeta alone, which writes the result.
# Rule 19.15.
case_trace_no_room()
{
    trap '' XFSZ
    ulimit -S -f 64
    expect 1 zeta trace -o "$work/t.json" -- sh -c 'ulimit -S -f unlimited; exec "$0" many' \
        "$build/tests/trace_client"
    ulimit -S -f unlimited
    err_has "cannot write all of"
    err_has "in $work/zeta-kept-"
    # Also when others run.
    expect 0 zeta trace -o "$work/v.json" -- true
    expect 0 zeta trace -o "$work/u.json" --from "$work"/zeta-kept-*/*.json
    events_hold "$work/u.json" 'len(calls("zeInit")) == 1'
}

# The library alone, without the command.
# Rules 19.1, 19.12.
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
    # What it wrote can be read again.
    expect 0 zeta trace --from "$work/both.json"
    err_has "in 2 processes"
    ! grep -q "left out" "$err" || die "lines are missing"
    expect 1 zeta trace --from "$work/absent.json"
    err_has "absent.json"
    echo "no trace" >"$work/no.json"
    expect 1 zeta trace --from "$work/no.json"
    err_has "$work/no.json is no trace"
    expect 2 zeta trace --from "$work/t.json" -- true
}

# Rule 19.16.
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

# Rule 19.16.
case_trace_through_loader()
{
    [ -x "$build/tests/matmul_loader" ] || exit 77
    expect 0 zeta trace -o "$work/t.json" -- "$build/tests/matmul_loader" 32
    out_has "result right"
    events_hold "$work/t.json" 'len(calls("zeKernelCreate")) == 1 and len(kernels()) == 4'
}
