"""Writes the table that says what the arguments of each function are, for traces of API calls.

The header it fills, core/trace/describe.h, is written by hand. What is shown of a struct is what a
value by itself tells: numbers, names, handles; not its structure type, nor unions. What only the
device reads or writes, later than the call, is shown as an address.
"""

from .strings import function_name
from .trace import enumerator

_BANNER = "/* Generated from core/api/model. */\n"

_UNSIGNED = {"uint8_t", "uint16_t", "uint32_t", "uint64_t", "size_t", "unsigned int"}
_SIGNED = {"int8_t", "int16_t", "int32_t", "int64_t", "int"}
_FLOAT = {"float", "double"}

#: Bytes of the application whose number is another parameter, by names of both.
_COUNTED_BYTES = {"pArgValue": "argSize", "pattern": "pattern_size"}

#: Members that say nothing to a person.
_HIDDEN = {"stype"}


def _plain(model, name):
    """A type without const and behind its typedef; ze_bool_t stays, it is more than a number."""
    name = name.removeprefix("const ")
    while name in model.typedefs and name != "ze_bool_t":
        name = model.typedefs[name].type
    return name


def _shown_struct(model, name):
    struct = model.structs.get(name)
    return struct is not None and not struct.union


def _quoted(text):
    """C string literal of a text without backslashes."""
    return '"' + text.replace('"', '\\"') + '"'


def _table_name(struct):
    return f"members_{struct}"


class _Writer:
    """Collects the member tables of the structs that something shows, each once, inner ones first."""

    def __init__(self, model):
        self.model = model
        self.tables = {}

    def shape(self, type_name, array=None):
        """C initialiser of the shape of one value, None for what is not shown."""
        model, plain = self.model, _plain(self.model, type_name)
        size = f"sizeof({plain})"
        if plain.endswith("*"):
            show = "TEXT" if plain == "char*" and not array else "ADDRESS"
            return f"{{sizeof(void *), ZETA_SHOW_{show}, 0, NULL, NULL}}"
        if plain == "char" and array:
            return f"{{{array}, ZETA_SHOW_CHARS, 0, NULL, NULL}}"
        if plain == "uint8_t" and array:
            return f"{{{array}, ZETA_SHOW_BYTES, 0, NULL, NULL}}"
        if model.handle_kind(plain) is not None or plain in model.callbacks:
            return f"{{{size}, ZETA_SHOW_ADDRESS, 0, NULL, NULL}}"
        if plain in model.enums:
            show = "FLAGS" if model.enums[plain].flags else "ENUM"
            return f"{{{size}, ZETA_SHOW_{show}, 0, {function_name(model.enums[plain])}, NULL}}"
        if _shown_struct(model, plain):
            return self.struct_shape(plain)
        for show, names in (("BOOL", {"ze_bool_t"}), ("UNSIGNED", _UNSIGNED), ("SIGNED", _SIGNED),
                            ("FLOAT", _FLOAT)):
            if plain in names:
                return f"{{{size}, ZETA_SHOW_{show}, 0, NULL, NULL}}"
        return None

    def struct_shape(self, name):
        struct = self.model.structs[name]
        if len(struct.members) == 1 and struct.members[0].array and "[" not in (
                struct.members[0].array):
            only = struct.members[0]
            if _plain(self.model, only.type) in ("char", "uint8_t"):
                return f"{{{only.array}, ZETA_SHOW_BYTES, 0, NULL, NULL}}"
        count = self.add_table(struct)
        if count == 0:
            return None
        return f"{{sizeof({name}), ZETA_SHOW_STRUCT, {count}, NULL, {_table_name(name)}}}"

    def add_table(self, struct):
        """Number of members of a struct that are shown; writes its table at the first time."""
        if struct.name in self.tables:
            return self.tables[struct.name][0]
        lines = []
        for member in struct.members:
            if member.name in _HIDDEN or (member.array and "[" in member.array):
                continue
            shape = self.shape(member.type, member.array)
            if shape is None:
                continue
            plain = _plain(self.model, member.type)
            count = "1" if not member.array or plain in ("char", "uint8_t") else member.array
            lines.append(f"    {{\"{member.name}\", offsetof({struct.name}, {member.name}), "
                         f"{count}, {shape}}},\n")
        text = ""
        if lines:
            text = (f"\nstatic const struct zeta_member {_table_name(struct.name)}[] = {{\n"
                    f"{''.join(lines)}}};\n")
        self.tables[struct.name] = (len(lines), text)
        return len(lines)


