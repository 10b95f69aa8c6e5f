#include "plugins/replay/igt/intel_data.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "plugins/replay/recording/yaml_part.h"

#define MANIFESTS "plugins.d/*-intel-*.yaml"

/* ---- which generation --------------------------------------------------------------------- */

/* The shared files that a manifest names. False without memory. */
static bool read_files(struct zeta_replay_intel *intel, const struct zeta_yaml_node *list)
{
    const bool is_list = list && list->kind == ZETA_YAML_SEQUENCE;

    intel->files = calloc(is_list ? (size_t)list->child_count + 1 : 1, sizeof(char *));
    if (!intel->files)
        return false;
    for (const struct zeta_yaml_node *item = is_list ? list->first_child : NULL; item;
         item = item->next) {
        if (!item->text)
            continue;
        if (asprintf(&intel->files[intel->file_count], "%s/%s", intel->share, item->text) < 0)
            return false;
        intel->file_count++;
    }
    return true;
}

/* True if the GPU is of the generation of a manifest. */
static bool read_manifest(struct zeta_replay_intel *intel, const char *path, uint32_t pci_id)
{
    char file[PATH_MAX + 160], problem[512];
    struct zeta_yaml_error error;
    struct zeta_yaml_document *manifest = zeta_yaml_read_file(path, NULL, &error);
    const struct zeta_yaml_node *root = manifest ? zeta_yaml_root(manifest) : NULL;
    const char *id = zeta_replay_node_text(root, "id");
    bool found = false;

    if (id && asprintf(&intel->folder, "%s/%s", intel->share, id) > 0) {
        (void)snprintf(file, sizeof(file), "%.4000s/platforms.yaml", intel->folder);
        if (zeta_intel_platforms_read(file, &intel->platforms, problem, sizeof(problem)))
            intel->platform = zeta_intel_platform_find(&intel->platforms, pci_id);
        found = intel->platform && read_files(intel, zeta_yaml_member(root, "metrics"));
    }
    zeta_yaml_free(manifest);
    return found;
}

/* Everything of one generation. */
static void forget(struct zeta_replay_intel *intel)
{
    for (uint32_t i = 0; i < intel->file_count; i++)
        free(intel->files[i]);
    free(intel->files);
    free(intel->folder);
    zeta_intel_platforms_free(&intel->platforms);
    *intel = (struct zeta_replay_intel){.share = intel->share};
}

bool zeta_replay_intel_open(const char *share, uint32_t pci_id, struct zeta_replay_intel *out_intel,
                            struct zeta_replay_problem *problem)
{
    char pattern[PATH_MAX];
    glob_t found = {0};
    bool good = false;

    *out_intel = (struct zeta_replay_intel){.share = share ? strdup(share) : NULL};
    (void)snprintf(pattern, sizeof(pattern), "%.4000s/" MANIFESTS, share ? share : "");
    if (!out_intel->share || glob(pattern, 0, NULL, &found) != 0) {
        free(out_intel->share);
        globfree(&found);
        return zeta_replay_fail(problem, "the data of the plugin for Intel GPUs are not installed");
    }
    for (size_t i = 0; i < found.gl_pathc && !good; i++) {
        good = read_manifest(out_intel, found.gl_pathv[i], pci_id);
        if (!good)
            forget(out_intel);
    }
    globfree(&found);
    if (good)
        return true;
    zeta_replay_intel_close(out_intel);
    return zeta_replay_fail(problem, "no platform file has the PCI id 0x%04x", pci_id);
}

void zeta_replay_intel_close(struct zeta_replay_intel *intel)
{
    forget(intel);
    free(intel->share);
    intel->share = NULL;
}

/* ---- one set ------------------------------------------------------------------------------ */

/* The parts of a set file that several files may have, in the order in which they are written. */
enum { SYMBOLS, UNITS, LAYOUTS, METRICS, PARTS };

static const char *const part_names[PARTS] = {"symbols", "units", "layouts", "metrics"};

/* What becomes the text of one set. */
struct merging {
    struct zeta_replay_copying copying;
    int parts[PARTS];
    int set;                            /* 0: not found yet */
    const char *uuid, *name;            /* of the set, as the recorded file says */
    const struct zeta_yaml_node *kinds; /* of the set file: members that definitions share */
};

static int list_of_one(struct zeta_replay_copying *copying, const char *text)
{
    const int list = yaml_document_add_sequence(&copying->to, NULL, YAML_FLOW_SEQUENCE_STYLE);

    zeta_replay_append_item(copying, list, zeta_replay_add_scalar(copying, text));
    return list;
}

