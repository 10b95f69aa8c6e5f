#ifndef ZETA_PLUGINS_INTEL_STREAM_STREAM_H
#define ZETA_PLUGINS_INTEL_STREAM_STREAM_H

/*
 * Time-based streams, as zeta/plugin.h has them. There is no stop: the host takes what is left and
 * closes, which gives up the unit as well.
 */

#include "plugins/intel/gpu/intel.h"

uint32_t zeta_intel_stream_open(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                struct zeta_plugin_stream_desc *desc,
                                struct zeta_plugin_stream **out_stream);
uint32_t zeta_intel_stream_read(struct zeta_plugin *self, struct zeta_plugin_stream *stream,
                                void *buffer, uint64_t capacity_bytes,
                                struct zeta_plugin_read *out_read);
int32_t zeta_intel_stream_descriptor(struct zeta_plugin *self, struct zeta_plugin_stream *stream);
void zeta_intel_stream_close(struct zeta_plugin *self, struct zeta_plugin_stream *stream);

#endif
