/* GPUs of the machine as devices: what the API tells of them, and which of them it shows. */

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zeta/clock.h>

#include "tests/forked.h"
#include "tests/nvidia/bed.h"
#include "tests/support/compare.h"

#define THREE "{format: 1, gpus: [{chip: gh100}, {chip: ga100}, {chip: tu102}]}"

static void expect_name(ze_device_handle_t device, const char *name)
{
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};

    EXPECT_OK(zeDeviceGetProperties(device, &properties));
    assert_string_equal(properties.name, name);
}

/* ---- properties ----------------------------------------------------------------------------- */

/* What vendors' tables say of GPUs. */
static const struct gpu {
    const char *chip, *name;
    uint32_t pci_id, sms, threads_per_eu, mhz;
    uint32_t memory_mhz, bus_bits, l2_kib, group_shared;
    uint64_t memory_mib;
    uint32_t has_ecc, ip_version;
} gpus[] = {
    {"gh100", "NVIDIA H100 80GB HBM3", 0x2330, 132, 16, 1980, 2619, 5120, 51200, 232448, 81079, 1,
     0x90000},
    {"ga100", "NVIDIA A100-SXM4-80GB", 0x20b2, 108, 16, 1410, 1593, 5120, 40960, 166912, 81154, 1,
     0x80000},
    {"ad102", "NVIDIA GeForce RTX 4090", 0x2684, 128, 12, 2520, 10501, 384, 73728, 101376, 24564, 0,
     0x80009},
    {"tu102", "NVIDIA GeForce RTX 2080 Ti", 0x1e07, 68, 8, 1545, 7000, 352, 5632, 65536, 11264, 0,
     0x70005},
};
static const struct gpu *expected;

static void check_properties(void)
{
    const ze_device_handle_t device = bed_device();
    ze_device_ip_version_ext_t ip = {.stype = ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT};
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES,
                                         .pNext = &ip};
    ze_device_compute_properties_t compute = {.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES};
    ze_device_memory_properties_t memory = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES};
    ze_device_cache_properties_t cache = {.stype = ZE_STRUCTURE_TYPE_DEVICE_CACHE_PROPERTIES};
    ze_pci_ext_properties_t pci = {.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES};
    uint32_t count = 1;

    EXPECT_OK(zeDeviceGetProperties(device, &properties));
    assert_string_equal(properties.name, expected->name);
    assert_int_equal(properties.type, ZE_DEVICE_TYPE_GPU);
    assert_int_equal(properties.vendorId, 0x10de);
    assert_int_equal(properties.deviceId, expected->pci_id);
    assert_int_equal(properties.flags, expected->has_ecc ? ZE_DEVICE_PROPERTY_FLAG_ECC : 0);
    assert_int_equal(properties.numSlices, 1);
    assert_int_equal(properties.numSubslicesPerSlice, expected->sms);
    assert_int_equal(properties.numEUsPerSubslice, 4);
    assert_int_equal(properties.numThreadsPerEU, expected->threads_per_eu);
    assert_int_equal(properties.physicalEUSimdWidth, 32);
    assert_int_equal(properties.coreClockRate, expected->mhz);
    assert_int_equal(properties.timestampValidBits, 64);
    assert_int_equal(properties.kernelTimestampValidBits, 34);
    assert_memory_equal(properties.uuid.id, "Zeta\0\0\x40\0\x80\0\0\0\0\0\0\0", 16);
    assert_int_equal(ip.ipVersion, expected->ip_version);

    EXPECT_OK(zeDeviceGetComputeProperties(device, &compute));
    assert_int_equal(compute.maxTotalGroupSize, 1024);
    assert_int_equal(compute.maxGroupSizeX, 1024);
    assert_int_equal(compute.maxGroupSizeZ, 64);
    assert_int_equal(compute.maxGroupCountX, 0x7fffffff);
    assert_int_equal(compute.maxGroupCountY, 65535);
    assert_int_equal(compute.maxSharedLocalMemory, expected->group_shared);
    assert_int_equal(compute.numSubGroupSizes, 1);
    assert_int_equal(compute.subGroupSizes[0], 32);

    EXPECT_OK(zeDeviceGetMemoryProperties(device, &count, &memory));
    assert_int_equal(count, 1);
    assert_int_equal(memory.totalSize >> 20, expected->memory_mib);
    assert_int_equal(memory.maxClockRate, expected->memory_mhz);
    assert_int_equal(memory.maxBusWidth, expected->bus_bits);
    EXPECT_OK(zeDeviceGetCacheProperties(device, &count, &cache));
    assert_int_equal(count, 1);
    assert_int_equal(cache.cacheSize >> 10, expected->l2_kib);

    EXPECT_OK(zeDevicePciGetPropertiesExt(device, &pci));
    assert_int_equal(pci.address.domain, 0);
    assert_int_equal(pci.address.bus, 6);
    assert_int_equal(pci.address.device, 0);
    assert_int_equal(pci.address.function, 0);
}

