/* Expressions: what is parsed, what is refused where, and what operations mean at their edges. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/formula/sets/catalog_priv.h"
#include "tests/metric/support.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/** Parses and links an expression over the symbol $Two and gives its value. */
static struct zeta_number value_of(const char *text)
{
    static const struct reference_symbol none[] = {{NULL, {0}}};
    const struct zeta_expr_source source = {"e", 1, 1};
    struct zeta_catalog *catalog = load_text("format: 1\nsymbols: {Two: {value: 2}}\n");
    struct zeta_diagnostics sink = {0};
    struct zeta_arena arena = {0};
    struct zeta_linker linker = {.catalog = catalog, .sink = &sink};
    const struct zeta_link_scope scope = {.linker = &linker, .file = "e"};
    struct zeta_expr *expr = NULL;
    struct zeta_number value;

    if (zeta_expr_parse(text, strlen(text), &source, &arena, &sink, &expr) != ZE_RESULT_SUCCESS ||
        !zeta_expr_link(&scope, expr))
        fail_msg("%s: %s", text, sink.first_error);
    value = reference_value(catalog, NULL, none, expr, NULL, NULL);
    zeta_arena_finish(&arena);
    zeta_catalog_destroy(catalog);
    return value;
}

static void expect_u64(const char *text, uint64_t expected)
{
    struct zeta_number value = value_of(text);

    assert_int_equal(value.type, ZETA_EXPR_U64);
    if (value.u.u64 != expected)
        fail_msg("%s is %llu instead of %llu", text, (unsigned long long)value.u.u64,
                 (unsigned long long)expected);
}

static void expect_f64(const char *text, double expected)
{
    struct zeta_number value = value_of(text);

    assert_int_equal(value.type, ZETA_EXPR_F64);
    if (!(value.u.f64 == expected))
        fail_msg("%s is %g instead of %g", text, value.u.f64, expected);
}

/** Checks that a text is refused, by the parser or the linker, with this message. */
static void refuse(const char *text, const char *expected)
{
    const struct zeta_expr_source source = {"e", 7, 11};
    struct zeta_catalog *catalog = load_text("format: 1\nsymbols: {Two: {value: 2}}\n");
    struct zeta_diagnostics sink = {0};
    struct zeta_arena arena = {0};
    struct zeta_linker linker = {.catalog = catalog, .sink = &sink};
    const struct zeta_link_scope scope = {.linker = &linker, .file = "e"};
    struct zeta_expr *expr = NULL;

    if (zeta_expr_parse(text, strlen(text), &source, &arena, &sink, &expr) == ZE_RESULT_SUCCESS)
        assert_false(zeta_expr_link(&scope, expr));
    assert_int_equal(sink.count[ZETA_SEVERITY_ERROR], 1);
    if (strncmp(sink.first_error, expected, strlen(expected)) != 0)
        fail_msg("%.60s: expected \"%s\", got \"%s\"", text, expected, sink.first_error);
    zeta_arena_finish(&arena);
    zeta_catalog_destroy(catalog);
}

static void parse__precedence__as_in_c(void **state)
{
    (void)state;
    expect_u64("2 + 3 * 4", 14);
    expect_u64("(2 + 3) * 4", 20);
    expect_u64("100 - 10 - 1", 89);
    expect_u64("100 / 10 / 2", 5);
    expect_u64("7 % 4 * 2", 6);
    expect_u64("1 << 2 + 1", 8);
    expect_u64("1 << 3 < 9", 1);
    expect_u64("3 & 2 == 2", 1);
    expect_u64("6 ^ 3 & 1", 7);
    expect_u64("8 | 6 ^ 3", 13);
    expect_u64("0 && 0 || 1", 1);
    expect_u64("1 || 0 && 0", 1);
    expect_u64("1 ? 2 : 0 ? 3 : 4", 2);
    expect_u64("0 ? 2 : 0 ? 3 : 4", 4);
    expect_u64("0 ? 1 : 1 ? 5 : 6", 5);
    expect_u64("!0 + 1", 2);
    expect_u64("- 1 + 2", 1);
    expect_u64("~0 >> 63", 1);
    expect_u64("-~5", 6);
    expect_u64("1 == 1 != 0", 1);
    expect_u64("$Two*$Two", 4);
}

static void parse__numbers__typed_by_their_form(void **state)
{
    (void)state;
    expect_u64("0xffFFffffFFffffff", UINT64_MAX);
    expect_u64("18446744073709551615", UINT64_MAX);
    expect_u64("007", 7);
    expect_f64("1.5", 1.5);
    expect_f64("2.", 2.0);
    expect_f64("1e3", 1000.0);
    expect_f64("25e-1", 2.5);
    expect_f64("-0.5", -0.5);
    refuse("18446744073709551616", "e:7:11: the number 18446744073709551616 does not fit");
    refuse("1 + 0x", "e:7:15: not a number");
    refuse("1e", "e:7:11: a number with an exponent needs its digits");
    refuse("1e999", "e:7:11: the number 1e999 is too large");
    refuse("12ab", "e:7:11: not a number");
    refuse("1.2.3", "e:7:11: not a number");
}

