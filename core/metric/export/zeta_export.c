/* What exported data says about itself. */
#include <stdio.h>
#include <string.h>

#include "core/metric/export/export.h"
#include "core/util/own_struct.h"
#include "zeta/zeta.h"

/** Checks the arguments and opens the data. */
static ze_result_t open_data(const char *function, size_t data_size, const uint8_t *data,
                             struct zeta_export *export)
{
    if (!data)
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_POINTER, "%s: data is null", function);
    return zeta_export_open(data, data_size, export);
}

ze_result_t zetaExportDataGetInfo(size_t data_size, const uint8_t *data,
                                  struct zeta_export_info *info)
{
    struct zeta_export_info found = {0};
    struct zeta_export export;
    ze_result_t result = zeta_own_struct_check("zetaExportDataGetInfo", info);

    if (result == ZE_RESULT_SUCCESS)
        result = open_data("zetaExportDataGetInfo", data_size, data, &export);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    zeta_export_describe(&export, &found.properties, &found.record_bytes);
    found.raw_bytes = export.raw_bytes;
    found.tile_count = export.tile_count;
    found.raw = export.raw;
    zeta_export_close(&export);
    zeta_own_struct_copy(info, info->struct_size, &found, sizeof(found));
    return ZE_RESULT_SUCCESS;
}

ze_result_t zetaExportDataGetMetrics(size_t data_size, const uint8_t *data, uint32_t *count,
                                     struct zeta_exported_metric *metrics)
{
    const char *function = "zetaExportDataGetMetrics";
    struct zeta_export export;
    zet_metric_group_properties_t group = {0};
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint32_t record_bytes;

    if (!count)
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_POINTER, "%s: count is null", function);
    for (uint32_t i = 0; metrics && i < *count && result == ZE_RESULT_SUCCESS; i++)
        result = zeta_own_struct_check(function, &metrics[i]);
    if (result == ZE_RESULT_SUCCESS)
        result = open_data(function, data_size, data, &export);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    zeta_export_describe(&export, &group, &record_bytes);
    if (*count == 0)
        metrics = NULL;
    if (!metrics || *count > group.metricCount)
        *count = group.metricCount;
    for (uint32_t i = 0; metrics && i < *count; i++) {
        struct zeta_exported_metric found = {0};

        zeta_export_describe_metric(&export, i, &found.properties, &found.metric_class);
        zeta_own_struct_copy(&metrics[i], metrics[i].struct_size, &found, sizeof(found));
    }
    zeta_export_close(&export);
    return ZE_RESULT_SUCCESS;
}
