#include "core/plugin/manifest.h"

#include <stdio.h>
#include <string.h>

#include <zeta/yaml.h>

#include "core/util/cleanup.h"

#define ID_CHARACTERS "-_.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

#define COUNT(keys) (sizeof(keys) / sizeof((keys)[0]))
#define MANIFEST(member) offsetof(struct zeta_manifest, member)

/* What reading one manifest needs. */
struct reader {
    struct zeta_manifest *manifest;
    struct zeta_diagnostics *sink;
    const char *file;
    bool bad;
    bool no_memory;
};

enum value { IGNORED, TEXT, TEXTS, NUMBER, OTHER };

/* A key of a mapping, and the member of the mapping's struct that it fills. */
struct key {
    const char *what; /* "abi.min": where it is, and behind the last point its name */
    bool required;
    enum value value;
    size_t offset;                                                           /* unless OTHER */
    void (*read)(struct reader *, const struct zeta_yaml_node *, void *out); /* OTHER */
};

static const char *const group_names[ZETA_GROUP_COUNT] = {
    [ZETA_GROUP_COMPUTE] = "compute",
    [ZETA_GROUP_METRIC_STREAM] = "metric.stream",
    [ZETA_GROUP_METRIC_QUERY] = "metric.query",
    [ZETA_GROUP_METRIC_TRACER] = "metric.tracer",
    [ZETA_GROUP_METRIC_PROGRAMMABLE] = "metric.programmable",
    [ZETA_GROUP_DEBUG] = "debug",
    [ZETA_GROUP_INSTRUMENT] = "instrument",
};

const char *zeta_api_group_name(enum zeta_api_group group)
{
    return (unsigned int)group < ZETA_GROUP_COUNT ? group_names[group] : "?";
}

const char *zeta_device_class_name(enum zeta_device_class device_class)
{
    static const char *const names[ZETA_CLASS_COUNT] = {
        [ZETA_CLASS_HARDWARE] = "hardware",
        [ZETA_CLASS_REPLAY] = "replay",
        [ZETA_CLASS_SOFTWARE] = "software",
    };

    return (unsigned int)device_class < ZETA_CLASS_COUNT ? names[device_class] : "?";
}

const char *zeta_host_arch(void)
{
#if defined(__x86_64__)
    return "x86_64";
#elif defined(__aarch64__)
    return "aarch64";
#elif defined(__riscv) && __riscv_xlen == 64
    return "riscv64";
#elif defined(__powerpc64__)
    return "ppc64le";
#elif defined(__loongarch64)
    return "loongarch64";
#else
    return "unknown";
#endif
}

#define FAULT(reader, node, ...)                                                                   \
    do {                                                                                           \
        (reader)->bad = true;                                                                      \
        zeta_diagnose((reader)->sink, ZETA_SEVERITY_ERROR, (reader)->file, (node)->line,           \
                      (node)->column, __VA_ARGS__);                                                \
    } while (0)

#define WARNING(reader, node, ...)                                                                 \
    zeta_diagnose((reader)->sink, ZETA_SEVERITY_WARNING, (reader)->file, (node)->key_line,         \
                  (node)->key_column, __VA_ARGS__)

static bool expect(struct reader *reader, const struct zeta_yaml_node *node,
                   enum zeta_yaml_kind kind, const char *what)
{
    if (node->kind == kind)
        return true;
    FAULT(reader, node, "%s has to be %s, not %s.", what, zeta_yaml_kind_name(kind),
          zeta_yaml_kind_name(node->kind));
    return false;
}

static const char *keep(struct reader *reader, const struct zeta_yaml_node *node)
{
    const char *copy = zeta_arena_copy(&reader->manifest->arena, node->text, node->length);

    if (!copy)
        reader->no_memory = true;
    return copy ? copy : "";
}

static void *keep_array(struct reader *reader, size_t count, size_t element_bytes)
{
    void *array = zeta_arena_array(&reader->manifest->arena, count, element_bytes);

    if (!array)
        reader->no_memory = true;
    return array;
}

/* A scalar that is not empty; "" with an error for anything else. */
static const char *read_text(struct reader *reader, const struct zeta_yaml_node *node,
                             const char *what)
{
    if (!expect(reader, node, ZETA_YAML_SCALAR, what))
        return "";
    if (node->length == 0)
        FAULT(reader, node, "%s must not be empty.", what);
    return keep(reader, node);
}

