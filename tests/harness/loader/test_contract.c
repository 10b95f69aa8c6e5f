/*
 * The contract of a driver with loaders, item by item, seen as a loader sees it: the library is
 * opened, nothing but its getters is looked up, and the rest goes through tables.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <level_zero/ze_ddi.h>
#include <level_zero/zet_ddi.h>

#include "run_client.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/* Tables without which the loader of API 1.4 refuses a driver, the sysman ones included. */
static const char *const required[] = {
    "zeGetGlobalProcAddrTable",
    "zeGetDriverProcAddrTable",
    "zeGetDeviceProcAddrTable",
    "zeGetContextProcAddrTable",
    "zeGetCommandQueueProcAddrTable",
    "zeGetCommandListProcAddrTable",
    "zeGetEventProcAddrTable",
    "zeGetEventPoolProcAddrTable",
    "zeGetFenceProcAddrTable",
    "zeGetImageProcAddrTable",
    "zeGetKernelProcAddrTable",
    "zeGetMemProcAddrTable",
    "zeGetModuleProcAddrTable",
    "zeGetModuleBuildLogProcAddrTable",
    "zeGetPhysicalMemProcAddrTable",
    "zeGetSamplerProcAddrTable",
    "zeGetVirtualMemProcAddrTable",
    "zetGetDeviceProcAddrTable",
    "zetGetContextProcAddrTable",
    "zetGetCommandListProcAddrTable",
    "zetGetKernelProcAddrTable",
    "zetGetModuleProcAddrTable",
    "zetGetDebugProcAddrTable",
    "zetGetMetricProcAddrTable",
    "zetGetMetricGroupProcAddrTable",
    "zetGetMetricQueryProcAddrTable",
    "zetGetMetricQueryPoolProcAddrTable",
    "zetGetMetricStreamerProcAddrTable",
    "zetGetTracerExpProcAddrTable",
    "zesGetDeviceProcAddrTable",
    "zesGetDriverProcAddrTable",
    "zesGetDiagnosticsProcAddrTable",
    "zesGetEngineProcAddrTable",
    "zesGetFabricPortProcAddrTable",
    "zesGetFanProcAddrTable",
    "zesGetFirmwareProcAddrTable",
    "zesGetFrequencyProcAddrTable",
    "zesGetLedProcAddrTable",
    "zesGetMemoryProcAddrTable",
    "zesGetPerformanceFactorProcAddrTable",
    "zesGetPowerProcAddrTable",
    "zesGetPsuProcAddrTable",
    "zesGetRasProcAddrTable",
    "zesGetSchedulerProcAddrTable",
    "zesGetStandbyProcAddrTable",
    "zesGetTemperatureProcAddrTable",
};

/* The tables of the newest version, and the library behind them. */
struct driver {
    void *library;
    ze_global_dditable_t global;
    ze_driver_dditable_t driver;
    ze_device_dditable_t device;
    ze_driver_handle_t handle;
};

/* Any getter: they differ in the type of the table. */
typedef ze_result_t(ZE_APICALL *getter_fn)(ze_api_version_t, void *);

static getter_fn find_getter(const struct driver *d, const char *name)
{
    void *symbol = dlsym(d->library, name);
    getter_fn getter = NULL;

    memcpy(&getter, &symbol, sizeof(symbol));
    return getter;
}

static ze_result_t get_table(const struct driver *d, const char *name, ze_api_version_t version,
                             void *table)
{
    getter_fn getter = find_getter(d, name);

    assert_non_null(getter);
    return getter(version, table);
}

static int open_driver(void **state)
{
    static struct driver d;
    uint32_t count = 1;

    d.library = dlopen(libzeta, RTLD_LAZY | RTLD_LOCAL);
    assert_non_null(d.library);
    assert_int_equal(get_table(&d, "zeGetGlobalProcAddrTable", ZE_API_VERSION_1_17, &d.global), 0);
    assert_int_equal(get_table(&d, "zeGetDriverProcAddrTable", ZE_API_VERSION_1_17, &d.driver), 0);
    assert_int_equal(get_table(&d, "zeGetDeviceProcAddrTable", ZE_API_VERSION_1_17, &d.device), 0);
    assert_int_equal(d.global.pfnInit(0), 0);
    assert_int_equal(d.driver.pfnGet(&count, &d.handle), 0);
    assert_int_equal(count, 1);
    *state = &d;
    return 0;
}

