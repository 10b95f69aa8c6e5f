/* The log of samples that processes share: what was not read in time, and what somebody damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "plugins/vgpu/instance/instance.h"
#include "plugins/vgpu/instance/instance_priv.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static char directory[] = "/tmp/zeta-ip-log-XXXXXX";

/* An instance whose unit this process has, and where to read. */
struct bed {
    struct zeta_vgpu_instance *instance;
    uint64_t cursor;
    uint64_t lost;
};

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return rmdir(directory);
}

static void bed_open(struct bed *bed)
{
    const struct zeta_vgpu_instance_desc desc = {
        .directory = directory, .name = "log", .tiles = 2, .rows_per_tile = 5};
    struct zeta_vgpu_message message = {""};

    memset(bed, 0, sizeof(*bed));
    if (zeta_vgpu_instance_attach(&desc, &message, &bed->instance) != ZETA_VGPU_OK)
        fail_msg("%s", message.text);
    assert_int_equal(zeta_vgpu_instance_take_unit(bed->instance, 1, ZETA_VGPU_UNIT_IP, false), 0);
    assert_true(zeta_vgpu_instance_ip_begin(bed->instance, 1, 256, &bed->cursor));
}

static void bed_close(struct bed *bed)
{
    zeta_vgpu_instance_ip_end(bed->instance, 1);
    zeta_vgpu_instance_release_unit(bed->instance, 1, ZETA_VGPU_UNIT_IP);
    zeta_vgpu_instance_detach(bed->instance);
}

static bool next(struct bed *bed, struct zeta_vgpu_ip_event *event)
{
    return zeta_vgpu_instance_ip_next(bed->instance, 1, &bed->cursor, event, &bed->lost);
}

static void append(struct bed *bed, uint64_t address, uint32_t stall, uint32_t count)
{
    const struct zeta_vgpu_ip_sample sample = {address, stall, count};

    zeta_vgpu_instance_ip_append(bed->instance, 1, &sample, 1, 0);
}

static void period__of_a_reader__is_seen_until_its_end(void **state)
{
    uint64_t first = 0, second = 0;
    struct bed bed;

    (void)state;
    bed_open(&bed);
    assert_int_equal(zeta_vgpu_instance_ip_period(bed.instance, 1, &first), 256);
    assert_int_equal(zeta_vgpu_instance_ip_period(bed.instance, 0, &second), 0);
    zeta_vgpu_instance_ip_end(bed.instance, 1);
    assert_int_equal(zeta_vgpu_instance_ip_period(bed.instance, 1, &second), 0);
    /* Nobody wants them: nothing is logged. */
    append(&bed, 4, 0, 1);
    assert_true(zeta_vgpu_instance_ip_begin(bed.instance, 1, 1 << 20, &bed.cursor));
    assert_int_equal(zeta_vgpu_instance_ip_period(bed.instance, 1, &second), 1 << 20);
    assert_int_not_equal(first, second);
    bed_close(&bed);
}

static void log__samples__come_out_as_they_went_in(void **state)
{
    struct zeta_vgpu_ip_event event;
    struct bed bed;

    (void)state;
    bed_open(&bed);
    assert_false(next(&bed, &event));
    append(&bed, UINT64_C(0xfedcba9876543210), ZETA_VGPU_STALL_OTHER, 7);
    append(&bed, 8, ZETA_VGPU_STALL_ACTIVE, UINT32_MAX);
    assert_true(next(&bed, &event));
    assert_cmp(event.address, ==, UINT64_C(0xfedcba9876543210));
    assert_int_equal(event.stall, ZETA_VGPU_STALL_OTHER);
    assert_int_equal(event.count, 7);
    assert_int_equal(event.pid, (uint32_t)getpid());
    assert_true(next(&bed, &event));
    assert_int_equal(event.count, ZETA_VGPU_IP_COUNT_MAX);
    assert_false(next(&bed, &event));
    assert_int_equal(bed.lost, 0);
    bed_close(&bed);
}

/* Rule 11.23. */
static void log__more_than_it_holds__is_lost_and_counted(void **state)
{
    const uint64_t count = ZETA_VGPU_IP_LOG_SIZE + 100;
    struct zeta_vgpu_ip_event event;
    uint64_t read = 0;
    struct bed bed;

    (void)state;
    bed_open(&bed);
    for (uint64_t i = 1; i <= count; i++)
        append(&bed, i * 4, 0, 1);
    while (next(&bed, &event)) {
        read++;
        /* The oldest went. */
        assert_int_equal(event.address, (read + 100) * 4);
    }
    assert_int_equal(read, ZETA_VGPU_IP_LOG_SIZE);
    assert_int_equal(bed.lost, 100);
    /* What a writer lost itself counts as well. */
    zeta_vgpu_instance_ip_append(bed.instance, 1, NULL, 0, 5);
    assert_false(next(&bed, &event));
    assert_int_equal(bed.lost, 105);
    bed_close(&bed);
}

/* A writer that died left an entry invalid; others write rubbish. */
static void log__damaged__gives_nothing_that_nobody_wrote(void **state)
{
    struct zeta_vgpu_ip_log *log;
    struct zeta_vgpu_ip_event event;
    struct bed bed;

    (void)state;
    bed_open(&bed);
    log = &bed.instance->segment->ip_logs[1];
    for (unsigned i = 0; i < 4; i++)
        append(&bed, 4, 0, 1);
    atomic_store(&log->entries[0].number, 0);
    atomic_store(&log->entries[1].what, 0);                     /* no count */
    atomic_store(&log->entries[2].what, UINT64_C(9) << 24 | 1); /* no such reason */
    assert_true(next(&bed, &event));
    assert_int_equal(event.address, 4);
    assert_false(next(&bed, &event));
    assert_int_equal(bed.lost, 3);
    atomic_store(&log->head, UINT64_MAX);
    bed.lost = 0;
    while (next(&bed, &event))
        assert_cmp(event.stall, <, ZETA_VGPU_STALL_COUNT);
    atomic_store(&log->head, 1);
    assert_false(next(&bed, &event));
    assert_int_equal(bed.cursor, 1);
    atomic_store(&bed.instance->segment->ip_wanted[1], UINT64_MAX);
    assert_int_equal(zeta_vgpu_instance_ip_period(bed.instance, 1, &bed.lost), 0);
    bed_close(&bed);
}

SUITE(log)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(period__of_a_reader__is_seen_until_its_end),
        cmocka_unit_test(log__samples__come_out_as_they_went_in),
        cmocka_unit_test(log__more_than_it_holds__is_lost_and_counted),
        cmocka_unit_test(log__damaged__gives_nothing_that_nobody_wrote),
    };

    return cmocka_run_group_tests_name("ip log", tests, set_up, tear_down);
}
