/* Virtual memory on the virtual GPU: reservations, mappings, access for kernels and the host. */
#include "gpu.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define PAGE 4096u

static ze_physical_mem_handle_t make_physical(const struct gpu *gpu, size_t pages)
{
    ze_physical_mem_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC,
                                   .size = pages * PAGE};
    ze_physical_mem_handle_t physical = NULL;

    assert_success(zePhysicalMemCreate(gpu->context, gpu->device, &desc, &physical));
    return physical;
}

static char *reserve(const struct gpu *gpu, size_t pages)
{
    /* A place to begin at is optional, but the validation of old loaders wants one. */
    const void *request = (const void *)(UINT64_C(1) << 40);
    void *address = NULL;

    assert_success(zeVirtualMemReserve(gpu->context, request, pages * PAGE, &address));
    return address;
}

static void map(const struct gpu *gpu, void *address, size_t pages,
                ze_physical_mem_handle_t physical, size_t page, ze_memory_access_attribute_t access)
{
    assert_success(
        zeVirtualMemMap(gpu->context, address, pages * PAGE, physical, page * PAGE, access));
}

/* Whether the host may read or write there, without a signal when it may not. */
static bool host_can_read(const void *address)
{
    int ends[2];
    bool good;

    assert_int_equal(pipe(ends), 0);
    good = write(ends[1], address, 1) == 1;
    assert_true(good || errno == EFAULT);
    close(ends[0]);
    close(ends[1]);
    return good;
}

static bool host_can_write(void *address)
{
    int zero = open("/dev/zero", O_RDONLY);
    bool good;

    assert_cmp(zero, >=, 0);
    good = read(zero, address, 1) == 1;
    assert_true(good || errno == EFAULT);
    close(zero);
    return good;
}

/* Rule 5.17. */
static void map__two_addresses__show_the_same_memory(void **state)
{
    const struct gpu *gpu = *state;
    ze_physical_mem_handle_t physical = make_physical(gpu, 4);
    char *first = reserve(gpu, 4);
    char *second = reserve(gpu, 8);
    uint64_t value = 0;

    map(gpu, first, 4, physical, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE);
    map(gpu, second + 2 * PAGE, 2, physical, 1, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE);
    assert_success(gpu_store(gpu, first + PAGE + 8, 77));
    assert_success(gpu_load(gpu, second + 2 * PAGE + 8, &value));
    assert_int_equal(value, 77);
    *(uint64_t *)(void *)(second + 3 * PAGE) = 78;
    assert_success(gpu_load(gpu, first + 2 * PAGE, &value));
    assert_int_equal(value, 78);
    /* The memory outlives its mappings. */
    assert_success(zeVirtualMemUnmap(gpu->context, first, 4 * PAGE));
    assert_success(zeVirtualMemUnmap(gpu->context, second + 2 * PAGE, 2 * PAGE));
    map(gpu, first, 1, physical, 2, ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY);
    assert_int_equal(*(uint64_t *)(void *)first, 78);
    assert_success(zeVirtualMemFree(gpu->context, first, 4 * PAGE));
    assert_success(zeVirtualMemFree(gpu->context, second, 8 * PAGE));
    assert_success(zePhysicalMemDestroy(gpu->context, physical));
}

