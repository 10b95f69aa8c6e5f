/* What devices say about themselves. */
#include "harness.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <time.h>

#include <zeta/zeta.h>

/* Rule 3.8. */
static void device_get__any_count__gives_stable_handles(void **state)
{
    const struct harness *h = *state;
    ze_device_handle_t devices[4] = {0};
    uint32_t count = 0;

    assert_success(zeDeviceGet(h->driver, &count, NULL));
    assert_int_equal(count, 1);
    count = 4;
    assert_success(zeDeviceGet(h->driver, &count, devices));
    assert_int_equal(count, 1);
    assert_ptr_equal(devices[0], h->device);
    count = 2;
    assert_success(zeDeviceGet(h->driver, &count, NULL));
    assert_int_equal(count, 1);
}

static void sub_devices__of_root_and_tile__know_each_other(void **state)
{
    const struct harness *h = *state;
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
    ze_device_handle_t root = h->device;
    uint32_t count = 1;

    assert_success(zeDeviceGetRootDevice(h->device, &root));
    assert_null(root);
    for (uint32_t i = 0; i < 2; i++) {
        assert_success(zeDeviceGetRootDevice(h->tiles[i], &root));
        assert_ptr_equal(root, h->device);
        assert_success(zeDeviceGetProperties(h->tiles[i], &properties));
        assert_true(properties.flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE);
        assert_int_equal(properties.subdeviceId, i);
    }
    assert_success(zeDeviceGetSubDevices(h->tiles[0], &count, &root));
    assert_int_equal(count, 0);
    count = 0;
    assert_success(zeDeviceGetSubDevices(h->device, &count, NULL));
    assert_int_equal(count, 2);
}

static void properties__of_the_root__are_those_of_the_plugin(void **state)
{
    const struct harness *h = *state;
    ze_device_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};

    memset(p.name, 0x55, sizeof(p.name));
    assert_success(zeDeviceGetProperties(h->device, &p));
    assert_int_equal(p.type, ZE_DEVICE_TYPE_GPU);
    assert_string_equal(p.name, "Fake GPU");
    assert_int_equal(p.vendorId, 0x1fa4e);
    assert_int_equal(p.flags, ZE_DEVICE_PROPERTY_FLAG_INTEGRATED);
    assert_int_equal(p.numSlices * p.numSubslicesPerSlice * p.numEUsPerSubslice, 16);
    assert_int_equal(p.numThreadsPerEU, 8);
    assert_int_equal(p.timerResolution, FAKE_TIMER_HZ);
    assert_int_equal(p.timestampValidBits, 32);
    assert_int_equal(p.kernelTimestampValidBits, 32);
    assert_memory_equal(p.uuid.id, "fake", 4);
    assert_int_equal(p.stype, ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2);
}

/* Rule 3.7. */
static void timer_resolution__any_other_type__is_nanoseconds(void **state)
{
    const struct harness *h = *state;
    static const uint32_t types[] = {ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES, 0, 0xcafe1234};

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        /* Random type and a pointer that is no address at all: what programs really pass. */
        ze_device_properties_t p = {.stype = (ze_structure_type_t)types[i],
                                    .pNext = (void *)(uintptr_t)0xfeedfacecafebee0};

        assert_success(zeDeviceGetProperties(h->device, &p));
        assert_int_equal(p.timerResolution, 40);
    }
}

static void properties__chained_structs__are_filled(void **state)
{
    const struct harness *h = *state;
    ze_eu_count_ext_t eus = {.stype = ZE_STRUCTURE_TYPE_EU_COUNT_EXT};
    ze_event_query_kernel_timestamps_ext_properties_t times = {
        .stype = ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_PROPERTIES, .pNext = &eus};
    ze_device_properties_t p = {.stype = 0, .pNext = &times};

    assert_success(zeDeviceGetProperties(h->device, &p));
    assert_int_equal(eus.numTotalEUs, 16);
    assert_int_equal(times.flags, ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_FLAG_KERNEL |
                                      ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_FLAG_SYNCHRONIZED);
    assert_ptr_equal(p.pNext, &times);
}

