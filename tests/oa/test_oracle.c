/*
 * Our sets and our evaluator against libi915_perf of igt-gpu-tools: the same reports give the same
 * values, integers to the bit and floats within the last place of f32.
 *
 * Without arguments the sets that the Intel plugin comes with, on every generation that the library
 * knows; with the name of an XML file, what zeta-import-oa makes of it. Where the library is known
 * to calculate otherwise, the test says how, and that it is exactly so.
 *
 * usage: test_oracle [i915/oa-NAME.xml]
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/intel_data/data.h"
#include "tests/metric/support.h"
#include "tests/oa/oa_bed.h"
#include "tests/oa/oa_c.h"
#include "tests/oa/oa_import.h"
#include "tests/oa/oa_match.h"
#include "tests/oa/oa_sequence.h"
#include "tests/sanitizer.h"
#include "tests/support/compare.h"

/* Nothing here has threads: their sanitizer need not see it often. */
#define REPORTS (HAVE_THREAD_SANITIZER ? 12u : 48u)

/** What runs with the name of an XML file work on; path is NULL in the others. */
static struct {
    const char *path;
    const struct oa_line *line;
    struct oa_file *file;
    struct zeta_catalog *catalog;
} imported;

static uint64_t seed = 1;

/** Platforms that tell one slice with all cores: the library is told which slices there are. */
static enum oa_view view_of(const struct oa_line *line)
{
    return line->is_flat ? OA_VIEW_FILLED : OA_VIEW_LIBRARY;
}

/** Every platform, fused in every way: the committed sets, or those of the XML file. */
static void each_match(void (*visit)(const struct oa_match *match))
{
    if (imported.path) {
        oa_match_each(imported.line, imported.catalog, view_of(imported.line), visit);
        return;
    }
    for (uint32_t i = 0; i < oa_line_count; i++) {
        struct zeta_catalog *catalog = data_device_catalog(oa_lines[i].device_id);

        oa_match_each(&oa_lines[i], catalog, view_of(&oa_lines[i]), visit);
        zeta_catalog_destroy(catalog);
    }
}

/* Which metrics there are -----------------------------------------------------------------------
 */

/** Names that tools look for; the library has others for the same, and the frequency in hertz. */
static bool is_ours_alone(const char *name)
{
    return strcmp(name, "AvgGpuCoreFrequencyMHz") == 0 || strcmp(name, "XVE_ACTIVE") == 0 ||
           strcmp(name, "XVE_STALL") == 0;
}

/** Whether the library gives one value whatever was counted: it reads what is in no report. */
static bool is_constant(const struct oa_pair *pair, const struct oa_oracle_counter *counter)
{
    /* Behind time and clocks and the counters of the report are registers, which stay 0. */
    const struct oa_format *format = pair->match->device.platform->format;
    const uint32_t used = format == &oa_format_hsw ? 62 : format == &oa_format_a32 ? 54 : 56;

    struct oa_oracle_value first = {0};

    for (uint32_t round = 0; round < 16; round++) {
        struct oa_oracle_deltas deltas = {0};
        struct oa_oracle_value value;

        for (uint32_t i = 0; i < used; i++)
            deltas.deltas[i] = next_random(&seed) >> 32;
        value = oa_oracle_read(pair->match->oracle, pair->theirs, counter, &deltas);
        if (round == 0)
            first = value;
        else if (value.u != first.u || value.f < first.f || value.f > first.f)
            return false;
    }
    return true;
}

/** Averages over ports or engines: the library calls them percentages, and they are fractions. */
static bool is_fraction(const char *name)
{
    return strcmp(name, "GPU_MEMORY_ACTIVE") == 0 ||
           strcmp(name, "GPU_MEMORY_REQUEST_QUEUE_FULL") == 0 ||
           strcmp(name, "COMMAND_PARSER_COMPUTE_ENGINE_BUSY") == 0 ||
           strcmp(name, "COMMAND_PARSER_VIDEO_ENGINE_BUSY") == 0 ||
           strcmp(name, "COMMAND_PARSER_VIDEO_ENHANCEMENT_ENGINE_BUSY") == 0;
}

/** Time and clocks, which each of our sets has; some of the library's have not. */
static bool is_basic(const struct oa_pair *pair, const char *name)
{
    return !oa_pair_counter(pair, "GpuTime") &&
           (strcmp(name, "GpuTime") == 0 || strcmp(name, "GpuCoreClocks") == 0 ||
            strcmp(name, "AvgGpuCoreFrequency") == 0);
}

