/* Set files on the fake CUPTI, and what existing tools need of them. */

#include <string.h>

#include "core/formula/compile/compile.h"
#include "tests/cuda/tests/bed.h"
#include "tests/metric/support.h"
#include "tests/nvidia/parts.h"
#include "tests/nvidia/sets.h"

static void check_fake(void)
{
    sets_check(parts_cupti());
}

static void sets__on_the_fake__one_pass_of_known_names(void **state)
{
    (void)state;
    bed_run("gh100", check_fake);
}

static void check_all(void)
{
    sets_check_all(parts_cupti(), 80, 80);
}

static void counters__all_of_the_fake__are_programmables(void **state)
{
    (void)state;
    bed_run("gh100", check_all);
}

static void check_wrong(void)
{
    sets_check_wrong(parts_cupti());
}

static void names__one_that_the_fake_lacks__is_found(void **state)
{
    (void)state;
    bed_run("gh100", check_wrong);
}

/* Members that existing tools look up by name. */
static void sets__for_existing_tools__have_their_members(void **state)
{
    static const char *const files[] = {"gh100.yaml", "portable.yaml"};
    static const char *const members[] = {"GpuTime",    "GpuCoreClocks",  "AvgGpuCoreFrequencyMHz",
                                          "XVE_ACTIVE", "XVE_STALL",      "EuActive",
                                          "EuStall",    "QueryBeginTime", "ReportReason"};
    const struct reference_symbol symbols[] = {{"Dram", {.type = ZETA_EXPR_U64, .u.u64 = 1}},
                                               {"Nvlink", {.type = ZETA_EXPR_U64}},
                                               {NULL, {0}}};
    const struct zeta_symbol_lookup lookup = lookup_of(symbols);

    (void)state;
    for (size_t f = 0; f < 2; f++) {
        struct zeta_catalog *catalog = sets_load(files[f]);
        const struct zeta_set *set = zeta_catalog_find_set(catalog, "ComputeBasic");
        struct zeta_compiled *compiled;

        assert_non_null(set);
        assert_int_equal(zeta_set_compile(catalog, set, &lookup, &sets_findings, &compiled), 0);
        for (size_t m = 0; m < sizeof(members) / sizeof(members[0]); m++) {
            bool is_there = false;

            for (uint32_t i = 0; i < zeta_compiled_metric_count(compiled); i++)
                is_there =
                    is_there || strcmp(zeta_compiled_metric(compiled, i)->name, members[m]) == 0;
            if (!is_there)
                fail_msg("%s: ComputeBasic has no %s", files[f], members[m]);
        }
        zeta_compiled_destroy(compiled);
        zeta_catalog_destroy(catalog);
    }
}

SUITE(sets)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets__on_the_fake__one_pass_of_known_names),
        cmocka_unit_test(names__one_that_the_fake_lacks__is_found),
        cmocka_unit_test(counters__all_of_the_fake__are_programmables),
        cmocka_unit_test(sets__for_existing_tools__have_their_members),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
