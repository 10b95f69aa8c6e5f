/*
 * Reading of platform files. Strict: what is not understood is a mistake, because a wrong format of
 * reports would give wrong numbers.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include <zeta/file.h>

#include "platform.h"
#include "platform_file.h"

enum {
    MAX_PLATFORMS = 256,
    MAX_IDS = 1024,
    MAX_SETS = 64,
    MAX_SYMBOLS = 64,
    MAX_RECORD_BYTES = 640,
    MAX_FILE_BYTES = 1 << 20
};

struct reader {
    const char *path;
    yaml_document_t document;
    char *problem;
    uint32_t problem_bytes;
};

/* How a key of a mapping is read; false after a problem was noted. */
struct key {
    const char *name;
    bool (*read)(struct reader *reader, yaml_node_t *node, void *target);
    bool is_required;
};

/* Writes "file:line: text"; always false. */
__attribute__((format(printf, 3, 4))) static bool
fail(struct reader *reader, const yaml_node_t *node, const char *format, ...)
{
    const unsigned long line = node ? (unsigned long)node->start_mark.line + 1 : 1;
    char text[400];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    (void)snprintf(reader->problem, reader->problem_bytes, "%s:%lu: %s", reader->path, line, text);
    return false;
}

static bool fail_memory(struct reader *reader)
{
    return fail(reader, NULL, "there is no memory to read it");
}

static const char *text_of(const yaml_node_t *node)
{
    return (const char *)node->data.scalar.value;
}

/* ---- values ------------------------------------------------------------------------------- */

static bool expect(struct reader *reader, const yaml_node_t *node, yaml_node_type_t type)
{
    static const char *const names[] = {
        [YAML_SCALAR_NODE] = "a value",
        [YAML_SEQUENCE_NODE] = "a list, such as [a, b]",
        [YAML_MAPPING_NODE] = "a mapping, such as {key: value}",
    };

    if (node->type == type)
        return true;
    return fail(reader, node, "this should be %s", names[type]);
}

static bool read_number(struct reader *reader, const yaml_node_t *node, uint64_t most,
                        uint64_t *out_number)
{
    const char *text;
    char *end;

    if (!expect(reader, node, YAML_SCALAR_NODE))
        return false;
    text = text_of(node);
    errno = 0;
    *out_number = strtoull(text, &end, 0);
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && *out_number <= most &&
        strlen(text) == node->data.scalar.length)
        return true;
    return fail(reader, node, "'%.40s' should be a whole number from 0 to %llu", text,
                (unsigned long long)most);
}

static bool read_u32(struct reader *reader, const yaml_node_t *node, uint32_t most,
                     uint32_t *out_number)
{
    uint64_t number;

    if (!read_number(reader, node, most, &number))
        return false;
    *out_number = (uint32_t)number;
    return true;
}

/* A text of 1 to bytes - 1 bytes without control characters; of a name also without slashes. */
/* Beside the platform file, or in the folder that generations share. */
static bool is_file_of_data(const char *name)
{
    if (strncmp(name, "intel/", 6) == 0)
        name += 6;
    return name[0] != '\0' && name[0] != '.' && !strchr(name, '/');
}

static bool read_text(struct reader *reader, const yaml_node_t *node, bool is_file_name,
                      char *out_text, size_t bytes)
{
    size_t length;

    if (!expect(reader, node, YAML_SCALAR_NODE))
        return false;
    length = node->data.scalar.length;
    if (length == 0 || length >= bytes)
        return fail(reader, node, "this should have 1 to %zu bytes", bytes - 1);
    for (size_t i = 0; i < length; i++) {
        if (node->data.scalar.value[i] < ' ')
            return fail(reader, node, "there is a control character in this text");
    }
    if (is_file_name && !is_file_of_data(text_of(node)))
        return fail(
            reader, node,
            "'%.60s' should be the name of a file beside this one, or intel/NAME of one that "
            "generations share",
            text_of(node));
    memcpy(out_text, text_of(node), length);
    out_text[length] = '\0';
    return true;
}

