/*
 * The inside of a catalog, shared by the readers of set files and the linker. Only for this folder.
 */
#ifndef ZETA_CORE_FORMULA_SETS_CATALOG_PRIV_H
#define ZETA_CORE_FORMULA_SETS_CATALOG_PRIV_H

#include <stdatomic.h>

#include <zeta/yaml.h>

#include "core/formula/sets/set.h"

/** Bounds of names and texts, those of the API with their terminator. */
#define ZETA_SET_NAME_BYTES 256u
#define ZETA_SET_TEXT_BYTES 256u

/** Largest number of metrics of one set, info metrics included. */
#define ZETA_SET_MAX_METRICS 1024u
/** Bounds of a program: parts, and entries of one part. */
#define ZETA_PROGRAM_MAX_PARTS 256u
#define ZETA_PROGRAM_MAX_ENTRIES 8192u
/** Longest chain of metrics that refer to metrics. */
#define ZETA_SET_MAX_CHAIN 16u
/** Metrics, nodes and register writes that a catalog has beyond what its files say. */
#define ZETA_CATALOG_MAX_MADE 2000000u

/** A growing array of pointers whose memory comes from an arena. */
struct zeta_vector {
    void **items;
    uint32_t count;
    uint32_t capacity;
};

/** Items by name. The names belong to the items. */
struct zeta_name_table {
    struct zeta_name_slot {
        const char *name; /**< NULL: the slot is free */
        void *item;
        const char *file; /**< where it was declared, if the linker says it */
        uint32_t line;
        uint32_t hash;
    } * slots;
    uint32_t count;
    uint32_t capacity; /**< a power of two, or 0 */
};

/** A piece of a pattern: one of text, counter, expr. */
struct zeta_pattern_piece {
    const char *text;
    uint32_t length;
    uint32_t counter;       /**< number of a counter that a use gives, from 1 */
    struct zeta_expr *expr; /**< over the index */
};

/** A text in which {...} stands for what an index makes of it (pattern.c). */
struct zeta_pattern {
    const char *key; /**< of the member that it is the text of; valid while its file is read */
    uint32_t line, column;
    struct zeta_pattern_piece *pieces;
    uint32_t count;
    uint32_t counters; /**< that it takes of a use: the largest number in it */
};

/** The name of a part that the linker looks up, and where it was written. */
struct zeta_reference {
    const char *name;
    uint32_t line, column;
};

/** A counter that a use of a shared metric gives. */
struct zeta_counter_name {
    const char *bank;
    uint32_t number;
};

/** A place in a list of metrics that stands for a shared definition. */
struct zeta_metric_use {
    const char *key;
    const char *arguments; /**< indexes and counters, as they are written; "": none */
    uint32_t line, column;
    uint32_t index; /**< in the list */
};

/** Texts of a metric that an index may change. */
enum zeta_metric_text {
    ZETA_METRIC_NAME,
    ZETA_METRIC_DESCRIPTION,
    ZETA_METRIC_COMPONENT,
    ZETA_METRIC_UNIT,
    ZETA_METRIC_WHEN,
    ZETA_METRIC_VALUE,
    ZETA_METRIC_MAX,
    ZETA_METRIC_TEXTS
};

/** An entry of a file that is parsed at its first use (set_late.c). */
struct zeta_late_entry {
    struct zeta_late_file *file;
    const char *text; /**< from the begin of its line on */
    size_t length;
    const char *key; /**< in the text */
    size_t key_length;
    uint32_t line;
};

/** Whether a definition can be used. */
enum zeta_shared_state { ZETA_SHARED_READ, ZETA_SHARED_LATE, ZETA_SHARED_FAULTY };

/** A definition that sets use by its key: a metric, a template of metrics, or a list of uses. */
struct zeta_shared_metric {
    _Atomic(enum zeta_shared_state) state; /**< LATE: nothing but key, line and file is known */
    const struct zeta_late_entry *late;
    const char *key;
    uint32_t line;
    struct zeta_metric metric;    /**< of a template: what its texts do not change */
    const char *index;            /**< name of the template's index; NULL: it has none */
    uint32_t counters;            /**< that each metric of the template takes */
    struct zeta_pattern *texts;   /**< of a template, by enum zeta_metric_text; else NULL */
    struct zeta_metric_use *uses; /**< of a list; else NULL */
    uint32_t use_count;
};

