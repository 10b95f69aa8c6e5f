/* Contexts and residency. */
#include "harness.h"
#include "tests/support/suite.h"

static void create__with_devices__reaches_only_those(void **state)
{
    const struct harness *h = *state;
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_command_queue_desc_t queue_desc = {.ordinal = 0};
    ze_device_handle_t tile = h->tiles[1];
    ze_context_handle_t context = NULL;
    ze_command_queue_handle_t queue = NULL;

    assert_success(zeContextCreateEx(h->driver, &desc, 1, &tile, &context));
    assert_success(zeContextGetStatus(context));
    assert_success(zeContextSystemBarrier(context, tile));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeContextSystemBarrier(context, h->tiles[0]));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeCommandQueueCreate(context, h->device, &queue_desc, &queue));
    assert_success(zeCommandQueueCreate(context, tile, &queue_desc, &queue));
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeContextDestroy(context));

    /* A root brings its tiles. */
    assert_success(
        zeContextCreateEx(h->driver, &desc, 1, (ze_device_handle_t[]){h->device}, &context));
    assert_success(zeContextSystemBarrier(context, h->tiles[0]));
    assert_success(zeContextDestroy(context));
}

static void create__wrong_arguments__are_refused(void **state)
{
    const struct harness *h = *state;
    ze_context_desc_t desc = {.flags = 0x2};
    ze_context_handle_t context = NULL;
    ze_device_handle_t wrong = (ze_device_handle_t)h->driver;

    assert_result(ZE_RESULT_ERROR_INVALID_ENUMERATION, zeContextCreate(h->driver, &desc, &context));
    desc.flags = 0;
    assert_result(ZE_RESULT_ERROR_INVALID_SIZE,
                  zeContextCreateEx(h->driver, &desc, 1, NULL, &context));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                  zeContextCreateEx(h->driver, &desc, 1, &wrong, &context));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeContextCreate(h->driver, &desc, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zeContextCreate(NULL, &desc, &context));
    assert_null(context);
}

/* Rule 7.1. */
static void destroy__with_users__keeps_them_working(void **state)
{
    const struct harness *h = *state;
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_command_queue_desc_t queue_desc = {.mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    ze_context_handle_t context = NULL;
    ze_command_list_handle_t list = NULL;
    unsigned char *memory = NULL;
    unsigned char byte = 9;
    uint32_t before = h->control->live_memory();

    assert_success(zeContextCreate(h->driver, &desc, &context));
    assert_success(zeMemAllocHost(context, &host, 64, 0, (void **)&memory));
    assert_success(zeCommandListCreateImmediate(context, h->device, &queue_desc, &list));
    assert_success(zeContextDestroy(context));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zeContextDestroy(context));
    assert_success(zeCommandListAppendMemoryCopy(list, memory, &byte, 1, NULL, 0, NULL));
    assert_int_equal(memory[0], 9);
    /* Memory that nobody freed goes with the last user of the context. */
    assert_int_equal(h->control->live_memory(), before + 1);
    assert_success(zeCommandListDestroy(list));
    assert_int_equal(h->control->live_memory(), before);
}

static void default_context__asked_twice__is_one_that_stays(void **state)
{
    const struct harness *h = *state;
    ze_context_handle_t context = zeDriverGetDefaultContext(h->driver);

    assert_non_null(context);
    assert_ptr_equal(zeDriverGetDefaultContext(h->driver), context);
    assert_success(zeContextSystemBarrier(context, h->tiles[1]));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeContextDestroy(context));
    assert_success(zeContextGetStatus(context));
    assert_null(zeDriverGetDefaultContext(NULL));
}

static void residency__inside_and_outside_of_memory__is_told_apart(void **state)
{
    const struct harness *h = *state;
    unsigned char *memory = harness_memory(h, 100);
    int outside = 0;

    assert_success(zeContextMakeMemoryResident(h->context, h->device, memory, 100));
    assert_success(zeContextMakeMemoryResident(h->context, h->device, memory + 50, 50));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeContextMakeMemoryResident(h->context, h->device, memory + 50, 51));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeContextMakeMemoryResident(h->context, h->device, &outside, 4));
    assert_success(zeContextEvictMemory(h->context, h->device, memory, 100));
    assert_success(zeMemFree(h->context, memory));
}

SUITE(context)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(create__with_devices__reaches_only_those),
        cmocka_unit_test(create__wrong_arguments__are_refused),
        cmocka_unit_test(destroy__with_users__keeps_them_working),
        cmocka_unit_test(default_context__asked_twice__is_one_that_stays),
        cmocka_unit_test(residency__inside_and_outside_of_memory__is_told_apart),
    };

    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
