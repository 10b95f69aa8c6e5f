# Cases of zeta record, for command_test.sh.
# shellcheck shell=sh disable=SC2154 # it has the variables

# The chunks of a recording, read by the words of sdk/doc/formats.md: "TYPE NUMBER SIZE" for each,
# and the payloads of one type in a file.
chunks()
{
    "$python" - "$1" "$2" "$work/payloads" >"$work/chunks" <<'END' || die "$1 is no container"
import struct, sys
data = open(sys.argv[1], "rb").read()
assert data[:8] == b"\x89ZETA\r\n\x1a" and struct.unpack_from("<I", data, 16)[0] == 2
at, wanted = 64, int(sys.argv[2])
with open(sys.argv[3], "wb") as out:
    while at + 32 <= len(data):
        magic, kind, number, flags, size = struct.unpack_from("<4sIIIQ", data, at)
        assert magic == b"CHNK"
        if at + 32 + size > len(data):
            break
        print(kind, number, size)
        if kind == wanted:
            out.write(data[at + 32:at + 32 + size])
        at += 32 + (size + 7) // 8 * 8
END
}

# A Python expression over the rows of 'zeta calc --csv' must hold: r is a list of dicts.
rows_hold()
{
    "$python" -c '
import csv, sys
r = list(csv.DictReader(open(sys.argv[1])))
sys.exit(0 if eval(sys.argv[2]) else 1)' "$1" "$2" || die "of the rows this does not hold: $2"
}

case_record_everything()
{
    expect 0 zeta record -o "$work/r" -g ComputeBasic,ThreadDispatch -e KernelEvents \
        -- "$bin/matmul" 128
    out_has "result right"
    err_has "ComputeBasic"
    err_has "ThreadDispatch"
    err_has "samples, none lost"
    err_has "lines of calls and work"
    err_has "modules              1"
    chunks "$work/r" 8
    # META at both ends, device, two sets and their streams, the events', clocks, module, end.
    for type in 1 2 3 4 5 6 7 8 9; do
        grep -q "^$type " "$work/chunks" || die "the recording has no chunk of type $type"
    done
    [ "$(grep -c '^5 ' "$work/chunks")" -eq 3 ] || die "there are not three streams"
    "$python" - "$work/payloads" <<'END' || die "the lines of the trace are not right"
import json, sys
lines = [json.loads(line.rstrip(",\n")) for line in open(sys.argv[1])]
calls = [l["name"] for l in lines if l["ph"] == "X"]
assert calls.count("zeCommandListAppendLaunchKernel") == 1, calls
assert any(l["ph"] == "X" and l["name"] == "matmul" for l in lines)
assert any(l["name"] == "process_name" for l in lines)
END
}

case_record_counts_are_exact()
{
    expect 0 zeta record -o "$work/r" -g ComputeBasic -- "$bin/matmul" 128
    expect 0 zeta calc --csv "$work/r"
    # 2 * 128^3 operations, 128^3 / 8 arrivals at barriers.
    rows_hold "$out" 'sum(int(x["FpOps"]) for x in r) == 4194304'
    rows_hold "$out" 'sum(int(x["BarrierMessages"]) for x in r) == 262144'
    ZETA_REPLAY=$work/r
    export ZETA_REPLAY
    expect 0 zeta stat -a -g ComputeBasic --json="$json"
    holds "$json" 'metric("ComputeBasic", "FpOps")["total"] == 4194304'
}

case_record_without_program()
{
    expect 0 zeta record -a --for 300ms -o "$work/r"
    err_lacks "lines of calls"
    expect 0 zeta calc --csv "$work/r"
    rows_hold "$out" 'len(r) >= 100'
}

# Until the program that is recorded in the background runs.
wait_for_program()
{
    until [ -s "$work/pid" ]; do
        watcher_runs "the program was not started"
        sleep 0.1
    done
    began_ns=$(date +%s%N)
}

