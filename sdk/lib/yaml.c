#include <zeta/yaml.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <yaml.h>

#include <zeta/arena.h>
#include <zeta/c_locale.h>

#define DEFAULT_MAX_BYTES ((size_t)1024 * 1024)
#define DEFAULT_MAX_DEPTH 32u
#define DEFAULT_MAX_NODES 200000u

/** The depth that limits may ask for; the builder keeps its open nodes in an array of this size. */
#define HIGHEST_MAX_DEPTH 256u

/** Mappings up to this size are searched for duplicate keys pair by pair. */
#define SMALL_MAPPING 16u

struct zeta_yaml_document {
    struct zeta_arena arena;
    const char *name;
    struct zeta_yaml_node *root;
};

/** A sequence or mapping whose end was not seen yet. */
struct open_node {
    struct zeta_yaml_node *node;
    struct zeta_yaml_node *last_child;
    const char *key; /**< mappings: read, and waiting for its value */
    uint32_t key_line;
    uint32_t key_column;
};

struct builder {
    struct zeta_yaml_document *document;
    struct zeta_yaml_error *error;
    struct zeta_yaml_limits limits;
    struct open_node open[HIGHEST_MAX_DEPTH];
    uint32_t depth;
    uint32_t node_count;
    uint32_t document_count;
    uint32_t lines_before; /**< the text, in its file */
    bool ended;
};

/** Leaves an error. Always false. */
static bool fail(struct zeta_yaml_error *error, uint32_t line, uint32_t column, const char *format,
                 ...) __attribute__((format(printf, 4, 5), cold));

static bool fail(struct zeta_yaml_error *error, uint32_t line, uint32_t column, const char *format,
                 ...)
{
    va_list arguments;

    error->no_memory = false;
    error->line = line;
    error->column = column;
    va_start(arguments, format);
    (void)zeta_c_vsnprintf(error->text, sizeof(error->text), format, arguments);
    va_end(arguments);
    return false;
}

/** The same at a mark of the parser. */
#define FAIL_AT(builder, mark, ...)                                                                \
    fail((builder)->error, line_of(builder, mark), column_of(mark), __VA_ARGS__)

static bool fail_memory(struct zeta_yaml_error *error)
{
    *error = (struct zeta_yaml_error){.no_memory = true};
    return false;
}

static uint32_t line_of(const struct builder *builder, const yaml_mark_t *mark)
{
    return builder->lines_before + (uint32_t)mark->line + 1;
}

static uint32_t column_of(const yaml_mark_t *mark)
{
    return (uint32_t)mark->column + 1;
}

/** Links a new node to its parent, or makes it the root. */
static void add_node(struct builder *builder, struct zeta_yaml_node *node)
{
    struct open_node *parent;

    if (builder->depth == 0) {
        builder->document->root = node;
        return;
    }
    parent = &builder->open[builder->depth - 1];
    if (parent->node->kind == ZETA_YAML_MAPPING) {
        node->key = parent->key;
        node->key_line = parent->key_line;
        node->key_column = parent->key_column;
        parent->key = NULL;
    }
    if (parent->last_child)
        parent->last_child->next = node;
    else
        parent->node->first_child = node;
    parent->last_child = node;
    parent->node->child_count++;
}

/** A node without a parent; NULL, with an error left, if there cannot be one more. */
static struct zeta_yaml_node *new_node(struct builder *builder, enum zeta_yaml_kind kind,
                                       const yaml_mark_t *mark)
{
    struct zeta_yaml_node *node;

    if (++builder->node_count > builder->limits.max_nodes) {
        (void)FAIL_AT(builder, mark, "more than %u values in one file", builder->limits.max_nodes);
        return NULL;
    }
    node = zeta_arena_alloc(&builder->document->arena, sizeof(*node));
    if (!node) {
        (void)fail_memory(builder->error);
        return NULL;
    }
    node->kind = kind;
    node->line = line_of(builder, mark);
    node->column = column_of(mark);
    return node;
}

