#include <zeta/softqueue.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <zeta/thread.h>

/*
 * A wait for something that changes without notice polls: each pause is this part of the time
 * waited so far, and never longer than that.
 */
#define POLL_PART 16u
#define LONGEST_POLL_NS UINT64_C(5000000)

struct zeta_softqueue_pool {
    const struct zeta_plugin_host_ops *ops;
    struct zeta_plugin_host *host;
    pthread_mutex_t lock; /* orders waiting queues and wake() */
    pthread_cond_t changed;
    atomic_uint waiters;
};

struct submission {
    struct submission *next;
    struct zeta_plugin_array commands;
    void *cookie;
};

struct zeta_softqueue {
    struct zeta_softqueue_pool *pool;
    struct zeta_softqueue_backend backend;
    char name[16];

    pthread_mutex_t lock; /* guards all down to the thread */
    pthread_cond_t work;
    struct submission *first, **last;
    bool running;      /* the thread of the queue has a submission */
    bool running_here; /* a caller of zeta_softqueue_submit_here() has one */
    bool started;
    pthread_t thread;

    atomic_bool stopping;
    atomic_uint status;
    uint64_t last_end_ticks; /* of the last command */
};

uint32_t zeta_softqueue_pool_create(const struct zeta_plugin_host_ops *ops,
                                    struct zeta_plugin_host *host,
                                    struct zeta_softqueue_pool **out_pool)
{
    struct zeta_softqueue_pool *pool = calloc(1, sizeof(*pool));

    if (!pool)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    pool->ops = ops;
    pool->host = host;
    pthread_mutex_init(&pool->lock, NULL);
    zeta_condition_init(&pool->changed);
    *out_pool = pool;
    return ZETA_PLUGIN_SUCCESS;
}

void zeta_softqueue_pool_destroy(struct zeta_softqueue_pool *pool)
{
    if (!pool)
        return;
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

void zeta_softqueue_pool_wake(struct zeta_softqueue_pool *pool)
{
    /*
     * Pairs with zeta_softqueue_pool_wait(): both change the same variable, so either this sees the
     * waiter, or the waiter's query, which comes after its change, sees the event that the caller
     * changed.
     */
    if (atomic_fetch_add(&pool->waiters, 0) == 0)
        return;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
}

bool zeta_softqueue_pool_is_ready(const struct zeta_softqueue_pool *pool,
                                  const struct zeta_plugin_command *command)
{
    for (uint64_t i = 0; i < command->wait_count; i++) {
        if (pool->ops->event_query(pool->host, command->wait_events[i]) != ZETA_PLUGIN_SUCCESS)
            return false;
    }
    return true;
}

bool zeta_softqueue_pool_wait(struct zeta_softqueue_pool *pool,
                              const struct zeta_plugin_command *command,
                              bool (*stops)(const void *context), const void *context)
{
    /* How long to sleep before the next poll although nobody called wake(); all ones: no limit. */
    uint64_t first_ns = UINT64_MAX;
    uint64_t begin_ns;

    if (command->wait_count == 0 || zeta_softqueue_pool_is_ready(pool, command))
        return !stops(context);

    if (ZETA_PLUGIN_HAS(pool->ops, event_look_ns) && pool->ops->event_look_ns) {
        for (uint64_t i = 0; i < command->wait_count; i++) {
            const uint64_t one = pool->ops->event_look_ns(pool->host, command->wait_events[i]);

            first_ns = one < first_ns ? one : first_ns;
        }
    }
    begin_ns = zeta_monotonic_ns();
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->waiters, 1);
    while (!stops(context) && !zeta_softqueue_pool_is_ready(pool, command)) {
        const uint64_t now_ns = zeta_monotonic_ns();
        uint64_t pause_ns = (now_ns - begin_ns) / POLL_PART;
        struct timespec until;

        if (first_ns == UINT64_MAX) {
            pthread_cond_wait(&pool->changed, &pool->lock);
            continue;
        }
        if (pause_ns > LONGEST_POLL_NS)
            pause_ns = LONGEST_POLL_NS;
        until = zeta_clock_timespec(now_ns + (pause_ns > first_ns ? pause_ns : first_ns));
        pthread_cond_timedwait(&pool->changed, &pool->lock, &until);
    }
    atomic_fetch_sub(&pool->waiters, 1);
    pthread_mutex_unlock(&pool->lock);
    return !stops(context);
}

static bool is_stopping(const void *context)
{
    const struct zeta_softqueue *queue = context;

    return atomic_load(&queue->stopping);
}

