#include "plugins/intel/query/runs.h"

#include <stddef.h>
#include <string.h>

#define LANES ZETA_INTEL_RUN_LANES
#define BITS_40 ((UINT64_C(1) << 40) - 1)

/* ---- fields ------------------------------------------------------------------------------- */

static uint64_t mask_of(uint32_t width)
{
    return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

static bool fits(uint32_t bit, uint32_t width, uint32_t report_bytes)
{
    return width <= 64 && (uint64_t)bit + width <= (uint64_t)report_bytes * 8 &&
           width + bit % 8 <= 64;
}

bool zeta_intel_field_make(const struct zeta_plugin_query_field *from, uint32_t report_bytes,
                           struct zeta_intel_field *out_field)
{
    if (!fits(from->low_bit, from->low_width, report_bytes) ||
        !fits(from->high_bit, from->high_width, report_bytes) ||
        from->low_width + from->high_width > 64 || from->delta_bits > 64)
        return false;
    *out_field = (struct zeta_intel_field){
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
    return true;
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

uint64_t zeta_intel_field_add(const struct zeta_intel_field *field, uint64_t sum, uint64_t before,
                              uint64_t now)
{
    if (field->is_float)
        return to_bits(to_double(sum) + to_double(now) - to_double(before));
    return sum + ((now - before) & field->delta_mask);
}

uint64_t zeta_intel_field_difference(const struct zeta_intel_field *field, uint64_t begin,
                                     uint64_t end)
{
    if (!field->delta_mask)
        return end;
    return field->is_float ? to_bits(to_double(end) - to_double(begin)) : end - begin;
}

/* ---- making ------------------------------------------------------------------------------- */

static enum zeta_intel_run_kind kind_of(const struct zeta_intel_field *field)
{
    if (field->low_shift != 0 || field->high_shift != 0 || field->is_float)
        return ZETA_INTEL_RUN_OTHER;
    if (field->low_mask == UINT32_MAX && field->high_mask == 0 && field->delta_mask == UINT32_MAX)
        return ZETA_INTEL_RUN_WORDS;
    if (field->low_mask == UINT32_MAX && field->high_mask == UINT8_MAX &&
        field->delta_mask == BITS_40)
        return ZETA_INTEL_RUN_SPLIT;
    if (field->low_mask == UINT64_MAX && field->delta_mask == UINT64_MAX)
        return ZETA_INTEL_RUN_WIDE;
    return ZETA_INTEL_RUN_OTHER;
}

/* Whether a field is the next one of a run. */
static bool continues(const struct zeta_intel_run *run, const struct zeta_intel_run *next)
{
    if (run->kind != next->kind || run->first + run->count != next->first)
        return false;
    switch (run->kind) {
    case ZETA_INTEL_RUN_WORDS:
        return run->count < LANES && run->low_byte + 4 * run->count == next->low_byte;
    case ZETA_INTEL_RUN_SPLIT:
        return run->count < LANES && run->low_byte + 4 * run->count == next->low_byte &&
               run->high_byte + run->count == next->high_byte;
    case ZETA_INTEL_RUN_WIDE:
        return run->low_byte + 8 * run->count == next->low_byte;
    case ZETA_INTEL_RUN_OTHER:
        break;
    }
    return true;
}

uint32_t zeta_intel_runs_make(const struct zeta_intel_field *fields, uint32_t count,
                              uint32_t leave_out, struct zeta_intel_run *out_runs)
{
    uint32_t run_count = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_intel_run run = {
            .kind = kind_of(&fields[i]),
            .first = i,
            .count = 1,
            .low_byte = fields[i].low_byte,
            .high_byte = fields[i].high_byte,
        };

        if (fields[i].delta_mask == 0 || i == leave_out)
            continue;
        if (run_count > 0 && continues(&out_runs[run_count - 1], &run))
            out_runs[run_count - 1].count++;
        else
            out_runs[run_count++] = run;
    }
    return run_count;
}

/* ---- adding ------------------------------------------------------------------------------- */

static inline uint32_t word_at(const uint8_t *bytes, size_t index)
{
    uint32_t word;

    memcpy(&word, bytes + index * sizeof(word), sizeof(word));
    return word;
}

static inline uint64_t wide_at(const uint8_t *bytes, size_t index)
{
    uint64_t word;

    memcpy(&word, bytes + index * sizeof(word), sizeof(word));
    return word;
}

static inline uint64_t split_at(const uint8_t *low, const uint8_t *high, size_t index)
{
    return word_at(low, index) | (uint64_t)high[index] << 32;
}

static inline const uint8_t *last_of(const struct zeta_intel_steps *steps)
{
    return steps->now + (size_t)(steps->count - 1) * steps->stride;
}

/* How often words are lower than in the report before. */
static void count_turns(const uint8_t *before, const uint8_t *now, uint32_t stride, uint32_t count,
                        uint32_t *out_turns)
{
    uint32_t turns[LANES] = {0};

    for (uint32_t n = 0; n < count; n++) {
        for (size_t i = 0; i < LANES; i++)
            turns[i] += word_at(now, i) < word_at(before, i);
        before += stride;
        now += stride;
    }
    for (size_t i = 0; i < LANES; i++)
        out_turns[i] = turns[i];
}

/* The same with upper bits: they are lower, at the latest when the words take one of them. */
static void count_split_turns(const uint8_t *before, const uint8_t *now, ptrdiff_t high,
                              uint32_t stride, uint32_t count, uint32_t *out_turns)
{
    const uint8_t *high_before = before + high, *high_now = now + high;
    uint32_t turns[LANES] = {0};

    for (uint32_t n = 0; n < count; n++) {
        for (size_t i = 0; i < LANES; i++) {
            const uint32_t taken = word_at(now, i) < word_at(before, i);

            turns[i] += high_now[i] < high_before[i] + taken;
        }
        before += stride;
        now += stride;
        high_before += stride;
        high_now += stride;
    }
    for (size_t i = 0; i < LANES; i++)
        out_turns[i] = turns[i];
}

static void add_words(const struct zeta_intel_run *run, const struct zeta_intel_steps *steps,
                      uint64_t *sums)
{
    const uint8_t *first = steps->before + run->low_byte, *last = last_of(steps) + run->low_byte;
    uint32_t turns[LANES];

    count_turns(first, steps->now + run->low_byte, steps->stride, steps->count, turns);
    for (size_t i = 0; i < run->count; i++)
        sums[i] += ((uint64_t)turns[i] << 32) + word_at(last, i) - word_at(first, i);
}

static void add_split(const struct zeta_intel_run *run, const struct zeta_intel_steps *steps,
                      uint64_t *sums)
{
    const ptrdiff_t high = (ptrdiff_t)run->high_byte - (ptrdiff_t)run->low_byte;
    const uint8_t *first = steps->before + run->low_byte, *last = last_of(steps) + run->low_byte;
    uint32_t turns[LANES];

    count_split_turns(first, steps->now + run->low_byte, high, steps->stride, steps->count, turns);
    for (size_t i = 0; i < run->count; i++)
        sums[i] += ((uint64_t)turns[i] << 40) + split_at(last, last + high, i) -
                   split_at(first, first + high, i);
}

static void add_wide(const struct zeta_intel_run *run, const struct zeta_intel_steps *steps,
                     uint64_t *sums)
{
    const uint8_t *first = steps->before + run->low_byte, *last = last_of(steps) + run->low_byte;

    for (size_t i = 0; i < run->count; i++)
        sums[i] += wide_at(last, i) - wide_at(first, i);
}

static void add_others(const struct zeta_intel_run *run, const struct zeta_intel_field *fields,
                       const struct zeta_intel_steps *steps, uint64_t *sums)
{
    for (size_t i = 0; i < run->count; i++) {
        const struct zeta_intel_field *field = &fields[run->first + i];

        for (size_t n = 0; n < steps->count; n++)
            sums[i] = zeta_intel_field_add(
                field, sums[i], zeta_intel_field_read(field, steps->before + n * steps->stride),
                zeta_intel_field_read(field, steps->now + n * steps->stride));
    }
}

void zeta_intel_runs_add(const struct zeta_intel_run *runs, uint32_t run_count,
                         const struct zeta_intel_field *fields,
                         const struct zeta_intel_steps *steps, uint64_t *sums)
{
    for (uint32_t i = 0; i < run_count; i++) {
        const struct zeta_intel_run *run = &runs[i];

        switch (run->kind) {
        case ZETA_INTEL_RUN_WORDS:
            add_words(run, steps, sums + run->first);
            break;
        case ZETA_INTEL_RUN_SPLIT:
            add_split(run, steps, sums + run->first);
            break;
        case ZETA_INTEL_RUN_WIDE:
            add_wide(run, steps, sums + run->first);
            break;
        case ZETA_INTEL_RUN_OTHER:
            add_others(run, fields, steps, sums + run->first);
            break;
        }
    }
}
