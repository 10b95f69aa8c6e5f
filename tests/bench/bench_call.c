/*
 * Cost of cheap validated calls, by the way they take: directly, through the installed loader, with
 * that loader's own parameter checks, and through the stand-in for the newest loader in its modes.
 *
 * Each way is a process of its own, because loaders read their variables at init; all of them run
 * one after the other in one run. Figures are nanoseconds of processor time for each call of a
 * thread, best of several rounds, so that other users of the machine disturb little. The stand-in
 * counts calls that it looks at itself (the last two lines), with an atomic addition each.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <level_zero/ze_api.h>
#include <level_zero/zet_api.h>

#include "tests/bench/bench.h"

#define CALLS 1000000u
#define ROUNDS 7u
#define MOST_THREADS 4u

/* The functions that this program calls, found in one library. */
struct api {
    ze_result_t (*init)(ze_init_flags_t);
    ze_result_t (*driver_get)(uint32_t *, ze_driver_handle_t *);
    ze_result_t (*device_get)(ze_driver_handle_t, uint32_t *, ze_device_handle_t *);
    ze_result_t (*context_create)(ze_driver_handle_t, const ze_context_desc_t *,
                                  ze_context_handle_t *);
    ze_result_t (*pool_create)(ze_context_handle_t, const ze_event_pool_desc_t *, uint32_t,
                               ze_device_handle_t *, ze_event_pool_handle_t *);
    ze_result_t (*event_create)(ze_event_pool_handle_t, const ze_event_desc_t *,
                                ze_event_handle_t *);
    ze_result_t (*event_query)(ze_event_handle_t);
    ze_result_t (*device_status)(ze_device_handle_t);
    ze_result_t (*group_get)(zet_device_handle_t, uint32_t *, zet_metric_group_handle_t *);
    ze_result_t (*group_properties)(zet_metric_group_handle_t, zet_metric_group_properties_t *);
};

struct objects {
    ze_device_handle_t device;
    ze_event_handle_t event;
    zet_metric_group_handle_t group;
};

static void find(void *library, const char *name, void *target)
{
    void *symbol = dlsym(library, name);

    if (!symbol) {
        (void)fprintf(stderr, "bench_call: %s\n", dlerror());
        exit(1);
    }
    memcpy(target, &symbol, sizeof(symbol));
}

static struct api open_api(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    struct api api = {0};

    if (!library) {
        (void)fprintf(stderr, "bench_call: %s\n", dlerror());
        exit(1);
    }
    find(library, "zeInit", (void *)&api.init);
    find(library, "zeDriverGet", (void *)&api.driver_get);
    find(library, "zeDeviceGet", (void *)&api.device_get);
    find(library, "zeContextCreate", (void *)&api.context_create);
    find(library, "zeEventPoolCreate", (void *)&api.pool_create);
    find(library, "zeEventCreate", (void *)&api.event_create);
    find(library, "zeEventQueryStatus", (void *)&api.event_query);
    find(library, "zeDeviceGetStatus", (void *)&api.device_status);
    find(library, "zetMetricGroupGet", (void *)&api.group_get);
    find(library, "zetMetricGroupGetProperties", (void *)&api.group_properties);
    return api;
}

static void check(ze_result_t result, const char *what)
{
    if (result == ZE_RESULT_SUCCESS)
        return;
    (void)fprintf(stderr, "bench_call: %s gives 0x%x\n", what, (unsigned)result);
    exit(1);
}

static struct objects make_objects(const struct api *api)
{
    ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                      .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                      .count = 1};
    ze_event_desc_t event_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_event_pool_handle_t pool = NULL;
    ze_context_handle_t context = NULL;
    ze_driver_handle_t driver = NULL;
    struct objects objects = {0};
    uint32_t count = 1;

    check(api->init(0), "zeInit");
    check(api->driver_get(&count, &driver), "zeDriverGet");
    count = 1;
    check(api->device_get(driver, &count, &objects.device), "zeDeviceGet");
    check(api->context_create(driver, &context_desc, &context), "zeContextCreate");
    check(api->pool_create(context, &pool_desc, 0, NULL, &pool), "zeEventPoolCreate");
    check(api->event_create(pool, &event_desc, &objects.event), "zeEventCreate");
    count = 1;
    check(api->group_get(objects.device, &count, &objects.group), "zetMetricGroupGet");
    return objects;
}

/* What is measured. */
enum call { EVENT_QUERY, DEVICE_STATUS, GROUP_PROPERTIES, CALL_COUNT };

struct work {
    const struct api *api;
    const struct objects *objects;
    pthread_barrier_t *start;
    enum call call;
    double best_ns;
};

