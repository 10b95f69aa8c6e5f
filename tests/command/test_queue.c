/* Command queues and fences. */
#include "harness.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static void execute__kernels_in_a_list__run_in_order(void **state)
{
    const struct harness *h = *state;
    uint64_t *sum = harness_memory(h, 4096);
    ze_kernel_handle_t kernel = harness_add_kernel(h, sum, 5);
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t list = harness_list(h);
    uint64_t copy = 0;

    assert_success(harness_launch(list, kernel, NULL, 0, NULL));
    assert_success(zeCommandListAppendMemoryCopy(list, &copy, sum, sizeof(copy), NULL, 0, NULL));
    assert_success(harness_launch(list, kernel, NULL, 0, NULL));
    harness_execute(queue, list, NULL);
    assert_success(zeCommandQueueSynchronize(queue, UINT64_MAX));
    assert_int_equal(*sum, 10);
    assert_int_equal(copy, 5);
    /* A list runs as often as it is executed, also several times in one call. */
    ze_command_list_handle_t twice[2] = {list, list};
    assert_success(zeCommandQueueExecuteCommandLists(queue, 2, twice, NULL));
    assert_success(zeCommandQueueSynchronize(queue, UINT64_MAX));
    assert_int_equal(*sum, 30);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeMemFree(h->context, sum));
}

static void execute__synchronous_queue__returns_when_done(void **state)
{
    const struct harness *h = *state;
    uint64_t *sum = harness_memory(h, 8);
    ze_kernel_handle_t kernel = harness_add_kernel(h, sum, 1);
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_command_list_handle_t list = harness_list(h);

    assert_success(harness_launch(list, kernel, NULL, 0, NULL));
    assert_success(zeCommandListClose(list));
    for (uint64_t i = 1; i <= 20; i++) {
        assert_success(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
        assert_int_equal(*sum, i);
    }
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeMemFree(h->context, sum));
}

/* Rule 7.12. */
static void synchronize__running_work__times_out_and_then_succeeds(void **state)
{
    const struct harness *h = *state;
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_DEFAULT);
    ze_command_list_handle_t list = harness_list(h);
    ze_kernel_handle_t kernel = harness_kernel(h, "hold");

    h->control->hold();
    assert_success(zeCommandQueueSynchronize(queue, 0));
    assert_success(harness_launch(list, kernel, NULL, 0, NULL));
    harness_execute(queue, list, NULL);
    harness_wait_holding(h, 1);
    assert_result(ZE_RESULT_NOT_READY, zeCommandQueueSynchronize(queue, 0));
    uint64_t begin_ns = harness_now_ns();
    assert_result(ZE_RESULT_NOT_READY, zeCommandQueueSynchronize(queue, 20000000));
    assert_cmp(harness_now_ns() - begin_ns, >=, 20000000);

    /* What runs cannot be destroyed, and says so. */
    assert_result(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, zeCommandQueueDestroy(queue));
    assert_result(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, zeCommandListDestroy(list));
    assert_result(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, zeCommandListReset(list));
    h->control->release();
    assert_success(zeCommandQueueSynchronize(queue, UINT64_MAX));
    assert_success(zeCommandListReset(list));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeKernelDestroy(kernel));
}

/* Executes an empty list with a signal, which has come when this returns. */
static void execute_signal(ze_command_queue_handle_t queue, ze_command_list_handle_t list,
                           ze_event_handle_t event)
{
    assert_success(zeEventHostReset(event));
    assert_success(zeCommandListAppendSignalEvent(list, event));
    harness_execute(queue, list, NULL);
    assert_success(zeEventHostSynchronize(event, UINT64_MAX));
}

/* Rule 7.12. */
static void destroy__report_comes_late__succeeds(void **state)
{
    const struct harness *h = *state;
    ze_event_pool_handle_t pool = harness_pool(h, ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1);
    ze_event_handle_t event = harness_event(pool, 0);
    ze_command_list_handle_t immediate = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t list = harness_list(h);

    /*
     * Programs wait for the last event and destroy at once. The report is still on its way, on a
     * thread that gets no turn for longer than anybody would wait for work that runs.
     */
    h->control->set_late(800);
    assert_success(zeCommandListAppendSignalEvent(immediate, event));
    assert_success(zeEventHostSynchronize(event, UINT64_MAX));
    assert_success(zeCommandListDestroy(immediate));
    execute_signal(queue, list, event);
    assert_success(zeCommandListReset(list));
    execute_signal(queue, list, event);
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeCommandListDestroy(list));
    h->control->set_late(0);
    assert_success(zeEventDestroy(event));
    assert_success(zeEventPoolDestroy(pool));
}

