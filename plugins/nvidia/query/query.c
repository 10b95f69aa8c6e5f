#include "plugins/nvidia/query/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/query_record.h>

#include "plugins/nvidia/query/ranges.h"
#include "plugins/nvidia/sampling/program.h"

/* Ranges of a session between two fetches: setting up takes longer for more. */
enum { FEW_RANGES = 64, MOST_RANGES = 256 };

/* Bits in a record of the unit. */
enum { RECORD_BITS = NVIDIA_RECORD_BYTES * 8 };

enum query_state {
    QUERY_FRESH,
    QUERY_OPEN,
    QUERY_ENDED, /* its numbers are in the session */
    QUERY_DONE,
    QUERY_ABANDONED, /* its end did not run */
    QUERY_UNCOUNTED, /* a count of it is no number */
    QUERY_FAILED     /* CUPTI failed to give its numbers */
};

struct query {
    enum query_state state;
    int result;                    /* of CUPTI, of a failed one */
    uint32_t range;                /* of an open or ended one, in the session */
    struct nvidia_interval record; /* of an open or ended one the times of begin and end */
};

/* Where a field of a query record is in a record of the unit. */
struct place {
    uint16_t at, bytes;
};

struct zeta_plugin_query_pool {
    struct zeta_plugin_device *device;
    struct zeta_plugin_query_pool *next; /* of the device */
    char set[80];
    struct nvidia_program program;
    uint32_t number;   /* of the program, in records */
    uint32_t duration; /* place of gpu__time_duration.sum in the program; its count: not there */
    uint32_t record_bytes, field_count;
    struct place *places;
    uint32_t count;
    struct query *queries; /* calloc'ed: pages of those that never begin stay untouched */
};

/* A session, and whose its ranges are. */
struct nvidia_counting {
    struct nvidia_program program; /* a copy: pools can go */
    void *context;
    struct nvidia_ranges *ranges;
    bool is_open;      /* the last range is */
    const void *queue; /* that began it */
    struct owner {
        struct zeta_plugin_query_pool *pool; /* NULL: nobody wants it any more */
        uint32_t index;
    } owners[MOST_RANGES];
};

/* ---- sessions: all with the lock of the unit ---------------------------------------------- */

static struct query *query_of(const struct owner *owner)
{
    return &owner->pool->queries[owner->index];
}

/* Makes the context of the session current; what was is given to leave(). */
static void *enter(const struct nvidia *nvidia, const struct nvidia_counting *counting)
{
    void *before = NULL;

    (void)nvidia->driver.cuCtxGetCurrent(&before);
    if (before != counting->context)
        (void)nvidia->driver.cuCtxSetCurrent(counting->context);
    return before;
}

static void leave(const struct nvidia *nvidia, const struct nvidia_counting *counting, void *before)
{
    if (before != counting->context)
        (void)nvidia->driver.cuCtxSetCurrent(before);
}

static bool same_program(const struct nvidia_program *a, const struct nvidia_program *b)
{
    bool is_same = a->count == b->count;

    for (uint32_t i = 0; is_same && i < a->count; i++)
        is_same = a->fields[i] == b->fields[i] && strcmp(a->names[i], b->names[i]) == 0;
    return is_same;
}

/* No range belongs to anybody any more; who waits for the numbers of one learns why not. */
static void fail_owners(struct nvidia_counting *counting, int result)
{
    for (uint32_t i = 0; i < MOST_RANGES; i++) {
        struct owner *owner = &counting->owners[i];

        if (!owner->pool)
            continue;
        query_of(owner)->state = QUERY_FAILED;
        query_of(owner)->result = result;
        owner->pool = NULL;
    }
}

/* Ends the session; numbers that it still has are lost for that reason. */
static void close_session(struct zeta_plugin_device *device, int result)
{
    struct nvidia_counting *counting = device->queries.counting;
    void *before = enter(device->nvidia, counting);

    nvidia_ranges_close(counting->ranges);
    leave(device->nvidia, counting, before);
    fail_owners(counting, result);
    free(counting);
    device->queries.counting = NULL;
    nvidia_perfmon_give(device);
}

