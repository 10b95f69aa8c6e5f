/*
 * The result of a run of zeta stat, and the forms it can be written in.
 */
#ifndef ZETA_TOOLS_STAT_REPORT_H
#define ZETA_TOOLS_STAT_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sdk/tools/zeta/inventory/device_list.h"
#include "sdk/tools/zeta/profile/ip_profile.h"
#include "sdk/tools/zeta/sampling/sampled_group.h"

struct json_object;

struct zeta_stat_report {
    const struct zeta_device_entry *device;
    const struct zeta_sampled_group *const *groups;
    uint32_t group_count;
    uint32_t pass_count; /**< times that the program ran; 0 is taken for 1 */
    char **program;      /**< null: sampled without one */
    int exit_code;       /**< of the program */
    bool is_interrupted; /**< somebody asked to end */
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

/** Schema "zeta.stat/1". The caller releases it; null without memory. */
struct json_object *zeta_stat_report_to_json(const struct zeta_stat_report *report);

#endif
