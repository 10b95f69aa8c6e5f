# The same of one group alone, by the name of its function.
#! diverge groups=2 items=4 rounds=2
tbreak diverge if $group_x == 1
continue
break-diverge diverge
info breakpoints
#= stop only if \$group_x == 1 && \$group_y == 0 && \$group_z == 0
python
# Of the loop's own branch nothing is told: all leave it in the same turn.
for time in (3, 4):
    gdb.execute("continue")
end
#= ^Group 1,0,0 diverges at commands\.cl:53, time 3: work-item [0-3],0,0 goes
#= ^Group 1,0,0 diverges at commands\.cl:53, time 4: work-item [0-3],0,0 goes
workitem
#= ^\[Work-item group 1,0,0 local [0-3],0,0 of kernel diverge, thread \d+\]$
delete
continue
#= \[Inferior 1 \(process 1\) exited normally\]
#- Error|Traceback|Group 0,0,0 diverges|commands\.cl:5[^3], time
