/* Memory of the virtual GPU: where it comes from, what it is charged to, what a fork leaves. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu.h"
#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define PAGE 4096u
#define MIB ((size_t)1 << 20)

static const ze_device_mem_alloc_desc_t device_desc = {.stype =
                                                           ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
static const ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};

/* Mappings of the process. */
static unsigned count_mappings(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned count = 0;
    int c;

    assert_non_null(maps);
    while ((c = fgetc(maps)) != EOF)
        count += c == '\n';
    fclose(maps);
    return count;
}

/* Rule 5.25. */
static void alloc__any_alignment__is_aligned_and_zero(void **state)
{
    const struct gpu *gpu = *state;

    for (size_t align = 1; align <= 4 * MIB; align *= 2) {
        unsigned char *memory = NULL;

        assert_success(zeMemAllocShared(gpu->context, &device_desc, &host_desc, 100, align,
                                        gpu->device, (void **)&memory));
        assert_int_equal((uintptr_t)memory % align, 0);
        for (size_t i = 0; i < 100; i++)
            assert_int_equal(memory[i], 0);
        /* What is written here must not be in what is allocated next. */
        memset(memory, 0xa5, PAGE);
        assert_success(zeMemFree(gpu->context, memory));
    }
}

static void alloc__more_than_the_system_has_mappings__works(void **state)
{
    const struct gpu *gpu = *state;
    enum { COUNT = 66000 }; /* vm.max_map_count is 65530 by default */
    static void *memory[COUNT];
    unsigned mappings = count_mappings();

    skip_in(HARNESS_ANY_LOADER, "mappings are the library's affair, and the calls take seconds");
    if (HAVE_THREAD_SANITIZER || HAVE_ADDRESS_SANITIZER)
        skip();
    for (int i = 0; i < COUNT; i++)
        assert_success(zeMemAllocHost(gpu->context, &host_desc, 100, 0, &memory[i]));
    assert_cmp(count_mappings(), <, mappings + 100);
    for (int i = 0; i < COUNT; i++)
        assert_success(zeMemFree(gpu->context, memory[i]));
    assert_cmp(count_mappings(), <, mappings + 100);
}

/* Rule 5.22. */
static void limits__of_the_device__are_kept_and_said(void **state)
{
    const struct gpu *gpu = *state;
    ze_relaxed_allocation_limits_ext_desc_t relaxed = {
        .stype = ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXT_DESC,
        .flags = ZE_RELAXED_ALLOCATION_LIMITS_EXT_FLAG_MAX_SIZE};
    ze_host_mem_alloc_desc_t large = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC,
                                      .pNext = &relaxed};
    uint64_t unused = gpu_unused(gpu);
    char *host = NULL;
    void *most = gpu_device_memory(gpu, unused - MIB);
    void *more = NULL;

    assert_int_equal(gpu_unused(gpu), MIB);
    assert_result(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
                  zeMemAllocDevice(gpu->context, &device_desc, 2 * MIB, 0, gpu->device, &more));
    assert_non_null(strstr(gpu_sentence(gpu), "memory_mib"));
    /* Memory of the host is not the device's, and may be larger than it when that is asked for. */
    assert_success(zeMemAllocHost(gpu->context, &large, unused + 16 * MIB, 0, (void **)&host));
    host[unused + 15 * MIB] = 1;
    assert_int_equal(gpu_unused(gpu), MIB);
    assert_success(zeMemFree(gpu->context, host));
    assert_success(zeMemFree(gpu->context, most));
    assert_int_equal(gpu_unused(gpu), unused);
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                  zeMemAllocHost(gpu->context, &host_desc, unused + 16 * MIB, 0, &more));
    assert_null(more);
}

/* Rule 5.23. */
static void shared__of_no_device__is_forced_onto_one_by_a_variable(void **state)
{
    const struct gpu *gpu = *state;
    uint64_t unused = gpu_unused(gpu);
    void *memory = NULL;

    for (int forced = 0; forced < 2; forced++) {
        if (forced)
            (void)setenv("ZE_SHARED_FORCE_DEVICE_ALLOC", "1", 1);
        assert_success(
            zeMemAllocShared(gpu->context, &device_desc, &host_desc, MIB, 0, NULL, &memory));
        (void)unsetenv("ZE_SHARED_FORCE_DEVICE_ALLOC");
        assert_int_equal(gpu_unused(gpu), forced ? unused - MIB : unused);
        assert_success(zeMemFree(gpu->context, memory));
    }
}