/* A scalar or a sequence of scalars. */
static void read_texts(struct reader *reader, const struct zeta_yaml_node *node, const char *what,
                       struct zeta_texts *out_texts)
{
    const struct zeta_yaml_node *item = node;
    size_t count = 1;

    if (node->kind != ZETA_YAML_SCALAR) {
        if (!expect(reader, node, ZETA_YAML_SEQUENCE, what))
            return;
        item = node->first_child;
        count = node->child_count;
    }
    out_texts->items = keep_array(reader, count, sizeof(*out_texts->items));
    if (!out_texts->items)
        return;
    for (; item; item = item == node ? NULL : item->next)
        out_texts->items[out_texts->count++] = read_text(reader, item, what);
}

static uint32_t read_u32(struct reader *reader, const struct zeta_yaml_node *node, const char *what)
{
    uint64_t value = 0;

    if (!zeta_yaml_u64(node, &value) || value > UINT32_MAX)
        FAULT(reader, node, "%s has to be a number of 32 bits, such as 1 or 0x8086.", what);
    return (uint32_t)value;
}

static const char *name_of(const struct key *key)
{
    const char *point = strrchr(key->what, '.');

    return point ? point + 1 : key->what;
}

/* Reads a member of a mapping into out, the struct of the mapping. False: there is no such key. */
static bool read_key(struct reader *reader, const struct zeta_yaml_node *node,
                     const struct key *keys, size_t key_count, void *out)
{
    const struct key *key = keys;
    void *member;

    while (key < keys + key_count && strcmp(name_of(key), node->key) != 0)
        key++;
    if (key == keys + key_count)
        return strncmp(node->key, "x-", 2) == 0;
    member = (char *)out + key->offset;
    switch (key->value) {
    case IGNORED:
        break;
    case TEXT:
        *(const char **)member = read_text(reader, node, key->what);
        break;
    case TEXTS:
        read_texts(reader, node, key->what, member);
        break;
    case NUMBER:
        *(uint32_t *)member = read_u32(reader, node, key->what);
        break;
    case OTHER:
        key->read(reader, node, out);
        break;
    }
    return true;
}

/* Reads all members, warns of unknown keys, and asks for those that are required. */
static void read_keys(struct reader *reader, const struct zeta_yaml_node *mapping,
                      const char *where, const struct key *keys, size_t key_count, void *out)
{
    for (size_t i = 0; i < key_count; i++) {
        if (keys[i].required && !zeta_yaml_member(mapping, name_of(&keys[i])))
            FAULT(reader, mapping, "The key \"%s\" of %s is missing.", name_of(&keys[i]), where);
    }
    for (const struct zeta_yaml_node *node = mapping->first_child; node; node = node->next) {
        if (!read_key(reader, node, keys, key_count, out))
            WARNING(reader, node, "There is no key \"%s\" in %s; it is ignored.", node->key, where);
    }
}

static void read_format(struct reader *reader, const struct zeta_yaml_node *node,
                        void *out ZETA_UNUSED)
{
    unsigned int major = 0;
    unsigned int minor = 0;
    int used = 0;

    if (!expect(reader, node, ZETA_YAML_SCALAR, "format"))
        return;
    if (node->length > 16 || sscanf(node->text, "%9u.%9u%n", &major, &minor, &used) != 2 ||
        (size_t)used != node->length)
        FAULT(reader, node, "format is written \"major.minor\", such as \"1.0\".");
    else if (major != ZETA_MANIFEST_MAJOR)
        FAULT(reader, node, "Format %u.%u is not known; this library reads up to %u.%u.", major,
              minor, ZETA_MANIFEST_MAJOR, ZETA_MANIFEST_MINOR);
}

static void read_id(struct reader *reader, const struct zeta_yaml_node *node, void *out)
{
    struct zeta_manifest *manifest = out;
    const char *id = read_text(reader, node, "id");

    if (strlen(id) > ZETA_MANIFEST_ID_MAX)
        FAULT(reader, node, "id has more than %u characters.", ZETA_MANIFEST_ID_MAX);
    else if (id[strspn(id, ID_CHARACTERS)] != '\0')
        FAULT(reader, node, "id consists of letters, digits, '-', '_' and '.'.");
    else
        manifest->id = id;
}

