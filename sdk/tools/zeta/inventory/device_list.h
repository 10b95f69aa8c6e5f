/*
 * The devices of this machine, as the commands name them.
 */
#ifndef ZETA_TOOLS_INVENTORY_DEVICE_LIST_H
#define ZETA_TOOLS_INVENTORY_DEVICE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zeta/zeta.h>

struct zeta_device_entry {
    uint32_t index; /**< place in the list, a name that -d takes */
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_device_properties_t properties;
    struct zeta_device_info info;
    uint32_t tile_count; /**< sub-devices; 0 for a device that is not divided */
};

struct zeta_device_list {
    struct zeta_device_entry *entries;
    uint32_t count;
    struct zeta_device_entry tile; /**< the tile that was found last, if one was */
};

/**
 * Initialises the library and lists the devices, hardware first. A list of none is a success.
 * On failure prints why and gives the exit code. zeta_device_list_finish ends it either way.
 */
int zeta_device_list_init(struct zeta_device_list *out_list);

void zeta_device_list_finish(struct zeta_device_list *list);

/**
 * Finds a device by index, by id or by name, or a tile of one by those of the tile, "0.1" being
 * the second tile of the first device; null text means the first device. On failure says what
 * there is and gives ZETA_EXIT_FAILED. The entry belongs to the list; that of a tile, whose index
 * is the device's, is valid until the next call.
 */
int zeta_device_list_find(struct zeta_device_list *list, const char *text,
                          const struct zeta_device_entry **out_entry);

/**
 * Whether the library computes on a device, so that a program that works on it must have the
 * library as its driver; text as above. False when there is no device at all and none is named.
 * Initialises the library. On failure prints why and gives the exit code.
 */
int zeta_device_list_find_compute(const char *text, bool *out_is_ours);

/**
 * Initialises the library for calculating, which needs no device. On failure prints why and gives
 * the exit code.
 */
int zeta_device_list_need_none(void);

/** Says why there is no device, plugin by plugin. Gives ZETA_EXIT_FAILED. */
int zeta_device_list_explain_none(void);

#endif
