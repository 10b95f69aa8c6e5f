"""Printing a set file."""

import blocks
import source
from yaml_text import REGISTER_WIDTH, fill, flow_mapping, scalar, words


def definitions(shared):
    """Lines of the shared definitions."""
    lines = ["metrics:"]
    for key, metric in shared.new:
        name = [("name", metric.name)] if key != metric.name else []
        lines += flow_mapping(f"  {key}: ", name + list(metric.members), 4)
    return lines


def metric_list(metrics, shared):
    """Lines of a set's list of metrics: names in filled lines, definitions each on their own."""
    lines = ["    metrics: ["]
    names = []

    def flush(last):
        nonlocal names
        if names:
            lines.extend(fill("      ", names, "]" if last else ",", 6))
        names = []

    for number, metric in enumerate(metrics):
        last = number + 1 == len(metrics)
        key = shared.key_of(metric)
        if key:
            names.append(scalar(key))
            if last:
                flush(True)
            continue
        flush(False)
        found = flow_mapping("      ", [("name", metric.name)] + list(metric.members), 7)
        found[-1] += "]" if last else ","
        lines += found
    return lines


def program(parts):
    """Lines of a set's own program."""
    lines = ["    program:" if parts else "    program: []"]
    for condition, registers in parts:
        if condition:
            lines.append(f"      - when: {scalar(condition)}")
        lines += words(f"      {' ' if condition else '-'} registers: {blocks.text(registers, {})}",
                       " " * 10)
    return lines


def one_set(found, shared, with_program):
    lines = []
    members = found.members
    lines.append(f"  - {members[0][0]}: {members[0][1]}")
    lines += [f"    {key}: {value}" for key, value in members[1:]]
    if found.also:
        lines.append("    also:")
        for members in found.also:
            lines += flow_mapping("      - ", members, 9)
    if with_program:
        lines += program(found.program)
    return lines + metric_list(found.metrics, shared)


def programs(found):
    """Lines of blocks, and of programs that use them. found: {uuid: parts}

    Each begins a line: the library finds it there, and parses those alone that a set needs."""
    grammar = blocks.Grammar([writes for parts in found.values() for _, writes in parts])
    names = {number: f"b{place}" for place, number in enumerate(grammar.blocks, 1)}
    texts = iter([blocks.text(items, names) for items in grammar.programs])
    lines = ["blocks:"] if names else []
    for number, items in grammar.blocks.items():
        lines += words(f"  {names[number]}: {blocks.text(items, names)}", " " * 4, REGISTER_WIDTH)
    lines += ["", "programs:"] if names else ["programs:"]
    for uuid, parts in found.items():
        if [condition for condition, _ in parts] == [None]:
            lines += words(f"  {uuid}: {next(texts)}", " " * 4, REGISTER_WIDTH)
            continue
        lines += [f"  {uuid}:"]
        for condition, _ in parts:
            lines += [f"    - when: {scalar(condition)}"] if condition else []
            lines += words(f"    {' ' if condition else '-'} registers: {next(texts)}", " " * 8,
                           REGISTER_WIDTH)
    return lines


def symbols(names):
    lines = ["symbols:"]
    return lines + [f"  {name}: {{from: provider, type: u64}}" for name in sorted(names)]


def ranges(addresses):
    """Addresses as [first, last] of registers that follow each other."""
    out = []
    for address in sorted(addresses):
        if out and address == out[-1][1] + 4:
            out[-1][1] = address
        else:
            out.append([address, address])
    return [f"{a:#06x}" if a == b else f"[{a:#06x}, {b:#06x}]" for a, b in out]


def units(addresses):
    """Units with their registers, a list of each class. addresses: of a unit, {address: class}"""
    lines = ["units:"]
    for unit in sorted(addresses):
        lines += [f"  {unit}:", "    registers:"]
        for name in source.REGISTER_CLASSES.values():
            found = [a for a, register_class in addresses[unit].items() if register_class == name]
            if found:
                lines += fill(f"      {name}: [", ranges(found), "]", 8)
    return lines
