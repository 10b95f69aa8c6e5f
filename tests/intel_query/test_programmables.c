/*
 * Groups of metrics that a program makes of programmables, on emulated machines: what the kernel is
 * given, and what is counted with it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include <i915_drm.h>

#include <zeta/zeta.h>

#include "tests/intel_query/query_bed.h"
#include "tests/support/compare.h"

enum { METRICS = 64, GROUPS = 16, WRITES = 64 };

static uint8_t data[1 << 20];

/* ---- making --------------------------------------------------------------------------------- */

/* A metric of a programmable with two parameters. */
static zet_metric_handle_t make_metric(ze_device_handle_t device, const char *name,
                                       zet_metric_group_sampling_type_flags_t sampling,
                                       uint32_t first, uint32_t second)
{
    zet_metric_programmable_param_value_exp_t values[2] = {{.value.ui32 = first},
                                                           {.value.ui32 = second}};
    zet_metric_programmable_exp_handle_t all[METRICS];
    zet_metric_handle_t metric = NULL;
    uint32_t count = METRICS, one = 1;

    EXPECT_OK(zetMetricProgrammableGetExp(device, &count, all));
    for (uint32_t i = 0; i < count && !metric; i++) {
        zet_metric_programmable_exp_properties_t properties = {
            .stype = ZET_STRUCTURE_TYPE_METRIC_PROGRAMMABLE_EXP_PROPERTIES};

        EXPECT_OK(zetMetricProgrammableGetPropertiesExp(all[i], &properties));
        if (properties.samplingType == sampling && strcmp(properties.name, name) == 0)
            EXPECT_OK(zetMetricCreateFromProgrammableExp2(all[i], 2, values, name, "of a test",
                                                          &one, &metric));
    }
    assert_non_null(metric);
    return metric;
}

static uint32_t pack(ze_device_handle_t device, uint32_t count, zet_metric_handle_t *metrics,
                     zet_metric_group_handle_t *out_groups)
{
    uint32_t groups = GROUPS;

    EXPECT_OK(zetDeviceCreateMetricGroupsFromMetricsExp(device, count, metrics, "Own", "of a test",
                                                        &groups, out_groups));
    return groups;
}

static void drop(uint32_t group_count, zet_metric_group_handle_t *groups, uint32_t metric_count,
                 zet_metric_handle_t *metrics)
{
    for (uint32_t i = 0; i < group_count; i++)
        EXPECT_OK(zetMetricGroupDestroyExp(groups[i]));
    for (uint32_t i = 0; i < metric_count; i++)
        EXPECT_OK(zetMetricDestroyExp(metrics[i]));
}

/* ---- what the kernel was given -------------------------------------------------------------- */

/* The configuration that was uploaded last: the plugin removes it once its stream has it. */
static struct config {
    char uuid[37];
    uint32_t count, counts[3];
    uint32_t writes[3][WRITES][2];
} uploaded;

static void keep(uint32_t list, uint32_t count, uint64_t pairs)
{
    assert_cmp(count, <=, WRITES);
    uploaded.counts[list] = count;
    if (count > 0)
        memcpy(uploaded.writes[list], (const void *)(uintptr_t)pairs, (size_t)count * 8);
}

/* Stands before that of libdrm: looks at what the plugin uploads on its way to the kernel. */
__attribute__((visibility("default"))) int drmIoctl(int fd, unsigned long request, void *argument);

int drmIoctl(int fd, unsigned long request, void *argument)
{
    const struct drm_i915_perf_oa_config *config = argument;
    int result;

    do {
        result = ioctl(fd, request, argument);
    } while (result < 0 && (errno == EINTR || errno == EAGAIN));
    if (request == DRM_IOCTL_I915_PERF_ADD_CONFIG && result > 0) {
        uploaded.count++;
        (void)snprintf(uploaded.uuid, sizeof(uploaded.uuid), "%.36s", config->uuid);
        keep(0, config->n_mux_regs, config->mux_regs_ptr);
        keep(1, config->n_boolean_regs, config->boolean_regs_ptr);
        keep(2, config->n_flex_regs, config->flex_regs_ptr);
    }
    return result;
}

