/* Initialisation, drivers and their lists, through the public API. */
#include "harness.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#include <pthread.h>

/* Rule 1.1. */
static void init__any_way__gives_the_same_handles(void **state)
{
    const struct harness *h = *state;
    ze_init_driver_type_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC,
                                       .flags = UINT32_MAX};
    ze_driver_handle_t driver = NULL;
    uint32_t count = 0;

    assert_success(zeInit(ZE_INIT_FLAG_GPU_ONLY));
    assert_success(zeInit(0));
    assert_success(zeInitDrivers(&count, NULL, &desc));
    assert_int_equal(count, 1);
    count = 5;
    assert_success(zeInitDrivers(&count, &driver, &desc));
    assert_int_equal(count, 1);
    assert_ptr_equal(driver, h->driver);
    desc.flags = ZE_INIT_DRIVER_TYPE_FLAG_GPU;
    count = 1;
    assert_success(zeInitDrivers(&count, &driver, &desc));
    assert_ptr_equal(driver, h->driver);
    for (int i = 0; i < 6; i++) {
        count = 1;
        assert_success(zeDriverGet(&count, &driver));
        assert_ptr_equal(driver, h->driver);
    }
}

/* Rule 1.2. */
static void init_drivers__other_types_or_none__gives_no_driver(void **state)
{
    ze_init_driver_type_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC,
                                       .flags = ZE_INIT_DRIVER_TYPE_FLAG_NPU};
    uint32_t count = 7;

    (void)state;
    assert_success(zeInitDrivers(&count, NULL, &desc));
    assert_int_equal(count, 0);
    desc.flags = 0x80000000u;
    assert_success(zeInitDrivers(&count, NULL, &desc));
    assert_int_equal(count, 0);
    desc.flags = 0;
    assert_result(ZE_RESULT_ERROR_INVALID_ENUMERATION, zeInitDrivers(&count, NULL, &desc));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeInitDrivers(NULL, NULL, &desc));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeInitDrivers(&count, NULL, NULL));
    /* The newest loader passes only the first zeInit on and repeats its answer. */
    if (harness_mode() & HARNESS_NEWLOADER)
        return;
    assert_result(ZE_RESULT_ERROR_UNINITIALIZED, zeInit(ZE_INIT_FLAG_VPU_ONLY));
    assert_result(ZE_RESULT_ERROR_INVALID_ENUMERATION, zeInit(0x80));
}

static void *init_many_times(void *argument)
{
    ze_driver_handle_t *out_driver = argument;

    for (int i = 0; i < 200; i++) {
        uint32_t count = 1;

        if (zeInit(0) != ZE_RESULT_SUCCESS || zeDriverGet(&count, out_driver) != ZE_RESULT_SUCCESS)
            return argument;
    }
    return NULL;
}

/* Rule 1.1. */
static void init__many_threads__gives_the_same_handles(void **state)
{
    const struct harness *h = *state;
    ze_driver_handle_t drivers[4] = {0};
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, init_many_times, &drivers[i]), 0);
    for (int i = 0; i < 4; i++) {
        void *failed = NULL;

        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
        assert_ptr_equal(drivers[i], h->driver);
    }
}

static void properties__asked_twice__are_equal(void **state)
{
    const struct harness *h = *state;
    ze_driver_properties_t first = {.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES};
    ze_driver_properties_t second = {.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES};
    ze_api_version_t version = 0;

    assert_success(zeDriverGetApiVersion(h->driver, &version));
    assert_int_equal(version, ZE_MAKE_VERSION(1, 17));
    assert_success(zeDriverGetProperties(h->driver, &first));
    assert_success(zeDriverGetProperties(h->driver, &second));
    assert_memory_equal(&first.uuid, &second.uuid, sizeof(first.uuid));
    assert_int_not_equal(first.driverVersion, 0);
}

static void properties__chained_structs__are_filled_and_others_skipped(void **state)
{
    const struct harness *h = *state;
    ze_driver_memory_free_ext_properties_t freeing = {
        .stype = ZE_STRUCTURE_TYPE_DRIVER_MEMORY_FREE_EXT_PROPERTIES};
    ze_base_properties_t other = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES, .pNext = &freeing};
    ze_driver_ddi_handles_ext_properties_t handles = {
        .stype = ZE_STRUCTURE_TYPE_DRIVER_DDI_HANDLES_EXT_PROPERTIES, .pNext = &other};
    /* The type of the root struct is never looked at. */
    ze_driver_properties_t properties = {.stype = (ze_structure_type_t)0x5a5a, .pNext = &handles};

    assert_success(zeDriverGetProperties(h->driver, &properties));
    /* A loader below 1.13 asked for tables: it does not know the sets behind the handles. */
    assert_int_equal(handles.flags, harness_mode() & HARNESS_LOADER
                                        ? 0
                                        : ZE_DRIVER_DDI_HANDLE_EXT_FLAG_DDI_HANDLE_EXT_SUPPORTED);
    assert_int_equal(freeing.freePolicies, ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE |
                                               ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE);
}

/* Rule 3.5. */
static void properties__garbage_in_pnext__is_survived(void **state)
{
    const struct harness *h = *state;
    ze_driver_properties_t properties = {.pNext = (void *)(uintptr_t)0xdeadbeefdeadbee8};

    assert_success(zeDriverGetProperties(h->driver, &properties));
    properties.pNext = (void *)(uintptr_t)16;
    assert_success(zeDriverGetProperties(h->driver, &properties));
}

