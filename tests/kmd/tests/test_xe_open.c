/* Opening OA streams of the emulated xe: each property, and the order of all checks. */

#include "tests/kmd/tests/xe_client.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { PEC64 = 0x10105, MPEC8U32 = 0x204, A32 = 0x500 };

static struct kmd_machine *machine;
static int fd = -1;
static uint64_t config;

static void begin_on(struct kmd_device device)
{
    machine = xe_start(&device);
    fd = xe_node();
    config = (uint64_t)xe_add_config(fd, XE_UUID, XE_REGISTER);
    assert_int_equal(config, 1);
}

static void begin(const char *platform)
{
    begin_on((struct kmd_device){.platform = platform});
}

static int end(void **state)
{
    int stream = -1;

    (void)state;
    return xe_end(&machine, &fd, &stream);
}

#define SAMPLE                                                                                     \
    {                                                                                              \
        KMD_XE_OA_SAMPLE, 1                                                                        \
    }
#define SET                                                                                        \
    {                                                                                              \
        KMD_XE_OA_METRIC_SET, config                                                               \
    }
#define FORMAT(word)                                                                               \
    {                                                                                              \
        KMD_XE_OA_FORMAT, word                                                                     \
    }
#define EXPONENT(value)                                                                            \
    {                                                                                              \
        KMD_XE_OA_EXPONENT, value                                                                  \
    }
#define UNIT(id)                                                                                   \
    {                                                                                              \
        KMD_XE_OA_UNIT_ID, id                                                                      \
    }

/* Opens, expects success, and closes. */
#define assert_opens(...)                                                                          \
    do {                                                                                           \
        int opened = xe_oa_open(fd, __VA_ARGS__);                                                  \
        assert_true(opened >= 0);                                                                  \
        close(opened);                                                                             \
    } while (0)

static int open_chain(const struct xe_chain *chain)
{
    return xe_observe(fd, KMD_XE_TYPE_OA, KMD_XE_OP_STREAM_OPEN, (uintptr_t)chain);
}

static void chain__of_wrong_links__refused_at_the_first(void **state)
{
    (void)state;
    begin("lnl");
    assert_errno(EFAULT, xe_observe(fd, KMD_XE_TYPE_OA, KMD_XE_OP_STREAM_OPEN, 0));
    struct xe_chain chain;
    xe_chain(&chain, (const struct xe_pair[]){SAMPLE, SET, {0, 0}});
    chain.links[1].base.next = xe_bad_address; /* a walk that goes on too far finds EFAULT */
    chain.links[0].base.pad = 1;
    assert_errno(EINVAL, open_chain(&chain));
    chain.links[0].base.pad = 0;
    chain.links[0].base.name = 1;
    assert_errno(EINVAL, open_chain(&chain));
    chain.links[0].base.name = 0;
    chain.links[0].pad = 1;
    assert_errno(EINVAL, open_chain(&chain));
    chain.links[0].pad = 0;
    assert_errno(EFAULT, open_chain(&chain));
    chain.links[0].property = 0;
    assert_errno(EINVAL, open_chain(&chain));
    chain.links[0].property = 14;
    assert_errno(EINVAL, open_chain(&chain));
    chain.links[0].property = UINT32_MAX;
    assert_errno(EINVAL, open_chain(&chain));
}

static void chain__of_seventeen_links__e2big(void **state)
{
    (void)state;
    begin("lnl");
    struct xe_pair pairs[18] = {SAMPLE, SET, FORMAT(PEC64)};
    for (int i = 3; i < 17; i++)
        pairs[i] = (struct xe_pair)EXPONENT(10);
    assert_errno(E2BIG, xe_open_pairs(fd, KMD_XE_TYPE_OA, pairs));
    pairs[16].property = 0;
    int stream = xe_open_pairs(fd, KMD_XE_TYPE_OA, pairs);
    assert_cmp(stream, >=, 0);
    close(stream);
    /* A ring of links ends as well. */
    struct xe_chain chain;
    xe_chain(&chain, (const struct xe_pair[]){SAMPLE, {0, 0}});
    chain.links[0].base.next = (uintptr_t)&chain.links[0];
    assert_errno(E2BIG, open_chain(&chain));
}

static void chain__with_a_property_twice__the_last_counts(void **state)
{
    (void)state;
    begin("lnl");
    assert_opens(SAMPLE, SET, FORMAT(MPEC8U32), FORMAT(PEC64));
    assert_errno(EINVAL, xe_oa_open(fd, SAMPLE, SET, FORMAT(PEC64), FORMAT(MPEC8U32)));
}

