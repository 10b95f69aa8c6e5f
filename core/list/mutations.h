/*
 * Mutable command lists: which recorded commands may be changed, in what, and the changes.
 *
 * An application that wants to change a command asks for an id before it appends the command. The
 * id leads to a note here; a change is checked against the note and written into the buffer. A
 * list that was changed has to be closed again before it runs.
 */
#ifndef ZETA_CORE_LIST_MUTATIONS_H
#define ZETA_CORE_LIST_MUTATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

struct zeta_event;
struct zeta_kernel;
struct zeta_plugin_event;
struct zeta_command_buffer;

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
    uint64_t wait_count;              /**< events that the command was appended with */
    struct zeta_plugin_event **waits; /**< room for as many, NULL before the first change */
    struct zeta_event **events;       /**< those, then the signal event; pinned, NULL: none */
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

/**
 * The notes of a copy of a buffer; points its commands to wait lists of their own.
 * Errors: OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_mutations_clone(const struct zeta_mutations *source,
                                 struct zeta_command_buffer *buffer,
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
