"""Writes the DDI getters, the dispatch tables behind handles, the name table and the exports."""

from .model import DISPATCHED, NAMESPACES

_BANNER = "/* Generated from core/api/model. */\n"


def _gated(functions):
    """Functions by version in table order: [((1, 0), [f, ...]), ((1, 7), [f])]."""
    groups = []
    for function in functions:
        if not groups or groups[-1][0] != function.since:
            groups.append((function.since, []))
        groups[-1][1].append(function)
    return groups


def _getter(table):
    lines = [f"\nZE_DLLEXPORT ze_result_t ZE_APICALL {table.getter}(ze_api_version_t version, "
             f"{table.struct} *pDdiTable)\n{{\n",
             f"    ze_result_t result = zeta_ddi_begin(\"{table.getter}\", version, pDdiTable);\n",
             "    if (result != ZE_RESULT_SUCCESS)\n        return result;\n"]
    for since, functions in _gated(table.functions):
        indent = "    "
        if since > (1, 0):
            lines.append(f"    if (zeta_ddi_has(version, {since[0]}, {since[1]})) {{\n")
            indent = "        "
        for function in functions:
            lines.append(f"{indent}pDdiTable->{function.member} = entry_{function.name};\n")
        if since > (1, 0):
            lines.append("    }\n")
    lines.append("    return ZE_RESULT_SUCCESS;\n}\n")
    return "".join(lines)


def getters(model):
    """Text of the C file with the getters of all tables that the model describes."""
    out = [_BANNER] + [f"#include <level_zero/{namespace}_ddi.h>\n" for namespace in NAMESPACES]
    out = ["".join(out) + "\n#include \"core/api/loader.h\"\n#include \"zeta_impl.h\"\n"]
    out += [_getter(table) for table in model.tables]
    return "".join(out)


def sysman_getters(model):
    """Text of the C file with the getters of other sysman tables, which fill nothing."""
    out = [_BANNER, "#include \"core/api/loader.h\"\n"]
    for name in model.sysman_left():
        proto = (f"ZE_DLLEXPORT ze_result_t ZE_APICALL zesGet{name}ProcAddrTable("
                 "ze_api_version_t version, void *pDdiTable)")
        call = f"zeta_ddi_begin(\"zesGet{name}ProcAddrTable\", version, pDdiTable)"
        out.append(f"\n{proto};\n{proto}\n{{\n    return {call};\n}}\n")
    return "".join(out)


def dispatch(model):
    """Text of the C file with the tables that objects point to."""
    out = [_BANNER, "#include \"core/api/loader.h\"\n\n#include \"zeta_impl.h\"\n"]
    for table in [t for t in model.tables if t.namespace in DISPATCHED]:
        out.append(f"\nstatic {table.struct} {table.namespace}_{table.name} = {{\n")
        for function in table.functions:
            out.append(f"    .{function.member} = entry_{function.name},\n")
        out.append("};\n")
    for namespace in DISPATCHED:
        out.append(f"\n{namespace}_dditable_driver_t zeta_dispatch_{namespace} = {{\n"
                   "    .version = ZE_API_VERSION_CURRENT,\n    .isValidFlag = 1,\n")
        for table in model.tables_of(namespace):
            out.append(f"    .{table.name} = &{namespace}_{table.name},\n")
        out.append("};\n")
    return "".join(out)


def names(model, own):
    """Text of the C file with the sorted table from function name to address."""
    out = [_BANNER, "#include \"core/api/loader.h\"\n\n#include <zeta/zeta.h>\n\n"
           "#include \"zeta_impl.h\"\n"]
    entries = [(name, f"entry_{name}") for name in model.functions] + [(n, n) for n in own]
    out.append("\nconst struct zeta_name zeta_names[] = {\n")
    for name, symbol in sorted(entries):
        out.append(f"    {{\"{name}\", (zeta_function){symbol}}},\n")
    out.append(f"}};\n\nconst size_t zeta_names_count = {len(entries)};\n")
    return "".join(out)


def exported(model, own):
    """All exported symbols, sorted."""
    symbols = set(model.functions) | set(own)
    symbols |= {table.getter for table in model.tables}
    symbols |= {f"zesGet{name}ProcAddrTable" for name in model.sysman_left()}
    return sorted(symbols)


def export_map(model, own):
    """Text of the linker version script."""
    lines = "".join(f"        {symbol};\n" for symbol in exported(model, own))
    return f"{{\n    global:\n{lines}    local:\n        *;\n}};\n"

