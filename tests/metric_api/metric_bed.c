#include "tests/metric_api/metric_bed.h"

#include <stdlib.h>
#include <string.h>

/** Value of the first parameter of the programmable: a metric for each EU. */
#define BY_EU 4u

/** Reports that a stream has to give, for rows of values. */
#define REPORTS 4u

static void find_devices(struct metric_bed *bed)
{
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    uint32_t count = 1;

    EXPECT_OK(zeDriverGet(&count, &bed->driver));
    count = 1;
    EXPECT_OK(zeDeviceGet(bed->driver, &count, &bed->root));
    count = 1;
    EXPECT_OK(zeDeviceGetSubDevices(bed->root, &count, &bed->tile));
    EXPECT_OK(zeContextCreate(bed->driver, &desc, &bed->context));
    bed->sampled = find_group(bed->root, "ComputeBasic", TIME_BASED, NULL);
    bed->sampled_tile = find_group(bed->tile, "ComputeBasic", TIME_BASED, NULL);
    bed->queried = find_group(bed->root, "ComputeBasic", EVENT_BASED, NULL);
    bed->traced = find_group(bed->root, "DeviceEvents", TRACER_BASED, NULL);
}

/** Streams a group until there are some reports of each tile; bytes that came. */
static size_t record(const struct metric_bed *bed, ze_device_handle_t device,
                     zet_metric_group_handle_t group, uint8_t *raw)
{
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = 1000000};
    zet_metric_streamer_handle_t streamer = NULL;
    size_t used = 0;

    EXPECT_OK(zetContextActivateMetricGroups(bed->context, device, 1, &group));
    EXPECT_OK(zetMetricStreamerOpen(bed->context, device, group, &desc, NULL, &streamer));
    for (uint32_t reads = 0; reads < REPORTS;) {
        size_t bytes = BED_BYTES / REPORTS;

        EXPECT_OK(zetMetricStreamerReadData(streamer, 2, &bytes, raw + used));
        used += bytes;
        reads += bytes > 0;
        sleep_ms(1);
    }
    EXPECT_OK(zetMetricStreamerClose(streamer));
    EXPECT_OK(zetContextActivateMetricGroups(bed->context, device, 0, NULL));
    return used;
}

static ze_command_list_handle_t immediate(const struct metric_bed *bed, ze_device_handle_t device)
{
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    ze_command_list_handle_t list = NULL;

    EXPECT_OK(zeCommandListCreateImmediate(bed->context, device, &desc, &list));
    return list;
}

static void make_query(struct metric_bed *bed)
{
    const zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                               .type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE,
                                               .count = 1};
    ze_command_list_handle_t list = immediate(bed, bed->root);
    ze_event_handle_t none = NULL;

    EXPECT_OK(zetMetricQueryPoolCreate(bed->context, bed->root, bed->queried, &desc, &bed->pool));
    EXPECT_OK(zetMetricQueryCreate(bed->pool, 0, &bed->query));
    metric_bed_activate(bed, bed->queried);
    EXPECT_OK(zetCommandListAppendMetricQueryBegin(list, bed->query));
    EXPECT_OK(zetCommandListAppendMetricQueryEnd(list, bed->query, NULL, 0, &none));
    metric_bed_activate(bed, NULL);
    EXPECT_OK(zeCommandListDestroy(list));
}

/** Copies on each tile, which are events. */
static void work_on_tiles(const struct metric_bed *bed)
{
    const ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const uint32_t pattern = 7;
    ze_device_handle_t tiles[BED_TILES];
    uint32_t count = BED_TILES;

    EXPECT_OK(zeDeviceGetSubDevices(bed->root, &count, tiles));
    for (uint32_t i = 0; i < BED_TILES; i++) {
        ze_command_list_handle_t list = immediate(bed, tiles[i]);
        void *memory = NULL;

        EXPECT_OK(zeMemAllocDevice(bed->context, &desc, 4096, 64, tiles[i], &memory));
        for (int fill = 0; fill < 3; fill++)
            EXPECT_OK(zeCommandListAppendMemoryFill(list, memory, &pattern, sizeof(pattern), 4096,
                                                    NULL, 0, NULL));
        EXPECT_OK(zeCommandListDestroy(list));
        EXPECT_OK(zeMemFree(bed->context, memory));
    }
}