static void ipc_properties__plugin_shares_no_memory__names_events_only(void **state)
{
    const struct harness *h = *state;
    ze_driver_ipc_properties_t ipc = {.flags = 0xff};

    assert_success(zeDriverGetIpcProperties(h->driver, &ipc));
    assert_int_equal(ipc.flags, ZE_IPC_PROPERTY_FLAG_EVENT_POOL);
}

/* Rule 1.18. */
static void extensions__any_count__follow_the_rule_of_counts(void **state)
{
    const struct harness *h = *state;
    ze_driver_extension_properties_t list[64];
    uint32_t all = 0;
    uint32_t count = 1;

    assert_success(zeDriverGetExtensionProperties(h->driver, &all, NULL));
    assert_in_range(all, 1, 64);
    assert_success(zeDriverGetExtensionProperties(h->driver, &count, list));
    assert_int_equal(count, 1);
    count = 64;
    assert_success(zeDriverGetExtensionProperties(h->driver, &count, list));
    assert_int_equal(count, all);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_not_equal(list[i].version, 0);
        assert_cmp(strncmp(list[i].name, "ZE", 2), ==, 0);
        for (uint32_t j = 0; j < i; j++)
            assert_string_not_equal(list[i].name, list[j].name);
    }
    count = 3;
    assert_success(zeDriverGetExtensionProperties(h->driver, &count, NULL));
    assert_int_equal(count, all);
}

/* Rule 1.20. */
static void function_address__known_and_unknown_name__gives_pointer_or_null(void **state)
{
    const struct harness *h = *state;
    void *address = &address;

    assert_success(zeDriverGetExtensionFunctionAddress(h->driver, "zeEventQueryStatus", &address));
    assert_non_null(address);
    address = &address;
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeDriverGetExtensionFunctionAddress(h->driver, "vendorMagic", &address));
    assert_null(address);
}

/* Rule 3.12. */
static void error_description__failure__names_what_was_wrong(void **state)
{
    const struct harness *h = *state;
    ze_event_pool_handle_t pool = harness_pool(h, 0, 2);
    const ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = 2};
    ze_event_handle_t event = NULL;

    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeEventCreate(pool, &desc, &event));
    assert_non_null(strstr(harness_sentence(h), "2"));
    assert_success(zeEventPoolDestroy(pool));
}

/* What a loader reads at the start of each handle before it calls through it. */
static void check_dispatch(const void *handle)
{
    const void *const *words = handle;

    for (int i = 0; i < 4; i++) {
        const struct {
            uint32_t version;
            uint8_t is_valid;
        } *tables = words[i];

        assert_non_null(tables);
        assert_int_equal(tables->version, ZE_MAKE_VERSION(1, 17));
        assert_int_equal(tables->is_valid, 1);
    }
}

/* Rule 1.19. */
static void handles__of_all_kinds__begin_with_dispatch_tables(void **state)
{
    const struct harness *h = *state;
    const ze_fence_desc_t fence_desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ze_event_pool_handle_t pool = harness_pool(h, 0, 1);
    ze_event_handle_t event = harness_event(pool, 0);
    ze_kernel_handle_t kernel = harness_kernel(h, "add");
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_DEFAULT);
    ze_command_list_handle_t list = harness_list(h);
    ze_command_list_handle_t immediate = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_DEFAULT);
    ze_module_build_log_handle_t log = NULL;
    ze_module_handle_t module = h->module;
    ze_fence_handle_t fence = NULL;

    assert_success(zeFenceCreate(queue, &fence_desc, &fence));
    assert_success(zeModuleDynamicLink(1, &module, &log));
    const void *handles[] = {h->driver, h->device, h->tiles[0], h->context, module, pool, event,
                             kernel,    queue,     list,        immediate,  log,    fence};
    for (size_t i = 0; i < sizeof(handles) / sizeof(handles[0]); i++)
        check_dispatch(handles[i]);
    assert_success(zeFenceDestroy(fence));
    assert_success(zeModuleBuildLogDestroy(log));
    assert_success(zeCommandListDestroy(immediate));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeEventDestroy(event));
    assert_success(zeEventPoolDestroy(pool));
}

static void driver_get__null_count__is_an_error(void **state)
{
    (void)state;
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeDriverGet(NULL, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zeDriverGetProperties(NULL, NULL));
}

SUITE(driver)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(init__any_way__gives_the_same_handles),
        cmocka_unit_test(init_drivers__other_types_or_none__gives_no_driver),
        cmocka_unit_test(init__many_threads__gives_the_same_handles),
        cmocka_unit_test(properties__asked_twice__are_equal),
        cmocka_unit_test(properties__chained_structs__are_filled_and_others_skipped),
        cmocka_unit_test(properties__garbage_in_pnext__is_survived),
        cmocka_unit_test(ipc_properties__plugin_shares_no_memory__names_events_only),
        cmocka_unit_test(extensions__any_count__follow_the_rule_of_counts),
        cmocka_unit_test(function_address__known_and_unknown_name__gives_pointer_or_null),
        cmocka_unit_test(error_description__failure__names_what_was_wrong),
        cmocka_unit_test(handles__of_all_kinds__begin_with_dispatch_tables),
        cmocka_unit_test(driver_get__null_count__is_an_error),
    };

    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
