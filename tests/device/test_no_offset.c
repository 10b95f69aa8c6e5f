/* A device whose launches have no global offset. */
#include "harness.h"
#include "tests/support/suite.h"

/* Rule 6.32. */
static void extensions__without_offsets__do_not_list_them(void **state)
{
    const struct harness *h = *state;
    ze_driver_extension_properties_t list[64];
    uint32_t all = 0;
    uint32_t count = 64;

    assert_success(zeDriverGetExtensionProperties(h->driver, &all, NULL));
    assert_success(zeDriverGetExtensionProperties(h->driver, &count, list));
    assert_int_equal(count, all);
    for (uint32_t i = 0; i < count; i++) {
        assert_string_not_equal(list[i].name, ZE_GLOBAL_OFFSET_EXP_NAME);
        assert_int_not_equal(list[i].version, 0);
    }
}

/* Rule 6.32. */
static void set_offset__other_than_0__unsupported(void **state)
{
    const struct harness *h = *state;
    ze_kernel_handle_t kernel = harness_kernel(h, "add");

    assert_success(zeKernelSetGlobalOffsetExp(kernel, 0, 0, 0));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, zeKernelSetGlobalOffsetExp(kernel, 0, 0, 1));
    assert_non_null(strstr(harness_sentence(h), "have no global offset"));
    assert_success(zeKernelDestroy(kernel));
}

/* Rule 6.32. */
static void mutable_list__offset__is_no_change_that_can_be_made(void **state)
{
    const struct harness *h = *state;
    ze_mutable_command_list_exp_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_PROPERTIES};
    ze_device_properties_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES,
                                     .pNext = &properties};
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

    assert_success(zeDeviceGetProperties(h->device, &device));
    assert_int_equal(properties.mutableCommandFlags & ZE_MUTABLE_COMMAND_EXP_FLAG_GLOBAL_OFFSET, 0);
    assert_int_not_equal(properties.mutableCommandFlags, 0);
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
        cmocka_unit_test(extensions__without_offsets__do_not_list_them),
        cmocka_unit_test(set_offset__other_than_0__unsupported),
        cmocka_unit_test(mutable_list__offset__is_no_change_that_can_be_made),
    };

    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
