#!/bin/sh
# The list of what a compiler needs names LLVM, the translator with its library, and the runtime library:
# check_needs.sh COMPILER
set -eu
cd "$(dirname "$1")"
list=$(basename "$1").needs
for need in 'libLLVM-15\.so\.1 -' 'llvm-spirv-15 llvm-spirv-15' 'libLLVMSPIRVLib\.so\.15 -' 'runtime\.bc zeta-' \
    'libm\.so\.6 -'; do
    grep -q "^[^ ]*$need" "$list" || {
        echo "$list lacks $need:"
        cat "$list"
        exit 1
    }
done
while read -r file package; do
    [ -e "$file" ] || {
        echo "$file of $package is not there"
        exit 1
    }
done <"$list"
