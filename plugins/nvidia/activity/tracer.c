#include <stdlib.h>
#include <string.h>

#include "plugins/nvidia/activity/activity.h"
#include "plugins/nvidia/activity/collect.h"
#include "plugins/nvidia/activity/window.h"

/* Records of the ring unless more are wanted, and at most. */
enum { RING_DEFAULT = 1 << 16, RING_MAX = 1 << 19 };

/* How long events are held back, and how many. */
#define HOLD_NS (UINT64_C(5) * NVIDIA_FLUSH_MS * 1000000)
enum { HOLD_MAX = 1 << 20 };

/* Events that go into the ring at a time. */
enum { CHUNK = 64 };

/* CUPTI up to this version, that of CUDA 12.8, gives no records beside a session of PM sampling. */
enum { DEAF_VERSION = 26 };

struct zeta_plugin_tracer {
    struct nvidia_collector collector; /* first */
    struct zeta_plugin_device *device;
    const struct nvidia_cupti *cupti;
    struct zeta_record_ring *ring;
    struct zeta_record_pump *pump;

    pthread_mutex_t control; /* of what begins and ends; before the locks of collect.c */
    bool wants_on, is_on;
    _Atomic uint32_t state; /* ZETA_PLUGIN_TRACER_*; changes under control */

    pthread_mutex_t lock; /* of what follows; a leaf but for the ring's */
    struct nvidia_window window;
    uint64_t begin_ns, end_ns; /* of the time that it is on; events outside are left out */
    bool had_events;           /* since it was turned on */
};

/* ---- events --------------------------------------------------------------------------------- */

static void count_lost(struct zeta_plugin_tracer *tracer, uint64_t count)
{
    zeta_record_ring_lose(tracer->ring, ZETA_PLUGIN_BREAK_LOST, count);
    (void)atomic_fetch_add(&tracer->device->activity.lost, count);
}

static void push_locked(struct zeta_plugin_tracer *tracer, const struct nvidia_event *events,
                        uint32_t count)
{
    const uint64_t dropped = zeta_record_ring_push(tracer->ring, events, count);

    (void)atomic_fetch_add(&tracer->device->activity.written, count);
    (void)atomic_fetch_add(&tracer->device->activity.lost, dropped);
}

/* Moves what ended until then from the window into the ring. */
static void give_locked(struct zeta_plugin_tracer *tracer, uint64_t until_ns)
{
    struct nvidia_event events[CHUNK];
    uint32_t count = 0;

    while (nvidia_window_take(&tracer->window, until_ns, &events[count])) {
        if (++count < CHUNK)
            continue;
        push_locked(tracer, events, count);
        count = 0;
    }
    if (count > 0)
        push_locked(tracer, events, count);
}

static void take(struct nvidia_collector *collector, const struct nvidia_event *event)
{
    struct zeta_plugin_tracer *tracer = (struct zeta_plugin_tracer *)collector;
    struct nvidia_event first;

    (void)pthread_mutex_lock(&tracer->lock);
    tracer->had_events = true;
    if (event->ticks >= tracer->begin_ns && event->ticks <= tracer->end_ns) {
        if (tracer->window.count >= HOLD_MAX &&
            nvidia_window_take(&tracer->window, UINT64_MAX, &first))
            push_locked(tracer, &first, 1);
        if (nvidia_window_put(&tracer->window, event) != NVIDIA_WINDOW_TAKEN)
            count_lost(tracer, 1);
    }
    (void)pthread_mutex_unlock(&tracer->lock);
}

static void lose(struct nvidia_collector *collector, uint64_t count)
{
    count_lost((struct zeta_plugin_tracer *)collector, count);
}

/* ---- on and off ----------------------------------------------------------------------------- */

static void push_mark_locked(struct zeta_plugin_tracer *tracer, enum nvidia_event_type type,
                             uint64_t ns)
{
    const struct nvidia_event mark = {
        .type = (uint16_t)type, .device = tracer->collector.device, .ticks = ns, .begin = ns};

    push_locked(tracer, &mark, 1);
}

