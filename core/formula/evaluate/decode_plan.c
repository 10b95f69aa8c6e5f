/* Decode plans: which records are entries of which metrics, from compiled sets. */
#include <stdlib.h>
#include <string.h>

#include "core/formula/compile/compile.h"
#include "core/formula/evaluate/decode_priv.h"
#include "core/util/error.h"

#define NS_PER_SECOND UINT64_C(1000000000)

static struct zeta_event_number number_of(const struct zeta_layout *layout, uint32_t index)
{
    struct zeta_event_number number = {0};
    const struct zeta_field *field;

    if (index == ZETA_FIELD_NONE)
        return number;
    field = &layout->fields[index];
    number.field = field;
    number.at = field->low_bit / 8;
    if (field->low_bit % 8 == 0 && field->high_width == 0 &&
        (field->low_width == 8 || field->low_width == 16 || field->low_width == 32 ||
         field->low_width == 64))
        number.bytes = field->low_width / 8;
    return number;
}

static bool same_field(const struct zeta_layout *a, uint32_t i, const struct zeta_layout *b,
                       uint32_t j)
{
    const struct zeta_field *left;
    const struct zeta_field *right;

    if (i == ZETA_FIELD_NONE || j == ZETA_FIELD_NONE)
        return i == j;
    left = &a->fields[i];
    right = &b->fields[j];
    return left->low_bit == right->low_bit && left->low_width == right->low_width &&
           left->high_bit == right->high_bit && left->high_width == right->high_width;
}

static bool same_events(const struct zeta_layout *a, const struct zeta_layout *b)
{
    if (a->event_count != b->event_count)
        return false;
    for (uint32_t i = 0; i < a->event_count; i++) {
        if (a->events[i].number != b->events[i].number)
            return false;
    }
    return true;
}

static bool same_form(const struct zeta_layout *a, const struct zeta_layout *b)
{
    return a == b || (a->kind == b->kind && a->record_bytes == b->record_bytes &&
                      same_field(a, a->type_field, b, b->type_field) &&
                      same_field(a, a->ticks_field, b, b->ticks_field) &&
                      same_field(a, a->tile_field, b, b->tile_field) && same_events(a, b));
}

/** All sets of all groups describe the same bytes. */
static ze_result_t check_forms(const struct zeta_decode_source *source)
{
    const struct zeta_layout *first = zeta_compiled_set(source->groups[0].compiled[0])->layout;
    const uint32_t tiles = source->tile_count > 0 ? source->tile_count : 1;

    for (uint32_t g = 0; g < source->group_count; g++) {
        for (uint32_t tile = 0; tile < tiles; tile++) {
            const struct zeta_set *set = zeta_compiled_set(source->groups[g].compiled[tile]);

            if (set->layout->kind != ZETA_LAYOUT_EVENT || !same_form(first, set->layout))
                return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                                  "set %s has records of another form than set %s", set->name,
                                  zeta_compiled_set(source->groups[0].compiled[0])->name);
        }
    }
    return ZE_RESULT_SUCCESS;
}

static bool copy_sets(struct zeta_decode_plan *plan, const struct zeta_decode_source *source)
{
    plan->compiled =
        calloc((size_t)plan->group_count * plan->set_count + 1, sizeof(*plan->compiled));
    if (!plan->compiled)
        return false;
    for (uint32_t g = 0; g < plan->group_count; g++)
        memcpy(&plan->compiled[(size_t)g * plan->set_count], source->groups[g].compiled,
               plan->set_count * sizeof(*plan->compiled));
    return true;
}

static bool list_metrics(struct zeta_decode_plan *plan)
{
    uint32_t total = 0;

    for (uint32_t g = 0; g < plan->group_count; g++)
        total += zeta_compiled_metric_count(zeta_decode_set(plan, g, 0));
    plan->metrics = calloc((size_t)total + 1, sizeof(*plan->metrics));
    plan->metric_group = calloc((size_t)total + 1, sizeof(*plan->metric_group));
    plan->metric_place = calloc((size_t)total + 1, sizeof(*plan->metric_place));
    if (!plan->metrics || !plan->metric_group || !plan->metric_place)
        return false;
    for (uint32_t g = 0; g < plan->group_count; g++) {
        const struct zeta_compiled *compiled = zeta_decode_set(plan, g, 0);

        for (uint32_t i = 0; i < zeta_compiled_metric_count(compiled); i++) {
            plan->metrics[plan->metric_count] = zeta_compiled_metric(compiled, i);
            plan->metric_group[plan->metric_count] = g;
            plan->metric_place[plan->metric_count++] = i;
        }
    }
    return true;
}

