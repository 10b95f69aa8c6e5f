# Detached in the middle of a kernel, with breakpoints and a watchpoint set, the program runs to its end.
#! sums groups=32 items=8 exit=0
break square
continue
#= hit Breakpoint 1
watch -l *(int *)$sp
detach
#= \[Inferior 1 \(process 1\) detached\]
