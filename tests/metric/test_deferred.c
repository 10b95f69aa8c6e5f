/* Sets that are linked when they are compiled: the same sets, mistakes found later, many threads.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/formula/compile/compile.h"
#include "core/formula/describe/describe.h"
#include "core/formula/evaluate/sum.h"
#include "core/util/error.h"
#include "tests/metric/support.h"
#include "tests/support/suite.h"

#define UUID "00000000-0000-0000-0000-00000000000"
#define SETS                                                                                       \
    "format: 2\nunits: {u: {registers: [[0x100, 0xffff]]}, v: {}, t: {}}\n"                        \
    "symbols: {Mask: {from: provider, type: u64}}\nlayouts:\n"                                     \
    "  - name: wide\n    kind: delta\n    record: 128\n"                                           \
    "    header: {ticks: {at: 0, width: 32, delta: 32}}\n"                                         \
    "    counters: {B: [{n: 8, at: 8, stride: 8, width: 64}]}\n"                                   \
    "    info:\n      - {name: Ticks, description: d, type: raw, value_type: u64, class: exact, "  \
    "value: ticks + 1}\n"                                                                          \
    "  - {name: trace, kind: event, record: 64, events: {enabled: 1, disabled: 2, begin: 3},\n"    \
    "     header: {type: {at: 0, width: 16}, ticks: {at: 8, width: 64}}}\n"                        \
    "kinds:\n  raw: {description: d, type: raw, value_type: u64, class: exact}\n"                  \
    "  set: {description: d, domain: 0, unit: u, layout: wide, sampling: [time, event]}\n"         \
    "blocks:\n  low: 100=1 2\nprograms:\n  " UUID "1: 200=7 <low>\n  " UUID "2: [{registers: "     \
    "[[0x300, 1]], when: $Mask}]\nmetrics:\n  Sum: {kind: raw, value: \"B[0] + B[1]\"}\n"          \
    "  Twice: {kind: raw, value: Sum * 2}\n"                                                       \
    "  One: {kind: raw, index: i, name: \"One{i}\", value: \"{0} + {i}\", when: \"$Mask & "        \
    "{i}\"}\n"                                                                                     \
    "  Begin: {kind: raw, index: i, name: \"Begin{i}\", value: ticks, events: [begin]}\n"          \
    "  List: [Sum, Twice]\nsets:\n"                                                                \
    "  - {kind: set, name: \"s{i}\", for: {i: 1..2}, uuid: [" UUID "1, " UUID "2], metrics: "      \
    "[List, \"One 1..3 B0..B2\", {kind: raw, name: Own, value: \"Sum + B[3]\"}],\n"                \
    "     also: [{name: \"t{i}\", unit: v, domain: 2}]}\n"                                         \
    "  - {kind: set, name: gone, when: \"$Mask == 0\", metrics: [List]}\n"                         \
    "  - {kind: set, name: e, unit: t, layout: trace, sampling: [tracer], metrics: [Begin "        \
    "1..2]}\n"

static const struct reference_symbol symbols[] = {{"Mask", {ZETA_EXPR_U64, {.u64 = 1}}},
                                                  {NULL, {ZETA_EXPR_U64, {.u64 = 0}}}};

/** A catalog of one text, linked; findings go to the sink. */
static struct zeta_catalog *read_sets(const char *text, bool defers, struct zeta_diagnostics *sink)
{
    struct zeta_catalog *catalog = zeta_catalog_create();

    assert_non_null(catalog);
    zeta_catalog_defer(catalog, defers);
    if (zeta_catalog_add_text(catalog, text, strlen(text), "a.yaml", sink) != ZE_RESULT_SUCCESS)
        fail_msg("%s", sink->first_error);
    (void)zeta_catalog_link(catalog, sink);
    return catalog;
}

static struct zeta_text describe(const struct zeta_compiled *compiled)
{
    struct zeta_text text = {0};

