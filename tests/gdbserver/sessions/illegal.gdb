# An instruction that does not exist stops the thread before it.
#! illegal groups=1 items=1
continue
#= received signal SIGILL
#= \.word 0xffffffff
x/2xh $pc
#= 0xffff\s+0xffff
set var $pc = $pc + 4
continue
#= ^numbers: 1024 1
#= exited normally
