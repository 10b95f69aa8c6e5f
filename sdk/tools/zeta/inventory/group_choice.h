/*
 * Groups that a command line names, to be sampled together.
 */
#ifndef ZETA_TOOLS_INVENTORY_GROUP_CHOICE_H
#define ZETA_TOOLS_INVENTORY_GROUP_CHOICE_H

#include <stdint.h>

#include "sdk/tools/zeta/inventory/device_list.h"
#include "sdk/tools/zeta/inventory/group_list.h"

/**
 * Finds groups that can be sampled over time and loads their metrics.
 *
 * @out_groups  room for count entries, which belong to the list
 *
 * On failure (no such group) says why.
 */
int zeta_group_choose_any(const struct zeta_group_list *list,
                          const struct zeta_device_entry *device, const char *const *names,
                          uint32_t count, struct zeta_group_entry **out_groups);

/** The same, and that they can be sampled together, one of each domain. */
int zeta_group_choose(const struct zeta_group_list *list, const struct zeta_device_entry *device,
                      const char *const *names, uint32_t count,
                      struct zeta_group_entry **out_groups);

#endif
