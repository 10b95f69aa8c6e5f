"""Writes the entries with their checks, the prototypes of impl_*, and stubs for missing ones.

An entry comes in three layers:

    zeFoo        exported, for programs that link to the library; only calls the next one
    entry_zeFoo  hidden, what dispatch tables and zeDriverGetExtensionFunctionAddress hand out;
                 goes through traced_zeFoo (trace.py) if somebody listens to its calls
    check_zeFoo  static: validation, then impl_zeFoo

Tables never hold the address of an exported function: a loader exports the same names earlier in
the search order, and the table would lead back into it.

Order of the checks: every handle (an uninitialised library answers here, because no handle is
live), handles in arrays, required pointers, enums and flags, then the relations of the model. Handles
that the model marks are pinned last, and stay so until impl_zeFoo returns.
"""

import re

from . import trace
from .headers import prototype

_BANNER = "/* Generated from core/api/model. */\n"

_INCLUDES = """
#include "core/api/check.h"
#include "core/object/object.h"
#include "core/trace/sink.h"
#include "core/trace/trace.h"
#include "core/util/cleanup.h"
#include "zeta_impl.h"
"""

#: Functions that initialise the library; a recorder that the environment asks for sees them too.
_INITIALISING = {"zeInit", "zeInitDrivers", "zeDriverGet", "zesInit", "zesDriverGet"}
_PREPARE = "    zeta_sink_prepare();\n"


def arguments(function):
    return ", ".join(p.name for p in function.params)


def is_handle_array(model, param):
    """An array of handles that the function reads (arrays to fill are counted by *pCount)."""
    return (param.pointer and model.handle_kind(param.target) is not None
            and param.count is not None and not param.count.startswith("*"))


def is_desc(model, param):
    """A pointer to one descriptor whose members are checked too."""
    return (param.type.count("*") == 1 and "desc_t" in param.type
            and param.target in model.structs)


def _handle_checks(model, function):
    for param in function.params:
        kind = model.handle_kind(param.type)
        if kind is None:
            continue
        guard = f"{param.name} && " if param.may_be_null else ""
        yield (f"    if ({guard}!zeta_object_is({param.name}, ZETA_KIND_{kind}))\n"
               f"        return zeta_object_explain({param.name}, ZETA_KIND_{kind}, "
               f"\"{function.name}\", \"{param.name}\");\n")


def _ready_check(model, function):
    """Without a handle that must be given, nothing else notices a library that is not ready."""
    required = [p for p in function.params if model.handle_kind(p.type) and not p.may_be_null]
    if required or function.before_init:
        return
    yield f"    if (!zeta_api_ready())\n        return zeta_check_ready(\"{function.name}\");\n"


def _array_checks(model, function):
    for param in function.params:
        if not is_handle_array(model, param):
            continue
        kind = model.handle_kind(param.target)
        hole = f"{param.name}[i] && " if param.holes else ""
        yield (f"    for (uint32_t i = 0; {param.name} && i < {param.count}; i++) {{\n"
               f"        if ({hole}!zeta_object_is({param.name}[i], ZETA_KIND_{kind}))\n"
               f"            return zeta_check_element({param.name}[i], ZETA_KIND_{kind}, "
               f"\"{function.name}\", \"{param.name}\", i);\n    }}\n")


def _null_check(function, expression):
    return (f"    if (!{expression})\n"
            f"        return zeta_check_null(\"{function.name}\", \"{expression}\");\n")


def _required(model, item):
    """True when null is an error for this parameter or member."""
    nullable = item.type.endswith("*") or item.type in model.callbacks
    mbz = getattr(item, "mbz", False)
    return nullable and not item.may_be_null and not mbz


def _desc_members(model, function):
    """Pairs (condition in front, expression, member) of checked descriptor members."""
    for param in function.params:
        if not is_desc(model, param) or param.dir == "out":
            continue
        guard = f"{param.name} && " if param.may_be_null else ""
        for member in model.structs[param.target].members:
            if not member.base and member.dir != "out" and not member.array:
                yield guard, f"{param.name}->{member.name}", member


def _pointer_checks(model, function):
    for param in function.params:
        if _required(model, param):
            yield _null_check(function, param.name)
    for guard, expression, member in _desc_members(model, function):
        if not member.type.endswith("*") or not _required(model, member):
            continue
        yield (f"    if ({guard}!{expression})\n"
               f"        return zeta_check_null(\"{function.name}\", \"{expression}\");\n")


def _enum_check(model, function, guard, expression, type_name):
    limit = model.enums[type_name].limit
    return (f"    if ({guard}(uint32_t){expression} > {limit:#x}u)\n"
            f"        return zeta_check_enum(\"{function.name}\", \"{expression}\", "
            f"(uint32_t){expression}, {limit:#x}u);\n")


