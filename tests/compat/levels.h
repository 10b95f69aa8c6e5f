/* One program of three sources, each with names of another level (test_levels.c). */
#ifndef ZETA_TESTS_COMPAT_LEVELS_H
#define ZETA_TESTS_COMPAT_LEVELS_H

#include "fake.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Opens a metric tracer of 0.91 on a device. */
ze_result_t level_91_open(zet_device_handle_t device);

/** What every call of a level does first: the context for a device. */
ze_result_t level_91_find_context(zet_device_handle_t device, ze_context_handle_t *out_context);

/** Opens a streamer in the way of the provisional 1.0 on a device; a source in C++. */
ze_result_t level_100_open(zet_device_handle_t device);

/** Enables a metric tracer in the way of the proposal. */
ze_result_t level_proposal_enable(zet_metric_tracer_exp_handle_t tracer);

#if defined(__cplusplus)
}
#endif

#endif