/** Registers with a name, which texts of the same file use. */
struct zeta_register_block {
    struct zeta_program_entry *entries;
    uint32_t entry_count;
    uint32_t depth; /**< of blocks in it */
    uint32_t line;
    const struct zeta_late_entry *late; /**< it is not read yet; else NULL */
};

/** A program that belongs to a uuid, and so to the sets that have it. */
struct zeta_uuid_program {
    const char *uuid;
    const char *file;
    uint32_t line;
    struct zeta_program_part *parts;
    uint32_t part_count;
    const struct zeta_late_entry *late; /**< its parts are read by those who use them; else NULL */
};

/** A list of metrics that is not read yet. */
struct zeta_late_list {
    const struct zeta_late_file *file;
    const struct zeta_late_entry *entry; /**< NULL: node has the list */
    struct zeta_yaml_node node;
    const char *index; /**< of a set over an index, and its value; else NULL */
    uint32_t value;
};

/** A set as it was read: references are names with their positions. */
struct zeta_loaded_set {
    struct zeta_set set;
    struct zeta_metric_use
        *uses; /**< by index; the metric of such an index is empty until linking */
    uint32_t use_count;
    const struct zeta_late_list
        *late;          /**< its list of metrics is read when it is linked; or NULL */
    bool wants_program; /**< that of its uuid */
    bool deferred;      /**< linked when it is compiled */
    const struct zeta_metric_use **use_of; /**< linked: of each metric, NULL: it is the set's own */
    const struct zeta_loaded_set
        *also_of; /**< it is this one on a further unit; NULL: it is none */
    bool faulty;  /**< the linker refused it */
    struct zeta_reference unit, layout;
};

struct zeta_catalog {
    struct zeta_arena arena;
    uint32_t made;               /**< of ZETA_CATALOG_MAX_MADE */
    struct zeta_late *late;      /**< files with entries that are parsed at their first use */
    bool defers;                 /**< sets of files that are added now are linked when compiled */
    struct zeta_vector symbols;  /**< of struct zeta_symbol */
    struct zeta_vector units;    /**< of struct zeta_unit */
    struct zeta_vector layouts;  /**< of struct zeta_layout */
    struct zeta_vector shared;   /**< of struct zeta_shared_metric */
    struct zeta_vector programs; /**< of struct zeta_uuid_program */
    /** Once linked. Shared metrics have keys, programs have uuids. */
    struct zeta_name_table symbols_by_name, units_by_name, layouts_by_name, parameters_by_name,
        shared_by_name, programs_by_name;
    struct zeta_name_table sets_by_name; /**< of struct zeta_loaded_set */
    struct zeta_vector loaded;           /**< of struct zeta_loaded_set */
    struct zeta_vector sets;             /**< of struct zeta_set; filled by the linker */

    struct zeta_vector parameters;           /**< of struct zeta_parameter */
    struct zeta_vector programmables;        /**< of struct zeta_programmable */
    struct zeta_vector usable_programmables; /**< of struct zeta_programmable, by the linker */
};

/** Adds an item; false when memory is exhausted. */
bool zeta_vector_push(struct zeta_arena *arena, struct zeta_vector *vector, void *item);

/** The item of a name; NULL if there is none. */
void *zeta_names_find(const struct zeta_name_table *names, const char *name, size_t length);
/** Adds an item, unless another one has the name. The slot of the name; NULL without memory. */
struct zeta_name_slot *zeta_names_add(struct zeta_arena *arena, struct zeta_name_table *names,
                                      const char *name, void *item);

