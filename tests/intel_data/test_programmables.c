/*
 * Programmables of the flexible EU counters: put together in the order of a set's counters they
 * write the registers that the set writes, and read the counters that the set reads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/formula/programmables/recipe_set.h"
#include "tests/intel_data/data.h"
#include "tests/metric/support.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { FIRST = 7, COUNTERS = 14, REPORT = 256 };

/** A programmable with the value of its first parameter. */
struct pick {
    const char *name;
    uint32_t value;
};

/** What is in a set's counters from A7 on, in order; ends with a NULL name. */
static const struct pick by_shader[] = {
    {"EuActive", 0},   {"EuStall", 0},      {"EuFpuBothActive", 0},
    {"Fpu0Active", 1}, {"Fpu1Active", 1},   {"EuSendActive", 1},
    {"EuActive", 1},   {"EuStall", 1},      {"Fpu0Active", 5},
    {"Fpu1Active", 5}, {"EuSendActive", 5}, {"EuFpuBothActive", 5},
    {"EuActive", 5},   {"EuStall", 5},      {NULL, 0},
};
static const struct pick by_instruction[] = {
    {"EuActive", 0},
    {"EuStall", 0},
    {"EuFpuBothActive", 0},
    {"Fpu0Active", 0},
    {"Fpu1Active", 0},
    {"EuSendActive", 0},
    {"EuHybridInstructions", 0},
    {"EuHybridInstructions", 1},
    {"EuTernaryInstructions", 0},
    {"EuTernaryInstructions", 1},
    {"EuBinaryInstructions", 0},
    {"EuBinaryInstructions", 1},
    {"EuMoveInstructions", 0},
    {"EuMoveInstructions", 1},
    {NULL, 0},
};
static const struct pick occupancy[] = {
    {"EuActive", 0}, {"EuStall", 0}, {"EuFpuBothActive", 0}, {"EuThreadOccupancy", 0}, {NULL, 0}};
static const struct pick gen12_first[] = {
    {"EuActive", 0}, {"EuStall", 0}, {"EuThreadOccupancy", 0}, {NULL, 0}};
static const struct pick gen12_shaders[] = {
    {"FpuActive", 2}, {"FpuActive", 3}, {"EuSendActive", 1}, {NULL, 0}};
static const struct pick gen12_pipes[] = {
    {"EuFpuEmActive", 0}, {"FpuActive", 0}, {"EmActive", 0}, {NULL, 0}};

static const struct pick xehp_compute[] = {{"XveActive", 0},
                                           {"XveStall", 0},
                                           {"FpuActive", 0},
                                           {"EmActive", 0},
                                           {"XmxActive", 0},
                                           {"XveFpuEmActive", 0},
                                           {"XveFpuXmxActive", 0},
                                           {"SendActive", 0},
                                           {"XveThreadOccupancy", 0},
                                           {"XveFpuFlt16", 0},
                                           {"XveFpuFlt32", 0},
                                           {"XveFpuFlt64", 0},
                                           {NULL, 0}};
static const struct pick xehp_async[] = {
    {"FpuActive", 0}, {"FpuActive", 1}, {"FpuActive", 5},          {"FpuActive", 6},
    {"FpuActive", 9}, {"EmActive", 0},  {"EmActive", 1},           {"EmActive", 5},
    {"EmActive", 6},  {"EmActive", 9},  {"XveThreadOccupancy", 0}, {"XveActive", 0},
    {"XveStall", 0},  {NULL, 0}};
static const struct pick xehp_stages[] = {{"FpuActive", 2},  {"FpuActive", 3},  {"FpuActive", 4},
                                          {"EmActive", 2},   {"EmActive", 3},   {"EmActive", 4},
                                          {"SendActive", 2}, {"SendActive", 3}, {"SendActive", 4},
                                          {"SendActive", 6}, {NULL, 0}};
static const struct pick pvc_pipes[] = {
    {"EuActive", 0},          {"EuStall", 0},      {"EmFpuActive", 0},
    {"EuThreadOccupancy", 0}, {"FpuActive", 0},    {"EmActive", 0},
    {"SysActive", 0},         {"SysFpuActive", 0}, {NULL, 0}};

