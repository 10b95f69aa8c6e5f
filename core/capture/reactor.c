#include "core/capture/reactor.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <zeta/clock.h>
#include <zeta/thread.h>

#include "core/util/cleanup.h"
#include "core/util/descriptor.h"
#include "core/util/error.h"
#include "core/util/fork_state.h"
#include "core/util/log.h"

/*
 * What epoll gives back for a source: the number of its watch and which of its descriptors it was.
 * Numbers are never reused, so an event that was fetched before its watch went is recognised.
 */
#define SOURCE_TIMER UINT64_C(1)
#define SOURCE_STOP UINT64_C(0)

struct zeta_watch {
    struct zeta_watch *next;
    uint64_t number; /**< even, above 0 */
    int fd;          /**< -1: none */
    int timer_fd;    /**< -1: none */
    zeta_watch_fn ready;
    void *context;
};

/** The reactor of one process. All behind its lock, except epoll_fd while the thread runs. */
struct reactor {
    struct zeta_fork_state fork;
    pthread_cond_t changed; /**< of running, stopping */
    int epoll_fd;
    int stop_fd;
    pthread_t thread;
    bool started;
    bool stopping; /**< the last watch went; its remover joins the thread */
    struct zeta_watch *watches;
    uint32_t watch_count;
    uint64_t last_number;
    uint64_t running; /**< number of the watch whose ready() runs, 0: none */
};

static struct zeta_fork_root reactors;

/** Calls ready() of the watch that an event of epoll is of, if it still exists. */
static void dispatch(struct reactor *reactor, uint64_t source)
{
    const uint64_t number = source & ~SOURCE_TIMER;
    const bool timer = (source & SOURCE_TIMER) != 0;
    const struct zeta_watch *watch;
    zeta_watch_fn ready;
    void *context;
    uint64_t expirations;

    (void)pthread_mutex_lock(&reactor->fork.lock);
    watch = reactor->watches;
    while (watch && watch->number != number)
        watch = watch->next;
    if (!watch) {
        (void)pthread_mutex_unlock(&reactor->fork.lock);
        return;
    }
    /* Empties the timer, so that it polls unreadable until its next interval. */
    if (timer && read(watch->timer_fd, &expirations, sizeof(expirations)) < 0)
        expirations = 0; /* EAGAIN: somebody reprogrammed it meanwhile */
    ready = watch->ready;
    context = watch->context;
    reactor->running = number;
    (void)pthread_mutex_unlock(&reactor->fork.lock);

    ready(context, !timer);

    (void)pthread_mutex_lock(&reactor->fork.lock);
    reactor->running = 0;
    (void)pthread_cond_broadcast(&reactor->changed);
    (void)pthread_mutex_unlock(&reactor->fork.lock);
}

static void *reactor_run(void *argument)
{
    struct reactor *reactor = argument;

    for (;;) {
        struct epoll_event event;
        int count = epoll_wait(reactor->epoll_fd, &event, 1, -1);

        if (count > 0 && event.data.u64 == SOURCE_STOP)
            return NULL;
        if (count > 0) {
            dispatch(reactor, event.data.u64);
        } else if (count < 0 && errno != EINTR) {
            zeta_log(ZETA_LOG_ERROR, "metric", "the reactor cannot wait any more: %s",
                     strerror(errno));
            return NULL;
        }
    }
}

static int epoll_change(const struct reactor *reactor, int operation, int fd, uint32_t events,
                        uint64_t source)
{
    struct epoll_event event = {.events = events, .data.u64 = source};

    return epoll_ctl(reactor->epoll_fd, operation, fd, &event);
}

/** Opens the descriptors and starts the thread. */
static ze_result_t start_locked(struct reactor *reactor)
{
    ze_result_t result;
    int error;

    reactor->epoll_fd = zeta_descriptor_raise(epoll_create1(EPOLL_CLOEXEC));
    reactor->stop_fd = zeta_descriptor_raise(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (reactor->epoll_fd < 0 || reactor->stop_fd < 0 ||
        epoll_change(reactor, EPOLL_CTL_ADD, reactor->stop_fd, EPOLLIN, SOURCE_STOP) != 0) {
        result = zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                            "the thread that watches metric streams cannot get descriptors: %s",
                            strerror(errno));
        goto close_descriptors;
    }
    error = zeta_thread_start(&reactor->thread, reactor_run, reactor, "zeta-reactor");
    if (error != 0) {
        result = zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                            "The thread zeta-reactor cannot be started (%s). Raise the limit of "
                            "processes (ulimit -u) or free memory.",
                            strerrordesc_np(error));
        goto close_descriptors;
    }
    reactor->started = true;
    return ZE_RESULT_SUCCESS;

close_descriptors:
    zeta_closep(&reactor->epoll_fd);
    zeta_closep(&reactor->stop_fd);
    return result;
}

/** Ends the thread. Called and returns with the lock held; releases it while it joins. */
static void stop_locked(struct reactor *reactor)
{
    const uint64_t one = 1;
    ssize_t written;

    reactor->stopping = true;
    (void)pthread_mutex_unlock(&reactor->fork.lock);
    written = write(reactor->stop_fd, &one, sizeof(one));
    (void)written; /* cannot fail: the counter was 0 */
    (void)pthread_join(reactor->thread, NULL);

    (void)pthread_mutex_lock(&reactor->fork.lock);
    zeta_closep(&reactor->epoll_fd);
    zeta_closep(&reactor->stop_fd);
    reactor->started = false;
    reactor->stopping = false;
    (void)pthread_cond_broadcast(&reactor->changed);
}

