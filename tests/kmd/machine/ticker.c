/*
 * The kernel's timer: a thread of each process that opened or used a stream, which looks at the
 * tails at each period and makes descriptors readable. It ends with the last stream. On a machine
 * with manual time kmd_advance() does its work.
 */

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "tests/kmd/machine/machine.h"

enum { WATCHED = KMD_DEVICES * KMD_UNITS, NS = 1000000000 };

struct watch {
    struct kmd_gpu *gpu;
    struct kmd_unit *unit;
    uint64_t serial;
    uint64_t next_ns; /* machine time */
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_running;
    uint32_t count;
    struct watch watches[WATCHED];
} ticker = {.lock = PTHREAD_MUTEX_INITIALIZER};

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The thread is not inside while a process forks, so that its child finds everything whole. */
static void before_fork(void)
{
    (void)pthread_mutex_lock(&ticker.lock);
}

static void after_fork_in_parent(void)
{
    (void)pthread_mutex_unlock(&ticker.lock);
}

static void init_changed(void)
{
    pthread_condattr_t monotonic;

    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&ticker.changed, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
}

/* A child has no thread of its own yet, and nobody waits. */
static void after_fork_in_child(void)
{
    init_changed();
    ticker.is_running = false;
    ticker.count = 0;
    (void)pthread_mutex_unlock(&ticker.lock);
}

static void init_once(void)
{
    init_changed();
    (void)pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

static struct watch *earliest(void)
{
    struct watch *first = NULL;

    for (uint32_t i = 0; i < ticker.count; i++) {
        if (!first || ticker.watches[i].next_ns < first->next_ns)
            first = &ticker.watches[i];
    }
    return first;
}

static void sleep_until(uint64_t next_ns)
{
    const uint64_t at = kmd_shared() ? kmd_monotonic_ns(next_ns) : 0;
    const struct timespec until = {.tv_sec = (time_t)(at / NS), .tv_nsec = (long)(at % NS)};

    (void)pthread_cond_timedwait(&ticker.changed, &ticker.lock, &until);
}

/* Serves a stream. False: it is over. No lock is held. */
static bool serve(const struct watch *watch, uint64_t *out_period_ns)
{
    bool goes_on;

    kmd_lock(watch->gpu);
    goes_on =
        watch->unit->stream.serial == watch->serial && kmd_stream_is_alive(watch->gpu, watch->unit);
    *out_period_ns = watch->unit->stream.poll_ns;
    if (goes_on)
        kmd_stream_tick(watch->gpu, watch->unit);
    kmd_unlock(watch->gpu);
    return goes_on;
}

static void *run(void *nothing)
{
    (void)nothing;
    (void)pthread_mutex_lock(&ticker.lock);
    while (ticker.count > 0 && kmd_shared()) {
        struct watch *watch = earliest();
        const struct watch copy = *watch;
        const uint64_t now = kmd_now_ns();
        uint64_t period_ns;
        bool goes_on;

        if (copy.next_ns > now) {
            sleep_until(copy.next_ns);
            continue;
        }
        (void)pthread_mutex_unlock(&ticker.lock);
        goes_on = serve(&copy, &period_ns);
        (void)pthread_mutex_lock(&ticker.lock);
        /* Only this thread removes, so the place is still the same. */
        if (goes_on)
            watch->next_ns = now + period_ns;
        else
            *watch = ticker.watches[--ticker.count];
    }
    ticker.count = 0;
    ticker.is_running = false;
    (void)pthread_mutex_unlock(&ticker.lock);
    return NULL;
}

/* Signals are for the program's own threads. */
static bool start_thread(void)
{
    pthread_attr_t detached;
    sigset_t all;
    sigset_t before;
    pthread_t thread;
    bool started;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    (void)pthread_attr_init(&detached);
    (void)pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    started = pthread_create(&thread, &detached, run, NULL) == 0;
    (void)pthread_attr_destroy(&detached);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void kmd_ticker_add(struct kmd_gpu *gpu, struct kmd_unit *unit)
{
    uint64_t serial;
    uint64_t period_ns;

    if (kmd_shared()->is_manual)
        return;
    (void)pthread_once(&once, init_once);
    kmd_lock(gpu);
    serial = unit->stream.serial;
    period_ns = unit->stream.poll_ns;
    kmd_unlock(gpu);

    (void)pthread_mutex_lock(&ticker.lock);
    for (uint32_t i = 0; i < ticker.count; i++) {
        if (ticker.watches[i].unit == unit && ticker.watches[i].serial == serial) {
            (void)pthread_mutex_unlock(&ticker.lock);
            return;
        }
    }
    if (ticker.count < WATCHED) {
        ticker.watches[ticker.count++] = (struct watch){
            .gpu = gpu, .unit = unit, .serial = serial, .next_ns = kmd_now_ns() + period_ns};
        if (ticker.is_running)
            (void)pthread_cond_signal(&ticker.changed);
        else
            ticker.is_running = start_thread();
    }
    (void)pthread_mutex_unlock(&ticker.lock);
}
