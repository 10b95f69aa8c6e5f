#include "sdk/tools/zeta/stat/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta/command_line/options.h"
#include "sdk/tools/zeta/output/duration.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/profile/ip_profile.h"

#define DEFAULT_GROUP "ComputeBasic"

/* Periods of metrics, and of samples of threads: that of modelled time. */
#define DEFAULT_PERIOD_NS 1000000
#define DEFAULT_IP_PERIOD_NS 20000

enum { OPTION_JSON = ZETA_STAT_OPTION_OWN, OPTION_IP, OPTION_PASSES };

static const struct option long_options[] = {
    {"device", required_argument, NULL, 'd'},
    {"group", required_argument, NULL, 'g'},
    {"period", required_argument, NULL, 'p'},
    {"output", required_argument, NULL, 'o'},
    {"all", no_argument, NULL, 'a'},
    {"json", required_argument, NULL, OPTION_JSON},
    {"shared", no_argument, NULL, ZETA_STAT_OPTION_SHARED},
    {"for", required_argument, NULL, ZETA_STAT_OPTION_FOR},
    {"ip", no_argument, NULL, OPTION_IP},
    {"replay-passes", no_argument, NULL, OPTION_PASSES},
    {0},
};

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

static int split_groups(struct zeta_stat_options *options, const char *text)
{
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

static int set_duration(const char *option, const char *text, uint64_t *out_ns)
{
    if (zeta_duration_parse(text, out_ns))
        return ZETA_EXIT_OK;
    return zeta_print_usage_error(
        "%s %s is no time; give a positive number with a unit, one of ns, us, "
        "ms, s, min, such as 500us",
        option, text);
}

static int set_output(struct zeta_stat_options *options, const char *path)
{
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

static int set_json(struct zeta_stat_options *options, const char *path)
{
    options->json_path = path;
    if (strcmp(path, "-") == 0)
        return zeta_print_usage_error(
            "--json=- of stat: the standard output is the program's; name a "
            "file");
    if (strcmp(path, "--") == 0)
        return zeta_print_usage_error("--json of stat needs a file: --json=FILE");
    return ZETA_EXIT_OK;
}

int zeta_stat_options_apply(struct zeta_stat_options *options, int option, char **arguments)
{
    switch (option) {
    case 'd':
        options->device = optarg;
        return ZETA_EXIT_OK;
    case 'g':
        return split_groups(options, optarg);
    case 'p':
        options->has_period = true;
        return set_duration("-p", optarg, &options->period_ns);
    case 'o':
        return set_output(options, optarg);
    case 'a':
        options->is_system_wide = true;
        return ZETA_EXIT_OK;
    case OPTION_JSON:
        return set_json(options, optarg);
    case ZETA_STAT_OPTION_SHARED:
        options->is_shared = true;
        return ZETA_EXIT_OK;
    case OPTION_IP:
        options->is_profile = true;
        return ZETA_EXIT_OK;
    case OPTION_PASSES:
        options->has_passes = true;
        return ZETA_EXIT_OK;
    case ZETA_STAT_OPTION_FOR:
        return set_duration("--for", optarg, &options->for_ns);
    default:
        return zeta_options_wrong(option, arguments);
    }
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
    if (options->period_ns == 0)
        options->period_ns = DEFAULT_PERIOD_NS;
    return options->group_count == 0 ? split_groups(options, DEFAULT_GROUP) : ZETA_EXIT_OK;
}

int zeta_stat_options_init(struct zeta_stat_options *options, int count, char **arguments)
{
    int option = 0;
    int status = ZETA_EXIT_OK;

    *options = (struct zeta_stat_options){0};
    zeta_options_restart();
    /* "+": options of the program that is run are the program's. */
    while (status == ZETA_EXIT_OK &&
           (option = getopt_long(count, arguments, "+:d:g:p:o:a", long_options, NULL)) != -1)
        status = zeta_stat_options_apply(options, option, arguments);
    if (status == ZETA_EXIT_OK && optind < count)
        options->program = &arguments[optind];
    if (status == ZETA_EXIT_OK)
        status = check_profile(options);
    if (status == ZETA_EXIT_OK)
        status = check_passes(options);
    if (status == ZETA_EXIT_OK)
        status = zeta_stat_options_check(options, "stat");
    options->ip_period_ns = options->period_ns ? options->period_ns : DEFAULT_IP_PERIOD_NS;
    if (status == ZETA_EXIT_OK && !options->is_profile)
        status = zeta_stat_options_default(options);
    if (status == ZETA_EXIT_OK && options->is_profile)
        status = add_group(options, ZETA_IP_GROUP);
    if (options->period_ns == 0)
        options->period_ns = DEFAULT_PERIOD_NS;
    return status;
}

void zeta_stat_options_finish(struct zeta_stat_options *options)
{
    free(options->group_text);
    *options = (struct zeta_stat_options){0};
}
