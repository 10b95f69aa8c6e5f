/*
 * The command line of zeta stat.
 */
#ifndef ZETA_TOOLS_STAT_OPTIONS_H
#define ZETA_TOOLS_STAT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "sdk/tools/zeta/command_line/options.h"

/** More groups than any device has domains. */
enum { ZETA_STAT_MAX_GROUPS = 16 };

struct zeta_stat_options {
    const char *device; /**< null: the first one */
    char *group_text;   /**< owned; the names point into it */
    const char *groups[ZETA_STAT_MAX_GROUPS];
    uint32_t group_count;
    uint64_t period_ns;
    bool has_period;         /**< somebody asked for it, else it is usual */
    bool is_profile;         /**< --ip: the last group is that of instruction pointers */
    uint64_t ip_period_ns;   /**< of that group */
    const char *output_path; /**< -o: replaces the tables; null: none */
    bool output_is_csv;      /**< else JSON; with is_profile it holds the profile alone */
    const char *json_path;   /**< --json: beside the tables; null: none */
    bool is_shared;          /**< use the virtual devices that other processes use */
    bool is_system_wide;     /**< no program, just sample */
    bool has_passes;         /**< groups that do not go together: run the program several times */
    uint64_t for_ns;         /**< how long without a program; 0: until interrupted */
    char **program;          /**< null-terminated arguments; null when system-wide */
};

/**
 * Reads the arguments that follow "zeta stat", arguments[0] being "stat". Prints what is wrong;
 * then gives ZETA_EXIT_USAGE. zeta_stat_options_finish ends it either way.
 */
int zeta_stat_options_init(struct zeta_stat_options *options, int count, char **arguments);

enum { ZETA_SAMPLING_OPTIONS = 6 };

/** Options of every command that samples, for zeta_options_read(). Gives their number. */
size_t zeta_sampling_options(struct zeta_stat_options *options,
                             struct zeta_option out_table[ZETA_SAMPLING_OPTIONS]);

/** Checks the options together, in the name of a command. Prints what is wrong. */
int zeta_stat_options_check(const struct zeta_stat_options *options, const char *command);

/** Gives the period and the groups that were not named their usual values. */
int zeta_stat_options_default(struct zeta_stat_options *options);

void zeta_stat_options_finish(struct zeta_stat_options *options);

#endif
