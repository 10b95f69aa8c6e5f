/* The plugins that were found, usable or not, and zeta plugin. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta/command_line/commands.h"
#include "sdk/tools/zeta/command_line/options.h"
#include "sdk/tools/zeta/inventory/inventory.h"
#include "sdk/tools/zeta/output/file.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/text.h"

const char *zeta_plugin_state_name(uint32_t state)
{
    static const char *const names[] = {
        [ZETA_PLUGIN_STATE_FOUND] = "found",
        [ZETA_PLUGIN_STATE_SHADOWED] = "shadowed",
        [ZETA_PLUGIN_STATE_DISABLED] = "disabled",
        [ZETA_PLUGIN_STATE_NO_DEVICE] = "no device",
        [ZETA_PLUGIN_STATE_NOT_LOADABLE] = "not loadable",
        [ZETA_PLUGIN_STATE_REFUSED] = "refused",
        [ZETA_PLUGIN_STATE_FAILED] = "failed",
        [ZETA_PLUGIN_STATE_ACTIVE] = "active",
    };

    if (state >= sizeof(names) / sizeof(names[0]))
        return "unknown";
    return names[state];
}

const char *zeta_plugin_name(const struct zeta_plugin_info *plugin)
{
    return plugin->id[0] ? plugin->id : plugin->manifest;
}

int zeta_plugin_list_init(struct zeta_plugin_list *out_list)
{
    uint32_t count = 0;
    ze_result_t result = zetaPluginGet(&count, NULL);

    *out_list = (struct zeta_plugin_list){zeta_allocate(count, sizeof(*out_list->plugins)), 0};
    for (uint32_t i = 0; i < count; i++)
        out_list->plugins[i].struct_size = sizeof(out_list->plugins[i]);
    if (result == ZE_RESULT_SUCCESS && count > 0)
        result = zetaPluginGet(&count, out_list->plugins);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot list plugins");
    out_list->count = count;
    return ZETA_EXIT_OK;
}

void zeta_plugin_list_finish(struct zeta_plugin_list *list)
{
    free(list->plugins);
    *list = (struct zeta_plugin_list){0};
}

void zeta_plugin_list_print_absent(const struct zeta_plugin_list *list, const char *text,
                                   FILE *stream)
{
    const char *before = text;

    for (uint32_t i = 0; i < list->count; i++) {
        if (!zeta_plugin_is_absent(&list->plugins[i]))
            continue;
        (void)fprintf(stream, "%s%s", before, zeta_plugin_name(&list->plugins[i]));
        before = ", ";
    }
    if (before != text)
        (void)fputs("\n", stream);
}

bool zeta_plugin_is_absent(const struct zeta_plugin_info *plugin)
{
    return plugin->state == ZETA_PLUGIN_STATE_NO_DEVICE && !plugin->has_hardware;
}

bool zeta_plugin_is_in_trouble(const struct zeta_plugin_info *plugin)
{
    return plugin->state == ZETA_PLUGIN_STATE_NOT_LOADABLE ||
           plugin->state == ZETA_PLUGIN_STATE_REFUSED || plugin->state == ZETA_PLUGIN_STATE_FAILED;
}

void zeta_plugin_list_print_failures(void)
{
    struct zeta_plugin_list list;

    if (zeta_plugin_list_init(&list) == ZETA_EXIT_OK) {
        for (uint32_t i = 0; i < list.count; i++) {
            if (zeta_plugin_is_in_trouble(&list.plugins[i]))
                zeta_print_note(
                    "plugin %s does not work (%s): %s", zeta_plugin_name(&list.plugins[i]),
                    zeta_plugin_state_name(list.plugins[i].state), list.plugins[i].reason);
        }
    }
    zeta_plugin_list_finish(&list);
}

void zeta_plugin_list_suggest_software(void)
{
    struct zeta_plugin_list list;

    if (zeta_plugin_list_init(&list) == ZETA_EXIT_OK) {
        for (uint32_t i = 0; i < list.count; i++) {
            const struct zeta_plugin_info *plugin = &list.plugins[i];

            if (plugin->state == ZETA_PLUGIN_STATE_DISABLED &&
                strcmp(plugin->device_class, "software") == 0)
                zeta_print_note("set ZETA_PLUGINS_SELECT=%s to use a software device instead",
                                plugin->id);
        }
    }
    zeta_plugin_list_finish(&list);
}

/* Room for the sentence about a checked manifest. */
enum { REPORT_BYTES = 4096 };

