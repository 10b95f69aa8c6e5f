"""Writes the public headers: ze_api.h, zet_api.h, zes_api.h, zer_api.h and the ddi header of each.

Guards, tags, types and values are those of the official headers, so that a program can be built
against either; the order of declarations is our own (first what structs need, then structs in the
order in which they contain each other).
"""

from .model import CURRENT, DISPATCHED, snake

_TYPES_PREAMBLE = """\
#ifndef ZE_APICALL
#if defined(_WIN32)
#define ZE_APICALL __cdecl
#else
#define ZE_APICALL
#endif
#endif

#ifndef ZE_CALLBACK_CONV
#if defined(_WIN32)
#define ZE_CALLBACK_CONV __stdcall
#else
#define ZE_CALLBACK_CONV
#endif
#endif

#ifndef ZE_APIEXPORT
#if defined(_WIN32)
#define ZE_APIEXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define ZE_APIEXPORT __attribute__((visibility("default")))
#else
#define ZE_APIEXPORT
#endif
#endif

#ifndef ZE_DLLEXPORT
#if defined(_WIN32)
#define ZE_DLLEXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define ZE_DLLEXPORT __attribute__((visibility("default")))
#else
#define ZE_DLLEXPORT
#endif
#endif
"""


def dotted(version):
    """(1, 10) -> '1.10'."""
    return f"{version[0]}.{version[1]}"


def declare(type_name, name):
    """'const char*', 'pName' -> 'const char *pName'."""
    stars = len(type_name) - len(type_name.rstrip("*"))
    return f"{type_name.rstrip('*')} {'*' * stars}{name}".rstrip()


def prototype(name, function):
    """Prototype text without the semicolon."""
    params = ", ".join(declare(p.type, p.name) for p in function.params) or "void"
    return f"{function.returns} ZE_APICALL {name}({params})"


def comment(text, since=None, indent=""):
    """One comment line in front of a declaration."""
    words = text or ""
    if since and since > (1, 0):
        words = f"{words} (since {dotted(since)})".strip()
    return f"{indent}/** {words} */\n" if words else ""


def _open(out, name, brief, includes):
    guard = "_" + name.upper().replace(".", "_")
    out.append(f"/* {brief}, specification {dotted(CURRENT)}. Generated from core/api/model. */\n")
    out.append(f"#ifndef {guard}\n#define {guard}\n\n{includes}\n")
    out.append("#if defined(__cplusplus)\nextern \"C\" {\n#endif\n")


def _close(out, name):
    guard = "_" + name.upper().replace(".", "_")
    out.append("\n#if defined(__cplusplus)\n} /* extern \"C\" */\n#endif\n"
               f"\n#endif /* {guard} */\n")


def _macros(out, macros):
    for macro in macros:
        value = f"\"{macro.text}\"" if macro.text is not None else macro.value
        plain = macro.name.split("(")[0]
        out.append(f"\n{comment(macro.brief, macro.since)}#ifndef {plain}\n"
                   f"#define {macro.name} {value}\n#endif\n")


def _handles(out, handles):
    for handle in handles:
        target = handle.alias or f"struct _{handle.name} *"
        gap = " " if handle.alias else ""
        out.append(f"\n{comment(handle.brief, handle.since)}typedef {target}{gap}{handle.name};\n")


def _enum_value(enum, item):
    """Flags in hexadecimal, small enumerators in decimal, everything else in hexadecimal."""
    return hex(item.value) if enum.flags or item.value > 0xffff else str(item.value)


