/* Reading and polling a stream of i915. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/kmd/tests/bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/* One period of exponent 10 at 19.2 MHz is 106.7 us. */
enum { EXPONENT = 10, RECORD = 264, PERIOD_NS = 106667 };

struct fixture {
    struct kmd_machine *machine;
    int node, stream;
    long set;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    assert_non_null(fixture);
    fixture->machine = bed_start("tgl-gt2");
    fixture->node = bed_node();
    fixture->set = bed_add(fixture->node, BED_UUID);
    fixture->stream = bed_stream(fixture->node, fixture->set, 10, EXPONENT);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    (void)close(fixture->stream);
    (void)close(fixture->node);
    kmd_stop(fixture->machine);
    free(fixture);
    return 0;
}

static void set_blocking(int fd)
{
    (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
}

static void read__nothing__eagain_and_not_readable(void **state)
{
    struct fixture *fixture = *state;
    uint8_t data[RECORD];

    assert_false(bed_polls(fixture->stream, 0));
    assert_int_equal(bed_read(fixture->stream, data, sizeof(data)), -EAGAIN);
    kmd_advance(fixture->machine, PERIOD_NS / 2);
    assert_false(bed_polls(fixture->stream, 0));
    assert_int_equal(bed_read(fixture->stream, data, sizeof(data)), -EAGAIN);
}

static void read__reports__whole_records_and_level(void **state)
{
    struct fixture *fixture = *state;
    uint8_t data[RECORD * 4];

    kmd_advance(fixture->machine, 10ull * PERIOD_NS);
    assert_true(bed_polls(fixture->stream, 0));
    assert_int_equal(bed_read(fixture->stream, data, 3 * RECORD - 1), 2 * RECORD);
    /* There was more than fitted: still readable. */
    assert_true(bed_polls(fixture->stream, 0));
    kmd_fault(fixture->machine, 0, KMD_FAULT_SHORT_READS, 4);
    assert_int_equal(bed_read(fixture->stream, data, sizeof(data)), 4 * RECORD);
    /* Else a read clears it, whatever is left, until the next look at the tail. */
    assert_false(bed_polls(fixture->stream, 0));
    kmd_advance(fixture->machine, 1);
    assert_true(bed_polls(fixture->stream, 0));
    assert_int_equal(bed_read(fixture->stream, data, sizeof(data)), 4 * RECORD);
    assert_false(bed_polls(fixture->stream, 0));
}

static void read__small_buffer__enospc_and_stays_readable(void **state)
{
    struct fixture *fixture = *state;
    uint8_t data[RECORD];

    kmd_advance(fixture->machine, 2ull * PERIOD_NS);
    assert_int_equal(bed_read(fixture->stream, data, RECORD - 1), -ENOSPC);
    assert_int_equal(bed_read(fixture->stream, data, 0), -ENOSPC);
    assert_true(bed_polls(fixture->stream, 0));
    assert_int_equal(bed_read(fixture->stream, data, RECORD), RECORD);
}

static void read__bad_pointer__efault(void **state)
{
    struct fixture *fixture = *state;

    kmd_advance(fixture->machine, 2ull * PERIOD_NS);
    assert_int_equal(bed_read(fixture->stream, (void *)(uintptr_t)8, 4096), -EFAULT);
}

static void read__disabled__eio_and_data_dropped(void **state)
{
    struct fixture *fixture = *state;
    uint32_t data[4][66];

    kmd_advance(fixture->machine, 3ull * PERIOD_NS);
    assert_int_equal(bed_ioctl_value(fixture->stream, BED_DISABLE, 0), 0);
    assert_int_equal(bed_ioctl_value(fixture->stream, BED_DISABLE, 0), 0);
    assert_int_equal(bed_read(fixture->stream, data, sizeof(data)), -EIO);
    kmd_advance(fixture->machine, 3ull * PERIOD_NS);
    assert_int_equal(bed_ioctl_value(fixture->stream, BED_ENABLE, 0), 0);
    assert_int_equal(bed_read(fixture->stream, data, sizeof(data)), -EAGAIN);
    kmd_advance(fixture->machine, PERIOD_NS);
    assert_int_equal(bed_ioctl_value(fixture->stream, BED_ENABLE, 0), 0);
    assert_int_equal(bed_read(fixture->stream, data, sizeof(data)), RECORD);
    assert_int_equal(data[0][3], 7 * 2048);
}

static void read__opened_disabled__starts_when_enabled(void **state)
{
    struct fixture *fixture = *state;
    const uint64_t properties[][2] = {{BED_SAMPLE, 1},
                                      {BED_SET, (uint64_t)fixture->set},
                                      {BED_FORMAT, 10},
                                      {BED_EXPONENT, EXPONENT}};
    uint8_t data[RECORD * 4];
    long stream;

    (void)close(fixture->stream);
    stream = bed_open(fixture->node, BED_DISABLED | BED_NONBLOCK, properties, 4);
    fixture->stream = (int)stream;
    assert_int_equal(fcntl((int)stream, F_GETFD) & FD_CLOEXEC, 0);
    kmd_advance(fixture->machine, 3ull * PERIOD_NS);
    assert_false(bed_polls((int)stream, 0));
    assert_int_equal(bed_read((int)stream, data, sizeof(data)), -EIO);
    assert_int_equal(bed_ioctl_value((int)stream, BED_ENABLE, 0), 0);
    kmd_advance(fixture->machine, 2ull * PERIOD_NS);
    assert_int_equal(bed_read((int)stream, data, sizeof(data)), 2 * RECORD);
}

static void read__no_timer__eio_when_blocking(void **state)
{
    struct fixture *fixture = *state;
    const uint64_t properties[][2] = {
        {BED_SAMPLE, 1}, {BED_SET, (uint64_t)fixture->set}, {BED_FORMAT, 10}};
    uint8_t data[RECORD];

    (void)close(fixture->stream);
    fixture->stream = (int)bed_open(fixture->node, BED_NONBLOCK, properties, 3);
    kmd_advance(fixture->machine, 100ull * PERIOD_NS);
    assert_int_equal(bed_read(fixture->stream, data, sizeof(data)), -EAGAIN);
    set_blocking(fixture->stream);
    assert_int_equal(bed_read(fixture->stream, data, sizeof(data)), -EIO);
}

static void ioctl__of_a_stream__config_and_unknown(void **state)
{
    struct fixture *fixture = *state;
    const long other = bed_add(fixture->node, BED_TESTOA_TGL);
    uint32_t data[66];

    assert_int_equal(bed_ioctl_value(fixture->stream, BED_CONFIG, 99), -EINVAL);
    assert_int_equal(bed_ioctl_value(fixture->stream, 0x6903, 0), -EINVAL);
    assert_int_equal(bed_ioctl_value(fixture->stream, BED_CONFIG, (uint64_t)other), fixture->set);
    assert_int_equal(bed_ioctl_value(fixture->stream, BED_CONFIG, (uint64_t)other), other);
    kmd_advance(fixture->machine, PERIOD_NS);
    assert_int_equal(bed_read(fixture->stream, data, sizeof(data)), RECORD);
    /* B1 runs with the clock now. */
    assert_int_equal(data[2 + 49], data[2 + 3]);
}

static void read__lost_reports__one_record_before_the_rest(void **state)
{
    struct fixture *fixture = *state;
    uint32_t data[3 * 66];

    kmd_advance(fixture->machine, PERIOD_NS);
    assert_int_equal(bed_read(fixture->stream, data, sizeof(data)), RECORD);
    kmd_fault(fixture->machine, 0, KMD_FAULT_LOSE_REPORTS, 3);
    kmd_advance(fixture->machine, 5ull * PERIOD_NS);
    assert_int_equal(bed_read(fixture->stream, data, 7), -ENOSPC);
    assert_int_equal(bed_read(fixture->stream, data, sizeof(data)), 8 + 2 * RECORD);
    assert_int_equal(data[0], 2);
    assert_int_equal(data[1], 8u << 16);
    assert_int_equal(data[2], 1);
    assert_int_equal(data[2 + 3], 5 * 2048);
    assert_int_equal(kmd_statistic(fixture->machine, 0, KMD_STAT_REPORTS_LOST), 3);
}

/* Once for each loss; where reports are missing only their times tell. */
static void read__loss_alone__wakes_nobody_and_is_told_before_reports(void **state)
{
    struct fixture *fixture = *state;
    uint32_t data[8 * 66];

    kmd_advance(fixture->machine, 2ull * PERIOD_NS);
    kmd_fault(fixture->machine, 0, KMD_FAULT_LOSE_REPORTS, 5);
    kmd_advance(fixture->machine, 2ull * PERIOD_NS);
    assert_int_equal(bed_read(fixture->stream, data, sizeof(data)), 8 + 2 * RECORD);
    assert_int_equal(data[0], 2);
    assert_int_equal(data[2 + 3], 2048);
    kmd_advance(fixture->machine, 2ull * PERIOD_NS);
    assert_false(bed_polls(fixture->stream, 0));
    kmd_advance(fixture->machine, 2ull * PERIOD_NS);
    assert_true(bed_polls(fixture->stream, 0));
    assert_int_equal(bed_read(fixture->stream, data, sizeof(data)), RECORD);
    assert_int_equal(data[0], 1);
    assert_int_equal(data[3], 8 * 2048);
}

/* The bit of Haswell cannot be cleared while the unit runs. */
static void read__second_loss__untold_on_haswell(void **state)
{
    static const struct {
        const char *platform;
        uint32_t format;
        bool is_told_again;
    } parts[] = {{"hsw-gt2", 5, false}, {"skl-gt2", 10, true}};
    const uint64_t period_ns = 2 * PERIOD_NS;
    uint32_t data[8 * 66];

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct kmd_machine *machine = bed_start(parts[i].platform);
        const int node = bed_node();
        const int stream = bed_stream(node, bed_add(node, BED_UUID), parts[i].format, EXPONENT);

        for (uint32_t loss = 0; loss < 3; loss++) {
            if (loss == 2) {
                assert_int_equal(bed_ioctl_value(stream, BED_DISABLE, 0), 0);
                assert_int_equal(bed_ioctl_value(stream, BED_ENABLE, 0), 0);
            }
            kmd_fault(machine, 0, KMD_FAULT_LOSE_REPORTS, 1);
            kmd_advance(machine, 3 * period_ns);
            assert_int_equal(bed_read(stream, data, sizeof(data)) % RECORD,
                             loss != 1 || parts[i].is_told_again ? 8 : 0);
        }
        (void)close(stream);
        (void)close(node);
        kmd_stop(machine);
    }
}

