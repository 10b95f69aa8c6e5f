/* Platforms, and what the keys of platform files mean. A wrong report format would give wrong
 * numbers. */
#include <zeta/intel_gpu.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/c_locale.h>
#include <zeta/yaml.h>

enum { MAX_RECORD_BYTES = 640 };

void zeta_intel_platforms_free(struct zeta_intel_platforms *platforms)
{
    for (uint32_t i = 0; i < platforms->count; i++) {
        const struct zeta_intel_platform *platform = &platforms->items[i];

        for (uint32_t s = 0; s < platform->set_count; s++)
            free(platform->sets[s]);
        free(platform->sets);
        free(platform->pci);
        free(platform->symbols);
    }
    free(platforms->items);
    *platforms = (struct zeta_intel_platforms){NULL, 0};
}

const struct zeta_intel_platform *
zeta_intel_platform_find(const struct zeta_intel_platforms *platforms, uint32_t device_id)
{
    for (uint32_t i = 0; i < platforms->count; i++) {
        const struct zeta_intel_platform *platform = &platforms->items[i];

        for (uint32_t p = 0; p < platform->pci_count; p++) {
            if (platform->pci[p] == device_id)
                return platform;
        }
    }
    return NULL;
}

/** A file while it is read. */
struct reader {
    const char *path;
    char *problem; /**< the first mistake, which ends the reading */
    uint32_t problem_bytes;
};

/** How a key of a mapping is read. */
struct key {
    const char *name;
    bool is_required;
    /** False after a problem was noted. most: below. */
    bool (*read)(struct reader *reader, const struct zeta_yaml_node *node, void *target,
                 uint32_t most);
    size_t offset; /**< of what the key fills, in the target of the mapping */
    uint32_t most; /**< the greatest number, the entries of a list, or the bytes of a text */
};

/* ---- values ------------------------------------------------------------------------------- */

/** Notes a problem of a node. Always false. */
static bool fail(struct reader *reader, const struct zeta_yaml_node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool fail(struct reader *reader, const struct zeta_yaml_node *node, const char *format, ...)
{
    char text[400];
    va_list arguments;

    va_start(arguments, format);
    (void)zeta_c_vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    (void)snprintf(reader->problem, reader->problem_bytes, "%s:%u:%u: %s", reader->path, node->line,
                   node->column, text);
    return false;
}

static bool fail_memory(struct reader *reader)
{
    (void)snprintf(reader->problem, reader->problem_bytes, "%s: there is no memory to read it",
                   reader->path);
    return false;
}

static bool expect(struct reader *reader, const struct zeta_yaml_node *node,
                   enum zeta_yaml_kind kind)
{
    static const char *const names[] = {
        [ZETA_YAML_SCALAR] = "a value",
        [ZETA_YAML_SEQUENCE] = "a list, such as [a, b]",
        [ZETA_YAML_MAPPING] = "a mapping, such as {key: value}",
    };

    return node->kind == kind || fail(reader, node, "this should be %s", names[kind]);
}

static bool expect_list(struct reader *reader, const struct zeta_yaml_node *node, uint32_t most)
{
    return expect(reader, node, ZETA_YAML_SEQUENCE) &&
           (node->child_count <= most ||
            fail(reader, node, "this list has more than %u entries", most));
}

/** Zeroed memory for the elements of a list; null after a problem was noted. */
static void *make_list(struct reader *reader, const struct zeta_yaml_node *node, uint32_t most,
                       size_t element_bytes)
{
    void *list = NULL;

    if (!expect_list(reader, node, most))
        return NULL;
    list = calloc(node->child_count + 1, element_bytes);
    if (!list)
        (void)fail_memory(reader);
    return list;
}

static bool read_u64(struct reader *reader, const struct zeta_yaml_node *node, uint64_t most,
                     uint64_t *out_number)
{
    if (!expect(reader, node, ZETA_YAML_SCALAR))
        return false;
    return (zeta_yaml_u64(node, out_number) && *out_number <= most) ||
           fail(reader, node, "'%.40s' should be a whole number from 0 to %llu", node->text,
                (unsigned long long)most);
}

static bool read_u32(struct reader *reader, const struct zeta_yaml_node *node, void *target,
                     uint32_t most)
{
    uint64_t number;

    if (!read_u64(reader, node, most, &number))
        return false;
    *(uint32_t *)target = (uint32_t)number;
    return true;
}

/** Copies a text of 1 to bytes - 1 bytes without control characters. */
static bool copy_text(struct reader *reader, const struct zeta_yaml_node *node, const char *text,
                      char *out_text, size_t bytes)
{
    const size_t length = strlen(text);

    if (length == 0 || length >= bytes)
        return fail(reader, node, "this should have 1 to %zu bytes", bytes - 1);
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < ' ')
            return fail(reader, node, "there is a control character in this text");
    }
    memcpy(out_text, text, length + 1);
    return true;
}

