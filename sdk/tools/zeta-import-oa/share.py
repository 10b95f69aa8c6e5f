"""Finding metrics that are defined alike in several sets, and naming their definitions."""

from collections import Counter


def meaning(name, members):
    """What two definitions must agree in for one to stand for the other: all but words and places."""
    members = dict(members)
    return (name,) + tuple(members.get(key) for key in ("value_type", "when", "value", "max"))


class Shared:
    """Definitions by key. A metric with several definitions has the keys X, X-2, X-3, ...

    known: keys of definitions in other files, by their meaning.
    """

    def __init__(self, known=None):
        self.known = dict(known or {})
        self.keys = {}  # (name, members): key
        self.used = set(self.known.values())
        self.new = []   # (key, metric) that this file declares

    def key_of(self, metric):
        """The key of a metric's definition; None if it is not shared."""
        return self.known.get(meaning(metric.name, metric.members)) or \
            self.keys.get((metric.name, metric.members))

    def declare(self, metric):
        key = metric.name
        number = 1
        while key in self.used:
            number += 1
            key = f"{metric.name}-{number}"
        self.used.add(key)
        self.keys[(metric.name, metric.members)] = key
        self.new.append((key, metric))


def find(groups, least, known=None):
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
