# Cases of zeta doctor, for command_test.sh.
# shellcheck shell=sh disable=SC2154 # it has the variables

# Whether everything is in order but, in a build without it, the compiler.
only_compiler='all("SPIR-V" in f["what"] for f in d["findings"] if f["problem"])'

# Rule 20.15.
case_doctor_in_order()
{
    # A variable of the tests, which the doctor would rightly call unknown.
    unset ZETA_SHARED
    ZE_ENABLE_ALT_DRIVERS=$build/lib/libzeta.so
    export ZE_ENABLE_ALT_DRIVERS
    status=0
    zeta doctor "--json=$json" -- "$bin/matmul" >"$out" 2>"$err" || status=$?
    holds "$json" 'd["schema"] == "zeta.doctor/1" and d["ok"] == ('"$status"' == 0)'
    holds "$json" "$only_compiler"
    holds "$json" 'any(s["name"] == "plugins.replay.pace" for s in d["settings"])'
    grep -q "plugins.replay.pace" "$out" && die "a default is shown as if it had been set"
    holds "$json" 'd["program"]["link"].startswith("linked to libzeta")'
    holds "$json" 'd["libzeta"]["devices"] == ["Zeta Virtual GPU"]'
    holds "$json" 'd["libzeta"]["zeta_version"] == d["libzeta"]["command_version"]'
    holds "$json" 'd["drivers"][0]["outcome"] == "works"'
    holds "$json" 'any(p["id"] == "vgpu" and p["state"] == "active" for p in d["plugins"])'
    holds "$json" 'd["devices"][0]["compute"] == "vgpu"'
    holds "$json" 'any(v["variable"].startswith("ZE_ENABLE_ALT_DRIVERS=") for v in d["variables"])'
    if [ -x "$build/libexec/zeta/zeta-vgpu-cc" ]; then
        [ "$status" -eq 0 ] || die "something is wrong"
        holds "$json" '[(c["plugin"], c["works"]) for c in d["compilers"]] == [("vgpu", True)]'
        expect 0 zeta doctor -v
        out_has "Nothing is wrong."
    else
        zeta doctor -v >"$out" || true
    fi
    out_has "log.level = "
    out_has "the loader opens these drivers"
}

# Rule 20.17.
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

# Rule 20.16.
case_doctor_broken_driver()
{
    driver=$build/tests/libze_broken.so
    ZE_ENABLE_ALT_DRIVERS="$driver, $driver,/no/such/driver.so,$build/lib/libzeta.so"
    BROKEN_DRIVER=crash
    export ZE_ENABLE_ALT_DRIVERS BROKEN_DRIVER
    expect 1 zeta doctor
    out_has "it crashes (Aborted) at this step: zeInit"
    out_has "with a blank"
    out_has "cannot use driver /no/such/driver.so"
    # As below a parent that does not care about its children.
    expect 1 "$python" -c '
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])' "$bin/zeta" doctor
    out_has "it crashes (Aborted) at this step: zeInit"
    ZE_ENABLE_ALT_DRIVERS=$driver
    BROKEN_DRIVER=hang
    expect 1 zeta doctor --wait 1s
    out_has "it does not return within 1 s from this step: zeInit"
    out_has "does not name libzeta"
    BROKEN_DRIVER=error
    expect 1 zeta doctor
    out_has "does not start: zeInit returns 0x70000001"
}

# Rules 1.9, 20.16.
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
    # Commands tell it themselves, unless somebody wants the library to do so.
    expect 0 zeta devices
    err_has "plugin faulty does not work"
    [ "$(grep -c faulty "$err")" -eq 1 ] || die "it is told twice"
    echo 'log: {plugins: warn}' >"$work/zeta.yaml"
    ZETA_CONFIG=$work/zeta.yaml
    export ZETA_CONFIG
    expect 0 zeta devices
    [ "$(grep -c faulty "$err")" -eq 2 ] || die "log.plugins of the file is not heeded"
    expect 1 zeta doctor
    out_has "log.plugins = warn ($work/zeta.yaml:1)"
    ZETA_LOG_PLUGINS=info
    export ZETA_LOG_PLUGINS
    expect 0 zeta devices
    [ "$(grep -c faulty "$err")" -eq 1 ] || die "ZETA_LOG_PLUGINS is not heeded"
}

