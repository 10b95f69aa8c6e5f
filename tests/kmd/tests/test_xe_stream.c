/* OA streams of the emulated xe: reading, losses, and the ioctls of the descriptor. */

#include "tests/kmd/tests/xe_client.h"

#include <poll.h>
#include <sys/mman.h>

#include "tests/kmd/tests/xe_pack.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { PEC64 = 0x10105, PEC64_BYTES = 576, EXPONENT = 9, PERIOD_TICKS = 1024 };

static struct kmd_machine *machine;
static int fd = -1, stream = -1;
static uint64_t config;

/* Clocks of all platforms at one rate, so that pass() fits them all. */
static void begin_at(const char *platform, uint64_t first_ticks)
{
    struct kmd_config description = {
        .device_count = 1,
        .is_manual = true,
        .first_ticks = first_ticks,
        .devices = {{.platform = platform, .driver = "xe", .oa_hz = 19200000, .cs_hz = 19200000}}};
    machine = kmd_start(&description);
    assert_non_null(machine);
    fd = xe_node();
    config = (uint64_t)xe_add_config(fd, XE_UUID, XE_REGISTER);
}

static int end(void **state)
{
    (void)state;
    return xe_end(&machine, &fd, &stream);
}

#define BASICS                                                                                     \
    {KMD_XE_OA_SAMPLE, 1},                                                                         \
    {                                                                                              \
        KMD_XE_OA_METRIC_SET, config                                                               \
    }
#define TIMED                                                                                      \
    BASICS, {KMD_XE_OA_FORMAT, PEC64},                                                             \
    {                                                                                              \
        KMD_XE_OA_EXPONENT, EXPONENT                                                               \
    }

static void open_stream(int opened)
{
    assert_cmp(opened, >=, 0);
    stream = opened;
    xe_set_nonblocking(stream);
}

/* Lets so many periods of the timer pass, at 19.2 MHz, and a little more. */
static void pass(uint64_t periods)
{
    kmd_advance(machine, (periods * PERIOD_TICKS + PERIOD_TICKS / 4) * 10000 / 192);
}

/* A machine at the start of a period and a stream on its graphics unit. */
static void begin(void)
{
    begin_at("lnl", UINT64_C(1) << 20);
    open_stream(xe_oa_open(fd, TIMED, {KMD_XE_OA_BUFFER_SIZE, 128 << 10}));
}

static bool is_readable(void)
{
    struct pollfd ask = {.fd = stream, .events = POLLIN};
    return poll(&ask, 1, 0) == 1 && ask.revents == POLLIN;
}

/* Reads to an address that the compiler does not know. */
static ssize_t read_at(uint64_t address, size_t bytes)
{
    void *volatile to = (void *)(uintptr_t)address;
    return read(stream, to, bytes);
}

static uint64_t status_of(int on)
{
    struct kmd_xe_oa_status status = {.status = 99};
    assert_int_equal(ioctl(on, KMD_XE_STREAM_STATUS, &status), 0);
    return status.status;
}

static void reports__of_each_format__bit_exact(void **state)
{
    (void)state;
    static const struct {
        const char *platform;
        uint32_t mhz;
        const char *uuid; /* TestOa, where it has one: B and C run by its rules */
    } parts[] = {
        {"tgl-gt2", 1300, "6607f034-d053-40d1-8215-67c07f3041bb"},
        {"dg2-g10", 2400, XE_UUID},
        {"pvc", 1600, "339a376a-4696-4e0d-812a-5fd13b0e1aa8"},
        {"mtl-gt2", 1950, XE_UUID},
        {"lnl", 1950, "24c33f2c-f8d9-40d9-b2db-64e863b4d625"},
        {"bmg", 2850, XE_UUID},
        {"ptl", 2500, XE_UUID},
    };
    for (uint32_t n = 0; n < XE_LAYOUTS; n++) {
        const struct xe_layout *layout = &xe_layouts[n];
        uint32_t part = 0;
        while (strcmp(parts[part].platform, layout->platform) != 0)
            part++;
        begin_at(layout->platform, UINT64_C(0x123456789a0000));
        const char *uuid = parts[part].uuid;
        if (strcmp(uuid, XE_UUID) != 0)
            config = (uint64_t)xe_add_config(fd, uuid, XE_REGISTER);
        open_stream(xe_oa_open(fd, BASICS, {KMD_XE_OA_UNIT_ID, layout->unit},
                               {KMD_XE_OA_FORMAT, layout->word}, {KMD_XE_OA_EXPONENT, 15}));
        kmd_advance(machine, 50000000);
        uint8_t reports[64 * XE_MAX_REPORT], expected[XE_MAX_REPORT];
        ssize_t bytes = read(stream, reports, sizeof(reports));
        assert_cmp(bytes, >=, 14 * (ssize_t)layout->bytes);
        assert_int_equal(bytes % layout->bytes, 0);
        for (uint64_t i = 0; i < (uint64_t)bytes / layout->bytes; i++) {
            const uint8_t *report = reports + i * layout->bytes;
            uint64_t ticks = UINT64_C(0x123456789a0000) + (i + 1) * 65536;
            uint64_t context = xe_get(report + layout->header / 2, 4);
            xe_pack(machine, layout, uuid, ticks, parts[part].mhz, context, expected);
            assert_memory_equal(report, expected, layout->bytes);
        }
        end(NULL);
    }
    begin();
}

