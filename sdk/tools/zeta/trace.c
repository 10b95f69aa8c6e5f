#include "trace.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device_list.h"
#include "output.h"
#include "say.h"
#include "stat_child.h"
#include "stat_environment.h"
#include "trace_merge.h"
#include "trace_options.h"

/* The variables of the recorder in the library. */
#define TRACE_VARIABLE "ZETA_TRACE"
#define FILTER_VARIABLE "ZETA_TRACE_FILTER"
#define LIMIT_VARIABLE "ZETA_TRACE_LIMIT"

enum { OWN_VARIABLES = 3 };

/* Everything of one run. */
struct run {
    struct zeta_trace_options options;
    struct zeta_stat_environment environment;
    struct zeta_stat_child child;
    char *directory; /* what the processes write is here */
    char *own[OWN_VARIABLES];
    char **variables; /* of the program */
    FILE *output;
    bool is_incomplete; /* the result; so what was recorded is kept */
    struct zeta_trace_summary summary;
};

/* ---- before -------------------------------------------------------------------------------- */

/* Beside the result: there is room for it, and it has the same owner. */
static int make_directory(struct run *run)
{
    const char *temporary = getenv("TMPDIR");
    const char *output = run->options.output_path;
    const char *slash = output ? strrchr(output, '/') : NULL;
    char *parent = NULL;
    char *absolute = NULL;
    int status = ZETA_EXIT_OK;

    if (slash)
        parent = strndup(output, (size_t)(slash - output) + 1);
    else
        parent = strdup(output ? "." : temporary && *temporary ? temporary : "/tmp");
    absolute = parent ? realpath(parent, NULL) : NULL;
    if (!absolute || strstr(absolute, "%p") ||
        asprintf(&run->directory, "%s/zeta-trace-XXXXXX", absolute) < 0) {
        run->directory = NULL;
        status = zeta_say_failure("cannot keep files in %s: %s", parent ? parent : "memory",
                                  absolute ? "its name has %p in it" : strerror(errno));
    } else if (!mkdtemp(run->directory)) {
        status = zeta_say_failure("cannot make %s: %s", run->directory, strerror(errno));
        free(run->directory);
        run->directory = NULL;
    }
    free(parent);
    free(absolute);
    return status;
}

static bool is_ours(const char *variable)
{
    static const char *const names[] = {TRACE_VARIABLE "=", FILTER_VARIABLE "=",
                                        LIMIT_VARIABLE "="};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strncmp(variable, names[i], strlen(names[i])) == 0)
            return true;
    }
    return false;
}

static bool set_own(char **own, const char *name, const char *value, const char *rest)
{
    if (asprintf(own, "%s=%s%s", name, value, rest) >= 0)
        return true;
    *own = NULL;
    return false;
}

static int build_variables(struct run *run)
{
    const struct zeta_trace_options *options = &run->options;
    size_t count = 0;
    char **end;

    if (!set_own(&run->own[0], TRACE_VARIABLE, run->directory, "/%p.json") ||
        (options->filter && !set_own(&run->own[1], FILTER_VARIABLE, options->filter, "")) ||
        (options->limit && !set_own(&run->own[2], LIMIT_VARIABLE, options->limit, "")))
        return zeta_say_failure("no memory for the environment of the program");
    while (run->environment.variables[count])
        count++;
    end = run->variables = calloc(count + OWN_VARIABLES + 1, sizeof(*end));
    if (!end)
        return zeta_say_failure("no memory for the environment of the program");
    for (size_t i = 0; i < count; i++) {
        if (!is_ours(run->environment.variables[i]))
            *end++ = run->environment.variables[i];
    }
    for (size_t i = 0; i < OWN_VARIABLES; i++) {
        if (run->own[i])
            *end++ = run->own[i];
    }
    return ZETA_EXIT_OK;
}

static int prepare(struct run *run)
{
    bool is_our_device = false;
    int status = ZETA_EXIT_OK;

    if (run->options.output_path)
        status = zeta_output_open(run->options.output_path, &run->output);
    if (status != ZETA_EXIT_OK || !run->options.program)
        return status;
    status = make_directory(run);
    if (status == ZETA_EXIT_OK)
        status = zeta_stat_child_init(&run->child);
    if (status == ZETA_EXIT_OK)
        status = zeta_stat_environment_init(&run->environment, true);
    /* What this process calls is not what was asked for. */
    (void)unsetenv(TRACE_VARIABLE);
    if (status == ZETA_EXIT_OK)
        status = zeta_device_list_find_compute(run->options.device, &is_our_device);
    if (status == ZETA_EXIT_OK)
        status = zeta_stat_environment_build(&run->environment, is_our_device);
    if (status == ZETA_EXIT_OK)
        status = build_variables(run);
    return status;
}

/* ---- after --------------------------------------------------------------------------------- */

static int merge_file(struct run *run, struct zeta_trace_writer *writer, const char *path)
{
    struct zeta_trace_reader reader;
    int status = zeta_trace_reader_open(&reader, path);

    if (status != ZETA_EXIT_OK)
        return status;
    if (!zeta_trace_merge(&reader, writer, &run->summary))
        status = zeta_say_failure("no memory for the trace of %s", path);
    zeta_trace_reader_close(&reader);
    return status;
}

