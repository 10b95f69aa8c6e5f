#include "sdk/tools/zeta/profile/profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sdk/tools/zeta/output/message.h"

/* Digits of a base and nothing else; null is no number. */
static bool read_number(const char *word, int base, uint64_t *out_number)
{
    const char *digits = base == 16 ? "0123456789abcdef" : "0123456789";

    if (!word || !*word || word[strspn(word, digits)] != '\0')
        return false;
    errno = 0;
    *out_number = strtoull(word, NULL, base);
    return errno == 0;
}

/* Takes back what the writer did to bytes that lines have a use for. Null without memory. */
static char *decode(const char *word)
{
    char *name = malloc(strlen(word) + 1);
    size_t length = 0;

    for (; name && *word; word++) {
        char digits[3] = "";
        uint64_t byte = 0;

        if (*word == '%')
            (void)strncpy(digits, word + 1, 2);
        if (strlen(digits) == 2 && read_number(digits, 16, &byte) && byte != 0)
            word += 2;
        name[length++] = byte != 0 ? (char)byte : *word;
    }
    if (name)
        name[length] = '\0';
    return name;
}

/* "name=address" */
static bool read_kernel(struct zeta_module_entry *entry, char *word, bool *out_memory)
{
    char *address = word;
    struct zeta_module_kernel kernel = {0};
    struct zeta_module_kernel *kernels;

    word = strsep(&address, "=");
    if (!read_number(address, 16, &kernel.address))
        return false;
    kernel.name = decode(word);
    kernels = realloc(entry->kernels, (entry->kernel_count + 1) * sizeof(*kernels));
    if (kernels)
        entry->kernels = kernels;
    *out_memory = kernels && kernel.name;
    if (*out_memory)
        kernels[entry->kernel_count++] = kernel;
    else
        free(kernel.name);
    return *out_memory;
}

static void finish_entry(struct zeta_module_entry *entry)
{
    for (uint32_t i = 0; i < entry->kernel_count; i++)
        free(entry->kernels[i].name);
    free(entry->kernels);
    free(entry->file);
    zeta_code_lines_close(entry->image);
}

/* Reads what follows "load"; false when the line is none, or without memory. */
static bool add_load(struct zeta_module_index *index, char *line, bool *out_memory)
{
    struct zeta_module_entry entry = {0};
    struct zeta_module_entry *entries = NULL;
    const char *file;
    uint64_t pid = 0;
    bool is_good = read_number(strsep(&line, "\t"), 10, &pid) && pid <= UINT32_MAX &&
                   read_number(strsep(&line, "\t"), 16, &entry.begin) &&
                   read_number(strsep(&line, "\t"), 16, &entry.end) && entry.begin < entry.end;

    file = strsep(&line, "\t");
    if (!is_good || !file || !*file)
        return false;
    entry.pid = (uint32_t)pid;
    entry.file = decode(file);
    *out_memory = entry.file != NULL;
    while (is_good && *out_memory && line && *line)
        is_good = read_kernel(&entry, strsep(&line, "\t"), out_memory);
    /* The file is in the folder, whatever the line has. */
    if (is_good && *out_memory && entry.file[0] != '.' && !strchr(entry.file, '/')) {
        entries = realloc(index->entries, (index->count + 1) * sizeof(*entries));
        *out_memory = entries != NULL;
    }
    if (!entries) {
        finish_entry(&entry);
        return false;
    }
    index->entries = entries;
    entries[index->count++] = entry;
    return true;
}

/* A module that ended: the last that was loaded there. */
static bool note_unload(struct zeta_module_index *index, char *line)
{
    uint64_t pid = 0, begin = 0;

    if (!read_number(strsep(&line, "\t"), 10, &pid) ||
        !read_number(strsep(&line, "\t"), 16, &begin) || (line && *line))
        return false;
    for (uint32_t i = index->count; i-- > 0;) {
        struct zeta_module_entry *entry = &index->entries[i];

        if (entry->pid == pid && entry->begin == begin && !entry->is_unloaded) {
            entry->is_unloaded = true;
            return true;
        }
    }
    return false;
}

bool zeta_module_index_parse(struct zeta_module_index *index, const char *text, size_t size)
{
    bool memory = true;

    *index = (struct zeta_module_index){0};
    while (size > 0 && memory) {
        const char *end = memchr(text, '\n', size);
        const size_t length = end ? (size_t)(end - text) : size;
        char *line = strndup(text, length);
        char *rest = line;
        const char *kind = line ? strsep(&rest, "\t") : "";

        memory = line != NULL;
        /* A line without an end is still being written, or was cut. */
        if (!end ||
            !(strcmp(kind, "load") == 0 ? add_load(index, rest, &memory)
                                        : strcmp(kind, "unload") == 0 && note_unload(index, rest)))
            index->bad_lines++;
        free(line);
        text += length + (end != NULL);
        size -= length + (end != NULL);
    }
    return memory;
}

