/* Manifests, platforms and set files of all Intel generations: they load, and fit each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/formula/compile/compile.h"
#include "core/formula/describe/describe.h"
#include "tests/intel_data/data.h"
#include "tests/metric/support.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/* The function is called for each platform of each generation. */
static void each_platform(void (*visit)(const struct data_generation *generation,
                                        const struct zeta_intel_platform *platform))
{
    uint32_t visited = 0;

    for (uint32_t i = 0; i < data_all.count; i++) {
        for (uint32_t k = 0; k < data_all.generations[i].platforms.count; k++, visited++)
            visit(&data_all.generations[i], &data_all.generations[i].platforms.items[k]);
    }
    assert_cmp(visited, >=, 40);
}

static bool matches(const struct zeta_manifest *manifest, uint32_t device)
{
    for (size_t i = 0; i < manifest->match_count; i++) {
        const struct zeta_manifest_match *match = &manifest->matches[i];

        assert_true(match->has_vendor);
        assert_int_equal(match->vendor, 0x8086);
        for (size_t k = 0; k < match->device_id_count; k++) {
            if (match->device_ids[k] == device)
                return true;
        }
    }
    return false;
}

static size_t match_count(const struct zeta_manifest *manifest)
{
    size_t count = 0;

    for (size_t i = 0; i < manifest->match_count; i++)
        count += manifest->matches[i].device_id_count;
    return count;
}

static void manifests__of_each_generation__name_the_plugin(void **state)
{
    (void)state;
    assert_int_equal(data_all.count, 11);
    for (uint32_t i = 0; i < data_all.count; i++) {
        char id[64];

        (void)snprintf(id, sizeof(id), "intel-%s", data_all.generations[i].name);
        assert_string_equal(data_all.generations[i].manifest.id, id);
        assert_string_equal(data_all.generations[i].manifest.library, "libzeta-intel.so");
    }
}

static void manifests__devices__are_those_of_the_platforms(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < data_all.count; i++) {
        size_t count = 0;

        for (uint32_t k = 0; k < data_all.generations[i].platforms.count; k++) {
            const struct zeta_intel_platform *platform =
                &data_all.generations[i].platforms.items[k];

            for (uint32_t d = 0; d < platform->pci_count; d++) {
                if (!matches(&data_all.generations[i].manifest, platform->pci[d]))
                    fail_msg("%s: the manifest lacks device %#06x of %s",
                             data_all.generations[i].name, platform->pci[d], platform->id);
            }
            count += platform->pci_count;
        }
        assert_int_equal(count, match_count(&data_all.generations[i].manifest));
    }
}

static const struct zeta_intel_platform *owners[0x10000];

static void own_devices(const struct data_generation *generation,
                        const struct zeta_intel_platform *platform)
{
    (void)generation;
    for (uint32_t i = 0; i < platform->pci_count; i++) {
        const uint32_t device = platform->pci[i];

        assert_cmp(device, <, 0x10000);
        if (owners[device])
            fail_msg("device %#06x is %s and %s", device, owners[device]->id, platform->id);
        owners[device] = platform;
    }
}

static void platforms__device_ids__belong_to_one_each(void **state)
{
    (void)state;
    each_platform(own_devices);
    assert_string_equal(owners[0x0412]->id, "hsw-gt2");
    assert_string_equal(owners[0x22b0]->id, "chv");
    assert_string_equal(owners[0x191b]->id, "skl-gt2");
    assert_string_equal(owners[0x9bc5]->id, "cml-gt2");
    assert_string_equal(owners[0x4e71]->id, "jsl");
    assert_string_equal(owners[0x9a49]->id, "tgl-gt2");
    assert_string_equal(owners[0xa7a0]->id, "rpl-p");
    assert_string_equal(owners[0x4570]->id, "ehl");
    assert_string_equal(owners[0x468b]->id, "adl-s");
    assert_string_equal(owners[0xb640]->id, "arl-u");
    for (uint32_t id = 0xb080; id <= 0xb087; id++)
        assert_string_equal(owners[id]->id, "ptl");
}

/*
 * What follows from the version of the graphics: the header of reports, masks of subslices, the
 * width of EUs. Written apart from the files, which say it for each platform.
 */
static void check_version(const struct data_generation *generation,
                          const struct zeta_intel_platform *platform)
{
    const uint32_t version = platform->graphics;
    const uint32_t clock_bits = version < 900 ? 0 : version < 1255 ? 0xfe0007ff : 0x1ff;

    (void)generation;
    assert_int_equal(platform->simd_width, version == 1260 || version >= 2000 ? 16 : 0);
    assert_int_equal(platform->subslice_bits, version < 1100 ? 3 : version < 1255 ? 8 : 0);
    for (uint32_t kind = 0; kind < ZETA_INTEL_EU_STALL; kind++) {
        const struct zeta_intel_format *format = &platform->formats[kind];

        if (format->record_bytes == 0)
            continue;
        assert_int_equal(format->is_wide, kind != ZETA_INTEL_OAG || version >= 2000);
        assert_int_equal(format->clock_bits, clock_bits);
    }
}

