/*
 * Names of the Tools API 0.91, for programs that are compiled against today's headers.
 *
 * Include it in the place of level_zero/zet_api.h, after every other header of Level Zero: some
 * names of structs mean the old structs from here on. README.md lists all names, those that are
 * not offered too. A call in the form of 1.17 goes on working, with `struct _ze_event_desc_t` and
 * its like where the plain name means the old struct; a name in parentheses, and its address, is
 * always the function of 1.17.
 */
#ifndef ZETA_COMPAT_ZET_0_91_H
#define ZETA_COMPAT_ZET_0_91_H

#if defined(ZETA_COMPAT_ZET_1_0_PROVISIONAL_H) || defined(ZETA_COMPAT_ZET_TRACER_PROPOSAL_H)
#error "zeta/compat: 0.91 gives some names another meaning; use one level in each source file"
#endif

#include <zeta/compat/guides.h>

/* ---------------------------------------------------------------- initialisation */

#define ZE_INIT_FLAG_NONE ((ze_init_flag_t)0)
#define zetInit zeta_compat_91_init

/** Does nothing but zeInit(), which may be called any number of times by any threads. */
static inline ze_result_t zeta_compat_91_init(uint32_t flags)
{
    return zeInit(flags);
}

/* ---------------------------------------------------------------- old structs */

/* In the place of stype and pNext they begin with a version, which was 91 and is not looked at. */
#define ZE_EVENT_DESC_VERSION_CURRENT 0x5b
#define ZE_EVENT_POOL_DESC_VERSION_CURRENT 0x5b
#define ZET_METRIC_GROUP_PROPERTIES_VERSION_CURRENT 0x5b
#define ZET_METRIC_PROPERTIES_VERSION_CURRENT 0x5b
#define ZET_METRIC_QUERY_POOL_DESC_VERSION_CURRENT 0x5b
#define ZET_METRIC_TRACER_DESC_VERSION_CURRENT 0x5b
#define ZET_PROFILE_INFO_VERSION_CURRENT 0x5b
#define ZET_TRACER_DESC_VERSION_CURRENT 0x5b

struct zeta_compat_91_event_pool_desc {
    uint32_t version;
    ze_event_pool_flags_t flags;
    uint32_t count;
};

struct zeta_compat_91_event_desc {
    uint32_t version;
    uint32_t index;
    ze_event_scope_flags_t signal;
    ze_event_scope_flags_t wait;
};

struct zeta_compat_91_tracer_desc {
    uint32_t version;
    void *pUserData;
};

struct zeta_compat_91_metric_group_properties {
    uint32_t version;
    char name[ZET_MAX_METRIC_GROUP_NAME];
    char description[ZET_MAX_METRIC_GROUP_DESCRIPTION];
    zet_metric_group_sampling_type_t samplingType;
    uint32_t domain;
    uint32_t maxCommandQueueOrdinal; /* no longer known: set to 0, the first queue of a device */
    uint32_t metricCount;
};

struct zeta_compat_91_metric_properties {
    uint32_t version;
    char name[ZET_MAX_METRIC_NAME];
    char description[ZET_MAX_METRIC_DESCRIPTION];
    char component[ZET_MAX_METRIC_COMPONENT];
    uint32_t tierNumber;
    zet_metric_type_t metricType;
    zet_value_type_t resultType;
    char resultUnits[ZET_MAX_METRIC_RESULT_UNITS];
};

struct zeta_compat_91_metric_tracer_desc {
    uint32_t version;
    uint32_t notifyEveryNReports;
    uint32_t samplingPeriod;
};

struct zeta_compat_91_metric_query_pool_desc {
    uint32_t version;
    zet_metric_query_pool_flag_t flags;
    uint32_t count;
};

struct zeta_compat_91_profile_info {
    uint32_t version;
    zet_profile_flags_t flags;
    uint32_t numTokens;
};

typedef struct zeta_compat_91_tracer_desc zet_tracer_desc_t;
typedef struct zeta_compat_91_metric_tracer_desc zet_metric_tracer_desc_t;
typedef struct zeta_compat_91_profile_info zet_profile_info_t;
typedef zet_metric_streamer_handle_t zet_metric_tracer_handle_t;

/* ---------------------------------------------------------------- events */

