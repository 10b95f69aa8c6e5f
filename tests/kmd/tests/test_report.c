/* Bytes of reports, against a packing that is written down here once more, from the formats. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/kmd/tests/bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { RECORD_HEADER = 8, BIGGEST = 256, TIMER = 1 << 19, SWITCH = 8 << 19, SLEEP = 16 << 19 };

struct expected {
    const struct kmd_machine *machine;
    uint32_t unit;
    const char *uuid;
    uint64_t ticks;
    uint8_t bytes[BIGGEST];
};

static uint64_t value(const struct expected *report, enum kmd_bank bank, uint32_t index)
{
    return kmd_counter(report->machine, 0, report->unit, report->uuid, bank, index, report->ticks);
}

static void word(struct expected *report, uint32_t offset, uint64_t bits)
{
    for (uint32_t i = 0; i < 4; i++)
        report->bytes[offset + i] = (uint8_t)(bits >> (8 * i));
}

static void words(struct expected *report, uint32_t offset, enum kmd_bank bank, uint32_t first,
                  uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        word(report, offset + 4 * i, value(report, bank, first + i));
}

static void quads(struct expected *report, uint32_t offset, enum kmd_bank bank, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        word(report, offset + 8 * i, value(report, bank, i));
        word(report, offset + 8 * i + 4, value(report, bank, i) >> 32);
    }
}

/* 40-bit counters from first to last: low words in a run, fifth bytes from 160 on. */
static void forties(struct expected *report, uint32_t offset, uint32_t first, uint32_t last)
{
    for (uint32_t n = first; n <= last; n++) {
        word(report, offset + 4 * (n - first), value(report, KMD_BANK_A, n));
        report->bytes[160 + n] = (uint8_t)(value(report, KMD_BANK_A, n) >> 32);
    }
}

static void header_32(struct expected *report, uint32_t id, uint32_t context)
{
    word(report, 0, id);
    word(report, 4, report->ticks);
    word(report, 8, context);
    word(report, 12, value(report, KMD_BANK_CLOCK, 0));
}

static void header_64(struct expected *report, uint32_t id, uint32_t context)
{
    word(report, 0, id);
    word(report, 8, report->ticks);
    word(report, 12, report->ticks >> 32 & 0xffffff);
    word(report, 16, context);
    word(report, 24, value(report, KMD_BANK_CLOCK, 0));
    word(report, 28, value(report, KMD_BANK_CLOCK, 0) >> 32);
}

static void b_and_c(struct expected *report, uint32_t offset)
{
    words(report, offset, KMD_BANK_B, 0, 8);
    words(report, offset + 32, KMD_BANK_C, 0, 8);
}

static void pack_hsw_5(struct expected *report, uint32_t id, uint32_t context)
{
    (void)id;
    (void)context;
    word(report, 0, 1);
    word(report, 4, report->ticks);
    words(report, 12, KMD_BANK_A, 0, 45);
    b_and_c(report, 192);
}

static void pack_7(struct expected *report, uint32_t id, uint32_t context)
{
    header_32(report, id, context);
    words(report, 16, KMD_BANK_C, 0, 4);
    words(report, 32, KMD_BANK_B, 0, 8);
}

static void pack_9(struct expected *report, uint32_t id, uint32_t context)
{
    header_32(report, id, context);
    words(report, 16, KMD_BANK_A, 7, 12);
    b_and_c(report, 64);
}

static void pack_10(struct expected *report, uint32_t id, uint32_t context)
{
    header_32(report, id, context);
    forties(report, 16, 0, 31);
    words(report, 144, KMD_BANK_A, 32, 4);
    b_and_c(report, 192);
}

static void pack_12(struct expected *report, uint32_t id, uint32_t context)
{
    header_32(report, id, context);
    words(report, 16, KMD_BANK_A, 0, 4);
    forties(report, 32, 4, 23);
    words(report, 112, KMD_BANK_A, 24, 4);
    forties(report, 128, 28, 31);
    words(report, 144, KMD_BANK_A, 32, 4);
    words(report, 160, KMD_BANK_A, 36, 1);
    words(report, 184, KMD_BANK_A, 37, 1);
    b_and_c(report, 192);
}

