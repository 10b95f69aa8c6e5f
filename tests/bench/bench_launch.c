/*
 * What a launch costs: the way of an empty kernel from the append to the return of the wait, and
 * how many launches a second go through.
 *
 * No other driver runs without a GPU, so the figure beside it is the floor of every queue that has
 * a thread: one thread wakes another, which wakes it back, by condition variables and by a word
 * that both look at without sleeping.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "tests/bench/bench_ze.h"

#define ROUNDS 7u
#define LAUNCHES 2000u
#define BATCH 200u
#define MOST_THREADS 4u

static double now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

/* ---------------------------------------------------------------- the floor */

struct partner {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    atomic_uint turn; /* even: the main thread's */
    bool sleeps;
};

static void *answer(void *argument)
{
    struct partner *p = argument;

    for (unsigned mine = 1;; mine += 2) {
        if (p->sleeps) {
            (void)pthread_mutex_lock(&p->lock);
            while (atomic_load(&p->turn) != mine)
                (void)pthread_cond_wait(&p->changed, &p->lock);
            atomic_store(&p->turn, mine + 1);
            (void)pthread_cond_broadcast(&p->changed);
            (void)pthread_mutex_unlock(&p->lock);
        } else {
            while (atomic_load(&p->turn) != mine)
                ;
            atomic_store(&p->turn, mine + 1);
        }
        if (mine == 2 * LAUNCHES - 1)
            return NULL;
    }
}

static double hand_over_us(bool sleeps)
{
    struct partner p = {
        .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .sleeps = sleeps};
    pthread_t thread;
    double begin;

    if (pthread_create(&thread, NULL, answer, &p) != 0)
        exit(1);
    begin = now_us();
    for (unsigned i = 0; i < LAUNCHES; i++) {
        if (!sleeps) {
            atomic_store(&p.turn, 2 * i + 1);
            while (atomic_load(&p.turn) != 2 * i + 2)
                ;
            continue;
        }
        (void)pthread_mutex_lock(&p.lock);
        atomic_store(&p.turn, 2 * i + 1);
        (void)pthread_cond_broadcast(&p.changed);
        while (atomic_load(&p.turn) != 2 * i + 2)
            (void)pthread_cond_wait(&p.changed, &p.lock);
        (void)pthread_mutex_unlock(&p.lock);
    }
    begin = now_us() - begin;
    (void)pthread_join(thread, NULL);
    return begin / LAUNCHES;
}

/* ---------------------------------------------------------------- launches */

struct gpu {
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_module_handle_t module;
};

static struct gpu open_gpu(void)
{
    const ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_module_desc_t module = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                               .format = ZE_MODULE_FORMAT_NATIVE};
    static uint8_t image[1 << 20];
    struct gpu gpu = {0};
    ze_driver_handle_t driver = NULL;
    uint32_t count = 1;
    FILE *file = fopen(BENCH_KERNELS, "rb");

    if (!file)
        exit(1);
    module.inputSize = fread(image, 1, sizeof(image), file);
    module.pInputModule = image;
    (void)fclose(file);
    BENCH_CHECK(zeInit(ZE_INIT_FLAG_GPU_ONLY));
    BENCH_CHECK(zeDriverGet(&count, &driver));
    count = 1;
    BENCH_CHECK(zeDeviceGet(driver, &count, &gpu.device));
    BENCH_CHECK(zeContextCreate(driver, &context, &gpu.context));
    BENCH_CHECK(zeModuleCreate(gpu.context, gpu.device, &module, &gpu.module, NULL));
    return gpu;
}

static ze_kernel_handle_t make_kernel(const struct gpu *gpu)
{
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "empty"};
    ze_kernel_handle_t kernel = NULL;

    BENCH_CHECK(zeKernelCreate(gpu->module, &desc, &kernel));
    return kernel;
}

static ze_command_list_handle_t make_immediate(const struct gpu *gpu, ze_command_queue_mode_t mode)
{
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .flags = ZE_COMMAND_QUEUE_FLAG_IN_ORDER,
                                          .mode = mode};
    ze_command_list_handle_t list = NULL;

    BENCH_CHECK(zeCommandListCreateImmediate(gpu->context, gpu->device, &desc, &list));
    return list;
}

static ze_event_handle_t make_event(const struct gpu *gpu)
{
    const ze_event_counter_based_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC,
                                                .flags = ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE};
    ze_event_handle_t event = NULL;

    BENCH_CHECK(zeEventCounterBasedCreate(gpu->context, gpu->device, &desc, &event));
    return event;
}

enum way { WAY_REGULAR, WAY_SYNCHRONOUS, WAY_ASYNCHRONOUS, WAY_EVENT, WAY_COUNT };

static const char *const way_names[WAY_COUNT] = {
    [WAY_REGULAR] = "regular list again, queue synchronize",
    [WAY_SYNCHRONOUS] = "immediate synchronous list",
    [WAY_ASYNCHRONOUS] = "immediate list, host synchronize",
    [WAY_EVENT] = "immediate list, event synchronize",
};

