/* Descriptions, faults, modes, several processes and threads. */

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/cuda/tests/bed.h"
#include "tests/forked.h"

static const char *const names[] = {"TPC.TriageCompute.sm__inst_executed_realtime.sum"};

static void description__mistakes__refused(void **state)
{
    static const char *const texts[] = {
        "nonsense",
        "{}",
        "{format: 2}",
        "{format: 1, gpus: {chip: gh100}}",
        "{format: 1, gpus: [{}]}",
        "{format: 1, gpus: [{chip: h100}]}",
        "{format: 1, gpus: [{chip: gh100, wings: 2}]}",
        "{format: 1, gpus: [{chip: gh100, instances: 8}]}",
        "{format: 1, gpus: [{chip: gh100, mode: sleepy}]}",
        "{format: 1, driver: new}",
        "{format: 1",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_null(cuda_start(texts[i]));
}

static void check_none(void)
{
    assert_int_equal(cu.cuInit(0), CU_NO_DEVICE);
}

static void description__no_gpu__no_device(void **state)
{
    (void)state;
    bed_run("{format: 1}", check_none);
}

static void check_old(void)
{
    uint32_t version;
    int driver;

    assert_int_equal(cupti.cuptiGetVersion(&version), 0);
    assert_int_equal(version, 26);
    assert_int_equal(cu.cuDriverGetVersion(&driver), CU_OK);
    assert_int_equal(driver, 12040);
    (void)bed_context(0);
    assert_int_equal(
        cu.cuModuleLoadDataEx((void *[]){NULL}, ".version 8.5\n.target sm_70\n", 0, NULL, NULL),
        CU_UNSUPPORTED_PTX_VERSION);
}

static void check_grown(void)
{
    struct only_head head = BED_BLOCK(only_head, head);

    assert_int_equal(cupti.cuptiProfilerInitialize(&head), 0);
    head.head.size += 8;
    assert_int_equal(cupti.cuptiProfilerInitialize(&head), 0);
    head.head.size++;
    assert_int_equal(cupti.cuptiProfilerInitialize(&head), 1);
}

static void description__other_versions__told(void **state)
{
    (void)state;
    bed_run("{format: 1, driver: 12040, cupti: 26, gpus: [{chip: ga100}]}", check_old);
    bed_run("{format: 1, cupti: 130300, growth: 8, gpus: [{chip: gh100}]}", check_grown);
}

static bool exports(void *library, const char *name)
{
    return dlsym(library, name) != NULL;
}

static void library__of_cuda_12_4__without_what_came_later(void **state)
{
    void *library = dlopen(CUDA_LIBRARIES "/libcupti.so.12", RTLD_NOW | RTLD_LOCAL);

    (void)state;
    assert_non_null(library);
    assert_true(exports(library, "cuptiGetVersion"));
    assert_true(exports(library, "cuptiActivityEnable"));
    assert_false(exports(library, "cuptiPmSamplingEnable"));
    assert_false(exports(library, "cuptiRangeProfilerEnable"));
    assert_false(exports(library, "cuptiProfilerHostInitialize"));
}

/* What a file below the machine's root begins with. */
static void check_file(const char *name, const char *expected)
{
    char path[4096], text[256] = "";
    FILE *file;

    (void)snprintf(path, sizeof(path), "%.3800s/root/%s", cuda_folder(bed_machine), name);
    file = fopen(path, "r");
    assert_non_null(file);
    assert_cmp(fread(text, 1, sizeof(text) - 1, file), >=, strlen(expected));
    (void)fclose(file);
    assert_memory_equal(text, expected, strlen(expected));
}

static void check_tree(void)
{
    check_file("dev/nvidiactl", "");
    check_file("dev/nvidia1", "");
    check_file("proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n");
    check_file("proc/driver/nvidia/version", "NVRM version: ");
    check_file("sys/bus/pci/devices/0000:06:00.0/vendor", "0x10de\n");
    check_file("sys/bus/pci/devices/0000:06:00.0/device", "0x2330\n");
    check_file("sys/bus/pci/devices/0000:07:00.0/device", "0x20b2\n");
    check_file("sys/bus/pci/devices/0000:07:00.0/class", "0x0302");
}

static void tree__two_gpus__files_of_the_driver(void **state)
{
    (void)state;
    bed_run("{format: 1, permits: false, gpus: [{chip: gh100}, {chip: ga100}]}", check_tree);
}

static int enable_result, supported_level;

static void check_mode(void)
{
    struct only_head head = BED_BLOCK(only_head, head);
    struct pm_enable enable = BED_BLOCK(pm_enable, object);
    struct pm_availability availability = BED_BLOCK(pm_availability, image);
    struct device_supported supported = BED_BLOCK(device_supported, api);

    assert_int_equal(cu.cuInit(0), CU_OK);
    assert_int_equal(cupti.cuptiProfilerInitialize(&head), 0);
    assert_int_equal(cupti.cuptiPmSamplingEnable(&enable), enable_result);
    if (enable_result != 27)
        assert_int_equal(cupti.cuptiPmSamplingGetCounterAvailability(&availability), enable_result);
    supported.api = 3;
    assert_int_equal(cupti.cuptiProfilerDeviceSupported(&supported), 0);
    assert_int_equal(supported.supported, supported_level);
}

static void mode__each__result(void **state)
{
    static const struct {
        const char *description;
        int result, level;
    } modes[] = {
        {"{format: 1, permits: false, gpus: [{chip: gh100}]}", 35, 3},
        {"{format: 1, gpus: [{chip: gh100, mode: confidential}]}", 41, 1},
        {"{format: 1, gpus: [{chip: gh100, mode: vgpu}]}", 33, 1},
        {"{format: 1, gpus: [{chip: gh100, mode: cmp}]}", 42, 1},
        {"{format: 1, gpus: [{chip: gh100, mode: sli}]}", 44, 1},
        {"{format: 1, gpus: [{chip: gh100, mode: wsl}]}", 45, 1},
        {"{format: 1, gpus: [{chip: gv100}]}", 27, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        enable_result = modes[i].result;
        supported_level = modes[i].level;
        bed_run(modes[i].description, check_mode);
    }
}

static void check_faults(void)
{
    int version;
    uint32_t number;

    assert_false(cuda_fault(bed_machine, "cuInit"));
    assert_false(cuda_fault(bed_machine, "cuInit="));
    assert_false(cuda_fault(bed_machine, "=3"));
    assert_false(cuda_fault(bed_machine, "cuInit=3@0"));
    assert_false(cuda_fault(bed_machine, "cuInit=3@1+x"));
    assert_true(cuda_fault(bed_machine, "cuInit=803@2"));
    assert_int_equal(cu.cuInit(0), CU_OK);
    assert_int_equal(cu.cuInit(0), 803);
    assert_int_equal(cu.cuInit(0), CU_OK);
    assert_int_equal(cuda_calls(bed_machine, "cuInit"), 3);
    assert_true(cuda_fault(bed_machine, "cuDevice*=999@1+"));
    assert_int_equal(cu.cuDeviceGetCount(&version), 999);
    assert_int_equal(cu.cuDeviceGet(&version, 0), 999);
    assert_int_equal(cu.cuDriverGetVersion(&version), CU_OK);
    cuda_no_faults(bed_machine);
    assert_int_equal(cu.cuDeviceGetCount(&version), CU_OK);
    assert_false(cuda_fault(bed_machine, "nvmlGpmMetricsGet=value:nan?"));
    assert_true(cuda_fault(bed_machine, "cuptiGetVersion=delay:1000@1+"));
    assert_int_equal(cupti.cuptiGetVersion(&number), 0);
    assert_int_equal(cuda_calls(bed_machine, "nvmlInit_v2"), 0);
}

static void fault__n_th_call_or_for_ever__result(void **state)
{
    (void)state;
    bed_run("gh100", check_faults);
}

static void check_crash(void)
{
    assert_true(cuda_fault(bed_machine, "cuInit=crash"));
    (void)cu.cuInit(0);
}

static void fault__crash__aborts(void **state)
{
    (void)state;
    bed_run_dies("gh100", check_crash, SIGABRT);
}

static void check_hang(void)
{
    pid_t child;
    int status;

    assert_true(cuda_fault(bed_machine, "cuInit=hang@1+"));
    child = fork_child();
    if (child == 0) {
        (void)cu.cuInit(0);
        _exit(1);
    }
    while (cuda_calls(bed_machine, "cuInit") == 0)
        (void)usleep(1000);
    assert_int_equal(waitpid(child, &status, WNOHANG), 0);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
}

static void fault__hang__until_killed(void **state)
{
    (void)state;
    bed_run("gh100", check_hang);
}

static int set_config(void)
{
    struct bed_stream stream = {0};
    struct only_head head = BED_BLOCK(only_head, head);
    struct pm_enable enable = BED_BLOCK(pm_enable, object);
    struct pm_config config = BED_BLOCK(pm_config, append);

    assert_int_equal(cu.cuInit(0), CU_OK);
    assert_int_equal(cupti.cuptiProfilerInitialize(&head), 0);
    assert_int_equal(bed_configure(&stream, "GH100", 1, names, 1, NULL), 0);
    assert_int_equal(cupti.cuptiPmSamplingEnable(&enable), 0);
    config.object = enable.object;
    config.config = stream.config;
    config.config_bytes = stream.config_bytes;
    config.buffer_bytes = 1 << 20;
    config.interval = 1000000;
    config.trigger = 1;
    return cupti.cuptiPmSamplingSetConfig(&config);
}

static void check_busy(void)
{
    struct pm_availability availability = BED_BLOCK(pm_availability, image);

    assert_int_equal(set_config(), 26);
    assert_int_equal(cupti.cuptiPmSamplingGetCounterAvailability(&availability), 26);
}

static void check_free(void)
{
    assert_int_equal(set_config(), 0);
}

static void check_two(void)
{
    bed_other(check_free); /* it ended without closing anything */
    assert_int_equal(set_config(), 0);
    bed_other(check_busy);
}

static void unit__two_processes__one_at_a_time(void **state)
{
    (void)state;
    bed_run("gh100", check_two);
}

static void check_excluded(void)
{
    void *context;

    assert_int_equal(cu.cuInit(0), CU_OK);
    assert_int_equal(cu.cuDevicePrimaryCtxRetain(&context, 0), CU_DEVICE_UNAVAILABLE);
}

static void check_included(void)
{
    (void)bed_context(0);
}

static void check_exclusive(void)
{
    (void)bed_context(0);
    (void)bed_context(0);
    bed_other(check_excluded);
    assert_int_equal(cu.cuDevicePrimaryCtxRelease_v2(0), CU_OK);
    bed_other(check_excluded);
    assert_int_equal(cu.cuDevicePrimaryCtxRelease_v2(0), CU_OK);
    bed_other(check_included);
}

static void mode__exclusive_process__one_at_a_time(void **state)
{
    (void)state;
    bed_run("{format: 1, gpus: [{chip: gh100, compute_mode: 3}]}", check_exclusive);
    bed_run("{format: 1, gpus: [{chip: gh100, compute_mode: 2}]}", check_excluded);
}

static void work(void)
{
    (void)bed_context(0);
    bed_fma(100);
    assert_int_equal(cu.cuCtxSynchronize(), CU_OK);
}

static void check_seen(void)
{
    struct bed_stream stream;

    bed_open(&stream, names, 1, &(struct bed_options){.period_ns = 100000000});
    bed_other(work);
    bed_other(work);
    bed_close(&stream);
    assert_true(stream.sums[0] == 2 * BED_WARPS * 6728.0);
}

static void sampling__other_processes__all_seen(void **state)
{
    (void)state;
    bed_run("gh100", check_seen);
}

enum { LAUNCHERS = 3, LAUNCHES = 200 };
static void *shared_context;
static atomic_bool is_over;

static void *launch_many(void *argument)
{
    void *stream, *function;

    (void)argument;
    assert_int_equal(cu.cuCtxSetCurrent(shared_context), CU_OK);
    function = bed_function("empty");
    assert_int_equal(cu.cuStreamCreateWithPriority(&stream, 1, 0), CU_OK);
    for (int i = 0; i < LAUNCHES; i++)
        bed_launch(function, 1, 32, stream, NULL);
    assert_int_equal(cu.cuStreamSynchronize(stream), CU_OK);
    assert_int_equal(cu.cuStreamDestroy_v2(stream), CU_OK);
    return NULL;
}

static void *sample(void *argument)
{
    struct bed_stream *stream = argument;

    while (!atomic_load(&is_over)) {
        assert_int_equal(bed_decode(stream, NULL), 0);
        (void)usleep(1000);
    }
    return NULL;
}

static void check_threads(void)
{
    struct bed_stream stream;
    pthread_t threads[LAUNCHERS], sampler;

    shared_context = bed_context(0);
    bed_open(&stream, names, 1, &(struct bed_options){.max_samples = 20000});
    assert_int_equal(pthread_create(&sampler, NULL, sample, &stream), 0);
    for (int i = 0; i < LAUNCHERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, launch_many, NULL), 0);
    for (int i = 0; i < LAUNCHERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    atomic_store(&is_over, true);
    assert_int_equal(pthread_join(sampler, NULL), 0);
    bed_close(&stream);
    assert_true(stream.sums[0] == LAUNCHERS * LAUNCHES);
}

static void threads__launch_and_sample__none_lost(void **state)
{
    (void)state;
    bed_run("gh100", check_threads);
}

static void check_nvml(void)
{
    struct nvml_support support = {.version = 1};
    struct nvml_metrics metrics = {.version = 1, .count = 4};
    void *device;
    char text[64];
    unsigned mhz;

    assert_int_equal(nvml.nvmlDeviceGetCount_v2(&mhz), NVML_UNINITIALIZED);
    assert_int_equal(nvml.nvmlInit_v2(), NVML_OK);
    assert_int_equal(nvml.nvmlDeviceGetHandleByPciBusId_v2("00000000:07:00.0", &device), NVML_OK);
    assert_int_equal(nvml.nvmlDeviceGetName(device, text, sizeof(text)), NVML_OK);
    assert_string_equal(text, "NVIDIA H100 80GB HBM3");
    assert_int_equal(nvml.nvmlDeviceGetClockInfo(device, 1, &mhz), NVML_OK);
    assert_int_equal(mhz, 1980);
    assert_int_equal(nvml.nvmlDeviceGetHandleByPciBusId_v2("0000:99:00.0", &device),
                     NVML_NOT_FOUND);
    assert_int_equal(nvml.nvmlDeviceGetHandleByPciBusId_v2("0000:06:00.0", &device), NVML_OK);
    assert_int_equal(nvml.nvmlGpmQueryDeviceSupport(device, &support), NVML_OK);
    assert_int_equal(support.supported, 0); /* GA100 */
    assert_int_equal(nvml.nvmlDeviceGetHandleByIndex_v2(1, &device), NVML_OK);
    assert_int_equal(nvml.nvmlGpmQueryDeviceSupport(device, &support), NVML_OK);
    assert_int_equal(support.supported, 1);
    assert_int_equal(nvml.nvmlGpmSampleAlloc(&metrics.first), NVML_OK);
    assert_int_equal(nvml.nvmlGpmSampleAlloc(&metrics.second), NVML_OK);
    assert_int_equal(nvml.nvmlGpmSampleGet(device, metrics.first), NVML_OK);
    metrics.metrics[0].id = 2;
    metrics.metrics[1].id = 10;
    metrics.metrics[2].id = 8; /* nobody's */
    metrics.metrics[3].id = 3;
    cuda_advance(bed_machine, 20000000);
    assert_int_equal(nvml.nvmlGpmSampleGet(device, metrics.second), NVML_OK);
    assert_int_equal(nvml.nvmlGpmMetricsGet(&metrics), NVML_OK);
    assert_true(metrics.metrics[0].value == 0); /* no new tick, and no error */
    assert_true(metrics.metrics[1].value != metrics.metrics[1].value);
    assert_int_equal(metrics.metrics[1].result, 0);

    (void)bed_context(1);
    for (int i = 0; i < 4; i++)
        bed_launch(bed_function("empty"), 132 * 8, 256, NULL, NULL);
    assert_int_equal(cu.cuCtxSynchronize(), CU_OK);
    cuda_advance(bed_machine, 300000000);
    assert_int_equal(nvml.nvmlGpmSampleGet(device, metrics.second), NVML_OK);
    assert_int_equal(nvml.nvmlGpmMetricsGet(&metrics), NVML_OK);
    assert_cmp(metrics.metrics[0].value, >, 0);
    assert_cmp(metrics.metrics[0].value, <, 1);
    assert_true(metrics.metrics[3].value == metrics.metrics[0].value); /* 64 warps on each SM */
    assert_null(metrics.metrics[2].short_name);
    assert_string_equal(metrics.metrics[0].unit, "%");
}

static void nvml__properties_and_gpm__values(void **state)
{
    (void)state;
    bed_run("{format: 1, time: manual, gpus: [{chip: ga100}, {chip: gh100}]}", check_nvml);
}

static void check_instances(void)
{
    uint8_t uuid[16];
    char text[64] = "MIG-";
    void *instance, *gpu;
    unsigned id = 0;
    int device;

    assert_int_equal(cu.cuInit(0), CU_OK);
    assert_int_equal(cu.cuDeviceGet(&device, 0), CU_OK);
    assert_int_equal(cu.cuDeviceGetUuid_v2(uuid, device), CU_OK);
    for (int i = 0; i < 16; i++)
        (void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%02x",
                       i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
    assert_int_equal(nvml.nvmlInit_v2(), NVML_OK);
    assert_int_equal(nvml.nvmlDeviceGetHandleByUUID(text, &instance), NVML_OK);
    assert_int_equal(nvml.nvmlDeviceGetGpuInstanceId(instance, &id), NVML_OK);
    assert_int_equal(id, 1);
    text[0] = 'G'; /* GIG is nothing, as GPU with an instance */
    assert_int_equal(nvml.nvmlDeviceGetHandleByUUID(text, &instance), NVML_NOT_FOUND);
    assert_int_equal(nvml.nvmlDeviceGetHandleByIndex_v2(0, &gpu), NVML_OK);
    assert_int_equal(nvml.nvmlDeviceGetGpuInstanceId(gpu, &id), NVML_NOT_SUPPORTED);
    assert_int_equal(nvml.nvmlDeviceGetHandleByUUID("MIG-1", &instance), NVML_NOT_FOUND);
}

static void nvml__instances__by_uuid(void **state)
{
    (void)state;
    bed_run("{format: 1, gpus: [{chip: gh100, instances: 2}]}", check_instances);
}

SUITE(machine)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(description__mistakes__refused),
        cmocka_unit_test(description__no_gpu__no_device),
        cmocka_unit_test(description__other_versions__told),
        cmocka_unit_test(fault__crash__aborts),
        cmocka_unit_test(fault__hang__until_killed),
        cmocka_unit_test(fault__n_th_call_or_for_ever__result),
        cmocka_unit_test(library__of_cuda_12_4__without_what_came_later),
        cmocka_unit_test(mode__each__result),
        cmocka_unit_test(mode__exclusive_process__one_at_a_time),
        cmocka_unit_test(nvml__instances__by_uuid),
        cmocka_unit_test(nvml__properties_and_gpm__values),
        cmocka_unit_test(sampling__other_processes__all_seen),
        cmocka_unit_test(threads__launch_and_sample__none_lost),
        cmocka_unit_test(tree__two_gpus__files_of_the_driver),
        cmocka_unit_test(unit__two_processes__one_at_a_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
