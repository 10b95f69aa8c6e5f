/*
 * Command lists, and how a function of the API appends to one.
 *
 *     struct zeta_append append;
 *     ze_result_t result = zeta_append_begin(&append, list);
 *
 *     if (result != ZE_RESULT_SUCCESS)
 *         return result;
 *     result = zeta_append_put(&append, &command, signal, wait_count, waits);
 *     return zeta_append_end(&append, result);
 *
 * A regular list keeps what was appended; an immediate one submits it in zeta_append_end().
 */
#ifndef ZETA_CORE_LIST_LIST_H
#define ZETA_CORE_LIST_LIST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/object/object.h"
#include "core/queue/command_buffer.h"

struct zeta_context;
struct zeta_device;
struct zeta_event;
struct zeta_graph;
struct zeta_kernel;
struct zeta_mutations;
struct zeta_queue;
struct zeta_submission;

/** A command list of the API. */
struct zeta_command_list {
    struct zeta_object object;
    _Atomic(struct zeta_queue *)
        queue;                    /**< of an immediate list; as in struct zeta_command_queue */
    struct zeta_context *context; /**< pinned */
    struct zeta_device *device;
    _Atomic(struct zeta_graph *) capture; /**< that it records into, NULL: none */
    uint32_t ordinal;
    ze_command_list_flags_t flags;
    uint32_t group_flags;    /**< ZETA_PLUGIN_QUEUE_* of the queue group */
    uint32_t max_fill_bytes; /**< longest pattern of a fill */
    bool closed;
    bool in_order;                    /**< so counter based events can be signalled */
    struct zeta_mutations *mutations; /**< of a list whose commands can be changed, else NULL */
    struct zeta_use use;              /**< by submissions that run the commands */
    const void *skipped_for;          /**< whose end lets commands do something again
                                         (zeta_list_skip_begin()), or NULL */
    struct zeta_command_buffer buffer;
};

/** An append in progress. */
struct zeta_append {
    struct zeta_command_list *list;
    struct zeta_command_buffer *buffer;
    struct zeta_submission *submission; /**< of an immediate list */
    struct zeta_kernel *kernel;         /**< of a single launch, for mutable lists */
    struct zeta_graph *graph;           /**< that records it; locked */
    struct zeta_graph *fork;            /**< that its list joins with it */
    bool no_wait;                       /**< also if the queue is synchronous */
    uint32_t first_command;
    uint32_t first_pin;
};

/** Starts an append. Errors: INVALID_ARGUMENT when the list is closed; no end is needed then. */
ze_result_t zeta_append_begin(struct zeta_append *append, struct zeta_command_list *list);

/**
 * Adds a copy of a command, of which type, flags and u are given, with what it waits for and what
 * it signals (NULL: nothing). Errors: UNSUPPORTED_FEATURE for work on a device that no plugin
 * computes on; INVALID_ARGUMENT for an event of another driver.
 */
ze_result_t zeta_append_put(struct zeta_append *append, const struct zeta_plugin_command *wanted,
                            ze_event_handle_t signal, uint32_t wait_count,
                            ze_event_handle_t *waits);

/**
 * Adds a barrier that waits and signals as above, where an append is more than one command. Nothing
 * to wait for and to signal: adds nothing.
 */
ze_result_t zeta_append_barrier(struct zeta_append *append, ze_event_handle_t signal,
                                uint32_t wait_count, ze_event_handle_t *waits);

/** Ends an append: takes it back if result is an error, submits it if the list is immediate. */
ze_result_t zeta_append_end(struct zeta_append *append, ze_result_t result);

/** The form in which a command names an event. Errors: INVALID_ARGUMENT as above. Pins it. */
ze_result_t zeta_append_event(struct zeta_append *append, ze_event_handle_t handle, bool signals,
                              struct zeta_plugin_event **out_event);

/** INVALID_ARGUMENT, with a sentence, unless the list may signal or wait for the event. */
ze_result_t zeta_list_check_event(const struct zeta_command_list *list,
                                  const struct zeta_event *event, bool signals);

/**
 * Whether the kernel can be launched with so many groups. cooperative: group size and arguments of
 * a launch whose groups all have to run at the same time, NULL for others.
 * Errors: INVALID_GLOBAL_WIDTH_DIMENSION, INVALID_ARGUMENT.
 */
ze_result_t zeta_launch_check_counts(const struct zeta_kernel *kernel,
                                     const ze_group_count_t *counts,
                                     const struct zeta_plugin_launch *cooperative);

/** Waits a little until nothing runs the list. Errors: HANDLE_OBJECT_IN_USE. */
ze_result_t zeta_list_check_idle(struct zeta_command_list *list);

/** An append of one command as zeta_append_put() has it. */
ze_result_t zeta_append_one(struct zeta_command_list *list,
                            const struct zeta_plugin_command *wanted, ze_event_handle_t signal,
                            uint32_t wait_count, ze_event_handle_t *waits);