static void read__overflow__buffer_lost_and_a_new_start(void **state)
{
    struct fixture *fixture = *state;
    uint32_t data[3 * 66];

    /* 65536 reports fit into 16 MiB. */
    kmd_advance(fixture->machine, 70000ull * PERIOD_NS);
    assert_true(bed_polls(fixture->stream, 0));
    assert_int_equal(bed_read(fixture->stream, data, sizeof(data)), 8);
    assert_int_equal(data[0], 3);
    assert_int_equal(data[1], 8u << 16);
    assert_int_equal(bed_read(fixture->stream, data, sizeof(data)), -EAGAIN);
    kmd_advance(fixture->machine, PERIOD_NS);
    assert_int_equal(bed_read(fixture->stream, data, sizeof(data)), RECORD);
    assert_cmp(data[3] / 2048, >=, 70000);
}

static void read__full_but_no_more__nothing_lost(void **state)
{
    struct fixture *fixture = *state;
    const size_t bytes = 70000ul * RECORD;
    uint8_t *data = malloc(bytes);

    assert_non_null(data);
    kmd_advance(fixture->machine, 65536ull * PERIOD_NS);
    assert_int_equal(bed_read(fixture->stream, data, bytes), 65536l * RECORD);
    free(data);
}

static void read__buffer_lost_fault__told(void **state)
{
    struct fixture *fixture = *state;
    uint32_t data[66];

    kmd_advance(fixture->machine, 3ull * PERIOD_NS);
    kmd_fault(fixture->machine, 0, KMD_FAULT_LOSE_BUFFER, 0);
    assert_true(bed_polls(fixture->stream, 0));
    assert_int_equal(bed_read(fixture->stream, data, sizeof(data)), 8);
    assert_int_equal(data[0], 3);
}

