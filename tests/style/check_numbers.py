#!/usr/bin/env python3
"""check_numbers.py REPOSITORY: numbers that are no integers become text, and text becomes such
numbers, through zeta/c_locale.h alone, so that the locale of a program changes no file of ours.

Refused: strtod() and its kin; printf() and scanf() with a conversion of such numbers, or with a
format that is not there to be read; printf() of a va_list, for others give the format. Not looked
at: the helper itself; what runs on the virtual GPU; tests and examples, which are programs that
leave the locale alone.
"""
import pathlib
import re
import sys

HELPER = "sdk/lib/c_locale.c"
RUNTIME = "plugins/vgpu/runtime/"
CALL = re.compile(r"\b(strto(?:d|f|ld)(?:_l)?|ato[f]|v?(?:f|d|s|sn|as)?printf|v?[fs]?scanf"
                  r"|json_object_new_double)\s*\(")
REAL = re.compile(r"%[-+ #0']*(?:\*|\d+)?(?:\.(?:\*|\d+)?)?[lL]?[aAeEfFgG]")
# A comment, a string or a character: what parentheses and names mean nothing in.
APART = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.S)
# Which argument is the format; those that take none are refused whatever they are given.
FORMAT = {"printf": 0, "fprintf": 1, "dprintf": 1, "sprintf": 1, "snprintf": 2, "asprintf": 1,
          "scanf": 0, "fscanf": 1, "sscanf": 1}


def blank(match):
    text = match.group()
    if text.startswith("/"):
        return re.sub(r"[^\n]", " ", text)
    return text[0] + "_" * (len(text) - 2) + text[-1]


def arguments_of(bare, start):
    """Where each argument begins and ends; start is behind the opening parenthesis."""
    depth, begin, parts = 0, start, []
    for at in range(start, len(bare)):
        if bare[at] in "([{":
            depth += 1
        elif bare[at] in ")]}":
            if depth == 0:
                return parts + [(begin, at)]
            depth -= 1
        elif bare[at] == "," and depth == 0:
            parts.append((begin, at))
            begin = at + 1
    return parts


def mistake_of(name, text, bare, start):
    if name not in FORMAT:
        return f"{name}()"
    parts = arguments_of(bare, start)
    begin, end = parts[FORMAT[name]] if FORMAT[name] < len(parts) else (start, start)
    words = list(re.finditer(r'"((?:[^"\\\n]|\\.)*)"', text[begin:end]))
    if not words:
        return f"{name}() with a format from elsewhere"
    # Between two strings stands a macro such as PRIu64, which is a conversion of an integer.
    whole = words[0].group(1)
    for before, word in zip(words, words[1:]):
        between = text[begin + before.end():begin + word.start()].strip()
        whole += ("u" if between else "") + word.group(1)
    if REAL.search(whole.replace("%%", "")):
        return f"{name}() of a number that is no integer"
    return None


def main(root):
    status = 0
    for path in sorted(file for folder in ("core", "plugins", "sdk")
                       for pattern in ("*.c", "*.cc", "*.h", "*.inc")
                       for file in (root / folder).rglob(pattern)):
        name = path.relative_to(root).as_posix()
        if name == HELPER or name.startswith(RUNTIME):
            continue
        text = path.read_text()
        bare = APART.sub(blank, text)
        for call in CALL.finditer(bare):
            mistake = mistake_of(call.group(1), text, bare, call.end())
            if mistake:
                line = text.count("\n", 0, call.start()) + 1
                print(f"{name}:{line}: {mistake}: use zeta/c_locale.h")
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