static double processor_ns(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void call_often(const struct work *work)
{
    zet_metric_group_properties_t properties;

    switch (work->call) {
    case EVENT_QUERY:
        for (unsigned i = 0; i < CALLS; i++)
            (void)work->api->event_query(work->objects->event);
        break;
    case DEVICE_STATUS:
        for (unsigned i = 0; i < CALLS; i++)
            (void)work->api->device_status(work->objects->device);
        break;
    default:
        properties = (zet_metric_group_properties_t){0};
        for (unsigned i = 0; i < CALLS; i++)
            (void)work->api->group_properties(work->objects->group, &properties);
    }
}

static void *measure_thread(void *argument)
{
    struct work *work = argument;

    work->best_ns = 1e9;
    for (unsigned round = 0; round < ROUNDS; round++) {
        double start, each;

        (void)pthread_barrier_wait(work->start);
        start = processor_ns();
        call_often(work);
        each = (processor_ns() - start) / CALLS;
        work->best_ns = each < work->best_ns ? each : work->best_ns;
    }
    return NULL;
}

/* Mean over the threads, which call at the same time and about the same objects. */
static double measure(const struct api *api, const struct objects *objects, enum call call,
                      unsigned threads)
{
    pthread_t ids[MOST_THREADS];
    struct work work[MOST_THREADS];
    pthread_barrier_t start;
    double sum = 0;

    (void)pthread_barrier_init(&start, NULL, threads);
    for (unsigned i = 0; i < threads; i++) {
        work[i] = (struct work){.api = api, .objects = objects, .start = &start, .call = call};
        check((ze_result_t)pthread_create(&ids[i], NULL, measure_thread, &work[i]), "a thread");
    }
    for (unsigned i = 0; i < threads; i++) {
        (void)pthread_join(ids[i], NULL);
        sum += work[i].best_ns;
    }
    (void)pthread_barrier_destroy(&start);
    return sum / threads;
}

/* One line: every call with 1, 2 and 4 threads. */
static int measure_way(const char *label, const char *library)
{
    struct api api = open_api(library);
    struct objects objects = make_objects(&api);

    (void)printf("%-36s", label);
    for (enum call call = 0; call < CALL_COUNT; call++) {
        (void)printf("   ");
        for (unsigned threads = 1; threads <= MOST_THREADS; threads *= 2)
            (void)printf(" %5.1f", measure(&api, &objects, call, threads));
    }
    (void)printf("\n");
    (void)fflush(stdout);
    return 0;
}

/* A way: label, library, variables. */
struct way {
    const char *label;
    const char *library;
    const char *variables[6]; /**< name, value, ... */
};

static const struct way ways[] = {
    {"directly", ZETA_BUILD_DIR "/lib/libzeta.so.0", {0}},
    {"through the installed loader", "libze_loader.so.1", {0}},
    {"  with its parameter checks",
     "libze_loader.so.1",
     {"ZE_ENABLE_VALIDATION_LAYER", "1", "ZE_ENABLE_PARAMETER_VALIDATION", "1"}},
    {"stand-in, one driver", STANDIN, {0}},
    {"stand-in, by the driver's handle", STANDIN, {"ZE_ENABLE_LOADER_INTERCEPT", "1"}},
    {"stand-in, handles wrapped",
     STANDIN,
     {"ZE_ENABLE_LOADER_INTERCEPT", "1", "ZE_ENABLE_LOADER_DRIVER_DDI_PATH", "0"}},
};

static int run_way(const struct way *way)
{
    pid_t child;
    int status = 0;

    (void)fflush(stdout);
    child = fork();
    if (child == 0) {
        for (size_t i = 0; i < 6 && way->variables[i]; i += 2)
            (void)setenv(way->variables[i], way->variables[i + 1], 1);
        (void)execl("/proc/self/exe", "bench_call", way->label, way->library, (char *)NULL);
        _exit(127);
    }
    (void)waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void print_loader_version(void)
{
    char command[] = "dpkg-query -W -f='installed loader: ${Package} ${Version}\\n' libze1";

    (void)fflush(stdout);
    if (system(command) != 0) /* NOLINT(bugprone-command-processor,cert-env33-c): constant text */
        (void)printf("installed loader: version unknown\n");
}

int main(int argc, char **argv)
{
    int status = 0;

    (void)setenv("ZE_ENABLE_ALT_DRIVERS", ZETA_BUILD_DIR "/lib/libzeta.so.0", 1);
    (void)setenv("ZET_ENABLE_METRICS", "1", 1);
    if (argc == 3)
        return measure_way(argv[1], argv[2]);
    bench_begin("calls through the ways there are: nanoseconds, best round",
                "zeEventQueryStatus, zeDeviceGetStatus through the loader <= 8 ns, "
                "zetMetricGroupGetProperties <= 25 ns");
    print_loader_version();
    (void)printf("%-36s    %-18s    %-18s    %s\n", "ns for each call", "zeEventQueryStatus",
                 "zeDeviceGetStatus", "zetMetricGroupGetProperties");
    (void)printf("%-36s   ", "threads");
    for (enum call call = 0; call < CALL_COUNT; call++)
        (void)printf(" %5d %5d %5d   ", 1, 2, 4);
    (void)printf("\n");
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]) && status == 0; i++) {
        void *library = dlopen(ways[i].library, RTLD_NOW | RTLD_LOCAL);

        if (library)
            status = run_way(&ways[i]);
        else
            (void)printf("%-36s    not installed\n", ways[i].label);
    }
    return status;
}