static void read_class(struct reader *reader, const struct zeta_yaml_node *node, void *out)
{
    struct zeta_manifest *manifest = out;
    const char *text = read_text(reader, node, "class");

    for (int i = 0; i < ZETA_CLASS_COUNT; i++) {
        if (strcmp(text, zeta_device_class_name((enum zeta_device_class)i)) == 0) {
            manifest->device_class = (enum zeta_device_class)i;
            return;
        }
    }
    FAULT(reader, node, "class is \"hardware\", \"replay\" or \"software\", not \"%.40s\".", text);
}

static void read_abi(struct reader *reader, const struct zeta_yaml_node *node, void *out)
{
    static const struct key keys[] = {{"abi.min", true, NUMBER, MANIFEST(abi_min), NULL},
                                      {"abi.max", true, NUMBER, MANIFEST(abi_max), NULL}};
    const struct zeta_manifest *manifest = out;

    if (!expect(reader, node, ZETA_YAML_MAPPING, "abi"))
        return;
    read_keys(reader, node, "abi", keys, 2, out);
    if (manifest->abi_min > manifest->abi_max)
        FAULT(reader, node, "abi.min is greater than abi.max.");
}

static void read_provides(struct reader *reader, const struct zeta_yaml_node *node, void *out)
{
    struct zeta_manifest *manifest = out;
    struct zeta_texts texts = {0};

    read_texts(reader, node, "provides", &texts);
    for (size_t i = 0; i < texts.count; i++) {
        size_t group = 0;

        while (group < ZETA_GROUP_COUNT && strcmp(group_names[group], texts.items[i]) != 0)
            group++;
        if (group < ZETA_GROUP_COUNT)
            manifest->provides |= 1u << group;
        else
            WARNING(reader, node,
                    "\"%.60s\" is no group of the API that this library knows; it is "
                    "ignored.",
                    texts.items[i]);
    }
}

/* The children of a sequence, or the node itself. */
static const struct zeta_yaml_node *first_item(const struct zeta_yaml_node *node)
{
    return node->kind == ZETA_YAML_SEQUENCE ? node->first_child : node;
}

static void read_device_ids(struct reader *reader, const struct zeta_yaml_node *node, void *out)
{
    struct zeta_manifest_match *match = out;
    uint32_t *ids;

    if (node->kind == ZETA_YAML_MAPPING) {
        (void)expect(reader, node, ZETA_YAML_SEQUENCE, "pci.device");
        return;
    }
    ids =
        keep_array(reader, node->kind == ZETA_YAML_SEQUENCE ? node->child_count : 1, sizeof(*ids));
    match->device_ids = ids;
    for (const struct zeta_yaml_node *item = ids ? first_item(node) : NULL; item;
         item = item == node ? NULL : item->next)
        ids[match->device_id_count++] = read_u32(reader, item, "pci.device");
}

static void read_pci(struct reader *reader, const struct zeta_yaml_node *node, void *out)
{
    static const struct key keys[] = {
        {"pci.vendor", true, NUMBER, offsetof(struct zeta_manifest_match, vendor), NULL},
        {"pci.class", false, NUMBER, offsetof(struct zeta_manifest_match, pci_class), NULL},
        {"pci.device", false, OTHER, 0, read_device_ids},
    };
    struct zeta_manifest_match *match = out;

    if (!expect(reader, node, ZETA_YAML_MAPPING, "pci"))
        return;
    read_keys(reader, node, "pci", keys, COUNT(keys), out);
    match->has_vendor = zeta_yaml_member(node, "vendor") != NULL;
    match->has_pci_class = zeta_yaml_member(node, "class") != NULL;
}

static void read_always(struct reader *reader, const struct zeta_yaml_node *node, void *out)
{
    if (!zeta_yaml_bool(node, &((struct zeta_manifest_match *)out)->always))
        FAULT(reader, node, "always is true or false.");
}

