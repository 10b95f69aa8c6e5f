/* Memories, caches and images of a device, and how memory can be accessed and shared. */
#include <string.h>

#include "core/api/chain.h"
#include "core/device/device.h"
#include "core/memory/memory_request.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

static const struct zeta_plugin_device_properties *facts(ze_device_handle_t hDevice)
{
    return &((const struct zeta_device *)hDevice)->backend->properties;
}

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

/* No cache of a backend has parts that can be reserved. */
static void fill_cache_chain(const struct zeta_plugin_cache *cache, const void *next)
{
    ze_device_cache_line_size_ext_t *line =
        zeta_chain_find(next, ZE_STRUCTURE_TYPE_DEVICE_CACHELINE_SIZE_EXT, sizeof(*line));
    ze_cache_reservation_ext_desc_t *reservation =
        zeta_chain_find(next, ZE_STRUCTURE_TYPE_CACHE_RESERVATION_EXT_DESC, sizeof(*reservation));

    if (line)
        line->cacheLineSize = cache->line_bytes;
    if (reservation)
        reservation->maxCacheReservationSize = 0;
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
        fill_cache_chain(&cache, pCacheProperties[i].pNext);
    }
    return ZE_RESULT_SUCCESS;
}

/* Images are not supported by any backend: so all limits are 0. */
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
