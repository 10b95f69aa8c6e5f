/*
 * How many reports the emulated kernel makes on one core: what a test can ask of it. Reads of a
 * full ring of 16 MiB, 1 MiB at a time; beside it memcpy() of as many bytes.
 */

#include <fcntl.h>
#include <stdint.h>
#include <sys/ioctl.h>

#include "tests/bench/bench.h"
#include "tests/kmd/kmd.h"

enum { ROUNDS = 15, CHUNK = 1 << 20, EXPONENT = 5, REPORTS = 60000 };

static const struct {
    const char *platform;
    uint32_t format, bytes;
} cases[] = {{"hsw-gt2", 5, 256}, {"tgl-gt2", 10, 256}, {"dg2-g10", 12, 256}, {"tgl-gt2", 7, 64}};

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static int open_stream(uint32_t format)
{
    static const char uuid[] = "01234567-89ab-cdef-0123-456789abcdef";
    uint32_t write[2] = {0xd900, 1};
    struct {
        char uuid[36];
        uint32_t counts[3];
        uint64_t lists[3];
    } config = {.counts = {0, 1, 0}, .lists = {0, (uintptr_t)write, 0}};
    uint64_t properties[][2] = {{2, 1}, {3, 0}, {4, format}, {5, EXPONENT}};
    const struct {
        uint32_t flags, count;
        uint64_t properties;
    } param = {3, 4, (uintptr_t)properties};
    const int node = open("/dev/dri/renderD128", O_RDWR);
    int set;

    memcpy(config.uuid, uuid, sizeof(config.uuid));
    set = ioctl(node, 0x40486477, &config);
    if (set < 0) {
        write[0] = 0x2710;
        set = ioctl(node, 0x40486477, &config);
    }
    properties[1][1] = (uint64_t)set;
    return ioctl(node, 0x40106476, &param);
}

/* Seconds of the processor for all reports that are there; how many bytes they were. */
static double drain(int stream, uint8_t *buffer, uint64_t *out_bytes)
{
    const double before = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    ssize_t bytes;

    *out_bytes = 0;
    while ((bytes = read(stream, buffer, CHUNK)) > 0)
        *out_bytes += (uint64_t)bytes;
    return bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - before;
}

static double copy(uint8_t *to, const uint8_t *from, uint64_t bytes)
{
    /* Behind a pointer that the compiler cannot see through: the copies are not left out. */
    void *(*volatile copy_bytes)(void *, const void *, size_t) = memcpy;
    const double before = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);

    for (uint64_t done = 0; done < bytes; done += CHUNK)
        (void)copy_bytes(to, from, CHUNK);
    return bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - before;
}

static void measure(const char *platform, uint32_t format, uint32_t report_bytes)
{
    const struct kmd_config config = {.device_count = 1,
                                      .devices = {{.platform = platform}},
                                      .is_privileged = true,
                                      .is_manual = true};
    struct kmd_machine *machine = kmd_start(&config);
    struct bench_rounds made = {0};
    struct bench_rounds copied = {0};
    uint8_t *buffer = calloc(2, CHUNK);
    int stream;

    if (!machine || !buffer)
        die("bench_kmd: no machine");
    stream = open_stream(format);
    if (stream < 0)
        die("bench_kmd: no stream");
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t bytes;
        double seconds;
        uint64_t reports;

        /* At 12.5 to 25 MHz: at least so many. */
        kmd_advance(machine, (uint64_t)REPORTS * 64 * 1000 / 25);
        seconds = drain(stream, buffer, &bytes);
        reports = bytes / (report_bytes + 8);
        if (reports == 0)
            die("bench_kmd: no reports");
        bench_add(&made, seconds / (double)reports * 1e9);
        bench_add(&copied, copy(buffer + CHUNK, buffer, bytes) / (double)reports * 1e9);
    }
    (void)printf("  %-8s format %2u, %3u bytes: %6.1f ns per report (%.1f), %5.1f M reports/s; "
                 "memcpy %5.1f ns\n",
                 platform, format, report_bytes, bench_least(&made), bench_median(&made),
                 1e3 / bench_least(&made), bench_least(&copied));
    (void)close(stream);
    kmd_stop(machine);
    free(buffer);
}

int main(void)
{
    bench_begin("reports of the emulated kernel, read on one core",
                ">= 1 M reports of 256 bytes/s");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        measure(cases[i].platform, cases[i].format, cases[i].bytes);
    return 0;
}
