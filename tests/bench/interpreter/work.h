#ifndef ZETA_TESTS_BENCH_INTERPRETER_WORK_H
#define ZETA_TESTS_BENCH_INTERPRETER_WORK_H

#include <stdint.h>

/** @memory: 1024 numbers. */
uint64_t work_integer(uint64_t *memory, uint64_t rounds);
float work_float(float *memory, uint64_t rounds);

enum { WORK_ROUNDS = 10000000 };

#endif
