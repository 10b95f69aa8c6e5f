/*
 * An application that knows only its loader: loader_client SCENARIO.
 *
 * It is linked to the stand-in; with the installed loader preloaded the same calls go there, so all
 * but the scenarios that say otherwise keep to API 1.4. Status 0: everything was as it should be.
 * Nothing here or below may write to standard output.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <level_zero/ze_ddi.h>
#include <level_zero/zet_ddi.h>

#include "client.h"
#include "standin.h"

#define MANY 8u
#define BYTES 4096u

/* Objects on the first device of a driver. */
struct bed {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
    ze_event_handle_t never; /* nobody signals it */
    ze_command_list_handle_t list;
};

static void pause_ms(long ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    (void)nanosleep(&time, NULL);
}

static const struct standin_counters *counters(void)
{
    const struct standin_counters *found = dlsym(RTLD_DEFAULT, "standin_counters");

    NEED(found);
    return found;
}

/* Number of drivers that the test expects. */
static uint32_t expected_drivers(void)
{
    const char *text = getenv("CLIENT_DRIVERS");

    return text ? (uint32_t)strtoul(text, NULL, 10) : 1;
}

static uint32_t find_drivers(ze_driver_handle_t drivers[MANY])
{
    uint32_t count = MANY;

    NEED_OK(zeInit(0));
    NEED_OK(zeDriverGet(&count, drivers));
    NEED(count == expected_drivers());
    return count;
}

static ze_event_handle_t make_event(ze_event_pool_handle_t pool, uint32_t index)
{
    const ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = index};
    ze_event_handle_t event = NULL;

    NEED_OK(zeEventCreate(pool, &desc, &event));
    return event;
}

static void open_bed(struct bed *bed, ze_driver_handle_t driver)
{
    const ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_event_pool_desc_t pool = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                       .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                       .count = 2};
    const ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                           .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    uint32_t count = 1;

    *bed = (struct bed){.driver = driver};
    NEED_OK(zeDeviceGet(driver, &count, &bed->device));
    NEED(count == 1);
    NEED_OK(zeContextCreate(driver, &context, &bed->context));
    NEED_OK(zeEventPoolCreate(bed->context, &pool, 1, &bed->device, &bed->pool));
    bed->event = make_event(bed->pool, 0);
    bed->never = make_event(bed->pool, 1);
    NEED_OK(zeCommandListCreateImmediate(bed->context, bed->device, &queue, &bed->list));
}

static void close_bed(struct bed *bed)
{
    NEED_OK(zeCommandListDestroy(bed->list));
    NEED_OK(zeEventDestroy(bed->never));
    NEED_OK(zeEventDestroy(bed->event));
    NEED_OK(zeEventPoolDestroy(bed->pool));
    NEED_OK(zeContextDestroy(bed->context));
}

/* A group of the device that can be streamed. */
static zet_metric_group_handle_t find_group(const struct bed *bed)
{
    zet_metric_group_handle_t groups[64];
    uint32_t count = 64;

    NEED_OK(zetMetricGroupGet(bed->device, &count, groups));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t properties = {.stype =
                                                        ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};

        NEED_OK(zetMetricGroupGetProperties(groups[i], &properties));
        if (properties.samplingType == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED)
            return groups[i];
    }
    NEED(!"a group that can be streamed");
    return NULL;
}

static zet_metric_streamer_handle_t open_stream(const struct bed *bed,
                                                zet_metric_group_handle_t *group)
{
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .notifyEveryNReports = 2,
                                       .samplingPeriod = 100000};
    zet_metric_streamer_handle_t streamer = NULL;

    *group = find_group(bed);
    NEED_OK(zetContextActivateMetricGroups(bed->context, bed->device, 1, group));
    NEED_OK(zetMetricStreamerOpen(bed->context, bed->device, *group, &desc, bed->event, &streamer));
    return streamer;
}

static void scenario_init(void)
{
    ze_driver_handle_t first[MANY] = {0};
    uint32_t count = find_drivers(first);

    for (uint32_t i = 0; i < 6; i++) {
        ze_driver_handle_t again[MANY] = {0};
        ze_device_handle_t device[2] = {0};
        uint32_t one = 1;

        NEED(find_drivers(again) == count);
        NEED(memcmp(first, again, sizeof(first)) == 0);
        NEED_OK(zeInit(ZE_INIT_FLAG_GPU_ONLY));
        NEED_OK(zeDeviceGet(first[0], &one, &device[0]));
        NEED_OK(zeDeviceGet(first[0], &one, &device[1]));
        NEED(device[0] == device[1]);
    }
}

