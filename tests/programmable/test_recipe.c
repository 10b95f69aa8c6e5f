/* Set files with programmables: what is refused, templates, slots, registers. Rule 1.22. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/formula/compile/compile.h"
#include "core/formula/programmables/recipe.h"
#include "core/formula/programmables/recipe_set.h"
#include "core/formula/sets/programmables.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define HEAD                                                                                       \
    "format: 1\n"                                                                                  \
    "symbols:\n"                                                                                   \
    "  Count: {value: 3}\n"                                                                        \
    "units:\n"                                                                                     \
    "  u: {registers: [[0x100, 0x1ff]], slots: [{bank: B, count: 2}, {bank: C, first: 1, count: "  \
    "1}]}\n"                                                                                       \
    "layouts:\n"                                                                                   \
    "  - name: l\n"                                                                                \
    "    kind: delta\n"                                                                            \
    "    record: 64\n"                                                                             \
    "    header:\n"                                                                                \
    "      id: {at: 0, width: 32}\n"                                                               \
    "      ticks: {at: 4, width: 32, delta: 32}\n"                                                 \
    "    counters:\n"                                                                              \
    "      B: [{n: 2, at: 8, stride: 4, width: 32}]\n"                                             \
    "      C: [{n: 2, at: 16, stride: 4, width: 32}]\n"                                            \
    "parameters:\n"                                                                                \
    "  Where:\n"                                                                                   \
    "    type: disaggregation\n"                                                                   \
    "    value_type: u32\n"                                                                        \
    "    default: 0\n"                                                                             \
    "    values:\n"                                                                                \
    "      - {value: 0, description: all}\n"                                                       \
    "      - value: 1\n"                                                                           \
    "        description: each\n"                                                                  \
    "        instances: $Count\n"                                                                  \
    "        let: {suffix: \"_{instance}\", place: \"{instance}\"}\n"                              \
    "  Factor:\n"                                                                                  \
    "    type: generic\n"                                                                          \
    "    value_type: u64_range\n"                                                                  \
    "    default: 1\n"                                                                             \
    "    values: [{range: [1, 10], description: factor}]\n"                                        \
    "  Share:\n"                                                                                   \
    "    type: generic\n"                                                                          \
    "    value_type: f64_range\n"                                                                  \
    "    default: 0.5\n"                                                                           \
    "    values: [{range: [0.25, 1.5], description: share}]\n"                                     \
    "programmables:\n"

/** A programmable with this value and this program of its counter. */
#define PROGRAMMABLE(value, program)                                                               \
    "  - name: P\n"                                                                                \
    "    description: d\n"                                                                         \
    "    domain: 2\n"                                                                              \
    "    unit: u\n"                                                                                \
    "    layout: l\n"                                                                              \
    "    sampling: [time]\n"                                                                       \
    "    parameters: [Where, Factor, Share]\n"                                                     \
    "    let: {place: \"9\", suffix: \"\"}\n"                                                      \
    "    counters:\n"                                                                              \
    "      x: " program "\n"                                                                       \
    "    metric: {type: event, value_type: u64, class: exact, unit: things, value: \"" value       \
    "\"}\n"

#define SELECT "{select: [\"{slot}=thing{place}/{bank}/{index}\"]}"
#define REGISTERS "{registers: [[\"0x100 + 4 * {index}\", \"{place} << 4 | {Factor}\"]]}"

struct found {
    struct zeta_catalog *catalog;
    struct zeta_diagnostics sink;
    ze_result_t result;
};

static struct found load(const char *text)
{
    struct found found = {.catalog = zeta_catalog_create()};

    assert_non_null(found.catalog);
    found.result =
        zeta_catalog_add_text(found.catalog, text, strlen(text), "test.yaml", &found.sink);
    if (found.result == ZE_RESULT_SUCCESS)
        found.result = zeta_catalog_link(found.catalog, &found.sink);
    if (found.result == ZE_RESULT_SUCCESS)
        found.result = zeta_programmables_link(found.catalog, &found.sink);
    return found;
}

static void expect_refused(const char *text, const char *part)
{
    struct found found = load(text);

    if (found.result != ZE_RESULT_ERROR_INVALID_ARGUMENT || !strstr(found.sink.first_error, part))
        fail_msg("0x%x, not '%s': %s", (unsigned)found.result, part, found.sink.first_error);
    assert_int_equal(zeta_catalog_programmable_count(found.catalog), 0);
    zeta_catalog_destroy(found.catalog);
}

/** The recipe of an instance of P, and what set it makes alone; freed by done(). */
struct made {
    struct found found;
    struct zeta_recipe recipes[4];
    struct zeta_ingredient ingredients[4];
    struct zeta_recipe_set set;
    ze_result_t result;
};

