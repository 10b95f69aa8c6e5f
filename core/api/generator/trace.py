"""Writes what tracing of API calls needs: a number for each function, the traced way of a call, and
the places of the callbacks in ze_callbacks_t.

    entry_zeFoo   one load; nobody listens: check_zeFoo
    traced_zeFoo  cold, out of line: tells the listeners, calls check_zeFoo, tells them again

The listeners get the addresses of the arguments and may change them, so the call uses what is there
after the prologues.
"""

from .headers import declare, params_struct

_BANNER = "/* Generated from core/api/model. */\n"


def enumerator(function):
    return f"ZETA_FUNCTION_{function.name}"


def functions_header(model):
    """Text of zeta_functions.h."""
    names = "".join(f"    ZETA_FUNCTION_{name},\n" for name in sorted(model.functions))
    return (f"{_BANNER}"
            "#ifndef ZETA_FUNCTIONS_H\n#define ZETA_FUNCTIONS_H\n\n"
            "/** Every function of the API, in the order of the bytes of their names. */\n"
            f"enum zeta_function {{\n{names}    ZETA_FUNCTION_COUNT\n}};\n\n#endif\n")


def _params_structs(model):
    """Function name -> parameter struct of the API."""
    return {function.name: params_struct(table, function)
            for table in model.callback_tables for function in table.functions}


def _addresses(model, function):
    """Declaration of the addresses of the arguments, and the expression that hands them over."""
    if not function.params:
        return "", "NULL"
    struct = _params_structs(model).get(function.name)
    addresses = ", ".join(f"&{p.name}" for p in function.params)
    if struct:
        return f"    {struct} addresses = {{{addresses}}};\n", "&addresses"
    return f"    void *addresses[] = {{{addresses}}};\n", "addresses"


def _prototype(function):
    """Like that of the entry, but no argument is const: listeners may change each."""
    params = ", ".join(declare(p.type if p.pointer else p.target, p.name) for p in function.params)
    return f"{function.returns} traced_{function.name}({params or 'void'})"


def traced(model, function):
    """Text of traced_<function>; check_<function> stands above it."""
    declaration, addresses = _addresses(model, function)
    check = f"check_{function.name}({', '.join(p.name for p in function.params)})"
    value = "result"
    if function.failure:
        value = f"result != {function.failure} ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNKNOWN"
    return (f"\nZETA_COLD static {_prototype(function)}\n{{\n"
            f"{declaration}    struct zeta_trace_call call;\n\n"
            f"    if (!zeta_trace_begin(&call, {enumerator(function)}, {addresses}))\n"
            f"        return {check};\n"
            f"    {function.returns} result = {check};\n"
            f"    zeta_trace_end(&call, {value});\n"
            "    return result;\n}\n")


def _members(model):
    """Function name -> member of ze_callbacks_t."""
    members = {}
    for table in model.callback_tables:
        prefix = "" if table.name == "Global" else table.name
        for function in table.functions:
            members[function.name] = f"{table.name}.pfn{function.name[2 + len(prefix):]}Cb"
    return members


def places(model):
    """Text of the C file that says where each function has its callback."""
    lines = [f"    [ZETA_FUNCTION_{name}] = PLACE({member}),\n"
             for name, member in _members(model).items()]
    return (f"{_BANNER}#include \"core/trace/describe.h\"\n\n#include <stddef.h>\n\n"
            "#define PLACE(member) (1 + offsetof(ze_callbacks_t, member) / sizeof(void (*)(void)))\n"
            "\nconst uint8_t zeta_trace_places[ZETA_FUNCTION_COUNT] = {\n"
            f"{''.join(lines)}}};\n")


def _value(model, param, index):
    """A value that no other argument of the call has. Structures are filled by tests/trace."""
    if model.handle_kind(param.type) or param.type in model.callbacks:
        return f"({param.type})(uintptr_t){0x1000 + 16 * index:#x}"
    if param.pointer:
        return f"(void *)(traced_scratch + 64 * {index})"
    return f"({param.target}){index + 1}"


def _argument(model, function, param):
    """Row of a table of arguments: what was given, its size, and what a listener may make of it."""
    kind = model.handle_kind(param.type) or "NONE"
    arrays = [p for p in function.params if p.count == param.name and model.handle_kind(p.target)]
    given = f"given_{function.name}.{param.name}"
    return (f"    {{\"{param.name}\", &{given}, sizeof({given}), ZETA_KIND_{kind}, "
            f"{str(bool(arrays)).lower()}}},\n")


def calls(model):
    """Text of the C file with a call of every function, for tests/trace; types are in calls.h."""
    out = [_BANNER, "#include \"tests/trace/calls.h\"\n\n"
           "#include <level_zero/zer_api.h>\n#include <level_zero/zes_api.h>\n"
           "#include <level_zero/zet_api.h>\n\n"
           "unsigned char traced_scratch[64 * 32];\n"]
    rows = []
    members = _members(model)
    for name in sorted(model.functions):
        function = model.functions[name]
        fields = "".join(f"    {declare(p.type if p.pointer else p.target, p.name)};\n"
                         for p in function.params)
        values = ", ".join(f".{p.name} = {_value(model, p, i)}"
                           for i, p in enumerate(function.params)
                           if p.pointer or p.target not in model.structs)
        given = ", ".join(f"given_{name}.{p.name}" for p in function.params)
        arguments = "".join(_argument(model, function, p) for p in function.params)
        if fields:
            out.append(f"\nstatic struct {{\n{fields}}} given_{name} = {{{values}}};\n\n"
                       f"static const struct traced_argument arguments_{name}[] = "
                       f"{{\n{arguments}}};\n")
        table = f"arguments_{name}" if fields else "NULL"
        out.append(f"\nstatic void call_{name}(void)\n{{\n    (void){name}({given});\n}}\n")
        member = members.get(name)
        place = f"offsetof(ze_callbacks_t, {member})" if member else "NO_CALLBACK"
        rows.append(f"    {{\"{name}\", call_{name}, {table}, {len(function.params)}, "
                    f"{place}}},\n")
    out.append(f"\nconst struct traced_call traced_calls[] = {{\n{''.join(rows)}}};\n\n"
               f"const size_t traced_calls_count = {len(rows)};\n")
    return "".join(out)
