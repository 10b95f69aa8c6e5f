/* Format 2 of set files: kinds, registers as text, programs by uuid, metrics and sets over an
 * index. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/formula/sets/set.h"
#include "tests/support/suite.h"

#define BASE                                                                                       \
    "format: 1\nunits: {u: {registers: [[0x100, 0xffff]]}, v: {}}\n"                               \
    "symbols: {Mask: {from: provider, type: u64}}\nlayouts:\n"                                     \
    "  - name: wide\n    kind: delta\n    record: 128\n    header: {ticks: {at: 0, width: 32, "    \
    "delta: 32}}\n    counters: {B: [{n: 8, at: 8, stride: 8, width: 64}], "                       \
    "C: [{n: 4, at: 72, stride: 8, width: 64}]}\n"
#define KINDS                                                                                      \
    "format: 2\nkinds:\n"                                                                          \
    "  raw: {description: d, type: raw, value_type: u64, class: exact}\n"                          \
    "  set: {description: d, domain: 0, unit: u, layout: wide, sampling: [time]}\n"
#define UUID "00000000-0000-0000-0000-00000000000"

/** Findings of one loading, a line each. */
struct findings {
    char text[2048];
};

static void keep(void *context, const struct zeta_diagnostic *diagnostic)
{
    struct findings *findings = context;
    const size_t used = strlen(findings->text);
    char line[ZETA_DIAGNOSTIC_BYTES];

    zeta_diagnostic_print(diagnostic, line, sizeof(line));
    (void)snprintf(findings->text + used, sizeof(findings->text) - used, "%s\n", line);
}

static struct zeta_catalog *load(const char *text, struct findings *findings)
{
    struct zeta_diagnostics sink = {.report = keep, .context = findings};
    struct zeta_catalog *catalog = zeta_catalog_create();

    assert_non_null(catalog);
    findings->text[0] = '\0';
    (void)zeta_catalog_add_text(catalog, text, strlen(text), "b.yaml", &sink);
    (void)zeta_catalog_add_text(catalog, BASE, strlen(BASE), "a.yaml", &sink);
    (void)zeta_catalog_link(catalog, &sink);
    return catalog;
}

static struct zeta_catalog *load_good(const char *text)
{
    struct findings findings;
    struct zeta_catalog *catalog = load(text, &findings);

    assert_string_equal(findings.text, "");
    return catalog;
}

static const struct zeta_set *set_of(const struct zeta_catalog *catalog, const char *name)
{
    const struct zeta_set *set = zeta_catalog_find_set(catalog, name);

    if (!set)
        fail_msg("there is no set %s", name);
    return set;
}

/** The program of a set as text: "address=value ". */
static void assert_program(const struct zeta_set *set, const char *expected)
{
    char text[512] = "";
    size_t used = 0;

    for (uint32_t i = 0; i < set->program_count; i++) {
        for (uint32_t j = 0; j < set->program[i].entry_count; j++)
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%x=%x ",
                                     set->program[i].entries[j].address,
                                     set->program[i].entries[j].value);
        used += (size_t)snprintf(text + used, sizeof(text) - used, "|");
    }
    assert_string_equal(text, expected);
}

