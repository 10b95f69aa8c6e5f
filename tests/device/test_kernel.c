/* Kernels: names, properties, arguments, group sizes. */
#include <zeta/zeta.h>

#include "harness.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/* Rule 3.9. */
static void name__asked_for_its_size_first__is_terminated(void **state)
{
    const struct harness *h = *state;
    ze_kernel_handle_t kernel = harness_kernel(h, "refuse");
    char name[16];
    size_t size = 0;

    assert_success(zeKernelGetName(kernel, &size, NULL));
    assert_int_equal(size, 7);
    memset(name, 'x', sizeof(name));
    assert_success(zeKernelGetName(kernel, &size, name));
    assert_string_equal(name, "refuse");
    size = 6;
    assert_result(ZE_RESULT_ERROR_INVALID_SIZE, zeKernelGetName(kernel, &size, name));
    assert_int_equal(size, 7);
    assert_success(zeKernelDestroy(kernel));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zeKernelGetName(kernel, &size, name));
}

static void attributes__of_the_source__are_copied(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer wants the buffer also when the size is asked for");
    const struct harness *h = *state;
    ze_kernel_handle_t kernel = harness_kernel(h, "add");
    char text[32];
    char *buffer = text;
    uint32_t size = 0;

    assert_success(zeKernelGetSourceAttributes(kernel, &size, NULL));
    assert_int_equal(size, sizeof("fake(1) steered"));
    assert_success(zeKernelGetSourceAttributes(kernel, &size, &buffer));
    assert_string_equal(text, "fake(1) steered");
    size = 3;
    assert_result(ZE_RESULT_ERROR_INVALID_SIZE,
                  zeKernelGetSourceAttributes(kernel, &size, &buffer));
    assert_success(zeKernelDestroy(kernel));
}

static void properties__with_garbage_or_a_chain__are_filled(void **state)
{
    const struct harness *h = *state;
    ze_kernel_handle_t kernel = harness_kernel(h, "size");
    ze_kernel_max_group_size_properties_ext_t most = {
        .stype = ZE_STRUCTURE_TYPE_KERNEL_MAX_GROUP_SIZE_EXT_PROPERTIES};
    ze_kernel_preferred_group_size_properties_t preferred = {
        .stype = ZE_STRUCTURE_TYPE_KERNEL_PREFERRED_GROUP_SIZE_PROPERTIES, .pNext = &most};
    ze_kernel_properties_t p = {.stype = 0, .pNext = &preferred};

    assert_success(zeKernelGetProperties(kernel, &p));
    assert_int_equal(p.numKernelArgs, 2);
    assert_int_equal(p.requiredGroupSizeX, 8);
    assert_int_equal(p.requiredGroupSizeY, 0);
    assert_cmp(p.maxSubgroupSize, >=, 1);
    assert_int_equal(p.privateMemSize, 64);
    assert_int_equal(preferred.preferredMultiple, 1);
    assert_int_equal(most.maxGroupSize, 128);
    p.pNext = (void *)(uintptr_t)0x1;
    assert_success(zeKernelGetProperties(kernel, &p));
    assert_success(zeKernelDestroy(kernel));
}

/* A backend that cannot tell which registers are free. Rule 6.31. */
static void profile__of_a_backend_without_one__has_no_tokens(void **state)
{
    const struct harness *h = *state;
    static const char image[] = "FAKE add hold";
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = ZE_MODULE_FORMAT_NATIVE,
                                   .inputSize = sizeof(image) - 1,
                                   .pInputModule = (const uint8_t *)image,
                                   .pBuildFlags = "-zet-profile-flags 2"};
    const ze_kernel_desc_t wanted = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "add"};
    struct {
        zet_profile_properties_t properties;
        uint32_t room[64];
    } p = {.properties = {.stype = ZET_STRUCTURE_TYPE_PROFILE_PROPERTIES, .numTokens = 9}};
    struct zeta_profile_room room = {.stype = ZETA_STRUCTURE_TYPE_PROFILE_ROOM,
                                     .size_bytes = sizeof(p.room)};
    ze_module_handle_t module = NULL;
    ze_kernel_handle_t kernel = NULL;

    p.properties.pNext = &room;
    assert_success(zeModuleCreate(h->context, h->device, &desc, &module, NULL));
    assert_success(zeKernelCreate(module, &wanted, &kernel));
    assert_success(zetKernelGetProfileInfo(kernel, &p.properties));
    assert_int_equal(p.properties.flags, ZET_PROFILE_FLAG_FREE_REGISTER_INFO);
    assert_int_equal(p.properties.numTokens, 0);
    assert_int_equal(room.size_bytes, 0);
    assert_int_equal(p.room[0], 0);
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zetKernelGetProfileInfo(kernel, NULL));
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeModuleDestroy(module));
}