static uint32_t dispatch(struct zeta_softqueue *queue, const struct zeta_plugin_command *command)
{
    switch (command->type) {
    case ZETA_PLUGIN_COMMAND_BARRIER:
        return ZETA_PLUGIN_SUCCESS; /* in order anyway */
    case ZETA_PLUGIN_COMMAND_EVENT_RESET:
        queue->pool->ops->event_reset(queue->pool->host, command->signal_event);
        return ZETA_PLUGIN_SUCCESS;
    case ZETA_PLUGIN_COMMAND_CALL:
        command->u.call.function(command->u.call.context);
        return ZETA_PLUGIN_SUCCESS;
    default:
        return command->type <= ZETA_PLUGIN_COMMAND_MARKER
                   ? queue->backend.execute(queue->backend.context, command)
                   : ZETA_PLUGIN_UNSUPPORTED_FEATURE;
    }
}

/* cookie: of the submission that ends with this command, with is_last. */
static uint32_t run_command(struct zeta_softqueue *queue, const struct zeta_plugin_command *command,
                            bool is_last, void *cookie)
{
    const struct zeta_softqueue_pool *pool = queue->pool;
    struct zeta_plugin_times times;
    uint32_t result;

    if (!zeta_softqueue_pool_wait(queue->pool, command, is_stopping, queue))
        return ZETA_PLUGIN_DEVICE_LOST;

    times.begin_ticks = queue->backend.ticks(queue->backend.context);
    if (times.begin_ticks < queue->last_end_ticks)
        times.begin_ticks = queue->last_end_ticks;
    result = dispatch(queue, command);
    if (result != ZETA_PLUGIN_SUCCESS)
        return result;

    /* A command of no length would appear to take a whole wrap of the timer. */
    times.end_ticks = queue->backend.ticks(queue->backend.context);
    if (times.end_ticks <= times.begin_ticks)
        times.end_ticks = times.begin_ticks + 1;
    queue->last_end_ticks = times.end_ticks;
    if (is_last && ZETA_PLUGIN_HAS(pool->ops, submission_over) && pool->ops->submission_over)
        pool->ops->submission_over(pool->host, cookie);
    if (command->signal_event && command->type != ZETA_PLUGIN_COMMAND_EVENT_RESET)
        pool->ops->event_signal(pool->host, command->signal_event, &times);
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t run_commands(struct zeta_softqueue *queue, const struct zeta_plugin_array *commands,
                             void *cookie)
{
    const char *at = commands->data;

    if (atomic_load(&queue->status) != ZETA_PLUGIN_SUCCESS)
        return ZETA_PLUGIN_DEVICE_LOST;
    for (uint64_t i = 0; i < commands->count; i++) {
        uint32_t result = run_command(queue, (const struct zeta_plugin_command *)(const void *)at,
                                      i + 1 == commands->count, cookie);

        if (result == ZETA_PLUGIN_DEVICE_LOST)
            atomic_store(&queue->status, ZETA_PLUGIN_DEVICE_LOST);
        if (result != ZETA_PLUGIN_SUCCESS)
            return result;
        at += commands->stride;
    }
    return ZETA_PLUGIN_SUCCESS;
}

static void finish_submission(struct zeta_softqueue *queue, struct submission *submission,
                              uint32_t result)
{
    const struct zeta_softqueue_pool *pool = queue->pool;
    void *cookie = submission->cookie;

    free(submission);
    pool->ops->submission_done(pool->host, cookie, result);
}

static void *queue_main(void *argument)
{
    struct zeta_softqueue *queue = argument;
    pthread_mutex_lock(&queue->lock);
    for (;;) {
        struct submission *submission;

        while ((!queue->first || queue->running_here) && !atomic_load(&queue->stopping))
            pthread_cond_wait(&queue->work, &queue->lock);
        if (atomic_load(&queue->stopping))
            break;
        submission = queue->first;
        queue->first = submission->next;
        if (!queue->first)
            queue->last = &queue->first;
        queue->running = true;
        pthread_mutex_unlock(&queue->lock);
        finish_submission(queue, submission,
                          run_commands(queue, &submission->commands, submission->cookie));
        pthread_mutex_lock(&queue->lock);
        queue->running = false;
    }
    pthread_mutex_unlock(&queue->lock);
    return NULL;
}

uint32_t zeta_softqueue_create(struct zeta_softqueue_pool *pool,
                               const struct zeta_softqueue_backend *backend,
                               const char *thread_name, struct zeta_softqueue **out_queue)
{
    struct zeta_softqueue *queue = calloc(1, sizeof(*queue));

    if (!queue)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    queue->pool = pool;
    queue->backend = *backend;
    snprintf(queue->name, sizeof(queue->name), "%s", thread_name);
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->work, NULL);
    queue->last = &queue->first;
    *out_queue = queue;
    return ZETA_PLUGIN_SUCCESS;
}

