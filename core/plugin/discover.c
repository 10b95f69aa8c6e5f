/*
 * Finding manifests and set files in the directories of the search.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <zeta/yaml.h>

#include "core/plugin/entry.h"
#include "core/settings/paths.h"
#include "core/settings/settings.h"
#include "core/util/cleanup.h"
#include "core/util/log.h"
#include "core/util/trust.h"

#define MANIFESTS "plugins.d"
#define SETS "metrics.d"

/* ---- the directories of the search ---- */

/* Adds a directory unless the same path is there already. False without memory. */
static bool add_dir(struct zeta_base_dirs *list, const char *path, size_t length,
                    const char *origin, bool named, const char *skip)
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
    if (!dir.path || !dir.origin)
        return false;
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 16;
        struct zeta_base_dir *grown = realloc(list->dirs, capacity * sizeof(*grown));

        if (!grown)
            return false;
        list->dirs = grown;
        list->capacity = capacity;
    }
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
            (named || path[0] == '/') && !add_dir(list, path, (size_t)written, origin, named, NULL))
            return false;
        parts += length + (parts[length] == ':');
    }
    return true;
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
    return add_dir(list, path, strlen(path), variable, false, skip);
}

/* XDG_CONFIG_DIRS or XDG_DATA_DIRS, or their defaults. */
static bool add_shared(struct zeta_base_dirs *list, const char *variable, const char *defaults)
{
    const char *dirs = zeta_paths_environment(variable);

    if (dirs && *dirs)
        return add_list(list, "", dirs, "/zeta", variable, false);
    return add_list(list, zeta_paths_root(), defaults, "/zeta", variable, false);
}

