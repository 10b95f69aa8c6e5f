#include "tests/harness/device/metrics.h"
#include "tests/harness/device/scripted.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/query_record.h>

#define UNIT_COUNT 3u
#define RING_RECORDS 256u

/* A report as it stands in memory, little-endian: layout "fake" of metrics/fake.yaml. */
struct report {
    uint32_t id;
    uint32_t ticks;
    uint32_t context;
    uint32_t marker;
    uint32_t a[4];
    uint32_t mark; /* never 0, so that no report looks like padding */
    uint32_t zero[7];
};

struct zeta_plugin_stream {
    struct zeta_plugin_stream *next;
    uint32_t device;
    uint32_t unit;
    uint64_t token;
    struct report ring[RING_RECORDS];
    uint32_t first, count, written;
};

enum query_state { QUERY_FRESH, QUERY_OPEN, QUERY_DONE };

struct query {
    enum query_state state;
    const struct fake_work *queue; /* on which it is open; only compared and read there */
    struct fake_work begin;
    uint64_t begin_ticks;
};

enum field { FIELD_ZERO, FIELD_TICKS, FIELD_CONTEXT, FIELD_COUNTER };

struct zeta_plugin_query_pool {
    uint32_t device;
    uint32_t tiles;
    uint32_t count;
    uint32_t record_bytes;
    uint32_t field_count;
    struct {
        enum field kind;
        uint32_t index;
    } * fields;
    struct query *queries;
    uint8_t *records;
};

static const char *const unit_names[UNIT_COUNT] = {"counters", "plain", "narrow"};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct zeta_plugin_stream *streams;
static uint64_t last_token;
static atomic_uint live_pools;
static atomic_uint pool_result;
static atomic_uint query_result;

static uint32_t find_unit(struct zeta_plugin_string name)
{
    uint32_t unit = 0;

    while (unit < UNIT_COUNT && !scripted_is(name, unit_names[unit]))
        unit++;
    return unit;
}

/* ---------------------------------------------------------------- streams */

static void add_locked(struct zeta_plugin_stream *stream, uint32_t context, uint32_t marker,
                       uint64_t ticks)
{
    struct report *report = &stream->ring[(stream->first + stream->count) % RING_RECORDS];

    if (stream->count == RING_RECORDS)
        abort(); /* a mistake of the test */
    *report = (struct report){.id = ++stream->written,
                              .ticks = (uint32_t)ticks,
                              .context = context,
                              .marker = marker,
                              .a = {stream->written},
                              .mark = 1};
    stream->count++;
}

static uint32_t limits(struct zeta_plugin *self, struct zeta_plugin_device *device,
                       struct zeta_plugin_string unit, struct zeta_plugin_limits *out_limits)
{
    (void)self, (void)device, (void)unit;
    out_limits->min_period_ns = 1000;
    out_limits->max_period_ns = 1000000000;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t stream_open(struct zeta_plugin *self, struct zeta_plugin_device *device,
                            struct zeta_plugin_stream_desc *desc,
                            struct zeta_plugin_stream **out_stream)
{
    struct zeta_plugin_stream *stream = calloc(1, sizeof(*stream));
    const uint32_t unit = find_unit(desc->unit);

