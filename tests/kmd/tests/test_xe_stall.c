/* EU stall streams of the emulated xe: opening, reading, dropped records, and the bits of each. */

#include "tests/kmd/tests/xe_client.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#include <poll.h>

enum { RECORD = 64, BUFFER_RECORDS = 512 * 1024 / RECORD };

static struct kmd_machine *machine;
static int fd = -1, stream = -1;

static void begin(struct kmd_device device)
{
    machine = xe_start(&device);
    fd = xe_node();
}

static int end(void **state)
{
    (void)state;
    return xe_end(&machine, &fd, &stream);
}

#define GT(id)                                                                                     \
    {                                                                                              \
        KMD_XE_EU_STALL_GT_ID, id                                                                  \
    }
#define RATE(cycles)                                                                               \
    {                                                                                              \
        KMD_XE_EU_STALL_SAMPLE_RATE, cycles                                                        \
    }
#define WAIT(records)                                                                              \
    {                                                                                              \
        KMD_XE_EU_STALL_WAIT_NUM_REPORTS, records                                                  \
    }

static void open_stream(int opened)
{
    assert_cmp(opened, >=, 0);
    stream = opened;
    xe_set_nonblocking(stream);
}

static void enable(void)
{
    assert_int_equal(ioctl(stream, KMD_XE_STREAM_ENABLE, 0), 0);
}

/*
 * Time in which each core makes so many records: 1 GHz makes it whole nanoseconds. In two steps, so
 * that the driver looks in the middle of a record.
 */
static void pass(uint64_t records, uint64_t cycles)
{
    uint64_t ns = records * cycles * KMD_STALL_PERIODS;
    kmd_advance(machine, ns / 3);
    kmd_advance(machine, ns - ns / 3);
}

/* Two cores in each of two slices with room for four: 0, 1, 4, 5. */
static const struct kmd_device small = {
    .platform = "lnl", .slices = 2, .subslices = 2, .max_mhz = 1000};
static const uint32_t small_cores[] = {0, 1, 4, 5};

static bool is_readable(void)
{
    struct pollfd ask = {.fd = stream, .events = POLLIN};
    return poll(&ask, 1, 0) == 1 && ask.revents == POLLIN;
}

/* Bits from `at` on, by arithmetic on the words of the record. */
static uint32_t field(const uint8_t *record, uint32_t at, uint32_t width)
{
    uint64_t words[2];
    memcpy(words, record, sizeof(words));
    uint64_t value = words[at / 64] >> at % 64;
    if (at / 64 == 0 && at + width > 64)
        value |= words[1] << (64 - at);
    return (uint32_t)(value & ((UINT64_C(1) << width) - 1));
}

static void check_record(const uint8_t *record, bool is_pvc, uint32_t gt, uint32_t core,
                         uint64_t index)
{
    struct kmd_stall stall = kmd_stall_record(gt, core, index);
    assert_int_equal(field(record, 0, 29), stall.ip);
    assert_int_equal(field(record, 29, 8), is_pvc ? stall.active : stall.tdr);
    assert_int_equal(field(record, 37, 8), stall.other);
    assert_int_equal(field(record, 45, 8), stall.control);
    assert_int_equal(field(record, 53, 8), stall.pipe);
    assert_int_equal(field(record, 61, 8), stall.send);
    assert_int_equal(field(record, 69, 8), stall.distance);
    assert_int_equal(field(record, 77, 8), stall.scoreboard);
    assert_int_equal(field(record, 85, 8), stall.sync);
    assert_int_equal(field(record, 93, 8), stall.fetch);
    assert_int_equal(field(record, 101, 8), is_pvc ? 0 : stall.active);
    assert_int_equal(field(record, 109, 3), is_pvc ? 0 : stall.exception);
    assert_int_equal(field(record, 112, 1), !is_pvc && stall.is_end);
    assert_int_equal(field(record, 113, 15), 0);
    for (uint32_t i = 16; i < RECORD; i++)
        assert_int_equal(record[i], 0);
}

