#include "sdk/tools/zeta/trace/annotation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/c_locale.h>

void zeta_annotations_begin(struct zeta_annotations *annotations, struct zeta_name_table *names)
{
    annotations->names = names;
    annotations->names_before = names->count;
    annotations->value_count = 0;
    annotations->list_count = 0;
    annotations->text_bytes = 0;
    annotations->is_out_of_memory = false;
}

char *zeta_annotations_text(struct zeta_annotations *annotations, struct zeta_slice text)
{
    static char nothing[1];
    const size_t room = sizeof(annotations->text) - annotations->text_bytes;
    char *at = annotations->text + annotations->text_bytes;

    if (room == 0)
        return nothing;
    annotations->text_bytes += zeta_json_unescape(text, at, room) + 1;
    return at;
}

/* Addresses are strings of hexadecimal digits in JSON. */
static bool read_address(struct zeta_slice text, uint64_t *out_address)
{
    char copy[24];
    char *end = NULL;

    if (text.size < 3 || text.size >= sizeof(copy) || memcmp(text.data, "0x", 2) != 0)
        return false;
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    errno = 0;
    *out_address = strtoull(copy, &end, 16);
    return *end == '\0' && errno == 0;
}

static void set_number(Perfetto__Protos__DebugAnnotation *value, struct zeta_slice text)
{
    char copy[64];
    const size_t size = text.size < sizeof(copy) ? text.size : sizeof(copy) - 1;

    memcpy(copy, text.data, size);
    copy[size] = '\0';
    if (strpbrk(copy, ".eE")) {
        value->has_double_value = true;
        value->double_value = zeta_c_strtod(copy, NULL);
    } else if (copy[0] == '-') {
        value->has_int_value = true;
        value->int_value = strtoll(copy, NULL, 10);
    } else {
        value->has_uint_value = true;
        value->uint_value = strtoull(copy, NULL, 10);
    }
}

static void set_word(Perfetto__Protos__DebugAnnotation *value, struct zeta_slice text)
{
    if (text.data[0] == 'n') {
        value->has_pointer_value = true;
        return;
    }
    value->has_bool_value = true;
    value->bool_value = text.data[0] == 't';
}

static void set_value(struct zeta_annotations *annotations,
                      Perfetto__Protos__DebugAnnotation *value, const struct zeta_json_value *json)
{
    switch (json->kind) {
    case ZETA_JSON_NUMBER:
        set_number(value, json->text);
        break;
    case ZETA_JSON_WORD:
        set_word(value, json->text);
        break;
    case ZETA_JSON_OBJECT:
        value->dict_entries = zeta_annotations_add(annotations, json->text, &value->n_dict_entries);
        break;
    case ZETA_JSON_ARRAY:
        value->array_values = zeta_annotations_add(annotations, json->text, &value->n_array_values);
        break;
    case ZETA_JSON_STRING:
    default:
        value->has_pointer_value = read_address(json->text, &value->pointer_value);
        if (!value->has_pointer_value)
            value->string_value = zeta_annotations_text(annotations, json->text);
        break;
    }
}

static void set_name(struct zeta_annotations *annotations, Perfetto__Protos__DebugAnnotation *value,
                     struct zeta_slice name)
{
    uint32_t number = 0;

    if (zeta_name_table_get(annotations->names, name, &number) == ZETA_NAME_NO_MEMORY) {
        annotations->is_out_of_memory = true;
        return;
    }
    value->has_name_iid = true;
    value->name_iid = number + 1;
}

static uint32_t count_values(struct zeta_slice container)
{
    struct zeta_json_walk walk = zeta_json_walk_begin(container);
    struct zeta_json_value value;
    struct zeta_slice name;
    uint32_t count = 0;

    while (zeta_json_walk_next(&walk, &name, &value))
        count++;
    return count;
}

Perfetto__Protos__DebugAnnotation **zeta_annotations_add(struct zeta_annotations *annotations,
                                                         struct zeta_slice object,
                                                         size_t *out_count)
{
    const uint32_t count = count_values(object);
    Perfetto__Protos__DebugAnnotation **list = annotations->lists + annotations->list_count;
    struct zeta_json_walk walk = zeta_json_walk_begin(object);
    struct zeta_json_value json;
    struct zeta_slice name;

    *out_count = 0;
    if (count > ZETA_ANNOTATIONS_MAX - annotations->list_count ||
        count > ZETA_ANNOTATIONS_MAX - annotations->value_count)
        return NULL;
    annotations->list_count += count;
    while (zeta_json_walk_next(&walk, &name, &json) &&
           annotations->value_count < ZETA_ANNOTATIONS_MAX) {
        Perfetto__Protos__DebugAnnotation *value = &annotations->values[annotations->value_count++];

        perfetto__protos__debug_annotation__init(value);
        if (walk.is_object)
            set_name(annotations, value, name);
        set_value(annotations, value, &json);
        list[(*out_count)++] = value;
    }
    return list;
}
