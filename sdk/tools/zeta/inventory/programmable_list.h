/*
 * The programmables of a device, for zeta groups.
 */
#ifndef ZETA_TOOLS_INVENTORY_PROGRAMMABLE_LIST_H
#define ZETA_TOOLS_INVENTORY_PROGRAMMABLE_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include <zeta/zeta.h>

struct json_object;

struct zeta_programmable_entry {
    zet_metric_programmable_exp_handle_t programmable;
    zet_metric_programmable_exp_properties_t properties;
    /** properties.parameterCount of each; their values are valueInfoCount of each. */
    zet_metric_programmable_param_info_exp_t *parameters;
    zet_metric_programmable_param_value_info_exp_t **values;
};

struct zeta_programmable_list {
    struct zeta_programmable_entry *entries;
    uint32_t count;
};

/**
 * Lists the programmables of a device whose metrics are enabled. On failure prints why.
 * zeta_programmable_list_finish ends it either way.
 */
int zeta_programmable_list_init(ze_device_handle_t device, struct zeta_programmable_list *out_list);

void zeta_programmable_list_finish(struct zeta_programmable_list *list);

/** Writes a table to stdout; verbose: with descriptions, parameters and their values. */
void zeta_programmable_list_print(const struct zeta_programmable_list *list, bool is_verbose);

/** Puts them into the array "programmables" of a document. */
void zeta_programmable_list_put_json(const struct zeta_programmable_list *list,
                                     struct json_object *document);

#endif
