/* Manifests, platforms and set files of all Intel generations: they load, and fit each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/intel_data/data.h"

static struct data_generation *generations;
static uint32_t generation_count;

static int read_all(void **state)
{
    (void)state;
    generations = data_read(&generation_count);
    return 0;
}

static int free_all(void **state)
{
    (void)state;
    data_free(generations, generation_count);
    return 0;
}

/* The function is called for each platform of each generation. */
static void each_platform(void (*visit)(const struct data_generation *generation,
                                        const struct zeta_intel_platform *platform))
{
    uint32_t visited = 0;

    for (uint32_t i = 0; i < generation_count; i++) {
        for (uint32_t k = 0; k < generations[i].platforms.count; k++, visited++)
            visit(&generations[i], &generations[i].platforms.items[k]);
    }
    assert_true(visited >= 40);
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

static void manifests__ten_generations__name_the_plugin(void **state)
{
    (void)state;
    assert_int_equal(generation_count, 10);
    for (uint32_t i = 0; i < generation_count; i++) {
        char id[64];

        (void)snprintf(id, sizeof(id), "intel-%s", generations[i].name);
        assert_string_equal(generations[i].manifest.id, id);
        assert_string_equal(generations[i].manifest.library, "libzeta-intel.so");
    }
}

static void manifests__devices__are_those_of_the_platforms(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < generation_count; i++) {
        size_t count = 0;

        for (uint32_t k = 0; k < generations[i].platforms.count; k++) {
            const struct zeta_intel_platform *platform = &generations[i].platforms.items[k];

            for (uint32_t d = 0; d < platform->pci_count; d++) {
                if (!matches(&generations[i].manifest, platform->pci[d]))
                    fail_msg("%s: the manifest lacks device %#06x of %s", generations[i].name,
                             platform->pci[d], platform->id);
            }
            count += platform->pci_count;
        }
        assert_int_equal(count, match_count(&generations[i].manifest));
    }
}

static const struct zeta_intel_platform *owners[0x10000];

static void own_devices(const struct data_generation *generation,
                        const struct zeta_intel_platform *platform)
{
    (void)generation;
    for (uint32_t i = 0; i < platform->pci_count; i++) {
        const uint32_t device = platform->pci[i];

        assert_true(device < 0x10000);
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

    assert_true(count > 0);
    assert_true(has_set(catalog, "TestOa") || strcmp(generation->name, "haswell") == 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(manifests__ten_generations__name_the_plugin),
        cmocka_unit_test(manifests__devices__are_those_of_the_platforms),
        cmocka_unit_test(platforms__device_ids__belong_to_one_each),
        cmocka_unit_test(sets__every_platform__load_without_a_finding),
    };

    return cmocka_run_group_tests(tests, read_all, free_all);
}
