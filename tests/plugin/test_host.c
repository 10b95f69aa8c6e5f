/*
 * The host with good, bad and odd plugins: states, reasons, filters, order, merging, fork.
 */
#include "core/plugin/entry.h"
#include "core/plugin/host.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/settings/paths.h"
#include "core/settings/settings.h"
#include "core/util/error.h"
#include "core/util/trust.h"
#include "tests/plugin/harness.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define FAKE PLUGINS "/fake.so"
#define FAULTY PLUGINS "/faulty.so"
#define STREAM "metric.stream"

/* A good plugin that must stay usable whatever the others do. */
static void add_good(void)
{
    harness_manifest("50-good.yaml", "good", FAKE, "compute, " STREAM,
                     "settings: {devices: good0}\n");
}

static void expect_good(void)
{
    harness_expect("good", ZETA_PLUGIN_STATE_ACTIVE, "");
    assert_non_null(harness_device("good0"));
}

static void host__no_manifest__has_no_device(void **state)
{
    size_t count = 1;

    (void)state;
    harness_start();
    (void)zeta_plugin_host_devices(&count);
    assert_int_equal(count, 0);
    (void)zeta_plugin_host_infos(&count);
    assert_int_equal(count, 0);
}

static void host__good_plugin__is_active_with_device_and_tables(void **state)
{
    const struct zeta_backend_device *device;
    struct zeta_plugin_clock clock = {.struct_size = sizeof(clock)};
    const struct zeta_provider *provider;
    void *address = NULL;

    (void)state;
    add_good();
    harness_start();
    expect_good();
    device = harness_device("good0");
    assert_cmp(device->parent, ==, SIZE_MAX);
    assert_int_equal(device->properties.timer_hz, 25000000);
    provider = &device->providers[ZETA_GROUP_COMPUTE];
    assert_non_null(provider->backend);
    assert_string_equal(provider->backend->id, "good");
    assert_string_equal(provider->backend->version, "1.2.3");
    assert_int_equal(
        provider->backend->device.clock(provider->backend->self, provider->device, &clock),
        ZETA_PLUGIN_SUCCESS);
    assert_int_equal(clock.host_ns, 40);
    assert_null(device->providers[ZETA_GROUP_DEBUG].backend);
    /* The plugin's own words reach the description, and a sentence of ours without them. */
    assert_int_equal(
        zeta_backend_result(provider->backend,
                            provider->backend->compute.memory_allocate(
                                provider->backend->self, provider->device, NULL, &address),
                            "allocating"),
        ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_string_equal(zeta_error_describe(), "the fake plugin computes nothing");
    assert_int_equal(zeta_backend_result(provider->backend, ZETA_PLUGIN_DEVICE_LOST, "allocating"),
                     ZE_RESULT_ERROR_DEVICE_LOST);
    assert_non_null(strstr(zeta_error_describe(), "good"));
    assert_non_null(strstr(zeta_error_describe(), "allocating"));
}

static void host__plugin_without_optional_functions__has_stubs(void **state)
{
    const struct zeta_backend *backend;
    uint32_t pid = 0;

    (void)state;
    harness_manifest("50-good.yaml", "good", FAKE, STREAM,
                     "settings: {devices: good0, compute: \"no\", short: \"yes\"}\n");
    harness_start();
    expect_good();
    backend = harness_device("good0")->providers[ZETA_GROUP_METRIC_STREAM].backend;
    assert_ptr_equal(backend->compute.submit, zeta_stub_compute_ops.submit);
    assert_ptr_not_equal(backend->metric.limits, zeta_stub_metric_ops.limits);
    assert_int_equal(backend->device.status(backend->self, NULL), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(backend->metric.stream_pending(backend->self, NULL), UINT64_MAX);
    assert_int_equal(backend->metric.stream_descriptor(backend->self, NULL), -1);
    assert_int_equal(
        backend->metric.holder(backend->self, NULL, (struct zeta_plugin_string){0}, &pid),
        ZETA_PLUGIN_UNSUPPORTED_FEATURE);
    assert_int_equal(backend->compute.submit(backend->self, NULL, NULL, NULL),
                     ZETA_PLUGIN_UNSUPPORTED_FEATURE);
}

/* Each fault, the state it leads to, and words of the reason. */
static const struct {
    const char *fault;
    enum zeta_plugin_state state;
    const char *words;
} faults[] = {
    {"negotiate-error", ZETA_PLUGIN_STATE_FAILED, "fake-firmware is not installed"},
    {"too-old", ZETA_PLUGIN_STATE_REFUSED, "none of the interfaces 1 to 1"},
    {"wrong-id", ZETA_PLUGIN_STATE_REFUSED, "somebody-else"},
    {"null-self", ZETA_PLUGIN_STATE_REFUSED, "null pointer as itself"},
    {"null-ops", ZETA_PLUGIN_STATE_REFUSED, "no table of operations"},
    {"small-answer", ZETA_PLUGIN_STATE_REFUSED, "16 bytes"},
    {"abi-not-offered", ZETA_PLUGIN_STATE_REFUSED, "interface 99"},
    {"null-required", ZETA_PLUGIN_STATE_REFUSED, "lacks the function clock"},
    {"small-table", ZETA_PLUGIN_STATE_REFUSED, "lacks the function properties"},
    {"no-device-table", ZETA_PLUGIN_STATE_REFUSED, "no table \"device\""},
    {"no-finish", ZETA_PLUGIN_STATE_REFUSED, "lacks the function finish"},
    {"no-attach", ZETA_PLUGIN_STATE_REFUSED, "table \"debug\" lacks the function attach"},
    {"init-error", ZETA_PLUGIN_STATE_FAILED, "join the group render"},
    {"enumerate-error", ZETA_PLUGIN_STATE_FAILED, "Listing devices"},
    {"rubbish-count", ZETA_PLUGIN_STATE_FAILED, "3735928559 devices"},
    {"null-device", ZETA_PLUGIN_STATE_FAILED, "null pointer"},
    {"no-device-id", ZETA_PLUGIN_STATE_FAILED, "no id"},
    {"zero-timer", ZETA_PLUGIN_STATE_FAILED, "0 Hz"},
    {"late-parent", ZETA_PLUGIN_STATE_FAILED, "not listed before"},
    {"properties-error", ZETA_PLUGIN_STATE_FAILED, "0x70000001"},
};

/* Rule 1.14. */
static void host__faulty_plugins__have_reasons_and_hide_nobody(void **state)
{
    char file[64];
    char extra[128];

    (void)state;
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        (void)snprintf(file, sizeof(file), "10-%s.yaml", faults[i].fault);
        (void)snprintf(extra, sizeof(extra), "settings: {fault: %s}\n", faults[i].fault);
        harness_manifest(file, faults[i].fault, FAULTY, "debug", extra);
    }
    add_good();
    harness_start();
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        harness_expect(faults[i].fault, faults[i].state, faults[i].words);
    expect_good();
    assert_null(harness_device("faulty0"));
}

static void host__promised_table_missing__is_refused(void **state)
{
    (void)state;
    harness_manifest("10-c.yaml", "c", FAKE, "compute", "settings: {compute: \"no\"}\n");
    harness_manifest("10-m.yaml", "m", FAKE, STREAM, "settings: {metric: \"no\"}\n");
    harness_manifest("10-q.yaml", "q", FAKE, STREAM ", metric.query",
                     "settings: {compute: \"no\"}\n");
    harness_manifest("10-h.yaml", "h", FAKE, "compute", "settings: {compute: queues}\n");
    harness_manifest("10-d.yaml", "d", FAKE, "debug", "settings: {debug: \"no\"}\n");
    harness_start();
    harness_expect("c", ZETA_PLUGIN_STATE_REFUSED, "promises compute");
    harness_expect("q", ZETA_PLUGIN_STATE_REFUSED, "no queues");
    harness_expect("h", ZETA_PLUGIN_STATE_REFUSED, "lacks the function memory_allocate");
    harness_expect("m", ZETA_PLUGIN_STATE_REFUSED, "promises metrics");
    harness_expect("d", ZETA_PLUGIN_STATE_REFUSED, "promises debug");
}

/* An ELF header of 64 bytes with another machine; enough to be told apart. */
static void write_elf(const char *name, unsigned char bits, unsigned char machine,
                      unsigned char type)
{
    unsigned char header[64] = {0x7f, 'E', 'L', 'F', bits, 1, 1};
    FILE *file;

    header[16] = type;
    header[18] = machine;
    file = fopen(harness_path(name), "w");
    assert_non_null(file);
    assert_int_equal(fwrite(header, sizeof(header), 1, file), 1);
    assert_int_equal(fclose(file), 0);
}

static void library__unusable__names_the_cause(void **state)
{
    (void)state;
    harness_manifest("10-gone.yaml", "gone", "./gone.so", "debug", "");
    harness_write("text.so", "this is no library\n");
    harness_manifest("10-text.yaml", "text", "./text.so", "debug", "");
    write_elf("arm.so", 2, 183, 3);
    harness_manifest("10-arm.yaml", "arm", "./arm.so", "debug", "");
    write_elf("small.so", 1, 3, 3);
    harness_manifest("10-small.yaml", "small", "./small.so", "debug", "");
    write_elf("program.so", 2, 62, 2);
    harness_manifest("10-program.yaml", "program", "./program.so", "debug", "");
    write_elf("cut.so", 2, 62, 3);
    harness_manifest("10-cut.yaml", "cut", "./cut.so", "debug", "");
    harness_write("folder.so/file", "x");
    harness_manifest("10-folder.yaml", "folder", "./folder.so", "debug", "");
    harness_manifest("10-entry.yaml", "entry", PLUGINS "/no_entry.so", "debug", "");
    harness_manifest("10-symbol.yaml", "symbol", PLUGINS "/unresolved.so", "debug", "");
    add_good();
    harness_start();
    harness_expect("gone", ZETA_PLUGIN_STATE_NOT_LOADABLE, "gone.so cannot be opened (No such");
    harness_expect("text", ZETA_PLUGIN_STATE_NOT_LOADABLE, "text.so is not an ELF file");
#if defined(__x86_64__)
    harness_expect("arm", ZETA_PLUGIN_STATE_NOT_LOADABLE, "another architecture (aarch64, 64 bit)");
    harness_expect("small", ZETA_PLUGIN_STATE_NOT_LOADABLE, "another architecture (i386, 32 bit)");
    harness_expect("program", ZETA_PLUGIN_STATE_NOT_LOADABLE, "not a shared library");
    harness_expect("cut", ZETA_PLUGIN_STATE_NOT_LOADABLE, "cannot be loaded");
#endif
    harness_expect("folder", ZETA_PLUGIN_STATE_NOT_LOADABLE, "not a regular file");
    harness_expect("entry", ZETA_PLUGIN_STATE_NOT_LOADABLE, "does not export");
    harness_expect("symbol", ZETA_PLUGIN_STATE_NOT_LOADABLE, "zeta_test_function_of_nowhere");
    harness_expect("symbol", ZETA_PLUGIN_STATE_NOT_LOADABLE, "ldd -r");
    expect_good();
}

static void library__is_the_host_itself__is_refused(void **state)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

    (void)state;
    assert_cmp(length, >, 0);
    self[length] = '\0';
    harness_manifest("10-self.yaml", "self", self, "debug", "");
    harness_start();
    harness_expect("self", ZETA_PLUGIN_STATE_REFUSED, "libzeta itself");
}

