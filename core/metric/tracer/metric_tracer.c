/*
 * Metric tracers and their decoders.
 *
 * A decoder belongs to the groups of its tracer, not to the tracer, which it outlives. Its metrics
 * are handles of its own: they decode and have properties, and belong to no group that could be
 * activated.
 */
#include <stdlib.h>
#include <string.h>

#include "core/capture/capture.h"
#include "core/capture/unit.h"
#include "core/device/device.h"
#include "core/formula/evaluate/decode.h"
#include "core/formula/sets/set.h"
#include "core/metric/group/group.h"
#include "core/metric/stream/collector.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "core/util/own_struct.h"
#include "zeta/zeta.h"
#include "zeta_impl.h"

/* Creating ------------------------------------------------------------------------------------- */

/** The groups of one tracer are of the device, of different domains, with records of one form. */
static ze_result_t check_groups(const struct zeta_device *device,
                                struct zeta_metric_group *const *groups, uint32_t count)
{
    if (count == 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "a tracer needs at least one group");
    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_metric_group *group = groups[i];
        ze_result_t result = zeta_metric_group_check_device(group, device);

        if (result != ZE_RESULT_SUCCESS)
            return result;
        if ((group->properties->samplingType &
             ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED) == 0)
            return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                              "group %s is not tracer-based; its properties show how it is "
                              "collected",
                              group->properties->name);
        for (uint32_t j = 0; j < i; j++) {
            const struct zeta_metric_group *other = groups[j];

            if (other->properties->domain == group->properties->domain)
                return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                                  "groups %s and %s share domain %u; one tracer has groups of "
                                  "different domains",
                                  other->properties->name, group->properties->name,
                                  group->properties->domain);
            if (strcmp(other->set->layout->name, group->set->layout->name) != 0)
                return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                                  "groups %s and %s have records of different forms; create a "
                                  "tracer for each",
                                  other->properties->name, group->properties->name);
        }
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zetMetricTracerCreateExp(
    zet_context_handle_t hContext, zet_device_handle_t hDevice, uint32_t metricGroupCount,
    zet_metric_group_handle_t *phMetricGroups, zet_metric_tracer_exp_desc_t *desc,
    ze_event_handle_t hNotificationEvent, zet_metric_tracer_exp_handle_t *phMetricTracer)
{
    const struct zeta_context *context = (const struct zeta_context *)hContext;
    struct zeta_device *device = (struct zeta_device *)hDevice;
    struct zeta_metric_group *const *groups = (struct zeta_metric_group *const *)phMetricGroups;
    struct zeta_event *event = (struct zeta_event *)hNotificationEvent;
    ZETA_CLEANUP(zeta_freep) struct zeta_plugin_string *units = NULL;
    struct zeta_tracer_request request = {.unit_count = metricGroupCount,
                                          .event = zeta_collector_event(event),
                                          .notify_bytes = desc->notifyEveryNBytes};
    struct zeta_collector *tracer = NULL;
    ze_result_t result = zeta_collector_check(context, device, event);

    if (result == ZE_RESULT_SUCCESS)
        result = check_groups(device, groups, metricGroupCount);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    units = calloc(metricGroupCount, sizeof(*units));
    if (!units)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < metricGroupCount; i++)
        units[i] = zeta_plugin_text(groups[i]->set->unit->name);
    request.layout = groups[0]->set->layout;
    request.units = units;
    result = zeta_collector_create(ZETA_KIND_METRIC_TRACER, context, device, groups,
                                   metricGroupCount, &tracer);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = zeta_collector_opened(tracer, zeta_tracer_open(tracer->capture, &request));
    if (result != ZE_RESULT_SUCCESS)
        return result;
    desc->notifyEveryNBytes = request.notify_bytes;
    *phMetricTracer = (zet_metric_tracer_exp_handle_t)tracer;
    return ZE_RESULT_SUCCESS;
}

/* Using ---------------------------------------------------------------------------------------- */

ze_result_t ZE_APICALL impl_zetMetricTracerEnableExp(zet_metric_tracer_exp_handle_t hMetricTracer,
                                                     ze_bool_t synchronous)
{
    return zeta_capture_enable(((struct zeta_collector *)hMetricTracer)->capture, true,
                               synchronous != 0);
}

ze_result_t ZE_APICALL impl_zetMetricTracerDisableExp(zet_metric_tracer_exp_handle_t hMetricTracer,
                                                      ze_bool_t synchronous)
{
    return zeta_capture_enable(((struct zeta_collector *)hMetricTracer)->capture, false,
                               synchronous != 0);
}

ze_result_t ZE_APICALL impl_zetMetricTracerReadDataExp(zet_metric_tracer_exp_handle_t hMetricTracer,
                                                       size_t *pRawDataSize, uint8_t *pRawData)
{
    if (*pRawDataSize == 0 || !pRawData)
        return zeta_error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "a tracer has no size query; give a buffer, and read again while it comes "
            "back full");
    return zeta_capture_read(((struct zeta_collector *)hMetricTracer)->capture, UINT32_MAX,
                             pRawDataSize, pRawData);
}

