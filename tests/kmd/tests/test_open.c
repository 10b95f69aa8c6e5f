/* PERF_OPEN: each errno, and the order of the checks (each case keeps later mistakes in). */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/kmd/tests/bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof((array)[0]))
#define OPEN(node, flags, ...)                                                                     \
    bed_open(node, flags, (const uint64_t[][2]){__VA_ARGS__},                                      \
             COUNT(((const uint64_t[][2]){__VA_ARGS__})))

static struct kmd_machine *start(const char *platform, bool is_privileged, bool is_paranoid)
{
    const struct kmd_config config = {.device_count = 1,
                                      .devices = {{.platform = platform}},
                                      .is_privileged = is_privileged,
                                      .is_paranoid = is_paranoid,
                                      .is_manual = true};

    return bed_start_config(&config);
}

static void open__no_oa__notsupp_before_all(void **state)
{
    const struct kmd_config config = {.device_count = 1,
                                      .devices = {{.platform = "tgl-gt2", .has_no_oa = true}}};
    struct kmd_machine *machine = bed_start_config(&config);
    const int node = bed_node();

    (void)state;
    assert_int_equal(bed_open(node, 0x80, NULL, 0), -524);
    assert_int_equal(bed_add(node, BED_UUID), -524);
    (void)close(node);
    kmd_stop(machine);
}

static void open__bad_argument__efault_einval(void **state)
{
    struct kmd_machine *machine = start("tgl-gt2", false, true);
    const int node = bed_node();

    (void)state;
    assert_int_equal(bed_ioctl_value(node, BED_PERF_OPEN, 8), -EFAULT);
    /* Unknown flags come before the count, the count before the pointer. */
    assert_int_equal(bed_open(node, 8, (const uint64_t(*)[2])8, 3), -EINVAL);
    assert_int_equal(bed_open(node, 0, (const uint64_t(*)[2])8, 0), -EINVAL);
    assert_int_equal(bed_open(node, 0, (const uint64_t(*)[2])8, 11), -EINVAL);
    assert_int_equal(bed_open(node, 0, (const uint64_t(*)[2])8, 10), -EFAULT);
    (void)close(node);
    kmd_stop(machine);
}

static void open__bad_property__einval(void **state)
{
    struct kmd_machine *machine = start("tgl-gt2", false, true);
    const int node = bed_node();

    (void)state;
    assert_int_equal(OPEN(node, 0, {0, 1}), -EINVAL);
    assert_int_equal(OPEN(node, 0, {11, 1}), -EINVAL);
    assert_int_equal(OPEN(node, 0, {BED_SET, 0}), -EINVAL);
    assert_int_equal(OPEN(node, 0, {BED_FORMAT, 0}), -EINVAL);
    assert_int_equal(OPEN(node, 0, {BED_FORMAT, 15}), -EINVAL);
    assert_int_equal(OPEN(node, 0, {BED_FORMAT, 5}), -EINVAL);
    assert_int_equal(OPEN(node, 0, {BED_EXPONENT, 32}), -EINVAL);
    assert_int_equal(OPEN(node, 0, {BED_POLL, 99999}), -EINVAL);
    assert_int_equal(OPEN(node, 0, {BED_SSEU, 8}), -EFAULT);
    /* The first wrong property decides. */
    assert_int_equal(OPEN(node, 0, {BED_SSEU, 8}, {BED_SET, 0}), -EFAULT);
    assert_int_equal(OPEN(node, 0, {BED_SET, 0}, {BED_SSEU, 8}), -EINVAL);
    (void)close(node);
    kmd_stop(machine);
}

static void open__fast_timer__eacces_without_privilege(void **state)
{
    struct kmd_machine *machine = start("tgl-gt2", false, false);
    int node = bed_node();
    const long set = bed_add(node, BED_UUID);

    (void)state;
    /* 19.2 MHz: exponent 6 is 150 kHz, exponent 7 is 75 kHz. */
    assert_int_equal(OPEN(node, 0, {BED_EXPONENT, 6}, {BED_SET, 0}), -EACCES);
    assert_int_equal(OPEN(node, 0, {BED_EXPONENT, 7}, {BED_SET, 0}), -EINVAL);
    assert_cmp(set, >=, 2);
    (void)close(node);
    kmd_stop(machine);

    machine = start("tgl-gt2", true, true);
    node = bed_node();
    assert_int_equal(OPEN(node, 0, {BED_EXPONENT, 6}, {BED_SET, 0}), -EINVAL);
    (void)close(node);
    kmd_stop(machine);
}

