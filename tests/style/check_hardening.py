#!/usr/bin/env python3
"""check_hardening.py READELF FILE...: what runs in other people's processes, and with rights that
they do not have, is linked and compiled such that an overflow ends the program.

Asked for: relocations that become read-only before anything runs (relro, now), canaries in
functions with buffers, and the checked functions of the C library.
"""
import re
import subprocess
import sys

WANTED = {
    "-z relro": ("-lW", r"GNU_RELRO"),
    "-z now": ("-dW", r"\(FLAGS_1\).*\bNOW\b"),
    "-fstack-protector-strong": ("--dyn-syms", r"\b__stack_chk_fail\b"),
    "-D_FORTIFY_SOURCE=2": ("--dyn-syms", r"\b__\w+_chk\b"),
}


def main(readelf, files):
    status = 0
    for file in files:
        for what, (option, pattern) in WANTED.items():
            said = subprocess.run([readelf, "-W", option, file], check=True, capture_output=True,
                                  text=True).stdout
            if not re.search(pattern, said):
                print(f"{file} is built without {what}")
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
