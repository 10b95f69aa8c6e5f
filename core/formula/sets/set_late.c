/*
 * Parts of files that are parsed at their first use.
 *
 * A thousand sets of a GPU write and use megabytes of registers and metrics, an application one of
 * them. So of a file that a plugin ships, the entries of blocks, programs and metrics are found by
 * their indentation, and parsed one by one when a set asks for them.
 *
 *     metrics:
 *       GpuTime: {...}     an entry is all from its key to that of the next one
 *       GpuBusy: {...}
 *
 * A section that does not look like this, or in which brackets or double quotes do not end with
 * their entry, is parsed with its file. Single quotes are not looked at, they are in words: an
 * entry that ends in such a text is refused as a mistake of syntax.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/formula/sets/catalog_priv.h"

enum { BLOCKS, PROGRAMS, METRICS, SECTIONS };

/** Of count_open(). */
#define OPEN 0x1ffffu

/** Entries of a file, or what is left of them. */
struct section {
    const char *at, *end;
    uint32_t line; /**< of at */
};

struct zeta_late {
    pthread_mutex_t lock; /**< of what is read at its first use */
    struct zeta_arena arena;
    uint32_t made; /**< of ZETA_CATALOG_MAX_MADE */
    struct zeta_late_file *files;
};

struct zeta_late_file {
    struct zeta_late_file *next;
    char *text;
    struct zeta_yaml_document *document; /**< the file without these sections */
    struct section sections[SECTIONS];
    const char *name; /**< once the file is read, and what follows */
    uint32_t format;
    const struct zeta_yaml_node *kinds;
    struct zeta_name_table blocks;
};

static const char *const section_names[SECTIONS] = {"blocks", "programs", "metrics"};

/** What a line begins with. */
struct line {
    const char *text, *next;
    size_t indent;
    size_t key_length; /**< 0: no key without quotes */
    bool is_empty;     /**< blank, or a comment */
    bool is_key_alone; /**< nothing but a comment follows the key */
};

static struct line look_at(const char *text, const char *end)
{
    const char *newline = memchr(text, '\n', (size_t)(end - text));
    struct line line = {.text = text, .next = newline ? newline + 1 : end};
    const char *at = text;
    const char *key;

    end = newline ? newline : end;
    while (at < end && *at == ' ')
        at++;
    line.indent = (size_t)(at - text);
    line.is_empty = at == end || *at == '#';
    for (key = at; at < end && (*at == '_' || *at == '-' || (*at >= '0' && *at <= '9') ||
                                ((*at | 0x20) >= 'a' && (*at | 0x20) <= 'z'));)
        at++;
    if (at == end || *at != ':' || (at + 1 < end && at[1] != ' '))
        return line;
    line.key_length = (size_t)(at - key);
    for (at++; at < end && *at == ' ';)
        at++;
    line.is_key_alone = at == end || *at == '#';
    return line;
}

/**
 * Brackets that are open behind a text, in the low bits, and quotes. In a text that may end here,
 * the bits of OPEN are 0: no bracket is open, and the quotes are even.
 */
static uint32_t count_open(const char *text, const char *end)
{
    enum { QUOTE = 1 << 16 };
    static const uint32_t weights[256] = {
        ['{'] = 1, ['['] = 1, ['}'] = UINT32_MAX, [']'] = UINT32_MAX, ['"'] = QUOTE};
    uint32_t sum = 0;

    for (; text < end; text++)
        sum += weights[(unsigned char)*text];
    return sum;
}

/** Gives what is behind the last entry to *out_rest. False if these are no entries in a column. */
static bool find_entries(struct section *section, const char *end, struct section *out_rest)
{
    struct section rest = *section;
    size_t indent = 0;
    uint32_t open = 0;

    while (rest.at < end) {
        const struct line line = look_at(rest.at, end);

        if (!line.is_empty && line.indent == 0)
            break;
        if (!line.is_empty && indent == 0)
            indent = line.indent;
        if (!line.is_empty && line.indent <= indent &&
            (line.indent < indent || !line.key_length || (open & OPEN) != 0))
            return false;
        if (!line.is_empty)
            open += count_open(line.text, line.next);
        rest.at = line.next;
        rest.line++;
    }
    section->end = rest.at;
    *out_rest = rest;
    return indent > 0 && (open & OPEN) == 0;
}

