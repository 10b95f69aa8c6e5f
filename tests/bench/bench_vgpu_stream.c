/*
 * Streams of the virtual GPU: reading a ring against copying the same bytes, and capture at the
 * shortest period for some seconds (argument, default 5), with the losses.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plugins/vgpu/oa_report.h"
#include "plugins/vgpu/oa_ring.h"
#include "tests/vgpu_plugin/host.h"

#define REPORTS 65536u
#define BYTES ((size_t)REPORTS * ZETA_VGPU_REPORT_BYTES)
#define ROUNDS 7u

static double seconds(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Best of some rounds, in GB/s, of reading a full ring into a buffer in use. */
static double measure_ring(struct zeta_vgpu_ring *ring, uint8_t *buffer)
{
    uint8_t report[ZETA_VGPU_REPORT_BYTES] = {1};
    struct zeta_plugin_read read;
    double best = 0;

    for (unsigned round = 0; round < ROUNDS; round++) {
        double begin, rate;

        for (unsigned i = 0; i < REPORTS; i++)
            zeta_vgpu_ring_push(ring, report);
        begin = seconds(CLOCK_MONOTONIC);
        zeta_vgpu_ring_read(ring, buffer, BYTES, &read);
        rate = (double)read.bytes / (seconds(CLOCK_MONOTONIC) - begin) / 1e9;
        if (read.bytes != BYTES)
            exit(1);
        best = rate > best ? rate : best;
    }
    return best;
}

static double measure_memcpy(const uint8_t *source, uint8_t *buffer)
{
    double best = 0;

    for (unsigned round = 0; round < ROUNDS; round++) {
        double begin = seconds(CLOCK_MONOTONIC), rate;

        memcpy(buffer, source, BYTES);
        __asm__ volatile("" : : "r"(buffer) : "memory");
        rate = (double)BYTES / (seconds(CLOCK_MONOTONIC) - begin) / 1e9;
        best = rate > best ? rate : best;
    }
    return best;
}

static int capture(uint8_t *buffer, unsigned duration_s)
{
    struct zeta_plugin_stream *stream;
    struct zeta_plugin_read read;
    uint64_t reports = 0, lost = 0;
    struct host host;
    double begin, cpu, length;

    host_open(&host, NULL);
    if (host_stream(&host, "oa", 10240, 1024, NULL, &stream) != ZETA_PLUGIN_SUCCESS) {
        (void)fprintf(stderr, "bench_vgpu_stream: %s\n", host_error(&host));
        return 1;
    }
    begin = seconds(CLOCK_MONOTONIC);
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    while (seconds(CLOCK_MONOTONIC) - begin < duration_s) {
        host_sleep_ms(10);
        do {
            reports += host_read(&host, stream, buffer, REPORTS, &read);
            lost += read.lost;
        } while (read.bytes > 0);
    }
    length = seconds(CLOCK_MONOTONIC) - begin;
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    host.metric->stream_close(host.self, stream);
    host_close(&host);
    printf("capture at 10.24 us: %.0f reports/s for %.1f s, %llu lost, %.0f %% of one core\n",
           (double)reports / length, length, (unsigned long long)lost, 100 * cpu / length);
    return 0;
}

int main(int argc, char **argv)
{
    const unsigned duration_s = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 5;
    struct zeta_vgpu_ring ring;
    uint8_t *buffer = malloc(BYTES), *source = malloc(BYTES);
    double read_rate, copy_rate;

    if (!buffer || !source || !zeta_vgpu_ring_init(&ring, REPORTS, ZETA_VGPU_REPORT_BYTES, 0))
        return 1;
    memset(buffer, 1, BYTES);
    memset(source, 2, BYTES);
    read_rate = measure_ring(&ring, buffer);
    copy_rate = measure_memcpy(source, buffer);
    zeta_vgpu_ring_finish(&ring);
    printf("stream read: %.2f GB/s, memcpy of the same bytes: %.2f GB/s (%.0f %%)\n", read_rate,
           copy_rate, 100 * read_rate / copy_rate);
    free(source);
    if (capture(buffer, duration_s) != 0)
        return 1;
    free(buffer);
    return 0;
}