static void make(struct made *made, const char *text, uint32_t where, uint32_t count)
{
    const zet_metric_programmable_param_value_exp_t values[2] = {{.value.ui32 = where},
                                                                 {.value.ui64 = 5}};
    const struct zeta_programmable *programmable;
    struct zeta_choice choice;
    struct zeta_recipe_set_request request = {.name = "g", .description = "", .file = "test"};

    *made = (struct made){.found = load(text)};
    if (made->found.result != ZE_RESULT_SUCCESS)
        fail_msg("%s", made->found.sink.first_error);
    programmable = zeta_catalog_find_programmable(made->found.catalog, "P");
    assert_non_null(programmable);
    assert_int_equal(zeta_choice_make(programmable, 2, values, &choice), ZE_RESULT_SUCCESS);
    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_recipe_request wanted = {
            .choice = &choice, .instance = where == 1 ? i : 0, .name = "m", .description = "d"};
        const char *wrong = NULL;

        assert_int_equal(zeta_recipe_init(&made->recipes[i], programmable, &wanted, &wrong),
                         ZE_RESULT_SUCCESS);
        made->ingredients[i] = (struct zeta_ingredient){&made->recipes[i], ZETA_RECIPE_ALL_TILES};
    }
    request.catalog = made->found.catalog;
    request.unit_name = "u";
    request.layout_name = "l";
    request.domain = programmable->domain;
    request.sampling = ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED;
    request.ingredients = made->ingredients;
    request.count = count;
    made->result = zeta_recipe_set_init(&made->set, &request, &made->found.sink);
}

static void done(struct made *made)
{
    zeta_recipe_set_finish(&made->set);
    for (int i = 0; i < 4; i++)
        zeta_recipe_finish(&made->recipes[i]);
    zeta_catalog_destroy(made->found.catalog);
}

static void selections__get_slot_and_parameters(void **state)
{
    struct made made;

    (void)state;
    make(&made, HEAD PROGRAMMABLE("{x} * {Factor}", SELECT), 1, 3);
    assert_int_equal(made.result, ZE_RESULT_SUCCESS);
    assert_string_equal(made.set.set.metrics[0].name, "m_0");
    assert_string_equal(made.set.set.metrics[2].name, "m_2");
    assert_int_equal(made.set.set.domain, 2);
    assert_int_equal(made.set.set.program_count, 3);
    assert_string_equal(made.set.set.program[0].entries[0].select, "B0=thing0/B/0");
    assert_string_equal(made.set.set.program[1].entries[0].select, "B1=thing1/B/1");
    assert_string_equal(made.set.set.program[2].entries[0].select, "C1=thing2/C/1");
    done(&made);
}

static void registers__are_expressions(void **state)
{
    struct made made;

    (void)state;
    make(&made, HEAD PROGRAMMABLE("{x}", REGISTERS), 1, 2);
    assert_int_equal(made.result, ZE_RESULT_SUCCESS);
    assert_int_equal(made.set.set.program[0].entries[0].address, 0x100);
    assert_int_equal(made.set.set.program[0].entries[0].value, 5);
    assert_int_equal(made.set.set.program[1].entries[0].address, 0x104);
    assert_int_equal(made.set.set.program[1].entries[0].value, 1 << 4 | 5);
    done(&made);
}

static void parameters_with_a_fraction__keep_every_digit(void **state)
{
    struct made made;

    (void)state;
    make(&made, HEAD PROGRAMMABLE("{x} * u64({Share} * 19.2)", SELECT), 0, 1);
    assert_int_equal(made.result, ZE_RESULT_SUCCESS);
    assert_string_equal(made.recipes[0].value, "{x} * u64(f64(5.00000000000000000e-01) * 19.2)");
    done(&made);
}

static void shared_registers__are_written_once__with_the_bits_of_all(void **state)
{
    /* B0 has the lower half of 0x100, B1 the upper. */
    static const char shared[] =
        HEAD PROGRAMMABLE("{x}", "{registers: [[\"0x1f0\", \"{index}\"], [\"0x100\", "
                                 "\"({place} + 1) << 16 * {index}\", "
                                 "\"0xffff << 16 * {index}\"]]}");
    struct made made;

    (void)state;
    make(&made, shared, 1, 2);
    assert_int_equal(made.result, ZE_RESULT_SUCCESS);
    assert_int_equal(made.set.set.program_count, 2);
    assert_int_equal(made.set.set.program[0].entry_count, 2);
    assert_int_equal(made.set.set.program[0].entries[1].address, 0x100);
    assert_int_equal(made.set.set.program[0].entries[1].value, 0x00020001);
    /* What has no mask stays as it is, also when another counter writes it too. */
    assert_int_equal(made.set.set.program[1].entry_count, 1);
    assert_int_equal(made.set.set.program[1].entries[0].address, 0x1f0);
    assert_int_equal(made.set.set.program[1].entries[0].value, 1);
    done(&made);
}