/* The values of a range go to its query. */
static void take(void *context, uint32_t number, const double *values)
{
    struct nvidia_counting *counting = context;
    struct owner *owner = &counting->owners[number];
    const struct zeta_plugin_query_pool *pool = owner->pool;
    struct nvidia_interval *record;
    uint64_t length;

    if (!pool)
        return;
    record = &query_of(owner)->record;
    length = record->end_ns - record->start_ns;
    query_of(owner)->state = QUERY_UNCOUNTED;
    if (nvidia_program_store(&pool->program, values, record)) {
        query_of(owner)->state = QUERY_DONE;
        if (pool->duration < pool->program.count)
            length = (uint64_t)values[pool->duration];
    }
    /* A query of no length would be one whose rates divide by nothing. */
    record->start_ns = record->end_ns - (length > 0 ? length : 1);
    owner->pool = NULL;
}

/* Takes the numbers of all ranges out of the session, which is over if that fails. None is open. */
static void fetch(struct zeta_plugin_device *device)
{
    struct nvidia_counting *counting = device->queries.counting;
    const struct nvidia_ranges_taker taker = {take, counting};
    void *before = enter(device->nvidia, counting);
    const int result = nvidia_ranges_fetch(counting->ranges, &taker);

    leave(device->nvidia, counting, before);
    if (result == NVIDIA_CUPTI_SUCCESS)
        fail_owners(counting, NVIDIA_CUPTI_UNKNOWN); /* ranges that vanished */
    else
        close_session(device, result);
}

/* The range that is open counts for nobody. */
static void cancel(struct zeta_plugin_device *device, enum query_state state)
{
    struct nvidia_counting *counting = device->queries.counting;
    struct owner *owner = &counting->owners[nvidia_ranges_count(counting->ranges) - 1];
    void *before = enter(device->nvidia, counting);

    (void)nvidia_ranges_end(counting->ranges);
    leave(device->nvidia, counting, before);
    counting->is_open = false;
    query_of(owner)->state = state;
    owner->pool = NULL;
}

/* A query is as if it had never begun; a range that it has counts for nobody. */
static void forget(struct zeta_plugin_query_pool *pool, uint32_t index)
{
    struct nvidia_counting *counting = pool->device->queries.counting;
    struct query *query = &pool->queries[index];

    if (query->state == QUERY_OPEN)
        cancel(pool->device, QUERY_FRESH);
    else if (query->state == QUERY_ENDED)
        counting->owners[query->range].pool = NULL;
    query->state = QUERY_FRESH;
}

/* Takes the counters and makes a session for the metrics of a pool. */
static uint32_t open_session(const struct zeta_plugin_query_pool *pool, int *out_result)
{
    struct zeta_plugin_device *device = pool->device;
    struct nvidia *nvidia = device->nvidia;
    struct nvidia_counting *counting = calloc(1, sizeof(*counting));
    char user[112];

    *out_result = NVIDIA_CUPTI_OUT_OF_MEMORY;
    if (!counting)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    (void)snprintf(user, sizeof(user), "queries of %s", pool->set);
    if (!nvidia_perfmon_take(device, user)) {
        free(counting);
        *out_result = NVIDIA_CUPTI_HARDWARE_BUSY;
        return ZETA_PLUGIN_HANDLE_OBJECT_IN_USE;
    }
    counting->program = pool->program;
    for (uint32_t i = 0; i < pool->program.count; i++)
        counting->program.names[i] = counting->program.texts[i];
    (void)nvidia->driver.cuCtxGetCurrent(&counting->context);
    const struct nvidia_ranges_options options = {
        .cupti = &nvidia->cupti,
        .context = counting->context,
        .chip = nvidia_device_chip(device),
        .names = counting->program.names,
        .count = counting->program.count,
        .capacity = pool->count > FEW_RANGES ? MOST_RANGES : FEW_RANGES,
    };

    *out_result = nvidia_ranges_open(&options, &counting->ranges);
    if (*out_result != NVIDIA_CUPTI_SUCCESS) {
        free(counting);
        nvidia_perfmon_give(device);
        return nvidia_cupti_result(*out_result);
    }
    device->queries.counting = counting;
    return ZETA_PLUGIN_SUCCESS;
}

