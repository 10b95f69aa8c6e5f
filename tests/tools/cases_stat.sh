# Cases of zeta stat, for command_test.sh.
# shellcheck shell=sh disable=SC2154 # it has the variables

# Rule 20.5.
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
# Not the mean of rows, most of which have no access: what hits and misses of the same table say.
# Rule 20.8.
case_stat_ratio_is_that_of_its_counts()
{
    expect 0 zeta stat -g MemoryProfile -p 100us --json="$json" -- "$bin/matmul" 128
    for level in L1 L3; do
        rate='metric("MemoryProfile", "'$level'HitRate")'
        hits='metric("MemoryProfile", "'$level'Hits")["value"]'
        misses='metric("MemoryProfile", "'$level'Misses")["value"]'
        holds "$json" "$misses > 0 and $rate['total'] is None"
        holds "$json" "abs($rate['value'] - 100 * $hits / ($hits + $misses)) < 1e-9"
    done
}

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
    err_has "cannot sample ComputeBasic every 1 ns; it samples every"
    holds "$json" 'd["groups"][0]["period_ns"] > 1'
    expect 2 zeta stat -p 0ms -- true
    expect 2 zeta stat -p often -- true
    err_has "takes a positive number with a unit"
}

# Other processes on a virtual device of the same name do not show in the figures.
# Rule 20.4.
case_stat_fresh_instance()
{
    "$bin/matmul" 128 >/dev/null &
    other=$!
    expect 0 zeta stat -g ComputeBasic,ThreadDispatch "--json=$json" -- "$bin/matmul" 64
    wait "$other"
    "$python" "$source/examples/matmul_check.py" "$json" 64 >"$out" || die "formulas do not hold"
}

# And with --shared they do.
# Rule 20.4.
case_stat_shared()
{
    expect 0 zeta stat --shared -g ComputeBasic,ThreadDispatch "--json=$json" -- \
        sh -c "'$bin/matmul' 48 & wait"
    "$python" "$source/examples/matmul_check.py" "$json" 48 >"$out" || die "formulas do not hold"
    begin_to_watch "--json=$json"
    "$bin/matmul" 48 >/dev/null || die "matmul failed"
    end_watching
    holds "$json" 'metric("ComputeBasic", "FpOps")["total"] == 2 * 48**3'
}

# A shared instance that somebody samples already.
case_stat_held()
{
    begin_to_watch
    expect 1 zeta stat -a --for 100ms
    err_has "$watcher"
    end_watching
}

# Rule 20.6.
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
# Rule 1.21.
case_stat_streams_closed()
{
    expect 0 sh -c "'$bin/zeta' stat --json='$json' -- true <&- >&- 2>&-"
    holds "$json" 'd["exit_code"] == 0 and metric("ComputeBasic", "GpuTime") is not None'
    expect 3 sh -c "'$bin/zeta' stat -- sh -c '\"$bin/matmul\" 32; exit 3' >&-"
    err_has "ComputeBasic, domain 0"
    # The program finds closed what the command found closed.
    expect 1 sh -c "'$bin/zeta' stat -- sh -c 'cat <&0 || exit 1' <&-"
    expect 1 sh -c "'$bin/zeta' devices >&-"
    err_has "cannot write the standard output"
}

# Rule 20.6.
case_stat_exit_status()
{
    expect 3 zeta stat "--json=$json" -- sh -c 'exit 3'
    err_has "ComputeBasic, domain 0"
    holds "$json" 'd["exit_code"] == 3'
    expect 137 zeta stat -- sh -c 'kill -KILL $$'
    err_has "ComputeBasic, domain 0"
    expect 139 zeta stat -- sh -c 'kill -SEGV $$'
}

# Rule 20.6.
case_stat_program_absent()
{
    expect 127 zeta stat -- no-such-program-of-ours
    err_has "cannot run no-such-program-of-ours: no such program"
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
    expect 1 zeta stat -g KernelEvents -- touch "$work/ran"
    err_has "'zeta record -e KernelEvents' records them"
    [ ! -e "$work/ran" ] || die "the program ran"
}

# Rule 15.16.
case_stat_same_domain()
{
    expect 1 zeta stat -g ComputeBasic,MemoryProfile -- touch "$work/ran"
    err_has "cannot sample ComputeBasic and MemoryProfile together: both use the counters of domain 0"
    err_has "with --replay-passes"
    [ ! -e "$work/ran" ] || die "the program ran"
}

# The program runs once for each pass; the result is one, and what both groups count is equal.
# Rule 15.16.
case_stat_replay_passes()
{
    expect 0 zeta stat -g ComputeBasic,MemoryProfile,ThreadDispatch --replay-passes \
        "--json=$json" -- sh -c "echo ran >>'$work/runs'; '$bin/matmul' 64"
    err_has "in 2 passes"
    err_has "MemoryProfile, domain 0"
    [ "$(wc -l <"$work/runs")" -eq 2 ] || die "the program did not run twice"
    holds "$json" 'd["passes"] == 2 and len(d["groups"]) == 3'
    holds "$json" '(metric("ComputeBasic", "GlobalReadBytes")["total"] ==
        metric("MemoryProfile", "GlobalReadBytes")["total"] > 0)'
    holds "$json" 'metric("ThreadDispatch", "KernelsLaunched")["total"] == 1'
    expect 0 zeta stat -g ComputeBasic,MemoryProfile --replay-passes -o "$work/x.csv" -- \
        "$bin/matmul" 32
    grep -q '^ComputeBasic,' "$work/x.csv" || die "the CSV lacks the first pass"
    grep -q '^MemoryProfile,' "$work/x.csv" || die "the CSV lacks the second pass"
}

