# A breakpoint before the module is loaded, and what one asks first.
#! sums groups=2 items=8 exit=3
break sums
#= Breakpoint 1 \(sums\) pending
continue
#= Thread \d+ "\d+\.\d+\.\d+\.\d+ group [01],0,0 local [0-7],0,0" hit Breakpoint 1(\.\d)?, sums \(numbers=(0x[0-9a-f]+|<optimized out>), count=(1024|<optimized out>)\) at .*sums\.c
info args
#= ^numbers = 
#= ^count = (1024|<optimized out>)
backtrace
#= ^#0 +sums \(numbers=
info threads
#= Thread 1\.1 "control"
#= group [01],0,0 local [0-7],0,0" +sums \(numbers=
p $_gthread != 1
#= = 1
delete
tbreak square
continue
#= hit Temporary breakpoint 2, square \(value=[0-7]\)
up
#= ^#1 .* sums \(numbers=
continue
#= ^numbers: 49 37 29 25 25 29 37 49 49 37 29 25 25 29 37 49
#= \[Inferior 1 \(process 1\) exited with code 03\]
#- ^Cannot