static const struct expectation {
    const char *platform;
    const char *set;
    const struct pick *picks;
} expectations[] = {
    {"bdw-gt2", "L3_1", by_shader},
    {"bdw-gt2", "ComputeL3Cache", by_instruction},
    {"chv", "HDCAndSF", by_shader},
    {"skl-gt2", "HDCAndSF", by_shader},
    {"skl-gt2", "ComputeL3Cache", by_instruction},
    {"skl-gt2", "VMEPipe", occupancy},
    {"icl", "TDL_1", by_shader},
    {"icl", "ComputeL3Cache", by_instruction},
    {"tgl-gt2", "L3_1", gen12_first},
    {"tgl-gt2", "EuActivity4", gen12_shaders},
    {"adl-p", "EuActivity7", gen12_pipes},
    {"acm-g10", "ComputeBasic", xehp_compute},
    {"acm-g11", "AsyncCompute", xehp_async},
    {"acm-g12", "XveActivity1", xehp_stages},
    {"mtl-u", "XveActivity", xehp_stages},
    {"mtl-h", "ComputeBasic", xehp_compute},
    {"arl-h", "AsyncCompute", xehp_async},
    {"pvc", "TestOa", pvc_pipes},
};

/** A catalog with the set that the picks make. */
struct bed {
    struct data_generation *generations;
    uint32_t generation_count;
    struct zeta_catalog *catalog;
    struct zeta_recipe recipes[COUNTERS];
    struct zeta_ingredient ingredients[COUNTERS];
    uint32_t count;
    struct zeta_recipe_set made;
};

static void load(struct bed *bed, const char *platform)
{
    bed->generations = data_read(&bed->generation_count);
    for (uint32_t i = 0; i < bed->generation_count; i++) {
        const struct zeta_intel_platforms *platforms = &bed->generations[i].platforms;

        for (uint32_t k = 0; k < platforms->count; k++) {
            if (strcmp(platforms->items[k].id, platform) == 0)
                bed->catalog = data_catalog(&bed->generations[i], &platforms->items[k]);
        }
    }
    assert_non_null(bed->catalog);
}

static void cook(struct bed *bed, const struct pick *pick, uint32_t utilization)
{
    const zet_metric_programmable_param_value_exp_t values[] = {{.value.ui32 = pick->value},
                                                                {.value.ui32 = utilization}};
    const struct zeta_programmable *programmable =
        zeta_catalog_find_programmable(bed->catalog, pick->name);
    /* Those that are not told by shader have the last parameter alone. */
    const uint32_t first = programmable && programmable->parameter_count == 1 ? 1 : 0;
    struct zeta_choice choice;
    const struct zeta_recipe_request request = {
        .choice = &choice, .name = pick->name, .description = "d"};
    const char *wrong = NULL;

    assert_non_null(programmable);
    assert_int_equal(zeta_choice_make(programmable, 2 - first, values + first, &choice),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(zeta_recipe_init(&bed->recipes[bed->count], programmable, &request, &wrong),
                     ZE_RESULT_SUCCESS);
    bed->ingredients[bed->count] =
        (struct zeta_ingredient){&bed->recipes[bed->count], ZETA_RECIPE_ALL_TILES};
    bed->count++;
}

static void bed_init(struct bed *bed, const struct expectation *expectation, uint32_t utilization)
{
    struct zeta_recipe_set_request request = {
        .name = "Mine", .description = "", .file = "test", .unit_name = "oa"};
    struct zeta_diagnostics sink = {0};

    *bed = (struct bed){0};
    load(bed, expectation->platform);
    for (const struct pick *pick = expectation->picks; pick->name; pick++)
        cook(bed, pick, utilization);
    request.catalog = bed->catalog;
    request.layout_name =
        zeta_catalog_find_programmable(bed->catalog, expectation->picks[0].name)->layout_name;
    request.sampling = ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED;
    request.ingredients = bed->ingredients;
    request.count = bed->count;
    if (zeta_recipe_set_init(&bed->made, &request, &sink) != ZE_RESULT_SUCCESS)
        fail_msg("%s", sink.first_error);
}

static void bed_finish(struct bed *bed)
{
    zeta_recipe_set_finish(&bed->made);
    for (uint32_t i = 0; i < bed->count; i++)
        zeta_recipe_finish(&bed->recipes[i]);
    zeta_catalog_destroy(bed->catalog);
    data_free(bed->generations, bed->generation_count);
}

/** The value that a set writes to a register; false if it does not write it. */
static bool find_write(const struct zeta_set *set, uint32_t address, uint32_t *out_value)
{
    for (uint32_t i = 0; i < set->program_count; i++) {
        for (uint32_t k = 0; k < set->program[i].entry_count; k++) {
            if (set->program[i].entries[k].address == address) {
                *out_value = set->program[i].entries[k].value;
                return true;
            }
        }
    }
    return false;
}

static uint32_t count_writes(const struct zeta_set *set)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < set->program_count; i++)
        count += set->program[i].entry_count;
    return count;
}