static ze_result_t add_locked(struct reactor *reactor, struct zeta_watch *watch)
{
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (reactor->last_number == 0)
        (void)pthread_cond_init(&reactor->changed, NULL);
    while (reactor->stopping)
        (void)pthread_cond_wait(&reactor->changed, &reactor->fork.lock);
    reactor->last_number += 2;
    watch->number = reactor->last_number;
    if (!reactor->started)
        result = start_locked(reactor);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    /* In the list first: the thread may search for it before the next line is over. */
    watch->next = reactor->watches;
    reactor->watches = watch;
    reactor->watch_count++;
    if (watch->timer_fd >= 0 && epoll_change(reactor, EPOLL_CTL_ADD, watch->timer_fd, EPOLLIN,
                                             watch->number | SOURCE_TIMER) != 0) {
        result = zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "a timer cannot be watched: %s",
                            strerror(errno));
        goto remove;
    }
    if (watch->fd >= 0 && epoll_change(reactor, EPOLL_CTL_ADD, watch->fd, EPOLLIN | EPOLLONESHOT,
                                       watch->number) != 0) {
        result = zeta_error(ZE_RESULT_ERROR_UNKNOWN,
                            "the plugin's stream descriptor %d cannot be polled: %s", watch->fd,
                            strerror(errno));
        goto remove_timer;
    }
    return ZE_RESULT_SUCCESS;

remove_timer:
    if (watch->timer_fd >= 0)
        (void)epoll_change(reactor, EPOLL_CTL_DEL, watch->timer_fd, 0, 0);
remove:
    reactor->watches = watch->next;
    if (--reactor->watch_count == 0)
        stop_locked(reactor);
    return result;
}

ze_result_t zeta_reactor_add(int fd, uint64_t interval_ns, zeta_watch_fn ready, void *context,
                             struct zeta_watch **out_watch)
{
    const struct itimerspec spec = {.it_interval = zeta_clock_timespec(interval_ns),
                                    .it_value = zeta_clock_timespec(interval_ns)};
    struct reactor *reactor = zeta_fork_state_get(&reactors, sizeof(*reactor));
    struct zeta_watch *watch = calloc(1, sizeof(*watch));
    ze_result_t result;

    if (!reactor || !watch) {
        free(watch);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    *watch = (struct zeta_watch){.fd = fd, .timer_fd = -1, .ready = ready, .context = context};
    if (interval_ns > 0) {
        watch->timer_fd =
            zeta_descriptor_raise(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
        if (watch->timer_fd < 0 || timerfd_settime(watch->timer_fd, 0, &spec, NULL) != 0) {
            result =
                zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                           "no timer could be created for a metric stream: %s", strerror(errno));
            zeta_closep(&watch->timer_fd);
            free(watch);
            return result;
        }
    }
    (void)pthread_mutex_lock(&reactor->fork.lock);
    *out_watch = watch; /* before ready() can run, which may use it */
    result = add_locked(reactor, watch);
    (void)pthread_mutex_unlock(&reactor->fork.lock);
    if (result != ZE_RESULT_SUCCESS) {
        *out_watch = NULL;
        zeta_closep(&watch->timer_fd);
        free(watch);
    }
    return result;
}

void zeta_reactor_rearm(struct zeta_watch *watch)
{
    struct reactor *reactor = zeta_fork_state_peek(&reactors);

    if (!reactor || watch->fd < 0)
        return;
    /* The watch keeps the thread running, so epoll_fd does not change meanwhile. */
    (void)epoll_change(reactor, EPOLL_CTL_MOD, watch->fd, EPOLLIN | EPOLLONESHOT, watch->number);
}

void zeta_reactor_remove(struct zeta_watch *watch)
{
    struct reactor *reactor = zeta_fork_state_peek(&reactors);
    struct zeta_watch **link;

    if (!watch || !reactor)
        return;
    (void)pthread_mutex_lock(&reactor->fork.lock);
    link = &reactor->watches;
    while (*link && *link != watch)
        link = &(*link)->next;
    if (*link) {
        *link = watch->next;
        reactor->watch_count--;
    }
    if (watch->fd >= 0)
        (void)epoll_change(reactor, EPOLL_CTL_DEL, watch->fd, 0, 0);
    if (watch->timer_fd >= 0)
        (void)epoll_change(reactor, EPOLL_CTL_DEL, watch->timer_fd, 0, 0);
    while (reactor->running == watch->number)
        (void)pthread_cond_wait(&reactor->changed, &reactor->fork.lock);
    if (reactor->watch_count == 0 && reactor->started && !reactor->stopping)
        stop_locked(reactor);
    (void)pthread_mutex_unlock(&reactor->fork.lock);
    zeta_closep(&watch->timer_fd);
    free(watch);
}

uint32_t zeta_reactor_watch_count(void)
{
    struct reactor *reactor = zeta_fork_state_peek(&reactors);
    uint32_t count;

    if (!reactor)
        return 0;
    (void)pthread_mutex_lock(&reactor->fork.lock);
    count = reactor->watch_count;
    (void)pthread_mutex_unlock(&reactor->fork.lock);
    return count;
}