static void device__of_each_generation__properties(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(gpus) / sizeof(gpus[0]); i++) {
        expected = &gpus[i];
        bed_run(gpus[i].chip, check_properties);
    }
}

static void check_instance(void)
{
    const ze_device_handle_t device = bed_device();
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    struct zeta_device_info info = {.struct_size = sizeof(info)};
    static const char *const parts[] = {"divided (MIG)", "nvidia-smi -L", NULL};

    EXPECT_OK(zeDeviceGetProperties(device, &properties));
    assert_string_equal(properties.name, "NVIDIA H100 80GB HBM3 MIG 1g.11gb");
    assert_int_equal(properties.numSubslicesPerSlice, 132 / 7);
    assert_int_equal(properties.uuid.id[14], 1);
    EXPECT_OK(zetaDeviceGetInfo(device, &info));
    assert_string_equal(info.id, "0000:06:00.0.MIG-5a657461-0000-4000-8000-000000000100");
    bed_expect_plugin(ZETA_PLUGIN_STATE_ACTIVE, parts);
}

static void check_chosen_instance(void)
{
    struct zeta_device_info info = {.struct_size = sizeof(info)};

    (void)setenv("CUDA_VISIBLE_DEVICES", "MIG-5a657461-0000-4000-8000-000000000300", 1);
    EXPECT_OK(zetaDeviceGetInfo(bed_device(), &info));
    assert_string_equal(info.id, "0000:06:00.0.MIG-5a657461-0000-4000-8000-000000000300");
}

/* Rule 28.3. */
static void device__instance_of_mig__has_an_id_of_its_own(void **state)
{
    (void)state;
    bed_run("{format: 1, gpus: [{chip: gh100, instances: 7}]}", check_instance);
    bed_run("{format: 1, gpus: [{chip: gh100, instances: 7}]}", check_chosen_instance);
}

static void check_unreadable(void)
{
    ze_device_handle_t devices[2];

    /* The second device does not tell its name. */
    assert_true(cuda_fault(bed_machine, "cuDeviceGetName=999@2"));
    bed_devices(2, devices);
    expect_name(devices[0], "NVIDIA H100 80GB HBM3");
    expect_name(devices[1], "NVIDIA GeForce RTX 2080 Ti");
}

static void device__that_cannot_be_read__is_left_out(void **state)
{
    (void)state;
    bed_run(THREE, check_unreadable);
}

static void check_sysfs(void)
{
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};

    bed_file("sys/bus/pci/devices/0000:06:00.0/device", NULL);
    EXPECT_OK(zeDeviceGetProperties(bed_device(), &properties));
    assert_int_equal(properties.deviceId, 0);
}

static void device__without_sysfs__has_no_device_id(void **state)
{
    (void)state;
    bed_run("gh100", check_sysfs);
}

/* ---- order and masks --------------------------------------------------------------------------
 */

static void check_order(void)
{
    ze_device_handle_t devices[2];

    bed_devices(2, devices);
    expect_name(devices[0], "NVIDIA A100-SXM4-80GB");
    expect_name(devices[1], "NVIDIA H100 80GB HBM3");
}

/* Rule 28.1. */
static void devices__in_the_order_of_addresses__not_of_cuda(void **state)
{
    (void)state;
    bed_run("{format: 1, gpus: [{chip: gh100, pci: \"0000:82:00.0\"}, "
            "{chip: ga100, pci: \"0000:03:00.0\"}]}",
            check_order);
}

static void check_visible(void)
{
    static const char *const parts[] = {"CUDA_VISIBLE_DEVICES is \"2,0\"", "2 of 3 GPUs", NULL};
    ze_device_handle_t devices[2];

    (void)setenv("CUDA_VISIBLE_DEVICES", "2,0", 1);
    bed_devices(2, devices);
    expect_name(devices[0], "NVIDIA H100 80GB HBM3");
    expect_name(devices[1], "NVIDIA GeForce RTX 2080 Ti");
    bed_expect_plugin(ZETA_PLUGIN_STATE_ACTIVE, parts);
}

static void check_mask(void)
{
    (void)setenv("ZE_AFFINITY_MASK", "1", 1);
    expect_name(bed_device(), "NVIDIA A100-SXM4-80GB");
}

