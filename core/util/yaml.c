#include "core/util/yaml.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <yaml.h>

#include "core/util/arena.h"
#include "core/util/cleanup.h"

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
    struct zeta_diagnostics *sink;
    struct zeta_yaml_limits limits;
    struct open_node open[HIGHEST_MAX_DEPTH];
    uint32_t depth;
    uint32_t node_count;
    uint32_t document_count;
    bool ended;
};

static ze_result_t refuse(const struct builder *builder, uint32_t line, uint32_t column,
                          const char *format, ...) ZETA_PRINTF(4, 5);

static ze_result_t refuse(const struct builder *builder, uint32_t line, uint32_t column,
                          const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    zeta_diagnose_list(builder->sink, ZETA_SEVERITY_ERROR, builder->document->name, line, column,
                       format, arguments);
    va_end(arguments);
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

static uint32_t line_of(const yaml_mark_t *mark)
{
    return (uint32_t)mark->line + 1;
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

/** A node without a parent; NULL, with the reason in *out_result, if there cannot be one more. */
static struct zeta_yaml_node *new_node(struct builder *builder, enum zeta_yaml_kind kind,
                                       const yaml_mark_t *mark, ze_result_t *out_result)
{
    struct zeta_yaml_node *node;

    if (++builder->node_count > builder->limits.max_nodes) {
        *out_result = refuse(builder, line_of(mark), column_of(mark),
                             "more than %u values in one file", builder->limits.max_nodes);
        return NULL;
    }
    node = zeta_arena_alloc(&builder->document->arena, sizeof(*node));
    if (!node) {
        *out_result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        return NULL;
    }
    node->kind = kind;
    node->line = line_of(mark);
    node->column = column_of(mark);
    return node;
}

/** True if the next scalar is the key of an open mapping. */
static bool wants_key(const struct builder *builder)
{
    const struct open_node *top = builder->depth ? &builder->open[builder->depth - 1] : NULL;

    return top && top->node->kind == ZETA_YAML_MAPPING && !top->key;
}

static ze_result_t on_scalar(struct builder *builder, const yaml_event_t *event)
{
    const yaml_mark_t *mark = &event->start_mark;
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    struct zeta_yaml_node *node;
    char *copy;
    ze_result_t result;

    if (event->data.scalar.anchor || event->data.scalar.tag)
        return refuse(builder, line_of(mark), column_of(mark), "anchors and tags are not allowed");
    if (memchr(text, 0, length))
        return refuse(builder, line_of(mark), column_of(mark),
                      "text with a zero byte is not allowed");
    copy = zeta_arena_copy(&builder->document->arena, text, length);
    if (!copy)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;

    if (wants_key(builder)) {
        struct open_node *top = &builder->open[builder->depth - 1];

        if (length == 0)
            return refuse(builder, line_of(mark), column_of(mark), "a key must not be empty");
        top->key = copy;
        top->key_line = line_of(mark);
        top->key_column = column_of(mark);
        return ZE_RESULT_SUCCESS;
    }

    node = new_node(builder, ZETA_YAML_SCALAR, mark, &result);
    if (!node)
        return result;
    node->text = copy;
    node->length = length;
    node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    add_node(builder, node);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t on_start(struct builder *builder, enum zeta_yaml_kind kind, bool decorated,
                            const yaml_mark_t *mark)
{
    struct zeta_yaml_node *node;
    ze_result_t result;

    if (decorated)
        return refuse(builder, line_of(mark), column_of(mark), "anchors and tags are not allowed");
    if (wants_key(builder))
        return refuse(builder, line_of(mark), column_of(mark), "a key must be plain text, not %s",
                      zeta_yaml_kind_name(kind));
    if (builder->depth >= builder->limits.max_depth)
        return refuse(builder, line_of(mark), column_of(mark), "nested deeper than %u levels",
                      builder->limits.max_depth);
    node = new_node(builder, kind, mark, &result);
    if (!node)
        return result;
    add_node(builder, node);
    builder->open[builder->depth++] = (struct open_node){.node = node};
    return ZE_RESULT_SUCCESS;
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

/** Finds a member whose key an earlier member has; sorts, since files may be large. */
static ze_result_t find_duplicate(const struct zeta_yaml_node *mapping,
                                  const struct zeta_yaml_node **out_earlier,
                                  const struct zeta_yaml_node **out_later)
{
    ZETA_CLEANUP(zeta_freep) const struct zeta_yaml_node **members = NULL;
    uint32_t count = 0;

    if (mapping->child_count <= SMALL_MAPPING) {
        for (const struct zeta_yaml_node *a = mapping->first_child; a; a = a->next) {
            for (const struct zeta_yaml_node *b = a->next; b; b = b->next) {
                if (strcmp(a->key, b->key) == 0) {
                    *out_earlier = a;
                    *out_later = b;
                    return ZE_RESULT_SUCCESS;
                }
            }
        }
        return ZE_RESULT_SUCCESS;
    }
    members = malloc(mapping->child_count * sizeof(const struct zeta_yaml_node *));
    if (!members)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (const struct zeta_yaml_node *node = mapping->first_child; node; node = node->next)
        members[count++] = node;
    qsort(members, count, sizeof(const struct zeta_yaml_node *), compare_keys);
    for (uint32_t i = 1; i < count; i++) {
        if (strcmp(members[i - 1]->key, members[i]->key) == 0) {
            *out_earlier = members[i - 1];
            *out_later = members[i];
            return ZE_RESULT_SUCCESS;
        }
    }
    return ZE_RESULT_SUCCESS;
}

static ze_result_t on_end(struct builder *builder)
{
    const struct zeta_yaml_node *node = builder->open[--builder->depth].node;
    const struct zeta_yaml_node *earlier = NULL;
    const struct zeta_yaml_node *later = NULL;
    ze_result_t result;

    if (node->kind != ZETA_YAML_MAPPING)
        return ZE_RESULT_SUCCESS;
    result = find_duplicate(node, &earlier, &later);
    if (result != ZE_RESULT_SUCCESS || !later)
        return result;
    return refuse(builder, later->key_line, later->key_column,
                  "key '%s' appears twice; the first one is in line %u", later->key,
                  earlier->key_line);
}

static ze_result_t on_event(struct builder *builder, const yaml_event_t *event)
{
    const yaml_mark_t *mark = &event->start_mark;

    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (++builder->document_count > 1)
            return refuse(builder, line_of(mark), column_of(mark),
                          "a second document starts here; one per file is allowed");
        return ZE_RESULT_SUCCESS;
    case YAML_ALIAS_EVENT:
        return refuse(builder, line_of(mark), column_of(mark), "aliases are not allowed");
    case YAML_SCALAR_EVENT:
        return on_scalar(builder, event);
    case YAML_SEQUENCE_START_EVENT:
        return on_start(builder, ZETA_YAML_SEQUENCE,
                        event->data.sequence_start.anchor || event->data.sequence_start.tag, mark);
    case YAML_MAPPING_START_EVENT:
        return on_start(builder, ZETA_YAML_MAPPING,
                        event->data.mapping_start.anchor || event->data.mapping_start.tag, mark);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return on_end(builder);
    case YAML_STREAM_END_EVENT:
        builder->ended = true;
        return ZE_RESULT_SUCCESS;
    default:
        return ZE_RESULT_SUCCESS;
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

static ze_result_t report_syntax(const struct builder *builder, const yaml_parser_t *parser,
                                 const char *text, size_t length)
{
    uint32_t line;
    uint32_t column;

    switch (parser->error) {
    case YAML_MEMORY_ERROR:
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    case YAML_READER_ERROR:
        locate(text, length, parser->problem_offset, &line, &column);
        return refuse(builder, line, column, "not valid UTF-8 text: %s", parser->problem);
    default:
        line = line_of(&parser->problem_mark);
        column = column_of(&parser->problem_mark);
        if (parser->context)
            return refuse(builder, line, column, "YAML syntax: %s (%s that starts in line %u)",
                          parser->problem, parser->context, line_of(&parser->context_mark));
        return refuse(builder, line, column, "YAML syntax: %s", parser->problem);
    }
}

static ze_result_t build_tree(struct builder *builder, const char *text, size_t length)
{
    yaml_parser_t parser;
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (!yaml_parser_initialize(&parser))
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    while (result == ZE_RESULT_SUCCESS && !builder->ended) {
        yaml_event_t event;

        if (!yaml_parser_parse(&parser, &event)) {
            result = report_syntax(builder, &parser, text, length);
            break;
        }
        result = on_event(builder, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return result;
}

static void document_freep(struct zeta_yaml_document **document)
{
    zeta_yaml_free(*document);
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

ze_result_t zeta_yaml_parse(const char *text, size_t length, const char *name,
                            const struct zeta_yaml_limits *limits, struct zeta_diagnostics *sink,
                            struct zeta_yaml_document **out_document)
{
    ZETA_CLEANUP(document_freep) struct zeta_yaml_document *document = NULL;
    struct builder builder = {.sink = sink, .limits = effective_limits(limits)};
    ze_result_t result;

    document = calloc(1, sizeof(*document));
    if (!document)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    document->name = zeta_arena_copy(&document->arena, name, strlen(name));
    if (!document->name)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    builder.document = document;

    if (length > builder.limits.max_bytes)
        return refuse(&builder, 0, 0, "larger than %zu bytes", builder.limits.max_bytes);
    result = build_tree(&builder, text, length);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    *out_document = ZETA_TAKE(document);
    return ZE_RESULT_SUCCESS;
}

/** Reads up to limit bytes; one byte more in *out_length says that there was more. */
static ze_result_t read_all(int fd, size_t limit, char **out_text, size_t *out_length)
{
    ZETA_CLEANUP(zeta_freep) char *text = NULL;
    size_t capacity = 0;
    size_t length = 0;

    while (length <= limit) {
        ssize_t got;

        if (length == capacity) {
            size_t wanted = capacity ? capacity * 2 : 8192;
            char *larger = realloc(text, wanted);

            if (!larger)
                return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
            text = larger;
            capacity = wanted;
        }
        got = read(fd, text + length, capacity - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return ZE_RESULT_ERROR_UNKNOWN;
        if (got == 0)
            break;
        length += (size_t)got;
    }
    *out_text = ZETA_TAKE(text);
    *out_length = length;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_yaml_read_fd(int fd, const char *name, const struct zeta_yaml_limits *limits,
                              struct zeta_diagnostics *sink,
                              struct zeta_yaml_document **out_document)
{
    ZETA_CLEANUP(zeta_freep) char *text = NULL;
    size_t length = 0;
    ze_result_t result = read_all(fd, effective_limits(limits).max_bytes, &text, &length);

    if (result == ZE_RESULT_ERROR_UNKNOWN) {
        zeta_diagnose(sink, ZETA_SEVERITY_ERROR, name, 0, 0, "cannot be read: %s", strerror(errno));
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    if (result != ZE_RESULT_SUCCESS)
        return result;
    return zeta_yaml_parse(text, length, name, limits, sink, out_document);
}

ze_result_t zeta_yaml_read_file(const char *path, const struct zeta_yaml_limits *limits,
                                struct zeta_diagnostics *sink,
                                struct zeta_yaml_document **out_document)
{
    /* O_NONBLOCK: opening a FIFO that somebody put there must not hang. */
    ZETA_CLEANUP(zeta_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;

    if (fd < 0 || fstat(fd, &status) != 0) {
        zeta_diagnose(sink, ZETA_SEVERITY_ERROR, path, 0, 0, "cannot be opened: %s",
                      strerror(errno));
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    if (!S_ISREG(status.st_mode)) {
        zeta_diagnose(sink, ZETA_SEVERITY_ERROR, path, 0, 0, "not a regular file");
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    return zeta_yaml_read_fd(fd, path, limits, sink, out_document);
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
