/*
 * Parts of zeta report: texts that strangers chose, clocks, lines of plots, work and rows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include <zeta/container.h>

#include "sdk/tools/zeta/output/file.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/text.h"
#include "sdk/tools/zeta/profile/profile.h"
#include "sdk/tools/zeta/recording/recording.h"
#include "tests/support/suite.h"

/* ---- texts --------------------------------------------------------------------------------- */

/* Rule 16.28. */
static void clean__control_characters_and_no_utf8__become_question_marks(void **state)
{
    static const struct {
        const char *given, *wanted;
    } cases[] = {
        {"plain \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
         "plain \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\x1b[31mred\n\t\r\x7f", "?[31mred????"},
        {"\xc2\x9b"
         "31m",
         "??31m"},                               /* CSI, as one character */
        {"\xc0\x80 \xed\xa0\x80", "?? ???"},     /* too long; half of a pair */
        {"\xe2\x80\xa8", "???"},                 /* ends a line in scripts */
        {"\xf4\x90\x80\x80 \xe2\x82", "???? ??"} /* above the last; cut */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[64];

        (void)snprintf(text, sizeof(text), "%s", cases[i].given);
        zeta_text_clean(text, strlen(text));
        assert_string_equal(text, cases[i].wanted);
    }
}

/* What a writer makes of a text; the caller frees it. */
static char *written(void (*write)(FILE *file, const char *text), const char *text)
{
    char *buffer = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&buffer, &size);

    assert_non_null(file);
    write(file, text);
    assert_int_equal(fclose(file), 0);
    return buffer;
}

static void expect_written(void (*write)(FILE *file, const char *text), const char *text,
                           const char *wanted)
{
    char *got = written(write, text);

    assert_string_equal(got, wanted);
    free(got);
}

/* Rule 16.28. */
static void csv__any_name__stays_one_field_and_no_formula(void **state)
{
    (void)state;
    expect_written(zeta_text_write_csv, "plain", "plain");
    expect_written(zeta_text_write_csv, "", "");
    expect_written(zeta_text_write_csv, "a,\"b\"\nc", "\"a,\"\"b\"\"\nc\"");
    expect_written(zeta_text_write_csv, "=1+1", "'=1+1");
    expect_written(zeta_text_write_csv, "@x,y", "\"'@x,y\"");
}

static void write_in_html(FILE *file, const char *text)
{
    struct json_object *string = json_object_new_string(text);

    zeta_json_write_html(string, file);
    (void)json_object_put(string);
}

/* Rule 16.28. */
static void json__any_name__ends_neither_string_nor_element(void **state)
{
    (void)state;
    expect_written(write_in_html, "a", "\"a\"\n");
    expect_written(write_in_html, "</script><!--", "\"\\u003c/script\\u003e\\u003c!--\"\n");
    expect_written(write_in_html, "\"\\&'\x01", "\"\\\"\\\\\\u0026\\u0027\\u0001\"\n");
}

/* ---- clock --------------------------------------------------------------------------------- */

static void take(struct zeta_report_clock *clock, uint64_t ticks, uint64_t host_ns)
{
    const struct zeta_chunk_clock chunk = {.device_ticks = ticks, .host_ns = host_ns};
    unsigned char payload[ZETA_CHUNK_NUMBERS_BYTES];

    zeta_chunk_clock_write(&chunk, payload);
    assert_true(zeta_report_clock_take(clock, payload, sizeof(payload)));
}

/* Rule 16.23. */
static void clock__chunk__places_instants_before_and_behind_it(void **state)
{
    struct zeta_report_clock clock;

    (void)state;
    zeta_report_clock_init(&clock, 25000000, 32);
    take(&clock, 25000000, 5000000000);
    assert_int_equal(zeta_report_clock_host(&clock, 1000000000), 5000000000);
    assert_int_equal(zeta_report_clock_host(&clock, 1000000040), 5000000040);
    assert_int_equal(zeta_report_clock_host(&clock, 999999960), 4999999960);
}