static void read__faults__errno_short_false_polls(void **state)
{
    struct fixture *fixture = *state;
    uint8_t data[RECORD * 8];

    kmd_advance(fixture->machine, 8ull * PERIOD_NS);
    kmd_fault(fixture->machine, 0, KMD_FAULT_READ_ERRNO, EIO);
    assert_int_equal(bed_read(fixture->stream, data, sizeof(data)), -EIO);
    kmd_fault(fixture->machine, 0, KMD_FAULT_SHORT_READS, 2);
    assert_int_equal(bed_read(fixture->stream, data, sizeof(data)), 2 * RECORD);
    assert_int_equal(bed_read(fixture->stream, data, sizeof(data)), 2 * RECORD);
    kmd_fault(fixture->machine, 0, KMD_FAULT_SHORT_READS, 0);
    assert_int_equal(bed_read(fixture->stream, data, sizeof(data)), 4 * RECORD);
    kmd_fault(fixture->machine, 0, KMD_FAULT_FALSE_POLL, 1);
    assert_true(bed_polls(fixture->stream, 0));
    assert_int_equal(bed_read(fixture->stream, data, sizeof(data)), -EAGAIN);
    assert_false(bed_polls(fixture->stream, 0));
}

static void read__unplugged__enodev_everywhere(void **state)
{
    struct fixture *fixture = *state;
    uint8_t data[RECORD];

    kmd_fault(fixture->machine, 0, KMD_FAULT_UNPLUG, 1);
    assert_true(bed_polls(fixture->stream, 0));
    assert_int_equal(bed_read(fixture->stream, data, sizeof(data)), -ENODEV);
    assert_int_equal(bed_ioctl_value(fixture->stream, BED_ENABLE, 0), -ENODEV);
    assert_int_equal(bed_ioctl_value(fixture->node, BED_GETPARAM, 0), -ENODEV);
    assert_int_equal(open("/dev/dri/card0", O_RDWR), -1);
    assert_int_equal(errno, ENODEV);
}

