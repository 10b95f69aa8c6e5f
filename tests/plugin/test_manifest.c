/*
 * Reading manifests: what is right, and where exactly something is wrong.
 */
#include "core/plugin/manifest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <zeta/yaml.h>

#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define HEAD                                                                                       \
    "format: \"1.0\"\n"                                                                            \
    "id: intel-xe2\n"                                                                              \
    "class: hardware\n"                                                                            \
    "library: libzeta-intel.so\n"                                                                  \
    "abi: {min: 1, max: 2}\n"                                                                      \
    "provides: [metric.stream, metric.query]\n"

static struct zeta_diagnostics sink;
static char warning[ZETA_DIAGNOSTIC_BYTES];

static void keep_warning(void *context, const struct zeta_diagnostic *diagnostic)
{
    (void)context;
    if (diagnostic->severity == ZETA_SEVERITY_WARNING)
        zeta_diagnostic_print(diagnostic, warning, sizeof(warning));
}

static enum zeta_manifest_kind read_text(const char *text, struct zeta_manifest *out_manifest)
{
    struct zeta_yaml_error error;
    struct zeta_yaml_document *document =
        zeta_yaml_parse(text, strlen(text), "m.yaml", NULL, &error);
    enum zeta_manifest_kind kind;

    sink = (struct zeta_diagnostics){.report = keep_warning};
    warning[0] = '\0';
    assert_non_null(document);
    kind = zeta_manifest_read(document, &sink, out_manifest);
    zeta_yaml_free(document);
    return kind;
}

static void expect_bad(const char *text, const char *message)
{
    struct zeta_manifest manifest;

    assert_int_equal(read_text(text, &manifest), ZETA_MANIFEST_BAD);
    if (!strstr(sink.first_error, message))
        fail_msg("\"%s\" lacks \"%s\"", sink.first_error, message);
    zeta_manifest_finish(&manifest);
}

static void expect_warning(const char *text, const char *message)
{
    struct zeta_manifest manifest;

    assert_int_equal(read_text(text, &manifest), ZETA_MANIFEST_GOOD);
    assert_int_equal(sink.count[ZETA_SEVERITY_ERROR], 0);
    if (!strstr(warning, message))
        fail_msg("\"%s\" lacks \"%s\"", warning, message);
    zeta_manifest_finish(&manifest);
}

static void manifest__every_key__is_read(void **state)
{
    struct zeta_manifest m;

    (void)state;
    assert_int_equal(
        read_text(HEAD "arch: x86_64\nversion: 0.3.0\nlicense: MIT\n"
                       "description: words\nhomepage: somewhere\nx-anything: [1, 2]\n"
                       "matches:\n"
                       "  - {pci: {vendor: 0x8086, device: [0x64a0, 0xe20b]}, drm_driver: [xe]}\n"
                       "  - {device: \"/dev/x*\"}\n"
                       "needs:\n  devices: [\"/dev/dri/renderD*\"]\n"
                       "  any_of: [CAP_PERFMON, CAP_SYS_ADMIN]\n"
                       "metrics: [\"intel/xe2/*.yaml\"]\n"
                       "settings:\n  default_period_ns: 1000000\n"
                       "  fault: {lost_reports: 0}\n"
                       "  instance: {default: main, environment: ZETA_X, description: which}\n"
                       "  free: ~\n",
                  &m),
        ZETA_MANIFEST_GOOD);
    assert_int_equal(sink.count[ZETA_SEVERITY_WARNING], 0);
    assert_string_equal(m.id, "intel-xe2");
    assert_int_equal(m.device_class, ZETA_CLASS_HARDWARE);
    assert_string_equal(m.library, "libzeta-intel.so");
    assert_string_equal(m.arch, "x86_64");
    assert_int_equal(m.abi_min, 1);
    assert_int_equal(m.abi_max, 2);
    assert_int_equal(m.provides, 1u << ZETA_GROUP_METRIC_STREAM | 1u << ZETA_GROUP_METRIC_QUERY);
    assert_int_equal(m.match_count, 2);
    assert_int_equal(m.matches[0].vendor, 0x8086);
    assert_int_equal(m.matches[0].device_id_count, 2);
    assert_int_equal(m.matches[0].device_ids[1], 0xe20b);
    assert_string_equal(m.matches[0].drivers.items[0], "xe");
    assert_string_equal(m.matches[1].device_glob, "/dev/x*");
    assert_string_equal(m.need_devices.items[0], "/dev/dri/renderD*");
    assert_int_equal(m.needs.count, 2);
    assert_string_equal(m.metrics.items[0], "intel/xe2/*.yaml");
    assert_int_equal(m.setting_count, 4);
    assert_string_equal(m.settings[0].key, "default_period_ns");
    assert_string_equal(m.settings[0].value, "1000000");
    assert_string_equal(m.settings[0].origin, "default of m.yaml:21");
    assert_string_equal(m.settings[1].key, "fault.lost_reports");
    assert_string_equal(m.settings[2].value, "main");
    assert_string_equal(m.settings[2].variable, "ZETA_X");
    assert_null(m.settings[3].value);
    zeta_manifest_finish(&m);
}

