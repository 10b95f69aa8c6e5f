#include "sdk/tools/zeta/trace/line.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sdk/tools/zeta/command_line/commands.h"
#include "sdk/tools/zeta/command_line/options.h"
#include "sdk/tools/zeta/inventory/inventory.h"
#include "sdk/tools/zeta/output/file.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/program/program.h"
#include "sdk/tools/zeta/trace/folder.h"

static int set_output(void *target, char *path)
{
    struct zeta_trace_options *options = target;
    const char *suffix = strrchr(path, '.');

    options->output_path = path;
    if (suffix && strcmp(suffix, zeta_trace_chrome.suffix) == 0) {
        options->format = &zeta_trace_chrome;
        return ZETA_EXIT_OK;
    }
    if (!suffix || strcmp(suffix, ".pftrace") != 0)
        return zeta_print_usage_error(
            "cannot write %s: the name must end in .json or .pftrace, which choose the format",
            path);
    options->format = zeta_trace_perfetto;
    if (!zeta_trace_perfetto)
        return zeta_print_usage_error(
            "cannot write %s: this zeta was built without libprotobuf-c; name a .json file", path);
    return ZETA_EXIT_OK;
}

static int add_filter(void *target, char *glob)
{
    struct zeta_trace_options *options = target;
    char *filter;

    if (glob[0] == '\0')
        return zeta_print_usage_error("--filter is empty; give a glob such as 'zeCommandList*'");
    filter =
        options->filter ? zeta_format("%s,%s", options->filter, glob) : zeta_format("%s", glob);
    free(options->filter);
    options->filter = filter;
    return ZETA_EXIT_OK;
}

static int add_input(void *target, char *path)
{
    struct zeta_trace_options *options = target;

    options->inputs =
        zeta_reallocate(options->inputs, options->input_count + 1, sizeof(*options->inputs));
    options->inputs[options->input_count++] = path;
    return ZETA_EXIT_OK;
}

static int set_limit(void *target, char *text)
{
    struct zeta_trace_options *options = target;
    uint64_t bytes;

    options->limit = text;
    if (zeta_size_parse(text, &bytes))
        return ZETA_EXIT_OK;
    return zeta_print_usage_error("--limit takes a number of bytes such as 64M or 2G, not %s",
                                  text);
}

int zeta_trace_options_init(struct zeta_trace_options *options, int count, char **arguments)
{
    const struct zeta_option table[] = {
        {"device", 'd', ZETA_OPTION_TEXT, (void *)&options->device, NULL},
        {"output", 'o', ZETA_OPTION_OTHER, options, set_output},
        {"filter", 0, ZETA_OPTION_OTHER, options, add_filter},
        {"from", 0, ZETA_OPTION_OTHER, options, add_input},
        {"limit", 0, ZETA_OPTION_OTHER, options, set_limit},
    };
    int first = 0;
    int status;

    *options = (struct zeta_trace_options){0};
    status =
        zeta_options_read(table, sizeof(table) / sizeof(table[0]), true, count, arguments, &first);
    if (status != ZETA_EXIT_OK)
        return status;
    if (first < count)
        options->program = &arguments[first];
    if (options->input_count == 0 && !options->program)
        return zeta_print_usage_error(
            "trace needs a program after --, or --from FILE to read what ZETA_TRACE=FILE wrote");
    if (options->input_count > 0 && options->program)
        return zeta_print_usage_error("--from takes no program; leave out --from or '%s'",
                                      options->program[0]);
    if (options->input_count > 0 && options->filter)
        return zeta_print_usage_error("--filter needs a program, because it chooses the calls to "
                                      "record; leave it out with --from");
    return ZETA_EXIT_OK;
}

void zeta_trace_options_finish(struct zeta_trace_options *options)
{
    free(options->filter);
    free(options->inputs);
    *options = (struct zeta_trace_options){0};
}

/* Everything of one run. */
struct run {
    struct zeta_trace_options options;
    struct zeta_environment environment;
    struct zeta_child child;
    struct zeta_trace_folder folder; /* what the processes write is here */
    FILE *output;
    struct zeta_trace_summary summary;
};

/* ---- before -------------------------------------------------------------------------------- */

