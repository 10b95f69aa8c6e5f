/* The tracer: events from CUPTI's records, their order, names, what is lost, on and off. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "plugins/nvidia/activity/activity.h"
#include "plugins/nvidia/activity/names.h"
#include "plugins/nvidia/activity/window.h"
#include "plugins/nvidia/sampling/program.h"
#include "tests/cuda/tests/bed.h"
#include "tests/nvidia/parts.h"

#define REAL "{format: 1, gpus: [{chip: gh100}]}"
#define OLD "{format: 1, cupti: 26, gpus: [{chip: gh100}]}"

/* ---- parts ---------------------------------------------------------------------------------- */

static void names__many__same_number_each_time(void **state)
{
    struct nvidia_names names = {0};
    char text[32];

    (void)state;
    assert_null(nvidia_names_text(&names, 0));
    assert_null(nvidia_names_text(&names, 1));
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 1000; i++) {
            (void)snprintf(text, sizeof(text), "kernel<%u>", i);
            assert_int_equal(nvidia_names_get(&names, text), i + 1);
        }
    }
    assert_int_equal(nvidia_names_get(&names, ""), 1001);
    assert_string_equal(nvidia_names_text(&names, 1000), "kernel<999>");
    assert_string_equal(nvidia_names_text(&names, 1001), "");
    assert_null(nvidia_names_text(&names, 1002));
    assert_null(nvidia_names_text(&names, UINT64_MAX));
    nvidia_names_finish(&names);
}

static void window__any_order__by_their_end(void **state)
{
    enum { COUNT = 5000 };
    struct nvidia_window window = {0};
    struct nvidia_event event = {.type = NVIDIA_EVENT_KERNEL};
    uint64_t last = 0;
    uint32_t seed = 1;

    (void)state;
    assert_false(nvidia_window_take(&window, UINT64_MAX, &event));
    for (uint32_t i = 0; i < COUNT; i++) {
        seed = seed * 1664525u + 1013904223u;
        event.ticks = 1000 + seed % 10000;
        event.begin = event.ticks - seed % 100;
        assert_int_equal(nvidia_window_put(&window, &event), NVIDIA_WINDOW_TAKEN);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_true(nvidia_window_take(&window, UINT64_MAX, &event));
        assert_cmp(event.ticks, >=, last);
        last = event.ticks;
    }
    assert_false(nvidia_window_take(&window, UINT64_MAX, &event));
    event.ticks = last - 1;
    assert_int_equal(nvidia_window_put(&window, &event), NVIDIA_WINDOW_LATE);
    event.ticks = last;
    assert_int_equal(nvidia_window_put(&window, &event), NVIDIA_WINDOW_TAKEN);
    assert_false(nvidia_window_take(&window, last - 1, &event));
    assert_true(nvidia_window_take(&window, last, &event));
    nvidia_window_finish(&window);
}

static void event__bad_records__none(void **state)
{
    struct kernel_record kernel = {.kind = RECORD_CONCURRENT_KERNEL, .start = 5, .end = 6};
    struct memcpy_record copy = {.kind = RECORD_MEMCPY, .start = 5, .end = 5, .copy_kind = 200};
    struct synchronization_record wait = {
        .kind = RECORD_SYNCHRONIZATION, .type = 77, .start = 1, .end = 2};
    struct nvidia_event event = {.type = 99};
    struct nvidia_event_text text;

    (void)state;
    assert_false(nvidia_event_read(&kernel, 0, &event, &text));
    assert_false(nvidia_event_read(&kernel, 3, &event, &text));
    assert_false(nvidia_event_read(&kernel, 111, &event, &text));
    assert_int_equal(event.type, 99);
    assert_true(nvidia_event_read(&kernel, 112, &event, &text)); /* the shortest version */
    assert_int_equal(event.type, NVIDIA_EVENT_KERNEL);
    assert_null(text.name);
    kernel.end = 4; /* before it began */
    assert_false(nvidia_event_read(&kernel, sizeof(kernel), &event, &text));
    kernel.end = 0; /* it has not ended */
    assert_false(nvidia_event_read(&kernel, sizeof(kernel), &event, &text));
    kernel.kind = RECORD_DRIVER;
    assert_false(nvidia_event_read(&kernel, sizeof(kernel), &event, &text));
    kernel.kind = UINT32_MAX;
    assert_false(nvidia_event_read(&kernel, sizeof(kernel), &event, &text));
    assert_true(nvidia_event_read(&copy, 48, &event, &text));
    assert_string_equal(text.name, "copy"); /* of a kind that came later */
    assert_int_equal(event.detail, 200);
    assert_true(nvidia_event_read(&wait, 36, &event, &text));
    assert_string_equal(text.name, "synchronize");
    assert_false(text.has_device);
}