/* Rule 5.20. */
static void read_only__host_memory__kernels_only_read_it(void **state)
{
    struct gpu *gpu = *state;
    const ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC,
                                           .flags = ZE_HOST_MEM_ALLOC_FLAG_MEM_READ_ONLY};
    uint64_t *memory = NULL;
    uint64_t value = 0;

    skip_in(HARNESS_VALIDATION, "the layer refuses flags that are newer than it");
    assert_success(zeMemAllocHost(gpu->context, &desc, 64, 0, (void **)&memory));
    memory[2] = 17;
    assert_success(gpu_load(gpu, &memory[2], &value));
    assert_int_equal(value, 17);
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, gpu_store(gpu, memory, 1));
    gpu_renew_list(gpu);
    assert_int_equal(memory[0], 0);
    assert_success(zeMemFree(gpu->context, memory));
}

static ze_result_t map_system(const struct gpu *gpu, void *address, size_t bytes, uint32_t flags,
                              void **out_memory)
{
    ze_external_memmap_sysmem_ext_desc_t system = {
        .stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMMAP_SYSMEM_EXT_DESC,
        .pSystemMemory = address,
        .size = bytes};
    const ze_host_mem_alloc_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, .pNext = &system, .flags = flags};

    return zeMemAllocHost(gpu->context, &desc, bytes, 0, out_memory);
}

/* Rule 5.21. */
static void system_memory__of_the_heap__is_used_where_it_is(void **state)
{
    struct gpu *gpu = *state;
    ze_memory_allocation_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    uint64_t *heap = aligned_alloc(PAGE, 4 * PAGE);
    void *memory = NULL;
    void *second = NULL;

    memset(heap, 0, 4 * PAGE);
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, gpu_store(gpu, heap, 1));
    gpu_renew_list(gpu);
    assert_success(map_system(gpu, heap, 2 * PAGE, 0, &memory));
    assert_ptr_equal(memory, heap);
    assert_success(gpu_store(gpu, &heap[5], 55));
    assert_int_equal(heap[5], 55);
    assert_success(zeMemGetAllocProperties(gpu->context, heap, &properties, NULL));
    assert_int_equal(properties.type, ZE_MEMORY_TYPE_HOST_IMPORTED);
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  map_system(gpu, (char *)heap + PAGE, 2 * PAGE, 0, &second));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  map_system(gpu, (char *)heap + 8, PAGE, 0, &second));
    assert_success(zeMemFree(gpu->context, memory));
    /* Not the kernels' any more, but still there. */
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, gpu_store(gpu, heap, 1));
    gpu_renew_list(gpu);
    assert_int_equal(heap[5], 55);
    free(heap);
}

/* Rule 5.21. */
static void system_memory__that_cannot_be_used__is_refused(void **state)
{
    struct gpu *gpu = *state;
    char *constant = mmap(NULL, 4 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *memory = NULL;
    uint64_t value = 1;

    assert_cmp(constant, !=, MAP_FAILED);
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, map_system(gpu, constant, PAGE, 0, &memory));
    assert_non_null(strstr(gpu_sentence(gpu), "MEM_READ_ONLY"));
    assert_int_equal(munmap(constant + 2 * PAGE, PAGE), 0);
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  map_system(gpu, (void *)(uintptr_t)PAGE, PAGE, 0, &memory));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER, map_system(gpu, NULL, PAGE, 0, &memory));
    if ((harness_mode() & HARNESS_VALIDATION) == 0) {
        const uint32_t flag = ZE_HOST_MEM_ALLOC_FLAG_MEM_READ_ONLY;

        assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      map_system(gpu, constant, 4 * PAGE, flag, &memory));
        assert_non_null(strstr(gpu_sentence(gpu), "not all mapped"));
        assert_success(map_system(gpu, constant, 2 * PAGE, flag, &memory));
        assert_success(gpu_load(gpu, constant, &value));
        assert_int_equal(value, 0);
        assert_success(zeMemFree(gpu->context, memory));
    }
    munmap(constant, 2 * PAGE);
    munmap(constant + 3 * PAGE, PAGE);
}