/* Rule 6.33. */
static void argument__local_memory_that_is_optional__need_not_be_set(void **state)
{
    const struct harness *h = *state;
    static const char image[] = "FAKE spare";
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = ZE_MODULE_FORMAT_NATIVE,
                                   .inputSize = sizeof(image) - 1,
                                   .pInputModule = (const uint8_t *)image};
    const ze_kernel_desc_t wanted = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                     .pKernelName = "spare"};
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_kernel_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
    const ze_group_count_t one = {1, 1, 1};
    const ze_group_size_t size = {1, 1, 1};
    ze_module_handle_t module = NULL;
    ze_kernel_handle_t kernel = NULL;
    uint64_t *target = harness_memory(h, sizeof(*target));
    void *arguments[] = {&target}; /* one for each that the source declares */

    *target = 1;
    assert_success(zeModuleCreate(h->context, h->device, &desc, &module, NULL));
    assert_success(zeKernelCreate(module, &wanted, &kernel));
    assert_success(zeKernelGetProperties(kernel, &properties));
    assert_int_equal(properties.numKernelArgs, 2);
    assert_success(zeKernelSetGroupSize(kernel, 1, 1, 1));
    assert_success(zeKernelSetArgumentValue(kernel, 0, sizeof(target), &target));
    assert_success(harness_launch(list, kernel, NULL, 0, NULL));
    assert_int_equal(*target, 0);
    assert_success(zeKernelSetArgumentValue(kernel, 1, 96, NULL));
    assert_success(harness_launch(list, kernel, NULL, 0, NULL));
    assert_int_equal(*target, 96);
    *target = 1;
    assert_success(zeCommandListAppendLaunchKernelWithArguments(list, kernel, one, size, arguments,
                                                                NULL, NULL, 0, NULL));
    assert_int_equal(*target, 96);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeModuleDestroy(module));
    assert_success(zeMemFree(h->context, target));
}

/* Rule 6.23. */
static void arguments__of_unknown_kind__are_values_and_addresses(void **state)
{
    const struct harness *h = *state;
    static const char image[] = "FAKE any";
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = ZE_MODULE_FORMAT_NATIVE,
                                   .inputSize = sizeof(image) - 1,
                                   .pInputModule = (const uint8_t *)image};
    const ze_kernel_desc_t wanted = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "any"};
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_kernel_allocation_exp_properties_t found[2];
    ze_module_handle_t module = NULL;
    ze_kernel_handle_t kernel = NULL;
    uint64_t *target = harness_memory(h, 2 * sizeof(*target));
    uint64_t *second = target + 1;
    const uint32_t value = 7;
    uint32_t count = 2;

    assert_success(zeModuleCreate(h->context, h->device, &desc, &module, NULL));
    assert_success(zeKernelCreate(module, &wanted, &kernel));
    assert_success(zeKernelSetGroupSize(kernel, 1, 1, 1));
    assert_success(zeKernelSetArgumentValue(kernel, 0, sizeof(second), &second));
    /* Values may be shorter, as where they are known to be values. */
    assert_success(zeKernelSetArgumentValue(kernel, 1, sizeof(value), &value));
    assert_result(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
                  zeKernelSetArgumentValue(kernel, 1, 0, NULL));
    assert_success(zeKernelGetAllocationPropertiesExp(kernel, &count, found));
    assert_int_equal(count, 1);
    assert_int_equal(found[0].argIndex, 0);
    assert_int_equal(found[0].base, (uintptr_t)target);
    assert_success(harness_launch(list, kernel, NULL, 0, NULL));
    assert_int_equal(*second, 7);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeModuleDestroy(module));
    assert_success(zeMemFree(h->context, target));
}

