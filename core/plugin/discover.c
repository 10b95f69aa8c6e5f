/*
 * Finding manifests and set files in the directories of the search.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <zeta/yaml.h>

#include "core/plugin/entry.h"
#include "core/settings/paths.h"
#include "core/settings/search.h"
#include "core/util/cleanup.h"
#include "core/util/log.h"
#include "core/util/trust.h"

#define MANIFESTS "plugins.d"
#define SETS "metrics.d"

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
static bool set_places(struct zeta_plugin_host *entry, const char *path, bool named)
{
    char real[PATH_MAX];
    char *slash;

    entry->named = named;
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

/* Data of a plugin: <tree>/<id>, else a folder beside the manifest, else the manifest's own. */
static bool set_data_dir(struct zeta_plugin_host *entry)
{
    const char *const bases[] = {entry->tree, entry->directory};
    char path[PATH_MAX + 128];
    struct stat status;

    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(path, sizeof(path), "%.4000s/%s", bases[i], entry->manifest.id);
        if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
            entry->data_dir = strdup(path);
            return entry->data_dir != NULL;
        }
    }
    entry->data_dir = strdup(entry->directory);
    return entry->data_dir != NULL;
}

static bool set_provides(struct zeta_plugin_host *entry)
{
    struct zeta_text text = {0};

    for (size_t group = 0; group < ZETA_GROUP_COUNT; group++) {
        if (entry->manifest.provides & (1u << group))
            zeta_text_add(&text, "%s%s", text.length > 0 ? "," : "",
                          zeta_api_group_name((enum zeta_api_group)group));
    }
    entry->provides = strdup(zeta_text_get(&text));
    zeta_text_finish(&text);
    return entry->provides != NULL;
}

/* Reads the manifest that fd is open on. The entry is stopped if it is bad. */
static enum zeta_manifest_kind read_manifest(struct zeta_plugin_host *entry, int fd, bool strict)
{
    const struct zeta_yaml_limits limits = {
        .max_bytes = ZETA_MANIFEST_BYTES_MAX, .max_depth = 16, .max_nodes = 20000};
    struct findings findings = {.strict = strict};
    struct zeta_diagnostics sink = {.report = report, .context = &findings};
    struct zeta_yaml_error error;
    struct zeta_yaml_document *document = zeta_yaml_read_fd(fd, entry->path, &limits, &error);
    enum zeta_manifest_kind kind = ZETA_MANIFEST_BAD;

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

static void open_manifest(struct zeta_plugin_host *entry, bool strict,
                          enum zeta_manifest_kind *out_kind)
{
    ZETA_CLEANUP(zeta_closep)
    int fd = open(entry->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    char reason[PATH_MAX + 128];
    struct stat status;

    *out_kind = ZETA_MANIFEST_BAD;
    if (fd < 0 || fstat(fd, &status) != 0)
        (void)zeta_entry_stop(entry, ZETA_PLUGIN_STATE_NOT_LOADABLE,
                              "The manifest %s cannot be opened (%s).", entry->path,
                              strerrordesc_np(errno));
    else if (!S_ISREG(status.st_mode))
        (void)zeta_entry_stop(entry, ZETA_PLUGIN_STATE_NOT_LOADABLE,
                              "The manifest %s is not a regular file.", entry->path);
    else if (!zeta_trust_check(fd, zeta_trust_level(), entry->named, reason, sizeof(reason)))
        (void)zeta_entry_stop(entry, ZETA_PLUGIN_STATE_REFUSED,
                              "The manifest %s is not trusted: %s.", entry->path, reason);
    else
        *out_kind = read_manifest(entry, fd, strict);
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
        if (set_places(entry, path, named))
            open_manifest(entry, strict, &kind);
    }
    if (kind == ZETA_MANIFEST_FOREIGN && !strict) {
        zeta_log(ZETA_LOG_DEBUG, "plugin", "%s is no plugin manifest; passed over.", path);
        zeta_entry_free(entry);
        return NULL;
    }
    if (kind != ZETA_MANIFEST_NO_MEMORY && set_data_dir(entry) && set_provides(entry))
        return entry;
    *out_no_memory = true;
    zeta_entry_free(entry);
    return NULL;
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

/* Calls add for each YAML file of a directory in byte order. Stops when add returns false. */
static bool for_each_yaml(const char *directory, bool (*add)(void *context, const char *path),
                          void *context)
{
    struct dirent **names = NULL;
    char path[PATH_MAX + 512];
    bool go_on = true;
    int count = scandir(directory, &names, is_yaml, by_bytes);

    for (int i = 0; i < count; i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", directory, names[i]->d_name);
        go_on = go_on && add(context, path);
        free(names[i]);
    }
    free(names);
    return go_on;
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
        return for_each_yaml(path, add_manifest, walk);
    if (!walk->dir->named || strcmp(walk->dir->origin, "beside libzeta") == 0)
        return true;
    if (stat(walk->dir->path, &status) != 0) {
        zeta_log(ZETA_LOG_WARN, "plugin", "%s (from %s) does not exist.", walk->dir->path,
                 walk->dir->origin);
        return true;
    }
    if (S_ISREG(status.st_mode))
        return add_manifest(walk, walk->dir->path);
    return for_each_yaml(walk->dir->path, add_manifest, walk);
}

/* The same id further on is shadowed; the first in the order of the search wins. */
static void mark_shadowed(const struct zeta_list *entries)
{
    for (size_t i = 0; i < entries->count; i++) {
        struct zeta_plugin_host *entry = entries->items[i];

        if (!*entry->manifest.id || entry->state != ZETA_PLUGIN_STATE_FOUND)
            continue;
        for (size_t j = 0; j < i; j++) {
            const struct zeta_plugin_host *first = entries->items[j];

            if (strcmp(first->manifest.id, entry->manifest.id) != 0)
                continue;
            (void)zeta_entry_stop(entry, ZETA_PLUGIN_STATE_SHADOWED,
                                  "%s comes first in the search and has the same id \"%s\".",
                                  first->path, entry->manifest.id);
            break;
        }
    }
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
    mark_shadowed(out_entries);
    return ZE_RESULT_SUCCESS;
}

static bool add_set(void *context, const char *path)
{
    char reason[PATH_MAX + 128];
    ZETA_CLEANUP(zeta_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct walk *walk = context;
    char *copy;

    if (fd < 0)
        return true;
    if (!zeta_trust_check(fd, zeta_trust_level(), walk->dir->named, reason, sizeof(reason))) {
        zeta_log(ZETA_LOG_WARN, "plugin", "The set file %s is not trusted: %s.", path, reason);
        return true;
    }
    copy = strdup(path);
    if (copy && zeta_list_add(walk->entries, copy))
        return true;
    free(copy);
    return false;
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
            complete = for_each_yaml(path, add_set, &walk);
    }
    zeta_search_finish(&dirs);
    return complete ? ZE_RESULT_SUCCESS : zeta_error_no_memory("the list of set files");
}
