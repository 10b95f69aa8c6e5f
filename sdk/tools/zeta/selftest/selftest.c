/* zeta selftest: whether what a device counts can be true, found out in a few seconds. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <zeta/c_locale.h>
#include <zeta/clock.h>

#include "sdk/tools/zeta/command_line/commands.h"
#include "sdk/tools/zeta/command_line/options.h"
#include "sdk/tools/zeta/inventory/inventory.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/text.h"
#include "sdk/tools/zeta/sampling/sampled_group.h"
#include "sdk/tools/zeta/sampling/sampler.h"
#include "sdk/tools/zeta/stat/stat.h"

/** What became of one check. */
enum verdict {
    CHECK_OK,
    CHECK_FAILED,
    CHECK_SKIPPED /**< the device does not offer it, or slept */
};

/** What is checked, and how the checks went. */
struct selftest {
    const char *device_name; /**< -d; null: all of the plugins */
    const char *plugin;      /**< id, or what an id begins with; null: any */
    uint64_t period_ns;      /**< between samples */
    uint64_t for_ns;         /**< how long each group is sampled */

    const struct zeta_device_entry *device; /**< that is checked now */
    uint32_t count, failed, skipped;        /**< checks of all devices */
};

/* Prints the line of a check and counts it. */
static void __attribute__((format(printf, 4, 5)))
print_check(struct selftest *test, enum verdict verdict, const char *name, const char *format, ...)
{
    static const char *const words[] = {"ok", "FAILED", "-"};
    va_list arguments;

    test->count++;
    test->failed += verdict == CHECK_FAILED;
    test->skipped += verdict == CHECK_SKIPPED;
    (void)printf("  %-7s %-22s ", words[verdict], name);
    va_start(arguments, format);
    (void)zeta_c_vfprintf(stdout, format, arguments);
    va_end(arguments);
    (void)putchar('\n');
    (void)fflush(stdout);
}

/* ---- the clock ---- */

/* Readings of the clock, and how far its rate may be from what the device states. */
enum { READINGS = 50, CLOCK_PAUSE_NS = 10000000, TOLERANCE_PPM = 500 };

/* A loaded host may interrupt a reading between the two clocks. A wrong rate stays wrong. */
enum { ATTEMPTS = 3 };

struct reading {
    uint64_t host_ns;
    uint64_t ticks;
};

/* Sums up what passes from reading to reading, so that the clock may wrap between two of them. */
static ze_result_t watch(const struct zeta_device_entry *device, double *out_host_ns,
                         double *out_ticks, bool *out_goes_back)
{
    const struct timespec pause = {.tv_nsec = CLOCK_PAUSE_NS};
    const uint32_t bits = device->properties.timestampValidBits;
    const uint64_t mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    struct reading first = {0};
    struct reading last = {0};
    uint64_t ticks = 0;

    *out_goes_back = false;
    for (int i = 0; i < READINGS; i++) {
        struct reading now;
        ze_result_t result = zeDeviceGetGlobalTimestamps(device->device, &now.host_ns, &now.ticks);

        if (result != ZE_RESULT_SUCCESS)
            return result;
        if (i == 0)
            first = now;
        else
            ticks += (now.ticks - last.ticks) & mask;
        *out_goes_back = *out_goes_back || (i > 0 && ((now.ticks - last.ticks) & mask) > mask / 2);
        last = now;
        (void)nanosleep(&pause, NULL);
    }
    *out_host_ns = (double)(last.host_ns - first.host_ns);
    *out_ticks = (double)ticks;
    return ZE_RESULT_SUCCESS;
}

/* The clock of the device never goes back and runs at its stated rate, by the host's. */
static void check_clock(struct selftest *test)
{
    /* In properties of version 1.2 the timer's resolution is in ticks per second. */
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
    double hz = 0;
    double ppm = 0;
    bool goes_back = false;
    bool is_right = false;
    ze_result_t result = zeDeviceGetProperties(test->device->device, &properties);

    for (int i = 0; i < ATTEMPTS && result == ZE_RESULT_SUCCESS && !goes_back && !is_right; i++) {
        double host_ns = 0;
        double ticks = 0;

        result = watch(test->device, &host_ns, &ticks, &goes_back);
        hz = ticks / host_ns * 1e9;
        ppm = (hz / (double)properties.timerResolution - 1) * 1e6;
        is_right = !goes_back && fabs(ppm) <= TOLERANCE_PPM;
    }
    if (result != ZE_RESULT_SUCCESS) {
        (void)zeta_print_refusal(result, "cannot read the clock of %s",
                                 test->device->properties.name);
        print_check(test, CHECK_FAILED, "clock", "cannot read it, see above");
        return;
    }
    if (goes_back) {
        print_check(test, CHECK_FAILED, "clock",
                    "it goes back: the GPU was reset, or the clock wraps at fewer than %u bits",
                    properties.timestampValidBits);
        return;
    }
    print_check(test, is_right ? CHECK_OK : CHECK_FAILED, "clock",
                "should run at %.4f MHz, runs at %.4f MHz by the host's clock (%+.0f ppm)",
                (double)properties.timerResolution / 1e6, hz / 1e6, ppm);
}

