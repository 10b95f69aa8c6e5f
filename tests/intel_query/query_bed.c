#include "tests/intel_query/query_bed.h"

#include <string.h>
#include <time.h>

/* Reports that may be unread when time passes on; the smallest ring holds 29127. */
enum { MOST_WAITING = 4096 };

static void activate(struct query_bed *bed, ze_device_handle_t device, const char *group)
{
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};

    bed->device = device;
    EXPECT_OK(zeContextCreate(driver_of(device), &desc, &bed->context));
    bed->group = find_group(device, group, EVENT_BASED, NULL);
    EXPECT_OK(zetContextActivateMetricGroups(bed->context, device, 1, &bed->group));
}

static ze_result_t make_pool(struct query_bed *bed)
{
    const zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                               .type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE,
                                               .count = 4};

    return zetMetricQueryPoolCreate(bed->context, bed->device, bed->group, &desc, &bed->pool);
}

static void make_queries(struct query_bed *bed)
{
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};

    for (uint32_t i = 0; i < 4; i++)
        EXPECT_OK(zetMetricQueryCreate(bed->pool, i, &bed->queries[i]));
    EXPECT_OK(zeCommandListCreateImmediate(bed->context, bed->device, &desc, &bed->list));
}

struct query_bed query_bed_open(ze_device_handle_t device, const char *group)
{
    struct query_bed bed = {0};

    activate(&bed, device, group);
    EXPECT_OK(make_pool(&bed));
    make_queries(&bed);
    return bed;
}

void query_bed_open_fails(ze_device_handle_t device, const char *group, ze_result_t wanted)
{
    struct query_bed bed = {0};

    activate(&bed, device, group);
    EXPECT_RESULT(make_pool(&bed), wanted);
}

struct query_bed query_bed_beside(const struct query_bed *bed)
{
    struct query_bed other = *bed;

    EXPECT_OK(make_pool(&other));
    make_queries(&other);
    return other;
}

void query_bed_beside_end(struct query_bed *bed)
{
    /* The result of an end may be there before its command is over. */
    (void)zeCommandListHostSynchronize(bed->list, UINT64_MAX);
    EXPECT_OK(zeCommandListDestroy(bed->list));
    for (uint32_t i = 0; i < 4; i++)
        EXPECT_OK(zetMetricQueryDestroy(bed->queries[i]));
    EXPECT_OK(zetMetricQueryPoolDestroy(bed->pool));
}

void query_bed_close(struct query_bed *bed)
{
    query_bed_beside_end(bed);
    EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, 0, NULL));
    EXPECT_OK(zeContextDestroy(bed->context));
}

void query_bed_begin(const struct query_bed *bed, uint32_t index)
{
    EXPECT_OK(zetCommandListAppendMetricQueryBegin(bed->list, bed->queries[index]));
    EXPECT_OK(zeCommandListHostSynchronize(bed->list, UINT64_MAX));
}

void query_bed_end(const struct query_bed *bed, uint32_t index)
{
    ze_event_handle_t none = NULL;

    EXPECT_OK(zetCommandListAppendMetricQueryEnd(bed->list, bed->queries[index], NULL, 0, &none));
}

void query_bed_end_now(const struct query_bed *bed, uint32_t index)
{
    query_bed_end(bed, index);
    EXPECT_OK(zeCommandListHostSynchronize(bed->list, UINT64_MAX));
}

size_t query_bed_collect(const struct query_bed *bed, uint32_t index, uint8_t *records)
{
    ze_result_t result = ZE_RESULT_NOT_READY;
    size_t bytes = 0;

    for (uint32_t step = 0; step < BED_STEPS && result == ZE_RESULT_NOT_READY; step++) {
        query_bed_pass(BED_STEP_NS);
        bytes = QUERY_MOST_BYTES;
        result = zetMetricQueryGetData(bed->queries[index], &bytes, records);
    }
    EXPECT_RESULT(result, ZE_RESULT_SUCCESS);
    return bytes;
}