static uint32_t list_length(const yaml_node_t *node)
{
    return (uint32_t)(node->data.sequence.items.top - node->data.sequence.items.start);
}

static yaml_node_t *list_item(struct reader *reader, const yaml_node_t *node, uint32_t index)
{
    return yaml_document_get_node(&reader->document, node->data.sequence.items.start[index]);
}

static bool expect_list(struct reader *reader, const yaml_node_t *node, uint32_t most)
{
    if (!expect(reader, node, YAML_SEQUENCE_NODE))
        return false;
    if (list_length(node) > most)
        return fail(reader, node, "this list has more than %u entries", most);
    return true;
}

/* ---- mappings ----------------------------------------------------------------------------- */

static const struct key *find_key(const struct key *keys, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(keys[i].name, name) == 0)
            return &keys[i];
    }
    return NULL;
}

/* Reads every pair by its key; each at most once, none that is unknown, none missing. */
static bool read_mapping(struct reader *reader, const yaml_node_t *node, const struct key *keys,
                         uint32_t count, void *target)
{
    uint32_t seen = 0;

    if (!expect(reader, node, YAML_MAPPING_NODE))
        return false;
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++) {
        yaml_node_t *name = yaml_document_get_node(&reader->document, pair->key);
        yaml_node_t *value = yaml_document_get_node(&reader->document, pair->value);
        const struct key *key;

        if (!expect(reader, name, YAML_SCALAR_NODE))
            return false;
        key = find_key(keys, count, text_of(name));
        if (!key)
            return fail(reader, name, "key '%.60s' is unknown here", text_of(name));
        if (seen & (1u << (key - keys)))
            return fail(reader, name, "key '%s' is here twice", key->name);
        seen |= 1u << (key - keys);
        if (!key->read(reader, value, target))
            return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (keys[i].is_required && (seen & (1u << i)) == 0)
            return fail(reader, node, "key '%s' is missing", keys[i].name);
    }
    return true;
}

/* ---- report formats ----------------------------------------------------------------------- */

static bool read_i915(struct reader *reader, yaml_node_t *node, void *target)
{
    return read_u32(reader, node, 255, &((struct zeta_intel_format *)target)->i915);
}

static bool read_xe(struct reader *reader, yaml_node_t *node, void *target)
{
    struct zeta_intel_format *format = target;

    format->has_xe = true;
    return read_u32(reader, node, UINT32_MAX, &format->xe);
}

static bool read_record(struct reader *reader, yaml_node_t *node, void *target)
{
    struct zeta_intel_format *format = target;

    if (!read_u32(reader, node, MAX_RECORD_BYTES, &format->record_bytes))
        return false;
    if (format->record_bytes < 64 || format->record_bytes % 64 != 0)
        return fail(reader, node, "reports have a multiple of 64 bytes, not %u",
                    format->record_bytes);
    return true;
}

static bool read_words(struct reader *reader, yaml_node_t *node, void *target)
{
    uint32_t bits;

    if (!read_u32(reader, node, 64, &bits))
        return false;
    ((struct zeta_intel_format *)target)->is_wide = bits == 64;
    return bits == 32 || bits == 64 ||
           fail(reader, node, "words of a header have 32 or 64 bits, not %u", bits);
}

static bool read_clock_bits(struct reader *reader, yaml_node_t *node, void *target)
{
    return read_u32(reader, node, UINT32_MAX, &((struct zeta_intel_format *)target)->clock_bits);
}

static bool read_format(struct reader *reader, yaml_node_t *node, struct zeta_intel_format *format)
{
    static const struct key keys[] = {{"i915", read_i915, false},
                                      {"xe", read_xe, false},
                                      {"record", read_record, true},
                                      {"words", read_words, false},
                                      {"clock_bits", read_clock_bits, false}};

    return read_mapping(reader, node, keys, 5, format);
}

