/* Instruction-pointer samples, and what their addresses belong to, through the API. */
#include <dirent.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/metric_api/harness.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { METRICS = 10, ITEMS = 32 };

typedef ze_result_t(ZE_APICALL *base_address_fn)(ze_kernel_handle_t, uint64_t *);

/* A device with the kernels. */
struct bed {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_command_list_handle_t list; /* synchronous */
    ze_module_handle_t module;
    void *memory;
};

static ze_module_handle_t load(const struct bed *bed)
{
    FILE *file = fopen(STALLS, "rb");
    uint8_t *bytes = malloc(1u << 20);
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE,
                             .pInputModule = bytes};
    ze_module_handle_t module = NULL;

    assert_non_null(file);
    assert_non_null(bytes);
    desc.inputSize = fread(bytes, 1, 1u << 20, file);
    (void)fclose(file);
    EXPECT_OK(zeModuleCreate(bed->context, bed->device, &desc, &module, NULL));
    free(bytes);
    return module;
}

static void bed_open(struct bed *bed)
{
    const ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                           .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    const ze_device_mem_alloc_desc_t memory = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};

    memset(bed, 0, sizeof(*bed));
    bed->device = find_device("Zeta Virtual GPU");
    bed->driver = driver_of(bed->device);
    bed->context = make_context(bed->device);
    EXPECT_OK(zeCommandListCreateImmediate(bed->context, bed->device, &queue, &bed->list));
    EXPECT_OK(zeMemAllocDevice(bed->context, &memory, 1 << 16, 64, bed->device, &bed->memory));
    bed->module = load(bed);
}

static void bed_close(struct bed *bed)
{
    EXPECT_OK(zeModuleDestroy(bed->module));
    EXPECT_OK(zeMemFree(bed->context, bed->memory));
    EXPECT_OK(zeCommandListDestroy(bed->list));
    EXPECT_OK(zeContextDestroy(bed->context));
}

static ze_kernel_handle_t make_kernel(const struct bed *bed, const char *name)
{
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_kernel_handle_t kernel = NULL;

    EXPECT_OK(zeKernelCreate(bed->module, &desc, &kernel));
    return kernel;
}

static void run(const struct bed *bed, ze_kernel_handle_t kernel, uint64_t rounds)
{
    const ze_group_count_t groups = {1, 1, 1};

    EXPECT_OK(zeKernelSetGroupSize(kernel, ITEMS, 1, 1));
    EXPECT_OK(zeKernelSetArgumentValue(kernel, 0, sizeof(bed->memory), &bed->memory));
    EXPECT_OK(zeKernelSetArgumentValue(kernel, 1, sizeof(rounds), &rounds));
    EXPECT_OK(zeCommandListAppendLaunchKernel(bed->list, kernel, &groups, NULL, 0, NULL));
}

static base_address_fn base_address(const struct bed *bed)
{
    base_address_fn function = NULL;
    void *address = NULL;

    EXPECT_OK(
        zeDriverGetExtensionFunctionAddress(bed->driver, "zexKernelGetBaseAddress", &address));
    memcpy(&function, &address, sizeof(function));
    return function;
}

/* Rule 11.21. */
static void group__of_samples__has_exactly_the_ten_metrics(void **state)
{
    static const char *const names[METRICS] = {
        "IP",        "Active",    "ControlStall", "PipeStall",       "SendStall",
        "DistStall", "SbidStall", "SyncStall",    "InstrFetchStall", "OtherStall"};
    zet_metric_group_properties_t properties;
    zet_metric_handle_t metrics[METRICS + 1];
    zet_metric_group_handle_t groups[64], group;
    uint32_t count = METRICS + 1, group_count = 64, others_after = 0;
    bool found = false;
    struct bed bed;

    (void)state;
    bed_open(&bed);
    group = find_group(bed.device, "EuStallSampling", TIME_BASED, &properties);
    assert_int_equal(properties.samplingType, TIME_BASED);
    EXPECT_OK(zetMetricGet(group, &count, metrics));
    assert_int_equal(count, METRICS);
    for (uint32_t i = 0; i < METRICS; i++) {
        zet_metric_properties_t metric = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};

        EXPECT_OK(zetMetricGetProperties(metrics[i], &metric));
        assert_string_equal(metric.name, names[i]);
        assert_int_equal(metric.resultType, ZET_VALUE_TYPE_UINT64);
        assert_int_equal(metric.metricType, i ? ZET_METRIC_TYPE_EVENT : ZET_METRIC_TYPE_IP);
        /* Programs average metrics whose description has these words. */
        assert_null(strstr(metric.description, "ercentage"));
        assert_null(strstr(metric.description, "verage"));
    }
    /* Of a domain of its own, behind all other groups that are sampled over time. */
    EXPECT_OK(zetMetricGroupGet(bed.device, &group_count, groups));
    for (uint32_t i = 0; i < group_count; i++) {
        zet_metric_group_properties_t other = {.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};

        EXPECT_OK(zetMetricGroupGetProperties(groups[i], &other));
        if (groups[i] == group) {
            found = true;
            continue;
        }
        assert_int_not_equal(other.domain, properties.domain);
        others_after += found && (other.samplingType & TIME_BASED) != 0;
    }
    assert_int_equal(others_after, 0);
    bed_close(&bed);
}

