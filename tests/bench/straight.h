/* What generated straight-line code is made of, and its functions. Only for the benchmark. */
#ifndef ZETA_TESTS_BENCH_STRAIGHT_H
#define ZETA_TESTS_BENCH_STRAIGHT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <level_zero/zet_api.h>

#include "core/formula/expr/expr.h"

/** One form of one set as straight-line C. */
struct straight_peer {
    const char *name;
    /** Calculates like zeta_evaluate() for data without control slots; gives the number of rows. */
    size_t (*run)(const unsigned char *raw, size_t raw_bytes, zet_typed_value_t *values);
};

/** In the order of bench_sets. */
extern const struct straight_peer straight_peers[];
extern const size_t straight_peer_count;

static inline uint8_t read_u8(const unsigned char *at)
{
    return *at;
}

static inline uint16_t read_u16(const unsigned char *at)
{
    uint16_t value;

    memcpy(&value, at, sizeof(value));
    return value;
}

static inline uint32_t read_u32(const unsigned char *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof(value));
    return value;
}

static inline uint64_t read_u64(const unsigned char *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof(value));
    return value;
}

static inline uint64_t divide_u64(uint64_t a, uint64_t b)
{
    return b ? a / b : 0;
}

static inline uint64_t rest_u64(uint64_t a, uint64_t b)
{
    return b ? a % b : 0;
}

static inline double divide_f64(double a, double b)
{
    return b != 0.0 ? a / b : 0.0;
}

static inline uint64_t shift_left(uint64_t a, uint64_t b)
{
    return b < 64 ? a << b : 0;
}

static inline uint64_t shift_right(uint64_t a, uint64_t b)
{
    return b < 64 ? a >> b : 0;
}

static inline uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t to_u64(double value)
{
    if (!(value > 0.0))
        return 0;
    return value < 18446744073709551616.0 ? (uint64_t)value : UINT64_MAX;
}

static inline uint64_t muldiv(uint64_t a, uint64_t b, uint64_t c)
{
    __extension__ typedef unsigned __int128 wide;

    return c ? (uint64_t)((wide)a * b / c) : 0;
}

static inline void store_u32(zet_typed_value_t *target, uint64_t value)
{
    target->type = ZET_VALUE_TYPE_UINT32;
    target->value.ui32 = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static inline void store_u64(zet_typed_value_t *target, uint64_t value)
{
    target->type = ZET_VALUE_TYPE_UINT64;
    target->value.ui64 = value;
}

static inline void store_f32(zet_typed_value_t *target, double value)
{
    target->type = ZET_VALUE_TYPE_FLOAT32;
    target->value.fp32 = (float)value;
}

static inline void store_f64(zet_typed_value_t *target, double value)
{
    target->type = ZET_VALUE_TYPE_FLOAT64;
    target->value.fp64 = value;
}

static inline void store_b8(zet_typed_value_t *target, uint64_t value)
{
    target->type = ZET_VALUE_TYPE_BOOL8;
    target->value.b8 = value != 0;
}

#endif
