/* Groups of events, as a program meets them that did not ask for them. */
#include <string.h>

#include "tests/metric_tracer/trace_bed.h"
#include "tests/support/suite.h"

static int set_up(void **state)
{
    (void)state;
    return zeInit(0) == ZE_RESULT_SUCCESS ? 0 : -1;
}

/* Rule 13.1. */
static void list__not_asked__only_the_small_group_of_the_source(void **state)
{
    static const char *const devices[] = {"trace0", "trace1", "trace1.0"};

    (void)state;
    for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
        zet_metric_group_properties_t properties = {.stype =
                                                        ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};
        zet_metric_group_handle_t groups[8];
        uint32_t count = 8;

        EXPECT_OK(zetMetricGroupGet(find_device(devices[i]), &count, groups));
        assert_int_equal(count, 1);
        EXPECT_OK(zetMetricGroupGetProperties(groups[0], &properties));
        assert_string_equal(properties.name, "KernelSource");
        assert_int_equal(properties.samplingType, TIME_BASED);
    }
}

SUITE(unlisted)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(list__not_asked__only_the_small_group_of_the_source),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
