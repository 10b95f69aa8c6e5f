#include "tests/query_api/query_bed.h"
#include "tests/support/compare.h"

#include <stdio.h>

int query_bed_setup(void **state)
{
    struct harness *h;

    harness_setup(state);
    h = *state;
    h->device = h->tiles[0];
    assert_success(zeModuleDestroy(h->module));
    const ze_module_desc_t module = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                     .format = ZE_MODULE_FORMAT_NATIVE,
                                     .inputSize = sizeof(FAKE_IMAGE) - 1,
                                     .pInputModule = (const uint8_t *)FAKE_IMAGE};
    assert_success(zeModuleCreate(h->context, h->device, &module, &h->module, NULL));
    return 0;
}

int query_bed_teardown(void **state)
{
    return harness_teardown(state);
}

int query_bed_begin(void **state)
{
    struct harness *h = *state;

    h->control->hold();
    query_bed_activate(h, query_bed_group(h, "Work", EVENT_BASED));
    return 0;
}

int query_bed_end(void **state)
{
    struct harness *h = *state;
    struct harness root = query_bed_root(h);

    h->control->release();
    h->control->set_late(0);
    h->control->refuse_pools(0);
    h->control->refuse_queries(0);
    query_bed_activate(&root, NULL);
    assert_int_equal(h->control->live_pools(), 0);
    return 0;
}

static ze_device_handle_t root_of(const struct harness *h)
{
    ze_device_handle_t root = NULL;
    uint32_t count = 1;

    assert_success(zeDeviceGet(h->driver, &count, &root));
    return root;
}

struct harness query_bed_root(const struct harness *h)
{
    struct harness root = *h;

    root.device = root_of(h);
    return root;
}

struct harness query_bed_other(const struct harness *h)
{
    struct harness other = *h;

    other.device = h->tiles[1];
    return other;
}

zet_metric_group_handle_t query_bed_group(const struct harness *h, const char *name,
                                          zet_metric_group_sampling_type_flags_t sampling)
{
    zet_metric_group_handle_t groups[32];
    uint32_t count = 32;

    assert_success(zetMetricGroupGet(h->device, &count, groups));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t properties = {.stype =
                                                        ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};

        assert_success(zetMetricGroupGetProperties(groups[i], &properties));
        if (properties.samplingType == sampling && strcmp(properties.name, name) == 0)
            return groups[i];
    }
    fail_msg("no group %s", name);
    return NULL;
}

void query_bed_activate(const struct harness *h, zet_metric_group_handle_t group)
{
    assert_success(zetContextActivateMetricGroups(h->context, h->device, group ? 1 : 0,
                                                  group ? &group : NULL));
}

zet_metric_query_pool_handle_t query_bed_pool_of(const struct harness *h, const char *group,
                                                 zet_metric_query_pool_type_t type, uint32_t count)
{
    const zet_metric_query_pool_desc_t desc = {
        .stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC, .type = type, .count = count};
    zet_metric_query_pool_handle_t pool = NULL;

    assert_success(zetMetricQueryPoolCreate(h->context, h->device,
                                            query_bed_group(h, group, EVENT_BASED), &desc, &pool));
    return pool;
}

zet_metric_query_pool_handle_t query_bed_pool(const struct harness *h, uint32_t count)
{
    return query_bed_pool_of(h, "Work", PERFORMANCE, count);
}

zet_metric_query_handle_t query_bed_query(zet_metric_query_pool_handle_t pool, uint32_t index)
{
    zet_metric_query_handle_t query = NULL;

    assert_success(zetMetricQueryCreate(pool, index, &query));
    return query;
}

void query_bed_drop(zet_metric_query_pool_handle_t pool, zet_metric_query_handle_t *queries,
                    uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        assert_success(zetMetricQueryDestroy(queries[i]));
    assert_success(zetMetricQueryPoolDestroy(pool));
}

ze_result_t query_bed_append_end(ze_command_list_handle_t list, zet_metric_query_handle_t query,
                                 ze_event_handle_t signal)
{
    ze_event_handle_t none[1] = {NULL};

    return zetCommandListAppendMetricQueryEnd(list, query, signal, 0, none);
}

void query_bed_append(const struct harness *h, ze_command_list_handle_t list,
                      zet_metric_query_handle_t query, ze_kernel_handle_t kernel)
{
    (void)h;
    assert_success(zetCommandListAppendMetricQueryBegin(list, query));
    if (kernel)
        assert_success(harness_launch(list, kernel, NULL, 0, NULL));
    assert_success(query_bed_append_end(list, query, NULL));
}

static uint32_t index_of(zet_metric_group_handle_t group, const char *name)
{
    zet_metric_handle_t metrics[32];
    uint32_t count = 32;

    assert_success(zetMetricGet(group, &count, metrics));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};

        assert_success(zetMetricGetProperties(metrics[i], &properties));
        if (strcmp(properties.name, name) == 0)
            return i;
    }
    fail_msg("no metric %s", name);
    return 0;
}

static uint64_t as_u64(const zet_typed_value_t *value)
{
    return value->type == ZET_VALUE_TYPE_UINT32    ? value->value.ui32
           : value->type == ZET_VALUE_TYPE_FLOAT32 ? (uint64_t)value->value.fp32
                                                   : value->value.ui64;
}

uint64_t query_bed_value_in(zet_metric_group_handle_t group, const uint8_t *raw, size_t bytes,
                            uint32_t set, const char *metric)
{
    zet_typed_value_t values[64];
    uint32_t counts[8];
    uint32_t set_count = 8;
    uint32_t value_count = 64;
    uint32_t first = 0;

    assert_success(zetMetricGroupCalculateMultipleMetricValuesExp(
        group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, bytes, raw, &set_count,
        &value_count, counts, values));
    assert_cmp(set, <, set_count);
    for (uint32_t i = 0; i < set; i++)
        first += counts[i];
    assert_cmp(counts[set], >, 0);
    return as_u64(&values[first + index_of(group, metric)]);
}

uint64_t query_bed_value(const struct harness *h, zet_metric_query_handle_t query,
                         const char *metric)
{
    uint8_t raw[1024];
    size_t bytes = sizeof(raw);

    assert_success(zetMetricQueryGetData(query, &bytes, raw));
    return query_bed_value_in(query_bed_group(h, "Work", EVENT_BASED), raw, bytes, 0, metric);
}

void query_bed_run(const struct harness *h, ze_command_list_handle_t list)
{
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);

    harness_execute(queue, list, NULL);
    assert_success(zeCommandQueueSynchronize(queue, UINT64_MAX));
    assert_success(zeCommandQueueDestroy(queue));
}
