/*
 * A trace that a test makes of its own process, and what is in it.
 */
#ifndef ZETA_TESTS_TRACE_RECORDING_H
#define ZETA_TESTS_TRACE_RECORDING_H

#include <json-c/json.h>
#include <zeta/zeta.h>

#include "harness.h"

/** A file that is made and read once. */
struct recording {
    char path[256];
    struct json_object *document; /**< null until recording_stop() */
};

/** Starts to record; filter null: everything. */
void recording_start(struct recording *recording, const char *filter, uint64_t limit_bytes);

/** Ends the recording and reads the file, which has to be a whole document. */
void recording_stop(struct recording *recording);

/** Reads the file of a recording that somebody else ended. */
void recording_read(struct recording *recording);

/** Removes the file. */
void recording_finish(struct recording *recording);

/** How many events have a phase, a category (null: any) and a name (null: any). */
size_t recording_count(const struct recording *recording, const char *phase, const char *category,
                       const char *name);

/** The first or a later event with a phase and a name; fails if it is not there. */
struct json_object *recording_find(const struct recording *recording, const char *phase,
                                   const char *name, size_t index);

/** A member of an event or of its arguments as text, "" if it has none. */
const char *recording_text(struct json_object *event, const char *name);
const char *recording_argument(struct json_object *event, const char *name);

/** A number of an event. */
double recording_number(struct json_object *event, const char *name);

#endif
