#include "core/metric/stream/streamer.h"

#include <string.h>

#include "core/device/device.h"
#include "core/event/event.h"
#include "core/formula/sets/set.h"
#include "core/metric/device/activate.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/group/group.h"
#include "core/metric/stream/stream.h"
#include "core/plugin/host.h"
#include "core/util/error.h"
#include "zeta_impl.h"

static void finish_streamer(void *object)
{
    struct zeta_metric_streamer *streamer = object;

    zeta_stream_destroy(streamer->stream);
}

ZETA_OBJECT_FINISHER(ZETA_KIND_METRIC_STREAMER, finish_streamer)

/* Guarding units --------------------------------------------------------------------------------
 */

/** True if the two need the same unit of the same device, or of a root and its tile. */
static bool share_unit(const struct zeta_stream *a, const struct zeta_stream *b)
{
    if (!zeta_metrics_overlap(a->device, b->device))
        return false;
    return strcmp(a->group->set->unit->name, b->group->set->unit->name) == 0;
}

/** Puts the stream into the list of those that hold units, if its own is free. */
static ze_result_t reserve_locked(struct zeta_device_metrics *root, struct zeta_stream *stream)
{
    if (!zeta_metric_group_is_active_locked(stream->group))
        return ZE_RESULT_NOT_READY;
    for (const struct zeta_stream *other = root->streams; other; other = other->next) {
        if (other->state == ZETA_STREAM_STOPPED || !share_unit(other, stream))
            continue;
        return zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                          "this process has a stream of %s open, which uses the same counting unit "
                          "%s; close it first",
                          other->label, stream->group->set->unit->name);
    }
    stream->state = ZETA_STREAM_OPENING;
    stream->next = root->streams;
    root->streams = stream;
    return ZE_RESULT_SUCCESS;
}

/** Takes the stream out of the list; nobody uses it through the list afterwards. */
static void release(struct zeta_device_metrics *root, struct zeta_stream *stream)
{
    struct zeta_stream **link;

    (void)pthread_mutex_lock(&root->lock);
    for (link = &root->streams; *link && *link != stream; link = &(*link)->next)
        ;
    if (*link)
        *link = stream->next;
    while (stream->borrowed > 0)
        (void)pthread_cond_wait(&root->changed, &root->lock);
    (void)pthread_mutex_unlock(&root->lock);
}

/** Ends the opening; true if the group was deactivated meanwhile. */
static bool settle(struct zeta_device_metrics *root, struct zeta_stream *stream)
{
    bool stop;

    (void)pthread_mutex_lock(&root->lock);
    stop = stream->stop_wanted;
    stream->state = stop ? ZETA_STREAM_STOPPED : ZETA_STREAM_OPEN;
    (void)pthread_mutex_unlock(&root->lock);
    return stop;
}

/* Opening ---------------------------------------------------------------------------------------
 */

