/* Allocations and what is known about addresses. */
#include "harness.h"

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
    assert_true((properties.id != 0) == (type != ZE_MEMORY_TYPE_UNKNOWN));
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
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemFree(h->context, foreign));
    assert_success(zeContextDestroy(other));
    free(malloced);
}

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

static void free_ext__policies__free_or_refuse(void **state)
{
    const struct harness *h = *state;
    ze_memory_free_ext_desc_t desc = {.freePolicy =
                                          ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE};
    uint64_t *sum = harness_memory(h, 8);
    uint64_t *plain = harness_memory(h, 8);
    ze_kernel_handle_t kernel = harness_add_kernel(h, sum, 1);
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);

    for (int i = 0; i < 200; i++)
        assert_success(harness_launch(list, kernel, NULL, 0, NULL));
    assert_success(zeMemFreeExt(h->context, &desc, sum));
    desc.freePolicy = ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE;
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, zeMemFreeExt(h->context, &desc, plain));
    desc.freePolicy = 0;
    assert_success(zeMemFreeExt(h->context, &desc, plain));
    assert_int_equal(h->control->live_memory(), 0);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(kernel));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alloc__each_kind__is_recognised_by_any_inner_address),
        cmocka_unit_test(properties__foreign_addresses__are_unknown_and_no_error),
        cmocka_unit_test(alloc__sizes_that_cannot_be__are_refused),
        cmocka_unit_test(many__allocated_and_freed_in_another_order__are_all_known),
        cmocka_unit_test(free_ext__policies__free_or_refuse),
    };

    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
