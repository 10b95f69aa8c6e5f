/* Streamers: handles of time-based captures. */
#include <string.h>

#include "core/device/device.h"
#include "core/metric/group/group.h"
#include "core/metric/stream/collector.h"
#include "core/util/error.h"
#include "core/util/own_struct.h"
#include "zeta/zeta.h"
#include "zeta_impl.h"

ze_result_t ZE_APICALL impl_zetMetricStreamerOpen(zet_context_handle_t hContext,
                                                  zet_device_handle_t hDevice,
                                                  zet_metric_group_handle_t hMetricGroup,
                                                  zet_metric_streamer_desc_t *desc,
                                                  ze_event_handle_t hNotificationEvent,
                                                  zet_metric_streamer_handle_t *phMetricStreamer)
{
    const struct zeta_context *context = (const struct zeta_context *)hContext;
    struct zeta_device *device = (struct zeta_device *)hDevice;
    struct zeta_metric_group *group = (struct zeta_metric_group *)hMetricGroup;
    struct zeta_event *event = (struct zeta_event *)hNotificationEvent;
    struct zeta_stream_request stream = {.event = zeta_collector_event(event),
                                         .period_ns = desc->samplingPeriod,
                                         .notify_count = desc->notifyEveryNReports};
    struct zeta_collector *streamer = NULL;
    ze_result_t result = zeta_collector_check(context, device, event);

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_metric_group_check_device(group, device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if ((group->properties->samplingType & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED) == 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "group %s is not time-based and cannot be streamed; another group of the "
                          "same name may be",
                          group->properties->name);
    result =
        zeta_collector_create(ZETA_KIND_METRIC_STREAMER, context, device, &group, 1, &streamer);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    stream.compiled = group->compiled; /* active now, so the application cannot change it */
    result = zeta_collector_opened(streamer, zeta_stream_open(streamer->capture, &stream));
    if (result != ZE_RESULT_SUCCESS)
        return result;
    /* Longer only with a backend that does not know the bound it was given. */
    desc->samplingPeriod = stream.period_ns < UINT32_MAX ? (uint32_t)stream.period_ns : UINT32_MAX;
    desc->notifyEveryNReports = stream.notify_count;
    *phMetricStreamer = (zet_metric_streamer_handle_t)streamer;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zetMetricStreamerReadData(zet_metric_streamer_handle_t hMetricStreamer,
                                                      uint32_t maxReportCount, size_t *pRawDataSize,
                                                      uint8_t *pRawData)
{
    struct zeta_capture *capture = ((struct zeta_collector *)hMetricStreamer)->capture;

    if (*pRawDataSize > 0 && pRawData)
        return zeta_capture_read(capture, maxReportCount, pRawDataSize, pRawData);
    *pRawDataSize = zeta_stream_read_bytes(capture, maxReportCount);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zetMetricStreamerClose(zet_metric_streamer_handle_t hMetricStreamer)
{
    struct zeta_collector *streamer = (struct zeta_collector *)hMetricStreamer;
    ze_result_t result;

    if (!zeta_object_retire(streamer))
        return zeta_object_explain(streamer, ZETA_KIND_METRIC_STREAMER, "zetMetricStreamerClose",
                                   "hMetricStreamer");
    /* The unit first: whoever sees this one closed may open the next. */
    result = zeta_capture_close(streamer->capture);
    zeta_collector_release(streamer);
    zeta_object_unpin(streamer);
    return result;
}

ze_result_t zetaMetricStreamerGetInfo(zet_metric_streamer_handle_t streamer,
                                      struct zeta_stream_info *info)
{
    const char *function = "zetaMetricStreamerGetInfo";
    struct zeta_collector *collector = (struct zeta_collector *)streamer;
    struct zeta_capture_totals totals;
    bool open;

    if (!info)
        return zeta_own_null_pointer(function, "info");
    if (!zeta_object_pin(collector, ZETA_KIND_METRIC_STREAMER))
        return zeta_object_explain(collector, ZETA_KIND_METRIC_STREAMER, function, "streamer");
    open = zeta_capture_totals(collector->capture, &totals);
    if (open) {
        const struct zeta_stream_info found = {.records = totals.records,
                                               .lost = totals.lost_records,
                                               .breaks = totals.breaks,
                                               .bytes = totals.bytes,
                                               .period_ns = collector->capture->period_ns,
                                               .ended = totals.ended,
                                               .ring_records = collector->capture->ring_records};

        zeta_own_struct_copy(info, info->struct_size, &found, sizeof(found));
    }
    zeta_object_unpin(collector);
    return open ? ZE_RESULT_SUCCESS
                : zeta_error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                             "%s: another thread closed the streamer", function);
}
