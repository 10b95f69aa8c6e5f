#include "tests/export/support.h"
#include "tests/support/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zeta/query_record.h"
#include "zeta/slot.h"

/** Bytes of data that tell the record size by how many records they can hold. */
#define PROBE_BYTES ((size_t)1 << 30)

bool fill_source(zet_metric_group_handle_t group, ze_driver_handle_t driver, struct source *source)
{
    static const uint8_t byte;
    uint32_t sets = 0;
    uint32_t total = 0;

    *source = (struct source){.group = group, .driver = driver};
    source->properties.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES;
    EXPECT_OK(zetMetricGroupGetProperties(group, &source->properties));
    if (source->properties.samplingType != TIME_BASED &&
        source->properties.samplingType != EVENT_BASED)
        return false;
    /* The count pass does not look at the data. */
    EXPECT_OK(zetMetricGroupCalculateMultipleMetricValuesExp(group, VALUES, PROBE_BYTES, &byte,
                                                             &sets, &total, NULL, NULL));
    source->tiles = sets;
    source->record_bytes = (uint32_t)(PROBE_BYTES / (total / source->properties.metricCount));
    return true;
}

static uint32_t find_on_device(ze_driver_handle_t driver, ze_device_handle_t device,
                               struct source *sources, uint32_t used)
{
    zet_metric_group_handle_t groups[64];
    uint32_t count = 64;

    EXPECT_OK(zetMetricGroupGet(device, &count, groups));
    for (uint32_t i = 0; i < count; i++) {
        assert_cmp(used, <, MAX_GROUPS);
        used += fill_source(groups[i], driver, &sources[used]);
    }
    return used;
}

uint32_t find_sources(struct source *sources)
{
    ze_driver_handle_t drivers[8];
    uint32_t driver_count = 8;
    uint32_t used = 0;

    EXPECT_OK(zeDriverGet(&driver_count, drivers));
    for (uint32_t d = 0; d < driver_count; d++) {
        ze_device_handle_t devices[16];
        uint32_t device_count = 16;

        EXPECT_OK(zeDeviceGet(drivers[d], &device_count, devices));
        for (uint32_t i = 0; i < device_count; i++) {
            ze_device_handle_t tiles[8];
            uint32_t tile_count = 8;

            used = find_on_device(drivers[d], devices[i], sources, used);
            EXPECT_OK(zeDeviceGetSubDevices(devices[i], &tile_count, tiles));
            for (uint32_t t = 0; t < tile_count; t++)
                used = find_on_device(drivers[d], tiles[t], sources, used);
        }
    }
    return used;
}

struct source find_source(const char *device, const char *name,
                          zet_metric_group_sampling_type_flags_t sampling)
{
    ze_device_handle_t found = find_device(device);
    struct source source;

    assert_true(fill_source(find_group(found, name, sampling, NULL), driver_of(found), &source));
    return source;
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * UINT64_C(2685821657736338717);
}

static void put_control(uint8_t *slot, size_t record_bytes, uint32_t kind, uint32_t value,
                        uint64_t lost)
{
    static const uint8_t magic[ZETA_SLOT_MAGIC_BYTES] = ZETA_SLOT_MAGIC;

    memset(slot, 0, record_bytes);
    memcpy(slot, magic, sizeof(magic));
    memcpy(slot + 16, &kind, sizeof(kind));
    memcpy(slot + 20, &value, sizeof(value));
    memcpy(slot + 24, &lost, sizeof(lost));
}

size_t make_raw(const struct source *source, uint64_t seed, uint32_t slots, uint8_t *raw)
{
    const size_t bytes = source->record_bytes;

    for (uint32_t i = 0; i < slots; i++) {
        uint8_t *slot = raw + i * bytes;
        const uint32_t what = (uint32_t)(next_random(&seed) >> 40) % 24;

        for (size_t at = 0; at < bytes; at += 4) {
            /* Small steps now and then, so that not every difference is noise. */
            const uint32_t noise = (uint32_t)(next_random(&seed) >> 32);

            if (i > 0 && what > 10) {
                uint32_t before;

                memcpy(&before, slot - bytes + at, 4);
                before += noise % 1000;
                memcpy(slot + at, &before, 4);
            } else {
                memcpy(slot + at, &noise, 4);
            }
        }
        if (source->properties.samplingType == EVENT_BASED && what > 1) {
            const uint32_t tile = (uint32_t)(next_random(&seed) >> 40) % source->tiles;
            const uint32_t size = source->record_bytes;

            memcpy(slot + offsetof(struct zeta_query_record, size_bytes), &size, 4);
            memcpy(slot + offsetof(struct zeta_query_record, tile), &tile, 4);
        } else if (what == 0) {
            memset(slot, 0, bytes);
        } else if (what == 1) {
            put_control(slot, bytes, ZETA_SLOT_BREAK, 1, next_random(&seed) % 5);
        } else if (what == 2) {
            put_control(slot, bytes, ZETA_SLOT_TILE, (uint32_t)next_random(&seed) % 3, 0);
        } else if (what == 3 && next_random(&seed) % 4 == 0) {
            put_control(slot, bytes, ZETA_SLOT_END, 0, 0);
        } else if (what == 4) {
            put_control(slot, bytes, 99, 0, 0); /* of a later version */
        } else if (what == 5 && i > 0) {
            memcpy(slot, slot - bytes, bytes);
        }
    }
    return slots * bytes;
}

