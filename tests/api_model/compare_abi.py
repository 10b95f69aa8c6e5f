#!/usr/bin/env python3
"""Compares the generated headers with the official ones of libze-dev, whatever version these have.

The official headers are read for names only. For everything that both have, one C program prints
sizes, offsets and values; it is compiled with either set of headers and the two outputs have to be
equal. Parameter types of the functions are compared as text.

Exit status: 0 equal, 1 different, 77 the official headers are not there.
"""

import argparse
import os
import re
import subprocess
import sys

HEADERS = ("ze_api.h", "zet_api.h", "zes_api.h", "ze_ddi.h", "zet_ddi.h", "zes_ddi.h")

# Table sets grow in the middle, and the newest version moves: not part of the ABI between versions.
VARIABLE = re.compile(r"^(ze|zet|zes)_dditable_t$|_CURRENT$|_CURRENT_M$")

# We have a part of sysman; what it leaves out is no difference.
PARTIAL = re.compile(r"^zes_|^ZES_")

# Enumerators that a later version gave another name; the value has to be the same.
RENAMED = {
    "ZE_PHYSICAL_MEM_FLAG_TBD": "ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_DEVICE",
    "ZE_FABRIC_VERTEX_EXP_TYPE_SUBEVICE": "ZE_FABRIC_VERTEX_EXP_TYPE_SUBDEVICE",
}


def read_headers(folder):
    """All headers in one string, without comments and preprocessor lines."""
    text = ""
    for name in HEADERS:
        with open(os.path.join(folder, "level_zero", name), encoding="utf-8") as stream:
            text += stream.read() + "\n"
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"//[^\n]*", " ", text)
    define = r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(\d+|\"\w+\")[ \t]*$"
    macros = dict(re.findall(define, text, re.M))
    return re.sub(r"^[ \t]*#[^\n]*", " ", text, flags=re.M), macros


def struct_members(text):
    """Struct or union name -> member names in order."""
    structs = {}
    for name, body in re.findall(r"(?:struct|union)\s+_(\w+)\s*\{(.*?)\}", text, re.S):
        members = []
        for declaration in body.split(";"):
            match = re.search(r"(\w+)\s*((?:\[[^]]*\]\s*)*)$", declaration.strip())
            if match:
                members.append(match.group(1))
        structs[name] = members
    return structs


def enumerators(text):
    names = []
    for body in re.findall(r"enum\s+_\w+\s*\{(.*?)\}", text, re.S):
        names += re.findall(r"(\w+)\s*=", body)
    return names


def normal_type(declaration):
    """'const ze_x_t* pName' and 'const ze_x_t *' -> 'const ze_x_t*'."""
    text = re.sub(r"\s*\*\s*", "*", " ".join(declaration.split()))
    return re.sub(r"(\*+)\w+$", r"\1", text)


def pointer_types(text):
    """Function-pointer type of a function -> list of its parameter types."""
    found = {}
    pattern = r"typedef\s+\w+\s*\(\s*ZE_APICALL\s*\*\s*(ze[st]?_pfn\w+_t)\s*\)\s*\((.*?)\)\s*;"
    for name, params in re.findall(pattern, text, re.S):
        if not name.endswith("Cb_t"):
            found[name] = [normal_type(p) for p in params.split(",")]
    return found


def probe(structs, enums, handles):
    """C program that prints everything there is to compare."""
    lines = ["#include <stdio.h>", "#include <stddef.h>"]
    lines += [f"#include <level_zero/{name}>" for name in HEADERS]
    lines.append("int main(void)\n{")
    for name, (members, whole) in structs.items():
        if whole:
            lines.append(f'    printf("sizeof {name} %zu align %zu\\n", sizeof({name}), '
                         f"_Alignof({name}));")
        for member in members:
            lines.append(f'    printf("offset {name}.{member} %zu size %zu\\n", '
                         f"offsetof({name}, {member}), sizeof((({name} *)0)->{member}));")
    for name in enums:
        lines.append(f'    printf("value {name} %ld\\n", (long){name});')
    for name in handles:
        lines.append(f'    printf("sizeof {name} %zu\\n", sizeof({name}));')
    lines.append("    return 0;\n}")
    return "\n".join(lines) + "\n"


def run_probe(options, label, include, source):
    path = os.path.join(options.work, f"probe_{label}.c")
    program = os.path.join(options.work, f"probe_{label}")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(source)
    subprocess.run([options.compiler, "-std=c11", f"-I{include}", path, "-o", program], check=True)
    return subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", required=True, help="folder of the generated headers")
    parser.add_argument("--official", default="/usr/include")
    parser.add_argument("--work", required=True, help="folder for the probes")
    options = parser.parse_args()
    if not os.path.exists(os.path.join(options.official, "level_zero", "zet_ddi.h")):
        print(f"skipped: no {options.official}/level_zero/zet_ddi.h; install libze-dev")
        return 77
    os.makedirs(options.work, exist_ok=True)

    theirs, their_macros = read_headers(options.official)
    ours, our_macros = read_headers(options.include)
    problems = []

    their_structs, our_structs = struct_members(theirs), struct_members(ours)
    shared = {}
    for name, members in their_structs.items():
        if VARIABLE.search(name):
            continue
        if name not in our_structs and PARTIAL.search(name):
            continue
        if name not in our_structs:
            problems.append(f"struct {name} is missing")
            continue
        gone = [m for m in members if m not in our_structs[name]]
        problems += [f"member {name}.{m} is missing" for m in gone]
        # A table of an older version is the first part of a newer one.
        grows = name.endswith("_dditable_t")
        shared[name] = ([m for m in members if m not in gone], not grows)

    their_enums = [n for n in enumerators(theirs) if not VARIABLE.search(n)]
    our_enums = set(enumerators(ours)) | set(RENAMED)
    problems += [f"enumerator {n} is missing" for n in their_enums
                 if n not in our_enums and not PARTIAL.search(n)]

    handles = sorted(set(re.findall(r"\b(ze[st]?_\w+_handle_t)\s*;", theirs)))
    our_handles = [n for n in handles if re.search(rf"\b{n}\s*;", ours)]
    problems += [f"handle {n} is missing" for n in handles
                 if n not in our_handles and not PARTIAL.search(n)]

    source = probe(shared, [n for n in their_enums if n in our_enums], our_handles)
    left = run_probe(options, "official", options.official, source)
    renaming = "".join(f"#define {old} {new}\n" for old, new in RENAMED.items())
    right = run_probe(options, "generated", options.include, renaming + source)
    problems += [f"official: {a}\ngenerated: {b}" for a, b in zip(left, right) if a != b]

    their_types, our_types = pointer_types(theirs), pointer_types(ours)
    for name, types in their_types.items():
        if name not in our_types and PARTIAL.search(name):
            continue
        if our_types.get(name) != types:
            problems.append(f"{name}: official {types}, generated {our_types.get(name)}")
    for name, value in their_macros.items():
        if PARTIAL.search(name) and name not in our_macros:
            continue
        if not VARIABLE.search(name) and our_macros.get(name) != value:
            problems.append(f"macro {name}: official {value}, generated {our_macros.get(name)}")

    print("\n".join(problems))
    print(f"{len(shared)} structs, {len(left)} sizes, offsets and values, {len(their_types)} "
          f"function types, {len(their_macros)} macros compared: {len(problems)} differences")
    # Fewer than this means that the reading of the official headers failed, not that all is well.
    enough = len(shared) > 200 and len(left) > 1500 and len(their_types) > 200
    return 1 if problems or not enough else 0


if __name__ == "__main__":
    sys.exit(main())