static bool read_text(struct reader *reader, const struct zeta_yaml_node *node, void *target,
                      uint32_t bytes)
{
    return expect(reader, node, ZETA_YAML_SCALAR) &&
           copy_text(reader, node, node->text, target, bytes);
}

static bool read_bool(struct reader *reader, const struct zeta_yaml_node *node, void *target,
                      uint32_t most)
{
    (void)most;
    return expect(reader, node, ZETA_YAML_SCALAR) &&
           (zeta_yaml_bool(node, target) ||
            fail(reader, node, "'%.40s' should be true or false", node->text));
}

/** Reads every member by its key: none that is unknown, no required one missing. */
static bool read_mapping(struct reader *reader, const struct zeta_yaml_node *node,
                         const struct key *keys, uint32_t count, void *target)
{
    if (!expect(reader, node, ZETA_YAML_MAPPING))
        return false;
    for (const struct zeta_yaml_node *member = node->first_child; member; member = member->next) {
        const struct zeta_yaml_node at = {.line = member->key_line, .column = member->key_column};
        const struct key *key = keys;

        while (key < keys + count && strcmp(key->name, member->key) != 0)
            key++;
        if (key == keys + count)
            return fail(reader, &at, "key '%.60s' is unknown here", member->key);
        if (!key->read(reader, member, (char *)target + key->offset, key->most))
            return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (keys[i].is_required && !zeta_yaml_member(node, keys[i].name))
            return fail(reader, node, "key '%s' is missing", keys[i].name);
    }
    return true;
}

/* ---- report formats ----------------------------------------------------------------------- */

static bool read_xe(struct reader *reader, const struct zeta_yaml_node *node, void *target,
                    uint32_t most)
{
    struct zeta_intel_format *format = target;

    format->has_xe = true;
    return read_u32(reader, node, &format->xe, most);
}

static bool read_record(struct reader *reader, const struct zeta_yaml_node *node, void *target,
                        uint32_t most)
{
    uint32_t *bytes = target;

    return read_u32(reader, node, bytes, most) &&
           ((*bytes >= 64 && *bytes % 64 == 0) ||
            fail(reader, node, "reports have a multiple of 64 bytes, not %u", *bytes));
}

static bool read_words(struct reader *reader, const struct zeta_yaml_node *node, void *target,
                       uint32_t most)
{
    uint32_t bits;

    if (!read_u32(reader, node, &bits, most))
        return false;
    *(bool *)target = bits == 64;
    return bits == 32 || bits == 64 ||
           fail(reader, node, "words of a header have 32 or 64 bits, not %u", bits);
}

static bool read_format(struct reader *reader, const struct zeta_yaml_node *node, void *target,
                        uint32_t most)
{
#define FORMAT(member) offsetof(struct zeta_intel_format, member)
    static const struct key keys[] = {
        {"i915", false, read_u32, FORMAT(i915), 255},
        {"xe", false, read_xe, 0, UINT32_MAX},
        {"record", true, read_record, FORMAT(record_bytes), MAX_RECORD_BYTES},
        {"words", false, read_words, FORMAT(is_wide), 64},
        {"clock_bits", false, read_u32, FORMAT(clock_bits), UINT32_MAX},
    };

    (void)most;
    return read_mapping(reader, node, keys, sizeof(keys) / sizeof(keys[0]), target);
}

static bool read_units(struct reader *reader, const struct zeta_yaml_node *node, void *target,
                       uint32_t most)
{
    enum { BYTES = sizeof(struct zeta_intel_format) };
    static const struct key keys[] = {
        {"oag", true, read_format, (size_t)ZETA_INTEL_OAG * BYTES, 0},
        {"oam", false, read_format, (size_t)ZETA_INTEL_OAM * BYTES, 0},
        {"oam-sag", false, read_format, (size_t)ZETA_INTEL_OAM_SAG * BYTES, 0},
        {"mert", false, read_format, (size_t)ZETA_INTEL_MERT * BYTES, 0},
    };

    (void)most;
    return read_mapping(reader, node, keys, sizeof(keys) / sizeof(keys[0]), target);
}

/* ---- platforms ---------------------------------------------------------------------------- */

