#include "zeta/zeta.h"

#include <string.h>

#include "core/device/device.h"
#include "core/metric/group/group_hold.h"
#include "core/metric/group/metric_info.h"
#include "core/metric/query/query_words.h"
#include "core/metric/stream/stream.h"
#include "core/metric/stream/streamer.h"
#include "core/plugin/host.h"
#include "core/util/error.h"

/** Copies the members that the caller's struct has room for; its struct_size stays as it is. */
static void give(void *target, const void *source, size_t source_bytes)
{
    size_t wanted = *(const size_t *)target;

    if (wanted > source_bytes)
        wanted = source_bytes;
    if (wanted > sizeof(size_t))
        memcpy((char *)target + sizeof(size_t), (const char *)source + sizeof(size_t),
               wanted - sizeof(size_t));
}

static ze_result_t null_pointer(const char *function, const char *parameter)
{
    return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_POINTER, "%s: %s is null", function, parameter);
}

/** As the function; the group is held. */
static ze_result_t group_info(const struct zeta_metric_group *object, struct zeta_group_info *info)
{
    struct zeta_group_info found = {0};
    const struct zeta_provider *provider;
    struct zeta_plugin_string unit;

    provider = &object->device->backend->providers[ZETA_GROUP_METRIC_STREAM];
    if (!provider->backend)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "nobody samples device %s",
                          object->device->backend->id);
    found.plugin = provider->backend->id;
    found.unit = zeta_metric_group_unit(object);
    found.origin = object->origin;
    found.record_bytes = zeta_metric_group_record_bytes(object);
    unit.data = found.unit;
    unit.size = strlen(found.unit);
    if (object->properties->samplingType == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED)
        zeta_stream_periods(object->device, object, &found.min_period_ns, &found.max_period_ns);
    zeta_query_words_give(object, &found.no_queries, &found.query_note);
    (void)provider->backend->metric.holder(provider->backend->self, provider->device, unit,
                                           &found.holder_pid);
    give(info, &found, sizeof(found));
    return ZE_RESULT_SUCCESS;
}

ze_result_t zetaMetricGroupGetInfo(zet_metric_group_handle_t group, struct zeta_group_info *info)
{
    const char *function = "zetaMetricGroupGetInfo";
    struct zeta_group_hold hold;
    ze_result_t result;

    if (!zeta_object_is(group, ZETA_KIND_METRIC_GROUP))
        return zeta_object_explain(group, ZETA_KIND_METRIC_GROUP, function, "group");
    if (!info)
        return null_pointer(function, "info");
    result = zeta_group_hold(group, function, "group", &hold);
    if (result == ZE_RESULT_SUCCESS)
        result = group_info(hold.view, info);
    zeta_group_let_go(&hold);
    return result;
}

ze_result_t zetaMetricGetInfo(zet_metric_handle_t metric, struct zeta_metric_info *info)
{
    const char *function = "zetaMetricGetInfo";
    struct zeta_metric_entry *entry = (struct zeta_metric_entry *)metric;
    struct zeta_group_hold hold = {0};
    struct zeta_metric_info found = {0};
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (!zeta_object_pin(entry, ZETA_KIND_METRIC))
        return zeta_object_explain(entry, ZETA_KIND_METRIC, function, "metric");
    if (!info)
        result = null_pointer(function, "info");
    else if (entry->group) /* whose set says what the metric is */
        result = zeta_group_hold(entry->group, function, "metric", &hold);
    if (result == ZE_RESULT_SUCCESS) {
        found.metric_class = zeta_metric_entry_class(entry);
        give(info, &found, sizeof(found));
    }
    zeta_group_let_go(&hold);
    zeta_object_unpin(entry);
    return result;
}

ze_result_t zetaMetricStreamerGetInfo(zet_metric_streamer_handle_t streamer,
                                      struct zeta_stream_info *info)
{
    const char *function = "zetaMetricStreamerGetInfo";
    struct zeta_metric_streamer *object = (struct zeta_metric_streamer *)streamer;
    struct zeta_stream_info found = {0};
    struct zeta_stream_totals totals;
    bool open;

    if (!info)
        return null_pointer(function, "info");
    if (!zeta_object_pin(object, ZETA_KIND_METRIC_STREAMER))
        return zeta_object_explain(object, ZETA_KIND_METRIC_STREAMER, function, "streamer");
    open = zeta_stream_totals(object->stream, &totals);
    if (open) {
        found.records = totals.records;
        found.lost = totals.lost_records;
        found.breaks = totals.breaks;
        found.bytes = totals.bytes;
        found.period_ns = object->stream->period_ns;
        found.ended = totals.ended;
        found.ring_records = object->stream->ring_records;
        give(info, &found, sizeof(found));
    }
    zeta_object_unpin(object);
    return open ? ZE_RESULT_SUCCESS
                : zeta_error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                             "%s: the streamer was closed by another thread", function);
}