static void parse__broken_text__position_and_reason(void **state)
{
    (void)state;
    refuse("", "e:7:11: an operand is expected, but the expression ends");
    refuse("1 +", "e:7:14: an operand is expected, but the expression ends");
    refuse("(1 + 2", "e:7:17: ')' is expected, but the expression ends");
    refuse("1 2", "e:7:13: '2' is not expected here");
    refuse("1 + * 2", "e:7:15: an operand is expected instead of '*'");
    refuse("1 ? 2", "e:7:16: ':' is expected, but the expression ends");
    refuse("min(1)", "e:7:16: ',' is expected instead of ')'");
    refuse("muldiv(1, 2, 3, 4)", "e:7:25: ')' is expected instead of ','");
    refuse("A[x]", "e:7:13: the number of a counter is expected");
    refuse("A[4294967296]", "e:7:13: the number of a counter is expected");
    refuse("$", "e:7:12: a name is expected after '$'");
    refuse("1 = 2", "e:7:13: unexpected character '='");
    refuse("1 @ 2", "e:7:13: unexpected character '@'");
    refuse("1 \x01", "e:7:13: unexpected character 0x01");
    refuse("now(3)", "e:7:15: the name of a field or a counter is expected");
}

static void parse__too_deep_or_long__refused(void **state)
{
    char text[8192];
    size_t used = 0;

    (void)state;
    memset(text, '(', 70);
    (void)snprintf(text + 70, sizeof(text) - 70, "1");
    refuse(text, "e:7:75: nested deeper than 64 levels");
    memset(text, '-', 70);
    refuse(text, "e:7:74: nested deeper than 64 levels");
    for (int i = 0; i < 300; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "1+");
    (void)snprintf(text + used, sizeof(text) - used, "1");
    refuse(text, "e:7:522: a tree of more than 256 levels");
    used = 0;
    for (int i = 0; i < 600; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "max(1,");
    refuse(text, "e:7:393: nested deeper than 64 levels");
    used = 0;
    for (int i = 0; i < 40; i++)
        used +=
            (size_t)snprintf(text + used, sizeof(text) - used, "max(1*1*1*1*1*1*1*1*1*1*1*1*1*1,");
    refuse(text, "e:7:1225: more than 1024 operands and operators in one expression");
}

static void link__wrong_types_or_names__position_and_reason(void **state)
{
    (void)state;
    refuse("1 + 2.0", "e:7:13: '+' has u64 on its left and f64 on its right");
    refuse("1.0 & 2", "e:7:11: '&' needs u64 here, not f64; convert with u64()");
    refuse("1.5 ? 1 : 2", "e:7:11: '?:' needs u64 here, not f64");
    refuse("1 ? 1 : 2.0", "e:7:13: '?:' has u64 on its left and f64 on its right");
    refuse("min(1, 2.0)", "e:7:11: 'min' has u64 on its left and f64 on its right");
    refuse("5.0 % 2.0", "e:7:11: '%' needs u64 here, not f64");
    refuse("!1.0", "e:7:12: '!' needs u64 here, not f64");
    refuse("muldiv(1, 1.0, 1)", "e:7:21: 'muldiv' needs u64 here, not f64");
    refuse("1 + $Three", "e:7:15: unknown symbol $Three");
    refuse("1 + ticks", "e:7:15: unknown name ticks; only $symbols are known here");
    refuse("A[1]", "e:7:11: only $symbols are known here");
}

static struct zeta_number apply(enum zeta_expr_op op, uint64_t a, uint64_t b, uint64_t c)
{
    const struct zeta_number args[3] = {
        {ZETA_EXPR_U64, {.u64 = a}}, {ZETA_EXPR_U64, {.u64 = b}}, {ZETA_EXPR_U64, {.u64 = c}}};

    return zeta_expr_apply(op, args);
}

/* Rule 14.12. */
static void apply__edges_of_integers__as_decided(void **state)
{
    (void)state;
    assert_cmp(apply(ZETA_EXPR_DIV, 5, 0, 0).u.u64, ==, 0);
    assert_cmp(apply(ZETA_EXPR_MOD, 5, 0, 0).u.u64, ==, 0);
    assert_cmp(apply(ZETA_EXPR_SHL, 1, 63, 0).u.u64, ==, UINT64_C(1) << 63);
    assert_cmp(apply(ZETA_EXPR_SHL, 1, 64, 0).u.u64, ==, 0);
    assert_cmp(apply(ZETA_EXPR_SHR, UINT64_MAX, UINT64_MAX, 0).u.u64, ==, 0);
    assert_cmp(apply(ZETA_EXPR_SUB, 1, 2, 0).u.u64, ==, UINT64_MAX);
    assert_cmp(apply(ZETA_EXPR_MUL, UINT64_MAX, 3, 0).u.u64, ==, UINT64_MAX - 2);
    assert_cmp(apply(ZETA_EXPR_MULDIV, UINT64_MAX, 1000, 1000).u.u64, ==, UINT64_MAX);
    assert_cmp(apply(ZETA_EXPR_MULDIV, UINT64_C(1) << 63, 6, 4).u.u64, ==,
               (UINT64_C(3) << 62)); /* the product has 66 bits */
    assert_cmp(apply(ZETA_EXPR_MULDIV, UINT64_MAX, 4, 2).u.u64, ==, UINT64_MAX - 1);
    assert_cmp(apply(ZETA_EXPR_MULDIV, 7, 7, 0).u.u64, ==, 0);
    assert_cmp(apply(ZETA_EXPR_LOGICAL_AND, 2, 4, 0).u.u64, ==, 1);
}

