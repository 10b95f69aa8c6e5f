/*
 * Traces as the command reads, counts and writes them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/trace/line.h"
#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static const char small_trace[] =
    "[\n{\"ph\":\"M\",\"name\":\"zeta_trace\",\"args\":{\"lost\":                   3,"
    "\"command\":\"./a b\",\"monotonic_ns\":\"1000\",\"boottime_ns\":\"2000\","
    "\"realtime_ns\":\"3000\"},\"pid\":7,\"tid\":7},\n"
    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":7,\"tid\":7,\"args\":{\"name\":\"a\"}},\n"
    "{\"ph\":\"B\",\"pid\":7,\"tid\":8,\"ts\":      9.000,\"cat\":\"ze\","
    "\"name\":\"zeEventHostSynchronize\",\"args\":{\"timeout\":5}},\n"
    "                    \n"
    "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":      1.500,\"cat\":\"ze\",\"name\":\"zeInit\","
    "\"args\":{\"flags\":0,\"result\":\"ZE_RESULT_SUCCESS\"},\"dur\":2.250},\n"
    "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":5.000,\"cat\":\"ze\",\"name\":\"zeInit\","
    "\"args\":{\"result\":\"ZE_RESULT_ERROR_UNINITIALIZED\"},\"dur\":0.750},\n"
    "{\"ph\":\"X\",\"pid\":7,\"tid\":100000001,\"ts\":6.000,\"cat\":\"device\",\"name\":\"k\","
    "\"args\":{\"groups\":\"1 x 1 x 1\"},\"dur\":10.000},\n";

static bool read_line(const char *text, struct zeta_trace_line *line)
{
    return zeta_trace_line_read(text, strlen(text), line);
}

static void line__call__has_its_members(void **state)
{
    struct zeta_trace_line line = {0};

    (void)state;
    assert_true(read_line("{\"ph\":\"X\",\"pid\":12,\"tid\":34,\"ts\":   5.678,\"dur\":0.001,"
                          "\"cat\":\"zet\",\"name\":\"zetFoo\",\"args\":{\"a\":[1,{}]}},\n",
                          &line));
    assert_int_equal(line.phase, 'X');
    assert_int_equal(line.pid, 12);
    assert_int_equal(line.tid, 34);
    assert_int_equal(line.begin_ns, 5678);
    assert_int_equal(line.duration_ns, 1);
    assert_string_equal(line.category, "zet");
    assert_string_equal(line.name, "zetFoo");
    assert_string_equal(json_object_to_json_string_ext(line.arguments, JSON_C_TO_STRING_PLAIN),
                        "{\"a\":[1,{}]}");
    assert_int_equal(line.text[line.size - 1], '}');
    zeta_trace_line_finish(&line);
}

/* A line may be cut anywhere; no part of it is a whole one. Rule 19.14. */
static void line__every_part_of_it__is_refused(void **state)
{
    const char *whole = strstr(small_trace, "{\"ph\":\"X\"");
    struct zeta_trace_line line = {0};
    size_t size;

    (void)state;
    assert_true(zeta_trace_line_read(whole, strlen(whole), &line));
    size = line.size;
    for (size_t i = 0; i < size; i++)
        assert_false(zeta_trace_line_read(whole, i, &line));
    assert_true(zeta_trace_line_read(whole, size, &line));
    zeta_trace_line_finish(&line);
}

static void line__no_json__is_refused(void **state)
{
    static const char *const texts[] = {"",
                                        "[]",
                                        "{",
                                        "{\"a\"}",
                                        "{\"a\":}",
                                        "{a:1}",
                                        "{\"a\":01}",
                                        "{\"a\":.5}",
                                        "{\"a\":+1}",
                                        "{\"a\":nul}",
                                        "{\"a\":NaN}",
                                        "{\"a\":nan}",
                                        "{\"a\":[{\"b\":Infinity}]}",
                                        "{\"a\":-Infinity}",
                                        "{\"a\":True}",
                                        "{'a':1}",
                                        "{\"a\":'b'}",
                                        "{\"a\":\"\\x\"}",
                                        "{\"a\":\"\\u12g4\"}",
                                        "{\"a\":\"\n\"}",
                                        "{\"a\":[1}",
                                        "{\"a\":[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]}"};
    struct zeta_trace_line line = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (read_line(texts[i], &line))
            fail_msg("'%s' was taken for an object", texts[i]);
    }
    zeta_trace_line_finish(&line);
}

