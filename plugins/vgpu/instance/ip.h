#ifndef ZETA_PLUGINS_VGPU_INSTANCE_IP_H
#define ZETA_PLUGINS_VGPU_INSTANCE_IP_H

/*
 * Samples of instruction pointers between processes: who has the unit "ip" of a tile says that it
 * wants them, and every process that executes puts its own into a log that all share. Readers are
 * never waited for; what they did not read in time is lost, and they learn how much.
 */

#include <stdbool.h>
#include <stdint.h>

#include "instance.h"
#include "plugins/vgpu/engine/engine.h"

/** Entries of the log of a tile. */
#define ZETA_VGPU_IP_LOG_SIZE 16384u

/** Samples of one process. */
struct zeta_vgpu_ip_event {
    uint64_t address;
    uint32_t pid;
    uint32_t stall; /**< enum zeta_vgpu_stall */
    uint32_t count; /**< 1..ZETA_VGPU_IP_COUNT_MAX */
};

/** Most samples of an entry. */
#define ZETA_VGPU_IP_COUNT_MAX 0xffffffu

/**
 * Begins to want samples of a tile whose unit this process took.
 *
 * @period_ticks  between samples of a thread; a power of two
 * @out_cursor    where to begin to read
 * False when there is no memory for the log, or the instance is damaged.
 */
bool zeta_vgpu_instance_ip_begin(struct zeta_vgpu_instance *instance, uint32_t tile,
                                 uint64_t period_ticks, uint64_t *out_cursor);

/** Ends that, before the unit is released. */
void zeta_vgpu_instance_ip_end(struct zeta_vgpu_instance *instance, uint32_t tile);

/**
 * Period in ticks of whoever wants samples of a tile, 0: nobody. One load.
 *
 * @out_session  another number each time that somebody begins
 */
uint64_t zeta_vgpu_instance_ip_period(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                      uint64_t *out_session);

/**
 * Appends samples of this process, and how many it lost. Ends the sampling of a process that died.
 */
void zeta_vgpu_instance_ip_append(struct zeta_vgpu_instance *instance, uint32_t tile,
                                  const struct zeta_vgpu_ip_sample *samples, uint32_t count,
                                  uint64_t lost);

/**
 * Reads the entry at *cursor and moves the cursor behind it; false when there is none. What was
 * overwritten before it was read, or lost by its writer, is added to *lost.
 */
bool zeta_vgpu_instance_ip_next(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                uint64_t *cursor, struct zeta_vgpu_ip_event *out_event,
                                uint64_t *lost);

#endif
