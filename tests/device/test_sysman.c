/* The part of sysman that topology tools ask for, on the same handles as the core API.
 * Rule 4.14. */
#include <sys/wait.h>
#include <unistd.h>

#include <level_zero/zes_api.h>

#include "tests/harness/harness.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/* Rule 4.11. */
static void driver_get__after_zes_init__gives_the_core_drivers(void **state)
{
    zes_driver_handle_t drivers[4] = {NULL};
    zes_device_handle_t devices[4] = {NULL};
    const struct harness *h = *state;
    uint32_t count = 0;

    assert_success(zesInit(0));
    assert_success(zesDriverGet(&count, NULL));
    assert_int_equal(count, 1);
    count = 4;
    assert_success(zesDriverGet(&count, drivers));
    assert_int_equal(count, 1);
    assert_ptr_equal(drivers[0], h->driver);
    count = 4;
    assert_success(zesDeviceGet(drivers[0], &count, devices));
    assert_int_equal(count, 1);
    assert_ptr_equal(devices[0], h->device);
    count = 7;
    assert_success(zesDriverGetExtensionProperties(drivers[0], &count, NULL));
    assert_int_equal(count, 0);
}

static void function_address__of_sysman_names__is_found(void **state)
{
    const struct harness *h = *state;
    void *ours = NULL;
    void *core = NULL;

    assert_success(zesDriverGetExtensionFunctionAddress(h->driver, "zesDeviceGetState", &ours));
    assert_non_null(ours);
    assert_success(zeDriverGetExtensionFunctionAddress(h->driver, "zesDeviceGetState", &core));
    assert_ptr_equal(ours, core);
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zesDriverGetExtensionFunctionAddress(h->driver, "zesNothing", &ours));
}

static bool is_terminated_text(const char *text)
{
    const size_t length = strnlen(text, ZES_STRING_PROPERTY_SIZE);

    return length > 0 && length < ZES_STRING_PROPERTY_SIZE;
}

/* Rule 4.13. */
static void properties__over_garbage__fill_every_string(void **state)
{
    const struct harness *h = *state;
    ze_device_properties_t core = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
    zes_device_properties_t p;

    memset(&p, 0xa5, sizeof(p));
    p.stype = ZES_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    p.pNext = NULL;
    p.core.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
    void *const garbage = p.core.pNext;
    assert_success(zesDeviceGetProperties(h->device, &p));
    assert_success(zeDeviceGetProperties(h->device, &core));
    assert_ptr_equal(p.core.pNext, garbage);
    core.pNext = garbage;
    /* Padding of the struct is nobody's. */
    assert_int_equal(p.core.type, core.type);
    assert_int_equal(p.core.vendorId, core.vendorId);
    assert_int_equal(p.core.timerResolution, core.timerResolution);
    assert_memory_equal(p.core.uuid.id, core.uuid.id, sizeof(core.uuid.id));
    assert_string_equal(p.core.name, core.name);
    assert_int_equal(p.numSubdevices, 2);
    assert_string_equal(p.modelName, core.name);
    assert_true(is_terminated_text(p.serialNumber));
    assert_true(is_terminated_text(p.boardNumber));
    assert_true(is_terminated_text(p.brandName));
    assert_true(is_terminated_text(p.vendorName));
    assert_true(is_terminated_text(p.driverVersion));
}

/* Rule 4.11. */
static void uuid__of_root_and_tile__finds_the_root(void **state)
{
    const struct harness *h = *state;
    const ze_device_handle_t wanted[] = {h->device, h->tiles[0], h->tiles[1]};

    for (uint32_t i = 0; i < 3; i++) {
        ze_device_properties_t core = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
        zes_device_handle_t found = NULL;
        ze_bool_t is_tile = 7;
        uint32_t tile = 7;
        zes_uuid_t uuid;

        assert_success(zeDeviceGetProperties(wanted[i], &core));
        memcpy(uuid.id, core.uuid.id, sizeof(uuid.id));
        assert_success(zesDriverGetDeviceByUuidExp(h->driver, uuid, &found, &is_tile, &tile));
        assert_ptr_equal(found, h->device);
        assert_int_equal(is_tile, i > 0);
        assert_int_equal(tile, i > 0 ? i - 1 : 0);
    }
}

static void uuid__of_nobody__is_refused_and_writes_nothing(void **state)
{
    const struct harness *h = *state;
    const zes_uuid_t uuid = {.id = {1, 2, 3}};
    zes_device_handle_t found = NULL;
    ze_bool_t is_tile = 7;
    uint32_t tile = 7;

    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zesDriverGetDeviceByUuidExp(h->driver, uuid, &found, &is_tile, &tile));
    assert_null(found);
    assert_int_equal(is_tile, 7);
    assert_int_equal(tile, 7);
}

