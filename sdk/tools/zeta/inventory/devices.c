/* The devices of this machine, and zeta devices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/c_locale.h>

#include "sdk/tools/zeta/command_line/commands.h"
#include "sdk/tools/zeta/command_line/options.h"
#include "sdk/tools/zeta/inventory/inventory.h"
#include "sdk/tools/zeta/output/file.h"
#include "sdk/tools/zeta/output/message.h"

static int load_entry(ze_driver_handle_t driver, ze_device_handle_t device, uint32_t index,
                      struct zeta_device_entry *entry)
{
    zet_device_debug_properties_t debug = {.stype = ZET_STRUCTURE_TYPE_DEVICE_DEBUG_PROPERTIES};
    ze_result_t result;

    *entry = (struct zeta_device_entry){
        .index = index,
        .driver = driver,
        .device = device,
        .properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2,
        .info.struct_size = sizeof(entry->info),
    };
    result = zeDeviceGetProperties(device, &entry->properties);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot read the properties of device %u", index);
    result = zetaDeviceGetInfo(device, &entry->info);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot read what drives %s", entry->properties.name);
    result = zetDeviceGetDebugProperties(device, &debug);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot read how %s is debugged", entry->properties.name);
    /* A plugin that only says why a device cannot be debugged does not provide it. */
    if ((debug.flags & ZET_DEVICE_DEBUG_PROPERTY_FLAG_ATTACH) == 0)
        entry->info.debug = "";
    result = zeDeviceGetSubDevices(device, &entry->tile_count, NULL);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot count the tiles of %s", entry->properties.name);
    return ZETA_EXIT_OK;
}

static int append_devices(struct zeta_device_list *list, ze_driver_handle_t driver)
{
    uint32_t count = 0;
    int status = ZETA_EXIT_OK;
    ze_result_t result = zeDeviceGet(driver, &count, NULL);
    ze_device_handle_t *devices = zeta_allocate(count, sizeof(ze_device_handle_t));

    if (result == ZE_RESULT_SUCCESS && count > 0)
        result = zeDeviceGet(driver, &count, devices);
    if (result != ZE_RESULT_SUCCESS) {
        free(devices);
        return zeta_print_refusal(result, "cannot list devices");
    }
    list->entries = zeta_reallocate(list->entries, list->count + count, sizeof(*list->entries));
    for (uint32_t i = 0; i < count && status == ZETA_EXIT_OK; i++) {
        status = load_entry(driver, devices[i], list->count, &list->entries[list->count]);
        list->count++;
    }
    free(devices);
    return status;
}

