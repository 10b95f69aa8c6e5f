/*
 * Memory that shows the progress of a counter based event, for kernels and other programs.
 *
 *   counter    ours: holds the highest value up to which all work is complete
 *   sync       the application's: the event is complete once a value stands there, which somebody
 *              writes; the first work that signals the event takes its place
 *   aggregate  the application's: each work that signals the event adds to it, and the event is
 *              complete once the sum is large enough
 *
 * Memory of the application is read by the host, so this needs a device that shares memory with it.
 */
#ifndef ZETA_CORE_EVENT_STORE_H
#define ZETA_CORE_EVENT_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

#include "core/event/signal.h"

struct zeta_context;
struct zeta_counter;
struct zeta_device;
struct zeta_event;
struct zeta_event_store;

/**
 * Reads what is chained to the descriptor of a counter based event and makes a store of it.
 * *out_store is NULL when nothing is chained. Errors: INVALID_ARGUMENT for addresses that are not
 * aligned or not of the context, and for two stores; UNSUPPORTED_FEATURE; OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_store_from_chain(const struct zeta_context *context,
                                  const struct zeta_device *device, const void *next,
                                  struct zeta_event_store **out_store);

/** True if work that signals the event adds to the store, instead of taking its place. */
bool zeta_store_adds(const struct zeta_event_store *store);

/**
 * Whether the memory says that the event is complete; LOST when it is not there any more. device:
 * read at the device's address.
 */
enum zeta_signal_state zeta_store_state(const struct zeta_event_store *store, bool device);

/** Work that signals the event is complete: adds to the memory. False if it is not there any more.
 */
bool zeta_store_add(struct zeta_event_store *store);

/**
 * Address and value that stand for completion of an event; makes memory for its counter when there
 * is none yet. Errors: UNSUPPORTED_FEATURE for a shared event; OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_store_address(struct zeta_event *event, uint64_t *out_value,
                               uint64_t *out_address);

/** Values of the counter were reached: brings our memory up to date. Any thread. */
void zeta_store_advance(struct zeta_event_store *store, const struct zeta_counter *counter);

/** Frees a store. NULL is allowed. */
void zeta_store_destroy(struct zeta_event_store *store);

#endif
