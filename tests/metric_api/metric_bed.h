/*
 * One of everything that functions of metrics take, on a virtual GPU with two tiles: groups, raw
 * data, exported data, a query with its result, traced events with their decoder, a programmable
 * and metrics made of it. Nothing is active and nobody samples.
 */
#ifndef ZETA_TESTS_METRIC_API_METRIC_BED_H
#define ZETA_TESTS_METRIC_API_METRIC_BED_H

#include "tests/metric_api/harness.h"

#define TRACER_BASED ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED
#define VALUES ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES
#define BED_TILES 2u
#define BED_BYTES 65536u
/** Metrics that the programmable gives for each EU of a tile: they need several groups. */
#define BED_METRICS 128u

struct metric_bed {
    ze_driver_handle_t driver;
    ze_device_handle_t root;
    ze_device_handle_t tile;
    ze_context_handle_t context;
    zet_metric_group_handle_t sampled; /**< of the root, as all groups but the next */
    zet_metric_group_handle_t sampled_tile;
    zet_metric_group_handle_t queried;
    zet_metric_group_handle_t traced;
    uint8_t raw[BED_BYTES]; /**< of sampled */
    size_t raw_bytes;
    uint8_t tile_raw[BED_BYTES]; /**< of sampled_tile */
    size_t tile_raw_bytes;
    uint8_t exported[2 * BED_BYTES]; /**< raw */
    size_t exported_bytes;
    zet_metric_query_pool_handle_t pool;
    zet_metric_query_handle_t query; /**< around nothing */
    uint8_t events[BED_BYTES];       /**< of both tiles */
    size_t events_bytes;
    zet_metric_decoder_exp_handle_t decoder;
    zet_metric_handle_t decodable[32];
    uint32_t decodable_count;
    zet_metric_programmable_exp_handle_t programmable; /**< of the tile */
    zet_metric_handle_t metrics[BED_METRICS];          /**< of it, one for each EU */
};

/** cmocka group setup and teardown: state is a struct metric_bed. */
int metric_bed_setup(void **state);
int metric_bed_teardown(void **state);

/** Makes exactly this group the active one of the root; NULL: none. */
void metric_bed_activate(const struct metric_bed *bed, zet_metric_group_handle_t group);

/** The time-based programmable of the tile of that name. */
zet_metric_programmable_exp_handle_t metric_bed_find(const struct metric_bed *bed,
                                                     const char *name);

#endif
