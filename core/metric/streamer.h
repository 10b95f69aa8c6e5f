/*
 * Streamers: the handles of streams.
 */
#ifndef ZETA_CORE_METRIC_STREAMER_H
#define ZETA_CORE_METRIC_STREAMER_H

#include "core/object/object.h"

struct zeta_context;
struct zeta_stream;

/** The object behind zet_metric_streamer_handle_t. */
struct zeta_metric_streamer {
    struct zeta_object object;
    struct zeta_stream *stream;         /**< freed with the last pin */
    const struct zeta_context *context; /**< only to compare, not pinned */
};

/** Names the finisher of streamers. To be called before the first is made; idempotent. */
void zeta_metric_streamer_set_finisher(void);

#endif
