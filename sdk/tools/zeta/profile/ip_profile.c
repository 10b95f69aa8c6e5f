#include "sdk/tools/zeta/profile/ip_profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/profile/code_lines.h"
#include "sdk/tools/zeta/profile/module_index.h"

/* The metric IP is the address without its lowest bits. */
enum { ADDRESS_BITS = 3, FIRST_ROOM = 256 };

struct zeta_ip_address {
    bool is_used; /* else the place is free: 0 is an address on hardware */
    uint64_t address;
    struct zeta_ip_counts counts;
};

/* What the folder of modules holds. */
struct zeta_ip_source {
    struct zeta_module_index index;
    struct zeta_code_lines **images; /* one per entry; null: not opened, or no image */
    bool *opened;
};

int zeta_ip_profile_init(struct zeta_ip_profile *profile, const struct zeta_group_entry *entry)
{
    *profile = (struct zeta_ip_profile){0};
    if (entry->properties.metricCount != 1 + ZETA_IP_REASONS ||
        strcmp(entry->metrics[0].properties.name, "IP") != 0)
        return zeta_print_failure(
            "cannot show a profile of %s: it has %u metrics instead of IP and %d reasons",
            entry->properties.name, entry->properties.metricCount, ZETA_IP_REASONS);
    for (uint32_t i = 0; i < ZETA_IP_REASONS; i++)
        profile->reason_names[i] = entry->metrics[1 + i].properties.name;
    return ZETA_EXIT_OK;
}

static uint32_t slot_of(const struct zeta_ip_profile *profile, uint64_t address)
{
    uint32_t slot = (uint32_t)((address * UINT64_C(0x9e3779b97f4a7c15)) >> 32);

    slot &= profile->room - 1;
    while (profile->addresses[slot].is_used && profile->addresses[slot].address != address)
        slot = (slot + 1) & (profile->room - 1);
    return slot;
}

static bool grow(struct zeta_ip_profile *profile)
{
    struct zeta_ip_profile larger = *profile;

    larger.room = profile->room ? 2 * profile->room : FIRST_ROOM;
    larger.addresses = calloc(larger.room, sizeof(*larger.addresses));
    if (!larger.addresses)
        return false;
    for (uint32_t i = 0; i < profile->room; i++) {
        if (profile->addresses[i].is_used)
            larger.addresses[slot_of(&larger, profile->addresses[i].address)] =
                profile->addresses[i];
    }
    free(profile->addresses);
    *profile = larger;
    return true;
}

static void add_counts(struct zeta_ip_counts *sum, const struct zeta_ip_counts *counts)
{
    for (uint32_t i = 0; i < ZETA_IP_REASONS; i++)
        sum->reasons[i] += counts->reasons[i];
    sum->total += counts->total;
}

bool zeta_ip_profile_add_row(struct zeta_ip_profile *profile, const zet_typed_value_t *values)
{
    const uint64_t address = values[0].value.ui64 << ADDRESS_BITS;
    struct zeta_ip_counts counts = {0};
    struct zeta_ip_address *slot;

    if (2 * profile->used >= profile->room && !grow(profile))
        return false;
    for (uint32_t i = 0; i < ZETA_IP_REASONS; i++) {
        counts.reasons[i] = values[1 + i].value.ui64;
        counts.total += counts.reasons[i];
    }
    profile->rows++;
    add_counts(&profile->all, &counts);
    slot = &profile->addresses[slot_of(profile, address)];
    profile->used += !slot->is_used;
    slot->is_used = true;
    slot->address = address;
    add_counts(&slot->counts, &counts);
    return true;
}

