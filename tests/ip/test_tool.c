/*
 * A profiler as there are some: it keeps 32 bits of the address and the size of each kernel, and
 * looks up samples by IP times 8.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/metric_api/harness.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { METRICS = 10, ITEMS = 32, ROUNDS = 20000, MAX_KERNELS = 16 };

/* What the profiler knows of a kernel. */
struct known {
    ze_kernel_handle_t kernel;
    char name[32];
    uint32_t base;
    size_t size;
    uint64_t samples;
};

struct bench {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_command_list_handle_t list; /* synchronous */
    zet_metric_group_handle_t group;
    ze_module_handle_t modules[3];
    void *memory;
    struct known kernels[MAX_KERNELS];
    uint32_t kernel_count;
    uint64_t samples;
};

static ze_module_handle_t load(const struct bench *bench, const char *path,
                               ze_module_format_t format)
{
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC, .format = format};
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc(1u << 20);
    ze_module_handle_t module = NULL;

    assert_non_null(file);
    assert_non_null(bytes);
    desc.inputSize = fread(bytes, 1, 1u << 20, file);
    desc.pInputModule = bytes;
    (void)fclose(file);
    EXPECT_OK(zeModuleCreate(bench->context, bench->device, &desc, &module, NULL));
    free(bytes);
    return module;
}

static uint64_t base_of(const struct bench *bench, ze_kernel_handle_t kernel)
{
    ze_result_t(ZE_APICALL * function)(ze_kernel_handle_t, uint64_t *) = NULL;
    void *address = NULL;
    uint64_t base = 0;

    EXPECT_OK(
        zeDriverGetExtensionFunctionAddress(bench->driver, "zexKernelGetBaseAddress", &address));
    memcpy(&function, &address, sizeof(function));
    EXPECT_OK(function(kernel, &base));
    return base;
}

static void get_to_know(struct bench *bench, ze_module_handle_t module)
{
    const char *names[MAX_KERNELS];
    uint32_t count = MAX_KERNELS;

    EXPECT_OK(zeModuleGetKernelNames(module, &count, names));
    for (uint32_t i = 0; i < count; i++) {
        const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                       .pKernelName = names[i]};
        struct known *known = &bench->kernels[bench->kernel_count++];

        (void)snprintf(known->name, sizeof(known->name), "%s", names[i]);
        EXPECT_OK(zeKernelCreate(module, &desc, &known->kernel));
        known->base = (uint32_t)base_of(bench, known->kernel);
        EXPECT_OK(zeKernelGetBinaryExp(known->kernel, &known->size, NULL));
    }
}

static int open_bench(void **state)
{
    static struct bench bench;
    const ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                           .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    const ze_device_mem_alloc_desc_t memory = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};

    memset(&bench, 0, sizeof(bench));
    bench.device = find_device("Zeta Virtual GPU");
    bench.driver = driver_of(bench.device);
    bench.context = make_context(bench.device);
    EXPECT_OK(zeCommandListCreateImmediate(bench.context, bench.device, &queue, &bench.list));
    EXPECT_OK(zeMemAllocDevice(bench.context, &memory, 1 << 16, 64, bench.device, &bench.memory));
    bench.group = find_group(bench.device, "EuStallSampling", TIME_BASED, NULL);
    /* The same module twice: each has addresses of its own. */
    bench.modules[0] = load(&bench, SEVERAL, ZE_MODULE_FORMAT_IL_SPIRV);
    bench.modules[1] = load(&bench, STALLS, ZE_MODULE_FORMAT_NATIVE);
    bench.modules[2] = load(&bench, SEVERAL, ZE_MODULE_FORMAT_IL_SPIRV);
    for (uint32_t i = 0; i < 3; i++)
        get_to_know(&bench, bench.modules[i]);
    *state = &bench;
    return 0;
}

static int close_bench(void **state)
{
    struct bench *bench = *state;

    for (uint32_t i = 0; i < bench->kernel_count; i++)
        EXPECT_OK(zeKernelDestroy(bench->kernels[i].kernel));
    for (uint32_t i = 0; i < 3; i++)
        EXPECT_OK(zeModuleDestroy(bench->modules[i]));
    EXPECT_OK(zeMemFree(bench->context, bench->memory));
    EXPECT_OK(zeCommandListDestroy(bench->list));
    EXPECT_OK(zeContextDestroy(bench->context));
    return 0;
}

static struct known *find(struct bench *bench, uint64_t address)
{
    struct known *found = NULL;

    for (uint32_t i = 0; i < bench->kernel_count; i++) {
        struct known *known = &bench->kernels[i];

        if (address < known->base || address - known->base >= known->size)
            continue;
        assert_null(found); /* no address is of two kernels */
        found = known;
    }
    return found;
}