static void pack_13(struct expected *report, uint32_t id, uint32_t context)
{
    header_64(report, id, context);
    quads(report, 32, KMD_BANK_PEC, 8);
    b_and_c(report, 96);
}

static void pack_14(struct expected *report, uint32_t id, uint32_t context)
{
    header_64(report, id, context);
    words(report, 32, KMD_BANK_PEC, 0, 8);
    b_and_c(report, 64);
}

/* 16.666 MHz steps: 1300 MHz is 78; Gen9 to 12LP say it twice. */
struct kind {
    const char *platform;
    uint32_t format, bytes;
    void (*pack)(struct expected *report, uint32_t id, uint32_t context);
    uint32_t id;            /* all but the reason, while a context runs */
    uint64_t valid_context; /* id of the context in a timer report */
    bool is_media;
};

static const struct kind kinds[] = {
    {"hsw-gt2", 5, 256, pack_hsw_5, 0, 0, false},
    {"bdw", 10, 256, pack_10, 1u << 25, 0x20, false},
    {"skl-gt2", 10, 256, pack_10, 63 | 63u << 25 | 1 << 16, 0x20, false},
    {"skl-gt2", 7, 64, pack_7, 63 | 63u << 25 | 1 << 16, 0x20, false},
    {"icl", 9, 128, pack_9, 66 | 66u << 25 | 1 << 16, 0x20, false},
    {"tgl-gt2", 10, 256, pack_10, 78 | 78u << 25 | 1 << 16, 0x20, false},
    {"dg2-g10", 12, 256, pack_12, 144, 0x20, false},
    {"mtl-gt3", 12, 256, pack_12, 135, 0x20, false},
    {"mtl-gt3", 13, 192, pack_13, 135, 0x20, true},
    {"mtl-gt3", 14, 128, pack_14, 135, 0x20, true},
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), REPORTS = 12, EXPONENT = 10 };

static int open_kind(int node, const struct kind *kind, long set)
{
    const uint64_t properties[][2] = {{BED_SAMPLE, 1},
                                      {BED_SET, (uint64_t)set},
                                      {BED_FORMAT, kind->format},
                                      {BED_EXPONENT, EXPONENT},
                                      {BED_CLASS, kind->is_media ? 2 : 0},
                                      {BED_INSTANCE, 0}};
    const long fd = bed_open(node, BED_NONBLOCK, properties, 6);

    assert_cmp(fd, >=, 0);
    return (int)fd;
}

static void assert_report(const struct kind *kind, struct expected *report, const uint8_t *record,
                          uint32_t reason)
{
    const uint8_t head[RECORD_HEADER] = {1,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         (uint8_t)(kind->bytes + RECORD_HEADER),
                                         (uint8_t)((kind->bytes + 8) >> 8)};

    memset(report->bytes, 0, sizeof(report->bytes));
    kind->pack(report, kind->id | reason, (uint32_t)kind->valid_context);
    assert_memory_equal(record, head, sizeof(head));
    for (uint32_t i = 0; i < kind->bytes; i++) {
        if (record[RECORD_HEADER + i] != report->bytes[i])
            fail_msg("%s format %u: byte %u is %02x, expected %02x", kind->platform, kind->format,
                     i, record[RECORD_HEADER + i], report->bytes[i]);
    }
}