/* ---- the tracer ----------------------------------------------------------------------------- */

enum { MOST = 4096 };

struct trace {
    struct zeta_plugin_device *device;
    struct zeta_plugin_tracer *tracer;
    struct nvidia_event events[MOST];
    uint32_t count;
    uint64_t lost;
    bool was_broken;
};

static uint32_t open_tracer(struct zeta_plugin_device *device, uint64_t ring_bytes,
                            struct zeta_plugin_tracer **out_tracer)
{
    static const struct zeta_plugin_string unit = {NVIDIA_ACTIVITY_UNIT,
                                                   sizeof(NVIDIA_ACTIVITY_UNIT) - 1};
    struct zeta_plugin_tracer_desc desc = {
        .struct_size = sizeof(desc),
        .units = {.data = &unit, .count = 1, .stride = sizeof(unit)},
        .record_bytes = NVIDIA_EVENT_BYTES,
        .ring_bytes = ring_bytes};

    return nvidia_tracer_ops.open(NULL, device, &desc, out_tracer);
}

static struct trace *make_trace(uint64_t ring_bytes)
{
    struct trace *trace = calloc(1, sizeof(*trace));

    assert_non_null(trace);
    (void)bed_context(0);
    trace->device = parts_device();
    assert_int_equal(open_tracer(trace->device, ring_bytes, &trace->tracer), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(nvidia_tracer_ops.state(NULL, trace->tracer), ZETA_PLUGIN_TRACER_OFF);
    return trace;
}

static void close_trace(struct trace *trace)
{
    nvidia_tracer_ops.close(NULL, trace->tracer);
    free(trace);
}

static void set(struct trace *trace, bool on)
{
    const uint32_t result = on ? nvidia_tracer_ops.enable(NULL, trace->tracer, 1)
                               : nvidia_tracer_ops.disable(NULL, trace->tracer, 1);

    assert_int_equal(result, ZETA_PLUGIN_SUCCESS);
    assert_int_equal(nvidia_tracer_ops.state(NULL, trace->tracer),
                     on ? ZETA_PLUGIN_TRACER_ON : ZETA_PLUGIN_TRACER_OFF);
}

/* Reads what is there, behind what was read. */
static void read_all(struct trace *trace)
{
    struct zeta_plugin_read read = {.struct_size = sizeof(read)};

    do {
        assert_int_equal(nvidia_tracer_ops.read(NULL, trace->tracer, &trace->events[trace->count],
                                                (MOST - trace->count) * NVIDIA_EVENT_BYTES, &read),
                         ZETA_PLUGIN_SUCCESS);
        trace->count += (uint32_t)(read.bytes / NVIDIA_EVENT_BYTES);
        trace->lost += read.lost;
        trace->was_broken = trace->was_broken || read.broken;
    } while (read.bytes > 0);
    for (uint32_t i = 1; i < trace->count; i++)
        assert_cmp(trace->events[i].ticks, >=, trace->events[i - 1].ticks);
}

static uint32_t count_type(const struct trace *trace, enum nvidia_event_type type)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < trace->count; i++)
        count += trace->events[i].type == type;
    return count;
}

static void keep_name(void *context, struct zeta_plugin_string name, struct zeta_plugin_string text)
{
    assert_int_equal(name.size, 0);
    (void)snprintf(context, 64, "%.*s", (int)text.size, text.data);
}

