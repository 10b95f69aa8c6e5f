#!/usr/bin/env python3
"""Generates everything that follows from core/api/model: headers, entries, checks, tables, pages.

Runs at build time and writes into the build folder only. Files whose content did not change are
left alone, so that what includes them is not compiled again.
"""

import argparse
import os
import sys

sys.dont_write_bytecode = True

import yaml  # noqa: E402

from generator import (describe, entries, function_tables, handle_table,  # noqa: E402
                       headers, pages, reader, strings, tables, trace)
from generator.model import NAMESPACES, ModelError  # noqa: E402


def read_names(path):
    """Lines of a list file without comments; the list has to be sorted and without repetition."""
    with open(path, encoding="utf-8") as stream:
        lines = [line.strip() for line in stream]
    names = [line for line in lines if line and not line.startswith("#")]
    for before, after in zip(names, names[1:]):
        if before >= after:
            raise ModelError(f"{path}: {after} has to stand before {before}, once")
    return names


def read_unsupported(path):
    """Function name -> why it is not supported; of one that is, where it is not all the same."""
    with open(path, encoding="utf-8") as stream:
        groups = yaml.safe_load(stream)
    reasons, limits = {}, {}
    for group in groups:
        for name in group["functions"]:
            if name in reasons or name in limits:
                raise ModelError(f"{path}: {name} stands there twice")
            if "where" in group:
                limits[name] = group["where"]
            else:
                reasons[name] = group["why"]
    return reasons, limits


def check_names(model, options, implemented, reasons, limits):
    """Every function of the core API is implemented or has a reason, never both."""
    for path, names in ((options.implemented, implemented),
                        (options.unsupported, [*reasons, *limits])):
        unknown = [name for name in names if name not in model.functions]
        if unknown:
            raise ModelError(f"{path}: no such function: {', '.join(unknown)}")
    both = sorted(set(implemented) & set(reasons))
    if both:
        raise ModelError(f"{options.unsupported}: {', '.join(both)} stand in implemented.txt too")
    neither = sorted(set(limits) - set(implemented))
    if neither:
        raise ModelError(f"{options.unsupported}: {', '.join(neither)} have 'where' and are not in "
                         "implemented.txt")


def outputs(model, implemented, own, reasons, limits):
    """Relative path -> text of everything that is generated."""
    files = {}
    for namespace in NAMESPACES:
        files[f"include/level_zero/{namespace}_api.h"] = headers.api_header(model, namespace)
        files[f"include/level_zero/{namespace}_ddi.h"] = headers.ddi_header(model, namespace)
        files[f"core/api/entries_{namespace}.c"] = entries.entries(model, namespace)
    files["core/api/zeta_impl.h"] = entries.impl_header(model)
    files["core/api/zeta_functions.h"] = trace.functions_header(model)
    files["core/api/callback_places.c"] = trace.places(model)
    files["core/api/descriptions.c"] = describe.descriptions(model)
    files["core/api/stubs.c"] = entries.stubs(model, set(implemented), reasons)
    files["core/api/test_trace_calls.c"] = trace.calls(model)
    files["core/api/test_stubs.c"] = entries.stubs(model, set(), reasons)
    files["core/api/test_handle_entries.c"] = handle_table.handle_table(model)
    files["core/api/getters.c"] = tables.getters(model)
    files["core/api/sysman.c"] = tables.sysman_getters(model)
    files["core/api/tables.c"] = tables.dispatch(model)
    files["core/api/function_names.c"] = tables.names(model, own)
    files["core/api/zeta.map"] = tables.export_map(model, own)
    files["core/api/zeta_strings.h"] = strings.strings_header(model)
    files["core/api/zeta_strings.c"] = strings.strings_source(model)
    listed = function_tables.pages(model, set(implemented), reasons, limits)
    for name, text in listed.items():
        files[f"share/doc/zeta/{name}"] = text
    for name, text in pages.pages(model, implemented).items():
        files[f"share/doc/zeta/api/{name}"] = text
    return files


def write_if_changed(path, text):
    try:
        with open(path, encoding="utf-8") as stream:
            if stream.read() == text:
                return
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", required=True, help="build folder to write into")
    parser.add_argument("--model", default=os.path.join(here, "model"))
    parser.add_argument("--implemented", default=os.path.join(here, "implemented.txt"))
    parser.add_argument("--unsupported", default=os.path.join(here, "unsupported.yaml"))
    parser.add_argument("--own", default=os.path.join(here, "zeta_functions.txt"))
    parser.add_argument("--stamp", help="file to touch at the end")
    options = parser.parse_args()

    model = reader.load(options.model)
    implemented = read_names(options.implemented)
    reasons, limits = read_unsupported(options.unsupported)
    check_names(model, options, implemented, reasons, limits)
    own = read_names(options.own)
    for path, text in outputs(model, implemented, own, reasons, limits).items():
        write_if_changed(os.path.join(options.output, path), text)
    if options.stamp:
        with open(options.stamp, "w", encoding="utf-8"):
            pass


if __name__ == "__main__":
    try:
        main()
    except (ModelError, OSError) as error:
        sys.exit(f"generate.py: {error}")
