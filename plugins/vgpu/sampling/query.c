#include "sampling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/query_record.h>

#include "plugins/vgpu/device/vgpu.h"
#include "plugins/vgpu/tile/tile.h"
#include "report.h"

enum query_state { QUERY_FRESH, QUERY_OPEN, QUERY_DONE };

struct query {
    enum query_state state;
    struct zeta_vgpu_usage *usage; /* on which it is open */
    bool counts_eus;
    struct zeta_vgpu_usage_mark begin;
};

/* Where a field of a record comes from: bits of a word of a report. */
struct place {
    uint8_t word;
    uint8_t shift;
    uint8_t width; /* 0: all bits that the device has */
    bool is_difference;
};

struct zeta_plugin_query_pool {
    struct zeta_vgpu *vgpu;
    uint32_t first_tile, tile_count;
    uint32_t count;
    uint32_t record_bytes;
    uint32_t field_count;
    struct place *places; /* of the fields */
    struct zeta_vgpu_program program;
    uint32_t unit;
    char set[80];
    LIST_ENTRY(zeta_plugin_query_pool) entry;

    pthread_mutex_t lock; /* guards queries and records; a leaf */
    struct query *queries;
    uint32_t open_count; /* of them that are open */
    uint8_t *records;    /* of query after query, one for each tile; begins while a query is open */
};

/* ---- Fields --------------------------------------------------------------------------------- */

static bool find_place(const struct zeta_plugin_query_field *field, struct place *out_place)
{
    const uint32_t word = field->low_bit / 32, shift = field->low_bit % 32;
    const bool is_whole = shift == 0 && field->low_width == 32;
    /* The part of A0..A31 above 32 bits is behind the 32-bit counters, that of the time at the end
     * of the word before. */
    const bool is_time = word == 1 && field->high_width == 2 && field->high_bit == 30;
    const bool is_counter = word >= ZETA_VGPU_REPORT_COUNTERS &&
                            word < ZETA_VGPU_REPORT_COUNTERS + 32 && field->high_width == 8 &&
                            field->high_bit == 8 * (160 + (word - ZETA_VGPU_REPORT_COUNTERS));

    if (word >= ZETA_VGPU_REPORT_WORDS || (word >= 40 && word < ZETA_VGPU_REPORT_SELECTED) ||
        field->low_width == 0 || field->low_width > 32 - shift || field->is_float ||
        (field->high_width != 0 && !is_time && !is_counter))
        return false;
    /* Of a running count the record has all bits, so the field must be all of it. */
    if (!is_whole && (field->delta_bits != 0 || field->high_width != 0))
        return false;
    *out_place = (struct place){.word = (uint8_t)word,
                                .shift = (uint8_t)shift,
                                .width = (uint8_t)(field->low_width + field->high_width),
                                .is_difference = field->delta_bits != 0};
    return true;
}

/* ---- Records -------------------------------------------------------------------------------- */

static uint8_t *record_of(const struct zeta_plugin_query_pool *pool, uint32_t index, uint32_t tile)
{
    return pool->records + ((size_t)index * pool->tile_count + tile) * pool->record_bytes;
}

/*
 * Writes the numbers of each tile at a mark. A query is like two reports, number 1 at its begin and
 * number 2 at its end; a tile on which the queue does not work has counted nothing.
 */
