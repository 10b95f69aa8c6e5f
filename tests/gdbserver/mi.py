"""Drives GDB through its machine interface, which tells of stops while other threads run."""
import ast
import os
import re
import shutil
import subprocess
import sys

GDB = "gdb-multiarch"


SETTINGS = ("set pagination off", "set confirm off", "set width 0", "set breakpoint pending on",
            "set mi-async on")


def run(case, *arguments, settings=SETTINGS):
    """Calls case(gdb, *arguments), which raises AssertionError. Exits with 77 where GDB is missing."""
    if not shutil.which(GDB):
        print(f"skipped: there is no {GDB} (package of that name)")
        sys.exit(77)
    os.environ.setdefault("LC_ALL", "C")
    gdb = Gdb()
    try:
        for command in settings:
            gdb.do(command)
        case(gdb, *arguments)
        code = gdb.end()
        assert code == 0, f"GDB exited with {code}"
    except AssertionError:
        print("\n".join(gdb.log))
        gdb.kill()
        raise


class Gdb:
    """A GDB. Waits have no limit of time but that of the test; what GDB writes is kept for
    messages."""

    def __init__(self):
        # pylint: disable=consider-using-with
        self._gdb = subprocess.Popen([GDB, "-nx", "-q", "-l", "60", "--interpreter=mi3"], text=True,
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, errors="replace")
        self.log = []
        self._events = []
        self._token = 0

    def _line(self):
        line = self._gdb.stdout.readline()
        if not line:
            raise AssertionError("GDB ended")
        self.log.append(line.rstrip("\n"))
        return self.log[-1]

    def _send(self, command):
        self._token += 1
        self.log.append(f">>> {self._token}{command}")
        self._gdb.stdin.write(f"{self._token}{command}\n")
        self._gdb.stdin.flush()

    def do(self, command, *patterns):
        """Executes a command of the command line (one with a '-' in front: of the machine
        interface); gives what it prints and its result, which have to have the patterns."""
        text = ""
        if command.startswith("-"):
            self._send(command)
        else:
            quoted = command.replace("\\", "\\\\").replace('"', '\\"')
            self._send(f'-interpreter-exec console "{quoted}"')
        while True:
            line = self._line()
            if line.startswith("*"):
                self._events.append(line)
            elif line.startswith("~"):
                text += ast.literal_eval(line[1:])
            elif re.match(rf"{self._token}\^", line):
                if "^error" in line:
                    raise AssertionError(f"{command}: {line}")
                text += line.split("^", 1)[1]
                for pattern in patterns:
                    assert re.search(pattern, text), f"{command}: no \"{pattern}\""
                return text

    def event(self, pattern):
        """Waits for an asynchronous record, and forgets it; others stay."""
        at = 0
        while True:
            while at < len(self._events):
                if re.search(pattern, self._events[at]):
                    return self._events.pop(at)
                at += 1
            line = self._line()
            if line.startswith("*"):
                self._events.append(line)

    def has_event(self, pattern):
        """Whether such a record came by now."""
        return any(re.search(pattern, event) for event in self._events)

    def number(self, expression, where=""):
        """Value of an expression; where: options that say of which thread and frame."""
        answer = self.do(f'-data-evaluate-expression {where}"{expression}"')
        value = re.search(r'value="(-?\d+)', answer)
        return int(value.group(1))

    def end(self):
        """Quits; gives GDB's exit code."""
        self._send("-gdb-exit")
        self._gdb.stdin.close()
        self.log += self._gdb.stdout.read().splitlines()
        return self._gdb.wait()

    def kill(self):
        self._gdb.kill()
        self._gdb.wait()
