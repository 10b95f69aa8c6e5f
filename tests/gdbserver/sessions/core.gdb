# The commands on a core dump, which has no register of the server but what they have as memory.
#@ fail items=7
info kernels
#= ^\* fail +1 +0 +7,1,1 +7,1,1 +1 +1 +
info groups
#= ^\* 0,0,0 +6 +0 +1 +1-6 +
workitem
#= ^\[Work-item group 0,0,0 local [1-6],0,0 of kernel fail, thread 1\]$
print-group $tp != 0
#= ^\$tp != 0 in fail of group 0,0,0, 7,1,1 work-items$
#= ^0,0,0 +-( +[1?]){6}$
info fault
#= ^Work-item group 0,0,0 local [1-6],0,0 of kernel fail, thread 1, in fail at commands\.cl:\d+:$
#= ^it (read|wrote|changed atomically) 4 bytes at 0x
workitem 0 6
info fault
#= thread 1, in fail at
info barriers
#= ^Nobody waits at a barrier: 1 group, 6 work-items\.$
#- Traceback
