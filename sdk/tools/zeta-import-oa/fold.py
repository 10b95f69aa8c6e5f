"""What stands in a row, written once: uses of metrics with ranges and lists, and sets over an index."""

import re
from itertools import groupby


# Not those with zeros before them.
NUMBER = re.compile(r"(?<![0-9])(?:0|[1-9][0-9]*)(?![0-9])")
# Divisors of an index, in the order of preference.
DIVISORS = (2, 4, 8, 16, 32, 3, 5, 6, 7, 10, 12)


def ranges(found, bank=""):
    """Numbers as words: 0 1 2 3 8 are 0..3 and 8."""
    out = []
    place = 0
    while place < len(found):
        end = place + 1
        step = found[end] - found[place] if end < len(found) else 0
        while abs(step) == 1 and end < len(found) and found[end] - found[end - 1] == step:
            end += 1
        first, last = f"{bank}{found[place]}", f"{bank}{found[end - 1]}"
        out.append(first if end == place + 1 else f"{first}..{last}")
        place = end
    return out


def counter_words(counters):
    """B[0] B[1] C[7] as B0..B1 and C7."""
    pairs = [re.fullmatch(r"(\w+)\[(\d+)\]", counter).groups() for counter in counters]
    return [word for bank, group in groupby(pairs, lambda pair: pair[0])
            for word in ranges([int(number) for _, number in group], bank)]


def uses(single, lists):
    """Texts of uses, with names of lists where they mean the same, the longest first.

    lists: (key, its single uses), the longest first. single: (definition, index, counters)."""
    out = []
    place = 0
    while place < len(single):
        key, count = next(((key, len(items)) for key, items in lists
                           if single[place:place + len(items)] == items), (None, 0))
        if key:
            out.append(key)
            place += count
            continue
        definition = single[place][0]
        end = place + 1
        while definition.index and end < len(single) and single[end][0] is definition:
            end += 1
        indexes = [index for _, index, _ in single[place:end] if index is not None]
        counters = [counter for use in single[place:end] for counter in use[2]]
        out.append(" ".join([definition.key, *ranges(indexes), *counter_words(counters)]))
        place = end
    return out


def term(values, column, name):
    """A column of numbers as an expression of the index; None if there is none that is plain."""
    def shifted(text, found):
        shift = column[0] - found[0]
        if any(b - a != shift for a, b in zip(found, column)):
            return None
        return f"{{{text}}}" if shift == 0 else f"{{{text} {'+' if shift > 0 else '-'} {abs(shift)}}}"

    if len(set(column)) == 1:
        return str(column[0])
    for text, found in [(name, values)] + \
            [(f"{name} / {d}", [v // d for v in values]) for d in DIVISORS] + \
            [(f"{name} % {d}", [v % d for v in values]) for d in DIVISORS] + \
            [(f"{name} * {d}", [v * d for v in values]) for d in DIVISORS]:
        if shifted(text, found):
            return shifted(text, found)
    return None


def values_text(values):
    """Values of an index as in `for`; None if they do not follow each other evenly."""
    step = values[1] - values[0]
    if step <= 0 or any(b - a != step for a, b in zip(values, values[1:])):
        return None
    return f"{values[0]}..{values[-1]}" + (f" by {step}" if step > 1 else "")


class Row:
    """Texts of a set that may differ in numbers alone from those of its neighbours."""

    def __init__(self, texts, index):
        self.texts = texts
        self.skeleton = [NUMBER.sub("#", text) for text in texts]
        self.numbers = [int(number) for text in texts for number in NUMBER.findall(text)]
        self.index = index  # (name, value) of the first metric over an index


def folded(rows):
    """One set of texts for all rows, and what their index is: (texts, {name: values}), or None."""
    name = rows[0].index[0]
    values = [row.index[1] for row in rows]
    text = values_text(values)
    terms = text and [term(values, column, name) for column in zip(*(r.numbers for r in rows))]
    if not terms or None in terms:
        return None
    rest = iter(terms)
    return [NUMBER.sub(lambda _: next(rest), text) for text in rows[0].texts], f"{{{name}: {text}}}"


def over_index(rows):
    """Rows gathered: (rows, texts, for) of sets over an index, (row, its texts, None) of others."""
    place = 0
    while place < len(rows):
        end = place + 1
        while end < len(rows) and rows[place].index and rows[end].index and \
                rows[end].skeleton == rows[place].skeleton and \
                rows[end].index[0] == rows[place].index[0]:
            end += 1
        found = None
        while end > place + 1 and not found:
            found = folded(rows[place:end])
            end -= not found
        yield (rows[place:end], *(found or (rows[place].texts, None)))
        place = end
