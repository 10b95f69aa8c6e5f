/* Set files with event layouts: what is kept, and each mistake with its line and reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/formula/sets/set.h"
#include "tests/support/suite.h"

/** A small file in order; tests replace one of its lines. Lines are counted from 1. */
static const char *const lines[] = {
    /*  1 */ "format: 1",
    /*  2 */ "units:",
    /*  3 */ "  u: {registers: [0x100]}",
    /*  4 */ "layouts:",
    /*  5 */ "  - name: trace",
    /*  6 */ "    kind: event",
    /*  7 */ "    record: 32",
    /*  8 */ "    header:",
    /*  9 */ "      type: {at: 0, width: 16}",
    /* 10 */ "      ticks: {at: 8, width: 64}",
    /* 11 */ "      tile: {at: 2, width: 8}",
    /* 12 */ "    events: {enabled: 1, disabled: 2, begin: 3, end: 4095}",
    /* 13 */ "    info:",
    /* 14 */ "      - {name: Tile, description: d, type: raw, value_type: u32, class: exact,",
    /* 15 */ "         events: [begin], value: tile}",
    /* 16 */ "sets:",
    /* 17 */ "  - name: first",
    /* 18 */ "    description: d",
    /* 19 */ "    domain: 0",
    /* 20 */ "    unit: u",
    /* 21 */ "    layout: trace",
    /* 22 */ "    sampling: [tracer]",
    /* 23 */ "    metrics:",
    /* 24 */ "      - {name: Begin, description: d, type: raw, value_type: u64, class: exact,",
    /* 25 */ "         events: [begin, end], value: type}",
};

#define LINE_COUNT (sizeof(lines) / sizeof(lines[0]))

static struct zeta_catalog *load(size_t line, const char *replacement,
                                 struct zeta_diagnostics *sink)
{
    struct zeta_catalog *catalog = zeta_catalog_create();
    char text[4096];
    size_t used = 0;

    assert_non_null(catalog);
    for (size_t i = 0; i < LINE_COUNT; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s\n",
                                 i + 1 == line ? replacement : lines[i]);
    (void)zeta_catalog_add_text(catalog, text, used, "f.yaml", sink);
    (void)zeta_catalog_link(catalog, sink);
    return catalog;
}

/** Replaces a line and expects this in the first error, and no set. */
static void refuse(size_t line, const char *replacement, const char *expected)
{
    struct zeta_diagnostics sink = {0};
    struct zeta_catalog *catalog = load(line, replacement, &sink);

    if (!strstr(sink.first_error, expected))
        fail_msg("%s\nexpected \"%s\", got \"%s\"", replacement, expected, sink.first_error);
    assert_int_equal(zeta_catalog_set_count(catalog), 0);
    zeta_catalog_destroy(catalog);
}

static void events__file_in_order__types_and_metrics_as_written(void **state)
{
    struct zeta_diagnostics sink = {0};
    struct zeta_catalog *catalog = load(0, "", &sink);
    const struct zeta_set *set;

    (void)state;
    assert_string_equal(sink.first_error, "");
    assert_int_equal(zeta_catalog_set_count(catalog), 1);
    set = zeta_catalog_set(catalog, 0);
    assert_int_equal(set->sampling, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED);
    assert_int_equal(set->layout->kind, ZETA_LAYOUT_EVENT);
    assert_int_equal(set->layout->event_count, 4);
    assert_string_equal(set->layout->events[3].name, "end");
    assert_int_equal(set->layout->events[3].number, 4095);
    assert_string_equal(set->layout->fields[set->layout->ticks_field].name, "ticks");
    assert_string_equal(set->layout->fields[set->layout->tile_field].name, "tile");
    assert_int_equal(set->metric_count, 2);
    assert_int_equal(set->metrics[0].event_count, 2);
    assert_int_equal(set->metrics[0].events[1].type, 4095);
    assert_true(set->metrics[1].is_info);
    assert_int_equal(set->metrics[1].events[0].type, 3);
    zeta_catalog_destroy(catalog);
}

static void events__tile_field_missing__is_allowed(void **state)
{
    struct zeta_diagnostics sink = {0};
    struct zeta_catalog *catalog = load(11, "      tile_too: {at: 2, width: 8}", &sink);

    (void)state;
    /* The info metric names it. */
    assert_non_null(strstr(sink.first_error, "unknown name tile"));
    zeta_catalog_destroy(catalog);
}

