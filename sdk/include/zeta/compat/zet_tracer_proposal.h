/*
 * Names of the proposal for metrics based on tracers, which became an extension of 1.10 under
 * somewhat other names.
 *
 * Include it in the place of level_zero/zet_api.h, after every other header of Level Zero; it may
 * stand beside zet_1_0_provisional.h. README.md lists all names. A call in the form of 1.17 goes
 * on working; a name in parentheses, and its address, is always the function of 1.17.
 */
#ifndef ZETA_COMPAT_ZET_TRACER_PROPOSAL_H
#define ZETA_COMPAT_ZET_TRACER_PROPOSAL_H

#if defined(ZETA_COMPAT_ZET_0_91_H)
#error "zeta/compat: 0.91 gives some names another meaning; use one level in each source file"
#endif

#include <level_zero/zet_api.h>

#if !defined(ZET_METRICS_TRACER_EXP_NAME)
#error "zeta/compat: metric tracers need the headers of 1.10 or later"
#endif

#include <zeta/compat/select.h>

#define ZET_METRIC_SAMPLING_TYPE_EXP_FLAG_TRACER_BASED                                             \
    ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED
#define ZET_STRUCTURE_TYPE_METRIC_TRACER_DESC_EXP ZET_STRUCTURE_TYPE_METRIC_TRACER_EXP_DESC

typedef zet_metric_tracer_exp_desc_t zet_metric_tracer_desc_t;

/* The name in the prose of the proposal. */
#define zetMetricTracerCreate zetMetricTracerCreateExp

/* The proposal gives no arguments but a tracer: then the call returns when it has taken effect. */
#define zetMetricTracerEnableExp(...)                                                              \
    ZETA_COMPAT_PICK_2(__VA_ARGS__, zetMetricTracerEnableExp, zeta_compat_enable_metric_tracer, 0) \
    (__VA_ARGS__)

#define zetMetricTracerDisableExp(...)                                                             \
    ZETA_COMPAT_PICK_2(__VA_ARGS__, zetMetricTracerDisableExp, zeta_compat_disable_metric_tracer,  \
                       0)                                                                          \
    (__VA_ARGS__)

/*
 * A size of 0 or no buffer asks for the size, which the call of today refuses: there is no saying
 * how much will be there a moment later. The answer is room for many events; the read then writes
 * what it gave, and what did not fit is there for the next one.
 */
#define ZETA_COMPAT_TRACER_ROOM_BYTES ((size_t)1 << 20)

#define zetMetricTracerReadDataExp(tracer, size, data)                                             \
    zeta_compat_read_metric_tracer(tracer, size, data)

static inline ze_result_t zeta_compat_read_metric_tracer(zet_metric_tracer_exp_handle_t tracer,
                                                         size_t *size, uint8_t *data)
{
    ze_result_t result = (zetMetricTracerReadDataExp)(tracer, size, data);

    if (result == ZE_RESULT_ERROR_INVALID_ARGUMENT && size && (*size == 0 || !data)) {
        *size = ZETA_COMPAT_TRACER_ROOM_BYTES;
        result = ZE_RESULT_SUCCESS;
    }
    return result;
}

static inline ze_result_t zeta_compat_enable_metric_tracer(zet_metric_tracer_exp_handle_t tracer)
{
    return (zetMetricTracerEnableExp)(tracer, 1);
}

static inline ze_result_t zeta_compat_disable_metric_tracer(zet_metric_tracer_exp_handle_t tracer)
{
    return (zetMetricTracerDisableExp)(tracer, 1);
}

#endif