static void timestamps__at_the_width_of_the_field__wrap(void **state)
{
    (void)state;
    uint8_t reports[4 * PEC64_BYTES];
    begin_at("tgl-gt2", (UINT64_C(1) << 32) - PERIOD_TICKS);
    open_stream(xe_oa_open(fd, BASICS, {KMD_XE_OA_FORMAT, 0x500}, {KMD_XE_OA_EXPONENT, EXPONENT}));
    pass(2);
    assert_int_equal(read(stream, reports, sizeof(reports)), 2 * 256);
    assert_int_equal(xe_get(reports + 4, 4), 0);
    assert_int_equal(xe_get(reports + 256 + 4, 4), PERIOD_TICKS);
    end(NULL);

    begin_at("lnl", (UINT64_C(1) << 56) - 2 * PERIOD_TICKS);
    open_stream(xe_oa_open(fd, TIMED));
    pass(3);
    assert_int_equal(read(stream, reports, sizeof(reports)), 3 * PEC64_BYTES);
    assert_int_equal(xe_get(reports + 8, 8), (UINT64_C(1) << 56) - PERIOD_TICKS);
    assert_int_equal(xe_get(reports + PEC64_BYTES + 8, 8), 0);
    assert_int_equal(xe_get(reports + 2 * PEC64_BYTES + 8, 8), PERIOD_TICKS);
}

static void read__into_room_for_some__whole_reports_in_order(void **state)
{
    (void)state;
    begin();
    uint8_t data[10 * PEC64_BYTES];
    assert_errno(EAGAIN, read(stream, data, sizeof(data)));
    assert_errno(EAGAIN, read(stream, data, 1)); /* nothing there: its size does not matter */
    pass(5);
    assert_errno(ENOSPC, read(stream, data, PEC64_BYTES - 1));
    assert_errno(ENOSPC, read(stream, data, 0));
    assert_errno(EFAULT, read_at(xe_bad_address, sizeof(data)));
    assert_int_equal(read(stream, data, 3 * PEC64_BYTES - 1), 2 * PEC64_BYTES);
    assert_int_equal(read(stream, data + 2 * PEC64_BYTES, 8 * PEC64_BYTES), 3 * PEC64_BYTES);
    for (uint64_t i = 0; i < 5; i++)
        assert_int_equal(xe_get(data + i * PEC64_BYTES + 8, 8),
                         (UINT64_C(1) << 20) + (i + 1) * PERIOD_TICKS);
    assert_errno(EAGAIN, read(stream, data, sizeof(data)));
}

static void read__without_samples_or_timer__its_errno(void **state)
{
    (void)state;
    begin_at("lnl", 0);
    struct kmd_xe_engine engine = {.engine_class = KMD_XE_RENDER};
    struct kmd_xe_exec_queue_create create = {
        .width = 1, .num_placements = 1, .instances = (uintptr_t)&engine};
    assert_int_equal(ioctl(fd, KMD_XE_EXEC_QUEUE_CREATE, &create), 0);
    uint8_t data[PEC64_BYTES];
    open_stream(xe_oa_open(fd, {KMD_XE_OA_METRIC_SET, config}, {KMD_XE_OA_FORMAT, PEC64},
                           {KMD_XE_OA_EXEC_QUEUE, create.exec_queue_id}));
    assert_errno(EINVAL, read(stream, data, sizeof(data)));
    close(stream);
    open_stream(xe_oa_open(fd, BASICS, {KMD_XE_OA_FORMAT, PEC64}));
    kmd_advance(machine, 1000000000);
    assert_errno(EAGAIN, read(stream, data, sizeof(data)));
    assert_int_equal(fcntl(stream, F_SETFL, 0), 0);
    assert_errno(EINVAL, read(stream, data, sizeof(data)));
}