static void platforms__each_version__have_its_headers_and_widths(void **state)
{
    (void)state;
    each_platform(check_version);
}

static bool has_set(const struct zeta_catalog *catalog, const char *name)
{
    return zeta_catalog_find_set(catalog, name) != NULL;
}

static void check_sets(const struct data_generation *generation,
                       const struct zeta_intel_platform *platform)
{
    struct zeta_catalog *catalog = data_catalog(generation, platform);
    const uint32_t count = zeta_catalog_set_count(catalog);

    /* Nobody published sets for those that have none. */
    assert_int_equal(count == 0, strcmp(generation->name, "xe3p") == 0);
    assert_true(count == 0 || has_set(catalog, "TestOa") ||
                strcmp(generation->name, "haswell") == 0);
    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_set *set = zeta_catalog_set(catalog, i);

        if (set->program_count == 0)
            continue;
        /* What the ranges do not hold was a finding. */
        assert_true(set->unit->has_ranges);
        assert_non_null(set->uuid);
    }
    zeta_catalog_destroy(catalog);
}

static void sets__every_platform__load_without_a_finding(void **state)
{
    (void)state;
    each_platform(check_sets);
}

/* A unit that the description does not fit is a mistake of one of them. */
static void check_units_of_metrics(const struct data_generation *generation,
                                   const struct zeta_intel_platform *platform)
{
    struct zeta_catalog *catalog = data_catalog(generation, platform);

    for (uint32_t i = 0; i < zeta_catalog_set_count(catalog); i++) {
        const struct zeta_set *set = zeta_catalog_set(catalog, i);

        for (uint32_t k = 0; k < set->metric_count; k++) {
            const struct zeta_metric *metric = &set->metrics[k];
            const char *text = metric->description;
            const bool is_share = strstr(text, "ercentage") || strstr(text, "hare of");

            if (is_share != (strcmp(metric->unit, "percent") == 0) ||
                (strcmp(metric->unit, "bytes") == 0 && !strstr(text, "ytes")))
                fail_msg("%s: %s in %s: %s", set->name, metric->name, metric->unit, text);
        }
    }
    zeta_catalog_destroy(catalog);
}

static void metrics__of_every_set__have_the_unit_that_they_describe(void **state)
{
    (void)state;
    each_platform(check_units_of_metrics);
}

/** So the library can tell which periods are too long for a set, whatever it reads. */
static void check_rates(const struct data_generation *generation,
                        const struct zeta_intel_platform *platform)
{
    struct zeta_catalog *catalog = data_catalog(generation, platform);

    for (uint32_t i = 0; i < zeta_catalog_set_count(catalog); i++) {
        const struct zeta_set *set = zeta_catalog_set(catalog, i);

        for (uint32_t f = 0; f < set->layout->field_count; f++) {
            const struct zeta_field *field = &set->layout->fields[f];

            if (field->delta_bits > 0 && field->delta_bits < 56 && !field->rate)
                fail_msg("%s: %s[%u] of layout %s has %u bits and no rate", set->name, field->name,
                         field->index, set->layout->name, field->delta_bits);
        }
    }
    zeta_catalog_destroy(catalog);
}

/* Rule 11.2. */
static void fields__that_come_around__say_how_fast_they_count(void **state)
{
    (void)state;
    each_platform(check_rates);
}

/** A way of fusing: every mask, every count, and whether a single part is there. */
struct fusing {
    uint64_t mask, count;
};

static bool find_symbol(void *context, const char *name, struct zeta_number *out_value)
{
    const struct fusing *fusing = context;
    const size_t length = strlen(name);

    out_value->type = ZETA_EXPR_U64;
    if (strncmp(name, "Gt", 2) == 0)
        out_value->u.u64 = fusing->mask >> (name[length - 1] & 7) & 1;
    else if (length > 4 && strcmp(name + length - 4, "Mask") == 0)
        out_value->u.u64 = fusing->mask;
    else
        out_value->u.u64 = fusing->count;
    return true;
}

/** Whether a set gives something on a device; on none it may fail for another reason. */
static bool compiles(const struct zeta_catalog *catalog, const struct zeta_set *set,
                     struct fusing *fusing, bool query)
{
    const struct zeta_symbol_lookup lookup = {.find = find_symbol, .context = fusing};
    struct zeta_diagnostics sink = {0};
    struct zeta_compiled *compiled = NULL;
    const ze_result_t result = query
                                   ? zeta_set_compile_query(catalog, set, &lookup, &sink, &compiled)
                                   : zeta_set_compile(catalog, set, &lookup, &sink, &compiled);

    if (result != ZE_RESULT_SUCCESS && result != ZE_RESULT_ERROR_UNSUPPORTED_FEATURE)
        fail_msg("%s of %s: %s", query ? "query" : "set", set->name, sink.first_error);
    /* Of a deferred set the list shows what the condition lets through: all of it must be there. */
    if (compiled && zeta_compiled_check(compiled) != ZE_RESULT_SUCCESS)
        fail_msg("%s of %s: %s", query ? "query" : "set", set->name, sink.first_error);
    zeta_compiled_destroy(compiled);
    return result == ZE_RESULT_SUCCESS;
}

