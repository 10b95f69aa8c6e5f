/* Queries: what they count, their life, and what becomes of them when work fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "bench.h"
#include "kernel_file.h"
#include "queries.h"
#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/* Counters by their place in a report. */
enum {
    CLOCKS = QUERY_A + 0,
    BUSY_CLOCKS = QUERY_A + 1,
    EU_ACTIVE = QUERY_A + 2,
    EU_STALL = QUERY_A + 3,
    RETIRED = QUERY_A + 5,
    FP32 = QUERY_A + 7,
    FP_OPS = QUERY_A + 9,
    ATOMICS = QUERY_A + 14,
    BARRIERS = QUERY_A + 16,
    GLOBAL_READ = QUERY_A + 18,
    STORED = QUERY_A + 19,
    SLM_READ = QUERY_A + 21,
    SLM_WRITTEN = QUERY_A + 22,
    COPIED = QUERY_A + 31,
    THREADS = QUERY_A + 32,
    GROUPS = QUERY_A + 33,
    KERNELS = QUERY_A + 34
};

static void assert_matmul(const struct query_record *record, uint64_t n)
{
    assert_int_equal(record->fields[FP32], 2 * n * n * n);
    assert_int_equal(record->fields[FP_OPS], 2 * n * n * n);
    assert_int_equal(record->fields[BARRIERS], n * n * n / 8);
    /* With the arguments, 28 bytes for each work-item. */
    assert_int_equal(record->fields[GLOBAL_READ], 4 * 2 * n * n * n / 16 + 28 * n * n);
    assert_int_equal(record->fields[STORED], 4 * n * n);
    assert_int_equal(record->fields[SLM_READ], 4 * 2 * n * n * n);
    assert_int_equal(record->fields[SLM_WRITTEN], 4 * 2 * n * n * n / 16);
    assert_int_equal(record->fields[THREADS], n * n);
    assert_int_equal(record->fields[GROUPS], n * n / 256);
    assert_int_equal(record->fields[KERNELS], 1);
    assert_int_equal(record->fields[COPIED], 0);
    /* 4 subslices of 32 EUs: no EU is busy in more clocks than there were. */
    assert_cmp(record->fields[EU_ACTIVE], >, 0);
    assert_cmp(record->fields[EU_ACTIVE] + record->fields[EU_STALL], <=,
               record->fields[CLOCKS] * 128);
}

static void matmul__between_begin_and_end__closed_formulas_hold(void **state)
{
    static const struct host_setting settings[4][3] = {
        {{"workers", "1"}, {NULL, NULL}, {NULL, NULL}},
        {{"workers", "3"}, {NULL, NULL}, {NULL, NULL}},
        {{"workers", "1"}, {"clock", "virtual"}, {NULL, NULL}},
        {{"workers", "4"}, {"clock", "virtual"}, {NULL, NULL}}};

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        for (uint32_t size = 16; size <= 64; size *= 2) {
            struct bench bench;
            struct zeta_plugin_query_pool *pool;
            struct zeta_plugin_command commands[5];
            struct query_record record;

            bench_open(&bench, settings[i]);
            pool = query_pool(&bench.host, 3, NULL);
            commands[0] = bench_count(&bench, 33);
            commands[1] = query_begin(pool, 1);
            commands[2] = bench_matmul(&bench, size);
            commands[3] = query_end(pool, 1);
            commands[4] = commands[0];
            bench_run(&bench, commands, 5);
            record = query_result(&bench.host, pool, 1);
            assert_matmul(&record, size);
            assert_int_equal(record.header.flags, 0);
            bench.host.metric->query_pool_destroy(bench.host.self, pool);
            bench_close(&bench);
        }
    }
}

