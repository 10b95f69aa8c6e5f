/*
 * Queries of whole GPUs through xe, and on GPUs whose OA clock is not that of their engines.
 */
#include <string.h>

#include "tests/intel_query/query_bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static uint8_t records[2 * QUERY_MOST_BYTES];

/* What a counter of a unit counted between the ticks of a record. */
static uint64_t counted(const uint8_t *record, uint32_t unit, const char *uuid, enum kmd_bank bank,
                        uint32_t index)
{
    const struct zeta_query_record head = query_bed_head(record);

    return kmd_counter(bed_machine(), 0, unit, uuid, bank, index, head.end_ticks) -
           kmd_counter(bed_machine(), 0, unit, uuid, bank, index, head.begin_ticks);
}

/* Fields of A24u40_A14u32_B8_C8: report id, ticks, context, clocks; A0 to A37; B, C. */
static bool is_a24(const uint8_t *record, uint32_t unit)
{
    bool is_equal = query_bed_field(record, 3) == counted(record, unit, "", KMD_BANK_CLOCK, 0);

    for (uint32_t i = 0; i < 38; i++)
        is_equal =
            is_equal && query_bed_field(record, 4 + i) == counted(record, unit, "", KMD_BANK_A, i);
    return is_equal;
}

/* Fields of PEC64u64: the header's four, PEC0 to PEC63. */
static bool is_pec64(const uint8_t *record, uint32_t unit)
{
    bool is_equal = query_bed_field(record, 3) == counted(record, unit, "", KMD_BANK_CLOCK, 0);

    for (uint32_t i = 0; i < 64; i++)
        is_equal = is_equal &&
                   query_bed_field(record, 4 + i) == counted(record, unit, "", KMD_BANK_PEC, i);
    return is_equal;
}

/* Fields of MPEC8u32_B8_C8: the header's four, PEC0 to PEC7, B, C. */
static bool is_mpec8(const uint8_t *record, uint32_t unit)
{
    bool is_equal = query_bed_field(record, 3) == counted(record, unit, "", KMD_BANK_CLOCK, 0);

    for (uint32_t i = 0; i < 8; i++)
        is_equal = is_equal &&
                   query_bed_field(record, 4 + i) == counted(record, unit, "", KMD_BANK_PEC, i) &&
                   query_bed_field(record, 12 + i) == counted(record, unit, "", KMD_BANK_B, i) &&
                   query_bed_field(record, 20 + i) == counted(record, unit, "", KMD_BANK_C, i);
    return is_equal;
}

/* The unit whose counters a record holds; 8: none. */
static uint32_t unit_of(const uint8_t *record, bool (*is_of)(const uint8_t *record, uint32_t unit))
{
    uint32_t unit = 0;

    while (unit < 8 && !is_of(record, unit))
        unit++;
    return unit;
}

/* Rule 26.24. */
static void query__of_xe2__counts_what_the_counters_did(void **state)
{
    struct kmd_config config = bed_config("bmg", "xe");
    struct query_bed bed;
    size_t bytes;

    (void)state;
    (void)bed_start(&config);
    bed = query_bed_open(bed_device(), "RenderBasic");
    query_bed_begin(&bed, 0);
    query_bed_pass(50 * BED_STEP_NS);
    query_bed_end(&bed, 0);
    bytes = query_bed_collect(&bed, 0, records);
    assert_int_equal(bytes, zeta_query_record_bytes(68));
    assert_true(is_pec64(records, 0));
    assert_int_equal(query_bed_head(records).flags, 0);
    query_bed_close(&bed);
}

/* Rule 26.24. */
static void root__with_two_tiles__has_a_record_of_each(void **state)
{
    struct kmd_config config = bed_config("pvc", "xe");
    struct kmd_machine *machine;
    struct query_bed bed;
    size_t bytes;

    (void)state;
    config.devices[0].tiles = 2;
    machine = bed_start(&config);
    bed = query_bed_open(bed_device(), "ComputeBasic");
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_STREAMS_OPEN), 2);
    query_bed_begin(&bed, 0);
    query_bed_pass(50 * BED_STEP_NS);
    query_bed_end(&bed, 0);
    bytes = query_bed_collect(&bed, 0, records);
    assert_int_equal(bytes, 2 * zeta_query_record_bytes(58));
    for (uint32_t tile = 0; tile < 2; tile++) {
        const uint8_t *record = records + tile * bytes / 2;

        assert_int_equal(query_bed_head(record).tile, tile);
        assert_cmp(unit_of(record, is_a24), <, 8);
    }
    query_bed_close(&bed);
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_STREAMS_OPEN), 0);
}