/** True if the next scalar is the key of an open mapping. */
static bool wants_key(const struct builder *builder)
{
    const struct open_node *top = builder->depth ? &builder->open[builder->depth - 1] : NULL;

    return top && top->node->kind == ZETA_YAML_MAPPING && !top->key;
}

static bool on_scalar(struct builder *builder, const yaml_event_t *event)
{
    const yaml_mark_t *mark = &event->start_mark;
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    struct zeta_yaml_node *node;
    char *copy;

    if (event->data.scalar.anchor || event->data.scalar.tag)
        return FAIL_AT(builder, mark, "anchors and tags are not allowed");
    if (memchr(text, 0, length))
        return FAIL_AT(builder, mark, "text with a zero byte is not allowed");
    copy = zeta_arena_copy(&builder->document->arena, text, length);
    if (!copy)
        return fail_memory(builder->error);

    if (wants_key(builder)) {
        struct open_node *top = &builder->open[builder->depth - 1];

        if (length == 0)
            return FAIL_AT(builder, mark, "a key must not be empty");
        top->key = copy;
        top->key_line = line_of(builder, mark);
        top->key_column = column_of(mark);
        return true;
    }

    node = new_node(builder, ZETA_YAML_SCALAR, mark);
    if (!node)
        return false;
    node->text = copy;
    node->length = length;
    node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    add_node(builder, node);
    return true;
}

static bool on_start(struct builder *builder, enum zeta_yaml_kind kind, bool decorated, bool flow,
                     const yaml_mark_t *mark)
{
    struct zeta_yaml_node *node;

    if (decorated)
        return FAIL_AT(builder, mark, "anchors and tags are not allowed");
    if (wants_key(builder))
        return FAIL_AT(builder, mark, "a key must be plain text, not %s",
                       zeta_yaml_kind_name(kind));
    if (builder->depth >= builder->limits.max_depth)
        return FAIL_AT(builder, mark, "nested deeper than %u levels", builder->limits.max_depth);
    node = new_node(builder, kind, mark);
    if (!node)
        return false;
    node->flow = flow;
    add_node(builder, node);
    builder->open[builder->depth++] = (struct open_node){.node = node};
    return true;
}

static int compare_keys(const void *left, const void *right)
{
    const struct zeta_yaml_node *const *a = left;
    const struct zeta_yaml_node *const *b = right;
    int order = strcmp((*a)->key, (*b)->key);

    if (order != 0)
        return order;
    if ((*a)->key_line != (*b)->key_line)
        return (*a)->key_line < (*b)->key_line ? -1 : 1;
    return (*a)->key_column < (*b)->key_column ? -1 : 1;
}

static bool fail_duplicate(const struct builder *builder, const struct zeta_yaml_node *earlier,
                           const struct zeta_yaml_node *later)
{
    return fail(builder->error, later->key_line, later->key_column,
                "key '%s' appears twice; the first one is in line %u", later->key,
                earlier->key_line);
}

/** Refuses a mapping with a key that an earlier member has; sorts large ones. */
static bool check_keys(const struct builder *builder, const struct open_node *top)
{
    const struct zeta_yaml_node *mapping = top->node;
    const struct zeta_yaml_node **members;
    uint32_t count = 0;
    bool good = true;

    if (!mapping)
        return true; /* libyaml ends only what it began */
    if (mapping->child_count <= SMALL_MAPPING) {
        for (const struct zeta_yaml_node *a = mapping->first_child; a; a = a->next) {
            for (const struct zeta_yaml_node *b = a->next; b; b = b->next) {
                if (strcmp(a->key, b->key) == 0)
                    return fail_duplicate(builder, a, b);
            }
        }
        return true;
    }
    members = malloc(mapping->child_count * sizeof(const struct zeta_yaml_node *));
    if (!members)
        return fail_memory(builder->error);
    for (const struct zeta_yaml_node *node = mapping->first_child; node; node = node->next)
        members[count++] = node;
    qsort(members, count, sizeof(const struct zeta_yaml_node *), compare_keys);
    for (uint32_t i = 1; good && i < count; i++) {
        if (strcmp(members[i - 1]->key, members[i]->key) == 0)
            good = fail_duplicate(builder, members[i - 1], members[i]);
    }
    free(members);
    return good;
}

