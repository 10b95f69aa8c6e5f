/*
 * trace_api: times every kernel launch of a program that knows nothing of it.
 *
 * A tracer has a prologue and an epilogue for zeCommandListAppendLaunchKernel. Between the two lies
 * what the call costs the host. When the program asks for no event, the prologue puts one of its
 * own in the place of the argument, so that the time on the device can be read later.
 *
 * Rule 18.19.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <level_zero/zet_api.h>

#include "example.h"
#include "matrix.h"

enum { MATRIX_SIZE = 64, PRODUCTS = 3, MAX_LAUNCHES = 16 };

/* What the tool knows: one for the tracer, given to each of its callbacks. */
struct tool {
    ze_event_pool_handle_t pool;
    ze_event_handle_t events[MAX_LAUNCHES]; /* null: the program had an event of its own */
    uint32_t launches;
};

/* What a prologue leaves for the epilogue of the same call. */
struct launch {
    uint32_t number;
    uint64_t start_ns;
};

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Calls that are made here are not traced themselves. */
static ze_event_handle_t create_event(ze_event_pool_handle_t pool, uint32_t index)
{
    const ze_event_desc_t description = {
        .stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
        .index = index,
        .signal = ZE_EVENT_SCOPE_FLAG_HOST,
    };
    ze_event_handle_t event = NULL;

    example_check(zeEventCreate(pool, &description, &event), "zeEventCreate");
    return event;
}

static void before_launch(ze_command_list_append_launch_kernel_params_t *params, ze_result_t result,
                          void *user_data, void **instance_data)
{
    struct tool *tool = user_data;
    struct launch *launch = malloc(sizeof(*launch));

    (void)result; /* the call has none yet */
    if (!launch || tool->launches == MAX_LAUNCHES)
        example_fail("no room for launch %" PRIu32, tool->launches);
    launch->number = tool->launches++;
    if (!*params->phSignalEvent) {
        tool->events[launch->number] = create_event(tool->pool, launch->number);
        *params->phSignalEvent = tool->events[launch->number];
    }
    *instance_data = launch;
    launch->start_ns = now_ns();
}

static void after_launch(ze_command_list_append_launch_kernel_params_t *params, ze_result_t result,
                         void *user_data, void **instance_data)
{
    const uint64_t end_ns = now_ns();
    struct launch *launch = *instance_data;

    (void)params;
    (void)user_data;
    (void)printf("zeCommandListAppendLaunchKernel #%" PRIu32 " took %.4f ms, result 0x%x\n",
                 launch->number, (double)(end_ns - launch->start_ns) / 1e6, (unsigned)result);
    free(launch);
}

static zet_tracer_exp_handle_t start_tracer(ze_context_handle_t context, struct tool *tool)
{
    const zet_tracer_exp_desc_t description = {
        .stype = ZET_STRUCTURE_TYPE_TRACER_EXP_DESC,
        .pUserData = tool,
    };
    zet_core_callbacks_t prologues = {.CommandList = {.pfnAppendLaunchKernelCb = before_launch}};
    zet_core_callbacks_t epilogues = {.CommandList = {.pfnAppendLaunchKernelCb = after_launch}};
    zet_tracer_exp_handle_t tracer = NULL;

    example_check(zetTracerExpCreate(context, &description, &tracer), "zetTracerExpCreate");
    example_check(zetTracerExpSetPrologues(tracer, &prologues), "zetTracerExpSetPrologues");
    example_check(zetTracerExpSetEpilogues(tracer, &epilogues), "zetTracerExpSetEpilogues");
    example_check(zetTracerExpSetEnabled(tracer, 1), "zetTracerExpSetEnabled");
    return tracer;
}

/* The program that is traced: ordinary products of matrices. */
static void work(ze_context_handle_t context, ze_device_handle_t device)
{
    for (uint32_t i = 0; i < PRODUCTS; i++)
        matrix_multiply_checked(context, device, MATRIX_SIZE);
}

/* What the events of the prologues say, after the work. */
static void print_device_times(ze_device_handle_t device, const struct tool *tool)
{
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};

    example_check(zeDeviceGetProperties(device, &properties), "zeDeviceGetProperties");
    const uint32_t bits = properties.kernelTimestampValidBits;
    const uint64_t mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
    for (uint32_t i = 0; i < tool->launches; i++) {
        ze_kernel_timestamp_result_t times = {0};

        if (!tool->events[i])
            continue;
        example_check(zeEventQueryKernelTimestamp(tool->events[i], &times),
                      "zeEventQueryKernelTimestamp");
        const uint64_t ticks = (times.global.kernelEnd - times.global.kernelStart) & mask;
        (void)printf("kernel #%" PRIu32 " ran %.4f ms on the device\n", i,
                     (double)ticks * 1e3 / (double)properties.timerResolution);
        example_check(zeEventDestroy(tool->events[i]), "zeEventDestroy");
    }
}

int main(void)
{
    const ze_context_desc_t context_description = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_event_pool_desc_t pool_description = {
        .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
        .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
        .count = MAX_LAUNCHES,
    };
    struct tool tool = {0};
    ze_driver_handle_t driver = NULL;
    ze_device_handle_t device = NULL;
    ze_context_handle_t context = NULL;
    zet_tracer_exp_handle_t tracer = NULL;

    example_find_computing_device(&driver, &device);
    example_check(zeContextCreate(driver, &context_description, &context), "zeContextCreate");
    example_check(zeEventPoolCreate(context, &pool_description, 1, &device, &tool.pool),
                  "zeEventPoolCreate");
    tracer = start_tracer(context, &tool);
    work(context, device);
    /* Destroying waits for calls that are under way; disabling does not. */
    example_check(zetTracerExpSetEnabled(tracer, 0), "zetTracerExpSetEnabled");
    example_check(zetTracerExpDestroy(tracer), "zetTracerExpDestroy");
    print_device_times(device, &tool);
    example_check(zeEventPoolDestroy(tool.pool), "zeEventPoolDestroy");
    example_check(zeContextDestroy(context), "zeContextDestroy");
    return tool.launches == PRODUCTS ? 0 : 1;
}
