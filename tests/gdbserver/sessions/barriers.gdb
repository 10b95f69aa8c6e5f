# A dead-lock: the work-item that everybody waits for is named.
#! deadlock groups=2
break commands.cl:23
continue
#= local 5,0,0" hit Breakpoint 1
python
# The breakpoint is met again and again while the others come to their barrier.
while gdb.execute("info barriers", False, True).count(": 7 of 8 work-items wait at a barrier") < 2:
    gdb.execute("continue", False, True)
end
info barriers
#= ^Group [01],0,0: 7 of 8 work-items wait at a barrier$
#= ^  wait in deadlock at commands\.cl:26: 0,0,0  1,0,0  2,0,0  3,0,0  4,0,0  6,0,0  7,0,0$
#= ^  has not come: 5,0,0, thread \d+, in deadlock at commands\.cl:2[23]$
#= ^Group [01],0,0: 7 of 8 work-items wait at a barrier$
#= ^  has not come: 5,0,0, thread \d+, in deadlock at commands\.cl:2[23]$
info barriers 1
#= ^Group 1,0,0: 7 of 8 work-items wait at a barrier$
info groups
#= ^[ *] [01],0,0 +1 +7 +0 +\d+-\d+ +
workitem 1 3
p $at_barrier
#= = 1$
workitem 1 5
p $at_barrier
#= = 0$
# The reason is removed: the group goes on, and ends.
delete
set var numbers[0] = 1
continue
#= \[Inferior 1 \(process 1\) exited normally\]
#- Error|Traceback|different barriers|ended,