/** Takes the first entry off a section, of which this is known. False: there is none any more. */
static bool take_entry(struct section *section, struct zeta_late_entry *out_entry)
{
    size_t indent = 0;

    *out_entry = (struct zeta_late_entry){0};
    while (section->at < section->end) {
        const struct line line = look_at(section->at, section->end);

        if (!line.is_empty && out_entry->text && line.indent == indent)
            break;
        if (!line.is_empty && !out_entry->text) {
            indent = line.indent;
            *out_entry = (struct zeta_late_entry){.text = section->at,
                                                  .line = section->line,
                                                  .key = section->at + indent,
                                                  .key_length = line.key_length};
        }
        section->at = line.next;
        section->line++;
    }
    if (out_entry->text)
        out_entry->length = (size_t)(section->at - out_entry->text);
    return out_entry->text != NULL;
}

/**
 * Finds the sections of a text whose entries can be parsed alone. What is left goes to *out_rest,
 * for free(), with the same line numbers. False: there is none, or no memory.
 */
static bool split(const char *text, size_t length, struct section *sections, char **out_rest,
                  size_t *out_length)
{
    const char *const end = text + length;
    struct section at = {.at = text, .line = 1};
    char *rest = malloc(length + 1);
    bool found = false;
    size_t used = 0;

    /* Zero bytes, several documents and keys of another form are for those who read it whole. */
    if (!rest || memchr(text, 0, length))
        goto whole;
    while (at.at < end) {
        const struct line line = look_at(at.at, end);
        struct section entries = {.at = line.next, .line = at.line + 1};
        size_t name = SECTIONS;

        if (!line.is_empty && line.indent == 0 && !line.key_length)
            goto whole;
        memcpy(rest + used, at.at, (size_t)(line.next - at.at));
        for (size_t i = 0; line.is_key_alone && line.indent == 0 && i < SECTIONS; i++) {
            if (strlen(section_names[i]) == line.key_length &&
                memcmp(line.text, section_names[i], line.key_length) == 0)
                name = i;
        }
        if (name == SECTIONS || !find_entries(&entries, end, &at)) {
            used += (size_t)(line.next - line.text);
            at = (struct section){.at = line.next, .line = at.line + 1};
            continue;
        }
        if (sections[name].at)
            goto whole; /* twice */
        sections[name] = entries;
        found = true;
        memset(rest + used, '\n', at.line - entries.line + 1);
        used += at.line - entries.line + 1;
    }
    if (!found)
        goto whole;
    while (used > 0 && rest[used - 1] == '\n')
        used--;
    *out_rest = rest;
    *out_length = used;
    return true;

whole:
    free(rest);
    return false;
}

static void free_file(struct zeta_late_file *file)
{
    zeta_yaml_free(file->document);
    free(file->text);
    free(file);
}

struct zeta_late *zeta_late_create(void)
{
    struct zeta_late *late = calloc(1, sizeof(*late));

    if (late && pthread_mutex_init(&late->lock, NULL) != 0) {
        free(late);
        late = NULL;
    }
    return late;
}

void zeta_late_destroy(struct zeta_late *late)
{
    while (late->files) {
        struct zeta_late_file *file = late->files;

        late->files = file->next;
        free_file(file);
    }
    zeta_arena_finish(&late->arena);
    (void)pthread_mutex_destroy(&late->lock);
    free(late);
}

/** Parses a file without the entries that can be parsed alone; false if it has to be parsed whole.
 */
static bool parse_rest(struct zeta_late_file *file, size_t length, const char *name)
{
    const struct zeta_yaml_node *root;
    struct zeta_yaml_error error;
    uint64_t format = 0;
    size_t rest_length;
    char *rest;
    bool good;

    if (!split(file->text, length, file->sections, &rest, &rest_length))
        return false;
    file->document = zeta_yaml_parse(rest, rest_length, name, NULL, &error);
    free(rest);
    root = file->document ? zeta_yaml_root(file->document) : NULL;
    good = zeta_yaml_u64(zeta_yaml_member(root, "format"), &format) && format == ZETA_SET_FORMAT;
    for (int i = 0; i < SECTIONS; i++)
        good = good && !(file->sections[i].at && zeta_yaml_member(root, section_names[i]));
    if (!good)
        zeta_yaml_free(file->document);
    return good;
}

