/*
 * Platforms as our side and libi915_perf see them, fused in several ways, and the sets that both
 * have. Functions end the running test when something is not as it should be.
 */
#ifndef ZETA_TESTS_OA_OA_MATCH_H
#define ZETA_TESTS_OA_OA_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/formula/compile/compile.h"
#include "core/formula/sets/set.h"
#include "tests/oa/oa_device.h"
#include "tests/oa/oa_oracle.h"
#include "tests/sanitizer.h"

/**
 * Some platforms have hundreds of sets of the same form; sanitizers, which take their time, see the
 * first ones and each so many of the others.
 */
enum { OA_SETS_STEP = HAVE_ADDRESS_SANITIZER || HAVE_THREAD_SANITIZER ? 16 : 1 };

/** A platform of both sides. */
struct oa_line {
    const char *file; /**< as oa_platform_find() and the XML call it */
    uint32_t device_id;
    uint32_t differing; /**< counters that the library has otherwise than the newer XML */
    bool is_flat;       /**< the kernel tells one slice with all cores */
    bool is_halved; /**< the library halves time stamps, for the clock of the command streamer */
};

/** Whose numbers stand behind $Name. */
enum oa_view {
    OA_VIEW_TRUE,
    /**
     * As the library has them: no slice has a name, cores of any slice are those of slice 0, the
     * mask of cores is that of slices; and EUs of Meteor Lake have 7 threads.
     */
    OA_VIEW_LIBRARY,
    /**
     * True, because the library was told which slices and cores there are; only the mask of cores
     * is still that of slices, and the threads are its own.
     */
    OA_VIEW_FILLED
};

/** One platform, fused in one way, on both sides. */
struct oa_match {
    const struct oa_line *line;
    struct oa_device device;
    struct oa_oracle_shape shape;
    struct oa_oracle_device *oracle;
    const struct zeta_catalog *catalog;
    enum oa_view view;
};

/** A set of a match on both sides. */
struct oa_pair {
    const struct oa_match *match;
    const struct zeta_set *set;
    struct zeta_compiled *compiled;
    const struct oa_oracle_set *theirs;
};

/** The platforms that the library knows. */
extern const struct oa_line oa_lines[];
extern const uint32_t oa_line_count;

/** The platform that oa_platform_find() calls so; NULL if the library does not know it. */
const struct oa_line *oa_line_find(const char *file);

/** Visits the platform as fused in each way. */
void oa_match_each(const struct oa_line *line, const struct zeta_catalog *catalog,
                   enum oa_view view, void (*visit)(const struct oa_match *match));

/** Whether the library's set is older than its description: other registers, other counters. */
bool oa_pair_is_older(const struct oa_pair *pair);

/** A number by its name in equations, in the match's view. */
uint64_t oa_match_symbol(const void *match, const char *name);

/** Visits the sets of the match's catalog that the library has, by the uuid: it must have all. */
void oa_pair_each(const struct oa_match *match, void (*visit)(const struct oa_pair *pair));

/** The library's counter of that name; NULL if it has none on the device. */
const struct oa_oracle_counter *oa_pair_counter(const struct oa_pair *pair, const char *name);

/** Index of our metric of that name; UINT32_MAX if there is none on the device. */
uint32_t oa_pair_metric(const struct oa_pair *pair, const char *name);

#endif
