/*
 * Values of a trace's arguments as annotations of Perfetto.
 */
#ifndef ZETA_TOOLS_TRACE_ANNOTATION_H
#define ZETA_TOOLS_TRACE_ANNOTATION_H

#include <json-c/json.h>

#include "perfetto.pb-c.h"
#include "sdk/tools/zeta/trace/name_table.h"

enum { ZETA_ANNOTATIONS_MAX = 1024, ZETA_ANNOTATION_TEXT_BYTES = 64 * 1024 };

/** Annotations of one event. What finds no room is left out: libzeta writes less than that. */
struct zeta_annotations {
    struct zeta_name_table *names; /**< of all events; the numbers are the ids minus 1 */
    uint32_t names_before;         /**< names from this number on are new in this event */
    Perfetto__Protos__DebugAnnotation values[ZETA_ANNOTATIONS_MAX];
    uint32_t value_count;
    Perfetto__Protos__DebugAnnotation *lists[ZETA_ANNOTATIONS_MAX];
    uint32_t list_count;
    char text[ZETA_ANNOTATION_TEXT_BYTES];
    size_t text_bytes;
    bool is_out_of_memory;
};

/** Begins an event. */
void zeta_annotations_begin(struct zeta_annotations *annotations, struct zeta_name_table *names);

/**
 * Makes the members of an object or array the annotations of an event. The list is valid until the
 * next event begins.
 */
Perfetto__Protos__DebugAnnotation **zeta_annotations_add(struct zeta_annotations *annotations,
                                                         struct json_object *container,
                                                         size_t *out_count);

/** A copy of a text; valid until the next event begins. */
char *zeta_annotations_text(struct zeta_annotations *annotations, const char *text);

#endif
