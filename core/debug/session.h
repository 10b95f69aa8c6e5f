/*
 * A debug session: what a tool knows of the threads, modules and events of one process on one
 * device. The backend says which threads are stopped; here is decided what of it is an event, in
 * which order, and which calls a thread's state allows.
 *
 * A thread is, for the tool, *reported*: stopped, and an event that says so was read (its own) or
 * made (the answer to an interrupt). Only reported threads are resumed and have registers.
 */
#ifndef ZETA_CORE_DEBUG_SESSION_H
#define ZETA_CORE_DEBUG_SESSION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <level_zero/zet_api.h>
#include <zeta/notify.h>
#include <zeta/plugin.h>

#include "core/debug/threads.h"
#include "core/object/object.h"
#include "core/plugin/backend.h"

struct zeta_device;

/** An event that waits to be read, or was read and waits for its acknowledgement. */
struct zeta_debug_record {
    STAILQ_ENTRY(zeta_debug_record) link;
    zet_debug_event_t event;
    uint64_t cookie; /**< of an event with NEED_ACK */
    uint32_t thread; /**< that becomes reported when it is read, or ZETA_PLUGIN_DEBUG_NO_THREAD */
};

STAILQ_HEAD(zeta_debug_records, zeta_debug_record);

/** An interrupt without an answer. */
struct zeta_debug_interrupt {
    STAILQ_ENTRY(zeta_debug_interrupt) link;
    ze_device_thread_t selector;
    uint64_t halt;        /**< number of the backend */
    uint64_t deadline_ns; /**< answered then with what has stopped */
    uint64_t selected[];  /**< mask */
};

/**
 * What hangs off a session. Its lock serialises the calls of the backend and guards all members
 * but those that do not change: backend, device, pid, shape, words, halt_timeout_ns.
 */
struct zeta_debug_state {
    pthread_mutex_t lock;
    const struct zeta_backend *backend;
    struct zeta_device *device;
    struct zeta_plugin_debug_session *session; /**< NULL after the detach */
    uint32_t pid;
    struct zeta_thread_shape shape;
    uint32_t words; /**< of a mask */
    uint64_t halt_timeout_ns;
    struct zeta_notify notify; /**< raised while records wait, and after the detach */

    struct zeta_debug_records waiting; /**< to be read, in order */
    struct zeta_debug_records unacknowledged;
    STAILQ_HEAD(, zeta_debug_interrupt) interrupts;
    uint64_t queues; /**< of the process; its entry and exit are at 0 */
    bool has_ended;
    ze_result_t failure; /**< of taking events: no memory, or the backend's; else SUCCESS */
    uint64_t *stopped;   /**< mask, as the backend said last; owns the memory of the others */
    uint64_t *excepted;  /**< mask, a part of stopped: their own events wait to be read */
    uint64_t *reported;  /**< mask, a part of stopped, none of excepted */
    uint64_t *selected;  /**< mask, scratch of a call */
};

/** The object behind zet_debug_session_handle_t. */
struct zeta_debug_session {
    struct zeta_object object;
    struct zeta_debug_state *state;
};

/** Takes all events that the backend has. The lock is held. */
void zeta_debug_pump(struct zeta_debug_state *state);

/**
 * Takes the oldest event, or answers NOT_READY. DEVICE_LOST after the last one of an ended
 * process. The lock is held.
 */
ze_result_t zeta_debug_take(struct zeta_debug_state *state, zet_debug_event_t *out_event);

/** Waits until an event may be there, at most until deadline_ns. Without the lock. */
void zeta_debug_wait(struct zeta_debug_state *state, uint64_t deadline_ns);

/** As zetDebugAcknowledgeEvent. The lock is held. */
ze_result_t zeta_debug_acknowledge(struct zeta_debug_state *state, const zet_debug_event_t *event);

/** As zetDebugInterrupt and zetDebugResume. The lock is held. */
ze_result_t zeta_debug_interrupt(struct zeta_debug_state *state, ze_device_thread_t selector);
ze_result_t zeta_debug_resume(struct zeta_debug_state *state, ze_device_thread_t selector);

/** INVALID_ARGUMENT, with what the device has. */
ze_result_t zeta_debug_no_thread(const struct zeta_debug_state *state, ze_device_thread_t thread);

/** Frees all of it; the backend's session has ended. NULL is allowed. */
void zeta_debug_state_free(struct zeta_debug_state *state);

#endif
