#include "sampler.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <zeta/plugin_host.h>

#include "intel.h"
#include "totals.h"

#define SECOND_NS UINT64_C(1000000000)

/*
 * How often reports come unless the setting query_period_ns says otherwise: ends of queries are
 * right to that time. 10 kHz is a tenth of what i915 allows everybody, 2.5 MB/s of reports of 256
 * bytes, less than a hundredth of a core to add them up, and often enough for the counters of all
 * GPUs.
 */
#define PERIOD_NS UINT64_C(100000)

/* Of a GPU about which the kernel says nothing. */
#define MOST_EUS 1024u
#define MOST_HZ UINT64_C(3000000000)

/* The kernel looks for reports 200 times a second. Who got none for this long will get none. */
#define SLEEP_NS UINT64_C(50000000)
#define SLEEP_PERIODS 8u

/* A clock that is so much ahead of the host's was set: the device was reset, and with it counters.
 */
#define JUMP_S 60u

/*
 * Reports wait for so long in the kernel: results come a little later, and who reads them is not
 * woken for each.
 */
#define LOOK_MS 2

#define BUFFER_BYTES 131072u
#define DIGEST_BYTES 64u

/* Two clocks at one time. */
struct reading {
    uint64_t ticks; /* of the unit, not wrapped */
    uint64_t host_ns;
};

struct zeta_intel_sampler {
    struct zeta_intel_sampler *next; /**< behind intel->sampler_lock, as users */
    uint32_t users;
    struct zeta_plugin_device *device;
    const struct zeta_intel_unit *unit;
    char digest[DIGEST_BYTES];
    struct zeta_intel_kernel_stream *stream;
    uint64_t sleep_ticks; /**< without a report for so long the GPU sleeps */
    uint8_t *buffer;      /**< of the thread */
    int wake_fd;
    atomic_bool stopping;
    pthread_t thread;
    pthread_mutex_t lock; /**< a leaf but for the plugin's, under which clocks are read */
    pthread_cond_t settled;
    struct zeta_intel_totals totals; /* from here on behind the lock */
    struct zeta_intel_mark *pending;
    bool has_failed;
    struct reading clock; /* the last one of the thread; host_ns 0: none yet */
};

/* ---- periods ------------------------------------------------------------------------------ */

static uint64_t divide_up(uint64_t value, uint64_t by)
{
    return (value + by - 1) / by;
}

/*
 * Counters that add up all EUs count at most one per EU and clock. Half of the time in which one of
 * 32 bits comes around, so that one late report is no harm.
 */
static uint64_t longest_period_ns(const struct zeta_plugin_device *device)
{
    const struct zeta_intel_tile *tile = zeta_intel_device_tile(device);
    const uint64_t eus = tile->topology.eus ? tile->topology.eus : MOST_EUS;
    const uint64_t hz = tile->max_hz ? tile->max_hz : MOST_HZ;
    const double seconds = 4294967296.0 / ((double)eus * (double)hz);

    return (uint64_t)(seconds / 2 * 1e9);
}

/* What the user wants. False for a text that is no period; it is used as if nobody had set it. */
static bool read_setting(const struct zeta_intel *intel, char *out_text, size_t text_bytes,
                         uint64_t *out_period_ns)
{
    char *end = NULL;

    *out_period_ns = PERIOD_NS;
    if (!zeta_host_setting(intel->self->ops, intel->self->host, "query_period_ns", out_text,
                           text_bytes))
        return true;
    errno = 0;
    const unsigned long long value = strtoull(out_text, &end, 10);
    if (errno != 0 || end == out_text || *end != '\0' || out_text[0] == '-' || value == 0)
        return false;
    *out_period_ns = value;
    return true;
}

static uint64_t wanted_period_ns(const struct zeta_intel *intel)
{
    char text[32];
    uint64_t period_ns;

    (void)read_setting(intel, text, sizeof(text), &period_ns);
    return period_ns;
}

