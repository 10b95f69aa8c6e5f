/*
 * How the tracer of a device keeps up, as a stream of its own: C[0] events written and C[1] lost in
 * the interval, C[2] waiting and C[3] the capacity of the ring at its end.
 */
#include <stdlib.h>

#include "plugins/nvidia/activity/activity.h"
#include "plugins/nvidia/sampling/program.h"

enum { RING_MAX = 65536 };

struct status {
    struct zeta_plugin_stream stream; /* first */
    struct zeta_plugin_device *device;
    struct nvidia_activity_counts before;
    uint64_t before_ns, sequence;
    struct zeta_record_pump *pump; /* NULL: stopped */
};

static void fetch(void *context)
{
    struct status *stream = context;
    const struct nvidia_activity_counts now = nvidia_activity_counts(stream->device);
    struct nvidia_interval record = {
        .start_ns = stream->before_ns, .end_ns = nvidia_clock_ns(), .sequence = stream->sequence};

    if (record.end_ns <= record.start_ns)
        return;
    record.counts[0] = now.written - stream->before.written;
    record.counts[1] = now.lost - stream->before.lost;
    record.counts[2] = now.waiting;
    record.counts[3] = now.capacity;
    stream->before = now;
    stream->before_ns = record.end_ns;
    stream->sequence++;
    (void)zeta_record_ring_push(stream->stream.ring, &record, 1);
}

static uint32_t get_status(struct zeta_plugin_stream *stream)
{
    (void)stream;
    return ZETA_PLUGIN_SUCCESS;
}

static void stop(struct zeta_plugin_stream *of_plugin)
{
    struct status *stream = (struct status *)of_plugin;

    if (!stream->pump)
        return;
    zeta_record_pump_destroy(stream->pump);
    stream->pump = NULL;
    atomic_store(&stream->device->activity.status_in_use, false);
}

static void close_stream(struct zeta_plugin_stream *of_plugin)
{
    struct status *stream = (struct status *)of_plugin;

    stop(of_plugin);
    zeta_record_ring_destroy(stream->stream.ring);
    free(stream);
}

uint32_t nvidia_activity_status_open(struct zeta_plugin_device *device,
                                     struct zeta_plugin_stream_desc *desc,
                                     struct zeta_plugin_stream **out_stream)
{
    const struct zeta_host *host = device->nvidia->host;
    const uint64_t most_ns =
        desc->max_period_ns != 0 && desc->max_period_ns < NVIDIA_ACTIVITY_PERIOD_MAX_NS
            ? desc->max_period_ns
            : NVIDIA_ACTIVITY_PERIOD_MAX_NS;
    const uint32_t capacity =
        zeta_record_ring_choose(desc->ring_records, desc->notify_records, RING_MAX);
    struct status *stream;

    if (desc->record_bytes != NVIDIA_RECORD_BYTES)
        return zeta_host_fail(host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "records about the tracer have %d bytes, and the set %.*s says %u",
                              NVIDIA_RECORD_BYTES, zeta_string_shown(desc->set), desc->set.data,
                              desc->record_bytes);
    if (most_ns < NVIDIA_ACTIVITY_PERIOD_MIN_NS)
        return zeta_host_fail(host, ZETA_PLUGIN_NOT_AVAILABLE,
                              "%s (%s): " NVIDIA_ACTIVITY_STATUS_UNIT " has no period below 1 ms",
                              device->name, device->id);
    if (atomic_exchange(&device->activity.status_in_use, true))
        return zeta_host_fail(host, ZETA_PLUGIN_HANDLE_OBJECT_IN_USE,
                              "%s (%s): this process has a stream of " NVIDIA_ACTIVITY_STATUS_UNIT
                              " already; close it first",
                              device->name, device->id);
    if (desc->period_ns < NVIDIA_ACTIVITY_PERIOD_MIN_NS)
        desc->period_ns = NVIDIA_ACTIVITY_PERIOD_MIN_NS;
    if (desc->period_ns > most_ns)
        desc->period_ns = most_ns;
    stream = calloc(1, sizeof(*stream));
    if (!stream)
        goto give_up_unit;
    stream->stream =
        (struct zeta_plugin_stream){.status = get_status, .stop = stop, .close = close_stream};
    stream->device = device;
    stream->before = nvidia_activity_counts(device);
    stream->before_ns = nvidia_clock_ns();
    stream->stream.ring =
        zeta_record_ring_create(capacity, NVIDIA_RECORD_BYTES,
                                desc->notify_records < capacity ? desc->notify_records : capacity);
    if (stream->stream.ring)
        stream->pump = zeta_record_pump_create(desc->period_ns, fetch, stream, "nvidia-status");
    if (!stream->pump)
        goto free_stream;
    desc->ring_records = capacity;
    *out_stream = &stream->stream;
    return ZETA_PLUGIN_SUCCESS;

free_stream:
    zeta_record_ring_destroy(stream->stream.ring);
    free(stream);
give_up_unit:
    atomic_store(&device->activity.status_in_use, false);
    return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
}