    assert_int_equal(zeta_describe_set(compiled, &text), ZE_RESULT_SUCCESS);
    return text;
}

static void deferred__every_set__the_same_as_at_once(void **state)
{
    struct zeta_diagnostics sink = {0};
    struct zeta_catalog *at_once = read_sets(SETS, false, &sink);
    struct zeta_catalog *later = read_sets(SETS, true, &sink);
    const struct zeta_symbol_lookup lookup = lookup_of(symbols);

    (void)state;
    assert_string_equal(sink.first_error, "");
    assert_int_equal(zeta_catalog_set_count(at_once), 6);
    assert_int_equal(zeta_catalog_set_count(later), 6);
    for (uint32_t i = 0; i < 6; i++) {
        const struct zeta_set *sets[] = {zeta_catalog_set(at_once, i), zeta_catalog_set(later, i)};
        const bool queries =
            (sets[0]->sampling & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED) != 0;

        assert_null(sets[0]->deferred);
        assert_non_null(sets[1]->deferred);
        for (int query = 0; query <= queries; query++) {
            struct zeta_compiled *compiled[2] = {NULL, NULL};
            struct zeta_text texts[2];

            for (int k = 0; k < 2; k++) {
                const ze_result_t result = (query ? zeta_set_compile_query : zeta_set_compile)(
                    k == 0 ? at_once : later, sets[k], &lookup, NULL, &compiled[k]);

                assert_int_equal(result, strcmp(sets[k]->name, "gone") == 0
                                             ? ZE_RESULT_ERROR_UNSUPPORTED_FEATURE
                                             : ZE_RESULT_SUCCESS);
            }
            if (!compiled[0])
                continue;
            for (int k = 0; k < 2; k++)
                texts[k] = describe(compiled[k]);
            assert_string_equal(zeta_text_get(&texts[0]), zeta_text_get(&texts[1]));
            assert_int_equal(zeta_compiled_longest_ns(compiled[0]),
                             zeta_compiled_longest_ns(compiled[1]));
            for (int k = 0; k < 2; k++) {
                zeta_text_finish(&texts[k]);
                zeta_compiled_destroy(compiled[k]);
            }
        }
    }
    zeta_catalog_destroy(at_once);
    zeta_catalog_destroy(later);
}

/* Mistakes of deferred sets: found with their place by the first use, not by linking. Rule 10.19.
 */
