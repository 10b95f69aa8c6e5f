/*
 * Events, for the owner that asked for them. In host time they are reported at once, on
 * the thread that runs the subslice.
 *
 * In modelled time nobody knows yet what time it is when a group begins: the clock moves when an
 * epoch is replayed. So events wait in the record of their epoch, with the number of instructions
 * that their subslice had retired in it, and get that part of the epoch's time. They are reported
 * in the order of time, then of subslices, so their sequence depends on the work alone.
 */
#include <stdlib.h>
#include <string.h>

#include "engine_priv.h"

/* Room for one more; false when there is no memory. */
static bool grow(struct event_list *list)
{
    const uint32_t capacity = list->capacity ? 2 * list->capacity : 64;
    struct timed_event *grown;

    if (list->count < list->capacity)
        return true;
    grown = realloc(list->items, capacity * sizeof(*grown));
    if (!grown)
        return false;
    list->items = grown;
    list->capacity = capacity;
    return true;
}

void zeta_vgpu_event_of_group(struct subslice *subslice, enum zeta_vgpu_engine_event_kind kind,
                              const struct group *group, uint32_t items)
{
    const struct zeta_vgpu_callbacks *callbacks = &subslice->engine->config.callbacks;
    struct event_list *list = &subslice->events;
    struct zeta_vgpu_engine_event event = {
        .kind = kind,
        .subslice = subslice->index,
        .group_id = {group->id[0], group->id[1], group->id[2]},
        .items = items,
    };

    if (subslice->engine->config.time == ZETA_VGPU_TIME_HOST) {
        callbacks->event(callbacks->user, &event);
    } else if (grow(list)) {
        list->items[list->count] =
            (struct timed_event){event, list->count, subslice->epoch_instructions};
        list->count++;
    } else {
        list->failed = true;
    }
}

void zeta_vgpu_event_of_launch(struct zeta_vgpu_engine *engine,
                               enum zeta_vgpu_engine_event_kind kind)
{
    const struct zeta_vgpu_callbacks *callbacks = &engine->config.callbacks;
    const struct zeta_vgpu_engine_event event = {
        .kind = kind,
        .fault = kind == ZETA_VGPU_EVENT_FAULT ? engine->fault : NULL,
        .core_clocks = atomic_load(&engine->model.added[0][ZETA_VGPU_GPU_CORE_CLOCKS]),
    };

    callbacks->event(callbacks->user, &event);
}

bool zeta_vgpu_events_collect(struct model *model, struct epoch *epoch)
{
    for (uint32_t i = 0; i < epoch->events.count; i++) {
        struct timed_event *target;

        if (!grow(&model->events))
            return false;
        target = &model->events.items[model->events.count];
        *target = epoch->events.items[i];
        target->order = model->events.count++;
        /* From here on the position is a share of the epoch, in 2^32 parts. */
        target->position =
            epoch->instructions == 0 ? 0 : (target->position << 32) / epoch->instructions;
    }
    epoch->events.count = 0;
    return true;
}

static int compare(const void *left, const void *right)
{
    const struct timed_event *a = left, *b = right;

    if (a->event.core_clocks != b->event.core_clocks)
        return a->event.core_clocks < b->event.core_clocks ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

void zeta_vgpu_events_report_locked(struct zeta_vgpu_engine *engine, uint64_t begin_clocks,
                                    uint64_t clocks)
{
    const struct zeta_vgpu_callbacks *callbacks = &engine->config.callbacks;
    struct event_list *list = &engine->model.events;

    for (uint32_t i = 0; i < list->count; i++)
        list->items[i].event.core_clocks = begin_clocks + (clocks * list->items[i].position >> 32);
    if (list->count > 0)
        qsort(list->items, list->count, sizeof(list->items[0]), compare);
    for (uint32_t i = 0; i < list->count; i++)
        callbacks->event(callbacks->user, &list->items[i].event);
    list->count = 0;
}
