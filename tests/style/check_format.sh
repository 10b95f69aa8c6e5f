#!/bin/sh
# check_format.sh CLANG-FORMAT FOLDER...: every C file has the form of .clang-format.
set -eu
tool=$1
shift
find "$@" -name '*.[ch]' -print0 | xargs -0 "$tool" --dry-run --Werror
