/*
 * Queues: the way of recorded commands to a backend and of results back.
 *
 * A command queue and an immediate command list each own a queue. Submissions run in order. The
 * backend reports the end of each from a thread of its own; what a submission refers to is released
 * later, by the next caller of the API on that queue, because releasing may call the backend.
 */
#ifndef ZETA_CORE_QUEUE_QUEUE_H
#define ZETA_CORE_QUEUE_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <level_zero/ze_api.h>
#include <zeta/plugin.h>

#include "core/event/activity.h"
#include "core/event/signal.h"
#include "core/object/object.h"
#include "core/queue/command_buffer.h"

struct zeta_backend;
struct zeta_context;
struct zeta_device;
struct zeta_event;
struct zeta_fence;
struct zeta_queue;

/** Commands on their way. Made by zeta_submission_create(), owned by the queue once submitted. */
struct zeta_submission {
    struct zeta_submission *next;
    struct zeta_queue *queue;
    uint64_t number; /**< how many the backend has accepted with it */
    void *owner;     /**< of the commands, pinned; NULL: they are in buffer */
    const struct zeta_command_buffer *source; /**< the commands of the owner */
    struct zeta_use *owner_use;               /**< of the owner, while the submission runs */
    struct zeta_fence *fence;                 /**< to signal at the end, pinned; may be NULL */
    struct zeta_command_buffer buffer;        /**< own commands */
    struct zeta_plugin_array commands;        /**< what the backend got */
    const struct zeta_command_buffer *used;   /**< whose uses count until it ends, NULL: none */
    struct zeta_trace_activity *activity;     /**< if a trace shows it, else NULL */
    atomic_bool is_over;                      /**< nothing is missing but its report */
};

struct zeta_queue {
    void *owner; /**< struct zeta_command_queue, or a list that begins as one; set before others can
                      submit */
    struct zeta_backend *backend;
    struct zeta_plugin_queue *plugin_queue;
    struct zeta_context *context; /**< pinned */
    uint64_t id;                  /**< unique in the context */
    struct zeta_queue *next;      /**< of the context, guarded by its queues_lock */
    struct zeta_queue **link;     /**< where it is linked */
    struct zeta_device *device;
    ze_command_queue_desc_t desc;
    struct zeta_trace_track track;
    pthread_mutex_t lock;          /* members below; never held during a plugin call */
    pthread_cond_t free_to_submit; /**< a thread has left the backend's submit */
    pthread_cond_t changed;        /**< what a thread waits for has ended */
    bool submitting;               /**< a thread is inside the backend's submit */
    uint64_t submitted;
    uint64_t wanted;                 /**< smallest number that is waited for, UINT64_MAX: none */
    struct zeta_submission *running; /**< oldest first */
    struct zeta_submission **last;   /**< where the next one is linked */
    _Atomic(struct zeta_submission *) finished; /**< to be released; written with the lock */
    struct zeta_submission *spare;              /**< released, with memory for the next ones */
    uint32_t spare_count;
    ze_result_t failure; /**< of a submission; DEVICE_LOST stays, others until they are reported */
};

/** A command queue of the API, and how command lists begin. */
struct zeta_command_queue {
    struct zeta_object object;
    _Atomic(struct zeta_queue *) queue; /**< set last: others find the object as soon as it is
                                           there; NULL: a regular command list */
};

/** A fence: on when the submission that it came with has ended. */
struct zeta_fence {
    struct zeta_object object;
    struct zeta_device *device;
    struct zeta_command_queue *owner; /**< may be gone: not pinned */
    _Atomic uint64_t number;          /**< of the submission that it came with last, 0: none */
    struct zeta_signal signal;
};

/**
 * Makes a queue on a device. Errors: INVALID_ARGUMENT for an ordinal or index that the device does
 * not have; UNSUPPORTED_FEATURE when no plugin runs queues on it; those of the backend.
 */
ze_result_t zeta_queue_create(struct zeta_context *context, struct zeta_device *device,
                              const ze_command_queue_desc_t *desc, struct zeta_queue **out_queue);

/** Ends a queue with all that still runs on it. NULL is allowed. */
void zeta_queue_destroy(struct zeta_queue *queue);

/**
 * Whether a queue can be destroyed: SUCCESS when nothing runs, or what runs is lost. Waits for the
 * report of work that is over, and a little for that of other work.
 * Errors: HANDLE_OBJECT_IN_USE.
 */
ze_result_t zeta_queue_check_idle(struct zeta_queue *queue);

/** An empty submission for a queue; NULL when memory is exhausted. */
struct zeta_submission *zeta_submission_create(struct zeta_queue *queue);

/** Releases a submission that was not submitted, or has ended. Calls the backend. */
void zeta_submission_destroy(struct zeta_submission *submission);

/**
 * Hands a submission to the backend; with waits, waits for it when the queue is synchronous. Owns
 * it from now on, also on failure. Any thread.
 */
ze_result_t zeta_queue_submit(struct zeta_queue *queue, struct zeta_submission *submission,
                              bool waits);

/** Waits for what was submitted without waiting, when the queue is synchronous. */
ze_result_t zeta_queue_submitted(struct zeta_queue *queue);

/** Releases submissions that have ended. Calls the backend, so no lock may be held. */
void zeta_queue_release_finished(struct zeta_queue *queue);

/**
 * Lets the backend report on this thread the submissions up to a number, as far as they have ended
 * before timeout_ns are over. It may return before; false: the backend reports by itself. No lock
 * is held.
 */
bool zeta_queue_look(struct zeta_queue *queue, uint64_t number, uint64_t timeout_ns);

/**
 * Waits until all that was submitted before has ended, or timeout_ns are over (UINT64_MAX: no
 * limit). Errors: NOT_READY; DEVICE_LOST with the sentence of the plugin; other failures of a
 * submission, once. The caller holds a pin on the object that owns the queue.
 */
ze_result_t zeta_queue_synchronize(struct zeta_queue *queue, uint64_t timeout_ns);

/** Waits for all queues of a context (or of any, NULL) and a device with its tiles (or NULL). */
ze_result_t zeta_queues_drain(const struct zeta_context *context, const struct zeta_device *device);

/** Group of queues with this ordinal; false if the device has none. */
bool zeta_queue_group(const struct zeta_device *device, uint32_t ordinal,
                      struct zeta_plugin_queue_group *out_group);

/** True if what is decided about the event only at submission makes commands with it special. */
bool zeta_track_needed(const struct zeta_event *event);

#endif