static void read__in_parts__fills_one_after_the_other(void **state)
{
    struct fixture *fixture = *state;
    uint8_t first[RECORD];
    uint8_t second[RECORD * 3];
    const struct iovec parts[2] = {{first, sizeof(first)}, {second, sizeof(second)}};

    kmd_advance(fixture->machine, 3ull * PERIOD_NS);
    assert_int_equal(readv(fixture->stream, parts, 2), 3 * RECORD);
    assert_int_equal(second[0], 1);
}

static void poll__other_ways__see_the_same(void **state)
{
    struct fixture *fixture = *state;
    struct epoll_event event = {.events = EPOLLIN};
    struct timeval none = {0};
    fd_set set;
    const int epoll = epoll_create1(EPOLL_CLOEXEC);

    assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, fixture->stream, &event), 0);
    assert_int_equal(epoll_wait(epoll, &event, 1, 0), 0);
    kmd_advance(fixture->machine, PERIOD_NS);
    assert_int_equal(epoll_wait(epoll, &event, 1, 0), 1);
    FD_ZERO(&set);
    FD_SET(fixture->stream, &set);
    assert_int_equal(select(fixture->stream + 1, &set, NULL, NULL, &none), 1);
    (void)close(epoll);
}

static void *advance_later(void *argument)
{
    (void)usleep(50000);
    kmd_advance(argument, PERIOD_NS);
    return NULL;
}

