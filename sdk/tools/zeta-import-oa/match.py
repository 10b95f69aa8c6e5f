"""Which definition means a counter: the one that gives its values, whatever the reports hold.

A counter and a definition are calculated for the same invented reports and devices, so how their
equations are written does not matter.
"""

import functools
import itertools
import math
import random
import re

import infix
from catalog import PLACE, Definition
from yaml_text import plain

# So many reports and devices are invented.
CASES = 16
# Numbers that have two names.
SAME = {"VectorEngineTotalCount": "EuCoresTotalCount", "VectorEngineThreadsCount": "EuThreadsCount",
        "EuDualSubslicesTotalCount": "EuSubslicesTotalCount",
        "XeCoreTotalCount": "EuSubslicesTotalCount", "SliceTotalCount": "EuSlicesTotalCount"}
# Of more counters only the order of the equation is tried, and the opposite.
MAX_ORDERED = 4
FIELD = re.compile(r"[A-Z]+\[[0-9]+\]|ticks|clocks")
WORD = re.compile(r"\b[A-Z]+\[[0-9]+\]|\b(?<!\$)[A-Za-z_]\w*")


def letters(name):
    return re.sub("[0-9]", "", PLACE.sub("", name))


@functools.cache
def invented(text):
    """Values of a field or symbol of that name in all cases."""
    chance = random.Random(text)
    if text.startswith("$Gt") or text.startswith("$Query"):
        return [chance.randrange(2) for _ in range(CASES)]
    if text.endswith("Mask"):
        return [chance.getrandbits(32) & chance.getrandbits(32) for _ in range(CASES)]
    if text.startswith("$"):
        return [chance.randrange(1, 200) for _ in range(CASES)]
    return [chance.getrandbits(32) for _ in range(CASES)]


class Counter:
    """What a counter of a source gives in all cases; None where the device lacks it.

    fields: those of the report that it reads, in the order of its equation.
    """

    def __init__(self, name, values, exists, maximum, fields, members=None):
        self.name = name
        self.values = values
        self.exists = exists
        self.maximum = maximum
        self.fields = fields
        self.members = members  # as a definition of our files, if the source has its equation


def symbol(name):
    """Values of a symbol of any device."""
    return invented(f"${SAME.get(name, name)}")


def knowing(counters, symbols=symbol):
    """The function that knows what fields, symbols and metrics of a set are in all cases."""
    def known(text):
        if text.startswith("$"):
            return symbols(text[1:])
        if FIELD.fullmatch(text):
            return invented(text)
        return [value or 0 for value in counters[text].values]
    return known


def fields_of(text, counters):
    """The counters of the report that a text reads, itself or by metrics, in its order."""
    found = []
    for word in WORD.findall(text):
        found += [word] if "[" in word else counters[word].fields if word in counters else []
    return list(dict.fromkeys(found))


def counters_of(metrics):
    """Counters by name of metrics that have equations (convert.Metric)."""
    out = {}
    known = knowing(out)
    for metric in metrics:
        members = {key: plain(value) for key, value in metric.members}
        exists = infix.evaluate(infix.parse(members.get("when", "1")), known, CASES)
        maximum = members.get("max", "100" if members.get("unit") == "percent" else None)
        out[metric.name] = Counter(
            metric.name, infix.evaluate(infix.parse(members["value"]), known, CASES),
            [bool(value) for value in exists],
            maximum and infix.evaluate(infix.parse(maximum), known, CASES),
            fields_of(members["value"], out), metric.members)
    return out


def gives(text, theirs, cases, known, form=lambda value: value):
    """Whether a text gives these values in these cases; no text, no values."""
    if text is None or theirs is None:
        return text is None and theirs is None
    try:
        ours = infix.evaluate(infix.parse(text), known, CASES)
    except KeyError:
        return False  # it needs a metric or symbol that there is not
    return all(form(ours[case]) == theirs[case] or
               math.isclose(ours[case], theirs[case], rel_tol=1e-6) for case in cases)


class Matcher:
    """Finds definitions of a catalog. The first ones go before later ones."""

    def __init__(self, shared):
        self.by_letters = {}  # of their names, digits and places left out
        for found in shared.values():
            if isinstance(found, Definition):
                self.add(found)

    def add(self, definition):
        self.by_letters.setdefault(letters(definition.members["name"]), []).append(definition)

    def named(self, name):
        """Definitions and indexes of them that make a metric of this name."""
        return [(each, index) for each in self.by_letters.get(letters(name), [])
                for index in each.indexes(name)]

    def find(self, counter, exists, known, counters, preferred=None, strict=False):
        """What means a counter where its set exists: (definition, index, counters), or None.

        counters: all of the set. A preferred use wins if it means the counter, else the first
        definition with the same maximum; strict: no other.
        """
        there = [case for case in range(CASES) if exists[case]]
        found = []
        for definition, index in self.named(counter.name):
            if counter.members and dict(counter.members)["value_type"] != \
                    definition.members.get("value_type"):
                continue
            if not gives(definition.text("when", index) or "1", counter.exists, there, known, bool):
                continue
            cases = [case for case in there if counter.exists[case]]
            own = fields_of(definition.members["value"], counters)
            free = [field for field in counter.fields if field not in own]
            likely = [preferred[2]] if preferred and preferred[0] is definition else []
            for chosen in itertools.chain(likely, orders(free, definition.counters)):
                if not gives(definition.text("value", index, chosen), counter.values, cases, known):
                    continue
                if likely:
                    return definition, index, chosen
                maximum = definition.text("max", index, chosen)
                if maximum is None and definition.members.get("unit") == "percent":
                    maximum = "100"
                same = gives(maximum, counter.maximum, cases, known)
                if same or not strict:
                    found.append((not same, len(found), (definition, index, chosen)))
                break
        return min(found)[2] if found else None


def orders(fields, count):
    """Orders in which a definition could take its counters out of these fields."""
    if count in (0, 1) or len(fields) == count <= MAX_ORDERED:
        return itertools.permutations(fields, count)
    return [tuple(fields), tuple(reversed(fields))] if len(fields) == count else []
