/*
 * Calculation of several sets at once: one for each tile.
 */
#ifndef ZETA_CORE_METRIC_CALCULATE_CALCULATE_H
#define ZETA_CORE_METRIC_CALCULATE_CALCULATE_H

#include <stddef.h>
#include <stdint.h>

#include <level_zero/zet_api.h>

struct zeta_compiled;

/** What is calculated. */
struct zeta_calculation {
    struct zeta_compiled *const *compiled; /**< one per tile, or one */
    uint32_t compiled_count;
    const uint8_t *raw;
    size_t raw_bytes;
    uint32_t first_tile; /**< of what comes before the first TILE slot */
};

/**
 * Calculates as zetMetricGroupCalculateMultipleMetricValuesExp does, in both of its passes.
 * Errors: OUT_OF_HOST_MEMORY; the outputs are untouched then, but for what was calculated.
 */
ze_result_t zeta_calculate_sets(const struct zeta_calculation *calculation,
                                zet_metric_group_calculation_type_t type, uint32_t *set_count,
                                uint32_t *value_count, uint32_t *counts, zet_typed_value_t *values);

#endif