/* Rule 2.1. */
static void getters__all_that_old_loaders_demand__succeed(void **state)
{
    assert_int_equal(sizeof(required) / sizeof(required[0]), 46);
    for (size_t i = 0; i < sizeof(required) / sizeof(required[0]); i++) {
        uint64_t table[512] = {0};

        if (!find_getter(*state, required[i]))
            fail_msg("%s is not exported", required[i]);
        assert_int_equal(get_table(*state, required[i], ZE_API_VERSION_1_17, table), 0);
        /* A loader of the future: what it knows more stays empty. */
        assert_int_equal(get_table(*state, required[i], ZE_MAKE_VERSION(1, 99), table), 0);
        /* Twice is as good as once. */
        assert_int_equal(get_table(*state, required[i], ZE_API_VERSION_1_17, table), 0);
        assert_int_equal(get_table(*state, required[i], ZE_MAKE_VERSION(2, 0), table),
                         ZE_RESULT_ERROR_UNSUPPORTED_VERSION);
    }
}

/* Rule 2.5. */
static void sort__right_after_init__every_function_it_calls_works(void **state)
{
    const struct driver *d = *state;
    ze_driver_extension_properties_t extensions[64];
    ze_driver_ddi_handles_ext_properties_t handles = {
        .stype = ZE_STRUCTURE_TYPE_DRIVER_DDI_HANDLES_EXT_PROPERTIES};
    ze_driver_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES,
                                         .pNext = &handles};
    ze_device_properties_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ze_api_version_t version = 0;
    ze_device_handle_t devices[8], tiles[8];
    uint32_t count = 0;
    bool listed = false;

    assert_int_equal(d->driver.pfnGetApiVersion(d->handle, &version), 0);
    assert_int_equal(version, ZE_API_VERSION_1_17);
    assert_int_equal(d->driver.pfnGetExtensionProperties(d->handle, &count, NULL), 0);
    assert_in_range(count, 1, 64);
    assert_int_equal(d->driver.pfnGetExtensionProperties(d->handle, &count, extensions), 0);
    for (uint32_t i = 0; i < count; i++)
        listed |= strcmp(extensions[i].name, ZE_DRIVER_DDI_HANDLES_EXT_NAME) == 0 &&
                  extensions[i].version == ZE_MAKE_VERSION(1, 1);
    assert_true(listed);
    assert_int_equal(d->driver.pfnGetProperties(d->handle, &properties), 0);
    assert_int_equal(handles.flags, ZE_DRIVER_DDI_HANDLE_EXT_FLAG_DDI_HANDLE_EXT_SUPPORTED);
    count = 8;
    assert_int_equal(d->device.pfnGet(d->handle, &count, devices), 0);
    assert_in_range(count, 1, 8);
    assert_int_equal(d->device.pfnGetProperties(devices[0], &device), 0);
    count = 8;
    assert_int_equal(d->device.pfnGetSubDevices(devices[0], &count, tiles), 0);
}

static void *init_again(void *argument)
{
    const struct driver *d = argument;
    ze_init_driver_type_desc_t all = {.stype = ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC,
                                      .flags = UINT32_MAX};

    for (int i = 0; i < 100; i++) {
        ze_driver_handle_t handle = NULL;
        uint32_t count = 0;

        if (d->global.pfnInit(i % 2 ? ZE_INIT_FLAG_GPU_ONLY : 0) != ZE_RESULT_SUCCESS)
            return argument;
        if (d->global.pfnInitDrivers(&count, NULL, &all) != ZE_RESULT_SUCCESS || count != 1)
            return argument;
        if (d->global.pfnInitDrivers(&count, &handle, &all) != ZE_RESULT_SUCCESS ||
            handle != d->handle)
            return argument;
    }
    return NULL;
}

static void init__again_by_many_threads__changes_nothing(void **state)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, init_again, *state), 0);
    for (int i = 0; i < 4; i++) {
        void *failed = NULL;

        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
}

static void structs__unknown_ones_in_chains__are_stepped_over(void **state)
{
    const struct driver *d = *state;
    ze_driver_ddi_handles_ext_properties_t handles = {
        .stype = ZE_STRUCTURE_TYPE_DRIVER_DDI_HANDLES_EXT_PROPERTIES};
    ze_base_properties_t elsewhere = {.stype = ZE_STRUCTURE_TYPE_IMAGE_PROPERTIES,
                                      .pNext = &handles};
    ze_driver_properties_t properties = {.pNext = &elsewhere}; /* its own type: 0 */

    assert_int_equal(d->driver.pfnGetProperties(d->handle, &properties), 0);
    assert_int_equal(handles.flags, ZE_DRIVER_DDI_HANDLE_EXT_FLAG_DDI_HANDLE_EXT_SUPPORTED);
}