static void open__engine__checked_before_context(void **state)
{
    struct kmd_machine *machine = start("mtl-gt3", false, true);
    const int node = bed_node();

    (void)state;
    assert_int_equal(OPEN(node, 0, {BED_CONTEXT, 77}, {BED_CLASS, 0}), -EINVAL);
    assert_int_equal(OPEN(node, 0, {BED_CONTEXT, 77}, {BED_INSTANCE, 0}), -EINVAL);
    assert_int_equal(OPEN(node, 0, {BED_CONTEXT, 77}, {BED_CLASS, 0}, {BED_INSTANCE, 9}), -EINVAL);
    /* The copy engine has no OA. */
    assert_int_equal(OPEN(node, 0, {BED_CONTEXT, 77}, {BED_CLASS, 1}, {BED_INSTANCE, 0}), -EINVAL);
    /* Formats of media units are for video engines, and the others are not. */
    assert_int_equal(OPEN(node, 0, {BED_CONTEXT, 77}, {BED_FORMAT, 14}), -EINVAL);
    assert_int_equal(
        OPEN(node, 0, {BED_CONTEXT, 77}, {BED_FORMAT, 12}, {BED_CLASS, 2}, {BED_INSTANCE, 0}),
        -EINVAL);
    assert_int_equal(
        OPEN(node, 0, {BED_CONTEXT, 77}, {BED_FORMAT, 14}, {BED_CLASS, 2}, {BED_INSTANCE, 0}),
        -ENOENT);
    /* Of both eight bits count. */
    assert_int_equal(OPEN(node, 0, {BED_CONTEXT, 77}, {BED_FORMAT, 14}, {BED_CLASS, 0x102},
                          {BED_INSTANCE, 0x7700}),
                     -ENOENT);
    (void)close(node);
    kmd_stop(machine);
}

static void open__context__enoent_einval_eacces_in_order(void **state)
{
    struct kmd_machine *machine = start("tgl-gt2", false, true);
    const int node = bed_node();

    (void)state;
    assert_int_equal(OPEN(node, 0, {BED_HOLD, 1}, {BED_CONTEXT, 77}), -ENOENT);
    assert_int_equal(OPEN(node, 0, {BED_HOLD, 1}), -EINVAL);
    assert_int_equal(OPEN(node, 0, {BED_HOLD, 1}, {BED_CONTEXT, 0}), -EACCES);
    assert_int_equal(OPEN(node, 0, {BED_SAMPLE, 1}, {BED_CONTEXT, 0}), -EACCES);
    /* A context without samples needs no privilege on Gen12; the missing format comes next. */
    assert_int_equal(OPEN(node, 0, {BED_CONTEXT, 0}), -EINVAL);
    (void)close(node);
    kmd_stop(machine);
}

static void open__paranoia__follows_sysctl_and_capability(void **state)
{
    struct kmd_machine *machine = start("skl-gt2", false, true);
    int node = bed_node();

    (void)state;
    /* Nothing is asked for but the last checks would find that. */
    assert_int_equal(OPEN(node, 0, {BED_POLL, 100000}), -EACCES);
    (void)close(node);
    kmd_stop(machine);

    machine = start("skl-gt2", false, false);
    node = bed_node();
    assert_int_equal(OPEN(node, 0, {BED_POLL, 100000}), -EINVAL);
    (void)close(node);
    kmd_stop(machine);

    /* One context on Haswell is nobody else's business. */
    machine = start("hsw-gt2", false, true);
    node = bed_node();
    assert_int_equal(OPEN(node, 0, {BED_SAMPLE, 1}, {BED_CONTEXT, 0}), -EINVAL);
    assert_int_equal(OPEN(node, 0, {BED_SAMPLE, 1}), -EACCES);
    (void)close(node);
    kmd_stop(machine);
}

static void open__sseu__einval_enodev_eacces(void **state)
{
    uint64_t sseu[4] = {0, 0x1, 0x3, 0x1000 << 16 | 0x10};
    struct kmd_machine *machine = start("tgl-gt2", false, true);
    int node = bed_node();

    (void)state;
    assert_int_equal(OPEN(node, 0, {BED_SSEU, (uintptr_t)sseu}), -EINVAL);
    sseu[3] = 0x10 << 16 | 0x10;
    assert_int_equal(OPEN(node, 0, {BED_SSEU, (uintptr_t)sseu}), -EACCES);
    sseu[2] = 0x40;
    assert_int_equal(OPEN(node, 0, {BED_SSEU, (uintptr_t)sseu}), -EINVAL);
    (void)close(node);
    kmd_stop(machine);

    machine = start("dg2-g10", true, false);
    node = bed_node();
    assert_int_equal(OPEN(node, 0, {BED_SSEU, 8}), -ENODEV);
    (void)close(node);
    kmd_stop(machine);
}