static void write_records_locked(struct zeta_plugin_query_pool *pool, uint32_t index,
                                 const struct zeta_vgpu_usage *usage,
                                 const struct zeta_vgpu_usage_mark *mark, uint32_t context,
                                 bool at_end)
{
    static const uint64_t nothing[ZETA_VGPU_TILE_ROWS][ZETA_VGPU_COUNTER_COUNT];
    const struct zeta_vgpu_usage_mark *begin = &pool->queries[index].begin;
    /* A command of another queue ran on the tile between the marks. */
    const bool is_split = begin->others || mark->tile_commands - begin->tile_commands !=
                                               mark->commands - begin->commands;

    for (uint32_t tile = 0; tile < pool->tile_count; tile++) {
        const bool is_own = pool->first_tile + tile == usage->tile->index;
        uint8_t *record = record_of(pool, index, tile);
        uint64_t *fields = (uint64_t *)(void *)(record + sizeof(struct zeta_query_record));
        uint64_t values[ZETA_VGPU_REPORT_WORDS], eus[ZETA_VGPU_SELECTIONS] = {0};
        struct zeta_vgpu_sample sample = {.report_id = pool->unit,
                                          .ticks = mark->ticks,
                                          .context = context,
                                          .number = at_end ? 2 : 1,
                                          .totals = nothing,
                                          .tiles = 1,
                                          .rows_per_tile = usage->rows,
                                          .eus = eus};

        if (is_own) {
            sample.totals = (const uint64_t(*)[ZETA_VGPU_COUNTER_COUNT])usage->totals;
            sample.core_clocks = zeta_vgpu_usage_core_clocks(usage);
            for (uint32_t i = 0; pool->program.eus && i < ZETA_VGPU_SELECTIONS; i++) {
                const struct zeta_vgpu_selection *selection = &pool->program.selections[i];

                if (selection->kind == ZETA_VGPU_SELECT_EU)
                    eus[i] = usage->eu_totals[selection->eu][selection->counter];
            }
        }
        zeta_vgpu_report_values(&sample, &pool->program, values);
        for (uint32_t i = 0; i < pool->field_count; i++) {
            const struct place *place = &pool->places[i];
            const uint64_t value = values[place->word];

            if (!place->is_difference)
                fields[i] = value >> place->shift & ((UINT64_C(1) << place->width) - 1);
            else
                fields[i] = at_end ? value - fields[i] : value;
        }
        if (at_end)
            *(struct zeta_query_record *)(void *)record = (struct zeta_query_record){
                .size_bytes = pool->record_bytes,
                .tile = tile,
                .flags = is_own && is_split ? ZETA_QUERY_SPLIT : 0,
                .context = context,
                .begin_ticks = begin->ticks,
                .end_ticks = mark->ticks,
                .time_ns = (mark->ticks - begin->ticks) * ZETA_VGPU_TICK_NS,
            };
    }
}

/* ---- Begin and end -------------------------------------------------------------------------- */

/* The query counts no more. */
static void close_locked(struct zeta_plugin_query_pool *pool, struct query *query,
                         enum query_state state)
{
    if (query->usage) {
        pool->open_count--;
        if (query->counts_eus)
            (void)zeta_vgpu_usage_count_eus(query->usage, false);
        query->counts_eus = false;
        atomic_fetch_sub(&query->usage->open, 1);
        zeta_vgpu_usage_unref(query->usage);
    }
    query->usage = NULL;
    query->state = state;
}

static uint32_t check_index(const struct zeta_plugin_query_pool *pool, uint32_t index)
{
    if (index < pool->count)
        return ZETA_PLUGIN_SUCCESS;
    return zeta_host_fail(&pool->vgpu->self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                          "a pool of set %s on %s has %u queries, so there is no query %u",
                          pool->set, pool->vgpu->description.id, pool->count, index);
}

