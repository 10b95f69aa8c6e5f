#!/bin/sh
# accept_ptx.sh COMPILER FOLDER MODULE...: makes PTX of modules in SPIR-V or LLVM assembly, FOLDER/spirv_<name>.ptx,
# and gives it to ptxas where that is installed. clrt-cuda runs it on a GPU.
set -u
compiler=$1 folder=$2
shift 2
ptxas=$(command -v ptxas || ls /usr/local/cuda/bin/ptxas 2>/dev/null || true)
[ -n "$ptxas" ] || echo "ptxas is not installed: the PTX is made, and not given to it"
failed=0
for module in "$@"; do
    name=$(basename "${module%.*}")
    "$compiler" "$module" --gpu sm_90 -o "$folder/spirv_$name.ptx" || failed=1
    [ -z "$ptxas" ] || "$ptxas" -arch=sm_90 "$folder/spirv_$name.ptx" -o /dev/null || failed=1
done
exit $failed
