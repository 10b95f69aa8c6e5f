#include "tests/intel/scripted.h"
#include "tests/support/compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

struct scripted scripted = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the kernel --------------------------------------------------------------------------- */

static uint32_t tell_clock(struct zeta_intel_gpu *gpu, uint32_t tile, struct zeta_plugin_clock *out)
{
    (void)gpu, (void)tile;
    (void)pthread_mutex_lock(&scripted.lock);
    out->device_ticks = scripted.now_ticks;
    out->host_ns = scripted.host_shift_ns + scripted.now_ticks * SCRIPTED_TICK_NS;
    (void)pthread_mutex_unlock(&scripted.lock);
    return ZETA_PLUGIN_SUCCESS;
}

static int64_t add_config(struct zeta_intel_gpu *gpu, const struct zeta_intel_program *program)
{
    (void)gpu, (void)program;
    return (int64_t)++scripted.configs;
}

static void remove_config(struct zeta_intel_gpu *gpu, uint64_t config)
{
    (void)gpu, (void)config;
}

static uint64_t min_period(const struct zeta_intel_unit *unit, bool as_everybody)
{
    (void)unit;
    return as_everybody ? scripted.least_for_all_ns : scripted.least_ns;
}

static uint32_t open_stream(struct zeta_intel_gpu *gpu,
                            const struct zeta_intel_stream_request *request,
                            struct zeta_intel_kernel_stream **out_stream)
{
    struct scripted_source *source = &scripted.sources[request->unit->tile];

    if (scripted.refusals > 0) {
        scripted.refusals--;
        return zeta_host_fail(gpu->host, ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS, "too fast");
    }
    if (request->config < scripted.oldest_config)
        return zeta_host_fail(gpu->host, ZETA_PLUGIN_NOT_AVAILABLE, "no configuration");
    (void)pthread_mutex_lock(&scripted.lock);
    assert_false(source->is_open);
    scripted.opens++;
    source->is_open = true;
    source->exponent = request->exponent;
    source->count = 0;
    source->failure = 0;
    source->broken = false;
    source->stream.tells_loss_once = false;
    source->stream.gpu = gpu;
    source->stream.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    source->stream.record_bytes = request->record_bytes;
    (void)pthread_mutex_unlock(&scripted.lock);
    *out_stream = &source->stream;
    return ZETA_PLUGIN_SUCCESS;
}

/* The host's clock does not notice. */
static void set_clock_locked(uint64_t ticks)
{
    scripted.host_shift_ns += (scripted.now_ticks - ticks) * SCRIPTED_TICK_NS;
    scripted.now_ticks = ticks;
}

static uint32_t read_stream(struct zeta_intel_kernel_stream *stream, void *buffer,
                            uint64_t capacity_bytes, struct zeta_plugin_read *out_read)
{
    struct scripted_source *source = (struct scripted_source *)stream;
    uint64_t level;
    uint32_t result;

    (void)pthread_mutex_lock(&scripted.lock);
    if (scripted.reset_ticks != 0 && source->count > 0) {
        set_clock_locked(scripted.reset_ticks);
        scripted.reset_ticks = 0;
    }
    result = source->failure;
    source->is_counted = source->count == 0 && !source->broken;
    while (source->count > 0 && capacity_bytes - out_read->bytes >= SCRIPTED_REPORT_BYTES) {
        memcpy((uint8_t *)buffer + out_read->bytes, &source->reports[source->first],
               SCRIPTED_REPORT_BYTES);
        out_read->bytes += SCRIPTED_REPORT_BYTES;
        source->first = (source->first + 1) % SCRIPTED_REPORTS;
        source->count--;
    }
    out_read->broken = source->broken;
    source->broken = false;
    if (source->has_loss)
        stream->loss = ZETA_PLUGIN_BREAK_LOST;
    source->has_loss = false;
    if (source->count == 0)
        (void)!read(stream->fd, &level, sizeof(level));
    (void)pthread_mutex_unlock(&scripted.lock);
    return result;
}

static void close_stream(struct zeta_intel_kernel_stream *stream)
{
    struct scripted_source *source = (struct scripted_source *)stream;

    (void)pthread_mutex_lock(&scripted.lock);
    source->is_open = false;
    (void)close(stream->fd);
    (void)pthread_mutex_unlock(&scripted.lock);
}

const struct zeta_intel_kmd scripted_kmd = {
    .driver = "scripted",
    .is_xe = true,
    .clock = tell_clock,
    .config_add = add_config,
    .config_remove = remove_config,
    .min_period_ns = min_period,
    .stream_open = open_stream,
    .stream_read = read_stream,
    .stream_close = close_stream,
};

void scripted_set_time(uint64_t ticks)
{
    (void)pthread_mutex_lock(&scripted.lock);
    scripted.now_ticks = ticks;
    (void)pthread_mutex_unlock(&scripted.lock);
}