def _is_device_memory(function, param):
    """True for what a command list reads or writes when it runs, not when it is appended to."""
    if "CommandListAppend" not in function.name or "*" not in param.type:
        return False
    return param.name.endswith("Buffer") or param.name.startswith("dst")


def _byte_counter(function, param):
    """Index of the parameter that is the size of some bytes; None when nothing says it."""
    names = [p.name for p in function.params]
    counter = _COUNTED_BYTES.get(param.name)
    return names.index(counter) if counter in names and param.target == "void" else None


def _counted(function, param):
    """Index of the parameter that counts, and whether it is an address; None without one."""
    if param.count is None:
        return None
    names = [p.name for p in function.params]
    return names.index(param.count.lstrip("*")), param.count.startswith("*")


def _passing(param):
    """How a pointer to something that can be shown is passed."""
    if param.dir == "in":
        return "IN"
    # Counts and sizes are given and corrected, and so are descriptors; the rest is only filled.
    is_given = param.target in _UNSIGNED | _SIGNED or "desc" in param.target
    if param.dir == "inout" and is_given and not (param.count or "").startswith("*"):
        return "IN_OUT"
    return "OUT"


def _parameter(writer, function, param):
    """C initialiser of one parameter."""
    address = "{sizeof(void *), ZETA_SHOW_ADDRESS, 0, NULL, NULL}"
    counted = _counted(function, param)
    stars = param.type.count("*")
    passing, shape, counter = "VALUE", None, (-1, False)

    if stars == 0:
        shape = writer.shape(param.type)
    elif _is_device_memory(function, param) or param.target == "ze_callbacks_t":
        shape = address
    elif stars == 1 and _plain(writer.model, param.target) == "char":
        passing = "VALUE" if param.dir == "in" else "LATE"
        shape = "{sizeof(void *), ZETA_SHOW_TEXT, 0, NULL, NULL}"
    elif _byte_counter(function, param) is not None:
        passing, counter = "IN", (_byte_counter(function, param), False)
        shape = "{1, ZETA_SHOW_BYTES, 0, NULL, NULL}"
    elif stars == 1 and _plain(writer.model, param.target) in ("void", "uint8_t"):
        shape = address
    elif counted and (_shown_struct(writer.model, param.target) or stars == 2):
        shape = address
    else:
        inner = param.type.rstrip("*") + "*" * (stars - 1)
        shape = writer.shape(inner)
        if shape:
            passing = _passing(param)
            counter = counted or counter
    key = f'"{param.name}":'
    return (f"    {{{_quoted(key)}, {len(key)}, ZETA_PASS_{passing}, {counter[0]}, "
            f"{int(counter[1])}, {shape or address}}},\n")


def descriptions(model):
    """Text of descriptions.c."""
    writer = _Writer(model)
    parameters, entries = [], []
    for function in sorted(model.functions.values(), key=lambda f: f.name):
        lines = [_parameter(writer, function, p) for p in function.params]
        if lines:
            parameters.append(f"\nstatic const struct zeta_parameter parameters_{function.name}[] "
                              f"= {{\n{''.join(lines)}}};\n")
        table = f"parameters_{function.name}" if lines else "NULL"
        opening = f',"cat":"{function.namespace}","name":"{function.name}","args":{{'
        entries.append(f"    [{enumerator(function)}] = {{\"{function.name}\", "
                       f"{_quoted(opening)}, {len(opening)}, {table}, {len(lines)}}},\n")
    return (f"{_BANNER}#include \"core/trace/describe.h\"\n\n#include <stddef.h>\n\n"
            "#include <level_zero/zer_api.h>\n#include <level_zero/zes_api.h>\n"
            "#include <level_zero/zet_api.h>\n\n#include \"zeta_strings.h\"\n"
            f"{''.join(text for _, text in writer.tables.values())}{''.join(parameters)}"
            "\nconst struct zeta_function_description "
            "zeta_function_descriptions[ZETA_FUNCTION_COUNT] = {\n"
            f"{''.join(entries)}}};\n")
