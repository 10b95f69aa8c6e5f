#include "sdk/tools/zeta/selftest/selftest.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/number.h"
#include "sdk/tools/zeta/sampling/losses.h"
#include "sdk/tools/zeta/sampling/sampler.h"
#include "sdk/tools/zeta/stat/report.h"
#include <zeta/clock.h>

/* How often the streams are read, and how long a row may be under way. */
enum { PAUSE_NS = 10000000, PATIENCE_NS = 1000000000 };

/* Part of a count that may be wrong: clock domains meet in these counters. */
static const double tolerance = 0.005;

/* In place of a metric: the number of rows, where each of them is one period. */
static const char rows[] = "rows";

/*
 * What the counters of TestOa are driven with. On most platforms they count a clock, the factors
 * are those that the set's public description names; on later ones, events that come at every
 * clock or at every other one, as percentages of the core clocks. Counter8 counts the periods of
 * the unit. Counter9 counts begins of queries of one context, which nobody makes here.
 */
static const struct proportion {
    const char *metric;
    const char *of; /* the metric that it is a part of, or rows; NULL: the value itself */
    double factor;
} proportions[] = {
    {"Counter0", "Counter1", 0},       {"Counter2", "Counter1", 1},
    {"Counter3", "Counter1", 1.0 / 2}, {"Counter4", "Counter1", 1.0 / 3},
    {"Counter5", "Counter1", 1.0 / 3}, {"Counter6", "Counter1", 1.0 / 6},
    {"Counter7", "Counter1", 2.0 / 3}, {"Counter8", rows, 1},
    {"TEST_EVENT1", NULL, 100},        {"TEST_EVENT2", NULL, 50},
};

static const struct zeta_account *find_account(const struct zeta_sampled_group *group,
                                               const char *name)
{
    for (uint32_t i = 0; i < group->entry->properties.metricCount; i++) {
        if (strcmp(group->entry->metrics[i].properties.name, name) == 0)
            return &group->accounts[i];
    }
    return NULL;
}

static double value_of(const struct zeta_account *account)
{
    return account ? zeta_number_as_double(account->value) : 0;
}

/* ---- single checks -------------------------------------------------------------------------- */

/* Rows cover the time, as many as the period makes; those of each tile do. */
static void check_rows(struct zeta_selftest *test, const struct zeta_sampled_group *group,
                       const char *name, uint64_t open_ns)
{
    char period[ZETA_DURATION_TEXT_BYTES];
    const double covered = value_of(find_account(group, "GpuTime")) / group->tile_count;
    const double wanted = (double)test->for_ns;
    const double patience = (double)(test->for_ns + PATIENCE_NS);
    /* A loaded host samples longer than it wants to, never less. */
    const bool is_covered = covered >= wanted * 0.9 && covered <= (double)open_ns * 1.01;
    char losses[ZETA_LOSSES_BYTES];

    zeta_duration_format(group->period_ns, period);
    zeta_losses_format(group, false, losses);
    if (group->samples == 0) {
        zeta_selftest_print(test, ZETA_SELFTEST_SKIPPED, name,
                            "no report came in %.1f s: the GPU sleeps, or nothing is counted; run "
                            "something on it meanwhile",
                            patience / 1e9);
        return;
    }
    zeta_selftest_print(test,
                        is_covered && zeta_sampled_group_lost(group) == 0 ? ZETA_SELFTEST_OK
                                                                          : ZETA_SELFTEST_FAILED,
                        name, "%" PRIu64 " rows of %s say %.4f s of %.1f s, %s", group->samples,
                        period, covered / 1e9, wanted / 1e9, losses);
}

static void check_frequency(struct zeta_selftest *test, const struct zeta_sampled_group *group,
                            const char *name)
{
    const struct zeta_account *clocks = find_account(group, "GpuCoreClocks");
    const double time_ns = value_of(find_account(group, "GpuTime"));
    const double limit = test->device->properties.coreClockRate;
    const double mhz = time_ns > 0 ? value_of(clocks) * 1000 / time_ns : 0;

    if (!clocks || group->samples == 0)
        return;
    if (value_of(clocks) <= 0) {
        zeta_selftest_print(test, ZETA_SELFTEST_SKIPPED, name,
                            "the core clock stood still because nothing ran; run something on it "
                            "meanwhile");
        return;
    }
    if (limit <= 0) {
        zeta_selftest_print(test, ZETA_SELFTEST_SKIPPED, name,
                            "the core clock was %.0f MHz on average; the kernel does not tell its "
                            "highest",
                            mhz);
        return;
    }
    zeta_selftest_print(test,
                        mhz <= limit * 1.02 ? mhz >= 1 ? ZETA_SELFTEST_OK : ZETA_SELFTEST_SKIPPED
                                            : ZETA_SELFTEST_FAILED,
                        name, "the core clock was %.*f MHz on average, and its highest is %.0f MHz",
                        mhz < 1 ? 1 : 0, mhz, limit);
}

/*
 * What a counter is a part of; 0: unknown. A GPU that slept makes rows of several
 * periods, and one that changed contexts several rows of a period.
 */
