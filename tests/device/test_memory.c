/* Allocations and what is known about addresses. */
#include "harness.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static const ze_device_mem_alloc_desc_t device_desc = {.stype =
                                                           ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
static const ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};

static void check_properties(const struct harness *h, const void *address, ze_memory_type_t type,
                             ze_device_handle_t device)
{
    ze_memory_allocation_properties_t properties = {.type = ZE_MEMORY_TYPE_SHARED};
    ze_device_handle_t got = (ze_device_handle_t)h->context;

    assert_success(zeMemGetAllocProperties(h->context, address, &properties, &got));
    assert_int_equal(properties.type, type);
    assert_ptr_equal(got, device);
    assert_cmp((properties.id != 0), ==, (type != ZE_MEMORY_TYPE_UNKNOWN));
    assert_success(zeMemGetAllocProperties(h->context, address, &properties, NULL));
}

static void alloc__each_kind__is_recognised_by_any_inner_address(void **state)
{
    const struct harness *h = *state;
    char *device = NULL;
    char *host = NULL;
    char *shared = NULL;
    void *base = NULL;
    size_t size = 0;

    assert_success(
        zeMemAllocDevice(h->context, &device_desc, 1000, 64, h->device, (void **)&device));
    assert_success(zeMemAllocHost(h->context, &host_desc, 1000, 0, (void **)&host));
    assert_success(zeMemAllocShared(h->context, &device_desc, &host_desc, 1000, 4096, h->tiles[0],
                                    (void **)&shared));
    assert_int_equal((uintptr_t)shared % 4096, 0);
    check_properties(h, device, ZE_MEMORY_TYPE_DEVICE, h->device);
    check_properties(h, device + 999, ZE_MEMORY_TYPE_DEVICE, h->device);
    check_properties(h, host + 500, ZE_MEMORY_TYPE_HOST, NULL);
    check_properties(h, shared, ZE_MEMORY_TYPE_SHARED, h->tiles[0]);
    assert_success(zeMemGetAddressRange(h->context, host + 999, &base, &size));
    assert_ptr_equal(base, host);
    assert_int_equal(size, 1000);
    assert_success(zeMemGetAddressRange(h->context, host, NULL, NULL));
    assert_success(zeMemFree(h->context, device));
    assert_success(zeMemFree(h->context, host));
    assert_success(zeMemFree(h->context, shared));
    check_properties(h, shared, ZE_MEMORY_TYPE_UNKNOWN, NULL);
    assert_int_equal(h->control->live_memory(), 0);
}

/* Rule 7.14. */
static void properties__foreign_addresses__are_unknown_and_no_error(void **state)
{
    const struct harness *h = *state;
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_context_handle_t other = NULL;
    void *malloced = malloc(16);
    void *foreign = NULL;
    void *base = NULL;

    assert_success(zeContextCreate(h->driver, &desc, &other));
    assert_success(zeMemAllocHost(other, &host_desc, 64, 0, &foreign));
    check_properties(h, malloced, ZE_MEMORY_TYPE_UNKNOWN, NULL);
    check_properties(h, &desc, ZE_MEMORY_TYPE_UNKNOWN, NULL);
    check_properties(h, (void *)(uintptr_t)UINTPTR_MAX, ZE_MEMORY_TYPE_UNKNOWN, NULL);
    check_properties(h, foreign, ZE_MEMORY_TYPE_UNKNOWN, NULL);
    assert_result(ZE_RESULT_ERROR_ADDRESS_NOT_FOUND,
                  zeMemGetAddressRange(h->context, malloced, &base, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemFree(h->context, malloced));
    assert_success(zeMemFree(other, foreign));
    assert_success(zeContextDestroy(other));
    free(malloced);
}

/* Rule 5.27. */
static void alloc__sizes_that_cannot_be__are_refused(void **state)
{
    const struct harness *h = *state;
    ze_device_mem_alloc_desc_t ordinal = {.ordinal = 1};
    ze_device_mem_alloc_desc_t flags = {.flags = 0x10};
    void *memory = NULL;

    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                  zeMemAllocDevice(h->context, &device_desc, 0, 0, h->device, &memory));
    assert_result(
        ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
        zeMemAllocDevice(h->context, &device_desc, (1u << 28) + 1, 0, h->device, &memory));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                  zeMemAllocHost(h->context, &host_desc, SIZE_MAX, 0, &memory));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
                  zeMemAllocHost(h->context, &host_desc, 64, 24, &memory));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeMemAllocDevice(h->context, &ordinal, 64, 0, h->device, &memory));
    assert_result(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                  zeMemAllocDevice(h->context, &flags, 64, 0, h->device, &memory));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                  zeMemAllocDevice(h->context, &device_desc, 64, 0, NULL, &memory));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                  zeMemAllocHost(h->context, &host_desc, 64, 0, NULL));
    assert_null(memory);
    /* Shared memory of no device in particular is possible. */
    assert_success(zeMemAllocShared(h->context, &device_desc, &host_desc, 64, 0, NULL, &memory));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemFree(h->context, (char *)memory + 1));
    assert_success(zeMemFree(h->context, memory));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemFree(h->context, memory));
}

