/* What the tests of exported data share: groups, raw data of any form, both ways of calculation. */
#ifndef ZETA_TESTS_EXPORT_SUPPORT_H
#define ZETA_TESTS_EXPORT_SUPPORT_H

#include "tests/metric_api/harness.h"

#define VALUES ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES
#define MAXIMA ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES

/** Most groups of all devices and tiles of a test. */
#define MAX_GROUPS 256u
/** Most values that one piece of data of a test gives. */
#define MAX_VALUES 65536u
#define MAX_TILES 8u

/** A group that values are calculated from, and the size of its records. */
struct source {
    zet_metric_group_handle_t group;
    zet_metric_group_properties_t properties;
    ze_driver_handle_t driver;
    uint32_t record_bytes;
    uint32_t tiles; /**< sets that calculation gives */
};

/** Fills a source from its group; false for a group of a tracer. */
bool fill_source(zet_metric_group_handle_t group, ze_driver_handle_t driver, struct source *source);

/** The groups of all devices and tiles but those of tracers. */
uint32_t find_sources(struct source *sources);

/** One of them by device and name; ends the test if there is none. */
struct source find_source(const char *device, const char *name,
                          zet_metric_group_sampling_type_flags_t sampling);

/** Random records, query records for event-based groups, between control slots and padding. */
size_t make_raw(const struct source *source, uint64_t seed, uint32_t slots, uint8_t *raw);

/** What a calculation gives. */
struct outcome {
    ze_result_t result;
    uint32_t set_count;
    uint32_t total;
    uint32_t counts[MAX_TILES];
    zet_typed_value_t *values; /**< MAX_VALUES, all other bytes 0xee */
};

struct outcome outcome_make(void);
void outcome_free(struct outcome *outcome);

void calculate_in_place(const struct source *source, zet_metric_group_calculation_type_t type,
                        const uint8_t *raw, size_t raw_bytes, struct outcome *out);
void calculate_offline(ze_driver_handle_t driver, zet_metric_group_calculation_type_t type,
                       const uint8_t *data, size_t size, uint32_t skip, struct outcome *out);

/** True if that many values are the same, bit by bit. */
bool same_values(const zet_typed_value_t *a, const zet_typed_value_t *b, uint32_t count);

/** Fails unless both are the same, bit by bit, and nothing behind them was written. */
void expect_same(const struct outcome *expected, const struct outcome *got, const char *what);

/** Exports; *out_size bytes that the caller frees. */
uint8_t *export_raw(const struct source *source, const uint8_t *raw, size_t raw_bytes,
                    size_t *out_size);

/** Fails unless exported data gives what it gives in place, in both types of calculation. */
void expect_equal_ways(const struct source *source, const uint8_t *raw, size_t raw_bytes,
                       struct outcome *in_place, struct outcome *offline);

#endif
