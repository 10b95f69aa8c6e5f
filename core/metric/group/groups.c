/* The groups of a device, and what the API shows of them. */
#include <stdlib.h>
#include <string.h>

#include "core/api/chain.h"
#include "core/capture/capture.h"
#include "core/capture/unit.h"
#include "core/device/device.h"
#include "core/formula/compile/compile.h"
#include "core/formula/sets/programmables.h"
#include "core/formula/sets/set.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/group/group.h"
#include "core/plugin/host.h"
#include "core/settings/settings.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "core/util/own_struct.h"
#include "zeta/zeta.h"
#include "zeta_impl.h"

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

/* Notes about units ---------------------------------------------------------------------------- */

/** What the backends say of one unit. */
struct zeta_unit_notes {
    struct zeta_unit_notes *next;
    char *unit;
    char *no_queries;  /**< a sentence: why it has none; "": it has */
    char *query_note;  /**< a sentence about what they count, or "" */
    char *stream_note; /**< a sentence about what streams and tracers see, or "" */
    bool own_process;  /**< streams and tracers see this process only */
};

static const struct zeta_unit_notes *find_notes(const struct zeta_device_metrics *metrics,
                                                const char *unit)
{
    const struct zeta_unit_notes *notes = metrics->unit_notes;

    while (notes && strcmp(notes->unit, unit) != 0)
        notes = notes->next;
    return notes;
}

static char *copy_string(struct zeta_plugin_string string)
{
    return strndup(string.data ? string.data : "", string.data ? (size_t)string.size : 0);
}

/** The limits of a unit, zeroed where nobody knows them. */
static struct zeta_plugin_limits ask_limits(const struct zeta_provider *provider, const char *unit)
{
    const struct zeta_plugin_limits none = {.struct_size = sizeof(none)};
    struct zeta_plugin_limits limits = none;

    if (!provider->backend ||
        provider->backend->metric.limits(provider->backend->self, provider->device,
                                         zeta_plugin_text(unit), &limits) != ZETA_PLUGIN_SUCCESS)
        limits = none; /* opening a stream or making a pool reports what is wrong */
    return limits;
}

/** Asks the backends about a unit, once. */
static ze_result_t ask_about_unit(struct zeta_device_metrics *metrics, const char *unit)
{
    const struct zeta_provider *providers = metrics->device->backend->providers;
    struct zeta_plugin_limits streams;
    struct zeta_plugin_limits queries;
    struct zeta_unit_notes *notes;

    if (find_notes(metrics, unit))
        return ZE_RESULT_SUCCESS;
    notes = calloc(1, sizeof(*notes));
    if (!notes)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    streams = ask_limits(&providers[ZETA_GROUP_METRIC_STREAM], unit);
    queries = ask_limits(&providers[ZETA_GROUP_METRIC_QUERY], unit);
    notes->next = metrics->unit_notes;
    metrics->unit_notes = notes;
    notes->unit = strdup(unit);
    notes->no_queries = copy_string(queries.no_queries);
    notes->query_note = copy_string(queries.query_note);
    notes->stream_note = copy_string(streams.stream_note);
    notes->own_process = streams.own_process != 0;
    return notes->unit && notes->no_queries && notes->query_note && notes->stream_note
               ? ZE_RESULT_SUCCESS
               : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

bool zeta_unit_has_queries(const struct zeta_device_metrics *metrics, const char *unit)
{
    const struct zeta_unit_notes *notes = find_notes(metrics, unit);

    return !notes || !*notes->no_queries;
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
        const bool is_tracer =
            rounds[r].sampling == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED;

        /* Old tools end at groups of tracers. */
        if (!metrics->device->backend->providers[rounds[r].needs].backend ||
            (is_tracer && !zeta_settings_bool("metric.tracer_groups", false)))
            continue;
        for (uint32_t i = 0; i < candidates->count; i++) {
            const struct candidate *candidate = &candidates->items[i];
            const bool is_query =
                rounds[r].sampling == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED;
            ze_result_t result;

            if (!belongs(metrics, &rounds[r], candidate))
                continue;
            result = zeta_metric_group_create(
                metrics, is_query ? candidate->queries : candidate->compiled, rounds[r].sampling,
                candidate->source_id, &metrics->groups[metrics->group_count]);
            if (result != ZE_RESULT_SUCCESS)
                return result;
            metrics->group_count++;
        }
    }
    return ZE_RESULT_SUCCESS;
}

