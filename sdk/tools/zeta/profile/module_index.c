#include "sdk/tools/zeta/profile/module_index.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta/output/message.h"

/* A word between tabs. */
struct word {
    const char *text;
    size_t size;
};

static struct word next_word(struct word *rest)
{
    const char *tab = rest->size ? memchr(rest->text, '\t', rest->size) : NULL;
    struct word word = {rest->text, tab ? (size_t)(tab - rest->text) : rest->size};
    const size_t used = word.size + (tab != NULL);

    rest->text += used;
    rest->size -= used;
    return word;
}

static bool is(struct word word, const char *text)
{
    return word.size == strlen(text) && memcmp(word.text, text, word.size) == 0;
}

static int digit_of(char letter)
{
    if (letter >= '0' && letter <= '9')
        return letter - '0';
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : 16;
}

static bool read_number(struct word word, unsigned base, uint64_t *out_number)
{
    uint64_t number = 0;

    if (word.size == 0 || word.size > 20)
        return false;
    for (size_t i = 0; i < word.size; i++) {
        const unsigned digit = (unsigned)digit_of(word.text[i]);

        if (digit >= base || number > (UINT64_MAX - digit) / base)
            return false;
        number = number * base + digit;
    }
    *out_number = number;
    return true;
}

/* Takes back what the writer did to bytes that lines have a use for. */
static char *read_name(struct word word)
{
    char *name = malloc(word.size + 1);
    size_t length = 0;

    for (size_t i = 0; name && i < word.size; i++) {
        uint64_t byte = (unsigned char)word.text[i];

        if (word.text[i] == '%' && word.size - i > 2 &&
            read_number((struct word){word.text + i + 1, 2}, 16, &byte) && byte != 0)
            i += 2;
        name[length++] = (char)byte;
    }
    if (name)
        name[length] = '\0';
    return name;
}

/* "name=address" */
static bool read_kernel(struct zeta_module_entry *entry, struct word word, bool *out_memory)
{
    const char *equals = word.size ? memchr(word.text, '=', word.size) : NULL;
    const size_t length = equals ? (size_t)(equals - word.text) : 0;
    struct zeta_module_kernel *kernels;
    uint64_t address = 0;

    if (!equals || !read_number((struct word){equals + 1, word.size - length - 1}, 16, &address))
        return false;
    kernels = realloc(entry->kernels, (entry->kernel_count + 1) * sizeof(*kernels));
    if (!kernels) {
        *out_memory = false;
        return false;
    }
    entry->kernels = kernels;
    kernels += entry->kernel_count;
    kernels->address = address;
    kernels->name = read_name((struct word){word.text, length});
    *out_memory = kernels->name != NULL;
    entry->kernel_count += *out_memory;
    return *out_memory;
}

static void finish_entry(struct zeta_module_entry *entry)
{
    for (uint32_t i = 0; i < entry->kernel_count; i++)
        free(entry->kernels[i].name);
    free(entry->kernels);
    free(entry->file);
}

/* Reads what follows "load"; false when the line is none, or without memory. */
static bool read_load(struct zeta_module_entry *entry, struct word line, bool *out_memory)
{
    struct word file;
    uint64_t pid = 0;
    bool fine = read_number(next_word(&line), 10, &pid) && pid <= UINT32_MAX;

    fine = read_number(next_word(&line), 16, &entry->begin) && fine;
    fine = read_number(next_word(&line), 16, &entry->end) && fine;
    file = next_word(&line);
    if (!fine || entry->begin >= entry->end || file.size == 0 || memchr(file.text, '\0', file.size))
        return false;
    entry->pid = (uint32_t)pid;
    entry->file = read_name(file);
    *out_memory = entry->file != NULL;
    while (fine && *out_memory && line.size > 0)
        fine = read_kernel(entry, next_word(&line), out_memory);
    /* The file lies in the folder, whatever the line has. */
    return fine && *out_memory && entry->file[0] != '.' && !strchr(entry->file, '/');
}

static bool add_load(struct zeta_module_index *index, struct word line, bool *out_memory)
{
    struct zeta_module_entry entry = {0};
    struct zeta_module_entry *entries;

    if (!read_load(&entry, line, out_memory)) {
        finish_entry(&entry);
        return false;
    }
    entries = realloc(index->entries, (index->count + 1) * sizeof(*entries));
    if (!entries) {
        finish_entry(&entry);
        *out_memory = false;
        return false;
    }
    index->entries = entries;
    entries[index->count++] = entry;
    return true;
}

