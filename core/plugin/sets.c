/*
 * Set files of a manifest: globs become paths.
 */
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/plugin/entry.h"
#include "core/settings/paths.h"
#include "core/util/cleanup.h"
#include "core/util/log.h"
#include "core/util/trust.h"

static bool is_below(const char *path, const char *directory)
{
    size_t length = strlen(directory);

    return length > 0 && strncmp(path, directory, length) == 0 && path[length] == '/';
}

/* A set file has to be readable, trusted, and inside the places of the plugin. */
static bool may_use(const struct zeta_plugin_host *entry, const char *path, const char *libraries)
{
    char real[PATH_MAX];
    char reason[PATH_MAX + 128];
    ZETA_CLEANUP(zeta_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0 || !realpath(path, real)) {
        zeta_log(ZETA_LOG_WARN, "plugin", "%s: the set file %s cannot be opened.",
                 entry->manifest.id, path);
        return false;
    }
    if (strstr(path, "/../") && !is_below(real, entry->tree) && !is_below(real, libraries)) {
        zeta_log(ZETA_LOG_WARN, "plugin", "%s: the set file %s is outside %s and is left out.",
                 entry->manifest.id, path, entry->tree);
        return false;
    }
    if (!zeta_trust_check(fd, zeta_trust_level(), entry->named, reason, sizeof(reason))) {
        zeta_log(ZETA_LOG_WARN, "plugin", "%s: the set file %s is not trusted: %s.",
                 entry->manifest.id, path, reason);
        return false;
    }
    return true;
}

static bool has_path(const struct zeta_list *paths, const char *path)
{
    for (size_t i = 0; i < paths->count; i++) {
        if (strcmp(paths->items[i], path) == 0)
            return true;
    }
    return false;
}

/* Adds what one pattern finds in one directory; false if that is nothing. */
static bool expand_in(struct zeta_plugin_host *entry, const char *directory, const char *pattern,
                      const char *libraries)
{
    char full[2 * PATH_MAX];
    glob_t found = {0};
    bool any = false;

    if (pattern[0] == '/')
        (void)snprintf(full, sizeof(full), "%s", pattern);
    else
        (void)snprintf(full, sizeof(full), "%s/%s", directory, pattern);
    if (glob(full, 0, NULL, &found) == 0) {
        any = found.gl_pathc > 0;
        for (size_t i = 0; i < found.gl_pathc; i++) {
            const char *path = found.gl_pathv[i];
            char *copy;

            if (has_path(&entry->set_files, path) || !may_use(entry, path, libraries))
                continue;
            copy = strdup(path);
            if (copy && !zeta_list_add(&entry->set_files, copy))
                free(copy);
        }
    }
    globfree(&found);
    return any;
}

void zeta_sets_expand(struct zeta_plugin_host *entry, struct zeta_text *out_warning)
{
    char libraries[PATH_MAX];
    char shipped[PATH_MAX];
    const char *bases[5];

    zeta_paths_plugin_libraries(libraries, sizeof(libraries));
    zeta_paths_own_data(shipped, sizeof(shipped));
    bases[0] = entry->directory;
    bases[1] = entry->tree;
    bases[2] = entry->data_dir;
    bases[3] = libraries;
    /* So that a manifest out of the tree can use layouts and metrics that Zeta comes with. */
    bases[4] = shipped;
    for (size_t i = 0; i < entry->manifest.metrics.count; i++) {
        const char *pattern = entry->manifest.metrics.items[i];
        bool any = false;

        for (size_t b = 0; b < sizeof(bases) / sizeof(bases[0]) && !any; b++)
            any = bases[b][0] != '\0' && expand_in(entry, bases[b], pattern, libraries);
        if (any)
            continue;
        zeta_log(ZETA_LOG_WARN, "plugin", "%s: the set files \"%s\" of %s do not exist.",
                 entry->manifest.id, pattern, entry->path);
        if (out_warning && out_warning->length == 0)
            zeta_text_add(out_warning, "The set files \"%s\" do not exist.", pattern);
    }
    entry->backend.set_files = (const char *const *)entry->set_files.items;
    entry->backend.set_file_count = entry->set_files.count;
}
