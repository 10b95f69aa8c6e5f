#include "sdk/tools/zeta-gdbserver/packet/agent.h"

#include <string.h>

#define STACK_VALUES 64u
#define MOST_STEPS 65536u

enum operation {
    OP_ADD = 0x02,
    OP_SUB,
    OP_MUL,
    OP_DIV_SIGNED,
    OP_DIV_UNSIGNED,
    OP_REM_SIGNED,
    OP_REM_UNSIGNED,
    OP_LSH,
    OP_RSH_SIGNED,
    OP_RSH_UNSIGNED,
    OP_LOG_NOT = 0x0e,
    OP_BIT_AND,
    OP_BIT_OR,
    OP_BIT_XOR,
    OP_BIT_NOT,
    OP_EQUAL,
    OP_LESS_SIGNED,
    OP_LESS_UNSIGNED,
    OP_EXT,
    OP_REF8,
    OP_REF16,
    OP_REF32,
    OP_REF64,
    OP_IF_GOTO = 0x20,
    OP_GOTO,
    OP_CONST8,
    OP_CONST16,
    OP_CONST32,
    OP_CONST64,
    OP_REG,
    OP_END,
    OP_DUP,
    OP_POP,
    OP_ZERO_EXT,
    OP_SWAP,
    OP_PICK = 0x32,
    OP_ROT,
    OPERATIONS
};

/* What each takes: bytes behind it, and values on the stack; and how many values it leaves. */
static const struct {
    bool is_offered;
    uint8_t bytes, takes, leaves;
} shapes[OPERATIONS] = {
    [OP_ADD] = {true, 0, 2, 1},          [OP_SUB] = {true, 0, 2, 1},
    [OP_MUL] = {true, 0, 2, 1},          [OP_DIV_SIGNED] = {true, 0, 2, 1},
    [OP_DIV_UNSIGNED] = {true, 0, 2, 1}, [OP_REM_SIGNED] = {true, 0, 2, 1},
    [OP_REM_UNSIGNED] = {true, 0, 2, 1}, [OP_LSH] = {true, 0, 2, 1},
    [OP_RSH_SIGNED] = {true, 0, 2, 1},   [OP_RSH_UNSIGNED] = {true, 0, 2, 1},
    [OP_LOG_NOT] = {true, 0, 1, 1},      [OP_BIT_AND] = {true, 0, 2, 1},
    [OP_BIT_OR] = {true, 0, 2, 1},       [OP_BIT_XOR] = {true, 0, 2, 1},
    [OP_BIT_NOT] = {true, 0, 1, 1},      [OP_EQUAL] = {true, 0, 2, 1},
    [OP_LESS_SIGNED] = {true, 0, 2, 1},  [OP_LESS_UNSIGNED] = {true, 0, 2, 1},
    [OP_EXT] = {true, 1, 1, 1},          [OP_REF8] = {true, 0, 1, 1},
    [OP_REF16] = {true, 0, 1, 1},        [OP_REF32] = {true, 0, 1, 1},
    [OP_REF64] = {true, 0, 1, 1},        [OP_IF_GOTO] = {true, 2, 1, 0},
    [OP_GOTO] = {true, 2, 0, 0},         [OP_CONST8] = {true, 1, 0, 1},
    [OP_CONST16] = {true, 2, 0, 1},      [OP_CONST32] = {true, 4, 0, 1},
    [OP_CONST64] = {true, 8, 0, 1},      [OP_REG] = {true, 2, 0, 1},
    [OP_END] = {true, 0, 1, 1},          [OP_DUP] = {true, 0, 1, 2},
    [OP_POP] = {true, 0, 1, 0},          [OP_ZERO_EXT] = {true, 1, 1, 1},
    [OP_SWAP] = {true, 0, 2, 2},         [OP_PICK] = {true, 1, 1, 2},
    [OP_ROT] = {true, 0, 3, 3},
};

/* Division as the bytecode has it: what has no result is refused, and the least number divided by
 * -1 stays as it is. */
static bool divide(enum operation operation, uint64_t a, uint64_t b, uint64_t *out_value)
{
    const bool is_signed = operation == OP_DIV_SIGNED || operation == OP_REM_SIGNED;
    const bool wants_rest = operation == OP_REM_SIGNED || operation == OP_REM_UNSIGNED;

    if (b == 0)
        return false;
    if (is_signed && b == UINT64_MAX)
        *out_value = wants_rest ? 0 : 0 - a;
    else if (is_signed)
        *out_value =
            wants_rest ? (uint64_t)((int64_t)a % (int64_t)b) : (uint64_t)((int64_t)a / (int64_t)b);
    else
        *out_value = wants_rest ? a % b : a / b;
    return true;
}

/* Shifts by any number of bits. */
static uint64_t shift(enum operation operation, uint64_t a, uint64_t by)
{
    const uint64_t sign = operation == OP_RSH_SIGNED && a >> 63 ? UINT64_MAX : 0;

    if (by > 63)
        return sign;
    if (operation == OP_LSH)
        return a << by;
    return by == 0 ? a : a >> by | sign << (64 - by);
}

