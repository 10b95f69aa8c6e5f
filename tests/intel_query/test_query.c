/*
 * Queries of whole GPUs through i915, on emulated machines: what they counted is what the counters
 * did between the times that records tell, to the last count.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <zeta/zeta.h>

#include "tests/forked.h"
#include "tests/intel_query/query_bed.h"
#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static const char *uuid_of_test_oa = "6607f034-d053-40d1-8215-67c07f3041bb";

static uint8_t records[QUERY_MOST_BYTES];

/* The ticks of the device as programs read them. */
static uint64_t ticks_of(ze_device_handle_t device)
{
    uint64_t host = 0, ticks = 0;

    EXPECT_OK(zeDeviceGetGlobalTimestamps(device, &host, &ticks));
    return ticks;
}

/* ---- counts --------------------------------------------------------------------------------- */

/* Rules 26.24, 26.25. */
static void query__of_gen12__counts_what_the_counters_did(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    struct query_bed bed;
    uint64_t begin, end;

    (void)state;
    (void)bed_start(&config);
    bed = query_bed_open(bed_device(), "TestOa");
    query_bed_pass(3 * BED_STEP_NS);
    begin = ticks_of(bed.device);
    query_bed_begin(&bed, 0);
    query_bed_pass(40 * BED_STEP_NS);
    end = ticks_of(bed.device);
    query_bed_end_now(&bed, 0);
    (void)query_bed_collect(&bed, 0, records);
    const struct zeta_query_record head = query_bed_head(records);
    query_bed_expect_a32(records, 0, uuid_of_test_oa);
    assert_int_equal(head.flags, 0);
    /* The first reports at or after both times, which come every 2^10 ticks. */
    assert_cmp(head.begin_ticks, >=, begin);
    assert_cmp(head.begin_ticks - begin, <=, 1024);
    assert_cmp(head.end_ticks, >=, end);
    assert_cmp(head.end_ticks - end, <=, 1024);
    assert_int_equal(head.time_ns, (head.end_ticks - head.begin_ticks) * 1000000000 / 19200000);
    query_bed_close(&bed);
}

static void metrics__of_a_query__are_those_of_its_counts(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    zet_typed_value_t values[64];
    struct query_bed bed;
    uint32_t count = 64;
    size_t bytes;

    (void)state;
    (void)bed_start(&config);
    bed = query_bed_open(bed_device(), "TestOa");
    query_bed_begin(&bed, 1);
    query_bed_pass(10 * BED_STEP_NS);
    query_bed_end(&bed, 1);
    bytes = query_bed_collect(&bed, 1, records);
    EXPECT_OK(zetMetricGroupCalculateMetricValues(bed.group,
                                                  ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                                  bytes, records, &count, values));
    assert_int_equal(bed_value(&values[metric_index(bed.group, "GpuTime")]),
                     query_bed_head(records).time_ns);
    assert_int_equal(bed_value(&values[metric_index(bed.group, "GpuCoreClocks")]),
                     query_bed_field(records, 3));
    for (uint32_t i = 0; i < 8; i++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "Counter%u", i);
        assert_int_equal(bed_value(&values[metric_index(bed.group, name)]),
                         query_bed_field(records, 40 + i));
    }
    query_bed_close(&bed);
}

/* Rule 26.29. */
static void queries__overlapping_in_two_pools__each_has_its_own(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    struct kmd_machine *machine = bed_start(&config);
    struct query_bed beds[2];

    (void)state;
    beds[0] = query_bed_open(bed_device(), "RenderBasic");
    beds[1] = query_bed_beside(&beds[0]);
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_STREAMS_OPENED), 1);
    for (uint32_t i = 0; i < 4; i++) {
        query_bed_begin(&beds[i % 2], i);
        query_bed_pass(7 * BED_STEP_NS);
    }
    for (uint32_t i = 0; i < 4; i++) {
        query_bed_end(&beds[i % 2], i);
        query_bed_pass(11 * BED_STEP_NS);
    }
    for (uint32_t i = 0; i < 4; i++) {
        (void)query_bed_collect(&beds[i % 2], i, records);
        query_bed_expect_a32(records, 0, "");
        assert_cmp(query_bed_head(records).time_ns, >=, 20 * BED_STEP_NS);
    }
    query_bed_beside_end(&beds[1]);
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_STREAMS_OPEN), 1);
    query_bed_close(&beds[0]);
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_STREAMS_OPEN), 0);
}

