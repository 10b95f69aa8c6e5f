/*
 * Calls one family of functions many times and looks whether the process grew.
 *
 *   soak FAMILY CALLS     soak list
 *
 * CALLS counts calls of the API. A tenth as many calls run before the first look, and at least as
 * many as it takes until slots of objects are used again (65 536 creations of a kind) where that is
 * cheap; only then must the resident memory stand still. Status: 0 nothing grew, 1 something did,
 * 2 a call failed, 77 there is nothing to do it with.
 */
#include <dlfcn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <level_zero/ze_ddi.h>

#include "bed.h"
#include "footprint.h"

/* Creations until the oldest slot of a kind is used again, and some more. */
#define SLOTS_REUSED 70000u

struct family {
    const char *name;
    void (*round)(struct bed *bed);
    uint32_t calls;       /**< of the API, in each round */
    uint32_t warm_rounds; /**< at least so many before the first look */
    void (*begin)(struct bed *bed);
    void (*end)(struct bed *bed);
    bool needs_kernel;
};

static void round_properties(struct bed *bed)
{
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ze_device_compute_properties_t compute = {.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES};
    ze_device_module_properties_t module = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES};
    ze_device_memory_access_properties_t access = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES};
    ze_pci_ext_properties_t pci = {.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES};
    uint64_t host, device;
    uint32_t count = 0;

    OK(zeDeviceGetProperties(bed->device, &properties));
    OK(zeDeviceGetComputeProperties(bed->device, &compute));
    OK(zeDeviceGetModuleProperties(bed->device, &module));
    OK(zeDeviceGetMemoryProperties(bed->device, &count, NULL));
    OK(zeDeviceGetMemoryAccessProperties(bed->device, &access));
    OK(zeDevicePciGetPropertiesExt(bed->device, &pci));
    OK(zeDeviceGetGlobalTimestamps(bed->device, &host, &device));
    OK(zeDeviceGetStatus(bed->device));
}

static void round_driver(struct bed *bed)
{
    ze_driver_ddi_handles_ext_properties_t handles = {
        .stype = ZE_STRUCTURE_TYPE_DRIVER_DDI_HANDLES_EXT_PROPERTIES};
    ze_driver_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES,
                                         .pNext = &handles};
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    void *address;
    uint32_t count = 1;

    OK(zeDriverGet(&count, &driver));
    OK(zeDeviceGet(driver, &count, &device));
    OK(zeDriverGetProperties(driver, &properties));
    count = 0;
    OK(zeDriverGetExtensionProperties(driver, &count, NULL));
    OK(zeDriverGetExtensionFunctionAddress(driver, "zeInit", &address));
    (void)bed;
}

/* A call that fails, and the sentence about it. */
static void round_errors(struct bed *bed)
{
    const char *sentence;
    uint32_t count = 1;

    if (zetMetricGet((zet_metric_group_handle_t)(void *)bed, &count, NULL) == ZE_RESULT_SUCCESS)
        exit(2);
    OK(zeDriverGetLastErrorDescription(bed->driver, &sentence));
}

static void round_init(struct bed *bed)
{
    ze_init_driver_type_desc_t all = {.stype = ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC,
                                      .flags = UINT32_MAX};
    uint32_t count = 0;

    (void)bed;
    OK(zeInit(0));
    OK(zeInitDrivers(&count, NULL, &all));
}

static void round_contexts(struct bed *bed)
{
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_context_handle_t context;

    OK(zeContextCreate(bed->driver, &desc, &context));
    OK(zeContextDestroy(context));
}

static void round_memory(struct bed *bed)
{
    const ze_device_mem_alloc_desc_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *one, *two, *three;

    OK(zeMemAllocDevice(bed->context, &device, 65536, 0, bed->device, &one));
    OK(zeMemAllocHost(bed->context, &host, 4096, 64, &two));
    OK(zeMemAllocShared(bed->context, &device, &host, 1, 1, bed->device, &three));
    OK(zeMemFree(bed->context, two));
    OK(zeMemFree(bed->context, one));
    OK(zeMemFree(bed->context, three));
}

static void round_handles(struct bed *bed)
{
    ze_ipc_mem_handle_t handle;
    void *opened;

    OK(zeMemGetIpcHandle(bed->context, bed->memory, &handle));
    OK(zeMemOpenIpcHandle(bed->context, bed->device, handle, 0, &opened));
    OK(zeMemCloseIpcHandle(bed->context, opened));
    OK(zeMemPutIpcHandle(bed->context, handle));
}

