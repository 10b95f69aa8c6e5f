/* A device with kernels whose launches have no global offset. */
#include "harness.h"
#include "tests/support/suite.h"

/* Rule 6.32. */
static void set_offset__other_than_0__unsupported(void **state)
{
    const struct harness *h = *state;
    ze_kernel_handle_t kernel = harness_kernel(h, "add");

    assert_success(zeKernelSetGlobalOffsetExp(kernel, 0, 0, 0));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, zeKernelSetGlobalOffsetExp(kernel, 0, 0, 1));
    assert_non_null(strstr(harness_sentence(h),
                           "launches of kernel add on device fake0 have no global offset"));
    assert_success(zeKernelDestroy(kernel));
}

/* Rule 6.32. */
static void mutable_list__offset_of_such_a_kernel__unsupported(void **state)
{
    const struct harness *h = *state;
    const ze_mutable_command_list_exp_desc_t mutable = {
        .stype = ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_DESC};
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
                                         .pNext = &mutable};
    const ze_mutable_command_id_exp_desc_t wanted = {
        .stype = ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_ID_EXP_DESC};
    ze_mutable_global_offset_exp_desc_t offset = {
        .stype = ZE_STRUCTURE_TYPE_MUTABLE_GLOBAL_OFFSET_EXP_DESC, .offsetY = 2};
    const ze_mutable_commands_exp_desc_t change = {
        .stype = ZE_STRUCTURE_TYPE_MUTABLE_COMMANDS_EXP_DESC, .pNext = &offset};
    uint64_t *target = harness_memory(h, sizeof(*target));
    ze_kernel_handle_t add = harness_add_kernel(h, target, 1);
    ze_command_list_handle_t list = NULL;

    assert_success(zeCommandListCreate(h->context, h->device, &desc, &list));
    assert_success(zeCommandListGetNextCommandIdExp(list, &wanted, &offset.commandId));
    assert_success(harness_launch(list, add, NULL, 0, NULL));
    assert_success(zeCommandListClose(list));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  zeCommandListUpdateMutableCommandsExp(list, &change));
    offset.offsetY = 0;
    assert_success(zeCommandListUpdateMutableCommandsExp(list, &change));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(add));
    assert_success(zeMemFree(h->context, target));
}

SUITE(no_offset)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_offset__other_than_0__unsupported),
        cmocka_unit_test(mutable_list__offset_of_such_a_kernel__unsupported),
    };

    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
