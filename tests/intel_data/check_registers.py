#!/usr/bin/env python3
"""check_registers.py REPOSITORY IMPORTER: the importer makes each registers.yaml again, byte for byte.

The head of such a file is the command that made it, in the folder oa of ZETA_SHARED. A file whose
inputs are missing is passed over, with a sentence.
"""
import os
import pathlib
import subprocess
import sys

SKIPPED = 77
LIBRARY = "libi915_perf"


def command_of(text):
    """The inputs of the command in the head of a file."""
    head = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        head.append(line.lstrip("# "))
    words = " ".join(head).split()
    return words[words.index("--programs") + 1:]


def main():
    repository, importer = pathlib.Path(sys.argv[1]), os.path.abspath(sys.argv[2])
    folder = pathlib.Path(os.environ.get("ZETA_SHARED", "/nowhere")) / "oa"
    same, wrong, passed = 0, 0, 0
    for path in sorted(repository.glob("plugins/intel/data/*/registers.yaml")):
        text = path.read_bytes()
        inputs = command_of(text.decode())
        missing = [name for name in inputs
                   if not name.startswith(LIBRARY) and not (folder / name).is_file()]
        made = None
        if not missing:
            made = subprocess.run([sys.executable, importer, "--programs", *inputs],
                                  cwd=folder if folder.is_dir() else None,
                                  capture_output=True, check=False)
        if missing or (made.returncode and b"is not installed" in made.stderr):
            print(f"{path.parent.name}: passed over, its inputs are missing: "
                  f"{', '.join(missing) or LIBRARY}")
            passed += 1
        elif made.stdout == text:
            same += 1
        else:
            print(f"{path}: the importer makes another file", made.stderr.decode()[:500])
            wrong += 1
    print(f"{same} files are made again, {wrong} are others, {passed} passed over")
    return 1 if wrong else 0 if same else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