    (void)self;
    if (!stream || unit == UNIT_COUNT) {
        free(stream);
        return ZETA_PLUGIN_INVALID_ARGUMENT;
    }
    stream->device = device->index;
    stream->unit = unit;
    desc->ring_records = RING_RECORDS;
    pthread_mutex_lock(&lock);
    stream->token = ++last_token;
    stream->next = streams;
    streams = stream;
    add_locked(stream, 0, 0, 1);
    pthread_mutex_unlock(&lock);
    desc->token = strcmp(unit_names[unit], "plain") == 0 ? 0 : stream->token;
    *out_stream = stream;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t stream_read(struct zeta_plugin *self, struct zeta_plugin_stream *stream,
                            void *buffer, uint64_t capacity, struct zeta_plugin_read *out)
{
    uint8_t *target = buffer;

    (void)self;
    pthread_mutex_lock(&lock);
    while (stream->count > 0 && capacity - out->bytes >= sizeof(struct report)) {
        memcpy(target + out->bytes, &stream->ring[stream->first], sizeof(struct report));
        stream->first = (stream->first + 1) % RING_RECORDS;
        stream->count--;
        out->bytes += sizeof(struct report);
    }
    pthread_mutex_unlock(&lock);
    return ZETA_PLUGIN_SUCCESS;
}

static void stream_close(struct zeta_plugin *self, struct zeta_plugin_stream *stream)
{
    struct zeta_plugin_stream **at = &streams;

    (void)self;
    pthread_mutex_lock(&lock);
    while (*at != stream)
        at = &(*at)->next;
    *at = stream->next;
    pthread_mutex_unlock(&lock);
    free(stream);
}

static void set_marker(const struct fake_work *work, const struct zeta_plugin_marker *marker,
                       uint64_t ticks)
{
    const uint32_t unit = find_unit(marker->unit);

    pthread_mutex_lock(&lock);
    for (struct zeta_plugin_stream *stream = streams; stream; stream = stream->next) {
        if (stream->device == marker->device->index && stream->unit == unit &&
            (marker->stream_token == 0 || marker->stream_token == stream->token))
            add_locked(stream, work->context, (uint32_t)marker->value, ticks);
    }
    pthread_mutex_unlock(&lock);
}

/* ---------------------------------------------------------------- queries */

static bool read_field(struct zeta_plugin_query_pool *pool, uint32_t i,
                       const struct zeta_plugin_query_field *field)
{
    pool->fields[i].index = field->index;
    pool->fields[i].kind = scripted_is(field->name, "ticks")     ? FIELD_TICKS
                           : scripted_is(field->name, "context") ? FIELD_CONTEXT
                           : scripted_is(field->name, "A")       ? FIELD_COUNTER
                                                                 : FIELD_ZERO;
    if (pool->fields[i].kind == FIELD_COUNTER)
        return field->index < 4 && field->low_bit == (16 + 4 * field->index) * 8 &&
               (field->delta_bits == 32 || field->delta_bits == 0);
    return !field->is_float;
}

static void free_pool(struct zeta_plugin_query_pool *pool)
{
    free(pool->fields);
    free(pool->queries);
    free(pool->records);
    free(pool);
}

static uint32_t query_pool_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                  const struct zeta_plugin_query_desc *desc,
                                  struct zeta_plugin_query_pool **out_pool)
{
    struct zeta_plugin_query_pool *pool;
    bool good = desc->report_bytes == sizeof(struct report) &&
                desc->record_bytes == zeta_query_record_bytes((uint32_t)desc->fields.count);