static void execute__lists_that_do_not_fit__is_refused(void **state)
{
    const struct harness *h = *state;
    const ze_command_list_desc_t copy_desc = {.commandQueueGroupOrdinal = 1};
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_DEFAULT);
    ze_command_list_handle_t open = harness_list(h);
    ze_command_list_handle_t immediate = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_DEFAULT);
    ze_command_list_handle_t copies = NULL;
    ze_command_list_handle_t broken[2] = {NULL, NULL};

    assert_success(zeCommandListCreate(h->context, h->device, &copy_desc, &copies));
    assert_success(zeCommandListClose(copies));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeCommandQueueExecuteCommandLists(queue, 1, &open, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE,
                  zeCommandQueueExecuteCommandLists(queue, 1, &immediate, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE,
                  zeCommandQueueExecuteCommandLists(queue, 1, &copies, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_SIZE,
                  zeCommandQueueExecuteCommandLists(queue, 0, &copies, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                  zeCommandQueueExecuteCommandLists(queue, 1, NULL, NULL));
    broken[0] = open;
    broken[1] = (ze_command_list_handle_t)queue;
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                  zeCommandQueueExecuteCommandLists(queue, 2, broken, NULL));
    assert_success(zeCommandListDestroy(open));
    assert_success(zeCommandListDestroy(immediate));
    assert_success(zeCommandListDestroy(copies));
    assert_success(zeCommandQueueDestroy(queue));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zeCommandQueueSynchronize(queue, 0));
}

static void create__ordinal_or_index_too_large__is_refused(void **state)
{
    const struct harness *h = *state;
    ze_command_queue_desc_t desc = {.ordinal = 2};
    ze_command_queue_handle_t queue = NULL;

    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeCommandQueueCreate(h->context, h->device, &desc, &queue));
    desc = (ze_command_queue_desc_t){.ordinal = 0, .index = 2};
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeCommandQueueCreate(h->context, h->device, &desc, &queue));
    desc = (ze_command_queue_desc_t){.mode = (ze_command_queue_mode_t)3};
    assert_result(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                  zeCommandQueueCreate(h->context, h->device, &desc, &queue));
    desc = (ze_command_queue_desc_t){.flags = 0x100};
    assert_result(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                  zeCommandQueueCreate(h->context, h->device, &desc, &queue));
    assert_null(queue);
}

static void getters__of_a_queue__say_what_it_was_created_with(void **state)
{
    const struct harness *h = *state;
    const ze_command_queue_desc_t desc = {.ordinal = 0,
                                          .index = 1,
                                          .flags = ZE_COMMAND_QUEUE_FLAG_EXPLICIT_ONLY,
                                          .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
                                          .priority = ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH};
    ze_command_queue_handle_t queue = NULL;
    ze_command_queue_flags_t flags = 0;
    ze_command_queue_mode_t mode = ZE_COMMAND_QUEUE_MODE_DEFAULT;
    ze_command_queue_priority_t priority = ZE_COMMAND_QUEUE_PRIORITY_NORMAL;
    uint32_t ordinal = 9;
    uint32_t index = 9;

    assert_success(zeCommandQueueCreate(h->context, h->device, &desc, &queue));
    assert_success(zeCommandQueueGetOrdinal(queue, &ordinal));
    assert_success(zeCommandQueueGetIndex(queue, &index));
    assert_success(zeCommandQueueGetFlags(queue, &flags));
    assert_success(zeCommandQueueGetMode(queue, &mode));
    assert_success(zeCommandQueueGetPriority(queue, &priority));
    assert_int_equal(ordinal, 0);
    assert_int_equal(index, 1);
    assert_int_equal(flags, ZE_COMMAND_QUEUE_FLAG_EXPLICIT_ONLY);
    assert_int_equal(mode, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    assert_int_equal(priority, ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH);
    assert_success(zeCommandQueueDestroy(queue));
}

static void fence__of_a_submission__is_on_after_it(void **state)
{
    const struct harness *h = *state;
    const ze_fence_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t list = harness_list(h);
    ze_kernel_handle_t kernel = harness_kernel(h, "hold");
    ze_fence_handle_t fence = NULL;

    h->control->hold();
    assert_success(zeFenceCreate(queue, &desc, &fence));
    assert_success(harness_launch(list, kernel, NULL, 0, NULL));
    harness_execute(queue, list, fence);
    harness_wait_holding(h, 1);
    assert_result(ZE_RESULT_NOT_READY, zeFenceQueryStatus(fence));
    assert_result(ZE_RESULT_NOT_READY, zeFenceHostSynchronize(fence, 0));
    assert_result(ZE_RESULT_NOT_READY, zeFenceHostSynchronize(fence, 1000000));
    h->control->release();
    assert_success(zeFenceHostSynchronize(fence, UINT64_MAX));
    assert_success(zeFenceQueryStatus(fence));
    assert_success(zeFenceReset(fence));
    assert_result(ZE_RESULT_NOT_READY, zeFenceQueryStatus(fence));
    /* An empty list has an end too. */
    assert_success(zeCommandListReset(list));
    harness_execute(queue, list, fence);
    assert_success(zeFenceHostSynchronize(fence, UINT64_MAX));
    assert_success(zeFenceDestroy(fence));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zeFenceQueryStatus(fence));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeKernelDestroy(kernel));
}

