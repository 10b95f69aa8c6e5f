#include "bed.h"
#include "tests/support/compare.h"

#include <stdlib.h>
#include <string.h>

int bed_setup(void **state)
{
    static struct bed bed;
    zet_metric_group_handle_t active[2];
    uint32_t count = 1;

    (void)setenv("ZET_ENABLE_METRICS", "1", 1);
    EXPECT_OK(zeInit(ZE_INIT_FLAG_GPU_ONLY));
    EXPECT_OK(zeDriverGet(&count, &bed.driver));
    count = 1;
    EXPECT_OK(zeDeviceGet(bed.driver, &count, &bed.device));
    bed.context = make_context(bed.device);
    bed.module = make_module(bed.context, bed.device, TEST_KERNELS);
    bed.compute = find_group(bed.device, "ComputeBasic", EVENT_BASED, NULL);
    bed.dispatch = find_group(bed.device, "ThreadDispatch", EVENT_BASED, NULL);
    active[0] = bed.compute;
    active[1] = bed.dispatch;
    EXPECT_OK(zetContextActivateMetricGroups(bed.context, bed.device, 2, active));
    *state = &bed;
    return 0;
}

int bed_teardown(void **state)
{
    struct bed *bed = *state;

    EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, 0, NULL));
    EXPECT_OK(zeModuleDestroy(bed->module));
    EXPECT_OK(zeContextDestroy(bed->context));
    return 0;
}

void *bed_memory(const struct bed *bed, size_t bytes)
{
    const ze_device_mem_alloc_desc_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *memory = NULL;

    EXPECT_OK(zeMemAllocShared(bed->context, &device, &host, bytes, 64, bed->device, &memory));
    memset(memory, 0, bytes);
    return memory;
}

ze_command_queue_handle_t bed_queue(const struct bed *bed)
{
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    ze_command_queue_handle_t queue = NULL;

    EXPECT_OK(zeCommandQueueCreate(bed->context, bed->device, &desc, &queue));
    return queue;
}

ze_command_list_handle_t bed_list(const struct bed *bed)
{
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_command_list_handle_t list = NULL;

    EXPECT_OK(zeCommandListCreate(bed->context, bed->device, &desc, &list));
    return list;
}

ze_command_list_handle_t bed_immediate(const struct bed *bed, ze_command_queue_mode_t mode)
{
    return make_immediate(bed->context, bed->device, mode);
}

ze_kernel_handle_t bed_kernel(const struct bed *bed, const char *name)
{
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_kernel_handle_t kernel = NULL;

    EXPECT_OK(zeKernelCreate(bed->module, &desc, &kernel));
    return kernel;
}

void bed_run(ze_command_queue_handle_t queue, ze_command_list_handle_t list)
{
    EXPECT_OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    EXPECT_OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
}

struct bed_matmul bed_matmul_make(const struct bed *bed, uint32_t n)
{
    struct bed_matmul made = {.kernel = bed_kernel(bed, "matmul"), .n = n};
    const float *parts[3];

    made.memory = bed_memory(bed, sizeof(float) * 3 * n * n);
    for (uint32_t i = 0; i < 3; i++) {
        parts[i] = made.memory + (size_t)i * n * n;
        EXPECT_OK(zeKernelSetArgumentValue(made.kernel, i, sizeof(void *), &parts[i]));
    }
    EXPECT_OK(zeKernelSetArgumentValue(made.kernel, 3, sizeof(n), &n));
    EXPECT_OK(zeKernelSetGroupSize(made.kernel, 16, 16, 1));
    return made;
}

void bed_matmul_drop(const struct bed *bed, struct bed_matmul *matmul)
{
    EXPECT_OK(zeKernelDestroy(matmul->kernel));
    EXPECT_OK(zeMemFree(bed->context, matmul->memory));
}

void bed_matmul_append(ze_command_list_handle_t list, const struct bed_matmul *matmul)
{
    const ze_group_count_t groups = {matmul->n / 16, matmul->n / 16, 1};

    EXPECT_OK(zeCommandListAppendLaunchKernel(list, matmul->kernel, &groups, NULL, 0, NULL));
}

ze_kernel_handle_t bed_count(const struct bed *bed, uint32_t *counter)
{
    ze_kernel_handle_t kernel = bed_kernel(bed, "count");

    EXPECT_OK(zeKernelSetArgumentValue(kernel, 0, sizeof(counter), &counter));
    EXPECT_OK(zeKernelSetGroupSize(kernel, 16, 1, 1));
    return kernel;
}

void bed_count_append(ze_command_list_handle_t list, ze_kernel_handle_t count, uint32_t groups)
{
    const ze_group_count_t size = {groups, 1, 1};

    EXPECT_OK(zeCommandListAppendLaunchKernel(list, count, &size, NULL, 0, NULL));
}

zet_metric_query_pool_handle_t bed_pool(const struct bed *bed, zet_metric_group_handle_t group,
                                        uint32_t count)
{
    const zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                               .type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE,
                                               .count = count};
    zet_metric_query_pool_handle_t pool = NULL;

    EXPECT_OK(zetMetricQueryPoolCreate(bed->context, bed->device, group, &desc, &pool));
    return pool;
}