static void compute_and_module__of_the_root__are_plausible(void **state)
{
    const struct harness *h = *state;
    ze_device_compute_properties_t compute = {.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES};
    ze_device_module_properties_t module = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES};

    assert_success(zeDeviceGetComputeProperties(h->device, &compute));
    assert_int_equal(compute.maxTotalGroupSize, 256);
    assert_int_equal(compute.maxGroupSizeZ, 64);
    assert_int_equal(compute.maxGroupCountX, 65535);
    assert_int_equal(compute.maxSharedLocalMemory, 4096);
    assert_int_equal(compute.numSubGroupSizes, 1);
    assert_int_equal(compute.subGroupSizes[0], 1);
    assert_success(zeDeviceGetModuleProperties(h->device, &module));
    assert_int_equal(module.spirvVersionSupported, 0);
    assert_int_equal(module.flags, ZE_DEVICE_MODULE_FLAG_FP64);
    assert_int_equal(module.fp16flags, 0);
    assert_int_not_equal(module.fp64flags, 0);
    assert_int_equal(module.maxArgumentsSize, 1024);
}

/* Rule 4.8. */
static void debug__of_a_device_without_it__is_no_flag(void **state)
{
    const struct harness *h = *state;
    zet_device_debug_properties_t debug = {.stype = ZET_STRUCTURE_TYPE_DEVICE_DEBUG_PROPERTIES,
                                           .flags = UINT32_MAX};
    zet_debug_config_t config = {0};
    zet_debug_session_handle_t session = NULL;

    assert_success(zetDeviceGetDebugProperties(h->device, &debug));
    assert_int_equal(debug.flags, 0);
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  zetDebugAttach(h->device, &config, &session));
}

static void queue_groups__any_count__follow_the_rule_of_counts(void **state)
{
    const struct harness *h = *state;
    ze_command_queue_group_properties_t groups[3] = {0};
    uint32_t count = 0;

    assert_success(zeDeviceGetCommandQueueGroupProperties(h->device, &count, NULL));
    assert_int_equal(count, 2);
    count = 3;
    assert_success(zeDeviceGetCommandQueueGroupProperties(h->device, &count, groups));
    assert_int_equal(count, 2);
    assert_true(groups[0].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE);
    assert_int_equal(groups[0].numQueues, 2);
    assert_int_equal(groups[1].flags, ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY);
    assert_int_equal(groups[1].maxMemoryFillPatternSize, 4);
    assert_int_equal(groups[2].numQueues, 0);
}

static void memory_and_caches__of_the_root__are_listed(void **state)
{
    const struct harness *h = *state;
    ze_device_memory_properties_t memory = {0};
    ze_device_cache_properties_t cache = {0};
    ze_device_memory_access_properties_t access = {0};
    uint32_t count = 5;

    assert_success(zeDeviceGetMemoryProperties(h->device, &count, NULL));
    assert_int_equal(count, 1);
    assert_success(zeDeviceGetMemoryProperties(h->device, &count, &memory));
    assert_string_equal(memory.name, "Fake memory");
    assert_int_equal(memory.totalSize, 1u << 30);
    assert_int_equal(memory.maxBusWidth, 64);
    count = 1;
    assert_success(zeDeviceGetCacheProperties(h->device, &count, &cache));
    assert_int_equal(count, 1);
    assert_int_equal(cache.cacheSize, 65536);
    assert_int_equal(cache.flags, ZE_DEVICE_CACHE_PROPERTY_FLAG_USER_CONTROL);
    assert_success(zeDeviceGetMemoryAccessProperties(h->device, &access));
    assert_true(access.deviceAllocCapabilities & ZE_MEMORY_ACCESS_CAP_FLAG_RW);
    assert_int_equal(access.sharedSystemAllocCapabilities, 0);
}

