/*
 * A program that uses CUPTI itself in the process of the plugin: sessions of PM sampling and
 * activity records of its own, before and behind ours. The program is the client of tests/cuda.
 */
#include <stdlib.h>
#include <unistd.h>

#include "plugins/nvidia/activity/activity.h"
#include "plugins/nvidia/activity/event.h"
#include "plugins/nvidia/sampling/program.h"
#include "plugins/nvidia/sampling/stream.h"
#include "tests/cuda/tests/bed.h"
#include "tests/nvidia/parts.h"

#define REAL "{format: 1, gpus: [{chip: gh100}]}"

/* ---- PM sampling ---------------------------------------------------------------------------- */

static const char *const names[] = {"gpu__time_duration.sum", "sm__warps_launched.sum"};

static uint32_t open_ours(struct zeta_plugin_device *device, struct zeta_plugin_stream **out_stream)
{
    const struct zeta_plugin_program_entry entry = {
        .struct_size = sizeof(entry), .select = zeta_string("C0=sm__warps_launched.sum")};
    struct zeta_plugin_stream_desc desc = {
        .struct_size = sizeof(desc),
        .set = zeta_string("Own"),
        .program = {.data = &entry, .count = 1, .stride = sizeof(entry)},
        .period_ns = 1000000,
        .record_bytes = NVIDIA_RECORD_BYTES};

    return nvidia_sampling_open(device, &desc, out_stream);
}

/* Waits for so many records. */
static void read_ours(const struct zeta_plugin_stream *stream, uint32_t count)
{
    struct zeta_plugin_read read = {.struct_size = sizeof(read)};
    struct nvidia_interval record;

    while (count > 0) {
        zeta_record_ring_read(stream->ring, &record, sizeof(record), &read);
        count -= read.bytes > 0;
        if (read.bytes == 0)
            (void)usleep(1000);
    }
}

static void check_session_before(void)
{
    struct zeta_plugin_device *device = parts_device();
    struct zeta_plugin_stream *ours = NULL;
    struct bed_stream theirs;

    (void)bed_context(0);
    bed_open(&theirs, names, 2, NULL);
    assert_int_equal(open_ours(device, &ours), ZETA_PLUGIN_HANDLE_OBJECT_IN_USE);
    parts_expect_sentence("this process has such a session of the GPU already");
    assert_null(ours);
    while (theirs.samples < 3) /* its session goes on */
        assert_int_equal(bed_decode(&theirs, NULL), 0);
    bed_close(&theirs);
    assert_int_equal(open_ours(device, &ours), ZETA_PLUGIN_SUCCESS);
    read_ours(ours, 3);
    ours->close(ours);
}

