/*
 * Queries against a kernel that a test plays word by word: clock, reports, losses and failures.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <zeta/query_record.h>

#include "plugins/intel/intel.h"
#include "plugins/intel/query.h"
#include "plugins/intel/sampler.h"

enum { HZ = 1000000, REPORT_BYTES = 64, TILES = 2, MOST_REPORTS = 4096 };
enum { ID, TICKS, COUNT, FIELDS };
enum { RECORD_BYTES = 48 + 8 * FIELDS };

/* ---- the kernel --------------------------------------------------------------------------- */

struct report {
    uint32_t id, ticks, words[14];
};

/* The unit of one tile. */
static struct source {
    struct zeta_intel_kernel_stream stream;
    bool is_open;
    struct report reports[MOST_REPORTS];
    uint32_t first, count;
    bool broken;
    uint32_t failure;
    uint32_t exponent;
} sources[TILES];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t now_ticks;
static uint32_t opens, refusals;
static uint64_t least_ns, least_for_all_ns; /* between reports */
static char sentence[1024];
static char setting[32];

static uint32_t tell_clock(struct zeta_intel_gpu *gpu, uint32_t tile, struct zeta_plugin_clock *out)
{
    (void)gpu, (void)tile;
    (void)pthread_mutex_lock(&lock);
    out->device_ticks = now_ticks;
    (void)pthread_mutex_unlock(&lock);
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t get_config(struct zeta_intel_gpu *gpu, const char uuid[37],
                           const struct zeta_intel_register *registers, uint32_t count,
                           uint64_t *out_config)
{
    (void)gpu, (void)uuid, (void)registers, (void)count;
    *out_config = 1;
    return ZETA_PLUGIN_SUCCESS;
}

static uint64_t min_period(const struct zeta_intel_unit *unit, bool as_everybody)
{
    (void)unit;
    return as_everybody ? least_for_all_ns : least_ns;
}

static uint32_t open_stream(struct zeta_intel_gpu *gpu, const struct zeta_intel_stream_wish *wish,
                            struct zeta_intel_kernel_stream **out_stream)
{
    struct source *source = &sources[wish->unit->tile];

    if (refusals > 0) {
        refusals--;
        return zeta_intel_fail(gpu->intel, ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS, "too fast");
    }
    (void)pthread_mutex_lock(&lock);
    assert_false(source->is_open);
    opens++;
    source->is_open = true;
    source->exponent = wish->exponent;
    source->count = 0;
    source->failure = 0;
    source->broken = false;
    source->stream.gpu = gpu;
    source->stream.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    source->stream.record_bytes = wish->record_bytes;
    (void)pthread_mutex_unlock(&lock);
    *out_stream = &source->stream;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t read_stream(struct zeta_intel_kernel_stream *stream, void *buffer,
                            uint64_t capacity_bytes, struct zeta_plugin_read *out_read)
{
    struct source *source = (struct source *)stream;
    uint64_t level;
    uint32_t result;

    (void)pthread_mutex_lock(&lock);
    result = source->failure;
    while (source->count > 0 && capacity_bytes - out_read->bytes >= REPORT_BYTES) {
        memcpy((uint8_t *)buffer + out_read->bytes, &source->reports[source->first], REPORT_BYTES);
        out_read->bytes += REPORT_BYTES;
        source->first = (source->first + 1) % MOST_REPORTS;
        source->count--;
    }
    out_read->broken = source->broken;
    source->broken = false;
    if (source->count == 0)
        (void)!read(stream->fd, &level, sizeof(level));
    (void)pthread_mutex_unlock(&lock);
    return result;
}

static void close_stream(struct zeta_intel_kernel_stream *stream)
{
    struct source *source = (struct source *)stream;

    (void)pthread_mutex_lock(&lock);
    source->is_open = false;
    (void)close(stream->fd);
    (void)pthread_mutex_unlock(&lock);
}

static const struct zeta_intel_kmd kmd = {
    .driver = "scripted",
    .clock = tell_clock,
    .config_get = get_config,
    .min_period_ns = min_period,
    .stream_open = open_stream,
    .stream_read = read_stream,
    .stream_close = close_stream,
};

static void set_time(uint64_t ticks)
{
    (void)pthread_mutex_lock(&lock);
    now_ticks = ticks;
    (void)pthread_mutex_unlock(&lock);
}

/* What somebody has to look at now. */
static void call_reader_locked(struct source *source)
{
    const uint64_t one = 1;

    (void)!write(source->stream.fd, &one, sizeof(one));
}

/* A report of the unit at a time, when its counter stood at a value; time has passed until then. */
static void report_on(uint32_t tile, uint64_t ticks, uint32_t count, uint32_t id)
{
    struct source *source = &sources[tile];

    (void)pthread_mutex_lock(&lock);
    assert_true(source->count < MOST_REPORTS);
    source->reports[(source->first + source->count++) % MOST_REPORTS] =
        (struct report){.id = id, .ticks = (uint32_t)ticks, .words = {count}};
    if (now_ticks < ticks)
        now_ticks = ticks;
    if (source->is_open)
        call_reader_locked(source);
    (void)pthread_mutex_unlock(&lock);
}

static void report(uint64_t ticks, uint32_t count)
{
    report_on(0, ticks, count, 0x80000);
}

static void lose_reports(void)
{
    (void)pthread_mutex_lock(&lock);
    sources[0].broken = true;
    call_reader_locked(&sources[0]);
    (void)pthread_mutex_unlock(&lock);
}

static void fail_reads(uint32_t result)
{
    (void)pthread_mutex_lock(&lock);
    sources[0].failure = result;
    call_reader_locked(&sources[0]);
    (void)pthread_mutex_unlock(&lock);
}

/* ---- the plugin --------------------------------------------------------------------------- */

static void keep_sentence(struct zeta_plugin_host *host, uint32_t result,
                          struct zeta_plugin_string text)
{
    (void)host, (void)result;
    (void)pthread_mutex_lock(&lock);
    (void)snprintf(sentence, sizeof(sentence), "%.*s", (int)text.size, text.data);
    (void)pthread_mutex_unlock(&lock);
}

static void drop_log(struct zeta_plugin_host *host, uint32_t level, struct zeta_plugin_string text)
{
    (void)level;
    keep_sentence(host, 0, text);
}

static uint32_t give_setting(struct zeta_plugin_host *host, struct zeta_plugin_string name,
                             struct zeta_plugin_string *out_value)
{
    (void)host;
    assert_memory_equal(name.data, "query_period_ns", sizeof("query_period_ns") - 1);
    if (!setting[0])
        return ZETA_PLUGIN_NOT_AVAILABLE;
    *out_value = (struct zeta_plugin_string){setting, strlen(setting)};
    return ZETA_PLUGIN_SUCCESS;
}

static const struct zeta_plugin_host_ops host_ops = {.struct_size = sizeof(host_ops),
                                                     .log = drop_log,
                                                     .fail = keep_sentence,
                                                     .setting = give_setting};

/* Everything that a pool needs: one GPU with two tiles, and a device for it and for each tile. */
struct bed {
    struct zeta_plugin self;
    struct zeta_intel intel;
    struct zeta_intel_gpu gpu;
    struct zeta_intel_platform platform;
    struct zeta_plugin_device devices[1 + TILES];
};

static int setup(void **state)
{
    struct bed *bed = calloc(1, sizeof(*bed));

    bed->self.ops = &host_ops;
    bed->self.intel = &bed->intel;
    bed->intel.self = &bed->self;
    bed->intel.gpus = &bed->gpu;
    bed->intel.gpu_count = 1;
    bed->intel.devices = bed->devices;
    bed->intel.device_count = 1 + TILES;
    (void)pthread_mutex_init(&bed->intel.lock, NULL);
    (void)pthread_mutex_init(&bed->intel.sampler_lock, NULL);
    bed->platform.graphics = 1260;
    bed->platform.formats[ZETA_INTEL_OAG] =
        (struct zeta_intel_format){.has_xe = true, .record_bytes = REPORT_BYTES};
    bed->gpu = (struct zeta_intel_gpu){.intel = &bed->intel,
                                       .kmd = &kmd,
                                       .platform = &bed->platform,
                                       .id = "0000:03:00.0",
                                       .tile_count = TILES,
                                       .unit_count = TILES};
    for (uint32_t t = 0; t < TILES; t++) {
        bed->gpu.tiles[t] = (struct zeta_intel_tile){.topology = {.eus = 4},
                                                     .max_hz = 1000000000,
                                                     .cs_timestamp_hz = HZ,
                                                     .cs_timestamp_bits = 64};
        bed->gpu.units[t] = (struct zeta_intel_unit){
            .name = "oa", .kind = ZETA_INTEL_OAG, .tile = t, .timestamp_hz = HZ};
        atomic_init(&bed->gpu.uses[t].fd, -1);
    }
    for (uint32_t i = 0; i < 1 + TILES; i++)
        bed->devices[i] = (struct zeta_plugin_device){.gpu = &bed->gpu,
                                                      .tile = i > 0 ? i - 1 : 0,
                                                      .is_tile = i > 0,
                                                      .parent = i > 0 ? 0 : UINT32_MAX};
    memset(sources, 0, sizeof(sources));
    now_ticks = 50;
    opens = refusals = 0;
    least_ns = least_for_all_ns = 0;
    setting[0] = sentence[0] = '\0';
    *state = bed;
    return 0;
}

static int teardown(void **state)
{
    struct bed *bed = *state;

    assert_null(bed->intel.samplers);
    for (uint32_t t = 0; t < TILES; t++)
        assert_false(sources[t].is_open);
    free(bed);
    return 0;
}

#define NAME(text)                                                                                 \
    {                                                                                              \
        .data = (text), .size = sizeof(text) - 1                                                   \
    }

static uint32_t try_pool(struct bed *bed, uint32_t device, const char *set, uint32_t count,
                         struct zeta_plugin_query_pool **out_pool)
{
    static const struct zeta_plugin_query_field fields[FIELDS] = {
        [ID] = {.struct_size = sizeof(fields[0]), .name = NAME("report_id"), .low_width = 32},
        [TICKS] = {.struct_size = sizeof(fields[0]),
                   .name = NAME("ticks"),
                   .low_bit = 32,
                   .low_width = 32,
                   .delta_bits = 32},
        [COUNT] = {.struct_size = sizeof(fields[0]),
                   .name = NAME("A"),
                   .low_bit = 64,
                   .low_width = 32,
                   .delta_bits = 32},
    };
    const struct zeta_plugin_program_entry entry = {
        .struct_size = sizeof(entry), .address = 0x9888, .value = 1};
    const struct zeta_plugin_query_desc desc = {
        .struct_size = sizeof(desc),
        .unit = NAME("oa"),
        .set = {.data = set, .size = strlen(set)},
        .program = {.data = &entry, .count = 1, .stride = sizeof(entry)},
        .digest = {.data = set, .size = strlen(set)},
        .count = count,
        .report_bytes = REPORT_BYTES,
        .record_bytes = RECORD_BYTES,
        .fields = {.data = fields, .count = FIELDS, .stride = sizeof(fields[0])}};

    return zeta_intel_query_pool_create(&bed->self, &bed->devices[device], &desc, out_pool);
}

/* On the first tile. */
static struct zeta_plugin_query_pool *make_pool(struct bed *bed, const char *set)
{
    struct zeta_plugin_query_pool *pool = NULL;

    assert_int_equal(try_pool(bed, 1, set, 4, &pool), ZETA_PLUGIN_SUCCESS);
    return pool;
}

static void drop_pool(struct bed *bed, struct zeta_plugin_query_pool *pool)
{
    zeta_intel_query_pool_destroy(&bed->self, pool);
}

struct result {
    struct zeta_query_record head;
    uint64_t fields[FIELDS];
};

static uint32_t collect(struct bed *bed, struct zeta_plugin_query_pool *pool, uint32_t index,
                        struct result *out)
{
    return zeta_intel_query_collect(&bed->self, pool, index, out);
}

/* Waits until a query is not pending any more. */
static uint32_t await(struct bed *bed, struct zeta_plugin_query_pool *pool, uint32_t index,
                      struct result *out)
{
    const struct timespec step = {.tv_nsec = 1000000};
    uint32_t result = ZETA_PLUGIN_NOT_READY;

    for (int i = 0; i < 20000 && result == ZETA_PLUGIN_NOT_READY; i++) {
        result = collect(bed, pool, index, out);
        (void)nanosleep(&step, NULL);
    }
    return result;
}

/* Until the thread has read every report. */
static void await_reader(void)
{
    const struct timespec step = {.tv_nsec = 1000000};
    bool is_empty = false;

    for (int i = 0; i < 20000 && !is_empty; i++) {
        (void)pthread_mutex_lock(&lock);
        is_empty = sources[0].count == 0 && !sources[0].broken;
        (void)pthread_mutex_unlock(&lock);
        (void)nanosleep(&step, NULL);
    }
    assert_true(is_empty);
}

/* ---- what is counted ---------------------------------------------------------------------- */

static void query__between_reports__counts_between_the_first_ones_after(void **state)
{
    struct bed *bed = *state;
    struct zeta_plugin_query_pool *pool = make_pool(bed, "First");
    struct result r;

    report(90, 9);
    set_time(100);
    assert_int_equal(collect(bed, pool, 0, &r), ZETA_PLUGIN_NOT_READY);
    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
    report(110, 11);
    report(150, 15);
    set_time(160);
    assert_int_equal(collect(bed, pool, 0, &r), ZETA_PLUGIN_NOT_READY);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(collect(bed, pool, 0, &r), ZETA_PLUGIN_NOT_READY);
    report(165, 26);
    report(200, 90);
    assert_int_equal(await(bed, pool, 0, &r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(r.head.size_bytes, RECORD_BYTES);
    assert_int_equal(r.head.begin_ticks, 110);
    assert_int_equal(r.head.end_ticks, 165);
    assert_int_equal(r.head.time_ns, 55000);
    assert_int_equal(r.head.flags, 0);
    assert_int_equal(r.fields[TICKS], 55);
    assert_int_equal(r.fields[COUNT], 15);
    assert_int_equal(r.fields[ID], 0x80000);
    drop_pool(bed, pool);
}

static void query__report_at_the_very_time__settles_it(void **state)
{
    struct bed *bed = *state;
    struct zeta_plugin_query_pool *pool = make_pool(bed, "First");
    struct result r;

    set_time(100);
    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
    report(100, 1);
    set_time(130);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
    report(130, 4);
    assert_int_equal(await(bed, pool, 0, &r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(r.head.begin_ticks, 100);
    assert_int_equal(r.fields[COUNT], 3);
    drop_pool(bed, pool);
}

/* 3 000 000 000 each time: two reports are never a whole turn apart, the query is many. */
static void query__longer_than_many_turns__counts_in_full(void **state)
{
    struct bed *bed = *state;
    struct zeta_plugin_query_pool *pool = make_pool(bed, "First");
    uint64_t ticks = 1000, count = 7;
    struct result r;

    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
    for (int i = 0; i < 100; i++, ticks += 2000000000, count += 3000000000) {
        report(ticks, (uint32_t)count);
        await_reader();
    }
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
    report(ticks, (uint32_t)count);
    assert_int_equal(await(bed, pool, 0, &r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(r.fields[COUNT], UINT64_C(300000000000));
    assert_int_equal(r.fields[TICKS], UINT64_C(200000000000));
    assert_int_equal(r.head.end_ticks - r.head.begin_ticks, UINT64_C(200000000000));
    drop_pool(bed, pool);
}

static void queries__overlapping_in_several_pools__share_a_stream(void **state)
{
    struct bed *bed = *state;
    struct zeta_plugin_query_pool *pools[2] = {make_pool(bed, "First"), make_pool(bed, "First")};
    struct result r;

    report(10, 100);
    for (uint32_t i = 0; i < 4; i++) {
        set_time(20 + 10 * i);
        assert_int_equal(zeta_intel_query_begin(pools[i % 2], i), ZETA_PLUGIN_SUCCESS);
        report(25 + 10 * i, 200 + i);
    }
    for (uint32_t i = 0; i < 4; i++) {
        set_time(100 + 10 * i);
        assert_int_equal(zeta_intel_query_end(pools[i % 2], i), ZETA_PLUGIN_SUCCESS);
        report(105 + 10 * i, 1000 * (i + 1));
    }
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(await(bed, pools[i % 2], i, &r), ZETA_PLUGIN_SUCCESS);
        assert_int_equal(r.fields[COUNT], 1000 * (i + 1) - (200 + i));
        assert_int_equal(r.head.begin_ticks, 25 + 10 * i);
    }
    assert_int_equal(opens, 1);
    drop_pool(bed, pools[0]);
    assert_true(sources[0].is_open);
    drop_pool(bed, pools[1]);
}

static void root__with_tiles__gives_a_record_for_each(void **state)
{
    struct bed *bed = *state;
    struct zeta_plugin_query_pool *pool = NULL;
    struct result r[TILES];

    assert_int_equal(try_pool(bed, 0, "First", 1, &pool), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(opens, 2);
    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
    report_on(0, 100, 1, 0);
    report_on(1, 120, 10, 0);
    set_time(150);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
    report_on(0, 200, 4, 0);
    assert_int_equal(collect(bed, pool, 0, r), ZETA_PLUGIN_NOT_READY);
    report_on(1, 220, 50, 0);
    assert_int_equal(await(bed, pool, 0, r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(r[0].head.tile, 0);
    assert_int_equal(r[0].fields[COUNT], 3);
    assert_int_equal(r[1].head.tile, 1);
    assert_int_equal(r[1].fields[COUNT], 40);
    assert_int_equal(r[1].head.begin_ticks, 120);
    drop_pool(bed, pool);
}

/* ---- sleep -------------------------------------------------------------------------------- */

static void end__gpu_sleeps__has_the_totals_of_the_last_report(void **state)
{
    struct bed *bed = *state;
    struct zeta_plugin_query_pool *pool = make_pool(bed, "First");
    struct result r;

    set_time(100);
    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
    report(110, 11);
    report(150, 40);
    set_time(300);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
    set_time(10000); /* 10 ms: reports may still be on their way */
    assert_int_equal(collect(bed, pool, 0, &r), ZETA_PLUGIN_NOT_READY);
    set_time(1000000);
    assert_int_equal(await(bed, pool, 0, &r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(r.fields[COUNT], 29);
    assert_int_equal(r.head.begin_ticks, 110);
    assert_int_equal(r.head.end_ticks, 300);
    /* What comes later is not the query's. */
    report(1000100, 99);
    await_reader();
    assert_int_equal(collect(bed, pool, 0, &r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(r.fields[COUNT], 29);
    drop_pool(bed, pool);
}

static void query__in_the_middle_of_sleep__counted_nothing(void **state)
{
    struct bed *bed = *state;
    struct zeta_plugin_query_pool *pool = make_pool(bed, "First");
    struct result r;

    report(90, 5);
    await_reader();
    set_time(1000000);
    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
    set_time(2000000);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
    set_time(3000000);
    assert_int_equal(await(bed, pool, 0, &r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(r.fields[COUNT], 0);
    assert_int_equal(r.head.begin_ticks, 1000000);
    assert_int_equal(r.head.end_ticks, 2000000);
    assert_int_equal(r.head.flags, 0);
    drop_pool(bed, pool);
}

/* Without any report nobody knows what counters stand at: counting begins with the first. */
static void begin__before_any_report__waits_for_the_first(void **state)
{
    struct bed *bed = *state;
    struct zeta_plugin_query_pool *pool = make_pool(bed, "First");
    const struct timespec pause = {.tv_nsec = 30000000};
    struct result r;

    set_time(100);
    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(zeta_intel_query_begin(pool, 1), ZETA_PLUGIN_SUCCESS);
    set_time(1000000);
    (void)nanosleep(&pause, NULL); /* the thread looks several times */
    assert_int_equal(zeta_intel_query_end(pool, 1), ZETA_PLUGIN_SUCCESS);
    set_time(2000000);
    assert_int_equal(await(bed, pool, 1, &r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(r.fields[COUNT], 0);
    assert_int_equal(r.head.begin_ticks, 100);
    assert_int_equal(r.head.end_ticks, 1000000);
    report(2000010, 1000);
    set_time(2000020);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
    report(2000030, 1003);
    assert_int_equal(await(bed, pool, 0, &r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(r.fields[COUNT], 3);
    assert_int_equal(r.head.begin_ticks, 2000010);
    drop_pool(bed, pool);
}

/* ---- losses ------------------------------------------------------------------------------- */

static void loss__inside_a_query__is_marked_in_that_one_alone(void **state)
{
    struct bed *bed = *state;
    struct zeta_plugin_query_pool *pool = make_pool(bed, "First");
    struct result r;

    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
    report(100, 1);
    await_reader();
    lose_reports();
    report(200, 1000);
    report(210, 1002);
    await_reader();
    assert_int_equal(zeta_intel_query_begin(pool, 1), ZETA_PLUGIN_SUCCESS);
    report(220, 1003);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(zeta_intel_query_end(pool, 1), ZETA_PLUGIN_SUCCESS);
    report(230, 1013);
    assert_int_equal(await(bed, pool, 0, &r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(r.head.flags, ZETA_QUERY_SPLIT | ZETA_QUERY_OVERFLOW);
    assert_int_equal(r.fields[COUNT], r.head.end_ticks == 220 ? 3 : 13);
    assert_int_equal(r.fields[TICKS], r.head.end_ticks - 200);
    assert_int_equal(await(bed, pool, 1, &r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(r.head.flags, 0);
    drop_pool(bed, pool);
}

static void core_clock__changes_inside__is_marked(void **state)
{
    struct bed *bed = *state;
    struct zeta_plugin_query_pool *pool = make_pool(bed, "First");
    struct result r;

    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
    report_on(0, 100, 1, 0x80030);
    report_on(0, 110, 1, 0x80031);
    await_reader();
    set_time(115);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
    report_on(0, 120, 1, 0x80031);
    assert_int_equal(await(bed, pool, 0, &r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(r.head.flags, ZETA_QUERY_FREQUENCY);
    drop_pool(bed, pool);
}

static void stream__fails__queries_say_so_and_new_pools_too(void **state)
{
    struct bed *bed = *state;
    struct zeta_plugin_query_pool *pool = make_pool(bed, "First");
    struct zeta_plugin_query_pool *other = NULL;
    struct result r;

    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
    fail_reads(ZETA_PLUGIN_DEVICE_LOST);
    assert_int_equal(await(bed, pool, 0, &r), ZETA_PLUGIN_DEVICE_LOST);
    assert_non_null(strstr(sentence, "ended the stream"));
    assert_int_equal(zeta_intel_query_begin(pool, 1), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(zeta_intel_query_end(pool, 1), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(await(bed, pool, 1, &r), ZETA_PLUGIN_DEVICE_LOST);
    assert_int_equal(try_pool(bed, 1, "First", 1, &other), ZETA_PLUGIN_NOT_AVAILABLE);
    drop_pool(bed, pool);
    pool = make_pool(bed, "First");
    drop_pool(bed, pool);
}

/* ---- the unit ----------------------------------------------------------------------------- */

static void pool__of_another_program__says_who_has_the_unit(void **state)
{
    struct bed *bed = *state;
    struct zeta_plugin_query_pool *pool = make_pool(bed, "First");
    struct zeta_plugin_query_pool *other = NULL;

    assert_int_equal(try_pool(bed, 1, "Second", 1, &other), ZETA_PLUGIN_NOT_AVAILABLE);
    assert_non_null(strstr(sentence, "query pools of First"));
    assert_non_null(strstr(sentence, "Second"));
    /* The root needs both tiles, and takes none then. */
    assert_int_equal(try_pool(bed, 0, "Second", 1, &other), ZETA_PLUGIN_NOT_AVAILABLE);
    assert_int_equal(try_pool(bed, 2, "Second", 1, &other), ZETA_PLUGIN_SUCCESS);
    drop_pool(bed, other);
    drop_pool(bed, pool);
}

static void stream_and_pool__one_unit__exclude_each_other(void **state)
{
    struct bed *bed = *state;
    struct zeta_plugin_query_pool *pool = NULL;
    struct zeta_intel_kernel_stream *stream = NULL;
    const struct zeta_intel_stream_wish wish = {.unit = &bed->gpu.units[0],
                                                .record_bytes = REPORT_BYTES};

    assert_int_equal(zeta_intel_unit_open(&bed->gpu, &wish, "a stream of TestOa", &stream),
                     ZETA_PLUGIN_SUCCESS);
    assert_int_equal(try_pool(bed, 1, "First", 1, &pool), ZETA_PLUGIN_NOT_AVAILABLE);
    assert_non_null(strstr(sentence, "a stream of TestOa"));
    zeta_intel_unit_close(stream);
    pool = make_pool(bed, "First");
    assert_int_equal(zeta_intel_unit_open(&bed->gpu, &wish, "a stream of TestOa", &stream),
                     ZETA_PLUGIN_HANDLE_OBJECT_IN_USE);
    assert_non_null(strstr(sentence, "query pools of First"));
    drop_pool(bed, pool);
}

/* ---- periods ------------------------------------------------------------------------------ */

/* Period of the stream of a pool. */
static uint64_t period_of(struct bed *bed)
{
    struct zeta_plugin_query_pool *pool = make_pool(bed, "First");
    const uint64_t period_ns = zeta_intel_period_ns(&bed->gpu.units[0], sources[0].exponent);

    drop_pool(bed, pool);
    return period_ns;
}

static void period__by_setting__is_not_longer_than_that(void **state)
{
    struct bed *bed = *state;

    bed->gpu.units[0].timestamp_hz = 19200000;
    assert_true(period_of(bed) <= 100000 && period_of(bed) > 50000);
    (void)strcpy(setting, "1000000");
    assert_true(period_of(bed) <= 1000000 && period_of(bed) > 500000);
    (void)strcpy(setting, "often");
    assert_true(period_of(bed) <= 100000 && period_of(bed) > 50000);
    assert_non_null(strstr(sentence, "often"));
    (void)strcpy(setting, "-5");
    assert_true(period_of(bed) <= 100000);
}

/* 2^32 counts are 34 ms of 96 EUs at 1.3 GHz. */
static void period__much_wanted__never_lets_a_counter_come_around(void **state)
{
    struct bed *bed = *state;

    (void)strcpy(setting, "1000000000");
    bed->gpu.units[0].timestamp_hz = 12500000;
    bed->gpu.tiles[0].topology.eus = 96;
    bed->gpu.tiles[0].max_hz = 1300000000;
    assert_true(period_of(bed) <= 17200000 && period_of(bed) > 8600000);
    /* Nobody knows: as the largest there are. */
    bed->gpu.tiles[0].topology.eus = 0;
    bed->gpu.tiles[0].max_hz = 0;
    assert_true(period_of(bed) <= 700000);
}

static void period__kernel_allows_less__is_what_it_allows_or_there_are_no_queries(void **state)
{
    struct bed *bed = *state;
    struct zeta_plugin_limits limits = {.struct_size = sizeof(limits)};

    bed->gpu.units[0].timestamp_hz = 12500000;
    least_ns = 3000000;
    assert_true(period_of(bed) >= 3000000);
    zeta_intel_query_limits(&bed->devices[1], &bed->gpu.units[0], &limits);
    assert_int_equal(limits.no_queries.size, 0);
    assert_non_null(strstr(limits.query_note.data, "whole GPU"));
    least_ns = 1000000000; /* 4 EUs at 1 GHz come around within 1.07 s */
    memset(&limits, 0, sizeof(limits));
    zeta_intel_query_limits(&bed->devices[1], &bed->gpu.units[0], &limits);
    assert_non_null(strstr(limits.no_queries.data, "oa_max_sample_rate"));
    assert_int_equal(limits.query_note.size, 0);
}

static void period__refused_as_too_fast__is_that_for_everybody(void **state)
{
    struct bed *bed = *state;
    struct zeta_plugin_query_pool *pool = NULL;

    bed->gpu.units[0].timestamp_hz = 12500000;
    least_for_all_ns = 1000000;
    refusals = 1;
    assert_true(period_of(bed) >= 1000000);
    refusals = 2; /* it was not the period */
    assert_int_equal(try_pool(bed, 1, "First", 1, &pool), ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS);
    assert_string_equal(sentence, "too fast");
}

/* ---- life --------------------------------------------------------------------------------- */

static void end__without_a_begin__is_refused(void **state)
{
    struct bed *bed = *state;
    struct zeta_plugin_query_pool *pool = make_pool(bed, "First");
    struct result r;

    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_INVALID_ARGUMENT);
    assert_non_null(strstr(sentence, "not begun"));
    assert_int_equal(zeta_intel_query_begin(pool, 4), ZETA_PLUGIN_INVALID_ARGUMENT);
    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
    report(100, 1);
    assert_int_equal(await(bed, pool, 0, &r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_INVALID_ARGUMENT);
    drop_pool(bed, pool);
}

static void query__reset_and_begun_again__forgets(void **state)
{
    struct bed *bed = *state;
    struct zeta_plugin_query_pool *pool = make_pool(bed, "First");
    struct result r;

    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
    report(100, 1);
    assert_int_equal(await(bed, pool, 0, &r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(zeta_intel_query_reset(&bed->self, pool, 0), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(collect(bed, pool, 0, &r), ZETA_PLUGIN_NOT_READY);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_INVALID_ARGUMENT);
    set_time(200);
    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
    report(210, 5);
    await_reader();
    set_time(220);
    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(collect(bed, pool, 0, &r), ZETA_PLUGIN_NOT_READY);
    report(230, 10);
    await_reader();
    set_time(235);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
    report(240, 12);
    assert_int_equal(await(bed, pool, 0, &r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(r.fields[COUNT], 2);
    drop_pool(bed, pool);
}

static void pool__destroyed_with_pending_queries__leaves_others_alone(void **state)
{
    struct bed *bed = *state;
    struct zeta_plugin_query_pool *pools[2] = {make_pool(bed, "First"), make_pool(bed, "First")};
    struct result r;

    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(zeta_intel_query_begin(pools[i], i), ZETA_PLUGIN_SUCCESS);
        assert_int_equal(zeta_intel_query_end(pools[i], i), ZETA_PLUGIN_SUCCESS);
    }
    drop_pool(bed, pools[0]);
    report(100, 1);
    assert_int_equal(await(bed, pools[1], 1, &r), ZETA_PLUGIN_SUCCESS);
    drop_pool(bed, pools[1]);
}

static void pool__of_more_queries_than_there_is_memory_for__is_refused_or_cheap(void **state)
{
    struct bed *bed = *state;
    struct zeta_plugin_query_pool *pool = NULL;
    const uint32_t result = try_pool(bed, 1, "First", UINT32_MAX / 64, &pool);

    if (result == ZETA_PLUGIN_SUCCESS)
        drop_pool(bed, pool);
    else
        assert_int_equal(result, ZETA_PLUGIN_OUT_OF_HOST_MEMORY);
}

/* ---- threads ------------------------------------------------------------------------------ */

enum { THREADS = 4, ROUNDS = 15 };

static atomic_bool stop;

/* Counts one in each tick, and reports every ten. */
static void *tick(void *argument)
{
    const struct timespec step = {.tv_nsec = 100000};

    (void)argument;
    for (uint64_t t = 1000; !atomic_load(&stop); t += 10) {
        bool is_full;

        (void)pthread_mutex_lock(&lock);
        is_full = sources[0].count > MOST_REPORTS / 2;
        (void)pthread_mutex_unlock(&lock);
        if (!is_full)
            report(t, (uint32_t)t);
        (void)nanosleep(&step, NULL);
    }
    return NULL;
}

/* A pool of its own, used again and again: what a query counts is the time that it took. */
static void *query_often(void *argument)
{
    struct bed *bed = argument;
    uintptr_t mistakes = 0;

    for (int i = 0; i < ROUNDS; i++) {
        struct zeta_plugin_query_pool *pool = NULL;
        struct result r = {0};

        if (try_pool(bed, 1, "First", 2, &pool) != ZETA_PLUGIN_SUCCESS)
            return (void *)(uintptr_t)1000;
        mistakes += zeta_intel_query_begin(pool, 1) != ZETA_PLUGIN_SUCCESS;
        mistakes += zeta_intel_query_end(pool, 1) != ZETA_PLUGIN_SUCCESS;
        mistakes += await(bed, pool, 1, &r) != ZETA_PLUGIN_SUCCESS;
        mistakes += r.fields[COUNT] != r.head.end_ticks - r.head.begin_ticks;
        mistakes += r.fields[TICKS] != r.fields[COUNT];
        mistakes += r.head.flags != 0;
        drop_pool(bed, pool);
    }
    return (void *)mistakes;
}

static void threads__with_pools_of_their_own__count_the_same_time(void **state)
{
    struct bed *bed = *state;
    struct zeta_plugin_query_pool *pool = make_pool(bed, "First");
    pthread_t ticker, threads[THREADS];
    void *mistakes = NULL;

    atomic_store(&stop, false);
    assert_int_equal(pthread_create(&ticker, NULL, tick, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, query_often, bed), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], &mistakes), 0);
        assert_null(mistakes);
    }
    atomic_store(&stop, true);
    assert_int_equal(pthread_join(ticker, NULL), 0);
    assert_int_equal(opens, 1);
    drop_pool(bed, pool);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(query__between_reports__counts_between_the_first_ones_after),
        CASE(query__report_at_the_very_time__settles_it),
        CASE(query__longer_than_many_turns__counts_in_full),
        CASE(queries__overlapping_in_several_pools__share_a_stream),
        CASE(root__with_tiles__gives_a_record_for_each),
        CASE(end__gpu_sleeps__has_the_totals_of_the_last_report),
        CASE(query__in_the_middle_of_sleep__counted_nothing),
        CASE(begin__before_any_report__waits_for_the_first),
        CASE(loss__inside_a_query__is_marked_in_that_one_alone),
        CASE(core_clock__changes_inside__is_marked),
        CASE(stream__fails__queries_say_so_and_new_pools_too),
        CASE(pool__of_another_program__says_who_has_the_unit),
        CASE(stream_and_pool__one_unit__exclude_each_other),
        CASE(period__by_setting__is_not_longer_than_that),
        CASE(period__much_wanted__never_lets_a_counter_come_around),
        CASE(period__kernel_allows_less__is_what_it_allows_or_there_are_no_queries),
        CASE(period__refused_as_too_fast__is_that_for_everybody),
        CASE(end__without_a_begin__is_refused),
        CASE(query__reset_and_begun_again__forgets),
        CASE(pool__destroyed_with_pending_queries__leaves_others_alone),
        CASE(pool__of_more_queries_than_there_is_memory_for__is_refused_or_cheap),
        CASE(threads__with_pools_of_their_own__count_the_same_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
