#include "core/metric/programmable/programmable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/device.h"
#include "core/formula/programmables/recipe.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/group/group.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

/* Making --------------------------------------------------------------------------------------- */

/** True if the device has it: its condition is true on the device, or on every tile. */
static bool exists(const struct zeta_device_metrics *metrics, const char *name)
{
    for (uint32_t tile = 0; tile < zeta_metrics_tile_count(metrics->device); tile++) {
        const struct zeta_device_sets *sets = zeta_metrics_sets(metrics, tile);
        const struct zeta_programmable *model = zeta_catalog_find_programmable(sets->catalog, name);
        struct zeta_number value = {.u.u64 = 1};

        if (!model ||
            (model->available &&
             !zeta_expr_over_symbols(sets->catalog, &sets->lookup, model->available, &value)) ||
            value.u.u64 == 0)
            return false;
    }
    return true;
}

/** Makes the programmables: those that can be streamed, then those that can be queried. */
static ze_result_t make_programmables(struct zeta_device_metrics *metrics)
{
    static const struct {
        zet_metric_group_sampling_type_flags_t sampling;
        enum zeta_api_group needs;
    } rounds[] = {
        {ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED, ZETA_GROUP_METRIC_STREAM},
        {ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED, ZETA_GROUP_METRIC_QUERY},
    };
    const struct zeta_provider *providers = metrics->device->backend->providers;
    const struct zeta_catalog *catalog = zeta_metrics_sets(metrics, 0)->catalog;
    const size_t round_count = sizeof(rounds) / sizeof(rounds[0]);

    if (!catalog || !providers[ZETA_GROUP_METRIC_PROGRAMMABLE].backend)
        return ZE_RESULT_SUCCESS; /* no plugin samples the device, or it has none */
    metrics->programmables = calloc(round_count * zeta_catalog_programmable_count(catalog) + 1,
                                    sizeof(struct zeta_metric_programmable *));
    if (!metrics->programmables)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (size_t r = 0; r < round_count; r++) {
        const bool is_query = rounds[r].sampling == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED;

        if (!providers[rounds[r].needs].backend)
            continue;
        for (uint32_t i = 0; i < zeta_catalog_programmable_count(catalog); i++) {
            const struct zeta_programmable *model = zeta_catalog_programmable(catalog, i);
            struct zeta_metric_programmable *programmable;
            void *made = NULL;
            ze_result_t result;

            if ((model->sampling & rounds[r].sampling) == 0 || !exists(metrics, model->name) ||
                (is_query && !zeta_unit_has_queries(metrics, model->unit->name)))
                continue;
            result =
                zeta_object_create(ZETA_KIND_METRIC_PROGRAMMABLE, sizeof(*programmable), &made);
            if (result != ZE_RESULT_SUCCESS)
                return result;
            programmable = made;
            programmable->device = metrics->device;
            programmable->metrics = metrics;
            programmable->model = model;
            programmable->sampling = rounds[r].sampling;
            metrics->programmables[metrics->programmable_count++] = programmable;
            result = zeta_metrics_number_unit(metrics, model->unit->name, &programmable->source_id);
            if (result != ZE_RESULT_SUCCESS)
                return result;
        }
    }
    return ZE_RESULT_SUCCESS;
}