/* The first event of a type; its name begins so. */
static const struct nvidia_event *find(const struct trace *trace, enum nvidia_event_type type,
                                       const char *name)
{
    const struct zeta_plugin_text_sink sink = {.context = (char[64]){""}, .write = keep_name};
    uint32_t at = 0;

    while (at < trace->count && trace->events[at].type != type)
        at++;
    assert_cmp(at, <, trace->count);
    assert_int_equal(nvidia_tracer_ops.name(NULL, trace->tracer, trace->events[at].name, &sink),
                     ZETA_PLUGIN_SUCCESS);
    assert_memory_equal(sink.context, name, strlen(name));
    return &trace->events[at];
}

static void check_work(void)
{
    const struct zeta_plugin_text_sink sink = {.write = keep_name};
    struct trace *trace = make_trace(0);
    const struct nvidia_event *event;
    uint32_t word = 7;
    uint64_t address;

    bed_fma(1); /* nobody sees it */
    assert_int_equal(cu.cuCtxSynchronize(), CU_OK);
    assert_int_equal(cu.cuMemAlloc_v2(&address, 4096), CU_OK);
    set(trace, true);
    set(trace, true);
    assert_int_equal(cu.cuMemcpyHtoD_v2(address, &word, sizeof(word)), CU_OK);
    assert_int_equal(cu.cuMemsetD32Async(address, 1, 100, NULL), CU_OK);
    bed_fma(100);
    assert_int_equal(cu.cuCtxSynchronize(), CU_OK);
    set(trace, false);
    set(trace, false);
    bed_fma(1);
    assert_int_equal(cu.cuCtxSynchronize(), CU_OK);
    read_all(trace);
    assert_int_equal(trace->events[0].type, NVIDIA_EVENT_ENABLED);
    assert_int_equal(trace->events[trace->count - 1].type, NVIDIA_EVENT_DISABLED);
    assert_int_equal(count_type(trace, NVIDIA_EVENT_ENABLED), 1);
    assert_int_equal(count_type(trace, NVIDIA_EVENT_DISABLED), 1);
    assert_int_equal(count_type(trace, NVIDIA_EVENT_KERNEL), 1);
    event = find(trace, NVIDIA_EVENT_KERNEL, "fma_loop");
    assert_cmp(event->begin, >=, trace->events[0].ticks);
    assert_cmp(event->ticks, >, event->begin);
    assert_int_equal(event->grid[0], BED_GROUPS);
    assert_int_equal(event->grid[1], 1);
    assert_int_equal(event->grid[2], 1);
    assert_int_equal(event->block[0], 256);
    assert_int_equal(event->block[2], 1);
    assert_int_equal(event->registers, 32);
    assert_int_equal(event->device, 0);
    assert_cmp(event->correlation, >, 0);
    event = find(trace, NVIDIA_EVENT_COPY, "copy host to device");
    assert_int_equal(event->bytes, sizeof(word));
    assert_int_equal(event->detail, 1);
    event = find(trace, NVIDIA_EVENT_FILL, "fill");
    assert_int_equal(event->bytes, 400);
    assert_int_equal(event->detail, 1);
    (void)find(trace, NVIDIA_EVENT_SYNCHRONIZE, "synchronize ");
    assert_int_equal(trace->lost, 0);
    assert_false(trace->was_broken);
    assert_int_equal(nvidia_tracer_ops.pending(NULL, trace->tracer), 0);
    assert_int_equal(nvidia_tracer_ops.name(NULL, trace->tracer, 0, &sink),
                     ZETA_PLUGIN_NOT_AVAILABLE);
    assert_int_equal(nvidia_tracer_ops.name(NULL, trace->tracer, 1u << 30, &sink),
                     ZETA_PLUGIN_NOT_AVAILABLE);
    close_trace(trace);
}

static void tracer__work__events_with_names(void **state)
{
    (void)state;
    bed_run(REAL, check_work);
}