static double whole_of(const struct zeta_sampled_group *group, const struct proportion *wanted)
{
    const double time_ns = value_of(find_account(group, "GpuTime"));
    const double periods_ns = (double)group->samples * (double)group->period_ns;

    if (!wanted->of)
        return 1;
    if (wanted->of != rows)
        return value_of(find_account(group, wanted->of));
    return fabs(periods_ns - time_ns) <= tolerance * time_ns ? (double)group->samples : 0;
}

/* The first counter that is not what it has to be; NULL if all are right. */
static const struct proportion *find_wrong(const struct zeta_sampled_group *group,
                                           uint32_t *out_checked)
{
    *out_checked = 0;
    for (size_t i = 0; i < sizeof(proportions) / sizeof(proportions[0]); i++) {
        const struct proportion *wanted = &proportions[i];
        const struct zeta_account *account = find_account(group, wanted->metric);
        const double whole = whole_of(group, wanted);

        if (!account || whole <= 0)
            continue;
        (*out_checked)++;
        if (fabs(value_of(account) / whole - wanted->factor) > tolerance * fmax(1, wanted->factor))
            return wanted;
    }
    return NULL;
}

static void check_proportions(struct zeta_selftest *test, const struct zeta_sampled_group *group,
                              const char *name)
{
    uint32_t checked = 0;
    const struct proportion *wrong = find_wrong(group, &checked);

    if (group->samples == 0)
        return;
    if (wrong)
        zeta_selftest_print(test, ZETA_SELFTEST_FAILED, name, "%s is %.6g%s%s and has to be %.6g",
                            wrong->metric,
                            value_of(find_account(group, wrong->metric)) / whole_of(group, wrong),
                            wrong->of ? " of " : "", wrong->of ? wrong->of : "", wrong->factor);
    else if (checked > 0)
        zeta_selftest_print(test, ZETA_SELFTEST_OK, name,
                            "%u counters have the proportions that they are made for", checked);
    else
        zeta_selftest_print(test, ZETA_SELFTEST_SKIPPED, name,
                            "none of its counters moved, or none is known");
}

/* ---- sampling ------------------------------------------------------------------------------- */

static bool has_started(const struct zeta_sampler *sampler, uint64_t unused)
{
    (void)unused;
    return zeta_sampler_has_started(sampler);
}

static bool never(const struct zeta_sampler *sampler, uint64_t unused)
{
    (void)sampler;
    (void)unused;
    return false;
}

/* Reads until a condition of the streams holds, for that long at most. */
static int read_until(struct zeta_sampler *sampler,
                      bool (*holds)(const struct zeta_sampler *, uint64_t), uint64_t argument,
                      uint64_t longest_ns)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    const uint64_t begin_ns = zeta_monotonic_ns();

    while (!holds(sampler, argument) && zeta_monotonic_ns() - begin_ns < longest_ns) {
        (void)nanosleep(&pause, NULL);
        if (zeta_sampler_read(sampler) != ZETA_EXIT_OK)
            return ZETA_EXIT_FAILED;
    }
    return ZETA_EXIT_OK;
}

/*
 * The first row, a while behind it, and what had not come by then: on a loaded host rows come late,
 * but they come.
 */
static int sample(const struct zeta_selftest *test, struct zeta_sampler *sampler)
{
    uint64_t end_ticks = 0;
    int status = read_until(sampler, has_started, 0, test->for_ns + PATIENCE_NS);

    if (status == ZETA_EXIT_OK && zeta_sampler_has_started(sampler)) {
        status = read_until(sampler, never, 0, test->for_ns);
        if (status == ZETA_EXIT_OK)
            status = zeta_sampler_now(sampler, &end_ticks);
        if (status == ZETA_EXIT_OK)
            status = read_until(sampler, zeta_sampler_reaches, end_ticks, PATIENCE_NS);
    }
    if (status != ZETA_EXIT_OK)
        return status;
    zeta_sampler_stop(sampler);
    return zeta_sampler_settle(sampler);
}

void zeta_selftest_stream(struct zeta_selftest *test, struct zeta_group_entry *entry)
{
    struct zeta_sampler sampler;
    char name[ZET_MAX_METRIC_GROUP_NAME + 16];
    const uint64_t begin_ns = zeta_monotonic_ns();
    int status =
        zeta_sampler_open(&sampler, test->device, &entry, 1, test->period_ns, NULL, 0, NULL);

    if (status == ZETA_EXIT_OK)
        status = sample(test, &sampler);
    if (status != ZETA_EXIT_OK) {
        zeta_selftest_print(test, ZETA_SELFTEST_FAILED, entry->properties.name,
                            "cannot be sampled, see above");
    } else {
        const struct zeta_sampled_group *group = &sampler.streams[0].group;

        check_rows(test, group, entry->properties.name, zeta_monotonic_ns() - begin_ns);
        (void)snprintf(name, sizeof(name), "%s: clock", entry->properties.name);
        check_frequency(test, group, name);
        if (strcmp(entry->properties.name, "TestOa") == 0)
            check_proportions(test, group, "TestOa: counters");
    }
    zeta_sampler_close(&sampler);
}
