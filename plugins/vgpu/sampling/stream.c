#include "stream.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zeta/plugin_host.h>
#include <zeta/thread.h>

#include "plugins/vgpu/instance/instance.h"
#include "sampling.h"

/* Periods are powers of two of ticks: 10.24 us to 85.9 s, an eighth of a wrap of the timestamp. */
#define PERIOD_MIN_BITS 8u
#define PERIOD_MAX_BITS 31u

/* Capacities in reports: 16 MiB unless another is wanted, at most 32 MiB. */
#define RING_DEFAULT 65536u
#define RING_MAX 131072u

static const char *const unit_names[ZETA_VGPU_UNITS] = {
    [ZETA_VGPU_UNIT_OA] = "oa",
    [ZETA_VGPU_UNIT_DISPATCH] = "dispatch",
    [ZETA_VGPU_UNIT_IP] = "ip",
    [ZETA_VGPU_UNIT_TRACE_WORK_STATUS] = "trace-work-status",
    [ZETA_VGPU_UNIT_TRACE_DEVICE_STATUS] = "trace-device-status",
    [ZETA_VGPU_UNIT_TRACE_WORK] = "trace-work",
    [ZETA_VGPU_UNIT_TRACE_DEVICE] = "trace-device",
};

uint32_t zeta_vgpu_oa_find_unit(const struct zeta_plugin *self, struct zeta_plugin_string name,
                                uint32_t *out_unit)
{
    for (uint32_t i = 0; i < ZETA_VGPU_UNITS; i++) {
        if (zeta_string_is(name, unit_names[i])) {
            *out_unit = i;
            return ZETA_PLUGIN_SUCCESS;
        }
    }
    return zeta_host_fail(
        &self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
        "%s has no counting unit '%.*s'; its units are oa, dispatch, ip, trace-work, "
        "trace-device and the -status of these two",
        self->vgpu->description.id, zeta_string_shown(name), name.data);
}

/* The supported period nearest to the wanted one and not above max_ns (0: any), in ticks. */
static uint64_t nearest_period(uint64_t period_ns, uint64_t max_ns)
{
    const uint64_t wanted = period_ns / ZETA_VGPU_TICK_NS;
    const uint64_t longest = max_ns ? max_ns / ZETA_VGPU_TICK_NS : UINT64_MAX;
    uint64_t below = UINT64_C(1) << PERIOD_MIN_BITS;
    uint64_t largest = UINT64_C(1) << PERIOD_MAX_BITS;

    while (largest > longest && largest > below)
        largest /= 2;
    while (below * 2 <= wanted && below < largest)
        below *= 2;
    if (wanted > below && below < largest && wanted - below > below * 2 - wanted)
        return below * 2;
    return below;
}

static uint32_t limits(struct zeta_plugin *self, struct zeta_plugin_device *device,
                       struct zeta_plugin_string unit, struct zeta_plugin_limits *out_limits)
{
    uint32_t index;
    const uint32_t result = zeta_vgpu_oa_find_unit(self, unit, &index);