ze_result_t ZE_APICALL impl_zetMetricTracerDestroyExp(zet_metric_tracer_exp_handle_t hMetricTracer)
{
    struct zeta_collector *tracer = (struct zeta_collector *)hMetricTracer;
    /* The units first: whoever sees this one destroyed may create the next. */
    ze_result_t result = zeta_capture_close(tracer->capture);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    zeta_client_release(tracer->root, &tracer->client);
    zeta_object_discard(tracer);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zetaMetricTracerGetName(zet_metric_tracer_exp_handle_t tracer, uint64_t id,
                                    size_t *size, char *name)
{
    const char *function = "zetaMetricTracerGetName";
    struct zeta_collector *collector = (struct zeta_collector *)tracer;
    ZETA_CLEANUP(zeta_freep) char *text = NULL;
    ze_result_t result;

    if (!size)
        return zeta_own_null_pointer(function, "size");
    if (!zeta_object_pin(collector, ZETA_KIND_METRIC_TRACER))
        return zeta_object_explain(collector, ZETA_KIND_METRIC_TRACER, function, "tracer");
    result = zeta_capture_name(collector->capture, id, &text);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_own_text_copy(function, text, strlen(text), size, name);
    zeta_object_unpin(collector);
    return result;
}

/** The object behind zet_metric_decoder_exp_handle_t. Constant once made. */
struct zeta_decoder {
    struct zeta_object object;
    struct zeta_decode_plan *plan;
    struct zeta_metric_entry **entries; /**< metrics, in the order of the plan */
    uint32_t metric_count;
    char *label; /**< of the tracer */
};

/* Creating and destroying ---------------------------------------------------------------------- */

static void finish_decoder(void *object)
{
    struct zeta_decoder *decoder = object;

    zeta_decode_plan_destroy(decoder->plan);
    free(decoder->entries);
    free(decoder->label);
}

ZETA_OBJECT_FINISHER(ZETA_KIND_METRIC_DECODER, finish_decoder)

/** Ends the handles of the metrics, which other threads may still read. */
static void discard_entries(struct zeta_decoder *decoder)
{
    for (uint32_t i = 0; i < decoder->metric_count; i++)
        zeta_object_discard(decoder->entries[i]);
}

/* Groups and their sets live as long as the process; nothing of the tracer is kept. */
ze_result_t ZE_APICALL impl_zetMetricDecoderCreateExp(
    zet_metric_tracer_exp_handle_t hMetricTracer, zet_metric_decoder_exp_handle_t *phMetricDecoder)
{
    const struct zeta_collector *tracer = (const struct zeta_collector *)hMetricTracer;
    const struct zeta_device *device = tracer->client.device;
    const uint32_t group_count = tracer->client.group_count;
    ZETA_CLEANUP(zeta_freep)
    struct zeta_decode_group *groups = calloc(group_count, sizeof(*groups));
    const struct zeta_decode_source source = {
        .groups = groups,
        .group_count = group_count,
        .tile_count = device->tile_count,
        .timer_hz = device->backend->properties.timer_hz,
        .timestamp_bits = device->backend->properties.timestamp_valid_bits,
    };
    struct zeta_decoder *decoder;
    void *made = NULL;
    ze_result_t result = zeta_object_create(ZETA_KIND_METRIC_DECODER, sizeof(*decoder), &made);
    uint32_t count;

    if (result != ZE_RESULT_SUCCESS)
        return result;
    decoder = made;
    decoder->label = strdup(tracer->capture->label);
    result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (!groups || !decoder->label)
        goto discard;
    for (uint32_t i = 0; i < group_count; i++)
        groups[i].compiled = tracer->client.groups[i]->compiled;
    result = zeta_decode_plan_create(&source, &decoder->plan);
    if (result != ZE_RESULT_SUCCESS)
        goto discard;
    count = zeta_decode_metric_count(decoder->plan);
    decoder->entries = calloc(count, sizeof(struct zeta_metric_entry *));
    if (!decoder->entries)
        result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    while (result == ZE_RESULT_SUCCESS && decoder->metric_count < count) {
        const uint32_t place = decoder->metric_count;
        struct zeta_metric_entry **entry = &decoder->entries[place];

        result = zeta_metric_entry_create(zeta_decode_metric(decoder->plan, place), entry);
        if (result != ZE_RESULT_SUCCESS)
            goto discard;
        (*entry)->decoder = decoder;
        (*entry)->place = place;
        decoder->metric_count++;
    }
    if (result != ZE_RESULT_SUCCESS)
        goto discard;
    *phMetricDecoder = (zet_metric_decoder_exp_handle_t)decoder;
    return ZE_RESULT_SUCCESS;

discard:
    discard_entries(decoder);
    zeta_object_discard(decoder);
    return result;
}

ze_result_t ZE_APICALL
impl_zetMetricDecoderDestroyExp(zet_metric_decoder_exp_handle_t phMetricDecoder)
{
    struct zeta_decoder *decoder = (struct zeta_decoder *)phMetricDecoder;

    if (!zeta_object_retire(decoder))
        return zeta_object_explain(decoder, ZETA_KIND_METRIC_DECODER, "zetMetricDecoderDestroyExp",
                                   "phMetricDecoder");
    discard_entries(decoder);
    zeta_object_unpin(decoder);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL
impl_zetMetricDecoderGetDecodableMetricsExp(zet_metric_decoder_exp_handle_t hMetricDecoder,
                                            uint32_t *pCount, zet_metric_handle_t *phMetrics)
{
    const struct zeta_decoder *decoder = (const struct zeta_decoder *)hMetricDecoder;
    const uint32_t count = zeta_count_clip(pCount, decoder->metric_count, phMetrics);

    for (uint32_t i = 0; i < count; i++)
        phMetrics[i] = (zet_metric_handle_t)decoder->entries[i];
    return ZE_RESULT_SUCCESS;
}

/* Decoding ------------------------------------------------------------------------------------- */

/**
 * Fills names: which position of the caller's array each metric of the decoder has. A metric that
 * is refused may end meanwhile.
 */
static ze_result_t name_metrics(const struct zeta_decoder *decoder, uint32_t count,
                                const zet_metric_handle_t *metrics, uint32_t *names)
{
    for (uint32_t i = 0; i < decoder->metric_count; i++)
        names[i] = ZETA_DECODE_LEFT_OUT;
    for (uint32_t i = 0; i < count; i++) {
        struct zeta_metric_entry *entry = (struct zeta_metric_entry *)metrics[i];
        ze_result_t result;

        if (entry->decoder == decoder && names[entry->place] == ZETA_DECODE_LEFT_OUT) {
            names[entry->place] = i;
            continue;
        }
        if (!zeta_object_pin(entry, ZETA_KIND_METRIC))
            return zeta_object_explain(entry, ZETA_KIND_METRIC, "zetMetricTracerDecodeExp",
                                       "phMetrics");
        if (entry->decoder != decoder)
            result = zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                                "metric %s at position %u is none of the decoder of %s; take those "
                                "of zetMetricDecoderGetDecodableMetricsExp",
                                entry->properties->name, i, decoder->label);
        else
            result = zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                                "metric %s is at positions %u and %u; an entry has one index",
                                entry->properties->name, names[entry->place], i);
        zeta_object_unpin(entry);
        return result;
    }
    return ZE_RESULT_SUCCESS;
}

