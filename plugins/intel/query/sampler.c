#include "plugins/intel/query/sampler.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <zeta/descriptor.h>
#include <zeta/intel_gpu.h>
#include <zeta/plugin_host.h>
#include <zeta/thread.h>

/* A clock that is so much ahead of the host's was set: the device was reset, and with it counters.
 */
#define JUMP_S 60u

/* The kernel polls for reports 200 times a second. None for this long: none will come. */
#define SLEEP_NS UINT64_C(50000000)
#define SLEEP_PERIODS 8u

/* ---- marks -------------------------------------------------------------------------------- */

/* The time of the report that will settle a mark first; with no mark later than any. */
static uint64_t earliest_locked(const struct zeta_intel_sampler *sampler)
{
    uint64_t ticks = UINT64_MAX;

    for (const struct zeta_intel_mark *mark = sampler->pending; mark; mark = mark->next)
        ticks = mark->ticks < ticks ? mark->ticks : ticks;
    return ticks;
}

/* Why marks get the totals of now. */
enum cause {
    BY_REPORT, /* the last report is late enough */
    BY_SLEEP,  /* all reports until clock_ticks were read, and none came for so long that the GPU
                  sleeps: nothing was counted since the last report */
    BY_RESET   /* no report will come for marks from before; an end has what was counted until the
                  last report, and something is missing behind that */
};

static void settle_locked(struct zeta_intel_sampler *sampler, enum cause cause,
                          uint64_t clock_ticks)
{
    const struct zeta_intel_totals *totals = &sampler->totals;
    struct zeta_intel_mark **link = &sampler->pending;
    bool any = false;

    while (*link) {
        struct zeta_intel_mark *mark = *link;
        bool is_due = true;

        if (cause == BY_REPORT)
            is_due = mark->ticks <= totals->ticks;
        else if (!totals->is_started && !mark->is_end)
            is_due = false; /* a begin before the first report waits for that */
        else if (cause == BY_SLEEP)
            is_due =
                clock_ticks >= mark->ticks && clock_ticks - mark->ticks >= sampler->sleep_ticks;
        if (!is_due) {
            if (cause == BY_RESET)
                mark->ticks = mark->left_ticks = clock_ticks;
            link = &mark->next;
            continue;
        }
        *link = mark->next;
        if (cause != BY_SLEEP)
            mark->ticks = totals->ticks;
        mark->breaks = totals->breaks + (cause == BY_RESET && mark->is_end);
        mark->switches = totals->switches;
        zeta_intel_totals_copy(totals, mark->values);
        mark->state = ZETA_INTEL_MARK_SETTLED;
        any = true;
    }
    if (any)
        (void)pthread_cond_broadcast(&sampler->settled);
}

/* Whether the clock was set since the last reading. */
static bool has_jumped(const struct zeta_intel_sampler *sampler,
                       const struct zeta_intel_reading *now)
{
    const struct zeta_intel_reading *last = &sampler->clock;
    const uint64_t hz = sampler->unit->timestamp_hz;
    const uint64_t passed_ns = now->host_ns > last->host_ns ? now->host_ns - last->host_ns : 0;

    return last->host_ns != 0 &&
           (now->ticks < last->ticks ||
            (now->ticks - last->ticks) / hz > passed_ns / ZETA_NS_PER_S + JUMP_S);
}

/* ---- thread ------------------------------------------------------------------------------- */

static void add_reports_locked(struct zeta_intel_sampler *sampler,
                               const struct zeta_plugin_read *read, uint64_t clock_ticks)
{
    struct zeta_intel_totals *totals = &sampler->totals;
    const uint32_t count = (uint32_t)(read->bytes / totals->report_bytes);

    if (read->broken)
        zeta_intel_totals_break(totals);
    if (sampler->stream->loss != ZETA_PLUGIN_BREAK_NONE)
        zeta_intel_totals_lose(totals, sampler->stream->tells_loss_once ? UINT64_MAX : clock_ticks);
    sampler->stream->loss = ZETA_PLUGIN_BREAK_NONE;
    for (uint32_t done = 0; done < count;) {
        done += zeta_intel_totals_add(totals, sampler->buffer + (size_t)done * totals->report_bytes,
                                      count - done, clock_ticks, earliest_locked(sampler));
        settle_locked(sampler, BY_REPORT, clock_ticks);
    }
}

