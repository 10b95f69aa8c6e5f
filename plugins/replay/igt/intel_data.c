#include "plugins/replay/igt/intel_data.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <zeta/file.h>

#include "plugins/replay/recording/yaml_part.h"

/* No file of the data is as large. */
#define MAX_FILE_BYTES (8 << 20)

#define MANIFESTS "plugins.d/*-intel-*.yaml"

/* A whole file as a document; false if it cannot be read. */
static bool read_document(const char *path, yaml_document_t *out_document)
{
    uint64_t bytes = 0;
    char *text = zeta_file_read(path, MAX_FILE_BYTES, &bytes);
    const bool good = text && zeta_replay_document_parse(text, (size_t)bytes, out_document);

    free(text);
    return good;
}

/* ---- which generation --------------------------------------------------------------------- */

static uint32_t length_of(const yaml_node_t *sequence)
{
    return (uint32_t)(sequence->data.sequence.items.top - sequence->data.sequence.items.start);
}

/* The shared files that a manifest names. False without memory. */
static bool read_files(struct zeta_replay_intel *intel, yaml_document_t *manifest)
{
    const yaml_node_t *list =
        zeta_replay_node_member(manifest, yaml_document_get_root_node(manifest), "metrics");
    const uint32_t count = list && list->type == YAML_SEQUENCE_NODE ? length_of(list) : 0;

    intel->files = calloc((size_t)count + 1, sizeof(char *));
    for (uint32_t i = 0; intel->files && i < count; i++) {
        const char *name = zeta_replay_node_scalar(
            yaml_document_get_node(manifest, list->data.sequence.items.start[i]));

        if (name && asprintf(&intel->files[intel->file_count], "%s/%s", intel->share, name) < 0)
            return false;
        intel->file_count += name ? 1 : 0;
    }
    return intel->files != NULL;
}

/* True if the GPU is of the generation of a manifest. */
static bool read_manifest(struct zeta_replay_intel *intel, const char *path, uint32_t pci_id)
{
    char file[PATH_MAX + 160], problem[512];
    yaml_document_t manifest;
    const char *id;
    bool found = false;

    if (!read_document(path, &manifest))
        return false;
    id = zeta_replay_node_text(&manifest, yaml_document_get_root_node(&manifest), "id");
    if (id && asprintf(&intel->folder, "%s/%s", intel->share, id) > 0) {
        (void)snprintf(file, sizeof(file), "%.4000s/platforms.yaml", intel->folder);
        if (zeta_intel_platforms_read(file, &intel->platforms, problem, sizeof(problem)))
            intel->platform = zeta_intel_platform_find(&intel->platforms, pci_id);
        found = intel->platform && read_files(intel, &manifest);
    }
    yaml_document_delete(&manifest);
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
    int set;                  /* 0: not found yet */
    const char *uuid, *name;  /* of the set, as the file says */
    const yaml_node_t *kinds; /* of the file that is read; members that its definitions share */
};

static bool append_pair(struct zeta_replay_copying *copying, int mapping, int key, int value)
{
    if (!key || !value || !yaml_document_append_mapping_pair(&copying->to, mapping, key, value))
        copying->failed = true;
    return !copying->failed;
}

static int add_scalar(struct zeta_replay_copying *copying, const char *text)
{
    return yaml_document_add_scalar(&copying->to, NULL, (const yaml_char_t *)text,
                                    (int)strlen(text), YAML_PLAIN_SCALAR_STYLE);
}

static int list_of_one(struct zeta_replay_copying *copying, const char *text)
{
    const int list = yaml_document_add_sequence(&copying->to, NULL, YAML_FLOW_SEQUENCE_STYLE);
    const int item = add_scalar(copying, text);

    if (!list || !item || !yaml_document_append_sequence_item(&copying->to, list, item))
        copying->failed = true;
    return list;
}

