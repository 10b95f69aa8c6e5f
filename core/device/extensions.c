/*
 * The extensions that work. Clients gate on this list, so a line is added together with what it
 * promises, and never before.
 */
#include "core/device/init.h"

#include <stddef.h>
#include <string.h>

#include <level_zero/ze_api.h>
#include <level_zero/zet_api.h>

#include "core/api/loader.h"
#include "core/device/device.h"
#include "core/util/cleanup.h"
#include "zeta_impl.h"

struct extension {
    const char *name;
    uint32_t version;
};

/* The first line depends on the loader and is skipped where it does not hold. */
static const struct extension extensions[] = {
    {ZE_DRIVER_DDI_HANDLES_EXT_NAME, ZE_MAKE_VERSION(1, 1)},
    {ZE_EU_COUNT_EXT_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_EVENT_QUERY_TIMESTAMPS_EXP_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_GLOBAL_OFFSET_EXP_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_KERNEL_MAX_GROUP_SIZE_PROPERTIES_EXT_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_MEMORY_FREE_POLICIES_EXT_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_PCI_PROPERTIES_EXT_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_DEVICE_VECTOR_SIZES_EXT_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZET_API_TRACING_EXP_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_CACHELINE_SIZE_EXT_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_DEVICE_IP_VERSION_EXT_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_DEVICE_USABLEMEM_SIZE_PROPERTIES_EXT_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_EXTERNAL_MEMORY_MAPPING_EXT_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_FLOAT_ATOMICS_EXT_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_GET_KERNEL_ALLOCATION_PROPERTIES_EXP_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_IPC_MEM_HANDLE_TYPE_EXT_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_KERNEL_SCHEDULING_HINTS_EXP_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_LINKAGE_INSPECTION_EXT_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_MODULE_PROGRAM_EXP_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_RELAXED_ALLOCATION_LIMITS_EXP_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_RELAXED_ALLOCATION_LIMITS_EXT_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_COMMAND_LIST_CLONE_EXP_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_EVENT_POOL_COUNTER_BASED_EXP_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_IMMEDIATE_COMMAND_LIST_APPEND_EXP_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_MUTABLE_COMMAND_LIST_EXP_NAME, ZE_MAKE_VERSION(1, 1)},
    {ZE_RECORD_REPLAY_GRAPH_EXT_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_SUB_ALLOCATIONS_EXP_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_VIRTUAL_MEM_READONLY_PROPERTIES_EXT_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZET_GLOBAL_METRICS_TIMESTAMPS_EXP_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZET_METRIC_GROUP_MARKER_EXP_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZET_EXPORT_METRICS_DATA_EXP_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZET_METRICS_RUNTIME_ENABLE_DISABLE_EXP_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZET_METRICS_TRACER_EXP_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZET_MULTI_METRICS_EXP_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZET_PROGRAMMABLE_METRICS_EXP_NAME, ZET_METRIC_PROGRAMMABLE_EXP_VERSION_CURRENT},
    {ZET_CONCURRENT_METRIC_GROUPS_EXP_NAME, ZE_MAKE_VERSION(1, 0)},
};

static const uint32_t extension_count = sizeof(extensions) / sizeof(extensions[0]);

bool zeta_extensions_have_ddi_handles(void)
{
    return zeta_ddi_has(zeta_api_lowest_version(), 1, 13);
}

ze_result_t ZE_APICALL
impl_zeDriverGetExtensionProperties(ze_driver_handle_t hDriver ZETA_UNUSED, uint32_t *pCount,
                                    ze_driver_extension_properties_t *pExtensionProperties)
{
    uint32_t first = zeta_extensions_have_ddi_handles() ? 0 : 1;
    uint32_t n = zeta_count_clip(pCount, extension_count - first, pExtensionProperties);

    for (uint32_t i = 0; i < n; i++) {
        ze_driver_extension_properties_t *out = &pExtensionProperties[i];

        memset(out->name, 0, sizeof(out->name));
        memcpy(out->name, extensions[first + i].name, strlen(extensions[first + i].name));
        out->version = extensions[first + i].version;
    }
    return ZE_RESULT_SUCCESS;
}
