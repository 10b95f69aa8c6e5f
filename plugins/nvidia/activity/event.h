#ifndef ZETA_PLUGINS_NVIDIA_ACTIVITY_EVENT_H
#define ZETA_PLUGINS_NVIDIA_ACTIVITY_EVENT_H

/*
 * Activity records of CUPTI, and what becomes of them: events of 96 bytes, little-endian, the
 * layout nv-event. Records are versioned and grow; only what all versions have at the same place is
 * read.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Kinds of records that are asked for. */
enum {
    NVIDIA_RECORD_COPY = 1,
    NVIDIA_RECORD_FILL = 2,
    NVIDIA_RECORD_DRIVER_CALL = 4, /**< without it correlation is always 0; not read itself */
    NVIDIA_RECORD_KERNEL = 10,     /**< "concurrent", which serialises nothing */
    NVIDIA_RECORD_SYNCHRONIZATION = 38
};

enum { NVIDIA_EVENT_BYTES = 96 };

enum nvidia_event_type {
    NVIDIA_EVENT_ENABLED = 1,
    NVIDIA_EVENT_DISABLED = 2,
    NVIDIA_EVENT_KERNEL = 3,
    NVIDIA_EVENT_COPY = 4,
    NVIDIA_EVENT_FILL = 5,
    NVIDIA_EVENT_SYNCHRONIZE = 6
};

/** An event in memory. Times are of the clock that CUPTI was given. */
struct nvidia_event {
    uint16_t type; /**< enum nvidia_event_type */
    uint16_t unused;
    uint32_t device; /**< CUDA ordinal */
    uint64_t ticks;  /**< end, ns */
    uint64_t begin;
    uint32_t correlation; /**< of the call that caused it */
    uint32_t stream;
    uint64_t name; /**< number of a text (names.h); 0: none */
    uint32_t grid[3], block[3];
    uint64_t bytes;  /**< of copies and fills */
    uint64_t detail; /**< kernel: its number; copy: kind; fill: value; synchronisation: kind */
    uint32_t context;
    uint32_t shared;    /**< bytes of shared memory of a group */
    uint32_t local;     /**< bytes of local memory of a thread */
    uint32_t registers; /**< of a thread */
};

/** What a record says beside the event itself. */
struct nvidia_event_text {
    const char *name; /**< of a kernel, CUPTI's and valid in the callback; else constant; NULL: none
                       */
    bool has_device;  /**< else the context has to tell */
};

/**
 * Reads a record. False for other kinds, for what is cut, and for work whose times are not known,
 * because it had not ended: those are records of nothing.
 *
 * @record  aligned to 8; bytes of it that are there, maybe with others behind it
 */
bool nvidia_event_read(const void *record, size_t bytes, struct nvidia_event *out_event,
                       struct nvidia_event_text *out_text);

#endif