static double latency_us(const struct gpu *gpu, enum way way)
{
    const ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    const ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    const ze_group_count_t one = {1, 1, 1};
    ze_kernel_handle_t kernel = make_kernel(gpu);
    ze_event_handle_t event = make_event(gpu);
    ze_command_list_handle_t list = NULL;
    ze_command_queue_handle_t queue = NULL;

    if (way == WAY_REGULAR) {
        BENCH_CHECK(zeCommandQueueCreate(gpu->context, gpu->device, &queue_desc, &queue));
        BENCH_CHECK(zeCommandListCreate(gpu->context, gpu->device, &list_desc, &list));
        BENCH_CHECK(zeCommandListAppendLaunchKernel(list, kernel, &one, NULL, 0, NULL));
        BENCH_CHECK(zeCommandListClose(list));
    } else {
        list = make_immediate(gpu, way == WAY_SYNCHRONOUS ? ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS
                                                          : ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    }
    double begin = now_us();
    for (unsigned i = 0; i < LAUNCHES; i++) {
        if (way == WAY_REGULAR) {
            BENCH_CHECK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
            BENCH_CHECK(zeCommandQueueSynchronize(queue, UINT64_MAX));
            continue;
        }
        BENCH_CHECK(zeCommandListAppendLaunchKernel(list, kernel, &one,
                                                    way == WAY_EVENT ? event : NULL, 0, NULL));
        if (way == WAY_ASYNCHRONOUS)
            BENCH_CHECK(zeCommandListHostSynchronize(list, UINT64_MAX));
        else if (way == WAY_EVENT)
            BENCH_CHECK(zeEventHostSynchronize(event, UINT64_MAX));
    }
    begin = (now_us() - begin) / LAUNCHES;
    BENCH_CHECK(zeCommandListDestroy(list));
    if (queue)
        BENCH_CHECK(zeCommandQueueDestroy(queue));
    BENCH_CHECK(zeEventDestroy(event));
    BENCH_CHECK(zeKernelDestroy(kernel));
    return begin;
}

struct job {
    const struct gpu *gpu;
    bool events;
};

/* Launches in batches on a list of its own; with events each waits for the one before. */
static void *launch_many(void *argument)
{
    const struct job *job = argument;
    const ze_group_count_t one = {1, 1, 1};
    ze_kernel_handle_t kernel = make_kernel(job->gpu);
    ze_event_handle_t event = make_event(job->gpu);
    ze_command_list_handle_t list = make_immediate(job->gpu, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);

    for (unsigned i = 0; i < LAUNCHES; i++) {
        bool wait = job->events && i > 0;

        BENCH_CHECK(zeCommandListAppendLaunchKernel(list, kernel, &one, job->events ? event : NULL,
                                                    wait ? 1 : 0, wait ? &event : NULL));
        if ((i + 1) % BATCH == 0)
            BENCH_CHECK(zeCommandListHostSynchronize(list, UINT64_MAX));
    }
    BENCH_CHECK(zeCommandListHostSynchronize(list, UINT64_MAX));
    BENCH_CHECK(zeCommandListDestroy(list));
    BENCH_CHECK(zeEventDestroy(event));
    BENCH_CHECK(zeKernelDestroy(kernel));
    return NULL;
}

static double launches_per_s(const struct gpu *gpu, unsigned threads, bool events)
{
    struct job job = {.gpu = gpu, .events = events};
    pthread_t others[MOST_THREADS];
    double begin = now_us();

    for (unsigned i = 0; i < threads; i++) {
        if (pthread_create(&others[i], NULL, launch_many, &job) != 0)
            exit(1);
    }
    for (unsigned i = 0; i < threads; i++)
        (void)pthread_join(others[i], NULL);
    return threads * LAUNCHES / (now_us() - begin) * 1e6;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

int main(void)
{
    struct gpu gpu;
    double sleeping = 1e12;
    double looking = 1e12;
    double best[WAY_COUNT];

    bench_use_virtual_gpu();
    bench_begin("launches of an empty kernel: append or execute, and wait; best of 7 rounds", NULL);
    gpu = open_gpu();
    for (int way = 0; way < WAY_COUNT; way++)
        best[way] = 1e12;
    for (unsigned round = 0; round < ROUNDS; round++) {
        sleeping = least(sleeping, hand_over_us(true));
        if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
            looking = least(looking, hand_over_us(false));
        for (int way = 0; way < WAY_COUNT; way++)
            best[way] = least(best[way], latency_us(&gpu, (enum way)way));
    }
    for (int way = 0; way < WAY_COUNT; way++)
        (void)printf("  %-40s %8.2f us\n", way_names[way], best[way]);
    (void)printf("  %-40s %8.2f us\n", "floor: two threads wake each other", sleeping);
    if (looking < 1e12)
        (void)printf("  %-40s %8.2f us\n", "floor: two threads look at a word", looking);
    (void)printf("  throughput, batches of %u\n", BATCH);
    for (unsigned threads = 1; threads <= MOST_THREADS; threads *= 2) {
        double plain = 0;
        double ordered = 0;

        for (unsigned round = 0; round < 3; round++) {
            double one = launches_per_s(&gpu, threads, false);
            double two = launches_per_s(&gpu, threads, true);

            plain = one > plain ? one : plain;
            ordered = two > ordered ? two : ordered;
        }
        (void)printf("    %u threads: %9.0f /s, each waiting for an event %9.0f /s\n", threads,
                     plain, ordered);
    }
    BENCH_CHECK(zeModuleDestroy(gpu.module));
    BENCH_CHECK(zeContextDestroy(gpu.context));
    return 0;
}