struct outcome outcome_make(void)
{
    struct outcome outcome = {.values = malloc(MAX_VALUES * sizeof(zet_typed_value_t))};

    assert_non_null(outcome.values);
    return outcome;
}

void outcome_free(struct outcome *outcome)
{
    free(outcome->values);
}

static void prepare(struct outcome *out)
{
    out->set_count = MAX_TILES;
    out->total = MAX_VALUES;
    memset(out->counts, 0xee, sizeof(out->counts));
    memset(out->values, 0xee, MAX_VALUES * sizeof(*out->values));
}

void calculate_in_place(const struct source *source, zet_metric_group_calculation_type_t type,
                        const uint8_t *raw, size_t raw_bytes, struct outcome *out)
{
    prepare(out);
    out->result = zetMetricGroupCalculateMultipleMetricValuesExp(source->group, type, raw_bytes,
                                                                 raw, &out->set_count, &out->total,
                                                                 out->counts, out->values);
}

void calculate_offline(ze_driver_handle_t driver, zet_metric_group_calculation_type_t type,
                       const uint8_t *data, size_t size, uint32_t skip, struct outcome *out)
{
    zet_metric_calculate_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_CALCULATE_EXP_DESC,
                                            .rawReportSkipCount = skip};

    prepare(out);
    out->result = zetMetricGroupCalculateMetricExportDataExp(
        driver, type, size, data, &desc, &out->set_count, &out->total, out->counts, out->values);
}

bool same_values(const zet_typed_value_t *a, const zet_typed_value_t *b, uint32_t count)
{
    const uint8_t *left = (const uint8_t *)a;
    const uint8_t *right = (const uint8_t *)b;

    return memcmp(left, right, count * sizeof(*a)) == 0;
}

void expect_same(const struct outcome *expected, const struct outcome *got, const char *what)
{
    if (expected->result != got->result || expected->set_count != got->set_count ||
        expected->total != got->total ||
        memcmp(expected->counts, got->counts, sizeof(got->counts)) != 0)
        fail_msg("%s: result 0x%x, %u sets, %u values instead of 0x%x, %u, %u", what,
                 (unsigned)got->result, got->set_count, got->total, (unsigned)expected->result,
                 expected->set_count, expected->total);
    if (!same_values(expected->values, got->values, MAX_VALUES))
        fail_msg("%s: the values are others", what);
}

uint8_t *export_raw(const struct source *source, const uint8_t *raw, size_t raw_bytes,
                    size_t *out_size)
{
    size_t size = 0;
    uint8_t *data;

    EXPECT_OK(zetMetricGroupGetExportDataExp(source->group, raw, raw_bytes, &size, NULL));
    assert_cmp(size, >, raw_bytes);
    data = malloc(size);
    assert_non_null(data);
    *out_size = size;
    EXPECT_OK(zetMetricGroupGetExportDataExp(source->group, raw, raw_bytes, out_size, data));
    assert_int_equal(*out_size, size);
    return data;
}

void expect_equal_ways(const struct source *source, const uint8_t *raw, size_t raw_bytes,
                       struct outcome *in_place, struct outcome *offline)
{
    size_t size = 0;
    uint8_t *data = export_raw(source, raw, raw_bytes, &size);

    for (int type = VALUES; type <= MAXIMA; type++) {
        calculate_in_place(source, (zet_metric_group_calculation_type_t)type, raw, raw_bytes,
                           in_place);
        calculate_offline(source->driver, (zet_metric_group_calculation_type_t)type, data, size, 0,
                          offline);
        expect_same(in_place, offline, source->properties.name);
    }
    free(data);
}