/** Numbers the types that metrics name, and counts how often they do. */
static bool number_classes(struct zeta_decode_plan *plan)
{
    uint32_t next = 1;

    for (uint32_t m = 0; m < plan->metric_count; m++) {
        for (uint32_t e = 0; e < plan->metrics[m]->event_count; e++) {
            const uint32_t type = plan->metrics[m]->events[e].type;

            if (plan->class_of[type] == 0)
                plan->class_of[type] = (uint16_t)next++;
            plan->reference_count++;
        }
    }
    plan->class_count = next;
    plan->classes = calloc(next, sizeof(*plan->classes));
    plan->references = calloc(plan->reference_count + 1, sizeof(*plan->references));
    return plan->classes && plan->references;
}

static bool lists_type(const struct zeta_decode_plan *plan, uint32_t metric, uint32_t class_number)
{
    for (uint32_t e = 0; e < plan->metrics[metric]->event_count; e++) {
        if (plan->class_of[plan->metrics[metric]->events[e].type] == class_number)
            return true;
    }
    return false;
}

static void fill_classes(struct zeta_decode_plan *plan)
{
    uint32_t next = 0;

    for (uint32_t c = 1; c < plan->class_count; c++) {
        plan->classes[c].first = next;
        for (uint32_t m = 0; m < plan->metric_count; m++) {
            if (lists_type(plan, m, c))
                plan->references[next++] = m;
        }
        plan->classes[c].count = next - plan->classes[c].first;
    }
}

ze_result_t zeta_decode_plan_create(const struct zeta_decode_source *source,
                                    struct zeta_decode_plan **out_plan)
{
    const struct zeta_layout *layout = zeta_compiled_set(source->groups[0].compiled[0])->layout;
    struct zeta_decode_plan *plan;
    ze_result_t result = check_forms(source);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    plan = calloc(1, sizeof(*plan));
    if (!plan)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    plan->group_count = source->group_count;
    plan->tile_count = source->tile_count;
    plan->set_count = source->tile_count > 0 ? source->tile_count : 1;
    plan->record_bytes = layout->record_bytes;
    plan->type = number_of(layout, layout->type_field);
    plan->ticks = number_of(layout, layout->ticks_field);
    plan->tile = number_of(layout, layout->tile_field);
    plan->ticks_mask =
        source->timestamp_bits >= 64 ? UINT64_MAX : (UINT64_C(1) << source->timestamp_bits) - 1;
    plan->timer_hz = source->timer_hz;
    plan->tick_ns = NS_PER_SECOND % source->timer_hz == 0 ? NS_PER_SECOND / source->timer_hz : 0;
    if (!copy_sets(plan, source) || !list_metrics(plan) || !number_classes(plan)) {
        zeta_decode_plan_destroy(plan);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    fill_classes(plan);
    *out_plan = plan;
    return ZE_RESULT_SUCCESS;
}

void zeta_decode_plan_destroy(struct zeta_decode_plan *plan)
{
    if (!plan)
        return;
    free(plan->compiled);
    free(plan->metrics);
    free(plan->metric_group);
    free(plan->metric_place);
    free(plan->classes);
    free(plan->references);
    free(plan);
}

uint32_t zeta_decode_metric_count(const struct zeta_decode_plan *plan)
{
    return plan->metric_count;
}

const struct zeta_metric *zeta_decode_metric(const struct zeta_decode_plan *plan, uint32_t index)
{
    return plan->metrics[index];
}

uint32_t zeta_decode_set_count(const struct zeta_decode_plan *plan)
{
    return plan->set_count;
}
