#ifndef ZETA_PLUGINS_VGPU_ENGINE_DEBUG_H
#define ZETA_PLUGINS_VGPU_ENGINE_DEBUG_H

/*
 * Run control: what a debugger does with the hardware threads, the code and the memory of one
 * engine. Threads are numbered (subslice * EUs + EU) * threads + thread; masks are those of
 * zeta/plugin_debug.h. All functions may be called from any thread but the engine's own, and from
 * one at a time. Each waits until every worker is between two quanta, which takes microseconds,
 * and threads go on when it returns, except for those that are stopped.
 *
 * A thread that is stopped keeps its place, and groups that find none wait. While one is stopped
 * that a halt was for, no group of its launch begins at all.
 */

#include <stdbool.h>
#include <stdint.h>

#include <zeta/vgpu_debug.h>

#include "plugins/vgpu/engine/engine.h"

/**
 * A debugger takes control. Threads that fault, or come to an ebreak, stop from now on instead of
 * ending their launch. @changed is called when a thread has stopped by itself, on an engine's
 * thread that holds no lock but must not be held up. It may not call functions of this file or the
 * engine.
 * False without memory. One debugger at a time.
 */
bool zeta_vgpu_debug_begin(struct zeta_vgpu_engine *engine, void (*changed)(void *user),
                           void *user);

/**
 * It lets go: no watches, all threads run, without steps; one that stopped for a fault executes
 * its instruction again, so it ends its launch unless the debugger has mended what was wrong.
 * @changed is not called any more.
 */
void zeta_vgpu_debug_end(struct zeta_vgpu_engine *engine);

/**
 * Stops those threads of a mask that run or wait at a barrier; returns when it is done. Threads
 * that begin later are not stopped.
 */
void zeta_vgpu_debug_halt(struct zeta_vgpu_engine *engine, const uint64_t *threads);

/** What is stopped, and of it what stopped by itself and was not told by this function yet. */
void zeta_vgpu_debug_threads(struct zeta_vgpu_engine *engine, uint64_t *out_stopped,
                             uint64_t *out_excepted);

/** Lets the stopped threads of a mask go on (or make a step); returns when they do. */
void zeta_vgpu_debug_resume(struct zeta_vgpu_engine *engine, const uint64_t *threads);

/**
 * Copies registers of a stopped thread from or to it; false when it is not stopped, there is no
 * such register, or it cannot be written. Any pattern is kept while the thread is stopped: it
 * means something when it is resumed.
 */
bool zeta_vgpu_debug_registers(struct zeta_vgpu_engine *engine, uint32_t thread, uint32_t set,
                               uint32_t first, uint32_t count, void *buffer, bool write);

/** Bytes of all registers of a thread: X, F, PC, CE, CR, ID, FCSR, one set after another. */
#define ZETA_VGPU_SNAPSHOT_REGISTER_BYTES (248u + 256u + 8u + 4u + 16u + 80u + 4u)

/** Bytes at its stack pointer, where unoptimised code has its variables. */
#define ZETA_VGPU_SNAPSHOT_STACK_BYTES 512u

/** What a debugger asks about every thread that stops. */
struct zeta_vgpu_debug_snapshot {
    uint32_t thread;
    uint32_t stack_bytes; /**< of stack that are there; 0: x2 does not point into its stack */
    uint64_t stack_begin; /**< address of the first: x2 */
    unsigned char registers[ZETA_VGPU_SNAPSHOT_REGISTER_BYTES];
    unsigned char stack[ZETA_VGPU_SNAPSHOT_STACK_BYTES];
};

/**
 * Fills in a snapshot of each stopped thread of a mask, in their order; gives how many these are.
 * @out_snapshots  room for all of the mask
 * @out_still      whether nothing executes before a thread is resumed, so that they stay true
 */
uint32_t zeta_vgpu_debug_snapshots(struct zeta_vgpu_engine *engine, const uint64_t *threads,
                                   struct zeta_vgpu_debug_snapshot *out_snapshots, bool *out_still);

/**
 * Copies bytes of local memory of a stopped thread's group, from address 0 on, or of addresses as
 * that thread uses them (local and private memory included); all or nothing.
 * @thread  UINT32_MAX: addresses of the process, without local memory
 * @buffer  NULL: reads nothing, and says whether it could
 * Writes to code are decoded again before any thread executes them. What kernels may only read is
 * written too.
 */
bool zeta_vgpu_debug_memory(struct zeta_vgpu_engine *engine, uint32_t thread, bool is_local,
                            uint64_t address, uint64_t size_bytes, void *buffer, bool write);

/**
 * Watches a range (kinds of ZETA_VGPU_WATCHPOINT_*; 0: no more) for accesses of any thread; an
 * atomic reads and writes. Addresses in the window of local memory are those of all groups.
 * @index  below ZETA_VGPU_WATCHPOINTS
 */
void zeta_vgpu_debug_watch(struct zeta_vgpu_engine *engine, uint32_t index, uint64_t address,
                           uint64_t size_bytes, uint32_t kinds);

/**
 * Lets threads stop before the instruction at an address (0: at none), if code has it now.
 * @index  below ZETA_VGPU_BREAKPOINTS
 */
void zeta_vgpu_debug_break(struct zeta_vgpu_engine *engine, uint32_t index, uint64_t address);

/** A thread that was resident when a fault stopped its launch. Addresses are as it uses them. */
struct zeta_vgpu_debug_remains {
    uint64_t ids[10];  /**< the registers of ZETA_VGPU_REGISTERS_ID */
    uint64_t pc;       /**< the next instruction, or that of its fault */
    const uint64_t *x; /**< x0..x31 */
    const uint64_t *f; /**< f0..f31 */
    uint32_t fcsr;
    uint64_t private_begin, private_end; /**< its stack, with its struct vgpu_thread at the end */
    uint64_t local_begin, local_bytes;   /**< local memory of its group */
    const void *local;                   /**< where the bytes of that are */
};

/**
 * What a thread of the launch has left. Only in the callback faulted of the launch, where pointers
 * stay valid. False when there is no such thread, or it had ended.
 */
bool zeta_vgpu_debug_remains(struct zeta_vgpu_engine *engine, uint32_t thread,
                             struct zeta_vgpu_debug_remains *out_remains);

/** What a thread that stopped for CAUSE_FAULT or CAUSE_ILLEGAL did; false for any other. */
bool zeta_vgpu_debug_fault(struct zeta_vgpu_engine *engine, uint32_t thread,
                           struct zeta_vgpu_fault *out_fault);

#endif