static void arguments__of_every_kind__are_checked(void **state)
{
    const struct harness *h = *state;
    ze_kernel_handle_t add = harness_kernel(h, "add");
    ze_kernel_handle_t size = harness_kernel(h, "size");
    uint64_t value = 1;

    assert_result(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
                  zeKernelSetArgumentValue(add, 2, 8, &value));
    assert_result(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
                  zeKernelSetArgumentValue(add, 0, 4, &value));
    assert_result(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
                  zeKernelSetArgumentValue(add, 1, 0, &value));
    assert_success(zeKernelSetArgumentValue(add, 1, 4, &value));
    assert_success(zeKernelSetArgumentValue(add, 0, 8, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeKernelSetArgumentValue(size, 1, 8, &value));
    assert_result(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
                  zeKernelSetArgumentValue(size, 1, 0, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
                  zeKernelSetArgumentValue(size, 1, 4097, NULL));
    assert_success(zeKernelSetArgumentValue(size, 1, 4096, NULL));
    assert_success(zeKernelDestroy(add));
    assert_success(zeKernelDestroy(size));
}

static void group_size__limits__are_kept(void **state)
{
    const struct harness *h = *state;
    ze_kernel_handle_t add = harness_kernel(h, "add");
    ze_kernel_handle_t size = harness_kernel(h, "size");

    assert_success(zeKernelSetGroupSize(add, 8, 4, 4));
    assert_result(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION, zeKernelSetGroupSize(add, 8, 4, 5));
    assert_result(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION, zeKernelSetGroupSize(add, 0, 1, 1));
    assert_result(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION,
                  zeKernelSetGroupSize(add, 1, 1, 65));
    assert_result(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION,
                  zeKernelSetGroupSize(add, UINT32_MAX, UINT32_MAX, UINT32_MAX));
    assert_success(zeKernelSetGroupSize(size, 8, 2, 1));
    assert_result(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION,
                  zeKernelSetGroupSize(size, 4, 2, 1));
    assert_success(zeKernelDestroy(add));
    assert_success(zeKernelDestroy(size));
}

static bool divides(uint32_t divisor, uint32_t number)
{
    return divisor != 0 && number % divisor == 0;
}

/* Rule 7.15. */
static void suggest__any_global_size__gives_divisors_that_fit(void **state)
{
    const struct harness *h = *state;
    ze_kernel_handle_t kernel = harness_kernel(h, "add");
    ze_kernel_handle_t required = harness_kernel(h, "size");
    uint32_t x = 0;
    uint32_t y = 0;
    uint32_t z = 0;
    static const uint32_t sizes[][3] = {{1024, 1, 1},    {7, 5, 3},         {4099, 1, 1},
                                        {256, 256, 256}, {1, 1, 1},         {30, 30, 30},
                                        {1, 1, 100000},  {UINT32_MAX, 2, 2}};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        assert_success(
            zeKernelSuggestGroupSize(kernel, sizes[i][0], sizes[i][1], sizes[i][2], &x, &y, &z));
        assert_true(divides(x, sizes[i][0]));
        assert_true(divides(y, sizes[i][1]));
        assert_true(divides(z, sizes[i][2]));
        assert_success(zeKernelSetGroupSize(kernel, x, y, z));
    }
    assert_success(zeKernelSuggestGroupSize(kernel, 1024, 1, 1, &x, &y, &z));
    assert_int_equal(x, 128);
    assert_success(zeKernelSuggestGroupSize(required, 64, 1, 1, &x, &y, &z));
    assert_int_equal(x, 8);
    assert_result(ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION,
                  zeKernelSuggestGroupSize(kernel, 0, 1, 1, &x, &y, &z));
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeKernelDestroy(required));
}

static void state__flags_and_offsets__are_kept(void **state)
{
    const struct harness *h = *state;
    ze_kernel_handle_t kernel = harness_kernel(h, "add");
    ze_kernel_indirect_access_flags_t flags = 1;

    assert_success(zeKernelGetIndirectAccess(kernel, &flags));
    assert_int_equal(flags, 0);
    assert_success(zeKernelSetIndirectAccess(kernel, ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST |
                                                         ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED));
    assert_success(zeKernelGetIndirectAccess(kernel, &flags));
    assert_int_equal(flags,
                     ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST | ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED);
    assert_result(ZE_RESULT_ERROR_INVALID_ENUMERATION, zeKernelSetIndirectAccess(kernel, 0x8));
    assert_success(zeKernelSetCacheConfig(kernel, 0));
    assert_success(zeKernelSetGlobalOffsetExp(kernel, 1, 2, 3));
    assert_success(zeKernelDestroy(kernel));
}

/* Rule 6.25. */
static void preferences__that_mean_nothing_here__are_ignored(void **state)
{
    const struct harness *h = *state;
    ze_kernel_handle_t kernel = harness_kernel(h, "add");
    ze_scheduling_hint_exp_desc_t hint = {.stype = ZE_STRUCTURE_TYPE_SCHEDULING_HINT_EXP_DESC,
                                          .flags = ZE_SCHEDULING_HINT_EXP_FLAG_ROUND_ROBIN};

    assert_success(zeKernelSetCacheConfig(kernel, ZE_CACHE_CONFIG_FLAG_LARGE_SLM));
    assert_success(zeKernelSetCacheConfig(kernel, ZE_CACHE_CONFIG_FLAG_LARGE_SLM |
                                                      ZE_CACHE_CONFIG_FLAG_LARGE_DATA));
    assert_result(ZE_RESULT_ERROR_INVALID_ENUMERATION, zeKernelSetCacheConfig(kernel, 0x4));
    assert_success(zeKernelSchedulingHintExp(kernel, &hint));
    hint.flags = 0x8;
    assert_result(ZE_RESULT_ERROR_INVALID_ENUMERATION, zeKernelSchedulingHintExp(kernel, &hint));
    assert_success(zeKernelDestroy(kernel));
}

SUITE(kernel)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(name__asked_for_its_size_first__is_terminated),
        cmocka_unit_test(preferences__that_mean_nothing_here__are_ignored),
        cmocka_unit_test(attributes__of_the_source__are_copied),
        cmocka_unit_test(properties__with_garbage_or_a_chain__are_filled),
        cmocka_unit_test(profile__of_a_backend_without_one__has_no_tokens),
        cmocka_unit_test(argument__local_memory_that_is_optional__need_not_be_set),
        cmocka_unit_test(arguments__of_unknown_kind__are_values_and_addresses),
        cmocka_unit_test(arguments__of_every_kind__are_checked),
        cmocka_unit_test(group_size__limits__are_kept),
        cmocka_unit_test(suggest__any_global_size__gives_divisors_that_fit),
        cmocka_unit_test(state__flags_and_offsets__are_kept),
    };

    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
