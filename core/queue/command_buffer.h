/*
 * Commands that were appended, with everything they refer to: argument blocks, patterns, wait lists
 * in an arena, and pins on the events and kernels that they name.
 */
#ifndef ZETA_CORE_QUEUE_COMMAND_BUFFER_H
#define ZETA_CORE_QUEUE_COMMAND_BUFFER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/ze_api.h>
#include <zeta/arena.h>
#include <zeta/plugin.h>

#include "core/object/object.h"

/*
 * Whether submitted commands still use an object. Objects that commands name (queries) hold one of
 * these, and lists for themselves. Each submission counts as long as it has not ended; a recorded
 * list that waits to be executed does not.
 */
struct zeta_use {
    _Atomic uint64_t commands; /**< of submissions that have not ended; in the upper half, how many
                                    of these have run and miss but the report */
    struct zeta_use *whole;    /**< of what the object is a part of, NULL: of nothing */
};

/** One command in the upper half. */
#define ZETA_USE_OVER (UINT64_C(1) << 32)

/** Counts one command more. Any thread, lock-free, as the others. */
static inline void zeta_use_begin(struct zeta_use *use)
{
    for (; use; use = use->whole)
        atomic_fetch_add_explicit(&use->commands, 1, memory_order_relaxed);
}

/** Notes that one of the counted commands is over but for the report. */
static inline void zeta_use_note_over(struct zeta_use *use)
{
    for (; use; use = use->whole)
        atomic_fetch_add(&use->commands, ZETA_USE_OVER);
}

/** Counts one command less, in one step, so that no thread sees it run again meanwhile. */
static inline void zeta_use_end(struct zeta_use *use, bool was_over)
{
    while (use) {
        struct zeta_use *whole = use->whole;

        atomic_fetch_sub_explicit(&use->commands, was_over ? ZETA_USE_OVER + 1 : 1,
                                  memory_order_release);
        use = whole;
    }
}

/** True while a submission uses the object. */
static inline bool zeta_use_is(const struct zeta_use *use)
{
    return (uint32_t)atomic_load_explicit(&use->commands, memory_order_acquire) > 0;
}

/**
 * How often, and how far apart, a thread polls for the end of work that was not reported as over.
 * Polls are counted, not time, so that a suspended host uses none of them up.
 */
#define ZETA_USE_POLLS 500u
#define ZETA_USE_POLL_NS UINT64_C(1000000)

/**
 * Waits until nothing uses the object: as long as it takes for the reports of work that is over,
 * and a little for other work. False if something still does.
 */
bool zeta_use_wait(const struct zeta_use *use);

/* ---- Commands ---- */

/** A command uses an object; taken back with the pins that came before it. */
struct zeta_buffer_use {
    struct zeta_use *use;
    uint32_t pin_count; /**< that the buffer had, at least 1 */
};

/** All zero bytes is an empty buffer. One thread at a time. */
struct zeta_command_buffer {
    struct zeta_arena arena;
    struct zeta_plugin_command *commands;
    uint32_t count;
    uint32_t capacity;
    bool tracked; /**< names events about which something is decided at submission */
    void **pins;  /**< pinned objects */
    uint32_t pin_count;
    uint32_t pin_capacity;
    struct zeta_buffer_use
        *uses; /**< of objects that are pinned here or by the source of commands */
    uint32_t use_count;
    uint32_t use_capacity;
};

/**
 * Adds a command of a type, zeroed otherwise. The pointer is valid until the next one is added.
 * Errors: OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_command_buffer_add(struct zeta_command_buffer *buffer, uint32_t type,
                                    struct zeta_plugin_command **out_command);

/** Copies bytes into the buffer. Errors: OUT_OF_HOST_MEMORY. */
ze_result_t zeta_command_buffer_copy(struct zeta_command_buffer *buffer, const void *data,
                                     size_t bytes, const void **out_copy);

/** Zeroed memory, valid as long as the buffer. Errors: OUT_OF_HOST_MEMORY. */
ze_result_t zeta_command_buffer_alloc(struct zeta_command_buffer *buffer, size_t bytes,
                                      void **out_memory);

/** Pins an object until the buffer is cleared. Errors: INVALID_NULL_HANDLE if it is not live. */
ze_result_t zeta_command_buffer_pin(struct zeta_command_buffer *buffer, void *object,
                                    enum zeta_kind kind);

/** Notes that a command uses an object, which is pinned already. Errors: OUT_OF_HOST_MEMORY. */
ze_result_t zeta_command_buffer_use(struct zeta_command_buffer *buffer, struct zeta_use *use);

/** Counts all uses of the buffer: a submission of it begins. */
void zeta_command_buffer_begin_uses(const struct zeta_command_buffer *buffer);

/** Notes of all uses that the submission is over but for its report. */
void zeta_command_buffer_note_over(const struct zeta_command_buffer *buffer);

/** The submission has ended; was_over: whether that was noted before. */
void zeta_command_buffer_end_uses(const struct zeta_command_buffer *buffer, bool was_over);

/** Takes back what was added after the buffer had that many commands and pins. */
void zeta_command_buffer_rewind(struct zeta_command_buffer *buffer, uint32_t count,
                                uint32_t pin_count);

/**
 * Makes an empty buffer a copy that shares nothing but pins with the source.
 * Errors: OUT_OF_HOST_MEMORY. The copy is empty then.
 */
ze_result_t zeta_command_buffer_clone(const struct zeta_command_buffer *source,
                                      struct zeta_command_buffer *out_copy);

/** Adds copies of the commands of another buffer, which keeps what they refer to. */
ze_result_t zeta_command_buffer_add_all(struct zeta_command_buffer *buffer,
                                        const struct zeta_command_buffer *source);

/**
 * Moves the commands of another buffer behind those of this one, with what they refer to.
 * Errors: OUT_OF_HOST_MEMORY; both are as before then.
 */
ze_result_t zeta_command_buffer_absorb(struct zeta_command_buffer *buffer,
                                       struct zeta_command_buffer *other);

/** Drops all commands and pins, but keeps memory for the next ones. */
void zeta_command_buffer_reuse(struct zeta_command_buffer *buffer);

/** Drops all commands and pins and frees the memory; the buffer is empty afterwards. */
void zeta_command_buffer_clear(struct zeta_command_buffer *buffer);

/* ---- A command that queries the times of events, in the order of its queue ---- */

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

#endif
