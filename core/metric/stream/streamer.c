/* Streamers: handles of time-based captures. */
#include <string.h>

#include "core/capture/stream.h"
#include "core/device/device.h"
#include "core/metric/group/group.h"
#include "core/metric/stream/collector.h"
#include "core/util/error.h"
#include "core/util/own_struct.h"
#include "zeta/zeta.h"
#include "zeta_impl.h"

/** Opens the capture; context is the struct zeta_stream_request. */
static ze_result_t open_stream(struct zeta_collector *collector,
                               const struct zeta_capture_event *event, void *context)
{
    struct zeta_stream_request *request = context;

    request->compiled = collector->groups[0]->compiled;
    request->event = *event;
    return zeta_stream_open(collector->capture, request);
}

/** As the entry point; the group is pinned. */
static ze_result_t open_streamer(const struct zeta_context *context, struct zeta_device *device,
                                 struct zeta_metric_group *group, struct zeta_event *event,
                                 zet_metric_streamer_desc_t *desc,
                                 struct zeta_collector_handle **out_handle)
{
    struct zeta_stream_request stream = {.period_ns = desc->samplingPeriod,
                                         .notify_count = desc->notifyEveryNReports};
    const struct zeta_collector_request request = {.context = context,
                                                   .device = device,
                                                   .groups = &group,
                                                   .group_count = 1,
                                                   .event = event,
                                                   .open = open_stream,
                                                   .open_context = &stream};
    ze_result_t result = zeta_collector_check(&request);

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_metric_group_check_device(group, device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if ((group->properties->samplingType & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED) == 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "group %s is not time-based and cannot be streamed; another group of the "
                          "same name may be",
                          zeta_metric_group_name(group));
    result = zeta_collector_open(ZETA_KIND_METRIC_STREAMER, &request, out_handle);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    /* Longer only with a backend that does not know the bound it was given. */
    desc->samplingPeriod = stream.period_ns < UINT32_MAX ? (uint32_t)stream.period_ns : UINT32_MAX;
    desc->notifyEveryNReports = stream.notify_count;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zetMetricStreamerOpen(zet_context_handle_t hContext,
                                                  zet_device_handle_t hDevice,
                                                  zet_metric_group_handle_t hMetricGroup,
                                                  zet_metric_streamer_desc_t *desc,
                                                  ze_event_handle_t hNotificationEvent,
                                                  zet_metric_streamer_handle_t *phMetricStreamer)
{
    struct zeta_metric_group *group = (struct zeta_metric_group *)hMetricGroup;
    struct zeta_collector_handle *handle;
    ze_result_t result;

    if (!zeta_object_pin(group, ZETA_KIND_METRIC_GROUP))
        return zeta_object_explain(group, ZETA_KIND_METRIC_GROUP, "zetMetricStreamerOpen",
                                   "hMetricGroup");
    result = open_streamer((const struct zeta_context *)hContext, (struct zeta_device *)hDevice,
                           group, (struct zeta_event *)hNotificationEvent, desc, &handle);
    zeta_object_unpin(group);
    if (result == ZE_RESULT_SUCCESS)
        *phMetricStreamer = (zet_metric_streamer_handle_t)handle;
    return result;
}

ze_result_t ZE_APICALL impl_zetMetricStreamerReadData(zet_metric_streamer_handle_t hMetricStreamer,
                                                      uint32_t maxReportCount, size_t *pRawDataSize,
                                                      uint8_t *pRawData)
{
    struct zeta_collector_handle *handle = (struct zeta_collector_handle *)hMetricStreamer;
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (!zeta_object_pin(handle, ZETA_KIND_METRIC_STREAMER))
        return zeta_object_explain(handle, ZETA_KIND_METRIC_STREAMER, "zetMetricStreamerReadData",
                                   "hMetricStreamer");
    if (*pRawDataSize == 0 || !pRawData)
        *pRawDataSize = zeta_stream_read_bytes(handle->collector->capture, maxReportCount);
    else
        result =
            zeta_capture_read(handle->collector->capture, maxReportCount, pRawDataSize, pRawData);
    zeta_object_unpin(handle);
    return result;
}

ze_result_t ZE_APICALL impl_zetMetricStreamerClose(zet_metric_streamer_handle_t hMetricStreamer)
{
    struct zeta_collector_handle *handle = (struct zeta_collector_handle *)hMetricStreamer;
    ze_result_t result;

    if (!zeta_object_retire(handle))
        return zeta_object_explain(handle, ZETA_KIND_METRIC_STREAMER, "zetMetricStreamerClose",
                                   "hMetricStreamer");
    /* The unit first: whoever sees this one closed may open the next. */
    result = zeta_capture_close(handle->collector->capture);
    zeta_collector_release(handle->collector);
    zeta_object_unpin(handle);
    return result;
}

ze_result_t zetaMetricStreamerGetInfo(zet_metric_streamer_handle_t streamer,
                                      struct zeta_stream_info *info)
{
    const char *function = "zetaMetricStreamerGetInfo";
    struct zeta_collector_handle *handle = (struct zeta_collector_handle *)streamer;
    struct zeta_stream_info found = {0};
    struct zeta_capture_totals totals;
    const struct zeta_capture *capture;
    bool open;

    if (!info)
        return zeta_own_null_pointer(function, "info");
    if (!zeta_object_pin(handle, ZETA_KIND_METRIC_STREAMER))
        return zeta_object_explain(handle, ZETA_KIND_METRIC_STREAMER, function, "streamer");
    capture = handle->collector->capture;
    open = zeta_capture_totals(handle->collector->capture, &totals);
    if (open) {
        found.records = totals.records;
        found.lost = totals.lost_records;
        found.breaks = totals.breaks;
        found.bytes = totals.bytes;
        found.period_ns = capture->period_ns;
        found.ended = totals.ended;
        found.ring_records = capture->ring_records;
        zeta_own_struct_copy(info, info->struct_size, &found, sizeof(found));
    }
    zeta_object_unpin(handle);
    return open ? ZE_RESULT_SUCCESS
                : zeta_error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                             "%s: another thread closed the streamer", function);
}
