#include "core/plugin/manifest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <zeta/yaml.h>

#define VALUE_ID_CHARACTERS "letters, digits, '-', '_' and '.'"

/* What reading one manifest needs. */
struct reader {
    struct zeta_manifest *manifest;
    struct zeta_diagnostics *sink;
    const char *file;
    bool bad;
    bool no_memory;
};

typedef void (*read_key_fn)(struct reader *reader, const struct zeta_yaml_node *node);

struct key {
    const char *name;
    read_key_fn read;
    bool required;
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

/* Calls the reader of each known key, warns of others, and asks for those that are required. */
static void read_keys(struct reader *reader, const struct zeta_yaml_node *mapping,
                      const char *where, const struct key *keys, size_t key_count)
{
    for (size_t i = 0; i < key_count; i++) {
        if (keys[i].required && !zeta_yaml_member(mapping, keys[i].name))
            FAULT(reader, mapping, "The key \"%s\" of %s is missing.", keys[i].name, where);
    }
    for (const struct zeta_yaml_node *node = mapping->first_child; node; node = node->next) {
        size_t i = 0;

        while (i < key_count && strcmp(keys[i].name, node->key) != 0)
            i++;
        if (i < key_count)
            keys[i].read(reader, node);
        else if (strncmp(node->key, "x-", 2) != 0)
            WARNING(reader, node, "There is no key \"%s\" in %s; it is ignored.", node->key, where);
    }
}

static void read_format(struct reader *reader, const struct zeta_yaml_node *node)
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

static void read_id(struct reader *reader, const struct zeta_yaml_node *node)
{
    const char *id = read_text(reader, node, "id");

    if (strlen(id) > ZETA_MANIFEST_ID_MAX) {
        FAULT(reader, node, "id has more than %u characters.", ZETA_MANIFEST_ID_MAX);
        return;
    }
    for (const char *at = id; *at; at++) {
        if (!isalnum((unsigned char)*at) && !strchr("-_.", *at)) {
            FAULT(reader, node, "id consists of " VALUE_ID_CHARACTERS ".");
            return;
        }
    }
    reader->manifest->id = id;
}

static void read_class(struct reader *reader, const struct zeta_yaml_node *node)
{
    const char *text = read_text(reader, node, "class");

    for (int i = 0; i < ZETA_CLASS_COUNT; i++) {
        if (strcmp(text, zeta_device_class_name((enum zeta_device_class)i)) == 0) {
            reader->manifest->device_class = (enum zeta_device_class)i;
            return;
        }
    }
    FAULT(reader, node, "class is \"hardware\", \"replay\" or \"software\", not \"%.40s\".", text);
}

static void read_library(struct reader *reader, const struct zeta_yaml_node *node)
{
    reader->manifest->library = read_text(reader, node, "library");
}

static void read_unnamed(struct reader *reader, const struct zeta_yaml_node *node)
{
    reader->manifest->unnamed = read_text(reader, node, "unnamed");
}

static void read_arch(struct reader *reader, const struct zeta_yaml_node *node)
{
    reader->manifest->arch = read_text(reader, node, "arch");
}

static void read_version(struct reader *reader, const struct zeta_yaml_node *node)
{
    reader->manifest->version = read_text(reader, node, "version");
}

static void read_license(struct reader *reader, const struct zeta_yaml_node *node)
{
    reader->manifest->license = read_text(reader, node, "license");
}

static uint32_t read_u32(struct reader *reader, const struct zeta_yaml_node *node, const char *what)
{
    uint64_t value = 0;

    if (!zeta_yaml_u64(node, &value) || value > UINT32_MAX)
        FAULT(reader, node, "%s has to be a number of 32 bits, such as 1 or 0x8086.", what);
    return (uint32_t)value;
}

static void read_abi_min(struct reader *reader, const struct zeta_yaml_node *node)
{
    reader->manifest->abi_min = read_u32(reader, node, "abi.min");
}

static void read_abi_max(struct reader *reader, const struct zeta_yaml_node *node)
{
    reader->manifest->abi_max = read_u32(reader, node, "abi.max");
}

static void read_abi(struct reader *reader, const struct zeta_yaml_node *node)
{
    static const struct key keys[] = {{"min", read_abi_min, true}, {"max", read_abi_max, true}};

    if (!expect(reader, node, ZETA_YAML_MAPPING, "abi"))
        return;
    read_keys(reader, node, "abi", keys, 2);
    if (reader->manifest->abi_min > reader->manifest->abi_max)
        FAULT(reader, node, "abi.min is greater than abi.max.");
}

static void read_provides(struct reader *reader, const struct zeta_yaml_node *node)
{
    struct zeta_texts texts = {0};

    read_texts(reader, node, "provides", &texts);
    for (size_t i = 0; i < texts.count; i++) {
        size_t group = 0;

        while (group < ZETA_GROUP_COUNT && strcmp(group_names[group], texts.items[i]) != 0)
            group++;
        if (group < ZETA_GROUP_COUNT)
            reader->manifest->provides |= 1u << group;
        else
            WARNING(reader, node,
                    "\"%.60s\" is no group of the API that this library knows; it is "
                    "ignored.",
                    texts.items[i]);
    }
}

static void read_pci(struct reader *reader, const struct zeta_yaml_node *node,
                     struct zeta_manifest_match *match)
{
    const struct zeta_yaml_node *vendor = zeta_yaml_member(node, "vendor");
    const struct zeta_yaml_node *device = zeta_yaml_member(node, "device");
    const struct zeta_yaml_node *item;
    uint32_t *ids;

