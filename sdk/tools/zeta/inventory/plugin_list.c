#include "sdk/tools/zeta/inventory/plugin_list.h"

#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta/output/message.h"

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
    ze_result_t result = ZE_RESULT_SUCCESS;

    *out_list = (struct zeta_plugin_list){0};
    result = zetaPluginGet(&count, NULL);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot list plugins");
    if (count == 0)
        return ZETA_EXIT_OK;
    out_list->plugins = calloc(count, sizeof(*out_list->plugins));
    if (!out_list->plugins)
        return zeta_print_failure("no memory for a list of %u plugins", count);
    for (uint32_t i = 0; i < count; i++)
        out_list->plugins[i].struct_size = sizeof(out_list->plugins[i]);
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
        if (list->plugins[i].state != ZETA_PLUGIN_STATE_NO_DEVICE)
            continue;
        (void)fprintf(stream, "%s%s", before, zeta_plugin_name(&list->plugins[i]));
        before = ", ";
    }
    if (before != text)
        (void)fputs("\n", stream);
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
                    "plugin %s does not work here (%s): %s", zeta_plugin_name(&list.plugins[i]),
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
                zeta_print_note("to use the software device of %s instead: ZETA_PLUGINS_SELECT=%s",
                                plugin->id, plugin->id);
        }
    }
    zeta_plugin_list_finish(&list);
}