static void check_order(void)
{
    struct trace *trace = make_trace(0);
    void *streams[2], *function = bed_function("empty");

    for (int i = 0; i < 2; i++)
        assert_int_equal(cu.cuStreamCreateWithPriority(&streams[i], 1, 0), CU_OK);
    set(trace, true);
    for (int i = 0; i < 100; i++) {
        bed_launch(function, 1, 32, streams[i % 2], NULL);
        assert_int_equal(cu.cuStreamSynchronize(streams[i % 2]), CU_OK);
    }
    set(trace, false);
    read_all(trace); /* checks the order */
    assert_int_equal(count_type(trace, NVIDIA_EVENT_KERNEL), 100);
    assert_int_equal(count_type(trace, NVIDIA_EVENT_SYNCHRONIZE), 100);
    assert_int_equal(trace->lost, 0);
    close_trace(trace);
}

static void tracer__two_streams__in_order_of_time(void **state)
{
    (void)state;
    bed_run(REAL, check_order);
}

/* Events come while it is on, held back for a moment. */
static void check_while_on(void)
{
    struct trace *trace = make_trace(0);

    set(trace, true);
    bed_fma(1);
    while (count_type(trace, NVIDIA_EVENT_KERNEL) == 0) {
        (void)usleep(1000);
        read_all(trace);
    }
    bed_fma(1);
    assert_int_equal(cu.cuCtxSynchronize(), CU_OK);
    set(trace, false);
    read_all(trace);
    assert_int_equal(count_type(trace, NVIDIA_EVENT_KERNEL), 2);
    close_trace(trace);
}

static void tracer__on__events_come(void **state)
{
    (void)state;
    bed_run(REAL, check_while_on);
}

static void check_later(void)
{
    struct trace *trace = make_trace(0);

    for (int i = 0; i < 20; i++) {
        assert_int_equal(nvidia_tracer_ops.enable(NULL, trace->tracer, 0), ZETA_PLUGIN_SUCCESS);
        if (i % 2) {
            while (nvidia_tracer_ops.state(NULL, trace->tracer) != ZETA_PLUGIN_TRACER_ON)
                (void)usleep(100);
        }
        assert_int_equal(nvidia_tracer_ops.disable(NULL, trace->tracer, 0), ZETA_PLUGIN_SUCCESS);
        if (i % 3) {
            while (nvidia_tracer_ops.state(NULL, trace->tracer) != ZETA_PLUGIN_TRACER_OFF)
                (void)usleep(100);
        }
    }
    while (nvidia_tracer_ops.state(NULL, trace->tracer) != ZETA_PLUGIN_TRACER_OFF)
        (void)usleep(100);
    read_all(trace);
    assert_int_equal(trace->count, 40);
    for (uint32_t i = 0; i < trace->count; i++)
        assert_int_equal(trace->events[i].type,
                         i % 2 ? NVIDIA_EVENT_DISABLED : NVIDIA_EVENT_ENABLED);
    assert_int_equal(nvidia_tracer_ops.enable(NULL, trace->tracer, 0), ZETA_PLUGIN_SUCCESS);
    close_trace(trace); /* whatever it does */
}

static void tracer__later__both_are_events(void **state)
{
    (void)state;
    bed_run(REAL, check_later);
}

static void check_losses(void)
{
    struct trace *trace = make_trace(UINT64_C(64) * NVIDIA_EVENT_BYTES);
    struct nvidia_activity_counts counts;

    set(trace, true);
    for (int i = 0; i < 100; i++)
        bed_launch(bed_function("empty"), 1, 32, NULL, NULL);
    assert_int_equal(cu.cuCtxSynchronize(), CU_OK);
    set(trace, false);
    counts = nvidia_activity_counts(trace->device);
    assert_int_equal(counts.capacity, 64);
    assert_int_equal(counts.waiting, 64);
    read_all(trace);
    assert_int_equal(trace->count, 64);
    assert_int_equal(trace->lost, 103 - 64); /* a synchronisation, on and off */
    assert_true(trace->was_broken);
    assert_int_equal(counts.written, 103);
    assert_int_equal(counts.lost, 103 - 64);
    close_trace(trace);
    assert_int_equal(counts.written - nvidia_activity_counts(parts_device()).written, 0);
}