static bool refers_to_absent(const struct oa_pair *pair, const struct zeta_expr *expr)
{
    if (expr->op == ZETA_EXPR_METRIC)
        return oa_pair_metric(pair, expr->u.ref.name) == UINT32_MAX;
    for (unsigned i = 0; i < zeta_expr_arity(expr->op); i++) {
        if (refers_to_absent(pair, expr->u.arg[i]))
            return true;
    }
    return false;
}

/** Whether we have the metric, but not on this device because it is made of one that is not there.
 */
static bool needs_absent(const struct oa_pair *pair, const char *name)
{
    for (uint32_t i = 0; i < pair->set->metric_count; i++) {
        if (strcmp(pair->set->metrics[i].name, name) == 0)
            return refers_to_absent(pair, pair->set->metrics[i].value);
    }
    return false;
}

static void compare_metrics(const struct oa_pair *pair)
{
    for (uint32_t i = 0; i < oa_oracle_counter_count(pair->theirs); i++) {
        const struct oa_oracle_counter *counter = oa_oracle_counter(pair->theirs, i);
        const char *name = oa_oracle_counter_name(counter);

        if (oa_pair_metric(pair, name) == UINT32_MAX && !is_fraction(name) &&
            !is_constant(pair, counter) && !needs_absent(pair, name))
            fail_msg("%s %s: we lack %s", pair->match->line->file, pair->set->name, name);
    }
    for (uint32_t i = 0; i < zeta_compiled_metric_count(pair->compiled); i++) {
        const struct zeta_metric *metric = zeta_compiled_metric(pair->compiled, i);

        if (!metric->is_info && !is_ours_alone(metric->name) && !is_basic(pair, metric->name) &&
            !oa_pair_counter(pair, metric->name))
            fail_msg("%s %s: the library lacks %s", pair->match->line->file, pair->set->name,
                     metric->name);
    }
}

static void compare_metrics_of_match(const struct oa_match *match)
{
    oa_pair_each(match, compare_metrics);
}

static void metrics__each_device__same_as_the_library_sees_it(void **state)
{
    (void)state;
    each_match(compare_metrics_of_match);
}

/** Each set of the library is one of ours, by the uuid of its program. */
static void find_ours(const struct oa_match *match)
{
    const struct oa_oracle_set *set = NULL;
    const uint32_t count = zeta_catalog_set_count(match->catalog);

    while ((set = oa_oracle_next(match->oracle, set))) {
        uint32_t i = 0;

        while (i < count &&
               strcmp(zeta_catalog_set(match->catalog, i)->uuid, oa_oracle_set_uuid(set)) != 0)
            i++;
        if (i == count)
            fail_msg("%s: we lack the set %s, %s", match->line->file, oa_oracle_set_name(set),
                     oa_oracle_set_uuid(set));
    }
}

static void sets__each_platform__all_that_the_library_has(void **state)
{
    (void)state;
    each_match(find_ours);
}

/* What is programmed ----------------------------------------------------------------------------
 */

static bool has_choices(const struct zeta_set *set)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < set->program_count; i++)
        count += set->program[i].condition != NULL;
    return count > 1;
}

/** Several parts that depend on the device are ordered by priority; the library ignores that. */
static void compare_unordered(const struct oa_pair *pair, const struct zeta_program_entry *entries,
                              uint32_t count)
{
    uint64_t ours = 0, theirs = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t address, value;

        oa_oracle_register(pair->theirs, i, &address, &value);
        ours += ((uint64_t)entries[i].address << 32 | entries[i].value) * 0x9e3779b97f4a7c15u >> 8;
        theirs += ((uint64_t)address << 32 | value) * 0x9e3779b97f4a7c15u >> 8;
    }
    assert_int_equal(ours, theirs);
}