static void put_plugin(struct json_object *object, const struct zeta_plugin_info *plugin)
{
    zeta_json_put_text(object, "id", plugin->id);
    zeta_json_put_text(object, "state", zeta_plugin_state_name(plugin->state));
    zeta_json_put_text(object, "reason", plugin->reason);
    zeta_json_put_text(object, "class", plugin->device_class);
    zeta_json_put_text(object, "provides", plugin->provides);
    zeta_json_put_text(object, "version", plugin->version);
    zeta_json_put_u64(object, "devices", plugin->device_count);
    zeta_json_put_text(object, "manifest", plugin->manifest);
    zeta_json_put_text(object, "library", plugin->library);
    zeta_json_put_bool(object, "has_hardware", plugin->has_hardware);
}

static int list_plugins(const struct zeta_plugin_list *list,
                        const struct zeta_list_options *options)
{
    enum { NAME, STATE, CLASS, DEVICES, COLUMN_COUNT };
    static const struct zeta_table_column columns[COLUMN_COUNT] = {
        [NAME] = {.title = ""},
        [STATE] = {.title = "", .gap = 2, .least = 13},
        [CLASS] = {.title = "", .gap = 1, .least = 9},
        [DEVICES] = {.title = "", .gap = 1},
    };
    struct zeta_table table = {.columns = columns, .column_count = COLUMN_COUNT};

    if (options->rest_count > 0)
        return zeta_print_usage_error("plugin list: takes no argument '%s'", options->rest[0]);
    if (options->json.is_given) {
        struct json_object *document = zeta_json_new_document("zeta.plugins/1");
        struct json_object *array = zeta_json_put_array(document, "plugins");

        for (uint32_t i = 0; i < list->count; i++)
            put_plugin(zeta_json_append_object(array), &list->plugins[i]);
        return zeta_output_put_json(options->json.path, document);
    }
    if (list->count == 0)
        (void)puts("Zeta found no plugin; 'zeta plugin path' shows where it searches.");
    for (uint32_t i = 0; i < list->count; i++) {
        const struct zeta_plugin_info *plugin = &list->plugins[i];

        zeta_table_set(&table, i, NAME, "%s", zeta_plugin_name(plugin));
        zeta_table_set(&table, i, STATE, "%s", zeta_plugin_state_name(plugin->state));
        zeta_table_set(&table, i, CLASS, "%s", plugin->device_class);
        zeta_table_set(&table, i, DEVICES, "%u device%s", plugin->device_count,
                       plugin->device_count == 1 ? "" : "s");
    }
    for (uint32_t i = 0; i < list->count; i++) {
        if (zeta_plugin_is_absent(&list->plugins[i]))
            continue;
        zeta_table_print_row(&table, i, stdout);
        if (list->plugins[i].reason[0])
            (void)printf("    %s\n", list->plugins[i].reason);
    }
    zeta_table_free(&table);
    zeta_plugin_list_print_absent(list, "no device of: ", stdout);
    return ZETA_EXIT_OK;
}

static int show_plugin(const struct zeta_plugin_list *list, const struct zeta_list_options *options)
{
    const struct zeta_plugin_info *plugin = NULL;

    if (options->rest_count != 1)
        return zeta_print_usage_error("plugin show: needs one id");
    for (uint32_t i = 0; i < list->count && !plugin; i++) {
        if (strcmp(list->plugins[i].id, options->rest[0]) == 0 ||
            strcmp(list->plugins[i].manifest, options->rest[0]) == 0)
            plugin = &list->plugins[i];
    }
    if (!plugin) {
        (void)zeta_print_failure("no plugin is called '%s'; there are:", options->rest[0]);
        for (uint32_t i = 0; i < list->count; i++)
            (void)fprintf(stderr, "  %s\n", zeta_plugin_name(&list->plugins[i]));
        return ZETA_EXIT_FAILED;
    }
    if (options->json.is_given) {
        struct json_object *document = zeta_json_new_document("zeta.plugin/1");

        put_plugin(document, plugin);
        return zeta_output_put_json(options->json.path, document);
    }
    (void)printf("id        %s\n", plugin->id);
    (void)printf("state     %s%s%s\n", zeta_plugin_state_name(plugin->state),
                 plugin->reason[0] ? ": " : "", plugin->reason);
    (void)printf("class     %s\n", plugin->device_class);
    (void)printf("provides  %s\n", plugin->provides);
    (void)printf("version   %s\n", plugin->version);
    (void)printf("devices   %u\n", plugin->device_count);
    (void)printf("manifest  %s\n", plugin->manifest);
    (void)printf("library   %s\n", plugin->library);
    return ZETA_EXIT_OK;
}