static void say_if_setting_is_bad(const struct zeta_intel *intel)
{
    char text[32];
    uint64_t period_ns;

    if (!read_setting(intel, text, sizeof(text), &period_ns))
        zeta_intel_log(intel, ZETA_PLUGIN_LOG_WARN,
                       "query_period_ns is \"%s\", which is no number of nanoseconds above 0; "
                       "queries use %llu",
                       text, (unsigned long long)period_ns);
}

/*
 * The largest exponent whose period is neither above the wanted one nor above the longest, but no
 * faster than the kernel lets this process, or everybody, have reports.
 */
static uint32_t choose_exponent(const struct zeta_plugin_device *device,
                                const struct zeta_intel_unit *unit, bool as_everybody)
{
    const struct zeta_intel_kmd *kmd = device->gpu->kmd;
    const uint64_t least_ns = kmd->min_period_ns ? kmd->min_period_ns(unit, as_everybody) : 0;
    const uint64_t longest_ns = longest_period_ns(device);
    uint64_t period_ns = wanted_period_ns(device->gpu->intel);
    uint32_t exponent = 0;

    if (period_ns > longest_ns)
        period_ns = longest_ns;
    while (exponent < ZETA_INTEL_EXPONENTS - 1 && zeta_intel_period_ns(unit, exponent) < least_ns)
        exponent++;
    while (exponent < ZETA_INTEL_EXPONENTS - 1 &&
           zeta_intel_period_ns(unit, exponent + 1) <= period_ns)
        exponent++;
    return exponent;
}

bool zeta_intel_sampler_is_possible(const struct zeta_plugin_device *device,
                                    const struct zeta_intel_unit *unit)
{
    return zeta_intel_period_ns(unit, choose_exponent(device, unit, false)) <=
           longest_period_ns(device);
}

/* ---- marks -------------------------------------------------------------------------------- */

/* Ticks of the unit's clock from those of the device, which may be another unit's. */
static uint64_t to_unit_ticks(const struct zeta_intel_sampler *sampler, uint64_t device_ticks)
{
    const uint64_t from = zeta_intel_timer_hz(sampler->device);
    const uint64_t to = sampler->unit->timestamp_hz;

    return from == to ? device_ticks : device_ticks / from * to + device_ticks % from * to / from;
}

static uint32_t read_clock(const struct zeta_intel_sampler *sampler, struct reading *out_reading)
{
    struct zeta_plugin_clock clock = {.struct_size = sizeof(clock)};
    const uint32_t result =
        zeta_intel_device_ops.clock(sampler->device->gpu->intel->self, sampler->device, &clock);

    if (result == ZETA_PLUGIN_SUCCESS)
        *out_reading = (struct reading){to_unit_ticks(sampler, clock.device_ticks), clock.host_ns};
    return result;
}

/* Gives a mark the totals of now. */
static void settle_locked(struct zeta_intel_sampler *sampler, struct zeta_intel_mark *mark,
                          uint64_t ticks)
{
    mark->ticks = ticks;
    mark->breaks = sampler->totals.breaks;
    mark->switches = sampler->totals.switches;
    zeta_intel_totals_copy(&sampler->totals, mark->values);
    mark->state = ZETA_INTEL_MARK_SETTLED;
}

/* Settles the marks that the last report is late enough for. */
static void settle_reached_locked(struct zeta_intel_sampler *sampler)
{
    struct zeta_intel_mark **link = &sampler->pending;

    while (*link) {
        struct zeta_intel_mark *mark = *link;

        if (sampler->totals.ticks < mark->ticks) {
            link = &mark->next;
            continue;
        }
        *link = mark->next;
        settle_locked(sampler, mark, sampler->totals.ticks);
    }
}

/*
 * All reports up to the time of the clock were read. Marks that got none for long enough are of a
 * GPU that sleeps: nothing was counted since the last report.
 */
