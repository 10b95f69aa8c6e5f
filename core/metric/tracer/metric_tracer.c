/* Metric tracers: handles of captures of events. */
#include <stdlib.h>
#include <string.h>

#include "core/capture/capture.h"
#include "core/capture/unit_program.h"
#include "core/device/device.h"
#include "core/formula/sets/set.h"
#include "core/metric/group/group.h"
#include "core/metric/stream/collector.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

/* Creating ------------------------------------------------------------------------------------- */

/** Two groups of one tracer: different domains, records of one form. */
static ze_result_t check_pair(const struct zeta_metric_group *a, const struct zeta_metric_group *b)
{
    if (a->properties->domain == b->properties->domain)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "groups %s and %s share domain %u; one tracer has groups of different "
                          "domains",
                          a->properties->name, b->properties->name, a->properties->domain);
    if (a->set->layout != b->set->layout && strcmp(a->set->layout->name, b->set->layout->name) != 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "groups %s and %s have records of different forms; create a tracer for "
                          "each",
                          a->properties->name, b->properties->name);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t check_groups(const struct zeta_device *device,
                                struct zeta_metric_group *const *groups, uint32_t count)
{
    if (count == 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "a tracer needs at least one group");
    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_metric_group *group = groups[i];
        ze_result_t result = zeta_metric_group_check_device(group, device);

        if (result == ZE_RESULT_SUCCESS &&
            (group->properties->samplingType &
             ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED) == 0)
            result = zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                                "group %s is not tracer-based; its properties show how it is "
                                "collected",
                                group->properties->name);
        for (uint32_t j = 0; j < i && result == ZE_RESULT_SUCCESS; j++)
            result = check_pair(groups[j], group);
        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zetMetricTracerCreateExp(
    zet_context_handle_t hContext, zet_device_handle_t hDevice, uint32_t metricGroupCount,
    zet_metric_group_handle_t *phMetricGroups, zet_metric_tracer_exp_desc_t *desc,
    ze_event_handle_t hNotificationEvent, zet_metric_tracer_exp_handle_t *phMetricTracer)
{
    const struct zeta_context *context = (const struct zeta_context *)hContext;
    struct zeta_device *device = (struct zeta_device *)hDevice;
    struct zeta_metric_group *const *groups = (struct zeta_metric_group *const *)phMetricGroups;
    struct zeta_event *event = (struct zeta_event *)hNotificationEvent;
    ZETA_CLEANUP(zeta_freep) struct zeta_plugin_string *units = NULL;
    struct zeta_tracer_request request = {.unit_count = metricGroupCount,
                                          .event = zeta_collector_event(event),
                                          .notify_bytes = desc->notifyEveryNBytes};
    struct zeta_collector *tracer = NULL;
    ze_result_t result = zeta_collector_check(context, device, event);

    if (result == ZE_RESULT_SUCCESS)
        result = check_groups(device, groups, metricGroupCount);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    units = calloc(metricGroupCount, sizeof(*units));
    if (!units)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < metricGroupCount; i++)
        units[i] = zeta_plugin_text(groups[i]->set->unit->name);
    request.layout = groups[0]->set->layout;
    request.units = units;
    result = zeta_collector_create(ZETA_KIND_METRIC_TRACER, context, device, groups,
                                   metricGroupCount, &tracer);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = zeta_collector_opened(tracer, zeta_tracer_open(tracer->capture, &request));
    if (result != ZE_RESULT_SUCCESS)
        return result;
    desc->notifyEveryNBytes = request.notify_bytes;
    *phMetricTracer = (zet_metric_tracer_exp_handle_t)tracer;
    return ZE_RESULT_SUCCESS;
}

/* Using ---------------------------------------------------------------------------------------- */

ze_result_t ZE_APICALL impl_zetMetricTracerEnableExp(zet_metric_tracer_exp_handle_t hMetricTracer,
                                                     ze_bool_t synchronous)
{
    return zeta_capture_enable(((struct zeta_collector *)hMetricTracer)->capture, true,
                               synchronous != 0);
}

ze_result_t ZE_APICALL impl_zetMetricTracerDisableExp(zet_metric_tracer_exp_handle_t hMetricTracer,
                                                      ze_bool_t synchronous)
{
    return zeta_capture_enable(((struct zeta_collector *)hMetricTracer)->capture, false,
                               synchronous != 0);
}

ze_result_t ZE_APICALL impl_zetMetricTracerReadDataExp(zet_metric_tracer_exp_handle_t hMetricTracer,
                                                       size_t *pRawDataSize, uint8_t *pRawData)
{
    if (*pRawDataSize == 0 || !pRawData)
        return zeta_error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "a tracer has no size query; give a buffer, and read again while it comes "
            "back full");
    return zeta_capture_read(((struct zeta_collector *)hMetricTracer)->capture, UINT32_MAX,
                             pRawDataSize, pRawData);
}

ze_result_t ZE_APICALL impl_zetMetricTracerDestroyExp(zet_metric_tracer_exp_handle_t hMetricTracer)
{
    struct zeta_collector *tracer = (struct zeta_collector *)hMetricTracer;
    /* The units first: whoever sees this one destroyed may create the next. */
    ze_result_t result = zeta_capture_close(tracer->capture);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    zeta_collector_release(tracer);
    zeta_object_discard(tracer);
    return ZE_RESULT_SUCCESS;
}