static int check_manifest(const struct zeta_list_options *options)
{
    char report[REPORT_BYTES] = "";
    uint32_t state = ZETA_PLUGIN_STATE_FOUND;
    bool is_in_order;
    int status = ZETA_EXIT_OK;
    ze_result_t result;

    if (options->rest_count != 1)
        return zeta_print_usage_error("plugin check: needs the path of one manifest");
    (void)signal(SIGCHLD, SIG_DFL); /* ignored it would take the exit status away */
    result = zetaPluginCheck(options->rest[0], &state, report, sizeof(report));
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot check %s", options->rest[0]);
    /* A plugin that works and finds nothing here is in order. */
    is_in_order = state == ZETA_PLUGIN_STATE_ACTIVE || state == ZETA_PLUGIN_STATE_NO_DEVICE;
    if (options->json.is_given) {
        struct json_object *document = zeta_json_new_document("zeta.plugin-check/1");

        zeta_json_put_text(document, "manifest", options->rest[0]);
        zeta_json_put_text(document, "state", zeta_plugin_state_name(state));
        zeta_json_put_bool(document, "ok", is_in_order);
        zeta_json_put_text(document, "report", report);
        status = zeta_output_put_json(options->json.path, document);
    } else {
        (void)printf("%s: %s\n%s\n", options->rest[0], zeta_plugin_state_name(state), report);
    }
    return status == ZETA_EXIT_OK && !is_in_order ? ZETA_EXIT_FAILED : status;
}

static int show_paths(const struct zeta_list_options *options)
{
    struct zeta_search_path *paths;
    uint32_t count = 0;
    int status = ZETA_EXIT_OK;
    ze_result_t result;

    if (options->rest_count > 0)
        return zeta_print_usage_error("plugin path: takes no argument '%s'", options->rest[0]);
    result = zetaSearchPathGet(&count, NULL);
    paths = zeta_allocate(count, sizeof(*paths));
    for (uint32_t i = 0; i < count; i++)
        paths[i].struct_size = sizeof(paths[i]);
    if (result == ZE_RESULT_SUCCESS)
        result = zetaSearchPathGet(&count, paths);
    if (result != ZE_RESULT_SUCCESS) {
        free(paths);
        return zeta_print_refusal(result, "cannot list the search directories");
    }
    if (options->json.is_given) {
        struct json_object *document = zeta_json_new_document("zeta.plugin-path/1");
        struct json_object *array = zeta_json_put_array(document, "paths");

        for (uint32_t i = 0; i < count; i++) {
            struct json_object *object = zeta_json_append_object(array);

            zeta_json_put_text(object, "path", paths[i].path);
            zeta_json_put_text(object, "origin", paths[i].origin);
            zeta_json_put_bool(object, "exists", paths[i].exists);
            zeta_json_put_bool(object, "used", paths[i].used);
            zeta_json_put_text(object, "note", paths[i].note);
        }
        status = zeta_output_put_json(options->json.path, document);
    }
    for (uint32_t i = 0; i < count && !options->json.is_given; i++) {
        const char *used = paths[i].used ? "searched" : "skipped";

        (void)printf("%-9s %s\n          (%s%s%s)\n", paths[i].exists ? used : "absent",
                     paths[i].path, paths[i].origin, paths[i].note[0] ? "; " : "", paths[i].note);
    }
    free(paths);
    return status;
}

int zeta_command_plugin(int count, char **arguments)
{
    struct zeta_list_options options;
    struct zeta_device_list devices = {0};
    struct zeta_plugin_list plugins = {0};
    const char *word = count > 1 ? arguments[1] : "";
    int status;

    if (strcmp(word, "list") != 0 && strcmp(word, "show") != 0 && strcmp(word, "check") != 0 &&
        strcmp(word, "path") != 0)
        return zeta_print_usage_error(
            "plugin: needs one of list, show ID, check MANIFEST, path%s%s", word[0] ? ", not " : "",
            word);
    status = zeta_list_options_read(&options, false, count - 1, arguments + 1);
    if (status != ZETA_EXIT_OK)
        return status;
    if (strcmp(word, "check") == 0)
        return check_manifest(&options);
    if (strcmp(word, "path") == 0)
        return show_paths(&options);
    status = zeta_device_list_init(&devices);
    if (status == ZETA_EXIT_OK)
        status = zeta_plugin_list_init(&plugins);
    if (status == ZETA_EXIT_OK)
        status = strcmp(word, "list") == 0 ? list_plugins(&plugins, &options)
                                           : show_plugin(&plugins, &options);
    zeta_plugin_list_finish(&plugins);
    zeta_device_list_finish(&devices);
    return status;
}
