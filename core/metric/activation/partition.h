/*
 * Sorting things into as few classes as possible.
 */
#ifndef ZETA_CORE_METRIC_ACTIVATION_PARTITION_H
#define ZETA_CORE_METRIC_ACTIVATION_PARTITION_H

#include <stdbool.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

/**
 * True if these things (numbers below the count) can be in one class. What fits must still fit
 * without any one of its members.
 */
typedef bool (*zeta_fits_fn)(void *context, const uint32_t *members, uint32_t count);

/** What to sort. Each thing alone fits. */
struct zeta_partition_request {
    uint32_t count;
    uint32_t least;  /**< no solution has fewer classes than this; 0 if nothing is known */
    uint32_t budget; /**< questions that the search for fewer classes may ask; 0: 100000 */
    zeta_fits_fn fits;
    void *context;
};

/**
 * Finds the class of each thing; classes are numbered by their first member. The number of classes
 * is the least possible where the search ends within its budget, so for some ten things by default,
 * and for any number of things where it is found to be request->least. Otherwise it is what "first
 * class that fits" gives, or better. That takes a question for each thing and class before it.
 *
 * @out_class  count numbers
 * Errors: OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_partition(const struct zeta_partition_request *request, uint32_t *out_class,
                           uint32_t *out_class_count);

#endif
