#!/usr/bin/env python3
"""Compares the model with the description files of the specification, where these are at hand.

They are looked for in the folder that ZETA_SHARED names: spec/core, spec/tools, spec/README.md and
reference/tools-api-checklist.md. Compared are functions with their parameters, enumerators,
structs, table order, versions, the frozen callback tables, and the layout of the Tools API.

Exit status: 0 equal, 1 different, 77 the files are not there.
"""

import argparse
import glob
import os
import re
import subprocess
import sys

import yaml

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "core", "api"))

from generator import entries, reader  # noqa: E402

LIMIT = (1, 17)
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
SECTIONS = {"core": ("ze", "$x"), "tools": ("zet", "$t")}

# Attributes that the model has on purpose and the description files have not.
ADDED_COUNTS = {"zetCommandListAppendMetricQueryEnd.phWaitEvents",
                "zetDeviceCreateMetricGroupsFromMetricsExp.phMetrics",
                "zetDeviceGetConcurrentMetricGroupsExp.phMetricGroups"}

# Required pointers that the formal lists of the specification leave out.
MISSED = {
    "zetDeviceCreateMetricGroupsFromMetricsExp": {"phMetrics", "pMetricGroupNamePrefix",
                                                  "pDescription", "pMetricGroupCount"},
    "zetDeviceGetConcurrentMetricGroupsExp": {"phMetricGroups", "pConcurrentGroupCount"},
}

# The text about these also names a struct whose chain cannot hold them.
OTHER_STRUCT_NAMED = {
    "ze_relaxed_allocation_limits_exp_desc_t": {"ze_relaxed_allocation_limits_ext_desc_t"},
    "ze_image_format_support_ext_properties_t": {"ze_image_desc_t"},
}


def pair(text):
    """Versions are pairs of integers: 1.10 comes after 1.9."""
    major, _, minor = str(text).partition(".")
    return int(major), int(minor or 0)


def plain(text):
    """Replaces the name tags and the blank in front of a star."""
    for tag, word in (("$OneApi", "oneAPI"), ("$XT", "ZET"), ("$x", "ze"), ("$X", "ZE"),
                      ("$t", "zet"), ("$T", "ZET")):
        text = text.replace(tag, word)
    return re.sub(r"\s+\*", "*", text)


def text_of(desc):
    """Newest text of a description that may depend on the version."""
    if isinstance(desc, dict):
        known = [key for key in desc if pair(key) <= LIMIT]
        return desc[max(known, key=pair)]
    return desc or ""


def attributes(desc):
    """The words in square brackets at the start of a description."""
    start = re.match(r"\s*((?:\[[^\]]*\]\s*)*)", text_of(desc)).group(1)
    return [word.strip() for word in re.findall(r"\[([^\]]*)\]", start)]


class Specification:
    """The documents of one section, newer ones than the model left out."""

    def __init__(self, folder, section):
        self.namespace, self.tag = SECTIONS[section]
        self.regions = []
        for path in sorted(glob.glob(os.path.join(folder, section, "*.yml"))):
            with open(path, encoding="utf-8") as stream:
                head, *documents = [d for d in yaml.load_all(stream, Loader=LOADER) if d]
            version = pair(head.get("version", "1.0"))
            if version <= LIMIT:
                rank = int(head.get("ordinal", 1000)) * (version[0] * 10000 + version[1])
                known = [d for d in documents if pair(d.get("version", "1.0")) <= LIMIT]
                self.regions.append((rank, known))
        self.by_file = list(self.regions)
        self.regions.sort(key=lambda region: region[0])

    def documents(self, *types):
        return [d for _, documents in self.regions for d in documents if d["type"] in types]

    def function_name(self, document):
        return plain(document.get("class", self.tag)) + document["name"]

    def tables(self):
        """[(table, [function names])] in the order of the container."""
        ranks, order = {}, []
        for rank, documents in self.by_file:
            for document in documents:
                name = document["name"] if document["type"] == "class" else document.get("class")
                if name and name not in order:
                    order.append(name)
                if document["type"] == "class":
                    ranks[name] = rank
        tables = []
        for name in sorted(order, key=lambda n: ranks.get(n, 0)):
            functions = [d for d in self.documents("function") if d.get("class", self.tag) == name]
            functions.sort(key=lambda d: (pair(d.get("version", "1.0")),
                                          int(d.get("ordinal", 100))))
            for experimental in (False, True):
                part = [d for d in functions
                        if bool(re.search(r"Exp\d*$", d["name"])) == experimental]
                if part:
                    title = name[len(self.tag):] or "Global"
                    tables.append((title + ("Exp" if experimental else ""),
                                   [self.function_name(d) for d in part]))
        return tables


