#include "sdk/tools/zeta/command_line/commands.h"

#include <stdio.h>
#include <string.h>

#include <zeta/c_locale.h>

#include "sdk/tools/zeta/command_line/options.h"
#include "sdk/tools/zeta/inventory/device_list.h"
#include "sdk/tools/zeta/inventory/plugin_list.h"
#include "sdk/tools/zeta/output/file.h"
#include "sdk/tools/zeta/output/json.h"
#include "sdk/tools/zeta/output/message.h"

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

/* Seconds until a clock of that many bits starts again; 0: never in practice. */
static double wrap_seconds(const ze_device_properties_t *properties)
{
    if (properties->timestampValidBits >= 64 || properties->timerResolution == 0)
        return 0.0;
    return (double)(UINT64_C(1) << properties->timestampValidBits) /
           (double)properties->timerResolution;
}

/* Tiles with the numbers that -d takes. */
static void print_topology(const struct zeta_device_entry *entry)
{
    const ze_device_properties_t *properties = &entry->properties;

    if (entry->tile_count > 1)
        (void)printf("%u tiles (%u.0 to %u.%u)", entry->tile_count, entry->index, entry->index,
                     entry->tile_count - 1);
    else
        (void)printf("1 tile");
    (void)printf(", %u slice%s x %u subslice%s x %u EUs", properties->numSlices,
                 properties->numSlices == 1 ? "" : "s", properties->numSubslicesPerSlice,
                 properties->numSubslicesPerSlice == 1 ? "" : "s", properties->numEUsPerSubslice);
    if (properties->numThreadsPerEU > 0)
        (void)printf(" x %u threads", properties->numThreadsPerEU);
    (void)putchar('\n');
}

static void print_device(const struct zeta_device_entry *entry)
{
    const ze_device_properties_t *properties = &entry->properties;
    const double wrap = wrap_seconds(properties);
    struct provider providers[PROVIDER_COUNT];
    const char *separator = "";

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
    (void)printf("\n   topology  ");
    print_topology(entry);
    (void)printf("   clock     core ");
    if (properties->coreClockRate > 0)
        (void)printf("%u MHz", properties->coreClockRate);
    else
        (void)printf("unknown");
    (void)zeta_c_fprintf(stdout, ", timer %.6g MHz with %u bits",
                         (double)properties->timerResolution / 1e6, properties->timestampValidBits);
    if (wrap > 0.0 && wrap < YEAR_SECONDS)
        (void)zeta_c_fprintf(stdout, ", wraps after %.1f s", wrap);
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

static int put_devices(const struct zeta_device_list *list, const char *path)
{
    struct json_object *document = json_object_new_object();
    struct json_object *array = NULL;

    if (document) {
        zeta_json_put_text(document, "schema", "zeta.devices/1");
        array = zeta_json_put_array(document, "devices");
        for (uint32_t i = 0; i < list->count; i++)
            put_device(array, &list->entries[i]);
    }
    return zeta_output_put_json(path, document);
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
    if (status == ZETA_EXIT_OK && options.json.is_given)
        status = put_devices(&list, options.json.path);
    else if (status == ZETA_EXIT_OK && list.count == 0)
        status = zeta_device_list_explain_none();
    else if (status == ZETA_EXIT_OK) {
        for (uint32_t i = 0; i < list.count; i++)
            print_device(&list.entries[i]);
        zeta_plugin_list_print_failures();
    }
    zeta_device_list_finish(&list);
    return status;
}