/* Rule 11.21. */
static void streamer__of_samples__tells_the_kernel_and_its_stalls(void **state)
{
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = 10240};
    size_t size = 1 << 20;
    uint8_t *raw = malloc(size);
    uint64_t base = 0, total = 0, pipe = 0;
    zet_metric_streamer_handle_t streamer;
    zet_metric_group_handle_t group;
    zet_typed_value_t *values;
    ze_kernel_handle_t kernel;
    uint32_t count = 0;
    struct bed bed;

    (void)state;
    assert_non_null(raw);
    bed_open(&bed);
    kernel = make_kernel(&bed, "divide");
    EXPECT_OK(base_address(&bed)(kernel, &base));
    group = find_group(bed.device, "EuStallSampling", TIME_BASED, NULL);
    EXPECT_OK(zetContextActivateMetricGroups(bed.context, bed.device, 1, &group));
    EXPECT_OK(zetMetricStreamerOpen(bed.context, bed.device, group, &desc, NULL, &streamer));
    run(&bed, kernel, 20000);
    EXPECT_OK(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, raw));
    EXPECT_OK(zetMetricGroupCalculateMetricValues(
        group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, size, raw, &count, NULL));
    assert_cmp(count, >=, 2 * METRICS);
    assert_int_equal(count % METRICS, 0);
    values = calloc(count, sizeof(*values));
    assert_non_null(values);
    EXPECT_OK(zetMetricGroupCalculateMetricValues(
        group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, size, raw, &count, values));
    for (uint32_t row = 0; row < count; row += METRICS) {
        assert_int_equal(values[row].type, ZET_VALUE_TYPE_UINT64);
        assert_in_range(values[row].value.ui64 * 8, (uint32_t)base,
                        (uint64_t)(uint32_t)base + 4096);
        for (uint32_t i = 1; i < METRICS; i++)
            total += values[row + i].value.ui64;
        pipe += values[row + 3].value.ui64;
    }
    assert_cmp(total, >, 100);
    assert_cmp(pipe * 100, >=, total * 80);
    EXPECT_OK(zetMetricStreamerClose(streamer));
    EXPECT_OK(zetContextActivateMetricGroups(bed.context, bed.device, 0, NULL));
    EXPECT_OK(zeKernelDestroy(kernel));
    free(values);
    free(raw);
    bed_close(&bed);
}