static uint32_t clip_u32(uint64_t value)
{
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

ze_result_t ZE_APICALL impl_zetMetricTracerDecodeExp(
    zet_metric_decoder_exp_handle_t phMetricDecoder, size_t *pRawDataSize, uint8_t *pRawData,
    uint32_t metricsCount, zet_metric_handle_t *phMetrics, uint32_t *pSetCount,
    uint32_t *pMetricEntriesCountPerSet, uint32_t *pMetricEntriesCount,
    zet_metric_entry_exp_t *pMetricEntries)
{
    const struct zeta_decoder *decoder = (const struct zeta_decoder *)phMetricDecoder;
    const uint32_t sets = zeta_decode_set_count(decoder->plan);
    const uint32_t asked = *pSetCount;
    const bool counts_only =
        !pMetricEntries || !pMetricEntriesCount || *pMetricEntriesCount == 0 || asked == 0;
    ZETA_CLEANUP(zeta_freep)
    uint32_t *names = malloc(((size_t)decoder->metric_count + 1) * sizeof(*names));
    ZETA_CLEANUP(zeta_freep) uint64_t *counts = calloc(sets, sizeof(*counts));
    const struct zeta_decode_request request = {
        .raw = pRawData,
        .raw_bytes = *pRawDataSize,
        .names = names,
        .set_count = asked > 0 && asked < sets ? asked : sets,
        .capacity = counts_only ? UINT64_MAX : *pMetricEntriesCount,
    };
    struct zeta_decode_outcome outcome;
    ze_result_t result;

    if (!pRawData && *pRawDataSize > 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                          "pRawData is null and *pRawDataSize %zu", *pRawDataSize);
    if (!names || !counts)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    result = name_metrics(decoder, metricsCount, phMetrics, names);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!pMetricEntriesCount) {
        *pSetCount = request.set_count;
        return ZE_RESULT_SUCCESS;
    }
    if (counts_only) {
        zeta_decode_count(decoder->plan, &request, counts, &outcome);
    } else {
        result = zeta_decode(decoder->plan, &request, counts, pMetricEntries, &outcome);
        if (result != ZE_RESULT_SUCCESS)
            return result;
        if (outcome.entry_count == 0 && outcome.first_needed > 0) {
            *pMetricEntriesCount = clip_u32(outcome.first_needed);
            return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                              "the next event has %llu entries, which are never given apart, and "
                              "there is room for %llu",
                              (unsigned long long)outcome.first_needed,
                              (unsigned long long)request.capacity);
        }
        *pRawDataSize = outcome.consumed_bytes;
    }
    *pSetCount = request.set_count;
    *pMetricEntriesCount = clip_u32(outcome.entry_count);
    for (uint32_t i = 0; pMetricEntriesCountPerSet && i < asked && i < request.set_count; i++)
        pMetricEntriesCountPerSet[i] = clip_u32(counts[i]);
    return ZE_RESULT_SUCCESS;
}
