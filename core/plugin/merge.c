/*
 * Devices that several plugins see become one, with a provider for each group of the API.
 *
 * Compute, queries and instrumentation of a device come from one plugin, because they meet in one
 * command list: the first that computes, or without compute the first that has any of them. Every
 * other group goes to the first plugin in order that has it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/plugin/entry.h"

#define TOGETHER                                                                                   \
    (1u << ZETA_GROUP_COMPUTE | 1u << ZETA_GROUP_METRIC_QUERY | 1u << ZETA_GROUP_INSTRUMENT)

static struct zeta_backend_device *find(struct zeta_backend_device *devices, size_t count,
                                        struct zeta_plugin_string id)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(devices[i].id) == id.size &&
            memcmp(devices[i].id, id.data, (size_t)id.size) == 0)
            return &devices[i];
    }
    return NULL;
}

/* The entry's own index of a merged device, or its device count. */
static uint32_t index_in(const struct zeta_plugin_host *entry, const char *id)
{
    uint32_t i = 0;

    for (; i < entry->device_count; i++) {
        const struct zeta_plugin_string *own = &entry->properties[i].id;

        if (own->size == strlen(id) && memcmp(own->data, id, (size_t)own->size) == 0)
            break;
    }
    return i;
}

/* Whether an active entry sees the device and provides one of the groups. */
static bool serves(const struct zeta_plugin_host *entry, const char *id, uint32_t groups)
{
    return entry->active && (entry->manifest.provides & groups) != 0 &&
           index_in(entry, id) < entry->device_count;
}

/* The first in order that does. */
static struct zeta_plugin_host *first_with(const struct zeta_list *entries, const char *id,
                                           uint32_t groups)
{
    for (size_t i = 0; i < entries->count; i++) {
        if (serves(entries->items[i], id, groups))
            return entries->items[i];
    }
    return NULL;
}

/* The first that can attach, else the first that says why it cannot. */
static struct zeta_plugin_host *debugger_of(const struct zeta_list *entries, const char *id)
{
    for (size_t i = 0; i < entries->count; i++) {
        struct zeta_plugin_host *entry = entries->items[i];

        if (serves(entry, id, 1u << ZETA_GROUP_DEBUG) &&
            entry->backend.debug.attach != zeta_stub_debug_ops.attach)
            return entry;
    }
    return first_with(entries, id, 1u << ZETA_GROUP_DEBUG);
}

static struct zeta_provider provider_of(struct zeta_plugin_host *entry, const char *id)
{
    return (struct zeta_provider){.backend = &entry->backend,
                                  .device = entry->devices[index_in(entry, id)]};
}

static void choose_providers(struct zeta_backend_device *devices, size_t count,
                             const struct zeta_list *entries, struct zeta_backend_device *device)
{
    struct zeta_plugin_host *together = first_with(entries, device->id, 1u << ZETA_GROUP_COMPUTE);
    struct zeta_plugin_host *identity;
    const struct zeta_plugin_device_properties *properties;

    if (!together)
        together = first_with(entries, device->id, TOGETHER);
    for (size_t group = 0; group < ZETA_GROUP_COUNT; group++) {
        uint32_t bit = 1u << group;
        struct zeta_plugin_host *entry;

        if (group == ZETA_GROUP_DEBUG)
            entry = debugger_of(entries, device->id);
        else if ((bit & TOGETHER) == 0)
            entry = first_with(entries, device->id, bit);
        else
            entry = together && (together->manifest.provides & bit) ? together : NULL;
        if (entry)
            device->providers[group] = provider_of(entry, device->id);
    }
    /* Queues, their clock and their groups are of one plugin. */
    identity = first_with(entries, device->id, 1u << ZETA_GROUP_COMPUTE);
    if (!identity && device->providers[ZETA_GROUP_METRIC_QUERY].backend)
        identity = together;
    if (!identity)
        identity = first_with(entries, device->id, UINT32_MAX);
    if (!identity)
        return;
    properties = &identity->properties[index_in(identity, device->id)];
    device->identity = provider_of(identity, device->id);
    device->properties = *properties;
    device->tile = properties->tile;
    device->parent = SIZE_MAX;
    if (properties->parent != UINT32_MAX) {
        const struct zeta_backend_device *root =
            find(devices, count, identity->properties[properties->parent].id);

        device->parent = root ? (size_t)(root - devices) : SIZE_MAX;
    }
}

ze_result_t zeta_merge_devices(const struct zeta_list *entries,
                               struct zeta_backend_device **out_devices, size_t *out_count)
{
    struct zeta_backend_device *devices;
    size_t capacity = 1;
    size_t count = 0;

    for (size_t i = 0; i < entries->count; i++)
        capacity += ((const struct zeta_plugin_host *)entries->items[i])->device_count;
    devices = calloc(capacity, sizeof(*devices));
    if (!devices)
        return zeta_error_no_memory("the devices");
    for (size_t i = 0; i < entries->count; i++) {
        const struct zeta_plugin_host *entry = entries->items[i];

        /* A plugin that provides nothing gives no devices either. */
        if (!entry->active || !entry->manifest.provides)
            continue;
        for (uint32_t d = 0; d < entry->device_count; d++) {
            const struct zeta_plugin_string *id = &entry->properties[d].id;

            if (find(devices, count, *id))
                continue;
            devices[count].id = strndup(id->data, (size_t)id->size);
            if (!devices[count].id)
                goto no_memory;
            count++;
        }
    }
    for (size_t i = 0; i < count; i++)
        choose_providers(devices, count, entries, &devices[i]);
    *out_devices = devices;
    *out_count = count;
    return ZE_RESULT_SUCCESS;

no_memory:
    while (count > 0)
        free((void *)(uintptr_t)devices[--count].id);
    free(devices);
    return zeta_error_no_memory("the devices");
}
