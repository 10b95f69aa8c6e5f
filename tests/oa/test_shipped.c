/*
 * The sets that the Intel plugin comes with, of the platforms from XeHP to Xe3, against the XML
 * that their facts come from: registers, which metrics exist, values and maxima, on devices that
 * are fused in several ways. The plugin's files are maintained by hand and write equations in their
 * own way.
 *
 * usage: test_shipped PLATFORM DIRECTORY/oa-NAME.xml
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/intel_data/data.h"
#include "tests/oa/oa_bed.h"
#include "tests/support/compare.h"

#define REPORTS 128u
/* Steps below 2^20: no product leaves 64 bits, so it is the same whether muldiv() is used or not.
 */
#define STEP_BITS 20u

static const char *wanted;
static uint64_t seed = 7;

/** Reads the platform's catalog; everything else is there. */
static int prepare(void **state)
{
    uint32_t count = 0;
    struct data_generation *generations = data_read(&count);

    (void)state;
    oa_tested.shipped = true;
    oa_tested.file = oa_file_read(oa_tested.path);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t p = 0; p < generations[i].platforms.count; p++) {
            const struct zeta_intel_platform *platform = &generations[i].platforms.items[p];

            if (strcmp(platform->id, wanted) == 0)
                oa_tested.catalog = data_catalog(&generations[i], platform);
        }
    }
    data_free(generations, count);
    return oa_tested.catalog ? 0 : -1;
}

/** The number of a metric in a compiled set; -1 if it is not there. */
static int find_metric(const struct zeta_compiled *compiled, const char *name)
{
    for (uint32_t i = 0; i < zeta_compiled_metric_count(compiled); i++) {
        if (strcmp(zeta_compiled_metric(compiled, i)->name, name) == 0)
            return (int)i;
    }
    return -1;
}

static void check_metrics(struct oa_bed *bed)
{
    uint32_t next = 0;

    for (uint32_t i = 0; i < bed->set->counter_count; i++) {
        const struct oa_counter *counter = &bed->set->counters[i];
        const bool exists = next < bed->count && bed->counters[next] == i;
        const int found = find_metric(bed->compiled, counter->name);

        next += exists;
        if (exists != (found >= 0))
            fail_msg("%s/%s %s", bed->imported->name, counter->name,
                     exists ? "is missing" : "exists, but not in the XML");
        if (found >= 0)
            assert_int_equal(zeta_compiled_metric(bed->compiled, (uint32_t)found)->value_type,
                             counter->is_float ? ZET_VALUE_TYPE_FLOAT32 : ZET_VALUE_TYPE_UINT64);
    }
}

static void availability__each_device__same_metrics(void **state)
{
    (void)state;
    assert_cmp(oa_for_each_bed(check_metrics), >, 0);
}

static void program__each_device__same_registers_in_order(void **state)
{
    (void)state;
    assert_cmp(oa_for_each_bed(oa_check_program), >, 0);
}

/** Brings the values of a row into the order of the XML and compares them. */
static void compare_by_name(const struct oa_bed *bed, uint32_t number, const struct oa_row *row,
                            zet_typed_value_t *const *columns)
{
    zet_typed_value_t ordered[2][OA_MAX_COUNTERS];
    zet_typed_value_t *const values[] = {ordered[0], ordered[1]};

    for (uint32_t i = 0; i < bed->count; i++) {
        const int found = find_metric(bed->compiled, bed->set->counters[bed->counters[i]].name);

        assert_cmp(found, >=, 0);
        ordered[0][i] = columns[0][found];
        ordered[1][i] = columns[1][found];
    }
    oa_compare_row(bed, number, row, values);
}

static void check_values(struct oa_bed *bed)
{
    static unsigned char reports[REPORTS * OA_REPORT_MAX_BYTES];

    oa_make_advancing(bed->format, &seed, STEP_BITS, reports, REPORTS);
    oa_each_row(bed, reports, REPORTS, compare_by_name);
}

static void values__advancing_reports__equal(void **state)
{
    (void)state;
    assert_cmp(oa_for_each_bed(check_values), >, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(availability__each_device__same_metrics),
        cmocka_unit_test(program__each_device__same_registers_in_order),
        cmocka_unit_test(values__advancing_reports__equal),
    };
    static char path[1024];
    const char *shared = getenv("ZETA_SHARED");

    if (argc != 3) {
        (void)fprintf(stderr, "usage: %s PLATFORM DIRECTORY/oa-NAME.xml\n", argv[0]);
        return 1;
    }
    (void)snprintf(path, sizeof(path), "%s/oa/%s", shared ? shared : "", argv[2]);
    if (!shared || access(path, R_OK) != 0) {
        (void)printf("skipped: %s is not there; ZETA_SHARED names the folder with oa/\n", path);
        return 77;
    }
    wanted = argv[1];
    if (!oa_tested_choose(path)) {
        (void)fprintf(stderr, "%s: unknown platform\n", path);
        return 1;
    }
    return cmocka_run_group_tests_name(wanted, tests, prepare, oa_tested_finish);
}