static void events__layout_with_a_mistake__is_refused(void **state)
{
    (void)state;
    refuse(6, "    kind: sample", "f.yaml:12:13: events belongs to layouts of kind event");
    refuse(7, "    record: 260", "at most 256 bytes");
    refuse(9, "      kind: {at: 0, width: 16}", "header field 'type'");
    refuse(10, "      time: {at: 8, width: 64}", "header field 'ticks'");
    refuse(10, "      ticks: {at: 8, width: 64, type: f64}", "is an integer");
    refuse(10, "      ticks: {at: 8, width: 64, delta: true}", "delta belongs to layouts");
    refuse(12, "", "needs 'events'");
    refuse(12, "    events: {}", "events must have 1 to 256 members, not 0");
    refuse(12, "    events: [begin]", "events");
    refuse(12, "    events: {begin: 0}", "integer from 1 to 4095");
    refuse(12, "    events: {begin: 4096}", "integer from 1 to 4095");
    refuse(12, "    events: {begin: 3, end: 3}", "begin and end have the same number 3");
    refuse(12, "    events: {a-b: 3}", "name 'a-b'");
    refuse(12, "    events: {begin: 3, end: 4}\n    identity: [type]",
           "identity does not belong to layouts of kind event");
    refuse(12, "    events: {begin: 3, end: 4}\n    baseline: 'type == 3'",
           "baseline does not belong to layouts of kind event");
}

static void events__set_with_a_mistake__is_refused(void **state)
{
    (void)state;
    refuse(22, "    sampling: [time]", "sampling [tracer], alone");
    refuse(22, "    sampling: [tracer, time]", "sampling [tracer], alone");
    refuse(22, "    sampling: [tracer]\n    program: [{registers: [[0x100, 1]]}]",
           "runs no program");
    refuse(25, "         value: type}", "metric Begin needs 'events'");
    refuse(25, "         events: [], value: type}", "events must have 1 to 256 members, not 0");
    refuse(25, "         events: begin, value: type}", "events");
    refuse(25, "         events: [nothing], value: type}",
           "f.yaml:25:19: layout trace has no event type 'nothing'");
    refuse(25, "         events: [enabled], value: type}", "about the tracer itself");
    refuse(25, "         events: [begin], value: before(type)}", "no earlier record");
    refuse(15, "         value: tile}", "metric Tile needs 'events'");
}

static void events__in_a_layout_of_another_kind__are_refused(void **state)
{
    static const char text[] =
        "format: 1\n"
        "units: {u: {}}\n"
        "layouts: [{name: l, kind: sample, record: 32, header: {a: {at: 0, width: 32}}}]\n"
        "sets:\n"
        "  - {name: s, description: d, domain: 0, unit: u, layout: l, sampling: [%s],\n"
        "     metrics: [{name: M, description: d, type: raw, value_type: u64, class: exact,\n"
        "                value: a%s}]}\n";
    static const char *const cases[][3] = {
        {"time", ", events: [x]", "is not of kind event"},
        {"tracer", "", "sampling [tracer], alone"},
        {"time, tracer", "", "sampling [tracer], alone"},
    };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct zeta_diagnostics sink = {0};
        struct zeta_catalog *catalog = zeta_catalog_create();
        char filled[1024];
        int length = snprintf(filled, sizeof(filled), text, cases[i][0], cases[i][1]);

        assert_non_null(catalog);
        assert_int_equal(zeta_catalog_add_text(catalog, filled, (size_t)length, "f.yaml", &sink),
                         ZE_RESULT_SUCCESS);
        assert_int_equal(zeta_catalog_link(catalog, &sink), ZE_RESULT_ERROR_INVALID_ARGUMENT);
        assert_non_null(strstr(sink.first_error, cases[i][2]));
        assert_int_equal(zeta_catalog_set_count(catalog), 0);
        zeta_catalog_destroy(catalog);
    }
}

SUITE(set_events)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events__file_in_order__types_and_metrics_as_written),
        cmocka_unit_test(events__tile_field_missing__is_allowed),
        cmocka_unit_test(events__layout_with_a_mistake__is_refused),
        cmocka_unit_test(events__set_with_a_mistake__is_refused),
        cmocka_unit_test(events__in_a_layout_of_another_kind__are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
