"""Reads core/api/model/*.yaml and checks that everything fits together.

Whatever a later stage relies on is checked here, with file and line in the message, so that the
other modules can be straight lines. Unknown keys, entries and keys that occur twice, types and
names that nothing describes are mistakes.
"""

import os
import re

import yaml

from .model import (CURRENT, NAMESPACES, Callback, CallbackTable, Check, Enum, Enumerator, Function,
                    Handle, Macro, Member, Model, ModelError, Param, Struct, Table, Typedef,
                    class_of)

#: C types that need no description.
_PLAIN = {"void", "char", "int", "float", "double", "size_t", "unsigned int", "uint8_t", "uint16_t",
          "uint32_t", "uint64_t", "int32_t", "int64_t", "ze_callbacks_t"}

#: Attributes of the objects that are no keys of the files.
_PLACE = {"area", "namespace"}
_COMPUTED = {Function: _PLACE | {"table", "index", "member"}, Member: {"base"}}

_DIRECTIONS = {"in", "out", "inout"}
_GUARANTEES = {None, "thread-safe", "lock-free"}


class _Mapping(dict):
    """A mapping that knows the line it starts on."""

    line = 0


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """The safe loader; mappings know their line, and a key may occur only once."""


def _construct_mapping(loader, node):
    result = _Mapping()
    result.line = node.start_mark.line + 1
    yield result
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if key in result:
            raise ModelError(f"{os.path.basename(key_node.start_mark.name)}:"
                             f"{key_node.start_mark.line + 1}: {key} occurs twice")
        result[key] = loader.construct_object(value_node, deep=True)


_Loader.add_constructor("tag:yaml.org,2002:map", _construct_mapping)


