/* zeta stat: samples a device while a program runs, and shows what it did. */
#include "sdk/tools/zeta/stat/stat.h"

#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta/command_line/commands.h"
#include "sdk/tools/zeta/command_line/options.h"
#include "sdk/tools/zeta/inventory/inventory.h"
#include "sdk/tools/zeta/output/file.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/profile/profile.h"
#include "sdk/tools/zeta/program/program.h"
#include "sdk/tools/zeta/sampling/sampler.h"

#define DEFAULT_GROUP "ComputeBasic"

/* Periods of metrics, and of samples of threads: that of modelled time. */
#define DEFAULT_PERIOD_NS 1000000
#define DEFAULT_IP_PERIOD_NS 20000

int zeta_stat_add_groups(const char *option, char *text, const char **names, uint32_t *io_count)
{
    while (text) {
        const char *name = strsep(&text, ",");

        if (!*name)
            return zeta_print_usage_error(
                "%s has an empty name; separate group names with single commas", option);
        for (uint32_t i = 0; i < *io_count; i++) {
            if (strcmp(names[i], name) == 0)
                return zeta_print_usage_error("%s names %s twice; name each group once", option,
                                              name);
        }
        if (*io_count == ZETA_STAT_MAX_GROUPS)
            return zeta_print_usage_error(
                "%s names more than %d groups; sample them in several runs", option,
                ZETA_STAT_MAX_GROUPS);
        names[(*io_count)++] = name;
    }
    return ZETA_EXIT_OK;
}

/* The words of the command line may be changed, and outlive the options. */
static int split_groups(void *target, char *text)
{
    struct zeta_stat_options *options = target;

    if (options->group_count > 0)
        return zeta_print_usage_error(
            "-g is given twice; name all groups in one, separated by commas");
    return zeta_stat_add_groups("-g", text, options->groups, &options->group_count);
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
        "cannot write %s: the name must end in .csv or .json, which choose the format", path);
}

static int set_json(void *target, char *path)
{
    struct zeta_stat_options *options = target;

    options->json_path = path;
    if (strcmp(path, "-") == 0)
        return zeta_print_usage_error("cannot write --json to the standard output, which belongs "
                                      "to the program; name a file");
    if (strcmp(path, "--") == 0)
        return zeta_print_usage_error("--json needs a file: --json=FILE");
    return ZETA_EXIT_OK;
}

size_t zeta_sampling_options(struct zeta_stat_options *options, struct zeta_option *out_table)
{
    const struct zeta_option table[] = {
        {"device", 'd', ZETA_OPTION_TEXT, (void *)&options->device, NULL},
        {"group", 'g', ZETA_OPTION_OTHER, options, split_groups},
        {"period", 'p', ZETA_OPTION_DURATION, &options->period_ns, NULL},
        {"all", 'a', ZETA_OPTION_FLAG, &options->is_system_wide, NULL},
        {"shared", 0, ZETA_OPTION_FLAG, &options->is_shared, NULL},
        {"for", 0, ZETA_OPTION_DURATION, &options->for_ns, NULL},
    };

    memcpy(out_table, table, sizeof(table));
    return sizeof(table) / sizeof(table[0]);
}

int zeta_stat_options_check(const struct zeta_stat_options *options, const char *command)
{
    if (options->is_system_wide && options->program)
        return zeta_print_usage_error("-a takes no program; leave out -a or '%s'",
                                      options->program[0]);
    if (!options->is_system_wide && options->for_ns)
        return zeta_print_usage_error(
            "--for needs -a; with a program the sampling ends with the program");
    if (!options->is_system_wide && !options->program)
        return zeta_print_usage_error("%s needs a program after --, or -a to sample without one",
                                      command);
    return ZETA_EXIT_OK;
}

