# An access that fails stops the thread that did it.
#! fault groups=1 items=1
continue
#= an access at 0x12345678 failed
#= received signal SIGSEGV
#= \*nowhere = 1;
backtrace 1
#= ^#0 .* fault \(numbers=
p nowhere
#= = .* 0x12345678
p numbers[0]
#= = 1024
info threads
#= \* 2 .* fault
