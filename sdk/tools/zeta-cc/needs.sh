#!/bin/sh
# Writes what a compiler needs to compile SPIR-V into PROGRAM.needs:
#
#   needs.sh PROGRAM FILE PACKAGE...
#
# A line for each file that is given, with its package, and for each library that the program or one of the
# programs among the files loads on this machine. Those may be elsewhere on another one, so they have no package.
set -eu
program=$1
shift
list=$program.needs
{
    loaders=$program
    while [ $# -gt 0 ]; do
        echo "$1 $2"
        case $1 in /*) loaders="$loaders $1" ;; esac
        shift 2
    done
    for loader in $loaders; do
        # A program for another machine, or one that is not installed yet, tells nothing.
        ldd "$loader" 2>/dev/null || true
    done | awk '$2 == "=>" && $3 ~ /^\// { print $3, "-" }' | sort -u
} >"$list.new"
mv "$list.new" "$list"
