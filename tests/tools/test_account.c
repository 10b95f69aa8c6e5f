/*
 * Sums of one metric: which kind fits a metric, totals, weighted means, values that are missing.
 */
#include "account.h"

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

static void kind__amount_described_as_average__is_mean(void **state)
{
    (void)state;
    assert_int_equal(zeta_account_kind_of(ZET_METRIC_TYPE_EVENT, "Average core frequency"),
                     ZETA_ACCOUNT_MEAN);
    assert_int_equal(zeta_account_kind_of(ZET_METRIC_TYPE_DURATION, "The percentage of time"),
                     ZETA_ACCOUNT_MEAN);
}

static void kind__ratio_and_rate__are_means(void **state)
{
    (void)state;
    assert_int_equal(zeta_account_kind_of(ZET_METRIC_TYPE_RATIO, ""), ZETA_ACCOUNT_MEAN);
    assert_int_equal(zeta_account_kind_of(ZET_METRIC_TYPE_THROUGHPUT, ""), ZETA_ACCOUNT_MEAN);
}

static void kind__state__is_last(void **state)
{
    static const zet_metric_type_t types[] = {ZET_METRIC_TYPE_TIMESTAMP, ZET_METRIC_TYPE_FLAG,
                                              ZET_METRIC_TYPE_RAW, ZET_METRIC_TYPE_IP};

    (void)state;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        assert_int_equal(zeta_account_kind_of(types[i], "Average"), ZETA_ACCOUNT_LAST);
}

static void total__integers__are_exact_beyond_double(void **state)
{
    struct zeta_account account = {.kind = ZETA_ACCOUNT_TOTAL};

    (void)state;
    zeta_account_add(&account, zeta_number_u64((UINT64_C(1) << 60) + 1), 1.0);
    zeta_account_add(&account, zeta_number_u64(2), 1.0);
    assert_int_equal(zeta_account_total(&account).kind, ZETA_NUMBER_U64);
    assert_true(zeta_account_total(&account).u64 == (UINT64_C(1) << 60) + 3);
    assert_true(account.min.u64 == 2);
    assert_true(account.max.u64 == (UINT64_C(1) << 60) + 1);
}

static void total__sum_above_64_bits__becomes_double(void **state)
{
    struct zeta_account account = {.kind = ZETA_ACCOUNT_TOTAL};

    (void)state;
    zeta_account_add(&account, zeta_number_u64(UINT64_MAX), 1.0);
    zeta_account_add(&account, zeta_number_u64(UINT64_MAX), 1.0);
    assert_int_equal(zeta_account_total(&account).kind, ZETA_NUMBER_F64);
    assert_true(zeta_account_total(&account).f64 == 2.0 * 18446744073709551616.0);
}

static void total__floating_values__add_up(void **state)
{
    struct zeta_account account = {.kind = ZETA_ACCOUNT_TOTAL};

    (void)state;
    zeta_account_add(&account, zeta_number_f64(1.5), 1.0);
    zeta_account_add(&account, zeta_number_u64(2), 1.0);
    assert_true(zeta_account_total(&account).f64 == 3.5);
}

static void total__ratio__is_none(void **state)
{
    struct zeta_account account = {.kind = ZETA_ACCOUNT_MEAN};

    (void)state;
    zeta_account_add(&account, zeta_number_f64(50.0), 1.0);
    assert_int_equal(zeta_account_total(&account).kind, ZETA_NUMBER_NONE);
}

static void mean__rows_of_different_length__is_weighted(void **state)
{
    struct zeta_account account = {.kind = ZETA_ACCOUNT_MEAN};

    (void)state;
    zeta_account_add(&account, zeta_number_f64(100.0), 1000.0);
    zeta_account_add(&account, zeta_number_f64(0.0), 3000.0);
    assert_true(zeta_account_mean(&account).f64 == 25.0);
}

static void mean__amount__is_per_row(void **state)
{
    struct zeta_account account = {.kind = ZETA_ACCOUNT_TOTAL};

    (void)state;
    zeta_account_add(&account, zeta_number_u64(1), 1000.0);
    zeta_account_add(&account, zeta_number_u64(4), 3000.0);
    assert_true(zeta_account_mean(&account).f64 == 2.5);
}

static void mean__missing_value__counts_nowhere(void **state)
{
    struct zeta_account account = {.kind = ZETA_ACCOUNT_MEAN};

    (void)state;
    zeta_account_add(&account, zeta_number_f64(40.0), 1000.0);
    zeta_account_add(&account, zeta_number_f64(NAN), 9000.0);
    assert_true(zeta_account_mean(&account).f64 == 40.0);
    assert_true(account.rows == 1);
    assert_true(account.min.f64 == 40.0);
}

static void mean__no_value__is_none(void **state)
{
    struct zeta_account account = {.kind = ZETA_ACCOUNT_MEAN};

    (void)state;
    assert_int_equal(zeta_account_mean(&account).kind, ZETA_NUMBER_NONE);
    zeta_account_add(&account, zeta_number_none(), 1.0);
    assert_int_equal(zeta_account_mean(&account).kind, ZETA_NUMBER_NONE);
    assert_int_equal(zeta_account_value(&account).kind, ZETA_NUMBER_NONE);
    account.kind = ZETA_ACCOUNT_TOTAL;
    assert_int_equal(zeta_account_total(&account).kind, ZETA_NUMBER_NONE);
}

static void last__rows__keeps_latest_and_range(void **state)
{
    struct zeta_account account = {.kind = ZETA_ACCOUNT_LAST};

    (void)state;
    zeta_account_add(&account, zeta_number_u64(7), 1.0);
    zeta_account_add(&account, zeta_number_u64(9), 1.0);
    zeta_account_add(&account, zeta_number_u64(8), 1.0);
    assert_true(zeta_account_value(&account).u64 == 8);
    assert_true(account.min.u64 == 7);
    assert_true(account.max.u64 == 9);
    assert_int_equal(zeta_account_total(&account).kind, ZETA_NUMBER_NONE);
    assert_int_equal(zeta_account_mean(&account).kind, ZETA_NUMBER_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kind__amount__adds_up),
        cmocka_unit_test(kind__amount_described_as_average__is_mean),
        cmocka_unit_test(kind__ratio_and_rate__are_means),
        cmocka_unit_test(kind__state__is_last),
        cmocka_unit_test(total__integers__are_exact_beyond_double),
        cmocka_unit_test(total__sum_above_64_bits__becomes_double),
        cmocka_unit_test(total__floating_values__add_up),
        cmocka_unit_test(total__ratio__is_none),
        cmocka_unit_test(mean__rows_of_different_length__is_weighted),
        cmocka_unit_test(mean__amount__is_per_row),
        cmocka_unit_test(mean__missing_value__counts_nowhere),
        cmocka_unit_test(mean__no_value__is_none),
        cmocka_unit_test(last__rows__keeps_latest_and_range),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
