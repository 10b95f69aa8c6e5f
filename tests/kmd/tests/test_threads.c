/* Threads on one machine: for the thread sanitizer, and for what must not be lost or doubled. */

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/kmd/tests/bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { READERS = 3, RECORDS = 32, RECORD = 264, EXPONENT = 11, SLOW = 15 };

struct shared {
    struct kmd_machine *machine;
    int node, stream;
    long set;
    atomic_uint reports;
    atomic_bool over;
    atomic_uint opened;
};

/* Each report is given to one reader. */
static void *read_stream(void *argument)
{
    struct shared *shared = argument;
    uint8_t data[RECORDS * RECORD];

    while (!atomic_load(&shared->over)) {
        const long bytes =
            bed_polls(shared->stream, 20) ? bed_read(shared->stream, data, sizeof(data)) : 0;

        if (bytes > 0)
            (void)atomic_fetch_add(&shared->reports, (unsigned)(bytes / RECORD));
    }
    return NULL;
}

static void *ask_and_disturb(void *argument)
{
    struct shared *shared = argument;
    uint64_t reg[2] = {0x2358 | 1, 0};

    while (!atomic_load(&shared->over)) {
        (void)bed_ioctl(shared->node, BED_REG_READ, reg);
        kmd_fault(shared->machine, 0, KMD_FAULT_CONTEXT_SWITCH, 0);
        (void)kmd_counter(shared->machine, 0, 0, "", KMD_BANK_A, 3, reg[1]);
        (void)usleep(1000);
    }
    return NULL;
}

static void stream__many_readers__each_report_once(void **state)
{
    const struct kmd_config config = {
        .device_count = 1, .devices = {{.platform = "tgl-gt2"}}, .is_privileged = true};
    struct shared shared = {.machine = bed_start_config(&config), .node = bed_node()};
    pthread_t threads[READERS + 1];
    uint8_t rest[RECORDS * RECORD];
    unsigned left = 0;
    long bytes;

    (void)state;
    shared.set = bed_add(shared.node, BED_UUID);
    shared.stream = bed_stream(shared.node, shared.set, 10, SLOW); /* the ring lasts for minutes */
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_stream, &shared), 0);
    assert_int_equal(pthread_create(&threads[READERS], NULL, ask_and_disturb, &shared), 0);
    while (atomic_load(&shared.reports) < 200)
        (void)usleep(1000);
    atomic_store(&shared.over, true);
    for (int i = 0; i <= READERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    while ((bytes = bed_read(shared.stream, rest, sizeof(rest))) > 0)
        left += (unsigned)(bytes / RECORD);
    assert_int_equal(atomic_load(&shared.reports) + left,
                     kmd_statistic(shared.machine, 0, KMD_STAT_REPORTS_MADE));
    assert_int_equal(kmd_statistic(shared.machine, 0, KMD_STAT_REPORTS_LOST), 0);
    (void)close(shared.stream);
    (void)close(shared.node);
    kmd_stop(shared.machine);
}

static void *open_and_close(void *argument)
{
    struct shared *shared = argument;

    for (int i = 0; i < 50; i++) {
        const uint64_t properties[][2] = {{BED_SAMPLE, 1},
                                          {BED_SET, (uint64_t)shared->set},
                                          {BED_FORMAT, 10},
                                          {BED_EXPONENT, EXPONENT}};
        const long fd = bed_open(shared->node, BED_NONBLOCK, properties, 4);

        if (fd >= 0) {
            (void)atomic_fetch_add(&shared->opened, 1);
            (void)close((int)fd);
        } else if (fd != -EBUSY) {
            return (void *)1;
        }
    }
    return NULL;
}

static void unit__many_openers__one_at_a_time(void **state)
{
    const struct kmd_config config = {
        .device_count = 1, .devices = {{.platform = "tgl-gt2"}}, .is_privileged = true};
    struct shared shared = {.machine = bed_start_config(&config), .node = bed_node()};
    pthread_t threads[READERS];

    (void)state;
    shared.set = bed_add(shared.node, BED_UUID);
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, open_and_close, &shared), 0);
    for (int i = 0; i < READERS; i++) {
        void *result;

        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_null(result);
    }
    assert_int_equal(atomic_load(&shared.opened),
                     kmd_statistic(shared.machine, 0, KMD_STAT_STREAMS_OPENED));
    assert_int_equal(kmd_statistic(shared.machine, 0, KMD_STAT_STREAMS_OPEN), 0);
    (void)close(shared.node);
    kmd_stop(shared.machine);
}

static unsigned count_threads(void)
{
    DIR *directory = opendir("/proc/self/task");
    unsigned count = 0;

    assert_non_null(directory);
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory))
        count += entry->d_name[0] != '.';
    (void)closedir(directory);
    return count;
}

/* The timer thread is there as long as a stream is. */
static void timer__last_stream_closed__thread_ends(void **state)
{
    const struct kmd_config config = {
        .device_count = 1, .devices = {{.platform = "tgl-gt2"}}, .is_privileged = true};
    struct kmd_machine *machine = bed_start_config(&config);
    const int node = bed_node();
    const long set = bed_add(node, BED_UUID);
    unsigned during;
    int stream;

    (void)state;
    stream = bed_stream(node, set, 10, EXPONENT);
    assert_true(bed_polls(stream, -1));
    during = count_threads();
    assert_cmp(during, >=, 2);
    (void)close(stream);
    for (int i = 0; i < 1000 && count_threads() >= during; i++)
        (void)usleep(10000);
    assert_int_equal(count_threads(), during - 1);
    /* And comes back with the next one. */
    stream = bed_stream(node, set, 10, EXPONENT);
    assert_true(bed_polls(stream, -1));
    (void)close(stream);
    (void)close(node);
    kmd_stop(machine);
}

SUITE(threads)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timer__last_stream_closed__thread_ends),
        cmocka_unit_test(stream__many_readers__each_report_once),
        cmocka_unit_test(unit__many_openers__one_at_a_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