static ze_result_t load_locked(struct zeta_device_metrics *metrics)
{
    const struct zeta_device *device = metrics->device;
    ze_result_t result;

    for (uint32_t i = 0; i < device->tile_count; i++) {
        result = zeta_programmables_load(atomic_load(&device->tiles[i]->metrics));
        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    result = make_programmables(metrics);
    if (result == ZE_RESULT_SUCCESS)
        return result;
    while (metrics->programmable_count > 0)
        zeta_object_discard(metrics->programmables[--metrics->programmable_count]);
    free(metrics->programmables);
    metrics->programmables = NULL;
    return result;
}

ze_result_t zeta_programmables_load(struct zeta_device_metrics *metrics)
{
    ze_result_t result = zeta_groups_load(metrics);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    return zeta_metrics_load_once(metrics, &metrics->programmables_loaded, load_locked);
}

/* The API -------------------------------------------------------------------------------------- */

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
    count = zeta_count_clip(pCount, metrics->programmable_count, phMetricProgrammables);
    for (uint32_t i = 0; i < count; i++)
        phMetricProgrammables[i] = (zet_metric_programmable_exp_handle_t)metrics->programmables[i];
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL
impl_zetMetricProgrammableGetPropertiesExp(zet_metric_programmable_exp_handle_t hMetricProgrammable,
                                           zet_metric_programmable_exp_properties_t *pProperties)
{
    const struct zeta_metric_programmable *programmable =
        (const struct zeta_metric_programmable *)hMetricProgrammable;
    const struct zeta_programmable *model = programmable->model;

    zeta_copy_text(pProperties->name, sizeof(pProperties->name), model->name);
    zeta_copy_text(pProperties->description, sizeof(pProperties->description), model->description);
    zeta_copy_text(pProperties->component, sizeof(pProperties->component), model->component);
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
        zeta_copy_text(info->name, sizeof(info->name), parameter->name);
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
        zeta_copy_text(pValueInfo[i].description, sizeof(pValueInfo[i].description),
                       parameter->values[i].description);
    }
    return ZE_RESULT_SUCCESS;
}

/* Making --------------------------------------------------------------------------------------- */

/** Frees a metric whose last reference is gone. */
static void finish_metric(struct zeta_user_part *part)
{
    struct zeta_user_metric *metric = (struct zeta_user_metric *)part;

    zeta_recipe_finish(&metric->recipe);
    free(metric);
}

static ze_result_t make_metric(const struct zeta_metric_programmable *programmable,
                               const struct zeta_recipe_request *request,
                               struct zeta_metric_entry **out_entry)
{
    struct zeta_user_metric *metric = calloc(1, sizeof(*metric));
    const char *wrong = NULL;
    ze_result_t result;

    if (!metric)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    result = zeta_recipe_init(&metric->recipe, programmable->model, request, &wrong);
    if (result == ZE_RESULT_ERROR_INVALID_ARGUMENT)
        result = zeta_error(result, "programmable %s: %s", programmable->model->name, wrong);
    if (result != ZE_RESULT_SUCCESS)
        goto free_metric;
    result = zeta_metric_entry_create(&metric->recipe.metric, &metric->entry);
    if (result != ZE_RESULT_SUCCESS)
        goto free_metric;
    metric->entry->user = metric;
    metric->programmable = programmable;
    metric->part.finish = finish_metric;
    metric->client = (struct zeta_client){.kind = ZETA_CLIENT_METRIC,
                                          .name = metric->recipe.metric.name,
                                          .device = programmable->device};
    *out_entry = metric->entry;
    return ZE_RESULT_SUCCESS;

free_metric:
    finish_metric(&metric->part);
    return result;
}

/** Makes the metrics of a choice, all or none; out_metrics is written at the end. */
static ze_result_t make_metrics(const struct zeta_metric_programmable *programmable,
                                struct zeta_recipe_request *request, uint32_t count,
                                zet_metric_handle_t *out_metrics)
{
    struct zeta_device_metrics *root = zeta_metrics_root(programmable->metrics);
    ZETA_CLEANUP(zeta_freep)
    struct zeta_metric_entry **entries = calloc(count, sizeof(struct zeta_metric_entry *));

    if (!entries)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (request->instance = 0; request->instance < count; request->instance++) {
        ze_result_t result = make_metric(programmable, request, &entries[request->instance]);

        if (result == ZE_RESULT_SUCCESS)
            continue;
        while (request->instance > 0)
            zeta_object_discard(entries[--request->instance]);
        return result;
    }
    (void)pthread_mutex_lock(&root->lock);
    for (uint32_t i = 0; i < count; i++) {
        zeta_client_add_locked(root, &entries[i]->user->client);
        out_metrics[i] = (zet_metric_handle_t)entries[i];
    }
    (void)pthread_mutex_unlock(&root->lock);
    return ZE_RESULT_SUCCESS;
}

