#include "streaming.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/compare.h"
#include "zeta/slot.h"

#define VALUES ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES

struct streaming streaming_of(ze_device_handle_t device, const char *group)
{
    struct streaming stream = {.device = device};

    stream.group = find_group(device, group, TIME_BASED, NULL);
    EXPECT_OK(zetMetricGet(stream.group, &stream.metrics, NULL));
    return stream;
}

void streaming_activate(const struct bed *bed, struct streaming *const *streams, uint32_t count)
{
    zet_metric_group_handle_t groups[8];

    assert_in_range(count, 1, 8);
    for (uint32_t i = 0; i < count; i++)
        groups[i] = streams[i]->group;
    EXPECT_OK(zetContextActivateMetricGroups(bed->context, streams[0]->device, count, groups));
}

void streaming_open(const struct bed *bed, struct streaming *stream, uint32_t period_ns,
                    uint32_t notify, ze_event_handle_t event)
{
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .notifyEveryNReports = notify,
                                       .samplingPeriod = period_ns};
    size_t one = 0;

    EXPECT_OK(zetMetricStreamerOpen(bed->context, stream->device, stream->group, &desc, event,
                                    &stream->streamer));
    stream->period_ns = desc.samplingPeriod;
    stream->notify = desc.notifyEveryNReports;
    EXPECT_OK(zetMetricStreamerReadData(stream->streamer, 1, &one, NULL));
    stream->record_bytes = (uint32_t)one;
}

size_t streaming_read(struct streaming *stream, uint32_t max_reports, size_t slots)
{
    const size_t room = slots * stream->record_bytes;
    size_t got = room;
    ze_result_t result;

    if (stream->raw_capacity - stream->raw_bytes < room) {
        stream->raw_capacity = 2 * stream->raw_capacity + room;
        stream->raw = realloc(stream->raw, stream->raw_capacity);
        assert_non_null(stream->raw);
    }
    result = zetMetricStreamerReadData(stream->streamer, max_reports, &got,
                                       stream->raw + stream->raw_bytes);
    if (result == ZE_RESULT_WARNING_DROPPED_DATA)
        stream->warnings++;
    else
        EXPECT_OK(result);
    assert_cmp(got, <=, room);
    assert_int_equal(got % stream->record_bytes, 0);
    stream->raw_bytes += got;
    return got;
}

/** Time of the last report that was read. */
static uint64_t last_ns(const struct streaming *stream)
{
    if (stream->raw_bytes == 0)
        return UINT64_MAX;
    return streaming_report_ns(stream->raw + stream->raw_bytes - stream->record_bytes);
}

void streaming_catch_up(struct streaming *stream)
{
    const uint64_t now = streaming_now_ns(stream->device);

    for (;;) {
        const uint64_t last = last_ns(stream);

        if (last != UINT64_MAX && streaming_between_ns(now, last) < STREAMING_WRAP_NS / 2)
            return;
        if (streaming_read(stream, UINT32_MAX, 4096) == 0)
            sleep_ms(1);
    }
}

void streaming_calculate(struct streaming *stream)
{
    uint32_t count = 0;
    ze_result_t result;

    EXPECT_OK(zetMetricGroupCalculateMetricValues(stream->group, VALUES, stream->raw_bytes,
                                                  stream->raw, &count, NULL));
    assert_int_equal(count, stream->raw_bytes / stream->record_bytes * stream->metrics);
    free(stream->values);
    stream->values = calloc(count > 0 ? count : 1, sizeof(*stream->values));
    assert_non_null(stream->values);
    stream->rows = 0;
    if (count == 0)
        return;
    result = zetMetricGroupCalculateMetricValues(stream->group, VALUES, stream->raw_bytes,
                                                 stream->raw, &count, stream->values);
    assert_int_equal(result == ZE_RESULT_WARNING_DROPPED_DATA, stream->warnings > 0);
    assert_int_equal(count % stream->metrics, 0);
    stream->rows = count / stream->metrics;
}

const zet_typed_value_t *streaming_value(const struct streaming *stream, uint32_t row,
                                         const char *metric)
{
    assert_cmp(row, <, stream->rows);
    return &stream->values[(size_t)row * stream->metrics + metric_index(stream->group, metric)];
}

