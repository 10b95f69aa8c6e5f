/*
 * What ecall does: extended math, and printf.
 *
 * Math runs on the host's libm in its default environment, as the interpreter has left the hart's.
 *
 * The variable arguments of an RV64 function lie in 8-byte slots, one each, and float is promoted
 * to double; components of vectors have a slot each too. So the host formats printf conversion by
 * conversion from the slots, and never trusts a pointer or a length that the kernel gave.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <zeta/c_locale.h>

#include "engine_priv.h"
#include "plugins/vgpu/machine/rv64_fp.h"
#include "plugins/vgpu/runtime/vgpu_abi.h"

enum {
    LATENCY_MATH = 8,
    REGISTER_A0 = 10,
    REGISTER_A7 = 17,
    REGISTER_FA0 = 10,
    MAX_TEXT_BYTES = 16384,  /* of one printf; the rest is cut off */
    MAX_STRING_BYTES = 4096, /* of a %s */
    MAX_WIDTH = 1024,
    SPEC_BYTES = 32
};

/* The reciprocal of a root must be better than a double: its error counts log2 of the operand
 * times. */
static double root(double a, double n)
{
    double size = (double)powl(fabsl((long double)a), 1.0L / (long double)n);

    if (n == 0 || (a < 0 && fmod(n, 2) == 0))
        return NAN;
    return fmod(n, 2) == 0 ? size : copysign(size, a);
}

/* The sign of the gamma function, which lgamma would write to a variable of the process. */
static double gamma_logarithm(double a)
{
    int sign;

    return lgamma_r(a, &sign);
}

/* That of the host for double is off by more than 2 places. */
static double cube_root(double a)
{
    return (double)cbrtl(a);
}

/*
 * Angles from here on are reduced by the host's functions for long double: for the double that is
 * closest to a multiple of pi / 2, those for double are off by 8 places.
 */
#define LARGE_ANGLE 0x1p27

#define OF_ANGLE(name)                                                                             \
    static double name##_of_angle(double a)                                                        \
    {                                                                                              \
        return fabs(a) < LARGE_ANGLE ? name(a) : (double)name##l((long double)a);                  \
    }
OF_ANGLE(sin)
OF_ANGLE(cos)
OF_ANGLE(tan)

static double (*const functions_of_one[VGPU_MATH_COUNT])(double) = {
    [VGPU_MATH_EXP] = exp,
    [VGPU_MATH_EXP2] = exp2,
    [VGPU_MATH_EXPM1] = expm1,
    [VGPU_MATH_LOG] = log,
    [VGPU_MATH_LOG2] = log2,
    [VGPU_MATH_LOG10] = log10,
    [VGPU_MATH_LOG1P] = log1p,
    [VGPU_MATH_SIN] = sin_of_angle,
    [VGPU_MATH_COS] = cos_of_angle,
    [VGPU_MATH_TAN] = tan_of_angle,
    [VGPU_MATH_ASIN] = asin,
    [VGPU_MATH_ACOS] = acos,
    [VGPU_MATH_ATAN] = atan,
    [VGPU_MATH_SINH] = sinh,
    [VGPU_MATH_COSH] = cosh,
    [VGPU_MATH_TANH] = tanh,
    [VGPU_MATH_CBRT] = cube_root,
    [VGPU_MATH_FLOOR] = floor,
    [VGPU_MATH_CEIL] = ceil,
    [VGPU_MATH_ROUND] = round,
    [VGPU_MATH_TRUNC] = trunc,
    [VGPU_MATH_EXP10] = exp10,
    [VGPU_MATH_ASINH] = asinh,
    [VGPU_MATH_ACOSH] = acosh,
    [VGPU_MATH_ATANH] = atanh,
    [VGPU_MATH_ERF] = erf,
    [VGPU_MATH_ERFC] = erfc,
    [VGPU_MATH_TGAMMA] = tgamma,
    [VGPU_MATH_LGAMMA] = gamma_logarithm};

static double (*const functions_of_two[VGPU_MATH_COUNT])(double, double) = {
    [VGPU_MATH_ATAN2] = atan2,         [VGPU_MATH_POW] = pow,
    [VGPU_MATH_HYPOT] = hypot,         [VGPU_MATH_FMOD] = fmod,
    [VGPU_MATH_REMAINDER] = remainder, [VGPU_MATH_ROOTN] = root};

static double math64(uint64_t function, double a, double b)
{
    return functions_of_one[function] ? functions_of_one[function](a)
                                      : functions_of_two[function](a, b);
}

/*
 * Singles are computed as doubles and rounded once: never worse than the single function, and
 * one list serves both.
 */
static void extended_math(struct subslice *subslice, struct hart *hart, uint64_t number)
{
    uint64_t *f = hart->cpu->f + REGISTER_FA0;

    if (number >= VGPU_CALL_MATH64)
        f[0] = zeta_rv64_box_double(
            math64(number - VGPU_CALL_MATH64, zeta_rv64_double(f[0]), zeta_rv64_double(f[1])));
    else
        f[0] =
            zeta_rv64_box((float)math64(number - VGPU_CALL_MATH32, (double)zeta_rv64_single(&f[0]),
                                        (double)zeta_rv64_single(&f[1])));
    subslice->counters[ZETA_VGPU_INST_MATH]++;
    hart->cost += LATENCY_MATH;
    hart->epoch_cost += LATENCY_MATH;
}

