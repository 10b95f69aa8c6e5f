#include "core/list/skip.h"

#include <string.h>

#include "core/util/error.h"

void zeta_list_skip_begin(struct zeta_command_list *list, const void *what)
{
    if (!list->skipped_for)
        list->skipped_for = what;
}

void zeta_list_skip_end(struct zeta_command_list *list, const void *what)
{
    if (list->skipped_for == what)
        list->skipped_for = NULL;
}

/* Events are reset and queries begin and end all the same: that is no work. */
static bool is_work(uint32_t type)
{
    switch (type) {
    case ZETA_PLUGIN_COMMAND_LAUNCH:
    case ZETA_PLUGIN_COMMAND_COPY:
    case ZETA_PLUGIN_COMMAND_COPY_REGION:
    case ZETA_PLUGIN_COMMAND_FILL:
    case ZETA_PLUGIN_COMMAND_TIMESTAMP:
    case ZETA_PLUGIN_COMMAND_CALL:
    case ZETA_PLUGIN_COMMAND_MARKER:
        return true;
    default:
        return false;
    }
}

void zeta_append_skip(const struct zeta_append *append)
{
    struct zeta_recording *recording = append->recording;

    for (uint32_t i = append->first_command; i < recording->count; i++) {
        struct zeta_plugin_command *command = &recording->commands[i];

        if (!is_work(command->type))
            continue;
        command->type = ZETA_PLUGIN_COMMAND_BARRIER;
        command->flags = 0;
        memset(&command->u, 0, sizeof(command->u));
    }
}

ze_result_t zeta_list_refuse_skip(const struct zeta_command_list *list, const char *what)
{
    if (!list->skipped_for)
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                      "%s is not possible between begin and end of an execution query", what);
}
