/*
 * Where each function of the API has its callback in ze_callbacks_t.
 */
#ifndef ZETA_CORE_TRACE_PLACES_H
#define ZETA_CORE_TRACE_PLACES_H

#include <stdint.h>

#include <level_zero/ze_api.h>

#include "core/util/cleanup.h"
#include "zeta_functions.h"

/** Number of pointers in ze_callbacks_t, which holds nothing else. */
#define ZETA_TRACE_PLACES (sizeof(ze_callbacks_t) / sizeof(void (*)(void)))

/**
 * Place of a function's callback: 1 is the first pointer of ze_callbacks_t. 0: the table, which is
 * frozen at version 1.0, has none. Generated from core/api/model/callbacks.yaml.
 */
extern ZETA_HIDDEN const uint8_t zeta_trace_places[ZETA_FUNCTION_COUNT];

#endif
