/* What becomes an event, when, and with which numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include "trace_bed.h"

#define TYPE(name) ZETA_VGPU_EVENT_TYPE_##name

static void open__bad_descriptions__are_refused(void **state)
{
    static const char *const bad[][2] = {{"oa", NULL}, {"", NULL}, {WORK, WORK}, {WORK, "x"}};
    struct zeta_plugin_tracer_desc none = {.struct_size = sizeof(none), .record_bytes = 64};
    struct zeta_plugin_string unit = host_string(WORK);
    struct zeta_plugin_tracer_desc small = {
        .struct_size = sizeof(small), .units = {&unit, 1, sizeof(unit)}, .record_bytes = 32};
    struct zeta_plugin_tracer *tracer = NULL;
    struct host host;

    (void)state;
    host_open(&host, NULL);
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(bed_try_open(&host, bad[i][0], bad[i][1], 0, &tracer),
                         ZETA_PLUGIN_INVALID_ARGUMENT);
    assert_int_equal(bed_ops(&host)->open(host.self, host.device, &none, &tracer),
                     ZETA_PLUGIN_INVALID_ARGUMENT);
    assert_int_equal(bed_ops(&host)->open(host.self, host.device, &small, &tracer),
                     ZETA_PLUGIN_INVALID_ARGUMENT);
    assert_int_equal(small.ring_bytes, 0);
    assert_null(tracer);
    /* Nothing of it stays taken. */
    bed_ops(&host)->close(host.self, bed_open(&host, WORK, DEVICE));
    host_close(&host);
}

static void open__setting_forbids_it__no_permission(void **state)
{
    static const struct host_setting settings[] = {{"fault.permission", "1"}, {NULL, NULL}};
    struct zeta_plugin_tracer *tracer;
    struct host host;

    (void)state;
    host_open(&host, settings);
    assert_int_equal(bed_try_open(&host, WORK, NULL, 0, &tracer),
                     ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS);
    host_close(&host);
}

/* Each of the groups once, between begin and end of its kernel. */
static void check_groups(const struct bed_events *events, uint32_t columns,
                         enum zeta_vgpu_event_type type, uint64_t launch)
{
    const struct zeta_vgpu_event *begin = bed_first(events, TYPE(KERNEL_BEGIN));
    const struct zeta_vgpu_event *end = bed_first(events, TYPE(KERNEL_END));
    uint8_t seen[64] = {0};

    for (uint64_t i = 0; i < events->count; i++) {
        const struct zeta_vgpu_event *event = &events->items[i];

        if (event->type != type)
            continue;
        assert_cmp(event, >, begin);
        assert_cmp(event, <, end);
        assert_in_range(event->x, 0, columns - 1);
        assert_in_range(event->y, 0, columns - 1);
        assert_int_equal(event->z, 0);
        assert_int_equal(event->object, begin->object);
        assert_int_equal(event->value, launch);
        /* Groups go to the four subslices in turn. */
        assert_int_equal(event->subslice, (event->y * columns + event->x) % 4);
        seen[event->y * columns + event->x]++;
    }
    for (uint32_t i = 0; i < columns * columns; i++)
        assert_int_equal(seen[i], 1);
}

/* Rule 22.2. */
static void matmul__kernel_and_groups__closed_formulas_hold(void **state)
{
    enum { SIZE = 64, COLUMNS = SIZE / 16 };
    const struct zeta_vgpu_event *begin, *end;
    struct bed_events events = {.items = NULL};
    struct zeta_plugin_tracer *tracer;
    struct bed_work work;
    struct host host;
    uint64_t before, after;

    (void)state;
    tracer = bed_begin(&host, NULL, &work, WORK, NULL);
    bed_matmul(&work, SIZE); /* not traced yet */
    bed_enable(&host, tracer);
    before = bed_ticks(&host);
    bed_matmul(&work, SIZE);
    after = bed_ticks(&host);
    bed_disable(&host, tracer);
    bed_matmul(&work, SIZE); /* not traced any more */
    bed_read(&host, tracer, &events);

    assert_int_equal(events.lost, 0);
    assert_int_equal(events.count, 2 + 2 + 2 * COLUMNS * COLUMNS);
    assert_int_equal(events.items[0].type, TYPE(ENABLED));
    assert_int_equal(events.items[events.count - 1].type, TYPE(DISABLED));
    begin = &events.items[1];
    end = &events.items[events.count - 2];
    assert_int_equal(begin->type, TYPE(KERNEL_BEGIN));
    assert_int_equal(end->type, TYPE(KERNEL_END));
    assert_cmp(begin->ticks, >=, before);
    assert_cmp(end->ticks, <=, after);
    assert_cmp(end->ticks, >, begin->ticks);
    assert_int_equal(begin->x, COLUMNS);
    assert_int_equal(begin->y, COLUMNS);
    assert_int_equal(begin->z, 1);
    assert_int_equal(begin->detail, 256);
    assert_int_equal(begin->value, end->value);
    assert_int_equal(begin->object, end->object);
    assert_int_not_equal(begin->object, 0);
    assert_int_not_equal(begin->context, 0);
    assert_int_equal(begin->process, getpid());
    check_groups(&events, COLUMNS, TYPE(GROUP_BEGIN), begin->value);
    check_groups(&events, COLUMNS, TYPE(GROUP_END), begin->value);
    bed_end(&host, &work, tracer, &events);
}

