#include "core/metric/programmable/programmable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/device.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/group/group.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

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
    const struct zeta_programmable *model;
    const struct zeta_recipe *recipe;
    const char *wrong = NULL;
    ze_result_t result;

    if (!metric)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    result = zeta_recipe_init(&metric->recipe, programmable->model, request, &wrong);
    if (result == ZE_RESULT_ERROR_INVALID_ARGUMENT)
        result = zeta_error(result, "programmable %s: %s", programmable->model->name, wrong);
    if (result != ZE_RESULT_SUCCESS)
        goto free_metric;
    recipe = &metric->recipe;
    model = recipe->programmable;
    metric->metric = (struct zeta_metric){.name = recipe->name,
                                          .description = recipe->description,
                                          .component = model->component,
                                          .unit = recipe->result_unit,
                                          .file = model->file,
                                          .line = model->line,
                                          .type = recipe->type,
                                          .value_type = recipe->value_type,
                                          .tier = model->tier,
                                          .metric_class = recipe->metric_class};
    result = zeta_metric_entry_create(&metric->metric, &metric->entry);
    if (result != ZE_RESULT_SUCCESS)
        goto free_metric;
    metric->entry->user = metric;
    metric->programmable = programmable;
    metric->part.finish = finish_metric;
    metric->client = (struct zeta_client){
        .kind = ZETA_CLIENT_METRIC, .name = metric->recipe.name, .device = programmable->device};
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
                            metric->recipe.name, metric->groups);
    else if (zeta_object_retire(entry))
        zeta_client_remove_locked(root, &metric->client);
    else
        result = zeta_object_explain(entry, ZETA_KIND_METRIC, "zetMetricDestroyExp", "hMetric");
    (void)pthread_mutex_unlock(&root->lock);
    if (result == ZE_RESULT_SUCCESS)
        zeta_object_unpin(entry);
    return result;
}
