#include "tests/intel/xe_bed.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zeta/slot.h>
#include <zeta/zeta.h>

enum { CHUNK_BYTES = 1 << 20 };

struct kmd_machine *xe_machine_start(const struct kmd_config *config)
{
    struct kmd_machine *machine = kmd_start(config);

    assert_non_null(machine);
    EXPECT_OK(zeInit(0));
    return machine;
}

void xe_machine_stop(struct kmd_machine *machine)
{
    kmd_stop(machine);
}

/* ---- streams -------------------------------------------------------------------------------- */

struct xe_source xe_source_of(ze_device_handle_t device, const char *group)
{
    struct zeta_group_info info = {.struct_size = sizeof(info)};
    zet_metric_group_properties_t properties = {.stype =
                                                    ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};
    struct xe_source source = {.device = device, .period_ns = 100000, .chunk_bytes = CHUNK_BYTES};

    source.group = find_group(device, group, TIME_BASED, &properties);
    EXPECT_OK(zetaMetricGroupGetInfo(source.group, &info));
    source.record_bytes = info.record_bytes;
    source.metrics = properties.metricCount;
    source.is_sample = strcmp(group, "EuStallSampling") == 0;
    return source;
}

void xe_sources_activate(struct xe_source *const *sources, uint32_t count)
{
    zet_metric_group_handle_t groups[8];

    assert_true(count <= 8);
    sources[0]->context = make_context(sources[0]->device);
    for (uint32_t i = 0; i < count; i++) {
        groups[i] = sources[i]->group;
        sources[i]->context = sources[0]->context;
        sources[i]->is_shared = i > 0;
    }
    EXPECT_OK(
        zetContextActivateMetricGroups(sources[0]->context, sources[0]->device, count, groups));
}

ze_result_t xe_source_try_open(struct xe_source *source)
{
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .notifyEveryNReports = source->notify,
                                       .samplingPeriod = source->period_ns};
    const ze_result_t result = zetMetricStreamerOpen(source->context, source->device, source->group,
                                                     &desc, source->event, &source->streamer);

    source->notify = desc.notifyEveryNReports;
    source->period_ns = desc.samplingPeriod;
    return result;
}

void xe_source_open(struct xe_source *source)
{
    EXPECT_OK(xe_source_try_open(source));
}

void xe_source_start(struct xe_source *source)
{
    xe_sources_activate(&source, 1);
    xe_source_open(source);
}

ze_result_t xe_source_read(struct xe_source *source)
{
    size_t bytes = source->chunk_bytes - source->chunk_bytes % source->record_bytes;
    ze_result_t result;

    if (source->capacity - source->bytes < bytes) {
        source->capacity = 2 * source->capacity + bytes;
        source->raw = realloc(source->raw, source->capacity);
        assert_non_null(source->raw);
    }
    result = zetMetricStreamerReadData(source->streamer, UINT32_MAX, &bytes,
                                       source->raw + source->bytes);
    if (result == ZE_RESULT_WARNING_DROPPED_DATA) {
        source->warnings++;
        result = ZE_RESULT_SUCCESS;
    }
    if (result == ZE_RESULT_SUCCESS)
        source->bytes += bytes;
    return result;
}

ze_result_t xe_source_drain(struct xe_source *source)
{
    size_t before;
    ze_result_t result;

    do {
        before = source->bytes;
        result = xe_source_read(source);
    } while (result == ZE_RESULT_SUCCESS && source->bytes > before);
    return result;
}

void xe_source_close(struct xe_source *source)
{
    if (source->streamer)
        EXPECT_OK(zetMetricStreamerClose(source->streamer));
    if (source->context && !source->is_shared) {
        EXPECT_OK(zetContextActivateMetricGroups(source->context, source->device, 0, NULL));
        EXPECT_OK(zeContextDestroy(source->context));
    }
    free(source->raw);
    memset(source, 0, sizeof(*source));
}

uint32_t xe_group_count(ze_device_handle_t device, const char *name)
{
    zet_metric_group_handle_t groups[1024];
    uint32_t count = 1024, found = 0;

    EXPECT_OK(zetMetricGroupGet(device, &count, groups));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t properties = {.stype =
                                                        ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};

        EXPECT_OK(zetMetricGroupGetProperties(groups[i], &properties));
        found += strcmp(properties.name, name) == 0;
    }
    return found;
}

/* ---- raw data ------------------------------------------------------------------------------- */

static const uint8_t magic[ZETA_SLOT_MAGIC_BYTES] = ZETA_SLOT_MAGIC;

uint64_t xe_get(const uint8_t *record, size_t at, size_t bytes)
{
    uint64_t value = 0;

    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)record[at + i] << (8 * i);
    return value;
}

/* The next slot that is a record and not the same as the one before; NULL at the end. */
static const uint8_t *next_record(const struct xe_source *source, size_t *at, const uint8_t *before)
{
    while (*at + source->record_bytes <= source->bytes) {
        const uint8_t *slot = source->raw + *at;

        *at += source->record_bytes;
        if (memcmp(slot, magic, sizeof(magic)) != 0 &&
            (source->is_sample || !before || memcmp(slot, before, source->record_bytes) != 0))
            return slot;
    }
    return NULL;
}

uint32_t xe_record_count(const struct xe_source *source)
{
    const uint8_t *record = NULL;
    uint32_t count = 0;
    size_t at = 0;

    while ((record = next_record(source, &at, record)))
        count++;
    return count;
}

const uint8_t *xe_record(const struct xe_source *source, uint32_t index)
{
    const uint8_t *record = NULL;
    size_t at = 0;

    for (uint32_t i = 0; i <= index; i++)
        record = next_record(source, &at, record);
    assert_non_null(record);
    return record;
}

uint32_t xe_break_count(const struct xe_source *source, uint32_t reason)
{
    uint32_t count = 0;

    for (size_t at = 0; at < source->bytes; at += source->record_bytes) {
        const uint8_t *slot = source->raw + at;

        count += memcmp(slot, magic, sizeof(magic)) == 0 &&
                 xe_get(slot, 16, 4) == ZETA_SLOT_BREAK && xe_get(slot, 20, 4) == reason;
    }
    return count;
}

/* ---- values --------------------------------------------------------------------------------- */

struct xe_rows xe_source_calculate(const struct xe_source *source)
{
    struct xe_rows rows = {.metrics = source->metrics};
    uint32_t count = 0;
    ze_result_t result;

    EXPECT_OK(zetMetricGroupCalculateMetricValues(source->group,
                                                  ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                                  source->bytes, source->raw, &count, NULL));
    rows.values = calloc(count > 0 ? count : 1, sizeof(*rows.values));
    assert_non_null(rows.values);
    result = zetMetricGroupCalculateMetricValues(source->group,
                                                 ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                                 source->bytes, source->raw, &count, rows.values);
    if (result != ZE_RESULT_WARNING_DROPPED_DATA)
        EXPECT_OK(result);
    rows.rows = count / source->metrics;
    return rows;
}

zet_value_t xe_value(const struct xe_source *source, const struct xe_rows *rows, uint32_t row,
                     const char *metric)
{
    assert_true(row < rows->rows);
    return rows->values[(size_t)row * rows->metrics + metric_index(source->group, metric)].value;
}

void xe_rows_free(struct xe_rows *rows)
{
    free(rows->values);
    *rows = (struct xe_rows){NULL, 0, 0};
}

void xe_sysctl(const char *path, const char *value)
{
    const int fd = open(path, O_WRONLY);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, value, strlen(value)), (ssize_t)strlen(value));
    (void)close(fd);
}
