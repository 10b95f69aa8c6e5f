/*
 * The query form of a set: the same metrics, calculated from query records.
 *
 * A query record (zeta/query_record.h) is a row by itself. Over a layout of kind delta it holds a
 * difference for each field that has one, and the last value of every other field; over a layout of
 * kind sample the value of each field for the whole query. It also holds the ticks at which the
 * query began and ended. So of what expressions can ask for,
 *
 *   delta(x)              is the 64-bit difference,
 *   now(x)                of a field without a difference is its value,
 *   now(t), before(t)     of the layout's clock (zeta_layout_clock) are end and begin of the query,
 *                         cut to the width of the field; now(t) in a metric of type timestamp is
 *                         the begin, because that metric is the time at which the query began,
 *
 * and now() and before() of running counts do not exist. Baselines and identities mean nothing:
 * each record is a row.
 */
#ifndef ZETA_CORE_FORMULA_SETS_QUERY_FORM_H
#define ZETA_CORE_FORMULA_SETS_QUERY_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include <zeta/arena.h>

#include "core/formula/sets/set.h"

/** True if a linked set has a query form; else the first finding is the reason. */
bool zeta_query_form_check(const struct zeta_set *set, struct zeta_diagnostics *sink);

/**
 * Makes the layout of query records over a layout of kind delta or sample: its fields have the
 * numbers that they have there. NULL without memory.
 */
struct zeta_layout *zeta_query_form_layout(const struct zeta_layout *from,
                                           struct zeta_arena *arena);

/**
 * Makes the query form of a linked set that has one: a copy with the query form of its layout.
 * Shares expressions and metrics with the set.
 */
void zeta_query_form_make(const struct zeta_set *set, struct zeta_set *out_form);

/** Number of fields that a query record holds for a layout: all but views of others. */
uint32_t zeta_query_form_field_count(const struct zeta_layout *layout);

/**
 * The field of a query form's layout that an expression of the set means.
 *
 * @stamp  the expression is of a metric of type timestamp
 */
uint32_t zeta_query_form_field(const struct zeta_layout *layout, uint32_t field,
                               enum zeta_expr_view view, bool stamp);

#endif
