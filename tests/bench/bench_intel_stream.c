/*
 * Streams of an Intel GPU through the API, the plugin and the emulated kernel: a million reports a
 * second for some seconds (argument, default 5; 60 is the minute of the budget) with the losses,
 * and the processor's time. The emulated kernel makes the reports when they are read, in this
 * process: what that costs is in the figure, and alone in bench_kmd.
 */
#include <level_zero/ze_api.h>
#include <level_zero/zet_api.h>

#include <zeta/zeta.h>

#include "tests/bench/bench.h"
#include "tests/kmd/kmd.h"

/* 16 ticks of 16 MHz. */
enum { OA_HZ = 16000000, PERIOD_NS = 1000, ROOM = 32 << 20 };

struct capture {
    ze_device_handle_t device;
    ze_context_handle_t context;
    zet_metric_group_handle_t group;
    zet_metric_streamer_handle_t streamer;
    uint32_t period_ns;
};

static void check(ze_result_t result, const char *what)
{
    if (result == ZE_RESULT_SUCCESS)
        return;
    (void)fprintf(stderr, "bench_intel_stream: %s: 0x%x: %s\n", what, (unsigned)result,
                  zetaGetLastError());
    exit(1);
}

static struct kmd_machine *start_machine(void)
{
    const struct kmd_config config = {
        .device_count = 1,
        .devices = {{.platform = "tgl-gt2", .driver = "i915", .oa_hz = OA_HZ, .cs_hz = OA_HZ}},
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

static zet_metric_group_handle_t find_render_basic(ze_device_handle_t device)
{
    zet_metric_group_handle_t groups[256];
    uint32_t count = 256;

    check(zetMetricGroupGet(device, &count, groups), "groups");
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t properties = {.stype =
                                                        ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};

        check(zetMetricGroupGetProperties(groups[i], &properties), "properties of a group");
        if (strcmp(properties.name, "RenderBasic") == 0 &&
            properties.samplingType == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED)
            return groups[i];
    }
    (void)fprintf(stderr, "bench_intel_stream: there is no group RenderBasic\n");
    exit(1);
}

static struct capture open_stream(void)
{
    ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .notifyEveryNReports = 32768,
                                       .samplingPeriod = PERIOD_NS};
    ze_driver_handle_t driver;
    struct capture capture;
    uint32_t one = 1;

    check(zeInit(0), "zeInit");
    check(zeDriverGet(&one, &driver), "driver");
    check(zeDeviceGet(driver, &one, &capture.device), "device");
    check(zeContextCreate(driver, &context_desc, &capture.context), "context");
    capture.group = find_render_basic(capture.device);
    check(zetContextActivateMetricGroups(capture.context, capture.device, 1, &capture.group),
          "activation");
    check(zetMetricStreamerOpen(capture.context, capture.device, capture.group, &desc, NULL,
                                &capture.streamer),
          "stream");
    capture.period_ns = desc.samplingPeriod;
    return capture;
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
            check(result, "read");
    } while (bytes > ROOM / 2);
}

static double copy_ns(uint8_t *buffer, uint64_t reports)
{
    void *(*volatile copy)(void *, const void *, size_t) = memcpy;
    const double before = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);

    for (uint64_t done = 0; done < reports; done += ROOM / 2 / 256)
        (void)copy(buffer, buffer + ROOM / 2, ROOM / 2);
    return (bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - before) / (double)reports * 1e9;
}

int main(int argc, char **argv)
{
    const unsigned duration_s = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 5;
    const struct timespec pause = {.tv_nsec = 5000000};
    struct zeta_stream_info info = {.struct_size = sizeof(info)};
    uint8_t *buffer = malloc(ROOM);
    struct kmd_machine *machine;
    struct capture capture;
    double begin, cpu, length;

    if (!buffer)
        return 1;
    memset(buffer, 1, ROOM);
    bench_begin("a stream of an Intel GPU, through the API and the emulated kernel",
                "1 M reports/s for a minute without loss");
    machine = start_machine();
    capture = open_stream();
    begin = bench_seconds(CLOCK_MONOTONIC);
    cpu = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    while (bench_seconds(CLOCK_MONOTONIC) - begin < duration_s) {
        (void)nanosleep(&pause, NULL);
        drain(&capture, buffer);
    }
    length = bench_seconds(CLOCK_MONOTONIC) - begin;
    cpu = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    check(zetaMetricStreamerGetInfo(capture.streamer, &info), "statistics");
    check(zetMetricStreamerClose(capture.streamer), "close");
    (void)printf("  period %u ns: %.0f reports/s for %.1f s, %llu breaks; %llu of %llu reports of "
                 "the emulation lost\n",
                 capture.period_ns, (double)info.records / length, length,
                 (unsigned long long)info.breaks,
                 (unsigned long long)kmd_statistic(machine, 0, KMD_STAT_REPORTS_LOST),
                 (unsigned long long)kmd_statistic(machine, 0, KMD_STAT_REPORTS_MADE));
    (void)printf("  %.1f ns of the processor per report (%.0f %% of one core), memcpy of the same "
                 "bytes %.1f ns\n",
                 cpu / (double)info.records * 1e9, 100 * cpu / length,
                 copy_ns(buffer, info.records));
    kmd_stop(machine);
    free(buffer);
    return info.breaks > 0;
}
