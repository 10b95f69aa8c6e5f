#include "core/settings/search.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/settings/paths.h"
#include "core/settings/settings.h"
#include "core/util/error.h"
#include "core/util/trust.h"

static bool grow(struct zeta_base_dirs *list)
{
    size_t capacity = list->capacity ? 2 * list->capacity : 16;
    struct zeta_base_dir *dirs;

    if (list->count < list->capacity)
        return true;
    dirs = realloc(list->dirs, capacity * sizeof(*dirs));
    if (!dirs)
        return false;
    list->dirs = dirs;
    list->capacity = capacity;
    return true;
}

/* Adds a directory unless the same path is there already. False without memory. */
static bool add(struct zeta_base_dirs *list, const char *path, size_t length, const char *origin,
                bool named, const char *skip)
{
    struct zeta_base_dir dir = {.named = named, .skip = skip};

    while (length > 1 && path[length - 1] == '/')
        length--;
    for (size_t i = 0; i < list->count; i++) {
        if (strlen(list->dirs[i].path) == length && strncmp(list->dirs[i].path, path, length) == 0)
            return true;
    }
    dir.path = zeta_arena_copy(&list->arena, path, length);
    dir.origin = zeta_arena_copy(&list->arena, origin, strlen(origin));
    if (!dir.path || !dir.origin || !grow(list))
        return false;
    list->dirs[list->count++] = dir;
    return true;
}

/* Adds each part of a colon-separated list, with a suffix; relative parts are left out. */
static bool add_list(struct zeta_base_dirs *list, const char *prefix, const char *parts,
                     const char *suffix, const char *origin, bool named)
{
    char path[PATH_MAX];

    while (*parts) {
        size_t length = strcspn(parts, ":");
        int written = snprintf(path, sizeof(path), "%s%.*s%s", prefix, (int)length, parts, suffix);

        if (length > 0 && written > 0 && (size_t)written < sizeof(path) &&
            (named || path[0] == '/') && !add(list, path, (size_t)written, origin, named, NULL))
            return false;
        parts += length;
        if (*parts == ':')
            parts++;
    }
    return true;
}

static bool add_beside(struct zeta_base_dirs *list)
{
    char path[PATH_MAX];

    zeta_paths_own_data(path, sizeof(path));
    return path[0] == '\0' || add(list, path, strlen(path), "beside libzeta", true, NULL);
}

static bool add_user(struct zeta_base_dirs *list, const char *variable, const char *below_home)
{
    char path[PATH_MAX];
    const char *skip = NULL;

    if (zeta_trust_level() == ZETA_TRUST_ROOT)
        skip = "directories of a user are not searched as root";
    else if (zeta_trust_level() == ZETA_TRUST_PRIVILEGED)
        return true; /* the variables that name it are not even read */
    if (!zeta_paths_user_base(variable, below_home, path, sizeof(path)))
        return true;
    return add(list, path, strlen(path), variable, false, skip);
}

/* XDG_CONFIG_DIRS or XDG_DATA_DIRS, or their defaults. */
static bool add_shared(struct zeta_base_dirs *list, const char *variable, const char *defaults)
{
    const char *dirs = zeta_paths_environment(variable);

    if (dirs && *dirs)
        return add_list(list, "", dirs, "/zeta", variable, false);
    while (*defaults) {
        size_t length = strcspn(defaults, ":");
        char one[PATH_MAX];

        (void)snprintf(one, sizeof(one), "%.*s", (int)length, defaults);
        if (!add_list(list, zeta_paths_root(), one, "/zeta", variable, false))
            return false;
        defaults += length + (defaults[length] == ':');
    }
    return true;
}

static bool add_default_dirs(struct zeta_base_dirs *list)
{
    char path[PATH_MAX];

    if (!add_list(list, "", zeta_settings_text("search.add", ""), "",
                  zeta_settings_origin("search.add"), true) ||
        !add_beside(list) || !add_user(list, "XDG_CONFIG_HOME", "/.config/zeta") ||
        !add_shared(list, "XDG_CONFIG_DIRS", "/etc/xdg"))
        return false;
    zeta_paths_system_config(path, sizeof(path));
    if (!add(list, path, strlen(path), "SYSCONFDIR", false, NULL) ||
        !add_user(list, "XDG_DATA_HOME", "/.local/share/zeta") ||
        !add_shared(list, "XDG_DATA_DIRS", "/usr/local/share:/usr/share"))
        return false;
    return add_list(list, zeta_paths_root(), ZETA_DATADIR, "/zeta", "compiled in", false);
}

ze_result_t zeta_search_dirs(struct zeta_base_dirs *out_dirs)
{
    const char *replacement = zeta_settings_text("search.path", "");
    bool complete;

    *out_dirs = (struct zeta_base_dirs){0};
    if (*replacement)
        complete =
            add_list(out_dirs, "", replacement, "", zeta_settings_origin("search.path"), true);
    else
        complete = add_default_dirs(out_dirs);
    if (complete)
        return ZE_RESULT_SUCCESS;
    zeta_search_finish(out_dirs);
    return zeta_error_no_memory("the list of plugin directories");
}

void zeta_search_finish(struct zeta_base_dirs *dirs)
{
    zeta_arena_finish(&dirs->arena);
    free(dirs->dirs);
    *dirs = (struct zeta_base_dirs){0};
}