static void virtual_time__any_number_of_workers__same_records(void **state)
{
    static const struct host_setting settings[2][3] = {
        {{"workers", "1"}, {"clock", "virtual"}, {NULL, NULL}},
        {{"workers", "4"}, {"clock", "virtual"}, {NULL, NULL}}};
    struct query_record records[2];

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct bench bench;
        struct zeta_plugin_query_pool *pool;
        struct zeta_plugin_command commands[4];

        bench_open(&bench, settings[i]);
        pool = query_pool(&bench.host, 1, NULL);
        commands[0] = query_begin(pool, 0);
        commands[1] = bench_matmul(&bench, 64);
        commands[2] = host_copy(bench.counter, bench.arguments.product, 4096);
        commands[3] = query_end(pool, 0);
        bench_run(&bench, commands, 4);
        records[i] = query_result(&bench.host, pool, 0);
        /* Nothing but the queue's own work makes time pass. */
        assert_int_equal(records[i].fields[CLOCKS], records[i].fields[BUSY_CLOCKS]);
        bench_close(&bench);
    }
    assert_memory_equal(&records[0], &records[1], sizeof(records[0]));
}

static void nothing__between_begin_and_end__only_time_passed(void **state)
{
    struct bench *bench = *state;
    struct zeta_plugin_query_pool *pool = query_pool(&bench->host, 1, NULL);
    const struct zeta_plugin_command commands[] = {bench_count(bench, 5), query_begin(pool, 0),
                                                   query_end(pool, 0), bench_count(bench, 5)};
    struct query_record record;

    bench_run(bench, commands, 4);
    record = query_result(&bench->host, pool, 0);
    for (uint32_t i = CLOCKS; i < QUERY_FIELDS; i++)
        assert_int_equal(record.fields[i], 0);
    assert_cmp(record.header.time_ns, >, 0);
    assert_int_equal(record.header.flags, 0);
}

/* One thread is executed faster than a thread of the device runs, so the launch waits for the
 * clock. Rule 21.9. */
static void one_thread__any_clock__no_faster_than_the_nominal_one(void **state)
{
    static const struct host_setting settings[2][2] = {{{"clock", "wall"}, {NULL, NULL}},
                                                       {{"clock", "virtual"}, {NULL, NULL}}};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct bench bench;
        struct zeta_plugin_kernel *spin;
        struct zeta_plugin_query_pool *pool;
        struct zeta_plugin_command commands[3];
        struct query_record record;
        struct {
            void *out;
            uint32_t rounds, unused;
        } arguments;

        bench_open(&bench, settings[i]);
        spin = kernel_create(&bench.host, bench.module, "spin");
        pool = query_pool(&bench.host, 1, NULL);
        arguments.out = bench.counter;
        arguments.rounds = 100000;
        commands[0] = query_begin(pool, 0);
        commands[1] = kernel_launch(spin, &arguments, 1, 1);
        commands[2] = query_end(pool, 0);
        bench_run(&bench, commands, 3);
        record = query_result(&bench.host, pool, 0);
        assert_cmp(record.fields[CLOCKS], >, 100000);
        assert_cmp(record.fields[CLOCKS], <=, record.header.time_ns);
        bench.host.compute->kernel_destroy(bench.host.self, spin);
        bench_close(&bench);
    }
}

/* Rule 12.19. */
static void copies__of_each_kind__counted_by_the_byte(void **state)
{
    struct bench *bench = *state;
    struct zeta_plugin_query_pool *pool = query_pool(&bench->host, 2, NULL);
    uint8_t *memory = host_allocate(&bench->host, 1u << 20);
    const uint32_t pattern = 7;
    struct zeta_plugin_command commands[] = {query_begin(pool, 0),
                                             host_copy(memory, memory + 4096, 999),
                                             query_begin(pool, 1),
                                             host_command(ZETA_PLUGIN_COMMAND_FILL),
                                             query_end(pool, 1),
                                             host_copy(memory, memory + 4096, 0),
                                             host_command(ZETA_PLUGIN_COMMAND_TIMESTAMP),
                                             query_end(pool, 0)};
    struct query_record record;

    commands[3].u.fill = (struct zeta_plugin_fill){memory, &pattern, sizeof(pattern), 102};
    commands[6].u.timestamp = (uint64_t *)(void *)memory;
    bench_run(bench, commands, 8);
    record = query_result(&bench->host, pool, 0);
    assert_int_equal(record.fields[COPIED], 999 + 102);
    assert_int_equal(record.fields[KERNELS], 0);
    assert_int_equal(record.fields[BUSY_CLOCKS], 16 + 2);
    record = query_result(&bench->host, pool, 1);
    assert_int_equal(record.fields[COPIED], 102);
}

