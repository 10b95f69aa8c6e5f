#include "core/metric/device/set_files.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/device.h"
#include "core/formula/compile/compile.h"
#include "core/formula/programmables/link.h"
#include "core/formula/sets/set.h"
#include "core/metric/device/device_metrics.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/log.h"

/** What is passed through while the sets of one device are gathered. */
struct gathering {
    struct zeta_catalog *catalog;
    const struct zeta_backend *backend;
    bool out_of_memory;
};

/** Hashes of what was logged. A full table only means that something is logged again. */
static _Atomic uint64_t logged[512];

/**
 * Every device reads the same files, so the same finding comes again and again: true the first time
 * that the process meets a text.
 */
static bool is_news(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    const size_t size = sizeof(logged) / sizeof(logged[0]);

    for (const char *c = text; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    hash |= 1; /* 0 marks a free place */
    for (size_t i = 0; i < size; i++) {
        uint64_t found = 0;

        if (atomic_compare_exchange_strong(&logged[(hash + i) % size], &found, hash))
            return true;
        if (found == hash)
            return false;
    }
    return true;
}

static void log_finding(void *context ZETA_UNUSED, const struct zeta_diagnostic *finding)
{
    char text[ZETA_DIAGNOSTIC_BYTES];

    zeta_diagnostic_print(finding, text, sizeof(text));
    zeta_log(finding->severity != ZETA_SEVERITY_NOTE && is_news(text) ? ZETA_LOG_WARN
                                                                      : ZETA_LOG_DEBUG,
             "metric", "%s", text);
}

/** Adds a file (text is NULL) or a text of that name, unless it is broken. */
static void gather(struct gathering *gathering, const char *name, const char *text, size_t length)
{
    struct zeta_diagnostics sink = {.report = log_finding};
    ze_result_t result = zeta_catalog_add_whole(gathering->catalog, name, text, length, &sink);

    if (result != ZE_RESULT_SUCCESS && result != ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
        zeta_log(is_news(name) ? ZETA_LOG_WARN : ZETA_LOG_DEBUG, "metric",
                 "%s: the file is not used; its metric sets are missing", name);
    if (result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
        gathering->out_of_memory = true;
}

/** Receives set text that a plugin makes at run time. Of a long name, often a path, the end stays.
 */
static void gather_text(void *context, struct zeta_plugin_string name,
                        struct zeta_plugin_string text)
{
    enum { MOST = 192 };
    struct gathering *gathering = context;
    const uint64_t left_out = name.size > MOST ? name.size - MOST : 0;
    char label[MOST + 96];

    (void)snprintf(label, sizeof(label), "%s:%s%.*s", gathering->backend->id, left_out ? "..." : "",
                   (int)(name.size - left_out), name.data ? name.data + left_out : "");
    gather(gathering, label, text.data ? text.data : "", (size_t)text.size);
}

static ze_result_t gather_all(struct gathering *gathering, const struct zeta_provider *provider)
{
    const struct zeta_backend *backend = provider->backend;
    struct zeta_plugin_text_sink sink = {.context = gathering, .write = gather_text};
    size_t user_count = 0;
    const char *const *user = zeta_plugin_host_user_sets(&user_count);
    uint32_t result;

    for (size_t i = 0; i < backend->set_file_count; i++)
        gather(gathering, backend->set_files[i], NULL, 0);
    result = backend->metric.get_sets(backend->self, provider->device, &sink);
    if (result != ZETA_PLUGIN_SUCCESS && result != ZETA_PLUGIN_UNSUPPORTED_FEATURE)
        zeta_log(ZETA_LOG_WARN, "metric", "plugin %s gave no metric sets of its own: result 0x%x",
                 backend->id, result);
    for (size_t i = 0; i < user_count; i++)
        gather(gathering, user[i], NULL, 0);
    return gathering->out_of_memory ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : ZE_RESULT_SUCCESS;
}

static bool find_symbol(void *context, const char *name, struct zeta_number *out_value)
{
    const struct zeta_plugin_array *symbols = context;
    size_t length = strlen(name);

    for (uint64_t i = 0; i < symbols->count; i++) {
        const struct zeta_plugin_symbol *symbol = zeta_array_at(symbols, i);

        if (symbol->name.size != length || memcmp(symbol->name.data, name, length) != 0)
            continue;
        if (symbol->is_float) {
            out_value->type = ZETA_EXPR_F64;
            out_value->u.f64 = symbol->f64;
        } else {
            out_value->type = ZETA_EXPR_U64;
            out_value->u.u64 = symbol->u64;
        }
        return true;
    }
    return false;
}

struct zeta_symbol_lookup zeta_device_symbols(const struct zeta_provider *provider,
                                              struct zeta_plugin_array *out_array)
{
    const struct zeta_backend *backend = provider->backend;

    *out_array = (struct zeta_plugin_array){0};
    if (backend->metric.symbols(backend->self, provider->device, out_array) != ZETA_PLUGIN_SUCCESS)
        *out_array = (struct zeta_plugin_array){0};
    return (struct zeta_symbol_lookup){.find = find_symbol, .context = out_array};
}

/** The query form of the set that was compiled last, where queries are possible. */
static ze_result_t compile_query(const struct zeta_device *device, struct zeta_device_sets *sets,
                                 const struct zeta_set *set,
                                 const struct zeta_symbol_lookup *lookup)
{
    if (!device->backend->providers[ZETA_GROUP_METRIC_QUERY].backend ||
        (set->sampling & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED) == 0)
        return ZE_RESULT_SUCCESS;
    return zeta_set_compile_query(sets->catalog, set, lookup, NULL, &sets->queries[sets->count]);
}

/** Compiles a set and its query form; both or none. */
static ze_result_t compile_one(const struct zeta_device *device, struct zeta_device_sets *sets,
                               const struct zeta_set *set, const struct zeta_symbol_lookup *lookup)
{
    struct zeta_diagnostics sink = {.report = log_finding};
    struct zeta_compiled **place = &sets->compiled[sets->count];
    ze_result_t result = zeta_set_compile(sets->catalog, set, lookup, &sink, place);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = compile_query(device, sets, set, lookup);
    if (result == ZE_RESULT_SUCCESS) {
        sets->count++;
        return result;
    }
    zeta_compiled_destroy(*place);
    *place = NULL;
    return result;
}

/** Compiles what is in the catalog; a set that the device does not have is left out. */
static ze_result_t compile_all(const struct zeta_device *device,
                               const struct zeta_provider *provider, struct zeta_device_sets *sets)
{
    struct zeta_plugin_array symbols = {0};
    struct zeta_symbol_lookup lookup = zeta_device_symbols(provider, &symbols);
    uint32_t count = zeta_catalog_set_count(sets->catalog);

    sets->compiled = calloc(count > 0 ? count : 1, sizeof(struct zeta_compiled *));
    sets->queries = calloc(count > 0 ? count : 1, sizeof(struct zeta_compiled *));
    lookup.values = sets->symbols = zeta_symbol_values_create(sets->catalog, &lookup);
    if (!sets->compiled || !sets->queries || !sets->symbols)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_set *set = zeta_catalog_set(sets->catalog, i);
        const ze_result_t result = compile_one(device, sets, set, &lookup);

        if (result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
            return result;
        if (result != ZE_RESULT_SUCCESS)
            zeta_log(result == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE ? ZETA_LOG_DEBUG : ZETA_LOG_WARN,
                     "metric", "%s:%u: device %s has no group %s", set->file, set->line,
                     device->backend->id, set->name);
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_device_sets_load(const struct zeta_device *device,
                                  const struct zeta_provider *provider,
                                  struct zeta_device_sets *out_sets)
{
    struct zeta_diagnostics sink = {.report = log_finding};
    struct gathering gathering = {.catalog = zeta_catalog_create(), .backend = provider->backend};
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;

    *out_sets = (struct zeta_device_sets){.catalog = gathering.catalog};
    if (gathering.catalog)
        result = gather_all(&gathering, provider);
    if (result == ZE_RESULT_SUCCESS) {
        result = zeta_catalog_link(gathering.catalog, &sink);
        if (result != ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
            result = zeta_programmables_link(gathering.catalog, &sink);
        /* What was wrong is logged; the other sets are usable. */
        if (result != ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
            result = compile_all(device, provider, out_sets);
    }
    if (result != ZE_RESULT_SUCCESS)
        zeta_device_sets_free(out_sets);
    return result;
}

void zeta_device_sets_free(struct zeta_device_sets *sets)
{
    for (uint32_t i = 0; i < sets->count; i++) {
        zeta_compiled_destroy(sets->compiled[i]);
        zeta_compiled_destroy(sets->queries[i]);
    }
    free(sets->compiled);
    free(sets->queries);
    free(sets->symbols);
    zeta_catalog_destroy(sets->catalog);
    *sets = (struct zeta_device_sets){0};
}
