#!/bin/sh
# check_tidy.sh CLANG-TIDY BUILD FOLDER: .clang-tidy has nothing to say about the C files of a
# folder that are part of the build.
set -eu
tool=$1
build=$2
folder=$3

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Options that only gcc has; clang refuses them whatever the warnings.
sed 's/ -fno-gcse\>//g; s/ -fno-crossjumping\>//g' "$build/compile_commands.json" \
    >"$work/compile_commands.json"

# Paths through programs are analysed where users run them; in tests that takes longest and says
# least, for a test that goes wrong is seen.
case $folder in
*/tests/*) checks=--checks=-clang-analyzer-* ;;
*) checks=--checks= ;;
esac

status=0
for file in "$folder"/*.c; do
    # Templates and the like are not compiled here, so nobody knows with what options.
    grep -qF "\"file\": \"$file\"" "$work/compile_commands.json" || continue
    "$tool" --quiet "$checks" -p "$work" "$file" || status=1
done
exit $status