/* Rule 12.19. */
static void overlapping__one_for_each_launch__add_up_to_the_one_around_all(void **state)
{
    enum { LAUNCHES = 20 };
    struct bench *bench = *state;
    struct zeta_plugin_query_pool *pool = query_pool(&bench->host, LAUNCHES + 2, NULL);
    struct zeta_plugin_command commands[3 * LAUNCHES + 4];
    struct query_record all, late, one;
    uint64_t sums[QUERY_FIELDS] = {0};
    uint64_t used = 0;

    commands[used++] = query_begin(pool, LAUNCHES);
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        commands[used++] = query_begin(pool, i);
        commands[used++] = bench_count(bench, i);
        commands[used++] = query_end(pool, i);
        if (i == 10) /* begins in the middle and ends behind all */
            commands[used++] = query_begin(pool, LAUNCHES + 1);
    }
    commands[used++] = query_end(pool, LAUNCHES);
    commands[used++] = query_end(pool, LAUNCHES + 1);
    bench_run(bench, commands, used);

    for (uint32_t i = 0; i < LAUNCHES; i++) {
        one = query_result(&bench->host, pool, i);
        assert_int_equal(one.fields[GROUPS], i);
        assert_int_equal(one.fields[ATOMICS], 16 * i);
        for (uint32_t f = 0; f < QUERY_FIELDS; f++)
            sums[f] += one.fields[f];
    }
    all = query_result(&bench->host, pool, LAUNCHES);
    for (uint32_t i = BUSY_CLOCKS; i < QUERY_FIELDS; i++)
        assert_int_equal(all.fields[i], sums[i]);
    assert_cmp(all.header.time_ns, >=, sums[1] * 40);
    late = query_result(&bench->host, pool, LAUNCHES + 1);
    assert_int_equal(late.fields[KERNELS], LAUNCHES - 11);
}

static void begin_and_end__in_different_submissions__count_what_lies_between(void **state)
{
    struct bench *bench = *state;
    struct zeta_plugin_query_pool *pool = query_pool(&bench->host, 1, NULL);
    const struct zeta_plugin_command begin[] = {bench_count(bench, 1), query_begin(pool, 0)};
    const struct zeta_plugin_command work[] = {bench_count(bench, 10), bench_count(bench, 20)};
    const struct zeta_plugin_command end[] = {bench_count(bench, 40), query_end(pool, 0),
                                              bench_count(bench, 80)};
    struct query_record record;

    assert_int_equal(bench->host.metric->query_collect(bench->host.self, pool, 0, &record),
                     ZETA_PLUGIN_NOT_READY);
    bench_run(bench, begin, 2);
    assert_int_equal(bench->host.metric->query_collect(bench->host.self, pool, 0, &record),
                     ZETA_PLUGIN_NOT_READY);
    bench_run(bench, work, 2);
    assert_int_equal(bench->host.metric->query_collect(bench->host.self, pool, 0, &record),
                     ZETA_PLUGIN_NOT_READY);
    bench_run(bench, end, 3);
    record = query_result(&bench->host, pool, 0);
    assert_int_equal(record.fields[GROUPS], 70);
    /* A result is read as often as somebody likes, and is gone with the reset. */
    assert_int_equal(query_result(&bench->host, pool, 0).fields[GROUPS], 70);
    assert_int_equal(bench->host.metric->query_reset(bench->host.self, pool, 0), 0);
    assert_int_equal(bench->host.metric->query_collect(bench->host.self, pool, 0, &record),
                     ZETA_PLUGIN_NOT_READY);
}

