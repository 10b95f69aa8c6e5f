# A kernel that wrote over what work-items know of themselves: GDB still tells them apart.
#! grid items=4,2
break commands.cl:6
continue
python
def all_there():
    text = gdb.execute("info groups", False, True)
    return "commands.cl:1" not in text and "vgpu_entry" not in text
while not all_there():
    gdb.execute("continue", False, True)
end
workitem 0 0
set var {long}($tp + 48) = 77
set var {long}($tp + 120) = 77
info groups
#= ^\* 0,0,0 +8 +0 +0 +\d+-\d+ +commands\.cl:[67]
print-group $local_x
#= ^0,0,0 +0 +1 +2 +3$
#= ^0,1,0 +0 +1 +2 +3$
kill
#- Error|Traceback