static void poll__until_enough_reports__not_readable(void **state)
{
    (void)state;
    begin_at("lnl", 0);
    open_stream(xe_oa_open(fd, TIMED, {KMD_XE_OA_WAIT_NUM_REPORTS, 4}));
    uint8_t data[64 * PEC64_BYTES];
    pass(3);
    assert_false(is_readable());
    assert_int_equal(read(stream, data, PEC64_BYTES), PEC64_BYTES); /* they can be read before */
    pass(1);
    assert_false(is_readable());
    pass(1);
    assert_true(is_readable());
    assert_errno(ENOSPC, read(stream, data, 1));
    assert_true(is_readable());
    kmd_fault(machine, 0, KMD_FAULT_STATUS, KMD_XE_STATUS_COUNTER_OVERFLOW);
    assert_errno(EIO, read(stream, data, sizeof(data)));
    assert_true(is_readable());
    assert_cmp(read(stream, data, sizeof(data)), >, 0);
    assert_false(is_readable());
    assert_errno(EAGAIN, read(stream, data, sizeof(data)));
}

static void ring__just_full__loses_nothing(void **state)
{
    (void)state;
    static const uint64_t rings[] = {128 << 10, 1 << 20};
    uint8_t *data = malloc(1 << 20);
    assert_non_null(data);
    for (uint32_t n = 0; n < XE_LAYOUTS; n++) {
        const struct xe_layout *layout = &xe_layouts[n];
        for (uint32_t r = 0; r < 2; r++) {
            begin_at(layout->platform, 0);
            uint64_t reports = rings[r] / layout->bytes;
            struct xe_pair pairs[] = {BASICS,
                                      {KMD_XE_OA_UNIT_ID, layout->unit},
                                      {KMD_XE_OA_FORMAT, layout->word},
                                      {KMD_XE_OA_EXPONENT, EXPONENT},
                                      {KMD_XE_OA_BUFFER_SIZE, rings[r]},
                                      {KMD_XE_OA_WAIT_NUM_REPORTS, reports},
                                      {0, 0}};
            open_stream(xe_open_pairs(fd, KMD_XE_TYPE_OA, pairs));
            struct kmd_xe_oa_info info;
            assert_int_equal(ioctl(stream, KMD_XE_STREAM_INFO, &info), 0);
            assert_int_equal(info.buffer_bytes, rings[r]);
            pass(reports - 1);
            assert_false(is_readable());
            pass(1);
            assert_true(is_readable());
            assert_int_equal(read(stream, data, rings[r]), reports * layout->bytes);
            for (uint64_t i = 0; i < reports; i++) {
                assert_int_equal(xe_ticks(layout, data + i * layout->bytes),
                                 (i + 1) * PERIOD_TICKS);
            }
            end(NULL);
        }
    }
    free(data);
    begin();
}

/* Times of reports, in periods since the machine began. */
static uint64_t period_of(const uint8_t *reports, uint64_t index)
{
    return (xe_get(reports + index * PEC64_BYTES + 8, 8) - (UINT64_C(1) << 20)) / PERIOD_TICKS;
}

static void ring__overflowing__eio_once_and_old_reports_stay(void **state)
{
    (void)state;
    begin();
    enum { IN_RING = (128 << 10) / PEC64_BYTES };
    static uint8_t data[2 * IN_RING * PEC64_BYTES];
    pass(IN_RING + 5);
    assert_true(is_readable());
    assert_int_equal(status_of(stream), 0); /* no read has found it yet */
    assert_errno(EIO, read(stream, data, sizeof(data)));
    assert_int_equal(status_of(stream), KMD_XE_STATUS_BUFFER_OVERFLOW);
    assert_int_equal(status_of(stream), KMD_XE_STATUS_BUFFER_OVERFLOW);
    pass(5); /* nothing was taken, so there is no room yet, and nothing new to tell */
    assert_int_equal(read(stream, data, 4 * PEC64_BYTES), 4 * PEC64_BYTES);
    assert_int_equal(status_of(stream), 0);
    assert_errno(ENOSPC, read(stream, data, 1)); /* any look: now there is room */
    pass(3);
    assert_int_equal(read(stream, data, sizeof(data)), (IN_RING - 4 + 3) * PEC64_BYTES);
    assert_int_equal(period_of(data, 0), 5);
    assert_int_equal(period_of(data, IN_RING - 5), IN_RING);
    const uint64_t next = period_of(data, IN_RING - 4);
    assert_cmp(next, >, IN_RING + 10);
    assert_int_equal(period_of(data, IN_RING - 2), next + 2);
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_REPORTS_LOST), next - IN_RING - 1);
}

