"""Writes the table of all functions of the core API: done, or unsupported and why."""

from .headers import dotted

_HEAD = """# The core API in Zeta

Every function of the core API, `ze*`, at version {version}: {done} of {count} work on the virtual
GPU, the others answer `ZE_RESULT_ERROR_UNSUPPORTED_FEATURE` with the reason given here. Made from
`core/api/model`, `core/api/implemented.txt` and `core/api/unsupported.yaml`; after a change of
those, copy `share/doc/zeta/core-api.md` of a build over `sdk/doc/core-api.md` (the test
`style.core_api` compares them).
"""


def _status(function, implemented, reasons):
    if function.name in implemented:
        return "done"
    return "unsupported: " + reasons.get(function.name, "not implemented yet")


def page(model, implemented, reasons):
    """Text of the page, one table for each area of the model."""
    functions = model.functions_of("ze")
    done = sum(function.name in implemented for function in functions)
    out = [_HEAD.format(version=dotted(max(f.since for f in model.functions.values())), done=done,
                        count=len(functions))]
    for area, brief in sorted(model.areas.items()):
        mine = [function for function in functions if function.area == area]
        if not mine:
            continue
        out.append(f"\n## {brief}\n\n| function | since | state |\n|---|---|---|\n")
        out += [f"| `{f.name}` | {dotted(f.since)} | {_status(f, implemented, reasons)} |\n"
                for f in mine]
    return "".join(out)
