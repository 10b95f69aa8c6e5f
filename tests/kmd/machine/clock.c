/* Time of the machine, and the clocks that follow it. */

#include <stdatomic.h>
#include <time.h>

#include "tests/kmd/machine/kmd_priv.h"

enum { NS = 1000000000 };

static uint64_t host_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS + (uint64_t)now.tv_nsec;
}

/* ns * hz / 10^9 without overflow for hz below 2^34. */
static uint64_t ns_to_ticks(uint64_t ns, uint64_t hz)
{
    return ns / NS * hz + ns % NS * hz / NS;
}

uint64_t kmd_now_ns(void)
{
    struct kmd_shared *shared = kmd_shared();

    if (!shared)
        return 0;
    if (shared->is_manual)
        return atomic_load(&shared->manual_ns);
    return host_ns() - shared->start_ns;
}

uint64_t kmd_monotonic_ns(uint64_t ns)
{
    const struct kmd_shared *shared = kmd_shared();

    return shared ? shared->start_ns + ns : 0; /* the ticker asks while a test ends its kernel */
}

static uint64_t clock_ticks(const struct kmd_gpu *gpu, uint64_t hz, uint64_t ns)
{
    return ns_to_ticks(ns - gpu->clock.from_ns, hz);
}

uint64_t kmd_unit_ticks(const struct kmd_gpu *gpu, const struct kmd_unit *unit, uint64_t ns)
{
    return gpu->clock.first_ticks + clock_ticks(gpu, unit->oa_hz, ns);
}

/*
 * The OA clock is the other one times a power of two where they differ: counting it from the OA
 * clock keeps the two in step at every instant.
 */
uint64_t kmd_cs_ticks(const struct kmd_gpu *gpu, uint64_t ns)
{
    const uint64_t oa = gpu->clock.first_ticks + clock_ticks(gpu, gpu->oa_hz, ns);

    if (gpu->oa_hz % gpu->cs_hz == 0)
        return oa / (gpu->oa_hz / gpu->cs_hz);
    return gpu->clock.first_ticks + clock_ticks(gpu, gpu->cs_hz, ns);
}
