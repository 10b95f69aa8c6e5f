#include "account.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static bool has_word(const char *text, const char *word)
{
    return strcasestr(text, word) != NULL;
}

enum zeta_account_kind zeta_account_kind_of(zet_metric_type_t type, const char *description)
{
    switch ((uint32_t)type) {
    case ZET_METRIC_TYPE_DURATION:
    case ZET_METRIC_TYPE_EVENT:
    case ZET_METRIC_TYPE_EVENT_WITH_RANGE:
        if (has_word(description, "average") || has_word(description, "percentage"))
            return ZETA_ACCOUNT_MEAN;
        return ZETA_ACCOUNT_TOTAL;
    case ZET_METRIC_TYPE_THROUGHPUT:
    case ZET_METRIC_TYPE_RATIO:
        return ZETA_ACCOUNT_MEAN;
    default:
        return ZETA_ACCOUNT_LAST;
    }
}

static bool is_less(struct zeta_number a, struct zeta_number b)
{
    if (a.kind == ZETA_NUMBER_U64 && b.kind == ZETA_NUMBER_U64)
        return a.u64 < b.u64;
    return zeta_number_as_double(a) < zeta_number_as_double(b);
}

static void add_to_total(struct zeta_account *account, struct zeta_number value)
{
    account->total_f64 += zeta_number_as_double(value);
    if (value.kind != ZETA_NUMBER_U64 || value.u64 > UINT64_MAX - account->total_u64)
        account->inexact = true;
    else
        account->total_u64 += value.u64;
}

void zeta_account_add(struct zeta_account *account, struct zeta_number value, double weight)
{
    const double number = zeta_number_as_double(value);

    if (value.kind == ZETA_NUMBER_NONE) {
        zeta_sparkline_add(&account->line, 0.0, 0.0);
        return;
    }
    account->rows++;
    account->last = value;
    if (account->min.kind == ZETA_NUMBER_NONE || is_less(value, account->min))
        account->min = value;
    if (account->max.kind == ZETA_NUMBER_NONE || is_less(account->max, value))
        account->max = value;

    switch (account->kind) {
    case ZETA_ACCOUNT_TOTAL:
        add_to_total(account, value);
        zeta_sparkline_add(&account->line, number, weight);
        break;
    case ZETA_ACCOUNT_MEAN:
        account->weighted += number * weight;
        account->weight += weight;
        zeta_sparkline_add(&account->line, number * weight, weight);
        break;
    default:
        break;
    }
}

struct zeta_number zeta_account_total(const struct zeta_account *account)
{
    if (account->kind != ZETA_ACCOUNT_TOTAL || account->rows == 0)
        return zeta_number_none();
    if (account->inexact)
        return zeta_number_f64(account->total_f64);
    return zeta_number_u64(account->total_u64);
}

struct zeta_number zeta_account_mean(const struct zeta_account *account)
{
    if (account->kind == ZETA_ACCOUNT_TOTAL && account->rows > 0)
        return zeta_number_f64(account->total_f64 / (double)account->rows);
    if (account->kind == ZETA_ACCOUNT_MEAN && account->weight > 0.0)
        return zeta_number_f64(account->weighted / account->weight);
    return zeta_number_none();
}

struct zeta_number zeta_account_value(const struct zeta_account *account)
{
    switch (account->kind) {
    case ZETA_ACCOUNT_TOTAL:
        return zeta_account_total(account);
    case ZETA_ACCOUNT_MEAN:
        return zeta_account_mean(account);
    default:
        return account->last;
    }
}
