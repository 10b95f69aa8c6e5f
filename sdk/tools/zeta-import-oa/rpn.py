"""Equations: from reverse Polish notation to typed trees.

A node is a tuple; its last member is its type, U (unsigned 64 bits, modulo 2^64) or F (double):
    ("number", n, type)                  a constant
    ("field", text, U)                   a counter or header field of the report
    ("symbol", text, U)                  $Name
    ("metric", name, type)               another metric of the set
    ("convert", node, type)              u64(x), f64(x)
    ("unary", operator, a, type)
    ("binary", operator, a, b, type)
    ("call", function, arguments, type)  min, max, muldiv
Everything that an equation does is kept: constants are folded only where the result is the same
to the last bit.
"""

import re

U = "u64"
F = "f64"
MASK = (1 << 64) - 1

INTEGER = re.compile(r"0[xX][0-9a-fA-F]+\Z|[0-9]+\Z")
DECIMAL = re.compile(r"[0-9]+\.[0-9]*\Z")
SYMBOL = re.compile(r"\$[A-Za-z_][A-Za-z0-9_]*\Z")
RAW_POSITION = re.compile(r"(dw|qw|rd40|fl|bm|uw|by)@")
BANKS = ("A", "B", "C", "PEC", "PERFCNT", "GPU_TIME", "GPU_CLOCK")

# token: (operator of our language, type of operands, type of the result)
BINARY = {
    "UADD": ("+", U, U), "USUB": ("-", U, U), "UMUL": ("*", U, U), "UDIV": ("/", U, U),
    "FADD": ("+", F, F), "FSUB": ("-", F, F), "FMUL": ("*", F, F), "FDIV": ("/", F, F),
    "AND": ("&", U, U), "OR": ("|", U, U), "XOR": ("^", U, U),
    "<<": ("<<", U, U), ">>": (">>", U, U),
    "UGT": (">", U, U), "UGTE": (">=", U, U), "ULT": ("<", U, U), "ULTE": ("<=", U, U),
    "FGT": (">", F, U), "FGTE": (">=", F, U), "FLT": ("<", F, U), "FLTE": ("<=", F, U),
}
CALLS = {"UMIN": ("min", U), "UMAX": ("max", U), "FMIN": ("min", F), "FMAX": ("max", F)}
# Of an expression in a set file (core/formula/README.md).
MAX_NODES = 1024
MAX_DEPTH = 256
# Of metrics that refer to metrics with other conditions, which are written out.
MAX_CHAIN = 64
OPERATORS = set(BINARY) | set(CALLS) | {"XNOR", "&&", "=="}


class Wrong(Exception):
    """An equation that cannot be imported; the text says why."""


class NotMeasured(Exception):
    """An equation reads what no report holds."""


def type_of(node):
    return node[-1]


def fold(operator, a, b):
    """The result of an operation of two integers."""
    if operator in ("<<", ">>") and b > 63:
        return 0
    if operator == "/":
        return a // b if b else 0
    return {
        "+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "&": lambda: a & b,
        "|": lambda: a | b, "^": lambda: a ^ b, "<<": lambda: a << b, ">>": lambda: a >> b,
        ">": lambda: int(a > b), ">=": lambda: int(a >= b), "<": lambda: int(a < b),
        "<=": lambda: int(a <= b), "==": lambda: int(a == b), "&&": lambda: int(a != 0 and b != 0),
    }[operator]() & MASK


def is_integer(node):
    return node[0] == "number" and node[-1] == U


def converted(node, wanted):
    """The node as a number of that type."""
    if type_of(node) == wanted:
        return node
    if is_integer(node) and node[1] < 1 << 53:
        return ("number", node[1], F)
    return ("convert", node, wanted)


def binary(operator, a, b, operands, result):
    a = converted(a, operands)
    b = converted(b, operands)
    if is_integer(a) and is_integer(b):
        return ("number", fold(operator, a[1], b[1]), U)
    return ("binary", operator, a, b, result)


def truth(node):
    """A number as an operand of &&."""
    if type_of(node) == U:
        return node
    return ("binary", "!=", node, ("number", 0, F), U)


def operate(token, a, b):
    if token in BINARY:
        operator, operands, result = BINARY[token]
        return binary(operator, a, b, operands, result)
    if token in CALLS:
        function, kind = CALLS[token]
        return ("call", function, (converted(a, kind), converted(b, kind)), kind)
    if token == "XNOR":
        return ("unary", "~", binary("^", a, b, U, U), U)
    if token == "&&":
        a, b = truth(a), truth(b)
        # A constant that is not zero says nothing, if the other operand is a truth already.
        if is_integer(a) and a[1] and not is_integer(b) and is_condition(b):
            return b
        return binary("&&", a, b, U, U)
    kind = F if F in (type_of(a), type_of(b)) else U
    return binary("==", a, b, kind, U)


def is_condition(node):
    return node[0] == "binary" and node[1] in (">", ">=", "<", "<=", "==", "!=", "&&")


def children(node):
    if node[0] == "convert":
        return (node[1],)
    if node[0] == "unary":
        return (node[2],)
    if node[0] == "binary":
        return node[2:4]
    return node[2] if node[0] == "call" else ()


def depth(node):
    """Levels of a tree, which may have more than functions can call themselves."""
    deepest, left = 0, [(node, 1)]
    while left:
        node, level = left.pop()
        deepest = max(deepest, level)
        left += [(child, level + 1) for child in children(node)]
    return deepest


class Known:
    """A metric that later ones may refer to: type, equation and availability (None: always)."""

    def __init__(self, kind, equation, availability):
        self.kind = kind
        self.equation = equation
        self.availability = availability


