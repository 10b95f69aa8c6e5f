/*
 * Command lists, and how a function of the API appends to one.
 *
 *     struct zeta_append append;
 *     ze_result_t result = zeta_append_begin(&append, list);
 *
 *     if (result != ZE_RESULT_SUCCESS)
 *         return result;
 *     result = zeta_append_add(&append, ZETA_PLUGIN_COMMAND_COPY, &command);
 *     ... fill command->u ...
 *     result = zeta_append_events(&append, command, signal, wait_count, waits);
 *     return zeta_append_end(&append, result);
 *
 * A regular list keeps what was appended; an immediate one submits it in zeta_append_end().
 */
#ifndef ZETA_CORE_COMMAND_LIST_H
#define ZETA_CORE_COMMAND_LIST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/command/recording.h"
#include "core/object/object.h"

struct zeta_context;
struct zeta_device;
struct zeta_queue;
struct zeta_submission;

/** A command list of the API. */
struct zeta_command_list {
    struct zeta_object object;
    struct zeta_context *context; /**< pinned */
    struct zeta_device *device;
    struct zeta_queue *queue; /**< of an immediate list, else NULL */
    uint32_t ordinal;
    ze_command_list_flags_t flags;
    uint32_t group_flags;    /**< ZETA_PLUGIN_QUEUE_* of the queue group */
    uint32_t max_fill_bytes; /**< longest pattern of a fill */
    bool closed;
    _Atomic uint32_t in_flight; /**< submissions that run the recording */
    struct zeta_recording recording;
};

/** An append in progress. */
struct zeta_append {
    struct zeta_command_list *list;
    struct zeta_recording *recording;
    struct zeta_submission *submission; /**< of an immediate list */
    uint32_t first_command;
    uint32_t first_pin;
};

/** Starts an append. Errors: INVALID_ARGUMENT when the list is closed; no end is needed then. */
ze_result_t zeta_append_begin(struct zeta_append *append, struct zeta_command_list *list);

/** Adds a command; the pointer is valid until the next one is added. */
ze_result_t zeta_append_add(struct zeta_append *append, uint32_t type,
                            struct zeta_plugin_command **out_command);

/**
 * Adds what a command waits for and what it signals (NULL: nothing).
 * Errors: INVALID_ARGUMENT for an event of another driver.
 */
ze_result_t zeta_append_events(struct zeta_append *append, struct zeta_plugin_command *command,
                               ze_event_handle_t signal, uint32_t wait_count,
                               ze_event_handle_t *waits);

/** Ends an append: takes it back if result is an error, submits it if the list is immediate. */
ze_result_t zeta_append_end(struct zeta_append *append, ze_result_t result);

/** Appends one command that is nothing but its type, waits and signal. */
ze_result_t zeta_append_simple(struct zeta_command_list *list, uint32_t type,
                               ze_event_handle_t signal, uint32_t wait_count,
                               ze_event_handle_t *waits);

/** INVALID_ARGUMENT, with a sentence, if the list is closed. */
ze_result_t zeta_list_check_open(const struct zeta_command_list *list);

/** Registers the finisher of command lists. */
void zeta_list_set_finishers(void);

#endif
