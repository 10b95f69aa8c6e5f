/* What exported data may say: sets that differ by tile, and contents that do not fit together. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/formula/describe/describe.h"
#include "core/formula/record/layout.h"
#include "core/metric/calculate/calculate.h"
#include "core/metric/export/export.h"
#include "core/util/error.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define RECORD 32u
#define SET(scale, record, sampling)                                                               \
    "format: 1\nsymbols: {Scale: {value: " scale "}}\nunits: {u: {}}\nlayouts:\n"                  \
    "  - {name: l, kind: sample, record: " record ", header: {id: {at: 0, width: 32}}}\nsets:\n"   \
    "  - {name: s, description: d, domain: 0, unit: u, layout: l, sampling: [" sampling "],\n"     \
    "     metrics: [{name: M, description: d, type: raw, value_type: u64, class: exact,\n"         \
    "                value: \"now(id) * $Scale\"}]}\n"
#define LINES(tiles) "sampling: time\nrecord: 32\ntiles: " tiles "\n"

/** Chunks of an export, as they are written one after the other. */
struct piece {
    enum zeta_chunk_type type;
    uint32_t number;
    const char *text;   /**< terminated */
    const char *digest; /**< of this text: lines "set" and "digest" are added; NULL: nothing */
    const char *second; /**< of the second tile */
};

static size_t add_digest(char *target, size_t room, uint32_t number, const char *set)
{
    return (size_t)snprintf(target, room, "set: %u\ndigest: %016" PRIx64 "\n", number,
                            zeta_describe_digest(set, strlen(set)));
}

/** Writes an export with raw data of that many bytes, unless it is SIZE_MAX. */
static size_t write_export(const struct piece *pieces, uint32_t count, const uint8_t *raw,
                           size_t raw_bytes, uint8_t *buffer, size_t capacity)
{
    struct zeta_container_writer *writer = NULL;
    size_t size;

    assert_int_equal(zeta_container_create_memory(buffer, capacity, ZETA_CONTAINER_EXPORT, &writer),
                     ZETA_CONTAINER_OK);
    for (uint32_t i = 0; i < count; i++) {
        char text[2048];
        struct zeta_container_part part = {text, 0};
        size_t used = (size_t)snprintf(text, sizeof(text), "%s", pieces[i].text);

        if (pieces[i].digest)
            used += add_digest(text + used, sizeof(text) - used, 1, pieces[i].digest);
        if (pieces[i].second)
            used += add_digest(text + used, sizeof(text) - used, 2, pieces[i].second);
        part.bytes = used;
        assert_int_equal(zeta_container_append(writer, pieces[i].type, pieces[i].number, &part, 1),
                         ZETA_CONTAINER_OK);
    }
    if (raw_bytes != SIZE_MAX) {
        const struct zeta_container_part part = {raw, raw_bytes};

        assert_int_equal(zeta_container_append(writer, ZETA_CHUNK_DATA, 1, &part, 1),
                         ZETA_CONTAINER_OK);
    }
    assert_int_equal(zeta_container_finish(writer), ZETA_CONTAINER_OK);
    size = (size_t)zeta_container_size(writer);
    zeta_container_writer_destroy(writer);
    assert_cmp(size, <=, capacity);
    return size;
}