static int prepare(struct run *run)
{
    const struct zeta_trace_options *options = &run->options;
    bool is_our_device = false;

    for (uint32_t i = 0; i < options->input_count; i++) {
        if (zeta_output_protect(options->inputs[i]) != ZETA_EXIT_OK)
            return ZETA_EXIT_FAILED;
    }
    if (options->output_path &&
        zeta_output_open(options->output_path, &run->output) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    if (!options->program)
        return ZETA_EXIT_OK;
    if (zeta_trace_folder_make(&run->folder, options->output_path) != ZETA_EXIT_OK ||
        zeta_child_init(&run->child) != ZETA_EXIT_OK ||
        zeta_environment_init(&run->environment, true) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    /* What this process calls is not what was asked for. */
    (void)unsetenv(ZETA_TRACE_VARIABLE);
    if (zeta_device_list_find_compute(options->device, &is_our_device) != ZETA_EXIT_OK ||
        zeta_environment_build(&run->environment, is_our_device) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    zeta_trace_folder_build(&run->folder, run->environment.variables, options->filter,
                            options->limit);
    return ZETA_EXIT_OK;
}

/* ---- after --------------------------------------------------------------------------------- */

/* is_named: on the command line, so that it has to be a trace. */
static int merge_file(struct run *run, struct zeta_trace_writer *writer, const char *path,
                      bool is_named)
{
    struct zeta_trace_reader reader;
    int status = zeta_trace_reader_open(&reader, path);

    if (status != ZETA_EXIT_OK)
        return status;
    zeta_trace_merge(&reader, writer, &run->summary);
    if (is_named && reader.lines == 0)
        status = zeta_print_failure(
            "%s is no trace: no line is a JSON object; --from reads what ZETA_TRACE=FILE wrote",
            path);
    zeta_trace_reader_close(&reader);
    return status;
}

static int merge(struct run *run)
{
    const char *folder = run->folder.place.path;
    struct dirent **entries = NULL;
    int count = 0;
    struct zeta_trace_writer writer = {.format = run->options.format, .file = run->output};
    struct zeta_trace_writer *used = run->output ? &writer : NULL;
    int status = ZETA_EXIT_OK;

    if (used) {
        zeta_output_begin(run->output);
        writer.format->begin(&writer);
    }
    for (uint32_t i = 0; i < run->options.input_count && status == ZETA_EXIT_OK; i++)
        status = merge_file(run, used, run->options.inputs[i], true);
    if (run->options.program && status == ZETA_EXIT_OK) {
        count = scandir(folder, &entries, NULL, alphasort);
        if (count < 0)
            status = zeta_print_failure("cannot read %s: %s", folder, strerror(errno));
    }
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];

        if (entries[i]->d_name[0] != '.' && status == ZETA_EXIT_OK) {
            (void)snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
            status = merge_file(run, used, path, false);
        }
        free(entries[i]);
    }
    free(entries);
    if (used)
        writer.format->end(&writer);
    return status;
}

static void show(const struct run *run)
{
    const struct zeta_trace_summary *summary = &run->summary;
    const char *program = run->options.program ? run->options.program[0] : "the process";

    if (summary->calls.count > 0 || summary->open_call_count > 0 || summary->work.count > 0 ||
        summary->lost > 0)
        zeta_trace_summary_print(summary, stderr);
    else if (run->options.filter && summary->processes.count > 0)
        zeta_print_note("%s called no function that matches '%s'", program, run->options.filter);
    else
        zeta_print_note(
            "%s did not initialise this libzeta, so there are no calls. It may not use Level Zero, "
            "may have found another driver or loader (see ZE_ENABLE_ALT_DRIVERS and "
            "LD_LIBRARY_PATH), or may have more rights than its user and ignore variables such "
            "as " ZETA_TRACE_VARIABLE,
            program);
}

/* Where the traces of the processes are while they are in no result; NULL: they are. */
static struct zeta_run_folder *unmerged;

/* Keeps them; at the exit too, which lack of memory may cause anywhere. */
static void keep_unmerged(void)
{
    struct zeta_run_folder *place = unmerged;

    unmerged = NULL;
    /* rmdir() fails if there is something in it. */
    if (!place || !place->path || rmdir(place->path) == 0)
        return;
    zeta_run_folder_keep(place);
    zeta_print_note("zeta keeps the traces of the processes in %s; merge them with 'zeta trace "
                    "-o FILE --from FILE ...', with one --from for each file",
                    place->path);
}

/* ---- the command --------------------------------------------------------------------------- */

int zeta_trace(int count, char **arguments)
{
    struct run run = {.child = {.signal_fd = -1}};
    struct zeta_run_folder *place = &run.folder.place;
    int status = zeta_trace_options_init(&run.options, count, arguments);

    if (status == ZETA_EXIT_OK)
        status = prepare(&run);
    if (status == ZETA_EXIT_OK && run.options.program)
        status = zeta_child_start(&run.child, run.options.program, run.folder.variables);
    if (status == ZETA_EXIT_OK) {
        while (run.options.program && !run.child.has_ended)
            zeta_child_wait(&run.child, UINT64_MAX / 4);
        unmerged = place;
        (void)atexit(keep_unmerged);
        status = merge(&run);
    }
    if (status == ZETA_EXIT_OK)
        show(&run);
    if (zeta_output_close(run.output, run.options.output_path) != ZETA_EXIT_OK)
        status = status == ZETA_EXIT_OK ? ZETA_EXIT_FAILED : status;
    if (status == ZETA_EXIT_OK)
        unmerged = NULL;
    if (run.child.has_ended && zeta_child_exit_code(&run.child) != ZETA_EXIT_OK)
        status = zeta_child_exit_code(&run.child);
    if (unmerged)
        keep_unmerged();
    else
        zeta_run_folder_remove(place);
    zeta_trace_folder_finish(&run.folder);
    zeta_trace_summary_finish(&run.summary);
    zeta_child_finish(&run.child);
    zeta_environment_finish(&run.environment);
    zeta_trace_options_finish(&run.options);
    return status;
}
