/*
 * Cost of recording calls with their arguments (zetaTraceStart): three typical calls, by 1, 2 and 4
 * threads, each round into a file of its own.
 *
 * The peer, in the same run, is what a hand-written layer would do: two clock readings and
 * fprintf() of the same words into a file with a buffer of 64 KiB. Times are processor time of the
 * calling thread, best of several rounds, so that other users of the machine disturb little.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "tests/bench/bench_ze.h"

#define CALLS 100000u
#define ROUNDS 7u
#define MOST_THREADS 4u

/* What is called, and with it. */
struct bed {
    ze_device_handle_t device;
    ze_event_handle_t event;
    FILE *peer;
};

struct call {
    const char *name;
    void (*run)(const struct bed *bed);
};

struct work {
    const struct bed *bed;
    const struct call *call;
    double ns;
};

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now = {0};

    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static struct bed make_bed(void)
{
    const ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                            .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                            .count = 1};
    const ze_event_desc_t event_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    const ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_event_pool_handle_t pool = NULL;
    ze_context_handle_t context = NULL;
    ze_driver_handle_t driver = NULL;
    struct bed bed = {0};
    uint32_t count = 1;

    bench_check(zeInit(0), "zeInit");
    bench_check(zeDriverGet(&count, &driver), "zeDriverGet");
    count = 1;
    bench_check(zeDeviceGet(driver, &count, &bed.device), "zeDeviceGet");
    bench_check(zeContextCreate(driver, &context_desc, &context), "zeContextCreate");
    bench_check(zeEventPoolCreate(context, &pool_desc, 0, NULL, &pool), "zeEventPoolCreate");
    bench_check(zeEventCreate(pool, &event_desc, &bed.event), "zeEventCreate");
    bed.peer = fopen("/dev/null", "w");
    if (!bed.peer || setvbuf(bed.peer, NULL, _IOFBF, 65536) != 0)
        exit(1);
    return bed;
}

static void query_event(const struct bed *bed)
{
    (void)zeEventQueryStatus(bed->event);
}

static void get_properties(const struct bed *bed)
{
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};

    (void)zeDeviceGetProperties(bed->device, &properties);
}

static void get_memory_properties(const struct bed *bed)
{
    uint32_t count = 0;

    (void)zeDeviceGetMemoryProperties(bed->device, &count, NULL);
}

static void print_query(const struct bed *bed)
{
    const uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
    const ze_result_t result = zeEventQueryStatus(bed->event);
    const uint64_t end_ns = clock_ns(CLOCK_MONOTONIC);

    (void)fprintf(bed->peer,
                  "{\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%" PRIu64 ".%03u,\"cat\":\"ze\","
                  "\"name\":\"zeEventQueryStatus\",\"args\":{\"hEvent\":\"%p\",\"result\":"
                  "\"%s\"},\"dur\":%" PRIu64 ".%03u},\n",
                  1234567, 1234567, begin_ns / 1000, (unsigned)(begin_ns % 1000),
                  (void *)bed->event,
                  result == ZE_RESULT_NOT_READY ? "ZE_RESULT_NOT_READY" : "ZE_RESULT_SUCCESS",
                  (end_ns - begin_ns) / 1000, (unsigned)((end_ns - begin_ns) % 1000));
}

static void *run_calls(void *argument)
{
    struct work *work = argument;
    uint64_t start_ns;

    work->call->run(work->bed); /* the first one of a thread says its name */
    start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (uint32_t i = 0; i < CALLS; i++)
        work->call->run(work->bed);
    work->ns = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns) / CALLS;
    return NULL;
}

/* The mean of the threads. */
static double run_threads(const struct bed *bed, const struct call *call, uint32_t count)
{
    pthread_t threads[MOST_THREADS];
    struct work works[MOST_THREADS];
    double sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        works[i] = (struct work){.bed = bed, .call = call};
        if (pthread_create(&threads[i], NULL, run_calls, &works[i]) != 0)
            exit(1);
    }
    for (uint32_t i = 0; i < count; i++) {
        (void)pthread_join(threads[i], NULL);
        sum += works[i].ns;
    }
    return sum / count;
}

static double best(const struct bed *bed, const struct call *call, uint32_t count, bool is_recorded,
                   uint64_t *out_bytes)
{
    double least = 1e9;

    for (uint32_t round = 0; round < ROUNDS; round++) {
        char path[64];
        struct zeta_trace_desc desc = {.struct_size = sizeof(desc), .path = path};
        struct zeta_trace_info info = {.struct_size = sizeof(info)};
        double ns;

        (void)snprintf(path, sizeof(path), "/tmp/zeta-bench-sink-%ld.json", (long)getpid());
        if (is_recorded)
            bench_check(zetaTraceStart(&desc), "zetaTraceStart");
        ns = run_threads(bed, call, count);
        if (is_recorded) {
            bench_check(zetaTraceGetInfo(&info), "zetaTraceGetInfo");
            bench_check(zetaTraceStop(), "zetaTraceStop");
            (void)unlink(path);
            if (info.lost > 0)
                (void)fprintf(stderr, "bench_sink: %" PRIu64 " records lost\n", info.lost);
            *out_bytes = info.bytes / info.records;
        }
        least = ns < least ? ns : least;
    }
    return least;
}

int main(void)
{
    static const struct call calls[] = {
        {"zeEventQueryStatus", query_event},
        {"zeDeviceGetMemoryProperties", get_memory_properties},
        {"zeDeviceGetProperties", get_properties},
    };
    static const struct call peer = {"fprintf of zeEventQueryStatus", print_query};
    const struct bed bed = make_bed();
    uint64_t bytes = 0;

    bench_begin("recording of calls: nanoseconds of processor time for each, best of some rounds",
                NULL);
    (void)printf("%-32s %8s %10s %10s %8s\n", "call", "threads", "untraced", "recorded", "bytes");
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        for (uint32_t count = 1; count <= MOST_THREADS; count *= 2) {
            const double untraced = best(&bed, &calls[i], count, false, &bytes);
            const double recorded = best(&bed, &calls[i], count, true, &bytes);

            (void)printf("%-32s %8u %10.1f %10.1f %8" PRIu64 "\n", calls[i].name, count, untraced,
                         recorded, bytes);
        }
    }
    for (uint32_t count = 1; count <= MOST_THREADS; count *= 2)
        (void)printf("%-32s %8u %10s %10.1f\n", peer.name, count, "",
                     best(&bed, &peer, count, false, &bytes));
    (void)fclose(bed.peer);
    return 0;
}
