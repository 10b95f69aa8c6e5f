/*
 * The file of a trace while it is written: Chrome's JSON, an array of one object per line.
 *
 * The file is mapped and every finished line is in it at once, so that a process may end in any
 * way: what it wrote stays, without a handler and without a flush. It grows by chunks; each chunk
 * belongs to one slot:
 *
 *   | head | chunk | chunk | chunk ...         chunk: | call in flight | line | line | ... blank |
 *
 * Who writes takes a slot, for as long as a call lasts, and never waits for another one. The first
 * part of the chunk holds the line of the call that is under way (a "B" event, blank between
 * calls), so a crash shows what was being called. What is not written yet is blanks, which JSON
 * allows. The head holds the name of the process and the number of lost records, in place.
 *
 * One file at a time. All functions may be called from any thread, unless they say otherwise.
 */
#ifndef ZETA_CORE_TRACE_FILE_H
#define ZETA_CORE_TRACE_FILE_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

enum {
    /** Most bytes of a finished line. */
    ZETA_TRACE_LINE_BYTES = 4096,
    /** Most bytes of the line of a call in flight. */
    ZETA_TRACE_OPEN_BYTES = 2048,
    /** The file grows by so much; the smallest limit is a few of them. */
    ZETA_TRACE_CHUNK_BYTES = 64 * 1024
};

/** A place to write to; one owner at a time. */
struct zeta_trace_slot {
    alignas(64) atomic_bool is_taken;
    uint32_t generation; /**< of the file that the chunk is of */
    char *chunk;         /**< mapped; begins with the line of the call in flight; null: none yet */
    uint32_t used_bytes; /**< of the chunk */
    uint32_t shown_bytes;
    uint64_t begin_ns; /**< for the owner to keep */
    uint64_t errors;
    _Atomic uint64_t records; /**< low 48 bits; the generation that they are of above */
};

/** What was written so far. */
struct zeta_trace_counts {
    uint64_t records;
    uint64_t lost;
    uint64_t bytes; /**< of the file */
};

/**
 * Creates the file, which must not exist, and opens it for writers. It grows no larger than the
 * limit; what finds no room is lost and counted. Errors: NOT_AVAILABLE when it cannot be created
 * (errno is EEXIST when it exists) or a file is open. The caller serialises open and close.
 */
ze_result_t zeta_trace_file_open(const char *path, uint64_t limit_bytes);

/** Makes the file a whole JSON document, without waiting: calls under way stay in it unfinished. */
void zeta_trace_file_close(void);

/** True between open and close. One load. */
bool zeta_trace_file_is_open(void);

/** Path of the file that is open, or was last, "" if there was none. */
const char *zeta_trace_file_path(void);

/** Grows by one with each file and each fork: what was remembered about another file is stale. */
uint32_t zeta_trace_file_generation(void);

/** Counts of the file that is open, or was last. Any thread. */
void zeta_trace_file_counts(struct zeta_trace_counts *out_counts);

/** Notes that a record could not be written. */
void zeta_trace_file_lose(void);

/**
 * Takes a slot with room for one call in flight and two lines; hint: the first one to try, kept by
 * the thread. NULL when no file is open, or nothing is free: the record is lost.
 */
struct zeta_trace_slot *zeta_trace_slot_take(uint32_t *hint);

/** Gives a slot back; a call in flight in it is blanked. */
void zeta_trace_slot_give(struct zeta_trace_slot *slot);

/** A number for a slot that is owned, not 0, to find it again with zeta_trace_slot_of(). */
uint64_t zeta_trace_slot_ticket(const struct zeta_trace_slot *slot);

/** The slot of a ticket; NULL when it is from before a fork, and nobody's any more. */
struct zeta_trace_slot *zeta_trace_slot_of(uint64_t ticket);

/** Writes the line of a call in flight; size_bytes <= ZETA_TRACE_OPEN_BYTES. */
void zeta_trace_slot_show(struct zeta_trace_slot *slot, const char *line, uint32_t size_bytes);

/** Adds a finished line, which ends with ",\n". Does nothing when the file was closed meanwhile. */
void zeta_trace_slot_write(struct zeta_trace_slot *slot, const char *line, uint32_t size_bytes,
                           bool is_record);

/** For a child of fork(): the parent's file is not ours. Only async-signal-safe steps. */
void zeta_trace_file_forget(void);

#endif