# Groups that go together take one pass, and a program that fails is not run again.
# Rule 15.16.
case_stat_replay_passes_end()
{
    expect 0 zeta stat -g ComputeBasic,ThreadDispatch --replay-passes "--json=$json" -- \
        sh -c "echo ran >>'$work/runs'"
    [ "$(wc -l <"$work/runs")" -eq 1 ] || die "the program ran again"
    expect 3 zeta stat -g ComputeBasic,MemoryProfile --replay-passes "--json=$json" -- \
        sh -c "echo ran >>'$work/runs'; exit 3"
    err_has "only 1 of 2 passes"
    [ "$(wc -l <"$work/runs")" -eq 2 ] || die "a program that failed ran again"
    holds "$json" 'len(d["groups"]) == 1'
    expect 2 zeta stat --replay-passes --ip -- true
    expect 2 zeta stat --replay-passes -a
    err_has "needs --for"
}

# Rule 1.22.
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
    err_has "cannot write all of /dev/full"
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
    begin_to_watch "--json=$json"
    end_watching INT
    cp "$work/stat" "$err"
    err_has "ComputeBasic, domain 0"
    holds "$json" 'd["interrupted"] and d["groups"][0]["samples"] > 0'
}

# Rule 20.7.
case_stat_interrupted()
{
    # shellcheck disable=SC2016 # the inner shell's
    expect 130 zeta stat "--json=$json" -- sh -c 'kill -INT $PPID; exec sleep 600'
    err_has "ComputeBasic, domain 0"
    holds "$json" 'd["interrupted"] and d["exit_code"] == 130'
}

# Who asks to end while nothing runs yet does not want the program any more.
case_stat_interrupted_before()
{
    # A profile waits for no report, so that nobody has looked at the signal by then.
    expect 130 "$python" -c '
import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
os.kill(os.getpid(), signal.SIGINT)
os.execv(sys.argv[1], sys.argv[1:])' "$bin/zeta" stat --ip -- touch "$work/ran"
    [ ! -e "$work/ran" ] || die "the program was run"
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
    err_has "ZE_ENABLE_ALT_DRIVERS is '/other/driver.so'"
}

# Rule 20.3.
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
# Rule 20.2.
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

case_stat_endless_kernel()
{
    expect 130 zeta stat "--json=$json" -- \
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

# True when lines can be told: built with libdw.
tells_lines()
{
    "$python" -c '
import json, sys
sys.exit(0 if json.load(open(sys.argv[1]))["profile"]["can_tell_lines"] else 1)' "$json"
}

# The inner loop of the matrix product has most samples, and they add up.
# Rule 20.11.
case_stat_ip()
{
    expect 0 zeta stat --ip "--json=$json" -- "$bin/matmul" 128
    out_has "128 x 128 matrices, result right"
    err_has "EuStallSampling, domain 9, each thread every 20.48 us of its modelled time"
    err_lacks "ComputeBasic"
    err_lacks "cannot sample"
    holds "$json" 'd["groups"] == [] and d["profile"]["lost"] == 0'
    holds "$json" '[k["name"] for k in d["profile"]["kernels"]] == ["matmul"]'
    holds "$json" 'sum(l["samples"] for l in d["profile"]["lines"]) == d["profile"]["samples"]'
    holds "$json" 'd["profile"]["samples"] == sum(n for k, n in d["profile"].items()
        if k == "Active" or k.endswith("Stall"))'
    holds "$json" 'd["profile"]["samples"] > 1000 and d["profile"]["SyncStall"] > 0'
    if tells_lines; then
        err_has "matmul.c:"
        err_has "sum += tile_a[y][k] * tile_b[k][x];"
        inner=$(grep -n "for (unsigned k\|sum += " "$source/examples/kernels/matmul.c" |
            cut -d: -f1 | tr '\n' ',')
        holds "$json" '(sum(l["samples"] for l in d["profile"]["lines"] if l["line"] in ['"$inner"'])
            > d["profile"]["samples"] * 0.6)'
    else
        err_has "without libdw"
    fi
}

# The same kernel from SPIR-V with debug information.
# Rule 20.11.
case_stat_ip_spirv()
{
    spirv=$build/share/zeta/kernels/matmul.spv
    if [ ! -f "$spirv" ] || [ ! -x "$build/libexec/zeta/zeta-vgpu-cc" ]; then
        return 0
    fi
    expect 0 zeta stat --ip "--json=$json" -- "$bin/matmul" --kernel "$spirv" 64
    if tells_lines; then
        inner=$(grep -n "for (int k\|sum += " "$source/examples/kernels/matmul.cl" |
            cut -d: -f1 | tr '\n' ',')
        holds "$json" '(sum(l["samples"] for l in d["profile"]["lines"] if l["line"] in ['"$inner"'])
            > d["profile"]["samples"] * 0.5)'
    fi
}

