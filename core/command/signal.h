/*
 * A word that one thread sets and others wait for: what events and fences are made of.
 *
 * Memory of a signal is type-stable, so reading a signal of a destroyed object is harmless.
 */
#ifndef ZETA_CORE_COMMAND_SIGNAL_H
#define ZETA_CORE_COMMAND_SIGNAL_H

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
    _Atomic uint32_t changes;  /**< counts what waiters may want to look at; the futex word */
    _Atomic uint32_t sleepers; /**< threads in the futex */
    _Atomic uint32_t shared;   /**< 1: in memory that other processes use too */
};

/** Sets the state and wakes waiters. */
void zeta_signal_set(struct zeta_signal *signal, enum zeta_signal_state state);

/** Sets LOST unless the signal is on. */
void zeta_signal_lose(struct zeta_signal *signal);

/** Wakes waiters without a change of state. */
void zeta_signal_poke(struct zeta_signal *signal);

/** SUCCESS, NOT_READY or DEVICE_LOST: what a waiter found. */
typedef ze_result_t (*zeta_signal_look_fn)(void *object);

/**
 * Waits until look(object) is not NOT_READY, or timeout_ns are over (UINT64_MAX: no limit).
 * device: the wait ends with DEVICE_LOST when it is lost; may be NULL.
 */
ze_result_t zeta_signal_wait(struct zeta_signal *signal, zeta_signal_look_fn look, void *object,
                             struct zeta_device *device, uint64_t timeout_ns);

#endif
