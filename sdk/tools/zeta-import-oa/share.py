"""Finding metrics that are defined alike in several sets, and naming their definitions."""

import re
from collections import Counter

from yaml_text import plain

PLACE = re.compile(r"\{([^{}]*)\}")
COUNTER = re.compile(r"([A-Z]+)\[([0-9]+)\]")
MAX_INDEX = 256


def meaning(name, members):
    """What two definitions must agree in for one to stand for the other: all but words and places."""
    members = dict(members)
    return "\n".join([name] + [plain(members.get(key, "")) for key in
                              ("value_type", "when", "value", "max")])


class Template:
    """A definition with an index or counters: what its uses mean."""

    def __init__(self, key, index, text):
        self.key = key
        self.index = index
        self.places = []  # what the groups of the pattern stand for
        pattern = ""
        for number, piece in enumerate(PLACE.split(text)):
            if number % 2 == 0:
                pattern += re.escape(piece)
            else:
                pattern += r"([A-Z]+\[[0-9]+\])" if piece.isdigit() else "([0-9]+)"
                self.places.append(piece)
        self.pattern = re.compile(pattern)

    def use(self, text):
        """The use that means this text; None if there is none."""
        match = self.pattern.fullmatch(text)
        if not match:
            return None
        counters = {}
        numbers = []
        for place, found in zip(self.places, match.groups()):
            if not place.isdigit():
                numbers.append((place, int(found)))
            elif counters.setdefault(int(place), found) != found:
                return None
        words = [self.key]
        if self.index:
            index = next((value for value in range(MAX_INDEX) if all(
                self.value(place, value) == number for place, number in numbers)), None)
            if index is None:
                return None
            words.append(str(index))
        return " ".join(words + ["".join(COUNTER.fullmatch(counters[number]).groups())
                                 for number in sorted(counters)])

    def value(self, expression, index):
        """The value of an expression of the index: only numbers, operators and its name."""
        words = re.findall(r"[A-Za-z_]+|[0-9]+|<<|[-+*/%()]", expression)
        text = " ".join(str(index) if word == self.index else "//" if word == "/" else word
                        for word in words)
        if re.search(r"[A-Za-z_]", text):
            return None
        return eval(text, {"__builtins__": {}})


class Known:
    """Definitions in other files."""

    def __init__(self):
        self.keys = {}       # key of a definition by its meaning
        self.templates = []

    def add(self, key, definition):
        text = meaning(str(definition.get("name", key)), definition)
        if PLACE.search(text):
            self.templates.append(Template(key, definition.get("index"), text))
        else:
            self.keys[text] = key

    def use(self, metric):
        """How a set uses a metric of that meaning; None if there is none."""
        text = meaning(metric.name, metric.members)
        found = self.keys.get(text)
        return found or next(filter(None, (each.use(text) for each in self.templates)), None)


class Shared:
    """Definitions by key. A metric with several definitions has the keys X, X-2, X-3, ..."""

    def __init__(self, known):
        self.known = known
        self.keys = {}  # (name, members): key
        self.used = set(known.keys.values()) | {each.key for each in known.templates}
        self.new = []   # (key, metric) that this file declares

    def key_of(self, metric):
        """How a set uses a metric; None if its definition is not shared."""
        return self.known.use(metric) or self.keys.get((metric.name, metric.members))

    def declare(self, metric):
        key = metric.name
        number = 1
        while key in self.used:
            number += 1
            key = f"{metric.name}-{number}"
        self.used.add(key)
        self.keys[(metric.name, metric.members)] = key
        self.new.append((key, metric))


def find(groups, least, known):
    """The definitions that at least so many of the groups (lists of metrics) have in common.

    The one that most of them have gets the plain name.
    """
    shared = Shared(known)
    uses = Counter()
    first = {}
    for group in groups:
        for identity in {(m.name, m.members): m for m in group}.items():
            uses[identity[0]] += 1
            first.setdefault(*identity)
    place = {identity: number for number, identity in enumerate(first)}
    for identity in sorted(first, key=lambda i: (-uses[i], place[i])):
        if uses[identity] >= least and not shared.key_of(first[identity]):
            shared.declare(first[identity])
    shared.new.sort(key=lambda item: place[(item[1].name, item[1].members)])
    return shared
