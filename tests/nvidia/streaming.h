#ifndef ZETA_TESTS_NVIDIA_STREAMING_H
#define ZETA_TESTS_NVIDIA_STREAMING_H

/* A streamer, and all that was read of it. Every failure ends the test. */

#include "plugins/nvidia/sampling/program.h"
#include "tests/nvidia/bed.h"

/** Room for all that a case reads. */
enum { STREAM_RAW_BYTES = 32 << 20 };

struct stream {
    ze_device_handle_t device;
    ze_context_handle_t context;
    zet_metric_group_handle_t group;
    zet_metric_group_properties_t properties;
    zet_metric_streamer_handle_t streamer;
    uint32_t period_ns, notify;
    uint8_t *raw;
    size_t bytes;
    bool is_broken; /**< records are missing in it */
    bool is_alone;  /**< its context and the activation are its own */
};

/** Activates a time-based group alone, in a context of its own. */
struct stream stream_make(ze_device_handle_t device, const char *group, uint32_t period_ns);

/** For a group that is or becomes active beside others. */
struct stream stream_beside(ze_context_handle_t context, ze_device_handle_t device,
                            const char *group, uint32_t period_ns);

/** Opens the streamer; period and notification become those that are used. */
ze_result_t stream_open(struct stream *stream, ze_event_handle_t event);

/** Reads what is there; the bytes of it. */
size_t stream_read(struct stream *stream);

/** Reads until that many more records are there. */
void stream_wait(struct stream *stream, size_t count);

/** Reads until all that is over now is read; times of records are those of the raw clock. */
void stream_wait_now(struct stream *stream);

/** Closes what is open; deactivates what stream_make() activated. */
void stream_close(struct stream *stream);

/** Sum of a metric, which has values of 64 bits, over all rows. */
double stream_sum(const struct stream *stream, const char *metric);

#endif
