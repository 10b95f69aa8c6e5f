/* What zeDeviceGet...Properties say: the facts of the backend in the structs of the API. */
#include <string.h>

#include "core/api/chain.h"
#include "core/device/device.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/clock.h"
#include "zeta_impl.h"

static const struct zeta_plugin_device_properties *facts(ze_device_handle_t hDevice)
{
    return &((const struct zeta_device *)hDevice)->backend->properties;
}

/* Element of an array whose stride may be smaller than our struct: copied, the rest is zero. */
static void read_element(const struct zeta_plugin_array *array, uint64_t index, void *out,
                         size_t out_bytes)
{
    size_t known = array->stride < out_bytes ? (size_t)array->stride : out_bytes;

    memset(out, 0, out_bytes);
    memcpy(out, (const char *)array->data + index * array->stride, known);
}

static uint32_t device_flags(const struct zeta_device *device)
{
    static const struct {
        uint32_t ours;
        uint32_t theirs;
    } map[] = {
        {ZETA_PLUGIN_DEVICE_INTEGRATED, ZE_DEVICE_PROPERTY_FLAG_INTEGRATED},
        {ZETA_PLUGIN_DEVICE_ON_DEMAND_PAGING, ZE_DEVICE_PROPERTY_FLAG_ONDEMANDPAGING},
        {ZETA_PLUGIN_DEVICE_ECC, ZE_DEVICE_PROPERTY_FLAG_ECC},
    };
    uint32_t flags = device->parent ? ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE : 0;

    for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++) {
        if (device->backend->properties.flags & map[i].ours)
            flags |= map[i].theirs;
    }
    return flags;
}

static void fill_chained(const struct zeta_plugin_device_properties *p, const void *next)
{
    struct zeta_chain chain = zeta_chain_begin(next);
    uint32_t stype;
    void *node;

    while ((node = zeta_chain_next(&chain, &stype)) != NULL) {
        if (stype == ZE_STRUCTURE_TYPE_EU_COUNT_EXT &&
            zeta_chain_readable(node, sizeof(ze_eu_count_ext_t))) {
            ((ze_eu_count_ext_t *)node)->numTotalEUs =
                p->slices * p->subslices_per_slice * p->eus_per_subslice;
        } else if (stype == ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_PROPERTIES &&
                   zeta_chain_readable(node,
                                       sizeof(ze_event_query_kernel_timestamps_ext_properties_t))) {
            ((ze_event_query_kernel_timestamps_ext_properties_t *)node)->flags =
                ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_FLAG_KERNEL |
                ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_FLAG_SYNCHRONIZED;
        }
    }
}

