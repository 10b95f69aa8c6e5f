/* The ring of records for backends, and the thread that fills it. */
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include "zeta/record_ring.h"

#define CAPACITY 64u

struct record {
    uint64_t number;
    uint64_t twice;
};

static void push(struct zeta_record_ring *ring, uint64_t first, uint32_t count)
{
    for (uint64_t i = first; i < first + count; i++)
        (void)zeta_record_ring_push(ring, &(struct record){i, 2 * i}, 1);
}

static bool is_raised(const struct zeta_record_ring *ring)
{
    struct pollfd poller = {.fd = zeta_record_ring_descriptor(ring), .events = POLLIN};

    return poll(&poller, 1, 0) == 1;
}

/** Reads at most so many records, all of which follow first; how many. */
static uint32_t read_from(struct zeta_record_ring *ring, uint64_t first, uint32_t most,
                          struct zeta_plugin_read *out_read)
{
    struct record records[2 * CAPACITY];
    uint32_t count;

    *out_read = (struct zeta_plugin_read){.struct_size = sizeof(*out_read)};
    /* Part of a record behind them is no room. */
    zeta_record_ring_read(ring, records, most * sizeof(records[0]) + 7, out_read);
    count = (uint32_t)(out_read->bytes / sizeof(records[0]));
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(records[i].number, first + i);
        assert_int_equal(records[i].twice, 2 * (first + i));
    }
    return count;
}

static void choose__capacity__between_its_bounds(void **state)
{
    (void)state;
    assert_int_equal(zeta_record_ring_choose(0, 0, 1000), 64);
    assert_int_equal(zeta_record_ring_choose(100, 0, 1000), 100);
    assert_int_equal(zeta_record_ring_choose(100, 300, 1000), 300);
    assert_int_equal(zeta_record_ring_choose(2000, 0, 1000), 1000);
    assert_int_equal(zeta_record_ring_choose(100, 0, 10), 10);
    assert_int_equal(zeta_record_ring_choose(100, 0, 0), 2);
    assert_int_equal(zeta_record_ring_choose(UINT64_MAX, 0, UINT64_MAX), UINT32_MAX);
}

static void read__in_pieces_around_the_end__everything_in_order(void **state)
{
    struct zeta_record_ring *ring = zeta_record_ring_create(CAPACITY, sizeof(struct record), 0);
    struct zeta_plugin_read read;
    uint64_t next = 0;

    (void)state;
    assert_non_null(ring);
    assert_int_equal(zeta_record_ring_capacity(ring), CAPACITY);
    for (uint64_t round = 0; round < 50; round++) {
        push(ring, 50 * round, 50);
        assert_int_equal(zeta_record_ring_pending(ring), 50);
        for (uint32_t got; (got = read_from(ring, next, 13, &read)) > 0;)
            next += got;
        assert_int_equal(next, 50 * (round + 1));
        assert_int_equal(read.broken, 0);
    }
    assert_false(is_raised(ring));
    zeta_record_ring_destroy(ring);
    zeta_record_ring_destroy(NULL);
}

static void push__into_a_full_ring__oldest_go_and_are_counted(void **state)
{
    struct zeta_record_ring *ring = zeta_record_ring_create(CAPACITY, sizeof(struct record), 0);
    struct record more[10];
    struct zeta_plugin_read read;

    (void)state;
    push(ring, 0, CAPACITY);
    for (uint64_t i = 0; i < 10; i++)
        more[i] = (struct record){CAPACITY + i, 2 * (CAPACITY + i)};
    assert_int_equal(zeta_record_ring_push(ring, more, 10), 10);
    assert_int_equal(zeta_record_ring_pending(ring), CAPACITY);
    assert_int_equal(read_from(ring, 10, CAPACITY, &read), CAPACITY);
    assert_int_equal(read.broken, 1);
    assert_int_equal(read.lost, 10);
    assert_int_equal(read.reason, ZETA_PLUGIN_BREAK_OVERFLOW);
    zeta_record_ring_destroy(ring);
}

static void lose__before_records__read_ends_before_the_break(void **state)
{
    struct zeta_record_ring *ring = zeta_record_ring_create(CAPACITY, sizeof(struct record), 0);
    struct zeta_plugin_read read;

    (void)state;
    push(ring, 0, 3);
    zeta_record_ring_lose(ring, ZETA_PLUGIN_BREAK_LOST, 4);
    zeta_record_ring_lose(ring, ZETA_PLUGIN_BREAK_LOST, 1);
    push(ring, 8, 2);
    assert_int_equal(read_from(ring, 0, CAPACITY, &read), 3);
    assert_int_equal(read.broken, 0);
    assert_int_equal(read_from(ring, 8, CAPACITY, &read), 2);
    assert_int_equal(read.broken, 1);
    assert_int_equal(read.lost, 5);
    assert_int_equal(read.reason, ZETA_PLUGIN_BREAK_LOST);
    assert_int_equal(read_from(ring, 0, CAPACITY, &read), 0);
    assert_int_equal(read.broken, 0);
    /* One that goes takes its break along. */
    zeta_record_ring_lose(ring, ZETA_PLUGIN_BREAK_RESET, 0);
    push(ring, 10, CAPACITY + 1);
    assert_int_equal(read_from(ring, 11, CAPACITY, &read), CAPACITY);
    assert_int_equal(read.broken, 1);
    assert_int_equal(read.lost, 1);
    zeta_record_ring_destroy(ring);
}

