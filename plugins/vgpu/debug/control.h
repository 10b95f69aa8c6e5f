#ifndef ZETA_PLUGINS_VGPU_DEBUG_CONTROL_H
#define ZETA_PLUGINS_VGPU_DEBUG_CONTROL_H

/*
 * The run control of all tiles of a root device as one: threads, halts, memory and watchpoints.
 * Threads of the root are those of its tiles, tile after tile. One thread at a time uses it.
 */

#include <stdbool.h>
#include <stdint.h>

#include <zeta/plugin.h>
#include <zeta/vgpu_debug.h>

#include "plugins/vgpu/device/describe.h"
#include "protocol.h"

struct zeta_vgpu;

/** Register sets of every thread, in their order. */
#define ZETA_VGPU_REGISTER_SETS 7u
extern const struct zeta_plugin_register_set zeta_vgpu_register_sets[ZETA_VGPU_REGISTER_SETS];

/** A session of a debugger. */
struct zeta_vgpu_control {
    struct zeta_vgpu *vgpu;
    uint32_t tile_threads;
    uint32_t threads; /**< of the root */
    uint64_t halts;   /**< so far, all of them done */
    uint64_t *masks;  /**< scratch: two of a tile */
    struct zeta_vgpu_watchpoint watchpoints[ZETA_VGPU_WATCHPOINTS];
    uint64_t breakpoints[ZETA_VGPU_BREAKPOINTS]; /**< addresses; 0: none */
};

/** Number of threads of the root device. */
uint32_t zeta_vgpu_control_threads(const struct zeta_vgpu_description *description);

/**
 * Makes the engines, where there are none yet, and takes control of them. changed is called on any
 * thread, which must not be held up, when more threads have stopped or a halt is done.
 * A result of the plugin interface; a failure leaves a sentence.
 */
uint32_t zeta_vgpu_control_begin(struct zeta_vgpu_control *control, struct zeta_vgpu *vgpu,
                                 void (*changed)(void *user), void *user);

/** Lets go: all threads run, nothing is watched. */
void zeta_vgpu_control_end(struct zeta_vgpu_control *control);

/** Stops the threads of a mask; gives the number of the halt, from 1. It is done then. */
uint64_t zeta_vgpu_control_halt(struct zeta_vgpu_control *control, const uint64_t *threads);

/** Lets the stopped threads of a mask go on. */
void zeta_vgpu_control_resume(struct zeta_vgpu_control *control, const uint64_t *threads);

/**
 * What is stopped, and of it what stopped by itself and was not told yet; both masks are zero
 * before. Gives the number of the last halt that is done.
 */
uint64_t zeta_vgpu_control_poll(struct zeta_vgpu_control *control, uint64_t *out_stopped,
                                uint64_t *out_excepted);

/** True, with what it was, for a stopped thread whose access to memory failed. */
bool zeta_vgpu_control_fault(struct zeta_vgpu_control *control, uint32_t thread,
                             struct zeta_vgpu_debug_fault *out_fault);

/**
 * Writes registers of a stopped thread. @bytes has to be that many registers.
 * INVALID_ARGUMENT when there are no such registers, NOT_AVAILABLE when it is not stopped.
 */
uint32_t zeta_vgpu_control_registers_write(struct zeta_vgpu_control *control, uint32_t thread,
                                           uint64_t type, uint64_t first, uint64_t count,
                                           void *buffer, uint64_t bytes);

/**
 * Appends a struct zeta_vgpu_debug_snapshot of each stopped thread of a mask. False without memory.
 * @out_still  whether nothing executes before a thread is resumed
 */
bool zeta_vgpu_control_snapshots(struct zeta_vgpu_control *control, const uint64_t *threads,
                                 struct zeta_vgpu_debug_buffer *buffer, bool *out_still);

/**
 * Reads or writes memory of a stopped thread or of the process; all of it or nothing. NOT_AVAILABLE
 * with the first address of which that is not possible.
 * @buffer  NULL: reads nothing, and says whether it could
 */
uint32_t zeta_vgpu_control_memory(struct zeta_vgpu_control *control, uint32_t space,
                                  uint32_t thread, uint64_t address, uint64_t size_bytes,
                                  void *buffer, bool write, uint64_t *out_missing);

#endif