static void open__of_wrong_properties__errnos_in_order(void **state)
{
    (void)state;
    begin(small);
    assert_errno(EFAULT, xe_observe(fd, KMD_XE_TYPE_EU_STALL, KMD_XE_OP_STREAM_OPEN, 0));
    assert_errno(E2BIG, xe_stall_open(fd, GT(0), GT(0), GT(0), GT(0), GT(0), GT(0)));
    assert_errno(EINVAL, xe_stall_open(fd, WAIT(1)));
    assert_errno(EINVAL, xe_stall_open(fd, GT(1))); /* of media */
    assert_errno(EINVAL, xe_stall_open(fd, GT(2)));
    assert_errno(EINVAL, xe_stall_open(fd, GT(0), {4, 1}));
    static const uint64_t wrong[] = {0, 1, 250, 8 * 251, UINT64_MAX};
    for (size_t i = 0; i < 5; i++)
        assert_errno(EINVAL, xe_stall_open(fd, GT(0), RATE(wrong[i])));
    assert_errno(EINVAL, xe_stall_open(fd, GT(0), WAIT(0)));
    assert_errno(EINVAL, xe_stall_open(fd, GT(0), WAIT(4 * BUFFER_RECORDS + 1)));
    open_stream(xe_stall_open(fd, GT(0), RATE(7 * 251), WAIT(4 * BUFFER_RECORDS), GT(0), GT(0)));
    assert_errno(EBUSY, xe_stall_open(fd, GT(0), WAIT(0)));
    assert_errno(EINVAL, xe_stall_open(fd, GT(0), RATE(0)));
}

static void open__where_it_may_not__its_errno(void **state)
{
    (void)state;
    struct kmd_config description = {
        .device_count = 2,
        .is_paranoid = true,
        .devices = {{.platform = "dg2-g10", .driver = "xe"}, {.platform = "pvc", .driver = "xe"}}};
    machine = kmd_start(&description);
    fd = xe_node();
    assert_errno(ENODEV,
                 xe_observe(fd, KMD_XE_TYPE_EU_STALL, KMD_XE_OP_STREAM_OPEN, xe_bad_address));
    close(fd);
    fd = open("/dev/dri/renderD129", O_RDWR | O_CLOEXEC);
    assert_errno(EACCES,
                 xe_observe(fd, KMD_XE_TYPE_EU_STALL, KMD_XE_OP_STREAM_OPEN, xe_bad_address));
}

static void stream__just_opened__is_disabled(void **state)
{
    (void)state;
    begin(small);
    int opened = xe_stall_open(fd, GT(0));
    assert_int_equal(fcntl(opened, F_GETFD) & FD_CLOEXEC, 0);
    assert_int_equal(fcntl(opened, F_GETFL) & O_NONBLOCK, 0);
    open_stream(opened);
    uint8_t data[16 * RECORD];
    pass(2, 4 * 251);
    assert_errno(EINVAL, read(stream, data, sizeof(data)));
    assert_false(is_readable());
    enable();
    enable();
    assert_errno(EINVAL, read(stream, data, RECORD - 1));
    assert_errno(EAGAIN, read(stream, data, RECORD));
    assert_errno(EINVAL, ioctl(stream, KMD_XE_STREAM_CONFIG, 0));
    assert_errno(EINVAL, ioctl(stream, KMD_XE_STREAM_STATUS, 0));
    assert_errno(EINVAL, ioctl(stream, KMD_XE_STREAM_INFO, 0));
    pass(2, 4 * 251);
    assert_int_equal(ioctl(stream, KMD_XE_STREAM_DISABLE, 0), 0);
    assert_int_equal(ioctl(stream, KMD_XE_STREAM_DISABLE, 0), 0);
    assert_errno(EINVAL, read(stream, data, sizeof(data)));
    enable(); /* with empty buffers */
    assert_errno(EAGAIN, read(stream, data, sizeof(data)));
}