ze_result_t zeta_metric_check_event(const struct zeta_event *event,
                                    const struct zeta_device *device)
{
    if (!event)
        return ZE_RESULT_SUCCESS;
    if (!zeta_event_is_host_visible(event))
        return zeta_error(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
                          "the host cannot see the notification event; create its pool with "
                          "ZE_EVENT_POOL_FLAG_HOST_VISIBLE");
    if (event->context->driver != device->driver)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
                          "the notification event belongs to driver %s, device %s to driver %s",
                          event->context->driver->name, device->backend->id, device->driver->name);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t check_open(const struct zeta_context *context, const struct zeta_device *device,
                              const struct zeta_metric_group *group, const struct zeta_event *event)
{
    ze_result_t result = zeta_context_check_device(context, device);

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_metric_group_check_device(group, device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if ((group->properties->samplingType & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED) == 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "group %s is not time-based and cannot be streamed; another group of the "
                          "same name may be",
                          zeta_metric_group_name(group));
    return zeta_metric_check_event(event, device);
}

/** Opens the backend's side of a stream that is in the list; takes it out again on failure. */
static ze_result_t open_reserved(struct zeta_device_metrics *root, struct zeta_stream *stream,
                                 struct zeta_stream_request *request)
{
    ze_result_t result = zeta_stream_open(stream, request);

    if (result != ZE_RESULT_SUCCESS) {
        release(root, stream);
        return result;
    }
    if (settle(root, stream))
        zeta_stream_stop(stream);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t open_stream(struct zeta_stream_request *request, struct zeta_stream **out_stream)
{
    struct zeta_device_metrics *root = zeta_metrics_root(request->group->metrics);
    struct zeta_stream *stream = NULL;
    ze_result_t result = zeta_stream_create(request, &stream);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    (void)pthread_mutex_lock(&root->lock);
    result = reserve_locked(root, stream);
    (void)pthread_mutex_unlock(&root->lock);
    if (result == ZE_RESULT_SUCCESS)
        result = open_reserved(root, stream, request);
    if (result != ZE_RESULT_SUCCESS) {
        zeta_stream_destroy(stream);
        return result;
    }
    *out_stream = stream;
    return ZE_RESULT_SUCCESS;
}

/** As the entry point; the group is pinned. */
static ze_result_t open_streamer(const struct zeta_context *context,
                                 struct zeta_stream_request *request,
                                 zet_metric_streamer_handle_t *out_streamer)
{
    struct zeta_metric_streamer *streamer;
    void *made = NULL;
    ze_result_t result = check_open(context, request->device, request->group, request->event);

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_object_create(ZETA_KIND_METRIC_STREAMER, sizeof(*streamer), &made);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    streamer = made;
    streamer->context = context;
    result = open_stream(request, &streamer->stream);
    if (result != ZE_RESULT_SUCCESS) {
        if (zeta_object_retire(streamer))
            zeta_object_unpin(streamer);
        return result;
    }
    *out_streamer = (zet_metric_streamer_handle_t)streamer;
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
    struct zeta_stream_request request = {.device = (struct zeta_device *)hDevice,
                                          .group = group,
                                          .event = (struct zeta_event *)hNotificationEvent,
                                          .period_ns = desc->samplingPeriod,
                                          .notify_count = desc->notifyEveryNReports};
    ze_result_t result;

    if (!zeta_object_pin(group, ZETA_KIND_METRIC_GROUP))
        return zeta_object_explain(group, ZETA_KIND_METRIC_GROUP, "zetMetricStreamerOpen",
                                   "hMetricGroup");
    result = open_streamer((const struct zeta_context *)hContext, &request, phMetricStreamer);
    zeta_object_unpin(group);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    /* Longer only with a backend that does not know the bound it was given. */
    desc->samplingPeriod =
        request.period_ns < UINT32_MAX ? (uint32_t)request.period_ns : UINT32_MAX;
    desc->notifyEveryNReports = request.notify_count;
    return ZE_RESULT_SUCCESS;
}

/* Reading and closing ---------------------------------------------------------------------------
 */

ze_result_t ZE_APICALL impl_zetMetricStreamerReadData(zet_metric_streamer_handle_t hMetricStreamer,
                                                      uint32_t maxReportCount, size_t *pRawDataSize,
                                                      uint8_t *pRawData)
{
    struct zeta_metric_streamer *streamer = (struct zeta_metric_streamer *)hMetricStreamer;
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (!zeta_object_pin(streamer, ZETA_KIND_METRIC_STREAMER))
        return zeta_object_explain(streamer, ZETA_KIND_METRIC_STREAMER, "zetMetricStreamerReadData",
                                   "hMetricStreamer");
    if (*pRawDataSize == 0 || !pRawData)
        *pRawDataSize = zeta_stream_read_bytes(streamer->stream, maxReportCount);
    else
        result = zeta_stream_read(streamer->stream, maxReportCount, pRawDataSize, pRawData);
    zeta_object_unpin(streamer);
    return result;
}

ze_result_t ZE_APICALL impl_zetMetricStreamerClose(zet_metric_streamer_handle_t hMetricStreamer)
{
    struct zeta_metric_streamer *streamer = (struct zeta_metric_streamer *)hMetricStreamer;
    struct zeta_device_metrics *root;

    if (!zeta_object_retire(streamer))
        return zeta_object_explain(streamer, ZETA_KIND_METRIC_STREAMER, "zetMetricStreamerClose",
                                   "hMetricStreamer");
    root = zeta_metrics_root(streamer->stream->group->metrics);
    /* The unit first: whoever sees this one closed may open the next. */
    zeta_stream_close(streamer->stream);
    release(root, streamer->stream);
    zeta_object_unpin(streamer);
    return ZE_RESULT_SUCCESS;
}