static void what_is_not_there__images_and_sharing__is_zero(void **state)
{
    const struct harness *h = *state;
    ze_device_image_properties_t image;
    ze_device_external_memory_properties_t external;

    memset(&image, 0xff, sizeof(image));
    memset(&external, 0xff, sizeof(external));
    image.pNext = NULL;
    external.pNext = NULL;
    assert_success(zeDeviceGetImageProperties(h->device, &image));
    assert_int_equal(image.maxImageDims1D | image.maxImageDims2D | image.maxImageDims3D, 0);
    assert_int_equal(image.maxSamplers | image.maxReadImageArgs | image.maxWriteImageArgs, 0);
    assert_success(zeDeviceGetExternalMemoryProperties(h->device, &external));
    assert_int_equal(external.memoryAllocationImportTypes | external.imageExportTypes, 0);
}

static void pci__address_of_the_plugin__is_given(void **state)
{
    const struct harness *h = *state;
    ze_pci_ext_properties_t pci = {.stype = (ze_structure_type_t)77,
                                   .pNext = (void *)(uintptr_t)0x1234567812345670};

    assert_success(zeDevicePciGetPropertiesExt(h->device, &pci));
    assert_int_equal(pci.address.bus, 3);
    assert_int_equal(pci.maxSpeed.genVersion, -1);
}

static void vector_width__of_a_compute_device__is_one_entry(void **state)
{
    const struct harness *h = *state;
    ze_device_vector_width_properties_ext_t width = {0};
    uint32_t count = 0;

    assert_success(zeDeviceGetVectorWidthPropertiesExt(h->device, &count, NULL));
    assert_int_equal(count, 1);
    assert_success(zeDeviceGetVectorWidthPropertiesExt(h->device, &count, &width));
    assert_int_equal(width.native_vector_width_float, 1);
    assert_int_equal(width.native_vector_width_half, 0);
}

static void peers__of_one_driver__reach_each_other(void **state)
{
    const struct harness *h = *state;
    ze_device_p2p_properties_t p2p = {0};
    ze_bool_t can = 0;

    assert_success(zeDeviceCanAccessPeer(h->tiles[0], h->tiles[1], &can));
    assert_int_equal(can, 1);
    can = 0;
    assert_success(zeDeviceCanAccessPeer(h->device, h->device, &can));
    assert_int_equal(can, 1);
    assert_success(zeDeviceGetP2PProperties(h->device, h->tiles[0], &p2p));
    assert_true(p2p.flags & ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS);
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                  zeDeviceCanAccessPeer(h->device, NULL, &can));
}

static void timestamps__read_twice__grow_together(void **state)
{
    const struct harness *h = *state;
    const struct timespec pause = {.tv_nsec = 2000000};
    uint64_t host[2];
    uint64_t device[2];

    assert_success(zeDeviceGetStatus(h->device));
    assert_success(zeDeviceGetGlobalTimestamps(h->device, &host[0], &device[0]));
    nanosleep(&pause, NULL);
    assert_success(zeDeviceGetGlobalTimestamps(h->device, &host[1], &device[1]));
    assert_cmp(host[1], >, host[0]);
    assert_cmp(device[0], <=, UINT32_MAX);
    assert_cmp(device[1], <=, UINT32_MAX);
    uint64_t passed_ns = ((device[1] - device[0]) & UINT32_MAX) * 40;
    assert_cmp(passed_ns + 1000, >=, host[1] - host[0]);
    assert_cmp(passed_ns, <=, host[1] - host[0] + 1000);
    /* The valid bits are masked. */
    h->control->set_ticks(UINT64_C(0x500000007));
    assert_success(zeDeviceGetGlobalTimestamps(h->device, &host[0], &device[0]));
    h->control->set_ticks(0);
    assert_int_equal(device[0], 7);
}

