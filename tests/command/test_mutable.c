/* Mutable command lists: what was asked for can be changed, and only that. */
#include "harness.h"
#include "tests/support/suite.h"

static ze_command_list_handle_t mutable_list(const struct harness *h, ze_command_list_flags_t flags)
{
    const ze_mutable_command_list_exp_desc_t mutable = {
        .stype = ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_DESC};
    const ze_command_list_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, .pNext = &mutable, .flags = flags};
    ze_command_list_handle_t list = NULL;

    assert_success(zeCommandListCreate(h->context, h->device, &desc, &list));
    return list;
}

static uint64_t next_id(ze_command_list_handle_t list, ze_mutable_command_exp_flags_t flags)
{
    const ze_mutable_command_id_exp_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_ID_EXP_DESC, .flags = flags};
    uint64_t id = 0;

    assert_success(zeCommandListGetNextCommandIdExp(list, &desc, &id));
    return id;
}

static ze_result_t update(ze_command_list_handle_t list, const void *changes)
{
    const ze_mutable_commands_exp_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_MUTABLE_COMMANDS_EXP_DESC, .pNext = changes};

    return zeCommandListUpdateMutableCommandsExp(list, &desc);
}

static void run(ze_command_queue_handle_t queue, ze_command_list_handle_t list)
{
    assert_success(zeCommandListClose(list));
    assert_success(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
}

static void properties__of_the_device__say_what_can_be_changed(void **state)
{
    const struct harness *h = *state;
    ze_mutable_command_list_exp_properties_t mutable = {
        .stype = ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_PROPERTIES,
        .mutableCommandListFlags = 0xff};
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES,
                                         .pNext = &mutable};

    assert_success(zeDeviceGetProperties(h->device, &properties));
    assert_int_equal(mutable.mutableCommandListFlags, 0);
    assert_int_equal(mutable.mutableCommandFlags, 0x7f);
}

/* A change of one launch: value, counts, size and offset, in one chain. */
struct change {
    ze_mutable_global_offset_exp_desc_t offset;
    ze_mutable_group_size_exp_desc_t size;
    ze_mutable_group_count_exp_desc_t count;
    ze_mutable_kernel_argument_exp_desc_t argument; /* the first of the chain */
    ze_group_count_t groups;
    uint64_t value;
};

static ze_mutable_kernel_argument_exp_desc_t argument_of(uint64_t id, uint32_t index, size_t size,
                                                         const void *value)
{
    return (ze_mutable_kernel_argument_exp_desc_t){
        .stype = ZE_STRUCTURE_TYPE_MUTABLE_KERNEL_ARGUMENT_EXP_DESC,
        .commandId = id,
        .argIndex = index,
        .argSize = size,
        .pArgValue = value};
}

static void fill_change(struct change *change, uint64_t id)
{
    change->groups = (ze_group_count_t){4, 1, 1};
    change->value = 10;
    change->offset = (ze_mutable_global_offset_exp_desc_t){
        .stype = ZE_STRUCTURE_TYPE_MUTABLE_GLOBAL_OFFSET_EXP_DESC, .commandId = id, .offsetX = 3};
    change->size =
        (ze_mutable_group_size_exp_desc_t){.stype = ZE_STRUCTURE_TYPE_MUTABLE_GROUP_SIZE_EXP_DESC,
                                           .pNext = &change->offset,
                                           .commandId = id,
                                           .groupSizeX = 8,
                                           .groupSizeY = 1,
                                           .groupSizeZ = 1};
    change->count =
        (ze_mutable_group_count_exp_desc_t){.stype = ZE_STRUCTURE_TYPE_MUTABLE_GROUP_COUNT_EXP_DESC,
                                            .pNext = &change->size,
                                            .commandId = id,
                                            .pGroupCount = &change->groups};
    change->argument = argument_of(id, 1, sizeof(change->value), &change->value);
    change->argument.pNext = &change->count;
}

