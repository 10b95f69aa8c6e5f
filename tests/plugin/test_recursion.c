/*
 * A plugin that initialises the library which is just opening it: an error, no dead-lock.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/harness/mode.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include "zeta/zeta.h"

/* Rule 1.17. */
static void plugin__calls_zeinit__fails_alone(void **state)
{
    skip_in(HARNESS_ANY_LOADER, "zeInit of the plugin is that of the loader, which waits for the "
                                "zeInit that is opening the plugin");
    struct zeta_plugin_info info = {.struct_size = sizeof(info)};
    char path[] = "/tmp/zeta-recursion-XXXXXX";
    int fd = mkstemp(path);
    uint32_t count = 1;
    FILE *file;

    (void)state;
    assert_cmp(fd, >=, 0);
    file = fdopen(fd, "w");
    assert_non_null(file);
    (void)fprintf(file,
                  "format: \"1.0\"\nid: recursive\nclass: software\nlibrary: %s\n"
                  "abi: {min: 1, max: 1}\nprovides: [debug]\nmatches: [{always: true}]\n",
                  ZETA_BUILD_DIR "/tests/plugins/recursive.so");
    assert_int_equal(fclose(file), 0);
    (void)setenv("ZETA_PLUGIN_PATH", path, 1);
    (void)setenv("ZETA_LOG", "error", 1);
    (void)alarm(600); /* a dead-lock ends as a signal */
    assert_int_equal(zeInit(0), ZE_RESULT_SUCCESS);
    (void)alarm(0);
    (void)unlink(path);
    assert_int_equal(zetaPluginGet(&count, &info), ZE_RESULT_SUCCESS);
    assert_int_equal(count, 1);
    assert_string_equal(info.id, "recursive");
    assert_int_equal(info.state, ZETA_PLUGIN_STATE_FAILED);
    assert_non_null(strstr(info.reason, "0x78000001")); /* UNINITIALIZED, from zeInit */
}

SUITE(recursion)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plugin__calls_zeinit__fails_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
