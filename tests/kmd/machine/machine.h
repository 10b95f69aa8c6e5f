#ifndef ZETA_TESTS_KMD_MACHINE_H
#define ZETA_TESTS_KMD_MACHINE_H

/* What the rest of the emulated kernel asks of machines, streams and the timer thread. */

#include <stdbool.h>
#include <stdint.h>

#include "tests/kmd/machine/kmd_priv.h"

struct kmd_shared *kmd_machine_shared(const struct kmd_machine *machine);

/** Takes the lock of a GPU, also from a process that died with it. */
void kmd_lock(struct kmd_gpu *gpu);
void kmd_unlock(struct kmd_gpu *gpu);

const struct kmd_driver *kmd_gpu_driver(const struct kmd_gpu *gpu);

/** The GPU whose node has this inode on the machine's file system; NULL: it is no node. */
struct kmd_gpu *kmd_gpu_of_inode(uint64_t device, uint64_t inode, uint32_t *out_minor);
/** The unit whose stream has this FIFO; NULL: it is none. */
struct kmd_unit *kmd_unit_of_inode(uint64_t device, uint64_t inode, struct kmd_gpu **out_gpu);

/** Does what the kernel's timer does, for one open stream. The lock is held. */
void kmd_stream_tick(struct kmd_gpu *gpu, struct kmd_unit *unit);
/** The ring of a stream overflows: reports after this time find no room, at least so many.
 * The lock is held. */
void kmd_ring_overflow(struct kmd_unit *unit, uint64_t tick, uint64_t least);
/** The next so many periods have a context switch in the middle. The lock is held. */
void kmd_ring_add_switches(struct kmd_gpu *gpu, struct kmd_unit *unit, uint64_t periods);
/** Is its FIFO still held by somebody? Ends the stream if not. The lock is held. */
bool kmd_stream_is_alive(struct kmd_gpu *gpu, struct kmd_unit *unit);

/** Has this process's timer thread look after a stream from now on. No lock is held. */
void kmd_ticker_add(struct kmd_gpu *gpu, struct kmd_unit *unit);

#endif
