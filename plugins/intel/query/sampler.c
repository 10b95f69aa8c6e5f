#include "plugins/intel/query/sampler.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)

/* A clock that is so much ahead of the host's was set: the device was reset, and with it counters.
 */
#define JUMP_S 60u

/* ---- marks -------------------------------------------------------------------------------- */

static uint32_t read_clock(const struct zeta_intel_sampler *sampler,
                           struct zeta_intel_reading *out_reading)
{
    return zeta_intel_unit_clock(sampler->device, sampler->unit, &out_reading->ticks,
                                 &out_reading->host_ns);
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

/* The time of the report that will settle a mark first; with no mark later than any. */
static uint64_t earliest_locked(const struct zeta_intel_sampler *sampler)
{
    uint64_t ticks = UINT64_MAX;

    for (const struct zeta_intel_mark *mark = sampler->pending; mark; mark = mark->next)
        ticks = mark->ticks < ticks ? mark->ticks : ticks;
    return ticks;
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
static bool has_jumped(const struct zeta_intel_sampler *sampler,
                       const struct zeta_intel_reading *now)
{
    const struct zeta_intel_reading *last = &sampler->clock;
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
            /* Waits for the first report, which will be later. */
            mark->ticks = mark->left_ticks = clock_ticks;
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

static void add_reports_locked(struct zeta_intel_sampler *sampler,
                               const struct zeta_plugin_read *read, uint64_t clock_ticks)
{
    const uint32_t report_bytes = sampler->totals.report_bytes;
    const uint32_t count = (uint32_t)(read->bytes / report_bytes);
    const bool waited = sampler->pending != NULL;

    if (read->broken)
        zeta_intel_totals_break(&sampler->totals);
    if (sampler->stream->loss != ZETA_PLUGIN_BREAK_NONE)
        zeta_intel_totals_lose(&sampler->totals,
                               sampler->stream->tells_loss_once ? UINT64_MAX : clock_ticks);
    sampler->stream->loss = ZETA_PLUGIN_BREAK_NONE;
    for (uint32_t done = 0; done < count;) {
        done +=
            zeta_intel_totals_add(&sampler->totals, sampler->buffer + (size_t)done * report_bytes,
                                  count - done, clock_ticks, earliest_locked(sampler));
        settle_reached_locked(sampler);
    }
    if (waited)
        (void)pthread_cond_broadcast(&sampler->settled);
}

/*
 * The clock is read behind reports, so that it knows of a reset that they come after; those of such
 * a read may be from both sides, and are not counted. All of it under one lock: a mark is left
 * either before this look or when what was read is counted already. So no report from before a
 * reset settles a mark from after it.
 *
 * @read      what was read since the look before; NULL: nothing yet
 * @io_ticks  the time of the look before, then that of this one
 */
static uint32_t look(struct zeta_intel_sampler *sampler, const struct zeta_plugin_read *read,
                     uint64_t *io_ticks)
{
    struct zeta_intel_reading now = {0, 0};

    (void)pthread_mutex_lock(&sampler->lock);
    const uint32_t result = read_clock(sampler, &now);
    if (result == ZETA_PLUGIN_SUCCESS) {
        if (has_jumped(sampler, &now)) {
            settle_reset_locked(sampler, now.ticks);
        } else if (read) {
            add_reports_locked(sampler, read, now.ticks);
            if (read->bytes == 0)
                settle_asleep_locked(sampler, *io_ticks);
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

    if (look(sampler, NULL, &ticks) != ZETA_PLUGIN_SUCCESS)
        return false;
    do {
        read = (struct zeta_plugin_read){.struct_size = sizeof(read)};
        if (kmd->stream_read(sampler->stream, sampler->buffer, ZETA_INTEL_SAMPLER_BYTES, &read) !=
                ZETA_PLUGIN_SUCCESS ||
            look(sampler, &read, &ticks) != ZETA_PLUGIN_SUCCESS)
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
        sampler->pending ? ZETA_INTEL_SAMPLER_LOOK_MS : -1; /* also where none come */
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
uint32_t zeta_intel_sampler_start(struct zeta_intel_sampler *sampler)
{
    sigset_t all, before;
    int error;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&sampler->thread, NULL, sampler_main, sampler);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0)
        return ZETA_PLUGIN_SUCCESS;
    return zeta_host_fail(sampler->device->gpu->host, ZETA_PLUGIN_OUT_OF_HOST_MEMORY,
                          "%s: the thread that reads reports for queries cannot be started: %s; "
                          "raise the limit of processes (ulimit -u) or free memory",
                          sampler->device->id, strerrordesc_np(error));
}

void zeta_intel_sampler_stop(struct zeta_intel_sampler *sampler)
{
    atomic_store(&sampler->stopping, true);
    wake(sampler);
    (void)pthread_join(sampler->thread, NULL);
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
    result = read_clock(sampler, &now);
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
    const bool is_still = read_clock(sampler, &now) == ZETA_PLUGIN_SUCCESS &&
                          now.ticks >= mark->ticks &&
                          now.ticks - mark->ticks < sampler->sleep_ticks;
    (void)pthread_mutex_unlock(&sampler->lock);
    return is_still;
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
