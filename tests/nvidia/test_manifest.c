/* The manifest: on which machines the plugin is opened, and what others are told. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zeta/yaml.h>

#include "core/plugin/manifest.h"
#include "core/plugin/match.h"
#include "core/settings/paths.h"
#include "tests/cuda/cuda.h"
#include "tests/support/suite.h"

static struct cuda_machine *machine;
static char root[4096];

static int start(void **state)
{
    (void)state;
    machine = cuda_start("{format: 1, gpus: [{chip: gh100}, {chip: ad102}]}");
    assert_non_null(machine);
    (void)snprintf(root, sizeof(root), "%.4000s/root", cuda_folder(machine));
    zeta_paths_set_root(root);
    return 0;
}

static int end(void **state)
{
    (void)state;
    zeta_paths_set_root(NULL);
    cuda_stop(machine);
    return 0;
}

/* Removes a file or link of the machine. */
static void take_away(const char *name)
{
    char path[4352];

    (void)snprintf(path, sizeof(path), "%s/%.200s", root, name);
    assert_int_equal(remove(path), 0);
}

/* Fails unless the answers are these; words: of the reason, NULL: it matches. */
static void expect_match(bool has_hardware, const char *words)
{
    struct zeta_machine found = {0};
    struct zeta_manifest manifest;
    struct zeta_text reason = {0};
    struct zeta_yaml_error error;
    bool is_partly = false;
    size_t length;
    char *text = zeta_yaml_read_text(ZETA_BUILD_DIR "/share/zeta/plugins.d/30-nvidia.yaml", NULL,
                                     &length, &error);
    struct zeta_yaml_document *document;

    assert_non_null(text);
    document = zeta_yaml_parse(text, length, "30-nvidia.yaml", NULL, &error);
    assert_non_null(document);
    assert_int_equal(zeta_manifest_read(document, NULL, &manifest), ZETA_MANIFEST_GOOD);
    assert_int_equal(zeta_machine_matches(&found, &manifest, &reason, &is_partly), words == NULL);
    assert_int_equal(is_partly, has_hardware);
    if (words && !strstr(zeta_text_get(&reason), words))
        fail_msg("\"%s\" lacks \"%s\"", zeta_text_get(&reason), words);
    zeta_text_finish(&reason);
    zeta_machine_finish(&found);
    zeta_manifest_finish(&manifest);
    zeta_yaml_free(document);
    free(text);
}

static void machine__with_the_driver__matches(void **state)
{
    (void)state;
    expect_match(false, NULL);
}

/* A container without /sys has the node alone. */
static void machine__with_the_node_alone__matches(void **state)
{
    (void)state;
    for (int i = 6; i < 8; i++) {
        char name[64];

        (void)snprintf(name, sizeof(name), "sys/bus/pci/devices/0000:%02d:00.0/vendor", i);
        take_away(name);
    }
    expect_match(false, NULL);
}

/* Rule 28.2. */
static void machine__without_the_node__says_what_driver_it_has(void **state)
{
    (void)state;
    take_away("dev/nvidiactl");
    expect_match(true, " at 0000:0");
    expect_match(true, "has the kernel driver nvidia, and there is no file /dev/nvidiactl");
    take_away("sys/bus/pci/devices/0000:06:00.0/driver");
    take_away("sys/bus/pci/devices/0000:07:00.0/driver");
    expect_match(true, "has no kernel driver, and there is no file /dev/nvidiactl");
}

static void machine__without_nvidia__does_not_match(void **state)
{
    (void)state;
    zeta_paths_set_root(cuda_folder(machine)); /* a folder without all that */
    expect_match(false, "Nothing on this machine matches: looked for a PCI device 0x10de:*");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, start, end)

SUITE(manifest)
{
    const struct CMUnitTest tests[] = {
        CASE(machine__with_the_driver__matches),
        CASE(machine__with_the_node_alone__matches),
        CASE(machine__without_nvidia__does_not_match),
        CASE(machine__without_the_node__says_what_driver_it_has),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
