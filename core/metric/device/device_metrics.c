#include "core/metric/device/device_metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/device.h"
#include "core/formula/programmables/recipe_set.h"
#include "core/formula/sets/set.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "core/util/log.h"
#include "zeta_impl.h"

/** Everything that was ever made, also before a fork: so nothing counts as leaked. */
static _Atomic(struct zeta_device_metrics *) newest;

struct zeta_device_metrics *zeta_device_metrics_get(struct zeta_device *device)
{
    struct zeta_device_metrics *metrics =
        atomic_load_explicit(&device->metrics, memory_order_acquire);
    struct zeta_device_metrics *parent = NULL;
    struct zeta_device_metrics *made;

    if (metrics)
        return metrics;
    if (device->parent) {
        parent = zeta_device_metrics_get(device->parent);
        if (!parent)
            return NULL;
    }
    made = calloc(1, sizeof(*made));
    if (!made)
        return NULL;
    made->device = device;
    made->parent = parent;
    (void)pthread_mutex_init(&made->load_lock, NULL);
    (void)pthread_mutex_init(&made->lock, NULL);
    (void)pthread_cond_init(&made->changed, NULL);
    if (!atomic_compare_exchange_strong(&device->metrics, &metrics, made)) {
        free(made);
        return metrics;
    }
    made->previous = atomic_load(&newest);
    while (!atomic_compare_exchange_weak(&newest, &made->previous, made))
        ;
    return made;
}

uint32_t zeta_metrics_tile_count(const struct zeta_device *device)
{
    return device->tile_count > 0 ? device->tile_count : 1;
}

const struct zeta_device *zeta_metrics_tile(const struct zeta_device *device, uint32_t index)
{
    return device->tile_count > 0 ? device->tiles[index] : device;
}

const struct zeta_device_sets *zeta_metrics_sets(const struct zeta_device_metrics *metrics,
                                                 uint32_t tile)
{
    const struct zeta_device *device = metrics->device;

    return device->tile_count > 0 ? &atomic_load(&device->tiles[tile]->metrics)->sets
                                  : &metrics->sets;
}

ze_result_t zeta_metrics_number_unit(struct zeta_device_metrics *metrics, const char *unit,
                                     uint32_t *out_number)
{
    size_t number = 0;

    while (number < metrics->units.count && strcmp(metrics->units.items[number], unit) != 0)
        number++;
    *out_number = (uint32_t)number;
    if (number == metrics->units.count && !zeta_list_add(&metrics->units, (void *)(uintptr_t)unit))
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_metrics_load_once(struct zeta_device_metrics *metrics, _Atomic bool *loaded,
                                   ze_result_t (*load)(struct zeta_device_metrics *metrics))
{
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (atomic_load_explicit(loaded, memory_order_acquire))
        return ZE_RESULT_SUCCESS;
    (void)pthread_mutex_lock(&metrics->load_lock);
    if (!atomic_load(loaded)) {
        result = load(metrics);
        if (result == ZE_RESULT_SUCCESS)
            atomic_store_explicit(loaded, true, memory_order_release);
    }
    (void)pthread_mutex_unlock(&metrics->load_lock);
    return result;
}

/* Enabling ------------------------------------------------------------------------------------- */

static bool was_enabled(struct zeta_device_metrics *metrics)
{
    if (!atomic_load(&metrics->was_enabled) && zeta_core_metrics_wanted())
        atomic_store(&metrics->was_enabled, true);
    return atomic_load(&metrics->was_enabled);
}

ze_result_t zeta_metrics_check_was_enabled(struct zeta_device_metrics *metrics)
{
    if (was_enabled(metrics))
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE,
                      "metrics of device %s were not enabled: set ZET_ENABLE_METRICS=1 before "
                      "zeInit, or call zetDeviceEnableMetricsExp",
                      metrics->device->backend->id);
}