/* Rule 5.14. */
static void access__read_only__kernels_and_host_are_held_to_it(void **state)
{
    struct gpu *gpu = *state;
    ze_physical_mem_handle_t physical = make_physical(gpu, 2);
    char *address = reserve(gpu, 2);
    uint64_t value = 0;

    map(gpu, address, 2, physical, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE);
    assert_success(gpu_store(gpu, address, 5));
    assert_success(zeVirtualMemSetAccessAttribute(gpu->context, address, PAGE,
                                                  ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY));
    assert_success(gpu_load(gpu, address, &value));
    assert_int_equal(value, 5);
    assert_true(host_can_read(address));
    assert_false(host_can_write(address));
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, gpu_store(gpu, address, 6));
    assert_non_null(strstr(gpu_sentence(gpu), "store"));
    gpu_renew_list(gpu);
    /* The page beside it is as before, and this one is again when it is allowed again. */
    assert_success(gpu_store(gpu, address + PAGE, 7));
    assert_success(zeVirtualMemSetAccessAttribute(gpu->context, address, 2 * PAGE,
                                                  ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    assert_success(gpu_store(gpu, address, 8));
    assert_true(host_can_write(address));
    assert_success(zeVirtualMemFree(gpu->context, address, 2 * PAGE));
    assert_success(zePhysicalMemDestroy(gpu->context, physical));
}

/* Rule 5.14. */
static void access__none_unmapped_or_freed__kernels_fault_with_a_sentence(void **state)
{
    struct gpu *gpu = *state;
    ze_physical_mem_handle_t physical = make_physical(gpu, 1);
    char *address = reserve(gpu, 2);
    uint64_t value = 0;

    map(gpu, address, 1, physical, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_NONE);
    assert_false(host_can_read(address));
    for (int step = 0; step < 3; step++) {
        if (step == 1)
            assert_success(zeVirtualMemUnmap(gpu->context, address, PAGE));
        if (step == 2)
            assert_success(zeVirtualMemFree(gpu->context, address, 2 * PAGE));
        assert_result(ZE_RESULT_ERROR_DEVICE_LOST, gpu_load(gpu, address, &value));
        assert_cmp(strlen(gpu_sentence(gpu)), >, 20);
        gpu_renew_list(gpu);
        assert_result(ZE_RESULT_ERROR_DEVICE_LOST, gpu_store(gpu, address, 1));
        gpu_renew_list(gpu);
        if (step < 2)
            assert_false(host_can_write(address));
    }
    assert_success(zePhysicalMemDestroy(gpu->context, physical));
}

/* Rule 5.17. */
static void attributes__any_change__are_told_in_runs(void **state)
{
    const struct gpu *gpu = *state;
    ze_physical_mem_handle_t physical = make_physical(gpu, 8);
    char *address = reserve(gpu, 8);
    ze_memory_access_attribute_t access = ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE;
    size_t size = 0;

    assert_success(zeVirtualMemGetAccessAttribute(gpu->context, address, 8 * PAGE, &access, &size));
    assert_int_equal(access, ZE_MEMORY_ACCESS_ATTRIBUTE_NONE);
    assert_int_equal(size, 8 * PAGE);
    map(gpu, address + PAGE, 3, physical, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE);
    map(gpu, address + 4 * PAGE, 2, physical, 5, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE);
    assert_success(zeVirtualMemGetAccessAttribute(gpu->context, address, 8 * PAGE, &access, &size));
    assert_int_equal(size, PAGE);
    assert_success(
        zeVirtualMemGetAccessAttribute(gpu->context, address + PAGE, 7 * PAGE, &access, &size));
    assert_int_equal(access, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE);
    assert_int_equal(size, 5 * PAGE);
    assert_success(zeVirtualMemSetAccessAttribute(gpu->context, address + 2 * PAGE, 3 * PAGE,
                                                  ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY));
    assert_success(
        zeVirtualMemGetAccessAttribute(gpu->context, address + PAGE, 7 * PAGE, &access, &size));
    assert_int_equal(size, PAGE);
    assert_success(zeVirtualMemGetAccessAttribute(gpu->context, address + 2 * PAGE, 7 * PAGE - PAGE,
                                                  &access, &size));
    assert_int_equal(access, ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY);
    assert_int_equal(size, 3 * PAGE);
    /* The middle goes; what is left of both mappings stays. */
    assert_success(zeVirtualMemUnmap(gpu->context, address + 2 * PAGE, 3 * PAGE));
    assert_success(gpu_store(gpu, address + PAGE, 1));
    assert_success(gpu_store(gpu, address + 5 * PAGE, 1));
    assert_result(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                  zePhysicalMemDestroy(gpu->context, physical));
    assert_success(zeVirtualMemFree(gpu->context, address, 8 * PAGE));
    assert_success(zePhysicalMemDestroy(gpu->context, physical));
}

static void check_access(const struct gpu *gpu, const char *address, size_t pages,
                         ze_memory_access_attribute_t wanted)
{
    ze_memory_access_attribute_t access = 77;
    size_t size = 0;

    assert_success(
        zeVirtualMemGetAccessAttribute(gpu->context, address, pages * PAGE, &access, &size));
    assert_int_equal(access, wanted);
    assert_int_equal(size, pages * PAGE);
}

/* Rule 5.16. */
static void attributes__of_addresses_with_nothing_there__are_kept_until_something_is(void **state)
{
    const ze_memory_access_attribute_t none = ZE_MEMORY_ACCESS_ATTRIBUTE_NONE;
    const ze_memory_access_attribute_t rw = ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE;
    const ze_memory_access_attribute_t ro = ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY;
    const struct gpu *gpu = *state;
    ze_context_handle_t c = gpu->context;
    ze_physical_mem_handle_t physical = make_physical(gpu, 2);
    char *address = reserve(gpu, 8);
    uint64_t value = 0;

    assert_success(zeVirtualMemUnmap(c, address, 8 * PAGE));
    assert_success(zeVirtualMemSetAccessAttribute(c, address + PAGE, 6 * PAGE, rw));
    check_access(gpu, address, 1, none);
    check_access(gpu, address + PAGE, 6, rw);
    check_access(gpu, address + 7 * PAGE, 1, none);
    assert_false(host_can_read(address + PAGE));
    /* What is mapped has the access that it is mapped with. */
    map(gpu, address + 2 * PAGE, 1, physical, 0, ro);
    map(gpu, address + 4 * PAGE, 1, physical, 1, rw);
    check_access(gpu, address + PAGE, 1, rw);
    check_access(gpu, address + 2 * PAGE, 1, ro);
    check_access(gpu, address + 3 * PAGE, 4, rw);
    /* One call changes what is mapped and the gaps around it. */
    assert_success(zeVirtualMemSetAccessAttribute(c, address, 8 * PAGE, rw));
    check_access(gpu, address, 8, rw);
    assert_success(gpu_store(gpu, address + 2 * PAGE, 1));
    assert_success(zeVirtualMemSetAccessAttribute(c, address + 3 * PAGE, 2 * PAGE, ro));
    check_access(gpu, address + 3 * PAGE, 2, ro);
    assert_false(host_can_write(address + 4 * PAGE));
    assert_success(gpu_load(gpu, address + 2 * PAGE, &value));
    assert_int_equal(value, 1);
    /* Without what was mapped there is no access, also where nothing was. */
    assert_success(zeVirtualMemUnmap(c, address + 2 * PAGE, 6 * PAGE));
    assert_success(zeVirtualMemUnmap(c, address + 2 * PAGE, 6 * PAGE));
    check_access(gpu, address, 2, rw);
    check_access(gpu, address + 2 * PAGE, 6, none);
    assert_success(zePhysicalMemDestroy(c, physical));
    map(gpu, address, 2, physical = make_physical(gpu, 2), 0, ro);
    check_access(gpu, address, 2, ro);
    assert_success(zeVirtualMemFree(c, address, 8 * PAGE));
    assert_success(zePhysicalMemDestroy(c, physical));
}

/* Rule 5.15. */
static void physical__of_the_host__needs_no_device(void **state)
{
    const struct gpu *gpu = *state;
    ze_physical_mem_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC,
                                   .flags = ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST,
                                   .size = PAGE};
    ze_physical_mem_handle_t physical = NULL;
    char *address = reserve(gpu, 1);

    skip_in(HARNESS_WRAPPED | HARNESS_VALIDATION, "it looks into the device handle itself");
    assert_success(zePhysicalMemCreate(gpu->context, NULL, &desc, &physical));
    map(gpu, address, 1, physical, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE);
    assert_success(gpu_store(gpu, address, 91));
    assert_int_equal(*(uint64_t *)(void *)address, 91);
    assert_success(zeVirtualMemFree(gpu->context, address, PAGE));
    assert_success(zePhysicalMemDestroy(gpu->context, physical));
    desc.flags = 0;
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                  zePhysicalMemCreate(gpu->context, NULL, &desc, &physical));
    assert_result(
        ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
        zePhysicalMemCreate(gpu->context, (ze_device_handle_t)gpu->context, &desc, &physical));
}