/** State of reading one file. */
struct zeta_set_reader {
    struct zeta_catalog *catalog;
    struct zeta_arena *arena; /**< of what is read: the catalog's, or of one set */
    uint32_t *made;           /**< of ZETA_CATALOG_MAX_MADE */
    struct zeta_diagnostics *sink;
    const char *file;                   /**< name in messages, owned by the catalog */
    uint32_t format;                    /**< of the file */
    const struct zeta_yaml_node *kinds; /**< what definitions of the file have in common, or NULL */
    struct zeta_name_table blocks;      /**< of struct zeta_register_block */
    struct zeta_program_entry *room;    /**< for ZETA_PROGRAM_MAX_ENTRIES, once one was needed */
    uint32_t depth;                     /**< blocks that are being read */
    const struct zeta_late_entry *entry; /**< of the definition, if it is read later; else NULL */
    const struct zeta_late_file *late;   /**< lists of metrics are read later; NULL: at once */
    const char *index;                   /**< of a set that is being read; NULL: it has none */
    uint32_t index_value;
    struct zeta_pattern_memo *patterns; /**< of that set */
    struct zeta_arena scratch;          /**< nodes that are made of others, for one definition */
    uint32_t errors;                    /**< findings of this file that make it fail */
    bool out_of_memory;                 /**< reading stops soon */
};

/** What the value of a key is, and the type of the place that it is read into. */
enum zeta_key_kind {
    ZETA_KEY_OTHER,       /**< read apart */
    ZETA_KEY_TEXT,        /**< const char *: of min to max bytes (0: 255), no control characters */
    ZETA_KEY_REFERENCE,   /**< struct zeta_reference: a text that the linker looks up */
    ZETA_KEY_NAME,        /**< const char *: a letter or '_', then letters, digits, '_' */
    ZETA_KEY_DASHED_NAME, /**< the same with '-' */
    ZETA_KEY_U32,         /**< uint32_t from min to max */
    ZETA_KEY_WORD,        /**< uint32_t or enum: one of words */
    ZETA_KEY_FLAGS,       /**< uint32_t: a list of words, at least one */
    ZETA_KEY_EXPR         /**< struct zeta_expr * */
};

/** A key of a mapping, and where its value goes in an object. Tables end with a NULL key. */
struct zeta_key {
    const char *key;
    enum zeta_key_kind kind;
    size_t offset;
    bool optional; /**< missing: the place stays as it is */
    uint32_t min, max;
    const struct zeta_word *words;
};

/* Helpers of reading (set_read.c). Those that return bool report what is wrong before false. */

/** Reports an error at a node. */
void zeta_reader_error(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                       const char *format, ...) ZETA_PRINTF(3, 4);
/** Notes that memory is exhausted; returns false. */
bool zeta_reader_no_memory(struct zeta_set_reader *reader);
/** Frees what only the reader needed, and gives what came of it. */
ze_result_t zeta_reader_finish(struct zeta_set_reader *reader);
/** Memory of what is read, zeroed; NULL, and noted, when it is exhausted. */
void *zeta_reader_alloc(struct zeta_set_reader *reader, size_t size_bytes);
/** Adds an item to a part of the catalog; false, and noted, without memory. */
bool zeta_reader_add(struct zeta_set_reader *reader, struct zeta_vector *vector, void *item);
/** Counts what is made of a few bytes. False, with an error, when it is too much. */
bool zeta_reader_may_make(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                          uint32_t count);
/** True if the node is of that kind. what names it in the message. */
bool zeta_reader_kind(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                      enum zeta_yaml_kind kind, const char *what);
/** Copies a name, one of the key or the text of a node. */
bool zeta_reader_name(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                      const char *text, bool dash, const char **out_name);
/** Reads what the key describes; its offset counts for nothing. */
bool zeta_reader_value(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                       const struct zeta_key *key, void *place);
/** Reads the members of a mapping, all of them, into the object. Warns about unknown keys. */
bool zeta_reader_mapping(struct zeta_set_reader *reader, const struct zeta_yaml_node *mapping,
                         const char *what, const struct zeta_key *keys, void *object);
/** Zeroed memory for each member of a list of min to max members; NULL if it is no such list. */
void *zeta_reader_array(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                        enum zeta_yaml_kind kind, const char *what, uint32_t min, uint32_t max,
                        size_t item_bytes);

/* Parts of a file. Those that return nothing add what is in order to the catalog. */

/** layout_load.c */
void zeta_read_layout(struct zeta_set_reader *reader, const struct zeta_yaml_node *node);

