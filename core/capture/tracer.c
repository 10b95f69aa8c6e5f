#include "core/capture/capture.h"

#include <stdio.h>

#include "core/formula/record/layout.h"
#include "core/plugin/host.h"

/** Bytes of a ring that a backend is asked for; half of it is the largest notification level. */
#define RING_BYTES (UINT32_C(32) << 20)
/** Where a level that was not given, or is absurd, comes to: whole records below this. */
#define NOTIFY_BYTES 512u
/** How often to poll for data where no descriptor reports it. */
#define POLL_NS UINT64_C(1000000)

/* Opening -------------------------------------------------------------------------------------- */

/** Whole records; what was not given, or exceeds the limit, comes to a few of them. */
static uint64_t round_level(uint64_t record_bytes, uint64_t bytes, uint64_t limit)
{
    const uint64_t records = (bytes + record_bytes - 1) / record_bytes;

    return records == 0 || records * record_bytes > limit ? NOTIFY_BYTES / record_bytes : records;
}

static ze_result_t open_source(struct zeta_capture *capture, struct zeta_source *source,
                               const struct zeta_tracer_request *request)
{
    const struct zeta_provider *provider = source->provider;
    struct zeta_plugin_tracer *tracer = NULL;
    struct zeta_plugin_tracer_desc desc = {
        .struct_size = sizeof(desc),
        .units = {.data = request->units,
                  .count = request->unit_count,
                  .stride = sizeof(*request->units)},
        .record_bytes = capture->record_bytes,
        .notify_bytes =
            request->event.event ? (uint32_t)(capture->notify_records * capture->record_bytes) : 0,
        .ring_bytes = RING_BYTES,
    };
    ze_result_t result = zeta_source_prepare(source, capture->record_bytes);
    uint32_t code;
    char what[256];

    if (result != ZE_RESULT_SUCCESS)
        return result;
    code =
        provider->backend->tracer.open(provider->backend->self, provider->device, &desc, &tracer);
    if (code == ZETA_PLUGIN_SUCCESS && !tracer)
        code = ZETA_PLUGIN_UNKNOWN;
    if (code != ZETA_PLUGIN_SUCCESS) {
        (void)snprintf(what, sizeof(what), "opening a tracer of %s", capture->label);
        return zeta_backend_result(provider->backend, code, what);
    }
    source->knows_pending = true;
    source->keeps = desc.keeps != 0;
    zeta_source_start(source, tracer, desc.ring_bytes / desc.record_bytes);
    /* Tiles wait here, where the earliest record of each can be compared. */
    if (capture->source_count > 1)
        result = zeta_source_add_ring(source, source->backend_ring);
    return result;
}

static ze_result_t open_sources(struct zeta_capture *capture,
                                const struct zeta_tracer_request *request)
{
    ze_result_t result = ZE_RESULT_SUCCESS;

    for (uint32_t i = 0; i < capture->source_count && result == ZE_RESULT_SUCCESS; i++)
        result = open_source(capture, &capture->sources[i], request);
    return result;
}

ze_result_t zeta_tracer_open(struct zeta_capture *capture, struct zeta_tracer_request *request)
{
    const uint64_t record_bytes = request->layout->record_bytes;
    uint64_t room = 0; /* capacity of all rings, in records */
    ze_result_t result;

    capture->clock = &request->layout->fields[request->layout->ticks_field];
    capture->record_bytes = request->layout->record_bytes;
    capture->poll_ns = POLL_NS;
    capture->notify_records = round_level(record_bytes, request->notify_bytes, RING_BYTES / 2);
    result = open_sources(capture, request);
    for (uint32_t i = 0; i < capture->source_count; i++)
        room += capture->sources[i].backend_ring;
    if (result == ZE_RESULT_SUCCESS && room < capture->notify_records) {
        /* The backend has less room than was asked for, and would never reach the level. */
        zeta_capture_abandon(capture);
        capture->notify_records = round_level(record_bytes, 0, 0);
        result = open_sources(capture, request);
    }
    if (result == ZE_RESULT_SUCCESS && request->event.event)
        result = zeta_capture_watch(capture, &request->event);
    if (result != ZE_RESULT_SUCCESS) {
        zeta_capture_abandon(capture);
        return result;
    }
    request->notify_bytes = (uint32_t)(capture->notify_records * record_bytes);
    return ZE_RESULT_SUCCESS;
}