/* Rule 22.2. */
static void matmul__barriers__one_for_each_release_of_a_group(void **state)
{
    enum { SIZE = 64, GROUPS = SIZE / 16 * (SIZE / 16) };
    uint64_t arrivals = 0, of_group[GROUPS] = {0};
    struct bed_events events = {.items = NULL};
    struct zeta_plugin_tracer *tracer;
    struct bed_work work;
    struct host host;

    (void)state;
    tracer = bed_begin(&host, NULL, &work, DEVICE, NULL);
    bed_enable(&host, tracer);
    bed_matmul(&work, SIZE);
    bed_disable(&host, tracer);
    bed_read(&host, tracer, &events);

    assert_int_equal(events.lost, 0);
    /* Two barriers for each of the N / 16 tiles that a group goes through. */
    assert_int_equal(bed_count(&events, TYPE(BARRIER)), GROUPS * 2 * SIZE / 16);
    assert_int_equal(events.count, 2 + GROUPS * 2 * SIZE / 16);
    for (uint64_t i = 1; i < events.count - 1; i++) {
        const struct zeta_vgpu_event *event = &events.items[i];

        arrivals += event->detail;
        assert_int_equal(event->detail, 256);
        of_group[event->y * (SIZE / 16) + event->x]++;
    }
    assert_int_equal(arrivals, SIZE * SIZE * SIZE / 8);
    for (unsigned i = 0; i < GROUPS; i++)
        assert_int_equal(of_group[i], 2 * SIZE / 16);
    bed_end(&host, &work, tracer, &events);
}

/* Rule 22.2. */
static void copies__of_each_kind__have_begin_end_and_bytes(void **state)
{
    static const uint32_t details[] = {0, 2, 1};
    static const uint64_t sizes[] = {5000, 777, 10 * 3 * 2};
    static const uint8_t pattern = 7;
    struct bed_events events = {.items = NULL};
    struct zeta_plugin_command commands[3];
    struct zeta_plugin_tracer *tracer;
    struct bed_work work;
    struct host host;
    uint8_t *source;

    (void)state;
    host_open(&host, NULL);
    bed_work_begin(&work, &host);
    source = host_allocate(&host, 8192);
    commands[0] = host_copy(work.memory, source, sizes[0]);
    commands[1] = host_command(ZETA_PLUGIN_COMMAND_FILL);
    commands[1].u.fill = (struct zeta_plugin_fill){work.memory, &pattern, 1, sizes[1]};
    commands[2] = host_command(ZETA_PLUGIN_COMMAND_COPY_REGION);
    commands[2].u.region = (struct zeta_plugin_copy_region){.target = work.memory,
                                                            .source = source,
                                                            .size = {10, 3, 2},
                                                            .target_pitch_bytes = 16,
                                                            .target_slice_bytes = 64,
                                                            .source_pitch_bytes = 16,
                                                            .source_slice_bytes = 64};
    tracer = bed_open(&host, WORK, DEVICE);
    bed_enable(&host, tracer);
    assert_int_equal(host_run(&host, work.queue, commands, 3), ZETA_PLUGIN_SUCCESS);
    bed_disable(&host, tracer);
    bed_read(&host, tracer, &events);

    assert_int_equal(events.count, 2 + 6);
    for (unsigned i = 0; i < 3; i++) {
        const struct zeta_vgpu_event *begin = &events.items[1 + 2 * i], *end = begin + 1;

        assert_int_equal(begin->type, TYPE(COPY_BEGIN));
        assert_int_equal(end->type, TYPE(COPY_END));
        for (const struct zeta_vgpu_event *event = begin; event <= end; event++) {
            assert_int_equal(event->value, sizes[i]);
            assert_int_equal(event->detail, details[i]);
            assert_int_equal(event->object, (uint64_t)(uintptr_t)work.memory);
            assert_int_equal(event->extra, i == 1 ? 0 : (uint64_t)(uintptr_t)source);
            assert_int_equal(event->subslice, 255);
        }
    }
    bed_forget(&events);
    bed_ops(&host)->close(host.self, tracer);
    assert_int_equal(host.compute->memory_free(host.self, source), ZETA_PLUGIN_SUCCESS);
    bed_work_end(&work);
    host_close(&host);
}