/* Reports from a time on, while clocks and counters wrap. */
static void check_kind(const struct kind *kind, uint64_t first_ticks, const char *uuid)
{
    const struct kmd_config config = {.device_count = 1,
                                      .devices = {{.platform = kind->platform}},
                                      .is_privileged = true,
                                      .is_manual = true,
                                      .first_ticks = first_ticks};
    struct kmd_machine *machine = bed_start_config(&config);
    const int node = bed_node();
    const int stream = open_kind(node, kind, bed_add(node, uuid));
    const size_t size = kind->bytes + RECORD_HEADER;
    struct expected report = {.machine = machine, .unit = kind->is_media, .uuid = uuid};
    uint8_t *data = calloc(REPORTS * 4, size);
    long bytes;

    assert_non_null(data);
    /* 12 MHz to 38.4 MHz: from 12 reports of 2048 ticks on. */
    kmd_advance(machine, 2200000);
    bytes = bed_read(stream, data, REPORTS * 4 * size);
    assert_cmp(bytes, >=, (long)(REPORTS * size));
    assert_int_equal(bytes % (long)size, 0);
    report.ticks = (first_ticks / 2048 + 1) * 2048;
    for (long at = 0; at < bytes; at += (long)size) {
        assert_report(kind, &report, data + at, TIMER);
        report.ticks += 2048;
    }
    free(data);
    (void)close(stream);
    (void)close(node);
    kmd_stop(machine);
}

static void report__every_format__has_expected_bytes(void **state)
{
    /* Near the wraps of 32-bit clocks, of 40-bit counters, and of 56-bit clocks. */
    static const uint64_t starts[] = {0, (1ull << 32) - 9000, 16240000000, (1ull << 56) - 9000};

    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        for (size_t k = 0; k < sizeof(starts) / sizeof(starts[0]); k++)
            check_kind(&kinds[i], starts[k], BED_UUID);
    }
}

static void report__test_set__has_expected_bytes(void **state)
{
    (void)state;
    check_kind(&kinds[5], 12345678, BED_TESTOA_TGL);
}

__extension__ typedef unsigned __int128 wide;

static uint64_t scaled(uint64_t rate, uint64_t ticks)
{
    return (uint64_t)((wide)rate * ticks >> 16);
}

static void counter__documented_functions__hold(void **state)
{
    struct kmd_machine *machine = bed_start("tgl-gt2");
    /* 1300 MHz on a clock of 19.2 MHz, in 1/65536. */
    const uint64_t f = 1300000000ull * 65536 / 19200000;
    static const uint64_t times[] = {0, 1, 4095, 1 << 20, (1 << 20) + 77, 5000000, 1ull << 40};

    (void)state;
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        const uint64_t t = times[i];
        const uint64_t part = t % (1 << 21);
        const uint64_t busy = t / (1 << 21) * (1 << 20) + (part < 1 << 20 ? part : 1 << 20);

        assert_int_equal(kmd_counter(machine, 0, 0, "", KMD_BANK_CLOCK, 0, t), scaled(f, t));
        assert_int_equal(kmd_counter(machine, 0, 0, "", KMD_BANK_A, 0, t), scaled(f, t));
        assert_int_equal(kmd_counter(machine, 0, 0, "", KMD_BANK_A, 4, t), t / 4);
        assert_int_equal(kmd_counter(machine, 0, 0, "", KMD_BANK_A, 7, t),
                         scaled(f * 96 * 8 / 64, busy));
        assert_int_equal(kmd_counter(machine, 0, 0, "", KMD_BANK_A, 30, t), 5 * t);
        assert_int_equal(kmd_counter(machine, 0, 0, "", KMD_BANK_B, 2, t), 5 * t / 8);
        assert_int_equal(kmd_counter(machine, 0, 0, "", KMD_BANK_C, 3, t), 7 * busy / 16);
    }
    kmd_stop(machine);
}

