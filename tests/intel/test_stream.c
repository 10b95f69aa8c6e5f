/*
 * Time-based streams of a kernel that the test plays: a device that is reset again and again, so
 * that one read of the kernel has to be given in many pieces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "plugins/intel/gpu/intel.h"
#include "tests/intel/sampler_bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define NAME(text)                                                                                 \
    {                                                                                              \
        .data = (text), .size = sizeof(text) - 1                                                   \
    }

/* Between two reports; far less than the host's clock may have gone. */
enum { STEP_TICKS = 100 };

static struct zeta_plugin_stream *open_stream(struct sampler_bed *bed)
{
    const struct zeta_plugin_program_entry entry = {
        .struct_size = sizeof(entry), .address = 0x9888, .value = 1, .register_class = NAME("mux")};
    struct zeta_plugin_stream_desc desc = {
        .struct_size = sizeof(desc),
        .unit = NAME("oa"),
        .set = NAME("Resets"),
        .program = {.data = &entry, .count = 1, .stride = sizeof(entry)},
        .period_ns = 100000,
        .record_bytes = SCRIPTED_REPORT_BYTES};
    struct zeta_plugin_stream *stream = NULL;

    assert_int_equal(
        zeta_intel_metric_ops.stream_open(&bed->self, &bed->devices[1], &desc, &stream),
        ZETA_PLUGIN_SUCCESS);
    return stream;
}

/* The clock of a life begins where that of the life before has been long ago. */
enum { FIRST_TICKS = 1 << 30, BACK_TICKS = 10 * STEP_TICKS };

/* Between two resets. Reports have its number in their id, and count from 0. */
struct life {
    uint32_t number, reports;
};

static uint32_t id_of(const struct life *life)
{
    return (life->number + 1) << 8;
}

static uint32_t ticks_of(const struct life *life, uint32_t index)
{
    return FIRST_TICKS - life->number * BACK_TICKS + index * STEP_TICKS;
}

static void write_life(const struct life *life)
{
    for (uint32_t i = 0; i < life->reports; i++)
        scripted_report_on(0, ticks_of(life, i), life->number * 1000 + i, id_of(life));
}

static uint32_t read_some(struct sampler_bed *bed, struct zeta_plugin_stream *stream,
                          struct scripted_report *reports, uint32_t room,
                          struct zeta_plugin_read *out_read)
{
    *out_read = (struct zeta_plugin_read){.struct_size = sizeof(*out_read)};
    /* Room for a part of a report is none. */
    assert_int_equal(zeta_intel_metric_ops.stream_read(&bed->self, stream, reports,
                                                       room * SCRIPTED_REPORT_BYTES + 5, out_read),
                     ZETA_PLUGIN_SUCCESS);
    assert_int_equal(out_read->bytes % SCRIPTED_REPORT_BYTES, 0);
    return (uint32_t)(out_read->bytes / SCRIPTED_REPORT_BYTES);
}

/*
 * Reads all lives: none of their reports is missing, changed or in another place, and each begins
 * with a read that says so.
 */
static void read_lives(struct sampler_bed *bed, struct zeta_plugin_stream *stream, uint32_t room,
                       struct life (*life_of)(uint32_t number), uint32_t lives)
{
    static struct scripted_report reports[SCRIPTED_REPORTS + 1];
    struct zeta_plugin_read read;
    struct life life = life_of(0);
    uint32_t given = 0, breaks = 0;

    while (life.number < lives) {
        const uint32_t count = read_some(bed, stream, reports, room, &read);

        assert_in_range(count, 1, room);
        assert_cmp(given + count, <=, life.reports);
        assert_int_equal(read.broken, given == 0 && life.number > 0);
        assert_int_equal(read.reason,
                         read.broken ? ZETA_PLUGIN_BREAK_RESET : ZETA_PLUGIN_BREAK_NONE);
        assert_int_equal(read.lost, 0);
        breaks += read.broken;
        for (uint32_t i = 0; i < count; i++, given++) {
            assert_int_equal(reports[i].id, id_of(&life));
            assert_int_equal(reports[i].ticks, ticks_of(&life, given));
            assert_int_equal(reports[i].words[0], life.number * 1000 + given);
        }
        if (given < life.reports)
            continue;
        life = life_of(life.number + 1);
        given = 0;
    }
    assert_int_equal(breaks, lives - 1);
    assert_int_equal(read_some(bed, stream, reports, room, &read), 0);
    assert_int_equal(read.broken, 0);
}

static struct life short_life(uint32_t number)
{
    return (struct life){number, 1};
}

static struct life mixed_life(uint32_t number)
{
    return (struct life){number, 1 + number * 7 % 5};
}

static void check(struct sampler_bed *bed, struct life (*life_of)(uint32_t number), uint32_t lives,
                  uint32_t room)
{
    struct zeta_plugin_stream *stream = open_stream(bed);

    for (uint32_t i = 0; i < lives; i++) {
        const struct life life = life_of(i);

        write_life(&life);
    }
    read_lives(bed, stream, room, life_of, lives);
    zeta_intel_metric_ops.stream_close(&bed->self, stream);
}

static void resets__thousands_in_one_read__give_a_piece_each(void **state)
{
    check(*state, short_life, 4000, SCRIPTED_REPORTS);
}

static void resets__between_several_reports__lose_and_move_none(void **state)
{
    check(*state, mixed_life, 1300, SCRIPTED_REPORTS);
}

/* What is held back is given in pieces, and then the kernel is asked again. */
static void resets__with_little_room__lose_and_move_none(void **state)
{
    check(*state, mixed_life, 1300, 17);
    check(*state, mixed_life, 1300, 2);
    check(*state, mixed_life, 1300, 1);
}

static void stream__closed_with_reports_held_back__frees_them(void **state)
{
    static struct scripted_report reports[SCRIPTED_REPORTS + 1];
    struct sampler_bed *bed = *state;
    struct zeta_plugin_stream *stream = open_stream(bed);
    struct zeta_plugin_read read;

    for (uint32_t i = 0; i < 10; i++) {
        const struct life life = {i, 3};

        write_life(&life);
    }
    assert_int_equal(read_some(bed, stream, reports, SCRIPTED_REPORTS, &read), 3);
    zeta_intel_metric_ops.stream_close(&bed->self, stream);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, sampler_bed_setup, sampler_bed_teardown)

SUITE(stream)
{
    const struct CMUnitTest tests[] = {
        CASE(resets__thousands_in_one_read__give_a_piece_each),
        CASE(resets__between_several_reports__lose_and_move_none),
        CASE(resets__with_little_room__lose_and_move_none),
        CASE(stream__closed_with_reports_held_back__frees_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
