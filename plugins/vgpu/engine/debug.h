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

#include "plugins/vgpu/engine/engine.h"

/** Register sets: numbers that are not of any other maker; CE and CR as tools know them. */
enum {
    ZETA_VGPU_REGISTERS_CE = 4,       /**< 1 x 32: 1, the execution mask; read only */
    ZETA_VGPU_REGISTERS_CR = 6,       /**< 1 x 128: dword 0 free, dword 1 ZETA_VGPU_CAUSE_*, dwords
                                           2 and 3 the address that a fault or watchpoint is about */
    ZETA_VGPU_REGISTERS_X = 0x10001,  /**< 31 x 64: x1..x31 */
    ZETA_VGPU_REGISTERS_F = 0x10002,  /**< 32 x 64: f0..f31, single precision NaN-boxed */
    ZETA_VGPU_REGISTERS_PC = 0x10003, /**< 1 x 64 */
    ZETA_VGPU_REGISTERS_ID = 0x10004, /**< 8 x 64: group id x, y, z, local id x, y, z, number of the
                                           thread as above, subslice; read only */
    ZETA_VGPU_REGISTERS_FCSR = 0x10005 /**< 1 x 32; any pattern while stopped, 8 bits of it count */
};

/**
 * Why a thread stopped: bits of dword 1 of CR, which a stop sets and nothing but the debugger
 * clears before the next one. With BREAK set when it is resumed, a thread executes one instruction
 * and stops; an ecall is one, with what it does, so a step into a barrier lasts until the barrier
 * lets the thread go. The last instruction of a thread ends it.
 */
#define ZETA_VGPU_CAUSE_BREAK (1u << 31) /**< ebreak, where pc is, or the step is done */
#define ZETA_VGPU_CAUSE_HALT (1u << 30)  /**< zeta_vgpu_debug_halt() */
#define ZETA_VGPU_CAUSE_ILLEGAL                                                                    \
    (1u << 28)                           /**< illegal instruction, or a call without a meaning     \
                                          */
#define ZETA_VGPU_CAUSE_WATCH (1u << 24) /**< access to a watched address; pc is behind it */
#define ZETA_VGPU_CAUSE_FAULT (1u << 16) /**< failed access, jump or check; pc is at it */

/** Watched ranges of an engine. */
#define ZETA_VGPU_WATCHPOINTS 16u

enum { ZETA_VGPU_WATCHPOINT_WRITE = 1u << 0, ZETA_VGPU_WATCHPOINT_READ = 1u << 1 };

/**
 * A debugger takes control. Threads that fault, or come to an ebreak, stop from now on instead of
 * ending their launch. @changed is called when a thread has stopped by itself, on an engine's
 * thread that holds no lock but must not be held up, and when a halt is done, inside
 * zeta_vgpu_debug_halt(). It may not call functions of this file or the engine.
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
 * Stops those threads of a mask that run or wait at a barrier; gives the number of the halt, from
 * 1. It is done when the function returns. Threads that begin later are not stopped.
 */
uint64_t zeta_vgpu_debug_halt(struct zeta_vgpu_engine *engine, const uint64_t *threads);

/**
 * What is stopped, and of it what stopped by itself and was not told by this function yet. Gives
 * the number of the last halt; 0: there was none.
 */
uint64_t zeta_vgpu_debug_threads(struct zeta_vgpu_engine *engine, uint64_t *out_stopped,
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

/**
 * Copies bytes of local memory of a stopped thread's group, from address 0 on, or of addresses as
 * that thread uses them (local and private memory included); all or nothing.
 * @thread  UINT32_MAX: addresses of the process, without local memory
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

/** What a thread that stopped for CAUSE_FAULT or CAUSE_ILLEGAL did; false for any other. */
bool zeta_vgpu_debug_fault(struct zeta_vgpu_engine *engine, uint32_t thread,
                           struct zeta_vgpu_fault *out_fault);

#endif
