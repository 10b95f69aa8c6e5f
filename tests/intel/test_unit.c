/*
 * Periods, topologies, programs and the order of reports: what needs no kernel.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "plugins/intel/gpu/intel.h"
#include "plugins/intel/stream/order.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include <zeta/intel_gpu.h>

/* ---- a host that keeps the last sentence ---------------------------------------------------- */

static char last_failure[1100];

static void host_fail(struct zeta_plugin_host *host, uint32_t result,
                      struct zeta_plugin_string text)
{
    (void)host;
    (void)result;
    (void)snprintf(last_failure, sizeof(last_failure), "%.*s", (int)text.size, text.data);
}

static const struct zeta_plugin_host_ops host_ops = {.struct_size = sizeof(host_ops),
                                                     .fail = host_fail};
static struct zeta_plugin plugin = {.host = {.ops = &host_ops, .id = "intel-test"}};
static struct zeta_intel intel = {.self = &plugin, .host = &plugin.host};
static struct zeta_intel_platform platform = {.name = "Test GPU", .graphics = 1200};
static struct zeta_intel_gpu gpu = {
    .intel = &intel, .host = &plugin.host, .platform = &platform, .id = "0000:00:02.0"};

static struct zeta_plugin_string string_of(const char *text)
{
    return (struct zeta_plugin_string){text, strlen(text)};
}

/* ---- periods -------------------------------------------------------------------------------- */

/* Rule 26.1. */
static void period__of_an_exponent__is_rounded_up(void **state)
{
    const struct zeta_intel_unit skl = {.timestamp_hz = 12000000};
    const struct zeta_intel_unit tgl = {.timestamp_hz = 19200000};

    (void)state;
    assert_int_equal(zeta_intel_period_ns(&skl, 0), 167);
    assert_int_equal(zeta_intel_period_ns(&skl, 5), 5334);
    assert_int_equal(zeta_intel_period_ns(&skl, 12), 682667);
    assert_int_equal(zeta_intel_period_ns(&skl, 13), 1365334);
    assert_int_equal(zeta_intel_period_ns(&tgl, 0), 105);
    assert_int_equal(zeta_intel_period_ns(&tgl, 13), 853334);
    /* 2^32 ticks: the product with 10^9 does not fit in 64 bits. */
    assert_int_equal(zeta_intel_period_ns(&skl, 31), 357913941334);
}

/* Rule 26.1. */
static void period__wanted__gets_the_nearest_exponent(void **state)
{
    const struct zeta_intel_unit unit = {.timestamp_hz = 12000000};

    (void)state;
    for (uint32_t e = 0; e < ZETA_INTEL_EXPONENTS; e++)
        assert_int_equal(zeta_intel_period_exponent(&unit, zeta_intel_period_ns(&unit, e), 0, 31),
                         e);
    assert_int_equal(zeta_intel_period_exponent(&unit, 1000000, 0, 31), 12);
    assert_int_equal(zeta_intel_period_exponent(&unit, 1030000, 0, 31), 13);
    assert_int_equal(zeta_intel_period_exponent(&unit, 0, 0, 31), 0);
    assert_int_equal(zeta_intel_period_exponent(&unit, UINT64_MAX, 0, 31), 31);
    assert_int_equal(zeta_intel_period_exponent(&unit, 0, 6, 31), 6);
    assert_int_equal(zeta_intel_period_exponent(&unit, UINT64_MAX, 0, 20), 20);
}

/* ---- topologies ----------------------------------------------------------------------------- */

static size_t make_block(uint8_t *block, const uint16_t head[8], const uint8_t *data, size_t bytes)
{
    memcpy(block, head, 16);
    memcpy(block + 16, data, bytes);
    return 16 + bytes;
}

