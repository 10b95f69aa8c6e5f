#include "core/metric/calculate/calculate.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/device.h"
#include "core/formula/compile/compile.h"
#include "core/formula/describe/describe.h"
#include "core/formula/evaluate/evaluate.h"
#include "core/formula/evaluate/sum.h"
#include "core/formula/record/layout.h"
#include "core/metric/export/export.h"
#include "core/metric/group/group.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "core/util/own_struct.h"
#include "zeta/zeta.h"
#include "zeta_impl.h"

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

/** INVALID_ARGUMENT with a sentence for a group whose data is decoded and not calculated. */
static ze_result_t check_group(const struct zeta_metric_group *group)
{
    if ((group->properties->samplingType & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED) ==
        0)
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      "group %s is tracer-based: its data are events, which "
                      "zetMetricTracerDecodeExp decodes",
                      group->properties->name);
}

ze_result_t ZE_APICALL impl_zetMetricGroupCalculateMetricValues(
    zet_metric_group_handle_t hMetricGroup, zet_metric_group_calculation_type_t type,
    size_t rawDataSize, const uint8_t *pRawData, uint32_t *pMetricValueCount,
    zet_typed_value_t *pMetricValues)
{
    const struct zeta_device *device = ((const struct zeta_metric_group *)hMetricGroup)->device;
    ZETA_CLEANUP(zeta_group_view_release) struct zeta_group_view view = {0};
    struct zeta_calculation calculation = {
        .compiled_count = 1, .raw = pRawData, .raw_bytes = rawDataSize};
    uint32_t sets = 1;
    ze_result_t result = zeta_group_view_acquire(
        hMetricGroup, "zetMetricGroupCalculateMetricValues", "hMetricGroup", &view);

    if (result == ZE_RESULT_SUCCESS)
        result = check_group(view.group);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (device->tile_count > 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "device %s has %u tiles, and data of %s is of all of them; use "
                          "zetMetricGroupCalculateMultipleMetricValuesExp",
                          device->backend->id, device->tile_count, view.group->properties->name);
    calculation.compiled = view.group->compiled;
    return zeta_calculate_sets(&calculation, type, &sets, pMetricValueCount, NULL, pMetricValues);
}

ze_result_t ZE_APICALL impl_zetMetricGroupCalculateMultipleMetricValuesExp(
    zet_metric_group_handle_t hMetricGroup, zet_metric_group_calculation_type_t type,
    size_t rawDataSize, const uint8_t *pRawData, uint32_t *pSetCount,
    uint32_t *pTotalMetricValueCount, uint32_t *pMetricCounts, zet_typed_value_t *pMetricValues)
{
    ZETA_CLEANUP(zeta_group_view_release) struct zeta_group_view view = {0};
    struct zeta_calculation calculation = {.raw = pRawData, .raw_bytes = rawDataSize};
    ze_result_t result = zeta_group_view_acquire(
        hMetricGroup, "zetMetricGroupCalculateMultipleMetricValuesExp", "hMetricGroup", &view);

    if (result == ZE_RESULT_SUCCESS)
        result = check_group(view.group);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    calculation.compiled = view.group->compiled;
    calculation.compiled_count = view.group->compiled_count;
    return zeta_calculate_sets(&calculation, type, pSetCount, pTotalMetricValueCount, pMetricCounts,
                               pMetricValues);
}

ze_result_t ZE_APICALL impl_zetMetricGroupCalculateMetricExportDataExp(
    ze_driver_handle_t hDriver ZETA_UNUSED, zet_metric_group_calculation_type_t type,
    size_t exportDataSize, const uint8_t *pExportData,
    zet_metric_calculate_exp_desc_t *pCalculateDescriptor, uint32_t *pSetCount,
    uint32_t *pTotalMetricValueCount, uint32_t *pMetricCounts, zet_typed_value_t *pMetricValues)
{
    struct zeta_export export;
    struct zeta_calculation calculation;
    size_t skipped;
    ze_result_t result = zeta_export_open(pExportData, exportDataSize, &export);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    calculation =
        (struct zeta_calculation){.compiled = export.compiled, .compiled_count = export.tile_count};
    skipped =
        zeta_slot_skip(export.raw, export.raw_bytes, zeta_compiled_record_bytes(export.compiled[0]),
                       pCalculateDescriptor->rawReportSkipCount, &calculation.first_tile);
    calculation.raw = export.raw + skipped;
    calculation.raw_bytes = export.raw_bytes - skipped;
    result = zeta_calculate_sets(&calculation, type, pSetCount, pTotalMetricValueCount,
                                 pMetricCounts, pMetricValues);
    zeta_export_close(&export);
    return result;
}