static bool on_event(struct builder *builder, const yaml_event_t *event)
{
    const yaml_mark_t *mark = &event->start_mark;

    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (++builder->document_count > 1)
            return FAIL_AT(builder, mark, "a second document starts here; one per file is allowed");
        return true;
    case YAML_ALIAS_EVENT:
        return FAIL_AT(builder, mark, "aliases are not allowed");
    case YAML_SCALAR_EVENT:
        return on_scalar(builder, event);
    case YAML_SEQUENCE_START_EVENT:
        return on_start(builder, ZETA_YAML_SEQUENCE,
                        event->data.sequence_start.anchor || event->data.sequence_start.tag,
                        event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE, mark);
    case YAML_MAPPING_START_EVENT:
        return on_start(builder, ZETA_YAML_MAPPING,
                        event->data.mapping_start.anchor || event->data.mapping_start.tag,
                        event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE, mark);
    case YAML_SEQUENCE_END_EVENT:
        builder->depth--;
        return true;
    case YAML_MAPPING_END_EVENT:
        return check_keys(builder, &builder->open[--builder->depth]);
    case YAML_STREAM_END_EVENT:
        builder->ended = true;
        return true;
    default:
        return true;
    }
}

/** Line and column (in characters) of a byte, for errors that libyaml reports by offset only. */
static void locate(const char *text, size_t length, size_t offset, uint32_t *out_line,
                   uint32_t *out_column)
{
    uint32_t line = 1;
    uint32_t column = 1;

    for (size_t i = 0; i < offset && i < length; i++) {
        if (text[i] == '\n') {
            line++;
            column = 1;
        } else if (((unsigned char)text[i] & 0xc0u) != 0x80u) {
            column++;
        }
    }
    *out_line = line;
    *out_column = column;
}

static bool report_syntax(const struct builder *builder, const yaml_parser_t *parser,
                          const char *text, size_t length)
{
    uint32_t line;
    uint32_t column;

    switch (parser->error) {
    case YAML_MEMORY_ERROR:
        return fail_memory(builder->error);
    case YAML_READER_ERROR:
        locate(text, length, parser->problem_offset, &line, &column);
        return fail(builder->error, builder->lines_before + line, column,
                    "not valid UTF-8 text: %s", parser->problem);
    default:
        line = line_of(builder, &parser->problem_mark);
        column = column_of(&parser->problem_mark);
        if (parser->context)
            return fail(builder->error, line, column, "YAML syntax: %s (%s that starts in line %u)",
                        parser->problem, parser->context, line_of(builder, &parser->context_mark));
        return fail(builder->error, line, column, "YAML syntax: %s", parser->problem);
    }
}

