/*
 * The command line of zeta report.
 */
#ifndef ZETA_TOOLS_RECORDING_OPTIONS_H
#define ZETA_TOOLS_RECORDING_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "sdk/tools/zeta/command_line/options.h"

struct zeta_report_options {
    const char *path;
    bool is_per_kernel;
    bool has_csv;
    struct zeta_json_option json;
    const char *html_path;
    const char *pftrace_path;
    bool has_range;
    uint64_t from_ns, to_ns; /**< from the start of the recording */
};

/**
 * Reads the arguments that follow "zeta report", arguments[0] being "report". Prints what is
 * wrong; then gives ZETA_EXIT_USAGE.
 */
int zeta_report_options_init(struct zeta_report_options *options, int count, char **arguments);

#endif
