/* ADD_CONFIG and REMOVE_CONFIG of the emulated xe, and the ioctl OBSERVATION around them. */

#include "tests/kmd/tests/xe_client.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static struct kmd_machine *machine;
static int fd = -1;

static void begin(const char *platform)
{
    machine = xe_start(&(struct kmd_device){.platform = platform});
    fd = xe_node();
}

static int end(void **state)
{
    int stream = -1;

    (void)state;
    return xe_end(&machine, &fd, &stream);
}

static int add(struct kmd_xe_oa_config config)
{
    return xe_observe(fd, KMD_XE_TYPE_OA, KMD_XE_OP_ADD_CONFIG, (uintptr_t)&config);
}

static void observation__of_wrong_kind__refused(void **state)
{
    (void)state;
    begin("lnl");
    struct kmd_xe_observation_param param = {.extensions = 1};
    assert_errno(EINVAL, ioctl(fd, KMD_XE_OBSERVATION, &param));
    assert_errno(EFAULT, ioctl(fd, KMD_XE_OBSERVATION, (void *)(uintptr_t)xe_bad_address));
    assert_errno(EINVAL, xe_observe(fd, 2, KMD_XE_OP_STREAM_OPEN, 0));
    assert_errno(EINVAL, xe_observe(fd, KMD_XE_TYPE_OA, 3, 0));
    assert_errno(EINVAL, xe_observe(fd, KMD_XE_TYPE_EU_STALL, KMD_XE_OP_ADD_CONFIG, 0));
    assert_errno(EINVAL, xe_observe(fd, KMD_XE_TYPE_EU_STALL, KMD_XE_OP_REMOVE_CONFIG, 0));
}

/* The registers are at a bad address: EINVAL comes from a check before they are read. */
static void add__of_wrong_arguments__errnos_in_order(void **state)
{
    (void)state;
    begin("lnl");
    uint32_t registers[4] = {XE_REGISTER, 1, 0xd904, 2};
    struct kmd_xe_oa_config config = {.n_regs = 2, .regs_ptr = xe_bad_address};
    memcpy(config.uuid, XE_UUID, sizeof(config.uuid));
    assert_errno(EFAULT, xe_observe(fd, KMD_XE_TYPE_OA, KMD_XE_OP_ADD_CONFIG, xe_bad_address));
    assert_errno(EFAULT, add(config));
    config.extensions = 1;
    assert_errno(EINVAL, add(config));
    config.extensions = 0;
    config.regs_ptr = 0;
    assert_errno(EINVAL, add(config));
    config.regs_ptr = xe_bad_address;
    config.n_regs = 0;
    assert_errno(EINVAL, add(config));
    config.n_regs = 2;
    static const uint32_t places[] = {0, 7, 8, 13, 18, 23, 35};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        char right = config.uuid[places[i]];
        config.uuid[places[i]] = right == '-' ? '0' : '-';
        assert_errno(EINVAL, add(config));
        config.uuid[places[i]] = right;
    }
    config.regs_ptr = (uintptr_t)registers;
    registers[2] = 0xd8fc;
    assert_errno(EINVAL, add(config));
    registers[2] = 0xd904;
    assert_int_equal(add(config), 1);
    assert_errno(EADDRINUSE, add(config));
    registers[0] = 0xd8fc;
    assert_errno(EINVAL, add(config)); /* the registers, before the uuid is looked up */
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_CONFIGS_ADDED), 1);
}

static void add__without_privilege__eacces_until_the_sysctl_allows(void **state)
{
    (void)state;
    struct kmd_config config = {
        .device_count = 1, .is_paranoid = true, .devices = {{.platform = "lnl"}}};
    machine = kmd_start(&config);
    fd = xe_node();
    assert_errno(EACCES, xe_observe(fd, KMD_XE_TYPE_OA, KMD_XE_OP_ADD_CONFIG, xe_bad_address));
    assert_errno(EACCES, xe_observe(fd, KMD_XE_TYPE_OA, KMD_XE_OP_REMOVE_CONFIG, xe_bad_address));
    end(NULL);
    config.is_paranoid = false;
    machine = kmd_start(&config);
    fd = xe_node();
    assert_int_equal(xe_add_config(fd, XE_UUID, XE_REGISTER), 1);
    assert_int_equal(xe_remove_config(fd, 1), 0);
}