static int open_source(struct zeta_ip_profile *profile, const char *folder)
{
    struct zeta_ip_source *source = calloc(1, sizeof(*source));

    profile->source = source;
    if (!source)
        return zeta_print_failure("no memory to look up instructions");
    if (folder && zeta_module_index_read(&source->index, folder) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    source->images = calloc((size_t)source->index.count + 1, sizeof(struct zeta_code_lines *));
    source->opened = calloc((size_t)source->index.count + 1, sizeof(*source->opened));
    if (!source->images || !source->opened)
        return zeta_print_failure("no memory to look up instructions");
    return ZETA_EXIT_OK;
}

static struct zeta_code_lines *image_of(struct zeta_ip_source *source, const char *folder,
                                        const struct zeta_module_entry *entry)
{
    const size_t index = (size_t)(entry - source->index.entries);
    char *path = NULL;

    if (source->opened[index])
        return source->images[index];
    source->opened[index] = true;
    if (asprintf(&path, "%s/%s", folder, entry->file) < 0)
        return NULL;
    source->images[index] = zeta_code_lines_open(path, entry->begin);
    free(path);
    return source->images[index];
}

/* Compilers put a function in front of each kernel, named by it, and the kernel into that. */
static const char *function_name(const struct zeta_module_entry *entry, const char *name)
{
    static const char *const stubs[] = {"__vgpu_entry.", "vgpu_entry_"};

    for (size_t s = 0; name && s < sizeof(stubs) / sizeof(stubs[0]); s++) {
        const size_t length = strlen(stubs[s]);

        for (uint32_t i = 0; i < entry->kernel_count; i++) {
            if (strncmp(name, stubs[s], length) == 0 &&
                strcmp(name + length, entry->kernels[i].name) == 0)
                return entry->kernels[i].name;
        }
    }
    return name;
}

static void resolve_address(struct zeta_ip_profile *profile, const char *folder,
                            const struct zeta_ip_address *address, struct zeta_ip_line *out_line)
{
    struct zeta_ip_source *source = profile->source;
    const struct zeta_module_entry *entry =
        zeta_module_index_find(&source->index, address->address);
    struct zeta_code_place place = {0};
    struct zeta_code_lines *image = NULL;
    uint64_t full;

    *out_line = (struct zeta_ip_line){
        .address = address->address, .is_address = true, .counts = address->counts};
    if (!entry)
        return;
    /* A sample has the low 32 bits; the module knows the rest. */
    full = entry->begin + (uint32_t)(address->address - entry->begin);
    out_line->address = full;
    image = image_of(source, folder, entry);
    if (image)
        zeta_code_lines_find(image, full, &place);
    if (!place.function) {
        const struct zeta_module_kernel *kernel = zeta_module_entry_kernel(entry, full);

        place.function = kernel ? kernel->name : NULL;
    }
    out_line->kernel = function_name(entry, place.function);
    out_line->file = place.file;
    out_line->line = place.line;
    out_line->is_address = !image || !zeta_code_lines_has_lines(image);
    if (out_line->is_address)
        profile->without_lines += address->counts.total;
}

static int compare_texts(const char *left, const char *right)
{
    if (!left || !right)
        return (left != NULL) - (right != NULL);
    return strcmp(left, right);
}

static int compare_places(const void *left, const void *right)
{
    const struct zeta_ip_line *a = left, *b = right;
    int order = compare_texts(a->kernel, b->kernel);

    if (order == 0)
        order = compare_texts(a->file, b->file);
    if (order == 0 && a->line != b->line)
        order = a->line < b->line ? -1 : 1;
    if (order == 0 && a->is_address && a->address != b->address)
        order = a->address < b->address ? -1 : 1;
    return order;
}

static int compare_lines(const void *left, const void *right)
{
    const struct zeta_ip_line *a = left, *b = right;

    if (a->counts.total != b->counts.total)
        return a->counts.total > b->counts.total ? -1 : 1;
    return compare_places(left, right);
}

static int compare_kernels(const void *left, const void *right)
{
    const struct zeta_ip_kernel *a = left, *b = right;

    if (a->counts.total != b->counts.total)
        return a->counts.total > b->counts.total ? -1 : 1;
    return compare_texts(a->name, b->name);
}

/* Joins neighbours that are the same place; they are sorted by it. */
static void join_lines(struct zeta_ip_profile *profile)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < profile->line_count; i++) {
        struct zeta_ip_line *last = count ? &profile->lines[count - 1] : NULL;
        const struct zeta_ip_line *line = &profile->lines[i];

        if (!last || compare_places(last, line) != 0) {
            profile->lines[count++] = *line;
            continue;
        }
        add_counts(&last->counts, &line->counts);
        if (line->address < last->address)
            last->address = line->address;
    }
    profile->line_count = count;
}

static void sum_kernels(struct zeta_ip_profile *profile)
{
    struct zeta_ip_kernel *last = NULL;

    for (uint32_t i = 0; i < profile->line_count; i++) {
        const struct zeta_ip_line *line = &profile->lines[i];

        if (!last || compare_texts(last->name, line->kernel) != 0) {
            last = &profile->kernels[profile->kernel_count++];
            *last = (struct zeta_ip_kernel){.name = line->kernel};
        }
        add_counts(&last->counts, &line->counts);
    }
}

int zeta_ip_profile_resolve(struct zeta_ip_profile *profile, const char *folder)
{
    if (profile->source)
        return ZETA_EXIT_OK;
    if (open_source(profile, folder) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    profile->lines = calloc((size_t)profile->used + 1, sizeof(*profile->lines));
    profile->kernels = calloc((size_t)profile->used + 1, sizeof(*profile->kernels));
    if (!profile->lines || !profile->kernels)
        return zeta_print_failure("no memory for the profile");
    for (uint32_t i = 0; i < profile->room; i++) {
        if (profile->addresses[i].is_used)
            resolve_address(profile, folder, &profile->addresses[i],
                            &profile->lines[profile->line_count++]);
    }
    qsort(profile->lines, profile->line_count, sizeof(*profile->lines), compare_places);
    join_lines(profile);
    sum_kernels(profile);
    qsort(profile->lines, profile->line_count, sizeof(*profile->lines), compare_lines);
    qsort(profile->kernels, profile->kernel_count, sizeof(*profile->kernels), compare_kernels);
    return ZETA_EXIT_OK;
}

void zeta_ip_profile_finish(struct zeta_ip_profile *profile)
{
    struct zeta_ip_source *source = profile->source;

    for (uint32_t i = 0; source && source->images && i < source->index.count; i++)
        zeta_code_lines_close(source->images[i]);
    if (source) {
        zeta_module_index_finish(&source->index);
        free((void *)source->images);
        free(source->opened);
        free(source);
    }
    free(profile->addresses);
    free(profile->lines);
    free(profile->kernels);
    *profile = (struct zeta_ip_profile){0};
}
