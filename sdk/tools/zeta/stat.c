#include "stat.h"

#include <string.h>
#include <time.h>

#include "duration.h"
#include "ip_profile.h"
#include "output.h"
#include "sampler.h"
#include "say.h"
#include "stat_child.h"
#include "stat_environment.h"
#include "stat_ip.h"
#include "stat_options.h"
#include "stat_report.h"

/* Everything of one run. */
struct run {
    struct zeta_stat_options options;
    struct zeta_stat_environment environment;
    struct zeta_stat_child child;
    struct zeta_device_list devices;
    const struct zeta_device_entry *device;
    struct zeta_group_list group_list;
    struct zeta_group_entry *groups[ZETA_STAT_MAX_GROUPS];
    struct zeta_sampler sampler;
    struct zeta_ip_profile profile; /* of --ip */
    FILE *output;                   /* of -o */
    FILE *json;                     /* of --json */
    uint64_t elapsed_ns;
    uint64_t cpu_ns;
};

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now = {0};

    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int open_outputs(struct run *run)
{
    int status = ZETA_EXIT_OK;

    if (run->options.output_path)
        status = zeta_output_open(run->options.output_path, &run->output);
    if (status == ZETA_EXIT_OK && run->options.json_path)
        status = zeta_output_open(run->options.json_path, &run->json);
    return status;
}

static int say_unknown_group(const struct run *run, const char *name)
{
    (void)zeta_say_failure("%s has no group '%s' that can be sampled over time; it has:",
                           run->device->properties.name, name);
    for (uint32_t i = 0; i < run->group_list.count; i++) {
        const zet_metric_group_properties_t *group = &run->group_list.entries[i].properties;

        if (group->samplingType & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED)
            (void)fprintf(stderr, "  %s (domain %u)\n", group->name, group->domain);
    }
    return ZETA_EXIT_FAILED;
}

/* Groups of one domain need the same counters of the device, so only one of them can be counted. */
static int check_domains(const struct run *run, const struct zeta_group_entry *group,
                         uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_group_entry *other = run->groups[i];

        if (other->properties.domain == group->properties.domain)
            return zeta_say_failure("%s and %s are both of domain %u and use the same counters, so "
                                    "they cannot be sampled together; sample them in two runs, or "
                                    "choose groups of different domains ('zeta groups' lists them)",
                                    other->properties.name, group->properties.name,
                                    group->properties.domain);
    }
    return ZETA_EXIT_OK;
}

static int choose_groups(struct run *run)
{
    int status = zeta_group_list_init(run->device->device, &run->group_list);

    for (uint32_t i = 0; i < run->options.group_count && status == ZETA_EXIT_OK; i++) {
        const char *name = run->options.groups[i];
        struct zeta_group_entry *group = zeta_group_list_find_sampled(&run->group_list, name);

        if (!group)
            return say_unknown_group(run, name);
        run->groups[i] = group;
        status = check_domains(run, group, i);
        if (status == ZETA_EXIT_OK)
            status = zeta_group_entry_load_metrics(group);
    }
    return status;
}

/* Everything that can be wrong is found here, before the program runs. */
static int prepare(struct run *run)
{
    int status = open_outputs(run);

    if (status == ZETA_EXIT_OK)
        status = zeta_stat_child_init(&run->child);
    /* A program of ours on a fresh virtual device: nobody else's work is in the figures. */
    if (status == ZETA_EXIT_OK)
        status = zeta_stat_environment_init(&run->environment,
                                            run->options.is_shared || run->options.is_system_wide);
    if (status == ZETA_EXIT_OK && run->options.is_profile)
        status =
            zeta_stat_environment_want_modules(&run->environment, run->options.program != NULL);
    if (status == ZETA_EXIT_OK)
        status = zeta_device_list_init(&run->devices);
    if (status == ZETA_EXIT_OK)
        status = zeta_device_list_find(&run->devices, run->options.device, &run->device);
    if (status == ZETA_EXIT_OK && run->options.program)
        status = zeta_stat_environment_build(&run->environment, run->device->info.compute[0] != 0);
    if (status == ZETA_EXIT_OK)
        status = choose_groups(run);
    if (status == ZETA_EXIT_OK && run->options.is_profile)
        status = zeta_ip_profile_init(&run->profile, run->groups[run->options.group_count - 1]);
    if (status == ZETA_EXIT_OK)
        status = zeta_sampler_open(&run->sampler, run->device, run->groups,
                                   run->options.group_count, run->options.period_ns,
                                   run->options.is_profile ? &run->profile : NULL,
                                   run->options.ip_period_ns);
    return status;
}