static void library__dots_that_leave_the_tree__are_refused(void **state)
{
    (void)state;
    harness_write("lib.so", "no library");
    harness_write("deep/plugins.d/10-in.yaml", "%s", "");
    harness_manifest("deep/plugins.d/10-out.yaml", "out", "../../lib.so", "debug", "");
    harness_write("deep/in.so", "no library");
    harness_manifest("deep/plugins.d/10-in.yaml", "in", "../in.so", "debug", "");
    (void)setenv("ZETA_PLUGIN_PATH", harness_path("deep"), 1);
    harness_start();
    harness_expect("out", ZETA_PLUGIN_STATE_REFUSED, "leaves the directory");
    harness_expect("in", ZETA_PLUGIN_STATE_NOT_LOADABLE, "not an ELF file");
}

static void write_abi(const char *file, const char *id, int min, int max)
{
    harness_write(file,
                  "format: \"1.0\"\nid: %s\nclass: software\nlibrary: ./none.so\n"
                  "abi: {min: %d, max: %d}\nprovides: [debug]\nmatches: {always: true}\n",
                  id, min, max);
}

static void abi__range_of_manifest_without_ours__is_refused_unopened(void **state)
{
    (void)state;
    write_abi("10-old.yaml", "old", 0, 0);
    write_abi("10-new.yaml", "new", 2, 9);
    harness_start();
    harness_expect("old", ZETA_PLUGIN_STATE_REFUSED, "too old");
    harness_expect("new", ZETA_PLUGIN_STATE_REFUSED, "too new");
}

