/*
 * Query records: the raw data of one query on one tile.
 *
 * A record stands alone: no neighbour is needed to calculate from it. All numbers are
 * little-endian.
 *
 *    0  size_bytes        of the record: 48 + 8 x fields
 *    4  tile              index of the tile on the device that the pool was made for, as the
 *                         process sees it; 0 on a device without tiles (the host sees to that)
 *    8  flags             ZETA_QUERY_*
 *   12  context           id of the queue's context in reports of the unit, 0 if unknown
 *   16  begin_ticks       unmasked ticks of the metric timer
 *   24  end_ticks
 *   32  time_ns           between the two, in nanoseconds of the metric timer
 *   40  0
 *   48  fields            one uint64_t each, in the order of struct zeta_plugin_query_desc: the
 *                         whole difference of a running count, also across wraps of the unit's own
 *                         counter; the bits of the last value for what is no running count
 */
#ifndef ZETA_QUERY_RECORD_H
#define ZETA_QUERY_RECORD_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Flags of a query record. */
enum {
    ZETA_QUERY_SPLIT = 1u << 0,     /**< queue or counting was interrupted in between */
    ZETA_QUERY_FREQUENCY = 1u << 1, /**< the core clock changed between begin and end */
    ZETA_QUERY_OVERFLOW = 1u << 2   /**< counts may be too low: a gap, or wraps that nobody saw */
};

/** The beginning of a record; the fields follow. */
struct zeta_query_record {
    uint32_t size_bytes;
    uint32_t tile;
    uint32_t flags;
    uint32_t context;
    uint64_t begin_ticks;
    uint64_t end_ticks;
    uint64_t time_ns;
    uint64_t reserved;
};

/** Bytes of a record with that many fields. */
static inline uint32_t zeta_query_record_bytes(uint32_t field_count)
{
    return (uint32_t)sizeof(struct zeta_query_record) + 8 * field_count;
}

#ifdef __cplusplus
}
#endif

#endif