/* Rule 14.12. */
static void apply__edges_of_doubles__as_decided(void **state)
{
    struct zeta_number args[2] = {{ZETA_EXPR_F64, {.f64 = 3.0}}, {ZETA_EXPR_F64, {.f64 = 0.0}}};

    (void)state;
    assert_cmp(zeta_expr_apply(ZETA_EXPR_DIV, args).u.f64, ==, 0.0);
    args[1].u.f64 = -0.0;
    assert_cmp(zeta_expr_apply(ZETA_EXPR_DIV, args).u.f64, ==, 0.0);
    assert_cmp(zeta_u64_from_f64(NAN), ==, 0);
    assert_cmp(zeta_u64_from_f64(-1.0), ==, 0);
    assert_cmp(zeta_u64_from_f64(-INFINITY), ==, 0);
    assert_cmp(zeta_u64_from_f64(1.999), ==, 1);
    assert_cmp(zeta_u64_from_f64(18446744073709549568.0), ==, UINT64_C(18446744073709549568));
    assert_cmp(zeta_u64_from_f64(18446744073709551616.0), ==, UINT64_MAX);
    assert_cmp(zeta_u64_from_f64(INFINITY), ==, UINT64_MAX);
    expect_f64("1.0 / 0.0", 0.0);
    expect_u64("u64(-3.5)", 0);
    expect_u64("u64(3.99)", 3);
    expect_f64("f64(0xffffffffffffffff)", 18446744073709551616.0);
    expect_f64("max(1.5, 2.5) - min(1.5, 2.5)", 1.0);
}

/** zeta_expr_apply() folds constants; here it meets the reference on random operands. */
static void apply__random_operands__as_reference(void **state)
{
    static const char *const forms[] = {
        "%s + %s",  "%s - %s",  "%s * %s",     "%s / %s",     "%s %% %s",
        "%s & %s",  "%s | %s",  "%s ^ %s",     "%s << %s",    "%s >> %s",
        "%s == %s", "%s <= %s", "min(%s, %s)", "max(%s, %s)", "%s && %s",
        "%s || %s", "%s > %s",  "%s >= %s",    "%s != %s",    "muldiv(%s, %s, 977)"};
    uint64_t seed = 99;

    (void)state;
    for (int round = 0; round < 200; round++) {
        uint64_t a = next_random(&seed) >> (next_random(&seed) % 64);
        uint64_t b = next_random(&seed) >> (next_random(&seed) % 64);

        for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
            const struct zeta_expr_source source = {"e", 1, 1};
            struct zeta_arena arena = {0};
            struct zeta_expr *expr = NULL;
            struct zeta_number args[3];
            char left[32];
            char right[32];
            char text[128];

            (void)snprintf(left, sizeof(left), "%llu", (unsigned long long)a);
            (void)snprintf(right, sizeof(right), "%llu", (unsigned long long)b);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            (void)snprintf(text, sizeof(text), forms[i], left, right);
#pragma GCC diagnostic pop
            assert_int_equal(zeta_expr_parse(text, strlen(text), &source, &arena, NULL, &expr),
                             ZE_RESULT_SUCCESS);
            for (unsigned arg = 0; arg < zeta_expr_arity(expr->op); arg++)
                args[arg] = (struct zeta_number){ZETA_EXPR_U64, {expr->u.arg[arg]->u.u64}};
            expect_u64(text, zeta_expr_apply(expr->op, args).u.u64);
            zeta_arena_finish(&arena);
        }
    }
}

SUITE(expr)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parse__precedence__as_in_c),
        cmocka_unit_test(parse__numbers__typed_by_their_form),
        cmocka_unit_test(parse__broken_text__position_and_reason),
        cmocka_unit_test(parse__too_deep_or_long__refused),
        cmocka_unit_test(link__wrong_types_or_names__position_and_reason),
        cmocka_unit_test(apply__edges_of_integers__as_decided),
        cmocka_unit_test(apply__edges_of_doubles__as_decided),
        cmocka_unit_test(apply__random_operands__as_reference),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
