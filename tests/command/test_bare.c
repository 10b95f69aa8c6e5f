/* Queues of devices that nobody computes on: two plugins with queries, metrics and nothing else. */
#include "harness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include <level_zero/zet_api.h>
#include <zeta/zeta.h>

#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define SHORT_NS UINT64_C(2000000)

static ze_device_handle_t other_device; /* of the second plugin */

static ze_event_handle_t no_event; /* for the layer that takes no null pointer of a list */

static int setup(void **state)
{
    const ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    struct harness *h = calloc(1, sizeof(*h));
    ze_device_handle_t devices[2];
    uint32_t count = 2;

    assert_success(zeInit(0));
    assert_success(zeDriverGet(&count, &h->driver));
    assert_int_equal(count, 1);
    count = 2;
    assert_success(zeDeviceGet(h->driver, &count, devices));
    assert_int_equal(count, 2);
    h->device = devices[0];
    other_device = devices[1];
    count = 2;
    assert_success(zeDeviceGetSubDevices(h->device, &count, h->tiles));
    assert_success(zeContextCreate(h->driver, &context, &h->context));
    *state = h;
    return 0;
}

static int teardown(void **state)
{
    struct harness *h = *state;

    assert_success(zeContextDestroy(h->context));
    free(h);
    return 0;
}

static ze_command_list_handle_t immediate_on(const struct harness *h, ze_device_handle_t device,
                                             ze_command_queue_mode_t mode)
{
    struct harness there = *h;

    there.device = device;
    return harness_immediate(&there, mode);
}

static void *host_memory(const struct harness *h, size_t bytes)
{
    const ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *memory = NULL;

    assert_success(zeMemAllocHost(h->context, &desc, bytes, 0, &memory));
    memset(memory, 0, bytes);
    return memory;
}

/* ---- devices --------------------------------------------------------------------------------- */

/* Rule 7.9. */
static void driver__two_plugins_without_compute__is_one(void **state)
{
    const struct harness *h = *state;
    ze_driver_ipc_properties_t ipc = {.stype = ZE_STRUCTURE_TYPE_DRIVER_IPC_PROPERTIES};
    ze_device_properties_t first = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ze_device_properties_t second = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};

    assert_success(zeDeviceGetProperties(h->device, &first));
    assert_success(zeDeviceGetProperties(other_device, &second));
    assert_string_equal(first.name, "bare0");
    assert_string_equal(second.name, "bare1");
    assert_success(zeDriverGetIpcProperties(h->driver, &ipc));
    assert_int_equal(ipc.flags, ZE_IPC_PROPERTY_FLAG_EVENT_POOL);
}

/* Rule 7.9. */
static void queue_groups__no_compute__have_metrics_alone(void **state)
{
    const struct harness *h = *state;
    ze_command_queue_group_properties_t group = {
        .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES};
    const ze_command_queue_desc_t desc = {.ordinal = 1};
    ze_command_queue_handle_t queue = NULL;
    uint32_t count = 1;

    assert_success(zeDeviceGetCommandQueueGroupProperties(h->device, &count, &group));
    assert_int_equal(count, 1);
    assert_int_equal(group.flags, ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_METRICS);
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeCommandQueueCreate(h->context, h->device, &desc, &queue));
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Rule 7.9. */
static void queue__list_with_everything__runs_in_order(void **state)
{
    const struct harness *h = *state;
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_event_pool_handle_t pool = harness_pool(h, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP, 2);
    ze_event_handle_t event = harness_event(pool, 0);
    ze_event_handle_t gate = harness_event(pool, 1);
    ze_command_list_handle_t list = harness_list(h);
    ze_kernel_timestamp_result_t times = {0};
    uint64_t *stamps = host_memory(h, 3 * sizeof(*stamps));

    assert_success(zeCommandListAppendWriteGlobalTimestamp(list, &stamps[0], NULL, 1, &gate));
    assert_success(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    assert_success(zeCommandListAppendWriteGlobalTimestamp(list, &stamps[1], event, 0, NULL));
    assert_success(zeCommandListAppendWaitOnEvents(list, 1, &event));
    assert_success(zeCommandListAppendWriteGlobalTimestamp(list, &stamps[2], NULL, 0, NULL));
    harness_execute(queue, list, NULL);
    assert_result(ZE_RESULT_NOT_READY, zeCommandQueueSynchronize(queue, SHORT_NS));
    assert_int_equal(stamps[0], 0);
    assert_success(zeEventHostSignal(gate));
    assert_success(zeCommandQueueSynchronize(queue, UINT64_MAX));
    assert_cmp(stamps[0], >, 0);
    assert_cmp(stamps[0], <=, stamps[1]);
    assert_cmp(stamps[1], <=, stamps[2]);
    assert_success(zeEventQueryKernelTimestamp(event, &times));
    assert_cmp(times.context.kernelEnd, >, times.context.kernelStart);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeEventDestroy(gate));
    assert_success(zeEventDestroy(event));
    assert_success(zeEventPoolDestroy(pool));
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeMemFree(h->context, stamps));
}

