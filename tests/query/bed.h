/*
 * What tests of queries and markers on the virtual GPU share: kernels whose counts are known by
 * formulas, and ways from a query to its numbers. All of it through the public API.
 */
#ifndef ZETA_TESTS_QUERY_BED_H
#define ZETA_TESTS_QUERY_BED_H

#include "tests/metric_api/harness.h"

/** Most metrics of a group here. */
#define BED_METRICS 64u

/** The virtual GPU with two active groups: ComputeBasic, and ThreadDispatch of the other domain. */
struct bed {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_module_handle_t module;
    zet_metric_group_handle_t compute; /**< event-based, as the next one */
    zet_metric_group_handle_t dispatch;
};

/** cmocka group setup and teardown: state is a struct bed. */
int bed_setup(void **state);
int bed_teardown(void **state);

/** Shared memory, zeroed. */
void *bed_memory(const struct bed *bed, size_t bytes);

ze_command_queue_handle_t bed_queue(const struct bed *bed);
ze_command_list_handle_t bed_list(const struct bed *bed);
ze_command_list_handle_t bed_immediate(const struct bed *bed, ze_command_queue_mode_t mode);
ze_kernel_handle_t bed_kernel(const struct bed *bed, const char *name);

/** Executes a closed list and waits for it. */
void bed_run(ze_command_queue_handle_t queue, ze_command_list_handle_t list);

/** A product of n x n matrices, ready to be launched. */
struct bed_matmul {
    ze_kernel_handle_t kernel;
    float *memory;
    uint32_t n;
};
struct bed_matmul bed_matmul_make(const struct bed *bed, uint32_t n);
void bed_matmul_drop(const struct bed *bed, struct bed_matmul *matmul);
void bed_matmul_append(ze_command_list_handle_t list, const struct bed_matmul *matmul);

/** Kernel "count": each of groups x 16 work-items does one atomic addition to *counter. */
ze_kernel_handle_t bed_count(const struct bed *bed, uint32_t *counter);
void bed_count_append(ze_command_list_handle_t list, ze_kernel_handle_t count, uint32_t groups);

zet_metric_query_pool_handle_t bed_pool(const struct bed *bed, zet_metric_group_handle_t group,
                                        uint32_t count);
zet_metric_query_handle_t bed_query(zet_metric_query_pool_handle_t pool, uint32_t index);

/** Destroys queries and their pool. */
void bed_pool_drop(zet_metric_query_pool_handle_t pool, zet_metric_query_handle_t *queries,
                   uint32_t count);

void bed_begin(ze_command_list_handle_t list, zet_metric_query_handle_t query);

/** An end that waits for nothing; signal may be NULL. */
void bed_end(ze_command_list_handle_t list, zet_metric_query_handle_t query,
             ze_event_handle_t signal);

/** The values of one row, by name. */
struct bed_row {
    zet_metric_group_handle_t group;
    uint32_t count;
    zet_typed_value_t values[BED_METRICS];
};

/** The row of a finished query; checks what client programs assume of it. */
struct bed_row bed_result(zet_metric_group_handle_t group, zet_metric_query_handle_t query);

uint64_t bed_u64(const struct bed_row *row, const char *metric);
double bed_f32(const struct bed_row *row, const char *metric);

/** The numbers of a matrix product, to the last count. */
void bed_expect_matmul(const struct bed_row *row, uint64_t n);

/** Exact numbers of a row of ComputeBasic or ThreadDispatch, in a fixed order. */
#define BED_EXACT 8u
void bed_exact(const struct bed_row *row, uint64_t out_numbers[BED_EXACT]);

#endif
