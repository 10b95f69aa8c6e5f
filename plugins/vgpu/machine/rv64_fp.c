#include "rv64_fp.h"

#include <fenv.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

/* What the host calls a rounding mode; ties away from zero are made from ties to even. */
static int host_rounding(unsigned rounding)
{
    switch (rounding) {
    case RV64_RTZ:
        return FE_TOWARDZERO;
    case RV64_RDN:
        return FE_DOWNWARD;
    case RV64_RUP:
        return FE_UPWARD;
    default:
        return FE_TONEAREST;
    }
}

float zeta_rv64_unboxed_single(void)
{
    return zeta_rv64_unbox(0);
}

void zeta_rv64_set_nan32(uint64_t *f)
{
    zeta_rv64_set_single_bits(f, RV64_NAN32);
}

static uint8_t flags_from_host(int raised)
{
    return (uint8_t)((raised & FE_INVALID ? RV64_NV : 0) | (raised & FE_DIVBYZERO ? RV64_DZ : 0) |
                     (raised & FE_OVERFLOW ? RV64_OF : 0) | (raised & FE_UNDERFLOW ? RV64_UF : 0) |
                     (raised & FE_INEXACT ? RV64_NX : 0));
}

#if defined(__SSE2__)

/*
 * The SSE control register directly: the portable functions also go through the x87 unit, which
 * would cost more than the rest of a slice's bookkeeping. Its flag and rounding bits have the
 * values of FE_*, the latter three bits higher.
 */
enum {
    MXCSR_DEFAULT = 0x1f80, /* all exceptions masked */
    MXCSR_FLAGS = 0x003f,
    MXCSR_DENORMAL = 0x0002 /* an operand was; means nothing to a hart */
};

static unsigned mxcsr_for(const struct zeta_rv64_hart *hart)
{
    return MXCSR_DEFAULT | (unsigned)host_rounding(hart->frm) << 3;
}

/* Host flags of what the hart has raised already. */
static unsigned known_flags(uint8_t fflags)
{
    return (fflags & RV64_NV ? FE_INVALID : 0u) | (fflags & RV64_DZ ? FE_DIVBYZERO : 0u) |
           (fflags & RV64_OF ? FE_OVERFLOW : 0u) | (fflags & RV64_UF ? FE_UNDERFLOW : 0u) |
           (fflags & RV64_NX ? FE_INEXACT : 0u) | MXCSR_DENORMAL;
}

/*
 * Writing the register waits for all computations under way, so flags that the hart before has
 * left stay up when they add nothing to this one's; most harts are soon inexact.
 */
struct zeta_rv64_fp_saved zeta_rv64_fp_enter(const struct zeta_rv64_hart *hart)
{
    struct zeta_rv64_fp_saved saved = {_mm_getcsr()};
    unsigned wanted = mxcsr_for(hart);

    if ((saved.host & ~known_flags(hart->fflags)) != wanted)
        _mm_setcsr(wanted);
    return saved;
}

void zeta_rv64_fp_leave(struct zeta_rv64_hart *hart, struct zeta_rv64_fp_saved saved)
{
    unsigned now = _mm_getcsr();

    hart->fflags |= flags_from_host((int)(now & MXCSR_FLAGS));
    if ((now ^ saved.host) & ~(unsigned)MXCSR_FLAGS)
        _mm_setcsr(saved.host);
}

void zeta_rv64_fp_sync(struct zeta_rv64_hart *hart)
{
    unsigned now = _mm_getcsr();

    if (!(now & MXCSR_FLAGS))
        return;
    hart->fflags |= flags_from_host((int)(now & MXCSR_FLAGS));
    _mm_setcsr(now & ~(unsigned)MXCSR_FLAGS);
}

static void set_rounding(const struct zeta_rv64_hart *hart)
{
    _mm_setcsr(mxcsr_for(hart));
}

#else

struct zeta_rv64_fp_saved zeta_rv64_fp_enter(const struct zeta_rv64_hart *hart)
{
    struct zeta_rv64_fp_saved saved = {(unsigned)fegetround()};

    (void)feclearexcept(FE_ALL_EXCEPT);
    (void)fesetround(host_rounding(hart->frm));
    return saved;
}

void zeta_rv64_fp_leave(struct zeta_rv64_hart *hart, struct zeta_rv64_fp_saved saved)
{
    zeta_rv64_fp_sync(hart);
    (void)fesetround((int)saved.host);
}

