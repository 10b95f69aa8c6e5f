"""Writes the reference pages: one markdown file for each area of the model, and an index."""

from .headers import dotted, prototype

_THREADS = {
    None: "Nothing is promised for calls with the same handles at the same time.",
    "any": "May be called from several threads at the same time.",
}

_MARKS = (("optional", "may be null"), ("release", "destroyed by the call"),
          ("mbz", "0 or null in programs for other drivers"))


def _sentence(text):
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".") if text else ""


def _cell(text):
    return (text or "").replace("|", "\\|")


def _threads(function):
    rule = function.threads
    text = _THREADS.get(rule)
    if text is None:
        text = f"Not from several threads at the same time with the same `{rule.split()[1]}`."
    return text + (" Lock-free." if function.implementation == "lock-free" else "")


def _param_note(param):
    words = [words for mark, words in _MARKS if getattr(param, mark)]
    if param.count:
        words.append(f"array of `{param.count}`")
    if param.lenient:
        words.append(param.lenient)
    if param.brief:
        words.append(param.brief)
    return _cell("; ".join(words))


def _table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n\n"


def _function(function, implemented):
    out = [f"### {function.name}\n\n{_sentence(function.brief)} "
           f"Since {dotted(function.since)}.\n\n",
           f"```c\n{prototype(function.name, function).replace('ZE_APICALL ', '')};\n```\n\n"]
    rows = [(f"`{p.name}`", p.dir, _param_note(p)) for p in function.params]
    out.append(_table(("parameter", "direction", "notes"), rows))
    for check in function.checks:
        out.append(f"* `ZE_RESULT_{check.result}`: {check.say}\n")
    listed = [r for r in function.results if r not in {c.result for c in function.checks}]
    out += [f"* may return `ZE_RESULT_{result}`\n" for result in listed]
    out.append(f"* {_threads(function)}\n")
    if function.name not in implemented:
        out.append("* Not implemented yet: returns `ZE_RESULT_ERROR_UNSUPPORTED_FEATURE`.\n")
    return "".join(out) + "\n"


def _enum(enum):
    rows = [(f"`{v.name}`", hex(v.value) if enum.flags or v.value > 0xffff else str(v.value),
             dotted(v.since), _cell(v.brief)) for v in enum.values]
    brief = enum.brief or "Versions of the extension"
    return f"### {enum.name}\n\n{_sentence(brief)}\n\n" + _table(
        ("name", "value", "since", "meaning"), rows)


def _names(names):
    return ", ".join(f"`{name}`" for name in names)


def _struct(model, struct):
    extensions = [s.name for s in model.structs.values() if struct.name in s.extends]
    rows = [(f"`{m.name}{m.dimensions}`", f"`{m.type}`", m.dir, _cell(m.brief))
            for m in struct.members]
    notes = f" Structure type `{struct.stype}`." if struct.stype else ""
    if struct.extends:
        notes += f" Can be chained to {_names(struct.extends)}."
    if extensions:
        notes += f" Its chain can hold {_names(extensions)}."
    return f"### {struct.name}\n\n{_sentence(struct.brief)}{notes}\n\n" + _table(
        ("member", "type", "direction", "meaning"), rows)


def _page(model, area, implemented):
    def mine(items):
        return [item for item in items.values() if item.area == area]

    out = [f"# {area}\n\n{_sentence(model.areas[area])}\n"]
    for title, items, write in (("Functions", mine(model.functions),
                                 lambda f: _function(f, implemented)),
                                ("Structs", mine(model.structs), lambda s: _struct(model, s)),
                                ("Enums and flags", mine(model.enums), _enum)):
        if items:
            out.append(f"\n## {title}\n\n" + "".join(write(item) for item in items))
    constants = [(f"`{m.name}`", f"`{m.text if m.text is not None else m.value}`", _cell(m.brief))
                 for m in mine(model.macros)]
    if constants:
        out.append("\n## Macros\n\n" + _table(("name", "value", "meaning"), constants))
    return "".join(out)


def pages(model, implemented):
    """File name -> text."""
    implemented = set(implemented)
    files = {f"{area}.md": _page(model, area, implemented) for area in model.areas}
    rows = [(f"[{area}]({area}.md)", _cell(brief)) for area, brief in sorted(model.areas.items())]
    variables = [(f"`{name}`", _cell(v.get("brief"))) for name, v in model.environment.items()]
    done = len(implemented)
    files["README.md"] = (
        "# Reference of the API\n\nMade from core/api/model. "
        f"{len(model.functions)} functions are described, {done} are implemented.\n\n"
        + _table(("part", "what"), rows) + "## Environment variables\n\n"
        + _table(("name", "meaning"), variables))
    return files
