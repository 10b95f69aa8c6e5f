#include "rv64_fp.h"

#include <fenv.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

/* What the host calls a rounding mode; ties away from zero are made from ties to even. */
static int host_rounding(unsigned rounding)
{
    return rounding == RV64_RTZ   ? FE_TOWARDZERO
           : rounding == RV64_RDN ? FE_DOWNWARD
           : rounding == RV64_RUP ? FE_UPWARD
                                  : FE_TONEAREST;
}

float zeta_rv64_unboxed_single(void)
{
    return zeta_rv64_single(&(const uint64_t){RV64_BOX | RV64_NAN32});
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

bool zeta_rv64_fp_csr(struct zeta_rv64_hart *hart, const struct zeta_rv64_insn *insn)
{
    const uint32_t number = (uint32_t)insn->imm; /* fflags, frm, and fcsr with both */
    const uint64_t operand = insn->op >= RV64_OP_CSRRWI ? insn->rs1 : hart->x[insn->rs1];
    const bool replaces = insn->op == RV64_OP_CSRRW || insn->op == RV64_OP_CSRRWI;
    const bool sets = insn->op == RV64_OP_CSRRS || insn->op == RV64_OP_CSRRSI;
    uint64_t old, value;

    if (number < 1 || number > 3)
        return false;
    zeta_rv64_fp_sync(hart);
    old = number == 1   ? hart->fflags
          : number == 2 ? hart->frm
                        : (uint64_t)hart->frm << 5 | hart->fflags;
    hart->x[insn->rd] = old;
    if (!replaces && insn->rs1 == 0)
        return true;
    value = replaces ? operand : sets ? old | operand : old & ~operand;
    if (number != 2)
        hart->fflags = value & 31;
    if (number != 1)
        hart->frm = (number == 3 ? value >> 5 : value) & 7;
    set_rounding(hart);
    return true;
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
    const double away = fraction < 0 ? -1.0 : 1.0, size = fabs(fraction);
    const bool moves = rounding == RV64_RNE ? size > 0.5 || (size == 0.5 && fmod(whole, 2.0) != 0.0)
                       : rounding == RV64_RDN ? fraction < 0
                       : rounding == RV64_RUP ? fraction > 0
                                              : rounding == RV64_RMM && size >= 0.5;

    return moves ? whole + away : whole;
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

/* An operation, as that of the single format, on operands wide enough for every format. */
struct operands {
    enum rv64_op op; /* all conversions, which take the first operand as it is, are FCVT_S_D */
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
        volatile type result = a;                                                                  \
                                                                                                   \
        switch (in->op) {                                                                          \
        case RV64_OP_FADD_S:                                                                       \
            result = a + b;                                                                        \
            break;                                                                                 \
        case RV64_OP_FSUB_S:                                                                       \
            result = a - b;                                                                        \
            break;                                                                                 \
        case RV64_OP_FMUL_S:                                                                       \
            result = a * b;                                                                        \
            break;                                                                                 \
        case RV64_OP_FDIV_S:                                                                       \
            result = a / b;                                                                        \
            break;                                                                                 \
        case RV64_OP_FSQRT_S:                                                                      \
            result = square_root(a);                                                               \
            break;                                                                                 \
        case RV64_OP_FCVT_S_D:                                                                     \
            break;                                                                                 \
        default: /* the four fused operations */                                                   \
            result = multiply_add(a, b, c);                                                        \
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

/*
 * The value of the register. The sign of the exact result shows which neighbour is farther from
 * zero when the result is zero itself.
 */
#define ROUND(name, type, compute, next, infinity)                                                 \
    static type name(struct zeta_rv64_hart *hart, const struct operands *in, unsigned rounding)    \
    {                                                                                              \
        type result = compute(in);                                                                 \
                                                                                                   \
        hart->fflags |= flags_from_host(fetestexcept(FE_ALL_EXCEPT));                              \
        if (rounding == RV64_RMM && isfinite(result)) {                                            \
            bool negative = result == 0 ? compute_wide(in) < 0 : result < 0;                       \
            type farther = next(result, negative ? -infinity : infinity);                          \
                                                                                                   \
            if (is_tie(in, result, farther))                                                       \
                result = farther;                                                                  \
        }                                                                                          \
        return result;                                                                             \
    }

ROUND(round32, float, compute32, nextafterf, HUGE_VALF)
ROUND(round64, double, compute64, nextafter, HUGE_VAL)

/* A NaN that is used raises NV here; the widening of signalling ones must not hide it. */
static long double operand(struct zeta_rv64_hart *hart, unsigned number, bool is_double)
{
    const uint64_t *f = &hart->f[number];

    if (is_double ? zeta_rv64_is_signalling64(*f)
                  : zeta_rv64_is_signalling32(zeta_rv64_single_bits(f)))
        hart->fflags |= RV64_NV;
    return is_double ? (long double)zeta_rv64_double(*f) : (long double)zeta_rv64_single(f);
}

/* The computation proper, in the host's rounding mode. */
static uint64_t execute(struct zeta_rv64_hart *hart, enum rv64_op op,
                        const struct zeta_rv64_insn *insn, unsigned rounding)
{
    const bool is_double = op >= RV64_OP_FMADD_D;
    const uint64_t x = hart->x[insn->rs1];
    struct operands in = {.op = RV64_OP_FCVT_S_D};

    switch (op) {
    case RV64_OP_FCVT_S_W:
    case RV64_OP_FCVT_D_W:
        in.a = (long double)(int32_t)x;
        break;
    case RV64_OP_FCVT_S_WU:
    case RV64_OP_FCVT_D_WU:
        in.a = (long double)(uint32_t)x;
        break;
    case RV64_OP_FCVT_S_L:
    case RV64_OP_FCVT_D_L:
        in.a = (long double)(int64_t)x;
        break;
    case RV64_OP_FCVT_S_LU:
    case RV64_OP_FCVT_D_LU:
        in.a = (long double)x;
        break;
    case RV64_OP_FCVT_S_D:
    case RV64_OP_FCVT_D_S:
        in.a = operand(hart, insn->rs1, op == RV64_OP_FCVT_S_D);
        break;
    default:
        in.op = is_double ? (enum rv64_op)(op - RV64_OP_FMADD_D + RV64_OP_FMADD_S) : op;
        in.a = operand(hart, insn->rs1, is_double);
        if (in.op != RV64_OP_FSQRT_S)
            in.b = operand(hart, insn->rs2, is_double);
        if (in.op > RV64_OP_FNMADD_S)
            break;
        in.c = operand(hart, insn->imm & 31, is_double);
        zeta_rv64_fp_check_product(hart, (double)in.a, (double)in.b);
        if (in.op == RV64_OP_FNMSUB_S || in.op == RV64_OP_FNMADD_S)
            in.a = -in.a;
        if (in.op == RV64_OP_FMSUB_S || in.op == RV64_OP_FNMADD_S)
            in.c = -in.c;
        break;
    }
    /* Operands are exact in every format, so only the computation itself may raise flags. */
    (void)feclearexcept(FE_ALL_EXCEPT);
    return is_double ? zeta_rv64_box_double(round64(hart, &in, rounding))
                     : zeta_rv64_box(round32(hart, &in, rounding));
}

bool zeta_rv64_fp_rounded(struct zeta_rv64_hart *hart, enum rv64_op op,
                          const struct zeta_rv64_insn *insn, unsigned rounding)
{
    if (rounding == RV64_DYN)
        rounding = hart->frm;
    if (rounding > RV64_RMM)
        return false;
    zeta_rv64_fp_sync(hart);
    if (op >= RV64_OP_FCVT_W_S && op <= RV64_OP_FCVT_LU_S) {
        hart->x[insn->rd] =
            zeta_rv64_fp_to_integer(hart, (double)zeta_rv64_single(&hart->f[insn->rs1]),
                                    (enum zeta_rv64_integer)(op - RV64_OP_FCVT_W_S), rounding);
    } else if (op >= RV64_OP_FCVT_W_D && op <= RV64_OP_FCVT_LU_D) {
        hart->x[insn->rd] =
            zeta_rv64_fp_to_integer(hart, zeta_rv64_double(hart->f[insn->rs1]),
                                    (enum zeta_rv64_integer)(op - RV64_OP_FCVT_W_D), rounding);
    } else {
        (void)fesetround(host_rounding(rounding));
        hart->f[insn->rd] = execute(hart, op, insn, rounding);
        (void)fesetround(host_rounding(hart->frm));
    }
    (void)feclearexcept(FE_ALL_EXCEPT);
    return true;
}
