#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <level_zero/zet_api.h>

#include "core/api/chain.h"
#include "core/api/check.h"
#include "core/api/loader.h"
#include "core/device/device.h"
#include "core/device/init.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "core/util/hash.h"
#include "zeta_impl.h"

/* Adds to an array that grows; its elements are pointers. */
static ze_result_t append(void *array, uint32_t *count, const void *element)
{
    const void **grown = NULL;

    memcpy(&grown, array, sizeof(grown));
    grown = realloc((void *)grown, (*count + 1) * sizeof(*grown));
    if (!grown)
        return zeta_error_no_memory("the list of drivers and devices");
    grown[(*count)++] = element;
    memcpy(array, &grown, sizeof(grown));
    return ZE_RESULT_SUCCESS;
}

/* The driver of a compute provider, made when its first device comes. */
static ze_result_t driver_for(struct zeta_driver_set *set, struct zeta_backend *compute,
                              struct zeta_driver **out_driver)
{
    void *object = NULL;

    for (uint32_t i = 0; i < set->count; i++) {
        if (set->drivers[i]->compute == compute) {
            *out_driver = set->drivers[i];
            return ZE_RESULT_SUCCESS;
        }
    }
    ze_result_t result = zeta_object_create(ZETA_KIND_DRIVER, sizeof(struct zeta_driver), &object);
    if (result != ZE_RESULT_SUCCESS)
        return result;

    struct zeta_driver *driver = object;
    driver->name = compute ? compute->id : "Zeta";
    if (compute && asprintf(&driver->requirements_key, "ZETA.%s", compute->id) < 0)
        return zeta_error_no_memory("the list of drivers and devices");
    driver->compute = compute;
    driver->index = set->count;
    (void)pthread_mutex_init(&driver->links_lock, NULL);
    *out_driver = driver;
    return append(&set->drivers, &set->count, driver);
}

void zeta_driver_wake(const struct zeta_driver *driver)
{
    for (uint32_t i = 0; i < driver->queue_backend_count; i++) {
        struct zeta_backend *backend = driver->queue_backends[i];

        backend->compute.wake(backend->self);
    }
}

static ze_result_t create_device(const struct zeta_backend_device *backend,
                                 struct zeta_device *parent, struct zeta_driver *driver,
                                 struct zeta_device **out_device)
{
    struct zeta_plugin_string name = backend->properties.name;
    void *object = NULL;
    ZETA_CLEANUP(zeta_freep)
    char *text = name.size > 0 ? strndup(name.data, (size_t)name.size) : strdup(backend->id);

    ZETA_CLEANUP(zeta_freep) struct zeta_device_fault *fault = calloc(1, sizeof(*fault));

    if (!text || !fault)
        return zeta_error_no_memory("the list of drivers and devices");
    (void)pthread_mutex_init(&fault->lock, NULL);
    ze_result_t result = zeta_object_create(ZETA_KIND_DEVICE, sizeof(struct zeta_device), &object);
    if (result != ZE_RESULT_SUCCESS)
        return result;

    struct zeta_device *device = object;
    device->driver = driver;
    device->name = ZETA_TAKE(text);
    device->last_fault = ZETA_TAKE(fault);
    device->backend = backend;
    device->parent = parent;
    device->tile = backend->tile;
    *out_device = device;
    if (parent)
        return append(&parent->tiles, &parent->tile_count, device);
    return append(&driver->devices, &driver->device_count, device);
}