static bool add_default_dirs(struct zeta_base_dirs *list)
{
    char path[PATH_MAX];

    if (!add_list(list, "", zeta_settings_text("search.add", ""), "",
                  zeta_settings_origin("search.add"), true))
        return false;
    zeta_paths_own_data(path, sizeof(path));
    if ((*path && !add_dir(list, path, strlen(path), "beside libzeta", true, NULL)) ||
        !add_user(list, "XDG_CONFIG_HOME", "/.config/zeta") ||
        !add_shared(list, "XDG_CONFIG_DIRS", "/etc/xdg"))
        return false;
    zeta_paths_system_config(path, sizeof(path));
    if (!add_dir(list, path, strlen(path), "SYSCONFDIR", false, NULL) ||
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

/* ---- manifests ---- */

/* Of the findings of a manifest one becomes the reason of its entry; the others are logged. */
struct findings {
    bool strict;      /* a warning is reason enough */
    bool error_found; /* the first error is the reason, whatever came before */
    char first_warning[ZETA_DIAGNOSTIC_BYTES]; /* if strict */
};

static void report(void *context, const struct zeta_diagnostic *diagnostic)
{
    struct findings *findings = context;
    bool is_error = diagnostic->severity == ZETA_SEVERITY_ERROR;
    char text[ZETA_DIAGNOSTIC_BYTES];

    zeta_diagnostic_print(diagnostic, text, sizeof(text));
    if (is_error && !findings->error_found)
        findings->error_found = true;
    else if (!is_error && findings->strict && !*findings->first_warning)
        (void)snprintf(findings->first_warning, sizeof(findings->first_warning), "%s", text);
    else
        zeta_log(ZETA_LOG_WARN, "plugin", "%s", text);
}

/* Fills the places that depend on where the manifest is. False without memory. */
static bool set_places(struct zeta_plugin_host *entry, const char *path)
{
    char real[PATH_MAX];
    char *slash;

    entry->path = strdup(path);
    if (!realpath(path, real))
        (void)snprintf(real, sizeof(real), "%s", path);
    slash = strrchr(real, '/');
    if (slash)
        *slash = '\0';
    entry->directory = strdup(slash ? real : ".");
    slash = strrchr(real, '/');
    if (slash && strcmp(slash, "/" MANIFESTS) == 0)
        *slash = '\0';
    entry->tree = strdup(real);
    return entry->path && entry->directory && entry->tree;
}

/* What follows from the manifest. False without memory. */
static bool set_data(struct zeta_plugin_host *entry)
{
    ZETA_CLEANUP(zeta_text_finish) struct zeta_text groups = {0};
    const char *const bases[] = {entry->tree, entry->directory};
    char path[PATH_MAX + 128];
    struct stat status;

    /* Data of a plugin: <tree>/<id>, else a folder beside the manifest, else the manifest's own. */
    for (size_t i = 0; i < 2 && !entry->data_dir; i++) {
        (void)snprintf(path, sizeof(path), "%.4000s/%s", bases[i], entry->manifest.id);
        if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
            entry->data_dir = strdup(path);
    }
    if (!entry->data_dir)
        entry->data_dir = strdup(entry->directory);
    for (size_t group = 0; group < ZETA_GROUP_COUNT; group++) {
        if (entry->manifest.provides & (1u << group))
            zeta_text_add(&groups, "%s%s", groups.length > 0 ? "," : "",
                          zeta_api_group_name((enum zeta_api_group)group));
    }
    entry->provides = strdup(zeta_text_get(&groups));
    return entry->data_dir && entry->provides;
}

/* Opens and reads the manifest of an entry, which is stopped if it is bad. */
static enum zeta_manifest_kind read_manifest(struct zeta_plugin_host *entry, bool strict)
{
    const struct zeta_yaml_limits limits = {
        .max_bytes = ZETA_MANIFEST_BYTES_MAX, .max_depth = 16, .max_nodes = 20000};
    ZETA_CLEANUP(zeta_closep)
    int fd = open(entry->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct findings findings = {.strict = strict};
    struct zeta_diagnostics sink = {.report = report, .context = &findings};
    enum zeta_manifest_kind kind = ZETA_MANIFEST_BAD;
    struct zeta_yaml_document *document;
    struct zeta_yaml_error error;
    char reason[PATH_MAX + 128];
    struct stat status;

    if (fd < 0 || fstat(fd, &status) != 0) {
        (void)zeta_entry_stop(entry, ZETA_PLUGIN_STATE_NOT_LOADABLE,
                              "The manifest %s cannot be opened (%s).", entry->path,
                              strerrordesc_np(errno));
        return kind;
    }
    if (!S_ISREG(status.st_mode)) {
        (void)zeta_entry_stop(entry, ZETA_PLUGIN_STATE_NOT_LOADABLE,
                              "The manifest %s is not a regular file.", entry->path);
        return kind;
    }
    if (!zeta_trust_check(fd, zeta_trust_level(), entry->named, reason, sizeof(reason))) {
        (void)zeta_entry_stop(entry, ZETA_PLUGIN_STATE_REFUSED,
                              "The manifest %s is not trusted: %s.", entry->path, reason);
        return kind;
    }
    document = zeta_yaml_read_fd(fd, entry->path, &limits, &error);
    if (document)
        kind = zeta_manifest_read(document, &sink, &entry->manifest);
    else if (zeta_diagnose_yaml(&sink, entry->path, &error) == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
        return ZETA_MANIFEST_NO_MEMORY;
    zeta_yaml_free(document);
    if (kind == ZETA_MANIFEST_FOREIGN && strict)
        (void)zeta_entry_stop(entry, ZETA_PLUGIN_STATE_NOT_LOADABLE,
                              "%s is not a plugin manifest: it has neither id, library nor "
                              "provides.",
                              entry->path);
    else if (kind == ZETA_MANIFEST_BAD)
        (void)zeta_entry_stop(entry, ZETA_PLUGIN_STATE_NOT_LOADABLE, "%s%s", sink.first_error,
                              sink.count[ZETA_SEVERITY_ERROR] > 1 ? " (and more)" : "");
    else if (*findings.first_warning)
        (void)zeta_entry_stop(entry, ZETA_PLUGIN_STATE_NOT_LOADABLE, "%s", findings.first_warning);
    if (*findings.first_warning && kind != ZETA_MANIFEST_GOOD)
        zeta_log(ZETA_LOG_WARN, "plugin", "%s", findings.first_warning);
    return kind;
}

struct zeta_plugin_host *zeta_discover_file(const char *path, bool named, bool strict,
                                            bool *out_no_memory)
{
    struct zeta_plugin_host *entry = calloc(1, sizeof(*entry));
    enum zeta_manifest_kind kind = ZETA_MANIFEST_NO_MEMORY;

    *out_no_memory = false;
    if (entry) {
        entry->manifest = (struct zeta_manifest){
            .id = "", .library = "", .arch = "", .version = "", .license = ""};
        entry->checked = strict;
        entry->named = named;
        if (set_places(entry, path))
            kind = read_manifest(entry, strict);
    }
    if (kind == ZETA_MANIFEST_FOREIGN && !strict) {
        zeta_log(ZETA_LOG_DEBUG, "plugin", "%s is not a plugin manifest; it is skipped.", path);
        zeta_entry_free(entry);
        return NULL;
    }
    if (kind != ZETA_MANIFEST_NO_MEMORY && set_data(entry))
        return entry;
    *out_no_memory = true;
    zeta_entry_free(entry);
    return NULL;
}

/* What walking the search directories needs. */
struct walk {
    struct zeta_list *entries;
    const struct zeta_base_dir *dir;
    size_t rank;
};

static bool add_manifest(void *context, const char *path)
{
    struct walk *walk = context;
    bool no_memory = false;
    struct zeta_plugin_host *entry = zeta_discover_file(path, walk->dir->named, false, &no_memory);

    if (!entry)
        return !no_memory;
    entry->directory_rank = walk->rank;
    if (zeta_list_add(walk->entries, entry))
        return true;
    zeta_entry_free(entry);
    return false;
}

/* A search entry is a tree with plugins.d, a directory of manifests, or one manifest. */
static bool add_base(struct walk *walk)
{
    char path[PATH_MAX + 32];
    struct stat status;

    (void)snprintf(path, sizeof(path), "%.4000s/" MANIFESTS, walk->dir->path);
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return zeta_paths_each_yaml(path, add_manifest, walk);
    if (!walk->dir->named || strcmp(walk->dir->origin, "beside libzeta") == 0)
        return true;
    if (stat(walk->dir->path, &status) != 0) {
        zeta_log(ZETA_LOG_WARN, "plugin", "%s (from %s) does not exist.", walk->dir->path,
                 walk->dir->origin);
        return true;
    }
    if (S_ISREG(status.st_mode))
        return add_manifest(walk, walk->dir->path);
    return zeta_paths_each_yaml(walk->dir->path, add_manifest, walk);
}

ze_result_t zeta_discover(struct zeta_list *out_entries)
{
    struct zeta_base_dirs dirs;
    ze_result_t result = zeta_search_dirs(&dirs);
    bool complete = true;

    if (result != ZE_RESULT_SUCCESS)
        return result;
    for (size_t i = 0; i < dirs.count && complete; i++) {
        struct walk walk = {.entries = out_entries, .dir = &dirs.dirs[i], .rank = i};

        if (!dirs.dirs[i].skip)
            complete = add_base(&walk);
    }
    zeta_search_finish(&dirs);
    if (!complete)
        return zeta_error_no_memory("the plugin manifests");
    /* The same id further on is shadowed; the first in the order of the search wins. */
    for (size_t i = 0; i < out_entries->count; i++) {
        struct zeta_plugin_host *entry = out_entries->items[i];
        const struct zeta_plugin_host *first = out_entries->items[0];

        for (size_t k = 0; strcmp(first->manifest.id, entry->manifest.id) != 0; k++)
            first = out_entries->items[k];
        if (first != entry && *entry->manifest.id && entry->state == ZETA_PLUGIN_STATE_FOUND)
            (void)zeta_entry_stop(entry, ZETA_PLUGIN_STATE_SHADOWED,
                                  "%s is earlier in the search path and has the same id \"%s\".",
                                  first->path, entry->manifest.id);
    }
    return ZE_RESULT_SUCCESS;
}

static bool add_copy(struct zeta_list *list, const char *text)
{
    char *copy = strdup(text);

    if (copy && zeta_list_add(list, copy))
        return true;
    free(copy);
    return false;
}

static bool add_set(void *context, const char *path)
{
    char reason[PATH_MAX + 128];
    ZETA_CLEANUP(zeta_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct walk *walk = context;

    if (fd < 0)
        return true;
    if (!zeta_trust_check(fd, zeta_trust_level(), walk->dir->named, reason, sizeof(reason))) {
        zeta_log(ZETA_LOG_WARN, "plugin", "The set file %s is not trusted: %s.", path, reason);
        return true;
    }
    return add_copy(walk->entries, path);
}

ze_result_t zeta_discover_user_sets(struct zeta_list *out_paths)
{
    struct zeta_base_dirs dirs;
    ze_result_t result = zeta_search_dirs(&dirs);
    char path[PATH_MAX + 32];
    bool complete = true;

    if (result != ZE_RESULT_SUCCESS)
        return result;
    for (size_t i = 0; i < dirs.count && complete; i++) {
        struct walk walk = {.entries = out_paths, .dir = &dirs.dirs[i]};

        (void)snprintf(path, sizeof(path), "%.4000s/" SETS, dirs.dirs[i].path);
        if (!dirs.dirs[i].skip)
            complete = zeta_paths_each_yaml(path, add_set, &walk);
    }
    zeta_search_finish(&dirs);
    return complete ? ZE_RESULT_SUCCESS : zeta_error_no_memory("the list of set files");
}

/* ---- set files of a manifest: globs become paths ---- */

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

/* Adds what one pattern finds in one directory; false if that is nothing. */
static bool expand_in(struct zeta_plugin_host *entry, const char *directory, const char *pattern,
                      const char *libraries)
{
    char full[2 * PATH_MAX];
    glob_t found = {0};
    bool any;

    (void)snprintf(full, sizeof(full), "%s%s%s", pattern[0] == '/' ? "" : directory,
                   pattern[0] == '/' ? "" : "/", pattern);
    any = glob(full, 0, NULL, &found) == 0 && found.gl_pathc > 0;
    for (size_t i = 0; any && i < found.gl_pathc; i++) {
        const char *path = found.gl_pathv[i];
        bool is_new = true;

        for (size_t k = 0; is_new && k < entry->set_files.count; k++)
            is_new = strcmp(entry->set_files.items[k], path) != 0;
        if (is_new && may_use(entry, path, libraries))
            (void)add_copy(&entry->set_files, path);
    }
    globfree(&found);
    return any;
}

void zeta_sets_expand(struct zeta_plugin_host *entry, struct zeta_text *out_warning)
{
    char libraries[PATH_MAX];
    char shipped[PATH_MAX];
    /* The last one lets a manifest out of the tree use layouts and metrics that Zeta comes with. */
    const char *const bases[] = {entry->directory, entry->tree, entry->data_dir, libraries,
                                 shipped};

    zeta_paths_plugin_libraries(libraries, sizeof(libraries));
    zeta_paths_own_data(shipped, sizeof(shipped));
    for (size_t i = 0; i < entry->manifest.metrics.count; i++) {
        const char *pattern = entry->manifest.metrics.items[i];
        bool any = false;

        for (size_t b = 0; b < sizeof(bases) / sizeof(bases[0]) && !any; b++)
            any = *bases[b] && expand_in(entry, bases[b], pattern, libraries);
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
