#include "tests/metric_api/stream_bed.h"
#include "tests/support/compare.h"

#include <stdlib.h>
#include <string.h>

struct stream_bed bed_make(const char *device)
{
    struct stream_bed bed = {.name = device};

    bed.device = find_device(device);
    bed.context = make_context(bed.device);
    bed.control = harness_control("stream_control");
    bed.control->reset();
    return bed;
}

void bed_free(struct stream_bed *bed)
{
    static const char *const units[] = {"u0", "u1", "u2"};

    EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, 0, NULL));
    EXPECT_OK(zeContextDestroy(bed->context));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(bed->control->counts(bed->name, units[i]).overlaps, 0);
        assert_false(bed->control->is_running(bed->name, units[i]));
    }
}

zet_metric_group_handle_t bed_activate(struct stream_bed *bed, const char *group)
{
    zet_metric_group_handle_t found = find_group(bed->device, group, TIME_BASED, NULL);

    EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, 1, &found));
    return found;
}

zet_metric_streamer_handle_t bed_open(struct stream_bed *bed, zet_metric_group_handle_t group,
                                      uint32_t notify, ze_event_handle_t event)
{
    /* 1: a right stype with garbage behind it; the struct has no extension. */
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .pNext = (const void *)(uintptr_t)0x8badf00ddeadbeef,
                                       .notifyEveryNReports = notify,
                                       .samplingPeriod = 100000};
    zet_metric_streamer_handle_t streamer = NULL;

    EXPECT_OK(zetMetricStreamerOpen(bed->context, bed->device, group, &desc, event, &streamer));
    assert_non_null(streamer);
    return streamer;
}

/** Decodes a slot; the magic is told by what no record has, the report id being small. */
static struct slot decode(const uint8_t *bytes)
{
    struct fake_record record;
    uint32_t words[6];
    struct slot slot = {.form = SLOT_RECORD};

    memcpy(&record, bytes, sizeof(record));
    memcpy(words, bytes, sizeof(words));
    if (record.timestamp == record.report_id * FAKE_TICKS_PER_RECORD) {
        slot.number = record.report_id;
        return slot;
    }
    slot.form = words[4] == 1 ? SLOT_BREAK : words[4] == 2 ? SLOT_TILE : SLOT_OTHER;
    slot.number = words[5];
    memcpy(&slot.lost, bytes + 24, sizeof(slot.lost));
    return slot;
}

uint32_t bed_read(zet_metric_streamer_handle_t streamer, uint32_t max_records, uint32_t room,
                  ze_result_t wanted, struct slot *out_slots)
{
    size_t capacity = (size_t)room * FAKE_RECORD_BYTES;
    size_t size = capacity;
    /* Of the exact size, so that a sanitizer sees every byte too many. */
    uint8_t *buffer = malloc(capacity);
    uint32_t count;

    assert_non_null(buffer);
    EXPECT_RESULT(zetMetricStreamerReadData(streamer, max_records, &size, buffer), wanted);
    if (wanted != ZE_RESULT_SUCCESS && wanted != ZE_RESULT_WARNING_DROPPED_DATA) {
        free(buffer);
        return 0;
    }
    assert_cmp(size, <=, capacity);
    assert_int_equal(size % FAKE_RECORD_BYTES, 0);
    count = (uint32_t)(size / FAKE_RECORD_BYTES);
    for (uint32_t i = 0; i < count; i++)
        out_slots[i] = decode(buffer + (size_t)i * FAKE_RECORD_BYTES);
    free(buffer);
    return count;
}

void expect_records(const struct slot *slots, uint32_t count, uint32_t first, uint32_t last)
{
    assert_int_equal(count, last - first + 1);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(slots[i].form, SLOT_RECORD);
        assert_int_equal(slots[i].number, first + i);
    }
}
