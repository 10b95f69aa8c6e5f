/* Copies, fills and hints. */
#include "harness.h"
#include "tests/support/suite.h"

static ze_command_list_handle_t synchronous_list(const struct harness *h)
{
    return harness_immediate(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
}

static void copy__any_memory__moves_the_bytes(void **state)
{
    const struct harness *h = *state;
    ze_command_list_handle_t list = synchronous_list(h);
    ze_event_pool_handle_t pool = harness_pool(h, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP, 1);
    ze_event_handle_t event = harness_event(pool, 0);
    unsigned char *shared = harness_memory(h, 256);
    unsigned char host[256];
    unsigned char back[256] = {0};
    ze_kernel_timestamp_result_t times;

    for (int i = 0; i < 256; i++)
        host[i] = (unsigned char)i;
    assert_success(zeCommandListAppendMemoryCopy(list, shared, host, 256, NULL, 0, NULL));
    assert_success(zeCommandListAppendMemoryCopy(list, back, shared, 256, event, 0, NULL));
    assert_memory_equal(host, back, 256);
    assert_success(zeEventQueryStatus(event));
    /* A copy of nothing is an event like any other, with a time of some length. */
    assert_success(zeEventHostReset(event));
    assert_success(zeCommandListAppendMemoryCopy(list, back, shared, 0, event, 0, NULL));
    assert_success(zeEventQueryKernelTimestamp(event, &times));
    assert_int_not_equal(times.global.kernelStart, times.global.kernelEnd);
    assert_success(zeCommandListAppendMemoryCopyFromContext(list, back, h->context, shared + 1, 1,
                                                            NULL, 0, NULL));
    assert_int_equal(back[0], 1);
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                  zeCommandListAppendMemoryCopy(list, NULL, shared, 1, NULL, 0, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                  zeCommandListAppendMemoryCopy(list, back, NULL, 1, NULL, 0, NULL));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeEventDestroy(event));
    assert_success(zeEventPoolDestroy(pool));
    assert_success(zeMemFree(h->context, shared));
}

static void copy__with_parameters__refuses_those_it_does_not_know(void **state)
{
    const struct harness *h = *state;
    ze_command_list_handle_t list = synchronous_list(h);
    ze_base_desc_t parameter = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC};
    uint32_t from = 7;
    uint32_t to = 0;

    assert_success(
        zeCommandListAppendMemoryCopyWithParameters(list, &to, &from, 4, NULL, NULL, 0, NULL));
    assert_int_equal(to, 7);
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  zeCommandListAppendMemoryCopyWithParameters(list, &to, &from, 4, &parameter, NULL,
                                                              0, NULL));
    assert_success(
        zeCommandListAppendMemoryFillWithParameters(list, &to, &from, 2, 4, NULL, NULL, 0, NULL));
    assert_int_equal(to, 0x70007);
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  zeCommandListAppendMemoryFillWithParameters(list, &to, &from, 2, 4, &parameter,
                                                              NULL, 0, NULL));
    assert_success(zeCommandListDestroy(list));
}

static void fill__pattern_of_the_caller__is_captured_at_append(void **state)
{
    const struct harness *h = *state;
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_command_list_handle_t list = harness_list(h);
    uint32_t *memory = harness_memory(h, 64);
    uint32_t pattern = 0x01020304;

    assert_success(zeCommandListAppendMemoryFill(list, memory, &pattern, 4, 60, NULL, 0, NULL));
    pattern = 0;
    harness_execute(queue, list, NULL);
    for (int i = 0; i < 15; i++)
        assert_int_equal(memory[i], 0x01020304);
    assert_int_equal(memory[15], 0);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeMemFree(h->context, memory));
}