static void line__every_escape__is_its_character(void **state)
{
    struct zeta_trace_line line = {0};

    (void)state;
    assert_true(
        read_line("{\"name\":\"\\\"\\\\\\/\\n\\t\\u0041\\u00e4\\u20ac\\ud83d\\ude00\"}", &line));
    assert_string_equal(line.name, "\"\\/\n\tA\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
    /* Half of a pair is no character. */
    assert_true(read_line("{\"name\":\"a\\ud800\"}", &line));
    assert_string_equal(line.name, "a\xef\xbf\xbd");
    zeta_trace_line_finish(&line);
}

static void line__times__are_exact(void **state)
{
    struct zeta_trace_line line = {0};

    (void)state;
    assert_true(read_line("{\"ts\":12345678901234567.891,\"dur\":7}", &line));
    assert_int_equal(line.begin_ns, 12345678901234567891u);
    assert_int_equal(line.duration_ns, 7000);
    assert_true(read_line("{\"ts\":1234567890123456789012.5,\"dur\":-1}", &line));
    assert_int_equal(line.begin_ns, 0);
    assert_int_equal(line.duration_ns, 0);
    zeta_trace_line_finish(&line);
}

/* Rule 19.14. */
static void reader__damaged_lines__are_counted_and_left_out(void **state)
{
    static const char text[] = "[\n{\"ph\":\"X\",\"name\":\"a\"},\n{\"ph\":\"X\",\"na\n"
                               "\0\0\0   {\"ph\":\"X\",\"name\":\"b\"},\nrubbish\n"
                               "{\"ph\":\"X\",\"name\":\"c\"}";
    struct zeta_trace_reader reader;
    struct zeta_trace_line line = {0};
    char names[8] = "";

    (void)state;
    zeta_trace_reader_init(&reader, text, sizeof(text) - 1);
    while (zeta_trace_reader_next(&reader, &line))
        strcat(names, line.name);
    zeta_trace_line_finish(&line);
    assert_string_equal(names, "abc");
    assert_int_equal(reader.damaged, 2);
}

static long largest_memory_mib(void)
{
    struct rusage usage;

    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss / 1024;
}

/* A program may make hundreds of millions of calls. */
static void reader__long_file__does_not_stay_in_memory(void **state)
{
    enum { LINES = 320 };
    static const char text[] = "\n{\"ph\":\"X\",\"name\":\"a\"},\n";
    char path[] = "/tmp/zeta-trace-test-XXXXXX";
    const int fd = mkstemp(path);
    const long before_mib = largest_memory_mib();
    struct zeta_trace_reader reader;
    struct zeta_trace_line line = {0};
    unsigned count = 0;

    (void)state;
    assert_cmp(fd, >=, 0);
    for (int i = 0; i < LINES; i++)
        assert_int_equal(pwrite(fd, text, sizeof(text) - 1, (off_t)i << 20), sizeof(text) - 1);
    (void)close(fd);
    assert_int_equal(zeta_trace_reader_open(&reader, path), ZETA_EXIT_OK);
    while (zeta_trace_reader_next(&reader, &line))
        count++;
    zeta_trace_line_finish(&line);
    zeta_trace_reader_close(&reader);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(count, LINES);
    if (NO_MEMORY_FIGURES)
        print_message("memory not judged: most of it is the sanitizer's\n");
    else
        assert_cmp(largest_memory_mib() - before_mib, <, 160);
}

static struct zeta_trace_summary merge_small(struct zeta_trace_writer *writer)
{
    struct zeta_trace_summary summary = {0};
    struct zeta_trace_reader reader;

    zeta_trace_reader_init(&reader, small_trace, sizeof(small_trace) - 1);
    zeta_trace_merge(&reader, writer, &summary);
    zeta_trace_reader_close(&reader);
    return summary;
}

static void summary__calls__are_counted_by_function(void **state)
{
    struct zeta_trace_summary summary = merge_small(NULL);
    const struct zeta_trace_account *init = &summary.calls.accounts[0];

    (void)state;
    assert_int_equal(summary.calls.names.count, 1);
    assert_string_equal(init->name, "zeInit");
    assert_int_equal(init->count, 2);
    assert_int_equal(init->errors, 1);
    assert_int_equal(init->total_ns, 3000);
    assert_int_equal(init->min_ns, 750);
    assert_int_equal(init->max_ns, 2250);
    assert_int_equal(summary.work.count, 1);
    assert_int_equal(summary.work.total_ns, 10000);
    assert_int_equal(summary.processes.count, 1);
    assert_int_equal(summary.lost, 3);
    assert_int_equal(summary.open_call_count, 1);
    assert_string_equal(summary.open_calls[0].name, "zeEventHostSynchronize");
    zeta_trace_summary_finish(&summary);
}

static char *print_summary(void)
{
    struct zeta_trace_summary summary = merge_small(NULL);
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    zeta_trace_summary_print(&summary, stream);
    assert_int_equal(fclose(stream), 0);
    zeta_trace_summary_finish(&summary);
    return text;
}

static void summary__printed__says_what_was_lost(void **state)
{
    char *text = print_summary();

    (void)state;
    assert_non_null(strstr(text, "2 calls in 1 process; 3 records LOST"));
    assert_non_null(strstr(text, "   3.000 us  100.0   1.500 us     750 ns   2.250 us         2"
                                 "       1  zeInit\n"));
    assert_non_null(strstr(text, "  10.000 us  100.0  10.000 us  10.000 us  10.000 us         1"
                                 "  k\n"));
    assert_non_null(strstr(text, "1 call had not returned at the end:\n"
                                 "  zeEventHostSynchronize (process 7, thread 8)"));
    free(text);
}

static void chrome__merged__has_every_line_and_the_loss(void **state)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    struct zeta_trace_writer writer = {.format = &zeta_trace_chrome, .file = stream};
    struct zeta_trace_summary summary;

    (void)state;
    writer.format->begin(&writer);
    summary = merge_small(&writer);
    writer.format->end(&writer);
    assert_int_equal(fclose(stream), 0);
    assert_non_null(
        strstr(text, "\"name\":\"zeEventHostSynchronize\",\"args\":{\"timeout\":5}},\n"));
    assert_non_null(strstr(text, "\"3 records lost\""));
    assert_null(strstr(text, ",\n]"));
    assert_string_equal(text + size - 4, "\n]}\n");
    zeta_trace_summary_finish(&summary);
    free(text);
}