/* The kernel finds the bit when somebody reads, before it looks at what was written until then. */
static void reports__lost_by_the_device__told_before_those_around_them(void **state)
{
    (void)state;
    begin();
    uint8_t data[16 * PEC64_BYTES];
    pass(2);
    kmd_fault(machine, 0, KMD_FAULT_LOSE_REPORTS, 3);
    pass(5);
    assert_errno(EIO, read(stream, data, sizeof(data)));
    assert_int_equal(status_of(stream), KMD_XE_STATUS_REPORT_LOST);
    ssize_t bytes = read(stream, data, sizeof(data));
    assert_int_equal(bytes, 4 * PEC64_BYTES);
    assert_int_equal(period_of(data, 1), 2);
    assert_int_equal(period_of(data, 2), 6);
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_REPORTS_LOST), 3);
    kmd_fault(machine, 0, KMD_FAULT_LOSE_BUFFER, 0);
    assert_true(is_readable());
    assert_errno(EIO, read(stream, data, sizeof(data)));
    assert_int_equal(status_of(stream), KMD_XE_STATUS_BUFFER_OVERFLOW);
}

/* However fast the reader makes room. */
static void buffer__that_overflows_by_a_fault__loses_as_many_as_asked(void **state)
{
    (void)state;
    begin();
    uint8_t data[16 * PEC64_BYTES];
    kmd_fault(machine, 0, KMD_FAULT_LOSE_BUFFER, 3);
    assert_errno(EIO, read(stream, data, sizeof(data)));
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_REPORTS_LOST), 0);
        assert_int_equal(status_of(stream), i == 0 ? KMD_XE_STATUS_BUFFER_OVERFLOW : 0);
        pass(1);
        assert_errno(EAGAIN, read(stream, data, sizeof(data)));
    }
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_REPORTS_LOST), 3);
    pass(1);
    assert_int_equal(read(stream, data, sizeof(data)), PEC64_BYTES);
}

static void loss__alone__wakes_nobody_and_is_told_once(void **state)
{
    (void)state;
    begin();
    uint8_t data[16 * PEC64_BYTES];
    kmd_fault(machine, 0, KMD_FAULT_LOSE_REPORTS, 6);
    for (uint32_t i = 0; i < 3; i++) {
        pass(1);
        assert_false(is_readable());
    }
    assert_errno(EIO, read(stream, data, sizeof(data)));
    pass(1);
    assert_errno(EAGAIN, read(stream, data, sizeof(data)));
    pass(3);
    assert_true(is_readable());
    assert_cmp(read(stream, data, sizeof(data)), >, 0);
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_REPORTS_LOST), 6);
}

static void status__of_several_bits__all_at_once(void **state)
{
    (void)state;
    begin();
    uint8_t data[16 * PEC64_BYTES];
    kmd_fault(machine, 0, KMD_FAULT_LOSE_REPORTS, 1);
    pass(2);
    kmd_fault(machine, 0, KMD_FAULT_STATUS, KMD_XE_STATUS_COUNTER_OVERFLOW);
    kmd_fault(machine, 0, KMD_FAULT_STATUS, KMD_XE_STATUS_TRIGGER_QUEUE_FULL);
    assert_errno(EIO, read(stream, data, 1)); /* before the room is looked at */
    assert_int_equal(status_of(stream), 1 | 4 | 8);
    assert_int_equal(read(stream, data, sizeof(data)), PEC64_BYTES);
    assert_int_equal(status_of(stream), 0);
}

