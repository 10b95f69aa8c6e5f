/* What i915 tells about its GPU. */

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/kmd/tests/bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static long getparam(int node, int32_t param, int32_t *out_value)
{
    const struct {
        int32_t param, pad;
        uint64_t value;
    } getparam = {param, 0, (uintptr_t)out_value};

    return bed_ioctl(node, BED_GETPARAM, &getparam);
}

static void getparam__every_id__value_of_the_preset(void **state)
{
    static const struct {
        const char *platform;
        int32_t values[9];
    } cases[] = {
        /* chipset, revision, subslices, EUs, slice mask, subslice mask, CS Hz, revision, OA Hz */
        {"tgl-gt2", {0x9a49, 1, 6, 96, 0x1, 0x3f, 19200000, 7, 19200000}},
        {"skl-gt3", {0x1926, 10, 6, 48, 0x3, 0x7, 12000000, 7, 12000000}},
        {"hsw-gt2", {0x0412, 6, 2, 20, 0x1, 0x3, 12500000, 7, 12500000}},
        {"dg2-g10", {0x56a0, 8, 32, 512, 0x1, -1, 12500000, 7, 25000000}},
    };
    static const int32_t ids[9] = {4, 32, 33, 34, 46, 47, 51, 54, 57};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct kmd_machine *machine = bed_start(cases[i].platform);
        const int node = bed_node();

        for (int k = 0; k < 9; k++) {
            int32_t value = 0;

            assert_int_equal(getparam(node, ids[k], &value), 0);
            assert_int_equal(value, cases[i].values[k]);
        }
        assert_int_equal(getparam(node, 9999, NULL), -EINVAL);
        assert_int_equal(getparam(node, 4, NULL), -EFAULT);
        assert_int_equal(bed_ioctl_value(node, BED_GETPARAM, 8), -EFAULT);
        (void)close(node);
        kmd_stop(machine);
    }
}

static void getparam__described_device__wins_over_the_preset(void **state)
{
    const struct kmd_config config = {.device_count = 1,
                                      .devices = {{.platform = "skl-gt2",
                                                   .pci_id = 0x191b,
                                                   .revision = 6,
                                                   .slices = 2,
                                                   .subslices = 2,
                                                   .eus = 7,
                                                   .oa_hz = 24000000,
                                                   .cs_hz = 6000000}}};
    static const int32_t wanted[9] = {0x191b, 6, 4, 28, 0x3, 0x3, 6000000, 7, 24000000};
    static const int32_t ids[9] = {4, 32, 33, 34, 46, 47, 51, 54, 57};
    struct kmd_machine *machine = bed_start_config(&config);
    const int node = bed_node();

    (void)state;
    for (int i = 0; i < 9; i++) {
        int32_t value = 0;

        assert_int_equal(getparam(node, ids[i], &value), 0);
        assert_int_equal(value, wanted[i]);
    }
    (void)close(node);
    kmd_stop(machine);
}

static void getparam__older_kernel__no_oa_frequency(void **state)
{
    const struct kmd_config config = {.device_count = 1,
                                      .devices = {{.platform = "tgl-gt2", .perf_revision = 5}}};
    struct kmd_machine *machine = bed_start_config(&config);
    const int node = bed_node();
    int32_t value;

    (void)state;
    assert_int_equal(getparam(node, 57, &value), -EINVAL);
    assert_int_equal(getparam(node, 54, &value), 0);
    assert_int_equal(value, 5);
    (void)close(node);
    kmd_stop(machine);
}

struct item {
    uint64_t id;
    int32_t length;
    uint32_t flags;
    uint64_t data;
};

static long query(int node, struct item *items, uint32_t count, uint32_t flags)
{
    const struct {
        uint32_t count, flags;
        uint64_t items;
    } param = {count, flags, (uintptr_t)items};

    return bed_ioctl(node, BED_QUERY, &param);
}

/* The answer to one item; its length. */
static int32_t ask(int node, uint64_t id, uint32_t flags, int32_t length, void *data)
{
    struct item item = {id, length, flags, (uintptr_t)data};

    assert_int_equal(query(node, &item, 1, 0), 0);
    return item.length;
}

