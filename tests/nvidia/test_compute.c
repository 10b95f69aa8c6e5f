/* Compute: memory, modules, kernels, queues, faults. Each case has a machine and a process. */

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/nvidia/bed.h"
#include "tests/nvidia/computing.h"
#include "tests/support/compare.h"

enum { COUNT = 1000 };

/* ---- memory ---- */

static void check_memory(void)
{
    const struct computing c = computing_open("api.ptx");
    ze_memory_allocation_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    void *memory[3];

    for (size_t align = 1; align <= 4 << 20; align *= 4) {
        memory[0] = computing_memory(&c, ZE_MEMORY_TYPE_DEVICE, 100, align);
        memory[1] = computing_memory(&c, ZE_MEMORY_TYPE_HOST, 100, align);
        memory[2] = computing_memory(&c, ZE_MEMORY_TYPE_SHARED, 100, align);
        for (int i = 0; i < 3; i++) {
            assert_int_equal((uintptr_t)memory[i] % align, 0);
            EXPECT_OK(zeMemGetAllocProperties(c.context, memory[i], &properties, NULL));
            assert_int_equal(properties.type, i == 0   ? ZE_MEMORY_TYPE_DEVICE
                                              : i == 1 ? ZE_MEMORY_TYPE_HOST
                                                       : ZE_MEMORY_TYPE_SHARED);
            computing_launch(&c, "store", 1, memory[i], 7 + i);
            assert_int_equal(computing_read(&c, memory[i]), 7 + i);
            EXPECT_OK(zeMemFree(c.context, memory[i]));
        }
    }
    computing_close(&c);
}

static void memory__of_each_kind__is_aligned_and_reached_by_kernels(void **state)
{
    (void)state;
    bed_run("gh100", check_memory);
}

static uint64_t unused(const struct computing *c)
{
    ze_device_usablemem_size_ext_properties_t bytes = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_USABLEMEM_SIZE_EXT_PROPERTIES};
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES,
                                         .pNext = &bytes};

    EXPECT_OK(zeDeviceGetProperties(c->device, &properties));
    return bytes.currUsableMemSize;
}

