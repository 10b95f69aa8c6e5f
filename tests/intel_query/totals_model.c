#include "tests/intel_query/totals_model.h"
#include "tests/support/compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plugins/intel/query/totals.h"

enum { PIECES = 160, MOST_REPORTS = 40 };

struct model {
    const struct zeta_plugin_query_field *fields;
    uint32_t count, report_bytes, tick_field, clock_mask;
    uint64_t *last, *sums;
    bool is_started;
    uint32_t head;
    uint64_t ticks, breaks, switches;
    uint64_t random;
    uint64_t now; /* the time of the next report */
};

/* One report and what nobody reads in it. */
struct piece {
    uint8_t *reports;
    uint64_t ticks[MOST_REPORTS];
    uint32_t count;
};

static uint64_t draw(struct model *model)
{
    uint64_t bits = model->random += UINT64_C(0x9e3779b97f4a7c15);

    bits = (bits ^ bits >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ bits >> 27) * UINT64_C(0x94d049bb133111eb);
    return bits ^ bits >> 31;
}

static uint64_t draw_below(struct model *model, uint64_t limit)
{
    return draw(model) % limit;
}

/* ---- the reference ------------------------------------------------------------------------ */

static uint64_t read_bits(const uint8_t *report, uint32_t first, uint32_t width)
{
    uint64_t value = 0;

    for (uint32_t bit = 0; bit < width; bit++)
        value |= (uint64_t)(report[(first + bit) / 8] >> (first + bit) % 8 & 1) << bit;
    return value;
}

static void write_bits(uint8_t *report, uint32_t first, uint32_t width, uint64_t value)
{
    for (uint32_t bit = first; bit < first + width; bit++, value >>= 1)
        report[bit / 8] =
            (uint8_t)((report[bit / 8] & ~(1u << bit % 8)) | (unsigned)(value & 1) << bit % 8);
}

static uint64_t read_value(const struct zeta_plugin_query_field *field, const uint8_t *report)
{
    uint64_t value = read_bits(report, field->low_bit, field->low_width);

    if (field->high_width > 0)
        value |= read_bits(report, field->high_bit, field->high_width) << field->low_width;
    return value;
}

static void write_value(const struct zeta_plugin_query_field *field, uint8_t *report,
                        uint64_t value)
{
    write_bits(report, field->low_bit, field->low_width, value);
    if (field->high_width > 0)
        write_bits(report, field->high_bit, field->high_width, value >> field->low_width);
}

static void add_value(const struct zeta_plugin_query_field *field, uint64_t *sum, uint64_t before,
                      uint64_t now)
{
    double total, from, to;

    if (!field->is_float) {
        *sum += field->delta_bits < 64 ? (now - before) & ((UINT64_C(1) << field->delta_bits) - 1)
                                       : now - before;
        return;
    }
    memcpy(&total, sum, sizeof(total));
    memcpy(&from, &before, sizeof(from));
    memcpy(&to, &now, sizeof(to));
    total = total + to - from;
    memcpy(sum, &total, sizeof(total));
}

/* It is known when the report was made; one from before the last follows a reset. */
static void add_report(struct model *model, const uint8_t *report, uint64_t ticks)
{
    const uint32_t head = (uint32_t)read_bits(report, 0, 32) & model->clock_mask;
    const bool is_reset = model->is_started && ticks < model->ticks;
    const bool goes_on = model->is_started && !is_reset;

    model->breaks += is_reset;
    model->switches += goes_on && head != model->head;
    for (uint32_t i = 0; i < model->count; i++) {
        const uint64_t value = read_value(&model->fields[i], report);

        if (goes_on && i == model->tick_field)
            model->sums[i] += ticks - model->ticks;
        else if (goes_on && model->fields[i].delta_bits > 0)
            add_value(&model->fields[i], &model->sums[i], model->last[i], value);
        model->last[i] = value;
    }
    model->head = head;
    model->ticks = ticks;
    model->is_started = true;
}

/* ---- reports ------------------------------------------------------------------------------ */

static uint64_t next_value(struct model *model, const struct zeta_plugin_query_field *field,
                           uint64_t before)
{
    static const uint64_t steps[] = {
        0, 1, UINT64_C(0x7fffffff), UINT32_MAX, UINT64_C(0x100000000), UINT64_MAX};
    double value;
    uint64_t bits;

    if (field->is_float) {
        value = (double)draw_below(model, 1000000) / 8;
        memcpy(&bits, &value, sizeof(bits));
        return bits;
    }
    switch (draw_below(model, 4)) {
    case 0: /* anywhere */
        return draw(model);
    case 1: /* a little on */
        return before + draw_below(model, 100000);
    case 2: /* a little back, all around that is */
        return before - draw_below(model, 1000);
    default:
        return before + steps[draw_below(model, sizeof(steps) / sizeof(steps[0]))];
    }
}

