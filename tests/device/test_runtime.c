/* The runtime API: the default context, numbers of devices, the last error. */
#include "harness.h"
#include "tests/support/suite.h"

#include <level_zero/zer_ddi.h>

/* Rule 4.10. */
static void default_context__is_that_of_the_first_driver(void **state)
{
    const struct harness *h = *state;
    const ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    ze_context_handle_t context = zerGetDefaultContext();
    void *memory = NULL;

    assert_non_null(context);
    assert_ptr_equal(context, zerGetDefaultContext());
    if ((harness_mode() & HARNESS_LOADER) == 0)
        assert_ptr_equal(context, zeDriverGetDefaultContext(h->driver));
    assert_success(zeMemAllocHost(context, &desc, 64, 0, &memory));
    assert_success(zeMemFree(context, memory));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeContextDestroy(context));
}

/* Rule 4.10. */
static void identifiers__of_all_devices__lead_back_to_them(void **state)
{
    const struct harness *h = *state;
    const uint32_t root = zerTranslateDeviceHandleToIdentifier(h->device);
    const uint32_t tiles[2] = {zerTranslateDeviceHandleToIdentifier(h->tiles[0]),
                               zerTranslateDeviceHandleToIdentifier(h->tiles[1])};

    /* What zeDeviceGet gives comes first. */
    assert_int_equal(root, 0);
    assert_int_equal(tiles[0], 1);
    assert_int_equal(tiles[1], 2);
    assert_ptr_equal(zerTranslateIdentifierToDeviceHandle(root), h->device);
    for (size_t i = 0; i < 2; i++)
        assert_ptr_equal(zerTranslateIdentifierToDeviceHandle(tiles[i]), h->tiles[i]);
}

/* Rule 4.10. */
static void last_error__of_the_thread__is_told(void **state)
{
    const char *sentence = NULL;

    (void)state;
    assert_null(zerTranslateIdentifierToDeviceHandle(4711));
    assert_success(zerGetLastErrorDescription(&sentence));
    assert_non_null(strstr(sentence, "no device has the number 4711"));
    assert_null(zerTranslateIdentifierToDeviceHandle(UINT32_MAX));
    assert_int_equal(zerTranslateDeviceHandleToIdentifier(NULL), UINT32_MAX);
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zerGetLastErrorDescription(NULL));
}

static void garbage__as_a_device__is_refused(void **state)
{
    const struct harness *h = *state;
    const char *sentence = NULL;

    skip_in(HARNESS_WRAPPED | HARNESS_DDI, "it looks into the device handle itself");
    assert_int_equal(zerTranslateDeviceHandleToIdentifier((ze_device_handle_t)h->context),
                     UINT32_MAX);
    assert_success(zerGetLastErrorDescription(&sentence));
    assert_non_null(strstr(sentence, "zerTranslateDeviceHandleToIdentifier"));
}

/* Programs that come through an older loader get the functions by name. Rule 4.10. */
static void functions__by_name__are_those_of_the_table(void **state)
{
    const struct harness *h = *state;
    const char *const names[] = {"zerGetLastErrorDescription",
                                 "zerTranslateDeviceHandleToIdentifier",
                                 "zerTranslateIdentifierToDeviceHandle", "zerGetDefaultContext"};
    ze_result_t (*get)(ze_api_version_t, zer_global_dditable_t *) = zerGetGlobalProcAddrTable;
    void *members[4] = {0};
    void *address = NULL;
    zer_global_dditable_t table = {0};

    skip_in(HARNESS_NEWLOADER, "the getter is the loader's own");
    assert_int_equal(sizeof(table), sizeof(members));
    assert_success(get(ZE_API_VERSION_1_13, &table));
    assert_null(table.pfnGetDefaultContext);
    assert_success(get(ZE_API_VERSION_1_14, &table));
    memcpy(members, &table, sizeof(table));
    for (size_t i = 0; i < 4; i++) {
        assert_success(zeDriverGetExtensionFunctionAddress(h->driver, names[i], &address));
        assert_ptr_equal(address, members[i]);
    }
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_VERSION, get(ZE_MAKE_VERSION(2, 0), &table));
}

SUITE(runtime)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_context__is_that_of_the_first_driver),
        cmocka_unit_test(identifiers__of_all_devices__lead_back_to_them),
        cmocka_unit_test(last_error__of_the_thread__is_told),
        cmocka_unit_test(garbage__as_a_device__is_refused),
        cmocka_unit_test(functions__by_name__are_those_of_the_table),
    };

    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
