#!/usr/bin/env python3
"""check_structure.py REPOSITORY [NM OBJECTS]: the directions that includes and calls may have, and how many
files a folder holds.

- A folder includes what the table below allows, and nothing else of ours.
- What is in one folder, its sub-folders and its modules, includes each other in one direction only. A
  module is x.h, x_priv.h, x.c and x.inc. As this holds in every folder, there is no circle of files,
  modules or folders anywhere.
- A folder has at most 25 files of code of its own.
- An object file of core, below OBJECTS, uses no symbol that an object of a higher folder defines. Generated
  sources (the entries of the API) may: they call what all folders implement.
"""
import fnmatch
import os
import pathlib
import re
import subprocess
import sys

FILES_PER_FOLDER = 25

# Folders of core: each may include those before it.
CORE = ["util", "settings", "object", "api", "plugin", "trace", "device", "debug", "memory", "module", "event",
        "queue", "list"]

# Folder: what it may include besides itself and sdk/include. A star stands for one name: each plugin and
# each tool is by itself.
LAYERS = {
    **{f"core/{folder}": " ".join(f"core/{below}" for below in CORE[:i])
       for i, folder in enumerate(CORE)},
    "core/formula": "core/util",
    "core/capture": "core/formula core/plugin core/util",
    "core/metric": "core/capture core/formula " + " ".join(f"core/{below}" for below in CORE),
    "sdk/include": "",
    "sdk/lib": "",
    "sdk/tools/*": "sdk/lib",
    "plugins/*": "sdk/lib",
    "examples": "",
}

# Folder, pattern of an include, why not.
REFUSED = [
    ("plugins", r"level_zero/", "a plugin knows hardware, not the API"),
    ("examples", r"zeta/(?!zeta\.h$)", "an example uses ze, zet and zeta/zeta.h"),
]

INCLUDE = re.compile(r'\s*#\s*include\s*[<"]([^>"]+)[>"]')


def read(root):
    """Path of each file of code: the lines of what it includes, as written."""
    files = {}
    for top in ("core", "examples", "plugins", "sdk"):
        for path in sorted((root / top).rglob("*.*")):
            if path.suffix in (".c", ".h", ".inc", ".cpp", ".hpp"):
                lines = path.read_text().splitlines()
                files[str(path.relative_to(root))] = [m.group(1) for m in map(INCLUDE.match, lines) if m]
    return files


def resolve(files, path, include):
    """The file of ours that an include means, or None."""
    for folder in ("", "sdk/include/", os.path.dirname(path) + "/"):
        found = os.path.normpath(folder + include)
        if found in files:
            return found
    return None


def layer(path):
    """The row of LAYERS that a file is in, and the folder that it stands for; None if there is none."""
    parts = path.split("/")[:-1]
    for row in LAYERS:
        count = row.count("/") + 1
        if len(parts) >= count and fnmatch.fnmatchcase("/".join(parts[:count]), row):
            return row, "/".join(parts[:count])
    return None


def node(path, depth):
    """What a file is in the folder of that depth: the path of a sub-folder, or of a module."""
    parts = path.split("/")
    if len(parts) > depth + 1:
        return "/".join(parts[:depth + 1]) + "/"
    return re.sub(r"(_priv)?\.\w+$", "", path)


def circle(edges):
    """Nodes of one circle of a graph {node: {node: why}}, in order; None if there is none."""
    state = {}

    def visit(at, way):
        state[at] = "open"
        for to in sorted(edges.get(at, ())):
            if state.get(to) == "open":
                return way[way.index(to):]
            if to not in state:
                found = visit(to, way + [to])
                if found:
                    return found
        state[at] = "done"
        return None

    for at in sorted(edges):
        if at not in state:
            found = visit(at, [at])
            if found:
                return found
    return None


def check(files):
    """What is wrong with {path: includes}, as sentences."""
    wrong = []
    graphs = {}  # folder: {child: {child: "a includes b"}}
    sizes = {}
    for path, includes in sorted(files.items()):
        folder = os.path.dirname(path)
        sizes[folder] = sizes.get(folder, 0) + 1
        row = layer(path)
        if not row:
            wrong.append(f"{path}: its folder is in no row of LAYERS")
            continue
        allowed = LAYERS[row[0]].split() + ["sdk/include"]
        for include in includes:
            for where, pattern, why in REFUSED:
                if path.startswith(where + "/") and re.match(pattern, include):
                    wrong.append(f"{path} includes {include}: {why}")
            target = resolve(files, path, include)
            if not target or target == path:
                continue
            other = layer(target)
            if not other or other[1] != row[1] and other[0] not in allowed:
                wrong.append(f"{path} includes {target}: {row[1]} may include"
                             f" {LAYERS[row[0]] or 'nothing but itself'}")
            depth = len(os.path.commonpath([path, target]).split("/"))
            a, b = node(path, depth), node(target, depth)
            if a != b:
                graph = graphs.setdefault(os.path.commonpath([path, target]), {})
                graph.setdefault(a, {}).setdefault(b, f"{path} includes {target}")
    for folder, graph in sorted(graphs.items()):
        ring = circle(graph)
        if ring:
            wrong.append(f"{folder}: a circle of includes\n" + "\n".join(
                f"    {graph[a][b]}" for a, b in zip(ring, ring[1:] + ring[:1])))
    for folder, count in sorted(sizes.items()):
        if count > FILES_PER_FOLDER:
            wrong.append(f"{folder}: {count} files of code, more than {FILES_PER_FOLDER}")
    return wrong


