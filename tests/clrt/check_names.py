#!/usr/bin/env python3
"""check_names.py CLANG NM RUNTIME.bc README: the list of absent functions is complete and true.

Every function that OpenCL C 1.2 or 2.0 declares for spir64 with the extensions that the README names
is in the library, or its prototype matches a line of the README's table under "Absent"; and every
line of the table is about something that is absent, and about nothing that is there.
"""
import fnmatch
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# Functions that clang knows without a declaration, and what it calls instead of them.
BUILT_IN = {
    "__read_pipe_2": "read_pipe(pipe, pointer)",
    "__read_pipe_4": "read_pipe(pipe, reserve_id_t, uint, pointer)",
    "__write_pipe_2": "write_pipe(pipe, pointer)",
    "__write_pipe_4": "write_pipe(pipe, reserve_id_t, uint, pointer)",
    "__reserve_read_pipe": "reserve_read_pipe(pipe, uint)",
    "__reserve_write_pipe": "reserve_write_pipe(pipe, uint)",
    "__commit_read_pipe": "commit_read_pipe(pipe, reserve_id_t)",
    "__commit_write_pipe": "commit_write_pipe(pipe, reserve_id_t)",
    "__work_group_reserve_read_pipe": "work_group_reserve_read_pipe(pipe, uint)",
    "__work_group_reserve_write_pipe": "work_group_reserve_write_pipe(pipe, uint)",
    "__work_group_commit_read_pipe": "work_group_commit_read_pipe(pipe, reserve_id_t)",
    "__work_group_commit_write_pipe": "work_group_commit_write_pipe(pipe, reserve_id_t)",
    "__sub_group_reserve_read_pipe": "sub_group_reserve_read_pipe(pipe, uint)",
    "__sub_group_reserve_write_pipe": "sub_group_reserve_write_pipe(pipe, uint)",
    "__sub_group_commit_read_pipe": "sub_group_commit_read_pipe(pipe, reserve_id_t)",
    "__sub_group_commit_write_pipe": "sub_group_commit_write_pipe(pipe, reserve_id_t)",
    "__get_pipe_num_packets_ro": "get_pipe_num_packets(pipe)",
    "__get_pipe_max_packets_ro": "get_pipe_max_packets(pipe)",
    "__enqueue_kernel_basic": "enqueue_kernel(queue_t, int, ndrange_t, block)",
    "__enqueue_kernel_basic_events": "enqueue_kernel(queue_t, int, ndrange_t, uint, events, block)",
    "__enqueue_kernel_varargs": "enqueue_kernel(queue_t, int, ndrange_t, block, uint...)",
    "__get_kernel_work_group_size_impl": "get_kernel_work_group_size(block)",
    "__get_kernel_preferred_work_group_size_multiple_impl":
        "get_kernel_preferred_work_group_size_multiple(block)",
    "__to_global": "to_global(pointer)",
    "__to_local": "to_local(pointer)",
    "__to_private": "to_private(pointer)",
    "__zeta_printf": "printf(format...)",
}


def declared(clang, standard, extensions):
    """Mangled names and prototypes of all functions of clang's OpenCL header."""
    resources = subprocess.run([clang, "-print-resource-dir"], capture_output=True, text=True,
                               check=True).stdout.strip()
    with tempfile.NamedTemporaryFile("w", suffix=".cl") as source:
        source.write('#include "opencl-c.h"\n')
        source.flush()
        tree = subprocess.run(
            [clang, "--target=spir64-unknown-unknown", "-x", "cl", f"-cl-std={standard}",
             "-cl-no-stdinc", f"-I{resources}/include", "-include", "opencl-c-base.h", "-Xclang",
             extensions, "-Xclang", "-ast-dump=json", "-fsyntax-only", source.name],
            capture_output=True, text=True, check=True).stdout
    for node in json.loads(tree)["inner"]:
        if node["kind"] == "FunctionDecl" and node["name"] != "printf":
            arguments = node["type"]["qualType"].split("(", 1)[1]
            yield node["mangledName"], f"{node['name']}({arguments}"


def main():
    clang, nm, library, readme = sys.argv[1:]
    text = pathlib.Path(readme).read_text()
    extensions = re.search(r"`(-cl-ext=[^`]+)`", text).group(1)
    table = text.split("## Absent", 1)[1].split("\n## ", 1)[0]
    patterns = re.findall(r"^\| `([^`]+)` \|", table, re.M)
    symbols = subprocess.run([nm, library], capture_output=True, text=True, check=True).stdout
    present = set(re.findall(r"^\S+ [TtWVD] (\S+)$", symbols, re.M))
    functions = dict(BUILT_IN)
    for standard in ("CL1.2", "CL2.0"):
        functions.update(declared(clang, standard, extensions))
    used = set()
    mistakes = []
    for name, prototype in sorted(functions.items()):
        matches = [pattern for pattern in patterns if fnmatch.fnmatchcase(prototype, pattern)]
        used.update(matches)
        if name in present and matches:
            mistakes.append(f"{prototype} is there, but `{matches[0]}` says that it is absent")
        if name not in present and not matches:
            mistakes.append(f"{prototype} ({name}) is absent and not listed")
    mistakes += [f"`{pattern}` matches nothing" for pattern in patterns if pattern not in used]
    if not patterns or len(functions) < 10000:
        mistakes.append("no table, or no declarations")
    for mistake in mistakes[:30]:
        print(f"{readme}: {mistake}", file=sys.stderr)
    print(f"{len(functions)} functions, {len(mistakes)} mistakes")
    sys.exit(1 if mistakes else 0)


main()
