#include "describe.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/yaml.h>

/* How a value is read. */
enum key_type {
    KEY_IDENTITY,
    KEY_TEXT,
    KEY_NAME,
    KEY_U32,
    KEY_DEVICE_ID,
    KEY_U64,
    KEY_UUID,
    KEY_PCI,
    KEY_CLOCK,
    KEY_FOLDER
};

struct key {
    const char *name;
    enum key_type type;
    size_t offset;  /* in struct zeta_vgpu_description */
    uint64_t least; /* of numbers; for texts the least length */
    uint64_t most;  /* of numbers; for texts the size of the array */
    uint64_t scale; /* a number is multiplied with this */
};

#define AT(member) offsetof(struct zeta_vgpu_description, member)
#define KIB UINT64_C(1024)
#define MIB (UINT64_C(1024) * KIB)

/* The identity comes first: what is set beside it wins. */
static const struct key keys[] = {
    {"identity", KEY_IDENTITY, 0, 0, 0, 0},
    {"name", KEY_TEXT, AT(name), 1, ZETA_VGPU_NAME_BYTES, 0},
    {"vendor", KEY_TEXT, AT(vendor), 1, ZETA_VGPU_VENDOR_BYTES, 0},
    {"id", KEY_NAME, AT(id), 1, ZETA_VGPU_ID_BYTES, 0},
    {"instance", KEY_NAME, AT(instance), 1, ZETA_VGPU_INSTANCE_BYTES, 0},
    {"vendor_id", KEY_U32, AT(vendor_id), 0x10000, UINT32_MAX, 1},
    {"device_id", KEY_DEVICE_ID, AT(device_id), 0, UINT32_MAX, 1},
    {"revision", KEY_U32, AT(revision), 0, 255, 1},
    {"uuid", KEY_UUID, AT(uuid), 0, 0, 0},
    {"pci", KEY_PCI, AT(pci_domain), 0, 0, 0},
    {"tiles", KEY_U32, AT(tiles), 1, ZETA_VGPU_MAX_TILES, 1},
    {"topology.slices", KEY_U32, AT(topology.slices), 1, 64, 1},
    {"topology.subslices_per_slice", KEY_U32, AT(topology.subslices_per_slice), 1, 64, 1},
    {"topology.eus_per_subslice", KEY_U32, AT(topology.eus_per_subslice), 1, 64, 1},
    {"topology.threads_per_eu", KEY_U32, AT(topology.threads_per_eu), 1, 64, 1},
    {"topology.shared_local_kib", KEY_U32, AT(topology.slm_bytes), 1, 16 * KIB, KIB},
    {"topology.stack_kib", KEY_U32, AT(topology.stack_bytes), 4, KIB, KIB},
    {"topology.l1_kib", KEY_U32, AT(topology.l1_bytes), 1, KIB, KIB},
    {"topology.l3_kib", KEY_U32, AT(topology.l3_bytes), 16, 256 * KIB, KIB},
    {"core_clock_mhz", KEY_U32, AT(core_clock_mhz), 25, 10000, 1},
    {"memory_mib", KEY_U64, AT(memory_bytes), 1, 64 * MIB, MIB},
    {"workers", KEY_U32, AT(workers), 0, 64, 1},
    {"clock", KEY_CLOCK, AT(clock), 0, 0, 0},
    {"fault.lost_reports", KEY_U64, AT(faults.lost_reports), 0, UINT32_MAX, 1},
    {"fault.full_ring", KEY_U64, AT(faults.full_ring), 0, UINT32_MAX, 1},
    {"fault.permission", KEY_U64, AT(faults.permission), 0, 1, 1},
    {"fault.device_lost", KEY_U64, AT(faults.device_lost), 0, UINT32_MAX, 1},
    {"fault.wrap_soon", KEY_U64, AT(faults.wrap_soon), 0, 680, 1},
    {"core_dir", KEY_FOLDER, AT(core_dir), 1, ZETA_VGPU_FOLDER_BYTES, 0},
    {"core_size_mib", KEY_U64, AT(core_size_bytes), 1, MIB, MIB},
};