/* Rule 4.13. */
static void pci__of_the_root__has_its_address_and_unknown_speed(void **state)
{
    const struct harness *h = *state;
    zes_pci_properties_t p = {.stype = ZES_STRUCTURE_TYPE_PCI_PROPERTIES};
    zes_pci_state_t link = {.stype = ZES_STRUCTURE_TYPE_PCI_STATE, .qualityIssues = 1};
    zes_pci_stats_t first, second;

    assert_success(zesDevicePciGetProperties(h->device, &p));
    assert_int_equal(p.address.bus, 3);
    assert_int_equal(p.address.domain + p.address.device + p.address.function, 0);
    assert_int_equal(p.maxSpeed.gen, -1);
    assert_int_equal(p.maxSpeed.maxBandwidth, -1);
    assert_false(p.haveBandwidthCounters || p.havePacketCounters || p.haveReplayCounters);
    assert_success(zesDevicePciGetState(h->device, &link));
    assert_int_equal(link.status, ZES_PCI_LINK_STATUS_UNKNOWN);
    assert_int_equal(link.qualityIssues, 0);
    assert_int_equal(link.speed.width, -1);
    assert_success(zesDevicePciGetStats(h->device, &first));
    (void)usleep(2000);
    assert_success(zesDevicePciGetStats(h->device, &second));
    assert_cmp(second.timestamp, >, first.timestamp);
    assert_int_equal(second.rxCounter + second.txCounter + second.packetCounter, 0);
}

static void state__of_a_working_device__needs_no_reset(void **state)
{
    const struct harness *h = *state;
    zes_device_state_t s = {.stype = ZES_STRUCTURE_TYPE_DEVICE_STATE, .reset = 3};

    assert_success(zesDeviceGetState(h->device, &s));
    assert_int_equal(s.reset, 0);
    assert_int_equal(s.repaired, ZES_REPAIR_STATUS_UNSUPPORTED);
}

/* Rule 4.13. */
static void state__of_a_lost_device__asks_for_a_reset(void **state)
{
    const struct harness *h = *state;
    zes_device_state_t s = {.stype = ZES_STRUCTURE_TYPE_DEVICE_STATE};
    ze_kernel_handle_t kernel = harness_kernel(h, "fault");
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);

    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, harness_launch(list, kernel, NULL, 0, NULL));
    assert_success(zesDeviceGetState(h->device, &s));
    assert_int_equal(s.reset, ZES_RESET_REASON_FLAG_WEDGED);
    assert_success(zeCommandListDestroy(list));
    assert_success(zesDeviceGetState(h->device, &s));
    assert_int_equal(s.reset, 0);
    assert_success(zeKernelDestroy(kernel));
}

/* Each list as tools ask for it: the number first, then with room. */
#define ASSERT_EMPTY(function, type)                                                               \
    do {                                                                                           \
        type room[2];                                                                              \
        uint32_t count = 7;                                                                        \
                                                                                                   \
        assert_success(function(h->device, &count, NULL));                                         \
        assert_int_equal(count, 0);                                                                \
        count = 2;                                                                                 \
        assert_success(function(h->device, &count, room));                                         \
        assert_int_equal(count, 0);                                                                \
    } while (0)

/* Rule 4.13. */
static void lists__of_what_no_device_has__are_empty(void **state)
{
    const struct harness *h = *state;

    ASSERT_EMPTY(zesDeviceProcessesGetState, zes_process_state_t);
    ASSERT_EMPTY(zesDevicePciGetBars, zes_pci_bar_properties_t);
    ASSERT_EMPTY(zesDeviceEnumDiagnosticTestSuites, zes_diag_handle_t);
    ASSERT_EMPTY(zesDeviceEnumEngineGroups, zes_engine_handle_t);
    ASSERT_EMPTY(zesDeviceEnumFabricPorts, zes_fabric_port_handle_t);
    ASSERT_EMPTY(zesDeviceEnumFans, zes_fan_handle_t);
    ASSERT_EMPTY(zesDeviceEnumFirmwares, zes_firmware_handle_t);
    ASSERT_EMPTY(zesDeviceEnumFrequencyDomains, zes_freq_handle_t);
    ASSERT_EMPTY(zesDeviceEnumLeds, zes_led_handle_t);
    ASSERT_EMPTY(zesDeviceEnumMemoryModules, zes_mem_handle_t);
    ASSERT_EMPTY(zesDeviceEnumPerformanceFactorDomains, zes_perf_handle_t);
    ASSERT_EMPTY(zesDeviceEnumPowerDomains, zes_pwr_handle_t);
    ASSERT_EMPTY(zesDeviceEnumPsus, zes_psu_handle_t);
    ASSERT_EMPTY(zesDeviceEnumRasErrorSets, zes_ras_handle_t);
    ASSERT_EMPTY(zesDeviceEnumSchedulers, zes_sched_handle_t);
    ASSERT_EMPTY(zesDeviceEnumStandbyDomains, zes_standby_handle_t);
    ASSERT_EMPTY(zesDeviceEnumTemperatureSensors, zes_temp_handle_t);
}

