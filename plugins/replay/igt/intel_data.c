#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "plugins/replay/igt/igt.h"

/* ---- which generation ----------------------------------------------------------------------- */

static void add_file(struct zeta_replay_intel *intel, const char *folder, const char *name)
{
    char path[2 * PATH_MAX];
    struct zeta_yaml_error error;
    struct zeta_yaml_document *file;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = zeta_yaml_read_file(path, NULL, &error);
    if (file)
        intel->files[intel->file_count++] = file;
}

/*
 * Reads the set files of a generation if the GPU is of it: those that its manifest names, which
 * others share, and its own. Files that cannot be read are left out; what then is missing is found
 * when the text of a set is read.
 */
static bool read_generation(struct zeta_replay_intel *intel, const char *share,
                            const char *manifest_path, uint32_t pci_id)
{
    char folder[PATH_MAX], path[PATH_MAX + 32], problem[512];
    struct zeta_yaml_error error;
    struct zeta_yaml_document *manifest = zeta_yaml_read_file(manifest_path, NULL, &error);
    const struct zeta_yaml_node *root = manifest ? zeta_yaml_root(manifest) : NULL;
    const struct zeta_yaml_node *shared = zeta_yaml_member(root, "metrics");
    const char *id = zeta_yaml_text(root, "id");

    if (id && snprintf(folder, sizeof(folder), "%s/%s", share, id) < (int)sizeof(folder)) {
        (void)snprintf(path, sizeof(path), "%s/platforms.yaml", folder);
        if (zeta_intel_platforms_read(path, &intel->platforms, problem, sizeof(problem)))
            intel->platform = zeta_intel_platform_find(&intel->platforms, pci_id);
    }
    if (intel->platform) {
        intel->files = calloc((shared ? shared->child_count : 0) + intel->platform->set_count + 1,
                              sizeof(struct zeta_yaml_document *));
        for (const struct zeta_yaml_node *item = shared && intel->files ? shared->first_child
                                                                        : NULL;
             item; item = item->next) {
            if (item->text)
                add_file(intel, share, item->text);
        }
        for (uint32_t i = 0; intel->files && i < intel->platform->set_count; i++)
            add_file(intel, folder, intel->platform->sets[i]);
    }
    zeta_yaml_free(manifest);
    return intel->files != NULL;
}

bool zeta_replay_intel_open(const char *share, uint32_t pci_id, struct zeta_replay_intel *out_intel,
                            struct zeta_replay_problem *problem)
{
    char pattern[PATH_MAX + 32];
    glob_t found = {0};
    bool good = false;

    *out_intel = (struct zeta_replay_intel){.file_count = 0};
    (void)snprintf(pattern, sizeof(pattern), "%s/plugins.d/*-intel-*.yaml", share ? share : "");
    if (!share || glob(pattern, 0, NULL, &found) != 0) {
        globfree(&found);
        return zeta_replay_fail(problem, "the data of the plugin for Intel GPUs are not installed");
    }
    for (size_t i = 0; i < found.gl_pathc && !good; i++) {
        good = read_generation(out_intel, share, found.gl_pathv[i], pci_id);
        if (!good)
            zeta_replay_intel_close(out_intel);
    }
    globfree(&found);
    return good || zeta_replay_fail(problem, "no platform file has the PCI id 0x%04x", pci_id);
}

void zeta_replay_intel_close(struct zeta_replay_intel *intel)
{
    for (uint32_t i = 0; i < intel->file_count; i++)
        zeta_yaml_free(intel->files[i]);
    free(intel->files);
    zeta_intel_platforms_free(&intel->platforms);
    *intel = (struct zeta_replay_intel){.file_count = 0};
}

/* ---- one set -------------------------------------------------------------------------------- */

/* A set that is written as the only one of its text. */
struct one_set {
    struct zeta_yaml_writer *writer;
    const char *name, *uuid;            /* as the recorded file has them */
    const struct zeta_yaml_node *set;   /* of a set file */
    const struct zeta_yaml_node *kinds; /* of that file: members that definitions share */
    uint32_t at;                        /* of a set over an index: place of the uuid in its list */
};

static bool write_definition(struct zeta_yaml_writer *writer, const struct zeta_yaml_node *kinds,
                             const struct zeta_yaml_node *definition, const struct one_set *one);

