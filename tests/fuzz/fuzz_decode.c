/*
 * Event records of any content given to the decoder. The first byte chooses which metrics are
 * decoded and the room for a part; "B" at the start of a slot makes it a BREAK. Decoding in parts
 * has to give what decoding at once gives.
 *
 * Rule 13.19.
 */
#include <stdlib.h>
#include <string.h>

#include "core/formula/compile/compile.h"
#include "core/formula/evaluate/decode.h"
#include "core/formula/record/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RECORD 32u
#define METRICS 4u
#define TILES 3u

static const char set_text[] =
    "format: 1\n"
    "units: {u: {}}\n"
    "layouts:\n"
    "  - name: l\n"
    "    kind: event\n"
    "    record: 32\n"
    "    header:\n"
    "      type: {at: 0, bit: 3, width: 9}\n"
    "      tile: {at: 2, width: 8}\n"
    "      ticks: {at: 8, width: 48}\n"
    "      x: {at: 16, width: 64}\n"
    "      f: {at: 24, width: 64, type: f64}\n"
    "    events: {enabled: 1, disabled: 2, a: 3, b: 4, c: 511}\n"
    "sets:\n"
    "  - {name: s, description: d, domain: 0, unit: u, layout: l, sampling: [tracer],\n"
    "     metrics: [\n"
    "       {name: A, description: d, type: raw, value_type: u64, class: exact, events: [a],\n"
    "        value: 'muldiv(x, x, ticks)'},\n"
    "       {name: AB, description: d, type: raw, value_type: f32, class: exact, events: [a, b],\n"
    "        value: 'f / f64(x)'},\n"
    "       {name: ABC, description: d, type: raw, value_type: u32, class: exact,\n"
    "        events: [a, b, c], value: 'u64(f) % x'},\n"
    "       {name: C, description: d, type: raw, value_type: bool8, class: exact, events: [c],\n"
    "        value: 'x << ticks'}]}\n";

static struct zeta_decode_plan *prepare(void)
{
    static struct zeta_decode_plan *plan;
    struct zeta_compiled *compiled[TILES] = {NULL, NULL, NULL};
    const struct zeta_decode_group group = {.compiled = compiled};
    const struct zeta_decode_source source = {.groups = &group,
                                              .group_count = 1,
                                              .tile_count = TILES,
                                              .timer_hz = 19200000,
                                              .timestamp_bits = 40};
    struct zeta_catalog *catalog;

    if (plan)
        return plan;
    catalog = zeta_catalog_create();
    if (!catalog ||
        zeta_catalog_add_text(catalog, set_text, strlen(set_text), "t", NULL) !=
            ZE_RESULT_SUCCESS ||
        zeta_catalog_link(catalog, NULL) != ZE_RESULT_SUCCESS ||
        zeta_set_compile(catalog, zeta_catalog_set(catalog, 0), NULL, NULL, &compiled[0]) !=
            ZE_RESULT_SUCCESS)
        abort();
    compiled[1] = compiled[2] = compiled[0];
    if (zeta_decode_plan_create(&source, &plan) != ZE_RESULT_SUCCESS)
        abort();
    return plan;
}

/** Puts in what noise would hardly ever be. */
static void shape(unsigned char *raw, size_t raw_bytes)
{
    for (size_t at = 0; at + RECORD <= raw_bytes; at += RECORD) {
        struct zeta_slot_control control = {.kind = ZETA_SLOT_BREAK, .value = raw[at + 1]};

        if (raw[at] == 'B')
            zeta_slot_write(&control, raw + at, RECORD);
    }
}

/** Decodes piece after piece, and compares with the numbers that the whole gave. */
static void decode_in_parts(const struct zeta_decode_plan *plan, struct zeta_decode_request request,
                            const uint64_t *counts, uint64_t room)
{
    zet_metric_entry_exp_t *entries = calloc((size_t)room + 1, sizeof(*entries));
    uint64_t given[TILES] = {0};

    if (!entries)
        abort();
    request.capacity = room;
    for (;;) {
        uint64_t part[TILES];
        struct zeta_decode_outcome outcome;

        if (zeta_decode(plan, &request, part, entries, &outcome) != ZE_RESULT_SUCCESS ||
            outcome.entry_count > room || outcome.consumed_bytes > request.raw_bytes)
            abort();
        for (uint32_t i = 0; i < TILES; i++)
            given[i] += part[i];
        for (uint64_t i = 0; i < outcome.entry_count; i++) {
            if (entries[i].metricIndex >= METRICS || entries[i].subdeviceId >= TILES)
                abort();
        }
        request.raw = (const unsigned char *)request.raw + outcome.consumed_bytes;
        request.raw_bytes -= outcome.consumed_bytes;
        if (outcome.first_needed == 0)
            break;
        if (outcome.consumed_bytes == 0)
            abort(); /* there is room for every event */
    }
    if (request.raw_bytes >= RECORD || memcmp(given, counts, sizeof(given)) != 0)
        abort();
    free(entries);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct zeta_decode_plan *plan = prepare();
    uint32_t names[METRICS];
    uint64_t counts[TILES];
    struct zeta_decode_outcome outcome;
    struct zeta_decode_request request = {
        .names = names, .set_count = TILES, .capacity = UINT64_MAX};
    unsigned char *raw;

    if (size == 0)
        return 0;
    raw = malloc(size);
    if (!raw)
        abort();
    memcpy(raw, data + 1, size - 1);
    shape(raw, size - 1);
    for (uint32_t i = 0; i < METRICS; i++)
        names[i] = data[0] >> i & 1 ? ZETA_DECODE_LEFT_OUT : METRICS - 1 - i;
    request.raw = raw;
    request.raw_bytes = size - 1;
    zeta_decode_count(plan, &request, counts, &outcome);
    if (outcome.entry_count != counts[0] + counts[1] + counts[2] || outcome.first_needed != 0 ||
        outcome.consumed_bytes != (size - 1) / RECORD * RECORD)
        abort();
    decode_in_parts(plan, request, counts, METRICS + (data[0] >> 4));
    free(raw);
    return 0;
}