/* A single entry may be written without the list. */
static void read_matches(struct reader *reader, const struct zeta_yaml_node *node, void *out)
{
    static const struct key keys[] = {
        {"pci", false, OTHER, 0, read_pci},
        {"drm_driver", false, TEXTS, offsetof(struct zeta_manifest_match, drivers), NULL},
        {"device", false, TEXT, offsetof(struct zeta_manifest_match, device_glob), NULL},
        {"setting", false, TEXT, offsetof(struct zeta_manifest_match, setting), NULL},
        {"always", false, OTHER, 0, read_always},
    };
    struct zeta_manifest *manifest = out;

    if (node->kind != ZETA_YAML_MAPPING && !expect(reader, node, ZETA_YAML_SEQUENCE, "matches"))
        return;
    manifest->matches = keep_array(reader, node->kind == ZETA_YAML_SEQUENCE ? node->child_count : 1,
                                   sizeof(*manifest->matches));
    for (const struct zeta_yaml_node *item = manifest->matches ? first_item(node) : NULL; item;
         item = item == node ? NULL : item->next) {
        struct zeta_manifest_match *match = &manifest->matches[manifest->match_count++];

        if (!expect(reader, item, ZETA_YAML_MAPPING, "An entry of matches"))
            continue;
        for (const struct zeta_yaml_node *part = item->first_child; part; part = part->next) {
            if (!read_key(reader, part, keys, COUNT(keys), match))
                FAULT(reader, part,
                      "There is no condition \"%s\"; there are pci, drm_driver, device, setting "
                      "and always.",
                      part->key);
        }
    }
}

static void check_need(struct reader *reader, const struct zeta_yaml_node *node,
                       void *out ZETA_UNUSED)
{
    struct zeta_texts ignored = {0};

    read_texts(reader, node, "An entry of needs", &ignored);
}

static void read_needs(struct reader *reader, const struct zeta_yaml_node *node, void *out)
{
    static const struct key keys[] = {
        {"needs.devices", false, TEXTS, MANIFEST(need_devices), NULL},
        {"needs.any_of", false, TEXTS, MANIFEST(needs), NULL},
        {"needs.capabilities", false, OTHER, 0, check_need},
        {"needs.kernel", false, OTHER, 0, check_need},
        {"needs.libraries", false, OTHER, 0, check_need},
    };

    if (expect(reader, node, ZETA_YAML_MAPPING, "needs"))
        read_keys(reader, node, "needs", keys, COUNT(keys), out);
}

/* Settings may be nested; a mapping with "default" or "environment" describes one setting. */
static bool describes_setting(const struct zeta_yaml_node *node)
{
    return node->kind == ZETA_YAML_MAPPING &&
           (zeta_yaml_member(node, "default") || zeta_yaml_member(node, "environment"));
}

static size_t count_settings(const struct zeta_yaml_node *mapping)
{
    size_t count = 0;

    for (const struct zeta_yaml_node *node = mapping->first_child; node; node = node->next) {
        if (node->kind == ZETA_YAML_MAPPING && !describes_setting(node))
            count += count_settings(node);
        else
            count++;
    }
    return count;
}

static void read_default(struct reader *reader, const struct zeta_yaml_node *node, void *out)
{
    if (expect(reader, node, ZETA_YAML_SCALAR, "default"))
        ((struct zeta_manifest_setting *)out)->value =
            zeta_yaml_is_null(node) ? NULL : keep(reader, node);
}

static void read_setting(struct reader *reader, const struct zeta_yaml_node *node, const char *name)
{
    static const struct key keys[] = {
        {"default", false, OTHER, 0, read_default},
        {"environment", false, TEXT, offsetof(struct zeta_manifest_setting, variable), NULL},
        {"description", false, IGNORED, 0, NULL},
    };
    struct zeta_manifest *manifest = reader->manifest;
    struct zeta_manifest_setting *setting = &manifest->settings[manifest->setting_count];
    char origin[4200];

    if (node->kind == ZETA_YAML_SEQUENCE) {
        FAULT(reader, node, "The default of a setting is one value, not a list.");
        return;
    }
    (void)snprintf(origin, sizeof(origin), "default of %s:%u", reader->file, node->line);
    setting->key = zeta_arena_copy(&manifest->arena, name, strlen(name));
    setting->origin = zeta_arena_copy(&manifest->arena, origin, strlen(origin));
    if (!setting->key || !setting->origin) {
        reader->no_memory = true;
        return;
    }
    if (node->kind == ZETA_YAML_MAPPING)
        read_keys(reader, node, "the description of a setting", keys, COUNT(keys), setting);
    else
        read_default(reader, node, setting);
    manifest->setting_count++;
}

