/*
 * Streams of Intel GPUs through the API, the plugin and the emulated kernel: a million reports a
 * second for some seconds (argument, default 5; 60 is the minute of the budget) on i915 and on xe,
 * with what was lost and the processor's time. The emulated kernel makes the reports when they are
 * read, in this process; it says itself what that took, and the rest is ours.
 */
#include <sched.h>
#include <sys/wait.h>

#include "tests/bench/bench.h"
#include "tests/bench/bench_ze.h"
#include "tests/kmd/kmd.h"

/* 16 ticks of 16 MHz. */
enum { OA_HZ = 16000000, PERIOD_NS = 1000, ROOM = 32 << 20 };

/* How long the program sleeps between two reads: i915 keeps 16 MiB, 62 ms at this rate. */
enum { PAUSE_NS = 5000000 };

/* Half of the buffer that xe is asked for. */
enum { NOTIFY_REPORTS = 131072 };

static const struct gpu {
    const char *platform, *driver;
    uint32_t report_bytes;
} gpus[] = {{"tgl-gt2", "i915", 256}, {"dg2-g10", "xe", 256}, {"bmg", "xe", 576}};

struct capture {
    const struct gpu *gpu;
    ze_device_handle_t device;
    ze_context_handle_t context;
    zet_metric_group_handle_t group;
    zet_metric_streamer_handle_t streamer;
    uint32_t period_ns;
};

/* Seconds of the processor. */
struct shares {
    double length;    /* of the capture, by the clock on the wall */
    double longest;   /* between the ends of two reads: losses are nobody's fault but the machine's
                         if the buffer is shorter */
    double process;   /* all threads of this process */
    double reader;    /* the thread that reads */
    double emulation; /* of it, in reads of the emulated kernel */
};

static struct kmd_machine *start_machine(const struct gpu *gpu)
{
    const struct kmd_config config = {
        .device_count = 1,
        .devices =
            {{.platform = gpu->platform, .driver = gpu->driver, .oa_hz = OA_HZ, .cs_hz = OA_HZ}},
        .is_privileged = true,
        .max_sample_rate = OA_HZ,
    };
    struct kmd_machine *machine = kmd_start(&config);

    if (!machine)
        exit(1);
    (void)setenv("ZETA_PLUGIN_PATH", ZETA_BUILD_DIR "/share/zeta", 1);
    (void)setenv("ZETA_CONFIG", "none", 0);
    (void)setenv("ZET_ENABLE_METRICS", "1", 1);
    return machine;
}

static void open_stream(struct capture *capture)
{
    ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .notifyEveryNReports = NOTIFY_REPORTS,
                                       .samplingPeriod = PERIOD_NS};
    ze_driver_handle_t driver;
    uint32_t one = 1;

    bench_check(zeInit(0), "zeInit");
    bench_check(zeDriverGet(&one, &driver), "driver");
    bench_check(zeDeviceGet(driver, &one, &capture->device), "device");
    bench_check(zeContextCreate(driver, &context_desc, &capture->context), "context");
    capture->group = bench_find_group(capture->device, "RenderBasic",
                                      ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED);
    bench_check(
        zetContextActivateMetricGroups(capture->context, capture->device, 1, &capture->group),
        "activation");
    bench_check(zetMetricStreamerOpen(capture->context, capture->device, capture->group, &desc,
                                      NULL, &capture->streamer),
                "stream");
    capture->period_ns = desc.samplingPeriod;
}

/* Everything that is there. */
static void drain(const struct capture *capture, uint8_t *buffer)
{
    size_t bytes;

    do {
        ze_result_t result;

        bytes = ROOM;
        result = zetMetricStreamerReadData(capture->streamer, UINT32_MAX, &bytes, buffer);
        if (result != ZE_RESULT_WARNING_DROPPED_DATA)
            bench_check(result, "read");
    } while (bytes > ROOM / 2);
}

static double emulation_seconds(const struct kmd_machine *machine)
{
    return (double)kmd_statistic(machine, 0, KMD_STAT_READ_NS) * 1e-9;
}

