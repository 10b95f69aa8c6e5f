/* What the keys of platform files mean. A wrong report format would give wrong numbers. */
#include <zeta/intel_gpu.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/file.h>

#include "sdk/lib/intel/strict_yaml.h"

enum {
    MAX_PLATFORMS = 256,
    MAX_IDS = 1024,
    MAX_SETS = 64,
    MAX_SYMBOLS = 64,
    MAX_RECORD_BYTES = 640,
    MAX_FILE_BYTES = 1 << 20
};

/* ---- report formats ----------------------------------------------------------------------- */

static bool read_i915(struct zeta_intel_yaml *yaml, yaml_node_t *node, void *target)
{
    return zeta_intel_yaml_u32(yaml, node, 255, &((struct zeta_intel_format *)target)->i915);
}

static bool read_xe(struct zeta_intel_yaml *yaml, yaml_node_t *node, void *target)
{
    struct zeta_intel_format *format = target;

    format->has_xe = true;
    return zeta_intel_yaml_u32(yaml, node, UINT32_MAX, &format->xe);
}

static bool read_record(struct zeta_intel_yaml *yaml, yaml_node_t *node, void *target)
{
    struct zeta_intel_format *format = target;

    if (!zeta_intel_yaml_u32(yaml, node, MAX_RECORD_BYTES, &format->record_bytes))
        return false;
    if (format->record_bytes < 64 || format->record_bytes % 64 != 0)
        return zeta_intel_yaml_fail(yaml, node, "reports have a multiple of 64 bytes, not %u",
                                    format->record_bytes);
    return true;
}

static bool read_words(struct zeta_intel_yaml *yaml, yaml_node_t *node, void *target)
{
    uint32_t bits;

    if (!zeta_intel_yaml_u32(yaml, node, 64, &bits))
        return false;
    ((struct zeta_intel_format *)target)->is_wide = bits == 64;
    return bits == 32 || bits == 64 ||
           zeta_intel_yaml_fail(yaml, node, "words of a header have 32 or 64 bits, not %u", bits);
}

static bool read_clock_bits(struct zeta_intel_yaml *yaml, yaml_node_t *node, void *target)
{
    return zeta_intel_yaml_u32(yaml, node, UINT32_MAX,
                               &((struct zeta_intel_format *)target)->clock_bits);
}

static bool read_format(struct zeta_intel_yaml *yaml, yaml_node_t *node,
                        struct zeta_intel_format *format)
{
    static const struct zeta_intel_yaml_key keys[] = {{"i915", read_i915, false},
                                                      {"xe", read_xe, false},
                                                      {"record", read_record, true},
                                                      {"words", read_words, false},
                                                      {"clock_bits", read_clock_bits, false}};

    return zeta_intel_yaml_mapping(yaml, node, keys, 5, format);
}

static bool read_oag(struct zeta_intel_yaml *yaml, yaml_node_t *node, void *target)
{
    return read_format(yaml, node, (struct zeta_intel_format *)target + ZETA_INTEL_OAG);
}

static bool read_oam(struct zeta_intel_yaml *yaml, yaml_node_t *node, void *target)
{
    return read_format(yaml, node, (struct zeta_intel_format *)target + ZETA_INTEL_OAM);
}

static bool read_oam_sag(struct zeta_intel_yaml *yaml, yaml_node_t *node, void *target)
{
    return read_format(yaml, node, (struct zeta_intel_format *)target + ZETA_INTEL_OAM_SAG);
}

static bool read_mert(struct zeta_intel_yaml *yaml, yaml_node_t *node, void *target)
{
    return read_format(yaml, node, (struct zeta_intel_format *)target + ZETA_INTEL_MERT);
}

static bool read_units(struct zeta_intel_yaml *yaml, yaml_node_t *node, void *target)
{
    static const struct zeta_intel_yaml_key keys[] = {{"oag", read_oag, true},
                                                      {"oam", read_oam, false},
                                                      {"oam-sag", read_oam_sag, false},
                                                      {"mert", read_mert, false}};

    return zeta_intel_yaml_mapping(yaml, node, keys, 4,
                                   ((struct zeta_intel_platform *)target)->formats);
}

/* ---- platforms ---------------------------------------------------------------------------- */

