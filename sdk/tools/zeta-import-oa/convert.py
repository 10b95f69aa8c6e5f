"""From sets of the XML to sets of our files."""

import re

import formats
import infix
import rpn
from findings import Refused
from source import REGISTER_CLASSES
from yaml_text import scalar

VALUE_TYPES = {"uint64": "u64", "float": "f32", "uint32": "u32", "double": "f64", "bool32": "bool8"}
TYPES = {"event": "event", "duration": "duration", "throughput": "throughput", "ratio": "ratio",
         "timestamp": "timestamp", "raw": "raw", "flag": "flag"}
# Of numbers in these units sums mean nothing: they are ratios, whatever their semantic type.
RATIO_UNITS = ("percent", "hz", "utilization")
UNIT_WORDS = {"percent": "percent", "hz": "hertz", "ns": "nanoseconds", "us": "microseconds",
              "gbps": "gigabytes per second", "number": "a plain number", "": "a plain number",
              "utilization": "parts of what is possible"}
# Units that files of ours write in another way; a plain number has none.
UNITS = {"hz": "Hz", "gbps": "GB/s", "number": "", "utilization": "",
         "eu bytes per l3 cache line": "bytes/line",
         "eu sends to l3 cache lines": "accesses/line",
         "eu requests to l3 cache lines": "accesses/line",
         "eu atomic requests to l3 cache lines": "accesses/line"}
OPEN_TIER = 4


class Metric:
    """A metric as the members of its definition; two with equal members are the same metric."""

    def __init__(self, line, name, members):
        self.line = line
        self.name = name
        self.members = tuple(members)
        self.use = None  # how a set uses a definition that means the same


class OutSet:
    """A set, ready to be written."""

    def __init__(self, name, members, program, metrics, also):
        self.name = name
        self.members = members  # "key: value" texts without program, metrics and also
        self.program = program  # list of (condition text or None, [(address, value)])
        self.metrics = metrics
        self.also = also        # list of members


class Choice:
    """What options say about a set, by its name, its format, or for all: KEY=VALUE texts."""

    def __init__(self, texts, option):
        self.values = {}
        for text in texts:
            key, equal, value = text.partition("=")
            if not equal or not key or not value:
                raise Refused(option, 0, f"'{text}' is not of the form KEY=VALUE")
            self.values.setdefault(key, []).append(value)

    def of(self, source):
        """The values for a set, those for its name before those for its format."""
        for key in (source.name, source.oa_format or "default", "*"):
            if key in self.values:
                return self.values[key]
        return []