/* The members of a definition's kind that it does not have itself. */
static void append_kind(struct merging *merging, const yaml_node_t *definition, int made)
{
    struct zeta_replay_copying *copying = &merging->copying;
    const char *name = zeta_replay_node_text(copying->from, definition, "kind");
    const yaml_node_t *kind =
        name ? zeta_replay_node_member(copying->from, merging->kinds, name) : NULL;

    if (!kind || kind->type != YAML_MAPPING_NODE)
        return;
    for (const yaml_node_pair_t *pair = kind->data.mapping.pairs.start;
         pair < kind->data.mapping.pairs.top && !copying->failed; pair++) {
        const yaml_node_t *key = yaml_document_get_node(copying->from, pair->key);
        const char *text = zeta_replay_node_scalar(key);

        if (text && !zeta_replay_node_member(copying->from, definition, text))
            (void)append_pair(copying, made, zeta_replay_node_copy(copying, key, 1),
                              zeta_replay_node_copy(
                                  copying, yaml_document_get_node(copying->from, pair->value), 1));
    }
}

/* A copy of a metric's definition without its kind, which only its own file knows. */
static int copy_metric(struct merging *merging, const yaml_node_t *metric)
{
    struct zeta_replay_copying *copying = &merging->copying;
    int made;

    if (!metric || metric->type != YAML_MAPPING_NODE)
        return zeta_replay_node_copy(copying, metric, 1);
    made = yaml_document_add_mapping(&copying->to, NULL, YAML_BLOCK_MAPPING_STYLE);
    for (const yaml_node_pair_t *pair = metric->data.mapping.pairs.start;
         made && pair < metric->data.mapping.pairs.top && !copying->failed; pair++) {
        const yaml_node_t *key = yaml_document_get_node(copying->from, pair->key);
        const char *text = zeta_replay_node_scalar(key);

        if (!text || strcmp(text, "kind") != 0)
            (void)append_pair(copying, made, zeta_replay_node_copy(copying, key, 1),
                              zeta_replay_node_copy(
                                  copying, yaml_document_get_node(copying->from, pair->value), 1));
    }
    if (made)
        append_kind(merging, metric, made);
    return made;
}

static int copy_metrics(struct merging *merging, const yaml_node_t *metrics)
{
    struct zeta_replay_copying *copying = &merging->copying;
    const int made = yaml_document_add_sequence(&copying->to, NULL, YAML_BLOCK_SEQUENCE_STYLE);

    for (uint32_t i = 0; made && i < length_of(metrics) && !copying->failed; i++) {
        const int metric = copy_metric(
            merging, yaml_document_get_node(copying->from, metrics->data.sequence.items.start[i]));

        if (!metric || !yaml_document_append_sequence_item(&copying->to, made, metric))
            copying->failed = true;
    }
    return made;
}

/* Appends one part of a file to the same part of the files before. */
static void merge_part(struct merging *merging, const yaml_node_t *part, int target)
{
    struct zeta_replay_copying *copying = &merging->copying;
    const bool is_mapping = part->type == YAML_MAPPING_NODE;
    const size_t count =
        is_mapping ? (size_t)(part->data.mapping.pairs.top - part->data.mapping.pairs.start)
                   : length_of(part);

    for (size_t i = 0; i < count && !copying->failed; i++) {
        const int first =
            is_mapping ? part->data.mapping.pairs.start[i].key : part->data.sequence.items.start[i];
        const int key =
            zeta_replay_node_copy(copying, yaml_document_get_node(copying->from, first), 1);
        int value = 0;

        if (is_mapping)
            value = copy_metric(
                merging,
                yaml_document_get_node(copying->from, part->data.mapping.pairs.start[i].value));
        if (is_mapping ? !yaml_document_append_mapping_pair(&copying->to, target, key, value)
                       : !yaml_document_append_sequence_item(&copying->to, target, key))
            copying->failed = true;
    }
}

