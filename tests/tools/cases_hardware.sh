# Cases of a machine with an Intel GPU, for command_test.sh: the emulated kernel shows it.
# shellcheck shell=sh disable=SC2154 # it has the variables

# on "OPTIONS of kmd-run" COMMAND...: with those GPUs alone, and nothing of Zeta ruled out.
on()
{
    options=$1
    shift
    # shellcheck disable=SC2086 # a list of words
    env -u ZETA_PLUGINS_DISABLE -u KMD_MACHINE -u LD_PRELOAD "$build/tests/kmd-run" $options -- "$@"
}

intel()
{
    on "--device tgl-gt2" "$@"
}

# One thing is said once, in the output and the messages together.
said_once()
{
    times=$(cat "$out" "$err" | grep -oF -- "$1" | wc -l)
    [ "$times" -eq 1 ] || die "'$1' is said $times times"
}

case_hardware_devices()
{
    expect 0 intel "$bin/zeta" devices
    out_has "0  Intel Tiger Lake GT2 (hardware)"
    out_has "stream: intel-gen12lp, query: intel-gen12lp"
    ! grep -q "debug:" "$out" || die "it says who debugs a device that nobody can debug"
    out_has "1 slice x 6 subslices x 16 EUs x 7 threads"
    out_has "timer 19.2 MHz"
    ! grep -q "^1 " "$out" || die "there is a second device"
    expect 0 intel "$bin/zeta" plugin list
    out_has "intel-gen12lp  active"
    out_has "ZETA_PLUGINS_SELECT=vgpu"
    expect 0 intel env ZETA_PLUGINS_SELECT=vgpu "$bin/zeta" devices "--json=$json"
    holds "$json" '[e["class"] for e in d["devices"]] == ["software"]'
    expect 0 intel env ZETA_PLUGINS_SELECT=vgpu "$bin/zeta" plugin list
    out_has "search.select does not name it"
    said_once "search.select"
    expect 0 intel env ZETA_PLUGIN_VGPU_ENABLE=always "$bin/zeta" devices "--json=$json"
    holds "$json" '[e["class"] for e in d["devices"]] == ["hardware", "software"]'
}

# Counters that come around decide how long periods may be; groups, stat and record say so.
# Rule 11.2.
case_hardware_long_period()
{
    expect 0 on "--device hsw-gt3" "$bin/zeta" groups "--json=$json"
    holds "$json" 'all(g["max_period_ns"] == 41943040 for g in d["groups"] if g["sampling"] == "time")'
    expect 0 on "--device hsw-gt3" "$bin/zeta" stat -a -p 3s --for 300ms "--json=$json"
    err_has "cannot sample ComputeBasic every 3 s; it samples every 41.943 ms"
    holds "$json" 'd["groups"][0]["period_ns"] == 41943040'
    holds "$json" 'metric("ComputeBasic", "EuActive")["max"] <= 100'
    expect 0 on "--device hsw-gt3" "$bin/zeta" record -a -p 3s --for 100ms -o "$work/long"
    err_has "cannot sample ComputeBasic every 3 s; it samples every 41.943 ms"
}

# Media units count with the clock of their own GT: where that is faster their counters come around
# sooner, and those of others do not.
case_hardware_media_clock()
{
    for mhz in 1950 3900; do
        # shellcheck disable=SC2016
        expect 0 on "--device lnl" sh -c '
            for name in max_freq rp0_freq; do
                echo "$1" >"$KMD_MACHINE/sys/class/drm/card0/device/tile0/gt1/freq0/$name"
            done
            shift
            "$@"' sh "$mhz" "$bin/zeta" groups "--json=$work/$mhz"
    done
    "$python" - "$work" <<'END' || die "the clock of the media GT is not that of its units"
import json, sys
def longest(mhz):
    groups = json.load(open(f"{sys.argv[1]}/{mhz}"))["groups"]
    return {g["name"]: g["max_period_ns"] for g in groups if g["sampling"] == "time"}
slow, fast = longest(1950), longest(3900)
assert abs(slow["MediaSet1"] - 2 * fast["MediaSet1"]) <= 2 and slow["TestOa"] == fast["TestOa"]
END
}

