/*
 * Files that results are written to, and JSON documents (json-c).
 */
#ifndef ZETA_TOOLS_OUTPUT_FILE_H
#define ZETA_TOOLS_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <json-c/json.h>

#include "sdk/tools/zeta/output/text.h"

/** A document with its "schema". */
struct json_object *zeta_json_new_document(const char *schema);

/* Each adds a member to an object. */
void zeta_json_put_text(struct json_object *object, const char *key,
                        const char *text); /* or null */
void zeta_json_put_i64(struct json_object *object, const char *key, int64_t value);
void zeta_json_put_u64(struct json_object *object, const char *key, uint64_t value);
void zeta_json_put_bool(struct json_object *object, const char *key, bool value);

/** What is missing or infinite becomes null. */
void zeta_json_put_number(struct json_object *object, const char *key, struct zeta_number number);

/** Adds an empty object and gives it; the object around it owns it. */
struct json_object *zeta_json_put_object(struct json_object *object, const char *key);

/** Adds an empty array and gives it; the object owns it. */
struct json_object *zeta_json_put_array(struct json_object *object, const char *key);

/* Each appends an element to an array. */
struct json_object *zeta_json_append_array(struct json_object *array);
void zeta_json_append_text(struct json_object *array, const char *text);
void zeta_json_append_u64(struct json_object *array, uint64_t value);

/** Appends an empty object to an array and gives it; the array owns it. */
struct json_object *zeta_json_append_object(struct json_object *array);

/** Writes a document and a line feed. */
void zeta_json_write(struct json_object *document, FILE *file);

/**
 * The same for an element of HTML, which no text of the document ends: '<', '>', '&' and ' are
 * spelled as numbers. In JSON these characters are always a part of a string.
 */
void zeta_json_write_html(struct json_object *document, FILE *file);

/**
 * Names a file that this command reads, before any output is opened: no output goes into it, under
 * whatever name. Fails with a message if the standard output goes into it.
 */
int zeta_output_protect(const char *path);

/** Fails with a message if a path leads to a file that zeta_output_protect() named. */
int zeta_output_check_input(const char *path);

/**
 * Opens a file for results that come later, and leaves what is in it until then, so that a wrong
 * path is found before a long run and a failed run destroys nothing. Refuses inputs, recordings and
 * what another output goes to. On failure prints why.
 */
int zeta_output_open(const char *path, FILE **out_file);

/** Empties the file before the first result, as far as it can be emptied (a pipe cannot). */
void zeta_output_begin(FILE *file);

/** Closes the file, if there is one; fails with a message when something could not be written. */
int zeta_output_close(FILE *file, const char *path);

/**
 * Writes a document to a path, or to the standard output for null or "-", and releases it. On
 * failure prints why.
 */
int zeta_output_put_json(const char *path, struct json_object *document);

#endif
