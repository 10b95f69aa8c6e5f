/* The clocks of the virtual GPU, read often and close together. */
#include <zeta/clock.h>

#include "gpu.h"
#include "tests/support/suite.h"

#define MASK ((UINT64_C(1) << 34) - 1)

/* Rule 4.1. */
static void timestamps__a_microsecond_apart__the_host_time_always_grows(void **state)
{
    const struct gpu *gpu = *state;
    uint64_t last_host = 0, last_device = 0;
    unsigned wrong = 0;

    for (int i = 0; i < 100000; i++) {
        uint64_t until = zeta_monotonic_ns() + 1000;
        uint64_t host = 0, device = 0;

        while (zeta_monotonic_ns() < until)
            ;
        assert_success(zeDeviceGetGlobalTimestamps(gpu->device, &host, &device));
        wrong += host <= last_host;
        /* 34 bits of 40 ns; a difference of more than half of that is a step back. */
        wrong += i > 0 && ((device - last_device) & MASK) > MASK / 2;
        last_host = host;
        last_device = device;
    }
    assert_int_equal(wrong, 0);
}

SUITE(gpu_clock)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timestamps__a_microsecond_apart__the_host_time_always_grows),
    };

    return cmocka_run_group_tests(tests, gpu_setup, gpu_teardown);
}