# One of several GPUs, and one tile of it, which counts as much as half of both.
case_hardware_tile()
{
    two="--device tgl-gt2 --device pvc"
    expect 0 on "$two" "$bin/zeta" devices
    out_has "1  Intel Ponte Vecchio (hardware)"
    out_has "2 tiles (1.0 to 1.1), 8 slices"
    for tile in 1.1 0000:04:00.0.1 "Intel Ponte Vecchio, tile 1"; do
        expect 0 on "$two" "$bin/zeta" stat -a --for 200ms -g TestOa -d "$tile" "--json=$json"
        holds "$json" 'd["groups"][0]["device_id"] == "0000:04:00.0.1"'
        holds "$json" 'd["groups"][0]["samples"] == metric("TestOa", "Counter8")["total"]'
    done
    expect 0 on "$two" "$bin/zeta" stat -a --for 200ms -g TestOa -d 1 "--json=$json"
    err_has " samples of 2 tiles added up, none lost"
    holds "$json" 'd["groups"][0]["tiles"] == 2'
    expect 0 on "$two" "$bin/zeta" groups -d 1.0
    out_has "Intel Ponte Vecchio, tile 0 (hardware, 0000:04:00.0.0)"
    expect 0 on "$two" "$bin/zeta" selftest --for 200ms -d 1.1 intel
    out_has "Intel Ponte Vecchio, tile 1 (hardware"
    out_has "1 device, 5 checks: 0 failed"
    # Of a recording too.
    expect 0 on "$two" "$bin/zeta" record -a --for 300ms -g TestOa -d 1 -o "$work/r"
    ZETA_REPLAY=$work/r
    export ZETA_REPLAY
    for device in replay0 replay0.0 replay0.1; do
        expect 0 zeta stat -a -g TestOa -d "$device" "--json=$work/$device"
        holds "$work/$device" "d['groups'][0]['device_id'] == '$device'"
    done
    "$python" - "$work/replay0" <<'END' || die "two tiles are not the whole"
import json, sys
both, *each = [json.load(open(sys.argv[1] + end))["groups"][0]["samples"] for end in ("", ".0", ".1")]
assert both == sum(each) and min(each) > 100
END
    unset ZETA_REPLAY
    for tile in 1.2 0.0 1.01 1. .1; do
        expect 1 on "$two" "$bin/zeta" groups -d "$tile"
        err_has "no device is called '$tile'; -d takes a number, an id or a name:"
        err_has "Intel Ponte Vecchio (hardware), tiles 1.0 to 1.1"
    done
}

case_hardware_groups()
{
    expect 0 intel "$bin/zeta" groups "--json=$json"
    holds "$json" '{"RenderBasic", "ComputeBasic", "TestOa"} <= {g["name"] for g in d["groups"]}'
    holds "$json" 'd["groups"][0]["sampling"] == "time"'
    holds "$json" 'all(m["description"] for g in d["groups"] for m in g["metrics"])'
    expect 0 intel "$bin/zeta" groups -v
    out_has "whole GPU"
    # Sets for single blocks and signals are there, too.
    expect 0 on "--device dg2-g11" "$bin/zeta" groups
    out_has " FrontEnd1 "
}