static void round_mappings(struct bed *bed)
{
    ze_physical_mem_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, .size = 16384};
    ze_physical_mem_handle_t physical;
    void *address;

    OK(zePhysicalMemCreate(bed->context, bed->device, &desc, &physical));
    OK(zeVirtualMemReserve(bed->context, NULL, 32768, &address));
    OK(zeVirtualMemMap(bed->context, address, 16384, physical, 0,
                       ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    OK(zeVirtualMemSetAccessAttribute(bed->context, address, 4096,
                                      ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY));
    OK(zeVirtualMemUnmap(bed->context, address, 8192));
    OK(zeVirtualMemFree(bed->context, address, 32768));
    OK(zePhysicalMemDestroy(bed->context, physical));
}

/* Freed while the device may still use it. */
static void round_deferred(struct bed *bed)
{
    const ze_device_mem_alloc_desc_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_memory_free_ext_desc_t later = {.stype = ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC,
                                             .freePolicy =
                                                 ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE};
    const ze_memory_free_ext_desc_t blocking = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC,
        .freePolicy = ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE};
    void *one, *two;

    OK(zeMemAllocDevice(bed->context, &device, 4096, 0, bed->device, &one));
    OK(zeMemAllocDevice(bed->context, &device, 4096, 0, bed->device, &two));
    OK(zeMemFreeExt(bed->context, &later, one));
    OK(zeMemFreeExt(bed->context, &blocking, two));
}

static void round_addresses(struct bed *bed)
{
    ze_memory_allocation_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    ze_device_handle_t device;
    void *base;
    size_t size;

    OK(zeMemGetAllocProperties(bed->context, bed->memory, &properties, &device));
    OK(zeMemGetAllocProperties(bed->context, bed, &properties, &device));
    OK(zeMemGetAddressRange(bed->context, bed->memory, &base, &size));
}

static void round_pools(struct bed *bed)
{
    const ze_event_pool_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .count = 4};
    ze_event_pool_handle_t pool;

    OK(zeEventPoolCreate(bed->context, &desc, 0, NULL, &pool));
    OK(zeEventPoolDestroy(pool));
}

static void round_events(struct bed *bed)
{
    const ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = 1};
    ze_event_handle_t event;

    OK(zeEventCreate(bed->pool, &desc, &event));
    OK(zeEventHostSignal(event));
    OK(zeEventQueryStatus(event));
    OK(zeEventHostSynchronize(event, 0));
    OK(zeEventHostReset(event));
    OK(zeEventDestroy(event));
}

static void round_queues(struct bed *bed)
{
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    ze_command_queue_handle_t queue;

    OK(zeCommandQueueCreate(bed->context, bed->device, &desc, &queue));
    OK(zeCommandQueueDestroy(queue));
}

static void round_fences(struct bed *bed)
{
    const ze_fence_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC,
                                  .flags = ZE_FENCE_FLAG_SIGNALED};
    ze_fence_handle_t fence;

    OK(zeFenceCreate(bed->queue, &desc, &fence));
    OK(zeFenceQueryStatus(fence));
    OK(zeFenceReset(fence));
    OK(zeFenceDestroy(fence));
}

static void round_lists(struct bed *bed)
{
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    const uint32_t pattern = 7;
    ze_command_list_handle_t list;

    OK(zeCommandListCreate(bed->context, bed->device, &desc, &list));
    OK(zeCommandListAppendMemoryFill(list, bed->memory, &pattern, sizeof(pattern), 64, NULL, 0,
                                     NULL));
    OK(zeCommandListAppendBarrier(list, bed->event, 0, NULL));
    OK(zeCommandListClose(list));
    OK(zeCommandListReset(list));
    OK(zeCommandListDestroy(list));
}

static void round_execute(struct bed *bed)
{
    OK(zeCommandQueueExecuteCommandLists(bed->queue, 1, &bed->list, NULL));
    OK(zeCommandQueueSynchronize(bed->queue, UINT64_MAX));
}

static void round_immediate(struct bed *bed)
{
    ze_kernel_timestamp_result_t times;

    OK(zeCommandListAppendBarrier(bed->immediate, bed->event, 0, NULL));
    OK(zeEventQueryKernelTimestamp(bed->event, &times));
    OK(zeEventHostReset(bed->event));
}

static void round_modules(struct bed *bed)
{
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = ZE_MODULE_FORMAT_NATIVE,
                                   .inputSize = bed->image_bytes,
                                   .pInputModule = bed->image};
    ze_module_build_log_handle_t log;
    ze_module_handle_t module;

    OK(zeModuleCreate(bed->context, bed->device, &desc, &module, &log));
    OK(zeModuleBuildLogDestroy(log));
    OK(zeModuleDestroy(module));
}

