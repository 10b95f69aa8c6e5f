#include "core/queue/command_buffer.h"

#include <stdlib.h>
#include <string.h>

#include "core/list/times_query.h"
#include "core/util/error.h"

static ze_result_t no_memory(void)
{
    return zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory to record a command");
}

/* Makes room for one more element; NULL when memory is exhausted. */
static void *grow(void *array, uint32_t count, uint32_t *capacity, size_t element_bytes)
{
    uint32_t wanted = *capacity ? *capacity * 2 : 8;

    if (count < *capacity)
        return array;
    void *grown = realloc(array, wanted * element_bytes);
    if (grown)
        *capacity = wanted;
    return grown;
}

ze_result_t zeta_recording_add(struct zeta_recording *recording, uint32_t type,
                               struct zeta_plugin_command **out_command)
{
    struct zeta_plugin_command *commands =
        grow(recording->commands, recording->count, &recording->capacity, sizeof(*commands));

    if (!commands)
        return no_memory();
    recording->commands = commands;
    *out_command = &commands[recording->count++];
    **out_command =
        (struct zeta_plugin_command){.struct_size = sizeof(**out_command), .type = type};
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_recording_alloc(struct zeta_recording *recording, size_t bytes, void **out_memory)
{
    *out_memory = zeta_arena_alloc(&recording->arena, bytes);
    return *out_memory ? ZE_RESULT_SUCCESS : no_memory();
}

ze_result_t zeta_recording_copy(struct zeta_recording *recording, const void *data, size_t bytes,
                                const void **out_copy)
{
    static const char nothing;
    void *copy = NULL;

    *out_copy = &nothing;
    if (bytes == 0)
        return ZE_RESULT_SUCCESS;
    ze_result_t result = zeta_recording_alloc(recording, bytes, &copy);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    memcpy(copy, data, bytes);
    *out_copy = copy;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_recording_pin(struct zeta_recording *recording, void *object, enum zeta_kind kind)
{
    void **pins =
        grow(recording->pins, recording->pin_count, &recording->pin_capacity, sizeof(*pins));

    if (!pins)
        return no_memory();
    recording->pins = pins;
    if (!zeta_object_pin(object, kind))
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                          "a %s was destroyed while a command that uses it was appended",
                          zeta_kind_name(kind));
    pins[recording->pin_count++] = object;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_recording_use(struct zeta_recording *recording, struct zeta_use *use)
{
    struct zeta_recorded_use *uses =
        grow(recording->uses, recording->use_count, &recording->use_capacity, sizeof(*uses));

    if (!uses)
        return no_memory();
    recording->uses = uses;
    uses[recording->use_count++] = (struct zeta_recorded_use){
        .use = use, .pin_count = recording->pin_count > 0 ? recording->pin_count : 1};
    return ZE_RESULT_SUCCESS;
}

void zeta_recording_begin_uses(const struct zeta_recording *recording)
{
    for (uint32_t i = 0; i < recording->use_count; i++)
        zeta_use_begin(recording->uses[i].use);
}

void zeta_recording_note_over(const struct zeta_recording *recording)
{
    for (uint32_t i = 0; i < recording->use_count; i++)
        zeta_use_note_over(recording->uses[i].use);
}

void zeta_recording_end_uses(const struct zeta_recording *recording, bool was_over)
{
    for (uint32_t i = 0; i < recording->use_count; i++)
        zeta_use_end(recording->uses[i].use, was_over);
}

static ze_result_t add_uses(struct zeta_recording *recording, const struct zeta_recording *source)
{
    ze_result_t result = ZE_RESULT_SUCCESS;

    for (uint32_t i = 0; i < source->use_count && result == ZE_RESULT_SUCCESS; i++)
        result = zeta_recording_use(recording, source->uses[i].use);
    return result;
}

ze_result_t zeta_recording_add_all(struct zeta_recording *recording,
                                   const struct zeta_recording *source)
{
    size_t count = (size_t)recording->count + source->count;
    struct zeta_plugin_command *commands = recording->commands;

    if (count > UINT32_MAX)
        return no_memory();
    if (count > recording->capacity) {
        commands = realloc(commands, count * sizeof(*commands));
        if (!commands)
            return no_memory();
        recording->commands = commands;
        recording->capacity = (uint32_t)count;
    }
    if (source->count > 0)
        memcpy(commands + recording->count, source->commands, source->count * sizeof(*commands));
    recording->count = (uint32_t)count;
    recording->tracked |= source->tracked;
    return add_uses(recording, source);
}

/* Points what a copied command refers to into the copy. */
static void move_command(struct zeta_plugin_command *command, const struct zeta_arena *from,
                         const struct zeta_arena *to)
{
    struct zeta_plugin_launch *launch = &command->u.launch;

    command->wait_events = zeta_arena_moved(from, to, command->wait_events);
    switch (command->type) {
    case ZETA_PLUGIN_COMMAND_LAUNCH:
        launch->arguments = zeta_arena_moved(from, to, launch->arguments);
        launch->indirect_counts = zeta_arena_moved(from, to, launch->indirect_counts);
        break;
    case ZETA_PLUGIN_COMMAND_COPY:
        command->u.copy.indirect = zeta_arena_moved(from, to, command->u.copy.indirect);
        command->u.copy.target = zeta_arena_moved(from, to, command->u.copy.target);
        command->u.copy.source = zeta_arena_moved(from, to, command->u.copy.source);
        break;
    case ZETA_PLUGIN_COMMAND_FILL:
        command->u.fill.pattern = zeta_arena_moved(from, to, command->u.fill.pattern);
        break;
    case ZETA_PLUGIN_COMMAND_CALL:
        command->u.call.context = zeta_arena_moved(from, to, command->u.call.context);
        if (zeta_times_query_is(command))
            zeta_times_query_move(command, from, to);
        break;
    default:
        break;
    }
}

static ze_result_t clone_pins(const struct zeta_recording *source, struct zeta_recording *copy)
{
    if (source->pin_count == 0)
        return ZE_RESULT_SUCCESS;
    copy->pins = malloc(source->pin_count * sizeof(*copy->pins));
    if (!copy->pins)
        return no_memory();
    copy->pin_capacity = source->pin_count;
    for (; copy->pin_count < source->pin_count; copy->pin_count++) {
        copy->pins[copy->pin_count] = source->pins[copy->pin_count];
        zeta_object_pin_more(copy->pins[copy->pin_count]);
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_recording_clone(const struct zeta_recording *source,
                                 struct zeta_recording *out_copy)
{
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (!zeta_arena_clone(&source->arena, &out_copy->arena))
        return no_memory();
    result = zeta_recording_add_all(out_copy, source);
    for (uint32_t i = 0; i < out_copy->count; i++)
        move_command(&out_copy->commands[i], &source->arena, &out_copy->arena);
    if (result == ZE_RESULT_SUCCESS)
        result = clone_pins(source, out_copy);
    if (result != ZE_RESULT_SUCCESS)
        zeta_recording_clear(out_copy);
    return result;
}

void zeta_recording_rewind(struct zeta_recording *recording, uint32_t count, uint32_t pin_count)
{
    recording->count = count;
    while (recording->pin_count > pin_count)
        zeta_object_unpin(recording->pins[--recording->pin_count]);
    while (recording->use_count > 0 &&
           recording->uses[recording->use_count - 1].pin_count > pin_count)
        recording->use_count--;
}

ze_result_t zeta_recording_absorb(struct zeta_recording *recording, struct zeta_recording *other)
{
    size_t pins = (size_t)recording->pin_count + other->pin_count;
    void **grown = pins > 0 ? realloc(recording->pins, pins * sizeof(*grown)) : NULL;

    if (pins > 0 && !grown)
        return no_memory();
    if (pins > 0) {
        recording->pins = grown;
        recording->pin_capacity = (uint32_t)pins;
    }
    ze_result_t result = zeta_recording_add_all(recording, other);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    for (uint32_t i = 0; i < other->pin_count; i++)
        recording->pins[recording->pin_count++] = other->pins[i];
    other->pin_count = 0;
    other->use_count = 0;
    other->count = 0;
    zeta_arena_absorb(&recording->arena, &other->arena);
    return ZE_RESULT_SUCCESS;
}

void zeta_recording_reuse(struct zeta_recording *recording)
{
    zeta_recording_rewind(recording, 0, 0);
    zeta_arena_rewind(&recording->arena);
    recording->tracked = false;
}

void zeta_recording_clear(struct zeta_recording *recording)
{
    zeta_recording_rewind(recording, 0, 0);
    zeta_arena_finish(&recording->arena);
    free(recording->commands);
    free(recording->pins);
    free(recording->uses);
    *recording = (struct zeta_recording){0};
}
