/*
 * Profiles of instruction pointers: what rows add up to, and how devices are told apart.
 */
#include "sdk/tools/zeta/profile/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sdk/tools/zeta/sampling/sampled_group.h"
#include "sdk/tools/zeta/stat/stat.h"
#include "tests/support/suite.h"

enum { VALUES = 1 + ZETA_IP_REASONS };

struct fixture {
    struct zeta_metric_entry metrics[VALUES];
    struct zeta_group_entry entry;
    struct zeta_sampled_group group;
    struct zeta_ip_profile profile;
};

static int set_up(void **state)
{
    static const char *const names[VALUES] = {
        "IP",        "Active",    "ControlStall", "PipeStall",       "SendStall",
        "DistStall", "SbidStall", "SyncStall",    "InstrFetchStall", "OtherStall"};
    struct fixture *fixture = test_calloc(1, sizeof(*fixture));

    for (size_t i = 0; i < VALUES; i++)
        (void)strcpy(fixture->metrics[i].properties.name, names[i]);
    (void)strcpy(fixture->entry.properties.name, ZETA_IP_GROUP);
    fixture->entry.properties.domain = 4;
    fixture->entry.properties.metricCount = VALUES;
    fixture->entry.metrics = fixture->metrics;
    fixture->group.entry = &fixture->entry;
    fixture->group.period_ns = 617;
    assert_int_equal(zeta_ip_profile_init(&fixture->profile, &fixture->entry), 0);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    zeta_ip_profile_finish(&fixture->profile);
    test_free(fixture);
    return 0;
}

static void add(struct fixture *fixture, uint64_t ip, uint64_t active, uint64_t sbid)
{
    zet_typed_value_t values[VALUES] = {0};

    for (size_t i = 0; i < VALUES; i++)
        values[i].type = ZET_VALUE_TYPE_UINT64;
    values[0].value.ui64 = ip;
    values[1].value.ui64 = active;
    values[6].value.ui64 = sbid;
    assert_true(zeta_ip_profile_add_row(&fixture->profile, values));
}

/* What is printed for a device of a class; freed by the caller. */
static char *print(struct fixture *fixture, const char *device_class)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);

    assert_non_null(stream);
    assert_int_equal(zeta_ip_profile_resolve(&fixture->profile, NULL), 0);
    zeta_stat_ip_print(&fixture->profile, &fixture->group, device_class, 0, stream);
    (void)fclose(stream);
    return text;
}

/* Rule 20.12. */
static void rows__at_address_0__are_of_an_address_as_any(void **state)
{
    struct fixture *fixture = *state;

    for (uint32_t i = 0; i < 1000; i++)
        add(fixture, 0, 2, 1);
    add(fixture, 16, 1, 0);
    assert_int_equal(fixture->profile.used, 2);
    assert_int_equal(zeta_ip_profile_resolve(&fixture->profile, NULL), 0);
    assert_int_equal(fixture->profile.line_count, 2);
    assert_int_equal(fixture->profile.lines[0].address, 0);
    assert_int_equal(fixture->profile.lines[0].counts.total, 3000);
    assert_int_equal(fixture->profile.lines[1].address, 128);
}

/* Rule 20.12. */
static void print__of_hardware_without_code__tells_addresses_and_reasons(void **state)
{
    struct fixture *fixture = *state;
    char *text;

    add(fixture, 0x20, 1, 3);
    add(fixture, 0x21, 1, 0);
    text = print(fixture, "hardware");
    assert_non_null(
        strstr(text, "domain 4, a sample every 617 ns at the highest clock: 5 samples"));
    assert_null(strstr(text, "modelled"));
    assert_non_null(strstr(text, "Address"));
    assert_null(strstr(text, "(unknown)"));
    assert_non_null(strstr(text, "         4   80.0  0x100    Sbid 75 %, Active 25 %\n"));
    assert_non_null(strstr(text, "         1   20.0  0x108    Active 100 %\n"));
    assert_non_null(strstr(text, "does not load the kernels of this device"));
    free(text);
}

/* Rule 20.12. */
static void print__of_software__tells_modelled_time(void **state)
{
    struct fixture *fixture = *state;
    char *text;

    add(fixture, 0x20, 1, 3);
    text = print(fixture, "software");
    assert_non_null(strstr(text, "each thread every 617 ns of its modelled time: 4 samples"));
    assert_non_null(strstr(text, "ZETA_MODULE_DUMP"));
    free(text);
}

static void print__of_a_recording__promises_no_clock(void **state)
{
    struct fixture *fixture = *state;
    char *text = print(fixture, "replay");

    assert_non_null(strstr(text, "a sample every 617 ns: 0 samples, none lost"));
    assert_non_null(strstr(text, "No sample met a kernel"));
    free(text);
}

static void print__interrupted_stream__says_that_some_are_lost(void **state)
{
    struct fixture *fixture = *state;
    char *text = NULL;

    fixture->group.losses.breaks = fixture->group.losses.uncounted = 1;
    text = print(fixture, "hardware");
    assert_non_null(strstr(text, "0 samples, at least 1 report lost\n"));
    free(text);
    fixture->group.losses.uncounted = 0;
    fixture->group.losses.counted = 3;
    text = print(fixture, "hardware");
    assert_non_null(strstr(text, "0 samples, 3 reports lost\n"));
    free(text);
}

SUITE(ip_profile)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows__at_address_0__are_of_an_address_as_any, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            print__of_hardware_without_code__tells_addresses_and_reasons, set_up, tear_down),
        cmocka_unit_test_setup_teardown(print__of_software__tells_modelled_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(print__of_a_recording__promises_no_clock, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(print__interrupted_stream__says_that_some_are_lost, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