void zeta_rv64_fp_sync(struct zeta_rv64_hart *hart)
{
    hart->fflags |= flags_from_host(fetestexcept(FE_ALL_EXCEPT));
    (void)feclearexcept(FE_ALL_EXCEPT);
}

static void set_rounding(const struct zeta_rv64_hart *hart)
{
    (void)fesetround(host_rounding(hart->frm));
}

#endif

bool zeta_rv64_csr_read(struct zeta_rv64_hart *hart, uint32_t number, uint64_t *out_value)
{
    zeta_rv64_fp_sync(hart);
    switch (number) {
    case 1:
        *out_value = hart->fflags;
        return true;
    case 2:
        *out_value = hart->frm;
        return true;
    case 3:
        *out_value = (uint64_t)hart->frm << 5 | hart->fflags;
        return true;
    default:
        return false;
    }
}

void zeta_rv64_csr_write(struct zeta_rv64_hart *hart, uint32_t number, uint64_t value)
{
    zeta_rv64_fp_sync(hart);
    if (number != 2)
        hart->fflags = value & 31;
    if (number != 1)
        hart->frm = (number == 3 ? value >> 5 : value) & 7;
    set_rounding(hart);
}

/* Cuts off the fraction by bits: what compilers make of trunc() may raise the inexact flag. */
static double cut_fraction(double value)
{
    uint64_t bits;
    int exponent;

    memcpy(&bits, &value, sizeof(bits));
    exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    if (exponent >= 52)
        return value;
    if (exponent < 0)
        bits &= ~(uint64_t)INT64_MAX;
    else
        bits &= ~(UINT64_MAX >> (12 + exponent));
    return zeta_rv64_double(bits);
}

/* Moves a value without fraction by the rounding of what was cut off. */
static double round_adjust(double whole, double fraction, unsigned rounding)
{
    double away = fraction < 0 ? -1.0 : 1.0;
    double size = fabs(fraction);

    switch (rounding) {
    case RV64_RNE:
        if (size > 0.5 || (size == 0.5 && fmod(whole, 2.0) != 0.0))
            return whole + away;
        return whole;
    case RV64_RDN:
        return fraction < 0 ? whole - 1.0 : whole;
    case RV64_RUP:
        return fraction > 0 ? whole + 1.0 : whole;
    case RV64_RMM:
        return size >= 0.5 ? whole + away : whole;
    default:
        return whole;
    }
}

uint64_t zeta_rv64_fp_to_integer(struct zeta_rv64_hart *hart, double value,
                                 enum zeta_rv64_integer type, unsigned rounding)
{
    static const double lowest[] = {-0x1p31, 0.0, -0x1p63, 0.0};
    static const double beyond[] = {0x1p31, 0x1p32, 0x1p63, 0x1p64};
    static const uint64_t smallest[] = {(uint64_t)(int64_t)INT32_MIN, 0, (uint64_t)INT64_MIN, 0};
    static const uint64_t largest[] = {INT32_MAX, UINT64_MAX, INT64_MAX, UINT64_MAX};
    double whole, fraction;

    if (value != value || value >= 0x1p64 || value <= -0x1p64) {
        hart->fflags |= RV64_NV;
        return value < 0 ? smallest[type] : largest[type];
    }
    whole = cut_fraction(value);
    fraction = value - whole;
    whole = round_adjust(whole, fraction, rounding);
    if (whole < lowest[type] || whole >= beyond[type]) {
        hart->fflags |= RV64_NV;
        return whole < 0 ? smallest[type] : largest[type];
    }
    if (fraction != 0)
        hart->fflags |= RV64_NX;
    if (type == ZETA_RV64_UINT64)
        return (uint64_t)whole;
    if (type == ZETA_RV64_UINT32)
        return (uint64_t)(int64_t)(int32_t)(uint32_t)whole;
    return (uint64_t)(int64_t)whole;
}

void zeta_rv64_fp_check_product(struct zeta_rv64_hart *hart, double a, double b)
{
    if ((isinf(a) && b == 0.0) || (a == 0.0 && isinf(b)))
        hart->fflags |= RV64_NV;
}

/* An operation without its format; a conversion takes its first operand as it is. */
enum operation { ADD, SUBTRACT, MULTIPLY, DIVIDE, SQUARE_ROOT, MULTIPLY_ADD, CONVERT };

/* Operands wide enough for every format and for 64-bit integers. */
struct operands {
    enum operation operation;
    long double a, b, c;
};

/*
 * The same computation in three formats. Volatile keeps the compiler from moving it past the
 * changes of the rounding mode and from folding it.
 */