static bool read_oag(struct reader *reader, yaml_node_t *node, void *target)
{
    return read_format(reader, node, (struct zeta_intel_format *)target + ZETA_INTEL_OAG);
}

static bool read_oam(struct reader *reader, yaml_node_t *node, void *target)
{
    return read_format(reader, node, (struct zeta_intel_format *)target + ZETA_INTEL_OAM);
}

static bool read_oam_sag(struct reader *reader, yaml_node_t *node, void *target)
{
    return read_format(reader, node, (struct zeta_intel_format *)target + ZETA_INTEL_OAM_SAG);
}

static bool read_mert(struct reader *reader, yaml_node_t *node, void *target)
{
    return read_format(reader, node, (struct zeta_intel_format *)target + ZETA_INTEL_MERT);
}

static bool read_units(struct reader *reader, yaml_node_t *node, void *target)
{
    static const struct key keys[] = {{"oag", read_oag, true},
                                      {"oam", read_oam, false},
                                      {"oam-sag", read_oam_sag, false},
                                      {"mert", read_mert, false}};

    return read_mapping(reader, node, keys, 4, ((struct zeta_intel_platform *)target)->formats);
}

/* ---- platforms ---------------------------------------------------------------------------- */

static bool read_name(struct reader *reader, yaml_node_t *node, void *target)
{
    struct zeta_intel_platform *platform = target;

    return read_text(reader, node, false, platform->name, sizeof(platform->name));
}

static bool read_id(struct reader *reader, yaml_node_t *node, void *target)
{
    struct zeta_intel_platform *platform = target;

    return read_text(reader, node, true, platform->id, sizeof(platform->id));
}

/* "12.55" is 1255, "9" is 900: two digits behind the point, of which zeros may be left out. */
static bool read_graphics(struct reader *reader, yaml_node_t *node, void *target)
{
    struct zeta_intel_platform *platform = target;
    unsigned major_part, minor_part = 0;
    char minor_text[8] = "0", extra;
    int found;

    if (!expect(reader, node, YAML_SCALAR_NODE))
        return false;
    found = sscanf(text_of(node), "%3u.%2[0-9]%c", &major_part, minor_text, &extra);
    if (found < 1 || found > 2 || (found == 1 && strchr(text_of(node), '.')) ||
        text_of(node)[0] < '0' || text_of(node)[0] > '9' || major_part > 99 ||
        strspn(text_of(node), "0123456789.") != node->data.scalar.length)
        return fail(reader, node, "'%.40s' should be a version such as 12.55", text_of(node));
    minor_part = (unsigned)strtoul(minor_text, NULL, 10);
    if (minor_text[1] == '\0')
        minor_part *= 10;
    platform->graphics = major_part * 100 + minor_part;
    return true;
}

static bool read_pci(struct reader *reader, yaml_node_t *node, void *target)
{
    struct zeta_intel_platform *platform = target;

    if (!expect_list(reader, node, MAX_IDS))
        return false;
    platform->pci = calloc(list_length(node) + 1, sizeof(*platform->pci));
    if (!platform->pci)
        return fail_memory(reader);
    for (; platform->pci_count < list_length(node); platform->pci_count++) {
        if (!read_u32(reader, list_item(reader, node, platform->pci_count), 0xffff,
                      &platform->pci[platform->pci_count]))
            return false;
    }
    return platform->pci_count > 0 || fail(reader, node, "a platform has at least one PCI id");
}

static bool read_integrated(struct reader *reader, yaml_node_t *node, void *target)
{
    struct zeta_intel_platform *platform = target;

    if (!expect(reader, node, YAML_SCALAR_NODE))
        return false;
    platform->integrated = strcmp(text_of(node), "true") == 0;
    return platform->integrated || strcmp(text_of(node), "false") == 0 ||
           fail(reader, node, "'%.40s' should be true or false", text_of(node));
}