/* The time that a query encloses, and how long its result may take. */
#define ENCLOSED_NS UINT64_C(100000000)
#define QUERY_PATIENCE_NS UINT64_C(20000000000)

/* GpuTime of the first row; every tile has a row of its own. */
static ze_result_t get_time(zet_metric_query_handle_t query, const struct zeta_device_entry *device,
                            const struct zeta_group_entry *group, double *out_ns)
{
    uint32_t tiles = device->tile_count ? device->tile_count : 1;
    uint32_t count = tiles * group->properties.metricCount;
    uint32_t *per_tile = zeta_allocate(tiles, sizeof(*per_tile));
    zet_typed_value_t *values = zeta_allocate(count, sizeof(*values));
    uint8_t *raw = NULL;
    size_t bytes = 0;
    ze_result_t result = zetMetricQueryGetData(query, &bytes, NULL);

    if (result == ZE_RESULT_SUCCESS) {
        raw = zeta_allocate(bytes, 1);
        result = zetMetricQueryGetData(query, &bytes, raw);
    }
    if (result == ZE_RESULT_SUCCESS)
        result = zetMetricGroupCalculateMultipleMetricValuesExp(
            group->group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, bytes, raw, &tiles,
            &count, per_tile, values);
    for (uint32_t i = 0; result == ZE_RESULT_SUCCESS && i < group->properties.metricCount; i++) {
        if (strcmp(group->metrics[i].properties.name, "GpuTime") == 0)
            *out_ns = zeta_number_as_double(zeta_number_from_value(&values[i]));
    }
    free(per_tile);
    free(values);
    free(raw);
    return result;
}

/*
 * Queries a group around ENCLOSED_NS.
 *
 * @out_longest_ns  from before its begin to behind its end, the longest that it can count
 * @out_time_ns     that it measured
 */
static ze_result_t query_time(const struct zeta_device_entry *device,
                              const struct zeta_group_entry *group, uint64_t *out_longest_ns,
                              double *out_time_ns)
{
    const ze_context_desc_t context_description = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const zet_metric_query_pool_desc_t pool_description = {
        .stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
        .type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE,
        .count = 1};
    const ze_command_queue_desc_t queue_description = {
        .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    const ze_event_pool_desc_t events_description = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                                     .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                                     .count = 1};
    const ze_event_desc_t event_description = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
                                               .wait = ZE_EVENT_SCOPE_FLAG_HOST};
    const struct timespec enclosed = {.tv_nsec = ENCLOSED_NS};
    ze_device_handle_t handle = device->device;
    zet_metric_group_handle_t group_handle = group->group;
    ze_context_handle_t context = NULL;
    zet_metric_query_pool_handle_t pool = NULL;
    zet_metric_query_handle_t query = NULL;
    ze_command_list_handle_t list = NULL;
    ze_event_pool_handle_t events = NULL;
    ze_event_handle_t event = NULL;
    uint64_t begin_ns;
    ze_result_t result = zeContextCreate(device->driver, &context_description, &context);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if ((result = zetContextActivateMetricGroups(context, handle, 1, &group_handle)) !=
            ZE_RESULT_SUCCESS ||
        (result = zetMetricQueryPoolCreate(context, handle, group_handle, &pool_description,
                                           &pool)) != ZE_RESULT_SUCCESS ||
        (result = zetMetricQueryCreate(pool, 0, &query)) != ZE_RESULT_SUCCESS ||
        (result = zeCommandListCreateImmediate(context, handle, &queue_description, &list)) !=
            ZE_RESULT_SUCCESS ||
        (result = zeEventPoolCreate(context, &events_description, 1, &handle, &events)) !=
            ZE_RESULT_SUCCESS ||
        (result = zeEventCreate(events, &event_description, &event)) != ZE_RESULT_SUCCESS)
        goto end;
    begin_ns = zeta_monotonic_ns();
    result = zetCommandListAppendMetricQueryBegin(list, query);
    (void)nanosleep(&enclosed, NULL);
    if (result == ZE_RESULT_SUCCESS)
        result = zetCommandListAppendMetricQueryEnd(list, query, event, 0, NULL);
    if (result == ZE_RESULT_SUCCESS)
        result = zeEventHostSynchronize(event, QUERY_PATIENCE_NS);
    *out_longest_ns = zeta_monotonic_ns() - begin_ns;
    if (result == ZE_RESULT_SUCCESS)
        result = get_time(query, device, group, out_time_ns);