/* The core clock of 32 bits comes around every few seconds, the OA clock in the middle of it.
 * Rule 26.24. */
static void query__of_half_a_minute__counts_across_all_turns(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    struct query_bed bed;

    (void)state;
    config.first_ticks = (UINT64_C(1) << 32) - 200000000; /* some 10 s */
    (void)setenv("ZETA_PLUGIN_INTEL_GEN12LP_QUERY_PERIOD_NS", "2000000", 1);
    (void)bed_start(&config);
    bed = query_bed_open(bed_device(), "RenderBasic");
    query_bed_begin(&bed, 0);
    query_bed_pass(UINT64_C(30000000000));
    query_bed_end(&bed, 0);
    (void)query_bed_collect(&bed, 0, records);
    query_bed_expect_a32(records, 0, "");
    assert_int_equal(query_bed_head(records).flags, 0);
    assert_cmp(query_bed_field(records, 3), >, UINT64_C(2) << 32);
    query_bed_close(&bed);
}

/* All counters of Haswell have 32 bits, also those that add up all EUs. Rule 26.24. */
static void query__of_haswell__counts_across_turns_of_its_a_counters(void **state)
{
    struct kmd_config config = bed_config("hsw-gt2", "i915");
    uint32_t turns = 0;
    struct query_bed bed;

    (void)state;
    (void)setenv("ZETA_PLUGIN_INTEL_HASWELL_QUERY_PERIOD_NS", "1000000000", 1);
    (void)bed_start(&config);
    bed = query_bed_open(bed_device(), "RenderBasic");
    query_bed_begin(&bed, 0);
    query_bed_pass(UINT64_C(20000000000));
    query_bed_end(&bed, 0);
    (void)query_bed_collect(&bed, 0, records);
    const struct zeta_query_record head = query_bed_head(records);
    assert_int_equal(head.flags, 0);
    for (uint32_t i = 0; i < 45; i++) { /* fields: report id, ticks; A0 to A44 */
        const uint64_t counted =
            kmd_counter(bed_machine(), 0, 0, "", KMD_BANK_A, i, head.end_ticks) -
            kmd_counter(bed_machine(), 0, 0, "", KMD_BANK_A, i, head.begin_ticks);

        assert_int_equal(query_bed_field(records, 2 + i), counted);
        turns += counted >> 32 != 0;
    }
    assert_cmp(turns, >, 0);
    query_bed_close(&bed);
}

static void devices__two_of_them__count_apart(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    ze_device_handle_t devices[2];
    struct query_bed beds[2];

    (void)state;
    config.device_count = 2;
    config.devices[1] = (struct kmd_device){.platform = "skl-gt2", .driver = "i915"};
    (void)bed_start(&config);
    root_devices(2, devices);
    for (uint32_t i = 0; i < 2; i++)
        beds[i] = query_bed_open(devices[i], "RenderBasic");
    for (uint32_t i = 0; i < 2; i++)
        query_bed_begin(&beds[i], 0);
    query_bed_pass(20 * BED_STEP_NS);
    for (uint32_t i = 0; i < 2; i++)
        query_bed_end(&beds[i], 0);
    for (uint32_t i = 0; i < 2; i++) {
        ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};

        EXPECT_OK(zeDeviceGetProperties(devices[i], &properties));
        (void)query_bed_collect(&beds[i], 0, records);
        query_bed_expect_a32(records, strstr(properties.name, "Skylake") ? 1 : 0, "");
        query_bed_close(&beds[i]);
    }
}

/* Descriptors of this process that the kernel names so. */
static uint32_t count_links(const char *wanted)
{
    DIR *folder = opendir("/proc/self/fd");
    const struct dirent *entry;
    uint32_t count = 0;

    while (folder && (entry = readdir(folder))) {
        char path[300], link[256] = "";

        (void)snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
        (void)!readlink(path, link, sizeof(link) - 1);
        count += strcmp(link, wanted) == 0;
    }
    if (folder)
        (void)closedir(folder);
    return count;
}