static void write_list_of_one(struct zeta_yaml_writer *writer, const char *text)
{
    zeta_yaml_write_start(writer, ZETA_YAML_SEQUENCE, true);
    zeta_yaml_write_text(writer, text, true);
    zeta_yaml_write_end(writer, ZETA_YAML_SEQUENCE);
}

/* The values of an index: "A..B", "A..B by S", or a list. False: value `at` cannot be read. */
static bool index_value(const struct zeta_yaml_node *values, uint32_t at, char *out_text,
                        size_t size)
{
    int first, last, step = 1;

    if (values->kind == ZETA_YAML_SEQUENCE) {
        const struct zeta_yaml_node *item = values->first_child;

        for (uint32_t i = 0; item && i < at; i++)
            item = item->next;
        return item && item->text && snprintf(out_text, size, "%s", item->text) < (int)size;
    }
    if (!values->text || sscanf(values->text, "%d..%d by %d", &first, &last, &step) < 2)
        return false;
    (void)snprintf(out_text, size, "%d", first + (last < first ? -step : step) * (int)at);
    return true;
}

/*
 * A member of the set, without its twins on other units and without a program: what was recorded is
 * of one unit, and no register is written. Of a set over an index, "for" has the one value that
 * the uuid is of. False: that value cannot be read.
 */
static bool write_set_member(const struct one_set *one, const struct zeta_yaml_node *node)
{
    const bool is_one_of_many = zeta_yaml_member(one->set, "for") != NULL;
    struct zeta_yaml_writer *writer = one->writer;
    char value[16];

    if (strcmp(node->key, "also") == 0 || strcmp(node->key, "program") == 0)
        return true;
    zeta_yaml_write_text(writer, node->key, true);
    if (strcmp(node->key, "metrics") == 0 && node->kind == ZETA_YAML_SEQUENCE) {
        zeta_yaml_write_start(writer, ZETA_YAML_SEQUENCE, false);
        for (const struct zeta_yaml_node *metric = node->first_child; metric; metric = metric->next)
            (void)write_definition(writer, one->kinds, metric, NULL);
        zeta_yaml_write_end(writer, ZETA_YAML_SEQUENCE);
    } else if (strcmp(node->key, "for") == 0) {
        const struct zeta_yaml_node *values =
            node->kind == ZETA_YAML_MAPPING ? node->first_child : NULL;

        if (!values || !index_value(values, one->at, value, sizeof(value)))
            return false;
        zeta_yaml_write_start(writer, ZETA_YAML_MAPPING, false);
        zeta_yaml_write_text(writer, values->key, true);
        write_list_of_one(writer, value);
        zeta_yaml_write_end(writer, ZETA_YAML_MAPPING);
    } else if (is_one_of_many && strcmp(node->key, "uuid") == 0) {
        write_list_of_one(writer, one->uuid);
    } else if (is_one_of_many && strcmp(node->key, "name") == 0) {
        zeta_yaml_write_text(writer, one->name, true);
    } else {
        zeta_yaml_write_node(writer, node);
    }
    return true;
}

/*
 * A definition with the members of its kind, which only its own file knows, instead of "kind".
 *
 * @one  of a set: which; it gets an empty program
 */
static bool write_definition(struct zeta_yaml_writer *writer, const struct zeta_yaml_node *kinds,
                             const struct zeta_yaml_node *definition, const struct one_set *one)
{
    const char *name = zeta_yaml_text(definition, "kind");
    const struct zeta_yaml_node *kind = name ? zeta_yaml_member(kinds, name) : NULL;
    const struct zeta_yaml_node *parts[] = {definition,
                                            kind && kind->kind == ZETA_YAML_MAPPING ? kind : NULL};
    bool good = true;

    if (definition->kind != ZETA_YAML_MAPPING) {
        zeta_yaml_write_node(writer, definition);
        return true;
    }
    zeta_yaml_write_start(writer, ZETA_YAML_MAPPING, false);
    for (uint32_t i = 0; i < 2 && parts[i]; i++) {
        for (const struct zeta_yaml_node *node = parts[i]->first_child; node && good;
             node = node->next) {
            if (strcmp(node->key, "kind") == 0 ||
                (i > 0 && zeta_yaml_member(definition, node->key)))
                continue;
            if (one) {
                good = write_set_member(one, node);
                continue;
            }
            zeta_yaml_write_text(writer, node->key, true);
            zeta_yaml_write_node(writer, node);
        }
    }
    if (one) {
        zeta_yaml_write_text(writer, "program", true);
        zeta_yaml_write_start(writer, ZETA_YAML_SEQUENCE, true);
        zeta_yaml_write_end(writer, ZETA_YAML_SEQUENCE);
    }
    zeta_yaml_write_end(writer, ZETA_YAML_MAPPING);
    return good;
}

