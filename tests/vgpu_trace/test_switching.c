/* Enable and disable: at once or later, during work, again and again; notification and close. */
#include <poll.h>
#include <pthread.h>
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

static void tracer__new__is_off_and_empty(void **state)
{
    struct bed_events events = {.items = NULL};
    struct zeta_plugin_tracer *tracer;
    struct bed_work work;
    struct host host;

    (void)state;
    tracer = bed_begin(&host, NULL, &work, WORK, DEVICE);
    assert_int_equal(bed_ops(&host)->state(host.self, tracer), ZETA_PLUGIN_TRACER_OFF);
    bed_matmul(&work, 32);
    assert_int_equal(bed_ops(&host)->pending(host.self, tracer), 0);
    bed_read(&host, tracer, &events);
    assert_int_equal(events.count, 0);
    /* Off stays off. */
    bed_disable(&host, tracer);
    bed_read(&host, tracer, &events);
    assert_int_equal(events.count, 0);
    bed_end(&host, &work, tracer, &events);
}

/* Each time on has its own work and nothing else, whatever ran in between. Rule 22.6. */
static void tracer__on_and_off_many_times__exact_each_time(void **state)
{
    enum { ROUNDS = 20 };
    struct bed_events events = {.items = NULL};
    struct zeta_plugin_tracer *tracer;
    uint64_t launch = 0;
    struct bed_work work;
    struct host host;

    (void)state;
    tracer = bed_begin(&host, NULL, &work, WORK, NULL);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        bed_tiny_groups(&work, 50);
        bed_enable(&host, tracer);
        bed_enable(&host, tracer);
        bed_tiny_groups(&work, 10 + round);
        bed_disable(&host, tracer);
        events.count = 0;
        bed_read(&host, tracer, &events);
        assert_int_equal(events.lost, 0);
        assert_int_equal(events.count, 2 + 2 + 2 * (10 + round));
        assert_int_equal(events.items[0].type, TYPE(ENABLED));
        /* Launches are counted also while nobody traces. */
        assert_true(round == 0 || events.items[1].value == launch + 2);
        launch = events.items[1].value;
    }
    bed_end(&host, &work, tracer, &events);
}

static bool wait_for_state(struct host *host, struct zeta_plugin_tracer *tracer, uint32_t state)
{
    for (unsigned ms = 0; ms < 20000; ms++) {
        if (bed_ops(host)->state(host->self, tracer) == state)
            return true;
        host_sleep_ms(1);
    }
    return false;
}

/* A kernel that runs until it is told to end. */
struct endless {
    struct zeta_plugin_kernel *kernel;
    _Atomic uint32_t *flag;
    struct zeta_plugin_command command;
    struct host_work work;
};

static void endless_begin(struct bed_work *work, struct endless *endless)
{
    struct host *host = work->host;

    endless->kernel = kernel_create(host, work->module, "endless");
    endless->flag = (_Atomic uint32_t *)work->memory;
    endless->command = kernel_launch(endless->kernel, &endless->flag, 1, 1);
    assert_int_equal(host_submit(host, work->queue, &endless->command, 1, &endless->work),
                     ZETA_PLUGIN_SUCCESS);
    kernel_wait_for(endless->flag);
}

/* Lets the kernel end. */
static void endless_end(struct bed_work *work, struct endless *endless)
{
    atomic_store(endless->flag, 0);
    assert_int_equal(host_wait(&endless->work), ZETA_PLUGIN_SUCCESS);
    work->host->compute->kernel_destroy(work->host->self, endless->kernel);
}

