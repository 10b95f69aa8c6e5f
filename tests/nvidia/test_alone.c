/* Each part without the libraries and modes of the others. */

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "tests/nvidia/bed.h"
#include "tests/nvidia/computing.h"
#include "tests/support/compare.h"

static void check_compute(void)
{
    struct computing c;
    void *memory;
    uint32_t count = 0;

    bed_set("libcupti", cuda_folder(bed_machine)); /* a folder without it */
    bed_set("libnvidia_ml", cuda_folder(bed_machine));
    c = computing_open("api.ptx");
    memory = computing_memory(&c, ZE_MEMORY_TYPE_DEVICE, 8, 8);
    computing_launch(&c, "store", 1, memory, 12345);
    assert_int_equal(computing_read(&c, memory), 12345);
    EXPECT_OK(zetMetricGroupGet(c.device, &count, NULL));
    assert_int_equal(count, 0);
    computing_close(&c);
}

static void compute__without_cupti_and_nvml__works(void **state)
{
    (void)state;
    bed_run("gh100", check_compute);
}

/* Reads a stream until it has given bytes. */
static void expect_samples(ze_context_handle_t context, ze_device_handle_t device)
{
    zet_metric_streamer_desc_t description = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                              .notifyEveryNReports = 1,
                                              .samplingPeriod = 1000000};
    zet_metric_group_handle_t group = find_group(device, "ComputeBasic", TIME_BASED, NULL);
    zet_metric_streamer_handle_t streamer = NULL;
    uint8_t *raw = malloc(1 << 20);
    size_t bytes = 0;

    assert_non_null(raw);
    EXPECT_OK(zetContextActivateMetricGroups(context, device, 1, &group));
    EXPECT_OK(zetMetricStreamerOpen(context, device, group, &description, NULL, &streamer));
    while (bytes == 0) {
        const ze_result_t result =
            zetMetricStreamerReadData(streamer, UINT32_MAX, (bytes = 1 << 20, &bytes), raw);

        assert_true(result == ZE_RESULT_SUCCESS || result == ZE_RESULT_WARNING_DROPPED_DATA);
        (void)sched_yield();
    }
    EXPECT_OK(zetMetricStreamerClose(streamer));
    EXPECT_OK(zetContextActivateMetricGroups(context, device, 0, NULL));
    free(raw);
}

/* No program can compute on this GPU, so there is no context of CUDA. */
static void check_metrics(void)
{
    const ze_device_mem_alloc_desc_t memory = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_device_handle_t device;
    ze_context_handle_t context;
    void *address = NULL;

    bed_set("libnvidia_ml", cuda_folder(bed_machine));
    device = bed_device();
    context = make_context(device);
    expect_samples(context, device);
    assert_int_equal(cuda_calls(bed_machine, "cuDevicePrimaryCtxRetain"), 0);
    assert_true(zeMemAllocDevice(context, &memory, 64, 8, device, &address) != ZE_RESULT_SUCCESS);
    expect_sentence("The compute mode of 0000:06:00.0 is prohibited");
    expect_samples(context, device);
    EXPECT_OK(zeContextDestroy(context));
}

static void metrics__of_a_gpu_that_may_not_compute__are_measured(void **state)
{
    (void)state;
    bed_run("{format: 1, gpus: [{chip: gh100, compute_mode: 2}]}", check_metrics);
}

SUITE(alone)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compute__without_cupti_and_nvml__works),
        cmocka_unit_test(metrics__of_a_gpu_that_may_not_compute__are_measured),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
