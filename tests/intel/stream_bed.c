#include "tests/intel/stream_bed.h"
#include "tests/support/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/slot.h>
#include <zeta/zeta.h>

enum { CHUNK_BYTES = 1 << 20 };

/* ---- streams -------------------------------------------------------------------------------- */

struct bed_stream bed_stream_of(ze_device_handle_t device, const char *group)
{
    struct zeta_group_info info = {.struct_size = sizeof(info)};
    struct bed_stream stream = {
        .device = device,
        .properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES},
        .period_ns = 100000,
        .chunk_bytes = CHUNK_BYTES,
        .is_sample = strcmp(group, "EuStallSampling") == 0,
    };

    stream.group = find_group(device, group, TIME_BASED, &stream.properties);
    EXPECT_OK(zetaMetricGroupGetInfo(stream.group, &info));
    stream.record_bytes = info.record_bytes;
    return stream;
}

void bed_streams_activate(struct bed_stream *const *streams, uint32_t count)
{
    zet_metric_group_handle_t groups[8];

    assert_cmp(count, <=, 8);
    streams[0]->context = make_context(streams[0]->device);
    for (uint32_t i = 0; i < count; i++) {
        groups[i] = streams[i]->group;
        streams[i]->context = streams[0]->context;
        streams[i]->is_shared = i > 0;
    }
    EXPECT_OK(
        zetContextActivateMetricGroups(streams[0]->context, streams[0]->device, count, groups));
}

ze_result_t bed_stream_try_open(struct bed_stream *stream)
{
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .notifyEveryNReports = stream->notify,
                                       .samplingPeriod = stream->period_ns};
    const ze_result_t result = zetMetricStreamerOpen(stream->context, stream->device, stream->group,
                                                     &desc, stream->event, &stream->streamer);

    stream->notify = desc.notifyEveryNReports;
    stream->period_ns = desc.samplingPeriod;
    return result;
}

void bed_stream_open(struct bed_stream *stream)
{
    EXPECT_OK(bed_stream_try_open(stream));
}

void bed_stream_start(struct bed_stream *stream)
{
    bed_streams_activate(&stream, 1);
    bed_stream_open(stream);
}

static struct bed_stream activate(ze_device_handle_t device, const char *group, uint32_t period_ns)
{
    struct bed_stream stream = bed_stream_of(device, group);
    struct bed_stream *const streams[] = {&stream};

    bed_streams_activate(streams, 1);
    stream.period_ns = period_ns;
    stream.notify = 1;
    return stream;
}

struct bed_stream bed_open(ze_device_handle_t device, const char *group, uint32_t period_ns)
{
    struct bed_stream stream = activate(device, group, period_ns);

    bed_stream_open(&stream);
    return stream;
}

void bed_open_fails(ze_device_handle_t device, const char *group, uint32_t period_ns,
                    ze_result_t wanted)
{
    struct bed_stream stream = activate(device, group, period_ns);
    char sentence[1200];

    EXPECT_RESULT(bed_stream_try_open(&stream), wanted);
    (void)snprintf(sentence, sizeof(sentence), "%s", zetaGetLastError());
    print_message("%s\n", sentence);
}

void bed_close(struct bed_stream *stream)
{
    if (stream->streamer)
        EXPECT_OK(zetMetricStreamerClose(stream->streamer));
    if (stream->context && !stream->is_shared) {
        EXPECT_OK(zetContextActivateMetricGroups(stream->context, stream->device, 0, NULL));
        EXPECT_OK(zeContextDestroy(stream->context));
    }
    free(stream->raw);
    stream->raw = NULL;
    stream->bytes = stream->capacity = 0;
    stream->streamer = NULL;
    stream->context = NULL;
}

uint32_t bed_group_count(ze_device_handle_t device, const char *name)
{
    static zet_metric_group_handle_t groups[4096];
    uint32_t count = 4096, found = 0;

    EXPECT_OK(zetMetricGroupGet(device, &count, groups));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t properties = {.stype =
                                                        ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};

        EXPECT_OK(zetMetricGroupGetProperties(groups[i], &properties));
        found += strcmp(properties.name, name) == 0;
    }
    return found;
}

/* ---- reading ------------------------------------------------------------------------------- */

size_t bed_read(struct bed_stream *stream, uint8_t *data, size_t bytes, ze_result_t wanted)
{
    size_t got = bytes;

    EXPECT_RESULT(zetMetricStreamerReadData(stream->streamer, UINT32_MAX, &got, data), wanted);
    return got;
}

uint32_t bed_collect(struct bed_stream *stream, uint32_t reports, uint8_t *data, size_t bytes)
{
    size_t used = 0;

    for (uint32_t step = 0; step < BED_STEPS && used / stream->record_bytes < reports; step++) {
        const size_t got = bed_read(stream, data + used, bytes - used, ZE_RESULT_SUCCESS);

        /* Every read begins with the last report of the one before it. */
        if (used > 0 && got > stream->record_bytes) {
            memmove(data + used, data + used + stream->record_bytes, got - stream->record_bytes);
            used += got - stream->record_bytes;
        } else if (used == 0) {
            used += got;
        }
        kmd_advance(bed_machine(), BED_STEP_NS);
    }
    assert_cmp(used / stream->record_bytes, >=, reports);
    return (uint32_t)(used / stream->record_bytes);
}