static void topology__of_three_slices__counts_what_is_there(void **state)
{
    /* 2 of 3 slices with 3 and 2 of 3 subslices; one subslice has 6 of 8 EUs. */
    static const uint16_t head[8] = {0, 3, 3, 8, 1, 1, 4, 1};
    static const uint8_t data[] = {0x5,  0x7,  0x7,  0x6,  0xff, 0xff, 0xff,
                                   0xff, 0xff, 0xff, 0xff, 0xf3, 0xff};
    struct zeta_intel_topology topology = {0};
    uint8_t block[64];

    (void)state;
    assert_true(
        zeta_intel_topology_read(block, make_block(block, head, data, sizeof(data)), &topology));
    assert_int_equal(topology.slices, 2);
    assert_int_equal(topology.subslices, 5);
    assert_int_equal(topology.eus, 4 * 8 + 6);
    assert_int_equal(zeta_intel_topology_slice_mask(&topology), 0x5);
    assert_int_equal(zeta_intel_topology_subslice_mask(&topology, 3), 0x187);
    assert_int_equal(zeta_intel_topology_subslice_mask(&topology, 8), 0x60007);
}

static void topology__in_a_flat_list__is_split_into_slices(void **state)
{
    static const uint16_t head[8] = {0, 1, 32, 16, 1, 4, 5, 2};
    uint8_t data[5 + 64] = {0x1, 0xff, 0x00, 0x0e, 0x00};
    struct zeta_intel_topology topology = {0};
    uint8_t block[128];

    (void)state;
    memset(data + 5, 0xff, 64);
    assert_true(
        zeta_intel_topology_read(block, make_block(block, head, data, sizeof(data)), &topology));
    zeta_intel_topology_split(&topology, 4);
    assert_int_equal(topology.max_slices, 8);
    assert_int_equal(topology.max_subslices, 4);
    assert_int_equal(topology.slices, 3);
    assert_int_equal(topology.subslices, 11);
    assert_int_equal(topology.eus, 11 * 16);
    assert_int_equal(topology.subslice_mask[4], 0xe);
    assert_int_equal(zeta_intel_topology_slice_mask(&topology), 0x13);
    assert_int_equal(zeta_intel_topology_subslice_mask(&topology, 4), 0x0e00ff);
}

static void topology__cut_or_too_large__is_refused(void **state)
{
    static const uint16_t good[8] = {0, 3, 3, 8, 1, 1, 4, 1};
    static const uint16_t bad[][8] = {
        {0, 0, 3, 8, 1, 1, 4, 1},     {0, 33, 3, 8, 1, 1, 4, 1}, {0, 3, 33, 8, 1, 1, 4, 1},
        {0, 3, 9, 8, 1, 1, 4, 1},     {0, 3, 3, 9, 1, 1, 4, 1},  {0, 3, 3, 8, 60000, 1, 4, 1},
        {0, 3, 3, 8, 1, 1, 60000, 1},
    };
    const uint8_t data[13] = {0};
    struct zeta_intel_topology topology = {0};
    uint8_t block[64];
    const size_t bytes = make_block(block, good, data, sizeof(data));

    (void)state;
    assert_true(zeta_intel_topology_read(block, bytes, &topology));
    for (size_t cut = 0; cut < bytes; cut++)
        assert_false(zeta_intel_topology_read(block, cut, &topology));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        (void)make_block(block, bad[i], data, sizeof(data));
        assert_false(zeta_intel_topology_read(block, bytes, &topology));
    }
}

/* ---- programs -------------------------------------------------------------------------------- */

struct write {
    uint32_t address, value;
    const char *register_class;
};

static uint32_t make_program(const struct write *writes, uint32_t count, const char *uuid,
                             struct zeta_intel_program *out_program)
{
    struct zeta_plugin_program_entry entries[8] = {{0}};
    const struct zeta_plugin_array array = {entries, count, sizeof(entries[0])};

    for (uint32_t i = 0; i < count; i++) {
        entries[i].struct_size = sizeof(entries[i]);
        entries[i].address = writes[i].address;
        entries[i].value = writes[i].value;
        entries[i].register_class = string_of(writes[i].register_class);
    }
    last_failure[0] = '\0';
    return zeta_intel_program_make(&gpu, &array, string_of("SomeSet"), string_of(uuid),
                                   out_program);
}

