/* Launches: what is captured when, and what is refused. */
#include "harness.h"
#include "tests/support/suite.h"

/* Rule 7.13. */
static void launch__arguments_change_after_append__uses_the_captured_ones(void **state)
{
    const struct harness *h = *state;
    uint64_t *sum = harness_memory(h, 16);
    uint64_t *other = sum + 1;
    uint64_t value = 100;
    ze_kernel_handle_t kernel = harness_add_kernel(h, sum, 1);
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_command_list_handle_t list = harness_list(h);

    assert_success(harness_launch(list, kernel, NULL, 0, NULL));
    assert_success(zeKernelSetArgumentValue(kernel, 0, sizeof(other), &other));
    assert_success(zeKernelSetArgumentValue(kernel, 1, sizeof(value), &value));
    assert_success(harness_launch(list, kernel, NULL, 0, NULL));
    harness_execute(queue, list, NULL);
    assert_int_equal(sum[0], 1);
    assert_int_equal(sum[1], 100);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeMemFree(h->context, sum));
}

static void launch__group_counts__run_that_many_groups(void **state)
{
    const struct harness *h = *state;
    uint64_t *sum = harness_memory(h, 8);
    ze_kernel_handle_t kernel = harness_add_kernel(h, sum, 1);
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    const ze_group_count_t some = {2, 3, 4};
    const ze_group_count_t none = {2, 0, 4};
    const ze_group_count_t most = {65535, 1, 1};
    const ze_group_count_t too_many = {1, 65536, 1};

    assert_success(zeCommandListAppendLaunchKernel(list, kernel, &some, NULL, 0, NULL));
    assert_int_equal(*sum, 24);
    assert_success(zeCommandListAppendLaunchKernel(list, kernel, &none, NULL, 0, NULL));
    assert_int_equal(*sum, 24);
    assert_success(zeCommandListAppendLaunchKernel(list, kernel, &most, NULL, 0, NULL));
    assert_int_equal(*sum, 24 + 65535);
    assert_result(ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION,
                  zeCommandListAppendLaunchKernel(list, kernel, &too_many, NULL, 0, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                  zeCommandListAppendLaunchKernel(list, kernel, NULL, NULL, 0, NULL));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeMemFree(h->context, sum));
}

static void launch__argument_missing__names_it(void **state)
{
    const struct harness *h = *state;
    uint64_t value = 1;
    ze_kernel_handle_t kernel = harness_kernel(h, "add");
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);

    assert_success(zeKernelSetArgumentValue(kernel, 1, sizeof(value), &value));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, harness_launch(list, kernel, NULL, 0, NULL));
    assert_non_null(strstr(harness_sentence(h), "argument 0"));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(kernel));
}

static void launch__on_a_copy_queue__is_refused(void **state)
{
    const struct harness *h = *state;
    const ze_command_list_desc_t desc = {.commandQueueGroupOrdinal = 1};
    ze_kernel_handle_t kernel = harness_kernel(h, "hold");
    ze_command_list_handle_t list = NULL;

    assert_success(zeCommandListCreate(h->context, h->device, &desc, &list));
    assert_result(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE,
                  harness_launch(list, kernel, NULL, 0, NULL));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(kernel));
}

static void local_memory__as_argument__arrives_as_its_size(void **state)
{
    const struct harness *h = *state;
    uint64_t *size = harness_memory(h, 8);
    ze_kernel_handle_t kernel = harness_kernel(h, "size");
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);

    assert_success(zeKernelSetArgumentValue(kernel, 0, sizeof(size), &size));
    assert_success(zeKernelSetArgumentValue(kernel, 1, 640, NULL));
    assert_success(harness_launch(list, kernel, NULL, 0, NULL));
    assert_int_equal(*size, 640);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeMemFree(h->context, size));
}

static void cooperative__more_groups_than_fit__is_refused(void **state)
{
    const struct harness *h = *state;
    uint64_t *sum = harness_memory(h, 8);
    ze_kernel_handle_t kernel = harness_add_kernel(h, sum, 1);
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_command_list_append_launch_kernel_param_cooperative_desc_t parameter = {
        .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_APPEND_PARAM_COOPERATIVE_DESC, .isCooperative = 1};
    ze_base_desc_t unknown = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC};
    uint32_t most = 0;

    assert_success(zeKernelSetGroupSize(kernel, 16, 1, 1));
    assert_success(zeKernelSuggestMaxCooperativeGroupCount(kernel, &most));
    /* 32 threads of a subslice hold two groups of 16; there are four subslices. */
    assert_int_equal(most, 8);
    ze_group_count_t counts = {most, 1, 1};
    assert_success(
        zeCommandListAppendLaunchCooperativeKernel(list, kernel, &counts, NULL, 0, NULL));
    assert_success(zeCommandListAppendLaunchKernelWithParameters(list, kernel, &counts, &parameter,
                                                                 NULL, 0, NULL));
    assert_int_equal(*sum, 16);
    counts.groupCountX = most + 1;
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeCommandListAppendLaunchCooperativeKernel(list, kernel, &counts, NULL, 0, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeCommandListAppendLaunchKernelWithParameters(list, kernel, &counts, &parameter,
                                                                NULL, 0, NULL));
    assert_success(
        zeCommandListAppendLaunchKernelWithParameters(list, kernel, &counts, NULL, NULL, 0, NULL));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  zeCommandListAppendLaunchKernelWithParameters(list, kernel, &counts, &unknown,
                                                                NULL, 0, NULL));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeMemFree(h->context, sum));
}

