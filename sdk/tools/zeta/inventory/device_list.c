#include "sdk/tools/zeta/inventory/device_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta/inventory/plugin_list.h"
#include "sdk/tools/zeta/output/message.h"

static int load_entry(ze_driver_handle_t driver, ze_device_handle_t device,
                      struct zeta_device_entry *entry)
{
    ze_result_t result = ZE_RESULT_SUCCESS;

    entry->driver = driver;
    entry->device = device;
    entry->properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
    entry->info.struct_size = sizeof(entry->info);
    result = zeDeviceGetProperties(device, &entry->properties);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot read the properties of device %u", entry->index);
    result = zetaDeviceGetInfo(device, &entry->info);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot read what drives %s", entry->properties.name);
    result = zeDeviceGetSubDevices(device, &entry->tile_count, NULL);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot count the tiles of %s", entry->properties.name);
    return ZETA_EXIT_OK;
}

static int append_devices(struct zeta_device_list *list, ze_driver_handle_t driver)
{
    struct zeta_device_entry *entries = NULL;
    ze_device_handle_t *devices = NULL;
    uint32_t count = 0;
    int status = ZETA_EXIT_OK;
    ze_result_t result = zeDeviceGet(driver, &count, NULL);

    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot list devices");
    if (count == 0)
        return ZETA_EXIT_OK;
    devices = calloc(count, sizeof(ze_device_handle_t));
    entries = realloc(list->entries, (list->count + count) * sizeof(*entries));
    if (entries)
        list->entries = entries;
    if (!devices || !entries) {
        free(devices);
        return zeta_print_failure("no memory for a list of %u devices", count);
    }

    result = zeDeviceGet(driver, &count, devices);
    if (result != ZE_RESULT_SUCCESS)
        status = zeta_print_refusal(result, "cannot list devices");
    for (uint32_t i = 0; i < count && status == ZETA_EXIT_OK; i++) {
        struct zeta_device_entry *entry = &list->entries[list->count];

        memset(entry, 0, sizeof(*entry));
        entry->index = list->count;
        status = load_entry(driver, devices[i], entry);
        list->count++;
    }
    free(devices);
    return status;
}

int zeta_device_list_init(struct zeta_device_list *out_list)
{
    ze_init_driver_type_desc_t types = {.stype = ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC,
                                        .flags = UINT32_MAX};
    ze_driver_handle_t *drivers = NULL;
    uint32_t count = 0;
    int status = ZETA_EXIT_OK;
    ze_result_t result;

    *out_list = (struct zeta_device_list){0};
    /* The commands print what became of plugins where it matters. Too late after the first list. */
    (void)zetaSettingDefault("log.plugins", "info");
    (void)zetaSettingDefault("metric.tracer_groups", "true");
    result = zeInitDrivers(&count, NULL, &types);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot start");
    if (count == 0)
        return ZETA_EXIT_OK;
    drivers = calloc(count, sizeof(ze_driver_handle_t));
    if (!drivers)
        return zeta_print_failure("no memory for a list of %u drivers", count);
    result = zeInitDrivers(&count, drivers, &types);
    if (result != ZE_RESULT_SUCCESS)
        status = zeta_print_refusal(result, "cannot list drivers");
    for (uint32_t i = 0; i < count && status == ZETA_EXIT_OK; i++)
        status = append_devices(out_list, drivers[i]);
    free(drivers);
    return status;
}

void zeta_device_list_finish(struct zeta_device_list *list)
{
    free(list->entries);
    *list = (struct zeta_device_list){0};
}

static void explain(const struct zeta_plugin_info *plugin)
{
    const char *mask = getenv("ZE_AFFINITY_MASK");
    const bool is_hidden = plugin->state == ZETA_PLUGIN_STATE_ACTIVE && mask && mask[0];

    (void)fprintf(stderr, "  %s: %s: ", zeta_plugin_name(plugin),
                  zeta_plugin_state_name(plugin->state));
    if (is_hidden)
        (void)fprintf(stderr, "Its devices are hidden by ZE_AFFINITY_MASK=%s.\n", mask);
    else
        (void)fprintf(stderr, "%s\n", plugin->reason);
}

