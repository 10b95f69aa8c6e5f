/*
 * A command queue in software, for backends whose device has none of its own.
 *
 * Executes arrays of struct zeta_plugin_command in order, one thread per queue, started with the
 * first submission that needs it. A queue that waits for an event blocks nothing but itself, so
 * queues may wait for each other in any order of submission. The backend does the work of single
 * commands in its callbacks; waiting, signalling, time stamps, barriers and calls of the host are
 * done here.
 *
 * Static helper: linked into the plugin, no part of the plugin interface.
 */
#ifndef ZETA_SOFTQUEUE_H
#define ZETA_SOFTQUEUE_H

#include <stdbool.h>

#include <zeta/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/** All queues of one plugin object: what wake() reaches. */
struct zeta_softqueue_pool;

/** One queue. */
struct zeta_softqueue;

/** What the owner of a queue does for it. All members but context are required. */
struct zeta_softqueue_backend {
    void *context; /**< first argument of the functions; of this queue */

    /** The device timer in ticks, unmasked. Any time. */
    uint64_t (*ticks)(void *context);

    /**
     * Executes a LAUNCH, COPY, COPY_REGION, FILL, TIMESTAMP, QUERY_BEGIN, QUERY_END or MARKER and
     * returns when it is complete; all commands before it are. Called on the thread of the queue,
     * or on that of zeta_softqueue_submit_here(), one at a time. A backend without queries or
     * markers returns UNSUPPORTED_FEATURE for theirs. DEVICE_LOST makes the queue unusable, every
     * other failure ends the submission only.
     */
    uint32_t (*execute)(void *context, const struct zeta_plugin_command *command);

    /**
     * Asks a running execute() to return soon, with DEVICE_LOST, and each later one to return at
     * once. Called by zeta_softqueue_destroy() on its caller's thread.
     */
    void (*interrupt)(void *context);
};

/**
 * Makes a pool that uses the services of host.
 *
 * @ops, @host  as given at negotiation
 * Errors: OUT_OF_HOST_MEMORY.
 */
uint32_t zeta_softqueue_pool_create(const struct zeta_plugin_host_ops *ops,
                                    struct zeta_plugin_host *host,
                                    struct zeta_softqueue_pool **out_pool);

/** Frees a pool whose queues were all destroyed. Null is allowed. */
void zeta_softqueue_pool_destroy(struct zeta_softqueue_pool *pool);

/** Some event changed: queues that wait look again. Any thread, costs one load if none waits. */
void zeta_softqueue_pool_wake(struct zeta_softqueue_pool *pool);

/** True if every event that a command waits for is signalled. Any thread. */
bool zeta_softqueue_pool_is_ready(const struct zeta_softqueue_pool *pool,
                                  const struct zeta_plugin_command *command);

/**
 * Waits until every event that a command waits for is signalled. False when stops() said so: who
 * makes it say so calls zeta_softqueue_pool_wake() afterwards. For backends with queues of their
 * own; any thread.
 */
bool zeta_softqueue_pool_wait(struct zeta_softqueue_pool *pool,
                              const struct zeta_plugin_command *command,
                              bool (*stops)(const void *context), const void *context);

/**
 * Makes a queue.
 *
 * @backend      copied
 * @thread_name  of the thread, at most 15 characters; copied
 * Errors: OUT_OF_HOST_MEMORY.
 */
uint32_t zeta_softqueue_create(struct zeta_softqueue_pool *pool,
                               const struct zeta_softqueue_backend *backend,
                               const char *thread_name, struct zeta_softqueue **out_queue);

/**
 * Ends a queue: interrupts what runs, reports what did not finish with DEVICE_LOST through
 * submission_done(), joins the thread. Null is allowed.
 */
void zeta_softqueue_destroy(struct zeta_softqueue *queue);

/**
 * Hands over commands; as submit() of struct zeta_plugin_compute_ops.
 *
 * Errors: DEVICE_LOST when the queue is lost (submission_done() is not called then),
 * OUT_OF_HOST_MEMORY, also when the system gives no thread (fail() was called then),
 * INVALID_ARGUMENT for an array whose stride cannot hold a command.
 */
uint32_t zeta_softqueue_submit(struct zeta_softqueue *queue,
                               const struct zeta_plugin_array *commands, void *cookie);

/**
 * As zeta_softqueue_submit(), for a caller that is going to wait: runs the commands on its thread
 * and reports them before it returns, if the queue is idle and nothing in them could block on
 * others (CALL commands, events that are not signalled). Else it submits them.
 */
uint32_t zeta_softqueue_submit_here(struct zeta_softqueue *queue,
                                    const struct zeta_plugin_array *commands, void *cookie);

/** SUCCESS, or DEVICE_LOST after execute() returned that. Any thread. */
uint32_t zeta_softqueue_status(const struct zeta_softqueue *queue);

#ifdef __cplusplus
}
#endif

#endif
