#!/bin/sh
# check_function_tables.sh SOURCE BUILD: the tables of functions in sdk/doc are what this build made
# of the model.
set -eu
for name in core-api.md tools-api.md; do
    kept=$1/sdk/doc/$name
    made=$2/share/doc/zeta/$name
    diff -u "$kept" "$made" || {
        echo "The model or what is implemented has changed. To update the table:"
        echo "    cp $made $kept"
        exit 1
    }
done