/* Rule 2.4. */
static void tables__newest_version__have_no_hole(void **state)
{
    const struct driver *d = *state;
    const struct {
        const void *table;
        size_t bytes;
    } tables[] = {{&d->global, sizeof(d->global)},
                  {&d->driver, sizeof(d->driver)},
                  {&d->device, sizeof(d->device)}};

    /* What is not implemented says so itself, the same in every mode of a loader. */
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        void *const *members = tables[i].table;

        for (size_t j = 0; j < tables[i].bytes / sizeof(void *); j++)
            assert_non_null(members[j]);
    }
}

/* Entry of a dynamic section; 0 if there is none. */
static uintptr_t dynamic_entry(const struct link_map *map, ElfW(Sxword) tag)
{
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == tag)
            return (uintptr_t)entry->d_un.d_ptr;
    }
    return 0;
}

/* Number of relocations that bind to a name of the API. */
static uint32_t count_bound(const struct link_map *map, ElfW(Sxword) table, ElfW(Sxword) size)
{
    const ElfW(Sym) *symbols = (const ElfW(Sym) *)dynamic_entry(map, DT_SYMTAB);
    const char *names = (const char *)dynamic_entry(map, DT_STRTAB);
    const ElfW(Rela) *relocations = (const ElfW(Rela) *)dynamic_entry(map, table);
    uint32_t found = 0;

    if (!symbols || !names)
        fail_msg("the library has no dynamic symbols");
    for (size_t i = 0;
         symbols && names && relocations && i < dynamic_entry(map, size) / sizeof(*relocations);
         i++) {
        const char *name = names + symbols[ELF64_R_SYM(relocations[i].r_info)].st_name;

        if (strncmp(name, "ze", 2) != 0)
            continue;
        print_error("the library binds to %s, which a loader exports too\n", name);
        found++;
    }
    return found;
}

/* Rule 2.3. */
static void symbols__of_the_api__are_bound_inside_the_library(void **state)
{
    const struct driver *d = *state;
    struct link_map *map = NULL;

    assert_int_equal(dlinfo(d->library, RTLD_DI_LINKMAP, &map), 0);
    assert_int_equal(count_bound(map, DT_RELA, DT_RELASZ), 0);
    assert_int_equal(count_bound(map, DT_JMPREL, DT_PLTRELSZ), 0);
}

/* Rule 2.6. */
static void function_addresses__are_the_entries_of_tables(void **state)
{
    const struct driver *d = *state;
    void *address = NULL;

    assert_int_equal(
        d->driver.pfnGetExtensionFunctionAddress(d->handle, "zeDeviceGetRootDevice", &address), 0);
    assert_memory_equal(&address, &d->device.pfnGetRootDevice, sizeof(address));
    assert_int_equal(d->driver.pfnGetExtensionFunctionAddress(d->handle, "zeInitDrivers", &address),
                     0);
    assert_memory_equal(&address, &d->global.pfnInitDrivers, sizeof(address));
}

/* Last: from here on the process has seen an old loader. Rule 2.2. */
static void version__old_loader__members_and_extension_are_withheld(void **state)
{
    const struct driver *d = *state;
    ze_driver_ddi_handles_ext_properties_t handles = {
        .stype = ZE_STRUCTURE_TYPE_DRIVER_DDI_HANDLES_EXT_PROPERTIES, .flags = 1};
    ze_driver_properties_t properties = {.pNext = &handles};
    /* On the stack and not cleared, with room for the one member of its time. */
    struct {
        void *init;
        uintptr_t guard;
    } global;

    memset(&global, 0xa5, sizeof(global));
    assert_int_equal(get_table(d, "zeGetGlobalProcAddrTable", ZE_API_VERSION_1_4, &global), 0);
    assert_memory_equal(&global.init, &d->global.pfnInit, sizeof(void *));
    assert_cmp(global.guard, ==, (uintptr_t)0xa5a5a5a5a5a5a5a5);
    assert_int_equal(d->driver.pfnGetProperties(d->handle, &properties), 0);
    assert_int_equal(handles.flags, 0);
}

SUITE(contract)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(getters__all_that_old_loaders_demand__succeed),
        cmocka_unit_test(sort__right_after_init__every_function_it_calls_works),
        cmocka_unit_test(init__again_by_many_threads__changes_nothing),
        cmocka_unit_test(structs__unknown_ones_in_chains__are_stepped_over),
        cmocka_unit_test(tables__newest_version__have_no_hole),
        cmocka_unit_test(symbols__of_the_api__are_bound_inside_the_library),
        cmocka_unit_test(function_addresses__are_the_entries_of_tables),
        cmocka_unit_test(version__old_loader__members_and_extension_are_withheld),
    };

    return cmocka_run_group_tests(tests, open_driver, NULL);
}
