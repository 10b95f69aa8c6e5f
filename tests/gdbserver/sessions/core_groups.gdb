# Local memory in a core dump is that of the group that failed, and the commands say so.
#@ shared groups=3 items=2
workitem
#= ^\[Work-item group 2,0,0 local [01],0,0 of kernel shared, thread 1\]$
print-group table[0]
#= ^table\[0\] in shared of group 2,0,0, 2,1,1 work-items$
#= ^0,0,0 +30 +30$
python print("said: %d" % ("Local memory" in gdb.execute("print-group table[0]", False, True)))
#= ^said: 0$
workitem 0 1
#= ^\[Work-item group 0,0,0 local 1,0,0 of kernel shared
#= ^Local memory is that of group 2,0,0, which failed: a core dump has no other group's at its address\.$
print-group table[0]
#= ^table\[0\] in shared of group 0,0,0, 2,1,1 work-items$
#= ^Local memory is that of group 2,0,0, which failed
#- Traceback
