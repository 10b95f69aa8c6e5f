#ifndef ZETA_TESTS_NVIDIA_SETS_H
#define ZETA_TESTS_NVIDIA_SETS_H

/* Set files of the plugin, and what is checked of them with the host side of a CUPTI. */

#include "core/formula/sets/set.h"
#include "plugins/nvidia/library/cupti.h"

/** Ends the test at the first finding. */
extern struct zeta_diagnostics sets_findings;

/** A file of the plugin's data with what all have in common, linked without a finding. */
struct zeta_catalog *sets_load(const char *file);

/**
 * Checks each set of each file on its chips, for streams and queries: its program has names of the
 * chip, one pass counts them, and metrics read fields that it fills.
 */
void sets_check(const struct nvidia_cupti *cupti);

/**
 * Checks all counters that the library lists as programmables, of several chips: each is in order,
 * and GH100 has at least so many for streams and for queries, with the curated ones.
 */
void sets_check_all(const struct nvidia_cupti *cupti, uint32_t least_streams,
                    uint32_t least_queries);

/** Checks that a name which the chip lacks is found among others, for streams and queries. */
void sets_check_wrong(const struct nvidia_cupti *cupti);

#endif