static void compare_program(const struct oa_pair *pair)
{
    const struct zeta_program_entry *entries = NULL;
    const uint32_t count = zeta_compiled_program(pair->compiled, &entries);

    if (oa_pair_is_older(pair))
        return;
    if (count != oa_oracle_register_count(pair->theirs))
        fail_msg("%s %s: %u registers, the library has %u", pair->match->line->file,
                 pair->set->name, count, oa_oracle_register_count(pair->theirs));
    if (has_choices(pair->set)) {
        compare_unordered(pair, entries, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t address, value;

        oa_oracle_register(pair->theirs, i, &address, &value);
        if (entries[i].address != address || entries[i].value != value)
            fail_msg("%s %s: write %u is %#x to %#x, of the library %#x to %#x",
                     pair->match->line->file, pair->set->name, i, entries[i].value,
                     entries[i].address, value, address);
    }
}

static void compare_programs_of_match(const struct oa_match *match)
{
    oa_pair_each(match, compare_program);
}

static void programs__each_device__same_registers_in_order(void **state)
{
    (void)state;
    each_match(compare_programs_of_match);
}

/* Values ----------------------------------------------------------------------------------------
 */

/** Counters that differ for a reason, each once: "set/metric". */
struct names {
    char names[512][96];
    uint32_t count;
};

static struct names newer; /**< the library has them otherwise than the newer XML */
static struct names cut;   /**< the library keeps what the description cuts off */

static void remember(struct names *list, const struct oa_pair *pair, const char *name)
{
    char full[96];

    (void)snprintf(full, sizeof(full), "%s/%s/%s", pair->match->line->file, pair->set->name, name);
    for (uint32_t i = 0; i < list->count; i++) {
        if (strcmp(list->names[i], full) == 0)
            return;
    }
    assert_cmp(list->count, <, sizeof(list->names) / sizeof(list->names[0]));
    memcpy(list->names[list->count++], full, sizeof(full));
}

/** Equal to the bit, or neighbours of f32. */
static bool agrees(const zet_typed_value_t *ours, struct oa_oracle_value theirs)
{
    const float rounded = (float)theirs.f;

    if (!theirs.is_float)
        return ours->type == ZET_VALUE_TYPE_UINT64 && ours->value.ui64 == theirs.u;
    if (ours->type != ZET_VALUE_TYPE_FLOAT32)
        return false;
    return ours->value.fp32 == rounded || nextafterf(ours->value.fp32, rounded) == rounded;
}

/** Reports of the running test. */
static struct {
    oa_sequence_fn fill;
    bool bounded; /**< no product of two numbers of a report leaves 64 bits */
    const unsigned char *earlier, *later; /**< of the row that is compared */
    unsigned char bytes[REPORTS * OA_REPORT_MAX_BYTES];
} reports;

/** Whether the library's value is that of the XML's equation by the conversions of C. */
static bool is_as_in_c(const struct oa_pair *pair, const char *name, struct oa_oracle_value theirs)
{
    const struct oa_c_input input = {
        .set = oa_file_find(imported.file, pair->set->name),
        .format = pair->match->device.platform->format,
        .symbol = oa_match_symbol,
        .device = pair->match,
        .earlier = reports.earlier,
        .later = reports.later,
        .time_divisor = 1,
    };
    const int counter = oa_set_find(input.set, input.set->counter_count, name);
    struct oa_number value;

    assert_cmp(counter, >=, 0);
    value = oa_c_value(&input, (uint32_t)counter);
    return theirs.is_float ? fabs(value.f - theirs.f) <= fabs(theirs.f) * 1e-12
                           : value.u == theirs.u;
}

/**
 * Whether the library's value is larger by less than one event: the description cuts half a count
 * off before it multiplies, the library afterwards.
 */
static bool is_cut_later(const zet_typed_value_t *ours, struct oa_oracle_value theirs,
                         const struct oa_oracle_deltas *deltas)
{
    const double clocks = (double)deltas->deltas[1];

    if (!theirs.is_float)
        return theirs.u > ours->value.ui64 && theirs.u - ours->value.ui64 < 64;
    return theirs.f > ours->value.fp32 &&
           theirs.f - ours->value.fp32 <= 100 / clocks + 1e-6 * theirs.f;
}

static void complain(const struct oa_pair *pair, const char *name, const char *what,
                     const zet_typed_value_t *ours, struct oa_oracle_value theirs)
{
    char text[64], other[64];

    print_value(ours, text, sizeof(text));
    if (theirs.is_float)
        (void)snprintf(other, sizeof(other), "%.17g", theirs.f);
    else
        (void)snprintf(other, sizeof(other), "%llu", (unsigned long long)theirs.u);
    fail_msg("%s %s/%s: %s is %s, of the library %s", pair->match->line->file, pair->set->name,
             name, what, text, other);
}

static void compare(const struct oa_pair *pair, const char *name, const zet_typed_value_t *ours,
                    struct oa_oracle_value theirs, const struct oa_oracle_deltas *deltas)
{
    if (agrees(ours, theirs))
        return;
    if (imported.path ? is_as_in_c(pair, name, theirs) : is_cut_later(ours, theirs, deltas))
        remember(&cut, pair, name);
    else if (oa_pair_is_older(pair))
        remember(&newer, pair, name);
    else
        complain(pair, name, "the value", ours, theirs);
}

static void compare_row(const struct oa_pair *pair, uint32_t row, const zet_typed_value_t *values,
                        const zet_typed_value_t *maxima)
{
    const uint32_t bytes = pair->match->device.platform->format->report_bytes;
    unsigned char records[2][OA_ORACLE_RECORD_HEADER + OA_REPORT_MAX_BYTES] = {{0}};
    struct oa_oracle_deltas deltas;

    for (uint32_t i = 0; i < 2; i++)
        memcpy(records[i] + OA_ORACLE_RECORD_HEADER, reports.bytes + (size_t)(row + i) * bytes,
               bytes);
    reports.earlier = records[0] + OA_ORACLE_RECORD_HEADER;
    reports.later = records[1] + OA_ORACLE_RECORD_HEADER;
    oa_oracle_accumulate(pair->match->oracle, pair->theirs, records[0], records[1], &deltas);
    for (uint32_t i = 0; i < zeta_compiled_metric_count(pair->compiled); i++) {
        const struct zeta_metric *metric = zeta_compiled_metric(pair->compiled, i);
        const struct oa_oracle_counter *counter =
            metric->is_info ? NULL : oa_pair_counter(pair, metric->name);
        struct oa_oracle_value maximum;

        if (!counter ||
            (!reports.bounded && pair->match->device.platform->format == &oa_format_hsw &&
             oa_has_wide_product(pair->set, metric->value)))
            continue;
        compare(pair, metric->name, &values[i],
                oa_oracle_read(pair->match->oracle, pair->theirs, counter, &deltas), &deltas);
        if (metric->maximum && !oa_pair_is_older(pair) &&
            oa_oracle_maximum(pair->match->oracle, pair->theirs, counter, &deltas, &maximum) &&
            !agrees(&maxima[i], maximum))
            complain(pair, metric->name, "the maximum", &maxima[i], maximum);
    }
}

static void compare_values(const struct oa_pair *pair)
{
    const struct oa_format *format = pair->match->device.platform->format;
    const uint32_t metrics = zeta_compiled_metric_count(pair->compiled);
    const uint32_t capacity = REPORTS * metrics;
    zet_typed_value_t *columns[2];

    reports.fill(format, reports.bytes, REPORTS, &seed);
    /* Of odd time stamps the library loses the last bit. */
    for (uint32_t i = 0; i < REPORTS && pair->match->line->is_halved; i++)
        reports.bytes[(size_t)i * format->report_bytes + 4] &= 0xfe;
    for (uint32_t i = 0; i < 2; i++) {
        struct zeta_evaluation result;

        columns[i] = calloc(capacity, sizeof(zet_typed_value_t));
        assert_non_null(columns[i]);
        assert_int_equal(zeta_evaluate(pair->compiled,
                                       i == 0 ? ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES
                                              : ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES,
                                       0, 0, reports.bytes, (size_t)REPORTS * format->report_bytes,
                                       columns[i], capacity, &result),
                         ZE_RESULT_SUCCESS);
        assert_int_equal(result.row_count, REPORTS - 1);
    }
    for (uint32_t row = 0; row + 1 < REPORTS; row++)
        compare_row(pair, row, columns[0] + (size_t)row * metrics,
                    columns[1] + (size_t)row * metrics);
    free(columns[0]);
    free(columns[1]);
}

static void compare_values_of_match(const struct oa_match *match)
{
    oa_pair_each(match, compare_values);
}

static void compare_sequence(oa_sequence_fn fill, bool bounded)
{
    reports.fill = fill;
    reports.bounded = bounded;
    each_match(compare_values_of_match);
}

static void values__random_reports__agree(void **state)
{
    (void)state;
    compare_sequence(oa_sequence_random, false);
}

static void values__advancing_reports__agree(void **state)
{
    (void)state;
    compare_sequence(oa_sequence_advancing, true);
}

static void values__edge_cases__agree(void **state)
{
    (void)state;
    compare_sequence(oa_sequence_edges, false);
}

/** After all values: no more and no fewer counters differ than are known to. */
static void values__newer_counters__are_those_that_are_known(void **state)
{
    (void)state;
    if (OA_SETS_STEP == 1)
        assert_int_equal(newer.count, imported.line->differing);
    else
        assert_in_range(newer.count, 0, imported.line->differing);
}

/* Running ---------------------------------------------------------------------------------------
 */

static int import(void **state)
{
    static const char *const parts[] = {"symbols.yaml",
                                        "symbols-xe.yaml",
                                        "../haswell/layout.yaml",
                                        "layout-a32u40-a4u32-b8-c8.yaml",
                                        "layout-a24u40-a14u32-b8-c8.yaml",
                                        "layout-mpec8.yaml"};
    static const char rest[] = "format: 1\nunits: {oa: {}, oam0: {}}\n"
                               "symbols: {ContextValidBit: {from: provider, type: u64}}\n";
    struct zeta_diagnostics sink = {0};
    char *text = oa_import(imported.path, "--share");

    (void)state;
    imported.file = oa_file_read(imported.path);
    imported.catalog = zeta_catalog_create();
    assert_non_null(text);
    assert_non_null(imported.catalog);
    (void)zeta_catalog_add_text(imported.catalog, text, strlen(text), imported.path, &sink);
    (void)zeta_catalog_add_text(imported.catalog, rest, strlen(rest), "rest", &sink);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        char path[512];

        (void)snprintf(path, sizeof(path), ZETA_SOURCE_DIR "/plugins/intel/data/common/%s",
                       parts[i]);
        (void)zeta_catalog_add_file(imported.catalog, path, &sink);
    }
    free(text);
    if (zeta_catalog_link(imported.catalog, &sink) != ZE_RESULT_SUCCESS)
        print_error("%s\n", sink.first_error);
    return sink.count[ZETA_SEVERITY_ERROR] == 0 ? 0 : -1;
}

