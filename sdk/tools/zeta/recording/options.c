#include "sdk/tools/zeta/recording/options.h"

#include "sdk/tools/zeta/command_line/options.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/trace/writer.h"

static int check(const struct zeta_report_options *options)
{
    if (options->has_range && options->from_ns >= options->to_ns)
        return zeta_print_usage_error("--from is not before --to; give an earlier time to --from");
    if (zeta_options_check_json(&options->json, options->has_csv) != ZETA_EXIT_OK)
        return ZETA_EXIT_USAGE;
    if (options->pftrace_path && !zeta_trace_perfetto)
        return zeta_print_usage_error("--pftrace: this command was built without libprotobuf-c");
    return ZETA_EXIT_OK;
}

int zeta_report_options_init(struct zeta_report_options *options, int count, char **arguments)
{
    const struct zeta_option table[] = {
        {"csv", 0, ZETA_OPTION_FLAG, &options->has_csv, NULL},
        {"from", 0, ZETA_OPTION_INSTANT, &options->from_ns, NULL},
        {"html", 0, ZETA_OPTION_TEXT, (void *)&options->html_path, NULL},
        {"json", 0, ZETA_OPTION_JSON, &options->json, NULL},
        {"per-kernel", 0, ZETA_OPTION_FLAG, &options->is_per_kernel, NULL},
        {"pftrace", 0, ZETA_OPTION_TEXT, (void *)&options->pftrace_path, NULL},
        {"to", 0, ZETA_OPTION_INSTANT, &options->to_ns, NULL},
    };
    int first = 0;
    int status;

    *options = (struct zeta_report_options){.to_ns = UINT64_MAX, .from_ns = UINT64_MAX};
    status =
        zeta_options_read(table, sizeof(table) / sizeof(table[0]), false, count, arguments, &first);
    if (status != ZETA_EXIT_OK)
        return status;
    if (first + 1 != count)
        return zeta_print_usage_error("report needs one recording");
    options->path = arguments[first];
    options->has_range = options->from_ns != UINT64_MAX || options->to_ns != UINT64_MAX;
    if (options->from_ns == UINT64_MAX)
        options->from_ns = 0;
    return check(options);
}