#define ZE_EVENT_POOL_FLAG_TIMESTAMP ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP
#define ZE_EVENT_SCOPE_FLAG_NONE ((ze_event_scope_flag_t)0)
#define XE_EVENT_SCOPE_FLAG_HOST ZE_EVENT_SCOPE_FLAG_HOST /* as the guide has it */

static inline ze_result_t zeta_compat_91_create_event_pool(
    ze_context_handle_t context, const struct zeta_compat_91_event_pool_desc *old,
    uint32_t device_count, ze_device_handle_t *devices, ze_event_pool_handle_t *out_pool)
{
    struct _ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL, 0, 0};

    if (old) {
        desc.flags = old->flags;
        desc.count = old->count;
    }
    return zeEventPoolCreate(context, old ? &desc : NULL, device_count, devices, out_pool);
}

static inline ze_result_t zeta_compat_91_create_event(ze_event_pool_handle_t pool,
                                                      const struct zeta_compat_91_event_desc *old,
                                                      ze_event_handle_t *out_event)
{
    struct _ze_event_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, 0, 0, 0};

    if (old) {
        desc.index = old->index;
        desc.signal = old->signal;
        desc.wait = old->wait;
    }
    return zeEventCreate(pool, old ? &desc : NULL, out_event);
}

/** The greatest value of 32 bits meant to wait for ever; that of 64 bits still does. */
static inline ze_result_t zeta_compat_91_synchronize_event(ze_event_handle_t event,
                                                           uint64_t timeout_ns)
{
    return zeEventHostSynchronize(event, timeout_ns == UINT32_MAX ? UINT64_MAX : timeout_ns);
}

/* ---------------------------------------------------------------- tracing of API calls */

#define zetTracerCreate zeta_compat_91_create_tracer

static inline ze_result_t zeta_compat_91_create_tracer(const void *driver_or_device,
                                                       const struct zeta_compat_91_tracer_desc *old,
                                                       zet_tracer_exp_handle_t *out_tracer)
{
    zet_tracer_exp_desc_t desc = {ZET_STRUCTURE_TYPE_TRACER_EXP_DESC, NULL,
                                  old ? old->pUserData : NULL};

    return zeta_compat_create_tracer(driver_or_device, old ? &desc : NULL, out_tracer);
}

/* ---------------------------------------------------------------- properties */

static inline ze_result_t
zeta_compat_91_get_group_properties(zet_metric_group_handle_t group,
                                    struct zeta_compat_91_metric_group_properties *old)
{
    struct _zet_metric_group_properties_t now;
    ze_result_t result;

    now.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES;
    now.pNext = NULL;
    result = zetMetricGroupGetProperties(group, old ? &now : NULL);
    if (result != ZE_RESULT_SUCCESS || !old)
        return result;
    for (size_t i = 0; i < sizeof(old->name); i++)
        old->name[i] = now.name[i];
    for (size_t i = 0; i < sizeof(old->description); i++)
        old->description[i] = now.description[i];
    old->samplingType = now.samplingType;
    old->domain = now.domain;
    old->maxCommandQueueOrdinal = 0;
    old->metricCount = now.metricCount;
    return result;
}

static inline ze_result_t
zeta_compat_91_get_metric_properties(zet_metric_handle_t metric,
                                     struct zeta_compat_91_metric_properties *old)
{
    struct _zet_metric_properties_t now;
    ze_result_t result;

    now.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES;
    now.pNext = NULL;
    result = zetMetricGetProperties(metric, old ? &now : NULL);
    if (result != ZE_RESULT_SUCCESS || !old)
        return result;
    for (size_t i = 0; i < sizeof(old->name); i++)
        old->name[i] = now.name[i];
    for (size_t i = 0; i < sizeof(old->description); i++)
        old->description[i] = now.description[i];
    for (size_t i = 0; i < sizeof(old->component); i++)
        old->component[i] = now.component[i];
    old->tierNumber = now.tierNumber;
    old->metricType = now.metricType;
    old->resultType = now.resultType;
    for (size_t i = 0; i < sizeof(old->resultUnits); i++)
        old->resultUnits[i] = now.resultUnits[i];
    return result;
}

/**
 * What was done to the registers of a kernel. Drivers put tokens behind the struct of 1.17, where
 * there is room for them here; they are not passed on, so the number of tokens is always 0.
 */
static inline ze_result_t zeta_compat_91_get_profile_info(zet_kernel_handle_t kernel,
                                                          struct zeta_compat_91_profile_info *old)
{
    struct {
        zet_profile_properties_t properties;
        uint64_t tokens[512];
    } now;
    ze_result_t result;