# The emulated GPU runs at its highest clock, 1300 MHz, and its OA unit at 19.2 MHz.
case_hardware_stat()
{
    expect 0 intel "$bin/zeta" stat -a --for 500ms "--json=$json"
    holds "$json" 'metric("ComputeBasic", "AvgGpuCoreFrequency")["value"] // 10**6 in (1299, 1300)'
    holds "$json" '0.4e9 < metric("ComputeBasic", "GpuTime")["total"] < 5e9'
    holds "$json" 'd["groups"][0]["device_class"] == "hardware" and d["groups"][0]["lost"] == 0'
    # Half and a third of the clock: B counters of the set TestOa.
    expect 0 intel "$bin/zeta" stat -a -g TestOa --for 500ms "--json=$json"
    holds "$json" 'abs(metric("TestOa", "Counter3")["value"] / metric("TestOa", "Counter2")["value"] - 0.5) < 0.01'
    # A program is run as it is: its driver is nobody's business.
    expect 3 intel "$bin/zeta" stat "--json=$json" -- sh -c 'echo "${ZE_ENABLE_ALT_DRIVERS-none}"; exit 3'
    out_has "none"
    holds "$json" 'metric("ComputeBasic", "GpuTime")["total"] > 0'
}

# What was recorded is there again in a report, as a device, and without plugins.
# Rule 26.14.
case_hardware_record()
{
    expect 0 intel "$bin/zeta" record -a --for 300ms -g RenderBasic -p 2ms -o "$work/r"
    expect 0 zeta report "--json=$json" "$work/r"
    cp "$json" "$work/wanted.json"
    holds "$json" 'd["groups"][0]["samples"] > 50'
    holds "$json" 'metric("RenderBasic", "VsThreads")["total"] > 0'
    expect 0 zeta calc "--json=$work/calculated.json" "$work/r"
    ZETA_REPLAY=$work/r
    export ZETA_REPLAY
    expect 0 zeta devices
    out_has "Intel Tiger Lake GT2 (recording)"
    expect 0 zeta stat -a -g RenderBasic "--json=$work/replayed.json"
    "$python" "$source/tests/tools/same_values.py" RenderBasic "$work/wanted.json" \
        "$work/calculated.json" "$work/replayed.json" >"$out" || die "values differ"
}

case_hardware_selftest()
{
    expect 0 intel "$bin/zeta" selftest --for 300ms intel
    out_has "Intel Tiger Lake GT2 (hardware"
    grep -q "ok *clock .*19.2000 MHz" "$out" || die "the clock is not right"
    grep -q "ok *TestOa " "$out" || die "TestOa is not checked"
    # Counter0 to Counter8 but for the one that others are measured by; Counter9 is of queries.
    out_has "8 counters have the expected proportions"
    out_has " 0 failed"
    # Another device is no help to who tests this one.
    expect 1 on "--device tgl-gt2 --paranoid --unprivileged" "$bin/zeta" selftest --for 300ms intel
    err_has "perf_stream_paranoid=0"
    err_lacks "ZETA_PLUGINS_SELECT"
}

# Rules 26.12, 26.37.
case_hardware_doctor()
{
    on "--device tgl-gt2" "$bin/zeta" doctor -- "$bin/matmul" >"$out" 2>"$err" || true
    out_has "intel-gen12lp: active"
    out_has "Intel Tiger Lake GT2 (hardware), id 0000:00:02.0, compute by none, can be sampled"
    out_has "ZETA_PLUGINS_SELECT=vgpu"
    out_has "0  Intel Tiger Lake GT2 (0000:00:02.0) cannot be debugged: its driver i915 of Linux"
    # A GPU without its compute driver is no fault of anybody's.
    expect 0 intel env -u ZE_ENABLE_ALT_DRIVERS "$bin/zeta" doctor
    out_has "note: Zeta measures the devices of this machine, but runs no kernels on them"
}

case_hardware_examples()
{
    expect 0 intel "$bin/list_metrics"
    out_has "RenderBasic"
    expect 0 intel "$bin/stream"
    out_has "The device runs no kernels here"
    out_has "GpuTime"
    expect 0 intel "$bin/newer_functions"
    for example in matmul query markers tracer programmable vector_add trace_api; do
        expect 1 intel "$bin/$example"
        err_has "Intel Tiger Lake GT2 can be measured but runs no kernels here"
        err_has "set ZETA_PLUGINS_SELECT=vgpu"
        [ "$(wc -l <"$err")" -eq 1 ] || die "more than a sentence"
    done
    expect 0 intel env ZETA_PLUGINS_SELECT=vgpu "$bin/matmul" 32
    out_has "result right"
    expect 0 intel env ZETA_PLUGIN_VGPU_ENABLE=always "$bin/matmul" 32
    out_has "result right"
}

