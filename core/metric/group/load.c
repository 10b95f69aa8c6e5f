#include "core/metric/group/load.h"

#include <stdlib.h>
#include <string.h>

#include "core/capture/unit_program.h"
#include "core/device/device.h"
#include "core/formula/compile/compile.h"
#include "core/formula/sets/programmables.h"
#include "core/formula/sets/set.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/group/group.h"
#include "core/plugin/host.h"
#include "core/settings/settings.h"
#include "core/util/error.h"

/* What groups are made of ---------------------------------------------------------------------- */

/** One compiled set as the groups of a device see it: once per tile, or once. */
struct candidate {
    struct zeta_compiled **compiled;
    struct zeta_compiled **queries; /**< their query forms */
    bool has_queries;               /**< of all */
    uint32_t source_id;
};

struct candidates {
    struct candidate *items;
    struct zeta_compiled **forms; /**< that the items point to */
    uint32_t count;
};

/** Place of the same set on a tile, with the same metrics; UINT32_MAX if it does not have it. */
static uint32_t find_twin(const struct zeta_device_sets *sets, const struct zeta_compiled *wanted)
{
    const char *name = zeta_compiled_set(wanted)->name;

    for (uint32_t i = 0; i < sets->count; i++) {
        const struct zeta_compiled *compiled = sets->compiled[i];

        if (strcmp(zeta_compiled_set(compiled)->name, name) == 0)
            return zeta_compiled_check(compiled) == ZE_RESULT_SUCCESS &&
                           zeta_compiled_metric_count(compiled) ==
                               zeta_compiled_metric_count(wanted)
                       ? i
                       : UINT32_MAX;
    }
    return UINT32_MAX;
}

/** False where the backend reports that a device lacks the unit: nothing could be sampled. */
static bool has_unit(const struct zeta_device *device, const char *unit)
{
    const struct zeta_provider *provider =
        &zeta_metrics_tile(device, 0)->backend->providers[ZETA_GROUP_METRIC_STREAM];
    struct zeta_plugin_limits limits = {.struct_size = sizeof(limits)};
    uint32_t result;

    if (!provider->backend)
        return true;
    result = provider->backend->metric.limits(provider->backend->self, provider->device,
                                              zeta_plugin_text(unit), &limits);
    zeta_error_clear(); /* nothing failed */
    return result != ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

/** Lists the sets of the first tile that each tile has, with units that are there. */
static ze_result_t list_candidates(struct zeta_device_metrics *metrics, struct candidates *out)
{
    const uint32_t tiles = zeta_metrics_tile_count(metrics->device);
    const struct zeta_device_sets *first = zeta_metrics_sets(metrics, 0);
    const struct zeta_unit *asked = NULL; /* sets of one unit follow each other */
    bool is_there = false;

    out->items = calloc((size_t)first->count + 1, sizeof(*out->items));
    out->forms = calloc(((size_t)first->count + 1) * 2 * tiles, sizeof(struct zeta_compiled *));
    if (!out->items || !out->forms)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < first->count; i++) {
        const struct zeta_unit *unit = zeta_compiled_set(first->compiled[i])->unit;
        struct candidate *candidate = &out->items[out->count];
        uint32_t tile;

        if (unit != asked)
            is_there = has_unit(metrics->device, unit->name);
        asked = unit;
        candidate->compiled = out->forms + (size_t)out->count * 2 * tiles;
        candidate->queries = candidate->compiled + tiles;
        candidate->has_queries = true;
        for (tile = 0; is_there && tile < tiles; tile++) {
            const struct zeta_device_sets *sets = zeta_metrics_sets(metrics, tile);
            const uint32_t twin = tile == 0 ? i : find_twin(sets, first->compiled[i]);

            if (twin == UINT32_MAX)
                break;
            candidate->compiled[tile] = sets->compiled[twin];
            candidate->queries[tile] = sets->queries[twin];
            candidate->has_queries = candidate->has_queries && sets->queries[twin];
        }
        if (tile < tiles)
            continue;
        if (zeta_metrics_number_unit(metrics, unit->name, &candidate->source_id) !=
            ZE_RESULT_SUCCESS)
            return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        out->count++;
    }
    return ZE_RESULT_SUCCESS;
}

/* Notes about queries -------------------------------------------------------------------------- */

/** What the backend says of the queries of one unit. */
struct zeta_query_notes {
    struct zeta_query_notes *next;
    char *unit;
    char *no_queries; /**< a sentence: why it has none; "": it has */
    char *note;       /**< a sentence about what they count, or "" */
};

static const struct zeta_query_notes *find_notes(const struct zeta_device_metrics *metrics,
                                                 const char *unit)
{
    const struct zeta_query_notes *notes = metrics->query_notes;

    while (notes && strcmp(notes->unit, unit) != 0)
        notes = notes->next;
    return notes;
}