static void shared_registers__whose_bits_collide__are_refused(void **state)
{
    static const char collide[] =
        HEAD PROGRAMMABLE("{x}", "{registers: [[\"0x100\", \"{place}\", \"0xff\"]]}");
    struct made made;

    (void)state;
    make(&made, collide, 1, 2);
    assert_int_equal(made.result, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(made.found.sink.first_error, "the same bits of a register"));
    done(&made);
}

static void counters_of_a_bank__take_its_slots_only(void **state)
{
    struct made made;

    (void)state;
    make(&made, HEAD PROGRAMMABLE("{x}", "{bank: C, select: [\"{slot}=thing{place}\"]}"), 1, 1);
    assert_int_equal(made.result, ZE_RESULT_SUCCESS);
    assert_string_equal(made.set.set.program[0].entries[0].select, "C1=thing0");
    done(&made);
    /* There is one slot of C, although B has two more. */
    make(&made, HEAD PROGRAMMABLE("{x}", "{bank: C, select: [\"{slot}=thing{place}\"]}"), 1, 2);
    assert_int_equal(made.result, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(made.found.sink.first_error, "do not fit the slots"));
    assert_false(zeta_ingredients_fit(zeta_catalog_find_programmable(made.found.catalog, "P")->unit,
                                      made.ingredients, 2, 0));
    done(&made);
    expect_refused(HEAD PROGRAMMABLE("{x}", "{bank: A, select: [\"{slot}=thing{place}\"]}"),
                   "do not fit the slots");
}

static void equal_counters__have_one_slot__and_names_are_unique(void **state)
{
    struct made made;

    (void)state;
    make(&made, HEAD PROGRAMMABLE("{x}", SELECT), 0, 4);
    assert_int_equal(made.result, ZE_RESULT_SUCCESS);
    assert_int_equal(made.set.set.program_count, 1);
    assert_int_equal(zeta_ingredients_slots(made.ingredients, 4, 0), 1);
    assert_string_equal(made.set.set.metrics[0].name, "m");
    assert_string_equal(made.set.set.metrics[1].name, "m_2");
    assert_string_equal(made.set.set.metrics[3].name, "m_4");
    done(&made);
}

static void too_many_counters__are_refused(void **state)
{
    struct made made;

    (void)state;
    /* Of four instances the device has three; the fourth would need a slot more. */
    make(&made, HEAD PROGRAMMABLE("{x}", SELECT), 1, 4);
    assert_int_equal(made.result, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(made.found.sink.first_error, "do not fit the slots"));
    done(&made);
}

static void a_recipe_for_another_tile__counts_nothing(void **state)
{
    struct made made;

    (void)state;
    make(&made, HEAD PROGRAMMABLE("{x}", SELECT), 0, 1);
    made.ingredients[0].tile = 1;
    assert_int_equal(zeta_ingredients_slots(made.ingredients, 1, 0), 0);
    assert_int_equal(zeta_ingredients_slots(made.ingredients, 1, 1), 1);
    done(&made);
}

