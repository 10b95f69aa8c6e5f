# Cases of zeta debug, for command_test.sh.
# shellcheck shell=sh disable=SC2154 # it has the variables

need_gdb()
{
    command -v gdb-multiarch >/dev/null || {
        echo "skipped: there is no gdb-multiarch"
        exit 77
    }
}

# The program's output is among GDB's.
case_debug_breakpoint_before_the_kernel()
{
    need_gdb
    cat >"$work/commands" <<'TEXT'
break vector_add
continue
info args
delete
continue
TEXT
    expect 0 zeta debug --batch -x "$work/commands" -- \
        sh -c 'exec "$1"' "it's one" "$bin/vector_add"
    out_has "Breakpoint 1 (vector_add) pending"
    out_has "hit Breakpoint 1"
    out_has "count = 100000"
    out_has "exited normally"
}

# Nobody is left when GDB is gone.
case_debug_quit_ends_the_program()
{
    need_gdb
    printf 'break vector_add\ncontinue\n' >"$work/commands"
    expect 0 zeta debug --batch -x "$work/commands" -d vgpu0 -- \
        sh -c 'echo "$$" >'"$work"'/pid; exec "$1"' sh "$bin/vector_add"
    out_has "hit Breakpoint 1"
    while kill -0 "$(cat "$work/pid")" 2>/dev/null; do sleep 0.01; done
}

case_debug_refusals()
{
    expect 127 zeta debug --gdb no-such-gdb -- true
    err_has "there is no no-such-gdb; install it"
    expect 2 zeta debug
    err_has "either a program after --, or --pid PID"
    expect 2 zeta debug --pid 1 -- true
    ZETA_PLUGINS_DISABLE="vgpu,intel-*,nvidia"
    export ZETA_PLUGINS_DISABLE
    expect 1 zeta debug -- true
    err_has "no device here can be debugged"
}
