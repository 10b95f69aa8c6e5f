/* A backend without hardware: what its streams give is told by a test (stream_control.h). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/device/scripted.h"
#include "tests/harness/device/stream_control.h"
#include "zeta/plugin.h"

#define UNIT_COUNT 3u
#define DEVICE_COUNT 5u
#define MIN_PERIOD_NS 10000u
#define MAX_PERIOD_NS 1000000000u
/* The shortest period of programs without entries. */
#define EMPTY_MIN_PERIOD_NS 20000u

struct zeta_plugin_stream {
    struct unit *unit;
    struct scripted_ring ring;
    uint32_t in_call;
    bool stopped;
};

struct unit {
    const char *name;
    uint32_t tile;
    struct zeta_plugin_stream *stream;
    uint32_t next_number;
    struct scripted_break pending; /**< before the next record */
    uint32_t fail, refuse, holder;
    struct stream_counts counts;
};

struct zeta_plugin_device {
    const char *id;
    bool bare;
    uint32_t parent;
    uint32_t tile;
    struct unit units[UNIT_COUNT];
};

struct zeta_plugin {
    const struct zeta_plugin_host_ops *ops;
    struct zeta_plugin_host *host;
    bool bare;
};

/* The plugin is one for the whole test program, so its state may be global. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool first_at_open_wanted = true;
static uint32_t ring_wanted;
static uint32_t most_together;    /* programs on a device; 0: any number */
static uint32_t entries_per_pass; /* 0: any number; UINT32_MAX: nothing ever runs */
static stream_hook check_hook;
static void *check_hook_context;
static stream_hook read_hook;
static void *read_hook_context;

static struct zeta_plugin_device devices[DEVICE_COUNT] = {
    {.id = "fake0", .parent = UINT32_MAX},
    {.id = "fake1", .parent = UINT32_MAX},
    {.id = "fake1.0", .parent = 1, .tile = 0},
    {.id = "fake1.1", .parent = 1, .tile = 1},
    {.id = "bare0", .bare = true, .parent = UINT32_MAX},
};

static struct zeta_plugin instances[2] = {{.bare = false}, {.bare = true}};

static void name_units(void)
{
    static const char *const names[UNIT_COUNT] = {"u0", "u1", "u2"};

    for (uint32_t d = 0; d < DEVICE_COUNT; d++) {
        for (uint32_t u = 0; u < UNIT_COUNT; u++) {
            devices[d].units[u].name = names[u];
            devices[d].units[u].tile = devices[d].tile;
        }
    }
}

static struct unit *find_unit(struct zeta_plugin_device *device, struct zeta_plugin_string name)
{
    for (uint32_t u = 0; u < UNIT_COUNT; u++) {
        if (scripted_is(name, devices[0].units[u].name))
            return &device->units[u];
    }
    return NULL;
}

static struct unit *named_unit(const char *device, const char *unit)
{
    for (uint32_t d = 0; d < DEVICE_COUNT; d++) {
        if (strcmp(devices[d].id, device) == 0)
            return find_unit(&devices[d], scripted_text(unit));
    }
    abort(); /* a mistake of the test */
}

/* Records ---------------------------------------------------------------------------------------
 */

static void add_locked(struct unit *unit)
{
    const uint32_t number = unit->next_number++;
    const struct fake_record record = {.report_id = number,
                                       .timestamp = number * FAKE_TICKS_PER_RECORD,
                                       .a = {number, number * 3},
                                       .tile = unit->tile,
                                       .mark = FAKE_MARK};

    scripted_ring_add(&unit->stream->ring, &record, unit->pending);
    unit->pending = (struct scripted_break){0};
}

/* Device operations -----------------------------------------------------------------------------
 */

static uint32_t enumerate(struct zeta_plugin *self, uint32_t capacity,
                          struct zeta_plugin_device **out_devices, uint32_t *out_count)
{
    uint32_t first = self->bare ? 4 : 0;
    uint32_t count = self->bare ? 1 : 4;

    for (uint32_t i = 0; i < count && i < capacity; i++)
        out_devices[i] = &devices[first + i];
    *out_count = count;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t properties(struct zeta_plugin *self, struct zeta_plugin_device *device,
                           struct zeta_plugin_device_properties *out)
{
    const struct scripted_device described = {.id = device->id,
                                              .parent = device->parent,
                                              .tile = device->tile,
                                              .vendor_id = 0x10000,
                                              .timer_hz = 25000000,
                                              .timestamp_valid_bits = 32};

