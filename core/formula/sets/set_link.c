/* Linking a catalog: references between parts, and the checks that need more than one part. */
#include <stdlib.h>
#include <string.h>

#include "core/formula/sets/catalog_priv.h"
#include "core/formula/sets/programmables.h"
#include "core/formula/sets/query_form.h"
#include "core/util/cleanup.h"

struct zeta_catalog *zeta_catalog_create(void)
{
    struct zeta_catalog *catalog = calloc(1, sizeof(*catalog));

    if (catalog)
        catalog->late = zeta_late_create();
    if (catalog && !catalog->late) {
        free(catalog);
        return NULL;
    }
    return catalog;
}

void zeta_catalog_destroy(struct zeta_catalog *catalog)
{
    if (!catalog)
        return;
    zeta_late_destroy(catalog->late);
    zeta_arena_finish(&catalog->arena);
    free(catalog);
}

void zeta_catalog_defer(struct zeta_catalog *catalog, bool defers)
{
    catalog->defers = defers;
}

bool zeta_link_fail(struct zeta_linker *linker, const char *file, uint32_t line, uint32_t column,
                    const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    zeta_diagnose_list(linker->sink, ZETA_SEVERITY_ERROR, file, line, column, format, arguments);
    va_end(arguments);
    linker->result = ZE_RESULT_ERROR_INVALID_ARGUMENT;
    return false;
}

bool zeta_link_no_memory(struct zeta_linker *linker)
{
    linker->result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    return false;
}

/** Adds what a name stands for; reports a name that was declared before. */
static bool declare(struct zeta_linker *linker, struct zeta_arena *arena,
                    struct zeta_name_table *names, const char *what, const char *name,
                    const char *file, uint32_t line, void *item)
{
    struct zeta_name_slot *slot = zeta_names_add(arena, names, name, item);

    if (!slot)
        return zeta_link_no_memory(linker);
    if (slot->item != item)
        return zeta_link_fail(linker, file, line, 1, "%s %s is already declared in %s:%u", what,
                              name, slot->file, slot->line);
    slot->file = file;
    slot->line = line;
    return true;
}