/* Rule 6.27. */
static void base_address__of_kernels__is_theirs(void **state)
{
    uint64_t divide = 0, store = 0;
    ze_kernel_handle_t kernels[2];
    base_address_fn function;
    struct bed bed;

    (void)state;
    bed_open(&bed);
    function = base_address(&bed);
    kernels[0] = make_kernel(&bed, "divide");
    kernels[1] = make_kernel(&bed, "store");
    EXPECT_OK(function(kernels[0], &divide));
    EXPECT_OK(function(kernels[1], &store));
    assert_cmp(divide, !=, 0);
    assert_cmp(store, !=, 0);
    assert_cmp(divide, !=, store);
    EXPECT_RESULT(function(kernels[0], NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(function(NULL, &divide), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(function((ze_kernel_handle_t)bed.module, &divide),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    expect_sentence("zexKernelGetBaseAddress");
    /* There is no other way to it. */
    assert_null(dlsym(RTLD_DEFAULT, "zexKernelGetBaseAddress"));
    EXPECT_OK(zeKernelDestroy(kernels[0]));
    EXPECT_OK(zeKernelDestroy(kernels[1]));
    bed_close(&bed);
}

/* The content of a file, terminated; to be freed. NULL when there is none. */
static char *content(const char *folder, const char *name, size_t *out_size)
{
    char path[512];
    FILE *file;
    char *text;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "rb");
    if (!file)
        return NULL;
    text = calloc(1, 1u << 20);
    assert_non_null(text);
    *out_size = fread(text, 1, (1u << 20) - 1, file);
    (void)fclose(file);
    return text;
}

/* Empties a folder and removes it; gives the number of files. */
static unsigned remove_folder(const char *folder)
{
    DIR *listing = opendir(folder);
    const struct dirent *entry;
    unsigned count = 0;

    assert_non_null(listing);
    while ((entry = readdir(listing)) != NULL)
        count += unlinkat(dirfd(listing), entry->d_name, 0) == 0;
    (void)closedir(listing);
    assert_int_equal(rmdir(folder), 0);
    return count;
}

/* Rule 6.30. */
static void dump__of_a_module__has_its_image_and_its_addresses(void **state)
{
    char folder[] = "/tmp/zeta-ip-api-XXXXXX", file[64] = "", line[64];
    uint64_t begin = 0, end = 0, base = 0;
    size_t size = 0, index_size = 0, image_size = 0;
    ze_kernel_handle_t kernel;
    char *index, *image;
    uint8_t *binary;
    long pid = 0;
    struct bed bed;

    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)setenv("ZETA_MODULE_DUMP", folder, 1);
    bed_open(&bed);
    index = content(folder, "index", &index_size);
    assert_non_null(index);
    assert_int_equal(
        sscanf(index, "load\t%ld\t%" SCNx64 "\t%" SCNx64 "\t%63[^\t]", &pid, &begin, &end, file),
        4);
    assert_int_equal(pid, getpid());
    kernel = make_kernel(&bed, "divide");
    EXPECT_OK(base_address(&bed)(kernel, &base));
    assert_in_range(base, begin, end - 1);
    (void)snprintf(line, sizeof(line), "\tdivide=%" PRIx64, base);
    assert_non_null(strstr(index, line));
    free(index);

    EXPECT_OK(zeModuleGetNativeBinary(bed.module, &size, NULL));
    binary = malloc(size);
    assert_non_null(binary);
    EXPECT_OK(zeModuleGetNativeBinary(bed.module, &size, binary));
    image = content(folder, file, &image_size);
    assert_non_null(image);
    assert_int_equal(image_size, size);
    assert_memory_equal(image, binary, size);
    free(binary);
    free(image);
    EXPECT_OK(zeKernelDestroy(kernel));
    bed_close(&bed);

    index = content(folder, "index", &index_size);
    assert_non_null(index);
    (void)snprintf(line, sizeof(line), "\nunload\t%ld\t%" PRIx64 "\n", (long)getpid(), begin);
    assert_non_null(strstr(index, line));
    free(index);
    (void)unsetenv("ZETA_MODULE_DUMP");
    assert_int_equal(remove_folder(folder), 2);
}

/* Rule 6.30. */
static void dump__folder_of_others_or_none__writes_nothing(void **state)
{
    char folder[] = "/tmp/zeta-ip-api-XXXXXX", none[64];
    struct bed bed;

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chmod(folder, 0777), 0);
    (void)setenv("ZETA_MODULE_DUMP", folder, 1);
    bed_open(&bed);
    bed_close(&bed);
    assert_int_equal(remove_folder(folder), 0);
    (void)snprintf(none, sizeof(none), "%s/none", folder);
    (void)setenv("ZETA_MODULE_DUMP", none, 1);
    bed_open(&bed);
    bed_close(&bed);
    assert_int_equal(access(folder, F_OK), -1);
    (void)unsetenv("ZETA_MODULE_DUMP");
}

static int set_up(void **state)
{
    (void)state;
    return zeInit(ZE_INIT_FLAG_GPU_ONLY) == ZE_RESULT_SUCCESS ? 0 : -1;
}

SUITE(api)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(group__of_samples__has_exactly_the_ten_metrics),
        cmocka_unit_test(streamer__of_samples__tells_the_kernel_and_its_stalls),
        cmocka_unit_test(base_address__of_kernels__is_theirs),
        cmocka_unit_test(dump__of_a_module__has_its_image_and_its_addresses),
        cmocka_unit_test(dump__folder_of_others_or_none__writes_nothing),
    };

    return cmocka_run_group_tests_name("ip api", tests, set_up, NULL);
}