/** Asks about each unit that has sets or programmables. */
static ze_result_t ask_about_units(struct zeta_device_metrics *metrics,
                                   const struct candidates *candidates)
{
    const struct zeta_catalog *catalog = zeta_metrics_sets(metrics, 0)->catalog;
    const uint32_t programmables = catalog ? zeta_catalog_programmable_count(catalog) : 0;
    ze_result_t result = ZE_RESULT_SUCCESS;

    for (uint32_t i = 0; i < candidates->count && result == ZE_RESULT_SUCCESS; i++)
        result = ask_about_unit(metrics,
                                zeta_compiled_set(candidates->items[i].compiled[0])->unit->name);
    for (uint32_t i = 0; i < programmables && result == ZE_RESULT_SUCCESS; i++)
        result = ask_about_unit(metrics, zeta_catalog_programmable(catalog, i)->unit->name);
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
        result = ask_about_units(metrics, &candidates);
    if (result == ZE_RESULT_SUCCESS)
        result = make_groups(metrics, &candidates);
    free(candidates.items);
    free(candidates.forms);
    if (result == ZE_RESULT_SUCCESS) {
        atomic_store_explicit(&device->metric_note, zeta_metrics_sets(metrics, 0)->note,
                              memory_order_release);
        return result;
    }

    for (uint32_t i = 0; i < metrics->group_count; i++)
        zeta_metric_group_discard(metrics->groups[i]);
    free(metrics->groups);
    metrics->groups = NULL;
    metrics->group_count = 0;
    while (metrics->unit_notes) {
        struct zeta_unit_notes *notes = metrics->unit_notes;

        metrics->unit_notes = notes->next;
        free(notes->unit);
        free(notes->no_queries);
        free(notes->query_note);
        free(notes->stream_note);
        free(notes);
    }
    zeta_list_finish(&metrics->units);
    zeta_device_sets_free(&metrics->sets);
    return result;
}

