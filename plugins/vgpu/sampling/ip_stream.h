#ifndef ZETA_PLUGINS_VGPU_SAMPLING_IP_STREAM_H
#define ZETA_PLUGINS_VGPU_SAMPLING_IP_STREAM_H

/*
 * Streams of the unit "ip": what the threads of all processes were seen doing, summed up for each
 * instruction in a period. Private to this folder.
 *
 * The record: 128 bytes, little endian.
 *
 *     0 address of the instruction (8)   8 process id (4)   12 zero (4)
 *    16 samples by what the thread did: nine counts of 8 bytes, in the order of enum
 *       zeta_vgpu_stall
 *    88 end of the period in ticks (8)  96 zero
 *
 * The process id is 0 in virtual time, where a stream sees its own process only.
 */

#include <stdbool.h>
#include <stdint.h>

struct zeta_plugin_stream;

/** Bytes of a record. */
#define ZETA_VGPU_IP_RECORD_BYTES 128u

/** What a stream of this unit has beside the others; NULL without memory. */
struct zeta_vgpu_ip *zeta_vgpu_ip_create(void);
void zeta_vgpu_ip_destroy(struct zeta_vgpu_ip *ip);

/** Begins to sample. False without memory or a thread; then nothing is sampled. */
bool zeta_vgpu_ip_start(struct zeta_plugin_stream *stream);

/** Ends sampling; what was sampled before is in the ring. Idempotent. */
void zeta_vgpu_ip_stop(struct zeta_plugin_stream *stream);

/** Wall time: puts what was sampled up to now into the ring, in the middle of a period. */
void zeta_vgpu_ip_catch_up(struct zeta_plugin_stream *stream);

/** Virtual time: writes the records of a period that has passed. With the tile's streams_lock. */
void zeta_vgpu_ip_advance(struct zeta_plugin_stream *stream, uint64_t now_ticks);

#endif
