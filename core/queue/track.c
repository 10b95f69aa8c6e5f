#include "core/queue/queue.h"

#include <string.h>

#include "core/event/event.h"

bool zeta_track_needed(const struct zeta_event *event)
{
    return (atomic_load(&event->special) & (ZETA_EVENT_COUNTED | ZETA_EVENT_SHARED)) != 0;
}

static ze_result_t make(struct zeta_command_buffer *buffer, struct zeta_event *event,
                        uint64_t value, struct zeta_plugin_event **out_event)
{
    void *memory = NULL;
    ze_result_t result =
        zeta_command_buffer_alloc(buffer, sizeof(struct zeta_plugin_event), &memory);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    *out_event = memory;
    **out_event = (struct zeta_plugin_event){.event = event, .value = value};
    return ZE_RESULT_SUCCESS;
}

/* Waits are for the newest work that was to signal their events. */
static ze_result_t track_list(struct zeta_command_buffer *buffer, uint64_t count,
                              struct zeta_plugin_event *const **events)
{
    const void *memory = NULL;
    ze_result_t result =
        zeta_command_buffer_copy(buffer, (const void *)*events, count * sizeof(**events), &memory);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct zeta_plugin_event **copy = (struct zeta_plugin_event **)(uintptr_t)memory;
    for (uint64_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++) {
        struct zeta_event *event = copy[i]->event;

        if (event->counter && copy[i]->value == ZETA_VALUE_NONE)
            result = make(buffer, event,
                          atomic_load(&event->special) & ZETA_EVENT_STORED
                              ? ZETA_VALUE_STORE
                              : zeta_counter_newest(event->counter),
                          &copy[i]);
    }
    *events = copy;
    return result;
}

/* Memory of the application stays the counter only if work adds to it. */
static uint64_t take_value(struct zeta_event *event)
{
    if (atomic_load(&event->special) & ZETA_EVENT_STORED) {
        if (zeta_store_adds(atomic_load(&event->store)))
            return ZETA_VALUE_STORE;
        atomic_fetch_and(&event->special, ~(uint32_t)ZETA_EVENT_STORED);
    }
    return zeta_counter_take(event->counter);
}

static ze_result_t track_signal(struct zeta_command_buffer *buffer,
                                struct zeta_plugin_command *command)
{
    struct zeta_event *event = command->signal_event->event;
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (event->counter && command->signal_event->value == ZETA_VALUE_NONE) {
        /* Memory first: a value that was taken has to be reached or given up by somebody. */
        result = make(buffer, event, ZETA_VALUE_NONE, &command->signal_event);
        if (result == ZE_RESULT_SUCCESS)
            command->signal_event->value = take_value(event);
    }
    if (result == ZE_RESULT_SUCCESS)
        zeta_event_claim(command->signal_event);
    return result;
}

static ze_result_t track_command(struct zeta_command_buffer *buffer,
                                 struct zeta_plugin_command *command)
{
    const struct zeta_times_query *times = zeta_times_query_of(command);
    bool any_counted = false;
    ze_result_t result = ZE_RESULT_SUCCESS;

    for (uint64_t i = 0; i < command->wait_count; i++)
        any_counted = any_counted || command->wait_events[i]->event->counter;
    if (any_counted)
        result = track_list(buffer, command->wait_count, &command->wait_events);
    /* A query gets a copy of itself, whose events have values. */
    if (result == ZE_RESULT_SUCCESS && times) {
        struct zeta_times_query query = *times;
        const void *copy = NULL;

        result = track_list(buffer, query.count, &query.events);
        if (result == ZE_RESULT_SUCCESS)
            result = zeta_command_buffer_copy(buffer, &query, sizeof(query), &copy);
        if (result == ZE_RESULT_SUCCESS)
            command->u.call.context = (void *)(uintptr_t)copy;
    }
    if (result == ZE_RESULT_SUCCESS && command->signal_event &&
        command->type != ZETA_PLUGIN_COMMAND_EVENT_RESET)
        result = track_signal(buffer, command);
    return result;
}

ze_result_t zeta_track(struct zeta_command_buffer *buffer)
{
    for (uint32_t i = 0; i < buffer->count; i++) {
        ze_result_t result = track_command(buffer, &buffer->commands[i]);

        if (result != ZE_RESULT_SUCCESS) {
            buffer->count = i;
            zeta_track_abandon(buffer);
            return result;
        }
    }
    return ZE_RESULT_SUCCESS;
}

void zeta_track_abandon(const struct zeta_command_buffer *buffer)
{
    for (uint32_t i = 0; buffer->tracked && i < buffer->count; i++) {
        const struct zeta_plugin_event *signal = buffer->commands[i].signal_event;

        if (signal && signal->value != ZETA_VALUE_NONE && signal->value != ZETA_VALUE_STORE)
            zeta_event_lose(signal);
    }
}