struct printer {
    const struct zeta_rv64_memory *memory;
    uint64_t format;
    uint64_t slots;
    uint64_t bad_address;
    size_t used;
    char text[MAX_TEXT_BYTES];
};

/* One conversion, such as %-8.3lf or %v4hlf. */
struct conversion {
    char flags[8];
    int width;
    int precision;       /* -1: none */
    unsigned components; /* of a vector, 1 for others; 0: no vector has that many */
    char length;         /* 'H' for hh, 'h', 'l', or 0 for int, also of hl */
    char letter;
};

static bool read_memory(struct printer *printer, uint64_t address, void *out, size_t size)
{
    const void *host = zeta_rv64_memory_peek(printer->memory, address, size);

    if (host)
        memcpy(out, host, size);
    else
        printer->bad_address = address;
    return host != NULL;
}

static bool read_char(struct printer *printer, char *out)
{
    return read_memory(printer, printer->format++, out, sizeof(*out));
}

static bool read_slot(struct printer *printer, uint64_t *out)
{
    printer->slots += sizeof(*out);
    return read_memory(printer, printer->slots - sizeof(*out), out, sizeof(*out));
}

static void put(struct printer *printer, const char *text, size_t length)
{
    size_t room = sizeof(printer->text) - printer->used;

    if (length > room)
        length = room;
    memcpy(printer->text + printer->used, text, length);
    printer->used += length;
}

/* A number or an asterisk; @c is the first character and becomes the one behind. */
static bool read_number(struct printer *printer, char *c, int *out)
{
    uint64_t slot;

    *out = 0;
    if (*c == '*') {
        if (!read_slot(printer, &slot))
            return false;
        *out = (int32_t)slot < -MAX_WIDTH  ? -MAX_WIDTH
               : (int32_t)slot > MAX_WIDTH ? MAX_WIDTH
                                           : (int32_t)slot;
        return read_char(printer, c);
    }
    while (isdigit((unsigned char)*c)) {
        *out = *out * 10 + (*c - '0');
        if (*out > MAX_WIDTH)
            *out = MAX_WIDTH;
        if (!read_char(printer, c))
            return false;
    }
    return true;
}

/* What follows the percent sign. */
static bool read_conversion(struct printer *printer, struct conversion *out)
{
    size_t flags = 0;
    int count;
    char c;

    *out = (struct conversion){.precision = -1, .components = 1};
    if (!read_char(printer, &c))
        return false;
    while (c != '\0' && strchr("-+ #0", c)) {
        if (flags < 5 && !strchr(out->flags, c))
            out->flags[flags++] = c;
        if (!read_char(printer, &c))
            return false;
    }
    if (!read_number(printer, &c, &out->width))
        return false;
    if (c == '.' && (!read_char(printer, &c) || !read_number(printer, &c, &out->precision)))
        return false;
    if (c == 'v') {
        out->components = 0;
        if (!read_char(printer, &c) || (c != '*' && !read_number(printer, &c, &count)))
            return false;
        if (c != '*' && (count == 2 || count == 3 || count == 4 || count == 8 || count == 16))
            out->components = (unsigned)count;
    }
    while (c != '\0' && strchr("hlLqjzt", c)) {
        if (c == 'h')
            out->length = out->length == 'h' ? 'H' : 'h';
        else
            out->length = out->length == 'h' ? 0 : 'l';
        if (!read_char(printer, &c))
            return false;
    }
    out->letter = c;
    return true;
}

/* A format for the host's printf, with the given length. */
static void make_spec(const struct conversion *conversion, const char *length,
                      char spec[SPEC_BYTES])
{
    (void)snprintf(spec, SPEC_BYTES, "%%%s*%s%s%c", conversion->flags,
                   conversion->precision >= 0 ? ".*" : "", length, conversion->letter);
}