static void again__without_reset__each_run_gives_its_own_numbers(void **state)
{
    struct bench *bench = *state;
    struct zeta_plugin_query_pool *pool = query_pool(&bench->host, 1, NULL);
    uint64_t last_end = 0;

    for (uint32_t i = 0; i < 100; i++) {
        const struct zeta_plugin_command commands[] = {
            query_begin(pool, 0), bench_count(bench, i % 7), query_end(pool, 0)};
        struct query_record record;

        bench_run(bench, commands, 3);
        record = query_result(&bench->host, pool, 0);
        assert_int_equal(record.fields[GROUPS], i % 7);
        assert_int_equal(record.fields[KERNELS], 1);
        assert_cmp(record.header.begin_ticks, >=, last_end);
        last_end = record.header.begin_ticks;
    }
}

static void selections__of_each_kind__apply(void **state)
{
    static const char *const program[] = {"B0=counter:GroupsDispatched",
                                          "B1=counter:GroupsDispatched@subslice=0",
                                          "B2=counter:GroupsDispatched@subslice=1",
                                          "B3=counter:GroupsDispatched@subslice=2",
                                          "B4=counter:GroupsDispatched@subslice=3",
                                          "B5=counter:InstRetired@slice=0",
                                          "B6=counter:InstRetired@slice=1",
                                          "C0=ticks/4",
                                          "C1=reports",
                                          "C2=constant:17",
                                          "C3=counter:CopyBytes",
                                          "switches",
                                          NULL};
    struct bench *bench = *state;
    struct zeta_plugin_query_pool *pool = query_pool(&bench->host, 1, program);
    const struct zeta_plugin_command commands[] = {
        bench_count(bench, 3), query_begin(pool, 0), bench_count(bench, 10),
        host_copy(bench->counter, bench->counter + 64, 64), query_end(pool, 0)};
    struct query_record record;

    bench_run(bench, commands, 5);
    record = query_result(&bench->host, pool, 0);
    assert_int_equal(record.fields[QUERY_B + 0], 10);
    assert_int_equal(record.fields[QUERY_B + 1], 3);
    assert_int_equal(record.fields[QUERY_B + 2], 3);
    assert_int_equal(record.fields[QUERY_B + 3], 2);
    assert_int_equal(record.fields[QUERY_B + 4], 2);
    assert_int_equal(record.fields[QUERY_B + 5] + record.fields[QUERY_B + 6],
                     record.fields[RETIRED]);
    assert_cmp(record.fields[QUERY_B + 5], >, record.fields[QUERY_B + 6]);
    assert_int_equal(record.fields[QUERY_C + 0],
                     record.header.end_ticks / 4 - record.header.begin_ticks / 4);
    assert_int_equal(record.fields[QUERY_C + 1], 1);
    assert_int_equal(record.fields[QUERY_C + 2], 17);
    assert_int_equal(record.fields[QUERY_C + 3], 64);
}

static void selections__bad__pool_refused_by_name(void **state)
{
    static const char *const unknown[] = {"B0=counter:Nothing", NULL};
    static const char *const outside[] = {"B0=counter:InstRetired@subslice=4", NULL};
    static const char *const events[] = {"B0=events:written@work", NULL};
    struct bench *bench = *state;
    struct host *host = &bench->host;
    struct zeta_plugin_query_pool *pool = NULL;

    assert_int_equal(query_pool_try(host, host->device, 1, unknown, &pool),
                     ZETA_PLUGIN_INVALID_ARGUMENT);
    assert_non_null(strstr(host_error(host), "counter:Nothing"));
    assert_int_equal(query_pool_try(host, host->device, 1, outside, &pool),
                     ZETA_PLUGIN_INVALID_ARGUMENT);
    assert_non_null(strstr(host_error(host), "fewer subslices"));
    assert_int_equal(query_pool_try(host, host->device, 1, events, &pool),
                     ZETA_PLUGIN_INVALID_ARGUMENT);
    assert_non_null(strstr(host_error(host), "whole device"));
}