    now.properties.stype = ZET_STRUCTURE_TYPE_PROFILE_PROPERTIES;
    now.properties.pNext = NULL;
    result = zetKernelGetProfileInfo(kernel, old ? &now.properties : NULL);
    if (result != ZE_RESULT_SUCCESS || !old)
        return result;
    old->flags = now.properties.flags;
    old->numTokens = 0;
    return result;
}

/* ---------------------------------------------------------------- metric tracers, now streamers */

#define zetMetricTracerOpen zeta_compat_91_open_metric_tracer
#define zetMetricTracerReadData zetMetricStreamerReadData
#define zetMetricTracerClose zetMetricStreamerClose
#define zetCommandListAppendMetricTracerMarker zetCommandListAppendMetricStreamerMarker

/** On success the period and the number of reports that are really used are in the descriptor. */
static inline ze_result_t
zeta_compat_91_open_metric_tracer(zet_device_handle_t device, zet_metric_group_handle_t group,
                                  struct zeta_compat_91_metric_tracer_desc *old,
                                  ze_event_handle_t event, zet_metric_streamer_handle_t *out_tracer)
{
    zet_metric_streamer_desc_t desc = {ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC, NULL, 0, 0};
    ze_context_handle_t context = NULL;
    ze_result_t result = zeta_compat_find_context(device, &context);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!old)
        return zetMetricStreamerOpen(context, device, group, NULL, event, out_tracer);
    desc.notifyEveryNReports = old->notifyEveryNReports;
    desc.samplingPeriod = old->samplingPeriod;
    result = zetMetricStreamerOpen(context, device, group, &desc, event, out_tracer);
    if (result == ZE_RESULT_SUCCESS) {
        old->notifyEveryNReports = desc.notifyEveryNReports;
        old->samplingPeriod = desc.samplingPeriod;
    }
    return result;
}

/* ---------------------------------------------------------------- metric queries */

#define ZET_METRIC_QUERY_POOL_FLAG_SKIP_EXECUTION ZET_METRIC_QUERY_POOL_TYPE_EXECUTION

static inline ze_result_t
zeta_compat_91_create_query_pool(zet_device_handle_t device, zet_metric_group_handle_t group,
                                 const struct zeta_compat_91_metric_query_pool_desc *old,
                                 zet_metric_query_pool_handle_t *out_pool)
{
    struct _zet_metric_query_pool_desc_t desc = {ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC, NULL,
                                                 ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE, 0};

    if (old) {
        desc.type = old->flags;
        desc.count = old->count;
    }
    return zeta_compat_create_query_pool(device, group, old ? &desc : NULL, out_pool);
}

static inline ze_result_t zeta_compat_91_append_query_end(zet_command_list_handle_t list,
                                                          zet_metric_query_handle_t query,
                                                          ze_event_handle_t event)
{
    return zetCommandListAppendMetricQueryEnd(list, query, event, 0, NULL);
}

/* ---------------------------------------------------------------- program debug: values only */

#define ZET_DEBUG_EVENT_INVALID ZET_DEBUG_EVENT_TYPE_INVALID
#define ZET_DEBUG_EVENT_DETACHED ZET_DEBUG_EVENT_TYPE_DETACHED
#define ZET_DEBUG_EVENT_PROCESS_ENTRY ZET_DEBUG_EVENT_TYPE_PROCESS_ENTRY
#define ZET_DEBUG_EVENT_PROCESS_EXIT ZET_DEBUG_EVENT_TYPE_PROCESS_EXIT
#define ZET_DEBUG_EVENT_MODULE_LOAD ZET_DEBUG_EVENT_TYPE_MODULE_LOAD
#define ZET_DEBUG_EVENT_MODULE_UNLOAD ZET_DEBUG_EVENT_TYPE_MODULE_UNLOAD
#define ZET_DEBUG_EVENT_EXCEPTION ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED
#define ZET_DEBUG_DETACH_INVALID ZET_DEBUG_DETACH_REASON_INVALID
#define ZET_DEBUG_DETACH_HOST_EXIT ZET_DEBUG_DETACH_REASON_HOST_EXIT
#define ZET_DEBUG_MEMORY_SPACE_GEN_DEFAULT ZET_DEBUG_MEMORY_SPACE_TYPE_DEFAULT
#define ZET_DEBUG_MEMORY_SPACE_GEN_SLM ZET_DEBUG_MEMORY_SPACE_TYPE_SLM