static void query__bad_arguments__ioctl_or_item_fails(void **state)
{
    struct kmd_machine *machine = bed_start("tgl-gt2");
    const int node = bed_node();
    struct item items[2] = {{99, 0, 0, 0}, {1, 0, 0, 0}};
    uint8_t data[64] = {0};

    (void)state;
    assert_int_equal(bed_ioctl_value(node, BED_QUERY, 8), -EFAULT);
    assert_int_equal(query(node, (struct item *)8, 1, 0), -EFAULT);
    assert_int_equal(query(node, items, 1, 1), -EINVAL);
    /* An unknown query fails alone. */
    assert_int_equal(query(node, items, 2, 0), 0);
    assert_int_equal(items[0].length, -EINVAL);
    assert_int_equal(items[1].length, 30);
    items[0].id = 0;
    assert_int_equal(query(node, items, 2, 0), -EINVAL);
    assert_int_equal(ask(node, 1, 0, 29, data), -EINVAL);
    assert_int_equal(ask(node, 1, 1, 64, data), -EINVAL);
    assert_int_equal(ask(node, 1, 0, 64, (void *)8), -EFAULT);
    data[0] = 1;
    assert_int_equal(ask(node, 2, 0, 1024, data), -EINVAL);
    assert_int_equal(ask(node, 6, 0, 64, data), -ENODEV);
    assert_int_equal(ask(node, 5, 0, 64, data), -ENODEV);
    (void)close(node);
    kmd_stop(machine);
}

/* Masks as clients read them: offsets are relative to the data behind the head. */
static bool has_bit(const uint8_t *data, uint32_t offset, uint32_t bit)
{
    return (data[16 + offset + bit / 8] >> (bit % 8) & 1) != 0;
}

static uint32_t count_eus(const uint8_t *data, uint32_t *out_subslices)
{
    uint16_t head[8];
    uint32_t eus = 0;

    memcpy(head, data, sizeof(head));
    *out_subslices = 0;
    for (uint32_t s = 0; s < head[1]; s++) {
        for (uint32_t ss = 0; has_bit(data, 0, s) && ss < head[2]; ss++) {
            if (!has_bit(data, head[4] + s * head[5], ss))
                continue;
            (*out_subslices)++;
            for (uint32_t eu = 0; eu < head[3]; eu++)
                eus += has_bit(data, head[6] + (s * head[2] + ss) * head[7], eu);
        }
    }
    return eus;
}

static void query__topology__lengths_and_counts(void **state)
{
    static const struct {
        const char *platform;
        int32_t length;
        uint32_t subslices, eus;
    } cases[] = {
        {"hsw-gt2", 22, 2, 20}, {"skl-gt2", 32, 3, 24},   {"skl-gt4", 32, 9, 72},
        {"icl", 26, 8, 64},     {"tgl-gt2", 30, 6, 96},   {"tgl-gt1", 30, 2, 32},
        {"bxt", 21, 3, 18},     {"dg2-g10", 85, 32, 512}, {"mtl-gt3", 85, 8, 128},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct kmd_machine *machine = bed_start(cases[i].platform);
        const int node = bed_node();
        uint8_t data[128] = {0};
        uint32_t subslices;

        assert_int_equal(ask(node, 1, 0, 0, NULL), cases[i].length);
        assert_cmp(ask(node, 1, 0, sizeof(data), data), >, 0);
        assert_int_equal(count_eus(data, &subslices), cases[i].eus);
        assert_int_equal(subslices, cases[i].subslices);
        (void)close(node);
        kmd_stop(machine);
    }
}

static void query__engines_and_memory__as_the_preset(void **state)
{
    struct kmd_machine *machine = bed_start("dg2-g10");
    const int node = bed_node();
    uint8_t data[1024] = {0};
    uint32_t count;
    uint32_t classes[5] = {0};
    uint64_t bytes;

    (void)state;
    assert_int_equal(ask(node, 2, 0, 0, NULL), 16 + 10 * 56);
    assert_int_equal(ask(node, 2, 0, sizeof(data), data), 16 + 10 * 56);
    memcpy(&count, data, sizeof(count));
    assert_int_equal(count, 10);
    for (uint32_t i = 0; i < count; i++)
        classes[data[16 + 56 * i]]++;
    assert_int_equal(classes[0], 1);
    assert_int_equal(classes[4], 4);

    memset(data, 0, sizeof(data));
    assert_int_equal(ask(node, 4, 0, sizeof(data), data), 16 + 2 * 88);
    memcpy(&bytes, data + 16 + 88 + 8, sizeof(bytes));
    assert_int_equal(data[16 + 88], 1);
    assert_int_equal(bytes, 16ull << 30);
    assert_int_equal(ask(node, 6, 0, 0, NULL), 85);
    assert_cmp(ask(node, 5, 0, 0, NULL), >, 0);
    (void)close(node);
    kmd_stop(machine);
}