/** Keys of a metric, those of enum zeta_metric_text first. */
extern const struct zeta_key zeta_metric_keys[];

/** What zeta_read_metric() reads. */
enum zeta_metric_part {
    ZETA_METRIC_WHOLE,
    ZETA_METRIC_ONLY_TEXTS,   /**< enum zeta_metric_text */
    ZETA_METRIC_WITHOUT_TEXTS /**< all else; the metric is a template */
};

/** Reads a metric. name is for one without the key 'name'; NULL: the key is required. */
bool zeta_read_metric(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                      enum zeta_metric_part part, const char *name, struct zeta_metric *metric);

/**
 * Reads a list of metrics. False if any is not in order. loaded takes the members of the list that
 * are keys of shared definitions; NULL: there can be none.
 */
bool zeta_read_metrics(struct zeta_set_reader *reader, const struct zeta_yaml_node *list,
                       struct zeta_loaded_set *loaded, struct zeta_metric **out_metrics,
                       uint32_t *out_count);

/* Patterns (pattern.c). */

/** Reads a pattern over an index (NULL: none), with or without counters. */
bool zeta_pattern_read(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                       const char *index, bool counters, struct zeta_pattern *out_pattern);
/** Writes the text for a value of the index; false if there is no room. */
bool zeta_pattern_fill(const struct zeta_pattern *pattern, uint32_t index,
                       const struct zeta_counter_name *counters, char *out_text, size_t size_bytes,
                       size_t *out_length);

/** What linking a set reads and writes. */
struct zeta_linker {
    const struct zeta_catalog *catalog;
    struct zeta_arena *arena; /**< of what is made: the catalog's, or of one set */
    uint32_t *made;           /**< of ZETA_CATALOG_MAX_MADE */
    bool copies; /**< writes only into what it made: other threads link sets of the catalog too */
    struct zeta_diagnostics *sink;
    ze_result_t result; /**< INVALID_ARGUMENT after the first finding */
};

/** Reports an error; false. */
bool zeta_link_fail(struct zeta_linker *linker, const char *file, uint32_t line, uint32_t column,
                    const char *format, ...) ZETA_PRINTF(5, 6);

/** Notes that memory is exhausted; false. */
bool zeta_link_no_memory(struct zeta_linker *linker);

/* Entries that are parsed at their first use (set_late.c). */

struct zeta_late *zeta_late_create(void);
void zeta_late_destroy(struct zeta_late *late);

/**
 * Takes a text, and gives its document without the entries that can be parsed one by one; both live
 * as long as the catalog. INVALID_ARGUMENT with a finding, OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_late_open(struct zeta_late *late, char *text, size_t length, const char *name,
                           struct zeta_diagnostics *sink, struct zeta_late_file **out_file,
                           const struct zeta_yaml_document **out_document);

/** Makes the entries known, before the rest of the file is read; then what that gave them. */
void zeta_late_add(struct zeta_set_reader *reader, struct zeta_late_file *file);
void zeta_late_ready(const struct zeta_set_reader *reader, struct zeta_late_file *file);

/** A reader for what was left out of a file, into memory of the linker. */
struct zeta_set_reader zeta_late_reader(const struct zeta_linker *linker,
                                        const struct zeta_late_file *file);

/** The list that was left out of its file where the node is; NULL: none. */
const struct zeta_late_entry *zeta_late_list(const struct zeta_late_file *file,
                                             const struct zeta_yaml_node *node);

/** A list of uuids with its members, in scratch memory of the reader if they had been left out. */
const struct zeta_yaml_node *zeta_late_uuids(struct zeta_set_reader *reader,
                                             const struct zeta_yaml_node *node);

/** Around what threads read into memory of the catalog: one at a time. */
void zeta_late_lock(const struct zeta_catalog *catalog);
void zeta_late_unlock(const struct zeta_catalog *catalog);

/** What the reader makes from now on belongs to the catalog. */
void zeta_late_own(struct zeta_set_reader *reader);

