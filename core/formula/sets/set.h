/*
 * Metric sets: what set files describe.
 *
 * A catalog holds what the set files of one provider say: symbols, units, layouts and sets. It is
 * filled (any number of files, in any order), linked once (references looked up, everything
 * checked) and constant afterwards, so that any number of threads may read it.
 */
#ifndef ZETA_CORE_FORMULA_SETS_SET_H
#define ZETA_CORE_FORMULA_SETS_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/zet_api.h>

#include "core/formula/expr/expr.h"
#include "core/formula/record/layout.h"
#include "core/util/diagnostic.h"

/** The newest version of the set file format that this library reads. */
#define ZETA_SET_FORMAT 2u

/** Where the number behind $Name comes from. */
enum zeta_symbol_source {
    ZETA_SYMBOL_PROVIDER, /**< the metric provider of the device says it */
    ZETA_SYMBOL_CONSTANT  /**< the set file says it */
};

struct zeta_symbol {
    const char *name; /**< without the dollar sign */
    const char *description;
    const char *file;
    uint32_t line;
    uint32_t index; /**< in the linked catalog */
    enum zeta_symbol_source source;
    struct zeta_number value; /**< type always; the number for constants */
};

/** One exclusive counting resource. */
struct zeta_unit {
    const char *name;
    const char *description;
    const char *file;
    uint32_t line;
    struct zeta_address_range *ranges; /**< registers that programs may write */
    uint32_t range_count;
    bool has_ranges;      /**< false: addresses are not checked (programs without registers) */
    uint32_t marker_bits; /**< that its data has for markers, 0: it takes none */
    struct zeta_slot_run *slots; /**< counters that programmables may use */
    uint32_t slot_run_count;
};

/** Counters first to first + count - 1 of a bank. */
struct zeta_slot_run {
    const char *bank;
    uint32_t first;
    uint32_t count;
};

/** Addresses from first to last, both included. */
struct zeta_address_range {
    uint32_t first;
    uint32_t last;
    const char *register_class; /**< as the backend calls it; NULL: the unit does not say */
};

/** The range of the unit's registers that has the address; NULL if none has. */
const struct zeta_address_range *zeta_unit_find_range(const struct zeta_unit *unit,
                                                      uint32_t address);

/** How a number came to be; every metric says it. */
enum zeta_value_class {
    ZETA_CLASS_EXACT,     /**< counted, event by event */
    ZETA_CLASS_SIMULATED, /**< result of a simulated structure fed with real accesses */
    ZETA_CLASS_MODELLED,  /**< follows from a model, for example of time */
    ZETA_METRIC_CLASS_COUNT
};

/** One of the event types whose records are entries of a metric. */
struct zeta_metric_event {
    const char *name;
    uint32_t line, column;
    uint32_t type; /**< its number in records; valid once linked */
};

struct zeta_metric {
    const char *name;
    const char *description;
    const char *component;
    const char *unit; /**< text as clients see it */
    const char *file;
    uint32_t line;
    zet_metric_type_t type;
    zet_value_type_t value_type;
    uint32_t tier; /**< 1 (for everybody) to 4 (for experts) */
    enum zeta_value_class metric_class;
    bool is_info; /**< came from the layout, not from the set */

    struct zeta_expr *available; /**< symbols only; NULL: always */
    struct zeta_expr *value;
    struct zeta_expr *maximum; /**< NULL: the measured value, or 100 for percent */

    struct zeta_metric_event *events; /**< at least one in sets of event layouts, none in others */
    uint32_t event_count;
};

/** One entry of a program: a register write or a selection. */
struct zeta_program_entry {
    const char *select; /**< NULL for a register write */
    uint32_t address;
    uint32_t value;
    uint32_t mask; /**< of a counter of a programmable that has only these bits; 0: the whole */
    uint32_t line;
};

/** Entries that are programmed together if the condition holds. */
struct zeta_program_part {
    struct zeta_expr *condition; /**< symbols only; NULL: always */
    struct zeta_program_entry *entries;
    uint32_t entry_count;
};

/** A metric set: becomes one metric group per sampling type. */
struct zeta_set {
    const char *name;
    const char *description;
    const char *uuid; /**< of the program: 36 characters, lower case; NULL: it has none */
    const char *file;
    uint32_t line;
    uint32_t domain;
    zet_metric_group_sampling_type_flags_t sampling; /**< at least one bit */
    const struct zeta_unit *unit;
    const struct zeta_layout *layout;
    struct zeta_expr *available; /**< symbols only; NULL: always */