static void counter__test_set__runs_in_shares_of_the_clock(void **state)
{
    static const uint64_t shares[8][2] = {{0, 1}, {1, 1}, {1, 1}, {1, 2},
                                          {1, 3}, {1, 3}, {1, 6}, {2, 3}};
    struct kmd_machine *machine = bed_start("tgl-gt2");

    (void)state;
    for (uint64_t t = 0; t < 100000000; t += 7777777) {
        const uint64_t clock = kmd_counter(machine, 0, 0, BED_TESTOA_TGL, KMD_BANK_CLOCK, 0, t);

        for (uint32_t n = 0; n < 8; n++)
            assert_int_equal(kmd_counter(machine, 0, 0, BED_TESTOA_TGL, KMD_BANK_B, n, t),
                             clock * shares[n][0] / shares[n][1]);
    }
    kmd_stop(machine);
}

static void counter__test_set__counts_periods(void **state)
{
    struct kmd_machine *machine = bed_start("tgl-gt2");
    const int node = bed_node();
    const int stream = bed_stream(node, bed_add(node, BED_TESTOA_TGL), 10, EXPONENT);
    uint32_t data[20][66];
    long bytes;

    (void)state;
    kmd_advance(machine, 1500000);
    bytes = bed_read(stream, data, sizeof(data));
    assert_cmp(bytes, >=, 3 * 264);
    for (long i = 1; i < bytes / 264; i++)
        assert_int_equal(data[i][2 + 224 / 4] - data[i - 1][2 + 224 / 4], 1);
    (void)close(stream);
    (void)close(node);
    kmd_stop(machine);
}