static void with_arguments__values_and_sizes__change_the_kernel(void **state)
{
    const struct harness *h = *state;
    uint64_t *sum = harness_memory(h, 16);
    uint64_t value = 4;
    size_t local_bytes = 128;
    void *size_target = sum + 1;
    void *add_arguments[] = {&sum, &value};
    void *size_arguments[] = {&size_target, &local_bytes};
    ze_kernel_handle_t add = harness_kernel(h, "add");
    ze_kernel_handle_t size = harness_kernel(h, "size");
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    const ze_group_count_t two = {2, 1, 1};
    const ze_group_size_t eight = {8, 1, 1};
    const ze_group_size_t wrong = {7, 1, 1};

    assert_success(zeCommandListAppendLaunchKernelWithArguments(
        list, add, two, eight, add_arguments, NULL, NULL, 0, NULL));
    assert_int_equal(sum[0], 8);
    assert_success(zeCommandListAppendLaunchKernelWithArguments(
        list, size, two, eight, size_arguments, NULL, NULL, 0, NULL));
    assert_int_equal(sum[1], 128);
    assert_result(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION,
                  zeCommandListAppendLaunchKernelWithArguments(
                      list, size, two, wrong, size_arguments, NULL, NULL, 0, NULL));
    /* The state stays: an ordinary launch uses it. */
    assert_success(harness_launch(list, add, NULL, 0, NULL));
    assert_int_equal(sum[0], 12);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(add));
    assert_success(zeKernelDestroy(size));
    assert_success(zeMemFree(h->context, sum));
}

static void indirect__counts_change_before_it_runs__uses_the_late_ones(void **state)
{
    const struct harness *h = *state;
    uint64_t *sum = harness_memory(h, 8);
    ze_group_count_t *counts = harness_memory(h, sizeof(*counts));
    ze_kernel_handle_t kernel = harness_add_kernel(h, sum, 1);
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_command_list_handle_t list = harness_list(h);

    assert_success(zeCommandListAppendLaunchKernelIndirect(list, kernel, counts, NULL, 0, NULL));
    *counts = (ze_group_count_t){3, 2, 1};
    harness_execute(queue, list, NULL);
    assert_int_equal(*sum, 6);
    *counts = (ze_group_count_t){5, 1, 1};
    assert_success(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    assert_int_equal(*sum, 11);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeMemFree(h->context, sum));
    assert_success(zeMemFree(h->context, counts));
}

static void multiple_indirect__count_in_memory__runs_that_many(void **state)
{
    const struct harness *h = *state;
    uint64_t *sums = harness_memory(h, 64);
    uint32_t *count = harness_memory(h, 4);
    ze_group_count_t *counts = harness_memory(h, 3 * sizeof(*counts));
    ze_kernel_handle_t kernels[3];
    ze_event_pool_handle_t pool = harness_pool(h, 0, 2);
    ze_event_handle_t start = harness_event(pool, 0);
    ze_event_handle_t end = harness_event(pool, 1);
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);

    for (int i = 0; i < 3; i++)
        kernels[i] = harness_add_kernel(h, sums + i, 1);
    assert_success(zeCommandListAppendLaunchMultipleKernelsIndirect(list, 3, kernels, count, counts,
                                                                    end, 1, &start));
    for (int i = 0; i < 3; i++)
        counts[i] = (ze_group_count_t){(uint32_t)i + 1, 1, 1};
    *count = 2;
    assert_success(zeEventHostSignal(start));
    assert_success(zeEventHostSynchronize(end, UINT64_MAX));
    assert_int_equal(sums[0], 1);
    assert_int_equal(sums[1], 2);
    assert_int_equal(sums[2], 0);
    assert_success(zeCommandListDestroy(list));
    for (int i = 0; i < 3; i++)
        assert_success(zeKernelDestroy(kernels[i]));
    assert_success(zeEventDestroy(start));
    assert_success(zeEventDestroy(end));
    assert_success(zeEventPoolDestroy(pool));
    assert_success(zeMemFree(h->context, sums));
    assert_success(zeMemFree(h->context, count));
    assert_success(zeMemFree(h->context, counts));
}

SUITE(launch)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launch__arguments_change_after_append__uses_the_captured_ones),
        cmocka_unit_test(launch__group_counts__run_that_many_groups),
        cmocka_unit_test(launch__argument_missing__names_it),
        cmocka_unit_test(launch__on_a_copy_queue__is_refused),
        cmocka_unit_test(local_memory__as_argument__arrives_as_its_size),
        cmocka_unit_test(cooperative__more_groups_than_fit__is_refused),
        cmocka_unit_test(with_arguments__values_and_sizes__change_the_kernel),
        cmocka_unit_test(indirect__counts_change_before_it_runs__uses_the_late_ones),
        cmocka_unit_test(multiple_indirect__count_in_memory__runs_that_many),
    };

    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
