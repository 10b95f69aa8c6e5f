/*
 * Groups that a device could have and does not list.
 */
#ifndef ZETA_TOOLS_INVENTORY_MORE_GROUPS_H
#define ZETA_TOOLS_INVENTORY_MORE_GROUPS_H

#include <stdio.h>

#include "sdk/tools/zeta/inventory/device_list.h"

/**
 * Says how to get the groups that the device's plugin reads on demand: a plugin with such has a
 * setting `sets`, which is "all" when they are there. Writes nothing for others.
 */
void zeta_more_groups_print(const struct zeta_device_entry *device, FILE *stream);

#endif
