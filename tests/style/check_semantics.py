#!/usr/bin/env python3
"""check_semantics.py REPOSITORY: every rule of sdk/doc/semantics.md has a test.

Rules are rows `| 4.7 | text |`: section and number, numbered through. A test names its rules in a
comment, "Rule 4.7." or "Rules 4.7, 5.2.", in tests/ or examples/.
"""
import pathlib
import re
import sys

DOCUMENT = "sdk/doc/semantics.md"
SOURCES = {".c", ".sh", ".py", ".txt"}
NAMED = re.compile(r"\bRules? (\d+\.\d+(?:, \d+\.\d+)*)")


def rules_of(text):
    """Rule -> line, and sentences about numbers that do not follow each other."""
    rules, mistakes = {}, []
    section = last = 0
    for number, line in enumerate(text.splitlines(), 1):
        heading = re.match(r"## (\d+)\.", line)
        row = re.match(r"\| (\d+)\.(\d+) \| \S", line)
        if heading:
            section, last = int(heading[1]), 0
        elif row:
            if (int(row[1]), int(row[2])) != (section, last + 1):
                mistakes.append(f"{DOCUMENT}:{number}: {row[1]}.{row[2]} follows {section}.{last}")
            last += 1
            rules[f"{row[1]}.{row[2]}"] = number
    return rules, mistakes


def main():
    root = pathlib.Path(sys.argv[1])
    rules, mistakes = rules_of((root / DOCUMENT).read_text())
    if not rules:
        sys.exit(f"{DOCUMENT} has no rule")
    tested = set()
    for path in sorted([*(root / "tests").rglob("*"), *(root / "examples").rglob("*")]):
        if path.suffix not in SOURCES or not path.is_file() or path.samefile(__file__):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for rule in (r for found in NAMED.findall(line) for r in found.split(", ")):
                tested.add(rule)
                if rule not in rules:
                    mistakes.append(f"{path.relative_to(root)}:{number}: {DOCUMENT} has no rule {rule}")
    mistakes += [f"{DOCUMENT}:{line}: no test names rule {rule}" for rule, line in rules.items()
                 if rule not in tested]
    for mistake in mistakes:
        print(mistake, file=sys.stderr)
    sys.exit(1 if mistakes else 0)


if __name__ == "__main__":
    main()
