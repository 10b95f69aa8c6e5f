/*
 * The settings that Zeta itself has. Documented for users in config/zeta.yaml.
 */
#include "core/settings/store.h"

#include <string.h>

const struct zeta_known_setting zeta_known_settings[] = {
    {.name = "log.level",
     .variable = "ZETA_LOG",
     .fallback = "warn",
     .joint = ',',
     .harmless = true},
    {.name = "log.file", .variable = "ZETA_LOG_FILE", .fallback = ""},
    {.name = "log.plugins", .variable = "ZETA_LOG_PLUGINS", .fallback = "warn", .harmless = true},
    {.name = "search.path", .variable = "ZETA_PLUGIN_PATH", .fallback = "", .joint = ':'},
    {.name = "search.add", .variable = "ZETA_ADD_PLUGIN_PATH", .fallback = "", .joint = ':'},
    {.name = "search.select", .variable = "ZETA_PLUGINS_SELECT", .fallback = "", .joint = ','},
    {.name = "search.disable", .variable = "ZETA_PLUGINS_DISABLE", .fallback = "", .joint = ','},
    {.name = "search.order", .fallback = "", .joint = ','},
    {.name = "memory.fault_after_free",
     .variable = "ZETA_MEMORY_FAULT_AFTER_FREE",
     .fallback = "false"},
    {.name = "kernel.strict_arguments",
     .variable = "ZETA_KERNEL_STRICT_ARGUMENTS",
     .fallback = "false"},
    {.name = "metric.last_of_domain",
     .variable = "ZETA_METRIC_LAST_OF_DOMAIN",
     .fallback = "false"},
    {.name = "metric.tracer_groups", .variable = "ZETA_METRIC_TRACER_GROUPS", .fallback = "false"},
    {.name = NULL},
};

const struct zeta_known_setting *zeta_known_setting_find(const char *name)
{
    for (const struct zeta_known_setting *known = zeta_known_settings; known->name; known++) {
        if (strcmp(known->name, name) == 0)
            return known;
    }
    return NULL;
}