/* ---- begin and end ------------------------------------------------------------------------ */

static uint32_t fail_point(const struct zeta_plugin_query_point *point, const char *what,
                           int result, struct nvidia_query_failure *out_failure)
{
    const struct nvidia *nvidia = point->pool->device->nvidia;
    char why[400];

    nvidia_cupti_explain(result, nvidia->root, why, sizeof(why));
    (void)snprintf(out_failure->text, sizeof(out_failure->text),
                   "query %u of %.64s cannot %s (%.60s, %d): %.330s", point->index,
                   point->pool->set, what, nvidia_cupti_name(&nvidia->cupti, result), result, why);
    return nvidia_cupti_result(result);
}

/* After a fault nothing of the context works any more. */
static bool is_lost(const struct zeta_plugin_device *device,
                    struct nvidia_query_failure *out_failure)
{
    if (!atomic_load(&device->is_lost))
        return false;
    (void)snprintf(out_failure->text, sizeof(out_failure->text), "%s", device->lost);
    return true;
}

/* Makes room for a query in a session that counts its metrics, or says why there is none. */
static uint32_t prepare(const struct zeta_plugin_query_point *point,
                        struct nvidia_query_failure *out_failure)
{
    const struct zeta_plugin_query_pool *pool = point->pool;
    struct zeta_plugin_device *device = pool->device;
    struct nvidia_counting *counting = device->queries.counting;
    const bool is_ours = counting && same_program(&counting->program, &pool->program);
    char user[112];
    uint32_t code;
    int result;

    if (counting && counting->is_open) {
        const struct owner *open = &counting->owners[nvidia_ranges_count(counting->ranges) - 1];

        (void)snprintf(out_failure->text, sizeof(out_failure->text),
                       "query %u of %.64s cannot begin, because query %u of %.64s is open, and "
                       "queries of an NVIDIA GPU neither nest nor overlap, also not on different "
                       "queues; end that one first",
                       point->index, pool->set, open->index, open->pool->set);
        return is_ours ? ZETA_PLUGIN_HANDLE_OBJECT_IN_USE : ZETA_PLUGIN_NOT_AVAILABLE;
    }
    if (counting && (!is_ours || nvidia_ranges_are_full(counting->ranges)))
        fetch(device);
    if (device->queries.counting && !is_ours)
        close_session(device, NVIDIA_CUPTI_UNKNOWN);
    if (device->queries.counting)
        return ZETA_PLUGIN_SUCCESS;
    code = open_session(pool, &result);
    if (code == ZETA_PLUGIN_SUCCESS)
        return code;
    if (code != ZETA_PLUGIN_HANDLE_OBJECT_IN_USE || result != NVIDIA_CUPTI_HARDWARE_BUSY)
        return fail_point(point, "begin", result, out_failure);
    (void)nvidia_perfmon_user(device, user, sizeof(user));
    (void)snprintf(out_failure->text, sizeof(out_failure->text),
                   "query %u of %.64s cannot begin, because the counters are used by %.96s of this "
                   "process; end that first",
                   point->index, pool->set, user);
    return ZETA_PLUGIN_NOT_AVAILABLE;
}

static uint32_t begin(const struct zeta_plugin_query_point *point, const void *queue,
                      struct nvidia_query_failure *out_failure)
{
    struct zeta_plugin_device *device = point->pool->device;
    struct query *query = &point->pool->queries[point->index];
    struct nvidia_counting *counting;
    uint32_t code;
    int result;