static bool read_drivers(struct reader *reader, yaml_node_t *node, void *target)
{
    struct zeta_intel_platform *platform = target;

    if (!expect_list(reader, node, 2))
        return false;
    for (uint32_t i = 0; i < list_length(node); i++) {
        const yaml_node_t *item = list_item(reader, node, i);

        if (!expect(reader, item, YAML_SCALAR_NODE))
            return false;
        if (strcmp(text_of(item), "i915") == 0)
            platform->has_i915 = true;
        else if (strcmp(text_of(item), "xe") == 0)
            platform->has_xe = true;
        else
            return fail(reader, item, "kernel drivers are i915 and xe, not '%.40s'", text_of(item));
    }
    return true;
}

static bool read_threads(struct reader *reader, yaml_node_t *node, void *target)
{
    return read_u32(reader, node, 64, &((struct zeta_intel_platform *)target)->threads_per_eu);
}

static bool read_simd_width(struct reader *reader, yaml_node_t *node, void *target)
{
    return read_u32(reader, node, 64, &((struct zeta_intel_platform *)target)->simd_width);
}

static bool read_subslice_bits(struct reader *reader, yaml_node_t *node, void *target)
{
    return read_u32(reader, node, 32, &((struct zeta_intel_platform *)target)->subslice_bits);
}

static bool read_subslices(struct reader *reader, yaml_node_t *node, void *target)
{
    return read_u32(reader, node, 32, &((struct zeta_intel_platform *)target)->subslices_per_slice);
}

static bool read_banks(struct reader *reader, yaml_node_t *node, void *target)
{
    return read_u32(reader, node, 64, &((struct zeta_intel_platform *)target)->l3_banks_per_node);
}

/* Names of files; as many as were read count, also when the list is wrong. */
static bool read_files(struct reader *reader, yaml_node_t *node, char ***out_files,
                       uint32_t *out_count)
{
    char **files;

    if (!expect_list(reader, node, MAX_SETS))
        return false;
    files = calloc(list_length(node) + 1, sizeof(*files));
    *out_files = files;
    if (!files)
        return fail_memory(reader);
    for (uint32_t i = 0; i < list_length(node); i++) {
        char name[128];

        if (!read_text(reader, list_item(reader, node, i), true, name, sizeof(name)))
            return false;
        files[i] = strdup(name);
        if (!files[i])
            return fail_memory(reader);
        ++*out_count;
    }
    return true;
}

static bool read_sets(struct reader *reader, yaml_node_t *node, void *target)
{
    struct zeta_intel_platform *platform = target;

    return read_files(reader, node, &platform->sets, &platform->set_count);
}

static bool read_more(struct reader *reader, yaml_node_t *node, void *target)
{
    struct zeta_intel_platform *platform = target;

    return read_files(reader, node, &platform->more, &platform->more_count);
}

static bool read_symbols(struct reader *reader, yaml_node_t *node, void *target)
{
    struct zeta_intel_platform *platform = target;
    uint32_t count;

    if (!expect(reader, node, YAML_MAPPING_NODE))
        return false;
    count = (uint32_t)(node->data.mapping.pairs.top - node->data.mapping.pairs.start);
    if (count > MAX_SYMBOLS)
        return fail(reader, node, "there are more than %d symbols", MAX_SYMBOLS);
    platform->symbols = calloc(count + 1, sizeof(*platform->symbols));
    if (!platform->symbols)
        return fail_memory(reader);
    for (; platform->symbol_count < count; platform->symbol_count++) {
        const yaml_node_pair_t *pair = &node->data.mapping.pairs.start[platform->symbol_count];
        struct zeta_intel_platform_symbol *symbol = &platform->symbols[platform->symbol_count];

        if (!read_text(reader, yaml_document_get_node(&reader->document, pair->key), false,
                       symbol->name, sizeof(symbol->name)) ||
            !read_number(reader, yaml_document_get_node(&reader->document, pair->value), UINT64_MAX,
                         &symbol->value))
            return false;
    }
    return true;
}

