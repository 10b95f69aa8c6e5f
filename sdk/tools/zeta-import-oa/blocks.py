"""What register programs have in common, as named blocks: a grammar of their writes."""

from collections import Counter

# A sequence becomes a block from so many occurrences on, and if that saves so many characters.
LEAST_USES = 2
LEAST_GAIN = 70


def follow(items):
    """Whether these are three writes to registers behind each other."""
    return len(items) == 3 and all(isinstance(item, tuple) for item in items) and \
        items[1][0] == items[0][0] + 4 and items[2][0] == items[0][0] + 8


def text(items, names):
    """Writes and blocks as text. items: (address, value), or the number of a block."""
    words = []
    address = step = None
    for place, item in enumerate(items):
        if not isinstance(item, tuple):
            words.append(f"<{names[item]}>")
            address = None
            continue
        if address is not None and item[0] == address + step:
            words.append(f"{item[1]:x}")
        else:
            step = 4 if follow(items[place:place + 3]) else 0
            words.append(f"{item[0]:x}{'+=' if step else '='}{item[1]:x}")
        address = item[0]
    return " ".join(words)


class Grammar:
    """Programs, and blocks that occur in them and in each other, both lists of writes and blocks."""

    def __init__(self, programs):
        self.programs = [list(writes) for writes in programs]
        self.blocks = {}  # number: items
        while self.replace(self.frequent()):
            pass
        while self.inline(self.worthless()):
            pass

    def frequent(self):
        """Neighbours that occur most often, and share no item with each other."""
        count = Counter()
        for items in self.programs:
            last = None
            for pair in zip(items, items[1:]):
                # Of x x x, only every other pair can be replaced.
                last = None if pair == last else pair
                if last:
                    count[pair] += 1
        best = count.most_common(400)
        least = max(LEAST_USES, best[0][1] * 0.7) if best else 0
        found, used = {}, set()
        for pair, uses in best:
            if uses >= least and pair[0] not in used and pair[1] not in used:
                used.update(pair)
                found[pair] = len(self.blocks) + len(found)
        return found

    def replace(self, found):
        """Makes blocks of pairs. False if there are none."""
        self.blocks.update({number: list(pair) for pair, number in found.items()})
        for items in self.programs if found else []:
            place = 0
            out = []
            while place < len(items):
                number = found.get(tuple(items[place:place + 2]))
                out.append(items[place] if number is None else number)
                place += 1 if number is None else 2
            items[:] = out
        return bool(found)

    def worthless(self):
        """Blocks that are used once, else such whose text would hardly be longer where it is used."""
        uses = Counter(item for items in [*self.programs, *self.blocks.values()]
                       for item in items if not isinstance(item, tuple))
        once = {number for number in self.blocks if uses[number] == 1}
        if once:
            return once
        names = {number: f"b{number}" for number in self.blocks}
        found = set()
        for number, items in self.blocks.items():
            gain = (uses[number] - 1) * len(text(items, names)) - uses[number] * 6
            # What is inside of one that goes may be worth more then.
            if gain < LEAST_GAIN and not found.intersection(items):
                found.add(number)
        return found

    def inline(self, gone):
        """Writes blocks out where they are used. False if there are none."""
        def flat(items):
            for item in items:
                if isinstance(item, tuple) or item not in gone:
                    yield item
                else:
                    yield from flat(self.blocks[item])
        if gone:
            self.programs = [list(flat(items)) for items in self.programs]
            self.blocks = {number: list(flat(items)) for number, items in self.blocks.items()
                           if number not in gone}
        return bool(gone)
