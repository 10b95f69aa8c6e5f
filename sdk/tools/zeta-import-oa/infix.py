"""Trees of equations as expressions of our set files."""

from rpn import U

# Operators of our language, as in C; a higher number binds tighter.
PRECEDENCE = {
    "&&": 1, "|": 2, "^": 3, "&": 4, "==": 5, "!=": 5, "<": 6, "<=": 6, ">": 6, ">=": 6,
    "<<": 7, ">>": 7, "+": 8, "-": 8, "*": 9, "/": 9,
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
