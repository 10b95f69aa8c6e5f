/*
 * Streams of the virtual GPU: reading a ring against copying the same bytes, and capture at the
 * shortest period, so about 98 thousand reports a second, for some seconds (argument, default 5;
 * 60 is the minute of the budget) with the losses.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/record_ring.h>

#include "plugins/vgpu/sampling/report.h"
#include "tests/bench/bench.h"
#include "tests/vgpu_plugin/host.h"

#define REPORTS 65536u
#define BYTES ((size_t)REPORTS * ZETA_VGPU_REPORT_BYTES)
#define ROUNDS 7u

/* In GB/s, of reading a full ring into a buffer in use. */
static double measure_ring(struct zeta_record_ring *ring, uint8_t *buffer)
{
    uint8_t report[ZETA_VGPU_REPORT_BYTES] = {1};
    struct zeta_plugin_read read;
    double begin;

    for (unsigned i = 0; i < REPORTS; i++)
        (void)zeta_record_ring_push(ring, report, 1);
    begin = bench_seconds(CLOCK_MONOTONIC);
    zeta_record_ring_read(ring, buffer, BYTES, &read);
    if (read.bytes != BYTES)
        exit(1);
    return (double)BYTES / (bench_seconds(CLOCK_MONOTONIC) - begin) / 1e9;
}

static double measure_memcpy(const uint8_t *source, uint8_t *buffer)
{
    const double begin = bench_seconds(CLOCK_MONOTONIC);

    memcpy(buffer, source, BYTES);
    __asm__ volatile("" : : "r"(buffer) : "memory");
    return (double)BYTES / (bench_seconds(CLOCK_MONOTONIC) - begin) / 1e9;
}

static int measure_reading(uint8_t *buffer)
{
    struct bench_rounds reading = {0}, copying = {0};
    struct zeta_record_ring *ring = zeta_record_ring_create(REPORTS, ZETA_VGPU_REPORT_BYTES, 0);
    uint8_t *source = malloc(BYTES);

    if (!source || !ring)
        return 1;
    memset(source, 2, BYTES);
    for (unsigned round = 0; round < ROUNDS; round++) {
        bench_add(&reading, measure_ring(ring, buffer));
        bench_add(&copying, measure_memcpy(source, buffer));
    }
    zeta_record_ring_destroy(ring);
    free(source);
    printf("  read %.2f GB/s (%.2f), memcpy of the same bytes %.2f GB/s (%.2f): %.0f %%\n",
           bench_most(&reading), bench_median(&reading), bench_most(&copying),
           bench_median(&copying), 100 * bench_most(&reading) / bench_most(&copying));
    return 0;
}

static int capture(uint8_t *buffer, unsigned duration_s)
{
    struct zeta_plugin_stream *stream;
    struct zeta_plugin_read read;
    uint64_t reports = 0, lost = 0, breaks = 0;
    struct host host;
    double begin, cpu, length;

    host_open(&host, NULL);
    if (host_stream(&host, "oa", 10240, 1024, NULL, &stream) != ZETA_PLUGIN_SUCCESS) {
        (void)fprintf(stderr, "bench_vgpu_stream: %s\n", host_error(&host));
        return 1;
    }
    begin = bench_seconds(CLOCK_MONOTONIC);
    cpu = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    while (bench_seconds(CLOCK_MONOTONIC) - begin < duration_s) {
        host_sleep_ms(10);
        do {
            reports += host_read(&host, stream, buffer, REPORTS, &read);
            lost += read.lost;
            breaks += read.broken != 0;
        } while (read.bytes > 0);
    }
    length = bench_seconds(CLOCK_MONOTONIC) - begin;
    cpu = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    host.metric->stream_close(host.self, stream);
    host_close(&host);
    printf("  capture at 10.24 us: %.0f reports/s for %.1f s, %llu reports lost in %llu breaks, "
           "%.0f %% of one core for sampler and reader\n",
           (double)reports / length, length, (unsigned long long)lost, (unsigned long long)breaks,
           100 * cpu / length);
    return 0;
}

int main(int argc, char **argv)
{
    const unsigned duration_s = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 5;
    uint8_t *buffer = malloc(BYTES);
    int status;

    if (!buffer)
        return 1;
    memset(buffer, 1, BYTES);
    bench_use_virtual_gpu();
    bench_begin("streams of the virtual GPU: best of 7 rounds (median)",
                "read >= 80 % of memcpy; 100 k reports/s for a minute without loss");
    status = measure_reading(buffer);
    if (status == 0)
        status = capture(buffer, duration_s);
    free(buffer);
    return status;
}