static void *init_here(void *out_driver)
{
    ze_driver_handle_t drivers[MANY] = {0};

    (void)find_drivers(drivers);
    *(ze_driver_handle_t *)out_driver = drivers[0];
    return NULL;
}

static void scenario_init_threads(void)
{
    ze_driver_handle_t drivers[MANY] = {0};
    pthread_t threads[MANY];

    for (uint32_t i = 0; i < MANY; i++)
        NEED(pthread_create(&threads[i], NULL, init_here, &drivers[i]) == 0);
    for (uint32_t i = 0; i < MANY; i++) {
        NEED(pthread_join(threads[i], NULL) == 0);
        NEED(drivers[i] == drivers[0]);
    }
}

/* Memory filled and copied on the device, with an event in between. */
static void copy(const struct bed *bed)
{
    const ze_device_mem_alloc_desc_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    ze_memory_allocation_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    ze_device_handle_t owner = NULL;
    ze_event_handle_t event = bed->event;
    const uint8_t pattern = 0x5a;
    void *from = NULL;
    uint8_t *to = NULL;

    NEED_OK(zeMemAllocDevice(bed->context, &device, BYTES, 0, bed->device, &from));
    NEED_OK(zeMemAllocShared(bed->context, &device, &host, BYTES, 0, bed->device, (void **)&to));
    NEED_OK(zeMemGetAllocProperties(bed->context, from, &properties, &owner));
    NEED(properties.type == ZE_MEMORY_TYPE_DEVICE && owner == bed->device);
    NEED_OK(zeCommandListAppendMemoryFill(bed->list, from, &pattern, 1, BYTES, event, 0, NULL));
    NEED_OK(zeCommandListAppendMemoryCopy(bed->list, to, from, BYTES, bed->never, 1, &event));
    NEED_OK(zeEventHostSynchronize(bed->never, UINT64_MAX));
    for (uint32_t i = 0; i < BYTES; i++)
        NEED(to[i] == pattern);
    NEED_OK(zeEventHostReset(bed->event));
    NEED_OK(zeEventHostReset(bed->never));
    NEED_OK(zeMemFree(bed->context, to));
    NEED_OK(zeMemFree(bed->context, from));
}

/* Reports of a stream, from the event to values. */
static void sample(const struct bed *bed)
{
    zet_metric_group_handle_t group = NULL;
    zet_metric_streamer_handle_t streamer = open_stream(bed, &group);
    zet_typed_value_t *values;
    uint8_t raw[65536];
    size_t size = sizeof(raw);
    uint32_t count = 0;

    NEED_OK(zeEventHostSynchronize(bed->event, UINT64_MAX));
    NEED_OK(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, raw));
    NEED(size > 0);
    NEED_OK(zetMetricGroupCalculateMetricValues(
        group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, size, raw, &count, NULL));
    values = calloc(count, sizeof(*values));
    NEED(count > 0 && values);
    NEED_OK(zetMetricGroupCalculateMetricValues(
        group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, size, raw, &count, values));
    NEED(count > 0);
    free(values);
    NEED_OK(zetMetricStreamerClose(streamer));
    NEED_OK(zetContextActivateMetricGroups(bed->context, bed->device, 0, NULL));
}

static void scenario_use(void)
{
    ze_driver_handle_t drivers[MANY] = {0};
    uint32_t count = find_drivers(drivers);
    struct bed beds[MANY];

    /* All drivers at once, not one after the other. */
    for (uint32_t i = 0; i < count; i++)
        open_bed(&beds[i], drivers[i]);
    for (uint32_t i = 0; i < count; i++)
        copy(&beds[i]);
    for (uint32_t i = 0; i < count; i++)
        sample(&beds[i]);
    for (uint32_t i = 0; i < count; i++)
        close_bed(&beds[i]);
}

struct busy {
    struct bed bed;
    zet_metric_streamer_handle_t streamer;
};

/* Calls until the end of the process; after that only UNINITIALIZED may come, and no crash. */
static void *call_on(void *argument)
{
    const struct busy *busy = argument;

    for (;;) {
        static _Thread_local uint8_t raw[65536];
        size_t size = sizeof(raw);

        (void)zeEventQueryStatus(busy->bed.event);
        (void)zetMetricStreamerReadData(busy->streamer, UINT32_MAX, &size, raw);
        (void)zeDeviceGetStatus(busy->bed.device);
    }
    return NULL;
}

