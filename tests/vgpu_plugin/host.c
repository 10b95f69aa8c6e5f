#include "host.h"
#include "tests/support/compare.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define LIBRARY ZETA_BUILD_DIR "/lib/zeta/plugins/libzeta-vgpu.so"
#define PATIENCE_MS 20000u

struct zeta_plugin_host {
    const struct host_setting *settings;
    struct zeta_plugin *self;
    const struct zeta_plugin_compute_ops *compute;
    pthread_mutex_t lock;
    char error[1024];
    char log[16384];
    char output[4096];
};

/* Plugin objects live as long as the process, so somebody has to know them for ever. */
struct object {
    struct object *next;
    struct zeta_plugin *self;
};

static struct object *objects;

static void keep(struct zeta_plugin *self)
{
    struct object *object = calloc(1, sizeof(*object));

    assert_non_null(object);
    object->self = self;
    object->next = objects;
    objects = object;
}

static void on_log(struct zeta_plugin_host *host, uint32_t level, struct zeta_plugin_string text)
{
    size_t used;

    if (getenv("TEST_VERBOSE"))
        fprintf(stderr, "log %u: %.*s\n", level, (int)text.size, text.data);
    pthread_mutex_lock(&host->lock);
    used = strlen(host->log);
    snprintf(host->log + used, sizeof(host->log) - used, "%.*s\n", (int)text.size, text.data);
    pthread_mutex_unlock(&host->lock);
}

static void on_fail(struct zeta_plugin_host *host, uint32_t result, struct zeta_plugin_string text)
{
    (void)result;
    pthread_mutex_lock(&host->lock);
    snprintf(host->error, sizeof(host->error), "%.*s", (int)text.size, text.data);
    pthread_mutex_unlock(&host->lock);
}

static uint32_t on_setting(struct zeta_plugin_host *host, struct zeta_plugin_string name,
                           struct zeta_plugin_string *out_value)
{
    for (const struct host_setting *s = host->settings; s && s->name; s++) {
        if (strlen(s->name) == name.size && memcmp(s->name, name.data, name.size) == 0) {
            *out_value = host_string(s->value);
            return ZETA_PLUGIN_SUCCESS;
        }
    }
    return ZETA_PLUGIN_NOT_AVAILABLE;
}

static uint32_t on_event_query(struct zeta_plugin_host *host, struct zeta_plugin_event *event)
{
    (void)host;
    return atomic_load(&event->signalled) ? ZETA_PLUGIN_SUCCESS : ZETA_PLUGIN_NOT_READY;
}

static void on_event_signal(struct zeta_plugin_host *host, struct zeta_plugin_event *event,
                            const struct zeta_plugin_times *times)
{
    if (times)
        event->times = *times;
    atomic_store(&event->signalled, 1);
    host->compute->wake(host->self);
}

static void on_event_reset(struct zeta_plugin_host *host, struct zeta_plugin_event *event)
{
    (void)host;
    atomic_store(&event->signalled, 0);
}

static void on_submission_done(struct zeta_plugin_host *host, void *cookie, uint32_t result)
{
    struct host_work *work = cookie;

    (void)host;
    work->result = result;
    atomic_fetch_add(&work->done, 1);
}

static void on_kernel_output(struct zeta_plugin_host *host, struct zeta_plugin_string text)
{
    size_t used;

    pthread_mutex_lock(&host->lock);
    used = strlen(host->output);
    snprintf(host->output + used, sizeof(host->output) - used, "%.*s", (int)text.size, text.data);
    pthread_mutex_unlock(&host->lock);
}

static const struct zeta_plugin_host_ops services = {
    .struct_size = sizeof(services),
    .log = on_log,
    .fail = on_fail,
    .setting = on_setting,
    .event_query = on_event_query,
    .event_signal = on_event_signal,
    .event_reset = on_event_reset,
    .submission_done = on_submission_done,
    .kernel_output = on_kernel_output,
};

struct zeta_plugin_string host_string(const char *text)
{
    return (struct zeta_plugin_string){text, strlen(text)};
}

