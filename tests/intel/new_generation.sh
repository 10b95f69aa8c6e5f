#!/bin/sh
# new_generation.sh BUILD: does what sdk/doc/new-generation.md says, in a folder of its own, on an
# emulated kernel. Blocks of the kind sh are run one after the other in one shell; a block of the kind
# text that follows is what the commands print. There "..." stands for anything in a line, and each
# line must be there.
# Rules 26.6, 26.36.
set -eu
build=$1
source=$(cd "$(dirname "$0")/../.." && pwd)
document=$source/sdk/doc/new-generation.md
description=${ZETA_SHARED:-}/oa/xe/oa-ptl.xml
if [ ! -r "$description" ]; then
    echo "skipped: there is no $description (ZETA_SHARED)"
    exit 77
fi

work=$(mktemp -d "$build/tests/new-generation-XXXXXX")
block=$work/none
end()
{
    status=$?
    [ "$status" -eq 0 ] || { echo "--- $block.sh"; cat "$block.sh" "$block.out" 2>/dev/null; } >&2
    rm -rf "$work"
    exit "$status"
}
trap end EXIT
# Nothing of the person who runs this: no plugins, no settings, no caches.
HOME=$work
TMPDIR=$work
PATH=$build/bin:$build/tests:$PATH
export HOME TMPDIR PATH
unset XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR

# Writes NN.sh and NN.txt for each block.
awk -v work="$work" '
    /^```$/ { file = ""; next }
    /^```sh$/ { file = sprintf("%s/%02d.sh", work, ++n); printf "" > file; next }
    /^```text$/ { file = sprintf("%s/%02d.txt", work, n); next }
    /^```/ { file = "/dev/null"; next }
    file != "" { print > file }' "$document"

has_line()
{
    pattern=$(printf '%s\n' "$1" | sed -e 's/\.\.\./\n/g' -e 's/[][\\.*^$]/\\&/g' -e 's/\n/.*/g')
    grep -q -x -e "$pattern" "$block.out"
}

cp "$description" "$work"
cd "$work"
count=0
for script in "$work"/[0-9][0-9].sh; do
    block=${script%.sh}
    # shellcheck disable=SC1090 # made above
    . "$script" >"$block.out" 2>&1
    count=$((count + 1))
    [ -f "$block.txt" ] || continue
    while IFS= read -r line; do
        has_line "$line" || { echo "the output lacks: $line" >&2; exit 1; }
    done <"$block.txt"
done
[ "$count" -gt 5 ] || { echo "$document has $count blocks" >&2; exit 1; }
echo "$count blocks of commands do what the document says"