#define KEY_COUNT (sizeof(keys) / sizeof(keys[0]))

/*
 * Names by which programs choose devices. Each name tells what the device is, and ids and address
 * stay ours: hardware of the vendor is found by those.
 */
static const struct identity {
    const char *identity;
    const char *name;
    const char *vendor;
} identities[] = {
    {"zeta", "Zeta Virtual GPU", "Zeta"},
    {"intel-like", "Zeta Virtual GPU (like Intel(R) Graphics)",
     "Intel(R) Corporation (imitated by Zeta)"},
};

static bool read_identity(struct zeta_vgpu_description *d, const char *value)
{
    for (size_t i = 0; i < sizeof(identities) / sizeof(identities[0]); i++) {
        if (strcmp(identities[i].identity, value) != 0)
            continue;
        snprintf(d->name, sizeof(d->name), "%s", identities[i].name);
        snprintf(d->vendor, sizeof(d->vendor), "%s", identities[i].vendor);
        return true;
    }
    return false;
}

void zeta_vgpu_description_default(struct zeta_vgpu_description *out_description)
{
    struct zeta_vgpu_description *d = out_description;

    memset(d, 0, sizeof(*d));
    (void)read_identity(d, "zeta");
    snprintf(d->id, sizeof(d->id), "vgpu0");
    snprintf(d->instance, sizeof(d->instance), "default");
    /* The letters ZETA: above the 16 bits of PCI vendors, so nobody takes it for hardware. */
    d->vendor_id = 0x5a455441;
    d->device_id = 1;
    /* Clients give up without an address. No PCI segment has a number of more than 16 bits. */
    d->has_pci = true;
    d->pci_domain = 0x7a657461;
    d->tiles = 1;
    zeta_vgpu_topology_default(&d->topology);
    d->core_clock_mhz = 1000;
    d->memory_bytes = 4096 * MIB;
    snprintf(d->core_dir, sizeof(d->core_dir), "off");
    d->core_size_bytes = 256 * MIB;
}

const char *zeta_vgpu_description_key(uint32_t index)
{
    return index < KEY_COUNT ? keys[index].name : NULL;
}

static bool refuse_value(struct zeta_vgpu_message *out_message, const struct key *key,
                         const char *value, const char *allowed)
{
    return zeta_vgpu_reject(out_message, "%s cannot be '%.80s': %s", key->name, value, allowed);
}

static bool read_number(const struct key *key, const char *value, uint64_t *out_number,
                        struct zeta_vgpu_message *out_message)
{
    char *end;
    char allowed[128];

    errno = 0;
    *out_number = strtoull(value, &end, 0);
    if (isdigit((unsigned char)value[0]) && *end == '\0' && errno == 0 &&
        *out_number >= key->least && *out_number <= key->most) {
        *out_number *= key->scale;
        return true;
    }
    snprintf(allowed, sizeof(allowed), "it is a number from %llu to %llu",
             (unsigned long long)key->least, (unsigned long long)key->most);
    return refuse_value(out_message, key, value, allowed);
}

static bool read_text(const struct key *key, const char *value, char *out_text,
                      struct zeta_vgpu_message *out_message)
{
    size_t length = strlen(value);
    char allowed[128];

    if (length < key->least || length >= key->most) {
        snprintf(allowed, sizeof(allowed), "it has %llu to %llu bytes",
                 (unsigned long long)key->least, (unsigned long long)key->most - 1);
        return refuse_value(out_message, key, value, allowed);
    }
    if (key->type == KEY_NAME &&
        (value[0] == '.' ||
         strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") !=
             length)) {
        return refuse_value(out_message, key, value,
                            "it has letters, digits, '-', '_' and inner dots only");
    }
    memcpy(out_text, value, length + 1);
    return true;
}