/* Beside the platform file, or in the folder that generations share. */
static bool is_file_of_data(const char *name)
{
    if (strncmp(name, "intel/", 6) == 0)
        name += 6;
    return name[0] != '\0' && name[0] != '.' && !strchr(name, '/');
}

static bool read_file_name(struct zeta_intel_yaml *yaml, const yaml_node_t *node, char *out_name,
                           size_t bytes)
{
    if (!zeta_intel_yaml_text(yaml, node, out_name, bytes))
        return false;
    return is_file_of_data(out_name) ||
           zeta_intel_yaml_fail(yaml, node,
                                "'%.60s' should be the name of a file beside this one, or "
                                "intel/NAME of one that generations share",
                                out_name);
}

static bool read_name(struct zeta_intel_yaml *yaml, yaml_node_t *node, void *target)
{
    struct zeta_intel_platform *platform = target;

    return zeta_intel_yaml_text(yaml, node, platform->name, sizeof(platform->name));
}

static bool read_id(struct zeta_intel_yaml *yaml, yaml_node_t *node, void *target)
{
    struct zeta_intel_platform *platform = target;

    return read_file_name(yaml, node, platform->id, sizeof(platform->id));
}

/* "12.55" is 1255, "9" is 900: two digits behind the point, of which zeros may be left out. */
static bool read_graphics(struct zeta_intel_yaml *yaml, yaml_node_t *node, void *target)
{
    struct zeta_intel_platform *platform = target;
    unsigned major_part, minor_part = 0;
    char minor_text[8] = "0", extra;
    int found;

    if (!zeta_intel_yaml_expect(yaml, node, YAML_SCALAR_NODE))
        return false;
    found = sscanf(zeta_intel_yaml_value(node), "%3u.%2[0-9]%c", &major_part, minor_text, &extra);
    if (found < 1 || found > 2 || (found == 1 && strchr(zeta_intel_yaml_value(node), '.')) ||
        zeta_intel_yaml_value(node)[0] < '0' || zeta_intel_yaml_value(node)[0] > '9' ||
        major_part > 99 ||
        strspn(zeta_intel_yaml_value(node), "0123456789.") != node->data.scalar.length)
        return zeta_intel_yaml_fail(yaml, node, "'%.40s' should be a version such as 12.55",
                                    zeta_intel_yaml_value(node));
    minor_part = (unsigned)strtoul(minor_text, NULL, 10);
    if (minor_text[1] == '\0')
        minor_part *= 10;
    platform->graphics = major_part * 100 + minor_part;
    return true;
}

static bool read_pci(struct zeta_intel_yaml *yaml, yaml_node_t *node, void *target)
{
    struct zeta_intel_platform *platform = target;

    if (!zeta_intel_yaml_list(yaml, node, MAX_IDS))
        return false;
    platform->pci = calloc(zeta_intel_yaml_length(node) + 1, sizeof(*platform->pci));
    if (!platform->pci)
        return zeta_intel_yaml_fail_memory(yaml);
    for (; platform->pci_count < zeta_intel_yaml_length(node); platform->pci_count++) {
        if (!zeta_intel_yaml_u32(yaml, zeta_intel_yaml_item(yaml, node, platform->pci_count),
                                 0xffff, &platform->pci[platform->pci_count]))
            return false;
    }
    return platform->pci_count > 0 ||
           zeta_intel_yaml_fail(yaml, node, "a platform has at least one PCI id");
}

static bool read_integrated(struct zeta_intel_yaml *yaml, yaml_node_t *node, void *target)
{
    struct zeta_intel_platform *platform = target;

    if (!zeta_intel_yaml_expect(yaml, node, YAML_SCALAR_NODE))
        return false;
    platform->integrated = strcmp(zeta_intel_yaml_value(node), "true") == 0;
    return platform->integrated || strcmp(zeta_intel_yaml_value(node), "false") == 0 ||
           zeta_intel_yaml_fail(yaml, node, "'%.40s' should be true or false",
                                zeta_intel_yaml_value(node));
}

