/*
 * The inside of a catalog, shared by the readers of set files and the linker. Only for this folder.
 */
#ifndef ZETA_CORE_FORMULA_SETS_CATALOG_PRIV_H
#define ZETA_CORE_FORMULA_SETS_CATALOG_PRIV_H

#include "core/formula/sets/set.h"
#include "core/util/yaml.h"

/** Bounds of names and texts, those of the API with their terminator. */
#define ZETA_SET_NAME_BYTES 256u
#define ZETA_SET_TEXT_BYTES 256u

/** Largest number of metrics of one set, info metrics included. */
#define ZETA_SET_MAX_METRICS 1024u
/** Longest chain of metrics that refer to metrics. */
#define ZETA_SET_MAX_CHAIN 16u
/** Metrics and nodes of expressions that the sets of a catalog have beyond what its files say. */
#define ZETA_CATALOG_MAX_MADE 2000000u

/** A growing array of pointers whose memory comes from an arena. */
struct zeta_vector {
    void **items;
    uint32_t count;
    uint32_t capacity;
};

/** A definition that sets use by its key. */
struct zeta_shared_metric {
    const char *key;
    uint32_t line;
    struct zeta_metric metric;
};

/** A place in a set's list of metrics that stands for a shared definition. */
struct zeta_metric_use {
    const char *key;
    uint32_t line, column;
    uint32_t index; /**< in the list */
};

/** A set as it was read: references are names with their positions. */
struct zeta_loaded_set {
    struct zeta_set set;
    struct zeta_metric_use
        *uses; /**< by index; the metric of such an index is empty until linking */
    uint32_t use_count;
    const struct zeta_loaded_set
        *also_of; /**< it is this one on a further unit; NULL: it is none */
    bool faulty;  /**< the linker refused it */
    const char *unit_name;
    uint32_t unit_line, unit_column;
    const char *layout_name;
    uint32_t layout_line, layout_column;
};

struct zeta_catalog {
    struct zeta_arena arena;
    uint32_t made; /**< metrics and nodes that uses of shared metrics and further units made */
    struct zeta_vector symbols; /**< of struct zeta_symbol */
    struct zeta_vector units;   /**< of struct zeta_unit */
    struct zeta_vector layouts; /**< of struct zeta_layout */
    struct zeta_vector shared;  /**< of struct zeta_shared_metric; by key once linked */
    struct zeta_vector loaded;  /**< of struct zeta_loaded_set */
    struct zeta_vector sets;    /**< of struct zeta_set; filled by the linker */

    struct zeta_vector parameters;           /**< of struct zeta_parameter */
    struct zeta_vector programmables;        /**< of struct zeta_programmable */
    struct zeta_vector usable_programmables; /**< of struct zeta_programmable, by the linker */
};

/** Adds an item; false when memory is exhausted. */
bool zeta_vector_push(struct zeta_arena *arena, struct zeta_vector *vector, void *item);

/** State of reading one file. */
struct zeta_set_reader {
    struct zeta_catalog *catalog;
    struct zeta_diagnostics *sink;
    const char *file;   /**< name in messages, owned by the catalog */
    uint32_t errors;    /**< findings of this file that make it fail */
    bool out_of_memory; /**< reading stops soon */
};

/** A word of a file and its number in C. Tables end with a NULL word. */
struct zeta_word {
    const char *word;
    uint32_t value;
};

/* Helpers of reading (set_read.c). Those that return bool report what is wrong before false. */

/** Reports an error at a node. */
void zeta_reader_error(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                       const char *format, ...) ZETA_PRINTF(3, 4);

/** Notes that memory is exhausted; returns false. */
bool zeta_reader_no_memory(struct zeta_set_reader *reader);

/** True if the node is of that kind. what names it in the message. */
bool zeta_reader_kind(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                      enum zeta_yaml_kind kind, const char *what);

