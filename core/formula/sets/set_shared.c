/* What sets have in common: kinds, metrics used by name, sets over an index and on several units.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/formula/sets/catalog_priv.h"
#include "core/util/cleanup.h"

/** Largest value of an index. */
#define MAX_INDEX 65535u
/** Lists of metrics in lists of metrics, at most. */
#define MAX_LIST_DEPTH 8u
/** Bytes of the longest text that a pattern can become. */
#define FILLED_BYTES 1024u

/* Kinds -----------------------------------------------------------------------------------------
 */

void zeta_read_kinds(struct zeta_set_reader *reader, const struct zeta_yaml_node *node)
{
    if (!node || zeta_yaml_is_null(node) ||
        !zeta_reader_kind(reader, node, ZETA_YAML_MAPPING, "kinds"))
        return;
    for (const struct zeta_yaml_node *kind = node->first_child; kind; kind = kind->next) {
        if (!zeta_reader_kind(reader, kind, ZETA_YAML_MAPPING, "a kind"))
            return;
        if (zeta_yaml_member(kind, "kind")) {
            zeta_reader_error(reader, kind, "kind %.100s has a kind; kinds have none", kind->key);
            return;
        }
    }
    reader->kinds = node;
}

/** Adds a copy of a node, without what follows it, to a mapping or sequence that is made. */
static struct zeta_yaml_node *add_child(struct zeta_set_reader *reader,
                                        struct zeta_yaml_node *parent, struct zeta_yaml_node **last,
                                        const struct zeta_yaml_node *child)
{
    struct zeta_yaml_node *copy = zeta_arena_alloc(&reader->scratch, sizeof(*copy));

    if (!copy) {
        (void)zeta_reader_no_memory(reader);
        return NULL;
    }
    *copy = *child;
    copy->next = NULL;
    if (*last)
        (*last)->next = copy;
    else
        parent->first_child = copy;
    *last = copy;
    parent->child_count++;
    return copy;
}

const struct zeta_yaml_node *zeta_reader_with_kind(struct zeta_set_reader *reader,
                                                   const struct zeta_yaml_node *node,
                                                   const char *what)
{
    const struct zeta_yaml_node *name = zeta_yaml_member(node, "kind");
    const struct zeta_yaml_node *kind;
    struct zeta_yaml_node *whole;
    struct zeta_yaml_node *last = NULL;

    if (!zeta_reader_kind(reader, node, ZETA_YAML_MAPPING, what))
        return NULL;
    if (!name || reader->format < 2)
        return node;
    if (!zeta_reader_kind(reader, name, ZETA_YAML_SCALAR, "kind"))
        return NULL;
    kind = zeta_yaml_member(reader->kinds, name->text);
    if (!kind) {
        zeta_reader_error(reader, name, "unknown kind '%.100s'; a file declares it under 'kinds'",
                          name->text);
        return NULL;
    }
    whole = zeta_arena_alloc(&reader->scratch, sizeof(*whole));
    if (!whole) {
        (void)zeta_reader_no_memory(reader);
        return NULL;
    }
    *whole = *node;
    whole->child_count = 0;
    for (const struct zeta_yaml_node *own = node->first_child; own; own = own->next) {
        if (own != name && !add_child(reader, whole, &last, own))
            return NULL;
    }
    for (const struct zeta_yaml_node *common = kind->first_child; common; common = common->next) {
        if (!zeta_yaml_member(node, common->key) && !add_child(reader, whole, &last, common))
            return NULL;
    }
    return whole;
}

/* Uses ------------------------------------------------------------------------------------------
 */

/** Reads a use: a key, from format 2 on with indexes and counters behind it. */
static bool read_use(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                     struct zeta_metric_use *use)
{
    struct zeta_arena *arena = reader->arena;
    size_t length = reader->format > 1 ? strcspn(node->text, " \t\n") : node->length;
    char key[ZETA_SET_NAME_BYTES + 1];

    use->line = node->line;
    use->column = node->column;
    use->arguments = "";
    if (node->text[length] != '\0') {
        const char *arguments = node->text + length + strspn(node->text + length, " \t\n");

        use->arguments = zeta_arena_copy(arena, arguments, strlen(arguments));
        if (!use->arguments)
            return zeta_reader_no_memory(reader);
    }
    /* A key that is too long stays too long. */
    (void)snprintf(key, sizeof(key), "%.*s", (int)(length < sizeof(key) ? length : sizeof(key)),
                   node->text);
    return zeta_reader_name(reader, node, key, true, &use->key);
}

