/*
 * Reading YAML into a small tree with positions, and writing it. Static helper: no part of the
 * plugin interface.
 *
 * The subset is what hand-written configuration needs: mappings with text keys, sequences, scalars,
 * block and flow style. Anchors, aliases, tags and several documents in one file are refused, as
 * are duplicate keys, text that is not UTF-8 and zero bytes: none of them is needed and all of them
 * have been used to hide things. Size, depth and number of nodes are bounded.
 */
#ifndef ZETA_YAML_H
#define ZETA_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum zeta_yaml_kind {
    ZETA_YAML_SCALAR,
    ZETA_YAML_SEQUENCE,
    ZETA_YAML_MAPPING,
    ZETA_YAML_KIND_COUNT
};

/** A node of the tree. Nodes and texts live as long as the document. */
struct zeta_yaml_node {
    enum zeta_yaml_kind kind;
    uint32_t line;   /**< from 1; where the node starts */
    uint32_t column; /**< from 1, in characters */

    const char *key; /**< name, if the node is a member of a mapping, else NULL */
    uint32_t key_line;
    uint32_t key_column;

    const char *text; /**< of a scalar, terminated, without inner zero bytes; else NULL */
    size_t length;    /**< of text in bytes */
    bool plain;       /**< the scalar was written without quotes and not as a block */

    bool flow; /**< the sequence or mapping was written in brackets */
    uint32_t child_count;
    struct zeta_yaml_node *first_child; /**< members in the order of the file */
    struct zeta_yaml_node *next;        /**< next member of the same parent */
};

/** Bounds of what is read. A member that is 0 stands for the default. */
struct zeta_yaml_limits {
    size_t max_bytes;   /**< of the text; default 1 MiB */
    uint32_t max_depth; /**< nesting of sequences and mappings; default 32 */
    uint32_t max_nodes; /**< default 200 000 */
};

struct zeta_yaml_document;

/** Why a text was refused; the first mistake stops the reading. */
struct zeta_yaml_error {
    bool no_memory;  /**< the text may be good; there is no sentence */
    uint32_t line;   /**< from 1; 0 if the error is about the file as a whole */
    uint32_t column; /**< from 1, in characters; 0 as line */
    char text[384];  /**< one sentence, cut at the end, without the name of the file */
};

/**
 * Parses a text. NULL with *out_error if it is refused.
 *
 * @name    of the text in messages, for example its path; copied
 * @limits  may be NULL for the defaults
 *
 * Ownership: the document is freed with zeta_yaml_free(). It keeps nothing of text.
 */
struct zeta_yaml_document *zeta_yaml_parse(const char *text, size_t length, const char *name,
                                           const struct zeta_yaml_limits *limits,
                                           struct zeta_yaml_error *out_error);

/** The same of a part of a file, which begins with its line of that number (from 1). */
struct zeta_yaml_document *zeta_yaml_parse_part(const char *text, size_t length, uint32_t line,
                                                const char *name,
                                                const struct zeta_yaml_limits *limits,
                                                struct zeta_yaml_error *out_error);

/**
 * Reads what an open descriptor gives, from its current position to its end, and parses it.
 * The descriptor stays open. Parameters and errors as zeta_yaml_parse().
 */
struct zeta_yaml_document *zeta_yaml_read_fd(int fd, const char *name,
                                             const struct zeta_yaml_limits *limits,
                                             struct zeta_yaml_error *out_error);

/**
 * Opens a regular file and reads it, one byte more than the limit at most. NULL with *out_error if
 * it cannot be read. The text has no zero byte at its end; it is freed with free().
 */
char *zeta_yaml_read_text(const char *path, const struct zeta_yaml_limits *limits,
                          size_t *out_length, struct zeta_yaml_error *out_error);

/** Opens a regular file, reads and parses it. Parameters and errors as zeta_yaml_parse(). */
struct zeta_yaml_document *zeta_yaml_read_file(const char *path,
                                               const struct zeta_yaml_limits *limits,
                                               struct zeta_yaml_error *out_error);

/** Writes "name:line:column: sentence" of an error; always terminated. */
void zeta_yaml_print_error(const struct zeta_yaml_error *error, const char *name, char *buffer,
                           size_t size_bytes);

/** Frees a document with all its nodes and texts. NULL is allowed. */
void zeta_yaml_free(struct zeta_yaml_document *document);

/** The top node; NULL for a text that holds nothing (only blanks and comments). */
const struct zeta_yaml_node *zeta_yaml_root(const struct zeta_yaml_document *document);

/** The name given when the document was parsed. */
const char *zeta_yaml_name(const struct zeta_yaml_document *document);

/** The member of a mapping with this key; NULL if there is none or the node is no mapping. */
const struct zeta_yaml_node *zeta_yaml_member(const struct zeta_yaml_node *mapping,
                                              const char *key);

/** True for a plain scalar that YAML reads as nothing: empty, "~", "null". */
bool zeta_yaml_is_null(const struct zeta_yaml_node *node);

/**
 * Conversions of a scalar. False, and *out_value untouched, if the node is not a scalar of that
 * form: integers are unsigned, decimal or 0x hexadecimal, and fit 64 bits; doubles are finite;
 * booleans are true or false, plain.
 */
bool zeta_yaml_u64(const struct zeta_yaml_node *node, uint64_t *out_value);
bool zeta_yaml_double(const struct zeta_yaml_node *node, double *out_value);
bool zeta_yaml_bool(const struct zeta_yaml_node *node, bool *out_value);

/** The text of a member of a mapping; NULL if there is none, or it is no scalar. */
const char *zeta_yaml_text(const struct zeta_yaml_node *mapping, const char *key);

/** "a scalar", "a sequence", "a mapping", for messages. */
const char *zeta_yaml_kind_name(enum zeta_yaml_kind kind);

/**
 * Writes a text from its begin to its end: one value, which is a scalar, or a mapping or sequence
 * that is started, filled and ended. In a mapping keys and values alternate. Without memory all
 * that follows does nothing.
 */
struct zeta_yaml_writer;

/** Begins a text; NULL without memory. It ends with zeta_yaml_writer_finish(). */
struct zeta_yaml_writer *zeta_yaml_writer_create(void);

/** Writes a scalar or a key, without quotes if it is plain and YAML allows that. */
void zeta_yaml_write_text(struct zeta_yaml_writer *writer, const char *text, bool plain);

/** Starts a sequence or a mapping, in brackets if flow. */
void zeta_yaml_write_start(struct zeta_yaml_writer *writer, enum zeta_yaml_kind kind, bool flow);

/** Ends the one that was started last, of that kind. */
void zeta_yaml_write_end(struct zeta_yaml_writer *writer, enum zeta_yaml_kind kind);

/** Writes a node with its children, without its key. */
void zeta_yaml_write_node(struct zeta_yaml_writer *writer, const struct zeta_yaml_node *node);

/** Ends the writer. The text, for free(); NULL without memory, or if it is no whole value. */
char *zeta_yaml_writer_finish(struct zeta_yaml_writer *writer, size_t *out_length);

#ifdef __cplusplus
}
#endif

#endif
