#include "core/queue/times_query.h"

#include "core/event/event.h"

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

void zeta_times_query_move(struct zeta_times_query *query, const struct zeta_arena *from,
                           const struct zeta_arena *to)
{
    query->events = zeta_arena_moved(from, to, query->events);
    query->times = zeta_arena_moved(from, to, query->times);
    query->offsets = zeta_arena_moved(from, to, query->offsets);
    query->copies = zeta_arena_moved(from, to, query->copies);
}
