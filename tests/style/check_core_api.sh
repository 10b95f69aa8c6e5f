#!/bin/sh
# check_core_api.sh SOURCE BUILD: sdk/doc/core-api.md is what this build made of the model.
set -eu
kept=$1/sdk/doc/core-api.md
made=$2/share/doc/zeta/core-api.md
diff -u "$kept" "$made" || {
    echo "The model or what is implemented has changed. To update the table:"
    echo "    cp $made $kept"
    exit 1
}