static struct shares read_for(const struct capture *capture, const struct kmd_machine *machine,
                              uint8_t *buffer, unsigned duration_s)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    const double begin = bench_seconds(CLOCK_MONOTONIC);
    const double process = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    const double reader = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
    const double emulation = emulation_seconds(machine);
    double now = begin;
    double longest = 0;

    while (now - begin < duration_s) {
        const double before = now;

        (void)nanosleep(&pause, NULL);
        drain(capture, buffer);
        now = bench_seconds(CLOCK_MONOTONIC);
        longest = now - before > longest ? now - before : longest;
    }
    return (struct shares){
        .length = now - begin,
        .longest = longest,
        .process = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - process,
        .reader = bench_seconds(CLOCK_THREAD_CPUTIME_ID) - reader,
        .emulation = emulation_seconds(machine) - emulation,
    };
}

/* Seconds to copy as many bytes, which are not in the caches. */
static double copy_seconds(uint8_t *buffer, uint64_t bytes)
{
    void *(*volatile copy)(void *, const void *, size_t) = memcpy;
    const double before = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);

    for (uint64_t done = 0; done < bytes; done += ROOM / 2)
        (void)copy(buffer, buffer + ROOM / 2, ROOM / 2);
    return bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - before;
}

static void print(const struct capture *capture, const struct shares *shares,
                  const struct zeta_stream_info *info, const struct kmd_machine *machine,
                  double copied)
{
    const double per_report = 1e9 / (double)info->records;

    (void)printf("  %s on %s, reports of %u bytes every %u ns: %.0f/s for %.1f s, %llu breaks; "
                 "%llu of %llu lost; longest time between reads %.0f ms\n",
                 capture->gpu->platform, capture->gpu->driver, capture->gpu->report_bytes,
                 capture->period_ns, (double)info->records / shares->length, shares->length,
                 (unsigned long long)info->breaks,
                 (unsigned long long)kmd_statistic(machine, 0, KMD_STAT_REPORTS_LOST),
                 (unsigned long long)kmd_statistic(machine, 0, KMD_STAT_REPORTS_MADE),
                 shares->longest * 1e3);
    (void)printf("    ns of the processor per report: ours %.1f (%.1f %% of one core), emulation "
                 "%.1f, other threads %.1f; memcpy of the same bytes %.1f\n",
                 (shares->reader - shares->emulation) * per_report,
                 100 * (shares->reader - shares->emulation) / shares->length,
                 shares->emulation * per_report, (shares->process - shares->reader) * per_report,
                 copied * per_report);
    (void)fflush(stdout);
}

/* In a process of its own: the library looks for GPUs once. The exit status: losses are a figure.
 */
static int measure(const struct gpu *gpu, unsigned duration_s)
{
    struct zeta_stream_info info = {.struct_size = sizeof(info)};
    struct kmd_machine *machine = start_machine(gpu);
    struct capture capture = {.gpu = gpu};
    const struct sched_param first = {.sched_priority = 1};
    uint8_t *buffer = malloc(ROOM);
    struct shares shares;

    if (!buffer)
        return 1;
    memset(buffer, 1, ROOM);
    /* So that other programs do not keep this one from reading; without the right to it, as it is.
     */
    (void)sched_setscheduler(0, SCHED_FIFO, &first);
    open_stream(&capture);
    shares = read_for(&capture, machine, buffer, duration_s);
    bench_check(zetaMetricStreamerGetInfo(capture.streamer, &info), "statistics");
    bench_check(zetMetricStreamerClose(capture.streamer), "close");
    print(&capture, &shares, &info, machine,
          copy_seconds(buffer, info.records * gpu->report_bytes));
    kmd_stop(machine);
    free(buffer);
    return 0;
}

int main(int argc, char **argv)
{
    const unsigned duration_s = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 5;
    int worst = 0;

    bench_begin("streams of Intel GPUs, through the API and the emulated kernel",
                "1 M reports/s for a minute without loss");
    for (size_t i = 0; i < sizeof(gpus) / sizeof(gpus[0]); i++) {
        int status = 1;
        const pid_t child = fork();

        if (child == 0)
            exit(measure(&gpus[i], duration_s));
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
            worst = 1;
    }
    return worst;
}
