# Branches of a function are watched wherever it was inlined; here no work-item leaves the others.
#! sums groups=2 items=8
tbreak sums
continue
break-diverge -all sums
#= Breakpoint 2
continue
python print("came:", sum(sum(b.times.values()) for b in gdb.breakpoints()))
#= ^came: 16$
#- Error|Traceback|diverges
