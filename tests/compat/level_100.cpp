#include "levels.h"

#include <zeta/compat/zet_1_0_provisional.h>

ze_result_t level_100_open(zet_device_handle_t device)
{
    zet_metric_streamer_desc_t desc = {ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC, nullptr, 3, 4};
    zet_metric_streamer_handle_t streamer = nullptr;

    return zetMetricStreamerOpen(device, nullptr, &desc, nullptr, &streamer);
}
