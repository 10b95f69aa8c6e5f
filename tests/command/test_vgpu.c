/* The virtual GPU through the public API: real kernels, real faults, one clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <level_zero/ze_api.h>

#include "tests/harness/mode.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define assert_success(call) assert_int_equal((call), ZE_RESULT_SUCCESS)

struct fixture {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_module_handle_t module;
    ze_event_pool_handle_t pool;
    uint8_t *image;
    size_t image_bytes;
};

static void read_image(struct fixture *f)
{
    FILE *file = fopen(TEST_KERNELS, "rb");

    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    f->image_bytes = (size_t)ftell(file);
    rewind(file);
    f->image = malloc(f->image_bytes);
    assert_int_equal(fread(f->image, 1, f->image_bytes, file), f->image_bytes);
    (void)fclose(file);
}

static int setup(void **state)
{
    static struct fixture f;
    const ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_event_pool_desc_t pool = {.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE |
                                                ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
                                       .count = 16};
    ze_module_desc_t module = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                               .format = ZE_MODULE_FORMAT_NATIVE};
    uint32_t count = 1;

    read_image(&f);
    module.inputSize = f.image_bytes;
    module.pInputModule = f.image;
    assert_success(zeInit(ZE_INIT_FLAG_GPU_ONLY));
    assert_success(zeDriverGet(&count, &f.driver));
    count = 1;
    assert_success(zeDeviceGet(f.driver, &count, &f.device));
    assert_int_equal(count, 1);
    assert_success(zeContextCreate(f.driver, &context, &f.context));
    assert_success(zeModuleCreate(f.context, f.device, &module, &f.module, NULL));
    assert_success(zeEventPoolCreate(f.context, &pool, 0, NULL, &f.pool));
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    assert_success(zeEventPoolDestroy(f->pool));
    assert_success(zeModuleDestroy(f->module));
    assert_success(zeContextDestroy(f->context));
    free(f->image);
    return 0;
}

static ze_kernel_handle_t create_kernel(const struct fixture *f, const char *name)
{
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_kernel_handle_t kernel = NULL;

    assert_success(zeKernelCreate(f->module, &desc, &kernel));
    return kernel;
}

static ze_event_handle_t create_event(const struct fixture *f, uint32_t index)
{
    const ze_event_desc_t desc = {.index = index, .signal = ZE_EVENT_SCOPE_FLAG_HOST};
    ze_event_handle_t event = NULL;

    assert_success(zeEventCreate(f->pool, &desc, &event));
    return event;
}

static ze_command_list_handle_t create_list(const struct fixture *f, ze_command_queue_mode_t mode)
{
    const ze_command_queue_desc_t desc = {.mode = mode};
    ze_command_list_handle_t list = NULL;

    assert_success(zeCommandListCreateImmediate(f->context, f->device, &desc, &list));
    return list;
}

static void *allocate(const struct fixture *f, size_t bytes)
{
    const ze_device_mem_alloc_desc_t device = {.ordinal = 0};
    const ze_host_mem_alloc_desc_t host = {.flags = 0};
    void *memory = NULL;

    assert_success(zeMemAllocShared(f->context, &device, &host, bytes, 64, f->device, &memory));
    memset(memory, 0, bytes);
    return memory;
}

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

/* Rule 7.18. */
static void native_binary__of_a_module__makes_the_same_module(void **state)
{
    const struct fixture *f = *state;
    ze_module_desc_t desc = {.format = ZE_MODULE_FORMAT_NATIVE};
    ze_module_handle_t module = NULL;
    uint32_t names = 0;
    size_t size = 0;

    assert_success(zeModuleGetNativeBinary(f->module, &size, NULL));
    uint8_t *copy = malloc(size);
    assert_success(zeModuleGetNativeBinary(f->module, &size, copy));
    assert_memory_equal(copy, "\177ELF", 4);
    desc.inputSize = size;
    desc.pInputModule = copy;
    assert_success(zeModuleCreate(f->context, f->device, &desc, &module, NULL));
    assert_success(zeModuleGetKernelNames(module, &names, NULL));
    assert_int_equal(names, 8);
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
    ze_kernel_handle_t kernel = create_kernel(f, "matrix");
    ze_command_list_handle_t list = create_list(f, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_event_handle_t event = create_event(f, 0);
    float *matrices[3];
    uint32_t x = 0;
    uint32_t y = 0;
    uint32_t z = 0;

    for (int m = 0; m < 3; m++)
        matrices[m] = allocate(f, SIZE * SIZE * sizeof(float));
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
    ze_kernel_handle_t kernel = create_kernel(f, "reverse");
    ze_command_list_handle_t list = create_list(f, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    uint32_t *numbers = allocate(f, 64 * sizeof(*numbers));
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

static void global_offset__of_a_launch__moves_the_ids(void **state)
{
    const struct fixture *f = *state;
    ze_kernel_handle_t kernel = create_kernel(f, "ids");
    ze_command_list_handle_t list = create_list(f, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    uint32_t *target = allocate(f, 32 * sizeof(*target));
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

/* Rule 7.5. */
static void clocks__of_device_event_and_command__are_one(void **state)
{
    const struct fixture *f = *state;
    ze_kernel_handle_t kernel = create_kernel(f, "ids");
    ze_command_list_handle_t list = create_list(f, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_event_handle_t event = create_event(f, 0);
    ze_event_handle_t barrier = create_event(f, 1);
    uint32_t *target = allocate(f, 64);
    uint64_t *written = allocate(f, 8);
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
    assert_cmp(*written, <=, mask);
    assert_success(zeEventQueryKernelTimestamp(barrier, &times));
    assert_int_not_equal(times.global.kernelStart, times.global.kernelEnd);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeEventDestroy(event));
    assert_success(zeEventDestroy(barrier));
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeMemFree(f->context, target));
    assert_success(zeMemFree(f->context, written));
}

/* Rules 7.16, 7.17. */
static void wild_store__in_a_kernel__is_a_fault_with_a_way_back(void **state)
{
    const struct fixture *f = *state;
    ze_kernel_handle_t wild = create_kernel(f, "wild");
    ze_kernel_handle_t ids = create_kernel(f, "ids");
    ze_command_list_handle_t list = create_list(f, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_event_handle_t event = create_event(f, 0);
    uint32_t *target = allocate(f, 64);
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
    list = create_list(f, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
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
    struct wild w = {.kernel = create_kernel(f, "ids"),
                     .event = create_event(f, 0),
                     .good = allocate(f, 256),
                     .address = (void *)0x10};
    void *target = w.good;
    const char *sentence = "";

    assert_success(zeKernelSetGroupSize(w.kernel, 4, 1, 1));
    assert_success(zeKernelSetArgumentValue(w.kernel, 0, sizeof(target), &target));
    assert_success(zeEventHostSignal(w.event));
    for (size_t i = 0; i < sizeof(appends) / sizeof(appends[0]); i++) {
        w.list = create_list(f, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
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
    ze_kernel_handle_t ids = create_kernel(f, "ids");
    ze_command_list_handle_t list = create_list(f, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    const ze_group_count_t groups = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    uint32_t *target = allocate(f, 64);
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

/* Every group waits for all others, so this ends only if all of them run at the same time.
 * Rule 7.22. */
static void cooperative__as_many_groups_as_suggested__run_at_the_same_time(void **state)
{
    const struct fixture *f = *state;
    ze_kernel_handle_t meet = create_kernel(f, "meet");
    ze_command_list_handle_t list = create_list(f, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    const uint32_t size = 64;
    uint32_t *arrived = allocate(f, 64);
    uint32_t most = 0;

    assert_success(zeKernelSetGroupSize(meet, size, 1, 1));
    assert_success(zeKernelSuggestMaxCooperativeGroupCount(meet, &most));
    assert_int_equal(most, 4 * 512 / size);
    uint32_t *seen = allocate(f, (size_t)most * size * sizeof(*seen));
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

/* Rule 7.22. */
static void cooperative__too_many_groups_or_another_group__is_refused(void **state)
{
    const struct fixture *f = *state;
    ze_command_list_append_launch_kernel_param_cooperative_desc_t parameter = {
        .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_APPEND_PARAM_COOPERATIVE_DESC, .isCooperative = 1};
    const ze_command_queue_desc_t copies = {.ordinal = 1};
    ze_kernel_handle_t reverse = create_kernel(f, "reverse");
    ze_command_list_handle_t list = create_list(f, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_command_list_handle_t copy_list = NULL;
    ze_group_count_t groups = {1, 1, 1};
    uint32_t *target = allocate(f, 4096);
    const char *sentence = "";
    uint32_t most = 0;

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
    unsigned char *pattern = allocate(f, bytes);

    /* A target has to be aligned to the pattern, and every allocation is to the longest. */
    unsigned char *target = allocate(f, bytes);
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
    ze_command_list_handle_t list = create_list(f, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_kernel_handle_t add = create_kernel(f, "add");
    ze_kernel_handle_t kernels[3];
    uint64_t *sums = allocate(f, 3 * sizeof(*sums));
    uint64_t *run = allocate(f, sizeof(*run));
    ze_group_count_t *counts = allocate(f, 3 * sizeof(*counts));
    const ze_group_count_t one = {1, 1, 1};
    const uint64_t two = 2;

    for (uint32_t i = 0; i < 3; i++) {
        uint64_t *sum = &sums[i];
        const uint64_t value = 1;

        kernels[i] = create_kernel(f, "add");
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
    ze_kernel_handle_t await = create_kernel(f, "await");
    ze_kernel_handle_t ids = create_kernel(f, "ids");
    const ze_group_count_t one = {1, 1, 1};
    uint64_t *seen = allocate(f, sizeof(*seen));
    uint32_t *target = allocate(f, 64);
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

SUITE(vgpu)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(properties__of_the_device__are_what_clients_need),
        cmocka_unit_test(native_binary__of_a_module__makes_the_same_module),
        cmocka_unit_test(matrix__odd_size__is_the_product),
        cmocka_unit_test(local_memory__and_barrier__turn_groups_around),
        cmocka_unit_test(global_offset__of_a_launch__moves_the_ids),
        cmocka_unit_test(clocks__of_device_event_and_command__are_one),
        cmocka_unit_test(wild_store__in_a_kernel__is_a_fault_with_a_way_back),
        cmocka_unit_test(command__at_a_wild_address__is_a_fault_with_a_way_back),
        cmocka_unit_test(launch__of_more_groups_than_can_be_counted__says_so),
        cmocka_unit_test(cooperative__as_many_groups_as_suggested__run_at_the_same_time),
        cmocka_unit_test(cooperative__too_many_groups_or_another_group__is_refused),
        cmocka_unit_test(copy_queue__fills_and_copies__are_exact),
        cmocka_unit_test(launches__count_made_by_a_kernel__run_that_many),
        cmocka_unit_test(counter__device_address__is_seen_by_a_kernel),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
