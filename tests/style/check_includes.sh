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

# The data half of core/metric (its README) knows nothing of devices, plugins and handles.
cd core/metric
refuse set.h catalog_priv.h set_read.c set_load.c set_events.c set_link.c set_programmables.c \
    layout* slot.* expr* compile.* lower* simplify.c schedule.c program.h evaluate.* block* \
    query_form.* decode.* decode_p* programmables* template.* recipe* choice.c partition.* \
    describe* -- "the data half of core/metric includes more than core/util" \
    'core/(api|object|device|command|plugin|trace|settings)/'
exit $status