/* Rule 5.18. */
static void properties__of_mapped_addresses__are_those_of_the_memory(void **state)
{
    const struct gpu *gpu = *state;
    ze_physical_mem_desc_t host = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC,
                                   .flags = ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST,
                                   .size = PAGE};
    ze_physical_mem_properties_t physical_properties = {
        .stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES};
    ze_memory_allocation_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    ze_physical_mem_handle_t physical = NULL;
    ze_device_handle_t device = gpu->device;
    uint64_t unused = gpu_unused(gpu);
    char *address = reserve(gpu, 2);
    void *base = NULL;
    size_t size = 0;

    skip_in(HARNESS_VALIDATION, "the layer does not know where physical memory can be");
    assert_success(zePhysicalMemCreate(gpu->context, gpu->device, &host, &physical));
    assert_int_equal(gpu_unused(gpu), unused);
    assert_success(zePhysicalMemGetProperties(gpu->context, physical, &physical_properties));
    assert_int_equal(physical_properties.size, PAGE);
    assert_cmp(physical_properties.id, !=, 0);
    map(gpu, address, 1, physical, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE);
    assert_success(zeMemGetAllocProperties(gpu->context, address + 9, &properties, &device));
    assert_int_equal(properties.type, ZE_MEMORY_TYPE_HOST);
    assert_int_equal(properties.id, physical_properties.id);
    assert_null(device);
    assert_success(zeMemGetAddressRange(gpu->context, address + 9, &base, &size));
    assert_ptr_equal(base, address);
    assert_int_equal(size, PAGE);
    assert_success(zeContextMakeMemoryResident(gpu->context, gpu->device, address, PAGE));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemFree(gpu->context, address));
    assert_success(zeVirtualMemFree(gpu->context, address, 2 * PAGE));
    assert_success(zeMemGetAllocProperties(gpu->context, address + 9, &properties, NULL));
    assert_int_equal(properties.type, ZE_MEMORY_TYPE_UNKNOWN);
    assert_success(zePhysicalMemDestroy(gpu->context, physical));
}