void zeta_softqueue_destroy(struct zeta_softqueue *queue)
{
    if (!queue)
        return;

    pthread_mutex_lock(&queue->lock);
    atomic_store(&queue->stopping, true);
    pthread_cond_broadcast(&queue->work);
    pthread_mutex_unlock(&queue->lock);

    pthread_mutex_lock(&queue->pool->lock);
    pthread_cond_broadcast(&queue->pool->changed);
    pthread_mutex_unlock(&queue->pool->lock);

    queue->backend.interrupt(queue->backend.context);
    if (queue->started)
        pthread_join(queue->thread, NULL);
    pthread_mutex_lock(&queue->lock);
    while (queue->running_here)
        pthread_cond_wait(&queue->work, &queue->lock);
    pthread_mutex_unlock(&queue->lock);

    while (queue->first) {
        struct submission *submission = queue->first;

        queue->first = submission->next;
        finish_submission(queue, submission, ZETA_PLUGIN_DEVICE_LOST);
    }
    pthread_cond_destroy(&queue->work);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

uint32_t zeta_softqueue_submit_here(struct zeta_softqueue *queue,
                                    const struct zeta_plugin_array *commands, void *cookie)
{
    const struct zeta_softqueue_pool *pool = queue->pool;
    const char *at = commands->data;
    bool is_here;

    if (commands->count > 0 && commands->stride < sizeof(struct zeta_plugin_command))
        return ZETA_PLUGIN_INVALID_ARGUMENT;
    /* What can block the caller is for the thread. */
    for (uint64_t i = 0; i < commands->count; i++, at += commands->stride) {
        const struct zeta_plugin_command *command = (const void *)at;

        if (command->type == ZETA_PLUGIN_COMMAND_CALL ||
            (command->wait_count > 0 && !zeta_softqueue_pool_is_ready(pool, command)))
            return zeta_softqueue_submit(queue, commands, cookie);
    }
    pthread_mutex_lock(&queue->lock);
    is_here = !queue->first && !queue->running && !queue->running_here &&
              !atomic_load(&queue->stopping) && atomic_load(&queue->status) == ZETA_PLUGIN_SUCCESS;
    if (is_here)
        queue->running_here = true;
    pthread_mutex_unlock(&queue->lock);
    if (!is_here)
        return zeta_softqueue_submit(queue, commands, cookie);
    pool->ops->submission_done(pool->host, cookie, run_commands(queue, commands, cookie));

    /* The last use of the queue by this thread: zeta_softqueue_destroy() waits for it. */
    pthread_mutex_lock(&queue->lock);
    queue->running_here = false;
    if (queue->first || atomic_load(&queue->stopping))
        pthread_cond_broadcast(&queue->work);
    pthread_mutex_unlock(&queue->lock);
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t zeta_softqueue_submit(struct zeta_softqueue *queue,
                               const struct zeta_plugin_array *commands, void *cookie)
{
    struct submission *submission;
    char text[256];
    int error = 0;

    if (commands->count > 0 && commands->stride < sizeof(struct zeta_plugin_command))
        return ZETA_PLUGIN_INVALID_ARGUMENT;
    if (atomic_load(&queue->status) != ZETA_PLUGIN_SUCCESS)
        return ZETA_PLUGIN_DEVICE_LOST;

    submission = calloc(1, sizeof(*submission));
    if (!submission)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    submission->commands = *commands;
    submission->cookie = cookie;

    pthread_mutex_lock(&queue->lock);
    if (!queue->started)
        error = zeta_thread_start(&queue->thread, queue_main, queue, queue->name);
    if (error == 0) {
        queue->started = true;
        *queue->last = submission;
        queue->last = &submission->next;
        pthread_cond_signal(&queue->work);
    }
    pthread_mutex_unlock(&queue->lock);
    if (error == 0)
        return ZETA_PLUGIN_SUCCESS;
    free(submission);
    snprintf(text, sizeof(text),
             "the thread %s of a queue cannot be started: %s; raise the limit of processes (ulimit "
             "-u) or free memory",
             queue->name, strerror(error));
    queue->pool->ops->fail(queue->pool->host, ZETA_PLUGIN_OUT_OF_HOST_MEMORY,
                           (struct zeta_plugin_string){text, strlen(text)});
    return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
}

uint32_t zeta_softqueue_status(const struct zeta_softqueue *queue)
{
    return atomic_load(&queue->status);
}
