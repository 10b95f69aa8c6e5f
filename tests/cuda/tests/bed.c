#include "tests/cuda/tests/bed.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/forked.h"

enum { GROUP = 256, DEFAULT_SAMPLES = 1024 };

struct bed_driver cu;
struct bed_cupti cupti;
struct bed_nvml nvml;
struct cuda_machine *bed_machine;

static void *open_library(const char *file)
{
    char path[1024];
    void *library;

    (void)snprintf(path, sizeof(path), "%s/%s", CUDA_LIBRARIES, file);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
    return library;
}

static void *symbol(void *library, const char *name)
{
    void *address = dlsym(library, name);

    if (!address)
        fail_msg("%s", dlerror());
    return address;
}

static void load(void)
{
    void *driver = open_library("libcuda.so.1"), *perf = open_library("libnvperf_host.so");
    void *profiler = open_library("libcupti.so.13"), *management;

    management = open_library("libnvidia-ml.so.1");
    (void)perf;
#define FIND(name, parameters) *(void **)&cu.name = symbol(driver, #name);
    CUDA_API(FIND)
#undef FIND
#define FIND(name, type, last) *(void **)&cupti.name = symbol(profiler, #name);
    CUPTI_API(FIND)
    CUPTI_RANGE_API(FIND)
#undef FIND
#define FIND(name, parameters) *(void **)&cupti.name = symbol(profiler, #name);
    CUPTI_ACTIVITY_API(FIND)
#undef FIND
#define FIND(name, parameters) *(void **)&nvml.name = symbol(management, #name);
    NVML_API(FIND)
#undef FIND
    *(void **)&cupti.cuptiGetVersion = symbol(profiler, "cuptiGetVersion");
    *(void **)&cupti.cuptiGetResultString = symbol(profiler, "cuptiGetResultString");
    *(void **)&cupti.cuptiGetTimestamp = symbol(profiler, "cuptiGetTimestamp");
    *(void **)&cupti.cuptiActivityRegisterTimestampCallback =
        symbol(profiler, "cuptiActivityRegisterTimestampCallback");
}

typedef void (*body_function)(void);

/* The end of a socket to a process that has not opened the libraries, and starts others. */
static int spawner = -1;

/* Opens the libraries and does it. */
__attribute__((noreturn)) static void do_body(body_function body)
{
    static const int deadly[] = {SIGFPE, SIGILL, SIGSEGV, SIGBUS, SIGTRAP};

    /* The handlers of cmocka would make another signal of them. */
    for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++)
        (void)signal(deadly[i], SIG_DFL);
    load();
    body();
    (void)fflush(NULL);
    _exit(0);
}

/* Does what it is told in a process each, and answers how that ended. */
__attribute__((noreturn)) static void spawn(int link)
{
    body_function body;
    int status;

    while (read(link, &body, sizeof(body)) == sizeof(body)) {
        const pid_t child = fork_child();

        if (child == 0)
            do_body(body);
        if (waitpid(child, &status, 0) != child ||
            write(link, &status, sizeof(status)) != sizeof(status))
            break;
    }
    _exit(0);
}

/* The status of a process that does it. */
static int run(body_function body)
{
    const pid_t child = fork_child();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        int ends[2];

        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        if (fork_child() == 0)
            spawn(ends[1]);
        spawner = ends[0];
        do_body(body);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

void bed_run(const char *description, void (*body)(void))
{
    int status;

    bed_machine = cuda_start(description);
    assert_non_null(bed_machine);
    status = run(body);
    cuda_stop(bed_machine);
    assert_int_equal(status, 0);
}

void bed_run_dies(const char *description, void (*body)(void), int signal)
{
    int status;

    bed_machine = cuda_start(description);
    assert_non_null(bed_machine);
    status = run(body);
    cuda_stop(bed_machine);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), signal);
}

void bed_other(void (*body)(void))
{
    int status;

    assert_int_equal(write(spawner, &body, sizeof(body)), sizeof(body));
    assert_int_equal(read(spawner, &status, sizeof(status)), sizeof(status));
    assert_int_equal(status, 0);
}

void *bed_context(int ordinal)
{
    void *context;

    assert_int_equal(cu.cuInit(0), CU_OK);
    assert_int_equal(cu.cuDevicePrimaryCtxRetain(&context, ordinal), CU_OK);
    assert_int_equal(cu.cuCtxSetCurrent(context), CU_OK);
    return context;
}

char *bed_text(const char *file)
{
    char path[1024], *text = calloc(1, 65536);
    FILE *stream;

    (void)snprintf(path, sizeof(path), "%s/tests/cuda/kernels/%s", ZETA_SOURCE_DIR, file);
    stream = fopen(path, "r");
    assert_non_null(stream);
    assert_non_null(text);
    assert_cmp(fread(text, 1, 65535, stream), >, 0);
    (void)fclose(stream);
    return text;
}

