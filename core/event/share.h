/*
 * Memory of events that several processes use, and the handles that lead to it.
 *
 * The memory is an anonymous file that its maker keeps open; another process of the same user
 * opens it through /proc/<pid>/fd, or from his own table when the descriptor came over a socket and
 * its number into the handle. A handle names descriptor, process, file and a random token, and all
 * four have to match, so a descriptor that was reused never passes for the right one. The size
 * of the file is sealed: a mapping of it can be read for ever, whatever other processes do.
 *
 *   0                 struct zeta_share_header
 *   ZETA_SHARE_AT     count cells, or one counter
 *
 * Nothing that is read from it is trusted to be more than a state, a time or a number.
 */
#ifndef ZETA_CORE_EVENT_SHARE_H
#define ZETA_CORE_EVENT_SHARE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

#include "core/event/counter.h"
#include "core/event/signal.h"

/** What the shared memory holds. */
enum zeta_share_kind { ZETA_SHARE_POOL = 1, ZETA_SHARE_COUNTER = 2 };

/** Where the content begins. */
#define ZETA_SHARE_AT 128u

/** The state of an event of a pool; all zero bytes is one that is not signalled. */
struct zeta_event_cell {
    struct zeta_signal signal;
    struct zeta_work_times times;
    _Atomic uint64_t signaller; /**< process whose submitted work will signal it, 0: none */
};

/** Most events of a pool for other processes: all of its memory is used from the beginning. */
#define ZETA_SHARE_MAX_EVENTS (UINT32_C(1) << 20)

/** A share that this process has mapped. */
struct zeta_share {
    void *memory;
    size_t bytes;
    int descriptor; /**< of the maker, -1 in a process that opened it */
    bool is_opened; /**< made elsewhere, or opened a second time */
    uint32_t count; /**< cells, checked against the size */
    uint32_t flags; /**< of the pool or event, as its maker had them */
    uint64_t maker; /**< process that made it */
    unsigned char handle[ZE_MAX_IPC_HANDLE_SIZE];
};

/**
 * Makes shared memory with that many zeroed cells, or one counter (count is 1 then).
 * Errors: INVALID_SIZE above ZETA_SHARE_MAX_EVENTS; OUT_OF_HOST_MEMORY with errno in the sentence.
 */
ze_result_t zeta_share_create(enum zeta_share_kind kind, uint32_t count, uint32_t flags,
                              struct zeta_share **out_share);

/**
 * Maps what a handle of this or another process leads to.
 * Errors: INVALID_ARGUMENT, with the reason, for a handle that is damaged, out of date, of another
 * kind or of a process that has ended or belongs to another user; OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_share_open(enum zeta_share_kind kind, const void *handle,
                            struct zeta_share **out_share);

/** INVALID_ARGUMENT unless the bytes have the form of a handle of that kind. */
ze_result_t zeta_share_check_handle(enum zeta_share_kind kind, const void *handle);

/** Unmaps it; the memory goes with the last process that has it. NULL is allowed. */
void zeta_share_destroy(struct zeta_share *share);

/** Cell by index, below count. */
struct zeta_event_cell *zeta_share_cell(const struct zeta_share *share, uint32_t index);

/** The memory of the counter of a share of that kind. */
struct zeta_counter_memory *zeta_share_counter(const struct zeta_share *share);

/** This process, as other processes can recognise it: its id and the time of its start. */
uint64_t zeta_process_self(void);

/** False if that process has ended, also when its id was given to another one since. */
bool zeta_process_is_alive(uint64_t process);

/** Process id of zeta_process_self()'s form, for messages. */
static inline uint32_t zeta_process_id(uint64_t process)
{
    return (uint32_t)(process >> 32);
}

#endif
