/*
 * What tests of queries and markers share: the device of tests/harness with its metrics.
 */
#ifndef ZETA_TESTS_METRIC_API_QUERY_BED_H
#define ZETA_TESTS_METRIC_API_QUERY_BED_H

#include <level_zero/zet_api.h>

#include "tests/harness/harness.h"

#define EVENT_BASED ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED
#define TIME_BASED ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED
#define PERFORMANCE ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE
#define EXECUTION ZET_METRIC_QUERY_POOL_TYPE_EXECUTION

/** Group setup and teardown: state is a struct harness whose device is a tile, without tiles. */
int query_bed_setup(void **state);
int query_bed_teardown(void **state);

/** Before and after each test: group Work is active on the tile, then nothing is. */
int query_bed_begin(void **state);
int query_bed_end(void **state);

/** The same harness for the root device. */
struct harness query_bed_root(const struct harness *h);

/** The same harness for the other tile. */
struct harness query_bed_other(const struct harness *h);

zet_metric_group_handle_t query_bed_group(const struct harness *h, const char *name,
                                          zet_metric_group_sampling_type_flags_t sampling);

/** Activates one group; NULL: none. */
void query_bed_activate(const struct harness *h, zet_metric_group_handle_t group);

/** A pool of group Work. */
zet_metric_query_pool_handle_t query_bed_pool(const struct harness *h, uint32_t count);
zet_metric_query_pool_handle_t query_bed_pool_of(const struct harness *h, const char *group,
                                                 zet_metric_query_pool_type_t type, uint32_t count);
zet_metric_query_handle_t query_bed_query(zet_metric_query_pool_handle_t pool, uint32_t index);

/** Destroys queries 0 to count - 1 and their pool. */
void query_bed_drop(zet_metric_query_pool_handle_t pool, zet_metric_query_handle_t *queries,
                    uint32_t count);

/**
 * Appends an end that waits for nothing. The array is there, because an older validation layer
 * wants one also for no events.
 */
ze_result_t query_bed_append_end(ze_command_list_handle_t list, zet_metric_query_handle_t query,
                                 ze_event_handle_t signal);

/** Appends begin, a launch that adds value to *target, and end. */
void query_bed_append(const struct harness *h, ze_command_list_handle_t list,
                      zet_metric_query_handle_t query, ze_kernel_handle_t kernel);

/** One value of a finished query of group Work. */
uint64_t query_bed_value(const struct harness *h, zet_metric_query_handle_t query,
                         const char *metric);

/** One value of a row of raw data: of set (tile) set. */
uint64_t query_bed_value_in(zet_metric_group_handle_t group, const uint8_t *raw, size_t bytes,
                            uint32_t set, const char *metric);

/** Executes a list on a queue of its own and waits for it. */
void query_bed_run(const struct harness *h, ze_command_list_handle_t list);

#endif
