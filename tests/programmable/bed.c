#include "tests/programmable/bed.h"
#include "tests/support/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t *read_file(const char *path, size_t *out_bytes)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes;

    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *out_bytes = (size_t)ftell(file);
    rewind(file);
    bytes = malloc(*out_bytes);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *out_bytes, file), *out_bytes);
    (void)fclose(file);
    return bytes;
}

static void load_kernel(struct bed *bed)
{
    const ze_kernel_desc_t kernel = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                     .pKernelName = "counted"};
    const ze_host_mem_alloc_desc_t memory = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    ze_module_desc_t module = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                               .format = ZE_MODULE_FORMAT_NATIVE};
    const uint32_t rounds = BED_ROUNDS;
    void *out = NULL;
    uint8_t *image = read_file(TEST_KERNELS, &module.inputSize);

    module.pInputModule = image;
    EXPECT_OK(zeModuleCreate(bed->context, bed->device, &module, &bed->module, NULL));
    free(image);
    EXPECT_OK(zeKernelCreate(bed->module, &kernel, &bed->kernel));
    EXPECT_OK(zeKernelSetGroupSize(bed->kernel, BED_ITEMS, 1, 1));
    EXPECT_OK(zeMemAllocHost(bed->context, &memory, BED_THREADS * sizeof(float), 64, &out));
    bed->memory = out;
    EXPECT_OK(zeKernelSetArgumentValue(bed->kernel, 0, sizeof(out), &out));
    EXPECT_OK(zeKernelSetArgumentValue(bed->kernel, 1, sizeof(rounds), &rounds));
}

void bed_open(struct bed *bed, ze_device_handle_t device)
{
    const ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                           .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};

    bed->device = device;
    EXPECT_OK(zeCommandListCreateImmediate(bed->context, bed->device, &queue, &bed->list));
    load_kernel(bed);
}

void bed_close(struct bed *bed)
{
    EXPECT_OK(zeKernelDestroy(bed->kernel));
    EXPECT_OK(zeModuleDestroy(bed->module));
    EXPECT_OK(zeMemFree(bed->context, bed->memory));
    EXPECT_OK(zeCommandListDestroy(bed->list));
}

int bed_setup(void **state)
{
    static struct bed bed;
    const ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_device_handle_t device = NULL;
    uint32_t count = 1;

    EXPECT_OK(zeInit(ZE_INIT_FLAG_GPU_ONLY));
    EXPECT_OK(zeDriverGet(&count, &bed.driver));
    count = 1;
    EXPECT_OK(zeDeviceGet(bed.driver, &count, &device));
    EXPECT_OK(zeContextCreate(bed.driver, &context, &bed.context));
    bed_open(&bed, device);
    *state = &bed;
    return 0;
}

int bed_teardown(void **state)
{
    struct bed *bed = *state;

    bed_close(bed);
    EXPECT_OK(zeContextDestroy(bed->context));
    return 0;
}

void bed_work(const struct bed *bed)
{
    const ze_group_count_t groups = {BED_GROUPS, 1, 1};

    EXPECT_OK(zeCommandListAppendLaunchKernel(bed->list, bed->kernel, &groups, NULL, 0, NULL));
    EXPECT_OK(zeCommandListHostSynchronize(bed->list, UINT64_MAX));
}

zet_metric_programmable_exp_handle_t bed_find(const struct bed *bed, const char *name,
                                              zet_metric_group_sampling_type_flags_t sampling)
{
    zet_metric_programmable_exp_handle_t all[MAX_METRICS];
    uint32_t count = MAX_METRICS;

    EXPECT_OK(zetMetricProgrammableGetExp(bed->device, &count, all));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_programmable_exp_properties_t properties = {
            .stype = ZET_STRUCTURE_TYPE_METRIC_PROGRAMMABLE_EXP_PROPERTIES};

        EXPECT_OK(zetMetricProgrammableGetPropertiesExp(all[i], &properties));
        if (properties.samplingType == sampling && strcmp(properties.name, name) == 0)
            return all[i];
    }
    fail_msg("no programmable %s", name);
    return NULL;
}

uint32_t bed_make(const struct bed *bed, const char *name,
                  zet_metric_group_sampling_type_flags_t sampling, uint32_t count,
                  const uint32_t *values, zet_metric_handle_t *out_metrics)
{
    zet_metric_programmable_param_value_exp_t chosen[3] = {{.value.ui64 = 0}};
    uint32_t metrics = MAX_METRICS;

    assert_cmp(count, <=, 3);
    for (uint32_t i = 0; i < count; i++)
        chosen[i].value.ui32 = values[i];
    EXPECT_OK(zetMetricCreateFromProgrammableExp2(bed_find(bed, name, sampling), count, chosen,
                                                  name, "of a test", &metrics, out_metrics));
    return metrics;
}