static void add__of_each_generation__its_registers(void **state)
{
    (void)state;
    static const struct {
        const char *platform;
        uint32_t address;
        bool is_allowed;
    } expected[] = {
        {"tgl-gt2", 0x9888, true},    {"tgl-gt2", 0x20cc, true},  {"tgl-gt2", 0xdc44, true},
        {"tgl-gt2", 0xdc48, false},   {"tgl-gt2", 0xdd00, false}, {"tgl-gt2", 0xe65c, true},
        {"tgl-gt2", 0x0d04, true},    {"tgl-gt2", 0x0d08, false}, {"tgl-gt2", 0x0d0c, true},
        {"dg2-g10", 0xdc48, true},    {"dg2-g10", 0xdd48, true},  {"dg2-g10", 0xdd4c, false},
        {"dg2-g10", 0x393000, false}, {"pvc", 0x20cc, true},      {"mtl-gt2", 0x20cc, false},
        {"mtl-gt2", 0x38d114, true},  {"arl", 0x39323c, true},    {"mtl-gt3", 0x38d118, false},
        {"mtl-gt2", 0x394200, false}, {"bmg", 0x394200, true},    {"bmg", 0x394a3c, true},
        {"lnl", 0x13000, true},       {"lnl", 0x137fc, true},     {"lnl", 0x13800, false},
        {"lnl", 0x9888, false},       {"ptl", 0x14537c, true},    {"ptl", 0x145380, false},
        {"lnl", 0xd900, true},        {"lnl", 0xe458, true},      {"lnl", 0, false},
    };
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        begin(expected[i].platform);
        if (expected[i].is_allowed)
            assert_int_equal(xe_add_config(fd, XE_UUID, expected[i].address), 1);
        else
            assert_errno(EINVAL, xe_add_config(fd, XE_UUID, expected[i].address));
        end(NULL);
    }
    begin("lnl");
}

static void folder__of_a_configuration__tells_its_id(void **state)
{
    (void)state;
    begin("bmg");
    static const char path[] = "/sys/class/drm/card0/metrics/" XE_UUID "/id";
    assert_int_equal(xe_add_config(fd, "11111111-0123-0123-0123-0123456789ab", XE_REGISTER), 1);
    assert_int_equal(xe_add_config(fd, XE_UUID, XE_REGISTER), 2);
    int file = open(path, O_RDONLY);
    assert_cmp(file, >=, 0);
    char text[8] = "";
    assert_int_equal(read(file, text, sizeof(text)), 2);
    assert_string_equal(text, "2\n");
    close(file);
    assert_int_equal(xe_remove_config(fd, 2), 0);
    assert_int_equal(access(path, F_OK), -1);
}

static void remove__of_an_unknown_id__enoent(void **state)
{
    (void)state;
    begin("lnl");
    assert_errno(EFAULT, xe_observe(fd, KMD_XE_TYPE_OA, KMD_XE_OP_REMOVE_CONFIG, xe_bad_address));
    assert_errno(ENOENT, xe_remove_config(fd, UINT64_MAX));
    assert_errno(ENOENT, xe_remove_config(fd, 0));
    assert_int_equal(xe_add_config(fd, XE_UUID, XE_REGISTER), 1);
    assert_int_equal(xe_remove_config(fd, 1), 0);
    assert_errno(ENOENT, xe_remove_config(fd, 1));
    /* Ids are never used twice. */
    assert_int_equal(xe_add_config(fd, XE_UUID, XE_REGISTER), 2);
}

SUITE(xe_config)
{
#define CASE(name) cmocka_unit_test_teardown(name, end)
    const struct CMUnitTest tests[] = {
        CASE(observation__of_wrong_kind__refused),
        CASE(add__of_wrong_arguments__errnos_in_order),
        CASE(add__without_privilege__eacces_until_the_sysctl_allows),
        CASE(add__of_each_generation__its_registers),
        CASE(folder__of_a_configuration__tells_its_id),
        CASE(remove__of_an_unknown_id__enoent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
