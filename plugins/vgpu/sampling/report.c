#include "report.h"

#include <string.h>

#define COUNTERS_40 32u /* A0..A31 have 40 bits, the others 32 */

static void put_u32(uint8_t *at, uint64_t value)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t event_count(const struct zeta_vgpu_event_counts *counts, uint32_t which)
{
    const uint64_t values[ZETA_VGPU_EVENTS_COUNT] = {
        [ZETA_VGPU_EVENTS_WRITTEN] = counts->written,
        [ZETA_VGPU_EVENTS_LOST] = counts->lost,
        [ZETA_VGPU_EVENTS_WAITING] = counts->waiting,
        [ZETA_VGPU_EVENTS_CAPACITY] = counts->capacity,
    };

    return values[which];
}

static uint64_t selected(const struct zeta_vgpu_sample *sample,
                         const struct zeta_vgpu_selection *selection, const uint64_t *sums)
{
    uint64_t sum = 0;

    switch (selection->kind) {
    case ZETA_VGPU_SELECT_COUNTER:
        if (selection->row_count == 0)
            return sums[selection->counter];
        for (uint32_t i = 0; i < selection->row_count; i++)
            sum += sample->totals[selection->tile * sample->rows_per_tile + selection->first_row +
                                  i][selection->counter];
        return sum;
    case ZETA_VGPU_SELECT_TICKS:
        return sample->ticks / selection->value;
    case ZETA_VGPU_SELECT_REPORTS:
        return sample->number;
    case ZETA_VGPU_SELECT_CONSTANT:
        return sample->number * selection->value;
    case ZETA_VGPU_SELECT_EVENTS:
        return sample->events ? event_count(&sample->events[selection->value], selection->counter)
                              : 0;
    case ZETA_VGPU_SELECT_EU: /* by place, see below */
    case ZETA_VGPU_SELECT_NOTHING:
        break;
    }
    return 0;
}

void zeta_vgpu_report_values(const struct zeta_vgpu_sample *sample,
                             const struct zeta_vgpu_program *program,
                             uint64_t out_values[ZETA_VGPU_REPORT_WORDS])
{
    uint64_t *sums = out_values + ZETA_VGPU_REPORT_COUNTERS;

    memset(out_values, 0, ZETA_VGPU_REPORT_WORDS * sizeof(out_values[0]));
    for (uint32_t row = 0; row < sample->tiles * sample->rows_per_tile; row++) {
        for (uint32_t i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++)
            sums[i] += sample->totals[row][i];
    }
    sums[ZETA_VGPU_GPU_CORE_CLOCKS] = sample->core_clocks;
    sums[ZETA_VGPU_BUSY_CLOCKS] = sample->core_clocks;

    out_values[0] = sample->report_id;
    out_values[1] = sample->ticks;
    out_values[2] = sample->context;
    out_values[3] = sums[ZETA_VGPU_GPU_CORE_CLOCKS];
    for (uint32_t i = 0; i < ZETA_VGPU_SELECTIONS; i++)
        out_values[ZETA_VGPU_REPORT_SELECTED + i] =
            program->selections[i].kind == ZETA_VGPU_SELECT_EU && sample->eus
                ? sample->eus[i]
                : selected(sample, &program->selections[i], sums);
}

void zeta_vgpu_report_encode(const struct zeta_vgpu_sample *sample,
                             const struct zeta_vgpu_program *program,
                             uint8_t out_report[ZETA_VGPU_REPORT_BYTES])
{
    uint64_t values[ZETA_VGPU_REPORT_WORDS];

    zeta_vgpu_report_values(sample, program, values);
    for (uint32_t i = 0; i < ZETA_VGPU_REPORT_WORDS; i++)
        put_u32(out_report + 4 * i, values[i]);
    out_report[3] |= (uint8_t)(values[1] >> 32 << 6);
    for (uint32_t i = 0; i < COUNTERS_40; i++)
        out_report[160 + i] = (uint8_t)(values[ZETA_VGPU_REPORT_COUNTERS + i] >> 32);
}
