"""Writing YAML that people can read: flow mappings that fill their lines."""

import re
import textwrap

WIDTH = 100
REGISTER_WIDTH = 112  # of register texts: few look at them, and each block begins a line
PLAIN = re.compile(r"[A-Za-z0-9_$][A-Za-z0-9_$.()/+*<>= -]*\Z")
RESERVED = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}


def scalar(text):
    """A text as a scalar that means the same inside flow collections, quoted where needed."""
    text = str(text)
    if PLAIN.match(text) and not text.endswith(" ") and text.lower() not in RESERVED:
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def plain(text):
    """The text that a scalar means."""
    text = str(text)
    if text.startswith('"'):
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def words(text, indent, width=WIDTH):
    """Lines of a text; those behind the first one begin with indent."""
    return textwrap.wrap(text, width, subsequent_indent=indent, break_long_words=False,
                         break_on_hyphens=False)


def fill(opening, items, closing, indent):
    """Items with commas between them, wrapped; the first line begins with opening.

    Descriptions, and what is longer than a line, are broken between words: YAML reads a line break
    in a scalar as a space."""
    lines = [opening]
    room = False
    for number, item in enumerate(items):
        piece = item + ("," if number + 1 < len(items) else closing)
        fits = indent + len(piece) <= WIDTH and not item.startswith("description: ")
        whole = fits or "  " in item
        for word in [piece] if whole else piece.split(" "):
            if room and len(lines[-1]) + 1 + len(word) > WIDTH:
                first = whole or word == piece.split(" ")[0]
                lines.append(" " * (indent if first else indent + 2) + word)
            else:
                lines[-1] += (" " if room else "") + word
            room = True
    if not items:
        lines[-1] += closing
    return lines


def flow_mapping(prefix, members, indent):
    """Lines of a flow mapping behind prefix; further lines stand at indent."""
    return fill(prefix + "{", [f"{key}: {value}" for key, value in members], "}", indent)