/* A child begins anew, and takes nothing of what its parent counts. */
static void fork__inside_a_query__parent_counts_on(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    struct query_bed bed;
    int status = -1;

    (void)state;
    if (NO_FORK_OF_BUSY_THREADS)
        skip(); /* the one that reads reports is busy */
    (void)bed_start(&config);
    (void)bed_device();
    const uint32_t eventfds = count_links("anon_inode:[eventfd]");
    bed = query_bed_open(bed_device(), "RenderBasic");
    assert_cmp(count_links("anon_inode:[eventfd]"), >, eventfds);
    assert_int_equal(count_links("anon_inode:[i915_perf]"), 1);
    query_bed_begin(&bed, 0);
    query_bed_pass(10 * BED_STEP_NS);
    const pid_t child = fork_child();
    assert_cmp(child, >=, 0);
    if (child == 0) {
        ze_driver_handle_t driver = NULL;
        ze_device_handle_t device = NULL;
        uint32_t count = 1;

        _exit(zeDriverGet(&count, &driver) != ZE_RESULT_SUCCESS ||
              zeDeviceGet(driver, &count, &device) != ZE_RESULT_SUCCESS || count != 1 ||
              count_links("anon_inode:[eventfd]") != eventfds ||
              count_links("anon_inode:[i915_perf]") != 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    query_bed_pass(10 * BED_STEP_NS);
    query_bed_end(&bed, 0);
    (void)query_bed_collect(&bed, 0, records);
    query_bed_expect_a32(records, 0, "");
    assert_int_equal(query_bed_head(records).flags, 0);
    query_bed_close(&bed);
}

/* What was before a query is over: it counts all and has no flag. */
static void expect_undisturbed(struct query_bed *bed, uint32_t index)
{
    query_bed_begin(bed, index);
    query_bed_pass(20 * BED_STEP_NS);
    query_bed_end(bed, index);
    (void)query_bed_collect(bed, index, records);
    assert_int_equal(query_bed_head(records).flags, 0);
    query_bed_expect_a32(records, 0, "");
}

/* ---- sleep and losses ----------------------------------------------------------------------- */

/* Rule 26.26. */
static void query__while_the_gpu_sleeps__ends_and_counted_nothing(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    struct query_bed bed;

    (void)state;
    (void)bed_start(&config);
    bed = query_bed_open(bed_device(), "RenderBasic");
    query_bed_pass(20 * BED_STEP_NS);
    kmd_fault(bed_machine(), 0, KMD_FAULT_IDLE, 1);
    query_bed_pass(20 * BED_STEP_NS);
    query_bed_begin(&bed, 0);
    query_bed_pass(200 * BED_STEP_NS);
    query_bed_end_now(&bed, 0);
    (void)query_bed_collect(&bed, 0, records);
    const struct zeta_query_record head = query_bed_head(records);
    assert_int_equal(head.flags, 0);
    assert_cmp(head.time_ns, >=, 200 * BED_STEP_NS);
    assert_cmp(head.time_ns, <, 260 * BED_STEP_NS);
    for (uint32_t i = 3; i < 56; i++)
        assert_int_equal(query_bed_field(records, i), 0);
    query_bed_close(&bed);
}

/* Counters went on: whoever counts from one side to the other misses nothing. Rule 26.27. */
static void reports__lost_inside_a_query__change_nothing(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    struct kmd_machine *machine = bed_start(&config);
    struct query_bed bed = query_bed_open(bed_device(), "RenderBasic");

    (void)state;
    query_bed_lose(&bed, 0, KMD_FAULT_LOSE_REPORTS, records);
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_REPORTS_LOST), 3);
    assert_int_equal(query_bed_head(records).flags, 0);
    query_bed_expect_a32(records, 0, "");
    query_bed_close(&bed);
}

/* Rule 26.27. */
static void buffer__lost_inside_a_query__is_marked(void **state)
{
    const uint32_t marks = ZETA_QUERY_SPLIT | ZETA_QUERY_OVERFLOW;
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    struct query_bed bed;

    (void)state;
    (void)bed_start(&config);
    bed = query_bed_open(bed_device(), "RenderBasic");
    query_bed_lose(&bed, 0, KMD_FAULT_LOSE_BUFFER, records);
    assert_int_equal(query_bed_head(records).flags & marks, marks);
    /* The gap is neither in the counts nor in their time. */
    assert_cmp(query_bed_field(records, 1), <,
               query_bed_head(records).end_ticks - query_bed_head(records).begin_ticks);
    expect_undisturbed(&bed, 2);
    query_bed_close(&bed);
}

/* Counters, reports and the clock begin at 0: nobody waits until it is as late as it was.
 * Rule 26.28. */