static bool build_tree(struct builder *builder, const char *text, size_t length)
{
    yaml_parser_t parser;
    bool good = true;

    if (!yaml_parser_initialize(&parser))
        return fail_memory(builder->error);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    while (good && !builder->ended) {
        yaml_event_t event;

        if (!yaml_parser_parse(&parser, &event)) {
            good = report_syntax(builder, &parser, text, length);
            break;
        }
        good = on_event(builder, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return good;
}

static struct zeta_yaml_limits effective_limits(const struct zeta_yaml_limits *limits)
{
    struct zeta_yaml_limits use = limits ? *limits : (struct zeta_yaml_limits){0};

    if (use.max_bytes == 0)
        use.max_bytes = DEFAULT_MAX_BYTES;
    if (use.max_depth == 0)
        use.max_depth = DEFAULT_MAX_DEPTH;
    if (use.max_depth > HIGHEST_MAX_DEPTH)
        use.max_depth = HIGHEST_MAX_DEPTH;
    if (use.max_nodes == 0)
        use.max_nodes = DEFAULT_MAX_NODES;
    return use;
}

struct zeta_yaml_document *zeta_yaml_parse_part(const char *text, size_t length, uint32_t line,
                                                const char *name,
                                                const struct zeta_yaml_limits *limits,
                                                struct zeta_yaml_error *out_error)
{
    struct builder builder = {
        .error = out_error, .limits = effective_limits(limits), .lines_before = line - 1};
    struct zeta_yaml_document *document = calloc(1, sizeof(*document));

    if (document)
        document->name = zeta_arena_copy(&document->arena, name, strlen(name));
    if (!document || !document->name) {
        (void)fail_memory(out_error);
        goto refused;
    }
    builder.document = document;
    if (length > builder.limits.max_bytes) {
        (void)fail(out_error, 0, 0, "larger than %zu bytes", builder.limits.max_bytes);
        goto refused;
    }
    if (!build_tree(&builder, text, length))
        goto refused;
    return document;

refused:
    zeta_yaml_free(document);
    return NULL;
}

struct zeta_yaml_document *zeta_yaml_parse(const char *text, size_t length, const char *name,
                                           const struct zeta_yaml_limits *limits,
                                           struct zeta_yaml_error *out_error)
{
    return zeta_yaml_parse_part(text, length, 1, name, limits, out_error);
}

/** All that a descriptor gives, for free(); NULL with an error. */
static char *read_all(int fd, size_t most, size_t *out_length, struct zeta_yaml_error *out_error)
{
    struct stat status;
    size_t capacity = 8192;
    size_t length = 0;
    char *text = NULL;

    /* Of a regular file all at once: one byte more than it has shows its end. */
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
        (size_t)status.st_size <= most)
        capacity = (size_t)status.st_size + 1;
    /* One byte more than allowed shows that there was more. */
    while (length <= most) {
        ssize_t got;

        if (!text || length == capacity) {
            char *larger = realloc(text, text ? capacity * 2 : capacity);

            if (!larger) {
                (void)fail_memory(out_error);
                goto refused;
            }
            capacity = text ? capacity * 2 : capacity;
            text = larger;
        }
        got = read(fd, text + length, capacity - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            (void)fail(out_error, 0, 0, "cannot be read: %s", strerrordesc_np(errno));
            goto refused;
        }
        if (got == 0)
            break;
        length += (size_t)got;
    }
    *out_length = length;
    return text;

refused:
    free(text);
    return NULL;
}

struct zeta_yaml_document *zeta_yaml_read_fd(int fd, const char *name,
                                             const struct zeta_yaml_limits *limits,
                                             struct zeta_yaml_error *out_error)
{
    size_t length;
    char *text = read_all(fd, effective_limits(limits).max_bytes, &length, out_error);
    struct zeta_yaml_document *document =
        text ? zeta_yaml_parse(text, length, name, limits, out_error) : NULL;

    free(text);
    return document;
}

char *zeta_yaml_read_text(const char *path, const struct zeta_yaml_limits *limits,
                          size_t *out_length, struct zeta_yaml_error *out_error)
{
    /* O_NONBLOCK: opening a FIFO must not hang. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    char *text = NULL;

    if (fd < 0 || fstat(fd, &status) != 0)
        (void)fail(out_error, 0, 0, "cannot be opened: %s", strerrordesc_np(errno));
    else if (!S_ISREG(status.st_mode))
        (void)fail(out_error, 0, 0, "not a regular file");
    else
        text = read_all(fd, effective_limits(limits).max_bytes, out_length, out_error);
    if (fd >= 0)
        (void)close(fd);
    return text;
}

struct zeta_yaml_document *zeta_yaml_read_file(const char *path,
                                               const struct zeta_yaml_limits *limits,
                                               struct zeta_yaml_error *out_error)
{
    size_t length;
    char *text = zeta_yaml_read_text(path, limits, &length, out_error);
    struct zeta_yaml_document *document =
        text ? zeta_yaml_parse(text, length, path, limits, out_error) : NULL;

    free(text);
    return document;
}

void zeta_yaml_print_error(const struct zeta_yaml_error *error, const char *name, char *buffer,
                           size_t size_bytes)
{
    if (error->no_memory)
        (void)snprintf(buffer, size_bytes, "%s: there is no memory to read it", name);
    else if (error->line == 0)
        (void)snprintf(buffer, size_bytes, "%s: %s", name, error->text);
    else
        (void)snprintf(buffer, size_bytes, "%s:%u:%u: %s", name, error->line, error->column,
                       error->text);
}

void zeta_yaml_free(struct zeta_yaml_document *document)
{
    if (!document)
        return;
    zeta_arena_finish(&document->arena);
    free(document);
}

const struct zeta_yaml_node *zeta_yaml_root(const struct zeta_yaml_document *document)
{
    return document->root;
}

const char *zeta_yaml_name(const struct zeta_yaml_document *document)
{
    return document->name;
}

/* ---- members and values of nodes ------------------------------------------------------------ */

const struct zeta_yaml_node *zeta_yaml_member(const struct zeta_yaml_node *mapping, const char *key)
{
    if (!mapping || mapping->kind != ZETA_YAML_MAPPING)
        return NULL;
    for (const struct zeta_yaml_node *node = mapping->first_child; node; node = node->next) {
        if (*node->key == *key && strcmp(node->key, key) == 0)
            return node;
    }
    return NULL;
}

const char *zeta_yaml_text(const struct zeta_yaml_node *mapping, const char *key)
{
    const struct zeta_yaml_node *node = zeta_yaml_member(mapping, key);

    return node ? node->text : NULL;
}

static bool is_plain(const struct zeta_yaml_node *node)
{
    return node && node->kind == ZETA_YAML_SCALAR && node->plain;
}

bool zeta_yaml_is_null(const struct zeta_yaml_node *node)
{
    return is_plain(node) &&
           (node->length == 0 || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0);
}

bool zeta_yaml_u64(const struct zeta_yaml_node *node, uint64_t *out_value)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t value = 0;
    unsigned base = 10;
    const char *text;

    if (!is_plain(node) || node->length == 0)
        return false;
    text = node->text;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        text += 2;
        if (*text == '\0')
            return false;
    }
    for (; *text; text++) {
        char lower = *text >= 'A' && *text <= 'F' ? (char)(*text - 'A' + 'a') : *text;
        const char *digit = strchr(digits, lower);

        if (!digit || (unsigned)(digit - digits) >= base)
            return false;
        if (value > (UINT64_MAX - (uint64_t)(digit - digits)) / base)
            return false;
        value = value * base + (uint64_t)(digit - digits);
    }
    *out_value = value;
    return true;
}