/*
 * The clock is read after reports, so that it shows a reset that they come after; those of such a
 * read may be from both sides, and are not counted. All of it under one lock: a mark is left either
 * before this or when what was read is counted already. So no report from before a reset settles a
 * mark from after it.
 *
 * @read      what was read since the call before; NULL: nothing yet
 * @io_ticks  the time of the call before, then that of this one
 */
static uint32_t count_read(struct zeta_intel_sampler *sampler, const struct zeta_plugin_read *read,
                           uint64_t *io_ticks)
{
    struct zeta_intel_reading now = {0, 0};

    (void)pthread_mutex_lock(&sampler->lock);
    const uint32_t result = zeta_intel_unit_clock(sampler->device, sampler->unit, &now);
    if (result == ZETA_PLUGIN_SUCCESS) {
        if (has_jumped(sampler, &now)) {
            settle_locked(sampler, BY_RESET, now.ticks);
            zeta_intel_totals_break(&sampler->totals);
        } else if (read) {
            add_reports_locked(sampler, read, now.ticks);
            if (read->bytes == 0)
                settle_locked(sampler, BY_SLEEP, *io_ticks);
        }
        sampler->clock = now;
    }
    (void)pthread_mutex_unlock(&sampler->lock);
    *io_ticks = now.ticks;
    return result;
}

/* Reads what there is; false when the stream failed. */
static bool drain(struct zeta_intel_sampler *sampler)
{
    const struct zeta_intel_kmd *kmd = sampler->device->gpu->kmd;
    struct zeta_plugin_read read;
    uint64_t ticks = 0;

    if (count_read(sampler, NULL, &ticks) != ZETA_PLUGIN_SUCCESS)
        return false;
    do {
        read = (struct zeta_plugin_read){.struct_size = sizeof(read)};
        if (kmd->stream_read(sampler->stream, sampler->buffer, ZETA_INTEL_SAMPLER_BYTES, &read) !=
                ZETA_PLUGIN_SUCCESS ||
            count_read(sampler, &read, &ticks) != ZETA_PLUGIN_SUCCESS)
            return false;
    } while (read.bytes > 0 && !atomic_load(&sampler->stopping));
    return true;
}

static void wait_for_reports(struct zeta_intel_sampler *sampler)
{
    struct pollfd files[2] = {{.fd = sampler->stream->fd, .events = POLLIN},
                              {.fd = sampler->wake_fd, .events = POLLIN}};
    uint64_t count;

    (void)pthread_mutex_lock(&sampler->lock);
    const int timeout_ms =
        sampler->pending ? ZETA_INTEL_SAMPLER_POLL_MS : -1; /* also where none come */
    (void)pthread_mutex_unlock(&sampler->lock);
    (void)poll(files, 2, timeout_ms);
    if (files[1].revents)
        (void)!read(sampler->wake_fd, &count, sizeof(count));
}

static void *sampler_main(void *argument)
{
    struct zeta_intel_sampler *sampler = argument;

    while (!atomic_load(&sampler->stopping) && drain(sampler))
        wait_for_reports(sampler);
    if (!atomic_load(&sampler->stopping)) { /* the stream failed */
        (void)pthread_mutex_lock(&sampler->lock);
        sampler->has_failed = true;
        for (; sampler->pending; sampler->pending = sampler->pending->next)
            sampler->pending->state = ZETA_INTEL_MARK_LOST;
        (void)pthread_cond_broadcast(&sampler->settled);
        (void)pthread_mutex_unlock(&sampler->lock);
    }
    return NULL;
}

static void wake(const struct zeta_intel_sampler *sampler)
{
    const uint64_t one = 1;

    (void)!write(sampler->wake_fd, &one, sizeof(one));
}

/* ---- what pools ask ----------------------------------------------------------------------- */

/*
 * The clock is read under the lock, under which reports are added: none that is later than the mark
 * was added before.
 */