static void fence__of_a_queue__is_signalled_at_the_end(void **state)
{
    const struct harness *h = *state;
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    const ze_fence_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ze_event_pool_handle_t pool = harness_pool(h, 0, 1);
    ze_event_handle_t gate = harness_event(pool, 0);
    ze_command_list_handle_t list = harness_list(h);
    ze_fence_handle_t fence = NULL;

    assert_success(zeFenceCreate(queue, &desc, &fence));
    assert_success(zeCommandListAppendWaitOnEvents(list, 1, &gate));
    harness_execute(queue, list, fence);
    assert_result(ZE_RESULT_NOT_READY, zeFenceQueryStatus(fence));
    assert_result(ZE_RESULT_NOT_READY, zeFenceHostSynchronize(fence, SHORT_NS));
    assert_success(zeEventHostSignal(gate));
    assert_success(zeFenceHostSynchronize(fence, UINT64_MAX));
    assert_success(zeFenceDestroy(fence));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeEventDestroy(gate));
    assert_success(zeEventPoolDestroy(pool));
}

static void event__reset_by_a_queue__can_be_signalled_again(void **state)
{
    const struct harness *h = *state;
    ze_event_pool_handle_t pool = harness_pool(h, 0, 1);
    ze_event_handle_t event = harness_event(pool, 0);
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);

    assert_success(zeCommandListAppendSignalEvent(list, event));
    assert_success(zeEventQueryStatus(event));
    assert_success(zeCommandListAppendEventReset(list, event));
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(event));
    assert_success(zeCommandListAppendSignalEvent(list, event));
    assert_success(zeEventHostSynchronize(event, UINT64_MAX));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeEventDestroy(event));
    assert_success(zeEventPoolDestroy(pool));
}

static void add_one(void *counter)
{
    atomic_fetch_add((atomic_uint *)counter, 1);
}

static void host_function__between_time_stamps__is_called_in_order(void **state)
{
    const struct harness *h = *state;
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    atomic_uint counter = 0;

    skip_in(HARNESS_LOADER, "the installed loader does not know host functions");
    for (int i = 0; i < 3; i++)
        assert_success(
            zeCommandListAppendHostFunction(list, add_one, &counter, NULL, NULL, 0, NULL));
    assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_int_equal(counter, 3);
    assert_success(zeCommandListDestroy(list));
}

/* ---- events between queues ------------------------------------------------------------------- */