/* Where a set has the uuid: 0, or the place in its list; UINT32_MAX: nowhere. */
static uint32_t place_of_uuid(const struct zeta_yaml_node *uuid, const char *wanted)
{
    uint32_t place = 0;

    if (uuid && uuid->text)
        return strcasecmp(uuid->text, wanted) == 0 ? 0 : UINT32_MAX;
    for (const struct zeta_yaml_node *item = uuid ? uuid->first_child : NULL; item;
         item = item->next, place++) {
        if (item->text && strcasecmp(item->text, wanted) == 0)
            return place;
    }
    return UINT32_MAX;
}

static bool find_set(const struct zeta_replay_intel *intel, struct one_set *one)
{
    for (uint32_t i = 0; i < intel->file_count; i++) {
        const struct zeta_yaml_node *root = zeta_yaml_root(intel->files[i]);
        const struct zeta_yaml_node *sets = zeta_yaml_member(root, "sets");

        one->set = sets && sets->kind == ZETA_YAML_SEQUENCE ? sets->first_child : NULL;
        for (; one->set; one->set = one->set->next) {
            one->at = place_of_uuid(zeta_yaml_member(one->set, "uuid"), one->uuid);
            one->kinds = zeta_yaml_member(root, "kinds");
            if (one->at != UINT32_MAX)
                return true;
        }
    }
    return false;
}

bool zeta_replay_intel_set(const struct zeta_replay_intel *intel, const char *name,
                           const char *uuid, struct zeta_replay_set *set,
                           struct zeta_replay_problem *problem)
{
    /* What several files may have, in the order in which it is written. */
    static const struct {
        const char *name;
        enum zeta_yaml_kind kind;
    } parts[] = {{"symbols", ZETA_YAML_MAPPING},
                 {"units", ZETA_YAML_MAPPING},
                 {"layouts", ZETA_YAML_SEQUENCE},
                 {"metrics", ZETA_YAML_MAPPING}};
    struct one_set one = {.name = name, .uuid = uuid};
    bool good;

    if (!find_set(intel, &one))
        return zeta_replay_fail(problem, "no set file of %s has the uuid %.40s of %.60s",
                                intel->platform->name, uuid, name);
    one.writer = zeta_yaml_writer_create();
    if (!one.writer)
        return zeta_replay_fail(problem, "there is no memory for its metric set");
    zeta_yaml_write_start(one.writer, ZETA_YAML_MAPPING, false);
    zeta_yaml_write_text(one.writer, "format", true);
    zeta_yaml_write_text(one.writer, "2", true);
    for (uint32_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        zeta_yaml_write_text(one.writer, parts[i].name, true);
        zeta_yaml_write_start(one.writer, parts[i].kind, false);
        for (uint32_t f = 0; f < intel->file_count; f++) {
            const struct zeta_yaml_node *root = zeta_yaml_root(intel->files[f]);
            const struct zeta_yaml_node *part = zeta_yaml_member(root, parts[i].name);
            const struct zeta_yaml_node *node =
                part && part->kind == parts[i].kind ? part->first_child : NULL;

            for (; node; node = node->next) {
                if (!node->key) {
                    zeta_yaml_write_node(one.writer, node);
                    continue;
                }
                zeta_yaml_write_text(one.writer, node->key, true);
                (void)write_definition(one.writer, zeta_yaml_member(root, "kinds"), node, NULL);
            }
        }
        zeta_yaml_write_end(one.writer, parts[i].kind);
    }
    zeta_yaml_write_text(one.writer, "sets", true);
    zeta_yaml_write_start(one.writer, ZETA_YAML_SEQUENCE, false);
    good = write_definition(one.writer, one.kinds, one.set, &one);
    zeta_yaml_write_end(one.writer, ZETA_YAML_SEQUENCE);
    zeta_yaml_write_end(one.writer, ZETA_YAML_MAPPING);
    set->text = zeta_yaml_writer_finish(one.writer, &set->text_bytes);
    if (good && set->text)
        return true;
    free(set->text);
    set->text = NULL;
    return zeta_replay_fail(problem, good ? "there is no memory for its metric set"
                                          : "the index of its metric set cannot be read");
}
