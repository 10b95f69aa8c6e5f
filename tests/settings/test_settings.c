/*
 * Settings: order of files and environment, origins, removal, what privileges and root forbid.
 */
#include "core/settings/settings.h"

#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "core/settings/paths.h"
#include "core/util/log.h"
#include "core/util/trust.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define SYSTEM ZETA_TEST_SYSCONFDIR "/zeta/"

static char root[PATH_MAX];
static const char *const variables[] = {
    "ZETA_CONFIG",         "ZETA_LOG",          "ZETA_LOG_FILE", "ZETA_PLUGIN_PATH",
    "ZETA_PLUGINS_SELECT", "ZETA_PLUGIN_V_A_B", "ZETA_OWN",      "ZETA_LOG_PLUGINS"};

static void clear_environment(void)
{
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        (void)unsetenv(variables[i]);
}

static int setup(void **state)
{
    char home[PATH_MAX + 16];

    (void)state;
    clear_environment();
    (void)snprintf(root, sizeof(root), "/tmp/zeta-settings-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    (void)snprintf(home, sizeof(home), "%s/home", root);
    (void)setenv("XDG_CONFIG_HOME", home, 1);
    zeta_paths_set_root(root);
    zeta_trust_pretend(ZETA_TRUST_USER);
    return 0;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

static int teardown(void **state)
{
    (void)state;
    zeta_settings_unload();
    clear_environment();
    zeta_paths_set_root(NULL);
    zeta_trust_pretend(-1);
    return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static const char *in_root(const char *name)
{
    static char path[2 * PATH_MAX];

    (void)snprintf(path, sizeof(path), "%s/%s", root, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    char path[2 * PATH_MAX];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s", in_root(name));
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        (void)mkdir(path, 0755);
        *at = '/';
    }
    file = fopen(path, "w");
    assert_non_null(file);
    assert_cmp(fputs(text, file), >=, 0);
    assert_int_equal(fclose(file), 0);
}

static void load(void)
{
    assert_int_equal(zeta_settings_load(), ZE_RESULT_SUCCESS);
}

static void expect_entry(const char *name, const char *value, const char *origin)
{
    const struct zeta_setting *entry = zeta_settings_find(name);

    assert_non_null(entry);
    assert_string_equal(entry->value, value);
    if (!strstr(entry->origin, origin))
        fail_msg("%s comes from \"%s\", not \"%s\"", name, entry->origin, origin);
}

static void settings__nothing_set__are_defaults(void **state)
{
    (void)state;
    load();
    expect_entry("log.level", "warn", "default");
    assert_null(zeta_settings_find("search.path"));
    assert_string_equal(zeta_settings_text("search.path", "none"), "none");
    assert_string_equal(zeta_settings_origin("search.path"), "default");
}

static void settings__all_places__last_one_wins(void **state)
{
    (void)state;
    write_file(SYSTEM "zeta.yaml", "plugins:\n  v: {a: sys, b: sys, c: sys, d: sys}\n");
    write_file(SYSTEM "zeta.d/10-x.yaml", "plugins: {v: {b: drop1, c: drop1, d: drop1}}\n");
    write_file(SYSTEM "zeta.d/20-x.yaml", "plugins:\n  v:\n    c: drop2\n");
    write_file(SYSTEM "zeta.d/ignored.txt", "plugins: {v: {a: wrong}}\n");
    write_file("home/zeta/zeta.yaml", "\n\nplugins: {v: {d: user}}\nlog: {level: error}\n");
    (void)setenv("ZETA_LOG", "debug", 1);
    load();
    expect_entry("plugins.v.a", "sys", SYSTEM "zeta.yaml:2");
    expect_entry("plugins.v.b", "drop1", "10-x.yaml:1");
    expect_entry("plugins.v.c", "drop2", "20-x.yaml:3");
    expect_entry("plugins.v.d", "user", "home/zeta/zeta.yaml:3");
    expect_entry("log.level", "debug", "environment ZETA_LOG");
}

static void settings__empty_value__removes_what_was_inherited(void **state)
{
    (void)state;
    write_file(SYSTEM "zeta.yaml",
               "log: {level: error}\nsearch: {select: [a, b], add: [/x, /y]}\n");
    write_file("home/zeta/zeta.yaml", "log: {level: }\nsearch: {select: \"\"}\n");
    load();
    expect_entry("log.level", "warn", "default");
    assert_null(zeta_settings_find("search.select"));
    expect_entry("search.add", "/x:/y", "zeta.yaml:2");
    zeta_settings_unload();
    write_file("home/zeta/zeta.yaml", "search: {select: [c, d]}\n");
    load();
    expect_entry("search.select", "c,d", "home/zeta/zeta.yaml:1");
    zeta_settings_unload();
    (void)setenv("ZETA_PLUGINS_SELECT", "", 1);
    load();
    assert_null(zeta_settings_find("search.select"));
}

static void settings__zeta_config__replaces_the_files(void **state)
{
    (void)state;
    write_file(SYSTEM "zeta.yaml", "plugins: {v: {a: sys}}\n");
    write_file("own.yaml", "plugins: {v: {b: own}}\n");
    (void)setenv("ZETA_CONFIG", in_root("own.yaml"), 1);
    load();
    assert_null(zeta_settings_find("plugins.v.a"));
    expect_entry("plugins.v.b", "own", "own.yaml:1");
    zeta_settings_unload();
    (void)setenv("ZETA_CONFIG", "none", 1);
    load();
    assert_null(zeta_settings_find("plugins.v.a"));
}

/* The log of loading, which goes to a file. */
static const char *load_with_log(void)
{
    static char text[16384];
    size_t length;
    FILE *file;

    (void)setenv("ZETA_LOG_FILE", in_root("log"), 1);
    load();
    file = fopen(in_root("log"), "r");
    if (!file)
        return "";
    length = fread(text, 1, sizeof(text) - 1, file);
    text[length] = '\0';
    assert_int_equal(fclose(file), 0);
    return text;
}

static void settings__mistakes_in_files__warn_with_line_and_column(void **state)
{
    const char *log;

    (void)state;
    write_file(SYSTEM "zeta.yaml",
               "log:\n  levle: debug\nx-own: {free: text}\nplugins: {v: {a: 1}}\n"
               "search: {add: [[x]]}\nlog.file: x\n");
    write_file(SYSTEM "zeta.d/broken.yaml", "log: {level: [debug\n");
    write_file("home/zeta/zeta.yaml", "- a\n- b\n");
    log = load_with_log();
    assert_non_null(strstr(log, "zeta.yaml:2:3: There is no setting \"log.levle\""));
    assert_null(strstr(log, "x-own"));
    assert_non_null(strstr(log, "zeta.yaml:5:"));
    assert_non_null(strstr(log, "broken.yaml:"));
    assert_non_null(strstr(log, "home/zeta/zeta.yaml:1:1: A configuration file is a mapping"));
    expect_entry("plugins.v.a", "1", "zeta.yaml:4");
}

static void settings__named_file_is_missing__warns(void **state)
{
    (void)state;
    (void)setenv("ZETA_CONFIG", in_root("gone.yaml"), 1);
    assert_non_null(strstr(load_with_log(), "gone.yaml cannot be read (No such file"));
}

static void settings__root__reads_no_file_of_a_user(void **state)
{
    (void)state;
    write_file(SYSTEM "zeta.yaml", "plugins: {v: {a: sys}}\n");
    write_file("home/zeta/zeta.yaml", "plugins: {v: {a: user}}\n");
    zeta_trust_pretend(ZETA_TRUST_ROOT);
    (void)setenv("ZETA_PLUGINS_SELECT", "by-root", 1);
    load();
    expect_entry("plugins.v.a", "sys", "zeta.yaml:1");
    expect_entry("search.select", "by-root", "environment");
}

static void settings__privileged__ignores_variables_and_bad_modes(void **state)
{
    (void)state;
    write_file(SYSTEM "zeta.yaml", "plugins: {v: {a: sys}}\n");
    write_file(SYSTEM "zeta.d/bad.yaml", "plugins: {v: {a: bad}}\n");
    write_file("own.yaml", "plugins: {v: {a: own}}\n");
    assert_int_equal(chmod(in_root(SYSTEM "zeta.d/bad.yaml"), 0664), 0);
    (void)setenv("ZETA_CONFIG", in_root("own.yaml"), 1);
    (void)setenv("ZETA_PLUGIN_PATH", "/evil", 1);
    (void)setenv("ZETA_PLUGIN_V_A_B", "evil", 1);
    (void)setenv("ZETA_LOG", "error", 1);
    zeta_trust_pretend(ZETA_TRUST_PRIVILEGED);
    load();
    assert_int_equal(zeta_settings_declare("v", "a.b", "ZETA_OWN", "safe", "m.yaml:1"),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(zeta_settings_declare_end("v"), ZE_RESULT_SUCCESS);
    assert_null(zeta_settings_find("search.path"));
    assert_string_equal(zeta_settings_plugin("v", "a.b"), "safe");
    expect_entry("plugins.v.a", "sys", SYSTEM "zeta.yaml:1");
    expect_entry("log.level", "error", "environment ZETA_LOG");
}

static void plugin__declared_settings__default_file_variable(void **state)
{
    (void)state;
    write_file("home/zeta/zeta.yaml", "plugins: {v: {a: {b: file}, c: file}}\n");
    load();
    assert_int_equal(zeta_settings_declare("v", "a.b", NULL, "default", "m.yaml:7"),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(zeta_settings_declare("v", "d", NULL, "default", "m.yaml:8"),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(zeta_settings_declare_end("v"), ZE_RESULT_SUCCESS);
    expect_entry("plugins.v.a.b", "file", "zeta.yaml:1");
    expect_entry("plugins.v.d", "default", "m.yaml:8");
    assert_null(zeta_settings_plugin("v", "nothing"));
    assert_null(zeta_settings_plugin("w", "d"));
    zeta_settings_unload();

    (void)setenv("ZETA_PLUGIN_V_A_B", "derived", 1);
    load();
    /* Undeclared names are found as well, by the variable that they make. */
    assert_string_equal(zeta_settings_plugin("v", "a.b"), "file");
    assert_string_equal(zeta_settings_plugin("v", "a-b"), "derived");
    assert_int_equal(zeta_settings_declare_end("v"), ZE_RESULT_SUCCESS);
    expect_entry("plugins.v.a.b", "derived", "environment ZETA_PLUGIN_V_A_B");
    (void)setenv("ZETA_OWN", "own", 1);
    assert_int_equal(zeta_settings_declare("v", "a.b", "ZETA_OWN", "default", "m.yaml:7"),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(zeta_settings_declare_end("v"), ZE_RESULT_SUCCESS);
    expect_entry("plugins.v.a.b", "own", "environment ZETA_OWN");
}

static void *look_up(void *is_over)
{
    while (!atomic_load((atomic_bool *)is_over)) {
        if (strcmp(zeta_settings_text("search.order", "none"), "two,one") != 0 ||
            strcmp(zeta_settings_origin("log.level"), "default") != 0)
            return is_over;
    }
    return NULL;
}

/* Of zeInit in one thread, while another asks for what needs no initialisation. */
static void plugin__declarations__disturb_no_lookup(void **state)
{
    const struct zeta_setting *before;
    atomic_bool is_over = false;
    pthread_t thread;
    void *is_wrong = NULL;

    (void)state;
    write_file("home/zeta/zeta.yaml", "search: {order: [two, one]}\n");
    load();
    before = zeta_settings_find("search.order");
    assert_int_equal(pthread_create(&thread, NULL, look_up, &is_over), 0);
    for (unsigned plugin = 0; plugin < 20; plugin++) {
        char id[16];

        (void)snprintf(id, sizeof(id), "p%u", plugin);
        for (unsigned i = 0; i < 30; i++) {
            char key[16];

            (void)snprintf(key, sizeof(key), "k%u", i);
            assert_int_equal(zeta_settings_declare(id, key, NULL, "default", "m.yaml:7"),
                             ZE_RESULT_SUCCESS);
        }
        assert_int_equal(zeta_settings_declare_end(id), ZE_RESULT_SUCCESS);
        assert_string_equal(zeta_settings_plugin(id, "k29"), "default");
    }
    atomic_store(&is_over, true);
    assert_int_equal(pthread_join(thread, &is_wrong), 0);
    assert_null(is_wrong);
    assert_string_equal(before->value, "two,one");
}

static void plugin__empty_variable__removes_the_value_of_files(void **state)
{
    (void)state;
    write_file("home/zeta/zeta.yaml", "plugins: {v: {a: {b: file}}}\n");
    (void)setenv("ZETA_PLUGIN_V_A_B", "", 1);
    load();
    assert_int_equal(zeta_settings_declare("v", "a.b", NULL, "default", "m.yaml:7"),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(zeta_settings_declare_end("v"), ZE_RESULT_SUCCESS);
    expect_entry("plugins.v.a.b", "default", "m.yaml:7");
}

static void values__as_bool__or_fallback(void **state)
{
    (void)state;
    write_file("home/zeta/zeta.yaml", "plugins: {v: {t: Yes, f: \"off\", w: maybe}}\n");
    (void)setenv("ZETA_LOG", "error", 1);
    load();
    assert_true(zeta_settings_bool("plugins.v.t", false));
    assert_false(zeta_settings_bool("plugins.v.f", true));
    assert_true(zeta_settings_bool("plugins.v.w", true));
    assert_false(zeta_settings_bool("plugins.v.none", false));
}

static void switch__variable__is_read_when_asked(void **state)
{
    (void)state;
    load();
    (void)unsetenv("ZETA_OWN");
    assert_false(zeta_settings_switch("ZETA_OWN"));
    (void)setenv("ZETA_OWN", "1", 1);
    assert_true(zeta_settings_switch("ZETA_OWN"));
    (void)setenv("ZETA_OWN", "0", 1);
    assert_false(zeta_settings_switch("ZETA_OWN"));
    (void)setenv("ZETA_OWN", "", 1);
    assert_false(zeta_settings_switch("ZETA_OWN"));
}

/* Rule 1.9. */
static void default__of_the_program__yields_to_users(void **state)
{
    (void)state;
    assert_int_equal(zeta_settings_set_default("log.plugins", "info"), ZE_RESULT_SUCCESS);
    load();
    expect_entry("log.plugins", "info", "default of the program");
    expect_entry("log.level", "warn", "default");
    assert_int_equal(zeta_settings_set_default("log.plugins", "warn"),
                     ZE_RESULT_ERROR_NOT_AVAILABLE);
    expect_entry("log.plugins", "info", "default of the program");

    /* A line of a file wins, a variable over that, and an empty one is nobody's choice. */
    zeta_settings_unload();
    write_file("home/zeta/zeta.yaml", "log: {plugins: warn}\n");
    assert_int_equal(zeta_settings_set_default("log.plugins", "info"), ZE_RESULT_SUCCESS);
    load();
    expect_entry("log.plugins", "warn", "zeta.yaml:1");
    zeta_settings_unload();
    (void)setenv("ZETA_LOG_PLUGINS", "", 1);
    assert_int_equal(zeta_settings_set_default("log.plugins", "info"), ZE_RESULT_SUCCESS);
    load();
    expect_entry("log.plugins", "info", "default of the program");
}

/* Rule 1.9. */
static void default__unknown_or_taken_back__is_ours(void **state)
{
    (void)state;
    assert_int_equal(zeta_settings_set_default("log.colour", "red"),
                     ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(zeta_settings_set_default("log.plugins", "info"), ZE_RESULT_SUCCESS);
    assert_int_equal(zeta_settings_set_default("log.plugins", ""), ZE_RESULT_SUCCESS);
    load();
    expect_entry("log.plugins", "warn", "default");
    assert_null(zeta_settings_find("log.colour"));
}

static void settings__all__are_sorted(void **state)
{
    size_t count = 0;
    const struct zeta_setting *entries;

    (void)state;
    write_file("home/zeta/zeta.yaml", "plugins: {v: {z: 1, a: 2}, b: {c: 3}}\n");
    load();
    entries = zeta_settings_all(&count);
    assert_cmp(count, >=, 4);
    for (size_t i = 1; i < count; i++)
        assert_cmp(strcmp(entries[i - 1].name, entries[i].name), <, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

SUITE(settings)
{
    const struct CMUnitTest tests[] = {
        CASE(settings__nothing_set__are_defaults),
        CASE(settings__all_places__last_one_wins),
        CASE(settings__empty_value__removes_what_was_inherited),
        CASE(settings__zeta_config__replaces_the_files),
        CASE(settings__mistakes_in_files__warn_with_line_and_column),
        CASE(settings__named_file_is_missing__warns),
        CASE(settings__root__reads_no_file_of_a_user),
        CASE(settings__privileged__ignores_variables_and_bad_modes),
        CASE(plugin__declared_settings__default_file_variable),
        CASE(plugin__declarations__disturb_no_lookup),
        CASE(plugin__empty_variable__removes_the_value_of_files),
        CASE(values__as_bool__or_fallback),
        CASE(switch__variable__is_read_when_asked),
        CASE(default__of_the_program__yields_to_users),
        CASE(default__unknown_or_taken_back__is_ours),
        CASE(settings__all__are_sorted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
