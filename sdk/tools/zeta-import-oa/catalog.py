"""Set files, read: definitions of metrics, and sets with all that stands for more written out."""

import functools
import re

import infix
from findings import Refused

PLACE = re.compile(r"\{([^{}]*)\}")
VALUES = re.compile(r"([A-Za-z]*)(\d+)(?:\.\.[A-Za-z]*(\d+)(?: by (\d+))?)?\Z")
WRITE = re.compile(r"([0-9a-f]{1,8})(\+?)=([0-9a-f]{1,8})\Z")
MAX_INDEX = 512
# Texts of a definition that an index and counters are put into.
TEXTS = ("name", "description", "component", "unit", "when", "value", "max")


def load(path):
    """A YAML file; all its scalars as texts."""
    try:
        import yaml
    except ImportError:
        raise Refused(path, 0, "reading it needs the module yaml of Python "
                      "(Debian: apt install python3-yaml)") from None
    try:
        with open(path, encoding="utf-8") as file:
            # Manifests of the source have places like @pci_ids@ that the build fills in.
            text = re.sub(r"@\w+@", "0", file.read())
        return yaml.load(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)) or {}
    except OSError as error:
        raise Refused(path, 0, error.strerror) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        raise Refused(path, mark.line + 1 if mark else 0,
                      f"this is no YAML: {getattr(error, 'problem', error)}") from None


def numbers(text):
    """The letters before a range and its numbers: C7..C4 are C and 7, 6, 5, 4."""
    match = VALUES.match(text)
    if not match:
        raise ValueError(f"'{text}' is no number or range")
    first, last = int(match[2]), int(match[3] or match[2])
    step = int(match[4] or 1)
    return match[1], list(range(first, last + 1, step) if last >= first
                          else range(first, last - 1, -step))


@functools.cache
def value_of(expression, name, index):
    """The value of an expression of the index."""
    def known(found):
        if found != name:
            raise ValueError(f"'{found}' is unknown in '{expression}'")
        return [index]
    return infix.evaluate(infix.parse(expression), known, 1)[0]


def fill_in(text, name, index, counters=()):
    """A text with counters and values of the index put in."""
    def put(match):
        place = match[1]
        return counters[int(place)] if place.isdigit() and counters else \
            str(value_of(place, name, index))
    return PLACE.sub(put, text)


class Definition:
    """A shared metric, maybe over an index and with counters that its uses give."""

    def __init__(self, key, members):
        self.key = key
        self.members = {"name": key, **{k: v for k, v in members.items() if k != "index"}}
        self.index = members.get("index")
        places = [place for text in TEXTS for place in PLACE.findall(self.members.get(text, ""))]
        self.counters = max((int(p) + 1 for p in places if p.isdigit()), default=0)
        pieces = PLACE.split(self.members["name"])
        self.places = pieces[1::2]
        self.name = re.compile("([0-9]+)".join(re.escape(piece) for piece in pieces[::2]))
        self.by_numbers = {}  # indexes by the numbers that they put into the name

    def indexes(self, name):
        """The values of the index that give this name."""
        match = self.name.fullmatch(name)
        if not match or not self.index:
            return [None] if match else []
        for index in [] if self.by_numbers else range(MAX_INDEX):
            numbers_of = tuple(str(value_of(place, self.index, index)) for place in self.places)
            self.by_numbers.setdefault(numbers_of, []).append(index)
        return self.by_numbers.get(match.groups(), [])

    def text(self, key, index, counters=()):
        """A member of the metric of one index; None if there is none."""
        text = self.members.get(key)
        return text and (fill_in(text, self.index, index, counters)
                         if self.index or self.counters else text)

    def instance(self, index, counters):
        """The members of the metric of one index, with counters such as B[3]."""
        return {**self.members, **{key: self.text(key, index, counters)
                                   for key in TEXTS if key in self.members}}


def register_writes(text, blocks):
    """The (address, value) pairs of a register text."""
    out = []
    address = step = 0
    for word in text.split():
        match = WRITE.match(word)
        if word.startswith("<"):
            out += blocks[word[1:-1]]
        elif match:
            address, step = int(match[1], 16), 4 if match[2] else 0
            out.append((address, int(match[3], 16)))
        else:
            address += step
            out.append((address, int(word, 16)))
    return out


class Catalog:
    """Files that refer to each other. sets: dictionaries with their file; metrics written out."""

    def __init__(self, paths):
        self.shared = {}  # Definition or list of uses, by key
        self.programs = {}
        self.sets = []
        for path in paths:
            self.read(path, load(path))

    def read(self, path, document):
        kinds = document.get("kinds") or {}

        def whole(members):
            return {**kinds.get(members.get("kind"), {}),
                    **{key: value for key, value in members.items() if key != "kind"}}

        for key, found in (document.get("metrics") or {}).items():
            if key in self.shared:
                raise Refused(path, 0, f"the metric {key} is also in another file")
            self.shared[key] = found if isinstance(found, list) else Definition(key, whole(found))
        blocks = {}
        for name, text in (document.get("blocks") or {}).items():
            blocks[name] = register_writes(text, blocks)
        for uuid, parts in (document.get("programs") or {}).items():
            if isinstance(parts, str):
                parts = [{"registers": parts}]
            self.programs[uuid] = [(part.get("when"), register_writes(part["registers"], blocks))
                                   for part in parts]
        for found in document.get("sets") or []:
            found = {**whole(found), "path": path}
            found["metrics"] = [use if isinstance(use, str) else whole(use)
                                for use in found["metrics"]]
            self.sets += self.instances(found)

    def instances(self, found):
        """The sets that a set over an index stands for."""
        if "for" not in found:
            return [found]
        (name, values), = found.pop("for").items()
        values = [int(v) for v in values] if isinstance(values, list) else numbers(values)[1]

        def put(value, index):
            if isinstance(value, list):
                return [put(item, index) for item in value]
            return fill_in(value, name, index)

        return [{**{key: put(value, index) for key, value in found.items()
                    if key not in ("path", "uuid")}, "path": found["path"], "uuid": uuid}
                for index, uuid in zip(values, found["uuid"])]

    def uses(self, text):
        """The single uses that a use stands for: (definition, index, counters)."""
        key, *words = text.split()
        if isinstance(self.shared[key], list):
            return [use for item in self.shared[key] for use in self.uses(item)]
        indexes, counters = [], []
        for bank, found in map(numbers, words):
            if bank:
                counters += [f"{bank}[{number}]" for number in found]
            else:
                indexes += found
        each = self.shared[key].counters
        return [(self.shared[key], index, tuple(counters[place * each:(place + 1) * each]))
                for place, index in enumerate(indexes or [None])]

    def metrics(self, found):
        """The metrics of a set as dictionaries."""
        return [metric for item in found["metrics"] for metric in (
            [item] if isinstance(item, dict) else
            [definition.instance(index, counters)
             for definition, index, counters in self.uses(item)])]
