/*
 * Cost of API tracing: of looking whether somebody listens, and of tracers with empty callbacks.
 *
 * The call is zeEventQueryStatus, by 1, 2 and 4 threads, directly and through the installed loader.
 * The peer is that loader's own tracing layer, in the same run; layers are chosen at init, so each
 * way of a call has a process of its own. Times are processor time of the calling thread, so that
 * more threads than processors, and other users of the machine, disturb little.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <level_zero/ze_api.h>
#include <level_zero/zet_api.h>

#include "core/object/object.h"
#include "core/util/cleanup.h"
#include "tests/bench/bench.h"
#include "zeta_impl.h"

#define CALLS 400000u
#define ROUNDS 9u
#define MOST_THREADS 4u
#define MOST_TRACERS 5u

/* The functions that this program calls, found in one library. */
struct api {
    ze_result_t (*init)(ze_init_flags_t);
    ze_result_t (*driver_get)(uint32_t *, ze_driver_handle_t *);
    ze_result_t (*context_create)(ze_driver_handle_t, const ze_context_desc_t *,
                                  ze_context_handle_t *);
    ze_result_t (*pool_create)(ze_context_handle_t, const ze_event_pool_desc_t *, uint32_t,
                               ze_device_handle_t *, ze_event_pool_handle_t *);
    ze_result_t (*event_create)(ze_event_pool_handle_t, const ze_event_desc_t *,
                                ze_event_handle_t *);
    ze_result_t (*event_query)(ze_event_handle_t);
    /* Tracers of the driver, and of the loader's layer. */
    ze_result_t (*tracer_create)(zet_context_handle_t, const zet_tracer_exp_desc_t *,
                                 zet_tracer_exp_handle_t *);
    ze_result_t (*layer_create)(const zet_tracer_exp_desc_t *, zet_tracer_exp_handle_t *);
    ze_result_t (*set_prologues)(zet_tracer_exp_handle_t, zet_core_callbacks_t *);
    ze_result_t (*set_epilogues)(zet_tracer_exp_handle_t, zet_core_callbacks_t *);
    ze_result_t (*set_enabled)(zet_tracer_exp_handle_t, ze_bool_t);
};

struct bed {
    struct api api;
    ze_context_handle_t context;
    ze_event_handle_t event;
};

static void find(void *library, const char *name, void *target)
{
    void *symbol = dlsym(library, name);

    if (!symbol) {
        (void)fprintf(stderr, "bench_trace: %s\n", dlerror());
        exit(1);
    }
    memcpy(target, &symbol, sizeof(symbol));
}

static void check(ze_result_t result, const char *what)
{
    if (result == ZE_RESULT_SUCCESS)
        return;
    (void)fprintf(stderr, "bench_trace: %s gives 0x%x\n", what, (unsigned)result);
    exit(1);
}

static void find_tracers(void *library, bool layer, struct api *api)
{
    if (layer) {
        find(library, "zelTracerCreate", (void *)&api->layer_create);
        find(library, "zelTracerSetPrologues", (void *)&api->set_prologues);
        find(library, "zelTracerSetEpilogues", (void *)&api->set_epilogues);
        find(library, "zelTracerSetEnabled", (void *)&api->set_enabled);
    } else {
        find(library, "zetTracerExpCreate", (void *)&api->tracer_create);
        find(library, "zetTracerExpSetPrologues", (void *)&api->set_prologues);
        find(library, "zetTracerExpSetEpilogues", (void *)&api->set_epilogues);
        find(library, "zetTracerExpSetEnabled", (void *)&api->set_enabled);
    }
}

