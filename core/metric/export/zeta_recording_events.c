/* Decoding recorded events: the functions of zeta.h. */
#include <stdlib.h>

#include "core/metric/export/recording_events.h"
#include "core/util/cleanup.h"
#include "core/util/own_struct.h"
#include "zeta/zeta.h"

static ze_result_t check_arguments(const char *function, const struct zeta_recording_reader *reader,
                                   const void *first, const void *second, const char *names[2])
{
    if (!reader)
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "%s: reader is null", function);
    if (first && second)
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_POINTER, "%s: %s is null", function,
                      names[first ? 1 : 0]);
}

static void copy_metrics(const struct zeta_recorded_events *events, uint32_t *count,
                         struct zeta_exported_metric *metrics)
{
    if (*count == 0)
        metrics = NULL;
    if (!metrics || *count > events->metric_count)
        *count = events->metric_count;
    for (uint32_t i = 0; metrics && i < *count; i++) {
        struct zeta_exported_metric found = {0};

        zeta_recorded_events_describe(events, i, &found.properties, &found.metric_class);
        zeta_own_struct_copy(&metrics[i], metrics[i].struct_size, &found, sizeof(found));
    }
}

ze_result_t zetaRecordingGetEventMetrics(struct zeta_recording_reader *reader, uint32_t *count,
                                         struct zeta_exported_metric *metrics)
{
    const char *function = "zetaRecordingGetEventMetrics";
    struct zeta_recorded_events events = {0};
    ze_result_t result =
        check_arguments(function, reader, count, count, (const char *[]){"count", "count"});

    for (uint32_t i = 0; result == ZE_RESULT_SUCCESS && metrics && i < *count; i++)
        result = zeta_own_struct_check(function, &metrics[i]);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = zeta_recorded_events_open(reader, &events);
    if (result == ZE_RESULT_SUCCESS)
        copy_metrics(&events, count, metrics);
    zeta_recorded_events_close(&events);
    return result;
}

static ze_result_t decode(const struct zeta_recorded_events *events, uint32_t *set_count,
                          uint32_t *counts_per_set, uint32_t *entry_count,
                          zet_metric_entry_exp_t *entries)
{
    ZETA_CLEANUP(zeta_freep) uint64_t *counts = calloc(events->set_count, sizeof(*counts));
    ze_result_t result;

    if (!counts)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    result =
        zeta_recorded_events_decode(events, counts, entry_count, *entry_count > 0 ? entries : NULL);
    for (uint32_t i = 0; counts_per_set && i < *set_count && i < events->set_count; i++)
        counts_per_set[i] = (uint32_t)counts[i];
    *set_count = events->set_count;
    return result;
}

ze_result_t zetaRecordingDecodeEvents(struct zeta_recording_reader *reader, uint32_t *set_count,
                                      uint32_t *counts_per_set, uint32_t *entry_count,
                                      zet_metric_entry_exp_t *entries)
{
    struct zeta_recorded_events events = {0};
    ze_result_t result = check_arguments("zetaRecordingDecodeEvents", reader, set_count,
                                         entry_count, (const char *[]){"set_count", "entry_count"});

    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = zeta_recorded_events_open(reader, &events);
    if (result == ZE_RESULT_SUCCESS)
        result = decode(&events, set_count, counts_per_set, entry_count, entries);
    zeta_recorded_events_close(&events);
    return result;
}