bool zeta_read_metric_use(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                          struct zeta_loaded_set *loaded, uint32_t index)
{
    struct zeta_metric_use *use;
    uint32_t count = 1;

    /* The first use makes room for itself and all behind it. */
    for (const struct zeta_yaml_node *item = node->next; !loaded->uses && item; item = item->next)
        count += item->kind == ZETA_YAML_SCALAR;
    if (!loaded->uses)
        loaded->uses = zeta_arena_array(reader->arena, count, sizeof(*loaded->uses));
    if (!loaded->uses)
        return zeta_reader_no_memory(reader);
    use = &loaded->uses[loaded->use_count++];
    use->index = index;
    return read_use(reader, node, use);
}

/* Shared definitions ----------------------------------------------------------------------------
 */

static bool read_list(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                      struct zeta_shared_metric *shared)
{
    bool good = true;

    shared->uses = zeta_reader_array(reader, node, ZETA_YAML_SEQUENCE, "a list of metrics", 1,
                                     ZETA_SET_MAX_METRICS, sizeof(*shared->uses));
    if (!shared->uses)
        return false;
    for (const struct zeta_yaml_node *item = node->first_child; good && item; item = item->next)
        good = zeta_reader_kind(reader, item, ZETA_YAML_SCALAR, "a member of a shared list") &&
               read_use(reader, item, &shared->uses[shared->use_count++]);
    return good;
}

/** Reads a definition with an index, or with counters, or with both. */
static bool read_template(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                          struct zeta_shared_metric *shared)
{
    static const struct zeta_key index_key = {"index", .kind = ZETA_KEY_NAME};
    const struct zeta_yaml_node *index = zeta_yaml_member(node, "index");
    bool good = true;

    if (index && !zeta_reader_value(reader, index, &index_key, &shared->index))
        return false;
    shared->texts = zeta_arena_array(reader->arena, ZETA_METRIC_TEXTS, sizeof(*shared->texts));
    if (!shared->texts)
        return zeta_reader_no_memory(reader);
    for (uint32_t i = 0; i < ZETA_METRIC_TEXTS; i++) {
        const struct zeta_yaml_node *text = zeta_yaml_member(node, zeta_metric_keys[i].key);

        if (!text)
            continue;
        good = zeta_reader_kind(reader, text, ZETA_YAML_SCALAR, text->key) &&
               zeta_pattern_read(reader, text, shared->index, true, &shared->texts[i]) && good;
        shared->texts[i].key = zeta_metric_keys[i].key;
        if (shared->texts[i].counters > shared->counters)
            shared->counters = shared->texts[i].counters;
    }
    return zeta_read_metric(reader, node, ZETA_METRIC_WITHOUT_TEXTS, NULL, &shared->metric) && good;
}

/** True if a text of a definition has braces. */
static bool has_braces(const struct zeta_yaml_node *node)
{
    for (uint32_t i = 0; i < ZETA_METRIC_TEXTS; i++) {
        const struct zeta_yaml_node *text = zeta_yaml_member(node, zeta_metric_keys[i].key);

        if (text && text->text && strpbrk(text->text, "{}"))
            return true;
    }
    return false;
}

static bool read_definition(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                            struct zeta_shared_metric *shared)
{
    if (reader->format > 1 && node->kind == ZETA_YAML_SEQUENCE)
        return read_list(reader, node, shared);
    node = zeta_reader_with_kind(reader, node, "a metric");
    if (!node)
        return false;
    if (reader->format > 1 && (zeta_yaml_member(node, "index") || has_braces(node)))
        return read_template(reader, node, shared);
    return zeta_read_metric(reader, node, ZETA_METRIC_WHOLE, shared->key, &shared->metric);
}

void zeta_read_shared_metric(struct zeta_set_reader *reader, const struct zeta_yaml_node *node)
{
    struct zeta_shared_metric *shared = zeta_reader_alloc(reader, sizeof(*shared));

    if (!shared || !zeta_reader_name(reader, node, node->key, true, &shared->key))
        return;
    shared->line = shared->metric.line = node->key_line;
    shared->metric.file = reader->file;
    shared->late = reader->entry;
    atomic_store(&shared->state, shared->late ? ZETA_SHARED_LATE : ZETA_SHARED_READ);
    if (shared->late || read_definition(reader, node, shared))
        (void)zeta_reader_add(reader, &reader->catalog->shared, shared);
}