    (void)device;
    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    out_limits->min_period_ns = (UINT64_C(1) << PERIOD_MIN_BITS) * ZETA_VGPU_TICK_NS;
    out_limits->max_period_ns =
        nearest_period(UINT64_MAX, out_limits->max_period_ns) * ZETA_VGPU_TICK_NS;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t holder(struct zeta_plugin *self, struct zeta_plugin_device *device,
                       struct zeta_plugin_string unit, uint32_t *out_pid)
{
    struct zeta_vgpu_instance *instance;
    uint32_t index = 0, result = zeta_vgpu_oa_find_unit(self, unit, &index);

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    *out_pid = 0;
    result = zeta_vgpu_instance_get(self->vgpu, &instance);
    for (uint32_t t = 0; result == ZETA_PLUGIN_SUCCESS && *out_pid == 0 && t < device->tile_count;
         t++)
        *out_pid = zeta_vgpu_instance_unit_holder(instance, device->first_tile + t, index);
    return result;
}

static uint32_t symbols(struct zeta_plugin *self, struct zeta_plugin_device *device,
                        struct zeta_plugin_array *out_symbols)
{
    (void)self;
    *out_symbols =
        (struct zeta_plugin_array){device->symbols, ZETA_VGPU_SYMBOLS, sizeof(device->symbols[0])};
    return ZETA_PLUGIN_SUCCESS;
}

static void destroy_stream(struct zeta_plugin_stream *stream)
{
    if (!stream)
        return;
    zeta_record_ring_destroy(stream->ring);
    free(stream->ip_rows);
    pthread_cond_destroy(&stream->wake);
    pthread_mutex_destroy(&stream->lock);
    pthread_mutex_destroy(&stream->state_lock);
    free(stream->snapshots);
    free(stream->origin);
    free(stream->fresh);
    free(stream->totals);
    free(stream);
}

/* A stream that does not sample yet; NULL without memory. */
static struct zeta_plugin_stream *create_stream(const struct zeta_plugin_device *device,
                                                const struct zeta_vgpu_program *program)
{
    const uint32_t rows = device->vgpu->tiles[device->first_tile].rows;
    const uint32_t all = rows * device->tile_count;
    struct zeta_plugin_stream *stream = calloc(1, sizeof(*stream));

    if (!stream)
        return NULL;
    pthread_mutex_init(&stream->lock, NULL);
    pthread_mutex_init(&stream->state_lock, NULL);
    zeta_condition_init(&stream->wake);
    stream->vgpu = device->vgpu;
    stream->first_tile = device->first_tile;
    stream->tile_count = device->tile_count;
    stream->rows = rows;
    stream->is_virtual = device->vgpu->description.clock == ZETA_VGPU_CLOCK_VIRTUAL;
    stream->program = *program;

    stream->totals = calloc(all, sizeof(*stream->totals));
    stream->fresh = calloc(all, sizeof(*stream->fresh));
    stream->origin = calloc(all, sizeof(*stream->origin));
    stream->snapshots = calloc(device->tile_count, sizeof(*stream->snapshots));
    if (stream->totals && stream->fresh && stream->origin && stream->snapshots)
        return stream;
    destroy_stream(stream);
    return NULL;
}

static void release_units(struct zeta_plugin_stream *stream)
{
    while (stream->units_taken > 0) {
        stream->units_taken--;
        zeta_vgpu_instance_release_unit(stream->instance, stream->first_tile + stream->units_taken,
                                        stream->unit);
    }
}

/* Takes the unit on every tile of the stream, or on none. */
static uint32_t take_units(struct zeta_plugin_stream *stream, const char *device_id)
{
    for (; stream->units_taken < stream->tile_count; stream->units_taken++) {
        const uint32_t pid =
            zeta_vgpu_instance_take_unit(stream->instance, stream->first_tile + stream->units_taken,
                                         stream->unit, stream->program.switches);

        if (pid == 0)
            continue;
        release_units(stream);
        return zeta_vgpu_refuse_unit(stream->vgpu, "stream on unit", unit_names[stream->unit],
                                     device_id, pid);
    }
    return ZETA_PLUGIN_SUCCESS;
}

/* Tells the processes of the instance what the stream wants of each tile. */
static void make_requests(struct zeta_plugin_stream *stream, struct zeta_plugin_stream_desc *desc)
{
    struct zeta_vgpu_instance *instance = stream->instance;
    const uint32_t unit = stream->unit;
    const uint64_t token =
        unit < ZETA_VGPU_MARKER_UNITS ? zeta_vgpu_instance_new_number(instance) : 0;

    for (uint32_t t = 0; t < stream->tile_count; t++) {
        const uint32_t tile = stream->first_tile + t;
        struct zeta_vgpu_eu_request requests[ZETA_VGPU_EU_REQUESTS] = {{.used = false}};

        for (uint32_t i = 0; i < ZETA_VGPU_SELECTIONS; i++) {
            const struct zeta_vgpu_selection *selection = &stream->program.selections[i];

            requests[i] = (struct zeta_vgpu_eu_request){
                .used = selection->kind == ZETA_VGPU_SELECT_EU && selection->tile == t,
                .eu = selection->eu,
                .counter = selection->counter,
            };
        }
        if (stream->program.eus)
            stream->eu_numbers[t] = zeta_vgpu_instance_request_eus(instance, tile, unit, requests);
        /* Markers of before the first report are not asked for, so nothing has been lost there. */
        if (token != 0)
            zeta_vgpu_instance_request_markers(instance, tile, unit, token, stream->is_virtual);
        /* Others execute in slices that are shorter than our period. Virtual time has no others. */
        if (!stream->is_virtual && !stream->ip_rows)
            zeta_vgpu_instance_request_period(instance, tile, unit,
                                              stream->period_ticks * ZETA_VGPU_TICK_NS);
    }
    if (ZETA_PLUGIN_HAS(desc, token))
        desc->token = token;
}

static uint32_t record_bytes(uint32_t unit)
{
    return unit == ZETA_VGPU_UNIT_IP ? ZETA_VGPU_IP_RECORD_BYTES : ZETA_VGPU_REPORT_BYTES;
}

static uint32_t check_desc(const struct zeta_plugin *self, const struct zeta_plugin_device *device,
                           const struct zeta_plugin_stream_desc *desc, uint32_t *out_unit,
                           struct zeta_vgpu_program *out_program)
{
    const struct zeta_vgpu_description *d = &self->vgpu->description;
    struct zeta_vgpu_message message;
    const uint32_t result = zeta_vgpu_oa_find_unit(self, desc->unit, out_unit);

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    if (*out_unit >= ZETA_VGPU_UNIT_TRACE_WORK)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "unit %s of %s gives events to a tracer and has no reports; its "
                              "status is counted by %s-status",
                              unit_names[*out_unit], device->id, unit_names[*out_unit]);
    if (desc->record_bytes != record_bytes(*out_unit))
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "reports of unit %s of %s have %u bytes, and the set says %u",
                              unit_names[*out_unit], device->id, record_bytes(*out_unit),
                              desc->record_bytes);
    if (*out_unit == ZETA_VGPU_UNIT_IP && desc->program.count > 0)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "unit ip of %s takes no program, set %.*s has one", device->id,
                              zeta_string_shown(desc->set), desc->set.data);
    if (!zeta_vgpu_program_parse(&desc->program, &d->topology, device->tile_count, out_program,
                                 &message))
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT, "set %.*s on %s: %s",
                              zeta_string_shown(desc->set), desc->set.data, device->id,
                              message.text);
    if (d->faults.permission != 0)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS,
                              "streams of %s are not permitted: its setting fault.permission is 1",
                              device->id);
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t stream_open(struct zeta_plugin *self, struct zeta_plugin_device *device,
                            struct zeta_plugin_stream_desc *desc,
                            struct zeta_plugin_stream **out_stream)
{
    const uint32_t capacity = zeta_record_ring_choose(
        desc->ring_records ? desc->ring_records : RING_DEFAULT, desc->notify_records,
        zeta_vgpu_ring_most(&self->vgpu->description, RING_MAX));
    struct zeta_vgpu_program program = {.switches = false};
    struct zeta_plugin_stream *stream;
    uint32_t unit = 0, result;