def _enum_checks(model, function):
    for param in function.params:
        if param.type in model.enums and not param.may_be_null:
            yield _enum_check(model, function, "", param.name, param.type)
    for guard, expression, member in _desc_members(model, function):
        if member.type in model.enums and not member.may_be_null:
            yield _enum_check(model, function, guard, expression, member.type)


def _relation_checks(function):
    for check in function.checks:
        yield (f"    if ({check.fails_if})\n"
               f"        return zeta_check_relation(\"{function.name}\", ZE_RESULT_{check.result}, "
               f"\"{check.say}\");\n")


def _chain_checks(function):
    for param in function.params:
        if param.refused:
            yield (f"    if ({param.name} && zeta_check_chain(\"{function.name}\", {param.name}) "
                   f"!= ZE_RESULT_SUCCESS)\n"
                   f"        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;\n")


def _failing(function, statements):
    """Statements for a function that has no result to return; the sentence is left."""
    if not function.failure:
        return statements
    return re.sub(r"\n( +)return (.*?;)\n",
                  rf" {{\n\1(void)\2\n\1return {function.failure};\n    }}\n", statements)


def validation(model, function):
    """C statements that return an error or fall through."""
    stages = (_ready_check(model, function), _handle_checks(model, function),
              _array_checks(model, function), _pointer_checks(model, function),
              _enum_checks(model, function), _relation_checks(function),
              _chain_checks(function))
    return _failing(function, "".join(text for stage in stages for text in stage))


def _pins(model, function):
    """C statements that pin the marked handles until the entry returns."""
    for param in function.params:
        if param.pin:
            kind = model.handle_kind(param.type)
            yield (f"    if (!zeta_object_pin({param.name}, ZETA_KIND_{kind}))\n"
                   f"        return zeta_object_explain({param.name}, ZETA_KIND_{kind}, "
                   f"\"{function.name}\", \"{param.name}\");\n"
                   f"    ZETA_CLEANUP(zeta_object_unpinp) void *pinned_{param.name} = "
                   f"{param.name};\n")


def entries(model, namespace):
    """Text of the C file with the entries of one namespace."""
    out = [_BANNER, f"#include <level_zero/{namespace}_api.h>\n", _INCLUDES]
    for function in model.functions_of(namespace):
        out.append(f"\nstatic ZETA_ALWAYS_INLINE {prototype('check_' + function.name, function)}\n{{\n"
                   f"{validation(model, function)}{''.join(_pins(model, function))}"
                   f"    return impl_{function.name}({arguments(function)});\n}}\n"
                   f"{trace.traced(model, function)}"
                   f"\n{prototype('entry_' + function.name, function)}\n{{\n"
                   f"{_PREPARE if function.name in _INITIALISING else ''}"
                   f"    if (zeta_trace_wanted({trace.enumerator(function)}))\n"
                   f"        return traced_{function.name}({arguments(function)});\n"
                   f"    return check_{function.name}({arguments(function)});\n}}\n"
                   f"\nZE_APIEXPORT {prototype(function.name, function)}\n{{\n"
                   f"    return entry_{function.name}({arguments(function)});\n}}\n")
    return "".join(out)


def impl_header(model):
    """Text of zeta_impl.h."""
    out = [_BANNER,
           "/*\n * Implementations behind the entries, one for each API function, written by hand\n"
           " * in the folders of core (generated if core/api/implemented.txt does not name it),\n"
           " * and the entries as dispatch tables use them. Arguments were checked as the model\n"
           " * says: handles are live and of the right kind, required pointers are not null,\n"
           " * enums are in range, and handles that the model marks are pinned. Never call an exported name from inside the library.\n */\n"
           "#ifndef ZETA_IMPL_H\n#define ZETA_IMPL_H\n\n"
           "#include <level_zero/zer_api.h>\n#include <level_zero/zes_api.h>\n"
           "#include <level_zero/zet_api.h>\n\n"]
    for function in model.functions.values():
        out.append(f"{prototype('impl_' + function.name, function)};\n")
    out.append("\n")
    for function in model.functions.values():
        out.append(f"{prototype('entry_' + function.name, function)};\n")
    out.append("\n#endif\n")
    return "".join(out)


def _unsupported(function, reasons):
    why = reasons.get(function.name, "it is not implemented yet")
    call = f"zeta_check_unsupported(\"{function.name}\", \"{why}\");\n"
    if not function.failure:
        return f"    return {call}"
    return f"    (void){call}    return {function.failure};\n"


def stubs(model, implemented, reasons):
    """Text of the C file with an impl_* for every function that has none of its own.

    reasons: function name -> why it is not offered.
    """
    out = [_BANNER, "#include \"zeta_impl.h\"\n\n#include \"core/api/check.h\"\n"]
    for function in model.functions.values():
        if function.name in implemented:
            continue
        unused = "".join(f"    (void){p.name};\n" for p in function.params)
        out.append(f"\n{prototype('impl_' + function.name, function)}\n{{\n{unused}"
                   f"{_unsupported(function, reasons)}}}\n")
    return "".join(out)

