/* What sets have in common: definitions of metrics used by name, and sets on several units. */
#include <stdlib.h>
#include <string.h>

#include "core/formula/sets/catalog_priv.h"

void zeta_read_shared_metric(struct zeta_set_reader *reader, const struct zeta_yaml_node *node)
{
    struct zeta_catalog *catalog = reader->catalog;
    struct zeta_shared_metric *shared = zeta_arena_alloc(&catalog->arena, sizeof(*shared));

    if (!shared) {
        (void)zeta_reader_no_memory(reader);
        return;
    }
    shared->line = node->key_line;
    if (zeta_reader_name(reader, node, node->key, true, &shared->key) &&
        zeta_read_metric(reader, node, shared->key, &shared->metric) &&
        !zeta_vector_push(&catalog->arena, &catalog->shared, shared))
        (void)zeta_reader_no_memory(reader);
}

/** Number of members of a sequence that are scalars. */
static uint32_t count_scalars(const struct zeta_yaml_node *first)
{
    uint32_t count = 0;

    for (const struct zeta_yaml_node *node = first; node; node = node->next)
        count += node->kind == ZETA_YAML_SCALAR;
    return count;
}

bool zeta_read_metric_use(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                          struct zeta_loaded_set *loaded, uint32_t index)
{
    struct zeta_metric_use *use;

    /* The first use makes room for itself and all behind it. */
    if (!loaded->uses)
        loaded->uses =
            zeta_arena_array(&reader->catalog->arena, count_scalars(node), sizeof(*loaded->uses));
    if (!loaded->uses)
        return zeta_reader_no_memory(reader);
    use = &loaded->uses[loaded->use_count++];
    use->line = node->line;
    use->column = node->column;
    use->index = index;
    return zeta_reader_name(reader, node, node->text, true, &use->key);
}

/** The condition that holds if both hold; either may be NULL. False, with an error, if too deep. */
static bool both(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                 struct zeta_expr *left, struct zeta_expr *right, struct zeta_expr **out_expr)
{
    struct zeta_expr *expr;

    *out_expr = left ? left : right;
    if (!left || !right)
        return true;
    expr = zeta_arena_alloc(&reader->catalog->arena, sizeof(*expr));
    if (!expr)
        return zeta_reader_no_memory(reader);
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
    static const char *const keys[] = {"name", "description", "unit", "domain", "when", NULL};
    struct zeta_set *set = &loaded->set;
    const struct zeta_yaml_node *name;
    struct zeta_expr *when = NULL;
    bool good;

    if (!zeta_reader_kind(reader, node, ZETA_YAML_MAPPING, "a further unit of a set"))
        return false;
    zeta_reader_check_keys(reader, node, keys);
    set->line = node->line;
    name = zeta_reader_need(reader, node, "name");
    good = name && zeta_reader_kind(reader, name, ZETA_YAML_SCALAR, "name") &&
           zeta_reader_name(reader, name, name->text, true, &set->name);
    good =
        zeta_reader_text(reader, node, "description", set->description, &set->description) && good;
    good = zeta_reader_reference(reader, node, "unit", &loaded->unit_name, &loaded->unit_line,
                                 &loaded->unit_column) &&
           good;
    good = zeta_reader_u32(reader, node, "domain", false, 0, 1023, &set->domain) && good;
    good = zeta_reader_expr(reader, node, "when", true, &when) &&
           both(reader, node, set->available, when, &set->available) && good;
    return good;
}

bool zeta_read_set_also(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                        struct zeta_loaded_set *loaded)
{
    struct zeta_catalog *catalog = reader->catalog;

    if (!zeta_vector_push(&catalog->arena, &catalog->loaded, loaded))
        return zeta_reader_no_memory(reader);
    if (!node)
        return true;
    if (!zeta_reader_kind(reader, node, ZETA_YAML_SEQUENCE, "also"))
        return false;
    for (const struct zeta_yaml_node *item = node->first_child; item; item = item->next) {
        struct zeta_loaded_set *further = zeta_arena_alloc(&catalog->arena, sizeof(*further));

        if (!further)
            return zeta_reader_no_memory(reader);
        /* Expressions that one of them linked fit the others: same metrics, same layout. */
        *further = *loaded;
        further->also_of = loaded;
        if (read_also(reader, item, further) &&
            !zeta_vector_push(&catalog->arena, &catalog->loaded, further))
            return zeta_reader_no_memory(reader);
    }
    return true;
}

