"""Writes the table with which a test gives every entry a bad handle in every place."""

from .entries import is_handle_array

_BANNER = "/* Generated from core/api/model. */\n"


def _places(model):
    """Triples (function, parameter, kind) for every handle that a function with a result reads."""
    for function in model.functions.values():
        if function.returns != "ze_result_t":
            continue
        for param in function.params:
            kind = model.handle_kind(param.type)
            if kind:
                yield function, param, kind
            elif is_handle_array(model, param):
                yield function, param, model.handle_kind(param.target)


def _argument(model, param, place):
    """What to pass for a parameter while the handle at place is the bad one."""
    kind = model.handle_kind(param.type)
    if param is place:
        return "handles" if is_handle_array(model, param) else "value"
    if kind:
        return "NULL" if param.may_be_null else f"valid[ZETA_KIND_{kind}]"
    if place.count == param.name:
        return "2"
    if is_handle_array(model, param) or param.type in model.callbacks:
        return "NULL"
    if param.pointer:
        return "(void *)handle_scratch"
    if param.type in model.structs or param.type.startswith("const "):
        bare = param.type.replace("const ", "")
        return f"({bare}){{0}}"
    return "0"


def handle_table(model):
    """Text of the C file; the types are those of tests/api_model/handle_entries.h."""
    out = [_BANNER, "#include \"tests/api_model/handle_entries.h\"\n\n"
           "#include <level_zero/zer_api.h>\n#include <level_zero/zes_api.h>\n"
           "#include <level_zero/zet_api.h>\n"]
    rows = []
    for number, (function, param, kind) in enumerate(_places(model)):
        arguments = ", ".join(_argument(model, p, param) for p in function.params)
        array = is_handle_array(model, param)
        setup = ""
        if array:
            setup = f"    {param.target} handles[2] = {{valid[ZETA_KIND_{kind}], value}};\n\n"
        out.append(f"\nstatic ze_result_t call_{number}(void *value, void *const *valid)\n"
                   f"{{\n{setup}"
                   f"    (void)valid;\n    return {function.name}({arguments});\n}}\n")
        rows.append(f"    {{\"{function.name}\", \"{param.name}\", ZETA_KIND_{kind}, "
                    f"{str(param.holes if array else param.may_be_null).lower()}, {str(array).lower()}, "
                    f"call_{number}}},\n")
    out.append("\nconst struct handle_entry handle_entries[] = {\n" + "".join(rows) +
               f"}};\n\nconst size_t handle_entries_count = {len(rows)};\n")
    return "".join(out)
