#include "sdk/tools/zeta/trace/options.h"

#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta/command_line/options.h"
#include "sdk/tools/zeta/output/message.h"

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
            "-o %s: the format follows from the name, which must end in .json or "
            ".pftrace",
            path);
    options->format = zeta_trace_perfetto;
    if (!zeta_trace_perfetto)
        return zeta_print_usage_error(
            "-o %s: this zeta was built without libprotobuf-c and writes .json "
            "only",
            path);
    return ZETA_EXIT_OK;
}

static int add_filter(void *target, char *glob)
{
    struct zeta_trace_options *options = target;
    const size_t before = options->filter ? strlen(options->filter) + 1 : 0;
    char *filter;

    if (glob[0] == '\0')
        return zeta_print_usage_error("--filter is empty; give a glob such as 'zeCommandList*'");
    filter = realloc(options->filter, before + strlen(glob) + 1);
    if (!filter)
        return zeta_print_failure("no memory for the filters");
    if (before > 0)
        filter[before - 1] = ',';
    strcpy(filter + before, glob);
    options->filter = filter;
    return ZETA_EXIT_OK;
}

static int add_input(void *target, char *path)
{
    struct zeta_trace_options *options = target;
    char **inputs = realloc(options->inputs, (options->input_count + 1) * sizeof(*inputs));

    if (!inputs)
        return zeta_print_failure("no memory for the names of files");
    options->inputs = inputs;
    inputs[options->input_count++] = path;
    return ZETA_EXIT_OK;
}

static int set_limit(void *target, char *text)
{
    struct zeta_trace_options *options = target;
    uint64_t bytes;

    options->limit = text;
    if (zeta_size_parse(text, &bytes))
        return ZETA_EXIT_OK;
    return zeta_print_usage_error("--limit %s is no size; give a number of bytes such as 64M or 2G",
                                  text);
}

static int check_together(const struct zeta_trace_options *options)
{
    if (options->input_count == 0 && !options->program)
        return zeta_print_usage_error(
            "trace needs a program to run, after --; or --from FILE to read what "
            "ZETA_TRACE has written");
    if (options->input_count > 0 && options->program)
        return zeta_print_usage_error(
            "--from reads a trace that is there, and '%s' was given to run; "
            "leave out one of them",
            options->program[0]);
    if (options->input_count > 0 && options->filter)
        return zeta_print_usage_error(
            "--filter chooses what is recorded while a program runs; it does not "
            "go with --from");
    return ZETA_EXIT_OK;
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
    return check_together(options);
}

void zeta_trace_options_finish(struct zeta_trace_options *options)
{
    free(options->filter);
    free(options->inputs);
    *options = (struct zeta_trace_options){0};
}