/* Rules 16.8, 16.9. */
static void open__tiles_with_sets_of_their_own__each_its_values(void **state)
{
    static const char first[] = SET("2", "32", "time");
    static const char second[] = SET("3", "32", "time");
    const struct piece pieces[] = {
        {ZETA_CHUNK_SET, 1, first, NULL, NULL},
        {ZETA_CHUNK_SET, 2, second, NULL, NULL},
        {(enum zeta_chunk_type)777, 5, "of a later version", NULL, NULL},
        {ZETA_CHUNK_STREAM, 1, "later: line\n" LINES("2"), first, second},
    };
    const struct zeta_slot_control tile = {.kind = ZETA_SLOT_TILE, .value = 1};
    uint8_t raw[5 * RECORD] = {0};
    uint8_t buffer[8192];
    struct zeta_export export;
    struct zeta_calculation calculation;
    zet_typed_value_t values[8];
    uint32_t counts[2] = {0, 0};
    uint32_t sets = 2;
    uint32_t total = 8;
    size_t size;

    (void)state;
    for (uint32_t i = 0; i < 5; i++)
        raw[i * (size_t)RECORD] = (uint8_t)(10 + i);
    zeta_slot_write(&tile, raw + (size_t)2 * RECORD, RECORD);
    size = write_export(pieces, 4, raw, sizeof(raw), buffer, sizeof(buffer));
    if (zeta_export_open(buffer, size, &export) != ZE_RESULT_SUCCESS)
        fail_msg("%s", zeta_error_describe());
    calculation = (struct zeta_calculation){export.compiled, export.tile_count, export.raw,
                                            export.raw_bytes, 0};
    assert_int_equal(zeta_calculate_sets(&calculation,
                                         ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, &sets,
                                         &total, counts, values),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(sets, 2);
    assert_int_equal(total, 4);
    assert_int_equal(counts[0], 2);
    assert_int_equal(counts[1], 2);
    assert_int_equal(values[0].value.ui64, 20);
    assert_int_equal(values[1].value.ui64, 22);
    assert_int_equal(values[2].value.ui64, 39);
    assert_int_equal(values[3].value.ui64, 42);
    zeta_export_close(&export);
}

/* Rule 16.7. */
static void open__contents_that_do_not_fit__say_why(void **state)
{
    static const char set[] = SET("2", "32", "time");
    static const char wide[] = SET("2", "64", "time");
    static const char other[] = SET("3", "32", "time");
#define GOOD                                                                                       \
    {                                                                                              \
        ZETA_CHUNK_SET, 1, set, NULL, NULL                                                         \
    }
    static const struct {
        struct piece pieces[4];
        uint32_t count;
        size_t raw_bytes;
        ze_result_t result;
        const char *reason;
    } cases[] = {
        {{GOOD, {ZETA_CHUNK_STREAM, 1, LINES("1"), set, NULL}}, 2, RECORD, 0, NULL},
        {{GOOD, {ZETA_CHUNK_STREAM, 1, LINES("1"), set, NULL}}, 2, 0, 0, NULL},
        {{GOOD, {ZETA_CHUNK_STREAM, 1, LINES("1"), set, NULL}},
         2,
         SIZE_MAX,
         ZE_RESULT_ERROR_INVALID_ARGUMENT,
         "lacks its set, its stream or its raw data"},
        {{GOOD}, 1, RECORD, ZE_RESULT_ERROR_INVALID_ARGUMENT, "lacks"},
        {{{ZETA_CHUNK_STREAM, 1, LINES("1"), set, NULL}},
         1,
         RECORD,
         ZE_RESULT_ERROR_INVALID_ARGUMENT,
         "lacks"},
        {{GOOD, {ZETA_CHUNK_STREAM, 1, LINES("1"), set, NULL}},
         2,
         RECORD + 1,
         ZE_RESULT_ERROR_INVALID_ARGUMENT,
         "not made of records"},
        {{{ZETA_CHUNK_SET, 1, wide, NULL, NULL}, {ZETA_CHUNK_STREAM, 1, LINES("1"), wide, NULL}},
         2,
         RECORD * 2,
         ZE_RESULT_ERROR_INVALID_ARGUMENT,
         "not made of records"},
        {{GOOD, {ZETA_CHUNK_STREAM, 1, LINES("1"), other, NULL}},
         2,
         RECORD,
         ZE_RESULT_ERROR_INVALID_ARGUMENT,
         "digest"},
        {{GOOD, {ZETA_CHUNK_STREAM, 1, LINES("2"), set, other}},
         2,
         RECORD,
         ZE_RESULT_ERROR_INVALID_ARGUMENT,
         "names a set that is not there"},
        {{GOOD, {ZETA_CHUNK_STREAM, 1, LINES("2"), set, NULL}},
         2,
         RECORD,
         ZE_RESULT_ERROR_INVALID_ARGUMENT,
         "does not name a set for each tile"},
        {{GOOD,
          {ZETA_CHUNK_SET, 2, wide, NULL, NULL},
          {ZETA_CHUNK_STREAM, 1, LINES("2"), set, wide}},
         3,
         RECORD,
         ZE_RESULT_ERROR_INVALID_ARGUMENT,
         "do not fit together"},
        {{GOOD, {ZETA_CHUNK_STREAM, 1, LINES("0"), set, NULL}},
         2,
         RECORD,
         ZE_RESULT_ERROR_INVALID_ARGUMENT,
         "no number of tiles"},
        {{GOOD, {ZETA_CHUNK_STREAM, 1, LINES("65"), set, NULL}},
         2,
         RECORD,
         ZE_RESULT_ERROR_INVALID_ARGUMENT,
         "no number of tiles"},
        {{GOOD, {ZETA_CHUNK_STREAM, 1, "sampling: never\nrecord: 32\ntiles: 1\n", set, NULL}},
         2,
         RECORD,
         ZE_RESULT_ERROR_INVALID_ARGUMENT,
         "sampling"},
        {{GOOD, {ZETA_CHUNK_STREAM, 1, "sampling: event\nrecord: 32\ntiles: 1\n", set, NULL}},
         2,
         RECORD,
         ZE_RESULT_ERROR_INVALID_ARGUMENT,
         "not event-based"},
        {{GOOD, {ZETA_CHUNK_STREAM, 1, "sampling: tracer\nrecord: 32\ntiles: 1\n", set, NULL}},
         2,
         RECORD,
         ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
         "of a tracer"},
        {{GOOD, GOOD, {ZETA_CHUNK_STREAM, 1, LINES("1"), set, NULL}},
         3,
         RECORD,
         ZE_RESULT_ERROR_INVALID_ARGUMENT,
         "not numbered"},
        {{GOOD,
          {ZETA_CHUNK_STREAM, 1, LINES("1"), set, NULL},
          {ZETA_CHUNK_STREAM, 2, LINES("1"), set, NULL}},
         3,
         RECORD,
         ZE_RESULT_ERROR_INVALID_ARGUMENT,
         "more than one stream"},
        {{GOOD,
          {ZETA_CHUNK_STREAM, 1, LINES("1"), set, NULL},
          {ZETA_CHUNK_DATA, 1, "", NULL, NULL}},
         3,
         RECORD,
         ZE_RESULT_ERROR_INVALID_ARGUMENT,
         "more than one piece"},
    };
#undef GOOD
    static const uint8_t raw[4 * RECORD] = {1};
    uint8_t buffer[16384];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct zeta_export export;
        const size_t size = write_export(cases[i].pieces, cases[i].count, raw, cases[i].raw_bytes,
                                         buffer, sizeof(buffer));
        const ze_result_t result = zeta_export_open(buffer, size, &export);

        if (result != cases[i].result)
            fail_msg("case %zu: 0x%x: %s", i, (unsigned)result, zeta_error_describe());
        if (cases[i].reason && !strstr(zeta_error_describe(), cases[i].reason))
            fail_msg("case %zu: %s", i, zeta_error_describe());
        if (result == ZE_RESULT_SUCCESS)
            zeta_export_close(&export);
    }
}

static void open__recording__is_refused(void **state)
{
    struct zeta_container_writer *writer = NULL;
    uint8_t buffer[512];
    struct zeta_export export;

    (void)state;
    assert_int_equal(
        zeta_container_create_memory(buffer, sizeof(buffer), ZETA_CONTAINER_RECORDING, &writer),
        ZETA_CONTAINER_OK);
    assert_int_equal(zeta_container_finish(writer), ZETA_CONTAINER_OK);
    assert_int_equal(zeta_export_open(buffer, (size_t)zeta_container_size(writer), &export),
                     ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(zeta_error_describe(), "zeta calc"));
    zeta_container_writer_destroy(writer);
}

SUITE(contents)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open__tiles_with_sets_of_their_own__each_its_values),
        cmocka_unit_test(open__contents_that_do_not_fit__say_why),
        cmocka_unit_test(open__recording__is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