/* The last value that one of its lists writes to a register. */
static uint32_t written(uint32_t list, uint32_t address)
{
    uint32_t value = 0xdeadbeef;

    for (uint32_t i = 0; i < uploaded.counts[list]; i++) {
        if (uploaded.writes[list][i][0] == address)
            value = uploaded.writes[list][i][1];
    }
    return value;
}

/* EuActive takes A7 to A10, EuStall A11 to A14: events 4 and 5 with the filters 7 to 10. */
static void expect_flexible(void)
{
    assert_int_equal(uploaded.uuid[14], '8'); /* made of the registers */
    assert_int_equal(uploaded.counts[0], 0);
    assert_int_equal(written(2, 0xe458), 0x704 | 0x804 << 12);
    assert_int_equal(written(2, 0xe558), 0x904 | 0xa04 << 12);
    assert_int_equal(written(2, 0xe658), 0x705 | 0x805 << 12);
    assert_int_equal(written(2, 0xe758), 0x905 | 0xa05 << 12);
    /* B0 has its condition in both places, and its enable bit. */
    assert_int_equal(written(1, 0xd904), 0x10800000);
    assert_int_equal(written(1, 0xd940), 3);
    assert_int_equal(written(1, 0xd944), 0xffff);
    assert_int_equal(written(1, 0xdc00), 3);
    assert_int_equal(written(1, 0xdc40), 0x10000);
}

/* ---- counts --------------------------------------------------------------------------------- */

static uint32_t word(const uint8_t *report, uint32_t at)
{
    uint32_t value;

    memcpy(&value, report + at, sizeof(value));
    return value;
}

static uint64_t counted(enum kmd_bank bank, uint32_t first, uint32_t count, uint64_t begin,
                        uint64_t end)
{
    uint64_t sum = 0;

    for (uint32_t i = first; i < first + count; i++)
        sum += kmd_counter(bed_machine(), 0, 0, "", bank, i, end) -
               kmd_counter(bed_machine(), 0, 0, "", bank, i, begin);
    return sum;
}

static struct bed_stream open_group(ze_device_handle_t device, zet_metric_group_handle_t group)
{
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .notifyEveryNReports = 1,
                                       .samplingPeriod = 1000000};
    struct bed_stream stream = {.device = device, .group = group, .record_bytes = 256};

    stream.context = make_context(device);
    EXPECT_OK(zetContextActivateMetricGroups(stream.context, device, 1, &group));
    EXPECT_OK(zetMetricStreamerOpen(stream.context, device, group, &desc, NULL, &stream.streamer));
    return stream;
}

/* Rule 26.33. */
static void group__of_eu_and_boolean_counters__streams_what_they_count(void **state)
{
    static const char *const names[3] = {"EuActive", "EuStall", "BooleanClocks"};
    const struct kmd_config config = bed_config("tgl-gt2", "i915");
    zet_metric_group_handle_t groups[GROUPS];
    zet_metric_handle_t metrics[3];
    zet_typed_value_t values[256];
    struct bed_stream stream;
    uint32_t count = 256, width = 0, slots = 0, columns[3];
    ze_device_handle_t device;

    (void)state;
    (void)bed_start(&config);
    device = bed_device();
    metrics[0] = make_metric(device, names[0], TIME_BASED, 0, 0);
    metrics[1] = make_metric(device, names[1], TIME_BASED, 0, 0);
    metrics[2] = make_metric(device, names[2], TIME_BASED, 1, 0);
    assert_int_equal(pack(device, 3, metrics, groups), 1);
    stream = open_group(device, groups[0]);
    slots = bed_collect(&stream, 6, data, sizeof(data));
    bed_close(&stream);
    assert_int_equal(uploaded.count, 1);
    assert_int_equal(kmd_statistic(bed_machine(), 0, KMD_STAT_BAD_CALLS), 0);
    expect_flexible();
    EXPECT_OK(zetMetricGroupCalculateMetricValues(
        groups[0], ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
        slots * (size_t)stream.record_bytes, data, &count, values));
    /* A group of streams has metrics of its reports beside those that were made. */
    EXPECT_OK(zetMetricGet(groups[0], &width, NULL));
    assert_int_equal(count, width * (slots - 1));
    for (uint32_t i = 0; i < 3; i++)
        columns[i] = metric_index(groups[0], names[i]);
    for (uint32_t row = 0; row + 1 < slots; row++) {
        const uint64_t begin = word(data + row * stream.record_bytes, 4);
        const uint64_t end = word(data + (row + 1) * stream.record_bytes, 4);

        const zet_typed_value_t *line = values + (size_t)row * width;

        assert_int_equal(bed_value(&line[columns[0]]), counted(KMD_BANK_A, 7, 4, begin, end));
        assert_int_equal(bed_value(&line[columns[1]]), counted(KMD_BANK_A, 11, 4, begin, end));
        assert_int_equal(bed_value(&line[columns[2]]), counted(KMD_BANK_B, 0, 1, begin, end));
    }
    drop(1, groups, 3, metrics);
}

