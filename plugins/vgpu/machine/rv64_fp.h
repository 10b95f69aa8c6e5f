#ifndef ZETA_PLUGINS_VGPU_MACHINE_RV64_FP_H
#define ZETA_PLUGINS_VGPU_MACHINE_RV64_FP_H

/*
 * Floating point of a hart on the floating point of the host.
 *
 * Between fp_enter and fp_leave the host rounds according to the hart's frm, and its sticky
 * exception flags collect what the hart raises; fp_sync moves them to fflags. So an addition costs
 * one host addition and a test for NaN. What the host cannot do - ties away from zero, a rounding
 * mode in the instruction word - goes through zeta_rv64_fp_rounded.
 */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "rv64_ops.h"

enum {
    RV64_NV = 16, /* invalid operation */
    RV64_DZ = 8,  /* division by zero */
    RV64_OF = 4,
    RV64_UF = 2,
    RV64_NX = 1 /* inexact */
};

enum {
    RV64_RNE,
    RV64_RTZ,
    RV64_RDN,
    RV64_RUP,
    RV64_RMM, /* to nearest, ties away from zero */
    RV64_DYN = 7
};

#define RV64_NAN32 UINT32_C(0x7fc00000)
#define RV64_NAN64 UINT64_C(0x7ff8000000000000)
#define RV64_BOX UINT64_C(0xffffffff00000000)

/** Host environment while a hart runs; private to rv64_fp.c. */
struct zeta_rv64_fp_saved {
    unsigned host;
};

/** Sets the host up for the hart. */
struct zeta_rv64_fp_saved zeta_rv64_fp_enter(const struct zeta_rv64_hart *hart);

/** Collects flags and gives the host its own rounding mode back; its flags are undefined. */
void zeta_rv64_fp_leave(struct zeta_rv64_hart *hart, struct zeta_rv64_fp_saved saved);

/** Moves what the host has raised to fflags. */
void zeta_rv64_fp_sync(struct zeta_rv64_hart *hart);

/** Executes an instruction on a CSR: fflags, frm or fcsr; false for any other. */
bool zeta_rv64_fp_csr(struct zeta_rv64_hart *hart, const struct zeta_rv64_insn *insn);

/** Executes an instruction of RV64_ROUNDED_OPS; false, with nothing changed, for a bad mode. */
bool zeta_rv64_fp_rounded(struct zeta_rv64_hart *hart, enum rv64_op op,
                          const struct zeta_rv64_insn *insn, unsigned rounding);

/** The four integer types that values are converted to. */
enum zeta_rv64_integer { ZETA_RV64_INT32, ZETA_RV64_UINT32, ZETA_RV64_INT64, ZETA_RV64_UINT64 };

/** Value of rd: rounded, saturated, 32-bit results sign-extended; sets NV or NX. */
uint64_t zeta_rv64_fp_to_integer(struct zeta_rv64_hart *hart, double value,
                                 enum zeta_rv64_integer type, unsigned rounding);

/** Sets NV when a fused multiply-add with a NaN result multiplied infinity by zero. */
void zeta_rv64_fp_check_product(struct zeta_rv64_hart *hart, double a, double b);

/*
 * The rare cases of what follows: the NaN that is read from what is no boxed single, and that is
 * written for any NaN. Functions, so that the compiler keeps the number of the usual case in a
 * floating register of the host.
 */
float zeta_rv64_unboxed_single(void);
void zeta_rv64_set_nan32(uint64_t *f);

/*
 * Registers are accessed by halves for singles, always: a load that spans two earlier stores, or
 * a number that travels between the host's register files, costs more than the computation.
 */
enum {
    ZETA_RV64_LOW_HALF = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0,
    ZETA_RV64_HIGH_HALF = 4 - ZETA_RV64_LOW_HALF
};

static inline uint32_t zeta_rv64_half(const uint64_t *f, unsigned half)
{
    uint32_t bits;

    memcpy(&bits, (const char *)f + half, sizeof(bits));
    return bits;
}

/** Bits of the single in a register; what is no boxed single reads as a NaN. */
static inline uint32_t zeta_rv64_single_bits(const uint64_t *f)
{
    return zeta_rv64_half(f, ZETA_RV64_HIGH_HALF) == UINT32_MAX
               ? zeta_rv64_half(f, ZETA_RV64_LOW_HALF)
               : RV64_NAN32;
}

static inline float zeta_rv64_single(const uint64_t *f)
{
    float result;

    if (__builtin_expect(zeta_rv64_half(f, ZETA_RV64_HIGH_HALF) != UINT32_MAX, 0))
        return zeta_rv64_unboxed_single();
    memcpy(&result, (const char *)f + ZETA_RV64_LOW_HALF, sizeof(result));
    return result;
}