static void reset__inside_queries__is_marked_and_none_waits(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    struct query_bed bed;

    (void)state;
    config.first_ticks = UINT64_C(200000000000); /* almost three hours */
    (void)bed_start(&config);
    bed = query_bed_open(bed_device(), "RenderBasic");
    query_bed_begin(&bed, 0);
    query_bed_pass(20 * BED_STEP_NS);
    query_bed_catch_up(&bed);
    query_bed_begin(&bed, 1);
    kmd_fault(bed_machine(), 0, KMD_FAULT_RESET, 1);
    query_bed_pass(20 * BED_STEP_NS);
    for (uint32_t i = 0; i < 2; i++) {
        query_bed_end(&bed, i);
        (void)query_bed_collect(&bed, i, records);
        assert_int_equal(query_bed_head(records).flags & (ZETA_QUERY_SPLIT | ZETA_QUERY_OVERFLOW),
                         ZETA_QUERY_SPLIT | ZETA_QUERY_OVERFLOW);
        /* Clocks of what was counted, before and after: no more than the time of it. */
        assert_cmp(query_bed_field(records, 1), <, UINT64_C(10) * 19200000);
        assert_cmp(query_bed_field(records, 3), <, UINT64_C(10) * 2000000000);
    }
    expect_undisturbed(&bed, 2);
    query_bed_close(&bed);
}

/* Reports between those of the timer: counts and times stay those of the counters. Rule 26.28. */
static void switches__of_contexts_inside__change_nothing(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    struct query_bed bed;

    (void)state;
    (void)bed_start(&config);
    bed = query_bed_open(bed_device(), "RenderBasic");
    query_bed_begin(&bed, 0);
    query_bed_pass(5 * BED_STEP_NS);
    kmd_fault(bed_machine(), 0, KMD_FAULT_CONTEXT_SWITCH, 100);
    query_bed_pass(40 * BED_STEP_NS);
    query_bed_end(&bed, 0);
    (void)query_bed_collect(&bed, 0, records);
    assert_int_equal(query_bed_head(records).flags, 0);
    query_bed_expect_a32(records, 0, "");
    query_bed_close(&bed);
}

static void device__unplugged__queries_are_lost(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    ze_result_t result = ZE_RESULT_NOT_READY;
    struct query_bed bed;

    (void)state;
    (void)bed_start(&config);
    bed = query_bed_open(bed_device(), "RenderBasic");
    query_bed_begin(&bed, 0);
    query_bed_end(&bed, 0);
    kmd_fault(bed_machine(), 0, KMD_FAULT_UNPLUG, 1);
    for (uint32_t step = 0; step < BED_STEPS && result == ZE_RESULT_NOT_READY; step++) {
        size_t bytes = sizeof(records);

        query_bed_pass(BED_STEP_NS);
        result = zetMetricQueryGetData(bed.queries[0], &bytes, records);
    }
    assert_int_equal(result, ZE_RESULT_ERROR_DEVICE_LOST);
    query_bed_close(&bed);
}

/* ---- the unit ------------------------------------------------------------------------------- */

/* Rule 26.29. */
static void pool__while_a_stream_has_the_unit__is_not_available(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    const zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                               .count = 1};
    zet_metric_query_pool_handle_t pool = NULL;
    struct bed_stream stream;

    (void)state;
    (void)bed_start(&config);
    stream = bed_open(bed_device(), "TestOa", 1000000);
    EXPECT_RESULT(zetMetricQueryPoolCreate(stream.context, stream.device,
                                           find_group(stream.device, "TestOa", EVENT_BASED, NULL),
                                           &desc, &pool),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    expect_sentence("a stream of TestOa");
    bed_close(&stream);
}

/* Rule 26.29. */
static void stream__while_pools_have_the_unit__names_them(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = 1000000};
    zet_metric_streamer_handle_t streamer = NULL;
    zet_metric_group_handle_t groups[2];
    struct query_bed bed;

    (void)state;
    (void)bed_start(&config);
    bed = query_bed_open(bed_device(), "RenderBasic");
    groups[0] = find_group(bed.device, "RenderBasic", TIME_BASED, NULL);
    EXPECT_OK(zetContextActivateMetricGroups(bed.context, bed.device, 1, groups));
    EXPECT_RESULT(zetMetricStreamerOpen(bed.context, bed.device, groups[0], &desc, NULL, &streamer),
                  ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    expect_sentence("query pools of RenderBasic");
    query_bed_close(&bed);
}