/** Warns about members whose key is not in the NULL-terminated list. */
void zeta_reader_check_keys(struct zeta_set_reader *reader, const struct zeta_yaml_node *mapping,
                            const char *const *keys);

/** The member with this key; NULL, with an error at the mapping, if it is missing. */
const struct zeta_yaml_node *zeta_reader_need(struct zeta_set_reader *reader,
                                              const struct zeta_yaml_node *mapping,
                                              const char *key);

/**
 * Reads a text without control characters, shorter than ZETA_SET_TEXT_BYTES, into the catalog.
 * Missing: *out_text is fallback; with a NULL fallback the key is required.
 */
bool zeta_reader_text(struct zeta_set_reader *reader, const struct zeta_yaml_node *mapping,
                      const char *key, const char *fallback, const char **out_text);

/** Copies a name: a letter or underscore, then letters, digits, underscores (and '-' if dash). */
bool zeta_reader_name(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                      const char *text, bool dash, const char **out_name);

/** Reads an integer from min to max. Missing: *out_value keeps its value if optional. */
bool zeta_reader_u32(struct zeta_set_reader *reader, const struct zeta_yaml_node *mapping,
                     const char *key, bool optional, uint32_t min, uint32_t max,
                     uint32_t *out_value);

/** Reads one of the words of a table. The key is required. */
bool zeta_reader_word(struct zeta_set_reader *reader, const struct zeta_yaml_node *mapping,
                      const char *key, const struct zeta_word *words, uint32_t *out_value);

/** Looks a scalar up in a table of words. */
bool zeta_reader_find_word(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                           const struct zeta_word *words, uint32_t *out_value);

/** Parses an expression. Missing: *out_expr is NULL if optional. */
bool zeta_reader_expr(struct zeta_set_reader *reader, const struct zeta_yaml_node *mapping,
                      const char *key, bool optional, struct zeta_expr **out_expr);

/* Parts of a file (layout_load.c, set_load.c). */

/** Reads one layout and adds it to the catalog if it is in order. */
void zeta_read_layout(struct zeta_set_reader *reader, const struct zeta_yaml_node *node);

/** Reads a metric. name is for one without the key 'name'; NULL: the key is required. */
bool zeta_read_metric(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                      const char *name, struct zeta_metric *metric);

/**
 * Reads a list of metrics. False if any is not in order. loaded takes the members of the list that
 * are keys of shared definitions; NULL: there can be none.
 */
bool zeta_read_metrics(struct zeta_set_reader *reader, const struct zeta_yaml_node *list,
                       struct zeta_loaded_set *loaded, struct zeta_metric **out_metrics,
                       uint32_t *out_count);

/** Reads the name of a part of the catalog that the linker looks up. */
bool zeta_reader_reference(struct zeta_set_reader *reader, const struct zeta_yaml_node *mapping,
                           const char *key, const char **out_name, uint32_t *out_line,
                           uint32_t *out_column);

/** Reads one unit (set_units.c) and adds it to the catalog if it is in order. */
void zeta_read_unit(struct zeta_set_reader *reader, const struct zeta_yaml_node *node);

/* What sets have in common (set_shared.c). */

/** Reads a shared definition and adds it to the catalog if it is in order. */
void zeta_read_shared_metric(struct zeta_set_reader *reader, const struct zeta_yaml_node *node);

/** Reads a member of a set's list that is the key of a shared definition. */
bool zeta_read_metric_use(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                          struct zeta_loaded_set *loaded, uint32_t index);

/** Adds a set to the catalog, and the same set for each other unit that node names ("also"). */
bool zeta_read_set_also(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                        struct zeta_loaded_set *loaded);

/** Brings the shared definitions in the order in which they are found. */
void zeta_shared_sort(struct zeta_catalog *catalog);

