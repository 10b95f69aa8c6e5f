"""Reading the XML of metric sets into plain objects, with the line of each."""

import re
import xml.parsers.expat

from findings import Refused

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
SET_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
REGISTER_TYPES = ("NOA", "OA", "FLEX")


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


class Reader:
    """Handlers of the XML parser. Elements that are not known are passed over with what they hold."""

    def __init__(self, path):
        self.path = path
        self.sets = []
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
        parent = self.stack[-1] if self.stack else None
        self.stack.append(element)
        if len(self.stack) == 1 and element != "metrics":
            self.refuse(f"the document is <{element}>; sets are in <metrics>")
        if element == "set" and parent == "metrics":
            self.start_set(attributes)
        elif element == "counter" and parent == "set":
            self.start_counter(attributes)
        elif element == "register_config" and parent == "set":
            self.start_config(attributes)
        elif element == "register" and parent == "register_config":
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
        for other in self.sets:
            if other.name == found.name:
                self.refuse(f"set {found.name} is already in line {other.line}")
        self.sets.append(found)

    def start_counter(self, attributes):
        self.need("counter", attributes, ("symbol_name", "data_type", "semantic_type", "equation"))
        found = Counter(self.parser.CurrentLineNumber, attributes)
        if not NAME.match(found.name) or len(found.name) > 255:
            self.refuse(f"'{found.name}' is no name for a metric")
        for other in self.sets[-1].counters:
            if other.name == found.name:
                self.refuse(f"counter {found.name} is already in line {other.line}")
        self.sets[-1].counters.append(found)

    def start_config(self, attributes):
        self.need("register_config", attributes, ("type",))
        kind = attributes["type"]
        if kind not in REGISTER_TYPES:
            self.refuse(f"unknown register type '{kind}'; known are {', '.join(REGISTER_TYPES)}")
        priority = attributes.get("priority", "0")
        if not re.fullmatch(r"[0-9]+", priority):
            self.refuse(f"priority '{priority}' is no number")
        self.sets[-1].configs.append(Config(self.parser.CurrentLineNumber, kind,
                                            attributes.get("availability"), int(priority)))

    def start_register(self, attributes):
        self.need("register", attributes, ("address", "value"))
        pair = []
        for name in ("address", "value"):
            text = attributes[name]
            if not re.fullmatch(r"0[xX][0-9a-fA-F]+|[0-9]+", text) or int(text, 0) > 0xffffffff:
                self.refuse(f"{name} '{text}' of a register is no number of 32 bits")
            pair.append(int(text, 0))
        self.sets[-1].configs[-1].registers.append(tuple(pair))


def read(path):
    """The sets of a file, in its order."""
    reader = Reader(path)
    try:
        with open(path, "rb") as file:
            reader.parser.ParseFile(file)
    except xml.parsers.expat.ExpatError as error:
        reason = xml.parsers.expat.errors.messages[error.code]
        raise Refused(path, error.lineno, f"this is no well-formed XML: {reason}") from None
    except OSError as error:
        raise Refused(path, 0, error.strerror) from None
    if not reader.sets:
        raise Refused(path, 0, "there is no <set> in it")
    return reader.sets
