/*
 * The entry of the plugin: one object per manifest, that is, per generation.
 */
#include "plugins/intel/gpu/intel.h"

#define PLUGIN_VERSION "0.1.0"

static const struct zeta_plugin_ops plugin_ops = {
    .struct_size = sizeof(struct zeta_plugin_ops),
    .init = zeta_intel_init,
    .finish = zeta_intel_finish,
    .device = &zeta_intel_device_ops,
    .compute = &zeta_intel_queue_ops,
    .metric = &zeta_intel_metric_ops,
    .debug = &zeta_intel_debug_ops,
};

uint32_t zeta_plugin_negotiate(const struct zeta_plugin_offer *offer,
                               struct zeta_plugin_answer *out_answer)
{
    return zeta_host_negotiate(offer, &plugin_ops, PLUGIN_VERSION, sizeof(struct zeta_plugin),
                               out_answer);
}