ze_result_t bed_stream_read(struct bed_stream *stream)
{
    size_t bytes = stream->chunk_bytes - stream->chunk_bytes % stream->record_bytes;
    ze_result_t result;

    if (stream->capacity - stream->bytes < bytes) {
        stream->capacity = 2 * stream->capacity + bytes;
        stream->raw = realloc(stream->raw, stream->capacity);
        assert_non_null(stream->raw);
    }
    result = zetMetricStreamerReadData(stream->streamer, UINT32_MAX, &bytes,
                                       stream->raw + stream->bytes);
    if (result == ZE_RESULT_WARNING_DROPPED_DATA) {
        stream->warnings++;
        result = ZE_RESULT_SUCCESS;
    }
    if (result == ZE_RESULT_SUCCESS)
        stream->bytes += bytes;
    return result;
}

ze_result_t bed_stream_drain(struct bed_stream *stream)
{
    size_t before;
    ze_result_t result;

    do {
        before = stream->bytes;
        result = bed_stream_read(stream);
    } while (result == ZE_RESULT_SUCCESS && stream->bytes > before);
    return result;
}

/* ---- raw data ------------------------------------------------------------------------------- */

static const uint8_t magic[ZETA_SLOT_MAGIC_BYTES] = ZETA_SLOT_MAGIC;

uint64_t bed_get(const uint8_t *record, size_t at, size_t bytes)
{
    uint64_t value = 0;

    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)record[at + i] << (8 * i);
    return value;
}

/* The next slot that is a record and not the same as the one before; NULL at the end. */
static const uint8_t *next_record(const struct bed_stream *stream, size_t *at,
                                  const uint8_t *before)
{
    while (*at + stream->record_bytes <= stream->bytes) {
        const uint8_t *slot = stream->raw + *at;

        *at += stream->record_bytes;
        if (memcmp(slot, magic, sizeof(magic)) != 0 &&
            (stream->is_sample || !before || memcmp(slot, before, stream->record_bytes) != 0))
            return slot;
    }
    return NULL;
}

uint32_t bed_record_count(const struct bed_stream *stream)
{
    const uint8_t *record = NULL;
    uint32_t count = 0;
    size_t at = 0;

    while ((record = next_record(stream, &at, record)))
        count++;
    return count;
}

const uint8_t *bed_record(const struct bed_stream *stream, uint32_t index)
{
    const uint8_t *record = NULL;
    size_t at = 0;

    for (uint32_t i = 0; i <= index; i++)
        record = next_record(stream, &at, record);
    assert_non_null(record);
    return record;
}

uint32_t bed_break_count(const struct bed_stream *stream, uint32_t reason)
{
    uint32_t count = 0;

    for (size_t at = 0; at < stream->bytes; at += stream->record_bytes) {
        const uint8_t *slot = stream->raw + at;

        count += memcmp(slot, magic, sizeof(magic)) == 0 &&
                 bed_get(slot, 16, 4) == ZETA_SLOT_BREAK && bed_get(slot, 20, 4) == reason;
    }
    return count;
}

/* ---- values --------------------------------------------------------------------------------- */

struct bed_rows bed_calculate(const struct bed_stream *stream)
{
    struct bed_rows rows = {.metrics = stream->properties.metricCount};
    uint32_t count = 0;
    ze_result_t result;

    EXPECT_OK(zetMetricGroupCalculateMetricValues(stream->group,
                                                  ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                                  stream->bytes, stream->raw, &count, NULL));
    rows.values = calloc(count > 0 ? count : 1, sizeof(*rows.values));
    assert_non_null(rows.values);
    result = zetMetricGroupCalculateMetricValues(stream->group,
                                                 ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                                 stream->bytes, stream->raw, &count, rows.values);
    if (result != ZE_RESULT_WARNING_DROPPED_DATA)
        EXPECT_OK(result);
    rows.rows = count / stream->properties.metricCount;
    return rows;
}

zet_value_t bed_row_value(const struct bed_stream *stream, const struct bed_rows *rows,
                          uint32_t row, const char *metric)
{
    assert_cmp(row, <, rows->rows);
    return rows->values[(size_t)row * rows->metrics + metric_index(stream->group, metric)].value;
}

void bed_rows_free(struct bed_rows *rows)
{
    free(rows->values);
    *rows = (struct bed_rows){NULL, 0, 0};
}

uint64_t bed_value(const zet_typed_value_t *value)
{
    switch (value->type) {
    case ZET_VALUE_TYPE_UINT32:
        return value->value.ui32;
    case ZET_VALUE_TYPE_UINT64:
        return value->value.ui64;
    case ZET_VALUE_TYPE_FLOAT32:
        return (uint64_t)value->value.fp32;
    case ZET_VALUE_TYPE_FLOAT64:
        return (uint64_t)value->value.fp64;
    default:
        return value->value.b8;
    }
}
