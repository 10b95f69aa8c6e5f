/*
 * tracer: lists what the device did, event by event.
 *
 * A metric tracer gives events at the moment they happen, not counts over time: activate groups of
 * this kind, create a tracer and enable it, work, disable it, read until nothing is left, decode.
 * The decoder knows which metrics the bytes hold; it is made from the tracer and outlives it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "example.h"
#include "matrix.h"
#include "metrics.h"

enum { MATRIX_SIZE = 64, MAX_METRICS = 64, MAX_SHOWN = 12, NOTIFY_BYTES = 4096 };

/* Raw data, as much as there was. */
struct data {
    uint8_t *bytes;
    size_t size;
    size_t capacity;
};

/* What the decoder can find in the data. */
struct metrics {
    zet_metric_handle_t handles[MAX_METRICS];
    zet_metric_properties_t properties[MAX_METRICS];
    uint64_t entries[MAX_METRICS];
    uint32_t count;
};

/* Reads until the tracer, which is disabled, has nothing left. */
static void read_all(zet_metric_tracer_exp_handle_t tracer, struct data *data)
{
    ze_result_t result = ZE_RESULT_SUCCESS;

    while (result != ZE_RESULT_NOT_READY) {
        size_t size = 64 * 1024;

        if (data->capacity - data->size < size) {
            data->capacity = 2 * data->capacity + size;
            data->bytes = realloc(data->bytes, data->capacity);
            if (!data->bytes)
                example_fail("no memory for %zu bytes of events", data->capacity);
        }
        result = zetMetricTracerReadDataExp(tracer, &size, data->bytes + data->size);
        if (result == ZE_RESULT_WARNING_DROPPED_DATA)
            (void)printf("(some events were lost)\n");
        else if (result != ZE_RESULT_NOT_READY)
            example_check(result, "zetMetricTracerReadDataExp");
        data->size += size;
    }
}

static zet_metric_decoder_exp_handle_t record(ze_context_handle_t context,
                                              ze_device_handle_t device,
                                              zet_metric_group_handle_t group, struct data *data)
{
    zet_metric_tracer_exp_desc_t description = {
        .stype = ZET_STRUCTURE_TYPE_METRIC_TRACER_EXP_DESC,
        .notifyEveryNBytes = NOTIFY_BYTES,
    };
    zet_metric_tracer_exp_handle_t tracer = NULL;
    zet_metric_decoder_exp_handle_t decoder = NULL;

    example_check(zetContextActivateMetricGroups(context, device, 1, &group),
                  "zetContextActivateMetricGroups");
    example_check(zetMetricTracerCreateExp(context, device, 1, &group, &description, NULL, &tracer),
                  "zetMetricTracerCreateExp");
    example_check(zetMetricTracerEnableExp(tracer, 1), "zetMetricTracerEnableExp");
    matrix_multiply_checked(context, device, MATRIX_SIZE);
    example_check(zetMetricTracerDisableExp(tracer, 1), "zetMetricTracerDisableExp");
    read_all(tracer, data);
    example_check(zetMetricDecoderCreateExp(tracer, &decoder), "zetMetricDecoderCreateExp");
    example_check(zetMetricTracerDestroyExp(tracer), "zetMetricTracerDestroyExp");
    example_check(zetContextActivateMetricGroups(context, device, 0, NULL),
                  "zetContextActivateMetricGroups");
    return decoder;
}

static void find_metrics(zet_metric_decoder_exp_handle_t decoder, struct metrics *metrics)
{
    metrics->count = 0;
    example_check(zetMetricDecoderGetDecodableMetricsExp(decoder, &metrics->count, NULL),
                  "zetMetricDecoderGetDecodableMetricsExp");
    if (metrics->count > MAX_METRICS)
        metrics->count = MAX_METRICS;
    example_check(
        zetMetricDecoderGetDecodableMetricsExp(decoder, &metrics->count, metrics->handles),
        "zetMetricDecoderGetDecodableMetricsExp");
    for (uint32_t i = 0; i < metrics->count; i++) {
        metrics->properties[i].stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES;
        example_check(zetMetricGetProperties(metrics->handles[i], &metrics->properties[i]),
                      "zetMetricGetProperties");
    }
}

/* Decodes everything; the caller frees what it gets. */
static zet_metric_entry_exp_t *decode(zet_metric_decoder_exp_handle_t decoder,
                                      const struct data *data, struct metrics *metrics,
                                      uint32_t *out_count)
{
    uint32_t set_count = 0;
    size_t size = data->size;
    zet_metric_entry_exp_t *entries = NULL;

    *out_count = 0;
    example_check(zetMetricTracerDecodeExp(decoder, &size, data->bytes, metrics->count,
                                           metrics->handles, &set_count, NULL, out_count, NULL),
                  "zetMetricTracerDecodeExp");
    entries = calloc((size_t)*out_count + 1, sizeof(*entries));
    if (!entries)
        example_fail("no memory for %" PRIu32 " entries", *out_count);
    example_check(zetMetricTracerDecodeExp(decoder, &size, data->bytes, metrics->count,
                                           metrics->handles, &set_count, NULL, out_count, entries),
                  "zetMetricTracerDecodeExp");
    return entries;
}

static void print_entries(const zet_metric_entry_exp_t *entries, uint32_t count,
                          struct metrics *metrics)
{
    for (uint32_t i = 0; i < count; i++) {
        const zet_metric_entry_exp_t *entry = &entries[i];
        const zet_metric_properties_t *metric = &metrics->properties[entry->metricIndex];
        const zet_typed_value_t value = {.type = metric->resultType, .value = entry->value};

        metrics->entries[entry->metricIndex]++;
        if (i < MAX_SHOWN)
            (void)printf("%12.3f us  %-24s %.0f\n",
                         (double)(entry->timeStamp - entries[0].timeStamp) / 1e3, metric->name,
                         example_to_double(&value));
    }
    (void)printf("Entries of each metric:\n");
    for (uint32_t i = 0; i < metrics->count; i++)
        (void)printf("%10" PRIu64 "  %s\n", metrics->entries[i], metrics->properties[i].name);
}

int main(void)
{
    const ze_context_desc_t description = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    static struct metrics metrics;
    struct data data = {NULL, 0, 0};
    ze_driver_handle_t driver = NULL;
    ze_device_handle_t device = NULL;
    ze_context_handle_t context = NULL;
    zet_metric_group_handle_t group = NULL;
    zet_metric_decoder_exp_handle_t decoder = NULL;
    zet_metric_entry_exp_t *entries = NULL;
    uint32_t count = 0;

    /* Zeta lists groups of events for those who ask. Another driver does not know the variable. */
    (void)setenv("ZETA_METRIC_TRACER_GROUPS", "1", 0);
    example_find_computing_device(&driver, &device);
    example_check(zetDeviceEnableMetricsExp(device), "zetDeviceEnableMetricsExp");
    example_check(zeContextCreate(driver, &description, &context), "zeContextCreate");
    group = example_find_group(device, NULL, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED);
    decoder = record(context, device, group, &data);
    find_metrics(decoder, &metrics);
    entries = decode(decoder, &data, &metrics, &count);
    print_entries(entries, count, &metrics);
    example_check(zetMetricDecoderDestroyExp(decoder), "zetMetricDecoderDestroyExp");
    example_check(zeContextDestroy(context), "zeContextDestroy");
    free(entries);
    free(data.bytes);
    return count > 0 ? 0 : 1;
}