static void check_limits(void)
{
    const struct computing c = computing_open("api.ptx");
    const ze_device_mem_alloc_desc_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    const uint64_t all = unused(&c);
    void *most = computing_memory(&c, ZE_MEMORY_TYPE_DEVICE, all - (1 << 20), 0), *more = NULL;

    assert_int_equal(unused(&c), 1 << 20);
    EXPECT_RESULT(zeMemAllocDevice(c.context, &device, 2 << 20, 0, c.device, &more),
                  ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    expect_sentence("2097152 bytes of the device");
    /* What is shared is never more than fits on the device. */
    EXPECT_RESULT(zeMemAllocShared(c.context, &device, &host, 2 << 20, 0, c.device, &more),
                  ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    expect_sentence("2097152 bytes shared with the host");
    EXPECT_OK(zeMemFree(c.context, most));
    assert_int_equal(unused(&c), all);
    computing_close(&c);
}

static void memory__more_than_there_is__is_refused_with_the_size(void **state)
{
    (void)state;
    bed_run("gh100", check_limits);
}

static void check_application(void)
{
    const struct computing c = computing_open("api.ptx");
    const size_t bytes = 8 * (size_t)getpagesize();
    uint64_t *own = aligned_alloc((size_t)getpagesize(), bytes);
    ze_external_memmap_sysmem_ext_desc_t system = {
        .stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMMAP_SYSMEM_EXT_DESC,
        .pSystemMemory = own,
        .size = bytes};
    const ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC,
                                           .pNext = &system};
    void *memory = NULL, *again = NULL;

    EXPECT_OK(zeMemAllocHost(c.context, &desc, bytes, 0, &memory));
    assert_ptr_equal(memory, own);
    computing_launch(&c, "store", 1, &own[5], 55);
    assert_int_equal(own[5], 55);
    EXPECT_RESULT(zeMemAllocHost(c.context, &desc, bytes, 0, &again),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_OK(zeMemFree(c.context, memory));
    assert_int_equal(own[5], 55);
    assert_int_equal(mprotect(own, bytes, PROT_READ), 0);
    EXPECT_RESULT(zeMemAllocHost(c.context, &desc, bytes, 0, &again),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_sentence("ZE_HOST_MEM_ALLOC_FLAG_MEM_READ_ONLY");
    assert_int_equal(mprotect(own, bytes, PROT_READ | PROT_WRITE), 0);
    free(own);
    computing_close(&c);
}

static void memory__of_the_application__is_used_where_it_is(void **state)
{
    (void)state;
    bed_run("gh100", check_application);
}

static void check_virtual(void)
{
    const struct computing c = computing_open("api.ptx");
    const ze_memory_access_attribute_t rw = ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE;
    ze_physical_mem_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC};
    ze_physical_mem_handle_t physical = NULL, host = NULL;
    const uint64_t all = unused(&c);
    size_t page = 0;
    void *reserved = NULL;

    EXPECT_OK(zeVirtualMemQueryPageSize(c.context, c.device, 100, &page));
    assert_int_equal(page, 2 << 20);
    desc.size = 4 * page;
    EXPECT_OK(zePhysicalMemCreate(c.context, c.device, &desc, &physical));
    assert_int_equal(unused(&c), all - 4 * page);
    /* A place to begin at is optional, but the validation of old loaders wants one. */
    EXPECT_OK(
        zeVirtualMemReserve(c.context, (const void *)(UINT64_C(1) << 40), 8 * page, &reserved));
    /* Any pages of it, in two places. */
    char *address = reserved;
    EXPECT_OK(zeVirtualMemMap(c.context, address + page, 2 * page, physical, 2 * page, rw));
    EXPECT_OK(zeVirtualMemMap(c.context, address + 4 * page, 4 * page, physical, 0, rw));
    computing_launch(&c, "store", 1, address + page, 77);
    assert_int_equal(computing_read(&c, address + 6 * page), 77);
    EXPECT_OK(zeVirtualMemUnmap(c.context, address + page, page));
    EXPECT_OK(zeVirtualMemSetAccessAttribute(c.context, address + 4 * page, page,
                                             ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY));
    EXPECT_OK(zeVirtualMemFree(c.context, address, 8 * page));
    EXPECT_OK(zePhysicalMemDestroy(c.context, physical));
    assert_int_equal(unused(&c), all);
    /* Old validation does not know where physical memory can be. */
    desc.flags = ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST;
    if ((harness_mode() & HARNESS_VALIDATION) == 0)
        EXPECT_RESULT(zePhysicalMemCreate(c.context, c.device, &desc, &host),
                      ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    computing_close(&c);
}

/* Rule 28.8. */
static void virtual_memory__pages_anywhere__show_the_same_memory(void **state)
{
    (void)state;
    bed_run("gh100", check_virtual);
}

/* ---- modules ---- */

/* Builds an image that is wrong; the log has that text, too. */
static void refuse(const struct computing *c, ze_module_format_t format, const void *image,
                   size_t bytes, ze_result_t wanted, const char *part)
{
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = format,
                                   .inputSize = bytes,
                                   .pInputModule = image};
    ze_module_build_log_handle_t log = NULL;
    ze_module_handle_t module = NULL;
    char text[4096] = "";
    size_t size = sizeof(text);

    EXPECT_RESULT(zeModuleCreate(c->context, c->device, &desc, &module, &log), wanted);
    /* Of IL the library itself says that the device takes none. */
    expect_sentence(format == ZE_MODULE_FORMAT_NATIVE ? part : "see the build log");
    EXPECT_OK(zeModuleBuildLogGetString(log, &size, text));
    if (!strstr(text, part))
        fail_msg("the log does not say \"%s\": %s", part, text);
    EXPECT_OK(zeModuleBuildLogDestroy(log));
}

static void check_images(void)
{
    const struct computing c = computing_open("api.ptx");
    static const char other_elf[64] = "\177ELF\002\001\001";
    static const uint32_t fatbin[4] = {0xba55ed50, 0x100001, 1000000, 0};
    static const uint32_t wrapper[6] = {0x466243b1, 1};
    static const char middle[] = ".version 7.0\n\0.target sm_70";
    static const char newer[] = ".version 99.0\n.target sm_70\n.address_size 64\n";
    static const char later[] = ".version 7.0\n.target sm_190\n.address_size 64\n";
    const ze_result_t invalid = ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
    const ze_result_t failure = ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
    char *unfinished = strdup(".version 7.0\n.target sm_70\n.entry add(.param .u64 sum");

    refuse(&c, ZE_MODULE_FORMAT_NATIVE, "hello", 5, invalid, "neither PTX");
    refuse(&c, ZE_MODULE_FORMAT_NATIVE, "\177", 1, invalid, "neither PTX");
    refuse(&c, ZE_MODULE_FORMAT_NATIVE, other_elf, sizeof(other_elf), invalid, "no cubin");
    refuse(&c, ZE_MODULE_FORMAT_NATIVE, other_elf, 20, invalid, "ends before its sections do");
    refuse(&c, ZE_MODULE_FORMAT_NATIVE, fatbin, sizeof(fatbin), invalid, "ends before its images");
    refuse(&c, ZE_MODULE_FORMAT_NATIVE, fatbin, 8, invalid, "ends before its images");
    refuse(&c, ZE_MODULE_FORMAT_NATIVE, wrapper, sizeof(wrapper), invalid, "wrapper");
    refuse(&c, ZE_MODULE_FORMAT_NATIVE, middle, sizeof(middle), invalid, "neither PTX");
    refuse(&c, ZE_MODULE_FORMAT_NATIVE, newer, sizeof(newer) - 1, failure, "Unsupported .version");
    refuse(&c, ZE_MODULE_FORMAT_NATIVE, later, sizeof(later) - 1, invalid, "sm_190");
    refuse(&c, ZE_MODULE_FORMAT_NATIVE, unfinished, strlen(unfinished), failure, "ptxas fatal");
    free(unfinished);
    computing_close(&c);
}

/* Images of no byte, and of 2 GiB, of which nearly all is zero. */
static void check_sizes(void)
{
    static const char *const heads[] = {"", "hello", ".version 7.0\n.target sm_70\n",
                                        "\177ELF\002\001\001"};
    const size_t large = (size_t)2 << 30;
    const struct computing c = computing_open("api.ptx");
    char *memory = mmap(NULL, large, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE,
                             .pInputModule = (const uint8_t *)memory};
    ze_module_handle_t module = NULL;

    assert_ptr_not_equal(memory, MAP_FAILED);
    EXPECT_RESULT(zeModuleCreate(c.context, c.device, &desc, &module, NULL),
                  ZE_RESULT_ERROR_INVALID_SIZE);
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        memset(memory, 0, 64);
        (void)strcpy(memory, heads[i]);
        memory[large - 1] = 'x'; /* zeros behind a text would be its padding */
        refuse(&c, ZE_MODULE_FORMAT_NATIVE, memory, large, ZE_RESULT_ERROR_INVALID_NATIVE_BINARY,
               i == 3 ? "no cubin" : "neither PTX");
    }
    assert_int_equal(munmap(memory, large), 0);
    computing_close(&c);
}

static void image__of_no_byte_and_of_2_gib__is_refused(void **state)
{
    (void)state;
    bed_run("gh100", check_sizes);
}

/* Rule 28.7. */
static void image__that_is_wrong__is_refused_with_sentence_and_log(void **state)
{
    (void)state;
    bed_run("gh100", check_images);
}

/* A text that ends where the memory does: the terminator is a copy's. */
static void check_terminator(void)
{
    const struct computing c = computing_open("api.ptx");
    static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                               ".visible .entry ids(.param .u64 target)\n{\n    ret;\n}";
    const size_t page = (size_t)getpagesize();
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE,
                             .inputSize = sizeof(text) - 1};
    ze_module_handle_t module = NULL;
    uint32_t count = 0;

    assert_int_equal(munmap(memory + page, page), 0);
    memcpy(memory + page - desc.inputSize, text, desc.inputSize);
    desc.pInputModule = (const uint8_t *)(memory + page - desc.inputSize);
    EXPECT_OK(zeModuleCreate(c.context, c.device, &desc, &module, NULL));
    EXPECT_OK(zeModuleGetKernelNames(module, &count, NULL));
    assert_int_equal(count, 1);
    EXPECT_OK(zeModuleDestroy(module));
    computing_close(&c);
}

