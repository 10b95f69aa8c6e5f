"""Expressions of our set files: trees of equations as text, texts as trees, and their values."""

import functools
import math
import re

from rpn import F, MASK, U

# Operators of our language, as in C; a higher number binds tighter.
PRECEDENCE = {
    "||": 0, "&&": 1, "|": 2, "^": 3, "&": 4, "==": 5, "!=": 5, "<": 6, "<=": 6, ">": 6, ">=": 6,
    "<<": 7, ">>": 7, "+": 8, "-": 8, "*": 9, "/": 9, "%": 9,
}
# Of these the order does not matter in integers, so a chain needs no parentheses.
ASSOCIATIVE = ("+", "*", "&", "|", "^", "&&")
# Combinations of these with others are hard to read without parentheses.
ARITHMETIC = ("+", "-", "*", "/")


def number(value, kind):
    if kind == U:
        return str(value)
    text = repr(float(value))
    return text if "." in text or "e" in text else text + ".0"


def needs_parentheses(outer, inner, on_the_right):
    """Whether the operand inner of outer is written in parentheses."""
    if inner[0] != "binary":
        return False
    operator, below = outer[1], inner[1]
    if operator == below and operator in ASSOCIATIVE and outer[-1] == U and inner[-1] == U:
        return False
    if below not in ARITHMETIC and below != operator:
        return True
    if PRECEDENCE[below] == PRECEDENCE[operator]:
        return on_the_right
    if operator not in ARITHMETIC:
        return operator in ("<<", ">>", "&", "|", "^")
    return PRECEDENCE[below] < PRECEDENCE[operator]


def expression(node):
    """The text of a tree."""
    kind = node[0]
    if kind == "number":
        return number(node[1], node[-1])
    if kind in ("field", "symbol", "metric"):
        return node[1]
    if kind == "convert":
        return f"{node[-1]}({expression(node[1])})"
    if kind == "unary":
        return f"{node[1]}({expression(node[2])})"
    if kind == "call":
        return f"{node[1]}({', '.join(expression(a) for a in node[2])})"
    left, right = (f"({expression(operand)})" if needs_parentheses(node, operand, right)
                   else expression(operand)
                   for operand, right in ((node[2], False), (node[3], True)))
    return f"{left} {node[1]} {right}"


TOKEN = re.compile(r"\s*([0-9]+\.[0-9]*(?:e[0-9]+)?|[0-9]+|\$?[A-Za-z_]\w*(?:\[[0-9]+\])?|<<|>>|[<>=!]=|"
                   r"&&|\|\||[-+*/%&|^~!<>(),])")
FUNCTIONS = ("min", "max", "muldiv")


class Parser:
    """The tree of an expression; its types are those of the values, so nodes say U throughout."""

    def __init__(self, text):
        self.text = text
        self.tokens = TOKEN.findall(text)
        self.place = 0
        if "".join(self.tokens) != text.replace(" ", ""):
            raise ValueError(f"'{text}' is no expression")

    def next(self, wanted=None):
        token = self.tokens[self.place] if self.place < len(self.tokens) else ""
        self.place += 1
        if wanted and token != wanted:
            raise ValueError(f"'{self.text}' lacks '{wanted}'")
        return token

    def arguments(self):
        found = [self.expression(0)]
        while self.next() == ",":
            found.append(self.expression(0))
        return tuple(found)

    def operand(self):
        token = self.next()
        if token in ("-", "~", "!"):
            return ("unary", token, self.operand(), U)
        if token == "(":
            inner = self.expression(0)
            self.next(")")
            return inner
        if token[:1].isdigit():
            return ("number", float(token), F) if "." in token else ("number", int(token), U)
        if self.tokens[self.place:self.place + 1] == ["("]:
            self.next()
            inner = self.arguments()
            if token in (U, F):
                return ("convert", inner[0], token)
            if token in FUNCTIONS:
                return ("call", token, inner, U)
        elif re.match(r"\$?[A-Za-z_]", token):
            return ("metric", token, U)
        raise ValueError(f"'{self.text}' has '{token}' where a number belongs")

    def expression(self, least):
        left = self.operand()
        while PRECEDENCE.get(self.tokens[self.place] if self.place < len(self.tokens) else "",
                             -1) >= least:
            operator = self.next()
            left = ("binary", operator, left, self.expression(PRECEDENCE[operator] + 1), U)
        return left


@functools.cache
def parse(text):
    """The tree of a text. ValueError if it is no expression."""
    parser = Parser(text)
    tree = parser.expression(0)
    if parser.place != len(parser.tokens):
        raise ValueError(f"'{text}' is no expression")
    return tree


OPERATIONS = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "/": lambda a, b: (a // b if isinstance(a, int) else a / b) if b else a * 0,
    "%": lambda a, b: a % b if b else 0,
    "<<": lambda a, b: a << b if b < 64 else 0, ">>": lambda a, b: a >> b if b < 64 else 0,
    "&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b,
    "==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b), "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b), ">": lambda a, b: int(a > b), ">=": lambda a, b: int(a >= b),
    "&&": lambda a, b: int(bool(a) and bool(b)), "||": lambda a, b: int(bool(a) or bool(b)),
    "min": min, "max": max, "muldiv": lambda a, b, c: a * b // c if c else 0,
}
UNARY = {"-": lambda a: -a, "~": lambda a: ~a, "!": lambda a: int(not a),
         U: lambda a: int(a) if math.isfinite(a) and a > 0 else 0, F: float}


def wrap(value):
    return value & MASK if isinstance(value, int) else value


def evaluate(node, known, count):
    """Values of a tree in several cases: known(text) has those of a field, symbol or metric."""
    kind = node[0]
    if kind == "number":
        return [float(node[1]) if node[-1] == F else node[1]] * count
    if kind in ("field", "symbol", "metric"):
        return known(node[1])
    if kind in ("unary", "convert"):
        operation = UNARY[node[1] if kind == "unary" else node[-1]]
        return [wrap(operation(a)) for a in evaluate(node[-2] if kind == "unary" else node[1],
                                                     known, count)]
    operands = node[2] if kind == "call" else node[2:4]
    columns = [evaluate(operand, known, count) for operand in operands]
    return [wrap(OPERATIONS[node[1]](*row)) for row in zip(*columns)]
