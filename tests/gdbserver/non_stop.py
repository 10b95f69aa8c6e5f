#!/usr/bin/env python3
"""Non-stop with the real GDB, where one thread of a kernel stops and the others go on; and
all-stop, where one thread goes on alone.

non_stop.py SERVER PROGRAM FILE CASE: FILE has the kernel of kernels/turns.c, CASE is the name of a
function.
"""
import os
import re
import subprocess
import sys

import mi

SERVER, PROGRAM, FILE = sys.argv[1:4]
ITEMS = 6
COUNTER = 16


def connect(gdb, before=()):
    for line in before:
        gdb.do(line)
    gdb.do(f"target remote | {SERVER} - -- {PROGRAM} {FILE} turns items={ITEMS} exit=5")


def stopped_thread(record):
    return int(re.search(r'thread-id="(\d+)"', record).group(1))


def item_of(gdb, thread):
    """Global id of the work-item that a stopped thread executes."""
    return gdb.number("item", f"--thread {thread} --frame 0 ")


def counters(gdb):
    """The numbers of the items. GDB reads memory while threads run."""
    return [gdb.number(f"((int *) $numbers)[{COUNTER + item}]") for item in range(ITEMS)]


def wait_for_rise(gdb, items):
    """Until the numbers of these items have grown."""
    before = counters(gdb)
    while True:
        now = counters(gdb)
        if all(now[item] > before[item] for item in items):
            return


def let_end(gdb):
    """Writes what the kernel waits for. Where it runs, the program may have ended before GDB has
    read the value back."""
    try:
        gdb.do("set var ((int *) $numbers)[1] = 0")
    except AssertionError as error:
        if "Cannot access memory" not in str(error):
            raise


def to_first_stop(gdb):
    """Lets the program run until an item arrives; its thread."""
    gdb.do("break arrive")
    gdb.do("continue -a &")
    return stopped_thread(gdb.event(r'\*stopped,reason="breakpoint-hit"'))


def note_numbers(gdb, thread):
    gdb.do(f"-thread-select {thread}")
    gdb.do("up")
    gdb.do("set $numbers = numbers")


def one_stops(gdb):
    """One thread at a breakpoint, others go on; each hit is told of."""
    connect(gdb, ["set non-stop on"])
    first, second = two_stops(gdb)
    assert {item_of(gdb, first), item_of(gdb, second)} == {0, 1}
    stands = counters(gdb)[:2]
    wait_for_rise(gdb, range(2, ITEMS))
    assert counters(gdb)[:2] == stands


def others_run(gdb, first, second):
    """The two that stopped, of all threads; the rest runs."""
    listed = gdb.do("info threads")
    assert listed.count("(running)") == 1 + ITEMS - 2, listed # the control thread is first
    for thread in (first, second):
        assert re.search(rf"\b1\.{thread} .* arrive \(item=|\b{thread} .* arrive \(item=", listed), listed


def two_stops(gdb):
    """The threads of the first two items, of which each has arrived; the others run."""
    first = to_first_stop(gdb)
    second = stopped_thread(gdb.event(r'\*stopped,reason="breakpoint-hit"'))
    note_numbers(gdb, first)
    wait_for_rise(gdb, range(2, ITEMS))
    return first, second


def steps_off_the_breakpoint(gdb):
    """One goes on and arrives again, while the other stays where it is."""
    connect(gdb, ["set non-stop on"])
    first, second = two_stops(gdb)
    others_run(gdb, first, second)
    for _ in range(3):
        stands = counters(gdb)[item_of(gdb, second)]
        gdb.do(f"-exec-continue --thread {first}")
        assert stopped_thread(gdb.event(r'\*stopped,reason="breakpoint-hit"')) == first
        assert counters(gdb)[item_of(gdb, second)] == stands
        wait_for_rise(gdb, range(2, ITEMS))
    gdb.do(f"-exec-finish --thread {second}")
    assert stopped_thread(gdb.event(r'\*stopped,reason="function-finished"')) == second
    gdb.do(f"-exec-next --thread {second}")
    assert stopped_thread(gdb.event(r'\*stopped,reason="end-stepping-range"')) == second
    wait_for_rise(gdb, range(2, ITEMS))


def interrupts(gdb):
    """A thread that runs is stopped; all are; all go on."""
    connect(gdb, ["set non-stop on"])
    first, second = two_stops(gdb)
    running = next(int(found) for found in re.findall(r"(?m)^\*? *(?:1\.)?(\d+) .*\(running\)",
                                                      gdb.do("info threads"))
                   if int(found) > 1)
    gdb.do(f"-exec-interrupt --thread {running}")
    gdb.event(rf'\*stopped.*signal-name="0".*thread-id="{running}"')
    stood = item_of(gdb, running)
    value = counters(gdb)[stood]
    rest = [item for item in range(2, ITEMS) if item != stood]
    wait_for_rise(gdb, rest)
    assert counters(gdb)[stood] == value

    gdb.do("interrupt -a")
    stopped = {first, second, running}
    while len(stopped) < ITEMS + 1: # the control thread, too
        stopped.add(stopped_thread(gdb.event(r"\*stopped")))
    stands = counters(gdb)
    frames = gdb.do("thread apply all backtrace")
    assert len(re.findall(r"turns \(numbers=", frames)) == ITEMS, frames
    assert counters(gdb) == stands

    gdb.do("delete")
    gdb.do("continue -a &")
    wait_for_rise(gdb, range(ITEMS))


def ends(gdb):
    """The program ends while threads run."""
    connect(gdb, ["set non-stop on"])
    two_stops(gdb)
    gdb.do("delete")
    gdb.do("continue -a &")
    wait_for_rise(gdb, range(ITEMS))
    let_end(gdb)
    gdb.event(r'\*stopped,reason="exited",exit-code="05"')
    assert "No threads" in gdb.do("info threads")


def detaches(gdb):
    """With stopped threads; the program goes on to its end."""
    # pylint: disable=consider-using-with
    program = subprocess.Popen([PROGRAM, FILE, "turns", f"items={ITEMS}", "exit=5"],
                               env={**os.environ, "ZET_ENABLE_PROGRAM_DEBUGGING": "1"})
    gdb.do("set non-stop on")
    gdb.do(f"target remote | {SERVER} - --attach {program.pid}")
    two_stops(gdb)
    let_end(gdb)
    gdb.do("detach")
    code = program.wait()
    assert code == 5, f"the program gave {code}"


def locks(gdb):
    """All-stop, where the scheduler is locked: one thread goes on alone."""
    connect(gdb)
    gdb.do("break arrive")
    gdb.do("continue")
    thread = stopped_thread(gdb.event(r'\*stopped,reason="breakpoint-hit"'))
    item = item_of(gdb, thread)
    note_numbers(gdb, thread)
    gdb.do("set scheduler-locking on")
    stands = counters(gdb)
    for _ in range(3):
        gdb.do("continue")
        assert stopped_thread(gdb.event(r'\*stopped,reason="breakpoint-hit"')) == thread
    moved = [i for i in range(ITEMS) if counters(gdb)[i] != stands[i]]
    assert moved == [item], moved
    gdb.do("delete")
    let_end(gdb)
    gdb.do("set scheduler-locking off")
    gdb.do("continue")
    gdb.event(r'\*stopped,reason="exited",exit-code="05"')


mi.run(globals()[sys.argv[4]])
