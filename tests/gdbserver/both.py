#!/usr/bin/env python3
"""Host and device in one GDB: two inferiors in non-stop mode, as sdk/doc/debugging.md has it.

both.py SERVER PROGRAM FILE: FILE is the kernel's. Exits with 77 where GDB is missing.
"""
import re
import sys

import mi


def debug(gdb, server, program, file):
    gdb.do("set non-stop on")
    gdb.do("set sysroot /")
    gdb.do("set environment ZET_ENABLE_PROGRAM_DEBUGGING 1")
    gdb.do(f"file {program}")
    gdb.do(f"set args {file} sums groups=2 exit=3")

    # The host stops; what serves debuggers goes on.
    gdb.do("break make_numbers")
    gdb.do("-exec-run")
    gdb.event(r'\*stopped,reason="breakpoint-hit".*func="make_numbers"')
    pid = re.search(r"process (\d+)", gdb.do("info inferiors"))[1]
    gdb.do("add-inferior -no-connection")
    gdb.do("inferior 2")
    gdb.do(f"target remote | {server} - --attach {pid}")
    gdb.do("break square")
    gdb.do("break main")

    # The host waits for the module until the device's inferior goes on.
    gdb.do("inferior 1")
    gdb.do("-exec-continue --thread-group i1")
    gdb.do("inferior 2")
    gdb.do("-exec-continue --thread-group i2")
    stop = gdb.event(r'\*stopped,reason="breakpoint-hit".*func="square"')
    thread = re.search(r'thread-id="(\d+)"', stop)[1]
    frames = gdb.do(f"-stack-list-frames --thread {thread}")
    assert 'func="square"' in frames and 'func="sums"' in frames, frames
    threads = gdb.do("info threads")
    assert re.search(r'2\.\d+ .*"\d+\.\d+\.\d+\.\d+ group 0,0,0 local \d,0,0".*square \(value=',
                     threads), threads
    assert re.search(r'1\.\d+ .*"vgpu-debug"\s+\(running\)', threads), threads

    # Both see the same memory.
    gdb.do(f"-thread-select {thread}")
    gdb.do("up")
    address = gdb.number("(unsigned long) numbers")
    assert gdb.number("numbers[5]") == gdb.number(f"((int *) {address})[5]", "--thread 1 ") == 5

    gdb.do("delete")
    gdb.do("-exec-continue --all")
    # The device's inferior exits normally, before or behind it.
    end = gdb.event(r'\*stopped,reason="exited",exit-code=')
    assert 'exit-code="03"' in end, end


mi.run(debug, *sys.argv[1:])
