#include "tests/oa/oa_c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define STACK 64u
#define TOKEN_BYTES 80u

struct entry {
    struct oa_number number;
    enum oa_bank bank; /**< OA_BANKS: it is a number */
};

struct machine {
    const struct oa_c_input *input;
    struct entry stack[STACK];
    uint32_t depth;
};

static struct oa_number integer(uint64_t value)
{
    return (struct oa_number){.u = value};
}

static struct oa_number floating(double value)
{
    return (struct oa_number){.is_float = true, .f = value};
}

static double as_double(struct oa_number number)
{
    return number.is_float ? number.f : (double)number.u;
}

/** Conversion of a double as processors of this architecture do it, also of what does not fit. */
static uint64_t cut(double value)
{
    if (value >= 18446744073709551616.0)
        return 0;
    return value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
}

static uint64_t as_integer(struct oa_number number)
{
    return number.is_float ? cut(number.f) : number.u;
}

static struct oa_number combine(char operation, struct oa_number a, struct oa_number b)
{
    if (a.is_float || b.is_float) {
        const double x = as_double(a), y = as_double(b);

        return floating(operation == '+' ? x + y : operation == '-' ? x - y : x * y);
    }
    return integer(operation == '+' ? a.u + b.u : operation == '-' ? a.u - b.u : a.u * b.u);
}

static struct oa_number divide(bool as_integers, struct oa_number a, struct oa_number b)
{
    if (as_double(b) == 0)
        return as_integers ? integer(0) : floating(0);
    if (as_integers && !a.is_float && !b.is_float)
        return integer(a.u / b.u);
    return floating(as_double(a) / as_double(b));
}

/** A difference of two reports. */
static struct oa_number read_counter(const struct oa_c_input *input, enum oa_bank bank,
                                     uint32_t index)
{
    const struct oa_run *run = oa_format_run(input->format, bank, index);
    uint64_t delta;

    if (!run) /* registers beside the reports */
        return integer(0);
    delta = oa_report_delta(run, index - run->first, input->earlier, input->later);
    return integer(bank == OA_GPU_TIME ? delta / input->time_divisor : delta);
}

/** Two numbers are replaced by one. False: the token is no operator. */
static bool apply(struct machine *machine, const char *token)
{
    static const char *const names[] = {"ADD", "SUB", "MUL", "DIV", "MIN", "MAX"};
    struct oa_number a, b, result;
    size_t i = 0;

    while (i < 6 && !(strchr("UF", token[0]) && strcmp(token + 1, names[i]) == 0))
        i++;
    if (machine->depth < 2 || (i == 6 && strcmp(token, "AND") != 0 && strcmp(token, "<<") != 0 &&
                               strcmp(token, ">>") != 0))
        return false;
    b = machine->stack[machine->depth - 1].number;
    a = machine->stack[machine->depth - 2].number;
    if (i < 3)
        result = combine("+-*"[i], a, b);
    else if (i == 3)
        result = divide(token[0] == 'U', a, b);
    else if (i < 6)
        result = (as_double(a) < as_double(b)) == (i == 4) ? a : b;
    else if (strcmp(token, "AND") == 0)
        result = integer(as_integer(a) & as_integer(b));
    else
        result = integer(token[0] == '<' ? as_integer(a) << (as_integer(b) & 63)
                                         : as_integer(a) >> (as_integer(b) & 63));
    if (i < 6)
        result = token[0] == 'F' ? floating(as_double(result)) : integer(as_integer(result));
    machine->depth--;
    machine->stack[machine->depth - 1].number = result;
    return true;
}

static struct entry operand(const struct oa_c_input *input, const char *token)
{
    static const struct {
        const char *name;
        enum oa_bank bank;
    } banks[] = {{"GPU_TIME", OA_GPU_TIME},
                 {"GPU_CLOCK", OA_GPU_CLOCK},
                 {"A", OA_A},
                 {"B", OA_B},
                 {"C", OA_C},
                 {"PERFCNT", OA_PERFCNT}};
    struct entry entry = {.bank = OA_BANKS};

    for (size_t i = 0; i < sizeof(banks) / sizeof(banks[0]); i++) {
        if (strcmp(token, banks[i].name) == 0)
            entry.bank = banks[i].bank;
    }
    if (token[0] == '$') {
        const int other = oa_set_find(input->set, input->set->counter_count, token + 1);

        entry.number = other >= 0 ? oa_c_value(input, (uint32_t)other)
                                  : integer(input->symbol(input->device, token + 1));
    } else if (entry.bank == OA_BANKS) {
        entry.number = integer(strtoull(token, NULL, 0));
    }
    return entry;
}

struct oa_number oa_c_value(const struct oa_c_input *input, uint32_t counter)
{
    const struct oa_counter *which = &input->set->counters[counter];
    const char *at = which->equation;
    struct machine machine = {.input = input};
    struct oa_number value;

    while (*(at += strspn(at, " "))) {
        const size_t length = strcspn(at, " ");
        char token[TOKEN_BYTES] = "";

        memcpy(token, at, length < sizeof(token) ? length : sizeof(token) - 1);
        at += length;
        if (strcmp(token, "READ") == 0 && machine.depth >= 2) {
            const struct entry *entry = &machine.stack[--machine.depth];

            machine.stack[machine.depth - 1].number =
                read_counter(input, entry[-1].bank, (uint32_t)entry->number.u);
        } else if (!apply(&machine, token) && machine.depth < STACK) {
            machine.stack[machine.depth++] = operand(input, token);
        }
    }
    value = machine.stack[0].number;
    return which->is_float ? floating(as_double(value)) : integer(as_integer(value));
}