static int compare_shared(const void *left, const void *right)
{
    const struct zeta_shared_metric *const *a = left;
    const struct zeta_shared_metric *const *b = right;

    return strcmp((*a)->key, (*b)->key);
}

static int compare_key(const void *key, const void *item)
{
    const struct zeta_shared_metric *const *shared = item;

    return strcmp(key, (*shared)->key);
}

void zeta_shared_sort(struct zeta_catalog *catalog)
{
    if (catalog->shared.count > 0)
        qsort(catalog->shared.items, catalog->shared.count, sizeof(void *), compare_shared);
}

/** A metric of its own with the meaning of the definition: linking writes into expressions. */
static bool copy_metric(struct zeta_arena *arena, const struct zeta_metric *from,
                        struct zeta_metric *metric)
{
    *metric = *from;
    metric->value = zeta_expr_copy(from->value, arena);
    if (from->available)
        metric->available = zeta_expr_copy(from->available, arena);
    if (from->maximum)
        metric->maximum = zeta_expr_copy(from->maximum, arena);
    if (from->event_count > 0) {
        metric->events = zeta_arena_array(arena, from->event_count, sizeof(*metric->events));
        if (metric->events)
            memcpy(metric->events, from->events, from->event_count * sizeof(*metric->events));
    }
    return metric->value && (metric->available || !from->available) &&
           (metric->maximum || !from->maximum) && (metric->events || from->event_count == 0);
}

/** What a copy of a metric holds. */
static uint32_t count_metric(const struct zeta_metric *metric)
{
    return 1 + metric->event_count + zeta_expr_count(metric->value) +
           zeta_expr_count(metric->available) + zeta_expr_count(metric->maximum);
}

/**
 * Counts what a use or a further unit makes of a few bytes. False, with an error, when it is too
 * much: a small file must not take all memory.
 */
static bool may_make(struct zeta_catalog *catalog, const struct zeta_loaded_set *loaded,
                     uint32_t count, struct zeta_diagnostics *sink)
{
    if (count <= ZETA_CATALOG_MAX_MADE - catalog->made) {
        catalog->made += count;
        return true;
    }
    zeta_diagnose(sink, ZETA_SEVERITY_ERROR, loaded->set.file, loaded->set.line, 1,
                  "with set %s, shared metrics and further units make more than %u metrics and "
                  "parts of expressions",
                  loaded->set.name, ZETA_CATALOG_MAX_MADE);
    return false;
}

ze_result_t zeta_link_uses(struct zeta_catalog *catalog, const struct zeta_loaded_set *loaded,
                           struct zeta_metric *metrics, struct zeta_diagnostics *sink)
{
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (loaded->also_of && !may_make(catalog, loaded, loaded->set.metric_count, sink))
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;

    for (uint32_t i = 0; i < loaded->use_count; i++) {
        const struct zeta_metric_use *use = &loaded->uses[i];
        struct zeta_shared_metric **found =
            catalog->shared.count == 0
                ? NULL
                : bsearch(use->key, catalog->shared.items, catalog->shared.count, sizeof(void *),
                          compare_key);

        if (!found) {
            zeta_diagnose(
                sink, ZETA_SEVERITY_ERROR, loaded->set.file, use->line, use->column,
                "unknown shared metric '%.100s'; such metrics are declared under 'metrics' "
                "at the top of a set file",
                use->key);
            result = ZE_RESULT_ERROR_INVALID_ARGUMENT;
        } else if (!may_make(catalog, loaded, count_metric(&(*found)->metric), sink)) {
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
        } else if (!copy_metric(&catalog->arena, &(*found)->metric, &metrics[use->index])) {
            return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        }
    }
    return result;
}

void zeta_report_use(const struct zeta_loaded_set *loaded, uint32_t index,
                     struct zeta_diagnostics *sink)
{
    for (uint32_t i = 0; i < loaded->use_count; i++) {
        const struct zeta_metric_use *use = &loaded->uses[i];

        if (use->index == index)
            zeta_diagnose(sink, ZETA_SEVERITY_ERROR, loaded->set.file, use->line, use->column,
                          "set %s cannot use the shared metric %s: see %s:%u", loaded->set.name,
                          use->key, loaded->set.metrics[index].file,
                          loaded->set.metrics[index].line);
    }
}