static void read_setting_members(struct reader *reader, const struct zeta_yaml_node *mapping,
                                 const char *prefix)
{
    char name[128];

    for (const struct zeta_yaml_node *node = mapping->first_child; node; node = node->next) {
        int length = snprintf(name, sizeof(name), "%s%s%s", prefix, *prefix ? "." : "", node->key);

        if (length < 0 || (size_t)length >= sizeof(name))
            FAULT(reader, node, "The name of a setting has more than %zu bytes.", sizeof(name) - 1);
        else if (node->kind == ZETA_YAML_MAPPING && !describes_setting(node))
            read_setting_members(reader, node, name);
        else
            read_setting(reader, node, name);
    }
}

static void read_settings(struct reader *reader, const struct zeta_yaml_node *node, void *out)
{
    struct zeta_manifest *manifest = out;

    if (zeta_yaml_is_null(node) || !expect(reader, node, ZETA_YAML_MAPPING, "settings"))
        return;
    manifest->settings = keep_array(reader, count_settings(node), sizeof(*manifest->settings));
    if (manifest->settings)
        read_setting_members(reader, node, "");
}

enum zeta_manifest_kind zeta_manifest_read(const struct zeta_yaml_document *document,
                                           struct zeta_diagnostics *sink,
                                           struct zeta_manifest *out_manifest)
{
    static const struct key keys[] = {
        {"format", true, OTHER, 0, read_format},
        {"id", true, OTHER, 0, read_id},
        {"class", true, OTHER, 0, read_class},
        {"library", true, TEXT, MANIFEST(library), NULL},
        {"arch", false, TEXT, MANIFEST(arch), NULL},
        {"abi", true, OTHER, 0, read_abi},
        {"version", false, TEXT, MANIFEST(version), NULL},
        {"license", false, TEXT, MANIFEST(license), NULL},
        {"provides", true, OTHER, 0, read_provides},
        {"matches", false, OTHER, 0, read_matches},
        {"needs", false, OTHER, 0, read_needs},
        {"metrics", false, TEXTS, MANIFEST(metrics), NULL},
        {"settings", false, OTHER, 0, read_settings},
        {"description", false, IGNORED, 0, NULL},
        {"homepage", false, IGNORED, 0, NULL},
    };
    /* Of a manifest for devices without a plugin. */
    static const struct key unnamed_keys[] = {
        {"format", true, OTHER, 0, read_format},
        {"id", true, OTHER, 0, read_id},
        {"class", true, OTHER, 0, read_class},
        {"unnamed", true, TEXT, MANIFEST(unnamed), NULL},
        {"matches", true, OTHER, 0, read_matches},
        {"version", false, TEXT, MANIFEST(version), NULL},
        {"license", false, TEXT, MANIFEST(license), NULL},
        {"description", false, IGNORED, 0, NULL},
        {"homepage", false, IGNORED, 0, NULL},
    };
    const struct zeta_yaml_node *top = zeta_yaml_root(document);
    struct reader reader = {
        .manifest = out_manifest, .sink = sink, .file = zeta_yaml_name(document)};

    *out_manifest =
        (struct zeta_manifest){.id = "", .library = "", .arch = "", .version = "", .license = ""};
    if (!top || top->kind != ZETA_YAML_MAPPING ||
        (!zeta_yaml_member(top, "id") && !zeta_yaml_member(top, "library") &&
         !zeta_yaml_member(top, "provides")))
        return ZETA_MANIFEST_FOREIGN;
    if (zeta_yaml_member(top, "unnamed"))
        read_keys(&reader, top, "a manifest of unnamed devices", unnamed_keys, COUNT(unnamed_keys),
                  out_manifest);
    else
        read_keys(&reader, top, "a manifest", keys, COUNT(keys), out_manifest);
    if (reader.no_memory)
        return ZETA_MANIFEST_NO_MEMORY;
    return reader.bad ? ZETA_MANIFEST_BAD : ZETA_MANIFEST_GOOD;
}

void zeta_manifest_finish(struct zeta_manifest *manifest)
{
    zeta_arena_finish(&manifest->arena);
    *manifest = (struct zeta_manifest){0};
}
