"""What the model consists of: one class for each kind of entry, and Model, which holds them all.

Attributes have the names of the keys in core/api/model/*.yaml (core/api/README.md describes them).
Versions are pairs of integers: as a number 1.10 would be below 1.9.
"""

import re
from dataclasses import dataclass, field

#: The specification version that the model describes.
CURRENT = (1, 17)

NAMESPACES = ("ze", "zet", "zes", "zer")

#: Those whose table sets objects point to; the order of the sysman set is not known.
DISPATCHED = ("ze", "zet", "zer")


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
    pin: bool = False
    refused: bool = False
    mbz: bool = False
    count: str = None
    first: int = 0
    holes: bool = False
    lenient: str = None
    since: tuple = (1, 0)
    brief: str = ""

    @property
    def may_be_null(self):
        """True when null is let through: by the specification, or by us."""
        return self.optional or bool(self.lenient)

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
    def may_be_null(self):
        """As of a parameter."""
        return self.optional or bool(self.lenient)

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
    extends: list = field(default_factory=list)
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
    returns: str = "ze_result_t"
    results: list = field(default_factory=list)
    checks: list = field(default_factory=list)
    area: str = ""
    namespace: str = ""
    table: str = None
    index: int = None
    member: str = None

    @property
    def failure(self):
        """What a function without a result gives back when it fails; None with a result."""
        if self.returns == "ze_result_t":
            return None
        return "UINT32_MAX" if self.returns == "uint32_t" else "NULL"


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

    def sysman_left(self):
        """Names of the sysman tables that a loader asks for and the model does not describe."""
        described = {t.name for t in self.tables_of("zes")}
        return [name for name in self.sysman if name not in described]

    def functions_of(self, namespace):
        """Functions in table order."""
        return [f for t in self.tables_of(namespace) for f in t.functions]

    def traced(self):
        """Names of the functions that have a slot in ze_callbacks_t."""
        return {f.name for t in self.callback_tables for f in t.functions}
