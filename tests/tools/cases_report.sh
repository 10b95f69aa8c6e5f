# Cases of zeta report, for command_test.sh.
# shellcheck shell=sh disable=SC2154 # it has the variables

# A recording of matmul in $work/r: 500 us, events, a trace.
record_matmul_once()
{
    expect 0 zeta record --force -o "$work/r" -p 500us -e KernelEvents -e DeviceEvents \
        -- "$bin/matmul" 128
}

record_matmul_whole()
{
    record_matmul_once
    grep -q "samples, none lost" "$err"
}

# The same, complete: a recorder that gets no processor for half a minute loses reports and says so.
record_matmul()
{
    in_tries 5 record_matmul_whole
}

# Whether a line of a table is in $out, whatever the widths of its columns are.
row_is_there()
{
    tr -s ' ' <"$out" | grep -qF -- "$1" || die "stdout lacks the row '$1'"
}

# The recorded file only, no device and no plugin.
report()
{
    ZETA_PLUGIN_PATH=/nonexistent zeta report "$@"
}

# A Python expression over the data d of a page must hold.
page_holds()
{
    "$python" - "$1" "$2" <<'END' || die "of the page this does not hold: $2"
import json, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
d = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])
def metric(name):
    return next(m for g in d["groups"] for m in g["metrics"] if m["name"] == name)
sys.exit(0 if eval(sys.argv[2]) else 1)
END
}

# Rule 16.22.
case_report_tables()
{
    record_matmul
    expect 0 report "$work/r"
    out_has "matmul 128"
    out_has "Zeta Virtual GPU (software, vgpu0)"
    out_has "none lost"
    row_is_there "InstFp32 4194304 total"
    out_has "KernelEvents: no event lost"
    row_is_there "GroupBegin 64"
    row_is_there "CopyBegin 3"
    out_has "zeCommandListAppendLaunchKernel"
    out_has "On the devices"
    ! grep -q "^Note" "$out" || die "there are notes about a good recording"
    expect 2 zeta report
    expect 1 zeta report "$work/none"
    err_has "cannot open"
    expect 1 zeta report "$bin/matmul"
    expect 2 zeta report --from=2s --to=1s "$work/r"
}

# unchanged COMMAND...: fails and leaves the recording as it is; prints why in the words of $why.
why=
unchanged()
{
    cp "$work/r" "$work/before"
    expect 1 "$@"
    err_has "$why"
    cmp -s "$work/r" "$work/before" || die "'$*' changed the recording"
}

# Neither by its name nor by another one of the same file.
# Rule 16.12.
case_outputs_spare_what_is_read()
{
    record_matmul
    ln "$work/r" "$work/hard"
    ln -s r "$work/soft"
    why="this command reads it"
    for name in r hard soft; do
        unchanged report "--html=$work/$name" "$work/r"
        unchanged report "--json=$work/$name" "$work/r"
        unchanged report "--pftrace=$work/$name" "$work/r"
        unchanged zeta calc "--json=$work/$name" "$work/r"
        unchanged env "ZETA_REPLAY=$work/r" "$bin/zeta" groups "--json=$work/$name"
    done
    unchanged env "ZETA_REPLAY=$work/r" "$bin/zeta" record --force -a --for 10ms -o "$work/r"
    cp "$work/r" "$work/before"
    status=0
    zeta calc --csv "$work/r" >>"$work/r" 2>"$err" || status=$?
    [ "$status" -eq 1 ] || die "rows went into what they were calculated from"
    err_has "cannot write the standard output to $work/r: this command reads that file"
    cmp -s "$work/r" "$work/before" || die "the standard output changed the recording"
    ZETA_TRACE=$work/calls.json "$bin/matmul" 64 >"$out"
    cp "$work/calls.json" "$work/before"
    expect 1 zeta trace --from "$work/calls.json" -o "$work/calls.json"
    err_has "$why"
    cmp -s "$work/calls.json" "$work/before" || die "the trace was changed"
}