# Rule 20.16.
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
    out_has "PROBLEM: cannot use libzeta: "
    out_has "at this step: zeInit"
    out_has "zeta plugin check"
}

# Rule 20.15.
case_doctor_no_device()
{
    ZETA_PLUGINS_DISABLE="vgpu,intel-*,nvidia"
    export ZETA_PLUGINS_DISABLE
    expect 1 zeta doctor
    out_has "Zeta found no device; plugin "
    ZETA_PLUGIN_PATH=$work
    export ZETA_PLUGIN_PATH
    expect 1 zeta doctor
    out_has "Zeta found no plugin"
}

# Rule 20.17.
case_doctor_program()
{
    expect 1 zeta doctor -- no-such-program-of-ours
    out_has "cannot find program no-such-program-of-ours"
    printf '#!/bin/sh\n' >"$work/script"
    printf 'data' >"$work/data"
    chmod +x "$work/script" "$work/data"
    zeta doctor -- "$work/script" --json >"$out" || true
    out_has "a script: what it starts decides"
    expect 1 zeta doctor -- "$work/data"
    out_has "no 64-bit program for this machine"
    expect 2 zeta doctor --frobnicate
    expect 2 zeta doctor --wait soon
}

# Rule 20.15.
case_doctor_compiler()
{
    ZETA_PLUGIN_VGPU_COMPILER=/bin/false
    export ZETA_PLUGIN_VGPU_COMPILER
    expect 1 zeta doctor
    out_has "PROBLEM: cannot compile modules from SPIR-V: it does not compile an empty kernel"
    ZETA_PLUGIN_VGPU_COMPILER=$work/absent
    expect 1 zeta doctor
    out_has "cannot find program $work/absent"
    out_has "try: install the package zeta-vgpu-cc"
}

# Rule 20.15.
case_doctor_place()
{
    XDG_RUNTIME_DIR=$work
    export XDG_RUNTIME_DIR
    chmod 700 "$work"
    zeta doctor "--json=$json" || true
    holds "$json" 'd["sharing"]["origin"] == "XDG_RUNTIME_DIR" and d["sharing"]["free_bytes"] > 0'
    chmod 777 "$work"
    zeta doctor "--json=$json" || true
    holds "$json" 'd["sharing"]["path"].startswith("/dev/shm/zeta-vgpu-") and "others can write" in d["sharing"]["origin"]'
    ZETA_NONSENSE=1 zeta doctor >"$out" || true
    out_has "note: ZETA_NONSENSE is no variable of Zeta"
}