static void deferred__mistakes__found_by_the_first_use(void **state)
{
    static const struct {
        const char *text, *finding;
    } mistakes[] = {
        {"programs:\n  " UUID "1: 200=7 <low>\nsets:\n  - {kind: set, name: s, uuid: " UUID
         "1, metrics: [M]}\n",
         "unknown block 'low'"},
        {"programs:\n  " UUID "1: 7=7\nsets:\n  - {kind: set, name: s, uuid: " UUID
         "1, metrics: [M]}\n",
         "register 0x7 is not among those"},
        {"programs:\n  " UUID "1:\n    - {registers: 200=7 <low>, when: 1}\nblocks:\n  up: 100=1\n"
         "  low: <high>\n  high: 100=1\nsets:\n  - {kind: set, name: s, uuid: " UUID
         "1, metrics: [M]}\n",
         "unknown block 'high'"},
        {"programs:\n  " UUID "1: <low>\nblocks:\n  low: [100=1]\nsets:\n  - {kind: set, name: s, "
         "uuid: " UUID "1, metrics: [M]}\n",
         "a block of registers must be a scalar"},
        {"programs:\n  " UUID
         "1:\n    - {registers: 200=7, when: $No}\nsets:\n  - {kind: set, name: "
         "s, uuid: " UUID "1, metrics: [M]}\n",
         "unknown symbol $No"},
        {"sets:\n  - {kind: set, name: s, metrics: [N]}\n", "unknown shared metric 'N'"},
        {"sets:\n  - {kind: set, name: s, metrics: M}\n", "must be a sequence"},
        {"sets:\n  - {kind: set, name: s, metrics: [M, M]}\n", "metric M is already declared"},
        {"sets:\n  - {kind: set, name: s, metrics: [{kind: raw, name: X, value: C}]}\n",
         "unknown name C"},
        {"sets:\n  - {kind: set, name: s, sampling: [event], metrics: [{kind: raw, name: X, value: "
         "before(ticks)}, {kind: raw, name: Y, value: \"before(B[1])\"}]}\n",
         "no event sampling"},
    };
    static const char head[] =
        "format: 2\nunits: {u: {registers: [[0x100, 0xffff]]}}\nlayouts:\n"
        "  - {name: wide, kind: delta, record: 64, header: {ticks: {at: 0, width: 32, delta: "
        "32}},\n"
        "     counters: {B: [{n: 4, at: 8, stride: 8, width: 64}]}}\n"
        "kinds:\n  raw: {description: d, type: raw, value_type: u64, class: exact}\n"
        "  set: {description: d, domain: 0, unit: u, layout: wide, sampling: [time]}\n"
        "metrics: {M: {kind: raw, value: ticks}}\n";

    (void)state;
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        static const uint8_t raw[128];
        struct zeta_diagnostics linking = {0}, compiling = {0};
        struct zeta_evaluation found;
        struct zeta_compiled *compiled = NULL;
        struct zeta_sum_plan *plan = NULL;
        struct zeta_text text = {0};
        struct zeta_catalog *catalog;
        const struct zeta_program_entry *entries;
        const struct zeta_set *set;
        char whole[2048];
        bool query;

        (void)snprintf(whole, sizeof(whole), "%s%s", head, mistakes[i].text);
        catalog = read_sets(whole, true, &linking);
        assert_string_equal(linking.first_error, "");
        assert_int_equal(zeta_catalog_set_count(catalog), 1);
        set = zeta_catalog_set(catalog, 0);
        query = set->sampling == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED;
        assert_int_equal((query ? zeta_set_compile_query : zeta_set_compile)(catalog, set, NULL,
                                                                             &compiling, &compiled),
                         ZE_RESULT_SUCCESS);
        assert_int_equal(zeta_compiled_check(compiled), ZE_RESULT_ERROR_INVALID_ARGUMENT);
        assert_non_null(strstr(zeta_error_describe(), "cannot be used on this device"));
        assert_int_equal(zeta_compiled_metric_count(compiled), 0);
        assert_int_equal(zeta_compiled_program(compiled, &entries), 0);
        assert_int_equal(zeta_compiled_longest_ns(compiled), 0);
        assert_int_equal(zeta_evaluate_count(compiled, sizeof(raw)), 0);
        assert_int_equal(zeta_evaluate(compiled, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, 0,
                                       0, raw, sizeof(raw), NULL, 0, &found),
                         ZE_RESULT_ERROR_INVALID_ARGUMENT);
        assert_int_equal(zeta_evaluate_rows(compiled, 0, 0, raw, sizeof(raw), &found),
                         ZE_RESULT_ERROR_INVALID_ARGUMENT);
        assert_int_equal(zeta_sum_plan_create(compiled, false, &plan),
                         ZE_RESULT_ERROR_INVALID_ARGUMENT);
        assert_int_equal(zeta_describe_set(compiled, &text), ZE_RESULT_ERROR_INVALID_ARGUMENT);
        zeta_compiled_destroy(compiled);
        zeta_catalog_destroy(catalog);

        /* Who checks the file links all of it, and finds the same. */
        linking = (struct zeta_diagnostics){0};
        catalog = zeta_catalog_create();
        (void)zeta_catalog_add_text(catalog, whole, strlen(whole), "a.yaml", &linking);
        (void)zeta_catalog_link(catalog, &linking);
        assert_non_null(strstr(linking.first_error, mistakes[i].finding));
        zeta_catalog_destroy(catalog);
    }
}

/** Findings of a set's first use, a line each. */
struct first_use {
    char text[1024];
};

