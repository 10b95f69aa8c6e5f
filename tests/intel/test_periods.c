/*
 * The longest periods of streams: no counter comes around within one, on GPUs whose counters all
 * run as fast as hardware can make them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zeta/zeta.h>

#include "tests/intel/stream_bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/* Rows of a long period, and periods that one of those has. */
enum { LONG_ROWS = 3, SHORTER = 16 };

static uint64_t now_ticks; /**< of the unit, in full, as reports told last */

static ze_device_handle_t start(const char *preset, const char *driver)
{
    struct kmd_config config = bed_config(preset, driver);

    config.devices[0].is_flat_out = true;
    config.devices[0].tiles = 1;
    now_ticks = config.first_ticks;
    (void)bed_start(&config);
    return bed_device();
}

static struct zeta_group_info info_of(zet_metric_group_handle_t group)
{
    struct zeta_group_info info = {.struct_size = sizeof(info)};

    EXPECT_OK(zetaMetricGroupGetInfo(group, &info));
    return info;
}

/* Samples a group for some of its periods. */
static struct bed_stream sample(ze_device_handle_t device, const char *group, uint32_t period_ns,
                                uint64_t for_ns)
{
    struct bed_stream stream = bed_stream_of(device, group);

    stream.period_ns = period_ns;
    bed_stream_start(&stream);
    kmd_advance(bed_machine(), for_ns + 2 * (uint64_t)stream.period_ns);
    EXPECT_OK(bed_stream_drain(&stream));
    assert_int_equal(stream.warnings, 0);
    return stream;
}

/* ---- what was counted ------------------------------------------------------------------------ */

/* The time of a report in full. */
static uint64_t ticks_of(const struct bed_stream *stream, uint32_t index)
{
    const uint8_t *record = bed_record(stream, index);

    if (stream->record_bytes == 256)
        now_ticks += (uint32_t)(bed_get(record, 4, 4) - now_ticks);
    else
        now_ticks = bed_get(record, 8, 8);
    return now_ticks;
}

/* Every clock between the first report and the last is in a row, if the set has them. */
static void expect_all_clocks(const struct bed_stream *stream, const struct bed_rows *rows)
{
    struct kmd_machine *machine = bed_machine();
    const bool is_haswell = bed_group_count(stream->device, "TestOa") == 0;
    const enum kmd_bank bank = is_haswell ? KMD_BANK_C : KMD_BANK_CLOCK;
    const uint32_t index = is_haswell ? 2 : 0;
    const uint64_t first = ticks_of(stream, 0);
    const uint64_t last = ticks_of(stream, rows->rows);
    uint64_t sum = 0;

    if (metric_find(stream->group, "GpuCoreClocks") == UINT32_MAX)
        return;
    for (uint32_t row = 0; row < rows->rows; row++)
        sum += bed_row_value(stream, rows, row, "GpuCoreClocks").ui64;
    assert_int_equal(sum, kmd_counter(machine, 0, 0, "", bank, index, last) -
                              kmd_counter(machine, 0, 0, "", bank, index, first));
}

static double number_of(const zet_typed_value_t *value)
{
    return value->type == ZET_VALUE_TYPE_FLOAT32   ? (double)value->value.fp32
           : value->type == ZET_VALUE_TYPE_FLOAT64 ? value->value.fp64
                                                   : (double)bed_value(value);
}

/* The mean of a metric over all rows, of which each is as long as any other. */
static double mean_of(const struct bed_rows *rows, uint32_t metric)
{
    double sum = 0;

    for (uint32_t row = 0; row < rows->rows; row++)
        sum += number_of(&rows->values[(size_t)row * rows->metrics + metric]);
    return sum / rows->rows;
}

static bool is_near(double value, double wanted)
{
    return fabs(value - wanted) <= fabs(wanted) / 1000 + SHORTER;
}

/*
 * Everything counts evenly, so that shares and rates are those of short rows, and counts as many
 * times more as the row is longer.
 */