static bool read_file_name(struct reader *reader, const struct zeta_yaml_node *node, void *target,
                           uint32_t bytes)
{
    const char *name = target;

    if (!read_text(reader, node, target, bytes))
        return false;
    if (strncmp(name, "intel/", 6) == 0)
        name += 6;
    return (name[0] != '\0' && name[0] != '.' && !strchr(name, '/')) ||
           fail(reader, node,
                "'%.60s' should be the name of a file beside this one, or intel/NAME of one that "
                "generations share",
                (const char *)target);
}

/* "12.55" is 1255, "9" is 900: two digits behind the point, of which zeros may be left out. */
static bool read_graphics(struct reader *reader, const struct zeta_yaml_node *node, void *target,
                          uint32_t most)
{
    unsigned major_part, minor_part = 0;
    char minor_text[8] = "0", extra;
    int found;

    if (!expect(reader, node, ZETA_YAML_SCALAR))
        return false;
    found = sscanf(node->text, "%3u.%2[0-9]%c", &major_part, minor_text, &extra);
    if (found < 1 || found > 2 || (found == 1 && strchr(node->text, '.')) || node->text[0] < '0' ||
        node->text[0] > '9' || major_part > most ||
        strspn(node->text, "0123456789.") != node->length)
        return fail(reader, node, "'%.40s' should be a version such as 12.55", node->text);
    minor_part = (unsigned)strtoul(minor_text, NULL, 10);
    if (minor_text[1] == '\0')
        minor_part *= 10;
    *(uint32_t *)target = major_part * 100 + minor_part;
    return true;
}

static bool read_pci(struct reader *reader, const struct zeta_yaml_node *node, void *target,
                     uint32_t most)
{
    struct zeta_intel_platform *platform = target;

    platform->pci = make_list(reader, node, most, sizeof(*platform->pci));
    if (!platform->pci)
        return false;
    for (const struct zeta_yaml_node *item = node->first_child; item; item = item->next) {
        if (!read_u32(reader, item, &platform->pci[platform->pci_count], 0xffff))
            return false;
        platform->pci_count++;
    }
    return platform->pci_count > 0 || fail(reader, node, "a platform has at least one PCI id");
}

static bool read_drivers(struct reader *reader, const struct zeta_yaml_node *node, void *target,
                         uint32_t most)
{
    struct zeta_intel_platform *platform = target;

    if (!expect_list(reader, node, most))
        return false;
    for (const struct zeta_yaml_node *item = node->first_child; item; item = item->next) {
        if (!expect(reader, item, ZETA_YAML_SCALAR))
            return false;
        if (strcmp(item->text, "i915") == 0)
            platform->has_i915 = true;
        else if (strcmp(item->text, "xe") == 0)
            platform->has_xe = true;
        else
            return fail(reader, item, "kernel drivers are i915 and xe, not '%.40s'", item->text);
    }
    return true;
}

/* Names of files; as many as were read count, also when the list is wrong. */
static bool read_sets(struct reader *reader, const struct zeta_yaml_node *node, void *target,
                      uint32_t most)
{
    struct zeta_intel_platform *platform = target;

    platform->sets = make_list(reader, node, most, sizeof(*platform->sets));
    if (!platform->sets)
        return false;
    for (const struct zeta_yaml_node *item = node->first_child; item; item = item->next) {
        char name[128];

        if (!read_file_name(reader, item, name, sizeof(name)))
            return false;
        platform->sets[platform->set_count] = strdup(name);
        if (!platform->sets[platform->set_count])
            return fail_memory(reader);
        platform->set_count++;
    }
    return true;
}

static bool read_symbols(struct reader *reader, const struct zeta_yaml_node *node, void *target,
                         uint32_t most)
{
    struct zeta_intel_platform *platform = target;

    if (!expect(reader, node, ZETA_YAML_MAPPING))
        return false;
    if (node->child_count > most)
        return fail(reader, node, "there are more than %u symbols", most);
    platform->symbols = calloc(node->child_count + 1, sizeof(*platform->symbols));
    if (!platform->symbols)
        return fail_memory(reader);
    for (const struct zeta_yaml_node *item = node->first_child; item; item = item->next) {
        struct zeta_intel_platform_symbol *symbol = &platform->symbols[platform->symbol_count];

        if (!copy_text(reader, item, item->key, symbol->name, sizeof(symbol->name)) ||
            !read_u64(reader, item, UINT64_MAX, &symbol->value))
            return false;
        platform->symbol_count++;
    }
    return true;
}

