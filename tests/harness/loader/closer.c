/*
 * A program that opens a loader, starts work that goes on in threads of the driver, closes the
 * loader again, and goes on: loader_closer LOADER. Closing runs the loader's destructor, which
 * closes drivers.
 */
#include <dlfcn.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <level_zero/ze_ddi.h>
#include <level_zero/zet_ddi.h>

#include "client.h"

static void *loader;

typedef void (*any_fn)(void);

static any_fn find(const char *name)
{
    void *symbol = dlsym(loader, name);
    any_fn function = NULL;

    NEED(symbol);
    memcpy(&function, &symbol, sizeof(symbol));
    return function;
}

/* A function of the loader: LOADER(ze, Init) is its zeInit. */
#define LOADER(prefix, name) ((prefix##_pfn##name##_t)find(#prefix #name))

static ze_event_handle_t start_stream(ze_driver_handle_t driver, ze_device_handle_t device)
{
    const ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                            .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                            .count = 2};
    const ze_event_desc_t event_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    const ze_event_desc_t never_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = 1};
    const ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    zet_metric_streamer_desc_t stream_desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                              .notifyEveryNReports = 1,
                                              .samplingPeriod = 50000};
    ze_context_handle_t context;
    ze_event_pool_handle_t pool;
    ze_event_handle_t event, never;
    ze_command_list_handle_t list;
    zet_metric_group_handle_t group;
    zet_metric_streamer_handle_t streamer;
    uint32_t count = 1;

    NEED_OK(LOADER(ze, ContextCreate)(driver, &context_desc, &context));
    NEED_OK(LOADER(ze, EventPoolCreate)(context, &pool_desc, 0, NULL, &pool));
    NEED_OK(LOADER(ze, EventCreate)(pool, &event_desc, &event));
    NEED_OK(LOADER(ze, EventCreate)(pool, &never_desc, &never));
    NEED_OK(LOADER(ze, CommandListCreateImmediate)(context, device, &queue, &list));
    NEED_OK(LOADER(ze, CommandListAppendBarrier)(list, NULL, 1, &never));
    /* The first group of a device can be streamed. */
    NEED_OK(LOADER(zet, MetricGroupGet)(device, &count, &group));
    NEED_OK(LOADER(zet, ContextActivateMetricGroups)(context, device, 1, &group));
    NEED_OK(
        LOADER(zet, MetricStreamerOpen)(context, device, group, &stream_desc, event, &streamer));
    return event;
}

int main(int argc, char **argv)
{
    const struct timespec moment = {.tv_nsec = 100000000};
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_event_handle_t event;
    uint32_t count = 1;

    (void)alarm(600);
    NEED(argc == 2);
    loader = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    NEED(loader);
    NEED_OK(LOADER(ze, Init)(0));
    NEED_OK(LOADER(ze, DriverGet)(&count, &driver));
    NEED_OK(LOADER(ze, DeviceGet)(driver, &count, &device));
    event = start_stream(driver, device);
    NEED_OK(LOADER(ze, EventHostSynchronize)(event, UINT64_MAX));
    NEED(dlclose(loader) == 0);
    (void)nanosleep(&moment, NULL);
    return 0;
}
