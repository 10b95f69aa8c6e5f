/*
 * A device of the fake backend with a context, for tests of streams.
 */
#ifndef ZETA_TESTS_METRIC_API_STREAM_BED_H
#define ZETA_TESTS_METRIC_API_STREAM_BED_H

#include "tests/harness/control.h"
#include "tests/harness/device/stream_control.h"
#include "tests/metric_api/harness.h"

struct stream_bed {
    const struct stream_control *control;
    const char *name; /**< of the device */
    ze_device_handle_t device;
    ze_context_handle_t context;
};

/** Finds the device, makes a context, forgets what the backend was told before. */
struct stream_bed bed_make(const char *device);

/** Deactivates everything and destroys the context; no call may have overlapped another. */
void bed_free(struct stream_bed *bed);

/** Activates exactly this time-based group and gives it. */
zet_metric_group_handle_t bed_activate(struct stream_bed *bed, const char *group);

/** Opens a stream of a group that is active. event may be NULL; N = 0: no notification. */
zet_metric_streamer_handle_t bed_open(struct stream_bed *bed, zet_metric_group_handle_t group,
                                      uint32_t notify, ze_event_handle_t event);

/** What one slot of raw data is. */
enum slot_form { SLOT_RECORD, SLOT_BREAK, SLOT_TILE, SLOT_OTHER };

/** A slot, decoded without the library's own code. */
struct slot {
    enum slot_form form;
    uint32_t number; /**< of the record; BREAK: reason; TILE: index */
    uint64_t lost;   /**< BREAK */
};

/** Reads into room for so many slots and decodes them. Returns the number of slots. */
uint32_t bed_read(zet_metric_streamer_handle_t streamer, uint32_t max_records, uint32_t room,
                  ze_result_t wanted, struct slot *out_slots);

/** Fails unless the slots are the records first, first + 1 ... up to last. */
void expect_records(const struct slot *slots, uint32_t count, uint32_t first, uint32_t last);

#endif