static struct zeta_plugin_command marker(struct host *host, const char *unit, uint64_t value)
{
    struct zeta_plugin_command command = host_command(ZETA_PLUGIN_COMMAND_MARKER);

    command.u.marker = (struct zeta_plugin_marker){
        .device = host->device, .unit = host_string(unit), .value = value};
    return command;
}

/* Rule 22.11. */
static void markers__of_all_units__are_events_with_their_values(void **state)
{
    struct bed_events events = {.items = NULL};
    struct zeta_plugin_command commands[3];
    struct zeta_plugin_tracer *tracer;
    struct bed_work work;
    struct host host;

    (void)state;
    tracer = bed_begin(&host, NULL, &work, DEVICE, NULL);
    bed_enable(&host, tracer);
    commands[0] = marker(&host, DEVICE, UINT64_MAX - 1);
    commands[1] = marker(&host, "oa", UINT32_MAX);
    commands[2] = marker(&host, DEVICE, 0);
    assert_int_equal(host_run(&host, work.queue, commands, 3), ZETA_PLUGIN_SUCCESS);
    commands[0] = marker(&host, "oa", UINT64_MAX);
    assert_int_equal(host_run(&host, work.queue, commands, 1), ZETA_PLUGIN_INVALID_ARGUMENT);
    commands[0] = marker(&host, WORK, 1);
    assert_int_equal(host_run(&host, work.queue, commands, 1), ZETA_PLUGIN_INVALID_ARGUMENT);
    bed_disable(&host, tracer);
    bed_read(&host, tracer, &events);
    assert_int_equal(events.count, 2 + 3);
    assert_cmp(events.items[1].value, ==, UINT64_MAX - 1);
    assert_cmp(events.items[2].value, ==, UINT32_MAX);
    assert_cmp(events.items[3].value, ==, 0);
    for (unsigned i = 1; i <= 3; i++) {
        assert_int_equal(events.items[i].type, TYPE(MARKER));
        assert_int_equal(events.items[i].object, 0);
    }
    bed_end(&host, &work, tracer, &events);
}

/* Rule 22.12. */
static void faults__kernel_and_copy__say_where(void **state)
{
    struct bed_events events = {.items = NULL};
    struct zeta_plugin_command commands[2];
    struct zeta_plugin_kernel *kernel;
    struct zeta_plugin_queue *other;
    struct zeta_plugin_tracer *tracer;
    const struct zeta_vgpu_event *fault;
    struct bed_work work;
    struct host host;

    (void)state;
    host_open(&host, NULL);
    bed_work_begin(&work, &host);
    other = host_queue(&host, 0);
    kernel = kernel_create(&host, work.module, "wild");
    commands[0] = kernel_launch(kernel, NULL, 1, 1);
    commands[1] = host_copy(work.memory, (const void *)(uintptr_t)4096, 64);
    tracer = bed_open(&host, WORK, DEVICE);
    bed_enable(&host, tracer);
    assert_int_equal(host_run(&host, work.queue, &commands[0], 1), ZETA_PLUGIN_DEVICE_LOST);
    assert_int_equal(host_run(&host, other, &commands[1], 1), ZETA_PLUGIN_DEVICE_LOST);
    bed_disable(&host, tracer);
    bed_read(&host, tracer, &events);

    assert_int_equal(bed_count(&events, TYPE(FAULT)), 2);
    fault = bed_first(&events, TYPE(FAULT));
    assert_int_equal(fault->detail, ZETA_VGPU_FAULT_WRITE);
    assert_int_equal(fault->value, 16);
    assert_int_equal(fault->object, bed_first(&events, TYPE(KERNEL_BEGIN))->object);
    assert_cmp(fault->extra, !=, 0);
    assert_cmp(fault->extra % 4, ==, 0);
    /* The kernel ends after its fault; its group never does. */
    assert_true(bed_first(&events, TYPE(KERNEL_END)) > fault);
    assert_int_equal(bed_count(&events, TYPE(GROUP_BEGIN)), 1);
    assert_int_equal(bed_count(&events, TYPE(GROUP_END)), 0);
    fault = &events.items[events.count - 3];
    assert_int_equal(fault->type, TYPE(FAULT));
    assert_int_equal(fault->detail, ZETA_VGPU_FAULT_NONE);
    assert_int_equal(fault->value, 4096);
    assert_int_equal(bed_first(&events, TYPE(COPY_END))->value, 0);
    bed_forget(&events);
    bed_ops(&host)->close(host.self, tracer);
    host.compute->kernel_destroy(host.self, kernel);
    host.compute->queue_destroy(host.self, other);
    bed_work_end(&work);
    host_close(&host);
}