static void tracer__small_ring__losses_counted(void **state)
{
    (void)state;
    bed_run(REAL, check_losses);
}

static void check_refused(void)
{
    static const struct zeta_plugin_string units[] = {{NVIDIA_ACTIVITY_UNIT, 8}, {"perfmon", 7}};
    struct zeta_plugin_tracer_desc desc = {.struct_size = sizeof(desc),
                                           .units = {.data = units, .stride = sizeof(units[0])},
                                           .record_bytes = NVIDIA_EVENT_BYTES};
    struct trace *trace = make_trace(0);
    struct zeta_plugin_tracer *other = NULL;

    assert_int_equal(open_tracer(trace->device, 0, &other), ZETA_PLUGIN_HANDLE_OBJECT_IN_USE);
    parts_expect_sentence("this process has a tracer already");
    for (uint64_t count = 0; count <= 2; count += 2) {
        desc.units.count = count;
        assert_int_equal(nvidia_tracer_ops.open(NULL, trace->device, &desc, &other),
                         ZETA_PLUGIN_INVALID_ARGUMENT);
    }
    parts_expect_sentence("perfmon was asked for");
    desc.units.count = 1;
    desc.record_bytes = 64;
    assert_int_equal(nvidia_tracer_ops.open(NULL, trace->device, &desc, &other),
                     ZETA_PLUGIN_INVALID_ARGUMENT);
    assert_null(other);

    /* Another tool has the activity records of this process, and then no longer. */
    assert_true(cuda_fault(bed_machine, "cuptiActivityEnable=39@3"));
    assert_int_equal(nvidia_tracer_ops.enable(NULL, trace->tracer, 1), ZETA_PLUGIN_NOT_AVAILABLE);
    parts_expect_sentence("enable activity records");
    assert_int_equal(nvidia_tracer_ops.state(NULL, trace->tracer), ZETA_PLUGIN_TRACER_OFF);
    assert_int_equal(nvidia_tracer_ops.disable(NULL, trace->tracer, 1), ZETA_PLUGIN_SUCCESS);
    assert_true(cuda_fault(bed_machine, "cuptiActivityRegisterCallbacks=39"));
    assert_int_equal(nvidia_tracer_ops.enable(NULL, trace->tracer, 0), ZETA_PLUGIN_SUCCESS);
    while (nvidia_tracer_ops.state(NULL, trace->tracer) != ZETA_PLUGIN_TRACER_OFF)
        (void)usleep(100);
    read_all(trace);
    assert_int_equal(trace->count, 0);
    set(trace, true);
    set(trace, false);
    read_all(trace);
    assert_int_equal(trace->count, 2);
    close_trace(trace);
}

static void tracer__bad_requests__refused(void **state)
{
    (void)state;
    bed_run(REAL, check_refused);
}

/* ---- versions, streams beside it ------------------------------------------------------------ */

static uint32_t trace_beside_stream(bool stream_first)
{
    static const char *const name = "gpu__time_duration.sum";
    const struct bed_options options = {.period_ns = 100000000};
    struct trace *trace = make_trace(0);
    struct bed_stream stream;
    uint32_t count;

    if (stream_first)
        bed_open(&stream, &name, 1, &options);
    set(trace, true);
    if (!stream_first)
        bed_open(&stream, &name, 1, &options);
    bed_fma(1);
    assert_int_equal(cu.cuCtxSynchronize(), CU_OK);
    set(trace, false);
    bed_close(&stream);
    read_all(trace);
    count = count_type(trace, NVIDIA_EVENT_KERNEL);
    close_trace(trace);
    return count;
}

static void check_before_stream(void)
{
    assert_int_equal(trace_beside_stream(false), 1);
    assert_int_equal(parts_log_count, 0);
}

static void check_after_stream(void)
{
    assert_int_equal(trace_beside_stream(true), 1);
}