ze_result_t zeta_late_open(struct zeta_late *late, char *text, size_t length, const char *name,
                           struct zeta_diagnostics *sink, struct zeta_late_file **out_file,
                           const struct zeta_yaml_document **out_document)
{
    struct zeta_late_file *file = calloc(1, sizeof(*file));
    struct zeta_yaml_error error;

    if (!file) {
        free(text);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    file->text = text;
    if (!parse_rest(file, length, name)) {
        file->document = zeta_yaml_parse(text, length, name, NULL, &error);
        memset(file->sections, 0, sizeof(file->sections));
        file->text = NULL;
        free(text);
    }
    if (!file->document) {
        free_file(file);
        return zeta_diagnose_yaml(sink, name, &error);
    }
    file->next = late->files;
    late->files = file;
    *out_file = file;
    *out_document = file->document;
    return ZE_RESULT_SUCCESS;
}

void zeta_late_add(struct zeta_set_reader *reader, struct zeta_late_file *file)
{
    static void (*const read[])(struct zeta_set_reader *, const struct zeta_yaml_node *) = {
        [BLOCKS] = zeta_read_block,
        [PROGRAMS] = zeta_read_uuid_program,
        [METRICS] = zeta_read_shared_metric,
    };

    for (int i = 0; i < SECTIONS; i++) {
        struct section section = file->sections[i];
        struct zeta_late_entry found;

        while (!reader->out_of_memory && take_entry(&section, &found)) {
            struct zeta_late_entry *entry = zeta_reader_alloc(reader, sizeof(*entry));
            const uint32_t column = (uint32_t)(found.key - found.text) + 1;
            char *key = zeta_arena_copy(reader->arena, found.key, found.key_length);
            const struct zeta_yaml_node node = {.key = key,
                                                .line = found.line,
                                                .column = column,
                                                .key_line = found.line,
                                                .key_column = column};

            if (!entry || !key) {
                (void)zeta_reader_no_memory(reader);
                return;
            }
            found.file = file;
            *entry = found;
            reader->entry = entry;
            read[i](reader, &node);
        }
    }
    reader->entry = NULL;
}

void zeta_late_ready(const struct zeta_set_reader *reader, struct zeta_late_file *file)
{
    file->name = reader->file;
    file->format = reader->format;
    file->kinds = reader->kinds;
    file->blocks = reader->blocks;
}

struct zeta_set_reader zeta_late_reader(const struct zeta_linker *linker,
                                        const struct zeta_late_file *file)
{
    return (struct zeta_set_reader){.catalog = (struct zeta_catalog *)(uintptr_t)linker->catalog,
                                    .arena = linker->arena,
                                    .made = linker->made,
                                    .sink = linker->sink,
                                    .file = file->name,
                                    .format = file->format,
                                    .kinds = file->kinds,
                                    .blocks = file->blocks};
}

void zeta_late_lock(const struct zeta_catalog *catalog)
{
    (void)pthread_mutex_lock(&catalog->late->lock);
}

void zeta_late_unlock(const struct zeta_catalog *catalog)
{
    (void)pthread_mutex_unlock(&catalog->late->lock);
}

void zeta_late_own(struct zeta_set_reader *reader)
{
    reader->arena = &reader->catalog->late->arena;
    reader->made = &reader->catalog->late->made;
}

struct zeta_yaml_document *zeta_late_parse(struct zeta_set_reader *reader,
                                           const struct zeta_late_entry *entry,
                                           const struct zeta_yaml_node **out_node)
{
    struct zeta_yaml_error error;
    struct zeta_yaml_document *document =
        zeta_yaml_parse_part(entry->text, entry->length, entry->line, reader->file, NULL, &error);

    if (document)
        *out_node = zeta_yaml_root(document)->first_child;
    else if (zeta_diagnose_yaml(reader->sink, reader->file, &error) ==
             ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
        (void)zeta_reader_no_memory(reader);
    else
        reader->errors++;
    return document;
}
