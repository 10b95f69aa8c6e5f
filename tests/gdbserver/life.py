#!/usr/bin/env python3
"""How programs and connections begin and end, with the real GDB.

life.py SERVER PROGRAM FILE CASE: FILE is the kernel's, CASE a function below. Exits with 77 where GDB is
missing.
"""
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

GDB = "gdb-multiarch"
SERVER, PROGRAM, FILE = sys.argv[1:4]
SPIN = [PROGRAM, FILE, "spin", "items=1", "exit=3"]


def gdb(target, *commands):
    """What GDB prints when it executes these commands, connected to a target."""
    arguments = [GDB, "-nx", "-batch"]
    for command in ("set pagination off", "set confirm off", "set width 0",
                    "set breakpoint pending on", "set remotetimeout 60",
                    f"target remote {target}", *commands):
        arguments += ["-ex", command]
    done = subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    print(done.stdout)
    return done.stdout


def expect(text, *patterns):
    for pattern in patterns:
        if not re.search(pattern, text, re.MULTILINE):
            sys.exit(f"no \"{pattern}\"")


def start_program():
    """A program that anyone may debug, and whose kernel runs until numbers[1] is 0."""
    # pylint: disable=consider-using-with
    program = subprocess.Popen([*SPIN, "told=1"], stdout=subprocess.PIPE, text=True,
                               env={**os.environ, "ZET_ENABLE_PROGRAM_DEBUGGING": "1"})
    while not os.path.exists("spinning"):
        if program.poll() is not None:
            sys.exit(f"the program ended with {program.returncode}")
        time.sleep(0.01)
    return program