static void keep_finding(void *context, const struct zeta_diagnostic *finding)
{
    struct first_use *use = context;
    const size_t used = strlen(use->text);
    char line[ZETA_DIAGNOSTIC_BYTES];

    zeta_diagnostic_print(finding, line, sizeof(line));
    (void)snprintf(use->text + used, sizeof(use->text) - used, "%s\n", line);
}

#define LATE_HEAD                                                                                  \
    "format: 2\nunits: {u: {}}\nlayouts:\n"                                                        \
    "  - {name: wide, kind: delta, record: 64, header: {ticks: {at: 0, width: 32, delta: 32}}}\n"  \
    "kinds:\n  raw: {description: d, type: raw, value_type: u64, class: exact}\n"                  \
    "  set: {description: d, domain: 0, unit: u, layout: wide, sampling: [time]}\nmetrics:\n"

/* Entries are parsed at their first use, with the place where they are in their file; other entries
 * and other sets are as usable as before. Rule 10.19. */
static void deferred__mistakes_of_entries__reported_with_their_place(void **state)
{
    static const struct {
        const char *text, *findings;
        bool reads; /**< the file is taken */
    } mistakes[] = {
        {LATE_HEAD
         "  M: {kind: raw, value: ticks}\n  N: {kind: raw, value: ticks +}\nsets:\n  - {kind: "
         "set, name: s, metrics: [N]}\n",
         "a.yaml:10:32: an operand is expected, but the expression ends\n"
         "a.yaml:12:36: set s cannot use the shared metric N: see a.yaml:10\n",
         true},
        {LATE_HEAD "  M: {kind: raw, value: 'ticks}\n  N: {kind: raw, value: ticks'}\nsets:\n"
                   "  - {kind: set, name: s, metrics: [M]}\n",
         "a.yaml:10:1: YAML syntax: found unexpected end of stream (while scanning a quoted scalar "
         "that "
         "starts in line 9)\n"
         "a.yaml:12:36: set s cannot use the shared metric M: see a.yaml:9\n",
         true},
        {LATE_HEAD
         "  M: {kind: row, value: ticks}\nsets:\n  - {kind: set, name: s, metrics: [M]}\n",
         "a.yaml:9:13: unknown kind 'row'; a file declares it under 'kinds'\n"
         "a.yaml:11:36: set s cannot use the shared metric M: see a.yaml:9\n",
         true},
        {LATE_HEAD "  M: {kind: raw, value: ticks}\nprograms:\n  " UUID "1: 1=1 <b>\nblocks:\n"
                   "  b: 1=x\nsets:\n  - {kind: set, name: s, uuid: " UUID "1, metrics: [M]}\n",
         "a.yaml:13:6: '1=x' is neither ADDRESS=VALUE, ADDRESS+=VALUE, VALUE behind one of them, "
         "in "
         "hexadecimal digits without 0x, nor <BLOCK>\n",
         true},
        {LATE_HEAD "  M: {kind: raw, value: ticks}\nsets:\n  - {kind: set, name: s,\n    metrics: "
                   "[M,\n      X]}\n",
         "a.yaml:13:7: unknown shared metric 'X'; such metrics are declared under 'metrics' at the "
         "top of a set file\n",
         true},
        {LATE_HEAD "  M: {kind: raw, value: ticks}\nsets:\n  - {kind: set, name: s,\n    metrics: "
                   "[M,\n      \"M\"X]}\n",
         "a.yaml:13:10: YAML syntax: did not find expected ',' or ']' (while parsing a flow "
         "sequence that starts in line 12)\n",
         true},
        {LATE_HEAD "  M: {kind: raw, value: ticks}\nsets:\n  - {kind: set, name: s,\n    metrics: "
                   "[M,\n      M], domain: x}\n",
         "a.yaml:13:19: domain must be an integer from 0 to 1023\n", false},
        /* What a list of sets needs is found at once, and so are names that are there twice. */
        {LATE_HEAD "  M: {kind: raw, value: ticks}\nblocks:\n  b: 1=1\n  b: 1=2\nsets: []\n",
         "a.yaml:12:3: block b is already declared in line 11\n", false},
        {LATE_HEAD "  M: {kind: raw, value: ticks}\nprograms:\n  0000: 1=1\nsets: []\n",
         "a.yaml:11:3: uuid has 32 digits, 0 to 9 and a to f, in the form "
         "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx\n",
         false},
        {LATE_HEAD "  M: {kind: raw, value: ticks}\nmetrics: {}\n",
         "a.yaml:10:1: key 'metrics' appears twice; the first one is in line 8\n", false},
        {LATE_HEAD "  M: {kind: raw, value: ticks}\n N: {kind: raw, value: ticks}\n",
         "a.yaml:10:2: YAML syntax: did not find expected key (while parsing a block mapping that "
         "starts in line 1)\n",
         false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        struct first_use use = {""};
        struct zeta_diagnostics sink = {.report = keep_finding, .context = &use};
        struct zeta_catalog *catalog = zeta_catalog_create();
        const char *text = mistakes[i].text;
        struct zeta_compiled *compiled = NULL;

        assert_non_null(catalog);
        zeta_catalog_defer(catalog, true);
        assert_int_equal(zeta_catalog_add_whole(catalog, "a.yaml", text, strlen(text), &sink),
                         mistakes[i].reads ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT);
        if (mistakes[i].reads) {
            assert_int_equal(zeta_catalog_link(catalog, &sink), ZE_RESULT_SUCCESS);
            assert_string_equal(use.text, "");
            assert_int_equal(
                zeta_set_compile(catalog, zeta_catalog_set(catalog, 0), NULL, &sink, &compiled),
                ZE_RESULT_SUCCESS);
            assert_int_equal(zeta_compiled_check(compiled), ZE_RESULT_ERROR_INVALID_ARGUMENT);
        }
        assert_string_equal(use.text, mistakes[i].findings);
        zeta_compiled_destroy(compiled);
        zeta_catalog_destroy(catalog);
    }
}

/* Comments, blank lines, quotes, folded lines and other columns: an entry is what YAML says. */
static void deferred__entries_as_yaml_allows__the_same_as_at_once(void **state)
{
    static const char *const texts[] = {
        "  # of all\n  M: {kind: raw, # one\n\n    value: ticks}\n\n# two\n  N:\n    kind: raw\n"
        "# three\n    value: M + 1\nblocks: # none yet\n",
        "    M: {kind: raw, value: ticks}\n    N: {kind: raw, description: \"a b\n      c: d # e\","
        "\n      value:\n        M + 1}\n",
        "  \"M\": {kind: raw, value: ticks}\n  N: {kind: raw, value: M + 1}\n",
        "  M: {kind: raw, value: ticks}\n  N: {kind: raw,\nvalue: M + 1}\n",
        "  M: {kind: raw, value: ticks}\n  N:\n    description: \"x\n      M: n\"\n    kind: raw\n "
        "   "
        "value: M "
        "+ 1\n",
#define MN "  M: {kind: raw, value: ticks}\n  N: {kind: raw, value: M + 1}\nsets:\n"
        MN "  - {kind: set, name: s,\n    metrics: [N, # one\n      M]}\n",
        MN "  - {kind: set, name: s,\n    metrics: [N,\n      \"M\"\n  ], description: \"[x]\"}\n",
        MN "  - kind: set\n    name: s\n    description: \"x\n      metrics: [y]\n      z\"\n"
           "    metrics: [N, {kind: raw, name: Own, value: M}, M]\n",
        MN "  - {kind: set, name: \"s{i}\", for: {i: [3]}, program: [],\n    uuid: [\n      " UUID
           "1 ],\n    metrics: [N, M]}\n",
        MN "  - {kind: set, name: \"s{i}\", for: {i: [3]}, program: [],\n    uuid: [ " UUID
           "1, " UUID "2],\n    metrics: [N, M]}\n",
        MN "  - {kind: set, name: \"s{i}\", for: {i: [3]}, program: [],\n    uuid: [0-0],\n"
           "    metrics: [N, M]}\n",
#undef MN
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char text[2048];
        char *found[2] = {NULL, NULL};

        (void)snprintf(
            text, sizeof(text), "%s%s%s", LATE_HEAD, texts[i],
            strstr(texts[i], "sets:") ? "" : "sets:\n  - {kind: set, name: s, metrics: [N, M]}\n");
        for (int defers = 0; defers < 2; defers++) {
            struct first_use use = {""};
            struct zeta_diagnostics sink = {.report = keep_finding, .context = &use};
            struct zeta_catalog *catalog = zeta_catalog_create();
            struct zeta_compiled *compiled = NULL;

            assert_non_null(catalog);
            zeta_catalog_defer(catalog, defers);
            (void)zeta_catalog_add_text(catalog, text, strlen(text), "a.yaml", &sink);
            (void)zeta_catalog_link(catalog, &sink);
            if (zeta_catalog_set_count(catalog) == 1)
                (void)zeta_set_compile(catalog, zeta_catalog_set(catalog, 0), NULL, &sink,
                                       &compiled);
            if (compiled && zeta_compiled_check(compiled) == ZE_RESULT_SUCCESS)
                found[defers] = describe(compiled).data;
            else
                found[defers] = strdup(use.text);
            zeta_compiled_destroy(compiled);
            zeta_catalog_destroy(catalog);
        }
        assert_string_equal(found[0], found[1]);
        free(found[0]);
        free(found[1]);
    }
}

/* Blocks in blocks: as deep as they may be, and deeper. */
static void deferred__blocks_in_each_other__up_to_a_bound(void **state)
{
    (void)state;
    for (int deep = 0; deep < 2; deep++) {
        for (int defers = 0; defers < 2; defers++) {
            struct first_use use = {""};
            struct zeta_diagnostics sink = {.report = keep_finding, .context = &use};
            struct zeta_catalog *catalog = zeta_catalog_create();
            struct zeta_compiled *compiled = NULL;
            const int count = 256 + deep;
            char text[16384] = LATE_HEAD "  M: {kind: raw, value: ticks}\nblocks:\n  b0: 1=1\n";
            size_t used = strlen(text);

            for (int i = 1; i < count; i++)
                used += (size_t)snprintf(text + used, sizeof(text) - used, "  b%d: <b%d> 1=%x\n", i,
                                         i - 1, (unsigned)i);
            (void)snprintf(text + used, sizeof(text) - used,
                           "programs:\n  " UUID
                           "1: <b%d>\nsets:\n  - {kind: set, name: s, uuid: " UUID
                           "1, metrics: [M]}\n",
                           count - 1);
            zeta_catalog_defer(catalog, defers);
            (void)zeta_catalog_add_text(catalog, text, strlen(text), "a.yaml", &sink);
            (void)zeta_catalog_link(catalog, &sink);
            if (zeta_catalog_set_count(catalog) == 1)
                (void)zeta_set_compile(catalog, zeta_catalog_set(catalog, 0), NULL, &sink,
                                       &compiled);
            assert_int_equal(compiled && zeta_compiled_check(compiled) == ZE_RESULT_SUCCESS, !deep);
            if (deep)
                assert_non_null(strstr(use.text, "blocks are more than 256 deep in each other"));
            else
                assert_string_equal(use.text, "");
            zeta_compiled_destroy(compiled);
            zeta_catalog_destroy(catalog);
        }
    }
}

static void count_finding(void *context, const struct zeta_diagnostic *finding)
{
    (void)finding;
    (*(int *)context)++;
}

static void deferred__mistake__reported_to_the_compilers_sink(void **state)
{
    static const char text[] =
        "format: 2\nunits: {u: {}}\nlayouts:\n"
        "  - {name: l, kind: delta, record: 64, header: {ticks: {at: 0, width: 32}}}\nsets:\n"
        "  - {name: s, description: d, domain: 0, unit: u, layout: l, sampling: [time], metrics: "
        "[N]}\n";
    int count = 0;
    struct zeta_diagnostics sink = {.report = count_finding, .context = &count};
    struct zeta_catalog *catalog = read_sets(text, true, &sink);
    struct zeta_compiled *compiled = NULL;

    (void)state;
    assert_int_equal(
        zeta_set_compile(catalog, zeta_catalog_set(catalog, 0), NULL, &sink, &compiled),
        ZE_RESULT_SUCCESS);
    assert_int_equal(count, 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(zeta_compiled_check(compiled), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(count, 1);
    zeta_compiled_destroy(compiled);
    zeta_catalog_destroy(catalog);
}

enum { THREADS = 6, ROUNDS = 20, SET_COUNT = 5 };

struct users {
    struct zeta_compiled *compiled[SET_COUNT];
    pthread_barrier_t barrier;
    char *expected[SET_COUNT];
    _Atomic int wrong;
};

static void *use_all(void *context)
{
    struct users *users = context;

    (void)pthread_barrier_wait(&users->barrier);
    for (int i = 0; i < SET_COUNT; i++) {
        struct zeta_text text = {0};

        if (zeta_describe_set(users->compiled[i], &text) != ZE_RESULT_SUCCESS ||
            strcmp(text.data, users->expected[i]) != 0)
            users->wrong++;
        zeta_text_finish(&text);
    }
    return NULL;
}

/* All threads ask for the same sets at the same time; sets share metrics and programs. Rule
 * 10.19. */
static void deferred__first_use_by_many_threads__all_get_the_set(void **state)
{
    struct zeta_diagnostics sink = {0};
    struct zeta_catalog *catalog = read_sets(SETS, true, &sink);
    const struct zeta_symbol_lookup lookup = lookup_of(symbols);
    struct users users = {0};

    (void)state;
    assert_int_equal(pthread_barrier_init(&users.barrier, NULL, THREADS), 0);
    for (int round = 0; round <= ROUNDS; round++) {
        pthread_t threads[THREADS];
        int count = 0;

        for (uint32_t i = 0; i < zeta_catalog_set_count(catalog); i++) {
            const struct zeta_set *set = zeta_catalog_set(catalog, i);

            if (strcmp(set->name, "gone") != 0)
                assert_int_equal(
                    zeta_set_compile(catalog, set, &lookup, &sink, &users.compiled[count++]),
                    ZE_RESULT_SUCCESS);
        }
        assert_int_equal(count, SET_COUNT);
        for (int i = 0; round == 0 && i < SET_COUNT; i++)
            users.expected[i] = describe(users.compiled[i]).data;
        for (int i = 0; round > 0 && i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, use_all, &users), 0);
        for (int i = 0; round > 0 && i < THREADS; i++)
            (void)pthread_join(threads[i], NULL);
        for (int i = 0; i < SET_COUNT; i++)
            zeta_compiled_destroy(users.compiled[i]);
    }
    assert_int_equal(users.wrong, 0);
    for (int i = 0; i < SET_COUNT; i++)
        free(users.expected[i]);
    (void)pthread_barrier_destroy(&users.barrier);
    zeta_catalog_destroy(catalog);
}

SUITE(deferred)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deferred__every_set__the_same_as_at_once),
        cmocka_unit_test(deferred__mistakes__found_by_the_first_use),
        cmocka_unit_test(deferred__mistakes_of_entries__reported_with_their_place),
        cmocka_unit_test(deferred__entries_as_yaml_allows__the_same_as_at_once),
        cmocka_unit_test(deferred__blocks_in_each_other__up_to_a_bound),
        cmocka_unit_test(deferred__mistake__reported_to_the_compilers_sink),
        cmocka_unit_test(deferred__first_use_by_many_threads__all_get_the_set),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