static int forget(void **state)
{
    (void)state;
    zeta_catalog_destroy(imported.catalog);
    oa_file_free(imported.file);
    return 0;
}

/** The line of .../oa-NAME.xml; NULL if there is none. */
static const struct oa_line *find_line(const char *path)
{
    const char *name = strstr(path, "oa-");

    for (uint32_t i = 0; name && i < oa_line_count; i++) {
        const size_t length = strlen(oa_lines[i].file);

        if (strncmp(name + 3, oa_lines[i].file, length) == 0 && name[3 + length] == '.')
            return &oa_lines[i];
    }
    return NULL;
}

static int run_imported(const char *file)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics__each_device__same_as_the_library_sees_it),
        cmocka_unit_test(programs__each_device__same_registers_in_order),
        cmocka_unit_test(values__random_reports__agree),
        cmocka_unit_test(values__advancing_reports__agree),
        cmocka_unit_test(values__edge_cases__agree),
        cmocka_unit_test(values__newer_counters__are_those_that_are_known),
    };
    static char path[1024];
    const char *shared = getenv("ZETA_SHARED");

    imported.line = find_line(file);
    if (!imported.line) {
        (void)fprintf(stderr, "unknown platform: %s\n", file);
        return 1;
    }
    (void)snprintf(path, sizeof(path), "%s/oa/%s", shared ? shared : "", file);
    if (!shared || access(path, R_OK) != 0) {
        (void)printf("skipped: %s is not there; ZETA_SHARED names the folder with oa/\n", path);
        return 77;
    }
    imported.path = path;
    return cmocka_run_group_tests_name(file, tests, import, forget);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets__each_platform__all_that_the_library_has),
        cmocka_unit_test(metrics__each_device__same_as_the_library_sees_it),
        cmocka_unit_test(programs__each_device__same_registers_in_order),
        cmocka_unit_test(values__random_reports__agree),
        cmocka_unit_test(values__advancing_reports__agree),
        cmocka_unit_test(values__edge_cases__agree),
    };
    const char *problem = oa_oracle_load();

    if (problem) {
        (void)printf("skipped: %s\n", problem);
        return 77;
    }
    return argc == 2 ? run_imported(argv[1]) : cmocka_run_group_tests(tests, NULL, NULL);
}
