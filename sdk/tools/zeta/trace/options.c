#include "sdk/tools/zeta/trace/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta/command_line/options.h"
#include "sdk/tools/zeta/output/message.h"

enum { OPTION_FILTER = 256, OPTION_FROM, OPTION_LIMIT };

static const struct option long_options[] = {
    {"device", required_argument, NULL, 'd'},
    {"output", required_argument, NULL, 'o'},
    {"filter", required_argument, NULL, OPTION_FILTER},
    {"from", required_argument, NULL, OPTION_FROM},
    {"limit", required_argument, NULL, OPTION_LIMIT},
    {0},
};

static int set_output(struct zeta_trace_options *options, const char *path)
{
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

static int add_filter(struct zeta_trace_options *options, const char *glob)
{
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

static int add_input(struct zeta_trace_options *options, char *path)
{
    char **inputs = realloc(options->inputs, (options->input_count + 1) * sizeof(*inputs));

    if (!inputs)
        return zeta_print_failure("no memory for the names of files");
    options->inputs = inputs;
    inputs[options->input_count++] = path;
    return ZETA_EXIT_OK;
}

static int set_limit(struct zeta_trace_options *options, const char *text)
{
    const size_t digits = strspn(text, "0123456789");
    const char *unit = text + digits;

    options->limit = text;
    if (digits > 0 && digits < 10 && (*unit == '\0' || (strchr("KMG", *unit) && unit[1] == '\0')))
        return ZETA_EXIT_OK;
    return zeta_print_usage_error("--limit %s is no size; give a number of bytes such as 64M or 2G",
                                  text);
}

static int apply_option(struct zeta_trace_options *options, int option, char **arguments)
{
    switch (option) {
    case 'd':
        options->device = optarg;
        return ZETA_EXIT_OK;
    case 'o':
        return set_output(options, optarg);
    case OPTION_FILTER:
        return add_filter(options, optarg);
    case OPTION_FROM:
        return add_input(options, optarg);
    case OPTION_LIMIT:
        return set_limit(options, optarg);
    default:
        return zeta_options_wrong(option, arguments);
    }
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
    int option = 0;
    int status = ZETA_EXIT_OK;

    *options = (struct zeta_trace_options){0};
    zeta_options_restart();
    /* "+": options of the program that is run are the program's. */
    while (status == ZETA_EXIT_OK &&
           (option = getopt_long(count, arguments, "+:d:o:", long_options, NULL)) != -1)
        status = apply_option(options, option, arguments);
    if (status == ZETA_EXIT_OK && optind < count)
        options->program = &arguments[optind];
    return status == ZETA_EXIT_OK ? check_together(options) : status;
}

void zeta_trace_options_finish(struct zeta_trace_options *options)
{
    free(options->filter);
    free(options->inputs);
    *options = (struct zeta_trace_options){0};
}