static void property__out_of_range__einval(void **state)
{
    (void)state;
    begin("lnl");
    static const struct xe_pair wrong[] = {
        UNIT(3),
        UNIT(UINT64_MAX),
        FORMAT(A32),
        FORMAT(0),
        FORMAT(0x10106),
        FORMAT(UINT64_C(0x100010105)),
        EXPONENT(32),
        {KMD_XE_OA_NUM_SYNCS, 1025},
        {KMD_XE_OA_BUFFER_SIZE, 0},
        {KMD_XE_OA_BUFFER_SIZE, 64 << 10},
        {KMD_XE_OA_BUFFER_SIZE, 256 << 20},
        {KMD_XE_OA_BUFFER_SIZE, (128 << 10) + 1},
        {KMD_XE_OA_WAIT_NUM_REPORTS, 0},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_errno(EINVAL, xe_oa_open(fd, SAMPLE, SET, FORMAT(PEC64), wrong[i]));
        /* The walk stops there: what follows is not read. */
        struct xe_chain chain;
        xe_chain(&chain, (const struct xe_pair[]){wrong[i], {0, 0}});
        chain.links[0].base.next = xe_bad_address;
        assert_errno(EINVAL, open_chain(&chain));
    }
    assert_opens(SAMPLE, SET, FORMAT(PEC64), EXPONENT(31), {KMD_XE_OA_BUFFER_SIZE, 128 << 10});
    assert_opens(SAMPLE, SET, FORMAT(PEC64), EXPONENT(0), {KMD_XE_OA_BUFFER_SIZE, 128 << 20});
}

static void property__of_a_newer_driver__unknown_to_an_old_one(void **state)
{
    (void)state;
    static const struct {
        uint32_t capability;
        struct xe_pair pair;
    } added[] = {
        {KMD_XE_CAP_SYNCS, {KMD_XE_OA_NUM_SYNCS, 0}},
        {KMD_XE_CAP_SYNCS, {KMD_XE_OA_SYNCS, 0}},
        {KMD_XE_CAP_BUFFER_SIZE, {KMD_XE_OA_BUFFER_SIZE, 1 << 20}},
        {KMD_XE_CAP_WAIT_NUM_REPORTS, {KMD_XE_OA_WAIT_NUM_REPORTS, 2}},
    };
    for (size_t i = 0; i < 4; i++) {
        begin_on(
            (struct kmd_device){.platform = "lnl", .xe_capabilities = 63 & ~added[i].capability});
        assert_errno(EINVAL, xe_oa_open(fd, SAMPLE, SET, FORMAT(PEC64), added[i].pair));
        assert_opens(SAMPLE, SET, FORMAT(PEC64), EXPONENT(10));
        end(NULL);
        begin("lnl");
        assert_opens(SAMPLE, SET, FORMAT(PEC64), added[i].pair);
        end(NULL);
    }
    begin("lnl");
}

static uint32_t make_queue(uint16_t class, uint16_t width)
{
    struct kmd_xe_engine engines[2] = {{.engine_class = class}, {.engine_class = class}};
    if (class == KMD_XE_VIDEO_DECODE)
        engines[0].gt_id = engines[1].gt_id = 1;
    struct kmd_xe_exec_queue_create create = {
        .width = width, .num_placements = 1, .instances = (uintptr_t)engines};
    assert_int_equal(ioctl(fd, KMD_XE_EXEC_QUEUE_CREATE, &create), 0);
    assert_int_not_equal(create.exec_queue_id, 0);
    return create.exec_queue_id;
}