def _enums(out, enums):
    for enum in enums:
        if enum.flags:
            out.append(f"\n{comment(enum.brief, enum.since)}typedef uint32_t {enum.name};\n")
            out.append(f"typedef enum _{enum.enum_name} {{\n")
        else:
            out.append(f"\n{comment(enum.brief, enum.since)}typedef enum _{enum.enum_name} {{\n")
        for item in enum.values:
            since = item.since if item.since > enum.since else None
            note = comment(item.brief, since, "    ").rstrip("\n")
            out.append((note + "\n" if note else "") +
                       f"    {item.name} = {_enum_value(enum, item)},\n")
        if enum.version:
            out.append(f"    {enum.prefix}CURRENT = {enum.values[-1].name},\n")
        out.append(f"    {enum.prefix}FORCE_UINT32 = 0x7fffffff\n}} {enum.enum_name};\n")


def _callbacks(out, callbacks):
    for callback in callbacks:
        convention = callback.convention + " " if callback.convention else ""
        params = ", ".join(declare(p.type, p.name) for p in callback.params)
        out.append(f"\n{comment(callback.brief, callback.since)}"
                   f"typedef {callback.returns} ({convention}*{callback.name})({params});\n")


def _containment_order(structs):
    """Structs so that one that is a member by value comes before the one that has it."""
    by_name = {s.name: s for s in structs}
    done, order = set(), []

    def visit(struct):
        if struct.name in done:
            return
        done.add(struct.name)
        for member in struct.members:
            if member.type in by_name:
                visit(by_name[member.type])
        order.append(struct)

    for struct in structs:
        visit(struct)
    return order


def _structs(out, structs):
    for struct in _containment_order(structs):
        word = "union" if struct.union else "struct"
        note = struct.brief
        if struct.stype:
            note = f"{note} [{struct.stype}]".strip()
        out.append(f"\n{comment(note, struct.since)}{word} _{struct.name} {{\n")
        for member in struct.members:
            since = member.since if member.since > struct.since else None
            out.append(comment(member.brief, since, "    ") +
                       f"    {declare(member.type, member.name)}{member.dimensions};\n")
        out.append("};\n")


def _functions(out, functions):
    for function in functions:
        out.append(f"\n{comment(function.brief, function.since)}ZE_APIEXPORT "
                   f"{prototype(function.name, function)};\n")


def callback_name(function):
    """zeDriverGet -> ze_pfnDriverGetCb_t."""
    return f"ze_pfn{function.name[2:]}Cb_t"


def params_struct(table, function):
    """Parameter struct of a traced function: zeDriverGet -> ze_driver_get_params_t."""
    prefix = "" if table.name == "Global" else table.name
    rest = snake(function.name[2 + len(prefix):])
    return f"ze_{snake(prefix) + '_' if prefix else ''}{rest}_params_t"


def _trace_callbacks(out, model):
    for table in model.callback_tables:
        for function in table.functions:
            struct = params_struct(table, function)
            out.append(f"\n/** Addresses of the arguments of {function.name}. */\n"
                       f"typedef struct _{struct} {{\n")
            for param in function.params:
                out.append(f"    {declare(param.type + '*', 'p' + param.name)};\n")
            out.append(f"}} {struct};\n\n"
                       f"typedef void(ZE_APICALL *{callback_name(function)})({struct} *params, "
                       "ze_result_t result, void *pTracerUserData, "
                       "void **ppTracerInstanceUserData);\n")
    for table in model.callback_tables:
        out.append(f"\n/** Callbacks of {table.name} functions; null: not wanted. */\n"
                   f"typedef struct _{table.struct} {{\n")
        prefix = "" if table.name == "Global" else table.name
        for function in table.functions:
            out.append(f"    {callback_name(function)} pfn{function.name[2 + len(prefix):]}Cb;\n")
        out.append(f"}} {table.struct};\n")
    out.append("\n/** All callbacks of API tracing; the order is frozen. */\n"
               "typedef struct _ze_callbacks_t {\n")
    for table in model.callback_tables:
        out.append(f"    {table.struct} {table.name};\n")
    out.append("} ze_callbacks_t;\n")


_BRIEFS = {"zet": "Level Zero Tools API",
           "zes": "Level Zero system resources, as far as Zeta knows them",
           "zer": "Level Zero runtime API"}


