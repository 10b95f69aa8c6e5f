"""The set files of a generation, made again from their sources.

A source says which sets there are: uuids, registers, formats, and counters with their equations. A
person says the rest, and the importer keeps it: definitions of metrics, lists of them, and of each
set its name, description, condition and place.
"""

import os
import re

import catalog
import fold
import formats
import infix
import library
import match
import source
from findings import Refused
from yaml_text import fill, flow_mapping, plain, scalar

SOURCE = re.compile(r"^# Source: (\S+)$", re.MULTILINE)
# What sets begin with, as far as their generation defines it.
CLOCKS = ("GpuTime", "GpuCoreClocks", "AvgGpuCoreFrequency", "AvgGpuCoreFrequencyMHz")
# What tools look for in each ComputeBasic.
ALWAYS = {"ComputeBasic": ("XVE_ACTIVE", "XVE_STALL")}
# Of libi915_perf: a constant, and fractions that are called percentages.
LEFT_OUT = {"XVE_BUSY", "GPU_MEMORY_ACTIVE", "GPU_MEMORY_REQUEST_QUEUE_FULL",
            "COMMAND_PARSER_COMPUTE_ENGINE_BUSY", "COMMAND_PARSER_VIDEO_ENGINE_BUSY",
            "COMMAND_PARSER_VIDEO_ENHANCEMENT_ENGINE_BUSY"}


class Xml:
    """The sets of an XML file, with what their counters give on invented devices."""

    clocks = CLOCKS[-1:]  # that sets of a unit with clocks have in any case
    symbol = staticmethod(match.symbol)

    def __init__(self, path, converter):
        self.sets = {found.uuid: found for found in source.read(path)}
        self.converter = converter

    def names(self):
        return {uuid: found.name for uuid, found in self.sets.items()}

    def members(self, uuid):
        """Domain, unit, layout and sampling of a set."""
        return self.converter.convert(self.sets[uuid]).members[3:]

    def counters(self, uuid):
        return match.counters_of(self.converter.convert(self.sets[uuid]).metrics)


class Library:
    """The same of libi915_perf."""

    clocks = CLOCKS

    def __init__(self, name):
        self.source = library.Source(name)
        self.symbol = self.source.symbol

    def names(self):
        return self.source.names()

    def members(self, _):
        return [("domain", "0"), ("unit", "oa"), ("layout", formats.A24.layout),
                ("sampling", "[time, event]")]

    def counters(self, uuid):
        return {counter.name: counter for counter in self.source.counters(uuid)
                if counter.name not in LEFT_OUT}