/* ---- options ------------------------------------------------------------------------------- */

/* Words of a command line, separated by blanks. */
static int parse(struct zeta_trace_options *options, const char *text)
{
    static char copy[128];
    static char *arguments[16];
    int count = 0;

    (void)snprintf(copy, sizeof(copy), "%s", text);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
        arguments[count++] = word;
    arguments[count] = NULL;
    return zeta_trace_options_init(options, count, arguments);
}

static void options__filters__are_joined(void **state)
{
    struct zeta_trace_options options;

    (void)state;
    assert_int_equal(parse(&options, "trace --filter ze* --filter=zet* -o a.json --limit 64M "
                                     "-- prog -x"),
                     ZETA_EXIT_OK);
    assert_string_equal(options.filter, "ze*,zet*");
    assert_string_equal(options.limit, "64M");
    assert_ptr_equal(options.format, &zeta_trace_chrome);
    assert_string_equal(options.program[1], "-x");
    zeta_trace_options_finish(&options);
}

static void options__wrong_ones__are_refused(void **state)
{
    static const char *const lines[] = {"trace",
                                        "trace -o a.txt prog",
                                        "trace -o a prog",
                                        "trace --filter= prog",
                                        "trace --limit many prog",
                                        "trace --limit 1T prog",
                                        "trace --from a.json prog",
                                        "trace --from a.json --filter ze*",
                                        "trace --frobnicate prog"};
    struct zeta_trace_options options;

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        if (parse(&options, lines[i]) != ZETA_EXIT_USAGE)
            fail_msg("'%s' was not refused", lines[i]);
        zeta_trace_options_finish(&options);
    }
}

SUITE(trace)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line__call__has_its_members),
        cmocka_unit_test(line__every_part_of_it__is_refused),
        cmocka_unit_test(line__no_json__is_refused),
        cmocka_unit_test(line__every_escape__is_its_character),
        cmocka_unit_test(line__times__are_exact),
        cmocka_unit_test(reader__damaged_lines__are_counted_and_left_out),
        cmocka_unit_test(reader__long_file__does_not_stay_in_memory),
        cmocka_unit_test(summary__calls__are_counted_by_function),
        cmocka_unit_test(summary__printed__says_what_was_lost),
        cmocka_unit_test(chrome__merged__has_every_line_and_the_loss),
        cmocka_unit_test(options__filters__are_joined),
        cmocka_unit_test(options__wrong_ones__are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
