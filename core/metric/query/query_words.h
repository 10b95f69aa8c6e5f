/*
 * What a backend says about the queries of its units, for people: that a unit has none and why, or
 * what they count. Asked when the metrics of a device are loaded, read-only from then on.
 */
#ifndef ZETA_CORE_METRIC_QUERY_QUERY_WORDS_H
#define ZETA_CORE_METRIC_QUERY_QUERY_WORDS_H

#include <level_zero/ze_api.h>

struct zeta_device_metrics;
struct zeta_metric_group;

/** Words about one unit. */
struct zeta_query_words {
    struct zeta_query_words *next;
    char *unit;
    char *no_queries; /**< a sentence: why it has none; "": it has */
    char *note;       /**< a sentence about what they count, or "" */
};

/**
 * Asks about a unit, once; without a provider of queries there are no words. While the device is
 * loaded. Errors: OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_query_words_ask(struct zeta_device_metrics *metrics, const char *unit);

/** What was said about a unit; NULL: nothing, and there may be queries. Any thread. */
const struct zeta_query_words *zeta_query_words_of(const struct zeta_device_metrics *metrics,
                                                   const char *unit);

/**
 * The words that concern a group: why its set has no event-based group, and what an event-based
 * group counts; "" where there are none. They live as long as the device.
 */
void zeta_query_words_give(const struct zeta_metric_group *group, const char **out_no_queries,
                           const char **out_note);

/** Frees the words of a device that could not be loaded. */
void zeta_query_words_free(struct zeta_device_metrics *metrics);

#endif