def start_server(*words, host=""):
    """A server, and where it listens."""
    # pylint: disable=consider-using-with
    server = subprocess.Popen([SERVER, host + ":0", *words], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
    line = server.stderr.readline()
    return server, ":" + re.search(r"Listening on port (\d+)", line)[1]


def start_spinning():
    """A server, its program, which spins, and where it listens."""
    server, port = start_server("--", "/bin/sh", "-c", 'echo $$; exec "$@"', "sh", *SPIN)
    return server, int(server.stdout.readline()), port


def attach():
    """Twice, and between the two the program runs."""
    program = start_program()
    target = f"| {SERVER} - --attach {program.pid}"
    expect(gdb(target, "sharedlibrary", "thread 2", "backtrace", "detach"),
           r"^#0 .* spin \(numbers=", r"detached")
    if program.poll() is not None:
        sys.exit("detaching ended the program")
    expect(gdb(target, "sharedlibrary", "thread 2", "break 37", "continue",
               "set var numbers[1] = 0", "delete", "continue"), r"hit Breakpoint 1", "exited")
    expect(program.stdout.read(), r"^numbers: 77 0 1024")
    if program.wait() != 3:
        sys.exit(f"the program gave {program.returncode}")


def signals():
    """A program that dies by a signal, which GDB calls by its name, and the server as a shell does."""
    for number, name in ((signal.SIGBUS, "SIGBUS"), (signal.SIGSEGV, "SIGSEGV"),
                         (signal.SIGUSR1, "SIGUSR1"), (signal.SIGKILL, "SIGKILL")):
        server, port = start_server("--", PROGRAM, FILE, "sums", f"die={int(number)}")
        expect(gdb(port, "continue"), f"Program terminated with signal {name}")
        if server.wait() != 128 + number:
            sys.exit(f"the server gave {server.returncode}")
    # The server ignores SIGPIPE, which is no matter of the program.
    server, port = start_server("--", "/bin/sh", "-c", 'grep SigIgn /proc/self/status; exec "$@"', "sh",
                                PROGRAM, FILE, "sums")
    expect(gdb(port, "continue"), "exited normally")
    server.wait()
    ignored = int(re.search(r"SigIgn:\s*([0-9a-f]+)", server.stdout.read())[1], 16)
    if ignored >> (signal.SIGPIPE - 1) & 1:
        sys.exit("the program ignores SIGPIPE")


def reconnect():
    """A GDB that is gone leaves the program as it was, and the next one finds it so."""
    server, port = start_server("--", *SPIN)
    expect(gdb(port, "break spin", "continue", "disconnect"), "hit Breakpoint 1, spin")
    expect(gdb(port, "sharedlibrary", "thread 2", "backtrace", "set var numbers[1] = 0", "continue"),
           r"^#0 +spin \(numbers=", "exited with code 03")
    expect(server.stdout.read(), r"^numbers: 77 0 2")
    if server.wait() != 3:
        sys.exit(f"the server gave {server.returncode}, not what the program did")


def login_folder():
    """Functions are known where the folder of a login is not there, or has a strange name."""
    os.mkdir('<a & "b">')
    for folder in ("/nonexistent", os.path.abspath('<a & "b">')):
        os.environ["XDG_RUNTIME_DIR"] = folder
        server, port = start_server("--", PROGRAM, FILE, "sums")
        expect(gdb(port, "break square", "continue", "delete", "continue"),
               "hit Breakpoint 1, square", "exited normally")
        server.wait()


def kill():
    """Server and program end."""
    server, pid, port = start_spinning()
    expect(gdb(port, "break spin", "continue", "kill"), "hit Breakpoint 1", "killed")
    server.wait()
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return
    sys.exit("the program lives on")


def detach():
    """The program lives on, and the server with it."""
    server, port = start_server("--", *SPIN[:2], "sums", "exit=3")
    expect(gdb(port, "break square", "continue", "detach"), "hit Breakpoint 1", "detached")
    expect(server.stdout.read(), r"^numbers: 49 37")
    if server.wait() != 3:
        sys.exit(f"the server gave {server.returncode}, not what the program did")


def hang_up():
    """A server that GDB started ends, with its program, when GDB is gone."""
    expect(gdb(f"| {SERVER} - -- /bin/sh -c 'echo $$ >pid; exec \"$@\"' sh {' '.join(SPIN)}",
               "break spin", "continue", "python import os; os.kill(os.getpid(), 9)"),
           "hit Breakpoint 1")
    with open("pid", encoding="ascii") as file:
        pid = file.read().strip()
    while os.path.exists(f"/proc/{pid}/exe"):
        time.sleep(0.01)


def is_alive(pid):
    """A program that has ended and was not waited for has no file."""
    return os.path.exists(f"/proc/{pid}/exe")


def module_folders():
    return [name for name in os.listdir() if name.startswith("zeta-gdbserver-")]


def ended():
    """A server that is ended leaves no file and no program, also where the program is stopped."""
    os.environ["XDG_RUNTIME_DIR"] = os.getcwd()
    for number, is_stopped in ((signal.SIGTERM, False), (signal.SIGINT, True), (signal.SIGHUP, False)):
        server, pid, port = start_spinning()
        expect(gdb(port, "break spin", "continue", "disconnect"), "hit Breakpoint 1")
        if len(module_folders()) != 1:
            sys.exit(f"folders of modules: {module_folders()}")
        if is_stopped:
            os.kill(pid, signal.SIGSTOP)
        server.send_signal(number)
        if server.wait() != -number or is_alive(pid) or module_folders():
            sys.exit(f"{server.returncode}, program {is_alive(pid)}, {module_folders()}")
    # Before the program uses a device, and where a signal is ignored.
    server, port = start_server("--", "/bin/sh", "-c", "echo $$; exec sleep infinity")
    pid = int(server.stdout.readline())
    server.terminate()
    if server.wait() != -signal.SIGTERM:
        sys.exit(f"the server gave {server.returncode}")
    while is_alive(pid):
        time.sleep(0.01)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    server, port = start_server("--", PROGRAM, FILE, "sums", "exit=3")
    server.send_signal(signal.SIGHUP)
    expect(gdb(port, "continue"), "exited with code 03")
    server.wait()


def ended_attached():
    """The program that it attached to lives on, and those that are let go of."""
    os.environ["XDG_RUNTIME_DIR"] = os.getcwd()
    program = start_program()
    server, port = start_server("--attach", str(program.pid))
    expect(gdb(port, "sharedlibrary", "thread 2", "break 37", "continue", "disconnect"), "hit Breakpoint 1")
    server.terminate()
    if server.wait() != -signal.SIGTERM or program.poll() is not None or module_folders():
        sys.exit(f"{server.returncode}, {program.poll()}, {module_folders()}")
    server, port = start_server("--attach", str(program.pid))
    expect(gdb(port, "sharedlibrary", "thread 2", "set var numbers[1] = 0", "detach"), "detached")
    if program.wait() != 3 or server.wait() != 0:
        sys.exit(f"{program.returncode}, {server.returncode}")
    server, pid, port = start_spinning()
    expect(gdb(port, "break spin", "continue", "detach"), "detached")
    server.terminate()
    code, lives = server.wait(), is_alive(pid)
    os.kill(pid, signal.SIGKILL)
    if code != -signal.SIGTERM or not lives:
        sys.exit(f"{code}, program {lives}")


def descriptors():
    """A server that cannot accept connections says so once, and ends with its program."""
    server, pid, port = start_spinning()
    expect(gdb(port, "break spin", "continue", "disconnect"), "hit Breakpoint 1")
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (3, 3))
    with socket.create_connection(("127.0.0.1", int(port[1:]))):
        said = server.stderr.read()
    if server.wait() != 1 or is_alive(pid) or said.count("cannot be accepted: Too many open files") != 1:
        sys.exit(f"{server.returncode}, program {is_alive(pid)}, \"{said}\"")