static void settle_asleep_locked(struct zeta_intel_sampler *sampler, uint64_t clock_ticks)
{
    struct zeta_intel_mark **link = &sampler->pending;
    bool any = false;

    while (*link) {
        struct zeta_intel_mark *mark = *link;

        if ((!sampler->totals.is_started && !mark->is_end) || clock_ticks < mark->ticks ||
            clock_ticks - mark->ticks < sampler->sleep_ticks) {
            link = &mark->next;
            continue;
        }
        *link = mark->next;
        settle_locked(sampler, mark, mark->ticks);
        any = true;
    }
    if (any)
        (void)pthread_cond_broadcast(&sampler->settled);
}

/* Whether the clock was set since the last reading. */
static bool has_jumped(const struct zeta_intel_sampler *sampler, const struct reading *now)
{
    const struct reading *last = &sampler->clock;
    const uint64_t hz = sampler->unit->timestamp_hz;
    const uint64_t passed_ns = now->host_ns > last->host_ns ? now->host_ns - last->host_ns : 0;

    return last->host_ns != 0 && (now->ticks < last->ticks ||
                                  (now->ticks - last->ticks) / hz > passed_ns / SECOND_NS + JUMP_S);
}

/*
 * The device was reset: no report will come for the marks left before, and the next one begins
 * anew. An end has what was counted until the last report, and something is missing behind that.
 */
static void settle_reset_locked(struct zeta_intel_sampler *sampler, uint64_t clock_ticks)
{
    struct zeta_intel_mark **link = &sampler->pending;

    while (*link) {
        struct zeta_intel_mark *mark = *link;

        if (!sampler->totals.is_started && !mark->is_end) {
            mark->ticks = clock_ticks; /* waits for the first report, which will be later */
            link = &mark->next;
            continue;
        }
        *link = mark->next;
        settle_locked(sampler, mark, sampler->totals.ticks);
        mark->breaks += mark->is_end;
    }
    zeta_intel_totals_break(&sampler->totals);
    (void)pthread_cond_broadcast(&sampler->settled);
}

/* Reads the clock for what is read next. */
static uint32_t look_at_clock(struct zeta_intel_sampler *sampler, uint64_t *out_ticks)
{
    struct reading now = {0, 0};
    uint32_t result;

    (void)pthread_mutex_lock(&sampler->lock);
    result = read_clock(sampler, &now);
    if (result == ZETA_PLUGIN_SUCCESS) {
        if (has_jumped(sampler, &now))
            settle_reset_locked(sampler, now.ticks);
        sampler->clock = now;
    }
    (void)pthread_mutex_unlock(&sampler->lock);
    *out_ticks = now.ticks;
    return result;
}

static void fail_locked(struct zeta_intel_sampler *sampler)
{
    sampler->has_failed = true;
    while (sampler->pending) {
        sampler->pending->state = ZETA_INTEL_MARK_LOST;
        sampler->pending = sampler->pending->next;
    }
    (void)pthread_cond_broadcast(&sampler->settled);
}

/* ---- thread ------------------------------------------------------------------------------- */

static void add_reports(struct zeta_intel_sampler *sampler, const struct zeta_plugin_read *read,
                        uint64_t clock_ticks)
{
    const uint32_t report_bytes = sampler->totals.report_bytes;

    (void)pthread_mutex_lock(&sampler->lock);
    const bool waited = sampler->pending != NULL;
    if (read->broken)
        zeta_intel_totals_break(&sampler->totals);
    for (uint64_t at = 0; at + report_bytes <= read->bytes; at += report_bytes) {
        zeta_intel_totals_add(&sampler->totals, sampler->buffer + at, clock_ticks);
        if (sampler->pending)
            settle_reached_locked(sampler);
    }
    if (waited)
        (void)pthread_cond_broadcast(&sampler->settled);
    (void)pthread_mutex_unlock(&sampler->lock);
}