/* The program is refused, and ours goes on. */
static void check_session_behind(void)
{
    struct zeta_plugin_device *device = parts_device();
    struct pm_enable enable = BED_BLOCK(pm_enable, object);
    struct zeta_plugin_stream *ours = NULL;
    struct bed_stream theirs;

    (void)bed_context(0);
    assert_int_equal(open_ours(device, &ours), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(cupti.cuptiPmSamplingEnable(&enable), 7);
    read_ours(ours, 3);
    ours->close(ours);
    bed_open(&theirs, names, 2, NULL);
    while (theirs.samples < 3)
        assert_int_equal(bed_decode(&theirs, NULL), 0);
    bed_close(&theirs);
}

static void session__of_the_program__one_at_a_time(void **state)
{
    (void)state;
    bed_run(REAL, check_session_before);
    bed_run(REAL, check_session_behind);
}

/* ---- activity records ----------------------------------------------------------------------- */

static uint32_t their_records;

static void request(uint8_t **buffer, size_t *bytes, size_t *most)
{
    *buffer = aligned_alloc(8, 4096);
    *bytes = 4096;
    *most = 0;
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
    void *record = NULL;

    (void)context;
    (void)stream;
    (void)bytes;
    while (cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == 0)
        their_records++;
    free(buffer);
}

/* The program counts the records of one kernel. */
static void trace_theirs(void)
{
    const uint32_t before = their_records;

    assert_int_equal(cupti.cuptiActivityRegisterCallbacks(request, complete), 0);
    assert_int_equal(cupti.cuptiActivityEnable(RECORD_CONCURRENT_KERNEL), 0);
    bed_fma(1);
    assert_int_equal(cu.cuCtxSynchronize(), CU_OK);
    assert_int_equal(cupti.cuptiActivityFlushAll(1), 0);
    assert_int_equal(their_records, before + 1);
}

/* Kernels that the tracer has seen since it was read last. */
static uint32_t count_ours(struct zeta_plugin_tracer *tracer)
{
    struct zeta_plugin_read read = {.struct_size = sizeof(read)};
    struct nvidia_event events[64];
    uint32_t kernels = 0;

    do {
        assert_int_equal(nvidia_tracer_ops.read(NULL, tracer, events, sizeof(events), &read),
                         ZETA_PLUGIN_SUCCESS);
        for (size_t i = 0; i < read.bytes / NVIDIA_EVENT_BYTES; i++)
            kernels += events[i].type == NVIDIA_EVENT_KERNEL;
    } while (read.bytes > 0);
    return kernels;
}

/* In turn each has its own; whoever registers later has the records from then on. */
static void check_records(void)
{
    static const struct zeta_plugin_string unit = {NVIDIA_ACTIVITY_UNIT,
                                                   sizeof(NVIDIA_ACTIVITY_UNIT) - 1};
    struct zeta_plugin_tracer_desc desc = {
        .struct_size = sizeof(desc),
        .units = {.data = &unit, .count = 1, .stride = sizeof(unit)},
        .record_bytes = NVIDIA_EVENT_BYTES};
    struct zeta_plugin_tracer *tracer = NULL;
    uint32_t before;

    (void)bed_context(0);
    assert_int_equal(nvidia_tracer_ops.open(NULL, parts_device(), &desc, &tracer),
                     ZETA_PLUGIN_SUCCESS);
    for (int i = 0; i < 3; i++) {
        trace_theirs();
        before = their_records;
        assert_int_equal(nvidia_tracer_ops.enable(NULL, tracer, 1), ZETA_PLUGIN_SUCCESS);
        bed_fma(1);
        assert_int_equal(cu.cuCtxSynchronize(), CU_OK);
        assert_int_equal(nvidia_tracer_ops.disable(NULL, tracer, 1), ZETA_PLUGIN_SUCCESS);
        assert_int_equal(count_ours(tracer), 1);
        assert_int_equal(their_records, before);
    }
    nvidia_tracer_ops.close(NULL, tracer);
}

/* A tool that has subscribed keeps the records; the others of CUPTI stay ours. */
static void check_subscriber(void)
{
    static const struct zeta_plugin_string unit = {NVIDIA_ACTIVITY_UNIT,
                                                   sizeof(NVIDIA_ACTIVITY_UNIT) - 1};
    struct zeta_plugin_device *device = parts_device();
    struct zeta_plugin_tracer_desc desc = {
        .struct_size = sizeof(desc),
        .units = {.data = &unit, .count = 1, .stride = sizeof(unit)},
        .record_bytes = NVIDIA_EVENT_BYTES};
    struct zeta_plugin_tracer *tracer = NULL;
    struct zeta_plugin_stream *ours = NULL;

    assert_true(cuda_fault(bed_machine, "cuptiActivityEnable=39@1+"));
    assert_int_equal(nvidia_tracer_ops.open(NULL, device, &desc, &tracer), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(nvidia_tracer_ops.enable(NULL, tracer, 1), ZETA_PLUGIN_NOT_AVAILABLE);
    parts_expect_sentence("another tool has subscribed to CUPTI in this process");
    assert_int_equal(open_ours(device, &ours), ZETA_PLUGIN_SUCCESS);
    read_ours(ours, 3);
    ours->close(ours);
    nvidia_tracer_ops.close(NULL, tracer);
}

static void records__of_the_program__one_at_a_time(void **state)
{
    (void)state;
    bed_run(REAL, check_records);
    bed_run(REAL, check_subscriber);
}

SUITE(beside)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(session__of_the_program__one_at_a_time),
        cmocka_unit_test(records__of_the_program__one_at_a_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
