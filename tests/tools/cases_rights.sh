# zeta as it is installed, with a capability, run by another user. Needs root to give both.
# shellcheck shell=sh disable=SC2154 # variables of command_test.sh

absent()
{
    echo "skipped: $*"
    exit 77
}

# as_user VARIABLE=VALUE... COMMAND...
as_user()
{
    setpriv --reuid=65534 --regid=65534 --clear-groups env -i PATH=/usr/bin:/bin "$@"
}

# Installs zeta into $place; the one with the capability is there.
install_with_capability()
{
    place=$work/place
    [ "$(id -u)" -eq 0 ] || absent "only root gives capabilities and becomes another user"
    for tool in setcap setpriv; do
        command -v "$tool" >/dev/null || absent "there is no $tool"
    done
    chmod 755 "$work"
    expect 0 cmake --install "$build" --prefix "$place"
    as_user "$place/bin/zeta" --version >"$out" 2>"$err" ||
        absent "another user cannot run what is in $work"
    setcap cap_perfmon=ep "$place/bin/zeta" 2>"$err" || absent "setcap: $(cat "$err")"
    as_user "$place/bin/zeta" --version >"$out" 2>"$err" ||
        ! grep -q "Operation not permitted" "$err" ||
        absent "the kernel starts no program with CAP_PERFMON here"
    # Places of root only, for what is loaded into a program with rights.
    folder=$work
    while [ "$folder" != / ]; do
        [ "$(stat -c %u "$folder")" -eq 0 ] || absent "$folder does not belong to root"
        folder=$(dirname "$folder")
    done
}

case_rights_installed()
{
    install_with_capability
    expect 0 as_user ZETA_PLUGIN_VGPU_TILES=2 "$place/bin/zeta" devices
    out_has "Zeta Virtual GPU"
    out_has "1 tile,"
    # The two would measure and run on different instances.
    expect 1 as_user "$place/bin/zeta" stat -- "$place/bin/matmul" 32
    err_has "more rights than its user"
}

case_rights_doctor()
{
    install_with_capability
    as_user ZETA_LOG=error ZETA_PLUGIN_VGPU_TILES=2 ZE_AFFINITY_MASK=0 ZE_ENABLE_VALIDATION_LAYER=0 \
        XDG_RUNTIME_DIR=/nowhere "$place/bin/zeta" doctor --json >"$json" 2>"$err" || true
    holds "$json" '{v["variable"].split("=")[0]: v["dropped"] for v in d["variables"]} == {
        "ZETA_LOG": False, "ZETA_PLUGIN_VGPU_TILES": True, "ZE_AFFINITY_MASK": True,
        "ZE_ENABLE_VALIDATION_LAYER": False}'
    holds "$json" 'not any(s["origin"] == "environment ZETA_PLUGIN_VGPU_TILES" for s in d["settings"])'
    holds "$json" 'any("more rights than its user" in f["what"] for f in d["findings"])'
    # Where the compiler was built.
    [ ! -x "$place/libexec/zeta/zeta-vgpu-cc" ] ||
        holds "$json" 'not any("cannot be compiled" in f["what"] for f in d["findings"])'
}
