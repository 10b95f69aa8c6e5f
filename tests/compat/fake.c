#include "fake.h"

struct seen seen;
uint32_t fake_contexts_created;
ze_result_t fake_result;
ze_result_t fake_drivers_result;

static char drivers[2];
static char devices[5];
static char default_contexts[2];
static char own_contexts[64];
static char handles[16];

void fake_reset(void)
{
    memset(&seen, 0, sizeof(seen));
    fake_result = ZE_RESULT_SUCCESS;
    fake_drivers_result = ZE_RESULT_SUCCESS;
}

ze_driver_handle_t fake_driver(unsigned index)
{
    return (ze_driver_handle_t)&drivers[index];
}

ze_device_handle_t fake_device(unsigned index)
{
    return (ze_device_handle_t)&devices[index];
}

ze_context_handle_t fake_default_context(unsigned index)
{
    return (ze_context_handle_t)&default_contexts[index];
}

void *fake_handle(unsigned index)
{
    return &handles[index];
}

static void see(const char *function, const void *handle)
{
    memset(&seen, 0, sizeof(seen));
    seen.function = function;
    seen.handle = handle;
}

/* Every descriptor and every struct of properties begins like this. */
static void see_struct(const void *pointer)
{
    const ze_base_desc_t *base = pointer;

    seen.pointer = pointer;
    if (!base)
        return;
    seen.stype = (uint32_t)base->stype;
    seen.chain = base->pNext;
}

/* ---------------------------------------------------------------- drivers, devices, contexts */

static void answer(uint32_t *count, void **out, char *first, uint32_t available)
{
    if (out) {
        for (uint32_t i = 0; i < available && i < *count; i++)
            out[i] = first + i;
    }
    *count = available;
}

ze_result_t ZE_APICALL zeInit(ze_init_flags_t flags)
{
    see("zeInit", NULL);
    seen.values[0] = flags;
    return fake_result;
}

ze_result_t ZE_APICALL zeDriverGet(uint32_t *pCount, ze_driver_handle_t *phDrivers)
{
    if (fake_drivers_result == ZE_RESULT_SUCCESS)
        answer(pCount, (void **)phDrivers, drivers, 2);
    return fake_drivers_result;
}