static int merge_directory(struct run *run, struct zeta_trace_writer *writer)
{
    struct dirent **entries = NULL;
    const int count = scandir(run->directory, &entries, NULL, alphasort);
    int status = ZETA_EXIT_OK;

    if (count < 0)
        return zeta_say_failure("cannot read %s: %s", run->directory, strerror(errno));
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];

        if (entries[i]->d_name[0] != '.' && status == ZETA_EXIT_OK) {
            (void)snprintf(path, sizeof(path), "%s/%s", run->directory, entries[i]->d_name);
            status = merge_file(run, writer, path);
        }
        free(entries[i]);
    }
    free(entries);
    return status;
}

static int merge(struct run *run)
{
    struct zeta_trace_writer writer = {.format = run->options.format, .file = run->output};
    struct zeta_trace_writer *used = run->output ? &writer : NULL;
    int status = ZETA_EXIT_OK;

    if (used) {
        zeta_output_begin(run->output);
        if (!writer.format->begin(&writer))
            return zeta_say_failure("no memory to write %s", run->options.output_path);
    }
    for (uint32_t i = 0; i < run->options.input_count && status == ZETA_EXIT_OK; i++)
        status = merge_file(run, used, run->options.inputs[i]);
    if (run->options.program && status == ZETA_EXIT_OK)
        status = merge_directory(run, used);
    if (used && !writer.format->end(&writer))
        status = zeta_say_failure("no memory to write %s", run->options.output_path);
    return status;
}

static void remove_directory(struct run *run)
{
    struct dirent *entry;
    DIR *directory = run->directory ? opendir(run->directory) : NULL;

    if (!directory)
        return;
    while ((entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] != '.')
            (void)unlinkat(dirfd(directory), entry->d_name, 0);
    }
    (void)closedir(directory);
    (void)rmdir(run->directory);
}

static void drop_directory(struct run *run)
{
    /* rmdir() fails if there is something in it. */
    if (run->is_incomplete && run->directory && rmdir(run->directory) != 0)
        zeta_say_note("what the processes recorded is kept in %s; make a trace of it with 'zeta "
                      "trace -o FILE --from FILE', with one --from for each file there",
                      run->directory);
    else
        remove_directory(run);
}

static void say_nothing_seen(const struct run *run)
{
    const char *program = run->options.program ? run->options.program[0] : "the process";

    if (run->options.filter && run->summary.processes.count > 0) {
        zeta_say_note("no call was recorded: %s made none of a function that matches '%s'", program,
                      run->options.filter);
        return;
    }
    zeta_say_note(
        "no call was recorded: %s did not initialise this libzeta, and calls are recorded "
        "from zeInit on. It may not use Level Zero, have found another driver or loader "
        "first (see ZE_ENABLE_ALT_DRIVERS and LD_LIBRARY_PATH), or run with more rights "
        "than its user, so that variables such as " TRACE_VARIABLE " do not count",
        program);
}

static void show(const struct run *run)
{
    const struct zeta_trace_summary *summary = &run->summary;

    if (summary->calls.count == 0 && summary->open_call_count == 0 && summary->work.count == 0 &&
        summary->lost == 0)
        say_nothing_seen(run);
    else
        zeta_trace_summary_print(summary, stderr);
}

/* ---- the command --------------------------------------------------------------------------- */

static int execute(struct run *run)
{
    int status = ZETA_EXIT_OK;

    if (run->options.program) {
        status = zeta_stat_child_start(&run->child, run->options.program, run->variables);
        if (status != ZETA_EXIT_OK)
            return status;
        while (!run->child.has_ended)
            zeta_stat_child_wait(&run->child, UINT64_MAX / 4);
    }
    status = merge(run);
    run->is_incomplete = status != ZETA_EXIT_OK;
    if (status == ZETA_EXIT_OK)
        show(run);
    return status;
}

static void finish(struct run *run)
{
    drop_directory(run);
    free(run->directory);
    for (size_t i = 0; i < OWN_VARIABLES; i++)
        free(run->own[i]);
    free(run->variables);
    zeta_trace_summary_finish(&run->summary);
    zeta_stat_child_finish(&run->child);
    zeta_stat_environment_finish(&run->environment);
    zeta_trace_options_finish(&run->options);
}

int zeta_trace(int count, char **arguments)
{
    struct run run = {.child = {.signal_fd = -1}};
    int status = zeta_trace_options_init(&run.options, count, arguments);

    if (status == ZETA_EXIT_OK)
        status = prepare(&run);
    if (status == ZETA_EXIT_OK)
        status = execute(&run);
    if (run.output && zeta_output_close(run.output, run.options.output_path) != ZETA_EXIT_OK) {
        run.is_incomplete = true;
        status = status == ZETA_EXIT_OK ? ZETA_EXIT_FAILED : status;
    }
    if (run.child.has_ended && zeta_stat_child_exit_code(&run.child) != ZETA_EXIT_OK)
        status = zeta_stat_child_exit_code(&run.child);
    finish(&run);
    return status;
}
