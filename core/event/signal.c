#include "core/event/signal.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <zeta/clock.h>

#include "core/device/device.h"

/* How often a sleeping waiter checks that its device still works. */
#define POLL_PERIOD_NS UINT64_C(50000000)

void zeta_signal_poke(struct zeta_signal *signal)
{
    atomic_fetch_add(&signal->changes, 1);
    if (atomic_load(&signal->sleepers) > 0)
        (void)syscall(SYS_futex, &signal->changes,
                      atomic_load(&signal->shared) ? FUTEX_WAKE : FUTEX_WAKE_PRIVATE, INT_MAX, NULL,
                      NULL, 0);
}

void zeta_signal_set(struct zeta_signal *signal, enum zeta_signal_state state)
{
    atomic_store(&signal->state, (uint32_t)state);
    zeta_signal_poke(signal);
}

void zeta_signal_lose(struct zeta_signal *signal)
{
    uint32_t off = ZETA_SIGNAL_OFF;

    if (atomic_compare_exchange_strong(&signal->state, &off, ZETA_SIGNAL_LOST))
        zeta_signal_poke(signal);
}

ze_result_t zeta_signal_wait(struct zeta_signal *signal, zeta_signal_poll_fn poll, void *object,
                             struct zeta_device *device, uint64_t timeout_ns)
{
    ze_result_t result = poll(object);

    if (result != ZE_RESULT_NOT_READY || timeout_ns == 0)
        return result;

    uint64_t deadline_ns = zeta_clock_deadline(timeout_ns);
    uint64_t next_poll_ns = zeta_monotonic_ns() + POLL_PERIOD_NS;
    for (;;) {
        uint32_t seen = atomic_load(&signal->changes);
        uint64_t now_ns = zeta_monotonic_ns();
        uint64_t until_ns = deadline_ns < next_poll_ns ? deadline_ns : next_poll_ns;

        /* The order matters: a thread that changes the state after our poll sees us as a sleeper.
         */
        atomic_fetch_add(&signal->sleepers, 1);
        result = poll(object);
        if (result == ZE_RESULT_NOT_READY && now_ns < until_ns) {
            const struct timespec timeout = zeta_clock_timespec(until_ns - now_ns);

            /* Every reason to return early is one to poll again, so the result does not matter. */
            (void)syscall(SYS_futex, &signal->changes,
                          atomic_load(&signal->shared) ? FUTEX_WAIT : FUTEX_WAIT_PRIVATE, seen,
                          &timeout, NULL, 0);
        }
        atomic_fetch_sub(&signal->sleepers, 1);
        if (result == ZE_RESULT_NOT_READY)
            result = poll(object);
        if (result != ZE_RESULT_NOT_READY)
            return result;

        now_ns = zeta_monotonic_ns();
        if (now_ns >= deadline_ns)
            return ZE_RESULT_NOT_READY;
        if (now_ns >= next_poll_ns) {
            next_poll_ns = now_ns + POLL_PERIOD_NS;
            result = device ? zeta_device_status(device) : ZE_RESULT_SUCCESS;
            if (result != ZE_RESULT_SUCCESS)
                return result;
        }
    }
}
