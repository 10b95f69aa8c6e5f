/*
 * Totals of random reports beside a plain reference, which knows a format from the descriptors of
 * its fields alone: reads bit by bit, keeps every last value, adds one report after the other.
 */
#ifndef ZETA_TESTS_INTEL_TOTALS_MODEL_H
#define ZETA_TESTS_INTEL_TOTALS_MODEL_H

#include <stdint.h>

#include <zeta/plugin.h>

/**
 * Adds some thousand reports in pieces of random length: counters that move by any distance, also
 * none, back, or once around; sleeps of many turns of the clock, resets, gaps, and times to stop
 * at. Ends the running test where values, time, breaks or changes of the clock differ.
 *
 * @fields    as of struct zeta_plugin_query_desc
 * @clock_bits  as zeta_intel_totals_init() takes it
 */
void totals_model_check(const char *name, const struct zeta_plugin_query_field *fields,
                        uint32_t count, uint32_t report_bytes, uint32_t clock_bits);

#endif