/* As the kernels take them; what is of one class stays in the order of the set. Rule 26.6. */
static void program__of_all_classes__has_mux_then_boolean_then_flex(void **state)
{
    static const struct write writes[] = {
        {0xe458, 1, "flex"}, {0x9888, 2, "mux"},     {0xd904, 3, "boolean"},
        {0x9888, 4, "mux"},  {0xd900, 5, "boolean"}, {0x9884, 6, "mux"},
    };
    static const uint32_t order[] = {2, 4, 6, 3, 5, 1};
    struct zeta_intel_program program;

    (void)state;
    assert_int_equal(make_program(writes, 6, "", &program), 0);
    assert_int_equal(program.count, 6);
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(program.registers[i].value, order[i]);
    assert_int_equal(program.registers[3].address, 0xd904);
    assert_int_equal(program.counts[ZETA_INTEL_REGISTER_MUX], 3);
    assert_int_equal(program.counts[ZETA_INTEL_REGISTER_BOOLEAN], 2);
    assert_int_equal(program.counts[ZETA_INTEL_REGISTER_FLEX], 1);
    zeta_intel_program_finish(&program);
}

/* Rule 26.7. */
static void program__without_uuid__has_one_of_its_registers(void **state)
{
    static const struct write first[] = {{0x9888, 1, "mux"}, {0xd900, 2, "boolean"}};
    static const struct write other[] = {{0x9888, 1, "mux"}, {0xd900, 3, "boolean"}};
    struct zeta_intel_program a, b, c;

    (void)state;
    assert_int_equal(make_program(first, 2, "", &a), 0);
    assert_int_equal(make_program(first, 2, "", &b), 0);
    assert_int_equal(make_program(other, 2, "", &c), 0);
    assert_int_equal(strlen(a.uuid), 36);
    assert_int_equal(strspn(a.uuid, "0123456789abcdef-"), 36);
    assert_cmp(a.uuid[8], ==, '-');
    assert_cmp(a.uuid[13], ==, '-');
    assert_cmp(a.uuid[18], ==, '-');
    assert_cmp(a.uuid[23], ==, '-');
    assert_int_equal(a.uuid[14], '8');
    assert_true(a.is_nameless);
    assert_string_equal(a.uuid, b.uuid);
    assert_string_not_equal(a.uuid, c.uuid);
    assert_int_equal(a.count, 2);
    assert_int_equal(a.registers[1].address, 0xd900);
    assert_int_equal(a.registers[1].value, 2);
    zeta_intel_program_finish(&a);
    zeta_intel_program_finish(&b);
    zeta_intel_program_finish(&c);
}

static void program__with_uuid__keeps_it(void **state)
{
    static const struct write writes[] = {{0x9888, 1, "mux"}};
    static const char uuid[] = "80b1cf4a-5b5f-4f7f-8c2b-0123456789ab";
    struct zeta_intel_program program;

    (void)state;
    assert_int_equal(make_program(writes, 1, uuid, &program), 0);
    assert_string_equal(program.uuid, uuid);
    assert_false(program.is_nameless);
    zeta_intel_program_finish(&program);
    assert_int_equal(make_program(writes, 1, "80B1CF4A-5b5f-4f7f-8c2b-0123456789ab", &program),
                     ZETA_PLUGIN_INVALID_ARGUMENT);
    zeta_intel_program_finish(&program);
}

/* The set file lists it nowhere, without class, or under a name that is none of a kernel's.
 * Rule 26.6. */
static void program__with_a_register_of_no_class__is_refused_by_name(void **state)
{
    static const char *const classes[] = {"", "noa", "mu", "muxes", "MUX"};
    struct zeta_intel_program program;

    (void)state;
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        const struct write writes[] = {{0x9888, 1, "mux"}, {0x2358, 2, classes[i]}};

        assert_int_equal(make_program(writes, 2, "", &program), ZETA_PLUGIN_INVALID_ARGUMENT);
        zeta_intel_program_finish(&program);
        assert_non_null(strstr(last_failure, "SomeSet"));
        assert_non_null(strstr(last_failure, "0x2358"));
        assert_non_null(strstr(last_failure, "Test GPU"));
    }
}

