#!/usr/bin/env python3
"""What an editor does: GDB by its machine interface (GDB/MI), as sdk/doc/debugging.md sets VS Code up.

editor.py DOCUMENT SERVER PROGRAM FILE SOURCE: FILE is the kernel's, SOURCE the file it was made of. Exits
with 77 where GDB is missing.
"""
import json
import re
import sys

import mi

DOCUMENT, SERVER, PROGRAM, FILE, SOURCE = sys.argv[1:]
# What Microsoft's documentation of "cppdbg" has, of what may be of use here.
KEYS = {"name", "type", "request", "program", "args", "cwd", "environment", "externalConsole", "MIMode",
        "miDebuggerPath", "miDebuggerArgs", "miDebuggerServerAddress", "setupCommands",
        "customLaunchSetupCommands", "launchCompleteCommand", "stopAtEntry", "logging"}


def configuration():
    """The entry of launch.json in the document, with these programs in it."""
    with open(DOCUMENT, encoding="utf-8") as text:
        entry = re.search(r"^```json\n(.*?)^```$", text.read(), re.MULTILINE | re.DOTALL)[1]
    words = f"{PROGRAM} {FILE} sums groups=1 items=8"
    entry = entry.replace("zeta-gdbserver - -- ${workspaceFolder}/program", f"{SERVER} - -- {words}")
    entry = json.loads(entry.replace("${workspaceFolder}/program", PROGRAM))
    assert set(entry) <= KEYS, set(entry) - KEYS
    assert (entry["type"], entry["request"], entry["MIMode"]) == ("cppdbg", "launch", "gdb")
    assert entry["program"] == PROGRAM and SERVER in entry["customLaunchSetupCommands"][-1]["text"]
    return entry


def resume(gdb, command, reason, *patterns):
    """Lets threads go on, and waits for the stop that follows."""
    gdb.do(command, "^running")
    stop = gdb.event(r"^\*stopped")
    for pattern in (f'reason="{reason}"', *patterns):
        assert re.search(pattern, stop), f'{command}: no "{pattern}" in {stop}'


def edit(gdb):
    with open(SOURCE, encoding="utf-8") as text:
        line = next(number for number, line in enumerate(text, 1) if "int result =" in line)
    entry = configuration()
    for command in entry["customLaunchSetupCommands"]:
        gdb.do(command["text"], "done$")
    gdb.event(r"^\*stopped,frame=") # where GDB connected
    gdb.do(f"-break-insert -f {SOURCE}:{line}", "pending=")
    resume(gdb, "-" + entry["launchCompleteCommand"], "breakpoint-hit", 'func="square"',
           f'line="{line}"')
    gdb.do("-stack-list-frames", 'func="square"', 'func="sums"')
    gdb.do("-stack-list-variables --simple-values", 'name="value"', 'name="result"')
    gdb.do('-var-create - * "value * 2"', r'value="\d+"')
    gdb.do("-thread-info", 'name="control"', 'group 0,0,0 local 7,0,0"')
    gdb.do("-break-delete 1")
    gdb.do("-gdb-set scheduler-locking step")
    resume(gdb, "-exec-next", "end-stepping-range", f'line="{line + 2}"')
    resume(gdb, "-exec-step-instruction", "end-stepping-range")
    resume(gdb, "-exec-finish", "function-finished", 'func="sums"')
    gdb.do("-stack-select-frame 0")
    gdb.do("-data-evaluate-expression part[item]", r'value="\d+"')
    gdb.do("-data-disassemble -s $pc -e $pc+16 -- 0", "inst=")
    gdb.do("-data-read-memory-bytes &part 32", 'contents="[0-9a-f]{64}"')
    gdb.do("-gdb-set scheduler-locking off")
    resume(gdb, "-exec-continue", "exited-normally")


mi.run(edit, settings=())