/* Rule 9.2. */
static void launch__arguments_and_counts__can_be_changed(void **state)
{
    const struct harness *h = *state;
    uint64_t *sum = harness_memory(h, 16);
    uint64_t *other = sum + 1;
    ze_kernel_handle_t add = harness_add_kernel(h, sum, 1);
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_command_list_handle_t list = mutable_list(h, 0);
    struct change change;
    ze_bool_t is_mutable = 0;

    fill_change(&change, next_id(list, 0));
    assert_success(zeCommandListIsMutableExp(list, &is_mutable));
    assert_int_equal(is_mutable, 1);
    assert_success(harness_launch(list, add, NULL, 0, NULL));
    run(queue, list);
    assert_int_equal(*sum, 1);
    assert_success(update(list, &change.argument));
    /* Changed lists are closed again before they run. */
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    assert_non_null(strstr(harness_sentence(h), "zeCommandListClose"));
    run(queue, list);
    assert_int_equal(*sum, 1 + 4 * 10);
    change.argument = argument_of(change.argument.commandId, 0, sizeof(other), &other);
    assert_success(update(list, &change.argument));
    run(queue, list);
    assert_int_equal(*other, 4 * 10);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeKernelDestroy(add));
    assert_success(zeMemFree(h->context, sum));
}

/* Rule 9.2. */
static void chain__with_one_bad_node__changes_nothing(void **state)
{
    const struct harness *h = *state;
    uint64_t *sum = harness_memory(h, 8);
    ze_kernel_handle_t add = harness_add_kernel(h, sum, 1);
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_command_list_handle_t list = mutable_list(h, 0);
    const uint64_t id = next_id(list, 0);
    struct change change;

    fill_change(&change, id);
    assert_success(harness_launch(list, add, NULL, 0, NULL));
    run(queue, list);
    assert_int_equal(*sum, 1);
    change.size.groupSizeX = 4096;
    assert_result(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION, update(list, &change.argument));
    change.size.groupSizeX = 1;
    change.offset.commandId = id + 1; /* of no command */
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, update(list, &change.argument));
    change.offset.commandId = id;
    change.argument.argIndex = 0; /* a pointer */
    change.argument.argSize = 4;
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, update(list, &change.argument));
    change.argument.argSize = sizeof(change.value);
    change.argument.argIndex = 9;
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, update(list, &change.argument));
    change.argument.argIndex = 1;
    change.count.pGroupCount = NULL;
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER, update(list, &change.argument));
    run(queue, list);
    assert_int_equal(*sum, 2);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeKernelDestroy(add));
    assert_success(zeMemFree(h->context, sum));
}

/* Rule 9.2. */
static void update__what_was_not_asked_for__is_refused(void **state)
{
    const struct harness *h = *state;
    uint64_t *sum = harness_memory(h, 8);
    ze_group_count_t groups = {4, 1, 1};
    ze_kernel_handle_t add = harness_add_kernel(h, sum, 1);
    ze_command_list_handle_t list = mutable_list(h, 0);
    ze_command_list_handle_t plain = harness_list(h);
    const ze_mutable_command_id_exp_desc_t desc = {.flags = 0};
    const ze_mutable_command_id_exp_desc_t graph = {
        .flags = ZE_MUTABLE_COMMAND_EXP_FLAG_GRAPH_ARGUMENTS};
    uint64_t id = next_id(list, ZE_MUTABLE_COMMAND_EXP_FLAG_KERNEL_ARGUMENTS);
    ze_mutable_group_count_exp_desc_t count = {.stype =
                                                   ZE_STRUCTURE_TYPE_MUTABLE_GROUP_COUNT_EXP_DESC,
                                               .commandId = id,
                                               .pGroupCount = &groups};
    const ze_mutable_graph_argument_exp_desc_t unknown = {
        .stype = ZE_STRUCTURE_TYPE_MUTABLE_GRAPH_ARGUMENT_EXP_DESC, .commandId = id};
    ze_bool_t is_mutable = 1;

    assert_success(harness_launch(list, add, NULL, 0, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, update(list, &count));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeCommandListUpdateMutableCommandSignalEventExp(list, id, NULL));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, update(list, &unknown));
    /* A barrier has no group count. */
    count.commandId = next_id(list, 0);
    assert_success(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, update(list, &count));
    assert_non_null(strstr(harness_sentence(h), "no launch"));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  zeCommandListGetNextCommandIdExp(list, &graph, &id));
    /* Ids of an emptied list are void. */
    assert_success(zeCommandListClose(list));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeCommandListGetNextCommandIdExp(list, &desc, &id));
    assert_success(zeCommandListReset(list));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeCommandListUpdateMutableCommandSignalEventExp(list, count.commandId, NULL));

    assert_success(zeCommandListIsMutableExp(plain, &is_mutable));
    assert_int_equal(is_mutable, 0);
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeCommandListGetNextCommandIdExp(plain, &desc, &id));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, update(plain, &count));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeCommandListDestroy(plain));
    assert_success(zeKernelDestroy(add));
    assert_success(zeMemFree(h->context, sum));
}

