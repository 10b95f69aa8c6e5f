/* Sampling of EU stalls: records of two generations, periods, losses. */
#include <stdlib.h>
#include <string.h>

#include <zeta/plugin_metric.h>
#include <zeta/zeta.h>

#include "tests/intel/stream_bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { LNL, PVC, CORES = 64 };

static const struct kmd_config machine_config = {
    .device_count = 2,
    .devices = {{.platform = "lnl", .driver = "xe", .slices = 2, .subslices = 4, .max_mhz = 1000},
                {.platform = "pvc", .driver = "xe", .tiles = 2, .max_mhz = 1000}},
    .is_privileged = true,
    .is_paranoid = true,
    .is_manual = true,
};

static struct kmd_machine *machine;

static int setup(void **state)
{
    (void)state;
    machine = bed_start(&machine_config);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    kmd_stop(machine);
    return 0;
}

/* Bits of a record; at most 32 of them. */
static uint32_t bits(const uint8_t *record, uint32_t first, uint32_t width)
{
    return (uint32_t)(bed_get(record, first / 8, 6) >> (first % 8) & ((UINT64_C(1) << width) - 1));
}

/* Nine counts of 8 bits, one behind the other, in the order in which each generation has them. */
static struct kmd_stall decode(const uint8_t *record, bool is_pvc)
{
    struct kmd_stall stall = {.ip = bits(record, 0, 29)};
    uint32_t *const pvc[] = {&stall.active,     &stall.other, &stall.control,
                             &stall.pipe,       &stall.send,  &stall.distance,
                             &stall.scoreboard, &stall.sync,  &stall.fetch};
    uint32_t *const xe2[] = {&stall.tdr,   &stall.other,    &stall.control,    &stall.pipe,
                             &stall.send,  &stall.distance, &stall.scoreboard, &stall.sync,
                             &stall.fetch, &stall.active};

    if (is_pvc) {
        for (uint32_t i = 0; i < 9; i++)
            *pvc[i] = bits(record, 29 + 8 * i, 8);
        return stall;
    }
    for (uint32_t i = 0; i < 10; i++)
        *xe2[i] = bits(record, 29 + 8 * i, 8);
    stall.exception = bits(record, 109, 3);
    stall.is_end = bits(record, 112, 1) != 0;
    return stall;
}

static bool is_equal(const struct kmd_stall *a, const struct kmd_stall *b, bool is_pvc)
{
    return a->ip == b->ip && a->active == b->active && a->other == b->other &&
           a->control == b->control && a->pipe == b->pipe && a->send == b->send &&
           a->distance == b->distance && a->scoreboard == b->scoreboard && a->sync == b->sync &&
           a->fetch == b->fetch &&
           (is_pvc || (a->tdr == b->tdr && a->exception == b->exception && a->is_end == b->is_end));
}

/* Every record is the next one of a core, and each core has given as many as the others. */
static void expect_all(const struct bed_stream *source, uint32_t gt, uint32_t cores, uint32_t each,
                       bool is_pvc)
{
    uint64_t next[CORES] = {0};

    assert_int_equal(bed_record_count(source), cores * each);
    for (uint32_t i = 0; i < cores * each; i++) {
        const struct kmd_stall found = decode(bed_record(source, i), is_pvc);
        uint32_t core = 0;

        for (; core < cores; core++) {
            const struct kmd_stall wanted = kmd_stall_record(gt, core, next[core]);

            if (is_equal(&found, &wanted, is_pvc))
                break;
        }
        assert_cmp(core, <, cores);
        next[core]++;
    }
    for (uint32_t core = 0; core < cores; core++)
        assert_int_equal(next[core], each);
}

/* Rule 26.20. */
static void records__of_lunar_lake__are_those_of_every_core(void **state)
{
    struct bed_stream source = bed_stream_of(find_device("Intel Lunar Lake"), "EuStallSampling");

    (void)state;
    source.period_ns = 1000;
    bed_stream_start(&source);
    assert_int_equal(source.period_ns, 1004); /* 4 x 251 cycles of 1 GHz */
    kmd_advance(machine, 1004 * KMD_STALL_PERIODS * 10 + 1000);
    EXPECT_OK(bed_stream_drain(&source));
    expect_all(&source, 0, 8, 10, false);
    assert_int_equal(source.warnings, 0);
    bed_close(&source);
}

/* Rule 26.20. */
static void records__of_each_tile_of_ponte_vecchio__have_its_layout(void **state)
{
    ze_device_handle_t tiles[2];
    uint32_t count = 2;

    (void)state;
    EXPECT_OK(zeDeviceGetSubDevices(find_device("Intel Ponte Vecchio"), &count, tiles));
    for (uint32_t tile = 0; tile < 2; tile++) {
        ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
        struct bed_stream source = bed_stream_of(tiles[tile], "EuStallSampling");

        EXPECT_OK(zeDeviceGetProperties(tiles[tile], &properties));
        source.period_ns = 251;
        bed_stream_start(&source);
        assert_int_equal(source.period_ns, 251);
        kmd_advance(machine, 251 * KMD_STALL_PERIODS * 3 + 100);
        EXPECT_OK(bed_stream_drain(&source));
        expect_all(&source, tile, properties.numSlices * properties.numSubslicesPerSlice, 3, true);
        bed_close(&source);
    }
}