static void queue__that_does_not_fit__its_errno(void **state)
{
    (void)state;
    begin("lnl");
    uint32_t render = make_queue(KMD_XE_RENDER, 1), wide = make_queue(KMD_XE_RENDER, 2);
    uint32_t copy = make_queue(KMD_XE_COPY, 1), video = make_queue(KMD_XE_VIDEO_DECODE, 1);
    assert_opens(SAMPLE, SET, FORMAT(PEC64), {KMD_XE_OA_EXEC_QUEUE, render});
    assert_opens(SAMPLE, SET, FORMAT(PEC64), {KMD_XE_OA_EXEC_QUEUE, 0}); /* none */
    /* A unit of media has no queue, not even one that is missing. */
    assert_errno(
        EINVAL, xe_oa_open(fd, SAMPLE, SET, FORMAT(MPEC8U32), UNIT(2), {KMD_XE_OA_EXEC_QUEUE, 77}));
    assert_errno(ENOENT, xe_oa_open(fd, SAMPLE, SET, FORMAT(PEC64), {KMD_XE_OA_EXEC_QUEUE, 77}));
    assert_errno(EOPNOTSUPP,
                 xe_oa_open(fd, SAMPLE, SET, FORMAT(PEC64), {KMD_XE_OA_EXEC_QUEUE, wide}));
    /* An engine that is missing, one without a unit, one of another unit. */
    assert_errno(EINVAL, xe_oa_open(fd, SAMPLE, SET, FORMAT(PEC64), {KMD_XE_OA_EXEC_QUEUE, render},
                                    {KMD_XE_OA_ENGINE_INSTANCE, 1}));
    assert_errno(EINVAL, xe_oa_open(fd, SAMPLE, SET, FORMAT(PEC64), {KMD_XE_OA_EXEC_QUEUE, copy}));
    assert_errno(EINVAL, xe_oa_open(fd, SAMPLE, SET, FORMAT(PEC64), {KMD_XE_OA_EXEC_QUEUE, video}));
    /* NO_PREEMPT is of a queue. */
    assert_errno(EINVAL, xe_oa_open(fd, SAMPLE, SET, FORMAT(PEC64), {KMD_XE_OA_NO_PREEMPT, 1}));
    assert_opens(SAMPLE, SET, FORMAT(PEC64), {KMD_XE_OA_EXEC_QUEUE, render},
                 {KMD_XE_OA_NO_PREEMPT, 1});
    struct kmd_xe_destroy destroy = {.id = render};
    assert_int_equal(ioctl(fd, KMD_XE_EXEC_QUEUE_DESTROY, &destroy), 0);
    assert_errno(ENOENT, ioctl(fd, KMD_XE_EXEC_QUEUE_DESTROY, &destroy));
    assert_errno(ENOENT,
                 xe_oa_open(fd, SAMPLE, SET, FORMAT(PEC64), {KMD_XE_OA_EXEC_QUEUE, render}));
}

static void privilege__missing__only_for_what_needs_it(void **state)
{
    (void)state;
    struct kmd_config description = {
        .device_count = 1, .is_manual = true, .devices = {{.platform = "lnl"}}};
    machine = kmd_start(&description); /* not paranoid yet: a configuration can be added */
    fd = xe_node();
    config = (uint64_t)xe_add_config(fd, XE_UUID, XE_REGISTER);
    uint32_t queue = make_queue(KMD_XE_RENDER, 1);
    char path[512];
    snprintf(path, sizeof(path), "%s/proc/sys/dev/xe/observation_paranoid", kmd_folder(machine));
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("1\n", file);
    fclose(file);

    assert_errno(EACCES, xe_oa_open(fd, SAMPLE, SET, FORMAT(PEC64)));
    assert_errno(EACCES, xe_oa_open(fd, SAMPLE, SET, FORMAT(PEC64), {KMD_XE_OA_EXEC_QUEUE, queue}));
    assert_errno(EACCES, xe_oa_open(fd, SET, FORMAT(PEC64), {KMD_XE_OA_EXEC_QUEUE, queue},
                                    {KMD_XE_OA_NO_PREEMPT, 1}));
    assert_opens(SET, FORMAT(PEC64), {KMD_XE_OA_EXEC_QUEUE, queue});
    /* Before it: chain, unit, queue. After it: everything else. */
    assert_errno(EINVAL, xe_oa_open(fd, SAMPLE, EXPONENT(32)));
    assert_errno(ENOENT, xe_oa_open(fd, SAMPLE, {KMD_XE_OA_EXEC_QUEUE, 77}));
    assert_errno(EINVAL, xe_oa_open(fd, SAMPLE, {KMD_XE_OA_NO_PREEMPT, 1}));
    assert_errno(EACCES, xe_oa_open(fd, EXPONENT(5)));
    assert_errno(EACCES, xe_oa_open(fd, SAMPLE, FORMAT(MPEC8U32)));
    assert_errno(EACCES, xe_oa_open(fd, SAMPLE, SET, FORMAT(PEC64),
                                    {KMD_XE_OA_WAIT_NUM_REPORTS, UINT32_MAX}));
}

static int open_with_syncs(const struct kmd_xe_sync *syncs, uint64_t count)
{
    return xe_oa_open(fd, SAMPLE, SET, FORMAT(PEC64), {KMD_XE_OA_NUM_SYNCS, count},
                      {KMD_XE_OA_SYNCS, (uintptr_t)syncs});
}