ze_result_t ZE_APICALL impl_zetMetricGroupGetGlobalTimestampsExp(
    zet_metric_group_handle_t hMetricGroup, ze_bool_t synchronizedWithHost,
    uint64_t *globalTimestamp, uint64_t *metricTimestamp)
{
    const struct zeta_metric_group *group = (const struct zeta_metric_group *)hMetricGroup;
    uint64_t ticks = 0;
    uint64_t host_ns = 0;
    ze_result_t result = zeta_device_clock(group->device, &ticks, &host_ns);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    /* Metrics and device have one clock, so both are the same number of ticks. */
    ticks &= zeta_valid_mask(group->device->backend->properties.timestamp_valid_bits);
    *globalTimestamp = synchronizedWithHost ? host_ns : ticks;
    *metricTimestamp = ticks;
    return ZE_RESULT_SUCCESS;
}

/* Sums over many rows -------------------------------------------------------------------------- */

/** What sums that were made alike have in common. Constant but for the number of sums. */
struct source {
    atomic_uint users;
    struct zeta_group_view view; /**< of a group, */
    struct zeta_export export;   /**< or of exported data, whose bytes are gone */
    struct zeta_compiled *const *compiled;
    struct zeta_sum_plan **plans;
    uint32_t tile_count;
};

struct zeta_metric_sum {
    struct source *source;
    struct zeta_sum sum;
};

/** A row and where it comes from. */
struct given_row {
    struct zeta_metric_row shown;
    const struct source *source;
    const struct zeta_sum_row *row;
};

/** Rows on their way into a sum. */
struct passage {
    struct zeta_metric_sum *sum;
    const struct zeta_metric_data *data; /**< with a function that sees each row first */
};

static ze_result_t check_alike(const char *function, const struct source *a, const struct source *b)
{
    if (a == b)
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      "%s: the rows are of another sum; make one with 'like' to add them to it",
                      function);
}

static void leave_source(struct source *source)
{
    if (atomic_fetch_sub(&source->users, 1) != 1)
        return;
    for (uint32_t i = 0; source->plans && i < source->tile_count; i++)
        zeta_sum_plan_destroy(source->plans[i]);
    free((void *)source->plans);
    zeta_export_close(&source->export);
    zeta_group_view_release(&source->view);
    free(source);
}

/** Takes the sets of the group, or those of the exported data. */
static ze_result_t take_sets(struct source *source, const struct zeta_metric_sum_desc *desc)
{
    const char *function = "zetaMetricSumCreate";
    ze_result_t result;

    if (!desc->group) {
        if (!desc->data)
            return zeta_own_null_pointer(function, "desc->group, and so is desc->data,");
        result = zeta_export_open(desc->data, desc->data_size, &source->export);
        source->compiled = source->export.compiled;
        source->tile_count = source->export.tile_count;
        return result;
    }
    if (!zeta_object_is(desc->group, ZETA_KIND_METRIC_GROUP))
        return zeta_object_explain(desc->group, ZETA_KIND_METRIC_GROUP, function, "desc->group");
    result = zeta_group_view_acquire(desc->group, function, "desc->group", &source->view);
    if (result == ZE_RESULT_SUCCESS)
        result = check_group(source->view.group);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    source->compiled = source->view.group->compiled;
    source->tile_count = source->view.group->compiled_count;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t make_plans(struct source *source, bool maximum)
{
    source->plans = calloc(source->tile_count, sizeof(struct zeta_sum_plan *));
    if (!source->plans)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < source->tile_count; i++) {
        ze_result_t result = zeta_sum_plan_create(source->compiled[i], maximum, &source->plans[i]);

        if (result == ZE_RESULT_ERROR_INVALID_ARGUMENT)
            return zeta_error(result, "the formulas of the set take too many steps to have values "
                                      "over many rows; use a set with fewer metrics");
        if (result != ZE_RESULT_SUCCESS)
            return result;
        if (!zeta_sum_plan_fits(source->plans[0], source->plans[i]))
            return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                              "tile %u has other formulas than tile 0, so their rows have no "
                              "common values; calculate them one by one",
                              i);
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t zetaMetricSumCreate(const struct zeta_metric_sum_desc *desc,
                                struct zeta_metric_sum **out_sum)
{
    const char *function = "zetaMetricSumCreate";
    struct zeta_metric_sum_desc known = {0};
    struct zeta_metric_sum *sum;
    ze_result_t result = zeta_own_struct_read(function, desc, &known, sizeof(known));

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!out_sum)
        return zeta_own_null_pointer(function, "out_sum");
    if ((uint32_t)known.type > ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                          "%s: desc->type is %u, no type of calculation", function,
                          (unsigned)known.type);
    sum = calloc(1, sizeof(*sum));
    if (!sum)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (known.like) {
        sum->source = known.like->source;
        atomic_fetch_add(&sum->source->users, 1);
    } else {
        sum->source = calloc(1, sizeof(*sum->source));
        if (!sum->source) {
            free(sum);
            return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        }
        atomic_init(&sum->source->users, 1);
        result = take_sets(sum->source, &known);
        if (result == ZE_RESULT_SUCCESS)
            result = make_plans(sum->source,
                                known.type == ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES);
    }
    if (result == ZE_RESULT_SUCCESS &&
        !zeta_sum_init(&sum->sum, sum->source->plans, sum->source->tile_count))
        result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (result == ZE_RESULT_SUCCESS) {
        *out_sum = sum;
        return result;
    }
    zetaMetricSumDestroy(sum);
    return result;
}

