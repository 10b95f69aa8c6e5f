#include "core/metric/stream/collector.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/device/device.h"
#include "core/event/event.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/group/group.h"
#include "core/plugin/host.h"
#include "core/util/error.h"

/* The notification event ------------------------------------------------------------------------
 */

static bool bind_event(void *event, bool (*level)(void *context), void *context)
{
    return zeta_event_bind(event, level, context);
}

static void unbind_event(void *event, const void *context)
{
    zeta_event_unbind(event, context);
}

static void notify_event(void *event)
{
    zeta_event_notify(event);
}

ze_result_t zeta_collector_check(const struct zeta_collector_request *request)
{
    const struct zeta_device *device = request->device;
    const struct zeta_event *event = request->event;
    ze_result_t result = zeta_context_check_device(request->context, device);

    if (result != ZE_RESULT_SUCCESS || !event)
        return result;
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

/* Opening and ending ----------------------------------------------------------------------------
 */

static void destroy(struct zeta_collector *collector)
{
    if (!collector)
        return;
    for (uint32_t i = 0; i < collector->client.group_count; i++)
        zeta_object_unpin(collector->groups[i]);
    zeta_capture_destroy(collector->capture);
    free(collector);
}

static void finish_streamer(void *object)
{
    destroy(((struct zeta_collector_handle *)object)->collector);
}

static void finish_tracer(void *object)
{
    finish_streamer(object);
}

ZETA_OBJECT_FINISHER(ZETA_KIND_METRIC_STREAMER, finish_streamer)
ZETA_OBJECT_FINISHER(ZETA_KIND_METRIC_TRACER, finish_tracer)

static ze_result_t create(enum zeta_capture_kind kind, const struct zeta_collector_request *request,
                          struct zeta_collector **out_collector)
{
    const enum zeta_api_group provided =
        kind == ZETA_CAPTURE_STREAM ? ZETA_GROUP_METRIC_STREAM : ZETA_GROUP_METRIC_TRACER;
    const struct zeta_device *device = request->device;
    struct zeta_collector *collector =
        calloc(1, sizeof(*collector) + request->group_count * sizeof(struct zeta_metric_group *));
    struct zeta_capture *capture;
    ze_result_t result;

    if (!collector)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    result = zeta_capture_create(kind, zeta_metrics_tile_count(device), &capture);
    if (result != ZE_RESULT_SUCCESS) {
        free(collector);
        return result;
    }
    for (uint32_t i = 0; i < capture->source_count; i++)
        capture->sources[i].provider = &zeta_metrics_tile(device, i)->backend->providers[provided];
    for (uint32_t i = 0; i < request->group_count; i++) {
        collector->groups[i] = request->groups[i];
        zeta_object_pin_more(collector->groups[i]); /* an application can destroy its groups */
    }
    (void)snprintf(capture->label, sizeof(capture->label), "%.90s%s on %.80s",
                   zeta_metric_group_name(request->groups[0]),
                   request->group_count > 1 ? " and others" : "", device->backend->id);
    collector->capture = capture;
    collector->root = zeta_metrics_root(request->groups[0]->metrics);
    collector->client = (struct zeta_client){
        .kind = kind == ZETA_CAPTURE_STREAM ? ZETA_CLIENT_STREAM : ZETA_CLIENT_TRACER,
        .name = zeta_metric_group_name(request->groups[0]),
        .device = request->device,
        .groups = collector->groups,
        .group_count = request->group_count,
        .capture = capture};
    *out_collector = collector;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_collector_open(enum zeta_kind kind, const struct zeta_collector_request *request,
                                struct zeta_collector_handle **out_handle)
{
    const struct zeta_capture_event event = {.event = request->event,
                                             .bind = bind_event,
                                             .unbind = unbind_event,
                                             .notify = notify_event};
    struct zeta_collector_handle *handle;
    struct zeta_collector *collector;
    void *made = NULL;
    ze_result_t result = zeta_object_create(kind, sizeof(*handle), &made);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    handle = made;
    handle->context = request->context;
    result = create(kind == ZETA_KIND_METRIC_STREAMER ? ZETA_CAPTURE_STREAM : ZETA_CAPTURE_TRACER,
                    request, &handle->collector);
    if (result != ZE_RESULT_SUCCESS)
        goto discard;
    collector = handle->collector;
    result = zeta_client_reserve(collector->root, &collector->client);
    if (result != ZE_RESULT_SUCCESS)
        goto discard;
    result = request->open(collector, &event, request->open_context);
    if (result != ZE_RESULT_SUCCESS)
        goto release;
    zeta_client_settle(collector->root, &collector->client);
    *out_handle = handle;
    return ZE_RESULT_SUCCESS;

release:
    zeta_collector_release(collector);
discard:
    zeta_object_discard(handle);
    return result;
}

void zeta_collector_release(struct zeta_collector *collector)
{
    zeta_client_release(collector->root, &collector->client);
}