def _alias(typedef):
    return (f"{comment(typedef.brief, typedef.since)}"
            f"typedef {declare(typedef.type, typedef.name)};\n")


def api_header(model, namespace):
    """Text of the api header of a namespace."""
    def mine(items):
        return [i for i in items.values() if i.namespace == namespace]

    out = []
    name = f"{namespace}_api.h"
    if namespace == "ze":
        _open(out, name, "Level Zero core API", "#include <stddef.h>\n#include <stdint.h>\n")
    else:
        _open(out, name, _BRIEFS[namespace], "#include \"ze_api.h\"\n")
    if namespace == "ze":
        out.append("\n" + _TYPES_PREAMBLE)
    _macros(out, mine(model.macros))
    _handles(out, mine(model.handles))
    _enums(out, mine(model.enums))
    structs = mine(model.structs)
    names = {s.name for s in structs}
    typedefs = mine(model.typedefs)
    out.append("\n")
    out += [_alias(t) for t in typedefs if t.type not in names]
    for struct in structs:
        word = "union" if struct.union else "struct"
        out.append(f"typedef {word} _{struct.name} {struct.name};\n")
    out += [_alias(t) for t in typedefs if t.type in names]
    _callbacks(out, mine(model.callbacks))
    _structs(out, structs)
    _functions(out, model.functions_of(namespace))
    if namespace == "ze":
        _trace_callbacks(out, model)
    _close(out, name)
    return "".join(out)


def pfn_type(function):
    """zetMetricGet -> zet_pfnMetricGet_t."""
    namespace = function.namespace if function.name.startswith(function.namespace) else "ze"
    return f"{namespace}_pfn{function.name[len(namespace):]}_t"


def _table_set(out, namespace, tables):
    out.append("\n/** The table set that an object with a dispatch header points to. */\n"
               f"typedef struct _{namespace}_dditable_driver_t {{\n"
               "    ze_api_version_t version;\n    uint8_t isValidFlag;\n")
    for table in tables:
        out.append(f"    {table.struct} *{table.name};\n")
    out.append(f"}} {namespace}_dditable_driver_t;\n")


def ddi_header(model, namespace):
    """Text of the ddi header of a namespace."""
    out = []
    name = f"{namespace}_ddi.h"
    _open(out, name, f"Level Zero dispatch tables ({namespace})",
          f"#include \"{namespace}_api.h\"\n")
    tables = model.tables_of(namespace)
    for table in tables:
        out.append(f"\n/* Table {table.name} */\n")
        for function in table.functions:
            params = ", ".join(declare(p.type, "") for p in function.params) or "void"
            out.append(f"typedef {function.returns}(ZE_APICALL *{pfn_type(function)})({params});\n")
        out.append(f"\ntypedef struct _{table.struct} {{\n")
        for function in table.functions:
            note = comment("", function.since).strip()
            out.append(f"    {pfn_type(function)} {function.member};{' ' + note if note else ''}\n")
        out.append(f"}} {table.struct};\n\n"
                   f"/** Fills a {table.struct} as far as version knows it. */\n"
                   f"ZE_DLLEXPORT ze_result_t ZE_APICALL {table.getter}(ze_api_version_t version, "
                   f"{table.struct} *pDdiTable);\n"
                   f"typedef ze_result_t(ZE_APICALL *{namespace}_pfnGet{table.name}ProcAddrTable_t)"
                   f"(ze_api_version_t, {table.struct} *);\n")
    out.append(f"\n/** All {namespace} tables by value; internal to one binary. */\n"
               f"typedef struct _{namespace}_dditable_t {{\n")
    for table in tables:
        out.append(f"    {table.struct} {table.name};\n")
    out.append(f"}} {namespace}_dditable_t;\n")
    if namespace in DISPATCHED:
        _table_set(out, namespace, tables)
    _close(out, name)
    return "".join(out)
