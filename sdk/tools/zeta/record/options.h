/*
 * The command line of zeta record.
 */
#ifndef ZETA_TOOLS_RECORD_OPTIONS_H
#define ZETA_TOOLS_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "sdk/tools/zeta/stat/options.h"

struct zeta_record_options {
    struct zeta_stat_options sampling; /**< what is sampled, and the program */
    const char *output_path;
    const char *events[ZETA_STAT_MAX_GROUPS]; /**< groups of events */
    uint32_t event_count;
    uint64_t limit_bytes; /**< of the file; 0: none */
    bool has_trace;       /**< calls of the API and work of the device too */
    bool is_forced;       /**< a file that exists is replaced */
};

/**
 * Reads the arguments that follow "zeta record", arguments[0] being "record". What is wrong is
 * said; then gives ZETA_EXIT_USAGE. zeta_record_options_finish ends it either way.
 */
int zeta_record_options_init(struct zeta_record_options *options, int count, char **arguments);

void zeta_record_options_finish(struct zeta_record_options *options);

#endif
