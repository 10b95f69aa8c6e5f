/* A backend without hardware: which events its tracers see is told by a test (tracer_control.h). */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/device/scripted.h"
#include "tests/harness/device/tracer_control.h"
#include "zeta/plugin.h"

#define UNIT_COUNT 3u
#define DEVICE_COUNT 4u

struct zeta_plugin_tracer {
    struct zeta_plugin_device *device;
    uint32_t state;
    struct scripted_ring ring;
    struct scripted_break pending; /**< before the next record */
    uint32_t in_call;
};

struct zeta_plugin_device {
    const char *id;
    uint32_t parent;
    uint32_t tile;
    struct zeta_plugin_tracer *tracers[UNIT_COUNT]; /**< who has each unit */
    uint32_t fail, refuse, refuse_switch;
    const char *refuse_sentence;
    bool held;
    struct trace_counts counts;
};

struct zeta_plugin {
    const struct zeta_plugin_host_ops *ops;
    struct zeta_plugin_host *host;
};

/* The plugin is one for the whole test program, so its state may be global. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t ring_wanted;
static bool no_descriptors;
static uint32_t event_number;
static struct zeta_plugin instance;

static struct zeta_plugin_device devices[DEVICE_COUNT] = {
    {.id = "trace0", .parent = UINT32_MAX},
    {.id = "trace1", .parent = UINT32_MAX},
    {.id = "trace1.0", .parent = 1, .tile = 0},
    {.id = "trace1.1", .parent = 1, .tile = 1},
};

static const char *const unit_names[UNIT_COUNT] = {"kernels", "copies", "others"};

static uint32_t find_unit(struct zeta_plugin_string name)
{
    for (uint32_t u = 0; u < UNIT_COUNT; u++) {
        if (scripted_is(name, unit_names[u]))
            return u;
    }
    return UNIT_COUNT;
}

static struct zeta_plugin_device *find_device(const char *id)
{
    for (uint32_t d = 0; d < DEVICE_COUNT; d++) {
        if (strcmp(devices[d].id, id) == 0)
            return &devices[d];
    }
    abort(); /* a mistake of the test */
}

/* Records ---------------------------------------------------------------------------------------
 */

static void add_locked(struct zeta_plugin_tracer *tracer, uint32_t unit, uint16_t type)
{
    const uint32_t id = event_number++;
    /* Records of the third unit are longer. */
    uint8_t bytes[64] = {0};
    const struct trace_record record = {.type = type,
                                        .tile = (uint8_t)tracer->device->tile,
                                        .unit = (uint8_t)unit,
                                        .id = id,
                                        .ticks = TRACE_TICKS_NOISE +
                                                 (uint64_t)id * TRACE_TICKS_PER_EVENT,
                                        .value = (uint64_t)id * 100,
                                        .mark = UINT64_C(0x6d61726b)};

    memcpy(bytes, &record, sizeof(record));
    scripted_ring_add(&tracer->ring, bytes, tracer->pending);
    tracer->pending = (struct scripted_break){0};
}

/* Device operations -----------------------------------------------------------------------------
 */

static uint32_t enumerate(struct zeta_plugin *self, uint32_t capacity,
                          struct zeta_plugin_device **out_devices, uint32_t *out_count)
{
    (void)self;
    for (uint32_t i = 0; i < DEVICE_COUNT && i < capacity; i++)
        out_devices[i] = &devices[i];
    *out_count = DEVICE_COUNT;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t properties(struct zeta_plugin *self, struct zeta_plugin_device *device,
                           struct zeta_plugin_device_properties *out)
{
    const struct scripted_device described = {.id = device->id,
                                              .parent = device->parent,
                                              .tile = device->tile,
                                              .vendor_id = 0x10001,
                                              .timer_hz = TRACE_TIMER_HZ,
                                              .timestamp_valid_bits = TRACE_VALID_BITS};

    (void)self;
    scripted_describe(&described, out);
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t read_clock(struct zeta_plugin *self, struct zeta_plugin_device *device,
                           struct zeta_plugin_clock *out_clock)
{
    (void)self;
    (void)device;
    out_clock->device_ticks = 1000;
    out_clock->host_ns = 5000000;
    out_clock->raw = 1;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t child_after_fork(struct zeta_plugin *self)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

