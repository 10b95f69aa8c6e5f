/*
 * The service for the plugin: one request on the standard input, one answer on the standard output.
 */
#ifndef ZETA_VGPU_CC_SERVE_H
#define ZETA_VGPU_CC_SERVE_H

#include "sdk/tools/zeta-vgpu-cc/front_end/front_end.h"

/** Answers one request (vgpu_compile.h). Gives the exit status: 0 when the answer was written. */
int zeta_cc_serve(const struct zeta_cc_paths *paths);

#endif
