#include "sdk/tools/zeta/sampling/account.h"

#include <string.h>

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
            return ZETA_ACCOUNT_RATE;
        return ZETA_ACCOUNT_TOTAL;
    case ZET_METRIC_TYPE_THROUGHPUT:
    case ZET_METRIC_TYPE_RATIO:
        return ZETA_ACCOUNT_RATE;
    default:
        return ZETA_ACCOUNT_LAST;
    }
}

void zeta_account_set(struct zeta_account *account, const struct zeta_metric_value *value)
{
    account->rows = value->rows;
    account->value = value->has_value ? zeta_number_from_value(&value->value) : zeta_number_none();
    account->min = account->max = account->last = zeta_number_none();
    if (value->rows == 0)
        return;
    account->min = zeta_number_from_value(&value->min);
    account->max = zeta_number_from_value(&value->max);
    account->last = zeta_number_from_value(&value->last);
}

struct zeta_number zeta_account_total(const struct zeta_account *account)
{
    return account->kind == ZETA_ACCOUNT_TOTAL ? account->value : zeta_number_none();
}

const char *zeta_account_kind_name(enum zeta_account_kind kind)
{
    switch (kind) {
    case ZETA_ACCOUNT_TOTAL:
        return "total";
    case ZETA_ACCOUNT_LAST:
        return "last";
    default:
        return "";
    }
}
