#include "tests/oa/oa_rpn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STACK 64u

enum oa_op {
    OP_NUMBER,
    OP_READ,
    OP_COUNTER,
    OP_UADD,
    OP_USUB,
    OP_UMUL,
    OP_UDIV,
    OP_UMIN,
    OP_UMAX,
    OP_FADD,
    OP_FSUB,
    OP_FMUL,
    OP_FDIV,
    OP_FMIN,
    OP_FMAX,
    OP_FGT,
    OP_FGTE,
    OP_FLT,
    OP_FLTE,
    OP_AND,
    OP_OR,
    OP_XOR,
    OP_XNOR,
    OP_SHIFT_LEFT,
    OP_SHIFT_RIGHT,
    OP_UGT,
    OP_UGTE,
    OP_ULT,
    OP_ULTE,
    OP_BOTH,
    OP_EQUAL,
    OPS
};

struct oa_step {
    enum oa_op op;
    uint64_t number;          /**< OP_NUMBER; OP_COUNTER and OP_READ: the index */
    enum oa_bank bank;        /**< OP_READ */
    const struct oa_run *run; /**< OP_READ: where the counter is */
};

static const char *const operators[OPS] = {
    [OP_UADD] = "UADD", [OP_USUB] = "USUB",      [OP_UMUL] = "UMUL", [OP_UDIV] = "UDIV",
    [OP_UMIN] = "UMIN", [OP_FADD] = "FADD",      [OP_FSUB] = "FSUB", [OP_FMUL] = "FMUL",
    [OP_FDIV] = "FDIV", [OP_FMAX] = "FMAX",      [OP_AND] = "AND",   [OP_SHIFT_LEFT] = "<<",
    [OP_UGT] = "UGT",   [OP_SHIFT_RIGHT] = ">>", [OP_UGTE] = "UGTE", [OP_ULT] = "ULT",
    [OP_UMAX] = "UMAX", [OP_FMIN] = "FMIN",      [OP_FGT] = "FGT",   [OP_FGTE] = "FGTE",
    [OP_FLT] = "FLT",   [OP_FLTE] = "FLTE",      [OP_OR] = "OR",     [OP_XOR] = "XOR",
    [OP_XNOR] = "XNOR", [OP_EQUAL] = "==",       [OP_ULTE] = "ULTE", [OP_BOTH] = "&&",
};

static const char *const banks[OA_BANKS] = {
    [OA_GPU_TIME] = "GPU_TIME",
    [OA_GPU_CLOCK] = "GPU_CLOCK",
    [OA_A] = "A",
    [OA_B] = "B",
    [OA_C] = "C",
    [OA_PEC] = "PEC",
    [OA_PERFCNT] = "PERFCNT",
};

static void die(const char *text, const char *token)
{
    (void)fprintf(stderr, "equation '%s': '%s'\n", text, token);
    abort();
}

uint64_t oa_as_integer(struct oa_number number)
{
    if (!number.is_float)
        return number.u;
    if (!(number.f > 0))
        return 0;
    return number.f >= 0x1p64 ? UINT64_MAX : (uint64_t)number.f;
}

double oa_as_double(struct oa_number number)
{
    return number.is_float ? number.f : (double)number.u;
}

static int find(const char *const *words, int count, const char *token)
{
    for (int i = 0; i < count; i++) {
        if (words[i] && strcmp(words[i], token) == 0)
            return i;
    }
    return -1;
}

/** Reading a bank: the two steps before are its number and the index. */
static void make_read(struct oa_equation *equation, const char *text,
                      const struct oa_format *format)
{
    struct oa_step *step = &equation->steps[equation->step_count - 2];
    enum oa_bank bank;
    uint64_t index;

    if (equation->step_count < 2 || step[0].op != OP_NUMBER || step[1].op != OP_NUMBER || !format)
        die(text, "READ");
    bank = (enum oa_bank)step[0].number;
    index = step[1].number;
    equation->step_count--;
    if (bank == OA_PERFCNT) {
        equation->reads_perfcnt = true;
        *step = (struct oa_step){.op = OP_NUMBER};
        return;
    }
    step->op = OP_READ;
    step->bank = bank;
    step->number = index;
    step->run = oa_format_run(format, bank, (uint32_t)index);
    if (!step->run)
        die(text, banks[bank]);
}

static struct oa_step make_symbol(struct oa_equation *equation, const char *name,
                                  const struct oa_set *set, uint32_t before, oa_symbol_fn symbol,
                                  const void *device)
{
    int counter = oa_set_find(set, before, name);

    if (counter < 0)
        return (struct oa_step){.op = OP_NUMBER, .number = symbol(device, name)};
    if (counter >= 128)
        die(name, "too many counters");
    if (counter < 64)
        equation->references |= UINT64_C(1) << counter;
    else
        equation->references_high |= UINT64_C(1) << (counter - 64);
    return (struct oa_step){.op = OP_COUNTER, .number = (uint64_t)counter};
}

static struct oa_step make_number(const char *text, const char *token)
{
    char *end;
    struct oa_step step = {.op = OP_NUMBER};

    if (strcmp(token, "true") == 0) {
        step.number = 1;
        return step;
    }
    /* Base 0 would take a leading zero for octal. */
    step.number = strtoull(token, &end, strncmp(token, "0x", 2) == 0 ? 16 : 10);
    if (*end || end == token)
        die(text, token);
    return step;
}