int zeta_device_list_explain_none(void)
{
    struct zeta_plugin_list plugins;
    int status = zeta_plugin_list_init(&plugins);

    if (status == ZETA_EXIT_OK && plugins.count == 0) {
        status = zeta_print_failure("there is no device, because no plugin was found; "
                                    "'zeta plugin path' shows where manifests are searched");
    } else if (status == ZETA_EXIT_OK) {
        status = zeta_print_failure("there is no device; what became of each plugin:");
        for (uint32_t i = 0; i < plugins.count; i++) {
            if (plugins.plugins[i].state != ZETA_PLUGIN_STATE_NO_DEVICE)
                explain(&plugins.plugins[i]);
        }
        zeta_plugin_list_print_absent(&plugins, "  no device of: ", stderr);
    }
    zeta_plugin_list_finish(&plugins);
    return status;
}

static bool matches(const struct zeta_device_entry *entry, const char *text)
{
    char index[16];

    (void)snprintf(index, sizeof(index), "%u", entry->index);
    return strcmp(text, index) == 0 || strcmp(text, entry->info.id) == 0 ||
           strcmp(text, entry->properties.name) == 0;
}

static bool tile_matches(const struct zeta_device_entry *tile, uint32_t number, const char *text)
{
    char index[32];

    (void)snprintf(index, sizeof(index), "%u.%u", tile->index, number);
    return strcmp(text, index) == 0 || strcmp(text, tile->info.id) == 0 ||
           strcmp(text, tile->properties.name) == 0;
}

/* Looks for a tile among those of a device. */
static int find_tile(const struct zeta_device_entry *root, const char *text,
                     struct zeta_device_entry *tile, bool *out_found)
{
    uint32_t count = root->tile_count;
    ze_device_handle_t *handles = calloc(count, sizeof(ze_device_handle_t));
    int status = ZETA_EXIT_OK;
    ze_result_t result;

    if (!handles)
        return zeta_print_failure("no memory for a list of %u tiles", count);
    result = zeDeviceGetSubDevices(root->device, &count, handles);
    if (result != ZE_RESULT_SUCCESS)
        status = zeta_print_refusal(result, "cannot list the tiles of %s", root->properties.name);
    for (uint32_t i = 0; i < count && status == ZETA_EXIT_OK && !*out_found; i++) {
        *tile = (struct zeta_device_entry){.index = root->index};
        status = load_entry(root->driver, handles[i], tile);
        *out_found = status == ZETA_EXIT_OK && tile_matches(tile, i, text);
    }
    free(handles);
    return status;
}

static int refuse_device(const struct zeta_device_list *list, const char *text)
{
    (void)zeta_print_failure("there is no device '%s'; -d takes a number, an id or a name:", text);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct zeta_device_entry *entry = &list->entries[i];

        (void)fprintf(stderr, "  %u  %s  %s (%s)", entry->index, entry->info.id,
                      entry->properties.name, entry->info.device_class);
        if (entry->tile_count > 1)
            (void)fprintf(stderr, ", tiles %u.0 to %u.%u", entry->index, entry->index,
                          entry->tile_count - 1);
        (void)fputc('\n', stderr);
    }
    return ZETA_EXIT_FAILED;
}

int zeta_device_list_find(struct zeta_device_list *list, const char *text,
                          const struct zeta_device_entry **out_entry)
{
    bool found = false;
    int status = ZETA_EXIT_OK;

    *out_entry = NULL;
    if (list->count == 0)
        return zeta_device_list_explain_none();
    for (uint32_t i = 0; i < list->count; i++) {
        if (!text || matches(&list->entries[i], text)) {
            *out_entry = &list->entries[i];
            return ZETA_EXIT_OK;
        }
    }
    for (uint32_t i = 0; i < list->count && status == ZETA_EXIT_OK && !found; i++) {
        if (list->entries[i].tile_count > 0)
            status = find_tile(&list->entries[i], text, &list->tile, &found);
    }
    if (found)
        *out_entry = &list->tile;
    else if (status == ZETA_EXIT_OK)
        status = refuse_device(list, text);
    return status;
}

int zeta_device_list_find_compute(const char *text, bool *out_is_ours)
{
    struct zeta_device_list devices = {0};
    const struct zeta_device_entry *device = NULL;
    int status = zeta_device_list_init(&devices);

    *out_is_ours = false;
    if (status == ZETA_EXIT_OK && (devices.count > 0 || text))
        status = zeta_device_list_find(&devices, text, &device);
    if (device)
        *out_is_ours = device->info.compute[0] != 0;
    zeta_device_list_finish(&devices);
    return status;
}

int zeta_device_list_need_none(void)
{
    const ze_result_t result = zeInit(0);

    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot initialise the library");
    return ZETA_EXIT_OK;
}
