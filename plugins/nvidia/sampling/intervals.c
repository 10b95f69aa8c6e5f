#include "plugins/nvidia/sampling/intervals.h"

/* Periods in a time, to the nearest. */
static uint64_t periods(const struct nvidia_intervals *intervals, uint64_t ns)
{
    return (ns + intervals->period_ns / 2) / intervals->period_ns;
}

/* Whether the counts of a sample are those of its time. */
static bool is_whole(const struct nvidia_intervals *intervals, const struct nvidia_sample *sample)
{
    const uint64_t length = sample->end_ns - sample->start_ns;

    /* Both times are 0 behind a full image. A time before the last end has been counted. */
    return sample->start_ns != 0 && sample->end_ns > intervals->end_ns &&
           length <= intervals->period_ns + intervals->period_ns / 2;
}

bool nvidia_intervals_add(struct nvidia_intervals *intervals, const struct nvidia_sample *sample,
                          struct nvidia_interval *out_record,
                          struct nvidia_interval_break *out_break)
{
    const uint64_t end_ns = intervals->end_ns;
    uint64_t gap_ns = 0;

    intervals->is_behind_loss = intervals->is_behind_loss || sample->is_behind_loss;
    intervals->is_behind_overflow = intervals->is_behind_overflow || sample->is_behind_overflow;
    if (sample->end_ns == sample->start_ns && sample->start_ns != 0)
        return false;
    if (sample->end_ns < sample->start_ns || !is_whole(intervals, sample) ||
        !nvidia_program_store(intervals->program, sample->values, out_record)) {
        intervals->is_behind_loss = true;
        return false;
    }
    if (end_ns != 0 && sample->start_ns > end_ns + intervals->period_ns / 2)
        gap_ns = sample->start_ns - end_ns;
    out_break->is_broken = intervals->is_behind_loss || gap_ns != 0;
    out_break->lost = periods(intervals, gap_ns);
    out_break->reason = intervals->is_behind_overflow ? ZETA_PLUGIN_BREAK_OVERFLOW
                        : out_break->is_broken        ? ZETA_PLUGIN_BREAK_LOST
                                                      : ZETA_PLUGIN_BREAK_NONE;
    intervals->sequence += out_break->lost;
    out_record->start_ns = sample->start_ns;
    out_record->end_ns = sample->end_ns;
    out_record->flags = out_break->is_broken ? NVIDIA_BEHIND_LOSS : 0;
    out_record->sequence = intervals->sequence++;
    intervals->end_ns = sample->end_ns;
    intervals->is_behind_loss = intervals->is_behind_overflow = false;
    return true;
}
