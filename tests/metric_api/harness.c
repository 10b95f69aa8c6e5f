#include "tests/metric_api/harness.h"
#include "tests/support/compare.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "zeta/zeta.h"

void expect_result(ze_result_t got, ze_result_t wanted, const char *call, const char *file,
                   int line)
{
    if (got == wanted)
        return;
    print_error("%s: result 0x%x instead of 0x%x: %s\n", call, (unsigned)got, (unsigned)wanted,
                zetaGetLastError());
    _fail(file, line);
}

void expect_sentence(const char *part)
{
    if (strstr(zetaGetLastError(), part))
        return;
    fail_msg("the sentence \"%s\" does not contain \"%s\"", zetaGetLastError(), part);
}

static bool has_name(ze_device_handle_t device, const char *name)
{
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};

    EXPECT_OK(zeDeviceGetProperties(device, &properties));
    return strcmp(properties.name, name) == 0;
}

/** Looks through the tiles of a root. */
static ze_device_handle_t find_tile(ze_device_handle_t root, const char *name)
{
    ze_device_handle_t tiles[8];
    uint32_t count = 8;

    EXPECT_OK(zeDeviceGetSubDevices(root, &count, tiles));
    for (uint32_t i = 0; i < count; i++) {
        if (has_name(tiles[i], name))
            return tiles[i];
    }
    return NULL;
}

static ze_device_handle_t find_in_driver(ze_driver_handle_t driver, const char *name)
{
    ze_device_handle_t devices[16];
    uint32_t count = 16;

    EXPECT_OK(zeDeviceGet(driver, &count, devices));
    for (uint32_t i = 0; i < count; i++) {
        ze_device_handle_t tile;

        if (has_name(devices[i], name))
            return devices[i];
        tile = find_tile(devices[i], name);
        if (tile)
            return tile;
    }
    return NULL;
}

static ze_device_handle_t find_with_driver(const char *name, ze_driver_handle_t *out_driver)
{
    ze_driver_handle_t drivers[8];
    uint32_t count = 8;

    EXPECT_OK(zeDriverGet(&count, drivers));
    for (uint32_t i = 0; i < count; i++) {
        ze_device_handle_t device = find_in_driver(drivers[i], name);

        if (device) {
            *out_driver = drivers[i];
            return device;
        }
    }
    return NULL;
}

ze_device_handle_t look_for_device(const char *name)
{
    ze_driver_handle_t driver;

    return find_with_driver(name, &driver);
}

ze_device_handle_t find_device(const char *name)
{
    ze_device_handle_t device = look_for_device(name);

    if (!device)
        fail_msg("there is no device %s", name);
    return device;
}

void root_devices(uint32_t count, ze_device_handle_t *out_devices)
{
    ze_driver_handle_t drivers[8];
    uint32_t driver_count = 8, found = 0;

    EXPECT_OK(zeDriverGet(&driver_count, drivers));
    for (uint32_t i = 0; i < driver_count; i++) {
        uint32_t here = 0;

        EXPECT_OK(zeDeviceGet(drivers[i], &here, NULL));
        assert_cmp(found + here, <=, count);
        EXPECT_OK(zeDeviceGet(drivers[i], &here, out_devices + found));
        found += here;
    }
    assert_int_equal(found, count);
}

uint32_t plugin_state(const char *id, const char **out_reason)
{
    struct zeta_plugin_info plugins[64];
    uint32_t count = 64;

    for (uint32_t i = 0; i < count; i++)
        plugins[i].struct_size = sizeof(plugins[i]);
    EXPECT_OK(zetaPluginGet(&count, plugins));
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(plugins[i].id, id) == 0) {
            *out_reason = plugins[i].reason;
            return plugins[i].state;
        }
    }
    fail_msg("there is no plugin %s", id);
    return 0;
}

ze_driver_handle_t driver_of(ze_device_handle_t device)
{
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ze_driver_handle_t driver = NULL;

    EXPECT_OK(zeDeviceGetProperties(device, &properties));
    (void)find_with_driver(properties.name, &driver);
    return driver;
}

ze_context_handle_t make_context(ze_device_handle_t device)
{
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_context_handle_t context = NULL;

    EXPECT_OK(zeContextCreate(driver_of(device), &desc, &context));
    return context;
}