static void make_event(struct bed *bed)
{
    const ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                            .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                            .count = 1};
    const ze_event_desc_t event_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    const ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_event_pool_handle_t pool = NULL;
    ze_driver_handle_t driver = NULL;
    uint32_t count = 1;

    check(bed->api.init(0), "zeInit");
    check(bed->api.driver_get(&count, &driver), "zeDriverGet");
    check(bed->api.context_create(driver, &context_desc, &bed->context), "zeContextCreate");
    check(bed->api.pool_create(bed->context, &pool_desc, 0, NULL, &pool), "zeEventPoolCreate");
    check(bed->api.event_create(pool, &event_desc, &bed->event), "zeEventCreate");
}

static struct bed open_bed(const char *path, bool layer)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    struct bed bed = {0};

    if (!library) {
        (void)fprintf(stderr, "bench_trace: %s\n", dlerror());
        exit(1);
    }
    find(library, "zeInit", (void *)&bed.api.init);
    find(library, "zeDriverGet", (void *)&bed.api.driver_get);
    find(library, "zeContextCreate", (void *)&bed.api.context_create);
    find(library, "zeEventPoolCreate", (void *)&bed.api.pool_create);
    find(library, "zeEventCreate", (void *)&bed.api.event_create);
    find(library, "zeEventQueryStatus", (void *)&bed.api.event_query);
    find_tracers(library, layer, &bed.api);
    make_event(&bed);
    return bed;
}

/* ---- tracers with empty callbacks ---------------------------------------------------------- */

static void empty(ze_event_query_status_params_t *params, ze_result_t result, void *user,
                  void **instance)
{
    (void)params;
    (void)result;
    (void)user;
    (void)instance;
}

static void add_tracer(struct bed *bed)
{
    const zet_tracer_exp_desc_t desc = {
        .stype =
            bed->api.layer_create ? (zet_structure_type_t)1 : ZET_STRUCTURE_TYPE_TRACER_EXP_DESC,
        .pUserData = bed,
    };
    zet_core_callbacks_t callbacks = {.Event = {.pfnQueryStatusCb = empty}};
    zet_tracer_exp_handle_t tracer = NULL;

    if (bed->api.layer_create)
        check(bed->api.layer_create(&desc, &tracer), "zelTracerCreate");
    else
        check(bed->api.tracer_create(bed->context, &desc, &tracer), "zetTracerExpCreate");
    check(bed->api.set_prologues(tracer, &callbacks), "setting prologues");
    check(bed->api.set_epilogues(tracer, &callbacks), "setting epilogues");
    check(bed->api.set_enabled(tracer, 1), "enabling a tracer");
}

/* ---- measuring ----------------------------------------------------------------------------- */

struct worker {
    pthread_t thread;
    ze_result_t (*query)(ze_event_handle_t);
    ze_event_handle_t event;
    pthread_barrier_t *start;
    double best_ns;
};