end:
    if (event)
        (void)zeEventDestroy(event);
    if (events)
        (void)zeEventPoolDestroy(events);
    if (list)
        (void)zeCommandListDestroy(list);
    if (query)
        (void)zetMetricQueryDestroy(query);
    if (pool)
        (void)zetMetricQueryPoolDestroy(pool);
    (void)zetContextActivateMetricGroups(context, handle, 0, NULL);
    (void)zeContextDestroy(context);
    return result;
}

/* A query around a known time gives that time. group: event-based, with its metrics. */
static void check_query(struct selftest *test, const struct zeta_group_entry *group)
{
    uint64_t longest_ns = 0;
    double time_ns = 0;
    const ze_result_t result = query_time(test->device, group, &longest_ns, &time_ns);

    if (result != ZE_RESULT_SUCCESS) {
        (void)zeta_print_refusal(result, "cannot query %s", group->properties.name);
        print_check(test, CHECK_FAILED, "query", "cannot query %s, see above",
                    group->properties.name);
    } else if (time_ns <= 0) {
        print_check(test, CHECK_SKIPPED, "query",
                    "the GPU sleeps: no report came between begin and end; run something on it");
    } else if (time_ns < (double)ENCLOSED_NS / 100) {
        print_check(test, CHECK_SKIPPED, "query",
                    "a query of %s around %.0f ms without work measured %.3f ms: it may count the "
                    "time of work alone",
                    group->properties.name, (double)ENCLOSED_NS / 1e6, time_ns / 1e6);
    } else {
        /* A loaded host sleeps longer than it wants to, never less. */
        const bool is_right =
            time_ns >= (double)ENCLOSED_NS * 0.95 && time_ns <= (double)longest_ns * 1.05;

        print_check(test, is_right ? CHECK_OK : CHECK_FAILED, "query",
                    "a query of %s around %.0f ms measured %.3f ms", group->properties.name,
                    (double)ENCLOSED_NS / 1e6, time_ns / 1e6);
    }
}

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
 * the unit. Counter9 counts begins of queries of one context, of which there are none here.
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
    const int32_t index = zeta_group_find_metric(group->entry, name);

    return index >= 0 ? &group->accounts[index] : NULL;
}

static double value_of(const struct zeta_account *account)
{
    return account ? zeta_number_as_double(account->value) : 0;
}

/* ---- single checks -------------------------------------------------------------------------- */

/* Rows cover the time, as many as the period makes; those of each tile do. */
static void check_rows(struct selftest *test, const struct zeta_sampled_group *group,
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
        print_check(
            test, CHECK_SKIPPED, name,
            "no report came in %.1f s: the GPU sleeps, or counts nothing; run something on it",
            patience / 1e9);
        return;
    }
    print_check(test, is_covered && zeta_sampled_group_lost(group) == 0 ? CHECK_OK : CHECK_FAILED,
                name, "%" PRIu64 " rows of %s cover %.4f s of %.1f s, %s", group->samples, period,
                covered / 1e9, wanted / 1e9, losses);
}