/* Rule 28.7. */
static void image__ptx_without_terminator__is_built(void **state)
{
    (void)state;
    bed_run("gh100", check_terminator);
}

static void check_native_binary(void)
{
    const struct computing c = computing_open("api.ptx");
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE};
    ze_module_handle_t module = NULL;
    uint32_t names = 0, again = 0;

    EXPECT_OK(zeModuleGetKernelNames(c.module, &names, NULL));
    EXPECT_OK(zeModuleGetNativeBinary(c.module, &desc.inputSize, NULL));
    uint8_t *image = malloc(desc.inputSize);
    EXPECT_OK(zeModuleGetNativeBinary(c.module, &desc.inputSize, image));
    assert_memory_equal(image, "\177ELF", 4);
    desc.pInputModule = image;
    EXPECT_OK(zeModuleCreate(c.context, c.device, &desc, &module, NULL));
    EXPECT_OK(zeModuleGetKernelNames(module, &again, NULL));
    assert_int_equal(names, again);
    EXPECT_OK(zeModuleDestroy(module));
    free(image);
    computing_close(&c);
}

/* Rule 28.7. */
static void native_binary__of_ptx__is_the_cubin(void **state)
{
    (void)state;
    bed_run("gh100", check_native_binary);
}

/* ---- kernels ---- */