class Equations:
    """Equations of one set: what their names may mean.

    report_format  a formats.Format, None where equations may not read counters
    metrics        the metrics so far: Known by name
    missing        names of counters that were left out
    availability   of the metric whose equations are read
    """

    def __init__(self, report_format):
        self.format = report_format
        self.metrics = {}
        self.missing = set()
        self.symbols = set()
        self.availability = None
        self.tokens = 0
        self.chain = 0

    def read(self, bank, index):
        if index[0] != "number" or index[-1] != U:
            raise Wrong(f"the index of READ of bank {bank} is no plain number")
        index = index[1]
        if self.format is None:
            raise Wrong("a condition cannot READ counters")
        if bank == "PERFCNT":
            if index > 1:
                raise Wrong(f"PERFCNT {index} does not exist; there are 2")
            raise NotMeasured("reads PERFCNT, which no report holds")
        if bank in ("GPU_TIME", "GPU_CLOCK"):
            if index:
                raise Wrong(f"{bank} {index} does not exist; there is only {bank} 0")
            if bank == "GPU_CLOCK" and not self.format.clocks:
                raise Wrong(f"reports of layout {self.format.layout} have no GPU_CLOCK")
            return ("field", "ticks" if bank == "GPU_TIME" else "clocks", U)
        name = self.format.bank_of(bank)
        size = self.format.banks.get(name, 0)
        if index >= size:
            raise Wrong(f"{bank} {index} does not exist; layout {self.format.layout} has {size}")
        return ("field", f"{name}[{index}]", U)

    def symbol(self, token):
        name = token[1:]
        if name in self.missing:
            raise NotMeasured(f"needs {name}, which is left out")
        known = self.metrics.get(name)
        if known and known.availability in (None, self.availability):
            return ("metric", name, known.kind)
        if known:
            # With a reference the one would be absent wherever the other is.
            self.chain += 1
            if self.chain > MAX_CHAIN:
                raise Wrong(f"more than {MAX_CHAIN} metrics with other conditions refer to each "
                            "other")
            node = converted(self.tree(known.equation), known.kind)
            self.chain -= 1
            return node
        self.symbols.add(name)
        return ("symbol", token, U)

    def operand(self, token):
        if INTEGER.match(token):
            value = int(token, 16 if token[:2].lower() == "0x" else 10) if len(token) < 64 else None
            if value is None or value > MASK:
                raise Wrong(f"{token[:40]} needs more than 64 bits")
            return ("number", value, U)
        if DECIMAL.match(token):
            value = float(token)
            if value == float("inf"):
                raise Wrong(f"{token[:40]} is beyond what a double can hold")
            return ("number", value, F)
        if token == "true":
            return ("number", 1, U)
        if SYMBOL.match(token):
            if token == "$Self":
                raise Wrong("$Self is of the MDAPI dialect, which is not read; write the counter")
            return self.symbol(token)
        if RAW_POSITION.match(token):
            raise Wrong(f"'{token}' is a raw position of the MDAPI dialect, which is not read; "
                        "write it as counter of a bank, for example A 5 READ")
        if "$" in token or token in ("GpuDuration", "EuAggrDuration", "DELTA", "NS_TIME"):
            raise Wrong(f"'{token}' is of the MDAPI dialect, which is not read")
        raise Wrong(f"unknown operator '{token}'")

    def equation(self, text, availability=None):
        """The tree of an equation of a metric that has this availability."""
        self.availability = availability
        self.tokens = 0
        self.chain = 0
        node = self.tree(text)
        if depth(node) > MAX_DEPTH:
            raise Wrong(f"its operations are nested deeper than {MAX_DEPTH} levels")
        return node

    def tree(self, text):
        """The tree of an equation, which may be one that another refers to."""
        stack = []
        self.tokens += len(text.split())
        if self.tokens > MAX_NODES:
            raise Wrong(f"with what it refers to it has more than {MAX_NODES} operands and operators")

        def pop(token):
            if not stack:
                raise Wrong(f"'{token}' finds no operand on the stack")
            return stack.pop()

        def pop_number(token):
            node = pop(token)
            if node[0] == "bank":
                raise Wrong(f"'{token}' finds bank {node[1]} where a number belongs")
            return node

        for token in text.split():
            if token in BANKS:
                stack.append(("bank", token))
            elif token == "READ":
                index = pop_number(token)
                bank = pop(token)
                if bank[0] != "bank":
                    raise Wrong("READ finds no bank on the stack")
                stack.append(self.read(bank[1], index))
            elif token in OPERATORS:
                b = pop_number(token)
                a = pop_number(token)
                stack.append(operate(token, a, b))
            else:
                stack.append(self.operand(token))
        if len(stack) != 1 or stack[0][0] == "bank":
            raise Wrong(f"{len(stack)} values are left on the stack, not one number")
        return stack[0]


def with_muldiv(node):
    """The tree with a * b / c of integers calculated in 128 bits."""
    if node[0] == "convert":
        return ("convert", with_muldiv(node[1]), node[-1])
    if node[0] == "unary":
        return ("unary", node[1], with_muldiv(node[2]), node[-1])
    if node[0] == "call":
        return ("call", node[1], tuple(with_muldiv(a) for a in node[2]), node[-1])
    if node[0] != "binary":
        return node
    operator, a, b = node[1], with_muldiv(node[2]), with_muldiv(node[3])
    if operator == "/" and node[-1] == U and a[0] == "binary" and a[1] == "*":
        return ("call", "muldiv", (a[2], a[3], b), U)
    return ("binary", operator, a, b, node[-1])