/* The values of an index: "A..B", "A..B by S", or a list. False: value `at` cannot be read. */
static bool index_value(yaml_document_t *document, const yaml_node_t *values, uint32_t at,
                        char *out_text, size_t size)
{
    const char *text = zeta_replay_node_scalar(values);
    int first, last, step = 1;

    if (values->type == YAML_SEQUENCE_NODE) {
        text = at < length_of(values) ? zeta_replay_node_scalar(yaml_document_get_node(
                                            document, values->data.sequence.items.start[at]))
                                      : NULL;
        return text && snprintf(out_text, size, "%s", text) < (int)size;
    }
    if (!text || sscanf(text, "%d..%d by %d", &first, &last, &step) < 2)
        return false;
    (void)snprintf(out_text, size, "%d", first + (last < first ? -step : step) * (int)at);
    return true;
}

/* "for" of a set over an index: with the one value that the uuid is of. */
static int copy_index(struct merging *merging, const yaml_node_t *over, uint32_t at)
{
    struct zeta_replay_copying *copying = &merging->copying;
    const int made = yaml_document_add_mapping(&copying->to, NULL, YAML_BLOCK_MAPPING_STYLE);
    const yaml_node_pair_t *pair = over->data.mapping.pairs.start;
    char value[16];

    if (!made || over->type != YAML_MAPPING_NODE || pair == over->data.mapping.pairs.top ||
        !index_value(copying->from, yaml_document_get_node(copying->from, pair->value), at, value,
                     sizeof(value))) {
        copying->failed = true;
        return 0;
    }
    (void)append_pair(
        copying, made,
        zeta_replay_node_copy(copying, yaml_document_get_node(copying->from, pair->key), 1),
        list_of_one(copying, value));
    return made;
}

/*
 * The set without its twins on other units, and without a program: what was recorded is of one
 * unit, and no register is written. Of a set over an index it is the one with the uuid at a place
 * of its list.
 */
static void merge_set(struct merging *merging, const yaml_node_t *set, uint32_t at)
{
    struct zeta_replay_copying *copying = &merging->copying;
    const bool is_one_of_many = zeta_replay_node_member(copying->from, set, "for") != NULL;
    const int made = yaml_document_add_mapping(&copying->to, NULL, YAML_BLOCK_MAPPING_STYLE);

    for (const yaml_node_pair_t *pair = set->data.mapping.pairs.start;
         made && pair < set->data.mapping.pairs.top && !copying->failed; pair++) {
        const yaml_node_t *key = yaml_document_get_node(copying->from, pair->key);
        const yaml_node_t *value = yaml_document_get_node(copying->from, pair->value);
        const char *name = zeta_replay_node_scalar(key);
        int copy;

        if (!name || strcmp(name, "also") == 0 || strcmp(name, "kind") == 0 ||
            strcmp(name, "program") == 0)
            continue;
        if (strcmp(name, "metrics") == 0 && value->type == YAML_SEQUENCE_NODE)
            copy = copy_metrics(merging, value);
        else if (strcmp(name, "for") == 0)
            copy = copy_index(merging, value, at);
        else if (is_one_of_many && strcmp(name, "uuid") == 0)
            copy = list_of_one(copying, merging->uuid);
        else if (is_one_of_many && strcmp(name, "name") == 0)
            copy = add_scalar(copying, merging->name);
        else
            copy = zeta_replay_node_copy(copying, value, 1);
        (void)append_pair(copying, made, zeta_replay_node_copy(copying, key, 1), copy);
    }
    if (made)
        append_kind(merging, set, made);
    (void)append_pair(copying, made, add_scalar(copying, "program"),
                      yaml_document_add_sequence(&copying->to, NULL, YAML_FLOW_SEQUENCE_STYLE));
    merging->set = made;
}

