/*
 * What files of this folder have in common: drivers as they are made, extensions.
 */
#ifndef ZETA_CORE_DEVICE_INIT_H
#define ZETA_CORE_DEVICE_INIT_H

#include <stdbool.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

struct zeta_driver;

/** Drivers of the process; what zeta_drivers_create() made. */
struct zeta_driver_set {
    struct zeta_driver **drivers;
    uint32_t count;
};

/**
 * Makes a driver for each compute provider, one named "Zeta" for devices that nobody computes on
 * (also when there is no device at all), and their devices.
 * Errors: OUT_OF_HOST_MEMORY. Threading: the caller holds the initialisation lock.
 */
ze_result_t zeta_drivers_create(struct zeta_driver_set *out_set);

/** The drivers in their order, at least one; of a library that is initialised. Lock-free. */
const struct zeta_driver_set *zeta_core_drivers(void);

/**
 * True if loaders may use the dispatch pointers at the start of handles: not for loaders below
 * 1.13, whose table sets had another layout.
 */
bool zeta_extensions_have_ddi_handles(void);

#endif