static void info__of_a_device__names_its_plugins(void **state)
{
    const struct harness *h = *state;
    struct zeta_device_info info = {.struct_size = sizeof(info)};
    struct zeta_device_info prefix = {.struct_size = offsetof(struct zeta_device_info, compute),
                                      .compute = "kept"};

    assert_success(zetaDeviceGetInfo(h->device, &info));
    assert_string_equal(info.id, "fake0");
    assert_string_equal(info.device_class, "hardware");
    assert_string_equal(info.compute, "fake");
    assert_string_equal(info.stream, "");
    assert_string_equal(info.metric_note, "");
    assert_success(zetaDeviceGetInfo(h->tiles[1], &info));
    assert_string_equal(info.id, "fake0.1");
    /* A program that was built when the struct was shorter. */
    assert_success(zetaDeviceGetInfo(h->device, &prefix));
    assert_string_equal(prefix.id, "fake0");
    assert_string_equal(prefix.compute, "kept");
    prefix.struct_size = 0;
    assert_result(ZE_RESULT_ERROR_INVALID_SIZE, zetaDeviceGetInfo(h->device, &prefix));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zetaDeviceGetInfo(h->device, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                  zetaDeviceGetInfo((ze_device_handle_t)h->context, &info));
}

/* Rule 4.2. */
static void chains__of_device_properties__are_filled_or_left_alone(void **state)
{
    const struct harness *h = *state;
    ze_device_luid_ext_properties_t luid = {.stype = ZE_STRUCTURE_TYPE_DEVICE_LUID_EXT_PROPERTIES,
                                            .nodeMask = 77};
    ze_record_replay_graph_ext_properties_t graph = {
        .stype = ZE_STRUCTURE_TYPE_RECORD_REPLAY_GRAPH_EXT_PROPERTIES,
        .pNext = &luid,
        .graphFlags = 77};
    ze_rtas_device_exp_properties_t rays = {.stype = ZE_STRUCTURE_TYPE_RTAS_DEVICE_EXP_PROPERTIES,
                                            .pNext = &graph,
                                            .rtasBufferAlignment = 77};
    ze_device_readonly_memory_ext_properties_t read_only = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_READONLY_MEMORY_EXT_PROPERTIES,
        .pNext = &rays,
        .readonlyCapability = ZE_DEVICE_READONLY_MEMORY_CAPABILITY_HINT};
    ze_device_ip_version_ext_t version = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT, .pNext = &read_only, .ipVersion = 77};
    ze_device_event_properties_t events = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_EVENT_PROPERTIES, .pNext = &version, .flags = 0x70};
    ze_mutable_command_list_exp_properties_t lists = {
        .stype = ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_PROPERTIES, .pNext = &events};
    ze_device_usablemem_size_ext_properties_t unused = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_USABLEMEM_SIZE_EXT_PROPERTIES, .pNext = &lists};
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2,
                                         .pNext = &unused};

    assert_success(zeDeviceGetProperties(h->device, &properties));
    /* The fake device cannot tell what is left, so that is all it has; it knows no version. */
    assert_int_equal(unused.currUsableMemSize, 1u << 30);
    assert_int_equal(version.ipVersion, 77);
    assert_cmp((events.flags & ZE_DEVICE_EVENT_PROPERTIES_FLAG_COUNTER_BASED_IPC), !=, 0);
    assert_int_equal(
        events.flags & ZE_DEVICE_EVENT_PROPERTIES_FLAG_COUNTER_BASED_EXTERNAL_INTERRUPT_WAIT, 0);
    assert_cmp((lists.mutableCommandFlags & ZE_MUTABLE_COMMAND_EXP_FLAG_KERNEL_ARGUMENTS), !=, 0);
    assert_int_equal(lists.mutableCommandFlags & ZE_MUTABLE_COMMAND_EXP_FLAG_GRAPH_ARGUMENTS, 0);
    assert_int_equal(read_only.readonlyCapability, ZE_DEVICE_READONLY_MEMORY_CAPABILITY_NONE);
    assert_int_equal(rays.rtasFormat, ZE_RTAS_FORMAT_EXP_INVALID);
    assert_int_equal(rays.rtasBufferAlignment, 0);
    assert_int_equal(graph.graphFlags, ZE_RECORD_REPLAY_GRAPH_EXT_FLAG_IMMUTABLE_GRAPH);
    assert_int_equal(luid.nodeMask, 77);
}