static void manifest__missing_keys__are_named(void **state)
{
    static const char *const required[] = {"format", "id", "class", "library", "abi", "provides"};
    char text[1024];
    char message[64];

    (void)state;
    for (size_t i = 0; i < sizeof(required) / sizeof(required[0]); i++) {
        const char *line = strstr(HEAD, required[i]);
        const char *end = strchr(line, '\n') + 1;

        (void)snprintf(text, sizeof(text), "%.*s%s", (int)(line - HEAD), HEAD, end);
        (void)snprintf(message, sizeof(message), "\"%s\" of a manifest is missing", required[i]);
        expect_bad(text, message);
    }
}

static void manifest__wrong_values__have_line_and_column(void **state)
{
    (void)state;
    expect_bad("format: \"2.0\"\nid: a\nclass: hardware\nlibrary: x\nabi: {min: 1, max: 1}\n"
               "provides: debug\n",
               "m.yaml:1:9: Format 2.0 is not known; this library reads up to 1.0");
    expect_bad("format: one\nid: a\nclass: hardware\nlibrary: x\nabi: {min: 1, max: 1}\n"
               "provides: debug\n",
               "m.yaml:1:9: format is written");
    expect_bad("format: \"1.0\"\nid: \"a b\"\nclass: hardware\nlibrary: x\n"
               "abi: {min: 1, max: 1}\nprovides: debug\n",
               "m.yaml:2:5: id consists of");
    expect_bad("format: \"1.0\"\nid: a\nclass: wood\nlibrary: x\nabi: {min: 1, max: 1}\n"
               "provides: debug\n",
               "m.yaml:3:8: class is");
    expect_bad("format: \"1.0\"\nid: a\nclass: hardware\nlibrary: [x]\nabi: {min: 1, max: 1}\n"
               "provides: debug\n",
               "m.yaml:4:10: library has to be a scalar");
    expect_bad("format: \"1.0\"\nid: a\nclass: hardware\nlibrary: \"\"\nabi: {min: 1, max: 1}\n"
               "provides: debug\n",
               "library must not be empty");
    expect_bad("format: \"1.0\"\nid: a\nclass: hardware\nlibrary: x\nabi: {min: 2, max: 1}\n"
               "provides: debug\n",
               "m.yaml:5:6: abi.min is greater");
    expect_bad("format: \"1.0\"\nid: a\nclass: hardware\nlibrary: x\nabi: {min: -1, max: 1}\n"
               "provides: debug\n",
               "m.yaml:5:12: abi.min has to be a number");
    expect_bad("format: \"1.0\"\nid: a\nclass: hardware\nlibrary: x\nabi: {min: 1}\n"
               "provides: debug\n",
               "The key \"max\" of abi is missing");
    expect_bad(HEAD "matches: [{colour: red}]\n", "no condition \"colour\"");
    expect_bad(HEAD "matches: [{pci: {device: 1}}]\n", "\"vendor\" of pci is missing");
    expect_bad(HEAD "matches: [{pci: {vendor: 0x100000000}}]\n", "pci.vendor has to be");
    expect_bad(HEAD "matches: [{pci: {vendor: 1, class: display}}]\n", "pci.class has to be");
    expect_bad(HEAD "matches: [{pci: {vendor: 1, device: {a: 1}}}]\n", "pci.device has to be");
    expect_bad(HEAD "matches: [{always: maybe}]\n", "always is true or false");
    expect_bad(HEAD "matches: word\n", "m.yaml:7:10: matches has to be a sequence");
    expect_bad(HEAD "settings: {list: [1, 2]}\n", "one value, not a list");
    expect_bad(HEAD "settings: [1]\n", "settings has to be a mapping");
    expect_bad(HEAD "metrics: {a: b}\n", "metrics has to be a sequence");
    expect_bad(HEAD "metrics: [[a]]\n", "metrics has to be a scalar");
}

