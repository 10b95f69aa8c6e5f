/*
 * What a call that is refused leaves behind: nothing. A table of calls, each with outputs that say
 * whether somebody wrote into them.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/metric_api/metric_bed.h"
#include "tests/support/suite.h"

#define UNTOUCHED 0xeeu
#define LONG_TEXT 512u

/** Everything that calls write, also sizes and counts, which are huge then, and descriptors. */
union outputs {
    uint8_t bytes[4096];
    void *handles[64];
    zet_metric_streamer_desc_t streamer;
    zet_metric_tracer_exp_desc_t tracer;
    struct {
        uint32_t first;
        uint32_t second;
        size_t size;
        uint32_t array[64];
        zet_typed_value_t values[64];
        zet_metric_entry_exp_t entries[16];
    } counted;
};

struct row {
    const char *name; /**< function, and why it refuses */
    ze_result_t (*call)(const struct metric_bed *bed, union outputs *out);
    ze_result_t wanted;
};

/** Where a handle is written behind a descriptor that is written, too. */
#define HANDLE(out) ((void *)&(out)->handles[32])

static ze_result_t open_inactive(const struct metric_bed *bed, union outputs *out)
{
    return zetMetricStreamerOpen(bed->context, bed->root, bed->sampled, &out->streamer, NULL,
                                 HANDLE(out));
}

static ze_result_t open_not_sampled(const struct metric_bed *bed, union outputs *out)
{
    return zetMetricStreamerOpen(bed->context, bed->root, bed->queried, &out->streamer, NULL,
                                 HANDLE(out));
}

static ze_result_t tracer_inactive(const struct metric_bed *bed, union outputs *out)
{
    zet_metric_group_handle_t group = bed->traced;

    return zetMetricTracerCreateExp(bed->context, bed->root, 1, &group, &out->tracer, NULL,
                                    HANDLE(out));
}

static ze_result_t tracer_not_traced(const struct metric_bed *bed, union outputs *out)
{
    zet_metric_group_handle_t group = bed->sampled;

    return zetMetricTracerCreateExp(bed->context, bed->root, 1, &group, &out->tracer, NULL,
                                    HANDLE(out));
}

static ze_result_t pool_of_nothing(const struct metric_bed *bed, union outputs *out)
{
    const zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                               .type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE};

    return zetMetricQueryPoolCreate(bed->context, bed->root, bed->queried, &desc, HANDLE(out));
}

static ze_result_t pool_unknown_type(const struct metric_bed *bed, union outputs *out)
{
    const zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                               .type = (zet_metric_query_pool_type_t)2,
                                               .count = 1};

    return zetMetricQueryPoolCreate(bed->context, bed->root, bed->queried, &desc, HANDLE(out));
}

static ze_result_t query_taken(const struct metric_bed *bed, union outputs *out)
{
    return zetMetricQueryCreate(bed->pool, 0, HANDLE(out));
}

static ze_result_t query_beyond(const struct metric_bed *bed, union outputs *out)
{
    return zetMetricQueryCreate(bed->pool, 1, HANDLE(out));
}

static ze_result_t param_beyond(const struct metric_bed *bed, union outputs *out)
{
    return zetMetricProgrammableGetParamValueInfoExp(bed->programmable, 99, &out->counted.first,
                                                     (void *)out->counted.array);
}

static ze_result_t metric_bad_value(const struct metric_bed *bed, union outputs *out)
{
    zet_metric_programmable_param_value_exp_t value = {.value.ui32 = 77};

    return zetMetricCreateFromProgrammableExp2(bed->programmable, 1, &value, "n", "d",
                                               &out->counted.first, HANDLE(out));
}

static ze_result_t metric_bad_value_1(const struct metric_bed *bed, union outputs *out)
{
    zet_metric_programmable_param_value_exp_t value = {.value.ui32 = 77};

    return zetMetricCreateFromProgrammableExp(bed->programmable, &value, 1, "n", "d",
                                              &out->counted.first, HANDLE(out));
}

/** Of its metrics the first ten can be made and the eleventh cannot: vgpu/metrics.d/suffix.yaml. */
static ze_result_t metric_long_suffix(const struct metric_bed *bed, union outputs *out)
{
    return zetMetricCreateFromProgrammableExp2(metric_bed_find(bed, "LongSuffix"), 0, NULL, "n",
                                               "d", &out->counted.first, HANDLE(out));
}