static void many__allocated_and_freed_in_another_order__are_all_known(void **state)
{
    const struct harness *h = *state;
    enum { COUNT = 2000 };
    static void *memory[COUNT];

    for (int i = 0; i < COUNT; i++)
        assert_success(zeMemAllocHost(h->context, &host_desc, 1 + (size_t)i % 77, 0, &memory[i]));
    for (int i = 0; i < COUNT; i++)
        check_properties(h, memory[i], ZE_MEMORY_TYPE_HOST, NULL);
    for (int i = 0; i < COUNT; i++)
        assert_success(zeMemFree(h->context, memory[(i * 7) % COUNT]));
    for (int i = 0; i < COUNT; i++)
        check_properties(h, memory[i], ZE_MEMORY_TYPE_UNKNOWN, NULL);
    assert_int_equal(h->control->live_memory(), 0);
}

/* Rule 5.13. */
static void free_ext__blocking__waits_for_the_work(void **state)
{
    const struct harness *h = *state;
    ze_memory_free_ext_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC,
                                      .freePolicy =
                                          ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE};
    uint64_t *sum = harness_memory(h, 8);
    uint64_t *plain = harness_memory(h, 8);
    ze_kernel_handle_t kernel = harness_add_kernel(h, sum, 1);
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);

    for (int i = 0; i < 200; i++)
        assert_success(harness_launch(list, kernel, NULL, 0, NULL));
    assert_success(zeMemFreeExt(h->context, &desc, sum));
    desc.freePolicy = 0;
    assert_success(zeMemFreeExt(h->context, &desc, plain));
    assert_int_equal(h->control->live_memory(), 0);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(kernel));
}

/* Rule 5.11. */
static void free__while_work_runs__frees_when_it_ended(void **state)
{
    const struct harness *h = *state;
    ze_kernel_handle_t kernel = harness_kernel(h, "hold");
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    void *used = harness_memory(h, 8);
    void *next = harness_memory(h, 8);

    assert_success(zeKernelSetGroupSize(kernel, 1, 1, 1));
    assert_success(harness_launch(list, kernel, NULL, 0, NULL));
    harness_wait_holding(h, 1);
    assert_success(zeMemFree(h->context, used));
    check_properties(h, used, ZE_MEMORY_TYPE_UNKNOWN, NULL);
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemFree(h->context, used));
    assert_int_equal(h->control->live_memory(), 2);
    h->control->release();
    assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_int_equal(h->control->live_memory(), 1);
    assert_success(zeMemFree(h->context, next));
    assert_int_equal(h->control->live_memory(), 0);
    h->control->hold();
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(kernel));
}

/* Rule 5.12. */
static void free__with_another_context__finds_its_owner(void **state)
{
    const struct harness *h = *state;
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_memory_free_ext_desc_t blocking = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC,
        .freePolicy = ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE};
    ze_context_handle_t other = NULL;
    void *first = harness_memory(h, 8);
    void *second = harness_memory(h, 8);

    assert_success(zeContextCreate(h->driver, &desc, &other));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemFree(other, (char *)first + 1));
    assert_success(zeMemFree(other, first));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemFree(h->context, first));
    assert_success(zeMemFreeExt(other, &blocking, second));
    assert_int_equal(h->control->live_memory(), 0);
    assert_success(zeContextDestroy(other));
}

