#include "totals.h"

#include <stdlib.h>
#include <string.h>

#include <zeta/plugin_host.h>

/*
 * Ratios of the core clock in the first word of a report: of the unslice on all, of the slices in
 * two pieces up to Gen12LP. The kernel has them written from Gen9 on.
 */
#define UNSLICE_RATIO UINT64_C(0x000001ff)
#define SLICE_RATIO UINT64_C(0xfe000600)
#define GEN9 900u
#define XEHP 1250u

static uint64_t mask_of(uint32_t width)
{
    return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

/* Reads up to 64 bits; a number that does not begin in a byte has 57 at most. */
static uint64_t read_bits(const uint8_t *report, uint32_t byte, uint32_t shift, uint64_t mask)
{
    uint64_t word;

    memcpy(&word, report + byte, sizeof(word));
    return word >> shift & mask;
}

static uint64_t read_field(const uint8_t *report, const struct zeta_intel_field *field)
{
    uint64_t value = read_bits(report, field->low_byte, field->low_shift, field->low_mask);

    if (field->high_mask)
        value |= read_bits(report, field->high_byte, field->high_shift, field->high_mask)
                 << field->low_width;
    return value;
}

static bool fits(uint32_t bit, uint32_t width, uint32_t report_bytes)
{
    return width <= 64 && (uint64_t)bit + width <= (uint64_t)report_bytes * 8 &&
           width + bit % 8 <= 64;
}

static uint32_t read_desc(const struct zeta_plugin_query_field *from, uint32_t report_bytes,
                          struct zeta_intel_field *field)
{
    if (!fits(from->low_bit, from->low_width, report_bytes) ||
        !fits(from->high_bit, from->high_width, report_bytes) ||
        from->low_width + from->high_width > 64 || from->delta_bits > 64)
        return ZETA_PLUGIN_INVALID_ARGUMENT;
    *field = (struct zeta_intel_field){
        .low_byte = from->low_bit / 8,
        .low_shift = from->low_bit % 8,
        .low_width = from->low_width,
        .low_mask = mask_of(from->low_width),
        .high_byte = from->high_bit / 8,
        .high_shift = from->high_bit % 8,
        .high_mask = from->high_width ? mask_of(from->high_width) : 0,
        .delta_mask = from->delta_bits ? mask_of(from->delta_bits) : 0,
        .is_float = from->is_float != 0,
    };
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t zeta_intel_totals_init(struct zeta_intel_totals *totals,
                                const struct zeta_plugin_array *fields, uint32_t report_bytes,
                                uint32_t graphics)
{
    const uint32_t count = (uint32_t)fields->count;
    const struct zeta_plugin_query_field head = {.low_width = 32};
    bool has_ticks = false;

    *totals = (struct zeta_intel_totals){.count = count, .report_bytes = report_bytes};
    totals->fields = calloc(count + 1, sizeof(*totals->fields));
    totals->last = calloc(count + 1, sizeof(*totals->last));
    totals->sums = calloc(count + 1, sizeof(*totals->sums));
    if (!totals->fields || !totals->last || !totals->sums)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    if (read_desc(&head, report_bytes, &totals->head) != ZETA_PLUGIN_SUCCESS)
        return ZETA_PLUGIN_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_plugin_query_field *from =
            (const void *)((const char *)fields->data + i * fields->stride);

        if (read_desc(from, report_bytes, &totals->fields[i]) != ZETA_PLUGIN_SUCCESS)
            return ZETA_PLUGIN_INVALID_ARGUMENT;
        if (from->delta_bits > 0 && zeta_string_is(from->name, "ticks")) {
            totals->tick_field = i;
            has_ticks = true;
        }
    }
    if (graphics >= GEN9)
        totals->clock_mask = graphics < XEHP ? UNSLICE_RATIO | SLICE_RATIO : UNSLICE_RATIO;
    return has_ticks ? ZETA_PLUGIN_SUCCESS : ZETA_PLUGIN_INVALID_ARGUMENT;
}

void zeta_intel_totals_finish(struct zeta_intel_totals *totals)
{
    free(totals->fields);
    free(totals->last);
    free(totals->sums);
    *totals = (struct zeta_intel_totals){0};
}

void zeta_intel_totals_break(struct zeta_intel_totals *totals)
{
    /* Before the first report nothing is missing. */
    if (totals->is_started)
        totals->breaks++;
    totals->is_started = false;
}

/* The time of a report in full, from a time that is near. */
static uint64_t locate(const struct zeta_intel_totals *totals, const uint8_t *report,
                       uint64_t clock_ticks)
{
    const struct zeta_intel_field *field = &totals->fields[totals->tick_field];
    const uint64_t mask = field->delta_mask;
    uint64_t ago = (clock_ticks - read_field(report, field)) & mask;

    /* The clock may have been read a little before the report was written. */
    if (ago > mask / 2)
        ago -= mask + 1;
    return clock_ticks - ago;
}

/* Whether a turn of the report's clock may have passed since the report before. */
static bool is_far(const struct zeta_intel_totals *totals, uint64_t clock_ticks)
{
    const uint64_t half = totals->fields[totals->tick_field].delta_mask / 2;

    return clock_ticks > totals->ticks && clock_ticks - totals->ticks > half;
}

/* The time of a report from that of the one before it; false if it goes backwards. */
static bool follow(const struct zeta_intel_totals *totals, const uint8_t *report,
                   uint64_t *out_ticks)
{
    const struct zeta_intel_field *field = &totals->fields[totals->tick_field];
    const uint64_t passed =
        (read_field(report, field) - totals->last[totals->tick_field]) & field->delta_mask;

    *out_ticks = totals->ticks + passed;
    return passed <= field->delta_mask / 2;
}

static double to_double(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static uint64_t to_bits(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static void add_field(struct zeta_intel_totals *totals, uint32_t i, uint64_t now)
{
    const struct zeta_intel_field *field = &totals->fields[i];

    if (field->delta_mask && field->is_float)
        totals->sums[i] =
            to_bits(to_double(totals->sums[i]) + to_double(now) - to_double(totals->last[i]));
    else if (field->delta_mask)
        totals->sums[i] += (now - totals->last[i]) & field->delta_mask;
}

void zeta_intel_totals_add(struct zeta_intel_totals *totals, const uint8_t *report,
                           uint64_t clock_ticks)
{
    const uint64_t clock = read_field(report, &totals->head) & totals->clock_mask;
    uint64_t ticks = 0;

    if (totals->is_started) {
        bool is_later = follow(totals, report, &ticks);

        if (is_far(totals, clock_ticks)) {
            ticks = locate(totals, report, clock_ticks);
            is_later = ticks >= totals->ticks;
        }
        if (!is_later)
            zeta_intel_totals_break(totals);
    }
    if (!totals->is_started)
        ticks = locate(totals, report, clock_ticks);
    for (uint32_t i = 0; i < totals->count; i++) {
        const uint64_t now = read_field(report, &totals->fields[i]);

        if (totals->is_started && i == totals->tick_field)
            totals->sums[i] += ticks - totals->ticks;
        else if (totals->is_started)
            add_field(totals, i, now);
        totals->last[i] = now;
    }
    totals->switches += totals->is_started && clock != totals->last_clock;
    totals->last_clock = clock;
    totals->ticks = ticks;
    totals->is_started = true;
}

void zeta_intel_totals_copy(const struct zeta_intel_totals *totals, uint64_t *out_values)
{
    for (uint32_t i = 0; i < totals->count; i++)
        out_values[i] = totals->fields[i].delta_mask ? totals->sums[i] : totals->last[i];
}

uint64_t zeta_intel_field_difference(const struct zeta_intel_field *field, uint64_t begin,
                                     uint64_t end)
{
    if (!field->delta_mask)
        return end;
    return field->is_float ? to_bits(to_double(end) - to_double(begin)) : end - begin;
}