    result = check_desc(self, device, desc, &unit, &program);
    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    stream = create_stream(device, &program);
    if (!stream)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    stream->unit = unit;
    stream->period_ticks = nearest_period(
        desc->period_ns, ZETA_PLUGIN_HAS(desc, max_period_ns) ? desc->max_period_ns : 0);
    result = zeta_vgpu_instance_get(self->vgpu, &stream->instance);
    if (result != ZETA_PLUGIN_SUCCESS)
        goto destroy;
    result = ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    if (unit == ZETA_VGPU_UNIT_IP) {
        stream->ip_rows = malloc(ZETA_VGPU_IP_ROWS * sizeof(*stream->ip_rows));
        if (!stream->ip_rows)
            goto destroy;
    }
    stream->ring = zeta_record_ring_create(capacity, record_bytes(unit), desc->notify_records);
    if (!stream->ring)
        goto destroy;
    result = take_units(stream, device->id);
    if (result != ZETA_PLUGIN_SUCCESS)
        goto destroy;
    make_requests(stream, desc);
    if (!zeta_vgpu_sampler_start(stream)) {
        result = zeta_host_fail(&self->host, ZETA_PLUGIN_OUT_OF_HOST_MEMORY,
                                "no thread or no memory to sample %s", device->id);
        release_units(stream);
        goto destroy;
    }
    desc->period_ns = stream->period_ticks * ZETA_VGPU_TICK_NS;
    desc->ring_records = capacity;
    pthread_mutex_lock(&stream->vgpu->objects_lock);
    LIST_INSERT_HEAD(&stream->vgpu->open_streams, stream, entry);
    pthread_mutex_unlock(&stream->vgpu->objects_lock);
    *out_stream = stream;
    return ZETA_PLUGIN_SUCCESS;

destroy:
    destroy_stream(stream);
    return result;
}

