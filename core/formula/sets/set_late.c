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
 *
 * Of sets, the lists of metrics are parsed at their first use too, and lists of uuids are no matter
 * for a YAML parser:
 *
 *     metrics: [GpuTime, GpuBusy],       flat, and first in its line
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/formula/sets/catalog_priv.h"

/** The kinds of parts that are left out: sections by their names, then lists of sets. */
enum { BLOCKS, PROGRAMS, METRICS, SECTIONS, LISTS = SECTIONS, PARTS };

/** Of count_open(). */
#define OPEN 0x1ffffu

/** Length of a uuid. */
#define UUID_BYTES 36u

/** Where a text is read. */
struct place {
    const char *at;
    uint32_t line; /**< of at */
};

struct entries {
    struct zeta_late_entry *items;
    uint32_t count, capacity;
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
    struct zeta_yaml_document *document; /**< the file without these parts */
    struct entries parts[PARTS];
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

static struct zeta_late_entry *add_entry(struct entries *entries,
                                         const struct zeta_late_entry *entry)
{
    if (entries->count == entries->capacity) {
        const uint32_t capacity = entries->capacity ? entries->capacity * 4 : 64;
        struct zeta_late_entry *items = realloc(entries->items, capacity * sizeof(*items));

        if (!items)
            return NULL;
        entries->items = items;
        entries->capacity = capacity;
    }
    entries->items[entries->count] = *entry;
    return &entries->items[entries->count++];
}

/**
 * Finds the entries of a section, from *place to the first line that is none of it, to which it
 * sets *place. False, and *place stays, if these are no entries in a column.
 */
static bool find_entries(struct zeta_late_file *file, struct entries *entries, struct place *place,
                         const char *end)
{
    struct place at = *place;
    struct zeta_late_entry *entry = NULL;
    bool has_brackets = false;
    size_t indent = 0;
    uint32_t open = 0;

    for (const char *bracket = "{}[]\""; *bracket && !has_brackets; bracket++)
        has_brackets = memchr(at.at, *bracket, (size_t)(end - at.at)) != NULL;
    while (at.at < end) {
        const struct line line = look_at(at.at, end);

        if (!line.is_empty && line.indent == 0)
            break;
        if (!line.is_empty && indent == 0)
            indent = line.indent;
        if (!line.is_empty && line.indent <= indent) {
            if (line.indent < indent || !line.key_length || (open & OPEN) != 0)
                return false;
            if (entry)
                entry->length = (size_t)(at.at - entry->text);
            entry = add_entry(entries, &(struct zeta_late_entry){.file = file,
                                                                 .text = at.at,
                                                                 .line = at.line,
                                                                 .key = at.at + indent,
                                                                 .key_length = line.key_length});
            if (!entry)
                return false;
        }
        if (!line.is_empty && has_brackets)
            open += count_open(line.text, line.next);
        at.at = line.next;
        at.line++;
    }
    if (!entry || (open & OPEN) != 0)
        return false;
    entry->length = (size_t)(at.at - entry->text);
    *place = at;
    return true;
}

/** The end of a flat list in brackets, of ASCII without escapes and comments; NULL: it is none. */
static const char *find_list_end(const char *text, const char *end)
{
    enum { STOP = 1, IN_QUOTES = 2 };
    bool is_quoted = false;

    for (text++; text < end; text++) {
        switch (*text) {
        case '"':
            is_quoted = !is_quoted;
            break;
        case ']':
            if (!is_quoted)
                return text + 1;
            break;
        case '[':
        case '{':
        case '}':
            if (!is_quoted)
                return NULL;
            break;
        case '#':
        case '\'':
        case '\\':
            return NULL;
        default:
            if (*text != '\n' && (*text < ' ' || *text > '~'))
                return NULL;
        }
    }
    return NULL;
}

/** The list of a line "metrics: [" or "uuid: [", from its bracket on; NULL: there is none. */
static const char *find_list(const struct line *line)
{
    const char *key = line->text + line->indent;
    const char *value = key + line->key_length + 1;

    if (!(line->key_length == 7 && memcmp(key, "metrics", 7) == 0) &&
        !(line->key_length == 4 && memcmp(key, "uuid", 4) == 0))
        return NULL;
    while (value < line->next && *value == ' ')
        value++;
    return value < line->next && *value == '[' ? value : NULL;
}

/**
 * Number of uuids in a list of nothing else, 0: it is another one. Their nodes go to nodes, with
 * texts that are terminated where they are; NULL: they are only counted.
 */
static uint32_t read_uuids(const struct zeta_late_entry *list, struct zeta_yaml_node *nodes)
{
    char *at = (char *)(uintptr_t)list->key + list->key_length;
    const char *line_begin = list->text;
    uint32_t line = list->line;
    uint32_t count = 0;
    char end;

    do {
        char *uuid = at + 1;

        for (; *uuid == ' ' || *uuid == '\n' || (count == 0 && *uuid == '['); uuid++) {
            if (*uuid == '\n') {
                line_begin = uuid + 1;
                line++;
            }
        }
        if (strspn(uuid, "0123456789abcdef-") != UUID_BYTES)
            return 0;
        at = uuid + UUID_BYTES;
        end = *at;
        if (nodes) {
            *at = '\0';
            nodes[count] = (struct zeta_yaml_node){.kind = ZETA_YAML_SCALAR,
                                                   .line = line,
                                                   .column = (uint32_t)(uuid - line_begin) + 1,
                                                   .text = uuid,
                                                   .length = UUID_BYTES,
                                                   .plain = true,
                                                   .next = &nodes[count + 1]};
        }
        count++;
    } while (end == ',');
    if (nodes)
        nodes[count - 1].next = NULL;
    return end == ']' ? count : 0;
}

/** Leaves a list of a set out of what is written at *rest. False: this line is none. */
static bool cut_list(struct zeta_late_file *file, const struct line *line, const char *end,
                     struct place *place, char **rest)
{
    const char *list = line->indent > 0 ? find_list(line) : NULL;
    const char *behind = list ? find_list_end(list, end) : NULL;
    const struct zeta_late_entry entry = {.file = file,
                                          .text = line->text,
                                          .length = (size_t)(behind - line->text),
                                          .key = line->text + line->indent,
                                          .key_length = line->key_length,
                                          .line = place->line};
    const char *last, *newline;