/* signaller_first: which of the two is submitted first. */
static void pass_event(const struct harness *h, ze_device_handle_t from, ze_device_handle_t to,
                       bool signaller_first)
{
    ze_command_list_handle_t signals = immediate_on(h, from, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t waits = immediate_on(h, to, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_event_pool_handle_t pool = harness_pool(h, 0, 1);
    ze_event_handle_t event = harness_event(pool, 0);

    if (signaller_first)
        assert_success(zeCommandListAppendSignalEvent(signals, event));
    assert_success(zeCommandListAppendWaitOnEvents(waits, 1, &event));
    if (!signaller_first) {
        assert_result(ZE_RESULT_NOT_READY, zeCommandListHostSynchronize(waits, SHORT_NS));
        assert_success(zeCommandListAppendSignalEvent(signals, event));
    }
    assert_success(zeCommandListHostSynchronize(waits, UINT64_MAX));
    assert_success(zeCommandListHostSynchronize(signals, UINT64_MAX));
    assert_success(zeCommandListDestroy(signals));
    assert_success(zeCommandListDestroy(waits));
    assert_success(zeEventDestroy(event));
    assert_success(zeEventPoolDestroy(pool));
}

static void event__between_queues_of_a_plugin__is_seen(void **state)
{
    const struct harness *h = *state;

    pass_event(h, h->device, h->tiles[1], true);
    pass_event(h, h->tiles[0], h->device, false);
}

/* Rule 7.9. */
static void event__between_queues_of_two_plugins__wakes_the_other(void **state)
{
    const struct harness *h = *state;

    pass_event(h, h->device, other_device, false);
    pass_event(h, other_device, h->tiles[0], false);
    pass_event(h, other_device, h->device, true);
}

static void event__signalled_by_the_host__wakes_queues_of_all_plugins(void **state)
{
    const struct harness *h = *state;
    ze_command_list_handle_t lists[2] = {
        immediate_on(h, h->device, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS),
        immediate_on(h, other_device, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS)};
    ze_event_pool_handle_t pool = harness_pool(h, 0, 1);
    ze_event_handle_t event = harness_event(pool, 0);

    for (int i = 0; i < 2; i++) {
        assert_success(zeCommandListAppendWaitOnEvents(lists[i], 1, &event));
        assert_result(ZE_RESULT_NOT_READY, zeCommandListHostSynchronize(lists[i], SHORT_NS));
    }
    assert_success(zeEventHostSignal(event));
    for (int i = 0; i < 2; i++) {
        assert_success(zeCommandListHostSynchronize(lists[i], UINT64_MAX));
        assert_success(zeCommandListDestroy(lists[i]));
    }
    assert_success(zeEventDestroy(event));
    assert_success(zeEventPoolDestroy(pool));
}

/* ---- the end --------------------------------------------------------------------------------- */

static void destroy__work_runs__is_refused_until_it_ends(void **state)
{
    const struct harness *h = *state;
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_event_pool_handle_t pool = harness_pool(h, 0, 1);
    ze_event_handle_t gate = harness_event(pool, 0);

    assert_success(zeCommandListAppendWaitOnEvents(list, 1, &gate));
    assert_result(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, zeCommandListDestroy(list));
    assert_success(zeEventHostSignal(gate));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeEventDestroy(gate));
    assert_success(zeEventPoolDestroy(pool));
}

static zet_metric_group_handle_t find_group(ze_device_handle_t device, const char *name,
                                            zet_metric_group_sampling_type_flags_t sampling)
{
    zet_metric_group_handle_t groups[32];
    uint32_t count = 32;

    assert_success(zetMetricGroupGet(device, &count, groups));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t properties = {.stype =
                                                        ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};

        assert_success(zetMetricGroupGetProperties(groups[i], &properties));
        if (properties.samplingType == sampling && strcmp(properties.name, name) == 0)
            return groups[i];
    }
    fail_msg("no group %s", name);
    return NULL;
}

/* A pool with one query of group Work, which is active. */
struct measured {
    zet_metric_group_handle_t group;
    zet_metric_query_pool_handle_t pool;
    zet_metric_query_handle_t query;
};

static struct measured measure(const struct harness *h, ze_device_handle_t device)
{
    const zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                               .count = 1};
    struct measured m = {
        .group = find_group(device, "Work", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED)};

    assert_success(zetContextActivateMetricGroups(h->context, device, 1, &m.group));
    assert_success(zetMetricQueryPoolCreate(h->context, device, m.group, &desc, &m.pool));
    assert_success(zetMetricQueryCreate(m.pool, 0, &m.query));
    return m;
}

static void measured_end(const struct harness *h, ze_device_handle_t device, struct measured *m)
{
    assert_success(zetMetricQueryDestroy(m->query));
    assert_success(zetMetricQueryPoolDestroy(m->pool));
    assert_success(zetContextActivateMetricGroups(h->context, device, 0, NULL));
}

