#include "tests/oa/oa_sets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/formula/sets/query_form.h"
#include "tests/metric/support.h"
#include "tests/oa/oa_bed.h"
#include "tests/oa/oa_import.h"
#include "tests/support/compare.h"
#include "zeta/query_record.h"

#define REPORTS 128u
#define QUERIES 4u

/* From Xe2 on, sets of media belong to the unit whose registers they write. */
static void check_unit(const struct oa_set *set, bool is_media, const struct zeta_set *imported)
{
    static const struct {
        const char *name;
        uint32_t domain, first;
    } units[] = {{"oam0", 1, 0x394200}, {"oam1", 2, 0x394a00}, {"oam-sag", 3, 0x393200}};
    uint32_t wanted = 0;

    for (uint32_t u = 0; u < sizeof(units) / sizeof(units[0]); u++) {
        uint32_t outside = 0;

        for (uint32_t i = 0; i < set->config_count; i++) {
            for (uint32_t r = 0; r < set->configs[i].register_count; r++)
                outside += set->configs[i].registers[r].address - units[u].first > 0x3c;
        }
        if (outside == 0)
            wanted = u;
    }
    assert_string_equal(imported->unit->name, is_media ? units[wanted].name : "oa");
    assert_int_equal(imported->domain, is_media ? units[wanted].domain : 0);
}

static void import__all_sets__loaded_with_their_properties(void **state)
{
    (void)state;
    assert_int_equal(zeta_catalog_set_count(oa_tested.catalog), oa_tested.file->set_count);
    for (uint32_t i = 0; i < oa_tested.file->set_count; i++) {
        const struct oa_set *set = &oa_tested.file->sets[i];
        const struct oa_format *format = oa_format_find(set->format, oa_tested.platform->format);
        const struct zeta_set *imported = zeta_catalog_find_set(oa_tested.catalog, set->name);

        assert_non_null(imported);
        assert_string_equal(imported->uuid, set->uuid);
        assert_string_equal(imported->layout->name, format->name);
        assert_int_equal(imported->layout->record_bytes, format->report_bytes);
        check_unit(set, format == &oa_format_mpec32, imported);
        assert_int_equal(imported->sampling, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED |
                                                 ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED);
    }
}

static void check_metrics(struct oa_bed *bed)
{
    const uint32_t total = zeta_compiled_metric_count(bed->compiled);
    uint32_t own = 0;

    while (own < total && !zeta_compiled_metric(bed->compiled, own)->is_info)
        own++;
    for (uint32_t i = 0; i < own && i < bed->count; i++) {
        const struct oa_counter *counter = &bed->set->counters[bed->counters[i]];
        const struct zeta_metric *metric = zeta_compiled_metric(bed->compiled, i);

        assert_string_equal(metric->name, counter->name);
        assert_int_equal(metric->value_type,
                         counter->is_float ? ZET_VALUE_TYPE_FLOAT32 : ZET_VALUE_TYPE_UINT64);
        assert_cmp(metric->description[0], !=, '\0');
    }
    if (own != bed->count)
        fail_msg("set %s: %u metrics exist, of the XML %u", bed->set->name, own, bed->count);
}

static void availability__each_device__same_metrics(void **state)
{
    (void)state;
    (void)oa_for_each_bed(check_metrics);
}

static void program__each_device__same_registers_in_order(void **state)
{
    (void)state;
    (void)oa_for_each_bed(oa_check_program);
}

static uint64_t seed = 1;

static void check_random(struct oa_bed *bed)
{
    static unsigned char reports[REPORTS * OA_REPORT_MAX_BYTES];
    const uint32_t bytes = bed->format->report_bytes;

    for (size_t i = 0; i < (size_t)REPORTS * bytes; i++)
        reports[i] = (unsigned char)(next_random(&seed) >> 32);
    oa_number_reports(reports, REPORTS, bytes);
    oa_each_row(bed, reports, REPORTS, oa_compare_row);
}

static void values__random_reports__equal(void **state)
{
    (void)state;
    (void)oa_for_each_bed(check_random);
}

static void check_advancing(struct oa_bed *bed)
{
    static unsigned char reports[REPORTS * OA_REPORT_MAX_BYTES];

    oa_make_advancing(bed->format, &seed, 64, reports, REPORTS);
    oa_each_row(bed, reports, REPORTS, oa_compare_row);
}

static void values__advancing_reports__equal(void **state)
{
    (void)state;
    (void)oa_for_each_bed(check_advancing);
}

/**
 * Differences of 0, 1, all but one and all ones, forwards and over the wrap, for all counters alike
 * and for time and clocks apart from the others.
 */
static void check_edges(struct oa_bed *bed)
{
    static const uint64_t edges[] = {0, 0, 1, 0, UINT64_MAX, UINT64_MAX, 0, UINT64_C(1) << 31};
    static unsigned char reports[REPORTS * OA_REPORT_MAX_BYTES];
    const uint32_t bytes = bed->format->report_bytes;

    memset(reports, 0, sizeof(reports));
    for (uint32_t r = 0; r < bed->format->run_count; r++) {
        const struct oa_run *run = &bed->format->runs[r];
        const bool is_clock = run->bank == OA_GPU_TIME || run->bank == OA_GPU_CLOCK;

        for (uint32_t index = 0; index < run->count; index++) {
            for (uint32_t i = 0; i < REPORTS; i++)
                oa_report_set(run, index, reports + (size_t)i * bytes,
                              edges[(is_clock ? i / 8 + i : i) % 8]);
        }
    }
    oa_number_reports(reports, REPORTS, bytes);
    oa_each_row(bed, reports, REPORTS, oa_compare_row);
}

