#include "sdk/tools/zeta/record/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta/command_line/options.h"
#include "sdk/tools/zeta/output/message.h"

enum { OPTION_FORCE = ZETA_STAT_OPTION_OWN, OPTION_MAX_SIZE, OPTION_NO_TRACE };

static const struct option long_options[] = {
    {"device", required_argument, NULL, 'd'},
    {"group", required_argument, NULL, 'g'},
    {"period", required_argument, NULL, 'p'},
    {"events", required_argument, NULL, 'e'},
    {"output", required_argument, NULL, 'o'},
    {"all", no_argument, NULL, 'a'},
    {"force", no_argument, NULL, OPTION_FORCE},
    {"max-size", required_argument, NULL, OPTION_MAX_SIZE},
    {"no-trace", no_argument, NULL, OPTION_NO_TRACE},
    {"shared", no_argument, NULL, ZETA_STAT_OPTION_SHARED},
    {"for", required_argument, NULL, ZETA_STAT_OPTION_FOR},
    {0},
};

static int add_events(struct zeta_record_options *options, const char *name)
{
    if (options->event_count == ZETA_STAT_MAX_GROUPS)
        return zeta_print_usage_error("-e names more than %d groups", ZETA_STAT_MAX_GROUPS);
    for (uint32_t i = 0; i < options->event_count; i++) {
        if (strcmp(options->events[i], name) == 0)
            return zeta_print_usage_error("-e names %s twice; name each group once", name);
    }
    options->events[options->event_count++] = name;
    return ZETA_EXIT_OK;
}

/* The words of the command line may be changed, and outlive the options. */
static int split_events(struct zeta_record_options *options, char *names)
{
    int status = ZETA_EXIT_OK;

    while (names && status == ZETA_EXIT_OK) {
        const char *name = strsep(&names, ",");

        status =
            *name ? add_events(options, name)
                  : zeta_print_usage_error("-e has an empty name; separate group names with single "
                                           "commas");
    }
    return status;
}

static int set_max_size(struct zeta_record_options *options, const char *text)
{
    static const char units[] = "KMG";
    const char *unit = text + strspn(text, "0123456789");
    const char *found = *unit ? strchr(units, *unit) : units;
    const unsigned shift = *unit ? 10 * (unsigned)(found - units + 1) : 0;

    if (unit == text || unit - text > 9 || !found || (*unit && unit[1]))
        return zeta_print_usage_error(
            "--max-size %s is no size; give a number of bytes such as 64M or 2G", text);
    options->limit_bytes = strtoull(text, NULL, 10) << shift;
    if (options->limit_bytes < 65536)
        return zeta_print_usage_error(
            "--max-size %s is too small to hold a recording; give at least 64K", text);
    return ZETA_EXIT_OK;
}

static int apply_option(struct zeta_record_options *options, int option, char **arguments)
{
    switch (option) {
    case 'e':
        return split_events(options, optarg);
    case 'o':
        options->output_path = optarg;
        return ZETA_EXIT_OK;
    case OPTION_FORCE:
        options->is_forced = true;
        return ZETA_EXIT_OK;
    case OPTION_MAX_SIZE:
        return set_max_size(options, optarg);
    case OPTION_NO_TRACE:
        options->has_trace = false;
        return ZETA_EXIT_OK;
    default:
        return zeta_stat_options_apply(&options->sampling, option, arguments);
    }
}

int zeta_record_options_init(struct zeta_record_options *options, int count, char **arguments)
{
    int option = 0;
    int status = ZETA_EXIT_OK;

    *options = (struct zeta_record_options){.has_trace = true};
    zeta_options_restart();
    while (status == ZETA_EXIT_OK &&
           (option = getopt_long(count, arguments, "+:d:g:p:e:o:a", long_options, NULL)) != -1)
        status = apply_option(options, option, arguments);
    if (status == ZETA_EXIT_OK && optind < count)
        options->sampling.program = &arguments[optind];
    if (status == ZETA_EXIT_OK)
        status = zeta_stat_options_check(&options->sampling, "record");
    if (status == ZETA_EXIT_OK && (!options->output_path || !*options->output_path))
        status = zeta_print_usage_error("record needs the name of a file to write, -o FILE");
    if (status == ZETA_EXIT_OK)
        status = zeta_stat_options_default(&options->sampling);
    if (!options->sampling.program)
        options->has_trace = false;
    return status;
}

void zeta_record_options_finish(struct zeta_record_options *options)
{
    zeta_stat_options_finish(&options->sampling);
}