#define COMPUTE(name, type, square_root, multiply_add)                                             \
    static type name(const struct operands *in)                                                    \
    {                                                                                              \
        volatile type a = (type)in->a, b = (type)in->b, c = (type)in->c;                           \
        volatile type result;                                                                      \
                                                                                                   \
        switch (in->operation) {                                                                   \
        case ADD:                                                                                  \
            result = a + b;                                                                        \
            break;                                                                                 \
        case SUBTRACT:                                                                             \
            result = a - b;                                                                        \
            break;                                                                                 \
        case MULTIPLY:                                                                             \
            result = a * b;                                                                        \
            break;                                                                                 \
        case DIVIDE:                                                                               \
            result = a / b;                                                                        \
            break;                                                                                 \
        case SQUARE_ROOT:                                                                          \
            result = square_root(a);                                                               \
            break;                                                                                 \
        case MULTIPLY_ADD:                                                                         \
            result = multiply_add(a, b, c);                                                        \
            break;                                                                                 \
        default:                                                                                   \
            result = a;                                                                            \
            break;                                                                                 \
        }                                                                                          \
        return result;                                                                             \
    }

COMPUTE(compute32, float, sqrtf, fmaf)
COMPUTE(compute64, double, sqrt, fma)
COMPUTE(compute_wide, long double, sqrtl, fmal)

/*
 * True when @nearest, the result with ties to even, came from a tie and lies closer to zero than
 * @farther, its neighbour. A tie has one bit more than the format, so the wide result is exact
 * when there is one.
 */
static bool is_tie(const struct operands *in, long double nearest, long double farther)
{
    long double wide;

    (void)feclearexcept(FE_ALL_EXCEPT);
    wide = compute_wide(in);
    if (fetestexcept(FE_INEXACT) || !isfinite(wide) || !isfinite(nearest))
        return false;
    return fabsl(nearest) < fabsl(wide) && fabsl(wide - nearest) == fabsl(farther - wide);
}

/* Is the sign of the exact result negative? Only asked when the result rounded to zero. */
static bool tends_negative(const struct operands *in, long double nearest)
{
    return nearest == 0 ? compute_wide(in) < 0 : nearest < 0;
}

static uint64_t round32(struct zeta_rv64_hart *hart, const struct operands *in, unsigned rounding)
{
    float result = compute32(in);

    hart->fflags |= flags_from_host(fetestexcept(FE_ALL_EXCEPT));
    if (rounding == RV64_RMM && isfinite(result)) {
        float farther = nextafterf(result, tends_negative(in, result) ? -HUGE_VALF : HUGE_VALF);

        if (is_tie(in, result, farther))
            result = farther;
    }
    return zeta_rv64_box(result);
}

static uint64_t round64(struct zeta_rv64_hart *hart, const struct operands *in, unsigned rounding)
{
    double result = compute64(in);

    hart->fflags |= flags_from_host(fetestexcept(FE_ALL_EXCEPT));
    if (rounding == RV64_RMM && isfinite(result)) {
        double farther = nextafter(result, tends_negative(in, result) ? -HUGE_VAL : HUGE_VAL);

        if (is_tie(in, result, farther))
            result = farther;
    }
    return zeta_rv64_box_double(result);
}

/* Operands of the four fused operations from a * b + c. */
static void set_signs(struct operands *in, bool negate_product, bool negate_sum)
{
    in->operation = MULTIPLY_ADD;
    if (negate_product)
        in->a = -in->a;
    if (negate_sum)
        in->c = -in->c;
}

/* A NaN that is used raises NV here; the widening of signalling ones must not hide it. */
static long double operand32(struct zeta_rv64_hart *hart, uint64_t value)
{
    if (zeta_rv64_is_signalling32(zeta_rv64_unbox_bits(value)))
        hart->fflags |= RV64_NV;
    return (long double)zeta_rv64_unbox(value);
}

static long double operand64(struct zeta_rv64_hart *hart, uint64_t value)
{
    if (zeta_rv64_is_signalling64(value))
        hart->fflags |= RV64_NV;
    return (long double)zeta_rv64_double(value);
}

/* Conversions between formats and from integers; false when @op is none. */
static bool convert(struct zeta_rv64_hart *hart, enum rv64_op op, const struct zeta_rv64_insn *insn,
                    struct operands *in)
{
    uint64_t x = hart->x[insn->rs1];
    uint64_t f = hart->f[insn->rs1];