def read_symbols(root, nm, objects):
    """What each object of a source of core defines and uses: [(source, defined or not, symbol)]."""
    objects = pathlib.Path(objects)
    listed = subprocess.run([nm, "-A", "-P", "-g", *sorted(map(str, objects.rglob("*.o")))],
                            capture_output=True, check=True, text=True).stdout
    symbols = []
    for path, symbol, kind in re.findall(r"^(.*): (\S+) (\w)", listed, re.MULTILINE):
        source = "core/" + str(pathlib.Path(path).relative_to(objects))[:-len(".o")]
        if (root / source).exists():
            symbols.append((source, kind not in "Uw", symbol))
    return symbols


def check_symbols(symbols):
    """Which objects use what only a folder above defines, as sentences."""
    definers = {symbol: source for source, is_defined, symbol in symbols if is_defined}
    wrong = []
    for source, is_defined, symbol in symbols:
        row, other = layer(source), layer(definers.get(symbol, source))
        if not is_defined and row != other and other[0] not in LAYERS[row[0]].split():
            wrong.append(f"{source} uses {symbol} of {definers[symbol]}: {row[1]} may use {LAYERS[row[0]]}")
    return wrong


def self_test():
    """What check() must find in small trees, and what it must not."""
    trees = [
        ("nothing", {"core/util/a.c": ["core/util/a.h", "stdio.h"], "core/util/a.h": [],
                     "core/formula/x/b.c": ["core/formula/x/b_priv.h", "zeta/c.h"],
                     "core/formula/x/b_priv.h": ["core/util/a.h"], "sdk/include/zeta/c.h": [],
                     "plugins/p/q.c": ["zeta/c.h", "r.h"], "plugins/p/r.h": ["plugins/p/s/s.h"],
                     "plugins/p/s/s.h": []}),
        ("core/util may include", {"core/util/a.c": ["core/plugin/b.h"], "core/plugin/b.h": []}),
        ("plugins/p may include", {"plugins/p/a.c": ["plugins/q/b.h"], "plugins/q/b.h": []}),
        ("core/util may include", {"core/util/a.c": ["plugins/q/b.h"], "plugins/q/b.h": []}),
        ("sdk/tools/t may include", {"sdk/tools/t/a.c": ["core/util/b.h"], "core/util/b.h": []}),
        ("a plugin knows", {"plugins/p/a.c": ["level_zero/ze_api.h"]}),
        ("no row", {"core/new/a.c": []}),
        # Two modules, though no file includes itself; two folders, though no module does.
        ("core/util: a circle", {"core/util/a.c": ["core/util/b.h"], "core/util/a.h": [],
                                 "core/util/b.c": ["core/util/a.h"], "core/util/b.h": []}),
        ("plugins/p: a circle", {"plugins/p/a/a.c": ["plugins/p/b/b.h"], "plugins/p/b/b.h": [],
                                 "plugins/p/b/c/d.c": ["plugins/p/a/e.h"], "plugins/p/a/e.h": []}),
        ("26 files", {f"core/util/a{i}.c": [] for i in range(FILES_PER_FOLDER + 1)}),
    ]
    for expected, tree in trees:
        found = check(tree)
        if expected == "nothing" and found or expected != "nothing" and (
                len(found) != 1 or expected not in found[0]):
            sys.exit(f"check_structure.py: expected '{expected}' in {tree}, found {found}")

    symbols = [("core/util/a.c", True, "a"), ("core/plugin/b.c", False, "a"), ("core/plugin/b.c", True, "b")]
    if check_symbols(symbols) or len(check_symbols(symbols + [("core/util/c.c", False, "b")])) != 1:
        sys.exit("check_structure.py: expected a use from below, and that alone, to be found")


def main():
    self_test()
    root = pathlib.Path(sys.argv[1])
    wrong = check(read(root))
    if len(sys.argv) > 2:
        symbols = read_symbols(root, *sys.argv[2:])
        wrong += check_symbols(symbols) if symbols else ["no object of core was found"]
    for sentence in wrong:
        print(sentence)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