/* Hosts that do not know of classes, and have shorter entries. */
static void program__of_a_host_without_classes__is_refused(void **state)
{
    const struct zeta_plugin_program_entry entry = {
        .struct_size = offsetof(struct zeta_plugin_program_entry, register_class),
        .address = 0x9888,
        .value = 1,
        .register_class = string_of("mux"),
    };
    const struct zeta_plugin_array array = {&entry, 1, sizeof(entry)};
    struct zeta_intel_program program;

    (void)state;
    assert_int_equal(
        zeta_intel_program_make(&gpu, &array, string_of("SomeSet"), string_of(""), &program),
        ZETA_PLUGIN_INVALID_ARGUMENT);
    zeta_intel_program_finish(&program);
    assert_non_null(strstr(last_failure, "0x9888"));
}

static void program__of_nothing_or_beside_registers__is_refused(void **state)
{
    static const struct write writes[] = {{0x9889, 1, "mux"}};
    struct zeta_intel_program program;

    (void)state;
    assert_int_equal(make_program(writes, 0, "", &program), ZETA_PLUGIN_INVALID_ARGUMENT);
    zeta_intel_program_finish(&program);
    assert_non_null(strstr(last_failure, "no registers"));
    assert_int_equal(make_program(writes, 1, "", &program), ZETA_PLUGIN_INVALID_ARGUMENT);
    zeta_intel_program_finish(&program);
    assert_non_null(strstr(last_failure, "multiples of 4"));
}

/* ---- order of reports ----------------------------------------------------------------------- */

/* Rule 26.3. */
static void reports__of_one_tick__are_a_tick_apart(void **state)
{
    /* id, time; two words of each report of 64 bytes. */
    static const uint32_t in[][2] = {{1, 100},        {2, 100},        {3, 100}, {3, 101},
                                     {4, UINT32_MAX}, {5, UINT32_MAX}, {6, 7}};
    static const uint32_t expected[] = {100, 101, 102, 103, UINT32_MAX, 0, 7};
    struct zeta_intel_order order = {.is_wide = false};
    uint32_t reports[7][16] = {{0}};

    (void)state;
    for (size_t i = 0; i < 7; i++)
        memcpy(reports[i], in[i], sizeof(in[i]));
    zeta_intel_order_fix(&order, reports, 3 * 64, 64);
    zeta_intel_order_fix(&order, reports[3], 4 * 64, 64);
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(reports[i][0], in[i][0]);
        assert_int_equal(reports[i][1], expected[i]);
    }
}

static void reports__with_wide_headers__are_moved_by_their_time(void **state)
{
    struct zeta_intel_order order = {.is_wide = true};
    uint64_t reports[2][16] = {{1, 0x100000000, 5}, {2, 0x100000000, 6}};

    (void)state;
    zeta_intel_order_fix(&order, reports, sizeof(reports), 128);
    assert_int_equal(reports[0][1], 0x100000000);
    assert_int_equal(reports[1][1], 0x100000001);
    assert_int_equal(reports[1][2], 6);
}

#define SECOND_NS UINT64_C(1000000000)
#define HZ 12000000u

/* Whether a report, read at a time of the host, comes from a device that was reset. */
static bool is_reset(struct zeta_intel_order *order, uint64_t host_ns, uint32_t time)
{
    uint32_t report[16] = {1, time};
    uint32_t reason;

    zeta_intel_order_look_at(order, host_ns);
    reason = zeta_intel_order_break(order, report);
    assert_cmp((zeta_intel_order_until_break(order, report, sizeof(report), 64) == 0), ==,
               (reason == ZETA_PLUGIN_BREAK_RESET));
    if (reason == ZETA_PLUGIN_BREAK_RESET)
        zeta_intel_order_begin(order, reason, report);
    zeta_intel_order_fix(order, report, sizeof(report), 64);
    return reason == ZETA_PLUGIN_BREAK_RESET;
}

/* 2^32 ticks of 12 MHz are 358 s. Rule 26.10. */
static void gap__of_more_than_half_a_wrap__is_no_reset(void **state)
{
    struct zeta_intel_order order = {.hz = HZ};

    (void)state;
    zeta_intel_order_empty_at(&order, 1000 * SECOND_NS);
    assert_false(is_reset(&order, 1001 * SECOND_NS, 5000 * HZ));
    assert_false(is_reset(&order, 1301 * SECOND_NS, (uint32_t)(5300ull * HZ)));
    assert_false(is_reset(&order, 1301 * SECOND_NS, (uint32_t)(5300ull * HZ) + 100));
    /* Reads that found nothing in between change nothing. */
    zeta_intel_order_empty_at(&order, 1400 * SECOND_NS);
    assert_false(is_reset(&order, 1650 * SECOND_NS, (uint32_t)(5649ull * HZ)));
}