int zeta_module_index_read(struct zeta_module_index *index, const char *folder, uint64_t *io_offset)
{
    const uint64_t offset = io_offset ? *io_offset : 0;
    struct stat about;
    char *path = NULL;
    char *text = NULL;
    FILE *file = NULL;
    size_t size = 0;
    int status = ZETA_EXIT_OK;

    *index = (struct zeta_module_index){0};
    if (asprintf(&path, "%s/index", folder) < 0)
        return zeta_print_failure("no memory to read the modules in %s", folder);
    file = fopen(path, "re");
    if (!file && errno == ENOENT)
        goto end;
    if (!file || fstat(fileno(file), &about) != 0 || fseeko(file, (off_t)offset, SEEK_SET) != 0) {
        status = zeta_print_failure("cannot read %s: %s", path, strerror(errno));
        goto end;
    }
    if ((uint64_t)about.st_size > offset)
        size = (size_t)about.st_size - (size_t)offset;
    text = malloc(size + 1);
    if (text)
        size = fread(text, 1, size, file);
    if (text && io_offset) {
        const char *end = memrchr(text, '\n', size);

        size = end ? (size_t)(end - text) + 1 : 0;
        *io_offset += size;
    }
    if (!text || !zeta_module_index_parse(index, text, size))
        status = zeta_print_failure("no memory for the modules in %s", folder);
end:
    if (file)
        (void)fclose(file);
    free(text);
    free(path);
    return status;
}

void zeta_module_index_finish(struct zeta_module_index *index)
{
    for (uint32_t i = 0; i < index->count; i++)
        finish_entry(&index->entries[i]);
    free(index->entries);
    *index = (struct zeta_module_index){0};
}

struct zeta_module_entry *zeta_module_index_find(const struct zeta_module_index *index,
                                                 uint64_t address)
{
    struct zeta_module_entry *found = NULL;

    for (uint32_t i = index->count; i-- > 0;) {
        struct zeta_module_entry *entry = &index->entries[i];

        if ((uint32_t)(address - entry->begin) >= entry->end - entry->begin)
            continue;
        if (!entry->is_unloaded)
            return entry;
        if (!found)
            found = entry;
    }
    return found;
}

const struct zeta_module_kernel *zeta_module_entry_kernel(const struct zeta_module_entry *entry,
                                                          uint64_t address)
{
    const struct zeta_module_kernel *found = NULL;

    for (uint32_t i = 0; i < entry->kernel_count; i++) {
        const struct zeta_module_kernel *kernel = &entry->kernels[i];

        if (kernel->address <= address && (!found || kernel->address > found->address))
            found = kernel;
    }
    return found;
}

/* The metric IP is the address without its lowest bits. */
enum { ADDRESS_BITS = 3, FIRST_ROOM = 256 };

struct zeta_ip_address {
    bool is_used; /* else the place is free: 0 is an address on hardware */
    uint64_t address;
    struct zeta_ip_counts counts;
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
    struct zeta_module_entry *entry = zeta_module_index_find(&profile->modules, address->address);
    struct zeta_code_place place = {0};
    char *path = NULL;
    uint64_t full;

    *out_line = (struct zeta_ip_line){
        .address = address->address, .is_address = true, .counts = address->counts};
    if (!entry)
        return;
    /* A sample has the low 32 bits; the module knows the rest. */
    full = entry->begin + (uint32_t)(address->address - entry->begin);
    out_line->address = full;
    if (!entry->was_opened && asprintf(&path, "%s/%s", folder, entry->file) >= 0) {
        entry->image = zeta_code_lines_open(path, entry->begin);
        free(path);
    }
    entry->was_opened = true;
    if (entry->image)
        zeta_code_lines_find(entry->image, full, &place);
    if (!place.function) {
        const struct zeta_module_kernel *kernel = zeta_module_entry_kernel(entry, full);

        place.function = kernel ? kernel->name : NULL;
    }
    out_line->kernel = function_name(entry, place.function);
    out_line->file = place.file;
    out_line->line = place.line;
    out_line->is_address = !entry->image || !zeta_code_lines_has_lines(entry->image);
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
    if (profile->is_resolved)
        return ZETA_EXIT_OK;
    profile->is_resolved = true;
    if (folder && zeta_module_index_read(&profile->modules, folder, NULL) != ZETA_EXIT_OK)
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
    zeta_module_index_finish(&profile->modules);
    free(profile->addresses);
    free(profile->lines);
    free(profile->kernels);
    *profile = (struct zeta_ip_profile){0};
}
