#include "tests/replay/reading.h"
#include "tests/support/compare.h"

#include <stdlib.h>
#include <string.h>

#include "zeta/slot.h"
#include "zeta/zeta.h"

struct reading reading_begin(const char *device)
{
    struct reading reading = {.device = find_device(device)};

    reading.context = make_context(reading.device);
    return reading;
}

void reading_deactivate(struct reading *reading)
{
    EXPECT_OK(zetContextActivateMetricGroups(reading->context, reading->device, 0, NULL));
}

void reading_end(struct reading *reading)
{
    reading_deactivate(reading);
    EXPECT_OK(zeContextDestroy(reading->context));
}

zet_metric_streamer_handle_t reading_open(struct reading *reading, zet_metric_group_handle_t group,
                                          uint32_t notify, ze_event_handle_t event)
{
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .notifyEveryNReports = notify,
                                       .samplingPeriod = 1000000};
    zet_metric_streamer_handle_t streamer = NULL;

    EXPECT_OK(zetContextActivateMetricGroups(reading->context, reading->device, 1, &group));
    EXPECT_OK(
        zetMetricStreamerOpen(reading->context, reading->device, group, &desc, event, &streamer));
    return streamer;
}

bool reading_has_ended(zet_metric_streamer_handle_t streamer)
{
    struct zeta_stream_info info = {.struct_size = sizeof(info)};

    EXPECT_OK(zetaMetricStreamerGetInfo(streamer, &info));
    return info.ended != 0;
}

uint32_t reading_drain(zet_metric_streamer_handle_t streamer, uint32_t room,
                       struct tape_data *out_data)
{
    const size_t bytes = (size_t)room * TAPE_RECORD_BYTES;
    unsigned char *buffer = malloc(bytes);
    uint32_t warnings = 0;

    assert_non_null(buffer);
    for (;;) {
        /* Asked for before the read: what comes later than both would be missed else. */
        const bool ended = reading_has_ended(streamer);
        size_t size = bytes;
        const ze_result_t result = zetMetricStreamerReadData(streamer, UINT32_MAX, &size, buffer);

        if (result == ZE_RESULT_WARNING_DROPPED_DATA)
            warnings++;
        else
            EXPECT_OK(result);
        assert_int_equal(size % TAPE_RECORD_BYTES, 0);
        tape_put(out_data, buffer, size);
        if (size == 0 && ended)
            break;
        if (size == 0)
            sleep_ms(1);
    }
    free(buffer);
    return warnings;
}

void expect_same_values(zet_metric_group_handle_t group, const struct tape_data *left,
                        const struct tape_data *right)
{
    const zet_metric_group_calculation_type_t type =
        ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES;
    const struct tape_data *data[2] = {left, right};
    zet_typed_value_t *values[2];
    uint32_t counts[2] = {0, 0};

    for (int i = 0; i < 2; i++) {
        ze_result_t result;

        EXPECT_OK(zetMetricGroupCalculateMetricValues(group, type, data[i]->size, data[i]->bytes,
                                                      &counts[i], NULL));
        values[i] = calloc(counts[i], sizeof(*values[i]));
        assert_non_null(values[i]);
        result = zetMetricGroupCalculateMetricValues(group, type, data[i]->size, data[i]->bytes,
                                                     &counts[i], values[i]);
        assert_true(result == ZE_RESULT_SUCCESS || result == ZE_RESULT_WARNING_DROPPED_DATA);
    }
    assert_int_equal(counts[0], counts[1]);
    assert_cmp(counts[0], >, 0);
    for (uint32_t i = 0; i < counts[0]; i++) {
        assert_int_equal(values[0][i].type, values[1][i].type);
        assert_int_equal(values[0][i].value.ui64, values[1][i].value.ui64);
    }
    free(values[0]);
    free(values[1]);
}

/** Rows and values of all tiles. */
struct sets {
    uint32_t counts[8];
    uint32_t set_count, value_count;
    zet_typed_value_t *values;
};

static struct sets calculate_sets(zet_metric_group_handle_t group, const struct tape_data *data)
{
    const zet_metric_group_calculation_type_t type =
        ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES;
    struct sets sets = {.set_count = 0};
    ze_result_t result;

    EXPECT_OK(zetMetricGroupCalculateMultipleMetricValuesExp(
        group, type, data->size, data->bytes, &sets.set_count, &sets.value_count, NULL, NULL));
    assert_cmp(sets.set_count, <=, 8);
    sets.values = calloc(sets.value_count + 1, sizeof(*sets.values));
    assert_non_null(sets.values);
    result = zetMetricGroupCalculateMultipleMetricValuesExp(group, type, data->size, data->bytes,
                                                            &sets.set_count, &sets.value_count,
                                                            sets.counts, sets.values);
    assert_true(result == ZE_RESULT_SUCCESS || result == ZE_RESULT_WARNING_DROPPED_DATA);
    return sets;
}

void expect_same_sets(zet_metric_group_handle_t group, const struct tape_data *left,
                      const struct tape_data *right, uint32_t tiles)
{
    struct sets a = calculate_sets(group, left);
    struct sets b = calculate_sets(group, right);

    assert_int_equal(a.set_count, tiles);
    assert_int_equal(b.set_count, tiles);
    assert_int_equal(a.value_count, b.value_count);
    for (uint32_t t = 0; t < tiles; t++) {
        assert_int_equal(a.counts[t], b.counts[t]);
        assert_cmp(a.counts[t], >, 0);
    }
    for (uint32_t i = 0; i < a.value_count; i++)
        assert_int_equal(a.values[i].value.ui64, b.values[i].value.ui64);
    free(a.values);
    free(b.values);
}

void reading_strip(const struct tape_data *raw, struct tape_data *out_plain)
{
    static const unsigned char magic[16] = ZETA_SLOT_MAGIC;
    const unsigned char *last = NULL;

    for (size_t at = 0; at + TAPE_RECORD_BYTES <= raw->size; at += TAPE_RECORD_BYTES) {
        const unsigned char *slot = raw->bytes + at;
        const bool control = memcmp(slot, magic, sizeof(magic)) == 0;

        if (control && slot[16] == ZETA_SLOT_TILE)
            continue;
        if (!control && last && memcmp(last, slot, TAPE_RECORD_BYTES) == 0)
            continue;
        last = control ? NULL : slot;
        tape_put(out_plain, slot, TAPE_RECORD_BYTES);
    }
}
