/*
 * Programmables: what an application can have counted beyond the sets of a device.
 *
 * A programmable is a template of a metric. Its texts (program, expressions, unit) hold
 * placeholders in braces, which stand for parameters, for texts that the chosen values of
 * parameters bring along ("let"), and for the slots that its counters get. So set files say
 * everything about a programmable; nothing here knows a device.
 */
#ifndef ZETA_CORE_FORMULA_SETS_PROGRAMMABLES_H
#define ZETA_CORE_FORMULA_SETS_PROGRAMMABLES_H

#include <stdbool.h>
#include <stdint.h>

#include <level_zero/zet_api.h>

#include "core/formula/sets/set.h"

/** Most parameters, values of one parameter, and counters of one programmable. */
#define ZETA_PROGRAMMABLE_MAX_PARAMETERS 8u
#define ZETA_PROGRAMMABLE_MAX_VALUES 64u
#define ZETA_PROGRAMMABLE_MAX_COUNTERS 16u
/** Most combinations of the values of one programmable; the linker tries each. */
#define ZETA_PROGRAMMABLE_MAX_COMBINATIONS 1024u
/** The same of all programmables of a catalog: some seconds of a slow machine. */
#define ZETA_PROGRAMMABLES_MAX_COMBINATIONS 32768u

/** A name that stands for a text. */
struct zeta_let {
    const char *name;
    const char *text;
};

/** One value of a parameter, or one range of values. */
struct zeta_parameter_value {
    zet_value_info_exp_t info;
    const char *description;
    struct zeta_expr *instances; /**< symbols only: so many metrics at once; NULL: one */
    bool each_tile;              /**< one metric per tile of the device */
    struct zeta_let *lets;
    uint32_t let_count;
};

struct zeta_parameter {
    const char *name;
    const char *file;
    uint32_t line;
    zet_metric_programmable_param_type_exp_t type;
    zet_value_info_type_exp_t value_type;
    zet_value_t fallback; /**< one of the values */
    struct zeta_parameter_value *values;
    uint32_t value_count; /**< at least 1 */
};

/** One entry of a counter's program: a selection, or a register with two or three expressions. */
struct zeta_counter_entry {
    const char *select; /**< NULL for a register */
    const char *address;
    const char *value;
    const char *mask; /**< bits of the register that are the counter's; NULL: all */
};

/** A counter that a programmable needs: it takes a slot of the unit. */
struct zeta_counter {
    const char *name;
    const char *bank; /**< the only one whose slots it can take; NULL: any */
    struct zeta_counter_entry *entries;
    uint32_t entry_count;
};

struct zeta_programmable {
    const char *name;
    const char *description;
    const char *component;
    const char *file;
    uint32_t line;
    uint32_t tier;
    uint32_t domain;
    zet_metric_group_sampling_type_flags_t sampling; /**< a programmable of the API for each bit */
    const char *unit_name;
    const char *layout_name;
    const struct zeta_unit *unit;
    const struct zeta_layout *layout;
    struct zeta_expr *available; /**< symbols only; NULL: always */
    bool deferred;               /**< its combinations were tried before it was shipped */

    const char *const *parameter_names;
    const struct zeta_parameter **parameters;
    uint32_t parameter_count; /**< at least 1 */
    struct zeta_let *lets;
    uint32_t let_count;
    struct zeta_counter *counters;
    uint32_t counter_count;

    /* Of the metric; all with placeholders. */
    const char *type;
    const char *value_type;
    const char *metric_class;
    const char *result_unit;
    const char *value;
    const char *maximum; /**< NULL: none */
};

/** What a value is, by the type of its parameter. */
struct zeta_number zeta_parameter_number(zet_value_info_type_exp_t type, const zet_value_t *value);

/** Smallest and largest value that a value of a parameter stands for; true if it is a range. */
bool zeta_parameter_ends(zet_value_info_type_exp_t type, const zet_value_info_exp_t *info,
                         struct zeta_number out_ends[2]);

/** Index of the value or range that holds a value, UINT32_MAX if none does. */
uint32_t zeta_parameter_find(const struct zeta_parameter *parameter, const zet_value_t *value);

/** The usable programmables of a linked catalog, in the order of files and of each file. */
uint32_t zeta_catalog_programmable_count(const struct zeta_catalog *catalog);
const struct zeta_programmable *zeta_catalog_programmable(const struct zeta_catalog *catalog,
                                                          uint32_t index);
const struct zeta_programmable *zeta_catalog_find_programmable(const struct zeta_catalog *catalog,
                                                               const char *name);

/** Most runs of slots of a unit. */
#define ZETA_UNIT_MAX_SLOT_RUNS 8u

/** Counters of a unit that programmables may use. */
uint32_t zeta_unit_slot_count(const struct zeta_unit *unit);

#endif
