#include "core/metric/programmable/programmable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/device.h"
#include "core/formula/programmables/recipe.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/device/set_files.h"
#include "core/metric/group/group.h"
#include "core/metric/group/load.h"
#include "core/metric/group/query_notes.h"
#include "core/plugin/host.h"
#include "core/util/error.h"
#include "zeta_impl.h"

/* Making ----------------------------------------------------------------------------------------
 */

static bool find_symbol(void *context, const char *name, struct zeta_number *out_value)
{
    const struct zeta_device_programmables *programmables = context;
    const uint32_t count = zeta_catalog_symbol_count(programmables->catalog);

    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(zeta_catalog_symbol(programmables->catalog, i)->name, name) != 0)
            continue;
        *out_value = programmables->symbols[i];
        return programmables->symbol_known[i];
    }
    return false;
}

struct zeta_symbol_lookup
zeta_programmables_symbols(const struct zeta_device_programmables *programmables)
{
    return (struct zeta_symbol_lookup){.find = find_symbol,
                                       .context = (void *)(uintptr_t)programmables};
}

const struct zeta_device_programmables *
zeta_programmables_of_tile(const struct zeta_device_metrics *metrics, uint32_t tile)
{
    const struct zeta_device *device = metrics->device;

    if (device->tile_count == 0)
        return &metrics->programmables;
    return &atomic_load(&device->tiles[tile]->metrics)->programmables;
}

/** Keeps the device's symbols, so that sets can be compiled under a lock of the core. */
static ze_result_t keep_symbols(struct zeta_device_metrics *metrics)
{
    struct zeta_device_programmables *programmables = &metrics->programmables;
    const struct zeta_provider *provider =
        &metrics->device->backend->providers[ZETA_GROUP_METRIC_STREAM];
    struct zeta_plugin_array array = {0};
    const struct zeta_symbol_lookup lookup = zeta_device_symbols(provider, &array);
    const uint32_t count = zeta_catalog_symbol_count(programmables->catalog);

    programmables->symbols = calloc(count + 1, sizeof(*programmables->symbols));
    programmables->symbol_known = calloc(count + 1, sizeof(*programmables->symbol_known));
    if (!programmables->symbols || !programmables->symbol_known)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        programmables->symbol_known[i] =
            lookup.find(lookup.context, zeta_catalog_symbol(programmables->catalog, i)->name,
                        &programmables->symbols[i]);
    return ZE_RESULT_SUCCESS;
}

/** Number of the counting unit, counted on behind those that have groups. */
static uint32_t source_of(const struct zeta_device_metrics *metrics, const struct zeta_unit *unit)
{
    uint32_t next = 0;

    for (uint32_t i = 0; i < metrics->group_count; i++) {
        const struct zeta_metric_group *group = metrics->groups[i];

        if (strcmp(group->set->unit->name, unit->name) == 0)
            return group->source_id;
        if (group->source_id >= next)
            next = group->source_id + 1;
    }
    for (uint32_t i = 0; i < metrics->programmables.count; i++) {
        const struct zeta_metric_programmable *programmable = metrics->programmables.items[i];

        if (!programmable)
            continue; /* never: for the analyser */
        if (strcmp(programmable->model->unit->name, unit->name) == 0)
            return programmable->source_id;
        if (programmable->source_id >= next)
            next = programmable->source_id + 1;
    }
    return next;
}

/** True if the device has it: its condition is true on the device, or on every tile. */
static bool exists(const struct zeta_device_metrics *metrics, const char *name)
{
    for (uint32_t tile = 0; tile < zeta_metrics_tile_count(metrics->device); tile++) {
        const struct zeta_device_programmables *of = zeta_programmables_of_tile(metrics, tile);
        const struct zeta_programmable *model = zeta_catalog_find_programmable(of->catalog, name);
        const struct zeta_symbol_lookup symbols = zeta_programmables_symbols(of);
        struct zeta_number value = {.u.u64 = 1};

        if (!model ||
            (model->available &&
             !zeta_expr_over_symbols(of->catalog, &symbols, model->available, &value)) ||
            value.u.u64 == 0)
            return false;
    }
    return true;
}