static void check_kernel(void)
{
    const struct computing c = computing_open("api.ptx");
    ze_kernel_handle_t kernel = computing_kernel(&c, "matrix");
    ze_kernel_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
    const ze_kernel_desc_t unknown = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "no"};
    ze_kernel_handle_t none = NULL;
    const uint32_t size = 3;
    const uint64_t large = 3;

    EXPECT_OK(zeKernelGetProperties(kernel, &properties));
    assert_int_equal(properties.numKernelArgs, 5); /* dynamic shared memory is one */
    assert_int_equal(properties.maxSubgroupSize, 32);
    EXPECT_OK(zeKernelSetArgumentValue(kernel, 0, sizeof(void *), &kernel));
    EXPECT_RESULT(zeKernelSetArgumentValue(kernel, 0, 0, NULL),
                  ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    EXPECT_OK(zeKernelSetArgumentValue(kernel, 3, sizeof(size), &size));
    EXPECT_OK(zeKernelSetArgumentValue(kernel, 3, sizeof(large), &large)); /* cut, and logged */
    EXPECT_OK(zeKernelSetArgumentValue(kernel, 4, 200 << 10, NULL));
    EXPECT_RESULT(zeKernelSetArgumentValue(kernel, 4, 300 << 10, NULL),
                  ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    EXPECT_RESULT(zeKernelSetArgumentValue(kernel, 5, 4, &size),
                  ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX);
    EXPECT_RESULT(zeKernelCreate(c.module, &unknown, &none), ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
    expect_sentence("no kernel");
    EXPECT_OK(zeKernelDestroy(kernel));
    computing_close(&c);
}

static void kernel__of_ptx__has_its_arguments_and_shared_memory(void **state)
{
    (void)state;
    bed_run("gh100", check_kernel);
}

/* A driver before CUDA 12.4: the image tells names and arguments. */
static void check_old_driver(void)
{
    assert_true(cuda_fault(bed_machine, "cuModuleGetFunctionCount=801@1+"));
    assert_true(cuda_fault(bed_machine, "cuFuncGetParamInfo=801@1+"));
    const struct computing c = computing_open("api.ptx");
    ze_kernel_handle_t kernel = computing_kernel(&c, "matrix");
    ze_kernel_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
    uint64_t *memory = computing_memory(&c, ZE_MEMORY_TYPE_SHARED, 64, 0);
    uint32_t count = 0;

    EXPECT_OK(zeModuleGetKernelNames(c.module, &count, NULL));
    assert_int_equal(count, 11);
    EXPECT_OK(zeKernelGetProperties(kernel, &properties));
    assert_int_equal(properties.numKernelArgs, 5);
    computing_launch(&c, "store", 1, memory, 5);
    assert_int_equal(*memory, 5);
    EXPECT_OK(zeKernelDestroy(kernel));
    computing_close(&c);
}

static void kernel__with_an_old_driver__is_told_by_its_image(void **state)
{
    (void)state;
    bed_run("gh100", check_old_driver);
}

static void check_shared(void)
{
    const struct computing c = computing_open("api.ptx");
    ze_kernel_handle_t kernel = computing_kernel(&c, "reverse");
    uint32_t *numbers = computing_memory(&c, ZE_MEMORY_TYPE_SHARED, 64 * sizeof(*numbers), 0);
    const ze_group_count_t groups = {4, 1, 1};

    for (uint32_t i = 0; i < 64; i++)
        numbers[i] = i;
    EXPECT_OK(zeKernelSetGroupSize(kernel, 16, 1, 1));
    EXPECT_OK(zeKernelSetArgumentValue(kernel, 0, sizeof(numbers), &numbers));
    EXPECT_OK(zeKernelSetArgumentValue(kernel, 1, 16 * sizeof(*numbers), NULL));
    EXPECT_OK(zeCommandListAppendLaunchKernel(c.list, kernel, &groups, NULL, 0, NULL));
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(numbers[i], i / 16 * 16 + 15 - i % 16);
    /* 100 KiB: more than without asking for it. */
    EXPECT_OK(zeKernelSetArgumentValue(kernel, 1, 100 << 10, NULL));
    EXPECT_OK(zeCommandListAppendLaunchKernel(c.list, kernel, &groups, NULL, 0, NULL));
    assert_int_equal(numbers[5], 5);
    EXPECT_OK(zeKernelDestroy(kernel));
    computing_close(&c);
}

static void shared_memory__as_the_last_argument__is_the_launchs(void **state)
{
    (void)state;
    bed_run("gh100", check_shared);
}

/* ---- commands ---- */

static void check_fills(void)
{
    const struct computing c = computing_open("api.ptx");
    uint8_t *target = computing_memory(&c, ZE_MEMORY_TYPE_SHARED, COUNT, 0);
    uint8_t pattern[128];

    for (size_t i = 0; i < sizeof(pattern); i++)
        pattern[i] = (uint8_t)(i * 37 + 1);
    for (size_t size = 1; size <= sizeof(pattern); size *= 2) {
        const size_t bytes = COUNT / size * size;

        memset(target, 0xee, COUNT);
        EXPECT_OK(
            zeCommandListAppendMemoryFill(c.list, target, pattern, size, bytes, NULL, 0, NULL));
        for (size_t i = 0; i < COUNT; i++)
            assert_int_equal(target[i], i < bytes ? pattern[i % size] : 0xee);
    }
    computing_close(&c);
}

static void fill__patterns_of_any_size__repeat(void **state)
{
    (void)state;
    bed_run("gh100", check_fills);
}

/* From and to memory that the driver does not know, device memory, and wherever nothing is. */
static void check_copies(void)
{
    const struct computing c = computing_open("api.ptx");
    const size_t bytes = (3 << 20) + 5;
    uint8_t *from = malloc(bytes), *to = calloc(1, bytes);
    uint8_t *device = computing_memory(&c, ZE_MEMORY_TYPE_DEVICE, bytes, 0);
    const ze_copy_region_t source = {
        .originX = 3, .originY = 2, .originZ = 1, .width = 10, .height = 4, .depth = 2};
    const ze_copy_region_t target = {
        .originX = 1, .originY = 0, .originZ = 0, .width = 10, .height = 4, .depth = 2};

    for (size_t i = 0; i < bytes; i++)
        from[i] = (uint8_t)(i * 7 + i / 251);
    EXPECT_OK(zeCommandListAppendMemoryCopy(c.list, device, from, bytes, NULL, 0, NULL));
    EXPECT_OK(zeCommandListAppendMemoryCopy(c.list, to, device, bytes, NULL, 0, NULL));
    assert_memory_equal(from, to, bytes);
    for (int known = 0; known < 2; known++) {
        uint8_t *out = known ? computing_memory(&c, ZE_MEMORY_TYPE_SHARED, 4096, 0) : to;

        memset(out, 0, 4096);
        EXPECT_OK(zeCommandListAppendMemoryCopyRegion(c.list, out, &target, 20, 20 * 6, device,
                                                      &source, 32, 32 * 8, NULL, 0, NULL));
        for (size_t z = 0; z < 2; z++) {
            for (size_t y = 0; y < 4; y++)
                assert_memory_equal(out + z * 120 + y * 20 + 1,
                                    from + (z + 1) * 256 + (y + 2) * 32 + 3, 10);
        }
        assert_int_equal(out[0], 0);
        assert_int_equal(out[11], 0);
    }
    free(from);
    free(to);
    computing_close(&c);
}

static void copy__between_all_kinds_of_memory__is_exact(void **state)
{
    (void)state;
    bed_run("gh100", check_copies);
}

/* As copies: the driver does not know the memory. What is before the fill in the list comes before.
 */
static void check_fills_of_application(void)
{
    enum { BYTES = 3 << 20, SIZE = 64 };
    const struct computing c = computing_open("api.ptx");
    uint8_t *own = aligned_alloc(SIZE, BYTES), pattern[SIZE];
    uint64_t *value = computing_memory(&c, ZE_MEMORY_TYPE_DEVICE, sizeof(*value), 0);

    assert_non_null(own);
    for (size_t i = 0; i < SIZE; i++)
        pattern[i] = (uint8_t)(i * 37 + 1);
    memset(own, 0xee, BYTES);
    EXPECT_OK(zeCommandListAppendMemoryFill(c.list, own + SIZE, pattern, SIZE, BYTES - 2 * SIZE,
                                            NULL, 0, NULL));
    for (size_t i = 0; i < BYTES; i++)
        assert_int_equal(own[i], i >= SIZE && i < BYTES - SIZE ? pattern[i % SIZE] : 0xee);
    computing_launch(&c, "store", 1, value, 7);
    EXPECT_OK(zeCommandListAppendMemoryCopy(c.list, own, value, 8, NULL, 0, NULL));
    EXPECT_OK(zeCommandListAppendMemoryFill(c.list, own, "x", 1, 4, NULL, 0, NULL));
    assert_memory_equal(own, "xxxx\0\0\0\0", 8);
    free(own);
    computing_close(&c);
}

static void fill__of_memory_of_the_application__repeats(void **state)
{
    (void)state;
    bed_run("gh100", check_fills_of_application);
}

static void check_wild(void)
{
    const struct computing c = computing_open("api.ptx");
    uint64_t *good = computing_memory(&c, ZE_MEMORY_TYPE_SHARED, 64, 0);
    void *wild = (void *)0x10;
    ze_command_list_handle_t list;

    for (int i = 0; i < 4; i++) {
        list = computing_list(&c, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
        if (i == 0)
            EXPECT_OK(zeCommandListAppendMemoryCopy(list, wild, good, 8, NULL, 0, NULL));
        else if (i == 1)
            EXPECT_OK(zeCommandListAppendMemoryCopy(list, good, wild, 8, NULL, 0, NULL));
        else if (i == 2)
            EXPECT_OK(zeCommandListAppendMemoryFill(list, wild, "x", 1, 64, NULL, 0, NULL));
        else
            EXPECT_OK(zeCommandListAppendWriteGlobalTimestamp(list, wild, NULL, 0, NULL));
        EXPECT_RESULT(zeCommandListHostSynchronize(list, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
        expect_sentence("0x10");
        EXPECT_OK(zeCommandListDestroy(list));
        /* No kernel of the GPU was at fault: it goes on. */
        EXPECT_OK(zeDeviceGetStatus(c.device));
        computing_launch(&c, "store", 1, good, 5);
        assert_int_equal(*good, 5);
    }
    computing_close(&c);
}

/* Rule 28.9. */
static void command__at_a_wild_address__loses_the_queue_alone(void **state)
{
    (void)state;
    bed_run("gh100", check_wild);
}

/* Launches in a row: all are in the driver's hands while the first one runs. */
static void check_in_a_row(void)
{
    const struct computing c = computing_open("api.ptx");
    ze_command_list_handle_t list = computing_list(&c, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_kernel_handle_t wait = computing_kernel(&c, "wait_for"), add = computing_kernel(&c, "add");
    const ze_group_count_t one = {1, 1, 1};
    uint64_t *numbers = computing_memory(&c, ZE_MEMORY_TYPE_SHARED, 64, 0);
    uint64_t *gate = &numbers[0], *seen = &numbers[1], *sum = &numbers[2];
    const uint64_t value = 1, before = cuda_calls(bed_machine, "cuLaunchKernel");

    memset(numbers, 0, 64);
    EXPECT_OK(zeKernelSetArgumentValue(wait, 0, sizeof(gate), &gate));
    EXPECT_OK(zeKernelSetArgumentValue(wait, 1, sizeof(seen), &seen));
    EXPECT_OK(zeKernelSetArgumentValue(add, 0, sizeof(sum), &sum));
    EXPECT_OK(zeKernelSetArgumentValue(add, 1, sizeof(value), &value));
    EXPECT_OK(zeCommandListAppendLaunchKernel(list, wait, &one, NULL, 0, NULL));
    for (int i = 0; i < 100; i++)
        EXPECT_OK(zeCommandListAppendLaunchKernel(list, add, &one, NULL, 0, NULL));
    assert_int_equal(cuda_calls(bed_machine, "cuLaunchKernel") - before, 101);
    assert_int_equal(zeCommandListHostSynchronize(list, 0), ZE_RESULT_NOT_READY);
    __atomic_store_n(gate, 1, __ATOMIC_SEQ_CST);
    EXPECT_OK(zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_int_equal(*sum, 100);
    /* More than go into the stream at once. */
    __atomic_store_n(gate, 0, __ATOMIC_SEQ_CST);
    EXPECT_OK(zeCommandListAppendLaunchKernel(list, wait, &one, NULL, 0, NULL));
    for (int i = 0; i < 3000; i++)
        EXPECT_OK(zeCommandListAppendLaunchKernel(list, add, &one, NULL, 0, NULL));
    __atomic_store_n(gate, 1, __ATOMIC_SEQ_CST);
    EXPECT_OK(zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_int_equal(*sum, 3100);
    EXPECT_OK(zeCommandListDestroy(list));
    EXPECT_OK(zeKernelDestroy(wait));
    EXPECT_OK(zeKernelDestroy(add));
    computing_close(&c);
}

static void launches__in_a_row__do_not_wait_for_each_other(void **state)
{
    (void)state;
    bed_run("gh100", check_in_a_row);
}

/* The event of a short launch comes although a long one is behind it. */
static void check_event_of_first(void)
{
    const struct computing c = computing_open("api.ptx");
    ze_command_list_handle_t list = computing_list(&c, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_kernel_handle_t wait = computing_kernel(&c, "wait_for"), ids = computing_kernel(&c, "ids");
    const ze_group_count_t one = {1, 1, 1};
    const ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                            .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                            .count = 1};
    const ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    uint64_t *numbers = computing_memory(&c, ZE_MEMORY_TYPE_SHARED, 256, 0);
    uint64_t *gate = &numbers[0], *seen = &numbers[1], *target = &numbers[8];
    ze_event_pool_handle_t pool = NULL;
    ze_event_handle_t event = NULL;

    memset(numbers, 0, 256);
    EXPECT_OK(zeEventPoolCreate(c.context, &pool_desc, 0, NULL, &pool));
    EXPECT_OK(zeEventCreate(pool, &desc, &event));
    EXPECT_OK(zeKernelSetArgumentValue(wait, 0, sizeof(gate), &gate));
    EXPECT_OK(zeKernelSetArgumentValue(wait, 1, sizeof(seen), &seen));
    EXPECT_OK(zeKernelSetArgumentValue(ids, 0, sizeof(target), &target));
    for (int round = 0; round < 20; round++) {
        __atomic_store_n(gate, 0, __ATOMIC_SEQ_CST);
        EXPECT_OK(zeEventHostReset(event));
        EXPECT_OK(zeCommandListAppendLaunchKernel(list, ids, &one, NULL, 0, NULL));
        EXPECT_OK(zeCommandListAppendLaunchKernel(list, ids, &one, event, 0, NULL));
        EXPECT_OK(zeCommandListAppendLaunchKernel(list, wait, &one, NULL, 0, NULL));
        EXPECT_OK(zeEventHostSynchronize(event, UINT64_MAX));
        __atomic_store_n(gate, 1, __ATOMIC_SEQ_CST);
        EXPECT_OK(zeCommandListHostSynchronize(list, UINT64_MAX));
    }
    EXPECT_OK(zeCommandListDestroy(list));
    EXPECT_OK(zeEventDestroy(event));
    EXPECT_OK(zeEventPoolDestroy(pool));
    EXPECT_OK(zeKernelDestroy(wait));
    EXPECT_OK(zeKernelDestroy(ids));
    computing_close(&c);
}

static void event__of_a_launch__does_not_wait_for_later_ones(void **state)
{
    (void)state;
    bed_run("gh100", check_event_of_first);
}

/* A program may use CUDA itself: what it had current stays current. */
static void check_current(void)
{
    void *library = dlopen(CUDA_LIBRARIES "/libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    int (*get_current)(void **);
    void *current = library;

    assert_non_null(library);
    *(void **)&get_current = dlsym(library, "cuCtxGetCurrent");
    const struct computing c = computing_open("api.ptx");
    uint64_t *memory = computing_memory(&c, ZE_MEMORY_TYPE_SHARED, 64, 0);
    ze_command_list_handle_t list = computing_list(&c, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);

    computing_launch(&c, "store", 1, memory, 5);
    EXPECT_OK(zeCommandListAppendMemoryFill(list, memory, "x", 1, 8, NULL, 0, NULL));
    EXPECT_OK(zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_int_equal(get_current(&current), 0);
    assert_null(current);
    EXPECT_OK(zeCommandListDestroy(list));
    computing_close(&c);
    assert_int_equal(get_current(&current), 0);
    assert_null(current);
}

/* Rule 28.11. */
static void context__of_the_calling_thread__stays_current(void **state)
{
    (void)state;
    bed_run("gh100", check_current);
}

/* ---- faults ---- */

static void check_fault(void)
{
    ze_device_handle_t devices[2];
    struct computing c;
    ze_command_list_handle_t list, other;
    ze_kernel_handle_t wild;
    const ze_group_count_t one = {1, 1, 1};

    bed_devices(2, devices);
    c = computing_open_on(devices[0], "api.ptx");
    list = computing_list(&c, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    wild = computing_kernel(&c, "wild");
    EXPECT_OK(zeCommandListAppendLaunchKernel(list, wild, &one, NULL, 0, NULL));
    EXPECT_RESULT(zeCommandListHostSynchronize(list, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    expect_sentence("kernel wild");
    expect_sentence("an address that is not mapped");
    EXPECT_RESULT(zeDeviceGetStatus(c.device), ZE_RESULT_ERROR_DEVICE_LOST);
    expect_sentence("kernel wild");
    EXPECT_OK(zeCommandListDestroy(list));
    /* For good, and on every queue of the device. */
    EXPECT_RESULT(zeDeviceGetStatus(c.device), ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_RESULT(zeCommandListAppendBarrier(c.list, NULL, 0, NULL), ZE_RESULT_ERROR_DEVICE_LOST);
    expect_sentence("until the program ends");
    /* The other one goes on. */
    EXPECT_OK(zeDeviceGetStatus(devices[1]));
    struct computing second = computing_open_on(devices[1], "api.ptx");
    uint64_t *memory = computing_memory(&second, ZE_MEMORY_TYPE_SHARED, 64, 0);
    other = computing_list(&second, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    computing_launch(&second, "store", 1, memory, 5);
    assert_int_equal(*memory, 5);
    EXPECT_OK(zeCommandListDestroy(other));
    computing_close(&second);
    EXPECT_OK(zeKernelDestroy(wild));
    computing_close(&c);
}

/* Rule 28.10. */
static void fault__of_a_kernel__loses_its_device_for_good(void **state)
{
    (void)state;
    bed_run("{format: 1, gpus: [{chip: gh100}, {chip: gh100}]}", check_fault);
}

static void check_gone(void)
{
    const struct computing c = computing_open("api.ptx");
    ze_command_list_handle_t list = computing_list(&c, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    const ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    void *memory = NULL;

    assert_true(cuda_fault(bed_machine, "cu*=999@1+"));
    EXPECT_RESULT(zeMemAllocDevice(c.context, &desc, 100, 0, c.device, &memory),
                  ZE_RESULT_ERROR_DEVICE_LOST);
    expect_sentence("the GPU may be gone");
    EXPECT_RESULT(zeCommandListAppendBarrier(list, NULL, 0, NULL), ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_OK(zeCommandListDestroy(list));
    computing_close(&c);
}

static void device__that_falls_off__is_lost_with_a_sentence(void **state)
{
    (void)state;
    bed_run("gh100", check_gone);
}

SUITE(compute)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory__of_each_kind__is_aligned_and_reached_by_kernels),
        cmocka_unit_test(memory__more_than_there_is__is_refused_with_the_size),
        cmocka_unit_test(memory__of_the_application__is_used_where_it_is),
        cmocka_unit_test(virtual_memory__pages_anywhere__show_the_same_memory),
        cmocka_unit_test(image__that_is_wrong__is_refused_with_sentence_and_log),
        cmocka_unit_test(image__of_no_byte_and_of_2_gib__is_refused),
        cmocka_unit_test(image__ptx_without_terminator__is_built),
        cmocka_unit_test(native_binary__of_ptx__is_the_cubin),
        cmocka_unit_test(kernel__of_ptx__has_its_arguments_and_shared_memory),
        cmocka_unit_test(kernel__with_an_old_driver__is_told_by_its_image),
        cmocka_unit_test(shared_memory__as_the_last_argument__is_the_launchs),
        cmocka_unit_test(fill__patterns_of_any_size__repeat),
        cmocka_unit_test(fill__of_memory_of_the_application__repeats),
        cmocka_unit_test(copy__between_all_kinds_of_memory__is_exact),
        cmocka_unit_test(command__at_a_wild_address__loses_the_queue_alone),
        cmocka_unit_test(launches__in_a_row__do_not_wait_for_each_other),
        cmocka_unit_test(event__of_a_launch__does_not_wait_for_later_ones),
        cmocka_unit_test(context__of_the_calling_thread__stays_current),
        cmocka_unit_test(fault__of_a_kernel__loses_its_device_for_good),
        cmocka_unit_test(device__that_falls_off__is_lost_with_a_sentence),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
