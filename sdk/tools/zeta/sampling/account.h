/*
 * What is shown of one metric over many rows.
 */
#ifndef ZETA_TOOLS_SAMPLING_ACCOUNT_H
#define ZETA_TOOLS_SAMPLING_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "sdk/tools/zeta/output/number.h"
#include "sdk/tools/zeta/output/sparkline.h"

/** What the value of many rows is. */
enum zeta_account_kind {
    ZETA_ACCOUNT_TOTAL, /**< amounts: they add up */
    ZETA_ACCOUNT_RATE,  /**< ratios and rates: the formula over all counts */
    ZETA_ACCOUNT_LAST   /**< states and points in time: the latest */
};

struct zeta_account {
    enum zeta_account_kind kind;
    uint64_t rows; /**< rows that have a value; what follows is none without */
    struct zeta_number value;
    struct zeta_number min;
    struct zeta_number max;
    struct zeta_number last;
    struct zeta_sparkline line;
};

/**
 * The kind that fits a metric. Amounts that are averages or percentages already say so in the
 * first words of their description ("Average ...", "Percentage ..."), as other tools expect.
 */
enum zeta_account_kind zeta_account_kind_of(zet_metric_type_t type, const char *description);

/** Takes over what the library found; the kind stays. */
void zeta_account_set(struct zeta_account *account, const struct zeta_metric_value *value);

/** The value of an amount; none of others, which do not add up. */
struct zeta_number zeta_account_total(const struct zeta_account *account);

/** How a table calls the value: "total", "last", or "" for what needs no word. */
const char *zeta_account_kind_name(enum zeta_account_kind kind);

#endif
