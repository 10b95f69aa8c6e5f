# Stepping through a kernel, and what one sees on the way.
#! sums groups=2 items=8
break sums
continue
#= hit Breakpoint 1
delete
set scheduler-locking step
next
#= ^\d+\s+part\[item\] = square\(item\);
step
#= ^square \(value=0\) at .*sums\.c
next
#= ^\d+\s+return result;
info args
#= ^value = 0
info locals
#= ^result = 0
backtrace
#= ^#0 +square \(value=0\)
#= ^#1 .* sums \(numbers=0x[0-9a-f]+, count=1024\)
finish
#= Value returned is \$1 = 0
set scheduler-locking off
# Where it is: pair.right = part[7 - item];
tbreak 25 if item + (int)$group_x == 0
continue
#= hit Temporary breakpoint 2, sums
info locals
#= part = \{0, 1, 4, 9, 16, 25, 36, 49\}
#= item = 0
#= pair = \{left = 0, 
p part[3]
#= = 9
p sizeof(pair)
#= = 8
next
#= ^\d+\s+if \(item < count\)
p pair
#= = \{left = 0, right = 49\}
set var pair.right = 1000
set var part[0] = 5000
x/2wd part
#= :\s+5000\s+1
stepi
x/i $pc
#= ^=> 0x
p $group_x
#= = 0
p $local_x
#= = 0
info registers vgpu
#= execmask .*0x1
#= local_z
continue
#= ^numbers: 1000 37 29 25 25 29 37
#= exited normally