zet_metric_query_handle_t bed_query(zet_metric_query_pool_handle_t pool, uint32_t index)
{
    zet_metric_query_handle_t query = NULL;

    EXPECT_OK(zetMetricQueryCreate(pool, index, &query));
    return query;
}

void bed_pool_drop(zet_metric_query_pool_handle_t pool, zet_metric_query_handle_t *queries,
                   uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        EXPECT_OK(zetMetricQueryDestroy(queries[i]));
    EXPECT_OK(zetMetricQueryPoolDestroy(pool));
}

void bed_begin(ze_command_list_handle_t list, zet_metric_query_handle_t query)
{
    EXPECT_OK(zetCommandListAppendMetricQueryBegin(list, query));
}

void bed_end(ze_command_list_handle_t list, zet_metric_query_handle_t query,
             ze_event_handle_t signal)
{
    ze_event_handle_t none = NULL; /* an older validation layer wants an array also for no events */

    EXPECT_OK(zetCommandListAppendMetricQueryEnd(list, query, signal, 0, &none));
}

static void calculate(struct bed_row *row, const uint8_t *raw, size_t bytes)
{
    const zet_metric_group_calculation_type_t type =
        ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES;
    uint32_t sets = 0, metrics = 0, values = 0, per_set[2] = {0};
    zet_typed_value_t again[BED_METRICS];

    EXPECT_OK(zetMetricGet(row->group, &metrics, NULL));
    EXPECT_OK(zetMetricGroupCalculateMetricValues(row->group, type, bytes, raw, &row->count, NULL));
    /* One query is one report. */
    assert_int_equal(row->count, metrics);
    assert_in_range(row->count, 1, BED_METRICS);
    EXPECT_OK(zetMetricGroupCalculateMetricValues(row->group, type, bytes, raw, &row->count,
                                                  row->values));
    assert_int_equal(row->count, metrics);

    EXPECT_OK(zetMetricGroupCalculateMultipleMetricValuesExp(row->group, type, bytes, raw, &sets,
                                                             &values, NULL, NULL));
    assert_int_equal(sets, 1);
    assert_int_equal(values, metrics);
    EXPECT_OK(zetMetricGroupCalculateMultipleMetricValuesExp(row->group, type, bytes, raw, &sets,
                                                             &values, per_set, again));
    assert_int_equal(per_set[0], metrics);
    for (uint32_t i = 0; i < metrics; i++)
        assert_int_equal(again[i].value.ui64, row->values[i].value.ui64);
}

struct bed_row bed_result(zet_metric_group_handle_t group, zet_metric_query_handle_t query)
{
    struct bed_row row = {.group = group};
    size_t bytes = 0, got;
    uint8_t *raw;

    EXPECT_OK(zetMetricQueryGetData(query, &bytes, NULL));
    assert_cmp(bytes, >, 0);
    raw = malloc(bytes);
    assert_non_null(raw);
    got = bytes;
    EXPECT_OK(zetMetricQueryGetData(query, &got, raw));
    assert_int_equal(got, bytes);
    calculate(&row, raw, bytes);
    free(raw);
    return row;
}

uint64_t bed_u64(const struct bed_row *row, const char *metric)
{
    const zet_typed_value_t *value = &row->values[metric_index(row->group, metric)];

    return value->type == ZET_VALUE_TYPE_UINT32 ? value->value.ui32 : value->value.ui64;
}

double bed_f32(const struct bed_row *row, const char *metric)
{
    return (double)row->values[metric_index(row->group, metric)].value.fp32;
}

void bed_expect_matmul(const struct bed_row *row, uint64_t n)
{
    assert_int_equal(bed_u64(row, "InstFp32"), 2 * n * n * n);
    assert_int_equal(bed_u64(row, "FpOps"), 2 * n * n * n);
    assert_int_equal(bed_u64(row, "BarrierMessages"), n * n * n / 8);
    assert_int_equal(bed_u64(row, "SlmReadBytes"), 4 * 2 * n * n * n);
    assert_int_equal(bed_u64(row, "SlmWriteBytes"), 4 * 2 * n * n * n / 16);
    assert_int_equal(bed_u64(row, "GlobalWriteBytes"), 4 * n * n);
    assert_int_equal(bed_u64(row, "ThreadsDispatched"), n * n);
    assert_int_equal(bed_u64(row, "GroupsDispatched"), n / 16 * (n / 16));
    assert_int_equal(bed_u64(row, "KernelsLaunched"), 1);
    assert_int_equal(bed_u64(row, "CopyBytes"), 0);
}

void bed_exact(const struct bed_row *row, uint64_t out_numbers[BED_EXACT])
{
    static const char *const names[BED_EXACT] = {"InstRetired",      "InstInt",         "InstFp32",
                                                 "InstAtomic",       "GlobalReadBytes", "CopyBytes",
                                                 "GroupsDispatched", "KernelsLaunched"};

    for (uint32_t i = 0; i < BED_EXACT; i++)
        out_numbers[i] = bed_u64(row, names[i]);
}
