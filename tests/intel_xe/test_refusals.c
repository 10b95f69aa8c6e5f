/*
 * What the xe driver refuses, and whether the sentence says what to do. Each case has a machine and
 * a process of its own.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zeta/zeta.h>

#include "tests/intel/stream_bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { PERIOD_NS = 100000 };

#define SYSCTL "/proc/sys/dev/xe/observation_paranoid"

static void paranoid__without_the_capability__names_sysctl_and_command(void **state)
{
    struct kmd_config config = bed_config("bmg", "xe");

    (void)state;
    config.is_privileged = false;
    (void)bed_start(&config);
    bed_open_fails(bed_device(), "TestOa", PERIOD_NS, ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS);
    expect_sentence("dev.xe.observation_paranoid is 1");
    expect_sentence("sudo sysctl dev.xe.observation_paranoid=0");
    expect_sentence("sudo setcap cap_perfmon=ep");
}

static void paranoid__sampling_of_stalls__is_refused_alike(void **state)
{
    struct kmd_config config = bed_config("bmg", "xe");

    (void)state;
    config.is_privileged = false;
    (void)bed_start(&config);
    bed_open_fails(bed_device(), "EuStallSampling", 1000, ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS);
    expect_sentence("sudo sysctl dev.xe.observation_paranoid=0");
}

static void paranoid__switched_off_meanwhile__lets_anybody_sample(void **state)
{
    struct kmd_config config = bed_config("bmg", "xe");
    struct bed_stream stream;

    (void)state;
    config.is_privileged = false;
    (void)bed_start(&config);
    bed_sysctl(SYSCTL, "0\n");
    stream = bed_open(bed_device(), "TestOa", PERIOD_NS);
    bed_close(&stream);
}

/* ---- units that somebody has ---------------------------------------------------------------- */

/* Runs a process that opens a stream of a group, and stays until it is killed. */
static pid_t start_holder(const char *group)
{
    int ends[2];
    pid_t pid;
    char byte;

    assert_int_equal(pipe(ends), 0);
    pid = fork();
    assert_cmp(pid, >=, 0);
    if (pid == 0) {
        struct bed_stream stream;

        /* A case that fails must not leave it behind. */
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        EXPECT_OK(zeInit(0));
        stream = bed_open(bed_device(), group, PERIOD_NS);
        assert_non_null(stream.streamer);
        assert_int_equal(write(ends[1], "x", 1), 1);
        for (;;)
            pause();
    }
    (void)close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    (void)close(ends[0]);
    return pid;
}

static void end_holder(pid_t pid)
{
    (void)kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void expect_holder(pid_t pid)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%d", (int)pid);
    expect_sentence(text);
}

static void unit__of_another_process__is_refused_with_its_pid(void **state)
{
    const struct kmd_config config = bed_config("bmg", "xe");
    struct bed_stream stream;
    pid_t pid;

    (void)state;
    (void)bed_start(&config);
    pid = start_holder("TestOa");
    bed_open_fails(bed_device(), "TestOa", PERIOD_NS, ZE_RESULT_ERROR_NOT_AVAILABLE);
    expect_holder(pid);
    end_holder(pid);
    stream = bed_open(bed_device(), "TestOa", PERIOD_NS);
    bed_close(&stream);
}

/* Stalls of a GT have a unit of their own, which is the kernel's for all processes too. */
static void sampler__of_another_process__is_refused_and_counters_are_not(void **state)
{
    const struct kmd_config config = bed_config("bmg", "xe");
    struct bed_stream stream;
    pid_t pid;

    (void)state;
    (void)bed_start(&config);
    pid = start_holder("EuStallSampling");
    stream = bed_open(bed_device(), "TestOa", PERIOD_NS);
    bed_close(&stream);
    bed_open_fails(bed_device(), "EuStallSampling", 1000, ZE_RESULT_ERROR_NOT_AVAILABLE);
    expect_holder(pid);
    end_holder(pid);
}

static void unit__of_this_process__is_in_use(void **state)
{
    const struct kmd_config config = bed_config("bmg", "xe");
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = PERIOD_NS};
    zet_metric_streamer_handle_t second = NULL;
    struct bed_stream stream;

    (void)state;
    (void)bed_start(&config);
    stream = bed_open(bed_device(), "TestOa", PERIOD_NS);
    EXPECT_RESULT(
        zetMetricStreamerOpen(stream.context, stream.device, stream.group, &desc, NULL, &second),
        ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    bed_close(&stream);
}

/* ---- kernels and GPUs that cannot ----------------------------------------------------------- */