/* Rule 5.13. */
static void free_ext__deferred__frees_when_the_work_before_it_ended(void **state)
{
    const struct harness *h = *state;
    ze_memory_free_ext_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC,
                                      .freePolicy =
                                          ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE};
    ze_kernel_handle_t kernel = harness_kernel(h, "hold");
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    void *used = harness_memory(h, 8);
    void *idle = harness_memory(h, 8);

    /* Without work it is freed at once. */
    assert_success(zeMemFreeExt(h->context, &desc, idle));
    assert_int_equal(h->control->live_memory(), 1);
    assert_success(zeKernelSetGroupSize(kernel, 1, 1, 1));
    assert_success(harness_launch(list, kernel, NULL, 0, NULL));
    harness_wait_holding(h, 1);
    assert_success(zeMemFreeExt(h->context, &desc, used));
    /* It is no allocation any more, but the memory stays while the kernel runs. */
    check_properties(h, used, ZE_MEMORY_TYPE_UNKNOWN, NULL);
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemFree(h->context, used));
    h->control->release();
    assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_int_equal(h->control->live_memory(), 0);
    h->control->hold();
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(kernel));
}

/* Rule 5.13. */
static void free_ext__deferred_and_context_gone__frees_with_the_last_user(void **state)
{
    const struct harness *h = *state;
    const ze_memory_free_ext_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC,
                                            .freePolicy =
                                                ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE};
    const ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    struct harness other = *h;
    ze_kernel_handle_t kernel = harness_kernel(h, "hold");

    assert_success(zeContextCreate(h->driver, &context_desc, &other.context));
    ze_command_list_handle_t list = harness_immediate(&other, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    void *used = harness_memory(&other, 8);
    assert_success(zeKernelSetGroupSize(kernel, 1, 1, 1));
    assert_success(harness_launch(list, kernel, NULL, 0, NULL));
    harness_wait_holding(h, 1);
    assert_success(zeMemFreeExt(other.context, &desc, used));
    assert_success(zeContextDestroy(other.context));
    assert_int_equal(h->control->live_memory(), 1);
    h->control->release();
    assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_success(zeCommandListDestroy(list));
    assert_int_equal(h->control->live_memory(), 0);
    h->control->hold();
    assert_success(zeKernelDestroy(kernel));
}

/* Rule 5.10. */
static void chain__wrong_or_unsupported__is_refused_with_its_name(void **state)
{
    const struct harness *h = *state;
    ze_external_memory_export_desc_t dma = {.stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC,
                                            .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF};
    ze_external_memory_import_win32_handle_t windows = {
        .stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_WIN32};
    ze_ipc_mem_handle_type_ext_desc_t fabric = {
        .stype = ZE_STRUCTURE_TYPE_IPC_MEM_HANDLE_TYPE_EXT_DESC,
        .typeFlags = ZE_IPC_MEM_HANDLE_TYPE_FLAG_FABRIC_ACCESSIBLE};
    ze_relaxed_allocation_limits_ext_desc_t limits = {
        .stype = ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXT_DESC, .flags = 2};
    ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC,
                                       .pNext = &dma};
    ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *memory = NULL;

    skip_in(HARNESS_VALIDATION, "the layer refuses flags that are newer than it");
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
                  zeMemAllocDevice(h->context, &desc, 64, 0, h->device, &memory));
    assert_non_null(strstr(harness_sentence(h), "OPAQUE_FD"));
    dma.flags = 0x1000;
    assert_result(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                  zeMemAllocDevice(h->context, &desc, 64, 0, h->device, &memory));
    desc.pNext = &windows;
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  zeMemAllocDevice(h->context, &desc, 64, 0, h->device, &memory));
    desc.pNext = &fabric;
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  zeMemAllocDevice(h->context, &desc, 64, 0, h->device, &memory));
    assert_non_null(strstr(harness_sentence(h), "fabric"));
    desc.pNext = &limits;
    assert_result(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                  zeMemAllocDevice(h->context, &desc, 64, 0, h->device, &memory));
    /* A larger allocation than usual is a question for the backend, which has no such limit. */
    limits.flags = ZE_RELAXED_ALLOCATION_LIMITS_EXT_FLAG_MAX_SIZE;
    assert_success(
        zeMemAllocDevice(h->context, &desc, ((size_t)1 << 28) + 4096, 0, h->device, &memory));
    assert_success(zeMemFree(h->context, memory));
    host.flags = ZE_HOST_MEM_ALLOC_FLAG_MEM_READ_ONLY | ZE_HOST_MEM_ALLOC_FLAG_BIAS_WRITE_COMBINED;
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeMemAllocHost(h->context, &host, 64, 0, &memory));
    assert_int_equal(h->control->live_memory(), 0);
}