/** Reads a definition at its first use, by whichever thread. */
static ze_result_t read_late_definition(const struct zeta_linker *linker,
                                        struct zeta_shared_metric *shared)
{
    struct zeta_set_reader reader = zeta_late_reader(linker, shared->late->file);
    struct zeta_yaml_document *document = NULL;
    const struct zeta_yaml_node *node;
    bool good = false;

    zeta_late_own(&reader);
    zeta_late_lock(linker->catalog);
    if (atomic_load(&shared->state) == ZETA_SHARED_LATE) {
        document = zeta_late_parse(&reader, shared->late, &node);
        good = document && read_definition(&reader, node, shared);
        if (!reader.out_of_memory)
            atomic_store(&shared->state, good ? ZETA_SHARED_READ : ZETA_SHARED_FAULTY);
        zeta_yaml_free(document);
    }
    zeta_late_unlock(linker->catalog);
    return zeta_reader_finish(&reader);
}

/* Sets over an index ----------------------------------------------------------------------------
 */

/** The values of an index: a range, or the members of a list. */
struct index_values {
    const char *name;
    const struct zeta_yaml_node *list; /**< NULL: a range */
    uint32_t first, step, count;
    bool falls;
};

/** Reads "4", "0..30", "30..0"; what follows it, NULL: it is neither. */
static const char *read_range(const char *text, uint32_t *out_first, uint32_t *out_last)
{
    char *end;

    if (*text < '0' || *text > '9')
        return NULL;
    *out_first = *out_last = (uint32_t)strtoul(text, &end, 10);
    if (strncmp(end, "..", 2) == 0) {
        if (end[2] < '0' || end[2] > '9')
            return NULL;
        *out_last = (uint32_t)strtoul(end + 2, &end, 10);
    }
    return *out_first <= MAX_INDEX && *out_last <= MAX_INDEX ? end : NULL;
}

static bool read_index_values(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                              struct index_values *out)
{
    const struct zeta_yaml_node *values;
    const char *end;
    uint32_t last;

    if (!zeta_reader_kind(reader, node, ZETA_YAML_MAPPING, "for"))
        return false;
    values = node->first_child;
    if (node->child_count != 1) {
        zeta_reader_error(reader, node, "for has one index and its values");
        return false;
    }
    *out = (struct index_values){.name = values->key, .step = 1, .count = values->child_count};
    if (values->kind == ZETA_YAML_SEQUENCE) {
        out->list = values->first_child;
        for (const struct zeta_yaml_node *item = out->list; item; item = item->next) {
            uint64_t value;

            if (!zeta_yaml_u64(item, &value) || value > MAX_INDEX) {
                zeta_reader_error(reader, item, "a value of an index is 0 to %u", MAX_INDEX);
                return false;
            }
        }
        return true;
    }
    end = values->text ? read_range(values->text, &out->first, &last) : NULL;
    if (end && strncmp(end, " by ", 4) == 0 && end[4] >= '1' && end[4] <= '9') {
        char *behind;

        out->step = (uint32_t)strtoul(end + 4, &behind, 10);
        end = behind;
    }
    if (!end || *end != '\0' || out->step > MAX_INDEX) {
        zeta_reader_error(reader, values,
                          "values of an index are a list, FIRST..LAST or FIRST..LAST by STEP, from "
                          "0 to %u",
                          MAX_INDEX);
        return false;
    }
    out->falls = last < out->first;
    out->count = (out->falls ? out->first - last : last - out->first) / out->step + 1;
    return true;
}

/** Patterns of a set over an index: read for its first value, filled for each. */
struct zeta_pattern_memo {
    struct {
        const char *text;
        struct zeta_pattern pattern;
    } known[16];
    uint32_t count;
};

/** Writes what a scalar becomes for a value of the index. */
static bool fill_scalar(struct zeta_set_reader *reader, const char *index, uint32_t value,
                        struct zeta_yaml_node *node)
{
    struct zeta_pattern_memo *memo = reader->patterns;
    const struct zeta_pattern *pattern = NULL;
    struct zeta_pattern own;
    char text[FILLED_BYTES];