    if (is_lost(device, out_failure))
        return ZETA_PLUGIN_DEVICE_LOST;
    forget(point->pool, point->index);
    code = prepare(point, out_failure);
    if (code != ZETA_PLUGIN_SUCCESS)
        return code;
    counting = device->queries.counting;
    query->range = nvidia_ranges_count(counting->ranges);
    query->record = (struct nvidia_interval){.set = point->pool->number};
    result = nvidia_ranges_begin(counting->ranges);
    query->record.start_ns = nvidia_clock_ns();
    if (result != NVIDIA_CUPTI_SUCCESS) {
        close_session(device, result);
        return fail_point(point, "begin", result, out_failure);
    }
    query->state = QUERY_OPEN;
    counting->owners[query->range] = (struct owner){point->pool, point->index};
    counting->is_open = true;
    counting->queue = queue;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t end(const struct zeta_plugin_query_point *point,
                    struct nvidia_query_failure *out_failure)
{
    struct zeta_plugin_device *device = point->pool->device;
    struct query *query = &point->pool->queries[point->index];
    int result;

    if (is_lost(device, out_failure))
        return ZETA_PLUGIN_DEVICE_LOST;
    if (query->state != QUERY_OPEN) {
        (void)snprintf(out_failure->text, sizeof(out_failure->text),
                       "query %u of %.64s ends, but it was not begun", point->index,
                       point->pool->set);
        return ZETA_PLUGIN_INVALID_ARGUMENT;
    }
    query->record.end_ns = nvidia_clock_ns();
    result = nvidia_ranges_end(device->queries.counting->ranges);
    device->queries.counting->is_open = false;
    query->state = QUERY_ENDED;
    if (result == NVIDIA_CUPTI_SUCCESS)
        return ZETA_PLUGIN_SUCCESS;
    close_session(device, result);
    return fail_point(point, "end", result, out_failure);
}

uint32_t nvidia_query_begin(const struct zeta_plugin_query_point *point, const void *queue,
                            struct nvidia_query_failure *out_failure)
{
    pthread_mutex_t *lock = &point->pool->device->queries.lock;
    uint32_t code;

    (void)pthread_mutex_lock(lock);
    code = begin(point, queue, out_failure);
    (void)pthread_mutex_unlock(lock);
    return code;
}

uint32_t nvidia_query_end(const struct zeta_plugin_query_point *point,
                          struct nvidia_query_failure *out_failure)
{
    pthread_mutex_t *lock = &point->pool->device->queries.lock;
    uint32_t code;

