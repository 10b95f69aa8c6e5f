"""Reading the XML of metric sets into plain objects, with the line of each."""

import re
import xml.parsers.expat

from findings import Refused

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
SET_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
# Types of registers, and what set files call them.
REGISTER_CLASSES = {"NOA": "mux", "OA": "boolean", "FLEX": "flex"}
# Python refuses to read numbers of thousands of digits; none of ours has more.
ADDRESS = re.compile(r"0[xX][0-9a-fA-F]{1,16}\Z|[0-9]{1,16}\Z")
PRIORITY = re.compile(r"[0-9]{1,9}\Z")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
# The largest file that is known has 2 MB.
MAX_BYTES = 64 << 20
MAX_DEPTH = 16


def number(text):
    """Decimal digits mean a decimal number, also with zeros before them."""
    return int(text, 16 if text[:2].lower() == "0x" else 10)


class Counter:
    """One <counter>: texts as they are in the file."""

    def __init__(self, line, attributes):
        self.line = line
        self.name = attributes["symbol_name"]
        self.data_type = attributes["data_type"]
        self.unit = attributes.get("units", "")
        self.semantic = attributes["semantic_type"]
        self.equation = attributes["equation"]
        self.maximum = attributes.get("max_equation")
        self.availability = attributes.get("availability")
        self.group = attributes.get("mdapi_group", "")
        self.flags = attributes.get("mdapi_usage_flags", "").split()


class Config:
    """One <register_config>: a list of (address, value) of one type."""

    def __init__(self, line, kind, availability, priority):
        self.line = line
        self.kind = kind
        self.availability = availability
        self.priority = priority
        self.registers = []


class Set:
    """One <set> with its counters and register lists."""

    def __init__(self, line, attributes):
        self.line = line
        self.name = attributes["symbol_name"]
        self.chipset = attributes.get("chipset", "")
        self.uuid = attributes["hw_config_guid"].lower()
        self.oa_format = attributes.get("oa_format")
        self.apis = attributes.get("mdapi_supported_apis", "").split()
        self.counters = []
        self.configs = []
        self.lines = {}  # of counters, by name


class Reader:
    """Handlers of the XML parser. Elements that are not known are passed over with what they hold."""

    def __init__(self, path):
        self.path = path
        self.sets = []
        self.lines = {}  # of sets, by name
        self.stack = []
        self.parser = xml.parsers.expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.StartDoctypeDeclHandler = self.doctype

    def refuse(self, text):
        raise Refused(self.path, self.parser.CurrentLineNumber, text)

    def doctype(self, *_):
        self.refuse("a document type is not allowed here")

    def need(self, element, attributes, names):
        for name in names:
            if not attributes.get(name):
                self.refuse(f"<{element}> needs the attribute {name}")

    def start(self, element, attributes):
        place = tuple(self.stack)
        self.stack.append(element)
        if len(place) >= MAX_DEPTH:
            self.refuse(f"elements are nested deeper than {MAX_DEPTH} levels")
        for name, text in attributes.items():
            if CONTROL.search(text):
                self.refuse(f"the attribute {name[:40]} has a line break or control character")
        if not place and element != "metrics":
            self.refuse(f"the document is <{element}>; sets are in <metrics>")
        if element == "set" and place == ("metrics",):
            self.start_set(attributes)
        elif element == "counter" and place == ("metrics", "set"):
            self.start_counter(attributes)
        elif element == "register_config" and place == ("metrics", "set"):
            self.start_config(attributes)
        elif element == "register" and place == ("metrics", "set", "register_config"):
            self.start_register(attributes)

    def end(self, _):
        self.stack.pop()

    def start_set(self, attributes):
        self.need("set", attributes, ("symbol_name", "hw_config_guid"))
        found = Set(self.parser.CurrentLineNumber, attributes)
        if not SET_NAME.match(found.name) or len(found.name) > 255:
            self.refuse(f"'{found.name}' is no name for a set")
        if not UUID.match(found.uuid):
            self.refuse(f"hw_config_guid '{found.uuid}' is no uuid")
        if found.name in self.lines:
            self.refuse(f"set {found.name} is already in line {self.lines[found.name]}")
        self.lines[found.name] = found.line
        self.sets.append(found)

    def start_counter(self, attributes):
        self.need("counter", attributes, ("symbol_name", "data_type", "semantic_type", "equation"))
        found = Counter(self.parser.CurrentLineNumber, attributes)
        if not NAME.match(found.name) or len(found.name) > 255:
            self.refuse(f"'{found.name}' is no name for a metric")
        lines = self.sets[-1].lines
        if found.name in lines:
            self.refuse(f"counter {found.name} is already in line {lines[found.name]}")
        lines[found.name] = found.line
        self.sets[-1].counters.append(found)

    def start_config(self, attributes):
        self.need("register_config", attributes, ("type",))
        kind = attributes["type"]
        if kind not in REGISTER_CLASSES:
            self.refuse(f"unknown register type '{kind}'; known are {', '.join(REGISTER_CLASSES)}")
        priority = attributes.get("priority", "0")
        if not PRIORITY.match(priority):
            self.refuse(f"priority '{priority[:40]}' is no number")
        self.sets[-1].configs.append(Config(self.parser.CurrentLineNumber, kind,
                                            attributes.get("availability"), int(priority)))

    def start_register(self, attributes):
        self.need("register", attributes, ("address", "value"))
        pair = []
        for name in ("address", "value"):
            text = attributes[name]
            value = number(text) if ADDRESS.match(text) else None
            if value is None or value > 0xffffffff:
                self.refuse(f"{name} '{text[:40]}' of a register is no number of 32 bits")
            pair.append(value)
        self.sets[-1].configs[-1].registers.append(tuple(pair))


def read(path):
    """The sets of a file, in its order."""
    reader = Reader(path)
    try:
        with open(path, "rb") as file:
            text = file.read(MAX_BYTES + 1)
        if len(text) > MAX_BYTES:
            raise Refused(path, 0, f"this file is larger than {MAX_BYTES >> 20} MiB")
        # At once: in pieces an attribute is looked at again with each of them.
        reader.parser.Parse(text, True)
    except xml.parsers.expat.ExpatError as error:
        reason = xml.parsers.expat.errors.messages[error.code]
        raise Refused(path, error.lineno, f"this is no well-formed XML: {reason}") from None
    except OSError as error:
        raise Refused(path, 0, error.strerror) from None
    if not reader.sets:
        raise Refused(path, 0, "there is no <set> in it")
    return reader.sets