    if (!strpbrk(node->text, "{}"))
        return true;
    for (uint32_t i = 0; memo && i < memo->count && !pattern; i++) {
        if (memo->known[i].text == node->text)
            pattern = &memo->known[i].pattern;
    }
    if (!pattern) {
        pattern = &own;
        if (!zeta_pattern_read(reader, node, index, false, &own))
            return false;
        if (memo && memo->count < sizeof(memo->known) / sizeof(memo->known[0])) {
            memo->known[memo->count].text = node->text;
            memo->known[memo->count++].pattern = own;
        }
    }
    if (!zeta_pattern_fill(pattern, value, NULL, text, sizeof(text), &node->length)) {
        zeta_reader_error(reader, node, "the text becomes longer than %u bytes", FILLED_BYTES - 1);
        return false;
    }
    node->text = zeta_arena_copy(&reader->scratch, text, node->length);
    return node->text || zeta_reader_no_memory(reader);
}

/** Gives a node, which is a copy, members of its own, in whose texts the index has a value. */
static bool fill_node(struct zeta_set_reader *reader, const char *index, uint32_t value,
                      struct zeta_yaml_node *node)
{
    const struct zeta_yaml_node *child = node->first_child;
    struct zeta_yaml_node *last = NULL;

    if (node->kind == ZETA_YAML_SCALAR)
        return fill_scalar(reader, index, value, node);
    node->first_child = NULL;
    node->child_count = 0;
    for (; child; child = child->next) {
        struct zeta_yaml_node *copy = add_child(reader, node, &last, child);

        if (!copy || !fill_node(reader, index, value, copy))
            return false;
    }
    return true;
}

/** The set for one value: without "for", and with one uuid of the list. */
static bool make_indexed_set(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                             const struct zeta_yaml_node *uuid, const char *index, uint32_t value,
                             uint32_t place, struct zeta_yaml_node *out_set)
{
    struct zeta_yaml_node *last = NULL;

    *out_set = *node;
    out_set->first_child = NULL;
    out_set->child_count = 0;
    for (const struct zeta_yaml_node *member = node->first_child; member; member = member->next) {
        const bool is_uuid = uuid && strcmp(member->key, "uuid") == 0;
        const struct zeta_yaml_node *chosen = is_uuid ? uuid->first_child : member;
        struct zeta_yaml_node *copy;

        if (strcmp(member->key, "for") == 0)
            continue;
        for (uint32_t i = 0; is_uuid && i < place; i++)
            chosen = chosen->next;
        copy = add_child(reader, out_set, &last, chosen);
        if (!copy)
            return false;
        copy->key = member->key;
        /* A list of metrics that is read later is filled then. */
        if (!(reader->late && strcmp(member->key, "metrics") == 0) &&
            !fill_node(reader, index, value, copy))
            return false;
    }
    return true;
}

/** Nodes that a node holds, and itself. */
static uint32_t count_nodes(const struct zeta_yaml_node *node)
{
    uint32_t count = 1;

    for (const struct zeta_yaml_node *child = node->first_child; child; child = child->next)
        count += count_nodes(child);
    return count;
}

void zeta_read_sets(struct zeta_set_reader *reader, const struct zeta_yaml_node *node)
{
    const struct zeta_yaml_node *over, *uuid, *item;
    struct zeta_pattern_memo patterns;
    struct index_values values;
    uint32_t node_count;

    node = zeta_reader_with_kind(reader, node, "a set");
    if (!node)
        return;
    over = reader->format > 1 ? zeta_yaml_member(node, "for") : NULL;
    uuid = zeta_yaml_member(node, "uuid");
    if (!over) {
        (void)zeta_read_set(reader, node);
        return;
    }
    node_count = count_nodes(node);
    if (!read_index_values(reader, over, &values))
        return;
    if (uuid)
        uuid = zeta_late_uuids(reader, uuid);
    if (uuid && (uuid->kind != ZETA_YAML_SEQUENCE || uuid->child_count != values.count)) {
        zeta_reader_error(reader, uuid, "uuid has to be a list with one for each of %u sets",
                          values.count);
        return;
    }
    item = values.list;
    patterns.count = 0;
    reader->patterns = &patterns;
    for (uint32_t i = 0; i < values.count; i++) {
        uint64_t value =
            values.falls ? values.first - i * values.step : values.first + i * values.step;
        struct zeta_yaml_node set;

        if (item) {
            (void)zeta_yaml_u64(item, &value);
            item = item->next;
        }
        reader->index = values.name;
        reader->index_value = (uint32_t)value;
        if (!zeta_reader_may_make(reader, over, node_count) ||
            !make_indexed_set(reader, node, uuid, values.name, (uint32_t)value, i, &set) ||
            !zeta_read_set(reader, &set))
            break;
    }
    reader->index = NULL;
    reader->patterns = NULL;
}