/* Rule 22.7. */
static void ring__too_small__losses_and_events_make_all(void **state)
{
    static const struct host_setting settings[] = {{"fault.full_ring", "100"}, {NULL, NULL}};
    enum { GROUPS = 4000 };
    struct bed_events events = {.items = NULL};
    struct zeta_plugin_tracer *tracer;
    struct bed_work work;
    struct host host;

    (void)state;
    tracer = bed_begin(&host, settings, &work, WORK, NULL);
    bed_enable(&host, tracer);
    bed_tiny_groups(&work, GROUPS);
    bed_disable(&host, tracer);
    assert_int_equal(bed_ops(&host)->pending(host.self, tracer), 100 * 64);
    bed_read(&host, tracer, &events);
    assert_int_equal(events.count, 100);
    assert_int_equal(events.count + events.lost, 2 + 2 + 2 * GROUPS);
    /* The oldest went. */
    assert_int_equal(events.items[99].type, TYPE(DISABLED));
    assert_int_equal(events.items[98].type, TYPE(KERNEL_END));
    bed_end(&host, &work, tracer, &events);
}

/* Rule 22.7. */
static void fault_lost_reports__every_nth__break_where_it_was(void **state)
{
    static const struct host_setting settings[] = {{"fault.lost_reports", "5"}, {NULL, NULL}};
    enum { GROUPS = 100 };
    struct bed_events events = {.items = NULL};
    struct zeta_plugin_tracer *tracer;
    struct bed_work work;
    struct host host;

    (void)state;
    tracer = bed_begin(&host, settings, &work, WORK, NULL);
    bed_enable(&host, tracer);
    bed_tiny_groups(&work, GROUPS);
    bed_disable(&host, tracer);
    bed_read(&host, tracer, &events);
    assert_int_equal(events.lost, (2 + 2 * GROUPS) / 5);
    assert_int_equal(events.count + events.lost, 2 + 2 + 2 * GROUPS);
    bed_end(&host, &work, tracer, &events);
}

/* Runs work with a virtual clock; addresses, which differ, are left out of the events. */
static void run_virtual(const char *workers, struct bed_events *events)
{
    const struct host_setting settings[] = {
        {"clock", "virtual"}, {"workers", workers}, {NULL, NULL}};
    struct zeta_plugin_command copy;
    struct zeta_plugin_tracer *tracer;
    struct bed_work work;
    struct host host;
    uint64_t before, after;

    tracer = bed_begin(&host, settings, &work, WORK, DEVICE);
    bed_tiny_groups(&work, 3);
    before = bed_ticks(&host);
    bed_enable(&host, tracer);
    bed_matmul(&work, 96);
    copy = host_copy(work.memory, work.memory + 4096, 16384);
    assert_int_equal(host_run(&host, work.queue, &copy, 1), ZETA_PLUGIN_SUCCESS);
    bed_tiny_groups(&work, 500);
    assert_int_equal(bed_ops(&host)->disable(host.self, tracer, 0), ZETA_PLUGIN_SUCCESS);
    after = bed_ticks(&host);
    bed_tiny_groups(&work, 5);
    bed_enable(&host, tracer);
    bed_tiny_groups(&work, 7);
    bed_disable(&host, tracer);
    bed_read(&host, tracer, events);
    assert_int_equal(events->items[0].ticks, before);
    for (uint64_t i = 0; i < events->count; i++) {
        struct zeta_vgpu_event *event = &events->items[i];

        if (i > 0 && event->type == TYPE(DISABLED) && event->ticks == after)
            assert_int_equal(event[-1].type, TYPE(KERNEL_END));
        event->object = 0;
        event->extra = 0;
    }
    bed_end(&host, &work, tracer, NULL);
}

