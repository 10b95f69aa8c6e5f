/*
 * However raw data is split into reads, it is the same data: random records and breaks, read in
 * random pieces, joined, and compared with what was written.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/metric_api/stream_bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define VALUES ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES

enum { SEEDS = 100, STEPS = 120, TILES = 2, MAX_RECORDS = 8192, MAX_SLOTS = 4 * MAX_RECORDS };

/** Records of a tile in the order in which they were written. */
struct written {
    uint32_t count;
    uint32_t numbers[MAX_RECORDS];
    bool broken[MAX_RECORDS]; /**< not a neighbour of the record before */
    uint32_t next;
    bool gap;
};

struct walk {
    struct stream_bed bed;
    const char *unit;
    const char *devices[TILES];
    uint32_t tiles;
    bool overflows; /**< the rings are small, so records may be lost */
    bool is_delta;
    uint64_t random;
    struct written written[TILES];
    zet_metric_group_handle_t group;
    zet_metric_streamer_handle_t streamer;
    uint8_t raw[MAX_SLOTS * FAKE_RECORD_BYTES];
    size_t raw_bytes;
    uint32_t warnings;
    uint32_t rows[TILES]; /**< that the data has to give */
    uint32_t row_numbers[TILES][MAX_RECORDS];
};

static uint32_t draw(struct walk *walk, uint32_t below)
{
    walk->random ^= walk->random >> 12;
    walk->random ^= walk->random << 25;
    walk->random ^= walk->random >> 27;
    return (uint32_t)((walk->random * UINT64_C(2685821657736338717)) >> 33) % below;
}

static void write_some(struct walk *walk, uint32_t tile)
{
    struct written *written = &walk->written[tile];
    const uint32_t count = 1 + draw(walk, 25);

    if (draw(walk, 6) == 0) {
        const uint32_t lost = draw(walk, 4);

        walk->bed.control->gap(walk->devices[tile], walk->unit, lost, 2);
        written->next += lost;
        written->gap = true;
    }
    walk->bed.control->push(walk->devices[tile], walk->unit, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_cmp(written->count, <, MAX_RECORDS);
        written->broken[written->count] = written->gap;
        written->numbers[written->count++] = written->next++;
        written->gap = false;
    }
}

static bool read_some(struct walk *walk)
{
    const uint32_t room = 1 + draw(walk, draw(walk, 2) ? 6 : 80);
    const uint32_t most = draw(walk, 3) ? UINT32_MAX : 1 + draw(walk, 30);
    size_t size = (size_t)room * FAKE_RECORD_BYTES;
    uint8_t *buffer = malloc(size); /* exact, so that a sanitizer sees every byte too many */
    ze_result_t result;

    assert_non_null(buffer);
    result = zetMetricStreamerReadData(walk->streamer, most, &size, buffer);
    if (result == ZE_RESULT_ERROR_INVALID_SIZE) {
        assert_in_range(size, (room + 1) * FAKE_RECORD_BYTES, 3 * FAKE_RECORD_BYTES);
        free(buffer);
        return true;
    }
    if (result == ZE_RESULT_WARNING_DROPPED_DATA)
        walk->warnings++;
    else
        EXPECT_OK(result);
    assert_cmp(walk->raw_bytes + size, <=, sizeof(walk->raw));
    memcpy(walk->raw + walk->raw_bytes, buffer, size);
    walk->raw_bytes += size;
    free(buffer);
    return size > 0;
}

static bool is_record(const struct fake_record *record)
{
    return record->timestamp == record->report_id * FAKE_TICKS_PER_RECORD;
}

/** Goes over the joined reads: order, breaks and losses; notes which rows there have to be. */
static uint32_t follow(struct walk *walk, uint32_t tile)
{
    const struct written *written = &walk->written[tile];
    uint32_t now_tile = 0, at_record = 0, found = 0;
    bool broken = false, any = false;
    uint64_t lost = 0;

    for (size_t at = 0; at < walk->raw_bytes; at += FAKE_RECORD_BYTES) {
        struct fake_record record;
        uint32_t control[2];
        uint64_t missing;

        memcpy(&record, walk->raw + at, sizeof(record));
        memcpy(control, walk->raw + at + 16, sizeof(control));
        memcpy(&missing, walk->raw + at + 24, sizeof(missing));
        if (!is_record(&record) && control[0] == 2) {
            now_tile = control[1];
        } else if (now_tile != tile) {
            continue;
        } else if (!is_record(&record)) {
            assert_int_equal(control[0], 1);
            broken = true;
            lost += missing;
        } else if (any && record.report_id == written->numbers[at_record - 1]) {
            assert_true(walk->is_delta); /* the baseline of a read; nothing was lost before it */
            assert_false(broken);
        } else {
            uint32_t last;

            /* With little room, and in front of a BREAK, the first baseline is left out. */
            if (!any && walk->is_delta && record.report_id != written->numbers[0])
                at_record = 1;
            last = at_record > 0 ? written->numbers[at_record - 1] : UINT32_MAX;
            while (at_record < written->count && written->numbers[at_record] != record.report_id) {
                broken = broken && walk->overflows;
                assert_true(broken); /* only behind a BREAK may something be missing */
                at_record++;
            }
            assert_cmp(at_record, <, written->count);
            assert_int_equal(record.report_id - last - 1, lost);
            assert_true(broken || !written->broken[at_record]);
            if (walk->is_delta ? any && !broken : true)
                walk->row_numbers[tile][walk->rows[tile]++] = record.report_id;
            at_record++;
            found++;
            any = true;
            broken = false;
            lost = 0;
        }
    }
    assert_int_equal(at_record, written->count); /* up to the last one */
    return found;
}

