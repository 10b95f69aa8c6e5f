#include "trace_bed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

const struct zeta_plugin_tracer_ops *bed_ops(const struct host *host)
{
    assert_non_null(host->ops->tracer);
    return host->ops->tracer;
}

uint32_t bed_try_open(struct host *host, const char *first, const char *second,
                      uint64_t notify_bytes, struct zeta_plugin_tracer **out_tracer)
{
    const struct zeta_plugin_string units[2] = {host_string(first),
                                                host_string(second ? second : "")};
    struct zeta_plugin_tracer_desc desc = {.struct_size = sizeof(desc),
                                           .units = {units, second ? 2 : 1, sizeof(units[0])},
                                           .record_bytes = sizeof(struct zeta_vgpu_event),
                                           .notify_bytes = notify_bytes};

    return bed_ops(host)->open(host->self, host->device, &desc, out_tracer);
}

struct zeta_plugin_tracer *bed_open(struct host *host, const char *first, const char *second)
{
    struct zeta_plugin_tracer *tracer = NULL;

    if (bed_try_open(host, first, second, 64, &tracer) != ZETA_PLUGIN_SUCCESS)
        fail_msg("tracer open: %s", host_error(host));
    return tracer;
}

void bed_enable(struct host *host, struct zeta_plugin_tracer *tracer)
{
    assert_int_equal(bed_ops(host)->enable(host->self, tracer, 1), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(bed_ops(host)->state(host->self, tracer), ZETA_PLUGIN_TRACER_ON);
}

void bed_disable(struct host *host, struct zeta_plugin_tracer *tracer)
{
    assert_int_equal(bed_ops(host)->disable(host->self, tracer, 1), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(bed_ops(host)->state(host->self, tracer), ZETA_PLUGIN_TRACER_OFF);
}

static void check_event(const struct bed_events *events, uint64_t index)
{
    const struct zeta_vgpu_event *event = &events->items[index];

    assert_in_range(event->type, ZETA_VGPU_EVENT_TYPE_ENABLED, ZETA_VGPU_EVENT_TYPE_FAULT);
    assert_int_equal(event->lost, 0);
    assert_true(index == 0 || event->ticks >= event[-1].ticks);
}

void bed_read(struct host *host, struct zeta_plugin_tracer *tracer, struct bed_events *events)
{
    enum { CHUNK = 1000 };
    struct zeta_plugin_read read = {.struct_size = sizeof(read)};

    do {
        if (events->count + CHUNK > events->capacity) {
            events->capacity = 2 * (events->count + CHUNK);
            events->items = realloc(events->items, events->capacity * sizeof(events->items[0]));
            assert_non_null(events->items);
        }
        /* Some bytes more than whole records: they must stay untouched. */
        assert_int_equal(bed_ops(host)->read(host->self, tracer, events->items + events->count,
                                             (CHUNK - 1) * sizeof(events->items[0]) + 63, &read),
                         ZETA_PLUGIN_SUCCESS);
        assert_int_equal(read.bytes % sizeof(events->items[0]), 0);
        assert_int_equal(read.lost != 0, read.broken != 0);
        events->lost += read.lost;
        for (uint64_t i = 0; i < read.bytes / sizeof(events->items[0]); i++)
            check_event(events, events->count++);
    } while (read.bytes > 0);
}

void bed_forget(struct bed_events *events)
{
    free(events->items);
    memset(events, 0, sizeof(*events));
}

uint64_t bed_count(const struct bed_events *events, enum zeta_vgpu_event_type type)
{
    uint64_t count = 0;

    for (uint64_t i = 0; i < events->count; i++)
        count += events->items[i].type == type;
    return count;
}

const struct zeta_vgpu_event *bed_first(const struct bed_events *events,
                                        enum zeta_vgpu_event_type type)
{
    for (uint64_t i = 0; i < events->count; i++) {
        if (events->items[i].type == type)
            return &events->items[i];
    }
    fail_msg("no event of type %u", (unsigned)type);
    return NULL;
}

uint64_t bed_ticks(struct host *host)
{
    struct zeta_plugin_clock clock = {.struct_size = sizeof(clock)};

    assert_int_equal(host->device_ops->clock(host->self, host->device, &clock), 0);
    return clock.device_ticks;
}

void bed_work_begin(struct bed_work *work, struct host *host)
{
    work->host = host;
    work->module = kernel_file_load(host);
    work->queue = host_queue(host, 0);
    work->memory = host_allocate(host, 1u << 18);
}

void bed_work_end(struct bed_work *work)
{
    struct host *host = work->host;

    host->compute->queue_destroy(host->self, work->queue);
    host->compute->module_destroy(host->self, work->module);
    assert_int_equal(host->compute->memory_free(host->self, work->memory), ZETA_PLUGIN_SUCCESS);
}

struct zeta_plugin_tracer *bed_begin(struct host *host, const struct host_setting *settings,
                                     struct bed_work *work, const char *first, const char *second)
{
    host_open(host, settings);
    bed_work_begin(work, host);
    return bed_open(host, first, second);
}

void bed_end(struct host *host, struct bed_work *work, struct zeta_plugin_tracer *tracer,
             struct bed_events *events)
{
    if (events)
        bed_forget(events);
    bed_ops(host)->close(host->self, tracer);
    bed_work_end(work);
    host_close(host);
}

void bed_matmul(struct bed_work *work, uint32_t size)
{
    struct host *host = work->host;
    struct zeta_plugin_kernel *kernel = kernel_create(host, work->module, "matmul");
    struct {
        void *left, *right, *product;
        uint32_t size, unused;
    } arguments = {work->memory, work->memory + size * size, work->memory + 2 * size * size, size,
                   0};
    struct zeta_plugin_command command = kernel_launch(kernel, &arguments, size / 16, 16);

    command.u.launch.group_count[1] = size / 16;
    command.u.launch.group_size[1] = 16;
    assert_int_equal(host_run(host, work->queue, &command, 1), ZETA_PLUGIN_SUCCESS);
    host->compute->kernel_destroy(host->self, kernel);
}

void bed_tiny_groups(struct bed_work *work, uint32_t groups)
{
    struct host *host = work->host;
    struct zeta_plugin_kernel *kernel = kernel_create(host, work->module, "count");
    const struct zeta_plugin_command command = kernel_launch(kernel, &work->memory, groups, 1);

    assert_int_equal(host_run(host, work->queue, &command, 1), ZETA_PLUGIN_SUCCESS);
    host->compute->kernel_destroy(host->self, kernel);
}
