/* Writing layouts: fields one by one, counters in runs that are as long as possible. */
#include <inttypes.h>
#include <string.h>

#include "core/formula/describe/describe.h"

/** Largest bit and step of a validity bit that a set file can say for a run. */
#define VALID_MAX 63u

/** "at: n" and, if it is not 0, "bit: n". */
static void add_place(struct zeta_text *text, uint32_t bit)
{
    zeta_text_add(text, "at: %u", bit / 8);
    if (bit % 8 != 0)
        zeta_text_add(text, ", bit: %u", bit % 8);
}

/** What single fields and runs have in common. Distances of 0 belong to single fields. */
static void add_number(struct zeta_text *text, const struct zeta_layout *layout,
                       const struct zeta_field *field, uint32_t high_stride, uint32_t valid_step)
{
    zeta_text_add(text, ", width: %u", field->low_width);
    if (field->high_width > 0) {
        zeta_text_add(text, ", hi: {");
        add_place(text, field->high_bit);
        if (high_stride > 0)
            zeta_text_add(text, ", stride_bits: %u", high_stride);
        zeta_text_add(text, ", width: %u}", field->high_width);
    }
    if (field->is_float)
        zeta_text_add(text, ", type: f64");
    if (layout->kind == ZETA_LAYOUT_DELTA && field->delta_bits > 0)
        zeta_text_add(text, ", delta: %u", field->delta_bits);
    else if (layout->kind == ZETA_LAYOUT_DELTA)
        zeta_text_add(text, ", delta: false");
    if (field->valid_field != ZETA_FIELD_NONE) {
        zeta_text_add(text, ", valid: {field: %s, bit: %u", layout->fields[field->valid_field].name,
                      field->valid_bit);
        if (valid_step > 0)
            zeta_text_add(text, ", step: %u", valid_step);
        zeta_text_add(text, "}");
    }
    zeta_text_add(text, "}");
}

static void add_header(struct zeta_text *text, const struct zeta_layout *layout)
{
    if (layout->header_count == 0)
        return;
    zeta_text_add(text, "    header:\n");
    for (uint32_t i = 0; i < layout->header_count; i++) {
        const struct zeta_field *field = &layout->fields[i];

        zeta_text_add(text, "      %s: {", field->name);
        if (field->part_of != ZETA_FIELD_NONE) {
            const struct zeta_field *whole = &layout->fields[field->part_of];

            zeta_text_add(text, "in: %s, bit: %u, width: %u}", whole->name,
                          field->low_bit - whole->low_bit, field->low_width);
        } else {
            add_place(text, field->low_bit);
            add_number(text, layout, field, 0, 0);
        }
        zeta_text_add(text, "\n");
    }
}

/** Distances between the fields of a run. */
struct step {
    uint32_t low;
    uint32_t high;
    uint32_t valid;
};

/** The distances from a field to its successor; false if no run can hold both. */
static bool find_step(const struct zeta_field *a, const struct zeta_field *b, struct step *out_step)
{
    if (a->low_width != b->low_width || a->high_width != b->high_width ||
        a->is_float != b->is_float || a->delta_bits != b->delta_bits ||
        a->valid_field != b->valid_field || b->low_bit <= a->low_bit)
        return false;
    if (a->high_width > 0 && b->high_bit < a->high_bit)
        return false;
    if (a->valid_field != ZETA_FIELD_NONE &&
        (b->valid_bit < a->valid_bit || b->valid_bit - a->valid_bit > VALID_MAX))
        return false;
    *out_step = (struct step){
        .low = b->low_bit - a->low_bit,
        .high = a->high_width > 0 ? b->high_bit - a->high_bit : 0,
        .valid = a->valid_field != ZETA_FIELD_NONE ? b->valid_bit - a->valid_bit : 0,
    };
    return true;
}

/** Fields from first that make one run. */
static uint32_t run_length(const struct zeta_field *first, uint32_t most, struct step *out_step)
{
    uint32_t length = 1;

    *out_step = (struct step){0};
    for (; length < most; length++) {
        struct step step;

        if (!find_step(&first[length - 1], &first[length], &step))
            break;
        if (length > 1 && memcmp(&step, out_step, sizeof(step)) != 0)
            break;
        *out_step = step;
    }
    return length;
}

static void add_bank(struct zeta_text *text, const struct zeta_layout *layout,
                     const struct zeta_bank *bank)
{
    zeta_text_add(text, "      %s:%s\n", bank->name, bank->count == 0 ? " []" : "");
    for (uint32_t i = 0; i < bank->count;) {
        const struct zeta_field *first = &layout->fields[bank->first_field + i];
        struct step step;
        const uint32_t length = run_length(first, bank->count - i, &step);

        zeta_text_add(text, "        - {n: %u, ", length);
        add_place(text, first->low_bit);
        if (length > 1)
            zeta_text_add(text, ", stride_bits: %u", step.low);
        add_number(text, layout, first, step.high, step.valid);
        zeta_text_add(text, "\n");
        i += length;
    }
}

static void add_events(struct zeta_text *text, const struct zeta_layout *layout)
{
    if (layout->event_count == 0)
        return;
    zeta_text_add(text, "    events:\n");
    for (uint32_t i = 0; i < layout->event_count; i++)
        zeta_text_add(text, "      %s: %u\n", layout->events[i].name, layout->events[i].number);
}

void zeta_describe_layout(struct zeta_text *text, const struct zeta_set *set)
{
    static const char *const kinds[ZETA_LAYOUT_KIND_COUNT] = {[ZETA_LAYOUT_DELTA] = "delta",
                                                              [ZETA_LAYOUT_SAMPLE] = "sample",
                                                              [ZETA_LAYOUT_EVENT] = "event"};
    const struct zeta_layout *layout = set->layout;

    zeta_text_add(text, "  - name: %s\n    kind: %s\n    record: %u\n", layout->name,
                  kinds[layout->kind], layout->record_bytes);
    add_header(text, layout);
    if (layout->bank_count > 0)
        zeta_text_add(text, "    counters:\n");
    for (uint32_t i = 0; i < layout->bank_count; i++)
        add_bank(text, layout, &layout->banks[i]);
    if (layout->identity_count > 0) {
        zeta_text_add(text, "    identity: [");
        for (uint32_t i = 0; i < layout->identity_count; i++)
            zeta_text_add(text, "%s%s", i > 0 ? ", " : "",
                          layout->fields[layout->identity[i]].name);
        zeta_text_add(text, "]\n");
    }
    if (layout->baseline) {
        zeta_text_add(text, "    baseline: \"");
        zeta_describe_expr(text, set, layout->baseline);
        zeta_text_add(text, "\"\n");
    }
    add_events(text, layout);
    if (layout->info_count > 0) {
        zeta_text_add(text, "    info:\n");
        zeta_describe_metrics(text, set, layout->info, layout->info_count, 6);
    }
}