    (void)self;
    scripted_describe(&described, out);
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t read_clock(struct zeta_plugin *self, struct zeta_plugin_device *device,
                           struct zeta_plugin_clock *out_clock)
{
    (void)self;
    (void)device;
    /* More bits than are valid, to see that the library masks. */
    out_clock->device_ticks = (UINT64_C(7) << 32) + 1000;
    out_clock->host_ns = 5000000;
    out_clock->raw = 1;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t child_after_fork(struct zeta_plugin *self)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

    (void)self;
    lock = fresh;
    for (uint32_t d = 0; d < DEVICE_COUNT; d++) {
        for (uint32_t u = 0; u < UNIT_COUNT; u++)
            devices[d].units[u].stream = NULL;
    }
    return ZETA_PLUGIN_SUCCESS;
}

/* Metric operations -----------------------------------------------------------------------------
 */

static uint32_t get_sets(struct zeta_plugin *self, struct zeta_plugin_device *device,
                         const struct zeta_plugin_text_sink *sink)
{
    static const char made[] = "format: 1\n"
                               "sets:\n"
                               "  - name: Runtime\n"
                               "    description: Made by the plugin when it runs\n"
                               "    domain: 1\n"
                               "    unit: u1\n"
                               "    layout: fake\n"
                               "    sampling: [time]\n"
                               "    metrics:\n"
                               "      - {name: Count, description: Records, type: event,\n"
                               "         value_type: u64, class: exact, value: 'A[0]'}\n";

    /* As long as paths can be. */
    char name[400];

    (void)device;
    (void)snprintf(name, sizeof(name), "%0*d/runtime.yaml", 300, 0);
    sink->write(sink->context, scripted_text(name), scripted_text(made));
    sink->write(sink->context, scripted_text("broken"),
                scripted_text("format: 1\nsets: [{name: Half}]\n"));
    self->ops->fail(self->host, ZETA_PLUGIN_SUCCESS, scripted_text(FAKE_SETS_NOTE));
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t symbols(struct zeta_plugin *self, struct zeta_plugin_device *device,
                        struct zeta_plugin_array *out_symbols)
{
    static const struct zeta_plugin_symbol table[] = {
        {.struct_size = sizeof(struct zeta_plugin_symbol),
         .name = {.data = "Scale", .size = 5},
         .u64 = 2},
        {.struct_size = sizeof(struct zeta_plugin_symbol),
         .name = {.data = "Half", .size = 4},
         .is_float = 1,
         .f64 = 0.5},
    };

    (void)self;
    (void)device;
    *out_symbols =
        (struct zeta_plugin_array){.data = table, .count = 2, .stride = sizeof(table[0])};
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t limits(struct zeta_plugin *self, struct zeta_plugin_device *device,
                       struct zeta_plugin_string unit, struct zeta_plugin_limits *out_limits)
{
    const struct zeta_plugin_program_use *use = out_limits->use;
    const bool is_empty = use && use->kind == ZETA_PLUGIN_USE_STREAM && use->entries.count == 0;

    (void)self;
    (void)device;
    if (use && (use->unit.size != unit.size || memcmp(use->unit.data, unit.data, unit.size) != 0))
        return ZETA_PLUGIN_INVALID_ARGUMENT;
    out_limits->min_period_ns = is_empty ? EMPTY_MIN_PERIOD_NS : MIN_PERIOD_NS;
    out_limits->max_period_ns = MAX_PERIOD_NS;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t holder(struct zeta_plugin *self, struct zeta_plugin_device *device,
                       struct zeta_plugin_string unit, uint32_t *out_pid)
{
    struct unit *found = find_unit(device, unit);

    (void)self;
    (void)pthread_mutex_lock(&lock);
    *out_pid = found->holder;
    if (found->stream && !found->stream->stopped)
        *out_pid = (uint32_t)getpid();
    (void)pthread_mutex_unlock(&lock);
    return ZETA_PLUGIN_SUCCESS;
}

static void copy_text(char *target, size_t capacity, struct zeta_plugin_string text)
{
    size_t length = text.size < capacity - 1 ? (size_t)text.size : capacity - 1;

    if (length > 0)
        memcpy(target, text.data, length);
    target[length] = '\0';
}

static void note_program(struct stream_counts *counts, const struct zeta_plugin_array *program)
{
    const struct zeta_plugin_program_entry *entries = program->data;

    counts->program_entries = (uint32_t)program->count;
    for (uint32_t i = 0; i < program->count && i < FAKE_ENTRIES; i++)
        copy_text(counts->register_classes[i], sizeof(counts->register_classes[i]),
                  entries[i].register_class);
}

static void note_open(struct unit *unit, const struct zeta_plugin_stream_desc *desc)
{
    struct stream_counts *counts = &unit->counts;

    counts->opens++;
    counts->notify_records = desc->notify_records;
    counts->ring_records = desc->ring_records;
    counts->period_ns = desc->period_ns;
    note_program(counts, &desc->program);
    copy_text(counts->digest, sizeof(counts->digest), desc->digest);
    copy_text(counts->uuid, sizeof(counts->uuid), desc->uuid);
}

static uint32_t open_locked(struct unit *unit, struct zeta_plugin_stream_desc *desc,
                            struct zeta_plugin_stream **out_stream)
{
    struct zeta_plugin_stream *stream;

    if (unit->refuse)
        return unit->refuse;
    if (desc->record_bytes != FAKE_RECORD_BYTES)
        return ZETA_PLUGIN_INVALID_ARGUMENT;
    if (unit->stream && !unit->stream->stopped)
        return ZETA_PLUGIN_HANDLE_OBJECT_IN_USE;
    stream = calloc(1, sizeof(*stream));
    if (!stream)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    if (ring_wanted)
        desc->ring_records = ring_wanted;
    stream->unit = unit;
    if (!scripted_ring_open(&stream->ring, FAKE_RECORD_BYTES, desc->ring_records,
                            desc->notify_records)) {
        free(stream);
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    }
    unit->stream = stream;
    unit->next_number = 0;
    /* Periods are whole multiples of 1000 ns. */
    desc->period_ns = (desc->period_ns + 500) / 1000 * 1000;
    if (first_at_open_wanted)
        add_locked(unit);
    *out_stream = stream;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t stream_open(struct zeta_plugin *self, struct zeta_plugin_device *device,
                            struct zeta_plugin_stream_desc *desc,
                            struct zeta_plugin_stream **out_stream)
{
    struct unit *unit = find_unit(device, desc->unit);
    uint32_t result;

    (void)self;
    if (!unit)
        return ZETA_PLUGIN_INVALID_ARGUMENT;
    (void)pthread_mutex_lock(&lock);
    note_open(unit, desc);
    result = open_locked(unit, desc, out_stream);
    (void)pthread_mutex_unlock(&lock);
    return result;
}

/** Notes that a call for the stream begins; two at a time are a mistake of the library. */
static void enter(struct zeta_plugin_stream *stream)
{
    (void)pthread_mutex_lock(&lock);
    if (stream->in_call++ > 0)
        stream->unit->counts.overlaps++;
    (void)pthread_mutex_unlock(&lock);
}

static void leave(struct zeta_plugin_stream *stream)
{
    (void)pthread_mutex_lock(&lock);
    stream->in_call--;
    (void)pthread_mutex_unlock(&lock);
}

static uint32_t read_locked(struct zeta_plugin_stream *stream, uint8_t *target, uint64_t capacity,
                            struct zeta_plugin_read *out)
{
    stream->unit->counts.reads++;
    out->bytes = 0;
    if (stream->ring.count == 0 && stream->unit->fail)
        return stream->unit->fail;
    scripted_ring_read(&stream->ring, target, capacity, out);
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t stream_read(struct zeta_plugin *self, struct zeta_plugin_stream *stream,
                            void *buffer, uint64_t capacity, struct zeta_plugin_read *out)
{
    stream_hook hook;
    void *context;
    uint32_t result;

    (void)self;
    enter(stream);
    (void)pthread_mutex_lock(&lock);
    hook = read_hook;
    context = read_hook_context;
    (void)pthread_mutex_unlock(&lock);
    if (hook)
        hook(context);
    (void)pthread_mutex_lock(&lock);
    result = read_locked(stream, buffer, capacity, out);
    (void)pthread_mutex_unlock(&lock);
    leave(stream);
    return result;
}

static uint64_t stream_pending(struct zeta_plugin *self, struct zeta_plugin_stream *stream)
{
    uint64_t count;

    (void)self;
    (void)pthread_mutex_lock(&lock);
    count = stream->ring.count;
    (void)pthread_mutex_unlock(&lock);
    return count;
}

static int32_t stream_descriptor(struct zeta_plugin *self, struct zeta_plugin_stream *stream)
{
    (void)self;
    return stream->ring.fd;
}

static void stream_stop(struct zeta_plugin *self, struct zeta_plugin_stream *stream)
{
    (void)self;
    enter(stream);
    (void)pthread_mutex_lock(&lock);
    stream->stopped = true;
    stream->unit->counts.stops++;
    (void)pthread_mutex_unlock(&lock);
    leave(stream);
}

static void stream_close(struct zeta_plugin *self, struct zeta_plugin_stream *stream)
{
    (void)self;
    enter(stream);
    (void)pthread_mutex_lock(&lock);
    stream->unit->counts.closes++;
    if (stream->unit->stream == stream)
        stream->unit->stream = NULL;
    (void)pthread_mutex_unlock(&lock);
    scripted_ring_close(&stream->ring);
    free(stream);
}

/* What tests call -------------------------------------------------------------------------------
 */

static void control_together(uint32_t count)
{
    (void)pthread_mutex_lock(&lock);
    most_together = count;
    (void)pthread_mutex_unlock(&lock);
}

static void control_passes(uint32_t entries, stream_hook hook, void *context)
{
    (void)pthread_mutex_lock(&lock);
    entries_per_pass = entries;
    check_hook = hook;
    check_hook_context = context;
    (void)pthread_mutex_unlock(&lock);
}

static void control_reset(void)
{
    (void)pthread_mutex_lock(&lock);
    for (uint32_t d = 0; d < DEVICE_COUNT; d++) {
        for (uint32_t u = 0; u < UNIT_COUNT; u++) {
            struct unit *unit = &devices[d].units[u];
            struct unit fresh = {.name = unit->name, .tile = unit->tile, .stream = unit->stream};

            *unit = fresh;
        }
    }
    first_at_open_wanted = true;
    ring_wanted = 0;
    most_together = 0;
    entries_per_pass = 0;
    check_hook = NULL;
    read_hook = NULL;
    (void)pthread_mutex_unlock(&lock);
}

static void control_push(const char *device, const char *name, uint32_t count)
{
    struct unit *unit = named_unit(device, name);

    (void)pthread_mutex_lock(&lock);
    if (unit->stream && !unit->stream->stopped) {
        for (uint32_t i = 0; i < count; i++)
            add_locked(unit);
        scripted_ring_show(&unit->stream->ring);
    }
    (void)pthread_mutex_unlock(&lock);
}

static void control_gap(const char *device, const char *name, uint32_t lost, uint32_t reason)
{
    struct unit *unit = named_unit(device, name);

    (void)pthread_mutex_lock(&lock);
    unit->pending = (struct scripted_break){.broken = true, .reason = reason, .lost = lost};
    unit->next_number += lost;
    (void)pthread_mutex_unlock(&lock);
}

static void control_fail(const char *device, const char *name, uint32_t result)
{
    struct unit *unit = named_unit(device, name);

    (void)pthread_mutex_lock(&lock);
    unit->fail = result;
    (void)pthread_mutex_unlock(&lock);
}

static void control_refuse(const char *device, const char *name, uint32_t result, uint32_t pid)
{
    struct unit *unit = named_unit(device, name);

    (void)pthread_mutex_lock(&lock);
    unit->refuse = result;
    unit->holder = pid;
    (void)pthread_mutex_unlock(&lock);
}

static void control_first_at_open(bool yes)
{
    (void)pthread_mutex_lock(&lock);
    first_at_open_wanted = yes;
    (void)pthread_mutex_unlock(&lock);
}

static void control_ring(uint32_t records)
{
    (void)pthread_mutex_lock(&lock);
    ring_wanted = records;
    (void)pthread_mutex_unlock(&lock);
}

static void control_hook(stream_hook hook, void *context)
{
    (void)pthread_mutex_lock(&lock);
    read_hook = hook;
    read_hook_context = context;
    (void)pthread_mutex_unlock(&lock);
}

static struct stream_counts control_counts(const char *device, const char *name)
{
    struct unit *unit = named_unit(device, name);
    struct stream_counts counts;

    (void)pthread_mutex_lock(&lock);
    counts = unit->counts;
    (void)pthread_mutex_unlock(&lock);
    return counts;
}

static bool control_is_running(const char *device, const char *name)
{
    struct unit *unit = named_unit(device, name);
    bool running;

    (void)pthread_mutex_lock(&lock);
    running = unit->stream && !unit->stream->stopped;
    (void)pthread_mutex_unlock(&lock);
    return running;
}

const struct stream_control stream_control = {
    .reset = control_reset,
    .push = control_push,
    .gap = control_gap,
    .fail_reads = control_fail,
    .refuse = control_refuse,
    .first_at_open = control_first_at_open,
    .ring = control_ring,
    .hook = control_hook,
    .together = control_together,
    .passes = control_passes,
    .counts = control_counts,
    .is_running = control_is_running,
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

static uint32_t concurrent(struct zeta_plugin *self, struct zeta_plugin_device *device,
                           const struct zeta_plugin_array *programs, uint32_t *out_possible)
{
    (void)self;
    (void)device;
    (void)pthread_mutex_lock(&lock);
    *out_possible = most_together == 0 || programs->count <= most_together;
    (void)pthread_mutex_unlock(&lock);
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t program_check(struct zeta_plugin *self, struct zeta_plugin_device *device,
                              const struct zeta_plugin_program_use *use, uint32_t *out_passes,
                              const struct zeta_plugin_text_sink *reason)
{
    const uint32_t entries = (uint32_t)use->entries.count;
    const char *wanted = getenv("ZETA_TEST_ENTRIES_PER_PASS"); /* where no test can call us */
    stream_hook hook;
    uint32_t limit;
    void *context;

    (void)self;
    (void)device;
    (void)pthread_mutex_lock(&lock);
    limit = wanted ? (uint32_t)strtoul(wanted, NULL, 10) : entries_per_pass;
    hook = check_hook;
    context = check_hook_context;
    (void)pthread_mutex_unlock(&lock);
    if (hook)
        hook(context);
    *out_passes = limit == UINT32_MAX              ? 0
                  : limit == 0 || entries <= limit ? 1
                                                   : (entries + limit - 1) / limit;
    if (*out_passes == 1)
        return ZETA_PLUGIN_SUCCESS;
    reason->write(
        reason->context, scripted_text(""),
        scripted_text(use->kind == ZETA_PLUGIN_USE_QUERY ? FAKE_QUERY_REASON : FAKE_STREAM_REASON));
    return ZETA_PLUGIN_SUCCESS;
}

static const struct zeta_plugin_metric_ops full_metric_ops = {
    .struct_size = sizeof(full_metric_ops),
    .get_sets = get_sets,
    .symbols = symbols,
    .limits = limits,
    .holder = holder,
    .stream_open = stream_open,
    .stream_read = stream_read,
    .stream_pending = stream_pending,
    .stream_descriptor = stream_descriptor,
    .stream_stop = stream_stop,
    .stream_close = stream_close,
    .query_pool_create = scripted_no_pool_create,
    .query_pool_destroy = scripted_no_pool_destroy,
    .query_reset = scripted_no_query_reset,
    .query_collect = scripted_no_query_collect,
    .concurrent = concurrent,
    .program_check = program_check,
};

static const struct zeta_plugin_metric_ops bare_metric_ops = {
    .struct_size = sizeof(bare_metric_ops),
    .symbols = symbols,
    .limits = limits,
    .stream_open = stream_open,
    .stream_read = stream_read,
    .stream_close = stream_close,
};

static const struct zeta_plugin_ops full_ops = {.struct_size = sizeof(full_ops),
                                                .finish = scripted_finish,
                                                .device = &device_ops,
                                                .compute = &scripted_no_queues,
                                                .metric = &full_metric_ops};

static const struct zeta_plugin_ops bare_ops = {.struct_size = sizeof(bare_ops),
                                                .finish = scripted_finish,
                                                .device = &device_ops,
                                                .metric = &bare_metric_ops};

void scripted_streams(const struct zeta_plugin_offer *offer, struct zeta_plugin_answer *out_answer)
{
    bool bare = scripted_is(offer->id, "fake-bare");

    name_units();
    out_answer->self = &instances[bare ? 1 : 0];
    out_answer->self->ops = offer->ops;
    out_answer->self->host = offer->host;
    out_answer->ops = bare ? &bare_ops : &full_ops;
}
