/*
 * The functions of zeta.h about plugins, search paths, settings and the last error.
 */
#include "zeta/zeta.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/plugin/entry.h"
#include "core/settings/paths.h"
#include "core/settings/settings.h"
#include "core/util/trust.h"
#include "tests/plugin/harness.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static void functions__before_start__say_uninitialised(void **state)
{
    uint32_t count = 7;

    (void)state;
    assert_int_equal(zetaPluginGet(&count, NULL), ZE_RESULT_ERROR_UNINITIALIZED);
    assert_int_equal(zetaSettingGet(&count, NULL), ZE_RESULT_ERROR_UNINITIALIZED);
    assert_int_equal(count, 7);
    assert_non_null(strstr(zetaGetLastError(), "zeInit"));
    assert_string_equal(zetaGetVersion(), ZETA_TEST_VERSION);
}

static void plugin_get__count_and_struct_size__are_honoured(void **state)
{
    struct {
        struct zeta_plugin_info info;
        char guard[16];
    } larger[2];
    struct zeta_plugin_info info = {.struct_size = sizeof(info)};
    uint32_t count = 0;

    (void)state;
    harness_manifest("10-a.yaml", "a", PLUGINS "/fake.so", "compute, metric.stream",
                     "settings: {devices: a0}\n");
    harness_manifest("20-b.yaml", "b", "./none.so", "debug", "");
    harness_start();
    assert_int_equal(zetaPluginGet(&count, NULL), ZE_RESULT_SUCCESS);
    assert_int_equal(count, 2);
    count = 1;
    assert_int_equal(zetaPluginGet(&count, &info), ZE_RESULT_SUCCESS);
    assert_int_equal(count, 1);
    assert_string_equal(info.id, "a");
    assert_int_equal(info.state, ZETA_PLUGIN_STATE_ACTIVE);
    assert_string_equal(info.provides, "compute,metric.stream");
    assert_string_equal(info.device_class, "software");
    assert_string_equal(info.reason, "");
    assert_int_equal(info.device_count, 1);

    /* A caller of tomorrow has larger elements; what lies behind ours stays as it is. */
    memset(larger, 0x5a, sizeof(larger));
    larger[0].info.struct_size = sizeof(larger[0]);
    larger[1].info.struct_size = sizeof(larger[1]);
    count = 9;
    assert_int_equal(zetaPluginGet(&count, &larger[0].info), ZE_RESULT_SUCCESS);
    assert_int_equal(count, 2);
    assert_string_equal(larger[1].info.id, "b");
    assert_int_equal(larger[1].info.state, ZETA_PLUGIN_STATE_NOT_LOADABLE);
    assert_int_equal(larger[0].guard[0], 0x5a);

    /* A caller of yesterday has shorter ones. */
    info = (struct zeta_plugin_info){.struct_size = offsetof(struct zeta_plugin_info, library)};
    info.library = "untouched";
    count = 1;
    assert_int_equal(zetaPluginGet(&count, &info), ZE_RESULT_SUCCESS);
    assert_non_null(strstr(info.manifest, "10-a.yaml"));
    assert_string_equal(info.library, "untouched");

    info.struct_size = 0;
    assert_int_equal(zetaPluginGet(&count, &info), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(zetaPluginGet(NULL, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

static void setting_get__lists_sorted_with_origin(void **state)
{
    struct zeta_setting settings[64];
    uint32_t count = 64;
    bool found = false;

    (void)state;
    harness_manifest("10-a.yaml", "a", PLUGINS "/fake.so", "debug", "settings: {devices: a0}\n");
    harness_start();
    for (size_t i = 0; i < 64; i++)
        settings[i].struct_size = sizeof(settings[i]);
    assert_int_equal(zetaSettingGet(&count, settings), ZE_RESULT_SUCCESS);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(i == 0 || strcmp(settings[i - 1].name, settings[i].name) < 0);
        if (strcmp(settings[i].name, "search.path") == 0) {
            found = true;
            assert_string_equal(settings[i].value, harness_dir);
            assert_string_equal(settings[i].origin, "environment ZETA_PLUGIN_PATH");
        }
    }
    assert_true(found);
}

/* Rule 1.9. */
static void setting_default__before_start__is_in_effect(void **state)
{
    struct zeta_setting settings[64];
    uint32_t count = 64;
    bool found = false;

    (void)state;
    assert_int_equal(zetaSettingDefault("log.plugins", "info"), ZE_RESULT_SUCCESS);
    assert_int_equal(zetaSettingDefault(NULL, "info"), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_int_equal(zetaSettingDefault("log.plugins", NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_int_equal(zetaSettingDefault("plugins", "x"), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(zetaGetLastError(), "no setting 'plugins'"));
    harness_start();
    assert_int_equal(zetaSettingDefault("log.plugins", "warn"), ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_non_null(strstr(zetaGetLastError(), "before zeInit"));
    for (size_t i = 0; i < 64; i++)
        settings[i].struct_size = sizeof(settings[i]);
    assert_int_equal(zetaSettingGet(&count, settings), ZE_RESULT_SUCCESS);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(settings[i].name, "log.plugins") != 0)
            continue;
        found = true;
        assert_string_equal(settings[i].value, "info");
        assert_string_equal(settings[i].origin, "default of the program");
    }
    assert_true(found);
}

static void plugin_check__report__is_cut_to_its_room(void **state)
{
    char report[12];
    uint32_t reached = 99;

    (void)state;
    harness_manifest("10-a.yaml", "a", "./none.so", "debug", "");
    assert_int_equal(zetaPluginCheck(harness_path("10-a.yaml"), &reached, report, sizeof(report)),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(reached, ZETA_PLUGIN_STATE_NOT_LOADABLE);
    assert_int_equal(strlen(report), sizeof(report) - 1);
    assert_int_equal(zetaPluginCheck(harness_path("10-a.yaml"), &reached, NULL, 0),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(zetaPluginCheck(NULL, &reached, NULL, 0),
                     ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

/* The order of the search; origins in the order in which they must appear. */
static void search__as_user__has_the_documented_order(void **state)
{
    static const char *const origins[] = {
        "environment ZETA_ADD_PLUGIN_PATH",
        "environment ZETA_ADD_PLUGIN_PATH",
        "beside libzeta",
        "XDG_CONFIG_HOME",
        "XDG_CONFIG_DIRS",
        "XDG_CONFIG_DIRS",
        "SYSCONFDIR",
        "XDG_DATA_HOME",
        "XDG_DATA_DIRS",
        "XDG_DATA_DIRS",
    };
    struct zeta_base_dirs dirs;

    (void)state;
    (void)unsetenv("ZETA_PLUGIN_PATH");
    (void)setenv("ZETA_ADD_PLUGIN_PATH", "/add/one:/add/two/:/add/one", 1);
    (void)setenv("XDG_CONFIG_HOME", "/home/x/.conf", 1);
    (void)setenv("XDG_CONFIG_DIRS", "/c1:relative:/c2", 1);
    (void)setenv("XDG_DATA_HOME", "/home/x/.data", 1);
    (void)unsetenv("XDG_DATA_DIRS");
    zeta_paths_set_root("/nowhere");
    zeta_trust_pretend(ZETA_TRUST_USER);
    assert_int_equal(zeta_settings_load(), ZE_RESULT_SUCCESS);
    assert_int_equal(zeta_search_dirs(&dirs), ZE_RESULT_SUCCESS);
    assert_cmp(dirs.count, >=, sizeof(origins) / sizeof(origins[0]));
    for (size_t i = 0; i < sizeof(origins) / sizeof(origins[0]); i++)
        assert_string_equal(dirs.dirs[i].origin, origins[i]);
    assert_string_equal(dirs.dirs[1].path, "/add/two");
    assert_string_equal(dirs.dirs[3].path, "/home/x/.conf/zeta");
    assert_string_equal(dirs.dirs[5].path, "/c2/zeta");
    assert_string_equal(dirs.dirs[6].path, "/nowhere" ZETA_TEST_SYSCONFDIR "/zeta");
    assert_string_equal(dirs.dirs[9].path, "/nowhere/usr/share/zeta");
    assert_null(dirs.dirs[3].skip);
    zeta_search_finish(&dirs);
}

static void search__as_root__skips_directories_of_users(void **state)
{
    struct zeta_base_dirs dirs;

    (void)state;
    (void)unsetenv("ZETA_PLUGIN_PATH");
    (void)setenv("XDG_CONFIG_HOME", "/home/x/.conf", 1);
    zeta_trust_pretend(ZETA_TRUST_ROOT);
    assert_int_equal(zeta_settings_load(), ZE_RESULT_SUCCESS);
    assert_int_equal(zeta_search_dirs(&dirs), ZE_RESULT_SUCCESS);
    for (size_t i = 0; i < dirs.count; i++) {
        bool of_user = strcmp(dirs.dirs[i].origin, "XDG_CONFIG_HOME") == 0 ||
                       strcmp(dirs.dirs[i].origin, "XDG_DATA_HOME") == 0;

        assert_int_equal(dirs.dirs[i].skip != NULL, of_user);
    }
    zeta_search_finish(&dirs);
}

static void search__privileged__names_only_system_directories(void **state)
{
    struct zeta_base_dirs dirs;

    (void)state;
    (void)setenv("ZETA_ADD_PLUGIN_PATH", "/add", 1);
    (void)setenv("XDG_CONFIG_HOME", "/home/x/.conf", 1);
    (void)setenv("XDG_DATA_DIRS", "/evil", 1);
    zeta_trust_pretend(ZETA_TRUST_PRIVILEGED);
    assert_int_equal(zeta_settings_load(), ZE_RESULT_SUCCESS);
    assert_int_equal(zeta_search_dirs(&dirs), ZE_RESULT_SUCCESS);
    assert_cmp(dirs.count, >, 0);
    for (size_t i = 0; i < dirs.count; i++) {
        assert_null(strstr(dirs.dirs[i].path, "/add"));
        assert_null(strstr(dirs.dirs[i].path, "/home"));
        assert_null(strstr(dirs.dirs[i].path, "/evil"));
        assert_string_not_equal(dirs.dirs[i].path, harness_dir);
    }
    zeta_search_finish(&dirs);
}

static void search_path_get__replaced_search__lists_it_alone(void **state)
{
    struct zeta_search_path path = {.struct_size = sizeof(path)};
    uint32_t count = 0;

    (void)state;
    assert_int_equal(zetaSearchPathGet(&count, NULL), ZE_RESULT_SUCCESS);
    assert_int_equal(count, 1);
    assert_int_equal(zetaSearchPathGet(&count, &path), ZE_RESULT_SUCCESS);
    assert_string_equal(path.path, harness_dir);
    assert_string_equal(path.origin, "environment ZETA_PLUGIN_PATH");
    assert_int_equal(path.exists, 1);
    assert_int_equal(path.used, 1);
    assert_string_equal(path.note, "");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, harness_setup, harness_teardown)

SUITE(functions)
{
    const struct CMUnitTest tests[] = {
        CASE(functions__before_start__say_uninitialised),
        CASE(plugin_get__count_and_struct_size__are_honoured),
        CASE(setting_get__lists_sorted_with_origin),
        CASE(setting_default__before_start__is_in_effect),
        CASE(plugin_check__report__is_cut_to_its_room),
        CASE(search__as_user__has_the_documented_order),
        CASE(search__as_root__skips_directories_of_users),
        CASE(search__privileged__names_only_system_directories),
        CASE(search_path_get__replaced_search__lists_it_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