static inline void zeta_rv64_set_single_bits(uint64_t *f, uint32_t bits)
{
    const uint32_t box = UINT32_MAX;

    memcpy((char *)f + ZETA_RV64_LOW_HALF, &bits, sizeof(bits));
    memcpy((char *)f + ZETA_RV64_HIGH_HALF, &box, sizeof(box));
}

/** Writes a single; any NaN becomes the canonical one. */
static inline void zeta_rv64_set_single(uint64_t *f, float value)
{
    const uint32_t box = UINT32_MAX;

    if (__builtin_expect(value != value, 0)) {
        zeta_rv64_set_nan32(f);
        return;
    }
    memcpy((char *)f + ZETA_RV64_LOW_HALF, &value, sizeof(value));
    memcpy((char *)f + ZETA_RV64_HIGH_HALF, &box, sizeof(box));
}

static inline double zeta_rv64_double(uint64_t value)
{
    double result;

    memcpy(&result, &value, sizeof(result));
    return result;
}

/** Register value of a single; any NaN becomes the canonical one. */
static inline uint64_t zeta_rv64_box(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return RV64_BOX | (value != value ? RV64_NAN32 : bits);
}

static inline uint64_t zeta_rv64_box_double(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return value != value ? RV64_NAN64 : bits;
}

/*
 * For both formats, on bits:
 *
 * is_nan, is_signalling  the quiet bit is the highest one of the fraction
 * order    a total order of numbers as integers: -0 below +0
 * minmax   fmin and fmax of the F and D extensions 2.2: a NaN loses against a number
 * ordered  true when neither operand of a comparison is a NaN; otherwise the result is 0 and NV is
 *          set, for a quiet comparison only by signalling NaNs
 */
#define RV64_FORMAT(bits, infinity, quiet_bit)                                                     \
    static inline bool zeta_rv64_is_nan##bits(uint##bits##_t a)                                    \
    {                                                                                              \
        return (a & INT##bits##_MAX) > (infinity);                                                 \
    }                                                                                              \
    static inline bool zeta_rv64_is_signalling##bits(uint##bits##_t a)                             \
    {                                                                                              \
        return zeta_rv64_is_nan##bits(a) && !(a & (quiet_bit));                                    \
    }                                                                                              \
    static inline int##bits##_t zeta_rv64_order##bits(uint##bits##_t a)                            \
    {                                                                                              \
        return (int##bits##_t)(a >> (bits - 1) ? a ^ INT##bits##_MAX : a);                         \
    }                                                                                              \
    static inline uint##bits##_t zeta_rv64_minmax##bits(                                           \
        struct zeta_rv64_hart *hart, uint##bits##_t a, uint##bits##_t b, bool maximum)             \
    {                                                                                              \
        if (zeta_rv64_is_signalling##bits(a) || zeta_rv64_is_signalling##bits(b))                  \
            hart->fflags |= RV64_NV;                                                               \
        if (zeta_rv64_is_nan##bits(a))                                                             \
            return zeta_rv64_is_nan##bits(b) ? RV64_NAN##bits : b;                                 \
        if (zeta_rv64_is_nan##bits(b))                                                             \
            return a;                                                                              \
        return (zeta_rv64_order##bits(a) < zeta_rv64_order##bits(b)) != maximum ? a : b;           \
    }                                                                                              \
    static inline bool zeta_rv64_ordered##bits(struct zeta_rv64_hart *hart, uint##bits##_t a,      \
                                               uint##bits##_t b, bool quiet)                       \
    {                                                                                              \
        if (!zeta_rv64_is_nan##bits(a) && !zeta_rv64_is_nan##bits(b))                              \
            return true;                                                                           \
        if (!quiet || zeta_rv64_is_signalling##bits(a) || zeta_rv64_is_signalling##bits(b))        \
            hart->fflags |= RV64_NV;                                                               \
        return false;                                                                              \
    }

RV64_FORMAT(32, UINT32_C(0x7f800000), UINT32_C(0x00400000))
RV64_FORMAT(64, UINT64_C(0x7ff0000000000000), UINT64_C(0x0008000000000000))

/** Result of fclass for a number of @width bits whose exponent field has @exponent_bits. */
static inline uint64_t zeta_rv64_classify(uint64_t bits, unsigned width, unsigned exponent_bits)
{
    unsigned fraction_bits = width - 1 - exponent_bits;
    uint64_t fraction = bits & ((UINT64_C(1) << fraction_bits) - 1);
    uint64_t largest = (UINT64_C(1) << exponent_bits) - 1;
    uint64_t exponent = bits >> fraction_bits & largest;
    bool negative = bits >> (width - 1) & 1;

    if (exponent == largest && fraction)
        return fraction >> (fraction_bits - 1) ? 1u << 9 : 1u << 8;
    if (exponent == largest)
        return negative ? 1u << 0 : 1u << 7;
    if (exponent)
        return negative ? 1u << 1 : 1u << 6;
    if (fraction)
        return negative ? 1u << 2 : 1u << 5;
    return negative ? 1u << 3 : 1u << 4;
}

#endif