/* Leaves a sentence on failure. control is held. */
static uint32_t begin(struct zeta_plugin_tracer *tracer)
{
    const struct nvidia *nvidia = tracer->device->nvidia;
    const struct nvidia_asked asked = {.host = nvidia->host,
                                       .cupti = tracer->cupti,
                                       .device = tracer->device->id,
                                       .root = nvidia->root};
    const char *what = "";
    int result;

    (void)pthread_mutex_lock(&tracer->lock);
    tracer->begin_ns = nvidia_clock_ns();
    tracer->end_ns = UINT64_MAX;
    tracer->had_events = false;
    (void)pthread_mutex_unlock(&tracer->lock);
    result = nvidia_collect_begin(tracer->cupti, &tracer->collector, &what);
    tracer->is_on = result == NVIDIA_CUPTI_SUCCESS;
    tracer->wants_on = tracer->is_on;
    atomic_store(&tracer->state, tracer->is_on ? ZETA_PLUGIN_TRACER_ON : ZETA_PLUGIN_TRACER_OFF);
    if (!tracer->is_on)
        return nvidia_cupti_fail(&asked, result, "%s", what);
    (void)pthread_mutex_lock(&tracer->lock);
    push_mark_locked(tracer, NVIDIA_EVENT_ENABLED, tracer->begin_ns);
    (void)pthread_mutex_unlock(&tracer->lock);
    return ZETA_PLUGIN_SUCCESS;
}

/* Says why nothing came, where that is known to happen. */
static void explain_silence(const struct zeta_plugin_tracer *tracer)
{
    if (tracer->had_events || tracer->cupti->version > DEAF_VERSION)
        return;
    zeta_host_log(tracer->device->nvidia->host, ZETA_PLUGIN_LOG_WARN,
                  "%s: the tracer saw no event. If this process used the GPU meanwhile, a stream "
                  "of perfmon was the reason: beside one, this version of CUPTI (%u) gives no "
                  "records. Close such streams, or install libcupti of CUDA 12.9 or newer",
                  tracer->device->id, tracer->cupti->version);
}

/* control is held; end_ns is set. */
static void end(struct zeta_plugin_tracer *tracer)
{
    nvidia_collect_end(&tracer->collector);
    (void)pthread_mutex_lock(&tracer->lock);
    give_locked(tracer, tracer->end_ns);
    push_mark_locked(tracer, NVIDIA_EVENT_DISABLED, tracer->end_ns);
    explain_silence(tracer);
    (void)pthread_mutex_unlock(&tracer->lock);
    tracer->is_on = false;
    atomic_store(&tracer->state, ZETA_PLUGIN_TRACER_OFF);
}

static void fetch(void *context)
{
    struct zeta_plugin_tracer *tracer = context;

    (void)pthread_mutex_lock(&tracer->control);
    if (tracer->wants_on && !tracer->is_on && begin(tracer) != ZETA_PLUGIN_SUCCESS)
        zeta_host_log(tracer->device->nvidia->host, ZETA_PLUGIN_LOG_ERROR,
                      "%s: the tracer could not be enabled later, as was asked for; enable it "
                      "synchronously to learn why",
                      tracer->device->id);
    if (!tracer->wants_on && tracer->is_on)
        end(tracer);
    if (tracer->is_on) {
        nvidia_collect_flush();
        (void)pthread_mutex_lock(&tracer->lock);
        give_locked(tracer, nvidia_clock_ns() - HOLD_NS);
        (void)pthread_mutex_unlock(&tracer->lock);
    }
    (void)pthread_mutex_unlock(&tracer->control);
}

static uint32_t tracer_enable(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
                              uint32_t synchronous)
{
    uint32_t result = ZETA_PLUGIN_SUCCESS;

    (void)self;
    (void)pthread_mutex_lock(&tracer->control);
    if (!tracer->wants_on && tracer->is_on)
        end(tracer); /* its end is a record, and then it begins again */
    tracer->wants_on = true;
    if (!tracer->is_on && synchronous) {
        result = begin(tracer);
    } else if (!tracer->is_on) {
        atomic_store(&tracer->state, ZETA_PLUGIN_TRACER_STARTING);
        zeta_record_pump_wake(tracer->pump);
    }
    (void)pthread_mutex_unlock(&tracer->control);
    return result;
}

static uint32_t tracer_disable(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
                               uint32_t synchronous)
{
    uint32_t result = ZETA_PLUGIN_SUCCESS;

    (void)self;
    (void)pthread_mutex_lock(&tracer->control);
    if (tracer->wants_on && !tracer->is_on)
        result = begin(tracer); /* asked for, and not done yet: both are records */
    if (tracer->wants_on) {
        tracer->wants_on = false;
        (void)pthread_mutex_lock(&tracer->lock);
        tracer->end_ns = nvidia_clock_ns();
        (void)pthread_mutex_unlock(&tracer->lock);
        atomic_store(&tracer->state, ZETA_PLUGIN_TRACER_STOPPING);
    }
    if (tracer->is_on && synchronous)
        end(tracer);
    else if (tracer->is_on)
        zeta_record_pump_wake(tracer->pump);
    (void)pthread_mutex_unlock(&tracer->control);
    return result;
}