static ze_result_t make_programmable(struct zeta_device_metrics *metrics,
                                     const struct zeta_programmable *model,
                                     zet_metric_group_sampling_type_flags_t sampling)
{
    struct zeta_device_programmables *programmables = &metrics->programmables;
    struct zeta_metric_programmable *programmable;
    void *made = NULL;
    ze_result_t result =
        zeta_object_create(ZETA_KIND_METRIC_PROGRAMMABLE, sizeof(*programmable), &made);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    programmable = made;
    programmable->device = metrics->device;
    programmable->metrics = metrics;
    programmable->model = model;
    programmable->sampling = sampling;
    programmable->source_id = source_of(metrics, model->unit);
    programmables->items[programmables->count++] = programmable;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t make_programmables(struct zeta_device_metrics *metrics)
{
    static const struct {
        zet_metric_group_sampling_type_flags_t sampling;
        enum zeta_api_group needs;
    } rounds[] = {
        {ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED, ZETA_GROUP_METRIC_STREAM},
        {ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED, ZETA_GROUP_METRIC_QUERY},
    };
    struct zeta_device_programmables *programmables = &metrics->programmables;
    const uint32_t count = zeta_catalog_programmable_count(programmables->catalog);
    const size_t round_count = sizeof(rounds) / sizeof(rounds[0]);
    ze_result_t result = ZE_RESULT_SUCCESS;

    programmables->items =
        calloc(round_count * count + 1, sizeof(struct zeta_metric_programmable *));
    if (!programmables->items)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (!metrics->device->backend->providers[ZETA_GROUP_METRIC_PROGRAMMABLE].backend)
        return ZE_RESULT_SUCCESS;
    for (size_t r = 0; r < round_count; r++) {
        if (!metrics->device->backend->providers[rounds[r].needs].backend)
            continue;
        for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++) {
            const struct zeta_programmable *model =
                zeta_catalog_programmable(programmables->catalog, i);

            if ((model->sampling & rounds[r].sampling) == 0 || !exists(metrics, model->name))
                continue;
            if (rounds[r].sampling == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED &&
                !zeta_unit_has_queries(metrics, model->unit->name))
                continue;
            result = make_programmable(metrics, model, rounds[r].sampling);
        }
    }
    return result;
}

static void unload(struct zeta_device_programmables *programmables)
{
    for (uint32_t i = 0; i < programmables->count; i++) {
        zeta_object_discard(programmables->items[i]);
    }
    free(programmables->items);
    free(programmables->symbols);
    free(programmables->symbol_known);
    *programmables = (struct zeta_device_programmables){0};
}

static ze_result_t load_locked(struct zeta_device_metrics *metrics)
{
    struct zeta_device_programmables *programmables = &metrics->programmables;
    const struct zeta_device *device = metrics->device;
    ze_result_t result = ZE_RESULT_SUCCESS;

    for (uint32_t i = 0; i < device->tile_count && result == ZE_RESULT_SUCCESS; i++)
        result = zeta_programmables_load(atomic_load(&device->tiles[i]->metrics));
    if (result != ZE_RESULT_SUCCESS)
        return result;
    programmables->catalog = device->tile_count > 0
                                 ? atomic_load(&device->tiles[0]->metrics)->sets.catalog
                                 : metrics->sets.catalog;
    if (!programmables->catalog)
        return ZE_RESULT_SUCCESS; /* no plugin samples the device */
    if (device->tile_count == 0)
        result = keep_symbols(metrics);
    if (result == ZE_RESULT_SUCCESS)
        result = make_programmables(metrics);
    if (result != ZE_RESULT_SUCCESS)
        unload(programmables);
    return result;
}

