/*
 * Names of the guide of the provisional 1.0, for programs that are compiled against today's
 * headers.
 *
 * Include it in the place of level_zero/zet_api.h, after every other header of Level Zero.
 * README.md lists all names, those that are not offered too. A call in the form of 1.17 goes on
 * working; a name in parentheses, and its address, is always the function of 1.17. Queries for
 * properties set stype and end the chain, because the samples of the guide leave both as they
 * happen to be: a new chain needs the name in parentheses.
 */
#ifndef ZETA_COMPAT_ZET_1_0_PROVISIONAL_H
#define ZETA_COMPAT_ZET_1_0_PROVISIONAL_H

#if defined(ZETA_COMPAT_ZET_0_91_H)
#error "zeta/compat: 0.91 gives some names another meaning; use one level in each source file"
#endif

#include <zeta/compat/guides.h>

/* ---------------------------------------------------------------- tracing of API calls */

typedef zet_tracer_exp_desc_t zet_tracer_desc_t;
#define ZET_STRUCTURE_TYPE_TRACER_DESC ZET_STRUCTURE_TYPE_TRACER_EXP_DESC
#define zetTracerCreate zeta_compat_create_tracer

/* ---------------------------------------------------------------- properties */

typedef zet_profile_properties_t zet_profile_info_t;

static inline ze_result_t
zeta_compat_100_get_group_properties(zet_metric_group_handle_t group,
                                     zet_metric_group_properties_t *properties)
{
    if (properties) {
        properties->stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES;
        properties->pNext = NULL;
    }
    return zetMetricGroupGetProperties(group, properties);
}

static inline ze_result_t zeta_compat_100_get_metric_properties(zet_metric_handle_t metric,
                                                                zet_metric_properties_t *properties)
{
    if (properties) {
        properties->stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES;
        properties->pNext = NULL;
    }
    return zetMetricGetProperties(metric, properties);
}

static inline ze_result_t zeta_compat_100_get_profile_info(zet_kernel_handle_t kernel,
                                                           zet_profile_properties_t *info)
{
    if (info) {
        info->stype = ZET_STRUCTURE_TYPE_PROFILE_PROPERTIES;
        info->pNext = NULL;
    }
    return zetKernelGetProfileInfo(kernel, info);
}

/* ---------------------------------------------------------------- metric streamers */

static inline ze_result_t zeta_compat_100_open_streamer(zet_device_handle_t device,
                                                        zet_metric_group_handle_t group,
                                                        zet_metric_streamer_desc_t *desc,
                                                        ze_event_handle_t event,
                                                        zet_metric_streamer_handle_t *out_streamer)
{
    ze_context_handle_t context = NULL;
    ze_result_t result = zeta_compat_find_context(device, &context);

    return result == ZE_RESULT_SUCCESS
               ? zetMetricStreamerOpen(context, device, group, desc, event, out_streamer)
               : result;
}

/* ---------------------------------------------------------------- metric queries */

/** The descriptor of 1.17 but for the name of a member: flags is type today. */
struct zeta_compat_100_metric_query_pool_desc {
    zet_structure_type_t stype;
    const void *pNext;
    zet_metric_query_pool_flag_t flags;
    uint32_t count;
};

static inline ze_result_t
zeta_compat_100_create_query_pool(zet_device_handle_t device, zet_metric_group_handle_t group,
                                  const struct zeta_compat_100_metric_query_pool_desc *old,
                                  zet_metric_query_pool_handle_t *out_pool)
{
    struct _zet_metric_query_pool_desc_t desc = {ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC, NULL,
                                                 ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE, 0};

    if (old) {
        desc.pNext = old->pNext;
        desc.type = old->flags;
        desc.count = old->count;
    }
    return zeta_compat_create_query_pool(device, group, old ? &desc : NULL, out_pool);
}

/* ---------------------------------------------------------------- names that collide */

/* Last, so that everything above could use the functions and structs of 1.17. */
#define zet_metric_query_pool_desc_t struct zeta_compat_100_metric_query_pool_desc

#define zeEventPoolCreate(hDriver, desc, numDevices, phDevices, phEventPool)                       \
    zeEventPoolCreate(ZETA_COMPAT_CONTEXT(hDriver), desc, numDevices, phDevices, phEventPool)

#define zetMetricGroupGetProperties(hMetricGroup, pProperties)                                     \
    zeta_compat_100_get_group_properties(hMetricGroup, pProperties)

#define zetMetricGetProperties(hMetric, pProperties)                                               \
    zeta_compat_100_get_metric_properties(hMetric, pProperties)

#define zetKernelGetProfileInfo(hKernel, pInfo) zeta_compat_100_get_profile_info(hKernel, pInfo)

#define zetMetricStreamerOpen(...)                                                                 \
    ZETA_COMPAT_PICK_6(__VA_ARGS__, zetMetricStreamerOpen, zeta_compat_100_open_streamer, 0)       \
    (__VA_ARGS__)

#define zetMetricQueryPoolCreate(...)                                                              \
    ZETA_COMPAT_PICK_5(__VA_ARGS__, zetMetricQueryPoolCreate, zeta_compat_100_create_query_pool,   \
                       0)                                                                          \
    (__VA_ARGS__)

#endif