/** The kinds of parts of a catalog: what they are in messages, and where all is. */
static const struct kind {
    const char *what;
    size_t vector, names;
    size_t name, file, line; /**< in a part */
} kinds[] = {
#define KIND(what, vector, type, name, file)                                                       \
    {                                                                                              \
        what, offsetof(struct zeta_catalog, vector),                                               \
            offsetof(struct zeta_catalog, vector##_by_name), offsetof(struct type, name),          \
            offsetof(struct type, file), offsetof(struct type, line)                               \
    }
    KIND("layout", layouts, zeta_layout, name, file), /* the first; all others are linked before */
    KIND("symbol", symbols, zeta_symbol, name, file),
    KIND("unit", units, zeta_unit, name, file),
    KIND("parameter", parameters, zeta_parameter, name, file),
    KIND("shared metric", shared, zeta_shared_metric, key, metric.file),
    KIND("program of uuid", programs, zeta_uuid_program, uuid, file),
#undef KIND
};

/** Makes the parts of a kind known by name. */
static void declare_parts(struct zeta_linker *linker, struct zeta_catalog *catalog,
                          const struct kind *kind)
{
    const struct zeta_vector *vector = (const void *)((const char *)catalog + kind->vector);

    for (uint32_t i = 0; i < vector->count; i++) {
        char *part = vector->items[i];
        const char *name, *file;
        uint32_t line;

        memcpy(&name, part + kind->name, sizeof(name));
        memcpy(&file, part + kind->file, sizeof(file));
        memcpy(&line, part + kind->line, sizeof(line));
        (void)declare(linker, &catalog->arena, (void *)((char *)catalog + kind->names), kind->what,
                      name, file, line, part);
    }
}

/** Links the rates of fields; those of a run share one expression. */
static bool link_rates(struct zeta_linker *linker, const struct zeta_layout *layout)
{
    const struct zeta_link_scope scope = {.linker = linker, .file = layout->file};
    const struct zeta_expr *linked = NULL;
    bool good = true;

    for (uint32_t i = 0; i < layout->field_count; i++) {
        struct zeta_expr *rate = layout->fields[i].rate;

        if (!rate || rate == linked)
            continue;
        linked = rate;
        if (!zeta_expr_link(&scope, rate))
            good = false;
        else if (rate->type != ZETA_EXPR_U64)
            good =
                zeta_link_fail(linker, layout->file, rate->line, rate->column, "rate has type u64");
    }
    return good;
}

/** Links what a layout says with expressions: rates, baseline condition and info metrics. */
static bool link_layout(struct zeta_linker *linker, struct zeta_layout *layout)
{
    const struct zeta_link_scope scope = {.linker = linker, .layout = layout, .file = layout->file};
    struct zeta_link_scope condition = scope;
    bool good = link_rates(linker, layout);

    condition.one_record = true;
    if (layout->baseline) {
        good = zeta_expr_link(&condition, layout->baseline) && good;
        if (good && layout->baseline->type != ZETA_EXPR_U64)
            good = zeta_link_fail(linker, layout->file, layout->baseline->line,
                                  layout->baseline->column, "baseline is a condition of type u64");
    }
    for (uint32_t i = 0; i < layout->info_count; i++) {
        const struct zeta_metric *metric = &layout->info[i];

        good = zeta_expr_link(&scope, metric->value) && good;
        good = (!metric->maximum || zeta_expr_link(&scope, metric->maximum)) && good;
    }
    if (good && layout->kind != ZETA_LAYOUT_EVENT) {
        layout->query_form = zeta_query_form_layout(layout, linker->arena);
        good = layout->query_form || zeta_link_no_memory(linker);
    }
    return good;
}

const struct zeta_unit *zeta_catalog_find_unit(const struct zeta_catalog *catalog, const char *name)
{
    return zeta_names_find(&catalog->units_by_name, name, strlen(name));
}

const struct zeta_layout *zeta_catalog_find_layout(const struct zeta_catalog *catalog,
                                                   const char *name)
{
    return zeta_names_find(&catalog->layouts_by_name, name, strlen(name));
}

static bool resolve_references(struct zeta_linker *linker, struct zeta_loaded_set *loaded)
{
    struct zeta_set *set = &loaded->set;

    set->unit = zeta_catalog_find_unit(linker->catalog, loaded->unit.name);
    set->layout = zeta_catalog_find_layout(linker->catalog, loaded->layout.name);
    if (!set->unit)
        return zeta_link_fail(linker, set->file, loaded->unit.line, loaded->unit.column,
                              "unknown unit '%.100s'; units are declared under 'units'",
                              loaded->unit.name);
    if (!set->layout)
        return zeta_link_fail(linker, set->file, loaded->layout.line, loaded->layout.column,
                              "unknown or faulty layout '%.100s'", loaded->layout.name);
    return true;
}

/** Makes the final list of metrics: the set's, then the info metrics of its layout. */
static bool gather_metrics(struct zeta_linker *linker, struct zeta_loaded_set *loaded)
{
    struct zeta_set *set = &loaded->set;
    const struct zeta_layout *layout = set->layout;
    uint32_t total;

    if (!zeta_link_uses(linker, loaded, layout->info_count))
        return false;
    total = set->metric_count + layout->info_count;
    if (total == 0 || total > ZETA_SET_MAX_METRICS)
        return zeta_link_fail(linker, set->file, set->line, 1,
                              "set %s has %u metrics; 1 to %u are possible", set->name, total,
                              ZETA_SET_MAX_METRICS);
    for (uint32_t i = 0; i < layout->info_count; i++) {
        struct zeta_metric *metric = &set->metrics[set->metric_count + i];

        *metric = layout->info[i];
        if (linker->copies && !zeta_metric_copy(linker->arena, &layout->info[i], metric))
            return zeta_link_no_memory(linker);
    }
    set->metric_count = total;
    return true;
}

static bool link_condition(struct zeta_linker *linker, const char *file,
                           struct zeta_expr *condition)
{
    const struct zeta_link_scope scope = {.linker = linker, .file = file};

    if (!condition)
        return true;
    if (!zeta_expr_link(&scope, condition))
        return false;
    return condition->type == ZETA_EXPR_U64 ||
           zeta_link_fail(linker, file, condition->line, condition->column,
                          "a condition has type u64; compare f64 numbers");
}

/** Gives a set the program of its uuid; of a deferred one only makes sure that there is one. */
static bool find_program(struct zeta_linker *linker, struct zeta_loaded_set *loaded)
{
    struct zeta_set *set = &loaded->set;
    const struct zeta_uuid_program *program;
    ze_result_t result;

    if (!loaded->wants_program)
        return true;
    program = zeta_names_find(&linker->catalog->programs_by_name, set->uuid, strlen(set->uuid));
    if (!program)
        return zeta_link_fail(
            linker, set->file, set->line, 1,
            "set %s: there is no program for its uuid %s under 'programs' of any file", set->name,
            set->uuid);
    if (program->late && loaded->deferred && !linker->copies)
        return true;
    result = zeta_uuid_program_parts(linker, program, &set->program, &set->program_count);
    if (result != ZE_RESULT_SUCCESS) {
        linker->result = result;
        return false;
    }
    /* These parts are the set's own; others are linked with the catalog. */
    for (uint32_t i = 0; program->late && i < set->program_count; i++) {
        if (!link_condition(linker, program->file, set->program[i].condition))
            return false;
    }
    return true;
}

static bool check_metric_names(struct zeta_linker *linker, const struct zeta_loaded_set *loaded)
{
    const struct zeta_set *set = &loaded->set;
    struct zeta_name_table names = {0};
    struct zeta_arena arena = {0};
    bool good = true;

    for (uint32_t i = 0; i < set->metric_count; i++) {
        struct zeta_metric *metric = &set->metrics[i];
        const struct zeta_metric_use *use = loaded->use_of[i];

        /* Where a shared metric is used, not where it is declared, its name can be one too many. */
        good = declare(linker, &arena, &names, "metric", metric->name,
                       use ? set->file : metric->file, use ? use->line : metric->line, metric) &&
               good;
        if (zeta_layout_find_field(set->layout, metric->name) != ZETA_FIELD_NONE)
            good = zeta_link_fail(linker, metric->file, metric->line, 1,
                                  "metric %s has the name of a header field of layout %s",
                                  metric->name, set->layout->name);
    }
    zeta_arena_finish(&arena);
    return good;
}

enum validity { VALIDITY_UNKNOWN, VALIDITY_ALWAYS, VALIDITY_BY_RECORD };

/**
 * True if the value needs a field that a record may declare as not measured. memo holds an enum
 * validity per metric, so that metrics that many others refer to are looked at once.
 */
static bool needs_validity(const struct zeta_set *set, unsigned char *memo,
                           const struct zeta_expr *expr)
{
    const uint32_t target = expr->u.ref.target;

    switch (expr->op) {
    case ZETA_EXPR_CONSTANT:
    case ZETA_EXPR_SYMBOL:
        return false;
    case ZETA_EXPR_FIELD:
        return set->layout->fields[target].valid_field != ZETA_FIELD_NONE;
    case ZETA_EXPR_METRIC:
        if (memo[target] == VALIDITY_UNKNOWN)
            memo[target] = needs_validity(set, memo, set->metrics[target].value)
                               ? VALIDITY_BY_RECORD
                               : VALIDITY_ALWAYS;
        return memo[target] == VALIDITY_BY_RECORD;
    default:
        for (unsigned i = 0; i < zeta_expr_arity(expr->op); i++) {
            if (needs_validity(set, memo, expr->u.arg[i]))
                return true;
        }
        return false;
    }
}

/** Integers cannot say "not measured": metrics that may have to are floating point. */
static bool check_value_types(struct zeta_linker *linker, const struct zeta_set *set)
{
    ZETA_CLEANUP(zeta_freep) unsigned char *memo = calloc(set->metric_count, 1);
    bool good = true;

    if (!memo)
        return zeta_link_no_memory(linker);
    for (uint32_t i = 0; i < set->metric_count; i++) {
        const struct zeta_metric *metric = &set->metrics[i];
        bool needs = needs_validity(set, memo, metric->value);

        memo[i] = needs ? VALIDITY_BY_RECORD : VALIDITY_ALWAYS;
        if (metric->value_type == ZET_VALUE_TYPE_FLOAT32 ||
            metric->value_type == ZET_VALUE_TYPE_FLOAT64)
            continue;
        if (needs || (metric->maximum && needs_validity(set, memo, metric->maximum)))
            good = zeta_link_fail(
                linker, metric->file, metric->line, 1,
                "metric %s uses a field that can be invalid, so its value type must be "
                "f32 or f64",
                metric->name);
    }
    return good;
}

/** Links the metrics of a set. loaded says where shared ones are used; NULL: none is shared. */
static bool link_metrics(struct zeta_linker *linker, struct zeta_set *set,
                         const struct zeta_loaded_set *loaded)
{
    ZETA_CLEANUP(zeta_freep) unsigned char *state = calloc(set->metric_count, 1);
    struct zeta_link_scope scope = {.linker = linker,
                                    .layout = set->layout,
                                    .metrics = set->metrics,
                                    .metric_count = set->metric_count,
                                    .metric_state = state,
                                    .file = set->file};
    bool good = true;

    if (!state)
        return zeta_link_no_memory(linker);
    for (uint32_t i = 0; i < set->metric_count; i++) {
        struct zeta_metric *metric = &set->metrics[i];
        bool linked = zeta_metric_link(&scope, i);

        if (metric->maximum) {
            scope.file = metric->file;
            linked = zeta_expr_link(&scope, metric->maximum) && linked;
        }
        linked = link_condition(linker, metric->file, metric->available) && linked;
        if (!linked && loaded)
            zeta_report_use(loaded, i, linker->sink);
        good = linked && good;
    }
    return good && check_value_types(linker, set);
}

static bool link_program(struct zeta_linker *linker, const struct zeta_set *set)
{
    const struct zeta_address_range *range = NULL; /* of the register before */
    bool good = true;

    for (uint32_t i = 0; i < set->program_count; i++) {
        const struct zeta_program_part *part = &set->program[i];

        /* Parts that sets share have been linked with the catalog. */
        if (!linker->copies)
            good = link_condition(linker, set->file, part->condition) && good;
        for (uint32_t j = 0; j < part->entry_count; j++) {
            const struct zeta_program_entry *entry = &part->entries[j];

            if (entry->select || !set->unit->has_ranges ||
                (range && entry->address >= range->first && entry->address <= range->last))
                continue;
            range = zeta_unit_find_range(set->unit, entry->address);
            if (!range)
                good = zeta_link_fail(
                    linker, set->file, entry->line, 1,
                    "register 0x%x is not among those that programs of unit %s may write",
                    entry->address, set->unit->name);
        }
    }
    return good;
}

/** Gives the events of a metric their numbers. */
static bool link_metric_events(struct zeta_linker *linker, const struct zeta_layout *layout,
                               const struct zeta_metric *metric)
{
    bool good = true;

    if (metric->event_count == 0)
        return zeta_link_fail(linker, metric->file, metric->line, 1,
                              "metric %s needs 'events', the types of records that are its entries",
                              metric->name);
    for (uint32_t i = 0; i < metric->event_count; i++) {
        struct zeta_metric_event *event = &metric->events[i];
        const struct zeta_event_type *type = zeta_layout_find_event(layout, event->name);

        if (!type)
            good =
                zeta_link_fail(linker, metric->file, event->line, event->column,
                               "layout %s has no event type '%.100s'", layout->name, event->name);
        else if (zeta_event_is_about_tracer(type))
            good = zeta_link_fail(
                linker, metric->file, event->line, event->column,
                "records of type %s are about the tracer itself and no entries of metrics",
                event->name);
        else
            event->type = type->number;
    }
    return good;
}

/**
 * Looks up the event types of a set's metrics. False, with findings, if one is unknown, or if
 * sampling, program and events do not go with the kind of the layout.
 */
static bool link_events(struct zeta_linker *linker, const struct zeta_set *set)
{
    const bool of_events = set->layout->kind == ZETA_LAYOUT_EVENT;
    const zet_metric_group_sampling_type_flags_t tracer =
        ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED;
    bool good = true;

    if (of_events ? set->sampling != tracer : (set->sampling & tracer) != 0)
        return zeta_link_fail(
            linker, set->file, set->line, 1,
            "set %s: sampling [tracer], alone, goes with layouts of kind event and with no "
            "others",
            set->name);
    if (of_events && set->program_count > 0)
        return zeta_link_fail(
            linker, set->file, set->line, 1,
            "set %s: a tracer runs no program; its unit says which events it gives", set->name);
    for (uint32_t i = 0; i < set->metric_count; i++) {
        const struct zeta_metric *metric = &set->metrics[i];

        if (of_events)
            good = link_metric_events(linker, set->layout, metric) && good;
        else if (metric->event_count > 0)
            good = zeta_link_fail(linker, metric->file, metric->line, 1,
                                  "metric %s names events, but layout %s is not of kind event",
                                  metric->name, set->layout->name);
    }
    return good;
}

/** A set that cannot be queried keeps its other forms, if it has any. */
static bool check_event_sampling(struct zeta_linker *linker, struct zeta_set *set)
{
    const zet_metric_group_sampling_type_flags_t event =
        ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED;

    if ((set->sampling & event) == 0 || zeta_query_form_check(set, linker->sink))
        return true;
    linker->result = ZE_RESULT_ERROR_INVALID_ARGUMENT;
    set->sampling &= ~event;
    return set->sampling != 0;
}

static bool entries_equal(const struct zeta_program_part *a, const struct zeta_program_part *b)
{
    for (uint32_t i = 0; i < a->entry_count; i++) {
        const struct zeta_program_entry *left = &a->entries[i];
        const struct zeta_program_entry *right = &b->entries[i];

        if (left->address != right->address || left->value != right->value ||
            strcmp(left->select ? left->select : "", right->select ? right->select : "") != 0)
            return false;
    }
    return true;
}

/** True if two sets with the same uuid have the same program. */
static bool programs_equal(struct zeta_linker *linker, const struct zeta_loaded_set *left,
                           const struct zeta_loaded_set *right)
{
    struct zeta_loaded_set a = *left;
    struct zeta_loaded_set b = *right;
    bool equal;

    if (a.wants_program && b.wants_program)
        return true; /* that of the uuid */
    a.deferred = b.deferred = false;
    equal = find_program(linker, &a) && find_program(linker, &b) &&
            a.set.program_count == b.set.program_count;
    for (uint32_t i = 0; equal && i < a.set.program_count; i++)
        equal = a.set.program[i].entry_count == b.set.program[i].entry_count &&
                entries_equal(&a.set.program[i], &b.set.program[i]);
    return equal;
}

/**
 * A name is of one set. A uuid is of one program: whoever knows programs by their uuid would run
 * the one for the other.
 */
static bool check_name_and_uuid(struct zeta_linker *linker, const struct zeta_name_table *by_uuid,
                                const struct zeta_loaded_set *loaded)
{
    const struct zeta_set *set = &loaded->set;
    const struct zeta_loaded_set *other =
        zeta_names_find(&linker->catalog->sets_by_name, set->name, strlen(set->name));

    if (other)
        return zeta_link_fail(linker, set->file, set->line, 1,
                              "set %s is already declared in %s:%u", set->name, other->set.file,
                              other->set.line);
    other = set->uuid ? zeta_names_find(by_uuid, set->uuid, strlen(set->uuid)) : NULL;
    if (other && !programs_equal(linker, loaded, other))
        return zeta_link_fail(
            linker, set->file, set->line, 1,
            "set %s has the uuid of %s in %s:%u and another program; give it a uuid of "
            "its own, or none",
            set->name, other->set.name, other->set.file, other->set.line);
    return true;
}

/** Links the metrics and the program of a set whose references are known. */
static bool link_contents(struct zeta_linker *linker, struct zeta_loaded_set *loaded)
{
    struct zeta_set *set = &loaded->set;

    return gather_metrics(linker, loaded) && check_metric_names(linker, loaded) &&
           link_metrics(linker, set, loaded) && link_events(linker, set) &&
           link_program(linker, set);
}

ze_result_t zeta_set_link(const struct zeta_catalog *catalog, struct zeta_set *set,
                          struct zeta_diagnostics *sink)
{
    struct zeta_linker linker = {.catalog = catalog, .sink = sink, .result = ZE_RESULT_SUCCESS};

    (void)(link_metrics(&linker, set, NULL) && link_program(&linker, set));
    return linker.result;
}

ze_result_t zeta_set_link_deferred(const struct zeta_catalog *catalog, const struct zeta_set *set,
                                   struct zeta_arena *arena, struct zeta_diagnostics *sink,
                                   struct zeta_set *out_set)
{
    struct zeta_loaded_set loaded = *set->deferred;
    uint32_t made = 0;
    struct zeta_linker linker = {.catalog = catalog,
                                 .arena = arena,
                                 .made = &made,
                                 .copies = true,
                                 .sink = sink,
                                 .result = ZE_RESULT_SUCCESS};

    loaded.set.deferred = NULL;
    if (loaded.late)
        linker.result = zeta_late_read_list(&linker, &loaded);
    if (linker.result != ZE_RESULT_SUCCESS || !find_program(&linker, &loaded) ||
        !link_contents(&linker, &loaded) || !check_event_sampling(&linker, &loaded.set))
        return linker.result;
    *out_set = loaded.set;
    return ZE_RESULT_SUCCESS;
}

/** Links a set, or what a list of sets needs of it. */
static bool link_set(struct zeta_linker *linker, const struct zeta_name_table *by_uuid,
                     struct zeta_loaded_set *loaded)
{
    struct zeta_set *set = &loaded->set;

    if (!find_program(linker, loaded) || !check_name_and_uuid(linker, by_uuid, loaded) ||
        !resolve_references(linker, loaded))
        return false;
    if (loaded->deferred) {
        struct zeta_set head = *set;
        bool good;

        head.metric_count = 0; /* none is known; the layout decides */
        good = check_event_sampling(linker, &head) && link_program(linker, &head);
        set->sampling = head.sampling;
        set->deferred = loaded;
        return good && link_condition(linker, set->file, set->available);
    }
    return link_contents(linker, loaded) && link_condition(linker, set->file, set->available) &&
           check_event_sampling(linker, set);
}

/** Orders sets by domain; inside a domain they keep the order of files. */
static void sort_sets(struct zeta_vector *sets)
{
    for (uint32_t i = 1; i < sets->count; i++) {
        struct zeta_set *set = sets->items[i];
        uint32_t at = i;

        for (; at > 0 && ((struct zeta_set *)sets->items[at - 1])->domain > set->domain; at--)
            sets->items[at] = sets->items[at - 1];
        sets->items[at] = set;
    }
}

/** Programmables take GpuTime from a set of their unit and layout (recipe_set.c): links one. */
static void link_for_programmables(struct zeta_linker *linker)
{
    const struct zeta_catalog *catalog = linker->catalog;

    for (uint32_t i = 0; i < catalog->programmables.count; i++) {
        const struct zeta_programmable *programmable = catalog->programmables.items[i];

        for (uint32_t k = 0; k < catalog->sets.count; k++) {
            struct zeta_loaded_set *loaded = catalog->sets.items[k];

            if (strcmp(loaded->unit.name, programmable->unit_name) != 0 ||
                strcmp(loaded->layout.name, programmable->layout_name) != 0)
                continue;
            if (loaded->set.deferred &&
                zeta_set_link_deferred(catalog, &loaded->set, linker->arena, linker->sink,
                                       &loaded->set) != ZE_RESULT_SUCCESS)
                continue;
            break;
        }
    }
}

ze_result_t zeta_catalog_link(struct zeta_catalog *catalog, struct zeta_diagnostics *sink)
{
    struct zeta_linker linker = {.catalog = catalog,
                                 .arena = &catalog->arena,
                                 .made = &catalog->made,
                                 .sink = sink,
                                 .result = ZE_RESULT_SUCCESS};
    const struct zeta_vector layouts = catalog->layouts;
    struct zeta_name_table by_uuid = {0}; /**< of struct zeta_loaded_set, as by name */

    for (uint32_t i = 0; i < catalog->symbols.count; i++)
        ((struct zeta_symbol *)catalog->symbols.items[i])->index = i;
    for (size_t i = 1; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        declare_parts(&linker, catalog, &kinds[i]);
    /* Faulty layouts are left out, so that sets which name them are refused. */
    catalog->layouts.count = 0;
    for (uint32_t i = 0; i < layouts.count; i++) {
        if (link_layout(&linker, layouts.items[i]))
            catalog->layouts.items[catalog->layouts.count++] = layouts.items[i];
    }
    declare_parts(&linker, catalog, &kinds[0]);
    if (linker.result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
        return linker.result;
    for (uint32_t i = 0; i < catalog->loaded.count; i++) {
        struct zeta_loaded_set *loaded = catalog->loaded.items[i];
        struct zeta_set *set = &loaded->set;

        /* What is wrong with a set need not be said again for each of its units. */
        if (loaded->also_of && loaded->also_of->faulty)
            continue;
        loaded->faulty = !link_set(&linker, &by_uuid, loaded);
        if (!loaded->faulty &&
            !(zeta_vector_push(linker.arena, &catalog->sets, set) &&
              zeta_names_add(linker.arena, &catalog->sets_by_name, set->name, loaded) &&
              (!set->uuid || zeta_names_add(linker.arena, &by_uuid, set->uuid, loaded))))
            linker.result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        if (linker.result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
            break;
    }
    sort_sets(&catalog->sets);
    link_for_programmables(&linker);
    return linker.result;
}

uint32_t zeta_catalog_set_count(const struct zeta_catalog *catalog)
{
    return catalog->sets.count;
}

const struct zeta_set *zeta_catalog_set(const struct zeta_catalog *catalog, uint32_t index)
{
    return catalog->sets.items[index];
}

const struct zeta_set *zeta_catalog_find_set(const struct zeta_catalog *catalog, const char *name)
{
    const struct zeta_loaded_set *found =
        zeta_names_find(&catalog->sets_by_name, name, strlen(name));

    return found ? &found->set : NULL;
}

uint32_t zeta_catalog_symbol_count(const struct zeta_catalog *catalog)
{
    return catalog->symbols.count;
}

const struct zeta_symbol *zeta_catalog_symbol(const struct zeta_catalog *catalog, uint32_t index)
{
    return catalog->symbols.items[index];
}