static void compile_sets(const struct data_generation *generation,
                         const struct zeta_intel_platform *platform)
{
    static struct fusing fusings[] = {{UINT64_MAX, 64}, {1, 1},      {2, 1},
                                      {0x15, 3},        {0xff00, 8}, {0, 0}};
    struct zeta_catalog *catalog = data_catalog(generation, platform);
    struct zeta_catalog *deferred = data_catalog_deferred(generation, platform);

    assert_int_equal(zeta_catalog_set_count(deferred), zeta_catalog_set_count(catalog));
    for (uint32_t i = 0; i < zeta_catalog_set_count(catalog); i++) {
        const struct zeta_set *set = zeta_catalog_set(catalog, i);

        for (size_t k = 0; k < sizeof(fusings) / sizeof(fusings[0]); k++) {
            const bool found = compiles(catalog, set, &fusings[k], false);

            assert_true(found || k > 0);
            assert_int_equal(compiles(deferred, zeta_catalog_set(deferred, i), &fusings[k], false),
                             found);
            if (set->sampling & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED)
                assert_int_equal(compiles(catalog, set, &fusings[k], true), found);
        }
    }
    zeta_catalog_destroy(deferred);
    zeta_catalog_destroy(catalog);
}

/** The text of a set, as data that are exported have it. */
static struct zeta_text describe(const struct zeta_catalog *catalog, uint32_t index)
{
    struct fusing fusing = {UINT64_MAX, 64};
    const struct zeta_symbol_lookup lookup = {.find = find_symbol, .context = &fusing};
    struct zeta_compiled *compiled = NULL;
    struct zeta_text text = {0};

    assert_int_equal(
        zeta_set_compile(catalog, zeta_catalog_set(catalog, index), &lookup, NULL, &compiled),
        ZE_RESULT_SUCCESS);
    assert_int_equal(zeta_describe_set(compiled, &text), ZE_RESULT_SUCCESS);
    zeta_compiled_destroy(compiled);
    return text;
}

static void compare_deferred(const struct data_generation *generation,
                             const struct zeta_intel_platform *platform)
{
    struct zeta_catalog *catalog = data_catalog(generation, platform);
    struct zeta_catalog *deferred = data_catalog_deferred(generation, platform);

    for (uint32_t i = 0; i < zeta_catalog_set_count(catalog); i++) {
        struct zeta_text at_once = describe(catalog, i);
        struct zeta_text later = describe(deferred, i);

        assert_string_equal(zeta_text_get(&at_once), zeta_text_get(&later));
        zeta_text_finish(&at_once);
        zeta_text_finish(&later);
    }
    zeta_catalog_destroy(deferred);
    zeta_catalog_destroy(catalog);
}

static void sets__linked_when_compiled__are_those_linked_at_once(void **state)
{
    (void)state;
    each_platform(compare_deferred);
}

static void add_up_sets(const struct data_generation *generation,
                        const struct zeta_intel_platform *platform)
{
    struct fusing fusing = {UINT64_MAX, 64};
    const struct zeta_symbol_lookup lookup = {.find = find_symbol, .context = &fusing};
    struct zeta_catalog *catalog = data_catalog(generation, platform);

    for (uint32_t i = 0; i < zeta_catalog_set_count(catalog); i++) {
        const struct zeta_set *set = zeta_catalog_set(catalog, i);
        struct zeta_compiled *compiled = NULL;

        if (set->layout->kind != ZETA_LAYOUT_DELTA)
            continue;
        assert_int_equal(zeta_set_compile(catalog, set, &lookup, NULL, &compiled),
                         ZE_RESULT_SUCCESS);
        check_many_rows_are_one(compiled, i + 1);
        zeta_compiled_destroy(compiled);
    }
    zeta_catalog_destroy(catalog);
}

/* Every metric of every set: as if the hardware had counted once. Rule 14.3. */
static void values__over_many_rows__are_those_of_one_long_row(void **state)
{
    (void)state;
    each_platform(add_up_sets);
}

static void sets__differently_fused__compile_or_do_not_exist(void **state)
{
    (void)state;
    each_platform(compile_sets);
}

SUITE(data)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(manifests__of_each_generation__name_the_plugin),
        cmocka_unit_test(manifests__devices__are_those_of_the_platforms),
        cmocka_unit_test(platforms__device_ids__belong_to_one_each),
        cmocka_unit_test(platforms__each_version__have_its_headers_and_widths),
        cmocka_unit_test(sets__every_platform__load_without_a_finding),
        cmocka_unit_test(metrics__of_every_set__have_the_unit_that_they_describe),
        cmocka_unit_test(fields__that_come_around__say_how_fast_they_count),
        cmocka_unit_test(values__over_many_rows__are_those_of_one_long_row),
        cmocka_unit_test(sets__differently_fused__compile_or_do_not_exist),
        cmocka_unit_test(sets__linked_when_compiled__are_those_linked_at_once),
    };

    return cmocka_run_group_tests(tests, data_all_read, data_all_free);
}