static void trace(struct metric_bed *bed)
{
    zet_metric_tracer_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_TRACER_EXP_DESC};
    zet_metric_tracer_exp_handle_t tracer = NULL;

    metric_bed_activate(bed, bed->traced);
    EXPECT_OK(
        zetMetricTracerCreateExp(bed->context, bed->root, 1, &bed->traced, &desc, NULL, &tracer));
    EXPECT_OK(zetMetricTracerEnableExp(tracer, 1));
    work_on_tiles(bed);
    EXPECT_OK(zetMetricTracerDisableExp(tracer, 1));
    bed->events_bytes = sizeof(bed->events);
    EXPECT_OK(zetMetricTracerReadDataExp(tracer, &bed->events_bytes, bed->events));
    EXPECT_OK(zetMetricDecoderCreateExp(tracer, &bed->decoder));
    EXPECT_OK(zetMetricTracerDestroyExp(tracer));
    metric_bed_activate(bed, NULL);
    bed->decodable_count = sizeof(bed->decodable) / sizeof(bed->decodable[0]);
    EXPECT_OK(zetMetricDecoderGetDecodableMetricsExp(bed->decoder, &bed->decodable_count,
                                                     bed->decodable));
}

zet_metric_programmable_exp_handle_t metric_bed_find(const struct metric_bed *bed, const char *name)
{
    zet_metric_programmable_exp_handle_t all[256];
    uint32_t count = 256;

    EXPECT_OK(zetMetricProgrammableGetExp(bed->tile, &count, all));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_programmable_exp_properties_t properties = {
            .stype = ZET_STRUCTURE_TYPE_METRIC_PROGRAMMABLE_EXP_PROPERTIES};

        EXPECT_OK(zetMetricProgrammableGetPropertiesExp(all[i], &properties));
        if (strcmp(properties.name, name) == 0 && properties.samplingType == TIME_BASED)
            return all[i];
    }
    fail_msg("there is no programmable %s", name);
    return NULL;
}

static void make_metrics(struct metric_bed *bed)
{
    zet_metric_programmable_param_value_exp_t scope = {.value.ui32 = BY_EU};
    uint32_t count = BED_METRICS;

    bed->programmable = metric_bed_find(bed, "InstRetired");
    EXPECT_OK(zetMetricCreateFromProgrammableExp2(bed->programmable, 1, &scope, "Eu", "of a test",
                                                  &count, bed->metrics));
    assert_int_equal(count, BED_METRICS);
}

int metric_bed_setup(void **state)
{
    struct metric_bed *bed;

    if (zeInit(0) != ZE_RESULT_SUCCESS)
        return -1;
    bed = calloc(1, sizeof(*bed));
    if (!bed)
        return -1;
    *state = bed;
    find_devices(bed);
    bed->raw_bytes = record(bed, bed->root, bed->sampled, bed->raw);
    bed->tile_raw_bytes = record(bed, bed->tile, bed->sampled_tile, bed->tile_raw);
    bed->exported_bytes = sizeof(bed->exported);
    EXPECT_OK(zetMetricGroupGetExportDataExp(bed->sampled, bed->raw, bed->raw_bytes,
                                             &bed->exported_bytes, bed->exported));
    make_query(bed);
    trace(bed);
    make_metrics(bed);
    return 0;
}

int metric_bed_teardown(void **state)
{
    struct metric_bed *bed = *state;

    for (uint32_t i = 0; i < BED_METRICS; i++)
        EXPECT_OK(zetMetricDestroyExp(bed->metrics[i]));
    EXPECT_OK(zetMetricDecoderDestroyExp(bed->decoder));
    EXPECT_OK(zetMetricQueryDestroy(bed->query));
    EXPECT_OK(zetMetricQueryPoolDestroy(bed->pool));
    EXPECT_OK(zeContextDestroy(bed->context));
    free(bed);
    return 0;
}

void metric_bed_activate(const struct metric_bed *bed, zet_metric_group_handle_t group)
{
    EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->root, group ? 1 : 0, &group));
}
