/*
 * What is missing of a group, in the same words and figures everywhere.
 */
#ifndef ZETA_TOOLS_SAMPLING_LOSSES_H
#define ZETA_TOOLS_SAMPLING_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "sdk/tools/zeta/sampling/sampled_group.h"

struct json_object;

/** Room for what zeta_losses_format() writes. */
enum { ZETA_LOSSES_BYTES = 96 };

/**
 * Says what of a group is missing, "none lost" or more, in the same words everywhere; no full stop.
 *
 * @has_figures  a table follows, and its figures leave that time out
 */
void zeta_losses_format(const struct zeta_sampled_group *group, bool has_figures,
                        char out_text[ZETA_LOSSES_BYTES]);

/** Says on the standard error what of a group is missing, if anything is: for rows as CSV. */
void zeta_losses_print(const struct zeta_sampled_group *group);

/** The same of events, of which only the number that is missing is known. */
void zeta_lost_events_format(uint64_t lost, bool has_figures, char out_text[ZETA_LOSSES_BYTES]);

/**
 * Puts three numbers of what is missing into an object: "lost" reports, 0 only if none is (see
 * zeta_sampled_group_lost()), "breaks", which counts interruptions, and "lost_time_ns" between
 * rows.
 */
void zeta_losses_put_json(struct json_object *object, const struct zeta_sampled_group *group);

#endif
