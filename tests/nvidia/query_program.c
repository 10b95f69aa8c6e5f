/*
 * query_program KERNEL SIZE SET...: a program of Level Zero that runs a kernel with known counts
 * (known.h) in a query of each set, and prints what the query says: set, metric and value.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/zeta.h>

#include "tests/nvidia/known.h"

enum { MOST_GROUPS = 256, MOST_METRICS = 64, MOST_BYTES = 4096 };

/* Ends the program with the library's sentence if a call failed. */
static void check(ze_result_t result, const char *call)
{
    if (result == ZE_RESULT_SUCCESS)
        return;
    (void)fprintf(stderr, "%s: %s: 0x%x: %s\n", program_invocation_short_name, call,
                  (unsigned)result, zetaGetLastError());
    exit(1);
}

#define CHECK(call) check((call), #call)

struct program {
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_command_list_handle_t list; /* immediate, synchronous */
    ze_kernel_handle_t kernel;
    ze_group_count_t groups;
};

static struct program open_program(void)
{
    const ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                                .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    struct program program = {0};
    ze_driver_handle_t driver = NULL;
    uint32_t count = 1;

    CHECK(zeInit(ZE_INIT_FLAG_GPU_ONLY));
    CHECK(zeDriverGet(&count, &driver));
    count = 1;
    CHECK(zeDeviceGet(driver, &count, &program.device));
    CHECK(zeContextCreate(driver, &context_desc, &program.context));
    CHECK(
        zeCommandListCreateImmediate(program.context, program.device, &queue_desc, &program.list));
    return program;
}

/* The kernel with its arguments; what is in their memory does not matter. */
static void make_kernel(struct program *program, const struct known_kernel *known, uint32_t size)
{
    char *text = known_read(known);
    const ze_module_desc_t module_desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                          .format = ZE_MODULE_FORMAT_NATIVE,
                                          .inputSize = text ? strlen(text) : 0,
                                          .pInputModule = (const uint8_t *)text};
    const ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                          .pKernelName = known->name};
    const ze_device_mem_alloc_desc_t memory_desc = {.stype =
                                                        ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_module_handle_t module = NULL;

    if (!text)
        exit(1);
    program->groups = (ze_group_count_t){known_groups(known, size), 1, 1};
    CHECK(zeModuleCreate(program->context, program->device, &module_desc, &module, NULL));
    CHECK(zeKernelCreate(module, &kernel_desc, &program->kernel));
    CHECK(zeKernelSetGroupSize(program->kernel, KNOWN_GROUP, 1, 1));
    for (uint32_t i = 0; i < known->argument_count; i++) {
        const struct known_argument *argument = &known->arguments[i];
        const size_t bytes =
            (size_t)program->groups.groupCountX * KNOWN_GROUP * known->memory_bytes;
        const void *value = argument->kind == KNOWN_SIZE ? (const void *)&size : &argument->bits;
        void *memory = NULL;

        if (argument->kind == KNOWN_MEMORY) {
            CHECK(zeMemAllocDevice(program->context, &memory_desc, bytes, 0, program->device,
                                   &memory));
            value = &memory;
        }
        CHECK(zeKernelSetArgumentValue(program->kernel, i, argument->bytes, value));
    }
    free(text);
}

static void launch(const struct program *program)
{
    CHECK(zeCommandListAppendLaunchKernel(program->list, program->kernel, &program->groups, NULL, 0,
                                          NULL));
}

static zet_metric_group_handle_t find_group(ze_device_handle_t device, const char *name)
{
    zet_metric_group_handle_t groups[MOST_GROUPS];
    uint32_t count = MOST_GROUPS;

    CHECK(zetMetricGroupGet(device, &count, groups));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t properties = {.stype =
                                                        ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};

        CHECK(zetMetricGroupGetProperties(groups[i], &properties));
        if (strcmp(properties.name, name) == 0 &&
            (properties.samplingType & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED) != 0)
            return groups[i];
    }
    (void)fprintf(stderr, "query_program: the device has no queries of %s\n", name);
    exit(1);
}

static void print_value(const zet_typed_value_t *value)
{
    switch (value->type) {
    case ZET_VALUE_TYPE_UINT32:
        (void)printf("%" PRIu32 "\n", value->value.ui32);
        break;
    case ZET_VALUE_TYPE_UINT64:
        (void)printf("%" PRIu64 "\n", value->value.ui64);
        break;
    case ZET_VALUE_TYPE_FLOAT32:
        (void)printf("%.9g\n", (double)value->value.fp32);
        break;
    case ZET_VALUE_TYPE_FLOAT64:
        (void)printf("%.17g\n", value->value.fp64);
        break;
    default:
        (void)printf("%u\n", value->value.b8);
        break;
    }
}

static void print_values(zet_metric_group_handle_t group, const char *set, const uint8_t *raw,
                         size_t bytes)
{
    zet_metric_handle_t metrics[MOST_METRICS];
    zet_typed_value_t values[MOST_METRICS];
    uint32_t metric_count = MOST_METRICS, value_count = MOST_METRICS;

    CHECK(zetMetricGet(group, &metric_count, metrics));
    CHECK(zetMetricGroupCalculateMetricValues(
        group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, bytes, raw, &value_count, values));
    for (uint32_t i = 0; i < value_count && i < metric_count; i++) {
        zet_metric_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};

        CHECK(zetMetricGetProperties(metrics[i], &properties));
        (void)printf("%s %s ", set, properties.name);
        print_value(&values[i]);
    }
}

/* One launch in a query. The one before it warms caches and clocks. */
static void query(const struct program *program, const char *set)
{
    const zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                               .type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE,
                                               .count = 1};
    zet_metric_group_handle_t group = find_group(program->device, set);
    zet_metric_query_pool_handle_t pool = NULL;
    zet_metric_query_handle_t query = NULL;
    uint8_t raw[MOST_BYTES];
    size_t bytes = sizeof(raw);

    CHECK(zetContextActivateMetricGroups(program->context, program->device, 1, &group));
    CHECK(zetMetricQueryPoolCreate(program->context, program->device, group, &desc, &pool));
    CHECK(zetMetricQueryCreate(pool, 0, &query));
    launch(program);
    CHECK(zetCommandListAppendMetricQueryBegin(program->list, query));
    launch(program);
    CHECK(zetCommandListAppendMetricQueryEnd(program->list, query, NULL, 0, NULL));
    CHECK(zetMetricQueryGetData(query, &bytes, raw));
    print_values(group, set, raw, bytes);
    CHECK(zetMetricQueryDestroy(query));
    CHECK(zetMetricQueryPoolDestroy(pool));
    CHECK(zetContextActivateMetricGroups(program->context, program->device, 0, NULL));
}

int main(int argc, char **argv)
{
    const struct known_kernel *known = argc > 3 ? known_find(argv[1]) : NULL;
    struct program program;

    if (!known) {
        (void)fputs("usage: query_program KERNEL SIZE SET...; kernels are in known.c\n", stderr);
        return 1;
    }
    (void)setenv("ZET_ENABLE_METRICS", "1", 1);
    program = open_program();
    make_kernel(&program, known, (uint32_t)strtoul(argv[2], NULL, 10));
    for (int i = 3; i < argc; i++)
        query(&program, argv[i]);
    return 0;
}
