# Completion of zeta for bash; the test style.manual compares it with "zeta help".

# _zeta_options COMMAND: its options. Those that end with "=" take their value in the same word.
_zeta_options()
{
    case $1 in
        calc) echo '-g --csv --json --max --skip --tile' ;;
        debug) echo '-d --pid -x --batch --gdb' ;;
        devices) echo '--json' ;;
        doctor) echo '-v --pid --wait --json' ;;
        groups) echo '-d -v --json' ;;
        plugin) echo '--json' ;;
        record) echo '-o --force -g -e -p -d --no-trace --max-size --shared -a --for' ;;
        report) echo '--per-kernel --from --to --csv --json --html= --pftrace=' ;;
        run) echo '-d -m --metrics -n --print' ;;
        selftest) echo '-d -p --for' ;;
        stat) echo '-g --replay-passes -p -o --json= --ip -d --shared -a --for' ;;
        trace) echo '-o --filter --limit -d --from' ;;
    esac
}

# _zeta_value COMMAND OPTION: what the option takes as its next word: files, programs, processes, other, or none.
_zeta_value()
{
    case $1:$2 in
        record:-o | stat:-o | trace:-o | trace:--from | debug:-x) echo files ;;
        debug:--gdb) echo programs ;;
        debug:--pid | doctor:--pid) echo processes ;;
        *:-d | *:-e | *:-g | *:-p | *:--skip | *:--tile | *:--wait | *:--max-size | *:--for) echo other ;;
        report:--from | report:--to | trace:--filter | trace:--limit) echo other ;;
        *) echo none ;;
    esac
}

_zeta()
{
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} kind=none at

    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W 'calc debug devices doctor groups help plugin record report run
            selftest stat trace --help --version' -- "$current")
        return
    fi
    # Behind "--": a program with its own completion, if bash-completion is there.
    for ((at = 2; at < COMP_CWORD; at++)); do
        [ "${COMP_WORDS[at]}" = -- ] || continue
        if declare -F _command_offset >/dev/null; then
            _command_offset $((at + 1))
        elif [ $((at + 1)) -eq "$COMP_CWORD" ]; then
            mapfile -t COMPREPLY < <(compgen -c -- "$current")
        fi
        return
    done
    # "--json=FILE" is three words for bash.
    if [ "$current" = = ] || [ "$previous" = = ]; then
        mapfile -t COMPREPLY < <(compgen -f -- "${current#=}")
        return
    fi
    kind=$(_zeta_value "$command" "$previous")
    case $kind:$command:$current in
        files:*) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
        programs:*) mapfile -t COMPREPLY < <(compgen -c -- "$current") ;;
        processes:*) mapfile -t COMPREPLY < <(compgen -W "$(cd /proc && echo [0-9]*)" -- "$current") ;;
        other:*) ;;
        none:help:*)
            mapfile -t COMPREPLY < <(compgen -W 'calc debug devices doctor groups plugin record report run
                selftest stat trace' -- "$current")
            ;;
        none:*:-*)
            mapfile -t COMPREPLY < <(compgen -W "$(_zeta_options "$command") --help" -- "$current")
            # A value follows at once.
            if [ "${#COMPREPLY[@]}" -eq 1 ] && [ "${COMPREPLY[0]%=}" != "${COMPREPLY[0]}" ]; then
                compopt -o nospace 2>/dev/null
            fi
            ;;
        none:plugin:*)
            if [ "$COMP_CWORD" -eq 2 ]; then
                mapfile -t COMPREPLY < <(compgen -W 'list show check path' -- "$current")
            elif [ "$previous" = check ]; then
                mapfile -t COMPREPLY < <(compgen -f -- "$current")
            fi
            ;;
        none:calc:* | none:report:*) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    esac
}

complete -o filenames -F _zeta zeta
