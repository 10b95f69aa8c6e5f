/* The ioctl DEVICE_QUERY: its rules, and the query that reads the clocks. */

#include "xe_priv.h"

#include <errno.h>
#include <time.h>

/* Reads the clock of an engine together with a clock of the host. */
static long query_cycles(struct kmd_gpu *gpu, uint64_t data)
{
    struct kmd_xe_engine_cycles cycles;
    if (kmd_copy_in(&cycles, data, sizeof(cycles)))
        return -EFAULT;
    switch (cycles.clockid) {
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_REALTIME:
    case CLOCK_BOOTTIME:
    case CLOCK_TAI:
        break;
    default:
        return -EINVAL;
    }
    struct kmd_xe_gt_info gt;
    /* The kernel compares the number with that of GTs of one tile, so others are refused. */
    if (!kmd_xe_gt(gpu, cycles.engine.gt_id, &gt) || gt.tile > 0)
        return -EINVAL;
    if (!kmd_xe_engine(gpu, cycles.engine.engine_class, cycles.engine.instance,
                       cycles.engine.gt_id))
        return -EINVAL;

    struct timespec before, after, mono;
    clock_gettime(cycles.clockid, &before);
    clock_gettime(CLOCK_MONOTONIC, &mono); /* inside of what cpu_delta tells */
    uint64_t now_ns = kmd_now_ns();
    clock_gettime(cycles.clockid, &after);
    uint64_t cpu_ns = (uint64_t)before.tv_sec * 1000000000 + (uint64_t)before.tv_nsec;
    uint64_t mono_ns = (uint64_t)mono.tv_sec * 1000000000 + (uint64_t)mono.tv_nsec;
    cycles.width = kmd_gpu_platform(gpu)->graphics >= 2000 ? 64 : 36;
    cycles.engine_cycles = kmd_cs_ticks(gpu, now_ns);
    if (cycles.width < 64)
        cycles.engine_cycles &= (UINT64_C(1) << cycles.width) - 1;
    /* A manual machine has a monotonic clock of its own; the others keep their distance from it. */
    cycles.cpu_timestamp = kmd_monotonic_ns(now_ns) + (cpu_ns - mono_ns);
    cycles.cpu_delta = (uint64_t)(after.tv_sec - before.tv_sec) * 1000000000 +
                       (uint64_t)(after.tv_nsec - before.tv_nsec);
    return kmd_copy_out(data, &cycles, sizeof(cycles));
}

/* Writes the size that was asked for into the argument. */
static long tell_size(uint64_t argument, struct kmd_xe_device_query *query, uint32_t bytes)
{
    query->size = bytes;
    return kmd_copy_out(argument, query, sizeof(*query));
}

long kmd_xe_device_query(struct kmd_gpu *gpu, uint64_t argument)
{
    struct kmd_xe_device_query query;
    if (kmd_copy_in(&query, argument, sizeof(query)))
        return -EFAULT;
    if (query.extensions || query.reserved[0] || query.reserved[1])
        return -EINVAL;

    struct kmd_xe_answer answer = {.bytes = sizeof(struct kmd_xe_engine_cycles)};
    if (query.query != KMD_XE_QUERY_ENGINE_CYCLES) {
        int status = kmd_xe_answer(gpu, query.query, &answer);
        if (status)
            return status;
    } else if (gpu->has_no_oa) {
        return -EOPNOTSUPP; /* a guest does not see the clock */
    }
    if (query.size == 0)
        return tell_size(argument, &query, answer.bytes);
    if (query.size != answer.bytes)
        return -EINVAL;
    if (query.query == KMD_XE_QUERY_ENGINE_CYCLES)
        return query_cycles(gpu, query.data);
    return kmd_copy_out(query.data, answer.data, answer.bytes);
}
