# Conditions that are evaluated beside the device: each of 65536 work-items comes to the breakpoint.
#! each groups=256 items=256 rounds=2 exit=4
# GDB makes nothing of conditions in OpenCL C that others could evaluate.
set language c
tbreak each
#= Temporary breakpoint 1 \(each\) pending
continue
#= hit Temporary breakpoint 1(\.\d)?, each
break mark if id % 16384 == 5
#= ^Breakpoint 2 at
break mark if id == 4242
#= ^Breakpoint 3 at
continue
#= hit Breakpoint [23](\.\d)?, mark \(id=(5|16389|32773|49157|4242)\)
continue
#= hit Breakpoint [23](\.\d)?, mark \(id=(5|16389|32773|49157|4242)\)
continue
#= hit Breakpoint [23](\.\d)?, mark \(id=(5|16389|32773|49157|4242)\)
continue
#= hit Breakpoint [23](\.\d)?, mark \(id=(5|16389|32773|49157|4242)\)
continue
#= hit Breakpoint [23](\.\d)?, mark \(id=(5|16389|32773|49157|4242)\)
info breakpoints
#= stop only if id % 16384 == 5 \(target evals\)
#= already hit 4 times
#= stop only if id == 4242 \(target evals\)
#= already hit 1 time
# Registers of the device have names.
condition 2 $group_x == 7 && $local_x == 9
delete 3
continue
#= ^numbers: 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79$
#= group 7,0,0 local 9,0,0" hit Breakpoint 2(\.\d)?, mark \(id=1801\)
# What cannot be evaluated stops, and GDB says why.
condition 2 *(int *)8 == id
continue
#= Error in testing breakpoint condition
#= Cannot access memory at address 0x8
#= hit Breakpoint 2(\.\d)?, mark
# A thread that is put to where it stopped a moment ago stops there once more.
delete
tbreak *$ra
continue
#= hit Temporary breakpoint 4
set scheduler-locking on
break *$pc
tbreak *$pc+4
continue
#= hit Temporary breakpoint 6
set var $pc = $pc-4
continue
#= hit Breakpoint 5
set scheduler-locking off
delete
continue
#= ^numbers: 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79$
#= \[Inferior 1 \(process 1\) exited with code 04\]