uint32_t zeta_intel_sampler_mark(struct zeta_intel_sampler *sampler, struct zeta_intel_mark *mark)
{
    struct zeta_intel_reading now = {0, 0};
    uint32_t result;

    (void)pthread_mutex_lock(&sampler->lock);
    result = zeta_intel_unit_clock(sampler->device, sampler->unit, &now);
    mark->ticks = mark->left_ticks = now.ticks;
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

static void remove_locked(struct zeta_intel_sampler *sampler, struct zeta_intel_mark *mark)
{
    struct zeta_intel_mark **link = &sampler->pending;

    while (*link && *link != mark)
        link = &(*link)->next;
    if (*link)
        *link = mark->next;
    mark->state = ZETA_INTEL_MARK_NONE;
}

void zeta_intel_sampler_unmark(struct zeta_intel_sampler *sampler, struct zeta_intel_mark *mark)
{
    (void)pthread_mutex_lock(&sampler->lock);
    remove_locked(sampler, mark);
    (void)pthread_mutex_unlock(&sampler->lock);
}

enum zeta_intel_mark_state zeta_intel_sampler_collect(struct zeta_intel_sampler *sampler,
                                                      struct zeta_intel_mark *begin,
                                                      const struct zeta_intel_mark *end,
                                                      enum zeta_intel_mark_state *out_begin)
{
    (void)pthread_mutex_lock(&sampler->lock);
    const enum zeta_intel_mark_state state = end->state;
    *out_begin = begin->state;
    if (state == ZETA_INTEL_MARK_SETTLED && begin->state == ZETA_INTEL_MARK_PENDING)
        remove_locked(sampler, begin);
    (void)pthread_mutex_unlock(&sampler->lock);
    return state;
}

bool zeta_intel_sampler_stands_still(struct zeta_intel_sampler *sampler,
                                     const struct zeta_intel_mark *mark)
{
    struct zeta_intel_reading now = {0, 0};

    (void)pthread_mutex_lock(&sampler->lock);
    const bool is_still =
        zeta_intel_unit_clock(sampler->device, sampler->unit, &now) == ZETA_PLUGIN_SUCCESS &&
        now.ticks >= mark->ticks && now.ticks - mark->ticks < sampler->sleep_ticks;
    (void)pthread_mutex_unlock(&sampler->lock);
    return is_still;
}

bool zeta_intel_sampler_wait(struct zeta_intel_sampler *sampler, const struct zeta_intel_mark *mark,
                             uint64_t timeout_ns)
{
    const struct timespec until = zeta_clock_timespec(zeta_clock_deadline(timeout_ns));
    int error = 0;

    (void)pthread_mutex_lock(&sampler->lock);
    while (mark->state == ZETA_INTEL_MARK_PENDING && error == 0)
        error = pthread_cond_timedwait(&sampler->settled, &sampler->lock, &until);
    const bool is_over = mark->state != ZETA_INTEL_MARK_PENDING;
    (void)pthread_mutex_unlock(&sampler->lock);
    return is_over;
}

/* ---- periods ------------------------------------------------------------------------------ */

/*
 * How often reports come unless the setting query_period_ns says otherwise: ends of queries are
 * right to that time. 10 kHz is a tenth of what i915 allows everybody, 2.5 MB/s of reports of 256
 * bytes, less than a hundredth of a core to add them up, and often enough for the counters of all
 * GPUs.
 */
#define PERIOD_NS UINT64_C(100000)

/*
 * Counters that add up all EUs count fastest. Half of the time in which one of 32 bits comes
 * around, so that one late report is no harm.
 */
uint64_t zeta_intel_sampler_longest_ns(const struct zeta_plugin_device *device)
{
    const struct zeta_intel_tile *tile = zeta_intel_device_tile(device);
    const struct zeta_intel_rates rates =
        zeta_intel_rates(&tile->topology, tile->fastest_hz, tile->fastest_media_hz);

    return (uint64_t)(4294967296.0 / (double)rates.eus / 2 * 1e9);
}

/* What the user wants; a text that is no period counts as not set. */
static uint64_t read_setting(const struct zeta_intel *intel, bool warns)
{
    char text[32], *end = NULL;
    unsigned long long value;

    if (!zeta_host_setting(intel->host, "query_period_ns", text, sizeof(text)))
        return PERIOD_NS;
    errno = 0;
    value = strtoull(text, &end, 10);
    if (errno == 0 && end != text && *end == '\0' && text[0] != '-' && value != 0)
        return value;
    if (warns)
        zeta_host_log(intel->host, ZETA_PLUGIN_LOG_WARN,
                      "query_period_ns is \"%s\", which is no number of nanoseconds above 0; "
                      "queries use %llu",
                      text, (unsigned long long)PERIOD_NS);
    return PERIOD_NS;
}

/*
 * The largest exponent whose period is neither above the wanted one nor above the longest, but no
 * faster than the kernel lets this process, or everybody, have reports.
 */
static uint32_t choose_exponent(const struct zeta_plugin_device *device,
                                const struct zeta_intel_unit *unit, bool for_everybody)
{
    const uint64_t longest_ns = zeta_intel_sampler_longest_ns(device);
    const uint64_t wanted_ns = read_setting(device->gpu->intel, false);
    const uint64_t period_ns = wanted_ns < longest_ns ? wanted_ns : longest_ns;
    uint32_t exponent = zeta_intel_period_least(device->gpu, unit, for_everybody);

    while (exponent < ZETA_INTEL_EXPONENTS - 1 &&
           zeta_intel_period_ns(unit, exponent + 1) <= period_ns)
        exponent++;
    return exponent;
}

bool zeta_intel_sampler_is_possible(const struct zeta_plugin_device *device,
                                    const struct zeta_intel_unit *unit)
{
    return zeta_intel_period_ns(unit, choose_exponent(device, unit, false)) <=
           zeta_intel_sampler_longest_ns(device);
}

/* ---- making ------------------------------------------------------------------------------- */

/*
 * Opens with the period chosen; when the kernel does not let this process sample so fast, with what
 * it lets everybody, if that is enough and was not it.
 */
static uint32_t open_stream(struct zeta_intel_sampler *sampler,
                            const struct zeta_plugin_query_desc *desc)
{
    const struct zeta_intel_unit *unit = sampler->unit;
    const uint64_t longest_ns = zeta_intel_sampler_longest_ns(sampler->device);
    struct zeta_intel_gpu *gpu = sampler->device->gpu;
    struct zeta_intel_stream_request request = {
        .unit = unit, .exponent = choose_exponent(sampler->device, unit, false)};
    struct zeta_intel_program program = {0};
    char holder[sizeof(gpu->uses[0].holder)];
    uint32_t slower;
    uint64_t sleep_ns;
    uint32_t result =
        zeta_intel_unit_reports(sampler->device, desc->set, desc->report_bytes, &request);

    (void)read_setting(gpu->intel, true);
    if (result == ZETA_PLUGIN_SUCCESS)
        result = zeta_intel_program_make(gpu, &desc->program, desc->set, desc->uuid, &program);
    if (result != ZETA_PLUGIN_SUCCESS)
        goto finish;
    request.program = &program;
    request.notify_records = ZETA_INTEL_SAMPLER_POLL_MS * UINT64_C(1000000) /
                                 zeta_intel_period_ns(unit, request.exponent) +
                             1;
    (void)snprintf(holder, sizeof(holder), "query pools of %.*s",
                   desc->set.size > 64 ? 64 : (int)desc->set.size, desc->set.data);
    result = zeta_intel_unit_open(gpu, &request, holder, &sampler->stream);
    slower = choose_exponent(sampler->device, unit, true);
    if (result == ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS && slower > request.exponent &&
        zeta_intel_period_ns(unit, slower) <= longest_ns) {
        request.exponent = slower;
        result = zeta_intel_unit_open(gpu, &request, holder, &sampler->stream);
    }
    if (result == ZETA_PLUGIN_HANDLE_OBJECT_IN_USE) {
        (void)pthread_mutex_lock(&gpu->intel->lock);
        memcpy(holder, gpu->uses[unit - gpu->units].holder, sizeof(holder));
        (void)pthread_mutex_unlock(&gpu->intel->lock);
        result = zeta_host_fail(gpu->host, ZETA_PLUGIN_NOT_AVAILABLE,
                                "%s: queries of %.*s need the whole unit %s, and %s of this "
                                "process has it; end that first",
                                sampler->device->id, zeta_string_shown(desc->set), desc->set.data,
                                unit->name, holder);
    }
    sleep_ns = SLEEP_PERIODS * zeta_intel_period_ns(unit, request.exponent);
    if (sleep_ns < SLEEP_NS)
        sleep_ns = SLEEP_NS;
    sampler->sleep_ticks = (sleep_ns * (unit->timestamp_hz / 1000) + 999999) / 1000000;
    /* The longest period is half of the time in which a counter wraps. */
    sampler->totals.gap_ticks = 2 * longest_ns * (unit->timestamp_hz / 1000) / 1000000;

finish:
    zeta_intel_program_finish(&program);
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

static uint32_t create(struct zeta_plugin_device *device, const struct zeta_intel_unit *unit,
                       const struct zeta_plugin_query_desc *desc,
                       struct zeta_intel_sampler **out_sampler)
{
    struct zeta_intel_sampler *sampler = calloc(1, sizeof(*sampler));
    const struct zeta_intel_gpu *gpu = device->gpu;
    uint32_t result;
    int error;

    if (!sampler)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    sampler->device = device;
    sampler->unit = unit;
    (void)snprintf(sampler->digest, sizeof(sampler->digest), "%.*s",
                   desc->digest.size < sizeof(sampler->digest) ? (int)desc->digest.size : 0,
                   desc->digest.data);
    (void)pthread_mutex_init(&sampler->lock, NULL);
    zeta_condition_init(&sampler->settled);
    sampler->buffer = malloc(ZETA_INTEL_SAMPLER_BYTES + ZETA_INTEL_REPORT_SLACK);
    sampler->wake_fd = zeta_descriptor_raise(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    result = zeta_intel_totals_init(&sampler->totals, &desc->fields, desc->report_bytes,
                                    gpu->platform->formats[unit->kind].clock_bits);
    if (result == ZETA_PLUGIN_INVALID_ARGUMENT)
        (void)zeta_host_fail(gpu->host, result,
                             "%s: the layout of the set %.*s has no running header field ticks, "
                             "or fields outside of the %u bytes of a report",
                             device->id, zeta_string_shown(desc->set), desc->set.data,
                             desc->report_bytes);
    else if (!sampler->buffer || sampler->wake_fd < 0)
        result = ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    if (result == ZETA_PLUGIN_SUCCESS)
        result = open_stream(sampler, desc);
    if (result != ZETA_PLUGIN_SUCCESS)
        goto fail;
    error = zeta_thread_start(&sampler->thread, sampler_main, sampler, "intel-queries");
    if (error == 0) {
        *out_sampler = sampler;
        return ZETA_PLUGIN_SUCCESS;
    }
    result = zeta_host_fail(gpu->host, ZETA_PLUGIN_OUT_OF_HOST_MEMORY,
                            "%s: the thread that reads reports for queries cannot be started: %s; "
                            "raise the limit of processes (ulimit -u) or free memory",
                            device->id, strerrordesc_np(error));

fail:
    destroy(sampler);
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
        (void)pthread_mutex_lock(&sampler->lock);
        if (sampler->has_failed)
            result = zeta_host_fail(device->gpu->host, ZETA_PLUGIN_NOT_AVAILABLE,
                                    "%s: the kernel ended the stream of the unit %s that queries "
                                    "need; destroy the pools that used it first",
                                    device->id, unit->name);
        (void)pthread_mutex_unlock(&sampler->lock);
    } else {
        result = create(device, unit, desc, &sampler);
        if (result == ZETA_PLUGIN_SUCCESS) {
            sampler->next = intel->samplers;
            intel->samplers = sampler;
        }
    }
    if (result == ZETA_PLUGIN_SUCCESS) {
        sampler->users++;
        *out_sampler = sampler;
    }
    (void)pthread_mutex_unlock(&intel->sampler_lock);
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
