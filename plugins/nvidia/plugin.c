/*
 * The entry of the plugin.
 */
#include "plugins/nvidia/activity/activity.h"
#include "plugins/nvidia/compute/compute.h"
#include "plugins/nvidia/gpu/nvidia.h"

#define PLUGIN_VERSION "0.1.0"

static const struct zeta_plugin_ops plugin_ops = {
    .struct_size = sizeof(struct zeta_plugin_ops),
    .init = nvidia_init,
    .finish = nvidia_finish,
    .device = &nvidia_device_ops,
    .compute = &nvidia_compute_ops,
    .metric = &nvidia_metric_ops,
    .tracer = &nvidia_tracer_ops,
    .debug = &nvidia_debug_ops,
};

uint32_t zeta_plugin_negotiate(const struct zeta_plugin_offer *offer,
                               struct zeta_plugin_answer *out_answer)
{
    return zeta_host_negotiate(offer, &plugin_ops, PLUGIN_VERSION, sizeof(struct zeta_plugin),
                               out_answer);
}
