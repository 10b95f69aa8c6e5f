/*
 * Query pools of a GPU with two tiles, on a scripted kernel. Records have three fields, of which
 * one counts.
 */
#ifndef ZETA_TESTS_INTEL_SAMPLER_BED_H
#define ZETA_TESTS_INTEL_SAMPLER_BED_H

#include <stdint.h>

#include <zeta/query_record.h>

#include "tests/intel/scripted.h"

enum { HZ = 1000000 };
enum { ID, TICKS, COUNT, FIELDS };
enum { RECORD_BYTES = 48 + 8 * FIELDS };

/** Everything that a pool needs: one GPU, and a device for it and for each tile. */
struct sampler_bed {
    struct zeta_plugin self;
    struct zeta_intel intel;
    struct zeta_intel_gpu gpu;
    struct zeta_intel_platform platform;
    struct zeta_plugin_device devices[1 + SCRIPTED_TILES];
};

/** For cmocka: *state is the bed. */
int sampler_bed_setup(void **state);
int sampler_bed_teardown(void **state);

/** A pool of a program, which its name stands for; device 0 is the root, then come the tiles. */
uint32_t sampler_bed_try_pool(struct sampler_bed *bed, uint32_t device, const char *set,
                              uint32_t count, struct zeta_plugin_query_pool **out_pool);
/** One of four queries on the first tile; fails the case if it cannot be made. */
struct zeta_plugin_query_pool *sampler_bed_pool(struct sampler_bed *bed, const char *set);
void sampler_bed_drop(struct sampler_bed *bed, struct zeta_plugin_query_pool *pool);

struct sampler_record {
    struct zeta_query_record head;
    uint64_t fields[FIELDS];
};

/** What the plugin answers now, and when the query is not pending any more. */
uint32_t sampler_bed_collect(struct sampler_bed *bed, struct zeta_plugin_query_pool *pool,
                             uint32_t index, struct sampler_record *out_record);
uint32_t sampler_bed_await(struct sampler_bed *bed, struct zeta_plugin_query_pool *pool,
                           uint32_t index, struct sampler_record *out_record);

#endif
