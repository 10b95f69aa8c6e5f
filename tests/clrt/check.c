#include "check.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const unsigned clrt_widths[CLRT_PLANES] = {1, 2, 3, 4, 8, 16};

const char *const clrt_type_names[CLRT_TYPE_COUNT] = {
    "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double", "half"};

const enum clrt_type clrt_types[CLRT_TYPE_COUNT] = {
    CLRT_CHAR, CLRT_UCHAR, CLRT_SHORT, CLRT_USHORT, CLRT_INT, CLRT_UINT,
    CLRT_LONG, CLRT_ULONG, CLRT_FLOAT, CLRT_DOUBLE, CLRT_HALF};

size_t clrt_size(enum clrt_type type)
{
    static const size_t sizes[CLRT_TYPE_COUNT] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 2};

    return sizes[type];
}

int clrt_is_real(enum clrt_type type)
{
    return type >= CLRT_FLOAT;
}

static int is_signed(enum clrt_type type)
{
    return type % 2 == 0;
}

clrt_wide clrt_lowest(enum clrt_type type)
{
    return is_signed(type) ? -((clrt_wide)1 << (8 * clrt_size(type) - 1)) : 0;
}

clrt_wide clrt_highest(enum clrt_type type)
{
    return ((clrt_wide)1 << (8 * clrt_size(type) - (is_signed(type) ? 1 : 0))) - 1;
}

/* Bits of the fraction, lowest exponent of a normal number, and highest exponent. */
struct format {
    int fraction, lowest, highest;
};

static struct format format_of(enum clrt_type type)
{
    if (type == CLRT_FLOAT)
        return (struct format){23, -126, 127};
    if (type == CLRT_DOUBLE)
        return (struct format){52, -1022, 1023};
    return (struct format){10, -14, 15};
}

static long double value_of_half(uint16_t bits)
{
    int exponent = bits >> 10 & 31;
    long double fraction = bits & 0x3ff;
    long double size;

    if (exponent == 31)
        size = fraction != 0 ? (long double)NAN : (long double)INFINITY;
    else if (exponent == 0)
        size = ldexpl(fraction, -24);
    else
        size = ldexpl(fraction + 0x400, exponent - 25);
    return bits & 0x8000 ? -size : size;
}

long double clrt_get_real(enum clrt_type type, const void *array, size_t i)
{
    if (type == CLRT_FLOAT)
        return (long double)((const float *)array)[i];
    if (type == CLRT_DOUBLE)
        return (long double)((const double *)array)[i];
    return value_of_half(((const uint16_t *)array)[i]);
}

clrt_wide clrt_get_integer(enum clrt_type type, const void *array, size_t i)
{
    size_t size = clrt_size(type);
    uint64_t bits = 0;

    memcpy(&bits, (const char *)array + i * size, size);
    return clrt_wrap(type, (clrt_wide)bits);
}

clrt_wide clrt_wrap(enum clrt_type type, clrt_wide value)
{
    clrt_wide range = (clrt_wide)1 << (8 * clrt_size(type));

    value &= range - 1;
    return value > clrt_highest(type) ? value - range : value;
}

/* The fraction beyond the last place decides; the last place of small numbers is a fixed one. */
static long double unit_of(struct format format, long double value)
{
    int exponent = value == 0 ? format.lowest : ilogbl(value);

    return ldexpl(1, (exponent < format.lowest ? format.lowest : exponent) - format.fraction);
}

static long double round_whole(long double value, enum clrt_rounding rounding)
{
    if (rounding == CLRT_UP)
        return ceill(value);
    if (rounding == CLRT_DOWN)
        return floorl(value);
    return rounding == CLRT_TO_ZERO ? truncl(value) : rintl(value);
}

long double clrt_round(enum clrt_type type, long double value, enum clrt_rounding rounding)
{
    struct format format = format_of(type);
    long double most = ldexpl(2, format.highest) - ldexpl(1, format.highest - format.fraction);
    long double unit, result;

    if (!isfinite(value) || value == 0)
        return value;
    unit =
        fabsl(value) > most ? ldexpl(1, format.highest - format.fraction) : unit_of(format, value);
    result = copysignl(round_whole(value / unit, rounding) * unit, value);
    if (fabsl(result) <= most)
        return result;
    if (rounding == CLRT_TO_ZERO || (rounding == CLRT_UP && value < 0) ||
        (rounding == CLRT_DOWN && value > 0))
        return copysignl(most, value);
    return copysignl((long double)INFINITY, value);
}