static void check_deaf(void)
{
    struct zeta_plugin_limits limits = {.struct_size = sizeof(limits)};

    assert_int_equal(trace_beside_stream(true), 0);
    assert_int_equal(parts_log_count, 1);
    assert_non_null(strstr(parts_log, "the tracer saw no event"));
    assert_non_null(strstr(parts_log, "CUDA 12.9"));
    assert_int_equal(nvidia_activity_limits(parts_device(), &limits), ZETA_PLUGIN_SUCCESS);
    assert_non_null(strstr(limits.stream_note.data, "none while the process has a stream"));
}

static void check_note(void)
{
    struct zeta_plugin_limits limits = {.struct_size = sizeof(limits)};

    assert_int_equal(nvidia_activity_limits(parts_device(), &limits), ZETA_PLUGIN_SUCCESS);
    assert_string_equal(limits.stream_note.data, "Sees the work of this process only.");
    assert_int_equal(limits.min_period_ns, 1000000);
}

static void check_no_cupti(void)
{
    struct zeta_plugin_limits limits = {.struct_size = sizeof(limits)};
    struct zeta_plugin_device *device = parts_device();
    struct zeta_plugin_tracer *tracer = NULL;

    parts_set("libcupti", "/nowhere");
    assert_int_equal(nvidia_activity_limits(device, &limits), ZETA_PLUGIN_UNSUPPORTED_FEATURE);
    parts_expect_sentence("cannot be traced");
    assert_int_equal(open_tracer(device, 0, &tracer), ZETA_PLUGIN_DEPENDENCY_UNAVAILABLE);
    assert_null(tracer);
}

static void tracer__beside_a_stream__as_the_version_can(void **state)
{
    (void)state;
    bed_run(REAL, check_before_stream);
    bed_run(REAL, check_after_stream);
    bed_run(OLD, check_deaf);
    bed_run(REAL, check_note);
    bed_run(REAL, check_no_cupti);
}

/* ---- several devices and threads ------------------------------------------------------------ */

static void check_two(void)
{
    struct zeta_plugin_device *devices = parts_device();
    struct trace *traces[2];
    void *function;

    for (int i = 0; i < 2; i++) {
        traces[i] = calloc(1, sizeof(*traces[i]));
        assert_non_null(traces[i]);
        traces[i]->device = &devices[i];
        assert_int_equal(open_tracer(&devices[i], 0, &traces[i]->tracer), ZETA_PLUGIN_SUCCESS);
        set(traces[i], true);
    }
    for (int i = 0; i < 2; i++) {
        (void)bed_context(devices[i].ordinal);
        function = bed_function("empty");
        for (int k = 0; k <= i; k++)
            bed_launch(function, 1, 32, NULL, NULL);
        assert_int_equal(cu.cuCtxSynchronize(), CU_OK);
    }
    set(traces[0], false);
    bed_launch(function, 1, 32, NULL, NULL); /* the other one is still on */
    assert_int_equal(cu.cuCtxSynchronize(), CU_OK);
    set(traces[1], false);
    for (int i = 0; i < 2; i++) {
        read_all(traces[i]);
        assert_int_equal(count_type(traces[i], NVIDIA_EVENT_KERNEL), i == 0 ? 1 : 3);
        close_trace(traces[i]);
    }
}

static void tracer__two_devices__each_its_own(void **state)
{
    (void)state;
    bed_run("{format: 1, gpus: [{chip: gh100}, {chip: gh100, pci: \"0000:07:00.0\"}]}", check_two);
}

enum { THREADS = 3, LAUNCHES = 200 };

static atomic_bool is_over;

static void *launch_many(void *argument)
{
    void *stream;

    (void)argument;
    (void)bed_context(0);
    assert_int_equal(cu.cuStreamCreateWithPriority(&stream, 1, 0), CU_OK);
    for (int i = 0; i < LAUNCHES; i++)
        bed_launch(bed_function("empty"), 1, 32, stream, NULL);
    assert_int_equal(cu.cuStreamSynchronize(stream), CU_OK);
    return NULL;
}

static void *ask_counts(void *argument)
{
    while (!atomic_load(&is_over))
        (void)nvidia_activity_counts(argument);
    return NULL;
}

