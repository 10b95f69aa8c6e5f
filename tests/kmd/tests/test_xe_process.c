/* Several processes and threads on one emulated xe, in real time. */

#include "tests/kmd/tests/xe_client.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { PEC64 = 0x10105, PEC64_BYTES = 576, MPEC8U32 = 0x204, MPEC8U32_BYTES = 128 };

static struct kmd_machine *machine;
static int fd = -1;
static uint64_t config;

static void begin(const char *platform)
{
    struct kmd_config description = {.device_count = 1,
                                     .devices = {{.platform = platform, .driver = "xe"}}};
    machine = kmd_start(&description);
    assert_non_null(machine);
    fd = xe_node();
    config = (uint64_t)xe_add_config(fd, XE_UUID, XE_REGISTER);
}

static int end(void **state)
{
    int stream = -1;

    (void)state;
    return xe_end(&machine, &fd, &stream);
}

/* Opens a stream in the form that the tests use: exponent 14 is 1.7 ms at 19.2 MHz. */
static int open_unit(int node, uint64_t unit)
{
    return xe_oa_open(node, {KMD_XE_OA_SAMPLE, 1}, {KMD_XE_OA_METRIC_SET, config},
                      {KMD_XE_OA_UNIT_ID, unit}, {KMD_XE_OA_FORMAT, unit ? MPEC8U32 : PEC64},
                      {KMD_XE_OA_EXPONENT, 14});
}

/* Runs a function in a child that then waits to be killed, or for our end; returns when it has run.
 */
static pid_t start_child(void (*function)(void))
{
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_cmp(child, >=, 0);
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        function();
        if (write(ready[1], "x", 1) != 1)
            _exit(2);
        for (;;)
            pause();
    }
    char byte;
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return child;
}

static void kill_child(pid_t child)
{
    int status;
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

/* What the child does: everything with descriptors of its own. */
static void take_units(void)
{
    int node = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
    if (node < 0 || open_unit(node, 0) < 0 || open_unit(node, 2) < 0 ||
        xe_stall_open(node, {KMD_XE_EU_STALL_GT_ID, 0}) < 0)
        _exit(1);
}

static void units__of_another_process__busy_until_it_dies(void **state)
{
    (void)state;
    begin("lnl");
    pid_t child = start_child(take_units);
    assert_errno(EBUSY, open_unit(fd, 0));
    assert_errno(EBUSY, open_unit(fd, 2));
    assert_errno(EBUSY, xe_stall_open(fd, {KMD_XE_EU_STALL_GT_ID, 0}));
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_STREAMS_OPEN), 3);
    int other = open_unit(fd, 1);
    assert_cmp(other, >=, 0);
    close(other);
    kill_child(child);
    int streams[] = {open_unit(fd, 0), open_unit(fd, 2),
                     xe_stall_open(fd, {KMD_XE_EU_STALL_GT_ID, 0})};
    for (size_t i = 0; i < 3; i++) {
        assert_cmp(streams[i], >=, 0);
        close(streams[i]);
    }
}

static void add_other(void)
{
    int node = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
    if (node < 0 || xe_add_config(node, "99999999-0123-0123-0123-0123456789ab", XE_REGISTER) != 2)
        _exit(1);
}

static void configuration__of_another_process__found_by_its_uuid(void **state)
{
    (void)state;
    begin("bmg");
    kill_child(start_child(add_other));
    assert_errno(EADDRINUSE,
                 xe_add_config(fd, "99999999-0123-0123-0123-0123456789ab", XE_REGISTER));
    char text[8] = "";
    int file =
        open("/sys/class/drm/card0/metrics/99999999-0123-0123-0123-0123456789ab/id", O_RDONLY);
    assert_cmp(file, >=, 0);
    assert_int_equal(read(file, text, sizeof(text)), 2);
    close(file);
    config = strtoull(text, NULL, 10);
    int stream = open_unit(fd, 0);
    assert_cmp(stream, >=, 0);
    close(stream);
    assert_int_equal(xe_remove_config(fd, 2), 0);
}

static void nothing(void)
{
}

static void stream__inherited_by_a_child__lives_until_both_close(void **state)
{
    (void)state;
    begin("lnl");
    int stream = open_unit(fd, 0);
    assert_cmp(stream, >=, 0);
    pid_t child = start_child(nothing);
    close(stream);
    assert_errno(EBUSY, open_unit(fd, 0));
    kill_child(child);
    stream = open_unit(fd, 0);
    assert_cmp(stream, >=, 0);
    close(stream);
}

