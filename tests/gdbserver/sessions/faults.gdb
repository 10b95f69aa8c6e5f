# What accesses did that failed, and what is wrong with them.
#! fail items=7
continue
#= received signal SIGSEGV
python
# All have failed when each was told; one that goes on fails again.
def run_until(text):
    while text not in gdb.execute("info fault", False, True):
        gdb.execute("continue", False, True)
run_until("6 work-items have a fault")
end
workitem 1
info fault
#= ^Work-item group 0,0,0 local 1,0,0 of kernel fail, thread \d+, in fail at commands\.cl:73:$
#= ^it wrote 4 bytes at 0x0: nothing is there: it is the null pointer, or an index to it\.$
#= ^Instruction: sw .*, with \w+ = 0x
#= ^6 work-items have a fault; another is group 0,0,0 local [2-6],0,0\.$
workitem 2
info fault
#= ^it wrote 4 bytes at 0x[0-9a-f]+: it is \d+ bytes behind the local memory of the group, which has \d+\.$
workitem 3
info fault
#= ^it read 4 bytes at 0x12345678900c: no allocation of the program is there\.$
workitem 4
info fault
#= ^it wrote 4 bytes at 0x[0-9a-f]+: it is \d+ bytes below the private memory of the work-item, which has 65536:
workitem 5
info fault
#= ^it wrote 4 bytes at 0x[0-9a-f]+: kernels may read or execute what is there, but not write it\.$
workitem 6
info fault
#= ^it changed atomically 4 bytes at 0x[0-9a-f]+1: it is no multiple of 4, as addresses of such atomics have to be\.$
p/x $cause
#= = 0x10000$
p $cause_address % 4
#= = 1$
# A jump to nowhere, and code that is none.
set var $code = $pc
set var $pc = 0x10
python
def run_item_until(text):
    gdb.execute("workitem 0 6")
    while text not in gdb.execute("info fault", False, True):
        gdb.execute("continue", False, True)
        gdb.execute("workitem 0 6", False, True)
run_item_until("jumped")
end
info fault
#= ^it jumped to 0x10, where no code is; it was called from .*, says ra\.$
set var $pc = $code
set var {int}$code = 0
python run_item_until("cannot execute")
info fault
#= ^the device cannot execute 0x00000000 \(unimp.*\) at 0x
set var {int}$code = 0x73
set var $a7 = 99
python run_item_until("device call")
info fault
#= ^it made the device call 99, which does not exist\.$
set var $a7 = 3
set var $a0 = 0
python run_item_until("gave up")
info fault
#= ^it gave up, without a message\.$
set var {int}($sp - 16) = 0x1b6f6e
set var $a0 = (long) $sp - 16
python run_item_until("gave up: 0x")
info fault
#= ^it gave up: 0x[0-9a-f]+ "no\\033"$
kill
#- Error|Traceback
