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
            "/** Every ze and zet function, in the order of the bytes of their names. */\n"
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
    if function.returns != "ze_result_t":
        value = "result ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNKNOWN"
    return (f"\nZETA_COLD static {_prototype(function)}\n{{\n"
            f"{declaration}    struct zeta_trace_call call;\n\n"
            f"    if (!zeta_trace_begin(&call, {enumerator(function)}, {addresses}))\n"
            f"        return {check};\n"
            f"    {function.returns} result = {check};\n"
            f"    zeta_trace_end(&call, {value});\n"
            "    return result;\n}\n")


def places(model):
    """Text of the C file that says where each function has its callback."""
    lines = []
    for table in model.callback_tables:
        prefix = "" if table.name == "Global" else table.name
        for function in table.functions:
            member = f"{table.name}.pfn{function.name[2 + len(prefix):]}Cb"
            lines.append(f"    [{enumerator(function)}] = PLACE({member}),\n")
    return (f"{_BANNER}#include \"core/trace/places.h\"\n\n#include <stddef.h>\n\n"
            "#define PLACE(member) (1 + offsetof(ze_callbacks_t, member) / sizeof(void (*)(void)))\n"
            "\nconst uint8_t zeta_trace_places[ZETA_FUNCTION_COUNT] = {\n"
            f"{''.join(lines)}}};\n")
