/*
 * Matching manifests with a machine that is a folder of the test.
 */
#include "core/plugin/match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <zeta/yaml.h>

#include "core/plugin/manifest.h"
#include "core/settings/paths.h"
#include "core/util/log.h"
#include "tests/plugin/harness.h"
#include "tests/support/suite.h"

/* One PCI device with a driver, one without modalias, and a DRM device. */
static void make_machine(void)
{
    harness_write("sys/bus/pci/devices/0000:00:02.0/modalias",
                  "pci:v00008086d00009A49sv00001028sd00000A36bc03sc00i00\n");
    harness_write("sys/bus/pci/drivers/i915/bind", "%s", "");
    assert_int_equal(
        symlink("../../drivers/i915", harness_path("sys/bus/pci/devices/0000:00:02.0/driver")), 0);
    harness_write("sys/bus/pci/devices/0000:03:00.0/vendor", "0x10de\n");
    harness_write("sys/bus/pci/devices/0000:03:00.0/device", "0x2204\n");
    harness_write("sys/bus/pci/devices/0000:03:00.0/class", "0x030200\n");
    harness_write("sys/class/drm/card0/device/uevent", "%s", "");
    assert_int_equal(symlink("../../../../bus/pci/drivers/i915",
                             harness_path("sys/class/drm/card0/device/driver")),
                     0);
    harness_write("dev/dri/renderD128", "%s", "");
    zeta_paths_set_root(harness_dir);
}

static bool matches(const char *entries, struct zeta_text *reason, bool *out_has_hardware)
{
    struct zeta_yaml_document *document;
    struct zeta_yaml_error error;
    struct zeta_machine machine = {0};
    struct zeta_manifest manifest;
    char text[1024];
    bool answer;

    (void)snprintf(text, sizeof(text),
                   "format: \"1.0\"\nid: p\nclass: hardware\nlibrary: x.so\n"
                   "abi: {min: 1, max: 1}\nprovides: [debug]\n%s%s\n",
                   entries ? "matches: " : "", entries ? entries : "");
    document = zeta_yaml_parse(text, strlen(text), "m.yaml", NULL, &error);
    assert_non_null(document);
    assert_int_equal(zeta_manifest_read(document, NULL, &manifest), ZETA_MANIFEST_GOOD);
    answer = zeta_machine_matches(&machine, &manifest, reason, out_has_hardware);
    zeta_machine_finish(&machine);
    zeta_manifest_finish(&manifest);
    zeta_yaml_free(document);
    return answer;
}

static void expect_match(const char *entries)
{
    struct zeta_text reason = {0};
    bool has_hardware = false;

    assert_true(matches(entries, &reason, &has_hardware));
    assert_false(has_hardware);
    zeta_text_finish(&reason);
}

static void expect_words(const char *entries, const char *words, bool has_hardware)
{
    struct zeta_text reason = {0};
    bool found = false;

    assert_false(matches(entries, &reason, &found));
    assert_int_equal(found, has_hardware);
    if (!strstr(zeta_text_get(&reason), words))
        fail_msg("\"%s\" lacks \"%s\"", zeta_text_get(&reason), words);
    zeta_text_finish(&reason);
}

static void expect_none(const char *entries, const char *words)
{
    expect_words(entries, words, false);
}

