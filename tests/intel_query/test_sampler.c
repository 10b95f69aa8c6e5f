/*
 * Queries of a whole GPU against a kernel that the test plays: what they count between which
 * reports, losses, the unit, periods.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "plugins/intel/query/query.h"
#include "plugins/intel/query/sampler.h"
#include "tests/intel/sampler_bed.h"
#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/* ---- what is counted ---------------------------------------------------------------------- */

/* Rule 26.24. */
static void query__between_reports__counts_between_the_first_ones_after(void **state)
{
    struct sampler_bed *bed = *state;
    struct zeta_plugin_query_pool *pool = sampler_bed_pool(bed, "First");
    struct sampler_record r;

    scripted_report(90, 9);
    scripted_set_time(100);
    assert_int_equal(sampler_bed_collect(bed, pool, 0, &r), ZETA_PLUGIN_NOT_READY);
    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
    scripted_report(110, 11);
    scripted_report(150, 15);
    scripted_set_time(160);
    assert_int_equal(sampler_bed_collect(bed, pool, 0, &r), ZETA_PLUGIN_NOT_READY);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(sampler_bed_collect(bed, pool, 0, &r), ZETA_PLUGIN_NOT_READY);
    scripted_report(165, 26);
    scripted_report(200, 90);
    assert_int_equal(sampler_bed_await(bed, pool, 0, &r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(r.head.size_bytes, RECORD_BYTES);
    assert_int_equal(r.head.begin_ticks, 110);
    assert_int_equal(r.head.end_ticks, 165);
    assert_int_equal(r.head.time_ns, 55000);
    assert_int_equal(r.head.flags, 0);
    assert_int_equal(r.fields[TICKS], 55);
    assert_int_equal(r.fields[COUNT], 15);
    assert_int_equal(r.fields[ID], 0x80000);
    sampler_bed_drop(bed, pool);
}

static void query__report_at_the_very_time__settles_it(void **state)
{
    struct sampler_bed *bed = *state;
    struct zeta_plugin_query_pool *pool = sampler_bed_pool(bed, "First");
    struct sampler_record r;

    scripted_set_time(100);
    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
    scripted_report(100, 1);
    scripted_set_time(130);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
    scripted_report(130, 4);
    assert_int_equal(sampler_bed_await(bed, pool, 0, &r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(r.head.begin_ticks, 100);
    assert_int_equal(r.fields[COUNT], 3);
    sampler_bed_drop(bed, pool);
}

/* 3 000 000 000 each time: two reports are never a whole turn apart, the query is many. */
static void query__longer_than_many_turns__counts_in_full(void **state)
{
    struct sampler_bed *bed = *state;
    struct zeta_plugin_query_pool *pool = sampler_bed_pool(bed, "First");
    uint64_t ticks = 1000, count = 7;
    struct sampler_record r;

    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
    for (int i = 0; i < 100; i++, ticks += 2000000000, count += 3000000000) {
        scripted_report(ticks, (uint32_t)count);
        scripted_await_reader();
    }
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
    scripted_report(ticks, (uint32_t)count);
    assert_int_equal(sampler_bed_await(bed, pool, 0, &r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(r.fields[COUNT], UINT64_C(300000000000));
    assert_int_equal(r.fields[TICKS], UINT64_C(200000000000));
    assert_int_equal(r.head.end_ticks - r.head.begin_ticks, UINT64_C(200000000000));
    sampler_bed_drop(bed, pool);
}

static void queries__overlapping_in_several_pools__share_a_stream(void **state)
{
    struct sampler_bed *bed = *state;
    struct zeta_plugin_query_pool *pools[2] = {sampler_bed_pool(bed, "First"),
                                               sampler_bed_pool(bed, "First")};
    struct sampler_record r;

    scripted_report(60, 100);
    for (uint32_t i = 0; i < 4; i++) {
        scripted_set_time(70 + 10 * i);
        assert_int_equal(zeta_intel_query_begin(pools[i % 2], i), ZETA_PLUGIN_SUCCESS);
        scripted_report(75 + 10 * i, 200 + i);
    }
    for (uint32_t i = 0; i < 4; i++) {
        scripted_set_time(150 + 10 * i);
        assert_int_equal(zeta_intel_query_end(pools[i % 2], i), ZETA_PLUGIN_SUCCESS);
        scripted_report(155 + 10 * i, 1000 * (i + 1));
    }
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(sampler_bed_await(bed, pools[i % 2], i, &r), ZETA_PLUGIN_SUCCESS);
        assert_int_equal(r.fields[COUNT], 1000 * (i + 1) - (200 + i));
        assert_int_equal(r.head.begin_ticks, 75 + 10 * i);
    }
    assert_int_equal(scripted.opens, 1);
    sampler_bed_drop(bed, pools[0]);
    assert_true(scripted.sources[0].is_open);
    sampler_bed_drop(bed, pools[1]);
}

static void root__with_tiles__gives_a_record_for_each(void **state)
{
    struct sampler_bed *bed = *state;
    struct zeta_plugin_query_pool *pool = NULL;
    struct sampler_record r[SCRIPTED_TILES];

    assert_int_equal(sampler_bed_try_pool(bed, 0, "First", 1, &pool), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(scripted.opens, 2);
    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
    scripted_report_on(0, 100, 1, 0);
    scripted_report_on(1, 120, 10, 0);
    scripted_set_time(150);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
    scripted_report_on(0, 200, 4, 0);
    assert_int_equal(sampler_bed_collect(bed, pool, 0, r), ZETA_PLUGIN_NOT_READY);
    scripted_report_on(1, 220, 50, 0);
    assert_int_equal(sampler_bed_await(bed, pool, 0, r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(r[0].head.tile, 0);
    assert_int_equal(r[0].fields[COUNT], 3);
    assert_int_equal(r[1].head.tile, 1);
    assert_int_equal(r[1].fields[COUNT], 40);
    assert_int_equal(r[1].head.begin_ticks, 120);
    sampler_bed_drop(bed, pool);
}

/* ---- sleep -------------------------------------------------------------------------------- */

/* Rule 26.26. */
static void end__gpu_sleeps__has_the_totals_of_the_last_report(void **state)
{
    struct sampler_bed *bed = *state;
    struct zeta_plugin_query_pool *pool = sampler_bed_pool(bed, "First");
    struct sampler_record r;

    scripted_set_time(100);
    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
    scripted_report(110, 11);
    scripted_report(150, 40);
    scripted_set_time(300);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
    scripted_set_time(10000); /* 10 ms: reports may still be on their way */
    assert_int_equal(sampler_bed_collect(bed, pool, 0, &r), ZETA_PLUGIN_NOT_READY);
    scripted_set_time(1000000);
    assert_int_equal(sampler_bed_await(bed, pool, 0, &r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(r.fields[COUNT], 29);
    assert_int_equal(r.head.begin_ticks, 110);
    assert_int_equal(r.head.end_ticks, 300);
    /* What comes later is not the query's. */
    scripted_report(1000100, 99);
    scripted_await_reader();
    assert_int_equal(sampler_bed_collect(bed, pool, 0, &r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(r.fields[COUNT], 29);
    sampler_bed_drop(bed, pool);
}

/* Rule 26.26. */
static void query__in_the_middle_of_sleep__counted_nothing(void **state)
{
    struct sampler_bed *bed = *state;
    struct zeta_plugin_query_pool *pool = sampler_bed_pool(bed, "First");
    struct sampler_record r;

    scripted_report(90, 5);
    scripted_await_reader();
    scripted_set_time(1000000);
    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
    scripted_set_time(2000000);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
    scripted_set_time(3000000);
    assert_int_equal(sampler_bed_await(bed, pool, 0, &r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(r.fields[COUNT], 0);
    assert_int_equal(r.head.begin_ticks, 1000000);
    assert_int_equal(r.head.end_ticks, 2000000);
    assert_int_equal(r.head.flags, 0);
    sampler_bed_drop(bed, pool);
}

/* Without any report nobody knows what counters stand at: counting begins with the first.
 * Rule 26.26. */
static void begin__before_any_report__waits_for_the_first(void **state)
{
    struct sampler_bed *bed = *state;
    struct zeta_plugin_query_pool *pool = sampler_bed_pool(bed, "First");
    struct sampler_record r;

    scripted_set_time(100);
    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(zeta_intel_query_begin(pool, 1), ZETA_PLUGIN_SUCCESS);
    scripted_set_time(1000000);
    scripted_await_reader();
    assert_int_equal(zeta_intel_query_end(pool, 1), ZETA_PLUGIN_SUCCESS);
    scripted_set_time(2000000);
    assert_int_equal(sampler_bed_await(bed, pool, 1, &r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(r.fields[COUNT], 0);
    assert_int_equal(r.head.begin_ticks, 100);
    assert_int_equal(r.head.end_ticks, 1000000);
    scripted_report(2000010, 1000);
    scripted_set_time(2000020);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
    scripted_report(2000030, 1003);
    assert_int_equal(sampler_bed_await(bed, pool, 0, &r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(r.fields[COUNT], 3);
    assert_int_equal(r.head.begin_ticks, 2000010);
    sampler_bed_drop(bed, pool);
}

/* ---- losses ------------------------------------------------------------------------------- */

/* Rule 26.27. */
static void loss__inside_a_query__is_marked_in_that_one_alone(void **state)
{
    struct sampler_bed *bed = *state;
    struct zeta_plugin_query_pool *pool = sampler_bed_pool(bed, "First");
    struct sampler_record r;

    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
    scripted_report(100, 1);
    scripted_await_reader();
    scripted_lose_reports();
    scripted_report(200, 1000);
    scripted_report(210, 1002);
    scripted_await_reader();
    assert_int_equal(zeta_intel_query_begin(pool, 1), ZETA_PLUGIN_SUCCESS);
    scripted_report(220, 1003);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(zeta_intel_query_end(pool, 1), ZETA_PLUGIN_SUCCESS);
    scripted_report(230, 1013);
    assert_int_equal(sampler_bed_await(bed, pool, 0, &r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(r.head.flags, ZETA_QUERY_SPLIT | ZETA_QUERY_OVERFLOW);
    assert_int_equal(r.fields[COUNT], r.head.end_ticks == 220 ? 3 : 13);
    assert_int_equal(r.fields[TICKS], r.head.end_ticks - 200);
    assert_int_equal(sampler_bed_await(bed, pool, 1, &r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(r.head.flags, 0);
    sampler_bed_drop(bed, pool);
}

/*
 * Counters go on while reports are lost, until one of 32 bits may come around. Who tells of one
 * loss alone leaves the next to the times of reports.
 Rule 26.27. */
static void reports__lost_inside_a_query__are_counted_across_unless_for_long(void **state)
{
    static const struct {
        bool tells_once, is_long;
    } parts[] = {{false, false}, {false, true}, {true, false}, {true, true}};
    struct sampler_bed *bed = *state;
    struct sampler_record r;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        /* A tick is a microsecond, and the limit twice the longest period. */
        const uint64_t limit = zeta_intel_sampler_longest_ns(&bed->devices[1]) / 500;
        const uint64_t behind = 200 + limit + (parts[i].is_long ? 10 : -10);
        const uint32_t flags = parts[i].is_long ? ZETA_QUERY_SPLIT | ZETA_QUERY_OVERFLOW : 0;
        struct zeta_plugin_query_pool *pool;

        scripted_reset();
        pool = sampler_bed_pool(bed, "First");
        scripted.sources[0].stream.tells_loss_once = parts[i].tells_once;
        scripted_report(100, 1);
        scripted_tell_loss();
        scripted_report(110, 2);
        scripted_await_reader();
        assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
        scripted_report(200, 10);
        scripted_await_reader();
        scripted_set_time(behind);
        if (!parts[i].tells_once)
            scripted_tell_loss();
        scripted_report(behind, 1010);
        assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
        scripted_report(behind + 10, 1020);
        assert_int_equal(sampler_bed_await(bed, pool, 0, &r), ZETA_PLUGIN_SUCCESS);
        assert_int_equal(r.head.flags, flags);
        if (!parts[i].is_long)
            assert_int_equal(r.fields[TICKS], r.head.end_ticks - r.head.begin_ticks);
        sampler_bed_drop(bed, pool);
    }
}

/* Counters begin anew, and the clock goes on from a time that is earlier, or much later.
 * Rule 26.28. */
static void reset__inside_queries__is_marked_and_ends_those_before(void **state)
{
    static const uint64_t clocks[] = {500, (UINT64_C(1) << 40) + 3000000000};
    struct sampler_bed *bed = *state;

    for (uint32_t i = 0; i < 2; i++) {
        const uint64_t clock = clocks[i];
        struct zeta_plugin_query_pool *pool;
        struct sampler_record r;

        scripted_reset_device(1000000000);
        pool = sampler_bed_pool(bed, "First");
        assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
        assert_int_equal(zeta_intel_query_begin(pool, 1), ZETA_PLUGIN_SUCCESS);
        scripted_report(1000000100, 70);
        scripted_report(1000000200, 90);
        scripted_await_reader();
        scripted_set_time(1000000300);
        assert_int_equal(zeta_intel_query_begin(pool, 2), ZETA_PLUGIN_SUCCESS);
        assert_int_equal(zeta_intel_query_end(pool, 1), ZETA_PLUGIN_SUCCESS);
        scripted_reset_device(clock);
        /* The report of this end never came. */
        assert_int_equal(sampler_bed_await(bed, pool, 1, &r), ZETA_PLUGIN_SUCCESS);
        assert_int_equal(r.head.flags, ZETA_QUERY_SPLIT | ZETA_QUERY_OVERFLOW);
        assert_int_equal(r.fields[COUNT], 20);
        scripted_report(clock + 10, 1);
        scripted_report(clock + 20, 4);
        scripted_await_reader();
        assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
        assert_int_equal(zeta_intel_query_end(pool, 2), ZETA_PLUGIN_SUCCESS);
        assert_int_equal(zeta_intel_query_begin(pool, 3), ZETA_PLUGIN_SUCCESS);
        scripted_report(clock + 30, 9);
        /* What the counter counted before and after; not what it lost. */
        assert_int_equal(sampler_bed_await(bed, pool, 0, &r), ZETA_PLUGIN_SUCCESS);
        assert_int_equal(r.head.flags, ZETA_QUERY_SPLIT | ZETA_QUERY_OVERFLOW);
        assert_int_equal(r.fields[COUNT], 20 + 8);
        assert_int_equal(r.fields[TICKS], 100 + 20);
        /* Its begin was left when no report came any more. */
        assert_int_equal(sampler_bed_await(bed, pool, 2, &r), ZETA_PLUGIN_SUCCESS);
        assert_int_equal(r.head.flags, ZETA_QUERY_SPLIT | ZETA_QUERY_OVERFLOW);
        assert_int_equal(r.fields[COUNT], 8);
        assert_int_equal(zeta_intel_query_end(pool, 3), ZETA_PLUGIN_SUCCESS);
        scripted_report(clock + 40, 10);
        assert_int_equal(sampler_bed_await(bed, pool, 3, &r), ZETA_PLUGIN_SUCCESS);
        assert_int_equal(r.head.flags, 0);
        assert_int_equal(r.fields[COUNT], 1);
        sampler_bed_drop(bed, pool);
    }
}

/* The clock was looked at before; the report would be a turn of it later than those before. */
static void reset__between_clock_and_read__is_not_counted_as_a_turn(void **state)
{
    struct sampler_bed *bed = *state;
    struct zeta_plugin_query_pool *pool;
    struct sampler_record r;

    scripted_set_time(3000000000);
    pool = sampler_bed_pool(bed, "First");
    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
    scripted_report(3000000100, 70);
    scripted_report(3000000200, 90);
    scripted_await_reader();
    (void)pthread_mutex_lock(&scripted.lock);
    scripted.reset_ticks = 500;
    (void)pthread_mutex_unlock(&scripted.lock);
    scripted_report(510, 1);
    scripted_await_reader();
    scripted_report(520, 4);
    scripted_await_reader();
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
    scripted_report(540, 12);
    assert_int_equal(sampler_bed_await(bed, pool, 0, &r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(r.head.flags, ZETA_QUERY_SPLIT | ZETA_QUERY_OVERFLOW);
    assert_int_equal(r.fields[COUNT], 20 + 8);
    assert_int_equal(r.fields[TICKS], 100 + 20);
    sampler_bed_drop(bed, pool);
}

/*
 * Reports from before are in the hands of the reader while the clock is set back and the end is
 * left; whenever it counts them, they do not settle that end.
 */
static void reset__while_reports_are_being_counted__is_marked(void **state)
{
    struct sampler_bed *bed = *state;

    for (uint32_t i = 0; i < 100; i++) {
        struct zeta_plugin_query_pool *pool;
        struct sampler_record r;

        scripted_reset_device(1000000000);
        pool = sampler_bed_pool(bed, "First");
        assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
        scripted_report(1000000100, 70);
        scripted_await_reader();
        scripted_report(1000000200, 90);
        while (!scripted_is_empty())
            (void)sched_yield();
        scripted_reset_device(500);
        assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
        scripted_set_time(1000000);
        assert_int_equal(sampler_bed_await(bed, pool, 0, &r), ZETA_PLUGIN_SUCCESS);
        assert_int_equal(r.head.flags, ZETA_QUERY_SPLIT | ZETA_QUERY_OVERFLOW);
        /* With the second report, or without. */
        assert_true(r.fields[COUNT] == 20 || r.fields[COUNT] == 0);
        sampler_bed_drop(bed, pool);
    }
}

/* Rule 26.27. */
static void core_clock__changes_inside__is_marked(void **state)
{
    struct sampler_bed *bed = *state;
    struct zeta_plugin_query_pool *pool = sampler_bed_pool(bed, "First");
    struct sampler_record r;

    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
    scripted_report_on(0, 100, 1, 0x80030);
    scripted_report_on(0, 110, 1, 0x80031);
    scripted_await_reader();
    scripted_set_time(115);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
    scripted_report_on(0, 120, 1, 0x80031);
    assert_int_equal(sampler_bed_await(bed, pool, 0, &r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(r.head.flags, ZETA_QUERY_FREQUENCY);
    sampler_bed_drop(bed, pool);
}

static void stream__fails__queries_say_so_and_new_pools_too(void **state)
{
    struct sampler_bed *bed = *state;
    struct zeta_plugin_query_pool *pool = sampler_bed_pool(bed, "First");
    struct zeta_plugin_query_pool *other = NULL;
    struct sampler_record r;

    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
    scripted_fail_reads(ZETA_PLUGIN_DEVICE_LOST);
    assert_int_equal(sampler_bed_await(bed, pool, 0, &r), ZETA_PLUGIN_DEVICE_LOST);
    assert_non_null(strstr(scripted.sentence, "ended the stream"));
    assert_int_equal(zeta_intel_query_begin(pool, 1), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(zeta_intel_query_end(pool, 1), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(sampler_bed_await(bed, pool, 1, &r), ZETA_PLUGIN_DEVICE_LOST);
    assert_int_equal(sampler_bed_try_pool(bed, 1, "First", 1, &other), ZETA_PLUGIN_NOT_AVAILABLE);
    sampler_bed_drop(bed, pool);
    pool = sampler_bed_pool(bed, "First");
    sampler_bed_drop(bed, pool);
}

/* ---- the unit ----------------------------------------------------------------------------- */

/* Rule 26.29. */
static void pool__of_another_program__says_who_has_the_unit(void **state)
{
    struct sampler_bed *bed = *state;
    struct zeta_plugin_query_pool *pool = sampler_bed_pool(bed, "First");
    struct zeta_plugin_query_pool *other = NULL;

    assert_int_equal(sampler_bed_try_pool(bed, 1, "Second", 1, &other), ZETA_PLUGIN_NOT_AVAILABLE);
    assert_non_null(strstr(scripted.sentence, "query pools of First"));
    assert_non_null(strstr(scripted.sentence, "Second"));
    /* The root needs both tiles, and takes none then. */
    assert_int_equal(sampler_bed_try_pool(bed, 0, "Second", 1, &other), ZETA_PLUGIN_NOT_AVAILABLE);
    assert_int_equal(sampler_bed_try_pool(bed, 2, "Second", 1, &other), ZETA_PLUGIN_SUCCESS);
    sampler_bed_drop(bed, other);
    sampler_bed_drop(bed, pool);
}

static void stream_and_pool__one_unit__exclude_each_other(void **state)
{
    struct sampler_bed *bed = *state;
    struct zeta_plugin_query_pool *pool = NULL;
    struct zeta_intel_kernel_stream *stream = NULL;
    const struct zeta_intel_stream_request request = {.unit = &bed->gpu.units[0],
                                                      .record_bytes = SCRIPTED_REPORT_BYTES};

    assert_int_equal(zeta_intel_unit_open(&bed->gpu, &request, "a stream of TestOa", &stream),
                     ZETA_PLUGIN_SUCCESS);
    assert_int_equal(sampler_bed_try_pool(bed, 1, "First", 1, &pool), ZETA_PLUGIN_NOT_AVAILABLE);
    assert_non_null(strstr(scripted.sentence, "a stream of TestOa"));
    zeta_intel_unit_close(stream);
    pool = sampler_bed_pool(bed, "First");
    assert_int_equal(zeta_intel_unit_open(&bed->gpu, &request, "a stream of TestOa", &stream),
                     ZETA_PLUGIN_HANDLE_OBJECT_IN_USE);
    assert_non_null(strstr(scripted.sentence, "query pools of First"));
    sampler_bed_drop(bed, pool);
}

/* ---- periods ------------------------------------------------------------------------------ */

/* Period of the stream of a pool. */
static uint64_t period_of(struct sampler_bed *bed)
{
    struct zeta_plugin_query_pool *pool = sampler_bed_pool(bed, "First");
    const uint64_t period_ns =
        zeta_intel_period_ns(&bed->gpu.units[0], scripted.sources[0].exponent);

    sampler_bed_drop(bed, pool);
    return period_ns;
}

/* Rule 26.24. */
static void period__by_setting__is_not_longer_than_that(void **state)
{
    struct sampler_bed *bed = *state;

    bed->gpu.units[0].timestamp_hz = 19200000;
    assert_cmp(period_of(bed), <=, 100000);
    assert_cmp(period_of(bed), >, 50000);
    (void)strcpy(scripted.setting, "1000000");
    assert_cmp(period_of(bed), <=, 1000000);
    assert_cmp(period_of(bed), >, 500000);
    (void)strcpy(scripted.setting, "often");
    assert_cmp(period_of(bed), <=, 100000);
    assert_cmp(period_of(bed), >, 50000);
    assert_non_null(strstr(scripted.sentence, "often"));
    (void)strcpy(scripted.setting, "-5");
    assert_cmp(period_of(bed), <=, 100000);
}

/* 2^32 counts are 34 ms of 96 EUs at 1.3 GHz. Rule 26.24. */
static void period__much_wanted__never_lets_a_counter_come_around(void **state)
{
    struct sampler_bed *bed = *state;

    (void)strcpy(scripted.setting, "1000000000");
    bed->gpu.units[0].timestamp_hz = 12500000;
    bed->gpu.tiles[0].topology.eus = 96;
    bed->gpu.tiles[0].fastest_hz = 1300000000;
    assert_cmp(period_of(bed), <=, 17200000);
    assert_cmp(period_of(bed), >, 8600000);
    /* Nobody knows: as the largest there are. */
    bed->gpu.tiles[0].topology.eus = 0;
    bed->gpu.tiles[0].fastest_hz = 0;
    assert_cmp(period_of(bed), <=, 700000);
}

/* Rule 26.30. */
static void period__kernel_allows_less__is_what_it_allows_or_there_are_no_queries(void **state)
{
    struct sampler_bed *bed = *state;
    struct zeta_plugin_limits limits = {.struct_size = sizeof(limits)};

    bed->gpu.units[0].timestamp_hz = 12500000;
    scripted.least_ns = 3000000;
    assert_cmp(period_of(bed), >=, 3000000);
    zeta_intel_query_limits(&bed->devices[1], &bed->gpu.units[0], &limits);
    assert_int_equal(limits.no_queries.size, 0);
    assert_non_null(strstr(limits.query_note.data, "whole GPU"));
    scripted.least_ns = 1000000000; /* 4 EUs at 1 GHz come around within 1.07 s */
    memset(&limits, 0, sizeof(limits));
    zeta_intel_query_limits(&bed->devices[1], &bed->gpu.units[0], &limits);
    assert_non_null(strstr(limits.no_queries.data, "oa_max_sample_rate"));
    assert_int_equal(limits.query_note.size, 0);
}

static void period__refused_as_too_fast__is_that_for_everybody(void **state)
{
    struct sampler_bed *bed = *state;
    struct zeta_plugin_query_pool *pool = NULL;

    bed->gpu.units[0].timestamp_hz = 12500000;
    scripted.least_for_all_ns = 1000000;
    scripted.refusals = 1;
    assert_cmp(period_of(bed), >=, 1000000);
    scripted.refusals = 2; /* it was not the period */
    assert_int_equal(sampler_bed_try_pool(bed, 1, "First", 1, &pool),
                     ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS);
    assert_string_equal(scripted.sentence, "too fast");
}

/* Another process may remove what it takes for its own, at any time. Rule 26.7. */
static void configuration__removed_before_the_stream__is_taken_again(void **state)
{
    struct sampler_bed *bed = *state;
    struct zeta_plugin_query_pool *pool = NULL;

    scripted.oldest_config = 2;
    pool = sampler_bed_pool(bed, "First");
    assert_int_equal(scripted.configs, 2);
    assert_int_equal(scripted.opens, 1);
    sampler_bed_drop(bed, pool);
    /* Once more, not for ever. */
    scripted.oldest_config = 10;
    assert_int_equal(sampler_bed_try_pool(bed, 1, "First", 1, &pool), ZETA_PLUGIN_NOT_AVAILABLE);
    assert_string_equal(scripted.sentence, "no configuration");
    assert_int_equal(scripted.configs, 4);
}

/* ---- life --------------------------------------------------------------------------------- */

static void end__without_a_begin__is_refused(void **state)
{
    struct sampler_bed *bed = *state;
    struct zeta_plugin_query_pool *pool = sampler_bed_pool(bed, "First");
    struct sampler_record r;

    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_INVALID_ARGUMENT);
    assert_non_null(strstr(scripted.sentence, "not begun"));
    assert_int_equal(zeta_intel_query_begin(pool, 4), ZETA_PLUGIN_INVALID_ARGUMENT);
    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
    scripted_report(100, 1);
    assert_int_equal(sampler_bed_await(bed, pool, 0, &r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_INVALID_ARGUMENT);
    sampler_bed_drop(bed, pool);
}

static void query__reset_and_begun_again__forgets(void **state)
{
    struct sampler_bed *bed = *state;
    struct zeta_plugin_query_pool *pool = sampler_bed_pool(bed, "First");
    struct sampler_record r;

    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
    scripted_report(100, 1);
    assert_int_equal(sampler_bed_await(bed, pool, 0, &r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(zeta_intel_query_reset(&bed->self, pool, 0), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(sampler_bed_collect(bed, pool, 0, &r), ZETA_PLUGIN_NOT_READY);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_INVALID_ARGUMENT);
    scripted_set_time(200);
    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
    scripted_report(210, 5);
    scripted_await_reader();
    scripted_set_time(220);
    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(sampler_bed_collect(bed, pool, 0, &r), ZETA_PLUGIN_NOT_READY);
    scripted_report(230, 10);
    scripted_await_reader();
    scripted_set_time(235);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
    scripted_report(240, 12);
    assert_int_equal(sampler_bed_await(bed, pool, 0, &r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(r.fields[COUNT], 2);
    sampler_bed_drop(bed, pool);
}

static void pool__destroyed_with_pending_queries__leaves_others_alone(void **state)
{
    struct sampler_bed *bed = *state;
    struct zeta_plugin_query_pool *pools[2] = {sampler_bed_pool(bed, "First"),
                                               sampler_bed_pool(bed, "First")};
    struct sampler_record r;

    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(zeta_intel_query_begin(pools[i], i), ZETA_PLUGIN_SUCCESS);
        assert_int_equal(zeta_intel_query_end(pools[i], i), ZETA_PLUGIN_SUCCESS);
    }
    sampler_bed_drop(bed, pools[0]);
    scripted_report(100, 1);
    assert_int_equal(sampler_bed_await(bed, pools[1], 1, &r), ZETA_PLUGIN_SUCCESS);
    sampler_bed_drop(bed, pools[1]);
}

static void pool__of_more_queries_than_there_is_memory_for__is_refused_or_cheap(void **state)
{
    struct sampler_bed *bed = *state;
    struct zeta_plugin_query_pool *pool = NULL;
    /* A sanitizer takes the memory that nobody touches, and more. */
    const uint32_t count = NO_MEMORY_FIGURES ? UINT32_MAX / 4096 : UINT32_MAX / 64;
    const uint32_t result = sampler_bed_try_pool(bed, 1, "First", count, &pool);

    if (result == ZETA_PLUGIN_SUCCESS)
        sampler_bed_drop(bed, pool);
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

        (void)pthread_mutex_lock(&scripted.lock);
        is_full = scripted.sources[0].count > SCRIPTED_REPORTS / 2;
        (void)pthread_mutex_unlock(&scripted.lock);
        if (!is_full)
            scripted_report(t, (uint32_t)t);
        (void)nanosleep(&step, NULL);
    }
    return NULL;
}

/* A pool of its own, used again and again: what a query counts is the time that it took. */
static void *query_often(void *argument)
{
    struct sampler_bed *bed = argument;
    uintptr_t mistakes = 0;

    for (int i = 0; i < ROUNDS; i++) {
        struct zeta_plugin_query_pool *pool = NULL;
        struct sampler_record r = {0};

        if (sampler_bed_try_pool(bed, 1, "First", 2, &pool) != ZETA_PLUGIN_SUCCESS)
            return (void *)(uintptr_t)1000;
        mistakes += zeta_intel_query_begin(pool, 1) != ZETA_PLUGIN_SUCCESS;
        mistakes += zeta_intel_query_end(pool, 1) != ZETA_PLUGIN_SUCCESS;
        mistakes += sampler_bed_await(bed, pool, 1, &r) != ZETA_PLUGIN_SUCCESS;
        mistakes += r.fields[COUNT] != r.head.end_ticks - r.head.begin_ticks;
        mistakes += r.fields[TICKS] != r.fields[COUNT];
        mistakes += r.head.flags != 0;
        sampler_bed_drop(bed, pool);
    }
    return (void *)mistakes;
}

static void threads__with_pools_of_their_own__count_the_same_time(void **state)
{
    struct sampler_bed *bed = *state;
    struct zeta_plugin_query_pool *pool = sampler_bed_pool(bed, "First");
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
    assert_int_equal(scripted.opens, 1);
    sampler_bed_drop(bed, pool);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, sampler_bed_setup, sampler_bed_teardown)

SUITE(sampler)
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
        CASE(reports__lost_inside_a_query__are_counted_across_unless_for_long),
        CASE(reset__inside_queries__is_marked_and_ends_those_before),
        CASE(reset__between_clock_and_read__is_not_counted_as_a_turn),
        CASE(reset__while_reports_are_being_counted__is_marked),
        CASE(core_clock__changes_inside__is_marked),
        CASE(stream__fails__queries_say_so_and_new_pools_too),
        CASE(pool__of_another_program__says_who_has_the_unit),
        CASE(stream_and_pool__one_unit__exclude_each_other),
        CASE(period__by_setting__is_not_longer_than_that),
        CASE(period__much_wanted__never_lets_a_counter_come_around),
        CASE(period__kernel_allows_less__is_what_it_allows_or_there_are_no_queries),
        CASE(period__refused_as_too_fast__is_that_for_everybody),
        CASE(configuration__removed_before_the_stream__is_taken_again),
        CASE(end__without_a_begin__is_refused),
        CASE(query__reset_and_begun_again__forgets),
        CASE(pool__destroyed_with_pending_queries__leaves_others_alone),
        CASE(pool__of_more_queries_than_there_is_memory_for__is_refused_or_cheap),
        CASE(threads__with_pools_of_their_own__count_the_same_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
