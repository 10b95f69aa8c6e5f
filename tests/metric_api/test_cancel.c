/* Threads that are cancelled inside a call: they finish it first, and nothing stays locked. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "tests/metric_api/stream_bed.h"

static sem_t inside;
static sem_t go_on;

/** Holds the first read inside the backend, where threads can be cancelled. */
static void hold(void *context)
{
    (void)context;
    (void)sem_post(&inside);
    while (sem_wait(&go_on) != 0)
        ;
}

struct reader {
    pthread_t thread;
    zet_metric_streamer_handle_t streamer;
    ze_result_t result;
    atomic_bool has_returned;
};

static void *read_once(void *context)
{
    struct reader *reader = context;
    uint8_t raw[64 * FAKE_RECORD_BYTES];
    size_t bytes = sizeof(raw);

    reader->result = zetMetricStreamerReadData(reader->streamer, UINT32_MAX, &bytes, raw);
    atomic_store(&reader->has_returned, true);
    return NULL;
}

static void start(struct reader *reader, zet_metric_streamer_handle_t streamer)
{
    *reader = (struct reader){.streamer = streamer};
    assert_int_equal(pthread_create(&reader->thread, NULL, read_once, reader), 0);
}

static void expect_returned(struct reader *reader)
{
    assert_int_equal(pthread_join(reader->thread, NULL), 0);
    assert_true(atomic_load(&reader->has_returned));
    assert_int_equal(reader->result, ZE_RESULT_SUCCESS);
}

static void read__cancelled_in_the_backend__returns_first(void **state)
{
    struct stream_bed bed = bed_make("fake0");
    zet_metric_streamer_handle_t streamer = bed_open(&bed, bed_activate(&bed, "Basic"), 0, NULL);
    struct reader reader;
    struct slot slots[64];

    (void)state;
    bed.control->hook(hold, NULL);
    start(&reader, streamer);
    assert_int_equal(sem_wait(&inside), 0);
    assert_int_equal(pthread_cancel(reader.thread), 0);
    bed.control->hook(NULL, NULL);
    assert_int_equal(sem_post(&go_on), 0);
    expect_returned(&reader);
    bed.control->push("fake0", "u0", 2);
    expect_records(slots, bed_read(streamer, UINT32_MAX, 64, ZE_RESULT_SUCCESS, slots), 0, 2);
    EXPECT_OK(zetMetricStreamerClose(streamer));
    bed_free(&bed);
}

static void read__cancelled_while_it_waits_for_its_turn__returns_first(void **state)
{
    struct stream_bed bed = bed_make("fake0");
    zet_metric_streamer_handle_t streamer = bed_open(&bed, bed_activate(&bed, "Basic"), 0, NULL);
    struct reader first;
    struct reader second;

    (void)state;
    bed.control->hook(hold, NULL);
    start(&first, streamer);
    assert_int_equal(sem_wait(&inside), 0);
    bed.control->hook(NULL, NULL);
    start(&second, streamer);
    sleep_ms(20);
    assert_int_equal(pthread_cancel(second.thread), 0);
    sleep_ms(20);
    assert_false(atomic_load(&second.has_returned));
    assert_int_equal(sem_post(&go_on), 0);
    expect_returned(&first);
    expect_returned(&second);
    EXPECT_OK(zetMetricStreamerClose(streamer));
    bed_free(&bed);
}

struct closer {
    zet_metric_streamer_handle_t streamer;
    atomic_bool has_returned;
};

static void *close_once(void *context)
{
    struct closer *closer = context;

    (void)zetMetricStreamerClose(closer->streamer);
    atomic_store(&closer->has_returned, true);
    return NULL;
}

static void close__cancelled_while_a_read_runs__unit_is_free_afterwards(void **state)
{
    struct stream_bed bed = bed_make("fake0");
    zet_metric_group_handle_t group = bed_activate(&bed, "Basic");
    struct closer closer = {.streamer = bed_open(&bed, group, 0, NULL)};
    struct reader reader;
    pthread_t thread;

    (void)state;
    bed.control->hook(hold, NULL);
    start(&reader, closer.streamer);
    assert_int_equal(sem_wait(&inside), 0);
    bed.control->hook(NULL, NULL);
    assert_int_equal(pthread_create(&thread, NULL, close_once, &closer), 0);
    sleep_ms(20);
    assert_int_equal(pthread_cancel(thread), 0);
    assert_int_equal(sem_post(&go_on), 0);
    expect_returned(&reader);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(atomic_load(&closer.has_returned));
    closer.streamer = bed_open(&bed, group, 0, NULL);
    EXPECT_OK(zetMetricStreamerClose(closer.streamer));
    bed_free(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read__cancelled_in_the_backend__returns_first),
        cmocka_unit_test(read__cancelled_while_it_waits_for_its_turn__returns_first),
        cmocka_unit_test(close__cancelled_while_a_read_runs__unit_is_free_afterwards),
    };

    (void)sem_init(&inside, 0, 0);
    (void)sem_init(&go_on, 0, 0);
    if (zeInit(0) != ZE_RESULT_SUCCESS)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
