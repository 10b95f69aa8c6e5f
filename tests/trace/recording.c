#include "recording.h"

#include <stdio.h>
#include <unistd.h>

void recording_start(struct recording *recording, const char *filter, uint64_t limit_bytes)
{
    static unsigned number;
    struct zeta_trace_desc desc = {.struct_size = sizeof(desc),
                                   .path = recording->path,
                                   .filter = filter,
                                   .limit_bytes = limit_bytes};

    (void)snprintf(recording->path, sizeof(recording->path), "/tmp/zeta-recording-%ld-%u.json",
                   (long)getpid(), number++);
    recording->document = NULL;
    (void)unlink(recording->path);
    assert_success(zetaTraceStart(&desc));
}

void recording_read(struct recording *recording)
{
    recording->document = json_object_from_file(recording->path);
    if (!recording->document)
        fail_msg("%s is not JSON: %s", recording->path, json_util_get_last_err());
}

void recording_stop(struct recording *recording)
{
    assert_success(zetaTraceStop());
    recording_read(recording);
}

void recording_finish(struct recording *recording)
{
    (void)json_object_put(recording->document);
    (void)unlink(recording->path);
}

const char *recording_text(struct json_object *event, const char *name)
{
    struct json_object *value = NULL;

    if (!json_object_object_get_ex(event, name, &value) || !value)
        return "";
    return json_object_get_string(value);
}

const char *recording_argument(struct json_object *event, const char *name)
{
    struct json_object *arguments = NULL;

    if (!json_object_object_get_ex(event, "args", &arguments))
        return "";
    return recording_text(arguments, name);
}

double recording_number(struct json_object *event, const char *name)
{
    struct json_object *value = NULL;

    assert_true(json_object_object_get_ex(event, name, &value));
    return json_object_get_double(value);
}

static bool is_it(struct json_object *event, const char *phase, const char *category,
                  const char *name)
{
    return strcmp(recording_text(event, "ph"), phase) == 0 &&
           (!category || strcmp(recording_text(event, "cat"), category) == 0) &&
           (!name || strcmp(recording_text(event, "name"), name) == 0);
}

size_t recording_count(const struct recording *recording, const char *phase, const char *category,
                       const char *name)
{
    size_t count = 0;

    for (size_t i = 0; i < json_object_array_length(recording->document); i++)
        count += is_it(json_object_array_get_idx(recording->document, i), phase, category, name);
    return count;
}

struct json_object *recording_find(const struct recording *recording, const char *phase,
                                   const char *name, size_t index)
{
    for (size_t i = 0; i < json_object_array_length(recording->document); i++) {
        struct json_object *event = json_object_array_get_idx(recording->document, i);

        if (is_it(event, phase, NULL, name) && index-- == 0)
            return event;
    }
    fail_msg("%s has no event '%s' of %s", recording->path, phase, name);
    return NULL;
}