/* Rule 5.17. */
static void arguments__that_do_not_fit__are_refused(void **state)
{
    const struct gpu *gpu = *state;
    const ze_memory_access_attribute_t rw = ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE;
    ze_physical_mem_desc_t odd = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, .size = 100};
    ze_physical_mem_handle_t physical = make_physical(gpu, 2);
    ze_physical_mem_handle_t none = NULL;
    ze_context_handle_t c = gpu->context;
    char *address = reserve(gpu, 4);
    void *other = NULL;

    skip_in(HARNESS_VALIDATION, "the layer does not know where physical memory can be");
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, zeVirtualMemReserve(c, address, 100, &other));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                  zePhysicalMemCreate(c, gpu->device, &odd, &none));
    odd = (ze_physical_mem_desc_t){.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC,
                                   .flags = ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST |
                                            ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_DEVICE,
                                   .size = PAGE};
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zePhysicalMemCreate(c, gpu->device, &odd, &none));
    odd.flags = 0;
    odd.size = (size_t)1 << 50;
    assert_result(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
                  zePhysicalMemCreate(c, gpu->device, &odd, &none));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
                  zeVirtualMemMap(c, address + 8, PAGE, physical, 0, rw));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                  zeVirtualMemMap(c, address, PAGE + 8, physical, 0, rw));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
                  zeVirtualMemMap(c, address, PAGE, physical, 8, rw));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeVirtualMemMap(c, address, 2 * PAGE, physical, PAGE, rw));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeVirtualMemMap(c, address + 3 * PAGE, 2 * PAGE, physical, 0, rw));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeVirtualMemMap(c, (void *)(uintptr_t)PAGE, PAGE, physical, 0, rw));
    assert_success(zeVirtualMemMap(c, address, 2 * PAGE, physical, 0, rw));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeVirtualMemMap(c, address + PAGE, PAGE, physical, 0, rw));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeVirtualMemFree(c, address, 2 * PAGE));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeVirtualMemFree(c, address + PAGE, 3 * PAGE));
    assert_success(zeVirtualMemFree(c, address, 4 * PAGE));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeVirtualMemFree(c, address, 4 * PAGE));
    assert_success(zePhysicalMemDestroy(c, physical));
}

