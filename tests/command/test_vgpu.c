/* The virtual GPU through the public API: what it is, and faults with a way back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static void properties__of_the_device__are_what_clients_need(void **state)
{
    const struct fixture *f = *state;
    ze_device_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
    ze_device_compute_properties_t compute = {.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES};
    ze_pci_ext_properties_t pci = {.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES};
    ze_memory_allocation_properties_t memory = {0};
    ze_device_handle_t owner = f->device;
    uint32_t tiles = 0;

    assert_success(zeDeviceGetProperties(f->device, &p));
    assert_int_equal(p.type, ZE_DEVICE_TYPE_GPU);
    assert_cmp(p.vendorId, >, 0xffff);
    assert_int_equal(p.timerResolution, 25000000);
    assert_cmp(p.kernelTimestampValidBits, >, 0);
    assert_cmp(p.kernelTimestampValidBits, <=, 34);
    assert_cmp(p.numSlices * p.numSubslicesPerSlice * p.numEUsPerSubslice, >, 0);
    p.stype = 0;
    assert_success(zeDeviceGetProperties(f->device, &p));
    assert_int_equal(p.timerResolution, 40);
    assert_success(zeDeviceGetComputeProperties(f->device, &compute));
    assert_cmp(compute.maxTotalGroupSize, >=, 256);
    assert_cmp(compute.numSubGroupSizes, >, 0);
    assert_success(zeDevicePciGetPropertiesExt(f->device, &pci));
    assert_success(zeDeviceGetSubDevices(f->device, &tiles, NULL));
    assert_int_equal(tiles, 0);
    assert_success(zeMemGetAllocProperties(f->context, &memory, &memory, &owner));
    assert_int_equal(memory.type, ZE_MEMORY_TYPE_UNKNOWN);
    assert_null(owner);
}

static void global_offset__of_a_launch__moves_the_ids(void **state)
{
    const struct fixture *f = *state;
    ze_kernel_handle_t kernel = fixture_kernel(f, "ids");
    ze_command_list_handle_t list = fixture_list(f, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    uint32_t *target = fixture_memory(f, 32 * sizeof(*target));
    const ze_group_count_t groups = {2, 1, 1};

    assert_success(zeKernelSetGroupSize(kernel, 4, 1, 1));
    assert_success(zeKernelSetArgumentValue(kernel, 0, sizeof(target), &target));
    assert_success(zeKernelSetGlobalOffsetExp(kernel, 10, 0, 0));
    assert_success(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(target[i], i >= 10 && i < 18 ? i : 0);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeMemFree(f->context, target));
}

/* Rules 7.16, 7.17. */
static void wild_store__in_a_kernel__is_a_fault_with_a_way_back(void **state)
{
    const struct fixture *f = *state;
    ze_kernel_handle_t wild = fixture_kernel(f, "wild");
    ze_kernel_handle_t ids = fixture_kernel(f, "ids");
    ze_command_list_handle_t list = fixture_list(f, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_event_handle_t event = fixture_event(f, 0);
    uint32_t *target = fixture_memory(f, 64);
    const ze_group_count_t groups = {1, 1, 1};
    const char *sentence = "";

    assert_success(zeCommandListAppendLaunchKernel(list, wild, &groups, event, 0, NULL));
    assert_int_equal(zeCommandListHostSynchronize(list, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    assert_success(zeDriverGetLastErrorDescription(f->driver, &sentence));
    assert_non_null(strstr(sentence, "0x10"));
    assert_int_equal(zeEventHostSynchronize(event, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    assert_int_equal(zeDeviceGetStatus(f->device), ZE_RESULT_ERROR_DEVICE_LOST);
    assert_success(zeDriverGetLastErrorDescription(f->driver, &sentence));
    assert_non_null(strstr(sentence, "0x10"));
    assert_success(zeCommandListDestroy(list));

    assert_success(zeDeviceGetStatus(f->device));
    list = fixture_list(f, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    assert_success(zeKernelSetGroupSize(ids, 4, 1, 1));
    assert_success(zeKernelSetArgumentValue(ids, 0, sizeof(target), &target));
    assert_success(zeCommandListAppendLaunchKernel(list, ids, &groups, NULL, 0, NULL));
    assert_int_equal(target[3], 3);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeEventDestroy(event));
    assert_success(zeKernelDestroy(wild));
    assert_success(zeKernelDestroy(ids));
    assert_success(zeMemFree(f->context, target));
}

/* What a command at a wild address needs, and the address. */
struct wild {
    ze_command_list_handle_t list;
    ze_kernel_handle_t kernel;
    ze_event_handle_t event; /* signalled, with times */
    uint64_t *good;
    void *address;
};

static ze_result_t append_wild_copy(struct wild *w)
{
    return zeCommandListAppendMemoryCopy(w->list, w->address, w->good, 8, NULL, 0, NULL);
}

static ze_result_t append_wild_fill(struct wild *w)
{
    return zeCommandListAppendMemoryFill(w->list, w->address, "x", 1, 64, NULL, 0, NULL);
}

static ze_result_t append_wild_timestamp(struct wild *w)
{
    return zeCommandListAppendWriteGlobalTimestamp(w->list, w->address, NULL, 0, NULL);
}

static ze_result_t append_wild_times(struct wild *w)
{
    return zeCommandListAppendQueryKernelTimestamps(w->list, 1, &w->event, w->address, NULL, NULL,
                                                    0, NULL);
}

static ze_result_t append_wild_offsets(struct wild *w)
{
    return zeCommandListAppendQueryKernelTimestamps(w->list, 1, &w->event, w->good, w->address,
                                                    NULL, 0, NULL);
}

static ze_result_t append_times_at_wild_offset(struct wild *w)
{
    *w->good = (uintptr_t)w->address - (uintptr_t)w->good;
    return zeCommandListAppendQueryKernelTimestamps(w->list, 1, &w->event, w->good, w->good, NULL,
                                                    0, NULL);
}

static ze_result_t append_wild_indirect(struct wild *w)
{
    return zeCommandListAppendLaunchKernelIndirect(w->list, w->kernel, w->address, NULL, 0, NULL);
}

static ze_result_t append_wild_count(struct wild *w)
{
    return zeCommandListAppendLaunchMultipleKernelsIndirect(
        w->list, 1, &w->kernel, w->address, (ze_group_count_t *)w->good, NULL, 0, NULL);
}

static ze_result_t append_wild_counts(struct wild *w)
{
    *w->good = 1;
    return zeCommandListAppendLaunchMultipleKernelsIndirect(
        w->list, 1, &w->kernel, (uint32_t *)w->good, w->address, NULL, 0, NULL);
}

/* Rule 7.16. */
static void command__at_a_wild_address__is_a_fault_with_a_way_back(void **state)
{
    static ze_result_t (*const appends[])(struct wild *) = {
        append_wild_copy,     append_wild_fill,    append_wild_timestamp,
        append_wild_times,    append_wild_offsets, append_times_at_wild_offset,
        append_wild_indirect, append_wild_count,   append_wild_counts,
    };
    const struct fixture *f = *state;
    struct wild w = {.kernel = fixture_kernel(f, "ids"),
                     .event = fixture_event(f, 0),
                     .good = fixture_memory(f, 256),
                     .address = (void *)0x10};
    void *target = w.good;
    const char *sentence = "";

    assert_success(zeKernelSetGroupSize(w.kernel, 4, 1, 1));
    assert_success(zeKernelSetArgumentValue(w.kernel, 0, sizeof(target), &target));
    assert_success(zeEventHostSignal(w.event));
    for (size_t i = 0; i < sizeof(appends) / sizeof(appends[0]); i++) {
        w.list = fixture_list(f, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
        assert_success(appends[i](&w));
        assert_int_equal(zeCommandListHostSynchronize(w.list, UINT64_MAX),
                         ZE_RESULT_ERROR_DEVICE_LOST);
        assert_success(zeDriverGetLastErrorDescription(f->driver, &sentence));
        assert_non_null(strstr(sentence, "0x10"));
        assert_int_equal(zeDeviceGetStatus(f->device), ZE_RESULT_ERROR_DEVICE_LOST);
        assert_success(zeCommandListDestroy(w.list));
        assert_success(zeDeviceGetStatus(f->device));
    }
    assert_success(zeEventDestroy(w.event));
    assert_success(zeKernelDestroy(w.kernel));
    assert_success(zeMemFree(f->context, w.good));
}

static void launch__of_more_groups_than_can_be_counted__says_so(void **state)
{
    const struct fixture *f = *state;
    ze_kernel_handle_t ids = fixture_kernel(f, "ids");
    ze_command_list_handle_t list = fixture_list(f, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    const ze_group_count_t groups = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    uint32_t *target = fixture_memory(f, 64);
    const char *sentence = "";

    assert_success(zeKernelSetGroupSize(ids, 4, 1, 1));
    assert_success(zeKernelSetArgumentValue(ids, 0, sizeof(target), &target));
    assert_success(zeCommandListAppendLaunchKernel(list, ids, &groups, NULL, 0, NULL));
    assert_int_not_equal(zeCommandListHostSynchronize(list, UINT64_MAX), ZE_RESULT_SUCCESS);
    assert_success(zeDriverGetLastErrorDescription(f->driver, &sentence));
    assert_non_null(strstr(sentence, "group"));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeDeviceGetStatus(f->device));
    assert_success(zeKernelDestroy(ids));
    assert_success(zeMemFree(f->context, target));
}

/* Rule 7.22. */
static void cooperative__too_many_groups_or_another_group__is_refused(void **state)
{
    const struct fixture *f = *state;
    ze_command_list_append_launch_kernel_param_cooperative_desc_t parameter = {
        .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_APPEND_PARAM_COOPERATIVE_DESC, .isCooperative = 1};
    const ze_command_queue_desc_t copies = {.ordinal = 1};
    ze_kernel_handle_t reverse = fixture_kernel(f, "reverse");
    ze_command_list_handle_t list = fixture_list(f, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_command_list_handle_t copy_list = NULL;
    ze_group_count_t groups = {1, 1, 1};
    uint32_t *target = fixture_memory(f, 4096);
    const char *sentence = "";
    uint32_t most = 0;

    /* Threads decide: 512 on each of 4 subslices. */
    assert_success(zeKernelSetGroupSize(reverse, 64, 1, 1));
    assert_success(zeKernelSetArgumentValue(reverse, 1, 16, NULL));
    assert_success(zeKernelSuggestMaxCooperativeGroupCount(reverse, &most));
    assert_int_equal(most, 4 * 512 / 64);
    /* Local memory decides: 64 KiB of a subslice hold five groups of 12 KiB, with 4 subslices. */
    assert_success(zeKernelSetGroupSize(reverse, 16, 1, 1));
    assert_success(zeKernelSetArgumentValue(reverse, 0, sizeof(target), &target));
    assert_success(zeKernelSetArgumentValue(reverse, 1, 12 * 1024, NULL));
    assert_success(zeKernelSuggestMaxCooperativeGroupCount(reverse, &most));
    assert_int_equal(most, 20);
    /* What is not a multiple of what the device hands out takes more. */
    assert_success(zeKernelSetArgumentValue(reverse, 1, 13 * 1024 + 1, NULL));
    assert_success(zeKernelSuggestMaxCooperativeGroupCount(reverse, &most));
    assert_int_equal(most, 16);
    groups.groupCountX = most + 1;
    assert_int_equal(
        zeCommandListAppendLaunchCooperativeKernel(list, reverse, &groups, NULL, 0, NULL),
        ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_success(zeDriverGetLastErrorDescription(f->driver, &sentence));
    assert_non_null(strstr(sentence, "at most 16"));
    assert_int_equal(zeCommandListAppendLaunchKernelWithParameters(list, reverse, &groups,
                                                                   &parameter, NULL, 0, NULL),
                     ZE_RESULT_ERROR_INVALID_ARGUMENT);
    groups.groupCountX = most;
    assert_success(zeCommandListAppendLaunchKernelWithParameters(list, reverse, &groups, &parameter,
                                                                 NULL, 0, NULL));
    groups.groupCountX = 1;
    assert_success(zeCommandListCreateImmediate(f->context, f->device, &copies, &copy_list));
    assert_int_equal(
        zeCommandListAppendLaunchCooperativeKernel(copy_list, reverse, &groups, NULL, 0, NULL),
        ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
    assert_int_equal(zeCommandListAppendLaunchKernel(copy_list, reverse, &groups, NULL, 0, NULL),
                     ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
    assert_success(zeCommandListDestroy(copy_list));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(reverse));
    assert_success(zeMemFree(f->context, target));
}

SUITE(vgpu)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(properties__of_the_device__are_what_clients_need),
        cmocka_unit_test(global_offset__of_a_launch__moves_the_ids),
        cmocka_unit_test(wild_store__in_a_kernel__is_a_fault_with_a_way_back),
        cmocka_unit_test(command__at_a_wild_address__is_a_fault_with_a_way_back),
        cmocka_unit_test(launch__of_more_groups_than_can_be_counted__says_so),
        cmocka_unit_test(cooperative__too_many_groups_or_another_group__is_refused),
    };

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