/* The only failure that a queue without compute can have; the other plugin's queue waits for it. */
static void event__of_work_that_failed__is_lost_for_queues_of_other_plugins(void **state)
{
    const struct harness *h = *state;
    struct measured m = measure(h, h->tiles[0]);
    ze_command_list_handle_t fails =
        immediate_on(h, h->tiles[0], ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t waits =
        immediate_on(h, other_device, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_event_pool_handle_t pool = harness_pool(h, 0, 1);
    ze_event_handle_t event = harness_event(pool, 0);

    assert_success(zeCommandListAppendWaitOnEvents(waits, 1, &event));
    assert_success(zetCommandListAppendMetricQueryEnd(fails, m.query, event, 0, &no_event));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeCommandListHostSynchronize(fails, UINT64_MAX));
    assert_non_null(strstr(harness_sentence(h), "not begun here"));
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeEventHostSynchronize(event, UINT64_MAX));
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeCommandListHostSynchronize(waits, UINT64_MAX));
    assert_success(zeCommandListDestroy(waits));
    assert_success(zeCommandListDestroy(fails));
    assert_success(zeEventDestroy(event));
    assert_success(zeEventPoolDestroy(pool));
    measured_end(h, h->tiles[0], &m);
}

/* ---- metrics --------------------------------------------------------------------------------- */

/* Rule 7.9. */
static void query__around_time_stamps__counts_them(void **state)
{
    const struct harness *h = *state;
    struct measured m = measure(h, h->tiles[0]);
    ze_command_list_handle_t list = immediate_on(h, h->tiles[0], ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    uint64_t *stamp = host_memory(h, sizeof(*stamp));
    zet_typed_value_t values[32];
    uint8_t data[256];
    size_t size = sizeof(data);
    uint32_t count = 32;

    assert_success(zetCommandListAppendMetricQueryBegin(list, m.query));
    assert_result(ZE_RESULT_NOT_READY, zetMetricQueryGetData(m.query, &size, data));
    for (int i = 0; i < 3; i++)
        assert_success(zeCommandListAppendWriteGlobalTimestamp(list, stamp, NULL, 0, NULL));
    assert_success(zetCommandListAppendMetricQueryEnd(list, m.query, NULL, 0, &no_event));
    assert_success(zetMetricQueryGetData(m.query, &size, data));
    assert_success(zetMetricGroupCalculateMetricValues(
        m.group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, size, data, &count, values));
    assert_cmp(count, >, 0);
    assert_int_equal(values[0].value.ui64, 3);
    assert_success(zeCommandListDestroy(list));
    measured_end(h, h->tiles[0], &m);
    assert_success(zeMemFree(h->context, stamp));
}

/* Rule 12.18. */
static void pools__sets_with_and_without_uuid__say_so_to_the_backend(void **state)
{
    const struct harness *h = *state;
    const zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                               .count = 1};
    const char *const names[] = {"Work", "OtherWork"};

    for (int i = 0; i < 2; i++) {
        zet_metric_query_pool_handle_t pool = NULL;

        assert_success(zetMetricQueryPoolCreate(
            h->context, h->tiles[0],
            find_group(h->tiles[0], names[i], ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED),
            &desc, &pool));
        assert_success(zetMetricQueryPoolDestroy(pool));
    }
}

/* Whether a device has an event-based group of that name. */
static bool is_queried(ze_device_handle_t device, const char *name)
{
    zet_metric_group_handle_t groups[32];
    uint32_t count = 32;

    assert_success(zetMetricGroupGet(device, &count, groups));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t properties = {.stype =
                                                        ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};

        assert_success(zetMetricGroupGetProperties(groups[i], &properties));
        if (strcmp(properties.name, name) == 0 &&
            properties.samplingType == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED)
            return true;
    }
    return false;
}