static void read__that_blocks__waits_for_enough_reports(void **state)
{
    (void)state;
    begin("lnl");
    int stream = xe_oa_open(fd, {KMD_XE_OA_SAMPLE, 1}, {KMD_XE_OA_METRIC_SET, config},
                            {KMD_XE_OA_FORMAT, PEC64}, {KMD_XE_OA_EXPONENT, 14},
                            {KMD_XE_OA_WAIT_NUM_REPORTS, 20});
    assert_cmp(stream, >=, 0);
    static uint8_t data[4096 * PEC64_BYTES];
    ssize_t bytes = read(stream, data, 20 * PEC64_BYTES);
    assert_int_equal(bytes, 20 * PEC64_BYTES);
    bytes = read(stream, data, sizeof(data)); /* some may be left, but not enough */
    assert_cmp(bytes, >=, 20 * PEC64_BYTES);
    close(stream);
    stream = xe_stall_open(fd, {KMD_XE_EU_STALL_GT_ID, 0}, {KMD_XE_EU_STALL_WAIT_NUM_REPORTS, 100});
    assert_int_equal(ioctl(stream, KMD_XE_STREAM_ENABLE, 0), 0);
    bytes = read(stream, data, sizeof(data));
    assert_cmp(bytes, >=, 100 * 64);
    close(stream);
}

/* One reader of a unit: blocking or not, until it has so many reports. */
struct reader {
    uint64_t unit;
    bool is_blocking;
    uint32_t wanted, got, out_of_order;
};

static void *read_unit(void *argument)
{
    struct reader *reader = argument;
    uint32_t bytes = reader->unit ? MPEC8U32_BYTES : PEC64_BYTES;
    int stream = open_unit(fd, reader->unit);
    if (stream < 0)
        return NULL;
    if (!reader->is_blocking && fcntl(stream, F_SETFL, O_NONBLOCK) != 0)
        return NULL;
    uint8_t data[8 * PEC64_BYTES];
    uint64_t last = 0;
    while (reader->got < reader->wanted) {
        struct pollfd ask = {.fd = stream, .events = POLLIN};
        if (!reader->is_blocking && poll(&ask, 1, -1) != 1)
            break;
        ssize_t length = read(stream, data, sizeof(data));
        if (length < 0 && errno != EAGAIN && errno != EIO)
            break;
        for (ssize_t at = 0; at < length; at += bytes) {
            uint64_t ticks;
            memcpy(&ticks, data + at + 8, sizeof(ticks));
            reader->out_of_order += ticks <= last;
            last = ticks;
            reader->got++;
        }
    }
    close(stream);
    return NULL;
}

static void *change_configurations(void *argument)
{
    uint32_t *failures = argument;
    for (uint32_t i = 0; i < 50; i++) {
        char uuid[37];
        snprintf(uuid, sizeof(uuid), "aaaaaaaa-0000-0000-0000-%012x", i);
        int id = xe_add_config(fd, uuid, XE_REGISTER);
        struct kmd_xe_device_query query = {.query = KMD_XE_QUERY_OA_UNITS};
        *failures += id < 0 || ioctl(fd, KMD_XE_DEVICE_QUERY, &query) != 0 ||
                     xe_remove_config(fd, (uint64_t)id) != 0;
    }
    return NULL;
}

static void threads__on_all_units__disturb_nobody(void **state)
{
    (void)state;
    begin("bmg");
    struct reader readers[] = {
        {0, true, 100, 0, 0}, {1, false, 100, 0, 0}, {2, true, 100, 0, 0}, {3, false, 100, 0, 0}};
    pthread_t threads[5];
    uint32_t failures = 0;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_unit, &readers[i]), 0);
    assert_int_equal(pthread_create(&threads[4], NULL, change_configurations, &failures), 0);
    for (size_t i = 0; i < 5; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < 4; i++) {
        assert_cmp(readers[i].got, >=, readers[i].wanted);
        assert_int_equal(readers[i].out_of_order, 0);
    }
    assert_int_equal(failures, 0);
}

SUITE(xe_process)
{
#define CASE(name) cmocka_unit_test_teardown(name, end)
    const struct CMUnitTest tests[] = {
        CASE(units__of_another_process__busy_until_it_dies),
        CASE(configuration__of_another_process__found_by_its_uuid),
        CASE(stream__inherited_by_a_child__lives_until_both_close),
        CASE(read__that_blocks__waits_for_enough_reports),
        CASE(threads__on_all_units__disturb_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