static void chain__garbage__is_survived(void **state)
{
    const struct harness *h = *state;
    ze_base_desc_t loop = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pNext = &loop};
    ze_base_desc_t undefined = {.stype = (ze_structure_type_t)0x7ffff000, .pNext = &loop};
    const void *const chains[] = {(void *)(uintptr_t)16,
                                  (void *)(uintptr_t)0xfeedfacecafebee0,
                                  (void *)UINTPTR_MAX,
                                  (char *)&loop + 1,
                                  &loop,
                                  &undefined};

    skip_in(HARNESS_VALIDATION, "the layer itself follows every chain");
    for (size_t i = 0; i < sizeof(chains) / sizeof(chains[0]); i++) {
        const ze_device_mem_alloc_desc_t device = {.stype = (ze_structure_type_t)0x5a5a,
                                                   .pNext = chains[i]};
        const ze_host_mem_alloc_desc_t host = {.stype = (ze_structure_type_t)0, .pNext = chains[i]};
        ze_memory_allocation_properties_t properties = {.stype = (ze_structure_type_t)0x5a5a,
                                                        .pNext = (void *)(uintptr_t)chains[i]};
        void *memory = NULL;

        assert_success(zeMemAllocDevice(h->context, &device, 64, 0, h->device, &memory));
        assert_success(zeMemFree(h->context, memory));
        assert_success(zeMemAllocHost(h->context, &host, 64, 0, &memory));
        assert_success(zeMemGetAllocProperties(h->context, memory, &properties, NULL));
        assert_int_equal(properties.type, ZE_MEMORY_TYPE_HOST);
        assert_success(zeMemFree(h->context, memory));
        assert_success(zeMemAllocShared(h->context, &device, &host, 64, 0, h->device, &memory));
        assert_success(zeMemFree(h->context, memory));
    }
}

static void sharing__backend_without_it__says_so(void **state)
{
    const struct harness *h = *state;
    ze_driver_ipc_properties_t ipc = {.stype = ZE_STRUCTURE_TYPE_DRIVER_IPC_PROPERTIES};
    ze_device_external_memory_properties_t external = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_EXTERNAL_MEMORY_PROPERTIES};
    ze_ipc_mem_handle_t handle = {{0}};
    void *memory = harness_memory(h, 64);
    void *address = NULL;
    size_t page = 0;

    assert_success(zeDriverGetIpcProperties(h->driver, &ipc));
    assert_int_equal(ipc.flags & ZE_IPC_PROPERTY_FLAG_MEMORY, 0);
    assert_success(zeDeviceGetExternalMemoryProperties(h->device, &external));
    assert_int_equal(external.memoryAllocationImportTypes, 0);
    assert_int_equal(external.memoryAllocationExportTypes, 0);
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  zeMemGetIpcHandle(h->context, memory, &handle));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  zeVirtualMemQueryPageSize(h->context, h->device, 64, &page));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  zeVirtualMemReserve(h->context, memory, 4096, &address));
    assert_non_null(strstr(harness_sentence(h), "virtual memory"));
    assert_success(zeMemFree(h->context, memory));
}

