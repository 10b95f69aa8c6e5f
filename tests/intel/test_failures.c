/*
 * What is refused, and what the user hears: permissions, busy units, old kernels, guests, nodes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zeta/zeta.h>

#include "tests/forked.h"
#include "tests/intel/stream_bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/* The plugin of the machine failed, or found nothing, with a reason that says all of these. */
static void expect_reason(const struct kmd_config *config, const char *const *parts)
{
    const char *reason = "";

    (void)bed_start_machine(config);
    EXPECT_OK(zeInit(0));
    assert_int_equal(plugin_state("intel-gen12lp", &reason), ZETA_PLUGIN_STATE_FAILED);
    for (; *parts; parts++) {
        if (!strstr(reason, *parts))
            fail_msg("the reason \"%s\" does not say \"%s\"", reason, *parts);
    }
}

/* Rule 26.15. */
static void node__that_may_not_be_opened__names_group_and_command(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    static const char *const parts[] = {"/dev/dri/renderD128", "EACCES", "usermod -aG",
                                        "Tiger Lake", NULL};

    (void)state;
    config.node_is_forbidden = true;
    expect_reason(&config, parts);
}

/* Rule 26.15. */
static void guest__without_oa__says_so(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    static const char *const parts[] = {"ENOTSUPP", "no OA unit", "guests", NULL};

    (void)state;
    config.devices[0].has_no_oa = true;
    expect_reason(&config, parts);
}

/* Rule 26.15. */
static void kernel__without_metrics_folder__says_so(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    static const char *const parts[] = {"metrics", "directory", NULL};

    (void)state;
    config.devices[0].has_no_metrics_folder = true;
    expect_reason(&config, parts);
}

static void machine__with_render_node_only__samples(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    struct bed_stream stream;

    (void)state;
    config.devices[0].has_render_node_only = true;
    (void)bed_start(&config);
    stream = bed_open(bed_device(), "RenderBasic", 1000000);
    bed_close(&stream);
}

static void kernel__of_each_perf_revision__samples(void **state)
{
    static uint8_t data[1 << 16];
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    struct bed_stream stream;
    uint64_t refused;

    config.devices[0].perf_revision = (uint32_t)atoi(*state);
    (void)bed_start(&config);
    /* Old kernels do not know every parameter that is asked for; streams know what they may ask. */
    refused = kmd_statistic(bed_machine(), 0, KMD_STAT_BAD_CALLS);
    stream = bed_open(bed_device(), "RenderBasic", 1000000);
    (void)bed_collect(&stream, 3, data, sizeof(data));
    assert_int_equal(kmd_statistic(bed_machine(), 0, KMD_STAT_BAD_CALLS), refused);
    bed_close(&stream);
}

/* Rule 26.11. */
static void process__without_capability__hears_of_sysctl_and_command(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    const char *reason = "";

    (void)state;
    config.is_privileged = false;
    (void)bed_start(&config);
    /* The plugin works, and says beside its state that nothing can be sampled yet. */
    assert_int_equal(plugin_state("intel-gen12lp", &reason), ZETA_PLUGIN_STATE_ACTIVE);
    assert_non_null(strstr(reason, "sudo sysctl dev.i915.perf_stream_paranoid=0"));
    bed_open_fails(bed_device(), "RenderBasic", 1000000, ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS);
    expect_sentence("dev.i915.perf_stream_paranoid is 1");
    expect_sentence("sudo sysctl dev.i915.perf_stream_paranoid=0");
    expect_sentence("sudo setcap cap_perfmon=ep");
}

/* Rule 26.11. */
static void process__on_a_lenient_kernel__needs_no_capability(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    const char *reason = "";
    struct bed_stream stream;

    (void)state;
    config.is_privileged = false;
    config.is_paranoid = false;
    (void)bed_start(&config);
    assert_int_equal(plugin_state("intel-gen12lp", &reason), ZETA_PLUGIN_STATE_ACTIVE);
    assert_string_equal(reason, "");
    stream = bed_open(bed_device(), "RenderBasic", 1000000);
    bed_close(&stream);
}

/* Rule 26.2. */
static void rate__above_what_everybody_may__is_lowered_and_told(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    struct bed_stream stream;

    (void)state;
    config.is_privileged = false;
    config.is_paranoid = false;
    config.max_sample_rate = 10000;
    (void)bed_start(&config);
    /* 2^11 ticks of 19.2 MHz are 106.7 us: the first period with at most 10000 reports a second. */
    stream = bed_open(bed_device(), "RenderBasic", 10000);
    assert_int_equal(stream.period_ns, 106667);
    bed_close(&stream);
}

/* Rule 26.2. */
static void rate__of_a_privileged_process__is_not_limited(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    struct bed_stream stream;

    (void)state;
    if (geteuid() != 0)
        skip(); /* the plugin looks at the capabilities that the process really has */
    config.max_sample_rate = 10000;
    (void)bed_start(&config);
    stream = bed_open(bed_device(), "RenderBasic", 10000);
    assert_cmp(stream.period_ns, <, 14000);
    bed_close(&stream);
}

static void unit__of_this_process__is_in_use(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = 1000000};
    zet_metric_streamer_handle_t second;
    struct bed_stream stream;

    (void)state;
    (void)bed_start(&config);
    stream = bed_open(bed_device(), "RenderBasic", 1000000);
    EXPECT_RESULT(
        zetMetricStreamerOpen(stream.context, stream.device, stream.group, &desc, NULL, &second),
        ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    bed_close(&stream);
    stream = bed_open(bed_device(), "RenderBasic", 1000000);
    bed_close(&stream);
}

