/*
 * What plugins call about events and submissions: members of struct zeta_plugin_host_ops.
 * The meaning of each is written in zeta/plugin.h. Any thread that is not a signal handler.
 */
#ifndef ZETA_CORE_PLUGIN_HOST_SERVICES_H
#define ZETA_CORE_PLUGIN_HOST_SERVICES_H

#include <zeta/plugin.h>

uint32_t zeta_host_event_query(struct zeta_plugin_host *host, struct zeta_plugin_event *event);

uint64_t zeta_host_event_look_ns(struct zeta_plugin_host *host, struct zeta_plugin_event *event);

void zeta_host_event_signal(struct zeta_plugin_host *host, struct zeta_plugin_event *event,
                            const struct zeta_plugin_times *times);

void zeta_host_event_reset(struct zeta_plugin_host *host, struct zeta_plugin_event *event);

void zeta_host_submission_over(struct zeta_plugin_host *host, void *cookie);

void zeta_host_submission_done(struct zeta_plugin_host *host, void *cookie, uint32_t result);

#endif
