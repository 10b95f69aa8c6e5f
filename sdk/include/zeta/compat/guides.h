/*
 * Names that the guides of 0.91 and of the provisional 1.0 have in common. Not for programs
 * themselves: the headers of the levels include it.
 */
#ifndef ZETA_COMPAT_GUIDES_H
#define ZETA_COMPAT_GUIDES_H

#include <zeta/compat/context.h>
#include <zeta/compat/select.h>

typedef zet_tracer_exp_handle_t zet_tracer_handle_t;
typedef zet_metric_group_sampling_type_flags_t zet_metric_group_sampling_type_t;
typedef zet_metric_query_pool_type_t zet_metric_query_pool_flag_t;

/* Both guides use names that no released header ever had. */
typedef ze_command_list_append_launch_kernel_params_t
    ze_command_list_append_launch_function_params_t;
#define pfnAppendLaunchFunction pfnAppendLaunchKernelCb

#define ZET_METRIC_GROUP_SAMPLING_TYPE_EVENT_BASED ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED
#define ZET_METRIC_GROUP_SAMPLING_TYPE_TIME_BASED ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED
#define ZET_METRIC_QUERY_POOL_FLAG_PERFORMANCE ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE
#define ZE_EVENT_POOL_FLAG_DEFAULT ((ze_event_pool_flag_t)0)

/* ---------------------------------------------------------------- contexts from drivers */

/* For a call whose first argument is a driver in old programs and a context in new ones. */
#if defined(__cplusplus)
#define ZETA_COMPAT_CONTEXT(handle) zeta_compat_context(handle)

static inline ze_context_handle_t zeta_compat_context(ze_driver_handle_t driver)
{
    return zeta_compat_driver_context(driver);
}

static inline ze_context_handle_t zeta_compat_context(ze_context_handle_t context)
{
    return context;
}

static inline ze_context_handle_t zeta_compat_context(decltype(nullptr))
{
    return nullptr;
}
#else
#define ZETA_COMPAT_CONTEXT(handle)                                                                \
    _Generic((handle), ze_driver_handle_t                                                          \
             : zeta_compat_driver_context, default                                                 \
             : zeta_compat_same_context)(handle)

static inline ze_context_handle_t zeta_compat_same_context(ze_context_handle_t context)
{
    return context;
}
#endif

/* ---------------------------------------------------------------- tracing of API calls */

#define zetTracerDestroy zetTracerExpDestroy
#define zetTracerSetPrologues zetTracerExpSetPrologues
#define zetTracerSetEpilogues zetTracerExpSetEpilogues
#define zetTracerSetEnabled zetTracerExpSetEnabled

/**
 * Creates a tracer for the driver of a driver or device. Only pUserData of the descriptor is used:
 * the samples of the guides leave pNext as it happens to be.
 */
static inline ze_result_t zeta_compat_create_tracer(const void *driver_or_device,
                                                    const zet_tracer_exp_desc_t *desc,
                                                    zet_tracer_exp_handle_t *out_tracer)
{
    zet_tracer_exp_desc_t clean = {ZET_STRUCTURE_TYPE_TRACER_EXP_DESC, NULL, NULL};
    ze_context_handle_t context = NULL;
    ze_result_t result = zeta_compat_find_context(driver_or_device, &context);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (desc)
        clean.pUserData = desc->pUserData;
    return zetTracerExpCreate(context, desc ? &clean : NULL, out_tracer);
}

/* ---------------------------------------------------------------- metrics */

#define zetDeviceActivateMetricGroups zeta_compat_activate_metric_groups

static inline ze_result_t zeta_compat_activate_metric_groups(zet_device_handle_t device,
                                                             uint32_t count,
                                                             zet_metric_group_handle_t *groups)
{
    ze_context_handle_t context = NULL;
    ze_result_t result = zeta_compat_find_context(device, &context);

    return result == ZE_RESULT_SUCCESS
               ? zetContextActivateMetricGroups(context, device, count, groups)
               : result;
}

/* The old meaning of a calculation is that of the type METRIC_VALUES. */
#define zetMetricGroupCalculateMetricValues(...)                                                   \
    ZETA_COMPAT_PICK_6(__VA_ARGS__, zetMetricGroupCalculateMetricValues,                           \
                       zeta_compat_calculate_metric_values, 0)                                     \
    (__VA_ARGS__)

static inline ze_result_t zeta_compat_calculate_metric_values(zet_metric_group_handle_t group,
                                                              size_t raw_bytes, const uint8_t *raw,
                                                              uint32_t *value_count,
                                                              zet_typed_value_t *values)
{
    return (zetMetricGroupCalculateMetricValues)(group,
                                                 ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                                 raw_bytes, raw, value_count, values);
}

/** Creates a pool of queries on a device, in the context that stands for its driver. */
static inline ze_result_t zeta_compat_create_query_pool(zet_device_handle_t device,
                                                        zet_metric_group_handle_t group,
                                                        const zet_metric_query_pool_desc_t *desc,
                                                        zet_metric_query_pool_handle_t *out_pool)
{
    ze_context_handle_t context = NULL;
    ze_result_t result = zeta_compat_find_context(device, &context);

    return result == ZE_RESULT_SUCCESS
               ? (zetMetricQueryPoolCreate)(context, device, group, desc, out_pool)
               : result;
}

#endif
