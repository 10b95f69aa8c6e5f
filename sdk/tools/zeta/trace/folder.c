#include "sdk/tools/zeta/trace/folder.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta/output/message.h"

#define FILTER_VARIABLE "ZETA_TRACE_FILTER"
#define LIMIT_VARIABLE "ZETA_TRACE_LIMIT"

int zeta_trace_folder_make(struct zeta_trace_folder *folder, const char *output_path)
{
    const char *temporary = getenv("TMPDIR");
    const char *slash = output_path ? strrchr(output_path, '/') : NULL;
    char *parent = NULL;
    char *absolute = NULL;
    int status = ZETA_EXIT_OK;

    if (slash)
        parent = strndup(output_path, (size_t)(slash - output_path) + 1);
    else
        parent = strdup(output_path ? "." : temporary && *temporary ? temporary : "/tmp");
    absolute = parent ? realpath(parent, NULL) : NULL;
    if (!absolute || strstr(absolute, "%p"))
        status = zeta_print_failure("cannot keep files in %s: %s", parent ? parent : "memory",
                                    absolute ? "its name has %p in it" : strerror(errno));
    else
        status = zeta_run_folder_make(&folder->place, absolute, "trace");
    free(parent);
    free(absolute);
    return status;
}

static bool is_ours(const char *variable)
{
    static const char *const names[] = {ZETA_TRACE_VARIABLE "=", FILTER_VARIABLE "=",
                                        LIMIT_VARIABLE "="};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strncmp(variable, names[i], strlen(names[i])) == 0)
            return true;
    }
    return false;
}

static bool set_own(char **own, const char *name, const char *value, const char *rest)
{
    if (asprintf(own, "%s=%s%s", name, value, rest) >= 0)
        return true;
    *own = NULL;
    return false;
}

int zeta_trace_folder_build(struct zeta_trace_folder *folder, char **before, const char *filter,
                            const char *limit)
{
    size_t count = 0;
    char **end;

    if (!set_own(&folder->own[0], ZETA_TRACE_VARIABLE, folder->place.path, "/%p.json") ||
        (filter && !set_own(&folder->own[1], FILTER_VARIABLE, filter, "")) ||
        (limit && !set_own(&folder->own[2], LIMIT_VARIABLE, limit, "")))
        return zeta_print_failure("no memory for the environment of the program");
    while (before[count])
        count++;
    end = folder->variables = calloc(count + ZETA_TRACE_VARIABLES + 1, sizeof(*end));
    if (!end)
        return zeta_print_failure("no memory for the environment of the program");
    for (size_t i = 0; i < count; i++) {
        if (!is_ours(before[i]))
            *end++ = before[i];
    }
    for (size_t i = 0; i < ZETA_TRACE_VARIABLES; i++) {
        if (folder->own[i])
            *end++ = folder->own[i];
    }
    return ZETA_EXIT_OK;
}

void zeta_trace_folder_remove(struct zeta_trace_folder *folder)
{
    zeta_run_folder_remove(&folder->place);
}

void zeta_trace_folder_finish(struct zeta_trace_folder *folder)
{
    zeta_run_folder_finish(&folder->place);
    for (size_t i = 0; i < ZETA_TRACE_VARIABLES; i++)
        free(folder->own[i]);
    free(folder->variables);
    *folder = (struct zeta_trace_folder){0};
}