/* A child that has a stream until it is told to end; pipes are [read, write]. */
static pid_t start_holder(const int ready[2], const int end[2])
{
    const pid_t pid = fork_child();
    struct bed_stream stream;
    char byte = 'r';

    if (pid != 0)
        return pid;
    (void)close(end[1]);
    if (zeInit(0) != ZE_RESULT_SUCCESS)
        _exit(1);
    stream = bed_open(bed_device(), "RenderBasic", 1000000);
    if (write(ready[1], &byte, 1) != 1 || read(end[0], &byte, 1) < 0)
        _exit(2);
    bed_close(&stream);
    _exit(0);
}

/* Rule 26.9. */
static void unit__of_another_process__is_not_available_until_it_ends(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    struct bed_stream stream;
    int ready[2], end[2], status;
    char holder[48];
    pid_t pid;
    char byte;

    (void)state;
    (void)bed_start_machine(&config);
    assert_cmp(pipe(ready), ==, 0);
    assert_cmp(pipe(end), ==, 0);
    pid = start_holder(ready, end);
    assert_cmp(pid, >, 0);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    EXPECT_OK(zeInit(0));
    bed_open_fails(bed_device(), "RenderBasic", 1000000, ZE_RESULT_ERROR_NOT_AVAILABLE);
    expect_sentence("unit oa that RenderBasic on 0000:00:02.0");
    (void)snprintf(holder, sizeof(holder), "process %d uses", (int)pid);
    expect_sentence(holder);
    (void)close(end[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    EXPECT_OK(zeInit(0));
    stream = bed_open(bed_device(), "RenderBasic", 1000000);
    bed_close(&stream);
}

/* Rule 26.9. */
static void child__of_a_process_with_a_stream__frees_the_unit_and_samples(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    struct kmd_machine *machine = bed_start(&config);
    struct bed_stream stream = bed_open(bed_device(), "RenderBasic", 1000000);
    int go[2], status;
    char byte = 'g';
    pid_t pid;

    (void)state;
    assert_int_equal(pipe(go), 0);
    pid = fork_child();
    assert_cmp(pid, >=, 0);
    if (pid == 0) {
        struct bed_stream own;

        /* The parent closes its stream; the copy of its descriptor here must not keep the unit. */
        if (zeInit(0) != ZE_RESULT_SUCCESS || read(go[0], &byte, 1) != 1)
            _exit(1);
        own = bed_open(bed_device(), "RenderBasic", 1000000);
        bed_close(&own);
        _exit(0);
    }
    bed_close(&stream);
    assert_int_equal(write(go[1], &byte, 1), 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_STREAMS_OPENED), 2);
}

static void kernel__that_refuses_to_open__is_quoted(void **state)
{
    static const struct {
        int error;
        ze_result_t result;
        const char *part;
    } answers[] = {
        {EBUSY, ZE_RESULT_ERROR_NOT_AVAILABLE, "in use"},
        {ENODEV, ZE_RESULT_ERROR_DEVICE_LOST, "ENODEV"},
        {ENOMEM, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "ENOMEM"},
        {EMFILE, ZE_RESULT_ERROR_NOT_AVAILABLE, "ulimit"},
        {EINVAL, ZE_RESULT_ERROR_NOT_AVAILABLE, "report format 10"},
        {524, ZE_RESULT_ERROR_NOT_AVAILABLE, "ENOTSUPP"},
        {EIO, ZE_RESULT_ERROR_UNKNOWN, "EIO"},
    };
    const size_t index = (size_t)atoi(*state);
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    struct kmd_machine *machine = bed_start(&config);

    assert_cmp(index, <, sizeof(answers) / sizeof(answers[0]));
    kmd_fault(machine, 0, KMD_FAULT_OPEN_ERRNO, (uint64_t)answers[index].error);
    bed_open_fails(bed_device(), "RenderBasic", 1000000, answers[index].result);
    if (answers[index].error != EBUSY)
        expect_sentence(answers[index].part);
}

SUITE_WITH_ARGUMENTS(failures, argc, argv)
{
    static const char *const revisions[] = {"1", "2", "3", "4", "5", "6", "7", NULL};
    static const char *const answers[] = {"0", "1", "2", "3", "4", "5", "6", NULL};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(node__that_may_not_be_opened__names_group_and_command),
        cmocka_unit_test(guest__without_oa__says_so),
        cmocka_unit_test(kernel__without_metrics_folder__says_so),
        cmocka_unit_test(machine__with_render_node_only__samples),
        cmocka_unit_test(process__without_capability__hears_of_sysctl_and_command),
        cmocka_unit_test(process__on_a_lenient_kernel__needs_no_capability),
        cmocka_unit_test(rate__above_what_everybody_may__is_lowered_and_told),
        cmocka_unit_test(rate__of_a_privileged_process__is_not_limited),
        cmocka_unit_test(unit__of_this_process__is_in_use),
        cmocka_unit_test(unit__of_another_process__is_not_available_until_it_ends),
        cmocka_unit_test(child__of_a_process_with_a_stream__frees_the_unit_and_samples),
        cmocka_unit_test_prestate(kernel__of_each_perf_revision__samples, (void *)revisions),
        cmocka_unit_test_prestate(kernel__that_refuses_to_open__is_quoted, (void *)answers),
    };

    return bed_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