struct oa_equation oa_equation_make(const char *text, const struct oa_set *set, uint32_t before,
                                    const struct oa_format *format, oa_symbol_fn symbol,
                                    const void *device)
{
    struct oa_equation equation = {.steps = calloc(strlen(text) + 1, sizeof(struct oa_step))};
    char *copy = strdup(text);
    char *rest = copy;

    if (!equation.steps || !copy)
        die(text, "out of memory");
    for (char *token = strtok_r(copy, " ", &rest); token; token = strtok_r(NULL, " ", &rest)) {
        struct oa_step *step = &equation.steps[equation.step_count];
        int word = find(banks, OA_BANKS, token);

        if (strcmp(token, "READ") == 0) {
            make_read(&equation, text, format);
            continue;
        }
        equation.step_count++;
        if (word >= 0)
            *step = (struct oa_step){.op = OP_NUMBER, .number = (uint64_t)word};
        else if (token[0] == '$')
            *step = make_symbol(&equation, token + 1, set, before, symbol, device);
        else if ((word = find(operators, OPS, token)) >= 0)
            *step = (struct oa_step){.op = (enum oa_op)word};
        else
            *step = make_number(text, token);
    }
    free(copy);
    return equation;
}

void oa_equation_free(struct oa_equation *equation)
{
    free(equation->steps);
    *equation = (struct oa_equation){0};
}

static struct oa_number integer(uint64_t value)
{
    return (struct oa_number){.u = value};
}

static struct oa_number floating(double value)
{
    return (struct oa_number){.is_float = true, .f = value};
}

static struct oa_number on_doubles(enum oa_op op, double a, double b)
{
    switch (op) {
    case OP_FADD:
        return floating(a + b);
    case OP_FSUB:
        return floating(a - b);
    case OP_FMUL:
        return floating(a * b);
    case OP_FDIV:
        return floating(b == 0 ? 0 : a / b);
    case OP_FMIN:
        return floating(a < b ? a : b);
    case OP_FGT:
        return integer(a > b);
    case OP_FGTE:
        return integer(a >= b);
    case OP_FLT:
        return integer(a < b);
    case OP_FLTE:
        return integer(a <= b);
    default:
        return floating(a > b ? a : b);
    }
}

static struct oa_number on_integers(enum oa_op op, uint64_t a, uint64_t b)
{
    switch (op) {
    case OP_UADD:
        return integer(a + b);
    case OP_USUB:
        return integer(a - b);
    case OP_UMUL:
        return integer(a * b);
    case OP_UDIV:
        return integer(b == 0 ? 0 : a / b);
    case OP_UMIN:
        return integer(a < b ? a : b);
    case OP_UMAX:
        return integer(a > b ? a : b);
    case OP_AND:
        return integer(a & b);
    case OP_OR:
        return integer(a | b);
    case OP_XOR:
        return integer(a ^ b);
    case OP_XNOR:
        return integer(~(a ^ b));
    case OP_SHIFT_LEFT:
        return integer(b > 63 ? 0 : a << b);
    case OP_SHIFT_RIGHT:
        return integer(b > 63 ? 0 : a >> b);
    case OP_UGT:
        return integer(a > b);
    case OP_UGTE:
        return integer(a >= b);
    case OP_ULT:
        return integer(a < b);
    default:
        return integer(a <= b);
    }
}

static bool is_zero(struct oa_number number)
{
    return number.is_float ? number.f == 0 : number.u == 0;
}

static struct oa_number apply(enum oa_op op, struct oa_number a, struct oa_number b)
{
    if (op >= OP_FADD && op <= OP_FLTE)
        return on_doubles(op, oa_as_double(a), oa_as_double(b));
    if (op == OP_BOTH)
        return integer(!is_zero(a) && !is_zero(b));
    if (op == OP_EQUAL)
        return integer(a.is_float || b.is_float ? oa_as_double(a) == oa_as_double(b) : a.u == b.u);
    return on_integers(op, oa_as_integer(a), oa_as_integer(b));
}

static uint64_t read_counter(const struct oa_step *step, const struct oa_row *row)
{
    if (row->differences)
        return row->differences[step->bank][step->number];
    return oa_report_delta(step->run, (uint32_t)step->number - step->run->first, row->earlier,
                           row->later);
}

struct oa_number oa_equation_value(const struct oa_equation *equation, const struct oa_row *row,
                                   const struct oa_number *counters)
{
    struct oa_number stack[STACK];
    uint32_t depth = 0;

    for (uint32_t i = 0; i < equation->step_count; i++) {
        const struct oa_step *step = &equation->steps[i];

        if (step->op <= OP_COUNTER) {
            if (depth == STACK)
                die("any", "stack overflow");
            stack[depth++] = step->op == OP_NUMBER    ? integer(step->number)
                             : step->op == OP_COUNTER ? counters[step->number]
                                                      : integer(read_counter(step, row));
            continue;
        }
        if (depth < 2)
            die(operators[step->op], "stack underflow");
        depth--;
        stack[depth - 1] = apply(step->op, stack[depth - 1], stack[depth]);
    }
    if (depth != 1)
        die("any", "not one number at the end");
    return stack[0];
}
