# What runs, choosing work-items by their ids, and tables of a group.
#! grid groups=3 items=4,2
break commands.cl:6
continue
python
# Until all groups are there, and all their work-items in weigh.
def all_there():
    text = gdb.execute("info groups", False, True)
    return text.count("\n") == 4 and "commands.cl:1" not in text and "vgpu_entry" not in text
while not all_there():
    gdb.execute("continue", False, True)
end
info kernels
#= ^  Kernel +Launch +Tile +Global +Local +Groups +Resident +Where$
#= ^\* grid +1 +0 +12,2,1 +4,2,1 +3 +3 +commands\.cl:[67]
info groups
#= ^  Group +Run +Wait +Ended +Threads +Where$
#= ^[ *] [0-2],0,0 +8 +0 +0 +\d+-\d+ +
workitem 1 2,1
#= ^\[Work-item group 1,0,0 local 2,1,0 of kernel grid, thread \d+\]$
#= weigh \(value=112, numbers=0x[0-9a-f]+\) at
p $local_x + 10 * $local_y + 100 * $group_x
#= = 112$
print-group value
#= ^value in weigh of group 1,0,0, 4,2,1 work-items$
#= ^ +\+0 +\+1 +\+2 +\+3$
#= ^0,0,0 +100 +101 +102 +103$
#= ^0,1,0 +110 +111 +112 +113$
print-group /x value + 1
#= ^0,0,0 +0x65 +0x66 +0x67 +0x68$
up
#= ^#1 .* grid \(
print-group weight
#= ^weight in grid of group 1,0,0, 4,2,1 work-items$
#= ^0,1,0 +110 +111 +112 +113$
p weight
#= = 112$
workitem $group_x+1 0
#= ^\[Work-item group 2,0,0 local 0,0,0 of kernel grid, thread \d+\]$
#= value=200,
workitem 3
#= ^\[Work-item group 2,0,0 local 3,0,0 of kernel grid, thread \d+\]$
#= value=203,
workitem
#= ^\[Work-item group 2,0,0 local 3,0,0 of kernel grid, thread \d+\]$
delete
set var numbers[0] = 1
continue
#= \[Inferior 1 \(process 1\) exited normally\]
#- Error|Traceback
