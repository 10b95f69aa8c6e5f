# The last work-item of a group takes another way in the third turn; the others in the fourth.
#! diverge groups=2 items=4
tbreak diverge
continue
break-diverge -all commands.cl:53
#= Breakpoint \d+ at 0x[0-9a-f]+: file .*commands\.cl, line 53\.
info breakpoints
#= breakpoint +keep y .* in diverge at .*commands\.cl:53
continue
#= ^Group [01],0,0 diverges at commands\.cl:53, time 3: work-item [0-3],0,0 goes (on )?to commands\.cl:5[47], [0-3],0,0 goes (on )?to commands\.cl:5[47]\.$
#= local [0-3],0,0" hit Breakpoint
continue
#= ^Group [01],0,0 diverges at commands\.cl:53, time [34]:
continue
#= ^Group [01],0,0 diverges at commands\.cl:53, time [34]:
continue
#= ^Group [01],0,0 diverges at commands\.cl:53, time 4:
continue
#= \[Inferior 1 \(process 1\) exited normally\]
#- Error|Traceback|time [125]