/* Rule 26.10. */
static void time__behind_by_more_than_half_a_wrap__is_a_reset(void **state)
{
    struct zeta_intel_order order = {.hz = HZ};

    (void)state;
    zeta_intel_order_empty_at(&order, 1000 * SECOND_NS);
    assert_false(is_reset(&order, 1001 * SECOND_NS, 300 * HZ));
    assert_false(is_reset(&order, 1002 * SECOND_NS, 301 * HZ));
    /* 300 s behind, that is 58 s ahead, of which one has passed. */
    assert_true(is_reset(&order, 1003 * SECOND_NS, 1 * HZ));
    assert_false(is_reset(&order, 1004 * SECOND_NS, 2 * HZ));
    assert_true(is_reset(&order, 1005 * SECOND_NS, 1 * HZ));
}

/* A reader who is late by many seconds, and never finds the buffer empty, sees no resets.
 * Rule 26.10. */
static void reports__that_are_read_late__are_no_reset(void **state)
{
    struct zeta_intel_order order = {.hz = HZ};

    (void)state;
    zeta_intel_order_empty_at(&order, 1000 * SECOND_NS);
    for (uint32_t second = 1; second < 4000; second++)
        assert_false(is_reset(&order, (1000 + second + second % 90) * SECOND_NS,
                              (uint32_t)((uint64_t)second * HZ)));
}

/* A clock that runs too fast, for days; then the device is reset. */
static void time__that_drifts__is_no_reset(void **state)
{
    struct zeta_intel_order order = {.hz = HZ};
    uint64_t ticks = 0;

    (void)state;
    zeta_intel_order_empty_at(&order, 999 * SECOND_NS);
    for (uint64_t second = 1000; second < 300000; second++) {
        ticks += HZ + HZ / 5000;
        assert_false(is_reset(&order, second * SECOND_NS, (uint32_t)ticks));
    }
    assert_true(is_reset(&order, 300000 * SECOND_NS, (uint32_t)(ticks + 20 * HZ)));
}

/* Takes reports as a stream does; how many there are in each piece, and why it begins. */
static uint32_t divide(struct zeta_intel_order *order, uint32_t (*reports)[4], uint32_t count,
                       uint32_t *out_counts, uint32_t *out_reasons)
{
    uint32_t pieces = 0;

    for (uint32_t done = 0; done < count; done += out_counts[pieces++]) {
        const uint64_t bytes = (count - done) * sizeof(reports[0]);

        out_reasons[pieces] = zeta_intel_order_break(order, reports[done]);
        if (out_reasons[pieces] != ZETA_PLUGIN_BREAK_NONE)
            zeta_intel_order_begin(order, out_reasons[pieces], reports[done]);
        out_counts[pieces] =
            (uint32_t)(zeta_intel_order_until_break(order, reports[done], bytes, 16) / 16);
        assert_cmp(out_counts[pieces], >, 0);
        zeta_intel_order_fix(order, reports[done], out_counts[pieces] * UINT64_C(16), 16);
    }
    return pieces;
}

/* Reports of a timer of 1000 ticks, without those of some periods. */
static uint32_t reports_without(uint32_t first, uint32_t end, uint32_t from, uint32_t to,
                                uint32_t (*out_reports)[4])
{
    uint32_t count = 0;

    for (uint32_t n = first; n < end; n++) {
        if (n >= from && n < to)
            continue;
        memset(out_reports[count], 0, sizeof(out_reports[count]));
        out_reports[count][0] = 1;
        out_reports[count++][1] = (uint32_t)(UINT32_MAX - 2500 + n * 1000);
    }
    return count;
}

static struct zeta_intel_order order_of_timer(void)
{
    struct zeta_intel_order order = {.hz = HZ, .period = 1000};

    zeta_intel_order_look_at(&order, 10 * SECOND_NS);
    return order;
}

