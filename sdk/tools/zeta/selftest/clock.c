#include "sdk/tools/zeta/selftest/selftest.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "sdk/tools/zeta/output/message.h"

/* Readings of the clock, and how far its rate may be from what the device states. */
enum { READINGS = 50, PAUSE_NS = 10000000, TOLERANCE_PPM = 500 };

/* A loaded host may interrupt a reading between the two clocks. A wrong rate stays wrong. */
enum { ATTEMPTS = 3 };

struct reading {
    uint64_t host_ns;
    uint64_t ticks;
};

static uint64_t mask_of(const ze_device_properties_t *properties)
{
    return properties->timestampValidBits >= 64
               ? UINT64_MAX
               : (UINT64_C(1) << properties->timestampValidBits) - 1;
}

/* Sums up what passes from reading to reading, so that the clock may wrap between two of them. */
static ze_result_t watch(const struct zeta_device_entry *device, double *out_host_ns,
                         double *out_ticks, bool *out_goes_back)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    const uint64_t mask = mask_of(&device->properties);
    struct reading first = {0};
    struct reading last = {0};
    uint64_t ticks = 0;

    *out_goes_back = false;
    for (int i = 0; i < READINGS; i++) {
        struct reading now;
        ze_result_t result = zeDeviceGetGlobalTimestamps(device->device, &now.host_ns, &now.ticks);

        if (result != ZE_RESULT_SUCCESS)
            return result;
        if (i == 0)
            first = now;
        else
            ticks += (now.ticks - last.ticks) & mask;
        *out_goes_back = *out_goes_back || (i > 0 && ((now.ticks - last.ticks) & mask) > mask / 2);
        last = now;
        (void)nanosleep(&pause, NULL);
    }
    *out_host_ns = (double)(last.host_ns - first.host_ns);
    *out_ticks = (double)ticks;
    return ZE_RESULT_SUCCESS;
}

void zeta_selftest_clock(struct zeta_selftest *test)
{
    /* In properties of version 1.2 the timer's resolution is in ticks per second. */
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
    double hz = 0;
    double ppm = 0;
    bool goes_back = false;
    bool is_right = false;
    ze_result_t result = zeDeviceGetProperties(test->device->device, &properties);

    for (int i = 0; i < ATTEMPTS && result == ZE_RESULT_SUCCESS && !goes_back && !is_right; i++) {
        double host_ns = 0;
        double ticks = 0;

        result = watch(test->device, &host_ns, &ticks, &goes_back);
        hz = ticks / host_ns * 1e9;
        ppm = (hz / (double)properties.timerResolution - 1) * 1e6;
        is_right = !goes_back && fabs(ppm) <= TOLERANCE_PPM;
    }
    if (result != ZE_RESULT_SUCCESS) {
        (void)zeta_print_refusal(result, "cannot read the clock of %s",
                                 test->device->properties.name);
        zeta_selftest_print(test, ZETA_SELFTEST_FAILED, "clock", "cannot be read, see above");
        return;
    }
    if (goes_back) {
        zeta_selftest_print(test, ZETA_SELFTEST_FAILED, "clock",
                            "it goes back: the GPU was reset meanwhile, or wraps at fewer than %u "
                            "bits",
                            properties.timestampValidBits);
        return;
    }
    zeta_selftest_print(test, is_right ? ZETA_SELFTEST_OK : ZETA_SELFTEST_FAILED, "clock",
                        "said to run at %.4f MHz, runs at %.4f MHz by the host's clock (%+.0f ppm)",
                        (double)properties.timerResolution / 1e6, hz / 1e6, ppm);
}