    (void)pthread_mutex_lock(lock);
    code = end(point, out_failure);
    (void)pthread_mutex_unlock(lock);
    return code;
}

void nvidia_query_abandon(struct zeta_plugin_device *device, const void *queue)
{
    const struct nvidia_counting *counting;

    (void)pthread_mutex_lock(&device->queries.lock);
    counting = device->queries.counting;
    if (counting && counting->is_open && counting->queue == queue)
        cancel(device, QUERY_ABANDONED);
    (void)pthread_mutex_unlock(&device->queries.lock);
}

/* ---- pools -------------------------------------------------------------------------------- */

/* Where the fields of query records come from. False: at least one is not there. */
static bool find_places(struct zeta_plugin_query_pool *pool,
                        const struct zeta_plugin_query_desc *desc)
{
    for (uint32_t i = 0; i < pool->field_count; i++) {
        const struct zeta_plugin_query_field *field =
            (const void *)((const char *)desc->fields.data + i * desc->fields.stride);

        if (field->low_bit % 8 != 0 || (field->low_width != 32 && field->low_width != 64) ||
            field->low_bit > RECORD_BITS - field->low_width || field->high_width != 0 ||
            field->delta_bits != 0)
            return false;
        pool->places[i] =
            (struct place){(uint16_t)(field->low_bit / 8), (uint16_t)(field->low_width / 8)};
    }
    return true;
}

/* CUPTI if it can count, or NULL with the sentence why not. */
static const struct nvidia_cupti *ranges_cupti(struct nvidia *nvidia, const char **out_problem)
{
    const struct nvidia_cupti *cupti = nvidia_cupti_get(nvidia, out_problem);

    if (!cupti || !nvidia_cupti_lacks_ranges(cupti))
        return cupti;
    *out_problem = "libcupti is too old for queries; install that of CUDA 12.6 or newer.";
    return NULL;
}

/* Whether one pass counts all metrics of a pool, or why not. */
static uint32_t check_program(struct zeta_plugin_query_pool *pool)
{
    struct zeta_plugin_device *device = pool->device;
    const struct nvidia *nvidia = device->nvidia;
    const struct nvidia_label label = nvidia_device_label(device);
    const struct nvidia_asked asked = {
        .host = nvidia->host, .cupti = &nvidia->cupti, .device = label.text, .root = nvidia->root};
    struct nvidia_config config;
    size_t wrong = 0, passes;
    const int result =
        nvidia_config_make(&nvidia->cupti, NVIDIA_RANGE_PROFILER, nvidia_device_chip(device),
                           pool->program.names, pool->program.count, &config, &wrong);

    passes = config.passes;
    nvidia_config_finish(&config);
    if (result == NVIDIA_CUPTI_INVALID_METRIC_NAME)
        return zeta_host_fail(nvidia->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "%s: there are no queries of %s, because the chip %s has no metric "
                              "%s for them",
                              label.text, pool->set, nvidia_device_chip(device),
                              pool->program.names[wrong]);
    if (result != NVIDIA_CUPTI_SUCCESS)
        return nvidia_cupti_fail(&asked, result, "configure queries of %s", pool->set);
    if (passes != 1)
        return zeta_host_fail(nvidia->host, ZETA_PLUGIN_UNSUPPORTED_FEATURE,
                              "%s: there are no queries of %s, because its metrics need %zu passes",
                              label.text, pool->set, passes);
    return ZETA_PLUGIN_SUCCESS;
}

/* A stream has the counters; queries of other metrics give way. */
static uint32_t check_counters(struct zeta_plugin_device *device, const char *set)
{
    char user[96];
    bool is_taken;

    (void)pthread_mutex_lock(&device->queries.lock);
    is_taken = !device->queries.counting && nvidia_perfmon_user(device, user, sizeof(user));
    (void)pthread_mutex_unlock(&device->queries.lock);
    if (!is_taken)
        return ZETA_PLUGIN_SUCCESS;
    return zeta_host_fail(device->nvidia->host, ZETA_PLUGIN_NOT_AVAILABLE,
                          "%s: %s cannot be queried, because the counters are used by %s of this "
                          "process; end that first",
                          nvidia_device_label(device).text, set, user);
}

/* All but what needs memory of the queries. */
static uint32_t fill_pool(struct zeta_plugin_query_pool *pool,
                          const struct zeta_plugin_query_desc *desc)
{
    struct nvidia *nvidia = pool->device->nvidia;
    const char *problem;
    uint32_t code;

    if (desc->report_bytes != NVIDIA_RECORD_BYTES ||
        desc->record_bytes != zeta_query_record_bytes(pool->field_count) ||
        !find_places(pool, desc))
        return zeta_host_fail(nvidia->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "records of queries of %s do not follow from the layout nv-interval "
                              "of %d bytes",
                              pool->set, NVIDIA_RECORD_BYTES);
    if (!ranges_cupti(nvidia, &problem))
        return zeta_host_fail(nvidia->host, ZETA_PLUGIN_DEPENDENCY_UNAVAILABLE, "%s", problem);
    code = nvidia_program_read(nvidia->host, desc->set, &desc->program, ZETA_PLUGIN_USE_QUERY,
                               &pool->program);
    if (code == ZETA_PLUGIN_SUCCESS)
        code = check_counters(pool->device, pool->set);
    if (code == ZETA_PLUGIN_SUCCESS)
        code = check_program(pool);
    while (pool->duration < pool->program.count &&
           (pool->program.fields[pool->duration] >= NVIDIA_COUNTS ||
            strcmp(pool->program.names[pool->duration], "gpu__time_duration.sum") != 0))
        pool->duration++;
    return code;
}

static void free_pool(struct zeta_plugin_query_pool *pool)
{
    free(pool->queries);
    free(pool->places);
    free(pool);
}

uint32_t nvidia_query_pool_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                  const struct zeta_plugin_query_desc *desc,
                                  struct zeta_plugin_query_pool **out_pool)
{
    struct zeta_plugin_query_pool *pool = calloc(1, sizeof(*pool));
    uint32_t code = ZETA_PLUGIN_OUT_OF_HOST_MEMORY;

