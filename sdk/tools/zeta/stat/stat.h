/*
 * zeta stat: its options, which zeta record shares, and the forms of its result.
 */
#ifndef ZETA_TOOLS_STAT_STAT_H
#define ZETA_TOOLS_STAT_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sdk/tools/zeta/command_line/options.h"
#include "sdk/tools/zeta/inventory/inventory.h"
#include "sdk/tools/zeta/profile/profile.h"
#include "sdk/tools/zeta/sampling/sampled_group.h"

/** More groups than any device has domains. */
enum { ZETA_STAT_MAX_GROUPS = 16 };

struct zeta_stat_options {
    const char *device; /**< null: the first one */
    const char *groups[ZETA_STAT_MAX_GROUPS];
    uint32_t group_count;
    uint64_t period_ns;
    bool has_period;         /**< set by an option, else the default */
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
 * Reads the arguments that follow "zeta stat", arguments[0] being "stat"; options point into them.
 * Prints what is wrong; then gives ZETA_EXIT_USAGE.
 */
int zeta_stat_options_init(struct zeta_stat_options *options, int count, char **arguments);

/**
 * Adds the names of a list with commas, which is cut in place, to ZETA_STAT_MAX_GROUPS at most.
 * option: its name in messages.
 */
int zeta_stat_add_groups(const char *option, char *text, const char **names, uint32_t *io_count);

/** Adds the options of every command that samples to a table. Gives their number. */
size_t zeta_sampling_options(struct zeta_stat_options *options, struct zeta_option *out_table);

/** Checks the options together, in the name of a command. Prints what is wrong. */
int zeta_stat_options_check(const struct zeta_stat_options *options, const char *command);

/** Gives the period and the groups that were not named their usual values. */
void zeta_stat_options_default(struct zeta_stat_options *options);

struct json_object;

struct zeta_stat_report {
    const struct zeta_device_entry *device; /**< of all groups; null if there are none */
    const struct zeta_sampled_group *const *groups;
    uint32_t group_count;
    uint32_t pass_count; /**< times that the program ran; 0 is taken for 1 */
    char **program;      /**< null: sampled without one */
    int exit_code;       /**< of the program */
    bool is_interrupted; /**< a signal ended it */
    uint64_t elapsed_ns; /**< of sampling */
    uint64_t cpu_ns;     /**< of this process, all threads, while it sampled */
    /** Of --ip, and its group, which is none of those above; null: there is none. */
    const struct zeta_ip_profile *profile;
    const struct zeta_sampled_group *profile_group;
    uint64_t calculation_ns; /**< part of it: raw reports to metric values */
};

/** How tables are written. */
struct zeta_stat_style {
    unsigned columns;    /**< width to put time lines in */
    bool has_sparklines; /**< a terminal with UTF-8 */
};

/** The style for a stream: width of its terminal, sparklines when that can show them. */
struct zeta_stat_style zeta_stat_style_of(FILE *stream);

/** Writes the table of one group. A period of 0 is none. */
void zeta_stat_group_print(const struct zeta_sampled_group *group,
                           const struct zeta_stat_style *style, FILE *stream);

/** Appends one group to the array "groups" of a JSON document. */
void zeta_stat_group_put_json(struct json_object *array, const struct zeta_device_entry *device,
                              const struct zeta_sampled_group *group);

/** Writes a table per group and what the sampling cost. */
void zeta_stat_report_print(const struct zeta_stat_report *report,
                            const struct zeta_stat_style *style, FILE *stream);

/** One line per metric, the first line names the columns. */
void zeta_stat_report_write_csv(const struct zeta_stat_report *report, FILE *file);

/** Schema "zeta.stat/1". The caller releases it. */
struct json_object *zeta_stat_report_to_json(const struct zeta_stat_report *report);

/**
 * Writes tables of kernels and of the lines with the most samples, or of addresses where nothing
 * else is known. device_class: what the period is measured in depends on it.
 */
void zeta_stat_ip_print(const struct zeta_ip_profile *profile,
                        const struct zeta_sampled_group *group, const char *device_class,
                        unsigned columns, FILE *stream);

/** One line per line of the source, the first line names the columns. */
void zeta_stat_ip_write_csv(const struct zeta_ip_profile *profile,
                            const struct zeta_sampled_group *group, FILE *file);

/** Adds the member "profile" to a document of schema "zeta.stat/1". */
void zeta_stat_ip_put_json(struct json_object *document, const struct zeta_ip_profile *profile,
                           const struct zeta_sampled_group *group);

#endif