static void instances__are_counted_by_symbols(void **state)
{
    struct found found = load(HEAD PROGRAMMABLE("{x}", SELECT));
    const struct zeta_programmable *programmable =
        zeta_catalog_find_programmable(found.catalog, "P");
    const zet_metric_programmable_param_value_exp_t each = {.value.ui32 = 1};
    const struct zeta_symbol_lookup symbols = {0};
    struct zeta_choice choice;
    uint32_t count = 0;

    (void)state;
    assert_int_equal(zeta_choice_make(programmable, 1, &each, &choice), ZE_RESULT_SUCCESS);
    assert_int_equal(zeta_choice_count(found.catalog, programmable, &choice, &symbols, 0, &count),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(count, 3);
    zeta_catalog_destroy(found.catalog);
}

static void ranges__hold_their_ends_and_nothing_else(void **state)
{
    struct found found = load(HEAD PROGRAMMABLE("{x}", SELECT));
    const struct zeta_parameter *factor =
        zeta_catalog_find_programmable(found.catalog, "P")->parameters[1];

    (void)state;
    assert_int_equal(zeta_parameter_find(factor, &(zet_value_t){.ui64 = 1}), 0);
    assert_int_equal(zeta_parameter_find(factor, &(zet_value_t){.ui64 = 10}), 0);
    assert_int_equal(zeta_parameter_find(factor, &(zet_value_t){.ui64 = 0}), UINT32_MAX);
    assert_int_equal(zeta_parameter_find(factor, &(zet_value_t){.ui64 = 11}), UINT32_MAX);
    zeta_catalog_destroy(found.catalog);
}

/* Rule 15.14. */
static void faulty_templates__are_found_when_the_file_is_read(void **state)
{
    (void)state;
    expect_refused(HEAD PROGRAMMABLE("{y}", SELECT), "unknown placeholder {y}");
    expect_refused(HEAD PROGRAMMABLE("{x", SELECT), "unmatched brace before");
    expect_refused(HEAD PROGRAMMABLE("x}", SELECT), "unmatched brace before");
    expect_refused(HEAD PROGRAMMABLE("{x} + A[0]", SELECT), "layout l has no counters A");
    expect_refused(HEAD PROGRAMMABLE("{x} + 1.5", SELECT), "convert");
    expect_refused(HEAD PROGRAMMABLE("{x}", "{select: [\"{what}\"]}"), "unknown placeholder");
    expect_refused(HEAD PROGRAMMABLE("{x}", "{registers: [[\"0x200\", \"1\"]]}"),
                   "register 0x200 is not among those");
    expect_refused(HEAD PROGRAMMABLE("{x}", "{registers: [[\"ticks\", \"1\"]]}"), "unknown name");
    expect_refused(HEAD PROGRAMMABLE("{x}", "{}"), "either select or registers");
    expect_refused(HEAD PROGRAMMABLE("{x}", "{registers: [[\"0x100\"]]}"),
                   "[address, value, mask]");
    expect_refused(HEAD PROGRAMMABLE("{x}", "{registers: [[\"0x100\", \"16\", \"15\"]]}"),
                   "bits outside its mask");
}

/* Rule 15.14. */
static void texts_that_grow_without_end__are_refused(void **state)
{
    static const char grows[] =
        "let: {place: \"{a}{a}{a}{a}{a}{a}{a}{a}\", a: \"{b}{b}{b}{b}{b}{b}{b}{b}\", b: "
        "\"{c}{c}{c}{c}{c}{c}{c}{c}\", c: \"{d}{d}{d}{d}{d}{d}{d}{d}\", d: \"\", suffix: \"\"}";
    const char *good = HEAD PROGRAMMABLE("{x}", SELECT);
    static const char plain[] = "let: {place: \"9\", suffix: \"\"}";
    const char *at = strstr(good, plain);
    char text[8192];

    (void)state;
    assert_non_null(at);
    (void)snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - good), good, grows,
                   at + strlen(plain));
    expect_refused(text, "too many placeholders");
}

/* A file of some kilobytes could otherwise keep who loads it for minutes. Rule 15.14. */
static void combinations__of_many_programmables__are_bounded(void **state)
{
    enum { COUNT = 64 };
    const size_t room = 64 * 1024;
    char *text = calloc(1, room);
    struct found found;
    size_t length;

    (void)state;
    assert_non_null(text);
    length = (size_t)snprintf(text, room,
                              "format: 1\nunits:\n  u: {slots: [{bank: B, count: 1}]}\nlayouts:\n"
                              "  - name: l\n    kind: delta\n    record: 64\n    header:\n"
                              "      id: {at: 0, width: 32}\n"
                              "      ticks: {at: 4, width: 32, delta: 32}\n    counters:\n"
                              "      B: [{n: 1, at: 8, stride: 4, width: 32}]\nparameters:\n");
    for (int i = 0; i < 5; i++)
        length += (size_t)snprintf(text + length, room - length,
                                   "  P%d:\n    type: generic\n    value_type: u32\n"
                                   "    default: 0\n    values:\n"
                                   "      - {value: 0, description: d}\n"
                                   "      - {value: 1, description: d}\n"
                                   "      - {value: 2, description: d}\n"
                                   "      - {value: 3, description: d}\n",
                                   i);
    length += (size_t)snprintf(text + length, room - length, "programmables:\n");
    for (int i = 0; i < COUNT; i++)
        length += (size_t)snprintf(
            text + length, room - length,
            "  - {name: N%d, description: d, domain: 2, unit: u, layout: l, sampling: [time], "
            "parameters: [P0, P1, P2, P3, P4], let: {suffix: \"\"}, counters: {x: {select: "
            "[\"{slot}=thing\"]}}, metric: {type: event, value_type: u64, class: exact, "
            "unit: things, value: \"{x}\"}}\n",
            i);
    assert_cmp(length, <, room);
    found = load(text);
    assert_int_equal(found.result, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(found.sink.first_error, "programmable N32: with those before it"));
    assert_int_equal(zeta_catalog_programmable_count(found.catalog), 32);
    zeta_catalog_destroy(found.catalog);
    free(text);
}