# Rule 26.12.
case_hardware_not_permitted()
{
    expect 1 on "--device tgl-gt2 --paranoid --unprivileged" "$bin/zeta" stat -a --for 1s
    err_has "sudo sysctl dev.i915.perf_stream_paranoid=0"
    err_has "set ZETA_PLUGINS_SELECT=vgpu to use a software device instead"
    said_once "perf_stream_paranoid=0"
    expect 1 on "--device tgl-gt2 --paranoid --unprivileged" "$bin/zeta" doctor
    out_has "PROBLEM: Intel Tiger Lake GT2 cannot be sampled"
    said_once "perf_stream_paranoid=0"
    expect 0 on "--device tgl-gt2 --paranoid --unprivileged" "$bin/zeta" plugin list
    said_once "perf_stream_paranoid=0"
    expect 0 on "--device tgl-gt2 --paranoid" "$bin/zeta" stat -a --for 300ms
}

# Before Linux 5.8 there was no CAP_PERFMON.
case_hardware_not_permitted_by_an_old_kernel()
{
    for last in 37 38; do
        # shellcheck disable=SC2016 # the variable of the emulated machine
        expect 1 on "--device tgl-gt2 --unprivileged" sh -c '
            echo 2 >/proc/sys/dev/i915/perf_stream_paranoid
            mkdir "$KMD_MACHINE"/proc/sys/kernel
            echo "$0" >"$KMD_MACHINE"/proc/sys/kernel/cap_last_cap
            exec "$1" stat -a --for 100ms' "$last" "$bin/zeta"
        err_has "the sysctl dev.i915.perf_stream_paranoid is 2, so that it takes the capability cap_"
        [ "$last" -eq 38 ] || err_has "sudo setcap cap_sys_admin=ep '$bin/zeta'"
        [ "$last" -eq 37 ] || err_has "sudo setcap cap_perfmon=ep '$bin/zeta'"
    done
}

# Rule 26.13.
case_hardware_node_forbidden()
{
    expect 1 on "--device tgl-gt2 --forbidden" "$bin/zeta" devices
    err_has "usermod -aG"
    expect 0 on "--device tgl-gt2 --forbidden" "$bin/zeta" plugin list
    out_has "intel-gen12lp  failed"
    said_once "no permission to open the device node"
    expect 1 on "--device tgl-gt2 --forbidden" "$bin/zeta" doctor
    out_has "PROBLEM: plugin intel-gen12lp does not work: "
    out_has "ZETA_PLUGINS_SELECT=vgpu"
    expect 1 on "--device tgl-gt2 --forbidden" "$bin/zeta" stat -a --for 1s
    err_has "ZETA_PLUGINS_SELECT=vgpu"
}

# Rule 26.13.
case_hardware_guest_without_oa()
{
    expect 0 on "--device tgl-gt2 --no-oa" "$bin/zeta" plugin list
    out_has "sample on the host"
    said_once "no OA unit for this GPU"
    expect 1 on "--device tgl-gt2 --no-oa" "$bin/zeta" stat -a --for 1s
    err_has "ZETA_PLUGINS_SELECT=vgpu"
}

# Lunar Lake is counted by xe alone.
# Rule 26.13.
case_hardware_other_driver()
{
    expect 0 on "--device lnl:i915" "$bin/zeta" plugin list
    out_has "intel-xe2"
    out_has "force_probe"
    said_once "does not count on"
}

