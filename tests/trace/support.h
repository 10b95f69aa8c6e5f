/*
 * What the tests of API tracers share: tracers with callbacks that count, and events to block on.
 */
#ifndef ZETA_TESTS_TRACE_SUPPORT_H
#define ZETA_TESTS_TRACE_SUPPORT_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include <level_zero/zet_api.h>

#include "harness.h"

/** User data of a tracer: what its callbacks saw. */
struct witness {
    _Atomic uint32_t prologues;
    _Atomic uint32_t epilogues;
    _Atomic uint32_t strangers; /**< epilogues without the instance data of their prologue */
    _Atomic ze_result_t result; /**< of the last epilogue */
    char name;                  /**< appended to the order of callbacks, unless 0 */
};

/** Names of witnesses in the order of their callbacks, small for prologues; for one thread. */
extern char callback_order[32];

/** Callbacks of zeEventQueryStatus and zeEventHostSynchronize that count. */
extern zet_core_callbacks_t counting_prologues;
extern zet_core_callbacks_t counting_epilogues;

/** A tracer with these callbacks, disabled; null tables are not set. */
zet_tracer_exp_handle_t make_tracer(const struct harness *h, void *user,
                                    zet_core_callbacks_t *prologues,
                                    zet_core_callbacks_t *epilogues);

/** A tracer with the callbacks that count, disabled. */
zet_tracer_exp_handle_t counting_tracer(const struct harness *h, struct witness *witness);

/** A pool with one event that the host signals. */
struct signal {
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
};

struct signal signal_create(const struct harness *h);
void signal_destroy(const struct signal *signal);

/** A thread that is inside zeEventHostSynchronize() until the event is signalled. */
struct waiter {
    pthread_t thread;
    _Atomic pid_t id;
    ze_event_handle_t event;
    ze_result_t result;
};

/** Starts the thread and returns when it sleeps in the call. */
void waiter_start(struct waiter *waiter, ze_event_handle_t event);

/** Signals the event and joins the thread. */
void waiter_finish(struct waiter *waiter);

/**
 * Fails unless the last sentence of the library has these words. An old loader that wraps handles
 * has no function to ask for it.
 */
void expect_sentence(const struct harness *h, const char *words);

/** Sleeps a little. */
void pause_ms(unsigned ms);

#endif
