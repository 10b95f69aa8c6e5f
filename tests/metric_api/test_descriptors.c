/* Programs that run with their standard streams closed: what they print must go nowhere. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/forked.h"
#include "tests/metric_api/harness.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/* Exit codes of the child, which has nowhere to print to. */
enum { GOOD, NO_DEVICE, NO_QUEUE, NO_STREAM, DESCRIPTOR_TAKEN };

static bool standard_streams_are_closed(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) != -1 || errno != EBADF)
            return false;
    }
    return true;
}

static bool fill(ze_context_handle_t context, ze_device_handle_t device)
{
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    ze_command_list_handle_t list = NULL;
    char target[64];
    const char pattern = 'x';

    return zeCommandListCreateImmediate(context, device, &desc, &list) == ZE_RESULT_SUCCESS &&
           zeCommandListAppendMemoryFill(list, target, &pattern, 1, sizeof(target), NULL, 0,
                                         NULL) == ZE_RESULT_SUCCESS &&
           target[63] == 'x' && zeCommandListDestroy(list) == ZE_RESULT_SUCCESS;
}

static bool open_stream(ze_context_handle_t context, ze_device_handle_t device,
                        zet_metric_streamer_handle_t *out_streamer)
{
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .notifyEveryNReports = 1,
                                       .samplingPeriod = 1000000};
    zet_metric_group_handle_t group = NULL;
    uint32_t count = 1;

    return zetMetricGroupGet(device, &count, &group) == ZE_RESULT_SUCCESS && count == 1 &&
           zetContextActivateMetricGroups(context, device, 1, &group) == ZE_RESULT_SUCCESS &&
           zetMetricStreamerOpen(context, device, group, &desc, NULL, out_streamer) ==
               ZE_RESULT_SUCCESS;
}

static int use_without_standard_streams(void)
{
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_driver_handle_t driver = NULL;
    ze_device_handle_t device = NULL;
    ze_context_handle_t context = NULL;
    zet_metric_streamer_handle_t streamer = NULL;
    uint32_t count = 1;
    bool closed;

    for (int fd = 0; fd <= 2; fd++)
        (void)close(fd);
    if (zeInit(ZE_INIT_FLAG_GPU_ONLY) != ZE_RESULT_SUCCESS ||
        zeDriverGet(&count, &driver) != ZE_RESULT_SUCCESS ||
        zeDeviceGet(driver, &count, &device) != ZE_RESULT_SUCCESS || count != 1 ||
        zeContextCreate(driver, &desc, &context) != ZE_RESULT_SUCCESS)
        return NO_DEVICE;
    if (!fill(context, device))
        return NO_QUEUE;
    if (!open_stream(context, device, &streamer))
        return NO_STREAM;
    closed = standard_streams_are_closed();
    if (zetMetricStreamerClose(streamer) != ZE_RESULT_SUCCESS)
        return NO_STREAM;
    return closed ? GOOD : DESCRIPTOR_TAKEN;
}

/* Rule 1.21. */
static void standard_streams__closed__stay_closed(void **state)
{
    int status = 0;
    pid_t child;

    (void)state;
    child = fork_child();
    assert_cmp(child, >=, 0);
    if (child == 0) {
        (void)alarm(600);
        _exit(use_without_standard_streams());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), GOOD);
}

SUITE(descriptors)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(standard_streams__closed__stay_closed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
