/*
 * A slow reader of a small ring: what was read and what was lost is what was written. The reports
 * of a timer lie a period apart, so the clock says how many were written.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "streaming.h"
#include "zeta/slot.h"

struct account {
    uint64_t reports; /**< without repeated ones */
    uint64_t lost;    /**< as the breaks in the data say */
    uint32_t breaks;
    uint64_t periods; /**< from the first to the last report */
};

static uint32_t word_at(const uint8_t *slot, size_t at)
{
    uint32_t word;

    memcpy(&word, slot + at, sizeof(word));
    return word;
}

/** Goes through raw data like a program that knows only its slots. */
static struct account take_stock(const struct streaming *stream)
{
    static const uint8_t magic[] = ZETA_SLOT_MAGIC;
    struct account account = {0};
    uint32_t last = 0;
    bool any = false;

    for (size_t at = 0; at < stream->raw_bytes; at += stream->record_bytes) {
        const uint8_t *slot = stream->raw + at;
        const uint32_t ticks = word_at(slot, 4);
        uint64_t lost;

        if (memcmp(slot, magic, ZETA_SLOT_MAGIC_BYTES) == 0) {
            assert_int_equal(word_at(slot, 16), 1); /* no kind but BREAK here */
            memcpy(&lost, slot + 24, sizeof(lost));
            assert_true(lost > 0);
            account.lost += lost;
            account.breaks++;
            continue;
        }
        if (any && ticks == last)
            continue; /* the baseline of the next read */
        if (any)
            account.periods += (uint64_t)(ticks - last) * 40 / stream->period_ns;
        account.reports += any;
        last = ticks;
        any = true;
    }
    return account;
}

static struct zeta_stream_info info_of(const struct streaming *stream)
{
    struct zeta_stream_info info = {.struct_size = sizeof(info)};

    EXPECT_OK(zetaMetricStreamerGetInfo(stream->streamer, &info));
    return info;
}

static void expect_exact(const struct streaming *stream, const struct zeta_stream_info *before)
{
    const struct zeta_stream_info info = info_of(stream);
    const struct account account = take_stock(stream);

    assert_true(account.lost > 0);
    assert_int_equal(account.reports, info.records - before->records);
    assert_int_equal(account.lost, info.lost - before->lost);
    assert_int_equal(account.breaks, info.breaks - before->breaks);
    assert_int_equal(account.reports + account.lost, account.periods);
    assert_true(stream->warnings > 0);
}

/** Steps of sleeping and reading, the way a slow program does. */
static void read_slowly(struct streaming *stream)
{
    static const size_t rooms[] = {4096, 3, 2, 50, 199, 200, 201, 7, 64};
    static const uint32_t most[] = {UINT32_MAX, 1, 30, UINT32_MAX, 100};

    for (uint32_t i = 0; i < 60; i++) {
        if (i % 3 == 0)
            sleep_ms(i % 4 * 3);
        (void)streaming_read(stream, most[i % 5], rooms[i % 9]);
    }
    streaming_catch_up(stream);
}

/** All threads stand still for longer than the ring holds, also the one that samples. */
static void read_after_a_stop(struct streaming *stream)
{
    const pid_t self = getpid(), child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        /* More than once: the first one may come before the stop. */
        while (getppid() == self) {
            sleep_ms(30);
            (void)kill(self, SIGCONT);
        }
        _exit(0);
    }
    (void)raise(SIGSTOP);
    (void)kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    streaming_catch_up(stream);
}

static void lose_some(const struct bed *bed, uint32_t notify, ze_event_handle_t event,
                      void (*read)(struct streaming *stream))
{
    struct streaming stream = streaming_of(bed->device, "ComputeBasic");
    struct streaming *active[] = {&stream};
    struct zeta_stream_info before;

    streaming_activate(bed, active, 1);
    streaming_open(bed, &stream, 10240, notify, event);
    /* The first report is of the time of the opening, the second one of a deadline. */
    while (stream.raw_bytes < (size_t)3 * stream.record_bytes)
        (void)streaming_read(&stream, 1, 2);
    memmove(stream.raw, stream.raw + stream.raw_bytes - stream.record_bytes, stream.record_bytes);
    stream.raw_bytes = stream.record_bytes;
    before = info_of(&stream);
    /* How soon it is too slow depends on who else uses the processors. */
    do
        read(&stream);
    while (info_of(&stream).lost == before.lost);
    expect_exact(&stream, &before);
    streaming_calculate(&stream);
    /* No row goes across a break. */
    for (uint32_t row = 0; row < stream.rows; row++)
        assert_int_equal(streaming_value(&stream, row, "GpuTime")->value.ui64, stream.period_ns);
    streaming_close(&stream);
}

static void slow_reader__ring_of_the_backend__given_and_lost_are_all(void **state)
{
    lose_some(*state, 0, NULL, read_slowly);
}

static void slow_reader__ring_of_the_core__given_and_lost_are_all(void **state)
{
    const struct bed *bed = *state;
    struct test_event event = make_event(bed->context);

    lose_some(bed, 20, event.event, read_slowly);
    destroy_event(&event);
}

static void stopped_process__sampler_is_late__given_and_lost_are_all(void **state)
{
    lose_some(*state, 0, NULL, read_after_a_stop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_reader__ring_of_the_backend__given_and_lost_are_all),
        cmocka_unit_test(slow_reader__ring_of_the_core__given_and_lost_are_all),
        cmocka_unit_test(stopped_process__sampler_is_late__given_and_lost_are_all),
    };

    return cmocka_run_group_tests(tests, bed_setup, bed_teardown);
}