/* The counter C that is Counter8 of a TestOa set: the equations of its XML say which. */
static void counter__test_set__counts_periods_where_the_set_reads_them(void **state)
{
    static const struct {
        const char *platform, *uuid;
        uint32_t c;
    } sets[] = {
        {"skl-gt2", "c5384091-ce4c-406c-ab4d-4c530f71c7ae", 7},
        {"icl", "e617cfd5-6cc5-4143-8994-cd36cebb921f", 0},
        {"ehl", "4cbcfaf7-3c0c-42b8-a324-b1e58329c732", 0},
        {"tgl-gt2", BED_TESTOA_TGL, 0},
        {"mtl-gt2", "d0ed8afd-ad64-4774-8788-1a15f4ab7829", 7},
        {"mtl-gt3", "7272a7b8-6df2-4180-a95f-2ef7ad4412cc", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        struct kmd_machine *machine = bed_start(sets[i].platform);
        const int node = bed_node();
        const int stream = bed_stream(node, bed_add(node, BED_UUID), i < 4 ? 10 : 12, EXPONENT);
        uint64_t counts[2];

        for (uint32_t n = 0; n < 2; n++)
            counts[n] = kmd_counter(machine, 0, 0, sets[i].uuid, KMD_BANK_C, sets[i].c,
                                    (n + 5) * (UINT64_C(2) << EXPONENT));
        assert_int_equal(counts[1] - counts[0], 1);
        (void)close(stream);
        (void)close(node);
        kmd_stop(machine);
    }
}

/* Timer, switch in the middle, timer of the new context. */
static void report__context_switch__is_an_extra_report(void **state)
{
    struct kmd_machine *machine = bed_start("tgl-gt2");
    const int node = bed_node();
    const int stream = bed_stream(node, bed_add(node, BED_UUID), 10, EXPONENT);
    struct kind kind = kinds[5];
    struct expected report = {.machine = machine, .uuid = BED_UUID};
    static const uint64_t contexts[] = {0x20, 0x22, 0x22, 0x21, 0x21, 0x21};
    uint8_t data[8 * 264];

    (void)state;
    kmd_fault(machine, 0, KMD_FAULT_CONTEXT_SWITCH, 2);
    kmd_advance(machine, 450000);
    assert_int_equal(bed_read(stream, data, sizeof(data)), 6 * 264);
    for (uint32_t i = 0; i < 6; i++) {
        static const uint64_t times[] = {2048, 3072, 4096, 5120, 6144, 8192};

        report.ticks = times[i];
        kind.valid_context = contexts[i];
        assert_report(&kind, &report, data + (size_t)264 * i, i == 1 || i == 3 ? SWITCH : TIMER);
    }
    (void)close(stream);
    (void)close(node);
    kmd_stop(machine);
}

static void report__context_switch_of_xehp__alone_is_valid(void **state)
{
    struct kmd_machine *machine = bed_start("dg2-g10");
    const int node = bed_node();
    const int stream = bed_stream(node, bed_add(node, BED_UUID), 12, EXPONENT);
    uint32_t data[8][66];

    (void)state;
    kmd_fault(machine, 0, KMD_FAULT_CONTEXT_SWITCH, 1);
    kmd_advance(machine, 330000);
    assert_int_equal(bed_read(stream, data, sizeof(data)), 5 * 264);
    for (int i = 0; i < 5; i++)
        assert_int_equal(data[i][2] >> 16 & 1, i == 1);
    (void)close(stream);
    (void)close(node);
    kmd_stop(machine);
}

/* A report when it falls asleep, none after, clocks that stood still when it is awake. */
static void report__idle__says_so_and_pauses(void **state)
{
    struct kmd_machine *machine = bed_start("tgl-gt2");
    const int node = bed_node();
    const int stream = bed_stream(node, bed_add(node, BED_UUID), 10, EXPONENT);
    uint32_t data[8][66];
    uint64_t before;

    (void)state;
    kmd_advance(machine, 250000); /* 4800 ticks: two reports */
    kmd_fault(machine, 0, KMD_FAULT_IDLE, 1);
    kmd_advance(machine, 1000000);
    assert_int_equal(bed_read(stream, data, sizeof(data)), 3 * 264);
    assert_int_equal(data[2][2] >> 19 & 0x3f, 16);
    assert_int_equal(data[2][3], 4800);
    assert_int_equal(data[2][2] >> 16 & 1, 0);
    assert_int_equal(data[2][4], UINT32_MAX);
    before = data[2][5];
    kmd_advance(machine, 1000000);
    assert_int_equal(bed_read(stream, data, sizeof(data)), -EAGAIN);

    kmd_fault(machine, 0, KMD_FAULT_IDLE, 0); /* at 43200 ticks */
    kmd_advance(machine, 220000);
    assert_int_equal(bed_read(stream, data, sizeof(data)), 2 * 264);
    assert_int_equal(data[0][3], 45056);
    /* 1856 ticks awake since then. */
    assert_in_range(data[0][5] - before, 1856 * 67, 1856 * 68);
    (void)close(stream);
    (void)close(node);
    kmd_stop(machine);
}

static void report__reset__starts_at_zero(void **state)
{
    struct kmd_machine *machine = bed_start("tgl-gt2");
    const int node = bed_node();
    const int stream = bed_stream(node, bed_add(node, BED_UUID), 10, EXPONENT);
    uint32_t data[16][66];

    (void)state;
    kmd_advance(machine, 1000000);
    kmd_fault(machine, 0, KMD_FAULT_RESET, 1);
    kmd_advance(machine, 250000);
    assert_int_equal(bed_read(stream, data, sizeof(data)), 2 * 264);
    assert_int_equal(data[0][3], 2048);
    assert_int_equal(data[0][5], kmd_counter(machine, 0, 0, BED_UUID, KMD_BANK_CLOCK, 0, 2048));
    (void)close(stream);
    (void)close(node);
    kmd_stop(machine);
}

SUITE(report)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(report__every_format__has_expected_bytes),
        cmocka_unit_test(report__test_set__has_expected_bytes),
        cmocka_unit_test(counter__documented_functions__hold),
        cmocka_unit_test(counter__test_set__runs_in_shares_of_the_clock),
        cmocka_unit_test(counter__test_set__counts_periods),
        cmocka_unit_test(counter__test_set__counts_periods_where_the_set_reads_them),
        cmocka_unit_test(report__context_switch__is_an_extra_report),
        cmocka_unit_test(report__context_switch_of_xehp__alone_is_valid),
        cmocka_unit_test(report__idle__says_so_and_pauses),
        cmocka_unit_test(report__reset__starts_at_zero),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
