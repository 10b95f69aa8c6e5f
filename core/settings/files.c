/*
 * Configuration files: which ones apply, and how their mappings become dotted names.
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

#include "core/settings/paths.h"
#include "core/settings/settings_priv.h"
#include "core/util/cleanup.h"
#include "core/util/diagnostic.h"
#include "core/util/list.h"
#include "core/util/log.h"
#include "core/util/trust.h"

#define NAME_BYTES 256

/* What reading one file needs. */
struct reading {
    struct zeta_setting_store *store;
    struct zeta_diagnostics *sink;
    const char *file;
    bool out_of_memory;
};

static void report(void *context, const struct zeta_diagnostic *diagnostic)
{
    char text[ZETA_DIAGNOSTIC_BYTES];

    (void)context;
    zeta_diagnostic_print(diagnostic, text, sizeof(text));
    zeta_log(ZETA_LOG_WARN, "settings", "%s", text);
}

static bool is_plugin_setting(const char *name)
{
    const char *dot;

    if (strncmp(name, "plugins.", 8) != 0)
        return false;
    dot = strchr(name + 8, '.');
    return dot && dot > name + 8 && dot[1];
}

/* "log:" without anything below it: a group whose members are all commented out. */
static bool is_group(const char *name)
{
    size_t length = strlen(name);

    for (const struct zeta_known_setting *known = zeta_known_settings; known->name; known++) {
        if (strncmp(known->name, name, length) == 0 && known->name[length] == '.')
            return true;
    }
    return strcmp(name, "plugins") == 0 ||
           (strncmp(name, "plugins.", 8) == 0 && !strchr(name + 8, '.'));
}

static void set(struct reading *reading, const struct zeta_yaml_node *node, const char *name,
                const char *value)
{
    char origin[PATH_MAX + 32];

    if (!*value && is_group(name))
        return;
    if (!zeta_known_setting_find(name) && !is_plugin_setting(name)) {
        zeta_diagnose(reading->sink, ZETA_SEVERITY_WARNING, reading->file, node->key_line,
                      node->key_column, "There is no setting \"%s\"; it is ignored.", name);
        return;
    }
    (void)snprintf(origin, sizeof(origin), "%s:%u", reading->file, node->line);
    if (!zeta_store_set(reading->store, name, value, origin))
        reading->out_of_memory = true;
}

/* A list of scalars becomes one text with the joint of the setting between its items. */
static void set_list(struct reading *reading, const struct zeta_yaml_node *node, const char *name)
{
    const struct zeta_known_setting *known = zeta_known_setting_find(name);
    ZETA_CLEANUP(zeta_text_finish) struct zeta_text text = {0};
    char joint = known ? known->joint : ',';

    if (!joint) {
        zeta_diagnose(reading->sink, ZETA_SEVERITY_WARNING, reading->file, node->line, node->column,
                      "\"%s\" takes one value, not a list; it is ignored.", name);
        return;
    }
    for (const struct zeta_yaml_node *item = node->first_child; item; item = item->next) {
        if (item->kind != ZETA_YAML_SCALAR) {
            zeta_diagnose(reading->sink, ZETA_SEVERITY_WARNING, reading->file, item->line,
                          item->column, "A list of plain values is expected for \"%s\".", name);
            return;
        }
        if (text.length > 0)
            zeta_text_append(&text, &joint, 1);
        zeta_text_append(&text, item->text, item->length);
    }
    if (text.failed)
        reading->out_of_memory = true;
    else
        set(reading, node, name, zeta_text_get(&text));
}

/* Walks the members of a mapping; the depth is bounded by the limits of the parser. */
static void read_members(struct reading *reading, const struct zeta_yaml_node *mapping,
                         const char *prefix)
{
    char name[NAME_BYTES];

    for (const struct zeta_yaml_node *node = mapping->first_child; node; node = node->next) {
        if (strncmp(node->key, "x-", 2) == 0)
            continue;
        if ((size_t)snprintf(name, sizeof(name), "%s%s%s", prefix, *prefix ? "." : "", node->key) >=
            sizeof(name)) {
            zeta_diagnose(reading->sink, ZETA_SEVERITY_WARNING, reading->file, node->key_line,
                          node->key_column, "A name of more than %d bytes is ignored.",
                          NAME_BYTES - 1);
            continue;
        }
        if (node->kind == ZETA_YAML_MAPPING)
            read_members(reading, node, name);
        else if (node->kind == ZETA_YAML_SEQUENCE)
            set_list(reading, node, name);
        else
            set(reading, node, name, zeta_yaml_is_null(node) ? "" : node->text);
    }
}