static char *copy_string(struct zeta_plugin_string string)
{
    return strndup(string.data ? string.data : "", string.data ? (size_t)string.size : 0);
}

/** Asks the backend about a unit, once; without a provider of queries there are no notes. */
static ze_result_t ask_about_unit(struct zeta_device_metrics *metrics, const char *unit)
{
    const struct zeta_provider *provider =
        &metrics->device->backend->providers[ZETA_GROUP_METRIC_QUERY];
    struct zeta_plugin_limits limits = {.struct_size = sizeof(limits)};
    struct zeta_query_notes *notes;

    if (!provider->backend || find_notes(metrics, unit))
        return ZE_RESULT_SUCCESS;
    if (provider->backend->metric.limits(provider->backend->self, provider->device,
                                         zeta_plugin_text(unit), &limits) != ZETA_PLUGIN_SUCCESS)
        return ZE_RESULT_SUCCESS; /* the making of a pool reports what is wrong */
    notes = calloc(1, sizeof(*notes));
    if (!notes)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    notes->next = metrics->query_notes;
    metrics->query_notes = notes;
    notes->unit = strdup(unit);
    notes->no_queries = copy_string(limits.no_queries);
    notes->note = copy_string(limits.query_note);
    return notes->unit && notes->no_queries && notes->note ? ZE_RESULT_SUCCESS
                                                           : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

static void free_notes(struct zeta_device_metrics *metrics)
{
    while (metrics->query_notes) {
        struct zeta_query_notes *notes = metrics->query_notes;

        metrics->query_notes = notes->next;
        free(notes->unit);
        free(notes->no_queries);
        free(notes->note);
        free(notes);
    }
}

bool zeta_unit_has_queries(const struct zeta_device_metrics *metrics, const char *unit)
{
    const struct zeta_query_notes *notes = find_notes(metrics, unit);

    return !notes || !*notes->no_queries;
}

void zeta_query_notes_get(const struct zeta_metric_group *group, const char **out_no_queries,
                          const char **out_note)
{
    const struct zeta_query_notes *notes = find_notes(group->metrics, group->set->unit->name);
    const bool is_query =
        group->properties->samplingType == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED;
    /* Of a set that was never meant for queries nobody wonders where they are. */
    const bool is_meant =
        (group->set->sampling & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED) != 0;

    *out_no_queries = notes && is_meant ? notes->no_queries : "";
    *out_note = notes && is_query ? notes->note : "";
}

/* Making the groups ---------------------------------------------------------------------------- */

/** One round through the sets; the order of rounds is the order of the groups. */
struct group_round {
    zet_metric_group_sampling_type_flags_t sampling;
    bool samples; /**< sets whose records are rows by themselves: instruction pointers */
    enum zeta_api_group needs;
};

/**
 * Time-based groups come first, so they are the first of every domain; those whose metrics old
 * tools do not expect come last among them.
 */
static const struct group_round rounds[] = {
    {ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED, false, ZETA_GROUP_METRIC_STREAM},
    {ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED, true, ZETA_GROUP_METRIC_STREAM},
    {ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED, false, ZETA_GROUP_METRIC_QUERY},
    {ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED, false, ZETA_GROUP_METRIC_TRACER},
};

#define ROUND_COUNT (sizeof(rounds) / sizeof(rounds[0]))

/** True if there are such groups and, where old tools end at them, somebody wants to see them. */
static bool is_offered(const struct zeta_device_metrics *metrics, const struct group_round *round)
{
    return metrics->device->backend->providers[round->needs].backend &&
           (round->sampling != ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED ||
            zeta_settings_bool("metric.tracer_groups", false));
}

static bool belongs(const struct zeta_device_metrics *metrics, const struct group_round *round,
                    const struct candidate *candidate)
{
    const struct zeta_set *set = zeta_compiled_set(candidate->compiled[0]);

    if ((set->sampling & round->sampling) == 0)
        return false;
    switch (round->sampling) {
    case ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED:
        return candidate->has_queries && zeta_unit_has_queries(metrics, set->unit->name);
    case ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED:
        /* On a root a record has to contain the tile on which it happened. */
        return metrics->device->tile_count == 0 || set->layout->tile_field != ZETA_FIELD_NONE;
    default:
        return (set->layout->kind == ZETA_LAYOUT_SAMPLE) == round->samples;
    }
}

static ze_result_t make_groups(struct zeta_device_metrics *metrics,
                               const struct candidates *candidates)
{
    metrics->groups =
        calloc(candidates->count * ROUND_COUNT + 1, sizeof(struct zeta_metric_group *));
    if (!metrics->groups)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (size_t r = 0; r < ROUND_COUNT; r++) {
        if (!is_offered(metrics, &rounds[r]))
            continue;
        for (uint32_t i = 0; i < candidates->count; i++) {
            const struct candidate *candidate = &candidates->items[i];
            struct zeta_group_plan plan = {.compiled = candidate->compiled,
                                           .compiled_count =
                                               zeta_metrics_tile_count(metrics->device),
                                           .sampling = rounds[r].sampling,
                                           .source_id = candidate->source_id};
            ze_result_t result;

            if (!belongs(metrics, &rounds[r], candidate))
                continue;
            if (rounds[r].sampling == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED)
                plan.compiled = candidate->queries;
            result =
                zeta_metric_group_create(metrics, &plan, &metrics->groups[metrics->group_count]);
            if (result != ZE_RESULT_SUCCESS)
                return result;
            metrics->group_count++;
        }
    }
    return ZE_RESULT_SUCCESS;
}

/** Asks about each unit whose sets or programmables could be queried. */
static ze_result_t ask_about_queries(struct zeta_device_metrics *metrics,
                                     const struct candidates *candidates)
{
    const struct zeta_catalog *catalog = zeta_metrics_sets(metrics, 0)->catalog;
    const uint32_t programmables = catalog ? zeta_catalog_programmable_count(catalog) : 0;
    ze_result_t result = ZE_RESULT_SUCCESS;

    for (uint32_t i = 0; i < candidates->count && result == ZE_RESULT_SUCCESS; i++) {
        const struct zeta_set *set = zeta_compiled_set(candidates->items[i].compiled[0]);

        if (set->sampling & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED)
            result = ask_about_unit(metrics, set->unit->name);
    }
    for (uint32_t i = 0; i < programmables && result == ZE_RESULT_SUCCESS; i++) {
        const struct zeta_programmable *model = zeta_catalog_programmable(catalog, i);

        if (model->sampling & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED)
            result = ask_about_unit(metrics, model->unit->name);
    }
    return result;
}

/* Loading -------------------------------------------------------------------------------------- */

static ze_result_t load_locked(struct zeta_device_metrics *metrics)
{
    struct zeta_device *device = metrics->device;
    const struct zeta_provider *provider = &device->backend->providers[ZETA_GROUP_METRIC_STREAM];
    struct candidates candidates = {0};
    ze_result_t result = ZE_RESULT_SUCCESS;

    for (uint32_t i = 0; i < device->tile_count && result == ZE_RESULT_SUCCESS; i++) {
        struct zeta_device_metrics *tile = zeta_device_metrics_get(device->tiles[i]);

        result = tile ? zeta_groups_load(tile) : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (result == ZE_RESULT_SUCCESS && device->tile_count == 0 && provider->backend)
        result = zeta_device_sets_load(device, provider, &metrics->sets);
    if (result == ZE_RESULT_SUCCESS)
        result = list_candidates(metrics, &candidates);
    if (result == ZE_RESULT_SUCCESS)
        result = ask_about_queries(metrics, &candidates);
    if (result == ZE_RESULT_SUCCESS)
        result = make_groups(metrics, &candidates);
    free(candidates.items);
    free(candidates.forms);
    if (result == ZE_RESULT_SUCCESS)
        return result;

    for (uint32_t i = 0; i < metrics->group_count; i++)
        zeta_metric_group_discard(metrics->groups[i]);
    free(metrics->groups);
    metrics->groups = NULL;
    metrics->group_count = 0;
    free_notes(metrics);
    zeta_list_finish(&metrics->units);
    zeta_device_sets_free(&metrics->sets);
    return result;
}

ze_result_t zeta_groups_load(struct zeta_device_metrics *metrics)
{
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (atomic_load_explicit(&metrics->loaded, memory_order_acquire))
        return ZE_RESULT_SUCCESS;
    (void)pthread_mutex_lock(&metrics->load_lock);
    if (!atomic_load(&metrics->loaded)) {
        result = load_locked(metrics);
        if (result == ZE_RESULT_SUCCESS)
            atomic_store_explicit(&metrics->loaded, true, memory_order_release);
    }
    (void)pthread_mutex_unlock(&metrics->load_lock);
    return result;
}

ze_result_t zeta_groups_enumerate(struct zeta_device *device, uint32_t *count,
                                  struct zeta_device_metrics **out_metrics)
{
    struct zeta_device_metrics *metrics = zeta_device_metrics_get(device);
    ze_result_t result;

    if (!metrics)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    result = zeta_metrics_check_was_enabled(metrics);
    if (result != ZE_RESULT_SUCCESS) {
        *count = 0;
        return result;
    }
    result = zeta_groups_load(metrics);
    if (result == ZE_RESULT_SUCCESS)
        *out_metrics = metrics;
    return result;
}
