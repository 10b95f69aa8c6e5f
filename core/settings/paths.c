#include "core/settings/paths.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/util/trust.h"

static char root_prefix[PATH_MAX];

const char *zeta_paths_root(void)
{
    return root_prefix;
}

void zeta_paths_set_root(const char *root)
{
    (void)snprintf(root_prefix, sizeof(root_prefix), "%s", root ? root : "");
}

const char *zeta_paths_environment(const char *variable)
{
    return zeta_trust_level() == ZETA_TRUST_PRIVILEGED ? NULL : secure_getenv(variable);
}

/* Joins parts to a path; false, and "", if it does not fit. */
static bool join(char *out_path, size_t size_bytes, const char *first, const char *second)
{
    int length = snprintf(out_path, size_bytes, "%s%s", first, second);

    if (length >= 0 && (size_t)length < size_bytes)
        return true;
    out_path[0] = '\0';
    return false;
}

bool zeta_paths_own_directory(char *out_path, size_t size_bytes)
{
    static const char here; /* an address inside the library */
    char real[PATH_MAX];
    Dl_info info;
    char *slash;

    if (dladdr(&here, &info) == 0 || !info.dli_fname || !realpath(info.dli_fname, real))
        return false;
    slash = strrchr(real, '/');
    if (!slash)
        return false;
    *slash = '\0';
    return join(out_path, size_bytes, real, "");
}

void zeta_paths_plugin_libraries(char *out_path, size_t size_bytes)
{
    static const char *const places[] = {"/" ZETA_LIBDIR_TO_PLUGINS,
                                         "/" ZETA_LIBDIR_TO_DATA "/" ZETA_DATA_TO_PLUGINS};
    char own[PATH_MAX];
    char path[PATH_MAX];
    char real[PATH_MAX];

    out_path[0] = '\0';
    if (!zeta_paths_own_directory(own, sizeof(own)))
        return;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if (join(path, sizeof(path), own, places[i]) && realpath(path, real) &&
            join(out_path, size_bytes, real, ""))
            return;
    }
    /* Nothing is there yet; messages name the place where it is expected. */
    (void)join(out_path, size_bytes, own, places[0]);
}

bool zeta_paths_user_base(const char *variable, const char *below_home, char *out_path,
                          size_t size_bytes)
{
    const char *base = zeta_paths_environment(variable);
    const char *home = zeta_paths_environment("HOME");

    if (base && base[0] == '/')
        return join(out_path, size_bytes, base, "/zeta");
    return home && home[0] == '/' && join(out_path, size_bytes, home, below_home);
}

bool zeta_paths_user_config(char *out_path, size_t size_bytes)
{
    return zeta_trust_level() == ZETA_TRUST_USER &&
           zeta_paths_user_base("XDG_CONFIG_HOME", "/.config/zeta", out_path, size_bytes);
}

void zeta_paths_system_config(char *out_path, size_t size_bytes)
{
    (void)join(out_path, size_bytes, root_prefix, ZETA_SYSCONFDIR "/zeta");
}

void zeta_paths_own_data(char *out_path, size_t size_bytes)
{
    char own[PATH_MAX];
    char path[PATH_MAX];
    char real[PATH_MAX];

    out_path[0] = '\0';
    if (!zeta_paths_own_directory(own, sizeof(own)) ||
        !join(path, sizeof(path), own, "/" ZETA_LIBDIR_TO_DATA))
        return;
    /* What is not there yet has its name all the same, for messages. */
    (void)join(out_path, size_bytes, realpath(path, real) ? real : path, "");
}

static int is_yaml(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);

    return entry->d_name[0] != '.' && length > 5 &&
           strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

static int by_bytes(const struct dirent **left, const struct dirent **right)
{
    return strcmp((*left)->d_name, (*right)->d_name);
}

bool zeta_paths_each_yaml(const char *directory, bool (*use)(void *context, const char *path),
                          void *context)
{
    struct dirent **names = NULL;
    char path[PATH_MAX + 512];
    bool go_on = true;
    int count = scandir(directory, &names, is_yaml, by_bytes);

    for (int i = 0; i < count; i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", directory, names[i]->d_name);
        go_on = go_on && use(context, path);
        free(names[i]);
    }
    free(names);
    return go_on;
}