def keep_alive():
    """The system looks whether GDB's machine is still there."""
    server, port = start_server("--", PROGRAM, FILE, "sums")
    with socket.create_connection(("127.0.0.1", int(port[1:]))) as client:
        address = f":{client.getpeername()[1]:04X} 0100007F:{client.getsockname()[1]:04X} 01 "
        while True:
            with open("/proc/net/tcp", encoding="ascii") as file:
                if any(address in line and line.split()[5].startswith("02:") for line in file):
                    break
            time.sleep(0.01)
    server.terminate()
    server.wait()


def address():
    """Nobody on another machine can connect, unless the address says so."""
    for host, wanted in (("", "0100007F"), ("127.0.0.1", "0100007F"), ("0.0.0.0", "00000000")):
        server, port = start_server("--", PROGRAM, FILE, "sums", host=host)
        with open("/proc/net/tcp", encoding="ascii") as file:
            bound = [line.split()[1].split(":")[0] for line in file
                     if f":{int(port[1:]):04X} 00000000:0000 0A" in line]
        expect(gdb(port, "continue"), "exited normally")
        server.wait()
        if bound != [wanted]:
            sys.exit(f"\"{host}\" is bound to {bound}")


def refusals():
    """What cannot be debugged, and how one is told."""
    for words, code, sentence in (
            ([":0", "--", "/nonexistent"], 127, '"/nonexistent" cannot be run: No such file'),
            ([":0", "--", "/bin/true"], 1, "the program ended and did not use the device"),
            ([":0", "--attach", "1"], 1, "process 1 cannot be debugged"),
            ([":0", "--attach", "x"], 2, "x is no process"),
            ([":0", "--attach", "4294967297"], 2, "4294967297 is no process"),
            ([":0", "--device", "none", "--", "true"], 1, 'there is no device "none"'),
            (["nowhere"], 2, "needs either -- PROGRAM or --attach PID"),
            (["nowhere", "--", "true"], 2, "nowhere is no [HOST]:PORT"),
            ([":no-port", "--", "true"], 1, "is no address"),
            ([], 2, "where GDB connects, [HOST]:PORT, is missing"),
            (["--wrong"], 2, "--wrong is no option"), (["--device"], 2, "needs a value")):
        done = subprocess.run([SERVER, *words], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False)
        if done.returncode != code or sentence not in done.stderr:
            sys.exit(f"{words}: {done.returncode}, {done.stderr}")
    for word, text in (("--help", "Usage: zeta-gdbserver"), ("--version", "zeta-gdbserver 0")):
        done = subprocess.run([SERVER, word], capture_output=True, text=True, check=False)
        if done.returncode != 0 or text not in done.stdout:
            sys.exit(f"{word}: {done.returncode}, {done.stdout}")


def main():
    cases = {function.__name__: function for function in (
        address, attach, descriptors, detach, ended, ended_attached, hang_up, keep_alive, kill,
        login_folder, reconnect, refusals, signals)}
    if not shutil.which(GDB):
        print(f"skipped: there is no {GDB} (package of that name)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        cases[sys.argv[4]]()
        os.chdir("/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