ze_result_t zeta_programmables_load(struct zeta_device_metrics *metrics)
{
    ze_result_t result;

    if (atomic_load_explicit(&metrics->programmables_loaded, memory_order_acquire))
        return ZE_RESULT_SUCCESS;
    result = zeta_groups_load(metrics);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    (void)pthread_mutex_lock(&metrics->load_lock);
    if (!atomic_load(&metrics->programmables_loaded)) {
        result = load_locked(metrics);
        if (result == ZE_RESULT_SUCCESS)
            atomic_store_explicit(&metrics->programmables_loaded, true, memory_order_release);
    }
    (void)pthread_mutex_unlock(&metrics->load_lock);
    return result;
}

/* The API ---------------------------------------------------------------------------------------
 */

static void copy_text(char *target, size_t size_bytes, const char *text)
{
    (void)snprintf(target, size_bytes, "%s", text);
}

ze_result_t ZE_APICALL
impl_zetMetricProgrammableGetExp(zet_device_handle_t hDevice, uint32_t *pCount,
                                 zet_metric_programmable_exp_handle_t *phMetricProgrammables)
{
    struct zeta_device_metrics *metrics = NULL;
    ze_result_t result = zeta_groups_enumerate((struct zeta_device *)hDevice, pCount, &metrics);
    uint32_t count;

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_programmables_load(metrics);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    count = zeta_count_clip(pCount, metrics->programmables.count, phMetricProgrammables);
    for (uint32_t i = 0; i < count; i++)
        phMetricProgrammables[i] =
            (zet_metric_programmable_exp_handle_t)metrics->programmables.items[i];
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL
impl_zetMetricProgrammableGetPropertiesExp(zet_metric_programmable_exp_handle_t hMetricProgrammable,
                                           zet_metric_programmable_exp_properties_t *pProperties)
{
    const struct zeta_metric_programmable *programmable =
        (const struct zeta_metric_programmable *)hMetricProgrammable;
    const struct zeta_programmable *model = programmable->model;

    copy_text(pProperties->name, sizeof(pProperties->name), model->name);
    copy_text(pProperties->description, sizeof(pProperties->description), model->description);
    copy_text(pProperties->component, sizeof(pProperties->component), model->component);
    pProperties->tierNumber = model->tier;
    pProperties->domain = model->domain;
    pProperties->parameterCount = model->parameter_count;
    pProperties->samplingType = programmable->sampling;
    pProperties->sourceId = programmable->source_id;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zetMetricProgrammableGetParamInfoExp(
    zet_metric_programmable_exp_handle_t hMetricProgrammable, uint32_t *pParameterCount,
    zet_metric_programmable_param_info_exp_t *pParameterInfo)
{
    const struct zeta_programmable *model =
        ((const struct zeta_metric_programmable *)hMetricProgrammable)->model;
    const uint32_t count = zeta_count_clip(pParameterCount, model->parameter_count, pParameterInfo);

    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_parameter *parameter = model->parameters[i];
        zet_metric_programmable_param_info_exp_t *info = &pParameterInfo[i];

        info->type = parameter->type;
        copy_text(info->name, sizeof(info->name), parameter->name);
        info->valueInfoType = parameter->value_type;
        info->defaultValue = parameter->fallback;
        info->valueInfoCount = parameter->value_count;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zetMetricProgrammableGetParamValueInfoExp(
    zet_metric_programmable_exp_handle_t hMetricProgrammable, uint32_t parameterOrdinal,
    uint32_t *pValueInfoCount, zet_metric_programmable_param_value_info_exp_t *pValueInfo)
{
    const struct zeta_programmable *model =
        ((const struct zeta_metric_programmable *)hMetricProgrammable)->model;
    const struct zeta_parameter *parameter;
    uint32_t count;

    if (parameterOrdinal >= model->parameter_count)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "programmable %s has %u parameters, so there is none with ordinal %u",
                          model->name, model->parameter_count, parameterOrdinal);
    parameter = model->parameters[parameterOrdinal];
    count = zeta_count_clip(pValueInfoCount, parameter->value_count, pValueInfo);
    for (uint32_t i = 0; i < count; i++) {
        pValueInfo[i].valueInfo = parameter->values[i].info;
        copy_text(pValueInfo[i].description, sizeof(pValueInfo[i].description),
                  parameter->values[i].description);
    }
    return ZE_RESULT_SUCCESS;
}
