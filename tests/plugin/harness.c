#include "tests/plugin/harness.h"
#include "tests/support/compare.h"

#include <ftw.h>
#include <limits.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/settings/paths.h"
#include "core/settings/settings.h"
#include "core/util/trust.h"

char harness_dir[PATH_MAX];

static const char *const variables[] = {
    "ZETA_ADD_PLUGIN_PATH", "ZETA_PLUGINS_SELECT", "ZETA_PLUGINS_DISABLE", "XDG_CONFIG_HOME",
    "XDG_CONFIG_DIRS",      "XDG_DATA_HOME",       "XDG_DATA_DIRS",        "ZETA_LOG_FILE",
};

int harness_setup(void **state)
{
    (void)state;
    (void)snprintf(harness_dir, PATH_MAX, "/tmp/zeta-plugin-XXXXXX");
    if (!mkdtemp(harness_dir))
        return -1;
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        (void)unsetenv(variables[i]);
    (void)setenv("ZETA_PLUGIN_PATH", harness_dir, 1);
    (void)setenv("ZETA_CONFIG", "none", 1);
    (void)setenv("ZETA_LOG", "error", 1);
    return 0;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

int harness_teardown(void **state)
{
    (void)state;
    zeta_plugin_host_stop();
    zeta_settings_unload();
    zeta_trust_pretend(-1);
    zeta_paths_set_root(NULL);
    return nftw(harness_dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *harness_path(const char *name)
{
    static char path[2 * PATH_MAX];

    (void)snprintf(path, sizeof(path), "%s/%s", harness_dir, name);
    return path;
}

void harness_write(const char *name, const char *format, ...)
{
    char path[2 * PATH_MAX];
    va_list arguments;
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s", harness_path(name));
    for (char *at = path + strlen(harness_dir) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        (void)mkdir(path, 0755);
        *at = '/';
    }
    file = fopen(path, "w");
    assert_non_null(file);
    va_start(arguments, format);
    assert_cmp(vfprintf(file, format, arguments), >=, 0);
    va_end(arguments);
    assert_int_equal(fclose(file), 0);
}

void harness_manifest(const char *file, const char *id, const char *library, const char *provides,
                      const char *extra)
{
    harness_write(file,
                  "format: \"1.0\"\n"
                  "id: %s\n"
                  "class: software\n"
                  "library: %s\n"
                  "abi: {min: 1, max: 1}\n"
                  "version: 0.1.0\n"
                  "license: MIT\n"
                  "provides: [%s]\n"
                  "matches: [{always: true}]\n"
                  "%s",
                  id, library, provides, extra);
}

void harness_start(void)
{
    assert_int_equal(zeta_plugin_host_start(), ZE_RESULT_SUCCESS);
}

const struct zeta_plugin_info *harness_record(const char *id)
{
    size_t count;
    const struct zeta_plugin_info *records = zeta_plugin_host_infos(&count);

    for (size_t i = 0; i < count; i++) {
        if (strcmp(records[i].id, id) == 0)
            return &records[i];
    }
    return NULL;
}

void harness_expect(const char *id, enum zeta_plugin_state state, const char *words)
{
    const struct zeta_plugin_info *record = harness_record(id);

    assert_non_null(record);
    if (record->state != (uint32_t)state || !strstr(record->reason, words))
        fail_msg("%s: state %u, reason \"%s\"; expected state %u with \"%s\"", id, record->state,
                 record->reason, (unsigned int)state, words);
}

const struct zeta_backend_device *harness_device(const char *id)
{
    size_t count;
    const struct zeta_backend_device *devices = zeta_plugin_host_devices(&count);

    for (size_t i = 0; i < count; i++) {
        if (strcmp(devices[i].id, id) == 0)
            return &devices[i];
    }
    return NULL;
}