static void version__twice__lengths_then_names(void **state)
{
    struct kmd_machine *machine = bed_start("tgl-gt2");
    const int node = bed_node();
    char name[8] = "";
    struct {
        int32_t numbers[4];
        uint64_t name_length, name, rest[4];
    } version = {.numbers = {0}};

    (void)state;
    assert_int_equal(bed_ioctl(node, 0xc0406400, &version), 0);
    assert_int_equal(version.name_length, 4);
    assert_int_equal(version.numbers[0], 1);
    assert_int_equal(version.numbers[1], 6);
    version.name = (uintptr_t)name;
    assert_int_equal(bed_ioctl(node, 0xc0406400, &version), 0);
    assert_string_equal(name, "i915");
    assert_int_equal(bed_ioctl_value(node, 0xc0406400, 8), -EFAULT);
    assert_int_equal(bed_ioctl_value(node, 0x5401, 8), -ENOTTY);
    assert_int_equal(bed_ioctl_value(node, 0xc01064ff, 8), -EINVAL);
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_BAD_CALLS), 3);
    (void)close(node);
    kmd_stop(machine);
}

static void reg_read__time_stamp__36_bits_in_step_with_oa(void **state)
{
    const struct kmd_config config = {.device_count = 1,
                                      .devices = {{.platform = "dg2-g10"}},
                                      .is_manual = true,
                                      .first_ticks = (1ull << 37) - 100};
    struct kmd_machine *machine = bed_start_config(&config);
    const int node = bed_node();
    uint64_t reg[2] = {0x2358 | 1, 0};

    (void)state;
    assert_int_equal(bed_ioctl(node, BED_REG_READ, reg), 0);
    assert_int_equal(reg[1], (1ull << 36) - 50);
    /* 25 MHz of OA are 12.5 MHz here; 36 bits wrap. */
    kmd_advance(machine, 80000);
    assert_int_equal(bed_ioctl(node, BED_REG_READ, reg), 0);
    assert_int_equal(reg[1], 1000 - 50);
    reg[0] = 0x2358;
    assert_int_equal(bed_ioctl(node, BED_REG_READ, reg), 0);
    reg[0] = 0x2000;
    assert_int_equal(bed_ioctl(node, BED_REG_READ, reg), -EINVAL);
    assert_int_equal(bed_ioctl_value(node, BED_REG_READ, 8), -EFAULT);
    (void)close(node);
    kmd_stop(machine);
}

/* Real time: the clock runs at its frequency. */
static void reg_read__real_time__at_its_rate(void **state)
{
    const struct kmd_config config = {.device_count = 1, .devices = {{.platform = "skl-gt2"}}};
    struct kmd_machine *machine = bed_start_config(&config);
    const int node = bed_node();
    uint64_t first[2] = {0x2358 | 1, 0};
    uint64_t second[2] = {0x2358 | 1, 0};
    struct timespec times[4];
    double shortest;
    double longest;

    (void)state;
    (void)clock_gettime(CLOCK_MONOTONIC, &times[0]);
    assert_int_equal(bed_ioctl(node, BED_REG_READ, first), 0);
    (void)clock_gettime(CLOCK_MONOTONIC, &times[1]);
    (void)usleep(50000);
    (void)clock_gettime(CLOCK_MONOTONIC, &times[2]);
    assert_int_equal(bed_ioctl(node, BED_REG_READ, second), 0);
    (void)clock_gettime(CLOCK_MONOTONIC, &times[3]);
    shortest = (double)(times[2].tv_sec - times[1].tv_sec) +
               (double)(times[2].tv_nsec - times[1].tv_nsec) / 1e9;
    longest = (double)(times[3].tv_sec - times[0].tv_sec) +
              (double)(times[3].tv_nsec - times[0].tv_nsec) / 1e9;
    assert_cmp((double)(second[1] - first[1]), >=, shortest * 12e6 - 2);
    assert_cmp((double)(second[1] - first[1]), <=, longest * 12e6 + 2);
    (void)close(node);
    kmd_stop(machine);
}

SUITE(info)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(getparam__every_id__value_of_the_preset),
        cmocka_unit_test(getparam__described_device__wins_over_the_preset),
        cmocka_unit_test(getparam__older_kernel__no_oa_frequency),
        cmocka_unit_test(query__bad_arguments__ioctl_or_item_fails),
        cmocka_unit_test(query__topology__lengths_and_counts),
        cmocka_unit_test(query__engines_and_memory__as_the_preset),
        cmocka_unit_test(version__twice__lengths_then_names),
        cmocka_unit_test(reg_read__time_stamp__36_bits_in_step_with_oa),
        cmocka_unit_test(reg_read__real_time__at_its_rate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