/* Rule 4.2. */
static void chains__of_other_properties__are_filled(void **state)
{
    const struct harness *h = *state;
    ze_scheduling_hint_exp_properties_t hints = {
        .stype = ZE_STRUCTURE_TYPE_SCHEDULING_HINT_EXP_PROPERTIES, .schedulingHintFlags = 7};
    ze_device_raytracing_ext_properties_t rays = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_RAYTRACING_EXT_PROPERTIES,
        .pNext = &hints,
        .maxBVHLevels = 7};
    ze_float_atomic_ext_properties_t atomics = {
        .stype = ZE_STRUCTURE_TYPE_FLOAT_ATOMIC_EXT_PROPERTIES, .pNext = &rays, .fp64Flags = 7};
    ze_device_module_properties_t module = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES,
                                            .pNext = &atomics};
    ze_device_compute_dotproduct_ext_properties_t products = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_DOTPRODUCT_EXT_PROPERTIES, .dp_caps = 7};
    ze_device_compute_properties_t compute = {.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES,
                                              .pNext = &products};
    ze_device_p2p_bandwidth_exp_properties_t speed = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_P2P_BANDWIDTH_EXP_PROPERTIES,
        .logicalBandwidth = 7,
        .bandwidthUnit = ZE_BANDWIDTH_UNIT_BYTES_PER_NANOSEC};
    ze_device_p2p_properties_t peer = {.stype = ZE_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES,
                                       .pNext = &speed};
    ze_copy_bandwidth_exp_properties_t copies = {
        .stype = ZE_STRUCTURE_TYPE_COPY_BANDWIDTH_EXP_PROPERTIES,
        .copyBandwidth = 7,
        .copyBandwidthUnit = ZE_BANDWIDTH_UNIT_BYTES_PER_NANOSEC};
    ze_command_queue_group_properties_t group = {
        .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES, .pNext = &copies};
    uint32_t count = 1;

    assert_success(zeDeviceGetModuleProperties(h->device, &module));
    assert_int_equal(atomics.fp64Flags, 0);
    assert_int_equal(rays.maxBVHLevels, 0);
    assert_int_equal(hints.schedulingHintFlags, 0);
    assert_cmp((module.fp64flags & ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST), !=, 0);
    assert_success(zeDeviceGetComputeProperties(h->device, &compute));
    assert_int_equal(products.dp_caps, 0);
    assert_success(zeDeviceGetP2PProperties(h->tiles[0], h->tiles[1], &peer));
    assert_int_equal(speed.logicalBandwidth, 0);
    assert_int_equal(speed.bandwidthUnit, ZE_BANDWIDTH_UNIT_UNKNOWN);
    assert_success(zeDeviceGetCommandQueueGroupProperties(h->device, &count, &group));
    assert_int_equal(copies.copyBandwidth, 0);
    assert_int_equal(copies.copyBandwidthUnit, ZE_BANDWIDTH_UNIT_UNKNOWN);
}

/* Rule 4.9. */
static void caches__that_nobody_can_reserve__say_so(void **state)
{
    const struct harness *h = *state;
    ze_cache_reservation_ext_desc_t reservation = {
        .stype = ZE_STRUCTURE_TYPE_CACHE_RESERVATION_EXT_DESC, .maxCacheReservationSize = 7};
    ze_device_cache_line_size_ext_t line = {.stype = ZE_STRUCTURE_TYPE_DEVICE_CACHELINE_SIZE_EXT,
                                            .pNext = &reservation,
                                            .cacheLineSize = 7};
    ze_device_cache_properties_t cache = {.stype = ZE_STRUCTURE_TYPE_DEVICE_CACHE_PROPERTIES,
                                          .pNext = &line};
    void *memory = harness_memory(h, 4096);
    uint32_t count = 1;

    assert_success(zeDeviceGetCacheProperties(h->device, &count, &cache));
    assert_int_equal(line.cacheLineSize, 0);
    assert_int_equal(reservation.maxCacheReservationSize, 0);
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, zeDeviceReserveCacheExt(h->device, 0, 1024));
    assert_non_null(strstr(harness_sentence(h), "cache"));
    assert_success(zeDeviceReserveCacheExt(h->device, 0, 0));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  zeDeviceSetCacheAdviceExt(h->device, memory, 1, ZE_CACHE_EXT_REGION_RESERVED));
    assert_success(zeDeviceSetCacheAdviceExt(h->device, memory, 1, ZE_CACHE_EXT_REGION_DEFAULT));
    assert_success(zeMemFree(h->context, memory));
}

