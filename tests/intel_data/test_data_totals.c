/* Totals of reports of every format that the data describe, beside a plain reference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/intel_data/data.h"
#include "tests/intel_query/totals_model.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { MOST_LAYOUTS = 16 };

/** Names of layouts that were checked. */
static struct {
    char names[MOST_LAYOUTS][64];
    uint32_t count;
} seen;

static bool is_seen(const char *name)
{
    for (uint32_t i = 0; i < seen.count; i++) {
        if (strcmp(seen.names[i], name) == 0)
            return true;
    }
    assert_cmp(seen.count, <, MOST_LAYOUTS);
    (void)snprintf(seen.names[seen.count++], sizeof(seen.names[0]), "%s", name);
    return false;
}

static void check_layout(const struct zeta_layout *layout, uint32_t clock_bits)
{
    uint32_t count = 0;
    struct zeta_plugin_query_field *fields = data_query_fields(layout, &count);

    totals_model_check(layout->name, fields, count, layout->record_bytes, clock_bits);
    free(fields);
}

static void check_platform(const struct data_generation *generation,
                           const struct zeta_intel_platform *platform)
{
    struct zeta_catalog *catalog = data_catalog(generation, platform);

    for (uint32_t i = 0; i < zeta_catalog_set_count(catalog); i++) {
        const struct zeta_layout *layout = zeta_catalog_set(catalog, i)->layout;

        if (layout->kind == ZETA_LAYOUT_DELTA && !is_seen(layout->name))
            check_layout(layout, platform->formats[ZETA_INTEL_OAG].clock_bits);
    }
    zeta_catalog_destroy(catalog);
}

static void random_reports__formats_of_all_sets__add_up_as_the_reference(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < data_all.count; i++) {
        const struct data_generation *generation = &data_all.generations[i];

        for (uint32_t j = 0; j < generation->platforms.count; j++)
            check_platform(generation, &generation->platforms.items[j]);
    }
    assert_true(is_seen("hsw-a45-b8-c8") && is_seen("a32u40-a4u32-b8-c8") &&
                is_seen("a24u40-a14u32-b8-c8") && is_seen("mpec8u32-b8-c8") && is_seen("pec64u64"));
}

/** The platform of a PCI id. */
static struct zeta_catalog *open_device(uint32_t device_id)
{
    for (uint32_t i = 0; i < data_all.count; i++) {
        const struct zeta_intel_platform *platform =
            zeta_intel_platform_find(&data_all.generations[i].platforms, device_id);

        if (platform)
            return data_catalog_open(&data_all.generations[i], platform, false);
    }
    fail_msg("no platform has the id %#x", (unsigned)device_id);
    return NULL;
}

/* Sets of users may have them. */
static void random_reports__formats_without_sets__add_up_as_the_reference(void **state)
{
    static const char *const layouts[] = {"pec64u64-b8-c8", "mpec8u64-b8-c8"};

    (void)state;
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        struct zeta_catalog *catalog = open_device(0xe20b);
        struct zeta_diagnostics sink = {0};
        char text[400];

        (void)snprintf(text, sizeof(text),
                       "format: 1\nsets:\n  - {name: Lone, description: d, domain: 0, unit: oa,\n"
                       "     layout: %s, sampling: [time], metrics: [GpuTime]}\n",
                       layouts[i]);
        assert_int_equal(zeta_catalog_add_text(catalog, text, strlen(text), "lone.yaml", &sink),
                         ZE_RESULT_SUCCESS);
        assert_int_equal(zeta_catalog_link(catalog, &sink), ZE_RESULT_SUCCESS);
        assert_string_equal(sink.first_error, "");
        check_layout(zeta_catalog_find_set(catalog, "Lone")->layout, 0x1ff);
        zeta_catalog_destroy(catalog);
    }
}

SUITE(data_totals)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_reports__formats_of_all_sets__add_up_as_the_reference),
        cmocka_unit_test(random_reports__formats_without_sets__add_up_as_the_reference),
    };

    return cmocka_run_group_tests(tests, data_all_read, data_all_free);
}