void zetaMetricSumDestroy(struct zeta_metric_sum *sum)
{
    if (!sum)
        return;
    zeta_sum_finish(&sum->sum);
    leave_source(sum->source);
    free(sum);
}

/* Adding --------------------------------------------------------------------------------------- */

static void pass_row(void *user, const struct zeta_sum_row *row)
{
    struct passage *passage = user;
    const struct given_row given = {
        .shown = {.struct_size = sizeof(given.shown),
                  .tile = row->tile,
                  .metric_count = zeta_sum_plan_metric_count(passage->sum->sum.plans[0]),
                  .values = row->values,
                  .has_value = row->has_value},
        .source = passage->sum->source,
        .row = row,
    };

    if (!passage->data->each || passage->data->each(passage->data->user, &given.shown) != 0)
        zeta_sum_add(&passage->sum->sum, row);
}

ze_result_t zetaMetricSumAdd(struct zeta_metric_sum *sum, const struct zeta_metric_data *data)
{
    const char *function = "zetaMetricSumAdd";
    struct zeta_metric_data known = {0};
    struct passage passage = {.sum = sum, .data = &known};
    uint32_t first_tile = 0;
    size_t skipped = 0;
    ze_result_t result;

    if (!sum)
        return zeta_own_null_handle(function, "sum");
    result = zeta_own_struct_read(function, data, &known, sizeof(known));
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!known.raw && known.raw_size > 0)
        return zeta_own_null_pointer(function, "data->raw");
    if (known.skip > 0)
        skipped =
            zeta_slot_skip(known.raw, known.raw_size, zeta_sum_plan_record_bytes(sum->sum.plans[0]),
                           known.skip, &first_tile);
    for (uint32_t i = 0; i < sum->source->tile_count && result == ZE_RESULT_SUCCESS; i++)
        result = zeta_sum_walk(sum->source->plans[i], i, first_tile, known.raw + skipped,
                               known.raw_size - skipped, pass_row, &passage);
    return result;
}

ze_result_t zetaMetricSumAddRow(struct zeta_metric_sum *sum, const struct zeta_metric_row *row)
{
    const char *function = "zetaMetricSumAddRow";
    const struct given_row *given = (const struct given_row *)row; /* its first member */
    ze_result_t result;

    if (!sum)
        return zeta_own_null_handle(function, "sum");
    result = zeta_own_struct_check(function, row);
    if (result == ZE_RESULT_SUCCESS)
        result = check_alike(function, sum->source, given->source);
    if (result == ZE_RESULT_SUCCESS)
        zeta_sum_add(&sum->sum, given->row);
    return result;
}

ze_result_t zetaMetricSumMerge(struct zeta_metric_sum *sum, const struct zeta_metric_sum *other)
{
    const char *function = "zetaMetricSumMerge";
    ze_result_t result;

    if (!sum || !other)
        return zeta_own_null_handle(function, "sum");
    result = check_alike(function, sum->source, other->source);
    if (result == ZE_RESULT_SUCCESS)
        zeta_sum_merge(&sum->sum, &other->sum);
    return result;
}

/* Values --------------------------------------------------------------------------------------- */

ze_result_t zetaMetricSumGetValues(const struct zeta_metric_sum *sum, uint32_t *count,
                                   struct zeta_metric_value *values)
{
    const char *function = "zetaMetricSumGetValues";
    struct zeta_sum_value *found;
    uint32_t metrics;
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (!sum)
        return zeta_own_null_handle(function, "sum");
    if (!count)
        return zeta_own_null_pointer(function, "count");
    metrics = zeta_sum_plan_metric_count(sum->sum.plans[0]);
    if (*count == 0)
        values = NULL;
    if (!values || *count > metrics)
        *count = metrics;
    for (uint32_t i = 0; values && i < *count && result == ZE_RESULT_SUCCESS; i++)
        result = zeta_own_struct_check(function, &values[i]);
    if (!values || result != ZE_RESULT_SUCCESS)
        return result;
    found = calloc((size_t)metrics + 1, sizeof(*found));
    if (!found || !zeta_sum_values(&sum->sum, found))
        result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < *count && result == ZE_RESULT_SUCCESS; i++) {
        const struct zeta_sum_count *rows = &sum->sum.counts[i];
        const struct zeta_metric_value value = {.rows = rows->rows,
                                                .has_value = found[i].has_value,
                                                .value = found[i].value,
                                                .min = rows->min,
                                                .max = rows->max,
                                                .last = rows->last};

        zeta_own_struct_copy(&values[i], values[i].struct_size, &value, sizeof(value));
    }
    free(found);
    return result;
}