ze_result_t zeta_drivers_create(struct zeta_driver_set *out_set)
{
    size_t count = 0;
    const struct zeta_backend_device *all = zeta_plugin_host_devices(&count);
    ZETA_CLEANUP(zeta_freep) struct zeta_device **made = calloc(count + 1, sizeof(*made));
    struct zeta_driver *driver = NULL;
    ze_result_t result;

    if (!made)
        return zeta_error_no_memory("the list of drivers and devices");
    *out_set = (struct zeta_driver_set){0};
    for (size_t i = 0; i < count; i++) {
        struct zeta_device *parent = all[i].parent < i ? made[all[i].parent] : NULL;

        result = ZE_RESULT_SUCCESS;
        if (parent)
            driver = parent->driver;
        else
            result = driver_for(out_set, all[i].providers[ZETA_GROUP_COMPUTE].backend, &driver);
        if (result == ZE_RESULT_SUCCESS && driver)
            result = create_device(&all[i], parent, driver, &made[i]);
        struct zeta_backend *queues = made[i] ? zeta_device_queue_provider(made[i])->backend : NULL;
        uint32_t q = 0;

        while (queues && q < driver->queue_backend_count && driver->queue_backends[q] != queues)
            q++;
        if (result == ZE_RESULT_SUCCESS && queues && q == driver->queue_backend_count)
            result = append(&driver->queue_backends, &driver->queue_backend_count, queues);
        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    zeta_visible_apply(out_set);
    if (out_set->count > 0)
        return ZE_RESULT_SUCCESS;
    return driver_for(out_set, NULL, &driver);
}

ZETA_GETTER(zeDriverGetApiVersion, ze_driver_handle_t, zeta_driver, ze_api_version_t,
            ZE_API_VERSION_1_17)

/* For loaders below 1.13 the dispatch pointers at the start of handles cannot be used: their table
 * sets had another layout. */
static bool have_ddi_handles(void)
{
    return zeta_ddi_has(zeta_api_lowest_version(), 1, 13);
}

ze_result_t ZE_APICALL impl_zeDriverGetProperties(ze_driver_handle_t hDriver,
                                                  ze_driver_properties_t *pDriverProperties)
{
    const struct zeta_driver *driver = (const struct zeta_driver *)hDriver;
    const uint64_t uuid[2] = {zeta_hash(ZETA_HASH_START ^ 1, driver->name, strlen(driver->name)),
                              zeta_hash(ZETA_HASH_START ^ 2, ZETA_VERSION, strlen(ZETA_VERSION))};

    memcpy(pDriverProperties->uuid.id, uuid, sizeof(pDriverProperties->uuid.id));
    /* "1.2.3" as 0x01020003: grows with every release and is never 0. */
    unsigned major = 0, minor = 0, patch = 0;
    (void)sscanf(ZETA_VERSION, "%u.%u.%u", &major, &minor, &patch);
    pDriverProperties->driverVersion = major << 24 | (minor & 0xff) << 16 | (patch & 0xffff);

    struct zeta_chain chain = zeta_chain_begin(pDriverProperties->pNext);
    uint32_t stype;
    void *node;
    while ((node = zeta_chain_next(&chain, &stype)) != NULL) {
        if (stype == ZE_STRUCTURE_TYPE_DRIVER_DDI_HANDLES_EXT_PROPERTIES &&
            zeta_chain_readable(node, sizeof(ze_driver_ddi_handles_ext_properties_t))) {
            ((ze_driver_ddi_handles_ext_properties_t *)node)->flags =
                have_ddi_handles() ? ZE_DRIVER_DDI_HANDLE_EXT_FLAG_DDI_HANDLE_EXT_SUPPORTED : 0;
        } else if (stype == ZE_STRUCTURE_TYPE_DRIVER_MEMORY_FREE_EXT_PROPERTIES &&
                   zeta_chain_readable(node, sizeof(ze_driver_memory_free_ext_properties_t))) {
            ((ze_driver_memory_free_ext_properties_t *)node)->freePolicies =
                ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE |
                ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE;
        }
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeDriverGetIpcProperties(ze_driver_handle_t hDriver,
                                                     ze_driver_ipc_properties_t *pIpcProperties)
{
    const struct zeta_driver *driver = (const struct zeta_driver *)hDriver;

    /* The core shares events; without queues there are none to share. */
    pIpcProperties->flags = driver->queue_backend_count > 0 ? ZE_IPC_PROPERTY_FLAG_EVENT_POOL : 0;
    if (driver->compute && driver->compute->has_sharing)
        pIpcProperties->flags |= ZE_IPC_PROPERTY_FLAG_MEMORY;
    return ZE_RESULT_SUCCESS;
}

ZETA_GETTER(zeDriverGetLastErrorDescription, ze_driver_handle_t, zeta_driver, const char *,
            zeta_error_describe())

/*
 * ---- The extensions that work. Clients gate on this list, so a line is added together with what
 * it promises, and never before. ----
 */

static const struct {
    const char *name;
    uint32_t version;
} extensions[] = {
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

static bool is_offered(const char *extension)
{
    return strcmp(extension, ZE_DRIVER_DDI_HANDLES_EXT_NAME) != 0 || have_ddi_handles();
}

ze_result_t ZE_APICALL
impl_zeDriverGetExtensionProperties(ze_driver_handle_t hDriver ZETA_UNUSED, uint32_t *pCount,
                                    ze_driver_extension_properties_t *pExtensionProperties)
{
    const size_t known = sizeof(extensions) / sizeof(extensions[0]);
    uint32_t available = 0;
    uint32_t written = 0;

    for (size_t i = 0; i < known; i++)
        available += is_offered(extensions[i].name);
    uint32_t n = zeta_count_clip(pCount, available, pExtensionProperties);
    for (size_t i = 0; i < known && written < n; i++) {
        ze_driver_extension_properties_t *out = &pExtensionProperties[written];

        if (!is_offered(extensions[i].name))
            continue;
        memset(out->name, 0, sizeof(out->name));
        memcpy(out->name, extensions[i].name, strlen(extensions[i].name));
        out->version = extensions[i].version;
        written++;
    }
    return ZE_RESULT_SUCCESS;
}