/* The plugin is there and says why it has no device. */
static void expect_reason(const char *part)
{
    const char *reason = "";

    assert_int_equal(plugin_state("intel-xe2", &reason), ZETA_PLUGIN_STATE_FAILED);
    if (!strstr(reason, part))
        fail_msg("the reason \"%s\" does not contain \"%s\"", reason, part);
}

/* Removes a file of the machine; the device is the only one. */
static void remove_file(const char *name)
{
    char path[512];

    (void)snprintf(path, sizeof(path), "%s/%s", kmd_folder(bed_machine()), name);
    if (unlink(path) != 0)
        fail_msg("%s cannot be removed: %s", path, strerror(errno));
}

static void guest__without_units__is_named(void **state)
{
    struct kmd_config config = bed_config("bmg", "xe");

    (void)state;
    config.devices[0].has_no_oa = true;
    config.devices[0].has_no_eu_stall = true;
    (void)bed_start(&config);
    expect_reason("virtual functions");
}

static void kernel__without_observation__is_named(void **state)
{
    const struct kmd_config config = bed_config("bmg", "xe");

    (void)state;
    (void)bed_start_machine(&config);
    remove_file("proc/sys/dev/xe/observation_paranoid");
    EXPECT_OK(zeInit(0));
    expect_reason("no sysctl dev.xe.observation_paranoid");
    expect_reason("Linux 6.11");
}

/* A kernel that knows neither sizes of buffers nor media units is asked for nothing of it.
 * Rule 26.21. */
static void kernel__with_the_first_capabilities__is_asked_for_no_more(void **state)
{
    struct kmd_config config = bed_config("bmg", "xe");
    struct zeta_stream_info info = {.struct_size = sizeof(info)};
    struct bed_stream stream;

    (void)state;
    config.devices[0].xe_capabilities = 1;
    (void)bed_start(&config);
    stream = bed_open(bed_device(), "TestOa", PERIOD_NS);
    EXPECT_OK(zetaMetricStreamerGetInfo(stream.streamer, &info));
    assert_int_equal(info.ring_records, (16 << 20) / 576);
    bed_close(&stream);
    assert_int_equal(kmd_statistic(bed_machine(), 0, KMD_STAT_BAD_CALLS), 0);
    assert_int_equal(bed_group_count(bed_device(), "MediaSet1"), 0);
}

/* Sets that ask for nothing are no groups either where their unit is not there. Rule 26.31. */
static void groups__of_a_unit_that_is_not_there__are_not_listed(void **state)
{
    struct kmd_config config = bed_config("ptl", "xe");

    (void)state;
    config.devices[0].xe_capabilities = 1;
    (void)bed_start(&config);
    assert_cmp(bed_group_count(bed_device(), "TestOa"), >, 0);
    assert_int_equal(bed_group_count(bed_device(), "MediaSet1"), 0); /* of oam-sag */
}

/* Such a kernel does not say on which GT a unit counts; the engines that it counts do. */
static void kernel__with_the_first_capabilities__has_units_on_both_tiles(void **state)
{
    struct kmd_config config = bed_config("pvc", "xe");
    ze_device_handle_t tiles[2];
    uint32_t count = 2;

    (void)state;
    config.devices[0].xe_capabilities = 1;
    config.devices[0].tiles = 2;
    (void)bed_start(&config);
    EXPECT_OK(zeDeviceGetSubDevices(bed_device(), &count, tiles));
    assert_int_equal(count, 2);
    for (uint32_t i = 0; i < count; i++) {
        struct bed_stream stream = bed_open(tiles[i], "TestOa", PERIOD_NS);

        assert_int_equal(kmd_statistic(bed_machine(), 0, KMD_STAT_STREAMS_OPEN), 1);
        bed_close(&stream);
    }
    assert_int_equal(kmd_statistic(bed_machine(), 0, KMD_STAT_BAD_CALLS), 0);
}

/* The other driver has it, as happens on kernels that take a GPU with xe only when told to.
 * Rule 26.23. */
static void driver__that_does_not_count_here__is_named_with_the_words_to_boot(void **state)
{
    const struct kmd_config config = bed_config("lnl", "i915");

    (void)state;
    (void)bed_start(&config);
    expect_reason("i915 does not count on Lunar Lake");
    expect_reason("i915.force_probe=!64");
    expect_reason("xe.force_probe=64");
}

/* Rule 26.23. */
static void node__missing_from_a_container__is_named(void **state)
{
    const struct kmd_config config = bed_config("bmg", "xe");

    (void)state;
    (void)bed_start_machine(&config);
    remove_file("dev/dri/renderD128");
    remove_file("dev/dri/card0");
    EXPECT_OK(zeInit(0));
    expect_reason("has the kernel driver xe, but no node in /dev/dri");
}

