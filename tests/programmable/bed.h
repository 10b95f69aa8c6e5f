/*
 * What tests of programmables share: the virtual GPU, work whose counts are known, metrics and
 * groups by name.
 */
#ifndef ZETA_TESTS_PROGRAMMABLE_BED_H
#define ZETA_TESTS_PROGRAMMABLE_BED_H

#include "tests/metric_api/harness.h"

#define MAX_METRICS 256u
#define MAX_GROUPS 64u

/** What one call of bed_work() does. The shape is that of the virtual GPU as it is shipped. */
#define BED_GROUPS 8u
#define BED_ITEMS 64u
#define BED_ROUNDS 100u
#define BED_THREADS (BED_GROUPS * BED_ITEMS)
#define BED_SUBSLICES 4u
#define BED_EUS 128u

struct bed {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_module_handle_t module; /**< NULL without kernels */
    ze_kernel_handle_t kernel;
    ze_command_list_handle_t list; /**< immediate and synchronous */
    float *memory;
};

/** Group setup and teardown; the state is a struct bed of the first device. */
int bed_setup(void **state);
int bed_teardown(void **state);

/** The same for a device; driver and context are there. */
void bed_open(struct bed *bed, ze_device_handle_t device);
void bed_close(struct bed *bed);

/** Runs the kernel once, and waits. */
void bed_work(const struct bed *bed);

/** The programmable of a name and sampling type. */
zet_metric_programmable_exp_handle_t bed_find(const struct bed *bed, const char *name,
                                              zet_metric_group_sampling_type_flags_t sampling);

/** Makes metrics with up to three 32-bit values; gives their number. */
uint32_t bed_make(const struct bed *bed, const char *name,
                  zet_metric_group_sampling_type_flags_t sampling, uint32_t count,
                  const uint32_t *values, zet_metric_handle_t *out_metrics);

/** Packs metrics into groups; gives their number. */
uint32_t bed_pack(const struct bed *bed, uint32_t count, zet_metric_handle_t *metrics,
                  zet_metric_group_handle_t *out_groups);

/** Destroys groups, then metrics. */
void bed_drop(uint32_t group_count, zet_metric_group_handle_t *groups, uint32_t metric_count,
              zet_metric_handle_t *metrics);

/** Rows of a group. */
struct bed_rows {
    zet_typed_value_t *values;
    uint32_t count;
    uint32_t metrics;
};

/** Streams a group while bed_work() runs once; freed with free(rows.values). */
struct bed_rows bed_stream(const struct bed *bed, zet_metric_group_handle_t group);

/** The same with other work. */
struct bed_rows bed_stream_while(const struct bed *bed, zet_metric_group_handle_t group,
                                 void (*work)(const struct bed *bed));

/** The same with a query; one row. */
struct bed_rows bed_query(const struct bed *bed, zet_metric_group_handle_t group);

/** Sum of a u64 metric over the rows. */
uint64_t bed_sum(const struct bed_rows *rows, uint32_t metric);

#endif