# Rule 16.12.
case_outputs_spare_recordings()
{
    record_matmul
    cp "$work/r" "$work/other"
    why="it has a recording"
    unchanged report "--html=$work/r" "$work/other"
    unchanged zeta devices "--json=$work/r"
    mv "$work/r" "$work/r.json"
    cp "$work/r.json" "$work/before"
    for command in "stat -o $work/r.json" "stat --json=$work/r.json" "trace -o $work/r.json"; do
        # shellcheck disable=SC2086 # several words
        expect 1 zeta $command -- true
        err_has "$why"
        cmp -s "$work/r.json" "$work/before" || die "'$command' changed the recording"
    done
    # Anything else that was named is replaced; a file is of one output.
    echo mine >"$work/page"
    expect 0 report "--html=$work/page" "$work/other"
    grep -q '<!DOCTYPE html>' "$work/page" || die "the page is not there"
    expect 1 report "--html=$work/both" "--json=$work/both" "$work/other"
    err_has "cannot write two outputs to"
    [ ! -s "$work/both" ] || die "the page was written before the refusal"
}

# Rule 16.22.
case_report_json_is_that_of_stat()
{
    record_matmul
    expect 0 report "--json=$json" --per-kernel "$work/r"
    holds "$json" 'd["schema"] == "zeta.stat/1" and d["groups"][0]["device_id"] == "vgpu0"'
    holds "$json" 'metric("ComputeBasic", "InstFp32")["total"] == 2 * 128**3'
    holds "$json" 'd["program"][-1] == "128" and not d["recording"]["cut"]'
    holds "$json" 'd["events"][0]["metrics"][0] == {"name": "KernelBegin", "entries": 1}'
    holds "$json" 'any(c["name"] == "zeInit" and c["count"] == 1 for c in d["calls"])'
    # The same numbers as those of zeta calc.
    expect 0 zeta calc "--json=$work/calc.json" "$work/r"
    "$python" - "$json" "$work/calc.json" <<'END' || die "zeta calc has other values"
import json, sys
a, b = (json.load(open(p))["groups"][0] for p in sys.argv[1:])
assert a["samples"] == b["samples"] and a["metrics"] == b["metrics"]
END
}

# The rows of a device, once more as those of a second one.
# Rule 16.22.
case_report_two_devices()
{
    record_matmul
    PYTHONPATH=$source/tests/tools "$python" -B - "$work/r" "$work/two" <<'END'
import re, sys
import recording
of_device = recording.DEVICE, recording.CLOCK
of_stream = recording.STREAM, recording.DATA
writer = recording.Writer()
for kind, number, payload in recording.read(sys.argv[1]):
    writer.chunk(kind, number, payload)
    if kind == recording.DEVICE:
        payload = re.sub(rb"\b(name|id): .*", rb"\1: other", payload)
    if kind == recording.STREAM:
        payload = re.sub(rb"\bdevice: .*", b"device: 101", payload)
    if kind in of_device or kind in of_stream:
        writer.chunk(kind, 100 + number, payload)
writer.save(sys.argv[2])
END
    expect 0 report "--json=$json" --per-kernel "$work/two"
    holds "$json" '[(g["name"], g["device_id"], g["device"]) for g in d["groups"]] == [("ComputeBasic", "vgpu0", "Zeta Virtual GPU"), ("ComputeBasic", "other", "other")]'
    holds "$json" 'd["groups"][0]["metrics"] == d["groups"][1]["metrics"]'
}

# Every operation of the kernel is in its run; what it did not do is in no row of it.
# Rule 16.24.
case_report_per_kernel()
{
    record_matmul
    expect 0 report --per-kernel "--json=$json" "$work/r"
    holds "$json" '{k["name"]: k["count"] for k in d["kernels"]} == {"matmul": 1, "copy": 3}'
    "$python" - "$json" <<'END' || die "the rows are not those of the kernels"
import json, sys
d = json.load(open(sys.argv[1]))
kernels = {k["name"]: k for k in d["kernels"]}
rows = d["kernel_rows"][0]
inside = sum(g["samples"] for k in kernels.values() for g in k["groups"])
assert rows["inside"] == inside and inside > 0
assert rows["inside"] + rows["shared"] + rows["idle"] == d["groups"][0]["samples"]
values = {m["name"]: m for m in kernels["matmul"]["groups"][0]["metrics"]}
# The two clocks are not read at the same instant, so a row at an edge may be on its other side.
every = {m["name"]: m for m in d["groups"][0]["metrics"]}
# Where a row at an edge is idle its clocks count, which are those of many busy rows.
assert values["GpuBusy"]["max"] == 100 and values["GpuBusy"]["value"] > 1, values["GpuBusy"]
assert values["CopyBytes"]["total"] < every["CopyBytes"]["total"] / 2, values["CopyBytes"]
assert values["GpuTime"]["total"] <= kernels["matmul"]["total_ns"]
assert 0.8 * 2 * 128**3 < values["InstFp32"]["total"] <= 2 * 128**3, values["InstFp32"]
END
    expect 0 report --per-kernel "$work/r"
    out_has "== matmul: 1 run"
    out_has "nothing is interpolated"
}