/* The machine is looked at while the process may open so many descriptors more. */
static void read_with_descriptors(const char *entry, rlim_t more, char *out_log, size_t bytes)
{
    struct rlimit before, limit;
    struct zeta_text reason = {0};
    bool has_hardware = false;
    FILE *log;
    int first;

    zeta_log_configure("warn", harness_path("log"));
    first = dup(STDERR_FILENO);
    (void)close(first);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit = (struct rlimit){.rlim_cur = (rlim_t)first + more, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    (void)matches(entry, &reason, &has_hardware);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    zeta_log_reset();
    zeta_text_finish(&reason);
    log = fopen(harness_path("log"), "r");
    assert_non_null(log);
    out_log[fread(out_log, 1, bytes - 1, log)] = '\0';
    assert_int_equal(fclose(log), 0);
    assert_int_equal(remove(harness_path("log")), 0);
}

/* Rule 1.16. */
static void pci__without_the_file_of_its_driver__is_told_apart(void **state)
{
    (void)state;
    make_machine();
    expect_words("[{pci: {vendor: 0x10de, class: 3}, device: /dev/nvidiactl}]",
                 "PCI device 0x10de:0x2204 at 0000:03:00.0 has no kernel driver, and there is no "
                 "file /dev/nvidiactl",
                 true);
    expect_words("[{device: /dev/none}, {pci: {vendor: 0x8086}, device: /dev/other}]",
                 "has the kernel driver i915, and there is no file /dev/other", true);
    expect_none("[{pci: {vendor: 0x10de, class: 4}, device: /dev/nvidiactl}]", "matches");
    expect_none("[{pci: {vendor: 0x8086}, drm_driver: xe, device: /dev/other}]", "matches");
    expect_match("[{pci: {vendor: 0x10de}, device: /dev/dri/renderD128}]");
}

static void pci__no_descriptor_left__is_told_once(void **state)
{
    const char *entry = "[{pci: {vendor: 0x8086}}]";
    char log[2048];

    (void)state;
    make_machine();
    /* None for the list; none for a device; none for its ids. Then there are enough. */
    for (rlim_t more = 0; more <= 2; more++) {
        char *told;

        read_with_descriptors(entry, more, log, sizeof(log));
        told = strstr(log, "sys/bus/pci/devices cannot be read: Too many open files (");
        if (!told || !strstr(told, "ulimit -n"))
            fail_msg("with %u descriptors the log is \"%s\"", (unsigned)more, log);
        assert_null(strstr(told + strlen("sys/bus/pci/devices cannot"), "cannot be read"));
    }
    read_with_descriptors(entry, 8, log, sizeof(log));
    assert_string_equal(log, "");
}

/* Drivers are links, which are read without a descriptor of their own. */
static void drm_driver__no_descriptor_left__is_told(void **state)
{
    const char *entry = "[{drm_driver: i915}]";
    char log[2048];

    (void)state;
    make_machine();
    read_with_descriptors(entry, 0, log, sizeof(log));
    if (!strstr(log, "sys/class/drm cannot be read: Too many open files ("))
        fail_msg("the log is \"%s\"", log);
    read_with_descriptors(entry, 1, log, sizeof(log));
    assert_string_equal(log, "");
}

static void pci__vendor_and_device__match(void **state)
{
    (void)state;
    make_machine();
    expect_match("[{pci: {vendor: 0x8086}}]");
    expect_match("[{pci: {vendor: 0x8086, device: 0x9a49}}]");
    expect_match("[{pci: {vendor: 0x8086, device: [1, 0x9a49]}}]");
    expect_match("[{pci: {vendor: 0x10de, device: [0x2204]}}]");
    expect_match("[{pci: {vendor: 1}}, {pci: {vendor: 0x10de}}]");
    expect_match("[{pci: {vendor: 0x8086, class: 3}}]");
    expect_match("[{pci: {vendor: 0x10de, class: 0x03}}]");
    expect_none("[{pci: {vendor: 0x8086, class: 2}}]", "0x8086:*");
    expect_none("[{pci: {vendor: 0x8086, device: [0x1234, 0x5678]}}]", "0x8086:0x1234,0x5678");
    expect_none("[{pci: {vendor: 0x1002}}]", "0x1002:*");
}

static void pci_with_driver__driver_of_that_device__decides(void **state)
{
    (void)state;
    make_machine();
    expect_match("[{pci: {vendor: 0x8086}, drm_driver: [xe, i915]}]");
    expect_none("[{pci: {vendor: 0x10de}, drm_driver: [i915]}]", "kernel driver i915");
    expect_none("[{pci: {vendor: 0x8086}, drm_driver: [xe]}]", "kernel driver xe");
}

static void pci__several_lists_of_a_vendor__are_told_as_one(void **state)
{
    (void)state;
    make_machine();
    expect_none("[{pci: {vendor: 0x1234, device: [1, 2]}}, {pci: {vendor: 0x1234, device: 3}}]",
                "looked for a PCI device 0x1234:0x0001,0x0002,0x0003.");
    expect_none("[{pci: {vendor: 0x1234, device: [1, 2, 3, 4, 5]}}, {pci: {vendor: 0x4321, "
                "device: 9}}, {pci: {vendor: 0x1234, device: [6, 7, 8, 9]}}]",
                "a PCI device 0x1234:0x0001,0x0002,0x0003... (9 ids); or a PCI device "
                "0x4321:0x0009.");
    expect_none("[{pci: {vendor: 0x1234, device: 1}}, {pci: {vendor: 0x1234, device: 2}, "
                "drm_driver: xe}]",
                "0x1234:0x0001; or a PCI device 0x1234:0x0002 with the kernel driver xe.");
}

static void drm_driver__of_any_device__matches(void **state)
{
    (void)state;
    make_machine();
    expect_match("[{drm_driver: i915}]");
    expect_none("[{drm_driver: [xe, amdgpu]}]", "xe or amdgpu");
}

static void device__glob__matches_files(void **state)
{
    (void)state;
    make_machine();
    expect_match("[{device: \"/dev/dri/renderD*\"}]");
    expect_none("[{device: \"/dev/kfd\"}]", "/dev/kfd");
    expect_none("[{pci: {vendor: 0x1002}, device: \"/dev/kfd\"}]", "and a file /dev/kfd");
}

static void always__true__matches_and_nothing_else_does(void **state)
{
    (void)state;
    zeta_paths_set_root(harness_dir);
    expect_match("[{always: true}]");
    expect_match("{always: true}");
    expect_none("[{always: false}]", "Nothing on this machine");
    expect_none("[{}]", "Nothing on this machine");
    expect_none("[]", "no \"matches\"");
    expect_none(NULL, "no \"matches\"");
    expect_none("[{pci: {vendor: 0x8086}}]", "0x8086");
}

static void setting__without_value__is_named(void **state)
{
    (void)state;
    make_machine();
    expect_none("[{setting: file}]", "looked for a value of the setting plugins.p.file.");
    expect_none("[{device: \"/dev/kfd\", setting: file}]",
                "a file /dev/kfd and a value of the setting plugins.p.file");
    expect_none("[{drm_driver: i915, setting: file}]", "plugins.p.file");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, harness_setup, harness_teardown)

SUITE(match)
{
    const struct CMUnitTest tests[] = {
        CASE(pci__vendor_and_device__match),
        CASE(pci__no_descriptor_left__is_told_once),
        CASE(pci__without_the_file_of_its_driver__is_told_apart),
        CASE(pci_with_driver__driver_of_that_device__decides),
        CASE(pci__several_lists_of_a_vendor__are_told_as_one),
        CASE(drm_driver__of_any_device__matches),
        CASE(drm_driver__no_descriptor_left__is_told),
        CASE(device__glob__matches_files),
        CASE(always__true__matches_and_nothing_else_does),
        CASE(setting__without_value__is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