/* The formats below are made by make_spec from checked parts. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

#define FORMAT(printer, conversion, spec, value)                                                   \
    do {                                                                                           \
        char text_[2 * MAX_WIDTH + 512];                                                           \
        int length_ =                                                                              \
            (conversion)->precision >= 0                                                           \
                ? zeta_c_snprintf(text_, sizeof(text_), spec, (conversion)->width,                 \
                                  (conversion)->precision, value)                                  \
                : zeta_c_snprintf(text_, sizeof(text_), spec, (conversion)->width, value);         \
        if (length_ > 0)                                                                           \
            put(printer, text_,                                                                    \
                (size_t)length_ < sizeof(text_) ? (size_t)length_ : sizeof(text_) - 1);            \
    } while (0)

/* Prints a slot; false when a string cannot be read. */
static bool print_value(struct printer *printer, const struct conversion *conversion, uint64_t slot)
{
    const char letter = conversion->letter;
    const bool is_signed = letter == 'd' || letter == 'i';
    char spec[SPEC_BYTES];

    if (strchr("diuoxX", letter)) {
        if (conversion->length == 'H')
            slot = is_signed ? (uint64_t)(int64_t)(int8_t)slot : (uint8_t)slot;
        else if (conversion->length == 'h')
            slot = is_signed ? (uint64_t)(int64_t)(int16_t)slot : (uint16_t)slot;
        else if (conversion->length == 0)
            slot = is_signed ? (uint64_t)(int64_t)(int32_t)slot : (uint32_t)slot;
        make_spec(conversion, "ll", spec);
        if (is_signed)
            FORMAT(printer, conversion, spec, (long long)slot);
        else
            FORMAT(printer, conversion, spec, (unsigned long long)slot);
        return true;
    }
    make_spec(conversion, "", spec);
    if (letter == 's') {
        char text[MAX_STRING_BYTES + 1];
        const size_t limit =
            conversion->precision >= 0 ? (size_t)conversion->precision : MAX_STRING_BYTES;
        size_t length = 0;

        for (; length < limit; length++) {
            if (!read_memory(printer, slot + length, &text[length], 1))
                return false;
            if (text[length] == '\0')
                break;
        }
        text[length] = '\0';
        if (conversion->width != 0)
            FORMAT(printer, conversion, spec, text);
        else
            put(printer, text, length);
    } else if (letter == 'p') {
        FORMAT(printer, conversion, spec, (void *)(uintptr_t)slot);
    } else if (letter == 'c') {
        FORMAT(printer, conversion, spec, (int)(unsigned char)slot);
    } else {
        FORMAT(printer, conversion, spec, zeta_rv64_double(slot));
    }
    return true;
}

#pragma GCC diagnostic pop

/* Formats, and gives the text to the owner; false with the address that cannot be read. */
static bool print(struct subslice *subslice, uint64_t format, uint64_t slots, uint64_t *out_length,
                  uint64_t *out_address)
{
    struct zeta_vgpu_engine *engine = subslice->engine;
    const struct zeta_vgpu_callbacks *callbacks = &engine->config.callbacks;
    struct printer printer; /* its text is large, and not all of it is written */
    struct conversion conversion;
    uint64_t slot;
    char c;

    printer.memory = &subslice->memory;
    printer.format = format;
    printer.slots = slots;
    printer.used = 0;
    for (;;) {
        if (!read_char(&printer, &c))
            goto unreadable;
        if (c == '\0')
            break;
        if (c != '%') {
            put(&printer, &c, 1);
            continue;
        }
        if (!read_conversion(&printer, &conversion))
            goto unreadable;
        if (conversion.letter == '%') {
            put(&printer, "%", 1);
            continue;
        }
        if (conversion.letter == '\0' || conversion.components == 0 ||
            !strchr(conversion.components > 1 ? "diuoxXfFeEgGaA" : "diuoxXfFeEgGaAspc",
                    conversion.letter)) {
            /* Nothing that could be printed; %n among them, as kernels do not write that way. */
            put(&printer, "%?", 2);
            continue;
        }
        /* Components of a vector have a slot each and are printed with commas between them. */
        for (unsigned i = 0; i < conversion.components; i++) {
            if (i > 0)
                put(&printer, ",", 1);
            if (!read_slot(&printer, &slot) || !print_value(&printer, &conversion, slot))
                goto unreadable;
        }
    }
    *out_length = printer.used;
    if (callbacks->print) {
        pthread_mutex_lock(&engine->print_lock);
        callbacks->print(callbacks->user, printer.text, printer.used);
        pthread_mutex_unlock(&engine->print_lock);
    }
    return true;

unreadable:
    *out_address = printer.bad_address;
    return false;
}

bool zeta_vgpu_call(struct subslice *subslice, struct hart *hart)
{
    enum zeta_vgpu_fault_reason reason = ZETA_VGPU_FAULT_READ;
    uint64_t *x = hart->cpu->x, *a0 = &x[REGISTER_A0];
    const uint64_t number = x[REGISTER_A7];
    uint64_t address;

    if ((number >= VGPU_CALL_MATH32 && number - VGPU_CALL_MATH32 < VGPU_MATH_COUNT) ||
        (number >= VGPU_CALL_MATH64 && number - VGPU_CALL_MATH64 < VGPU_MATH_COUNT)) {
        extended_math(subslice, hart, number);
        return true;
    }
    switch (number) {
    case VGPU_CALL_BARRIER:
        zeta_vgpu_barrier(subslice, hart);
        return false;
    case VGPU_CALL_PRINTF:
        if (print(subslice, a0[0], a0[1], a0, &address))
            return true;
        break;
    case VGPU_CALL_ABORT:
        reason = ZETA_VGPU_FAULT_ABORT;
        address = a0[0];
        break;
    default:
        reason = ZETA_VGPU_FAULT_UNKNOWN_CALL;
        address = number;
        break;
    }
    zeta_vgpu_fault_raise(subslice, hart, reason, hart->cpu->pc - 4, address);
    return false;
}
