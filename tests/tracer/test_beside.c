/*
 * Work of another process, which is this program with an argument, and what a third one can see of
 * a tracer.
 */
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/query/bed.h"
#include "tests/support/suite.h"
#include "tracing.h"

extern char **environ;

#define LAUNCHES 30u
#define GROUPS 8u

/* Another process: launches some kernels. */
static int work_main(void)
{
    void *state = NULL;
    const struct bed *bed;
    ze_command_list_handle_t list;
    ze_kernel_handle_t count;
    uint32_t *counter;

    if (bed_setup(&state) != 0)
        return 1;
    bed = state;
    list = bed_immediate(bed, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    counter = bed_memory(bed, 64);
    count = bed_count(bed, counter);
    for (uint32_t i = 0; i < LAUNCHES; i++)
        bed_count_append(list, count, GROUPS);
    EXPECT_OK(zeKernelDestroy(count));
    EXPECT_OK(zeMemFree(bed->context, counter));
    EXPECT_OK(zeCommandListDestroy(list));
    return bed_teardown(&state);
}

/* Another process: has a tracer that is on, and says so; ends by a signal. */
static int trace_main(void)
{
    void *state = NULL;
    struct tracing tracing;
    char letter = 'x';

    if (bed_setup(&state) != 0)
        return 1;
    tracing = tracing_begin(state, NULL);
    tracing_enable(&tracing);
    if (write(STDOUT_FILENO, &letter, 1) != 1)
        return 2;
    for (;;)
        pause();
}

static pid_t start(const char *word, int output)
{
    char copy[16], self[] = "tracing", suite[] = "beside";
    char *arguments[] = {self, suite, copy, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid = 0;

    (void)snprintf(copy, sizeof(copy), "%s", word);
    assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
    if (output >= 0)
        (void)posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    assert_int_equal(posix_spawn(&pid, "/proc/self/exe", &actions, NULL, arguments, environ), 0);
    (void)posix_spawn_file_actions_destroy(&actions);
    return pid;
}

/* Rule 22.4. */
static void work__of_another_process__is_traced_exactly(void **state)
{
    const struct bed *bed = *state;
    struct tracing tracing = tracing_begin(bed, NULL);
    int status = -1;
    pid_t pid;

    tracing_enable(&tracing);
    pid = start("work", -1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    tracing_disable(&tracing);
    tracing_read(&tracing);
    tracing_decode(&tracing);
    assert_false(tracing.dropped);
    assert_int_equal(tracing_count(&tracing, "KernelBegin"), LAUNCHES);
    assert_int_equal(tracing_count(&tracing, "KernelEnd"), LAUNCHES);
    assert_int_equal(tracing_count(&tracing, "GroupBegin"), LAUNCHES * GROUPS);
    assert_int_equal(tracing_count(&tracing, "GroupEnd"), LAUNCHES * GROUPS);
    for (uint32_t i = 0; i < tracing_count(&tracing, "WorkProcess"); i++)
        assert_int_equal(tracing_entry(&tracing, "WorkProcess", i)->value.ui32, pid);
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        assert_int_equal(tracing_entry(&tracing, "KernelBeginLaunch", i)->value.ui64, i + 1);
        assert_int_equal(tracing_entry(&tracing, "KernelEndLaunch", i)->value.ui64, i + 1);
    }
    tracing_end(&tracing);
}

/* The last row of a stream, as a value by name. */
static uint64_t last_value(zet_metric_streamer_handle_t streamer, zet_metric_group_handle_t group,
                           const char *metric, uint64_t *sum)
{
    static uint8_t raw[1 << 20];
    size_t size = sizeof(raw);
    uint32_t count = 0, metrics = 0;
    const uint32_t index = metric_index(group, metric);
    zet_typed_value_t *values;
    uint64_t last = 0;

    EXPECT_OK(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, raw));
    EXPECT_OK(zetMetricGet(group, &metrics, NULL));
    EXPECT_OK(zetMetricGroupCalculateMetricValues(
        group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, size, raw, &count, NULL));
    values = calloc(count ? count : 1, sizeof(*values));
    assert_non_null(values);
    EXPECT_OK(zetMetricGroupCalculateMetricValues(
        group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, size, raw, &count, values));
    for (uint32_t row = 0; row < count / metrics; row++) {
        last = values[row * metrics + index].value.ui64;
        *sum += last;
    }
    free(values);
    return last;
}

/* Rule 22.8. */
static void status_group__tracer_of_another_process__counts_its_events(void **state)
{
    const struct bed *bed = *state;
    zet_metric_group_handle_t group = find_group(bed->device, "KernelTracer", TIME_BASED, NULL);
    zet_metric_group_handle_t traced = find_group(bed->device, "KernelEvents", TRACER_BASED, NULL);
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = 1000000};
    zet_metric_tracer_exp_desc_t wanted = {.stype = ZET_STRUCTURE_TYPE_METRIC_TRACER_EXP_DESC};
    zet_metric_streamer_handle_t streamer = NULL;
    zet_metric_tracer_exp_handle_t tracer = NULL;
    uint64_t written = 0;
    int status, pipe_of[2];
    pid_t other, worker;
    char letter, text[32];

    EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, 1, &group));
    EXPECT_OK(zetMetricStreamerOpen(bed->context, bed->device, group, &desc, NULL, &streamer));
    assert_int_equal(pipe(pipe_of), 0);
    other = start("trace", pipe_of[1]);
    assert_int_equal(read(pipe_of[0], &letter, 1), 1);
    worker = start("work", -1);
    assert_int_equal(waitpid(worker, &status, 0), worker);
    assert_int_equal(status, 0);
    for (unsigned ms = 0; ms < 20000 && written < 1 + LAUNCHES * (2 + 2 * GROUPS); ms += 10) {
        sleep_ms(10);
        (void)last_value(streamer, group, "EventsWritten", &written);
    }
    assert_int_equal(written, 1 + LAUNCHES * (2 + 2 * GROUPS));
    EXPECT_OK(zetMetricStreamerClose(streamer));

    /* Its source cannot be had, and the sentence says who has it. */
    EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, 1, &traced));
    EXPECT_RESULT(
        zetMetricTracerCreateExp(bed->context, bed->device, 1, &traced, &wanted, NULL, &tracer),
        ZE_RESULT_ERROR_NOT_AVAILABLE);
    (void)snprintf(text, sizeof(text), "process %d", (int)other);
    expect_sentence(text);
    (void)kill(other, SIGKILL);
    assert_int_equal(waitpid(other, &status, 0), other);
    EXPECT_OK(
        zetMetricTracerCreateExp(bed->context, bed->device, 1, &traced, &wanted, NULL, &tracer));
    EXPECT_OK(zetMetricTracerDestroyExp(tracer));
    EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, 0, NULL));
    (void)close(pipe_of[0]);
    (void)close(pipe_of[1]);
}

SUITE_WITH_ARGUMENTS(beside, argc, argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work__of_another_process__is_traced_exactly),
        cmocka_unit_test(status_group__tracer_of_another_process__counts_its_events),
    };

    if (argc > 1)
        return strcmp(argv[1], "work") == 0 ? work_main() : trace_main();
    return cmocka_run_group_tests(tests, bed_setup, bed_teardown);
}