/* The API -------------------------------------------------------------------------------------- */

ze_result_t ZE_APICALL impl_zetMetricCreateFromProgrammableExp2(
    zet_metric_programmable_exp_handle_t hMetricProgrammable, uint32_t parameterCount,
    zet_metric_programmable_param_value_exp_t *pParameterValues, const char *pName,
    const char *pDescription, uint32_t *pMetricHandleCount, zet_metric_handle_t *phMetricHandles)
{
    const struct zeta_metric_programmable *programmable =
        (const struct zeta_metric_programmable *)hMetricProgrammable;
    const struct zeta_device_sets *sets = zeta_metrics_sets(programmable->metrics, 0);
    struct zeta_choice choice;
    struct zeta_recipe_request request = {
        .choice = &choice, .name = pName, .description = pDescription};
    uint32_t available = 0;
    uint32_t wanted;
    ze_result_t result;

    if (pName[0] == '\0')
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "pName is empty; a metric needs a name");
    if (strnlen(pName, ZET_MAX_METRIC_NAME) + ZETA_RECIPE_SUFFIX_BYTES > ZET_MAX_METRIC_NAME)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "pName is longer than %u bytes, which leave room for a suffix",
                          ZET_MAX_METRIC_NAME - ZETA_RECIPE_SUFFIX_BYTES);
    result = zeta_check_text(pDescription, "pDescription", ZET_MAX_METRIC_DESCRIPTION);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_choice_make(programmable->model, parameterCount, pParameterValues, &choice);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_choice_count(sets->catalog, programmable->model, &choice, &sets->lookup,
                                   programmable->device->tile_count, &available);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    wanted = *pMetricHandleCount;
    if (zeta_count_clip(&wanted, available, phMetricHandles) > 0)
        result = make_metrics(programmable, &request, wanted, phMetricHandles);
    if (result == ZE_RESULT_SUCCESS)
        *pMetricHandleCount = wanted;
    return result;
}

ze_result_t ZE_APICALL impl_zetMetricCreateFromProgrammableExp(
    zet_metric_programmable_exp_handle_t hMetricProgrammable,
    zet_metric_programmable_param_value_exp_t *pParameterValues, uint32_t parameterCount,
    const char *pName, const char *pDescription, uint32_t *pMetricHandleCount,
    zet_metric_handle_t *phMetricHandles)
{
    return impl_zetMetricCreateFromProgrammableExp2(hMetricProgrammable, parameterCount,
                                                    pParameterValues, pName, pDescription,
                                                    pMetricHandleCount, phMetricHandles);
}

ze_result_t ZE_APICALL impl_zetMetricDestroyExp(zet_metric_handle_t hMetric)
{
    struct zeta_metric_entry *entry = (struct zeta_metric_entry *)hMetric;
    struct zeta_user_metric *metric = entry->user;
    struct zeta_device_metrics *root;
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (!metric)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "metric %s belongs to %s and cannot be destroyed",
                          entry->properties->name, zeta_metric_entry_owner(entry));
    root = zeta_metrics_root(metric->programmable->metrics);
    (void)pthread_mutex_lock(&root->lock);
    if (metric->groups > 0)
        result = zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                            "metric %s is in %u groups; remove it there, or destroy them, first",
                            metric->recipe.metric.name, metric->groups);
    else if (zeta_object_retire(entry))
        zeta_client_remove_locked(root, &metric->client);
    else
        result = zeta_object_explain(entry, ZETA_KIND_METRIC, "zetMetricDestroyExp", "hMetric");
    (void)pthread_mutex_unlock(&root->lock);
    if (result == ZE_RESULT_SUCCESS)
        zeta_object_unpin(entry);
    return result;
}