static void *wait_on(void *argument)
{
    const struct busy *busy = argument;

    (void)zeEventHostSynchronize(busy->bed.never, UINT64_MAX);
    return NULL;
}

/* Threads of the application and of the library work on while the process ends. */
static void scenario_teardown(void)
{
    static struct busy busy[MANY];
    ze_driver_handle_t drivers[MANY] = {0};
    uint32_t count = find_drivers(drivers);

    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_handle_t group;
        pthread_t thread;

        open_bed(&busy[i].bed, drivers[i]);
        /* Two copies of a driver see one device, which has one stream at a time. */
        if (i == 0)
            busy[i].streamer = open_stream(&busy[i].bed, &group);
        NEED_OK(zeCommandListAppendBarrier(busy[i].bed.list, NULL, 1, &busy[i].bed.never));
        NEED(pthread_create(&thread, NULL, call_on, &busy[i]) == 0);
        NEED(pthread_create(&thread, NULL, call_on, &busy[i]) == 0);
        NEED(pthread_create(&thread, NULL, wait_on, &busy[i]) == 0);
    }
    pause_ms(30);
}

static void scenario_fork(void)
{
    ze_driver_handle_t drivers[MANY] = {0};
    uint32_t count = find_drivers(drivers);
    struct bed bed;
    int status = 0;
    pid_t child;

    open_bed(&bed, drivers[0]);
    child = fork();
    NEED(child >= 0);
    if (child == 0) {
        ze_driver_handle_t fresh[MANY] = {0};
        struct bed again;

        (void)alarm(600);
        NEED_RESULT(ZE_RESULT_ERROR_UNINITIALIZED, zeEventQueryStatus(bed.event));
        NEED(find_drivers(fresh) == count);
        NEED(fresh[0] != drivers[0]);
        open_bed(&again, fresh[0]);
        copy(&again);
        close_bed(&again);
        _exit(0);
    }
    NEED(waitpid(child, &status, 0) == child);
    NEED(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    copy(&bed);
    close_bed(&bed);
}

/* API 1.10: only through a loader that has it. */
static void scenario_init_drivers(void)
{
    ze_init_driver_type_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC,
                                       .flags = UINT32_MAX};
    ze_driver_handle_t first[MANY] = {0};
    ze_driver_handle_t second[MANY] = {0};
    uint32_t count = 0;

    NEED_OK(zeInitDrivers(&count, NULL, &desc));
    NEED(count == expected_drivers());
    NEED_OK(zeInitDrivers(&count, first, &desc));
    desc.flags = ZE_INIT_DRIVER_TYPE_FLAG_GPU;
    NEED_OK(zeInitDrivers(&count, second, &desc));
    NEED(count == expected_drivers() && memcmp(first, second, sizeof(first)) == 0);
    desc.flags = ZE_INIT_DRIVER_TYPE_FLAG_NPU;
    NEED_OK(zeInitDrivers(&count, NULL, &desc));
    NEED(count == 0);
    /* A second library of the process that initialises in the older way. */
    NEED(find_drivers(second) == expected_drivers());
    NEED(memcmp(first, second, sizeof(first)) == 0);
    NEED(counters()->getters_failed == 0);
    /* Each way to initialise asked for all tables: 32 ze, 19 zet, 24 zes, 1 zer. */
    NEED(counters()->tables_requested == 2 * 76 * expected_drivers());
}

/* No driver that can be used: the test says by the result why. */
static void scenario_refused(void)
{
    const char *wanted = getenv("CLIENT_RESULT");
    uint32_t count = 0;

    NEED(wanted);
    for (int i = 0; i < 2; i++)
        NEED_RESULT(strtoul(wanted, NULL, 16), zeInit(0));
    NEED_RESULT(ZE_RESULT_ERROR_UNINITIALIZED, zeDriverGet(&count, NULL));
}

/* What the stand-in checks at each call of a driver whose handles begin with tables. */
static void scenario_validity(void)
{
    ze_driver_handle_t drivers[MANY] = {0};
    ze_device_handle_t root = NULL;
    struct bed bed;

    (void)find_drivers(drivers);
    NEED(counters()->drivers_ddi == 1);
    open_bed(&bed, drivers[0]);
    ze_dditable_driver_t *set = *(ze_dditable_driver_t **)bed.device;
    NEED_OK(zeDeviceGetRootDevice(bed.device, &root));
    set->version = ZE_API_VERSION_1_6;
    NEED_RESULT(ZE_RESULT_ERROR_UNSUPPORTED_VERSION, zeDeviceGetRootDevice(bed.device, &root));
    NEED_OK(zeDeviceGetStatus(bed.device));
    set->version = ZE_API_VERSION_1_17;
    set->isValidFlag = 0;
    NEED_RESULT(ZE_RESULT_ERROR_UNINITIALIZED, zeDeviceGetStatus(bed.device));
    set->isValidFlag = 1;
    close_bed(&bed);
    NEED(counters()->objects_made == 0 && counters()->calls_wrapped == 0);
    NEED(counters()->calls_by_handle > 0);
}

