#!/usr/bin/env python3
"""Writes the functions and tables of the stand-in loader from the model of the API.

For every ze and zet function three C functions: the exported one, which calls through the table of
the application; one that finds the table through the handle; and one that exchanges the loader's
objects for the handles of the driver. A zes or zer function has the first of them only. standin_priv.h
says what they share.
"""

import argparse
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../core/api"))

from generator import reader  # noqa: E402
from generator.headers import prototype  # noqa: E402

#: Tables without which a driver is refused if their getter fails, in the order of the requests.
REQUIRED = {
    "ze": ["Global", "Driver", "Device", "Context", "CommandQueue", "CommandList", "Event",
           "EventPool", "Fence", "Image", "Kernel", "Mem", "Module", "ModuleBuildLog",
           "PhysicalMem", "Sampler", "VirtualMem"],
    "zet": ["Device", "Context", "CommandList", "Kernel", "Module", "Debug", "Metric",
            "MetricGroup", "MetricQuery", "MetricQueryPool", "MetricStreamer", "TracerExp"],
}
#: Order of all zet requests; ze requests come in the order above, optional ones behind their class.
ZET_ORDER = ["MetricDecoderExp", "MetricProgrammableExp", "MetricTracerExp", "Device", "DeviceExp",
             "Context", "CommandList", "CommandListExp", "Kernel", "Module", "Debug", "Metric",
             "MetricExp", "MetricGroup", "MetricGroupExp", "MetricQuery", "MetricQueryPool",
             "MetricStreamer", "TracerExp"]
#: The first so many sysman tables are required.
REQUIRED_SYSMAN = 17

#: Those whose functions are found through handles and wrapped; zer functions are written by hand.
BY_HANDLE = ("ze", "zet")

#: Functions without a handle, and how the loader answers them; written by hand.
BY_HAND = {"zeInit", "zeInitDrivers", "zeDriverGet"}
#: Arrays of handles that the loader forgets to exchange.
UNTRANSLATED = {("zetDeviceGetConcurrentMetricGroupsExp", "phMetricGroups"),
                ("zetDeviceCreateMetricGroupsFromMetricsExp", "phMetrics")}
#: A build log comes also with these failures.
LOG_RESULTS = "result == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE || " \
              "result == ZE_RESULT_ERROR_MODULE_LINK_FAILURE"


def kind(model, type_name):
    found = model.handle_kind(type_name)
    return f"STANDIN_{found}" if found else None


def arguments(function):
    return ", ".join(p.name for p in function.params)


def failure(function, code):
    """The value that a function gives back for an error."""
    return function.failure or f"ZE_RESULT_{code}"


def first_handle(model, function):
    """C expression of the handle whose driver gets the call."""
    for param in function.params:
        if model.handle_kind(param.type):
            return param.name
    for param in function.params:
        if param.pointer and model.handle_kind(param.target) and param.count and param.dir == "in":
            return f"({param.name} && {param.count} > 0 ? {param.name}[0] : NULL)"
    raise SystemExit(f"make_standin.py: {function.name} has no handle to go by")


#: Exported functions that do more than to pass the call on.
AT_ONCE = {"zeInit": "standin_init", "zeInitDrivers": "standin_init_drivers"}


def exported(function, table):
    if function.name in AT_ONCE:
        return (f"\nZE_APIEXPORT {prototype(function.name, function)}\n{{\n"
                f"    return {AT_ONCE[function.name]}({arguments(function)});\n}}\n")
    member = f"tables->{table.namespace}.{table.name}.{function.member}"
    return (f"\nZE_APIEXPORT {prototype(function.name, function)}\n{{\n"
            "    const struct standin_tables *tables = standin_application_tables();\n\n"
            f"    if (!tables)\n        return {failure(function, 'ERROR_UNINITIALIZED')};\n"
            f"    if (!{member})\n        return {failure(function, 'ERROR_UNSUPPORTED_FEATURE')};\n"
            f"    return {member}({arguments(function)});\n}}\n")


def by_handle(model, function, table):
    major, minor = function.since
    sets = "core" if table.namespace == "ze" else "tools"
    member = f"set->{table.name}->{function.member}"
    check = (f"standin_check_set((const struct standin_set *)set, ZE_MAKE_VERSION({major}, {minor}))")
    bad = "return refused;" if function.returns == "ze_result_t" else "return NULL;"
    return (f"\nstatic {prototype('handle_' + function.name, function)}\n{{\n"
            f"    const struct standin_prefix *prefix =\n"
            f"        (const struct standin_prefix *){first_handle(model, function)};\n"
            f"    const {table.namespace}_dditable_driver_t *set;\n"
            "    ze_result_t refused;\n\n"
            f"    if (!prefix)\n        return {failure(function, 'ERROR_INVALID_NULL_HANDLE')};\n"
            f"    set = prefix->{sets};\n    refused = {check};\n"
            f"    if (refused != ZE_RESULT_SUCCESS)\n        {bad}\n"
            f"    if (!set->{table.name} || !{member})\n"
            f"        return {failure(function, 'ERROR_UNINITIALIZED')};\n"
            "    STANDIN_COUNT(calls_by_handle);\n"
            f"    return {member}({arguments(function)});\n}}\n")


