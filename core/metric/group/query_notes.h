/*
 * What a backend reports about the queries of its units, for people: that a unit has none and why,
 * or what they count. Asked when the groups of a device are loaded, read-only from then on.
 */
#ifndef ZETA_CORE_METRIC_GROUP_QUERY_NOTES_H
#define ZETA_CORE_METRIC_GROUP_QUERY_NOTES_H

#include <stdbool.h>

#include <level_zero/ze_api.h>

struct zeta_device_metrics;
struct zeta_metric_group;

/**
 * Asks about a unit, once; without a provider of queries there are no notes. While the device is
 * loaded. Errors: OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_query_notes_ask(struct zeta_device_metrics *metrics, const char *unit);

/** False if the backend gave a reason why the unit has no queries. Any thread. */
bool zeta_unit_has_queries(const struct zeta_device_metrics *metrics, const char *unit);

/**
 * The notes that concern a group: why its set has no event-based group, and what an event-based
 * group counts; "" where there are none. They live as long as the device.
 */
void zeta_query_notes_get(const struct zeta_metric_group *group, const char **out_no_queries,
                          const char **out_note);

/** Frees the notes of a device that could not be loaded. */
void zeta_query_notes_free(struct zeta_device_metrics *metrics);

#endif