static double thread_ns(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Best of several rounds, each begun by all threads together. */
static void *work(void *argument)
{
    struct worker *worker = argument;

    worker->best_ns = 1e9;
    for (unsigned round = 0; round < ROUNDS; round++) {
        (void)pthread_barrier_wait(worker->start);
        double begin = thread_ns();
        for (unsigned i = 0; i < CALLS; i++)
            (void)worker->query(worker->event);
        double each = (thread_ns() - begin) / CALLS;
        if (each < worker->best_ns)
            worker->best_ns = each;
    }
    return NULL;
}

/* Nanoseconds of a call, the mean of the threads. */
static double measure(ze_result_t (*query)(ze_event_handle_t), ze_event_handle_t event,
                      unsigned threads)
{
    struct worker workers[MOST_THREADS];
    pthread_barrier_t start;
    double sum = 0;

    (void)pthread_barrier_init(&start, NULL, threads);
    for (unsigned i = 0; i < threads; i++) {
        workers[i] = (struct worker){.query = query, .event = event, .start = &start};
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            exit(1);
    }
    for (unsigned i = 0; i < threads; i++) {
        (void)pthread_join(workers[i].thread, NULL);
        sum += workers[i].best_ns;
    }
    (void)pthread_barrier_destroy(&start);
    return sum / threads;
}

static void measure_way(const char *label, const char *path, bool layer)
{
    static const unsigned threads[] = {1, 2, 4};
    struct bed bed = open_bed(path, layer);
    double ns[MOST_TRACERS + 1][3];

    for (unsigned tracers = 0; tracers <= MOST_TRACERS; tracers++) {
        if (tracers > 0)
            add_tracer(&bed);
        for (unsigned i = 0; i < 3; i++)
            ns[tracers][i] = measure(bed.api.event_query, bed.event, threads[i]);
    }
    for (unsigned i = 0; i < 3; i++)
        (void)printf("%-32s %u thread%s  no tracer %6.1f ns   one tracer + %5.1f ns   "
                     "each further + %5.1f ns\n",
                     label, threads[i], threads[i] == 1 ? " " : "s", ns[0][i], ns[1][i] - ns[0][i],
                     (ns[MOST_TRACERS][i] - ns[1][i]) / (MOST_TRACERS - 1));
    (void)fflush(stdout);
}

/* ---- nobody listens ------------------------------------------------------------------------ */

/* The entry as it would be without tracing: the same check in front of the same implementation. */
ZETA_NOINLINE static ze_result_t entry_without_tracing(ze_event_handle_t event)
{
    if (!zeta_object_is(event, ZETA_KIND_EVENT))
        return zeta_object_explain(event, ZETA_KIND_EVENT, "zeEventQueryStatus", "hEvent");
    return impl_zeEventQueryStatus(event);
}

static void measure_untraced(void)
{
    struct bed bed = {.api = {.init = zeInit,
                              .driver_get = zeDriverGet,
                              .context_create = zeContextCreate,
                              .pool_create = zeEventPoolCreate,
                              .event_create = zeEventCreate}};
    double with = 1e9, without = 1e9;

    make_event(&bed);
    for (unsigned i = 0; i < 5; i++) {
        double once = measure(entry_zeEventQueryStatus, bed.event, 1);
        with = once < with ? once : with;
        once = measure(entry_without_tracing, bed.event, 1);
        without = once < without ? once : without;
    }
    (void)printf("entry without tracing %.2f ns, with tracing and no tracer %.2f ns: + %.2f ns\n",
                 without, with, with - without);
    (void)fflush(stdout);
}

/* ---- one process for each way -------------------------------------------------------------- */

static int run(const char *way, const char *variable)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        if (variable)
            (void)setenv(variable, "1", 1);
        (void)execl("/proc/self/exe", "bench_trace", way, (char *)NULL);
        _exit(127);
    }
    (void)waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
    static const char zeta[] = ZETA_BUILD_DIR "/lib/libzeta.so.0";
    static const char loader[] = "libze_loader.so.1";
    const char *way = argc > 1 ? argv[1] : "";

    (void)setenv("ZE_ENABLE_ALT_DRIVERS", zeta, 1);
    if (strcmp(way, "untraced") == 0) {
        measure_untraced();
    } else if (strcmp(way, "directly") == 0) {
        measure_way("directly", zeta, false);
    } else if (strcmp(way, "loader") == 0) {
        measure_way("through the loader", loader, false);
    } else if (strcmp(way, "layer") == 0) {
        measure_way("peer: the loader's tracing layer", loader, true);
    } else {
        int failed = 0;

        bench_begin("tracing of calls: nanoseconds, best round",
                    "no tracer + <= 1 ns; one with empty callbacks <= 30 ns, each more <= 15 ns, "
                    "linear with threads");
        failed = run("untraced", NULL) + run("directly", NULL);

        if (!dlopen(loader, RTLD_NOW | RTLD_LOCAL)) {
            (void)printf("no loader installed (package libze1): nothing to compare with\n");
            return failed != 0;
        }
        failed += run("loader", NULL) + run("layer", "ZE_ENABLE_TRACING_LAYER");
        return failed != 0;
    }
    return 0;
}
