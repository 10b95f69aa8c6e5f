# A module that goes and comes again: breakpoints wait for it.
#! sums groups=1 items=8 rounds=3
break square if value == 3
continue
#= hit Breakpoint 1(\.\d)?, square \(value=3\)
info sharedlibrary
#= Yes .*module-0\.elf
continue
#= ^numbers: 49
#= hit Breakpoint 1(\.\d)?, square \(value=3\)
info sharedlibrary
#= Yes .*module-1\.elf
#- module-0.*\n.*module-1
info breakpoints
#= in square at
delete
continue
#= ^numbers: 49
#= exited normally