static bool read_drivers(struct zeta_intel_yaml *yaml, yaml_node_t *node, void *target)
{
    struct zeta_intel_platform *platform = target;

    if (!zeta_intel_yaml_list(yaml, node, 2))
        return false;
    for (uint32_t i = 0; i < zeta_intel_yaml_length(node); i++) {
        const yaml_node_t *item = zeta_intel_yaml_item(yaml, node, i);

        if (!zeta_intel_yaml_expect(yaml, item, YAML_SCALAR_NODE))
            return false;
        if (strcmp(zeta_intel_yaml_value(item), "i915") == 0)
            platform->has_i915 = true;
        else if (strcmp(zeta_intel_yaml_value(item), "xe") == 0)
            platform->has_xe = true;
        else
            return zeta_intel_yaml_fail(yaml, item, "kernel drivers are i915 and xe, not '%.40s'",
                                        zeta_intel_yaml_value(item));
    }
    return true;
}

static bool read_threads(struct zeta_intel_yaml *yaml, yaml_node_t *node, void *target)
{
    return zeta_intel_yaml_u32(yaml, node, 64,
                               &((struct zeta_intel_platform *)target)->threads_per_eu);
}

static bool read_simd_width(struct zeta_intel_yaml *yaml, yaml_node_t *node, void *target)
{
    return zeta_intel_yaml_u32(yaml, node, 64, &((struct zeta_intel_platform *)target)->simd_width);
}

static bool read_subslice_bits(struct zeta_intel_yaml *yaml, yaml_node_t *node, void *target)
{
    return zeta_intel_yaml_u32(yaml, node, 32,
                               &((struct zeta_intel_platform *)target)->subslice_bits);
}

static bool read_subslices(struct zeta_intel_yaml *yaml, yaml_node_t *node, void *target)
{
    return zeta_intel_yaml_u32(yaml, node, 32,
                               &((struct zeta_intel_platform *)target)->subslices_per_slice);
}

static bool read_banks(struct zeta_intel_yaml *yaml, yaml_node_t *node, void *target)
{
    return zeta_intel_yaml_u32(yaml, node, 64,
                               &((struct zeta_intel_platform *)target)->l3_banks_per_node);
}

/* Names of files; as many as were read count, also when the list is wrong. */
static bool read_sets(struct zeta_intel_yaml *yaml, yaml_node_t *node, void *target)
{
    struct zeta_intel_platform *platform = target;

    if (!zeta_intel_yaml_list(yaml, node, MAX_SETS))
        return false;
    platform->sets = calloc(zeta_intel_yaml_length(node) + 1, sizeof(*platform->sets));
    if (!platform->sets)
        return zeta_intel_yaml_fail_memory(yaml);
    for (uint32_t i = 0; i < zeta_intel_yaml_length(node); i++) {
        char name[128];

        if (!read_file_name(yaml, zeta_intel_yaml_item(yaml, node, i), name, sizeof(name)))
            return false;
        platform->sets[i] = strdup(name);
        if (!platform->sets[i])
            return zeta_intel_yaml_fail_memory(yaml);
        platform->set_count++;
    }
    return true;
}

static bool read_symbols(struct zeta_intel_yaml *yaml, yaml_node_t *node, void *target)
{
    struct zeta_intel_platform *platform = target;
    uint32_t count;

    if (!zeta_intel_yaml_expect(yaml, node, YAML_MAPPING_NODE))
        return false;
    count = (uint32_t)(node->data.mapping.pairs.top - node->data.mapping.pairs.start);
    if (count > MAX_SYMBOLS)
        return zeta_intel_yaml_fail(yaml, node, "there are more than %d symbols", MAX_SYMBOLS);
    platform->symbols = calloc(count + 1, sizeof(*platform->symbols));
    if (!platform->symbols)
        return zeta_intel_yaml_fail_memory(yaml);
    for (; platform->symbol_count < count; platform->symbol_count++) {
        const yaml_node_pair_t *pair = &node->data.mapping.pairs.start[platform->symbol_count];
        struct zeta_intel_platform_symbol *symbol = &platform->symbols[platform->symbol_count];

        if (!zeta_intel_yaml_text(yaml, yaml_document_get_node(&yaml->document, pair->key),
                                  symbol->name, sizeof(symbol->name)) ||
            !zeta_intel_yaml_u64(yaml, yaml_document_get_node(&yaml->document, pair->value),
                                 UINT64_MAX, &symbol->value))
            return false;
    }
    return true;
}