# No kernel driver has it, so it has no node either.
case_hardware_without_driver()
{
    # shellcheck disable=SC2016 # the variable of the emulated machine
    without='rm "$KMD_MACHINE"/dev/dri/* "$KMD_MACHINE"/sys/bus/pci/devices/0000:03:00.0/driver; "$@"'
    expect 1 on "--device bmg:xe" sh -c "$without" sh "$bin/zeta" devices
    said_once "Intel Battlemage (0000:03:00.0) has no kernel driver"
    err_has "sudo modprobe xe"
    err_has "ZETA_PLUGINS_SELECT=vgpu"
    expect 1 on "--device bmg:xe" sh -c "$without" sh "$bin/zeta" doctor
    said_once "Intel Battlemage (0000:03:00.0) has no kernel driver"
}

# A GPU that no manifest knows is not Zeta's hardware: the virtual GPU stays.
case_hardware_unknown()
{
    expect 0 on "--device tgl-gt2 --pci ffee" "$bin/zeta" devices
    out_has "(software)"
    err_has "plugin intel-unknown does not work (failed): No manifest names the PCI device 0x8086:0xffee at 0000:00:02.0."
    err_has "Look for a newer Zeta"
    said_once "0xffee"
    expect 0 on "--device tgl-gt2 --pci ffee" "$bin/zeta" plugin list
    out_has "No manifest names the PCI device 0x8086:0xffee at 0000:00:02.0. Zeta does not know"
    expect 1 on "--device tgl-gt2 --pci ffee" "$bin/zeta" doctor
    out_has "plugin intel-unknown does not work: No manifest names the PCI device 0x8086:0xffee"
    expect 0 on "--device tgl-gt2 --pci ffee" env ZETA_PLUGINS_DISABLE=intel-unknown \
        "$bin/zeta" devices
    err_lacks "ffee"
    expect 0 intel "$bin/zeta" plugin check "$build/share/zeta/plugins.d/25-intel-unknown.yaml"
    out_has "speaks of devices that no other one names"
    expect 0 on "--device tgl-gt2 --pci ffee" "$bin/zeta" plugin show intel-gen12lp
    out_has "state     no device: "
    expect 0 on "--device tgl-gt2 --pci ffee" "$bin/matmul" 32
}

# A GPU for which nobody published sets is a device with a clock, and that is said.
# Rule 26.32.
case_hardware_no_sets()
{
    for gpu in d740:"Nova Lake" 6750:"Crescent Island"; do
        device="--device ptl --pci ${gpu%%:*}"
        expect 0 on "$device" "$bin/zeta" devices
        out_has "0  Intel ${gpu#*:} (hardware)"
        out_has "timer 19.2 MHz with 56 bits"
        ! grep -q threads "$out" || die "threads are told that nobody knows"
        expect 0 on "$device" "$bin/zeta" plugin list
        out_has "No metric sets were published for Intel ${gpu#*:} (0000:00:02.0)"
        on "$device" "$bin/zeta" doctor >"$out" 2>"$err" || true
        out_has "No metric sets were published"
        expect 0 on "$device" "$bin/zeta" groups
        out_has "It has no metric groups; 'zeta doctor' shows why."
        expect 1 on "$device" "$bin/zeta" stat -a --for 100ms
        err_has "Intel ${gpu#*:} has no metric groups; 'zeta doctor' shows why"
    done
}

# Of two GPUs one cannot be used: it is named, and the other one works.
case_hardware_one_of_two()
{
    expect 0 on "--device dg2-g10 --device lnl:i915" "$bin/zeta" devices
    out_has "Intel Alchemist G10 (hardware)"
    err_has "plugin intel-xe2 does not work (failed): Intel Lunar Lake"
    said_once "Lunar Lake (0000"
    expect 0 on "--device dg2-g10 --device lnl:i915" "$bin/zeta" stat -a --for 300ms
    err_lacks "Lunar Lake"
}