static void read_document(struct reading *reading, int fd)
{
    const struct zeta_yaml_limits limits = {.max_bytes = 65536, .max_depth = 16};
    struct zeta_yaml_error error;
    struct zeta_yaml_document *document = zeta_yaml_read_fd(fd, reading->file, &limits, &error);
    const struct zeta_yaml_node *top;

    if (!document) {
        reading->out_of_memory |= error.no_memory;
        (void)zeta_diagnose_yaml(reading->sink, reading->file, &error);
        return;
    }
    top = zeta_yaml_root(document);
    if (top && top->kind == ZETA_YAML_MAPPING)
        read_members(reading, top, "");
    else if (top && !zeta_yaml_is_null(top))
        zeta_diagnose(reading->sink, ZETA_SEVERITY_WARNING, reading->file, top->line, top->column,
                      "A configuration file is a mapping of names to values; it is ignored.");
    zeta_yaml_free(document);
}

/* must_exist: the file was named by somebody. False only without memory. */
static bool read_file(struct zeta_setting_store *store, const char *path, bool must_exist)
{
    struct zeta_diagnostics sink = {.report = report};
    struct reading reading = {.store = store, .sink = &sink, .file = path};
    ZETA_CLEANUP(zeta_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    char reason[PATH_MAX + 128];
    struct stat status;

    if (fd < 0) {
        if (must_exist || errno != ENOENT)
            zeta_log(ZETA_LOG_WARN, "settings", "%s cannot be read (%s).", path,
                     strerrordesc_np(errno));
        return true;
    }
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        zeta_log(ZETA_LOG_WARN, "settings", "%s is not a regular file; it is ignored.", path);
        return true;
    }
    if (!zeta_trust_check(fd, zeta_trust_level(), must_exist, reason, sizeof(reason))) {
        zeta_log(ZETA_LOG_WARN, "settings", "%s is ignored: %s.", path, reason);
        return true;
    }
    read_document(&reading, fd);
    return !reading.out_of_memory;
}

static int is_drop_in(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);

    return entry->d_name[0] != '.' && length > 5 &&
           strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

static int by_bytes(const struct dirent **left, const struct dirent **right)
{
    return strcmp((*left)->d_name, (*right)->d_name);
}

static bool read_drop_ins(struct zeta_setting_store *store, const char *directory)
{
    struct dirent **names = NULL;
    char path[PATH_MAX + 512];
    bool complete = true;
    int count = scandir(directory, &names, is_drop_in, by_bytes);

    for (int i = 0; i < count; i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", directory, names[i]->d_name);
        complete = complete && read_file(store, path, false);
        free(names[i]);
    }
    free(names);
    return complete;
}

static bool read_default_files(struct zeta_setting_store *store)
{
    char directory[PATH_MAX];
    char path[PATH_MAX + 32];

    zeta_paths_system_config(directory, sizeof(directory));
    (void)snprintf(path, sizeof(path), "%s/zeta.yaml", directory);
    if (!read_file(store, path, false))
        return false;
    (void)snprintf(path, sizeof(path), "%s/zeta.d", directory);
    if (!read_drop_ins(store, path))
        return false;
    if (!zeta_paths_user_config(directory, sizeof(directory)))
        return true;
    (void)snprintf(path, sizeof(path), "%s/zeta.yaml", directory);
    return read_file(store, path, false);
}

ze_result_t zeta_settings_read_files(struct zeta_setting_store *store)
{
    const char *chosen = zeta_paths_environment("ZETA_CONFIG");
    bool complete = true;

    if (!chosen || !*chosen)
        complete = read_default_files(store);
    else if (strcmp(chosen, "none") != 0)
        complete = read_file(store, chosen, true);
    return complete ? ZE_RESULT_SUCCESS : zeta_error_no_memory("the settings");
}
