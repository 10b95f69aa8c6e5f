/*
 * A state that one thread sets and others wait for: what events and fences are made of.
 *
 * Memory of a signal is type-stable, so reading a signal of a destroyed object is harmless.
 */
#ifndef ZETA_CORE_EVENT_SIGNAL_H
#define ZETA_CORE_EVENT_SIGNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

struct zeta_device;

/** States of a signal. */
enum zeta_signal_state {
    ZETA_SIGNAL_OFF,
    ZETA_SIGNAL_ON,
    ZETA_SIGNAL_LOST /**< the work that would set it was lost with its device */
};

/** All zero bytes is a signal that is off. */
struct zeta_signal {
    _Atomic uint32_t state;    /**< enum zeta_signal_state */
    _Atomic uint32_t changes;  /**< counts what waiters may want to see; the futex */
    _Atomic uint32_t sleepers; /**< threads in the futex */
    _Atomic uint32_t shared;   /**< 1: in memory that other processes use too */
};

/** When the work ran that set a signal. All zero bytes: none did. */
struct zeta_work_times {
    _Atomic uint64_t begin_ticks; /**< of the device, not masked */
    _Atomic uint64_t end_ticks;   /**< > begin_ticks */
    _Atomic uint64_t host_shift;  /**< what is added to the nanoseconds of both ticks to have the
                                       host's time; 0: not computed yet */
};

/** Notes new times; those of the host are computed when asked for. */
static inline void zeta_work_times_set(struct zeta_work_times *times, uint64_t begin_ticks,
                                       uint64_t end_ticks)
{
    atomic_store_explicit(&times->begin_ticks, begin_ticks, memory_order_relaxed);
    atomic_store_explicit(&times->end_ticks, end_ticks, memory_order_relaxed);
    atomic_store_explicit(&times->host_shift, 0, memory_order_relaxed);
}

/** Sets the state and wakes waiters. */
void zeta_signal_set(struct zeta_signal *signal, enum zeta_signal_state state);

/** Sets LOST unless the signal is on. */
void zeta_signal_lose(struct zeta_signal *signal);

/** Wakes waiters without a change of state. */
void zeta_signal_poke(struct zeta_signal *signal);

/** SUCCESS, NOT_READY or DEVICE_LOST: what a waiter found. */
typedef ze_result_t (*zeta_signal_poll_fn)(void *object);

/**
 * Waits until poll(object) is not NOT_READY, or timeout_ns are over (UINT64_MAX: no limit).
 * device: the wait ends with DEVICE_LOST when it is lost; may be NULL.
 */
ze_result_t zeta_signal_wait(struct zeta_signal *signal, zeta_signal_poll_fn poll, void *object,
                             struct zeta_device *device, uint64_t timeout_ns);

#endif
