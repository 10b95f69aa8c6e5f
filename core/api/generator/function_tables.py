"""Writes the tables of all functions of an API: done, or unsupported and why."""

from .headers import dotted

_HEAD = """# The {title} in Zeta

Every function of the {title}, `{namespace}*`, at version {version}: {done} of {count} work on the virtual
GPU{rest}. Made from `core/api/model`, `core/api/implemented.txt` and `core/api/unsupported.yaml`; after a
change of those, copy `share/doc/zeta/{file}` of a build over `sdk/doc/{file}` (the test
`style.function_tables` compares them).
"""
_OTHERS = ", the others answer `ZE_RESULT_ERROR_UNSUPPORTED_FEATURE` with the reason given here"
# What tests/results/check_results.py looks for.
_TOOLS = """
The test `api.results` records the other tests and fails unless each function marked as done succeeds on the
virtual GPU, and answers `ZE_RESULT_ERROR_UNSUPPORTED_FEATURE` in the cases given here and in no other.
"""


def _status(function, implemented, reasons, limits):
    if function.name not in implemented:
        return "unsupported: " + reasons.get(function.name, "not implemented yet")
    if function.name in limits:
        return "done; unsupported where " + limits[function.name]
    return "done"


def _page(model, namespace, title, file, implemented, reasons, limits):
    """Text of the page of an API, one table for each area of the model."""
    functions = model.functions_of(namespace)
    done = sum(function.name in implemented for function in functions)
    out = [_HEAD.format(title=title, namespace=namespace, file=file, done=done,
                        count=len(functions), rest=_OTHERS if done < len(functions) else "",
                        version=dotted(max(f.since for f in model.functions.values())))]
    if namespace == "zet":
        out.append(_TOOLS)
    for area, brief in sorted(model.areas.items()):
        mine = [function for function in functions if function.area == area]
        if not mine:
            continue
        out.append(f"\n## {brief}\n\n| function | since | state |\n|---|---|---|\n")
        out += [f"| `{f.name}` | {dotted(f.since)} | {_status(f, implemented, reasons, limits)} |\n"
                for f in mine]
    return "".join(out)


def pages(model, implemented, reasons, limits):
    """File name -> text: the pages of the core API and of the Tools API."""
    return {file: _page(model, namespace, title, file, implemented, reasons, limits)
            for namespace, title, file in (("ze", "core API", "core-api.md"),
                                           ("zet", "Tools API", "tools-api.md"))}
