# What the commands refuse, and why. Help of each.
#! grid items=4,2
python
def refused(command):
    try:
        gdb.execute(command)
        print("not refused: " + command)
    except gdb.error as error:
        print("refused: %s" % error)
end
python refused("info kernels")
#= ^refused: No kernel runs on the device of inferior 1 now\. To stop in the next one: "break KERNEL", "continue"\.$
python refused("workitem 0")
#= ^refused: No kernel runs on the device
python refused("break-diverge grid")
#= ^refused: No kernel runs on the device
break commands.cl:6
continue
python refused("workitem 9 0")
#= ^refused: There is no group 9,0,0: the launch has 1,1,1 groups\.$
python refused("workitem 0 4")
#= ^refused: There is no work-item 4,0,0: groups have 4,2,1 work-items\.$
python refused("workitem 0 0 0")
#= ^refused: It takes a group and a local id: "workitem 1,0,0 5,0,0"\.$
python refused("workitem 0,")
#= ^refused: "0," is no id: it is X, X,Y or X,Y,Z, without blanks\.$
python refused("workitem 0,0,0,0")
#= ^refused: "0,0,0,0" is no id
python refused("workitem nothing")
#= ^refused: No symbol "nothing" in current context\.$
python refused("workitem -1")
#= ^refused: There is no work-item -1,0,0: groups have 4,2,1 work-items\.$
python refused("print-group")
#= ^refused: What to print is missing: print-group \[/FORMAT\] EXPRESSION\.$
python refused("print-group nothing")
#= ^refused: In no work-item: No symbol "nothing" in current context\.$
python refused("print-group /q value")
#= ^refused: "q" is no format; it is one letter of: x d u
python refused("print-group /x")
#= ^refused: What to print is missing
python refused("info fault")
#= ^refused: No work-item has a fault: 8 work-items stopped for another reason\.$
python refused("info barriers 7")
#= ^refused: There is no group 7,0,0
python refused("break-diverge commands.cl:15")
#= ^refused: There is no conditional branch in commands\.cl:15: all work-items go the same way there\.$
python refused("break-diverge nothing")
#= ^refused: .*nothing
info barriers
#= ^Nobody waits at a barrier: 1 group, 8 work-items\.$
# A server of another version.
python
true_document = read_document
for text in ("x", "2 40", "2 40 0 0 0", "\ufffd"):
    read_document = lambda inferior, name: text
    _forget(None)
    refused("info groups")
read_document = true_document
end
#= ^refused: The server lists work-items in a form that this zeta-gdb\.py does not know
#= ^refused: The server lists work-items in a form
#= ^refused: The server lists work-items in a form
#= ^refused: The server lists work-items in a form
# The control thread is no work-item.
thread 1
python refused("workitem 1")
#= ^refused: The selected thread is no work-item\. Choose one: "workitem GROUP LOCAL"; "info groups" lists the groups\.$
python refused("print-group value")
#= ^refused: The selected thread is no work-item\.
python refused("break-diverge grid")
#= ^refused: The selected thread is no work-item\.
info groups
#= ^  0,0,0
# An inferior that is not the device's.
add-inferior -no-connection
inferior 2
python refused("info kernels")
#= ^refused: No kernel runs: inferior 2 has no threads\. The device is another inferior: "inferior 1"\.$
file /bin/true
starti
python refused("info groups")
#= ^refused: Inferior 2 is no virtual GPU: its architecture is .*\. The device is another inferior: "inferior 1"\.$
kill
inferior 1
help workitem
#= ^Choose a work-item by its ids, or show which one is selected\.$
help info barriers
#= ^Tell who waits at a barrier, and who has not come\.$
help break-diverge
#= ^The device executes each work-item by itself
workitem 0 0
delete
set var numbers[0] = 1
continue
#= exited normally
python refused("info groups")
#= ^refused: No kernel runs: inferior 1 has no threads\.$
#- not refused|Traceback
