#include "tests/nvidia/streaming.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zeta/clock.h>

struct stream stream_beside(ze_context_handle_t context, ze_device_handle_t device,
                            const char *group, uint32_t period_ns)
{
    struct stream stream = {
        .device = device,
        .context = context,
        .properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES},
        .period_ns = period_ns,
        .raw = malloc(STREAM_RAW_BYTES),
    };

    assert_non_null(stream.raw);
    stream.group = find_group(device, group, TIME_BASED, &stream.properties);
    return stream;
}

struct stream stream_make(ze_device_handle_t device, const char *group, uint32_t period_ns)
{
    struct stream stream = stream_beside(make_context(device), device, group, period_ns);

    stream.is_alone = true;
    EXPECT_OK(zetContextActivateMetricGroups(stream.context, device, 1, &stream.group));
    return stream;
}

ze_result_t stream_open(struct stream *stream, ze_event_handle_t event)
{
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .notifyEveryNReports = stream->notify,
                                       .samplingPeriod = stream->period_ns};
    const ze_result_t result = zetMetricStreamerOpen(stream->context, stream->device, stream->group,
                                                     &desc, event, &stream->streamer);

    stream->period_ns = desc.samplingPeriod;
    stream->notify = desc.notifyEveryNReports;
    return result;
}

size_t stream_read(struct stream *stream)
{
    size_t bytes = STREAM_RAW_BYTES - stream->bytes;
    const ze_result_t result = zetMetricStreamerReadData(stream->streamer, UINT32_MAX, &bytes,
                                                         stream->raw + stream->bytes);

    if (result == ZE_RESULT_WARNING_DROPPED_DATA)
        stream->is_broken = true;
    else
        EXPECT_OK(result);
    stream->bytes += bytes;
    return bytes;
}

void stream_wait(struct stream *stream, size_t count)
{
    const size_t before = stream->bytes;

    while (stream->bytes < before + count * NVIDIA_RECORD_BYTES) {
        if (stream_read(stream) == 0)
            (void)usleep(1000);
    }
}

void stream_wait_now(struct stream *stream)
{
    const uint64_t now_ns = zeta_clock_raw_ns();
    struct nvidia_interval last = {0};

    while (last.end_ns < now_ns) {
        stream_wait(stream, 1);
        memcpy(&last, stream->raw + stream->bytes - sizeof(last), sizeof(last));
    }
}

void stream_close(struct stream *stream)
{
    if (stream->streamer)
        EXPECT_OK(zetMetricStreamerClose(stream->streamer));
    if (stream->is_alone) {
        EXPECT_OK(zetContextActivateMetricGroups(stream->context, stream->device, 0, NULL));
        EXPECT_OK(zeContextDestroy(stream->context));
    }
    free(stream->raw);
}

double stream_sum(const struct stream *stream, const char *metric)
{
    const uint32_t index = metric_index(stream->group, metric);
    uint32_t count = 0;
    zet_typed_value_t *values;
    ze_result_t result;
    double sum = 0;

    EXPECT_OK(zetMetricGroupCalculateMetricValues(stream->group,
                                                  ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                                  stream->bytes, stream->raw, &count, NULL));
    values = calloc(count, sizeof(*values));
    assert_non_null(values);
    result = zetMetricGroupCalculateMetricValues(stream->group,
                                                 ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                                 stream->bytes, stream->raw, &count, values);
    if (result != ZE_RESULT_WARNING_DROPPED_DATA || !stream->is_broken)
        EXPECT_OK(result);
    for (uint32_t i = index; i < count; i += stream->properties.metricCount) {
        assert_int_equal(values[i].type, ZET_VALUE_TYPE_UINT64);
        sum += (double)values[i].value.ui64;
    }
    free(values);
    return sum;
}
