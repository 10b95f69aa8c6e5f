#include "core/metric/query/query_words.h"

#include <stdlib.h>
#include <string.h>

#include "core/device/device.h"
#include "core/formula/sets/set.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/group/group.h"
#include "core/plugin/host.h"
#include "core/util/error.h"

const struct zeta_query_words *zeta_query_words_of(const struct zeta_device_metrics *metrics,
                                                   const char *unit)
{
    const struct zeta_query_words *words = metrics->query_words;

    while (words && strcmp(words->unit, unit) != 0)
        words = words->next;
    return words;
}

static char *text_of(struct zeta_plugin_string string)
{
    return strndup(string.data ? string.data : "", string.data ? (size_t)string.size : 0);
}

static void free_words(struct zeta_query_words *words)
{
    free(words->unit);
    free(words->no_queries);
    free(words->note);
    free(words);
}

ze_result_t zeta_query_words_ask(struct zeta_device_metrics *metrics, const char *unit)
{
    const struct zeta_provider *who = &metrics->device->backend->providers[ZETA_GROUP_METRIC_QUERY];
    struct zeta_plugin_limits limits = {.struct_size = sizeof(limits)};
    const struct zeta_plugin_string name = {.data = unit, .size = strlen(unit)};

    if (!who->backend || zeta_query_words_of(metrics, unit))
        return ZE_RESULT_SUCCESS;
    if (who->backend->metric.limits(who->backend->self, who->device, name, &limits) !=
        ZETA_PLUGIN_SUCCESS)
        return ZE_RESULT_SUCCESS; /* what it does know is said when a pool is made */
    struct zeta_query_words *words = calloc(1, sizeof(*words));
    if (!words)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    words->unit = strdup(unit);
    words->no_queries = text_of(limits.no_queries);
    words->note = text_of(limits.query_note);
    if (!words->unit || !words->no_queries || !words->note) {
        free_words(words);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    words->next = metrics->query_words;
    metrics->query_words = words;
    return ZE_RESULT_SUCCESS;
}

void zeta_query_words_give(const struct zeta_metric_group *group, const char **out_no_queries,
                           const char **out_note)
{
    const struct zeta_query_words *words =
        zeta_query_words_of(group->metrics, group->set->unit->name);
    const bool is_query =
        group->properties->samplingType == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED;
    /* Of a set that was never meant for queries nobody wonders where they are. */
    const bool is_meant =
        (group->set->sampling & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED) != 0;

    *out_no_queries = words && is_meant ? words->no_queries : "";
    *out_note = words && is_query ? words->note : "";
}

void zeta_query_words_free(struct zeta_device_metrics *metrics)
{
    while (metrics->query_words) {
        struct zeta_query_words *next = metrics->query_words->next;

        free_words(metrics->query_words);
        metrics->query_words = next;
    }
}