/* The members of a definition's kind that it does not have itself. */
static void append_kind(struct merging *merging, const struct zeta_yaml_node *definition, int made)
{
    struct zeta_replay_copying *copying = &merging->copying;
    const char *name = zeta_replay_node_text(definition, "kind");
    const struct zeta_yaml_node *kind = name ? zeta_yaml_member(merging->kinds, name) : NULL;

    if (!kind || kind->kind != ZETA_YAML_MAPPING)
        return;
    for (const struct zeta_yaml_node *node = kind->first_child; node && !copying->failed;
         node = node->next) {
        if (!zeta_yaml_member(definition, node->key))
            zeta_replay_append_pair(copying, made, node->key, zeta_replay_node_copy(copying, node));
    }
}

/* A copy of a definition without its kind, which only its own file knows. */
static int copy_definition(struct merging *merging, const struct zeta_yaml_node *definition)
{
    struct zeta_replay_copying *copying = &merging->copying;
    int made;

    if (definition->kind != ZETA_YAML_MAPPING)
        return zeta_replay_node_copy(copying, definition);
    made = yaml_document_add_mapping(&copying->to, NULL, YAML_BLOCK_MAPPING_STYLE);
    for (const struct zeta_yaml_node *node = definition->first_child;
         made && node && !copying->failed; node = node->next) {
        if (strcmp(node->key, "kind") != 0)
            zeta_replay_append_pair(copying, made, node->key, zeta_replay_node_copy(copying, node));
    }
    if (made)
        append_kind(merging, definition, made);
    return made;
}

static int copy_metrics(struct merging *merging, const struct zeta_yaml_node *metrics)
{
    struct zeta_replay_copying *copying = &merging->copying;
    const int made = yaml_document_add_sequence(&copying->to, NULL, YAML_BLOCK_SEQUENCE_STYLE);

    for (const struct zeta_yaml_node *metric = metrics->first_child;
         made && metric && !copying->failed; metric = metric->next)
        zeta_replay_append_item(copying, made, copy_definition(merging, metric));
    return made;
}

