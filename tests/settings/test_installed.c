/*
 * The files that are installed: zeta.yaml must be right as it is and with every line activated, and
 * the schemas must name what the readers know.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <zeta/yaml.h>

#include "core/settings/settings.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static char activated[] = "/tmp/zeta-installed-XXXXXX";
static char messages[] = "/tmp/zeta-messages-XXXXXX";

static int setup(void **state)
{
    (void)state;
    (void)snprintf(activated, sizeof(activated), "/tmp/zeta-installed-XXXXXX");
    (void)snprintf(messages, sizeof(messages), "/tmp/zeta-messages-XXXXXX");
    if (close(mkstemp(activated)) != 0 || close(mkstemp(messages)) != 0)
        return -1;
    (void)setenv("ZETA_LOG_FILE", messages, 1);
    return setenv("ZETA_LOG", "info", 1);
}

static int teardown(void **state)
{
    (void)state;
    zeta_settings_unload();
    (void)unlink(activated);
    return unlink(messages);
}

/* Loads one file and fails on any message about it. */
static void load_quietly(const char *path)
{
    char text[1024];
    size_t length;
    FILE *file;

    (void)setenv("ZETA_CONFIG", path, 1);
    assert_int_equal(zeta_settings_load(), ZE_RESULT_SUCCESS);
    file = fopen(messages, "r");
    assert_non_null(file);
    length = fread(text, 1, sizeof(text) - 1, file);
    text[length] = '\0';
    assert_int_equal(fclose(file), 0);
    assert_string_equal(text, "");
}

/* Removes each first "#" of a line that has no blank after it. */
static void activate(void)
{
    FILE *source = fopen(ZETA_SOURCE_DIR "/config/zeta.yaml", "r");
    FILE *target = fopen(activated, "w");
    char line[512];

    assert_non_null(source);
    assert_non_null(target);
    while (fgets(line, sizeof(line), source)) {
        size_t indent = strspn(line, " ");

        if (line[indent] == '#' && line[indent + 1] != ' ' && line[indent + 1] != '\n')
            memmove(&line[indent], &line[indent + 1], strlen(&line[indent]));
        assert_cmp(fputs(line, target), >=, 0);
    }
    assert_int_equal(fclose(source), 0);
    assert_int_equal(fclose(target), 0);
}

static void zeta_yaml__as_installed__changes_nothing(void **state)
{
    (void)state;
    load_quietly(ZETA_SOURCE_DIR "/config/zeta.yaml");
    assert_string_equal(zeta_settings_find("log.file")->origin, "environment ZETA_LOG_FILE");
    assert_null(zeta_settings_find("plugins.vgpu.enable"));
}

static void zeta_yaml__every_line_activated__is_accepted(void **state)
{
    (void)state;
    activate();
    load_quietly(activated);
    assert_string_equal(zeta_settings_text("plugins.vgpu.enable", ""), "auto");
    assert_string_equal(zeta_settings_text("plugins.vgpu.critical", ""), "false");
}

/* Follows keys from the top of a schema; NULL if one is missing. */
static const struct zeta_yaml_node *descend(const struct zeta_yaml_node *node, const char *group,
                                            const char *name)
{
    node = zeta_yaml_member(zeta_yaml_member(node, "properties"), group);
    return zeta_yaml_member(zeta_yaml_member(node, "properties"), name);
}

static void schema__of_settings__names_every_setting(void **state)
{
    struct zeta_yaml_document *document;
    struct zeta_yaml_error error;

    (void)state;
    document = zeta_yaml_read_file(ZETA_SOURCE_DIR "/config/schema/settings.yaml", NULL, &error);
    assert_non_null(document);
    for (const struct zeta_known_setting *known = zeta_known_settings; known->name; known++) {
        const char *dot = strchr(known->name, '.');
        char group[64];

        (void)snprintf(group, sizeof(group), "%.*s", (int)(dot - known->name), known->name);
        if (!descend(zeta_yaml_root(document), group, dot + 1))
            fail_msg("the schema lacks %s", known->name);
    }
    zeta_yaml_free(document);
}

static void schema__of_manifests__names_every_key(void **state)
{
    static const char *const keys[] = {"format", "id",      "class",   "library",  "arch",
                                       "abi",    "version", "license", "provides", "matches",
                                       "needs",  "metrics", "settings"};
    struct zeta_yaml_document *document;
    struct zeta_yaml_error error;

    (void)state;
    document = zeta_yaml_read_file(ZETA_SOURCE_DIR "/config/schema/manifest.yaml", NULL, &error);
    assert_non_null(document);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        assert_non_null(
            zeta_yaml_member(zeta_yaml_member(zeta_yaml_root(document), "properties"), keys[i]));
    zeta_yaml_free(document);
}

SUITE(installed)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(zeta_yaml__as_installed__changes_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(zeta_yaml__every_line_activated__is_accepted, setup,
                                        teardown),
        cmocka_unit_test(schema__of_settings__names_every_setting),
        cmocka_unit_test(schema__of_manifests__names_every_key),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
