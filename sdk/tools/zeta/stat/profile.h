/*
 * The profile of zeta stat --ip, in the forms it can be written in.
 */
#ifndef ZETA_TOOLS_STAT_PROFILE_H
#define ZETA_TOOLS_STAT_PROFILE_H

#include <stdio.h>

#include "sdk/tools/zeta/profile/ip_profile.h"
#include "sdk/tools/zeta/sampling/sampled_group.h"

struct json_object;

/**
 * Writes tables of kernels and of the lines with the most samples, or of addresses where nothing
 * else is known.
 *
 * @device_class  of struct zeta_device_info: for what the period is measured in
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
