/*
 * What an xe stream is asked for and what its answers mean, as far as no kernel is needed: sizes of
 * buffers, bits of the status, periods of EU stall sampling.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plugins/intel/gpu/intel.h"
#include "plugins/intel/kmd/xe.h"
#include "plugins/intel/stream/order.h"
#include "tests/support/suite.h"

static void buffer__any_request__is_a_power_of_two_that_the_kernel_takes(void **state)
{
    (void)state;
    assert_int_equal(zeta_xe_buffer_bytes(1), 128 << 10);
    assert_int_equal(zeta_xe_buffer_bytes(128 << 10), 128 << 10);
    assert_int_equal(zeta_xe_buffer_bytes((128 << 10) + 1), 256 << 10);
    assert_int_equal(zeta_xe_buffer_bytes(16 << 20), 16 << 20);
    assert_int_equal(zeta_xe_buffer_bytes(100 << 20), 128 << 20);
    assert_int_equal(zeta_xe_buffer_bytes(UINT64_MAX), 128 << 20);
}

/* Rule 26.17. */
static void status__each_bit__is_a_break_of_its_kind(void **state)
{
    (void)state;
    assert_int_equal(zeta_xe_oa_break(1), ZETA_PLUGIN_BREAK_LOST);
    assert_int_equal(zeta_xe_oa_break(2), ZETA_PLUGIN_BREAK_OVERFLOW);
    assert_int_equal(zeta_xe_oa_break(4), ZETA_PLUGIN_BREAK_NONE); /* nothing is lost by it */
    /* Markers without room: no report is missing. */
    assert_int_equal(zeta_xe_oa_break(8), ZETA_PLUGIN_BREAK_NONE);
    assert_int_equal(zeta_xe_oa_break(8 | 1), ZETA_PLUGIN_BREAK_LOST);
    assert_int_equal(zeta_xe_oa_break(3), ZETA_PLUGIN_BREAK_OVERFLOW);
    /* The kernel refused to read and does not say why: something is missing. */
    assert_int_equal(zeta_xe_oa_break(0), ZETA_PLUGIN_BREAK_LOST);
    assert_int_equal(zeta_xe_oa_break(0x100), ZETA_PLUGIN_BREAK_LOST);
}

static void properties__several__are_chained_in_order(void **state)
{
    struct zeta_xe_properties properties = {0};
    const struct zeta_xe_property *item = &properties.items[0];

    (void)state;
    zeta_xe_property_add(&properties, ZETA_XE_OA_UNIT_ID, 2);
    zeta_xe_property_add(&properties, ZETA_XE_OA_SAMPLE, 1);
    zeta_xe_property_add(&properties, ZETA_XE_OA_FORMAT, 0x10105);
    assert_int_equal(item->property, 1);
    assert_int_equal(item->value, 2);
    assert_int_equal(item->name, 0);
    item = (const struct zeta_xe_property *)(uintptr_t)item->next;
    assert_int_equal(item->property, 2);
    item = (const struct zeta_xe_property *)(uintptr_t)item->next;
    assert_int_equal(item->property, 4);
    assert_int_equal(item->value, 0x10105);
    assert_int_equal(item->next, 0);
}

/* A sampler whose GPU has that highest core clock; 0: unknown. */
static struct zeta_intel_unit sampler_at(uint64_t core_hz)
{
    return (struct zeta_intel_unit){
        .name = "eu-stall",
        .kind = ZETA_INTEL_EU_STALL,
        .timestamp_hz = core_hz,
        .rates = {251, 502, 753, 1004, 1255, 1506, 1757},
    };
}

/* Rule 26.19. */
static void stall_period__of_each_rate__is_cycles_at_the_highest_clock(void **state)
{
    struct zeta_intel_unit sampler = sampler_at(1000000000);

    (void)state;
    assert_int_equal(zeta_intel_period_ns(&sampler, 0), 251);
    assert_int_equal(zeta_intel_period_ns(&sampler, 7), 0);
    sampler = sampler_at(2000000000);
    assert_int_equal(zeta_intel_period_ns(&sampler, 6), 879); /* 878.5 */
    sampler = sampler_at(0);
    assert_int_equal(zeta_intel_period_ns(&sampler, 3), 1004);
    sampler = sampler_at(1);
    assert_int_equal(zeta_intel_period_ns(&sampler, 0), 251ull * 1000000000);
}

static uint32_t nearest(const struct zeta_intel_unit *unit, uint64_t period_ns)
{
    return zeta_intel_period_exponent(unit, period_ns, 0, zeta_intel_period_last(unit));
}