/**
 * Puts copies of shared definitions in their places in a list of metrics. Errors: INVALID_ARGUMENT
 * for unknown keys, each with a finding, OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_link_uses(struct zeta_catalog *catalog, const struct zeta_loaded_set *loaded,
                           struct zeta_metric *metrics, struct zeta_diagnostics *sink);

/** After a metric was refused: reports which set uses it, and where, if it is a shared one. */
void zeta_report_use(const struct zeta_loaded_set *loaded, uint32_t index,
                     struct zeta_diagnostics *sink);

/* Event layouts and sets over them (set_events.c). */

/** Reads what only layouts of kind event have, and refuses what they cannot have. */
bool zeta_read_layout_events(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                             struct zeta_layout *layout);

/** Reads the event types of a metric. Missing is allowed: the layout of its set decides. */
bool zeta_read_metric_events(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                             struct zeta_metric *metric);

/**
 * Looks up the event types of a set's metrics. False, with findings, if one is unknown, or if
 * sampling, program and events do not go with the kind of the layout.
 */
bool zeta_link_events(const struct zeta_set *set, struct zeta_diagnostics *sink);

/** Reads a list of sampling types, at least one. The key is required. */
bool zeta_reader_sampling(struct zeta_set_reader *reader, const struct zeta_yaml_node *mapping,
                          zet_metric_group_sampling_type_flags_t *out_sampling);

/** Looks up the words for a metric's type and value type; false if there are no such words. */
bool zeta_metric_words(const char *type, const char *value_type, zet_metric_type_t *out_type,
                       zet_value_type_t *out_value_type);

/** Looks up the word for a metric's class; false if there is no such word. */
bool zeta_metric_class_word(const char *word, enum zeta_metric_class *out_class);

/* Programmables (set_programmables.c, programmables_link.c). */

/** Reads the optional slots of a unit. */
bool zeta_read_slots(struct zeta_set_reader *reader, const struct zeta_yaml_node *mapping,
                     struct zeta_unit *unit);

/** Read one parameter, one programmable, and add it to the catalog if it is in order. */
void zeta_read_parameter(struct zeta_set_reader *reader, const struct zeta_yaml_node *node);
void zeta_read_programmable(struct zeta_set_reader *reader, const struct zeta_yaml_node *node);

/**
 * Links the programmables and tries each combination of their values; after the sets. Those with an
 * error are left out. Errors: INVALID_ARGUMENT, OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_programmables_link(struct zeta_catalog *catalog, struct zeta_diagnostics *sink);

/* Linking of sets (set_link.c). */

/** Parts of a catalog by name; NULL if there is none. */
const struct zeta_unit *zeta_catalog_find_unit(const struct zeta_catalog *catalog,
                                               const char *name);
const struct zeta_layout *zeta_catalog_find_layout(const struct zeta_catalog *catalog,
                                                   const char *name);

/**
 * Links a set that is not in the catalog and has all its metrics, the info metrics included:
 * values, conditions and program. Nothing that the catalog owns is written. Errors:
 * INVALID_ARGUMENT, OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_set_link(const struct zeta_catalog *catalog, struct zeta_set *set,
                          struct zeta_diagnostics *sink);

/* Linking of expressions (expr_link.c). */

/** What the names of an expression may mean. */
struct zeta_link_scope {
    const struct zeta_catalog *catalog;
    const struct zeta_layout *layout; /**< NULL: neither fields nor metrics, only symbols */
    bool one_record;                  /**< a condition over one record: views NOW only */
    struct zeta_metric *metrics;      /**< NULL: no metrics */
    uint32_t metric_count;
    unsigned char *metric_state; /**< enum of expr_link.c, one per metric */
    uint32_t chain;              /**< metrics on the way to this expression */
    struct zeta_diagnostics *sink;
    const char *file;
};

/**
 * Looks names up and checks types of a whole tree. False if anything is wrong (reported).
 * Linking a linked tree again is allowed.
 */
bool zeta_expr_link(const struct zeta_link_scope *scope, struct zeta_expr *expr);

/** Links value and maximum of one metric and of those that it refers to. */
bool zeta_metric_link(const struct zeta_link_scope *scope, uint32_t index);

#endif