ze_result_t zeta_groups_load(struct zeta_device_metrics *metrics)
{
    return zeta_metrics_load_once(metrics, &metrics->loaded, load_locked);
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

/* What the API shows --------------------------------------------------------------------------- */

ze_result_t ZE_APICALL impl_zetMetricGroupGet(zet_device_handle_t hDevice, uint32_t *pCount,
                                              zet_metric_group_handle_t *phMetricGroups)
{
    struct zeta_device_metrics *metrics = NULL;
    ze_result_t result = zeta_groups_enumerate((struct zeta_device *)hDevice, pCount, &metrics);
    uint32_t count;

    if (result != ZE_RESULT_SUCCESS)
        return result;
    count = zeta_count_clip(pCount, metrics->group_count, phMetricGroups);
    for (uint32_t i = 0; i < count; i++)
        phMetricGroups[i] = (zet_metric_group_handle_t)metrics->groups[i];
    return ZE_RESULT_SUCCESS;
}

/*
 * What is copied behind stype and pNext. Volatile, because for a constant size the compiler emits a
 * string instruction that takes longer to start than the library's memcpy takes for everything.
 */
static const volatile size_t group_bytes =
    sizeof(zet_metric_group_properties_t) - offsetof(zet_metric_group_properties_t, name);
static const volatile size_t metric_bytes =
    sizeof(zet_metric_properties_t) - offsetof(zet_metric_properties_t, name);

/** Fills what is chained to the properties of a group, or of a metric: group is NULL then. */
static void fill_chain(const struct zeta_metric_group *group, const void *next)
{
    struct zeta_chain chain = zeta_chain_begin(next);
    uint32_t stype;
    void *node;

    while ((node = zeta_chain_next(&chain, &stype)) != NULL) {
        zet_metric_global_timestamps_resolution_exp_t *resolution = node;
        zet_metric_group_type_exp_t *type = node;
        zet_metric_source_id_exp_t *source = node;
        zet_export_dma_buf_exp_properties_t *export = node;

        if (stype == ZET_STRUCTURE_TYPE_EXPORT_DMA_EXP_PROPERTIES &&
            zeta_chain_readable(node, sizeof(*export))) {
            export->fd = -1; /* there is no memory to import */
            export->size = 0;
        }
        if (!group)
            continue;
        if (stype == ZET_STRUCTURE_TYPE_METRIC_GLOBAL_TIMESTAMPS_RESOLUTION_EXP &&
            zeta_chain_readable(node, sizeof(*resolution))) {
            resolution->timerResolution = group->device->backend->properties.timer_hz;
            resolution->timestampValidBits =
                group->device->backend->properties.timestamp_valid_bits;
        } else if (stype == ZET_STRUCTURE_TYPE_METRIC_GROUP_TYPE_EXP &&
                   zeta_chain_readable(node, sizeof(*type))) {
            type->type = group->user ? ZET_METRIC_GROUP_TYPE_EXP_FLAG_USER_CREATED
                                     : ZET_METRIC_GROUP_TYPE_EXP_FLAG_OTHER;
            if (zeta_metric_group_takes_markers(group))
                type->type |= ZET_METRIC_GROUP_TYPE_EXP_FLAG_MARKER;
        } else if (stype == ZET_STRUCTURE_TYPE_METRIC_SOURCE_ID_EXP &&
                   zeta_chain_readable(node, sizeof(*source))) {
            source->sourceId = group->source_id;
        }
    }
}

/**
 * Pins and locks a group that an application made, because another thread may destroy or change it;
 * what is predefined needs neither. False if it is destroyed.
 */
static bool lock_group(struct zeta_metric_group *group)
{
    if (!group->user)
        return true;
    if (!zeta_object_pin(group, ZETA_KIND_METRIC_GROUP))
        return false;
    (void)pthread_mutex_lock(&zeta_metrics_root(group->metrics)->lock);
    return true;
}

static void unlock_group(struct zeta_metric_group *group)
{
    if (!group->user)
        return;
    (void)pthread_mutex_unlock(&zeta_metrics_root(group->metrics)->lock);
    zeta_object_unpin(group);
}

ze_result_t ZE_APICALL impl_zetMetricGroupGetProperties(zet_metric_group_handle_t hMetricGroup,
                                                        zet_metric_group_properties_t *pProperties)
{
    struct zeta_metric_group *group = (struct zeta_metric_group *)hMetricGroup;
    const size_t skip = offsetof(zet_metric_group_properties_t, name);

    if (!lock_group(group))
        return zeta_object_explain(group, ZETA_KIND_METRIC_GROUP, "zetMetricGroupGetProperties",
                                   "hMetricGroup");
    memcpy((char *)pProperties + skip, (const char *)group->properties + skip, group_bytes);
    pProperties->metricCount = zeta_metric_group_metric_count(group);
    if (pProperties->pNext)
        fill_chain(group, pProperties->pNext);
    unlock_group(group);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zetMetricGet(zet_metric_group_handle_t hMetricGroup, uint32_t *pCount,
                                         zet_metric_handle_t *phMetrics)
{
    struct zeta_metric_group *group = (struct zeta_metric_group *)hMetricGroup;
    struct zeta_metric_entry **entries = NULL;
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint32_t count;

    if (!lock_group(group))
        return zeta_object_explain(group, ZETA_KIND_METRIC_GROUP, "zetMetricGet", "hMetricGroup");
    count = zeta_count_clip(pCount, zeta_metric_group_metric_count(group), phMetrics);
    if (count > 0)
        result = zeta_metric_group_entries(group, &entries);
    for (uint32_t i = 0; entries && i < count; i++)
        phMetrics[i] = (zet_metric_handle_t)entries[i];
    unlock_group(group);
    return result;
}

ze_result_t ZE_APICALL impl_zetMetricGetProperties(zet_metric_handle_t hMetric,
                                                   zet_metric_properties_t *pProperties)
{
    struct zeta_metric_entry *entry = (struct zeta_metric_entry *)hMetric;
    const size_t skip = offsetof(zet_metric_properties_t, name);
    /* The handle may end before the process: of an application, its group, or a decoder. */
    const bool mortal = entry->user || entry->decoder || (entry->group && entry->group->user);

    if (mortal && !zeta_object_pin(entry, ZETA_KIND_METRIC))
        return zeta_object_explain(entry, ZETA_KIND_METRIC, "zetMetricGetProperties", "hMetric");
    memcpy((char *)pProperties + skip, (const char *)entry->properties + skip, metric_bytes);
    if (pProperties->pNext)
        fill_chain(NULL, pProperties->pNext);
    if (mortal)
        zeta_object_unpin(entry);
    return ZE_RESULT_SUCCESS;
}

/* Functions of zeta.h -------------------------------------------------------------------------- */

ze_result_t zetaMetricGroupGetInfo(zet_metric_group_handle_t group, struct zeta_group_info *info)
{
    const char *function = "zetaMetricGroupGetInfo";
    ZETA_CLEANUP(zeta_group_view_release) struct zeta_group_view view = {0};
    struct zeta_group_info found = {0};
    struct zeta_stream_periods periods = {0};
    const struct zeta_unit_notes *notes;
    const struct zeta_metric_group *viewed;
    const struct zeta_provider *provider;
    ze_result_t result;
    bool is_query;

    if (!zeta_object_is(group, ZETA_KIND_METRIC_GROUP))
        return zeta_object_explain(group, ZETA_KIND_METRIC_GROUP, function, "group");
    if (!info)
        return zeta_own_null_pointer(function, "info");
    result = zeta_group_view_acquire(group, function, "group", &view);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    viewed = view.group;
    provider = &viewed->device->backend->providers[ZETA_GROUP_METRIC_STREAM];
    if (!provider->backend)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "no plugin samples device %s",
                          viewed->device->backend->id);
    if (viewed->properties->samplingType == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED) {
        for (uint32_t i = 0; i < viewed->compiled_count; i++)
            zeta_stream_narrow_periods(
                &zeta_metrics_tile(viewed->device, i)->backend->providers[ZETA_GROUP_METRIC_STREAM],
                viewed->compiled[i], &periods);
    }
    notes = find_notes(viewed->metrics, viewed->set->unit->name);
    found.plugin = provider->backend->id;
    found.unit = viewed->set->unit->name;
    found.origin = viewed->origin;
    found.record_bytes = zeta_compiled_record_bytes(viewed->compiled[0]);
    found.min_period_ns = periods.min_ns;
    found.max_period_ns = periods.max_ns;
    /* Of a set that was never meant for queries nobody wonders where they are. */
    found.no_queries =
        notes && (viewed->set->sampling & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED) != 0
            ? notes->no_queries
            : "";
    is_query = viewed->properties->samplingType == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED;
    found.query_note = notes && is_query ? notes->query_note : "";
    found.stream_note = notes && !is_query ? notes->stream_note : "";
    found.own_process = notes && !is_query && notes->own_process;
    (void)provider->backend->metric.holder(provider->backend->self, provider->device,
                                           zeta_plugin_text(found.unit), &found.holder_pid);
    zeta_own_struct_copy(info, info->struct_size, &found, sizeof(found));
    return ZE_RESULT_SUCCESS;
}

ze_result_t zetaMetricGroupGetPasses(zet_metric_group_handle_t group,
                                     struct zeta_group_passes *passes)
{
    const char *function = "zetaMetricGroupGetPasses";
    ZETA_CLEANUP(zeta_group_view_release) struct zeta_group_view view = {0};
    struct zeta_unit_passes asked;
    struct zeta_group_passes found = {0};
    ze_result_t result;

    if (!zeta_object_is(group, ZETA_KIND_METRIC_GROUP))
        return zeta_object_explain(group, ZETA_KIND_METRIC_GROUP, function, "group");
    if (!passes)
        return zeta_own_null_pointer(function, "passes");
    result = zeta_group_view_acquire(group, function, "group", &view);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_metric_group_passes(view.group, &asked);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    found.count = asked.count;
    zeta_copy_text(found.reason, sizeof(found.reason), asked.reason);
    zeta_own_struct_copy(passes, passes->struct_size, &found, sizeof(found));
    return ZE_RESULT_SUCCESS;
}

ze_result_t zetaMetricGetInfo(zet_metric_handle_t metric, struct zeta_metric_info *info)
{
    const char *function = "zetaMetricGetInfo";
    struct zeta_metric_entry *entry = (struct zeta_metric_entry *)metric;
    struct zeta_group_view view = {0};
    struct zeta_metric_info found = {0};
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (!zeta_object_pin(entry, ZETA_KIND_METRIC))
        return zeta_object_explain(entry, ZETA_KIND_METRIC, function, "metric");
    if (!info)
        result = zeta_own_null_pointer(function, "info");
    else if (entry->group) /* whose set defines the metric */
        result = zeta_group_view_acquire(entry->group, function, "metric", &view);
    if (result == ZE_RESULT_SUCCESS) {
        found.metric_class = (uint32_t)entry->metric->metric_class;
        zeta_own_struct_copy(info, info->struct_size, &found, sizeof(found));
    }
    zeta_group_view_release(&view);
    zeta_object_unpin(entry);
    return result;
}
