#include "bed.h"

#include <string.h>
#include <time.h>

#define RAW_BYTES 65536u

static void read_image(struct bed *bed)
{
    FILE *file = fopen(SOAK_KERNEL, "rbe");
    long size;

    if (!file)
        return;
    (void)fseek(file, 0, SEEK_END);
    size = ftell(file);
    rewind(file);
    bed->image = malloc((size_t)size);
    if (!bed->image || fread(bed->image, 1, (size_t)size, file) != (size_t)size)
        exit(2);
    bed->image_bytes = (size_t)size;
    (void)fclose(file);
}

static void make_kernel(struct bed *bed)
{
    const ze_kernel_desc_t kernel = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                     .pKernelName = "nothing"};
    ze_module_desc_t module = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                               .format = ZE_MODULE_FORMAT_NATIVE};

    read_image(bed);
    if (!bed->image)
        return;
    module.inputSize = bed->image_bytes;
    module.pInputModule = bed->image;
    OK(zeModuleCreate(bed->context, bed->device, &module, &bed->module, NULL));
    OK(zeKernelCreate(bed->module, &kernel, &bed->kernel));
    OK(zeKernelSetGroupSize(bed->kernel, 1, 1, 1));
    OK(zeKernelSetArgumentValue(bed->kernel, 0, sizeof(bed->memory), &bed->memory));
}

static void find_group(struct bed *bed)
{
    zet_metric_group_handle_t groups[64];
    uint32_t count = 64;

    OK(zetMetricGroupGet(bed->device, &count, groups));
    for (uint32_t i = 0; i < count && !bed->group; i++) {
        zet_metric_group_properties_t properties = {.stype =
                                                        ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};

        OK(zetMetricGroupGetProperties(groups[i], &properties));
        if (properties.samplingType == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED)
            bed->group = groups[i];
    }
}

static void make_commands(struct bed *bed)
{
    const ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                           .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    const ze_command_queue_desc_t at_once = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                             .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    const ze_command_list_desc_t list = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};

    OK(zeCommandQueueCreate(bed->context, bed->device, &queue, &bed->queue));
    OK(zeCommandListCreate(bed->context, bed->device, &list, &bed->list));
    OK(zeCommandListAppendBarrier(bed->list, NULL, 0, NULL));
    OK(zeCommandListClose(bed->list));
    OK(zeCommandListCreateImmediate(bed->context, bed->device, &at_once, &bed->immediate));
}

void bed_open(struct bed *bed)
{
    const ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_event_pool_desc_t pool = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                       .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE |
                                                ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
                                       .count = 2};
    const ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    const ze_device_mem_alloc_desc_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    uint32_t count = 1;

    memset(bed, 0, sizeof(*bed));
    OK(zeInit(0));
    OK(zeDriverGet(&count, &bed->driver));
    OK(zeDeviceGet(bed->driver, &count, &bed->device));
    OK(zeContextCreate(bed->driver, &context, &bed->context));
    OK(zeEventPoolCreate(bed->context, &pool, 0, NULL, &bed->pool));
    OK(zeEventCreate(bed->pool, &event, &bed->event));
    OK(zeMemAllocShared(bed->context, &device, &host, 4096, 0, bed->device, &bed->memory));
    make_commands(bed);
    make_kernel(bed);
    find_group(bed);
    bed->raw = malloc(RAW_BYTES);
    if (!bed->raw)
        exit(2);
}

void bed_close(struct bed *bed)
{
    if (bed->module) {
        OK(zeKernelDestroy(bed->kernel));
        OK(zeModuleDestroy(bed->module));
    }
    OK(zeCommandListDestroy(bed->immediate));
    OK(zeCommandListDestroy(bed->list));
    OK(zeCommandQueueDestroy(bed->queue));
    OK(zeMemFree(bed->context, bed->memory));
    OK(zeEventDestroy(bed->event));
    OK(zeEventPoolDestroy(bed->pool));
    OK(zeContextDestroy(bed->context));
    free(bed->image);
    free(bed->raw);
}

void bed_stream(struct bed *bed)
{
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .notifyEveryNReports = 16,
                                       .samplingPeriod = 1000000};

    OK(zetContextActivateMetricGroups(bed->context, bed->device, 1, &bed->group));
    OK(zetMetricStreamerOpen(bed->context, bed->device, bed->group, &desc, NULL, &bed->streamer));
}

void bed_unstream(struct bed *bed)
{
    OK(zetMetricStreamerClose(bed->streamer));
    OK(zetContextActivateMetricGroups(bed->context, bed->device, 0, NULL));
}

void bed_sample(struct bed *bed)
{
    const struct timespec moment = {.tv_nsec = 20000000};

    bed_stream(bed);
    while (bed->raw_bytes == 0) {
        (void)nanosleep(&moment, NULL);
        bed->raw_bytes = RAW_BYTES;
        OK(zetMetricStreamerReadData(bed->streamer, UINT32_MAX, &bed->raw_bytes, bed->raw));
    }
    bed_unstream(bed);
}
