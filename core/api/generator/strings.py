"""Writes the functions that name enumerators, for messages and tools."""

import re

_BANNER = "/* Generated from core/api/model. */\n"


def function_name(enum):
    """ze_result_t -> zeta_string_ze_result, flags: zeta_string_ze_init_flag."""
    return "zeta_string_" + re.sub(r"_t$", "", enum.enum_name)


def stype_ranges(model):
    """Ranges of structure types: from the least to the greatest of each block of 65536."""
    blocks = {}
    for name in ("ze_structure_type_t", "zet_structure_type_t"):
        for item in model.enums[name].values:
            low, high = blocks.get(item.value >> 16, (item.value, item.value))
            blocks[item.value >> 16] = (min(low, item.value), max(high, item.value))
    return sorted(blocks.values())


def strings_header(model):
    """Text of zeta_strings.h."""
    out = [_BANNER,
           "/*\n * Names of enumerators, such as \"ZE_RESULT_NOT_READY\"; for flags of one bit.\n"
           " * A value without a name gives \"unknown\". The strings are static.\n */\n"
           "#ifndef ZETA_STRINGS_H\n#define ZETA_STRINGS_H\n\n#include <stdbool.h>\n"
           "#include <stdint.h>\n\n"
           "/** True for a value in one of the specification's ranges of structure types. */\n"
           "bool zeta_stype_defined(uint32_t stype);\n\n"]
    for enum in model.enums.values():
        out.append(f"const char *{function_name(enum)}(uint32_t value);\n")
    out.append("\n#endif\n")
    return "".join(out)


def strings_source(model):
    """Text of zeta_strings.c; of two names for one value the later one is used."""
    ranges = " ||\n           ".join(f"(stype >= {low:#x} && stype <= {high:#x})"
                                      for low, high in stype_ranges(model))
    out = [_BANNER, "#include \"zeta_strings.h\"\n\n"
           f"bool zeta_stype_defined(uint32_t stype)\n{{\n    return {ranges};\n}}\n"]
    for enum in model.enums.values():
        by_value = {item.value: item.name for item in enum.values}
        out.append(f"\nconst char *{function_name(enum)}(uint32_t value)\n"
                   "{\n    switch (value) {\n")
        for value, name in by_value.items():
            out.append(f"    case {value:#x}:\n        return \"{name}\";\n")
        out.append("    default:\n        return \"unknown\";\n    }\n}\n")
    return "".join(out)
