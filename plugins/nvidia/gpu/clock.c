/*
 * One clock for host, devices, samples and records, so nothing has to be converted. Steps of the
 * wall clock do no harm, which CUPTI would follow by itself.
 */
#include <zeta/clock.h>

#include "plugins/nvidia/gpu/nvidia.h"

uint64_t nvidia_clock_ns(void)
{
    return zeta_clock_raw_ns();
}