static void expect_same_values(const struct bed_stream *stream, const struct bed_rows *rows,
                               const struct bed_rows *short_rows)
{
    zet_metric_handle_t metrics[512];
    uint32_t count = 512;

    EXPECT_OK(zetMetricGet(stream->group, &count, metrics));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};
        const double value = mean_of(rows, i);
        const double wanted = mean_of(short_rows, i);

        EXPECT_OK(zetMetricGetProperties(metrics[i], &properties));
        if (properties.metricType != ZET_METRIC_TYPE_TIMESTAMP &&
            properties.metricType != ZET_METRIC_TYPE_FLAG &&
            properties.metricType != ZET_METRIC_TYPE_RAW && !is_near(value, wanted) &&
            !is_near(value, SHORTER * wanted))
            fail_msg("%s: %s is %g every %u ns, and %g in short rows", stream->properties.name,
                     properties.name, value, stream->period_ns, wanted);
    }
}

/* ---- each set at its own limit --------------------------------------------------------------- */

static void expect_longest_counts(ze_device_handle_t device, zet_metric_group_handle_t group,
                                  const char *name)
{
    const struct zeta_group_info info = info_of(group);
    const uint64_t for_ns = LONG_ROWS * info.max_period_ns;
    struct bed_stream stream = sample(device, name, UINT32_MAX, for_ns);
    struct bed_stream other;
    struct bed_rows rows, short_rows;

    assert_int_equal(stream.period_ns, info.max_period_ns);
    rows = bed_calculate(&stream);
    assert_in_range(rows.rows, LONG_ROWS, LONG_ROWS + 3);
    expect_all_clocks(&stream, &rows);
    bed_close(&stream);

    other = sample(device, name, (uint32_t)(info.max_period_ns / SHORTER), for_ns);
    short_rows = bed_calculate(&other);
    assert_cmp(short_rows.rows, >=, SHORTER * LONG_ROWS);
    expect_all_clocks(&other, &short_rows);
    expect_same_values(&stream, &rows, &short_rows);
    bed_rows_free(&short_rows);
    bed_rows_free(&rows);
    bed_close(&other);
}

static void expect_all_groups_count(ze_device_handle_t device)
{
    static zet_metric_group_handle_t groups[4096];
    uint32_t count = 4096, sampled = 0;

    EXPECT_OK(zetMetricGroupGet(device, &count, groups));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t properties = {.stype =
                                                        ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};

        EXPECT_OK(zetMetricGroupGetProperties(groups[i], &properties));
        if ((properties.samplingType & TIME_BASED) == 0 ||
            strcmp(properties.name, "EuStallSampling") == 0)
            continue;
        expect_longest_counts(device, groups[i], properties.name);
        sampled++;
    }
    assert_cmp(sampled, >=, 2);
}

/* Rule 11.2. */
static void longest_period__of_each_set_on_i915__counts_all(void **state)
{
    expect_all_groups_count(start(*state, "i915"));
}

/* Rule 11.2. */
static void longest_period__of_each_set_on_xe__counts_all(void **state)
{
    expect_all_groups_count(start(*state, "xe"));
}

/* ---- some of them ---------------------------------------------------------------------------- */

/* Rule 11.2. */
static void period__beyond_the_longest__is_brought_into_range(void **state)
{
    /* Three quarters of 2^32 over 40 EUs at 1.3 GHz are 61.9 ms; 2^19 ticks of 12.5 MHz are less.
     */
    struct bed_stream stream =
        sample(start("hsw-gt3", "i915"), "RenderBasic", 3000000000, 200000000);
    struct bed_rows rows = bed_calculate(&stream);

    (void)state;
    assert_int_equal(stream.period_ns, 41943040);
    assert_cmp(rows.rows, >=, 4);
    expect_all_clocks(&stream, &rows);
    for (uint32_t row = 0; row < rows.rows; row++)
        assert_in_range(bed_row_value(&stream, &rows, row, "EuActive").fp32, 99, 101);
    bed_rows_free(&rows);
    bed_close(&stream);
}

