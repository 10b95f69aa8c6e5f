/* Opening captures: as streams of a backend, and as tracers. */
#include <stdio.h>

#include "core/capture/capture.h"
#include "core/capture/unit.h"
#include "core/formula/compile/compile.h"
#include "core/formula/record/layout.h"
#include "core/formula/sets/set.h"
#include "core/plugin/host.h"
#include "core/util/error.h"

/* Streams -------------------------------------------------------------------------------------- */

/** Capacity of a ring, at least. */
#define MIN_RECORDS 4096u
/** Records that a backend is asked for: seconds of a reader that gets no processor. */
#define BACKEND_RECORDS 65536u

/** Bounds of the time between two polls. */
#define POLL_MIN_NS UINT64_C(100000)
#define POLL_MAX_NS UINT64_C(10000000)

/**
 * What the period may not exceed: zet_metric_streamer_desc_t has 32 bits for it, and no counter
 * that the set reads may wrap.
 */
static uint64_t longest_period(const struct zeta_compiled *compiled)
{
    const uint64_t longest_ns = zeta_compiled_longest_ns(compiled);

    return longest_ns != 0 && longest_ns < UINT32_MAX ? longest_ns : UINT32_MAX;
}

void zeta_stream_narrow_periods(const struct zeta_provider *provider,
                                const struct zeta_compiled *compiled,
                                struct zeta_stream_periods *periods)
{
    const uint64_t longest_ns = longest_period(compiled);
    struct zeta_unit_program program = {0};
    struct zeta_plugin_program_use use;
    struct zeta_plugin_limits limits = {
        .struct_size = sizeof(limits), .max_period_ns = longest_ns, .use = &use};
    uint32_t result;

    if (zeta_unit_program_make(compiled, &program) != ZE_RESULT_SUCCESS)
        return;
    use = zeta_unit_use(compiled, &program);
    result = provider->backend->metric.limits(provider->backend->self, provider->device, use.unit,
                                              &limits);
    zeta_unit_program_free(&program);
    if (result != ZETA_PLUGIN_SUCCESS)
        return; /* no period of the backend is short enough, or it gives none */
    if (limits.max_period_ns == 0 || limits.max_period_ns > longest_ns)
        limits.max_period_ns = longest_ns;
    if (limits.min_period_ns > periods->min_ns)
        periods->min_ns = limits.min_period_ns;
    if (periods->max_ns == 0 || limits.max_period_ns < periods->max_ns)
        periods->max_ns = limits.max_period_ns;
    if (periods->max_ns < periods->min_ns)
        periods->max_ns = periods->min_ns; /* what was recorded has its period */
}

