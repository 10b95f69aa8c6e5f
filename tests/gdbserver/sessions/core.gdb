# The commands on a core dump, which has the sizes and ids, but no register of the server.
#@ fail items=7
info kernels
#= ^\* fail +\? +0 +7,1,1 +7,1,1 +1 +1 +
info groups
#= ^\* 0,0,0 +6 +\? +1 +1-6 +
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
python
try:
    gdb.execute("info barriers")
except gdb.error as error:
    print("refused: %s" % error)
end
#= ^refused: Who waits at a barrier is not known here: there is no register at_barrier\.$
#- Traceback