# Two processes want one unit: the second is told who has it.
# Rule 26.12.
case_hardware_busy()
{
    # A stream of the emulated kernel is a file of the machine.
    # shellcheck disable=SC2016 # the inner shell's
    expect 0 intel sh -c '
        "$0" stat -a 2>"$1" & holder=$!
        until ls "$KMD_MACHINE"/streams/* >"$3" 2>&1; do
            kill -0 "$holder" || exit 1
            sleep 0.1
        done
        "$0" stat -a --for 1s 2>"$2"; echo "status $?, holder $holder"
        "$0" doctor >"$3" 2>&1
        kill -TERM "$holder"; wait "$holder"; true' \
        "$bin/zeta" "$work/first" "$work/second" "$work/doctor"
    out_has "status 1,"
    holder=$(sed 's/.*holder //' "$out")
    cp "$work/second" "$err"
    err_has "$holder"
    err_has "ZETA_PLUGINS_SELECT=vgpu"
    grep -q "note: Intel Tiger Lake GT2 cannot be sampled now: .*$holder" "$work/doctor" ||
        die "the doctor does not say who samples"
}

# A kernel that answers every read with an error ends a run that would last for an hour.
case_hardware_lasting_error()
{
    for device in tgl-gt2 bmg; do
        expect 1 on "--device $device --fault read-errno=0x10005@300" \
            "$bin/zeta" stat -a --for 3600s -g TestOa "--json=$json"
        err_has "cannot read TestOa: "
        err_has "EIO"
        holds "$json" 'd["groups"][0]["samples"] > 100 and d["groups"][0]["lost"] > 0'
    done
}

# A run of a certain time waits for no report that comes more than a period later, and a second: of the first
# 5.75 s two reports at most make a row.
case_hardware_end_of_a_long_period()
{
    expect 0 on "--device bmg" "$bin/zeta" stat -a --for 3s -p 1500ms -g TestOa "--json=$json"
    holds "$json" 'd["groups"][0]["period_ns"] == 1747626667'
    holds "$json" '1 <= d["groups"][0]["samples"] <= 2'
}

# What a GPU does while it is sampled: what is lost is told, and what ends it.
# Rule 20.9.
case_hardware_faults()
{
    for device in tgl-gt2 bmg; do
        expect 0 on "--device $device --fault lose-reports=30@300 --end 300" \
            "$bin/zeta" stat -a -g TestOa "--json=$json"
        err_has "samples, 30 reports lost (26.453 ms, in no figure below)"
        holds "$json" 'd["groups"][0]["lost"] == 30 and d["groups"][0]["breaks"] == 1'
        holds "$json" 'abs(d["groups"][0]["lost_time_ns"] - 31 * 853333) < 31'
        for fault in lose-buffer reset; do
            rm -f "$work/r"
            expect 0 on "--device $device --fault $fault@300 --end 300" \
                "$bin/zeta" record -a -g TestOa -o "$work/r"
            # The same figures and words, whoever tells them.
            losses=$(sed -n 's/^  TestOa .* samples, \(.* lost\).*/\1/p' "$err")
            case $losses in
            *" lost") ;;
            *) die "record does not say what was lost" ;;
            esac
            expect 0 zeta report "--html=$work/page" "--json=$json" "$work/r"
            grep -q "samples, $losses" "$work/page" || grep -q "\"losses\":\"$losses" "$work/page" ||
                die "the page says something else"
            grep -q '"lost":[1-9][0-9]*,"breaks":[1-9]' "$work/page" || die "the page lacks figures"
            holds "$json" 'd["groups"][0]["lost"] > 0 and d["groups"][0]["breaks"] > 0'
            expect 0 zeta report "$work/r"
            out_has "samples, $losses"
            expect 0 zeta calc "$work/r"
            out_has "samples, $losses"
            expect 0 on "--device $device --fault $fault@300 --end 300" \
                "$bin/zeta" stat -a -g TestOa "--json=$json" -o "$work/x.csv"
            holds "$json" 'd["groups"][0]["lost"] > 0 and d["groups"][0]["breaks"] > 0'
            "$python" - "$work/x.csv" <<'END' || die "the CSV says that nothing is missing"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert rows and all(int(r["lost"]) > 0 and int(r["breaks"]) > 0 for r in rows)
