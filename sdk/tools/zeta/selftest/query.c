#include "sdk/tools/zeta/selftest/selftest.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/number.h"
#include <zeta/clock.h>

/* The time that a query encloses, and how long its result may take. */
#define ENCLOSED_NS UINT64_C(100000000)
#define PATIENCE_NS UINT64_C(20000000000)

/* What a query is made with. Handles that were not made are NULL. */
struct bench {
    ze_context_handle_t context;
    zet_metric_query_pool_handle_t pool;
    zet_metric_query_handle_t query;
    ze_command_list_handle_t list;
    ze_event_pool_handle_t events;
    ze_event_handle_t event;
};

static ze_result_t set_up(struct bench *bench, const struct zeta_device_entry *device,
                          zet_metric_group_handle_t group)
{
    const ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const zet_metric_query_pool_desc_t pool = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                               .type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE,
                                               .count = 1};
    const ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                           .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    const ze_event_pool_desc_t events = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                         .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                         .count = 1};
    const ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
                                   .wait = ZE_EVENT_SCOPE_FLAG_HOST};
    ze_device_handle_t handle = device->device;
    ze_result_t result = zeContextCreate(device->driver, &context, &bench->context);

    if (result == ZE_RESULT_SUCCESS)
        result = zetContextActivateMetricGroups(bench->context, handle, 1, &group);
    if (result == ZE_RESULT_SUCCESS)
        result = zetMetricQueryPoolCreate(bench->context, handle, group, &pool, &bench->pool);
    if (result == ZE_RESULT_SUCCESS)
        result = zetMetricQueryCreate(bench->pool, 0, &bench->query);
    if (result == ZE_RESULT_SUCCESS)
        result = zeCommandListCreateImmediate(bench->context, handle, &queue, &bench->list);
    if (result == ZE_RESULT_SUCCESS)
        result = zeEventPoolCreate(bench->context, &events, 1, &handle, &bench->events);
    if (result == ZE_RESULT_SUCCESS)
        result = zeEventCreate(bench->events, &event, &bench->event);
    return result;
}

static void tear_down(struct bench *bench, ze_device_handle_t device)
{
    if (bench->event)
        (void)zeEventDestroy(bench->event);
    if (bench->events)
        (void)zeEventPoolDestroy(bench->events);
    if (bench->list)
        (void)zeCommandListDestroy(bench->list);
    if (bench->query)
        (void)zetMetricQueryDestroy(bench->query);
    if (bench->pool)
        (void)zetMetricQueryPoolDestroy(bench->pool);
    if (!bench->context)
        return;
    (void)zetContextActivateMetricGroups(bench->context, device, 0, NULL);
    (void)zeContextDestroy(bench->context);
}

/* The query counts no longer than from before its begin to behind its end. */
static ze_result_t enclose_time(const struct bench *bench, uint64_t *out_longest_ns)
{
    const struct timespec enclosed = {.tv_nsec = ENCLOSED_NS};
    const uint64_t begin_ns = zeta_monotonic_ns();
    ze_result_t result = zetCommandListAppendMetricQueryBegin(bench->list, bench->query);

    (void)nanosleep(&enclosed, NULL);
    if (result == ZE_RESULT_SUCCESS)
        result =
            zetCommandListAppendMetricQueryEnd(bench->list, bench->query, bench->event, 0, NULL);
    if (result == ZE_RESULT_SUCCESS)
        result = zeEventHostSynchronize(bench->event, PATIENCE_NS);
    *out_longest_ns = zeta_monotonic_ns() - begin_ns;
    return result;
}

/* The result of the query, freed by the caller. */
static ze_result_t read_query(const struct bench *bench, uint8_t **out_raw, size_t *out_bytes)
{
    ze_result_t result = zetMetricQueryGetData(bench->query, out_bytes, NULL);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    *out_raw = malloc(*out_bytes);
    if (!*out_raw)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    return zetMetricQueryGetData(bench->query, out_bytes, *out_raw);
}

/* GpuTime of the first row; every tile has a row of its own. */
static ze_result_t get_time(const struct bench *bench, const struct zeta_device_entry *device,
                            const struct zeta_group_entry *group, double *out_ns)
{
    uint32_t tiles = device->tile_count ? device->tile_count : 1;
    uint32_t count = tiles * group->properties.metricCount;
    uint32_t *per_tile = calloc(tiles, sizeof(*per_tile));
    zet_typed_value_t *values = calloc(count, sizeof(*values));
    uint8_t *raw = NULL;
    size_t bytes = 0;
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;

    if (per_tile && values)
        result = read_query(bench, &raw, &bytes);
    if (result == ZE_RESULT_SUCCESS)
        result = zetMetricGroupCalculateMultipleMetricValuesExp(
            group->group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, bytes, raw, &tiles,
            &count, per_tile, values);
    for (uint32_t i = 0; result == ZE_RESULT_SUCCESS && i < group->properties.metricCount; i++) {
        if (strcmp(group->metrics[i].properties.name, "GpuTime") == 0)
            *out_ns = zeta_number_as_double(zeta_number_from_value(&values[i]));
    }
    free(per_tile);
    free(values);
    free(raw);
    return result;
}

void zeta_selftest_query(struct zeta_selftest *test, struct zeta_group_entry *group)
{
    struct bench bench = {0};
    uint64_t longest_ns = 0;
    double time_ns = 0;
    ze_result_t result = set_up(&bench, test->device, group->group);

    if (result == ZE_RESULT_SUCCESS)
        result = enclose_time(&bench, &longest_ns);
    if (result == ZE_RESULT_SUCCESS)
        result = get_time(&bench, test->device, group, &time_ns);
    if (result != ZE_RESULT_SUCCESS) {
        (void)zeta_print_refusal(result, "cannot query %s", group->properties.name);
        zeta_selftest_print(test, ZETA_SELFTEST_FAILED, "query", "%s cannot be queried, see above",
                            group->properties.name);
    } else if (time_ns <= 0) {
        zeta_selftest_print(test, ZETA_SELFTEST_SKIPPED, "query",
                            "no report came between its begin and end: the GPU sleeps; run "
                            "something on it meanwhile");
    } else {
        /* A loaded host sleeps longer than it wants to, never less. */
        const bool is_right =
            time_ns >= (double)ENCLOSED_NS * 0.95 && time_ns <= (double)longest_ns * 1.05;

        zeta_selftest_print(test, is_right ? ZETA_SELFTEST_OK : ZETA_SELFTEST_FAILED, "query",
                            "a query of %s around %.0f ms says %.3f ms", group->properties.name,
                            (double)ENCLOSED_NS / 1e6, time_ns / 1e6);
    }
    tear_down(&bench, test->device->device);
}