# Whether the file, at least three seconds old, has what was a second ago; what it has in recorded_ns.
recording_is_recent()
{
    sleep 0.3
    watcher_runs "the recorder"
    wanted_ns=$(($(date +%s%N) - began_ns - 1000000000))
    cp "$work/r" "$work/copy"
    zeta calc --csv "$work/copy" >"$work/rows" 2>"$work/said" || return 1
    recorded_ns=$("$python" -c '
import csv, sys
print(sum(int(x["GpuTime"]) for x in csv.DictReader(open(sys.argv[1]))))' "$work/rows")
    [ "$wanted_ns" -ge 2000000000 ] && [ "$recorded_ns" -ge "$wanted_ns" ]
}

# What was recorded a second before the end is in the file, whoever is killed.
case_record_killed()
{
    # What a killed recorder leaves, which nobody else can remove, goes with the folder of the test.
    # shellcheck disable=SC2016 # the inner shell's
    XDG_RUNTIME_DIR=$work "$bin/zeta" record -o "$work/r" -- sh -c 'echo $$ >"$0"; exec sleep 600' "$work/pid" \
        >"$out" 2>"$err" &
    watcher=$!
    wait_for_program
    # A recorder that a busy machine holds up is late, but not each time that somebody looks.
    in_tries 100 recording_is_recent
    kill -9 "$watcher" "$(cat "$work/pid")"
    wait "$watcher" || true
    watcher=
    expect 0 zeta calc --csv "$work/r"
    err_has "was killed"
    rows_hold "$out" "sum(int(x['GpuTime']) for x in r) >= $recorded_ns"
    # Its folders go with the next run.
    [ "$(find "$work" -name 'zeta-*-??????' | wc -l)" -eq 2 ] || die "a killed run left no folders"
    expect 0 env "XDG_RUNTIME_DIR=$work" "$bin/zeta" record -o "$work/next" -- true
    [ -z "$(find "$work" -name 'zeta-*-??????')" ] || die "folders of the killed run are left"
}

case_record_bounded()
{
    expect 0 zeta record --max-size 512K -p 100us -o "$work/r" -- sleep 2
    err_has "to keep the file small"
    [ "$(stat -c %s "$work/r")" -le 524288 ] || die "the file is larger than its bound"
    expect 0 zeta calc --csv "$work/r"
    rows_hold "$out" 'len(r) > 100'
    [ -z "$(find "$work" -name 'r.*')" ] || die "something was left beside the recording"
}

# Two tiles, sampled and traced as one device; what calculates and what replays agree on them.
# Rule 16.18.
case_record_of_two_tiles()
{
    ZETA_PLUGIN_VGPU_TILES=2
    export ZETA_PLUGIN_VGPU_TILES
    expect 0 zeta record -g ComputeBasic,ThreadDispatch -e KernelEvents,DeviceEvents -o "$work/r" \
        -- "$bin/matmul" 64
    expect 0 zeta calc --csv -g ComputeBasic "$work/r"
    err_lacks "tracers"
    rows_hold "$out" '{x["tile"] for x in r} == {"0", "1"}'
    rows_hold "$out" 'sum(int(x["FpOps"]) for x in r) == 2 * 64**3'
    expect 0 zeta calc --json="$work/calc.json" "$work/r"
    ZETA_REPLAY=$work/r
    export ZETA_REPLAY
    expect 0 zeta stat -a -g ComputeBasic,ThreadDispatch --json="$json"
    "$python" - "$work/calc.json" "$json" <<'END' || die "calc and stat do not agree"
import json, sys
calc, stat = [json.load(open(p))["groups"] for p in sys.argv[1:]]
assert [g["name"] for g in calc] == [g["name"] for g in stat] == ["ComputeBasic", "ThreadDispatch"]
for a, b in zip(calc, stat):
    assert a["samples"] == b["samples"] > 0 and a["metrics"] == b["metrics"]
END
    for tile in 0.0 replay0.1; do
        expect 0 zeta stat -a -g ComputeBasic -d "$tile" --json="$json"
        holds "$json" 'd["groups"][0]["device_id"] in ("replay0.0", "replay0.1")'
    done
    expect 1 zeta stat -a -g ComputeBasic -d 0.2
    err_has "tiles 0.0 to 0.1"
    # What was recorded can be recorded again, events of both groups too.
    expect 0 zeta record -a -g ComputeBasic,ThreadDispatch -e KernelEvents,DeviceEvents -o "$work/s"
    for file in r s; do
        chunks "$work/$file" 6
        [ "$(cut -d' ' -f1,2 "$work/chunks" | grep '^6 ' | sort -u | wc -l)" -eq 4 ] ||
            die "$file has not data of four streams"
    done
    expect 0 zeta calc --json="$json" "$work/s"
    holds "$json" 'metric("ComputeBasic", "FpOps")["total"] == 2 * 64**3'
    expect 1 zeta calc -g NoSuch "$work/r"
    err_has "has no data of group 'NoSuch'"
}

# Who asks the recorder to end ends the program, and has a whole file.
# Rule 16.17.
case_record_interrupted()
{
    # shellcheck disable=SC2016 # the inner shell's
    "$bin/zeta" record -o "$work/r" -- sh -c 'echo $$ >"$0"; exec sleep 600' "$work/pid" \
        >"$out" 2>"$err" &
    watcher=$!
    wait_for_program
    kill -TERM "$watcher"
    status=0
    wait "$watcher" || status=$?
    watcher=
    [ "$status" -eq 143 ] || die "the recorder gave $status"
    expect 0 zeta calc "$work/r"
    err_lacks "was killed"
    [ -z "$(find "$work" -name 'zeta-*')" ] || die "a folder was left"
}

# However small the bound: calls, kernels and the newest samples are there, and no image is.
# Rule 16.15.
case_record_bounded_as_small_as_can_be()
{
    expect 0 zeta record --max-size 64K -p 100us -e KernelEvents -o "$work/r" \
        -- sh -c "\"$bin/matmul\" 64 && \"$bin/matmul\" 64 && sleep 0.5"
    err_has "modules              2, 2 without their images"
    err_has "to keep the file small"
    [ "$(stat -c %s "$work/r")" -le 65536 ] || die "the file is larger than its bound"
    chunks "$work/r" 9
    [ "$(grep -c '^9 ' "$work/chunks")" -eq 2 ] || die "there are not two modules"
    grep -qa "^kernel: .* matmul$" "$work/payloads" || die "the kernel has lost its name"
    expect 0 zeta calc --csv "$work/r"
    rows_hold "$out" 'len(r) > 10'
}

# Rule 16.17.
case_record_file_that_may_not_grow()
{
    make_file recording "$work/tape"
    ZETA_REPLAY=$work/tape
    export ZETA_REPLAY
    status=0
    (
        ulimit -f 80
        exec "$bin/zeta" record -a -g Taped -o "$work/r"
    ) >"$out" 2>"$err" || status=$?
    [ "$status" -eq 1 ] || die "the recorder gave $status"
    err_has "cannot write $work/r"
    [ "$(grep -c 'cannot' "$err")" -eq 1 ] || die "it was said more than once"
}

# The clock of CLOCK chunks is CLOCK_MONOTONIC_RAW, that of the trace CLOCK_MONOTONIC.
# Rule 16.16.
case_record_clocks()
{
    raw='import time; print(time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW))'
    mono='import time; print(time.clock_gettime_ns(time.CLOCK_MONOTONIC))'
    begin="$("$python" -c "$raw") $("$python" -c "$mono")"
    expect 0 zeta record -o "$work/r" -- sh -c "\"$bin/matmul\" 64 && sleep 0.6"
    end="$("$python" -c "$raw") $("$python" -c "$mono")"
    chunks "$work/r" 7
    cp "$work/payloads" "$work/clocks"
    chunks "$work/r" 8
    # shellcheck disable=SC2086 # two numbers each
    "$python" - "$work/clocks" "$work/payloads" $begin $end <<'END' || die "the clocks are not right"
import json, struct, sys
raw0, mono0, raw1, mono1 = map(int, sys.argv[3:])
clocks = list(struct.iter_unpack("<QQQ", open(sys.argv[1], "rb").read()))
lines = [json.loads(line.rstrip(",\n")) for line in open(sys.argv[2])]
assert len(clocks) >= 2
first = clocks[0]
for ticks, host, error in clocks:
    # What an error lies between was read while it recorded.
    assert raw0 <= host <= raw1 and 0 < error < raw1 - raw0, (host, error)
    # 25 MHz, 34 bits; the virtual device follows CLOCK_MONOTONIC, which may be slewed.
    device = (ticks - first[0]) % 2**34 * 40
    distance = host - first[1]
    assert abs(device - distance) <= error + first[2] + 80 + distance // 1000, (device, distance)
marks = [l["args"] for l in lines if l["name"] == "zeta_clocks"]
assert len(marks) == len(clocks)
for mark in marks:
    raw, mono = int(mark["raw_ns"]), int(mark["monotonic_ns"])
    assert raw0 <= raw <= raw1 and mono0 <= mono <= mono1
calls = [l for l in lines if l["ph"] == "X"]
assert calls and all(mono0 <= l["ts"] * 1000 <= mono1 for l in calls)
END
}

case_record_exit_status()
{
    expect 7 zeta record -o "$work/r" -- sh -c 'exit 7'
    expect 0 zeta calc "$work/r"
    expect 143 zeta record -o "$work/s" -- sh -c 'kill -TERM $$'
}

# What mktemp gives, and with --force anything; but only when there is a recording.
# Rule 16.12.
case_record_over_a_file()
{
    : >"$work/r"
    expect 0 zeta record -o "$work/r" -- "$bin/matmul" 64
    expect 0 zeta report "$work/r"
    echo mine >"$work/r"
    expect 127 zeta record --force -o "$work/r" -- no-such-program-of-ours
    [ "$(cat "$work/r")" = mine ] || die "a run that did not come about took the file"
    expect 0 zeta record --force -o "$work/r" -- "$bin/matmul" 64
    expect 0 zeta report "$work/r"
    [ -z "$(find "$work" -name 'r.*')" ] || die "something was left beside the recording"
}

case_record_refuses()
{
    expect 2 zeta record -- true
    err_has "-o FILE"
    expect 2 zeta record -o "$work/r"
    err_has "record needs a program"
    expect 2 zeta record -o "$work/r" --max-size 1x -- true
    err_has "--max-size takes a number of bytes such as 64M or 2G, not 1x"
    expect 2 zeta record -o "$work/r" --max-size 1K -- true
    err_has "at least 64K"
    expect 2 zeta record -o "$work/r" -e KernelEvents -e KernelEvents -- true
    err_has "names KernelEvents twice"
    expect 2 zeta record -o "$work/r" -e KernelEvents,,DeviceEvents -- true
    err_has "-e has an empty name"
    expect 1 zeta record -o "$work/r" -e NoSuch -- true
    err_has "has no group 'NoSuch' of events"
    err_has "KernelEvents"
    expect 1 zeta record -o "$work/r" -g NoSuch -- true
    err_has "has no group 'NoSuch'"
    expect 127 zeta record -o "$work/r" -- no-such-program-of-ours
    [ ! -e "$work/r" ] || die "a recording of nothing was kept"
    echo mine >"$work/r"
    expect 1 zeta record -o "$work/r" -- true
    [ "$(cat "$work/r")" = mine ] || die "a file was overwritten"
    err_has "use --force to replace it"
    expect 1 zeta record -o /dev/null -- true
    err_has "/dev/null exists already and is a link or not a regular file"
    expect 2 zeta record -o "" -- true
    expect 1 zeta record -o "$work/none/r" -- true
    err_has "$work/none/r"
}

# Names of the ids in events, as text only. Rule 16.29.
case_record_names()
{
    ZETA_PLUGIN_PATH=$build/tests/metric_tracer/fake/share
    ZETA_TEST_TRACE_EVENTS=5
    export ZETA_PLUGIN_PATH ZETA_TEST_TRACE_EVENTS
    expect 0 zeta record -a --for 50ms -d trace0 -g KernelSource -e CopyAgain -o "$work/r"
    unset ZETA_PLUGIN_PATH
    expect 0 zeta report "$work/r"
    out_has "  300 "
    out_has "  kernel <4> "
    expect 0 zeta report --per-kernel "$work/r"
    out_has "== kernel <4>: 1 run, 40 ns, mean 40 ns"
    out_has "== CopyName 300: 1 run, 30 ns, mean 30 ns"
    expect 0 zeta report "--json=$json" "$work/r"
    holds "$json" '[(n["id"], n.get("name"), n["entries"]) for n in d["events"][0]["metrics"][0]["names"]] == [(100, None, 1), (200, "kernel <2>", 1), (300, None, 1), (400, "kernel <4>", 1), (500, None, 1)]'
    expect 0 zeta report --per-kernel "--json=$json" "$work/r"
    holds "$json" 'sorted((k["name"], k["count"], k["total_ns"]) for k in d["kernels"]) == [("CopyName 100", 1, 10), ("CopyName 300", 1, 30), ("CopyName 500", 1, 50), ("kernel <2>", 1, 20), ("kernel <4>", 1, 40)]'
    expect 0 zeta report --pftrace="$work/p" --html="$work/h" "$work/r"
    grep -qF "kernel <2>" "$work/p" || die "the trace has no names"
    ! grep -qF "kernel <2>" "$work/h" || die "a name is markup"
}