static void records__of_some_cores__core_by_core(void **state)
{
    (void)state;
    begin(small);
    open_stream(xe_stall_open(fd, GT(0), RATE(251)));
    enable();
    uint8_t data[64 * RECORD];
    pass(20, 251);
    assert_true(is_readable());
    /* A small buffer is filled from the first core on, each time. */
    assert_int_equal(read(stream, data, 3 * RECORD + RECORD / 2), 3 * RECORD);
    for (uint32_t i = 0; i < 3; i++)
        check_record(data + (size_t)i * RECORD, false, 0, 0, i);
    pass(1, 251);
    assert_int_equal(read(stream, data, 30 * RECORD), 30 * RECORD);
    for (uint32_t i = 0; i < 30; i++)
        check_record(data + (size_t)i * RECORD, false, 0, i < 18 ? 0 : 1, i < 18 ? i + 3 : i - 18);
    assert_int_equal(read(stream, data, sizeof(data)), (84 - 33) * RECORD);
    for (uint32_t i = 0; i < 51; i++) {
        uint32_t from_core_1 = i + 12;
        check_record(data + (size_t)i * RECORD, false, 0, small_cores[1 + from_core_1 / 21],
                     from_core_1 % 21);
    }
    assert_errno(EAGAIN, read(stream, data, sizeof(data)));
    assert_false(is_readable());
}

static void records__at_each_rate__as_many_as_time_allows(void **state)
{
    (void)state;
    for (uint64_t multiple = 1; multiple <= 7; multiple++) {
        begin(small);
        /* Cycles between two multiples are rounded down. */
        open_stream(xe_stall_open(fd, GT(0), RATE(multiple * 251 + 250 * (multiple < 7))));
        enable();
        uint8_t data[64 * RECORD];
        pass(420, 251);
        ssize_t records = (ssize_t)(420 / multiple * 4), seen = 0, bytes;
        while ((bytes = read(stream, data, sizeof(data))) > 0)
            seen += bytes / RECORD;
        assert_int_equal(seen, records);
        end(NULL);
    }
    begin(small);
}

static void records__of_pvc__its_bits_on_both_tiles(void **state)
{
    (void)state;
    begin((struct kmd_device){.platform = "pvc", .max_mhz = 1000});
    int first = xe_stall_open(fd, GT(0));
    assert_cmp(first, >=, 0);
    assert_errno(EBUSY, xe_stall_open(fd, GT(0)));
    open_stream(xe_stall_open(fd, GT(1)));
    enable();
    pass(17, 4 * 251);
    uint8_t *data = malloc(64 * 17 * RECORD);
    assert_non_null(data);
    assert_int_equal(read(stream, data, 64 * 17 * RECORD), 64 * 17 * RECORD);
    for (uint32_t i = 0; i < 64 * 17; i++)
        check_record(data + (size_t)i * RECORD, true, 1, i / 17, i % 17);
    free(data);
    close(first);
}

static void records__of_xe3__as_those_of_xe2(void **state)
{
    (void)state;
    begin((struct kmd_device){.platform = "ptl", .max_mhz = 1000});
    open_stream(xe_stall_open(fd, GT(0)));
    enable();
    pass(1, 4 * 251);
    uint8_t data[16 * RECORD];
    assert_int_equal(read(stream, data, sizeof(data)), 12 * RECORD);
    for (uint32_t core = 0; core < 12; core++)
        check_record(data + (size_t)core * RECORD, false, 0, core, 0);
}

static void poll__until_enough_records__not_readable(void **state)
{
    (void)state;
    begin(small);
    open_stream(xe_stall_open(fd, GT(0), WAIT(9)));
    enable();
    uint8_t data[16 * RECORD];
    pass(2, 4 * 251); /* 8 of all cores */
    assert_false(is_readable());
    assert_int_equal(read(stream, data, RECORD), RECORD);
    pass(1, 4 * 251);
    assert_true(is_readable());
}

/* Only the driver's worker sees what came, and what it counts are records. */
static void drop__alone__wakes_nobody_and_a_read_ends_the_wake_up(void **state)
{
    (void)state;
    begin(small);
    open_stream(xe_stall_open(fd, GT(0), WAIT(9)));
    enable();
    uint8_t data[64 * RECORD];
    kmd_fault(machine, 0, KMD_FAULT_LOSE_BUFFER, 0);
    pass(1, 4 * 251);
    assert_false(is_readable());
    pass(2, 4 * 251);
    assert_true(is_readable());
    assert_errno(EIO, read(stream, data, sizeof(data)));
    assert_false(is_readable()); /* although there are records */
    assert_int_equal(read(stream, data, sizeof(data)), 12 * RECORD);
    kmd_fault(machine, 0, KMD_FAULT_IDLE, 1);
    pass(1, 4 * 251);
    assert_false(is_readable());
}

