"""Writing YAML that people can read: flow mappings that fill their lines."""

import re

WIDTH = 100
PLAIN = re.compile(r"[A-Za-z0-9_$][A-Za-z0-9_$.()/+*<>= -]*\Z")
RESERVED = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}


def scalar(text):
    """A text as a scalar that means the same inside flow collections, quoted where needed."""
    text = str(text)
    if PLAIN.match(text) and not text.endswith(" ") and text.lower() not in RESERVED:
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def broken(piece, indent):
    """Lines of a piece that is longer than a line; YAML reads a line break in it as a space."""
    lines = [""]
    for word in piece.split(" "):
        if lines[-1] and indent + len(lines[-1]) + 1 + len(word) > WIDTH:
            lines.append(word)
        else:
            lines[-1] += (" " if lines[-1] else "") + word
    return lines


def fill(opening, items, closing, indent):
    """Items with commas between them, wrapped; the first line begins with opening."""
    lines = [opening]
    room = False
    for number, item in enumerate(items):
        piece = item + ("," if number + 1 < len(items) else closing)
        if room and len(lines[-1]) + 1 + len(piece) > WIDTH:
            parts = [piece] if "  " in piece else broken(piece, indent + 2)
            lines.append(" " * indent + parts[0])
            lines += [" " * (indent + 2) + part for part in parts[1:]]
        else:
            lines[-1] += (" " if room else "") + piece
        room = True
    if not items:
        lines[-1] += closing
    return lines


def flow_mapping(prefix, members, indent):
    """Lines of a flow mapping behind prefix; further lines stand at indent."""
    return fill(prefix + "{", [f"{key}: {value}" for key, value in members], "}", indent)
