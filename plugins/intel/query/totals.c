#include "plugins/intel/query/totals.h"

#include <stdlib.h>
#include <string.h>

#include <zeta/plugin_host.h>

/* Reads the descriptors; where the ticks are. False for what cannot be read, or is not there. */
static bool read_fields(struct zeta_intel_totals *totals, const struct zeta_plugin_array *fields)
{
    bool has_ticks = false;

    for (uint32_t i = 0; i < totals->count; i++) {
        const struct zeta_plugin_query_field *from =
            (const void *)((const char *)fields->data + i * fields->stride);

        if (!zeta_intel_field_make(from, totals->report_bytes, &totals->fields[i]))
            return false;
        if (from->delta_bits > 0 && zeta_string_is(from->name, "ticks")) {
            totals->tick_field = i;
            has_ticks = true;
        }
    }
    return has_ticks;
}

uint32_t zeta_intel_totals_init(struct zeta_intel_totals *totals,
                                const struct zeta_plugin_array *fields, uint32_t report_bytes,
                                uint32_t clock_bits)
{
    const uint32_t count = (uint32_t)fields->count;

    *totals = (struct zeta_intel_totals){
        .count = count, .report_bytes = report_bytes, .clock_mask = clock_bits};
    totals->fields = calloc(count + 1, sizeof(*totals->fields));
    totals->runs = calloc(count + 1, sizeof(*totals->runs));
    totals->last = calloc(1, report_bytes + ZETA_INTEL_REPORT_SLACK);
    totals->sums = calloc(count + 1, sizeof(*totals->sums));
    if (!totals->fields || !totals->runs || !totals->last || !totals->sums)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    if (report_bytes < sizeof(totals->clock_mask) || !read_fields(totals, fields))
        return ZETA_PLUGIN_INVALID_ARGUMENT;
    totals->run_count =
        zeta_intel_runs_make(totals->fields, count, totals->tick_field, totals->runs);
    return ZETA_PLUGIN_SUCCESS;
}

void zeta_intel_totals_finish(struct zeta_intel_totals *totals)
{
    free(totals->fields);
    free(totals->runs);
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

void zeta_intel_totals_lose(struct zeta_intel_totals *totals, uint64_t clock_ticks)
{
    totals->lost_until = clock_ticks;
}

/* The time of a report in full, from a time that is near. */
static uint64_t locate(const struct zeta_intel_totals *totals, uint64_t stamp, uint64_t clock_ticks)
{
    const uint64_t mask = totals->fields[totals->tick_field].delta_mask;
    uint64_t ago = (clock_ticks - stamp) & mask;

    /* The clock may have been read a little before the report was written. */
    if (ago > mask / 2)
        ago -= mask + 1;
    return clock_ticks - ago;
}

/*
 * The time of a report in full: from that of the one before it, unless the report's clock may have
 * wrapped since. False if it goes backwards.
 */
static bool follow(const struct zeta_intel_totals *totals, uint64_t stamp, uint64_t clock_ticks,
                   uint64_t *out_ticks)
{
    const uint64_t mask = totals->fields[totals->tick_field].delta_mask;
    const uint64_t passed = (stamp - totals->stamp) & mask;

    if (clock_ticks > totals->ticks && clock_ticks - totals->ticks > mask / 2) {
        *out_ticks = locate(totals, stamp, clock_ticks);
        return *out_ticks >= totals->ticks;
    }
    *out_ticks = totals->ticks + passed;
    return passed <= mask / 2;
}

/* Whether reports may be missing before one, so long that a counter may have wrapped. */
static bool is_gap(const struct zeta_intel_totals *totals, uint64_t ticks)
{
    return totals->ticks < totals->lost_until && ticks - totals->ticks > totals->gap_ticks;
}

/* Adds what the header of a report has. False if counting begins anew with it. */
static bool add_header(struct zeta_intel_totals *totals, const uint8_t *report,
                       uint64_t clock_ticks)
{
    const uint64_t stamp = zeta_intel_field_read(&totals->fields[totals->tick_field], report);
    uint64_t ticks = 0;
    uint32_t clock;

    memcpy(&clock, report, sizeof(clock));
    clock &= totals->clock_mask;
    if (totals->is_started &&
        (!follow(totals, stamp, clock_ticks, &ticks) || is_gap(totals, ticks)))
        zeta_intel_totals_break(totals);

    const bool goes_on = totals->is_started;
    if (goes_on) {
        totals->sums[totals->tick_field] += ticks - totals->ticks;
        totals->switches += clock != totals->clock;
    } else {
        ticks = locate(totals, stamp, clock_ticks);
    }
    totals->stamp = stamp;
    totals->clock = clock;
    totals->ticks = ticks;
    totals->is_started = true;
    return goes_on;
}

/* Adds what was counted from the report before the first of these to the last. */
static void add_counters(struct zeta_intel_totals *totals, const uint8_t *reports, uint32_t first,
                         uint32_t end)
{
    const uint32_t bytes = totals->report_bytes;
    struct zeta_intel_steps steps = {
        .before = totals->last, .now = reports, .stride = bytes, .count = 1};

    if (first == 0 && end > 0) {
        zeta_intel_runs_add(totals->runs, totals->run_count, totals->fields, &steps, totals->sums);
        first = 1;
    }
    if (first >= end)
        return;
    steps.before = reports + (size_t)(first - 1) * bytes;
    steps.now = steps.before + bytes;
    steps.count = end - first;
    zeta_intel_runs_add(totals->runs, totals->run_count, totals->fields, &steps, totals->sums);
}

uint32_t zeta_intel_totals_add(struct zeta_intel_totals *totals, const uint8_t *reports,
                               uint32_t count, uint64_t clock_ticks, uint64_t until_ticks)
{
    const size_t bytes = totals->report_bytes;
    uint32_t first = 0, added = 0;

    if (count == 0)
        return 0;
    do {
        if (!add_header(totals, reports + added * bytes, clock_ticks)) {
            add_counters(totals, reports, first, added);
            first = added + 1;
        }
        added++;
    } while (added < count && totals->ticks < until_ticks);
    add_counters(totals, reports, first, added);
    memcpy(totals->last, reports + (added - 1) * bytes, bytes);
    return added;
}

void zeta_intel_totals_copy(const struct zeta_intel_totals *totals, uint64_t *out_values)
{
    for (uint32_t i = 0; i < totals->count; i++) {
        const struct zeta_intel_field *field = &totals->fields[i];

        out_values[i] =
            field->delta_mask ? totals->sums[i] : zeta_intel_field_read(field, totals->last);
    }
}