/* ---------------------------------------------------------------- the forms of 1.17, in C++ */

#if defined(__cplusplus)
static inline ze_result_t zeta_compat_91_create_event_pool(ze_context_handle_t context,
                                                           const struct _ze_event_pool_desc_t *desc,
                                                           uint32_t device_count,
                                                           ze_device_handle_t *devices,
                                                           ze_event_pool_handle_t *out_pool)
{
    return zeEventPoolCreate(context, desc, device_count, devices, out_pool);
}

static inline ze_result_t zeta_compat_91_create_event(ze_event_pool_handle_t pool,
                                                      const struct _ze_event_desc_t *desc,
                                                      ze_event_handle_t *out_event)
{
    return zeEventCreate(pool, desc, out_event);
}

static inline ze_result_t
zeta_compat_91_get_group_properties(zet_metric_group_handle_t group,
                                    struct _zet_metric_group_properties_t *properties)
{
    return zetMetricGroupGetProperties(group, properties);
}

static inline ze_result_t
zeta_compat_91_get_metric_properties(zet_metric_handle_t metric,
                                     struct _zet_metric_properties_t *properties)
{
    return zetMetricGetProperties(metric, properties);
}

static inline ze_result_t zeta_compat_91_get_profile_info(zet_kernel_handle_t kernel,
                                                          zet_profile_properties_t *properties)
{
    return zetKernelGetProfileInfo(kernel, properties);
}
#endif

/* ---------------------------------------------------------------- names that collide */

/* Last, so that everything above could use the functions and structs of 1.17. */
#define ze_event_pool_desc_t struct zeta_compat_91_event_pool_desc
#define ze_event_desc_t struct zeta_compat_91_event_desc
#define zet_metric_group_properties_t struct zeta_compat_91_metric_group_properties
#define zet_metric_properties_t struct zeta_compat_91_metric_properties
#define zet_metric_query_pool_desc_t struct zeta_compat_91_metric_query_pool_desc

#define zeEventPoolCreate(hDriver, desc, numDevices, phDevices, phEventPool)                       \
    ZETA_COMPAT_BY_STRUCT(desc, zeta_compat_91_event_pool_desc, zeta_compat_91_create_event_pool,  \
                          zeEventPoolCreate)                                                       \
    (ZETA_COMPAT_CONTEXT(hDriver), desc, numDevices, phDevices, phEventPool)

#define zeEventCreate(hEventPool, desc, phEvent)                                                   \
    ZETA_COMPAT_BY_STRUCT(desc, zeta_compat_91_event_desc, zeta_compat_91_create_event,            \
                          zeEventCreate)                                                           \
    (hEventPool, desc, phEvent)

#define zeEventHostSynchronize(hEvent, timeout) zeta_compat_91_synchronize_event(hEvent, timeout)

#define zetMetricGroupGetProperties(hMetricGroup, pProperties)                                     \
    ZETA_COMPAT_BY_STRUCT(pProperties, zeta_compat_91_metric_group_properties,                     \
                          zeta_compat_91_get_group_properties, zetMetricGroupGetProperties)        \
    (hMetricGroup, pProperties)

#define zetMetricGetProperties(hMetric, pProperties)                                               \
    ZETA_COMPAT_BY_STRUCT(pProperties, zeta_compat_91_metric_properties,                           \
                          zeta_compat_91_get_metric_properties, zetMetricGetProperties)            \
    (hMetric, pProperties)

#define zetKernelGetProfileInfo(hKernel, pInfo)                                                    \
    ZETA_COMPAT_BY_STRUCT(pInfo, zeta_compat_91_profile_info, zeta_compat_91_get_profile_info,     \
                          zetKernelGetProfileInfo)                                                 \
    (hKernel, pInfo)

#define zetMetricQueryPoolCreate(...)                                                              \
    ZETA_COMPAT_PICK_5(__VA_ARGS__, zetMetricQueryPoolCreate, zeta_compat_91_create_query_pool, 0) \
    (__VA_ARGS__)

#define zetCommandListAppendMetricQueryEnd(...)                                                    \
    ZETA_COMPAT_PICK_5(__VA_ARGS__, zetCommandListAppendMetricQueryEnd,                            \
                       zetCommandListAppendMetricQueryEnd, zeta_compat_91_append_query_end, 0)     \
    (__VA_ARGS__)

#endif