/**
 * An empty, open list for a queue group of a device. Errors: INVALID_ARGUMENT when the group or the
 * device is none of the context; OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_list_create(struct zeta_context *context, struct zeta_device *device,
                             uint32_t ordinal, struct zeta_command_list **out_list);

/** INVALID_ARGUMENT, with a sentence, if the list is closed. */
ze_result_t zeta_list_check_open(const struct zeta_command_list *list);

/** UNSUPPORTED_FEATURE, with a sentence, if the queues of the list have no metrics. */
ze_result_t zeta_list_check_metrics(const struct zeta_command_list *list);

/**
 * From the next append on, commands of the list are skipped until zeta_list_skip_end() names the
 * same thing. Skipping already: nothing changes.
 */
void zeta_list_skip_begin(struct zeta_command_list *list, const void *what);
void zeta_list_skip_end(struct zeta_command_list *list, const void *what);

/* ---- Appends to lists that record into a graph (graph.c) ---- */

/** The graph that a list records into, NULL if it does not. */
struct zeta_graph *zeta_graph_of(const struct zeta_command_list *list);

/** GRAPH_CAPTURE_UNSUPPORTED, with a sentence, if the list records into a graph. */
ze_result_t zeta_graph_refuse(const struct zeta_command_list *list, const char *what);

/** Begins an append that records. Pins and locks the graph, unless it fails. */
ze_result_t zeta_graph_append_begin(struct zeta_append *append, struct zeta_graph *graph);

/** Ends it: notes what the append means for joins, or takes it back. Releases the graph. */
ze_result_t zeta_graph_append_end(struct zeta_append *append, ze_result_t result);

/**
 * A command of the append waits for an event or signals it: finds out whether its list joins a
 * graph with that. Errors: GRAPH_CAPTURE_MERGE_ATTEMPT when the event belongs to another graph;
 * GRAPH_INTERNAL_EVENT for a list that cannot join.
 */
ze_result_t zeta_graph_note_event(struct zeta_append *append, struct zeta_event *event,
                                  bool signals);

/**
 * The list of an append waits for an event of a graph, so it records from now on: takes over the
 * commands of the append. Errors: GRAPH_CAPTURE_UNSUPPORTED for a synchronous list;
 * GRAPH_CAPTURE_INVALIDATED when the recording ended meanwhile; OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_graph_fork(struct zeta_append *append, struct zeta_command_buffer *commands);

/*
 * ---- Mutable lists: which commands may be changed, in what, and the changes (mutations.c) ----
 *
 * An application that wants to change a command asks for an id before it appends the command. The
 * id leads to a note here; a change is checked against the note and written into the buffer. A
 * list that was changed has to be closed again before it runs.
 */

/** What is known about one id. */
struct zeta_mutation {
    uint64_t id;
    ze_mutable_command_exp_flags_t flags; /**< what may be changed */
    bool has_command;
    bool is_launch;               /**< of a single kernel */
    uint32_t command;             /**< position in the buffer */
    struct zeta_kernel *kernel;   /**< of a launch, pinned by the buffer or below */
    struct zeta_kernel **kernels; /**< that it may be changed to, pinned */
    uint32_t kernel_count;
    uint64_t wait_count;        /**< events that the command was appended with */
    struct zeta_event **events; /**< those of a change, then the signal event; pinned, or NULL */
};

/** The notes of a list. One thread at a time, but for the ids. */
struct zeta_mutations {
    struct zeta_mutation *notes;
    uint32_t count;
    uint32_t capacity;
    uint64_t next_id;
    bool pending; /**< the last note has no command yet */
    bool changed; /**< since the list was closed */
};

/** No notes. Errors: OUT_OF_HOST_MEMORY. */
ze_result_t zeta_mutations_create(struct zeta_mutations **out_mutations);

/** The notes of a copy of a buffer. Errors: OUT_OF_HOST_MEMORY. */
ze_result_t zeta_mutations_clone(const struct zeta_mutations *source,
                                 struct zeta_mutations **out_mutations);

/** Frees the notes and drops their pins. NULL is allowed. */
void zeta_mutations_destroy(struct zeta_mutations *mutations);

/** Forgets all notes, for a list that is reset; ids are never given again. */
void zeta_mutations_clear(struct zeta_mutations *mutations);

/**
 * An append has succeeded: the id that was asked for, if any, belongs to its first command. kernel:
 * of a single launch, else NULL.
 */
void zeta_mutations_note(struct zeta_mutations *mutations, const struct zeta_command_buffer *buffer,
                         uint32_t first_command, struct zeta_kernel *kernel);

/** Room that the arguments of the next launch need, for the kernel and those it may become. */
size_t zeta_mutations_block_bytes(const struct zeta_mutations *mutations,
                                  const struct zeta_kernel *kernel);

#endif
