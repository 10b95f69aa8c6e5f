#include "core/formula/sets/query_form.h"

#include <string.h>

#include "zeta/query_record.h"

/* Behind the fields of the unit's layout, the form has the ends of the query. */
enum { BEGIN_TICKS, END_TICKS, OWN_FIELDS };

uint32_t zeta_query_form_field_count(const struct zeta_layout *layout)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < layout->field_count; i++)
        count += layout->fields[i].part_of == ZETA_FIELD_NONE;
    return count;
}

/* Checking --------------------------------------------------------------------------------------
 */

struct check {
    const struct zeta_set *set;
    const char *file;
    struct zeta_diagnostics *sink;
    uint32_t clock;
};

/** The field that holds the bits: of a view the one that it is a part of. */
static const struct zeta_field *whole_field(const struct zeta_layout *layout, uint32_t field)
{
    const struct zeta_field *found = &layout->fields[field];

    return found->part_of == ZETA_FIELD_NONE ? found : &layout->fields[found->part_of];
}

static bool refuse(const struct check *check, const struct zeta_expr *expr, const char *view,
                   const char *reason)
{
    zeta_diagnose(check->sink, ZETA_SEVERITY_ERROR, check->file, expr->line, expr->column,
                  "set %s: no event sampling, because a query record has no %s(%s): %s",
                  check->set->name, view, expr->u.ref.name, reason);
    return false;
}

static bool check_node(void *context, const struct zeta_expr *node)
{
    const struct check *check = context;

    if (node->op != ZETA_EXPR_FIELD || node->u.ref.target == check->clock ||
        node->u.ref.view == ZETA_VIEW_DELTA)
        return true;
    if (node->u.ref.view == ZETA_VIEW_BEFORE)
        return refuse(check, node, "before", "only the clock of the layout has a begin");
    return whole_field(check->set->layout, node->u.ref.target)->delta_bits == 0 ||
           refuse(check, node, "now", "it holds the difference of that field");
}

static bool check_layout(const struct zeta_set *set, struct zeta_diagnostics *sink)
{
    const struct zeta_layout *layout = set->layout;
    const uint32_t count = zeta_query_form_field_count(layout);
    const char *reason = NULL;

    if (layout->kind == ZETA_LAYOUT_EVENT)
        reason = "its layout is of kind event";
    else if (zeta_query_record_bytes(count) > ZETA_RECORD_MAX_BYTES)
        reason = "its layout has too many fields for a query record";
    for (uint32_t i = 0; i < layout->field_count && !reason; i++) {
        const uint32_t valid = layout->fields[i].valid_field;

        if (valid != ZETA_FIELD_NONE && whole_field(layout, valid)->delta_bits > 0)
            reason = "its valid bits are in a running counter";
    }
    if (!reason)
        return true;
    zeta_diagnose(sink, ZETA_SEVERITY_ERROR, set->file, set->line, 1,
                  "set %s: no event sampling, because %s (%s)", set->name, reason, layout->name);
    return false;
}

bool zeta_query_form_check(const struct zeta_set *set, struct zeta_diagnostics *sink)
{
    struct check check = {.set = set, .sink = sink, .clock = zeta_layout_clock(set->layout)};

    if (!check_layout(set, sink))
        return false;
    for (uint32_t i = 0; i < set->metric_count; i++) {
        const struct zeta_metric *metric = &set->metrics[i];

        check.file = metric->file;
        if (!zeta_expr_every(metric->value, check_node, &check) ||
            !zeta_expr_every(metric->maximum, check_node, &check))
            return false;
    }
    return true;
}

/* Making ----------------------------------------------------------------------------------------
 */

uint32_t zeta_query_form_field(const struct zeta_layout *layout, uint32_t field,
                               enum zeta_expr_view view, bool stamp)
{
    const uint32_t own = layout->field_count - OWN_FIELDS;

    if (view == ZETA_VIEW_DELTA || field != zeta_layout_clock(layout))
        return field;
    return own + (view == ZETA_VIEW_BEFORE || stamp ? BEGIN_TICKS : END_TICKS);
}

/** A field of the form: all its bits in one piece, without a difference. */
static void place(struct zeta_field *field, uint32_t byte, uint32_t width)
{
    field->low_bit = byte * 8;
    field->low_width = width;
    field->high_bit = 0;
    field->high_width = 0;
    field->delta_bits = 0;
}

static void fill_fields(const struct zeta_layout *from, struct zeta_field *fields)
{
    const uint32_t clock = zeta_layout_clock(from);
    struct zeta_field *own = &fields[from->field_count];
    uint32_t slot = 0;
    uint32_t bits = 64;

    for (uint32_t i = 0; i < from->field_count; i++)
        fields[i] = from->fields[i];
    for (uint32_t i = 0; i < from->field_count; i++) {
        const uint32_t whole = from->fields[i].part_of;

        if (whole == ZETA_FIELD_NONE)
            place(&fields[i], zeta_query_record_bytes(slot++), 64);
        else
            fields[i].low_bit =
                fields[whole].low_bit + (fields[i].low_bit - from->fields[whole].low_bit);
    }
    if (clock != ZETA_FIELD_NONE)
        bits = from->fields[clock].low_width + from->fields[clock].high_width;
    own[BEGIN_TICKS] = (struct zeta_field){
        .name = "begin_ticks", .valid_field = ZETA_FIELD_NONE, .part_of = ZETA_FIELD_NONE};
    own[END_TICKS] = own[BEGIN_TICKS];
    own[END_TICKS].name = "end_ticks";
    place(&own[BEGIN_TICKS], offsetof(struct zeta_query_record, begin_ticks), bits);
    place(&own[END_TICKS], offsetof(struct zeta_query_record, end_ticks), bits);
}

struct zeta_layout *zeta_query_form_layout(const struct zeta_layout *from, struct zeta_arena *arena)
{
    struct zeta_layout *layout = zeta_arena_alloc(arena, sizeof(*layout));
    struct zeta_field *fields =
        zeta_arena_array(arena, from->field_count + OWN_FIELDS, sizeof(*fields));

    if (!layout || !fields)
        return NULL;
    fill_fields(from, fields);
    *layout = (struct zeta_layout){
        .name = from->name,
        .file = from->file,
        .line = from->line,
        .kind = ZETA_LAYOUT_SAMPLE,
        .record_bytes = zeta_query_record_bytes(zeta_query_form_field_count(from)),
        .fields = fields,
        .field_count = from->field_count + OWN_FIELDS,
        .header_count = from->header_count,
        .banks = from->banks,
        .bank_count = from->bank_count,
        .info = from->info,
        .info_count = from->info_count,
    };
    return layout;
}

void zeta_query_form_make(const struct zeta_set *set, struct zeta_set *out_form)
{
    *out_form = *set;
    out_form->layout = set->layout->query_form;
    out_form->query_of = set;
}
