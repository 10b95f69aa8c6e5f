/*
 * What is kept of the rows of one metric: a few sums, however long the run is.
 */
#ifndef ZETA_TOOLS_ACCOUNT_H
#define ZETA_TOOLS_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "number.h"
#include "sparkline.h"

/** How the rows of a metric become one value. */
enum zeta_account_kind {
    ZETA_ACCOUNT_TOTAL, /**< amounts: they add up */
    ZETA_ACCOUNT_MEAN,  /**< ratios and rates: the mean, weighted by the time of each row */
    ZETA_ACCOUNT_LAST   /**< states and points in time: the latest */
};

struct zeta_account {
    enum zeta_account_kind kind;
    uint64_t rows; /**< rows that had a value */
    uint64_t total_u64;
    double total_f64;
    bool inexact; /**< a value was no integer, or the integer sum overflowed */
    double weighted;
    double weight;
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

/**
 * Adds the value of one row. A missing value counts nowhere.
 *
 * @weight  time of the row in ns
 */
void zeta_account_add(struct zeta_account *account, struct zeta_number value, double weight);

/** Sum of all rows; none when the metric does not add up or had no value. */
struct zeta_number zeta_account_total(const struct zeta_account *account);

/**
 * Mean: per row for amounts, weighted by time for ratios and rates; none for states, and when
 * there is nothing to divide by.
 */
struct zeta_number zeta_account_mean(const struct zeta_account *account);

/** The value that says most: the total, the mean or the latest value, by kind. */
struct zeta_number zeta_account_value(const struct zeta_account *account);

#endif
