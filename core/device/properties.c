/* zeDeviceGet...Properties, with all that can be chained to them. */
#include <stddef.h>
#include <string.h>

#include <zeta/clock.h>

#include "core/api/chain.h"
#include "core/device/device.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

static const struct zeta_plugin_device_properties *facts(ze_device_handle_t hDevice)
{
    return &((const struct zeta_device *)hDevice)->backend->properties;
}

/* Bytes that nobody has now; the total of the memories when the backend does not know. */
static uint64_t unused_bytes(const struct zeta_device *device)
{
    const struct zeta_provider *who = &device->backend->providers[ZETA_GROUP_COMPUTE];
    const struct zeta_plugin_array *memories = &device->backend->properties.memories;
    struct zeta_plugin_memory memory;
    uint64_t bytes = 0;

    if (who->backend && who->backend->compute.memory_unused(who->backend->self, who->device,
                                                            &bytes) == ZETA_PLUGIN_SUCCESS)
        return bytes;
    for (uint64_t i = 0; i < memories->count; i++) {
        zeta_array_read(memories, i, &memory, sizeof(memory));
        bytes += memory.total_bytes;
    }
    return bytes;
}

/* True if the whole struct of a node can be written. */
#define IS(node, type) zeta_chain_readable(node, sizeof(type))

