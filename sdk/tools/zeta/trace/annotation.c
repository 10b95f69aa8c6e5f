#include "sdk/tools/zeta/trace/annotation.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void zeta_annotations_begin(struct zeta_annotations *annotations, struct zeta_name_table *names)
{
    annotations->names = names;
    annotations->names_before = names->count;
    annotations->value_count = 0;
    annotations->list_count = 0;
    annotations->text_bytes = 0;
    annotations->is_out_of_memory = false;
}

char *zeta_annotations_text(struct zeta_annotations *annotations, const char *text)
{
    static char nothing[1];
    const size_t room = sizeof(annotations->text) - annotations->text_bytes;
    char *at = annotations->text + annotations->text_bytes;

    if (room == 0)
        return nothing;
    (void)snprintf(at, room, "%s", text);
    annotations->text_bytes += strlen(at) + 1;
    return at;
}

/* Addresses are strings of hexadecimal digits in JSON. */
static bool read_address(const char *text, uint64_t *out_address)
{
    char *end = NULL;

    if (strncmp(text, "0x", 2) != 0 || !isxdigit((unsigned char)text[2]))
        return false;
    errno = 0;
    *out_address = strtoull(text, &end, 16);
    return *end == '\0' && errno == 0;
}

static void set_value(struct zeta_annotations *annotations,
                      Perfetto__Protos__DebugAnnotation *value, struct json_object *json)
{
    switch (json_object_get_type(json)) {
    case json_type_int:
        value->has_int_value = json_object_get_int64(json) < 0;
        value->int_value = json_object_get_int64(json);
        value->has_uint_value = !value->has_int_value;
        value->uint_value = json_object_get_uint64(json);
        break;
    case json_type_double:
        value->has_double_value = true;
        value->double_value = json_object_get_double(json);
        break;
    case json_type_boolean:
        value->has_bool_value = true;
        value->bool_value = json_object_get_boolean(json);
        break;
    case json_type_object:
        value->dict_entries = zeta_annotations_add(annotations, json, &value->n_dict_entries);
        break;
    case json_type_array:
        value->array_values = zeta_annotations_add(annotations, json, &value->n_array_values);
        break;
    case json_type_string:
        value->has_pointer_value =
            read_address(json_object_get_string(json), &value->pointer_value);
        if (!value->has_pointer_value)
            value->string_value = zeta_annotations_text(annotations, json_object_get_string(json));
        break;
    case json_type_null:
    default:
        value->has_pointer_value = true;
        break;
    }
}

static void set_name(struct zeta_annotations *annotations, Perfetto__Protos__DebugAnnotation *value,
                     const char *name)
{
    uint32_t number = 0;

    if (zeta_name_table_get(annotations->names, name, &number) == ZETA_NAME_NO_MEMORY) {
        annotations->is_out_of_memory = true;
        return;
    }
    value->has_name_iid = true;
    value->name_iid = number + 1;
}

Perfetto__Protos__DebugAnnotation **zeta_annotations_add(struct zeta_annotations *annotations,
                                                         struct json_object *container,
                                                         size_t *out_count)
{
    const bool is_object = json_object_is_type(container, json_type_object);
    const size_t count = is_object ? (size_t)json_object_object_length(container)
                                   : json_object_array_length(container);
    Perfetto__Protos__DebugAnnotation **list = annotations->lists + annotations->list_count;
    struct json_object_iter member = {.entry = NULL};

    *out_count = 0;
    if (count > ZETA_ANNOTATIONS_MAX - annotations->list_count ||
        count > ZETA_ANNOTATIONS_MAX - annotations->value_count)
        return NULL;
    annotations->list_count += (uint32_t)count;
    if (is_object)
        member.entry = lh_table_head(json_object_get_object(container));
    while (*out_count < count && annotations->value_count < ZETA_ANNOTATIONS_MAX) {
        Perfetto__Protos__DebugAnnotation *value = &annotations->values[annotations->value_count++];

        perfetto__protos__debug_annotation__init(value);
        if (is_object) {
            set_name(annotations, value, lh_entry_k(member.entry));
            set_value(annotations, value, (struct json_object *)lh_entry_v(member.entry));
            member.entry = lh_entry_next(member.entry);
        } else {
            set_value(annotations, value, json_object_array_get_idx(container, *out_count));
        }
        list[(*out_count)++] = value;
    }
    return list;
}