/* Rule 12.16. */
static void unit__without_queries__has_no_groups_for_them_and_says_why(void **state)
{
    const struct harness *h = *state;
    const ze_device_handle_t devices[] = {h->device, h->tiles[1]};
    struct zeta_group_info info = {.struct_size = sizeof(info)};

    for (int i = 0; i < 2; i++) {
        assert_false(is_queried(devices[i], "Narrow"));
        assert_true(is_queried(devices[i], "Work"));
        assert_success(zetaMetricGroupGetInfo(
            find_group(devices[i], "Narrow", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED),
            &info));
        assert_string_equal(info.no_queries, BARE_NO_QUERIES);
        assert_string_equal(info.query_note, "");
        /* Never meant for queries, so nobody asks where they are. */
        assert_success(zetaMetricGroupGetInfo(
            find_group(devices[i], "Unmarked", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED),
            &info));
        assert_string_equal(info.no_queries, "");
    }
}

/* Rule 12.16. */
static void event_group__note_of_its_unit__is_said(void **state)
{
    const struct harness *h = *state;
    struct zeta_group_info info = {.struct_size = sizeof(info)};

    assert_success(zetaMetricGroupGetInfo(
        find_group(h->device, "Work", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED), &info));
    assert_string_equal(info.query_note, BARE_QUERY_NOTE);
    assert_string_equal(info.no_queries, "");
    assert_success(zetaMetricGroupGetInfo(
        find_group(h->device, "Work", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED), &info));
    assert_string_equal(info.query_note, "");
}

/* Rule 7.9. */
static void marker__into_a_stream__arrives(void **state)
{
    const struct harness *h = *state;
    ze_device_handle_t tile = h->tiles[1];
    zet_metric_group_handle_t group =
        find_group(tile, "Work", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED);
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = 1000000};
    ze_command_list_handle_t list = immediate_on(h, tile, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    zet_metric_streamer_handle_t streamer = NULL;
    uint8_t data[1024];
    size_t size = sizeof(data);
    uint32_t marker = 0;

    assert_success(zetContextActivateMetricGroups(h->context, tile, 1, &group));
    assert_success(zetMetricStreamerOpen(h->context, tile, group, &desc, NULL, &streamer));
    assert_success(zetCommandListAppendMetricStreamerMarker(list, streamer, 0x1234));
    assert_success(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, data));
    assert_cmp(size, >=, 64);
    memcpy(&marker, data + size - 64 + 12, sizeof(marker));
    assert_int_equal(marker, 0x1234);
    assert_success(zetMetricStreamerClose(streamer));
    assert_success(zeCommandListDestroy(list));
    assert_success(zetContextActivateMetricGroups(h->context, tile, 0, NULL));
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Rule 7.10. */
static void host_memory__no_compute__is_memory_of_this_process(void **state)
{
    const struct harness *h = *state;
    const ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    ze_memory_allocation_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    ze_device_memory_access_properties_t access = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES};
    ze_ipc_mem_handle_t ipc;
    void *memory = NULL;
    void *base = NULL;
    size_t bytes = 0;

    assert_success(zeMemAllocHost(h->context, &desc, 100, 4096, &memory));
    assert_int_equal((uintptr_t)memory % 4096, 0);
    assert_success(zeMemGetAllocProperties(h->context, memory, &properties, NULL));
    assert_int_equal(properties.type, ZE_MEMORY_TYPE_HOST);
    assert_success(zeMemGetAddressRange(h->context, (char *)memory + 99, &base, &bytes));
    assert_ptr_equal(base, memory);
    assert_int_equal(bytes, 100);
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, zeMemGetIpcHandle(h->context, memory, &ipc));
    assert_non_null(strstr(harness_sentence(h), "no plugin computes"));
    assert_success(zeMemFree(h->context, memory));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemFree(h->context, memory));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
                  zeMemAllocHost(h->context, &desc, 100, 48, &memory));
    assert_success(zeDeviceGetMemoryAccessProperties(h->device, &access));
    assert_int_equal(access.hostAllocCapabilities, ZE_MEMORY_ACCESS_CAP_FLAG_RW);
    assert_int_equal(access.deviceAllocCapabilities, 0);
}