/* Rule 16.23. */
static void clock__wrap_of_the_timer__is_no_jump(void **state)
{
    const uint64_t wrap_ns = (UINT64_C(1) << 32) * 40;
    struct zeta_report_clock clock;

    (void)state;
    zeta_report_clock_init(&clock, 25000000, 32);
    take(&clock, UINT32_MAX, 1000000000000);
    assert_int_equal(zeta_report_clock_host(&clock, 60), 1000000000100);
    take(&clock, 1, 2000000000000);
    assert_int_equal(zeta_report_clock_host(&clock, wrap_ns - 60), 1999999999900);
}

/* Rule 16.23. */
static void clock__no_chunk__follows_the_device(void **state)
{
    const uint64_t wrap_ns = (UINT64_C(1) << 32) * 40;
    struct zeta_report_clock clock;
    int64_t first_ns;

    (void)state;
    zeta_report_clock_init(&clock, 25000000, 32);
    first_ns = zeta_report_clock_host(&clock, wrap_ns - 1000);
    assert_int_equal(zeta_report_clock_host(&clock, wrap_ns - 500), first_ns + 500);
    assert_int_equal(zeta_report_clock_host(&clock, 500), first_ns + 1500);
    assert_int_equal(zeta_report_clock_host(&clock, wrap_ns / 2),
                     first_ns + (int64_t)wrap_ns / 2 + 1000);
}

/* What a stranger's file may say: no two times are further apart than a number can tell. */
static void clock__times_without_sense__stay_in_range(void **state)
{
    const struct zeta_chunk_clock late = {.host_ns = INT64_MAX};
    unsigned char payload[ZETA_CHUNK_NUMBERS_BYTES];
    struct zeta_report_clock clock;

    (void)state;
    zeta_report_clock_init(&clock, 1000000000, 64);
    zeta_chunk_clock_write(&late, payload);
    assert_false(zeta_report_clock_take(&clock, payload, sizeof(payload)));
    assert_int_equal(zeta_report_clock_host(&clock, UINT64_MAX), ZETA_REPORT_TIME_MAX);
    take(&clock, 0, ZETA_REPORT_TIME_MAX);
    assert_int_equal(zeta_report_clock_host(&clock, 1), ZETA_REPORT_TIME_MAX);
    assert_int_equal(zeta_report_clock_host(&clock, UINT64_C(1) << 63), -ZETA_REPORT_TIME_MAX);
}

static void line__times_without_sense__has_none(void **state)
{
    struct zeta_report report = {.has_trace_clock = true, .raw_offset_ns = ZETA_REPORT_TIME_MAX};
    struct zeta_trace_line line = {.phase = 'X', .begin_ns = 1};
    int64_t begin_ns = 0, end_ns = 0;

    (void)state;
    assert_false(zeta_report_trace_time(&report, &line, &begin_ns, &end_ns));
    report.raw_offset_ns = -ZETA_REPORT_TIME_MAX;
    assert_true(zeta_report_trace_time(&report, &line, &begin_ns, &end_ns));
    assert_int_equal(begin_ns, 1 - ZETA_REPORT_TIME_MAX);
    line.duration_ns = (uint64_t)ZETA_REPORT_TIME_MAX + 1;
    assert_false(zeta_report_trace_time(&report, &line, &begin_ns, &end_ns));
}

/* Rule 16.23. */
static void clock__bad_chunk_or_timer__is_refused(void **state)
{
    const unsigned char payload[ZETA_CHUNK_NUMBERS_BYTES] = {0};
    struct zeta_report_clock clock;

    (void)state;
    zeta_report_clock_init(&clock, 25000000, 32);
    assert_false(zeta_report_clock_take(&clock, payload, sizeof(payload) - 1));
    zeta_report_clock_init(&clock, 0, 32);
    assert_false(zeta_report_clock_take(&clock, payload, sizeof(payload)));
    zeta_report_clock_init(&clock, UINT64_MAX, 200);
    assert_false(zeta_report_clock_take(&clock, payload, sizeof(payload)));
}

/* ---- envelope ------------------------------------------------------------------------------ */