static bool read_uuid(const char *value, uint8_t out_uuid[16])
{
    unsigned digits = 0;

    for (; *value; value++) {
        int c = tolower((unsigned char)*value);

        if (c == '-')
            continue;
        if (!isxdigit(c) || digits == 32)
            return false;
        out_uuid[digits / 2] =
            (uint8_t)((out_uuid[digits / 2] << 4) | (c <= '9' ? c - '0' : c - 'a' + 10));
        digits++;
    }
    return digits == 32;
}

static bool read_pci(const char *value, struct zeta_vgpu_description *out_description)
{
    struct zeta_vgpu_description *d = out_description;
    unsigned domain, bus, device, function;
    char extra;

    if (strcmp(value, "none") == 0) {
        d->has_pci = false;
        return true;
    }
    if (strlen(value) > 16 ||
        sscanf(value, "%x:%x:%x.%x%c", &domain, &bus, &device, &function, &extra) != 4 ||
        bus > 255 || device > 31 || function > 7)
        return false;
    d->has_pci = true;
    d->pci_domain = domain;
    d->pci_bus = bus;
    d->pci_device = device;
    d->pci_function = function;
    return true;
}

/*
 * Profilers know hardware by these families of ids, whatever the vendor, and take metric time
 * stamps of it for one bit shorter than they are here; samples would match nothing in the second
 * half of each wrap of the timer.
 */
static bool is_misleading_id(uint64_t id)
{
    static const uint16_t families[] = {0x4f00, 0x5600, 0x0b00, 0x7d00, 0xe200, 0x6400, 0x9a00};

    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        if ((id & 0xff00) == families[i])
            return true;
    }
    return false;
}

static bool read_value(struct zeta_vgpu_description *d, const struct key *key, const char *value,
                       struct zeta_vgpu_message *out_message)
{
    void *target = (char *)d + key->offset;
    uint64_t number = 0;

    switch (key->type) {
    case KEY_IDENTITY:
        return read_identity(d, value) ||
               refuse_value(out_message, key, value, "it is zeta or intel-like");
    case KEY_TEXT:
    case KEY_NAME:
        return read_text(key, value, target, out_message);
    case KEY_U32:
    case KEY_DEVICE_ID:
        if (!read_number(key, value, &number, out_message))
            return false;
        if (key->type == KEY_DEVICE_ID && is_misleading_id(number))
            return refuse_value(
                out_message, key, value,
                "profilers take this family of ids for hardware with another timer");
        *(uint32_t *)target = (uint32_t)number;
        return true;
    case KEY_U64:
        return read_number(key, value, target, out_message);
    case KEY_UUID:
        d->has_uuid = read_uuid(value, d->uuid);
        return d->has_uuid || refuse_value(out_message, key, value, "it has 32 hexadecimal digits");
    case KEY_PCI:
        return read_pci(value, d) ||
               refuse_value(out_message, key, value,
                            "it is domain:bus:device.function in hexadecimal, or none");
    case KEY_CLOCK:
        if (strcmp(value, "wall") != 0 && strcmp(value, "virtual") != 0)
            return refuse_value(out_message, key, value, "it is wall or virtual");
        d->clock = *value == 'w' ? ZETA_VGPU_CLOCK_WALL : ZETA_VGPU_CLOCK_VIRTUAL;
        return true;
    case KEY_FOLDER:
        if (value[0] != '/' && strcmp(value, "off") != 0)
            return refuse_value(out_message, key, value,
                                "it is the absolute path of a folder, or "
                                "off");
        return read_text(key, value, target, out_message);
    }
    return false;
}

enum zeta_vgpu_result zeta_vgpu_description_set(struct zeta_vgpu_description *description,
                                                const char *name, const char *value,
                                                bool *out_known,
                                                struct zeta_vgpu_message *out_message)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (strcmp(keys[i].name, name) != 0)
            continue;
        *out_known = true;
        return read_value(description, &keys[i], value, out_message) ? ZETA_VGPU_OK
                                                                     : ZETA_VGPU_INVALID_ARGUMENT;
    }
    *out_known = false;
    return zeta_vgpu_fail(out_message, ZETA_VGPU_INVALID_ARGUMENT, "there is no key '%.80s'", name);
}