/* Rule 22.5. */
static void tracer__enabled_while_a_kernel_runs__sees_its_rest(void **state)
{
    struct bed_events events = {.items = NULL};
    struct zeta_plugin_tracer *tracer;
    struct endless endless;
    struct bed_work work;
    struct host host;

    (void)state;
    tracer = bed_begin(&host, NULL, &work, WORK, NULL);
    endless_begin(&work, &endless);
    assert_int_equal(bed_ops(&host)->enable(host.self, tracer, 0), ZETA_PLUGIN_SUCCESS);
    assert_true(wait_for_state(&host, tracer, ZETA_PLUGIN_TRACER_ON));
    endless_end(&work, &endless);
    assert_int_equal(bed_ops(&host)->disable(host.self, tracer, 0), ZETA_PLUGIN_SUCCESS);
    assert_true(wait_for_state(&host, tracer, ZETA_PLUGIN_TRACER_OFF));
    bed_read(&host, tracer, &events);
    /* No begin of what had begun. */
    assert_int_equal(bed_count(&events, TYPE(KERNEL_BEGIN)), 0);
    assert_int_equal(bed_count(&events, TYPE(GROUP_BEGIN)), 0);
    assert_int_equal(bed_count(&events, TYPE(GROUP_END)), 1);
    assert_int_equal(bed_count(&events, TYPE(KERNEL_END)), 1);
    assert_int_equal(events.count, 2 + 2);
    assert_int_equal(events.items[events.count - 1].type, TYPE(DISABLED));

    /* And the other way round: disabled in the middle, nothing of the end. */
    bed_enable(&host, tracer);
    endless_begin(&work, &endless);
    bed_disable(&host, tracer);
    endless_end(&work, &endless);
    events.count = 0;
    bed_read(&host, tracer, &events);
    assert_int_equal(bed_count(&events, TYPE(KERNEL_BEGIN)), 1);
    assert_int_equal(bed_count(&events, TYPE(GROUP_BEGIN)), 1);
    assert_int_equal(events.count, 2 + 2);
    bed_end(&host, &work, tracer, &events);
}

static void disable__not_synchronous_then_enable__both_marks_and_on(void **state)
{
    struct bed_events events = {.items = NULL};
    struct zeta_plugin_tracer *tracer;
    struct bed_work work;
    struct host host;
    uint64_t before, after;

    (void)state;
    tracer = bed_begin(&host, NULL, &work, WORK, NULL);
    bed_enable(&host, tracer);
    bed_tiny_groups(&work, 5);
    before = bed_ticks(&host);
    assert_int_equal(bed_ops(&host)->disable(host.self, tracer, 0), ZETA_PLUGIN_SUCCESS);
    after = bed_ticks(&host);
    bed_enable(&host, tracer);
    bed_tiny_groups(&work, 7);
    bed_disable(&host, tracer);
    bed_read(&host, tracer, &events);
    assert_int_equal(events.count, 4 + 2 * 2 + 2 * 12);
    assert_int_equal(bed_count(&events, TYPE(ENABLED)), 2);
    assert_int_equal(bed_count(&events, TYPE(DISABLED)), 2);
    assert_int_equal(bed_count(&events, TYPE(GROUP_END)), 12);
    /* The time of the record is that of the call. */
    assert_in_range(bed_first(&events, TYPE(DISABLED))->ticks, before, after);
    bed_end(&host, &work, tracer, &events);
}

/* Rule 22.6. */
static void read__while_on__has_what_ended_before_it(void **state)
{
    struct bed_events events = {.items = NULL};
    struct zeta_plugin_tracer *tracer;
    struct bed_work work;
    struct host host;

    (void)state;
    tracer = bed_begin(&host, NULL, &work, WORK, NULL);
    bed_enable(&host, tracer);
    for (uint32_t round = 1; round <= 50; round++) {
        bed_tiny_groups(&work, 3);
        bed_read(&host, tracer, &events);
        assert_int_equal(events.count, 1 + round * (2 + 2 * 3));
    }
    bed_disable(&host, tracer);
    bed_end(&host, &work, tracer, &events);
}

static bool readable(struct host *host, struct zeta_plugin_tracer *tracer, int timeout_ms)
{
    struct pollfd poll_fd = {.fd = bed_ops(host)->descriptor(host->self, tracer), .events = POLLIN};

    assert_cmp(poll_fd.fd, >=, 0);
    return poll(&poll_fd, 1, timeout_ms) == 1;
}