static void events__of_a_command__can_be_changed_and_removed(void **state)
{
    const struct harness *h = *state;
    ze_event_pool_handle_t pool = harness_pool(h, 0, 4);
    ze_event_handle_t events[4];
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t list = mutable_list(h, 0);
    const uint64_t id = next_id(list, ZE_MUTABLE_COMMAND_EXP_FLAG_SIGNAL_EVENT |
                                          ZE_MUTABLE_COMMAND_EXP_FLAG_WAIT_EVENTS);

    for (uint32_t i = 0; i < 4; i++)
        events[i] = harness_event(pool, i);
    assert_success(zeCommandListAppendBarrier(list, events[2], 2, events));
    ze_event_handle_t changed[2] = {events[3], NULL};
    assert_result(ZE_RESULT_ERROR_INVALID_SIZE,
                  zeCommandListUpdateMutableCommandWaitEventsExp(list, id, 1, changed));
    for (int i = 0; i < 100; i++)
        assert_success(zeCommandListUpdateMutableCommandWaitEventsExp(list, id, 2, changed));
    assert_success(zeCommandListUpdateMutableCommandSignalEventExp(list, id, events[1]));
    run(queue, list);
    assert_result(ZE_RESULT_NOT_READY, zeCommandQueueSynchronize(queue, 10000000));
    /* Only the list knows them now. */
    assert_result(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                  zeCommandListUpdateMutableCommandSignalEventExp(list, id, NULL));
    assert_success(zeEventHostSignal(events[3]));
    assert_success(zeCommandQueueSynchronize(queue, UINT64_MAX));
    assert_success(zeEventQueryStatus(events[1]));
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(events[2]));

    assert_success(zeEventHostReset(events[1]));
    assert_success(zeEventHostReset(events[3]));
    assert_success(zeCommandListUpdateMutableCommandWaitEventsExp(list, id, 0, NULL));
    assert_success(zeCommandListUpdateMutableCommandSignalEventExp(list, id, NULL));
    run(queue, list);
    assert_success(zeCommandQueueSynchronize(queue, UINT64_MAX));
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(events[1]));
    for (uint32_t i = 0; i < 4; i++)
        assert_success(zeEventDestroy(events[i]));
    assert_success(zeEventPoolDestroy(pool));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeCommandQueueDestroy(queue));
}

