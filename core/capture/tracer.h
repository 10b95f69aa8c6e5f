/*
 * Opening captures as tracers: records of events, which a backend writes while it is switched on.
 *
 *   off --enable--> (starting) --> on --disable--> (stopping) --> off
 *
 * What was collected stays readable in every state (zeta_capture_enable()).
 */
#ifndef ZETA_CORE_CAPTURE_TRACER_H
#define ZETA_CORE_CAPTURE_TRACER_H

#include <stdint.h>

#include "core/capture/capture.h"
#include "zeta/plugin.h"

struct zeta_layout;

/** What to open. */
struct zeta_tracer_request {
    const struct zeta_layout *layout;       /**< of all records */
    const struct zeta_plugin_string *units; /**< that are traced, at least one */
    uint32_t unit_count;
    struct zeta_capture_event event;
    uint32_t notify_bytes; /**< in and out */
};

/**
 * Opens the backend's tracers, rings and notification. It is off then.
 * Errors: those of the backend; OUT_OF_HOST_MEMORY. Nothing stays open then.
 */
ze_result_t zeta_tracer_open(struct zeta_capture *capture, struct zeta_tracer_request *request);

#endif
