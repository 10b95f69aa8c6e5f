#include "zeta/zeta.h"

#include <string.h>

#include "core/capture/stream.h"
#include "core/capture/unit_program.h"
#include "core/device/device.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/group/group_view.h"
#include "core/metric/group/query_notes.h"
#include "core/plugin/host.h"
#include "core/util/error.h"
#include "core/util/own_struct.h"

/** As the function; the group is viewed. */
static ze_result_t group_info(const struct zeta_metric_group *group, struct zeta_group_info *info)
{
    const struct zeta_provider *provider =
        &group->device->backend->providers[ZETA_GROUP_METRIC_STREAM];
    struct zeta_group_info found = {0};
    struct zeta_stream_periods periods = {0};

    if (!provider->backend)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "no plugin samples device %s",
                          group->device->backend->id);
    found.plugin = provider->backend->id;
    found.unit = zeta_metric_group_unit(group);
    found.origin = group->origin;
    found.record_bytes = zeta_metric_group_record_bytes(group);
    if (group->properties->samplingType == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED) {
        for (uint32_t i = 0; i < group->compiled_count; i++)
            zeta_stream_narrow_periods(
                &zeta_metrics_tile(group->device, i)->backend->providers[ZETA_GROUP_METRIC_STREAM],
                group->compiled[i], &periods);
    }
    found.min_period_ns = periods.min_ns;
    found.max_period_ns = periods.max_ns;
    zeta_query_notes_get(group, &found.no_queries, &found.query_note);
    (void)provider->backend->metric.holder(provider->backend->self, provider->device,
                                           zeta_plugin_text(found.unit), &found.holder_pid);
    zeta_own_struct_copy(info, info->struct_size, &found, sizeof(found));
    return ZE_RESULT_SUCCESS;
}

ze_result_t zetaMetricGroupGetInfo(zet_metric_group_handle_t group, struct zeta_group_info *info)
{
    const char *function = "zetaMetricGroupGetInfo";
    struct zeta_group_view view;
    ze_result_t result;

    if (!zeta_object_is(group, ZETA_KIND_METRIC_GROUP))
        return zeta_object_explain(group, ZETA_KIND_METRIC_GROUP, function, "group");
    if (!info)
        return zeta_own_null_pointer(function, "info");
    result = zeta_group_view_acquire(group, function, "group", &view);
    if (result == ZE_RESULT_SUCCESS)
        result = group_info(view.group, info);
    zeta_group_view_release(&view);
    return result;
}

ze_result_t zetaMetricGetInfo(zet_metric_handle_t metric, struct zeta_metric_info *info)
{
    const char *function = "zetaMetricGetInfo";
    struct zeta_metric_entry *entry = (struct zeta_metric_entry *)metric;
    struct zeta_group_view view = {0};
    struct zeta_metric_info found = {0};
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (!zeta_object_pin(entry, ZETA_KIND_METRIC))
        return zeta_object_explain(entry, ZETA_KIND_METRIC, function, "metric");
    if (!info)
        result = zeta_own_null_pointer(function, "info");
    else if (entry->group) /* whose set says what the metric is */
        result = zeta_group_view_acquire(entry->group, function, "metric", &view);
    if (result == ZE_RESULT_SUCCESS) {
        found.metric_class = zeta_metric_entry_class(entry);
        zeta_own_struct_copy(info, info->struct_size, &found, sizeof(found));
    }
    zeta_group_view_release(&view);
    zeta_object_unpin(entry);
    return result;
}
