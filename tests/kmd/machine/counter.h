#ifndef ZETA_TESTS_KMD_COUNTER_H
#define ZETA_TESTS_KMD_COUNTER_H

/*
 * Trajectories: what counters stand at, as functions of the unit's clock.
 *
 * Let t be the clock in ticks without the time that the GPU slept, and b(t) the busy part of it:
 * of each 2^21 ticks the first half. A counter has a rate, in 1/65536 events per tick, and stands
 * at floor(rate * t / 65536), or at floor(rate * b(t) / 65536) if its index is odd and it is none
 * of the special ones. So all are 0 at t = 0 and run in proportion, half of them in bursts.
 *
 * Rates, with f = 65536 * core clock / OA clock (core clock cycles) and e the EUs of a tile:
 *
 *     clock            f
 *     A, Haswell       41: f; 0 to 30: f * e * (n + 1) / 128; others (n - 30) / 2 per tick
 *     A, later         0: f (busy); 1 to 6: n / 16 per tick (threads);
 *                      7 to 20: f * e * (n + 1) / 64 (EUs); others (n - 20) / 2 per tick
 *     B                (2 n + 1) / 8 per tick
 *     C                (2 n + 1) / 16 per tick; 2 on Haswell: f (its clock)
 *     PEC              f * (n + 1) / 64; of media units f * (n + 1) / 16
 *
 * Of a device that runs flat out, with s its subslices and m its media engines, without bursts:
 *
 *     A, Haswell       f * e
 *     A, later         those of 40 bits f * e, those of 32 bits f * s; 0: f (busy)
 *     B, C, clock      f
 *     PEC              f * e; of media units f * m
 *
 * Special, so never in bursts: those that run with f. With a TestOa set:
 *
 *     B 0 to 7         f times 0, 1, 1, 1/2, 1/3, 1/3, 1/6, 2/3, rounded down, as its counters say;
 *                      on PVC B 0 to 4 are 0, 1, 1/2, 1/3, 1/3
 *     C 7 (C 0 on Gen12 and later, but for PVC) one per period of the timer: "equal to 1"
 *     PEC (Xe2, Xe3)   32: f; 2: f * cores; 3 to 31: f (one core each); 35: f * slices / 2
 */

#include <stdbool.h>
#include <stdint.h>

#include "tests/kmd/machine/kmd_priv.h"

enum { KMD_BANK_SIZE = 64 };

enum kmd_pace {
    KMD_STEADY,
    KMD_BURSTS,
    KMD_PERIODS /**< one per period of the stream's timer */
};

struct kmd_track {
    uint32_t rate;     /**< 1/65536 events per tick */
    uint8_t pace;      /**< enum kmd_pace */
    uint8_t times, by; /**< a fraction of it; by 1: all */
};

/** The trajectories of a unit with one configuration. */
struct kmd_tracks {
    struct kmd_track banks[KMD_BANK_PEC + 1][KMD_BANK_SIZE];
    uint32_t shift; /**< ticks >> shift is the number of periods */
};

/** A time of a unit, in the ways that trajectories need it. */
struct kmd_moment {
    uint64_t ticks; /**< in full */
    uint64_t awake, busy;
};

void kmd_tracks_init(struct kmd_tracks *tracks, const struct kmd_gpu *gpu,
                     const struct kmd_unit *unit, const char *uuid);

/** The times of sleep of a GPU as ticks of a unit. */
struct kmd_sleep {
    uint32_t count;
    uint64_t from[KMD_IDLES], to[KMD_IDLES]; /**< to: first tick awake */
};
void kmd_sleep_init(struct kmd_sleep *sleep, const struct kmd_gpu *gpu,
                    const struct kmd_unit *unit);

static inline struct kmd_moment kmd_moment_at(const struct kmd_sleep *sleep, uint64_t ticks)
{
    enum { BURST = 1 << 20 };
    struct kmd_moment moment = {.ticks = ticks, .awake = ticks};
    uint64_t part;

    for (uint32_t i = 0; i < sleep->count && sleep->from[i] < ticks; i++)
        moment.awake -= (ticks < sleep->to[i] ? ticks : sleep->to[i]) - sleep->from[i];
    part = moment.awake % (2 * BURST);
    moment.busy = moment.awake / (2 * BURST) * BURST + (part < BURST ? part : BURST);
    return moment;
}

/* floor(rate * ticks / 65536), exact for any 64-bit time as far as the result fits. */
static inline uint64_t kmd_track_value(const struct kmd_tracks *tracks,
                                       const struct kmd_track *track,
                                       const struct kmd_moment *moment)
{
    const uint64_t ticks = track->pace == KMD_STEADY ? moment->awake : moment->busy;
    uint64_t value =
        ((ticks >> 32) * track->rate << 16) + ((ticks & UINT32_MAX) * track->rate >> 16);

    if (track->pace == KMD_PERIODS)
        return moment->ticks >> tracks->shift;
    if (track->by != 1)
        value = value / track->by * track->times + value % track->by * track->times / track->by;
    return value;
}

#endif
