/* ADD_CONFIG, REMOVE_CONFIG, their folders in sysfs, and query 3. */

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/kmd/tests/bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { MUX, BOOLEAN, FLEX, HEADER = 48, ENTRY = 72 };

/* ADD_CONFIG of one register in one list. */
static long add_one(int node, const char *uuid, int list, uint32_t address)
{
    const uint32_t write[2] = {address, 0x55};
    struct bed_oa_config config = {.counts = {0}};

    memcpy(config.uuid, uuid, sizeof(config.uuid));
    config.counts[list] = 1;
    config.lists[list] = (uintptr_t)write;
    return bed_ioctl(node, BED_ADD_CONFIG, &config);
}

/* Whether a platform takes a register: the configuration goes again. */
static bool takes(int node, int list, uint32_t address)
{
    uint64_t id = 0;
    const long result = add_one(node, BED_UUID, list, address);

    if (result == -EINVAL)
        return false;
    assert_cmp(result, >=, 2);
    id = (uint64_t)result;
    assert_int_equal(bed_ioctl(node, BED_REMOVE_CONFIG, &id), 0);
    return true;
}

static void add__bad_arguments__errno_in_order(void **state)
{
    struct kmd_config machine_config = {
        .device_count = 1, .devices = {{.platform = "tgl-gt2"}}, .is_paranoid = true};
    struct kmd_machine *machine = bed_start_config(&machine_config);
    struct bed_oa_config config = {.counts = {1, 0, 0}};
    int node = bed_node();

    (void)state;
    assert_int_equal(bed_ioctl_value(node, BED_ADD_CONFIG, 8), -EFAULT);
    assert_int_equal(bed_ioctl(node, BED_ADD_CONFIG, &config), -EACCES);
    assert_int_equal(bed_ioctl_value(node, BED_REMOVE_CONFIG, 8), -EFAULT);
    (void)close(node);
    kmd_stop(machine);

    machine_config.is_privileged = true;
    machine = bed_start_config(&machine_config);
    node = bed_node();
    /* A count without a pointer is no list. */
    assert_int_equal(bed_ioctl(node, BED_ADD_CONFIG, &config), -EINVAL);
    assert_int_equal(add_one(node, "01234567-89ab-cdef-0123-456789abcdeg", BOOLEAN, 0xd900),
                     -EINVAL);
    assert_int_equal(add_one(node, "01234567989ab-cdef-0123-456789abcdef", BOOLEAN, 0xd900),
                     -EINVAL);
    memcpy(config.uuid, BED_UUID, 36);
    config.lists[0] = 8;
    assert_int_equal(bed_ioctl(node, BED_ADD_CONFIG, &config), -EFAULT);
    (void)close(node);
    kmd_stop(machine);
}

/* A list that has a count is read, wherever it is said to be. */
static void add__null_list_with_a_count__efault(void **state)
{
    struct kmd_machine *machine = bed_start("tgl-gt2");
    const int node = bed_node();
    const uint32_t write[2] = {0xd900, 0x55};
    struct bed_oa_config config = {.counts = {1, 1, 0}, .lists = {0, (uintptr_t)write, 0}};

    (void)state;
    memcpy(config.uuid, BED_UUID, 36);
    assert_int_equal(bed_ioctl(node, BED_ADD_CONFIG, &config), -EFAULT);
    config.counts[MUX] = 0;
    config.counts[FLEX] = 3;
    assert_int_equal(bed_ioctl(node, BED_ADD_CONFIG, &config), -EFAULT);
    config.counts[FLEX] = 0;
    assert_cmp(bed_ioctl(node, BED_ADD_CONFIG, &config), >=, 2);
    (void)close(node);
    kmd_stop(machine);
}

static void add__flex_on_haswell__refused_after_the_others(void **state)
{
    struct kmd_machine *machine = bed_start("hsw-gt2");
    const int node = bed_node();
    const uint32_t write[2] = {0x2710, 0x55};
    struct bed_oa_config config = {.counts = {1, 1, 1}, .lists = {8, (uintptr_t)write, 8}};

    (void)state;
    memcpy(config.uuid, BED_UUID, 36);
    assert_int_equal(bed_ioctl(node, BED_ADD_CONFIG, &config), -EFAULT);
    config.counts[MUX] = 0;
    assert_int_equal(bed_ioctl(node, BED_ADD_CONFIG, &config), -EINVAL);
    config.counts[FLEX] = 0;
    assert_cmp(bed_ioctl(node, BED_ADD_CONFIG, &config), >=, 2);
    (void)close(node);
    kmd_stop(machine);
}