    (void)self;
    lock = fresh;
    for (uint32_t d = 0; d < DEVICE_COUNT; d++)
        memset(devices[d].tracers, 0, sizeof(devices[d].tracers));
    return ZETA_PLUGIN_SUCCESS;
}

/* Tracer operations -----------------------------------------------------------------------------
 */

static void note_open(struct zeta_plugin_device *device, const struct zeta_plugin_tracer_desc *desc)
{
    device->counts.opens++;
    device->counts.units = (uint32_t)desc->units.count;
    device->counts.notify_bytes = desc->notify_bytes;
    device->counts.ring_bytes = desc->ring_bytes;
}

static uint32_t check_units_locked(const struct zeta_plugin_device *device,
                                   const struct zeta_plugin_tracer_desc *desc, bool *out_wanted)
{
    const struct zeta_plugin_string *units = desc->units.data;

    for (uint64_t i = 0; i < desc->units.count; i++) {
        const uint32_t unit = find_unit(units[i]);

        if (unit == UNIT_COUNT)
            return ZETA_PLUGIN_INVALID_ARGUMENT;
        if (desc->record_bytes != (unit == 2 ? 64 : TRACE_RECORD_BYTES))
            return ZETA_PLUGIN_INVALID_ARGUMENT;
        if (device->tracers[unit])
            return ZETA_PLUGIN_HANDLE_OBJECT_IN_USE;
        out_wanted[unit] = true;
    }
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t open_locked(struct zeta_plugin_device *device, struct zeta_plugin_tracer_desc *desc,
                            struct zeta_plugin_tracer **out_tracer)
{
    bool wanted[UNIT_COUNT] = {false};
    struct zeta_plugin_tracer *tracer;
    uint32_t result = check_units_locked(device, desc, wanted);

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    tracer = calloc(1, sizeof(*tracer));
    if (!tracer)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    if (ring_wanted)
        desc->ring_bytes = ring_wanted;
    tracer->device = device;
    /* A tracer that is to tell of no bytes never does. */
    if (!scripted_ring_open(
            &tracer->ring, desc->record_bytes, desc->ring_bytes / desc->record_bytes,
            desc->notify_bytes == 0
                ? UINT32_MAX
                : (desc->notify_bytes + desc->record_bytes - 1) / desc->record_bytes)) {
        free(tracer);
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t u = 0; u < UNIT_COUNT; u++) {
        if (wanted[u])
            device->tracers[u] = tracer;
    }
    *out_tracer = tracer;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t tracer_open(struct zeta_plugin *self, struct zeta_plugin_device *device,
                            struct zeta_plugin_tracer_desc *desc,
                            struct zeta_plugin_tracer **out_tracer)
{
    uint32_t result;

    (void)pthread_mutex_lock(&lock);
    note_open(device, desc);
    result = device->refuse ? device->refuse : open_locked(device, desc, out_tracer);
    (void)pthread_mutex_unlock(&lock);
    if (device->refuse && device->refuse_sentence)
        self->ops->fail(self->host, result, scripted_text(device->refuse_sentence));
    return result;
}

/** Begins a call for the tracer; two at a time are a mistake of the library. */
static void enter(struct zeta_plugin_tracer *tracer)
{
    (void)pthread_mutex_lock(&lock);
    if (tracer->in_call++ > 0)
        tracer->device->counts.overlaps++;
    (void)pthread_mutex_unlock(&lock);
    /* Long enough for another thread to come in, if it may. */
    (void)sched_yield();
    (void)pthread_mutex_lock(&lock);
}

static void leave(struct zeta_plugin_tracer *tracer)
{
    tracer->in_call--;
    (void)pthread_mutex_unlock(&lock);
}

static void set_state(struct zeta_plugin_tracer *tracer, uint32_t state)
{
    __atomic_store_n(&tracer->state, state, __ATOMIC_RELEASE);
}

static uint32_t first_unit(const struct zeta_plugin_tracer *tracer)
{
    uint32_t unit = 0;

    while (unit < UNIT_COUNT && tracer->device->tracers[unit] != tracer)
        unit++;
    return unit;
}

/** Where no test can push events. */
static uint32_t events_at_enable(void)
{
    const char *wanted = getenv("ZETA_TEST_TRACE_EVENTS");

    return wanted ? (uint32_t)strtoul(wanted, NULL, 10) : 0;
}

static uint32_t tracer_enable(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
                              uint32_t synchronous)
{
    struct zeta_plugin_device *device = tracer->device;
    uint32_t result;

    (void)self;
    enter(tracer);
    device->counts.enables++;
    device->counts.last_synchronous = synchronous;
    result = device->refuse_switch;
    if (result == ZETA_PLUGIN_SUCCESS) {
        if (tracer->state == ZETA_PLUGIN_TRACER_OFF) {
            add_locked(tracer, first_unit(tracer), TRACE_ENABLED);
            for (uint32_t i = 0; i < events_at_enable(); i++)
                add_locked(tracer, first_unit(tracer), TRACE_COPY);
            set_state(tracer, device->held && !synchronous ? ZETA_PLUGIN_TRACER_STARTING
                                                           : ZETA_PLUGIN_TRACER_ON);
        } else if (tracer->state != ZETA_PLUGIN_TRACER_STARTING || synchronous) {
            set_state(tracer, ZETA_PLUGIN_TRACER_ON);
        }
        scripted_ring_show(&tracer->ring);
    }
    leave(tracer);
    return result;
}

static uint32_t tracer_disable(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
                               uint32_t synchronous)
{
    struct zeta_plugin_device *device = tracer->device;
    uint32_t result;

    (void)self;
    enter(tracer);
    device->counts.disables++;
    device->counts.last_synchronous = synchronous;
    result = device->refuse_switch;
    if (result == ZETA_PLUGIN_SUCCESS && tracer->state != ZETA_PLUGIN_TRACER_OFF) {
        if (tracer->state != ZETA_PLUGIN_TRACER_STOPPING)
            add_locked(tracer, first_unit(tracer), TRACE_DISABLED);
        set_state(tracer, device->held && !synchronous ? ZETA_PLUGIN_TRACER_STOPPING
                                                       : ZETA_PLUGIN_TRACER_OFF);
        scripted_ring_show(&tracer->ring);
    }
    leave(tracer);
    return result;
}

static uint32_t tracer_state(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    (void)self;
    return __atomic_load_n(&tracer->state, __ATOMIC_ACQUIRE);
}

static uint32_t read_locked(struct zeta_plugin_tracer *tracer, uint8_t *target, uint64_t capacity,
                            struct zeta_plugin_read *out)
{
    out->bytes = 0;
    if (tracer->ring.count == 0 && tracer->device->fail)
        return tracer->device->fail;
    scripted_ring_read(&tracer->ring, target, capacity, out);
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t tracer_read(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
                            void *buffer, uint64_t capacity_bytes,
                            struct zeta_plugin_read *out_read)
{
    uint32_t result;

    (void)self;
    enter(tracer);
    result = read_locked(tracer, buffer, capacity_bytes, out_read);
    leave(tracer);
    return result;
}

static uint64_t tracer_pending(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    uint64_t bytes;

    (void)self;
    (void)pthread_mutex_lock(&lock);
    bytes = (uint64_t)tracer->ring.count * tracer->ring.record_bytes;
    (void)pthread_mutex_unlock(&lock);
    return bytes;
}

static int32_t tracer_descriptor(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    (void)self;
    return no_descriptors ? -1 : tracer->ring.fd;
}

static void tracer_close(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    struct zeta_plugin_device *device = tracer->device;

    (void)self;
    enter(tracer);
    device->counts.closes++;
    for (uint32_t u = 0; u < UNIT_COUNT; u++) {
        if (device->tracers[u] == tracer)
            device->tracers[u] = NULL;
    }
    leave(tracer);
    scripted_ring_close(&tracer->ring);
    free(tracer);
}

/* What tests call -------------------------------------------------------------------------------
 */

static void control_reset(void)
{
    (void)pthread_mutex_lock(&lock);
    for (uint32_t d = 0; d < DEVICE_COUNT; d++) {
        struct zeta_plugin_device *device = &devices[d];

        device->fail = device->refuse = device->refuse_switch = 0;
        device->refuse_sentence = NULL;
        device->held = false;
        device->counts = (struct trace_counts){0};
    }
    ring_wanted = 0;
    no_descriptors = false;
    event_number = 1;
    (void)pthread_mutex_unlock(&lock);
}

static void control_push(const char *device, const char *unit, uint16_t type, uint32_t count)
{
    const uint32_t index = find_unit(scripted_text(unit));
    struct zeta_plugin_tracer *tracer;

    (void)pthread_mutex_lock(&lock);
    tracer = find_device(device)->tracers[index];
    if (tracer &&
        (tracer->state == ZETA_PLUGIN_TRACER_ON || tracer->state == ZETA_PLUGIN_TRACER_STOPPING)) {
        for (uint32_t i = 0; i < count; i++)
            add_locked(tracer, index, type);
        scripted_ring_show(&tracer->ring);
    }
    (void)pthread_mutex_unlock(&lock);
}

static void control_lose(const char *device, const char *unit, uint32_t lost)
{
    struct zeta_plugin_tracer *tracer;

    (void)pthread_mutex_lock(&lock);
    tracer = find_device(device)->tracers[find_unit(scripted_text(unit))];
    if (tracer) {
        tracer->pending.broken = true;
        tracer->pending.reason = ZETA_PLUGIN_BREAK_OVERFLOW;
        tracer->pending.lost += lost;
        event_number += lost;
    }
    (void)pthread_mutex_unlock(&lock);
}

static void control_fail(const char *device, uint32_t result)
{
    (void)pthread_mutex_lock(&lock);
    find_device(device)->fail = result;
    (void)pthread_mutex_unlock(&lock);
}

static void control_refuse_open(const char *device, uint32_t result, const char *sentence)
{
    (void)pthread_mutex_lock(&lock);
    find_device(device)->refuse = result;
    find_device(device)->refuse_sentence = sentence;
    (void)pthread_mutex_unlock(&lock);
}

static void control_refuse_switch(const char *device, uint32_t result)
{
    (void)pthread_mutex_lock(&lock);
    find_device(device)->refuse_switch = result;
    (void)pthread_mutex_unlock(&lock);
}

static void control_hold(const char *id, bool yes)
{
    struct zeta_plugin_device *device = find_device(id);

    (void)pthread_mutex_lock(&lock);
    device->held = yes;
    for (uint32_t u = 0; !yes && u < UNIT_COUNT; u++) {
        struct zeta_plugin_tracer *tracer = device->tracers[u];

        if (tracer && tracer->state == ZETA_PLUGIN_TRACER_STARTING)
            set_state(tracer, ZETA_PLUGIN_TRACER_ON);
        if (tracer && tracer->state == ZETA_PLUGIN_TRACER_STOPPING)
            set_state(tracer, ZETA_PLUGIN_TRACER_OFF);
    }
    (void)pthread_mutex_unlock(&lock);
}

static void control_ring(uint64_t bytes)
{
    (void)pthread_mutex_lock(&lock);
    ring_wanted = bytes;
    (void)pthread_mutex_unlock(&lock);
}

static void control_descriptors(bool yes)
{
    no_descriptors = !yes;
}

static struct trace_counts control_counts(const char *device)
{
    struct trace_counts counts;

    (void)pthread_mutex_lock(&lock);
    counts = find_device(device)->counts;
    (void)pthread_mutex_unlock(&lock);
    return counts;
}

static bool control_is_held(const char *device, const char *unit)
{
    bool held;

    (void)pthread_mutex_lock(&lock);
    held = find_device(device)->tracers[find_unit(scripted_text(unit))] != NULL;
    (void)pthread_mutex_unlock(&lock);
    return held;
}

static uint64_t control_waiting(const char *device, const char *unit)
{
    const struct zeta_plugin_tracer *tracer;
    uint64_t count;

    (void)pthread_mutex_lock(&lock);
    tracer = find_device(device)->tracers[find_unit(scripted_text(unit))];
    count = tracer ? tracer->ring.count : 0;
    (void)pthread_mutex_unlock(&lock);
    return count;
}

const struct trace_control trace_control = {
    .reset = control_reset,
    .push = control_push,
    .lose = control_lose,
    .fail_reads = control_fail,
    .refuse_open = control_refuse_open,
    .refuse_switch = control_refuse_switch,
    .hold = control_hold,
    .ring = control_ring,
    .descriptors = control_descriptors,
    .counts = control_counts,
    .is_held = control_is_held,
    .waiting = control_waiting,
};

/* Negotiation -----------------------------------------------------------------------------------
 */

static const struct zeta_plugin_device_ops device_ops = {
    .struct_size = sizeof(device_ops),
    .enumerate = enumerate,
    .properties = properties,
    .clock = read_clock,
    .status = scripted_status,
    .child_after_fork = child_after_fork,
};

static uint32_t limits(struct zeta_plugin *self, struct zeta_plugin_device *device,
                       struct zeta_plugin_string unit, struct zeta_plugin_limits *out_limits)
{
    if (scripted_is(unit, "kernels")) {
        out_limits->stream_note = scripted_text(TRACE_NOTE);
        out_limits->own_process = 1;
    }
    return scripted_limits(self, device, unit, out_limits);
}

/* A stream that never has a record, where a command needs one. */
static uint32_t stream_open(struct zeta_plugin *self, struct zeta_plugin_device *device,
                            struct zeta_plugin_stream_desc *desc,
                            struct zeta_plugin_stream **out_stream)
{
    (void)self;
    (void)desc;
    if (events_at_enable() == 0)
        return ZETA_PLUGIN_NOT_AVAILABLE;
    *out_stream = (struct zeta_plugin_stream *)device;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t stream_read(struct zeta_plugin *self, struct zeta_plugin_stream *stream,
                            void *buffer, uint64_t capacity_bytes,
                            struct zeta_plugin_read *out_read)
{
    (void)self;
    (void)stream;
    (void)buffer;
    (void)capacity_bytes;
    out_read->bytes = 0;
    return ZETA_PLUGIN_SUCCESS;
}

static const struct zeta_plugin_metric_ops metric_ops = {
    .struct_size = sizeof(metric_ops),
    .symbols = scripted_no_symbols,
    .limits = limits,
    .stream_open = stream_open,
    .stream_read = stream_read,
    .stream_close = scripted_no_stream_close,
};

/* Events of even numbers have names. */
static uint32_t tracer_name(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
                            uint64_t id, const struct zeta_plugin_text_sink *sink)
{
    const uint64_t number = id / 100;
    char text[32];

    (void)self;
    enter(tracer);
    leave(tracer);
    if (id % 200 != 0)
        return ZETA_PLUGIN_NOT_AVAILABLE;
    (void)snprintf(text, sizeof(text), TRACE_NAME, (unsigned)number);
    sink->write(sink->context, scripted_text(""), scripted_text(text));
    return ZETA_PLUGIN_SUCCESS;
}

static const struct zeta_plugin_tracer_ops tracer_ops = {
    .struct_size = sizeof(tracer_ops),
    .open = tracer_open,
    .enable = tracer_enable,
    .disable = tracer_disable,
    .state = tracer_state,
    .read = tracer_read,
    .pending = tracer_pending,
    .descriptor = tracer_descriptor,
    .close = tracer_close,
    .name = tracer_name,
};

static const struct zeta_plugin_ops ops = {.struct_size = sizeof(ops),
                                           .finish = scripted_finish,
                                           .device = &device_ops,
                                           .metric = &metric_ops,
                                           .tracer = &tracer_ops};

void scripted_tracers(const struct zeta_plugin_offer *offer, struct zeta_plugin_answer *out_answer)
{
    instance.ops = offer->ops;
    instance.host = offer->host;
    out_answer->self = &instance;
    out_answer->ops = &ops;
}
