/* Metric tracers: handles of captures of events. */
#include <stdlib.h>
#include <string.h>

#include "core/capture/tracer.h"
#include "core/capture/unit_program.h"
#include "core/device/device.h"
#include "core/formula/sets/set.h"
#include "core/metric/group/group.h"
#include "core/metric/stream/collector.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

/* Creating --------------------------------------------------------------------------------------
 */

static ze_result_t check_group(const struct zeta_device *device,
                               const struct zeta_metric_group *group)
{
    ze_result_t result = zeta_metric_group_check_device(group, device);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if ((group->properties->samplingType & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED) ==
        0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "group %s is not tracer-based; its properties show how it is collected",
                          zeta_metric_group_name(group));
    return ZE_RESULT_SUCCESS;
}

/** Two groups of one tracer: different domains, records of one form. */
static ze_result_t check_pair(const struct zeta_metric_group *a, const struct zeta_metric_group *b)
{
    if (a->properties->domain == b->properties->domain)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "groups %s and %s share domain %u; one tracer has groups of different "
                          "domains",
                          zeta_metric_group_name(a), zeta_metric_group_name(b),
                          a->properties->domain);
    if (a->set->layout != b->set->layout && strcmp(a->set->layout->name, b->set->layout->name) != 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "groups %s and %s have records of different forms; create a tracer for "
                          "each",
                          zeta_metric_group_name(a), zeta_metric_group_name(b));
    return ZE_RESULT_SUCCESS;
}

static ze_result_t check_groups(const struct zeta_collector_request *request)
{
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (request->group_count == 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "a tracer needs at least one group");
    for (uint32_t i = 0; i < request->group_count && result == ZE_RESULT_SUCCESS; i++) {
        result = check_group(request->device, request->groups[i]);
        for (uint32_t j = 0; j < i && result == ZE_RESULT_SUCCESS; j++)
            result = check_pair(request->groups[j], request->groups[i]);
    }
    return result;
}

/** Opens the capture; context is N, in and out. */
static ze_result_t open_tracer(struct zeta_collector *collector,
                               const struct zeta_capture_event *event, void *context)
{
    const uint32_t count = collector->client.group_count;
    uint32_t *notify_bytes = context;
    ZETA_CLEANUP(zeta_freep) struct zeta_plugin_string *units = calloc(count, sizeof(*units));
    struct zeta_tracer_request request = {.layout = collector->groups[0]->set->layout,
                                          .units = units,
                                          .unit_count = count,
                                          .event = *event,
                                          .notify_bytes = *notify_bytes};
    ze_result_t result;

    if (!units)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        units[i] = zeta_plugin_text(collector->groups[i]->set->unit->name);
    result = zeta_tracer_open(collector->capture, &request);
    *notify_bytes = request.notify_bytes;
    return result;
}

ze_result_t ZE_APICALL impl_zetMetricTracerCreateExp(
    zet_context_handle_t hContext, zet_device_handle_t hDevice, uint32_t metricGroupCount,
    zet_metric_group_handle_t *phMetricGroups, zet_metric_tracer_exp_desc_t *desc,
    ze_event_handle_t hNotificationEvent, zet_metric_tracer_exp_handle_t *phMetricTracer)
{
    uint32_t notify_bytes = desc->notifyEveryNBytes;
    const struct zeta_collector_request request = {
        .context = (const struct zeta_context *)hContext,
        .device = (struct zeta_device *)hDevice,
        .groups = (struct zeta_metric_group *const *)phMetricGroups,
        .group_count = metricGroupCount,
        .event = (struct zeta_event *)hNotificationEvent,
        .open = open_tracer,
        .open_context = &notify_bytes,
    };
    struct zeta_collector_handle *handle;
    ze_result_t result = zeta_collector_check(&request);

    if (result == ZE_RESULT_SUCCESS)
        result = check_groups(&request);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_collector_open(ZETA_KIND_METRIC_TRACER, &request, &handle);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    desc->notifyEveryNBytes = notify_bytes;
    *phMetricTracer = (zet_metric_tracer_exp_handle_t)handle;
    return ZE_RESULT_SUCCESS;
}

/* Using -----------------------------------------------------------------------------------------
 */

static ze_result_t enable(zet_metric_tracer_exp_handle_t tracer, bool on, bool synchronous,
                          const char *function)
{
    struct zeta_collector_handle *handle = (struct zeta_collector_handle *)tracer;
    ze_result_t result;

    if (!zeta_object_pin(handle, ZETA_KIND_METRIC_TRACER))
        return zeta_object_explain(handle, ZETA_KIND_METRIC_TRACER, function, "hMetricTracer");
    result = zeta_capture_enable(handle->collector->capture, on, synchronous);
    zeta_object_unpin(handle);
    return result;
}

ze_result_t ZE_APICALL impl_zetMetricTracerEnableExp(zet_metric_tracer_exp_handle_t hMetricTracer,
                                                     ze_bool_t synchronous)
{
    return enable(hMetricTracer, true, synchronous != 0, "zetMetricTracerEnableExp");
}

ze_result_t ZE_APICALL impl_zetMetricTracerDisableExp(zet_metric_tracer_exp_handle_t hMetricTracer,
                                                      ze_bool_t synchronous)
{
    return enable(hMetricTracer, false, synchronous != 0, "zetMetricTracerDisableExp");
}

ze_result_t ZE_APICALL impl_zetMetricTracerReadDataExp(zet_metric_tracer_exp_handle_t hMetricTracer,
                                                       size_t *pRawDataSize, uint8_t *pRawData)
{
    struct zeta_collector_handle *handle = (struct zeta_collector_handle *)hMetricTracer;
    ze_result_t result;

    if (*pRawDataSize == 0 || !pRawData)
        return zeta_error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "a tracer has no size query; give a buffer, and read again while it comes "
            "back full");
    if (!zeta_object_pin(handle, ZETA_KIND_METRIC_TRACER))
        return zeta_object_explain(handle, ZETA_KIND_METRIC_TRACER, "zetMetricTracerReadDataExp",
                                   "hMetricTracer");
    result = zeta_capture_read(handle->collector->capture, UINT32_MAX, pRawDataSize, pRawData);
    zeta_object_unpin(handle);
    return result;
}

ze_result_t ZE_APICALL impl_zetMetricTracerDestroyExp(zet_metric_tracer_exp_handle_t hMetricTracer)
{
    struct zeta_collector_handle *handle = (struct zeta_collector_handle *)hMetricTracer;
    ze_result_t result;

    if (!zeta_object_pin(handle, ZETA_KIND_METRIC_TRACER))
        return zeta_object_explain(handle, ZETA_KIND_METRIC_TRACER, "zetMetricTracerDestroyExp",
                                   "hMetricTracer");
    /* The units first: whoever sees this one destroyed may create the next. */
    result = zeta_capture_close(handle->collector->capture);
    if (result == ZE_RESULT_SUCCESS) {
        zeta_collector_release(handle->collector);
        zeta_object_discard(handle);
    }
    zeta_object_unpin(handle);
    return result;
}
