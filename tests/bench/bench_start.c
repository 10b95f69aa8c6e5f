/*
 * How long a tool needs until it has a GPU: milliseconds from before zeInit until the properties of
 * the first device, until its metric groups (all set files are read then), and until the first
 * report of RenderBasic, on GPUs of the emulated kernel, with all manifests of the build. Beside it
 * zeInit of the installed loader without a driver. Every sample is a process of its own.
 *
 * usage: bench_start           all
 *        bench_start ours      one sample of ours, on the machine of the environment
 *        bench_start loader    one sample of the loader
 */
#include <dlfcn.h>

#include "tests/bench/bench.h"
#include "tests/bench/bench_ze.h"
#include "tests/kmd/kmd.h"

#define SAMPLES 15
#define LOADER "libze_loader.so.1"

enum { PERIOD_NS = 100000, ROOM = 1 << 20 };

enum figure { INIT, PROPERTIES, GROUPS, REPORT, FIGURES };

static const struct {
    const char *platform, *driver;
} gpus[] = {{"tgl-gt2", "i915"}, {"dg2-g10", "i915"}, {"bmg", "xe"}};

/* ---- a measured process -------------------------------------------------------------------- */

static ze_device_handle_t find_device(ze_driver_handle_t *out_driver)
{
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ze_device_handle_t device;
    uint32_t one = 1;

    bench_check(zeDriverGet(&one, out_driver), "driver");
    bench_check(zeDeviceGet(*out_driver, &one, &device), "device");
    bench_check(zeDeviceGetProperties(device, &properties), "properties");
    return device;
}

/* Opens a stream and asks it until something is there. */
static void wait_for_report(ze_driver_handle_t driver, ze_device_handle_t device,
                            zet_metric_group_handle_t group)
{
    static uint8_t buffer[ROOM];
    ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .notifyEveryNReports = 1,
                                       .samplingPeriod = PERIOD_NS};
    const struct timespec pause = {.tv_nsec = PERIOD_NS};
    zet_metric_streamer_handle_t streamer;
    ze_context_handle_t context;
    size_t bytes = 0;

    bench_check(zeContextCreate(driver, &context_desc, &context), "context");
    bench_check(zetContextActivateMetricGroups(context, device, 1, &group), "activation");
    bench_check(zetMetricStreamerOpen(context, device, group, &desc, NULL, &streamer), "stream");
    while (bytes == 0) {
        (void)nanosleep(&pause, NULL);
        bytes = sizeof(buffer);
        bench_check(zetMetricStreamerReadData(streamer, UINT32_MAX, &bytes, buffer), "read");
    }
}

static double since_ms(double begin)
{
    return (bench_seconds(CLOCK_MONOTONIC) - begin) * 1e3;
}

static int sample_ours(void)
{
    const double begin = bench_seconds(CLOCK_MONOTONIC);
    double at_ms[FIGURES];
    zet_metric_group_handle_t group;
    ze_driver_handle_t driver;
    ze_device_handle_t device;

    bench_check(zeInit(0), "zeInit");
    at_ms[INIT] = since_ms(begin);
    device = find_device(&driver);
    at_ms[PROPERTIES] = since_ms(begin);
    group = bench_find_group(device, "RenderBasic", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED);
    at_ms[GROUPS] = since_ms(begin);
    wait_for_report(driver, device, group);
    at_ms[REPORT] = since_ms(begin);
    for (int i = 0; i < FIGURES; i++)
        (void)printf("%.4f ", at_ms[i]);
    (void)printf("\n");
    return 0;
}

static int sample_loader(void)
{
    void *library = dlopen(LOADER, RTLD_NOW);
    void *symbol = library ? dlsym(library, "zeInit") : NULL;
    ze_result_t (*init)(ze_init_flags_t flags);
    double begin;

    if (!symbol)
        return 1;
    memcpy(&init, &symbol, sizeof(init));
    begin = bench_seconds(CLOCK_MONOTONIC);
    (void)init(0);
    (void)printf("%.4f\n", since_ms(begin));
    return 0;
}

/* ---- the table ----------------------------------------------------------------------------- */

/* The numbers that a process of its own prints; how many there are. */
static int run(const char *what, double *out_numbers)
{
    char command[256];
    int count = 0;
    FILE *pipe;

    (void)snprintf(command, sizeof(command), "/proc/%d/exe %s", (int)getpid(), what);
    pipe = popen(command, "r");
    if (!pipe)
        return 0;
    while (count < FIGURES && fscanf(pipe, "%lf", &out_numbers[count]) == 1)
        count++;
    return pclose(pipe) == 0 ? count : 0;
}

static bool measure(const char *what, int count, struct bench_rounds *figures)
{
    double numbers[FIGURES];

    for (int i = 0; i < SAMPLES; i++) {
        if (run(what, numbers) != count)
            return false;
        for (int figure = 0; figure < count; figure++)
            bench_add(&figures[figure], numbers[figure]);
    }
    return true;
}

static bool measure_gpu(const char *platform, const char *driver)
{
    const struct kmd_config config = {.device_count = 1,
                                      .devices = {{.platform = platform, .driver = driver}},
                                      .is_privileged = true};
    struct kmd_machine *machine = kmd_start(&config);
    struct bench_rounds figures[FIGURES] = {0};
    bool good = machine && measure("ours", FIGURES, figures);

    (void)printf("  %-8s %-5s", platform, driver);
    for (int i = 0; good && i < FIGURES; i++)
        (void)printf("  %6.2f (%6.2f)", bench_least(&figures[i]), bench_median(&figures[i]));
    (void)printf("\n");
    (void)fflush(stdout);
    if (machine)
        kmd_stop(machine);
    return good;
}

int main(int argc, char **argv)
{
    struct bench_rounds loader = {0};
    bool good = true;

    if (argc > 1)
        return strcmp(argv[1], "ours") == 0 ? sample_ours() : sample_loader();
    (void)setenv("ZETA_CONFIG", "none", 1);
    (void)setenv("ZET_ENABLE_METRICS", "1", 1);
    bench_begin(
        "from zeInit to the first report, emulated GPUs: milliseconds, best of 15 processes "
        "(median)",
        NULL);
    (void)printf("  %-14s  %15s  %15s  %15s  %15s\n", "", "zeInit", "properties", "groups",
                 "report");
    for (size_t i = 0; good && i < sizeof(gpus) / sizeof(gpus[0]); i++)
        good = measure_gpu(gpus[i].platform, gpus[i].driver);
    if (measure("loader", 1, &loader))
        (void)printf("  peer: zeInit of " LOADER " without a driver %.2f (%.2f)\n",
                     bench_least(&loader), bench_median(&loader));
    else
        (void)printf("  peer: " LOADER " is not installed\n");
    return good ? 0 : 1;
}