# Rule 20.18. The scripted devices have a process 7777.
case_doctor_debugging()
{
    ZETA_PLUGIN_PATH=$build/tests/harness/tree/debugged
    export ZETA_PLUGIN_PATH
    mkdir "$work/path"
    PATH=$work/path:$PATH
    printf '#!/bin/sh\necho "GNU gdb (ours) 13.1"\necho more\n' >"$work/path/gdb-multiarch"
    chmod +x "$work/path/gdb-multiarch"
    unset ZET_ENABLE_PROGRAM_DEBUGGING
    zeta doctor >"$out" 2>"$err" || true
    out_has "debug0: programs can be debugged"
    out_has "2  debug2 has no threads that stop"
    out_has "let no debugger attach, because ZET_ENABLE_PROGRAM_DEBUGGING is not 1"
    out_has "$work/path/gdb-multiarch: GNU gdb (ours) 13.1"
    zeta doctor "--json=$json" || true
    holds "$json" '[e["can_be_debugged"] for e in d["debugging"]["devices"]] == [True, True, False, True]'
    holds "$json" '"no threads that stop" in d["debugging"]["devices"][2]["error"]'
    holds "$json" 'not d["debugging"]["enabled"] and "pid" not in d["debugging"]'
    holds "$json" 'd["debugging"]["gdb"]["version"] == "GNU gdb (ours) 13.1"'
    expect 0 zeta devices
    [ "$(grep -c "debug: fake-debug" "$out")" -eq 3 ] || die "debug2 is said to be debugged"
    for value in 1 0x1; do
        ZET_ENABLE_PROGRAM_DEBUGGING=$value zeta doctor >"$out" 2>"$err" || true
        out_has "programs that are started from here let debuggers attach"
    done
    ZET_ENABLE_PROGRAM_DEBUGGING=0 zeta doctor >"$out" 2>"$err" || true
    out_has "let no debugger attach"
    # A gdb that does not work.
    printf '#!/bin/sh\nexit 1\n' >"$work/path/gdb-multiarch"
    zeta doctor >"$out" 2>"$err" || true
    out_has "gdb-multiarch: does not tell its version"
}

# Rule 20.18.
case_doctor_process()
{
    ZETA_PLUGIN_PATH=$build/tests/harness/tree/debugged
    export ZETA_PLUGIN_PATH
    zeta doctor --pid 7777 >"$out" 2>"$err" || true
    out_has "debug0: process 7777 can be debugged"
    ! grep -q "cannot attach to process" "$out" || die "it can be attached to, and a problem is told"
    zeta doctor --pid 7777 "--json=$json" || true
    holds "$json" '[e.get("can_attach") for e in d["debugging"]["devices"]] == [True, True, None, True]'
    holds "$json" 'd["debugging"]["pid"] == 7777'
    expect 1 zeta doctor --pid 7778
    out_has "PROBLEM: a debugger cannot attach to process 7778"
    zeta doctor --pid 7778 "--json=$json" || true
    holds "$json" '"process_error" in d["debugging"]["devices"][0] and not d["ok"]'
    expect 1 zeta doctor --pid 0
    out_has "pid 0 cannot be debugged from here"
    expect 2 zeta doctor --pid me
}

# Rule 20.18.
case_doctor_core_dumps()
{
    zeta doctor >"$out" 2>"$err" || true
    out_has "leave no core dumps, because ZETA_PLUGIN_VGPU_CORE_DIR names no folder"
    ZETA_PLUGIN_VGPU_CORE_DIR=$work
    export ZETA_PLUGIN_VGPU_CORE_DIR
    zeta doctor "--json=$json" >"$out" 2>"$err" || true
    zeta doctor >"$out" 2>"$err" || true
    out_has "kernels that fault leave core dumps in $work"
    holds "$json" 'd["debugging"]["core_dir"] and "core_error" not in d["debugging"]'
    ZETA_PLUGIN_VGPU_CORE_DIR=$work/none
    expect 1 zeta doctor
    out_has "PROBLEM: core dumps of kernels cannot be written to $work/none: No such file"
}

# Rule 20.18. On the virtual GPU, of a program that lets debuggers attach, and of one that does not.
case_doctor_process_of_the_virtual_gpu()
{
    mkfifo "$work/to" "$work/from"
    for value in 1 0; do
        ZET_ENABLE_PROGRAM_DEBUGGING=$value "$bin/debug_attach" --program <"$work/to" >"$work/from" &
        program=$!
        exec 3>"$work/to" 4<"$work/from"
        # It has initialised the library once it writes.
        head -c 8 <&4 >"$work/address"
        zeta doctor --pid "$program" "--json=$work/json.$value" || true
        exec 3>&- 4<&-
        wait "$program" || true
    done
    holds "$work/json.1" 'd["debugging"]["devices"][0]["can_attach"]'
    holds "$work/json.0" '"ZET_ENABLE_PROGRAM_DEBUGGING=1" in d["debugging"]["devices"][0]["process_error"]'
}
