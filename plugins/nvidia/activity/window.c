#include "plugins/nvidia/activity/window.h"

#include <stdlib.h>

enum { FIRST_ROOM = 1024 };

/* By end, then by begin, so that what lies inside another comes behind it, as it began later. */
static bool is_before(const struct nvidia_event *a, const struct nvidia_event *b)
{
    return a->ticks != b->ticks ? a->ticks < b->ticks : a->begin < b->begin;
}

enum nvidia_window_put nvidia_window_put(struct nvidia_window *window,
                                         const struct nvidia_event *event)
{
    size_t at = window->count;

    if (event->ticks < window->given_ns)
        return NVIDIA_WINDOW_LATE;
    if (window->count == window->room) {
        const size_t room = window->room > 0 ? 2 * window->room : FIRST_ROOM;
        struct nvidia_event *events = realloc(window->events, room * sizeof(*events));

        if (!events)
            return NVIDIA_WINDOW_FULL;
        window->events = events;
        window->room = room;
    }
    window->count++;
    for (; at > 0 && is_before(event, &window->events[(at - 1) / 2]); at = (at - 1) / 2)
        window->events[at] = window->events[(at - 1) / 2];
    window->events[at] = *event;
    return NVIDIA_WINDOW_TAKEN;
}

bool nvidia_window_take(struct nvidia_window *window, uint64_t until_ns,
                        struct nvidia_event *out_event)
{
    struct nvidia_event *events = window->events;
    struct nvidia_event last;
    size_t at = 0;

    if (window->count == 0 || events[0].ticks > until_ns)
        return false;
    *out_event = events[0];
    window->given_ns = events[0].ticks;
    last = events[--window->count];
    for (;;) {
        size_t child = 2 * at + 1;

        if (child + 1 < window->count && is_before(&events[child + 1], &events[child]))
            child++;
        if (child >= window->count || !is_before(&events[child], &last))
            break;
        events[at] = events[child];
        at = child;
    }
    if (window->count > 0)
        events[at] = last;
    return true;
}

void nvidia_window_finish(struct nvidia_window *window)
{
    free(window->events);
    *window = (struct nvidia_window){0};
}