static void read__blocking__waits_for_the_first_report(void **state)
{
    struct fixture *fixture = *state;
    uint8_t data[RECORD * 2];
    pthread_t thread;

    set_blocking(fixture->stream);
    assert_int_equal(pthread_create(&thread, NULL, advance_later, fixture->machine), 0);
    assert_int_equal(bed_read(fixture->stream, data, sizeof(data)), RECORD);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void on_alarm(int number)
{
    (void)number;
}

struct reader {
    pthread_t thread;
    atomic_bool is_back;
};

static void *alarm_later(void *argument)
{
    struct reader *reader = argument;

    while (!atomic_load(&reader->is_back)) {
        (void)usleep(20000);
        (void)pthread_kill(reader->thread, SIGUSR1);
    }
    return NULL;
}

static void read__blocking_and_interrupted__eintr(void **state)
{
    struct fixture *fixture = *state;
    const struct sigaction action = {.sa_handler = on_alarm};
    struct reader reader = {.thread = pthread_self()};
    uint8_t data[RECORD];
    pthread_t thread;

    set_blocking(fixture->stream);
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    assert_int_equal(pthread_create(&thread, NULL, alarm_later, &reader), 0);
    assert_int_equal(bed_read(fixture->stream, data, sizeof(data)), -EINTR);
    atomic_store(&reader.is_back, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* Real time: the timer thread makes it readable, and what came is a plausible number. */
static void poll__real_time__becomes_readable(void **state)
{
    const struct kmd_config config = {
        .device_count = 1, .devices = {{.platform = "tgl-gt2"}}, .is_privileged = true};
    struct kmd_machine *machine = bed_start_config(&config);
    const int node = bed_node();
    const int stream = bed_stream(node, bed_add(node, BED_UUID), 10, EXPONENT);
    uint8_t data[RECORD];

    (void)state;
    for (int i = 0; i < 5; i++) {
        assert_true(bed_polls(stream, -1));
        assert_int_equal(bed_read(stream, data, sizeof(data)), RECORD);
    }
    set_blocking(stream);
    assert_int_equal(bed_read(stream, data, sizeof(data)), RECORD);
    (void)close(stream);
    (void)close(node);
    kmd_stop(machine);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

SUITE(read)
{
    const struct CMUnitTest tests[] = {
        CASE(read__nothing__eagain_and_not_readable),
        CASE(read__reports__whole_records_and_level),
        CASE(read__small_buffer__enospc_and_stays_readable),
        CASE(read__bad_pointer__efault),
        CASE(read__disabled__eio_and_data_dropped),
        CASE(read__opened_disabled__starts_when_enabled),
        CASE(read__no_timer__eio_when_blocking),
        CASE(ioctl__of_a_stream__config_and_unknown),
        CASE(read__lost_reports__one_record_before_the_rest),
        CASE(read__loss_alone__wakes_nobody_and_is_told_before_reports),
        cmocka_unit_test(read__second_loss__untold_on_haswell),
        CASE(read__overflow__buffer_lost_and_a_new_start),
        CASE(read__full_but_no_more__nothing_lost),
        CASE(read__buffer_lost_fault__told),
        CASE(read__faults__errno_short_false_polls),
        CASE(read__unplugged__enodev_everywhere),
        CASE(read__in_parts__fills_one_after_the_other),
        CASE(poll__other_ways__see_the_same),
        CASE(read__blocking__waits_for_the_first_report),
        CASE(read__blocking_and_interrupted__eintr),
        cmocka_unit_test(poll__real_time__becomes_readable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