void query_bed_lose(const struct query_bed *bed, uint32_t index, enum kmd_fault fault,
                    uint8_t *records)
{
    query_bed_begin(bed, index);
    query_bed_pass(20 * BED_STEP_NS);
    query_bed_catch_up(bed);
    const uint64_t before = kmd_statistic(bed_machine(), 0, KMD_STAT_REPORTS_LOST);
    kmd_fault(bed_machine(), 0, fault, 3);
    /* A full ring goes on, and counts its losses, in the step after the reader made room. */
    for (uint32_t i = 0;
         i < 20 ||
         (i < BED_STEPS && kmd_statistic(bed_machine(), 0, KMD_STAT_REPORTS_LOST) == before);
         i++)
        query_bed_pass(BED_STEP_NS);
    query_bed_end(bed, index);
    (void)query_bed_collect(bed, index, records);
}

void query_bed_catch_up(const struct query_bed *bed)
{
    static uint8_t unused[2 * QUERY_MOST_BYTES];

    query_bed_begin(bed, 3);
    query_bed_end(bed, 3);
    (void)query_bed_collect(bed, 3, unused);
}

static uint64_t reports_waiting(void)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < KMD_DEVICES; i++)
        count += kmd_statistic(bed_machine(), i, KMD_STAT_REPORTS_WAITING);
    return count;
}

/* Gives way to the reader once, then until no ring can overflow in the next step. */
static void give_way(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    for (uint32_t i = 0; i == 0 || (i < BED_STEPS && reports_waiting() > MOST_WAITING); i++)
        (void)nanosleep(&pause, NULL);
}

void query_bed_pass(uint64_t ns)
{
    const uint64_t step_ns = 50000000;

    for (uint64_t passed = 0; passed < ns; passed += step_ns) {
        kmd_advance(bed_machine(), ns - passed < step_ns ? ns - passed : step_ns);
        give_way();
    }
}

struct zeta_query_record query_bed_head(const uint8_t *record)
{
    struct zeta_query_record head;

    memcpy(&head, record, sizeof(head));
    return head;
}

uint64_t query_bed_field(const uint8_t *record, uint32_t index)
{
    uint64_t value;

    memcpy(&value, record + sizeof(struct zeta_query_record) + (size_t)index * 8, sizeof(value));
    return value;
}

/* What a counter counted between the ticks of a record. */
static uint64_t counted(const uint8_t *record, uint32_t device, const char *uuid,
                        enum kmd_bank bank, uint32_t index)
{
    const struct zeta_query_record head = query_bed_head(record);

    return kmd_counter(bed_machine(), device, 0, uuid, bank, index, head.end_ticks) -
           kmd_counter(bed_machine(), device, 0, uuid, bank, index, head.begin_ticks);
}

/* Fields: report id, ticks, context, clocks; A0 to A35, B0 to B7, C0 to C7. */
void query_bed_expect_a32(const uint8_t *record, uint32_t device, const char *uuid)
{
    const struct zeta_query_record head = query_bed_head(record);

    assert_int_equal(head.size_bytes, zeta_query_record_bytes(4 + 36 + 8 + 8));
    assert_int_equal(query_bed_field(record, 1), head.end_ticks - head.begin_ticks);
    assert_int_equal(query_bed_field(record, 3), counted(record, device, uuid, KMD_BANK_CLOCK, 0));
    for (uint32_t i = 0; i < 36; i++)
        assert_int_equal(query_bed_field(record, 4 + i),
                         counted(record, device, uuid, KMD_BANK_A, i));
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(query_bed_field(record, 40 + i),
                         counted(record, device, uuid, KMD_BANK_B, i));
        assert_int_equal(query_bed_field(record, 48 + i),
                         counted(record, device, uuid, KMD_BANK_C, i));
    }
}