/* ---- the rest of the operations ------------------------------------------------------------- */

static uint32_t tracer_state(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    (void)self;
    return atomic_load(&tracer->state);
}

static uint32_t tracer_read(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
                            void *buffer, uint64_t capacity_bytes,
                            struct zeta_plugin_read *out_read)
{
    (void)self;
    zeta_record_ring_read(tracer->ring, buffer, capacity_bytes, out_read);
    return ZETA_PLUGIN_SUCCESS;
}

static uint64_t tracer_pending(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    (void)self;
    return zeta_record_ring_pending(tracer->ring) * NVIDIA_EVENT_BYTES;
}

static int32_t tracer_descriptor(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    (void)self;
    return zeta_record_ring_descriptor(tracer->ring);
}

static uint32_t tracer_name(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
                            uint64_t id, const struct zeta_plugin_text_sink *sink)
{
    const char *text = nvidia_collect_name(id);

    (void)self;
    (void)tracer;
    if (!text)
        return ZETA_PLUGIN_NOT_AVAILABLE;
    sink->write(sink->context, zeta_string(""), zeta_string(text));
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t check_request(const struct zeta_plugin_device *device,
                              const struct zeta_plugin_tracer_desc *desc)
{
    const struct zeta_host *host = device->nvidia->host;

    if (desc->record_bytes != NVIDIA_EVENT_BYTES)
        return zeta_host_fail(host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "%s (%s): events have %d bytes, and the set says %u", device->name,
                              device->id, NVIDIA_EVENT_BYTES, desc->record_bytes);
    for (uint64_t i = 0; i < desc->units.count; i++) {
        const struct zeta_plugin_string *unit =
            (const void *)((const char *)desc->units.data + i * desc->units.stride);

        if (!zeta_string_is(*unit, NVIDIA_ACTIVITY_UNIT) || i > 0)
            return zeta_host_fail(host, ZETA_PLUGIN_INVALID_ARGUMENT,
                                  "%s (%s) has one source of events, " NVIDIA_ACTIVITY_UNIT
                                  ", and %.*s was asked for",
                                  device->name, device->id, zeta_string_shown(*unit), unit->data);
    }
    return desc->units.count > 0 ? ZETA_PLUGIN_SUCCESS
                                 : zeta_host_fail(host, ZETA_PLUGIN_INVALID_ARGUMENT,
                                                  "%s (%s): a tracer needs a source of events",
                                                  device->name, device->id);
}

/* Publishes the tracer for the counts of its device, or takes that back. */
static void publish(struct zeta_plugin_tracer *tracer, struct zeta_plugin_tracer *published)
{
    struct nvidia *nvidia = tracer->device->nvidia;

    (void)pthread_mutex_lock(&nvidia->lock);
    tracer->device->activity.tracer = published;
    (void)pthread_mutex_unlock(&nvidia->lock);
}

static uint32_t tracer_open(struct zeta_plugin *self, struct zeta_plugin_device *device,
                            struct zeta_plugin_tracer_desc *desc,
                            struct zeta_plugin_tracer **out_tracer)
{
    const struct zeta_host *host = device->nvidia->host;
    const char *problem = "";
    const struct nvidia_cupti *cupti = nvidia_cupti_get(device->nvidia, &problem);
    const uint64_t notify = (desc->notify_bytes + NVIDIA_EVENT_BYTES - 1) / NVIDIA_EVENT_BYTES;
    const uint32_t capacity = zeta_record_ring_choose(
        desc->ring_bytes > 0 ? desc->ring_bytes / NVIDIA_EVENT_BYTES : RING_DEFAULT, notify,
        RING_MAX);
    struct zeta_plugin_tracer *tracer;
    uint32_t result = check_request(device, desc);

    (void)self;
    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    if (!cupti)
        return zeta_host_fail(host, ZETA_PLUGIN_DEPENDENCY_UNAVAILABLE,
                              "%s (%s) cannot be traced: %s", device->name, device->id, problem);
    if (atomic_exchange(&device->activity.in_use, true))
        return zeta_host_fail(host, ZETA_PLUGIN_HANDLE_OBJECT_IN_USE,
                              "%s (%s): this process has a tracer already; destroy it first",
                              device->name, device->id);
    result = ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    tracer = calloc(1, sizeof(*tracer));
    if (!tracer)
        goto give_up_unit;
    tracer->collector =
        (struct nvidia_collector){.device = (uint32_t)device->ordinal, .take = take, .lose = lose};
    tracer->device = device;
    tracer->cupti = cupti;
    (void)pthread_mutex_init(&tracer->control, NULL);
    (void)pthread_mutex_init(&tracer->lock, NULL);
    tracer->ring = zeta_record_ring_create(capacity, NVIDIA_EVENT_BYTES,
                                           notify < capacity ? notify : capacity);
    if (tracer->ring)
        tracer->pump = zeta_record_pump_create(UINT64_C(1000000) * NVIDIA_FLUSH_MS, fetch, tracer,
                                               "nvidia-tracer");
    if (!tracer->pump)
        goto destroy;
    publish(tracer, tracer);
    desc->ring_bytes = (uint64_t)capacity * NVIDIA_EVENT_BYTES;
    *out_tracer = tracer;
    return ZETA_PLUGIN_SUCCESS;

destroy:
    zeta_record_ring_destroy(tracer->ring);
    (void)pthread_mutex_destroy(&tracer->lock);
    (void)pthread_mutex_destroy(&tracer->control);
    free(tracer);
give_up_unit:
    atomic_store(&device->activity.in_use, false);
    return result;
}

static void tracer_close(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    struct zeta_plugin_device *device = tracer->device;

    /* One that is not on does not begin any more. */
    (void)pthread_mutex_lock(&tracer->control);
    tracer->wants_on = tracer->wants_on && tracer->is_on;
    (void)pthread_mutex_unlock(&tracer->control);
    (void)tracer_disable(self, tracer, 1);
    zeta_record_pump_destroy(tracer->pump);
    publish(tracer, NULL);
    nvidia_window_finish(&tracer->window);
    zeta_record_ring_destroy(tracer->ring);
    (void)pthread_mutex_destroy(&tracer->lock);
    (void)pthread_mutex_destroy(&tracer->control);
    free(tracer);
    atomic_store(&device->activity.in_use, false);
}

const struct zeta_plugin_tracer_ops nvidia_tracer_ops = {
    .struct_size = sizeof(struct zeta_plugin_tracer_ops),
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

/* ---- what is said of the unit --------------------------------------------------------------- */

struct nvidia_activity_counts nvidia_activity_counts(struct zeta_plugin_device *device)
{
    struct nvidia *nvidia = device->nvidia;
    struct nvidia_activity_counts counts = {.written = atomic_load(&device->activity.written),
                                            .lost = atomic_load(&device->activity.lost)};
    struct zeta_plugin_tracer *tracer;

    (void)pthread_mutex_lock(&nvidia->lock);
    tracer = device->activity.tracer;
    if (tracer) {
        (void)pthread_mutex_lock(&tracer->lock);
        counts.waiting = tracer->window.count + zeta_record_ring_pending(tracer->ring);
        (void)pthread_mutex_unlock(&tracer->lock);
        counts.capacity = zeta_record_ring_capacity(tracer->ring);
    }
    (void)pthread_mutex_unlock(&nvidia->lock);
    return counts;
}

uint32_t nvidia_activity_limits(struct zeta_plugin_device *device,
                                struct zeta_plugin_limits *out_limits)
{
    static const char note[] = "Sees the work of this process only.";
    static const char deaf_note[] =
        "Sees the work of this process only, and none while the process has a stream of perfmon: "
        "this version of CUPTI gives no records beside one, that of CUDA 12.9 does.";
    const char *problem = "";
    const struct nvidia_cupti *cupti = nvidia_cupti_get(device->nvidia, &problem);

    if (!cupti)
        return zeta_host_fail(device->nvidia->host, ZETA_PLUGIN_UNSUPPORTED_FEATURE,
                              "%s (%s) cannot be traced: %s", device->name, device->id, problem);
    out_limits->min_period_ns = NVIDIA_ACTIVITY_PERIOD_MIN_NS;
    out_limits->max_period_ns = NVIDIA_ACTIVITY_PERIOD_MAX_NS;
    out_limits->own_process = 1;
    out_limits->stream_note = zeta_string(cupti->version <= DEAF_VERSION ? deaf_note : note);
    return ZETA_PLUGIN_SUCCESS;
}