static void enable__and_disable__as_often_as_one_likes(void **state)
{
    (void)state;
    begin_at("lnl", 0);
    open_stream(xe_oa_open(fd, TIMED, {KMD_XE_OA_DISABLED, 1}));
    uint8_t data[16 * PEC64_BYTES];
    pass(4);
    assert_errno(EAGAIN, read(stream, data, sizeof(data)));
    assert_int_equal(ioctl(stream, KMD_XE_STREAM_DISABLE, 0), 0);
    assert_int_equal(ioctl(stream, KMD_XE_STREAM_ENABLE, 0), 0);
    pass(1);
    assert_int_equal(ioctl(stream, KMD_XE_STREAM_ENABLE, 0), 0); /* already: keeps what is there */
    pass(1);
    assert_int_equal(ioctl(stream, KMD_XE_STREAM_DISABLE, 0), 0);
    assert_int_equal(ioctl(stream, KMD_XE_STREAM_DISABLE, 0), 0);
    pass(3);
    ssize_t before = read(stream, data, sizeof(data));
    assert_in_range(before / PEC64_BYTES, 2, 3); /* of the time that it was enabled */
    assert_errno(EAGAIN, read(stream, data, sizeof(data)));
    assert_int_equal(ioctl(stream, KMD_XE_STREAM_ENABLE, 0), 0);
    pass(2);
    assert_int_equal(ioctl(stream, KMD_XE_STREAM_DISABLE, 0), 0);
    assert_int_equal(ioctl(stream, KMD_XE_STREAM_ENABLE, 0), 0); /* empties the ring */
    assert_errno(EAGAIN, read(stream, data, sizeof(data)));
}

static int change(const struct xe_pair *pairs)
{
    struct xe_chain chain;
    return ioctl(stream, KMD_XE_STREAM_CONFIG, xe_chain(&chain, pairs));
}

#define CHANGE(...) change((const struct xe_pair[]){__VA_ARGS__, {0, 0}})

static void config__changed__previous_id_and_new_counters(void **state)
{
    (void)state;
    static const char test_oa[] = "24c33f2c-f8d9-40d9-b2db-64e863b4d625";
    begin();
    int other = xe_add_config(fd, test_oa, XE_REGISTER);
    assert_int_equal(other, 2);
    assert_errno(EFAULT, ioctl(stream, KMD_XE_STREAM_CONFIG, xe_bad_address));
    assert_errno(ENODEV, CHANGE({KMD_XE_OA_METRIC_SET, 9}));
    assert_errno(ENODEV, CHANGE({KMD_XE_OA_NUM_SYNCS, 0}));
    for (uint32_t property = 1; property <= 14; property++)
        if (property != KMD_XE_OA_METRIC_SET && property != KMD_XE_OA_NUM_SYNCS &&
            property != KMD_XE_OA_SYNCS)
            assert_errno(EINVAL, CHANGE({KMD_XE_OA_METRIC_SET, 2}, {property, 1}));
    uint64_t fence = 0;
    struct kmd_xe_sync sync = {
        .type = 2, .flags = 1, .address = (uintptr_t)&fence, .timeline_value = 7};
    assert_errno(ENODEV, CHANGE({KMD_XE_OA_METRIC_SET, 9}, {KMD_XE_OA_NUM_SYNCS, 1}));
    assert_errno(EINVAL, CHANGE({KMD_XE_OA_METRIC_SET, 2}, {KMD_XE_OA_NUM_SYNCS, 1}));
    pass(1);
    assert_int_equal(CHANGE({KMD_XE_OA_METRIC_SET, 2}, {KMD_XE_OA_NUM_SYNCS, 1},
                            {KMD_XE_OA_SYNCS, (uintptr_t)&sync}),
                     1);
    assert_int_equal(fence, 7);
    assert_int_equal(CHANGE({KMD_XE_OA_METRIC_SET, 2}), 2);
    assert_int_equal(xe_remove_config(fd, 2), 0); /* the stream keeps it */
    pass(1);
    uint8_t reports[2 * PEC64_BYTES], expected[PEC64_BYTES];
    const struct xe_layout *layout = &xe_layouts[10];
    assert_int_equal(layout->word, PEC64);
    assert_int_equal(read(stream, reports, sizeof(reports)), sizeof(reports));
    for (uint32_t i = 0; i < 2; i++) { /* the first was made before the change */
        const uint8_t *report = reports + (size_t)i * PEC64_BYTES;
        xe_pack(machine, layout, i ? test_oa : XE_UUID, xe_get(report + 8, 8), 1950,
                xe_get(report + 16, 8), expected);
        assert_memory_equal(report, expected, sizeof(expected));
    }
    assert_errno(ENODEV, CHANGE({KMD_XE_OA_METRIC_SET, 2}));
}