/* Appends one part of a file to the same part of the files before. */
static void merge_part(struct merging *merging, const struct zeta_yaml_node *part, int target)
{
    struct zeta_replay_copying *copying = &merging->copying;

    for (const struct zeta_yaml_node *node = part->first_child; node && !copying->failed;
         node = node->next) {
        if (part->kind == ZETA_YAML_MAPPING)
            zeta_replay_append_pair(copying, target, node->key, copy_definition(merging, node));
        else
            zeta_replay_append_item(copying, target, zeta_replay_node_copy(copying, node));
    }
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

/* "for" of a set over an index: with the one value that the uuid is of. */
static int copy_index(struct merging *merging, const struct zeta_yaml_node *over, uint32_t at)
{
    struct zeta_replay_copying *copying = &merging->copying;
    const int made = yaml_document_add_mapping(&copying->to, NULL, YAML_BLOCK_MAPPING_STYLE);
    const struct zeta_yaml_node *values = over->first_child;
    char value[16];

    if (!made || over->kind != ZETA_YAML_MAPPING || !values ||
        !index_value(values, at, value, sizeof(value))) {
        copying->failed = true;
        return 0;
    }
    zeta_replay_append_pair(copying, made, values->key, list_of_one(copying, value));
    return made;
}

/*
 * The set without its twins on other units, and without a program: what was recorded is of one
 * unit, and no register is written. Of a set over an index it is the one with the uuid at a place
 * of its list.
 */
static void merge_set(struct merging *merging, const struct zeta_yaml_node *set, uint32_t at)
{
    struct zeta_replay_copying *copying = &merging->copying;
    const bool is_one_of_many = zeta_yaml_member(set, "for") != NULL;
    const int made = yaml_document_add_mapping(&copying->to, NULL, YAML_BLOCK_MAPPING_STYLE);

    for (const struct zeta_yaml_node *node = set->first_child; made && node && !copying->failed;
         node = node->next) {
        const char *name = node->key;
        int copy;

        if (strcmp(name, "also") == 0 || strcmp(name, "kind") == 0 || strcmp(name, "program") == 0)
            continue;
        if (strcmp(name, "metrics") == 0 && node->kind == ZETA_YAML_SEQUENCE)
            copy = copy_metrics(merging, node);
        else if (strcmp(name, "for") == 0)
            copy = copy_index(merging, node, at);
        else if (is_one_of_many && strcmp(name, "uuid") == 0)
            copy = list_of_one(copying, merging->uuid);
        else if (is_one_of_many && strcmp(name, "name") == 0)
            copy = zeta_replay_add_scalar(copying, merging->name);
        else
            copy = zeta_replay_node_copy(copying, node);
        zeta_replay_append_pair(copying, made, name, copy);
    }
    if (made)
        append_kind(merging, set, made);
    zeta_replay_append_pair(
        copying, made, "program",
        yaml_document_add_sequence(&copying->to, NULL, YAML_FLOW_SEQUENCE_STYLE));
    merging->set = made;
}

/* Where a set has the uuid: 0, or the place in its list; UINT32_MAX: nowhere. */
static uint32_t place_of_uuid(const struct zeta_yaml_node *uuid, const char *wanted)
{
    uint32_t place = 0;

    if (uuid && uuid->text)
        return strcasecmp(uuid->text, wanted) == 0 ? 0 : UINT32_MAX;
    for (const struct zeta_yaml_node *item =
             uuid && uuid->kind == ZETA_YAML_SEQUENCE ? uuid->first_child : NULL;
         item; item = item->next, place++) {
        if (item->text && strcasecmp(item->text, wanted) == 0)
            return place;
    }
    return UINT32_MAX;
}

/* Files that cannot be read are left out; what then is missing is found by who reads the text. */
static void merge_file(struct merging *merging, const char *path)
{
    struct zeta_yaml_document *document;
    const struct zeta_yaml_node *root, *sets;
    struct zeta_yaml_error error;

    document = merging->copying.failed ? NULL : zeta_yaml_read_file(path, NULL, &error);
    if (!document)
        return;
    root = zeta_yaml_root(document);
    merging->kinds = zeta_yaml_member(root, "kinds");
    for (uint32_t i = 0; i < PARTS; i++) {
        const struct zeta_yaml_node *part = zeta_yaml_member(root, part_names[i]);

        if (part && part->kind == (i == LAYOUTS ? ZETA_YAML_SEQUENCE : ZETA_YAML_MAPPING))
            merge_part(merging, part, merging->parts[i]);
    }
    sets = zeta_yaml_member(root, "sets");
    for (const struct zeta_yaml_node *set =
             sets && sets->kind == ZETA_YAML_SEQUENCE ? sets->first_child : NULL;
         set && merging->set == 0; set = set->next) {
        const uint32_t at = place_of_uuid(zeta_yaml_member(set, "uuid"), merging->uuid);

        if (at != UINT32_MAX)
            merge_set(merging, set, at);
    }
    zeta_yaml_free(document);
}

/* The head of the text: its format, and places for its parts. */
static bool begin_text(struct merging *merging, int *out_root)
{
    struct zeta_replay_copying *copying = &merging->copying;

    *out_root = yaml_document_add_mapping(&copying->to, NULL, YAML_BLOCK_MAPPING_STYLE);
    if (!*out_root)
        return false;
    zeta_replay_append_pair(copying, *out_root, "format", zeta_replay_add_scalar(copying, "2"));
    for (uint32_t i = 0; i < PARTS; i++) {
        merging->parts[i] =
            i == LAYOUTS ? yaml_document_add_sequence(&copying->to, NULL, YAML_BLOCK_SEQUENCE_STYLE)
                         : yaml_document_add_mapping(&copying->to, NULL, YAML_BLOCK_MAPPING_STYLE);
        zeta_replay_append_pair(copying, *out_root, part_names[i], merging->parts[i]);
    }
    return !copying->failed;
}

static void merge_files(struct merging *merging, const struct zeta_replay_intel *intel)
{
    const struct zeta_intel_platform *platform = intel->platform;

    for (uint32_t i = 0; i < intel->file_count; i++)
        merge_file(merging, intel->files[i]);
    for (uint32_t i = 0; i < platform->set_count; i++) {
        char path[PATH_MAX + 160];

        (void)snprintf(path, sizeof(path), "%.4000s/%.128s", intel->folder, platform->sets[i]);
        merge_file(merging, path);
    }
}

/* Ends the text with the set. */
static bool end_text(struct merging *merging, int root, struct zeta_replay_output *output)
{
    struct zeta_replay_copying *copying = &merging->copying;
    const int sets = yaml_document_add_sequence(&copying->to, NULL, YAML_BLOCK_SEQUENCE_STYLE);

    zeta_replay_append_item(copying, sets, merging->set);
    zeta_replay_append_pair(copying, root, "sets", sets);
    if (copying->failed) {
        yaml_document_delete(&copying->to);
        return false;
    }
    return zeta_replay_document_emit(&copying->to, output);
}

bool zeta_replay_intel_set(const struct zeta_replay_intel *intel, const char *name,
                           const char *uuid, struct zeta_replay_set *set,
                           struct zeta_replay_problem *problem)
{
    struct merging merging = {.uuid = uuid, .name = name};
    struct zeta_replay_output output = {NULL, 0, 0};
    int root;

    if (!yaml_document_initialize(&merging.copying.to, NULL, NULL, NULL, 1, 1))
        return zeta_replay_fail(problem, "there is no memory for its metric set");
    if (begin_text(&merging, &root))
        merge_files(&merging, intel);
    if (merging.set == 0) {
        yaml_document_delete(&merging.copying.to);
        return zeta_replay_fail(problem, "no set file of %s has the uuid %.40s of %.60s",
                                intel->platform->name, uuid, name);
    }
    if (!end_text(&merging, root, &output)) {
        free(output.text);
        return zeta_replay_fail(problem, "there is no memory for its metric set");
    }
    set->text = output.text;
    set->text_bytes = output.bytes;
    return true;
}