static void fill__wrong_pattern__is_refused(void **state)
{
    const struct harness *h = *state;
    ze_command_list_handle_t list = synchronous_list(h);
    unsigned char *memory = harness_memory(h, 64);
    unsigned char pattern[32] = {0};

    assert_result(ZE_RESULT_ERROR_INVALID_SIZE,
                  zeCommandListAppendMemoryFill(list, memory, pattern, 4, 6, NULL, 0, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_SIZE,
                  zeCommandListAppendMemoryFill(list, memory, pattern, 3, 6, NULL, 0, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_SIZE,
                  zeCommandListAppendMemoryFill(list, memory, pattern, 0, 6, NULL, 0, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_SIZE,
                  zeCommandListAppendMemoryFill(list, memory, pattern, 32, 32, NULL, 0, NULL));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
                  zeCommandListAppendMemoryFill(list, memory + 2, pattern, 4, 8, NULL, 0, NULL));
    assert_success(zeCommandListAppendMemoryFill(list, memory, pattern, 4, 0, NULL, 0, NULL));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeMemFree(h->context, memory));
}

static void copy_region__box_of_bytes__lands_at_its_origin(void **state)
{
    const struct harness *h = *state;
    ze_command_list_handle_t list = synchronous_list(h);
    unsigned char source[3][4][8];
    unsigned char target[3][4][8];
    const ze_copy_region_t from = {1, 1, 1, 3, 2, 2};
    const ze_copy_region_t to = {4, 0, 0, 3, 2, 2};
    const ze_copy_region_t flat_from = {0, 0, 0, 8, 2, 0};
    const ze_copy_region_t flat_to = {0, 2, 0, 8, 2, 0};

    for (size_t i = 0; i < sizeof(source); i++)
        (&source[0][0][0])[i] = (unsigned char)i;
    memset(target, 0xee, sizeof(target));
    assert_success(zeCommandListAppendMemoryCopyRegion(list, target, &to, 8, 32, source, &from, 8,
                                                       32, NULL, 0, NULL));
    for (int z = 0; z < 2; z++) {
        for (int y = 0; y < 2; y++) {
            assert_memory_equal(&target[z][y][4], &source[z + 1][y + 1][1], 3);
            assert_int_equal(target[z][y][3], 0xee);
            assert_int_equal(target[z][y][7], 0xee);
        }
    }
    /* Depth 0 is two dimensions, and the slice pitches do not count. */
    assert_success(zeCommandListAppendMemoryCopyRegion(list, target, &flat_to, 8, 0, source,
                                                       &flat_from, 8, 0, NULL, 0, NULL));
    assert_memory_equal(&target[0][2][0], &source[0][0][0], 16);
    assert_success(zeCommandListDestroy(list));
}

static void copy_region__regions_that_cannot_be__are_refused(void **state)
{
    const struct harness *h = *state;
    ze_command_list_handle_t list = synchronous_list(h);
    unsigned char memory[256] = {0};
    unsigned char other[256] = {0};
    const ze_copy_region_t region = {0, 0, 0, 8, 2, 2};
    const ze_copy_region_t wider = {0, 0, 0, 9, 2, 2};
    const ze_copy_region_t shifted = {4, 1, 1, 8, 2, 2};
    const ze_copy_region_t nothing = {0, 0, 0, 0, 2, 2};

    assert_result(ZE_RESULT_ERROR_INVALID_SIZE,
                  zeCommandListAppendMemoryCopyRegion(list, memory, &region, 16, 64, other, &wider,
                                                      16, 64, NULL, 0, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_SIZE,
                  zeCommandListAppendMemoryCopyRegion(list, memory, &region, 7, 64, other, &region,
                                                      16, 64, NULL, 0, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_SIZE,
                  zeCommandListAppendMemoryCopyRegion(list, memory, &region, 16, 8, other, &region,
                                                      16, 64, NULL, 0, NULL));
    assert_result(ZE_RESULT_ERROR_OVERLAPPING_REGIONS,
                  zeCommandListAppendMemoryCopyRegion(list, memory, &region, 16, 64, memory,
                                                      &shifted, 16, 64, NULL, 0, NULL));
    assert_success(zeCommandListAppendMemoryCopyRegion(list, memory, &nothing, 16, 64, memory,
                                                       &nothing, 16, 64, NULL, 0, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                  zeCommandListAppendMemoryCopyRegion(list, memory, NULL, 16, 64, memory, &region,
                                                      16, 64, NULL, 0, NULL));
    assert_success(zeCommandListDestroy(list));
}

static void hints__about_memory__succeed(void **state)
{
    const struct harness *h = *state;
    ze_command_list_handle_t list = synchronous_list(h);
    void *memory = harness_memory(h, 64);

    assert_success(zeCommandListAppendMemoryPrefetch(list, memory, 64));
    assert_success(zeCommandListAppendMemAdvise(list, h->device, memory, 64,
                                                ZE_MEMORY_ADVICE_SET_READ_MOSTLY));
    assert_result(
        ZE_RESULT_ERROR_INVALID_ENUMERATION,
        zeCommandListAppendMemAdvise(list, h->device, memory, 64, (ze_memory_advice_t)99));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeMemFree(h->context, memory));
}

SUITE(copy)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copy__any_memory__moves_the_bytes),
        cmocka_unit_test(copy__with_parameters__refuses_those_it_does_not_know),
        cmocka_unit_test(fill__pattern_of_the_caller__is_captured_at_append),
        cmocka_unit_test(fill__wrong_pattern__is_refused),
        cmocka_unit_test(copy_region__box_of_bytes__lands_at_its_origin),
        cmocka_unit_test(copy_region__regions_that_cannot_be__are_refused),
        cmocka_unit_test(hints__about_memory__succeed),
    };

    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
