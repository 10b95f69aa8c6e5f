#include "sdk/tools/zeta/inventory/more_groups.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Whether a plugin has the setting, with another value than all. */
static bool are_left_out(const char *name)
{
    struct zeta_setting *settings = NULL;
    uint32_t count = 0;
    bool found = false;

    if (zetaSettingGet(&count, NULL) != ZE_RESULT_SUCCESS)
        return false;
    settings = calloc((size_t)count + 1, sizeof(*settings));
    for (uint32_t i = 0; i < count && settings; i++)
        settings[i].struct_size = sizeof(settings[i]);
    if (!settings || zetaSettingGet(&count, settings) != ZE_RESULT_SUCCESS)
        count = 0;
    for (uint32_t i = 0; i < count && !found; i++)
        found = strcmp(settings[i].name, name) == 0 && strcmp(settings[i].value, "all") != 0;
    free(settings);
    return found;
}

void zeta_more_groups_print(const struct zeta_device_entry *device, FILE *stream)
{
    const char *plugin = device->info.stream;
    char name[128];
    char variable[128];

    (void)snprintf(name, sizeof(name), "plugins.%s.sets", plugin);
    (void)snprintf(variable, sizeof(variable), "ZETA_PLUGIN_%s_SETS", plugin);
    for (char *at = variable; *at; at++)
        *at = isalnum((unsigned char)*at) ? (char)toupper((unsigned char)*at) : '_';
    if (are_left_out(name))
        (void)fprintf(
            stream,
            "\nThere are more groups, of single blocks and signals: set %s=all, or %s: all "
            "in zeta.yaml.\n",
            variable, name);
}
