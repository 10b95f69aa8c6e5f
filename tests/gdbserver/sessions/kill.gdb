# Killed, the program is gone.
#! spin groups=1 items=1
break spin
continue
#= hit Breakpoint 1
kill
#= \[Inferior 1 \(process 1\) killed\]
info inferiors
#= ^\* 1 +<null>
#- numbers:
