#include "plugins/intel/query/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/plugin_host.h>
#include <zeta/query_record.h>

#include "plugins/intel/gpu/intel.h"
#include "plugins/intel/query/sampler.h"

#define WAIT_STEP_NS UINT64_C(20000000) /* between checks whether the queue is to end */

/* For the report of an end where the clock stopped; it may come later all the same. */
#define WAIT_STILL_NS UINT64_C(500000000)

/* What a query is on one tile. */
struct part {
    struct zeta_intel_mark begin, end;
};

enum query_state { QUERY_FRESH, QUERY_BEGUN, QUERY_ENDED };

struct query {
    enum query_state state;
    struct part *parts; /**< one per tile, with the values behind them; made at the first begin */
};

struct zeta_plugin_query_pool {
    struct zeta_intel *intel;
    char set[64]; /**< for messages */
    char device[ZETA_INTEL_ID_BYTES];
    uint32_t tile_count; /**< at least 1 */
    struct zeta_intel_sampler *samplers[ZETA_INTEL_TILES];
    uint32_t field_count;
    uint32_t record_bytes;
    uint32_t count;
    uint64_t timer_hz;     /**< of the device's timer, which the times of records use */
    pthread_mutex_t lock;  /**< of the queries; taken before those of samplers */
    struct query *queries; /**< calloc'ed: pages of queries that are never begun stay untouched */
};

/* ---- what units can do -------------------------------------------------------------------- */

void zeta_intel_query_limits(const struct zeta_plugin_device *device,
                             const struct zeta_intel_unit *unit,
                             struct zeta_plugin_limits *out_limits)
{
    if (unit->kind == ZETA_INTEL_EU_STALL)
        out_limits->no_queries =
            zeta_string("Samples of EUs show where kernels wait; they do not add up "
                        "to counts of a query.");
    else if (!zeta_intel_sampler_is_possible(device, unit))
        out_limits->no_queries = zeta_string(
            "Counters of 32 bits could wrap unnoticed between two reports: the kernel does "
            "not allow reports often enough for the number of EUs and their clock. Raise "
            "dev.i915.oa_max_sample_rate.");
    else
        out_limits->query_note = zeta_string(
            "Counts what the whole GPU does between begin and end, whoever's work it is, right "
            "to the setting query_period_ns; counting the work of one context alone (OAR, OAC) "
            "needs a provider of compute. Its pools have the unit for themselves.");
}

/* ---- pools -------------------------------------------------------------------------------- */

/* The device of each tile that the pool counts on. */
static struct zeta_plugin_device *tile_device(struct zeta_plugin_device *device, uint32_t tile)
{
    struct zeta_intel *intel = device->gpu->intel;

    for (uint32_t i = 0; i < intel->device_count && !device->is_tile; i++) {
        struct zeta_plugin_device *other = &intel->devices[i];

        if (other->gpu == device->gpu && other->is_tile && other->tile == tile)
            return other;
    }
    return device;
}

/* Takes the marks of a query back. */
static void forget_locked(struct zeta_plugin_query_pool *pool, struct query *query)
{
    for (uint32_t t = 0; t < pool->tile_count && query->parts; t++) {
        zeta_intel_sampler_unmark(pool->samplers[t], &query->parts[t].begin);
        zeta_intel_sampler_unmark(pool->samplers[t], &query->parts[t].end);
    }
    query->state = QUERY_FRESH;
}

void zeta_intel_query_pool_destroy(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool)
{
    (void)self;
    for (uint32_t i = 0; i < pool->count && pool->queries; i++) {
        forget_locked(pool, &pool->queries[i]);
        free(pool->queries[i].parts);
    }
    for (uint32_t t = 0; t < pool->tile_count; t++) {
        if (pool->samplers[t])
            zeta_intel_sampler_put(pool->samplers[t]);
    }
    (void)pthread_mutex_destroy(&pool->lock);
    free(pool->queries);
    free(pool);
}

uint32_t zeta_intel_query_pool_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                      const struct zeta_plugin_query_desc *desc,
                                      struct zeta_plugin_query_pool **out_pool)
{
    struct zeta_plugin_query_pool *pool = calloc(1, sizeof(*pool));
    uint32_t result = ZETA_PLUGIN_OUT_OF_HOST_MEMORY;