/* Two arrays reach the driver with objects of the loader in them. */
static void scenario_untranslated(void)
{
    ze_driver_handle_t drivers[MANY] = {0};
    zet_metric_group_handle_t group, made[2];
    uint32_t counts[2] = {0};
    uint32_t count = 2;
    zet_metric_handle_t metric = NULL;
    ze_pfnDeviceGetStatus_t get_status;
    void *address = NULL;
    struct bed bed;

    (void)find_drivers(drivers);
    open_bed(&bed, drivers[0]);
    NEED(counters()->calls_wrapped > 0);
    group = find_group(&bed);
    NEED_RESULT(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                zetDeviceGetConcurrentMetricGroupsExp(bed.device, 1, &group, counts, &count));
    count = 1;
    NEED_OK(zetMetricGet(group, &count, &metric));
    count = 2;
    NEED_RESULT(
        ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
        zetDeviceCreateMetricGroupsFromMetricsExp(bed.device, 1, &metric, "a", "b", &count, made));
    /* So does everything that is found by its name. */
    NEED_OK(zeDriverGetExtensionFunctionAddress(bed.driver, "zeDeviceGetStatus", &address));
    memcpy(&get_status, &address, sizeof(get_status));
    NEED_RESULT(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, get_status(bed.device));
    close_bed(&bed);
}

/* Objects of the loader go when what they stand for goes. */
static void scenario_objects(void)
{
    ze_driver_handle_t drivers[MANY] = {0};
    uint64_t live = 0;
    struct bed bed;

    (void)find_drivers(drivers);
    for (int i = 0; i < 10; i++) {
        open_bed(&bed, drivers[0]);
        close_bed(&bed);
        NEED(i == 0 || counters()->objects_live == live);
        live = counters()->objects_live;
    }
    NEED(counters()->objects_made > 10 * 5);
}

/* The other driver comes first in the list, and is no GPU. */
static void scenario_mixed(void)
{
    const bool sorted = !getenv("ZET_ENABLE_PROGRAM_INSTRUMENTATION");
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_driver_handle_t drivers[MANY] = {0};
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ze_device_handle_t device = NULL;
    ze_context_handle_t context = NULL;
    uint32_t count = 1;
    struct bed bed;

    (void)find_drivers(drivers);
    NEED_OK(zeDeviceGet(drivers[sorted ? 1 : 0], &count, &device));
    NEED_OK(zeDeviceGetProperties(device, &properties));
    NEED(strcmp(properties.name, "other driver") == 0);
    NEED(counters()->drivers_ddi == 1);
    NEED_OK(zeContextCreate(drivers[sorted ? 1 : 0], &desc, &context));
    /* A function that this driver lacks. */
    NEED_RESULT(ZE_RESULT_ERROR_UNINITIALIZED, zeDeviceGetStatus(device));
    NEED_OK(zeContextDestroy(context));
    open_bed(&bed, drivers[sorted ? 0 : 1]);
    copy(&bed);
    sample(&bed);
    close_bed(&bed);
}

static const struct {
    const char *name;
    void (*run)(void);
} scenarios[] = {
    {"init", scenario_init},
    {"init_threads", scenario_init_threads},
    {"use", scenario_use},
    {"teardown", scenario_teardown},
    {"fork", scenario_fork},
    {"init_drivers", scenario_init_drivers},
    {"refused", scenario_refused},
    {"validity", scenario_validity},
    {"untranslated", scenario_untranslated},
    {"objects", scenario_objects},
    {"mixed", scenario_mixed},
};

int main(int argc, char **argv)
{
    (void)alarm(600);
    for (size_t i = 0; argc == 2 && i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
        if (strcmp(argv[1], scenarios[i].name) == 0) {
            scenarios[i].run();
            return 0;
        }
    }
    (void)fprintf(stderr, "loader_client: no scenario %s\n", argc == 2 ? argv[1] : "given");
    return 2;
}