/* Rule 26.33. */
static void group__of_eu_and_boolean_counters__is_queried_too(void **state)
{
    const struct kmd_config config = bed_config("tgl-gt2", "i915");
    const zet_metric_query_pool_desc_t pool = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                               .type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE,
                                               .count = 4};
    const ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    zet_metric_group_handle_t groups[GROUPS];
    zet_metric_handle_t metrics[3];
    zet_typed_value_t values[3];
    struct query_bed bed = {0};
    uint32_t count = 3;
    size_t bytes;

    (void)state;
    (void)bed_start(&config);
    bed.device = bed_device();
    metrics[0] = make_metric(bed.device, "EuActive", EVENT_BASED, 0, 0);
    metrics[1] = make_metric(bed.device, "EuStall", EVENT_BASED, 0, 0);
    metrics[2] = make_metric(bed.device, "BooleanClocks", EVENT_BASED, 1, 0);
    assert_int_equal(pack(bed.device, 3, metrics, groups), 1);
    bed.context = make_context(bed.device);
    EXPECT_OK(zetContextActivateMetricGroups(bed.context, bed.device, 1, groups));
    EXPECT_OK(zetMetricQueryPoolCreate(bed.context, bed.device, groups[0], &pool, &bed.pool));
    for (uint32_t i = 0; i < 4; i++)
        EXPECT_OK(zetMetricQueryCreate(bed.pool, i, &bed.queries[i]));
    EXPECT_OK(zeCommandListCreateImmediate(bed.context, bed.device, &queue, &bed.list));
    query_bed_begin(&bed, 0);
    query_bed_pass(20 * BED_STEP_NS);
    query_bed_end(&bed, 0);
    bytes = query_bed_collect(&bed, 0, data);
    const struct zeta_query_record head = query_bed_head(data);
    expect_flexible();
    EXPECT_OK(zetMetricGroupCalculateMetricValues(
        groups[0], ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, bytes, data, &count, values));
    assert_int_equal(count, 3);
    assert_int_equal(bed_value(&values[0]),
                     counted(KMD_BANK_A, 7, 4, head.begin_ticks, head.end_ticks));
    assert_int_equal(bed_value(&values[1]),
                     counted(KMD_BANK_A, 11, 4, head.begin_ticks, head.end_ticks));
    assert_int_equal(bed_value(&values[2]),
                     counted(KMD_BANK_B, 0, 1, head.begin_ticks, head.end_ticks));
    query_bed_close(&bed);
    drop(1, groups, 3, metrics);
}

/* 40 bits that 96 EUs at 1.3 GHz count last longer than 32 bits of the clock. Rule 11.2. */
static void group__with_a_narrower_counter__has_shorter_periods(void **state)
{
    static const uint64_t longest_ns[2] = {3495253334, 1747626667};
    const struct kmd_config config = bed_config("tgl-gt2", "i915");
    zet_metric_group_handle_t groups[GROUPS];
    zet_metric_handle_t metrics[2];

    (void)state;
    (void)bed_start(&config);
    metrics[0] = make_metric(bed_device(), "EuActive", TIME_BASED, 0, 0);
    metrics[1] = make_metric(bed_device(), "BooleanClocks", TIME_BASED, 1, 0);
    for (uint32_t i = 0; i < 2; i++) {
        struct zeta_group_info info = {.struct_size = sizeof(info)};

        assert_int_equal(pack(bed_device(), i + 1, metrics, groups), 1);
        EXPECT_OK(zetaMetricGroupGetInfo(groups[0], &info));
        assert_int_equal(info.max_period_ns, longest_ns[i]);
        drop(1, groups, 0, metrics);
    }
    drop(0, groups, 2, metrics);
}