static void manifest__unknown_things__warn(void **state)
{
    (void)state;
    expect_warning(HEAD "colour: red\n", "m.yaml:7:1: There is no key \"colour\"");
    expect_warning(HEAD "needs: {colour: red}\n", "\"colour\" in needs");
    expect_warning(HEAD "matches: [{pci: {vendor: 1, colour: 2}}]\n", "\"colour\" in pci");
    expect_warning(HEAD "settings: {a: {default: 1, colour: 2}}\n", "\"colour\"");
    expect_warning("format: \"1.9\"\nid: a\nclass: software\nlibrary: x\n"
                   "abi: {min: 1, max: 1}\nprovides: [metric.future]\n",
                   "metric.future");
}

static void manifest__newer_minor__is_accepted(void **state)
{
    struct zeta_manifest m;

    (void)state;
    assert_int_equal(read_text("format: 1.7\nid: a\nclass: software\nlibrary: x\n"
                               "abi: {min: 1, max: 1}\nprovides: compute\n",
                               &m),
                     ZETA_MANIFEST_GOOD);
    assert_int_equal(m.provides, 1u << ZETA_GROUP_COMPUTE);
    zeta_manifest_finish(&m);
}

static void manifest__several_mistakes__are_all_reported(void **state)
{
    struct zeta_manifest m;

    (void)state;
    assert_int_equal(read_text("id: \"\"\nclass: x\nlibrary: y\n", &m), ZETA_MANIFEST_BAD);
    assert_cmp(sink.count[ZETA_SEVERITY_ERROR], >=, 5);
    zeta_manifest_finish(&m);
}

static void manifest__of_another_type__is_foreign(void **state)
{
    static const char *const texts[] = {"", "word", "[1, 2]", "a: b\n", "format: \"1.0\"\n"};
    struct zeta_manifest m;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_int_equal(read_text(texts[i], &m), ZETA_MANIFEST_FOREIGN);
        zeta_manifest_finish(&m);
    }
}

static void manifest__long_id__is_refused(void **state)
{
    char text[512];

    (void)state;
    (void)snprintf(text, sizeof(text),
                   "format: \"1.0\"\nid: %064d\nclass: software\nlibrary: x\n"
                   "abi: {min: 1, max: 1}\nprovides: debug\n",
                   0);
    expect_bad(text, "more than 63");
}

SUITE(manifest)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(manifest__every_key__is_read),
        cmocka_unit_test(manifest__missing_keys__are_named),
        cmocka_unit_test(manifest__wrong_values__have_line_and_column),
        cmocka_unit_test(manifest__unknown_things__warn),
        cmocka_unit_test(manifest__newer_minor__is_accepted),
        cmocka_unit_test(manifest__several_mistakes__are_all_reported),
        cmocka_unit_test(manifest__of_another_type__is_foreign),
        cmocka_unit_test(manifest__long_id__is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