static bool read_platform(struct reader *reader, const yaml_node_t *node,
                          struct zeta_intel_platform *platform)
{
    static const struct key keys[] = {
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
        {"more", read_more, false},
        {"units", read_units, true},
        {"symbols", read_symbols, false},
    };

    return read_mapping(reader, node, keys, sizeof(keys) / sizeof(keys[0]), platform);
}

/* A GPU is of one platform: the same id twice is a mistake. */
static bool check_ids(struct reader *reader, const yaml_node_t *node,
                      const struct zeta_intel_platforms *platforms)
{
    const struct zeta_intel_platform *last = &platforms->items[platforms->count - 1];
    const struct zeta_intel_platforms before = {platforms->items, platforms->count - 1};

    for (uint32_t i = 0; i < last->pci_count; i++) {
        const struct zeta_intel_platform *other = zeta_intel_platform_find(&before, last->pci[i]);

        if (other)
            return fail(reader, node, "PCI id 0x%04x is of two platforms: %s and %s", last->pci[i],
                        other->id, last->id);
    }
    return true;
}

static bool read_list(struct reader *reader, yaml_node_t *node, void *target)
{
    struct zeta_intel_platforms *platforms = target;

    if (!expect_list(reader, node, MAX_PLATFORMS))
        return false;
    platforms->items = calloc(list_length(node) + 1, sizeof(*platforms->items));
    if (!platforms->items)
        return fail_memory(reader);
    for (uint32_t i = 0; i < list_length(node); i++) {
        const yaml_node_t *item = list_item(reader, node, i);

        platforms->count++;
        if (!read_platform(reader, item, &platforms->items[i]) ||
            !check_ids(reader, item, platforms))
            return false;
    }
    return true;
}

static bool read_version(struct reader *reader, yaml_node_t *node, void *target)
{
    uint32_t version;

    (void)target;
    if (!read_u32(reader, node, UINT32_MAX, &version))
        return false;
    return version == 1 ||
           fail(reader, node, "this is format %u, and only format 1 is known here", version);
}

/* ---- files -------------------------------------------------------------------------------- */

static bool read_document(struct reader *reader, struct zeta_intel_platforms *out_platforms)
{
    static const struct key keys[] = {{"format", read_version, true},
                                      {"platforms", read_list, true}};
    const yaml_node_t *root = yaml_document_get_root_node(&reader->document);

    if (!root)
        return fail(reader, NULL, "the file is empty");
    return read_mapping(reader, root, keys, 2, out_platforms);
}

bool zeta_intel_platforms_parse(const char *path, const char *text, size_t bytes,
                                struct zeta_intel_platforms *out_platforms, char *out_problem,
                                uint32_t problem_bytes)
{
    struct reader reader = {.path = path, .problem = out_problem, .problem_bytes = problem_bytes};
    yaml_parser_t parser;
    bool good;

    *out_platforms = (struct zeta_intel_platforms){NULL, 0};
    if (bytes > MAX_FILE_BYTES)
        return fail(&reader, NULL, "it has more than %d bytes", MAX_FILE_BYTES);
    if (!yaml_parser_initialize(&parser))
        return fail_memory(&reader);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
    good = yaml_parser_load(&parser, &reader.document) != 0;
    if (good) {
        good = read_document(&reader, out_platforms);
        yaml_document_delete(&reader.document);
    } else {
        (void)snprintf(out_problem, problem_bytes, "%s:%lu: %s", path,
                       (unsigned long)parser.problem_mark.line + 1,
                       parser.problem ? parser.problem : "this is no YAML");
    }
    yaml_parser_delete(&parser);
    return good;
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
