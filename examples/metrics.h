/*
 * What the examples about metrics share: finding groups, sampling while something works, showing
 * values.
 */
#ifndef ZETA_EXAMPLES_METRICS_H
#define ZETA_EXAMPLES_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/zet_api.h>
#include <zeta/zeta.h>

struct matrix_work;

/** Work to be measured. */
typedef void (*example_work_fn)(void *user);

/**
 * The group with this name that is measured this way, or the first one of any name (NULL); NULL
 * when there is none.
 */
zet_metric_group_handle_t example_look_for_group(ze_device_handle_t device, const char *name,
                                                 zet_metric_group_sampling_type_flag_t sampling);

/** The same; ends the program when there is none. */
zet_metric_group_handle_t example_find_group(ze_device_handle_t device, const char *name,
                                             zet_metric_group_sampling_type_flag_t sampling);

/** An event that the host can wait for, in a pool of its own. */
ze_event_handle_t example_create_event(ze_context_handle_t context, ze_device_handle_t device,
                                       ze_event_pool_handle_t *out_pool);

/** Reads all reports that wait in a streamer. The caller frees what it gets. */
uint8_t *example_read_reports(zet_metric_streamer_handle_t streamer, size_t *out_bytes);

/** The data of a query that has ended. The caller frees what it gets. */
uint8_t *example_get_query_data(zet_metric_query_handle_t query, size_t *out_bytes);

/**
 * Activates a time-based group, streams it while work runs and until enough reports are there,
 * deactivates it. Gives the raw reports; the caller frees them.
 */
uint8_t *example_sample(ze_context_handle_t context, ze_device_handle_t device,
                        zet_metric_group_handle_t group, example_work_fn work, void *user,
                        size_t *out_bytes);

/** The value as a double; right for whole numbers up to 2^53. */
double example_to_double(const zet_typed_value_t *value);

/** Position of a metric in the rows of its group. Ends the program when the group has none. */
uint32_t example_find_metric(zet_metric_group_handle_t group, const char *name);

/** Whether a group has a metric of that name. */
bool example_has_metric(zet_metric_group_handle_t group, const char *name);

/**
 * Names of metrics that tell about the product of matrices, as many as the group has and at most so
 * many: @out_names has room for them. Gives their number.
 */
uint32_t example_choose_metrics(zet_metric_group_handle_t group, uint32_t most,
                                const char **out_names);

/**
 * Calculates raw data and prints the metrics that are named: at most ten rows, then the values over
 * all rows, if the driver gives them. Gives the number of rows.
 */
uint32_t example_print_rows(ze_driver_handle_t driver, zet_metric_group_handle_t group,
                            const uint8_t *raw, size_t bytes, const char *const *names,
                            uint32_t name_count);

/** Prints rows that were calculated: some columns of at most ten rows. */
void example_print_columns(const zet_typed_value_t *values, uint32_t row_count, uint32_t row_length,
                           const uint32_t *places, uint32_t place_count);

/** Finds a function of the driver by name and writes its address to *target; false: none. */
bool example_find_function(ze_driver_handle_t driver, const char *name, void *target);

/** Prints the values of some metrics over all rows of raw data, if the driver gives them. */
void example_print_over_all(ze_driver_handle_t driver, const struct zeta_metric_sum_desc *desc,
                            const uint8_t *raw, size_t bytes, const uint32_t *places,
                            uint32_t place_count);

/**
 * Runs the kernel alone, between the begin and the end of a query, and gives the value of a metric
 * of the group ComputeBasic, which counts whole numbers.
 */
uint64_t matrix_work_measure(const struct matrix_work *work, const char *metric);

#endif
