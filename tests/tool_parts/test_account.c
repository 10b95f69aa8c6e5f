/*
 * One metric over many rows: which kind fits it, and what is taken over from the library.
 */
#include "sdk/tools/zeta/sampling/sampled_group.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void kind__amount__adds_up(void **state)
{
    (void)state;
    assert_int_equal(zeta_account_kind_of(ZET_METRIC_TYPE_DURATION, "Time"), ZETA_ACCOUNT_TOTAL);
    assert_int_equal(zeta_account_kind_of(ZET_METRIC_TYPE_EVENT, "Count"), ZETA_ACCOUNT_TOTAL);
    assert_int_equal(zeta_account_kind_of(ZET_METRIC_TYPE_EVENT_WITH_RANGE, ""),
                     ZETA_ACCOUNT_TOTAL);
}

static void kind__amount_described_as_average__is_rate(void **state)
{
    (void)state;
    assert_int_equal(zeta_account_kind_of(ZET_METRIC_TYPE_EVENT, "Average core frequency"),
                     ZETA_ACCOUNT_RATE);
    assert_int_equal(zeta_account_kind_of(ZET_METRIC_TYPE_DURATION, "The percentage of time"),
                     ZETA_ACCOUNT_RATE);
}

static void kind__ratio_and_throughput__are_rates(void **state)
{
    (void)state;
    assert_int_equal(zeta_account_kind_of(ZET_METRIC_TYPE_RATIO, ""), ZETA_ACCOUNT_RATE);
    assert_int_equal(zeta_account_kind_of(ZET_METRIC_TYPE_THROUGHPUT, ""), ZETA_ACCOUNT_RATE);
}

static void kind__state__is_last(void **state)
{
    static const zet_metric_type_t types[] = {ZET_METRIC_TYPE_TIMESTAMP, ZET_METRIC_TYPE_FLAG,
                                              ZET_METRIC_TYPE_RAW, ZET_METRIC_TYPE_IP};

    (void)state;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        assert_int_equal(zeta_account_kind_of(types[i], "Average"), ZETA_ACCOUNT_LAST);
}

static zet_typed_value_t f32(float value)
{
    return (zet_typed_value_t){.type = ZET_VALUE_TYPE_FLOAT32, .value.fp32 = value};
}

/* Rule 20.8. */
static void set__value__is_taken_over(void **state)
{
    const struct zeta_metric_value value = {
        .rows = 3,
        .has_value = 1,
        .value = {.type = ZET_VALUE_TYPE_FLOAT64, .value.fp64 = 96.5},
        .min = f32(2.0F),
        .max = f32(99.0F),
        .last = f32(50.0F)};
    struct zeta_account account = {.kind = ZETA_ACCOUNT_RATE};

    (void)state;
    zeta_account_set(&account, &value);
    assert_int_equal(account.rows, 3);
    assert_cmp(account.value.f64, ==, 96.5);
    assert_cmp(account.min.f64, ==, 2.0);
    assert_cmp(account.max.f64, ==, 99.0);
    assert_cmp(account.last.f64, ==, 50.0);
    assert_int_equal(zeta_account_total(&account).kind, ZETA_NUMBER_NONE);
    account.kind = ZETA_ACCOUNT_TOTAL;
    assert_cmp(zeta_account_total(&account).f64, ==, 96.5);
}

/* Rule 20.8. */
static void set__no_value__is_none_and_not_zero(void **state)
{
    struct zeta_metric_value value = {.value = f32(0.0F), .min = f32(0.0F)};
    struct zeta_account account = {.kind = ZETA_ACCOUNT_RATE};

    (void)state;
    zeta_account_set(&account, &value);
    assert_int_equal(account.value.kind, ZETA_NUMBER_NONE);
    assert_int_equal(account.min.kind, ZETA_NUMBER_NONE);
    assert_int_equal(account.max.kind, ZETA_NUMBER_NONE);
    assert_int_equal(account.last.kind, ZETA_NUMBER_NONE);
}

SUITE(account)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kind__amount__adds_up),
        cmocka_unit_test(kind__amount_described_as_average__is_rate),
        cmocka_unit_test(kind__ratio_and_throughput__are_rates),
        cmocka_unit_test(kind__state__is_last),
        cmocka_unit_test(set__value__is_taken_over),
        cmocka_unit_test(set__no_value__is_none_and_not_zero),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
