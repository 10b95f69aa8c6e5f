/*
 * What the host asks about metrics of a device: sets, symbols, limits, holders.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "intel.h"

static uint32_t symbols(struct zeta_plugin *self, struct zeta_plugin_device *device,
                        struct zeta_plugin_array *out_symbols)
{
    (void)self;
    out_symbols->data = device->symbols;
    out_symbols->count = device->symbol_count;
    out_symbols->stride = sizeof(struct zeta_plugin_symbol);
    return ZETA_PLUGIN_SUCCESS;
}

const struct zeta_plugin_metric_ops zeta_intel_metric_ops = {
    .struct_size = sizeof(struct zeta_plugin_metric_ops),
    .symbols = symbols,
};
