/* Descriptions of machines: YAML, or the name of a chip. */

#include <stdio.h>
#include <string.h>

#include <zeta/yaml.h>

#include "tests/cuda/machine/machine.h"

/* A key: where its number is, and the words that stand for numbers, if it has any. */
struct key {
    const char *name;
    size_t offset;
    const char *const *words;
    uint64_t max;
};

static const char *const times[] = {"real", "manual", NULL};
static const char *const modes[] = {"none", "sli", "vgpu", "confidential", "cmp", "wsl", NULL};
static const char *const flags[] = {"false", "true", NULL};

#define MACHINE(member) offsetof(struct cuda_description, member)
static const struct key machine_keys[] = {
    {"driver", MACHINE(driver), NULL, INT32_MAX},
    {"cupti", MACHINE(cupti), NULL, INT32_MAX},
    {"growth", MACHINE(growth), NULL, 4096},
    {"permits", MACHINE(permits), flags, 0},
    {"time", MACHINE(is_manual), times, 0},
    {"decode_ns", MACHINE(decode_ns), NULL, 1000000000},
    {"fills_images", MACHINE(fills_images), flags, 0},
};

#define CHIP(member) offsetof(struct cuda_chip, member)
static const struct key chip_keys[] = {
    {"pci_id", CHIP(pci_id), NULL, UINT32_MAX},
    {"cc_major", CHIP(cc_major), NULL, 99},
    {"cc_minor", CHIP(cc_minor), NULL, 9},
    {"sms", CHIP(sms), NULL, 1024},
    {"gpcs", CHIP(gpcs), NULL, 64},
    {"channels", CHIP(channels), NULL, 1024},
    {"sm_khz", CHIP(sm_khz), NULL, 100000000},
    {"memory_khz", CHIP(memory_khz), NULL, 100000000},
    {"memory_bytes", CHIP(memory_bytes), NULL, INT64_MAX},
    {"compute_mode", CHIP(compute_mode), NULL, 3},
    {"instances", CHIP(instances), NULL, CUDA_INSTANCES},
    {"has_links", CHIP(has_links), flags, 0},
    {"has_pm_sampling", CHIP(has_pm_sampling), flags, 0},
    {"has_ns_trigger", CHIP(has_ns_trigger), flags, 0},
    {"has_gpm", CHIP(has_gpm), flags, 0},
    {"mode", CHIP(mode), modes, 0},
};

static bool refuse(const struct zeta_yaml_node *node, const char *why)
{
    (void)fprintf(stderr, "cuda: description, line %u: %s: %s\n", node->line,
                  node->key ? node->key : "list", why);
    return false;
}

static bool read_number(const struct zeta_yaml_node *node, const struct key *key, uint64_t *out)
{
    uint64_t value;

    if (!key->words) {
        if (!zeta_yaml_u64(node, &value) || value > key->max)
            return refuse(node, "not a number in its range");
        *out = value;
        return true;
    }
    for (value = 0; key->words[value]; value++) {
        if (node->text && strcmp(node->text, key->words[value]) == 0) {
            *out = value;
            return true;
        }
    }
    return refuse(node, "not a word that it knows");
}

/* One member of a mapping into the structure that the keys are about. */
static bool read_member(const struct zeta_yaml_node *node, const struct key *keys, size_t count,
                        void *structure)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(node->key, keys[i].name) == 0)
            return read_number(node, &keys[i],
                               (uint64_t *)(void *)((char *)structure + keys[i].offset));
    }
    return refuse(node, "no such key");
}

static bool read_text(const struct zeta_yaml_node *node, char out[CUDA_TEXT])
{
    if (!node->text || node->length == 0 || node->length >= CUDA_TEXT)
        return refuse(node, "not a text of 1 to 63 characters");
    (void)strcpy(out, node->text);
    return true;
}

static bool read_gpu(const struct zeta_yaml_node *node, uint32_t index, struct cuda_chip *out)
{
    const char *name = zeta_yaml_text(node, "chip");
    const char *base = zeta_yaml_text(node, "like");
    const struct cuda_chip *chip = base || name ? cuda_chip_find(base ? base : name) : NULL;

    if (node->kind != ZETA_YAML_MAPPING || !chip)
        return refuse(node, "a GPU names its chip, or one that it is like");
    *out = *chip;
    (void)snprintf(out->pci, sizeof(out->pci), "0000:%02x:00.0", index + 6);
    for (const struct zeta_yaml_node *member = node->first_child; member; member = member->next) {
        bool is_read;

        if (strcmp(member->key, "like") == 0)
            continue;
        if (strcmp(member->key, "chip") == 0)
            is_read = read_text(member, out->chip);
        else if (strcmp(member->key, "name") == 0)
            is_read = read_text(member, out->name);
        else if (strcmp(member->key, "pci") == 0)
            is_read = read_text(member, out->pci);
        else
            is_read = read_member(member, chip_keys, sizeof(chip_keys) / sizeof(chip_keys[0]), out);
        if (!is_read)
            return false;
    }
    if (!base)
        (void)strcpy(out->chip, chip->chip);
    return true;
}

static bool read_machine(const struct zeta_yaml_node *root, struct cuda_description *out)
{
    uint64_t format = 0;

    if (!root || root->kind != ZETA_YAML_MAPPING ||
        !zeta_yaml_u64(zeta_yaml_member(root, "format"), &format) || format != 1) {
        (void)fprintf(stderr, "cuda: the description is no mapping with `format: 1`\n");
        return false;
    }
    for (const struct zeta_yaml_node *node = root->first_child; node; node = node->next) {
        if (strcmp(node->key, "format") == 0)
            continue;
        if (strcmp(node->key, "gpus") != 0) {
            if (!read_member(node, machine_keys, sizeof(machine_keys) / sizeof(machine_keys[0]),
                             out))
                return false;
            continue;
        }
        if (node->kind != ZETA_YAML_SEQUENCE || node->child_count > CUDA_GPUS)
            return refuse(node, "not a list of at most 8 GPUs");
        for (const struct zeta_yaml_node *gpu = node->first_child; gpu; gpu = gpu->next) {
            if (!read_gpu(gpu, out->gpu_count, &out->gpus[out->gpu_count]))
                return false;
            out->gpu_count++;
        }
    }
    return true;
}

bool cuda_describe(const char *text, struct cuda_description *out)
{
    struct zeta_yaml_error error;
    struct zeta_yaml_document *document;
    char line[CUDA_TEXT * 2];
    bool is_read;

    *out = (struct cuda_description){.driver = 13000, .cupti = 130001, .permits = 1};
    if (cuda_chip_find(text)) {
        (void)snprintf(line, sizeof(line), "{format: 1, gpus: [{chip: %s}]}", text);
        text = line;
    }
    document = zeta_yaml_parse(text, strlen(text), "description", NULL, &error);
    if (!document) {
        char sentence[512];

        zeta_yaml_print_error(&error, "description", sentence, sizeof(sentence));
        (void)fprintf(stderr, "cuda: %s\n", sentence);
        return false;
    }
    is_read = read_machine(zeta_yaml_root(document), out);
    zeta_yaml_free(document);
    return is_read;
}