    if (!behind || (*entry.key == 'u' && read_uuids(&entry, NULL) == 0) ||
        !add_entry(&file->parts[LISTS], &entry))
        return false;
    /* What follows keeps its line and column. */
    memcpy(*rest, line->text, (size_t)(list + 1 - line->text));
    *rest += list + 1 - line->text;
    last = list + 1;
    while ((newline = memchr(last, '\n', (size_t)(behind - last))) != NULL) {
        *(*rest)++ = '\n';
        place->line++;
        last = newline + 1;
    }
    memset(*rest, ' ', (size_t)(behind - 1 - last));
    *rest += behind - 1 - last;
    place->at = look_at(behind - 1, end).next;
    place->line++;
    memcpy(*rest, behind - 1, (size_t)(place->at - (behind - 1)));
    *rest += place->at - (behind - 1);
    return true;
}

/**
 * Finds the parts of a text that can be parsed alone. What is left goes to *out_rest, for free(),
 * with the same line numbers. False: there is none, or no memory.
 */
static bool split(struct zeta_late_file *file, size_t length, char **out_rest, size_t *out_length)
{
    const char *const text = file->text;
    const char *const end = text + length;
    struct place at = {.at = text, .line = 1};
    char *rest = malloc(length + 1);
    char *to = rest;
    bool found = false;

    /* Zero bytes, several documents and keys of another form are for those who read it whole. */
    if (!rest || memchr(text, 0, length))
        goto whole;
    while (at.at < end) {
        const struct line line = look_at(at.at, end);
        size_t name = SECTIONS;
        uint32_t first;

        if (!line.is_empty && line.indent == 0 && !line.key_length)
            goto whole;
        if (line.key_length && cut_list(file, &line, end, &at, &to)) {
            found = true;
            continue;
        }
        memcpy(to, at.at, (size_t)(line.next - at.at));
        to += line.next - at.at;
        for (size_t i = 0; line.is_key_alone && line.indent == 0 && i < SECTIONS; i++) {
            if (strlen(section_names[i]) == line.key_length &&
                memcmp(line.text, section_names[i], line.key_length) == 0)
                name = i;
        }
        at = (struct place){.at = line.next, .line = at.line + 1};
        if (name == SECTIONS)
            continue;
        if (file->parts[name].count > 0)
            goto whole; /* twice */
        first = at.line;
        if (!find_entries(file, &file->parts[name], &at, end)) {
            file->parts[name].count = 0;
            continue;
        }
        found = true;
        /* The line of the key became an empty one. */
        to -= line.next - line.text;
        memset(to, '\n', at.line - first + 1);
        to += at.line - first + 1;
    }
    if (!found)
        goto whole;
    while (to > rest && to[-1] == '\n')
        to--;
    *out_rest = rest;
    *out_length = (size_t)(to - rest);
    return true;

whole:
    free(rest);
    return false;
}

static void forget_parts(struct zeta_late_file *file)
{
    for (int i = 0; i < PARTS; i++) {
        free(file->parts[i].items);
        file->parts[i] = (struct entries){0};
    }
}

static void free_file(struct zeta_late_file *file)
{
    forget_parts(file);
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

/** True if each list that was left out is one of a set, and not for example a line of a text. */
static bool are_lists_of_sets(const struct entries *lists, const struct zeta_yaml_node *sets)
{
    uint32_t next = 0;

    for (const struct zeta_yaml_node *set = sets ? sets->first_child : NULL; set; set = set->next) {
        for (const struct zeta_yaml_node *node = set->first_child; node; node = node->next)
            next += next < lists->count && node->key && node->line == lists->items[next].line &&
                    node->kind == ZETA_YAML_SEQUENCE && !node->first_child &&
                    *node->key == *lists->items[next].key;
    }
    return next == lists->count;
}

/** Parses a file without the parts that can be parsed alone; false if it has to be parsed whole. */
static bool parse_rest(struct zeta_late_file *file, size_t length, const char *name)
{
    const struct zeta_yaml_node *root;
    struct zeta_yaml_error error;
    uint64_t format = 0;
    size_t rest_length;
    char *rest;
    bool good;

    if (!split(file, length, &rest, &rest_length))
        return false;
    file->document = zeta_yaml_parse(rest, rest_length, name, NULL, &error);
    free(rest);
    root = file->document ? zeta_yaml_root(file->document) : NULL;
    good = zeta_yaml_u64(zeta_yaml_member(root, "format"), &format) && format == ZETA_SET_FORMAT;
    for (int i = 0; i < SECTIONS; i++)
        good = good && !(file->parts[i].count > 0 && zeta_yaml_member(root, section_names[i]));
    good = good && are_lists_of_sets(&file->parts[LISTS], zeta_yaml_member(root, "sets"));
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
        forget_parts(file);
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
        for (uint32_t k = 0; k < file->parts[i].count && !reader->out_of_memory; k++) {
            const struct zeta_late_entry *entry = &file->parts[i].items[k];
            const uint32_t column = (uint32_t)(entry->key - entry->text) + 1;
            const struct zeta_yaml_node node = {
                .key = zeta_arena_copy(&reader->scratch, entry->key, entry->key_length),
                .line = entry->line,
                .column = column,
                .key_line = entry->line,
                .key_column = column};

            reader->entry = entry;
            if (node.key)
                read[i](reader, &node);
            else
                (void)zeta_reader_no_memory(reader);
            zeta_arena_rewind(&reader->scratch);
        }
    }
    reader->entry = NULL;
}

static int compare_line(const void *line, const void *entry)
{
    const uint32_t left = *(const uint32_t *)line;
    const uint32_t right = ((const struct zeta_late_entry *)entry)->line;

    return (left > right) - (left < right);
}

const struct zeta_late_entry *zeta_late_list(const struct zeta_late_file *file,
                                             const struct zeta_yaml_node *node)
{
    const struct entries *lists = &file->parts[LISTS];

    return lists->count > 0 ? bsearch(&node->line, lists->items, lists->count,
                                      sizeof(*lists->items), compare_line)
                            : NULL;
}

const struct zeta_yaml_node *zeta_late_uuids(struct zeta_set_reader *reader,
                                             const struct zeta_yaml_node *node)
{
    const struct zeta_late_entry *list = reader->late ? zeta_late_list(reader->late, node) : NULL;
    const uint32_t count = list && !node->first_child ? read_uuids(list, NULL) : 0;
    struct zeta_yaml_node *made;

    if (count == 0)
        return node;
    made = zeta_arena_array(&reader->scratch, 1 + (size_t)count, sizeof(*made));
    if (!made) {
        (void)zeta_reader_no_memory(reader);
        return node;
    }
    *made = *node;
    made->child_count = read_uuids(list, made + 1);
    made->first_child = made + 1;
    return made;
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