# What is missing is said of the whole recording, wherever its rows are shown.
# Rules 16.25, 20.9.
case_report_losses()
{
    export ZETA_PLUGIN_VGPU_FAULT_LOST_REPORTS=20
    record_matmul_once
    unset ZETA_PLUGIN_VGPU_FAULT_LOST_REPORTS
    lost=$(sed -n 's/^  ComputeBasic .* samples, \([0-9]*\) reports* lost.*/\1/p' "$err")
    [ "${lost:-0}" -gt 0 ] || die "record says that nothing is missing"
    expect 0 report --per-kernel "--json=$json" "$work/r"
    holds "$json" "d['groups'][0]['lost'] == $lost and d['groups'][0]['breaks'] > 0"
    holds "$json" 'all(g[n] == d["groups"][0][n] for n in ("lost", "breaks", "lost_time_ns")
                       for k in d["kernels"] for g in k["groups"])'
    time_ns=$("$python" -c 'import json, sys
print(json.load(open(sys.argv[1]))["groups"][0]["lost_time_ns"])' "$json")
    expect 0 report --csv "$work/r"
    err_has "ComputeBasic: $lost reports lost"
    expect 0 zeta calc --csv "$work/r"
    err_has "ComputeBasic: $lost reports lost"
    expect 0 report --from=1ms --to=2ms "--json=$json" "$work/r"
    holds "$json" "d['groups'][0]['lost'] == $lost and d['groups'][0]['lost_time_ns'] == $time_ns"
}