static ze_result_t groups_long_prefix(const struct metric_bed *bed, union outputs *out)
{
    zet_metric_handle_t metric = bed->metrics[0];
    char prefix[LONG_TEXT];

    memset(prefix, 'p', sizeof(prefix));
    prefix[sizeof(prefix) - 1] = '\0';
    return zetDeviceCreateMetricGroupsFromMetricsExp(bed->tile, 1, &metric, prefix, "d",
                                                     &out->counted.first, HANDLE(out));
}

/** The metric that does not belong there is the last one: everything before it is in order. */
static ze_result_t groups_predefined_metric(const struct metric_bed *bed, union outputs *out)
{
    zet_metric_handle_t metrics[BED_METRICS];
    uint32_t count = 1;

    memcpy(metrics, bed->metrics, sizeof(metrics));
    EXPECT_OK(zetMetricGet(bed->sampled_tile, &count, &metrics[BED_METRICS - 1]));
    return zetDeviceCreateMetricGroupsFromMetricsExp(bed->tile, BED_METRICS, metrics, "p", "d",
                                                     &out->counted.first, HANDLE(out));
}

static ze_result_t group_two_types(const struct metric_bed *bed, union outputs *out)
{
    return zetMetricGroupCreateExp(bed->tile, "n", "d", TIME_BASED | EVENT_BASED, HANDLE(out));
}

static ze_result_t calculate_traced(const struct metric_bed *bed, union outputs *out)
{
    return zetMetricGroupCalculateMetricValues(bed->traced, VALUES, bed->events_bytes, bed->events,
                                               &out->counted.first, out->counted.values);
}

static ze_result_t calculate_root(const struct metric_bed *bed, union outputs *out)
{
    return zetMetricGroupCalculateMetricValues(bed->sampled, VALUES, bed->raw_bytes, bed->raw,
                                               &out->counted.first, out->counted.values);
}

static ze_result_t calculate_traced_sets(const struct metric_bed *bed, union outputs *out)
{
    return zetMetricGroupCalculateMultipleMetricValuesExp(
        bed->traced, VALUES, bed->events_bytes, bed->events, &out->counted.first,
        &out->counted.second, out->counted.array, out->counted.values);
}

static ze_result_t offline_damaged(const struct metric_bed *bed, union outputs *out)
{
    static uint8_t damaged[2 * BED_BYTES];
    zet_metric_calculate_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_CALCULATE_EXP_DESC};

    memcpy(damaged, bed->exported, bed->exported_bytes);
    damaged[bed->exported_bytes / 2] ^= 1;
    return zetMetricGroupCalculateMetricExportDataExp(
        bed->driver, VALUES, bed->exported_bytes, damaged, &desc, &out->counted.first,
        &out->counted.second, out->counted.array, out->counted.values);
}

static ze_result_t export_traced(const struct metric_bed *bed, union outputs *out)
{
    return zetMetricGroupGetExportDataExp(bed->traced, bed->events, bed->events_bytes,
                                          &out->counted.size, (uint8_t *)out->counted.array);
}

static ze_result_t export_odd_size(const struct metric_bed *bed, union outputs *out)
{
    return zetMetricGroupGetExportDataExp(bed->sampled, bed->raw, bed->raw_bytes - 1,
                                          &out->counted.size, (uint8_t *)out->counted.array);
}

static ze_result_t concurrent_foreign(const struct metric_bed *bed, union outputs *out)
{
    zet_metric_group_handle_t groups[2] = {bed->sampled, bed->sampled_tile};
    const ze_result_t result = zetDeviceGetConcurrentMetricGroupsExp(
        bed->root, 2, groups, out->counted.array, &out->counted.first);

    assert_ptr_equal(groups[0], bed->sampled);
    assert_ptr_equal(groups[1], bed->sampled_tile);
    return result;
}

static ze_result_t decode_foreign(const struct metric_bed *bed, union outputs *out)
{
    zet_metric_handle_t metrics[2] = {bed->decodable[0], bed->metrics[0]};
    size_t bytes = bed->events_bytes;
    const ze_result_t result = zetMetricTracerDecodeExp(
        bed->decoder, &bytes, (uint8_t *)bed->events, 2, metrics, &out->counted.first,
        out->counted.array, &out->counted.second, out->counted.entries);

    assert_int_equal(bytes, bed->events_bytes);
    return result;
}

