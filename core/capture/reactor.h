/*
 * The reactor: the one thread of the core that waits for backends.
 *
 * Who has to know when a backend has data registers a descriptor, an interval, or both. The thread
 * starts with the first registration and ends with the last; it blocks every signal.
 *
 *     registered, armed --- descriptor readable --> ready() --> disarmed --- rearm() --> armed
 *
 * A descriptor is watched once per arming, so one that stays readable while nobody reads costs
 * nothing. The interval goes on by itself.
 *
 * After fork() the child has no reactor and never touches the locks of the parent's; the first
 * registration there starts a new one.
 */
#ifndef ZETA_CORE_CAPTURE_REACTOR_H
#define ZETA_CORE_CAPTURE_REACTOR_H

#include <stdbool.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

struct zeta_watch;

/**
 * Called on the reactor's thread, without any lock of the reactor; one call at a time.
 * readable: the descriptor became readable and is disarmed now; false: the interval is over.
 */
typedef void (*zeta_watch_fn)(void *context, bool readable);

/**
 * Registers a watch and arms it.
 *
 * @fd           descriptor, stays the caller's and open until the watch is removed; -1: none
 * @interval_ns  calls ready() about that often; 0: never
 *
 * Ownership: *out_watch belongs to the caller until zeta_reactor_remove().
 * Errors: OUT_OF_HOST_MEMORY, also when the system gives no thread or descriptor; UNKNOWN with the
 * errno if the descriptor cannot be polled. Any thread but the reactor's.
 */
ze_result_t zeta_reactor_add(int fd, uint64_t interval_ns, zeta_watch_fn ready, void *context,
                             struct zeta_watch **out_watch);

/** Watches the descriptor again; ready() follows at once if it is readable. Any thread. */
void zeta_reactor_rearm(struct zeta_watch *watch);

/**
 * Ends a watch. When it returns, ready() does not run and never will, and the descriptor is not
 * used any more. NULL is allowed. Any thread but the reactor's.
 */
void zeta_reactor_remove(struct zeta_watch *watch);

/** Number of watches of this process, for tests; the thread runs while it is above 0. */
uint32_t zeta_reactor_watch_count(void);

#endif