uint32_t bed_pack(const struct bed *bed, uint32_t count, zet_metric_handle_t *metrics,
                  zet_metric_group_handle_t *out_groups)
{
    uint32_t groups = MAX_GROUPS;

    EXPECT_OK(zetDeviceCreateMetricGroupsFromMetricsExp(bed->device, count, metrics, "bed",
                                                        "of a test", &groups, out_groups));
    return groups;
}

void bed_drop(uint32_t group_count, zet_metric_group_handle_t *groups, uint32_t metric_count,
              zet_metric_handle_t *metrics)
{
    for (uint32_t i = 0; i < group_count; i++)
        EXPECT_OK(zetMetricGroupDestroyExp(groups[i]));
    for (uint32_t i = 0; i < metric_count; i++)
        EXPECT_OK(zetMetricDestroyExp(metrics[i]));
}

static struct bed_rows calculate(zet_metric_group_handle_t group, size_t bytes, const uint8_t *raw)
{
    struct bed_rows rows = {0};
    uint32_t count = 0;

    EXPECT_OK(zetMetricGet(group, &rows.metrics, NULL));
    EXPECT_OK(zetMetricGroupCalculateMetricValues(
        group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, bytes, raw, &count, NULL));
    rows.values = calloc(count + 1, sizeof(*rows.values));
    assert_non_null(rows.values);
    EXPECT_OK(zetMetricGroupCalculateMetricValues(
        group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, bytes, raw, &count, rows.values));
    rows.count = count / rows.metrics;
    return rows;
}

struct bed_rows bed_stream(const struct bed *bed, zet_metric_group_handle_t group)
{
    return bed_stream_while(bed, group, bed_work);
}

struct bed_rows bed_stream_while(const struct bed *bed, zet_metric_group_handle_t group,
                                 void (*work)(const struct bed *bed))
{
    enum { CAPACITY = 1 << 20, MORE = 3 };
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = 1000000};
    zet_metric_streamer_handle_t streamer = NULL;
    uint8_t *raw = malloc(CAPACITY);
    struct bed_rows rows;
    size_t used = 0;
    int more = 0;

    assert_non_null(raw);
    EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, 1, &group));
    EXPECT_OK(zetMetricStreamerOpen(bed->context, bed->device, group, &desc, NULL, &streamer));
    work(bed);
    /* Reports that come after this moment know of all the work. */
    while (more < MORE) {
        size_t bytes = CAPACITY - used;

        EXPECT_OK(zetMetricStreamerReadData(streamer, UINT32_MAX, &bytes, raw + used));
        used += bytes;
        more += bytes > 0;
        sleep_ms(5);
    }
    EXPECT_OK(zetMetricStreamerClose(streamer));
    EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, 0, NULL));
    rows = calculate(group, used, raw);
    free(raw);
    return rows;
}

struct bed_rows bed_query(const struct bed *bed, zet_metric_group_handle_t group)
{
    const zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                               .type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE,
                                               .count = 1};
    zet_metric_query_pool_handle_t pool = NULL;
    zet_metric_query_handle_t query = NULL;
    ze_event_handle_t none[1] = {NULL};
    uint8_t raw[4096];
    size_t bytes = sizeof(raw);
    struct bed_rows rows;

    EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, 1, &group));
    EXPECT_OK(zetMetricQueryPoolCreate(bed->context, bed->device, group, &desc, &pool));
    EXPECT_OK(zetMetricQueryCreate(pool, 0, &query));
    EXPECT_OK(zetCommandListAppendMetricQueryBegin(bed->list, query));
    bed_work(bed);
    EXPECT_OK(zetCommandListAppendMetricQueryEnd(bed->list, query, NULL, 0, none));
    EXPECT_OK(zeCommandListHostSynchronize(bed->list, UINT64_MAX));
    EXPECT_OK(zetMetricQueryGetData(query, &bytes, raw));
    EXPECT_OK(zetMetricQueryDestroy(query));
    EXPECT_OK(zetMetricQueryPoolDestroy(pool));
    EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, 0, NULL));
    rows = calculate(group, bytes, raw);
    assert_int_equal(rows.count, 1);
    return rows;
}

uint64_t bed_sum(const struct bed_rows *rows, uint32_t metric)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < rows->count; i++) {
        const zet_typed_value_t *value = &rows->values[i * rows->metrics + metric];

        assert_int_equal(value->type, ZET_VALUE_TYPE_UINT64);
        sum += value->value.ui64;
    }
    return sum;
}