static void syncs__wrong_and_right__checked_and_signalled(void **state)
{
    (void)state;
    begin("lnl");
    uint64_t fences[2] = {0};
    struct kmd_xe_sync syncs[2] = {
        {.type = 2, .flags = 1, .address = (uintptr_t)&fences[0], .timeline_value = 42},
        {.type = 2, .flags = 1, .address = (uintptr_t)&fences[1], .timeline_value = 43}};
    assert_errno(EINVAL, open_with_syncs(NULL, 1));
    assert_errno(EFAULT, open_with_syncs((void *)(uintptr_t)xe_bad_address, 1));
    assert_errno(EINVAL, open_with_syncs(syncs, 2));
    assert_int_equal(fences[0], 0);
    int stream = open_with_syncs(syncs, 1);
    assert_cmp(stream, >=, 0);
    assert_int_equal(fences[0], 42);
    assert_int_equal(fences[1], 0);
    /* The unit is busy before the fences are looked at. */
    assert_errno(EBUSY, open_with_syncs(NULL, 1));
    close(stream);
    syncs[0].type = 3;
    assert_errno(EINVAL, open_with_syncs(syncs, 1));
    syncs[0].type = 0; /* a handle that nobody made */
    assert_errno(ENOENT, open_with_syncs(syncs, 1));
}

/* From the last check to the first: each request is wrong in one more way than the one before. */
static void checks__many_at_once__the_earlier_wins(void **state)
{
    (void)state;
    begin("lnl");
    int busy = xe_oa_open(fd, SAMPLE, SET, FORMAT(PEC64));
    assert_cmp(busy, >=, 0);
    struct xe_pair set = {KMD_XE_OA_METRIC_SET, 99};
    assert_errno(EINVAL, xe_oa_open(fd, SAMPLE, set, FORMAT(MPEC8U32), UNIT(2)));
    assert_errno(EFAULT, xe_oa_open(fd, SAMPLE, set, FORMAT(MPEC8U32), UNIT(2),
                                    {KMD_XE_OA_NUM_SYNCS, 1}, {KMD_XE_OA_SYNCS, xe_bad_address}));
    assert_errno(EBUSY, xe_oa_open(fd, SAMPLE, set, FORMAT(PEC64), {KMD_XE_OA_NUM_SYNCS, 1},
                                   {KMD_XE_OA_SYNCS, xe_bad_address}));
    assert_errno(EINVAL,
                 xe_oa_open(fd, SAMPLE, set, FORMAT(PEC64), {KMD_XE_OA_BUFFER_SIZE, 128 << 10},
                            {KMD_XE_OA_WAIT_NUM_REPORTS, (128 << 10) / 576 + 1}));
    assert_errno(EBUSY,
                 xe_oa_open(fd, SAMPLE, set, FORMAT(PEC64), {KMD_XE_OA_BUFFER_SIZE, 128 << 10},
                            {KMD_XE_OA_WAIT_NUM_REPORTS, (128 << 10) / 576}));
    assert_errno(EINVAL, xe_oa_open(fd, set, FORMAT(PEC64)));
    close(busy);
    uint32_t queue = make_queue(KMD_XE_RENDER, 1);
    assert_errno(EINVAL,
                 xe_oa_open(fd, SET, FORMAT(PEC64), EXPONENT(3), {KMD_XE_OA_EXEC_QUEUE, queue}));
    assert_opens(SET, FORMAT(PEC64), {KMD_XE_OA_EXEC_QUEUE, queue});
}

static void set__unknown_or_missing__einval(void **state)
{
    (void)state;
    begin("lnl");
    assert_errno(EINVAL, xe_oa_open(fd, SAMPLE, FORMAT(PEC64)));
    assert_errno(EINVAL, xe_oa_open(fd, SAMPLE, FORMAT(PEC64), {KMD_XE_OA_METRIC_SET, 2}));
    assert_errno(EINVAL, xe_oa_open(fd, SAMPLE, SET)); /* no format */
}