/* True if this process may read there. */
static bool can_read(const void *address)
{
    int ends[2];
    bool good;

    if (pipe(ends) != 0)
        return false;
    good = write(ends[1], address, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    return good;
}

/* In a forked child, which has no cmocka: the number of the first check that failed, or 0. */
static int check_child(const uint64_t *parents)
{
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_driver_handle_t driver = NULL;
    ze_context_handle_t context = NULL;
    uint64_t *own = NULL;
    uint32_t count = 1;

    if (can_read(parents))
        return 1;
    if (zeDriverGet(&count, &driver) != ZE_RESULT_SUCCESS ||
        zeContextCreate(driver, &desc, &context) != ZE_RESULT_SUCCESS)
        return 2;
    if (zeMemAllocHost(context, &host_desc, 64 * PAGE, 0, (void **)&own) != ZE_RESULT_SUCCESS)
        return 3;
    for (size_t i = 0; i < 64 * PAGE / sizeof(*own); i++) {
        if (own[i] != 0)
            return 4;
        own[i] = UINT64_MAX;
    }
    return zeMemFree(context, own) == ZE_RESULT_SUCCESS ? 0 : 5;
}

/* Rule 5.25. */
static void fork__child__has_none_of_it_and_harms_nothing(void **state)
{
    const struct gpu *gpu = *state;
    uint64_t *memory = gpu_shared_memory(gpu, 64 * PAGE);
    int status = 0;

    memory[0] = 1;
    memory[8191] = 2;
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();

        assert_cmp(child, >=, 0);
        if (child == 0) {
            (void)alarm(600);
            _exit(check_child(memory));
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    assert_int_equal(memory[0], 1);
    assert_int_equal(memory[8191], 2);
    assert_success(gpu_store(gpu, &memory[7], 3));
    assert_int_equal(memory[7], 3);
    assert_success(zeMemFree(gpu->context, memory));
}

/* As above, with no standard stream open. */
static int check_closed_streams(void)
{
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_driver_handle_t driver = NULL;
    ze_context_handle_t context = NULL;
    ze_ipc_mem_handle_t handle;
    void *memory = NULL;
    uint32_t count = 1;

    for (int i = 0; i < 3; i++)
        close(i);
    if (zeDriverGet(&count, &driver) != ZE_RESULT_SUCCESS ||
        zeContextCreate(driver, &desc, &context) != ZE_RESULT_SUCCESS ||
        zeMemAllocHost(context, &host_desc, 64, 0, &memory) != ZE_RESULT_SUCCESS ||
        zeMemGetIpcHandle(context, memory, &handle) != ZE_RESULT_SUCCESS)
        return 1;
    for (int i = 0; i < 3; i++) {
        if (fcntl(i, F_GETFD) >= 0 || errno != EBADF)
            return 2 + i;
    }
    for (int i = 3; i < 64; i++) {
        char path[40], target[64] = "";

        snprintf(path, sizeof(path), "/proc/self/fd/%d", i);
        if (readlink(path, target, sizeof(target) - 1) > 0 && strstr(target, "zeta-vgpu-memory") &&
            (fcntl(i, F_GETFD) & FD_CLOEXEC) == 0)
            return 5;
    }
    return 0;
}

static void descriptors__standard_streams_closed__are_others(void **state)
{
    int status = 0;
    pid_t child = fork();

    (void)state;
    assert_cmp(child, >=, 0);
    if (child == 0) {
        (void)alarm(600);
        _exit(check_closed_streams());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* As above, where files may have one mebibyte: the memory of the device is a file. */
static int check_file_limit(void)
{
    const struct rlimit limit = {MIB, MIB};
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_driver_handle_t driver = NULL;
    ze_context_handle_t context = NULL;
    const char *sentence = "";
    char *memory = NULL;
    void *more = NULL;
    uint32_t count = 1;

    if (setrlimit(RLIMIT_FSIZE, &limit) != 0 || zeDriverGet(&count, &driver) != 0 ||
        zeContextCreate(driver, &desc, &context) != ZE_RESULT_SUCCESS)
        return 1;
    if (zeMemAllocHost(context, &host_desc, MIB / 2, 0, (void **)&memory) != ZE_RESULT_SUCCESS)
        return 2;
    memset(memory, 1, MIB / 2);
    if (zeMemAllocHost(context, &host_desc, MIB, 0, &more) != ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
        return 3;
    (void)zeDriverGetLastErrorDescription(driver, &sentence);
    return strstr(sentence, "ulimit -f") ? 0 : 4;
}

/* Rule 5.24. */
static void limits__of_the_size_of_files__are_said_and_kill_nobody(void **state)
{
    int status = 0;
    pid_t child = fork();

    (void)state;
    assert_cmp(child, >=, 0);
    if (child == 0) {
        (void)alarm(600);
        _exit(check_file_limit());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* A kernel writes to the target until somebody opens the gate; returns while it does. */
static ze_command_list_handle_t start_writing(const struct gpu *gpu, uint64_t *gate,
                                              volatile uint64_t *target)
{
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    const ze_group_count_t groups = {1, 1, 1};
    ze_command_list_handle_t list = NULL;

    *gate = 0;
    *target = 0;
    assert_success(zeCommandListCreateImmediate(gpu->context, gpu->device, &desc, &list));
    assert_success(zeKernelSetArgumentValue(gpu->wait_for, 0, sizeof(gate), &gate));
    assert_success(zeKernelSetArgumentValue(gpu->wait_for, 1, sizeof(target), &target));
    assert_success(zeCommandListAppendLaunchKernel(list, gpu->wait_for, &groups, NULL, 0, NULL));
    while (*target == 0)
        (void)sched_yield();
    return list;
}

static void *open_gate(void *gate)
{
    *(volatile uint64_t *)gate = 1;
    return NULL;
}

/* Rule 5.11. */
static void free__while_a_kernel_uses_it__goes_when_the_kernel_ended(void **state)
{
    const struct gpu *gpu = *state;
    uint64_t unused = gpu_unused(gpu);
    uint64_t *gate = gpu_host_memory(gpu, 8);
    uint64_t *target = gpu_shared_memory(gpu, unused / 2 + PAGE);
    ze_command_list_handle_t list = start_writing(gpu, gate, target);
    ze_ipc_mem_handle_t handle;
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    struct gpu other = *gpu;
    void *opened = NULL;
    pthread_t thread;

    assert_success(zeContextCreate(gpu->driver, &desc, &other.context));
    assert_success(zeMemGetIpcHandle(gpu->context, target, &handle));
    assert_success(zeMemFree(gpu->context, target));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeMemOpenIpcHandle(gpu->context, gpu->device, handle, 0, &opened));
    assert_cmp(gpu_unused(gpu), <, unused / 2);
    /* Who needs the memory waits for it, in any context. */
    assert_int_equal(pthread_create(&thread, NULL, open_gate, gate), 0);
    target = gpu_shared_memory(&other, unused / 2 + PAGE);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_success(zeMemFree(other.context, target));
    assert_success(zeContextDestroy(other.context));
    assert_int_equal(gpu_unused(gpu), unused);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeMemFree(gpu->context, gate));
}

/* Rule 5.29. */
static void memory__of_the_device__moves_a_line_in_a_clock(void **state)
{
    const struct gpu *gpu = *state;
    ze_device_properties_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ze_device_memory_properties_t memory = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES};
    ze_device_cache_line_size_ext_t line = {.stype = ZE_STRUCTURE_TYPE_DEVICE_CACHELINE_SIZE_EXT};
    ze_device_cache_properties_t cache = {.stype = ZE_STRUCTURE_TYPE_DEVICE_CACHE_PROPERTIES,
                                          .pNext = &line};
    uint32_t count = 1;

    assert_success(zeDeviceGetProperties(gpu->device, &device));
    assert_success(zeDeviceGetMemoryProperties(gpu->device, &count, &memory));
    count = 1;
    assert_success(zeDeviceGetCacheProperties(gpu->device, &count, &cache));
    assert_cmp(line.cacheLineSize, >, 0);
    assert_int_equal(memory.maxBusWidth, 8 * line.cacheLineSize);
    assert_int_equal(memory.maxClockRate, device.coreClockRate);
}

/* Blocks of the file that the memory of the device is part of. */
static long file_blocks(void)
{
    for (int i = 3; i < 256; i++) {
        char path[40], target[64] = "";
        struct stat status;

        snprintf(path, sizeof(path), "/proc/self/fd/%d", i);
        if (readlink(path, target, sizeof(target) - 1) > 0 && strstr(target, "zeta-vgpu-memory")) {
            assert_int_equal(fstat(i, &status), 0);
            return (long)status.st_blocks;
        }
    }
    fail_msg("no descriptor is the memory of the device");
    return 0;
}

static void use_memory(const struct gpu *gpu)
{
    uint64_t *memory = gpu_shared_memory(gpu, 3 * PAGE);
    void *host = gpu_host_memory(gpu, 10);

    memory[9] = 1;
    assert_success(zeMemFree(gpu->context, host));
    assert_success(zeMemFree(gpu->context, memory));
}

static void use_handles(const struct gpu *gpu)
{
    uint64_t *memory = gpu_shared_memory(gpu, 3 * PAGE);
    ze_ipc_mem_handle_t handle;
    uint64_t *opened = NULL;

    assert_success(zeMemGetIpcHandle(gpu->context, memory, &handle));
    assert_success(zeMemOpenIpcHandle(gpu->context, gpu->device, handle, 0, (void **)&opened));
    opened[0] = 1;
    assert_success(zeMemCloseIpcHandle(gpu->context, opened));
    assert_success(zeMemPutIpcHandle(gpu->context, handle));
    assert_success(zeMemFree(gpu->context, memory));
}

static void use_mappings(const struct gpu *gpu)
{
    const ze_memory_access_attribute_t rw = ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE;
    ze_physical_mem_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, .size = 4 * PAGE};
    ze_physical_mem_handle_t physical = NULL;
    char *address = NULL;

    assert_success(zePhysicalMemCreate(gpu->context, gpu->device, &desc, &physical));
    assert_success(zeVirtualMemReserve(gpu->context, (void *)(UINT64_C(1) << 40), 8 * PAGE,
                                       (void **)&address));
    assert_success(zeVirtualMemMap(gpu->context, address, 4 * PAGE, physical, 0, rw));
    address[PAGE] = 1;
    assert_success(zeVirtualMemSetAccessAttribute(gpu->context, address + PAGE, PAGE,
                                                  ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY));
    assert_success(zeVirtualMemUnmap(gpu->context, address + PAGE, 2 * PAGE));
    assert_success(zeVirtualMemFree(gpu->context, address, 8 * PAGE));
    assert_success(zePhysicalMemDestroy(gpu->context, physical));
}

static void many_calls__of_each_family__leave_nothing(void **state)
{
    const struct gpu *gpu = *state;
    void (*const families[])(const struct gpu *) = {use_memory, use_handles, use_mappings};

    for (size_t family = 0; family < 3; family++) {
        families[family](gpu);

        uint64_t unused = gpu_unused(gpu);
        unsigned descriptors = gpu_descriptors();
        unsigned mappings = count_mappings();
        long blocks = file_blocks();

        for (int i = 0; i < 3000; i++)
            families[family](gpu);
        assert_int_equal(gpu_unused(gpu), unused);
        assert_int_equal(gpu_descriptors(), descriptors);
        assert_int_equal(file_blocks(), blocks);
        /* The tables of objects grow until slots are used again. */
        assert_in_range(count_mappings(), mappings - 4, mappings + 4);
    }
}

/* What the threads of the next case share. */
struct work {
    const struct gpu *gpu;
    char *reserved; /* a page for each thread */
    ze_physical_mem_handle_t physical;
    uint64_t *common; /* allocation of which all make handles */
    unsigned number;
};

#define THREADS 4u
#define ROUNDS 200u

/* The number of calls that did not do what they should. */
static uintptr_t work_once(const struct work *w)
{
    const ze_memory_free_ext_desc_t later = {.stype = ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC,
                                             .freePolicy =
                                                 ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE};
    uint64_t *page = (uint64_t *)(void *)(w->reserved + w->number * PAGE);
    ze_context_handle_t context = w->gpu->context;
    ze_memory_access_attribute_t access = ZE_MEMORY_ACCESS_ATTRIBUTE_NONE;
    ze_ipc_mem_handle_t handle;
    uint64_t *opened = NULL, *own = NULL;
    uintptr_t wrong = 0;
    size_t size = 0;

    wrong += zeVirtualMemMap(context, page, PAGE, w->physical, w->number * PAGE,
                             ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE) != ZE_RESULT_SUCCESS;
    *page = w->number;
    wrong += zeVirtualMemSetAccessAttribute(context, page, PAGE,
                                            ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY) != 0;
    wrong += zeVirtualMemGetAccessAttribute(context, page, PAGE, &access, &size) != 0 ||
             access != ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY || *page != w->number;
    wrong += zeVirtualMemUnmap(context, page, PAGE) != ZE_RESULT_SUCCESS;
    wrong += zeMemGetIpcHandle(context, w->common, &handle) != ZE_RESULT_SUCCESS;
    wrong += zeMemOpenIpcHandle(context, w->gpu->device, handle, 0, (void **)&opened) != 0;
    if (opened) {
        opened[w->number] = w->number;
        wrong += zeMemCloseIpcHandle(context, opened) != ZE_RESULT_SUCCESS;
    }
    wrong += zeMemPutIpcHandle(context, handle) != ZE_RESULT_SUCCESS;
    wrong += zeMemAllocHost(context, &host_desc, 64, 0, (void **)&own) != ZE_RESULT_SUCCESS;
    wrong += zeMemFreeExt(context, &later, own) != ZE_RESULT_SUCCESS;
    return wrong;
}

static void *work_on(void *argument)
{
    uintptr_t wrong = 0;

    for (unsigned i = 0; i < ROUNDS; i++)
        wrong += work_once(argument);
    return (void *)wrong;
}

static void threads__share_map_and_free__disturb_nobody(void **state)
{
    const struct gpu *gpu = *state;
    ze_physical_mem_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC,
                                   .size = THREADS * PAGE};
    struct work work[THREADS] = {{.gpu = gpu}};
    unsigned descriptors = gpu_descriptors();
    uint64_t unused = gpu_unused(gpu);
    uint64_t *gate = gpu_host_memory(gpu, 16);
    pthread_t threads[THREADS];

    assert_success(zePhysicalMemCreate(gpu->context, gpu->device, &desc, &work[0].physical));
    assert_success(zeVirtualMemReserve(gpu->context, (void *)(UINT64_C(1) << 40), THREADS * PAGE,
                                       (void **)&work[0].reserved));
    work[0].common = gpu_shared_memory(gpu, PAGE);
    /* While a kernel runs, freed memory stays; the threads look at it together. */
    ze_command_list_handle_t list = start_writing(gpu, gate, gate + 1);
    for (unsigned i = 0; i < THREADS; i++) {
        work[i] = work[0];
        work[i].number = i;
        assert_int_equal(pthread_create(&threads[i], NULL, work_on, &work[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        void *wrong = NULL;

        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
        assert_int_equal(work[0].common[i], i);
    }
    (void)open_gate(gate);
    assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_success(zeCommandListDestroy(list));
    assert_int_equal(gpu_descriptors(), descriptors);
    assert_success(zeMemFree(gpu->context, gate));
    assert_success(zeMemFree(gpu->context, work[0].common));
    assert_success(zeVirtualMemFree(gpu->context, work[0].reserved, THREADS * PAGE));
    assert_success(zePhysicalMemDestroy(gpu->context, work[0].physical));
    assert_int_equal(gpu_unused(gpu), unused);
}

SUITE(gpu_memory)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free__while_a_kernel_uses_it__goes_when_the_kernel_ended),
        cmocka_unit_test(memory__of_the_device__moves_a_line_in_a_clock),
        cmocka_unit_test(alloc__any_alignment__is_aligned_and_zero),
        cmocka_unit_test(alloc__more_than_the_system_has_mappings__works),
        cmocka_unit_test(limits__of_the_device__are_kept_and_said),
        cmocka_unit_test(shared__of_no_device__is_forced_onto_one_by_a_variable),
        cmocka_unit_test(read_only__host_memory__kernels_only_read_it),
        cmocka_unit_test(system_memory__of_the_heap__is_used_where_it_is),
        cmocka_unit_test(system_memory__that_cannot_be_used__is_refused),
        cmocka_unit_test(fork__child__has_none_of_it_and_harms_nothing),
        cmocka_unit_test(descriptors__standard_streams_closed__are_others),
        cmocka_unit_test(limits__of_the_size_of_files__are_said_and_kill_nobody),
        cmocka_unit_test(many_calls__of_each_family__leave_nothing),
        cmocka_unit_test(threads__share_map_and_free__disturb_nobody),
    };

    return cmocka_run_group_tests(tests, gpu_setup, gpu_teardown);
}
