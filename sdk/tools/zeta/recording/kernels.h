/*
 * What the device did while one kernel ran, and nothing else.
 */
#ifndef ZETA_TOOLS_RECORDING_KERNELS_H
#define ZETA_TOOLS_RECORDING_KERNELS_H

#include "sdk/tools/zeta/recording/data.h"

/** Counts the runs in the range, by name. False without memory. */
bool zeta_report_kernels_init(struct zeta_report *report);

/**
 * Adds a row to the kernel that it lies inside of; others are counted as shared or idle. False
 * without memory.
 *
 * @times_ns  begin and end, of the host
 */
bool zeta_report_kernels_add_row(struct zeta_report *report, struct zeta_report_stream *stream,
                                 const int64_t times_ns[2], const struct zeta_metric_row *row);

/** Calculates what is shown, once all rows are there. On failure prints why. */
int zeta_report_kernels_settle(struct zeta_report *report);

/** Kernels by their time, longest first. The caller frees the list; null without memory. */
const struct zeta_report_kernel **zeta_report_kernels_sorted(const struct zeta_report *report);

/** The name of a kernel, as people write it. */
void zeta_report_kernel_name(const struct zeta_report *report, uint32_t name, char *text,
                             size_t bytes);

void zeta_report_kernels_finish(struct zeta_report *report);

#endif