class Converter:
    """Converts the sets of one file; errors carry its name."""

    def __init__(self, path, words, layouts, units, also, muldiv):
        self.path = path
        self.words = words
        self.layouts = layouts
        self.units = units
        self.also = also
        self.muldiv = muldiv
        self.symbols = set()   # device symbols that expressions use
        self.addresses = {}    # unit: {address of a register: its class}
        self.left_out = []     # (line, text)

    def refuse(self, line, text):
        raise Refused(self.path, line, text)

    def format_of(self, source):
        """The format of a set and the name of its layout."""
        if source.oa_format is None:
            found = formats.default_format(source.chipset)
        else:
            found = formats.BY_NAME.get(source.oa_format)
        layout = (self.layouts.of(source) or [None])[-1]
        if layout in formats.BY_LAYOUT:
            return formats.BY_LAYOUT[layout], layout
        if found is None:
            self.refuse(source.line, f"set {source.name} has the unknown format "
                        f"'{source.oa_format}'; known are {', '.join(formats.BY_NAME)}; "
                        f"--layout {source.oa_format}=NAME says which layout it is")
        return found, layout or found.layout

    def unit_of(self, source, report_format):
        """Unit and domain of a set."""
        chosen = self.units.of(source)
        if not chosen:
            return formats.unit_of_program(
                report_format, {a for config in source.configs for a, _ in config.registers})
        name, colon, domain = chosen[-1].partition(":")
        if not name or (colon and not domain.isdigit()):
            raise Refused("--unit", 0, f"'{chosen[-1]}' is not of the form UNIT:DOMAIN")
        return name, int(domain) if colon else report_format.domain

    def condition(self, line, what, text):
        """A condition over symbols; None if it is always true."""
        equations = rpn.Equations(None)
        try:
            node = rpn.truth(equations.equation(text))
        except rpn.Wrong as error:
            self.refuse(line, f"availability of {what}: {error}")
        self.symbols |= equations.symbols
        if node[0] == "number":
            return None if node[1] else "0"
        return infix.expression(node)

    def sentence(self, name, fallback):
        return self.words.get(name, fallback)

    def metric_type(self, counter):
        if counter.semantic not in TYPES:
            self.refuse(counter.line, f"counter {counter.name} has the unknown semantic type "
                        f"'{counter.semantic}'")
        if counter.unit in RATIO_UNITS and counter.semantic != "throughput":
            return "ratio"
        return TYPES[counter.semantic]

    def tier(self, counter):
        for flag in counter.flags:
            if re.fullmatch(r"Tier[1-4]", flag):
                return int(flag[-1])
        return OPEN_TIER

    def value(self, equations, counter, text):
        """The value of a counter as an expression of the type that its data has."""
        kind = rpn.F if counter.data_type in ("float", "double") else rpn.U
        node = rpn.converted(equations.equation(text, counter.availability), kind)
        if self.muldiv:
            node = rpn.with_muldiv(node)
        return infix.expression(node), kind

    def metric(self, equations, counter):
        if counter.data_type not in VALUE_TYPES:
            self.refuse(counter.line, f"counter {counter.name} has the unknown data type "
                        f"'{counter.data_type}'")
        try:
            value, kind = self.value(equations, counter, counter.equation)
            maximum = counter.maximum and self.value(equations, counter, counter.maximum)[0]
        except rpn.Wrong as error:
            self.refuse(counter.line, f"counter {counter.name}: {error}")
        if counter.unit == "percent" and maximum in ("100", "100.0"):
            maximum = None  # what percentages have anyway
        when = counter.availability and self.condition(counter.line, counter.name,
                                                       counter.availability)
        tier = self.tier(counter)
        unit = UNITS.get(counter.unit, counter.unit)
        unit_word = UNIT_WORDS.get(counter.unit, unit)
        members = [("type", self.metric_type(counter)),
                   ("value_type", VALUE_TYPES[counter.data_type])]
        members += [("unit", scalar(unit))] if unit else []
        members += [("tier", tier)] if tier != 1 else []
        members += [("class", "exact")]
        members += [("component", scalar(counter.group))] if counter.group else []
        members += [("when", scalar(when))] if when else []
        members += [("value", scalar(value))]
        members += [("max", scalar(maximum))] if maximum else []
        members += [("description", scalar(self.sentence(counter.name,
                                                         f"{counter.name} in {unit_word}.")))]
        equations.metrics[counter.name] = rpn.Known(kind, counter.equation, counter.availability)
        return Metric(counter.line, counter.name, members)

    def metrics(self, source, report_format):
        """The metrics of a set, without those that no report can answer."""
        equations = rpn.Equations(report_format)
        out = []
        for counter in source.counters:
            try:
                out.append(self.metric(equations, counter))
            except rpn.NotMeasured as error:
                equations.missing.add(counter.name)
                self.left_out.append((counter.line, f"{source.name}/{counter.name} {error}"))
        if not out:
            self.refuse(source.line, f"set {source.name} has no metric")
        self.symbols |= equations.symbols
        return out

    def note_registers(self, config, unit):
        register_class = REGISTER_CLASSES[config.kind]
        known = self.addresses.setdefault(unit, {})
        for address, _ in config.registers:
            if known.setdefault(address, register_class) != register_class:
                self.refuse(config.line, f"register {address:#06x} is {register_class} here and "
                            f"{known[address]} elsewhere")

    def configs(self, source):
        """Lists of registers in their order: mux by priority, boolean, flexible EU counters."""
        mux = sorted((c for c in source.configs if c.kind == "NOA"), key=lambda c: c.priority)
        return mux + [c for kind in ("OA", "FLEX") for c in source.configs if c.kind == kind]

    def program(self, source):
        """Parts of the program."""
        parts = []
        for config in self.configs(source):
            condition = config.availability and self.condition(
                config.line, f"registers of set {source.name}", config.availability)
            if parts and parts[-1][0] == condition:
                parts[-1][1].extend(config.registers)
            elif config.registers:
                parts.append((condition or None, list(config.registers)))
        return parts

    def further(self, source):
        """The same set on further units: SUFFIX:UNIT:DOMAIN[:CONDITION]."""
        out = []
        for text in self.also.of(source):
            parts = text.split(":", 3)
            if len(parts) < 3 or not parts[2].isdigit():
                raise Refused("--also", 0, f"'{text}' is not of the form "
                              "SUFFIX:UNIT:DOMAIN[:CONDITION]")
            members = [("name", source.name + parts[0]), ("unit", parts[1]), ("domain", parts[2])]
            members += [("when", scalar(parts[3]))] if len(parts) > 3 else []
            out.append(members)
        return out

    def convert(self, source):
        """One set of our files."""
        report_format, layout = self.format_of(source)
        unit, domain = self.unit_of(source, report_format)
        for config in self.configs(source):
            self.note_registers(config, unit)
        sampling = "[time, event]" if "IO" in source.apis or not source.apis else "[event]"
        members = [("name", source.name), ("uuid", source.uuid),
                   ("description", scalar(self.sentence(
                       source.name, f"{source.name} of {source.chipset or 'the device'}."))),
                   ("domain", domain), ("unit", unit), ("layout", layout), ("sampling", sampling)]
        return OutSet(source.name, members, self.program(source),
                      self.metrics(source, report_format), self.further(source))