static void run(const struct bench *bench, const struct known *known)
{
    const ze_group_count_t groups = {1, 1, 1};
    const uint64_t rounds = ROUNDS;
    ze_kernel_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};

    EXPECT_OK(zeKernelGetProperties(known->kernel, &properties));
    assert_int_equal(properties.numKernelArgs, 2);
    EXPECT_OK(zeKernelSetGroupSize(known->kernel, ITEMS, 1, 1));
    EXPECT_OK(zeKernelSetArgumentValue(known->kernel, 0, sizeof(bench->memory), &bench->memory));
    if (zeKernelSetArgumentValue(known->kernel, 1, sizeof(uint32_t), &rounds) != ZE_RESULT_SUCCESS)
        EXPECT_OK(zeKernelSetArgumentValue(known->kernel, 1, sizeof(rounds), &rounds));
    EXPECT_OK(zeCommandListAppendLaunchKernel(bench->list, known->kernel, &groups, NULL, 0, NULL));
}

/* Runs a kernel and counts its samples by the kernel that the profiler takes them for. */
static void profile(struct bench *bench, const struct known *known)
{
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = 10240};
    const zet_metric_group_calculation_type_t type =
        ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES;
    size_t size = 1 << 20;
    uint8_t *raw = malloc(size);
    zet_metric_streamer_handle_t streamer;
    zet_typed_value_t *values;
    uint32_t count = 0;

    assert_non_null(raw);
    bench->samples = 0;
    for (uint32_t i = 0; i < bench->kernel_count; i++)
        bench->kernels[i].samples = 0;
    EXPECT_OK(zetContextActivateMetricGroups(bench->context, bench->device, 1, &bench->group));
    EXPECT_OK(
        zetMetricStreamerOpen(bench->context, bench->device, bench->group, &desc, NULL, &streamer));
    run(bench, known);
    EXPECT_OK(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, raw));
    EXPECT_OK(zetMetricGroupCalculateMetricValues(bench->group, type, size, raw, &count, NULL));
    values = calloc(count + 1, sizeof(*values));
    assert_non_null(values);
    EXPECT_OK(zetMetricGroupCalculateMetricValues(bench->group, type, size, raw, &count, values));
    for (uint32_t row = 0; row + METRICS <= count; row += METRICS) {
        struct known *taken_for = find(bench, values[row].value.ui64 * 8);
        uint64_t samples = 0;

        for (uint32_t i = 1; i < METRICS; i++)
            samples += values[row + i].value.ui64;
        bench->samples += samples;
        if (taken_for)
            taken_for->samples += samples;
    }
    EXPECT_OK(zetMetricStreamerClose(streamer));
    EXPECT_OK(zetContextActivateMetricGroups(bench->context, bench->device, 0, NULL));
    free(values);
    free(raw);
}

/* Rule 6.29. */
static void profile__of_kernels_of_several_modules__names_the_kernel_of_each_sample(void **state)
{
    struct bench *bench = *state;
    uint32_t profiled = 0;

    for (uint32_t i = 0; i < bench->kernel_count; i++) {
        struct known *known = &bench->kernels[i];
        const bool shares = strcmp(known->name, "first") == 0 || strcmp(known->name, "second") == 0;
        uint64_t named = 0;

        if (!shares && strcmp(known->name, "third") != 0 && strcmp(known->name, "divide") != 0)
            continue;
        profile(bench, known);
        for (uint32_t k = 0; k < bench->kernel_count; k++)
            named += bench->kernels[k].samples;
        assert_cmp(bench->samples, >, 100);
        assert_int_equal(named, bench->samples);
        /* A function that two kernels call is one of theirs. */
        if (shares)
            assert_cmp(known->samples * 100, >, bench->samples * 85);
        else
            assert_int_equal(known->samples, bench->samples);
        profiled++;
    }
    assert_int_equal(profiled, 7);
}

/* Rule 6.28. */
static void code__of_a_kernel__has_the_size_that_is_told(void **state)
{
    struct bench *bench = *state;

    for (uint32_t i = 0; i < bench->kernel_count; i++) {
        struct known *known = &bench->kernels[i];
        size_t size = known->size;
        uint8_t *code = calloc(1, size + 1);

        assert_non_null(code);
        assert_cmp(size, >=, 8);
        assert_cmp(size % 4, ==, 0);
        EXPECT_OK(zeKernelGetBinaryExp(known->kernel, &size, code));
        assert_int_equal(size, known->size);
        /* An instruction of RV64 without compressed ones ends in two bits of ones. */
        for (size_t at = 0; at < size; at += 4)
            assert_int_equal(code[at] == 0 ? 3 : code[at] & 3, 3);
        size--;
        EXPECT_RESULT(zeKernelGetBinaryExp(known->kernel, &size, code),
                      ZE_RESULT_ERROR_INVALID_SIZE);
        assert_int_equal(size, known->size);
        EXPECT_RESULT(zeKernelGetBinaryExp(known->kernel, NULL, code),
                      ZE_RESULT_ERROR_INVALID_NULL_POINTER);
        free(code);
    }
}

static int set_up(void **state)
{
    (void)setenv("ZET_ENABLE_METRICS", "1", 1);
    return zeInit(ZE_INIT_FLAG_GPU_ONLY) == ZE_RESULT_SUCCESS ? open_bench(state) : -1;
}

SUITE(tool)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profile__of_kernels_of_several_modules__names_the_kernel_of_each_sample),
        cmocka_unit_test(code__of_a_kernel__has_the_size_that_is_told),
    };

    return cmocka_run_group_tests_name("ip tool", tests, set_up, close_bench);
}
