/* fork() while a tracer is enabled. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/metric_tracer/trace_bed.h"
#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include "zeta/zeta.h"

static int set_up(void **state)
{
    (void)state;
    return zeInit(0) == ZE_RESULT_SUCCESS ? 0 : -1;
}

/** Says where a child failed: cmocka's assertions belong to the parent. */
#define CHILD_CHECK(condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf(stderr, "child, line %d: %s is false (%s)\n", __LINE__, #condition,      \
                          zetaGetLastError());                                                     \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

/** What the child inherited is refused. */
static void use_inherited(struct trace_bed *bed, struct trace_decoder *decoder)
{
    uint8_t raw[64];
    size_t size = sizeof(raw);
    uint32_t sets = 0;
    uint32_t count = 0;

    CHILD_CHECK(zetMetricTracerReadDataExp(bed->tracer, &size, raw) ==
                ZE_RESULT_ERROR_UNINITIALIZED);
    CHILD_CHECK(zetMetricTracerDisableExp(bed->tracer, 1) == ZE_RESULT_ERROR_UNINITIALIZED);
    CHILD_CHECK(zetMetricTracerDestroyExp(bed->tracer) == ZE_RESULT_ERROR_UNINITIALIZED);
    CHILD_CHECK(zetMetricTracerDecodeExp(decoder->handle, &size, raw, 1, decoder->metrics, &sets,
                                         NULL, &count, NULL) == ZE_RESULT_ERROR_UNINITIALIZED);
}

/** A tracer of its own, with an event where threads can be started. */
static void trace_in_child(void)
{
    struct trace_bed bed = {.name = "trace0", .control = harness_control("trace_control")};
    struct test_event event = {0};
    zet_metric_tracer_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_TRACER_EXP_DESC,
                                         .notifyEveryNBytes = 96};
    size_t size = sizeof(bed.raw);

    bed.device = look_for_device("trace0");
    CHILD_CHECK(bed.device != NULL);
    bed.context = make_context(bed.device);
    bed.groups[0] = find_group(bed.device, "KernelEvents", TRACER_BASED, NULL);
    CHILD_CHECK(zetContextActivateMetricGroups(bed.context, bed.device, 1, bed.groups) ==
                ZE_RESULT_SUCCESS);
    if (!NO_THREADS_AFTER_FORK)
        event = make_event(bed.context);
    CHILD_CHECK(zetMetricTracerCreateExp(bed.context, bed.device, 1, bed.groups, &desc, event.event,
                                         &bed.tracer) == ZE_RESULT_SUCCESS);
    CHILD_CHECK(zetMetricTracerEnableExp(bed.tracer, 1) == ZE_RESULT_SUCCESS);
    bed.control->push("trace0", "kernels", TRACE_BEGIN, 2);
    if (event.event)
        CHILD_CHECK(zeEventHostSynchronize(event.event, UINT64_MAX) == ZE_RESULT_SUCCESS);
    CHILD_CHECK(zetMetricTracerReadDataExp(bed.tracer, &size, bed.raw) == ZE_RESULT_SUCCESS);
    CHILD_CHECK(size == bytes_of(3));
    CHILD_CHECK(zetMetricTracerDisableExp(bed.tracer, 1) == ZE_RESULT_SUCCESS);
    CHILD_CHECK(zetMetricTracerDestroyExp(bed.tracer) == ZE_RESULT_SUCCESS);
}

static void fork__tracer_enabled__child_starts_anew_and_parent_goes_on(void **state)
{
    struct trace_bed bed = bed_make("trace0");
    struct test_event event = make_event(bed.context);
    struct trace_decoder decoder;
    int status = 0;
    pid_t child;

    (void)state;
    bed_activate(&bed, "KernelEvents", NULL);
    (void)bed_create(&bed, 128, event.event);
    decoder = bed_decoder(&bed);
    EXPECT_OK(zetMetricTracerEnableExp(bed.tracer, 1));
    child = fork();
    if (child == 0) {
        use_inherited(&bed, &decoder);
        CHILD_CHECK(zeInit(0) == ZE_RESULT_SUCCESS);
        trace_in_child();
        _exit(0);
    }
    assert_cmp(child, >, 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    bed.control->push("trace0", "kernels", TRACE_BEGIN, 3);
    EXPECT_OK(zeEventHostSynchronize(event.event, UINT64_MAX));
    assert_int_equal(bed_read(&bed, 1024, ZE_RESULT_SUCCESS), bytes_of(4));
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    EXPECT_OK(zetMetricTracerDestroyExp(bed.tracer));
    bed.tracer = NULL;
    EXPECT_OK(zetMetricDecoderDestroyExp(decoder.handle));
    destroy_event(&event);
    bed_free(&bed);
}

SUITE(fork)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fork__tracer_enabled__child_starts_anew_and_parent_goes_on),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