/* Rule 9.2. */
static void kernel__of_a_launch__can_become_another_of_those_named(void **state)
{
    const struct harness *h = *state;
    uint64_t *sum = harness_memory(h, 16);
    ze_kernel_handle_t add = harness_add_kernel(h, sum, 1);
    ze_kernel_handle_t other = harness_add_kernel(h, sum + 1, 7);
    ze_kernel_handle_t third = harness_add_kernel(h, sum, 100);
    ze_kernel_handle_t kernels[2] = {add, other};
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_command_list_handle_t list = mutable_list(h, 0);
    const ze_mutable_command_id_exp_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_ID_EXP_DESC,
        .flags = ZE_MUTABLE_COMMAND_EXP_FLAG_KERNEL_INSTRUCTION |
                 ZE_MUTABLE_COMMAND_EXP_FLAG_KERNEL_ARGUMENTS};
    uint64_t id = 0;

    assert_success(zeCommandListGetNextCommandIdWithKernelsExp(list, &desc, 2, kernels, &id));
    assert_success(harness_launch(list, add, NULL, 0, NULL));
    run(queue, list);
    assert_result(ZE_RESULT_ERROR_INVALID_KERNEL_HANDLE,
                  zeCommandListUpdateMutableCommandKernelsExp(list, 1, &id, &third));
    assert_success(zeCommandListUpdateMutableCommandKernelsExp(list, 1, &id, &other));
    assert_success(zeKernelDestroy(other));
    run(queue, list);
    assert_int_equal(sum[0], 1);
    assert_int_equal(sum[1], 7);
    uint64_t value = 20;
    const ze_mutable_kernel_argument_exp_desc_t argument =
        argument_of(id, 1, sizeof(value), &value);
    assert_success(update(list, &argument));
    run(queue, list);
    assert_int_equal(sum[1], 27);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(add));
    assert_success(zeKernelDestroy(third));
    assert_int_equal(h->control->live_kernels(), 0);
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeMemFree(h->context, sum));
}

/* Rule 9.1. */
static void clone__of_a_mutable_list__changes_on_its_own(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer is older than the flag");
    const struct harness *h = *state;
    uint64_t *sum = harness_memory(h, 8);
    ze_kernel_handle_t add = harness_add_kernel(h, sum, 1);
    ze_event_pool_handle_t pool = harness_pool(h, 0, 2);
    ze_event_handle_t events[2] = {harness_event(pool, 0), harness_event(pool, 1)};
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_command_list_handle_t list = mutable_list(h, ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE);
    ze_command_list_handle_t copy = NULL;
    const uint64_t id = next_id(list, 0);
    uint64_t value = 50;
    const ze_mutable_kernel_argument_exp_desc_t argument =
        argument_of(id, 1, sizeof(value), &value);

    assert_success(harness_launch(list, add, NULL, 1, events));
    assert_success(zeCommandListUpdateMutableCommandWaitEventsExp(list, id, 1, &events[1]));
    assert_success(zeCommandListClose(list));
    assert_success(zeCommandListCreateCloneExp(list, &copy));
    assert_success(update(copy, &argument));
    assert_success(zeEventHostSignal(events[1]));
    assert_success(zeEventDestroy(events[1]));
    assert_success(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    assert_int_equal(*sum, 1);
    assert_success(zeCommandListDestroy(list));
    run(queue, copy);
    assert_int_equal(*sum, 51);
    assert_success(zeCommandListDestroy(copy));
    assert_success(zeEventDestroy(events[0]));
    assert_success(zeEventPoolDestroy(pool));
    assert_success(zeKernelDestroy(add));
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeMemFree(h->context, sum));
}

SUITE(mutable)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(properties__of_the_device__say_what_can_be_changed),
        cmocka_unit_test(launch__arguments_and_counts__can_be_changed),
        cmocka_unit_test(chain__with_one_bad_node__changes_nothing),
        cmocka_unit_test(update__what_was_not_asked_for__is_refused),
        cmocka_unit_test(events__of_a_command__can_be_changed_and_removed),
        cmocka_unit_test(kernel__of_a_launch__can_become_another_of_those_named),
        cmocka_unit_test(clone__of_a_mutable_list__changes_on_its_own),
    };

    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