/* Rule 16.27. */
static void envelope__more_times_than_points__keeps_their_number(void **state)
{
    const uint64_t count = 100000;
    struct zeta_envelope line = {0};
    uint64_t found = 0;

    (void)state;
    for (uint64_t i = 0; i < count; i++)
        zeta_envelope_add(&line, i * 1000, 1000);
    assert_int_equal(line.width_ns, 64000);
    assert_int_equal(line.used, (count * 1000 + 63999) / 64000);
    for (uint32_t i = 0; i < line.used; i++)
        found += line.points[i];
    assert_int_equal(found, count);
    zeta_envelope_finish(&line);
}

/* Rule 16.27. */
static void envelope__holes_and_odd_times__stay_empty(void **state)
{
    struct zeta_envelope line = {0};

    (void)state;
    zeta_envelope_add(&line, UINT64_MAX, 10);
    assert_null(line.points);
    zeta_envelope_add(&line, 95, 10);
    zeta_envelope_add(&line, 5, 10);
    assert_int_equal(line.used, 10);
    assert_int_equal(line.points[0], 1);
    assert_int_equal(line.points[5], 0);
    assert_int_equal(line.points[9], 1);
    zeta_envelope_finish(&line);
}

/* ---- runs ---------------------------------------------------------------------------------- */

static void add_run(struct zeta_report_runs *runs, const char *name, const char *lane,
                    int64_t begin_ns, int64_t end_ns)
{
    zeta_report_runs_add(runs, name, lane, begin_ns, end_ns, false);
}

static void expect_owner(const struct zeta_report_runs *runs, int64_t begin_ns, int64_t end_ns,
                         const char *wanted)
{
    const uint32_t name = zeta_report_runs_find(runs, begin_ns, end_ns);

    if (strcmp(wanted, "idle") == 0)
        assert_int_equal(name, ZETA_REPORT_IDLE);
    else if (strcmp(wanted, "shared") == 0)
        assert_int_equal(name, ZETA_REPORT_SHARED);
    else
        assert_string_equal(runs->names.names[name], wanted);
}

/* Rule 16.24. */
static void runs__row__belongs_to_the_run_that_it_lies_inside(void **state)
{
    struct zeta_report_runs runs = {0};

    (void)state;
    add_run(&runs, "b", "1/1", 300, 400);
    add_run(&runs, "a", "1/1", 100, 200);
    add_run(&runs, "c", "1/1", 400, 500); /* right behind b */
    zeta_report_runs_sort(&runs);
    expect_owner(&runs, 100, 200, "a");
    expect_owner(&runs, 150, 160, "a");
    expect_owner(&runs, 99, 101, "shared");
    expect_owner(&runs, 199, 201, "shared");
    expect_owner(&runs, 50, 250, "shared");
    expect_owner(&runs, 0, 100, "idle");
    expect_owner(&runs, 200, 300, "idle");
    expect_owner(&runs, 300, 400, "b");
    expect_owner(&runs, 390, 410, "shared");
    expect_owner(&runs, 400, 500, "c");
    expect_owner(&runs, 500, 900, "idle");
    zeta_report_runs_finish(&runs);
}

/* Rule 16.24. */
static void runs__several_at_once__share_what_they_overlap(void **state)
{
    struct zeta_report_runs runs = {0};

    (void)state;
    add_run(&runs, "long", "1/1", 0, 1000);
    add_run(&runs, "short", "1/2", 200, 300);
    add_run(&runs, "empty", "1/2", 600, 600);
    add_run(&runs, "backwards", "1/3", 700, 650);
    zeta_report_runs_sort(&runs);
    expect_owner(&runs, 100, 200, "long");
    expect_owner(&runs, 200, 300, "shared");
    expect_owner(&runs, 250, 350, "shared");
    expect_owner(&runs, 300, 1000, "long");
    zeta_report_runs_finish(&runs);
}

