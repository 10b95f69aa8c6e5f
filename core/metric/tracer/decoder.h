/*
 * Decoders: what turns the data of a tracer into entries, as objects.
 *
 * A decoder belongs to the groups of its tracer, not to the tracer, which it outlives. Its metrics
 * are handles of its own: they decode and have properties, and belong to no group that could be
 * activated.
 */
#ifndef ZETA_CORE_METRIC_TRACER_DECODER_H
#define ZETA_CORE_METRIC_TRACER_DECODER_H

#include <stdint.h>

#include "core/object/object.h"

struct zeta_decode_plan;
struct zeta_metric_entry;

/** What hangs off a decoder. Constant once made. */
struct zeta_decoder {
    struct zeta_decode_plan *plan;
    struct zeta_metric_entry **entries; /**< metrics, in the order of the plan */
    uint32_t metric_count;
    char label[192]; /**< of the tracer */
};

/** The object behind zet_metric_decoder_exp_handle_t. */
struct zeta_metric_decoder {
    struct zeta_object object;
    struct zeta_decoder *decoder; /**< freed with the last pin */
};

#endif