class Comparison:
    """Collects differences and counts what was compared."""

    def __init__(self):
        self.differences = []
        self.compared = {}

    def equal(self, kind, where, expected, found):
        self.compared[kind] = self.compared.get(kind, 0) + 1
        if expected != found:
            self.differences.append(f"{kind} {where}: specification {expected!r}, model {found!r}")


def compare_params(result, where, document, params):
    listed = [p for p in document["params"] if pair(p.get("version", "1.0")) <= LIMIT]
    result.equal("parameter list", where, [(p["name"], plain(p["type"])) for p in listed],
                 [(p.name, p.type) for p in params])
    for theirs, ours in zip(listed, params):
        words = attributes(theirs["desc"])
        at = f"{where}.{ours.name}"
        marks = {mark for word in words for mark in word.split(",")}
        direction = "inout" if {"in", "out"} <= marks else "out" if "out" in marks else "in"
        result.equal("direction", at, direction, ours.dir)
        for word in ("optional", "release", "mbz"):
            result.equal(word, at, word in words, getattr(ours, word))
        ranges = [re.match(r"range\(\s*(\d+)\s*,\s*`?([^`]*?)`?\s*\)", w) for w in words]
        ranges = [r for r in ranges if r]
        if ranges or at not in ADDED_COUNTS:
            expected = (None, 0)
            if ranges:
                expected = (ranges[0].group(2).strip(), int(ranges[0].group(1)))
            result.equal("range", at, expected, (ours.count, ours.first))


def compare_functions(result, specification, model):
    documents = specification.documents("function")
    names = [specification.function_name(d) for d in documents]
    mine = [f.name for f in model.functions.values() if f.namespace == specification.namespace]
    result.equal("set of functions", specification.namespace, sorted(names), sorted(mine))
    for name, document in zip(names, documents):
        function = model.functions.get(name)
        if function:
            result.equal("version", name, pair(document.get("version", "1.0")), function.since)
            returns = document.get("returns")
            result.equal("return type", name,
                         returns["type"] if isinstance(returns, dict) else "ze_result_t",
                         function.returns)
            compare_params(result, name, document, function.params)


def enum_values(document):
    """[(name, value)] of an enum document, numbered by the rules of the description format."""
    flags = document["name"].endswith("_flags_t")
    stem = re.sub(r"_flags_t$", "_FLAG_", plain(document["name"]))
    prefix = (stem if flags else stem[:-1]).upper()
    values, last = [], -1
    for item in document["etors"]:
        text = plain(str(item["value"])) if "value" in item else None
        numbers = [int(n, 0) for n in re.findall(r"0x[0-9a-fA-F]+|\d+", text or "")]
        if text is None:
            number = last + 1
        elif text.startswith("ZE_MAKE_VERSION"):
            number = numbers[0] << 16 | numbers[1]
        else:
            number = numbers[0]
        last = number
        if pair(item.get("version", "1.0")) <= LIMIT:
            values.append((prefix + plain(item["name"]), 1 << number if flags else number))
    return values


def compare_enums(result, specification, model):
    for document in specification.documents("enum"):
        enum = model.enums.get(plain(document["name"]))
        found = [(v.name, v.value) for v in enum.values] if enum else None
        result.equal("enum", plain(document["name"]), enum_values(document), found)


