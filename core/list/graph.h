/*
 * Graphs: commands that immediate lists record instead of running them, to be run later, many
 * times.
 *
 * Recording begins on one list, the primary one. Another immediate list that waits for an event
 * which a recording list signals records too, into the same graph, until the primary list ends it;
 * before, what it did has to be joined: an event it signals last has to be waited for elsewhere in
 * the graph. The graph has its commands in the order in which they were appended. That order keeps
 * every dependency, because a wait joins the graph only after the signal that it waits for; so the
 * execution of a graph is one sequence of commands.
 */
#ifndef ZETA_CORE_LIST_GRAPH_H
#define ZETA_CORE_LIST_GRAPH_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

#include "core/object/object.h"
#include "core/queue/command_buffer.h"

struct zeta_append;
struct zeta_command_list;
struct zeta_context;
struct zeta_event;

enum zeta_graph_state {
    ZETA_GRAPH_EMPTY,     /**< nothing was recorded yet */
    ZETA_GRAPH_CAPTURING, /**< lists record into it */
    ZETA_GRAPH_DONE,
    ZETA_GRAPH_INVALID /**< what was recorded cannot be executed */
};

/** A list that records. */
struct zeta_graph_member {
    struct zeta_command_list *list;  /**< pinned */
    const struct zeta_event *signal; /**< last event of it, if nothing came after; else NULL */
    bool joined;                     /**< all its work is waited for */
};

/** Called when a graph is destroyed. */
struct zeta_graph_callback {
    zex_mem_graph_free_callback_fn_t function;
    void *context;
};

/** What hangs off a graph. */
struct zeta_graph_body {
    pthread_mutex_t lock; /**< held from the begin to the end of an append that records */
    enum zeta_graph_state state;
    struct zeta_command_buffer buffer;
    struct zeta_graph_member *members; /**< the primary list first */
    uint32_t member_count;
    struct zeta_graph_callback *callbacks;
    uint32_t callback_count;
    ze_command_list_handle_t primary; /**< also after its end; not pinned */
    uint32_t ordinal;                 /**< of the primary list */
    bool in_order;
    bool is_ours; /**< the application gets its handle when the recording ends */
    uint32_t instances;
};

struct zeta_graph {
    struct zeta_object object;
    struct zeta_context *context; /**< pinned */
    struct zeta_graph_body *body;
};

/** An internal event of a graph, and what replaces it in an executable graph. */
struct zeta_graph_event {
    const struct zeta_event *recorded;
    struct zeta_event *own; /**< owned */
};

/** A graph that can be executed: a copy of what was recorded. */
struct zeta_executable_graph {
    struct zeta_object object;
    struct zeta_graph *graph; /**< pinned */
    struct zeta_command_buffer buffer;
    struct zeta_graph_event *events; /**< that replace internal ones of the graph */
    uint32_t event_count;
    struct zeta_event *order; /**< each execution reaches its counter, one after the other; owned */
};

#endif
