/* Who a device is: zeDeviceGetProperties with all that can be chained to it, and the PCI address.
 */
#include <string.h>

#include <zeta/clock.h>

#include "core/api/chain.h"
#include "core/device/device.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "zeta_impl.h"

static const struct zeta_plugin_device_properties *facts(ze_device_handle_t hDevice)
{
    return &((const struct zeta_device *)hDevice)->backend->properties;
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
    uint32_t flags = device->parent && !device->alone ? ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE : 0;

    for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++) {
        if (device->backend->properties.flags & map[i].ours)
            flags |= map[i].theirs;
    }
    return flags;
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

static void fill_event_flags(ze_event_query_kernel_timestamps_ext_properties_t *out)
{
    out->flags = ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_FLAG_KERNEL |
                 ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_FLAG_SYNCHRONIZED;
}

/* What counter based events do on every device that computes; nothing raises interrupts. */
static ze_device_event_properties_flags_t event_flags(const struct zeta_device *device)
{
    if (!device->driver->compute)
        return 0;
    return ZE_DEVICE_EVENT_PROPERTIES_FLAG_COUNTER_BASED_EXTERNAL_AGGREGATE_STORAGE |
           ZE_DEVICE_EVENT_PROPERTIES_FLAG_COUNTER_BASED_IPC |
           ZE_DEVICE_EVENT_PROPERTIES_FLAG_COUNTER_BASED_EXTERNAL_SYNC_ALLOCATION;
}

static void fill_read_only(const struct zeta_device *device,
                           ze_device_readonly_memory_ext_properties_t *out)
{
    bool enforced =
        (device->backend->properties.flags & ZETA_PLUGIN_DEVICE_READ_ONLY_ENFORCED) != 0;

    out->readonlyCapability = enforced ? ZE_DEVICE_READONLY_MEMORY_CAPABILITY_ENFORCED
                                       : ZE_DEVICE_READONLY_MEMORY_CAPABILITY_NONE;
}

/* No device traces rays: no format, no alignment. */
static void fill_rtas(ze_rtas_device_ext_properties_t *out)
{
    out->flags = 0;
    out->rtasFormat = ZE_RTAS_FORMAT_EXT_INVALID;
    out->rtasBufferAlignment = 0;
}

/* The core keeps what was recorded, so all of it can be changed but for what a graph would take. */
static void fill_mutable(const struct zeta_device *device,
                         ze_mutable_command_list_exp_properties_t *out)
{
    out->mutableCommandListFlags = 0;
    out->mutableCommandFlags = device->driver->compute ? ZETA_MUTABLE_FLAGS : 0;
}

/* True if the whole struct of a node can be written. */
#define IS(node, type) zeta_chain_readable(node, sizeof(type))

/* Structs that have no meaning here (the locally unique id of Windows) are left alone. */
static void fill_node(const struct zeta_device *device, uint32_t stype, void *node)
{
    const struct zeta_plugin_device_properties *p = &device->backend->properties;

    switch (stype) {
    case ZE_STRUCTURE_TYPE_EU_COUNT_EXT:
        if (IS(node, ze_eu_count_ext_t))
            ((ze_eu_count_ext_t *)node)->numTotalEUs =
                p->slices * p->subslices_per_slice * p->eus_per_subslice;
        return;
    case ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_PROPERTIES:
        if (IS(node, ze_event_query_kernel_timestamps_ext_properties_t))
            fill_event_flags(node);
        return;
    case ZE_STRUCTURE_TYPE_DEVICE_EVENT_PROPERTIES:
        if (IS(node, ze_device_event_properties_t))
            ((ze_device_event_properties_t *)node)->flags = event_flags(device);
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
            fill_read_only(device, node);
        return;
    case ZE_STRUCTURE_TYPE_RTAS_DEVICE_EXT_PROPERTIES:
    case ZE_STRUCTURE_TYPE_RTAS_DEVICE_EXP_PROPERTIES: /* the same members */
        if (IS(node, ze_rtas_device_ext_properties_t))
            fill_rtas(node);
        return;
    case ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_PROPERTIES:
        if (IS(node, ze_mutable_command_list_exp_properties_t))
            fill_mutable(device, node);
        return;
    case ZE_STRUCTURE_TYPE_RECORD_REPLAY_GRAPH_EXT_PROPERTIES:
        if (IS(node, ze_record_replay_graph_ext_properties_t))
            ((ze_record_replay_graph_ext_properties_t *)node)->graphFlags =
                device->driver->compute ? ZE_RECORD_REPLAY_GRAPH_EXT_FLAG_IMMUTABLE_GRAPH : 0;
        return;
    default:
        return;
    }
}

static void fill_chained(const struct zeta_device *device, const void *next)
{
    struct zeta_chain chain = zeta_chain_begin(next);
    uint32_t stype;
    void *node;

    while ((node = zeta_chain_next(&chain, &stype)) != NULL)
        fill_node(device, stype, node);
}

/* Of a root that is seen in part only what is seen counts. */
static uint32_t slices_seen(const struct zeta_device *device)
{
    uint32_t slices = 0;

    if (!device->is_part)
        return device->backend->properties.slices;
    for (uint32_t i = 0; i < device->tile_count; i++)
        slices += device->tiles[i]->backend->properties.slices;
    return slices;
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
    out->numSlices = slices_seen(device);
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
    fill_chained(device, out->pNext);
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

/* No backend halts threads for a debugger, so a device has no flag. */
ze_result_t ZE_APICALL impl_zetDeviceGetDebugProperties(
    zet_device_handle_t hDevice ZETA_UNUSED, zet_device_debug_properties_t *pDebugProperties)
{
    pDebugProperties->flags = 0;
    return ZE_RESULT_SUCCESS;
}
