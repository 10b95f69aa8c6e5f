#include "sdk/tools/zeta/output/json.h"

#include <math.h>
#include <string.h>

void zeta_json_put_text(struct json_object *object, const char *key, const char *text)
{
    (void)json_object_object_add(object, key, text ? json_object_new_string(text) : NULL);
}

void zeta_json_put_u64(struct json_object *object, const char *key, uint64_t value)
{
    (void)json_object_object_add(object, key, json_object_new_uint64(value));
}

void zeta_json_put_i64(struct json_object *object, const char *key, int64_t value)
{
    (void)json_object_object_add(object, key, json_object_new_int64(value));
}

void zeta_json_put_bool(struct json_object *object, const char *key, bool value)
{
    (void)json_object_object_add(object, key, json_object_new_boolean(value));
}

void zeta_json_put_number(struct json_object *object, const char *key, struct zeta_number number)
{
    struct json_object *value = NULL;
    char text[ZETA_NUMBER_TEXT_BYTES];

    if (number.kind == ZETA_NUMBER_U64)
        value = json_object_new_uint64(number.u64);
    else if (number.kind == ZETA_NUMBER_F64 && isfinite(number.f64)) {
        zeta_number_format_exact(number, text);
        value = json_object_new_double_s(number.f64, text);
    }
    (void)json_object_object_add(object, key, value);
}

struct json_object *zeta_json_put_object(struct json_object *object, const char *key)
{
    struct json_object *member = json_object_new_object();

    (void)json_object_object_add(object, key, member);
    return member;
}

struct json_object *zeta_json_put_array(struct json_object *object, const char *key)
{
    struct json_object *array = json_object_new_array();

    (void)json_object_object_add(object, key, array);
    return array;
}

struct json_object *zeta_json_append_array(struct json_object *array)
{
    struct json_object *member = json_object_new_array();

    (void)json_object_array_add(array, member);
    return member;
}

void zeta_json_append_text(struct json_object *array, const char *text)
{
    (void)json_object_array_add(array, json_object_new_string(text));
}

void zeta_json_append_u64(struct json_object *array, uint64_t value)
{
    (void)json_object_array_add(array, json_object_new_uint64(value));
}

struct json_object *zeta_json_append_object(struct json_object *array)
{
    struct json_object *object = json_object_new_object();

    (void)json_object_array_add(array, object);
    return object;
}

void zeta_json_write(struct json_object *document, FILE *file)
{
    const char *text =
        json_object_to_json_string_ext(document, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
                                                     JSON_C_TO_STRING_NOSLASHESCAPE);

    (void)fputs(text, file);
    (void)fputc('\n', file);
}

void zeta_json_write_html(struct json_object *document, FILE *file)
{
    const char *text = json_object_to_json_string_ext(document, JSON_C_TO_STRING_PLAIN |
                                                                    JSON_C_TO_STRING_NOSLASHESCAPE);

    for (; *text; text++) {
        if (strchr("<>&'", *text))
            (void)fprintf(file, "\\u%04x", (unsigned char)*text);
        else
            (void)fputc(*text, file);
    }
    (void)fputc('\n', file);
}
