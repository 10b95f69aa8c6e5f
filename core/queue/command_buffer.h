/*
 * Commands that were appended, with everything they refer to: argument blocks, patterns, wait lists
 * in an arena, and pins on the events and kernels that they name.
 */
#ifndef ZETA_CORE_QUEUE_COMMAND_BUFFER_H
#define ZETA_CORE_QUEUE_COMMAND_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/ze_api.h>
#include <zeta/arena.h>
#include <zeta/plugin.h>

#include "core/object/object.h"
#include "core/queue/use.h"

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
    bool tracked; /**< names events about which something is decided at submission (track.h) */
    void **pins;  /**< pinned objects */
    uint32_t pin_count;
    uint32_t pin_capacity;
    struct zeta_buffer_use *uses; /**< of objects that are pinned here or by who gave commands */
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

#endif