void *bed_function(const char *name)
{
    char *text = bed_text(strcmp(name, "mma_chain") == 0 ? "mma.ptx" : "kernels.ptx");
    void *module, *function;

    assert_int_equal(cu.cuModuleLoadDataEx(&module, text, 0, NULL, NULL), CU_OK);
    assert_int_equal(cu.cuModuleGetFunction(&function, module, name), CU_OK);
    free(text);
    return function;
}

void bed_launch(void *function, uint32_t groups, uint32_t threads, void *stream, void **arguments)
{
    assert_int_equal(
        cu.cuLaunchKernel(function, groups, 1, 1, threads, 1, 1, 0, stream, arguments, NULL),
        CU_OK);
}

void bed_fma(uint32_t turns)
{
    uint64_t out, before[CUDA_COUNTS], totals[CUDA_COUNTS];
    float a = 0.5f, b = 0.25f;
    void *arguments[] = {&out, &turns, &a, &b};

    cuda_totals(bed_machine, 0, before);
    assert_int_equal(cu.cuMemAlloc_v2(&out, BED_THREADS * sizeof(float)), CU_OK);
    bed_launch(bed_function("fma_loop"), BED_GROUPS, GROUP, NULL, arguments);
    do
        cuda_totals(bed_machine, 0, totals);
    while (totals[CUDA_LAUNCHES] == before[CUDA_LAUNCHES] && usleep(100) == 0);
}

void bed_expect_refusal(void)
{
    struct host_initialize initialize = BED_BLOCK(host_initialize, host);
    struct host_add_metrics add = BED_BLOCK(host_add_metrics, count);
    struct host_image_size size = BED_BLOCK(host_image_size, bytes);
    const char *names[] = {"gpu__time_duration.sum", "nonsense__x.sum"};

    initialize.type = 1;
    initialize.chip = "GH100";
    assert_int_equal(cupti.cuptiProfilerHostInitialize(&initialize), 0);
    add.host = size.host = initialize.host;
    add.names = names;
    add.count = 2;
    assert_int_equal(cupti.cuptiProfilerHostConfigAddMetrics(&add), 1);
    add.count = 1;
    assert_int_equal(cupti.cuptiProfilerHostConfigAddMetrics(&add), 999);
    assert_int_equal(cupti.cuptiProfilerHostGetConfigImageSize(&size), 999);
}

int bed_configure(struct bed_stream *stream, const char *chip, int type, const char *const *names,
                  size_t count, size_t *out_passes)
{
    struct host_initialize initialize = BED_BLOCK(host_initialize, host);
    struct host_add_metrics add = BED_BLOCK(host_add_metrics, count);
    struct host_image_size size = BED_BLOCK(host_image_size, bytes);
    struct host_image image = BED_BLOCK(host_image, image);
    struct host_passes passes = BED_BLOCK(host_passes, passes);
    int result;

    initialize.type = type;
    initialize.chip = chip;
    result = cupti.cuptiProfilerHostInitialize(&initialize);
    if (result != 0)
        return result;
    stream->host = add.host = size.host = image.host = initialize.host;
    add.names = (const char **)names;
    add.count = count;
    result = cupti.cuptiProfilerHostConfigAddMetrics(&add);
    if (result != 0)
        return result;
    assert_int_equal(cupti.cuptiProfilerHostGetConfigImageSize(&size), 0);
    stream->config_bytes = passes.bytes = image.bytes = size.bytes;
    stream->config = passes.image = image.image = malloc(size.bytes);
    assert_non_null(stream->config);
    assert_int_equal(cupti.cuptiProfilerHostGetConfigImage(&image), 0);
    assert_int_equal(cupti.cuptiProfilerHostGetNumOfPasses(&passes), 0);
    if (out_passes)
        *out_passes = passes.passes;
    return 0;
}

void bed_initialise(struct bed_stream *stream)
{
    struct pm_image image = BED_BLOCK(pm_image, image);

    image.object = stream->object;
    image.bytes = stream->image_bytes;
    image.image = stream->image;
    assert_int_equal(cupti.cuptiPmSamplingCounterDataImageInitialize(&image), 0);
    stream->handed = 0;
}