/* Rule 7.10. */
static void timestamp__outside_of_allocations__is_refused(void **state)
{
    const struct harness *h = *state;
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    uint64_t *memory = host_memory(h, 12);
    uint64_t local = 0;

    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeCommandListAppendWriteGlobalTimestamp(list, &local, NULL, 0, NULL));
    assert_non_null(strstr(harness_sentence(h), "zeMemAllocHost"));
    /* Only half of the second one is there. */
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeCommandListAppendWriteGlobalTimestamp(list, memory + 1, NULL, 0, NULL));
    assert_success(zeCommandListAppendWriteGlobalTimestamp(list, memory, NULL, 0, NULL));
    assert_int_not_equal(memory[0], 0);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeMemFree(h->context, memory));
}

/* ---- what needs compute ---------------------------------------------------------------------- */

static void refused(const struct harness *h, ze_result_t result)
{
    assert_int_equal(result, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_non_null(strstr(harness_sentence(h), "no plugin computes"));
}

/* Rules 7.9, 7.10. */
static void compute__nobody_computes__is_unsupported_with_a_sentence(void **state)
{
    const struct harness *h = *state;
    const ze_device_mem_alloc_desc_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    const ze_module_desc_t module_desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                          .format = ZE_MODULE_FORMAT_NATIVE,
                                          .inputSize = sizeof(FAKE_IMAGE) - 1,
                                          .pInputModule = (const uint8_t *)FAKE_IMAGE};
    ze_command_list_handle_t list = harness_list(h);
    ze_event_pool_handle_t pool = harness_pool(h, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP, 1);
    ze_event_handle_t event = harness_event(pool, 0);
    ze_module_handle_t module = NULL;
    uint32_t *words = host_memory(h, 64);
    void *memory = NULL;

    refused(h, zeMemAllocDevice(h->context, &device, 64, 0, h->device, &memory));
    refused(h, zeMemAllocShared(h->context, &device, &host, 64, 0, h->device, &memory));
    refused(h, zeModuleCreate(h->context, h->device, &module_desc, &module, NULL));
    refused(h, zeCommandListAppendMemoryCopy(list, words, words + 8, 16, NULL, 0, NULL));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  zeCommandListAppendMemoryFill(list, words, words + 8, 4, 16, NULL, 0, NULL));
    refused(h,
            zeCommandListAppendQueryKernelTimestamps(list, 1, &event, words, NULL, NULL, 0, NULL));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  zeVirtualMemReserve(h->context, words, 4096, &memory));
    assert_success(zeEventDestroy(event));
    assert_success(zeEventPoolDestroy(pool));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeMemFree(h->context, words));
}

/* ---- processes and threads ------------------------------------------------------------------- */

