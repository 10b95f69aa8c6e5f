/*
 * The functions of zeta.h about plugins, settings and the library itself.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/plugin/entry.h"
#include "core/plugin/host.h"
#include "core/settings/settings.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "core/util/own_struct.h"
#include "zeta/zeta.h"

static ze_result_t check_list(const char *function, const uint32_t *count, const void *array,
                              size_t smallest)
{
    size_t size = smallest;

    if (!count)
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_POINTER, "%s: count is null.", function);
    if (array && *count > 0)
        memcpy(&size, array, sizeof(size));
    if (size < smallest)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "%s: struct_size of the first element is %zu; set it to sizeof() of the "
                          "struct before the call.",
                          function, size);
    return ZE_RESULT_SUCCESS;
}

/* Fills an element; the first one has the size of all. */
static void fill_element(void *array, uint32_t index, const void *full, size_t full_bytes)
{
    size_t size;

    memcpy(&size, array, sizeof(size));
    zeta_own_struct_copy((char *)array + (size_t)index * size, size, full, full_bytes);
}

const char *zetaGetVersion(void)
{
    return ZETA_VERSION;
}

const char *zetaGetLastError(void)
{
    return zeta_error_describe();
}

ze_result_t zetaPluginGet(uint32_t *count, struct zeta_plugin_info *plugins)
{
    size_t available = 0;
    const struct zeta_plugin_info *infos = zeta_plugin_host_infos(&available);
    ze_result_t result =
        check_list("zetaPluginGet", count, plugins, offsetof(struct zeta_plugin_info, manifest));

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!infos)
        return zeta_error(ZE_RESULT_ERROR_UNINITIALIZED,
                          "zetaPluginGet: call zeInit or zeInitDrivers first.");
    for (uint32_t i = 0, n = zeta_count_clip(count, (uint32_t)available, plugins); i < n; i++)
        fill_element(plugins, i, &infos[i], sizeof(infos[i]));
    return ZE_RESULT_SUCCESS;
}

/* The list is made once and kept, because callers keep its strings. */
static _Atomic(struct zeta_base_dirs *) search_dirs;

static const struct zeta_base_dirs *get_search_dirs(void)
{
    struct zeta_base_dirs *dirs = atomic_load_explicit(&search_dirs, memory_order_acquire);
    struct zeta_base_dirs *expected = NULL;

    if (dirs)
        return dirs;
    dirs = calloc(1, sizeof(*dirs));
    if (!dirs || zeta_settings_load() != ZE_RESULT_SUCCESS ||
        zeta_search_dirs(dirs) != ZE_RESULT_SUCCESS) {
        free(dirs);
        return NULL;
    }
    if (atomic_compare_exchange_strong(&search_dirs, &expected, dirs))
        return dirs;
    zeta_search_finish(dirs);
    free(dirs);
    return expected;
}

ze_result_t zetaSearchPathGet(uint32_t *count, struct zeta_search_path *paths)
{
    ze_result_t result =
        check_list("zetaSearchPathGet", count, paths, offsetof(struct zeta_search_path, origin));
    const struct zeta_base_dirs *dirs;

    if (result != ZE_RESULT_SUCCESS)
        return result;
    dirs = get_search_dirs();
    if (!dirs)
        return zeta_error_no_memory("the list of plugin directories");
    for (uint32_t i = 0, n = zeta_count_clip(count, (uint32_t)dirs->count, paths); i < n; i++) {
        const struct zeta_base_dir *dir = &dirs->dirs[i];
        struct stat status;
        const struct zeta_search_path path = {.path = dir->path,
                                              .origin = dir->origin,
                                              .exists = stat(dir->path, &status) == 0,
                                              .used = !dir->skip,
                                              .note = dir->skip ? dir->skip : ""};

        fill_element(paths, i, &path, sizeof(path));
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t zetaPluginCheck(const char *manifest_path, uint32_t *out_state, char *report,
                            size_t report_bytes)
{
    ZETA_CLEANUP(zeta_text_finish) struct zeta_text text = {0};
    ze_result_t result;
    size_t length;

    if (!manifest_path || !out_state || (!report && report_bytes > 0))
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_POINTER, "zetaPluginCheck: %s is null.",
                          !manifest_path ? "manifest_path"
                          : !out_state   ? "out_state"
                                         : "report");
    result = zeta_settings_load();
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_check_manifest(manifest_path, ZETA_CHECK_LIMIT_NS, out_state, &text);
    if (result != ZE_RESULT_SUCCESS || report_bytes == 0)
        return result;
    length = text.length < report_bytes ? text.length : report_bytes - 1;
    memcpy(report, zeta_text_get(&text), length);
    report[length] = '\0';
    return ZE_RESULT_SUCCESS;
}

ze_result_t zetaSettingDefault(const char *name, const char *value)
{
    if (!name || !value)
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_POINTER, "zetaSettingDefault: %s is null.",
                          name ? "value" : "name");
    return zeta_settings_set_default(name, value);
}

ze_result_t zetaSettingGet(uint32_t *count, struct zeta_setting *settings)
{
    ze_result_t result =
        check_list("zetaSettingGet", count, settings, offsetof(struct zeta_setting, value));
    const struct zeta_setting *entries;
    size_t available = 0;

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!zeta_plugin_host_infos(&available))
        return zeta_error(ZE_RESULT_ERROR_UNINITIALIZED,
                          "zetaSettingGet: call zeInit or zeInitDrivers first.");
    entries = zeta_settings_all(&available);
    for (uint32_t i = 0, n = zeta_count_clip(count, (uint32_t)available, settings); i < n; i++)
        fill_element(settings, i, &entries[i], sizeof(entries[i]));
    return ZE_RESULT_SUCCESS;
}