static void fence__created_signalled_or_of_another_queue__behaves(void **state)
{
    const struct harness *h = *state;
    const ze_fence_desc_t desc = {.flags = ZE_FENCE_FLAG_SIGNALED};
    const ze_fence_desc_t wrong = {.flags = 0x2};
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_DEFAULT);
    ze_command_queue_handle_t other = harness_queue(h, ZE_COMMAND_QUEUE_MODE_DEFAULT);
    ze_command_list_handle_t list = harness_list(h);
    ze_fence_handle_t fence = NULL;

    assert_result(ZE_RESULT_ERROR_INVALID_ENUMERATION, zeFenceCreate(queue, &wrong, &fence));
    assert_success(zeFenceCreate(queue, &desc, &fence));
    assert_success(zeFenceQueryStatus(fence));
    assert_success(zeCommandListClose(list));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeCommandQueueExecuteCommandLists(other, 1, &list, fence));
    /* A fence that outlives its queue only reports its state. */
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeFenceQueryStatus(fence));
    assert_success(zeFenceDestroy(fence));
    assert_success(zeCommandQueueDestroy(other));
    assert_success(zeCommandListDestroy(list));
}

static void device_synchronize__several_queues__waits_for_all(void **state)
{
    const struct harness *h = *state;
    uint64_t *sum = harness_memory(h, 64);
    ze_kernel_handle_t kernel = harness_add_kernel(h, sum, 1);
    ze_kernel_handle_t other = harness_add_kernel(h, sum + 1, 1);
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t immediate = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t list = harness_list(h);

    for (int i = 0; i < 100; i++)
        assert_success(harness_launch(list, kernel, NULL, 0, NULL));
    harness_execute(queue, list, NULL);
    for (int i = 0; i < 100; i++)
        assert_success(harness_launch(immediate, other, NULL, 0, NULL));
    assert_success(zeDeviceSynchronize(h->device));
    assert_int_equal(sum[0], 100);
    assert_int_equal(sum[1], 100);
    assert_success(zeDeviceSynchronize(h->tiles[0]));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeCommandListDestroy(immediate));
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeKernelDestroy(other));
    assert_success(zeMemFree(h->context, sum));
}

/* ---- a plugin that reports only to who waits (queue_wait()) ---- */

