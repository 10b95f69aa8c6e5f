#!/usr/bin/env python3
"""check_tidy.py CLANG-TIDY BUILD FOLDER: .clang-tidy has nothing to say about the C files of a folder
that are part of the build.

A file is checked again when it, a header, the options of its compiler or .clang-tidy changed since it
was last found clean: BUILD/tidy holds a hash of all of these for each file. The headers are those that
ninja knows; with another generator every file is checked each time.
"""
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

# How far the analyzer follows a function. With the default of version 14, 225000, it takes four times
# as long; ./run test matrix sets that.
NODES = os.environ.get("ZETA_TIDY_NODES", "20000")
# Options that only gcc has; clang refuses them whatever the warnings.
GCC_ONLY = re.compile(r" -fno-gcse\b| -fno-crossjumping\b")


def output_of(entry):
    return re.search(r" -o (\S+)", entry["command"])[1]


def headers_by_output(build, outputs):
    """What each object was made of, where ninja knows."""
    found = subprocess.run(["ninja", "-C", build, "-t", "deps", *outputs], capture_output=True, text=True,
                           check=False)
    blocks = (block.splitlines() for block in found.stdout.split("\n\n"))
    return {head.partition(": #deps")[0]: [line.strip() for line in lines]
            for head, *lines in filter(None, blocks) if head.endswith("(VALID)")}


def content_hash(path, known={}):
    if path not in known:
        known[path] = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "absent"
    return known[path]


def key_of(entry, headers, config):
    """Of everything that the verdict depends on, or None."""
    if headers is None:
        return None
    contents = (content_hash(pathlib.Path(entry["directory"], header)) for header in headers)
    return hashlib.sha256("\n".join([*config, entry["command"], *contents]).encode()).hexdigest()


def main():
    tool, build, folder = sys.argv[1:4]
    root = pathlib.Path(__file__).resolve().parents[2]
    # Paths through programs are analysed where users run them; in tests that takes longest and says
    # least, for a test that goes wrong is seen.
    checks = "-clang-analyzer-*" if "/tests/" in folder + "/" else ""
    config = [tool, NODES, checks, content_hash(root / ".clang-tidy")]

    commands = {}
    for entry in json.loads(pathlib.Path(build, "compile_commands.json").read_text(encoding="utf-8")):
        # Templates and the like are not compiled, so nobody knows with what options.
        if os.path.dirname(entry["file"]) == folder and entry["file"].endswith(".c"):
            entry["command"] = GCC_ONLY.sub("", entry["command"])
            commands.setdefault(entry["file"], entry)
    stamps = pathlib.Path(build, "tidy", os.path.relpath(folder, root))
    stamps.mkdir(parents=True, exist_ok=True)
    (stamps / "compile_commands.json").write_text(json.dumps(list(commands.values())), encoding="utf-8")

    headers = headers_by_output(build, map(output_of, commands.values()))
    status = 0
    for file, entry in sorted(commands.items()):
        stamp = stamps / f"{os.path.basename(file)}.clean"
        key = key_of(entry, headers.get(output_of(entry)), config)
        if key and stamp.is_file() and stamp.read_text() == key:
            continue
        stamp.unlink(missing_ok=True)
        analyzer = [f"--extra-arg={word}" for word in ("-Xclang", "-analyzer-config", "-Xclang",
                                                       f"max-nodes={NODES}")]
        run = subprocess.run([tool, "--quiet", f"--checks={checks}", *analyzer, "-p", stamps, file],
                             check=False)
        if run.returncode:
            status = 1
        elif key:
            stamp.write_text(key)
    return status


if __name__ == "__main__":
    sys.exit(main())
