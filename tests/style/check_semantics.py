#!/usr/bin/env python3
"""check_semantics.py REPOSITORY BUILD CTEST: every rule of sdk/doc/semantics.md has a test.

The last column of its tables names tests as `ctest name`: `case`, `case`; `ctest name` ... Each
name must be registered, and each case be a function of that test's source: test_c.c, or test_b_c.c,
for a.b.c.
"""
import pathlib
import re
import subprocess
import sys


def registered(ctest, build):
    listing = subprocess.run([ctest, "--test-dir", build, "-N"], capture_output=True, text=True,
                             check=True).stdout
    return set(re.findall(r"Test\s+#\d+: (\S+)", listing))


def cases_by_source(root):
    cases = {}
    for path in (root / "tests").rglob("test_*.c"):
        for case in re.findall(r"^static void (\w+__\w+)\(void \*\*", path.read_text(), re.M):
            cases.setdefault(case, set()).add(path.stem)
    return cases


def mistakes_of(cell, names, cases):
    if "`" not in cell:
        yield "names no test"
    for group in cell.split(";"):
        test, sources = "", set()
        for word in re.findall(r"`([^`]+)`", group):
            if "__" not in word:
                test, parts = word, word.split(".")
                sources = {"test_" + parts[-1], "test_" + "_".join(parts[-2:])}
                if word not in names:
                    yield f"there is no test {word}"
            elif not sources & cases.get(word, set()):
                yield f"{test} has no case {word}"


def main():
    root = pathlib.Path(sys.argv[1])
    names = registered(sys.argv[3], sys.argv[2])
    cases = cases_by_source(root)
    text = (root / "sdk/doc/semantics.md").read_text()
    rules = 0
    mistakes = 0
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("| ") or line == "| Rule | Test |":
            continue
        rules += 1
        for mistake in mistakes_of(line.rstrip(" |").rsplit("|", 1)[-1], names, cases):
            mistakes += 1
            print(f"sdk/doc/semantics.md:{number}: {mistake}", file=sys.stderr)
    if rules == 0:
        sys.exit("sdk/doc/semantics.md holds no rule")
    sys.exit(1 if mistakes else 0)


if __name__ == "__main__":
    main()
