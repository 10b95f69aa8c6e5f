#ifndef ZETA_PLUGINS_NVIDIA_ACTIVITY_WINDOW_H
#define ZETA_PLUGINS_NVIDIA_ACTIVITY_WINDOW_H

/*
 * Events come stream by stream, so not in the order of time. A window holds them back until nothing
 * earlier can come any more, and gives them in the order in which they ended.
 */

#include "plugins/nvidia/activity/event.h"

/** All zero bytes: empty. The owner serialises calls. */
struct nvidia_window {
    struct nvidia_event *events; /**< a heap, the one that ended first at its top */
    size_t count, room;
    uint64_t given_ns; /**< end of the last event that was given */
};

/** What became of an event. */
enum nvidia_window_put {
    NVIDIA_WINDOW_TAKEN,
    NVIDIA_WINDOW_LATE, /**< a later one was given already; it is left out */
    NVIDIA_WINDOW_FULL  /**< no memory; it is left out */
};

enum nvidia_window_put nvidia_window_put(struct nvidia_window *window,
                                         const struct nvidia_event *event);

/** Gives the event that ended first, if it ended no later than that; false: there is none. */
bool nvidia_window_take(struct nvidia_window *window, uint64_t until_ns,
                        struct nvidia_event *out_event);

void nvidia_window_finish(struct nvidia_window *window);

#endif
