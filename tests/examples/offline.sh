#!/bin/sh
# Exports with the GPU that is there, calculates with no plugin at all: offline.sh PROGRAM FOLDER
set -eu
file=$2/offline-$$.zeta
trap 'rm -f "$file" "$file.columns"' EXIT

"$1" --export "$file"
ZETA_PLUGIN_PATH=/nonexistent "$1" --calculate "$file"
