#!/usr/bin/env python3
"""Runs the sessions that a document shows, and compares what they print with what it says.

transcript.py [--update] DOCUMENT BIN SOURCE: blocks of DOCUMENT that begin with ```console have the
lines `$ COMMAND`, which a shell runs with the programs of BIN, in a folder with a copy of SOURCE; and
`(gdb) COMMAND` behind the command that starts GDB. What is printed follows each. With --update it is
written into the document. What is another each time is not compared: addresses, GDB's numbers of
threads, and folders are 0x7f..., Thread ... and zeta-gdbserver-... in it. Exits with 77 where GDB is
missing.
"""
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
PROMPT = "(gdb) "


def execute(command, folder, binaries):
    """What the command prints."""
    environment = {**os.environ, "PATH": binaries + ":" + os.environ["PATH"], "LC_ALL": "C"}
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{command}: exited with {done.returncode}:\n{done.stdout}")
    return done.stdout


def normalise(text):
    text = re.sub(r"\b0x[0-9a-f]{9,16}\b", lambda found: found[0] if int(found[0], 16) < 4096
                  else "0x7f...", text)
    text = re.sub(r"\S*/(zeta-gdbserver-)\w{6}", r"\1...", text)
    return re.sub(r"^Thread \d+ (?=\")", "Thread ... ", text, flags=re.MULTILINE)


def run_block(block, folder, binaries):
    """The block as it is when its commands are run."""
    lines = [line for line in block.splitlines() if line.startswith(("$ ", PROMPT))]
    result = ""
    for at, line in enumerate(lines):
        if not line.startswith("$ "):
            continue
        commands = []
        for follower in lines[at + 1:]:
            if not follower.startswith(PROMPT):
                break
            commands.append(follower[len(PROMPT):])
        command = line[2:]
        if commands:
            with open(os.path.join(folder, "commands"), "w", encoding="utf-8") as file:
                file.write("\n".join(["set trace-commands on", *commands]) + "\n")
            command = command.replace("zeta debug", "zeta debug --batch -x commands", 1)
        printed = normalise(execute(command, folder, binaries))
        if commands:
            printed = re.sub(r"^\+", PROMPT, printed, flags=re.MULTILINE)
        result += line + "\n" + printed
    return result


def main():
    words = sys.argv[1:]
    is_update = words[0] == "--update"
    document, binaries, source = words[is_update:]
    if not shutil.which("gdb-multiarch"):
        print("skipped: there is no gdb-multiarch (package of that name)")
        return 77
    with open(document, encoding="utf-8") as file:
        text = file.read()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(source, folder)
        wanted = BLOCK.sub(lambda block: run_block(block[0], folder, binaries), text)
    if is_update:
        with open(document, "w", encoding="utf-8") as file:
            file.write(wanted)
        return 0
    difference = list(difflib.unified_diff(text.splitlines(), wanted.splitlines(), document,
                                           "what is printed", lineterm=""))
    print("\n".join(difference))
    if difference:
        print(f"{document} shows something else; transcript.py --update writes what is printed")
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