static void descriptor__level__follows_what_is_pending(void **state)
{
    struct zeta_record_ring *ring = zeta_record_ring_create(CAPACITY, sizeof(struct record), 5);
    struct zeta_plugin_read read;

    (void)state;
    push(ring, 0, 4);
    assert_false(is_raised(ring));
    push(ring, 4, 1);
    assert_true(is_raised(ring));
    assert_true(is_raised(ring));
    assert_int_equal(read_from(ring, 0, 1, &read), 1);
    assert_false(is_raised(ring));
    push(ring, 5, 2 * CAPACITY);
    assert_true(is_raised(ring));
    zeta_record_ring_destroy(ring);
}

/** A source that a pump empties: what was asked for is fetched, and more each time. */
struct source {
    struct zeta_record_ring *ring;
    _Atomic uint64_t made;
    uint64_t fetched; /* by the pump's thread alone */
    atomic_uint calls;
};

static void fetch(void *context)
{
    struct source *source = context;
    const uint64_t made = atomic_load(&source->made);

    atomic_fetch_add(&source->calls, 1);
    push(source->ring, source->fetched, (uint32_t)(made - source->fetched));
    source->fetched = made;
}

static void pump__woken_and_ended__leaves_nothing(void **state)
{
    struct source source = {.ring = zeta_record_ring_create(CAPACITY, sizeof(struct record), 1)};
    struct zeta_record_pump *pump;
    struct pollfd poller = {.fd = zeta_record_ring_descriptor(source.ring), .events = POLLIN};
    struct zeta_plugin_read read;

    (void)state;
    /* Never by itself, but at the begin. */
    pump = zeta_record_pump_create(UINT64_C(1000000000) * 86400, fetch, &source, "test-pump");
    assert_non_null(pump);
    while (atomic_load(&source.calls) == 0)
        sched_yield();
    atomic_store(&source.made, 3);
    zeta_record_pump_wake(pump);
    assert_int_equal(poll(&poller, 1, -1), 1);
    while (zeta_record_ring_pending(source.ring) < 3)
        sched_yield();
    assert_int_equal(read_from(source.ring, 0, CAPACITY, &read), 3);
    atomic_store(&source.made, 9);
    zeta_record_pump_destroy(pump);
    assert_int_equal(read_from(source.ring, 3, CAPACITY, &read), 6);
    zeta_record_pump_destroy(NULL);
    zeta_record_ring_destroy(source.ring);
}

static void make_and_push(void *context)
{
    struct source *source = context;

    atomic_fetch_add(&source->made, 7);
    fetch(source);
}

/* What is read and what is lost is what was made, whoever is faster. */
static void pump__beside_a_reader__every_record_is_read_or_counted(void **state)
{
    struct source source = {.ring = zeta_record_ring_create(CAPACITY, sizeof(struct record), 20)};
    struct pollfd poller = {.fd = zeta_record_ring_descriptor(source.ring), .events = POLLIN};
    struct zeta_record_pump *pump =
        zeta_record_pump_create(10000, make_and_push, &source, "test-pump");
    struct record records[16];
    uint64_t next = 0;
    uint64_t lost = 0;
    uint64_t count = 0;
    bool is_over = false;

    (void)state;
    assert_non_null(pump);
    for (;;) {
        struct zeta_plugin_read read = {.struct_size = sizeof(read)};

        if (!is_over && atomic_load(&source.calls) > 300) {
            zeta_record_pump_destroy(pump);
            is_over = true;
        }
        if (!is_over)
            assert_int_equal(poll(&poller, 1, -1), 1);
        zeta_record_ring_read(source.ring, records, sizeof(records), &read);
        next += read.lost;
        lost += read.lost;
        for (uint64_t i = 0; i < read.bytes / sizeof(records[0]); i++, next++, count++) {
            assert_int_equal(records[i].number, next);
            assert_int_equal(records[i].twice, 2 * next);
        }
        if (is_over && read.bytes == 0)
            break;
    }
    assert_int_equal(count + lost, source.made);
    zeta_record_ring_destroy(source.ring);
}

SUITE(record_ring)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choose__capacity__between_its_bounds),
        cmocka_unit_test(read__in_pieces_around_the_end__everything_in_order),
        cmocka_unit_test(push__into_a_full_ring__oldest_go_and_are_counted),
        cmocka_unit_test(lose__before_records__read_ends_before_the_break),
        cmocka_unit_test(descriptor__level__follows_what_is_pending),
        cmocka_unit_test(pump__woken_and_ended__leaves_nothing),
        cmocka_unit_test(pump__beside_a_reader__every_record_is_read_or_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