static void buffers__that_are_full__drop_and_say_so_once(void **state)
{
    (void)state;
    begin(small);
    open_stream(xe_stall_open(fd, GT(0), RATE(251)));
    enable();
    static uint8_t data[4 * BUFFER_RECORDS * RECORD];
    pass(BUFFER_RECORDS, 251);
    assert_int_equal(read(stream, data, RECORD), RECORD); /* just full: nothing is lost */
    pass(3, 251);
    assert_errno(EIO, read(stream, data, sizeof(data)));
    assert_int_equal(read(stream, data, sizeof(data)), sizeof(data));
    /* The first core had room for one more; the others kept what they had. */
    check_record(data, false, 0, 0, 1);
    check_record(data + (size_t)BUFFER_RECORDS * RECORD, false, 0, 1, 0);
    assert_errno(EAGAIN, read(stream, data, sizeof(data)));
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_REPORTS_LOST), 2 + 3 * 3);
    pass(1, 251);
    assert_int_equal(read(stream, data, sizeof(data)), 4 * RECORD);
    check_record(data, false, 0, 0, BUFFER_RECORDS + 1);
    check_record(data + RECORD, false, 0, 1, BUFFER_RECORDS);
}

static void faults__of_the_device__as_told(void **state)
{
    (void)state;
    begin(small);
    open_stream(xe_stall_open(fd, GT(0)));
    enable();
    uint8_t data[64 * RECORD];
    pass(4, 4 * 251);
    kmd_fault(machine, 0, KMD_FAULT_READ_ERRNO, EINTR);
    assert_errno(EINTR, read(stream, data, sizeof(data)));
    kmd_fault(machine, 0, KMD_FAULT_SHORT_READS, 2);
    assert_int_equal(read(stream, data, sizeof(data)), 2 * RECORD);
    kmd_fault(machine, 0, KMD_FAULT_SHORT_READS, 0);
    assert_int_equal(read(stream, data, sizeof(data)), 14 * RECORD);
    kmd_fault(machine, 0, KMD_FAULT_LOSE_REPORTS, 5);
    pass(2, 4 * 251);
    assert_errno(EIO, read(stream, data, sizeof(data)));
    assert_int_equal(read(stream, data, sizeof(data)), 3 * RECORD);
    pass(2, 4 * 251);
    kmd_fault(machine, 0, KMD_FAULT_LOSE_BUFFER, 0);
    pass(1, 4 * 251);
    assert_errno(EIO, read(stream, data, sizeof(data)));
    assert_int_equal(read(stream, data, sizeof(data)), 4 * RECORD);
    kmd_fault(machine, 0, KMD_FAULT_IDLE, 1);
    pass(5, 4 * 251);
    assert_errno(EAGAIN, read(stream, data, sizeof(data)));
    kmd_fault(machine, 0, KMD_FAULT_IDLE, 0);
    pass(1, 4 * 251);
    assert_int_equal(read(stream, data, sizeof(data)), 4 * RECORD);
    void *volatile nowhere = (void *)(uintptr_t)xe_bad_address;
    pass(1, 4 * 251);
    assert_errno(EFAULT, read(stream, nowhere, sizeof(data)));
    assert_int_equal(read(stream, data, sizeof(data)), 4 * RECORD); /* they are still there */
    kmd_fault(machine, 0, KMD_FAULT_UNPLUG, 1);
    assert_errno(ENODEV, read(stream, data, sizeof(data)));
}

SUITE(xe_stall)
{
#define CASE(name) cmocka_unit_test_teardown(name, end)
    const struct CMUnitTest tests[] = {
        CASE(open__of_wrong_properties__errnos_in_order),
        CASE(open__where_it_may_not__its_errno),
        CASE(stream__just_opened__is_disabled),
        CASE(records__of_some_cores__core_by_core),
        CASE(records__at_each_rate__as_many_as_time_allows),
        CASE(records__of_pvc__its_bits_on_both_tiles),
        CASE(records__of_xe3__as_those_of_xe2),
        CASE(poll__until_enough_records__not_readable),
        CASE(drop__alone__wakes_nobody_and_a_read_ends_the_wake_up),
        CASE(buffers__that_are_full__drop_and_say_so_once),
        CASE(faults__of_the_device__as_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
