#include "core/command/recording.h"

#include <stdlib.h>
#include <string.h>

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
    void *copy = NULL;
    ze_result_t result = zeta_recording_alloc(recording, bytes, &copy);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (bytes > 0)
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

void zeta_recording_rewind(struct zeta_recording *recording, uint32_t count, uint32_t pin_count)
{
    recording->count = count;
    while (recording->pin_count > pin_count)
        zeta_object_unpin(recording->pins[--recording->pin_count]);
}

void zeta_recording_clear(struct zeta_recording *recording)
{
    zeta_recording_rewind(recording, 0, 0);
    zeta_arena_finish(&recording->arena);
    free(recording->commands);
    free(recording->pins);
    *recording = (struct zeta_recording){0};
}
