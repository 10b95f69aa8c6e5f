/* Real kernels and commands around them: what holds on every device that computes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "tests/harness/mode.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/* Rule 7.18. */
static void native_binary__of_a_module__makes_the_same_module(void **state)
{
    const struct fixture *f = *state;
    ze_module_desc_t desc = {.format = ZE_MODULE_FORMAT_NATIVE};
    ze_module_handle_t module = NULL;
    uint32_t wanted = 0, names = 0;
    size_t size = 0;

    assert_success(zeModuleGetNativeBinary(f->module, &size, NULL));
    uint8_t *copy = malloc(size);
    assert_success(zeModuleGetNativeBinary(f->module, &size, copy));
    assert_memory_equal(copy, "\177ELF", 4);
    desc.inputSize = size;
    desc.pInputModule = copy;
    assert_success(zeModuleCreate(f->context, f->device, &desc, &module, NULL));
    assert_success(zeModuleGetKernelNames(f->module, &wanted, NULL));
    assert_success(zeModuleGetKernelNames(module, &names, NULL));
    assert_int_equal(names, wanted);
    assert_success(zeModuleDestroy(module));
    copy[0] = 0;
    assert_int_equal(zeModuleCreate(f->context, f->device, &desc, &module, NULL),
                     ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
    free(copy);
}

static void set_matrix_arguments(ze_kernel_handle_t kernel, float *const matrices[3], int size)
{
    for (uint32_t i = 0; i < 3; i++)
        assert_success(zeKernelSetArgumentValue(kernel, i, sizeof(float *), &matrices[i]));
    assert_success(zeKernelSetArgumentValue(kernel, 3, sizeof(size), &size));
}

static void matrix__odd_size__is_the_product(void **state)
{
    enum { SIZE = 37 };
    const struct fixture *f = *state;
    ze_kernel_handle_t kernel = fixture_kernel(f, "matrix");
    ze_command_list_handle_t list = fixture_list(f, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_event_handle_t event = fixture_event(f, 0);
    float *matrices[3];
    uint32_t x = 0;
    uint32_t y = 0;
    uint32_t z = 0;

    for (int m = 0; m < 3; m++)
        matrices[m] = fixture_memory(f, SIZE * SIZE * sizeof(float));
    for (int i = 0; i < SIZE * SIZE; i++) {
        matrices[0][i] = (float)(i % 13) - 6;
        matrices[1][i] = (float)(i % 7) - 3;
    }
    assert_success(zeKernelSuggestGroupSize(kernel, SIZE, SIZE, 1, &x, &y, &z));
    assert_success(zeKernelSetGroupSize(kernel, x, y, z));
    set_matrix_arguments(kernel, matrices, SIZE);
    const ze_group_count_t groups = {SIZE / x, SIZE / y, 1};
    assert_success(zeCommandListAppendLaunchKernel(list, kernel, &groups, event, 0, NULL));
    assert_success(zeEventHostSynchronize(event, UINT64_MAX));
    for (int row = 0; row < SIZE; row++) {
        for (int column = 0; column < SIZE; column++) {
            float sum = 0;

            for (int k = 0; k < SIZE; k++)
                sum += matrices[0][row * SIZE + k] * matrices[1][k * SIZE + column];
            assert_cmp(matrices[2][row * SIZE + column], ==, sum);
        }
    }
    assert_success(zeCommandListDestroy(list));
    assert_success(zeEventDestroy(event));
    assert_success(zeKernelDestroy(kernel));
    for (int m = 0; m < 3; m++)
        assert_success(zeMemFree(f->context, matrices[m]));
}

static void local_memory__and_barrier__turn_groups_around(void **state)
{
    const struct fixture *f = *state;
    ze_kernel_handle_t kernel = fixture_kernel(f, "reverse");
    ze_command_list_handle_t list = fixture_list(f, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    uint32_t *numbers = fixture_memory(f, 64 * sizeof(*numbers));
    const ze_group_count_t groups = {4, 1, 1};

    for (uint32_t i = 0; i < 64; i++)
        numbers[i] = i;
    assert_success(zeKernelSetGroupSize(kernel, 16, 1, 1));
    assert_success(zeKernelSetArgumentValue(kernel, 0, sizeof(numbers), &numbers));
    assert_success(zeKernelSetArgumentValue(kernel, 1, 16 * sizeof(*numbers), NULL));
    assert_success(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(numbers[i], i / 16 * 16 + 15 - i % 16);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeMemFree(f->context, numbers));
}

/* Rule 7.5. */
static void clocks__of_device_event_and_command__are_one(void **state)
{
    const struct fixture *f = *state;
    ze_kernel_handle_t kernel = fixture_kernel(f, "ids");
    ze_command_list_handle_t list = fixture_list(f, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_event_handle_t event = fixture_event(f, 0);
    ze_event_handle_t barrier = fixture_event(f, 1);
    uint32_t *target = fixture_memory(f, 64);
    uint64_t *written = fixture_memory(f, 8);
    ze_device_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
    ze_kernel_timestamp_result_t times;
    const ze_group_count_t groups = {1, 1, 1};
    uint64_t host_ns[2];
    uint64_t ticks[2];

    assert_success(zeDeviceGetProperties(f->device, &p));
    uint64_t mask = (UINT64_C(1) << p.kernelTimestampValidBits) - 1;
    assert_success(zeKernelSetArgumentValue(kernel, 0, sizeof(target), &target));
    assert_success(zeDeviceGetGlobalTimestamps(f->device, &host_ns[0], &ticks[0]));
    assert_success(zeCommandListAppendLaunchKernel(list, kernel, &groups, event, 0, NULL));
    assert_success(zeCommandListAppendWriteGlobalTimestamp(list, written, NULL, 0, NULL));
    assert_success(zeCommandListAppendBarrier(list, barrier, 0, NULL));
    assert_success(zeDeviceGetGlobalTimestamps(f->device, &host_ns[1], &ticks[1]));
    uint64_t whole = (ticks[1] - ticks[0]) & mask;
    assert_cmp(whole, >, 0);
    assert_cmp(host_ns[1], >, host_ns[0]);
    assert_success(zeEventQueryKernelTimestamp(event, &times));
    assert_cmp(((times.global.kernelStart - ticks[0]) & mask), <=, whole);
    assert_cmp(((times.global.kernelEnd - ticks[0]) & mask), <=, whole);
    assert_int_not_equal(times.global.kernelStart, times.global.kernelEnd);
    assert_cmp(((*written - ticks[0]) & mask), <=, whole);
    assert_cmp(*written, <=, p.timestampValidBits < 64 ? mask : UINT64_MAX);
    assert_success(zeEventQueryKernelTimestamp(barrier, &times));
    assert_int_not_equal(times.global.kernelStart, times.global.kernelEnd);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeEventDestroy(event));
    assert_success(zeEventDestroy(barrier));
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeMemFree(f->context, target));
    assert_success(zeMemFree(f->context, written));
}

/* Every group waits for all others, so this ends only if all of them run at the same time.
 * Rule 7.22. */
static void cooperative__as_many_groups_as_suggested__run_at_the_same_time(void **state)
{
    const struct fixture *f = *state;
    ze_kernel_handle_t meet = fixture_kernel(f, "meet");
    ze_command_list_handle_t list = fixture_list(f, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    const uint32_t size = 64;
    uint32_t *arrived = fixture_memory(f, 64);
    uint32_t most = 0;

    assert_success(zeKernelSetGroupSize(meet, size, 1, 1));
    assert_success(zeKernelSuggestMaxCooperativeGroupCount(meet, &most));
    assert_cmp(most, >, 1);
    uint32_t *seen = fixture_memory(f, (size_t)most * size * sizeof(*seen));
    const ze_group_count_t groups = {most, 1, 1};
    assert_success(zeKernelSetArgumentValue(meet, 0, sizeof(arrived), &arrived));
    assert_success(zeKernelSetArgumentValue(meet, 1, sizeof(seen), &seen));
    assert_success(zeCommandListAppendLaunchCooperativeKernel(list, meet, &groups, NULL, 0, NULL));
    assert_int_equal(*arrived, most);
    for (uint32_t i = 0; i < most * size; i++)
        assert_int_equal(seen[i], most);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(meet));
    assert_success(zeMemFree(f->context, seen));
    assert_success(zeMemFree(f->context, arrived));
}

/* Copies and fills of every pattern that the copy queues promise, and nothing else. Rule 5.28. */
static void copy_queue__fills_and_copies__are_exact(void **state)
{
    const struct fixture *f = *state;
    ze_command_queue_desc_t desc = {.mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    ze_command_queue_group_properties_t groups[8];
    ze_command_list_handle_t list = NULL;
    const size_t bytes = 131072;
    uint32_t count = 8;

    assert_success(zeDeviceGetCommandQueueGroupProperties(f->device, &count, groups));
    for (uint32_t i = 0; i < count; i++) {
        if (groups[i].flags == ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY)
            desc.ordinal = i;
    }
    assert_int_not_equal(desc.ordinal, 0);
    assert_success(zeCommandListCreateImmediate(f->context, f->device, &desc, &list));
    unsigned char *pattern = fixture_memory(f, bytes);

    /* A target has to be aligned to the pattern, and every allocation is to the longest. */
    unsigned char *target = fixture_memory(f, bytes);
    for (size_t i = 0; i < bytes; i++)
        pattern[i] = (unsigned char)(i * 7 + i / 251);
    for (size_t size = 1; size <= groups[desc.ordinal].maxMemoryFillPatternSize; size *= 2) {
        memset(target, 0xee, bytes);
        assert_success(
            zeCommandListAppendMemoryFill(list, target, pattern, size, bytes, NULL, 0, NULL));
        for (size_t i = 0; i < bytes; i++)
            assert_int_equal(target[i], pattern[i % size]);
    }
    assert_success(zeCommandListAppendMemoryCopy(list, target, pattern, bytes, NULL, 0, NULL));
    assert_memory_equal(target, pattern, bytes);
    assert_int_equal(zeCommandListAppendMemoryFill(list, target, pattern, 3, 9, NULL, 0, NULL),
                     ZE_RESULT_ERROR_INVALID_SIZE);
    assert_int_equal(
        zeCommandListAppendMemoryFill(list, target, pattern, 131072, bytes, NULL, 0, NULL),
        ZE_RESULT_ERROR_INVALID_SIZE);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeMemFree(f->context, target));
    assert_success(zeMemFree(f->context, pattern));
}

/* How many of several launches run is known only on the device, where a kernel counts. */
static void launches__count_made_by_a_kernel__run_that_many(void **state)
{
    const struct fixture *f = *state;
    ze_command_list_handle_t list = fixture_list(f, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_kernel_handle_t add = fixture_kernel(f, "add");
    ze_kernel_handle_t kernels[3];
    uint64_t *sums = fixture_memory(f, 3 * sizeof(*sums));
    uint64_t *run = fixture_memory(f, sizeof(*run));
    ze_group_count_t *counts = fixture_memory(f, 3 * sizeof(*counts));
    const ze_group_count_t one = {1, 1, 1};
    const uint64_t two = 2;

    for (uint32_t i = 0; i < 3; i++) {
        uint64_t *sum = &sums[i];
        const uint64_t value = 1;

        kernels[i] = fixture_kernel(f, "add");
        counts[i] = (ze_group_count_t){i + 1, 1, 1};
        assert_success(zeKernelSetArgumentValue(kernels[i], 0, sizeof(sum), &sum));
        assert_success(zeKernelSetArgumentValue(kernels[i], 1, sizeof(value), &value));
    }
    assert_success(zeKernelSetArgumentValue(add, 0, sizeof(run), &run));
    assert_success(zeKernelSetArgumentValue(add, 1, sizeof(two), &two));
    assert_success(zeCommandListAppendLaunchKernel(list, add, &one, NULL, 0, NULL));
    assert_success(zeCommandListAppendLaunchMultipleKernelsIndirect(
        list, 3, kernels, (const uint32_t *)(const void *)run, counts, NULL, 0, NULL));
    assert_int_equal(sums[0], 1);
    assert_int_equal(sums[1], 2);
    assert_int_equal(sums[2], 0);
    for (uint32_t i = 0; i < 3; i++)
        assert_success(zeKernelDestroy(kernels[i]));
    assert_success(zeKernelDestroy(add));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeMemFree(f->context, sums));
    assert_success(zeMemFree(f->context, run));
    assert_success(zeMemFree(f->context, counts));
}

/* A kernel on another queue spins on the counter of an event until the work before it is done.
 * Rule 8.3. */
static void counter__device_address__is_seen_by_a_kernel(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer is older than the flag");
    const struct fixture *f = *state;
    const ze_event_counter_based_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC,
                                                .flags = ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE};
    const ze_command_queue_desc_t in_order = {.flags = ZE_COMMAND_QUEUE_FLAG_IN_ORDER};
    ze_command_list_handle_t first = NULL;
    ze_command_list_handle_t second = NULL;
    ze_kernel_handle_t await = fixture_kernel(f, "await");
    ze_kernel_handle_t ids = fixture_kernel(f, "ids");
    const ze_group_count_t one = {1, 1, 1};
    uint64_t *seen = fixture_memory(f, sizeof(*seen));
    uint32_t *target = fixture_memory(f, 64);
    ze_event_handle_t event = NULL;
    uint64_t value = 0;
    uint64_t address = 0;

    assert_success(zeEventCounterBasedCreate(f->context, f->device, &desc, &event));
    assert_success(zeCommandListCreateImmediate(f->context, f->device, &in_order, &first));
    assert_success(zeCommandListCreateImmediate(f->context, f->device, &in_order, &second));
    assert_success(zeKernelSetArgumentValue(ids, 0, sizeof(target), &target));
    for (uint64_t round = 1; round <= 20; round++) {
        assert_success(zeCommandListAppendLaunchKernel(first, ids, &one, event, 0, NULL));
        assert_success(zeEventCounterBasedGetDeviceAddress(event, &value, &address));
        assert_int_equal(value, round);
        assert_success(zeKernelSetArgumentValue(await, 0, sizeof(address), &address));
        assert_success(zeKernelSetArgumentValue(await, 1, sizeof(value), &value));
        assert_success(zeKernelSetArgumentValue(await, 2, sizeof(seen), &seen));
        assert_success(zeEventHostSynchronize(event, UINT64_MAX));
        assert_success(zeCommandListAppendLaunchKernel(second, await, &one, NULL, 0, NULL));
        assert_success(zeCommandListHostSynchronize(second, UINT64_MAX));
        assert_int_equal(*seen, round);
    }
    assert_success(zeCommandListDestroy(first));
    assert_success(zeCommandListDestroy(second));
    assert_success(zeEventDestroy(event));
    assert_success(zeKernelDestroy(await));
    assert_success(zeKernelDestroy(ids));
    assert_success(zeMemFree(f->context, seen));
    assert_success(zeMemFree(f->context, target));
}

SUITE(kernels)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(native_binary__of_a_module__makes_the_same_module),
        cmocka_unit_test(matrix__odd_size__is_the_product),
        cmocka_unit_test(local_memory__and_barrier__turn_groups_around),
        cmocka_unit_test(clocks__of_device_event_and_command__are_one),
        cmocka_unit_test(cooperative__as_many_groups_as_suggested__run_at_the_same_time),
        cmocka_unit_test(copy_queue__fills_and_copies__are_exact),
        cmocka_unit_test(launches__count_made_by_a_kernel__run_that_many),
        cmocka_unit_test(counter__device_address__is_seen_by_a_kernel),
    };

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