    if (!expect(reader, node, ZETA_YAML_MAPPING, "pci"))
        return;
    if (!vendor) {
        FAULT(reader, node, "The key \"vendor\" of pci is missing.");
        return;
    }
    match->has_vendor = true;
    match->vendor = read_u32(reader, vendor, "pci.vendor");
    for (item = node->first_child; item; item = item->next) {
        if (strcmp(item->key, "class") == 0) {
            match->has_pci_class = true;
            match->pci_class = read_u32(reader, item, "pci.class");
        } else if (item != vendor && item != device)
            WARNING(reader, item, "There is no key \"%s\" in pci; it is ignored.", item->key);
    }
    if (!device)
        return;
    if (device->kind == ZETA_YAML_MAPPING) {
        (void)expect(reader, device, ZETA_YAML_SEQUENCE, "pci.device");
        return;
    }
    ids = keep_array(reader, device->kind == ZETA_YAML_SEQUENCE ? device->child_count : 1,
                     sizeof(*ids));
    match->device_ids = ids;
    if (!ids)
        return;
    item = device->kind == ZETA_YAML_SEQUENCE ? device->first_child : device;
    for (; item; item = item == device ? NULL : item->next)
        ids[match->device_id_count++] = read_u32(reader, item, "pci.device");
}

static void read_match(struct reader *reader, const struct zeta_yaml_node *node,
                       struct zeta_manifest_match *match)
{
    if (!expect(reader, node, ZETA_YAML_MAPPING, "An entry of matches"))
        return;
    for (const struct zeta_yaml_node *part = node->first_child; part; part = part->next) {
        if (strcmp(part->key, "pci") == 0)
            read_pci(reader, part, match);
        else if (strcmp(part->key, "drm_driver") == 0)
            read_texts(reader, part, "drm_driver", &match->drivers);
        else if (strcmp(part->key, "device") == 0)
            match->device_glob = read_text(reader, part, "device");
        else if (strcmp(part->key, "setting") == 0)
            match->setting = read_text(reader, part, "setting");
        else if (strcmp(part->key, "always") == 0) {
            if (!zeta_yaml_bool(part, &match->always))
                FAULT(reader, part, "always is true or false.");
        } else if (strncmp(part->key, "x-", 2) != 0) {
            FAULT(reader, part,
                  "There is no condition \"%s\"; there are pci, drm_driver, device, "
                  "setting and always.",
                  part->key);
        }
    }
}

static void read_matches(struct reader *reader, const struct zeta_yaml_node *node)
{
    struct zeta_manifest *manifest = reader->manifest;

    if (node->kind == ZETA_YAML_MAPPING) {
        /* A single entry may be written without the list. */
        manifest->matches = keep_array(reader, 1, sizeof(*manifest->matches));
        if (manifest->matches)
            read_match(reader, node, &manifest->matches[manifest->match_count++]);
        return;
    }
    if (!expect(reader, node, ZETA_YAML_SEQUENCE, "matches"))
        return;
    manifest->matches = keep_array(reader, node->child_count, sizeof(*manifest->matches));
    if (!manifest->matches)
        return;
    for (const struct zeta_yaml_node *item = node->first_child; item; item = item->next)
        read_match(reader, item, &manifest->matches[manifest->match_count++]);
}

static void read_need_devices(struct reader *reader, const struct zeta_yaml_node *node)
{
    read_texts(reader, node, "needs.devices", &reader->manifest->need_devices);
}

static void read_need(struct reader *reader, const struct zeta_yaml_node *node)
{
    struct zeta_texts ignored = {0};

    read_texts(reader, node, "An entry of needs", &ignored);
}

static void read_need_any(struct reader *reader, const struct zeta_yaml_node *node)
{
    read_texts(reader, node, "needs.any_of", &reader->manifest->needs);
}

static void read_needs(struct reader *reader, const struct zeta_yaml_node *node)
{
    static const struct key keys[] = {{"devices", read_need_devices, false},
                                      {"any_of", read_need_any, false},
                                      {"capabilities", read_need, false},
                                      {"kernel", read_need, false},
                                      {"libraries", read_need, false}};

    if (expect(reader, node, ZETA_YAML_MAPPING, "needs"))
        read_keys(reader, node, "needs", keys, sizeof(keys) / sizeof(keys[0]));
}

static void read_metrics(struct reader *reader, const struct zeta_yaml_node *node)
{
    read_texts(reader, node, "metrics", &reader->manifest->metrics);
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

static void read_setting_description(struct reader *reader, const struct zeta_yaml_node *node,
                                     struct zeta_manifest_setting *setting)
{
    for (const struct zeta_yaml_node *part = node->first_child; part; part = part->next) {
        if (strcmp(part->key, "default") == 0 && expect(reader, part, ZETA_YAML_SCALAR, "default"))
            setting->value = zeta_yaml_is_null(part) ? NULL : keep(reader, part);
        else if (strcmp(part->key, "environment") == 0)
            setting->variable = read_text(reader, part, "environment");
        else if (strcmp(part->key, "description") != 0 && strcmp(part->key, "default") != 0 &&
                 strncmp(part->key, "x-", 2) != 0)
            WARNING(reader, part,
                    "There is no key \"%s\" in the description of a setting; it is "
                    "ignored.",
                    part->key);
    }
}

static void read_setting(struct reader *reader, const struct zeta_yaml_node *node, const char *name)
{
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
        read_setting_description(reader, node, setting);
    else
        setting->value = zeta_yaml_is_null(node) ? NULL : keep(reader, node);
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

static void read_settings(struct reader *reader, const struct zeta_yaml_node *node)
{
    struct zeta_manifest *manifest = reader->manifest;

    if (zeta_yaml_is_null(node) || !expect(reader, node, ZETA_YAML_MAPPING, "settings"))
        return;
    manifest->settings = keep_array(reader, count_settings(node), sizeof(*manifest->settings));
    if (manifest->settings)
        read_setting_members(reader, node, "");
}

static void read_nothing(struct reader *reader, const struct zeta_yaml_node *node)
{
    (void)reader;
    (void)node;
}

enum zeta_manifest_kind zeta_manifest_read(const struct zeta_yaml_document *document,
                                           struct zeta_diagnostics *sink,
                                           struct zeta_manifest *out_manifest)
{
    static const struct key keys[] = {
        {"format", read_format, true},      {"id", read_id, true},
        {"class", read_class, true},        {"library", read_library, true},
        {"arch", read_arch, false},         {"abi", read_abi, true},
        {"version", read_version, false},   {"license", read_license, false},
        {"provides", read_provides, true},  {"matches", read_matches, false},
        {"needs", read_needs, false},       {"metrics", read_metrics, false},
        {"settings", read_settings, false}, {"description", read_nothing, false},
        {"homepage", read_nothing, false},
    };
    /* Of a manifest that speaks of devices without a plugin. */
    static const struct key unnamed_keys[] = {
        {"format", read_format, true},     {"id", read_id, true},
        {"class", read_class, true},       {"unnamed", read_unnamed, true},
        {"matches", read_matches, true},   {"version", read_version, false},
        {"license", read_license, false},  {"description", read_nothing, false},
        {"homepage", read_nothing, false},
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
        read_keys(&reader, top, "a manifest of unnamed devices", unnamed_keys,
                  sizeof(unnamed_keys) / sizeof(unnamed_keys[0]));
    else
        read_keys(&reader, top, "a manifest", keys, sizeof(keys) / sizeof(keys[0]));
    if (reader.no_memory)
        return ZETA_MANIFEST_NO_MEMORY;
    return reader.bad ? ZETA_MANIFEST_BAD : ZETA_MANIFEST_GOOD;
}

void zeta_manifest_finish(struct zeta_manifest *manifest)
{
    zeta_arena_finish(&manifest->arena);
    *manifest = (struct zeta_manifest){0};
}
