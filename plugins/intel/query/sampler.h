#ifndef ZETA_PLUGINS_INTEL_QUERY_SAMPLER_H
#define ZETA_PLUGINS_INTEL_QUERY_SAMPLER_H

/*
 * Samplers: one kernel stream of one unit with one program, read by a thread that adds up what its
 * reports count, in 64 bits per field. Pools of one program share a sampler; the unit is in use
 * while there is one.
 *
 * A mark asks for the totals at a time. The first report at or after that time settles it. A GPU
 * that sleeps writes no reports and counts nothing: then the totals of the last report are those of
 * the time of the mark, and settle it after a while; not a begin where counting has not begun, or
 * goes on only with the next report.
 *
 * A device that is reset counts anew, and its clock may go on from anywhere. Marks from before are
 * settled with what was counted until then; whatever spans the reset has a break.
 */

#include <pthread.h>
#include <stdatomic.h>

#include "plugins/intel/gpu/intel.h"
#include "plugins/intel/query/totals.h"

/** How far a mark is. */
enum zeta_intel_mark_state {
    ZETA_INTEL_MARK_NONE,    /**< not left */
    ZETA_INTEL_MARK_PENDING, /**< waits for its report */
    ZETA_INTEL_MARK_SETTLED, /**< has its totals */
    ZETA_INTEL_MARK_LOST     /**< the stream failed before */
};

/** The totals at a time. Memory of the caller; members behind the sampler's lock while pending. */
struct zeta_intel_mark {
    struct zeta_intel_mark *next;
    enum zeta_intel_mark_state state;
    bool is_end;    /**< of a query; set by the caller */
    uint64_t ticks; /**< of the unit, not wrapped: when it was left, then those of its report */
    uint64_t left_ticks; /**< when it was left, or the device was reset since */
    uint64_t breaks;     /**< of the sequence of reports so far */
    uint64_t switches;   /**< changes of the core clock so far */
    uint64_t *values;    /**< one per field: totals, for others the value in the report */
};

enum {
    ZETA_INTEL_SAMPLER_POLL_MS = 2,   /**< reports wait for so long in the kernel: results come a
                                         little later, and the reader is not woken for each */
    ZETA_INTEL_SAMPLER_BYTES = 131072 /**< of one read; the buffer has slack behind */
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

/**
 * The sampler of a program on a tile's unit, started unless another pool has it already. Errors:
 * NOT_AVAILABLE when the unit is in use; those of zeta_intel_unit_open(). Ended with
 * zeta_intel_sampler_put().
 *
 * @device  a tile's device or a root without tiles; has the clock
 * @desc    as given to query_pool_create(); names the unit, the program and the fields
 */
uint32_t zeta_intel_sampler_get(struct zeta_plugin_device *device,
                                const struct zeta_plugin_query_desc *desc,
                                struct zeta_intel_sampler **out_sampler);
void zeta_intel_sampler_put(struct zeta_intel_sampler *sampler);

/** Leaves a mark for now; mark->values has room for every field. Errors: those of the clock. */
uint32_t zeta_intel_sampler_mark(struct zeta_intel_sampler *sampler, struct zeta_intel_mark *mark);

/** Takes a mark back, whatever its state: the thread does not use it any more. */
void zeta_intel_sampler_unmark(struct zeta_intel_sampler *sampler, struct zeta_intel_mark *mark);

/**
 * The state of the end of a query, and of its begin, which is taken back if it is still pending
 * when the end is settled: a later report must not settle the begin of a query that is over. Once a
 * mark is settled or lost its members do not change.
 */
enum zeta_intel_mark_state zeta_intel_sampler_collect(struct zeta_intel_sampler *sampler,
                                                      struct zeta_intel_mark *begin,
                                                      const struct zeta_intel_mark *end,
                                                      enum zeta_intel_mark_state *out_begin);

/** Waits until a mark is not pending any more, for at most timeout_ns; whether it is so. */
bool zeta_intel_sampler_wait(struct zeta_intel_sampler *sampler, const struct zeta_intel_mark *mark,
                             uint64_t timeout_ns);

/**
 * Whether the unit's clock has not gone on since a mark was left, or hardly. Where it has, the mark
 * will be settled however long that takes on a busy host: by a report, a sleep, a reset, or a loss.
 */
bool zeta_intel_sampler_stands_still(struct zeta_intel_sampler *sampler,
                                     const struct zeta_intel_mark *mark);

/** The longest period in which no counter of the device can wrap unnoticed. */
uint64_t zeta_intel_sampler_longest_ns(const struct zeta_plugin_device *device);

/** False if the kernel does not allow reports so often that no counter wraps unnoticed. */
bool zeta_intel_sampler_is_possible(const struct zeta_plugin_device *device,
                                    const struct zeta_intel_unit *unit);

/** Ends the samplers of pools that the host left behind. */
void zeta_intel_samplers_end(struct zeta_intel *intel);

/** In a child of fork(): closes the descriptors of the parent's samplers. */
void zeta_intel_samplers_forget(struct zeta_intel *intel);

#endif