/** What the values say is what the slots say. */
static void expect_rows(struct walk *walk)
{
    const uint32_t index = metric_index(walk->group, walk->is_delta ? "QueryBeginTime" : "Number");
    const uint32_t scale = walk->is_delta ? FAKE_TICKS_PER_RECORD * 40 : 1;
    uint32_t sets = 0, total = 0, metrics = 0, counts[TILES] = {0};
    zet_typed_value_t *values, *at;
    ze_result_t result;

    EXPECT_OK(zetMetricGet(walk->group, &metrics, NULL));
    EXPECT_OK(zetMetricGroupCalculateMultipleMetricValuesExp(walk->group, VALUES, walk->raw_bytes,
                                                             walk->raw, &sets, &total, NULL, NULL));
    assert_int_equal(sets, walk->tiles);
    values = calloc(total, sizeof(*values));
    assert_non_null(values);
    result = zetMetricGroupCalculateMultipleMetricValuesExp(
        walk->group, VALUES, walk->raw_bytes, walk->raw, &sets, &total, counts, values);
    assert_int_equal(result == ZE_RESULT_WARNING_DROPPED_DATA, walk->warnings > 0);
    at = values;
    for (uint32_t tile = 0; tile < walk->tiles; tile++) {
        assert_int_equal(counts[tile], walk->rows[tile] * metrics);
        for (uint32_t row = 0; row < walk->rows[tile]; row++, at += metrics) {
            const uint64_t got = walk->is_delta ? at[index].value.ui64 : at[index].value.ui32;

            assert_int_equal(got, (uint64_t)walk->row_numbers[tile][row] * scale);
        }
    }
    free(values);
}

static void begin(struct walk *walk, uint32_t seed, const struct test_event *event)
{
    static const uint32_t notify[] = {0, 1, 10, 3000};

    walk->random = seed * UINT64_C(0x9e3779b97f4a7c15);
    walk->is_delta = walk->tiles > 1 || draw(walk, 3) > 0;
    walk->unit = walk->is_delta ? "u0" : "u2";
    walk->overflows = draw(walk, 3) == 0;
    walk->bed.control->ring(walk->overflows ? 30 : 100000);
    walk->group = bed_activate(&walk->bed, walk->is_delta ? "Basic" : "Samples");
    for (uint32_t t = 0; t < walk->tiles; t++)
        walk->written[t] = (struct written){.count = 1, .next = 1};
    walk->streamer = bed_open(&walk->bed, walk->group, notify[draw(walk, 4)],
                              draw(walk, 2) ? event->event : NULL);
}

static void split_reads(uint32_t tiles, const char *device, const char *const names[TILES])
{
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        static struct walk walk;
        struct test_event event;
        uint32_t records = 0, all = 0;

        memset(&walk, 0, sizeof(walk));
        walk.bed = bed_make(device);
        walk.tiles = tiles;
        memcpy(walk.devices, names, sizeof(walk.devices));
        event = make_event(walk.bed.context);
        begin(&walk, seed, &event);
        for (uint32_t step = 0; step < STEPS; step++) {
            if (draw(&walk, 2))
                write_some(&walk, draw(&walk, tiles));
            else
                (void)read_some(&walk);
        }
        for (uint32_t t = 0; t < tiles; t++) { /* a gap shows with the record behind it */
            walk.bed.control->push(walk.devices[t], walk.unit, 1);
            walk.written[t].broken[walk.written[t].count] = walk.written[t].gap;
            walk.written[t].numbers[walk.written[t].count++] = walk.written[t].next++;
        }
        EXPECT_OK(zetContextActivateMetricGroups(walk.bed.context, walk.bed.device, 0, NULL));
        while (read_some(&walk))
            ;
        for (uint32_t t = 0; t < tiles; t++) {
            records += follow(&walk, t);
            all += walk.written[t].count;
        }
        assert_cmp(records, <=, all);
        assert_true(walk.overflows || records >= all - tiles); /* baselines that were left out */
        expect_rows(&walk);
        EXPECT_OK(zetMetricStreamerClose(walk.streamer));
        destroy_event(&event);
        bed_free(&walk.bed);
    }
}

static int set_up(void **state)
{
    (void)state;
    return zeInit(0) == ZE_RESULT_SUCCESS ? 0 : -1;
}

/* Rule 11.12. */
static void reads__any_split__are_the_same_data(void **state)
{
    static const char *const names[TILES] = {"fake0", "fake0"};

    (void)state;
    split_reads(1, "fake0", names);
}

/* Rule 11.12. */
static void reads_of_a_root__any_split__are_the_same_data(void **state)
{
    static const char *const names[TILES] = {"fake1.0", "fake1.1"};

    (void)state;
    split_reads(TILES, "fake1", names);
}

SUITE(splits)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads__any_split__are_the_same_data),
        cmocka_unit_test(reads_of_a_root__any_split__are_the_same_data),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
