/*
 * Equations as the XML has them, evaluated token by token on a stack.
 *
 * Numbers are unsigned 64-bit integers or doubles. U operators and the bitwise ones take and give
 * integers modulo 2^64, F operators doubles; a double operand of a U operator is cut off (negative
 * and not a number: 0; too large: the largest), an integer operand of an F operator becomes the
 * nearest double. Division by zero gives 0. '==' compares doubles if one of its operands is one.
 */
#ifndef ZETA_TESTS_OA_OA_RPN_H
#define ZETA_TESTS_OA_OA_RPN_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/oa/oa_file.h"
#include "tests/oa/oa_report.h"

struct oa_number {
    bool is_float;
    uint64_t u;
    double f;
};

uint64_t oa_as_integer(struct oa_number number);
double oa_as_double(struct oa_number number);

#define OA_BANK_SIZE 64u

/** What equations read: two reports or, where differences is not NULL, numbers as they are. */
struct oa_row {
    const unsigned char *earlier;
    const unsigned char *later;
    uint64_t (*differences)[OA_BANK_SIZE]; /**< by bank */
};

/** A device symbol's value; aborts the test if the name is unknown. */
typedef uint64_t (*oa_symbol_fn)(const void *device, const char *name);

/** An equation, translated to steps for one set and device. */
struct oa_equation {
    struct oa_step *steps;
    uint32_t step_count;
    bool reads_perfcnt;  /**< needs what no report holds */
    uint64_t references; /**< bit n: refers to counter n (of at most 128; see references_high) */
    uint64_t references_high;
};

/**
 * Translates an equation. before is the number of counters of the set that it may refer to; format
 * is NULL where no counter may be read. Aborts the test on what it does not know.
 */
struct oa_equation oa_equation_make(const char *text, const struct oa_set *set, uint32_t before,
                                    const struct oa_format *format, oa_symbol_fn symbol,
                                    const void *device);
void oa_equation_free(struct oa_equation *equation);

/** The value of a row (NULL where nothing is read), with the values of the set's counters. */
struct oa_number oa_equation_value(const struct oa_equation *equation, const struct oa_row *row,
                                   const struct oa_number *counters);

#endif
