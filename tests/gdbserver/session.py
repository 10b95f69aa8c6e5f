#!/usr/bin/env python3
"""Runs a session of the real GDB with zeta-gdbserver and compares what GDB prints.

session.py SERVER PROGRAM FILE SESSION: FILE is the kernel's, SESSION a script of GDB's commands with
comments that say what is expected:

    #! KERNEL [OPTION]...   what the program gets behind FILE; once, first
    #@ KERNEL [OPTION]...   in place of it: GDB opens the core dump that the program leaves, by the
                            command that it logs
    #= REGEX                a line of the output, behind the line that was found before
    #- REGEX                no line of the output

Both run in a folder of their own. Which work-item comes first differs from run to run, so a regex says
what has to be there and no more. Exits with 77 where GDB is missing.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

GDB = "gdb-multiarch"
CORE_DIR = "ZETA_PLUGIN_VGPU_CORE_DIR"
COMMANDS = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        "../../sdk/tools/zeta-gdbserver/zeta-gdb.py")
# Lines of a session that failed.
SHOWN = 40


def run(server, program, file, session, words, folder):
    """Gives what GDB and the program print, and GDB's exit code. A core dump goes to the folder."""
    command = " ".join([server, "-", "--", program, file, *words])
    before = ["set pagination off", "set confirm off", "set width 0", "set breakpoint pending on",
              "set print thread-events off", "set remotetimeout 60"]
    if folder:
        log = subprocess.run([program, file, *words], env={**os.environ, CORE_DIR: folder},
                             stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                             check=False).stderr
        logged = re.search(f"{GDB} --core=[^;\n]*", log)
        if not logged:
            return log.splitlines(), 1
        arguments = [*shlex.split(logged[0]), "-nx", "-batch"]
    else:
        before += [f"source {COMMANDS}", f"target remote | {command}"]
        arguments = [GDB, "-nx", "-batch"]
    for line in before:
        arguments += ["-ex", line]
    done = subprocess.run([*arguments, "-x", session], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False)
    return done.stdout.splitlines(), done.returncode


def compare(expected, lines):
    """The first expectation that does not hold and the lines in question, or None."""
    begin = 0
    for kind, pattern in expected:
        found = [at for at, line in enumerate(lines) if re.search(pattern, line)]
        if kind == "-" and found:
            return f"a line has \"{pattern}\"", lines[max(0, found[0] - SHOWN):]
        if kind == "=":
            behind = [at for at in found if at >= begin]
            if not behind:
                return f"no line has \"{pattern}\" from here on", lines[begin:]
            begin = behind[0] + 1
    return None


def main():
    server, program, file, session = sys.argv[1:]
    if not shutil.which(GDB):
        print(f"skipped: there is no {GDB} (package of that name)")
        return 77
    with open(session, encoding="utf-8") as script:
        comments = [line.rstrip("\n") for line in script if re.match("#[!@=-] ", line)]
    expected = [(line[1], line[3:]) for line in comments if line[1] in "=-"]
    kind, words = next((line[1], line[3:].split()) for line in comments if line[1] in "!@")
    os.environ.setdefault("LC_ALL", "C")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        lines, code = run(server, program, file, session, words, folder if kind == "@" else None)
        os.chdir("/")
    wrong = compare(expected, lines)
    if code != 0 and not wrong:
        wrong = f"GDB exited with {code}", lines[-SHOWN:]
    if wrong:
        print(f"{session}: {wrong[0]}:")
        print("\n".join(wrong[1][:SHOWN]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