/* The lowest bits of a value, with the sign that they have or without. */
static uint64_t extend(uint64_t value, uint64_t bits, bool is_signed)
{
    if (bits == 0 || bits >= 64)
        return bits == 0 ? 0 : value;
    value &= (UINT64_C(1) << bits) - 1;
    return is_signed && value >> (bits - 1) ? value | UINT64_MAX << bits : value;
}

static bool read_memory(const struct zeta_gdb_agent_view *view, uint64_t address, size_t size,
                        uint64_t *out_value)
{
    uint8_t bytes[8];
    uint64_t value = 0;

    if (!view->read_memory(view->user, address, size, bytes))
        return false;
    for (size_t i = size; i-- > 0;)
        value = value << 8 | bytes[i];
    *out_value = value;
    return true;
}

/* Behind the constant at an offset, and the extension that one with a sign has; 0: there is none.
 */
static size_t pass_constant(const uint8_t *code, size_t size, size_t at)
{
    if (at >= size || code[at] < OP_CONST8 || code[at] > OP_CONST64)
        return 0;
    at += 1 + (size_t)shapes[code[at]].bytes;
    return at < size && code[at] == OP_EXT ? at + 2 : at;
}

void zeta_gdb_agent_mend(uint8_t *code, size_t size)
{
    for (size_t at = 0; at < size && code[at] < OPERATIONS;
         at += 1 + (size_t)shapes[code[at]].bytes) {
        const size_t extension = at + 3;
        size_t end;

        if (code[at] != OP_REG || extension + 2 > size ||
            (code[extension] != OP_EXT && code[extension] != OP_ZERO_EXT))
            continue;
        end = pass_constant(code, size, extension + 2);
        if (end > 0 && end + 1 < size && code[end] == OP_ADD && code[end + 1] >= OP_REF8 &&
            code[end + 1] <= OP_REF64)
            code[extension + 1] = 64;
    }
}

bool zeta_gdb_agent_evaluate(const uint8_t *code, size_t size,
                             const struct zeta_gdb_agent_view *view, uint64_t *out_value)
{
    uint64_t stack[STACK_VALUES] = {0};
    uint32_t depth = 0;
    size_t at = 0;

    for (uint32_t step = 0; step < MOST_STEPS && at < size; step++) {
        const enum operation operation = code[at++];
        uint64_t *top, operand = 0, popped;

        if (operation >= OPERATIONS || !shapes[operation].is_offered ||
            shapes[operation].bytes > size - at || shapes[operation].takes > depth ||
            depth - shapes[operation].takes + shapes[operation].leaves > STACK_VALUES)
            return false;
        for (uint8_t i = 0; i < shapes[operation].bytes; i++)
            operand = operand << 8 | code[at++];
        popped = depth > 0 ? stack[depth - 1] : 0;
        depth = depth - shapes[operation].takes + shapes[operation].leaves;
        top = depth > 0 ? &stack[depth - 1] : stack;
        switch (operation) {
        case OP_ADD:
            *top += popped;
            break;
        case OP_SUB:
            *top -= popped;
            break;
        case OP_MUL:
            *top *= popped;
            break;
        case OP_DIV_SIGNED:
        case OP_DIV_UNSIGNED:
        case OP_REM_SIGNED:
        case OP_REM_UNSIGNED:
            if (!divide(operation, *top, popped, top))
                return false;
            break;
        case OP_LSH:
        case OP_RSH_SIGNED:
        case OP_RSH_UNSIGNED:
            *top = shift(operation, *top, popped);
            break;
        case OP_LOG_NOT:
            *top = *top == 0;
            break;
        case OP_BIT_AND:
            *top &= popped;
            break;
        case OP_BIT_OR:
            *top |= popped;
            break;
        case OP_BIT_XOR:
            *top ^= popped;
            break;
        case OP_BIT_NOT:
            *top = ~*top;
            break;
        case OP_EQUAL:
            *top = *top == popped;
            break;
        case OP_LESS_SIGNED:
            *top = (int64_t)*top < (int64_t)popped;
            break;
        case OP_LESS_UNSIGNED:
            *top = *top < popped;
            break;
        case OP_EXT:
        case OP_ZERO_EXT:
            *top = extend(*top, operand, operation == OP_EXT);
            break;
        case OP_REF8:
        case OP_REF16:
        case OP_REF32:
        case OP_REF64:
            if (!read_memory(view, *top, (size_t)1 << (operation - OP_REF8), top))
                return false;
            break;
        case OP_IF_GOTO:
            at = popped != 0 ? (size_t)operand : at;
            break;
        case OP_GOTO:
            at = (size_t)operand;
            break;
        case OP_CONST8:
        case OP_CONST16:
        case OP_CONST32:
        case OP_CONST64:
            *top = operand;
            break;
        case OP_REG:
            if (!view->read_register(view->user, (uint32_t)operand, top))
                return false;
            break;
        case OP_END:
            *out_value = *top;
            return true;
        case OP_DUP:
            *top = popped;
            break;
        case OP_POP:
            break;
        case OP_SWAP:
            *top = top[-1];
            top[-1] = popped;
            break;
        case OP_PICK:
            if (operand > depth - 2)
                return false;
            *top = top[-1 - (int64_t)operand];
            break;
        case OP_ROT:
            *top = top[-1];
            top[-1] = top[-2];
            top[-2] = popped;
            break;
        default:
            return false;
        }
    }
    return false;
}