/* Rule 22.14. */
static void virtual_clock__any_number_of_workers__same_events(void **state)
{
    enum { GROUPS = 96 / 16 * (96 / 16) };
    struct bed_events one = {.items = NULL}, four = {.items = NULL};
    uint64_t moved = 0;

    (void)state;
    run_virtual("1", &one);
    run_virtual("4", &four);
    assert_int_equal(bed_count(&one, TYPE(GROUP_BEGIN)), GROUPS + 500 + 7);
    assert_int_equal(bed_count(&one, TYPE(GROUP_END)), GROUPS + 500 + 7);
    assert_int_equal(bed_count(&one, TYPE(KERNEL_END)), 3);
    assert_int_equal(bed_count(&one, TYPE(COPY_END)), 1);
    assert_int_equal(bed_count(&one, TYPE(BARRIER)), GROUPS * 2 * 6);
    assert_int_equal(one.lost + four.lost, 0);
    assert_int_equal(one.count, four.count);
    assert_memory_equal(one.items, four.items, one.count * sizeof(one.items[0]));
    for (uint64_t i = 1; i < one.count; i++)
        moved += one.items[i].ticks > one.items[i - 1].ticks;
    assert_cmp(moved, >, 100);
    bed_forget(&one);
    bed_forget(&four);
}

/* A device of two tiles: the root sees both, a tile only itself. Rule 22.13. */
static void tiles__root_and_tile__see_their_own(void **state)
{
    static const struct host_setting settings[] = {{"tiles", "2"}, {NULL, NULL}};
    struct zeta_plugin_device *devices[3];
    struct zeta_plugin_tracer *tracer;
    struct bed_events events = {.items = NULL};
    struct zeta_plugin_command copy;
    uint64_t of_tile[2] = {0, 0};
    struct bed_work work[2];
    uint32_t count = 0;
    struct host host;

    (void)state;
    host_open(&host, settings);
    assert_int_equal(host.device_ops->enumerate(host.self, 3, devices, &count), 0);
    assert_int_equal(count, 3);
    for (unsigned t = 0; t < 2; t++) {
        host.device = devices[1 + t];
        bed_work_begin(&work[t], &host);
    }
    for (unsigned d = 0; d < 3; d++) {
        host.device = devices[d];
        tracer = bed_open(&host, DEVICE, NULL);
        bed_enable(&host, tracer);
        for (unsigned t = 0; t < 2; t++) {
            copy = host_copy(work[t].memory, work[t].memory + 64, 64);
            assert_int_equal(host_run(&host, work[t].queue, &copy, 1), ZETA_PLUGIN_SUCCESS);
        }
        bed_disable(&host, tracer);
        bed_read(&host, tracer, &events);
        of_tile[0] = of_tile[1] = 0;
        for (uint64_t i = 0; i < events.count; i++) {
            assert_in_range(events.items[i].tile, 0, 1);
            of_tile[events.items[i].tile]++;
        }
        /* Enabled and disabled, begin and end of the copy. */
        assert_int_equal(of_tile[0], d == 0 || d == 1 ? 4 : 0);
        assert_int_equal(of_tile[1], d == 0 || d == 2 ? 4 : 0);
        bed_forget(&events);
        bed_ops(&host)->close(host.self, tracer);
    }
    for (unsigned t = 0; t < 2; t++)
        bed_work_end(&work[t]);
    host_close(&host);
}

SUITE(events)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open__bad_descriptions__are_refused),
        cmocka_unit_test(open__setting_forbids_it__no_permission),
        cmocka_unit_test(matmul__kernel_and_groups__closed_formulas_hold),
        cmocka_unit_test(matmul__barriers__one_for_each_release_of_a_group),
        cmocka_unit_test(copies__of_each_kind__have_begin_end_and_bytes),
        cmocka_unit_test(markers__of_all_units__are_events_with_their_values),
        cmocka_unit_test(faults__kernel_and_copy__say_where),
        cmocka_unit_test(ring__too_small__losses_and_events_make_all),
        cmocka_unit_test(fault_lost_reports__every_nth__break_where_it_was),
        cmocka_unit_test(virtual_clock__any_number_of_workers__same_events),
        cmocka_unit_test(tiles__root_and_tile__see_their_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
