/*
 * The table from function name to address, and the names of enumerators.
 */
#include "core/api/loader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <level_zero/ze_ddi.h>
#include <level_zero/zet_ddi.h>

#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include "zeta_impl.h"
#include "zeta_strings.h"

static void table__all_names__are_sorted_and_have_addresses(void **state)
{
    (void)state;
    assert_cmp(zeta_names_count, >=, 317);
    for (size_t i = 0; i < zeta_names_count; i++) {
        assert_non_null(zeta_names[i].function);
        if (i > 0)
            assert_cmp(strcmp(zeta_names[i - 1].name, zeta_names[i].name), <, 0);
    }
}

static void address__every_name__is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < zeta_names_count; i++) {
        void *address = NULL;

        assert_int_equal(zeta_function_address(zeta_names[i].name, &address), ZE_RESULT_SUCCESS);
        assert_memory_equal(&address, &zeta_names[i].function, sizeof(address));
    }
}

static void address__known_functions__are_those_of_the_tables(void **state)
{
    ze_pfnDriverGet_t driver_get = entry_zeDriverGet;
    void *address = NULL;

    (void)state;
    assert_int_equal(zeta_function_address("zeDriverGet", &address), ZE_RESULT_SUCCESS);
    assert_memory_equal(&address, &driver_get, sizeof(address));
    assert_memory_equal(&address, &zeta_dispatch_ze.Driver->pfnGet, sizeof(address));
    assert_int_equal(zeta_function_address("zetMetricTracerDecodeExp", &address),
                     ZE_RESULT_SUCCESS);
    assert_memory_equal(&address, &zeta_dispatch_zet.MetricTracerExp->pfnDecodeExp,
                        sizeof(address));
}

static void address__unknown_names__give_null(void **state)
{
    static const char *const unknown[] = {
        "",    "ze", "zeInitx",     "zexDriverGetHostPointerBaseAddress",
        "zzz", "A",  "impl_zeInit", "zeGetDriverProcAddrTable"};

    (void)state;
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        void *address = &address;

        assert_int_equal(zeta_function_address(unknown[i], &address),
                         ZE_RESULT_ERROR_INVALID_ARGUMENT);
        assert_null(address);
    }
}

static void strings__known_and_unknown_values__have_a_name(void **state)
{
    (void)state;
    assert_string_equal(zeta_string_ze_result(ZE_RESULT_NOT_READY), "ZE_RESULT_NOT_READY");
    assert_string_equal(zeta_string_ze_result(0x12345), "unknown");
    assert_string_equal(zeta_string_zet_metric_type(ZET_METRIC_TYPE_IP), "ZET_METRIC_TYPE_IP");
    assert_string_equal(zeta_string_ze_init_flag(ZE_INIT_FLAG_VPU_ONLY), "ZE_INIT_FLAG_VPU_ONLY");
    assert_string_equal(zeta_string_ze_init_flag(3), "unknown");
}

static void stypes__ranges__hold_what_the_specification_defines(void **state)
{
    (void)state;
    assert_false(zeta_stype_defined(0));
    assert_true(zeta_stype_defined(ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES));
    assert_true(zeta_stype_defined(ZE_STRUCTURE_TYPE_DRIVER_DDI_HANDLES_EXT_PROPERTIES));
    assert_true(zeta_stype_defined(ZET_STRUCTURE_TYPE_METRIC_SOURCE_ID_EXP));
    assert_false(zeta_stype_defined(0xffff));
    assert_false(zeta_stype_defined(0x10000));
    assert_false(zeta_stype_defined(0x00100000));
    assert_false(zeta_stype_defined(UINT32_MAX));
}

SUITE(names)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table__all_names__are_sorted_and_have_addresses),
        cmocka_unit_test(address__every_name__is_found),
        cmocka_unit_test(address__known_functions__are_those_of_the_tables),
        cmocka_unit_test(address__unknown_names__give_null),
        cmocka_unit_test(strings__known_and_unknown_values__have_a_name),
        cmocka_unit_test(stypes__ranges__hold_what_the_specification_defines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
