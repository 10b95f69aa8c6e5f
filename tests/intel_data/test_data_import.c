/*
 * A user's own choice of sets: zeta-import-oa makes a set file of them, which is loaded beside
 * those of the plugin.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/intel_data/data.h"
#include "tests/oa/oa_file.h"
#include "tests/oa/oa_import.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static char path[1024];

/** All names Ext... of the file, with commas between. */
static char *extension_names(const struct oa_file *file, uint32_t *out_count)
{
    char *names = calloc(file->set_count, 16);
    size_t used = 0;

    assert_non_null(names);
    *out_count = 0;
    for (uint32_t i = 0; i < file->set_count; i++) {
        if (strncmp(file->sets[i].name, "Ext", 3) != 0)
            continue;
        assert_cmp(strlen(file->sets[i].name), <, 15);
        used += (size_t)sprintf(names + used, "%s%s", used > 0 ? "," : "", file->sets[i].name);
        ++*out_count;
    }
    return names;
}

static struct zeta_catalog *open_meteor_lake(void)
{
    uint32_t count = 0;
    struct data_generation *generations = data_read(&count);
    struct zeta_catalog *catalog = NULL;

    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_intel_platform *platform =
            zeta_intel_platform_find(&generations[i].platforms, 0x7d55);

        if (platform)
            catalog = data_catalog_open(&generations[i], platform, false);
    }
    data_free(generations, count);
    assert_non_null(catalog);
    return catalog;
}

static void imported__many_sets__load_beside_ours(void **state)
{
    struct oa_file *file = oa_file_read(path);
    struct zeta_catalog *catalog = open_meteor_lake();
    struct zeta_diagnostics sink = {0};
    uint32_t count = 0;
    char *names = extension_names(file, &count);
    char *options = calloc(1, strlen(names) + 16);
    char *text;

    (void)state;
    assert_cmp(count, >, 200);
    assert_non_null(options);
    (void)sprintf(options, "--sets %s", names);
    text = oa_import(path, options);
    assert_non_null(text);
    assert_int_equal(zeta_catalog_add_whole(catalog, "mtl-ext.yaml", text, strlen(text), &sink),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(zeta_catalog_link(catalog, &sink), ZE_RESULT_SUCCESS);
    assert_string_equal(sink.first_error, "");
    for (uint32_t i = 0; i < file->set_count; i++)
        assert_non_null(zeta_catalog_find_set(catalog, file->sets[i].name));
    free(text);
    free(options);
    free(names);
    zeta_catalog_destroy(catalog);
    oa_file_free(file);
}

SUITE(data_import)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(imported__many_sets__load_beside_ours),
    };
    const char *shared = getenv("ZETA_SHARED");

    (void)snprintf(path, sizeof(path), "%s/oa/i915/oa-mtlgt3.xml", shared ? shared : "");
    if (!shared || access(path, R_OK) != 0) {
        (void)printf("skipped: %s is not there; ZETA_SHARED names the folder with oa/\n", path);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