void bed_open(struct bed_stream *stream, const char *const *names, size_t count,
              const struct bed_options *options)
{
    const struct bed_options none = {0};
    const struct bed_options *with = options ? options : &none;
    struct only_head start = BED_BLOCK(only_head, head);
    struct chip_name chip = BED_BLOCK(chip_name, name);
    struct pm_enable enable = BED_BLOCK(pm_enable, object);
    struct pm_config config = BED_BLOCK(pm_config, append);
    struct pm_data_size size = BED_BLOCK(pm_data_size, bytes);
    struct pm_only only = BED_BLOCK(pm_only, object);

    *stream = (struct bed_stream){.names = names, .count = count};
    assert_int_equal(cu.cuInit(0), CU_OK);
    assert_int_equal(cupti.cuptiProfilerInitialize(&start), 0);
    assert_int_equal(cupti.cuptiDeviceGetChipName(&chip), 0);
    assert_int_equal(bed_configure(stream, chip.name, 1, names, count, NULL), 0);
    assert_int_equal(cupti.cuptiPmSamplingEnable(&enable), 0);
    stream->object = config.object = size.object = only.object = enable.object;
    config.config = stream->config;
    config.config_bytes = stream->config_bytes;
    config.buffer_bytes = with->buffer_bytes ? with->buffer_bytes : 64u << 20;
    config.interval = with->period_ns ? with->period_ns : 1000000;
    config.trigger = 1;
    config.append = with->append;
    assert_int_equal(cupti.cuptiPmSamplingSetConfig(&config), 0);
    size.names = (const char **)names;
    size.count = count;
    size.max_samples = with->max_samples ? with->max_samples : DEFAULT_SAMPLES;
    assert_int_equal(cupti.cuptiPmSamplingGetCounterDataSize(&size), 0);
    stream->image_bytes = size.bytes;
    stream->image = malloc(size.bytes);
    assert_non_null(stream->image);
    bed_initialise(stream);
    assert_int_equal(cupti.cuptiPmSamplingStart(&only), 0);
}

void bed_info(const struct bed_stream *stream, struct pm_info *out)
{
    *out = (struct pm_info)BED_BLOCK(pm_info, completed);
    out->image = stream->image;
    out->bytes = stream->image_bytes;
    assert_int_equal(cupti.cuptiPmSamplingGetCounterDataInfo(out), 0);
}

void bed_evaluate(const struct bed_stream *stream, size_t index, double *out_values)
{
    struct host_evaluate evaluate = BED_BLOCK(host_evaluate, values);

    evaluate.host = stream->host;
    evaluate.image = stream->image;
    evaluate.bytes = stream->image_bytes;
    evaluate.index = index;
    evaluate.names = (const char **)stream->names;
    evaluate.count = stream->count;
    evaluate.values = out_values;
    assert_int_equal(cupti.cuptiProfilerHostEvaluateToGpuValues(&evaluate), 0);
}

int bed_decode(struct bed_stream *stream, int *out_stop_reason)
{
    struct pm_decode decode = BED_BLOCK(pm_decode, overflow);
    struct pm_sample_info sample = BED_BLOCK(pm_sample_info, end);
    struct pm_info info;
    int result;

    decode.object = stream->object;
    decode.image = stream->image;
    decode.bytes = stream->image_bytes;
    result = cupti.cuptiPmSamplingDecodeData(&decode);
    if (out_stop_reason)
        *out_stop_reason = decode.stop_reason;
    bed_info(stream, &info);
    for (; stream->handed < info.completed; stream->handed++) {
        double values[8];

        bed_evaluate(stream, stream->handed, values);
        sample.object = stream->object;
        sample.image = stream->image;
        sample.bytes = stream->image_bytes;
        sample.index = stream->handed;
        assert_int_equal(cupti.cuptiPmSamplingCounterDataGetSampleInfo(&sample), 0);
        for (size_t i = 0; i < stream->count; i++) {
            stream->sums[i] += values[i];
            if (stream->samples == 0)
                stream->first[i] = values[i];
        }
        stream->start = sample.start;
        stream->end = sample.end;
        stream->samples++;
    }
    return result;
}

void bed_stop(struct bed_stream *stream)
{
    struct pm_only only = BED_BLOCK(pm_only, object);

    only.object = stream->object;
    assert_int_equal(cupti.cuptiPmSamplingStop(&only), 0);
}

void bed_close(struct bed_stream *stream)
{
    struct pm_only only = BED_BLOCK(pm_only, object);
    struct host_only host = BED_BLOCK(host_only, host);
    uint32_t before;
    int silent = 0;

    bed_stop(stream);
    while (silent < 2) {
        before = stream->samples;
        assert_int_equal(bed_decode(stream, NULL), 0);
        silent = stream->samples == before ? silent + 1 : 0;
    }
    only.object = stream->object;
    host.host = stream->host;
    assert_int_equal(cupti.cuptiPmSamplingDisable(&only), 0);
    assert_int_equal(cupti.cuptiProfilerHostDeinitialize(&host), 0);
    free(stream->image);
    free(stream->config);
}