bool zeta_late_keep_list(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                         struct zeta_loaded_set *loaded)
{
    struct zeta_late_list *list = zeta_reader_alloc(reader, sizeof(*list));

    if (list)
        *list = (struct zeta_late_list){.file = reader->late,
                                        .entry = zeta_late_list(reader->late, node),
                                        .node = *node,
                                        .index = reader->index,
                                        .value = reader->index_value};
    loaded->late = list;
    return list != NULL;
}

ze_result_t zeta_late_read_list(const struct zeta_linker *linker, struct zeta_loaded_set *loaded)
{
    const struct zeta_late_list *list = loaded->late;
    struct zeta_set_reader reader = zeta_late_reader(linker, list->file);
    struct zeta_yaml_document *document = NULL;
    const struct zeta_yaml_node *parsed = &list->node;
    struct zeta_yaml_node node;

    if (list->entry) {
        document = zeta_late_parse(&reader, list->entry, &parsed);
        if (!document)
            return zeta_reader_finish(&reader);
    }
    node = *parsed;
    if (!list->index || fill_node(&reader, list->index, list->value, &node))
        (void)zeta_read_metrics(&reader, &node, loaded, &loaded->set.metrics,
                                &loaded->set.metric_count);
    zeta_yaml_free(document);
    return zeta_reader_finish(&reader);
}

/* Sets on several units -------------------------------------------------------------------------
 */

/** The condition that holds if both hold; either may be NULL. False, with an error, if too deep. */
static bool both(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                 struct zeta_expr *left, struct zeta_expr *right, struct zeta_expr **out_expr)
{
    struct zeta_expr *expr;

    *out_expr = left ? left : right;
    if (!left || !right)
        return true;
    expr = zeta_reader_alloc(reader, sizeof(*expr));
    if (!expr)
        return false;
    expr->op = ZETA_EXPR_LOGICAL_AND;
    expr->depth = 1 + (left->depth > right->depth ? left->depth : right->depth);
    expr->line = right->line;
    expr->column = right->column;
    expr->u.arg[0] = left;
    expr->u.arg[1] = right;
    *out_expr = expr;
    if (expr->depth <= ZETA_EXPR_MAX_DEPTH)
        return true;
    zeta_reader_error(reader, node,
                      "the conditions of the set and of this unit are together "
                      "deeper than %u levels",
                      ZETA_EXPR_MAX_DEPTH);
    return false;
}

/** Reads one further unit of a set: what it says instead of the set itself. */
static bool read_also(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                      struct zeta_loaded_set *loaded)
{
    static const struct zeta_key keys[] = {
        {"name", ZETA_KEY_DASHED_NAME, .offset = offsetof(struct zeta_loaded_set, set.name)},
        {"description", ZETA_KEY_TEXT, .offset = offsetof(struct zeta_loaded_set, set.description),
         .optional = true},
        {"unit", ZETA_KEY_REFERENCE, .offset = offsetof(struct zeta_loaded_set, unit)},
        {"domain", ZETA_KEY_U32, .offset = offsetof(struct zeta_loaded_set, set.domain),
         .max = 1023},
        {"when", ZETA_KEY_EXPR, .offset = offsetof(struct zeta_loaded_set, set.available),
         .optional = true},
        {.key = NULL},
    };
    struct zeta_set *set = &loaded->set;
    struct zeta_expr *of_set = set->available;
    bool good;

    set->line = node->line;
    set->available = NULL;
    good = zeta_reader_mapping(reader, node, "a further unit of a set", keys, loaded);
    return both(reader, node, of_set, set->available, &set->available) && good;
}

bool zeta_read_set_also(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                        struct zeta_loaded_set *loaded)
{
    struct zeta_catalog *catalog = reader->catalog;

    if (!zeta_reader_add(reader, &catalog->loaded, loaded))
        return false;
    if (!node)
        return true;
    if (!zeta_reader_kind(reader, node, ZETA_YAML_SEQUENCE, "also"))
        return false;
    for (const struct zeta_yaml_node *item = node->first_child; item; item = item->next) {
        struct zeta_loaded_set *further = zeta_reader_alloc(reader, sizeof(*further));

        if (!further)
            return false;
        /* Expressions that one of them linked fit the others: same metrics, same layout. */
        *further = *loaded;
        further->also_of = loaded;
        if (read_also(reader, item, further) && !zeta_reader_add(reader, &catalog->loaded, further))
            return false;
    }
    return true;
}

