#include "core/queue/command_buffer.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/event/event.h"
#include "core/util/error.h"

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

ze_result_t zeta_command_buffer_add(struct zeta_command_buffer *buffer, uint32_t type,
                                    struct zeta_plugin_command **out_command)
{
    struct zeta_plugin_command *commands =
        grow(buffer->commands, buffer->count, &buffer->capacity, sizeof(*commands));

    if (!commands)
        return zeta_error_no_memory("a command");
    buffer->commands = commands;
    *out_command = &commands[buffer->count++];
    **out_command =
        (struct zeta_plugin_command){.struct_size = sizeof(**out_command), .type = type};
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_command_buffer_alloc(struct zeta_command_buffer *buffer, size_t bytes,
                                      void **out_memory)
{
    *out_memory = zeta_arena_alloc(&buffer->arena, bytes);
    return *out_memory ? ZE_RESULT_SUCCESS : zeta_error_no_memory("a command");
}

ze_result_t zeta_command_buffer_copy(struct zeta_command_buffer *buffer, const void *data,
                                     size_t bytes, const void **out_copy)
{
    static const char nothing;
    void *copy = NULL;

    *out_copy = &nothing;
    if (bytes == 0)
        return ZE_RESULT_SUCCESS;
    ze_result_t result = zeta_command_buffer_alloc(buffer, bytes, &copy);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    memcpy(copy, data, bytes);
    *out_copy = copy;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_command_buffer_pin(struct zeta_command_buffer *buffer, void *object,
                                    enum zeta_kind kind)
{
    void **pins = grow(buffer->pins, buffer->pin_count, &buffer->pin_capacity, sizeof(*pins));

    if (!pins)
        return zeta_error_no_memory("a command");
    buffer->pins = pins;
    if (!zeta_object_pin(object, kind))
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                          "a %s was destroyed while a command that uses it was appended",
                          zeta_kind_name(kind));
    pins[buffer->pin_count++] = object;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_command_buffer_use(struct zeta_command_buffer *buffer, struct zeta_use *use)
{
    struct zeta_buffer_use *uses =
        grow(buffer->uses, buffer->use_count, &buffer->use_capacity, sizeof(*uses));

    if (!uses)
        return zeta_error_no_memory("a command");
    buffer->uses = uses;
    uses[buffer->use_count++] = (struct zeta_buffer_use){
        .use = use, .pin_count = buffer->pin_count > 0 ? buffer->pin_count : 1};
    return ZE_RESULT_SUCCESS;
}

void zeta_command_buffer_begin_uses(const struct zeta_command_buffer *buffer)
{
    for (uint32_t i = 0; i < buffer->use_count; i++)
        zeta_use_begin(buffer->uses[i].use);
}

void zeta_command_buffer_note_over(const struct zeta_command_buffer *buffer)
{
    for (uint32_t i = 0; i < buffer->use_count; i++)
        zeta_use_note_over(buffer->uses[i].use);
}

void zeta_command_buffer_end_uses(const struct zeta_command_buffer *buffer, bool was_over)
{
    for (uint32_t i = 0; i < buffer->use_count; i++)
        zeta_use_end(buffer->uses[i].use, was_over);
}

ze_result_t zeta_command_buffer_add_all(struct zeta_command_buffer *buffer,
                                        const struct zeta_command_buffer *source)
{
    size_t count = (size_t)buffer->count + source->count;
    struct zeta_plugin_command *commands = buffer->commands;
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (count > UINT32_MAX)
        return zeta_error_no_memory("a command");
    if (count > buffer->capacity) {
        commands = realloc(commands, count * sizeof(*commands));
        if (!commands)
            return zeta_error_no_memory("a command");
        buffer->commands = commands;
        buffer->capacity = (uint32_t)count;
    }
    if (source->count > 0)
        memcpy(commands + buffer->count, source->commands, source->count * sizeof(*commands));
    buffer->count = (uint32_t)count;
    buffer->tracked |= source->tracked;
    for (uint32_t i = 0; i < source->use_count && result == ZE_RESULT_SUCCESS; i++)
        result = zeta_command_buffer_use(buffer, source->uses[i].use);
    return result;
}

/* Points what a copied command refers to into the copy. */
static void move_command(struct zeta_plugin_command *command, const struct zeta_arena *from,
                         const struct zeta_arena *to)
{
    struct zeta_plugin_launch *launch = &command->u.launch;
    struct zeta_times_query *query;

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
        query = zeta_times_query_of(command);
        if (!query)
            break;
        query->events = zeta_arena_moved(from, to, query->events);
        query->times = zeta_arena_moved(from, to, query->times);
        query->offsets = zeta_arena_moved(from, to, query->offsets);
        query->copies = zeta_arena_moved(from, to, query->copies);
        break;
    default:
        break;
    }
}

ze_result_t zeta_command_buffer_clone(const struct zeta_command_buffer *source,
                                      struct zeta_command_buffer *out_copy)
{
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (!zeta_arena_clone(&source->arena, &out_copy->arena))
        return zeta_error_no_memory("a command");
    result = zeta_command_buffer_add_all(out_copy, source);
    for (uint32_t i = 0; i < out_copy->count; i++)
        move_command(&out_copy->commands[i], &source->arena, &out_copy->arena);
    if (result == ZE_RESULT_SUCCESS && source->pin_count > 0) {
        out_copy->pins = malloc(source->pin_count * sizeof(*out_copy->pins));
        if (!out_copy->pins)
            result = zeta_error_no_memory("a command");
        else
            out_copy->pin_capacity = source->pin_count;
        while (out_copy->pins && out_copy->pin_count < source->pin_count) {
            out_copy->pins[out_copy->pin_count] = source->pins[out_copy->pin_count];
            zeta_object_pin_more(out_copy->pins[out_copy->pin_count++]);
        }
    }
    if (result != ZE_RESULT_SUCCESS)
        zeta_command_buffer_clear(out_copy);
    return result;
}

void zeta_command_buffer_rewind(struct zeta_command_buffer *buffer, uint32_t count,
                                uint32_t pin_count)
{
    buffer->count = count;
    while (buffer->pin_count > pin_count)
        zeta_object_unpin(buffer->pins[--buffer->pin_count]);
    while (buffer->use_count > 0 && buffer->uses[buffer->use_count - 1].pin_count > pin_count)
        buffer->use_count--;
}

ze_result_t zeta_command_buffer_absorb(struct zeta_command_buffer *buffer,
                                       struct zeta_command_buffer *other)
{
    size_t pins = (size_t)buffer->pin_count + other->pin_count;
    void **grown = pins > 0 ? realloc(buffer->pins, pins * sizeof(*grown)) : NULL;