/* Where a set has the uuid: 0, or the place in its list; UINT32_MAX: nowhere. */
static uint32_t place_of_uuid(yaml_document_t *document, const yaml_node_t *uuid,
                              const char *wanted)
{
    const char *text = zeta_replay_node_scalar(uuid);

    if (text)
        return strcasecmp(text, wanted) == 0 ? 0 : UINT32_MAX;
    for (uint32_t i = 0; uuid && uuid->type == YAML_SEQUENCE_NODE && i < length_of(uuid); i++) {
        text = zeta_replay_node_scalar(
            yaml_document_get_node(document, uuid->data.sequence.items.start[i]));
        if (text && strcasecmp(text, wanted) == 0)
            return i;
    }
    return UINT32_MAX;
}

static void merge_sets(struct merging *merging, const yaml_node_t *sets)
{
    yaml_document_t *from = merging->copying.from;

    for (uint32_t i = 0; merging->set == 0 && i < length_of(sets); i++) {
        const yaml_node_t *set = yaml_document_get_node(from, sets->data.sequence.items.start[i]);
        const uint32_t at =
            place_of_uuid(from, zeta_replay_node_member(from, set, "uuid"), merging->uuid);

        if (at != UINT32_MAX)
            merge_set(merging, set, at);
    }
}

/* Files that cannot be read are left out; what then is missing is found by who reads the text. */
static void merge_file(struct merging *merging, const char *path)
{
    yaml_document_t document;
    const yaml_node_t *root, *sets;

    if (merging->copying.failed || !read_document(path, &document))
        return;
    merging->copying.from = &document;
    root = yaml_document_get_root_node(&document);
    merging->kinds = zeta_replay_node_member(&document, root, "kinds");
    for (uint32_t i = 0; i < PARTS; i++) {
        const yaml_node_t *part = zeta_replay_node_member(&document, root, part_names[i]);
        const yaml_node_type_t type = i == LAYOUTS ? YAML_SEQUENCE_NODE : YAML_MAPPING_NODE;

        if (part && part->type == type)
            merge_part(merging, part, merging->parts[i]);
    }
    sets = zeta_replay_node_member(&document, root, "sets");
    if (sets && sets->type == YAML_SEQUENCE_NODE)
        merge_sets(merging, sets);
    yaml_document_delete(&document);
}

static bool put_pair(yaml_document_t *document, int root, const char *key, int value)
{
    const int name = yaml_document_add_scalar(document, NULL, (const yaml_char_t *)key,
                                              (int)strlen(key), YAML_PLAIN_SCALAR_STYLE);

    return name && value && yaml_document_append_mapping_pair(document, root, name, value);
}

/* The head of the text: its format, and places for its parts. */
static bool begin_text(struct merging *merging, int *out_root)
{
    yaml_document_t *to = &merging->copying.to;
    int format;

    *out_root = yaml_document_add_mapping(to, NULL, YAML_BLOCK_MAPPING_STYLE);
    format =
        yaml_document_add_scalar(to, NULL, (const yaml_char_t *)"2", 1, YAML_PLAIN_SCALAR_STYLE);
    if (!*out_root || !put_pair(to, *out_root, "format", format))
        return false;
    for (uint32_t i = 0; i < PARTS; i++) {
        merging->parts[i] = i == LAYOUTS
                                ? yaml_document_add_sequence(to, NULL, YAML_BLOCK_SEQUENCE_STYLE)
                                : yaml_document_add_mapping(to, NULL, YAML_BLOCK_MAPPING_STYLE);
        if (!put_pair(to, *out_root, part_names[i], merging->parts[i]))
            return false;
    }
    return true;
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
    yaml_document_t *to = &merging->copying.to;
    const int sets = yaml_document_add_sequence(to, NULL, YAML_BLOCK_SEQUENCE_STYLE);

    if (merging->copying.failed || !sets ||
        !yaml_document_append_sequence_item(to, sets, merging->set) ||
        !put_pair(to, root, "sets", sets)) {
        yaml_document_delete(to);
        return false;
    }
    return zeta_replay_document_emit(to, output);
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