long double clrt_ulps(enum clrt_type type, long double result, long double expected)
{
    struct format format = format_of(type);
    long double rounded = clrt_round(type, expected, CLRT_NEAREST);

    if (isnan(expected) || isnan(result))
        return isnan(expected) && isnan(result) ? 0 : (long double)INFINITY;
    if (result == rounded)
        return result != 0 || !signbit(result) == !signbit(rounded) ? 0 : (long double)INFINITY;
    if (isinf(expected))
        return (long double)INFINITY;
    /* What overflows is as far off as the first number that does. */
    if (isinf(result))
        result = copysignl(ldexpl(2, format.highest), result);
    return fabsl(result - expected) / unit_of(format, expected);
}

long double clrt_error(enum clrt_type type, long double result, long double expected)
{
    const long double ulps = clrt_ulps(type, result, expected);

    if (ulps != 0 || !isfinite(result) || !isfinite(expected))
        return ulps;
    return fabsl(result - expected) / unit_of(format_of(type), expected);
}

uint64_t clrt_random(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

void clrt_put_real(enum clrt_type type, void *array, size_t i, long double value)
{
    int exponent;
    long double size = fabsl(value);
    uint16_t bits;

    if (type == CLRT_FLOAT) {
        ((float *)array)[i] = (float)value;
        return;
    }
    if (type == CLRT_DOUBLE) {
        ((double *)array)[i] = (double)value;
        return;
    }
    exponent = size == 0 ? -15 : ilogbl(size);
    if (isnan(value))
        bits = 0x7e00;
    else if (isinf(value))
        bits = 0x7c00;
    else if (exponent < -14)
        bits = (uint16_t)ldexpl(size, 24);
    else
        bits = (uint16_t)(((exponent + 14) << 10) + (int)ldexpl(size, 10 - exponent));
    ((uint16_t *)array)[i] = (uint16_t)(bits | (signbit(value) ? 0x8000 : 0));
}

void clrt_put_integer(enum clrt_type type, void *array, size_t i, clrt_wide value)
{
    uint64_t bits = (uint64_t)value;
    size_t size = clrt_size(type);

    memcpy((char *)array + i * size, &bits, size);
}

/* Edge cases come with both signs; the first ones meet each other where there are two operands. */
enum { REAL_EDGES = 2 * 48, PAIRED_REAL_EDGES = 2 * 24, INTEGER_EDGES = 16 };

static void put_real_edge(enum clrt_type type, void *array, size_t i, unsigned edge)
{
    struct format format = format_of(type);
    long double last = ldexpl(1, format.lowest - format.fraction);
    long double first = ldexpl(1, format.lowest);
    long double step = ldexpl(1, -format.fraction);
    const long double edges[REAL_EDGES / 2] = {
        0,
        last,
        2 * last,
        first - last,
        first,
        1,
        1 - step / 2,
        1 + step,
        0.5L,
        0.5L - step / 4,
        1.5L,
        2,
        2.5L,
        3,
        4,
        0.25L,
        8.5L,
        1024 - 0.5L,
        (long double)M_PI,
        (long double)M_PI / 2,
        ldexpl(1, format.fraction) + 1,
        ldexpl(2, format.highest) - ldexpl(1, format.highest - format.fraction),
        (long double)INFINITY,
        (long double)NAN,
        /* Around the least normal number, and where squares and products leave the range. */
        first + last,
        2 * first,
        ldexpl(1, format.lowest / 2),
        ldexpl(1, format.highest / 2) - ldexpl(1, format.highest / 2 - format.fraction),
        ldexpl(1, format.highest / 2 + 1),
        ldexpl(1, format.highest),
        /* Beside one, halves that round to even, and the last number with a fraction. */
        1 + 2 * step,
        1 - step,
        3.5L,
        0.5L + step / 2,
        ldexpl(1, format.fraction) - 0.5L,
        ldexpl(1, format.fraction - 1) + 0.5L,
        /* Where exponentials leave the range of half, float and double. */
        11.09L,
        88.72L,
        103.97L,
        709.78L,
        745.13L,
        5.6875L,
        /* Angles: large ones, and close to multiples of pi / 2. */
        (long double)M_PI * 3 / 4,
        22,
        355,
        ldexpl(0x1.47d0fep+0L, 34),
        ldexpl(1, format.highest - 1) + ldexpl(1, format.highest - format.fraction),
        ldexpl(6381956970095103.0L, format.highest > 900 ? 797 : 0),
    };
    long double value = clrt_round(type, edges[edge / 2], CLRT_NEAREST);

    clrt_put_real(type, array, i, edge % 2 ? -value : value);
}

static void put_integer_edge(enum clrt_type type, void *array, size_t i, unsigned edge)
{
    clrt_wide low = clrt_lowest(type), high = clrt_highest(type);
    clrt_wide bits = 8 * (clrt_wide)clrt_size(type);
    const clrt_wide edges[INTEGER_EDGES] = {0,       1,           2,        3,
                                            -1,      -2,          low,      low + 1,
                                            high,    high - 1,    high / 2, high / 2 + 1,
                                            low / 2, low / 2 - 1, bits,     100};

    clrt_put_integer(type, array, i, edges[edge]);
}

static unsigned edge_count(enum clrt_type type)
{
    return clrt_is_real(type) ? REAL_EDGES : INTEGER_EDGES;
}

static unsigned paired_edge_count(enum clrt_type type)
{
    return clrt_is_real(type) ? PAIRED_REAL_EDGES : INTEGER_EDGES;
}

static void put_edge(enum clrt_type type, void *array, size_t i, unsigned edge)
{
    if (clrt_is_real(type))
        put_real_edge(type, array, i, edge);
    else
        put_integer_edge(type, array, i, edge);
}

/* The bits of the exponent of a type. */
static int64_t exponent_mask(enum clrt_type type)
{
    const struct format format = format_of(type);

    return (int64_t)(2 * (format.highest + 1) - 1) << format.fraction;
}

/* A real by its bits. What a NaN that signals gives is open: it becomes one that does not. */
static void put_bits(enum clrt_type type, void *array, size_t i, int64_t bits)
{
    const int64_t quiet = (int64_t)1 << (format_of(type).fraction - 1);
    const int64_t fraction = 2 * quiet - 1;

    if ((bits & exponent_mask(type)) == exponent_mask(type) && (bits & fraction) != 0)
        bits |= quiet;
    clrt_put_integer(type, array, i, bits);
}

/*
 * Half of them any bits, the others numbers of the size that programs use; of reals some are edges,
 * denormals, or NaNs with any payload.
 */
static void put_random_real(enum clrt_type type, void *array, size_t i, uint64_t *state)
{
    uint64_t bits = clrt_random(state);
    int64_t any = (int64_t)clrt_random(state);
    const unsigned kind = bits >> 32 & 63;

    if (kind < 8) {
        put_edge(type, array, i, (unsigned)(bits >> 1) % REAL_EDGES);
    } else if (kind < 12) {
        put_bits(type, array, i, any & ~exponent_mask(type));
    } else if (kind < 14) {
        put_bits(type, array, i, any | exponent_mask(type));
    } else if (bits % 2 == 0) {
        put_bits(type, array, i, any);
    } else {
        long double value = ldexpl((long double)any, (int)(bits >> 8 & 15) - 70);

        clrt_put_real(type, array, i, clrt_round(type, value, CLRT_NEAREST));
    }
}

static void put_random(enum clrt_type type, void *array, size_t i, uint64_t *state)
{
    uint64_t bits;
    int64_t any;

    if (clrt_is_real(type)) {
        put_random_real(type, array, i, state);
        return;
    }
    bits = clrt_random(state);
    any = (int64_t)clrt_random(state);
    clrt_put_integer(type, array, i, bits % 2 == 0 ? any : any % 100);
}

void clrt_fill(enum clrt_type type, void *array, size_t count, uint64_t seed)
{
    uint64_t state = seed;
    unsigned edges = edge_count(type);

    for (size_t i = 0; i < count; i++) {
        if (i < edges)
            put_edge(type, array, i, (unsigned)i);
        else
            put_random(type, array, i, &state);
    }
}

void clrt_fill_pairs(enum clrt_type first, void *a, enum clrt_type second, void *b, size_t count,
                     uint64_t seed)
{
    uint64_t state = seed;
    unsigned edges = paired_edge_count(first), others = paired_edge_count(second);

    for (size_t i = 0; i < count; i++) {
        if (i < (size_t)edges * others) {
            put_edge(first, a, i, (unsigned)(i / others));
            put_edge(second, b, i, (unsigned)(i % others));
        } else {
            put_random(first, a, i, &state);
            put_random(second, b, i, &state);
        }
    }
}

void clrt_run(struct rig *rig, const char *kernel, const void *in, void *out, unsigned n)
{
    struct {
        const void *in;
        void *out;
        uint32_t n;
    } arguments = {in, out, n};

    if (rig_run(rig, kernel, &arguments, n / 16, 1) != ZETA_VGPU_OK)
        fail_msg("%s: %s", kernel, rig->fault.message.text);
}

int clrt_has(unsigned plane, size_t i)
{
    return plane != 2 || i % 16 != 15;
}
