/*
 * Decoders: what turns the data of a tracer into entries, as objects.
 *
 * A decoder belongs to the groups of its tracer, not to the tracer, which it outlives. Its metrics
 * are handles of its own: they decode and have properties, and belong to no group that could be
 * activated.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/device/device.h"
#include "core/formula/evaluate/decode.h"
#include "core/metric/group/group.h"
#include "core/metric/stream/collector.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

/** What belongs to a decoder. Constant once made. */
struct zeta_decoder {
    struct zeta_decode_plan *plan;
    struct zeta_metric_entry **entries; /**< metrics, in the order of the plan */
    uint32_t metric_count;
    char label[192]; /**< of the tracer */
};

/** The object behind zet_metric_decoder_exp_handle_t. */
struct decoder_handle {
    struct zeta_object object;
    struct zeta_decoder *decoder; /**< freed with the last reference */
};

/* Creating and destroying -----------------------------------------------------------------------
 */

static void decoder_free(struct zeta_decoder *decoder)
{
    zeta_decode_plan_destroy(decoder->plan);
    free(decoder->entries);
    free(decoder);
}

/** Ends the handles of the metrics, which other threads may still read. */
static void discard_entries(struct zeta_decoder *decoder)
{
    for (uint32_t i = 0; i < decoder->metric_count; i++)
        zeta_metric_entry_discard(decoder->entries[i]);
}

static void finish_decoder(void *object)
{
    decoder_free(((struct decoder_handle *)object)->decoder);
}

ZETA_OBJECT_FINISHER(ZETA_KIND_METRIC_DECODER, finish_decoder)

static ze_result_t make_plan(const struct zeta_collector *tracer,
                             struct zeta_decode_plan **out_plan)
{
    const struct zeta_device *device = tracer->client.device;
    const struct zeta_plugin_device_properties *properties = &device->backend->properties;
    ZETA_CLEANUP(zeta_freep)
    struct zeta_decode_group *groups = calloc(tracer->client.group_count, sizeof(*groups));
    struct zeta_decode_source source = {
        .groups = groups,
        .group_count = tracer->client.group_count,
        .tile_count = device->tile_count,
        .timer_hz = properties->timer_hz,
        .timestamp_bits = properties->timestamp_valid_bits,
    };

    if (!groups)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < tracer->client.group_count; i++)
        groups[i].compiled = tracer->groups[i]->compiled;
    return zeta_decode_plan_create(&source, out_plan);
}

static ze_result_t make_entries(struct zeta_decoder *decoder)
{
    const uint32_t count = zeta_decode_metric_count(decoder->plan);

    decoder->entries = calloc(count, sizeof(struct zeta_metric_entry *));
    if (!decoder->entries)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        struct zeta_metric_entry *entry = NULL;
        ze_result_t result = zeta_metric_entry_create(zeta_decode_metric(decoder->plan, i), &entry);

        if (result != ZE_RESULT_SUCCESS) {
            discard_entries(decoder);
            return result;
        }
        entry->decoder = decoder;
        entry->place = i;
        decoder->entries[decoder->metric_count++] = entry;
    }
    return ZE_RESULT_SUCCESS;
}

static ze_result_t make_decoder(const struct zeta_collector *tracer,
                                struct zeta_decoder **out_decoder)
{
    struct zeta_decoder *decoder = calloc(1, sizeof(*decoder));
    ze_result_t result;