    if (!pool)
        return result;
    pool->intel = self->intel;
    pool->tile_count = device->is_tile ? 1 : device->gpu->tile_count;
    pool->field_count = (uint32_t)desc->fields.count;
    pool->record_bytes = desc->record_bytes;
    pool->timer_hz = zeta_intel_timer_hz(device);
    (void)snprintf(pool->set, sizeof(pool->set), "%.*s", zeta_string_shown(desc->set),
                   desc->set.data);
    (void)snprintf(pool->device, sizeof(pool->device), "%s", device->id);
    (void)pthread_mutex_init(&pool->lock, NULL);
    if (desc->record_bytes != zeta_query_record_bytes(pool->field_count))
        result = ZETA_PLUGIN_INVALID_ARGUMENT;
    else
        pool->queries = calloc(desc->count, sizeof(*pool->queries));
    if (pool->queries)
        result = ZETA_PLUGIN_SUCCESS;
    for (uint32_t t = 0; t < pool->tile_count && result == ZETA_PLUGIN_SUCCESS; t++)
        result = zeta_intel_sampler_get(tile_device(device, t), desc, &pool->samplers[t]);
    if (result == ZETA_PLUGIN_SUCCESS) {
        pool->count = desc->count;
        *out_pool = pool;
    } else {
        zeta_intel_query_pool_destroy(self, pool);
    }
    return result;
}

/* ---- begin and end ------------------------------------------------------------------------ */

uint32_t zeta_intel_query_reset(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool,
                                uint32_t index)
{
    (void)self;
    (void)pthread_mutex_lock(&pool->lock);
    forget_locked(pool, &pool->queries[index]);
    (void)pthread_mutex_unlock(&pool->lock);
    return ZETA_PLUGIN_SUCCESS;
}

/* Room for the values of both marks of each tile behind the parts. */
static bool make_parts(const struct zeta_plugin_query_pool *pool, struct query *query)
{
    const size_t parts_bytes = pool->tile_count * sizeof(*query->parts);
    const size_t values_bytes = (size_t)pool->tile_count * 2 * pool->field_count * 8;
    uint64_t *values;

    if (query->parts)
        return true;
    if (parts_bytes == 0)
        return false; /* never: for the analyser */
    query->parts = calloc(1, parts_bytes + values_bytes);
    if (!query->parts)
        return false;
    values = (uint64_t *)(void *)(query->parts + pool->tile_count);
    for (uint32_t t = 0; t < pool->tile_count; t++) {
        query->parts[t].begin.values = values + (size_t)t * 2 * pool->field_count;
        query->parts[t].end.values = query->parts[t].begin.values + pool->field_count;
        query->parts[t].end.is_end = true;
    }
    return true;
}

static struct zeta_intel_mark *mark_of(struct query *query, uint32_t tile, bool is_end)
{
    return is_end ? &query->parts[tile].end : &query->parts[tile].begin;
}