static void manifest__broken__is_a_record_with_line_and_column(void **state)
{
    size_t count = 0;
    const struct zeta_plugin_info *records;

    (void)state;
    harness_write("10-broken.yaml", "format: \"1.0\"\nid: [unclosed\n");
    harness_write("20-other.yaml", "something: else\n");
    harness_write("30-empty.yaml", "%s", "# nothing\n");
    add_good();
    harness_start();
    records = zeta_plugin_host_infos(&count);
    assert_int_equal(count, 2); /* files of another kind are nobody's mistake */
    assert_int_equal(records[0].state, ZETA_PLUGIN_STATE_NOT_LOADABLE);
    assert_non_null(strstr(records[0].reason, "10-broken.yaml:"));
    assert_string_equal(records[0].id, "");
    expect_good();
}

static void plugin__no_device__is_silent_success(void **state)
{
    (void)state;
    harness_manifest("10-null.yaml", "null", FAKE, "compute, " STREAM, "");
    harness_start();
    harness_expect("null", ZETA_PLUGIN_STATE_NO_DEVICE, "finds no device");
}

static void write_pci(const char *slot, unsigned device, unsigned class_code)
{
    char name[128];

    (void)snprintf(name, sizeof(name), "sys/bus/pci/devices/%s/modalias", slot);
    harness_write(name, "pci:v00001234d%08Xsv00000000sd00000000bc%02Xsc00i00\n", device,
                  class_code);
}

/* Rule 1.12. */
static void unknown__device_that_no_manifest_names__is_told_and_hides_nobody(void **state)
{
    (void)state;
    zeta_paths_set_root(harness_dir);
    write_pci("0000:00:02.0", 0x11, 3);
    write_pci("0000:00:03.0", 0x22, 3);
    write_pci("0000:00:04.0", 0x33, 2);
    harness_write("plugins.d/30-unknown.yaml",
                  "format: \"1.0\"\nid: unknown\nclass: hardware\n"
                  "matches: [{pci: {vendor: 0x1234, class: 3}}]\nunnamed: Ask elsewhere.\n");
    harness_write("plugins.d/31-none.yaml",
                  "format: \"1.0\"\nid: none\nclass: hardware\n"
                  "matches: [{pci: {vendor: 0x1234, class: 5}}]\nunnamed: Never said.\n");
    /* It names one of them, and need not work for that. */
    harness_write("plugins.d/20-named.yaml",
                  "format: \"1.0\"\nid: named\nclass: hardware\nlibrary: ./gone.so\n"
                  "abi: {min: 1, max: 1}\nprovides: [debug]\n"
                  "matches: [{pci: {vendor: 0x1234, device: 0x11}, drm_driver: other}]\n");
    harness_write("plugins.d/90-soft.yaml",
                  "format: \"1.0\"\nid: soft\nclass: software\nlibrary: " FAKE "\n"
                  "abi: {min: 1, max: 1}\nprovides: [compute, metric.stream]\n"
                  "matches: {always: true}\nsettings: {devices: soft0}\n");
    harness_start();
    harness_expect(
        "unknown", ZETA_PLUGIN_STATE_FAILED,
        "No manifest names the PCI device 0x1234:0x0022 at 0000:00:03.0. Ask elsewhere.");
    harness_expect("none", ZETA_PLUGIN_STATE_NO_DEVICE, "other manifests name");
    harness_expect("soft", ZETA_PLUGIN_STATE_ACTIVE, "");
    assert_non_null(harness_device("soft0"));
}