# How long a recording lasts is up to the machine, so the range is the middle half of this one.
# Rule 16.25.
case_report_range_and_rows()
{
    record_matmul
    expect 0 report --csv "$work/r"
    cp "$out" "$work/all.csv"
    last_us=$("$python" - "$work/all.csv" <<'END'
import csv, sys
print(max(int(r["end_ns"]) for r in csv.DictReader(open(sys.argv[1]))) // 1000)
END
    )
    from=$((last_us / 4)) to=$((last_us / 4 * 3))
    expect 0 report --csv "--from=${from}us" "--to=${to}us" "$work/r"
    err_has "Only what lies wholly in the range"
    "$python" - "$work/all.csv" "$out" "$from" "$to" <<'END' || die "the rows of the range are not right"
import csv, sys
every, some = (list(csv.DictReader(open(p))) for p in sys.argv[1:3])
begin, end = (int(us) * 1000 for us in sys.argv[3:])
inside = [r for r in every if begin <= int(r["begin_ns"]) and int(r["end_ns"]) <= end]
assert some == inside and 10 < len(some) < len(every)
assert all(int(r["end_ns"]) - int(r["begin_ns"]) == int(r["GpuTime"]) for r in every)
assert sum(int(r["InstFp32"]) for r in every) == 2 * 128**3
END
    expect 0 report "--from=${from}us" "--to=${to}us" "--json=$json" "$work/r"
    holds "$json" "d['recording']['from_ns'] == ${from}000 and d['elapsed_ns'] == $((to - from))000"
    holds "$json" "0 < d['groups'][0]['samples'] < $(wc -l <"$work/all.csv")"
}

# Rule 16.22.
case_report_rows_of_each_stream()
{
    expect 0 zeta record -o "$work/r" -g ComputeBasic,ThreadDispatch -- "$bin/matmul" 64
    expect 0 report --csv "$work/r"
    "$python" - "$out" <<'END' || die "there are not two tables"
import csv, io, sys
tables = open(sys.argv[1]).read().split("\n\n")
names = [{r["group"] for r in csv.DictReader(io.StringIO(t))} for t in tables]
assert names == [{"ComputeBasic"}, {"ThreadDispatch"}], names
END
}

# Rules 1.22, 16.27.
case_report_page()
{
    record_matmul
    expect 0 report "--html=$work/page.html" "$work/r"
    page_holds "$work/page.html" '"matmul 128" in " ".join(d["program"])'
    page_holds "$work/page.html" 'metric("InstFp32")["value"] == 2 * 128**3 and len(metric("InstFp32")["lines"][0]["value"]) > 30'
    # A point has the value of its rows.
    page_holds "$work/page.html" 'max(v for v in metric("GpuBusy")["lines"][0]["value"] if v) == 100'
    page_holds "$work/page.html" '[d["names"][s[2]] for l in d["lanes"] for s in l["spans"]] == ["copy", "copy", "matmul", "copy"]'
    page_holds "$work/page.html" 'sum(v or 0 for v in next(m for e in d["events"] for m in e["metrics"] if m["name"] == "GroupBegin")["counts"]) == 64'
    # Nothing is loaded from anywhere.
    grep -q "default-src 'none'" "$work/page.html" || die "the page may load what it wants"
    ! grep -Eqi '(src|href)=|url\(|@import|https?://|fetch\(|innerHTML|eval\(' "$work/page.html" \
        || die "the page reaches for something"
}

case_report_perfetto()
{
    record_matmul
    [ -x "$build/tests/perfetto_text" ] || { expect 2 report --pftrace=x "$work/r"; return; }
    expect 0 report "--pftrace=$work/t" "$work/r"
    expect 0 "$build/tests/perfetto_text" "$work/t"
    out_has "track GpuBusy"
    out_has "track KernelEvents"
    out_has "counter 100"
    out_has "device GroupBegin value="
    out_has "device matmul groups="
    out_has "ze zeInit"
    out_has "open 0"
}

# Cut anywhere, or with any piece of it damaged: what is there is shown, what is not is said.
# Rule 16.26.
case_report_cut_and_damaged()
{
    record_matmul
    size=$(wc -c <"$work/r")
    for part in 3 5 7 9; do
        head -c $((size * part / 10)) "$work/r" >"$work/cut"
        expect 0 report --per-kernel "$work/cut"
        out_has "has no end chunk"
        out_has "ComputeBasic, domain 0"
        expect 0 report "--html=$work/page.html" "$work/cut"
        err_has "has no end chunk"
    done
    for part in 2 4 6 8; do
        "$python" - "$work/r" "$work/damaged" $part <<'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[len(data) * int(sys.argv[3]) // 10] ^= 4
open(sys.argv[2], "wb").write(data)
END
        expect 0 report "--json=$json" "$work/damaged"
        err_has "is damaged in 1 place"
        holds "$json" 'd["recording"]["damaged"] == 1'
    done
    head -c 64 "$work/r" >"$work/cut"
    expect 0 report "$work/cut"
    out_has "has no end chunk"
    head -c 63 "$work/r" >"$work/cut"
    expect 1 report "$work/cut"
}

# Exported data is shown too, as far as it says something.
case_report_exported_data()
{
    expect 0 zeta trace -o "$work/t.json" -- "$bin/offline" --export "$work/export"
    expect 0 report "$work/export"
    row_is_there "ComputeBasic, domain 0: "
    ! grep -q "^Note\|^Length" "$out" || die "something is said about clocks"
    expect 0 report --csv --from=1ms "$work/export"
    err_has "have no time and are left out"
    [ "$(wc -l <"$out")" -eq 1 ] || die "rows without a time are in the range"
}

case_report_markers()
{
    expect 0 zeta record -g ThreadDispatch -e DeviceEvents -o "$work/r" -- "$bin/markers"
    expect 0 report "--json=$json" "$work/r"
    holds "$json" '[(m["value"], m["source"]) for m in d["markers"] if m["source"] == "Marker"] == [(1001, "Marker"), (1002, "Marker")]'
    holds "$json" '0 < d["markers"][0]["time_ns"] < d["markers"][-1]["time_ns"] < d["elapsed_ns"]'
}

# Rule 16.26.
case_report_bounded()
{
    # A second gives 12 000 reports of 256 bytes.
    expect 0 zeta record -o "$work/r" -p 100us --max-size 400K -- sleep 1
    expect 0 report "$work/r"
    out_has "The size of the file was limited: its oldest"
    expect 0 report "--json=$json" "$work/r"
    holds "$json" 'd["recording"]["lost_chunks"] > 0 and d["groups"][0]["samples"] > 0'
}

# Rule 16.22.
case_report_tiles()
{
    ZETA_PLUGIN_VGPU_TILES=2 expect 0 zeta record -o "$work/r" -e KernelEvents -- "$bin/matmul" 64
    expect 0 report --csv "$work/r"
    "$python" - "$out" <<'END' || die "the tiles are not apart"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert {r["tile"] for r in rows} == {"0", "1"}
assert sum(int(r["InstFp32"]) for r in rows if r["tile"] == "0") == 2 * 64**3
assert sum(int(r["InstFp32"]) for r in rows if r["tile"] == "1") == 0
END
    expect 0 report "--html=$work/page.html" "--json=$json" "$work/r"
    page_holds "$work/page.html" '[l["tile"] for l in metric("GpuCoreClocks")["lines"]] == [0, 1]'
    # A tile on which nothing runs has no clocks that it could be busy in.
    page_holds "$work/page.html" '[l["tile"] for l in metric("GpuBusy")["lines"]] == [0]'
    holds "$json" 'd["events"][0]["metrics"][0]["entries"] == 1'
}

# Rule 16.22.
case_report_instruction_pointers()
{
    expect 0 zeta record -o "$work/r" -g EuStallSampling -- "$bin/matmul" 128
    TMPDIR=$work XDG_RUNTIME_DIR= expect 0 report "$work/r"
    out_has "Kernel    Samples"
    out_has "matmul "
    TMPDIR=$work XDG_RUNTIME_DIR= expect 0 report "--html=$work/page.html" "--json=$json" "$work/r"
    page_holds "$work/page.html" 'any(l["kernel"] == "matmul" for l in d["profile"]["lines"])'
    holds "$json" '"profile" in d'
    [ "$(ls "$work" | grep -c zeta-report)" -eq 0 ] || die "files are left in $work"
}

# Whoever made the file chose its names.
# Rule 16.28.
case_report_hostile_names()
{
    PYTHONPATH=$source/tests/tools "$python" -B - "$work/r" <<'END'
import struct, sys
import recording
writer = recording.Writer()
evil = "</script><script>alert(1)</script>\x1b[31m\u2028=1+1,\"x\""
writer.chunk(recording.META, 0, ("command: " + evil + "\nhost: <img src=x>\x9b\n").encode("utf-8"))
writer.chunk(recording.DEVICE, 1, ("name: " + evil + "\nid: v\nclass: software\ntimer-hz: 25000000\ntimestamp-bits: 32\n").encode())
writer.chunk(recording.CLOCK, 1, struct.pack("<QQQ", 0, 1000, 0))
line = '{"ph":"M","pid":0,"tid":0,"name":"zeta_clocks","args":{"raw_ns":"9000","monotonic_ns":"9000"}},\n'
for n, text in enumerate([r"</script>\u003cb\u003e\u001b[31m", "raw\x1b]0;title\x07"]):
    line += '{"ph":"X","pid":7,"tid":%d,"ts":%d.5,"cat":"device","name":"%s","args":{},"dur":9.0},\n' % (n, 20 + 30 * n, text)
line += '{"ph":"M","pid":7,"tid":0,"cat":"device","name":"thread_name","args":{"name":"<svg onload=x>"}},\n'
writer.chunk(recording.TRACE, 0, line.encode())
writer.save(sys.argv[1])
END
    expect 0 report --per-kernel "$work/r"
    out_has "alert(1)"
    LC_ALL=C grep -q "$(printf '\033')" "$out" && die "the terminal is commanded"
    LC_ALL=C grep -q "$(printf '\233')" "$out" && die "the terminal is commanded by one byte"
    expect 0 report "--html=$work/page.html" "--json=$json" "$work/r"
    [ "$(grep -c '</script>' "$work/page.html")" -eq 2 ] || die "a name ends a script"
    ! grep -q '<svg\|<img\|<b>' "$work/page.html" || die "a name is an element"
    page_holds "$work/page.html" 'any("<script>alert(1)" in word for word in d["program"])'
    page_holds "$work/page.html" 'len(d["kernels"]) == 2 and any(k["name"].startswith("</script><b>") for k in d["kernels"])'
    page_holds "$work/page.html" 'any(l["name"] == "<svg onload=x>" for l in d["lanes"])'
    holds "$json" 'len(d["kernels"]) == 2'
    ! LC_ALL=C grep -q "$(printf '\033')" "$work/page.html" || die "the page has control characters"
}