static void ioctl__wrong__its_errno(void **state)
{
    (void)state;
    begin();
    uint64_t before = kmd_statistic(machine, 0, KMD_STAT_BAD_CALLS);
    assert_errno(EINVAL, ioctl(stream, 0x6905, 0));
    assert_errno(EINVAL, ioctl(stream, KMD_XE_DEVICE_QUERY, 0));
    assert_errno(EFAULT, ioctl(stream, KMD_XE_STREAM_STATUS, xe_bad_address));
    assert_errno(EFAULT, ioctl(stream, KMD_XE_STREAM_INFO, xe_bad_address));
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_BAD_CALLS), before + 4);
}

static void *map(size_t bytes, int protection, int flags)
{
    return mmap(NULL, bytes, protection, flags, stream, 0);
}

static void mapping__wrong__its_errno(void **state)
{
    (void)state;
    begin();
    enum { RING = 128 << 10 };
#define assert_unmapped(code, call)                                                                \
    do {                                                                                           \
        errno = 0;                                                                                 \
        assert_ptr_equal(call, MAP_FAILED);                                                        \
        assert_int_equal(errno, code);                                                             \
    } while (0)
    assert_unmapped(EINVAL, map(RING / 2, PROT_READ, MAP_PRIVATE));
    assert_unmapped(EINVAL, map(RING * 2, PROT_READ, MAP_PRIVATE));
    assert_unmapped(EINVAL, map(RING, PROT_READ | PROT_WRITE, MAP_PRIVATE));
    assert_unmapped(EINVAL, map(RING, PROT_READ | PROT_EXEC, MAP_PRIVATE));
    assert_unmapped(EINVAL, map(RING, PROT_READ, MAP_SHARED));
    void *good = map(RING, PROT_READ, MAP_PRIVATE);
    assert_ptr_not_equal(good, MAP_FAILED);
    munmap(good, RING);
    char path[512];
    snprintf(path, sizeof(path), "%s/proc/sys/dev/xe/observation_paranoid", kmd_folder(machine));
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("1\n", file);
    fclose(file);
    assert_unmapped(EACCES, map(RING / 2, PROT_READ, MAP_PRIVATE));
}

/* The ring holds whole reports on Xe2; on DG2 its size is a multiple anyway. */
static void mapping__of_a_ring__shows_it_raw(void **state)
{
    (void)state;
    begin();
    enum { RING = 128 << 10, IN_RING = RING / PEC64_BYTES };
    const uint8_t *ring = map(RING, PROT_READ, MAP_PRIVATE);
    assert_ptr_not_equal(ring, MAP_FAILED);
    uint8_t data[IN_RING * PEC64_BYTES];
    pass(3);
    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(xe_get(ring + i * PEC64_BYTES + 8, 8),
                         i < 3 ? (UINT64_C(1) << 20) + (i + 1) * PERIOD_TICKS : 0);
    uint8_t first[PEC64_BYTES];
    memcpy(first, ring, sizeof(first));
    assert_int_equal(read(stream, data, PEC64_BYTES), PEC64_BYTES);
    assert_memory_equal(first, data, sizeof(first));
    assert_int_equal(xe_get(ring, 8), 0); /* read: id and time are cleared, the rest stays */
    assert_int_equal(xe_get(ring + 8, 8), 0);
    assert_memory_equal(ring + 16, data + 16, PEC64_BYTES - 16);
    assert_int_not_equal(xe_get(ring + PEC64_BYTES, 8), 0);
    pass(IN_RING - 10);
    assert_cmp(read(stream, data, sizeof(data)), >, 0);
    pass(12);
    uint64_t last = (UINT64_C(1) << 20);
    for (uint32_t i = 0; i < IN_RING; i++)
        if (xe_get(ring + i * PEC64_BYTES + 8, 8) > last)
            last = xe_get(ring + i * PEC64_BYTES + 8, 8);
    ssize_t bytes = read(stream, data, sizeof(data));
    assert_int_equal(xe_get(data + bytes - PEC64_BYTES + 8, 8), last); /* it went round */
    kmd_fault(machine, 0, KMD_FAULT_RESET, 0);
    pass(2);
    assert_int_equal(xe_get(ring + 8, 8), PERIOD_TICKS); /* begun anew, empty behind */
    assert_int_equal(xe_get(ring + 2 * PEC64_BYTES + 8, 8), 0);
    munmap((void *)(uintptr_t)ring, RING);
}