static void descriptor__notify_bytes_pending__level_in_both_directions(void **state)
{
    struct zeta_vgpu_event buffer[20];
    struct zeta_plugin_read read = {.struct_size = sizeof(read)};
    struct zeta_plugin_tracer *tracer;
    struct bed_work work;
    struct host host;

    (void)state;
    host_open(&host, NULL);
    bed_work_begin(&work, &host);
    /* 19 records and a part of one are 20. */
    assert_int_equal(bed_try_open(&host, WORK, NULL, 19 * 64 + 1, &tracer), ZETA_PLUGIN_SUCCESS);
    bed_enable(&host, tracer);
    bed_tiny_groups(&work, 8); /* with the mark 19 */
    assert_false(readable(&host, tracer, 20));
    bed_tiny_groups(&work, 1);
    assert_true(readable(&host, tracer, 20000));
    assert_cmp(bed_ops(&host)->pending(host.self, tracer), >=, 20 * 64);
    assert_int_equal(bed_ops(&host)->read(host.self, tracer, buffer, sizeof(buffer), &read), 0);
    assert_int_equal(read.bytes, sizeof(buffer));
    assert_false(readable(&host, tracer, 0));
    bed_disable(&host, tracer);
    bed_end(&host, &work, tracer, NULL);
}

static void open__source_in_use__other_one_is_free(void **state)
{
    struct zeta_plugin_tracer *tracer, *other, *third = NULL;
    struct zeta_plugin_stream *status;
    struct host host;

    (void)state;
    host_open(&host, NULL);
    tracer = bed_open(&host, WORK, NULL);
    assert_int_equal(bed_try_open(&host, WORK, NULL, 0, &third), ZETA_PLUGIN_HANDLE_OBJECT_IN_USE);
    assert_int_equal(bed_try_open(&host, DEVICE, WORK, 0, &third),
                     ZETA_PLUGIN_HANDLE_OBJECT_IN_USE);
    other = bed_open(&host, DEVICE, NULL);
    /* The state of a tracer can be seen while it is there; a tracer's unit has no reports. */
    assert_int_equal(host_stream(&host, "trace-work-status", 1000000, 1, NULL, &status), 0);
    host.metric->stream_close(host.self, status);
    assert_int_equal(host_stream(&host, "trace-work", 1000000, 1, NULL, &status),
                     ZETA_PLUGIN_INVALID_ARGUMENT);
    bed_ops(&host)->close(host.self, tracer);
    tracer = bed_open(&host, WORK, NULL);
    bed_ops(&host)->close(host.self, tracer);
    bed_ops(&host)->close(host.self, other);
    host_close(&host);
}

static void tracers__of_each_source__have_their_own_events(void **state)
{
    struct bed_events work_events = {.items = NULL}, device_events = {.items = NULL};
    struct zeta_plugin_tracer *of_work, *of_device;
    struct bed_work work;
    struct host host;

    (void)state;
    host_open(&host, NULL);
    bed_work_begin(&work, &host);
    of_work = bed_open(&host, WORK, NULL);
    of_device = bed_open(&host, DEVICE, NULL);
    bed_enable(&host, of_work);
    bed_enable(&host, of_device);
    bed_matmul(&work, 32);
    bed_disable(&host, of_work);
    bed_matmul(&work, 32);
    bed_disable(&host, of_device);
    bed_read(&host, of_work, &work_events);
    bed_read(&host, of_device, &device_events);
    /* Four groups with four barriers each in a product. */
    assert_int_equal(work_events.count, 2 + 2 + 2 * 4);
    assert_int_equal(bed_count(&work_events, TYPE(GROUP_END)), 4);
    assert_int_equal(device_events.count, 2 + 2 * 4 * 4);
    assert_int_equal(bed_count(&device_events, TYPE(BARRIER)), 2 * 4 * 4);
    bed_forget(&work_events);
    bed_forget(&device_events);
    bed_ops(&host)->close(host.self, of_work);
    bed_ops(&host)->close(host.self, of_device);
    bed_work_end(&work);
    host_close(&host);
}