bool zeta_metric_copy(struct zeta_arena *arena, const struct zeta_metric *from,
                      struct zeta_metric *metric)
{
    struct zeta_expr *const exprs[] = {from->value, from->available, from->maximum};
    struct zeta_expr **const copies[] = {&metric->value, &metric->available, &metric->maximum};

    *metric = *from;
    for (int i = 0; i < 3; i++) {
        *copies[i] = exprs[i] ? zeta_expr_copy(exprs[i], arena) : NULL;
        if (exprs[i] && !*copies[i])
            return false;
    }
    if (from->event_count == 0)
        return true;
    metric->events = zeta_arena_array(arena, from->event_count, sizeof(*metric->events));
    if (metric->events)
        memcpy(metric->events, from->events, from->event_count * sizeof(*metric->events));
    return metric->events != NULL;
}

/** What a copy of a metric holds. */
static uint32_t count_metric(const struct zeta_metric *metric)
{
    return 1 + metric->event_count + zeta_expr_count(metric->value) +
           zeta_expr_count(metric->available) + zeta_expr_count(metric->maximum);
}

/* Making the metrics of a set -------------------------------------------------------------------
 */

/** The metrics of one set while they are gathered. */
struct gathered {
    struct zeta_linker *linker;
    struct zeta_loaded_set *loaded;
    const struct zeta_metric_use *use; /**< of the set; NULL: a metric of its own */
    uint32_t count;
    struct zeta_metric metrics[ZETA_SET_MAX_METRICS];
    const struct zeta_metric_use *use_of[ZETA_SET_MAX_METRICS];
};

#define refuse(gathered, ...)                                                                      \
    zeta_link_fail((gathered)->linker, (gathered)->loaded->set.file, (gathered)->use->line,        \
                   (gathered)->use->column, __VA_ARGS__)

/**
 * Counts what a use or a further unit makes of a few bytes. False, with an error, when it is too
 * much: a small file must not take all memory.
 */
static bool may_make(struct zeta_linker *linker, const struct zeta_set *set, uint32_t count)
{
    if (count <= ZETA_CATALOG_MAX_MADE - *linker->made) {
        *linker->made += count;
        return true;
    }
    return zeta_link_fail(linker, set->file, set->line, 1,
                          "with set %s, shared metrics and further units make more than %u metrics "
                          "and parts of expressions",
                          set->name, ZETA_CATALOG_MAX_MADE);
}

/** The place for one more metric; NULL, with an error, if the set has too many. */
static struct zeta_metric *add_metric(struct gathered *gathered)
{
    const struct zeta_set *set = &gathered->loaded->set;

    if (gathered->count == ZETA_SET_MAX_METRICS) {
        (void)zeta_link_fail(gathered->linker, set->file, set->line, 1,
                             "set %s has more than %u metrics", set->name, ZETA_SET_MAX_METRICS);
        return NULL;
    }
    gathered->use_of[gathered->count] = gathered->use;
    return &gathered->metrics[gathered->count++];
}

/** Adds a metric with expressions of its own. */
static bool add_copy(struct gathered *gathered, const struct zeta_metric *from)
{
    struct zeta_metric *metric = add_metric(gathered);

    return metric && (zeta_metric_copy(gathered->linker->arena, from, metric) ||
                      zeta_link_no_memory(gathered->linker));
}

/** What a use gives behind its key. */
struct arguments {
    uint32_t index_count, counter_count;
    uint32_t indexes[ZETA_SET_MAX_METRICS];
    struct zeta_counter_name counters[ZETA_SET_MAX_METRICS * 4];
    char banks[ZETA_SET_TEXT_BYTES]; /**< names of the counters' banks */
};

/** Reads "C7..C0" or "B3"; what follows it, NULL: it is none, or there are too many. */
static const char *read_counters(const char *text, struct arguments *out, size_t *bank_bytes)
{
    const size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_");
    const char *bank = out->banks + *bank_bytes;
    const char *end = text + length;
    uint32_t first, last;

    if (length == 0 || length >= sizeof(out->banks) - *bank_bytes)
        return NULL;
    memcpy(out->banks + *bank_bytes, text, length);
    *bank_bytes += length + 1;
    out->banks[*bank_bytes - 1] = '\0';
    if (*end < '0' || *end > '9')
        return NULL;
    first = last = (uint32_t)strtoul(end, (char **)&end, 10);
    if (strncmp(end, "..", 2) == 0) {
        if (strncmp(end + 2, bank, length) != 0 || end[2 + length] < '0' || end[2 + length] > '9')
            return NULL;
        last = (uint32_t)strtoul(end + 2 + length, (char **)&end, 10);
    }
    if (first > MAX_INDEX || last > MAX_INDEX)
        return NULL;
    for (;; first += first < last ? 1 : -1) {
        if (out->counter_count == sizeof(out->counters) / sizeof(out->counters[0]))
            return NULL;
        out->counters[out->counter_count++] = (struct zeta_counter_name){bank, first};
        if (first == last)
            return end;
    }
}

