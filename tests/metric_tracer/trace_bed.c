#include "tests/metric_tracer/trace_bed.h"
#include "tests/support/compare.h"

#include <string.h>

struct trace_bed bed_make(const char *device)
{
    struct trace_bed bed = {.name = device};

    bed.device = find_device(device);
    bed.context = make_context(bed.device);
    bed.control = harness_control("trace_control");
    bed.control->reset();
    bed.control->ring(BED_RING_BYTES);
    return bed;
}

void bed_free(struct trace_bed *bed)
{
    static const char *const devices[] = {"trace0", "trace1", "trace1.0", "trace1.1"};

    if (bed->tracer)
        EXPECT_OK(zetMetricTracerDestroyExp(bed->tracer));
    EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, 0, NULL));
    EXPECT_OK(zeContextDestroy(bed->context));
    for (int i = 0; i < 4; i++) {
        struct trace_counts counts = bed->control->counts(devices[i]);

        assert_int_equal(counts.overlaps, 0);
        assert_false(bed->control->is_held(devices[i], "kernels"));
        assert_false(bed->control->is_held(devices[i], "copies"));
    }
}

void bed_activate(struct trace_bed *bed, const char *first, const char *second)
{
    bed->groups[0] = find_group(bed->device, first, TRACER_BASED, NULL);
    bed->group_count = 1;
    if (second)
        bed->groups[bed->group_count++] = find_group(bed->device, second, TRACER_BASED, NULL);
    EXPECT_OK(
        zetContextActivateMetricGroups(bed->context, bed->device, bed->group_count, bed->groups));
}

uint32_t bed_create(struct trace_bed *bed, uint32_t notify_bytes, ze_event_handle_t event)
{
    /* A right stype with garbage behind it; the struct has no extension. */
    zet_metric_tracer_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_TRACER_EXP_DESC,
                                         .pNext = (const void *)(uintptr_t)0x8badf00ddeadbeef,
                                         .notifyEveryNBytes = notify_bytes};

    EXPECT_OK(zetMetricTracerCreateExp(bed->context, bed->device, bed->group_count, bed->groups,
                                       &desc, event, &bed->tracer));
    assert_non_null(bed->tracer);
    return desc.notifyEveryNBytes;
}

void bed_start(struct trace_bed *bed)
{
    bed_activate(bed, "KernelEvents", NULL);
    (void)bed_create(bed, 0, NULL);
    EXPECT_OK(zetMetricTracerEnableExp(bed->tracer, 1));
}

size_t bed_read(struct trace_bed *bed, size_t buffer_bytes, ze_result_t wanted)
{
    size_t size = buffer_bytes;

    assert_cmp(bed->raw_bytes + buffer_bytes, <=, BED_MAX_BYTES);
    EXPECT_RESULT(zetMetricTracerReadDataExp(bed->tracer, &size, bed->raw + bed->raw_bytes),
                  wanted);
    assert_cmp(size, <=, buffer_bytes);
    assert_int_equal(size % TRACE_RECORD_BYTES, 0);
    bed->raw_bytes += size;
    return size;
}

struct trace_record bed_record(const struct trace_bed *bed, size_t index)
{
    struct trace_record record;

    assert_cmp(bytes_of(index + 1), <=, bed->raw_bytes);
    memcpy(&record, bed->raw + bytes_of(index), sizeof(record));
    return record;
}

uint64_t time_of_event(uint64_t id)
{
    /* Seconds and the rest apart, so that nothing overflows. */
    const uint64_t ticks = id * TRACE_TICKS_PER_EVENT;

    return ticks / TRACE_TIMER_HZ * UINT64_C(1000000000) +
           ticks % TRACE_TIMER_HZ * UINT64_C(1000000000) / TRACE_TIMER_HZ;
}

struct trace_decoder bed_decoder(const struct trace_bed *bed)
{
    struct trace_decoder decoder = {.count = 16};

    EXPECT_OK(zetMetricDecoderCreateExp(bed->tracer, &decoder.handle));
    EXPECT_OK(
        zetMetricDecoderGetDecodableMetricsExp(decoder.handle, &decoder.count, decoder.metrics));
    return decoder;
}

uint32_t decoder_metric(const struct trace_decoder *decoder, const char *name)
{
    for (uint32_t i = 0; i < decoder->count; i++) {
        zet_metric_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};

        EXPECT_OK(zetMetricGetProperties(decoder->metrics[i], &properties));
        if (strcmp(properties.name, name) == 0)
            return i;
    }
    fail_msg("the decoder has no metric %s", name);
    return 0;
}

struct trace_entries decode_some(const struct trace_decoder *decoder, const uint8_t *raw,
                                 size_t raw_bytes, uint32_t room)
{
    struct trace_entries got = {.count = room, .sets = 4, .consumed = raw_bytes};

    assert_cmp(room, <=, 256);
    memset(got.entries, 0xa5, sizeof(got.entries));
    EXPECT_OK(zetMetricTracerDecodeExp(decoder->handle, &got.consumed, (uint8_t *)(uintptr_t)raw,
                                       decoder->count, (zet_metric_handle_t *)decoder->metrics,
                                       &got.sets, got.per_set, &got.count, got.entries));
    return got;
}
