"""Reads core/api/model/*.yaml into plain objects and checks that they fit together.

Versions are quoted strings in the files and pairs of integers here: as a number 1.10 would be
below 1.9. Everything a later stage relies on is checked here once, with file and name in the
message, so that the other modules can be straight lines.
"""

import os
import re
from dataclasses import dataclass, field

import yaml

Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

#: The specification version that the model describes.
CURRENT = (1, 17)

NAMESPACES = ("ze", "zet")


class ModelError(Exception):
    """A mistake in the model files; the text names the file and the entry."""


@dataclass
class Macro:
    name: str
    since: tuple
    value: object = None
    text: str = None
    brief: str = ""
    area: str = ""
    namespace: str = ""


@dataclass
class Handle:
    name: str
    since: tuple
    kind: str = None
    alias: str = None
    brief: str = ""
    area: str = ""
    namespace: str = ""


@dataclass
class Typedef:
    name: str
    type: str
    since: tuple
    brief: str = ""
    area: str = ""
    namespace: str = ""


@dataclass
class Enumerator:
    name: str
    value: int
    since: tuple
    brief: str = ""


@dataclass
class Enum:
    name: str
    since: tuple
    prefix: str
    values: list
    brief: str = ""
    flags: bool = False
    version: bool = False
    area: str = ""
    namespace: str = ""

    @property
    def enum_name(self):
        """Name of the C enum: for flags the type without the plural s."""
        return re.sub(r"_flags_t$", "_flag_t", self.name)

    @property
    def limit(self):
        """Greatest value that a parameter may have.

        For flags all bits up to the highest one, otherwise the enumerator listed last, which
        need not be the greatest number (specification README, section 3, rule 6).
        """
        if self.flags:
            return (1 << max(v.value for v in self.values).bit_length()) - 1
        return self.values[-1].value


@dataclass
class Param:
    name: str
    type: str
    dir: str = "in"
    optional: bool = False
    release: bool = False
    mbz: bool = False
    count: str = None
    first: int = 0
    lenient: str = None
    since: tuple = (1, 0)
    brief: str = ""

    @property
    def pointer(self):
        return self.type.endswith("*")

    @property
    def target(self):
        """Type that a pointer points to, without const; the type itself otherwise."""
        return re.sub(r"^const\s+", "", self.type.rstrip("*"))


@dataclass
class Member:
    name: str
    type: str
    dir: str = "in"
    array: str = None
    optional: bool = False
    count: str = None
    lenient: str = None
    since: tuple = (1, 0)
    brief: str = ""
    base: bool = False

    @property
    def dimensions(self):
        if not self.array:
            return ""
        return self.array if self.array.startswith("[") else f"[{self.array}]"


@dataclass
class Struct:
    name: str
    since: tuple
    brief: str
    members: list
    base: str = None
    stype: str = None
    union: bool = False
    area: str = ""
    namespace: str = ""


@dataclass
class Callback:
    name: str
    since: tuple
    brief: str
    returns: str
    params: list
    convention: str = ""
    area: str = ""
    namespace: str = ""


@dataclass
class Check:
    """A relation of arguments that is refused; fails_if is a C expression of the parameters."""

    fails_if: str
    result: str
    say: str


@dataclass
class Function:
    name: str
    since: tuple
    brief: str
    params: list
    threads: str = None
    implementation: str = None
    before_init: bool = False
    results: list = field(default_factory=list)
    checks: list = field(default_factory=list)
    area: str = ""
    namespace: str = ""
    table: str = None
    index: int = None
    member: str = None


@dataclass
class Table:
    """A DDI table: a struct of function pointers."""

    name: str
    namespace: str
    functions: list

    @property
    def struct(self):
        return f"{self.namespace}_{snake(self.name)}_dditable_t"

    @property
    def getter(self):
        return f"{self.namespace}Get{self.name}ProcAddrTable"


@dataclass
class CallbackTable:
    """A sub-table of ze_callbacks_t."""

    name: str
    functions: list

    @property
    def struct(self):
        return f"ze_{snake(self.name)}_callbacks_t"


def version(text, where):
    """'1.10' -> (1, 10)."""
    if not isinstance(text, str) or not re.fullmatch(r"\d+\.\d+", text):
        raise ModelError(f"{where}: version must be a quoted string like \"1.9\", found {text!r}")
    major, minor = text.split(".")
    return int(major), int(minor)


