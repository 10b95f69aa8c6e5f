#!/usr/bin/env python3
"""The lists of names in sdk/include/zeta/compat/README.md and the headers say the same.

check_names.py --source DIR --include DIR --cc COMPILER --cxx COMPILER --work DIR

Every name that is offered compiles at its levels, in C and in C++, and has the value that is told.
Every macro and type that a header adds is in the list of its level. No name that is not offered is
a macro. Levels that exclude each other say so. With ZETA_SHARED the names of the reference that the
list was made from are in it.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

LEVELS = {"0.91": "zet_0_91.h", "1.0p": "zet_1_0_provisional.h", "TP": "zet_tracer_proposal.h"}
NAME = r"\b(?:zet?[A-Z]\w*|zet?_\w+|(?:ZET?|XE)_\w+|pfn[A-Z]\w*)"
problems = []


def rows(text, heading):
    """The rows of the table below a heading, as lists of cells."""
    part = text.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def names_in(cell):
    return [m.group(0) for m in re.finditer(NAME, " ".join(re.findall(r"`([^`]*)`", cell)))]


def offered(text):
    """{level: {name: value or None}}"""
    result = {level: {} for level in LEVELS}
    for names, levels, becomes in rows(text, "Names that are offered"):
        found = names_in(names)
        values = re.search(r": ((?:0x[0-9a-f]+|\d+)(?:, \d+)*)$", becomes)
        values = values.group(1).split(", ") if values else [None]
        if len(values) == 1:
            values *= len(found)
        if len(values) != len(found):
            problems.append(f"{names}: {len(found)} names and {len(values)} values")
            continue
        for level in levels.split(", "):
            result[level].update(zip(found, values))
    return result


def run(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)


def macros(args, header):
    out = run([args.cc, "-std=c11", *args.flags, "-E", "-dM", "-include", header, "-x", "c",
               "/dev/null"])
    if out.returncode != 0:
        sys.exit(f"{header} does not compile:\n{out.stderr}")
    return {m.group(1) for m in re.finditer(r"^#define (\w+)", out.stdout, re.M)}


def typedefs(folder, header):
    """Types that a header and those of the folder that it includes define."""
    text = (folder / header).read_text()
    found = set(re.findall(r"typedef[^;]*?(\w+);", text))
    for inner in re.findall(r"#include <zeta/compat/(\w+\.h)>", text):
        found |= typedefs(folder, inner)
    return found


def probe(names):
    """A source that uses each name as what it looks like."""
    lines = ["#include <stddef.h>", "#if !defined(__cplusplus)",
             "#define static_assert _Static_assert", "#endif", "int probe(void);",
             "int probe(void)", "{"]
    for name, value in sorted(names.items()):
        if name.startswith("pfn"):
            lines.append(f"    (void)offsetof(ze_command_list_callbacks_t, {name});")
        elif name.endswith("_t"):
            lines.append(f"    (void)sizeof({name});")
        elif name.isupper() or "_" in name:
            lines.append(f'    static_assert({name} == {value}, "{name}");')
        else:
            lines.append(f"    (void)&{name};")
    return "\n".join(lines + ["    return 0;", "}", ""])


def check_level(args, folder, level, names, before):
    header = LEVELS[level]
    for suffix, compiler, standard in (("c", args.cc, "c11"), ("cpp", args.cxx, "c++17")):
        file = args.work / f"probe_{header[:-2]}.{suffix}"
        file.write_text(f"#include <zeta/compat/{header}>\n" + probe(names))
        out = run([compiler, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                   *args.flags, "-fsyntax-only", str(file)])
        if out.returncode != 0:
            problems.append(f"names of {level} do not compile as {standard}:\n{out.stderr}")
    now = macros(args, f"zeta/compat/{header}")
    added = {name for name in now - before if re.fullmatch(NAME, name)} | typedefs(folder, header)
    for name in sorted(added - names.keys()):
        problems.append(f"{header} has {name}, the list does not say so for {level}")
    for name in sorted(names.keys() - added):
        problems.append(f"the list has {name} for {level}, {header} does not define it")
    return now - before


def check_combinations(args):
    """0.91 stands alone in a source, whatever comes first; the others stand together."""
    for first in LEVELS:
        for second in LEVELS:
            file = args.work / "combination.c"
            file.write_text("".join(f"#include <zeta/compat/{LEVELS[level]}>\n"
                                    for level in (first, second)))
            out = run([args.cc, "-std=c11", *args.flags, "-fsyntax-only", str(file)])
            refused = "use one level in each source file" in out.stderr
            if refused != (first != second and "0.91" in (first, second)):
                problems.append(f"{first} and then {second} in one source: {out.stderr or 'works'}")


def check_reference(text):
    """Each name in the first column of the reference's tables is somewhere in the README."""
    reference = pathlib.Path(os.environ.get("ZETA_SHARED", "")) / "reference/legacy-names.md"
    if not reference.is_file():
        print("not compared with the reference of old names: it is not here")
        return
    known = set(re.findall(NAME, text))
    for section in re.split(r"^## ", reference.read_text(), flags=re.M)[2:5]:
        for line in section.splitlines():
            if not line.startswith("| ") or line.startswith("| old"):
                continue
            for name in re.findall(NAME, line.split("|")[1]):
                complete = not name.endswith("_")
                if not (name in known if complete else any(k.startswith(name) for k in known)):
                    problems.append(f"the README says nothing of {name}")


def main():
    parser = argparse.ArgumentParser()
    for option in ("--source", "--include", "--work"):
        parser.add_argument(option, type=pathlib.Path, required=True)
    parser.add_argument("--cc", required=True)
    parser.add_argument("--cxx", required=True)
    args = parser.parse_args()
    args.flags = [f"-I{args.source / 'sdk/include'}", f"-I{args.include}"]
    args.work.mkdir(parents=True, exist_ok=True)
    folder = args.source / "sdk/include/zeta/compat"
    text = (folder / "README.md").read_text()

    before = macros(args, "level_zero/zet_api.h")
    added = set()
    lists = offered(text)
    for level, names in lists.items():
        added |= check_level(args, folder, level, names, before)
    every = set().union(*lists.values())
    for names, _, _ in rows(text, "Names that are not offered"):
        for name in set(names_in(names)) & (added | every):
            problems.append(f"{name} is not offered, they say, but it is")
    for names, _ in rows(text, "Names that need nothing"):
        for name in set(names_in(names)) & (added | every):
            problems.append(f"{name} needs nothing, they say, but a header changes it")
    check_combinations(args)
    check_reference(text)
    for problem in problems:
        print("error:", problem, file=sys.stderr)
    print(f"{sum(len(names) for names in lists.values())} names at {len(LEVELS)} levels")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