/* The answer of looking at every run. Rule 16.24. */
static void runs__random__agree_with_looking_at_each(void **state)
{
    struct zeta_report_runs runs = {0};
    uint64_t seed = 7;

    (void)state;
    for (uint32_t i = 0; i < 300; i++) {
        int64_t begin_ns;

        seed = seed * 6364136223846793005u + 1442695040888963407u;
        begin_ns = (int64_t)(seed >> 33) % 5000;
        add_run(&runs, i % 3 ? "x" : "y", "1/1", begin_ns, begin_ns + (int64_t)(seed >> 20 & 31));
    }
    zeta_report_runs_sort(&runs);
    for (int64_t at = -10; at < 5100; at += 3) {
        const int64_t end_ns = at + 1 + at % 5 + 5;
        uint32_t touched = 0, inside = 0, name = 0;
        const uint32_t got = zeta_report_runs_find(&runs, at, end_ns);

        for (uint32_t i = 0; i < runs.count; i++) {
            const struct zeta_report_run *run = &runs.runs[i];

            if (run->begin_ns >= end_ns || run->end_ns <= at || run->end_ns == run->begin_ns)
                continue;
            touched++;
            inside += run->begin_ns <= at && run->end_ns >= end_ns;
            name = run->name;
        }
        if (touched == 0)
            assert_int_equal(got, ZETA_REPORT_IDLE);
        else if (touched == 1 && inside == 1)
            assert_int_equal(got, name);
        else
            assert_int_equal(got, ZETA_REPORT_SHARED);
    }
    zeta_report_runs_finish(&runs);
}

static void runs__none__everything_is_idle(void **state)
{
    struct zeta_report_runs runs = {0};

    (void)state;
    zeta_report_runs_sort(&runs);
    expect_owner(&runs, 0, 1, "idle");
    zeta_report_runs_finish(&runs);
}

/* ---- modules ------------------------------------------------------------------------------- */

static size_t make_module(const char *lines, const char *image, unsigned char *payload)
{
    const uint32_t bytes = (uint32_t)strlen(lines);
    const size_t image_bytes = strlen(image);

    memset(payload, 0, 8);
    memcpy(payload, &bytes, sizeof(bytes));
    for (size_t i = 0; i < bytes + image_bytes; i++)
        payload[8 + i] = (unsigned char)(i < bytes ? lines[i] : image[i - bytes]);
    return 8 + bytes + image_bytes;
}

static void modules__recorded__are_found_by_their_addresses(void **state)
{
    struct zeta_module_index index = {0};
    const struct zeta_module_entry *entry;
    unsigned char payload[512];
    struct zeta_run_folder folder = {0};
    size_t bytes;

    (void)state;
    bytes =
        make_module("id: 1\npid: 9\nbase: 4096\nend: 8192\nkernel: 4160 100 a b=%\nimage: elf\n",
                    "ELF", payload);
    assert_int_equal(zeta_report_modules_add(&folder, 1, payload, bytes), ZETA_EXIT_OK);
    /* Without its end: as far as its kernels reach. */
    bytes = make_module("base: 65536\nkernel: 65536 16 one\nkernel: 65600 64 two\n", "", payload);
    assert_int_equal(zeta_report_modules_add(&folder, 2, payload, bytes), ZETA_EXIT_OK);
    assert_int_equal(zeta_module_index_read(&index, folder.path, NULL), ZETA_EXIT_OK);
    assert_int_equal(index.count, 2);
    assert_int_equal(index.bad_lines, 0);
    entry = zeta_module_index_find(&index, 4200);
    assert_non_null(entry);
    assert_string_equal(zeta_module_entry_kernel(entry, 4200)->name, "a b=%");
    assert_string_equal(entry->file, "1.elf");
    entry = zeta_module_index_find(&index, 65663);
    assert_non_null(entry);
    assert_string_equal(zeta_module_entry_kernel(entry, 65663)->name, "two");
    assert_null(zeta_module_index_find(&index, 65664));
    zeta_module_index_finish(&index);
    zeta_run_folder_remove(&folder);
}

static void modules__removed__leave_nothing(void **state)
{
    unsigned char payload[256];
    struct zeta_run_folder folder = {0};
    char path[256];
    struct stat status;
    const size_t bytes = make_module("base: 1\nend: 2\nkernel: 1 1 k\n", "image", payload);

    (void)state;
    assert_int_equal(zeta_report_modules_add(&folder, 1, payload, bytes), ZETA_EXIT_OK);
    (void)snprintf(path, sizeof(path), "%s", folder.path);
    assert_int_equal(stat(path, &status), 0);
    zeta_run_folder_remove(&folder);
    assert_int_not_equal(stat(path, &status), 0);
}