bool zeta_yaml_double(const struct zeta_yaml_node *node, double *out_value)
{
    double value;
    char *end;

    if (!is_plain(node) || node->length == 0)
        return false;
    if (strspn(node->text, "+-0123456789.eE") != node->length)
        return false;
    value = zeta_c_strtod(node->text, &end);
    if (*end != '\0' || !isfinite(value))
        return false;
    *out_value = value;
    return true;
}

bool zeta_yaml_bool(const struct zeta_yaml_node *node, bool *out_value)
{
    if (!is_plain(node))
        return false;
    if (strcmp(node->text, "true") == 0)
        *out_value = true;
    else if (strcmp(node->text, "false") == 0)
        *out_value = false;
    else
        return false;
    return true;
}

const char *zeta_yaml_kind_name(enum zeta_yaml_kind kind)
{
    static const char *const names[] = {[ZETA_YAML_SCALAR] = "a scalar",
                                        [ZETA_YAML_SEQUENCE] = "a sequence",
                                        [ZETA_YAML_MAPPING] = "a mapping"};

    return names[kind];
}

/* ---- writing -------------------------------------------------------------------------------- */

struct zeta_yaml_writer {
    yaml_emitter_t emitter;
    FILE *file;
    char *text;
    size_t length;
    bool failed;
};

