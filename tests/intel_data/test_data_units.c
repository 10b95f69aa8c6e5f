/*
 * Counting units of Intel's GPUs, from Haswell to Xe3: which set belongs to which unit and domain,
 * and what stall samples say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/formula/compile/compile.h"
#include "core/formula/evaluate/evaluate.h"
#include "tests/intel_data/data.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/** Numbers of a device that has one of everything. */
static bool find_symbol(void *context, const char *name, struct zeta_number *out_value)
{
    (void)context;
    (void)name;
    *out_value = (struct zeta_number){.type = ZETA_EXPR_U64, .u.u64 = 2};
    return true;
}

static struct zeta_compiled *compile(const struct zeta_catalog *catalog, const char *name)
{
    const struct zeta_symbol_lookup lookup = {.find = find_symbol, .context = NULL};
    const struct zeta_set *set = zeta_catalog_find_set(catalog, name);
    struct zeta_compiled *compiled = NULL;

    assert_non_null(set);
    assert_int_equal(zeta_set_compile(catalog, set, &lookup, NULL, &compiled), ZE_RESULT_SUCCESS);
    return compiled;
}

/* Units --------------------------------------------------------------------------------------
 */

static const struct {
    const char *unit;
    uint32_t domain;
    uint32_t first, last; /**< registers that belong to the unit alone; 0: none do */
} units[] = {
    {"oa", 0, 0, 0},
    {"oam0", 1, 0x394200, 0x39423c},
    {"oam1", 2, 0x394a00, 0x394a3c},
    {"oam-sag", 3, 0x393200, 0x39323c},
    {"eu-stall", 4, 0, 0},
};

static size_t unit_index(const char *name)
{
    size_t i = 0;

    while (i < sizeof(units) / sizeof(units[0]) && strcmp(units[i].unit, name) != 0)
        i++;
    assert_cmp(i, <, sizeof(units) / sizeof(units[0]));
    return i;
}

static void check_domains(const struct zeta_catalog *catalog)
{
    for (uint32_t i = 0; i < zeta_catalog_set_count(catalog); i++) {
        const struct zeta_set *set = zeta_catalog_set(catalog, i);

        assert_int_equal(set->domain, units[unit_index(set->unit->name)].domain);
    }
}

static void sets__every_platform__have_the_domain_of_their_unit(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < data_all.count; i++) {
        for (uint32_t k = 0; k < data_all.generations[i].platforms.count; k++) {
            struct zeta_catalog *catalog =
                data_catalog(&data_all.generations[i], &data_all.generations[i].platforms.items[k]);

            check_domains(catalog);
            zeta_catalog_destroy(catalog);
        }
    }
}

/** From Xe2 on: what a media set writes is of its own unit, or nothing is counted. */
static void media_sets__from_xe2_on__write_registers_of_their_unit(void **state)
{
    static const uint32_t devices[] = {0x64a0, 0xe20b, 0xb080, 0xfd80};
    uint32_t checked = 0;

    (void)state;
    for (size_t d = 0; d < sizeof(devices) / sizeof(devices[0]); d++) {
        struct zeta_catalog *catalog = data_device_catalog(devices[d]);

        for (uint32_t i = 0; i < zeta_catalog_set_count(catalog); i++) {
            const struct zeta_set *set = zeta_catalog_set(catalog, i);
            const size_t unit = unit_index(set->unit->name);

            for (uint32_t p = 0; p < set->program_count && units[unit].first != 0; p++) {
                for (uint32_t e = 0; e < set->program[p].entry_count; e++, checked++)
                    assert_in_range(set->program[p].entries[e].address, units[unit].first,
                                    units[unit].last);
            }
        }
        zeta_catalog_destroy(catalog);
    }
    assert_cmp(checked, >, 60);
}

