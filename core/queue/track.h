/*
 * What is decided about events only when commands are submitted.
 *
 * A command that waits for a counter based event waits for the newest work that was to signal it by
 * then, and one that signals it gets a value of its own each time it is submitted. Of events that
 * other processes share it is noted who is going to signal them. What names a value already is left
 * alone. A recorded list can be submitted again and again, so each submission gets commands of its
 * own where that matters.
 */
#ifndef ZETA_CORE_QUEUE_TRACK_H
#define ZETA_CORE_QUEUE_TRACK_H

#include <stdbool.h>

#include <level_zero/ze_api.h>

#include "core/queue/command_buffer.h"

struct zeta_event;

/** True if commands with the event have to be tracked. */
bool zeta_track_needed(const struct zeta_event *event);

/**
 * Decides about all events of the buffer, which is about to be submitted and of which this is
 * the submission's own copy. Errors: OUT_OF_HOST_MEMORY; nothing waits for it then.
 */
ze_result_t zeta_track(struct zeta_command_buffer *buffer);

/** Gives up the values of commands that will not run after all. */
void zeta_track_abandon(const struct zeta_command_buffer *buffer);

#endif