/* A module that ended: the last that was loaded there. */
static bool note_unload(struct zeta_module_index *index, struct word line)
{
    uint64_t pid = 0, begin = 0;

    if (!read_number(next_word(&line), 10, &pid) || !read_number(next_word(&line), 16, &begin) ||
        line.size > 0)
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

static bool read_line(struct zeta_module_index *index, struct word line, bool *out_memory)
{
    struct word kind = next_word(&line);

    if (is(kind, "load"))
        return add_load(index, line, out_memory);
    return is(kind, "unload") && note_unload(index, line);
}

bool zeta_module_index_parse(struct zeta_module_index *index, const char *text, size_t size)
{
    bool memory = true;

    *index = (struct zeta_module_index){0};
    while (size > 0 && memory) {
        const char *end = memchr(text, '\n', size);
        /* A line without an end is still being written, or was cut. */
        const size_t length = end ? (size_t)(end - text) : size;

        if (!end || !read_line(index, (struct word){text, length}, &memory))
            index->bad_lines++;
        text += length + (end != NULL);
        size -= length + (end != NULL);
    }
    return memory;
}

/* The rest of a file; null without memory, or when it cannot be read. */
static char *read_rest(FILE *file, size_t *out_size)
{
    size_t size = 0, room = 65536;
    char *text = malloc(room);

    while (text) {
        const size_t n = fread(text + size, 1, room - size, file);
        char *larger;

        size += n;
        if (size < room)
            break;
        room *= 2;
        larger = realloc(text, room);
        if (!larger)
            free(text);
        text = larger;
    }
    *out_size = size;
    return text;
}

/* Text of the index behind an offset; null without a message when there is no index. */
static int read_text(const char *folder, uint64_t offset, char **out_text, size_t *out_size)
{
    char *path = NULL;
    FILE *file = NULL;
    int status = ZETA_EXIT_OK;

    *out_text = NULL;
    *out_size = 0;
    if (asprintf(&path, "%s/index", folder) < 0)
        return zeta_print_failure("no memory to read the modules in %s", folder);
    errno = 0;
    file = fopen(path, "re");
    if (file && fseeko(file, (off_t)offset, SEEK_SET) == 0) {
        *out_text = read_rest(file, out_size);
        if (!*out_text)
            status = zeta_print_failure("no memory for the modules in %s", folder);
    } else if (errno != ENOENT) {
        status = zeta_print_failure("cannot read %s: %s", path, strerror(errno));
    }
    if (file)
        (void)fclose(file);
    free(path);
    return status;
}

static int parse_text(struct zeta_module_index *index, const char *folder, const char *text,
                      size_t size)
{
    if (zeta_module_index_parse(index, text, size))
        return ZETA_EXIT_OK;
    return zeta_print_failure("no memory for the modules in %s", folder);
}

int zeta_module_index_read(struct zeta_module_index *index, const char *folder)
{
    char *text = NULL;
    size_t size = 0;
    int status;

    *index = (struct zeta_module_index){0};
    status = read_text(folder, 0, &text, &size);
    if (status == ZETA_EXIT_OK)
        status = parse_text(index, folder, text, size);
    free(text);
    return status;
}

int zeta_module_index_read_on(struct zeta_module_index *index, const char *folder,
                              uint64_t *io_offset)
{
    const char *end = NULL;
    char *text = NULL;
    size_t size = 0;
    int status;

    *index = (struct zeta_module_index){0};
    status = read_text(folder, *io_offset, &text, &size);
    if (text)
        end = memrchr(text, '\n', size);
    if (status == ZETA_EXIT_OK && end) {
        size = (size_t)(end - text) + 1;
        status = parse_text(index, folder, text, size);
        *io_offset += size;
    }
    free(text);
    return status;
}

void zeta_module_index_finish(struct zeta_module_index *index)
{
    for (uint32_t i = 0; i < index->count; i++)
        finish_entry(&index->entries[i]);
    free(index->entries);
    *index = (struct zeta_module_index){0};
}

const struct zeta_module_entry *zeta_module_index_find(const struct zeta_module_index *index,
                                                       uint64_t address)
{
    const struct zeta_module_entry *found = NULL;

    for (uint32_t i = index->count; i-- > 0;) {
        const struct zeta_module_entry *entry = &index->entries[i];

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
