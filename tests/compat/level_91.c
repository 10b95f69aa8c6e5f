#include "levels.h"

#include <zeta/compat/zet_0_91.h>

ze_result_t level_91_open(zet_device_handle_t device)
{
    zet_metric_tracer_desc_t desc = {ZET_METRIC_TRACER_DESC_VERSION_CURRENT, 1, 2};
    zet_metric_tracer_handle_t tracer = NULL;

    return zetMetricTracerOpen(device, NULL, &desc, NULL, &tracer);
}

ze_result_t level_91_find_context(zet_device_handle_t device, ze_context_handle_t *out_context)
{
    return zeta_compat_find_context(device, out_context);
}