/* Of the 14 flexible counters each of these takes four: three fit into a group. Rule 26.33. */
static void metrics__more_than_counters__are_packed_into_several_groups(void **state)
{
    static const char *const names[] = {"EuActive", "EuStall", "FpuActive", "EmActive",
                                        "EuSendActive"};
    const struct kmd_config config = bed_config("tgl-gt2", "i915");
    zet_metric_group_handle_t groups[GROUPS];
    zet_metric_handle_t metrics[5 + 9];
    struct bed_stream stream;
    ze_device_handle_t device;
    uint32_t count;

    (void)state;
    (void)bed_start(&config);
    device = bed_device();
    for (uint32_t i = 0; i < 5; i++)
        metrics[i] = make_metric(device, names[i], TIME_BASED, i, 0);
    count = pack(device, 5, metrics, groups);
    assert_int_equal(count, 2);
    for (uint32_t i = 0; i < count; i++) {
        stream = open_group(device, groups[i]);
        (void)bed_collect(&stream, 3, data, sizeof(data));
        bed_close(&stream);
    }
    assert_int_equal(uploaded.count, 2);
    drop(count, groups, 0, NULL);
    /* Eight counters have conditions; what is asked nine times with one condition is counted once
     * or is one too many, but never wrong. */
    for (uint32_t i = 0; i < 9; i++)
        metrics[5 + i] = make_metric(device, "BooleanClocks", TIME_BASED, i % 2, 0);
    count = pack(device, 9, metrics + 5, groups);
    assert_cmp(count, >=, 1);
    assert_cmp(count, <=, 2);
    for (uint32_t i = 0; i < count; i++) {
        stream = open_group(device, groups[i]);
        (void)bed_collect(&stream, 3, data, sizeof(data));
        bed_close(&stream);
    }
    assert_int_equal(kmd_statistic(bed_machine(), 0, KMD_STAT_BAD_CALLS), 0);
    drop(count, groups, 14, metrics);
}

/* A metric that is in no parameter's list, and what is of the other way of sampling. */
static void metrics__that_cannot_be_in_one_group__are_refused_in_words(void **state)
{
    const struct kmd_config config = bed_config("tgl-gt2", "i915");
    zet_metric_group_handle_t group = NULL;
    zet_metric_handle_t metrics[4];
    ze_device_handle_t device;
    size_t reason_bytes = 0;

    (void)state;
    (void)bed_start(&config);
    device = bed_device();
    for (uint32_t i = 0; i < 4; i++)
        metrics[i] = make_metric(device, "EuActive", i < 3 ? TIME_BASED : EVENT_BASED, i, 0);
    assert_int_equal(pack(device, 1, metrics, &group), 1);
    EXPECT_OK(zetMetricGroupAddMetricExp(group, metrics[1], &reason_bytes, NULL));
    EXPECT_OK(zetMetricGroupAddMetricExp(group, metrics[2], &reason_bytes, NULL));
    if (zetMetricGroupAddMetricExp(group, metrics[3], &reason_bytes, NULL) == ZE_RESULT_SUCCESS)
        fail_msg("a metric of queries is in a group of streams");
    assert_cmp(strlen(zetaGetLastError()), >, 20);
    drop(1, &group, 4, metrics);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(group__of_eu_and_boolean_counters__streams_what_they_count),
        cmocka_unit_test(group__of_eu_and_boolean_counters__is_queried_too),
        cmocka_unit_test(group__with_a_narrower_counter__has_shorter_periods),
        cmocka_unit_test(metrics__more_than_counters__are_packed_into_several_groups),
        cmocka_unit_test(metrics__that_cannot_be_in_one_group__are_refused_in_words),
    };

    /* A case of its own has the name of the program before its arguments, as in a program of
     * suites. */
    return bed_main(argc > 1 ? argc - 1 : argc, argc > 1 ? argv + 1 : argv, tests,
                    sizeof(tests) / sizeof(tests[0]));
}
