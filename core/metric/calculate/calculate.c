#include "core/metric/calculate/calculate.h"
#include "core/device/device.h"
#include "core/formula/compile/compile.h"
#include "core/formula/evaluate/evaluate.h"
#include "core/formula/record/slot.h"
#include "core/metric/export/export.h"
#include "core/metric/group/group.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
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

ze_result_t zeta_calculate_check(const struct zeta_metric_group *group)
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
        result = zeta_calculate_check(view.group);
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
        result = zeta_calculate_check(view.group);
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
