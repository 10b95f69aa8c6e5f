#!/bin/sh
# check_includes.sh REPOSITORY: the directions that includes may have.
set -eu
cd "$1"
status=0

# refuse FOLDER... -- WHAT PATTERN: says which files of the folders include the pattern.
refuse()
{
    folders=
    while [ "$1" != -- ]; do
        folders="$folders $1"
        shift
    done
    # shellcheck disable=SC2086 # a list of words
    if grep -rnE --include='*.[ch]' "#[[:space:]]*include[[:space:]]*[<\"]$3" $folders; then
        echo "error: $2" >&2
        status=1
    fi
}

refuse core -- "core includes a plugin" '(\.\./)*plugins/'
refuse core -- "core includes a tool or a helper of plugins" '(\.\./)*sdk/(tools|lib)/'
refuse plugins sdk examples -- "only core and tests include core" '(\.\./)*core/'
refuse plugins -- "a plugin includes the API; it knows hardware only" 'level_zero/'
refuse sdk/tools examples -- "a tool or an example includes a plugin" '(\.\./)*plugins/'
refuse examples -- "an example includes more than zeta.h of what is ours" 'zeta/[a-y]'

# Calculation knows numbers and text only; what captures records knows plugins, but no handle.
refuse core/formula -- "core/formula includes more than core/util" \
    'core/(api|object|device|command|plugin|trace|settings|capture|metric)/'
refuse core/capture -- "core/capture includes what is above it" \
    'core/(api|object|device|command|trace|settings|metric)/'
exit $status