/* Rule 26.29. */
static void pool__while_another_process_has_the_unit__is_not_available(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");

    (void)state;
    (void)bed_start(&config);
    kmd_fault(bed_machine(), 0, KMD_FAULT_OPEN_ERRNO, EBUSY);
    query_bed_open_fails(bed_device(), "RenderBasic", ZE_RESULT_ERROR_NOT_AVAILABLE);
    expect_sentence("EBUSY");
}

static void pool__without_permission__says_what_to_do(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");

    (void)state;
    config.is_privileged = false;
    (void)bed_start(&config);
    query_bed_open_fails(bed_device(), "RenderBasic", ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS);
    expect_sentence("perf_stream_paranoid");
}

/* ---- groups --------------------------------------------------------------------------------- */

static bool has_queries(ze_device_handle_t device)
{
    zet_metric_group_handle_t groups[256];
    uint32_t count = 256;

    EXPECT_OK(zetMetricGroupGet(device, &count, groups));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t properties = {.stype =
                                                        ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};

        EXPECT_OK(zetMetricGroupGetProperties(groups[i], &properties));
        if (properties.samplingType == EVENT_BASED)
            return true;
    }
    return false;
}

/* Rule 26.24. */
static void groups__that_are_queried__say_that_they_count_the_whole_gpu(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    struct zeta_group_info info = {.struct_size = sizeof(info)};

    (void)state;
    (void)bed_start(&config);
    EXPECT_OK(
        zetaMetricGroupGetInfo(find_group(bed_device(), "RenderBasic", EVENT_BASED, NULL), &info));
    assert_non_null(strstr(info.query_note, "whole GPU"));
    assert_string_equal(info.no_queries, "");
}

/* What the kernel lets everybody do is what counts, whoever runs the tests. */
static void drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}};

    assert_int_equal(syscall(SYS_capset, &header, none), 0);
}

/* Half a report in a second is not often enough for any counter of 32 bits. Rule 26.30. */
static void groups__where_reports_are_too_rare__are_not_queried_and_say_why(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    struct zeta_group_info info = {.struct_size = sizeof(info)};
    ze_device_handle_t device;

    (void)state;
    config.is_privileged = false;
    config.max_sample_rate = 1;
    (void)bed_start_machine(&config);
    drop_capabilities();
    EXPECT_OK(zeInit(0));
    device = bed_device();
    assert_false(has_queries(device));
    EXPECT_OK(zetaMetricGroupGetInfo(find_group(device, "RenderBasic", TIME_BASED, NULL), &info));
    assert_non_null(strstr(info.no_queries, "oa_max_sample_rate"));
}

/* ---- queues, and time that runs ------------------------------------------------------------- */

