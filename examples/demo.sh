#!/bin/sh
# demo.sh BUILD PYTHON [SIZE]: shows the devices, samples a product of two matrices while it runs, and compares what
# was counted with what the product takes. On a GPU that computes and can be sampled, else on the virtual one; on
# that of the plugin in ZETA_PLUGINS_SELECT where it is set. `./run demo` builds first.
set -eu
bin=$1/bin
python=$2
checker=$(dirname "$0")/matmul_check.py
result=$(mktemp)
trap 'rm -f "$result"' EXIT

say()
{
    printf '\n== %s\n' "$*"
}

# What 'zeta doctor' says of hardware: the plugin of the first device that will do.
plugin=${ZETA_PLUGINS_SELECT-}
if [ -z "$plugin" ]; then
    plugin=$("$bin/zeta" doctor | sed -n '/(hardware)/s/.*, compute by \(.*\), can be sampled$/\1/p' | head -n 1)
    [ -n "$plugin" ] || say "No GPU here computes and can be sampled ('zeta doctor' says why): the virtual one does"
    plugin=${plugin:-vgpu}
fi
export ZETA_PLUGINS_SELECT="$plugin"
groups=ComputeBasic
size=${3:-4096}
if [ "$plugin" = vgpu ]; then
    groups=ComputeBasic,ThreadDispatch
    size=${3:-256}
fi

say "Devices of the plugin $plugin alone (ZETA_PLUGINS_SELECT=$plugin): zeta devices"
"$bin/zeta" devices
say "zeta stat -g $groups -- matmul $size"
"$bin/zeta" stat -g "$groups" "--json=$result" -- "$bin/matmul" "$size"
say "What was sampled from outside, against what the product of two matrices takes"
"$python" "$checker" "$result" "$size"
say "The same kernel between the begin and the end of a query: query $size"
"$bin/query" "$size"