/* Structs that have no meaning here (the locally unique id of Windows) are left alone. */
static void fill_node(const struct zeta_device *device, uint32_t stype, void *node)
{
    const struct zeta_plugin_device_properties *p = &device->backend->properties;
    const bool computes = device->driver->compute != NULL;

    switch (stype) {
    case ZE_STRUCTURE_TYPE_EU_COUNT_EXT:
        if (IS(node, ze_eu_count_ext_t))
            ((ze_eu_count_ext_t *)node)->numTotalEUs =
                p->slices * p->subslices_per_slice * p->eus_per_subslice;
        return;
    case ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_PROPERTIES:
        if (IS(node, ze_event_query_kernel_timestamps_ext_properties_t))
            ((ze_event_query_kernel_timestamps_ext_properties_t *)node)->flags =
                ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_FLAG_KERNEL |
                ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_FLAG_SYNCHRONIZED;
        return;
    case ZE_STRUCTURE_TYPE_DEVICE_EVENT_PROPERTIES:
        /* What counter based events do on every device that computes; no interrupts. */
        if (IS(node, ze_device_event_properties_t))
            ((ze_device_event_properties_t *)node)->flags =
                computes
                    ? ZE_DEVICE_EVENT_PROPERTIES_FLAG_COUNTER_BASED_EXTERNAL_AGGREGATE_STORAGE |
                          ZE_DEVICE_EVENT_PROPERTIES_FLAG_COUNTER_BASED_IPC |
                          ZE_DEVICE_EVENT_PROPERTIES_FLAG_COUNTER_BASED_EXTERNAL_SYNC_ALLOCATION
                    : 0;
        return;
    case ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT:
        if (p->ip_version != 0 && IS(node, ze_device_ip_version_ext_t))
            ((ze_device_ip_version_ext_t *)node)->ipVersion = p->ip_version;
        return;
    case ZE_STRUCTURE_TYPE_DEVICE_USABLEMEM_SIZE_EXT_PROPERTIES:
        if (IS(node, ze_device_usablemem_size_ext_properties_t))
            ((ze_device_usablemem_size_ext_properties_t *)node)->currUsableMemSize =
                unused_bytes(device);
        return;
    case ZE_STRUCTURE_TYPE_DEVICE_READONLY_MEMORY_EXT_PROPERTIES:
        if (IS(node, ze_device_readonly_memory_ext_properties_t))
            ((ze_device_readonly_memory_ext_properties_t *)node)->readonlyCapability =
                p->flags & ZETA_PLUGIN_DEVICE_READ_ONLY_ENFORCED
                    ? ZE_DEVICE_READONLY_MEMORY_CAPABILITY_ENFORCED
                    : ZE_DEVICE_READONLY_MEMORY_CAPABILITY_NONE;
        return;
    case ZE_STRUCTURE_TYPE_RTAS_DEVICE_EXT_PROPERTIES:
    case ZE_STRUCTURE_TYPE_RTAS_DEVICE_EXP_PROPERTIES: /* the same members */
        /* No device traces rays: no format, no alignment. */
        if (IS(node, ze_rtas_device_ext_properties_t)) {
            ze_rtas_device_ext_properties_t *out = node;

            out->flags = 0;
            out->rtasFormat = ZE_RTAS_FORMAT_EXT_INVALID;
            out->rtasBufferAlignment = 0;
        }
        return;
    case ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_PROPERTIES:
        /* All that was recorded can be changed but for what a graph would take. */
        if (IS(node, ze_mutable_command_list_exp_properties_t)) {
            ze_mutable_command_list_exp_properties_t *out = node;

            out->mutableCommandListFlags = 0;
            out->mutableCommandFlags = computes ? ZETA_MUTABLE_FLAGS : 0;
        }
        return;
    case ZE_STRUCTURE_TYPE_RECORD_REPLAY_GRAPH_EXT_PROPERTIES:
        if (IS(node, ze_record_replay_graph_ext_properties_t))
            ((ze_record_replay_graph_ext_properties_t *)node)->graphFlags =
                computes ? ZE_RECORD_REPLAY_GRAPH_EXT_FLAG_IMMUTABLE_GRAPH : 0;
        return;
    default:
        return;
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
    out->flags =
        (device->parent && !device->alone ? ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE : 0u) |
        (p->flags & ZETA_PLUGIN_DEVICE_INTEGRATED ? ZE_DEVICE_PROPERTY_FLAG_INTEGRATED : 0u) |
        (p->flags & ZETA_PLUGIN_DEVICE_ON_DEMAND_PAGING ? ZE_DEVICE_PROPERTY_FLAG_ONDEMANDPAGING
                                                        : 0u) |
        (p->flags & ZETA_PLUGIN_DEVICE_ECC ? ZE_DEVICE_PROPERTY_FLAG_ECC : 0u);
    out->subdeviceId = device->parent ? device->tile : 0;
    out->coreClockRate = p->core_clock_mhz;
    out->maxMemAllocSize = p->max_allocation_bytes;
    out->maxHardwareContexts = p->max_hardware_contexts;
    out->maxCommandQueuePriority = p->max_command_queue_priority;
    out->numThreadsPerEU = p->threads_per_eu;
    out->physicalEUSimdWidth = p->simd_width;
    out->numEUsPerSubslice = p->eus_per_subslice;
    out->numSubslicesPerSlice = p->subslices_per_slice;
    /* Of a root that is seen in part only what is seen counts. */
    out->numSlices = device->is_part ? 0 : p->slices;
    for (uint32_t i = 0; device->is_part && i < device->tile_count; i++)
        out->numSlices += device->tiles[i]->backend->properties.slices;
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

    struct zeta_chain chain = zeta_chain_begin(out->pNext);
    uint32_t stype;
    void *node;
    while ((node = zeta_chain_next(&chain, &stype)) != NULL)
        fill_node(device, stype, node);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeDevicePciGetPropertiesExt(ze_device_handle_t hDevice,
                                                        ze_pci_ext_properties_t *pPciProperties)
{
    const struct zeta_plugin_device_properties *p = facts(hDevice);

    /* Programs stop when this fails, so a device without an address gets 0000:00:00.0. */
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

/* ---- what a device can execute ---- */

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
        zeta_array_read(&p->subgroup_sizes, i, &out->subGroupSizes[i], sizeof(uint32_t));
    ze_device_compute_dotproduct_ext_properties_t *products = zeta_chain_find(
        out->pNext, ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_DOTPRODUCT_EXT_PROPERTIES, sizeof(*products));
    if (products) {
        /* Products of packed bytes, where the device has them; no device has a systolic array. */
        const bool has = p->dp4a != 0;

        products->dp_caps =
            has ? ZE_DEVICE_DP_CAPABILITY_FLAG_DEVICE_NON_SYSTOLIC_DPA4_SIMD_ALL : 0;
        products->dpv4_input_types =
            has ? ZE_DEVICE_INPUT_DATA_TYPE_FLAG_DEVICE_INPUT_DATA_INT8_PACK4_PER_SIMD_LANE : 0;
        products->dpv4_output_types =
            has ? ZE_DEVICE_OUTPUT_DATA_TYPE_FLAG_DEVICE_OUTPUT_DATA_INT32 : 0;
        products->dpas_input_types = 0;
        products->dpas_output_types = 0;
        products->bdpas_input_types = 0;
        products->bdpas_output_types = 0;
    }
    return ZE_RESULT_SUCCESS;
}

/* What a backend reports of a precision, or what IEEE 754 demands. */
static ze_device_fp_flags_t fp_flags(bool present, uint32_t reported)
{
    const ze_device_fp_flags_t ieee =
        ZE_DEVICE_FP_FLAG_INF_NAN | ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST;

    if (!present)
        return 0;
    return reported ? reported : ieee;
}

ze_result_t ZE_APICALL impl_zeDeviceGetModuleProperties(
    ze_device_handle_t hDevice, ze_device_module_properties_t *pModuleProperties)
{
    const struct zeta_device *device = (const struct zeta_device *)hDevice;
    const struct zeta_plugin_device_properties *p = facts(hDevice);
    ze_device_module_properties_t *out = pModuleProperties;
    const char *format = device->driver->compute ? device->driver->compute->id : "";

    out->spirvVersionSupported = p->spirv_version;
    out->flags = (p->fp16 ? ZE_DEVICE_MODULE_FLAG_FP16 : 0u) |
                 (p->fp64 ? ZE_DEVICE_MODULE_FLAG_FP64 : 0u) |
                 (p->int64_atomics ? ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS : 0u) |
                 (p->dp4a ? ZE_DEVICE_MODULE_FLAG_DP4A : 0u);
    out->fp16flags = fp_flags(p->fp16 != 0, p->fp16_flags);
    out->fp32flags = fp_flags(device->driver->compute != NULL, p->fp32_flags);
    out->fp64flags = fp_flags(p->fp64 != 0, p->fp64_flags);
    out->maxArgumentsSize = p->max_argument_bytes;
    out->printfBufferSize = p->printf_buffer_bytes;
    memset(out->nativeKernelSupported.id, 0, sizeof(out->nativeKernelSupported.id));
    memcpy(out->nativeKernelSupported.id, format,
           strnlen(format, sizeof(out->nativeKernelSupported.id)));

    ze_float_atomic_ext_properties_t *atomics = zeta_chain_find(
        out->pNext, ZE_STRUCTURE_TYPE_FLOAT_ATOMIC_EXT_PROPERTIES, sizeof(*atomics));
    ze_device_raytracing_ext_properties_t *rays = zeta_chain_find(
        out->pNext, ZE_STRUCTURE_TYPE_DEVICE_RAYTRACING_EXT_PROPERTIES, sizeof(*rays));
    ze_scheduling_hint_exp_properties_t *hints = zeta_chain_find(
        out->pNext, ZE_STRUCTURE_TYPE_SCHEDULING_HINT_EXP_PROPERTIES, sizeof(*hints));

    if (atomics) {
        atomics->fp16Flags = p->fp16_atomics;
        atomics->fp32Flags = p->fp32_atomics;
        atomics->fp64Flags = p->fp64_atomics;
    }
    if (rays) {
        rays->flags = 0;
        rays->maxBVHLevels = 0;
    }
    if (hints)
        hints->schedulingHintFlags = 0;
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

        zeta_array_read(groups, i, &group, sizeof(group));
        pCommandQueueGroupProperties[i].flags = group.flags;
        pCommandQueueGroupProperties[i].maxMemoryFillPatternSize =
            (size_t)group.max_fill_pattern_bytes;
        pCommandQueueGroupProperties[i].numQueues = group.queue_count;
        ze_copy_bandwidth_exp_properties_t *bandwidth =
            zeta_chain_find(pCommandQueueGroupProperties[i].pNext,
                            ZE_STRUCTURE_TYPE_COPY_BANDWIDTH_EXP_PROPERTIES, sizeof(*bandwidth));
        if (bandwidth) {
            bandwidth->copyBandwidth = 0; /* not known */
            bandwidth->copyBandwidthUnit = ZE_BANDWIDTH_UNIT_UNKNOWN;
        }
    }
    return ZE_RESULT_SUCCESS;
}

bool zeta_device_is_cooperative(const struct zeta_device *device)
{
    const struct zeta_plugin_array *groups = &device->backend->properties.queue_groups;
    struct zeta_plugin_queue_group group = {0};

    for (uint64_t i = 0; i < groups->count; i++) {
        zeta_array_read(groups, i, &group, sizeof(group));
        if (group.flags & ZETA_PLUGIN_QUEUE_COOPERATIVE)
            return true;
    }
    return false;
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

/* ---- memories, caches and images, and how memory can be accessed and shared ---- */

ze_result_t ZE_APICALL impl_zeDeviceGetMemoryProperties(
    ze_device_handle_t hDevice, uint32_t *pCount, ze_device_memory_properties_t *pMemProperties)
{
    const struct zeta_plugin_array *memories = &facts(hDevice)->memories;
    uint32_t n = zeta_count_clip(pCount, (uint32_t)memories->count, pMemProperties);

    for (uint32_t i = 0; i < n; i++) {
        ze_device_memory_properties_t *out = &pMemProperties[i];
        struct zeta_plugin_memory memory;

        zeta_array_read(memories, i, &memory, sizeof(memory));
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
    /* Queues without compute write time stamps there. */
    if (!all && zeta_device_queue_provider(device)->backend)
        pMemAccessProperties->hostAllocCapabilities = ZE_MEMORY_ACCESS_CAP_FLAG_RW;
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

        zeta_array_read(caches, i, &cache, sizeof(cache));
        pCacheProperties[i].flags =
            cache.user_controlled ? ZE_DEVICE_CACHE_PROPERTY_FLAG_USER_CONTROL : 0;
        pCacheProperties[i].cacheSize = (size_t)cache.size_bytes;
        ze_device_cache_line_size_ext_t *line = zeta_chain_find(
            pCacheProperties[i].pNext, ZE_STRUCTURE_TYPE_DEVICE_CACHELINE_SIZE_EXT, sizeof(*line));
        if (line)
            line->cacheLineSize = cache.line_bytes;
        /* No cache of a backend has parts that can be reserved. */
        ze_cache_reservation_ext_desc_t *reservation =
            zeta_chain_find(pCacheProperties[i].pNext, ZE_STRUCTURE_TYPE_CACHE_RESERVATION_EXT_DESC,
                            sizeof(*reservation));
        if (reservation)
            reservation->maxCacheReservationSize = 0;
    }
    return ZE_RESULT_SUCCESS;
}

/* Images are not supported by any backend: so all limits are 0. */
ze_result_t ZE_APICALL impl_zeDeviceGetImageProperties(
    ze_device_handle_t hDevice ZETA_UNUSED, ze_device_image_properties_t *pImageProperties)
{
    ze_device_image_properties_t *out = pImageProperties;

    memset(&out->maxImageDims1D, 0,
           sizeof(*out) - offsetof(ze_device_image_properties_t, maxImageDims1D));
    ze_device_pitched_alloc_exp_properties_t *pitched = zeta_chain_find(
        out->pNext, ZE_STRUCTURE_TYPE_PITCHED_ALLOC_DEVICE_EXP_PROPERTIES, sizeof(*pitched));
    if (pitched) {
        pitched->maxImageLinearWidth = 0;
        pitched->maxImageLinearHeight = 0;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeDeviceGetExternalMemoryProperties(
    ze_device_handle_t hDevice, ze_device_external_memory_properties_t *pExternalMemoryProperties)
{
    const struct zeta_backend *compute = ((const struct zeta_device *)hDevice)->driver->compute;
    uint32_t types = compute && compute->has_sharing ? ZETA_EXTERNAL_MEMORY_TYPES : 0;

    pExternalMemoryProperties->memoryAllocationImportTypes = types;
    pExternalMemoryProperties->memoryAllocationExportTypes = types;
    pExternalMemoryProperties->imageImportTypes = 0;
    pExternalMemoryProperties->imageExportTypes = 0;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeDeviceReserveCacheExt(ze_device_handle_t hDevice,
                                                    size_t cacheLevel ZETA_UNUSED,
                                                    size_t cacheReservationSize)
{
    /* To give back what nobody can have is no mistake. */
    if (cacheReservationSize == 0)
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                      "no cache of %s can be reserved; see its cache properties",
                      ((const struct zeta_device *)hDevice)->name);
}

ze_result_t ZE_APICALL impl_zeDeviceSetCacheAdviceExt(ze_device_handle_t hDevice,
                                                      void *ptr ZETA_UNUSED,
                                                      size_t regionSize ZETA_UNUSED,
                                                      ze_cache_ext_region_t cacheRegion)
{
    if (cacheRegion == ZE_CACHE_EXT_REGION_DEFAULT)
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                      "no cache of %s has a reserved region to put memory in or keep it out of",
                      ((const struct zeta_device *)hDevice)->name);
}