    if (!pool)
        return code;
    pool->device = device;
    pool->count = desc->count;
    pool->number = nvidia_program_number(desc->digest);
    pool->record_bytes = desc->record_bytes;
    pool->field_count = (uint32_t)desc->fields.count;
    (void)snprintf(pool->set, sizeof(pool->set), "%.*s", zeta_string_shown(desc->set),
                   desc->set.data);
    pool->places = calloc(desc->fields.count + 1, sizeof(*pool->places));
    pool->queries = calloc(desc->count, sizeof(*pool->queries));
    if (pool->places && pool->queries)
        code = fill_pool(pool, desc);
    else
        (void)zeta_host_fail(&self->host, code, "%s: no memory for %u queries", device->id,
                             desc->count);
    if (code != ZETA_PLUGIN_SUCCESS) {
        free_pool(pool);
        return code;
    }
    (void)pthread_mutex_lock(&device->queries.lock);
    pool->next = device->queries.pools;
    device->queries.pools = pool;
    (void)pthread_mutex_unlock(&device->queries.lock);
    *out_pool = pool;
    return ZETA_PLUGIN_SUCCESS;
}

/* Takes a pool out of the list, and its ranges out of the session. */
static void unlink_pool(struct zeta_plugin_query_pool *pool)
{
    struct zeta_plugin_device *device = pool->device;
    struct nvidia_counting *counting = device->queries.counting;
    struct zeta_plugin_query_pool **at = &device->queries.pools;
    bool is_wanted = false;

    while (*at != pool)
        at = &(*at)->next;
    *at = pool->next;
    if (!counting)
        return;
    for (uint32_t i = 0; i < MOST_RANGES; i++) {
        if (counting->owners[i].pool == pool)
            forget(pool, counting->owners[i].index);
    }
    for (const struct zeta_plugin_query_pool *other = device->queries.pools; other;
         other = other->next)
        is_wanted = is_wanted || same_program(&counting->program, &other->program);
    if (!is_wanted)
        close_session(device, NVIDIA_CUPTI_UNKNOWN);
}

void nvidia_query_pool_destroy(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool)
{
    pthread_mutex_t *lock;

    (void)self;
    if (!pool)
        return;
    lock = &pool->device->queries.lock;
    (void)pthread_mutex_lock(lock);
    unlink_pool(pool);
    (void)pthread_mutex_unlock(lock);
    free_pool(pool);
}

/* ---- results ------------------------------------------------------------------------------ */

uint32_t nvidia_query_reset(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool,
                            uint32_t index)
{
    (void)self;
    (void)pthread_mutex_lock(&pool->device->queries.lock);
    forget(pool, index);
    (void)pthread_mutex_unlock(&pool->device->queries.lock);
    return ZETA_PLUGIN_SUCCESS;
}