void zeta_stat_options_default(struct zeta_stat_options *options)
{
    options->has_period = options->period_ns != 0;
    options->ip_period_ns = options->has_period ? options->period_ns : DEFAULT_IP_PERIOD_NS;
    if (!options->has_period)
        options->period_ns = DEFAULT_PERIOD_NS;
    if (options->is_profile)
        options->groups[options->group_count++] = ZETA_IP_GROUP;
    else if (options->group_count == 0)
        options->groups[options->group_count++] = DEFAULT_GROUP;
}

int zeta_stat_options_init(struct zeta_stat_options *options, int count, char **arguments)
{
    struct zeta_option table[ZETA_OPTIONS_MAX] = {
        {"output", 'o', ZETA_OPTION_OTHER, options, set_output},
        {"json", 0, ZETA_OPTION_OTHER, options, set_json},
        {"ip", 0, ZETA_OPTION_FLAG, &options->is_profile, NULL},
        {"replay-passes", 0, ZETA_OPTION_FLAG, &options->has_passes, NULL},
    };
    const size_t options_count = 4 + zeta_sampling_options(options, table + 4);
    int first = 0;
    int status;

    *options = (struct zeta_stat_options){0};
    status = zeta_options_read(table, options_count, true, count, arguments, &first);
    if (status != ZETA_EXIT_OK)
        return status;
    if (first < count)
        options->program = &arguments[first];
    /* Samples of instruction pointers are shown as a profile; their sums would mean nothing. */
    for (uint32_t i = 0; i < options->group_count; i++) {
        if (strcmp(options->groups[i], ZETA_IP_GROUP) == 0)
            return zeta_print_usage_error("-g " ZETA_IP_GROUP
                                          " is the group of --ip; give --ip instead");
    }
    if (options->is_profile && options->output_is_csv && options->group_count > 0)
        return zeta_print_usage_error("cannot write -g to %s: with --ip a .csv file contains the "
                                      "profile alone; name a .json file",
                                      options->output_path);
    /* Every pass has an end, and is of counters. */
    if (options->has_passes && options->is_profile)
        return zeta_print_usage_error(
            "--replay-passes does not go with --ip, which profiles one run; leave out one of them");
    if (options->has_passes && options->is_system_wide && !options->for_ns)
        return zeta_print_usage_error("--replay-passes with -a needs --for, the time of each pass");
    if (zeta_stat_options_check(options, "stat") != ZETA_EXIT_OK)
        return ZETA_EXIT_USAGE;
    if (options->is_profile && options->group_count == ZETA_STAT_MAX_GROUPS)
        return zeta_print_usage_error("-g names more than %d groups with --ip",
                                      ZETA_STAT_MAX_GROUPS - 1);
    zeta_stat_options_default(options);
    return ZETA_EXIT_OK;
}

/* Everything of one run. */
struct run {
    struct zeta_stat_options options;
    struct zeta_session session;
    struct zeta_group_entry *groups[ZETA_STAT_MAX_GROUPS]; /* one pass after the other */
    uint32_t counts[ZETA_STAT_MAX_GROUPS];                 /* groups of each pass */
    uint32_t pass_count;
    struct zeta_sampler done[ZETA_STAT_MAX_GROUPS]; /* of the passes that are over */
    uint32_t done_count;
    uint64_t elapsed_ns; /* of all passes */
    uint64_t cpu_ns;
    struct zeta_ip_profile profile; /* of --ip */
    FILE *output;                   /* of -o */
    FILE *json;                     /* of --json */
};

static int refuse_passes(const struct run *run)
{
    const struct zeta_group_entry *late = run->groups[run->counts[0]];

    for (uint32_t i = 0; i < run->counts[0]; i++) {
        const struct zeta_group_entry *other = run->groups[i];

        if (other->properties.domain == late->properties.domain)
            return zeta_print_failure(
                "cannot sample %s and %s together: both use the counters of domain %u; run the "
                "program once for each with --replay-passes, or choose groups of different domains "
                "('zeta groups' lists them)",
                other->properties.name, late->properties.name, late->properties.domain);
    }
    return zeta_print_failure("%s cannot count %s together with the other groups; run the program "
                              "%u times with --replay-passes",
                              run->session.device->properties.name, late->properties.name,
                              run->pass_count);
}