ze_result_t zeta_metrics_check_enabled(struct zeta_device_metrics *metrics)
{
    const struct zeta_device *device = metrics->device;
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (!was_enabled(metrics) || atomic_load(&metrics->disabled))
        return zeta_error(ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE,
                          "metrics of device %s are disabled; call zetDeviceEnableMetricsExp first",
                          device->backend->id);
    /* What is active on a root is active on its tiles. */
    for (uint32_t i = 0; i < device->tile_count && result == ZE_RESULT_SUCCESS; i++) {
        struct zeta_device_metrics *tile = zeta_device_metrics_get(device->tiles[i]);

        result = tile ? zeta_metrics_check_enabled(tile) : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    return result;
}

/* Sets ----------------------------------------------------------------------------------------- */

/** What is passed through while the sets of one device are gathered. */
struct gathering {
    struct zeta_catalog *catalog;
    const struct zeta_backend *backend;
    bool out_of_memory;
};

/** Every device reads the same files, so the same finding comes again and again. */
static void log_finding(void *context ZETA_UNUSED, const struct zeta_diagnostic *finding)
{
    char text[ZETA_DIAGNOSTIC_BYTES];

    zeta_diagnostic_print(finding, text, sizeof(text));
    if (finding->severity == ZETA_SEVERITY_NOTE)
        zeta_log(ZETA_LOG_DEBUG, "metric", "%s", text);
    else
        zeta_log_once(ZETA_LOG_WARN, "metric", "%s", text);
}

/** Adds a file (text is NULL) or a text of that name, unless it is broken. */
static void gather(struct gathering *gathering, const char *name, const char *text, size_t length)
{
    struct zeta_diagnostics sink = {.report = log_finding};
    ze_result_t result = zeta_catalog_add_whole(gathering->catalog, name, text, length, &sink);

    if (result != ZE_RESULT_SUCCESS && result != ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
        zeta_log_once(ZETA_LOG_WARN, "metric",
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

static ze_result_t gather_all(struct gathering *gathering, const struct zeta_provider *provider,
                              char **out_note)
{
    const struct zeta_backend *backend = provider->backend;
    struct zeta_plugin_text_sink sink = {.context = gathering, .write = gather_text};
    size_t user_count = 0;
    const char *const *user = zeta_plugin_host_user_sets(&user_count);
    const char *note;
    uint32_t result;

    /* Of what plugins ship with a thousand sets few are used; users read what is wrong with theirs.
     */
    zeta_catalog_defer(gathering->catalog, true);
    for (size_t i = 0; i < backend->set_file_count; i++)
        gather(gathering, backend->set_files[i], NULL, 0);
    result = backend->metric.get_sets(backend->self, provider->device, &sink);
    note = result == ZETA_PLUGIN_SUCCESS ? zeta_backend_note(backend) : NULL;
    if (note) {
        *out_note = strdup(note);
        zeta_error_clear(); /* nothing failed */
    }
    if (result != ZETA_PLUGIN_SUCCESS && result != ZETA_PLUGIN_UNSUPPORTED_FEATURE)
        zeta_log(ZETA_LOG_WARN, "metric", "plugin %s gave no metric sets of its own: result 0x%x",
                 backend->id, result);
    zeta_catalog_defer(gathering->catalog, false);
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

/**
 * Compiles what is in the catalog, each set with its query form where queries are possible; a set
 * that the device does not have is left out.
 */
static ze_result_t compile_all(const struct zeta_device *device,
                               const struct zeta_provider *provider, struct zeta_device_sets *sets)
{
    const struct zeta_backend *backend = provider->backend;
    const bool queries = device->backend->providers[ZETA_GROUP_METRIC_QUERY].backend != NULL;
    const uint32_t count = zeta_catalog_set_count(sets->catalog);
    struct zeta_diagnostics sink = {.report = log_finding};

    if (backend->metric.symbols(backend->self, provider->device, &sets->symbols) !=
        ZETA_PLUGIN_SUCCESS)
        sets->symbols = (struct zeta_plugin_array){0};
    sets->lookup = (struct zeta_symbol_lookup){.find = find_symbol, .context = &sets->symbols};
    sets->lookup.values = zeta_symbol_values_create(sets->catalog, &sets->lookup);
    sets->compiled = calloc((size_t)count + 1, sizeof(struct zeta_compiled *));
    sets->queries = calloc((size_t)count + 1, sizeof(struct zeta_compiled *));
    if (!sets->compiled || !sets->queries || !sets->lookup.values)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_set *set = zeta_catalog_set(sets->catalog, i);
        struct zeta_compiled **compiled = &sets->compiled[sets->count];
        ze_result_t result = zeta_set_compile(sets->catalog, set, &sets->lookup, &sink, compiled);

        if (result == ZE_RESULT_SUCCESS && queries &&
            (set->sampling & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED) != 0) {
            result = zeta_set_compile_query(sets->catalog, set, &sets->lookup, NULL,
                                            &sets->queries[sets->count]);
            if (result != ZE_RESULT_SUCCESS) {
                zeta_compiled_destroy(*compiled);
                *compiled = NULL;
            }
        }
        if (result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
            return result;
        if (result == ZE_RESULT_SUCCESS)
            sets->count++;
        else
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
        result = gather_all(&gathering, provider, &out_sets->note);
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
    free((void *)(uintptr_t)sets->lookup.values);
    free(sets->note);
    zeta_catalog_destroy(sets->catalog);
    *sets = (struct zeta_device_sets){0};
}