static void values__edge_cases__equal(void **state)
{
    (void)state;
    (void)oa_for_each_bed(check_edges);
}

/** The field of a layout that a counter is; ZETA_FIELD_NONE if the format has none such. */
static uint32_t field_of(const struct oa_bed *bed, enum oa_bank bank, uint32_t index)
{
    static const char *const names[OA_BANKS] = {
        [OA_A] = "A", [OA_B] = "B", [OA_C] = "C", [OA_PEC] = "PEC"};
    const struct zeta_layout *layout = bed->imported->layout;
    const struct zeta_bank *found;

    if (!oa_format_run(bed->format, bank, index))
        return ZETA_FIELD_NONE;
    if (bank == OA_GPU_TIME || bank == OA_GPU_CLOCK)
        return zeta_layout_find_field(layout, bank == OA_GPU_TIME ? "ticks" : "clocks");
    /* Equations of media sets call the bank A. */
    if (bank == OA_A && bed->format == &oa_format_mpec32)
        bank = OA_PEC;
    found = zeta_layout_find_bank(layout, names[bank]);
    assert_non_null(found);
    return found->first_field + index;
}

/** Place of a field in a query record: views of other fields have none. */
static uint32_t place_of(const struct zeta_layout *layout, uint32_t field)
{
    uint32_t place = 0;

    for (uint32_t i = 0; i < field; i++)
        place += layout->fields[i].part_of == ZETA_FIELD_NONE;
    return place;
}

/** Query records hold differences of 64 bits, wider than the counters of most reports. */
static void check_queries(struct oa_bed *bed)
{
    const struct zeta_layout *layout = bed->imported->layout;
    const uint32_t bytes = zeta_query_record_bytes(zeta_query_form_field_count(layout));
    uint64_t record[(sizeof(struct zeta_query_record) + 8 * 256) / 8] = {0};

    assert_cmp(bytes, <=, sizeof(record));
    for (uint32_t i = 0; i < QUERIES; i++) {
        uint64_t differences[OA_BANKS][OA_BANK_SIZE] = {{0}};
        const struct oa_row row = {.differences = differences};
        zet_typed_value_t *columns[2];

        for (uint32_t word = 0; word < bytes / 8; word++)
            record[word] = oa_random_step(&seed, 64);
        ((struct zeta_query_record *)record)->size_bytes = bytes;
        ((struct zeta_query_record *)record)->tile = 0;
        for (uint32_t bank = 0; bank < OA_BANKS; bank++) {
            for (uint32_t index = 0; index < OA_BANK_SIZE; index++) {
                const uint32_t field = field_of(bed, (enum oa_bank)bank, index);

                if (field != ZETA_FIELD_NONE)
                    differences[bank][index] =
                        record[sizeof(struct zeta_query_record) / 8 + place_of(layout, field)];
            }
        }
        oa_calculate(bed->query, record, bytes, 1, columns);
        oa_compare_row(bed, i, &row, columns);
        free(columns[0]);
        free(columns[1]);
    }
}

static void queries__records_of_wide_differences__equal(void **state)
{
    (void)state;
    (void)oa_for_each_bed(check_queries);
}

/** What equations with PERFCNT would read is in no report: such metrics are not imported. */
static void import__perfcnt__left_out_with_a_note(void **state)
{
    uint32_t expected = 0;
    uint32_t notes = 0;
    FILE *stream = fopen(oa_import_notes(), "r");
    char line[512];

    (void)state;
    for (uint32_t i = 0; i < oa_tested.file->set_count; i++) {
        const struct oa_set *set = &oa_tested.file->sets[i];
        const struct zeta_set *imported = zeta_catalog_find_set(oa_tested.catalog, set->name);

        for (uint32_t c = 0; c < set->counter_count; c++) {
            bool found = false;

            for (uint32_t m = 0; m < imported->metric_count; m++)
                found = found || strcmp(imported->metrics[m].name, set->counters[c].name) == 0;
            expected += !found;
            if (strstr(set->counters[c].equation, "PERFCNT"))
                assert_false(found);
        }
    }
    assert_non_null(stream);
    while (fgets(line, sizeof(line), stream)) {
        assert_non_null(strstr(line, "; left out"));
        notes++;
    }
    (void)fclose(stream);
    assert_int_equal(notes, expected);
}

int oa_sets_run(const char *path)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(import__all_sets__loaded_with_their_properties),
        cmocka_unit_test(import__perfcnt__left_out_with_a_note),
        cmocka_unit_test(availability__each_device__same_metrics),
        cmocka_unit_test(program__each_device__same_registers_in_order),
        cmocka_unit_test(values__random_reports__equal),
        cmocka_unit_test(values__advancing_reports__equal),
        cmocka_unit_test(values__edge_cases__equal),
        cmocka_unit_test(queries__records_of_wide_differences__equal),
    };

    if (!oa_tested_choose(path)) {
        (void)fprintf(stderr, "%s: unknown platform\n", path);
        return 1;
    }
    return cmocka_run_group_tests_name(oa_tested.name, tests, oa_tested_prepare, oa_tested_finish);
}