/* Rule 26.19. */
static void stall_period__wanted__finds_the_nearest_rate(void **state)
{
    struct zeta_intel_unit sampler = sampler_at(1000000000);

    (void)state;
    assert_int_equal(nearest(&sampler, 0), 0);
    assert_int_equal(nearest(&sampler, 376), 0);
    assert_int_equal(nearest(&sampler, 377), 1);
    assert_int_equal(nearest(&sampler, 1000), 3);
    assert_int_equal(nearest(&sampler, UINT64_MAX), 6);
    /* Half the clock: each rate takes twice as long. */
    sampler = sampler_at(500000000);
    assert_int_equal(nearest(&sampler, 1000), 1);
}

static void stall_limits__are_the_first_and_the_last_rate(void **state)
{
    const struct zeta_intel_unit none = {.kind = ZETA_INTEL_EU_STALL};
    const struct zeta_intel_unit sampler = sampler_at(1000000000);
    static const struct zeta_intel_kmd kmd = {.driver = "xe"};
    static const struct zeta_intel_gpu gpu = {.kmd = &kmd};
    const struct zeta_plugin_device device = {.gpu = (struct zeta_intel_gpu *)&gpu};
    uint32_t least = 1, most = 1;

    (void)state;
    assert_int_equal(zeta_intel_period_range(&device, &sampler, false, 0, &least, &most), 0);
    assert_int_equal(zeta_intel_period_ns(&sampler, least), 251);
    assert_int_equal(zeta_intel_period_ns(&sampler, most), 1757);
    assert_int_equal(zeta_intel_period_range(&device, &none, false, 0, &least, &most), 0);
    assert_int_equal(zeta_intel_period_ns(&none, least), 0);
    assert_int_equal(zeta_intel_period_ns(&none, most), 0);
    assert_int_equal(nearest(&none, 100), 0);
}

/* Reports with nothing but a header: id and time, in words of 32 or 64 bits. Rule 26.17. */
static void order__time_goes_back__ends_before_that_report(void **state)
{
    const uint32_t narrow[][4] = {{1, 100}, {1, 200}, {1, 0xfffffff0}, {1, 10}, {1, 3000000000}};
    const uint64_t wide[][4] = {{1, 1000}, {1, 2000}, {1, 30}, {1, 40}};
    struct zeta_intel_order order = {.hz = 19200000};

    (void)state;
    /* From 200 to nearly 2^32 is back, by less than half; the wrap after it is not. */
    assert_int_equal(zeta_intel_order_until_break(&order, narrow, sizeof(narrow), 16), 32);
    assert_int_equal(zeta_intel_order_until_break(&order, narrow[2], 32, 16), 32);
    /* So far ahead in no time is behind. */
    assert_int_equal(zeta_intel_order_until_break(&order, narrow[3], 32, 16), 16);
    order.is_wide = true;
    assert_int_equal(zeta_intel_order_until_break(&order, wide, sizeof(wide), 32), 64);
    order.is_started = true;
    order.time = 5000;
    assert_int_equal(zeta_intel_order_until_break(&order, wide, sizeof(wide), 32), 0);
    /* 2^56 wraps as well. */
    order.time = (UINT64_C(1) << 56) - 5;
    assert_int_equal(zeta_intel_order_until_break(&order, wide, 64, 32), 64);
}

static void order__several_reports_of_one_tick__follow_each_other(void **state)
{
    uint64_t wide[][4] = {{1, 500}, {2, 500}, {3, 500}, {3, 501}, {3, 900}};
    struct zeta_intel_order order = {.is_wide = true, .hz = 19200000};

    (void)state;
    assert_int_equal(zeta_intel_order_until_break(&order, wide, sizeof(wide), 32), sizeof(wide));
    zeta_intel_order_fix(&order, wide, sizeof(wide), 32);
    assert_int_equal(wide[0][1], 500);
    assert_int_equal(wide[1][1], 501);
    assert_int_equal(wide[2][1], 502);
    assert_int_equal(wide[3][1], 503);
    assert_int_equal(wide[4][1], 900);
}

SUITE(xe_stream)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffer__any_request__is_a_power_of_two_that_the_kernel_takes),
        cmocka_unit_test(status__each_bit__is_a_break_of_its_kind),
        cmocka_unit_test(properties__several__are_chained_in_order),
        cmocka_unit_test(stall_period__of_each_rate__is_cycles_at_the_highest_clock),
        cmocka_unit_test(stall_period__wanted__finds_the_nearest_rate),
        cmocka_unit_test(order__time_goes_back__ends_before_that_report),
        cmocka_unit_test(order__several_reports_of_one_tick__follow_each_other),
        cmocka_unit_test(stall_limits__are_the_first_and_the_last_rate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