/* Wherever the gap is among the reports of a read or the next, and the time wraps meanwhile.
 * Rule 26.5. */
static void loss__told_before_its_gap__breaks_there_alone(void **state)
{
    uint32_t reports[16][4], counts[16], reasons[16];

    (void)state;
    for (uint32_t from = 1; from < 8; from++) {
        struct zeta_intel_order order = order_of_timer();
        uint32_t count = reports_without(0, 1, 0, 0, reports);

        assert_int_equal(divide(&order, reports, count, counts, reasons), 1);
        zeta_intel_order_lose(&order, ZETA_PLUGIN_BREAK_LOST,
                              (uint32_t)(UINT32_MAX - 2500 + from * 1000));
        count = reports_without(1, 12, from, from + 2, reports);
        assert_int_equal(divide(&order, reports, count, counts, reasons), from == 1 ? 1 : 2);
        if (from > 1) {
            assert_int_equal(reasons[0], ZETA_PLUGIN_BREAK_NONE);
            assert_int_equal(counts[0], from - 1);
        }
        assert_int_equal(reasons[from > 1], ZETA_PLUGIN_BREAK_LOST);
        /* A sleep long after that is none. */
        count = reports_without(12, 20, 15, 18, reports);
        assert_int_equal(divide(&order, reports, count, counts, reasons), 1);
        assert_int_equal(reasons[0], ZETA_PLUGIN_BREAK_NONE);
    }
}

/* One bit tells of both. Rule 26.5. */
static void loss__of_two_gaps__breaks_at_each(void **state)
{
    struct zeta_intel_order order = order_of_timer();
    uint32_t reports[16][4], counts[16], reasons[16];
    uint32_t count = reports_without(0, 1, 0, 0, reports);

    (void)state;
    (void)divide(&order, reports, count, counts, reasons);
    zeta_intel_order_lose(&order, ZETA_PLUGIN_BREAK_OVERFLOW, (uint32_t)(8 * 1000 - 2500));
    count = reports_without(1, 6, 3, 4, reports);
    count += reports_without(7, 12, 0, 0, reports + count);
    assert_int_equal(divide(&order, reports, count, counts, reasons), 3);
    assert_int_equal(counts[0], 2);
    assert_int_equal(reasons[1], ZETA_PLUGIN_BREAK_OVERFLOW);
    assert_int_equal(counts[1], 2);
    assert_int_equal(reasons[2], ZETA_PLUGIN_BREAK_OVERFLOW);
}

/* Of a report that was no timer's; still the reader hears of it, once. Rule 26.5. */
static void loss__without_a_gap__breaks_behind_it(void **state)
{
    struct zeta_intel_order order = order_of_timer();
    uint32_t reports[16][4], counts[16], reasons[16];
    uint32_t count = reports_without(0, 1, 0, 0, reports);

    (void)state;
    (void)divide(&order, reports, count, counts, reasons);
    zeta_intel_order_lose(&order, ZETA_PLUGIN_BREAK_LOST, (uint32_t)(3 * 1000 - 2500));
    count = reports_without(1, 15, 0, 0, reports);
    assert_int_equal(divide(&order, reports, count, counts, reasons), 2);
    assert_int_equal(reasons[0], ZETA_PLUGIN_BREAK_NONE);
    assert_cmp(counts[0], >=, 3);
    assert_int_equal(reasons[1], ZETA_PLUGIN_BREAK_LOST);
}

/* Rule 26.5. */
static void loss__before_the_first_report__breaks_there(void **state)
{
    struct zeta_intel_order order = order_of_timer();
    uint32_t reports[16][4], counts[16], reasons[16];
    uint32_t count = reports_without(0, 12, 5, 6, reports);

    (void)state;
    /* Or behind it as well: nobody knows when the first one was due. */
    zeta_intel_order_lose(&order, ZETA_PLUGIN_BREAK_LOST, (uint32_t)(6 * 1000 - 2500));
    assert_int_equal(divide(&order, reports, count, counts, reasons), 2);
    assert_int_equal(reasons[0], ZETA_PLUGIN_BREAK_LOST);
    assert_int_equal(counts[0], 5);
    assert_int_equal(reasons[1], ZETA_PLUGIN_BREAK_LOST);
    count = reports_without(12, 20, 15, 16, reports);
    assert_int_equal(divide(&order, reports, count, counts, reasons), 1);
    assert_int_equal(reasons[0], ZETA_PLUGIN_BREAK_NONE);
}