/* The mask counts what CUDA shows, in Zeta's order. */
static void check_both(void)
{
    (void)setenv("CUDA_VISIBLE_DEVICES", "2,1", 1);
    (void)setenv("ZE_AFFINITY_MASK", "1", 1);
    expect_name(bed_device(), "NVIDIA GeForce RTX 2080 Ti");
}

static void check_uuid(void)
{
    (void)setenv("CUDA_VISIBLE_DEVICES", "GPU-5a657461-0000-4000-8000-000000000001", 1);
    expect_name(bed_device(), "NVIDIA A100-SXM4-80GB");
}

/* Rule 28.1. */
static void devices__masks_of_cuda_and_of_level_zero__both_count(void **state)
{
    (void)state;
    bed_run(THREE, check_visible);
    bed_run(THREE, check_mask);
    bed_run(THREE, check_both);
    bed_run(THREE, check_uuid);
}

static void check_eight(void)
{
    ze_device_handle_t devices[8];

    bed_devices(8, devices);
}

static void devices__eight__all(void **state)
{
    (void)state;
    bed_run("{format: 1, gpus: [{chip: gh100}, {chip: gh100}, {chip: gh100}, {chip: gh100}, "
            "{chip: gh100}, {chip: gh100}, {chip: gh100}, {chip: gh100}]}",
            check_eight);
}

/* ---- clock, process ------------------------------------------------------------------------- */

static void check_clock(void)
{
    const ze_device_handle_t device = bed_device();
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
    uint64_t before, host, ticks, last = 0;

    EXPECT_OK(zeDeviceGetProperties(device, &properties));
    assert_int_equal(properties.timerResolution, 1000000000);
    for (int i = 0; i < 1000; i++) {
        before = zeta_clock_raw_ns();
        EXPECT_OK(zeDeviceGetGlobalTimestamps(device, &host, &ticks));
        assert_cmp(before, <=, ticks);
        assert_cmp(ticks, <=, zeta_clock_raw_ns());
        assert_cmp(last, <=, ticks);
        assert_int_equal(host, ticks);
        last = ticks;
    }
}

/* Rule 28.4. */
static void clock__of_host_and_device__is_the_raw_monotonic_one(void **state)
{
    (void)state;
    bed_run("gh100", check_clock);
}

static void check_signals(void)
{
    sigset_t before, after;

    (void)sigemptyset(&before);
    (void)sigaddset(&before, SIGUSR1);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    (void)bed_device();
    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &after), 0);
    for (int signal = 1; signal < 32; signal++)
        assert_int_equal(sigismember(&after, signal), sigismember(&before, signal));
}

static void init__mask_of_signals__is_the_callers_afterwards(void **state)
{
    (void)state;
    bed_run("gh100", check_signals);
}

static void check_fork(void)
{
    static const char *const parts[] = {"Forked", "Start a new program", NULL};
    ze_device_handle_t device = bed_device();
    int status;
    pid_t child;

    child = fork_child();
    if (child == 0) {
        bed_expect_plugin(ZETA_PLUGIN_STATE_DISABLED, parts);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    EXPECT_OK(zeDeviceGetStatus(device));
}

/* Rule 28.5. */
static void fork__child__is_told_to_start_a_program(void **state)
{
    (void)state;
    skip_in(HARNESS_NEWLOADER, "it initialises drivers once, also in a child");
    bed_run("gh100", check_fork);
}

static void check_debug(void)
{
    zet_device_debug_properties_t properties = {.stype =
                                                    ZET_STRUCTURE_TYPE_DEVICE_DEBUG_PROPERTIES};

    EXPECT_OK(zetDeviceGetDebugProperties(bed_device(), &properties));
    assert_int_equal(properties.flags, 0);
}

static void debug__of_a_gpu__is_not_offered(void **state)
{
    (void)state;
    bed_run("gh100", check_debug);
}

SUITE(devices)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clock__of_host_and_device__is_the_raw_monotonic_one),
        cmocka_unit_test(debug__of_a_gpu__is_not_offered),
        cmocka_unit_test(device__instance_of_mig__has_an_id_of_its_own),
        cmocka_unit_test(device__of_each_generation__properties),
        cmocka_unit_test(device__that_cannot_be_read__is_left_out),
        cmocka_unit_test(device__without_sysfs__has_no_device_id),
        cmocka_unit_test(devices__eight__all),
        cmocka_unit_test(devices__in_the_order_of_addresses__not_of_cuda),
        cmocka_unit_test(devices__masks_of_cuda_and_of_level_zero__both_count),
        cmocka_unit_test(fork__child__is_told_to_start_a_program),
        cmocka_unit_test(init__mask_of_signals__is_the_callers_afterwards),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