class Generation:
    """A folder of data, with the manifest beside it that says what it has from elsewhere."""

    def __init__(self, folder, open_source, complain):
        self.folder = os.path.abspath(folder)
        self.open_source = open_source
        self.complain = complain
        self.sources = {}
        self.new = {}  # metrics that nothing defines yet, by name
        name = os.path.basename(self.folder)
        data = os.path.dirname(self.folder)
        manifest = os.path.join(data, "..", "manifests", f"20-intel-{name}.yaml.in")
        self.common = [os.path.join(data, path.replace("intel/", "common/"))
                       for path in catalog.load(manifest).get("metrics", [])]
        self.platforms = [[os.path.join(self.folder, path) for path in platform.get("sets", [])]
                          for platform in
                          catalog.load(os.path.join(self.folder, "platforms.yaml"))["platforms"]]

    def origin(self, path):
        """The source that a file names in its head; None if it is no file of sets."""
        with open(path, encoding="utf-8") as file:
            found = SOURCE.search(file.read())
        if not found:
            return None
        if found[1] not in self.sources:
            self.sources[found[1]] = self.open_source(found[1])
        return self.sources[found[1]]

    def files(self):
        """The texts of all files of sets by path."""
        out = {}
        for paths in self.platforms:
            origins = {path: self.origin(path) for path in paths}
            missing = [path for path in paths if origins[path] and path not in out]
            if not missing:
                continue
            # What is nearer to the sets goes before what several generations have.
            shared = catalog.Catalog([path for path in paths + self.common
                                      if not path.endswith("registers.yaml")])
            matcher = match.Matcher(shared.shared)
            known = {found.get("uuid") for found in shared.sets}
            for path in missing:
                sets = [found for found in shared.sets if found["path"] == path]
                origin = origins[path]
                if path == missing[0]:
                    sets += [{"uuid": uuid, "name": name, "metrics": [],
                              "description": f"{name} of the device."}
                             for uuid, name in origin.names().items() if uuid not in known]
                out[path] = self.file(path, origin, shared, matcher, sets)
        if self.new:
            out[os.path.join(self.folder, "metrics.yaml")] = self.definitions()
        return out

    def definitions(self):
        """The generation's metrics.yaml with the new definitions behind the others."""
        path = os.path.join(self.folder, "metrics.yaml")
        self.complain(f"{path}: {len(self.new)} new definition(s) need words of a person: "
                      f"{', '.join(self.new)}")
        lines = [line for key, members in self.new.items()
                 for line in flow_mapping(f"  {key}: ", members, 4)]
        text = "format: 2\n\nmetrics:\n"
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                text = file.read()
        return text + "\n".join(lines) + "\n"

    def file(self, path, origin, shared, matcher, sets):
        """The text of a file of sets."""
        names, kinds, rows = origin.names(), {}, []
        lists = sorted(((key, shared.uses(key)) for key, found in shared.shared.items()
                        if isinstance(found, list)), key=lambda item: -len(item[1]))
        for found in sets:
            if found["uuid"] not in names:
                self.complain(f"{path}: {found['name']} is no set of its source any more; left out")
                continue
            members = origin.members(found["uuid"])
            kind = kinds.setdefault(tuple(members), dict(members)["unit"])
            single = self.uses(found, origin, shared, matcher)
            texts = [found["name"], kind, found["description"], found.get("when", "")]
            row = fold.Row(texts + fold.uses(single, lists), next(
                ((definition.index, index) for definition, index, _ in single
                 if definition.index), None))
            row.uuid = found["uuid"]
            rows.append(row)
        with open(path, encoding="utf-8") as file:
            head = [line for line in file.read().splitlines() if line.startswith("#")]
        lines = head + ["format: 2", "", "kinds:"]
        for members, kind in kinds.items():
            texts = [f"{key}: {value}" for key, value in members]
            lines += fill(f"  {kind}: {{", texts, "}", 4)
        lines += ["", "sets:"]
        for group, texts, over in fold.over_index(rows):
            lines += self.one_set(texts, over, [row.uuid for row in group])
        return "\n".join(lines) + "\n"

    def one_set(self, texts, over, uuids):
        """The lines of a set, or of sets over an index."""
        name, kind, description, when, *uses = texts
        members = [f"name: {scalar(name)}"] + ([f"for: {over}"] if over else []) + [f"kind: {kind}"]
        members += [] if over else [f"uuid: {uuids[0]}"]
        members += [f"description: {scalar(description)}"]
        members += [f"when: {scalar(when)}"] if when else []
        lines = fill("  - {", members, ",", 4)
        lines += fill("    metrics: [", [scalar(use) for use in uses], "]" if over else "]}", 6)
        if over:
            lines[-1] += ","
            lines += fill("    uuid: [", uuids, "]}", 6)
        return lines

    def uses(self, found, origin, shared, matcher):
        """The single uses of definitions that are the counters of a set, in its order."""
        counters = origin.counters(found["uuid"])
        used = {use[0].text("name", use[1]): use
                for item in found["metrics"] for use in shared.uses(item)}
        known = match.knowing(counters, origin.symbol)
        exists = infix.evaluate(infix.parse(found.get("when", "1")), known, match.CASES)
        out = []
        for name, counter in counters.items():
            use = matcher.find(counter, exists, known, counters, used.get(name))
            if use is None:
                use = self.define(found, counter, shared), None, ()
                matcher.add(use[0])
            out.append(use)
        names = list(counters)
        for name in origin.clocks if "GpuCoreClocks" in names else ():
            before = [each for each in CLOCKS[:CLOCKS.index(name)] if each in names]
            self.add(name, names.index(before[-1]) + 1 if before else 0, names, out, shared)
        for name in ALWAYS.get(found["name"], ()):
            self.add(name, len(out), names, out, shared)
        # In the order that the file has; what is new comes behind it.
        place = {name: number for number, name in enumerate(used)}
        return [use for _, use in sorted(zip(names, out),
                                         key=lambda item: place.get(item[0], len(place)))]

    def add(self, name, place, names, out, shared):
        """Puts a metric that the source does not have into a set, if the generation defines it."""
        if name not in names and name in shared.shared:
            names.insert(place, name)
            out.insert(place, (shared.shared[name], None, ()))

    def define(self, found, counter, shared):
        """A new definition of what nothing defines yet."""
        if counter.members is None:
            raise Refused(self.folder, 0, f"no definition gives the values of {counter.name} in "
                          f"set {found['name']} ({found['uuid']}), and its source has no equation")
        key, number = counter.name, 1
        while key in shared.shared or key in self.new:
            number += 1
            key = f"{counter.name}-{number}"
        self.new[key] = [("name", counter.name)] * (key != counter.name) + list(counter.members)
        definition = catalog.Definition(key, {k: plain(text) for k, text in self.new[key]})
        shared.shared[key] = definition
        return definition