ze_module_handle_t make_module(ze_context_handle_t context, ze_device_handle_t device,
                               const char *path)
{
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE};
    uint8_t *image = malloc(1 << 20);
    FILE *file = fopen(path, "rb");
    ze_module_handle_t module = NULL;

    assert_non_null(file);
    assert_non_null(image);
    desc.inputSize = fread(image, 1, 1 << 20, file);
    desc.pInputModule = image;
    assert_int_equal(fclose(file), 0);
    EXPECT_OK(zeModuleCreate(context, device, &desc, &module, NULL));
    free(image);
    return module;
}

ze_command_list_handle_t make_immediate(ze_context_handle_t context, ze_device_handle_t device,
                                        ze_command_queue_mode_t mode)
{
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .mode = mode};
    ze_command_list_handle_t list = NULL;

    EXPECT_OK(zeCommandListCreateImmediate(context, device, &desc, &list));
    return list;
}

zet_metric_group_handle_t find_group(ze_device_handle_t device, const char *name,
                                     zet_metric_group_sampling_type_flags_t sampling,
                                     zet_metric_group_properties_t *out_properties)
{
    /* The largest platform has 2086. */
    static zet_metric_group_handle_t groups[4096];
    uint32_t count = 4096;

    EXPECT_OK(zetMetricGroupGet(device, &count, groups));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t properties = {.stype =
                                                        ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};

        EXPECT_OK(zetMetricGroupGetProperties(groups[i], &properties));
        if (strcmp(properties.name, name) != 0 || properties.samplingType != sampling)
            continue;
        if (out_properties)
            *out_properties = properties;
        return groups[i];
    }
    fail_msg("there is no group %s with sampling type %u", name, sampling);
    return NULL;
}

uint32_t metric_find(zet_metric_group_handle_t group, const char *name)
{
    zet_metric_handle_t metrics[512];
    uint32_t count = 512;

    EXPECT_OK(zetMetricGet(group, &count, metrics));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};

        EXPECT_OK(zetMetricGetProperties(metrics[i], &properties));
        if (strcmp(properties.name, name) == 0)
            return i;
    }
    return UINT32_MAX;
}

uint32_t metric_index(zet_metric_group_handle_t group, const char *name)
{
    const uint32_t index = metric_find(group, name);

    if (index == UINT32_MAX)
        fail_msg("there is no metric %s", name);
    return index;
}

struct test_event make_event(ze_context_handle_t context)
{
    ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                      .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                      .count = 1};
    ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    struct test_event made = {0};

    EXPECT_OK(zeEventPoolCreate(context, &pool_desc, 0, NULL, &made.pool));
    EXPECT_OK(zeEventCreate(made.pool, &desc, &made.event));
    return made;
}

void destroy_event(struct test_event *event)
{
    EXPECT_OK(zeEventDestroy(event->event));
    EXPECT_OK(zeEventPoolDestroy(event->pool));
}

void expect_event(ze_event_handle_t event, ze_result_t status)
{
    for (int i = 0; i < 1000; i++) {
        if (zeEventQueryStatus(event) == status)
            return;
        sleep_ms(1);
    }
    EXPECT_RESULT(zeEventQueryStatus(event), status);
}

/** True if /proc/self/task/TID/comm holds the name. */
static bool thread_has_name(const char *tid, const char *name)
{
    char path[300];
    char found[32] = "";
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/self/task/%s/comm", tid);
    file = fopen(path, "r");
    if (!file)
        return false;
    if (!fgets(found, sizeof(found), file))
        found[0] = '\0';
    (void)fclose(file);
    found[strcspn(found, "\n")] = '\0';
    return strcmp(found, name) == 0;
}

uint32_t count_threads(const char *name)
{
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *entry;
    uint32_t count = 0;

    assert_non_null(tasks);
    while ((entry = readdir(tasks)) != NULL) {
        if (entry->d_name[0] != '.' && thread_has_name(entry->d_name, name))
            count++;
    }
    (void)closedir(tasks);
    return count;
}

void sleep_ms(unsigned ms)
{
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

    (void)nanosleep(&time, NULL);
}