uint32_t zeta_vgpu_query_begin(const struct zeta_plugin_query_point *point,
                               struct zeta_vgpu_usage *usage)
{
    struct zeta_plugin_query_pool *pool = point->pool;
    const uint32_t result = check_index(pool, point->index);
    struct query *query;

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    query = &pool->queries[point->index];
    pthread_mutex_lock(&pool->lock);
    close_locked(pool, query, QUERY_FRESH);
    if (pool->program.eus && !zeta_vgpu_usage_count_eus(usage, true)) {
        pthread_mutex_unlock(&pool->lock);
        return zeta_host_fail(&pool->vgpu->self->host, ZETA_PLUGIN_OUT_OF_HOST_MEMORY,
                              "%s: no memory for counters of EUs", pool->vgpu->description.id);
    }
    query->counts_eus = pool->program.eus;
    query->state = QUERY_OPEN;
    atomic_fetch_add(&usage->references, 1);
    query->usage = usage;
    pool->open_count++;
    atomic_fetch_add(&usage->open, 1);
    zeta_vgpu_usage_mark(usage, &query->begin);
    write_records_locked(pool, point->index, usage, &query->begin, 0, false);
    pthread_mutex_unlock(&pool->lock);
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t zeta_vgpu_query_end(const struct zeta_plugin_query_point *point,
                             struct zeta_vgpu_usage *usage, uint32_t context)
{
    struct zeta_plugin_query_pool *pool = point->pool;
    uint32_t result = check_index(pool, point->index);
    struct zeta_vgpu_usage_mark end;
    struct query *query;
    uint64_t soonest;
    bool is_open;

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    query = &pool->queries[point->index];
    pthread_mutex_lock(&pool->lock);
    is_open = query->state == QUERY_OPEN && query->usage == usage;
    if (is_open) {
        zeta_vgpu_usage_mark(usage, &end);
        soonest =
            query->begin.ticks + zeta_vgpu_ticks_for(&pool->vgpu->description,
                                                     end.core_clocks - query->begin.core_clocks);
        if (end.ticks < soonest)
            end.ticks = soonest;
        /* A query of no length would be one whose rates divide by nothing. */
        if (end.ticks <= query->begin.ticks)
            end.ticks = query->begin.ticks + 1;
        write_records_locked(pool, point->index, usage, &end, context, true);
        close_locked(pool, query, QUERY_DONE);
    }
    pthread_mutex_unlock(&pool->lock);
    if (is_open)
        return ZETA_PLUGIN_SUCCESS;
    return zeta_host_fail(&pool->vgpu->self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                          "query %u of set %s on %s ends on a queue on which it was not begun; "
                          "execute begin and end on the same queue",
                          point->index, pool->set, pool->vgpu->description.id);
}

/* ---- Pools ---------------------------------------------------------------------------------- */

static void destroy_pool(struct zeta_plugin_query_pool *pool)
{
    /* Memory of queries that never began stays untouched. */
    for (uint32_t i = 0; pool->queries && pool->open_count > 0 && i < pool->count; i++)
        close_locked(pool, &pool->queries[i], QUERY_FRESH);
    pthread_mutex_destroy(&pool->lock);
    free(pool->records);
    free(pool->queries);
    free(pool->places);
    free(pool);
}

static struct zeta_plugin_query_pool *create_pool(const struct zeta_plugin_device *device,
                                                  const struct zeta_plugin_query_desc *desc)
{
    struct zeta_plugin_query_pool *pool = calloc(1, sizeof(*pool));

    if (!pool)
        return NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pool->vgpu = device->vgpu;
    pool->first_tile = device->first_tile;
    pool->tile_count = device->tile_count;
    pool->count = desc->count;
    pool->record_bytes = desc->record_bytes;
    pool->field_count = (uint32_t)desc->fields.count;
    snprintf(pool->set, sizeof(pool->set), "%.*s", desc->set.size < 80 ? (int)desc->set.size : 79,
             desc->set.data ? desc->set.data : "");
    pool->places = calloc(pool->field_count ? pool->field_count : 1, sizeof(*pool->places));
    pool->queries = calloc(pool->count, sizeof(*pool->queries));
    pool->records = calloc((size_t)pool->count * pool->tile_count, pool->record_bytes);
    if (pool->places && pool->queries && pool->records)
        return pool;
    destroy_pool(pool);
    return NULL;
}

uint32_t zeta_vgpu_query_pool_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                     const struct zeta_plugin_query_desc *desc,
                                     struct zeta_plugin_query_pool **out_pool)
{
    const uint64_t bytes = sizeof(struct zeta_query_record) + 8 * desc->fields.count;
    const char *at = desc->fields.data;
    struct zeta_plugin_query_pool *pool;
    struct zeta_vgpu_message message;
    uint32_t unit = 0;
    uint32_t result = zeta_vgpu_oa_find_unit(self, desc->unit, &unit);

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    if (unit != ZETA_VGPU_UNIT_OA && unit != ZETA_VGPU_UNIT_DISPATCH)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "unit %.*s of %s samples and does not count, so it has no queries",
                              zeta_string_shown(desc->unit), desc->unit.data, device->id);
    if (desc->count == 0)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "a pool of queries on %s needs room for one at least", device->id);
    if (desc->report_bytes != ZETA_VGPU_REPORT_BYTES || desc->record_bytes != bytes)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "reports of %s have %u bytes and records of %llu fields %llu, and "
                              "the set says %u and %u",
                              device->id, ZETA_VGPU_REPORT_BYTES,
                              (unsigned long long)desc->fields.count, (unsigned long long)bytes,
                              desc->report_bytes, desc->record_bytes);
    pool = create_pool(device, desc);
    if (!pool)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_OUT_OF_HOST_MEMORY,
                              "%s: no memory for %u queries of %u bytes on each of %u tiles",
                              device->id, desc->count, desc->record_bytes, device->tile_count);
    pool->unit = unit;
    /* The program counts on each tile alone, as that of a stream of the tile does. */
    if (!zeta_vgpu_program_parse(&desc->program, &self->vgpu->description.topology, 1,
                                 &pool->program, &message))
        result = zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT, "set %s on %s: %s",
                                pool->set, device->id, message.text);
    else if (pool->program.events)
        result = zeta_host_fail(
            &self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
            "set %s on %s: events are counted for the whole device, not for the work of a queue",
            pool->set, device->id);
    for (uint32_t i = 0; result == ZETA_PLUGIN_SUCCESS && i < pool->field_count;
         i++, at += desc->fields.stride) {
        const struct zeta_plugin_query_field *field = (const void *)at;

        if (!find_place(field, &pool->places[i]))
            result = zeta_host_fail(
                &self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                "set %s on %s: reports of its unit have no number for field %.*s (index %u) at bit "
                "%u; see the layout of the virtual GPU for what there is",
                pool->set, device->id, zeta_string_shown(field->name), field->name.data,
                field->index, field->low_bit);
    }
    if (result != ZETA_PLUGIN_SUCCESS) {
        destroy_pool(pool);
        return result;
    }
    pthread_mutex_lock(&pool->vgpu->objects_lock);
    LIST_INSERT_HEAD(&pool->vgpu->open_pools, pool, entry);
    pthread_mutex_unlock(&pool->vgpu->objects_lock);
    *out_pool = pool;
    return ZETA_PLUGIN_SUCCESS;
}

