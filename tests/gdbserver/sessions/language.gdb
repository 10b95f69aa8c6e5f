# Conditions that are set while a kernel in OpenCL C is stopped, of which GDB would give the opposite.
#! each groups=256 items=256 rounds=2
tbreak each
continue
#= hit Temporary breakpoint 1, each
break mark if id == 4242 && $group_x == 16
continue
#= hit Breakpoint 2, mark \(id=4242\)
info breakpoints
#= stop only if id == 4242 && \$group_x == 16 \(target evals\)
show language
#= "auto; currently opencl"
condition 2 id == 65535 && $local_x == 255
continue
#= hit Breakpoint 2, mark \(id=65535\)
# With the next module GDB parses it again, in OpenCL C, until the first stop: group 0 is over in this one, where
# other groups may still begin.
tbreak each if $group_x == 0
continue
#= ^numbers: 64 65 66
#= hit Temporary breakpoint 3, each
continue
#= hit Breakpoint 2, mark \(id=65535\)
info breakpoints
#= stop only if id == 65535 && \$local_x == 255 \(target evals\)
continue
#= exited normally
