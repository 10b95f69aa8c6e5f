/*
 * Events of the virtual GPU: how many a second are recorded, and read, and what tracing costs the
 * work. The peers are a copy and a write() of the same records, from memory in use.
 *
 * Work is launches of groups of one work-item that do next to nothing, so there are as many events
 * as the device can have: two for each group.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "tests/vgpu_trace/trace_bed.h"

enum { GROUPS = 100000, LAUNCHES = 20, ROUNDS = 3, READ_BYTES = 1 << 20 };

/* Records of a round, read while it runs. */
struct reading {
    uint8_t *buffer;
    uint64_t events;
    uint64_t lost;
    double in_reads_s;
};

static void drain(struct host *host, struct zeta_plugin_tracer *tracer, struct reading *reading)
{
    struct zeta_plugin_read read = {.struct_size = sizeof(read)};
    const double begin = bench_seconds(CLOCK_MONOTONIC);

    do {
        (void)bed_ops(host)->read(host->self, tracer, reading->buffer, READ_BYTES, &read);
        reading->events += read.bytes / sizeof(struct zeta_vgpu_event);
        reading->lost += read.lost;
    } while (read.bytes > 0);
    reading->in_reads_s += bench_seconds(CLOCK_MONOTONIC) - begin;
}

/* Seconds of the launches; events are read between them when there is a tracer. */
static double run(struct bed_work *work, struct zeta_plugin_tracer *tracer, struct reading *reading)
{
    const double begin = bench_seconds(CLOCK_MONOTONIC);
    double elapsed = 0;

    for (unsigned i = 0; i < LAUNCHES; i++) {
        bed_tiny_groups(work, GROUPS);
        elapsed = bench_seconds(CLOCK_MONOTONIC) - begin - reading->in_reads_s;
        if (tracer)
            drain(work->host, tracer, reading);
    }
    return elapsed;
}

static void print_peers(const uint8_t *records, uint64_t count)
{
    const size_t bytes = READ_BYTES, record = sizeof(struct zeta_vgpu_event);
    const int file = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    uint8_t *target = malloc(bytes);
    double copy, write_s;

    if (!target || file < 0)
        exit(1);
    memset(target, 1, bytes);
    copy = bench_seconds(CLOCK_MONOTONIC);
    for (uint64_t done = 0; done < count * record; done += bytes) {
        memcpy(target, records, bytes);
        __asm__ volatile("" : : "r"(target) : "memory");
    }
    copy = bench_seconds(CLOCK_MONOTONIC) - copy;
    write_s = bench_seconds(CLOCK_MONOTONIC);
    for (uint64_t done = 0; done < count * record; done += bytes) {
        if (pwrite(file, records, bytes, (off_t)(done % (16 * bytes))) != (ssize_t)bytes)
            exit(1);
    }
    write_s = bench_seconds(CLOCK_MONOTONIC) - write_s;
    printf("  peers, the same records: memcpy %.0f, write() to a file in memory %.1f million "
           "records/s\n",
           (double)count / copy / 1e6, (double)count / write_s / 1e6);
    close(file);
    free(target);
}

int main(void)
{
    struct reading reading = {.buffer = malloc(READ_BYTES)};
    struct zeta_plugin_tracer *tracer;
    double off = 1e9, open_s = 1e9, on = 1e9;
    struct bed_work work;
    struct host host;
    double cpu, cpu_off;

    if (!reading.buffer)
        return 1;
    memset(reading.buffer, 1, READ_BYTES);
    bench_use_virtual_gpu();
    bench_begin(
        "tracer of the virtual GPU: 2 million groups of one work-item, best of 3 rounds; two "
        "events for each group",
        NULL);
    host_open(&host, NULL);
    bed_work_begin(&work, &host);
    cpu_off = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (unsigned i = 0; i < ROUNDS; i++) {
        const double elapsed = run(&work, NULL, &reading);

        off = elapsed < off ? elapsed : off;
    }
    cpu_off = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_off;
    tracer = bed_open(&host, WORK, DEVICE);
    for (unsigned i = 0; i < ROUNDS; i++) {
        const double elapsed = run(&work, NULL, &reading);

        open_s = elapsed < open_s ? elapsed : open_s;
    }
    bed_enable(&host, tracer);
    cpu = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (unsigned i = 0; i < ROUNDS; i++) {
        const double before = reading.in_reads_s;
        double elapsed;

        reading.in_reads_s = 0;
        elapsed = run(&work, tracer, &reading);
        on = elapsed < on ? elapsed : on;
        reading.in_reads_s += before;
    }
    cpu = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    bed_disable(&host, tracer);
    drain(&host, tracer, &reading);
    printf("  nobody traces %.3f s, tracer open %.3f s, on %.3f s\n", off, open_s, on);
    printf("  recorded %.2f million events/s, %" PRIu64 " of %" PRIu64 " lost, %.0f ns of CPU time "
           "for each\n",
           2.0 * GROUPS * LAUNCHES / on / 1e6, reading.lost, reading.events + reading.lost,
           (cpu - cpu_off) / (double)(reading.events + reading.lost) * 1e9);
    printf("  read %.1f million events/s\n", (double)reading.events / reading.in_reads_s / 1e6);
    print_peers(reading.buffer, reading.events);
    bed_ops(&host)->close(host.self, tracer);
    bed_work_end(&work);
    host_close(&host);
    free(reading.buffer);
    return 0;
}
