#include "sdk/tools/zeta/stat/options.h"

#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta/command_line/options.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/profile/ip_profile.h"

#define DEFAULT_GROUP "ComputeBasic"

/* Periods of metrics, and of samples of threads: that of modelled time. */
#define DEFAULT_PERIOD_NS 1000000
#define DEFAULT_IP_PERIOD_NS 20000

static int add_group(struct zeta_stat_options *options, const char *name)
{
    if (name[0] == '\0')
        return zeta_print_usage_error(
            "-g has an empty name; separate group names with single commas");
    for (uint32_t i = 0; i < options->group_count; i++) {
        if (strcmp(options->groups[i], name) == 0)
            return zeta_print_usage_error("-g names %s twice; name each group once", name);
    }
    if (options->group_count == ZETA_STAT_MAX_GROUPS)
        return zeta_print_usage_error("-g names more than %d groups; sample them in several runs",
                                      ZETA_STAT_MAX_GROUPS);
    options->groups[options->group_count++] = name;
    return ZETA_EXIT_OK;
}

static int split_groups(void *target, char *text)
{
    struct zeta_stat_options *options = target;
    char *rest = NULL;
    int status = ZETA_EXIT_OK;

    if (options->group_text)
        return zeta_print_usage_error(
            "-g is given twice; name all groups in one, separated by commas");
    options->group_text = strdup(text);
    if (!options->group_text)
        return zeta_print_failure("no memory for the names of the groups");
    rest = options->group_text;
    while (rest && status == ZETA_EXIT_OK) {
        char *name = strsep(&rest, ",");

        status = add_group(options, name);
    }
    return status;
}

static int set_output(void *target, char *path)
{
    struct zeta_stat_options *options = target;
    const char *suffix = strrchr(path, '.');

    options->output_path = path;
    options->output_is_csv = suffix && strcmp(suffix, ".csv") == 0;
    if (options->output_is_csv || (suffix && strcmp(suffix, ".json") == 0))
        return ZETA_EXIT_OK;
    return zeta_print_usage_error(
        "-o %s: the format follows from the name, which must end in .csv or "
        ".json",
        path);
}

static int set_json(void *target, char *path)
{
    struct zeta_stat_options *options = target;

    options->json_path = path;
    if (strcmp(path, "-") == 0)
        return zeta_print_usage_error(
            "--json=- of stat: the standard output is the program's; name a "
            "file");
    if (strcmp(path, "--") == 0)
        return zeta_print_usage_error("--json of stat needs a file: --json=FILE");
    return ZETA_EXIT_OK;
}

size_t zeta_sampling_options(struct zeta_stat_options *options,
                             struct zeta_option out_table[ZETA_SAMPLING_OPTIONS])
{
    const struct zeta_option table[ZETA_SAMPLING_OPTIONS] = {
        {"device", 'd', ZETA_OPTION_TEXT, (void *)&options->device, NULL},
        {"group", 'g', ZETA_OPTION_OTHER, options, split_groups},
        {"period", 'p', ZETA_OPTION_DURATION, &options->period_ns, NULL},
        {"all", 'a', ZETA_OPTION_FLAG, &options->is_system_wide, NULL},
        {"shared", 0, ZETA_OPTION_FLAG, &options->is_shared, NULL},
        {"for", 0, ZETA_OPTION_DURATION, &options->for_ns, NULL},
    };

    memcpy(out_table, table, sizeof(table));
    return ZETA_SAMPLING_OPTIONS;
}

/* Samples of instruction pointers are shown as a profile; their sums would mean nothing. */
static int check_profile(const struct zeta_stat_options *options)
{
    for (uint32_t i = 0; i < options->group_count; i++) {
        if (strcmp(options->groups[i], ZETA_IP_GROUP) == 0)
            return zeta_print_usage_error("-g " ZETA_IP_GROUP
                                          ": --ip samples this group and shows it as "
                                          "a profile");
    }
    if (options->is_profile && options->output_is_csv && options->group_count > 0)
        return zeta_print_usage_error(
            "-o %s: with --ip a table of comma-separated values holds the "
            "profile, and there is no room for -g; name a .json file",
            options->output_path);
    return ZETA_EXIT_OK;
}

/* Every pass has an end, and is of counters. */
static int check_passes(const struct zeta_stat_options *options)
{
    if (options->has_passes && options->is_profile)
        return zeta_print_usage_error(
            "--replay-passes and --ip: a profile is of one run; leave out one of "
            "them");
    if (options->has_passes && options->is_system_wide && !options->for_ns)
        return zeta_print_usage_error("--replay-passes with -a needs --for, the time of each pass");
    return ZETA_EXIT_OK;
}

int zeta_stat_options_check(const struct zeta_stat_options *options, const char *command)
{
    if (options->is_system_wide && options->program)
        return zeta_print_usage_error(
            "-a samples without a program, and '%s' was given; leave out one "
            "of them",
            options->program[0]);
    if (!options->is_system_wide && options->for_ns)
        return zeta_print_usage_error(
            "--for goes with -a; with a program the sampling ends when the "
            "program does");
    if (!options->is_system_wide && !options->program)
        return zeta_print_usage_error(
            "%s needs a program to run, after --; or -a to sample without one", command);
    return ZETA_EXIT_OK;
}

int zeta_stat_options_default(struct zeta_stat_options *options)
{
    char usual[] = DEFAULT_GROUP;

    options->has_period = options->period_ns != 0;
    if (options->period_ns == 0)
        options->period_ns = DEFAULT_PERIOD_NS;
    return options->group_count > 0 ? ZETA_EXIT_OK : split_groups(options, usual);
}

int zeta_stat_options_init(struct zeta_stat_options *options, int count, char **arguments)
{
    struct zeta_option table[ZETA_OPTIONS_MAX] = {0};
    size_t options_count = zeta_sampling_options(options, table);
    int first = 0;
    int status;

    *options = (struct zeta_stat_options){0};
    table[options_count++] =
        (struct zeta_option){"output", 'o', ZETA_OPTION_OTHER, options, set_output};
    table[options_count++] = (struct zeta_option){"json", 0, ZETA_OPTION_OTHER, options, set_json};
    table[options_count++] =
        (struct zeta_option){"ip", 0, ZETA_OPTION_FLAG, &options->is_profile, NULL};
    table[options_count++] =
        (struct zeta_option){"replay-passes", 0, ZETA_OPTION_FLAG, &options->has_passes, NULL};
    status = zeta_options_read(table, options_count, true, count, arguments, &first);
    if (status != ZETA_EXIT_OK)
        return status;
    if (first < count)
        options->program = &arguments[first];
    if (check_profile(options) != ZETA_EXIT_OK || check_passes(options) != ZETA_EXIT_OK ||
        zeta_stat_options_check(options, "stat") != ZETA_EXIT_OK)
        return ZETA_EXIT_USAGE;
    options->ip_period_ns = options->period_ns ? options->period_ns : DEFAULT_IP_PERIOD_NS;
    if (!options->is_profile)
        return zeta_stat_options_default(options);
    options->has_period = options->period_ns != 0;
    if (options->period_ns == 0)
        options->period_ns = DEFAULT_PERIOD_NS;
    return add_group(options, ZETA_IP_GROUP);
}

void zeta_stat_options_finish(struct zeta_stat_options *options)
{
    free(options->group_text);
    *options = (struct zeta_stat_options){0};
}