/* Leaves the marks of all tiles or, when a clock cannot be read, of none. */
static uint32_t mark_tiles_locked(struct zeta_plugin_query_pool *pool, struct query *query,
                                  bool is_end)
{
    for (uint32_t t = 0; t < pool->tile_count; t++) {
        const uint32_t result =
            zeta_intel_sampler_mark(pool->samplers[t], mark_of(query, t, is_end));

        if (result != ZETA_PLUGIN_SUCCESS) {
            while (t-- > 0)
                zeta_intel_sampler_unmark(pool->samplers[t], mark_of(query, t, is_end));
            return result;
        }
    }
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t mark(struct zeta_plugin_query_pool *pool, uint32_t index, bool is_end)
{
    uint32_t result = ZETA_PLUGIN_SUCCESS;
    struct query *query;

    if (index >= pool->count)
        return zeta_host_fail(pool->intel->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "%s: a pool of %s has %u queries, and no query %u", pool->device,
                              pool->set, pool->count, index);
    query = &pool->queries[index];
    (void)pthread_mutex_lock(&pool->lock);
    if (!is_end)
        forget_locked(pool, query);
    if (is_end && query->state != QUERY_BEGUN)
        result = zeta_host_fail(pool->intel->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                                "%s: query %u of a pool of %s ends and was not begun", pool->device,
                                index, pool->set);
    else if (!is_end && !make_parts(pool, query))
        result = ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    else
        result = mark_tiles_locked(pool, query, is_end);
    if (result == ZETA_PLUGIN_SUCCESS)
        query->state = is_end ? QUERY_ENDED : QUERY_BEGUN;
    (void)pthread_mutex_unlock(&pool->lock);
    return result;
}

uint32_t zeta_intel_query_begin(struct zeta_plugin_query_pool *pool, uint32_t index)
{
    return mark(pool, index, false);
}

uint32_t zeta_intel_query_end(struct zeta_plugin_query_pool *pool, uint32_t index)
{
    return mark(pool, index, true);
}

void zeta_intel_query_wait(struct zeta_plugin_query_pool *pool, uint32_t index,
                           const atomic_bool *is_interrupted)
{
    const struct part *parts = pool->queries[index].parts;

    for (uint32_t t = 0; t < pool->tile_count; t++) {
        struct zeta_intel_sampler *sampler = pool->samplers[t];
        const struct zeta_intel_mark *end = &parts[t].end;
        uint64_t waited_ns = 0;

        while (!atomic_load(is_interrupted) &&
               !zeta_intel_sampler_wait(sampler, end, WAIT_STEP_NS)) {
            waited_ns += WAIT_STEP_NS;
            if (waited_ns >= WAIT_STILL_NS && zeta_intel_sampler_stands_still(sampler, end))
                break;
        }
    }
}

/* ---- results ------------------------------------------------------------------------------ */

static uint32_t collect_tile_locked(struct zeta_plugin_query_pool *pool, const struct query *query,
                                    uint32_t tile, uint8_t *target)
{
    struct part *part = &query->parts[tile];
    struct zeta_intel_sampler *sampler = pool->samplers[tile];
    const struct zeta_intel_mark *end = &part->end, *begin = &part->begin;
    const uint64_t hz = sampler->unit->timestamp_hz;
    enum zeta_intel_mark_state begin_state;
    const enum zeta_intel_mark_state end_state =
        zeta_intel_sampler_collect(sampler, &part->begin, end, &begin_state);
    uint64_t begin_ticks;

    if (end_state == ZETA_INTEL_MARK_LOST || begin_state == ZETA_INTEL_MARK_LOST)
        return zeta_host_fail(pool->intel->host, ZETA_PLUGIN_DEVICE_LOST,
                              "%s: the kernel ended the stream from which queries of %s count, so "
                              "this one has no result; the device was removed or reset",
                              pool->device, pool->set);
    if (end_state != ZETA_INTEL_MARK_SETTLED)
        return ZETA_PLUGIN_NOT_READY;
    /* A begin whose report came after the end was settled is of the time when it was left. */
    begin_ticks = begin->ticks <= end->ticks ? begin->ticks : begin->left_ticks;
    if (begin_ticks > end->ticks)
        begin_ticks = end->ticks;
    /* One that is pending when the end is settled got no report since: nothing was counted. */
    if (begin_state != ZETA_INTEL_MARK_SETTLED)
        begin = end;
    const struct zeta_query_record head = {
        .size_bytes = pool->record_bytes,
        .tile = tile,
        .flags = (end->breaks != begin->breaks ? ZETA_QUERY_SPLIT | ZETA_QUERY_OVERFLOW : 0u) |
                 (end->switches != begin->switches ? ZETA_QUERY_FREQUENCY : 0u),
        .begin_ticks = zeta_intel_scale(begin_ticks, pool->timer_hz, hz),
        .end_ticks = zeta_intel_scale(end->ticks, pool->timer_hz, hz),
        .time_ns = zeta_intel_scale(end->ticks - begin_ticks, 1000000000u, hz),
    };
    memcpy(target, &head, sizeof(head));
    for (uint32_t i = 0; i < pool->field_count; i++) {
        const uint64_t value = zeta_intel_field_difference(&sampler->totals.fields[i],
                                                           begin->values[i], end->values[i]);

        memcpy(target + sizeof(head) + (size_t)i * 8, &value, sizeof(value));
    }
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t zeta_intel_query_collect(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool,
                                  uint32_t index, void *records)
{
    const struct query *query = &pool->queries[index];
    uint32_t result = ZETA_PLUGIN_SUCCESS;

    (void)self;
    (void)pthread_mutex_lock(&pool->lock);
    if (query->state != QUERY_ENDED)
        result = ZETA_PLUGIN_NOT_READY;
    for (uint32_t t = 0; t < pool->tile_count && result == ZETA_PLUGIN_SUCCESS; t++)
        result = collect_tile_locked(pool, query, t,
                                     (uint8_t *)records + (size_t)t * pool->record_bytes);
    (void)pthread_mutex_unlock(&pool->lock);
    return result;
}