/** The names of a set's metrics, with a blank behind each. */
static void assert_metrics(const struct zeta_set *set, const char *expected)
{
    char text[512] = "";
    size_t used = 0;

    for (uint32_t i = 0; i < set->metric_count; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s ", set->metrics[i].name);
    assert_string_equal(text, expected);
}

static void kind__members_that_are_missing__are_those_of_the_kind(void **state)
{
    struct zeta_catalog *catalog =
        load_good(KINDS "metrics:\n  M: {kind: raw, value: \"B[1]\", description: mine}\n"
                        "sets:\n  - {kind: set, name: s, domain: 3, metrics: "
                        "[M, {kind: raw, name: N, value: 1}]}\n");
    const struct zeta_set *set = set_of(catalog, "s");

    (void)state;
    assert_metrics(set, "M N ");
    assert_int_equal(set->domain, 3);
    assert_string_equal(set->description, "d");
    assert_string_equal(set->metrics[0].description, "mine");
    assert_string_equal(set->metrics[1].description, "d");
    zeta_catalog_destroy(catalog);
}

static void registers__text__same_writes_in_the_same_order(void **state)
{
    struct zeta_catalog *catalog = load_good(
        KINDS "blocks:\n  a: 200=1 2 300+=a b\n    c\n  b-2: <a> 200=3 <a>\n  none: \"\"\n"
              "programs:\n"
              "  " UUID "1: 400=ffffffff <b-2>\n"
              "  " UUID "2: [{when: $Mask & 1, registers: <none> 500=0 1},\n"
              "    {registers: [[0x600, 7]]}, {registers: 600=8}]\n"
              "metrics: {M: {kind: raw, value: 1}}\n"
              "sets:\n"
              "  - {kind: set, name: one, uuid: " UUID "1, metrics: [M]}\n"
              "  - {kind: set, name: two, uuid: " UUID "2, metrics: [M]}\n"
              "  - {kind: set, name: own, program: <a> 700=1, metrics: [M]}\n"
              "  - {kind: set, name: other, uuid: " UUID "3, metrics: [M],\n"
              "     program: [{registers: 800=1}]}\n");

    (void)state;
    assert_program(set_of(catalog, "one"), "400=ffffffff 200=1 200=2 300=a 304=b 308=c 200=3 "
                                           "200=1 200=2 300=a 304=b 308=c |");
    assert_program(set_of(catalog, "two"), "500=0 500=1 |600=7 |600=8 |");
    assert_program(set_of(catalog, "own"), "200=1 200=2 300=a 304=b 308=c 700=1 |");
    assert_program(set_of(catalog, "other"), "800=1 |");
    zeta_catalog_destroy(catalog);
}

static void shared__index_and_counters__one_metric_each(void **state)
{
    struct zeta_catalog *catalog = load_good(
        KINDS
        "metrics:\n"
        "  Bank: {kind: raw, index: n, name: \"Bank{n}Of{n % 2 + 10}\", value: \"{0} + 2 * {1}\",\n"
        "    when: \"$Mask & {1 << n}\", description: \"Bank {n}.\", max: \"{n}\"}\n"
        "  Sum: {kind: raw, value: \"{0} + {1} + {0}\"}\n"
        "  Core: {kind: raw, index: core, name: \"Core{core}\", value: \"{core}\"}\n"
        "  Plain: {kind: raw, value: 1}\n"
        "  Some: [Plain, Core 1..2]\n"
        "  All: [Some, \"Sum B7 C3\"]\n"
        "sets:\n"
        "  - {kind: set, name: s, metrics: [\"Bank 0..1 B3..B0\", All, \"Core 9 7..6\"]}\n");
    const struct zeta_set *set = set_of(catalog, "s");

    (void)state;
    assert_metrics(set, "Bank0Of10 Bank1Of11 Plain Core1 Core2 Sum Core9 Core7 Core6 ");
    assert_string_equal(set->metrics[1].description, "Bank 1.");
    assert_string_equal(set->metrics[1].file, "b.yaml");
    assert_int_equal(set->metrics[1].maximum->u.u64, 1);
    assert_int_equal(set->metrics[1].available->u.arg[1]->u.u64, 2);
    /* B[1] + 2 * B[0], as fields of the layout. */
    assert_int_equal(set->metrics[1].value->u.arg[0]->op, ZETA_EXPR_FIELD);
    assert_int_equal(set->metrics[1].value->u.arg[0]->u.ref.target,
                     set->metrics[1].value->u.arg[1]->u.arg[1]->u.ref.target + 1);
    zeta_catalog_destroy(catalog);
}

static void set__over_an_index__one_set_each(void **state)
{
    struct zeta_catalog *catalog = load_good(
        KINDS
        "programs: {" UUID "1: 200=1, " UUID "2: 200=2, " UUID "3: 200=3}\n"
        "metrics:\n  Core: {kind: raw, index: core, name: \"Core{core}\", value: \"{0}\"}\n"
        "sets:\n"
        "  - {kind: set, name: \"Cores{core / 2}\", for: {core: 4..0 by 2},\n"
        "     uuid: [" UUID "1, " UUID "2, " UUID "3], when: \"$Mask & {1 << core}\",\n"
        "     description: \"{core} and {core + 1}\",\n"
        "     metrics: [\"Core {core}..{core + 1} B0..B1\",\n"
        "       {kind: raw, name: \"Own{core}\", value: \"{core}\"}]}\n"
        "  - {kind: set, name: \"L{n}\", for: {n: [7, 3]}, metrics: [\"Core {n} C0\"]}\n"
        "  - {kind: set, name: plain, description: \"{braces}\", metrics: [\"Core 1 C0\"]}\n");

    (void)state;
    assert_int_equal(zeta_catalog_set_count(catalog), 6);
    assert_string_equal(zeta_catalog_set(catalog, 0)->name, "Cores2");
    assert_string_equal(zeta_catalog_set(catalog, 2)->name, "Cores0");
    assert_string_equal(zeta_catalog_set(catalog, 3)->name, "L7");
    assert_metrics(set_of(catalog, "Cores1"), "Core2 Core3 Own2 ");
    assert_metrics(set_of(catalog, "L3"), "Core3 ");
    assert_program(set_of(catalog, "Cores1"), "200=2 |");
    assert_string_equal(set_of(catalog, "Cores1")->uuid, UUID "2");
    assert_string_equal(set_of(catalog, "Cores1")->description, "2 and 3");
    assert_int_equal(set_of(catalog, "Cores1")->available->u.arg[1]->u.u64, 4);
    assert_string_equal(set_of(catalog, "plain")->description, "{braces}");
    zeta_catalog_destroy(catalog);
}

static void format_1__parts_of_format_2__unknown(void **state)
{
    struct findings findings;
    struct zeta_catalog *catalog = load("format: 1\nkinds: {}\nblocks: {}\n", &findings);

    (void)state;
    assert_string_equal(findings.text, "b.yaml:2:1: unknown key 'kinds' is ignored\n"
                                       "b.yaml:3:1: unknown key 'blocks' is ignored\n");
    zeta_catalog_destroy(catalog);
}

#define METRIC(text) KINDS "metrics:\n  M: {kind: raw, " text "}\n"
#define LONG_BANK "AccumulatorsOfTheWholeGraphicsEngine"
#define USE(metric, use) METRIC(metric) "sets:\n  - {kind: set, name: s, metrics: [\"" use "\"]}\n"
#define PROGRAM(text) KINDS "programs:\n  " UUID "1: " text "\n"
#define SET(text) KINDS "sets:\n  - {kind: set, metrics: [], " text "}\n"

static void faulty__each_mistake__file_line_and_sentence(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"format: 2\nkinds: {a: {kind: b}}\n", "b.yaml:2:12: kind a has a kind; kinds have none\n"},
        {"format: 2\nkinds: {a: 1}\n", "b.yaml:2:12: a kind must be a mapping, not a scalar\n"},
        {KINDS "metrics: {M: {kind: other}}\n",
         "b.yaml:5:21: unknown kind 'other'; a file declares it under 'kinds'\n"},
        {PROGRAM("200=1 <b>"),
         "b.yaml:6:41: unknown block 'b'; a file declares blocks before it uses them\n"},
        {PROGRAM("1 200=1"),
         "b.yaml:6:41: '1' is neither ADDRESS=VALUE, ADDRESS+=VALUE, VALUE behind one of them, in "
         "hexadecimal digits without 0x, nor <BLOCK>\n"},
        {PROGRAM("200=123456789"),
         "b.yaml:6:41: '200=123456789' is neither ADDRESS=VALUE, ADDRESS+=VALUE, VALUE behind one "
         "of them, in hexadecimal digits without 0x, nor <BLOCK>\n"},
        {KINDS "blocks: {a b: 200=1}\n",
         "b.yaml:5:15: the name of a block has letters, digits, '_' and '-'\n"},
        {KINDS "programs: {abc: 200=1}\n",
         "b.yaml:5:17: uuid has 32 digits, 0 to 9 and a to f, in the form "
         "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx\n"},
        {SET("name: s, uuid: " UUID "9"),
         "b.yaml:6:1: set s: there is no program for its uuid " UUID
         "9 under 'programs' of any file\n"},
        {SET("name: s, program: 10=1"),
         "b.yaml:6:1: set s has 0 metrics; 1 to 1024 are possible\n"},
        {METRIC("index: n, value: \"{m}\""),
         "b.yaml:6:35: {m} is no whole number over the index 'n'\n"},
        {METRIC("index: n, value: \"{n\""), "b.yaml:6:35: a brace has no partner in '{n'\n"},
        {METRIC("index: n, value: \"{n * 1.5}\""),
         "b.yaml:6:35: {n * 1.5} is no whole number over the index 'n'\n"},
        {METRIC("value: \"{1024}\""),
         "b.yaml:6:25: {1024}: counters of a metric are numbered up to 1023\n"},
        {USE("index: n, value: \"{n}\"", "M"), "b.yaml:8:36: M takes an index, none is given\n"},
        {USE("value: \"{0}\"", "M 1 B0"), "b.yaml:8:36: M takes no index\n"},
        {USE("value: 1", "M 1"), "b.yaml:8:36: M takes neither indexes nor counters\n"},
        {USE("index: n, value: \"{0}\"", "M 1..3 B0..B1"),
         "b.yaml:8:36: M takes 1 counter for each of 3 indexes; 2 given\n"},
        {USE("index: n, value: \"{0}\"", "M B0 1"),
         "b.yaml:8:36: '1' is neither an index (4, 0..15) nor, behind all of those, counters (B3, "
         "C7..C0)\n"},
        {USE("value: \"{0}\"", "M " LONG_BANK "1"),
         "b.yaml:6:25: layout wide has no counters " LONG_BANK "\n"
         "b.yaml:8:36: set s cannot use the shared metric M: see b.yaml:6\n"},
        {USE("index: n, value: \"{n}\"", "M 70000"),
         "b.yaml:8:36: '70000' is neither an index (4, 0..15) nor, behind all of those, counters "
         "(B3, C7..C0)\n"},
        {USE("index: n, name: \"{n}\", value: 1", "M 1"),
         "b.yaml:6:34: name '1': letters, digits and underscores are allowed, no comma, dot, colon "
         "or blank, and no digit at the start\n"
         "b.yaml:8:36: set s cannot use the shared metric M: see b.yaml:6\n"},
        {KINDS "metrics: {L: [K], K: [L]}\nsets:\n  - {kind: set, name: s, metrics: [L]}\n",
         "b.yaml:7:36: more than 8 lists of metrics in each other at L\n"},
        {SET("name: \"s{n}\", for: {n: 1..}"),
         "b.yaml:6:53: values of an index are a list, FIRST..LAST or FIRST..LAST by STEP, from 0 "
         "to 65535\n"},
        {SET("name: \"s{n}\", for: {n: [1, -2]}"),
         "b.yaml:6:57: a value of an index is 0 to 65535\n"},
        {SET("name: \"s{n}\", for: {n: 1, m: 2}"),
         "b.yaml:6:49: for has one index and its values\n"},
        {SET("name: \"s{n}\", for: {n: 1..2}, uuid: [" UUID "1]"),
         "b.yaml:6:66: uuid has to be a list with one for each of 2 sets\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct findings findings;
        struct zeta_catalog *catalog = load(cases[i].text, &findings);

        if (strcmp(findings.text, cases[i].expected) != 0)
            fail_msg("%s\nexpected: %sfound: %s", cases[i].text, cases[i].expected, findings.text);
        assert_int_equal(zeta_catalog_set_count(catalog), 0);
        zeta_catalog_destroy(catalog);
    }
}

/** A few bytes must not become all memory. */
static void blocks__that_double__bounded(void **state)
{
    char text[2048] = "format: 2\nblocks:\n  b0: 200=1 2\n";
    size_t used = strlen(text);
    struct findings findings;

    (void)state;
    for (int i = 1; i < 30; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "  b%d: <b%d> <b%d>\n", i, i - 1,
                                 i - 1);
    zeta_catalog_destroy(load(text, &findings));
    assert_non_null(strstr(findings.text, "b.yaml:16:8: more than 8192 register writes\n"));
}

SUITE(set_format2)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kind__members_that_are_missing__are_those_of_the_kind),
        cmocka_unit_test(registers__text__same_writes_in_the_same_order),
        cmocka_unit_test(shared__index_and_counters__one_metric_each),
        cmocka_unit_test(set__over_an_index__one_set_each),
        cmocka_unit_test(format_1__parts_of_format_2__unknown),
        cmocka_unit_test(faulty__each_mistake__file_line_and_sentence),
        cmocka_unit_test(blocks__that_double__bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
