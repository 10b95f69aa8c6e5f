/*
 * What benchmarks that call the API share: the end at an error, and finding a metric group.
 */
#ifndef ZETA_TESTS_BENCH_BENCH_ZE_H
#define ZETA_TESTS_BENCH_BENCH_ZE_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <level_zero/ze_api.h>
#include <level_zero/zet_api.h>
#include <zeta/zeta.h>

/** Ends the program with the library's sentence when a call did not succeed. */
static inline void bench_check(ze_result_t result, const char *what)
{
    if (result == ZE_RESULT_SUCCESS)
        return;
    (void)fprintf(stderr, "%s: %s: 0x%x: %s\n", program_invocation_short_name, what,
                  (unsigned)result, zetaGetLastError());
    exit(1);
}

#define BENCH_CHECK(call) bench_check((call), #call)

/**
 * The group of a name that can be sampled in a way; the program ends when there is none.
 *
 * @sampling  exactly these ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_*
 */
static inline zet_metric_group_handle_t bench_find_group(ze_device_handle_t device,
                                                         const char *name, uint32_t sampling)
{
    zet_metric_group_handle_t groups[256];
    uint32_t count = 256;

    BENCH_CHECK(zetMetricGroupGet(device, &count, groups));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t properties = {.stype =
                                                        ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};

        BENCH_CHECK(zetMetricGroupGetProperties(groups[i], &properties));
        if (strcmp(properties.name, name) == 0 && properties.samplingType == sampling)
            return groups[i];
    }
    (void)fprintf(stderr, "%s: the device has no group %s\n", program_invocation_short_name, name);
    exit(1);
}

#endif