static void check_frequency(struct selftest *test, const struct zeta_sampled_group *group,
                            const char *name)
{
    const struct zeta_account *clocks = find_account(group, "GpuCoreClocks");
    const double time_ns = value_of(find_account(group, "GpuTime"));
    const double limit = test->device->properties.coreClockRate;
    const double mhz = time_ns > 0 ? value_of(clocks) * 1000 / time_ns : 0;

    if (!clocks || group->samples == 0)
        return;
    if (value_of(clocks) <= 0) {
        print_check(test, CHECK_SKIPPED, name,
                    "the core clock did not run because nothing ran; run something on it");
        return;
    }
    if (limit <= 0) {
        print_check(test, CHECK_SKIPPED, name,
                    "the core clock was %.0f MHz on average; its maximum is unknown", mhz);
        return;
    }
    print_check(test, mhz <= limit * 1.02 ? mhz >= 1 ? CHECK_OK : CHECK_SKIPPED : CHECK_FAILED,
                name, "the core clock was %.*f MHz on average, its maximum is %.0f MHz",
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

static void check_proportions(struct selftest *test, const struct zeta_sampled_group *group,
                              const char *name)
{
    uint32_t checked = 0;

    if (group->samples == 0)
        return;
    for (size_t i = 0; i < sizeof(proportions) / sizeof(proportions[0]); i++) {
        const struct proportion *wanted = &proportions[i];
        const struct zeta_account *account = find_account(group, wanted->metric);
        const double whole = whole_of(group, wanted);
        const double part = value_of(account) / whole;

        if (!account || whole <= 0)
            continue;
        checked++;
        if (fabs(part - wanted->factor) > tolerance * fmax(1, wanted->factor)) {
            print_check(test, CHECK_FAILED, name, "%s is %.6g%s%s and should be %.6g",
                        wanted->metric, part, wanted->of ? " of " : "",
                        wanted->of ? wanted->of : "", wanted->factor);
            return;
        }
    }
    if (checked > 0)
        print_check(test, CHECK_OK, name, "%u counters have the expected proportions", checked);
    else
        print_check(test, CHECK_SKIPPED, name, "no known counter moved");
}

/* ---- sampling ------------------------------------------------------------------------------- */

enum until { FIRST_ROW, END_TICKS, TIME_IS_OVER };

/* Reads until something holds of the streams, for that long at most. */
static int read_until(struct zeta_sampler *sampler, enum until until, uint64_t end_ticks,
                      uint64_t longest_ns)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    const uint64_t begin_ns = zeta_monotonic_ns();

    while (zeta_monotonic_ns() - begin_ns < longest_ns) {
        if ((until == FIRST_ROW && zeta_sampler_has_started(sampler)) ||
            (until == END_TICKS && zeta_sampler_reaches(sampler, end_ticks, 0)))
            break;
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
static int sample(const struct selftest *test, struct zeta_sampler *sampler)
{
    uint64_t end_ticks = 0;

    if (read_until(sampler, FIRST_ROW, 0, test->for_ns + PATIENCE_NS) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    if (zeta_sampler_has_started(sampler) &&
        (read_until(sampler, TIME_IS_OVER, 0, test->for_ns) != ZETA_EXIT_OK ||
         zeta_sampler_now(sampler, &end_ticks) != ZETA_EXIT_OK ||
         read_until(sampler, END_TICKS, end_ticks, PATIENCE_NS) != ZETA_EXIT_OK))
        return ZETA_EXIT_FAILED;
    zeta_sampler_stop(sampler);
    return zeta_sampler_settle(sampler);
}

/*
 * Rows of a time-based group come as often as was asked for, cover the time and none is lost, the
 * core clock is one that the device can have, and the counters of TestOa have their proportions.
 */
static void check_stream(struct selftest *test, struct zeta_group_entry *entry)
{
    struct zeta_sampler sampler;
    char name[ZET_MAX_METRIC_GROUP_NAME + 16];
    const uint64_t begin_ns = zeta_monotonic_ns();
    const struct zeta_sampler_desc desc = {
        .device = test->device, .groups = &entry, .group_count = 1, .period_ns = test->period_ns};
    int status = zeta_sampler_open(&sampler, &desc);

    if (status == ZETA_EXIT_OK)
        status = sample(test, &sampler);
    if (status != ZETA_EXIT_OK) {
        print_check(test, CHECK_FAILED, entry->properties.name, "cannot sample it, see above");
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

/* ---- one device ----------------------------------------------------------------------------- */

/* Whether a group is the one of its domain to be sampled: TestOa, else the first. */
static bool is_chosen(const struct zeta_group_list *groups, const struct zeta_group_entry *group)
{
    const struct zeta_group_entry *chosen = NULL;

    for (uint32_t i = 0; i < groups->count; i++) {
        const struct zeta_group_entry *other = &groups->entries[i];

        if (other->properties.domain != group->properties.domain ||
            other->properties.samplingType != ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED)
            continue;
        if (!chosen || strcmp(other->properties.name, "TestOa") == 0)
            chosen = other;
    }
    return chosen == group;
}

static int run_checks(struct selftest *test, const struct zeta_group_list *groups)
{
    const zet_metric_group_sampling_type_flags_t event =
        ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED;
    /* TestOa, else the first that can be. */
    struct zeta_group_entry *queried = zeta_group_list_find(groups, "TestOa", event);

    check_clock(test);
    for (uint32_t i = 0; i < groups->count; i++) {
        struct zeta_group_entry *group = &groups->entries[i];

        if (!queried && group->properties.samplingType == event)
            queried = group;
        if (!is_chosen(groups, group))
            continue;
        if (zeta_group_entry_load_metrics(group) != ZETA_EXIT_OK)
            return ZETA_EXIT_FAILED;
        /* Samples of threads and events begin with work, of which there may be none. */
        if (zeta_group_find_metric(group, "GpuTime") >= 0)
            check_stream(test, group);
    }
    if (!queried) {
        print_check(test, CHECK_SKIPPED, "query", "not offered; why: zeta groups -v");
        return ZETA_EXIT_OK;
    }
    if (zeta_group_entry_load_metrics(queried) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    check_query(test, queried);
    return ZETA_EXIT_OK;
}

static int test_device(struct selftest *test, const struct zeta_device_entry *device)
{
    struct zeta_group_list groups = {0};
    int status = zeta_group_list_init(device->device, &groups);

    test->device = device;
    (void)printf("%s (%s, %s), plugin %s\n", device->properties.name, device->info.device_class,
                 device->info.id, device->info.stream);
    if (status == ZETA_EXIT_OK && groups.count == 0)
        print_check(test, CHECK_FAILED, "groups", "it has no metric groups%s%s",
                    groups.note[0] ? ": " : "; 'zeta doctor' shows why", groups.note);
    else if (status == ZETA_EXIT_OK)
        status = run_checks(test, &groups);
    zeta_group_list_finish(&groups);
    return status;
}

/* ---- the command ---------------------------------------------------------------------------- */

/* Whether an id is that of the plugin to test: "intel" is intel-gen9 too. */
static bool is_meant(const struct selftest *test, const char *id)
{
    const size_t length = test->plugin ? strlen(test->plugin) : 0;

    return length == 0 ||
           (strncmp(id, test->plugin, length) == 0 && (id[length] == '\0' || id[length] == '-'));
}

/* Says that there is nothing to test, and why, if the plugin has a reason that is not plain. */
static int explain_none(const struct selftest *test)
{
    struct zeta_plugin_list plugins;

    (void)zeta_print_failure("plugin '%s' has no device that can be measured; 'zeta plugin list' "
                             "shows the plugins",
                             test->plugin ? test->plugin : "any");
    if (zeta_plugin_list_init(&plugins) == ZETA_EXIT_OK) {
        for (uint32_t i = 0; test->plugin && i < plugins.count; i++) {
            const struct zeta_plugin_info *plugin = &plugins.plugins[i];

            if (is_meant(test, plugin->id) && plugin->reason[0] && !zeta_plugin_is_absent(plugin))
                zeta_print_note("%s: %s: %s", plugin->id, zeta_plugin_state_name(plugin->state),
                                plugin->reason);
        }
    }
    zeta_plugin_list_finish(&plugins);
    return ZETA_EXIT_FAILED;
}

static int test_devices(struct selftest *test, struct zeta_device_list *devices)
{
    const struct zeta_device_entry *only = NULL;
    uint32_t tested = 0;

    if (test->device_name &&
        zeta_device_list_find(devices, test->device_name, &only) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    for (uint32_t i = 0; i < (only ? 1 : devices->count); i++) {
        const struct zeta_device_entry *device = only ? only : &devices->entries[i];

        if (!is_meant(test, device->info.stream))
            continue;
        if (test_device(test, device) != ZETA_EXIT_OK)
            return ZETA_EXIT_FAILED;
        tested++;
    }
    if (tested == 0)
        return explain_none(test);
    (void)printf("\n%u device%s, %u checks: %u failed, %u not possible\n", tested,
                 tested == 1 ? "" : "s", test->count, test->failed, test->skipped);
    return test->failed > 0 ? ZETA_EXIT_FAILED : ZETA_EXIT_OK;
}

int zeta_selftest_command(int count, char **arguments)
{
    struct selftest test = {.period_ns = 1000000, .for_ns = 1000000000};
    const struct zeta_option table[] = {
        {NULL, 'd', ZETA_OPTION_TEXT, (void *)&test.device_name, NULL},
        {NULL, 'p', ZETA_OPTION_DURATION, &test.period_ns, NULL},
        {"for", 0, ZETA_OPTION_DURATION, &test.for_ns, NULL},
    };
    struct zeta_device_list devices = {0};
    int first = 0;
    int status =
        zeta_options_read(table, sizeof(table) / sizeof(table[0]), false, count, arguments, &first);

    if (status != ZETA_EXIT_OK)
        return status;
    if (first < count)
        test.plugin = arguments[first++];
    if (first < count)
        return zeta_print_usage_error("selftest takes one plugin; leave out '%s'",
                                      arguments[first]);
    status = zeta_device_list_init(&devices);
    if (status == ZETA_EXIT_OK)
        status =
            devices.count > 0 ? test_devices(&test, &devices) : zeta_device_list_explain_none();
    zeta_device_list_finish(&devices);
    return status;
}