static void close__while_on_and_work_runs__next_tracer_is_exact(void **state)
{
    struct bed_events events = {.items = NULL};
    struct zeta_plugin_tracer *tracer;
    struct endless endless;
    struct bed_work work;
    struct host host;

    (void)state;
    host_open(&host, NULL);
    bed_work_begin(&work, &host);
    for (unsigned i = 0; i < 10; i++) {
        tracer = bed_open(&host, WORK, DEVICE);
        bed_enable(&host, tracer);
        endless_begin(&work, &endless);
        bed_ops(&host)->close(host.self, tracer);
        endless_end(&work, &endless);
    }
    tracer = bed_open(&host, WORK, DEVICE);
    bed_enable(&host, tracer);
    bed_tiny_groups(&work, 9);
    bed_disable(&host, tracer);
    bed_read(&host, tracer, &events);
    assert_int_equal(events.count, 2 + 2 + 2 * 9);
    assert_int_equal(events.lost, 0);
    bed_forget(&events);
    /* What the host leaves behind goes with the plugin. */
    bed_work_end(&work);
    host_close(&host);
}

struct switcher {
    struct host *host;
    struct zeta_plugin_tracer *tracer;
    atomic_bool stop;
};

static void *switch_on_and_off(void *argument)
{
    struct switcher *switcher = argument;
    const struct zeta_plugin_tracer_ops *ops = switcher->host->ops->tracer;
    struct zeta_plugin *self = switcher->host->self;

    for (unsigned i = 0; !atomic_load(&switcher->stop); i++) {
        (void)ops->enable(self, switcher->tracer, i % 3 == 0);
        (void)ops->state(self, switcher->tracer);
        if (i % 4 == 0)
            usleep(200);
        (void)ops->disable(self, switcher->tracer, i % 2 == 0);
        (void)ops->pending(self, switcher->tracer);
    }
    return NULL;
}

/* Order and marks hold, whoever switches while whoever works and reads. Rule 22.5. */
static void tracer__switched_during_work__events_only_between_marks(void **state)
{
    struct bed_events events = {.items = NULL};
    struct switcher switcher;
    struct bed_work work;
    struct host host;
    pthread_t thread;
    bool on = false;

    (void)state;
    host_open(&host, NULL);
    bed_work_begin(&work, &host);
    switcher = (struct switcher){&host, bed_open(&host, WORK, DEVICE), false};
    assert_int_equal(pthread_create(&thread, NULL, switch_on_and_off, &switcher), 0);
    for (unsigned i = 0; i < 100; i++) {
        bed_matmul(&work, 32);
        bed_read(&host, switcher.tracer, &events);
    }
    atomic_store(&switcher.stop, true);
    pthread_join(thread, NULL);
    bed_disable(&host, switcher.tracer);
    bed_read(&host, switcher.tracer, &events);
    assert_int_equal(events.lost, 0);
    for (uint64_t i = 0; i < events.count; i++) {
        if (events.items[i].type == TYPE(ENABLED)) {
            assert_false(on);
            on = true;
        } else if (events.items[i].type == TYPE(DISABLED)) {
            assert_true(on);
            on = false;
        } else {
            assert_true(on);
        }
    }
    assert_false(on);
    bed_forget(&events);
    bed_ops(&host)->close(host.self, switcher.tracer);
    bed_work_end(&work);
    host_close(&host);
}

SUITE(switching)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tracer__new__is_off_and_empty),
        cmocka_unit_test(tracer__on_and_off_many_times__exact_each_time),
        cmocka_unit_test(tracer__enabled_while_a_kernel_runs__sees_its_rest),
        cmocka_unit_test(disable__not_synchronous_then_enable__both_marks_and_on),
        cmocka_unit_test(read__while_on__has_what_ended_before_it),
        cmocka_unit_test(descriptor__notify_bytes_pending__level_in_both_directions),
        cmocka_unit_test(open__source_in_use__other_one_is_free),
        cmocka_unit_test(tracers__of_each_source__have_their_own_events),
        cmocka_unit_test(close__while_on_and_work_runs__next_tracer_is_exact),
        cmocka_unit_test(tracer__switched_during_work__events_only_between_marks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
