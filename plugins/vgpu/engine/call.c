/*
 * What ecall does. Extended math runs on the host's libm in its default environment, as the
 * interpreter has left the hart's.
 */
#include <math.h>

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

static double math64(enum vgpu_math function, double a, double b)
{
    switch (function) {
    case VGPU_MATH_EXP:
        return exp(a);
    case VGPU_MATH_EXP2:
        return exp2(a);
    case VGPU_MATH_EXPM1:
        return expm1(a);
    case VGPU_MATH_LOG:
        return log(a);
    case VGPU_MATH_LOG2:
        return log2(a);
    case VGPU_MATH_LOG10:
        return log10(a);
    case VGPU_MATH_LOG1P:
        return log1p(a);
    case VGPU_MATH_SIN:
        return sin(a);
    case VGPU_MATH_COS:
        return cos(a);
    case VGPU_MATH_TAN:
        return tan(a);
    case VGPU_MATH_ASIN:
        return asin(a);
    case VGPU_MATH_ACOS:
        return acos(a);
    case VGPU_MATH_ATAN:
        return atan(a);
    case VGPU_MATH_ATAN2:
        return atan2(a, b);
    case VGPU_MATH_SINH:
        return sinh(a);
    case VGPU_MATH_COSH:
        return cosh(a);
    case VGPU_MATH_TANH:
        return tanh(a);
    case VGPU_MATH_POW:
        return pow(a, b);
    case VGPU_MATH_CBRT:
        return (double)cbrtl(a); /* that of the host for double is off by more than 2 places */
    case VGPU_MATH_HYPOT:
        return hypot(a, b);
    case VGPU_MATH_FMOD:
        return fmod(a, b);
    case VGPU_MATH_FLOOR:
        return floor(a);
    case VGPU_MATH_CEIL:
        return ceil(a);
    case VGPU_MATH_ROUND:
        return round(a);
    case VGPU_MATH_TRUNC:
        return trunc(a);
    case VGPU_MATH_EXP10:
        return exp10(a);
    case VGPU_MATH_ASINH:
        return asinh(a);
    case VGPU_MATH_ACOSH:
        return acosh(a);
    case VGPU_MATH_ATANH:
        return atanh(a);
    case VGPU_MATH_ERF:
        return erf(a);
    case VGPU_MATH_ERFC:
        return erfc(a);
    case VGPU_MATH_TGAMMA:
        return tgamma(a);
    case VGPU_MATH_LGAMMA:
        return gamma_logarithm(a);
    case VGPU_MATH_REMAINDER:
        return remainder(a, b);
    default:
        return root(a, b);
    }
}

/*
 * Singles are computed as doubles and rounded once: never worse than the single function, and
 * one list serves both.
 */
static void extended_math(struct subslice *subslice, struct hart *hart, uint64_t number)
{
    uint64_t *f = hart->cpu->f + REGISTER_FA0;

    if (number >= VGPU_CALL_MATH64)
        f[0] = zeta_rv64_box_double(math64((enum vgpu_math)(number - VGPU_CALL_MATH64),
                                           zeta_rv64_double(f[0]), zeta_rv64_double(f[1])));
    else
        f[0] = zeta_rv64_box((float)math64((enum vgpu_math)(number - VGPU_CALL_MATH32),
                                           (double)zeta_rv64_single(&f[0]),
                                           (double)zeta_rv64_single(&f[1])));
    subslice->counters[ZETA_VGPU_INST_MATH]++;
    hart->cost += LATENCY_MATH;
    hart->epoch_cost += LATENCY_MATH;
}

enum call_result zeta_vgpu_call(struct subslice *subslice, struct hart *hart,
                                enum zeta_vgpu_fault_reason *out_reason)
{
    uint64_t *x = hart->cpu->x;
    uint64_t number = x[REGISTER_A7];
    uint64_t address;

    if ((number >= VGPU_CALL_MATH32 && number - VGPU_CALL_MATH32 < VGPU_MATH_COUNT) ||
        (number >= VGPU_CALL_MATH64 && number - VGPU_CALL_MATH64 < VGPU_MATH_COUNT)) {
        extended_math(subslice, hart, number);
        return CALL_CONTINUE;
    }
    switch (number) {
    case VGPU_CALL_BARRIER:
        subslice->counters[ZETA_VGPU_BARRIER_MESSAGES]++;
        return CALL_BARRIER;
    case VGPU_CALL_PRINTF:
        if (zeta_vgpu_print(subslice, x[REGISTER_A0], x[REGISTER_A0 + 1], &x[REGISTER_A0],
                            &address))
            return CALL_CONTINUE;
        x[REGISTER_A0] = address;
        *out_reason = ZETA_VGPU_FAULT_READ;
        return CALL_FAULT;
    case VGPU_CALL_ABORT:
        *out_reason = ZETA_VGPU_FAULT_ABORT;
        return CALL_FAULT;
    default:
        x[REGISTER_A0] = number;
        *out_reason = ZETA_VGPU_FAULT_UNKNOWN_CALL;
        return CALL_FAULT;
    }
}
