/*
 * Cost of cheap validated calls: directly, and through the installed loader with one driver.
 *
 * The peer figure is the loader with its own parameter checks switched on, measured by running this
 * program again in a child (ZE_ENABLE_VALIDATION_LAYER is read at init).
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <level_zero/ze_api.h>
#include <level_zero/zet_api.h>

#define CALLS 2000000u
#define ROUNDS 7u

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

static double now_ns(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Best of several rounds, so that other users of the machine disturb little. */
#define MEASURE(result, statement)                                                                 \
    do {                                                                                           \
        (result) = 1e9;                                                                            \
        for (unsigned round = 0; round < ROUNDS; round++) {                                        \
            double start = now_ns();                                                               \
            for (unsigned i = 0; i < CALLS; i++)                                                   \
                statement;                                                                         \
            double each = (now_ns() - start) / CALLS;                                              \
            (result) = each < (result) ? each : (result);                                          \
        }                                                                                          \
    } while (0)

static void measure(const char *label, const struct api *api, const struct objects *objects)
{
    static zet_metric_group_properties_t properties;
    double query, status, group;

    MEASURE(query, (void)api->event_query(objects->event));
    MEASURE(status, (void)api->device_status(objects->device));
    MEASURE(group, (void)api->group_properties(objects->group, &properties));
    (void)printf("%-34s zeEventQueryStatus %5.1f ns  zeDeviceGetStatus %5.1f ns  "
                 "zetMetricGroupGetProperties %5.1f ns\n",
                 label, query, status, group);
    (void)fflush(stdout);
}

static void print_loader_version(void)
{
    char command[] = "dpkg-query -W -f='installed loader: ${Package} ${Version}\\n' libze1";

    (void)fflush(stdout);
    if (system(command) != 0) /* NOLINT(bugprone-command-processor,cert-env33-c): constant text */
        (void)printf("installed loader: version unknown\n");
}

static int measure_checked_loader(const char *self)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        (void)setenv("ZE_ENABLE_VALIDATION_LAYER", "1", 1);
        (void)setenv("ZE_ENABLE_PARAMETER_VALIDATION", "1", 1);
        (void)execl(self, self, "loader with its parameter checks", (char *)NULL);
        _exit(127);
    }
    (void)waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
    static const char zeta[] = ZETA_BUILD_DIR "/lib/libzeta.so.0";
    struct api loader, direct;
    struct objects objects;

    (void)setenv("ZE_ENABLE_ALT_DRIVERS", zeta, 1);
    (void)setenv("ZET_ENABLE_METRICS", "1", 1);
    if (argc > 1) {
        loader = open_api("libze_loader.so.1");
        objects = make_objects(&loader);
        measure(argv[1], &loader, &objects);
        return 0;
    }
    print_loader_version();
    direct = open_api(zeta);
    objects = make_objects(&direct);
    measure("directly", &direct, &objects);
    if (!dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL)) {
        (void)printf("no loader installed (package libze1): nothing to compare with\n");
        return 0;
    }
    loader = open_api("libze_loader.so.1");
    objects = make_objects(&loader);
    measure("through the loader", &loader, &objects);
    return measure_checked_loader("/proc/self/exe");
}