static void flexible_counters__as_in_a_set__write_its_registers(void **state)
{
    static const uint32_t registers[] = {0xe458, 0xe558, 0xe658, 0xe758, 0xe45c, 0xe55c, 0xe65c};

    (void)state;
    for (size_t i = 0; i < sizeof(expectations) / sizeof(expectations[0]); i++) {
        const struct zeta_set *set;
        struct bed bed;
        uint32_t written = 0;

        bed_init(&bed, &expectations[i], 1);
        set = zeta_catalog_find_set(bed.catalog, expectations[i].set);
        assert_non_null(set);
        for (size_t k = 0; k < sizeof(registers) / sizeof(registers[0]); k++) {
            uint32_t wanted = 0, found = 0;
            const bool expected = find_write(set, registers[k], &wanted);

            if (find_write(&bed.made.set, registers[k], &found) != expected || found != wanted)
                fail_msg("%s %s: register %#x is %#x, in the set %#x", expectations[i].platform,
                         expectations[i].set, registers[k], found, wanted);
            written += expected;
        }
        assert_int_equal(count_writes(&bed.made.set), written);
        bed_finish(&bed);
    }
}

/** Counters of Xe2 and Xe3 take the events that the sets of all platforms write for them. */
static void events_of_xe2__chosen__written_for_their_counters(void **state)
{
    static const struct pick picks[] = {
        {"XVE_ACTIVE", 0}, {"ICACHE_MISS", 0}, {"SLM_BYTE_READ", 0}, {NULL, 0}};
    static const struct expectation platforms[] = {
        {"lnl", NULL, picks}, {"bmg", NULL, picks}, {"ptl", NULL, picks}};
    static const uint32_t events[] = {0x605, 0x623, 0xa15};

    (void)state;
    for (size_t i = 0; i < sizeof(platforms) / sizeof(platforms[0]); i++) {
        struct bed bed;

        bed_init(&bed, &platforms[i], 1);
        assert_int_equal(count_writes(&bed.made.set), 6);
        for (uint32_t n = 0; n < 3; n++) {
            uint32_t event = 0, rest = 1;

            assert_true(find_write(&bed.made.set, 0x13000 + 8 * n, &event));
            assert_true(find_write(&bed.made.set, 0x13004 + 8 * n, &rest));
            assert_int_equal(event, events[n]);
            assert_int_equal(rest, 0);
        }
        bed_finish(&bed);
    }
}

static uint64_t eus = 24;

static bool find_symbol(void *context, const char *name, struct zeta_number *out_value)
{
    (void)context;
    out_value->type = ZETA_EXPR_U64;
    out_value->u.u64 = strcmp(name, "GpuTimestampFrequency") == 0 ? 12000000 : eus;
    return true;
}

static void put(unsigned char *report, uint32_t at, uint32_t value)
{
    memcpy(report + at, &value, sizeof(value));
}

