/* Metric streamers, and markers: numbers that command lists put into the data of units. */
#include <string.h>

#include "core/capture/unit.h"
#include "core/device/device.h"
#include "core/formula/compile/compile.h"
#include "core/formula/sets/set.h"
#include "core/list/list.h"
#include "core/metric/group/group.h"
#include "core/metric/stream/collector.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
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
    zeta_client_release(streamer->root, &streamer->client);
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

/** A marker on its way to a list. */
struct marker {
    const struct zeta_device *device; /**< whose unit, or the units of its tiles */
    const struct zeta_unit *unit;
    enum zeta_api_group provides;       /**< who samples the unit */
    const struct zeta_capture *capture; /**< that it is for, NULL: for all who collect */
    uint64_t value;
};

/* Appending ------------------------------------------------------------------------------------ */

/** A list reaches the unit of its own device, those of its tiles, and its own part of a root's. */
static ze_result_t check_device(const struct zeta_command_list *list,
                                const struct zeta_device *device, const char *what)
{
    if (list->device == device || list->device == device->parent || list->device->parent == device)
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      "the %s belongs to device %s and the command list to %s", what,
                      device->backend->id, list->device->backend->id);
}

/** Adds the marker for the unit of one device, which has this place among the sources. */
static ze_result_t add_tile(struct zeta_append *append, const struct marker *marker,
                            const struct zeta_device *device, uint32_t source)
{
    const struct zeta_provider *provider = &device->backend->providers[marker->provides];
    const struct zeta_provider *worker = zeta_device_queue_provider(append->list->device);
    const struct zeta_capture *capture = marker->capture;
    const uint64_t token = capture ? capture->sources[source].token : 0;
    /* Units exist as long as the sets of the device: until the process ends. */
    const struct zeta_plugin_command command = {
        .type = ZETA_PLUGIN_COMMAND_MARKER,
        .u.marker = {.device = provider->device,
                     .unit = zeta_plugin_text(marker->unit->name),
                     .value = marker->value,
                     .stream_token = token}};

    if (capture && token == 0)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "the stream of %s takes no markers",
                          capture->label);
    if (!provider->backend || provider->backend != worker->backend)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "the commands and the metrics of device %s come from different plugins, "
                          "so command lists cannot set markers",
                          device->backend->id);
    return zeta_append_put(append, &command, NULL, 0, NULL);
}

/** Appends to the tile of the list where the unit is a root's, else to every tile. */
static ze_result_t append_marker(struct zeta_command_list *list, const struct marker *marker)
{
    const struct zeta_device *device = marker->device;
    struct zeta_append append;
    ze_result_t result = zeta_list_check_metrics(list);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (marker->unit->marker_bits < 64 && marker->value >> marker->unit->marker_bits != 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "marker 0x%llx does not fit the %u bits that unit %s has for it",
                          (unsigned long long)marker->value, marker->unit->marker_bits,
                          marker->unit->name);
    result = zeta_append_begin(&append, list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (device->tile_count == 0)
        result = add_tile(&append, marker, device, 0);
    for (uint32_t i = 0; i < device->tile_count && result == ZE_RESULT_SUCCESS; i++) {
        if (list->device == device || list->device == device->tiles[i])
            result = add_tile(&append, marker, device->tiles[i], i);
    }
    return zeta_append_end(&append, result);
}

/* Entry points --------------------------------------------------------------------------------- */

ze_result_t ZE_APICALL impl_zetCommandListAppendMetricStreamerMarker(
    zet_command_list_handle_t hCommandList, zet_metric_streamer_handle_t hMetricStreamer,
    uint32_t value)
{
    struct zeta_command_list *list = (struct zeta_command_list *)hCommandList;
    const struct zeta_collector *streamer = (const struct zeta_collector *)hMetricStreamer;
    const struct zeta_metric_group *group = streamer->client.groups[0];
    const struct marker marker = {.device = streamer->client.device,
                                  .unit = group->set->unit,
                                  .provides = ZETA_GROUP_METRIC_STREAM,
                                  .capture = streamer->capture,
                                  .value = value};
    ze_result_t result = check_device(list, marker.device, "streamer");

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (list->context != streamer->context)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the streamer was opened in another context than that of the command "
                          "list");
    if (atomic_load(&streamer->capture->stopped))
        return zeta_error(ZE_RESULT_NOT_READY,
                          "the stream of %s was stopped, because its group was deactivated",
                          streamer->capture->label);
    if (!zeta_metric_group_takes_markers(group))
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "group %s has no metric StreamMarker, so its stream cannot show markers",
                          group->properties->name);
    return append_marker(list, &marker);
}

ze_result_t ZE_APICALL impl_zetCommandListAppendMarkerExp(zet_command_list_handle_t hCommandList,
                                                          zet_metric_group_handle_t hMetricGroup,
                                                          uint32_t value)
{
    struct zeta_command_list *list = (struct zeta_command_list *)hCommandList;
    const struct zeta_metric_group *group = (const struct zeta_metric_group *)hMetricGroup;
    ZETA_CLEANUP(zeta_group_view_release) struct zeta_group_view view = {0};
    struct marker marker = {
        .device = group->device, .provides = ZETA_GROUP_METRIC_STREAM, .value = value};
    ze_result_t result =
        zeta_group_view_acquire(group, "zetCommandListAppendMarkerExp", "hMetricGroup", &view);

    if (result == ZE_RESULT_SUCCESS)
        result = check_device(list, marker.device, "metric group");
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!zeta_metric_group_takes_markers(view.group))
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "group %s is not of type MARKER (zet_metric_group_type_exp_t)",
                          view.group->properties->name);
    marker.unit = view.group->set->unit;
    if (view.group->properties->samplingType == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED)
        marker.provides = ZETA_GROUP_METRIC_QUERY;
    else if (view.group->properties->samplingType ==
             ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED)
        marker.provides = ZETA_GROUP_METRIC_TRACER;
    return append_marker(list, &marker);
}