static void refused(struct host *host, const struct zeta_plugin_query_desc *desc, const char *word)
{
    struct zeta_plugin_query_pool *pool = NULL;

    assert_int_equal(host->metric->query_pool_create(host->self, host->device, desc, &pool),
                     ZETA_PLUGIN_INVALID_ARGUMENT);
    assert_null(pool);
    if (!strstr(host_error(host), word))
        fail_msg("'%s' does not say '%s'", host_error(host), word);
}

static void description__that_fits_no_report__pool_refused_with_the_reason(void **state)
{
    struct host *host = &((struct bench *)*state)->host;
    struct zeta_plugin_query_field fields[QUERY_FIELDS];
    struct zeta_plugin_query_desc desc = query_desc(1);

    desc.count = 0;
    refused(host, &desc, "room for one");
    desc = query_desc(1);
    desc.record_bytes -= 8;
    refused(host, &desc, "496");
    desc = query_desc(1);
    desc.report_bytes = 192;
    refused(host, &desc, "192");
    desc = query_desc(1);
    desc.unit = host_string("ao");
    refused(host, &desc, "no counting unit 'ao'");
    desc = query_desc(1);
    desc.unit = host_string("ip");
    refused(host, &desc, "no queries");

    desc = query_desc(1);
    memcpy(fields, desc.fields.data, sizeof(fields));
    desc.fields.data = fields;
    fields[QUERY_A + 3].low_width = 16; /* a part of a count has no 64 bits */
    refused(host, &desc, "field A (index 3)");
    fields[QUERY_A + 3].low_width = 32;
    fields[QUERY_A + 3].high_bit += 8;
    refused(host, &desc, "field A (index 3)");
    fields[QUERY_A + 3].high_bit -= 8;
    fields[QUERY_B].low_bit = 160 * 8;
    refused(host, &desc, "field B (index 0)");
    fields[QUERY_B].low_bit = 256 * 8;
    refused(host, &desc, "field B (index 0)");
    fields[QUERY_B].low_bit = UINT32_MAX;
    refused(host, &desc, "field B (index 0)");
    fields[QUERY_B].low_bit = 192 * 8;
    fields[0].is_float = 1;
    refused(host, &desc, "field report_id");
}

static void misuse__of_begin_and_end__refused_and_harmless(void **state)
{
    struct bench *bench = *state;
    struct host *host = &bench->host;
    struct zeta_plugin_query_pool *pool = query_pool(host, 2, NULL);
    struct zeta_plugin_queue *other = host_queue(host, 0);
    struct zeta_plugin_command begin = query_begin(pool, 0), end = query_end(pool, 0);
    const struct zeta_plugin_command outside[] = {query_begin(pool, 2), query_end(pool, 2)};
    struct query_record record;

    /* No begin; an index that is none; another queue. The queue stays usable each time. */
    assert_int_equal(host_run(host, bench->queue, &end, 1), ZETA_PLUGIN_INVALID_ARGUMENT);
    assert_non_null(strstr(host_error(host), "not begun"));
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(host_run(host, bench->queue, &outside[i], 1),
                         ZETA_PLUGIN_INVALID_ARGUMENT);
        assert_non_null(strstr(host_error(host), "no query 2"));
    }
    bench_run(bench, &begin, 1);
    assert_int_equal(host_run(host, other, &end, 1), ZETA_PLUGIN_INVALID_ARGUMENT);
    bench_run(bench, &end, 1);
    assert_int_equal(host_run(host, bench->queue, &end, 1), ZETA_PLUGIN_INVALID_ARGUMENT);
    (void)query_result(host, pool, 0);
    assert_int_equal(host->metric->query_collect(host->self, pool, 2, &record),
                     ZETA_PLUGIN_INVALID_ARGUMENT);
    assert_int_equal(host->metric->query_reset(host->self, pool, 2), ZETA_PLUGIN_INVALID_ARGUMENT);

    /* Begun once more on another queue: the first begin is forgotten. */
    bench_run(bench, &begin, 1);
    assert_int_equal(host_run(host, other, &begin, 1), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(host_run(host, bench->queue, &end, 1), ZETA_PLUGIN_INVALID_ARGUMENT);
    assert_int_equal(host_run(host, other, &end, 1), ZETA_PLUGIN_SUCCESS);
    (void)query_result(host, pool, 0);
    host->compute->queue_destroy(host->self, other);
}