static void formats__of_each_generation_and_unit__as_listed(void **state)
{
    (void)state;
    /* Format words of each group, in one list; bit n of a generation: it has word n. */
    static const uint32_t words[] = {0x700,   0x000, 0x200,   0x500,   0x501,     0x103,
                                     0x203,   0x104, 0x204,   0x10105, 0x1010105, 0x105,
                                     0x10505, 0x505, 0x10605, 0x605,   0x10305,   0x10405};
    enum { GEN12 = 0xf, XEHP = 0x78, MEDIA = 0x180, XE2 = 0x3fe00 };
    static const struct {
        const char *platform;
        uint32_t graphics, media; /* words of unit 0 and of the last unit */
    } expected[] = {
        {"tgl-gt2", GEN12, GEN12}, {"adl", GEN12, GEN12},    {"dg2-g11", XEHP, XEHP},
        {"pvc", XEHP, XEHP},       {"mtl-gt3", XEHP, MEDIA}, {"lnl", XE2, MEDIA},
        {"bmg", XE2, MEDIA},       {"ptl", XE2, MEDIA},
    };
    static const uint32_t last_units[] = {0, 0, 0, 1, 1, 2, 3, 2};
    for (size_t i = 0; i < 8; i++) {
        begin(expected[i].platform);
        for (uint32_t n = 0; n < 18; n++) {
            for (uint32_t last = 0; last < 2; last++) {
                uint32_t unit = last ? last_units[i] : 0;
                bool has = (last ? expected[i].media : expected[i].graphics) >> n & 1;
                int stream = xe_oa_open(fd, SAMPLE, SET, FORMAT(words[n]), UNIT(unit));
                assert_int_equal(stream >= 0, has);
                assert_true(has || errno == EINVAL);
                if (stream >= 0)
                    close(stream);
            }
        }
        end(NULL);
    }
    begin("lnl");
}

static void descriptor__of_a_stream__has_no_flags(void **state)
{
    (void)state;
    begin("lnl");
    int stream = xe_oa_open(fd, SAMPLE, SET, FORMAT(PEC64));
    assert_cmp(stream, >=, 0);
    assert_int_equal(fcntl(stream, F_GETFD) & FD_CLOEXEC, 0);
    assert_int_equal(fcntl(stream, F_GETFL) & O_NONBLOCK, 0);
    close(stream);
}

static void units__of_a_card__all_open_at_once(void **state)
{
    (void)state;
    begin("bmg");
    int streams[5];
    streams[0] = xe_oa_open(fd, SAMPLE, SET, FORMAT(PEC64));
    for (uint32_t unit = 1; unit < 4; unit++)
        streams[unit] = xe_oa_open(fd, SAMPLE, SET, FORMAT(MPEC8U32), UNIT(unit));
    streams[4] = xe_stall_open(fd, {KMD_XE_EU_STALL_GT_ID, 0});
    for (uint32_t i = 0; i < 5; i++)
        assert_cmp(streams[i], >=, 0);
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_STREAMS_OPEN), 5);
    assert_errno(EBUSY, xe_oa_open(fd, SAMPLE, SET, FORMAT(MPEC8U32), UNIT(2)));
    close(streams[2]);
    assert_opens(SAMPLE, SET, FORMAT(MPEC8U32), UNIT(2));
    for (uint32_t i = 0; i < 5; i++)
        if (i != 2)
            close(streams[i]);
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_STREAMS_OPEN), 0);
}

static void fault__of_opening__as_told(void **state)
{
    (void)state;
    begin("pvc");
    kmd_fault(machine, 0, KMD_FAULT_OPEN_ERRNO, ETIMEDOUT);
    assert_errno(ETIMEDOUT, xe_oa_open(fd, SAMPLE, SET, FORMAT(A32)));
    assert_errno(ETIMEDOUT, xe_stall_open(fd, {KMD_XE_EU_STALL_GT_ID, 0}));
    kmd_fault(machine, 0, KMD_FAULT_OPEN_ERRNO, 0);
    assert_opens(SAMPLE, SET, FORMAT(A32), UNIT(1));
    kmd_fault(machine, 0, KMD_FAULT_UNPLUG, 1);
    assert_errno(ENODEV, xe_oa_open(fd, SAMPLE, SET, FORMAT(A32)));
}

SUITE(xe_open)
{
#define CASE(name) cmocka_unit_test_teardown(name, end)
    const struct CMUnitTest tests[] = {
        CASE(chain__of_wrong_links__refused_at_the_first),
        CASE(chain__of_seventeen_links__e2big),
        CASE(chain__with_a_property_twice__the_last_counts),
        CASE(property__out_of_range__einval),
        CASE(property__of_a_newer_driver__unknown_to_an_old_one),
        CASE(queue__that_does_not_fit__its_errno),
        CASE(privilege__missing__only_for_what_needs_it),
        CASE(syncs__wrong_and_right__checked_and_signalled),
        CASE(checks__many_at_once__the_earlier_wins),
        CASE(set__unknown_or_missing__einval),
        CASE(formats__of_each_generation_and_unit__as_listed),
        CASE(descriptor__of_a_stream__has_no_flags),
        CASE(units__of_a_card__all_open_at_once),
        CASE(fault__of_opening__as_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