/** Parses an entry. The document is to be freed; NULL with a finding. */
struct zeta_yaml_document *zeta_late_parse(struct zeta_set_reader *reader,
                                           const struct zeta_late_entry *entry,
                                           const struct zeta_yaml_node **out_node);

/** The program of a uuid; its text is read if it was not. */
ze_result_t zeta_uuid_program_parts(const struct zeta_linker *linker,
                                    const struct zeta_uuid_program *program,
                                    struct zeta_program_part **out_parts, uint32_t *out_count);

/* What sets have in common (set_shared.c). */

/** Checks the kinds of a file, and keeps them for its definitions. */
void zeta_read_kinds(struct zeta_set_reader *reader, const struct zeta_yaml_node *node);

/**
 * The definition with the members that its kind has in common; NULL, with an error, if it is no
 * mapping or has an unknown kind. Belongs to the scratch memory of the reader, or is the node.
 */
const struct zeta_yaml_node *zeta_reader_with_kind(struct zeta_set_reader *reader,
                                                   const struct zeta_yaml_node *node,
                                                   const char *what);

/** Reads a set, or each set of one over an index ("for"), with zeta_read_set() (set_load.c). */
void zeta_read_sets(struct zeta_set_reader *reader, const struct zeta_yaml_node *node);
bool zeta_read_set(struct zeta_set_reader *reader, const struct zeta_yaml_node *node);

/*
 * Read a definition that sets use, and add it if it is in order. Of one that is read later
 * (reader->entry) node has the key and its position.
 */
void zeta_read_block(struct zeta_set_reader *reader, const struct zeta_yaml_node *node);
void zeta_read_uuid_program(struct zeta_set_reader *reader, const struct zeta_yaml_node *node);
void zeta_read_shared_metric(struct zeta_set_reader *reader, const struct zeta_yaml_node *node);

/** Reads a member of a set's list that is the key of a shared definition. */
bool zeta_read_metric_use(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                          struct zeta_loaded_set *loaded, uint32_t index);

/** Keeps the list of metrics of a set, and reads it. */
bool zeta_late_keep_list(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                         struct zeta_loaded_set *loaded);
ze_result_t zeta_late_read_list(const struct zeta_linker *linker, struct zeta_loaded_set *loaded);

/** Adds a set to the catalog, and the same set for each other unit that node names ("also"). */
bool zeta_read_set_also(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                        struct zeta_loaded_set *loaded);

/**
 * Makes the metrics of a set: its own, and those of the shared definitions that it uses, in the
 * order of its list, with room for more behind them.
 */
bool zeta_link_uses(struct zeta_linker *linker, struct zeta_loaded_set *loaded, uint32_t more);

/** A metric with expressions of its own: linking writes into them. False without memory. */
bool zeta_metric_copy(struct zeta_arena *arena, const struct zeta_metric *from,
                      struct zeta_metric *metric);

/** After a metric was refused: reports which set uses it, and where, if it is a shared one. */
void zeta_report_use(const struct zeta_loaded_set *loaded, uint32_t index,
                     struct zeta_diagnostics *sink);

/** Gives a metric type, value type and class by their words; false if there are no such words. */
bool zeta_metric_words(const char *type, const char *value_type, const char *metric_class,
                       struct zeta_metric *metric);

/* Programmables (set_programmables.c). */

/** Reads the slots of a unit. */
bool zeta_read_slots(struct zeta_set_reader *reader, const struct zeta_yaml_node *list,
                     struct zeta_unit *unit);

/** Read one parameter, one programmable, and add it to the catalog if it is in order. */
void zeta_read_parameter(struct zeta_set_reader *reader, const struct zeta_yaml_node *node);
void zeta_read_programmable(struct zeta_set_reader *reader, const struct zeta_yaml_node *node);

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
    struct zeta_linker *linker;
    const struct zeta_layout *layout; /**< NULL: neither fields nor metrics, only symbols */
    bool one_record;                  /**< a condition over one record: views NOW only */
    struct zeta_metric *metrics;      /**< NULL: no metrics */
    uint32_t metric_count;
    unsigned char *metric_state; /**< enum of expr_link.c, one per metric */
    uint32_t chain;              /**< metrics on the way to this expression */
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