static void round_kernels(struct bed *bed)
{
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                   .pKernelName = "nothing"};
    ze_kernel_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
    ze_kernel_handle_t kernel;

    OK(zeKernelCreate(bed->module, &desc, &kernel));
    OK(zeKernelSetGroupSize(kernel, 1, 1, 1));
    OK(zeKernelSetArgumentValue(kernel, 0, sizeof(bed->memory), &bed->memory));
    OK(zeKernelGetProperties(kernel, &properties));
    OK(zeKernelDestroy(kernel));
}

static void round_launches(struct bed *bed)
{
    const ze_group_count_t one = {1, 1, 1};

    OK(zeCommandListAppendLaunchKernel(bed->immediate, bed->kernel, &one, NULL, 0, NULL));
    OK(zeCommandListHostSynchronize(bed->immediate, UINT64_MAX));
}

static void round_groups(struct bed *bed)
{
    zet_metric_group_properties_t properties = {.stype =
                                                    ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};
    zet_metric_properties_t metric_properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};
    zet_metric_handle_t metric;
    uint32_t count = 0;

    OK(zetMetricGroupGet(bed->device, &count, NULL));
    OK(zetMetricGroupGetProperties(bed->group, &properties));
    count = 1;
    OK(zetMetricGet(bed->group, &count, &metric));
    OK(zetMetricGetProperties(metric, &metric_properties));
}

static void round_activations(struct bed *bed)
{
    OK(zetContextActivateMetricGroups(bed->context, bed->device, 1, &bed->group));
    OK(zetContextActivateMetricGroups(bed->context, bed->device, 0, NULL));
}

static void round_streams(struct bed *bed)
{
    size_t size = 4096;

    bed_stream(bed);
    OK(zetMetricStreamerReadData(bed->streamer, UINT32_MAX, &size, bed->raw));
    bed_unstream(bed);
}

static void round_reads(struct bed *bed)
{
    size_t size = 4096;

    OK(zetMetricStreamerReadData(bed->streamer, UINT32_MAX, &size, bed->raw));
}

static void round_calculations(struct bed *bed)
{
    static zet_typed_value_t values[65536];
    uint32_t count = 65536;

    OK(zetMetricGroupCalculateMetricValues(bed->group,
                                           ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                           bed->raw_bytes, bed->raw, &count, values));
}

static void ignore_call(ze_device_get_status_params_t *params, ze_result_t result,
                        void *tracer_data, void **instance_data)
{
    (void)params;
    (void)result;
    (void)tracer_data;
    (void)instance_data;
}

static void round_tracers(struct bed *bed)
{
    const zet_tracer_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_TRACER_EXP_DESC,
                                        .pUserData = bed};
    zet_core_callbacks_t callbacks = {0};
    zet_tracer_exp_handle_t tracer;

    callbacks.Device.pfnGetStatusCb = ignore_call;
    OK(zetTracerExpCreate(bed->context, &desc, &tracer));
    OK(zetTracerExpSetPrologues(tracer, &callbacks));
    OK(zetTracerExpSetEpilogues(tracer, &callbacks));
    OK(zetTracerExpSetEnabled(tracer, 1));
    OK(zeDeviceGetStatus(bed->device));
    OK(zetTracerExpSetEnabled(tracer, 0));
    OK(zetTracerExpDestroy(tracer));
}

static void round_everything(struct bed *bed)
{
    struct bed other;

    (void)bed;
    bed_open(&other);
    bed_close(&other);
}

/* A loader that is opened, initialised and closed again, which closes the library too. */
static void round_reload(struct bed *bed)
{
    const char *path = getenv("SOAK_LOADER");
    void *loader = dlopen(path ? path : SOAK_STANDIN, RTLD_NOW | RTLD_LOCAL);
    void *symbols[2];
    ze_pfnInit_t init;
    ze_pfnDriverGet_t driver_get;
    uint32_t count = 0;

    (void)bed;
    if (!loader) {
        (void)fprintf(stderr, "soak: %s\n", dlerror());
        exit(2);
    }
    symbols[0] = dlsym(loader, "zeInit");
    symbols[1] = dlsym(loader, "zeDriverGet");
    memcpy(&init, &symbols[0], sizeof(init));
    memcpy(&driver_get, &symbols[1], sizeof(driver_get));
    OK(init(0));
    OK(driver_get(&count, NULL));
    OK(dlclose(loader));
}