def is_in_array(model, function, param):
    return (param.pointer and model.handle_kind(param.target) and param.count
            and not param.count.startswith("*")
            and (function.name, param.name) not in UNTRANSLATED)


def is_out(model, function, param):
    """A handle, or an array of them counted by *pCount, that the driver fills."""
    return (param.pointer and model.handle_kind(param.target) and param.dir != "in"
            and (not param.count or param.count.startswith("*"))
            and (function.name, param.name) not in UNTRANSLATED)


def wrap_outputs(model, function, params):
    lines = []
    for param in params:
        call = f"standin_wrap({kind(model, param.target)}, driver, "
        if param.count:
            lines.append(f"        for (uint32_t i = 0; {param.name} && i < {param.count}; i++)\n"
                         f"            {param.name}[i] = ({param.target}){call}{param.name}[i]);\n")
        else:
            lines.append(f"        if ({param.name})\n"
                         f"            *{param.name} = ({param.target}){call}*{param.name});\n")
    return "".join(lines)


def destroys(model, function):
    """The parameter whose object goes away with the call, or None."""
    for param in function.params:
        if model.handle_kind(param.type) and param.release:
            return param
    stem = function.name[:-3] if function.name[-3:] in ("Exp", "Ext") else function.name
    return function.params[0] if stem.endswith("Destroy") else None


def wrapped(model, function, table):
    """The call with the driver's handles, and new objects for what comes back."""
    out = [f"\nstatic {prototype('wrapped_' + function.name, function)}\n{{\n"
           f"    const struct standin_object *object =\n"
           f"        (const struct standin_object *){first_handle(model, function)};\n"
           "    struct standin_driver *driver = object ? object->driver : NULL;\n"]
    member = f"driver->tables.{table.namespace}.{table.name}.{function.member}"
    arrays = [p for p in function.params if is_in_array(model, function, p)]
    names = {p.name: f"{p.name}_exchanged.handles" for p in arrays}
    values = []
    for param in function.params:
        if model.handle_kind(param.type):
            values.append(f"({param.type})standin_unwrap({param.name})")
        elif param.name in names:
            values.append(f"({param.type}){names[param.name]}")
        else:
            values.append(param.name)
    for param in arrays:
        out.append(f"    struct standin_array {param.name}_exchanged;\n")
    out.append(f"    {function.returns} result;\n\n"
               f"    if (!driver)\n        return {failure(function, 'ERROR_INVALID_NULL_HANDLE')};\n"
               f"    if (!{member})\n        return {failure(function, 'ERROR_UNINITIALIZED')};\n"
               "    STANDIN_COUNT(calls_wrapped);\n")
    for param in arrays:
        out.append(f"    standin_array_unwrap(&{param.name}_exchanged, {param.name}, "
                   f"{param.count});\n")
    out.append(f"    result = {member}({', '.join(values)});\n")
    for param in arrays:
        out.append(f"    standin_array_finish(&{param.name}_exchanged);\n")
    if function.returns != "ze_result_t":
        out.append(f"    return ({function.returns})standin_wrap({kind(model, function.returns)}, "
                   "driver, result);\n}\n")
        return "".join(out)
    outputs = [p for p in function.params if is_out(model, function, p)]
    logs = [p for p in outputs if model.handle_kind(p.target) == "MODULE_BUILD_LOG"]
    plain = wrap_outputs(model, function, [p for p in outputs if p not in logs])
    if plain:
        out.append(f"    if (result == ZE_RESULT_SUCCESS) {{\n{plain}    }}\n")
    if logs:
        out.append(f"    if (result == ZE_RESULT_SUCCESS || {LOG_RESULTS}) {{\n"
                   f"{wrap_outputs(model, function, logs)}    }}\n")
    gone = destroys(model, function)
    if gone:
        out.append(f"    if (result == ZE_RESULT_SUCCESS)\n"
                   f"        standin_release({kind(model, gone.type)}, {gone.name});\n")
    out.append("    return result;\n}\n")
    return "".join(out)


def dispatched(model):
    """The tables whose functions are also found through handles."""
    return [table for table in model.tables if table.namespace in BY_HANDLE]


