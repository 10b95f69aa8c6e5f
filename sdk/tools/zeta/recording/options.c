#include "sdk/tools/zeta/recording/options.h"

#include <getopt.h>
#include <string.h>

#include "sdk/tools/zeta/command_line/options.h"
#include "sdk/tools/zeta/output/duration.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/trace/writer.h"

enum {
    OPTION_CSV = 256,
    OPTION_FROM,
    OPTION_HTML,
    OPTION_JSON,
    OPTION_PER_KERNEL,
    OPTION_PFTRACE,
    OPTION_TO
};

static const struct option long_options[] = {
    {"csv", no_argument, NULL, OPTION_CSV},
    {"from", required_argument, NULL, OPTION_FROM},
    {"html", required_argument, NULL, OPTION_HTML},
    {"json", optional_argument, NULL, OPTION_JSON},
    {"per-kernel", no_argument, NULL, OPTION_PER_KERNEL},
    {"pftrace", required_argument, NULL, OPTION_PFTRACE},
    {"to", required_argument, NULL, OPTION_TO},
    {0},
};

static int set_time(struct zeta_report_options *options, const char *option, uint64_t *out_ns)
{
    options->has_range = true;
    if (strcmp(optarg, "0") == 0) {
        *out_ns = 0;
        return ZETA_EXIT_OK;
    }
    if (zeta_duration_parse(optarg, out_ns))
        return ZETA_EXIT_OK;
    return zeta_print_usage_error("%s %s is no time such as 0, 250ms or 1.5s", option, optarg);
}

static int apply_option(struct zeta_report_options *options, int option, char **arguments)
{
    switch (option) {
    case OPTION_CSV:
        options->has_csv = true;
        return ZETA_EXIT_OK;
    case OPTION_FROM:
        return set_time(options, "--from", &options->from_ns);
    case OPTION_TO:
        return set_time(options, "--to", &options->to_ns);
    case OPTION_HTML:
        options->html_path = optarg;
        return ZETA_EXIT_OK;
    case OPTION_JSON:
        options->has_json = true;
        options->json_path = optarg;
        return ZETA_EXIT_OK;
    case OPTION_PER_KERNEL:
        options->is_per_kernel = true;
        return ZETA_EXIT_OK;
    case OPTION_PFTRACE:
        options->pftrace_path = optarg;
        return ZETA_EXIT_OK;
    default:
        return zeta_options_wrong(option, arguments);
    }
}

static int check(const struct zeta_report_options *options)
{
    if (options->has_range && options->from_ns >= options->to_ns)
        return zeta_print_usage_error("--from is not before --to");
    if (options->has_json &&
        zeta_options_check_json(options->json_path, options->has_csv) != ZETA_EXIT_OK)
        return ZETA_EXIT_USAGE;
    if (options->pftrace_path && !zeta_trace_perfetto)
        return zeta_print_usage_error("--pftrace: this command was built without libprotobuf-c");
    return ZETA_EXIT_OK;
}

int zeta_report_options_init(struct zeta_report_options *options, int count, char **arguments)
{
    int status = ZETA_EXIT_OK;
    int option = 0;

    *options = (struct zeta_report_options){.to_ns = UINT64_MAX};
    zeta_options_restart();
    while (status == ZETA_EXIT_OK &&
           (option = getopt_long(count, arguments, ":", long_options, NULL)) != -1)
        status = apply_option(options, option, arguments);
    if (status != ZETA_EXIT_OK)
        return status;
    if (optind + 1 != count)
        return zeta_print_usage_error("report needs one recording");
    options->path = arguments[optind];
    return check(options);
}