def compare_structs(result, specification, model):
    for document in specification.documents("struct", "union"):
        name = plain(document["name"])
        struct = model.structs.get(name)
        if not struct:
            result.equal("struct", name, "described", "missing")
            continue
        expected = [(plain(m["name"]), plain(m["type"])) for m in document["members"]
                    if pair(m.get("version", "1.0")) <= LIMIT]
        found = [(m.name + m.dimensions, m.type) for m in struct.members if not m.base]
        result.equal("struct", name, expected, found)
        result.equal("base", name, plain(document.get("base", "")), struct.base or "")
        result.equal("union", name, document["type"] == "union", struct.union)


def compare_extensions(result, specification, model):
    """Where the text about a struct speaks of pNext, it names the structs that it extends."""
    for document in specification.documents("struct"):
        name = plain(document["name"])
        words = [text_of(document["desc"])] + document.get("details", [])
        text = plain(" ".join(map(str, words)))
        named = set(re.findall(r"\bzet?_\w+_t\b", text)) & set(model.structs) - {name}
        if "pNext" in text and named and name in model.structs:
            result.equal("extension", name, named - OTHER_STRUCT_NAMED.get(name, set()),
                         set(model.structs[name].extends))


def compare_stypes(result, specification, model):
    """The enumerator whose description names a struct is its structure type."""
    for document in specification.documents("enum"):
        if not document["name"].endswith("_structure_type_t"):
            continue
        prefix = f"{specification.namespace.upper()}_STRUCTURE_TYPE_"
        named = {}
        for item in document["etors"]:
            match = re.match(r"\s*(\$[xt]_\w+)", text_of(item.get("desc")))
            if match:
                named.setdefault(plain(match.group(1)), []).append(prefix + item["name"])
        for name, stypes in named.items():
            struct = model.structs.get(name)
            if struct:
                result.equal("stype", name, True, struct.stype in stypes)


def compare_tables(result, specification, model):
    tables = model.tables_of(specification.namespace)
    mine = [(t.name, [f.name for f in t.functions]) for t in tables]
    result.equal("table order", specification.namespace, [t for t, _ in specification.tables()],
                 [t for t, _ in mine])
    for name, functions in specification.tables():
        result.equal("table", name, functions, dict(mine).get(name))


def compare_macros(result, specification, model):
    values = {name.split("(")[0]: macro for name, macro in model.macros.items()}
    for document in specification.documents("macro"):
        if "condition" in document or document["name"] in ("$X_APICALL", "$X_APIEXPORT"):
            continue
        name = re.split(r"[( ]", plain(document["name"]))[0]
        macro = values.get(name)
        found = None
        if macro:
            found = f'"{macro.text}"' if macro.text is not None else str(macro.value)
        result.equal("macro", name, plain(str(document["value"])), found)


def compare_callbacks(result, readme, model):
    section = readme[readme.index("## 6."):readme.index("## 7.")]
    rows = re.findall(r"^\| (\w+) \| \d+ \| ([\w, ]+) \|$", section, re.M)
    expected = [(table, [w.strip() for w in words.split(",")]) for table, words in rows]
    found = []
    for table in model.callback_tables:
        prefix = "ze" + ("" if table.name == "Global" else table.name)
        found.append((table.name, [f.name[len(prefix):] for f in table.functions]))
    result.equal("callback tables", "ze_callbacks_t", expected, found)
    result.equal("callback count", "ze_callbacks_t", 120, sum(len(names) for _, names in found))