uint32_t host_try_open(struct host *host, const struct host_setting *settings)
{
    struct zeta_plugin_offer offer = {.struct_size = sizeof(offer),
                                      .abi_min = 1,
                                      .abi_max = ZETA_PLUGIN_ABI,
                                      .ops = &services,
                                      .id = host_string("vgpu"),
                                      .data_dir = host_string(ZETA_SOURCE_DIR "/plugins/vgpu"),
                                      .host_version = host_string("test")};
    struct zeta_plugin_answer answer = {.struct_size = sizeof(answer)};
    union {
        void *pointer;
        zeta_plugin_negotiate_fn function;
    } entry;
    uint32_t count = 0, result;

    memset(host, 0, sizeof(*host));
    host->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!host->library)
        fail_msg("%s", dlerror());
    entry.pointer = dlsym(host->library, "zeta_plugin_negotiate");
    assert_non_null(entry.pointer);

    host->services = calloc(1, sizeof(*host->services));
    assert_non_null(host->services);
    pthread_mutex_init(&host->services->lock, NULL);
    host->services->settings = settings;
    offer.host = host->services;
    assert_int_equal(entry.function(&offer, &answer), ZETA_PLUGIN_SUCCESS);
    keep(answer.self);
    host->self = answer.self;
    host->ops = answer.ops;
    host->device_ops = answer.ops->device;
    host->compute = answer.ops->compute;
    host->metric = answer.ops->metric;
    host->services->self = answer.self;
    host->services->compute = answer.ops->compute;
    result = host->ops->init(host->self);
    if (result == ZETA_PLUGIN_SUCCESS) {
        assert_int_equal(host->device_ops->enumerate(host->self, 1, &host->device, &count),
                         ZETA_PLUGIN_SUCCESS);
        assert_cmp(count, >=, 1);
    }
    return result;
}

void host_open(struct host *host, const struct host_setting *settings)
{
    if (host_try_open(host, settings) != ZETA_PLUGIN_SUCCESS)
        fail_msg("init: %s", host_error(host));
}

void host_close(struct host *host)
{
    host->ops->finish(host->self);
    pthread_mutex_destroy(&host->services->lock);
    free(host->services);
    dlclose(host->library);
    memset(host, 0, sizeof(*host));
}

const char *host_error(const struct host *host)
{
    return host->services->error;
}

const char *host_log(const struct host *host)
{
    return host->services->log;
}

const char *host_output(const struct host *host)
{
    return host->services->output;
}

void host_sleep_ms(unsigned ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

    nanosleep(&time, NULL);
}

uint32_t host_submit(struct host *host, struct zeta_plugin_queue *queue,
                     const struct zeta_plugin_command *commands, uint64_t count,
                     struct host_work *work)
{
    const struct zeta_plugin_array array = {commands, count, sizeof(*commands)};

    work->result = UINT32_MAX;
    atomic_store(&work->done, 0);
    return host->compute->submit(host->self, queue, &array, work);
}

uint32_t host_wait(const struct host_work *work)
{
    for (unsigned ms = 0; !atomic_load(&work->done) && ms < PATIENCE_MS; ms++)
        host_sleep_ms(1);
    return atomic_load(&work->done) ? work->result : UINT32_MAX;
}

uint32_t host_run(struct host *host, struct zeta_plugin_queue *queue,
                  const struct zeta_plugin_command *commands, uint64_t count)
{
    struct host_work work;
    uint32_t result = host_submit(host, queue, commands, count, &work);

    return result == ZETA_PLUGIN_SUCCESS ? host_wait(&work) : result;
}

struct zeta_plugin_queue *host_queue(struct host *host, uint32_t ordinal)
{
    const struct zeta_plugin_queue_desc desc = {.struct_size = sizeof(desc), .ordinal = ordinal};
    struct zeta_plugin_queue *queue = NULL;

    if (host->compute->queue_create(host->self, host->device, &desc, &queue) != ZETA_PLUGIN_SUCCESS)
        fail_msg("queue_create: %s", host_error(host));
    return queue;
}

void *host_allocate(struct host *host, uint64_t size_bytes)
{
    const struct zeta_plugin_memory_desc desc = {
        .struct_size = sizeof(desc), .kind = ZETA_PLUGIN_MEMORY_SHARED, .size_bytes = size_bytes};
    void *address = NULL;

    assert_int_equal(host->compute->memory_allocate(host->self, host->device, &desc, &address),
                     ZETA_PLUGIN_SUCCESS);
    return address;
}

