/* Streams of GPM: rows, ticks, periods, programs, who has the unit, what NVML refuses. */

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "plugins/nvidia/gpm/gpm.h"
#include "plugins/nvidia/sampling/program.h"
#include "tests/cuda/tests/bed.h"
#include "tests/nvidia/parts.h"

#define MANUAL "{format: 1, time: manual, gpus: [{chip: gh100}]}"

enum { TICK_NS = 100000000, LATE_NS = 150000000 };

/* A program of up to eight texts. */
struct program {
    struct zeta_plugin_program_entry entries[8];
    uint32_t count;
};

static struct program make_program(const char *const *texts)
{
    struct program program = {.count = 0};

    for (; *texts; texts++)
        program.entries[program.count++] = (struct zeta_plugin_program_entry){
            .struct_size = sizeof(program.entries[0]), .select = zeta_string(*texts)};
    return program;
}

static uint32_t open_with(struct zeta_plugin_device *device, const char *const *texts,
                          struct zeta_plugin_stream_desc *desc, struct zeta_plugin_stream **out)
{
    const struct program program = make_program(texts);

    desc->struct_size = sizeof(*desc);
    desc->set = zeta_string("Gpm");
    desc->program = (struct zeta_plugin_array){
        .data = program.entries, .count = program.count, .stride = sizeof(program.entries[0])};
    if (desc->record_bytes == 0)
        desc->record_bytes = NVIDIA_RECORD_BYTES;
    return nvidia_gpm_open(device, desc, out);
}

/* SM activity, device memory, and an id that nobody has. */
static const char *const three[] = {"F0=2", "F1=10", "F2=8", NULL};

static struct zeta_plugin_stream *open_stream(struct zeta_plugin_device *device)
{
    struct zeta_plugin_stream_desc desc = {.period_ns = TICK_NS};
    struct zeta_plugin_stream *stream = NULL;

    assert_int_equal(open_with(device, three, &desc, &stream), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(desc.period_ns, TICK_NS);
    return stream;
}

/* The next record, which has to come. */
static struct nvidia_interval next(struct zeta_plugin_stream *stream)
{
    struct zeta_plugin_read read = {.struct_size = sizeof(read)};
    struct nvidia_interval record;

