/*
 * Members of JSON documents, on json-c.
 */
#ifndef ZETA_TOOLS_OUTPUT_JSON_H
#define ZETA_TOOLS_OUTPUT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <json-c/json.h>

#include "sdk/tools/zeta/output/number.h"

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

#endif
