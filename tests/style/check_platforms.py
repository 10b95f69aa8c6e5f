#!/usr/bin/env python3
"""check_platforms.py REPOSITORY BUILD CTEST: the tables of plugins/intel/README.md are true.

The rows of the section "Platforms" are what the data says: every platform, its PCI ids, report
formats and sets. The emulated GPU in the last column exists and has an id of the platform, or stands
for it ("as"). Tests and cases that tables name are there.
"""
import pathlib
import re
import subprocess
import sys

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
TEST = re.compile(r"`(?:api|unit|plugin|fuzz|intel|kmd|style)\.[\w.-]+`|`\w+__\w+`")


def load(path):
    return yaml.load(path.read_text(encoding="utf-8"), Loader=LOADER)


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
    """Of names of tests, each followed by cases of it."""
    test, sources = "", set()
    for word in re.findall(r"`([^`]+)`", cell):
        if "__" not in word:
            test, parts = word, word.split(".")
            sources = {"test_" + parts[-1], "test_" + "_".join(parts[-2:])}
            if word not in names:
                yield f"there is no test {word}"
        elif not sources & cases.get(word, set()):
            yield f"{test} has no case {word}"


def formats(unit):
    if not unit:
        return "none"
    names = [f"i915 {unit['i915']}"] if "i915" in unit else []
    names += [f"xe {unit['xe']:#x}"] if "xe" in unit else []
    return f"{', '.join(names)}: {unit['record']} bytes"


def count_sets(folder, names):
    """Sets of the OA unit, and those of media units."""
    counts = [0, 0]
    for name in names:
        if name.startswith("intel/"):  # what generations share
            continue
        file = load(folder / name)
        for entry in file.get("sets", []):
            entry = {**file.get("kinds", {}).get(entry.get("kind"), {}), **entry}
            times = len(entry["uuid"]) if "for" in entry else 1
            for unit in [entry["unit"]] + [also["unit"] for also in entry.get("also", [])]:
                counts[unit != "oa"] += times if unit.startswith("oa") else 0  # no stall samples
    return f"{counts[0]} + {counts[1]}" if counts[1] else str(counts[0])


def rows_of_data(plugin, build):
    """The row of each platform but its last column, by id, and its PCI ids."""
    rows = {}
    for file in sorted(plugin.glob("data/*/platforms.yaml")):
        generation = file.parent.name
        manifest = load(build / f"share/zeta/plugins.d/20-intel-{generation}.yaml")
        more = ["programmables"] if "metric.programmable" in manifest["provides"] else []
        more += ["EU stalls"] if "intel/eu-stall.yaml" in manifest["metrics"] else []
        for platform in load(file)["platforms"]:
            units = platform["units"]
            cells = [generation, f"{platform['name']} `{platform['id']}`", len(platform["pci"]),
                     formats(units["oag"]), formats(units.get("oam")),
                     count_sets(file.parent, platform["sets"]), ", ".join(more) or "none"]
            rows[platform["id"]] = ("| " + " | ".join(map(str, cells)) + " |", platform["pci"])
    return rows


def presets(root):
    """PCI ids of the GPUs that tests/kmd can show, by name."""
    text = (root / "tests/kmd/machine/platforms.c").read_text(encoding="utf-8")
    found = re.findall(r'\.name = "([\w-]+)".*?\.pci_id = (0x[0-9a-f]+)', text, re.S)
    if not found:
        sys.exit("tests/kmd/machine/platforms.c has no platform in the form that this script reads")
    return {name: int(number, 16) for name, number in found}


def mistakes_of_platforms(root, build, lines):
    wanted = rows_of_data(root / "plugins/intel", build)
    emulated = presets(root)
    seen = set()
    for number, line in lines:
        match = re.match(r"\| [\w-]+ \| .*? `([\w-]+)` \|", line)
        if not match:
            continue
        head, _, last = line.rstrip(" |").rpartition("|")
        row, pci = wanted.get(match[1], ("", []))
        seen.add(match[1])
        if head + "|" != row:
            yield number, f"the data says: {row}"
        preset = re.findall(r"`([\w-]+)`", last)
        if not preset or preset[0] not in emulated:
            yield number, "the last column names no platform of tests/kmd"
        elif not last.strip().startswith("as ") and emulated[preset[0]] not in pci:
            yield number, f"{preset[0]} is another platform; say 'as `{preset[0]}`'"
    for name in wanted.keys() - seen:
        yield 0, f"there is no row like {wanted[name][0]}"


def mistakes_of_tests(root, lines, names):
    cases = cases_by_source(root)
    for number, line in lines:
        for cell in line.split("|"):
            words = " ".join(TEST.findall(cell))
            for mistake in mistakes_of(words, names, cases) if words else ():
                yield number, mistake


def main():
    root = pathlib.Path(sys.argv[1])
    path = root / "plugins/intel/README.md"
    text = list(enumerate(path.read_text(encoding="utf-8").splitlines(), 1))
    tables = [(number, line) for number, line in text if line.startswith("| ")]
    # Above are tables of files, whose names look like those of tests.
    start = next(number for number, line in text if line == "## Platforms")
    end = next(number for number, line in text if number > start and line.startswith("## "))
    platforms = [(number, line) for number, line in tables if start < number < end]
    names = registered(sys.argv[3], sys.argv[2])
    mistakes = list(mistakes_of_platforms(root, pathlib.Path(sys.argv[2]), platforms))
    mistakes += mistakes_of_tests(root, [row for row in tables if row[0] > start], names)
    for number, mistake in mistakes:
        print(f"{path}:{number}: {mistake}", file=sys.stderr)
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