    (void)self;
    if (atomic_load(&pool_result) != 0)
        return atomic_load(&pool_result);
    pool = calloc(1, sizeof(*pool));
    pool->device = device->index;
    pool->tiles = device->index == 0 ? FAKE_DEVICE_COUNT - 1 : 1;
    pool->count = desc->count;
    pool->record_bytes = desc->record_bytes;
    pool->field_count = (uint32_t)desc->fields.count;
    pool->fields = calloc(pool->field_count, sizeof(*pool->fields));
    pool->queries = calloc(pool->count, sizeof(*pool->queries));
    pool->records = calloc((size_t)pool->count * pool->tiles, pool->record_bytes);
    for (uint32_t i = 0; i < pool->field_count; i++)
        good &= read_field(
            pool, i, (const void *)((const char *)desc->fields.data + i * desc->fields.stride));
    if (!good) {
        free_pool(pool);
        return ZETA_PLUGIN_INVALID_ARGUMENT;
    }
    atomic_fetch_add(&live_pools, 1);
    *out_pool = pool;
    return ZETA_PLUGIN_SUCCESS;
}

static void query_pool_destroy(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool)
{
    (void)self;
    free_pool(pool);
    atomic_fetch_sub(&live_pools, 1);
}

static uint32_t query_reset(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool,
                            uint32_t index)
{
    uint32_t result = atomic_load(&query_result);

    (void)self;
    if (result != 0)
        return result;
    pthread_mutex_lock(&lock);
    pool->queries[index] = (struct query){0};
    pthread_mutex_unlock(&lock);
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t query_collect(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool,
                              uint32_t index, void *records)
{
    const size_t bytes = (size_t)pool->tiles * pool->record_bytes;
    uint32_t result = atomic_load(&query_result);

    (void)self;
    if (result != 0)
        return result;
    pthread_mutex_lock(&lock);
    if (pool->queries[index].state == QUERY_DONE)
        memcpy(records, pool->records + index * bytes, bytes);
    else
        result = ZETA_PLUGIN_NOT_READY;
    pthread_mutex_unlock(&lock);
    return result;
}

static uint64_t counted(const struct fake_work *begin, const struct fake_work *end, uint32_t index)
{
    switch (index) {
    case 0:
        return end->launches - begin->launches;
    case 1:
        return end->added - begin->added;
    case 2:
        return end->copies - begin->copies;
    default:
        return end->bytes - begin->bytes;
    }
}

static uint64_t field_value(const struct zeta_plugin_query_pool *pool, const struct query *query,
                            uint32_t i, const struct fake_work *end, uint64_t ticks)
{
    switch (pool->fields[i].kind) {
    case FIELD_TICKS:
        return ticks - query->begin_ticks;
    case FIELD_CONTEXT:
        return end->context;
    case FIELD_COUNTER:
        return counted(&query->begin, end, pool->fields[i].index);
    default:
        return 0;
    }
}

static void write_record(const struct zeta_plugin_query_pool *pool, const struct query *query,
                         uint32_t tile, const struct fake_work *end, uint64_t ticks,
                         uint8_t *record)
{
    const uint32_t worked = end->device == 0 ? 0 : end->device - 1;
    const bool own = pool->tiles == 1 || tile == worked;
    const struct fake_work *counts = own ? end : &query->begin;
    const struct zeta_query_record head = {
        .size_bytes = pool->record_bytes,
        .tile = pool->tiles == 1 ? worked : tile,
        .context = end->context,
        .begin_ticks = query->begin_ticks,
        .end_ticks = ticks,
        .time_ns = (ticks - query->begin_ticks) * 40,
    };

    memcpy(record, &head, sizeof(head));
    for (uint32_t i = 0; i < pool->field_count; i++) {
        uint64_t value = field_value(pool, query, i, counts, ticks);

        memcpy(record + zeta_query_record_bytes(i), &value, sizeof(value));
    }
}

static void begin_locked(struct query *query, const struct fake_work *work, uint64_t ticks)
{
    *query =
        (struct query){.state = QUERY_OPEN, .queue = work, .begin = *work, .begin_ticks = ticks};
}

static uint32_t end_locked(struct zeta_plugin_query_pool *pool, uint32_t index,
                           const struct fake_work *work, uint64_t ticks)
{
    struct query *query = &pool->queries[index];
    uint8_t *records = pool->records + (size_t)index * pool->tiles * pool->record_bytes;

    if (query->state != QUERY_OPEN || query->queue != work)
        return ZETA_PLUGIN_INVALID_ARGUMENT;
    if (ticks <= query->begin_ticks)
        ticks = query->begin_ticks + 1;
    for (uint32_t tile = 0; tile < pool->tiles; tile++)
        write_record(pool, query, tile, work, ticks, records + (size_t)tile * pool->record_bytes);
    query->state = QUERY_DONE;
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t fake_metrics_execute(const struct fake_work *work,
                              const struct zeta_plugin_command *command, uint64_t ticks)
{
    const struct zeta_plugin_query_point *point = &command->u.query;
    uint32_t result = ZETA_PLUGIN_SUCCESS;

    switch (command->type) {
    case ZETA_PLUGIN_COMMAND_MARKER:
        set_marker(work, &command->u.marker, ticks);
        return ZETA_PLUGIN_SUCCESS;
    case ZETA_PLUGIN_COMMAND_QUERY_BEGIN:
        pthread_mutex_lock(&lock);
        begin_locked(&point->pool->queries[point->index], work, ticks);
        pthread_mutex_unlock(&lock);
        return ZETA_PLUGIN_SUCCESS;
    case ZETA_PLUGIN_COMMAND_QUERY_END:
        pthread_mutex_lock(&lock);
        result = end_locked(point->pool, point->index, work, ticks);
        pthread_mutex_unlock(&lock);
        return result;
    default:
        return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
    }
}

uint32_t fake_metrics_live_pools(void)
{
    return atomic_load(&live_pools);
}

void fake_metrics_refuse_pools(uint32_t result)
{
    atomic_store(&pool_result, result);
}

void fake_metrics_refuse_queries(uint32_t result)
{
    atomic_store(&query_result, result);
}

const struct zeta_plugin_metric_ops fake_metric_ops = {
    .struct_size = sizeof(fake_metric_ops),
    .symbols = scripted_no_symbols,
    .limits = limits,
    .stream_open = stream_open,
    .stream_read = stream_read,
    .stream_close = stream_close,
    .query_pool_create = query_pool_create,
    .query_pool_destroy = query_pool_destroy,
    .query_reset = query_reset,
    .query_collect = query_collect,
};