/* A YAML file while it is read. */
struct reader {
    struct zeta_vgpu_description *description;
    const char *path;
    zeta_vgpu_unknown_key_fn unknown;
    void *context;
    struct zeta_vgpu_message *message;
};

static bool refuse(struct reader *reader, const struct zeta_yaml_node *node, const char *reason)
{
    return zeta_vgpu_reject(reader->message, "%.200s:%u:%u: %.250s", reader->path, node->line,
                            node->column, reason);
}

/* section: with its dot; empty for the top of the file. */
static bool read_members(struct reader *reader, const struct zeta_yaml_node *mapping,
                         const char *section)
{
    for (const struct zeta_yaml_node *node = mapping->first_child; node; node = node->next) {
        struct zeta_vgpu_message why;
        char name[128];
        bool known;

        if (strlen(node->key) >= 64)
            return refuse(reader, node, "this key is too long");
        if (node->kind == ZETA_YAML_SEQUENCE)
            return refuse(reader, node, "a list cannot be here");
        if (node->kind == ZETA_YAML_MAPPING && *section)
            return refuse(reader, node, "a mapping cannot be here");
        (void)snprintf(name, sizeof(name), "%s%s%s", section, node->key,
                       node->kind == ZETA_YAML_MAPPING ? "." : "");
        if (node->kind == ZETA_YAML_MAPPING) {
            if (!read_members(reader, node, name))
                return false;
        } else if (strcmp(name, "format") == 0) {
            if (strncmp(node->text, "1.", 2) != 0)
                return refuse(reader, node, "only format 1 is known");
        } else if (zeta_vgpu_description_set(reader->description, name, node->text, &known, &why) !=
                   ZETA_VGPU_OK) {
            if (known)
                return refuse(reader, node, why.text);
            if (reader->unknown)
                reader->unknown(reader->context, reader->path, node->line, name);
        }
    }
    return true;
}

/* Applies a document that was read, or could not be, and frees it. */
static enum zeta_vgpu_result apply(struct reader *reader, struct zeta_yaml_document *document,
                                   const struct zeta_yaml_error *error)
{
    const struct zeta_yaml_node *root = document ? zeta_yaml_root(document) : NULL;
    bool good = document != NULL;

    if (!document) {
        zeta_yaml_print_error(error, reader->path, reader->message->text,
                              sizeof(reader->message->text));
        if (error->no_memory)
            return ZETA_VGPU_OUT_OF_MEMORY;
    } else if (root && root->kind == ZETA_YAML_MAPPING) {
        good = read_members(reader, root, "");
    } else if (root) {
        good =
            refuse(reader, root,
                   root->kind == ZETA_YAML_SEQUENCE ? "a list cannot be here"
                                                    : "a mapping of names to values is expected");
    }
    zeta_yaml_free(document);
    return good ? ZETA_VGPU_OK : ZETA_VGPU_INVALID_ARGUMENT;
}

enum zeta_vgpu_result zeta_vgpu_description_parse(struct zeta_vgpu_description *description,
                                                  const char *text, size_t length, const char *name,
                                                  zeta_vgpu_unknown_key_fn unknown, void *context,
                                                  struct zeta_vgpu_message *out_message)
{
    struct reader reader = {description, name, unknown, context, out_message};
    struct zeta_yaml_error error;
    struct zeta_yaml_document *document = zeta_yaml_parse(text, length, name, NULL, &error);

    return apply(&reader, document, &error);
}

enum zeta_vgpu_result zeta_vgpu_description_load(struct zeta_vgpu_description *description,
                                                 const char *path, zeta_vgpu_unknown_key_fn unknown,
                                                 void *context,
                                                 struct zeta_vgpu_message *out_message)
{
    struct reader reader = {description, path, unknown, context, out_message};
    const struct zeta_yaml_limits limits = {.max_bytes = 65536};
    struct zeta_yaml_error error;
    struct zeta_yaml_document *document = zeta_yaml_read_file(path, &limits, &error);

    return apply(&reader, document, &error);
}