static void fault__between_begin_and_end__device_lost_until_reset(void **state)
{
    struct bench *bench = *state;
    struct host *host = &bench->host;
    struct zeta_plugin_kernel *wild = kernel_create(host, bench->module, "wild");
    struct zeta_plugin_query_pool *pool = query_pool(host, 3, NULL);
    const struct zeta_plugin_command commands[] = {
        query_begin(pool, 0), bench_count(bench, 4), query_end(pool, 0),
        query_begin(pool, 1), bench_count(bench, 4), kernel_launch(wild, NULL, 1, 1),
        query_end(pool, 1)};
    const struct zeta_plugin_command again[] = {query_begin(pool, 1), bench_count(bench, 6),
                                                query_end(pool, 1)};
    struct query_record record;

    assert_int_equal(host_run(host, bench->queue, commands, 7), ZETA_PLUGIN_DEVICE_LOST);
    assert_int_equal(query_result(host, pool, 0).fields[GROUPS], 4);
    assert_int_equal(host->metric->query_collect(host->self, pool, 1, &record),
                     ZETA_PLUGIN_DEVICE_LOST);
    assert_non_null(strstr(host_error(host), "query 1 of set Test"));
    assert_int_equal(host->metric->query_collect(host->self, pool, 2, &record),
                     ZETA_PLUGIN_NOT_READY);

    host->compute->queue_destroy(host->self, bench->queue);
    assert_int_equal(host->metric->query_collect(host->self, pool, 1, &record),
                     ZETA_PLUGIN_DEVICE_LOST);
    assert_int_equal(host->metric->query_reset(host->self, pool, 1), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(host->metric->query_collect(host->self, pool, 1, &record),
                     ZETA_PLUGIN_NOT_READY);
    bench->queue = host_queue(host, 0);
    bench_run(bench, again, 3);
    assert_int_equal(query_result(host, pool, 1).fields[GROUPS], 6);
    host->compute->kernel_destroy(host->self, wild);
}

/* Rule 12.20. */
static void queue__destroyed_under_an_open_query__device_lost(void **state)
{
    struct bench *bench = *state;
    struct host *host = &bench->host;
    struct zeta_plugin_kernel *endless = kernel_create(host, bench->module, "endless");
    struct zeta_plugin_query_pool *pool = query_pool(host, 2, NULL);
    struct zeta_plugin_queue *idle = host_queue(host, 0);
    struct zeta_plugin_command begin = query_begin(pool, 0);
    const struct zeta_plugin_command busy[] = {
        query_begin(pool, 1), kernel_launch(endless, &bench->counter, 1, 1), query_end(pool, 1)};
    struct query_record record;
    struct host_work work;

    assert_int_equal(host_run(host, idle, &begin, 1), ZETA_PLUGIN_SUCCESS);
    host->compute->queue_destroy(host->self, idle);
    assert_int_equal(host->metric->query_collect(host->self, pool, 0, &record),
                     ZETA_PLUGIN_DEVICE_LOST);

    assert_int_equal(host_submit(host, bench->queue, busy, 3, &work), ZETA_PLUGIN_SUCCESS);
    kernel_wait_for((const _Atomic uint32_t *)bench->counter);
    assert_int_equal(host->metric->query_collect(host->self, pool, 1, &record),
                     ZETA_PLUGIN_NOT_READY);
    host->compute->queue_destroy(host->self, bench->queue);
    bench->queue = NULL;
    assert_int_equal(host_wait(&work), ZETA_PLUGIN_DEVICE_LOST);
    assert_int_equal(host->metric->query_collect(host->self, pool, 1, &record),
                     ZETA_PLUGIN_DEVICE_LOST);
    host->compute->kernel_destroy(host->self, endless);
    host->metric->query_pool_destroy(host->self, pool);
}

/* A failure that is no fault ends the submission; the query stays open and can be ended. */
static void refused_launch__between_begin_and_end__query_stays_open(void **state)
{
    struct bench *bench = *state;
    struct zeta_plugin_query_pool *pool = query_pool(&bench->host, 1, NULL);
    struct zeta_plugin_command commands[] = {query_begin(pool, 0), bench_count(bench, 2),
                                             bench_count(bench, 1), query_end(pool, 0)};
    struct query_record record;

    commands[2].u.launch.group_size[0] = 100000;
    assert_int_equal(host_run(&bench->host, bench->queue, commands, 4),
                     ZETA_PLUGIN_INVALID_ARGUMENT);
    assert_int_equal(bench->host.metric->query_collect(bench->host.self, pool, 0, &record),
                     ZETA_PLUGIN_NOT_READY);
    bench_run(bench, &commands[3], 1);
    assert_int_equal(query_result(&bench->host, pool, 0).fields[GROUPS], 2);
}

static void cooperative__launch__counted_as_any_other(void **state)
{
    struct bench *bench = *state;
    struct zeta_plugin_query_pool *pool = query_pool(&bench->host, 1, NULL);
    struct zeta_plugin_command commands[] = {query_begin(pool, 0), bench_count(bench, 9),
                                             query_end(pool, 0)};

    commands[1].flags = ZETA_PLUGIN_COMMAND_COOPERATIVE;
    bench_run(bench, commands, 3);
    assert_int_equal(query_result(&bench->host, pool, 0).fields[GROUPS], 9);
}

static void collect_tiles(struct host *host, struct zeta_plugin_query_pool *pool,
                          struct query_record out_records[2])
{
    memset(out_records, 0xee, 2 * sizeof(*out_records));
    assert_int_equal(host->metric->query_collect(host->self, pool, 0, out_records), 0);
    for (uint32_t tile = 0; tile < 2; tile++) {
        assert_int_equal(out_records[tile].header.size_bytes, sizeof(struct query_record));
        assert_int_equal(out_records[tile].header.tile, tile);
        assert_int_equal(out_records[tile].header.begin_ticks, out_records[0].header.begin_ticks);
        assert_int_equal(out_records[tile].header.end_ticks, out_records[0].header.end_ticks);
    }
}

static void tiles__root_pool__a_record_each_and_only_one_that_worked(void **state)
{
    static const struct host_setting settings[] = {{"tiles", "2"}, {NULL, NULL}};
    static const char *const program[] = {"B0=counter:GroupsDispatched@subslice=0", NULL};
    struct zeta_plugin_query_pool *pool = NULL, *of_tile = NULL;
    struct zeta_plugin_device *devices[3];
    const struct zeta_plugin_queue_desc desc = {.struct_size = sizeof(desc)};
    struct zeta_plugin_queue *queues[2];
    struct query_record records[2];
    struct bench bench;
    struct host *host = &bench.host;
    uint32_t found = 0;

    (void)state;
    bench_open(&bench, settings);
    assert_int_equal(host->device_ops->enumerate(host->self, 3, devices, &found), 0);
    assert_int_equal(found, 3);
    assert_int_equal(query_pool_try(host, devices[0], 1, program, &pool), 0);
    assert_int_equal(query_pool_try(host, devices[2], 1, program, &of_tile), 0);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(host->compute->queue_create(host->self, devices[1 + i], &desc, &queues[i]),
                         0);
    for (uint32_t worker = 0; worker < 2; worker++) {
        const struct zeta_plugin_command commands[] = {query_begin(pool, 0), bench_count(&bench, 8),
                                                       query_end(pool, 0)};

        assert_int_equal(host_run(host, queues[worker], commands, 3), 0);
        collect_tiles(host, pool, records);
        assert_int_equal(records[worker].fields[GROUPS], 8);
        assert_int_equal(records[worker].fields[QUERY_B], 2);
        for (uint32_t i = CLOCKS; i < QUERY_FIELDS; i++)
            assert_int_equal(records[!worker].fields[i], 0);
    }
    for (uint32_t worker = 0; worker < 2; worker++) {
        const struct zeta_plugin_command commands[] = {
            query_begin(of_tile, 0), bench_count(&bench, 8), query_end(of_tile, 0)};

        assert_int_equal(host_run(host, queues[worker], commands, 3), 0);
        assert_int_equal(query_result(host, of_tile, 0).fields[GROUPS], worker == 1 ? 8 : 0);
        host->compute->queue_destroy(host->self, queues[worker]);
    }
    bench_close(&bench);
}

static void pools__of_many_sizes__live_side_by_side(void **state)
{
    struct bench *bench = *state;
    struct zeta_plugin_query_pool *pools[300];

    for (uint32_t i = 0; i < 300; i++)
        pools[i] = query_pool(&bench->host, i % 100 == 0 ? 1024 : 1, NULL);
    for (uint32_t i = 0; i < 300; i++) {
        const uint32_t index = i % 100 == 0 ? 1023 : 0;
        const struct zeta_plugin_command commands[] = {
            query_begin(pools[i], index), bench_count(bench, i), query_end(pools[i], index)};

        bench_run(bench, commands, 3);
    }
    for (uint32_t i = 0; i < 300; i++) {
        const uint32_t index = i % 100 == 0 ? 1023 : 0;

        assert_int_equal(query_result(&bench->host, pools[i], index).fields[GROUPS], i);
        /* The others are the host's business: the plugin frees them in the end. */
        if (i % 2)
            bench->host.metric->query_pool_destroy(bench->host.self, pools[i]);
    }
}

/* Kilobytes that the process had in memory at most. */
static long most_memory(void)
{
    struct rusage usage;

    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

/* Queries that nobody uses cost addresses, and no memory: neither made nor destroyed. */
static void pool__of_a_million__takes_memory_only_for_what_is_used(void **state)
{
    struct bench *bench = *state;
    const long before = most_memory();
    struct zeta_plugin_query_pool *pool = query_pool(&bench->host, 1u << 20, NULL);
    const struct zeta_plugin_command commands[] = {query_begin(pool, 1000000),
                                                   bench_count(bench, 3), query_end(pool, 1000000)};

    bench_run(bench, commands, 3);
    assert_int_equal(query_result(&bench->host, pool, 1000000).fields[GROUPS], 3);
    bench->host.metric->query_pool_destroy(bench->host.self, pool);
    if (!NO_MEMORY_FIGURES)
        assert_in_range(most_memory() - before, 0, 32 * 1024);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, bench_setup, bench_teardown)

SUITE(query)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matmul__between_begin_and_end__closed_formulas_hold),
        cmocka_unit_test(virtual_time__any_number_of_workers__same_records),
        WITH(nothing__between_begin_and_end__only_time_passed),
        cmocka_unit_test(one_thread__any_clock__no_faster_than_the_nominal_one),
        WITH(copies__of_each_kind__counted_by_the_byte),
        WITH(overlapping__one_for_each_launch__add_up_to_the_one_around_all),
        WITH(begin_and_end__in_different_submissions__count_what_lies_between),
        WITH(again__without_reset__each_run_gives_its_own_numbers),
        WITH(selections__of_each_kind__apply),
        WITH(selections__bad__pool_refused_by_name),
        WITH(description__that_fits_no_report__pool_refused_with_the_reason),
        WITH(misuse__of_begin_and_end__refused_and_harmless),
        WITH(fault__between_begin_and_end__device_lost_until_reset),
        WITH(queue__destroyed_under_an_open_query__device_lost),
        WITH(refused_launch__between_begin_and_end__query_stays_open),
        WITH(cooperative__launch__counted_as_any_other),
        cmocka_unit_test(tiles__root_pool__a_record_each_and_only_one_that_worked),
        WITH(pools__of_many_sizes__live_side_by_side),
        WITH(pool__of_a_million__takes_memory_only_for_what_is_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
