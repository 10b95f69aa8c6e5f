/*
 * Lines of traces that are still being written: each is taken once, and only when it is whole.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/trace/folder.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/* The form of the file: sdk/doc/formats.md. */
enum { HEAD = 4096, PART = 65536, OPEN = 2049 };

struct bed {
    char folder[64];
    char path[96];
    int fd;
    struct zeta_trace_tail tail;
    char taken[64 * 1024];
    size_t size;
};

static int take(void *user, const char *lines, size_t bytes)
{
    struct bed *bed = user;

    assert_cmp(bed->size + bytes, <, sizeof(bed->taken));
    memcpy(bed->taken + bed->size, lines, bytes);
    bed->size += bytes;
    bed->taken[bed->size] = '\0';
    return ZETA_EXIT_OK;
}

static void put(struct bed *bed, off_t at, const char *text)
{
    assert_int_equal(pwrite(bed->fd, text, strlen(text), at), strlen(text));
}

/* The file as it is when it was begun: a head, and parts of blanks. */
static void begin_file(struct bed *bed, int parts)
{
    const size_t size = HEAD + (size_t)parts * PART;
    char *blanks = malloc(size);

    assert_non_null(blanks);
    memset(blanks, ' ', size);
    bed->fd = open(bed->path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_cmp(bed->fd, >=, 0);
    assert_int_equal(write(bed->fd, blanks, size), size);
    free(blanks);
    put(bed, 0, "[\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":1},\n");
}

static int set_up(void **state)
{
    struct bed *bed = calloc(1, sizeof(*bed));

    assert_non_null(bed);
    strcpy(bed->folder, "/tmp/zeta-tail-XXXXXX");
    assert_non_null(mkdtemp(bed->folder));
    (void)snprintf(bed->path, sizeof(bed->path), "%s/1.json", bed->folder);
    *state = bed;
    return 0;
}

static int tear_down(void **state)
{
    struct bed *bed = *state;

    zeta_trace_tail_finish(&bed->tail);
    (void)close(bed->fd);
    (void)unlink(bed->path);
    (void)rmdir(bed->folder);
    free(bed);
    return 0;
}

/* What is new since the last reading. */
static const char *news(struct bed *bed, bool is_last)
{
    bed->size = 0;
    bed->taken[0] = '\0';
    assert_int_equal(zeta_trace_tail_read(&bed->tail, bed->folder, is_last, take, bed),
                     ZETA_EXIT_OK);
    return bed->taken;
}

#define A "{\"ph\":\"X\",\"name\":\"a\"},\n"
#define B "{\"ph\":\"X\",\"name\":\"b, \\\"}\"},\n"
#define C "{\"ph\":\"X\",\"name\":\"c\"},\n"

static void lines__of_several_parts__are_taken_once(void **state)
{
    struct bed *bed = *state;

    begin_file(bed, 2);
    put(bed, HEAD + OPEN, A);
    assert_string_equal(news(bed, false),
                        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":1},\n" A);
    assert_string_equal(news(bed, false), "");
    put(bed, HEAD + OPEN + (off_t)strlen(A), B);
    put(bed, HEAD + PART + OPEN, C);
    assert_string_equal(news(bed, false), B C);
    assert_string_equal(news(bed, false), "");
    assert_int_equal(bed->tail.lines, 4);
}

/* A writer copies its line while we read: whatever we see of it is not a line yet. */
static void line__not_yet_whole__is_taken_when_it_is(void **state)
{
    struct bed *bed = *state;

    begin_file(bed, 1);
    (void)news(bed, false);
    for (size_t cut = 0; cut < strlen(B); cut++) {
        char part[64] = {0};

        memcpy(part, B, cut);
        put(bed, HEAD + OPEN, part);
        assert_string_equal(news(bed, false), "");
    }
    put(bed, HEAD + OPEN, B);
    assert_string_equal(news(bed, false), B);
    assert_int_equal(bed->tail.broken, 0);
}

/* The call that was under way is told when its process is over, and only then. */
static void call_under_way__at_the_end__is_taken(void **state)
{
    struct bed *bed = *state;

    begin_file(bed, 1);
    put(bed, HEAD, "{\"ph\":\"B\",\"name\":\"hangs\"},\n");
    put(bed, HEAD + OPEN, A "{\"ph\":\"X\",\"na");
    (void)news(bed, false);
    assert_null(strstr(bed->taken, "hangs"));
    (void)news(bed, true);
    assert_non_null(strstr(bed->taken, "hangs"));
    assert_null(strstr(bed->taken, "\"na\""));
    assert_int_equal(bed->tail.broken, 1);
}

/* A closed file ends with a line without a comma. */
static void last_line__of_a_closed_file__is_taken(void **state)
{
    struct bed *bed = *state;

    begin_file(bed, 1);
    put(bed, HEAD + PART, "{\"ph\":\"M\",\"name\":\"zeta_trace_end\"}\n]\n");
    (void)news(bed, true);
    assert_non_null(strstr(bed->taken, "{\"ph\":\"M\",\"name\":\"zeta_trace_end\"},\n"));
    assert_int_equal(bed->tail.broken, 0);
}

static void trace__that_is_only_begun__is_waited_for(void **state)
{
    struct bed *bed = *state;

    bed->fd = open(bed->path, O_RDWR | O_CREAT, 0600);
    assert_string_equal(news(bed, false), "");
    (void)close(bed->fd);
    begin_file(bed, 1);
    assert_non_null(strstr(news(bed, false), "process_name"));
}

static void folder__that_is_not_there__is_said(void **state)
{
    struct bed *bed = *state;

    begin_file(bed, 1);
    assert_int_equal(zeta_trace_tail_read(&bed->tail, "/nonexistent", false, take, bed),
                     ZETA_EXIT_FAILED);
}

SUITE(trace_tail)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lines__of_several_parts__are_taken_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(line__not_yet_whole__is_taken_when_it_is, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(call_under_way__at_the_end__is_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(last_line__of_a_closed_file__is_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(trace__that_is_only_begun__is_waited_for, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(folder__that_is_not_there__is_said, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