/* Rule 1.16. */
static void needs__not_met__are_part_of_the_reason(void **state)
{
    (void)state;
    harness_manifest("10-null.yaml", "null", FAKE, "debug",
                     "needs: {devices: [\"/dev/fake*\", \"/dev/there\"], any_of: [CAP_PERFMON, "
                     "CAP_SYS_ADMIN]}\n");
    harness_manifest("20-err.yaml", "err", FAULTY, "debug",
                     "needs: {devices: /dev/gone}\nsettings: {fault: init-error}\n");
    harness_manifest("30-mute.yaml", "mute", FAULTY, "debug",
                     "needs: {devices: /dev/gone}\nsettings: {fault: enumerate-error}\n");
    harness_write("root/dev/there", "%s", "");
    zeta_paths_set_root(harness_path("root"));
    harness_start();
    harness_expect("null", ZETA_PLUGIN_STATE_NO_DEVICE, "needs /dev/fake*, which does not exist");
    harness_expect("null", ZETA_PLUGIN_STATE_NO_DEVICE, "one of CAP_PERFMON, CAP_SYS_ADMIN");
    assert_null(strstr(harness_record("null")->reason, "/dev/there"));
    harness_expect("mute", ZETA_PLUGIN_STATE_FAILED, "gave no reason. It needs /dev/gone");
    /* Its own words are all that is said. */
    harness_expect("err", ZETA_PLUGIN_STATE_FAILED, "join the group render");
    assert_string_equal(harness_record("err")->reason,
                        "/dev/fake0 may not be opened; join the group render");
}

static void filter__select_and_disable__disable_wins(void **state)
{
    (void)state;
    harness_manifest("10-a.yaml", "intel-a", FAKE, STREAM, "settings: {devices: a0}\n");
    harness_manifest("20-b.yaml", "intel-b", FAKE, STREAM, "settings: {devices: b0}\n");
    harness_manifest("30-c.yaml", "other", FAKE, STREAM, "settings: {devices: c0}\n");
    (void)setenv("ZETA_PLUGINS_SELECT", "intel-*", 1);
    (void)setenv("ZETA_PLUGINS_DISABLE", "x,*-b", 1);
    harness_start();
    harness_expect("intel-a", ZETA_PLUGIN_STATE_ACTIVE, "");
    harness_expect("intel-b", ZETA_PLUGIN_STATE_DISABLED, "environment ZETA_PLUGINS_DISABLE");
    harness_expect("other", ZETA_PLUGIN_STATE_DISABLED, "environment ZETA_PLUGINS_SELECT");
}

/* Rule 1.16. */
static void filter__plugin_for_another_machine__is_no_device_not_disabled(void **state)
{
    (void)state;
    add_good();
    harness_write(
        "20-other.yaml",
        "format: \"1.0\"\nid: other\nclass: hardware\nlibrary: %s\nabi: {min: 1, max: 1}\n"
        "provides: [" STREAM "]\nmatches: [{device: /dev/not-here}]\n",
        FAKE);
    (void)setenv("ZETA_PLUGINS_SELECT", "good", 1);
    harness_start();
    harness_expect("good", ZETA_PLUGIN_STATE_ACTIVE, "");
    harness_expect("other", ZETA_PLUGIN_STATE_NO_DEVICE, "/dev/not-here");
}

/* Rule 1.11. */
static void filter__never_and_always__by_environment(void **state)
{
    (void)state;
    add_good();
    harness_write("10-x.yaml",
                  "format: \"1.0\"\nid: x-y\nclass: software\nlibrary: %s\n"
                  "abi: {min: 1, max: 1}\nprovides: [debug]\nsettings: {devices: x0}\n",
                  FAKE);
    (void)setenv("ZETA_PLUGIN_GOOD_ENABLE", "never", 1);
    harness_start();
    harness_expect("good", ZETA_PLUGIN_STATE_DISABLED, "enable is never");
    harness_expect("x-y", ZETA_PLUGIN_STATE_NO_DEVICE, "no \"matches\"");
    zeta_plugin_host_stop();
    zeta_settings_unload();
    (void)unsetenv("ZETA_PLUGIN_GOOD_ENABLE");
    (void)setenv("ZETA_PLUGIN_X_Y_ENABLE", "always", 1);
    harness_start();
    (void)unsetenv("ZETA_PLUGIN_X_Y_ENABLE");
    expect_good();
    harness_expect("x-y", ZETA_PLUGIN_STATE_ACTIVE, "");
}

static void arch__of_another_machine__is_passed_over(void **state)
{
    (void)state;
    harness_manifest("10-a.yaml", "a", "./none.so", "debug", "arch: vax\n");
    harness_start();
    harness_expect("a", ZETA_PLUGIN_STATE_NO_DEVICE, "is for vax");
}

static void write_hardware(const char *file, const char *id, const char *library,
                           const char *settings)
{
    harness_write(file,
                  "format: \"1.0\"\nid: %s\nclass: hardware\nlibrary: %s\nabi: {min: 1, max: 1}\n"
                  "provides: [" STREAM "]\nmatches: [{always: true}]\nsettings: {%s}\n",
                  id, library, settings);
}

