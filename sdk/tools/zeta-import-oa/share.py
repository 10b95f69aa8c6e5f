"""Finding metrics that are defined alike in several sets, and naming their definitions."""

from collections import Counter

import fold
import match
from catalog import Catalog


class Known:
    """Definitions in other files."""

    def __init__(self, paths):
        self.shared = Catalog(paths).shared
        self.matcher = match.Matcher(self.shared)

    def note_uses(self, metrics):
        """Notes in the metrics of a set which definition means the same, as their use."""
        counters = match.counters_of(metrics)
        for metric in metrics if self.shared else []:
            found = self.matcher.find(counters[metric.name], [True] * match.CASES,
                                      match.knowing(counters), counters, strict=True)
            metric.use = found and fold.uses([found], [])[0]


class Shared:
    """Definitions by key. A metric with several definitions has the keys X, X-2, X-3, ..."""

    def __init__(self, known):
        self.keys = {}  # (name, members): key
        self.used = set(known.shared)
        self.new = []   # (key, metric) that this file declares

    def key_of(self, metric):
        """How a set uses a metric; None if its definition is not shared."""
        return metric.use or self.keys.get((metric.name, metric.members))

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
