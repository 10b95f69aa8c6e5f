/*
 * Small programs with one 64-bit result per line of work. Compiled twice: as a kernel, and with
 * PROGRAMS_FOR_LINUX as a program that writes the results to standard output under qemu-riscv64.
 */
#include <stddef.h>
#include <stdint.h>

enum { PROGRAM_RESULTS = 4096 };

/* Where results go; more than fit are folded into the last one. */
struct results {
    uint64_t *values;
    unsigned count;
};

static void put(struct results *results, uint64_t value)
{
    if (results->count < PROGRAM_RESULTS)
        results->values[results->count++] = value;
    else
        results->values[PROGRAM_RESULTS - 1] = results->values[PROGRAM_RESULTS - 1] * 31 + value;
}

static void put_double(struct results *results, double value)
{
    uint64_t bits;

    __builtin_memcpy(&bits, &value, sizeof(bits));
    put(results, bits);
}

static void put_float(struct results *results, float value)
{
    uint32_t bits;

    __builtin_memcpy(&bits, &value, sizeof(bits));
    put(results, bits);
}

static uint64_t read_flags(void)
{
    uint64_t flags;

    __asm__ volatile("frflags %0" : "=r"(flags));
    return flags;
}

static void write_flags(uint64_t flags)
{
    __asm__ volatile("fsflags %0" : : "r"(flags));
}

static void set_rounding(uint64_t mode)
{
    __asm__ volatile("fsrm %0" : : "r"(mode));
}

static void integers(struct results *results)
{
    uint32_t crc = 0xffffffff;
    uint64_t state = 88172645463325252;
    uint64_t steps = 0;

    for (unsigned i = 0; i < 500; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        crc ^= (uint8_t)state;
        for (unsigned bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
        put(results, state % (i + 1) + state / (i + 3));
        put(results, (uint64_t)((int64_t)state % -(int64_t)(i + 7)));
    }
    for (uint64_t n = 1; n < 200; n++) {
        for (uint64_t value = n; value != 1; steps++)
            value = value & 1 ? 3 * value + 1 : value / 2;
    }
    put(results, crc);
    put(results, steps);
}

static void floats(struct results *results)
{
    float sum = 0, product = 1;

    for (unsigned i = 1; i < 300; i++) {
        sum += 1.0f / (float)i;
        product *= 1.0f + __builtin_sqrtf((float)i) * 0x1p-8f;
        if (i % 16 == 0)
            put_float(results, sum * product);
        put(results, (uint64_t)(int64_t)(int32_t)(sum * 1000.0f - product));
    }
    put(results, read_flags());
}

static void doubles(struct results *results)
{
    double root = 1, horner = 0;

    for (unsigned i = 1; i < 200; i++) {
        root = 0.5 * (root + (double)i / root);
        horner = horner * 0.75 - root;
        put_double(results, horner);
        put_double(results, (double)(float)horner);
        put(results, (uint64_t)(horner < root) + 2 * (uint64_t)(horner * horner >= root));
    }
    put(results, read_flags());
}

static void atomics(struct results *results)
{
    volatile uint32_t word = 5;
    uint64_t wide = 1;

    for (unsigned i = 0; i < 50; i++) {
        uint32_t expected = word;

        put(results, __atomic_fetch_add(&word, i, __ATOMIC_SEQ_CST));
        put(results, __atomic_fetch_xor(&wide, (uint64_t)i << 33, __ATOMIC_ACQ_REL));
        put(results, __atomic_compare_exchange_n(&word, &expected, i, 0, __ATOMIC_SEQ_CST,
                                                 __ATOMIC_SEQ_CST));
        put(results, expected);
        put(results, __atomic_exchange_n(&wide, wide * 3, __ATOMIC_SEQ_CST));
    }
    put(results, word);
    put(results, wide);
}

/* A store-conditional without a reservation, or to another address, fails. */
static void reservations(struct results *results)
{
    uint64_t memory[2] = {7, 9};
    uint64_t first, second, third, old;

    __asm__ volatile("lr.d %0, (%4)\n"
                     "sc.d %1, %6, (%5)\n"
                     "sc.d %2, %6, (%4)\n"
                     "lr.d %0, (%4)\n"
                     "sc.d %3, %6, (%4)\n"
                     : "=&r"(old), "=&r"(first), "=&r"(second), "=&r"(third)
                     : "r"(&memory[0]), "r"(&memory[1]), "r"(42L)
                     : "memory");
    put(results, old);
    put(results, first);
    put(results, second);
    put(results, third);
    put(results, memory[0]);
    put(results, memory[1]);
}

static void roundings(struct results *results)
{
    static const double values[] = {2.5, -2.5, 3.5, 0.1, -0.1, 1e300, 0x1p-1074, 16777217.0};

    for (uint64_t mode = 0; mode < 5; mode++) {
        set_rounding(mode);
        for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
            volatile double value = values[i];
            long rounded;

            write_flags(0);
            put_double(results, value / 3.0);
            put_float(results, (float)value);
            __asm__ volatile("fcvt.l.d %0, %1" : "=r"(rounded) : "f"(value));
            put(results, (uint64_t)rounded);
            put_double(results, value * 0x1p-3 + 1.0);
            put(results, read_flags());
        }
    }
    set_rounding(0);
}

/* Singles that are not boxed count as NaN, and results are boxed. */
static void boxing(struct results *results)
{
    double wide = 1.5;
    double sum, sign;
    uint64_t bits;

    write_flags(0);
    __asm__ volatile("fadd.s %0, %1, %1" : "=f"(sum) : "f"(wide));
    __asm__ volatile("fsgnj.s %0, %1, %1" : "=f"(sign) : "f"(wide));
    put_double(results, sum);
    put_double(results, sign);
    __asm__ volatile("fmv.w.x %0, %1" : "=f"(wide) : "r"(0x3fc00000));
    put_double(results, wide);
    __asm__ volatile("fadd.s %0, %1, %1\n\tfmv.x.w %2, %0" : "=&f"(sum), "+f"(wide), "=r"(bits));
    put_double(results, sum);
    put(results, bits);
    put(results, read_flags());
}

static void run_programs(uint64_t *values)
{
    struct results results = {values, 0};

    write_flags(0);
    set_rounding(0);
    roundings(&results);
    boxing(&results);
    reservations(&results);
    floats(&results);
    doubles(&results);
    atomics(&results);
    integers(&results);
}

#ifdef PROGRAMS_FOR_LINUX

#include <stdio.h>

int main(void)
{
    static uint64_t values[PROGRAM_RESULTS];

    run_programs(values);
    return fwrite(values, sizeof(values), 1, stdout) == 1 ? 0 : 1;
}

#else

#include "vgpu.h"

void programs(uint64_t *values);

void programs(uint64_t *values)
{
    run_programs(values);
}

VGPU_KERNEL(programs, ARG_GLOBAL);

#endif
