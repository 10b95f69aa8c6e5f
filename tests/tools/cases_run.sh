# Cases of zeta run, for command_test.sh.
# shellcheck shell=sh disable=SC2154 # it has the variables

# The loader separates paths with commas and cannot take a blank.
# Rule 20.13.
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
    err_has "ZE_ENABLE_ALT_DRIVERS is '/other/driver.so'"
}

# Rule 20.13.
case_run_without_device()
{
    unset ZE_ENABLE_ALT_DRIVERS
    ZETA_PLUGINS_DISABLE="vgpu,intel-*,nvidia"
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

# Rule 20.1.
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

# Rule 20.14.
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

# Rule 20.14.
case_run_program_absent()
{
    expect 127 zeta run -- no-such-program-of-ours
    err_has "cannot run no-such-program-of-ours: no such program in PATH"
    expect 127 zeta run -- "$work/absent"
    echo data >"$work/data"
    expect 126 zeta run -- "$work/data"
    err_has "cannot run $work/data"
}

# Rule 20.13.
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
    grep -q "a comma or a blank" "$out" || grep -q "cannot find the loader" "$out" || die "the doctor sees nothing"
    [ ! -e "$work/ran" ] || die "the program ran"
}

# Rule 20.13.
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

# The description of the virtual GPU is used from where it is installed.
case_run_described_device()
{
    mkdir -p "$work/zeta/plugins.d"
    cp "$build/share/zeta/plugins.d/90-vgpu.yaml" "$work/zeta/plugins.d"
    cp -R "$build/share/zeta/plugins.d/vgpu" "$work/zeta/plugins.d"
    cp -R "$build/share/zeta/vgpu" "$work/zeta"
    sed -i 's/^name: .*/name: Described here/' "$work/zeta/vgpu/device.yaml"
    ZETA_PLUGIN_PATH=$work/zeta
    export ZETA_PLUGIN_PATH
    expect 0 zeta devices
    out_has "Described here (software)"
}