    if (pins > 0 && !grown)
        return zeta_error_no_memory("a command");
    if (pins > 0) {
        buffer->pins = grown;
        buffer->pin_capacity = (uint32_t)pins;
    }
    ze_result_t result = zeta_command_buffer_add_all(buffer, other);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    for (uint32_t i = 0; i < other->pin_count; i++)
        buffer->pins[buffer->pin_count++] = other->pins[i];
    other->pin_count = 0;
    other->use_count = 0;
    other->count = 0;
    zeta_arena_absorb(&buffer->arena, &other->arena);
    return ZE_RESULT_SUCCESS;
}

void zeta_command_buffer_reuse(struct zeta_command_buffer *buffer)
{
    zeta_command_buffer_rewind(buffer, 0, 0);
    zeta_arena_rewind(&buffer->arena);
    buffer->tracked = false;
}

void zeta_command_buffer_clear(struct zeta_command_buffer *buffer)
{
    zeta_command_buffer_rewind(buffer, 0, 0);
    zeta_arena_finish(&buffer->arena);
    free(buffer->commands);
    free(buffer->pins);
    free(buffer->uses);
    *buffer = (struct zeta_command_buffer){0};
}

bool zeta_use_wait(const struct zeta_use *use)
{
    const struct timespec step = {.tv_nsec = ZETA_USE_POLL_NS};
    unsigned polls = 0;

    for (;;) {
        const uint64_t commands = atomic_load(&use->commands);
        const bool is_over = commands / ZETA_USE_OVER == commands % ZETA_USE_OVER;

        if ((uint32_t)commands == 0)
            return true;
        if (!is_over && polls++ >= ZETA_USE_POLLS)
            return false;
        (void)nanosleep(&step, NULL);
    }
}

/* Runs on a thread of the backend, in the order of the queue. */
static void collect_times(void *context)
{
    const struct zeta_times_query *query = context;

    for (uint64_t i = 0; i < query->count; i++) {
        ze_kernel_timestamp_result_t *times = &query->times[i];

        *times = (ze_kernel_timestamp_result_t){0};
        (void)zeta_event_times(query->events[i]->event, query->events[i]->value, times);
        if (query->offsets)
            query->copies[i] = (struct zeta_plugin_copy){
                .target = (void *)((uintptr_t)query->target + query->offsets[i]),
                .source = times,
                .size_bytes = sizeof(*times)};
    }
}

void zeta_times_query_set(struct zeta_plugin_command *command, struct zeta_times_query *query)
{
    command->u.call = (struct zeta_plugin_call){.function = collect_times, .context = query};
}

struct zeta_times_query *zeta_times_query_of(const struct zeta_plugin_command *command)
{
    if (command->type != ZETA_PLUGIN_COMMAND_CALL || command->u.call.function != collect_times)
        return NULL;
    return command->u.call.context;
}