    struct zeta_program_part *program;
    uint32_t program_count;
    struct zeta_metric *metrics; /**< with the info metrics of the layout at the end */
    uint32_t metric_count;

    const struct zeta_set *query_of; /**< this is the query form of that set; NULL: it is none */
    /** It has neither metrics nor a program yet: zeta_set_compile() links it. NULL: it has. */
    const struct zeta_loaded_set *deferred;
};

struct zeta_catalog;
struct zeta_loaded_set;

/** Makes an empty catalog; NULL when memory is exhausted. Freed with zeta_catalog_destroy(). */
struct zeta_catalog *zeta_catalog_create(void);

/** Frees a catalog and everything found in it. NULL is allowed. */
void zeta_catalog_destroy(struct zeta_catalog *catalog);

/**
 * Sets of files that are added from now on are linked when they are compiled: for files that were
 * checked before they were shipped, and have a thousand sets of which few are used. What is wrong
 * with metrics or registers of such a set is found then, and what is wrong with the texts of their
 * programmables when an application chooses values.
 */
void zeta_catalog_defer(struct zeta_catalog *catalog, bool defers);

/**
 * Adds the contents of a set file. Findings go to sink (may be NULL). Unknown keys are warnings.
 *
 * @name  of the text in messages; copied
 * Errors: INVALID_ARGUMENT if the text is refused as a whole or in part (what was in order is kept,
 * and the catalog can be linked all the same), OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_catalog_add_text(struct zeta_catalog *catalog, const char *text, size_t length,
                                  const char *name, struct zeta_diagnostics *sink);

/** Adds a file. As zeta_catalog_add_text(), and INVALID_ARGUMENT if the file cannot be read. */
ze_result_t zeta_catalog_add_file(struct zeta_catalog *catalog, const char *path,
                                  struct zeta_diagnostics *sink);

/**
 * Adds a text or, if text is NULL, the file of that name, all or nothing: of one that is refused
 * nothing is kept. Errors as zeta_catalog_add_file().
 */
ze_result_t zeta_catalog_add_whole(struct zeta_catalog *catalog, const char *name, const char *text,
                                   size_t length, struct zeta_diagnostics *sink);

/**
 * Looks up every reference and checks everything that needs more than one place: layouts of sets,
 * names and types in expressions, cycles between metrics, duplicate names, registers of programs.
 * To be called once, after the last file. Sets with an error are left out of the catalog. Of sets
 * that are deferred, only what a list of sets needs is looked up.
 *
 * Errors: INVALID_ARGUMENT if anything was wrong (the sets without errors are usable all the same),
 * OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_catalog_link(struct zeta_catalog *catalog, struct zeta_diagnostics *sink);

/** The usable sets of a linked catalog, by domain, then in the order of files and of each file. */
uint32_t zeta_catalog_set_count(const struct zeta_catalog *catalog);
const struct zeta_set *zeta_catalog_set(const struct zeta_catalog *catalog, uint32_t index);
const struct zeta_set *zeta_catalog_find_set(const struct zeta_catalog *catalog, const char *name);

/**
 * Links a deferred set: its metrics and its program. Writes nothing that the catalog owns, so any
 * number of threads may do it at once.
 *
 * @arena  of what *out_set refers to beyond the catalog; also to be freed after an error
 * Errors: INVALID_ARGUMENT with findings, OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_set_link_deferred(const struct zeta_catalog *catalog, const struct zeta_set *set,
                                   struct zeta_arena *arena, struct zeta_diagnostics *sink,
                                   struct zeta_set *out_set);

/** The symbols, in order; expressions refer to them by index. */
uint32_t zeta_catalog_symbol_count(const struct zeta_catalog *catalog);
const struct zeta_symbol *zeta_catalog_symbol(const struct zeta_catalog *catalog, uint32_t index);

/** A word of set files and its number in C. Tables end with a NULL word. */
struct zeta_word {
    const char *word;
    uint32_t value;
};
extern const struct zeta_word zeta_metric_types[], zeta_value_types[], zeta_sampling_words[];

/** The word for a number; NULL for what set files cannot say. */
const char *zeta_word_of(const struct zeta_word *words, uint32_t value);

/** "exact", "simulated" or "modelled". */
const char *zeta_metric_class_name(enum zeta_value_class metric_class);

#endif
