#include "tests/tracer/tracing.h"

#include <stdlib.h>
#include <string.h>

#include "tests/query/bed.h"

struct tracing tracing_begin(const struct bed *bed, ze_device_handle_t device)
{
    zet_metric_group_handle_t groups[2];

    device = device ? device : bed->device;
    groups[0] = find_group(device, "KernelEvents", TRACER_BASED, NULL);
    groups[1] = find_group(device, "DeviceEvents", TRACER_BASED, NULL);
    EXPECT_OK(zetContextActivateMetricGroups(bed->context, device, 2, groups));
    return tracing_open(bed->context, device, 2, groups);
}

struct tracing tracing_open(ze_context_handle_t context, ze_device_handle_t device, uint32_t count,
                            zet_metric_group_handle_t *groups)
{
    struct tracing tracing = {.context = context, .device = device};
    zet_metric_tracer_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_TRACER_EXP_DESC};

    memcpy(tracing.groups, groups, count * sizeof(groups[0]));
    EXPECT_OK(
        zetMetricTracerCreateExp(context, device, count, groups, &desc, NULL, &tracing.tracer));
    EXPECT_OK(zetMetricDecoderCreateExp(tracing.tracer, &tracing.decoder));
    tracing.metric_count = TRACING_METRICS;
    EXPECT_OK(zetMetricDecoderGetDecodableMetricsExp(tracing.decoder, &tracing.metric_count,
                                                     tracing.metrics));
    for (uint32_t i = 0; i < tracing.metric_count; i++) {
        zet_metric_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};

        EXPECT_OK(zetMetricGetProperties(tracing.metrics[i], &properties));
        memcpy(tracing.names[i], properties.name, sizeof(tracing.names[i]));
    }
    return tracing;
}

void tracing_end(struct tracing *tracing)
{
    const ze_context_handle_t context = tracing->context;
    const ze_device_handle_t device = tracing->device;

    tracing_close(tracing);
    EXPECT_OK(zetContextActivateMetricGroups(context, device, 0, NULL));
}

void tracing_close(struct tracing *tracing)
{
    EXPECT_OK(zetMetricTracerDestroyExp(tracing->tracer));
    EXPECT_OK(zetMetricDecoderDestroyExp(tracing->decoder));
    free(tracing->raw);
    free(tracing->entries);
    memset(tracing, 0, sizeof(*tracing));
}

void tracing_enable(struct tracing *tracing)
{
    EXPECT_OK(zetMetricTracerEnableExp(tracing->tracer, 1));
}

void tracing_disable(struct tracing *tracing)
{
    EXPECT_OK(zetMetricTracerDisableExp(tracing->tracer, 1));
}

void tracing_read(struct tracing *tracing)
{
    enum { CHUNK = 1 << 20 };
    size_t size = 1;

    while (size > 0) {
        ze_result_t result;

        if (tracing->raw_capacity - tracing->raw_bytes < CHUNK) {
            tracing->raw_capacity = 2 * tracing->raw_capacity + CHUNK;
            tracing->raw = realloc(tracing->raw, tracing->raw_capacity);
            assert_non_null(tracing->raw);
        }
        size = CHUNK;
        result =
            zetMetricTracerReadDataExp(tracing->tracer, &size, tracing->raw + tracing->raw_bytes);
        if (result == ZE_RESULT_WARNING_DROPPED_DATA)
            tracing->dropped = true;
        else if (result == ZE_RESULT_NOT_READY)
            assert_int_equal(size, 0); /* off and drained */
        else
            EXPECT_OK(result);
        tracing->raw_bytes += size;
    }
}

void tracing_decode(struct tracing *tracing)
{
    size_t used = tracing->raw_bytes;
    uint32_t sets = 0, count = 0;
    ze_result_t result;

    EXPECT_OK(zetMetricTracerDecodeExp(tracing->decoder, &used, tracing->raw, tracing->metric_count,
                                       tracing->metrics, &sets, NULL, &count, NULL));
    assert_in_range(sets, 1, 8);
    tracing->sets = sets;
    free(tracing->entries);
    tracing->entries = calloc(count ? count : 1, sizeof(tracing->entries[0]));
    assert_non_null(tracing->entries);
    tracing->entry_count = count;
    result = zetMetricTracerDecodeExp(tracing->decoder, &used, tracing->raw, tracing->metric_count,
                                      tracing->metrics, &tracing->sets, tracing->per_set,
                                      &tracing->entry_count, tracing->entries);
    if (result != ZE_RESULT_WARNING_DROPPED_DATA || !tracing->dropped)
        EXPECT_OK(result);
    assert_int_equal(used, tracing->raw_bytes);
    assert_int_equal(tracing->entry_count, count);
}

static bool is_of(const struct tracing *tracing, const zet_metric_entry_exp_t *entry,
                  const char *metric)
{
    assert_in_range(entry->metricIndex, 0, tracing->metric_count - 1);
    return strcmp(tracing->names[entry->metricIndex], metric) == 0;
}

uint32_t tracing_count(const struct tracing *tracing, const char *metric)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < tracing->entry_count; i++)
        count += is_of(tracing, &tracing->entries[i], metric);
    return count;
}

const zet_metric_entry_exp_t *tracing_entry(const struct tracing *tracing, const char *metric,
                                            uint32_t position)
{
    for (uint32_t i = 0; i < tracing->entry_count; i++) {
        if (is_of(tracing, &tracing->entries[i], metric) && position-- == 0)
            return &tracing->entries[i];
    }
    fail_msg("too few entries of %s", metric);
    return NULL;
}

uint64_t tracing_sum(const struct tracing *tracing, const char *metric)
{
    zet_metric_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};
    uint64_t sum = 0;

    for (uint32_t i = 0; i < tracing->entry_count; i++) {
        const zet_metric_entry_exp_t *entry = &tracing->entries[i];

        if (!is_of(tracing, entry, metric))
            continue;
        EXPECT_OK(zetMetricGetProperties(tracing->metrics[entry->metricIndex], &properties));
        sum +=
            properties.resultType == ZET_VALUE_TYPE_UINT32 ? entry->value.ui32 : entry->value.ui64;
    }
    return sum;
}

bool tracing_in_order(uint64_t a_ns, uint64_t b_ns)
{
    const uint64_t distance = (b_ns + TRACING_WRAP_NS - a_ns) % TRACING_WRAP_NS;

    return distance < TRACING_WRAP_NS / 2;
}