END
        done
        expect 1 on "--device $device --fault unplug@300" "$bin/zeta" stat -a -g TestOa
        err_has "cannot read TestOa: Intel "
        err_has "ENODEV"
        err_has "TestOa, domain 0"
        expect 1 on "--device $device --fault unplug@300" "$bin/zeta" selftest --for 60s intel
        err_has "ENODEV"
        out_has "FAILED  TestOa"
    done
    expect 1 on "--device tgl-gt2 --fault reset@300" "$bin/zeta" selftest --for 3s intel
    out_has ", at least 1 report lost"
}

# What a record counts are samples, however they are shown.
# Rule 20.10.
case_hardware_stall_samples()
{
    rm -f "$work/r"
    expect 0 on "--device bmg" "$bin/zeta" record -a -g EuStallSampling --for 100ms -o "$work/r"
    samples=$(sed -n 's/^  EuStallSampling *\([0-9]*\) samples.*/\1/p' "$err")
    [ "${samples:-0}" -gt 0 ] || die "nothing was sampled"
    expect 0 zeta report "--json=$json" "$work/r"
    holds "$json" "d['profile']['samples'] == $samples > d['profile']['records'] > 0"
    expect 0 zeta calc "--json=$json" "$work/r"
    holds "$json" "d['groups'][0]['samples'] == $samples"
    expect 0 zeta report "$work/r"
    out_has ": $samples samples, none lost"
}

# It sleeps, which is no fault of anybody's.
case_hardware_asleep()
{
    expect 0 on "--device tgl-gt2 --fault idle" "$bin/zeta" selftest --for 100ms intel
    out_has "no report came in 1.1 s"
    out_has "-       query                  the GPU sleeps: no report came between begin and end"
    out_has "0 failed, 2 not possible"
    expect 1 on "--device bmg --fault idle" "$bin/zeta" stat -a --for 100ms
    err_has "gave no report, so the program was not run. A sleeping GPU gives none"
}

# EACCES where the sysctl allows all, and EPERM, are of somebody else.
case_hardware_forbidden_by_others()
{
    for device in tgl-gt2 bmg; do
        expect 1 on "--device $device --fault open-errno=1" "$bin/zeta" stat -a --for 100ms
        err_has "with EPERM (Operation not permitted): the sysctl dev."
        err_has "is 0, so that everybody may sample; something else forbids it"
        err_lacks "sudo sysctl"
    done
}

case_hardware_nodes_unlisted()
{
    # shellcheck disable=SC2016 # the variable of the emulated machine
    without='rm -r "$KMD_MACHINE"/dev/dri; : >"$KMD_MACHINE"/dev/dri; "$@"'
    expect 1 on "--device bmg:xe" sh -c "$without" sh "$bin/zeta" devices
    said_once "the GPUs in /dev/dri cannot be listed: ENOTDIR"
}

# Nothing tells the highest clock: no figure of it, and no test against it.
case_hardware_clock_unknown()
{
    # shellcheck disable=SC2016
    without='rm -r "$KMD_MACHINE"/sys/class/drm/card*/device/tile0 2>/dev/null
        rm -f "$KMD_MACHINE"/sys/class/drm/card0/gt_max_freq_mhz \
            "$KMD_MACHINE"/sys/class/drm/card0/gt/gt0/rps_max_freq_mhz
        "$@"'
    for device in tgl-gt2 bmg; do
        expect 0 on "--device $device" sh -c "$without" sh "$bin/zeta" devices
        out_has "core unknown, timer 19.2 MHz"
        expect 0 on "--device $device" sh -c "$without" sh "$bin/zeta" selftest --for 100ms intel
        out_has "MHz on average; its maximum is unknown"
    done
}