static uint32_t stream_read(struct zeta_plugin *self, struct zeta_plugin_stream *stream,
                            void *buffer, uint64_t capacity_bytes,
                            struct zeta_plugin_read *out_read)
{
    (void)self;
    zeta_vgpu_sampler_catch_up(stream);
    zeta_record_ring_read(stream->ring, buffer, capacity_bytes, out_read);
    return ZETA_PLUGIN_SUCCESS;
}

static uint64_t stream_pending(struct zeta_plugin *self, struct zeta_plugin_stream *stream)
{
    (void)self;
    return zeta_record_ring_pending(stream->ring);
}

static int32_t stream_descriptor(struct zeta_plugin *self, struct zeta_plugin_stream *stream)
{
    (void)self;
    return zeta_record_ring_descriptor(stream->ring);
}

static void stream_stop(struct zeta_plugin *self, struct zeta_plugin_stream *stream)
{
    (void)self;
    zeta_vgpu_sampler_stop(stream);
    release_units(stream);
}

static void stream_close(struct zeta_plugin *self, struct zeta_plugin_stream *stream)
{
    if (!stream)
        return;
    stream_stop(self, stream);
    pthread_mutex_lock(&stream->vgpu->objects_lock);
    LIST_REMOVE(stream, entry);
    pthread_mutex_unlock(&stream->vgpu->objects_lock);
    destroy_stream(stream);
}

void zeta_vgpu_streams_abandon(struct zeta_vgpu *vgpu)
{
    while (!LIST_EMPTY(&vgpu->open_streams))
        stream_close(vgpu->self, LIST_FIRST(&vgpu->open_streams));
}

const struct zeta_plugin_metric_ops zeta_vgpu_metric_ops = {
    .struct_size = sizeof(struct zeta_plugin_metric_ops),
    .symbols = symbols,
    .limits = limits,
    .holder = holder,
    .stream_open = stream_open,
    .stream_read = stream_read,
    .stream_pending = stream_pending,
    .stream_descriptor = stream_descriptor,
    .stream_stop = stream_stop,
    .stream_close = stream_close,
    .query_pool_create = zeta_vgpu_query_pool_create,
    .query_pool_destroy = zeta_vgpu_query_pool_destroy,
    .query_reset = zeta_vgpu_query_reset,
    .query_collect = zeta_vgpu_query_collect,
};