ze_result_t ZE_APICALL zeDeviceGet(ze_driver_handle_t hDriver, uint32_t *pCount,
                                   ze_device_handle_t *phDevices)
{
    answer(pCount, (void **)phDevices, hDriver == fake_driver(0) ? &devices[0] : &devices[4], 1);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetSubDevices(ze_device_handle_t hDevice, uint32_t *pCount,
                                             ze_device_handle_t *phSubdevices)
{
    if (hDevice == fake_device(0))
        answer(pCount, (void **)phSubdevices, &devices[1], 2);
    else if (hDevice == fake_device(2))
        answer(pCount, (void **)phSubdevices, &devices[3], 1);
    else
        *pCount = 0;
    return ZE_RESULT_SUCCESS;
}

#ifndef FAKE_WITHOUT_DEFAULT_CONTEXT
ze_context_handle_t ZE_APICALL zeDriverGetDefaultContext(ze_driver_handle_t hDriver)
{
    if (hDriver == fake_driver(0))
        return fake_default_context(0);
    return hDriver == fake_driver(1) ? fake_default_context(1) : NULL;
}
#endif

ze_result_t ZE_APICALL zeContextCreate(ze_driver_handle_t hDriver, const ze_context_desc_t *desc,
                                       ze_context_handle_t *phContext)
{
    if (!hDriver || desc->stype != ZE_STRUCTURE_TYPE_CONTEXT_DESC || desc->pNext || desc->flags)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    *phContext = (ze_context_handle_t)&own_contexts[fake_contexts_created++ % 64];
    return ZE_RESULT_SUCCESS;
}

/* ---------------------------------------------------------------- events */

ze_result_t ZE_APICALL zeEventPoolCreate(ze_context_handle_t hContext,
                                         const ze_event_pool_desc_t *desc, uint32_t numDevices,
                                         ze_device_handle_t *phDevices,
                                         ze_event_pool_handle_t *phEventPool)
{
    see("zeEventPoolCreate", numDevices > 0 ? phDevices[0] : NULL);
    seen.context = hContext;
    see_struct(desc);
    if (desc) {
        seen.values[0] = desc->flags;
        seen.values[1] = desc->count;
    }
    seen.out = phEventPool;
    return fake_result;
}

ze_result_t ZE_APICALL zeEventCreate(ze_event_pool_handle_t hEventPool, const ze_event_desc_t *desc,
                                     ze_event_handle_t *phEvent)
{
    see("zeEventCreate", hEventPool);
    see_struct(desc);
    if (desc) {
        seen.values[0] = desc->index;
        seen.values[1] = desc->signal;
        seen.values[2] = desc->wait;
    }
    seen.out = phEvent;
    return fake_result;
}

ze_result_t ZE_APICALL zeEventHostSynchronize(ze_event_handle_t hEvent, uint64_t timeout)
{
    see("zeEventHostSynchronize", hEvent);
    seen.size = timeout;
    return fake_result;
}

/* ---------------------------------------------------------------- tracing and profiling */

ze_result_t ZE_APICALL zetTracerExpCreate(zet_context_handle_t hContext,
                                          const zet_tracer_exp_desc_t *desc,
                                          zet_tracer_exp_handle_t *phTracer)
{
    see("zetTracerExpCreate", NULL);
    seen.context = hContext;
    see_struct(desc);
    seen.out = phTracer;
    if (desc)
        seen.handle = desc->pUserData;
    return fake_result;
}

ze_result_t ZE_APICALL zetTracerExpDestroy(zet_tracer_exp_handle_t hTracer)
{
    see("zetTracerExpDestroy", hTracer);
    return fake_result;
}

ze_result_t ZE_APICALL zetTracerExpSetPrologues(zet_tracer_exp_handle_t hTracer,
                                                zet_core_callbacks_t *pCoreCbs)
{
    see("zetTracerExpSetPrologues", hTracer);
    seen.pointer = pCoreCbs;
    return fake_result;
}

ze_result_t ZE_APICALL zetTracerExpSetEpilogues(zet_tracer_exp_handle_t hTracer,
                                                zet_core_callbacks_t *pCoreCbs)
{
    see("zetTracerExpSetEpilogues", hTracer);
    seen.pointer = pCoreCbs;
    return fake_result;
}

ze_result_t ZE_APICALL zetTracerExpSetEnabled(zet_tracer_exp_handle_t hTracer, ze_bool_t enable)
{
    see("zetTracerExpSetEnabled", hTracer);
    seen.values[0] = enable;
    return fake_result;
}

ze_result_t ZE_APICALL zetKernelGetProfileInfo(zet_kernel_handle_t hKernel,
                                               zet_profile_properties_t *pProfileProperties)
{
    see("zetKernelGetProfileInfo", hKernel);
    see_struct(pProfileProperties);
    if (pProfileProperties && fake_result == ZE_RESULT_SUCCESS) {
        pProfileProperties->flags = 3;
        pProfileProperties->numTokens = 2;
        memset(pProfileProperties + 1, 0x77, 64); /* tokens behind the struct */
    }
    return fake_result;
}

/* ---------------------------------------------------------------- metrics */

ze_result_t ZE_APICALL zetMetricGroupGetProperties(zet_metric_group_handle_t hMetricGroup,
                                                   zet_metric_group_properties_t *pProperties)
{
    see("zetMetricGroupGetProperties", hMetricGroup);
    see_struct(pProperties);
    if (pProperties && fake_result == ZE_RESULT_SUCCESS) {
        memset(pProperties->name, 'n', sizeof(pProperties->name));
        memset(pProperties->description, 'd', sizeof(pProperties->description));
        pProperties->samplingType = 2;
        pProperties->domain = 5;
        pProperties->metricCount = 7;
    }
    return fake_result;
}

ze_result_t ZE_APICALL zetMetricGetProperties(zet_metric_handle_t hMetric,
                                              zet_metric_properties_t *pProperties)
{
    see("zetMetricGetProperties", hMetric);
    see_struct(pProperties);
    if (pProperties && fake_result == ZE_RESULT_SUCCESS) {
        memset(pProperties->name, 'n', sizeof(pProperties->name));
        memset(pProperties->description, 'd', sizeof(pProperties->description));
        memset(pProperties->component, 'c', sizeof(pProperties->component));
        memset(pProperties->resultUnits, 'u', sizeof(pProperties->resultUnits));
        pProperties->tierNumber = 3;
        pProperties->metricType = ZET_METRIC_TYPE_RATIO;
        pProperties->resultType = ZET_VALUE_TYPE_FLOAT64;
    }
    return fake_result;
}

ze_result_t ZE_APICALL zetContextActivateMetricGroups(zet_context_handle_t hContext,
                                                      zet_device_handle_t hDevice, uint32_t count,
                                                      zet_metric_group_handle_t *phMetricGroups)
{
    see("zetContextActivateMetricGroups", hDevice);
    seen.context = hContext;
    seen.values[0] = count;
    seen.pointer = phMetricGroups;
    return fake_result;
}

ze_result_t ZE_APICALL zetMetricGroupCalculateMetricValues(zet_metric_group_handle_t hMetricGroup,
                                                           zet_metric_group_calculation_type_t type,
                                                           size_t rawDataSize,
                                                           const uint8_t *pRawData,
                                                           uint32_t *pMetricValueCount,
                                                           zet_typed_value_t *pMetricValues)
{
    see("zetMetricGroupCalculateMetricValues", hMetricGroup);
    seen.values[0] = (uint32_t)type;
    seen.values[1] = *pMetricValueCount;
    seen.size = rawDataSize;
    seen.pointer = pRawData;
    seen.out = pMetricValues;
    return fake_result;
}

/* What is used is not quite what was wanted. */
ze_result_t ZE_APICALL zetMetricStreamerOpen(zet_context_handle_t hContext,
                                             zet_device_handle_t hDevice,
                                             zet_metric_group_handle_t hMetricGroup,
                                             zet_metric_streamer_desc_t *desc,
                                             ze_event_handle_t hNotificationEvent,
                                             zet_metric_streamer_handle_t *phMetricStreamer)
{
    see("zetMetricStreamerOpen", hDevice);
    seen.context = hContext;
    seen.group = hMetricGroup;
    see_struct(desc);
    if (desc) {
        seen.values[0] = desc->notifyEveryNReports++;
        seen.values[1] = desc->samplingPeriod++;
    }
    seen.event = hNotificationEvent;
    seen.out = phMetricStreamer;
    return fake_result;
}

ze_result_t ZE_APICALL zetMetricStreamerReadData(zet_metric_streamer_handle_t hMetricStreamer,
                                                 uint32_t maxReportCount, size_t *pRawDataSize,
                                                 uint8_t *pRawData)
{
    see("zetMetricStreamerReadData", hMetricStreamer);
    seen.values[0] = maxReportCount;
    seen.size = *pRawDataSize;
    seen.pointer = pRawData;
    return fake_result;
}

ze_result_t ZE_APICALL zetMetricStreamerClose(zet_metric_streamer_handle_t hMetricStreamer)
{
    see("zetMetricStreamerClose", hMetricStreamer);
    return fake_result;
}

ze_result_t ZE_APICALL zetCommandListAppendMetricStreamerMarker(
    zet_command_list_handle_t hCommandList, zet_metric_streamer_handle_t hMetricStreamer,
    uint32_t value)
{
    see("zetCommandListAppendMetricStreamerMarker", hCommandList);
    seen.group = hMetricStreamer;
    seen.values[0] = value;
    return fake_result;
}

ze_result_t ZE_APICALL zetMetricQueryPoolCreate(zet_context_handle_t hContext,
                                                zet_device_handle_t hDevice,
                                                zet_metric_group_handle_t hMetricGroup,
                                                const zet_metric_query_pool_desc_t *desc,
                                                zet_metric_query_pool_handle_t *phMetricQueryPool)
{
    see("zetMetricQueryPoolCreate", hDevice);
    seen.context = hContext;
    seen.group = hMetricGroup;
    see_struct(desc);
    if (desc) {
        seen.values[0] = (uint32_t)desc->type;
        seen.values[1] = desc->count;
    }
    seen.out = phMetricQueryPool;
    return fake_result;
}

ze_result_t ZE_APICALL zetCommandListAppendMetricQueryEnd(zet_command_list_handle_t hCommandList,
                                                          zet_metric_query_handle_t hMetricQuery,
                                                          ze_event_handle_t hSignalEvent,
                                                          uint32_t numWaitEvents,
                                                          ze_event_handle_t *phWaitEvents)
{
    see("zetCommandListAppendMetricQueryEnd", hCommandList);
    seen.group = hMetricQuery;
    seen.event = hSignalEvent;
    seen.values[0] = numWaitEvents;
    seen.pointer = phWaitEvents;
    return fake_result;
}

ze_result_t ZE_APICALL zetMetricTracerCreateExp(
    zet_context_handle_t hContext, zet_device_handle_t hDevice, uint32_t metricGroupCount,
    zet_metric_group_handle_t *phMetricGroups, zet_metric_tracer_exp_desc_t *desc,
    ze_event_handle_t hNotificationEvent, zet_metric_tracer_exp_handle_t *phMetricTracer)
{
    see("zetMetricTracerCreateExp", hDevice);
    seen.context = hContext;
    seen.group = phMetricGroups;
    see_struct(desc);
    seen.values[0] = metricGroupCount;
    seen.values[1] = desc->notifyEveryNBytes;
    seen.event = hNotificationEvent;
    seen.out = phMetricTracer;
    return fake_result;
}

ze_result_t ZE_APICALL zetMetricTracerEnableExp(zet_metric_tracer_exp_handle_t hMetricTracer,
                                                ze_bool_t synchronous)
{
    see("zetMetricTracerEnableExp", hMetricTracer);
    seen.values[0] = synchronous;
    return fake_result;
}

ze_result_t ZE_APICALL zetMetricTracerReadDataExp(zet_metric_tracer_exp_handle_t hMetricTracer,
                                                  size_t *pRawDataSize, uint8_t *pRawData)
{
    see("zetMetricTracerReadDataExp", hMetricTracer);
    seen.size = *pRawDataSize;
    seen.pointer = pRawData;
    return fake_result;
}

ze_result_t ZE_APICALL zetMetricTracerDisableExp(zet_metric_tracer_exp_handle_t hMetricTracer,
                                                 ze_bool_t synchronous)
{
    see("zetMetricTracerDisableExp", hMetricTracer);
    seen.values[0] = synchronous;
    return fake_result;
}
