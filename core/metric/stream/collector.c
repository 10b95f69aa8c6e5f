#include "core/metric/stream/collector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/device.h"
#include "core/event/event.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/group/group.h"
#include "core/plugin/host.h"
#include "core/util/error.h"

ze_result_t zeta_collector_check(const struct zeta_context *context,
                                 const struct zeta_device *device, const struct zeta_event *event)
{
    ze_result_t result = zeta_context_check_device(context, device);

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

struct zeta_capture_event zeta_collector_event(struct zeta_event *event)
{
    return (struct zeta_capture_event){.event = event,
                                       .bind = zeta_event_bind,
                                       .unbind = zeta_event_unbind,
                                       .notify = zeta_event_notify};
}

static void finish_collector(void *object)
{
    struct zeta_collector *collector = object;

    for (uint32_t i = 0; i < collector->client.group_count; i++)
        zeta_object_unpin(collector->client.groups[i]);
    free((void *)(uintptr_t)collector->client.groups);
    zeta_capture_destroy(collector->capture);
}

ZETA_OBJECT_FINISHER(ZETA_KIND_METRIC_STREAMER, finish_collector)
ZETA_OBJECT_FINISHER(ZETA_KIND_METRIC_TRACER, finish_collector)

ze_result_t zeta_collector_create(enum zeta_kind kind, const struct zeta_context *context,
                                  struct zeta_device *device,
                                  struct zeta_metric_group *const *groups, uint32_t group_count,
                                  struct zeta_collector **out_collector)
{
    const bool is_stream = kind == ZETA_KIND_METRIC_STREAMER;
    const enum zeta_api_group provided =
        is_stream ? ZETA_GROUP_METRIC_STREAM : ZETA_GROUP_METRIC_TRACER;
    struct zeta_metric_group **pinned;
    struct zeta_collector *collector;
    struct zeta_capture *capture;
    void *made = NULL;
    ze_result_t result = zeta_object_create(kind, sizeof(*collector), &made);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    collector = made;
    result = zeta_capture_create(!is_stream, zeta_metrics_tile_count(device), &collector->capture);
    if (result != ZE_RESULT_SUCCESS)
        goto discard;
    pinned = calloc(group_count, sizeof(struct zeta_metric_group *));
    if (!pinned) {
        result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        goto discard;
    }
    for (uint32_t i = 0; i < group_count; i++) {
        pinned[i] = groups[i];
        zeta_object_pin_more(pinned[i]); /* an application can destroy its groups */
    }
    capture = collector->capture;
    for (uint32_t i = 0; i < capture->source_count; i++)
        capture->sources[i].provider = &zeta_metrics_tile(device, i)->backend->providers[provided];
    (void)snprintf(capture->label, sizeof(capture->label), "%.90s%s on %.80s",
                   groups[0]->properties->name, group_count > 1 ? " and others" : "",
                   device->backend->id);
    collector->context = context;
    collector->root = zeta_metrics_root(groups[0]->metrics);
    collector->client =
        (struct zeta_client){.kind = is_stream ? ZETA_CLIENT_STREAM : ZETA_CLIENT_TRACER,
                             .name = groups[0]->properties->name,
                             .device = device,
                             .groups = pinned,
                             .group_count = group_count,
                             .capture = capture};
    result = zeta_client_reserve(collector->root, &collector->client);
    if (result != ZE_RESULT_SUCCESS)
        goto discard;
    *out_collector = collector;
    return ZE_RESULT_SUCCESS;

discard:
    zeta_object_discard(collector);
    return result;
}

ze_result_t zeta_collector_opened(struct zeta_collector *collector, ze_result_t result)
{
    if (result == ZE_RESULT_SUCCESS) {
        zeta_client_settle(collector->root, &collector->client);
    } else {
        zeta_client_release(collector->root, &collector->client);
        zeta_object_discard(collector);
    }
    return result;
}