    if (!decoder)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    (void)snprintf(decoder->label, sizeof(decoder->label), "%s", tracer->capture->label);
    result = make_plan(tracer, &decoder->plan);
    if (result == ZE_RESULT_SUCCESS)
        result = make_entries(decoder);
    if (result != ZE_RESULT_SUCCESS) {
        decoder_free(decoder);
        return result;
    }
    *out_decoder = decoder;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zetMetricDecoderCreateExp(
    zet_metric_tracer_exp_handle_t hMetricTracer, zet_metric_decoder_exp_handle_t *phMetricDecoder)
{
    struct zeta_collector_handle *tracer = (struct zeta_collector_handle *)hMetricTracer;
    struct decoder_handle *handle;
    struct zeta_decoder *decoder = NULL;
    void *made = NULL;
    ze_result_t result;

    if (!zeta_object_pin(tracer, ZETA_KIND_METRIC_TRACER))
        return zeta_object_explain(tracer, ZETA_KIND_METRIC_TRACER, "zetMetricDecoderCreateExp",
                                   "hMetricTracer");
    /* Groups and their sets live as long as the process; nothing of the tracer is kept. */
    result = make_decoder(tracer->collector, &decoder);
    zeta_object_unpin(tracer);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = zeta_object_create(ZETA_KIND_METRIC_DECODER, sizeof(*handle), &made);
    if (result != ZE_RESULT_SUCCESS) {
        discard_entries(decoder);
        decoder_free(decoder);
        return result;
    }
    handle = made;
    handle->decoder = decoder;
    *phMetricDecoder = (zet_metric_decoder_exp_handle_t)handle;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL
impl_zetMetricDecoderDestroyExp(zet_metric_decoder_exp_handle_t phMetricDecoder)
{
    struct decoder_handle *handle = (struct decoder_handle *)phMetricDecoder;

    if (!zeta_object_retire(handle))
        return zeta_object_explain(handle, ZETA_KIND_METRIC_DECODER, "zetMetricDecoderDestroyExp",
                                   "phMetricDecoder");
    discard_entries(handle->decoder);
    zeta_object_unpin(handle);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL
impl_zetMetricDecoderGetDecodableMetricsExp(zet_metric_decoder_exp_handle_t hMetricDecoder,
                                            uint32_t *pCount, zet_metric_handle_t *phMetrics)
{
    struct decoder_handle *handle = (struct decoder_handle *)hMetricDecoder;
    uint32_t count;

    if (!zeta_object_pin(handle, ZETA_KIND_METRIC_DECODER))
        return zeta_object_explain(handle, ZETA_KIND_METRIC_DECODER,
                                   "zetMetricDecoderGetDecodableMetricsExp", "hMetricDecoder");
    count = zeta_count_clip(pCount, handle->decoder->metric_count, phMetrics);
    for (uint32_t i = 0; i < count; i++)
        phMetrics[i] = (zet_metric_handle_t)handle->decoder->entries[i];
    zeta_object_unpin(handle);
    return ZE_RESULT_SUCCESS;
}

/* Decoding --------------------------------------------------------------------------------------
 */

/** Reports what is wrong with a metric, which may end meanwhile. */
static ze_result_t refuse_metric(struct zeta_metric_entry *entry, const char *wrong)
{
    if (!zeta_object_pin(entry, ZETA_KIND_METRIC))
        return zeta_object_explain(entry, ZETA_KIND_METRIC, "zetMetricTracerDecodeExp",
                                   "phMetrics");
    (void)zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "metric %s %s", entry->properties->name,
                     wrong);
    zeta_object_unpin(entry);
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

/** Fills names: which position of the caller's array each metric of the decoder has. */
static ze_result_t name_metrics(const struct zeta_decoder *decoder, uint32_t count,
                                const zet_metric_handle_t *metrics, uint32_t *names)
{
    for (uint32_t i = 0; i < decoder->metric_count; i++)
        names[i] = ZETA_DECODE_LEFT_OUT;
    for (uint32_t i = 0; i < count; i++) {
        struct zeta_metric_entry *entry = (struct zeta_metric_entry *)metrics[i];
        char wrong[400];

        if (entry->decoder != decoder) {
            (void)snprintf(wrong, sizeof(wrong),
                           "at position %u is none of the decoder of %s; take those of "
                           "zetMetricDecoderGetDecodableMetricsExp",
                           i, decoder->label);
            return refuse_metric(entry, wrong);
        }
        if (names[entry->place] != ZETA_DECODE_LEFT_OUT) {
            (void)snprintf(wrong, sizeof(wrong),
                           "is at positions %u and %u; an entry has one index", names[entry->place],
                           i);
            return refuse_metric(entry, wrong);
        }
        names[entry->place] = i;
    }
    return ZE_RESULT_SUCCESS;
}

static uint32_t clip_u32(uint64_t value)
{
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

/** What the caller wants, and where the numbers go. */
struct decode_call {
    const struct zeta_decoder *decoder;
    size_t *raw_bytes;
    uint32_t *set_count;
    uint32_t *counts_per_set; /**< may be NULL */
    uint32_t *entry_count;
    zet_metric_entry_exp_t *entries; /**< NULL: count only */
};

static ze_result_t run(const struct decode_call *call, struct zeta_decode_request *request,
                       uint64_t *counts)
{
    const uint32_t asked = *call->set_count;
    struct zeta_decode_outcome outcome;

    if (call->entries) {
        ze_result_t result =
            zeta_decode(call->decoder->plan, request, counts, call->entries, &outcome);

        if (result != ZE_RESULT_SUCCESS)
            return result;
        if (outcome.entry_count == 0 && outcome.first_needed > 0) {
            *call->entry_count = clip_u32(outcome.first_needed);
            return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                              "the next event has %llu entries, which are never given apart, and "
                              "there is room for %llu",
                              (unsigned long long)outcome.first_needed,
                              (unsigned long long)request->capacity);
        }
        *call->raw_bytes = outcome.consumed_bytes;
    } else {
        zeta_decode_count(call->decoder->plan, request, counts, &outcome);
    }
    *call->set_count = request->set_count;
    *call->entry_count = clip_u32(outcome.entry_count);
    for (uint32_t i = 0; call->counts_per_set && i < asked && i < request->set_count; i++)
        call->counts_per_set[i] = clip_u32(counts[i]);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t decode(const struct decode_call *call, const uint8_t *raw, uint32_t metric_count,
                          const zet_metric_handle_t *metrics)
{
    const uint32_t sets = zeta_decode_set_count(call->decoder->plan);
    ZETA_CLEANUP(zeta_freep)
    uint32_t *names = malloc(((size_t)call->decoder->metric_count + 1) * sizeof(*names));
    ZETA_CLEANUP(zeta_freep) uint64_t *counts = calloc(sets, sizeof(*counts));
    struct zeta_decode_request request = {
        .raw = raw,
        .raw_bytes = *call->raw_bytes,
        .names = names,
        .set_count = *call->set_count > 0 && *call->set_count < sets ? *call->set_count : sets,
        .capacity = UINT64_MAX,
    };
    ze_result_t result;

    if (!names || !counts)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    result = name_metrics(call->decoder, metric_count, metrics, names);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!call->entry_count) {
        *call->set_count = request.set_count;
        return ZE_RESULT_SUCCESS;
    }
    if (call->entries)
        request.capacity = *call->entry_count;
    return run(call, &request, counts);
}

ze_result_t ZE_APICALL impl_zetMetricTracerDecodeExp(
    zet_metric_decoder_exp_handle_t phMetricDecoder, size_t *pRawDataSize, uint8_t *pRawData,
    uint32_t metricsCount, zet_metric_handle_t *phMetrics, uint32_t *pSetCount,
    uint32_t *pMetricEntriesCountPerSet, uint32_t *pMetricEntriesCount,
    zet_metric_entry_exp_t *pMetricEntries)
{
    struct decoder_handle *handle = (struct decoder_handle *)phMetricDecoder;
    const bool counts_only = !pMetricEntriesCount || *pMetricEntriesCount == 0 || *pSetCount == 0;
    struct decode_call call = {
        .raw_bytes = pRawDataSize,
        .set_count = pSetCount,
        .counts_per_set = pMetricEntriesCountPerSet,
        .entry_count = pMetricEntriesCount,
        .entries = counts_only ? NULL : pMetricEntries,
    };
    ze_result_t result;

    if (!pRawData && *pRawDataSize > 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                          "pRawData is null and *pRawDataSize %zu", *pRawDataSize);
    if (!zeta_object_pin(handle, ZETA_KIND_METRIC_DECODER))
        return zeta_object_explain(handle, ZETA_KIND_METRIC_DECODER, "zetMetricTracerDecodeExp",
                                   "phMetricDecoder");
    call.decoder = handle->decoder;
    result = decode(&call, pRawData, metricsCount, phMetrics);
    zeta_object_unpin(handle);
    return result;
}
