/* Time of the GPUs, and the work that fills it. */

#include <string.h>
#include <time.h>

#include "tests/cuda/machine/machine.h"

__extension__ typedef unsigned __int128 u128;

uint64_t cuda_time(const struct cuda_shared *shared)
{
    struct timespec now;

    if (shared->description.is_manual)
        return atomic_load(&shared->manual_ns);
    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void cuda_wait_until(struct cuda_shared *shared, uint64_t ns)
{
    for (uint64_t now = cuda_time(shared); now < ns; now = cuda_time(shared)) {
        const uint64_t left = ns - now;
        const struct timespec pause = {.tv_sec = (time_t)(left / 1000000000),
                                       .tv_nsec = (long)(left % 1000000000)};
        unsigned long long seen = now;

        if (shared->description.is_manual)
            (void)atomic_compare_exchange_strong(&shared->manual_ns, &seen, ns);
        else
            (void)nanosleep(&pause, NULL);
    }
}

uint64_t cuda_cycles(uint64_t khz, uint64_t ns)
{
    return (uint64_t)((u128)ns * khz / 1000000);
}

uint64_t cuda_counted(const struct cuda_work *work, enum cuda_count count, uint64_t ns)
{
    if (ns <= work->begin)
        return 0;
    if (ns >= work->end)
        return work->counts[count];
    return (uint64_t)((u128)work->counts[count] * (ns - work->begin) / (work->end - work->begin));
}

uint64_t cuda_work(struct cuda_shared *shared, uint32_t gpu, uint64_t not_before_ns,
                   uint64_t duration_ns, const uint64_t counts[CUDA_COUNTS], uint64_t *out_begin)
{
    struct cuda_gpu *state = &shared->gpus[gpu];
    struct cuda_work *work;
    uint64_t now, end;

    cuda_lock(&state->lock);
    /* Under the lock: who samples has seen nothing of the time that begins here. */
    now = cuda_time(shared);
    work = &state->works[state->work_count % CUDA_WORKS];
    work->begin = now > not_before_ns ? now : not_before_ns;
    work->end = end = work->begin + (duration_ns > 0 ? duration_ns : 1);
    *out_begin = work->begin;
    for (int i = 0; i < CUDA_COUNTS; i++) {
        work->counts[i] = counts[i];
        state->totals[i] += counts[i];
    }
    state->work_count++;
    cuda_unlock(&state->lock);
    return end;
}

void cuda_advance(struct cuda_machine *machine, uint64_t ns)
{
    (void)atomic_fetch_add(&machine->shared->manual_ns, ns);
}

uint64_t cuda_now_ns(const struct cuda_machine *machine)
{
    return cuda_time(machine->shared);
}

void cuda_totals(const struct cuda_machine *machine, uint32_t gpu, uint64_t out[CUDA_COUNTS])
{
    struct cuda_gpu *state = &machine->shared->gpus[gpu];

    cuda_lock(&state->lock);
    (void)memcpy(out, state->totals, sizeof(state->totals));
    cuda_unlock(&state->lock);
}
