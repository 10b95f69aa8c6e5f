/*
 * Queries of the times of events that a command list makes when their turn comes.
 */
#ifndef ZETA_CORE_LIST_TIMES_QUERY_H
#define ZETA_CORE_LIST_TIMES_QUERY_H

#include <stdbool.h>

#include "core/queue/command_buffer.h"

/** True if the command is such a query. */
bool zeta_times_query_is(const struct zeta_plugin_command *command);

/** Lets the query of a submission have a copy with the newest works of its events. */
ze_result_t zeta_times_query_track(struct zeta_recording *recording,
                                   struct zeta_plugin_command *command);

/** The events of a query, which may be replaced. */
struct zeta_plugin_event **zeta_times_query_events(const struct zeta_plugin_command *command,
                                                   uint64_t *out_count);

/** Points a query in a copy of an arena to what belongs to it there. */
void zeta_times_query_move(const struct zeta_plugin_command *command, const struct zeta_arena *from,
                           const struct zeta_arena *to);

#endif