static bool read_platform(struct zeta_intel_yaml *yaml, const yaml_node_t *node,
                          struct zeta_intel_platform *platform)
{
    static const struct zeta_intel_yaml_key keys[] = {
        {"name", read_name, true},
        {"id", read_id, true},
        {"graphics", read_graphics, true},
        {"pci", read_pci, true},
        {"integrated", read_integrated, false},
        {"drivers", read_drivers, true},
        {"threads_per_eu", read_threads, true},
        {"simd_width", read_simd_width, false},
        {"subslice_bits", read_subslice_bits, false},
        {"subslices_per_slice", read_subslices, false},
        {"l3_banks_per_node", read_banks, false},
        {"sets", read_sets, true},
        {"units", read_units, true},
        {"symbols", read_symbols, false},
    };

    return zeta_intel_yaml_mapping(yaml, node, keys, sizeof(keys) / sizeof(keys[0]), platform);
}

/* A GPU is of one platform: the same id twice is a mistake. */
static bool check_ids(struct zeta_intel_yaml *yaml, const yaml_node_t *node,
                      const struct zeta_intel_platforms *platforms)
{
    const struct zeta_intel_platform *last = &platforms->items[platforms->count - 1];
    const struct zeta_intel_platforms before = {platforms->items, platforms->count - 1};

    for (uint32_t i = 0; i < last->pci_count; i++) {
        const struct zeta_intel_platform *other = zeta_intel_platform_find(&before, last->pci[i]);

        if (other)
            return zeta_intel_yaml_fail(yaml, node, "PCI id 0x%04x is of two platforms: %s and %s",
                                        last->pci[i], other->id, last->id);
    }
    return true;
}

static bool read_list(struct zeta_intel_yaml *yaml, yaml_node_t *node, void *target)
{
    struct zeta_intel_platforms *platforms = target;

    if (!zeta_intel_yaml_list(yaml, node, MAX_PLATFORMS))
        return false;
    platforms->items = calloc(zeta_intel_yaml_length(node) + 1, sizeof(*platforms->items));
    if (!platforms->items)
        return zeta_intel_yaml_fail_memory(yaml);
    for (uint32_t i = 0; i < zeta_intel_yaml_length(node); i++) {
        const yaml_node_t *item = zeta_intel_yaml_item(yaml, node, i);

        platforms->count++;
        if (!read_platform(yaml, item, &platforms->items[i]) || !check_ids(yaml, item, platforms))
            return false;
    }
    return true;
}

static bool read_version(struct zeta_intel_yaml *yaml, yaml_node_t *node, void *target)
{
    uint32_t version;

    (void)target;
    if (!zeta_intel_yaml_u32(yaml, node, UINT32_MAX, &version))
        return false;
    return version == 1 ||
           zeta_intel_yaml_fail(yaml, node, "this is format %u, and only format 1 is known here",
                                version);
}

/* ---- files -------------------------------------------------------------------------------- */

bool zeta_intel_platforms_parse(const char *path, const char *text, size_t bytes,
                                struct zeta_intel_platforms *out_platforms, char *out_problem,
                                uint32_t problem_bytes)
{
    static const struct zeta_intel_yaml_key keys[] = {{"format", read_version, true},
                                                      {"platforms", read_list, true}};

    *out_platforms = (struct zeta_intel_platforms){NULL, 0};
    if (bytes > MAX_FILE_BYTES) {
        (void)snprintf(out_problem, problem_bytes, "%s:1: it has more than %d bytes", path,
                       MAX_FILE_BYTES);
        return false;
    }
    return zeta_intel_yaml_read(path, text, bytes, keys, 2, out_platforms, out_problem,
                                problem_bytes);
}

bool zeta_intel_platforms_read(const char *path, struct zeta_intel_platforms *out_platforms,
                               char *out_problem, uint32_t problem_bytes)
{
    uint64_t bytes = 0;
    char *text = zeta_file_read(path, MAX_FILE_BYTES, &bytes);
    bool good;

    *out_platforms = (struct zeta_intel_platforms){NULL, 0};
    if (!text) {
        (void)snprintf(out_problem, problem_bytes, "the platform file %s cannot be read: %s", path,
                       strerrordesc_np(errno));
        return false;
    }
    good = zeta_intel_platforms_parse(path, text, bytes, out_platforms, out_problem, problem_bytes);
    free(text);
    return good;
}
