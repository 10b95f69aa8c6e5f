/*
 * Events of a device while it is recorded: a metric tracer and what it gave.
 */
#ifndef ZETA_TOOLS_RECORD_EVENTS_H
#define ZETA_TOOLS_RECORD_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <zeta/zeta.h>

#include "sdk/tools/zeta/inventory/device_list.h"
#include "sdk/tools/zeta/inventory/group_list.h"
#include "sdk/tools/zeta/record/file.h"
#include "sdk/tools/zeta/sampling/sampler.h"

/** One tracer for each group, so that each is a stream of its own. All zero bytes: none. */
struct zeta_record_events {
    struct zeta_record_file *file; /**< takes what they give */
    const struct zeta_group_entry **groups;
    zet_metric_group_handle_t *handles;
    zet_metric_tracer_exp_handle_t *tracers;
    uint32_t *streams; /**< numbers in the recording */
    uint32_t count;
    uint8_t *buffer;
    size_t buffer_bytes; /**< of one read */
    uint64_t bytes;      /**< that were recorded */
    uint64_t lost;       /**< events, at least */
};

/**
 * Finds the groups of events. On failure (no such group) prints why.
 * zeta_record_events_finish ends it either way.
 */
int zeta_record_events_choose(struct zeta_record_events *events, const struct zeta_group_list *list,
                              const struct zeta_device_entry *device, const char *const *names,
                              uint32_t count);

/** The groups, which have to be active when the tracers are started. */
struct zeta_sampler_more zeta_record_events_groups(const struct zeta_record_events *events);

/** Describes the streams in the recording, makes the tracers and turns them on. */
int zeta_record_events_start(struct zeta_record_events *events, struct zeta_record_file *file,
                             const struct zeta_device_entry *device, ze_context_handle_t context);

/** Takes what the tracers have. On failure prints why. */
int zeta_record_events_read(struct zeta_record_events *events);

/** Turns the tracers off, takes the rest and ends them. On failure prints why. */
int zeta_record_events_stop(struct zeta_record_events *events);

void zeta_record_events_finish(struct zeta_record_events *events);

#endif