/* The true time goes on by less than a turn in a piece; a reset takes it back. */
static void make_report(struct model *model, const uint8_t *before, uint8_t *report)
{
    for (uint32_t i = 0; i < model->report_bytes; i++)
        report[i] = (uint8_t)draw(model);
    for (uint32_t i = 0; i < model->count; i++) {
        const struct zeta_plugin_query_field *field = &model->fields[i];

        if (field->delta_bits > 0)
            write_value(field, report, next_value(model, field, read_value(field, before)));
    }
    if (draw_below(model, 50) == 0)
        model->now -= 1 + draw_below(model, UINT64_C(1) << 28);
    else
        model->now += draw_below(model, UINT64_C(1) << draw_below(model, 25));
    write_value(&model->fields[model->tick_field], report, model->now);
}

static void make_piece(struct model *model, struct piece *piece)
{
    const uint8_t *before = piece->reports + MOST_REPORTS * model->report_bytes;

    piece->count = (uint32_t)(1 + draw_below(model, MOST_REPORTS));
    if (draw_below(model, 8) == 0) /* the GPU slept */
        model->now += draw_below(model, UINT64_C(1) << 44);
    for (uint32_t r = 0; r < piece->count; r++) {
        uint8_t *report = piece->reports + r * model->report_bytes;

        make_report(model, before, report);
        piece->ticks[r] = model->now;
        before = report;
    }
}

/* ---- both --------------------------------------------------------------------------------- */

static void compare(const char *name, const struct model *model,
                    const struct zeta_intel_totals *totals, uint64_t *values)
{
    zeta_intel_totals_copy(totals, values);
    for (uint32_t i = 0; i < model->count; i++) {
        const uint64_t expected = model->fields[i].delta_bits ? model->sums[i] : model->last[i];

        if (values[i] != expected)
            fail_msg("%s: field %u is %#llx instead of %#llx", name, (unsigned)i,
                     (unsigned long long)values[i], (unsigned long long)expected);
    }
    assert_int_equal(totals->ticks, model->ticks);
    assert_int_equal(totals->breaks, model->breaks);
    assert_int_equal(totals->switches, model->switches);
}

/* Adds a piece, stopping at times inside of it, before it or never. */
static void add_piece(const char *name, struct model *model, struct zeta_intel_totals *totals,
                      const struct piece *piece, uint64_t *values)
{
    const uint64_t clock = piece->ticks[piece->count - 1] + draw_below(model, 1000);
    uint32_t done = 0;

    while (done < piece->count) {
        const uint64_t until =
            draw_below(model, 2) == 0
                ? UINT64_MAX
                : piece->ticks[draw_below(model, piece->count)] + draw_below(model, 2);
        uint32_t end = done;

        do {
            add_report(model, piece->reports + end * model->report_bytes, piece->ticks[end]);
            end++;
        } while (end < piece->count && model->ticks < until);
        assert_int_equal(zeta_intel_totals_add(totals, piece->reports + done * model->report_bytes,
                                               piece->count - done, clock, until),
                         end - done);
        compare(name, model, totals, values);
        done = end;
    }
}

static void find_ticks(struct model *model)
{
    while (model->fields[model->tick_field].name.size != 5 ||
           memcmp(model->fields[model->tick_field].name.data, "ticks", 5) != 0)
        assert_cmp(++model->tick_field, <, model->count);
}

void totals_model_check(const char *name, const struct zeta_plugin_query_field *fields,
                        uint32_t count, uint32_t report_bytes, uint32_t clock_bits)
{
    const struct zeta_plugin_array array = {fields, count, sizeof(*fields)};
    struct model model = {.fields = fields,
                          .count = count,
                          .report_bytes = report_bytes,
                          .clock_mask = clock_bits,
                          .last = calloc(count, sizeof(uint64_t)),
                          .sums = calloc(count, sizeof(uint64_t)),
                          .now = UINT64_C(1) << 40};
    /* One more than a piece has: the one before the first. */
    struct piece piece = {
        .reports = calloc(1, (MOST_REPORTS + 1) * report_bytes + ZETA_INTEL_REPORT_SLACK)};
    uint64_t *values = calloc(count, sizeof(uint64_t));
    struct zeta_intel_totals totals;

    assert_true(model.last && model.sums && piece.reports && values);
    find_ticks(&model);
    assert_int_equal(zeta_intel_totals_init(&totals, &array, report_bytes, clock_bits),
                     ZETA_PLUGIN_SUCCESS);
    for (int i = 0; i < PIECES; i++) {
        if (draw_below(&model, 16) == 0) {
            zeta_intel_totals_break(&totals);
            model.breaks += model.is_started;
            model.is_started = false;
        }
        make_piece(&model, &piece);
        add_piece(name, &model, &totals, &piece, values);
        memcpy(piece.reports + MOST_REPORTS * report_bytes,
               piece.reports + (piece.count - 1) * report_bytes, report_bytes);
    }
    zeta_intel_totals_finish(&totals);
    free(model.last);
    free(model.sums);
    free(piece.reports);
    free(values);
}