/* A process of its own: what it leaves behind in the instance of the virtual GPU is seen here. */
static void round_processes(struct bed *bed)
{
    int status = 0;
    pid_t child = fork();

    (void)bed;
    if (child == 0) {
        (void)execl("/proc/self/exe", "soak", "everything", "0", (char *)NULL);
        _exit(127);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        exit(2);
}

static const struct family families[] = {
    {"driver", round_driver, 5, 10, NULL, NULL, false},
    {"properties", round_properties, 8, 10, NULL, NULL, false},
    {"errors", round_errors, 2, 10, NULL, NULL, false},
    {"init", round_init, 2, 10, NULL, NULL, false},
    {"contexts", round_contexts, 2, SLOTS_REUSED, NULL, NULL, false},
    {"memory", round_memory, 6, 10, NULL, NULL, false},
    {"deferred", round_deferred, 4, 10, NULL, NULL, false},
    {"handles", round_handles, 4, 10, NULL, NULL, false},
    {"mappings", round_mappings, 7, SLOTS_REUSED, NULL, NULL, false},
    {"addresses", round_addresses, 3, 10, NULL, NULL, false},
    {"pools", round_pools, 2, SLOTS_REUSED, NULL, NULL, false},
    {"events", round_events, 6, SLOTS_REUSED, NULL, NULL, false},
    {"fences", round_fences, 4, SLOTS_REUSED, NULL, NULL, false},
    {"queues", round_queues, 2, 100, NULL, NULL, false},
    {"lists", round_lists, 6, SLOTS_REUSED, NULL, NULL, false},
    {"execute", round_execute, 2, 100, NULL, NULL, false},
    {"immediate", round_immediate, 3, 100, NULL, NULL, false},
    {"modules", round_modules, 3, 100, NULL, NULL, true},
    {"kernels", round_kernels, 5, SLOTS_REUSED, NULL, NULL, true},
    {"launches", round_launches, 2, 100, NULL, NULL, true},
    {"groups", round_groups, 4, 10, NULL, NULL, false},
    {"activations", round_activations, 2, 10, NULL, NULL, false},
    {"streams", round_streams, 5, 50, NULL, NULL, false},
    {"reads", round_reads, 1, 100, bed_stream, bed_unstream, false},
    {"calculations", round_calculations, 1, 10, bed_sample, NULL, false},
    {"tracers", round_tracers, 7, SLOTS_REUSED, NULL, NULL, false},
    {"everything", round_everything, 40, 100, NULL, NULL, false},
    {"reload", round_reload, 2, 20, NULL, NULL, false},
    {"processes", round_processes, 40, 2, NULL, NULL, false},
};

static double now_s(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int run(const struct family *family, uint64_t calls)
{
    const uint64_t rounds = (calls + family->calls - 1) / family->calls;
    const uint64_t tenth = rounds / 10;
    const uint64_t warm = tenth > family->warm_rounds ? tenth : family->warm_rounds;
    /* Families that make objects dearly are looked at before slots are used again. */
    const bool resident = family->warm_rounds <= 20 || warm >= SLOTS_REUSED;
    struct footprint before, after;
    struct bed bed;
    double start;

    bed_open(&bed);
    if (family->needs_kernel && !bed.module) {
        (void)printf("soak %s: no compiler for kernels of the virtual GPU\n", family->name);
        return 77;
    }
    if (family->begin)
        family->begin(&bed);
    for (uint64_t i = 0; i < warm; i++)
        family->round(&bed);
    before = footprint_take();
    start = now_s();
    for (uint64_t i = 0; i < rounds; i++)
        family->round(&bed);
    start = now_s() - start;
    after = footprint_take();
    (void)printf("%s: %llu calls, %.3f us each, after %llu to warm up\n", family->name,
                 (unsigned long long)rounds * family->calls,
                 start * 1e6 / (double)(rounds * family->calls),
                 (unsigned long long)warm * family->calls);
    if (family->end)
        family->end(&bed);
    bed_close(&bed);
    return footprint_grew(&before, &after, resident) ? 1 : 0;
}

/* Nothing but the beginning and the end of a process. */
static int run_once(void)
{
    struct bed bed;

    bed_open(&bed);
    bed_close(&bed);
    return 0;
}

int main(int argc, char **argv)
{
    const size_t count = sizeof(families) / sizeof(families[0]);
    char *end = NULL;
    uint64_t calls = argc == 3 ? strtoull(argv[2], &end, 10) : 0;

    for (size_t i = 0; i < count && argc == 2 && strcmp(argv[1], "list") == 0; i++)
        (void)printf("%s\n", families[i].name);
    if (argc == 2 && strcmp(argv[1], "list") == 0)
        return 0;
    for (size_t i = 0; i < count && end && *end == '\0'; i++) {
        if (strcmp(argv[1], families[i].name) == 0)
            return calls == 0 ? run_once() : run(&families[i], calls);
    }
    (void)fprintf(stderr, "usage: soak FAMILY CALLS | soak list\n");
    return 2;
}
