#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler_priv.h"

/* A line of the list; false for one that tells nothing. */
static bool read_need(const char *program, const char *line, struct zeta_compiler_need *out_need)
{
    const char *slash = strrchr(program, '/');
    char path[sizeof(out_need->path)];

    if (sscanf(line, "%1023s %63s", path, out_need->package) != 2)
        return false;
    if (path[0] == '/' || !slash)
        return snprintf(out_need->path, sizeof(out_need->path), "%s", path) > 0;
    return snprintf(out_need->path, sizeof(out_need->path), "%.*s/%s", (int)(slash - program),
                    program, path) < (int)sizeof(out_need->path);
}

struct zeta_compiler_need *zeta_compiler_needs(const char *path, size_t *out_count)
{
    struct zeta_compiler_need *needs = NULL, *grown;
    char name[1100], line[1200];
    FILE *file;

    *out_count = 0;
    (void)snprintf(name, sizeof(name), "%s.needs", path);
    file = fopen(name, "re");
    while (file && fgets(line, sizeof(line), file)) {
        grown = realloc(needs, (*out_count + 1) * sizeof(*needs));
        if (!grown)
            break;
        needs = grown;
        *out_count += read_need(path, line, &needs[*out_count]);
    }
    if (file)
        (void)fclose(file);
    return needs;
}