/** Reads "4", "0..15"; what follows it, NULL: it is none, or there are too many. */
static const char *read_indexes(const char *text, struct arguments *out)
{
    uint32_t first, last;
    const char *end = out->counter_count == 0 ? read_range(text, &first, &last) : NULL;

    while (end) {
        if (out->index_count == ZETA_SET_MAX_METRICS)
            return NULL;
        out->indexes[out->index_count++] = first;
        if (first == last)
            break;
        first += first < last ? 1 : -1;
    }
    return end;
}

static bool read_arguments(const struct gathered *gathered, const char *text, struct arguments *out)
{
    size_t bank_bytes = 0;

    out->index_count = out->counter_count = 0;
    while (*text) {
        const char *end = *text >= '0' && *text <= '9' ? read_indexes(text, out)
                                                       : read_counters(text, out, &bank_bytes);

        if (!end || !strchr(" \t\n", *end))
            return refuse(gathered,
                          "'%.60s' is neither an index (4, 0..15) nor, behind all of those, "
                          "counters (B3, C7..C0)",
                          text);
        text = end + strspn(end, " \t\n");
    }
    return true;
}

/** Makes one metric of a template. */
static bool instantiate(struct gathered *gathered, const struct zeta_shared_metric *shared,
                        uint32_t index, const struct zeta_counter_name *counters)
{
    struct zeta_set_reader reader = {.arena = gathered->linker->arena,
                                     .sink = gathered->linker->sink,
                                     .file = shared->metric.file,
                                     .format = ZETA_SET_FORMAT};
    struct zeta_yaml_node mapping = {.kind = ZETA_YAML_MAPPING, .line = shared->line, .column = 1};
    struct zeta_yaml_node nodes[ZETA_METRIC_TEXTS];
    char texts[ZETA_METRIC_TEXTS][FILLED_BYTES];
    struct zeta_metric *metric;

    if (!add_copy(gathered, &shared->metric))
        return false;
    metric = &gathered->metrics[gathered->count - 1];
    for (uint32_t i = ZETA_METRIC_TEXTS; i-- > 0;) {
        const struct zeta_pattern *pattern = &shared->texts[i];

        if (!pattern->pieces)
            continue;
        nodes[i] = (struct zeta_yaml_node){.kind = ZETA_YAML_SCALAR,
                                           .line = pattern->line,
                                           .column = pattern->column,
                                           .key = pattern->key,
                                           .text = texts[i],
                                           .plain = true,
                                           .next = mapping.first_child};
        mapping.first_child = &nodes[i];
        if (!zeta_pattern_fill(pattern, index, counters, texts[i], FILLED_BYTES, &nodes[i].length))
            return refuse(gathered, "%s of the shared metric %s becomes longer than %u bytes",
                          pattern->key, shared->key, FILLED_BYTES - 1);
    }
    if (zeta_read_metric(&reader, &mapping, ZETA_METRIC_ONLY_TEXTS, shared->key, metric))
        return may_make(gathered->linker, &gathered->loaded->set, count_metric(metric));
    if (reader.out_of_memory)
        return zeta_link_no_memory(gathered->linker);
    return refuse(gathered, "set %s cannot use the shared metric %s: see %s:%u",
                  gathered->loaded->set.name, shared->key, shared->metric.file, shared->line);
}

static bool add_instances(struct gathered *gathered, const struct zeta_shared_metric *shared,
                          const char *text)
{
    ZETA_CLEANUP(zeta_freep) struct arguments *arguments = malloc(sizeof(*arguments));
    bool good = true;
    uint32_t count;

    if (!arguments)
        return zeta_link_no_memory(gathered->linker);
    if (!read_arguments(gathered, text, arguments))
        return false;
    if (!shared->index != (arguments->index_count == 0))
        return refuse(gathered, "%s takes %s index%s", shared->key, shared->index ? "an" : "no",
                      shared->index ? ", none is given" : "");
    count = shared->index ? arguments->index_count : 1;
    if (arguments->counter_count != count * shared->counters)
        return refuse(gathered, "%s takes %u counter%s for each of %u index%s; %u given",
                      shared->key, shared->counters, shared->counters == 1 ? "" : "s", count,
                      count == 1 ? "" : "es", arguments->counter_count);
    for (uint32_t i = 0; i < count && good; i++)
        good = instantiate(gathered, shared, shared->index ? arguments->indexes[i] : 0,
                           &arguments->counters[i * shared->counters]);
    return good;
}

