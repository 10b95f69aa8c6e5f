#include "sdk/tools/zeta/selftest/selftest.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <zeta/c_locale.h>

#include "sdk/tools/zeta/command_line/commands.h"
#include "sdk/tools/zeta/command_line/options.h"
#include "sdk/tools/zeta/output/message.h"

enum { DEFAULT_PERIOD_NS = 1000000, DEFAULT_FOR_NS = 1000000000 };

/* The command line. */
struct options {
    const char *device; /* null: all of the plugins */
    const char *plugin; /* id, or what an id begins with; null: any */
    uint64_t period_ns;
    uint64_t for_ns;
};

void zeta_selftest_print(struct zeta_selftest *test, enum zeta_selftest_verdict verdict,
                         const char *name, const char *format, ...)
{
    static const char *const words[] = {"ok", "FAILED", "-"};
    va_list arguments;

    test->count++;
    test->failed += verdict == ZETA_SELFTEST_FAILED;
    test->skipped += verdict == ZETA_SELFTEST_SKIPPED;
    (void)printf("  %-7s %-22s ", words[verdict], name);
    va_start(arguments, format);
    (void)zeta_c_vfprintf(stdout, format, arguments);
    va_end(arguments);
    (void)putchar('\n');
    (void)fflush(stdout);
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

static bool has_metric(const struct zeta_group_entry *group, const char *name)
{
    for (uint32_t i = 0; i < group->properties.metricCount; i++) {
        if (strcmp(group->metrics[i].properties.name, name) == 0)
            return true;
    }
    return false;
}

/* The group that is queried: TestOa, else the first that can be. */
static struct zeta_group_entry *find_queried(const struct zeta_group_list *groups)
{
    const zet_metric_group_sampling_type_flags_t event =
        ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED;
    struct zeta_group_entry *found = zeta_group_list_find(groups, "TestOa", event);

    for (uint32_t i = 0; !found && i < groups->count; i++) {
        if (groups->entries[i].properties.samplingType == event)
            found = &groups->entries[i];
    }
    return found;
}

static int run_checks(struct zeta_selftest *test)
{
    struct zeta_group_entry *queried = find_queried(test->groups);

    zeta_selftest_clock(test);
    for (uint32_t i = 0; i < test->groups->count; i++) {
        struct zeta_group_entry *group = &test->groups->entries[i];

        if (!is_chosen(test->groups, group))
            continue;
        if (zeta_group_entry_load_metrics(group) != ZETA_EXIT_OK)
            return ZETA_EXIT_FAILED;
        /* Samples of threads and events begin with work, of which there may be none. */
        if (has_metric(group, "GpuTime"))
            zeta_selftest_stream(test, group);
    }
    if (!queried) {
        zeta_selftest_print(test, ZETA_SELFTEST_SKIPPED, "query",
                            "not offered; why: zeta groups -v");
        return ZETA_EXIT_OK;
    }
    if (zeta_group_entry_load_metrics(queried) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    zeta_selftest_query(test, queried);
    return ZETA_EXIT_OK;
}

static int test_device(const struct zeta_device_entry *device, const struct options *options,
                       struct zeta_selftest *out_test)
{
    struct zeta_group_list groups = {0};
    int status = zeta_group_list_init(device->device, &groups);

    *out_test = (struct zeta_selftest){.device = device,
                                       .groups = &groups,
                                       .period_ns = options->period_ns,
                                       .for_ns = options->for_ns};
    (void)printf("%s (%s, %s), plugin %s\n", device->properties.name, device->info.device_class,
                 device->info.id, device->info.stream);
    if (status == ZETA_EXIT_OK && groups.count == 0)
        zeta_selftest_print(out_test, ZETA_SELFTEST_FAILED, "groups",
                            "it has no metric groups; 'zeta doctor' shows why");
    else if (status == ZETA_EXIT_OK)
        status = run_checks(out_test);
    zeta_group_list_finish(&groups);
    out_test->groups = NULL;
    return status;
}

/* ---- the command ---------------------------------------------------------------------------- */

/* "intel" is intel-gen9 too. */
static bool is_wanted(const struct options *options, const struct zeta_device_entry *device)
{
    const char *plugin = device->info.stream;
    const size_t length = options->plugin ? strlen(options->plugin) : 0;

    if (!options->plugin)
        return true;
    return strncmp(plugin, options->plugin, length) == 0 &&
           (plugin[length] == '\0' || plugin[length] == '-');
}

static int test_devices(const struct options *options, struct zeta_device_list *devices)
{
    const struct zeta_device_entry *only = NULL;
    struct zeta_selftest all = {0};
    uint32_t tested = 0;
    int status = ZETA_EXIT_OK;

    if (options->device)
        status = zeta_device_list_find(devices, options->device, &only);
    for (uint32_t i = 0; i < (only ? 1 : devices->count) && status == ZETA_EXIT_OK; i++) {
        const struct zeta_device_entry *device = only ? only : &devices->entries[i];
        struct zeta_selftest test;

        if (!is_wanted(options, device))
            continue;
        status = test_device(device, options, &test);
        all.count += test.count;
        all.failed += test.failed;
        all.skipped += test.skipped;
        tested++;
    }
    if (status != ZETA_EXIT_OK)
        return status;
    if (tested == 0) {
        (void)zeta_print_failure("there is no device of plugin '%s'; 'zeta plugin list' shows why",
                                 options->plugin ? options->plugin : "any");
        return ZETA_EXIT_FAILED;
    }
    (void)printf("\n%u device%s, %u checks: %u failed, %u not possible\n", tested,
                 tested == 1 ? "" : "s", all.count, all.failed, all.skipped);
    return all.failed > 0 ? ZETA_EXIT_FAILED : ZETA_EXIT_OK;
}

static int parse(int count, char **arguments, struct options *out_options)
{
    const struct zeta_option table[] = {
        {NULL, 'd', ZETA_OPTION_TEXT, (void *)&out_options->device, NULL},
        {NULL, 'p', ZETA_OPTION_DURATION, &out_options->period_ns, NULL},
        {"for", 0, ZETA_OPTION_DURATION, &out_options->for_ns, NULL},
    };
    int first = 0;
    int status;

    *out_options = (struct options){.period_ns = DEFAULT_PERIOD_NS, .for_ns = DEFAULT_FOR_NS};
    status =
        zeta_options_read(table, sizeof(table) / sizeof(table[0]), false, count, arguments, &first);
    if (status == ZETA_EXIT_OK && first < count)
        out_options->plugin = arguments[first++];
    if (status == ZETA_EXIT_OK && first < count)
        status =
            zeta_print_usage_error("selftest takes one plugin; leave out '%s'", arguments[first]);
    return status;
}

int zeta_selftest_command(int count, char **arguments)
{
    struct options options;
    struct zeta_device_list devices = {0};
    int status = parse(count, arguments, &options);

    if (status == ZETA_EXIT_OK)
        status = zeta_device_list_init(&devices);
    if (status == ZETA_EXIT_OK && devices.count == 0)
        status = zeta_device_list_explain_none();
    if (status == ZETA_EXIT_OK)
        status = test_devices(&options, &devices);
    zeta_device_list_finish(&devices);
    return status;
}
