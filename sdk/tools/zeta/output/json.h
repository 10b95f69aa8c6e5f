/*
 * Members of JSON documents, on json-c.
 */
#ifndef ZETA_TOOLS_OUTPUT_JSON_H
#define ZETA_TOOLS_OUTPUT_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include <json-c/json.h>

#include "sdk/tools/zeta/output/number.h"

/* Each adds a member to an object. */
void zeta_json_put_text(struct json_object *object, const char *key, const char *text);
void zeta_json_put_u64(struct json_object *object, const char *key, uint64_t value);
void zeta_json_put_bool(struct json_object *object, const char *key, bool value);

/** What is missing or infinite becomes null. */
void zeta_json_put_number(struct json_object *object, const char *key, struct zeta_number number);

/** Adds an empty array and gives it; the object owns it. */
struct json_object *zeta_json_put_array(struct json_object *object, const char *key);

/** Appends an empty object to an array and gives it; the array owns it. */
struct json_object *zeta_json_append_object(struct json_object *array);

#endif