def compare_null_checks(result, checklist, model):
    """What the generated checks refuse as null, against the column "null checks"."""
    rows = re.findall(r"^\| (zet\w+) \| [\d.]+ \| \w+ \| (\w+) (\d+) \| [^|]* \| ([^|]*) \|",
                      checklist, re.M)
    for name, table, index, cell in rows:
        function = model.functions[name]
        result.equal("table place", name, (table, int(index)), (function.table, function.index))
        expected = set()
        for part in cell.split(";"):
            expected |= {word.strip() for word in re.sub(r"^\s*[HP]:", "", part).split(",")}
        lenient = {p.name for p in function.params if p.lenient}
        code = entries.validation(model, function)
        found = set(re.findall(r'zeta_check_null\("\w+", "([^"]+)"\)', code))
        found |= {p.name for p in function.params
                  if model.handle_kind(p.type) and f"(!zeta_object_is({p.name}," in code}
        result.equal("null checks", name, (expected | MISSED.get(name, set())) - lenient, found)


def checklist_layout(checklist):
    """{expression: number} from the table of sizes and offsets."""
    layout = {"sizeof(ze_callbacks_t)": 960, "sizeof(ze_dditable_driver_t)": 264}
    section = checklist[checklist.index("## 8."):checklist.index("## 9.")]
    row = re.compile(r"^\| `(\w+)`(?: union)? \([^)]*\) \| (\d+) \| (\d+) \| (.*) \|$", re.M)
    for name, size, align, members in row.findall(section):
        layout[f"sizeof({name})"] = int(size)
        layout[f"_Alignof({name})"] = int(align)
        for member, offset, width in re.findall(r"(\w+) @(\d+):(\d+) ", members):
            layout[f"offsetof({name}, {member})"] = int(offset)
            layout[f"sizeof((({name} *)0)->{member})"] = int(width)
    return layout


def compare_layout(result, checklist, options):
    layout = checklist_layout(checklist)
    prints = "".join(f'    printf("%zu\\n", {expression});\n' for expression in layout)
    os.makedirs(options.work, exist_ok=True)
    path = os.path.join(options.work, "layout.c")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write("#include <stddef.h>\n#include <stdio.h>\n#include <level_zero/ze_ddi.h>\n"
                     "#include <level_zero/zet_ddi.h>\n"
                     f"int main(void)\n{{\n{prints}    return 0;\n}}\n")
    program = os.path.join(options.work, "layout")
    subprocess.run([options.compiler, "-std=c11", f"-I{options.include}", path, "-o", program],
                   check=True)
    lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()
    for (expression, expected), found in zip(layout.items(), lines):
        result.equal("layout", expression, expected, int(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", required=True, help="folder of the generated headers")
    parser.add_argument("--work", required=True)
    options = parser.parse_args()
    shared = os.environ.get("ZETA_SHARED", os.path.join(HERE, "..", "..", "..", "shared"))
    needed = [os.path.join(shared, "spec", "README.md"),
              os.path.join(shared, "reference", "tools-api-checklist.md")]
    for path in needed:
        if not os.path.exists(path):
            print(f"skipped: {path} is not there; ZETA_SHARED names the folder it is looked for in")
            return 77
    readme, checklist = (open(path, encoding="utf-8").read() for path in needed)

    model = reader.load(os.path.join(HERE, "..", "..", "core", "api", "model"))
    result = Comparison()
    for section in SECTIONS:
        specification = Specification(os.path.join(shared, "spec"), section)
        compare_functions(result, specification, model)
        compare_enums(result, specification, model)
        compare_structs(result, specification, model)
        compare_stypes(result, specification, model)
        compare_extensions(result, specification, model)
        compare_tables(result, specification, model)
        compare_macros(result, specification, model)
    compare_callbacks(result, readme, model)
    compare_null_checks(result, checklist, model)
    compare_layout(result, checklist, options)

    print("\n".join(result.differences))
    print(", ".join(f"{count} x {kind}" for kind, count in result.compared.items()))
    print(f"{len(result.differences)} differences")
    # A table that could not be read would give nothing to compare; that is a failure too.
    counted = result.compared
    complete = (counted["version"] == 317 and counted["enum"] >= 180 and counted["layout"] > 300
                and counted["stype"] > 100 and counted["extension"] > 35 and counted["table"] == 51
                and counted["null checks"] == 69)
    return 0 if complete and not result.differences else 1


if __name__ == "__main__":
    sys.exit(main())