case_stat_ip_forms()
{
    expect 0 zeta stat --ip -o "$work/profile.csv" "--json=$json" -- "$bin/matmul" 64
    "$python" - "$work/profile.csv" "$json" >"$out" 2>"$err" <<'PYTHON' || die "the CSV is wrong"
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1])))
profile = json.load(open(sys.argv[2]))["profile"]
assert len(rows) == len(profile["lines"]) > 0
for row, line in zip(rows, profile["lines"]):
    assert row["kernel"] == line["kernel"] and row["file"] == (line["file"] or "")
    assert row["line"] == ("" if line["line"] is None else str(line["line"]))
    assert int(row["address"], 16) == line["address"]
    assert int(row["samples"]) == line["samples"]
    assert int(row["SbidStall"]) == line["SbidStall"]
assert abs(sum(float(row["percent"]) for row in rows) - 100) < 0.1
PYTHON
    # With groups beside it; these still see everything.
    expect 0 zeta stat --ip -g ComputeBasic,ThreadDispatch "--json=$json" -- "$bin/matmul" 64
    err_has "ComputeBasic, domain 0"
    err_has "EuStallSampling, domain 9"
    "$python" "$source/examples/matmul_check.py" "$json" 64 >"$out" || die "formulas do not hold"
    holds "$json" 'len(d["groups"]) == 2 and d["profile"]["samples"] > 0'
}

# A longer period: fewer samples of the same clocks.
case_stat_ip_period()
{
    expect 0 zeta stat --ip -p 10us "--json=$json" -- "$bin/matmul" 128
    cp "$json" "$work/often.json"
    expect 0 zeta stat --ip -p 80us "--json=$json" -- "$bin/matmul" 128
    "$python" - "$work/often.json" "$json" >"$out" 2>"$err" <<'PYTHON' || die "not in proportion"
import json, sys
often, seldom = (json.load(open(name))["profile"] for name in sys.argv[1:])
assert often["period_ns"] == 10240 and seldom["period_ns"] == 81920
assert 0.8 < often["samples"] / seldom["samples"] / 8 < 1.25
PYTHON
}

case_stat_ip_wrong()
{
    expect 2 zeta stat -g EuStallSampling -- true
    err_has "give --ip instead"
    expect 2 zeta stat --ip -g ComputeBasic -o "$work/x.csv" -- true
    err_has "name a .json file"
    expect 0 zeta stat --ip -- true
    err_has "No sample met a kernel"
}

# Images of modules go with the run, or stay in the folder that the user names.
# Rule 20.11.
case_stat_ip_folder()
{
    mkdir "$work/runtime" "$work/dump"
    chmod 700 "$work/runtime"
    expect 0 env "XDG_RUNTIME_DIR=$work/runtime" "$bin/zeta" stat --ip -- "$bin/matmul" 32
    # The file of the virtual device goes with the next process that wants one.
    [ -z "$(find "$work/runtime" -mindepth 1 ! -name 'zeta-vgpu-*')" ] || die "something is left"
    expect 0 env "ZETA_MODULE_DUMP=$work/dump" "$bin/zeta" stat --ip "--json=$json" -- \
        "$bin/matmul" 64
    [ -f "$work/dump/index" ] || die "no index in the folder"
    holds "$json" '[k["name"] for k in d["profile"]["kernels"]] == ["matmul"]'
    # A watcher finds there what it sees of others.
    export ZETA_MODULE_DUMP="$work/dump"
    begin_to_watch --ip "--json=$json"
    "$bin/matmul" 128 >/dev/null || die "matmul failed"
    end_watching
    holds "$json" '[k["name"] for k in d["profile"]["kernels"]] == ["matmul"]'
    # One that is told nothing says so.
    unset ZETA_MODULE_DUMP
    begin_to_watch --ip "--json=$json"
    "$bin/matmul" 128 >/dev/null || die "matmul failed"
    end_watching
    holds "$json" '[k["name"] for k in d["profile"]["kernels"]] == [None]'
}

# Rule 20.11.
case_stat_ip_processes()
{
    expect 0 zeta stat --ip "--json=$json" -- sh -c \
        "'$bin/matmul' 64 & '$bin/vector_add' & wait"
    holds "$json" '{"matmul", "vector_add"} >= {k["name"] for k in d["profile"]["kernels"]}'
    holds "$json" '"matmul" in [k["name"] for k in d["profile"]["kernels"]]'
    expect 130 zeta stat --ip "--json=$json" -- \
        "$build/tests/run_kernel" "$build/tests/kernels/endless.elf" endless
    holds "$json" 'd["interrupted"] and d["profile"]["kernels"][0]["name"] == "endless"'
}