def tables_text(model):
    """The intercept table of the application and the sets behind the loader's objects."""
    out = ["\nconst struct standin_tables standin_intercept = {\n"]
    for table in dispatched(model):
        for function in table.functions:
            by = "intercept_" if function.name in BY_HAND else "handle_"
            out.append(f"    .{table.namespace}.{table.name}.{function.member} = "
                       f"{by}{function.name},\n")
    for table in model.tables_of("zer"):
        out += [f"    .zer.{table.name}.{f.member} = intercept_{f.name},\n" for f in table.functions]
    out.append("};\n")
    for table in dispatched(model):
        out.append(f"\nstatic {table.struct} wrapped_{table.namespace}_{table.name} = {{\n")
        for function in table.functions:
            value = "NULL" if function.name in BY_HAND else f"wrapped_{function.name}"
            out.append(f"    .{function.member} = {value},\n")
        out.append("};\n")
    for namespace in BY_HANDLE:
        out.append(f"\nconst {namespace}_dditable_driver_t standin_wrapped_{namespace} = {{\n"
                   "    .version = ZE_API_VERSION_CURRENT,\n    .isValidFlag = 1,\n")
        for table in model.tables_of(namespace):
            out.append(f"    .{table.name} = &wrapped_{namespace}_{table.name},\n")
        out.append("};\n")
    return "".join(out)


def order_of_requests(model):
    """Pairs (table, required) of the ze and zet requests."""
    ze_tables = {t.name: t for t in model.tables_of("ze")}
    zet_tables = {t.name: t for t in model.tables_of("zet")}
    rest = [n for n in ze_tables if n not in REQUIRED["ze"]]
    names = []
    for name in REQUIRED["ze"]:
        names.append(name)
        names += [n for n in rest if n == name + "Exp"]
    names += [n for n in rest if n not in names]
    pairs = [(ze_tables[n], n in REQUIRED["ze"]) for n in names]
    pairs += [(zet_tables[n], n in REQUIRED["zet"]) for n in ZET_ORDER]
    if len(pairs) != len(dispatched(model)):
        raise SystemExit("make_standin.py: a table of the model is never requested")
    return pairs


def requests_text(model):
    out = ["\nconst struct standin_request standin_requests[] = {\n"]
    for table, required in order_of_requests(model):
        out.append(f"    {{\"{table.getter}\", STANDIN_{table.namespace.upper()},\n"
                   f"     offsetof(struct standin_tables, {table.namespace}.{table.name}), "
                   f"{'true' if required else 'false'}}},\n")
    for index, name in enumerate(model.sysman):
        required = "true" if index < REQUIRED_SYSMAN else "false"
        place = "STANDIN_NOWHERE"
        if name not in model.sysman_left():
            place = f"offsetof(struct standin_tables, zes.{name})"
        out.append(f"    {{\"zesGet{name}ProcAddrTable\", STANDIN_ZES, {place}, {required}}},\n")
    for table in model.tables_of("zer"):
        out.append(f"    {{\"{table.getter}\", STANDIN_ZER,\n"
                   f"     offsetof(struct standin_tables, zer.{table.name}), false}},\n")
    out.append("};\n"
               "const size_t standin_request_count =\n"
               "    sizeof(standin_requests) / sizeof(standin_requests[0]);\n")
    return "".join(out)


def getters_text(model):
    """Getters are exported too: a driver that calls its own by name ends up here, and is seen."""
    out = []
    for table in model.tables:
        out.append(f"\nZE_DLLEXPORT ze_result_t ZE_APICALL {table.getter}("
                   f"ze_api_version_t version, {table.struct} *pDdiTable)\n{{\n"
                   "    (void)version;\n    STANDIN_COUNT(own_getters_called);\n"
                   f"    *pDdiTable = standin_intercept.{table.namespace}.{table.name};\n"
                   "    return ZE_RESULT_SUCCESS;\n}\n")
    return "".join(out)


def source(model):
    out = ["/* Generated by make_standin.py. */\n#include \"standin_priv.h\"\n\n#include <stddef.h>\n"]
    for table in model.tables:
        for function in table.functions:
            out.append(exported(function, table))
            if table.namespace in BY_HANDLE and function.name not in BY_HAND:
                out.append(wrapped(model, function, table))
                out.append(by_handle(model, function, table))
    out += [tables_text(model), requests_text(model), getters_text(model)]
    return "".join(out)


def kinds_header(model):
    kinds = sorted({model.handle_kind(name) for name in model.handles})
    lines = "".join(f"    STANDIN_{name},\n" for name in kinds)
    return ("/* Generated by make_standin.py. */\n#ifndef STANDIN_KINDS_H\n#define STANDIN_KINDS_H\n"
            f"\nenum standin_kind {{\n{lines}    STANDIN_KIND_COUNT\n}};\n\n#endif\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True)
    parser.add_argument("--output", required=True, help="folder to write into")
    options = parser.parse_args()
    model = reader.load(options.model)
    for name, text in (("standin_api.c", source(model)), ("standin_kinds.h", kinds_header(model))):
        with open(os.path.join(options.output, name), "w", encoding="utf-8") as stream:
            stream.write(text)


if __name__ == "__main__":
    main()
