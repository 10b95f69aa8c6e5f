#include "core/metric/group/query_notes.h"

#include <stdlib.h>
#include <string.h>

#include "core/capture/unit_program.h"
#include "core/device/device.h"
#include "core/formula/sets/set.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/group/group.h"
#include "core/plugin/host.h"

/** Notes about one unit. */
struct zeta_query_notes {
    struct zeta_query_notes *next;
    char *unit;
    char *no_queries; /**< a sentence: why it has none; "": it has */
    char *note;       /**< a sentence about what they count, or "" */
};

static const struct zeta_query_notes *find(const struct zeta_device_metrics *metrics,
                                           const char *unit)
{
    const struct zeta_query_notes *notes = metrics->query_notes;

    while (notes && strcmp(notes->unit, unit) != 0)
        notes = notes->next;
    return notes;
}

static char *copy(struct zeta_plugin_string string)
{
    return strndup(string.data ? string.data : "", string.data ? (size_t)string.size : 0);
}

static void free_one(struct zeta_query_notes *notes)
{
    free(notes->unit);
    free(notes->no_queries);
    free(notes->note);
    free(notes);
}

ze_result_t zeta_query_notes_ask(struct zeta_device_metrics *metrics, const char *unit)
{
    const struct zeta_provider *provider =
        &metrics->device->backend->providers[ZETA_GROUP_METRIC_QUERY];
    struct zeta_plugin_limits limits = {.struct_size = sizeof(limits)};
    struct zeta_query_notes *notes;

    if (!provider->backend || find(metrics, unit))
        return ZE_RESULT_SUCCESS;
    if (provider->backend->metric.limits(provider->backend->self, provider->device,
                                         zeta_plugin_text(unit), &limits) != ZETA_PLUGIN_SUCCESS)
        return ZE_RESULT_SUCCESS; /* the making of a pool reports what is wrong */
    notes = calloc(1, sizeof(*notes));
    if (!notes)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    notes->unit = strdup(unit);
    notes->no_queries = copy(limits.no_queries);
    notes->note = copy(limits.query_note);
    if (!notes->unit || !notes->no_queries || !notes->note) {
        free_one(notes);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    notes->next = metrics->query_notes;
    metrics->query_notes = notes;
    return ZE_RESULT_SUCCESS;
}

bool zeta_unit_has_queries(const struct zeta_device_metrics *metrics, const char *unit)
{
    const struct zeta_query_notes *notes = find(metrics, unit);

    return !notes || !*notes->no_queries;
}

void zeta_query_notes_get(const struct zeta_metric_group *group, const char **out_no_queries,
                          const char **out_note)
{
    const struct zeta_query_notes *notes = find(group->metrics, group->set->unit->name);
    const bool is_query =
        group->properties->samplingType == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED;
    /* Of a set that was never meant for queries nobody wonders where they are. */
    const bool is_meant =
        (group->set->sampling & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED) != 0;

    *out_no_queries = notes && is_meant ? notes->no_queries : "";
    *out_note = notes && is_query ? notes->note : "";
}

void zeta_query_notes_free(struct zeta_device_metrics *metrics)
{
    while (metrics->query_notes) {
        struct zeta_query_notes *next = metrics->query_notes->next;

        free_one(metrics->query_notes);
        metrics->query_notes = next;
    }
}