static void rows__of_records__have_the_ten_metrics(void **state)
{
    struct bed_stream source = bed_stream_of(find_device("Intel Lunar Lake"), "EuStallSampling");
    struct bed_rows rows;

    (void)state;
    assert_int_equal(source.properties.metricCount, 10);
    bed_stream_start(&source);
    kmd_advance(machine, 50000000);
    EXPECT_OK(bed_stream_drain(&source));
    rows = bed_calculate(&source);
    assert_cmp(rows.rows, >, 8);
    assert_int_equal(rows.rows, bed_record_count(&source));
    for (uint32_t row = 0; row < rows.rows; row++) {
        const struct kmd_stall stall = decode(bed_record(&source, row), false);
        const struct {
            const char *name;
            uint32_t value;
        } wanted[] = {{"IP", stall.ip},
                      {"Active", stall.active},
                      {"ControlStall", stall.control},
                      {"PipeStall", stall.pipe},
                      {"SendStall", stall.send},
                      {"DistStall", stall.distance},
                      {"SbidStall", stall.scoreboard},
                      {"SyncStall", stall.sync},
                      {"InstrFetchStall", stall.fetch},
                      {"OtherStall", stall.other}};

        for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
            assert_int_equal(bed_row_value(&source, &rows, row, wanted[i].name).ui64,
                             wanted[i].value);
    }
    bed_rows_free(&rows);
    bed_close(&source);
}

/* Rule 26.19. */
static void period__any_request__is_one_of_seven(void **state)
{
    static const uint32_t cases[][2] = {{0, 251}, {600, 502}, {1300, 1255}, {UINT32_MAX, 1757}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bed_stream source =
            bed_stream_of(find_device("Intel Lunar Lake"), "EuStallSampling");

        source.period_ns = cases[i][0];
        bed_stream_start(&source);
        assert_int_equal(source.period_ns, cases[i][1]);
        bed_close(&source);
    }
}

/* Rule 26.20. */
static void loss__of_records__is_one_break(void **state)
{
    struct bed_stream source = bed_stream_of(find_device("Intel Lunar Lake"), "EuStallSampling");

    (void)state;
    bed_stream_start(&source);
    kmd_advance(machine, 20000000);
    EXPECT_OK(bed_stream_drain(&source));
    assert_int_equal(source.warnings, 0);
    kmd_fault(machine, LNL, KMD_FAULT_LOSE_BUFFER, 1);
    kmd_advance(machine, 20000000);
    EXPECT_OK(bed_stream_drain(&source));
    kmd_advance(machine, 20000000);
    EXPECT_OK(bed_stream_drain(&source));
    assert_int_equal(bed_break_count(&source, ZETA_PLUGIN_BREAK_LOST), 1);
    assert_cmp(source.warnings, >, 0);
    bed_close(&source);
}

static void buffer__that_nobody_reads__loses_records_and_says_so(void **state)
{
    struct bed_stream source = bed_stream_of(find_device("Intel Lunar Lake"), "EuStallSampling");

    (void)state;
    source.period_ns = 251;
    bed_stream_start(&source);
    /* 8192 records of 64 bytes fill the 512 KiB of a core; they take 2.2 s. */
    kmd_advance(machine, 3000000000);
    EXPECT_OK(bed_stream_drain(&source));
    kmd_advance(machine, 10000000);
    EXPECT_OK(bed_stream_drain(&source));
    assert_cmp(source.warnings, >, 0);
    assert_cmp(bed_break_count(&source, ZETA_PLUGIN_BREAK_LOST), >, 0);
    assert_cmp(bed_record_count(&source), >, 8 * 8000);
    bed_close(&source);
}

static void stream__of_stalls_and_of_counters__run_side_by_side(void **state)
{
    const ze_device_handle_t device = find_device("Intel Lunar Lake");
    struct bed_stream stalls = bed_stream_of(device, "EuStallSampling");
    struct bed_stream counters = bed_stream_of(device, "TestOa");
    struct bed_stream *const both[] = {&stalls, &counters};

    (void)state;
    bed_streams_activate(both, 2);
    bed_stream_open(&stalls);
    bed_stream_open(&counters);
    kmd_advance(machine, 20000000);
    EXPECT_OK(bed_stream_drain(&stalls));
    EXPECT_OK(bed_stream_drain(&counters));
    assert_cmp(bed_record_count(&stalls), >, 0);
    assert_cmp(bed_record_count(&counters), >, 0);
    assert_int_equal(kmd_statistic(machine, LNL, KMD_STAT_BAD_CALLS), 0);
    bed_close(&counters);
    bed_close(&stalls);
}

SUITE(xe_stall)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records__of_lunar_lake__are_those_of_every_core),
        cmocka_unit_test(records__of_each_tile_of_ponte_vecchio__have_its_layout),
        cmocka_unit_test(rows__of_records__have_the_ten_metrics),
        cmocka_unit_test(period__any_request__is_one_of_seven),
        cmocka_unit_test(loss__of_records__is_one_break),
        cmocka_unit_test(buffer__that_nobody_reads__loses_records_and_says_so),
        cmocka_unit_test(stream__of_stalls_and_of_counters__run_side_by_side),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