def snake(name):
    """CommandListExp -> command_list_exp, RTASBuilder -> rtas_builder."""
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()


def class_of(table):
    """Class part of the names in a table: DeviceExp holds zetDevice...; TracerExp is a class."""
    if table == "TracerExp":
        return table
    name = table[:-3] if table.endswith("Exp") else table
    return "" if name == "Global" else name


class Model:
    """All of the model, by name; dictionaries keep the order of the files."""

    def __init__(self):
        self.macros = {}
        self.handles = {}
        self.typedefs = {}
        self.enums = {}
        self.callbacks = {}
        self.structs = {}
        self.functions = {}
        self.environment = {}
        self.tables = []
        self.callback_tables = []
        self.sysman = []
        self.areas = {}

    def handle_kind(self, name):
        """Object kind behind a handle type, or None when the type is no handle."""
        handle = self.handles.get(name)
        if handle is None:
            return None
        return self.handle_kind(handle.alias) if handle.alias else handle.kind

    def tables_of(self, namespace):
        return [t for t in self.tables if t.namespace == namespace]

    def functions_of(self, namespace):
        """Functions in table order."""
        return [f for t in self.tables_of(namespace) for f in t.functions]

    def traced(self):
        """Names of the functions that have a slot in ze_callbacks_t."""
        return {f.name for t in self.callback_tables for f in t.functions}


_PLACE = {"area", "namespace"}
_COMPUTED = {Function: _PLACE | {"table", "index", "member"}, Member: {"base"}}


def _build(cls, data, where, **extra):
    """Makes one object from a mapping; unknown and missing keys are errors."""
    if not isinstance(data, dict):
        raise ModelError(f"{where}: expected a mapping, found {data!r}")
    known = set(cls.__dataclass_fields__) - _COMPUTED.get(cls, _PLACE)
    unknown = set(data) - known - set(extra)
    if unknown:
        raise ModelError(f"{where}: unknown keys {', '.join(sorted(unknown))}")
    values = dict(data)
    if "since" in values:
        values["since"] = version(values["since"], where)
    values.update(extra)
    try:
        return cls(**values)
    except TypeError as error:
        raise ModelError(f"{where}: {error}") from None


def _enum(name, data, where, place):
    data = dict(data)
    flags = bool(data.get("flags"))
    since = version(data.get("since"), where)
    values = []
    for entry in data.pop("values", []):
        entry = dict(entry)
        at = f"{where}.{entry.get('name')}"
        number = 1 << entry.pop("bit") if flags else entry.pop("value", None)
        if not isinstance(number, int) or not 0 <= number < 0x7FFFFFFF:
            raise ModelError(f"{at}: value must be an integer below 0x7fffffff")
        entry.setdefault("since", data["since"])
        item = _build(Enumerator, entry, at, value=number)
        item.name = data["prefix"] + item.name
        values.append(item)
    if not values:
        raise ModelError(f"{where}: an enum needs values")
    enum = _build(Enum, data, where, name=name, values=values, **place)
    enum.since = since
    return enum


def _base_members(model, struct, where):
    base = model.structs.get(struct.base)
    if base is None:
        raise ModelError(f"{where}: base {struct.base} is not a struct described before it")
    return [Member(m.name, m.type, m.dir, base=True) for m in base.members]


