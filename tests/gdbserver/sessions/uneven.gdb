# Work-items that have ended, and such that wait at another barrier.
#! uneven
break commands.cl:43
continue
python
while ": 4 of 8 work-items wait" not in gdb.execute("info barriers", False, True):
    gdb.execute("continue", False, True)
end
info barriers
#= ^Group 0,0,0: 4 of 8 work-items wait at a barrier$
#= ^  wait in uneven at commands\.cl:38: 3,0,0$
#= ^  wait in uneven at commands\.cl:40: 5,0,0  6,0,0  7,0,0$
#= ^  has not come: 2,0,0, thread \d+, in uneven at commands\.cl:4[23]$
#= ^  has not come: 4,0,0, thread \d+, in uneven at commands\.cl:4[23]$
#= ^  have ended, and are not waited for: 0,0,0  1,0,0$
#= ^  They wait at different barriers; this device takes them for one, others hang\.$
info groups
#= ^\* 0,0,0 +2 +4 +2 +\d+-\d+ +
print-group $local_x
#= ^\$local_x in uneven of group 0,0,0, 8,1,1 work-items$
#= ^0,0,0 +- +- +2 +3 +4 +5 +6 +7$
delete
set var numbers[0] = 1
continue
#= \[Inferior 1 \(process 1\) exited normally\]
#- Error|Traceback
