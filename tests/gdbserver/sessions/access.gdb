# Who reads a place of local memory, and who uses it at all.
#! sums groups=1 items=8
break sums
continue
#= hit Breakpoint 1
delete
awatch -l part[2]
#= Hardware access \(read/write\) watchpoint 2: -location part\[2\]
continue
#= hit Hardware access \(read/write\) watchpoint 2: -location part\[2\]
p item
#= = 2
delete
rwatch -l part[7]
#= Hardware read watchpoint 3: -location part\[7\]
continue
#= hit Hardware read watchpoint 3: -location part\[7\]
#= ^Value = 49
p item == 0 || item == 7
#= = 1
delete
continue
#= exited normally
