/*
 * Platform files: what a good one gives, and that a bad one is refused with file, line and reason.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <zeta/intel_gpu.h>

#include "tests/support/suite.h"

static const char good_text[] = "format: 1\n"
                                "platforms:\n"
                                "  - name: Some GPU\n"
                                "    id: some-gpu\n"
                                "    graphics: 12.55\n"
                                "    pci: [0x9a40, 39497]\n"
                                "    integrated: true\n"
                                "    drivers: [i915, xe]\n"
                                "    threads_per_eu: 8\n"
                                "    simd_width: 16\n"
                                "    subslice_bits: 5\n"
                                "    subslices_per_slice: 4\n"
                                "    l3_banks_per_node: 2\n"
                                "    sets: [a.yaml, intel/b.yaml]\n"
                                "    units:\n"
                                "      oag: {i915: 12, xe: 0x500, record: 256, words: 32}\n"
                                "      oam: {xe: 0, record: 128, words: 64, clock_bits: 0x1ff}\n"
                                "    symbols: {SqidiTotalCount: 2, Other: 0x10}\n"
                                "  # Only what every platform has:\n"
                                "  - name: Another\n"
                                "    id: another\n"
                                "    graphics: 9\n"
                                "    pci: [1]\n"
                                "    drivers: [i915]\n"
                                "    threads_per_eu: 7\n"
                                "    sets: []\n"
                                "    units: {oag: {i915: 10, record: 256}}\n";

static bool parse(const char *text, struct zeta_intel_platforms *platforms, char *problem)
{
    problem[0] = '\0';
    return zeta_intel_platforms_parse("p.yaml", text, strlen(text), platforms, problem, 400);
}

static void file__all_keys__gives_every_value(void **state)
{
    struct zeta_intel_platforms platforms;
    const struct zeta_intel_platform *p;
    char problem[400];

    (void)state;
    assert_true(parse(good_text, &platforms, problem));
    assert_int_equal(platforms.count, 2);
    p = &platforms.items[0];
    assert_string_equal(p->name, "Some GPU");
    assert_string_equal(p->id, "some-gpu");
    assert_int_equal(p->graphics, 1255);
    assert_int_equal(p->pci_count, 2);
    assert_int_equal(p->pci[1], 0x9a49);
    assert_true(p->integrated && p->has_i915 && p->has_xe);
    assert_int_equal(p->threads_per_eu, 8);
    assert_int_equal(p->simd_width, 16);
    assert_int_equal(p->subslice_bits, 5);
    assert_int_equal(p->subslices_per_slice, 4);
    assert_int_equal(p->l3_banks_per_node, 2);
    assert_int_equal(p->set_count, 2);
    assert_string_equal(p->sets[1], "intel/b.yaml");
    assert_int_equal(p->formats[ZETA_INTEL_OAG].i915, 12);
    assert_int_equal(p->formats[ZETA_INTEL_OAG].xe, 0x500);
    assert_true(p->formats[ZETA_INTEL_OAM].has_xe);
    assert_int_equal(p->formats[ZETA_INTEL_OAM].i915, 0);
    assert_false(p->formats[ZETA_INTEL_OAG].is_wide);
    assert_true(p->formats[ZETA_INTEL_OAM].is_wide);
    assert_int_equal(p->formats[ZETA_INTEL_OAM].clock_bits, 0x1ff);
    assert_int_equal(p->formats[ZETA_INTEL_OAM].record_bytes, 128);
    assert_int_equal(p->formats[ZETA_INTEL_MERT].record_bytes, 0);
    assert_int_equal(p->symbol_count, 2);
    assert_string_equal(p->symbols[1].name, "Other");
    assert_int_equal(p->symbols[1].value, 16);
    zeta_intel_platforms_free(&platforms);
}

static void file__key_left_out__has_its_default(void **state)
{
    struct zeta_intel_platforms platforms;
    const struct zeta_intel_platform *p;
    char problem[400];

    (void)state;
    assert_true(parse(good_text, &platforms, problem));
    p = &platforms.items[1];
    assert_int_equal(p->graphics, 900);
    assert_false(p->integrated || p->has_xe || p->formats[ZETA_INTEL_OAG].has_xe);
    assert_int_equal(p->simd_width + p->subslice_bits + p->subslices_per_slice, 0);
    assert_false(p->formats[ZETA_INTEL_OAG].is_wide);
    assert_int_equal(p->formats[ZETA_INTEL_OAG].clock_bits, 0);
    assert_int_equal(p->set_count, 0);
    zeta_intel_platforms_free(&platforms);
}

static void pci_id__of_a_platform__finds_that_one(void **state)
{
    struct zeta_intel_platforms platforms;
    char problem[400];

    (void)state;
    assert_true(parse(good_text, &platforms, problem));
    assert_ptr_equal(zeta_intel_platform_find(&platforms, 0x9a49), &platforms.items[0]);
    assert_ptr_equal(zeta_intel_platform_find(&platforms, 1), &platforms.items[1]);
    assert_null(zeta_intel_platform_find(&platforms, 2));
    zeta_intel_platforms_free(&platforms);
}

static void versions__of_graphics__are_read_with_two_digits(void **state)
{
    static const struct {
        const char *text;
        uint32_t graphics;
    } versions[] = {{"7.5", 750},   {"9", 900},      {"12.0", 1200},  {"12.10", 1210},
                    {"12.1", 1210}, {"12.55", 1255}, {"20.04", 2004}, {"30.00", 3000},
                    {"x", 0},       {"12.", 0},      {"-1", 0},       {"12.555", 0},
                    {"12.5 5", 0},  {"", 0}};

    (void)state;
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        struct zeta_intel_platforms platforms;
        char text[400], problem[400];

        (void)snprintf(text, sizeof(text),
                       "format: 1\nplatforms:\n  - {name: a, id: a, graphics: \"%s\", pci: [1], "
                       "drivers: [xe], threads_per_eu: 7, sets: [], units: {oag: {record: 64}}}\n",
                       versions[i].text);
        assert_int_equal(parse(text, &platforms, problem), versions[i].graphics != 0);
        if (versions[i].graphics != 0)
            assert_int_equal(platforms.items[0].graphics, versions[i].graphics);
        zeta_intel_platforms_free(&platforms);
    }
}

/* Replaces the first occurrence of a text in the good file. */
static void damage(const char *what, const char *by, char *out_text, size_t bytes)
{
    const char *at = strstr(good_text, what);

    assert_non_null(at);
    (void)snprintf(out_text, bytes, "%.*s%s%s", (int)(at - good_text), good_text, by,
                   at + strlen(what));
}