/* The profile's group is a domain of its own, and stays the last one. */
static int plan_passes(struct run *run)
{
    const struct zeta_device_entry *device = run->session.device;
    const uint32_t count = run->options.group_count - run->options.is_profile;
    zet_metric_group_handle_t handles[ZETA_STAT_MAX_GROUPS];

    run->pass_count = 1;
    for (uint32_t i = 0; i < count; i++)
        handles[i] = run->groups[i]->group;
    if (count > 0) {
        const ze_result_t result = zetDeviceGetConcurrentMetricGroupsExp(
            device->device, count, handles, run->counts, &run->pass_count);

        if (result != ZE_RESULT_SUCCESS)
            return zeta_print_refusal(result, "cannot find out which groups of %s go together",
                                      device->properties.name);
    }
    /* The entries come into the order of the handles. */
    for (uint32_t i = 0; i < count; i++) {
        struct zeta_group_entry *entry = run->groups[i];
        uint32_t at = i;

        while (at + 1 < count && run->groups[at]->group != handles[i])
            at++;
        run->groups[i] = run->groups[at];
        run->groups[at] = entry;
    }
    if (run->pass_count > 1 && !run->options.has_passes)
        return refuse_passes(run);
    run->counts[0] += run->options.is_profile;
    return ZETA_EXIT_OK;
}

static int open_pass(struct run *run)
{
    uint32_t first = 0;

    for (uint32_t i = 0; i < run->done_count; i++)
        first += run->counts[i];
    return zeta_session_open(&run->session,
                             (struct zeta_sampler_desc){
                                 .groups = run->groups + first,
                                 .group_count = run->counts[run->done_count],
                                 .period_ns = run->options.period_ns,
                                 .has_period = run->options.has_period,
                                 .profile = run->options.is_profile ? &run->profile : NULL,
                                 .ip_period_ns = run->options.ip_period_ns,
                             });
}

/* Everything that can be wrong is found here, before the program runs. */
static int prepare(struct run *run)
{
    const struct zeta_stat_options *options = &run->options;
    struct zeta_session *session = &run->session;

    session->program = options->program;
    /* A program of ours on a fresh virtual device: no other work is in the figures. */
    session->is_shared = options->is_shared || options->is_system_wide;
    session->has_modules = options->is_profile;
    session->for_ns = options->for_ns;
    if ((options->output_path &&
         zeta_output_open(options->output_path, &run->output) != ZETA_EXIT_OK) ||
        (options->json_path && zeta_output_open(options->json_path, &run->json) != ZETA_EXIT_OK) ||
        zeta_session_init(session, options->device) != ZETA_EXIT_OK ||
        zeta_group_choose_any(&session->groups, session->device, options->groups,
                              options->group_count, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED,
                              run->groups) != ZETA_EXIT_OK ||
        plan_passes(run) != ZETA_EXIT_OK ||
        (options->is_profile &&
         zeta_ip_profile_init(&run->profile, run->groups[options->group_count - 1]) !=
             ZETA_EXIT_OK))
        return ZETA_EXIT_FAILED;
    return open_pass(run);
}

static void write_json(const struct zeta_stat_report *report, FILE *file)
{
    struct json_object *document = zeta_stat_report_to_json(report);

    zeta_json_write(document, file);
    (void)json_object_put(document);
}

