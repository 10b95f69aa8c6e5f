#!/usr/bin/env python3
"""What an editor does: GDB by its machine interface (GDB/MI), as sdk/doc/debugging.md sets VS Code up.

editor.py SERVER PROGRAM FILE SOURCE: FILE is the kernel's, SOURCE the file it was made of. Exits with 77
where GDB is missing.
"""
import re
import shutil
import subprocess
import sys

GDB = "gdb-multiarch"


class Editor:
    """GDB, asked one thing after the other."""

    def __init__(self):
        # pylint: disable=consider-using-with
        self.gdb = subprocess.Popen([GDB, "-nx", "--interpreter=mi"], stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.token = 0

    def wait(self, pattern):
        """Reads until a line has the pattern, and gives that line."""
        for line in self.gdb.stdout:
            print(line, end="")
            if re.search(pattern, line):
                return line
        return sys.exit(f"GDB ended, and no line had \"{pattern}\"")

    def ask(self, command, *patterns):
        """Sends a command; its result has to have the patterns."""
        self.token += 1
        self.gdb.stdin.write(f"{self.token}{command}\n")
        self.gdb.stdin.flush()
        result = self.wait(rf"^{self.token}\^")
        for pattern in patterns:
            if not re.search(pattern, result):
                sys.exit(f"{command}: no \"{pattern}\"")
        return result

    def resume(self, command, *patterns):
        """Lets threads go on, and gives the stop that follows."""
        self.ask(command, r"\^running")
        stop = self.wait(r"^\*stopped")
        for pattern in patterns:
            if not re.search(pattern, stop):
                sys.exit(f"{command}: it stopped without \"{pattern}\"")
        return stop


def main():
    server, program, file, source = sys.argv[1:]
    if not shutil.which(GDB):
        print(f"skipped: there is no {GDB} (package of that name)")
        return 77
    command = f"{server} - -- {program} {file} sums groups=1 items=8"
    with open(source, encoding="utf-8") as text:
        line = next(number for number, line in enumerate(text, 1) if "int result =" in line)
    editor = Editor()
    editor.ask("-gdb-set breakpoint pending on", r"\^done")
    editor.ask("-gdb-set sysroot /", r"\^done")
    editor.ask(f"-interpreter-exec console \"target remote | {command}\"", r"\^done")
    editor.ask(f"-break-insert -f {source}:{line}", r"pending=")
    editor.resume("-exec-continue", "breakpoint-hit", 'func="square"', rf'line="{line}"')
    editor.ask("-stack-list-frames", 'func="square"', 'func="sums"')
    editor.ask("-stack-list-variables --simple-values", 'name="value"', 'name="result"')
    editor.ask('-var-create - * "value * 2"', r'value="\d+"')
    editor.ask("-thread-info", 'name="control"', 'group 0,0,0 local 7,0,0"')
    editor.ask("-break-delete 1", r"\^done")
    editor.ask("-gdb-set scheduler-locking step", r"\^done")
    editor.resume("-exec-next", "end-stepping-range", f'line="{line + 2}"')
    editor.resume("-exec-step-instruction", "end-stepping-range")
    editor.resume("-exec-finish", "function-finished", 'func="sums"')
    editor.ask("-stack-select-frame 0", r"\^done")
    editor.ask("-data-evaluate-expression part[item]", r'value="\d+"')
    editor.ask("-data-disassemble -s $pc -e $pc+16 -- 0", "inst=")
    editor.ask("-data-read-memory-bytes &part 32", 'contents="[0-9a-f]{64}"')
    editor.ask("-gdb-set scheduler-locking off", r"\^done")
    editor.resume("-exec-continue", "exited-normally")
    editor.ask("-gdb-exit", r"\^exit")
    return editor.gdb.wait()


if __name__ == "__main__":
    sys.exit(main())