/** A set's records are as long as the platform file says of the unit's reports. */
static void sets__every_platform__have_records_of_their_unit(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < data_all.count; i++) {
        for (uint32_t k = 0; k < data_all.generations[i].platforms.count; k++) {
            const struct zeta_intel_platform *platform =
                &data_all.generations[i].platforms.items[k];
            struct zeta_catalog *catalog = data_catalog(&data_all.generations[i], platform);

            for (uint32_t s = 0; s < zeta_catalog_set_count(catalog); s++) {
                static const enum zeta_intel_unit_kind kinds[] = {
                    ZETA_INTEL_OAG, ZETA_INTEL_OAM, ZETA_INTEL_OAM, ZETA_INTEL_OAM_SAG};
                const struct zeta_set *set = zeta_catalog_set(catalog, s);
                const size_t unit = unit_index(set->unit->name);

                if (unit < 4)
                    assert_int_equal(set->layout->record_bytes,
                                     platform->formats[kinds[unit]].record_bytes);
            }
            zeta_catalog_destroy(catalog);
        }
    }
}

/* Stall samples ------------------------------------------------------------------------------
 */

static const char *const stall_metrics[] = {
    "IP",        "Active",    "ControlStall", "PipeStall",       "SendStall",
    "DistStall", "SbidStall", "SyncStall",    "InstrFetchStall", "OtherStall"};

/** Writes bits at a position of a record. */
static void put(unsigned char *record, uint32_t bit, uint32_t width, uint64_t value)
{
    for (uint32_t i = 0; i < width; i++) {
        const unsigned char mask = (unsigned char)(1u << (bit + i) % 8);

        if (value >> i & 1)
            record[(bit + i) / 8] |= mask;
    }
}

/** One record whose counts are 101 to 109, in the order of the metrics. */
static void check_stalls(uint32_t device_id, uint32_t active_bit)
{
    /* Positions of the counts as the kernel describes them, those of Active apart. */
    static const uint32_t bits[] = {0, 0, 45, 53, 61, 69, 77, 85, 93, 37};
    unsigned char record[64] = {0};
    struct zeta_catalog *catalog = data_device_catalog(device_id);
    struct zeta_compiled *compiled = compile(catalog, "EuStallSampling");
    zet_typed_value_t values[10];
    struct zeta_evaluation result;

    put(record, 0, 29, 0x1badcafe);
    for (uint32_t i = 1; i < 10; i++)
        put(record, i == 1 ? active_bit : bits[i], 8, 100 + i);
    assert_int_equal(zeta_compiled_metric_count(compiled), 10);
    assert_int_equal(zeta_evaluate(compiled, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, 0, 0,
                                   record, sizeof(record), values, 10, &result),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(result.row_count, 1);
    for (uint32_t i = 0; i < 10; i++) {
        const struct zeta_metric *metric = zeta_compiled_metric(compiled, i);

        assert_string_equal(metric->name, stall_metrics[i]);
        assert_int_equal(metric->type, i == 0 ? ZET_METRIC_TYPE_IP : ZET_METRIC_TYPE_EVENT);
        assert_int_equal(values[i].type, ZET_VALUE_TYPE_UINT64);
        assert_int_equal(values[i].value.ui64, i == 0 ? 0x1badcafe : 100 + i);
    }
    zeta_compiled_destroy(compiled);
    zeta_catalog_destroy(catalog);
}

static void stall_samples__ponte_vecchio__ten_metrics_of_a_record(void **state)
{
    (void)state;
    check_stalls(0x0bd5, 29);
}

static void stall_samples__xe2_and_xe3__ten_metrics_of_a_record(void **state)
{
    (void)state;
    check_stalls(0x64a0, 101);
    check_stalls(0xe20b, 101);
    check_stalls(0xb080, 101);
}

SUITE(data_units)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets__every_platform__have_the_domain_of_their_unit),
        cmocka_unit_test(sets__every_platform__have_records_of_their_unit),
        cmocka_unit_test(media_sets__from_xe2_on__write_registers_of_their_unit),
        cmocka_unit_test(stall_samples__ponte_vecchio__ten_metrics_of_a_record),
        cmocka_unit_test(stall_samples__xe2_and_xe3__ten_metrics_of_a_record),
    };

    return cmocka_run_group_tests(tests, data_all_read, data_all_free);
}