/** Two reports, between which A[n] moves by 1000 + n, B[n] by 2000 + n, the clocks by 10000. */
static void make_reports(unsigned char *reports)
{
    memset(reports, 0, (size_t)2 * REPORT);
    put(reports, 0, 1);
    put(reports + REPORT, 0, 2);
    put(reports + REPORT, 4, 12000);
    put(reports + REPORT, 12, 10000);
    for (uint32_t n = 0; n < 36; n++)
        put(reports + REPORT, 16 + 4 * n, 1000 + n);
    for (uint32_t n = 0; n < 8; n++)
        put(reports + REPORT, 192 + 4 * n, 2000 + n);
}

static void calculate(const struct bed *bed, zet_typed_value_t *values, uint32_t capacity)
{
    const struct zeta_symbol_lookup lookup = {.find = find_symbol, .context = NULL};
    unsigned char reports[2 * REPORT];
    struct zeta_compiled *compiled = NULL;
    struct zeta_evaluation result;
    struct zeta_diagnostics sink = {0};

    if (zeta_set_compile(bed->catalog, &bed->made.set, &lookup, &sink, &compiled) !=
        ZE_RESULT_SUCCESS)
        fail_msg("%s", sink.first_error);
    make_reports(reports);
    assert_int_equal(zeta_evaluate(compiled, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, 0, 0,
                                   reports, sizeof(reports), values, capacity, &result),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(result.row_count, 1);
    zeta_compiled_destroy(compiled);
}

static void flexible_counters__cycles__are_those_of_their_counters(void **state)
{
    const struct expectation expectation = {"skl-gt2", "HDCAndSF", by_shader};
    zet_typed_value_t values[32];
    struct bed bed;

    (void)state;
    bed_init(&bed, &expectation, 0);
    assert_int_equal(bed.count, COUNTERS);
    calculate(&bed, values, 32);
    for (uint32_t i = 0; i < COUNTERS; i++) {
        assert_int_equal(values[i].type, ZET_VALUE_TYPE_UINT64);
        assert_int_equal(values[i].value.ui64, 1000 + FIRST + i);
    }
    bed_finish(&bed);
}

static void flexible_counters__percentage__is_of_all_eus(void **state)
{
    const struct expectation expectation = {"skl-gt2", "VMEPipe", occupancy};
    zet_typed_value_t values[32];
    struct bed bed;

    (void)state;
    bed_init(&bed, &expectation, 1);
    calculate(&bed, values, 32);
    assert_int_equal(values[1].type, ZET_VALUE_TYPE_FLOAT64);
    assert_cmp(values[1].value.fp64, ==, 100.0 * 1008 / (10000.0 * 24));
    /* Threads of an EU have the value of all other symbols here. */
    assert_cmp(values[3].value.fp64, ==, 100.0 * (1010 * 8) / (10000.0 * 24 * 24));
    bed_finish(&bed);
}

static void flexible_counters__of_gen12__are_four_together(void **state)
{
    const struct expectation expectation = {"tgl-gt2", "L3_1", gen12_first};
    zet_typed_value_t values[32];
    struct bed bed;

    (void)state;
    bed_init(&bed, &expectation, 0);
    calculate(&bed, values, 32);
    assert_int_equal(values[0].value.ui64, 1007 + 1008 + 1009 + 1010);
    assert_int_equal(values[1].value.ui64, 1011 + 1012 + 1013 + 1014);
    assert_int_equal(values[2].value.ui64, (1015 + 1016 + 1017 + 1018) * 8);
    bed_finish(&bed);
}

/** What B0 that never and B1 that always counts are programmed with. */
static void check_boolean(const char *platform, uint32_t trigger, uint32_t events)
{
    static const struct pick conditions[] = {{"BooleanClocks", 0}, {"BooleanClocks", 1}, {NULL, 0}};
    const struct expectation expectation = {platform, "TestOa", conditions};
    const struct zeta_set *set;
    uint32_t wanted = 0, found = 0;
    zet_typed_value_t values[32];
    struct bed bed;

    bed_init(&bed, &expectation, 0);
    set = zeta_catalog_find_set(bed.catalog, expectation.set);
    assert_non_null(set);
    for (uint32_t address = events; address < events + 16; address += 8) {
        assert_true(find_write(set, address, &wanted));
        assert_true(find_write(&bed.made.set, address, &found));
        assert_int_equal(found, wanted);
    }
    /* A bit for each of B0 to B3 in use; the set of the test uses all. */
    assert_true(find_write(set, trigger, &wanted));
    assert_true(find_write(&bed.made.set, trigger, &found));
    assert_int_equal(wanted, 0xf0800000);
    assert_int_equal(found, 0x30800000);
    calculate(&bed, values, 32);
    assert_int_equal(values[0].value.ui64, 2000);
    assert_int_equal(values[1].value.ui64, 2001);
    bed_finish(&bed);
}

static void boolean_counters__never_and_always__as_in_the_test_set(void **state)
{
    (void)state;
    check_boolean("bdw-gt2", 0x2714, 0x2770);
    check_boolean("chv", 0x2714, 0x2770);
    check_boolean("skl-gt2", 0x2714, 0x2770);
    check_boolean("icl", 0x2714, 0x2770);
    check_boolean("tgl-gt2", 0xd904, 0xd940);
    check_boolean("tgl-gt2", 0xd904, 0xdc00);
}

/** Flexible counters take slots of A, boolean ones slots of B, in one group. */
static void both_kinds__in_one_group__have_counters_of_their_own(void **state)
{
    static const struct pick picks[] = {
        {"BooleanClocks", 1}, {"EuActive", 0}, {"BooleanClocks", 0}, {"EuStall", 0}, {NULL, 0}};
    const struct expectation expectation = {"skl-gt2", "TestOa", picks};
    zet_typed_value_t values[32];
    struct bed bed;

    (void)state;
    bed_init(&bed, &expectation, 0);
    calculate(&bed, values, 32);
    assert_int_equal(values[0].value.ui64, 2000);
    assert_int_equal(values[1].value.ui64, 1007);
    assert_int_equal(values[2].value.ui64, 2001);
    assert_int_equal(values[3].value.ui64, 1008);
    bed_finish(&bed);
}

static void check_types(const struct data_generation *generation,
                        const struct zeta_intel_platform *platform)
{
    struct zeta_catalog *catalog = data_catalog(generation, platform);
    const uint32_t count = zeta_catalog_programmable_count(catalog);

    for (uint32_t i = 0; i < count && i < 10; i++) {
        const struct zeta_programmable *programmable = zeta_catalog_programmable(catalog, i);

        assert_cmp(programmable->parameter_count, >, 0);
        for (uint32_t k = 0; k < programmable->parameter_count; k++)
            assert_int_not_equal(programmable->parameters[k]->type,
                                 ZET_METRIC_PROGRAMMABLE_PARAM_TYPE_EXP_GENERIC);
    }
    if (count > 0)
        assert_true(generation->manifest.provides & (1u << ZETA_GROUP_METRIC_PROGRAMMABLE));
    zeta_catalog_destroy(catalog);
}

static void programmables__first_ten__have_no_generic_parameter(void **state)
{
    uint32_t count = 0;
    struct data_generation *generations = data_read(&count);

    (void)state;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < generations[i].platforms.count; k++)
            check_types(&generations[i], &generations[i].platforms.items[k]);
    }
    data_free(generations, count);
}

SUITE(programmables)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flexible_counters__as_in_a_set__write_its_registers),
        cmocka_unit_test(events_of_xe2__chosen__written_for_their_counters),
        cmocka_unit_test(flexible_counters__cycles__are_those_of_their_counters),
        cmocka_unit_test(flexible_counters__percentage__is_of_all_eus),
        cmocka_unit_test(flexible_counters__of_gen12__are_four_together),
        cmocka_unit_test(boolean_counters__never_and_always__as_in_the_test_set),
        cmocka_unit_test(both_kinds__in_one_group__have_counters_of_their_own),
        cmocka_unit_test(programmables__first_ten__have_no_generic_parameter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