/* Reads what there is; false when the stream failed. */
static bool drain(struct zeta_intel_sampler *sampler)
{
    struct zeta_intel_kernel_stream *stream = sampler->stream;
    struct zeta_plugin_read read = {.struct_size = sizeof(read)};
    uint64_t clock_ticks = 0;

    if (look_at_clock(sampler, &clock_ticks) != ZETA_PLUGIN_SUCCESS)
        return false;
    do {
        read = (struct zeta_plugin_read){.struct_size = sizeof(read)};
        if (sampler->device->gpu->kmd->stream_read(stream, sampler->buffer, BUFFER_BYTES, &read) !=
            ZETA_PLUGIN_SUCCESS)
            return false;
        if (read.bytes > 0 || read.broken)
            add_reports(sampler, &read, clock_ticks);
    } while (read.bytes > 0 && !atomic_load(&sampler->stopping));
    (void)pthread_mutex_lock(&sampler->lock);
    settle_asleep_locked(sampler, clock_ticks);
    (void)pthread_mutex_unlock(&sampler->lock);
    return true;
}

static void wait_for_reports(struct zeta_intel_sampler *sampler)
{
    struct pollfd files[2] = {{.fd = sampler->stream->fd, .events = POLLIN},
                              {.fd = sampler->wake_fd, .events = POLLIN}};
    uint64_t count;

    (void)pthread_mutex_lock(&sampler->lock);
    const int timeout_ms = sampler->pending ? LOOK_MS : -1; /* also where none come */
    (void)pthread_mutex_unlock(&sampler->lock);
    (void)poll(files, 2, timeout_ms);
    if (files[1].revents)
        (void)!read(sampler->wake_fd, &count, sizeof(count));
}

static void *sampler_main(void *argument)
{
    struct zeta_intel_sampler *sampler = argument;

    (void)pthread_setname_np(pthread_self(), "intel-queries");
    while (!atomic_load(&sampler->stopping) && drain(sampler))
        wait_for_reports(sampler);
    if (!atomic_load(&sampler->stopping)) {
        (void)pthread_mutex_lock(&sampler->lock);
        fail_locked(sampler);
        (void)pthread_mutex_unlock(&sampler->lock);
    }
    return NULL;
}

static void wake(const struct zeta_intel_sampler *sampler)
{
    const uint64_t one = 1;

    (void)!write(sampler->wake_fd, &one, sizeof(one));
}

/* With every signal blocked: handlers are the application's business. */
static uint32_t start_thread(struct zeta_intel_sampler *sampler)
{
    sigset_t all, before;
    int error;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&sampler->thread, NULL, sampler_main, sampler);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0)
        return ZETA_PLUGIN_SUCCESS;
    return zeta_intel_fail(sampler->device->gpu->intel, ZETA_PLUGIN_OUT_OF_HOST_MEMORY,
                           "%s: the thread that reads reports for queries cannot be started: %s; "
                           "raise the limit of processes (ulimit -u) or free memory",
                           sampler->device->id, strerrordesc_np(error));
}

/* ---- making ------------------------------------------------------------------------------- */

/* The kernel's word for the reports of a unit. */
static uint32_t choose_format(const struct zeta_intel_sampler *sampler,
                              struct zeta_intel_stream_wish *wish)
{
    const struct zeta_intel_gpu *gpu = sampler->device->gpu;
    const struct zeta_intel_format *format = &gpu->platform->formats[sampler->unit->kind];
    const bool is_i915 = gpu->kmd == &zeta_intel_i915;

    wish->format = is_i915 ? format->i915 : format->xe;
    wish->record_bytes = format->record_bytes;
    if ((is_i915 ? format->i915 != 0 : format->has_xe) &&
        format->record_bytes == sampler->totals.report_bytes)
        return ZETA_PLUGIN_SUCCESS;
    return zeta_intel_fail(gpu->intel, ZETA_PLUGIN_INVALID_ARGUMENT,
                           "%s: reports of the unit %s have %u bytes, those of the set file %u",
                           sampler->device->id, sampler->unit->name, format->record_bytes,
                           sampler->totals.report_bytes);
}

