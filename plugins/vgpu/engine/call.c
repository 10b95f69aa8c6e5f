/*
 * What ecall does: extended math, and printf.
 *
 * Math runs on the host's libm in its default environment, as the interpreter has left the hart's.
 *
 * The variable arguments of an RV64 function lie in 8-byte slots, one each, and float is promoted
 * to double: as zeta/kernel_print.h has them.
 */
#include <math.h>
#include <string.h>

#include <zeta/kernel_print.h>

#include "engine_priv.h"
#include "plugins/vgpu/machine/rv64_fp.h"
#include "plugins/vgpu/runtime/vgpu_abi.h"

enum { LATENCY_MATH = 8, REGISTER_A0 = 10, REGISTER_A7 = 17, REGISTER_FA0 = 10 };

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

/* A rest of zero has the sign of the dividend, which that of the host loses for denormal divisors.
 */
static double rest_of(double a, double b)
{
    const double rest = remainder(a, b);

    return rest == 0 ? copysign(0, a) : rest;
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
    [VGPU_MATH_ATAN2] = atan2, [VGPU_MATH_POW] = pow,           [VGPU_MATH_HYPOT] = hypot,
    [VGPU_MATH_FMOD] = fmod,   [VGPU_MATH_REMAINDER] = rest_of, [VGPU_MATH_ROOTN] = root};

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

static bool read_memory(const void *user, uint64_t address, void *out, size_t size_bytes)
{
    const void *host = zeta_rv64_memory_peek(user, address, size_bytes);

    if (host)
        memcpy(out, host, size_bytes);
    return host != NULL;
}

/* Formats, and gives the text to the owner; false with the address that cannot be read. */
static bool print(struct subslice *subslice, uint64_t format, uint64_t slots, uint64_t slot_count,
                  uint64_t *out_length, uint64_t *out_address)
{
    struct zeta_vgpu_engine *engine = subslice->engine;
    const struct zeta_vgpu_callbacks *callbacks = &engine->config.callbacks;
    const struct zeta_print_source source = {.read = read_memory,
                                             .user = &subslice->memory,
                                             .format = format,
                                             .slots = slots,
                                             .slot_count = slot_count};
    struct zeta_print_text text;

    if (!zeta_print_format(&source, &text, out_address))
        return false;
    *out_length = text.size_bytes;
    if (callbacks->print) {
        pthread_mutex_lock(&engine->print_lock);
        callbacks->print(callbacks->user, text.bytes, text.size_bytes);
        pthread_mutex_unlock(&engine->print_lock);
    }
    return true;
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
    case VGPU_CALL_PRINTF_SLOTS:
        if (print(subslice, a0[0], a0[1], number == VGPU_CALL_PRINTF ? UINT64_MAX : a0[2], a0,
                  &address))
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