static void say_period(const struct run *run)
{
    const uint64_t used_ns = zeta_sampler_period_ns(&run->sampler);
    const bool is_profile_alone = run->options.is_profile && run->options.group_count == 1;
    const uint64_t wanted_ns =
        is_profile_alone ? run->options.ip_period_ns : run->options.period_ns;
    char used[ZETA_DURATION_TEXT_BYTES];
    char wanted[ZETA_DURATION_TEXT_BYTES];

    /* Periods come in steps, often powers of two; only what is out of range is worth a word. */
    if (used_ns <= 2 * wanted_ns && wanted_ns <= 2 * used_ns)
        return;
    zeta_duration_format(used_ns, used);
    zeta_duration_format(wanted_ns, wanted);
    zeta_say_note("%s cannot sample every %s; the nearest it can is %s",
                  run->device->properties.name, wanted, used);
}

static uint64_t shorter(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Reads until a condition of the streams holds, somebody asks to end or time is up. */
static int read_until(struct run *run, bool (*holds)(const struct run *, uint64_t),
                      uint64_t argument, uint64_t patience_ns, bool *out_holds)
{
    const uint64_t start_ns = clock_ns(CLOCK_MONOTONIC);
    const uint64_t pause_ns = shorter(zeta_sampler_pause_ns(&run->sampler),
                                      zeta_sampler_period_ns(&run->sampler) / 2 + 100000);
    const unsigned interrupts = run->child.interrupts;

    for (;;) {
        if (zeta_sampler_read(&run->sampler) != ZETA_EXIT_OK)
            return ZETA_EXIT_FAILED;
        *out_holds = holds(run, argument);
        if (*out_holds || run->child.interrupts > interrupts ||
            clock_ns(CLOCK_MONOTONIC) - start_ns > patience_ns)
            return ZETA_EXIT_OK;
        zeta_stat_child_wait(&run->child, pause_ns);
    }
}

static bool has_started(const struct run *run, uint64_t unused)
{
    (void)unused;
    return zeta_sampler_has_started(&run->sampler);
}

static bool has_reached(const struct run *run, uint64_t device_ticks)
{
    return zeta_sampler_reaches(&run->sampler, device_ticks);
}

static uint64_t patience(const struct run *run)
{
    return 3000000000 + 3 * zeta_sampler_period_ns(&run->sampler);
}

/* What the program does must lie between two reports: here is the first of them. */
static int wait_for_first_report(struct run *run)
{
    bool is_there = false;
    int status = read_until(run, has_started, 0, patience(run), &is_there);

    if (status == ZETA_EXIT_OK && !is_there && run->child.interrupts == 0)
        return zeta_say_failure("%s gave no report; nothing was run. A virtual device with clock: "
                                "virtual gives reports only while it works, and cannot be sampled "
                                "from another process",
                                run->device->properties.name);
    return status;
}

/* And here is the last: one that ends after the program. */
static int wait_for_last_report(struct run *run)
{
    uint64_t end_ticks = 0;
    bool is_there = false;
    int status = zeta_sampler_now(&run->sampler, &end_ticks);

    if (status == ZETA_EXIT_OK)
        status = read_until(run, has_reached, end_ticks, patience(run), &is_there);
    if (status == ZETA_EXIT_OK && !is_there)
        zeta_say_note("%s gave no report after the end; the last moments may be missing",
                      run->device->properties.name);
    return status;
}

static bool is_over(const struct run *run, uint64_t start_ns)
{
    if (run->options.program)
        return run->child.has_ended;
    if (run->child.interrupts > 0)
        return true;
    return run->options.for_ns && clock_ns(CLOCK_MONOTONIC) - start_ns >= run->options.for_ns;
}

/* The program goes on when the sampling fails; its exit status is awaited either way. */
static int sample(struct run *run)
{
    const uint64_t start_ns = clock_ns(CLOCK_MONOTONIC);
    const uint64_t pause_ns = zeta_sampler_pause_ns(&run->sampler);
    int status = ZETA_EXIT_OK;

    while (!is_over(run, start_ns)) {
        uint64_t wait_ns = pause_ns;

        if (run->options.for_ns)
            wait_ns = shorter(wait_ns, start_ns + run->options.for_ns - clock_ns(CLOCK_MONOTONIC));
        zeta_stat_child_wait(&run->child, wait_ns);
        if (status == ZETA_EXIT_OK)
            status = zeta_sampler_read(&run->sampler);
        if (status != ZETA_EXIT_OK && !run->options.program)
            break;
    }
    if (status == ZETA_EXIT_OK)
        status = wait_for_last_report(run);
    return status;
}

static int write_results(struct run *run)
{
    const struct zeta_sampled_group *groups[ZETA_STAT_MAX_GROUPS] = {0};
    struct zeta_stat_report report = {
        .device = run->device,
        .groups = groups,
        .group_count = run->sampler.stream_count,
        .program = run->options.program,
        .exit_code = run->options.program ? zeta_stat_child_exit_code(&run->child) : 0,
        .is_interrupted = run->child.interrupts > 0,
        .elapsed_ns = run->elapsed_ns,
        .cpu_ns = run->cpu_ns,
        .calculation_ns = run->sampler.calculation_ns,
    };
    struct json_object *document = NULL;

    if (run->options.is_profile) {
        report.profile = &run->profile;
        report.profile_group = &run->sampler.streams[--report.group_count].group;
        if (zeta_ip_profile_resolve(
                &run->profile, zeta_stat_environment_modules(&run->environment)) != ZETA_EXIT_OK)
            return ZETA_EXIT_FAILED;
    }
    for (uint32_t i = 0; i < run->sampler.stream_count; i++)
        groups[i] = &run->sampler.streams[i].group;
    if (!run->output) {
        const struct zeta_stat_style style = zeta_stat_style_of(stderr);

        zeta_stat_report_print(&report, &style, stderr);
    }
    if (run->output && run->options.output_is_csv) {
        zeta_output_begin(run->output);
        if (report.profile)
            zeta_stat_ip_write_csv(report.profile, run->output);
        else
            zeta_stat_report_write_csv(&report, run->output);
    }
    if (!run->json && (!run->output || run->options.output_is_csv))
        return ZETA_EXIT_OK;

    document = zeta_stat_report_to_json(&report);
    if (!document)
        return zeta_say_failure("no memory for the JSON document");
    if (run->output && !run->options.output_is_csv) {
        zeta_output_begin(run->output);
        zeta_output_write_json(run->output, document);
    }
    if (run->json) {
        zeta_output_begin(run->json);
        zeta_output_write_json(run->json, document);
    }
    (void)json_object_put(document);
    return ZETA_EXIT_OK;
}

static int close_outputs(struct run *run)
{
    int status = ZETA_EXIT_OK;

    if (run->output)
        status = zeta_output_close(run->output, run->options.output_path);
    if (run->json && zeta_output_close(run->json, run->options.json_path) != ZETA_EXIT_OK)
        status = ZETA_EXIT_FAILED;
    return status;
}

/* Gives the program's exit code if it ran and its results are written, else why not. */
static int execute(struct run *run)
{
    const uint64_t start_ns = clock_ns(CLOCK_MONOTONIC);
    const uint64_t start_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    int status = wait_for_first_report(run);

    if (status != ZETA_EXIT_OK)
        return status;
    if (run->child.interrupts > 0)
        return ZETA_EXIT_SIGNAL + run->child.last_interrupt;
    if (run->options.program) {
        status =
            zeta_stat_child_start(&run->child, run->options.program, run->environment.variables);
        if (status != ZETA_EXIT_OK)
            return status;
    }
    status = sample(run);
    run->elapsed_ns = clock_ns(CLOCK_MONOTONIC) - start_ns;
    run->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start_cpu_ns;
    zeta_sampler_stop(&run->sampler);
    /* What was sampled before a failure is worth showing. */
    if (write_results(run) != ZETA_EXIT_OK)
        status = ZETA_EXIT_FAILED;
    if (run->options.program && zeta_stat_child_exit_code(&run->child) != ZETA_EXIT_OK)
        return zeta_stat_child_exit_code(&run->child);
    return status;
}

int zeta_stat(int count, char **arguments)
{
    struct run run = {.child = {.signal_fd = -1}};
    int status = zeta_stat_options_init(&run.options, count, arguments);

    if (status == ZETA_EXIT_OK)
        status = prepare(&run);
    if (status == ZETA_EXIT_OK) {
        say_period(&run);
        status = execute(&run);
    }
    if (close_outputs(&run) != ZETA_EXIT_OK && status == ZETA_EXIT_OK)
        status = ZETA_EXIT_FAILED;
    zeta_sampler_close(&run.sampler);
    zeta_ip_profile_finish(&run.profile);
    zeta_group_list_finish(&run.group_list);
    zeta_device_list_finish(&run.devices);
    zeta_stat_child_finish(&run.child);
    zeta_stat_environment_finish(&run.environment);
    zeta_stat_options_finish(&run.options);
    return status;
}