/* A stream or other queries of this process have the unit. */
static uint32_t refuse_taken(const struct zeta_intel_sampler *sampler,
                             const struct zeta_plugin_query_desc *desc)
{
    struct zeta_intel_gpu *gpu = sampler->device->gpu;
    struct zeta_intel_use use;

    (void)pthread_mutex_lock(&gpu->intel->lock);
    memcpy(use.holder, gpu->uses[sampler->unit - gpu->units].holder, sizeof(use.holder));
    (void)pthread_mutex_unlock(&gpu->intel->lock);
    return zeta_intel_fail(gpu->intel, ZETA_PLUGIN_NOT_AVAILABLE,
                           "%s: queries of %.*s need the whole unit %s, and %s of this process has "
                           "it; end that first",
                           sampler->device->id, zeta_string_shown(desc->set), desc->set.data,
                           sampler->unit->name, use.holder);
}

/* Once more with what the kernel lets everybody have, if that is enough and was not it. */
static uint32_t open_slower(struct zeta_intel_sampler *sampler, struct zeta_intel_stream_wish *wish,
                            const char *holder)
{
    const uint32_t exponent = choose_exponent(sampler->device, sampler->unit, true);

    if (exponent <= wish->exponent ||
        zeta_intel_period_ns(sampler->unit, exponent) > longest_period_ns(sampler->device))
        return ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS;
    wish->exponent = exponent;
    return zeta_intel_unit_open(sampler->device->gpu, wish, holder, &sampler->stream);
}

static uint32_t open_stream(struct zeta_intel_sampler *sampler,
                            const struct zeta_plugin_query_desc *desc)
{
    struct zeta_intel_gpu *gpu = sampler->device->gpu;
    struct zeta_intel_stream_wish wish = {
        .unit = sampler->unit, .exponent = choose_exponent(sampler->device, sampler->unit, false)};
    struct zeta_intel_program program = {0};
    char holder[96];
    uint32_t result = choose_format(sampler, &wish);

    say_if_setting_is_bad(gpu->intel);
    if (result == ZETA_PLUGIN_SUCCESS)
        result = zeta_intel_program_make(gpu, &desc->program, desc->set, desc->uuid, &program);
    if (result != ZETA_PLUGIN_SUCCESS) {
        zeta_intel_program_finish(&program);
        return result;
    }
    wish.program = &program;
    wish.notify_records =
        LOOK_MS * UINT64_C(1000000) / zeta_intel_period_ns(sampler->unit, wish.exponent) + 1;
    (void)snprintf(holder, sizeof(holder), "query pools of %.*s",
                   desc->set.size > 64 ? 64 : (int)desc->set.size, desc->set.data);
    result = zeta_intel_unit_open(gpu, &wish, holder, &sampler->stream);
    if (result == ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS)
        result = open_slower(sampler, &wish, holder);
    zeta_intel_program_finish(&program);
    if (result == ZETA_PLUGIN_HANDLE_OBJECT_IN_USE)
        return refuse_taken(sampler, desc);
    uint64_t sleep_ns = SLEEP_PERIODS * zeta_intel_period_ns(sampler->unit, wish.exponent);
    if (sleep_ns < SLEEP_NS)
        sleep_ns = SLEEP_NS;
    sampler->sleep_ticks = divide_up(sleep_ns * (sampler->unit->timestamp_hz / 1000), 1000000);
    return result;
}

static void destroy(struct zeta_intel_sampler *sampler)
{
    if (sampler->stream)
        zeta_intel_unit_close(sampler->stream);
    if (sampler->wake_fd >= 0)
        (void)close(sampler->wake_fd);
    zeta_intel_totals_finish(&sampler->totals);
    (void)pthread_cond_destroy(&sampler->settled);
    (void)pthread_mutex_destroy(&sampler->lock);
    free(sampler->buffer);
    free(sampler);
}

