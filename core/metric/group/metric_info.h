/*
 * Facts about metrics for zeta.h, without the headers of set files (both name metric classes).
 */
#ifndef ZETA_CORE_METRIC_GROUP_METRIC_INFO_H
#define ZETA_CORE_METRIC_GROUP_METRIC_INFO_H

#include <stdint.h>

struct zeta_metric_entry;
struct zeta_metric_group;

/** Name of the counting unit that a group uses. */
const char *zeta_metric_group_unit(const struct zeta_metric_group *group);

/** Bytes of a record of a group, so of a slot of its raw data. */
uint32_t zeta_metric_group_record_bytes(const struct zeta_metric_group *group);

/** The class of a metric, numerically ZETA_METRIC_CLASS_* of zeta.h. */
uint32_t zeta_metric_entry_class(const struct zeta_metric_entry *entry);

#endif