def read_document(path):
    """The one document of a file; raises ModelError with line and column if it is no YAML."""
    with open(path, encoding="utf-8") as stream:
        try:
            document = yaml.load(stream, Loader=_Loader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            raise ModelError(f"{os.path.basename(path)}:{mark.line + 1}:{mark.column + 1}: "
                             f"{error.problem}") from None
    if not isinstance(document, dict):
        raise ModelError(f"{os.path.basename(path)}: the file has to hold a mapping")
    return document


def _version(text, where):
    """'1.10' -> (1, 10)."""
    if not isinstance(text, str) or not re.fullmatch(r"\d+\.\d+", text):
        raise ModelError(f"{where}: a version is a quoted string like \"1.9\", not {text!r}")
    major, minor = text.split(".")
    pair = int(major), int(minor)
    if pair > CURRENT:
        raise ModelError(f"{where}: version {text} is above that of the model")
    return pair


class _Reader:
    """Reads one file; knows its name for messages."""

    def __init__(self, model, path):
        self.model = model
        self.path = path
        self.file = os.path.basename(path)
        self.place = {}

    def where(self, name, data):
        line = getattr(data, "line", None)
        return f"{self.file}:{line}: {name}" if line else f"{self.file}: {name}"

    def build(self, cls, data, label, **extra):
        """Makes one object from a mapping; unknown and missing keys are mistakes."""
        where = self.where(label, data)
        if not isinstance(data, dict):
            raise ModelError(f"{where}: expected a mapping, found {data!r}")
        known = set(cls.__dataclass_fields__) - _COMPUTED.get(cls, _PLACE) - set(extra)
        unknown = set(data) - known
        if unknown:
            raise ModelError(f"{where}: unknown keys {', '.join(sorted(unknown))}")
        values = dict(data)
        if "since" in values:
            values["since"] = _version(values["since"], where)
        try:
            return cls(**values, **extra)
        except TypeError as error:
            raise ModelError(f"{where}: {error}") from None

    def items(self, data, key, cls, name):
        """The objects of a list below an entry, taken out of its mapping."""
        return [self.build(cls, item, f"{name}, {item.get('name') or item.get('fails_if')}")
                for item in data.pop(key, None) or []]

    def macro(self, name, data):
        return self.build(Macro, data, name, name=name, **self.place)

    def handle(self, name, data):
        return self.build(Handle, data, name, name=name, **self.place)

    def typedef(self, name, data):
        return self.build(Typedef, data, name, name=name, **self.place)

    def enum(self, name, data):
        where = self.where(name, data)
        flags = bool(data.get("flags"))
        values = []
        for entry in data.pop("values", None) or []:
            at = f"{name}, {entry.get('name')}"
            number = entry.pop("bit" if flags else "value", None)
            if not isinstance(number, int) or not 0 <= number < (31 if flags else 0x7FFFFFFF):
                raise ModelError(f"{self.where(at, entry)}: "
                                 f"{'bit' if flags else 'value'} is missing or out of range")
            entry.setdefault("since", data.get("since"))
            item = self.build(Enumerator, entry, at, value=1 << number if flags else number)
            item.name = data.get("prefix", "") + item.name
            values.append(item)
        if not values:
            raise ModelError(f"{where}: an enum needs values")
        return self.build(Enum, data, name, name=name, values=values, **self.place)

    def callback(self, name, data):
        params = self.items(data, "params", Param, name)
        return self.build(Callback, data, name, name=name, params=params, **self.place)

    def struct(self, name, data):
        where = self.where(name, data)
        members = self.items(data, "members", Member, name)
        struct = self.build(Struct, data, name, name=name, members=members, **self.place)
        if struct.base:
            base = self.model.structs.get(struct.base)
            if base is None:
                raise ModelError(f"{where}: base {struct.base} is not described before it")
            struct.members = [Member(m.name, m.type, m.dir, base=True, brief=m.brief)
                              for m in base.members] + members
        return struct

    def function(self, name, data):
        where = self.where(name, data)
        params = self.items(data, "params", Param, name)
        checks = self.items(data, "checks", Check, name)
        function = self.build(Function, data, name, name=name, params=params, checks=checks,
                              **self.place)
        names = {p.name for p in params}
        rule = (function.threads or "any").split(" ")
        if rule != ["any"] and not (len(rule) == 2 and rule[0] == "exclusive" and rule[1] in names):
            raise ModelError(f"{where}: threads is \"any\" or \"exclusive <parameter>\"")
        if function.implementation not in _GUARANTEES:
            raise ModelError(f"{where}: implementation is thread-safe or lock-free")
        for check in checks:
            words = set(re.findall(r"(?<![>\w])[A-Za-z_]\w*", check.fails_if)) - {"NULL"}
            if words - names:
                raise ModelError(f"{where}: {check.fails_if}: no parameter "
                                 f"{', '.join(sorted(words - names))}")
        return function

    def environment(self, _name, data):
        return data

    def area(self):
        document = read_document(self.path)
        area, namespace = document.pop("area", None), document.pop("namespace", None)
        if namespace not in NAMESPACES or not area:
            raise ModelError(f"{self.file}: area and namespace (ze, zet, zes or zer) are required")
        self.place = {"area": area, "namespace": namespace}
        self.model.areas[area] = document.pop("brief", "")
        sections = (("macros", self.macro), ("handles", self.handle), ("typedefs", self.typedef),
                    ("enums", self.enum), ("callbacks", self.callback), ("structs", self.struct),
                    ("functions", self.function), ("environment", self.environment))
        for key, read in sections:
            known = getattr(self.model, key)
            for name, data in (document.pop(key, None) or {}).items():
                if name in known:
                    raise ModelError(f"{self.where(name, data)}: described twice")
                known[name] = read(name, data)
        if document:
            raise ModelError(f"{self.file}: unknown keys {', '.join(sorted(document))}")


def _read_tables(model, path):
    document = read_document(path)
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
                if not name.startswith(prefix):
                    raise ModelError(f"tables.yaml: {name} does not belong to {entry['table']}")
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


def _read_callback_tables(model, path):
    for entry in read_document(path)["callbacks"]:
        unknown = [name for name in entry["functions"] if name not in model.functions]
        if unknown:
            raise ModelError(f"callbacks.yaml: {', '.join(unknown)} is not described")
        functions = [model.functions[name] for name in entry["functions"]]
        model.callback_tables.append(CallbackTable(entry["table"], functions))


def _check_types(model):
    """Every type that is used has to be described somewhere."""
    known = _PLAIN | set(model.handles) | set(model.typedefs) | set(model.enums)
    known |= set(model.callbacks) | set(model.structs)

    def check(where, item):
        bare = re.sub(r"^const\s+", "", item.type).rstrip("*")
        if bare not in known:
            raise ModelError(f"{where}.{item.name}: type {bare} is not described")
        if item.dir not in _DIRECTIONS:
            raise ModelError(f"{where}.{item.name}: dir is in, out or inout, not {item.dir}")

    for function in model.functions.values():
        for param in function.params:
            check(function.name, param)
    for struct in model.structs.values():
        for member in struct.members:
            check(struct.name, member)
    for handle in model.handles.values():
        if bool(handle.kind) == bool(handle.alias):
            raise ModelError(f"{handle.name}: a handle has either a kind or an alias")


def _check_names(model):
    """Results, structure types and counts name something that exists."""
    enumerators = {v.name for enum in model.enums.values() for v in enum.values}
    for function in model.functions.values():
        for result in function.results + [c.result for c in function.checks]:
            if f"ZE_RESULT_{result}" not in enumerators:
                raise ModelError(f"{function.name}: there is no result {result}")
        names = {p.name for p in function.params}
        for param in function.params:
            if model.handle_kind(param.target) and param.count \
                    and param.count.lstrip("*") not in names:
                raise ModelError(f"{function.name}.{param.name}: no parameter {param.count}")
    for struct in model.structs.values():
        if struct.stype and struct.stype not in enumerators:
            raise ModelError(f"{struct.name}: there is no structure type {struct.stype}")
        if struct.extends and not struct.stype:
            raise ModelError(f"{struct.name}: what can be chained needs a structure type")
        for name in struct.extends:
            if name not in model.structs:
                raise ModelError(f"{struct.name}: extends {name}, which is not described")


def load(folder):
    """Reads all files of the folder; raises ModelError with the first mistake."""
    model = Model()
    special = {"tables.yaml", "callbacks.yaml"}
    names = sorted(n for n in os.listdir(folder) if n.endswith(".yaml") and n not in special)
    # The base areas hold what the structs of the others start with.
    names.sort(key=lambda n: (not n.endswith("-base.yaml"), n))
    for name in names:
        _Reader(model, os.path.join(folder, name)).area()
    _read_tables(model, os.path.join(folder, "tables.yaml"))
    _read_callback_tables(model, os.path.join(folder, "callbacks.yaml"))
    _check_types(model)
    _check_names(model)
    return model