static void check_threads(void)
{
    struct trace *trace = make_trace(0);
    pthread_t threads[THREADS], asking;

    set(trace, true);
    assert_int_equal(pthread_create(&asking, NULL, ask_counts, trace->device), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, launch_many, NULL), 0);
    for (int i = 0; i < 5; i++)
        read_all(trace);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    set(trace, false);
    read_all(trace);
    assert_int_equal(count_type(trace, NVIDIA_EVENT_KERNEL) + trace->lost, THREADS * LAUNCHES);
    close_trace(trace);
    atomic_store(&is_over, true);
    assert_int_equal(pthread_join(asking, NULL), 0);
}

static void tracer__several_threads__all_events(void **state)
{
    (void)state;
    bed_run(REAL, check_threads);
}

/* ---- status --------------------------------------------------------------------------------- */

static void check_status(void)
{
    struct trace *trace = make_trace(UINT64_C(64) * NVIDIA_EVENT_BYTES);
    struct zeta_plugin_stream_desc desc = {.struct_size = sizeof(desc),
                                           .set = zeta_string("EventTracer"),
                                           .period_ns = 1,
                                           .ring_records = 65536, /* those of a minute */
                                           .record_bytes = NVIDIA_RECORD_BYTES};
    struct zeta_plugin_stream *stream = NULL, *second = NULL;
    uint64_t written = 0, lost = 0, end_ns = 0;
    struct nvidia_interval record;
    struct zeta_plugin_read read;

    assert_int_equal(nvidia_activity_status_open(trace->device, &desc, &stream),
                     ZETA_PLUGIN_SUCCESS);
    assert_int_equal(desc.period_ns, 1000000);
    assert_int_equal(nvidia_activity_status_open(trace->device, &desc, &second),
                     ZETA_PLUGIN_HANDLE_OBJECT_IN_USE);
    set(trace, true);
    for (int i = 0; i < 100; i++)
        bed_launch(bed_function("empty"), 1, 32, NULL, NULL);
    assert_int_equal(cu.cuCtxSynchronize(), CU_OK);
    set(trace, false);
    stream->stop(stream); /* a last record comes with it */
    do {
        zeta_record_ring_read(stream->ring, &record, sizeof(record), &read);
        if (read.bytes == 0)
            break;
        written += record.counts[0];
        lost += record.counts[1];
        assert_true(end_ns == 0 || record.start_ns == end_ns);
        assert_cmp(record.end_ns, >, record.start_ns);
        end_ns = record.end_ns;
    } while (read.bytes > 0);
    assert_int_equal(written, 103);
    assert_int_equal(lost, 103 - 64);
    assert_int_equal(record.counts[2], 64);
    assert_int_equal(record.counts[3], 64);
    stream->close(stream);
    desc.record_bytes = 96;
    assert_int_equal(nvidia_activity_status_open(trace->device, &desc, &stream),
                     ZETA_PLUGIN_INVALID_ARGUMENT);
    desc.record_bytes = NVIDIA_RECORD_BYTES;
    desc.max_period_ns = 10;
    assert_int_equal(nvidia_activity_status_open(trace->device, &desc, &stream),
                     ZETA_PLUGIN_NOT_AVAILABLE);
    close_trace(trace);
}

static void status__stream__sums_are_what_was_written(void **state)
{
    (void)state;
    bed_run(REAL, check_status);
}

SUITE(activity)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names__many__same_number_each_time),
        cmocka_unit_test(window__any_order__by_their_end),
        cmocka_unit_test(event__bad_records__none),
        cmocka_unit_test(tracer__work__events_with_names),
        cmocka_unit_test(tracer__two_streams__in_order_of_time),
        cmocka_unit_test(tracer__on__events_come),
        cmocka_unit_test(tracer__later__both_are_events),
        cmocka_unit_test(tracer__small_ring__losses_counted),
        cmocka_unit_test(tracer__bad_requests__refused),
        cmocka_unit_test(tracer__beside_a_stream__as_the_version_can),
        cmocka_unit_test(tracer__two_devices__each_its_own),
        cmocka_unit_test(tracer__several_threads__all_events),
        cmocka_unit_test(status__stream__sums_are_what_was_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
