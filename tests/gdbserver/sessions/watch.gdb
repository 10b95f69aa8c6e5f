# Who writes a number: a watchpoint of the device, which all threads meet.
#! sums groups=1 items=8
break sums
continue
#= hit Breakpoint 1
delete
watch -l numbers[3]
#= Hardware watchpoint 2: -location numbers\[3\]
continue
#= hit Hardware watchpoint 2: -location numbers\[3\]
#= ^Old value = 3
#= ^New value = 25
p item
#= = 3
delete
continue
#= ^numbers: 49 37 29 25 25 29 37 49 8
#= exited normally
