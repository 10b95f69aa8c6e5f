/*
 * Raw data of any length and content given to calculation, and added up. The first byte chooses
 * capacity and tile; "B", "T", "E" and "R" at the start of a slot make it a control slot or a
 * repeated record.
 *
 * Rules 14.2, 14.4.
 */
#include <stdlib.h>
#include <string.h>

#include "core/formula/evaluate/evaluate.h"
#include "core/formula/evaluate/sum.h"
#include "core/formula/record/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RECORD 64u

static const char set_text[] =
    "format: 1\n"
    "symbols: {Hz: {value: 25000000}}\n"
    "units: {u: {}}\n"
    "layouts:\n"
    "  - name: l\n"
    "    kind: delta\n"
    "    record: 64\n"
    "    header:\n"
    "      id: {at: 0, width: 32}\n"
    "      ticks: {at: 4, width: 32, delta: 32}\n"
    "    counters:\n"
    "      A: [{n: 2, at: 8, stride: 4, width: 32, hi: {at: 16, stride: 1, width: 8}}]\n"
    "      F: [{n: 2, at: 24, stride: 8, width: 64, type: f64, valid: {field: id, bit: 1}}]\n"
    "      W: [{n: 3, at: 40, stride: 8, width: 64}]\n"
    "    identity: [id, ticks]\n"
    "    baseline: now(id) % 5 == 4\n"
    "sets:\n"
    "  - name: s\n"
    "    description: d\n"
    "    domain: 0\n"
    "    unit: u\n"
    "    layout: l\n"
    "    sampling: [time]\n"
    "    metrics:\n"
    "      - {name: Time, description: d, type: event, value_type: u64, class: exact,\n"
    "         value: 'muldiv(ticks, 1000000000, $Hz)'}\n"
    "      - {name: Real, description: d, type: ratio, value_type: f32, class: exact,\n"
    "         value: 'now(F[0]) / F[1]'}\n"
    "      - {name: Whole, description: d, type: raw, value_type: f64, class: exact,\n"
    "         value: 'f64(u64(now(F[1])) / now(W[0]))'}\n"
    "      - {name: Rest, description: d, type: ratio, value_type: u32, class: exact,\n"
    "         value: 'A[1] % W[1] << now(W[2])'}\n"
    "      - {name: Scaled, description: d, type: ratio, value_type: u64, class: exact,\n"
    "         value: 'muldiv(now(W[0]), now(W[1]), now(W[2]))'}\n";

static struct zeta_compiled *prepare(void)
{
    static struct zeta_compiled *compiled;
    struct zeta_catalog *catalog;

    if (compiled)
        return compiled;
    catalog = zeta_catalog_create();
    if (!catalog ||
        zeta_catalog_add_text(catalog, set_text, strlen(set_text), "t", NULL) !=
            ZE_RESULT_SUCCESS ||
        zeta_catalog_link(catalog, NULL) != ZE_RESULT_SUCCESS ||
        zeta_set_compile(catalog, zeta_catalog_set(catalog, 0), NULL, NULL, &compiled) !=
            ZE_RESULT_SUCCESS)
        abort();
    return compiled;
}

/** Makes some slots what noise would hardly ever be. */
static void shape(unsigned char *raw, size_t raw_bytes)
{
    for (size_t at = 0; at + RECORD <= raw_bytes; at += RECORD) {
        struct zeta_slot_control control = {.value = raw[at + 1], .lost_records = raw[at + 2]};

        switch (raw[at]) {
        case 'B':
        case 'T':
        case 'E':
            control.kind = raw[at] == 'B'   ? ZETA_SLOT_BREAK
                           : raw[at] == 'T' ? ZETA_SLOT_TILE
                                            : ZETA_SLOT_END;
            zeta_slot_write(&control, raw + at, RECORD);
            break;
        case 'R':
            if (at > 0)
                memcpy(raw + at, raw + at - RECORD, RECORD);
            break;
        default:
            break;
        }
    }
}

static void add_row(void *user, const struct zeta_sum_row *row)
{
    zeta_sum_add(user, row);
}

/** Adds up the rows, of which there are so many, and calculates. */
static void add_up(const struct zeta_compiled *compiled, uint32_t tile, const unsigned char *raw,
                   size_t raw_bytes, uint64_t rows)
{
    static struct zeta_sum_plan *plans[2];
    struct zeta_sum_value values[5];
    struct zeta_sum sum;

    for (uint32_t i = 0; i < 2 && !plans[i]; i++) {
        if (zeta_sum_plan_create(compiled, false, &plans[i]) != ZE_RESULT_SUCCESS)
            abort();
    }
    if (!zeta_sum_init(&sum, plans, 2) || zeta_sum_plan_metric_count(plans[0]) != 5 ||
        zeta_sum_walk(plans[tile], tile, 0, raw, raw_bytes, add_row, &sum) != ZE_RESULT_SUCCESS ||
        !zeta_sum_values(&sum, values) || sum.counts[0].rows != rows)
        abort();
    for (uint32_t m = 0; m < 5; m++) {
        if (sum.counts[m].rows > rows || (sum.counts[m].rows == 0 && values[m].has_value))
            abort();
    }
    zeta_sum_finish(&sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct zeta_compiled *compiled = prepare();
    const uint32_t tile = size > 0 ? data[0] & 1u : 0;
    struct zeta_evaluation rows;
    struct zeta_evaluation result;
    zet_typed_value_t *values;
    unsigned char *raw;
    uint32_t capacity;

    if (size == 0)
        return 0;
    raw = malloc(size);
    if (!raw)
        abort();
    memcpy(raw, data + 1, size - 1);
    shape(raw, size - 1);
    if (zeta_evaluate_rows(compiled, tile, 0, raw, size - 1, &rows) != ZE_RESULT_SUCCESS ||
        rows.value_count > zeta_evaluate_count(compiled, size - 1))
        abort();
    capacity = data[0] & 2 ? rows.value_count : data[0] >> 2;
    values = calloc((size_t)capacity + 1, sizeof(*values));
    if (!values)
        abort();
    if (zeta_evaluate(compiled, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, tile, 0, raw,
                      size - 1, values, capacity, &result) != ZE_RESULT_SUCCESS ||
        result.value_count != (capacity < rows.value_count ? capacity : rows.value_count) ||
        result.complete != (capacity >= rows.value_count))
        abort();
    add_up(compiled, tile, raw, size - 1, rows.row_count);
    free(values);
    free(raw);
    return 0;
}
