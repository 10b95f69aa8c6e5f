/*
 * A command that queries the times of events, in the order of its queue.
 */
#ifndef ZETA_CORE_QUEUE_TIMES_QUERY_H
#define ZETA_CORE_QUEUE_TIMES_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/ze_api.h>
#include <zeta/arena.h>
#include <zeta/plugin.h>

/**
 * What the command needs when it runs. Only copies touch the application's memory, so that a wild
 * address is the device's to report: the command collects the times in memory of ours.
 */
struct zeta_times_query {
    uint64_t count;
    struct zeta_plugin_event *const *events;
    ze_kernel_timestamp_result_t *times;
    char *target;
    size_t *offsets;                 /**< copied from the application just before; NULL: none */
    struct zeta_plugin_copy *copies; /**< with offsets: one for each event */
};

/** Makes a command of type CALL such a query. */
void zeta_times_query_set(struct zeta_plugin_command *command, struct zeta_times_query *query);

/** The query of a command, NULL for another command. */
struct zeta_times_query *zeta_times_query_of(const struct zeta_plugin_command *command);

/** Points the query of a copied command into the copy. */
void zeta_times_query_move(struct zeta_times_query *query, const struct zeta_arena *from,
                           const struct zeta_arena *to);

#endif
