/*
 * Linking: the imports of modules are found in the exports of others.
 *
 * Modules that were linked make a group. Any of them may run code of any other, and may be
 * destroyed in any order, so the plugin's modules of a group go together, when the last one was
 * destroyed. Groups of modules that are linked once more become one.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/device.h"
#include "core/module/module.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

/* Guarded by the lock of the driver. */
struct zeta_link_group {
    struct zeta_module **members; /* that were not destroyed */
    uint32_t member_count;
    struct zeta_plugin_module **left; /* of members that were; room for all */
    uint32_t left_count;
};

ze_result_t zeta_module_check_linked(const struct zeta_module *module)
{
    if (module->import_count == 0 || atomic_load(&module->is_linked))
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED,
                      "the module imports \"%s\"%s: link it with the module that exports it "
                      "(zeModuleDynamicLink) before kernels are created",
                      module->imports[0], module->import_count > 1 ? " and other names" : "");
}

/* ---- groups ---- */

static void free_group(struct zeta_link_group *group)
{
    if (!group)
        return;
    free(group->members);
    free((void *)group->left);
    free(group);
}

static void free_groupp(struct zeta_link_group **group)
{
    free_group(*group);
}

/* Moves a module and all that is linked to it already. Room was made by make_group_locked(). */
static void absorb_locked(struct zeta_link_group *group, struct zeta_module *module)
{
    struct zeta_link_group *old = module->group;

    if (old == group)
        return;
    if (!old) {
        group->members[group->member_count++] = module;
        module->group = group;
        return;
    }
    for (uint32_t i = 0; i < old->member_count; i++) {
        group->members[group->member_count++] = old->members[i];
        old->members[i]->group = group;
    }
    for (uint32_t i = 0; i < old->left_count; i++)
        group->left[group->left_count++] = old->left[i];
    free_group(old);
}

/* An empty group with room for the modules and all that they are linked to. */
static struct zeta_link_group *make_group_locked(struct zeta_module *const *modules, uint32_t count)
{
    size_t room = 1;
    struct zeta_link_group *group = calloc(1, sizeof(*group));

    for (uint32_t i = 0; i < count; i++)
        room += modules[i]->group
                    ? (size_t)modules[i]->group->member_count + modules[i]->group->left_count
                    : 1;
    if (!group)
        return NULL;
    group->members = calloc(room, sizeof(struct zeta_module *));
    group->left = calloc(room, sizeof(struct zeta_plugin_module *));
    if (group->members && group->left)
        return group;
    free_group(group);
    return NULL;
}

void zeta_module_release(struct zeta_module *module)
{
    struct zeta_backend *backend = module->backend;
    pthread_mutex_t *lock = &module->device->driver->links_lock;
    bool is_last = false;

    if (!module->plugin_module)
        return;
    (void)pthread_mutex_lock(lock);
    struct zeta_link_group *group = module->group;
    if (group) {
        uint32_t i = 0;

        while (group->members[i] != module)
            i++;
        group->members[i] = group->members[--group->member_count];
        group->left[group->left_count++] = module->plugin_module;
        is_last = group->member_count == 0;
    }
    (void)pthread_mutex_unlock(lock);
    if (!group) {
        backend->compute.module_destroy(backend->self, module->plugin_module);
    } else if (is_last) {
        for (uint32_t i = 0; i < group->left_count; i++)
            backend->compute.module_destroy(backend->self, group->left[i]);
        free_group(group);
    }
}

/* ---- linking ---- */

static ze_result_t link_locked(struct zeta_module *const *modules, uint32_t count,
                               struct zeta_text *log)
{
    struct zeta_backend *backend = modules[0]->backend;
    const struct zeta_plugin_log_sink sink = {.context = log, .write = zeta_module_log_write};
    ZETA_CLEANUP(free_groupp) struct zeta_link_group *group = make_group_locked(modules, count);
    ZETA_CLEANUP(zeta_freep)
    struct zeta_plugin_module **list = calloc(count, sizeof(struct zeta_plugin_module *));

    if (!group || !list)
        return zeta_error_no_memory("links between modules");
    struct zeta_plugin_array array = {.data = (const void *)list,
                                      .stride = sizeof(struct zeta_plugin_module *)};
    /* The plugin's modules, each once. */
    for (uint32_t i = 0; i < count; i++) {
        bool seen = false;

        for (uint64_t k = 0; k < array.count && !seen; k++)
            seen = list[k] == modules[i]->plugin_module;
        if (!seen)
            list[array.count++] = modules[i]->plugin_module;
    }
    uint32_t code = backend->compute.module_link(backend->self, &array, &sink);
    if (code != ZETA_PLUGIN_SUCCESS)
        return zeta_backend_result(backend, code, "linking modules");
    for (uint32_t i = 0; i < count; i++) {
        absorb_locked(group, modules[i]);
        atomic_store(&modules[i]->is_linked, 1);
    }
    (void)ZETA_TAKE(group);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t link_modules(struct zeta_module *const *modules, uint32_t count,
                                struct zeta_text *log)
{
    bool is_needed = false;