static void queue__of_a_gpu_without_compute__writes_its_clock(void **state)
{
    const ze_command_queue_desc_t desc = {.mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    ze_command_list_handle_t list = NULL;
    ze_context_handle_t context;
    ze_device_handle_t device;
    void *memory = NULL;
    uint64_t stamp;

    (void)state;
    (void)bed_start(&config);
    device = bed_device();
    context = make_context(device);
    EXPECT_OK(zeCommandListCreateImmediate(context, device, &desc, &list));
    EXPECT_OK(zeMemAllocHost(context, &host, sizeof(stamp), 0, &memory));
    EXPECT_OK(zeCommandListAppendWriteGlobalTimestamp(list, memory, NULL, 0, NULL));
    memcpy(&stamp, memory, sizeof(stamp));
    assert_int_equal(stamp, ticks_of(device)); /* time stands still */
    EXPECT_OK(zeCommandListDestroy(list));
    EXPECT_OK(zeMemFree(context, memory));
    EXPECT_OK(zeContextDestroy(context));
}

/* Rule 26.25. */
static void end__when_its_event_is_signalled__has_its_result(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    const struct timespec pause = {.tv_nsec = 20000000};
    ze_event_handle_t none = NULL;
    struct test_event event;
    struct query_bed bed;

    (void)state;
    config.is_manual = false;
    /* The ring holds a minute. */
    (void)setenv("ZETA_PLUGIN_INTEL_GEN12LP_QUERY_PERIOD_NS", "1000000", 1);
    (void)bed_start(&config);
    bed = query_bed_open(bed_device(), "RenderBasic");
    event = make_event(bed.context);
    for (uint32_t i = 0; i < 3; i++) {
        size_t bytes = sizeof(records);

        query_bed_begin(&bed, i);
        (void)nanosleep(&pause, NULL);
        EXPECT_OK(
            zetCommandListAppendMetricQueryEnd(bed.list, bed.queries[i], event.event, 0, &none));
        EXPECT_OK(zeEventHostSynchronize(event.event, UINT64_MAX));
        EXPECT_OK(zetMetricQueryGetData(bed.queries[i], &bytes, records));
        query_bed_expect_a32(records, 0, "");
        assert_cmp(query_bed_head(records).time_ns, >=, 15000000);
        EXPECT_OK(zeEventHostReset(event.event));
    }
    destroy_event(&event);
    query_bed_close(&bed);
}

enum { THREADS = 3, ROUNDS = 8 };

struct worker {
    const struct query_bed *first;
    uint32_t mistakes;
};

/* A pool and a list of its own, beside those of the others. */
static void *measure(void *argument)
{
    struct worker *worker = argument;
    struct query_bed bed = query_bed_beside(worker->first);
    uint8_t own[QUERY_MOST_BYTES];

    for (uint32_t i = 0; i < ROUNDS; i++) {
        size_t bytes = sizeof(own);

        query_bed_begin(&bed, i % 4);
        query_bed_end(&bed, i % 4);
        worker->mistakes += zeCommandListHostSynchronize(bed.list, UINT64_MAX) != ZE_RESULT_SUCCESS;
        worker->mistakes +=
            zetMetricQueryGetData(bed.queries[i % 4], &bytes, own) != ZE_RESULT_SUCCESS;
        worker->mistakes += query_bed_head(own).begin_ticks > query_bed_head(own).end_ticks;
        worker->mistakes += query_bed_head(own).flags & ZETA_QUERY_OVERFLOW;
    }
    query_bed_beside_end(&bed);
    return NULL;
}

static void threads__with_pools_of_one_program__measure_at_once(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    struct query_bed bed;

    (void)state;
    config.is_manual = false;
    (void)setenv("ZETA_PLUGIN_INTEL_GEN12LP_QUERY_PERIOD_NS", "1000000", 1);
    (void)bed_start(&config);
    bed = query_bed_open(bed_device(), "RenderBasic");
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.first = &bed};
        assert_int_equal(pthread_create(&threads[i], NULL, measure, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(workers[i].mistakes, 0);
    }
    assert_int_equal(kmd_statistic(bed_machine(), 0, KMD_STAT_STREAMS_OPENED), 1);
    query_bed_close(&bed);
}

SUITE_WITH_ARGUMENTS(query, argc, argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(query__of_gen12__counts_what_the_counters_did),
        cmocka_unit_test(metrics__of_a_query__are_those_of_its_counts),
        cmocka_unit_test(queries__overlapping_in_two_pools__each_has_its_own),
        cmocka_unit_test(query__of_half_a_minute__counts_across_all_turns),
        cmocka_unit_test(query__of_haswell__counts_across_turns_of_its_a_counters),
        cmocka_unit_test(devices__two_of_them__count_apart),
        cmocka_unit_test(fork__inside_a_query__parent_counts_on),
        cmocka_unit_test(query__while_the_gpu_sleeps__ends_and_counted_nothing),
        cmocka_unit_test(reports__lost_inside_a_query__change_nothing),
        cmocka_unit_test(buffer__lost_inside_a_query__is_marked),
        cmocka_unit_test(reset__inside_queries__is_marked_and_none_waits),
        cmocka_unit_test(switches__of_contexts_inside__change_nothing),
        cmocka_unit_test(device__unplugged__queries_are_lost),
        cmocka_unit_test(pool__while_a_stream_has_the_unit__is_not_available),
        cmocka_unit_test(stream__while_pools_have_the_unit__names_them),
        cmocka_unit_test(pool__while_another_process_has_the_unit__is_not_available),
        cmocka_unit_test(pool__without_permission__says_what_to_do),
        cmocka_unit_test(groups__that_are_queried__say_that_they_count_the_whole_gpu),
        cmocka_unit_test(groups__where_reports_are_too_rare__are_not_queried_and_say_why),
        cmocka_unit_test(queue__of_a_gpu_without_compute__writes_its_clock),
        cmocka_unit_test(end__when_its_event_is_signalled__has_its_result),
        cmocka_unit_test(threads__with_pools_of_one_program__measure_at_once),
    };

    return bed_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
