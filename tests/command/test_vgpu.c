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
    assert_true(p.vendorId > 0xffff);
    assert_int_equal(p.timerResolution, 25000000);
    assert_true(p.kernelTimestampValidBits > 0 && p.kernelTimestampValidBits <= 34);
    assert_true(p.numSlices * p.numSubslicesPerSlice * p.numEUsPerSubslice > 0);
    p.stype = 0;
    assert_success(zeDeviceGetProperties(f->device, &p));
    assert_int_equal(p.timerResolution, 40);
    assert_success(zeDeviceGetComputeProperties(f->device, &compute));
    assert_true(compute.maxTotalGroupSize >= 256);
    assert_true(compute.numSubGroupSizes > 0);
    assert_success(zeDevicePciGetPropertiesExt(f->device, &pci));
    assert_success(zeDeviceGetSubDevices(f->device, &tiles, NULL));
    assert_int_equal(tiles, 0);
    assert_success(zeMemGetAllocProperties(f->context, &memory, &memory, &owner));
    assert_int_equal(memory.type, ZE_MEMORY_TYPE_UNKNOWN);
    assert_null(owner);
}

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
    assert_int_equal(names, 4);
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
            assert_true(matrices[2][row * SIZE + column] == sum);
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
    assert_true(whole > 0 && host_ns[1] > host_ns[0]);
    assert_success(zeEventQueryKernelTimestamp(event, &times));
    assert_true(((times.global.kernelStart - ticks[0]) & mask) <= whole);
    assert_true(((times.global.kernelEnd - ticks[0]) & mask) <= whole);
    assert_int_not_equal(times.global.kernelStart, times.global.kernelEnd);
    assert_true(((*written - ticks[0]) & mask) <= whole);
    assert_success(zeEventQueryKernelTimestamp(barrier, &times));
    assert_int_not_equal(times.global.kernelStart, times.global.kernelEnd);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeEventDestroy(event));
    assert_success(zeEventDestroy(barrier));
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeMemFree(f->context, target));
    assert_success(zeMemFree(f->context, written));
}

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

static void cooperative__no_queue_group_offers_it__is_refused(void **state)
{
    const struct fixture *f = *state;
    ze_command_list_append_launch_kernel_param_cooperative_desc_t parameter = {
        .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_APPEND_PARAM_COOPERATIVE_DESC, .isCooperative = 1};
    ze_command_queue_group_properties_t queues[8];
    ze_kernel_handle_t ids = create_kernel(f, "ids");
    ze_command_list_handle_t list = create_list(f, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    const ze_group_count_t groups = {1, 1, 1};
    uint32_t *target = allocate(f, 64);
    const char *sentence = "";
    uint32_t count = 8;
    uint32_t most = 1;

    assert_success(zeDeviceGetCommandQueueGroupProperties(f->device, &count, queues));
    for (uint32_t i = 0; i < count; i++)
        assert_false(queues[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COOPERATIVE_KERNELS);
    assert_success(zeKernelSetGroupSize(ids, 4, 1, 1));
    assert_success(zeKernelSetArgumentValue(ids, 0, sizeof(target), &target));
    assert_success(zeKernelSuggestMaxCooperativeGroupCount(ids, &most));
    assert_int_equal(most, 0);
    assert_int_equal(zeCommandListAppendLaunchCooperativeKernel(list, ids, &groups, NULL, 0, NULL),
                     ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_success(zeDriverGetLastErrorDescription(f->driver, &sentence));
    assert_non_null(strstr(sentence, "cooperative"));
    assert_int_equal(zeCommandListAppendLaunchKernelWithParameters(list, ids, &groups, &parameter,
                                                                   NULL, 0, NULL),
                     ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(ids));
    assert_success(zeMemFree(f->context, target));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(properties__of_the_device__are_what_clients_need),
        cmocka_unit_test(native_binary__of_a_module__makes_the_same_module),
        cmocka_unit_test(matrix__odd_size__is_the_product),
        cmocka_unit_test(local_memory__and_barrier__turn_groups_around),
        cmocka_unit_test(global_offset__of_a_launch__moves_the_ids),
        cmocka_unit_test(clocks__of_device_event_and_command__are_one),
        cmocka_unit_test(wild_store__in_a_kernel__is_a_fault_with_a_way_back),
        cmocka_unit_test(launch__of_more_groups_than_can_be_counted__says_so),
        cmocka_unit_test(cooperative__no_queue_group_offers_it__is_refused),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