ze_result_t ZE_APICALL impl_zeDeviceGetProperties(ze_device_handle_t hDevice,
                                                  ze_device_properties_t *pDeviceProperties)
{
    const struct zeta_device *device = (const struct zeta_device *)hDevice;
    const struct zeta_plugin_device_properties *p = facts(hDevice);
    ze_device_properties_t *out = pDeviceProperties;

    out->type = p->type == ZETA_PLUGIN_DEVICE_CPU ? ZE_DEVICE_TYPE_CPU : ZE_DEVICE_TYPE_GPU;
    out->vendorId = p->vendor_id;
    out->deviceId = p->device_id;
    out->flags = device_flags(device);
    out->subdeviceId = device->parent ? device->tile : 0;
    out->coreClockRate = p->core_clock_mhz;
    out->maxMemAllocSize = p->max_allocation_bytes;
    out->maxHardwareContexts = p->max_hardware_contexts;
    out->maxCommandQueuePriority = p->max_command_queue_priority;
    out->numThreadsPerEU = p->threads_per_eu;
    out->physicalEUSimdWidth = p->simd_width;
    out->numEUsPerSubslice = p->eus_per_subslice;
    out->numSubslicesPerSlice = p->subslices_per_slice;
    out->numSlices = p->slices;
    out->timestampValidBits = p->timestamp_valid_bits;
    out->kernelTimestampValidBits = p->kernel_timestamp_valid_bits;
    memcpy(out->uuid.id, p->uuid, sizeof(out->uuid.id));
    memset(out->name, 0, sizeof(out->name));
    memcpy(out->name, device->name, strnlen(device->name, sizeof(out->name) - 1));

    /* Only the exact new type selects cycles per second: old programs leave the type at random. */
    out->timerResolution = p->timer_hz;
    if (out->stype != ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2)
        out->timerResolution =
            p->timer_hz < ZETA_NS_PER_S ? (ZETA_NS_PER_S + p->timer_hz / 2) / p->timer_hz : 1;
    fill_chained(p, out->pNext);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeDeviceGetComputeProperties(
    ze_device_handle_t hDevice, ze_device_compute_properties_t *pComputeProperties)
{
    const struct zeta_plugin_device_properties *p = facts(hDevice);
    ze_device_compute_properties_t *out = pComputeProperties;

    out->maxTotalGroupSize = p->max_group_size;
    out->maxGroupSizeX = p->max_group_size_xyz[0];
    out->maxGroupSizeY = p->max_group_size_xyz[1];
    out->maxGroupSizeZ = p->max_group_size_xyz[2];
    out->maxGroupCountX = p->max_group_count_xyz[0];
    out->maxGroupCountY = p->max_group_count_xyz[1];
    out->maxGroupCountZ = p->max_group_count_xyz[2];
    out->maxSharedLocalMemory = p->max_shared_local_bytes;
    out->numSubGroupSizes = p->subgroup_sizes.count < ZE_SUBGROUPSIZE_COUNT
                                ? (uint32_t)p->subgroup_sizes.count
                                : ZE_SUBGROUPSIZE_COUNT;
    memset(out->subGroupSizes, 0, sizeof(out->subGroupSizes));
    for (uint32_t i = 0; i < out->numSubGroupSizes; i++)
        read_element(&p->subgroup_sizes, i, &out->subGroupSizes[i], sizeof(uint32_t));
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeDeviceGetModuleProperties(
    ze_device_handle_t hDevice, ze_device_module_properties_t *pModuleProperties)
{
    /* What IEEE 754 demands of everyone; backends have no way to say more yet. */
    const ze_device_fp_flags_t ieee =
        ZE_DEVICE_FP_FLAG_INF_NAN | ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST;
    const struct zeta_device *device = (const struct zeta_device *)hDevice;
    const struct zeta_plugin_device_properties *p = facts(hDevice);
    ze_device_module_properties_t *out = pModuleProperties;
    const char *format = device->driver->compute ? device->driver->compute->id : "";

    out->spirvVersionSupported = p->spirv_version;
    out->flags = (p->fp16 ? ZE_DEVICE_MODULE_FLAG_FP16 : 0u) |
                 (p->fp64 ? ZE_DEVICE_MODULE_FLAG_FP64 : 0u) |
                 (p->int64_atomics ? ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS : 0u) |
                 (p->dp4a ? ZE_DEVICE_MODULE_FLAG_DP4A : 0u);
    out->fp16flags = p->fp16 ? ieee : 0;
    out->fp32flags = device->driver->compute ? ieee : 0;
    out->fp64flags = p->fp64 ? ieee : 0;
    out->maxArgumentsSize = p->max_argument_bytes;
    out->printfBufferSize = p->printf_buffer_bytes;
    memset(out->nativeKernelSupported.id, 0, sizeof(out->nativeKernelSupported.id));
    memcpy(out->nativeKernelSupported.id, format,
           strnlen(format, sizeof(out->nativeKernelSupported.id)));
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeDeviceGetCommandQueueGroupProperties(
    ze_device_handle_t hDevice, uint32_t *pCount,
    ze_command_queue_group_properties_t *pCommandQueueGroupProperties)
{
    const struct zeta_plugin_array *groups = &facts(hDevice)->queue_groups;
    uint32_t n = zeta_count_clip(pCount, (uint32_t)groups->count, pCommandQueueGroupProperties);

    for (uint32_t i = 0; i < n; i++) {
        struct zeta_plugin_queue_group group;

        read_element(groups, i, &group, sizeof(group));
        pCommandQueueGroupProperties[i].flags = group.flags;
        pCommandQueueGroupProperties[i].maxMemoryFillPatternSize =
            (size_t)group.max_fill_pattern_bytes;
        pCommandQueueGroupProperties[i].numQueues = group.queue_count;
    }
    return ZE_RESULT_SUCCESS;
}

bool zeta_device_is_cooperative(const struct zeta_device *device)
{
    const struct zeta_plugin_array *groups = &device->backend->properties.queue_groups;
    struct zeta_plugin_queue_group group = {0};

    for (uint64_t i = 0; i < groups->count; i++) {
        read_element(groups, i, &group, sizeof(group));
        if (group.flags & ZETA_PLUGIN_QUEUE_COOPERATIVE)
            return true;
    }
    return false;
}

ze_result_t ZE_APICALL impl_zeDeviceGetMemoryProperties(
    ze_device_handle_t hDevice, uint32_t *pCount, ze_device_memory_properties_t *pMemProperties)
{
    const struct zeta_plugin_array *memories = &facts(hDevice)->memories;
    uint32_t n = zeta_count_clip(pCount, (uint32_t)memories->count, pMemProperties);

    for (uint32_t i = 0; i < n; i++) {
        ze_device_memory_properties_t *out = &pMemProperties[i];
        struct zeta_plugin_memory memory;

        read_element(memories, i, &memory, sizeof(memory));
        out->flags = 0;
        out->maxClockRate = memory.max_clock_mhz;
        out->maxBusWidth = memory.bus_width_bits;
        out->totalSize = memory.total_bytes;
        memset(out->name, 0, sizeof(out->name));
        if (memory.name.size > 0)
            memcpy(out->name, memory.name.data,
                   memory.name.size < sizeof(out->name) ? (size_t)memory.name.size
                                                        : sizeof(out->name) - 1);
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeDeviceGetMemoryAccessProperties(
    ze_device_handle_t hDevice, ze_device_memory_access_properties_t *pMemAccessProperties)
{
    const struct zeta_device *device = (const struct zeta_device *)hDevice;
    ze_memory_access_cap_flags_t all =
        ZE_MEMORY_ACCESS_CAP_FLAG_RW | ZE_MEMORY_ACCESS_CAP_FLAG_ATOMIC |
        ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT | ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT_ATOMIC;

    if (!device->driver->compute)
        all = 0;
    pMemAccessProperties->hostAllocCapabilities = all;
    pMemAccessProperties->deviceAllocCapabilities = all;
    pMemAccessProperties->sharedSingleDeviceAllocCapabilities = all;
    pMemAccessProperties->sharedCrossDeviceAllocCapabilities = all;
    pMemAccessProperties->sharedSystemAllocCapabilities = 0;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeDeviceGetCacheProperties(
    ze_device_handle_t hDevice, uint32_t *pCount, ze_device_cache_properties_t *pCacheProperties)
{
    const struct zeta_plugin_array *caches = &facts(hDevice)->caches;
    uint32_t n = zeta_count_clip(pCount, (uint32_t)caches->count, pCacheProperties);

    for (uint32_t i = 0; i < n; i++) {
        struct zeta_plugin_cache cache;

        read_element(caches, i, &cache, sizeof(cache));
        pCacheProperties[i].flags =
            cache.user_controlled ? ZE_DEVICE_CACHE_PROPERTY_FLAG_USER_CONTROL : 0;
        pCacheProperties[i].cacheSize = (size_t)cache.size_bytes;
    }
    return ZE_RESULT_SUCCESS;
}

/* Images are not supported by any backend: all limits are 0, which says so. */
ze_result_t ZE_APICALL impl_zeDeviceGetImageProperties(
    ze_device_handle_t hDevice ZETA_UNUSED, ze_device_image_properties_t *pImageProperties)
{
    ze_device_image_properties_t *out = pImageProperties;

    out->maxImageDims1D = 0;
    out->maxImageDims2D = 0;
    out->maxImageDims3D = 0;
    out->maxImageBufferSize = 0;
    out->maxImageArraySlices = 0;
    out->maxSamplers = 0;
    out->maxReadImageArgs = 0;
    out->maxWriteImageArgs = 0;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeDeviceGetExternalMemoryProperties(
    ze_device_handle_t hDevice ZETA_UNUSED,
    ze_device_external_memory_properties_t *pExternalMemoryProperties)
{
    pExternalMemoryProperties->memoryAllocationImportTypes = 0;
    pExternalMemoryProperties->memoryAllocationExportTypes = 0;
    pExternalMemoryProperties->imageImportTypes = 0;
    pExternalMemoryProperties->imageExportTypes = 0;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeDevicePciGetPropertiesExt(ze_device_handle_t hDevice,
                                                        ze_pci_ext_properties_t *pPciProperties)
{
    const struct zeta_plugin_device_properties *p = facts(hDevice);

    /* Programs stop when this fails, so a device without an address says 0000:00:00.0. */
    pPciProperties->address = (ze_pci_address_ext_t){0};
    if (p->has_pci)
        pPciProperties->address = (ze_pci_address_ext_t){.domain = p->pci_domain,
                                                         .bus = p->pci_bus,
                                                         .device = p->pci_device,
                                                         .function = p->pci_function};
    pPciProperties->maxSpeed =
        (ze_pci_speed_ext_t){.genVersion = -1, .width = -1, .maxBandwidth = -1};
    return ZE_RESULT_SUCCESS;
}

/* Each lane executes scalars: vectors are loops, so no width is better than 1. */
ze_result_t ZE_APICALL impl_zeDeviceGetVectorWidthPropertiesExt(
    ze_device_handle_t hDevice, uint32_t *pCount,
    ze_device_vector_width_properties_ext_t *pVectorWidthProperties)
{
    const struct zeta_plugin_device_properties *p = facts(hDevice);
    ze_device_vector_width_properties_ext_t *out = pVectorWidthProperties;
    bool computes = ((const struct zeta_device *)hDevice)->driver->compute != NULL;

    if (zeta_count_clip(pCount, computes ? 1 : 0, out) == 0)
        return ZE_RESULT_SUCCESS;
    out->vector_width_size = p->simd_width;
    out->preferred_vector_width_char = out->native_vector_width_char = 1;
    out->preferred_vector_width_short = out->native_vector_width_short = 1;
    out->preferred_vector_width_int = out->native_vector_width_int = 1;
    out->preferred_vector_width_long = out->native_vector_width_long = 1;
    out->preferred_vector_width_float = out->native_vector_width_float = 1;
    out->preferred_vector_width_double = out->native_vector_width_double = p->fp64 ? 1 : 0;
    out->preferred_vector_width_half = out->native_vector_width_half = p->fp16 ? 1 : 0;
    return ZE_RESULT_SUCCESS;
}