/* Rule 5.26. */
static void atomics__attributes__are_kept_and_contradictions_refused(void **state)
{
    const struct harness *h = *state;
    const ze_memory_atomic_attr_exp_flags_t system =
        ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_SYSTEM_ATOMICS | ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_HOST_ATOMICS;
    ze_memory_atomic_attr_exp_flags_t got = 1;
    char *memory = harness_memory(h, 64);
    void *host = NULL;

    assert_success(zeMemGetAtomicAccessAttributeExp(h->context, h->device, memory, 64, &got));
    assert_int_equal(got, 0);
    assert_success(zeMemSetAtomicAccessAttributeExp(h->context, h->device, memory + 8, 8, system));
    assert_success(zeMemGetAtomicAccessAttributeExp(h->context, h->device, memory, 64, &got));
    assert_int_equal(got, system);
    assert_result(
        ZE_RESULT_ERROR_INVALID_ARGUMENT,
        zeMemSetAtomicAccessAttributeExp(h->context, h->device, memory, 64,
                                         system | ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_NO_HOST_ATOMICS));
    assert_result(
        ZE_RESULT_ERROR_INVALID_ARGUMENT,
        zeMemSetAtomicAccessAttributeExp(h->context, h->device, memory, 64,
                                         system | ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_NO_ATOMICS));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeMemSetAtomicAccessAttributeExp(h->context, h->device, memory + 8, 57, system));
    assert_success(zeMemAllocHost(h->context, &host_desc, 64, 0, &host));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeMemGetAtomicAccessAttributeExp(h->context, h->device, host, 64, &got));
    assert_success(zeMemGetAtomicAccessAttributeExp(h->context, h->device, memory, 64, &got));
    assert_int_equal(got, system);
    assert_success(zeMemFree(h->context, host));
    assert_success(zeMemFree(h->context, memory));
}

/* Rule 5.30. */
static void sub_allocations__of_any_address__are_one_or_none(void **state)
{
    const struct harness *h = *state;
    uint32_t count = 0;
    ze_sub_allocation_t part = {0};
    ze_memory_sub_allocations_exp_properties_t parts = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_SUB_ALLOCATIONS_EXP_PROPERTIES, .pCount = &count};
    ze_memory_allocation_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES, .pNext = &parts};
    char *memory = harness_memory(h, 640);

    assert_success(zeMemGetAllocProperties(h->context, memory + 9, &properties, NULL));
    assert_int_equal(count, 1);
    count = 4;
    parts.pSubAllocations = &part;
    assert_success(zeMemGetAllocProperties(h->context, memory + 9, &properties, NULL));
    assert_int_equal(count, 1);
    assert_ptr_equal(part.base, memory);
    assert_int_equal(part.size, 640);
    assert_success(zeMemGetAllocProperties(h->context, &part, &properties, NULL));
    assert_int_equal(count, 0);
    /* A count that is not there is not written. */
    parts.pCount = (uint32_t *)(uintptr_t)64;
    assert_success(zeMemGetAllocProperties(h->context, memory, &properties, NULL));
    assert_success(zeMemFree(h->context, memory));
}

SUITE(memory)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alloc__each_kind__is_recognised_by_any_inner_address),
        cmocka_unit_test(properties__foreign_addresses__are_unknown_and_no_error),
        cmocka_unit_test(alloc__sizes_that_cannot_be__are_refused),
        cmocka_unit_test(many__allocated_and_freed_in_another_order__are_all_known),
        cmocka_unit_test(free__while_work_runs__frees_when_it_ended),
        cmocka_unit_test(free__with_another_context__finds_its_owner),
        cmocka_unit_test(free_ext__blocking__waits_for_the_work),
        cmocka_unit_test(free_ext__deferred__frees_when_the_work_before_it_ended),
        cmocka_unit_test(free_ext__deferred_and_context_gone__frees_with_the_last_user),
        cmocka_unit_test(chain__wrong_or_unsupported__is_refused_with_its_name),
        cmocka_unit_test(chain__garbage__is_survived),
        cmocka_unit_test(sharing__backend_without_it__says_so),
        cmocka_unit_test(atomics__attributes__are_kept_and_contradictions_refused),
        cmocka_unit_test(sub_allocations__of_any_address__are_one_or_none),
    };

    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