    for (uint32_t i = 0; i < count; i++) {
        if (modules[i]->context != modules[0]->context)
            return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                              "phModules[%u] belongs to another context than phModules[0]", i);
        is_needed =
            is_needed || (modules[i]->import_count > 0 && !atomic_load(&modules[i]->is_linked));
    }
    /* Modules without open imports do not come to depend on each other. */
    if (!is_needed)
        return ZE_RESULT_SUCCESS;
    pthread_mutex_t *lock = &modules[0]->device->driver->links_lock;
    (void)pthread_mutex_lock(lock);
    ze_result_t result = link_locked(modules, count, log);
    (void)pthread_mutex_unlock(lock);
    return result;
}

ze_result_t ZE_APICALL impl_zeModuleDynamicLink(uint32_t numModules, ze_module_handle_t *phModules,
                                                ze_module_build_log_handle_t *phLinkLog)
{
    ZETA_CLEANUP(zeta_text_finish) struct zeta_text log = {0};
    ze_result_t result = link_modules((struct zeta_module *const *)phModules, numModules, &log);

    if (phLinkLog) {
        ze_result_t log_result = zeta_module_log_create(&log, phLinkLog);

        if (result == ZE_RESULT_SUCCESS)
            result = log_result;
    }
    return result;
}

/* ---- inspection ---- */

static bool is_exported(const char *name, const struct zeta_plugin_array *exports, uint32_t count)
{
    size_t length = strlen(name);

    for (uint32_t i = 0; i < count; i++) {
        for (uint64_t k = 0; k < exports[i].count; k++) {
            const struct zeta_plugin_string *given = zeta_array_at(&exports[i], k);

            if (given->size == length && memcmp(given->data, name, length) == 0)
                return true;
        }
    }
    return false;
}

static void list_imports(struct zeta_module *const *modules,
                         const struct zeta_plugin_array *exports, uint32_t count,
                         bool only_unresolvable, struct zeta_text *log)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < modules[i]->import_count; k++) {
            const char *name = modules[i]->imports[k];

            if (!only_unresolvable || !is_exported(name, exports, count))
                zeta_text_add(log, "  %s\n", name);
        }
    }
}

ze_result_t ZE_APICALL
impl_zeModuleInspectLinkageExt(ze_linkage_inspection_ext_desc_t *pInspectDesc, uint32_t numModules,
                               ze_module_handle_t *phModules, ze_module_build_log_handle_t *phLog)
{
    struct zeta_module *const *modules = (struct zeta_module *const *)phModules;
    ZETA_CLEANUP(zeta_text_finish) struct zeta_text log = {0};
    ZETA_CLEANUP(zeta_freep)
    struct zeta_plugin_array *exports = calloc((size_t)numModules + 1, sizeof(*exports));
    ze_linkage_inspection_ext_flags_t flags = pInspectDesc->flags;

    /* No flag means all three lists. */
    if (flags == 0)
        flags = ZE_LINKAGE_INSPECTION_EXT_FLAG_IMPORTS |
                ZE_LINKAGE_INSPECTION_EXT_FLAG_UNRESOLVABLE_IMPORTS |
                ZE_LINKAGE_INSPECTION_EXT_FLAG_EXPORTS;
    if (!exports)
        return zeta_error_no_memory("links between modules");
    for (uint32_t i = 0; i < numModules; i++) {
        struct zeta_backend *backend = modules[i]->backend;
        uint32_t code = backend->compute.module_symbols(backend->self, modules[i]->plugin_module,
                                                        ZETA_PLUGIN_SYMBOL_EXPORT, &exports[i]);

        if (code != ZETA_PLUGIN_SUCCESS)
            return zeta_backend_result(backend, code, "listing the exports of a module");
    }
    if (flags & ZE_LINKAGE_INSPECTION_EXT_FLAG_IMPORTS) {
        zeta_text_add(&log, "imports:\n");
        list_imports(modules, exports, numModules, false, &log);
    }
    if (flags & ZE_LINKAGE_INSPECTION_EXT_FLAG_UNRESOLVABLE_IMPORTS) {
        zeta_text_add(&log, "unresolvable imports:\n");
        list_imports(modules, exports, numModules, true, &log);
    }
    if (flags & ZE_LINKAGE_INSPECTION_EXT_FLAG_EXPORTS) {
        zeta_text_add(&log, "exports:\n");
        for (uint32_t i = 0; i < numModules; i++) {
            for (uint64_t k = 0; k < exports[i].count; k++) {
                const struct zeta_plugin_string *name = zeta_array_at(&exports[i], k);

                zeta_text_add(&log, "  %.*s\n", (int)name->size, name->data);
            }
        }
    }
    return zeta_module_log_create(&log, phLog);
}