/* Rule 4.7. */
static void fabric__of_any_device__is_none(void **state)
{
    const struct harness *h = *state;
    ze_fabric_vertex_handle_t vertex = NULL;
    uint32_t count = 5;

    assert_success(zeFabricVertexGetExp(h->driver, &count, &vertex));
    assert_int_equal(count, 0);
    assert_result(ZE_RESULT_EXP_ERROR_DEVICE_IS_NOT_VERTEX,
                  zeDeviceGetFabricVertexExp(h->device, &vertex));
    assert_null(vertex);
    assert_cmp(strlen(harness_sentence(h)), >, 10);
}

/* Rule 4.7. */
static void images_and_rays__asked_for__are_unsupported_with_a_reason(void **state)
{
    const struct harness *h = *state;
    ze_image_desc_t image = {
        .stype = ZE_STRUCTURE_TYPE_IMAGE_DESC, .type = ZE_IMAGE_TYPE_2D, .width = 16, .height = 16};
    ze_image_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_IMAGE_PROPERTIES};
    ze_sampler_desc_t sampler_desc = {.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC};
    ze_rtas_builder_exp_desc_t builder_desc = {.stype = ZE_STRUCTURE_TYPE_RTAS_BUILDER_EXP_DESC,
                                               .builderVersion = ZE_RTAS_BUILDER_EXP_VERSION_1_0};
    ze_rtas_builder_exp_handle_t builder = NULL;
    ze_image_handle_t made = NULL;
    ze_sampler_handle_t sampler = NULL;
    size_t pitch = 0;

    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  zeImageCreate(h->context, h->device, &image, &made));
    assert_non_null(strstr(harness_sentence(h), "zeImageCreate"));
    assert_non_null(strstr(harness_sentence(h), "images"));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  zeImageGetProperties(h->device, &image, &properties));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  zeMemGetPitchFor2dImage(h->context, h->device, 16, 16, 4, &pitch));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  zeSamplerCreate(h->context, h->device, &sampler_desc, &sampler));
    assert_non_null(strstr(harness_sentence(h), "zeSamplerCreate"));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  zeRTASBuilderCreateExp(h->driver, &builder_desc, &builder));
    assert_non_null(strstr(harness_sentence(h), "rays"));
    assert_null(made);
    assert_null(sampler);
    assert_null(builder);
}

static ze_validate_runtime_requirements_result_t validate(const struct harness *h,
                                                          const char *requirements)
{
    ze_validate_runtime_requirements_output_t output = {
        .stype = ZE_STRUCTURE_TYPE_RUNTIME_REQUIREMENTS_OUTPUT};

    assert_success(zeDeviceValidateRuntimeRequirements(h->device, requirements, &output));
    return output.result;
}

/* Rule 4.15. */
static void requirements__of_a_module__can_be_kept_and_asked_about(void **state)
{
    const struct harness *h = *state;
    ze_runtime_requirements_module_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_RUNTIME_REQUIREMENTS_MODULE_DESC, .requirementsSrc = h->module};
    char text[256] = "", changed[300];
    const char *key = NULL;
    size_t size = 0;

    skip_in(HARNESS_WRAPPED, "the handle in the description is one of the loader");
    assert_success(zeDeviceGetRuntimeRequirementsKey(h->device, &key));
    assert_string_equal(key, "ZETA.fake");
    assert_success(zeDeviceGetRuntimeRequirements(h->device, &desc, &size, NULL));
    assert_in_range(size, 10, sizeof(text));
    size_t small = size - 1;
    assert_result(ZE_RESULT_ERROR_INVALID_SIZE,
                  zeDeviceGetRuntimeRequirements(h->device, &desc, &small, text));
    assert_int_equal(small, size);
    assert_string_equal(text, "");
    assert_success(zeDeviceGetRuntimeRequirements(h->device, &desc, &size, text));
    assert_int_equal(strlen(text) + 1, size);
    /* Kernel "size" of the fake device wants groups of 8. */
    assert_non_null(strstr(text, " group=8 "));
    assert_int_equal(validate(h, text), ZE_VALIDATE_RUNTIME_REQUIREMENTS_RESULT_REQUIREMENTS_MET);
    (void)snprintf(changed, sizeof(changed), "%s-older", text);
    assert_int_equal(
        validate(h, changed),
        ZE_VALIDATE_RUNTIME_REQUIREMENTS_RESULT_REQUIREMENTS_MET_RECOMPILATION_ADVISABLE);
    assert_int_equal(validate(h, "ZETA.fake ip=0 group=100000 local=0 made=0.1.0"),
                     ZE_VALIDATE_RUNTIME_REQUIREMENTS_RESULT_REQUIREMENTS_NOT_MET);
    assert_int_equal(validate(h, "ZETA.fake local=1000000"),
                     ZE_VALIDATE_RUNTIME_REQUIREMENTS_RESULT_REQUIREMENTS_NOT_MET);
    assert_int_equal(validate(h, "VENDOR.L0.GPU something else"),
                     ZE_VALIDATE_RUNTIME_REQUIREMENTS_RESULT_NOT_APPLICABLE);
}

