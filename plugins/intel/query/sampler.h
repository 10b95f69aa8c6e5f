#ifndef ZETA_PLUGINS_INTEL_QUERY_SAMPLER_H
#define ZETA_PLUGINS_INTEL_QUERY_SAMPLER_H

/*
 * Samplers: one kernel stream of one unit with one program, read by a thread that adds up what its
 * reports count, in 64 bits per field. Pools of one program share a sampler; the unit is taken
 * while there is one.
 *
 * Who wants the totals at a time leaves a mark. The first report at or after that time settles it.
 * A GPU that sleeps writes no reports and counts nothing: then the totals of the last report are
 * those of the time of the mark, and settle it after a while. A beginning is not settled so where
 * counting has not begun, or goes on only with the next report.
 *
 * A device that is reset counts anew, and its clock may go on from anywhere. Marks from before are
 * settled with what was counted until then; whatever spans the reset has a break.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <zeta/plugin.h>

struct zeta_intel;
struct zeta_intel_unit;
struct zeta_plugin_device;

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

struct zeta_intel_sampler;

/**
 * The sampler of a program on a tile's unit, started unless another pool has it already.
 *
 * @device  a tile's device or a root without tiles; tells the clock
 * @desc    as given to query_pool_create(); names the unit, the program and the fields
 * Errors: NOT_AVAILABLE when somebody has the unit, with a sentence that says who; what the kernel
 * says about the program or permissions. Ended with zeta_intel_sampler_put().
 */
uint32_t zeta_intel_sampler_get(struct zeta_plugin_device *device,
                                const struct zeta_plugin_query_desc *desc,
                                struct zeta_intel_sampler **out_sampler);
void zeta_intel_sampler_put(struct zeta_intel_sampler *sampler);

/** Ticks per second of marks. */
uint64_t zeta_intel_sampler_hz(const struct zeta_intel_sampler *sampler);

/** What a query counted of a field: the difference of its totals; no running count: the end's
 * value. */
uint64_t zeta_intel_sampler_difference(const struct zeta_intel_sampler *sampler, uint32_t field,
                                       uint64_t begin, uint64_t end);

/** Leaves a mark for now; mark->values has room for every field. Errors: what the clock says. */
uint32_t zeta_intel_sampler_mark(struct zeta_intel_sampler *sampler, struct zeta_intel_mark *mark);

/** Takes a mark back, whatever its state: nobody touches it any more. */
void zeta_intel_sampler_unmark(struct zeta_intel_sampler *sampler, struct zeta_intel_mark *mark);

/** Takes a mark back that is pending; else leaves it as it is. Its state before. */
enum zeta_intel_mark_state zeta_intel_sampler_withdraw(struct zeta_intel_sampler *sampler,
                                                       struct zeta_intel_mark *mark);

/** The state of a mark; once it is settled or lost its members do not change. */
enum zeta_intel_mark_state zeta_intel_sampler_state(struct zeta_intel_sampler *sampler,
                                                    const struct zeta_intel_mark *mark);

/**
 * Waits until a mark is not pending any more, for at most timeout_ns of the host's time; whether it
 * is so.
 */
bool zeta_intel_sampler_wait(struct zeta_intel_sampler *sampler, const struct zeta_intel_mark *mark,
                             uint64_t timeout_ns);

/**
 * Whether the unit's clock has not gone on since a mark was left, or hardly. Where it has, the mark
 * will be settled however long that takes on a busy host: by a report, a sleep, a reset, or a loss.
 */
bool zeta_intel_sampler_stands_still(struct zeta_intel_sampler *sampler,
                                     const struct zeta_intel_mark *mark);

/** False if the kernel does not allow reports so often that no counter comes around unseen. */
bool zeta_intel_sampler_is_possible(const struct zeta_plugin_device *device,
                                    const struct zeta_intel_unit *unit);

/** Ends the samplers of pools that the host left behind. Nobody uses them any more. */
void zeta_intel_samplers_end(struct zeta_intel *intel);

/** In a child of fork(): closes the descriptors of the parent's samplers, whose threads are not
 * here. */
void zeta_intel_samplers_forget(struct zeta_intel *intel);

#endif
