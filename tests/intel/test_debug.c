/*
 * Intel GPUs cannot be debugged, and why depends on the kernel: it has no debugger interface, or
 * one that Zeta does not speak, switched on or off.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <zeta/zeta.h>

#include "tests/intel/machine_bed.h"
#include "tests/support/suite.h"

/* The switch of one interface, below the directory of the card, as the kernel would show it. */
static void put_switch(const char *name, const char *value)
{
    char path[256];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/sys/class/drm/card0/%s", kmd_folder(bed_machine()),
                   name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(value, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Nothing can be attached to, each function says so in its way, and the reason has these parts. */
static void expect_reason(ze_device_handle_t device, const char *const *parts)
{
    zet_device_debug_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_DEVICE_DEBUG_PROPERTIES,
                                                .flags = UINT32_MAX};
    /* Of a process that is there and could be meant. */
    const zet_debug_config_t config = {.pid = (uint32_t)getppid()};
    zet_debug_session_handle_t session = (zet_debug_session_handle_t)&properties;
    uint32_t count = 7;

    EXPECT_OK(zetDeviceGetDebugProperties(device, &properties));
    assert_int_equal(properties.flags, 0);
    EXPECT_OK(zetDebugGetRegisterSetProperties(device, &count, NULL));
    assert_int_equal(count, 0);
    assert_int_equal(zetDebugAttach(device, &config, &session),
                     ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_null(session);
    for (; *parts; parts++) {
        if (!strstr(zetaGetLastError(), *parts))
            fail_msg("the reason \"%s\" does not say \"%s\"", zetaGetLastError(), *parts);
    }
}

/* Rules 26.37, 27.2. */
static void kernel__without_debugger_interface__is_the_reason(void **state)
{
    const struct kmd_config config = bed_config("dg2-g10", *state);
    const char *const parts[] = {"Intel Alchemist G10 (0000:03:00.0) cannot be debugged", *state,
                                 "has no debugger interface", NULL};

    (void)bed_start(&config);
    expect_reason(bed_device(), parts);
}

/* Rule 26.37. */
static void kernel__with_an_interface_that_is_on__is_named(void **state)
{
    const struct kmd_config config = bed_config("dg2-g10", "xe");
    const char *const parts[] = {*state, "is 1), which Zeta does not speak", NULL};

    (void)bed_start(&config);
    put_switch(*state, "1\n");
    expect_reason(bed_device(), parts);
    assert_null(strstr(zetaGetLastError(), "tee"));
}

static void kernel__with_an_interface_that_is_off__says_how_to_switch_it_on(void **state)
{
    const struct kmd_config config = bed_config("dg2-g10", "i915");
    const char *const parts[] = {"is 0)", "echo 1 | sudo tee /sys/class/drm/card0/", *state, NULL};

    (void)bed_start(&config);
    put_switch(*state, "0\n");
    expect_reason(bed_device(), parts);
    /* What is switched meanwhile is seen. */
    put_switch(*state, "1\n");
    expect_reason(bed_device(), (const char *const[]){"is 1)", NULL});
}

static void kernel__whose_switch_is_no_number__has_no_interface(void **state)
{
    const struct kmd_config config = bed_config("dg2-g10", "xe");

    (void)state;
    (void)bed_start(&config);
    put_switch("device/enable_eudebug", "perhaps\n");
    expect_reason(bed_device(), (const char *const[]){"has no debugger interface", NULL});
}

static void tile__of_a_gpu__has_the_reason_with_its_own_name(void **state)
{
    const struct kmd_config config = bed_config("pvc", "xe");
    ze_device_handle_t tiles[2];
    uint32_t count = 2;

    (void)state;
    (void)bed_start(&config);
    EXPECT_OK(zeDeviceGetSubDevices(bed_device(), &count, tiles));
    assert_int_equal(count, 2);
    expect_reason(tiles[1], (const char *const[]){"Intel Ponte Vecchio, tile 1 (", NULL});
}

/* No kernel's interface is for these. */
static void generation__that_nobody_debugs__has_no_provider(void **state)
{
    const struct kmd_config config = bed_config("skl-gt2", "i915");

    (void)state;
    (void)bed_start(&config);
    expect_reason(bed_device(), (const char *const[]){"no plugin provides \"debug\"", NULL});
}

SUITE_WITH_ARGUMENTS(debug, argc, argv)
{
    static const char *const drivers[] = {"i915", "xe", NULL};
    static const char *const switches[] = {"prelim_enable_eu_debug", "device/prelim_enable_eudebug",
                                           "device/enable_eudebug", NULL};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(kernel__without_debugger_interface__is_the_reason,
                                  (void *)drivers),
        cmocka_unit_test_prestate(kernel__with_an_interface_that_is_on__is_named, (void *)switches),
        cmocka_unit_test_prestate(kernel__with_an_interface_that_is_off__says_how_to_switch_it_on,
                                  (void *)switches),
        cmocka_unit_test(kernel__whose_switch_is_no_number__has_no_interface),
        cmocka_unit_test(tile__of_a_gpu__has_the_reason_with_its_own_name),
        cmocka_unit_test(generation__that_nobody_debugs__has_no_provider),
    };

    return bed_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