static void faulty_parameters__are_refused(void **state)
{
    static const char parameter[] = "format: 1\nparameters:\n  P: {type: rate, value_type: u32, "
                                    "default: 5, values: [{value: 1, description: d}]}\n";
    static const char empty[] = "format: 1\nparameters:\n  P: {type: rate, value_type: u32, "
                                "default: 1, values: []}\n";
    static const char range[] =
        "format: 1\nparameters:\n  P: {type: rate, value_type: u64_range, default: 1, values: "
        "[{range: [5, 1], description: d}]}\n";
    static const char wide[] = "format: 1\nparameters:\n  P: {type: rate, value_type: u8, "
                               "default: 1, values: [{value: 256, description: d}]}\n";
    static const char instances[] =
        "format: 1\nparameters:\n  P: {type: rate, value_type: u32, default: 1, values: [{value: "
        "1, instances: 2, description: d}]}\n";

    (void)state;
    expect_refused(parameter, "is not one of its values");
    expect_refused(empty, "values must have 1 to 64 members, not 0");
    expect_refused(range, "the smallest value of a range comes first");
    expect_refused(wide, "no number of the parameter's value type");
    expect_refused(instances, "only a disaggregation");
}

static void faulty_programmables__are_refused(void **state)
{
    char text[8192];
    const char *good = HEAD PROGRAMMABLE("{x}", SELECT);
    static const struct {
        const char *from, *to, *part;
    } changes[] = {
        {"parameters: [Where, Factor, Share]", "parameters: []",
         "parameters must have 1 to 8 members, not 0"},
        {"parameters: [Where, Factor, Share]", "parameters: [Nothing]",
         "unknown parameter 'Nothing'"},
        {"parameters: [Where, Factor, Share]", "parameters: [Where, Where]",
         "names parameter Where twice"},
        {"unit: u\n", "unit: v\n", "unknown unit 'v'"},
        {"layout: l\n", "layout: m\n", "unknown or faulty layout 'm'"},
        {"sampling: [time]", "sampling: [tracer]", "sampled by time or by event"},
        {"type: event, ", "type: strange, ", "unknown type"},
        {"{bank: B, count: 2}", "{bank: B, count: 3}", "does not have the slots B[0] to B[2]"},
        {"place: \"9\"", "place: \"{place}\"", "perhaps in itself"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        const char *at = strstr(good, changes[i].from);

        assert_non_null(at);
        (void)snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - good), good, changes[i].to,
                       at + strlen(changes[i].from));
        expect_refused(text, changes[i].part);
    }
}

static void programmables_of_one_name__only_the_first_counts(void **state)
{
    struct found found = load(HEAD PROGRAMMABLE("{x}", SELECT) PROGRAMMABLE("{x} + 1", SELECT));

    (void)state;
    assert_int_equal(found.result, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(found.sink.first_error, "is already declared"));
    assert_int_equal(zeta_catalog_programmable_count(found.catalog), 1);
    zeta_catalog_destroy(found.catalog);
}

SUITE(recipe)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selections__get_slot_and_parameters),
        cmocka_unit_test(registers__are_expressions),
        cmocka_unit_test(parameters_with_a_fraction__keep_every_digit),
        cmocka_unit_test(counters_of_a_bank__take_its_slots_only),
        cmocka_unit_test(shared_registers__are_written_once__with_the_bits_of_all),
        cmocka_unit_test(shared_registers__whose_bits_collide__are_refused),
        cmocka_unit_test(equal_counters__have_one_slot__and_names_are_unique),
        cmocka_unit_test(too_many_counters__are_refused),
        cmocka_unit_test(a_recipe_for_another_tile__counts_nothing),
        cmocka_unit_test(instances__are_counted_by_symbols),
        cmocka_unit_test(ranges__hold_their_ends_and_nothing_else),
        cmocka_unit_test(faulty_templates__are_found_when_the_file_is_read),
        cmocka_unit_test(texts_that_grow_without_end__are_refused),
        cmocka_unit_test(combinations__of_many_programmables__are_bounded),
        cmocka_unit_test(faulty_parameters__are_refused),
        cmocka_unit_test(faulty_programmables__are_refused),
        cmocka_unit_test(programmables_of_one_name__only_the_first_counts),
    };

    return cmocka_run_group_tests_name("metric.recipe", tests, NULL, NULL);
}
