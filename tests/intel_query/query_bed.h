/*
 * Queries of Intel GPUs on emulated machines: from their group to their records, and what those
 * must say.
 */
#ifndef ZETA_TESTS_INTEL_QUERY_BED_H
#define ZETA_TESTS_INTEL_QUERY_BED_H

#include <zeta/query_record.h>

#include "tests/intel/stream_bed.h"

enum { QUERY_MOST_BYTES = 2048 };

/** A pool of queries of one group, and an immediate list in whose order they begin and end. */
struct query_bed {
    ze_device_handle_t device;
    ze_context_handle_t context;
    zet_metric_group_handle_t group;
    zet_metric_query_pool_handle_t pool;
    zet_metric_query_handle_t queries[4];
    ze_command_list_handle_t list;
};

/** Activates the event-based group of that name, makes a pool of it and its queries. */
struct query_bed query_bed_open(ze_device_handle_t device, const char *group);

/** The same up to the pool, which must fail with that. */
void query_bed_open_fails(ze_device_handle_t device, const char *group, ze_result_t wanted);

/** One more pool beside: in the same context, of the same group. */
struct query_bed query_bed_beside(const struct query_bed *bed);
void query_bed_beside_end(struct query_bed *bed);

void query_bed_close(struct query_bed *bed);

/** Begins a query; it has begun when this returns. */
void query_bed_begin(const struct query_bed *bed, uint32_t index);

/** Ends it, without waiting: at some time before its result is there. */
void query_bed_end(const struct query_bed *bed, uint32_t index);

/** Ends it before this returns; where time stands still that takes half a second of the host's. */
void query_bed_end_now(const struct query_bed *bed, uint32_t index);

/** Lets time pass until a query has its result; the bytes of its records. */
size_t query_bed_collect(const struct query_bed *bed, uint32_t index, uint8_t *records);

/**
 * Waits until reports were read that are later than everything before: by another query, the last
 * of the pool. What is told of losses then comes behind what has begun.
 */
void query_bed_catch_up(const struct query_bed *bed);

/** A query in whose middle reports are lost by a fault. */
void query_bed_lose(const struct query_bed *bed, uint32_t index, enum kmd_fault fault,
                    uint8_t *records);

/** Lets time pass, no faster than reports are read: nothing is lost, however busy the host is. */
void query_bed_pass(uint64_t ns);

struct zeta_query_record query_bed_head(const uint8_t *record);
uint64_t query_bed_field(const uint8_t *record, uint32_t index);

/** Checks every counter of an A32u40_A4u32_B8_C8 record against the machine, to the last count. */
void query_bed_expect_a32(const uint8_t *record, uint32_t device, const char *uuid);

#endif