/* Runs in the child, without cmocka: the number of the first check that failed, or 0. */
static int check_child(const struct harness *h, ze_command_list_handle_t list)
{
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_command_queue_desc_t queue = {.mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    ze_driver_handle_t driver = NULL;
    ze_device_handle_t device = NULL;
    ze_context_handle_t context = NULL;
    ze_command_list_handle_t own = NULL;
    uint32_t count = 1;

    if (zeCommandListAppendBarrier(list, NULL, 0, NULL) != ZE_RESULT_ERROR_UNINITIALIZED)
        return 1;
    if (zeDriverGet(&count, &driver) != ZE_RESULT_SUCCESS || driver == h->driver)
        return 2;
    if (zeDeviceGet(driver, &count, &device) != ZE_RESULT_SUCCESS)
        return 3;
    if (zeContextCreate(driver, &desc, &context) != ZE_RESULT_SUCCESS)
        return 4;
    if (zeCommandListCreateImmediate(context, device, &queue, &own) != ZE_RESULT_SUCCESS)
        return 5;
    if (zeCommandListAppendBarrier(own, NULL, 0, NULL) != ZE_RESULT_SUCCESS)
        return 6;
    return zeCommandListDestroy(own) == ZE_RESULT_SUCCESS ? 0 : 7;
}

static void fork__queue_in_the_parent__child_makes_its_own(void **state)
{
    const struct harness *h = *state;
    int status = 0;

    if (NO_FORK_OF_BUSY_THREADS)
        skip(); /* that of the queue may still be at the end of the barrier */
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    assert_success(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    pid_t child = fork();
    assert_cmp(child, >=, 0);
    if (child == 0) {
        (void)alarm(600);
        _exit(check_child(h, list));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_success(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    assert_success(zeCommandListDestroy(list));
}

enum { THREADS = 4, ROUNDS = 50 };

struct runner {
    const struct harness *h;
    ze_device_handle_t device;
    ze_event_handle_t mine, next; /* a ring of threads hands one event on */
    uint64_t *stamp;
    ze_result_t worst;
};

static void note(struct runner *runner, ze_result_t result)
{
    if (result != ZE_RESULT_SUCCESS)
        runner->worst = result;
}

static void *run(void *argument)
{
    struct runner *r = argument;

    for (int i = 0; i < ROUNDS; i++) {
        ze_command_list_handle_t list =
            immediate_on(r->h, r->device, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);

        note(r, zeCommandListAppendWaitOnEvents(list, 1, &r->mine));
        note(r, zeCommandListAppendEventReset(list, r->mine));
        note(r, zeCommandListAppendWriteGlobalTimestamp(list, r->stamp, r->next, 0, NULL));
        note(r, zeCommandListHostSynchronize(list, UINT64_MAX));
        note(r, zeCommandListDestroy(list));
    }
    return NULL;
}

static void threads__queues_of_two_plugins_in_a_ring__all_end(void **state)
{
    const struct harness *h = *state;
    ze_event_pool_handle_t pool = harness_pool(h, 0, THREADS);
    uint64_t *stamps = host_memory(h, THREADS * sizeof(*stamps));
    struct runner runners[THREADS];
    ze_event_handle_t events[THREADS];
    pthread_t threads[THREADS];

    for (uint32_t i = 0; i < THREADS; i++)
        events[i] = harness_event(pool, i);
    for (uint32_t i = 0; i < THREADS; i++) {
        runners[i] = (struct runner){.h = h,
                                     .device = i % 2 ? other_device : h->device,
                                     .mine = events[i],
                                     .next = events[(i + 1) % THREADS],
                                     .stamp = &stamps[i]};
        assert_int_equal(pthread_create(&threads[i], NULL, run, &runners[i]), 0);
    }
    assert_success(zeEventHostSignal(events[0]));
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(runners[i].worst, ZE_RESULT_SUCCESS);
        assert_int_not_equal(stamps[i], 0);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        assert_success(zeEventDestroy(events[i]));
    assert_success(zeEventPoolDestroy(pool));
    assert_success(zeMemFree(h->context, stamps));
}

SUITE(bare)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(driver__two_plugins_without_compute__is_one),
        cmocka_unit_test(queue_groups__no_compute__have_metrics_alone),
        cmocka_unit_test(queue__list_with_everything__runs_in_order),
        cmocka_unit_test(fence__of_a_queue__is_signalled_at_the_end),
        cmocka_unit_test(event__reset_by_a_queue__can_be_signalled_again),
        cmocka_unit_test(host_function__between_time_stamps__is_called_in_order),
        cmocka_unit_test(event__between_queues_of_a_plugin__is_seen),
        cmocka_unit_test(event__between_queues_of_two_plugins__wakes_the_other),
        cmocka_unit_test(event__signalled_by_the_host__wakes_queues_of_all_plugins),
        cmocka_unit_test(destroy__work_runs__is_refused_until_it_ends),
        cmocka_unit_test(event__of_work_that_failed__is_lost_for_queues_of_other_plugins),
        cmocka_unit_test(query__around_time_stamps__counts_them),
        cmocka_unit_test(pools__sets_with_and_without_uuid__say_so_to_the_backend),
        cmocka_unit_test(unit__without_queries__has_no_groups_for_them_and_says_why),
        cmocka_unit_test(event_group__note_of_its_unit__is_said),
        cmocka_unit_test(marker__into_a_stream__arrives),
        cmocka_unit_test(host_memory__no_compute__is_memory_of_this_process),
        cmocka_unit_test(timestamp__outside_of_allocations__is_refused),
        cmocka_unit_test(compute__nobody_computes__is_unsupported_with_a_sentence),
        cmocka_unit_test(fork__queue_in_the_parent__child_makes_its_own),
        cmocka_unit_test(threads__queues_of_two_plugins_in_a_ring__all_end),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