/* Rule 4.13. */
static void rest__of_sysman__is_unsupported(void **state)
{
    const struct harness *h = *state;
    zes_device_ecc_properties_t ecc = {.stype = ZES_STRUCTURE_TYPE_DEVICE_ECC_PROPERTIES};
    zes_pwr_handle_t power = NULL;
    zes_device_handle_t device = h->device;
    zes_event_type_flags_t events = 0;
    ze_bool_t flag = 7;
    uint32_t count = 0;

    assert_success(zesDeviceEccAvailable(h->device, &flag));
    assert_false(flag);
    flag = 7;
    assert_success(zesDeviceEccConfigurable(h->device, &flag));
    assert_false(flag);
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, zesDeviceGetEccState(h->device, &ecc));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, zesDeviceReset(h->device, 0));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  zesDeviceGetCardPowerDomain(h->device, &power));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, zesDeviceEventRegister(h->device, 1));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  zesDriverEventListen(h->driver, 0, 1, &device, &count, &events));
}

static void arguments__bad_ones__are_refused(void **state)
{
    const struct harness *h = *state;
    zes_device_properties_t p = {.stype = ZES_STRUCTURE_TYPE_DEVICE_PROPERTIES};

    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zesDeviceGetProperties(NULL, &p));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zesDeviceGetProperties(h->device, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zesDeviceEnumFans(h->device, NULL, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_ENUMERATION, zesInit(0x1000));
}

/* In a process that never calls zeInit. */
static int use_sysman_alone(void)
{
    zes_device_properties_t p = {.stype = ZES_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    zes_driver_handle_t driver = NULL;
    zes_device_handle_t device = NULL;
    uint32_t count = 1;

    if (zesDriverGet(&count, &driver) != ZE_RESULT_ERROR_UNINITIALIZED)
        return 1;
    if (zesInit(0) != ZE_RESULT_SUCCESS)
        return 2;
    if (zesDriverGet(&count, &driver) != ZE_RESULT_SUCCESS || count != 1)
        return 3;
    if (zesDeviceGet(driver, &count, &device) != ZE_RESULT_SUCCESS || count != 1)
        return 4;
    if (zesDeviceGetProperties(device, &p) != ZE_RESULT_SUCCESS)
        return 5;
    return strcmp(p.modelName, "Fake GPU") == 0 ? 0 : 6;
}

/* Rule 4.11. */
static void zes_init__without_ze_init__is_enough(void **state)
{
    int status = 0;
    pid_t child;

    (void)state;
    skip_in(HARNESS_ANY_LOADER, "the loaders at hand open their drivers in zeInit only");
    child = fork();
    assert_cmp(child, >=, 0);
    if (child == 0) {
        (void)alarm(600);
        _exit(use_sysman_alone());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

SUITE(sysman)
{
    const struct CMUnitTest alone[] = {
        cmocka_unit_test(zes_init__without_ze_init__is_enough),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(driver_get__after_zes_init__gives_the_core_drivers),
        cmocka_unit_test(function_address__of_sysman_names__is_found),
        cmocka_unit_test(properties__over_garbage__fill_every_string),
        cmocka_unit_test(uuid__of_root_and_tile__finds_the_root),
        cmocka_unit_test(uuid__of_nobody__is_refused_and_writes_nothing),
        cmocka_unit_test(pci__of_the_root__has_its_address_and_unknown_speed),
        cmocka_unit_test(state__of_a_working_device__needs_no_reset),
        cmocka_unit_test(state__of_a_lost_device__asks_for_a_reset),
        cmocka_unit_test(lists__of_what_no_device_has__are_empty),
        cmocka_unit_test(rest__of_sysman__is_unsupported),
        cmocka_unit_test(arguments__bad_ones__are_refused),
    };
    const int failed = cmocka_run_group_tests(alone, NULL, NULL);

    return failed + cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
