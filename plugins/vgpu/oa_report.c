#include "oa_report.h"

#include <string.h>

#define COUNTERS_40 32u /* A0..A31 have 40 bits, the others 32 */

static void put_u32(uint8_t *at, uint64_t value)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (8 * i));
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
    case ZETA_VGPU_SELECT_NOTHING:
        break;
    }
    return 0;
}

void zeta_vgpu_report_encode(const struct zeta_vgpu_sample *sample,
                             const struct zeta_vgpu_program *program,
                             uint8_t out_report[ZETA_VGPU_REPORT_BYTES])
{
    uint64_t sums[ZETA_VGPU_COUNTER_COUNT] = {0};

    for (uint32_t row = 0; row < sample->tiles * sample->rows_per_tile; row++) {
        for (uint32_t i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++)
            sums[i] += sample->totals[row][i];
    }
    sums[ZETA_VGPU_GPU_CORE_CLOCKS] += sample->idle_clocks + sample->extra_clocks;
    sums[ZETA_VGPU_BUSY_CLOCKS] += sample->extra_clocks;

    put_u32(out_report, sample->report_id);
    put_u32(out_report + 4, sample->ticks);
    put_u32(out_report + 8, sample->context);
    put_u32(out_report + 12, sums[ZETA_VGPU_GPU_CORE_CLOCKS]);
    for (uint32_t i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++) {
        put_u32(out_report + 16 + 4 * i, sums[i]);
        if (i < COUNTERS_40)
            out_report[160 + i] = (uint8_t)(sums[i] >> 32);
    }
    for (uint32_t i = 0; i < ZETA_VGPU_SELECTIONS; i++)
        put_u32(out_report + 192 + 4 * i, selected(sample, &program->selections[i], sums));
}