/** Adds the metrics of one use, of the set or of a shared list. */
static bool add_use(struct gathered *gathered, const struct zeta_metric_use *use, uint32_t depth)
{
    struct zeta_linker *linker = gathered->linker;
    struct zeta_shared_metric *shared =
        zeta_names_find(&linker->catalog->shared_by_name, use->key, strlen(use->key));
    bool good = true;

    if (shared && atomic_load(&shared->state) == ZETA_SHARED_LATE &&
        read_late_definition(linker, shared) == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
        return zeta_link_no_memory(linker);
    if (shared && atomic_load(&shared->state) == ZETA_SHARED_FAULTY)
        return refuse(gathered, "set %s cannot use the shared metric %s: see %s:%u",
                      gathered->loaded->set.name, shared->key, shared->metric.file, shared->line);
    if (!shared)
        return refuse(gathered,
                      "unknown shared metric '%.100s'; such metrics are declared under 'metrics' "
                      "at the top of a set file",
                      use->key);
    if (shared->texts)
        return add_instances(gathered, shared, use->arguments);
    if (*use->arguments)
        return refuse(gathered, "%s takes neither indexes nor counters", use->key);
    if (!shared->uses)
        return may_make(linker, &gathered->loaded->set, count_metric(&shared->metric)) &&
               add_copy(gathered, &shared->metric);
    if (depth == MAX_LIST_DEPTH)
        return refuse(gathered, "more than %u lists of metrics in each other at %s", MAX_LIST_DEPTH,
                      use->key);
    for (uint32_t i = 0; i < shared->use_count && good; i++)
        good = add_use(gathered, &shared->uses[i], depth + 1);
    return good;
}

bool zeta_link_uses(struct zeta_linker *linker, struct zeta_loaded_set *loaded, uint32_t more)
{
    ZETA_CLEANUP(zeta_freep) struct gathered *gathered = malloc(sizeof(*gathered));
    struct zeta_set *set = &loaded->set;
    bool good = true;
    uint32_t next = 0;

    if (!gathered)
        return zeta_link_no_memory(linker);
    gathered->linker = linker;
    gathered->loaded = loaded;
    gathered->count = 0;
    if (loaded->also_of && !may_make(linker, set, set->metric_count))
        return false;
    for (uint32_t i = 0; i < set->metric_count; i++) {
        const bool is_use = next < loaded->use_count && loaded->uses[next].index == i;
        struct zeta_metric *metric;

        gathered->use = is_use ? &loaded->uses[next++] : NULL;
        if (is_use) {
            good = add_use(gathered, gathered->use, 0) && good;
        } else if (linker->copies) {
            good = add_copy(gathered, &set->metrics[i]) && good;
        } else {
            metric = add_metric(gathered);
            good = metric && good;
            if (metric)
                *metric = set->metrics[i];
        }
        if (linker->result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
            return false;
    }
    if (!good)
        return false;
    set->metrics =
        zeta_arena_array(linker->arena, (size_t)gathered->count + more, sizeof(*set->metrics));
    loaded->use_of =
        zeta_arena_array(linker->arena, (size_t)gathered->count + more, sizeof(*loaded->use_of));
    if (!set->metrics || !loaded->use_of)
        return zeta_link_no_memory(linker);
    memcpy(set->metrics, gathered->metrics, gathered->count * sizeof(*set->metrics));
    memcpy(loaded->use_of, gathered->use_of, gathered->count * sizeof(*loaded->use_of));
    set->metric_count = gathered->count;
    return true;
}

void zeta_report_use(const struct zeta_loaded_set *loaded, uint32_t index,
                     struct zeta_diagnostics *sink)
{
    const struct zeta_metric_use *use = loaded->use_of[index];

    if (use)
        zeta_diagnose(sink, ZETA_SEVERITY_ERROR, loaded->set.file, use->line, use->column,
                      "set %s cannot use the shared metric %s: see %s:%u", loaded->set.name,
                      use->key, loaded->set.metrics[index].file, loaded->set.metrics[index].line);
}