/* Rule 4.15. */
static void requirements__that_are_none__are_refused(void **state)
{
    const struct harness *h = *state;
    static const char *const bad[] = {
        "ZETA.fake group",    "ZETA.fake group=", "ZETA.fake x=1",
        "ZETA.fake group=1x", "ZETA.fake  ip=1 ", "ZETA.fake ip=1 group"};
    ze_validate_runtime_requirements_output_t output = {
        .stype = ZE_STRUCTURE_TYPE_RUNTIME_REQUIREMENTS_OUTPUT};
    ze_runtime_requirements_module_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_RUNTIME_REQUIREMENTS_GRAPH_DESC, .requirementsSrc = h->module};
    size_t size = 0;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      zeDeviceValidateRuntimeRequirements(h->device, bad[i], &output));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeDeviceGetRuntimeRequirements(h->device, &desc, &size, NULL));
    desc.stype = ZE_STRUCTURE_TYPE_RUNTIME_REQUIREMENTS_MODULE_DESC;
    desc.requirementsSrc = (ze_module_handle_t)h->context;
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeDeviceGetRuntimeRequirements(h->device, &desc, &size, NULL));
    assert_int_equal(size, 0);
}

SUITE(properties)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_get__any_count__gives_stable_handles),
        cmocka_unit_test(sub_devices__of_root_and_tile__know_each_other),
        cmocka_unit_test(properties__of_the_root__are_those_of_the_plugin),
        cmocka_unit_test(debug__of_a_device_without_it__is_no_flag),
        cmocka_unit_test(timer_resolution__any_other_type__is_nanoseconds),
        cmocka_unit_test(properties__chained_structs__are_filled),
        cmocka_unit_test(compute_and_module__of_the_root__are_plausible),
        cmocka_unit_test(queue_groups__any_count__follow_the_rule_of_counts),
        cmocka_unit_test(memory_and_caches__of_the_root__are_listed),
        cmocka_unit_test(what_is_not_there__images_and_sharing__is_zero),
        cmocka_unit_test(pci__address_of_the_plugin__is_given),
        cmocka_unit_test(vector_width__of_a_compute_device__is_one_entry),
        cmocka_unit_test(peers__of_one_driver__reach_each_other),
        cmocka_unit_test(timestamps__read_twice__grow_together),
        cmocka_unit_test(info__of_a_device__names_its_plugins),
        cmocka_unit_test(chains__of_device_properties__are_filled_or_left_alone),
        cmocka_unit_test(chains__of_other_properties__are_filled),
        cmocka_unit_test(caches__that_nobody_can_reserve__say_so),
        cmocka_unit_test(fabric__of_any_device__is_none),
        cmocka_unit_test(images_and_rays__asked_for__are_unsupported_with_a_reason),
        cmocka_unit_test(requirements__of_a_module__can_be_kept_and_asked_about),
        cmocka_unit_test(requirements__that_are_none__are_refused),
    };

    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