int zeta_device_list_init(struct zeta_device_list *out_list)
{
    ze_init_driver_type_desc_t types = {.stype = ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC,
                                        .flags = UINT32_MAX};
    ze_driver_handle_t *drivers;
    uint32_t count = 0;
    int status = ZETA_EXIT_OK;
    ze_result_t result;

    *out_list = (struct zeta_device_list){0};
    /* The commands print what became of plugins where it matters. Too late after the first list. */
    (void)zetaSettingDefault("log.plugins", "info");
    (void)zetaSettingDefault("metric.tracer_groups", "true");
    result = zeInitDrivers(&count, NULL, &types);
    drivers = zeta_allocate(count, sizeof(ze_driver_handle_t));
    if (result == ZE_RESULT_SUCCESS && count > 0)
        result = zeInitDrivers(&count, drivers, &types);
    if (result != ZE_RESULT_SUCCESS)
        status = zeta_print_refusal(result, "cannot start");
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

int zeta_device_list_explain_none(void)
{
    const char *mask = getenv("ZE_AFFINITY_MASK");
    struct zeta_plugin_list plugins;

    if (zeta_plugin_list_init(&plugins) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    (void)zeta_print_failure(plugins.count > 0
                                 ? "Zeta found no device; the state of each plugin:"
                                 : "Zeta found no device, because it found no plugin; 'zeta plugin "
                                   "path' shows where it searches");
    for (uint32_t i = 0; i < plugins.count; i++) {
        const struct zeta_plugin_info *plugin = &plugins.plugins[i];

        if (zeta_plugin_is_absent(plugin))
            continue;
        (void)fprintf(stderr, "  %s: %s: ", zeta_plugin_name(plugin),
                      zeta_plugin_state_name(plugin->state));
        if (plugin->state == ZETA_PLUGIN_STATE_ACTIVE && mask && mask[0])
            (void)fprintf(stderr, "ZE_AFFINITY_MASK=%s hides its devices.\n", mask);
        else
            (void)fprintf(stderr, "%s\n", plugin->reason);
    }
    zeta_plugin_list_print_absent(&plugins, "  no device of: ", stderr);
    zeta_plugin_list_finish(&plugins);
    return ZETA_EXIT_FAILED;
}

/* index: of a device, or of a tile such as "0.1" */
static bool matches(const struct zeta_device_entry *entry, const char *index, const char *text)
{
    return strcmp(text, index) == 0 || strcmp(text, entry->info.id) == 0 ||
           strcmp(text, entry->properties.name) == 0;
}

/* Looks for a tile among those of a device. */
static int find_tile(const struct zeta_device_entry *root, const char *text,
                     struct zeta_device_entry *tile, bool *out_found)
{
    uint32_t count = root->tile_count;
    ze_device_handle_t *handles = zeta_allocate(count, sizeof(ze_device_handle_t));
    int status = ZETA_EXIT_OK;
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (count > 0)
        result = zeDeviceGetSubDevices(root->device, &count, handles);
    if (result != ZE_RESULT_SUCCESS)
        status = zeta_print_refusal(result, "cannot list the tiles of %s", root->properties.name);
    for (uint32_t i = 0; i < count && status == ZETA_EXIT_OK && !*out_found; i++) {
        char index[32];

        (void)snprintf(index, sizeof(index), "%u.%u", root->index, i);
        status = load_entry(root->driver, handles[i], root->index, tile);
        *out_found = status == ZETA_EXIT_OK && matches(tile, index, text);
    }
    free(handles);
    return status;
}

int zeta_device_list_find(struct zeta_device_list *list, const char *text,
                          const struct zeta_device_entry **out_entry)
{
    bool found = false;

    *out_entry = NULL;
    if (list->count == 0)
        return zeta_device_list_explain_none();
    for (uint32_t i = 0; i < list->count; i++) {
        char index[16];

        (void)snprintf(index, sizeof(index), "%u", list->entries[i].index);
        if (!text || matches(&list->entries[i], index, text)) {
            *out_entry = &list->entries[i];
            return ZETA_EXIT_OK;
        }
    }
    for (uint32_t i = 0; i < list->count && !found; i++) {
        if (find_tile(&list->entries[i], text, &list->tile, &found) != ZETA_EXIT_OK)
            return ZETA_EXIT_FAILED;
    }
    if (found) {
        *out_entry = &list->tile;
        return ZETA_EXIT_OK;
    }
    (void)zeta_print_failure("no device is called '%s'; -d takes a number, an id or a name:", text);
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

/* The parts of the API and the plugin that provides each; "" where there is none. */
struct provider {
    const char *part;
    const char *plugin;
};

enum { PROVIDER_COUNT = 5, YEAR_SECONDS = 31536000 };

static void get_providers(const struct zeta_device_info *info, struct provider *out_providers)
{
    const struct provider providers[PROVIDER_COUNT] = {
        {"compute", info->compute}, {"stream", info->stream}, {"query", info->query},
        {"tracer", info->tracer},   {"debug", info->debug},
    };

    memcpy(out_providers, providers, sizeof(providers));
}

static void print_device(const struct zeta_device_entry *entry)
{
    const ze_device_properties_t *properties = &entry->properties;
    struct provider providers[PROVIDER_COUNT];
    const char *separator = "";
    double wrap_seconds = 0.0; /* of a clock with so many bits; 0: never in practice */

    get_providers(&entry->info, providers);
    (void)printf("%u  %s (%s)\n", entry->index, properties->name, entry->info.device_class);
    (void)printf("   id        %s\n", entry->info.id);
    (void)printf("   plugins   ");
    for (size_t i = 0; i < PROVIDER_COUNT; i++) {
        if (!providers[i].plugin[0])
            continue;
        (void)printf("%s%s: %s", separator, providers[i].part, providers[i].plugin);
        separator = ", ";
    }
    /* Tiles with the numbers that -d takes. */
    if (entry->tile_count > 1)
        (void)printf("\n   topology  %u tiles (%u.0 to %u.%u)", entry->tile_count, entry->index,
                     entry->index, entry->tile_count - 1);
    else
        (void)printf("\n   topology  1 tile");
    (void)printf(", %u slice%s x %u subslice%s x %u EUs", properties->numSlices,
                 properties->numSlices == 1 ? "" : "s", properties->numSubslicesPerSlice,
                 properties->numSubslicesPerSlice == 1 ? "" : "s", properties->numEUsPerSubslice);
    if (properties->numThreadsPerEU > 0)
        (void)printf(" x %u threads", properties->numThreadsPerEU);
    if (properties->coreClockRate > 0)
        (void)printf("\n   clock     core %u MHz", properties->coreClockRate);
    else
        (void)printf("\n   clock     core unknown");
    (void)zeta_c_fprintf(stdout, ", timer %.6g MHz with %u bits",
                         (double)properties->timerResolution / 1e6, properties->timestampValidBits);
    if (properties->timestampValidBits < 64 && properties->timerResolution > 0)
        wrap_seconds = (double)(UINT64_C(1) << properties->timestampValidBits) /
                       (double)properties->timerResolution;
    if (wrap_seconds > 0.0 && wrap_seconds < YEAR_SECONDS)
        (void)zeta_c_fprintf(stdout, ", wraps after %.1f s", wrap_seconds);
    (void)putchar('\n');
}

static void put_device(struct json_object *array, const struct zeta_device_entry *entry)
{
    const ze_device_properties_t *properties = &entry->properties;
    struct json_object *object = zeta_json_append_object(array);
    struct json_object *plugins, *topology, *clock;
    struct provider providers[PROVIDER_COUNT];

    zeta_json_put_u64(object, "index", entry->index);
    zeta_json_put_text(object, "name", properties->name);
    zeta_json_put_text(object, "id", entry->info.id);
    zeta_json_put_text(object, "class", entry->info.device_class);
    plugins = zeta_json_put_object(object, "plugins");
    get_providers(&entry->info, providers);
    for (size_t i = 0; i < PROVIDER_COUNT; i++)
        zeta_json_put_text(plugins, providers[i].part, providers[i].plugin);
    topology = zeta_json_put_object(object, "topology");
    zeta_json_put_u64(topology, "tiles", entry->tile_count ? entry->tile_count : 1);
    zeta_json_put_u64(topology, "slices", properties->numSlices);
    zeta_json_put_u64(topology, "subslices_per_slice", properties->numSubslicesPerSlice);
    zeta_json_put_u64(topology, "eus_per_subslice", properties->numEUsPerSubslice);
    zeta_json_put_u64(topology, "threads_per_eu", properties->numThreadsPerEU);
    clock = zeta_json_put_object(object, "clock");
    zeta_json_put_u64(clock, "core_mhz", properties->coreClockRate);
    zeta_json_put_u64(clock, "timer_hz", properties->timerResolution);
    zeta_json_put_u64(clock, "timestamp_bits", properties->timestampValidBits);
}

int zeta_command_devices(int count, char **arguments)
{
    struct zeta_list_options options;
    struct zeta_device_list list = {0};
    int status = zeta_list_options_read(&options, false, count, arguments);

    if (status == ZETA_EXIT_OK && options.rest_count > 0)
        status = zeta_print_usage_error("devices: takes no argument '%s'", options.rest[0]);
    if (status == ZETA_EXIT_OK)
        status = zeta_device_list_init(&list);
    if (status == ZETA_EXIT_OK && options.json.is_given) {
        struct json_object *document = zeta_json_new_document("zeta.devices/1");
        struct json_object *array = zeta_json_put_array(document, "devices");

        for (uint32_t i = 0; i < list.count; i++)
            put_device(array, &list.entries[i]);
        status = zeta_output_put_json(options.json.path, document);
    } else if (status == ZETA_EXIT_OK && list.count == 0) {
        status = zeta_device_list_explain_none();
    } else if (status == ZETA_EXIT_OK) {
        for (uint32_t i = 0; i < list.count; i++)
            print_device(&list.entries[i]);
        zeta_plugin_list_print_failures();
    }
    zeta_device_list_finish(&list);
    return status;
}
