/* A machine where no plugin finds a device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <level_zero/ze_api.h>
#include <level_zero/zer_api.h>

#include "tests/support/suite.h"

/* Rules 1.3, 4.10. */
static void before_init__calls__are_uninitialized(void **state)
{
    ze_event_pool_flags_t flags = 0;
    uint32_t count = 0;

    (void)state;
    assert_int_equal(zeDriverGet(&count, NULL), ZE_RESULT_ERROR_UNINITIALIZED);
    assert_int_equal(zeEventPoolGetFlags((ze_event_pool_handle_t)&flags, &flags),
                     ZE_RESULT_ERROR_UNINITIALIZED);
    assert_null(zerGetDefaultContext());
    assert_null(zerTranslateIdentifierToDeviceHandle(0));
    assert_int_equal(zerTranslateDeviceHandleToIdentifier(NULL), UINT32_MAX);
}

/* Rule 1.4. */
static void init__no_device__gives_one_empty_driver(void **state)
{
    ze_driver_handle_t driver = NULL;
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    ze_context_handle_t context = NULL;
    ze_api_version_t version = 0;
    const char *sentence = "";
    void *memory = NULL;
    uint32_t count = 0;

    (void)state;
    assert_int_equal(zeInit(0), ZE_RESULT_SUCCESS);
    assert_int_equal(zeDriverGet(&count, NULL), ZE_RESULT_SUCCESS);
    assert_int_equal(count, 1);
    assert_int_equal(zeDriverGet(&count, &driver), ZE_RESULT_SUCCESS);
    assert_int_equal(zeDriverGetApiVersion(driver, &version), ZE_RESULT_SUCCESS);
    assert_int_equal(version, ZE_MAKE_VERSION(1, 17));
    count = 0;
    assert_int_equal(zeDeviceGet(driver, &count, NULL), ZE_RESULT_SUCCESS);
    assert_int_equal(count, 0);
    assert_int_equal(zeContextCreate(driver, &desc, &context), ZE_RESULT_SUCCESS);
    assert_int_equal(zeContextGetStatus(context), ZE_RESULT_SUCCESS);
    assert_int_equal(zeMemAllocHost(context, &host, 64, 0, &memory),
                     ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_int_equal(zeDriverGetLastErrorDescription(driver, &sentence), ZE_RESULT_SUCCESS);
    assert_string_not_equal(sentence, "");
    assert_int_equal(zeContextDestroy(context), ZE_RESULT_SUCCESS);
}

SUITE(none)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_init__calls__are_uninitialized),
        cmocka_unit_test(init__no_device__gives_one_empty_driver),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