/* Rule 26.36. */
static void file__with_a_mistake__is_refused_with_line_and_reason(void **state)
{
    static const struct {
        const char *what, *by, *line, *reason;
    } mistakes[] = {
        {"format: 1", "format: 2", "p.yaml:1:", "format 2"},
        {"format: 1\n", "", "p.yaml:1:", "'format' is missing"},
        {"    id: some-gpu\n", "", "p.yaml:3:", "'id' is missing"},
        {"    id: some-gpu\n", "    id: a\n    id: b\n", "p.yaml:5:", "twice"},
        {"integrated: true", "integrated: maybe", "p.yaml:7:", "true or false"},
        {"integrated: true", "integrate: true", "p.yaml:7:", "'integrate' is unknown"},
        {"[i915, xe]", "[nouveau]", "p.yaml:8:", "not 'nouveau'"},
        {"[i915, xe]", "xe", "p.yaml:8:", "a list"},
        {"39497", "0x19a49", "p.yaml:6:", "from 0 to 65535"},
        {"39497", "-1", "p.yaml:6:", "'-1'"},
        {"39497", "0x9a40x", "p.yaml:6:", "whole number"},
        {"[0x9a40, 39497]", "[]", "p.yaml:6:", "at least one"},
        {"[a.yaml", "[../a.yaml", "p.yaml:14:", "file beside this one"},
        {"intel/b.yaml", "intel/../c.yaml", "p.yaml:14:", "file beside this one"},
        {"intel/b.yaml", "intel/", "p.yaml:14:", "file beside this one"},
        {"intel/b.yaml", "xe2/c.yaml", "p.yaml:14:", "intel/NAME"},
        {"record: 256", "record: 100", "p.yaml:16:", "multiple of 64"},
        {"record: 256", "record: 1024", "p.yaml:16:", "640"},
        {"      oag:", "      oax:", "p.yaml:16:", "'oax' is unknown"},
        {"{xe: 0, record: 128,", "{xe: 0,", "p.yaml:17:", "'record' is missing"},
        {"words: 64", "words: 16", "p.yaml:17:", "32 or 64 bits, not 16"},
        {"words: 64", "words: 65", "p.yaml:17:", "from 0 to 64"},
        {"0x1ff", "0x100000000", "p.yaml:17:", "from 0 to 4294967295"},
        {"simd_width: 16", "simd_width: 65", "p.yaml:10:", "from 0 to 64"},
        {"subslice_bits: 5", "subslice_bits: 33", "p.yaml:11:", "from 0 to 32"},
        {"pci: [1]", "pci: [0x9a40]", "p.yaml:20:", "two platforms: some-gpu and another"},
        {"Other: 0x10", "Other: 1.5", "p.yaml:18:", "whole number"},
        {"name: Some GPU", "name: [Some]", "p.yaml:3:", "a value"},
        {"platforms:", "platforms: {", "p.yaml:", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        struct zeta_intel_platforms platforms;
        char text[2000], problem[400];

        damage(mistakes[i].what, mistakes[i].by, text, sizeof(text));
        assert_false(parse(text, &platforms, problem));
        if (strncmp(problem, mistakes[i].line, strlen(mistakes[i].line)) != 0 ||
            !strstr(problem, mistakes[i].reason))
            fail_msg("%s instead of %s: %s", mistakes[i].by, mistakes[i].what, problem);
        zeta_intel_platforms_free(&platforms);
    }
}

static void file__empty_or_absent__is_refused(void **state)
{
    struct zeta_intel_platforms platforms;
    char problem[400];

    (void)state;
    assert_false(parse("", &platforms, problem));
    assert_non_null(strstr(problem, "empty"));
    zeta_intel_platforms_free(&platforms);
    assert_false(
        zeta_intel_platforms_read("/nonexistent/p.yaml", &platforms, problem, sizeof(problem)));
    assert_non_null(strstr(problem, "/nonexistent/p.yaml"));
    zeta_intel_platforms_free(&platforms);
}

SUITE(platform)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file__all_keys__gives_every_value),
        cmocka_unit_test(file__key_left_out__has_its_default),
        cmocka_unit_test(pci_id__of_a_platform__finds_that_one),
        cmocka_unit_test(versions__of_graphics__are_read_with_two_digits),
        cmocka_unit_test(file__with_a_mistake__is_refused_with_line_and_reason),
        cmocka_unit_test(file__empty_or_absent__is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
