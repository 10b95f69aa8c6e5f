/*
 * Reading a replayed stream through the API.
 */
#ifndef ZETA_TESTS_REPLAY_READING_H
#define ZETA_TESTS_REPLAY_READING_H

#include "tests/metric_api/harness.h"
#include "tests/replay/tape.h"

/** A device of a recording with a context. */
struct reading {
    ze_device_handle_t device;
    ze_context_handle_t context;
};

struct reading reading_begin(const char *device);
void reading_end(struct reading *reading);

/** Activates the time-based group and opens a streamer on it. */
zet_metric_streamer_handle_t reading_open(struct reading *reading, zet_metric_group_handle_t group,
                                          uint32_t notify, ze_event_handle_t event);

/** Deactivates everything. */
void reading_deactivate(struct reading *reading);

/**
 * Reads with room for so many slots each time until the stream has ended and gives nothing more.
 * Appends what came; returns how many reads gave a warning of dropped data.
 */
uint32_t reading_drain(zet_metric_streamer_handle_t streamer, uint32_t room,
                       struct tape_data *out_data);

/** Whether zetaMetricStreamerGetInfo() says that it is over. */
bool reading_has_ended(zet_metric_streamer_handle_t streamer);

/** Fails unless both pieces of raw data give the same values, which are not none. */
void expect_same_values(zet_metric_group_handle_t group, const struct tape_data *left,
                        const struct tape_data *right);

/** The same for devices with tiles, set by set. */
void expect_same_sets(zet_metric_group_handle_t group, const struct tape_data *left,
                      const struct tape_data *right, uint32_t tiles);

/** Takes away repeated records, TILE slots and padding; appends the rest. */
void reading_strip(const struct tape_data *raw, struct tape_data *out_plain);

#endif