static bool read_platform(struct reader *reader, const struct zeta_yaml_node *node,
                          struct zeta_intel_platform *platform)
{
#define PLATFORM(member) offsetof(struct zeta_intel_platform, member)
    static const struct key keys[] = {
        {"name", true, read_text, PLATFORM(name), sizeof(platform->name)},
        {"id", true, read_file_name, PLATFORM(id), sizeof(platform->id)},
        {"graphics", true, read_graphics, PLATFORM(graphics), 99},
        {"pci", true, read_pci, 0, 1024},
        {"integrated", false, read_bool, PLATFORM(integrated), 0},
        {"drivers", true, read_drivers, 0, 2},
        {"threads_per_eu", true, read_u32, PLATFORM(threads_per_eu), 64},
        {"simd_width", false, read_u32, PLATFORM(simd_width), 64},
        {"subslice_bits", false, read_u32, PLATFORM(subslice_bits), 32},
        {"subslices_per_slice", false, read_u32, PLATFORM(subslices_per_slice), 32},
        {"l3_banks_per_node", false, read_u32, PLATFORM(l3_banks_per_node), 64},
        {"sets", true, read_sets, 0, 64},
        {"units", true, read_units, PLATFORM(formats), 0},
        {"symbols", false, read_symbols, 0, 64},
    };

    return read_mapping(reader, node, keys, sizeof(keys) / sizeof(keys[0]), platform);
}

static bool read_list(struct reader *reader, const struct zeta_yaml_node *node, void *target,
                      uint32_t most)
{
    struct zeta_intel_platforms *platforms = target;

    platforms->items = make_list(reader, node, most, sizeof(*platforms->items));
    if (!platforms->items)
        return false;
    for (const struct zeta_yaml_node *item = node->first_child; item; item = item->next) {
        const struct zeta_intel_platforms before = *platforms;
        struct zeta_intel_platform *platform = &platforms->items[platforms->count++];

        if (!read_platform(reader, item, platform))
            return false;
        /* A GPU is of one platform: the same id twice is a mistake. */
        for (uint32_t i = 0; i < platform->pci_count; i++) {
            const struct zeta_intel_platform *other =
                zeta_intel_platform_find(&before, platform->pci[i]);

            if (other)
                return fail(reader, item, "PCI id 0x%04x is of two platforms: %s and %s",
                            platform->pci[i], other->id, platform->id);
        }
    }
    return true;
}

static bool read_version(struct reader *reader, const struct zeta_yaml_node *node, void *target,
                         uint32_t most)
{
    uint32_t version;

    (void)target;
    if (!read_u32(reader, node, &version, most))
        return false;
    return version == 1 ||
           fail(reader, node, "this is format %u, and only format 1 is known here", version);
}

/* ---- files -------------------------------------------------------------------------------- */

/** Reads a document, which is freed; NULL with an error is one that was refused. */
static bool read_document(const char *path, struct zeta_yaml_document *document,
                          const struct zeta_yaml_error *error,
                          struct zeta_intel_platforms *out_platforms, char *out_problem,
                          uint32_t problem_bytes)
{
    static const struct key keys[] = {{"format", true, read_version, 0, UINT32_MAX},
                                      {"platforms", true, read_list, 0, 256}};
    struct reader reader = {path, out_problem, problem_bytes};
    const struct zeta_yaml_node *root = document ? zeta_yaml_root(document) : NULL;
    bool good = false;

    *out_platforms = (struct zeta_intel_platforms){NULL, 0};
    if (root)
        good = read_mapping(&reader, root, keys, 2, out_platforms);
    else if (document)
        (void)snprintf(out_problem, problem_bytes, "%s: the file is empty", path);
    else
        zeta_yaml_print_error(error, path, out_problem, problem_bytes);
    zeta_yaml_free(document);
    return good;
}

bool zeta_intel_platforms_parse(const char *path, const char *text, size_t bytes,
                                struct zeta_intel_platforms *out_platforms, char *out_problem,
                                uint32_t problem_bytes)
{
    struct zeta_yaml_error error;
    struct zeta_yaml_document *document = zeta_yaml_parse(text, bytes, path, NULL, &error);

    return read_document(path, document, &error, out_platforms, out_problem, problem_bytes);
}

bool zeta_intel_platforms_read(const char *path, struct zeta_intel_platforms *out_platforms,
                               char *out_problem, uint32_t problem_bytes)
{
    struct zeta_yaml_error error;
    struct zeta_yaml_document *document = zeta_yaml_read_file(path, NULL, &error);

    return read_document(path, document, &error, out_platforms, out_problem, problem_bytes);
}
