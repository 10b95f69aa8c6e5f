#ifndef ZETA_PLUGINS_INTEL_QUERY_SAMPLER_PRIV_H
#define ZETA_PLUGINS_INTEL_QUERY_SAMPLER_PRIV_H

/*
 * What the files of samplers share: sampler.c has marks and the thread that settles them,
 * sampler_open.c makes samplers and shares them between pools, sampler_period.c says how often
 * reports come.
 */

#include <stdatomic.h>

#include "plugins/intel/gpu/intel.h"
#include "plugins/intel/query/sampler.h"
#include "plugins/intel/query/totals.h"

enum {
    ZETA_INTEL_SAMPLER_LOOK_MS = 2,   /**< reports wait for so long in the kernel: results come a
                                         little   later, and who reads them is not woken for each */
    ZETA_INTEL_SAMPLER_BYTES = 131072 /**< of one read; the buffer has slack behind */
};

/** Two clocks at one time. */
struct zeta_intel_reading {
    uint64_t ticks; /**< of the unit, not wrapped */
    uint64_t host_ns;
};

struct zeta_intel_sampler {
    struct zeta_intel_sampler *next; /**< behind intel->sampler_lock, as users */
    uint32_t users;
    struct zeta_plugin_device *device;
    const struct zeta_intel_unit *unit;
    char digest[64];
    struct zeta_intel_kernel_stream *stream;
    uint64_t sleep_ticks; /**< without a report for so long the GPU sleeps */
    uint8_t *buffer;      /**< of the thread */
    int wake_fd;
    atomic_bool stopping;
    pthread_t thread;
    pthread_mutex_t lock; /**< a leaf but for the plugin's, under which clocks are read */
    pthread_cond_t settled;
    struct zeta_intel_totals totals; /**< from here on behind the lock */
    struct zeta_intel_mark *pending;
    bool has_failed;
    struct zeta_intel_reading clock; /**< the last one of the thread; host_ns 0: none yet */
};

/** Starts the thread of a sampler whose stream is open. OUT_OF_HOST_MEMORY with a sentence. */
uint32_t zeta_intel_sampler_start(struct zeta_intel_sampler *sampler);
/** Ends it, and waits for that. */
void zeta_intel_sampler_stop(struct zeta_intel_sampler *sampler);

/** The longest period in which no counter of the device can come around unseen. */
uint64_t zeta_intel_sampler_longest_ns(const struct zeta_plugin_device *device);

/**
 * The exponent of the period that the user wants, but not above the longest one, and no faster than
 * the kernel lets this process, or everybody, have reports.
 */
uint32_t zeta_intel_sampler_exponent(const struct zeta_plugin_device *device,
                                     const struct zeta_intel_unit *unit, bool as_everybody);

/** Says in the log if the setting query_period_ns is no period; it is used as if not set then. */
void zeta_intel_sampler_check_setting(const struct zeta_intel *intel);

#endif