/* Rule 5.19. */
static void reserve__with_a_hint__gets_it_or_another_place(void **state)
{
    const struct gpu *gpu = *state;
    char *taken = reserve(gpu, 4);
    void *address = NULL;
    size_t page = 0;

    assert_success(zeVirtualMemQueryPageSize(gpu->context, gpu->device, 100, &page));
    assert_int_equal(page, PAGE);
    assert_success(zeVirtualMemReserve(gpu->context, taken + PAGE, PAGE, &address));
    assert_true((char *)address < taken || (char *)address >= taken + 4 * PAGE);
    assert_success(zeVirtualMemFree(gpu->context, address, PAGE));
    assert_success(zeVirtualMemFree(gpu->context, taken, 4 * PAGE));
    assert_success(zeVirtualMemReserve(gpu->context, taken, 4 * PAGE, &address));
    assert_ptr_equal(address, taken);
    assert_success(zeVirtualMemFree(gpu->context, address, 4 * PAGE));
}

/* Rule 5.18. */
static void context__destroyed_with_mappings__gives_everything_back(void **state)
{
    const struct gpu *gpu = *state;
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    struct gpu other = *gpu;
    uint64_t unused = gpu_unused(gpu);
    char *address;

    assert_success(zeContextCreate(gpu->driver, &desc, &other.context));
    ze_physical_mem_handle_t physical = make_physical(&other, 4);
    address = reserve(&other, 4);
    map(&other, address, 4, physical, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE);
    assert_int_equal(gpu_unused(gpu), unused - 4 * PAGE);
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zePhysicalMemDestroy(gpu->context, physical));
    assert_success(zeContextDestroy(other.context));
    assert_int_equal(gpu_unused(gpu), unused);
    assert_false(host_can_read(address));
}

SUITE(virtual)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(map__two_addresses__show_the_same_memory),
        cmocka_unit_test(access__read_only__kernels_and_host_are_held_to_it),
        cmocka_unit_test(access__none_unmapped_or_freed__kernels_fault_with_a_sentence),
        cmocka_unit_test(attributes__any_change__are_told_in_runs),
        cmocka_unit_test(attributes__of_addresses_with_nothing_there__are_kept_until_something_is),
        cmocka_unit_test(physical__of_the_host__needs_no_device),
        cmocka_unit_test(properties__of_mapped_addresses__are_those_of_the_memory),
        cmocka_unit_test(arguments__that_do_not_fit__are_refused),
        cmocka_unit_test(reserve__with_a_hint__gets_it_or_another_place),
        cmocka_unit_test(context__destroyed_with_mappings__gives_everything_back),
    };

    return cmocka_run_group_tests(tests, gpu_setup, gpu_teardown);
}
