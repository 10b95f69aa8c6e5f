#include "core/trace/sink_path.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

/* Longer than the name of any function. */
#define GLOB_BYTES 256

bool zeta_sink_path(const char *pattern, pid_t pid, unsigned attempt, char *out_path,
                    size_t size_bytes)
{
    const char *place = strstr(pattern, "%p");
    char name[32] = "";
    char number[32] = "";
    int bytes;

    (void)snprintf(name, sizeof(name), "%ld", (long)pid);
    if (place) {
        if (attempt > 0)
            (void)snprintf(number, sizeof(number), ".%u", attempt + 1);
        bytes = snprintf(out_path, size_bytes, "%.*s%s%s%s", (int)(place - pattern), pattern, name,
                         place + 2, number);
    } else {
        if (attempt > 1)
            (void)snprintf(number, sizeof(number), ".%u", attempt);
        bytes = snprintf(out_path, size_bytes, "%s%s%s%s", pattern, attempt > 0 ? "." : "",
                         attempt > 0 ? name : "", number);
    }
    return bytes > 0 && (size_t)bytes < size_bytes;
}

bool zeta_sink_path_is_foreign(const char *path)
{
    static const char ending[] = ".pftrace";
    const size_t length = strlen(path);

    return length >= sizeof(ending) - 1 &&
           strcmp(path + length - (sizeof(ending) - 1), ending) == 0;
}

bool zeta_sink_filter_accepts(const char *filter, const char *name)
{
    char glob[GLOB_BYTES];

    for (const char *at = filter; *at;) {
        const size_t length = strcspn(at, ",");

        if (length > 0 && length < sizeof(glob)) {
            memcpy(glob, at, length);
            glob[length] = '\0';
            if (fnmatch(glob, name, 0) == 0)
                return true;
        }
        at += length;
        if (*at == ',')
            at++;
    }
    return false;
}

bool zeta_sink_limit(const char *text, uint64_t *out_bytes)
{
    static const char units[] = "KMG";
    uint64_t value = 0;
    const char *at = text;
    const char *unit;

    for (; *at >= '0' && *at <= '9'; at++) {
        if (value > UINT32_MAX)
            return false;
        value = value * 10 + (uint64_t)(*at - '0');
    }
    if (at == text)
        return false;
    if (*at == '\0') {
        *out_bytes = value;
        return true;
    }
    unit = strchr(units, *at);
    if (!unit || at[1] != '\0')
        return false;
    *out_bytes = value << (10 * (unit - units + 1));
    return true;
}
