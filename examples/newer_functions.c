/*
 * newer_functions: calls functions that are newer than the loader.
 *
 * A loader passes on the functions that existed when it was made; a program that names a newer one
 * cannot even be linked to it. The driver hands out the address of any function that it has, by
 * name, through zeDriverGetExtensionFunctionAddress (API 1.1). The declarations come from headers
 * that are as new as the functions.
 *
 * With several drivers in one process a loader may give the program objects of its own instead of
 * the driver's handles; functions found in this way do not know those. Then translate them first
 * (zelLoaderTranslateHandle), or use a loader that knows the function.
 *
 * Rule 2.6.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <level_zero/zet_ddi.h>

#include "example.h"

/* Functions that are used below, by the version that brought them. */
struct newer {
    ze_result_t (*describe)(ze_driver_handle_t, const char **);
    ze_result_t (*get_root)(ze_device_handle_t, ze_device_handle_t *);
    zet_pfnDeviceEnableMetricsExp_t enable_metrics;
};

static struct newer newer;

static const struct {
    const char *name;
    const char *since;
    void *target; /* the pointer of that function's type, or NULL: only looked for */
} wanted[] = {
    {"zeDriverGetLastErrorDescription", "1.6", &newer.describe},
    {"zeDeviceGetRootDevice", "1.7", &newer.get_root},
    {"zeInitDrivers", "1.10", NULL},
    {"zetDeviceEnableMetricsExp", "1.13", &newer.enable_metrics},
    {"zeDeviceSynchronize", "1.14", NULL},
    {"vendorOnlyFunction", "-", NULL},
};

/* The address, or NULL: an unknown name is an answer and no failure. */
static void *find(ze_driver_handle_t driver, const char *name)
{
    void *address = NULL;

    if (zeDriverGetExtensionFunctionAddress(driver, name, &address) != ZE_RESULT_SUCCESS)
        return NULL;
    return address;
}

static void find_all(ze_driver_handle_t driver)
{
    (void)printf("%-34s %-6s %-8s %s\n", "function", "since", "linked", "driver");
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        void *address = find(driver, wanted[i].name);

        /* Object pointers and function pointers are the same on every POSIX system. */
        if (wanted[i].target)
            memcpy(wanted[i].target, &address, sizeof(address));
        (void)printf("%-34s %-6s %-8s %s\n", wanted[i].name, wanted[i].since,
                     dlsym(RTLD_DEFAULT, wanted[i].name) ? "yes" : "no", address ? "yes" : "no");
    }
}

static void show_root(ze_device_handle_t device)
{
    ze_device_handle_t tile = NULL;
    ze_device_handle_t root = NULL;
    uint32_t count = 1;

    example_check(zeDeviceGetSubDevices(device, &count, &tile), "zeDeviceGetSubDevices");
    if (count == 0 || !newer.get_root) {
        (void)printf("root device: %s\n", count == 0 ? "the device has no tiles" : "cannot ask");
        return;
    }
    example_check(newer.get_root(tile, &root), "zeDeviceGetRootDevice");
    (void)printf("root device: that of the first tile is %s\n",
                 root == device ? "the device" : "another one");
}

static uint32_t count_groups(ze_device_handle_t device)
{
    uint32_t count = 0;
    ze_result_t result = zetMetricGroupGet(device, &count, NULL);

    /* Metrics that nobody enabled: a count of zero and this result. */
    if (result != ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE)
        example_check(result, "zetMetricGroupGet");
    return count;
}

static void show_metrics(ze_device_handle_t device)
{
    const uint32_t before = count_groups(device);

    if (newer.enable_metrics)
        example_check(newer.enable_metrics(device), "zetDeviceEnableMetricsExp");
    (void)printf("metric groups: %u at first, %u after zetDeviceEnableMetricsExp\n",
                 (unsigned)before, (unsigned)count_groups(device));
}

static void show_sentence(ze_driver_handle_t driver, ze_device_handle_t device)
{
    const char *sentence = NULL;
    uint32_t count = 1;

    /* A mistake on purpose: a device is no metric group. */
    (void)zetMetricGet((zet_metric_group_handle_t)(void *)device, &count, NULL);
    if (newer.describe && newer.describe(driver, &sentence) == ZE_RESULT_SUCCESS)
        (void)printf("last failure: %s\n", sentence);
}

int main(void)
{
    ze_driver_handle_t driver = NULL;
    ze_device_handle_t device = NULL;

    example_find_device(&driver, &device);
    find_all(driver);
    show_root(device);
    show_metrics(device);
    show_sentence(driver, device);
    return 0;
}