/** A query that has never ended. */
static ze_result_t query_no_result(const struct metric_bed *bed, union outputs *out)
{
    EXPECT_OK(zetMetricQueryReset(bed->query));
    return zetMetricQueryGetData(bed->query, &out->counted.size, (uint8_t *)out->counted.array);
}

static const struct row rows[] = {
    {"zetMetricStreamerOpen, inactive", open_inactive, ZE_RESULT_NOT_READY},
    {"zetMetricStreamerOpen, for queries", open_not_sampled, ZE_RESULT_ERROR_INVALID_ARGUMENT},
    {"zetMetricTracerCreateExp, inactive", tracer_inactive, ZE_RESULT_NOT_READY},
    {"zetMetricTracerCreateExp, sampled", tracer_not_traced, ZE_RESULT_ERROR_INVALID_ARGUMENT},
    {"zetMetricQueryPoolCreate, none", pool_of_nothing, ZE_RESULT_ERROR_INVALID_ARGUMENT},
    {"zetMetricQueryPoolCreate, type", pool_unknown_type, ZE_RESULT_ERROR_INVALID_ENUMERATION},
    {"zetMetricQueryCreate, taken", query_taken, ZE_RESULT_ERROR_INVALID_ARGUMENT},
    {"zetMetricQueryCreate, beyond", query_beyond, ZE_RESULT_ERROR_INVALID_ARGUMENT},
    {"zetMetricProgrammableGetParamValueInfoExp", param_beyond, ZE_RESULT_ERROR_INVALID_ARGUMENT},
    {"zetMetricCreateFromProgrammableExp2", metric_bad_value, ZE_RESULT_ERROR_INVALID_ARGUMENT},
    {"zetMetricCreateFromProgrammableExp", metric_bad_value_1, ZE_RESULT_ERROR_INVALID_ARGUMENT},
    {"zetMetricCreateFromProgrammableExp2, suffix", metric_long_suffix,
     ZE_RESULT_ERROR_INVALID_ARGUMENT},
    {"zetDeviceCreateMetricGroupsFromMetricsExp, prefix", groups_long_prefix,
     ZE_RESULT_ERROR_INVALID_ARGUMENT},
    {"zetDeviceCreateMetricGroupsFromMetricsExp, metric", groups_predefined_metric,
     ZE_RESULT_ERROR_INVALID_ARGUMENT},
    {"zetMetricGroupCreateExp", group_two_types, ZE_RESULT_ERROR_INVALID_ARGUMENT},
    {"zetMetricGroupCalculateMetricValues, traced", calculate_traced,
     ZE_RESULT_ERROR_INVALID_ARGUMENT},
    {"zetMetricGroupCalculateMetricValues, root", calculate_root, ZE_RESULT_ERROR_INVALID_ARGUMENT},
    {"zetMetricGroupCalculateMultipleMetricValuesExp", calculate_traced_sets,
     ZE_RESULT_ERROR_INVALID_ARGUMENT},
    {"zetMetricGroupCalculateMetricExportDataExp", offline_damaged,
     ZE_RESULT_ERROR_INVALID_ARGUMENT},
    {"zetMetricGroupGetExportDataExp, traced", export_traced, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE},
    {"zetMetricGroupGetExportDataExp, size", export_odd_size, ZE_RESULT_ERROR_INVALID_ARGUMENT},
    {"zetDeviceGetConcurrentMetricGroupsExp", concurrent_foreign, ZE_RESULT_ERROR_INVALID_ARGUMENT},
    {"zetMetricTracerDecodeExp", decode_foreign, ZE_RESULT_ERROR_INVALID_ARGUMENT},
    {"zetMetricQueryGetData", query_no_result, ZE_RESULT_NOT_READY},
};

/* Rule 3.10. */
static void refusal__of_every_function__writes_nothing(void **state)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        union outputs out;

        memset(&out, UNTOUCHED, sizeof(out));
        expect_result(rows[i].call(*state, &out), rows[i].wanted, rows[i].name, __FILE__, __LINE__);
        for (size_t byte = 0; byte < sizeof(out); byte++) {
            if (out.bytes[byte] != UNTOUCHED)
                fail_msg("%s: byte %zu was written", rows[i].name, byte);
        }
    }
}

SUITE(refused)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusal__of_every_function__writes_nothing),
    };

    return cmocka_run_group_tests(tests, metric_bed_setup, metric_bed_teardown);
}
