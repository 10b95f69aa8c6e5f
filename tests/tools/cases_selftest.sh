# Cases of zeta selftest, for command_test.sh.
# shellcheck shell=sh disable=SC2154 # it has the variables

case_selftest()
{
    expect 0 zeta selftest --for 200ms vgpu
    out_has "Zeta Virtual GPU (software, vgpu0), plugin vgpu"
    grep -q "ok *clock .*25.0000 MHz" "$out" || die "the clock is not right"
    grep -q "ok *ThreadDispatch .* none lost" "$out" || die "a group is not sampled"
    grep -q "ok *query .*around 100 ms" "$out" || die "there is no query"
    out_has "1 device,"
    out_has " 0 failed"
}

# A device whose reports are lost cannot pass.
case_selftest_finds_losses()
{
    export ZETA_PLUGIN_VGPU_FAULT_LOST_REPORTS=100
    expect 1 zeta selftest --for 400ms
    grep -q "FAILED *ThreadDispatch" "$out" || die "the loss is not seen"
}

case_selftest_refuses()
{
    expect 1 zeta selftest nosuchplugin
    err_has "plugin 'nosuchplugin' has no device"
    expect 1 zeta selftest -d nosuchdevice
    expect 2 zeta selftest --for yesterday
    err_has "such as 500us"
    expect 2 zeta selftest vgpu vgpu
    expect 2 zeta selftest -x
}