/** Opens the stream of one tile; its period becomes that of the capture. */
static ze_result_t open_stream(struct zeta_capture *capture, struct zeta_source *source,
                               const struct zeta_compiled *compiled, uint64_t ring_records)
{
    const struct zeta_provider *provider = source->provider;
    const struct zeta_set *set = zeta_compiled_set(compiled);
    struct zeta_plugin_stream *stream = NULL;
    struct zeta_unit_program program = {0};
    struct zeta_plugin_stream_desc desc = {
        .struct_size = sizeof(desc),
        .unit = zeta_plugin_text(set->unit->name),
        .set = zeta_plugin_text(set->name),
        .period_ns = capture->period_ns,
        .max_period_ns = longest_period(compiled),
        .notify_records = (uint32_t)capture->notify_records,
        .ring_records = ring_records,
        .record_bytes = capture->record_bytes,
    };
    ze_result_t result = zeta_source_prepare(source, capture->record_bytes);
    uint32_t code, pid = 0;
    char what[256];

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_unit_program_make(compiled, &program);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    desc.program = program.array;
    desc.digest = program.digest;
    desc.uuid = program.uuid;
    code = provider->backend->metric.stream_open(provider->backend->self, provider->device, &desc,
                                                 &stream);
    if (code == ZETA_PLUGIN_SUCCESS && !stream)
        code = ZETA_PLUGIN_UNKNOWN;
    zeta_unit_program_free(&program);
    /* A refusal because of another process always names it, whatever the plugin reported. */
    if (code == ZETA_PLUGIN_NOT_AVAILABLE &&
        provider->backend->metric.holder(provider->backend->self, provider->device, desc.unit,
                                         &pid) == ZETA_PLUGIN_SUCCESS &&
        pid != 0)
        return zeta_error(ZE_RESULT_ERROR_NOT_AVAILABLE,
                          "plugin %s: process %u uses the counting unit %.*s that %s needs; end "
                          "that process or its stream first",
                          provider->backend->id, pid, (int)desc.unit.size, desc.unit.data,
                          capture->label);
    if (code != ZETA_PLUGIN_SUCCESS) {
        (void)snprintf(what, sizeof(what), "opening a stream of %s", capture->label);
        return zeta_backend_result(provider->backend, code, what);
    }
    source->delta = set->layout->kind == ZETA_LAYOUT_DELTA;
    source->knows_pending = provider->backend->has_stream_pending;
    source->stops = provider->backend->has_stream_stop;
    source->keeps = desc.keeps != 0;
    source->token = desc.token;
    if (desc.period_ns != 0)
        capture->period_ns = desc.period_ns;
    zeta_source_start(source, stream, desc.ring_records);
    return ZE_RESULT_SUCCESS;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/**
 * Chooses where records wait. Tiles always wait here, because they are read up to one instant; with
 * an event the backend's ring serves if its level is known and it is large enough. A ring of ours
 * has room for what the backend holds, or moving it here would lose it. Polling comes four times in
 * the time that it takes to reach N or to fill the backend's ring.
 */
static ze_result_t choose_rings(struct zeta_capture *capture, bool notify, uint64_t ring_records)
{
    const struct zeta_source *first = &capture->sources[0];
    const bool enough = first->knows_pending && first->backend_ring >= ring_records;
    const bool direct = capture->source_count == 1 && (!notify || enough);
    const uint64_t limit = ZETA_STREAM_MAX_BYTES / capture->record_bytes;
    const uint64_t room = min_u64(max_u64(ring_records, first->backend_ring), limit);
    uint64_t records = capture->notify_records;

    if (!direct && first->backend_ring < records)
        records = first->backend_ring;
    capture->poll_ns = capture->period_ns * records / 4;
    if (capture->poll_ns < POLL_MIN_NS)
        capture->poll_ns = POLL_MIN_NS;
    if (capture->poll_ns > POLL_MAX_NS)
        capture->poll_ns = POLL_MAX_NS;
    capture->ring_records = direct ? first->backend_ring : room;
    for (uint32_t i = 0; !direct && i < capture->source_count; i++) {
        ze_result_t result = zeta_source_add_ring(&capture->sources[i], (uint32_t)room);

        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_stream_open(struct zeta_capture *capture, struct zeta_stream_request *request)
{
    const struct zeta_layout *layout = zeta_compiled_set(request->compiled[0])->layout;
    const uint32_t clock = zeta_layout_clock(layout);
    struct zeta_stream_periods periods = {0};
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint64_t limit, ring_records, backend_records;
    bool notify;

    capture->record_bytes = zeta_compiled_record_bytes(request->compiled[0]);
    capture->clock = clock != ZETA_FIELD_NONE ? &layout->fields[clock] : NULL;
    limit = ZETA_STREAM_MAX_BYTES / capture->record_bytes;
    capture->notify_records = min_u64(request->notify_count, limit);
    ring_records = min_u64(max_u64(2 * capture->notify_records, MIN_RECORDS), limit);
    backend_records = min_u64(max_u64(ring_records, BACKEND_RECORDS), limit);
    for (uint32_t i = 0; i < capture->source_count; i++)
        zeta_stream_narrow_periods(capture->sources[i].provider, request->compiled[i], &periods);
    capture->period_ns = request->period_ns;
    if (periods.max_ns != 0)
        capture->period_ns = min_u64(capture->period_ns, periods.max_ns);
    capture->period_ns = max_u64(capture->period_ns, periods.min_ns);

    notify = request->event.event && capture->notify_records > 0;
    for (uint32_t i = 0; i < capture->source_count && result == ZE_RESULT_SUCCESS; i++)
        result = open_stream(capture, &capture->sources[i], request->compiled[i], backend_records);
    if (result == ZE_RESULT_SUCCESS)
        result = choose_rings(capture, notify, ring_records);
    if (result == ZE_RESULT_SUCCESS && notify)
        result = zeta_capture_watch(capture, &request->event);
    if (result != ZE_RESULT_SUCCESS) {
        zeta_capture_abandon(capture);
        return result;
    }
    request->period_ns = capture->period_ns;
    request->notify_count = (uint32_t)capture->notify_records;
    return ZE_RESULT_SUCCESS;
}

size_t zeta_stream_read_bytes(const struct zeta_capture *capture, uint32_t max_records)
{
    uint64_t limit = ZETA_STREAM_MAX_BYTES / capture->record_bytes;
    uint64_t records = min_u64(min_u64(capture->ring_records, max_records), limit);

    return (size_t)(max_u64(records, 1) * capture->record_bytes);
}

/* Tracers -------------------------------------------------------------------------------------- */

/** Bytes of a ring that a backend is asked for; half of it is the largest notification level. */
#define TRACER_RING_BYTES (UINT32_C(32) << 20)
/** Where a level that was not given, or is absurd, comes to: whole records below this. */
#define NOTIFY_BYTES 512u
/** How often to poll for data where no descriptor reports it. */
#define TRACER_POLL_NS UINT64_C(1000000)

/** Whole records; what was not given, or exceeds the limit, comes to a few of them. */
static uint64_t round_level(uint64_t record_bytes, uint64_t bytes, uint64_t limit)
{
    const uint64_t records = (bytes + record_bytes - 1) / record_bytes;

    return records == 0 || records * record_bytes > limit ? NOTIFY_BYTES / record_bytes : records;
}

static ze_result_t open_tracer(struct zeta_capture *capture, struct zeta_source *source,
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
        .ring_bytes = TRACER_RING_BYTES,
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

static ze_result_t open_tracers(struct zeta_capture *capture,
                                const struct zeta_tracer_request *request)
{
    ze_result_t result = ZE_RESULT_SUCCESS;

    for (uint32_t i = 0; i < capture->source_count && result == ZE_RESULT_SUCCESS; i++)
        result = open_tracer(capture, &capture->sources[i], request);
    return result;
}

ze_result_t zeta_tracer_open(struct zeta_capture *capture, struct zeta_tracer_request *request)
{
    const uint64_t record_bytes = request->layout->record_bytes;
    uint64_t room = 0; /* capacity of all rings, in records */
    ze_result_t result;

    capture->clock = &request->layout->fields[request->layout->ticks_field];
    capture->record_bytes = request->layout->record_bytes;
    capture->poll_ns = TRACER_POLL_NS;
    capture->notify_records =
        round_level(record_bytes, request->notify_bytes, TRACER_RING_BYTES / 2);
    result = open_tracers(capture, request);
    for (uint32_t i = 0; i < capture->source_count; i++)
        room += capture->sources[i].backend_ring;
    if (result == ZE_RESULT_SUCCESS && room < capture->notify_records) {
        /* The backend has less room than was asked for, and would never reach the level. */
        zeta_capture_abandon(capture);
        capture->notify_records = round_level(record_bytes, 0, 0);
        result = open_tracers(capture, request);
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
