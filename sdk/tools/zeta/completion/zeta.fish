# Completion of zeta for fish; the test style.manual compares it with "zeta help".

# Whether the words so far are those of one of these commands.
function __zeta_in
    set -l words (commandline -opc)
    test (count $words) -ge 2; and contains -- $words[2] $argv
end

function __zeta_first
    test (count (commandline -opc)) -eq 1
end

function __zeta_second
    test (count (commandline -opc)) -eq 2
end

# What stands behind "--".
function __zeta_program
    set -l words (commandline -opc) (commandline -ct)
    set -l first (math (contains -i -- -- $words) + 1)
    complete -C "$words[$first..-1]"
end

complete -c zeta -f
complete -c zeta -n __zeta_first -l help -s h -d 'The commands'
complete -c zeta -n __zeta_first -l version -d 'The version'
complete -c zeta -n 'contains -- -- (commandline -opc)' -a '(__zeta_program)'

complete -c zeta -n __zeta_first -a devices -d 'Every device'
complete -c zeta -n __zeta_first -a groups -d 'What can be measured on a device'
complete -c zeta -n __zeta_first -a plugin -d 'Every plugin and its state'
complete -c zeta -n __zeta_first -a doctor -d 'What is wrong, and what repairs it'
complete -c zeta -n __zeta_first -a selftest -d 'Whether what a device counts can be true'
complete -c zeta -n __zeta_first -a run -d 'Run a program on a device of Zeta'
complete -c zeta -n __zeta_first -a stat -d 'Run a program and show what the device did'
complete -c zeta -n __zeta_first -a trace -d 'Run a program and show its calls'
complete -c zeta -n __zeta_first -a record -d 'Run a program and keep all of that in a file'
complete -c zeta -n __zeta_first -a debug -d 'Run a program and look into its kernels'
complete -c zeta -n __zeta_first -a report -d 'What is in a recording'
complete -c zeta -n __zeta_first -a calc -d 'Metric values of a file'
complete -c zeta -n __zeta_first -a help -d 'Explain a command'
complete -c zeta -n '__zeta_second; and __zeta_in help' \
    -a 'devices groups plugin doctor selftest run stat trace record debug report calc'
complete -c zeta -n '__zeta_second; and __zeta_in plugin' -a 'list show check path'
complete -c zeta -n '__zeta_in plugin; and not __zeta_second' -F
complete -c zeta -n '__zeta_in calc report' -F

# Of several commands.
complete -c zeta -n '__zeta_in debug groups record run selftest stat trace' -s d -x -d 'Device: number, id or name'
complete -c zeta -n '__zeta_in record selftest stat' -s p -x -d 'Time between samples'
complete -c zeta -n '__zeta_in record selftest stat' -l for -x -d 'How long'
complete -c zeta -n '__zeta_in calc record stat' -s g -x -d 'Metric groups'
complete -c zeta -n '__zeta_in record stat' -s a -d 'Without a program'
complete -c zeta -n '__zeta_in record stat' -l shared -d 'The virtual device of other processes'
complete -c zeta -n '__zeta_in record stat trace' -s o -r -F -d 'Result'
complete -c zeta -n '__zeta_in calc report' -l csv -d 'Every row'
complete -c zeta -n '__zeta_in calc devices doctor groups plugin report stat' -l json -d 'As JSON'
complete -c zeta -n '__zeta_in doctor groups' -s v -d 'More'
complete -c zeta -n '__zeta_in debug doctor' -l pid -x -a '(__fish_complete_pids)' -d 'A process'

complete -c zeta -n '__zeta_in calc' -l max -d 'The greatest possible values'
complete -c zeta -n '__zeta_in calc' -l skip -x -d 'Without the first reports'
complete -c zeta -n '__zeta_in calc' -l tile -x -d 'Only this tile'

complete -c zeta -n '__zeta_in debug' -s x -r -F -d 'Commands for GDB'
complete -c zeta -n '__zeta_in debug' -l batch -d 'End with them'
complete -c zeta -n '__zeta_in debug' -l gdb -r -F -d 'The GDB to start'

complete -c zeta -n '__zeta_in doctor' -l wait -x -d 'For a driver that hangs'

complete -c zeta -n '__zeta_in record' -s e -x -d 'Groups of events'
complete -c zeta -n '__zeta_in record' -l force -d 'Replace the file'
complete -c zeta -n '__zeta_in record' -l no-trace -d 'Without calls and kernels'
complete -c zeta -n '__zeta_in record' -l max-size -x -d 'Of the file'

complete -c zeta -n '__zeta_in report' -l per-kernel -d 'Per kernel too'
complete -c zeta -n '__zeta_in report' -l from -x -d 'Begin'
complete -c zeta -n '__zeta_in report' -l to -x -d 'End'
complete -c zeta -n '__zeta_in report' -l html -r -F -d 'One page with plots'
complete -c zeta -n '__zeta_in report' -l pftrace -r -F -d 'For Perfetto'

complete -c zeta -n '__zeta_in run' -s m -l metrics -d 'For a program that measures'
complete -c zeta -n '__zeta_in run' -s n -l print -d 'Print the variables'

complete -c zeta -n '__zeta_in stat' -l replay-passes -d 'Run the program again for more groups'
complete -c zeta -n '__zeta_in stat' -l ip -d 'Where kernels spend time'

complete -c zeta -n '__zeta_in trace' -l filter -x -d 'Only such functions'
complete -c zeta -n '__zeta_in trace' -l limit -x -d 'Of each process'
complete -c zeta -n '__zeta_in trace' -l from -r -F -d 'What ZETA_TRACE wrote'