static void open__last_checks__busy_before_format_and_set(void **state)
{
    struct kmd_machine *machine = start("tgl-gt2", true, true);
    const int node = bed_node();
    const long set = bed_add(node, BED_UUID);
    const int stream = bed_stream(node, set, 10, 10);

    (void)state;
    assert_int_equal(OPEN(node, 0, {BED_POLL, 100000}), -EINVAL);
    assert_int_equal(OPEN(node, 0, {BED_SAMPLE, 1}), -EBUSY);
    (void)close(stream);
    assert_int_equal(OPEN(node, 0, {BED_SAMPLE, 1}), -EINVAL);
    assert_int_equal(OPEN(node, 0, {BED_SAMPLE, 1}, {BED_FORMAT, 10}), -EINVAL);
    assert_int_equal(OPEN(node, 0, {BED_SAMPLE, 1}, {BED_FORMAT, 10}, {BED_SET, 99}), -EINVAL);
    /* The one that the kernel lists first is for nobody. */
    assert_int_equal(OPEN(node, 0, {BED_SAMPLE, 1}, {BED_FORMAT, 10}, {BED_SET, 1}), -EINVAL);
    kmd_fault(machine, 0, KMD_FAULT_OPEN_ERRNO, ENOMEM);
    assert_int_equal(OPEN(node, 0, {BED_SAMPLE, 1}, {BED_FORMAT, 10}, {BED_SET, (uint64_t)set}),
                     -ENOMEM);
    kmd_fault(machine, 0, KMD_FAULT_OPEN_ERRNO, 0);
    assert_cmp(OPEN(node, 0, {BED_SAMPLE, 1}, {BED_FORMAT, 10}, {BED_SET, (uint64_t)set}), >=, 0);
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_STREAMS_OPENED), 2);
    kmd_stop(machine);
    (void)close(node);
}

static void open__metrics_folder_missing__einval_after_privilege(void **state)
{
    struct kmd_config config = {.device_count = 1,
                                .devices = {{.platform = "tgl-gt2", .has_no_metrics_folder = true}},
                                .is_paranoid = true};
    struct kmd_machine *machine = bed_start_config(&config);
    int node = bed_node();

    (void)state;
    assert_int_equal(OPEN(node, 0, {BED_SAMPLE, 1}), -EACCES);
    assert_int_equal(bed_add(node, BED_UUID), -EINVAL);
    (void)close(node);
    kmd_stop(machine);
    config.is_privileged = true;
    machine = bed_start_config(&config);
    node = bed_node();
    assert_int_equal(OPEN(node, 0, {BED_SAMPLE, 1}), -EINVAL);
    (void)close(node);
    kmd_stop(machine);
}

static void open__no_descriptor_left__emfile(void **state)
{
    struct kmd_machine *machine = start("tgl-gt2", true, true);
    const int node = bed_node();
    const long set = bed_add(node, BED_UUID);
    struct rlimit before;
    struct rlimit tight;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    tight = before;
    tight.rlim_cur = (rlim_t)node + 1;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
    assert_int_equal(OPEN(node, 0, {BED_SAMPLE, 1}, {BED_FORMAT, 10}, {BED_SET, (uint64_t)set}),
                     -EMFILE);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    (void)close(bed_stream(node, set, 10, 10));
    (void)close(node);
    kmd_stop(machine);
}

static void open__older_revision__knows_fewer_properties(void **state)
{
    struct kmd_config config = {.device_count = 1,
                                .devices = {{.platform = "mtl-gt3", .perf_revision = 4}},
                                .is_privileged = true};
    struct kmd_machine *machine = bed_start_config(&config);
    int node = bed_node();

    (void)state;
    assert_int_equal(OPEN(node, 0, {BED_POLL, 200000}, {BED_CONTEXT, 77}), -EINVAL);
    assert_int_equal(OPEN(node, 0, {BED_HOLD, 1}, {BED_CONTEXT, 77}), -ENOENT);
    (void)close(node);
    kmd_stop(machine);

    /* Revision 6 does not offer the media unit. */
    config.devices[0].perf_revision = 6;
    machine = bed_start_config(&config);
    node = bed_node();
    assert_int_equal(
        OPEN(node, 0, {BED_CONTEXT, 77}, {BED_FORMAT, 14}, {BED_CLASS, 2}, {BED_INSTANCE, 0}),
        -EINVAL);
    (void)close(node);
    kmd_stop(machine);
}

SUITE(open)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open__no_oa__notsupp_before_all),
        cmocka_unit_test(open__bad_argument__efault_einval),
        cmocka_unit_test(open__bad_property__einval),
        cmocka_unit_test(open__fast_timer__eacces_without_privilege),
        cmocka_unit_test(open__engine__checked_before_context),
        cmocka_unit_test(open__context__enoent_einval_eacces_in_order),
        cmocka_unit_test(open__paranoia__follows_sysctl_and_capability),
        cmocka_unit_test(open__sseu__einval_enodev_eacces),
        cmocka_unit_test(open__last_checks__busy_before_format_and_set),
        cmocka_unit_test(open__metrics_folder_missing__einval_after_privilege),
        cmocka_unit_test(open__no_descriptor_left__emfile),
        cmocka_unit_test(open__older_revision__knows_fewer_properties),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