/* Rule 11.2. */
static void range__of_sets_of_one_unit__follows_from_what_they_read(void **state)
{
    /* Tiger Lake GT2: TestOa reads counters of the clock, RenderBasic messages of six subslices. */
    static const struct {
        const char *set;
        uint64_t longest_ns;
    } sets[] = {{"TestOa", 1747626667}, {"RenderBasic", 218453334}};
    const ze_device_handle_t device = start("tgl-gt2", "i915");

    (void)state;
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        const struct zeta_group_info info = info_of(bed_stream_of(device, sets[i].set).group);

        assert_int_equal(info.min_period_ns, 105);
        assert_int_equal(info.max_period_ns, sets[i].longest_ns);
    }
}

/* Rule 11.2. */
static void root__with_two_tiles__has_the_range_of_both(void **state)
{
    struct kmd_config config = bed_config("pvc", "xe");
    ze_device_handle_t tiles[2];
    uint32_t count = 2;
    struct zeta_group_info info;
    struct bed_stream stream;

    (void)state;
    (void)bed_start(&config);
    EXPECT_OK(zeDeviceGetSubDevices(bed_device(), &count, tiles));
    assert_int_equal(count, 2);
    stream = bed_stream_of(bed_device(), "ComputeBasic");
    info = info_of(stream.group);
    /* 32 bits of 64 cores at 1.6 GHz, and 2^19 ticks of 25 MHz. */
    assert_int_equal(info.max_period_ns, 20971520);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(info_of(bed_stream_of(tiles[i], "ComputeBasic").group).max_period_ns,
                         info.max_period_ns);
    stream.period_ns = UINT32_MAX;
    bed_stream_start(&stream);
    assert_int_equal(stream.period_ns, info.max_period_ns);
    bed_close(&stream);
}

/* Rule 11.2. */
static void kernel__that_allows_longer_periods_only__samples_nothing(void **state)
{
    struct kmd_config config = bed_config("hsw-gt3", "i915");
    struct zeta_group_info info;

    (void)state;
    config.is_privileged = false;
    config.is_paranoid = false;
    config.max_sample_rate = 10;
    (void)bed_start(&config);
    info = info_of(bed_stream_of(bed_device(), "RenderBasic").group);
    /* The plugin looks at the capabilities that the process really has. */
    assert_true(geteuid() == 0 || (info.min_period_ns == 0 && info.max_period_ns == 0));
    bed_open_fails(bed_device(), "RenderBasic", 1000000, ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_non_null(strstr(zetaGetLastError(), "raise dev.i915.oa_max_sample_rate"));
}

SUITE_WITH_ARGUMENTS(periods, argc, argv)
{
    static const char *const i915[] = {"hsw-gt1", "hsw-gt2", "hsw-gt3", "bdw", "chv",     "skl-gt2",
                                       "skl-gt3", "skl-gt4", "bxt",     "glk", "kbl-gt2", "kbl-gt3",
                                       "cfl-gt2", "cfl-gt3", "cnl",     "icl", "ehl",     "tgl-gt1",
                                       "tgl-gt2", "rkl",     "dg1",     "adl", "dg2-g10", "dg2-g11",
                                       "dg2-g12", "mtl-gt2", "mtl-gt3", "arl", NULL};
    static const char *const xe[] = {"tgl-gt1", "tgl-gt2", "rkl",     "dg1",     "adl", "dg2-g10",
                                     "dg2-g11", "dg2-g12", "mtl-gt2", "mtl-gt3", "arl", "pvc",
                                     "lnl",     "bmg",     "ptl",     NULL};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(longest_period__of_each_set_on_i915__counts_all, (void *)i915),
        cmocka_unit_test_prestate(longest_period__of_each_set_on_xe__counts_all, (void *)xe),
        cmocka_unit_test(period__beyond_the_longest__is_brought_into_range),
        cmocka_unit_test(range__of_sets_of_one_unit__follows_from_what_they_read),
        cmocka_unit_test(root__with_two_tiles__has_the_range_of_both),
        cmocka_unit_test(kernel__that_allows_longer_periods_only__samples_nothing),
    };

    return bed_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