/* A unit that never tells of a second loss. Rule 26.5. */
static void loss__told_once_and_never_again__every_later_gap_is_one(void **state)
{
    struct zeta_intel_order order = order_of_timer();
    uint32_t reports[16][4], counts[16], reasons[16];
    uint32_t count = reports_without(0, 8, 3, 5, reports);

    (void)state;
    order.tells_loss_once = true;
    assert_int_equal(divide(&order, reports, count, counts, reasons), 1);
    zeta_intel_order_lose(&order, ZETA_PLUGIN_BREAK_LOST, (uint32_t)(8 * 1000 - 2500));
    count = reports_without(8, 16, 9, 10, reports);
    assert_int_equal(divide(&order, reports, count, counts, reasons), 2);
    for (uint32_t first = 16; first < 64; first += 16) {
        count = reports_without(first, first + 16, first + 9, first + 10, reports);
        assert_int_equal(divide(&order, reports, count, counts, reasons), 2);
        assert_int_equal(counts[0], 9);
        assert_int_equal(reasons[1], ZETA_PLUGIN_BREAK_LOST);
    }
}

/* A reset makes it tell no more than before. */
static void loss__told_once_before_a_reset__every_later_gap_is_one(void **state)
{
    struct zeta_intel_order order = order_of_timer();
    uint32_t reports[16][4], counts[16], reasons[16];
    uint32_t count = reports_without(0, 8, 0, 0, reports);

    (void)state;
    order.tells_loss_once = true;
    assert_int_equal(divide(&order, reports, count, counts, reasons), 1);
    zeta_intel_order_lose(&order, ZETA_PLUGIN_BREAK_LOST, (uint32_t)(8 * 1000 - 2500));
    zeta_intel_order_begin(&order, ZETA_PLUGIN_BREAK_RESET, reports[0]);
    count = reports_without(0, 12, 9, 10, reports);
    assert_int_equal(divide(&order, reports, count, counts, reasons), 2);
    assert_int_equal(counts[0], 9);
    assert_int_equal(reasons[1], ZETA_PLUGIN_BREAK_LOST);
}

SUITE(unit)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(period__of_an_exponent__is_rounded_up),
        cmocka_unit_test(period__wanted__gets_the_nearest_exponent),
        cmocka_unit_test(topology__of_three_slices__counts_what_is_there),
        cmocka_unit_test(topology__in_a_flat_list__is_split_into_slices),
        cmocka_unit_test(topology__cut_or_too_large__is_refused),
        cmocka_unit_test(program__without_uuid__has_one_of_its_registers),
        cmocka_unit_test(program__with_uuid__keeps_it),
        cmocka_unit_test(program__of_all_classes__has_mux_then_boolean_then_flex),
        cmocka_unit_test(program__with_a_register_of_no_class__is_refused_by_name),
        cmocka_unit_test(program__of_a_host_without_classes__is_refused),
        cmocka_unit_test(program__of_nothing_or_beside_registers__is_refused),
        cmocka_unit_test(reports__of_one_tick__are_a_tick_apart),
        cmocka_unit_test(reports__with_wide_headers__are_moved_by_their_time),
        cmocka_unit_test(gap__of_more_than_half_a_wrap__is_no_reset),
        cmocka_unit_test(time__behind_by_more_than_half_a_wrap__is_a_reset),
        cmocka_unit_test(reports__that_are_read_late__are_no_reset),
        cmocka_unit_test(time__that_drifts__is_no_reset),
        cmocka_unit_test(loss__told_before_its_gap__breaks_there_alone),
        cmocka_unit_test(loss__of_two_gaps__breaks_at_each),
        cmocka_unit_test(loss__without_a_gap__breaks_behind_it),
        cmocka_unit_test(loss__before_the_first_report__breaks_there),
        cmocka_unit_test(loss__told_once_and_never_again__every_later_gap_is_one),
        cmocka_unit_test(loss__told_once_before_a_reset__every_later_gap_is_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