static void add__registers__allowed_by_class_and_generation(void **state)
{
    static const struct {
        const char *platform;
        int list;
        uint32_t address;
        bool is_allowed;
    } cases[] = {
        {"hsw-gt2", BOOLEAN, 0x2710, true},   {"hsw-gt2", MUX, 0x2710, false},
        {"hsw-gt2", MUX, 0x9e80, true},       {"hsw-gt2", FLEX, 0xe458, false},
        {"skl-gt2", MUX, 0x9e80, false},      {"skl-gt2", MUX, 0x9888, true},
        {"skl-gt2", FLEX, 0xe458, true},      {"skl-gt2", FLEX, 0xe460, false},
        {"skl-gt2", BOOLEAN, 0x27ac, true},   {"skl-gt2", BOOLEAN, 0x27b0, false},
        {"chv", MUX, 0x182300, true},         {"bdw", MUX, 0x182300, false},
        {"tgl-gt2", BOOLEAN, 0x2710, false},  {"tgl-gt2", BOOLEAN, 0xdc44, true},
        {"tgl-gt2", BOOLEAN, 0xdc48, false},  {"dg2-g10", BOOLEAN, 0xdc48, true},
        {"tgl-gt2", MUX, 0x20cc, true},       {"mtl-gt3", MUX, 0x20cc, false},
        {"mtl-gt3", BOOLEAN, 0x393200, true}, {"tgl-gt2", BOOLEAN, 0x393200, false},
        {"tgl-gt2", MUX, 0, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct kmd_machine *machine = bed_start(cases[i].platform);
        const int node = bed_node();

        if (takes(node, cases[i].list, cases[i].address) != cases[i].is_allowed)
            fail_msg("%s, list %d, register 0x%x", cases[i].platform, cases[i].list,
                     cases[i].address);
        (void)close(node);
        kmd_stop(machine);
    }
}

/* A kernel that knows more selectors than the preset. */
static void add__registers_of_a_newer_kernel__allowed_as_mux(void **state)
{
    const struct kmd_config config = {
        .device_count = 1,
        .devices = {{.platform = "tgl-gt2", .mux_first = 0x14800, .mux_last = 0x148fc}},
        .is_privileged = true};
    struct kmd_machine *machine = bed_start_config(&config);
    const int node = bed_node();

    (void)state;
    assert_true(takes(node, MUX, 0x14800));
    assert_true(takes(node, MUX, 0x148fc));
    assert_true(takes(node, MUX, 0x9888));
    assert_false(takes(node, MUX, 0x14900));
    assert_false(takes(node, BOOLEAN, 0x14800));
    (void)close(node);
    kmd_stop(machine);
}

static int read_id(const char *uuid)
{
    char path[128];
    char text[16];
    FILE *file;
    int id = -1;

    (void)snprintf(path, sizeof(path), "/sys/class/drm/card0/metrics/%s/id", uuid);
    file = fopen(path, "r");
    if (!file)
        return -1;
    if (fgets(text, sizeof(text), file))
        id = (int)strtol(text, NULL, 10);
    (void)fclose(file);
    return id;
}

static void add__same_uuid__eaddrinuse_and_id_in_sysfs(void **state)
{
    struct kmd_machine *machine = bed_start("tgl-gt2");
    const int node = bed_node();
    const long first = bed_add(node, BED_UUID);
    const long second = bed_add(node, BED_TESTOA_TGL);
    uint64_t id = (uint64_t)first;

    (void)state;
    assert_int_equal(first, 2);
    assert_int_equal(second, 3);
    assert_int_equal(bed_add(node, BED_UUID), -EADDRINUSE);
    assert_int_equal(read_id(BED_UUID), 2);
    assert_int_equal(bed_ioctl(node, BED_REMOVE_CONFIG, &id), 0);
    assert_int_equal(bed_ioctl(node, BED_REMOVE_CONFIG, &id), -ENOENT);
    id = UINT64_MAX;
    assert_int_equal(bed_ioctl(node, BED_REMOVE_CONFIG, &id), -ENOENT);
    assert_int_equal(read_id(BED_UUID), -1);
    /* Numbers are not given twice. */
    assert_int_equal(bed_add(node, BED_UUID), 4);
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_CONFIGS_ADDED), 3);
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_CONFIGS_REMOVED), 1);
    (void)close(node);
    kmd_stop(machine);
}

static void remove__while_streaming__stream_goes_on(void **state)
{
    struct kmd_machine *machine = bed_start("tgl-gt2");
    const int node = bed_node();
    const long set = bed_add(node, BED_TESTOA_TGL);
    const int stream = bed_stream(node, set, 10, 10);
    const uint64_t id = (uint64_t)set;
    uint32_t data[66];

    (void)state;
    assert_int_equal(bed_ioctl(node, BED_REMOVE_CONFIG, &id), 0);
    kmd_advance(machine, 110000);
    assert_int_equal(bed_read(stream, data, sizeof(data)), 264);
    assert_int_equal(data[2 + 49], data[2 + 3]);
    (void)close(stream);
    (void)close(node);
    kmd_stop(machine);
}

