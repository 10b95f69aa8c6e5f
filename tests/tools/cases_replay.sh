# Cases of recordings as devices, for command_test.sh.
# shellcheck shell=sh disable=SC2154 # it has the variables

make_file()
{
    "$build/tests/replay_make_file" "$1" "$2" || die "the file of the test was not made"
}

case_replay_devices_and_groups()
{
    make_file recording "$work/r"
    ZETA_REPLAY=$work/r
    export ZETA_REPLAY
    expect 0 zeta devices
    out_has "Taped GPU (recording) (replay)"
    out_has "stream: replay, tracer: replay"
    out_has "2 slices x 3 subslices x 4 EUs x 5 threads"
    expect 0 zeta groups
    out_has "Taped GPU (recording) (replay, replay0)"
    out_has "Taped  "
    out_has "250 us"
    expect 0 zeta plugin list
    out_has "A recording is selected, which is shown by the plugin replay."
    zeta doctor >"$out" 2>"$err" || true # without a loader's list it has more to say
    out_has "plugins.replay.file = $work/r (environment ZETA_REPLAY)"
}

# Rule 17.13.
case_replay_stat()
{
    make_file recording "$work/r"
    ZETA_REPLAY=$work/r
    export ZETA_REPLAY
    # Without --for: it ends with the recording. 2000 rows of 250 ticks.
    expect 0 zeta stat -a -g Taped --json="$json"
    holds "$json" 'd["groups"][0]["device_class"] == "replay"'
    holds "$json" 'd["groups"][0]["samples"] == 2000 and d["groups"][0]["lost"] == 0'
    holds "$json" 'metric("Taped", "Time")["total"] == 2000 * 250'
    holds "$json" 'metric("Taped", "Square")["total"] == 2000 * 2000'
    err_lacks "no report after the end"
    expect 0 zeta stat -a -g Taped --for 1s
    err_has "2000 samples, none lost"
}

# 97000 hits and 3100 misses; a mean of the rows that had an access says 48.5, of all rows 24.25.
# Rules 16.27, 20.8.
case_replay_ratio_is_of_all_counts()
{
    value='abs(m["value"] - 9700000 / 100100) < 1e-9 and m["min"] == 0 and abs(m["max"] - 97) < 1e-5'

    make_file cache "$work/r"
    ZETA_REPLAY=$work/r
    export ZETA_REPLAY
    expect 0 zeta stat -a -g Cache
    err_has "HitRate           96.90          0.00   97.00 percent"
    expect 0 zeta stat -a -g Cache --json="$json"
    holds "$json" '[m := metric("Cache", "HitRate")] and '"$value"' and m["total"] is None'
    holds "$json" 'metric("Cache", "HitsPerMs")["value"] == 97000 * 10**6 // (400 * 40000)'
    holds "$json" 'metric("Cache", "Hits")["value"] == metric("Cache", "Hits")["total"] == 97000'
    expect 0 zeta stat -a -g Cache -o "$work/stat.csv"
    grep -q ",HitRate,percent,ratio,exact,96.903096903096[0-9]*,0,97$" "$work/stat.csv" ||
        die "$(cat "$work/stat.csv")"
    expect 0 zeta record -a -g Cache -o "$work/again"
    for program in calc report; do
        expect 0 zeta $program --json="$json" "$work/again"
        holds "$json" '[m := metric("Cache", "HitRate")] and '"$value"
    done
    # A row without an access is empty, and one with a miss is 0.
    expect 0 zeta calc --csv "$work/again"
    out_has "1,0,40000,970,30,97,24250,"
    out_has "1,0,40000,0,0,,0,"
    out_has "1,0,40000,0,1,0,0,"
    expect 0 zeta report --html="$work/page.html" "$work/again"
    page_holds "$work/page.html" 'abs(metric("HitRate")["value"] - 9700000 / 100100) < 1e-9'
    page_holds "$work/page.html" '[l := metric("HitRate")["lines"][0]["value"]] and len(l) == 400'
    page_holds "$work/page.html" 'sum(v is False for v in metric("HitRate")["lines"][0]["value"]) == 200'
}

case_replay_file_of_intel_gpu_tools()
{
    make_file igt "$work/r"
    ZETA_REPLAY=$work/r
    export ZETA_REPLAY
    expect 0 zeta devices
    out_has "Intel Tiger Lake GT2 0x9a49 (recording)"
    expect 0 zeta stat -a -g RawCounters --json="$json"
    holds "$json" 'd["groups"][0]["samples"] == 2000'
    holds "$json" 'metric("RawCounters", "A35")["total"] == 2000 * 36000'
}

# Rule 1.13.
case_replay_bad_file_is_said()
{
    echo "This is a letter and no recording, although it is long enough for one." >"$work/r"
    ZETA_REPLAY=$work/r
    export ZETA_REPLAY
    expect 1 zeta stat -a --for 1s
    err_has "the recording $work/r cannot be replayed"
    err_has "plugins.vgpu.enable: always"
    expect 0 zeta plugin list
    out_has "failed"
    ZETA_PLUGIN_REPLAY_PACE=slow
    export ZETA_PLUGIN_REPLAY_PACE
    expect 0 zeta plugin list
    out_has 'pace is fast or recorded, not "slow"'
    unset ZETA_REPLAY ZETA_PLUGIN_REPLAY_PACE
    expect 0 zeta plugin list
    out_has "no device of: "
    expect 0 zeta plugin show replay
    out_has "plugins.replay.file (variable ZETA_REPLAY)"
    expect 0 zeta devices
    out_has "(software)"
}
