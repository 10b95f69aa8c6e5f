#include "core/formula/evaluate/evaluate.h"
#include "core/metric/calculate/calculate.h"

/** Answers how much there is; with an array, also how many values each set really has. */
static ze_result_t count_values(const struct zeta_calculation *calculation, uint32_t *set_count,
                                uint32_t *value_count, uint32_t *counts)
{
    for (uint32_t i = 0; counts && i < *set_count && i < calculation->compiled_count; i++) {
        struct zeta_evaluation found;
        ze_result_t result =
            zeta_evaluate_rows(calculation->compiled[i], i, calculation->first_tile,
                               calculation->raw, calculation->raw_bytes, &found);

        if (result != ZE_RESULT_SUCCESS)
            return result;
        counts[i] = found.value_count;
    }
    if (*set_count == 0 || !counts || *set_count > calculation->compiled_count)
        *set_count = calculation->compiled_count;
    *value_count = zeta_evaluate_count(calculation->compiled[0], calculation->raw_bytes);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_calculate_sets(const struct zeta_calculation *calculation,
                                zet_metric_group_calculation_type_t type, uint32_t *set_count,
                                uint32_t *value_count, uint32_t *counts, zet_typed_value_t *values)
{
    const uint32_t capacity = *value_count;
    uint32_t written = 0;
    bool dropped = false;

    if (*set_count == 0 || capacity == 0 || !values)
        return count_values(calculation, set_count, value_count, counts);
    if (*set_count > calculation->compiled_count)
        *set_count = calculation->compiled_count;
    for (uint32_t i = 0; i < *set_count; i++) {
        struct zeta_evaluation found;
        ze_result_t result = zeta_evaluate(
            calculation->compiled[i], type, i, calculation->first_tile, calculation->raw,
            calculation->raw_bytes, values + written, capacity - written, &found);

        if (result != ZE_RESULT_SUCCESS)
            return result;
        if (counts)
            counts[i] = found.value_count;
        written += found.value_count;
        dropped |= found.dropped;
    }
    *value_count = written;
    return dropped ? ZE_RESULT_WARNING_DROPPED_DATA : ZE_RESULT_SUCCESS;
}