/* Query 3; answers the item's length. */
static int32_t query(int node, uint32_t flags, int32_t length, void *data)
{
    struct {
        uint64_t id;
        int32_t length;
        uint32_t flags;
        uint64_t data;
    } item = {3, length, flags, (uintptr_t)data};
    const struct {
        uint32_t count, flags;
        uint64_t items;
    } param = {1, 0, (uintptr_t)&item};

    assert_int_equal(bed_ioctl(node, BED_QUERY, &param), 0);
    return item.length;
}

static void query__list__own_id_first(void **state)
{
    struct kmd_machine *machine = bed_start("tgl-gt2");
    const int node = bed_node();
    uint64_t data[16] = {0};

    (void)state;
    (void)bed_add(node, BED_UUID);
    assert_int_equal(query(node, 1, 0, NULL), HEADER + 16);
    assert_int_equal(query(node, 1, HEADER + 15, data), -EINVAL);
    assert_int_equal(query(node, 1, sizeof(data), data), HEADER + 16);
    assert_int_equal(data[0], 2);
    assert_int_equal(data[6], 1);
    assert_int_equal(data[7], 2);
    data[5] = 1;
    assert_int_equal(query(node, 1, sizeof(data), data), -EINVAL);
    assert_int_equal(query(node, 4, sizeof(data), data), -EINVAL);
    (void)close(node);
    kmd_stop(machine);
}

static void query__data__registers_come_back(void **state)
{
    struct kmd_machine *machine = bed_start("tgl-gt2");
    const int node = bed_node();
    uint8_t data[HEADER + ENTRY] = {0};
    struct bed_oa_config config;
    uint32_t registers[2] = {0};
    const uint64_t id = (uint64_t)add_one(node, BED_UUID, FLEX, 0xe55c);
    const uint64_t missing = 77;

    (void)state;
    assert_int_equal(query(node, 3, 0, NULL), HEADER + ENTRY);
    memcpy(data, &missing, 8);
    assert_int_equal(query(node, 3, sizeof(data), data), -ENOENT);
    memcpy(data, &id, 8);
    assert_int_equal(query(node, 3, sizeof(data), data), HEADER + ENTRY);
    memcpy(&config, data + HEADER, sizeof(config));
    assert_memory_equal(config.uuid, BED_UUID, 36);
    assert_int_equal(config.counts[FLEX], 1);

    config.lists[FLEX] = (uintptr_t)registers;
    memset(data, 0, sizeof(data));
    memcpy(data, config.uuid, sizeof(config.uuid));
    memcpy(data + HEADER, &config, sizeof(config));
    assert_int_equal(query(node, 2, sizeof(data), data), HEADER + ENTRY);
    assert_int_equal(registers[0], 0xe55c);
    assert_int_equal(registers[1], 0x55);
    (void)close(node);
    kmd_stop(machine);
}

/* Bits that belong to the kernel do not come back; the others do. */
static void add__register_of_the_kernel__keeps_its_bits(void **state)
{
    struct kmd_machine *machine = bed_start("tgl-gt2");
    const int node = bed_node();
    const uint32_t write[2] = {0x20cc, UINT32_MAX};
    struct bed_oa_config config = {.counts = {1, 0, 0}, .lists = {(uintptr_t)write, 0, 0}};
    uint8_t data[HEADER + ENTRY] = {0};
    uint32_t registers[2] = {0};
    uint64_t id;

    (void)state;
    memcpy(config.uuid, BED_UUID, sizeof(config.uuid));
    id = (uint64_t)bed_ioctl(node, BED_ADD_CONFIG, &config);
    config.lists[0] = (uintptr_t)registers;
    memcpy(data, &id, sizeof(id));
    memcpy(data + HEADER, &config, sizeof(config));
    assert_int_equal(query(node, 3, sizeof(data), data), HEADER + ENTRY);
    assert_int_equal(registers[1], ~0x10001u);
    (void)close(node);
    kmd_stop(machine);
}

SUITE(config)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(add__bad_arguments__errno_in_order),
        cmocka_unit_test(add__null_list_with_a_count__efault),
        cmocka_unit_test(add__flex_on_haswell__refused_after_the_others),
        cmocka_unit_test(add__registers__allowed_by_class_and_generation),
        cmocka_unit_test(add__registers_of_a_newer_kernel__allowed_as_mux),
        cmocka_unit_test(add__same_uuid__eaddrinuse_and_id_in_sysfs),
        cmocka_unit_test(remove__while_streaming__stream_goes_on),
        cmocka_unit_test(query__list__own_id_first),
        cmocka_unit_test(query__data__registers_come_back),
        cmocka_unit_test(add__register_of_the_kernel__keeps_its_bits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
