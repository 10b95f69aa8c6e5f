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

#include "hart.h"
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

/** Reads fflags, frm or fcsr (1, 2, 3); false for any other CSR. */
bool zeta_rv64_csr_read(struct zeta_rv64_hart *hart, uint32_t number, uint64_t *out_value);

/** Writes one of them, which must be readable, and sets the host's rounding mode. */
void zeta_rv64_csr_write(struct zeta_rv64_hart *hart, uint32_t number, uint64_t value);

/**
 * Executes any instruction of RV64_ROUNDED_OPS with rounding mode @rounding.
 *
 * False when the mode is not a valid one; nothing is changed then.
 */
bool zeta_rv64_fp_rounded(struct zeta_rv64_hart *hart, enum rv64_op op,
                          const struct zeta_rv64_insn *insn, unsigned rounding);

/** The four integer types that values are converted to. */
enum zeta_rv64_integer { ZETA_RV64_INT32, ZETA_RV64_UINT32, ZETA_RV64_INT64, ZETA_RV64_UINT64 };

/** Value of rd: rounded, saturated, 32-bit results sign-extended; sets NV or NX. */
uint64_t zeta_rv64_fp_to_integer(struct zeta_rv64_hart *hart, double value,
                                 enum zeta_rv64_integer type, unsigned rounding);

/** Sets NV when a fused multiply-add with a NaN result multiplied infinity by zero. */
void zeta_rv64_fp_check_product(struct zeta_rv64_hart *hart, double a, double b);

static inline uint32_t zeta_rv64_unbox_bits(uint64_t value)
{
    /* Boxed values are the largest there are: all 32 upper bits are set. */
    return value >= RV64_BOX ? (uint32_t)value : RV64_NAN32;
}

static inline float zeta_rv64_unbox(uint64_t value)
{
    uint32_t bits = zeta_rv64_unbox_bits(value);
    float result;

    memcpy(&result, &bits, sizeof(result));
    return result;
}

/*
 * The rare cases of what follows. Functions, so that the compiler keeps the number of the usual
 * case in a floating register of the host.
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

/** The single in a register that is known to be boxed. */
static inline float zeta_rv64_boxed(const uint64_t *f)
{
    float result;

    memcpy(&result, (const char *)f + ZETA_RV64_LOW_HALF, sizeof(result));
    return result;
}

/** True when all of the registers with these upper halves, and-ed, hold singles. */
static inline bool zeta_rv64_is_boxed(uint32_t high_halves)
{
    return high_halves == UINT32_MAX;
}

/** Bits of the single in a register; what is no boxed single reads as a NaN. */
static inline uint32_t zeta_rv64_single_bits(const uint64_t *f)
{
    return zeta_rv64_is_boxed(zeta_rv64_half(f, ZETA_RV64_HIGH_HALF))
               ? zeta_rv64_half(f, ZETA_RV64_LOW_HALF)
               : RV64_NAN32;
}

static inline float zeta_rv64_single(const uint64_t *f)
{
    return __builtin_expect(zeta_rv64_is_boxed(zeta_rv64_half(f, ZETA_RV64_HIGH_HALF)), 1)
               ? zeta_rv64_boxed(f)
               : zeta_rv64_unboxed_single();
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

static inline bool zeta_rv64_is_nan32(uint32_t bits)
{
    return (bits & 0x7fffffff) > 0x7f800000;
}

static inline bool zeta_rv64_is_nan64(uint64_t bits)
{
    return (bits & INT64_MAX) > UINT64_C(0x7ff0000000000000);
}

static inline bool zeta_rv64_is_signalling32(uint32_t bits)
{
    return zeta_rv64_is_nan32(bits) && !(bits & 0x00400000);
}

static inline bool zeta_rv64_is_signalling64(uint64_t bits)
{
    return zeta_rv64_is_nan64(bits) && !(bits & UINT64_C(0x0008000000000000));
}

/* A total order of numbers as integers: -0 below +0. */
static inline int64_t zeta_rv64_order64(uint64_t bits)
{
    return (int64_t)(bits >> 63 ? bits ^ INT64_MAX : bits);
}

static inline int32_t zeta_rv64_order32(uint32_t bits)
{
    return (int32_t)(bits >> 31 ? bits ^ INT32_MAX : bits);
}

/** fmin and fmax of the F and D extensions 2.2, on bits: a NaN loses against a number. */
static inline uint32_t zeta_rv64_minmax32(struct zeta_rv64_hart *hart, uint32_t a, uint32_t b,
                                          bool maximum)
{
    if (zeta_rv64_is_signalling32(a) || zeta_rv64_is_signalling32(b))
        hart->fflags |= RV64_NV;
    if (zeta_rv64_is_nan32(a))
        return zeta_rv64_is_nan32(b) ? RV64_NAN32 : b;
    if (zeta_rv64_is_nan32(b))
        return a;
    return (zeta_rv64_order32(a) < zeta_rv64_order32(b)) != maximum ? a : b;
}

static inline uint64_t zeta_rv64_minmax64(struct zeta_rv64_hart *hart, uint64_t a, uint64_t b,
                                          bool maximum)
{
    if (zeta_rv64_is_signalling64(a) || zeta_rv64_is_signalling64(b))
        hart->fflags |= RV64_NV;
    if (zeta_rv64_is_nan64(a))
        return zeta_rv64_is_nan64(b) ? RV64_NAN64 : b;
    if (zeta_rv64_is_nan64(b))
        return a;
    return (zeta_rv64_order64(a) < zeta_rv64_order64(b)) != maximum ? a : b;
}

/**
 * True when neither operand of a comparison is a NaN; otherwise the result is 0 and NV is set,
 * for a quiet comparison only by signalling NaNs.
 */
static inline bool zeta_rv64_ordered32(struct zeta_rv64_hart *hart, uint32_t a, uint32_t b,
                                       bool quiet)
{
    if (!zeta_rv64_is_nan32(a) && !zeta_rv64_is_nan32(b))
        return true;
    if (!quiet || zeta_rv64_is_signalling32(a) || zeta_rv64_is_signalling32(b))
        hart->fflags |= RV64_NV;
    return false;
}

static inline bool zeta_rv64_ordered64(struct zeta_rv64_hart *hart, uint64_t a, uint64_t b,
                                       bool quiet)
{
    if (!zeta_rv64_is_nan64(a) && !zeta_rv64_is_nan64(b))
        return true;
    if (!quiet || zeta_rv64_is_signalling64(a) || zeta_rv64_is_signalling64(b))
        hart->fflags |= RV64_NV;
    return false;
}

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