void zeta_vgpu_query_pool_destroy(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool)
{
    (void)self;
    if (!pool)
        return;
    pthread_mutex_lock(&pool->vgpu->objects_lock);
    LIST_REMOVE(pool, entry);
    pthread_mutex_unlock(&pool->vgpu->objects_lock);
    destroy_pool(pool);
}

void zeta_vgpu_queries_abandon(struct zeta_vgpu *vgpu)
{
    while (!LIST_EMPTY(&vgpu->open_pools))
        zeta_vgpu_query_pool_destroy(vgpu->self, LIST_FIRST(&vgpu->open_pools));
}

uint32_t zeta_vgpu_query_reset(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool,
                               uint32_t index)
{
    const uint32_t result = check_index(pool, index);

    (void)self;
    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    pthread_mutex_lock(&pool->lock);
    close_locked(pool, &pool->queries[index], QUERY_FRESH);
    pthread_mutex_unlock(&pool->lock);
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t zeta_vgpu_query_collect(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool,
                                 uint32_t index, void *records)
{
    uint32_t result = check_index(pool, index);
    const struct query *query;

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    query = &pool->queries[index];
    pthread_mutex_lock(&pool->lock);
    if (query->state == QUERY_DONE)
        memcpy(records, record_of(pool, index, 0), (size_t)pool->tile_count * pool->record_bytes);
    else if (query->state == QUERY_OPEN && atomic_load(&query->usage->ended))
        result = ZETA_PLUGIN_DEVICE_LOST;
    else
        result = ZETA_PLUGIN_NOT_READY;
    pthread_mutex_unlock(&pool->lock);
    if (result != ZETA_PLUGIN_DEVICE_LOST)
        return result;
    return zeta_host_fail(&self->host, result,
                          "query %u of set %s on %s has no end: its queue was lost or destroyed "
                          "after its begin; reset the query to use it again",
                          index, pool->set, pool->vgpu->description.id);
}
