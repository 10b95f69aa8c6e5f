#!/bin/sh
# check_tidy.sh CLANG-TIDY BUILD FOLDER: .clang-tidy has nothing to say about the C files of a
# folder that are part of the build.
set -eu
tool=$1
build=$2
folder=$3

status=0
for file in "$folder"/*.c; do
    # Templates and the like are not compiled here, so nobody knows with what options.
    grep -qF "\"file\": \"$file\"" "$build/compile_commands.json" || continue
    "$tool" --quiet -p "$build" "$file" || status=1
done
exit $status