uint64_t streaming_sum(const struct streaming *stream, const char *metric)
{
    const uint32_t index = metric_index(stream->group, metric);
    uint64_t sum = 0;

    for (uint32_t row = 0; row < stream->rows; row++)
        sum += stream->values[(size_t)row * stream->metrics + index].value.ui64;
    return sum;
}

void streaming_close(struct streaming *stream)
{
    EXPECT_OK(zetMetricStreamerClose(stream->streamer));
    free(stream->raw);
    free(stream->values);
    stream->raw = NULL;
    stream->values = NULL;
    stream->raw_bytes = 0;
    stream->raw_capacity = 0;
    stream->rows = 0;
    stream->warnings = 0;
}

uint64_t streaming_report_ns(const uint8_t *report)
{
    uint32_t low;

    memcpy(&low, report + 4, sizeof(low));
    return ((uint64_t)(report[3] >> 6) << 32 | low) * 40;
}

uint64_t streaming_now_ns(ze_device_handle_t device)
{
    uint64_t host = 0, ticks = 0;

    EXPECT_OK(zeDeviceGetGlobalTimestamps(device, &host, &ticks));
    return ticks * 40;
}

uint64_t streaming_between_ns(uint64_t a_ns, uint64_t b_ns)
{
    return (b_ns + STREAMING_WRAP_NS - a_ns) % STREAMING_WRAP_NS;
}

struct account {
    uint64_t reports; /**< without repeated ones */
    uint64_t lost;    /**< as the breaks in the data say */
    uint32_t breaks;
    uint64_t periods; /**< from the first to the last report */
};

static uint32_t word_at(const uint8_t *slot, size_t at)
{
    uint32_t word;

    memcpy(&word, slot + at, sizeof(word));
    return word;
}

/** Goes through raw data like a program that knows only its slots. */
static struct account take_stock(const struct streaming *stream)
{
    static const uint8_t magic[] = ZETA_SLOT_MAGIC;
    struct account account = {0};
    uint32_t last = 0;
    bool any = false;

    for (size_t at = 0; at < stream->raw_bytes; at += stream->record_bytes) {
        const uint8_t *slot = stream->raw + at;
        const uint32_t ticks = word_at(slot, 4);
        uint64_t lost;

        if (memcmp(slot, magic, ZETA_SLOT_MAGIC_BYTES) == 0) {
            assert_int_equal(word_at(slot, 16), 1); /* no kind but BREAK here */
            memcpy(&lost, slot + 24, sizeof(lost));
            assert_cmp(lost, >, 0);
            account.lost += lost;
            account.breaks++;
            continue;
        }
        if (any && ticks == last)
            continue; /* the baseline of the next read */
        if (any)
            account.periods += (uint64_t)(ticks - last) * 40 / stream->period_ns;
        account.reports += any;
        last = ticks;
        any = true;
    }
    return account;
}

struct zeta_stream_info streaming_info(const struct streaming *stream)
{
    struct zeta_stream_info info = {.struct_size = sizeof(info)};

    EXPECT_OK(zetaMetricStreamerGetInfo(stream->streamer, &info));
    return info;
}

struct zeta_stream_info streaming_begin_at_a_deadline(struct streaming *stream)
{
    /* The first report is of the time of the opening, the second one of a deadline. */
    while (stream->raw_bytes < (size_t)3 * stream->record_bytes)
        (void)streaming_read(stream, 1, 2);
    memmove(stream->raw, stream->raw + stream->raw_bytes - stream->record_bytes,
            stream->record_bytes);
    stream->raw_bytes = stream->record_bytes;
    stream->warnings = 0;
    return streaming_info(stream);
}

void streaming_expect_all_told(struct streaming *stream, const struct zeta_stream_info *before)
{
    const struct zeta_stream_info info = streaming_info(stream);
    const struct account account = take_stock(stream);

    assert_int_equal(account.reports, info.records - before->records);
    assert_int_equal(account.lost, info.lost - before->lost);
    assert_int_equal(account.breaks, info.breaks - before->breaks);
    assert_int_equal(account.reports + account.lost, account.periods);
    assert_int_equal(account.lost > 0, stream->warnings > 0);
    streaming_calculate(stream);
    /* No row goes across a break. */
    for (uint32_t row = 0; row < stream->rows; row++)
        assert_int_equal(streaming_value(stream, row, "GpuTime")->value.ui64, stream->period_ns);
}
