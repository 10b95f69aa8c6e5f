/* GPUs of the machine as devices: what the API tells of them. */

#include <stdlib.h>
#include <string.h>

#include "tests/nvidia/bed.h"
#include "tests/support/compare.h"

static void check_h100(void)
{
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};

    EXPECT_OK(zeDeviceGetProperties(bed_device(), &properties));
    assert_string_equal(properties.name, "NVIDIA H100 80GB HBM3");
    assert_int_equal(properties.type, ZE_DEVICE_TYPE_GPU);
    assert_int_equal(properties.vendorId, 0x10de);
    assert_int_equal(properties.deviceId, 0x2330);
    assert_int_equal(properties.numSlices, 1);
    assert_int_equal(properties.numSubslicesPerSlice, 132);
    assert_int_equal(properties.numEUsPerSubslice, 4);
    assert_int_equal(properties.numThreadsPerEU, 16);
    assert_int_equal(properties.physicalEUSimdWidth, 32);
    assert_int_equal(properties.coreClockRate, 1980);
    assert_int_equal(properties.timestampValidBits, 64);
    assert_int_equal(properties.kernelTimestampValidBits, 34);
}

static void device__h100__properties(void **state)
{
    (void)state;
    bed_run("gh100", check_h100);
}

SUITE(devices)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device__h100__properties),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
