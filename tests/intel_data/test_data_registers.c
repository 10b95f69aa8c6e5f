/*
 * Registers that programs may write: what the units of each platform list, against the kernel's
 * lists as the emulated kernel has them, which were written apart. Neither may have more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plugins/intel/kmd/kmd.h"
#include "tests/intel_data/data.h"
#include "tests/kmd/machine/kmd_priv.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { CLASSES = ZETA_INTEL_REGISTER_CLASSES, WORDS = 1 << 20 };

/* In the order of the kernel's lists, as of kmd_register_is_allowed(). */
static const char *const class_names[CLASSES] = {"mux", "boolean", "flex"};

/** One byte for each register, with a bit for each class: of the data, then of the kernel. */
struct map {
    unsigned char *ours, *kernels;
};

static void mark(unsigned char *map, uint32_t list, uint32_t first, uint32_t last)
{
    assert_in_range(last, first, WORDS * 4 - 4);
    assert_int_equal(first % 4, 0);
    assert_int_equal(last % 4, 0);
    for (uint32_t address = first; address <= last; address += 4)
        map[address / 4] |= (unsigned char)(1u << list);
}

static void mark_unit(unsigned char *map, const struct zeta_unit *unit)
{
    for (uint32_t i = 0; i < unit->range_count; i++) {
        const struct zeta_address_range *range = &unit->ranges[i];
        uint32_t list = 0;

        assert_non_null(range->register_class);
        while (list < CLASSES && strcmp(range->register_class, class_names[list]) != 0)
            list++;
        if (list == CLASSES)
            fail_msg("%s:%u: '%s' is no class of registers", unit->file, unit->line,
                     range->register_class);
        mark(map, list, range->first, range->last);
    }
}

/** The kernel has one list for all units; the sets are spread over all of them. */
static void mark_units(unsigned char *map, const struct zeta_catalog *catalog)
{
    for (uint32_t i = 0; i < zeta_catalog_set_count(catalog); i++)
        mark_unit(map, zeta_catalog_set(catalog, i)->unit);
}

static void mark_kernel(unsigned char *map, const struct kmd_platform *preset)
{
    uint32_t list, first, last;

    for (uint32_t i = 0; kmd_register_range(preset, i, &list, &first, &last); i++)
        mark(map, list, first, last);
}

static bool has_same_sets(const struct zeta_intel_platform *left,
                          const struct zeta_intel_platform *right)
{
    return left->set_count > 0 && right->set_count > 0 &&
           strcmp(left->sets[left->set_count - 1], right->sets[right->set_count - 1]) == 0;
}

/** The emulated GPU of that id, else one with the same sets. */
static const struct kmd_platform *find_preset(const struct data_generation *generation,
                                              const struct zeta_intel_platform *platform)
{
    const struct kmd_platform *like = NULL;

    for (const struct kmd_platform *preset = kmd_platform_table; preset->name; preset++) {
        const struct zeta_intel_platform *owner =
            zeta_intel_platform_find(&generation->platforms, preset->pci_id);

        if (owner == platform)
            return preset;
        if (owner && has_same_sets(owner, platform))
            like = preset;
    }
    if (!like)
        fail_msg("there is no emulated %s, nor one with its sets", platform->name);
    return like;
}

static void compare(const struct map *map, const struct zeta_intel_platform *platform,
                    const struct kmd_platform *preset)
{
    for (uint32_t i = 0; i < WORDS; i++) {
        const unsigned char only = map->ours[i] ^ map->kernels[i];

        for (uint32_t list = 0; only != 0 && list < CLASSES; list++) {
            if (only >> list & 1)
                fail_msg("%s: register 0x%x as %s is %s (%s)", platform->id, i * 4,
                         class_names[list],
                         map->ours[i] >> list & 1 ? "in our units, and the kernel refuses it"
                                                  : "allowed by the kernel, and not in our units",
                         preset->name);
        }
    }
}

static void check_platform(const struct data_generation *generation,
                           const struct zeta_intel_platform *platform)
{
    const struct kmd_platform *preset = find_preset(generation, platform);
    struct zeta_catalog *catalog = data_catalog(generation, platform);
    struct map map = {calloc(WORDS, 1), calloc(WORDS, 1)};

    assert_non_null(map.ours);
    assert_non_null(map.kernels);
    mark_units(map.ours, catalog);
    mark_kernel(map.kernels, preset);
    compare(&map, platform, preset);
    free(map.ours);
    free(map.kernels);
    zeta_catalog_destroy(catalog);
}

/* Rule 26.6. */
static void registers__every_platform__are_those_of_the_kernel(void **state)
{
    uint32_t checked = 0;

    (void)state;
    for (uint32_t i = 0; i < data_all.count; i++) {
        const struct data_generation *generation = &data_all.generations[i];

        for (uint32_t k = 0; k < generation->platforms.count; k++) {
            const struct zeta_intel_platform *platform = &generation->platforms.items[k];

            if (platform->set_count == 0)
                continue; /* no set lists registers */
            check_platform(generation, platform);
            checked++;
        }
    }
    assert_cmp(checked, >, 30);
}

SUITE(data_registers)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers__every_platform__are_those_of_the_kernel),
    };

    return cmocka_run_group_tests(tests, data_all_read, data_all_free);
}