def _load_area(model, path, document):
    file = os.path.basename(path)
    place = {"area": document.pop("area", None), "namespace": document.pop("namespace", None)}
    if place["namespace"] not in NAMESPACES or not place["area"]:
        raise ModelError(f"{file}: area and namespace (ze or zet) are required")
    model.areas[place["area"]] = document.pop("brief", "")

    def section(key):
        return (document.pop(key, None) or {}).items()

    for name, data in section("macros"):
        model.macros[name] = _build(Macro, data, f"{file}: {name}", name=name, **place)
    for name, data in section("handles"):
        model.handles[name] = _build(Handle, data, f"{file}: {name}", name=name, **place)
    for name, data in section("typedefs"):
        model.typedefs[name] = _build(Typedef, data, f"{file}: {name}", name=name, **place)
    for name, data in section("enums"):
        model.enums[name] = _enum(name, data, f"{file}: {name}", place)
    for name, data in section("callbacks"):
        where = f"{file}: {name}"
        params = [_build(Param, p, f"{where}.{p.get('name')}") for p in data.pop("params")]
        model.callbacks[name] = _build(Callback, data, where, name=name, params=params, **place)
    for name, data in section("structs"):
        where = f"{file}: {name}"
        members = [_build(Member, m, f"{where}.{m.get('name')}") for m in data.pop("members")]
        struct = _build(Struct, data, where, name=name, members=members, **place)
        if struct.base:
            struct.members = _base_members(model, struct, where) + members
        model.structs[name] = struct
    for name, data in section("functions"):
        where = f"{file}: {name}"
        params = [_build(Param, p, f"{where}.{p.get('name')}") for p in data.pop("params")]
        checks = [_build(Check, c, where) for c in data.pop("checks", [])]
        model.functions[name] = _build(Function, data, where, name=name, params=params,
                                       checks=checks, **place)
    for name, data in section("environment"):
        model.environment[name] = data
    if document:
        raise ModelError(f"{file}: unknown keys {', '.join(sorted(document))}")


def _load_tables(model, path):
    with open(path, encoding="utf-8") as stream:
        document = yaml.load(stream, Loader=Loader)
    model.sysman = document["sysman"]
    for namespace, tables in document["tables"].items():
        for entry in tables:
            functions = []
            for index, name in enumerate(entry["functions"]):
                function = model.functions.get(name)
                if function is None:
                    raise ModelError(f"tables.yaml: {name} is not described")
                if function.table:
                    raise ModelError(f"tables.yaml: {name} is in two tables")
                prefix = namespace + class_of(entry["table"])
                function.table, function.index = entry["table"], index
                function.member = "pfn" + name[len(prefix):]
                functions.append(function)
            versions = [f.since for f in functions]
            if versions != sorted(versions):
                raise ModelError(f"tables.yaml: {entry['table']}: members are in order of version")
            model.tables.append(Table(entry["table"], namespace, functions))
    missing = [f.name for f in model.functions.values() if not f.table]
    if missing:
        raise ModelError(f"tables.yaml: no table has {', '.join(missing)}")


def _load_callback_tables(model, path):
    with open(path, encoding="utf-8") as stream:
        document = yaml.load(stream, Loader=Loader)
    for entry in document["callbacks"]:
        functions = [model.functions[name] for name in entry["functions"]]
        model.callback_tables.append(CallbackTable(entry["table"], functions))


def _check_types(model):
    """Every type that is used has to be described somewhere."""
    plain = {"void", "char", "int", "float", "double", "size_t", "unsigned int", "uint8_t",
             "uint16_t", "uint32_t", "uint64_t", "int32_t", "int64_t", "ze_callbacks_t"}
    known = plain | set(model.handles) | set(model.typedefs) | set(model.enums)
    known |= set(model.callbacks) | set(model.structs)
    known |= {e.enum_name for e in model.enums.values()}

    def check(where, type_name):
        bare = re.sub(r"^const\s+", "", type_name).rstrip("*")
        if bare not in known:
            raise ModelError(f"{where}: type {bare} is not described")

    for function in model.functions.values():
        for param in function.params:
            check(f"{function.name}.{param.name}", param.type)
    for struct in model.structs.values():
        for member in struct.members:
            check(f"{struct.name}.{member.name}", member.type)


def load(folder):
    """Reads all files of the folder; raises ModelError with the first mistake."""
    model = Model()
    special = {"tables.yaml", "callbacks.yaml"}
    names = sorted(n for n in os.listdir(folder) if n.endswith(".yaml") and n not in special)
    # The base areas hold what the structs of the others start with.
    names.sort(key=lambda n: (not n.endswith("-base.yaml"), n))
    for name in names:
        path = os.path.join(folder, name)
        with open(path, encoding="utf-8") as stream:
            try:
                _load_area(model, path, yaml.load(stream, Loader=Loader))
            except yaml.YAMLError as error:
                raise ModelError(str(error)) from None
    _load_tables(model, os.path.join(folder, "tables.yaml"))
    _load_callback_tables(model, os.path.join(folder, "callbacks.yaml"))
    _check_types(model)
    return model