static void write_record(const struct zeta_plugin_query_pool *pool, const struct query *query,
                         void *target)
{
    const struct nvidia_interval *record = &query->record;
    const struct zeta_query_record head = {.size_bytes = pool->record_bytes,
                                           .begin_ticks = record->start_ns,
                                           .end_ticks = record->end_ns,
                                           .time_ns = record->end_ns - record->start_ns};
    uint8_t *at = target;

    memcpy(at, &head, sizeof(head));
    at += sizeof(head);
    for (uint32_t i = 0; i < pool->field_count; i++, at += 8) {
        memset(at, 0, 8);
        memcpy(at, (const uint8_t *)record + pool->places[i].at, pool->places[i].bytes);
    }
}

/* Why a query has no numbers. */
static uint32_t fail_query(const struct zeta_plugin_query_pool *pool, uint32_t index,
                           const struct query *query)
{
    const struct nvidia *nvidia = pool->device->nvidia;
    const struct nvidia_label label = nvidia_device_label(pool->device);
    const struct nvidia_asked asked = {
        .host = nvidia->host, .cupti = &nvidia->cupti, .device = label.text, .root = nvidia->root};

    if (query->state == QUERY_FAILED)
        return nvidia_cupti_fail(&asked, query->result, "give the numbers of query %u of %s", index,
                                 pool->set);
    return zeta_host_fail(
        nvidia->host, ZETA_PLUGIN_NOT_AVAILABLE, "%s: query %u of %s has no numbers, because %s",
        label.text, index, pool->set,
        query->state == QUERY_ABANDONED
            ? "work between its begin and its end failed, or its queue was destroyed"
            : "the GPU could not count one of its metrics");
}

uint32_t nvidia_query_collect(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool,
                              uint32_t index, void *records)
{
    struct zeta_plugin_device *device = pool->device;
    const struct query *query = &pool->queries[index];
    uint32_t code = ZETA_PLUGIN_SUCCESS;

    (void)pthread_mutex_lock(&device->queries.lock);
    /* With a range open the session cannot be stopped, and what ended before has to wait. */
    if (query->state == QUERY_ENDED && !device->queries.counting->is_open) {
        code = nvidia_device_ops.status(self, device);
        if (code == ZETA_PLUGIN_SUCCESS)
            fetch(device);
    }
    if (query->state == QUERY_DONE)
        write_record(pool, query, records);
    else if (query->state == QUERY_FRESH || query->state == QUERY_OPEN ||
             query->state == QUERY_ENDED)
        code = code == ZETA_PLUGIN_SUCCESS ? ZETA_PLUGIN_NOT_READY : code;
    else
        code = fail_query(pool, index, query);
    (void)pthread_mutex_unlock(&device->queries.lock);
    return code;
}

/* ---- the plugin --------------------------------------------------------------------------- */

void nvidia_query_limits(struct zeta_plugin_device *device, struct zeta_plugin_limits *out_limits)
{
    const char *problem;

    if (!ZETA_PLUGIN_HAS(out_limits, query_note))
        return;
    if (ranges_cupti(device->nvidia, &problem))
        out_limits->query_note = zeta_string(
            "Counts all work of this process on the GPU between begin and end. One query is open "
            "at a time, on whichever queue, and no stream of the same counters. Results can be "
            "read when none is open. Begin and reading wait for the work of the process on the "
            "GPU, whichever queue has it.");
    else
        out_limits->no_queries = zeta_string(problem);
}

void nvidia_queries_init(struct nvidia *nvidia)
{
    for (uint32_t i = 0; i < nvidia->device_count; i++)
        (void)pthread_mutex_init(&nvidia->devices[i].queries.lock, NULL);
}

void nvidia_queries_finish(struct nvidia *nvidia)
{
    for (uint32_t i = 0; i < nvidia->device_count; i++) {
        struct nvidia_query_unit *unit = &nvidia->devices[i].queries;

        while (unit->pools)
            nvidia_query_pool_destroy(nvidia->self, unit->pools);
        (void)pthread_mutex_destroy(&unit->lock);
    }
}