void scripted_reset_device(uint64_t ticks)
{
    (void)pthread_mutex_lock(&scripted.lock);
    set_clock_locked(ticks);
    (void)pthread_mutex_unlock(&scripted.lock);
}

/* What somebody has to look at now. */
static void call_reader_locked(struct scripted_source *source)
{
    const uint64_t one = 1;

    (void)!write(source->stream.fd, &one, sizeof(one));
}

void scripted_report_on(uint32_t tile, uint64_t ticks, uint32_t count, uint32_t id)
{
    struct scripted_source *source = &scripted.sources[tile];

    (void)pthread_mutex_lock(&scripted.lock);
    assert_cmp(source->count, <, SCRIPTED_REPORTS);
    source->reports[(source->first + source->count++) % SCRIPTED_REPORTS] =
        (struct scripted_report){.id = id, .ticks = (uint32_t)ticks, .words = {count}};
    if (scripted.now_ticks < ticks)
        scripted.now_ticks = ticks;
    if (source->is_open)
        call_reader_locked(source);
    (void)pthread_mutex_unlock(&scripted.lock);
}

void scripted_report(uint64_t ticks, uint32_t count)
{
    scripted_report_on(0, ticks, count, 0x80000);
}

void scripted_lose_reports(void)
{
    (void)pthread_mutex_lock(&scripted.lock);
    scripted.sources[0].broken = true;
    call_reader_locked(&scripted.sources[0]);
    (void)pthread_mutex_unlock(&scripted.lock);
}

void scripted_tell_loss(void)
{
    (void)pthread_mutex_lock(&scripted.lock);
    scripted.sources[0].has_loss = true;
    (void)pthread_mutex_unlock(&scripted.lock);
}

void scripted_fail_reads(uint32_t result)
{
    (void)pthread_mutex_lock(&scripted.lock);
    scripted.sources[0].failure = result;
    call_reader_locked(&scripted.sources[0]);
    (void)pthread_mutex_unlock(&scripted.lock);
}

bool scripted_is_empty(void)
{
    (void)pthread_mutex_lock(&scripted.lock);
    const bool is_empty = scripted.sources[0].count == 0 && !scripted.sources[0].broken;
    (void)pthread_mutex_unlock(&scripted.lock);
    return is_empty;
}

void scripted_await_reader(void)
{
    struct scripted_source *source = &scripted.sources[0];
    const struct timespec step = {.tv_nsec = 1000000};
    bool is_counted = false;

    for (int i = 0; i < 20000 && !is_counted; i++) {
        (void)pthread_mutex_lock(&scripted.lock);
        is_counted = source->count == 0 && !source->broken && source->is_counted;
        if (!is_counted)
            call_reader_locked(source);
        (void)pthread_mutex_unlock(&scripted.lock);
        (void)nanosleep(&step, NULL);
    }
    assert_true(is_counted);
}

/* ---- the host ----------------------------------------------------------------------------- */

static void keep_sentence(struct zeta_plugin_host *host, uint32_t result,
                          struct zeta_plugin_string text)
{
    (void)host, (void)result;
    (void)pthread_mutex_lock(&scripted.lock);
    (void)snprintf(scripted.sentence, sizeof(scripted.sentence), "%.*s", (int)text.size, text.data);
    (void)pthread_mutex_unlock(&scripted.lock);
}

static void drop_log(struct zeta_plugin_host *host, uint32_t level, struct zeta_plugin_string text)
{
    (void)level;
    keep_sentence(host, 0, text);
}

static uint32_t give_setting(struct zeta_plugin_host *host, struct zeta_plugin_string name,
                             struct zeta_plugin_string *out_value)
{
    (void)host;
    assert_memory_equal(name.data, "query_period_ns", sizeof("query_period_ns") - 1);
    if (!scripted.setting[0])
        return ZETA_PLUGIN_NOT_AVAILABLE;
    *out_value = (struct zeta_plugin_string){scripted.setting, strlen(scripted.setting)};
    return ZETA_PLUGIN_SUCCESS;
}

const struct zeta_plugin_host_ops scripted_host = {.struct_size = sizeof(scripted_host),
                                                   .log = drop_log,
                                                   .fail = keep_sentence,
                                                   .setting = give_setting};

void scripted_reset(void)
{
    memset(scripted.sources, 0, sizeof(scripted.sources));
    scripted.now_ticks = 5;
    scripted.host_shift_ns = 1000000000;
    scripted.reset_ticks = 0;
    scripted.opens = scripted.refusals = 0;
    scripted.configs = scripted.oldest_config = 0;
    scripted.least_ns = scripted.least_for_all_ns = 0;
    scripted.setting[0] = scripted.sentence[0] = '\0';
}
