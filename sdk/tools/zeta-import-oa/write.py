"""Printing a set file."""

import source
from yaml_text import fill, flow_mapping, scalar


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
            names.append(key)
            if last:
                flush(True)
            continue
        flush(False)
        found = flow_mapping("      ", [("name", metric.name)] + list(metric.members), 7)
        found[-1] += "]" if last else ","
        lines += found
    return lines


def program(parts):
    lines = ["    program:"]
    for condition, registers in parts:
        if condition:
            lines.append(f"      - when: {scalar(condition)}")
        opening = "        registers: [" if condition else "      - registers: ["
        pairs = [f"[{address:#06x}, {value:#010x}]" for address, value in registers]
        lines += fill(opening, pairs, "]", 10)
    return lines


def one_set(found, shared):
    lines = []
    members = found.members
    lines.append(f"  - {members[0][0]}: {members[0][1]}")
    lines += [f"    {key}: {value}" for key, value in members[1:]]
    if found.also:
        lines.append("    also:")
        for members in found.also:
            lines += flow_mapping("      - ", members, 9)
    if found.program:
        lines += program(found.program)
    return lines + metric_list(found.metrics, shared)


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
