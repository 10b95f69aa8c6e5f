/* The functions of metric tracers. */
#include <string.h>

#include "core/device/device.h"
#include "core/formula/record/layout.h"
#include "core/formula/sets/set.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/group/group.h"
#include "core/metric/stream/streamer.h"
#include "core/metric/tracer/decoder.h"
#include "core/metric/tracer/tracer.h"
#include "core/plugin/host.h"
#include "core/util/error.h"
#include "zeta_impl.h"

static void finish_tracer(void *object)
{
    struct zeta_metric_tracer *handle = object;

    zeta_tracer_destroy(handle->tracer);
}

ZETA_OBJECT_FINISHER(ZETA_KIND_METRIC_TRACER, finish_tracer)

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
                          "group %s is not tracer-based; its properties say how it is collected",
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

static ze_result_t check_create(const struct zeta_context *context,
                                const struct zeta_tracer_request *request)
{
    ze_result_t result = zeta_context_check_device(context, request->device);

    if (result == ZE_RESULT_SUCCESS && request->group_count == 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "a tracer needs at least one group");
    for (uint32_t i = 0; i < request->group_count && result == ZE_RESULT_SUCCESS; i++) {
        result = check_group(request->device, request->groups[i]);
        for (uint32_t j = 0; j < i && result == ZE_RESULT_SUCCESS; j++)
            result = check_pair(request->groups[j], request->groups[i]);
    }
    if (result != ZE_RESULT_SUCCESS)
        return result;
    return zeta_metric_check_event(request->event, request->device);
}

static ze_result_t open_tracer(struct zeta_tracer_request *request, struct zeta_tracer **out_tracer)
{
    struct zeta_device_metrics *root = zeta_metrics_root(request->groups[0]->metrics);
    struct zeta_tracer *tracer = NULL;
    ze_result_t result = zeta_tracer_create(request, &tracer);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    (void)pthread_mutex_lock(&root->lock);
    result = zeta_tracer_reserve_locked(root, tracer);
    (void)pthread_mutex_unlock(&root->lock);
    if (result == ZE_RESULT_SUCCESS) {
        result = zeta_tracer_open(tracer, request);
        if (result != ZE_RESULT_SUCCESS)
            zeta_tracer_release(root, tracer);
    }
    if (result != ZE_RESULT_SUCCESS) {
        zeta_tracer_destroy(tracer);
        return result;
    }
    if (zeta_tracer_settle(root, tracer))
        zeta_tracer_stop(tracer);
    *out_tracer = tracer;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zetMetricTracerCreateExp(
    zet_context_handle_t hContext, zet_device_handle_t hDevice, uint32_t metricGroupCount,
    zet_metric_group_handle_t *phMetricGroups, zet_metric_tracer_exp_desc_t *desc,
    ze_event_handle_t hNotificationEvent, zet_metric_tracer_exp_handle_t *phMetricTracer)
{
    struct zeta_tracer_request request = {
        .device = (struct zeta_device *)hDevice,
        .groups = (struct zeta_metric_group *const *)phMetricGroups,
        .group_count = metricGroupCount,
        .event = (struct zeta_event *)hNotificationEvent,
        .notify_bytes = desc->notifyEveryNBytes,
    };
    struct zeta_metric_tracer *handle;
    void *made = NULL;
    ze_result_t result = check_create((const struct zeta_context *)hContext, &request);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = zeta_object_create(ZETA_KIND_METRIC_TRACER, sizeof(*handle), &made);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    handle = made;
    result = open_tracer(&request, &handle->tracer);
    if (result != ZE_RESULT_SUCCESS) {
        if (zeta_object_retire(handle))
            zeta_object_unpin(handle);
        return result;
    }
    desc->notifyEveryNBytes = request.notify_bytes;
    *phMetricTracer = (zet_metric_tracer_exp_handle_t)handle;
    return ZE_RESULT_SUCCESS;
}

/* Using -----------------------------------------------------------------------------------------
 */

ze_result_t ZE_APICALL impl_zetMetricTracerEnableExp(zet_metric_tracer_exp_handle_t hMetricTracer,
                                                     ze_bool_t synchronous)
{
    struct zeta_metric_tracer *handle = (struct zeta_metric_tracer *)hMetricTracer;
    ze_result_t result;

    if (!zeta_object_pin(handle, ZETA_KIND_METRIC_TRACER))
        return zeta_object_explain(handle, ZETA_KIND_METRIC_TRACER, "zetMetricTracerEnableExp",
                                   "hMetricTracer");
    result = zeta_tracer_enable(handle->tracer, synchronous != 0);
    zeta_object_unpin(handle);
    return result;
}

ze_result_t ZE_APICALL impl_zetMetricTracerDisableExp(zet_metric_tracer_exp_handle_t hMetricTracer,
                                                      ze_bool_t synchronous)
{
    struct zeta_metric_tracer *handle = (struct zeta_metric_tracer *)hMetricTracer;
    ze_result_t result;

    if (!zeta_object_pin(handle, ZETA_KIND_METRIC_TRACER))
        return zeta_object_explain(handle, ZETA_KIND_METRIC_TRACER, "zetMetricTracerDisableExp",
                                   "hMetricTracer");
    result = zeta_tracer_disable(handle->tracer, synchronous != 0);
    zeta_object_unpin(handle);
    return result;
}

ze_result_t ZE_APICALL impl_zetMetricTracerReadDataExp(zet_metric_tracer_exp_handle_t hMetricTracer,
                                                       size_t *pRawDataSize, uint8_t *pRawData)
{
    struct zeta_metric_tracer *handle = (struct zeta_metric_tracer *)hMetricTracer;
    ze_result_t result;

    if (*pRawDataSize == 0 || !pRawData)
        return zeta_error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "a tracer has no size query; give a buffer, and read again while it comes "
            "back full");
    if (!zeta_object_pin(handle, ZETA_KIND_METRIC_TRACER))
        return zeta_object_explain(handle, ZETA_KIND_METRIC_TRACER, "zetMetricTracerReadDataExp",
                                   "hMetricTracer");
    result = zeta_tracer_read(handle->tracer, pRawDataSize, pRawData);
    zeta_object_unpin(handle);
    return result;
}

ze_result_t ZE_APICALL impl_zetMetricTracerDestroyExp(zet_metric_tracer_exp_handle_t hMetricTracer)
{
    struct zeta_metric_tracer *handle = (struct zeta_metric_tracer *)hMetricTracer;
    struct zeta_tracer *tracer;
    ze_result_t result;

    if (!zeta_object_pin(handle, ZETA_KIND_METRIC_TRACER))
        return zeta_object_explain(handle, ZETA_KIND_METRIC_TRACER, "zetMetricTracerDestroyExp",
                                   "hMetricTracer");
    tracer = handle->tracer;
    /* The units first: whoever sees this one destroyed may create the next. */
    result = zeta_tracer_close(tracer);
    if (result == ZE_RESULT_SUCCESS) {
        zeta_tracer_release(zeta_metrics_root(tracer->groups[0]->metrics), tracer);
        if (zeta_object_retire(handle))
            zeta_object_unpin(handle);
    }
    zeta_object_unpin(handle);
    return result;
}