/* Rule 1.11. */
static void software__hardware_matched__is_hidden_even_if_that_fails(void **state)
{
    (void)state;
    add_good();
    write_hardware("90-hw.yaml", "hw", "./missing.so", "");
    harness_start();
    harness_expect("hw", ZETA_PLUGIN_STATE_NOT_LOADABLE, "missing.so");
    harness_expect("good", ZETA_PLUGIN_STATE_DISABLED, "plugins.good.enable: always");
    zeta_plugin_host_stop();
    zeta_settings_unload();
    (void)setenv("ZETA_PLUGIN_GOOD_ENABLE", "always", 1);
    harness_start();
    (void)unsetenv("ZETA_PLUGIN_GOOD_ENABLE");
    expect_good();
    zeta_plugin_host_stop();
    zeta_settings_unload();
    (void)setenv("ZETA_PLUGINS_SELECT", "good", 1);
    harness_start();
    expect_good();
}

static void write_replay(void)
{
    harness_write("95-tape.yaml",
                  "format: \"1.0\"\nid: tape\nclass: replay\nlibrary: %s\nabi: {min: 1, max: 1}\n"
                  "provides: [" STREAM "]\nmatches: [{setting: file}]\n"
                  "settings: {devices: tape0, file: {environment: TEST_TAPE, default: ~}}\n",
                  FAKE);
}

/* Rule 1.13. */
static void replay__setting_without_value__stays_away_silently(void **state)
{
    (void)state;
    add_good();
    write_replay();
    harness_start();
    harness_expect("tape", ZETA_PLUGIN_STATE_NO_DEVICE, "plugins.tape.file (variable TEST_TAPE)");
    expect_good();
}

/* Rule 1.13. */
static void replay__setting_with_value__comes_after_hardware_instead_of_software(void **state)
{
    const struct zeta_plugin_info *records;
    size_t count = 0;

    (void)state;
    add_good();
    write_replay();
    (void)setenv("TEST_TAPE", "a file", 1);
    harness_start();
    harness_expect("tape", ZETA_PLUGIN_STATE_ACTIVE, "");
    harness_expect("good", ZETA_PLUGIN_STATE_DISABLED, "A recording is selected");
    harness_expect("good", ZETA_PLUGIN_STATE_DISABLED, "plugins.good.enable: always");
    records = zeta_plugin_host_infos(&count);
    assert_string_equal(records[0].device_class, "replay");
    zeta_plugin_host_stop();
    zeta_settings_unload();
    write_hardware("99-hw.yaml", "hw", FAKE, "devices: hw0");
    (void)setenv("ZETA_PLUGIN_GOOD_ENABLE", "always", 1);
    harness_start();
    (void)unsetenv("ZETA_PLUGIN_GOOD_ENABLE");
    (void)unsetenv("TEST_TAPE");
    assert_string_equal(zeta_plugin_host_devices(&count)[0].id, "hw0");
    assert_int_equal(count, 3);
    assert_string_equal(zeta_plugin_host_devices(&count)[1].id, "tape0");
    expect_good();
}