static void modules__any_other_bytes__are_passed_over(void **state)
{
    unsigned char payload[256];
    struct zeta_run_folder folder = {0};
    size_t bytes;

    (void)state;
    memset(payload, 0xff, sizeof(payload));
    for (bytes = 0; bytes < 20; bytes++)
        assert_int_equal(zeta_report_modules_add(&folder, 1, payload, bytes), ZETA_EXIT_OK);
    bytes = make_module("base: 5\nend: 5\nkernel: x y z\n", "", payload);
    assert_int_equal(zeta_report_modules_add(&folder, 1, payload, bytes), ZETA_EXIT_OK);
    assert_null(folder.path);
}

/* ---- options ------------------------------------------------------------------------------- */

static int parse(struct zeta_report_options *options, const char *first, const char *second)
{
    char *words[] = {(char *)(uintptr_t) "report", (char *)(uintptr_t)first,
                     (char *)(uintptr_t)second, (char *)(uintptr_t) "file", NULL};

    return zeta_report_options_init(options, 4, words);
}

static void options__good_ones__are_kept(void **state)
{
    struct zeta_report_options options;

    (void)state;
    assert_int_equal(parse(&options, "--from=1.5s", "--to=2s"), ZETA_EXIT_OK);
    assert_true(options.has_range);
    assert_int_equal(options.from_ns, 1500000000);
    assert_int_equal(options.to_ns, 2000000000);
    assert_string_equal(options.path, "file");
    assert_int_equal(parse(&options, "--from=0", "--per-kernel"), ZETA_EXIT_OK);
    assert_int_equal(options.from_ns, 0);
    assert_int_equal(options.to_ns, UINT64_MAX);
    assert_true(options.is_per_kernel);
    assert_int_equal(parse(&options, "--csv", "--json=x"), ZETA_EXIT_OK);
}

static void options__bad_ones__are_refused(void **state)
{
    struct zeta_report_options options;

    (void)state;
    assert_int_equal(parse(&options, "--from=2s", "--to=1s"), ZETA_EXIT_USAGE);
    assert_int_equal(parse(&options, "--from=soon", "--csv"), ZETA_EXIT_USAGE);
    assert_int_equal(parse(&options, "--csv", "--json"), ZETA_EXIT_USAGE);
    assert_int_equal(parse(&options, "--csv", "other"), ZETA_EXIT_USAGE);
    assert_int_equal(parse(&options, "--csv", "--frobnicate"), ZETA_EXIT_USAGE);
}

SUITE(report)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clean__control_characters_and_no_utf8__become_question_marks),
        cmocka_unit_test(csv__any_name__stays_one_field_and_no_formula),
        cmocka_unit_test(json__any_name__ends_neither_string_nor_element),
        cmocka_unit_test(clock__chunk__places_instants_before_and_behind_it),
        cmocka_unit_test(clock__wrap_of_the_timer__is_no_jump),
        cmocka_unit_test(clock__no_chunk__follows_the_device),
        cmocka_unit_test(clock__bad_chunk_or_timer__is_refused),
        cmocka_unit_test(clock__times_without_sense__stay_in_range),
        cmocka_unit_test(line__times_without_sense__has_none),
        cmocka_unit_test(envelope__more_times_than_points__keeps_their_number),
        cmocka_unit_test(envelope__holes_and_odd_times__stay_empty),
        cmocka_unit_test(runs__row__belongs_to_the_run_that_it_lies_inside),
        cmocka_unit_test(runs__several_at_once__share_what_they_overlap),
        cmocka_unit_test(runs__random__agree_with_looking_at_each),
        cmocka_unit_test(runs__none__everything_is_idle),
        cmocka_unit_test(modules__recorded__are_found_by_their_addresses),
        cmocka_unit_test(modules__removed__leave_nothing),
        cmocka_unit_test(modules__any_other_bytes__are_passed_over),
        cmocka_unit_test(options__good_ones__are_kept),
        cmocka_unit_test(options__bad_ones__are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
