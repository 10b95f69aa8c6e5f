#ifndef ZETA_PLUGINS_NVIDIA_ACTIVITY_COLLECT_H
#define ZETA_PLUGINS_NVIDIA_ACTIVITY_COLLECT_H

/*
 * The one user of CUPTI's activity records in this process.
 */

#include "plugins/nvidia/activity/event.h"
#include "plugins/nvidia/library/cupti.h"

/** Who gets the events of a device. In a list while it collects. */
struct nvidia_collector {
    struct nvidia_collector *next; /**< of collect.c */
    uint32_t device;               /**< CUDA ordinal */
    /** An event, its name numbered. Any thread, one call at a time; calls nothing of CUPTI. */
    void (*take)(struct nvidia_collector *collector, const struct nvidia_event *event);
    /** So many records were dropped somewhere in the process. As take(). */
    void (*lose)(struct nvidia_collector *collector, uint64_t count);
};

/** Milliseconds between two flushes, which are the tracer's. */
enum { NVIDIA_FLUSH_MS = 50 };

/**
 * Lets a collector have events from now on. Gives CUPTI's result; on failure *out_what is the call
 * that did not work. Not from a callback.
 */
int nvidia_collect_begin(const struct nvidia_cupti *cupti, struct nvidia_collector *collector,
                         const char **out_what);

/** Gives a collector everything that is complete, then nothing more. */
void nvidia_collect_end(struct nvidia_collector *collector);

/** Fetches what is complete, and asks what was dropped. Not from a callback. */
void nvidia_collect_flush(void);

/** The name of a number in events, NULL if there is none. Constant once given. Any thread. */
const char *nvidia_collect_name(uint64_t number);

#endif