static void order__names_bytewise_after_list_and_hardware_first(void **state)
{
    const char *const expected[] = {"hw", "third", "Zoo", "first", "second"};
    const struct zeta_plugin_info *records;
    size_t count = 0;

    (void)state;
    harness_manifest("10-first.yaml", "first", FAKE, STREAM, "settings: {devices: a}\n");
    harness_manifest("20-second.yaml", "second", FAKE, STREAM, "settings: {devices: b}\n");
    harness_manifest("30-third.yaml", "third", FAKE, STREAM, "settings: {devices: c}\n");
    harness_manifest("05-Zoo.yaml", "Zoo", FAKE, STREAM, "settings: {devices: d}\n");
    write_hardware("99-hw.yaml", "hw", FAKE, "devices: e");
    harness_write("zeta.conf", "search: {order: [third]}\nplugins: {first: {enable: always}, "
                               "second: {enable: always}, third: {enable: always}, "
                               "Zoo: {enable: always}}\n");
    (void)setenv("ZETA_CONFIG", harness_path("zeta.conf"), 1);
    harness_start();
    records = zeta_plugin_host_infos(&count);
    assert_int_equal(count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(records[i].id, expected[i]);
    assert_string_equal(zeta_plugin_host_devices(&count)[0].id, "e");
    assert_int_equal(count, 5);
}

static void shadow__same_id_twice__first_directory_wins(void **state)
{
    char path[8192];
    size_t count = 0;
    const struct zeta_plugin_info *records;

    (void)state;
    harness_manifest("one/plugins.d/90-same.yaml", "same", FAKE, STREAM,
                     "settings: {devices: from-one}\n");
    harness_manifest("two/plugins.d/10-same.yaml", "same", FAKE, STREAM,
                     "settings: {devices: from-two}\n");
    (void)snprintf(path, sizeof(path), "%s/one:%s/two:%s/one/", harness_dir, harness_dir,
                   harness_dir);
    (void)setenv("ZETA_PLUGIN_PATH", path, 1);
    harness_start();
    assert_non_null(harness_device("from-one"));
    assert_null(harness_device("from-two"));
    records = zeta_plugin_host_infos(&count);
    assert_int_equal(count, 2);
    assert_int_equal(records[0].state, ZETA_PLUGIN_STATE_SHADOWED);
    assert_non_null(strstr(records[0].reason, "one/plugins.d/90-same.yaml"));
}

static void host__queries_without_compute__need_queues_alone(void **state)
{
    const struct zeta_backend *backend;

    (void)state;
    harness_manifest("10-q.yaml", "q", FAKE, STREAM ", metric.query",
                     "settings: {devices: gpu0, compute: queues}\n");
    harness_start();
    backend = harness_device("gpu0")->providers[ZETA_GROUP_METRIC_QUERY].backend;
    assert_ptr_not_equal(backend->compute.submit, zeta_stub_compute_ops.submit);
    assert_ptr_equal(backend->compute.module_create, zeta_stub_compute_ops.module_create);
    assert_null(harness_device("gpu0")->providers[ZETA_GROUP_COMPUTE].backend);
    assert_int_equal(backend->compute.submit(backend->self, NULL, NULL, NULL),
                     ZETA_PLUGIN_NOT_AVAILABLE);
    assert_int_equal(backend->compute.memory_free(backend->self, NULL),
                     ZETA_PLUGIN_UNSUPPORTED_FEATURE);
}

/* Queues, their groups and their clock are those of one plugin, also behind another one. */
static void merge__queries_without_compute__give_the_identity(void **state)
{
    const struct zeta_backend_device *device;

    (void)state;
    harness_manifest("10-s.yaml", "s", FAKE, STREAM,
                     "settings: {devices: \"gpu0,gpu1\", compute: \"no\"}\n");
    harness_manifest("20-q.yaml", "q", FAKE, STREAM ", metric.query",
                     "settings: {devices: gpu0, compute: queues}\n");
    harness_start();
    device = harness_device("gpu0");
    assert_string_equal(device->providers[ZETA_GROUP_METRIC_STREAM].backend->id, "s");
    assert_string_equal(device->providers[ZETA_GROUP_METRIC_QUERY].backend->id, "q");
    assert_string_equal(device->identity.backend->id, "q");
    assert_string_equal(harness_device("gpu1")->identity.backend->id, "s");
}

static void merge__two_plugins_one_device__share_the_groups(void **state)
{
    const struct zeta_backend_device *device;
    size_t count = 0;

    (void)state;
    /* The first gives streams and queries, the second computes: queries follow compute. */
    harness_manifest("10-m.yaml", "m", FAKE, STREAM ", metric.query, debug",
                     "settings: {devices: \"gpu0,gpu1\", compute: queues}\n");
    harness_manifest("20-c.yaml", "c", FAKE, "compute, " STREAM ", metric.query, instrument",
                     "settings: {devices: \"gpu0,gpu0/a\"}\n");
    harness_start();
    (void)zeta_plugin_host_devices(&count);
    assert_int_equal(count, 3);
    device = harness_device("gpu0");
    assert_string_equal(device->providers[ZETA_GROUP_COMPUTE].backend->id, "c");
    assert_string_equal(device->providers[ZETA_GROUP_METRIC_QUERY].backend->id, "c");
    assert_string_equal(device->providers[ZETA_GROUP_INSTRUMENT].backend->id, "c");
    assert_string_equal(device->providers[ZETA_GROUP_METRIC_STREAM].backend->id, "m");
    assert_string_equal(device->providers[ZETA_GROUP_DEBUG].backend->id, "m");
    assert_null(device->providers[ZETA_GROUP_METRIC_TRACER].backend);
    assert_string_equal(device->identity.backend->id, "c");
    assert_memory_equal(device->properties.name.data, "c", 2);
    /* Without a second plugin the first keeps its queries. */
    device = harness_device("gpu1");
    assert_string_equal(device->providers[ZETA_GROUP_METRIC_QUERY].backend->id, "m");
    assert_null(device->providers[ZETA_GROUP_COMPUTE].backend);
    assert_string_equal(device->identity.backend->id, "m");
    device = harness_device("gpu0/a");
    assert_int_equal(device->parent, 0);
    assert_string_equal(zeta_plugin_host_devices(&count)[device->parent].id, "gpu0");
}

/* A backend that only says why it cannot is in nobody's way. */
static void merge__debug_of_two_plugins__is_of_the_first_that_attaches(void **state)
{
    struct zeta_plugin_debug_properties properties = {.struct_size = sizeof(properties)};
    const struct zeta_provider *debug;

    (void)state;
    harness_manifest("10-m.yaml", "m", FAKE, STREAM ", debug",
                     "settings: {devices: \"debug0,gpu1\"}\n");
    harness_manifest("20-d.yaml", "fake-debug", SCRIPTED_LIBRARY, "debug", "");
    harness_start();
    debug = harness_device("debug0")->providers;
    assert_string_equal(debug[ZETA_GROUP_METRIC_STREAM].backend->id, "m");
    assert_string_equal(debug[ZETA_GROUP_DEBUG].backend->id, "fake-debug");
    debug = &harness_device("gpu1")->providers[ZETA_GROUP_DEBUG];
    assert_string_equal(debug->backend->id, "m");
    assert_int_equal(
        debug->backend->debug.properties(debug->backend->self, debug->device, &properties),
        ZETA_PLUGIN_UNSUPPORTED_FEATURE);
}

static void settings__of_manifest_file_and_environment__reach_the_plugin(void **state)
{
    (void)state;
    harness_manifest("10-m.yaml", "m", FAKE, STREAM, "settings: {devices: by-manifest}\n");
    harness_manifest("10-f.yaml", "f", FAKE, STREAM, "settings: {devices: by-manifest-too}\n");
    harness_manifest("10-e.yaml", "e", FAKE, STREAM,
                     "settings: {devices: {default: x, environment: ZETA_TEST_DEVICES}}\n");
    harness_manifest("10-g.yaml", "g", FAKE, STREAM, "");
    harness_write("conf", "plugins: {f: {devices: by-file}, e: {devices: by-file-too}}\n");
    (void)setenv("ZETA_CONFIG", harness_path("conf"), 1);
    (void)setenv("ZETA_TEST_DEVICES", "by-own-variable", 1);
    (void)setenv("ZETA_PLUGIN_G_DEVICES", "by-derived-variable", 1);
    harness_start();
    (void)unsetenv("ZETA_TEST_DEVICES");
    (void)unsetenv("ZETA_PLUGIN_G_DEVICES");
    assert_non_null(harness_device("by-manifest"));
    assert_non_null(harness_device("by-file"));
    assert_non_null(harness_device("by-own-variable"));
    assert_non_null(harness_device("by-derived-variable"));
    assert_string_equal(zeta_settings_find("plugins.e.devices")->origin,
                        "environment ZETA_TEST_DEVICES");
    assert_non_null(strstr(zeta_settings_find("plugins.m.devices")->origin, "10-m.yaml:10"));
}

/* Rule 1.15. */
static void sets__globs__expand_in_the_places_of_the_plugin(void **state)
{
    const struct zeta_backend *backend;

    (void)state;
    harness_write("t/plugins.d/vg/a.yaml", "x: 1\n");
    harness_write("t/vg2/b.yaml", "x: 1\n");
    harness_write("t/vg2/c.yaml", "x: 1\n");
    harness_write("t/metrics.d/user.yaml", "x: 1\n");
    harness_manifest("t/plugins.d/10-p.yaml", "p", FAKE, STREAM,
                     "settings: {devices: d}\nmetrics: [\"vg/*.yaml\", \"vg2/*.yaml\", "
                     "\"none/*.yaml\"]\n");
    (void)setenv("ZETA_PLUGIN_PATH", harness_path("t"), 1);
    harness_start();
    backend = harness_device("d")->identity.backend;
    assert_int_equal(backend->set_file_count, 3);
    assert_non_null(strstr(backend->set_files[0], "plugins.d/vg/a.yaml"));
    assert_non_null(strstr(backend->set_files[2], "vg2/c.yaml"));
    {
        size_t count = 0;
        const char *const *sets = zeta_plugin_host_user_sets(&count);

        assert_int_equal(count, 1);
        assert_non_null(strstr(sets[0], "metrics.d/user.yaml"));
    }
}

/* Rule 1.15. */
static void sets__of_zeta_itself__serve_manifests_elsewhere(void **state)
{
    const struct zeta_backend *backend;

    (void)state;
    harness_manifest("t/plugins.d/10-p.yaml", "p", FAKE, STREAM,
                     "settings: {devices: d}\nmetrics: [schema/set.yaml, schema/manifest.yaml]\n");
    harness_write("t/schema/manifest.yaml", "x: 1\n");
    (void)setenv("ZETA_PLUGIN_PATH", harness_path("t"), 1);
    harness_start();
    backend = harness_device("d")->identity.backend;
    assert_int_equal(backend->set_file_count, 2);
    assert_string_equal(backend->set_files[0], ZETA_BUILD_DIR "/share/zeta/schema/set.yaml");
    assert_string_equal(backend->set_files[1], harness_path("t/schema/manifest.yaml"));
}

static void critical__not_active__fails_initialisation(void **state)
{
    (void)state;
    harness_manifest("10-gone.yaml", "gone", "./gone.so", "debug", "");
    harness_write("conf", "plugins: {gone: {critical: true}}\n");
    (void)setenv("ZETA_CONFIG", harness_path("conf"), 1);
    assert_int_equal(zeta_plugin_host_start(), ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    assert_non_null(strstr(zeta_error_describe(), "gone.so"));
    assert_non_null(strstr(zeta_error_describe(), "conf:1"));
}

static void trust__world_writable__is_refused_as_root(void **state)
{
    (void)state;
    harness_manifest("10-a.yaml", "a", FAKE, STREAM, "settings: {devices: a0}\n");
    assert_int_equal(chmod(harness_path("10-a.yaml"), 0666), 0);
    add_good();
    zeta_trust_pretend(ZETA_TRUST_ROOT);
    harness_start();
    assert_null(harness_device("a0"));
    expect_good();
    zeta_plugin_host_stop();
    zeta_settings_unload();
    /* Now every manifest of the directory, for the directory itself can be changed by all. */
    assert_int_equal(chmod(harness_path("10-a.yaml"), 0644), 0);
    assert_int_equal(chmod(harness_dir, 0777), 0);
    harness_start();
    assert_null(harness_device("good0"));
    {
        size_t count = 0;
        const struct zeta_plugin_info *records = zeta_plugin_host_infos(&count);

        assert_int_equal(count, 2);
        assert_int_equal(records[0].state, ZETA_PLUGIN_STATE_REFUSED);
        assert_non_null(strstr(records[0].reason, "writable by everybody"));
    }
    assert_int_equal(chmod(harness_dir, 0755), 0);
}

static void privileged__variables__are_not_read(void **state)
{
    size_t count = 1;

    (void)state;
    add_good();
    zeta_trust_pretend(ZETA_TRUST_PRIVILEGED);
    zeta_paths_set_root(harness_path("nothing-here"));
    (void)setenv("ZETA_ADD_PLUGIN_PATH", harness_dir, 1);
    harness_start();
    assert_null(harness_record("good"));
    assert_null(harness_device("good0"));
    (void)zeta_plugin_host_user_sets(&count);
    assert_int_equal(count, 0);
}

static void privileged__trusted_system_directory__is_used_through_a_descriptor(void **state)
{
    char library[8192];
    char command[20000];

    (void)state;
    if (geteuid() != 0)
        skip(); /* files of the system belong to root */
    harness_write("sys" ZETA_TEST_SYSCONFDIR "/zeta/plugins.d/x", "%s", "");
    (void)snprintf(library, sizeof(library), "%s/sys/copy.so", harness_dir);
    (void)snprintf(command, sizeof(command), "cp %s %s", FAKE, library);
    assert_int_equal(system(command), 0);
    harness_manifest("sys" ZETA_TEST_SYSCONFDIR "/zeta/plugins.d/10-p.yaml", "p", library, STREAM,
                     "settings: {devices: p0}\n");
    zeta_paths_set_root(harness_path("sys"));
    zeta_trust_pretend(ZETA_TRUST_PRIVILEGED);
    harness_start();
    harness_expect("p", ZETA_PLUGIN_STATE_ACTIVE, "");
    zeta_plugin_host_stop();
    zeta_settings_unload();
    assert_int_equal(chmod(library, 0775), 0);
    harness_start();
    harness_expect("p", ZETA_PLUGIN_STATE_REFUSED, "writable by its group");
}

static size_t count_descriptors(void)
{
    DIR *all = opendir("/proc/self/fd");
    size_t count = 0;

    assert_non_null(all);
    while (readdir(all))
        count++;
    (void)closedir(all);
    return count;
}

static void host__started_and_stopped_often__keeps_descriptors_level(void **state)
{
    size_t before;

    (void)state;
    add_good();
    harness_start();
    zeta_plugin_host_stop();
    before = count_descriptors();
    for (int i = 0; i < 200; i++) {
        harness_start();
        assert_non_null(harness_device("good0"));
        zeta_plugin_host_stop();
    }
    assert_int_equal(count_descriptors(), before);
}

/* In the child: the plugin that knows about forks is there, the other says why it is not. */
static int child_of_fork(void)
{
    const struct zeta_plugin_info *record;
    size_t count = 1;

    (void)zeta_plugin_host_devices(&count);
    if (count != 0)
        return 1;
    if (zeta_plugin_host_start() != ZE_RESULT_SUCCESS)
        return 2;
    if (!harness_device("k0") || harness_device("good0"))
        return 3;
    record = harness_record("good");
    if (!record || record->state != ZETA_PLUGIN_STATE_DISABLED || !strstr(record->reason, "Forked"))
        return 4;
    record = harness_record("knows");
    return record && record->state == ZETA_PLUGIN_STATE_ACTIVE ? 0 : 5;
}

/* Rule 1.7. */
static void fork__child__keeps_plugins_that_can(void **state)
{
    int status = 0;
    pid_t child;

    (void)state;
    add_good();
    harness_manifest("10-k.yaml", "knows", FAKE, STREAM,
                     "settings: {devices: k0, fork: \"yes\"}\n");
    harness_start();
    child = fork();
    if (child == 0)
        _exit(child_of_fork());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    expect_good();
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, harness_setup, harness_teardown)

SUITE(host)
{
    const struct CMUnitTest tests[] = {
        CASE(host__no_manifest__has_no_device),
        CASE(host__good_plugin__is_active_with_device_and_tables),
        CASE(host__plugin_without_optional_functions__has_stubs),
        CASE(host__faulty_plugins__have_reasons_and_hide_nobody),
        CASE(host__promised_table_missing__is_refused),
        CASE(library__unusable__names_the_cause),
        CASE(library__is_the_host_itself__is_refused),
        CASE(library__dots_that_leave_the_tree__are_refused),
        CASE(abi__range_of_manifest_without_ours__is_refused_unopened),
        CASE(manifest__broken__is_a_record_with_line_and_column),
        CASE(plugin__no_device__is_silent_success),
        CASE(unknown__device_that_no_manifest_names__is_told_and_hides_nobody),
        CASE(needs__not_met__are_part_of_the_reason),
        CASE(filter__select_and_disable__disable_wins),
        CASE(filter__plugin_for_another_machine__is_no_device_not_disabled),
        CASE(filter__never_and_always__by_environment),
        CASE(arch__of_another_machine__is_passed_over),
        CASE(software__hardware_matched__is_hidden_even_if_that_fails),
        CASE(replay__setting_without_value__stays_away_silently),
        CASE(replay__setting_with_value__comes_after_hardware_instead_of_software),
        CASE(order__names_bytewise_after_list_and_hardware_first),
        CASE(shadow__same_id_twice__first_directory_wins),
        CASE(host__queries_without_compute__need_queues_alone),
        CASE(merge__queries_without_compute__give_the_identity),
        CASE(merge__two_plugins_one_device__share_the_groups),
        CASE(merge__debug_of_two_plugins__is_of_the_first_that_attaches),
        CASE(settings__of_manifest_file_and_environment__reach_the_plugin),
        CASE(sets__globs__expand_in_the_places_of_the_plugin),
        CASE(sets__of_zeta_itself__serve_manifests_elsewhere),
        CASE(critical__not_active__fails_initialisation),
        CASE(trust__world_writable__is_refused_as_root),
        CASE(privileged__variables__are_not_read),
        CASE(privileged__trusted_system_directory__is_used_through_a_descriptor),
        CASE(host__started_and_stopped_often__keeps_descriptors_level),
        CASE(fork__child__keeps_plugins_that_can),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