/** Writes an event, if there was memory to make it, and deletes it. */
static void emit(struct zeta_yaml_writer *writer, int is_made, yaml_event_t *event)
{
    if (writer->failed && is_made)
        yaml_event_delete(event);
    else if (!is_made || !yaml_emitter_emit(&writer->emitter, event))
        writer->failed = true;
}

struct zeta_yaml_writer *zeta_yaml_writer_create(void)
{
    struct zeta_yaml_writer *writer = calloc(1, sizeof(*writer));
    yaml_event_t event;

    if (!writer || !yaml_emitter_initialize(&writer->emitter)) {
        free(writer);
        return NULL;
    }
    writer->file = open_memstream(&writer->text, &writer->length);
    if (!writer->file) {
        yaml_emitter_delete(&writer->emitter);
        free(writer);
        return NULL;
    }
    yaml_emitter_set_output_file(&writer->emitter, writer->file);
    yaml_emitter_set_unicode(&writer->emitter, 1);
    yaml_emitter_set_width(&writer->emitter, -1);
    emit(writer, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING), &event);
    emit(writer, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1), &event);
    return writer;
}

void zeta_yaml_write_text(struct zeta_yaml_writer *writer, const char *text, bool plain)
{
    yaml_event_t event;

    emit(writer,
         yaml_scalar_event_initialize(
             &event, NULL, NULL, (const yaml_char_t *)text, (int)strlen(text), 1, 1,
             plain ? YAML_PLAIN_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE),
         &event);
}

void zeta_yaml_write_start(struct zeta_yaml_writer *writer, enum zeta_yaml_kind kind, bool flow)
{
    yaml_event_t event;

    emit(writer,
         kind == ZETA_YAML_MAPPING
             ? yaml_mapping_start_event_initialize(
                   &event, NULL, NULL, 1, flow ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE)
             : yaml_sequence_start_event_initialize(&event, NULL, NULL, 1,
                                                    flow ? YAML_FLOW_SEQUENCE_STYLE
                                                         : YAML_BLOCK_SEQUENCE_STYLE),
         &event);
}

void zeta_yaml_write_end(struct zeta_yaml_writer *writer, enum zeta_yaml_kind kind)
{
    yaml_event_t event;

    emit(writer,
         kind == ZETA_YAML_MAPPING ? yaml_mapping_end_event_initialize(&event)
                                   : yaml_sequence_end_event_initialize(&event),
         &event);
}

/* Readers bound the depth of nodes. */
void zeta_yaml_write_node(struct zeta_yaml_writer *writer, const struct zeta_yaml_node *node)
{
    if (node->kind == ZETA_YAML_SCALAR) {
        zeta_yaml_write_text(writer, node->text, node->plain);
        return;
    }
    zeta_yaml_write_start(writer, node->kind, node->flow);
    for (const struct zeta_yaml_node *child = node->first_child; child; child = child->next) {
        if (child->key)
            zeta_yaml_write_text(writer, child->key, true);
        zeta_yaml_write_node(writer, child);
    }
    zeta_yaml_write_end(writer, node->kind);
}

char *zeta_yaml_writer_finish(struct zeta_yaml_writer *writer, size_t *out_length)
{
    char *text;
    yaml_event_t event;

    emit(writer, yaml_document_end_event_initialize(&event, 1), &event);
    emit(writer, yaml_stream_end_event_initialize(&event), &event);
    yaml_emitter_delete(&writer->emitter);
    if (fclose(writer->file) != 0)
        writer->failed = true;
    text = writer->text;
    *out_length = writer->length;
    if (writer->failed) {
        free(text);
        text = NULL;
    }
    free(writer);
    return text;
}