/* Rule 26.23. */
static void driver__none__is_named_with_the_words_to_load_it(void **state)
{
    const struct kmd_config config = bed_config("bmg", "xe");

    (void)state;
    (void)bed_start_machine(&config);
    remove_file("dev/dri/renderD128");
    remove_file("dev/dri/card0");
    remove_file("sys/bus/pci/devices/0000:03:00.0/driver");
    EXPECT_OK(zeInit(0));
    expect_reason("has no kernel driver");
    expect_reason("sudo modprobe xe");
    expect_reason("xe.force_probe=e2");
}

/* ---- errors of the kernel ------------------------------------------------------------------- */

static void errno__of_an_open__becomes_a_result_and_a_sentence(void **state)
{
    static const struct {
        int error;
        ze_result_t result;
        const char *part;
    } cases[] = {
        {EBUSY, ZE_RESULT_ERROR_NOT_AVAILABLE, "another client has the unit oa"},
        {EINVAL, ZE_RESULT_ERROR_NOT_AVAILABLE, "report format 0x00010105"},
        {ENODEV, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "does not count on this device"},
        {ENOMEM, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "ENOMEM"},
        {EMFILE, ZE_RESULT_ERROR_NOT_AVAILABLE, "ulimit -n"},
        {ETIMEDOUT, ZE_RESULT_ERROR_NOT_AVAILABLE, "could not be woken"},
        {524, ZE_RESULT_ERROR_NOT_AVAILABLE, "ENOTSUPP"},
        {ENOLINK, ZE_RESULT_ERROR_NOT_AVAILABLE, "ENOLINK"},
    };
    const struct kmd_config config = bed_config("bmg", "xe");
    struct bed_stream source;

    (void)state;
    (void)bed_start(&config);
    source = bed_stream_of(bed_device(), "TestOa");
    bed_streams_activate(&(struct bed_stream *){&source}, 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        kmd_fault(bed_machine(), 0, KMD_FAULT_OPEN_ERRNO, (uint64_t)cases[i].error);
        EXPECT_RESULT(bed_stream_try_open(&source), cases[i].result);
        expect_sentence(cases[i].part);
    }
    kmd_fault(bed_machine(), 0, KMD_FAULT_OPEN_ERRNO, 0);
    bed_stream_open(&source);
    bed_close(&source);
}

static void errno__of_a_read__is_told_unless_it_is_an_interruption(void **state)
{
    const struct kmd_config config = bed_config("bmg", "xe");
    struct bed_stream source;

    (void)state;
    (void)bed_start(&config);
    source = bed_stream_of(bed_device(), "TestOa");
    bed_stream_start(&source);
    kmd_advance(bed_machine(), 1000000);
    kmd_fault(bed_machine(), 0, KMD_FAULT_READ_ERRNO, EINTR);
    EXPECT_OK(bed_stream_drain(&source));
    assert_in_range(bed_record_count(&source), 8, 10);
    kmd_advance(bed_machine(), 1000000);
    kmd_fault(bed_machine(), 0, KMD_FAULT_READ_ERRNO, EFAULT);
    EXPECT_RESULT(bed_stream_drain(&source), ZE_RESULT_ERROR_NOT_AVAILABLE);
    expect_sentence("to read the stream of the unit oa with EFAULT");
    bed_close(&source);
}

SUITE_WITH_ARGUMENTS(xe_refusals, argc, argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paranoid__without_the_capability__names_sysctl_and_command),
        cmocka_unit_test(paranoid__sampling_of_stalls__is_refused_alike),
        cmocka_unit_test(paranoid__switched_off_meanwhile__lets_anybody_sample),
        cmocka_unit_test(unit__of_another_process__is_refused_with_its_pid),
        cmocka_unit_test(sampler__of_another_process__is_refused_and_counters_are_not),
        cmocka_unit_test(unit__of_this_process__is_in_use),
        cmocka_unit_test(guest__without_units__is_named),
        cmocka_unit_test(kernel__without_observation__is_named),
        cmocka_unit_test(kernel__with_the_first_capabilities__is_asked_for_no_more),
        cmocka_unit_test(groups__of_a_unit_that_is_not_there__are_not_listed),
        cmocka_unit_test(kernel__with_the_first_capabilities__has_units_on_both_tiles),
        cmocka_unit_test(driver__that_does_not_count_here__is_named_with_the_words_to_boot),
        cmocka_unit_test(node__missing_from_a_container__is_named),
        cmocka_unit_test(driver__none__is_named_with_the_words_to_load_it),
        cmocka_unit_test(errno__of_an_open__becomes_a_result_and_a_sentence),
        cmocka_unit_test(errno__of_a_read__is_told_unless_it_is_an_interruption),
    };

    return bed_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