static void faults__of_reads__as_told(void **state)
{
    (void)state;
    begin();
    uint8_t data[16 * PEC64_BYTES];
    pass(4);
    kmd_fault(machine, 0, KMD_FAULT_READ_ERRNO, ENOMEM);
    assert_errno(ENOMEM, read(stream, data, sizeof(data)));
    kmd_fault(machine, 0, KMD_FAULT_SHORT_READS, 1);
    assert_int_equal(read(stream, data, sizeof(data)), PEC64_BYTES);
    kmd_fault(machine, 0, KMD_FAULT_SHORT_READS, 0);
    assert_int_equal(read(stream, data, sizeof(data)), 3 * PEC64_BYTES);
    kmd_fault(machine, 0, KMD_FAULT_FALSE_POLL, 1);
    assert_true(is_readable());
    assert_errno(EAGAIN, read(stream, data, sizeof(data)));
    assert_false(is_readable());
    kmd_fault(machine, 0, KMD_FAULT_CONTEXT_SWITCH, 2);
    pass(4);
    ssize_t bytes = read(stream, data, sizeof(data));
    uint32_t switches = 0;
    for (ssize_t at = 0; at < bytes; at += PEC64_BYTES) {
        bool is_switch = xe_get(data + at, 8) >> 22 & 1;
        switches += is_switch;
        assert_int_equal(xe_get(data + at, 8) >> 16 & 1, is_switch); /* only then a context */
        assert_true(!is_switch || xe_get(data + at + 16, 8) != 0);
    }
    assert_int_equal(switches, 2);
    kmd_fault(machine, 0, KMD_FAULT_RESET, 0);
    pass(1);
    assert_cmp(read(stream, data, sizeof(data)), >, 0);
    assert_in_range(xe_get(data + 8, 8), PERIOD_TICKS, 2 * PERIOD_TICKS);
    kmd_fault(machine, 0, KMD_FAULT_UNPLUG, 1);
    assert_errno(ENODEV, read(stream, data, sizeof(data)));
    assert_errno(ENODEV, ioctl(stream, KMD_XE_STREAM_ENABLE, 0));
}

static void idle__gpu__makes_no_reports(void **state)
{
    (void)state;
    begin();
    uint8_t data[16 * PEC64_BYTES];
    pass(1);
    kmd_fault(machine, 0, KMD_FAULT_IDLE, 1);
    pass(10);
    kmd_fault(machine, 0, KMD_FAULT_IDLE, 0);
    pass(1);
    ssize_t bytes = read(stream, data, sizeof(data));
    uint64_t gap = 0;
    for (ssize_t at = PEC64_BYTES; at < bytes; at += PEC64_BYTES) {
        uint64_t step = xe_get(data + at + 8, 8) - xe_get(data + at - PEC64_BYTES + 8, 8);
        gap = step > gap ? step : gap;
    }
    assert_cmp(gap, >, 9 * PERIOD_TICKS);
}

SUITE(xe_stream)
{
#define CASE(name) cmocka_unit_test_teardown(name, end)
    const struct CMUnitTest tests[] = {
        CASE(reports__of_each_format__bit_exact),
        CASE(timestamps__at_the_width_of_the_field__wrap),
        CASE(read__into_room_for_some__whole_reports_in_order),
        CASE(read__without_samples_or_timer__its_errno),
        CASE(poll__until_enough_reports__not_readable),
        CASE(ring__just_full__loses_nothing),
        CASE(ring__overflowing__eio_once_and_old_reports_stay),
        CASE(reports__lost_by_the_device__told_before_those_around_them),
        CASE(buffer__that_overflows_by_a_fault__loses_as_many_as_asked),
        CASE(loss__alone__wakes_nobody_and_is_told_once),
        CASE(status__of_several_bits__all_at_once),
        CASE(enable__and_disable__as_often_as_one_likes),
        CASE(config__changed__previous_id_and_new_counters),
        CASE(ioctl__wrong__its_errno),
        CASE(mapping__wrong__its_errno),
        CASE(mapping__of_a_ring__shows_it_raw),
        CASE(faults__of_reads__as_told),
        CASE(idle__gpu__makes_no_reports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