static void tiles__queried_by_themselves__need_their_own_unit_alone(void **state)
{
    struct kmd_config config = bed_config("pvc", "xe");
    struct kmd_machine *machine;
    ze_device_handle_t tiles[2];
    struct query_bed beds[2];
    uint32_t count = 2;

    (void)state;
    config.devices[0].tiles = 2;
    machine = bed_start(&config);
    EXPECT_OK(zeDeviceGetSubDevices(bed_device(), &count, tiles));
    beds[0] = query_bed_open(tiles[0], "ComputeBasic");
    beds[1] = query_bed_open(tiles[1], "TestOa");
    for (uint32_t i = 0; i < 2; i++) {
        query_bed_begin(&beds[i], 3);
        query_bed_pass(10 * BED_STEP_NS);
    }
    for (uint32_t i = 0; i < 2; i++) {
        query_bed_end(&beds[i], 3);
        (void)query_bed_collect(&beds[i], 3, records);
        assert_cmp(unit_of(records, is_a24), <, 8);
    }
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_STREAMS_OPENED), 2);
    query_bed_close(&beds[0]);
    query_bed_close(&beds[1]);
}

static void query__of_a_media_unit__counts_its_counters(void **state)
{
    struct kmd_config config = bed_config("bmg", "xe");
    struct query_bed bed;
    size_t bytes;

    (void)state;
    (void)bed_start(&config);
    bed = query_bed_open(bed_device(), "MediaSet1");
    query_bed_begin(&bed, 0);
    query_bed_pass(50 * BED_STEP_NS);
    query_bed_end(&bed, 0);
    bytes = query_bed_collect(&bed, 0, records);
    assert_int_equal(bytes, zeta_query_record_bytes(28));
    assert_cmp(unit_of(records, is_mpec8), <, 8);
    assert_int_equal(query_bed_field(records, 1),
                     query_bed_head(records).end_ticks - query_bed_head(records).begin_ticks);
    query_bed_close(&bed);
}

/* The buffer that overflowed keeps what it had, so the gap is as long as a few reports.
 * Rule 26.27. */
static void losses__told_by_xe__change_nothing(void **state)
{
    static const enum kmd_fault faults[] = {KMD_FAULT_LOSE_REPORTS, KMD_FAULT_LOSE_BUFFER};
    struct kmd_config config = bed_config("bmg", "xe");
    struct query_bed bed;

    (void)state;
    (void)bed_start(&config);
    bed = query_bed_open(bed_device(), "RenderBasic");
    for (uint32_t i = 0; i < 2; i++) {
        query_bed_lose(&bed, i, faults[i], records);
        assert_int_equal(query_bed_head(records).flags, 0);
        assert_true(is_pec64(records, 0));
    }
    assert_cmp(kmd_statistic(bed_machine(), 0, KMD_STAT_REPORTS_LOST), >=, 6);
    query_bed_close(&bed);
}

static void query__while_the_gpu_sleeps__ends(void **state)
{
    struct kmd_config config = bed_config("lnl", "xe");
    struct query_bed bed;

    (void)state;
    (void)bed_start(&config);
    bed = query_bed_open(bed_device(), "RenderBasic");
    query_bed_pass(20 * BED_STEP_NS);
    kmd_fault(bed_machine(), 0, KMD_FAULT_IDLE, 1);
    query_bed_pass(20 * BED_STEP_NS);
    query_bed_begin(&bed, 0);
    query_bed_pass(100 * BED_STEP_NS);
    query_bed_end(&bed, 0);
    (void)query_bed_collect(&bed, 0, records);
    assert_cmp(query_bed_head(records).time_ns, >=, 100 * BED_STEP_NS);
    for (uint32_t i = 3; i < 68; i++)
        assert_int_equal(query_bed_field(records, i), 0);
    query_bed_close(&bed);
}

/* OA ticks of DG2 are twice those of its engines, and programs get OA ticks everywhere. */
static void query__of_dg2__has_the_time_of_its_oa_clock(void **state)
{
    struct kmd_config config = bed_config("dg2-g10", "i915");
    struct query_bed bed;

    (void)state;
    (void)bed_start(&config);
    bed = query_bed_open(bed_device(), "RenderBasic");
    query_bed_begin(&bed, 0);
    query_bed_pass(50 * BED_STEP_NS);
    query_bed_end_now(&bed, 0);
    (void)query_bed_collect(&bed, 0, records);
    const struct zeta_query_record head = query_bed_head(records);
    assert_true(is_a24(records, 0));
    assert_int_equal(head.time_ns, (head.end_ticks - head.begin_ticks) * 40); /* 25 MHz */
    assert_cmp(head.time_ns, >=, 50 * BED_STEP_NS - 200000);
    assert_cmp(head.time_ns, <=, 50 * BED_STEP_NS + 200000);
    query_bed_close(&bed);
}

SUITE_WITH_ARGUMENTS(query_xe, argc, argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(query__of_xe2__counts_what_the_counters_did),
        cmocka_unit_test(root__with_two_tiles__has_a_record_of_each),
        cmocka_unit_test(tiles__queried_by_themselves__need_their_own_unit_alone),
        cmocka_unit_test(query__of_a_media_unit__counts_its_counters),
        cmocka_unit_test(losses__told_by_xe__change_nothing),
        cmocka_unit_test(query__while_the_gpu_sleeps__ends),
        cmocka_unit_test(query__of_dg2__has_the_time_of_its_oa_clock),
    };

    return bed_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