    in->operation = CONVERT;
    switch (op) {
    case RV64_OP_FCVT_S_W:
    case RV64_OP_FCVT_D_W:
        in->a = (long double)(int32_t)x;
        return true;
    case RV64_OP_FCVT_S_WU:
    case RV64_OP_FCVT_D_WU:
        in->a = (long double)(uint32_t)x;
        return true;
    case RV64_OP_FCVT_S_L:
    case RV64_OP_FCVT_D_L:
        in->a = (long double)(int64_t)x;
        return true;
    case RV64_OP_FCVT_S_LU:
    case RV64_OP_FCVT_D_LU:
        in->a = (long double)x;
        return true;
    case RV64_OP_FCVT_S_D:
        in->a = operand64(hart, f);
        return true;
    case RV64_OP_FCVT_D_S:
        in->a = operand32(hart, f);
        return true;
    default:
        return false;
    }
}

/* Arithmetic; @op is that of the single format. */
static void arithmetic(enum rv64_op op, struct operands *in)
{
    switch (op) {
    case RV64_OP_FADD_S:
        in->operation = ADD;
        break;
    case RV64_OP_FSUB_S:
        in->operation = SUBTRACT;
        break;
    case RV64_OP_FMUL_S:
        in->operation = MULTIPLY;
        break;
    case RV64_OP_FDIV_S:
        in->operation = DIVIDE;
        break;
    case RV64_OP_FSQRT_S:
        in->operation = SQUARE_ROOT;
        break;
    case RV64_OP_FMADD_S:
        set_signs(in, false, false);
        break;
    case RV64_OP_FMSUB_S:
        set_signs(in, false, true);
        break;
    case RV64_OP_FNMSUB_S:
        set_signs(in, true, false);
        break;
    default: /* FNMADD_S */
        set_signs(in, true, true);
        break;
    }
}

static bool to_integer(struct zeta_rv64_hart *hart, enum rv64_op op,
                       const struct zeta_rv64_insn *insn, unsigned rounding)
{
    uint64_t f = hart->f[insn->rs1];
    bool single = op >= RV64_OP_FCVT_W_S && op <= RV64_OP_FCVT_LU_S;
    enum rv64_op first = single ? RV64_OP_FCVT_W_S : RV64_OP_FCVT_W_D;

    if (!single && !(op >= RV64_OP_FCVT_W_D && op <= RV64_OP_FCVT_LU_D))
        return false;
    hart->x[insn->rd] =
        zeta_rv64_fp_to_integer(hart, single ? (double)zeta_rv64_unbox(f) : zeta_rv64_double(f),
                                (enum zeta_rv64_integer)(op - first), rounding);
    return true;
}

/* The computation proper, in the host's rounding mode. */
static uint64_t execute(struct zeta_rv64_hart *hart, enum rv64_op op,
                        const struct zeta_rv64_insn *insn, unsigned rounding)
{
    bool wide = op >= RV64_OP_FMADD_D;
    struct operands in = {.operation = CONVERT};

    if (!convert(hart, op, insn, &in)) {
        long double (*operand)(struct zeta_rv64_hart *, uint64_t) = wide ? operand64 : operand32;
        bool fused;

        if (wide)
            op = (enum rv64_op)(op - RV64_OP_FMADD_D + RV64_OP_FMADD_S);
        fused = op <= RV64_OP_FNMADD_S;
        in.a = operand(hart, hart->f[insn->rs1]);
        if (op != RV64_OP_FSQRT_S)
            in.b = operand(hart, hart->f[insn->rs2]);
        if (fused)
            in.c = operand(hart, hart->f[insn->imm & 31]);
        if (fused)
            zeta_rv64_fp_check_product(hart, (double)in.a, (double)in.b);
        arithmetic(op, &in);
    }
    /* Operands are exact in every format, so only the computation itself may raise flags. */
    (void)feclearexcept(FE_ALL_EXCEPT);
    return wide ? round64(hart, &in, rounding) : round32(hart, &in, rounding);
}

bool zeta_rv64_fp_rounded(struct zeta_rv64_hart *hart, enum rv64_op op,
                          const struct zeta_rv64_insn *insn, unsigned rounding)
{
    if (rounding == RV64_DYN)
        rounding = hart->frm;
    if (rounding > RV64_RMM)
        return false;
    zeta_rv64_fp_sync(hart);
    if (!to_integer(hart, op, insn, rounding)) {
        (void)fesetround(host_rounding(rounding));
        hart->f[insn->rd] = execute(hart, op, insn, rounding);
        (void)fesetround(host_rounding(hart->frm));
    }
    (void)feclearexcept(FE_ALL_EXCEPT);
    return true;
}