    while (zeta_record_ring_pending(stream->ring) == 0)
        (void)usleep(1000);
    zeta_record_ring_read(stream->ring, &record, sizeof(record), &read);
    assert_int_equal(read.bytes, sizeof(record));
    return record;
}

/* Waits until the pump has come by so often. */
static void wait_samples(uint64_t count)
{
    const uint64_t until = cuda_calls(bed_machine, "nvmlGpmSampleGet") + count;

    while (cuda_calls(bed_machine, "nvmlGpmSampleGet") < until)
        (void)usleep(1000);
}

static void check_rows(void)
{
    struct zeta_plugin_device *device = parts_device();
    struct zeta_plugin_stream *stream;
    struct nvidia_interval idle, busy;

    (void)bed_context(0);
    cuda_advance(bed_machine, UINT64_C(10) * TICK_NS);
    stream = open_stream(device);
    wait_samples(3);
    assert_int_equal(zeta_record_ring_pending(stream->ring), 0); /* no new tick */
    cuda_advance(bed_machine, TICK_NS);
    idle = next(stream);
    assert_int_equal(idle.valid, 3);
    assert_true(idle.values[0] == 0);
    assert_true(idle.values[1] == 0);
    assert_true(idle.values[2] == 0);
    assert_int_equal(idle.sequence, 0);
    assert_cmp(idle.end_ns, >, idle.start_ns);
    assert_cmp(idle.end_ns, <=, nvidia_clock_ns());
    bed_fma(100);
    assert_int_equal(cu.cuCtxSynchronize(), CU_OK);
    cuda_advance(bed_machine, LATE_NS + TICK_NS);
    busy = next(stream);
    assert_int_equal(busy.start_ns, idle.end_ns);
    assert_int_equal(busy.sequence, 1);
    assert_int_equal(busy.valid, 3);
    while (busy.values[0] == 0)
        busy = next(stream); /* the work lay behind the first tick */
    assert_true(busy.values[0] <= 100);
    stream->stop(stream);
    stream->stop(stream);
    stream->close(stream);
}

static void rows__idle_and_busy__values_of_ticks(void **state)
{
    (void)state;
    bed_run(MANUAL, check_rows);
}

static void check_periods(void)
{
    static const struct {
        uint64_t wanted_ns, most_ns, used_ns;
    } cases[] = {
        {0, 0, UINT64_C(1000000000)},       {1, 0, TICK_NS},
        {250000000, 0, 250000000},          {UINT64_MAX, 0, UINT64_C(60000000000)},
        {UINT64_MAX, 200000000, 200000000}, {UINT64_C(4294967296), 0, UINT64_C(4294967296)},
    };
    struct zeta_plugin_device *device = parts_device();
    struct zeta_plugin_limits limits = {.struct_size = sizeof(limits)};
    struct zeta_plugin_stream *stream = NULL;
    struct zeta_plugin_stream_desc desc;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        desc = (struct zeta_plugin_stream_desc){.period_ns = cases[i].wanted_ns,
                                                .max_period_ns = cases[i].most_ns,
                                                .notify_records = 1000000};
        assert_int_equal(open_with(device, three, &desc, &stream), ZETA_PLUGIN_SUCCESS);
        assert_int_equal(desc.period_ns, cases[i].used_ns);
        assert_int_equal(desc.ring_records, 65536);
        stream->close(stream);
    }
    desc = (struct zeta_plugin_stream_desc){.max_period_ns = 50000000};
    assert_int_equal(open_with(device, three, &desc, &stream), ZETA_PLUGIN_NOT_AVAILABLE);
    parts_expect_sentence("no period below 100 ms");
    assert_int_equal(nvidia_gpm_limits(device, &limits), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(limits.min_period_ns, TICK_NS);
    assert_int_equal(limits.max_period_ns, UINT64_C(60000000000));
    limits.max_period_ns = 300000000;
    assert_int_equal(nvidia_gpm_limits(device, &limits), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(limits.max_period_ns, 300000000);
    limits.max_period_ns = 1;
    assert_int_equal(nvidia_gpm_limits(device, &limits), ZETA_PLUGIN_NOT_AVAILABLE);
}

static void period__any__nearest(void **state)
{
    (void)state;
    bed_run(MANUAL, check_periods);
}

static void check_programs(void)
{
    static const char *const bad[] = {"F0=0",  "F0=334", "C0=1",  "F0=x",
                                      "F19=1", "F0=",    "F0=1x", "F0=99999999999999999999"};
    struct zeta_plugin_device *device = parts_device();
    struct zeta_plugin_stream *stream = NULL;
    struct zeta_plugin_stream_desc desc = {.period_ns = 0};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const char *const texts[] = {"F1=2", bad[i], NULL};

        assert_int_equal(open_with(device, texts, &desc, &stream), ZETA_PLUGIN_INVALID_ARGUMENT);
        parts_expect_sentence("the program of Gpm");
    }
    assert_int_equal(open_with(device, &three[3], &desc, &stream), ZETA_PLUGIN_INVALID_ARGUMENT);
    desc.record_bytes = 64;
    assert_int_equal(open_with(device, three, &desc, &stream), ZETA_PLUGIN_INVALID_ARGUMENT);
    parts_expect_sentence("512 bytes, and the set Gpm says 64");
    assert_null(stream);
    stream = open_stream(device); /* nothing of it holds the unit */
    stream->close(stream);
}

static void program__bad__refused(void **state)
{
    (void)state;
    bed_run(MANUAL, check_programs);
}

static void check_unit(void)
{
    struct zeta_plugin_device *device = parts_device();
    struct zeta_plugin_stream *first = open_stream(device), *second = NULL;
    struct zeta_plugin_stream_desc desc = {.period_ns = 0};

    assert_int_equal(open_with(device, three, &desc, &second), ZETA_PLUGIN_HANDLE_OBJECT_IN_USE);
    parts_expect_sentence("this process has a stream of GPM already");
    first->stop(first);
    second = open_stream(device); /* what the first one had stays readable */
    first->close(first);
    assert_int_equal(open_with(device, three, &desc, &first), ZETA_PLUGIN_HANDLE_OBJECT_IN_USE);
    second->close(second);
    for (int i = 0; i < 50; i++) {
        first = open_stream(device);
        first->close(first);
    }
    assert_int_equal(cuda_calls(bed_machine, "nvmlGpmSampleAlloc"),
                     cuda_calls(bed_machine, "nvmlGpmSampleFree"));
}

static void unit__second_stream__in_use_until_stopped(void **state)
{
    (void)state;
    bed_run(MANUAL, check_unit);
}

static void check_failures(void)
{
    struct zeta_plugin_device *device = parts_device();
    struct zeta_plugin_stream_desc desc = {.period_ns = TICK_NS};
    struct zeta_plugin_stream *stream = NULL;

    assert_true(cuda_fault(bed_machine, "nvmlGpmSampleGet=999"));
    assert_int_equal(open_with(device, three, &desc, &stream), ZETA_PLUGIN_NOT_AVAILABLE);
    parts_expect_sentence("nvmlGpmSampleGet gives 999");
    assert_true(cuda_fault(bed_machine, "nvmlGpmSampleAlloc=20@2"));
    assert_int_equal(open_with(device, three, &desc, &stream), ZETA_PLUGIN_NOT_AVAILABLE);
    assert_null(stream);
    assert_int_equal(cuda_calls(bed_machine, "nvmlGpmSampleFree"), 3);

    cuda_advance(bed_machine, UINT64_C(10) * TICK_NS);
    stream = open_stream(device);
    assert_true(cuda_fault(bed_machine, "nvmlGpmSampleGet=15@1+"));
    wait_samples(3);
    cuda_no_faults(bed_machine);
    assert_true(cuda_fault(bed_machine, "nvmlGpmMetricsGet=3@1+"));
    cuda_advance(bed_machine, TICK_NS);
    wait_samples(3);
    assert_int_equal(zeta_record_ring_pending(stream->ring), 0);
    cuda_no_faults(bed_machine);
    assert_int_equal(next(stream).sequence, 0);
    stream->close(stream);
    assert_int_equal(parts_log_count, 2); /* each once */
    assert_non_null(strstr(parts_log, "nvmlGpmMetricsGet gives 3"));
}

static void failures__at_any_time__told_and_survived(void **state)
{
    (void)state;
    bed_run(MANUAL, check_failures);
}

static void check_old_gpu(void)
{
    struct zeta_plugin_limits limits = {.struct_size = sizeof(limits)};
    struct zeta_plugin_device *device = parts_device();
    struct zeta_plugin_stream_desc desc = {.period_ns = 0};
    struct zeta_plugin_stream *stream = NULL;

    assert_int_equal(nvidia_gpm_limits(device, &limits), ZETA_PLUGIN_UNSUPPORTED_FEATURE);
    parts_expect_sentence("has no GPM: GPUs have it from the Hopper generation on");
    assert_int_equal(open_with(device, three, &desc, &stream), ZETA_PLUGIN_UNSUPPORTED_FEATURE);
    assert_int_equal(cuda_calls(bed_machine, "nvmlGpmQueryDeviceSupport"), 1);
}

static void check_no_nvml(void)
{
    struct zeta_plugin_limits limits = {.struct_size = sizeof(limits)};
    struct zeta_plugin_device *device = parts_device();

    parts_set("libnvidia_ml", "/nowhere");
    assert_int_equal(nvidia_gpm_limits(device, &limits), ZETA_PLUGIN_UNSUPPORTED_FEATURE);
    parts_expect_sentence("has no GPM: /nowhere cannot be loaded");
}

static void check_lost_gpu(void)
{
    struct zeta_plugin_limits limits = {.struct_size = sizeof(limits)};
    struct zeta_plugin_device *device = parts_device();

    assert_true(cuda_fault(bed_machine, "nvmlDeviceGetHandleByPciBusId_v2=15@1+"));
    assert_int_equal(nvidia_gpm_limits(device, &limits), ZETA_PLUGIN_UNSUPPORTED_FEATURE);
    parts_expect_sentence("NVML refuses it: 15");
}

static void gpu__without_gpm__says_why(void **state)
{
    (void)state;
    bed_run("{format: 1, gpus: [{chip: ga100}]}", check_old_gpu);
    bed_run(MANUAL, check_no_nvml);
    bed_run(MANUAL, check_lost_gpu);
}

static void check_instance(void)
{
    struct zeta_plugin_device *device = parts_device();
    struct zeta_plugin_stream *stream;

    assert_true(device->is_instance);
    cuda_advance(bed_machine, UINT64_C(10) * TICK_NS);
    stream = open_stream(device);
    assert_int_equal(device->gpm.instance, 1);
    cuda_advance(bed_machine, TICK_NS);
    assert_int_equal(next(stream).valid, 3);
    stream->close(stream);
    assert_int_equal(cuda_calls(bed_machine, "nvmlGpmSampleGet"), 0);
    assert_cmp(cuda_calls(bed_machine, "nvmlGpmMigSampleGet"), >=, 2);
}

static void check_lost_instance(void)
{
    struct zeta_plugin_limits limits = {.struct_size = sizeof(limits)};
    struct zeta_plugin_device *device = parts_device();

    assert_true(cuda_fault(bed_machine, "nvmlDeviceGetGpuInstanceId=6"));
    assert_int_equal(nvidia_gpm_limits(device, &limits), ZETA_PLUGIN_UNSUPPORTED_FEATURE);
    parts_expect_sentence("NVML does not find the instance: 6");
}

static void instance_of_mig__sampled_by_its_number(void **state)
{
    static const char mig[] = "{format: 1, time: manual, gpus: [{chip: gh100, instances: 2}]}";

    (void)state;
    bed_run(mig, check_instance);
    bed_run(mig, check_lost_instance);
}

SUITE(gpm)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows__idle_and_busy__values_of_ticks),
        cmocka_unit_test(period__any__nearest),
        cmocka_unit_test(program__bad__refused),
        cmocka_unit_test(unit__second_stream__in_use_until_stopped),
        cmocka_unit_test(failures__at_any_time__told_and_survived),
        cmocka_unit_test(gpu__without_gpm__says_why),
        cmocka_unit_test(instance_of_mig__sampled_by_its_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