static void write_results(const struct run *run)
{
    const struct zeta_sampled_group *groups[ZETA_STAT_MAX_GROUPS] = {0};
    struct zeta_stat_report report = {
        .device = run->session.device,
        .groups = groups,
        .pass_count = run->done_count,
        .program = run->options.program,
        .exit_code = run->options.program ? zeta_child_exit_code(&run->session.child) : 0,
        .is_interrupted = run->session.child.interrupts > 0,
        .elapsed_ns = run->elapsed_ns,
        .cpu_ns = run->cpu_ns,
    };

    for (uint32_t pass = 0; pass < run->done_count; pass++) {
        const struct zeta_sampler *sampler = &run->done[pass];

        report.calculation_ns += sampler->calculation_ns;
        for (uint32_t i = 0; i < sampler->stream_count; i++)
            groups[report.group_count++] = &sampler->streams[i].group;
    }
    if (run->options.is_profile) {
        report.profile = &run->profile;
        report.profile_group = groups[--report.group_count];
    }
    if (!run->output) {
        const struct zeta_stat_style style = zeta_stat_style_of(stderr);

        zeta_stat_report_print(&report, &style, stderr);
    }
    if (run->output)
        zeta_output_begin(run->output);
    if (run->output && run->options.output_is_csv && report.profile)
        zeta_stat_ip_write_csv(report.profile, report.profile_group, run->output);
    else if (run->output && run->options.output_is_csv)
        zeta_stat_report_write_csv(&report, run->output);
    else if (run->output)
        write_json(&report, run->output);
    if (run->json) {
        zeta_output_begin(run->json);
        write_json(&report, run->json);
    }
}

/* One run of the program with the streams that are open; keeps what they gave. */
static int execute_pass(struct run *run)
{
    int status = zeta_session_run(&run->session);

    if (!run->session.was_started)
        return status;
    zeta_sampler_stop(&run->session.sampler);
    if (zeta_sampler_settle(&run->session.sampler) != ZETA_EXIT_OK)
        status = ZETA_EXIT_FAILED;
    run->elapsed_ns += run->session.elapsed_ns;
    run->cpu_ns += run->session.cpu_ns;
    run->done[run->done_count++] = run->session.sampler;
    run->session.sampler = (struct zeta_sampler){0};
    return status;
}

/* Gives the program's exit code if it ran and its results are written, else why not. */
static int execute(struct run *run)
{
    struct zeta_session *session = &run->session;
    int status = execute_pass(run);

    /* A program that failed, or that a signal asked to end, is not run again. */
    while (status == ZETA_EXIT_OK && run->done_count < run->pass_count &&
           session->child.interrupts == 0 &&
           zeta_session_exit_code(session, status) == ZETA_EXIT_OK) {
        zeta_child_again(&session->child);
        session->was_started = false;
        status = open_pass(run);
        if (status == ZETA_EXIT_OK)
            status = execute_pass(run);
    }
    if (run->done_count == 0)
        return status;
    if (run->done_count < run->pass_count)
        zeta_print_note("zeta ran only %u of %u passes; the groups of the others are missing",
                        run->done_count, run->pass_count);
    if (run->options.is_profile &&
        zeta_ip_profile_resolve(&run->profile, zeta_environment_modules(&session->environment)) !=
            ZETA_EXIT_OK)
        status = ZETA_EXIT_FAILED;
    /* What was sampled before a failure is worth showing. */
    write_results(run);
    return zeta_session_exit_code(session, status);
}

int zeta_stat(int count, char **arguments)
{
    struct run run = {.session = {.child = {.signal_fd = -1}}};
    int status = zeta_stat_options_init(&run.options, count, arguments);

    if (status == ZETA_EXIT_OK)
        status = prepare(&run);
    if (status == ZETA_EXIT_OK)
        status = execute(&run);
    if (zeta_output_close(run.output, run.options.output_path) != ZETA_EXIT_OK &&
        status == ZETA_EXIT_OK)
        status = ZETA_EXIT_FAILED;
    if (zeta_output_close(run.json, run.options.json_path) != ZETA_EXIT_OK &&
        status == ZETA_EXIT_OK)
        status = ZETA_EXIT_FAILED;
    while (run.done_count > 0)
        zeta_sampler_close(&run.done[--run.done_count]);
    zeta_ip_profile_finish(&run.profile);
    zeta_session_finish(&run.session);
    return status;
}
