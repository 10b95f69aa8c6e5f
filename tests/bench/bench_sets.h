/*
 * The sets that the benchmark of the evaluator measures: those that the virtual GPU comes with, a
 * group as an application packs it, and the shape of a set of real hardware.
 */
#ifndef ZETA_TESTS_BENCH_BENCH_SETS_H
#define ZETA_TESTS_BENCH_BENCH_SETS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/formula/compile/compile.h"
#include "core/formula/programmables/recipe_set.h"

#define BENCH_MOST_SETS 64u
/** Most metrics that the packed group is made of. */
#define BENCH_MOST_RECIPES 64u

/** One form of one set. */
struct bench_set {
    bool is_query; /**< calculated from query records instead of reports */
    struct zeta_compiled *compiled;
};

/** All of them, with what they are made of. */
struct bench_sets {
    struct bench_set items[BENCH_MOST_SETS];
    uint32_t count;
    struct zeta_catalog *vgpu;
    struct zeta_catalog *render;
    struct zeta_recipe recipes[BENCH_MOST_RECIPES];
    uint32_t recipe_count;
    struct zeta_recipe_set packed;
};

/** Reads and compiles; false after a message on stderr. Closed with bench_sets_close() anyway. */
bool bench_sets_open(struct bench_sets *sets);
void bench_sets_close(struct bench_sets *sets);

#endif