void host_signal(struct host *host, struct zeta_plugin_event *event)
{
    on_event_signal(host->services, event, NULL);
}

struct zeta_plugin_command host_command(uint32_t type)
{
    return (struct zeta_plugin_command){.struct_size = sizeof(struct zeta_plugin_command),
                                        .type = type};
}

struct zeta_plugin_command host_copy(void *target, const void *source, uint64_t size_bytes)
{
    struct zeta_plugin_command command = host_command(ZETA_PLUGIN_COMMAND_COPY);

    command.u.copy =
        (struct zeta_plugin_copy){.target = target, .source = source, .size_bytes = size_bytes};
    return command;
}

uint32_t host_stream(struct host *host, const char *unit, uint64_t period_ns,
                     uint64_t notify_records, const char *const *selections,
                     struct zeta_plugin_stream **out_stream)
{
    struct zeta_plugin_program_entry entries[24] = {0};
    struct zeta_plugin_stream_desc desc = {.struct_size = sizeof(desc),
                                           .unit = host_string(unit),
                                           .set = host_string("Test"),
                                           .digest = host_string("0"),
                                           .period_ns = period_ns,
                                           .notify_records = notify_records,
                                           .record_bytes = 256};
    uint64_t count = 0;

    for (; selections && selections[count]; count++) {
        entries[count].struct_size = sizeof(entries[count]);
        entries[count].select = host_string(selections[count]);
    }
    desc.program = (struct zeta_plugin_array){entries, count, sizeof(entries[0])};
    return host->metric->stream_open(host->self, host->device, &desc, out_stream);
}

bool host_pending(struct host *host, struct zeta_plugin_stream *stream, uint64_t count)
{
    for (unsigned ms = 0; ms < PATIENCE_MS; ms++) {
        if (host->metric->stream_pending(host->self, stream) >= count)
            return true;
        host_sleep_ms(1);
    }
    return false;
}

uint64_t host_read(struct host *host, struct zeta_plugin_stream *stream, void *buffer,
                   uint64_t capacity, struct zeta_plugin_read *out_read)
{
    struct zeta_plugin_read read = {.struct_size = sizeof(read)};

    assert_int_equal(
        host->metric->stream_read(host->self, stream, buffer, capacity * 256 + 255, &read),
        ZETA_PLUGIN_SUCCESS);
    assert_int_equal(read.bytes % 256, 0);
    assert_cmp(read.bytes, <=, capacity * 256);
    if (out_read)
        *out_read = read;
    return read.bytes / 256;
}

uint32_t report_u32(const void *report, uint32_t offset)
{
    const uint8_t *at = (const uint8_t *)report + offset;

    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

uint32_t report_id(const void *report)
{
    return report_u32(report, 0) & 0x3fffffff;
}

uint64_t report_ticks(const void *report)
{
    return (uint64_t)(report_u32(report, 0) >> 30) << 32 | report_u32(report, 4);
}

uint64_t report_counter(const void *report, uint32_t index)
{
    uint64_t value = report_u32(report, 16 + 4 * index);

    if (index < 32)
        value |= (uint64_t)((const uint8_t *)report)[160 + index] << 32;
    return value;
}

uint64_t host_read_past_now(struct host *host, struct zeta_plugin_stream *stream, void *buffer,
                            uint64_t capacity)
{
    struct zeta_plugin_clock clock = {.struct_size = sizeof(clock)};
    uint64_t count = 0;

    assert_int_equal(host->device_ops->clock(host->self, host->device, &clock), 0);
    for (unsigned ms = 0; ms < PATIENCE_MS; ms++) {
        uint8_t *at = (uint8_t *)buffer + count * 256;

        count += host_read(host, stream, at, capacity - count, NULL);
        at = (uint8_t *)buffer + count * 256;
        if (count > 0 && (int32_t)(report_u32(at - 256, 4) - (uint32_t)clock.device_ticks) > 0)
            return count;
        if (count == capacity)
            count = 1; /* of the others newer ones matter */
        else
            host_sleep_ms(1);
    }
    fail_msg("no report within 20 s");
    return 0;
}