static void wait__reports_on_the_threads_that_wait__come_in_all_ways(void **state)
{
    const struct harness *h = *state;
    const ze_fence_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    uint64_t *sum = harness_memory(h, 8), *other = harness_memory(h, 8);
    ze_kernel_handle_t kernel = harness_add_kernel(h, sum, 1);
    ze_kernel_handle_t beside = harness_add_kernel(h, other, 1);
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t immediate = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t synchronous = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_command_list_handle_t list = harness_list(h);
    ze_fence_handle_t fence = NULL;

    h->control->withhold(true);
    assert_success(zeFenceCreate(queue, &desc, &fence));
    assert_success(harness_launch(list, kernel, NULL, 0, NULL));
    harness_execute(queue, list, NULL);
    assert_success(zeCommandQueueSynchronize(queue, UINT64_MAX));
    assert_success(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    while (zeCommandQueueSynchronize(queue, 0) == ZE_RESULT_NOT_READY)
        ;
    assert_success(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
    assert_success(zeFenceHostSynchronize(fence, UINT64_MAX));
    assert_success(zeFenceReset(fence));
    assert_success(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
    while (zeFenceQueryStatus(fence) == ZE_RESULT_NOT_READY)
        ;
    assert_success(zeFenceReset(fence));
    assert_success(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
    while (zeFenceHostSynchronize(fence, 1000000) == ZE_RESULT_NOT_READY)
        ;
    assert_success(harness_launch(immediate, beside, NULL, 0, NULL));
    assert_success(zeCommandListHostSynchronize(immediate, UINT64_MAX));
    assert_success(harness_launch(synchronous, kernel, NULL, 0, NULL));
    assert_int_equal(*sum, 6);
    assert_success(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    assert_success(harness_launch(immediate, beside, NULL, 0, NULL));
    assert_success(zeDeviceSynchronize(h->device));
    assert_int_equal(*sum, 7);
    /* Nobody waits: destroying does. */
    assert_success(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    assert_success(harness_launch(immediate, beside, NULL, 0, NULL));
    assert_success(zeCommandListDestroy(immediate));
    assert_success(zeCommandQueueDestroy(queue));
    assert_int_equal(*sum, 8);
    assert_int_equal(*other, 3);
    h->control->withhold(false);
    assert_success(zeFenceDestroy(fence));
    assert_success(zeCommandListDestroy(synchronous));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeKernelDestroy(beside));
    assert_success(zeMemFree(h->context, sum));
    assert_success(zeMemFree(h->context, other));
}

/* A fence comes although what was submitted after it runs. */
static void wait__for_an_earlier_fence__takes_no_later_work_into_account(void **state)
{
    const struct harness *h = *state;
    const ze_fence_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t empty = harness_list(h), list = harness_list(h);
    ze_kernel_handle_t kernel = harness_kernel(h, "hold");
    ze_fence_handle_t fence = NULL, later = NULL;

    h->control->hold();
    h->control->withhold(true);
    assert_success(zeFenceCreate(queue, &desc, &fence));
    assert_success(zeFenceCreate(queue, &desc, &later));
    harness_execute(queue, empty, fence);
    assert_success(harness_launch(list, kernel, NULL, 0, NULL));
    harness_execute(queue, list, later);
    assert_success(zeFenceHostSynchronize(fence, UINT64_MAX));
    assert_result(ZE_RESULT_NOT_READY, zeFenceQueryStatus(later));
    assert_result(ZE_RESULT_NOT_READY, zeFenceHostSynchronize(later, 1000000));
    assert_result(ZE_RESULT_NOT_READY, zeCommandQueueSynchronize(queue, 1000000));
    h->control->release();
    assert_success(zeFenceHostSynchronize(later, UINT64_MAX));
    h->control->withhold(false);
    assert_success(zeFenceDestroy(fence));
    assert_success(zeFenceDestroy(later));
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeCommandListDestroy(empty));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(kernel));
}

/* Who waits for an event looks at the queue that is to signal it, and at none that is gone. */
static void wait__for_an_event__looks_at_its_queue(void **state)
{
    const struct harness *h = *state;
    ze_event_pool_handle_t pool = harness_pool(h, ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1);
    ze_event_handle_t event = harness_event(pool, 0);
    ze_command_list_handle_t immediate = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t list = harness_list(h);
    ze_kernel_handle_t kernel = harness_kernel(h, "hold");

    h->control->withhold(true);
    assert_success(harness_launch(list, kernel, event, 0, NULL));
    assert_success(zeCommandListClose(list));
    for (int i = 0; i < 2; i++) {
        h->control->hold();
        if (i == 0)
            assert_success(harness_launch(immediate, kernel, event, 0, NULL));
        else
            assert_success(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
        uint32_t before = h->control->looks();
        assert_result(ZE_RESULT_NOT_READY, zeEventHostSynchronize(event, 0));
        assert_result(ZE_RESULT_NOT_READY, zeEventHostSynchronize(event, 1000000));
        assert_cmp(h->control->looks() - before, >=, 2);
        h->control->release();
        assert_success(zeEventHostSynchronize(event, UINT64_MAX));
        assert_success(zeEventHostReset(event));
    }
    assert_success(zeCommandListDestroy(immediate));
    assert_success(zeCommandQueueDestroy(queue));
    uint32_t before = h->control->looks();
    assert_result(ZE_RESULT_NOT_READY, zeEventHostSynchronize(event, 1000000));
    assert_int_equal(h->control->looks(), before);
    h->control->withhold(false);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeEventDestroy(event));
    assert_success(zeEventPoolDestroy(pool));
    assert_success(zeKernelDestroy(kernel));
}

/* The plugin counts what it accepts, and so does the core: else a fence would be a later one's. */
static void wait__after_a_submission_was_refused__counts_without_it(void **state)
{
    const struct harness *h = *state;
    const ze_fence_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t empty = harness_list(h), list = harness_list(h);
    ze_kernel_handle_t kernel = harness_kernel(h, "hold");
    ze_fence_handle_t fence = NULL, refused = NULL;

    h->control->hold();
    h->control->withhold(true);
    assert_success(zeFenceCreate(queue, &desc, &fence));
    assert_success(zeFenceCreate(queue, &desc, &refused));
    harness_execute(queue, empty, NULL);
    h->control->refuse_submissions(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    assert_result(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                  zeCommandQueueExecuteCommandLists(queue, 1, &empty, refused));
    h->control->refuse_submissions(ZE_RESULT_SUCCESS);
    assert_success(zeCommandQueueExecuteCommandLists(queue, 1, &empty, fence));
    assert_success(harness_launch(list, kernel, NULL, 0, NULL));
    harness_execute(queue, list, NULL);
    assert_success(zeFenceHostSynchronize(fence, UINT64_MAX));
    assert_result(ZE_RESULT_NOT_READY, zeFenceQueryStatus(refused));
    assert_result(ZE_RESULT_NOT_READY, zeFenceHostSynchronize(refused, 1000000));
    h->control->release();
    assert_success(zeCommandQueueSynchronize(queue, UINT64_MAX));
    assert_result(ZE_RESULT_NOT_READY, zeFenceQueryStatus(refused));
    h->control->withhold(false);
    assert_success(zeFenceDestroy(fence));
    assert_success(zeFenceDestroy(refused));
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeCommandListDestroy(empty));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(kernel));
}

static void wait__of_a_lost_queue__has_no_sentence_of_earlier_calls(void **state)
{
    const struct harness *h = *state;
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_kernel_handle_t kernel = harness_kernel(h, "fault");
    ze_command_queue_handle_t none = NULL;
    const ze_command_queue_desc_t wrong = {.ordinal = 77};

    h->control->withhold(true);
    assert_success(harness_launch(list, kernel, NULL, 0, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeCommandQueueCreate(h->context, h->device, &wrong, &none));
    assert_non_null(strstr(harness_sentence(h), "77"));
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_null(strstr(harness_sentence(h), "77"));
    h->control->withhold(false);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(kernel));
}

SUITE(queue)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(execute__kernels_in_a_list__run_in_order),
        cmocka_unit_test(execute__synchronous_queue__returns_when_done),
        cmocka_unit_test(synchronize__running_work__times_out_and_then_succeeds),
        cmocka_unit_test(destroy__report_comes_late__succeeds),
        cmocka_unit_test(execute__lists_that_do_not_fit__is_refused),
        cmocka_unit_test(create__ordinal_or_index_too_large__is_refused),
        cmocka_unit_test(getters__of_a_queue__say_what_it_was_created_with),
        cmocka_unit_test(fence__of_a_submission__is_on_after_it),
        cmocka_unit_test(fence__created_signalled_or_of_another_queue__behaves),
        cmocka_unit_test(device_synchronize__several_queues__waits_for_all),
        cmocka_unit_test(wait__reports_on_the_threads_that_wait__come_in_all_ways),
        cmocka_unit_test(wait__for_an_earlier_fence__takes_no_later_work_into_account),
        cmocka_unit_test(wait__for_an_event__looks_at_its_queue),
        cmocka_unit_test(wait__after_a_submission_was_refused__counts_without_it),
        cmocka_unit_test(wait__of_a_lost_queue__has_no_sentence_of_earlier_calls),
    };

    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
