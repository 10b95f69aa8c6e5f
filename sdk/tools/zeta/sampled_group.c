#include "sampled_group.h"

#include <stdlib.h>
#include <string.h>

#include "ip_profile.h"

static int32_t find_metric(const struct zeta_group_entry *entry, const char *name)
{
    for (uint32_t i = 0; i < entry->properties.metricCount; i++) {
        if (strcmp(entry->metrics[i].properties.name, name) == 0)
            return (int32_t)i;
    }
    return -1;
}

/* The clock wraps after 2^bits ticks: at a whole number of ns only when a tick is one. */
static uint64_t wrap_of(const zet_metric_global_timestamps_resolution_exp_t *clock)
{
    if (clock->timestampValidBits >= 64 || clock->timerResolution == 0)
        return 0;
    return (uint64_t)((double)(UINT64_C(1) << clock->timestampValidBits) * 1e9 /
                      (double)clock->timerResolution);
}

bool zeta_sampled_group_init(struct zeta_sampled_group *group, const struct zeta_group_entry *entry,
                             uint32_t tile_count)
{
    *group = (struct zeta_sampled_group){.entry = entry, .tile_count = tile_count};
    group->accounts = calloc(entry->properties.metricCount, sizeof(*group->accounts));
    group->tiles = calloc(tile_count, sizeof(*group->tiles));
    if (!group->accounts || !group->tiles)
        return false;
    for (uint32_t i = 0; i < entry->properties.metricCount; i++) {
        const zet_metric_properties_t *metric = &entry->metrics[i].properties;

        group->accounts[i].kind = zeta_account_kind_of(metric->metricType, metric->description);
    }
    group->time_index = find_metric(entry, "GpuTime");
    group->end_index = find_metric(entry, "QueryBeginTime");
    group->wrap_ns = wrap_of(&entry->clock);
    group->is_profile = strcmp(entry->properties.name, ZETA_IP_GROUP) == 0;
    return true;
}

void zeta_sampled_group_finish(struct zeta_sampled_group *group)
{
    free(group->accounts);
    free(group->tiles);
    *group = (struct zeta_sampled_group){0};
}

/* From one instant to another on a clock that wraps; more than half a turn is taken as a step back.
 */
static int64_t elapsed(const struct zeta_sampled_group *group, uint64_t from_ns, uint64_t to_ns)
{
    uint64_t difference = to_ns - from_ns;

    if (group->wrap_ns == 0)
        return (int64_t)difference;
    if (to_ns < from_ns)
        difference += group->wrap_ns;
    return difference > group->wrap_ns / 2 ? (int64_t)(difference - group->wrap_ns)
                                           : (int64_t)difference;
}

/* Time that no row covers lies between two reports: as many are missing as periods fit between. */
static void add_gap(struct zeta_sampled_group *group, uint64_t gap_ns)
{
    const uint64_t periods =
        group->period_ns > 0 ? (gap_ns + group->period_ns / 2) / group->period_ns : 0;

    group->lost_ns += gap_ns;
    group->reckoned += periods > 2 ? periods - 1 : 1;
}

void zeta_sampled_group_pass_row(struct zeta_sampled_group *group, uint32_t tile_index,
                                 const zet_typed_value_t *values)
{
    struct zeta_sampled_tile *tile = &group->tiles[tile_index];

    if (group->time_index < 0 || group->end_index < 0)
        return;
    const uint64_t end_ns = zeta_number_from_value(&values[group->end_index]).u64;
    const uint64_t time_ns = zeta_number_from_value(&values[group->time_index]).u64;

    if (tile->started) {
        const int64_t gap_ns = elapsed(group, tile->end_ns, end_ns) - (int64_t)time_ns;

        /* Less than half a period is rounding, not a report that is missing. */
        if (gap_ns > (int64_t)(group->period_ns / 2))
            add_gap(group, (uint64_t)gap_ns);
    }
    tile->started = true;
    tile->end_ns = end_ns;
}

/* Behind the instruction pointer a record has the samples of each reason. */
static uint64_t count_samples(const struct zeta_sampled_group *group,
                              const zet_typed_value_t *values)
{
    uint64_t samples = 0;

    if (!group->is_profile)
        return 1;
    for (uint32_t i = 1; i < group->entry->properties.metricCount; i++)
        samples += zeta_number_from_value(&values[i]).u64;
    return samples;
}

void zeta_sampled_group_add_row(struct zeta_sampled_group *group, uint32_t tile,
                                const zet_typed_value_t *values)
{
    double weight = 1.0;

    if (group->time_index >= 0)
        weight = zeta_number_as_double(zeta_number_from_value(&values[group->time_index]));
    zeta_sampled_group_pass_row(group, tile, values);
    for (uint32_t i = 0; i < group->entry->properties.metricCount; i++)
        zeta_account_add(&group->accounts[i], zeta_number_from_value(&values[i]), weight);
    group->samples += count_samples(group, values);
}

uint64_t zeta_sampled_group_lost(const struct zeta_sampled_group *group)
{
    const uint64_t counted = group->told > group->reckoned ? group->told : group->reckoned;

    return counted > group->breaks ? counted : group->breaks;
}

void zeta_sampled_group_forget_losses(struct zeta_sampled_group *group)
{
    group->told = group->reckoned = group->lost_ns = group->breaks = 0;
    for (uint32_t i = 0; i < group->tile_count; i++)
        group->tiles[i].started = false;
}

bool zeta_sampled_group_reaches(const struct zeta_sampled_group *group, uint64_t instant_ns)
{
    if (group->wrap_ns)
        instant_ns %= group->wrap_ns;
    for (uint32_t i = 0; i < group->tile_count; i++) {
        const struct zeta_sampled_tile *tile = &group->tiles[i];

        if (!tile->started || elapsed(group, instant_ns, tile->end_ns) < 0)
            return false;
    }
    return true;
}