static void init_sync(struct zeta_intel_sampler *sampler)
{
    pthread_condattr_t attributes;

    (void)pthread_mutex_init(&sampler->lock, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&sampler->settled, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

static uint32_t prepare(struct zeta_intel_sampler *sampler,
                        const struct zeta_plugin_query_desc *desc)
{
    const struct zeta_intel_gpu *gpu = sampler->device->gpu;
    uint32_t result = zeta_intel_totals_init(&sampler->totals, &desc->fields, desc->report_bytes,
                                             gpu->platform->graphics);

    if (result == ZETA_PLUGIN_INVALID_ARGUMENT)
        return zeta_intel_fail(gpu->intel, result,
                               "%s: the layout of the set %.*s has no running header field ticks, "
                               "or fields outside of the %u bytes of a report",
                               sampler->device->id, zeta_string_shown(desc->set), desc->set.data,
                               desc->report_bytes);
    sampler->buffer = malloc(BUFFER_BYTES + sizeof(uint64_t));
    sampler->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (result == ZETA_PLUGIN_SUCCESS && (!sampler->buffer || sampler->wake_fd < 0))
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    return result;
}

static uint32_t create(struct zeta_plugin_device *device, const struct zeta_intel_unit *unit,
                       const struct zeta_plugin_query_desc *desc,
                       struct zeta_intel_sampler **out_sampler)
{
    struct zeta_intel_sampler *sampler = calloc(1, sizeof(*sampler));
    uint32_t result;

    if (!sampler)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    sampler->device = device;
    sampler->unit = unit;
    sampler->wake_fd = -1;
    (void)snprintf(sampler->digest, sizeof(sampler->digest), "%.*s",
                   desc->digest.size < DIGEST_BYTES ? (int)desc->digest.size : 0,
                   desc->digest.data);
    init_sync(sampler);
    result = prepare(sampler, desc);
    if (result == ZETA_PLUGIN_SUCCESS)
        result = open_stream(sampler, desc);
    if (result == ZETA_PLUGIN_SUCCESS)
        result = start_thread(sampler);
    if (result != ZETA_PLUGIN_SUCCESS)
        destroy(sampler);
    else
        *out_sampler = sampler;
    return result;
}

/* Equal programs have equal reports, unless set files describe them in different ways. */
static bool serves(const struct zeta_intel_sampler *sampler,
                   const struct zeta_plugin_device *device, const struct zeta_intel_unit *unit,
                   const struct zeta_plugin_query_desc *desc)
{
    return sampler->device->gpu == device->gpu && sampler->unit == unit &&
           sampler->totals.count == desc->fields.count &&
           sampler->totals.report_bytes == desc->report_bytes &&
           zeta_string_is(desc->digest, sampler->digest);
}

static uint32_t join_locked(struct zeta_intel_sampler *sampler)
{
    (void)pthread_mutex_lock(&sampler->lock);
    const bool has_failed = sampler->has_failed;
    (void)pthread_mutex_unlock(&sampler->lock);
    if (has_failed)
        return zeta_intel_fail(sampler->device->gpu->intel, ZETA_PLUGIN_NOT_AVAILABLE,
                               "%s: the kernel ended the stream of the unit %s that queries need; "
                               "destroy the pools that used it first",
                               sampler->device->id, sampler->unit->name);
    sampler->users++;
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t zeta_intel_sampler_get(struct zeta_plugin_device *device,
                                const struct zeta_plugin_query_desc *desc,
                                struct zeta_intel_sampler **out_sampler)
{
    struct zeta_intel *intel = device->gpu->intel;
    const struct zeta_intel_unit *unit = NULL;
    uint32_t result = zeta_intel_unit_get(device, desc->unit, &unit);

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    (void)pthread_mutex_lock(&intel->sampler_lock);
    struct zeta_intel_sampler *sampler = intel->samplers;
    while (sampler && !serves(sampler, device, unit, desc))
        sampler = sampler->next;
    if (sampler) {
        result = join_locked(sampler);
    } else {
        result = create(device, unit, desc, &sampler);
        if (result == ZETA_PLUGIN_SUCCESS) {
            sampler->users = 1;
            sampler->next = intel->samplers;
            intel->samplers = sampler;
        }
    }
    (void)pthread_mutex_unlock(&intel->sampler_lock);
    if (result == ZETA_PLUGIN_SUCCESS)
        *out_sampler = sampler;
    return result;
}

void zeta_intel_sampler_put(struct zeta_intel_sampler *sampler)
{
    struct zeta_intel *intel = sampler->device->gpu->intel;
    struct zeta_intel_sampler **link = &intel->samplers;

    (void)pthread_mutex_lock(&intel->sampler_lock);
    if (--sampler->users == 0) {
        while (*link != sampler)
            link = &(*link)->next;
        *link = sampler->next;
        atomic_store(&sampler->stopping, true);
        wake(sampler);
        (void)pthread_join(sampler->thread, NULL);
        destroy(sampler);
    }
    (void)pthread_mutex_unlock(&intel->sampler_lock);
}

void zeta_intel_samplers_end(struct zeta_intel *intel)
{
    while (intel->samplers) {
        intel->samplers->users = 1;
        zeta_intel_sampler_put(intel->samplers);
    }
}

/* The list is whole at any time: one write adds a sampler that is ready, one takes it out. */
void zeta_intel_samplers_forget(struct zeta_intel *intel)
{
    for (struct zeta_intel_sampler *sampler = intel->samplers; sampler; sampler = sampler->next)
        (void)close(sampler->wake_fd);
    intel->samplers = NULL;
}

/* ---- what pools ask ----------------------------------------------------------------------- */

uint64_t zeta_intel_sampler_hz(const struct zeta_intel_sampler *sampler)
{
    return sampler->unit->timestamp_hz;
}

uint64_t zeta_intel_sampler_difference(const struct zeta_intel_sampler *sampler, uint32_t field,
                                       uint64_t begin, uint64_t end)
{
    return zeta_intel_field_difference(&sampler->totals.fields[field], begin, end);
}

/*
 * The clock is read under the lock, under which reports are added: none that is later than the mark
 * was added before.
 */
uint32_t zeta_intel_sampler_mark(struct zeta_intel_sampler *sampler, struct zeta_intel_mark *mark)
{
    struct reading now = {0, 0};
    uint32_t result;

    (void)pthread_mutex_lock(&sampler->lock);
    result = read_clock(sampler, &now);
    mark->ticks = now.ticks;
    if (result == ZETA_PLUGIN_SUCCESS && sampler->has_failed) {
        mark->state = ZETA_INTEL_MARK_LOST;
    } else if (result == ZETA_PLUGIN_SUCCESS) {
        mark->state = ZETA_INTEL_MARK_PENDING;
        mark->next = sampler->pending;
        sampler->pending = mark;
    }
    (void)pthread_mutex_unlock(&sampler->lock);
    wake(sampler);
    return result;
}

void zeta_intel_sampler_unmark(struct zeta_intel_sampler *sampler, struct zeta_intel_mark *mark)
{
    struct zeta_intel_mark **link = &sampler->pending;

    (void)pthread_mutex_lock(&sampler->lock);
    while (*link && *link != mark)
        link = &(*link)->next;
    if (*link)
        *link = mark->next;
    mark->state = ZETA_INTEL_MARK_NONE;
    (void)pthread_mutex_unlock(&sampler->lock);
}

enum zeta_intel_mark_state zeta_intel_sampler_state(struct zeta_intel_sampler *sampler,
                                                    const struct zeta_intel_mark *mark)
{
    enum zeta_intel_mark_state state;

    (void)pthread_mutex_lock(&sampler->lock);
    state = mark->state;
    (void)pthread_mutex_unlock(&sampler->lock);
    return state;
}

bool zeta_intel_sampler_wait(struct zeta_intel_sampler *sampler, const struct zeta_intel_mark *mark,
                             uint64_t timeout_ns)
{
    struct timespec until;
    int error = 0;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    const uint64_t nanoseconds = (uint64_t)until.tv_nsec + timeout_ns;
    until.tv_sec += (time_t)(nanoseconds / SECOND_NS);
    until.tv_nsec = (long)(nanoseconds % SECOND_NS);
    (void)pthread_mutex_lock(&sampler->lock);
    while (mark->state == ZETA_INTEL_MARK_PENDING && error == 0)
        error = pthread_cond_timedwait(&sampler->settled, &sampler->lock, &until);
    const bool is_over = mark->state != ZETA_INTEL_MARK_PENDING;
    (void)pthread_mutex_unlock(&sampler->lock);
    return is_over;
}
